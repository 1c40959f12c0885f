"""Intervals of the rates in gain tables: the effective number of rows with weights and clusters, and open ranges."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_frequencies, as_weights, check_one_weight, check_same_length
from fastevals.counting.groups import code_groups
from fastevals.counting.keys import as_group_keys
from fastevals.counting.ordering import BinaryLabels
from fastevals.counts import ThresholdCounts
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.share_cuts import ShareCuts

Floats = NDArray[np.float64]

FEW_EFFECTIVE_ROWS = 5  # of a bin with weights: a rate may be the label of one row


def possible_rates(
    ranking: BaseRanking, cuts: ShareCuts, first: list[int], last: list[int], rates: Floats
) -> list[Floats]:
    """Return the lowest and the highest rate of each bin that ranges of scores allow."""
    at = np.array(cuts.amounts, dtype=np.float64)
    found = ranking.gain_curve().at(share=np.minimum(at / at[-1], 1.0))
    fewest, most = found if isinstance(found, tuple) else (found, found)
    rows = np.diff(np.stack([at[first], at[last]]), axis=0)[0]
    ends = [(each[last] - other[first]) * cuts.counts.n_pos / rows for each, other in ((fewest, most), (most, fewest))]
    return [np.clip(np.fmin(ends[0], rates), 0, 1), np.clip(np.fmax(ends[1], rates), 0, 1)]


class SquaredShares(NamedTuple):
    """Sums of squared shares of the total weight at the thresholds of counts, and the positive and negative rows."""

    above: ThresholdCounts
    rows: tuple[int, int]


def effective_rows(
    cuts: ShareCuts,
    first: list[int],
    last: list[int],
    rates: Floats,
    alpha: float,
    *,
    squares: SquaredShares | None,
    clusters: GainClusters | None,
) -> tuple[Floats, list[str]]:
    """Return the effective number of rows of each rate, from which its interval is computed, and cautions."""
    ends = list(zip(first, last, rates.tolist(), strict=True))
    if clusters is not None:
        effective = np.array([clusters.effective(cuts, *each, alpha) for each in ends])
        n_alone = int(np.isnan(effective).sum())
        alone = (
            f"Intervals need at least two clusters per bin, but {n_alone} of {len(ends)} rows of the table have only "
            "one: use fewer bins."
        )
        return effective, [alone] if n_alone else []
    if cuts.counts.tps.dtype.kind != "f":
        return np.array([float(cuts.amounts[b] - cuts.amounts[a]) for a, b in zip(first, last, strict=True)]), []
    if squares is None:
        unknown = (
            "Rates have no intervals, because sums of squared weights are unknown: pass the rows and sample_weight."
        )
        return np.full(len(first), np.nan), [unknown]
    n = cuts.amounts[-1]
    above = np.array(
        [cuts.above(each) for each in (cuts.counts.tps, cuts.counts.fps, squares.above.tps, squares.above.fps)]
    )
    above[:2] /= n
    means = _mean_weights(above[:2, -1], squares.rows)
    found, by_weights = [], []
    for a, b, rate in ends:
        weights, squared = np.split(above[:, b] - above[:, a], 2)
        by_weights.append(weights.sum() ** 2 / squared.sum())  # Kish
        found.append(_effective(rate, _variance(weights, squared, means, rate), by_weights[-1]))
    n_few = int(np.count_nonzero(np.array(by_weights) < FEW_EFFECTIVE_ROWS))
    few = (
        f"Intervals are rough where weights leave fewer than {FEW_EFFECTIVE_ROWS} effective rows, in {n_few} of "
        f"{len(ends)} rows of the table: use fewer bins."
    )
    return np.array(found), [few] if n_few else []


def _mean_weights(weights: Any, rows: Any) -> Floats:
    """Return the mean weight of positive and of negative rows; 1 without rows."""
    return np.array([weight / n if n else 1.0 for weight, n in zip(weights, rows, strict=True)])


def _variance(weights: Floats, squares: Floats, means: Floats, rate: float) -> float:
    """Return the variance of a rate of independent rows, from sums of weights and of their squares by class.

    In small bins, the linearised variance is too small: if one row has a large weight, the rate is near that row's
    label. So the variance is at least as large as if weights, divided by the mean weight of their class, varied equally
    in both classes.
    """
    distances = np.array([(1 - rate) ** 2, rate**2])  # of labels from the rate
    spread = (squares / means**2).sum() / (weights / means).sum()  # of weights within classes, >= 1
    return float(max(squares @ distances, (weights * means) @ distances * spread) / weights.sum() ** 2)


def _effective(rate: float, variance: float, of_one_class: float) -> float:
    """Return how many independent rows give a rate this variance; if all rows are of one class, `of_one_class`."""
    return rate * (1 - rate) / variance if 0 < rate < 1 and variance > 0 else of_one_class


def _by_class(values: NDArray[Any], positive: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the sums over positives and over negatives."""
    return np.array([values[positive].sum(), values[~positive].sum()])


class GainClusters(NamedTuple):
    """Rows of clusters."""

    scores: NDArray[Any]
    positive: NDArray[np.bool_]
    weights: Floats
    are_copies: bool
    codes: NDArray[np.intp]
    means: Floats  # of the weights of positives and of negatives

    def effective(self, cuts: ShareCuts, first: int, last: int, rate: float, alpha: float) -> float:
        """Return the effective number of rows between two cuts; NaN for a single cluster."""
        from scipy.stats import norm, t

        inside = self._above(cuts, last) - self._above(cuts, first)  # share of each row between the cuts
        rows = np.flatnonzero(inside * self.weights)
        codes, own = self.codes[rows], inside[rows] * self.weights[rows]
        positive, total = self.positive[rows], own.sum()
        sums, sizes = np.bincount(codes, own * (positive - rate)), np.bincount(codes, own)
        n = np.count_nonzero(sizes)
        if n < 2:
            return math.nan
        squares = own if self.are_copies else own * self.weights[rows]
        independent = _variance(_by_class(own, positive), _by_class(squares, positive), self.means, rate)
        variance = max(n / (n - 1) * (sums @ sums) / total**2, independent)
        effective = _effective(rate, variance, total**2 / (sizes @ sizes))
        return float(effective * (norm.isf(alpha / 2) / t.isf(alpha / 2, n - 1)) ** 2)

    def _above(self, cuts: ShareCuts, cut: int) -> Floats:
        """Return the share of each row that is above a cut."""
        thresholds, row, part = cuts.counts.thresholds, cuts.rows[cut], float(cuts.parts[cut])
        above: Floats = (self.scores >= thresholds[row]).astype(np.float64)
        if part:
            above += part * (self.scores == thresholds[row + 1])
        return above


class GainRows(NamedTuple):
    """Labels of rows, with their weights or copies, and their clusters."""

    labels: BinaryLabels
    weights: NDArray[Any] | None
    are_copies: bool
    codes: NDArray[Any] | None  # of clusters, from 0

    @classmethod
    def of(cls, labels: BinaryLabels, sample_weight: Any, frequency_weight: Any, groups: Any) -> Self:
        """Check the arrays of a user."""
        check_one_weight(sample_weight, frequency_weight)
        given: dict[str, Any] = {}
        if sample_weight is not None:
            given["sample_weight"] = as_weights("sample_weight", sample_weight)
        if frequency_weight is not None:
            given["frequency_weight"] = as_frequencies("frequency_weight", frequency_weight)
        weights = next(iter(given.values()), None)
        if groups is not None:
            given["groups"] = as_group_keys("groups", groups)
        check_same_length(y_true=labels.values, **given)
        codes = None if groups is None else code_groups(given["groups"]).block(slice(None))
        return cls(labels, weights, frequency_weight is not None, codes)

    def ranking(self, scores: NDArray[Any]) -> Ranking:
        """Rank the rows by a model's scores."""
        return self._ranked(scores, **{"frequency_weight" if self.are_copies else "sample_weight": self.weights})

    def squares(self, scores: NDArray[Any], ranking: Ranking) -> SquaredShares | None:
        """Return sums of squared weights; None without weights."""
        if self.weights is None or self.are_copies:
            return None
        counts = ranking.counts
        squared = self._ranked(scores, sample_weight=np.square(self.weights / (counts.n_pos + counts.n_neg))).counts
        rows = ranking.n_positives, ranking.n_negatives
        return SquaredShares(squared.take(squared.rows_at_least(counts.thresholds)), rows)

    def clusters(self, scores: NDArray[Any]) -> GainClusters | None:
        """Return the clusters of rows; None if rows are independent."""
        if self.codes is None:
            return None
        positive = self.labels.values == self.labels.positive
        if self.weights is None or self.are_copies:
            copies = np.ones(scores.size) if self.weights is None else self.weights.astype(np.float64)
            return GainClusters(scores, positive, copies, True, self.codes, np.ones(2))
        weights = self.weights / self.weights.max()
        means = _mean_weights(_by_class(weights, positive), _by_class(weights > 0, positive))
        return GainClusters(scores, positive, weights, False, self.codes, means)

    def _ranked(self, scores: NDArray[Any], **weights: Any) -> Ranking:
        return Ranking(self.labels.values, scores, pos_label=self.labels.positive, **weights)
