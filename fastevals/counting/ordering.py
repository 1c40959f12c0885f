"""From scores to counts: rows are sorted in buckets by order-preserving keys, and swept from the highest score."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import ROWS_PER_BLOCK, blocks, chunks, get_num_threads, num_threads, run
from fastevals._kernels.partition import (
    FINE_CELLS,
    ROWS_PER_STRIP,
    count_slots,
    fit_buckets,
    mark_positive,
    place_slots,
    scatter_keys,
    scatter_pairs,
)
from fastevals._kernels.placements import index_keys
from fastevals._kernels.sorting import sort_keys
from fastevals._kernels.sweep import (
    count_by_key,
    keep_bends,
    largest_scratch,
    rank_pairs,
    rank_slots,
    sum_by_key,
    sum_precision,
    sweep_pairs,
    sweep_slots,
    sweep_sums,
    unmark_slots,
)
from fastevals._memory import lend
from fastevals._validation.arrays import EXACT_INTEGER, check_finite, raise_not_finite
from fastevals._validation.labels import raise_not_binary
from fastevals._validation.text import TextLabels
from fastevals.counting import few_rows
from fastevals.counting.few_rows import UNCOMPILED_ROWS, sort_marked, spares_kernels, sweep_marked
from fastevals.counting.sweeps import as_pair
from fastevals.counts import ThresholdCounts

Keys = NDArray[np.uint64]
Ints = NDArray[np.int64]
R = TypeVar("R")

SIGN = -(2**63)
BUCKET = 1 << 13  # rows in a bucket, so that its keys, scratch and cells stay in a core's cache
SPAN = 1 << 16  # rows that one call ranks or sweeps if buckets are smaller, so that Python is entered rarely
SPANS = 16  # minimum number of spans, so that threads can share them; fewer only if there are fewer buckets
MAX_BUCKETS = 64  # a core can write to this many pages; 128 buckets, the most that fit in a row's byte, take longer
SPACES = 1 << 23  # bytes of scratch that threads may take together; for more rows, up to two bytes per row
MAX_CELLS = 1 << 15  # most cells that stay in cache; a larger bucket is divided again
SAMPLES_PER_BUCKET = 64  # sampled rows per bucket
TABLE = 1 << 10  # cells per bucket in the table from keys to buckets
MAX_TABLE = 1 << 16  # cells in the table
NARROW_ROWS = 1 << 18  # rows, from which sorting scores of 32 bits as such is worth compiling its kernels
SLOTS_SPACE = (4, ROWS_PER_STRIP)  # shape of the working memory of `find_slots`
CLASS_ROWS = 2**30  # rows of a class, up to which doubled placements fit in 32 bits and kernels' sums are exact
SAMPLED_ROWS = 1 << 12  # rows that are sampled to see whether there are few distinct scores
ROWS_PER_TIED_SCORE = 4  # sampled rows per distinct score, from which distinct scores are few
SLOTS = 1 << 12  # slots of a table of sums, so that table and rows stay in a core's cache
STRETCH_ROWS = 1 << 14  # rows placed in one go, so that their placements stay in cache
INDEX_CELLS = 1 << 14  # cells of an index: at least 8 for each binade of a float


def split_by_class(labels: BinaryLabels, scores: NDArray[Any]) -> ClassSplit:
    """Sort scores with their classes, and count the pairs ranked right."""
    by_numpy = spares_kernels(scores.size)
    codec, scores = codec_for(scores, narrow=not by_numpy and scores.size >= NARROW_ROWS)
    sort = _sort_by_numpy if by_numpy else _sort_slots
    marked, starts, cuts, (doubled, groups, positives) = sort(labels, codec, scores)
    edges = starts.tolist()
    sizes = [stop - start for start, stop in pairwise(edges)]

    lowest, highest = bisect_right(edges, 0) - 1, bisect_left(edges, scores.size) - 1  # the first and last used slots
    unused = 64 - 8 * marked.itemsize
    ends = (int(marked[0]) >> 1 << unused | (lowest % 2) << 63, int(marked[-1]) >> 1 << unused | (highest % 2) << 63)
    extremes = _finite_extremes(codec, scores, *ends)

    doubled_u = below = 0
    for size, within, n_pos in zip(sizes, doubled, positives, strict=True):
        doubled_u += within + 2 * n_pos * below
        below += size - n_pos
    spans: list[SlotSpan] = []
    groups_above = tp = fp = 0
    for first, last in reversed(cuts):
        spans.append(SlotSpan(first, last, sum(groups[first:last]), groups_above, tp, fp))
        n_pos = sum(positives[first:last])
        groups_above, tp, fp = groups_above + spans[-1].groups, tp + n_pos, fp + sum(sizes[first:last]) - n_pos
    return ClassSplit(codec, marked, starts, extremes, spans[::-1], tp, fp, doubled_u)


def weighted_threshold_counts(
    labels: BinaryLabels, scores: NDArray[Any], weights: NDArray[np.float64]
) -> tuple[ThresholdCounts, int]:
    """Sum the weights at or above each distinct score; no weight may be zero. Also return the number of positives."""
    codec, scores = codec_for(scores)
    summed = _sum_by_score(labels, codec, scores, weights)
    if summed is not None:
        return summed
    fit = fit_map(scores.size, lambda rows: codec.encode(scores[rows]))
    places, by_slot = _count_slots(labels, codec, scores, fit)
    counts = by_slot.reshape(len(by_slot), -1, 2).sum(axis=2)
    keys = lend(scores.size, np.uint64)
    signed = lend(scores.size, np.float64)
    starts = _scatter(codec, scores, (places, weights), counts, scatter_pairs, keys, signed)
    largest = int(np.diff(starts).max())

    def rank(bucket: int, space: tuple[Any, ...]) -> tuple[int, float, float, float, float]:
        rows = slice(starts[bucket], starts[bucket + 1])
        scratch, cells = space
        return rank_pairs(keys[rows], signed[rows], scratch, np.empty_like(signed[rows]), cells)  # type: ignore[no-any-return]

    ranked = run(rank, range(fit.n_buckets), workspace=lambda: sorting_space(largest))
    extremes = _finite_extremes(codec, scores, int(keys[0]), int(keys[-1]))
    above: list[tuple[float, ...]] = []
    tp = fp = Fraction(0)
    for _, *sums in reversed(ranked):
        above.append((*as_pair(tp), *as_pair(fp)))
        tp += Fraction(sums[0]) + Fraction(sums[1])
        fp += Fraction(sums[2]) + Fraction(sums[3])
    above.reverse()

    def sweep(bucket: int, *out: NDArray[Any]) -> None:
        rows = slice(starts[bucket], starts[bucket + 1])
        sweep_pairs(keys[rows], signed[rows], *above[bucket], codec.flip_below, codec.flip, *out)

    stops = np.cumsum([groups for groups, *_ in ranked][::-1])[::-1].tolist()
    ends = [(stop - groups + 1, stop + 1) for stop, (groups, *_) in zip(stops, ranked, strict=True)]
    return fill_counts(codec, extremes, ends, np.float64, sweep), int(np.count_nonzero(signed > 0))


def count_ties(labels: BinaryLabels, scores: NDArray[Any]) -> ThresholdCounts | None:
    """Count the rows at or above each distinct score without sorting; None unless there are few distinct scores."""
    codec, codes = codec_for(scores)
    if not _seem_few(codec, codes):
        return None
    tables: list[_Table] = []

    def table() -> _Table:
        tables.append(_Table())
        return tables[-1]

    def count(part: slice, table: _Table) -> int:
        known = 0
        for block in blocks(part):
            if any(each.room < 0 for each in tables):
                break
            bits = codec.bits(codes[block])
            flags = table.flags[: bits.size]
            known += labels.mark(block, flags)
            taken = count_by_key(bits, flags, codec.flip_below, codec.flip, table.room, table.keys, table.rows)
            table.room = -1 if taken < 0 else table.room - taken
        return known

    known = sum(run(count, chunks(scores.size), workspace=table))
    if any(each.room < 0 for each in tables):
        return None
    if known != scores.size:
        raise_not_binary("y_true", labels.values)
    keys, rows = (np.concatenate([getattr(each, name) for each in tables]) for name in ("keys", "rows"))
    taken = np.flatnonzero(rows[::2] + rows[1::2])
    keys, negatives, positives = keys[taken], rows[::2][taken], rows[1::2][taken]
    _finite_extremes(codec, scores, int(keys.min()), int(keys.max()))
    counts = count_by_score(codec.decode(keys), positives, negatives)
    # The limit is what one thread has room for, so that the result does not depend on how threads shared the rows.
    return counts if counts.thresholds.size <= 1 + SLOTS // 2 else None


class _Table:
    """One thread's counts of rows by key, see `count_by_key`."""

    def __init__(self) -> None:
        self.flags = np.empty(ROWS_PER_BLOCK, dtype=np.uint8)
        self.keys = np.zeros(SLOTS, dtype=np.uint64)
        self.rows = np.zeros(2 * SLOTS, dtype=np.int64)
        self.room = SLOTS // 2  # slots left for new keys; negative once they did not suffice


def _seem_few(codec: Codec, scores: NDArray[Any]) -> bool:
    """Return whether a sample suggests that many rows share few distinct scores."""
    if scores.size < SAMPLED_ROWS:
        return False
    sample = np.sort(codec.encode(scores[:: scores.size // SAMPLED_ROWS]))  # np.unique takes ten times as long
    return int(np.count_nonzero(sample[1:] != sample[:-1])) < sample.size // ROWS_PER_TIED_SCORE


def _sum_by_score(
    labels: BinaryLabels, codec: Codec, scores: NDArray[Any], weights: NDArray[np.float64]
) -> tuple[ThresholdCounts, int] | None:
    """Do the work of `weighted_threshold_counts` without sorting; None unless there are few distinct scores."""
    if not _seem_few(codec, scores):
        return None
    parts = chunks(scores.size)
    keys, rows = np.zeros((len(parts), SLOTS), np.uint64), np.zeros((len(parts), 2 * SLOTS), np.int64)
    sums = np.zeros((len(parts), 4 * SLOTS))

    def add_up(i: int) -> tuple[int, bool]:
        known, flags = 0, np.empty(ROWS_PER_BLOCK, dtype=np.uint8)
        for block in blocks(parts[i]):
            own = flags[: block.stop - block.start]
            known += labels.mark(block, own)
            table = keys[i], rows[i], sums[i]
            if not sum_by_key(codec.bits(scores[block]), own, weights[block], codec.flip_below, codec.flip, *table):
                return known, False
        return known, True

    known, fits = zip(*run(add_up, range(len(parts))), strict=True)
    if not all(fits):
        return None
    if sum(known) != scores.size:
        raise_not_binary("y_true", labels.values)
    rows = rows.reshape(-1, 2)
    taken = np.flatnonzero(rows.any(axis=1))
    taken = taken[np.argsort(keys.ravel()[taken], kind="stable")]
    ordered, ordered_sums = keys.ravel()[taken], sums.reshape(-1, 4)[taken]
    extremes = _finite_extremes(codec, scores, int(ordered[0]), int(ordered[-1]))
    bits, tps, fps = np.empty(ordered.size, np.int64), np.empty(ordered.size), np.empty(ordered.size)
    n = sweep_sums(ordered, ordered_sums, codec.flip_below, codec.flip, bits, tps, fps)
    thresholds = _from_infinity(codec.values(bits[:n]), codec.threshold_dtype(extremes))
    counts = ThresholdCounts._unchecked(thresholds, np.append(0.0, tps[:n]), np.append(0.0, fps[:n]))
    return counts, int(rows[:, 1].sum())


def count_by_score(scores: NDArray[Any], positives: Ints, negatives: Ints) -> ThresholdCounts:
    """Add up counts of rows of each class by score; scores may come in any order and repeat."""
    rows = np.flatnonzero((positives > 0) | (negatives > 0))
    if not rows.size:
        none = np.zeros(1, positives.dtype)
        return ThresholdCounts._unchecked(np.array([np.inf]), none, none)
    codec, codes = codec_for(scores[rows])
    keys = codec.encode(codes)
    order = np.argsort(keys, kind="stable")[::-1]
    keys = keys[order]
    last = np.flatnonzero(np.append(keys[1:] != keys[:-1], True))
    values = codec.decode(keys[last])
    thresholds = _from_infinity(values, codec.threshold_dtype(values[[-1, 0]]))
    tps, fps = (np.append(0, np.cumsum(counts[rows[order]])[last]) for counts in (positives, negatives))
    return ThresholdCounts._unchecked(thresholds, tps, fps)


def _from_infinity(scores: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return infinity followed by the scores, in a float dtype that holds all of them."""
    thresholds = np.empty(scores.size + 1, dtype=dtype)
    thresholds[0], thresholds[1:] = np.inf, scores
    return thresholds


def fill_counts(
    codec: Codec, extremes: NDArray[Any], ends: list[tuple[int, int]], dtype: Any, sweep: Callable[..., None]
) -> ThresholdCounts:
    """Return counts; ``sweep(i, bits, tps, fps)`` fills the rows from ends[i][0] up to ends[i][1]."""
    thresholds = np.empty(max(stop for _, stop in ends), dtype=codec.threshold_dtype(extremes))
    tps, fps = np.empty(thresholds.size, dtype=dtype), np.empty(thresholds.size, dtype=dtype)
    thresholds[0], tps[0], fps[0] = np.inf, 0, 0

    def fill(i: int) -> None:
        rows = slice(*ends[i])
        bits = np.empty(rows.stop - rows.start, dtype=np.int64)
        sweep(i, bits, tps[rows], fps[rows])
        thresholds[rows] = codec.values(bits)

    run(fill, range(len(ends)))
    return ThresholdCounts._unchecked(thresholds, tps, fps)


@dataclass(frozen=True, slots=True, eq=False)
class ClassSplit:
    """Unweighted scores, sorted, with their classes.

    Attributes
    ----------
    marked : ndarray of shape (n_samples,)
        Keys without their upper bit, ascending within slots, with the class as the lowest bit. Scores of 32 bits have
        marked keys of 32 bits, which are the upper bits of keys.
    starts : ndarray of shape (n_slots + 1,)
        Where the slots start in `marked`; the upper bit of the keys in slot i is ``i % 2``.
    extremes : ndarray of shape (2,)
        The lowest and the highest score.
    spans : list of SlotSpan
        Spans that cover all slots, starting from the lowest.
    n_pos, n_neg : int
        Rows of each class.
    doubled_u : int
        Twice the Mann-Whitney U: a pair ranked right adds 2, a tie 1.
    """

    codec: Codec
    marked: Keys
    starts: NDArray[np.int64]
    extremes: NDArray[Any]
    spans: list[SlotSpan]
    n_pos: int
    n_neg: int
    doubled_u: int

    @property
    def threshold_dtype(self) -> np.dtype[Any]:
        """Dtype of the thresholds."""
        return self.codec.threshold_dtype(self.extremes)

    @property
    def n_thresholds(self) -> int:
        """Number of distinct scores."""
        return self.spans[0].groups_above + self.spans[0].groups

    def threshold_counts(self) -> ThresholdCounts:
        """Sweep the slots into counts at each distinct score."""
        ends = [(span.groups_above + 1, span.groups_above + span.groups + 1) for span in self.spans]
        return fill_counts(self.codec, self.extremes, ends, np.int64, lambda i, *out: self.sweep(self.spans[i], *out))

    def keys_by_class(self) -> tuple[Keys, Keys]:
        """Return the ascending keys of the negatives and of the positives."""
        keys = np.empty(self.n_neg, dtype=np.uint64), np.empty(self.n_pos, dtype=np.uint64)
        unmark_slots(self.marked, self.starts, *keys)
        return keys

    def sum_precision(self) -> Fraction:
        """Sum the gained true positives times precision over all distinct scores."""

        def part(span: SlotSpan) -> Fraction:
            high, low = sum_precision(self.marked, self.starts, span.first, span.last, span.tp, span.fp)
            return Fraction(high) + Fraction(low)

        return sum(run(part, self.spans), Fraction(0))

    def sweep(self, span: SlotSpan, bits: Ints, tps: Ints, fps: Ints, *, ascending: bool = False) -> None:
        """Write the scores of a span as bits, and the counts at or above them, starting from the highest or lowest."""
        codec, step = self.codec, -1 if ascending else 1
        above = span.tp, span.fp
        rows = int(self.starts[span.last] - self.starts[span.first])
        spares = self.marked.itemsize == 8 and sweep_slots.spares(rows, UNCOMPILED_ROWS)
        sweep = sweep_marked if spares else sweep_slots
        sweep(self.marked, self.starts, *span[:2], *above, codec.flip_below, codec.flip, step, bits, tps, fps)

    def sweep_bends(self, span: SlotSpan, bits: Ints, tps: Ints, fps: Ints) -> int:
        """Sweep, and keep only the rows at which the ROC polyline bends; return the number of these rows.

        The arrays need room for one more row on either side.
        """
        if not span.groups:
            return 0
        tps[0], fps[0] = span.tp, span.fp
        self.sweep(span, bits[1:-1], tps[1:-1], fps[1:-1])
        return int(keep_bends(self.marked, self.starts, span.first, not span.groups_above, bits, tps, fps))

    def map_spans(self, task: Callable[[SlotSpan, Ints, Ints, Ints], R], *, rows: int = 0) -> list[R]:
        """Call ``task(span, bits, tps, fps)`` on all spans; the arrays have room for `rows` scores more than the span.

        The arrays are reused for the next span, so that they stay in a core's cache.
        """
        size = max(span.groups for span in self.spans) + rows

        def call(span: SlotSpan, space: Ints) -> R:
            return task(span, *space[:, : span.groups + rows])

        return run(call, self.spans, workspace=lambda: lend(3 * size, np.int64).reshape(3, size))


class SlotSpan(NamedTuple):
    """Slots swept by one call.

    `groups` is the number of distinct scores in the slots; `groups_above`, `tp` and `fp` are the numbers of distinct
    scores, positives and negatives above the slots.
    """

    first: int
    last: int
    groups: int
    groups_above: int
    tp: int
    fp: int


# Labels and keys ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class BinaryLabels:
    """The rows' labels, and which is positive or negative; `negative` is None if all rows are known to be positive."""

    values: NDArray[Any]
    positive: Any
    negative: Any

    def mark(self, block: slice, flags: NDArray[np.uint8]) -> int:
        """Write 1 for positive rows and 0 for others; return how many rows have one of the two labels."""
        labels = self.values[block]
        both = self.positive, self.positive if self.negative is None else self.negative
        # NumPy compares labels whose dtype is not its default integer: three passes over a block instead of one.
        are_whole = labels.dtype == np.int64 and all(isinstance(label, int) and abs(label) < 2**63 for label in both)
        if are_whole and not mark_positive.spares(labels.size, UNCOMPILED_ROWS):
            return int(mark_positive(plain_block(labels, labels.dtype), int(both[0]), int(both[1]), flags))
        return self.compare(block, flags)

    def compare(self, block: slice, flags: NDArray[np.uint8]) -> int:
        """Do what `mark` does, but with NumPy."""
        labels = self.values[block]
        both = self.positive, self.positive if self.negative is None else self.negative
        if isinstance(labels, TextLabels):
            labels, both = labels.codes, (labels.code(both[0]), labels.code(both[1]))
        positive = np.equal(labels, both[0], out=flags.view(np.bool_))
        return int(np.count_nonzero(positive | (labels == both[1])))

    def flags(self, name: str = "y_true") -> NDArray[np.uint8]:
        """Return 1 for positive rows and 0 for others; raise if there is a third label."""
        flags = np.empty(self.values.size, dtype=np.uint8)
        known = run(lambda part: sum(self.mark(rows, flags[rows]) for rows in blocks(part)), chunks(flags.size))
        if sum(known) != flags.size:
            raise_not_binary(name, self.values)
        return flags

    def take(self, rows: NDArray[Any]) -> BinaryLabels:
        """Keep some rows."""
        return BinaryLabels(self.values[rows], self.positive, self.negative)


@dataclass(frozen=True, slots=True, eq=False)
class Codec:
    """Conversion between the scores of one dtype and keys.

    Kernels see a score's 64 bits as an integer. Integers with the sign bit set are first xor-ed with `flip_below`; then
    all integers are xor-ed with `flip`. If no 64-bit type holds the scores, `distinct` lists the scores, and their
    ranks represent them. If `dtype` has 32 bits, they are the upper bits of the integer.
    """

    dtype: np.dtype[Any]
    flip_below: np.int64
    flip: np.int64
    distinct: NDArray[Any] | None = None

    def bits(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return a block of scores in the form that kernels take."""
        return plain_block(scores, self.dtype).view(f"i{self.dtype.itemsize}")

    def wide_bits(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        """Return `bits` as 64 bits."""
        bits = self.bits(scores)
        return bits if bits.itemsize == 8 else bits.astype(np.int64) << 32

    def encode(self, scores: NDArray[Any]) -> Keys:
        """Convert scores to keys; -0.0 equals 0.0."""
        bits = self.wide_bits(scores + 0.0 if self.flip_below else scores)
        return (np.where(bits < 0, bits ^ self.flip_below, bits) ^ self.flip).view(np.uint64)

    def decode(self, keys: Keys) -> NDArray[Any]:
        """Convert keys to scores."""
        bits = keys.view(np.int64) ^ self.flip
        return self.values(np.where(bits < 0, bits ^ self.flip_below, bits))

    def values(self, bits: NDArray[np.int64]) -> NDArray[Any]:
        """Convert 64-bit patterns, as kernels write them, to scores."""
        values = (bits if self.dtype.itemsize == 8 else (bits >> 32).astype(np.int32)).view(self.dtype)
        return values if self.distinct is None else self.distinct[values]

    def threshold_dtype(self, extremes: NDArray[Any]) -> np.dtype[Any]:
        """Return the float dtype that holds +inf and all scores between extremes; long double for integers > 2**53."""
        if self.distinct is not None:
            return self.distinct.dtype
        if self.dtype.kind == "f" or all(abs(score) <= EXACT_INTEGER for score in extremes.tolist()):
            return np.dtype(np.float64)
        return np.dtype(np.longdouble)


FLOATS = Codec(np.dtype(np.float64), np.int64(2**63 - 1), np.int64(SIGN))
NARROW_FLOATS = Codec(np.dtype(np.float32), np.int64((2**31 - 1) << 32), np.int64(SIGN))


def codec_for(scores: NDArray[Any], *, narrow: bool = False) -> tuple[Codec, NDArray[Any]]:
    """Return the codec for an array of scores, and the scores that it encodes; with `narrow`, 32 bits may suffice."""
    kind, size = scores.dtype.kind, scores.dtype.itemsize
    narrow = narrow and size <= 4
    if kind in "iu":  # short integers too: as floats, their keys would crowd at powers of two and leave gaps around 0
        return Codec(np.dtype(f"{kind}{4 if narrow else 8}"), np.int64(0), np.int64(SIGN if kind == "i" else 0)), scores
    if kind == "f" and size > 8:
        check_finite("y_score", scores)
        distinct, ranks = np.unique(scores, return_inverse=True)
        return Codec(np.dtype(np.int64), np.int64(0), np.int64(SIGN), distinct), ranks
    return NARROW_FLOATS if narrow and kind == "f" else FLOATS, scores


def plain_block(block: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a block in the form that kernels take (contiguous, aligned, native, writable), as a copy if necessary."""
    if block.dtype == dtype and block.flags.carray:
        return block
    return np.array(block, dtype=dtype, order="C")


# Buckets of keys ------------------------------------------------------------------------------------------------------


class Buckets(NamedTuple):
    """The fitted map from keys to buckets, as `find_slots` takes it, and the number of buckets."""

    map: tuple[Any, ...]
    n_buckets: int


def fit_map(n: int, sample: Callable[[slice], Keys], *, by_numpy: bool = False) -> Buckets:
    """Fit the map from keys to buckets for n rows; ``sample(rows)`` must return the keys of some rows."""
    n_buckets = min(max(n // BUCKET, 1), MAX_BUCKETS)
    n_entries = n_buckets + n_buckets // 2
    table = np.empty(min(TABLE << (n_buckets - 1).bit_length(), MAX_TABLE), dtype=np.uint8)
    entries = np.empty(n_entries, np.uint64), np.empty(n_entries, np.uint64), np.empty(n_entries, np.uintp)
    fine = np.empty(n_buckets + n_buckets // 2 * FINE_CELLS, dtype=np.uint8)
    if n_buckets == 1:
        table = np.zeros(1, dtype=np.uint8)
        return Buckets((np.uint64(0), np.uint64(0), table, 0, *entries, fine), 1)
    keys = sample(slice(None, None, n // (n_buckets * SAMPLES_PER_BUCKET)))
    if by_numpy:
        keys.sort()
    else:
        sort_keys(keys, *sorting_space(keys.size))
    fit = few_rows.fit_buckets if by_numpy else fit_buckets
    low, shift, cut = fit(keys, n_buckets, table, *entries, fine)
    return Buckets((np.uint64(low), np.uint64(shift), table, cut, *entries, fine), n_buckets)


def sorting_space(
    rows: int, memory: NDArray[np.uint8] | None = None, dtype: Any = np.uint64
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return scratch and cells for sorting up to `rows` keys, within `memory` if it is large enough."""
    cells = min(1 << max(rows - 1, 1).bit_length(), MAX_CELLS)
    scratch_bytes = np.dtype(dtype).itemsize * rows
    n_bytes = scratch_bytes + 4 * cells
    if memory is None or memory.size < n_bytes + 8:
        return np.empty(rows, dtype=dtype), np.empty(cells, dtype=np.int32)
    memory = memory[-memory.ctypes.data % 8 :]
    return memory[:scratch_bytes].view(dtype), memory[scratch_bytes:n_bytes].view(np.int32)


def _count_slots(
    labels: BinaryLabels, codec: Codec, scores: NDArray[Any], fit: Buckets
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return each row's bucket and class in one byte, and the number of rows of each chunk in each slot.

    The shapes are (n_samples,) and (n_chunks, n_slots). Raises if there is a third label.
    """
    parts = chunks(scores.size)
    places = lend(scores.size, np.uint8)
    counts = np.zeros((len(parts), 2 * fit.n_buckets), dtype=np.int64)

    def count(i: int, space: Keys) -> int:
        known = 0
        for block in blocks(parts[i]):
            known += labels.mark(block, places[block])
            count_slots(
                codec.bits(scores[block]), places[block], codec.flip_below, codec.flip, *fit.map, counts[i], space
            )
        return known

    if sum(run(count, range(len(parts)), workspace=lambda: np.empty(SLOTS_SPACE, dtype=np.uint64))) != scores.size:
        raise_not_binary("y_true", labels.values)
    return places, counts


def _scatter(
    codec: Codec,
    scores: NDArray[Any],
    row_arrays: tuple[NDArray[Any], ...],
    counts: NDArray[np.int64],
    kernel: Any,
    *out: NDArray[Any],
) -> NDArray[np.int64]:
    """Write each chunk's rows to their slots in `out` with a kernel; return the rows where the slots start.

    `counts` has shape (n_chunks, n_slots) and is overwritten; the kernel gets the scores and `row_arrays`.
    """
    starts = np.empty(counts.shape[1] + 1, dtype=np.int64)
    place_slots(counts, starts)
    parts = chunks(scores.size)

    def scatter(i: int) -> None:
        for block in blocks(parts[i]):
            rows = (array[block] for array in row_arrays)
            kernel(codec.bits(scores[block]), *rows, codec.flip_below, codec.flip, counts[i], *out)

    run(scatter, range(len(parts)))
    return starts


def _finite_extremes(codec: Codec, scores: NDArray[Any], lowest: int, highest: int) -> NDArray[Any]:
    """Return the scores of the lowest and highest keys; raise for NaN and infinities, which sort to the ends."""
    extremes = codec.decode(np.array([lowest, highest], dtype=np.uint64))
    if codec.distinct is None and not all(map(math.isfinite, extremes.tolist())):
        raise_not_finite("y_score", scores)
    return extremes


Sorted = tuple[Keys, NDArray[np.int64], list[tuple[int, int]], list[list[int]]]


def _sort_slots(labels: BinaryLabels, codec: Codec, scores: NDArray[Any]) -> Sorted:
    """Sort and rank the rows in slots.

    Return their marked keys, where the slots start, which slots form spans, and for each slot twice the Mann-Whitney U,
    the distinct keys and the positives.
    """
    fit = fit_map(scores.size, lambda rows: codec.encode(scores[rows]))
    places, counts = _count_slots(labels, codec, scores, fit)
    width = codec.dtype.itemsize
    marked = lend(scores.size, f"u{width}")
    starts = _scatter(codec, scores, (places,), counts, scatter_keys, marked)
    cuts = _cuts(fit.n_buckets, scores.size)
    ranked = np.empty((3, starts.size - 1), dtype=np.int64)

    def rank(cut: tuple[int, int], space: tuple[NDArray[Any], NDArray[np.int32]]) -> None:
        rank_slots(marked, starts, *cut, *space, *ranked)

    rows = largest_scratch(marked, starts)
    n_bytes = width * rows + 4 * MAX_CELLS + 8
    reused = places.size // n_bytes  # spaces within `places`, which is not needed any more
    spaces = iter([places[i * n_bytes : (i + 1) * n_bytes] for i in range(reused)])

    def workspace() -> tuple[NDArray[Any], NDArray[np.int32]]:
        return sorting_space(rows, next(spaces, None), f"f{width}")

    with num_threads(min(get_num_threads(), max(2 * reused, SPACES // n_bytes, 1))):
        run(rank, cuts, workspace=workspace)
    return marked, starts, cuts, ranked.tolist()


def _cuts(n_buckets: int, n_rows: int) -> list[tuple[int, int]]:
    """Return the first and last slot of each span."""
    n_slots = 2 * n_buckets
    step = 2 * min(max(SPAN * n_buckets // n_rows, 1), -(-n_buckets // SPANS))
    return [(first, min(first + step, n_slots)) for first in range(0, n_slots, step)]


def _sort_by_numpy(labels: BinaryLabels, codec: Codec, scores: NDArray[Any]) -> Sorted:
    """Do the work of `_sort_slots` without kernels; results are the same to the bit."""
    get_num_threads()  # reports an invalid FASTEVALS_NUM_THREADS, even for few rows
    flags = np.empty(scores.size, dtype=np.uint8)
    if labels.compare(slice(None), flags) != scores.size:
        raise_not_binary("y_true", labels.values)
    fit = fit_map(scores.size, lambda rows: codec.encode(scores[rows]), by_numpy=True)
    marked, starts, ranked = sort_marked(codec.encode(scores), flags, *fit)
    return marked, starts, _cuts(fit.n_buckets, scores.size), ranked


# Places among the keys of a class -------------------------------------------------------------------------------------


class KeyIndex(NamedTuple):
    """Ascending keys of a class, with an index for searching them, see `index_keys`."""

    keys: Keys
    low: np.uint64
    high: np.uint64
    shift: np.uint64
    bases: NDArray[np.int32]
    shifts: NDArray[np.uint8]
    starts: NDArray[np.int32]

    @classmethod
    def build(cls, keys: Keys) -> KeyIndex:
        """Index the keys."""
        cells = min(INDEX_CELLS, 1 << keys.size.bit_length())
        tables = np.empty(cells, np.int32), np.empty(cells, np.uint8), np.empty(keys.size + cells + 1, np.int32)
        low, high, shift = map(np.uint64, index_keys(keys, *tables))
        return cls(keys, low, high, shift, *tables)
