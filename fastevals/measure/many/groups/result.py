"""A metric of each group, and its means over the groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.many.groups.scores import GroupedScores
from fastevals.measure.results import Frozen, Interval

__all__ = ["GroupedMetric", "grouped_metric", "mean_of", "warn_of_groups"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupedMetric(Frozen):
    """A metric of each group; iterates over pairs of a group's key and its value, and is indexed by key.

    Attributes
    ----------
    metric : str
        Its name.
    groups : ndarray of shape (n_groups,)
        The distinct keys, ascending.
    values : ndarray of shape (n_groups,)
        NaN where the metric is undefined: a group lacks a class, or all its rows have weight zero.
    n_samples : ndarray of int64 of shape (n_groups,)
        Rows of each group, of weight above zero.
    n_positives, n_negatives : ndarray of int64 of shape (n_groups,), or None
        Of each class; None for metrics of predicted labels.
    weights : ndarray of shape (n_groups,)
        Sum of the row weights of each group, its impressions: the number of rows where there are none.
    mean, macro_mean : float
        Mean of the values that are defined, by `weights` (GAUC) and plain; NaN if there is none.
    standard_errors : ndarray of shape (n_groups,), or None
        Of the values.
    confidence_intervals : ndarray of shape (n_groups, 2), or None
        Low and high ends.
    mean_standard_error : float or None
        Of `mean`.
    mean_confidence_interval : Interval or None
        Of `mean`.
    n_undefined_replicates : ndarray of int64 of shape (n_groups,), or None
        Bootstrap replicates in which a group's value is undefined; they are left out.
    pos_label : label or None
        The positive class; None where there is none, or nobody said which it is.

    Examples
    --------
    >>> import fastevals
    >>> found = fastevals.grouped_auc([0, 1, 1, 0, 1, 0], [0.1, 0.8, 0.3, 0.4, 0.2, 0.3], list("bbbaaa"))
    >>> found
    GroupedMetric(roc_auc of 2 groups: mean=0.5, macro_mean=0.5)
    >>> found["b"], dict(found)["b"]
    (1.0, 1.0)
    """

    metric: str
    groups: NDArray[Any]
    values: Floats
    n_samples: Ints
    n_positives: Ints | None
    n_negatives: Ints | None
    weights: Floats
    mean: float
    macro_mean: float
    standard_errors: Floats | None = None
    confidence_intervals: Floats | None = None
    mean_standard_error: float | None = None
    mean_confidence_interval: Interval | None = None
    n_undefined_replicates: Ints | None = None
    pos_label: Any = None

    @property
    def n_undefined(self) -> int:
        """Groups whose value is undefined."""
        return int(np.count_nonzero(np.isnan(self.values)))

    def __len__(self) -> int:
        return self.groups.size

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        return zip(self.groups.tolist() if self.groups.dtype.kind not in "mM" else self.groups, self.values.tolist(),
                   strict=True)  # fmt: skip

    def __getitem__(self, key: Any) -> float:
        return float(self.values[check.place_of_group(key, self.groups)])

    def __repr__(self) -> str:
        undefined = f", n_undefined={self.n_undefined}" if self.n_undefined else ""
        interval = ""
        if self.mean_confidence_interval is not None:
            interval = " [{:.4g}, {:.4g}]".format(*self.mean_confidence_interval)
        means = f"mean={self.mean:.4g}{interval}, macro_mean={self.macro_mean:.4g}"
        return f"GroupedMetric({self.metric} of {len(self)} groups: {means}{undefined})"


def grouped_metric(name: str, scores: GroupedScores, values: Floats, **intervals: Any) -> GroupedMetric:
    """Give the result of a metric of scores."""
    weights: Floats = np.add(*scores.sums())
    n_negatives, n_positives = scores.n_negatives, scores.n_positives
    return GroupedMetric(
        name, scores.groups, values, n_negatives + n_positives, n_positives, n_negatives, weights,
        mean_of(values, weights), mean_of(values, np.ones(values.size)), pos_label=scores.pos_label, **intervals,
    )  # fmt: skip


def warn_of_groups(name: str, values: Floats) -> None:
    """Warn of the groups that have no value."""
    undefined = int(np.count_nonzero(np.isnan(values)))
    if undefined:
        check.warn_undefined(name, f"{undefined} of {values.size} groups lack a class, or rows that it divides by")


def mean_of(values: Floats, weights: Floats) -> float:
    """Give the weighted mean of the values that are defined; NaN if there is none."""
    there = ~np.isnan(values) & (weights > 0)
    if not there.any():
        return float("nan")
    if np.isinf(values[there]).any():
        return float(values[there].sum())
    kept = weights[there] / weights[there].max()  # sums of the largest weights overflow
    mean = float(np.sum(kept * values[there]) / np.sum(kept))
    return min(max(mean, float(values[there].min())), float(values[there].max()))
