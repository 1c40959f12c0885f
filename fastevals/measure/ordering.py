"""From labels and scores in any order to sorted scores and threshold counts.

Scores become order-preserving 64-bit keys, are scattered into at most 128 buckets in order of score, and each bucket
is sorted while it is in a core's cache. Without weights the two classes of a bucket lie side by side, each sorted by
value alone; with weights each key carries its weight, negative for a negative row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import blocks, chunks, run
from fastevals._kernels.partition import count_slots, fit_buckets, mark_positive, scatter_keys, scatter_pairs
from fastevals._kernels.sorting import sort_keys
from fastevals._kernels.sweep import rank_buckets, rank_pairs, sweep_bucket, sweep_pairs
from fastevals.measure.codec import Codec, Keys, codec_for, plain_block
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.sweeps import as_pair

__all__ = ["BinaryLabels", "ClassSplit", "split_by_class", "weighted_threshold_counts"]

BUCKET = 1 << 14  # rows: keys, scratch and cells of one bucket stay within 1 MiB of cache
SPANS = 32  # of buckets ranked by one call
MAX_BUCKETS = 128  # a row's bucket and class fit one byte
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

    def take(self, rows: NDArray[Any]) -> BinaryLabels:
        """Keep some rows."""
        return BinaryLabels(self.values[rows], self.positive, self.negative)


def _workspace(rows: int) -> tuple[Keys, NDArray[np.int32]]:
    """Give the scratch and the cells in which up to so many keys are sorted."""
    return np.empty(rows, dtype=np.uint64), np.empty(1 << max(rows - 1, 1).bit_length(), dtype=np.int32)


class Buckets(NamedTuple):
    """The fitted map from keys to buckets."""

    low: np.uint64
    shift: np.uint64
    table: NDArray[np.uint8]
    n_buckets: int


def _fit(codec: Codec, scores: NDArray[Any]) -> Buckets:
    """Fit the map from keys to buckets to a sample of the scores."""
    n_buckets = min(max(scores.size // BUCKET, 1), MAX_BUCKETS)
    if n_buckets == 1:
        return Buckets(np.uint64(0), np.uint64(0), np.zeros(1, dtype=np.uint8), 1)
    keys = codec.encode(scores[:: scores.size // (n_buckets * SAMPLE)])
    sort_keys(keys, *_workspace(keys.size))
    table = np.empty(TABLE * (1 << (n_buckets - 1).bit_length()), dtype=np.uint8)
    low, shift = fit_buckets(keys, n_buckets, table)
    return Buckets(np.uint64(low), np.uint64(shift), table, n_buckets)


def _count(
    labels: BinaryLabels, codec: Codec, scores: NDArray[Any], fit: Buckets
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Give each row its slot, and count the rows of each chunk in each bucket and class.

    Gives shapes (n_samples,) and (n_chunks, n_buckets, 2); raises if there is a third label.
    """
    parts = chunks(scores.size)
    slots = np.empty(scores.size, dtype=np.uint8)
    counts = np.zeros((len(parts), 2 * fit.n_buckets), dtype=np.int64)

    def count(i: int) -> int:
        known = 0
        for block in blocks(parts[i]):
            known += labels.mark(block, slots[block])
            count_slots(codec.bits(scores[block]), slots[block], codec.flip_below, codec.flip, *fit[:3], counts[i])
        return known

    if sum(run(count, range(len(parts)))) != scores.size:
        check.raise_not_binary("y_true", labels.values)
    return slots, counts.reshape(len(parts), fit.n_buckets, 2)


def _scatter(
    codec: Codec,
    scores: NDArray[Any],
    beside: tuple[NDArray[Any], ...],
    counts: NDArray[np.int64],
    kernel: Any,
    *out: NDArray[Any],
) -> NDArray[np.int64]:
    """Let `kernel` write each chunk's rows to their places in `out`; give the places where the slots start.

    `counts` has shape (n_chunks, n_slots); the arrays in `beside` go to the kernel with the scores.
    """
    starts = np.concatenate(([0], np.cumsum(counts.sum(axis=0))))
    ends = starts[:-1] + np.cumsum(counts, axis=0) - counts
    parts = chunks(scores.size)

    def scatter(i: int) -> None:
        for block in blocks(parts[i]):
            rows = (array[block] for array in beside)
            kernel(codec.bits(scores[block]), *rows, codec.flip_below, codec.flip, ends[i], *out)

    run(scatter, range(len(parts)))
    return starts


def _gather(codec: Codec, extremes: Keys, groups: list[int], dtype: Any, sweep: Callable[..., None]) -> ThresholdCounts:
    """Let ``sweep(bucket, keys, tps, fps)`` fill the counts of each bucket, the highest bucket first."""
    stops = np.cumsum(groups[::-1])[::-1].tolist()
    thresholds = np.empty(stops[0] + 1, dtype=codec.threshold_dtype(extremes))
    tps, fps = np.empty(thresholds.size, dtype=dtype), np.empty(thresholds.size, dtype=dtype)
    thresholds[0], tps[0], fps[0] = np.inf, 0, 0

    def fill(bucket: int) -> None:
        here = slice(stops[bucket] - groups[bucket] + 1, stops[bucket] + 1)
        keys = np.empty(groups[bucket], dtype=np.uint64)
        sweep(bucket, keys, tps[here], fps[here])
        thresholds[here] = codec.decode(keys)

    run(fill, range(len(groups)))
    return ThresholdCounts(thresholds, tps, fps)


@dataclass(frozen=True, slots=True, eq=False)
class ClassSplit:
    """Unweighted scores, sorted within each class.

    Bucket b holds its negatives at ``keys[starts[2 b] : starts[2 b + 1]]`` and its positives behind them, ascending.

    Attributes
    ----------
    extremes : ndarray of shape (2,)
        The lowest and the highest key.
    groups : list of int
        Distinct scores in each bucket.
    n_pos, n_neg : int
        Rows of each class.
    doubled_u : int
        Twice the Mann-Whitney U: a pair ranked right counts 2, a tie 1.
    """

    codec: Codec
    keys: Keys
    starts: NDArray[np.int64]
    extremes: Keys
    groups: list[int]
    n_pos: int
    n_neg: int
    doubled_u: int

    def threshold_counts(self) -> ThresholdCounts:
        """Sweep the buckets into counts at each distinct score."""
        sizes = np.diff(self.starts).reshape(-1, 2)
        above = sizes.sum(axis=0) - np.cumsum(sizes, axis=0)

        def sweep(bucket: int, keys: Keys, tps: NDArray[np.int64], fps: NDArray[np.int64]) -> None:
            start, middle, stop = self.starts[2 * bucket : 2 * bucket + 3]
            fp, tp = above[bucket]
            sweep_bucket(self.keys[start:middle], self.keys[middle:stop], tp, fp, keys, tps, fps)

        return _gather(self.codec, self.extremes, self.groups, np.int64, sweep)


def _extremes(codec: Codec, scores: NDArray[Any], keys: Keys, starts: NDArray[np.int64]) -> Keys:
    """Give the lowest and the highest key; raise if there is a NaN or an infinity, which sort to the ends."""
    ends = np.concatenate((starts[:-1], starts[1:] - 1))[np.tile(np.diff(starts) > 0, 2)]
    extremes = np.array([keys[ends].min(), keys[ends].max()])
    if not np.isfinite(codec.decode(extremes)).all():
        check.raise_not_finite("y_score", scores)
    return extremes


def split_by_class(labels: BinaryLabels, scores: NDArray[Any]) -> ClassSplit:
    """Sort scores within each class, and count the pairs that are in order."""
    codec, scores = codec_for(scores)
    fit = _fit(codec, scores)
    slots, counts = _count(labels, codec, scores, fit)
    keys = np.empty(scores.size, dtype=np.uint64)
    starts = _scatter(codec, scores, (slots,), counts.reshape(len(counts), -1), scatter_keys, keys)
    sizes = counts.sum(axis=0)
    largest = int(sizes.max())

    doubled, groups = np.empty((2, fit.n_buckets), dtype=np.int64)

    def rank(span: slice, space: tuple[Keys, NDArray[np.int32]]) -> None:
        rank_buckets(keys, starts, span.start, span.stop, *space, doubled, groups)

    step = -(-fit.n_buckets // SPANS)
    spans = [slice(i, min(i + step, fit.n_buckets)) for i in range(0, fit.n_buckets, step)]
    run(rank, spans, workspace=lambda: _workspace(largest))
    doubled_u = n_neg = 0
    for (negatives, positives), within in zip(sizes.tolist(), doubled.tolist(), strict=True):
        doubled_u += within + 2 * positives * n_neg
        n_neg += negatives
    extremes = _extremes(codec, scores, keys, starts)
    return ClassSplit(codec, keys, starts, extremes, groups.tolist(), scores.size - n_neg, n_neg, doubled_u)


def weighted_threshold_counts(
    labels: BinaryLabels, scores: NDArray[Any], weights: NDArray[np.float64]
) -> tuple[ThresholdCounts, int]:
    """Sum the weights at or above each distinct score; no weight is zero. Gives the number of positive rows too."""
    codec, scores = codec_for(scores)
    fit = _fit(codec, scores)
    slots, by_class = _count(labels, codec, scores, fit)
    counts = by_class.sum(axis=2)
    keys = np.empty(scores.size, dtype=np.uint64)
    signed = np.empty(scores.size)
    starts = _scatter(codec, scores, (slots, weights), counts, scatter_pairs, keys, signed)
    largest = int(counts.sum(axis=0).max())

    def rank(bucket: int, space: tuple[Any, ...]) -> tuple[int, float, float, float, float]:
        here = slice(starts[bucket], starts[bucket + 1])
        scratch, cells = space
        return rank_pairs(keys[here], signed[here], scratch, np.empty_like(signed[here]), cells)  # type: ignore[no-any-return]

    ranked = run(rank, range(fit.n_buckets), workspace=lambda: _workspace(largest))
    extremes = _extremes(codec, scores, keys, starts)
    above: list[tuple[float, ...]] = []
    tp = fp = Fraction(0)
    for _, *sums in reversed(ranked):
        above.append((*as_pair(tp), *as_pair(fp)))
        tp += Fraction(sums[0]) + Fraction(sums[1])
        fp += Fraction(sums[2]) + Fraction(sums[3])
    above.reverse()

    def sweep(bucket: int, thresholds: Keys, tps: NDArray[np.float64], fps: NDArray[np.float64]) -> None:
        here = slice(starts[bucket], starts[bucket + 1])
        sweep_pairs(keys[here], signed[here], *above[bucket], thresholds, tps, fps)

    totals = _gather(codec, extremes, [groups for groups, *_ in ranked], np.float64, sweep)
    return totals, int(by_class[..., 1].sum())
