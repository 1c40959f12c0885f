"""Rankings of one column of scores, and errors for labels that cannot be ranked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import plain_text
from fastevals._validation.labels import default_pos_label
from fastevals.measure.ranking.ranking import Ranking
from fastevals.metrics._input import (
    as_row_weights,
    check_all_finite,
    check_default_pos_label,
    check_same_rows,
    first_labels,
    has_third_label,
    label_kind,
)

NO_POSITIVES = "No positive class found in y_true, recall is set to one for all thresholds."


class ScoreTable(NamedTuple):
    """Labels, or indicators of several labels per row, and columns of scores; values are not checked yet."""

    labels: NDArray[Any]
    scores: NDArray[Any]
    weights: NDArray[Any] | None


class OneScore(ScoreTable):
    """One label, one score and one weight per row."""


def two_class_ranking(rows: OneScore, choose: Callable[[list[Any]], Any]) -> tuple[Ranking | None, str]:
    """Rank rows of two classes, with the positive label that `choose` picks; also return the type of the labels.

    `choose` gets the labels that occur. The ranking is None if `choose` returns None, or if there are more than two
    labels. Raises if the rows can't be ranked whichever label is positive. If a ranking is returned, values have been
    read only once.
    """
    try:
        labels_seen = first_labels(rows.labels)
        positive = None if _hides_a_third_label(rows) else choose(labels_seen)
        if (
            positive is not None
            and rows.labels.dtype == object
            and all(isinstance(label, str) for label in labels_seen)
        ):
            flags = rows.labels == positive  # comparing Python's strings is faster than making an array of text
            others = [rows.labels == label for label in labels_seen if label != positive]
            if np.logical_or.reduce([flags, *others]).all():
                return Ranking(flags, rows.scores, sample_weight=rows.weights, pos_label=True), "binary"
        if positive is not None:
            return Ranking(rows.labels, rows.scores, sample_weight=rows.weights, pos_label=positive), "binary"
    except ValueError:
        kind = _check_row_kind(rows)
        if kind == "binary":
            raise
        return None, kind
    return None, _check_row_kind(rows)


def _hides_a_third_label(rows: OneScore) -> bool:
    """Return whether rows of weight zero, which a ranking ignores, may have a third label."""
    return rows.weights is not None and not np.all(rows.weights) and has_third_label(np.asarray(rows.labels))


def pos_label_ranking(rows: OneScore, pos_label: Any) -> Ranking:
    """Rank rows with `pos_label` against all others; None means label 1 if labels are 0/1 or -1/1."""

    def choose(labels: list[Any]) -> Any:
        if pos_label is None:
            return default_pos_label(labels)
        return pos_label if pos_label in labels else None

    ranking, kind = two_class_ranking(rows, choose)
    if ranking is not None:
        return ranking
    if pos_label is None:
        _raise_no_pos_label(kind, rows.labels)
    return Ranking(rows.labels == plain_text(pos_label), rows.scores, sample_weight=rows.weights, pos_label=True)


def greater_label_ranking(rows: OneScore) -> tuple[Ranking | None, str]:
    """Rank rows of two classes with the greater label as the positive one; see `two_class_ranking`."""
    return two_class_ranking(rows, lambda labels: max(labels, default=None))


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_row_kind(rows: OneScore) -> str:
    """Return the type of the labels; raise if rows can't be ranked whichever label is positive."""
    check_same_rows(rows.labels, rows.scores, rows.weights)
    kind = label_kind(rows.labels)
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"{kind} format is not supported")
    check_all_finite("y_score", rows.scores)
    as_row_weights(rows.weights, rows.labels.size)
    return kind


def _raise_no_pos_label(kind: str, labels: NDArray[Any]) -> NoReturn:
    """Raise an error that says why no label is the positive one by default."""
    if kind != "binary":
        raise ValueError(f"{kind} format is not supported")
    check_default_pos_label(labels)
    raise ValueError("pos_label is not specified")
