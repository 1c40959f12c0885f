"""Distinct probabilities of threshold counts, and bins of them.

The scores of the ranking are the probabilities: a row of the counts and the one before it give the positives and
negatives (or their weight) that share one. Weights are differences of cumulative floats: off by half an ulp of the
*total* weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import blocks, chunks, run
from fastevals.measure.cells import ratio
from fastevals.measure.counts import ThresholdCounts, last_row

__all__ = [
    "Bins",
    "Groups",
    "are_probabilities",
    "cut",
    "mean_over_rows",
    "require_probabilities",
    "scale_of",
    "sum_bins",
    "sweep_groups",
]

T = TypeVar("T")
MOST_BINS = 1_000_000
ROUNDING = 2.0**-50  # relative; what sums of weights can be off


def are_probabilities(counts: ThresholdCounts) -> bool:
    """Tell whether all thresholds but the first, +inf, are probabilities."""
    return bool(counts.thresholds.size == 1 or (counts.thresholds[-1] >= 0 and counts.thresholds[1] <= 1))


def require_probabilities(counts: ThresholdCounts) -> None:
    """Raise unless they are."""
    if not are_probabilities(counts):
        check.check_probabilities("y_score", counts.thresholds[-1], counts.thresholds[1])


class Groups(NamedTuple):
    """Distinct probabilities, descending, and the weight of the positives and negatives that have each."""

    p: NDArray[Any]
    positives: NDArray[np.float64]
    negatives: NDArray[np.float64]


def scale_of(counts: ThresholdCounts) -> float:
    """Give the power of two that brings the weight near 1, so that no product overflows or vanishes."""
    return check.power_of_two(max(counts.n_pos, counts.n_neg))


def sweep_groups(counts: ThresholdCounts, function: Callable[[slice, Groups], T]) -> list[T]:
    """Call a function on each block of groups; group i is what row i + 1 of the counts adds to row i."""
    scale = scale_of(counts)
    dtype = np.result_type(counts.thresholds, np.float64)

    def groups(block: slice) -> Groups:
        rows = slice(block.start, block.stop + 1)
        p = counts.thresholds[rows][1:].astype(dtype, copy=False)
        return Groups(p, np.diff(counts.tps[rows]) * scale, np.diff(counts.fps[rows]) * scale)

    def part(rows: slice) -> list[T]:
        return [function(block, groups(block)) for block in blocks(rows)]

    return [found for part in run(part, chunks(counts.thresholds.size - 1)) for found in part]


def mean_over_rows(counts: ThresholdCounts, sums: list[Any]) -> float:
    """Give the mean over all rows of what was summed by block."""
    scale = scale_of(counts)
    return float(ratio(math.fsum(sums), counts.n_pos * scale + counts.n_neg * scale))


# Bins -------------------------------------------------------------------------------------------------------------


class Bins(NamedTuple):
    """Bins of probabilities, ascending.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Ascending from 0 to 1. Bin k is ``edges[k] < p <= edges[k + 1]``, and the first holds ``p == edges[0]`` too.
    positives, negatives : ndarray of shape (n_bins,)
        Rows, or their weight.
    mean_predicted, fraction_of_positives : ndarray of shape (n_bins,)
        NaN in an empty bin.
    starts : ndarray of shape (n_bins + 1,)
        Where the bins' distinct probabilities start, *from the highest bin down*; then the number of all.
    """

    edges: NDArray[np.float64]
    positives: NDArray[Any]
    negatives: NDArray[Any]
    mean_predicted: NDArray[np.float64]
    fraction_of_positives: NDArray[np.float64]
    starts: NDArray[np.intp]


def cut(counts: ThresholdCounts, n_bins: int, strategy: str) -> Bins:
    """Cut the probabilities into bins of equal width ("uniform") or of equal mass ("quantile")."""
    require_probabilities(counts)
    n_bins = check.check_integer("n_bins", n_bins, low=1, high=MOST_BINS)
    check.check_choice("strategy", strategy, STRATEGIES)
    edges, starts = STRATEGIES[strategy](counts, n_bins)
    positives, negatives = np.diff(counts.tps[starts]), np.diff(counts.fps[starts])
    (sums,) = sum_bins(counts, starts, lambda groups, _: [(groups.positives + groups.negatives) * groups.p])
    scale = scale_of(counts)
    mean = ratio(sums, positives * scale + negatives * scale)
    # What is rounded stays within the bin, and the mean of one probability is that probability.
    highest = counts.thresholds[np.minimum(starts[:-1] + 1, counts.thresholds.size - 1)]
    mean = np.clip(mean, counts.thresholds[starts[1:]], np.fmax(highest, counts.thresholds[starts[1:]]))
    fraction = ratio(positives, positives + negatives)
    mean, fraction = mean[::-1].astype(np.float64), fraction[::-1].copy()
    return Bins(edges, positives[::-1], negatives[::-1], mean, fraction, starts)


def _uniform(counts: ThresholdCounts, n_bins: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    edges = np.arange(n_bins + 1) / n_bins
    # Above an edge is what is at least the number after it.
    above = np.nextafter(edges.astype(np.result_type(counts.thresholds, np.float64)), 2)
    starts = counts.rows_at_least(above[::-1])
    starts[-1] = counts.thresholds.size - 1  # 0 belongs to the first bin
    return edges, starts


def _quantile(counts: ThresholdCounts, n_bins: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Take as edge k the lowest probability with a share of k / n_bins of the rows at or below it.

    That is the one under the last row of the counts with at most a share of 1 - k / n_bins at or above it.
    """
    # By a few ulps more than enough, so that equal weights of 0.1 are cut as whole ones are.
    enough = (counts.n_pos + counts.n_neg) * (np.arange(1, n_bins) / n_bins) * (1 + ROUNDING)
    fits = last_row(counts.thresholds.size, enough.shape, lambda rows: counts.tps[rows] + counts.fps[rows] <= enough)
    inner = np.unique(fits)
    inner = inner[counts.tps[inner] + counts.fps[inner] > 0]  # a bin above the last row would be empty
    edges = np.concatenate(([0.0], counts.thresholds[inner[::-1] + 1].astype(np.float64), [1.0]))
    return edges, np.concatenate(([0], inner, [counts.thresholds.size - 1]))


STRATEGIES = {"uniform": _uniform, "quantile": _quantile}


def sum_bins(
    counts: ThresholdCounts,
    starts: NDArray[np.intp],
    terms: Callable[[Groups, Callable[[NDArray[Any]], NDArray[Any]]], list[NDArray[Any]]],
) -> list[NDArray[np.float64]]:
    """Sum over each bin, the highest first.

    `terms` gives arrays over a block's groups. It is called with the groups and a function that spreads an array over
    the bins to one over the groups.
    """

    def pieces(block: slice, groups: Groups) -> list[tuple[int, list[Any]]]:
        first = np.searchsorted(starts, block.start, side="right") - 1
        here = np.arange(first, np.searchsorted(starts, block.stop))
        begin, end = np.maximum(starts[here], block.start), np.minimum(starts[here + 1], block.stop)
        here, begin, end = here[begin < end], begin[begin < end], end[begin < end]
        arrays = terms(groups, lambda over_bins: np.repeat(over_bins[here], end - begin))
        sums = np.stack([np.add.reduceat(array, begin - block.start) for array in arrays], axis=1)
        return list(zip(here.tolist(), sums.tolist(), strict=True))

    found = [piece for block in sweep_groups(counts, pieces) for piece in block]
    totals = np.zeros((len(found[0][1]) if found else 1, starts.size - 1))
    for i, same_bin in groupby(found, itemgetter(0)):
        totals[:, i] = [math.fsum(sums) for sums in zip(*(sums for _, sums in same_bin), strict=True)]
    return list(totals)
