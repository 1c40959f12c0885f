"""Arguments of grouped metrics: arrays, or a frame with the names of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import naming_columns
from fastevals._options import check_integer, did_you_mean, listed, show
from fastevals._validation.arrays import named_columns
from fastevals.counting.keys import key_names
from fastevals.many.group_scores import GroupedScores


class GroupArguments(NamedTuple):
    """The rows of groups; errors name the columns that they were taken from."""

    y_true: Any
    y_score: Any
    groups: Any
    sample_weight: Any
    frequency_weight: Any
    columns: Mapping[str, str]  # by argument, if they were taken from a frame
    clusters: Any = None

    @classmethod
    def read(
        cls,
        y_true: Any,
        y_score: Any,
        groups: Any,
        sample_weight: Any,
        frequency_weight: Any = None,
        clusters: Any = None,
        *,
        label: str | None,
        score: str | None,
        by: Any,
    ) -> GroupArguments:
        """Return arrays as they are; take columns from a frame or mapping if `label`, `score` and `by` name them."""
        named = {"label": label, "score": score, "by": by}
        if all(each is None for each in named.values()):
            arrays = {"y_score": y_score, "groups": groups}
            lacking = [name for name, each in arrays.items() if each is None]
            if lacking:
                raise ValueError(f"{lacking[0]} is missing: pass arrays, or a frame with label=, score= and by=")
            return cls(y_true, y_score, groups, sample_weight, frequency_weight, {}, clusters)
        lacking = [name for name, each in named.items() if each is None]
        if lacking:
            raise ValueError(f"{lacking[0]} is missing: columns of a frame need label, score and by")
        if y_score is not None or groups is not None:
            given = "y_score" if y_score is not None else "groups"
            raise ValueError(f"{given} must not be given with label, score and by, which name columns of the frame")
        columns = named_columns("data", y_true)
        if columns is None:
            raise ValueError(f"data must be a frame or a mapping of columns, got a {type(y_true).__name__}")
        several = [by] if isinstance(by, str) else list(by)
        if not several or not all(isinstance(each, str) for each in several) or len(set(several)) < len(several):
            raise ValueError(f"by must name one or more different columns, got {show(by)}")
        called = {"y_true": label, "y_score": score, "sample_weight": sample_weight}
        called |= {"frequency_weight": frequency_weight, "clusters": clusters}
        taken = {argument: _column(columns, argument, name) for argument, name in called.items() if name is not None}
        keys = {name: _column(columns, "by", name) for name in several}
        names = {argument: str(name) for argument, name in called.items() if name is not None}
        if len(keys) == 1:
            names["groups"] = several[0]
        return cls(
            taken["y_true"], taken["y_score"], keys if len(keys) > 1 else keys[several[0]],
            taken.get("sample_weight"), taken.get("frequency_weight"), names, taken.get("clusters"),
        )  # fmt: skip

    @property
    def by(self) -> tuple[str, ...] | None:
        """Names of several columns of groups; None for one column."""
        return key_names("groups", self.groups)

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Name the frame's columns in errors inside a ``with`` block."""
        if not self.columns:
            yield
            return
        with naming_columns(self.columns):
            yield


def _column(columns: Mapping[Any, Any], argument: str, name: Any) -> Any:
    """Return a column; raise if there is none of this name."""
    role = {"y_true": "label", "y_score": "score"}.get(argument, argument)
    if not isinstance(name, str):
        raise ValueError(f"{role} must be the name of a column, got {show(name)}")
    if name not in columns:
        raise ValueError(f"{role} {name!r} is not a column of data{did_you_mean(name, columns)}: {listed(columns)}")
    return columns[name]


class LeastRows(NamedTuple):
    """The least numbers of rows of each class with which a group is measured."""

    positives: int
    negatives: int

    @classmethod
    def checked(cls, min_positives: Any, min_negatives: Any) -> LeastRows:
        """Return the numbers; raise unless they are integers from 0 on."""
        return cls(
            check_integer("min_positives", min_positives, low=0), check_integer("min_negatives", min_negatives, low=0)
        )

    def keep(self, scores: GroupedScores, *, are_copies: bool = False) -> tuple[GroupedScores, NDArray[np.bool_]]:
        """Return the groups with enough positives and negatives (rows, or copies), and a mask that selects them."""
        if self == (0, 0):
            return scores, np.ones(scores.groups.size, dtype=np.bool_)
        negatives, positives = scores.sums() if are_copies else (scores.n_negatives, scores.n_positives)
        kept = (positives >= self.positives) & (negatives >= self.negatives)
        if not kept.any():
            raise ValueError(
                f"min_positives = {self.positives} and min_negatives = {self.negatives} leave no group: the largest "
                f"numbers are {positives.max():g} positives and {negatives.max():g} negatives"
            )
        return scores.of_groups(kept), kept
