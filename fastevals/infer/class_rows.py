"""Rows of several classes with the probabilities of one or several models, read from arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.labels import as_groups
from fastevals.measure.kinds import CLASSES


class ClassRows(NamedTuple):
    """Checked rows with weight above zero."""

    labels: NDArray[Any]  # of the classes, in the order of columns
    codes: NDArray[Any]  # the class number of each row
    columns: dict[Any, NDArray[Any]]  # the probabilities of each model, of shape (n_classes, n_rows)
    weights: NDArray[np.float64] | None
    groups: NDArray[Any] | None

    @property
    def models(self) -> tuple[Any, ...]:
        """The models' names."""
        return tuple(self.columns)


def read_class_rows(y_true: Any, y_prob: Any, labels: Any, sample_weight: Any, groups: Any) -> ClassRows:
    """Check and return rows with one label each and the probabilities of models, a matrix or a mapping to matrices."""
    named = isinstance(y_prob, Mapping)
    if named and not y_prob:
        raise ValueError("y_prob is empty: it must have at least one model")
    given = {f"y_prob[{name!r}]": each for name, each in y_prob.items()} if named else {"y_prob": y_prob}
    names, read = CLASSES.read_weighted(y_true, given, labels, sample_weight)
    for name, scores in read.items():
        if scores.indicator is not None:
            raise ValueError("y_true must be 1-D, one label per row, got an indicator matrix")
        scores.require_probabilities(name)
    first = next(iter(read.values()))
    assert first.codes is not None
    if groups is not None:
        groups = first.kept_groups(as_groups("groups", groups))
    models = tuple(y_prob) if named else ("y_prob",)
    columns = {model: scores.columns for model, scores in zip(models, read.values(), strict=True)}
    return ClassRows(names, first.codes, columns, first.weights, groups)
