"""From labels and scores in any order to sorted scores and threshold counts.

Scores become order-preserving 64-bit keys, are scattered into at most 64 buckets in order of score, and each bucket
is sorted while it is in a core's cache. Without weights the lowest bit of a key is its class: the keys of a bucket with
the upper bit 0 and with 1 are in slots of their own, so that this bit is free. With weights each key has its weight
beside it, negative for a negative row.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import blocks, chunks, run
from fastevals._kernels.partition import (
    bits_of,
    count_slots,
    fit_buckets,
    mark_positive,
    place_slots,
    scatter_keys,
    scatter_pairs,
)
from fastevals._kernels.sorting import sort_keys
from fastevals._kernels.sweep import rank_pairs, rank_slots, sweep_pairs
from fastevals._memory import lend
from fastevals.measure.class_split import ClassSplit, Span, fill_counts
from fastevals.measure.codec import Codec, Keys, codec_for, plain_block
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.sweeps import as_pair

__all__ = ["BinaryLabels", "fit_map", "sorting_space", "split_by_class", "weighted_threshold_counts"]

BUCKET = 1 << 13  # rows: keys, scratch and cells of one bucket stay within a core's cache
SPAN = 1 << 16  # rows ranked or swept by one call, where buckets are smaller: Python is entered seldom
SPANS = 16  # at least so many, where there are as many buckets: threads share them
MAX_BUCKETS = 64  # a core writes to as many pages at once: with 128, all that a row's byte holds, it takes longer
MAX_CELLS = 1 << 15  # a larger bucket is cut up once more: its cells would not stay in cache
SAMPLE = 64  # sampled rows for each bucket
TABLE = 1 << 10  # cells for each bucket in the table that sends keys to buckets


@dataclass(frozen=True, slots=True, eq=False)
class BinaryLabels:
    """Labels and what they mean; `negative` is None where all rows are known to be positive."""

    values: NDArray[Any]
    positive: Any
    negative: Any

    def mark(self, block: slice, flags: NDArray[np.uint8]) -> int:
        """Write 1 for a positive row and 0 for another; give how many rows have one of the two labels."""
        labels = self.values[block]
        both = self.positive, self.positive if self.negative is None else self.negative
        # Labels of other types than NumPy's default integer are compared by NumPy: three passes over a block, not one.
        if labels.dtype == np.int64 and all(isinstance(label, int) and abs(label) < 2**63 for label in both):
            return int(mark_positive(plain_block(labels, labels.dtype), int(both[0]), int(both[1]), flags))
        positive = np.equal(labels, both[0], out=flags.view(np.bool_))
        return int(np.count_nonzero(positive | (labels == both[1])))

    def flags(self, name: str = "y_true") -> NDArray[np.uint8]:
        """Give 1 for each positive row and 0 for the others; raise if there is a third label."""
        flags = np.empty(self.values.size, dtype=np.uint8)
        known = run(lambda part: sum(self.mark(rows, flags[rows]) for rows in blocks(part)), chunks(flags.size))
        if sum(known) != flags.size:
            check.raise_not_binary(name, self.values)
        return flags

    def take(self, rows: NDArray[Any]) -> BinaryLabels:
        """Keep some rows."""
        return BinaryLabels(self.values[rows], self.positive, self.negative)


def sorting_space(rows: int) -> tuple[Keys, NDArray[np.int32]]:
    """Give the scratch and the cells in which up to so many keys are sorted."""
    cells = min(1 << max(rows - 1, 1).bit_length(), MAX_CELLS)
    return np.empty(rows, dtype=np.uint64), np.empty(cells, dtype=np.int32)


class Buckets(NamedTuple):
    """The fitted map from keys to buckets."""

    low: np.uint64
    shift: np.uint64
    table: NDArray[np.uint8]
    n_buckets: int


ONE_BUCKET = Buckets(np.uint64(0), np.uint64(0), np.zeros(1, dtype=np.uint8), 1)


def fit_map(n: int, sample: Callable[[slice], Keys]) -> Buckets:
    """Fit the map from keys to buckets of n rows to a sample of them; `sample` gives the keys of some, to be sorted."""
    n_buckets = min(max(n // BUCKET, 1), MAX_BUCKETS)
    if n_buckets == 1:
        return ONE_BUCKET
    keys = sample(slice(None, None, n // (n_buckets * SAMPLE)))
    sort_keys(keys, *sorting_space(keys.size))
    table = np.empty(TABLE * (1 << (n_buckets - 1).bit_length()), dtype=np.uint8)
    low, shift = fit_buckets(keys, n_buckets, table)
    return Buckets(np.uint64(low), np.uint64(shift), table, n_buckets)


def _count(
    labels: BinaryLabels, codec: Codec, scores: NDArray[Any], fit: Buckets
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Give each row's bucket and class in one byte, and count the rows of each chunk in each slot.

    Gives shapes (n_samples,) and (n_chunks, n_slots); raises if there is a third label.
    """
    parts = chunks(scores.size)
    places = lend(scores.size, np.uint8)
    counts = np.zeros((len(parts), 2 * fit.n_buckets), dtype=np.int64)

    def count(i: int) -> int:
        known = 0
        for block in blocks(parts[i]):
            known += labels.mark(block, places[block])
            count_slots(codec.bits(scores[block]), places[block], codec.flip_below, codec.flip, *fit[:3], counts[i])
        return known

    if sum(run(count, range(len(parts)))) != scores.size:
        check.raise_not_binary("y_true", labels.values)
    return places, counts


def _scatter(
    codec: Codec,
    scores: NDArray[Any],
    beside: tuple[NDArray[Any], ...],
    counts: NDArray[np.int64],
    kernel: Any,
    *out: NDArray[Any],
) -> NDArray[np.int64]:
    """Let `kernel` write each chunk's rows to their slots in `out`; give the rows where the slots start.

    `counts` has shape (n_chunks, n_slots) and is used up; the arrays in `beside` go to the kernel with the scores.
    """
    starts = np.empty(counts.shape[1] + 1, dtype=np.int64)
    place_slots(counts, starts)
    parts = chunks(scores.size)

    def scatter(i: int) -> None:
        for block in blocks(parts[i]):
            rows = (array[block] for array in beside)
            kernel(codec.bits(scores[block]), *rows, codec.flip_below, codec.flip, counts[i], *out)

    run(scatter, range(len(parts)))
    return starts


def _extremes(codec: Codec, scores: NDArray[Any], lowest: int, highest: int) -> NDArray[Any]:
    """Give the scores of the lowest and the highest key; raise for a NaN or an infinity, which sort to the ends."""
    bits = [bits_of(np.uint64(key), codec.flip_below, codec.flip) for key in (lowest, highest)]
    extremes = codec.values(np.array(bits, dtype=np.int64))
    if codec.distinct is None and not all(map(math.isfinite, extremes.tolist())):
        check.raise_not_finite("y_score", scores)
    return extremes


def _rank(marked: Keys, starts: NDArray[np.int64], sizes: list[int], cuts: list[tuple[int, int]]) -> list[list[int]]:
    """Sort the slots; give for each twice its Mann-Whitney U, its distinct keys and its positives."""
    ranked = np.empty((3, len(sizes)), dtype=np.int64)

    def rank(cut: tuple[int, int], space: tuple[Keys, NDArray[np.int32]]) -> None:
        rank_slots(marked, starts, *cut, *space, *ranked)

    run(rank, cuts, workspace=lambda: sorting_space(max(sizes)))
    return ranked.tolist()


def split_by_class(labels: BinaryLabels, scores: NDArray[Any]) -> ClassSplit:
    """Sort scores, with their classes, and count the pairs that are in order."""
    codec, scores = codec_for(scores)
    fit = fit_map(scores.size, lambda some: codec.encode(scores[some]))
    places, counts = _count(labels, codec, scores, fit)
    marked = lend(scores.size, np.uint64)
    starts = _scatter(codec, scores, (places,), counts, scatter_keys, marked)
    edges = starts.tolist()
    sizes = [stop - start for start, stop in pairwise(edges)]
    step = 2 * min(max(SPAN * fit.n_buckets // scores.size, 1), -(-fit.n_buckets // SPANS))
    cuts = [(first, min(first + step, len(sizes))) for first in range(0, len(sizes), step)]
    doubled, groups, positives = _rank(marked, starts, sizes, cuts)

    lowest, highest = bisect_right(edges, 0) - 1, bisect_left(edges, scores.size) - 1  # slots that hold the ends
    ends = (int(marked[0]) >> 1 | (lowest % 2) << 63, int(marked[-1]) >> 1 | (highest % 2) << 63)
    extremes = _extremes(codec, scores, *ends)

    doubled_u = below = 0
    for size, within, found in zip(sizes, doubled, positives, strict=True):
        doubled_u += within + 2 * found * below
        below += size - found
    spans: list[Span] = []
    groups_above = tp = fp = 0
    for first, last in reversed(cuts):
        spans.append(Span(first, last, sum(groups[first:last]), groups_above, tp, fp))
        found = sum(positives[first:last])
        groups_above, tp, fp = groups_above + spans[-1].groups, tp + found, fp + sum(sizes[first:last]) - found
    return ClassSplit(codec, marked, starts, extremes, spans[::-1], tp, fp, doubled_u)


def weighted_threshold_counts(
    labels: BinaryLabels, scores: NDArray[Any], weights: NDArray[np.float64]
) -> tuple[ThresholdCounts, int]:
    """Sum the weights at or above each distinct score; no weight is zero. Gives the number of positive rows too."""
    codec, scores = codec_for(scores)
    fit = fit_map(scores.size, lambda some: codec.encode(scores[some]))
    places, by_slot = _count(labels, codec, scores, fit)
    counts = by_slot.reshape(len(by_slot), -1, 2).sum(axis=2)
    keys = lend(scores.size, np.uint64)
    signed = lend(scores.size, np.float64)
    starts = _scatter(codec, scores, (places, weights), counts, scatter_pairs, keys, signed)
    largest = int(np.diff(starts).max())

    def rank(bucket: int, space: tuple[Any, ...]) -> tuple[int, float, float, float, float]:
        here = slice(starts[bucket], starts[bucket + 1])
        scratch, cells = space
        return rank_pairs(keys[here], signed[here], scratch, np.empty_like(signed[here]), cells)  # type: ignore[no-any-return]

    ranked = run(rank, range(fit.n_buckets), workspace=lambda: sorting_space(largest))
    extremes = _extremes(codec, scores, int(keys[0]), int(keys[-1]))
    above: list[tuple[float, ...]] = []
    tp = fp = Fraction(0)
    for _, *sums in reversed(ranked):
        above.append((*as_pair(tp), *as_pair(fp)))
        tp += Fraction(sums[0]) + Fraction(sums[1])
        fp += Fraction(sums[2]) + Fraction(sums[3])
    above.reverse()

    def sweep(bucket: int, *out: NDArray[Any]) -> None:
        here = slice(starts[bucket], starts[bucket + 1])
        sweep_pairs(keys[here], signed[here], *above[bucket], codec.flip_below, codec.flip, *out)

    stops = np.cumsum([groups for groups, *_ in ranked][::-1])[::-1].tolist()
    ends = [(stop - groups + 1, stop + 1) for stop, (groups, *_) in zip(stops, ranked, strict=True)]
    return fill_counts(codec, extremes, ends, np.float64, sweep), int(np.count_nonzero(signed > 0))
