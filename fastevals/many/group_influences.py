"""Differences of two models' metrics within each group of rows, and the variances of these differences.

A row's influence is how much the difference moves per unit of the row's weight. For a metric of counts, it is how much
the difference falls if the row is left out (the jackknife). For a mean of losses, it is the row's deviation from the
mean. For the AUC, it is the row's placement minus the mean placement of the row's class. A variance is a sum of squared
influences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.groups_placements import list_slots, place_groups
from fastevals.counting.groups import code_groups, spans
from fastevals.counting.ordering import codec_for, sorting_space
from fastevals.infer.proportions import share_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Measure = Callable[[NDArray[Any]], Floats]  # a metric of a stack of matrices, of shape (n, K, K)

# Whether the rows that a share is a share of are a predicted class, and which class it is.
TRIAL_CLASS = {
    "positives": (False, 1), "negatives": (False, 0), "predicted": (True, 1), "predicted negatives": (True, 0),
}  # fmt: skip
FIXED_TRIALS = ("rows", "positives", "negatives")  # their number does not depend on the model


class GroupedRows(NamedTuple):
    """The rows of each group.

    Attributes
    ----------
    codes : ndarray of int of shape (n_rows,)
        Index of the group of each row.
    n_groups : int
        Number of groups.
    weights : ndarray of shape (n_rows,), or None
        Row weights, above zero.
    clusters : ndarray of int64 of shape (n_rows,), or None
        Index of the cluster of each row; clusters are within groups, so rows of different groups differ in it.
    """

    codes: NDArray[Any]
    n_groups: int
    weights: Floats | None = None
    clusters: Ints | None = None

    def sums(self, values: Floats | None = None) -> Floats:
        """Return each group's sum of values, or its number of rows."""
        return np.bincount(self.codes, values, self.n_groups).astype(np.float64)

    def spread(self, influences: Floats, units: Floats | None = None) -> SpreadOfDifference:
        """Return the variance of the sum of each group's influences; `units` as for `spread_of`."""
        if self.clusters is None:
            squares, fourths = (self.sums(influences**power)[:, None] for power in (2, 4))
            return spread_of(self.sums()[:, None], squares, fourths, units)
        return spread_of_clusters(self.clusters, self.codes, influences, self.n_groups, units)

    def units(self, which: NDArray[np.bool_]) -> Floats:
        """Return the number of rows, or of clusters, in each group among some rows."""
        if self.clusters is None:
            return np.bincount(self.codes[which], minlength=self.n_groups).astype(np.float64)
        group_of = np.zeros(self.clusters.max() + 1, dtype=np.intp)
        group_of[self.clusters] = self.codes
        occurs = np.bincount(self.clusters[which], minlength=group_of.size) > 0
        return np.bincount(group_of[occurs], minlength=self.n_groups).astype(np.float64)

    def units_of_rarer(self, positive: NDArray[Any]) -> Floats:
        """Return the number of rows, or clusters, of the rarer class that occurs in each group."""
        both = np.stack([self.units(positive == label) for label in (0, 1)])
        return np.asarray(np.where(both > 0, both, np.inf).min(axis=0))


def clusters_within(codes: NDArray[Any], clusters: Ints) -> Ints:
    """Number clusters within groups, so that clusters of different groups have different numbers."""
    width = int(clusters.max()) + 1 if clusters.size else 1
    return code_groups(codes.astype(np.int64) * width + clusters).block(slice(None)).astype(np.int64)


class SpreadOfDifference(NamedTuple):
    """Variances of differences, their degrees of freedom, and the units that limit these, each of shape (n_groups,)."""

    variances: Floats
    df: Floats
    units: Floats


class Wins(NamedTuple):
    """By group: how many rows are successes of the model only, how many of the reference only, how many are trials."""

    own: Floats  # for the model
    other: Floats  # for the reference
    n: Floats


class Differences(NamedTuple):
    """A metric of the model and the reference in each group, and the spread of the difference.

    `wins` is given if the metric is a share of independent, unweighted rows.
    """

    values: Floats
    reference_values: Floats
    spread: SpreadOfDifference
    wins: Wins | None = None


def spread_of(n: Floats, squares: Floats, fourths: Floats, units: Floats | None = None) -> SpreadOfDifference:
    """Return variances from the number of influences and the sums of their squares and fourth powers.

    Arrays have shape (n_groups, n_strata); the influences of a stratum add up to 0. The degrees of freedom match the
    variance of the estimated variance (Satterthwaite), with the influences' own kurtosis. They are below the number of
    `units`, by default the influences of the smallest stratum: a few equal influences would seem to have no variance.
    """
    units = n.min(axis=1) if units is None else units
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where(n > 1, n / (n - 1), np.nan)
        parts = factors * squares
        variances = parts.sum(axis=1)
        noise = np.maximum(factors**2 * (fourths - squares**2 / n), 0.0).sum(axis=1)
        df = np.minimum(units - 1, 2 * variances**2 / noise)
    return SpreadOfDifference(variances, np.where(variances > 0, df, units - 1), units)


def spread_of_clusters(
    clusters: Ints, codes: NDArray[Any], influences: Floats, n_groups: int, units: Floats | None = None
) -> SpreadOfDifference:
    """Return variances of sums of influences of clustered rows."""
    sums = np.bincount(clusters, influences)
    of_cluster = np.full(sums.size, -1)  # some numbers may not occur
    of_cluster[clusters] = codes
    sums, of_cluster = sums[of_cluster >= 0], of_cluster[of_cluster >= 0]
    n, squares, fourths = (
        np.bincount(of_cluster, sums**power, n_groups)[:, None].astype(np.float64) for power in (0, 2, 4)
    )
    return spread_of(n, squares, fourths, units)


# Means of losses ------------------------------------------------------------------------------------------------------


def differ_in_means(rows: GroupedRows, losses: Floats, reference_losses: Floats) -> Differences:
    """Return differences of mean losses."""
    weights = rows.weights
    total = rows.sums(weights)
    sums = [rows.sums(each if weights is None else each * weights) for each in (losses, reference_losses)]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # of infinite losses
        own, other = (each / total for each in sums)
        difference = losses - reference_losses
        weighted = difference if weights is None else difference * weights
        mean = rows.sums(weighted) / np.maximum(total, np.finfo(float).tiny)
        influences = (difference - mean[rows.codes]) / total[rows.codes]
        return Differences(own, other, rows.spread(influences if weights is None else influences * weights))


# Metrics of confusion matrices ----------------------------------------------------------------------------------------


class Matrices(NamedTuple):
    """How a metric is computed from confusion matrices.

    Attributes
    ----------
    true : ndarray of int of shape (n_rows,)
        Numbers of the true classes, below `n_classes`.
    n_classes : int
        Number of classes.
    measure : callable
        The metric of a stack of matrices.
    trials : str
        The rows that the metric is a share of, as in the registry; empty if it is none.
    """

    true: NDArray[Any]
    n_classes: int
    measure: Measure
    trials: str


class InMatrices(NamedTuple):
    """A metric of matrices of one model, or of two and its difference.

    Attributes
    ----------
    values : list of ndarray of shape (n_groups,)
        The metric of each model.
    spread : SpreadOfDifference
        The spread of the value, or of the difference.
    counts : ndarray of shape (n_groups, K, K) or (n_groups, K, K, K)
        Rows by true label and the labels predicted by each model.
    """

    values: list[Floats]
    spread: SpreadOfDifference
    counts: Floats


def measure_matrices(rows: GroupedRows, of: Matrices, predicted: Sequence[NDArray[Any]]) -> InMatrices:
    """Return a metric of one model or two, given numbers of their predicted classes, with its spread."""
    shape = (rows.n_groups, *(of.n_classes,) * (1 + len(predicted)))
    places = rows.codes.astype(np.intp)
    for each in (of.true, *predicted):
        places = places * of.n_classes + each

    def table(values: Floats | None) -> Floats:
        return np.bincount(places, values, math.prod(shape)).reshape(shape).astype(np.float64)

    counts = table(None)
    weighted = counts if rows.weights is None else table(rows.weights)
    influences, values = np.zeros(shape), []
    for model, sign in zip(range(len(predicted)), (1, -1), strict=False):
        others = tuple(2 + k for k in range(len(predicted)) if k != model)
        value, moved = _leave_one_out(of.measure, weighted.sum(axis=others), counts.sum(axis=others))
        values.append(value)
        influences += sign * np.expand_dims(moved, others)
    flat, rows_of, weights_of = (each.reshape(rows.n_groups, -1) for each in (influences, counts, weighted))
    n = rows_of.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        flat = (flat - (flat * weights_of).sum(axis=1, keepdims=True) / weights_of.sum(axis=1, keepdims=True)) * (
            (n - 1) / n
        )
    units = None
    if not of.trials and of.n_classes == 2:
        units = rows.units_of_rarer(of.true)
    elif of.trials in TRIAL_CLASS and rows.clusters is not None:
        is_predicted, label = TRIAL_CLASS[of.trials]
        labels = predicted if is_predicted else [of.true]
        units = rows.units(np.any([each == label for each in labels], axis=0))
    if rows.clusters is None:
        tables = [rows_of if rows.weights is None else table(rows.weights**power) for power in (2, 4)]
        squares, fourths = (
            (flat**power * each.reshape(flat.shape)).sum(axis=1, keepdims=True)
            for power, each in zip((2, 4), tables, strict=True)
        )
        spread = spread_of(n, squares, fourths, units)
    else:
        of_rows = flat.ravel()[places]
        spread = rows.spread(of_rows if rows.weights is None else of_rows * rows.weights, units)
    return InMatrices(values, spread, counts)


def differ_in_matrices(
    rows: GroupedRows, of: Matrices, predicted: NDArray[Any], reference: NDArray[Any]
) -> Differences:
    """Return differences of a metric of confusion matrices; labels are numbers of classes."""
    (value, reference_value), spread, counts = measure_matrices(rows, of, (predicted, reference))
    is_exact = of.trials in FIXED_TRIALS and rows.weights is None and rows.clusters is None
    return Differences(value, reference_value, spread, _count_wins(counts, of.measure) if is_exact else None)


def _leave_one_out(measure: Measure, weighted: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return a metric, and by how much it falls, per unit of weight, if a row of mean weight is left out of a cell.

    It is 0 for cells without rows, and where the metric would be undefined without the row.
    """
    value, found = measure(weighted), np.zeros_like(weighted)
    steps = np.divide(weighted, counts, out=np.zeros_like(weighted), where=counts > 0)
    for i, j in np.ndindex(weighted.shape[1:]):
        moved, step = weighted.copy(), steps[:, i, j]
        moved[:, i, j] -= step
        with np.errstate(invalid="ignore"):
            np.divide(value - measure(moved), step, out=found[:, i, j], where=step > 0)
    found[~np.isfinite(found)] = 0.0
    found[~np.isfinite(value)] = np.nan
    return value, found


def _count_wins(counts: Floats, measure: Measure) -> Wins:
    """Return how many rows are successes for one model only."""
    k = counts.shape[1]
    adds = measure(np.eye(k * k).reshape(-1, k, k)).reshape(k, k)  # NaN for classes that don't count
    own, others = adds[:, :, None], adds[:, None, :]
    masks = own > others, own < others, np.broadcast_to(~np.isnan(own), (k, k, k))
    return Wins(*((counts * mask).sum(axis=(1, 2, 3)) for mask in masks))


def interval_of_shares(wins: Wins, alpha: float) -> tuple[Floats, Floats]:
    """Return the interval of the difference of two paired shares.

    It combines the exact intervals of the shares of both kinds of wins (method of variance estimates recovery: Newcombe
    1998, doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I; Zou and Donner 2008,
    doi:10.1002/sim.3095). Exact intervals keep their level in the far tails that many groups need.
    """
    own, other, n = wins
    ends = [share_interval(each, n - each, "clopper-pearson", alpha, "two-sided") for each in (own, other)]
    (low, high), (low_2, high_2) = ends
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = own / n, other / n
        both = np.sqrt(p * q / ((1 - p) * (1 - q)))  # minus the correlation of the two shares
        both = np.nan_to_num(both, nan=0.0, posinf=0.0)
        down, up_2, up, down_2 = p - low, high_2 - q, high - p, q - low_2
        below = np.sqrt(down**2 + up_2**2 + 2 * both * down * up_2)
        above = np.sqrt(up**2 + down_2**2 + 2 * both * up * down_2)
    return np.maximum(p - q - below, -1.0), np.minimum(p - q + above, 1.0)


# AUCs -----------------------------------------------------------------------------------------------------------------


class Slots(NamedTuple):
    """Rows listed by group, the negatives of each group first.

    Attributes
    ----------
    order : ndarray of int64 of shape (n_rows,)
        Numbers of the rows.
    starts : ndarray of int64 of shape (2 * n_groups + 1,)
        Start of each slot (a class in a group).
    """

    order: Ints
    starts: Ints

    @classmethod
    def of(cls, rows: GroupedRows, positive: NDArray[np.uint8]) -> Slots:
        """List rows, given 1 for positive rows and 0 for others."""
        slots = np.bincount(2 * rows.codes.astype(np.int64) + positive, minlength=2 * rows.n_groups)
        starts = np.concatenate(([0], np.cumsum(slots)))
        order = np.empty(positive.size, dtype=np.int64)
        list_slots(rows.codes, positive, starts[:-1].copy(), order)
        return cls(order, starts)

    @property
    def sizes(self) -> Floats:
        """Rows of each slot."""
        return np.diff(self.starts).astype(np.float64)

    def placements(self, scores: NDArray[Any]) -> Ints:
        """Return twice the number of rows of the other class that each row is ranked correctly against."""
        codec, values = codec_for(scores)
        keys = codec.encode(values)
        placements = np.empty(keys.size, dtype=np.int64)

        def place(span: tuple[int, int]) -> None:
            first, last = span
            most = int(np.diff(self.starts[::2][first : last + 1]).max())
            own, ranked = np.empty((2, most), dtype=np.uint64)
            scratch = sorting_space(most)
            place_groups(keys, self.order, self.starts, first, last, own, ranked, *scratch, placements)

        run(place, spans(self.starts[::2]), compiles=place_groups)
        return placements


def differ_in_aucs(rows: GroupedRows, slots: Slots, placements: Ints, reference: Ints) -> Differences:
    """Return differences of AUCs, with DeLong's variances, from the placements of both models."""
    sizes = slots.sizes
    others = sizes.reshape(-1, 2)[:, ::-1].ravel()
    of_slot = np.repeat(np.arange(sizes.size), np.diff(slots.starts))
    with np.errstate(divide="ignore", invalid="ignore"):
        own, other = (
            (np.bincount(of_slot, each, sizes.size) / (2 * sizes * others))[1::2] for each in (placements, reference)
        )
        differences = (placements - reference).astype(np.float64)
        means = np.bincount(of_slot, differences, sizes.size) / sizes
    unit = np.divide(1, 2 * sizes * others, out=np.zeros_like(sizes), where=sizes * others > 0)
    influences = (differences - means[of_slot]) * unit[of_slot]
    if rows.clusters is not None:
        listed = rows._replace(codes=rows.codes[slots.order], clusters=rows.clusters[slots.order])
        return Differences(own, other, listed.spread(influences, listed.units_of_rarer(of_slot % 2)))
    squares, fourths = (np.bincount(of_slot, influences**power, sizes.size) for power in (2, 4))
    spread = spread_of(sizes.reshape(-1, 2), *(each.reshape(-1, 2).astype(np.float64) for each in (squares, fourths)))
    return Differences(own, other, spread)
