"""Moments of placements of weighted rows: each row is one independent observation.

A weighted AUC is the weighted mean placement of the positives. Its variance is a normalised sum of squared weights
times squared deviations. So the variance does not depend on the unit of the weights, and equal weights give DeLong's
variance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import usual_unit
from fastevals.counting.ordering import BinaryLabels
from fastevals.counts import ThresholdCounts
from fastevals.document.frames import Columns, make_columns
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.ranking.squares import SquaredWeights
from fastevals.measure.ranking_metrics import roc_auc
from fastevals.results import Frozen

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WeightedMoments(Frozen):
    """AUCs of weighted rows and their covariance, with the methods of `PlacementMoments`."""

    n_pos: int  # rows of each class with a positive weight
    n_neg: int
    values: tuple[float, ...]  # AUCs
    table: tuple[tuple[float, ...], ...]  # covariances; NaN or empty where a class has fewer than two rows

    def _columns(self) -> Columns:
        return make_columns({"auc": self.values, "n_pos": self.n_pos, "n_neg": self.n_neg})

    @property
    def defined(self) -> bool:
        """Return whether all AUCs have a covariance."""
        return self.defines([Fraction(1)] * len(self.values))

    def defines(self, weights: Sequence[Fraction]) -> bool:
        """Return whether a weighted sum of the AUCs has a variance."""
        return bool(self.table) and not any(math.isnan(self.table[k][k]) for k, weight in enumerate(weights) if weight)

    def aucs(self) -> Floats:
        """Return each model's AUC."""
        return np.array(self.values)

    def covariance(self) -> Floats:
        """Return the covariance of the AUCs."""
        return np.array(self.table) if self.table else np.full((len(self.values),) * 2, np.nan)

    def effect(self, weights: Sequence[Fraction]) -> Fraction:
        """Return a weighted sum of the AUCs."""
        terms = (weight * Fraction(value) for weight, value in zip(weights, self.values, strict=True) if weight)
        return sum(terms, Fraction(0))

    def variance(self, weights: Sequence[Fraction]) -> Fraction:
        """Return the variance of a weighted sum of the AUCs; 0 for a difference of models that rank alike."""
        kept = [k for k, weight in enumerate(weights) if weight]
        products = (weights[a] * weights[b] * Fraction(self.table[a][b]) for a in kept for b in kept)
        return max(sum(products, Fraction(0)), Fraction(0))

    def differences(self) -> tuple[Floats, Floats]:
        """Return the other models' AUCs minus the first model's, and the covariance of these differences."""
        aucs, table = self.aucs(), self.covariance()
        return aucs[1:] - aucs[0], table[1:, 1:] - table[1:, :1] - table[:1, 1:] + table[0, 0]


def weighted_moments(labels: BinaryLabels, scores: Sequence[NDArray[Any]], weights: Floats) -> WeightedMoments:
    """Return the moments of models on the same rows, with positive weights."""
    positive = labels.values == labels.positive
    sides = np.flatnonzero(~positive), np.flatnonzero(positive)
    weights = weights * usual_unit(weights, positive)
    own = [weights[rows] for rows in sides]
    aucs = [math.nan] * len(scores)
    if all(rows.size for rows in sides):
        aucs = [_auc(labels, each, weights) for each in scores]
    table, defined = np.zeros((len(scores), len(scores))), min(rows.size for rows in sides) > 1
    if defined:
        for which, rows in enumerate(sides):
            other = sides[1 - which]
            moved = [
                own[which] * placement_deviations(each, rows, other, own[1 - which], own[which]) for each in scores
            ]
            share = _variance_share(*(float((own[which] ** power).sum()) for power in (1, 2, 3)))
            for a, first in enumerate(moved):
                for b in range(a + 1):
                    table[a, b] += (first * moved[b]).sum() / share  # the same bits for equal models
        table = np.tril(table) + np.tril(table, -1).T
    rows_of_table = tuple(map(tuple, table.tolist())) if defined else ()
    return WeightedMoments(sides[1].size, sides[0].size, tuple(aucs), rows_of_table)


def weighted_ranking_moments(counts: ThresholdCounts, squares: SquaredWeights) -> WeightedMoments:
    """Return the moments of rows counted by score, from sums of their weights and squared weights."""
    n_neg, n_pos = squares.rows
    if not n_neg or not n_pos:
        return WeightedMoments(n_pos, n_neg, (math.nan,), ())
    auc = roc_auc(counts)
    if min(n_neg, n_pos) < 2:
        return WeightedMoments(n_pos, n_neg, (auc,), ())
    variance, sides = 0.0, ((counts.fps, squares.fps), (counts.tps, squares.tps))
    for (own, sums), (other, _), mean, cubes in zip(sides, sides[::-1], (1 - auc, auc), squares.cubes, strict=True):
        placements = 1 - (other[1:] + other[:-1]) / (2 * other[-1])
        variance += np.diff(sums) @ (placements - mean) ** 2 / _variance_share(own[-1], sums[-1], cubes)
    return WeightedMoments(n_pos, n_neg, (auc,), ((float(variance),),))


def _auc(labels: BinaryLabels, values: NDArray[Any], weights: Floats) -> float:
    return Ranking(labels.values, values, sample_weight=weights, pos_label=labels.positive).roc_auc()


def placement_deviations(
    values: NDArray[Any], rows: NDArray[np.intp], other: NDArray[np.intp], others: Floats, own: Floats
) -> Floats:
    """Return each row's placement (the share of the other class below it) minus the mean placement."""
    ranks = np.unique(values, return_inverse=True)[1]
    sums = np.bincount(ranks[other] + 1, others, minlength=int(ranks.max()) + 2).cumsum()
    placements = (sums[ranks[rows]] + sums[ranks[rows] + 1]) / (2 * sums[-1])
    return np.asarray(placements - np.average(placements, weights=own))


def _variance_share(total: float, squares: float, cubes: float) -> float:
    """Return the divisor of sums of squared, weighted deviations; n (n - 1) if all weights are 1.

    Let W, S2 and S3 be the sums of weights, squares and cubes. For independent values with variance V, the sum of
    ``w**2`` times squared deviations from the weighted mean has expectation ``V S2 (1 - 2 S3 / (S2 W) + S2 / W**2)``,
    and the weighted mean has variance ``V S2 / W**2``.
    """
    return total**2 * (1 - 2 * cubes / (squares * total) + squares / total**2)
