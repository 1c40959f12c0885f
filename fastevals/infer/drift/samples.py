"""Samples of scores: sorted scores, with the rows or the weight of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._options import show
from fastevals._validation.arrays import as_scores, as_weights, check_finite, check_same_length, exceeds_floats
from fastevals._validation.labels import as_groups
from fastevals.infer.bootstrap.row_samples import SamplingUnits
from fastevals.measure.probability_metrics import WEIGHT_ROUNDING
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import Ranking, as_ranking

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSample:
    """The scores of one day; they may repeat. Methods need ascending scores.

    Attributes
    ----------
    scores : ndarray of shape (n_scores,)
        float64, or a longer float if a float64 would round a score.
    masses : ndarray of shape (n_scores,), optional
        Rows, or weight, of each score; None if each score is one row.
    squares : ndarray of shape (n_scores,), optional
        Sum of the squared weights of each score, in shares of the total weight; None if unknown.
    clusters : ndarray of shape (n_scores,), optional
        Number of the cluster of each row, the same on both days.
    doubt : float
        By how much a share of rows above a score may be off, if scores are known in ranges.
    """

    scores: NDArray[Any]
    masses: NDArray[Any] | None = None
    squares: Floats | None = None
    clusters: NDArray[Any] | None = None
    doubt: float = 0.0

    @classmethod
    def of_ranking(cls, ranking: BaseRanking) -> Self:
        """Take the counts of rows with any label."""
        drawn, _ = ranking._counts_and_doubts({})
        counts, sizes = drawn.counts, np.zeros(0)
        if not isinstance(ranking, Ranking):  # rows were counted in ranges of scores
            cells: Any = ranking.cells  # type: ignore[attr-defined]
            sizes = cells.counts[cells.low < cells.high, :2].sum(axis=1) / cells.totals.sum()
        elif not counts._has_each_score:  # negatives between two scores of positives
            sizes = np.diff(counts.fps)[np.diff(counts.tps) == 0] / (counts.n_pos + counts.n_neg)
        masses, squares = np.diff(counts.tps + counts.fps)[::-1], None
        if drawn._squares is not None:
            squares = np.diff(drawn._squares.tps + drawn._squares.fps)[::-1] / float(counts.n_pos + counts.n_neg) ** 2
        return cls(_as_floats(counts.thresholds[:0:-1]), masses, squares, doubt=float(sizes.max(initial=0.0)))

    def sorted(self) -> Self:
        """Return the sample with ascending scores."""
        if self.masses is None and self.clusters is None:
            return type(self)(np.sort(self.scores))
        order = np.argsort(self.scores, kind="stable")
        masses, squares, clusters = (
            None if each is None else each[order] for each in (self.masses, self.squares, self.clusters)
        )
        return type(self)(self.scores[order], masses, squares, clusters, self.doubt)

    @property
    def rows(self) -> NDArray[Any]:
        """Rows, or weight, of each score."""
        return np.ones(self.scores.size, dtype=np.int64) if self.masses is None else self.masses

    @property
    def is_weighted(self) -> bool:
        """Whether masses are sums of weights."""
        return self.masses is not None and self.masses.dtype.kind == "f"

    @property
    def total(self) -> int | float:
        """Number of rows, or their weight."""
        return self.scores.size if self.masses is None else self.masses.sum().item()

    @property
    def effective_rows(self) -> float:
        """Number of rows of equal weight that would have the variance of these rows (Kish); NaN if unknown."""
        if not self.is_weighted:
            return float(self.total)
        return math.nan if self.squares is None else 1 / float(self.squares.sum())

    @property
    def shares(self) -> Floats:
        """Share of each score in the rows, or in their weight."""
        return self.rows / self.total

    @property
    def squared_shares(self) -> Floats:
        """Sum of the squared shares of the rows of each score; NaN if unknown."""
        if self.squares is not None:
            return self.squares
        return self.shares * (math.nan if self.is_weighted else 1 / self.total)

    def up_to(self, places: NDArray[np.intp]) -> NDArray[Any]:
        """Return the number, or the weight, of the rows with the k lowest scores, for each k in `places`."""
        return places if self.masses is None else _sums(self.masses)[places]

    def binned(self, edges: NDArray[Any]) -> Self:
        """Return the sample with one score per bin, its number; an edge belongs to the bin below it."""
        ends = np.concatenate(([0], np.searchsorted(self.scores, edges, side="right"), [self.scores.size]))
        squares = None if self.squares is None else np.diff(_sums(self.squares)[ends])
        return type(self)(np.arange(ends.size - 1.0), np.diff(self.up_to(ends)), squares)

    def quantiles(self, n_bins: int) -> NDArray[Any]:
        """Return the inner edges of bins with equally many rows; fewer edges if scores are equal."""
        total = self.total
        if isinstance(total, int):
            enough: Any = np.array([-(-k * total // n_bins) for k in range(1, n_bins)], dtype=np.int64)
        else:
            enough = np.arange(1, n_bins) * (total * (1 - WEIGHT_ROUNDING) / n_bins)
        places = enough - 1 if self.masses is None else np.searchsorted(_sums(self.masses)[1:], enough)
        edges = sorted_unique(self.scores[places.astype(np.intp)])
        return np.asarray(edges[edges < self.scores[-1]])  # no bin above the highest score


def _sums(masses: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of the first 0, 1, 2, ... masses."""
    return np.concatenate((np.zeros(1, masses.dtype), np.cumsum(masses)))


def _as_floats(scores: NDArray[Any]) -> NDArray[Any]:
    """Return scores as floats that hold them exactly."""
    is_long = exceeds_floats(scores) or scores.dtype.itemsize > 8
    return np.asarray(scores, dtype=np.longdouble if is_long else np.float64)


# What users pass ------------------------------------------------------------------------------------------------------


class SampleRows:
    """Weights and clusters of the rows of both days, for any number of models."""

    def __init__(self, sample_weight: Any, groups: Any) -> None:
        self.weights = [
            None if each is None else as_weights(n, each) for n, each in _pair("sample_weight", sample_weight)
        ]
        self.clusters: list[NDArray[Any] | None] = [None, None]
        self.n_clusters: int | None = None
        if groups is not None:
            clusters = {name: as_groups(name, each) for name, each in _pair("groups", groups)}
            units = SamplingUnits.number_shared(clusters)
            self.clusters, self.n_clusters = [each.unit_by_row for each in units], units[0].n

    def sample(self, day: int, name: str, value: Any) -> ScoreSample:
        """Check the scores or the ranking of one day; rows of weight zero are left out."""
        ranking = as_ranking(name, value)
        arrays = {"sample_weight": self.weights[day], "groups": self.clusters[day]}
        given = {f"{option}[{day}]": array for option, array in arrays.items() if array is not None}
        if isinstance(ranking, BaseRanking):
            if given:
                raise ValueError(f"{next(iter(given))} requires rows: {name} must be scores, got {show(value)}")
            return ScoreSample.of_ranking(ranking)
        scores = as_scores(name, value)
        check_same_length(**{name: scores}, **given)
        check_finite(name, scores)
        scores, weights, clusters = _as_floats(scores), self.weights[day], self.clusters[day]
        if weights is None:
            return ScoreSample(scores, clusters=clusters)
        kept = np.flatnonzero(weights)
        shares = weights[kept] / weights.sum()
        return ScoreSample(scores[kept], weights[kept], shares**2, None if clusters is None else clusters[kept])


def _pair(name: str, value: Any) -> list[tuple[str, Any]]:
    """Return for each of the two days the array's name in messages, and the array."""
    if value is None:
        return [(name, None)] * 2
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ValueError(f"{name} must be a pair ({name} of today, {name} of yesterday), got {show(value)}")
    return [(f"{name}[{day}]", each) for day, each in enumerate(value)]
