"""Sorted scores with their classes, of which counts, sums and curves are swept a span at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.sweep import keep_bends, sum_precision, sweep_slots, unmark_slots
from fastevals._memory import lend
from fastevals.measure.codec import Codec, Keys
from fastevals.measure.counts import ThresholdCounts

__all__ = ["ClassSplit", "Span", "fill_counts"]

R = TypeVar("R")
Ints = NDArray[np.int64]


def fill_counts(
    codec: Codec, extremes: NDArray[Any], ends: list[tuple[int, int]], dtype: Any, sweep: Callable[..., None]
) -> ThresholdCounts:
    """Let ``sweep(i, bits, tps, fps)`` fill the counts of each piece, which are the rows from one end to the other."""
    thresholds = np.empty(max(stop for _, stop in ends), dtype=codec.threshold_dtype(extremes))
    tps, fps = np.empty(thresholds.size, dtype=dtype), np.empty(thresholds.size, dtype=dtype)
    thresholds[0], tps[0], fps[0] = np.inf, 0, 0

    def fill(i: int) -> None:
        here = slice(*ends[i])
        bits = np.empty(here.stop - here.start, dtype=np.int64)
        sweep(i, bits, tps[here], fps[here])
        thresholds[here] = codec.values(bits)

    run(fill, range(len(ends)))
    return ThresholdCounts(thresholds, tps, fps)


class Span(NamedTuple):
    """Slots swept by one call, their distinct scores, and what is above them: distinct scores, positives, negatives."""

    first: int
    last: int
    groups: int
    groups_above: int
    tp: int
    fp: int


@dataclass(frozen=True, slots=True, eq=False)
class ClassSplit:
    """Unweighted scores, sorted, each with its class.

    Attributes
    ----------
    marked : ndarray of shape (n_samples,)
        Keys without their upper bit, ascending within slots, the class in the lowest bit.
    starts : ndarray of shape (n_slots + 1,)
        Where the slots start in `marked`; the upper bit of the keys in slot i is ``i % 2``.
    extremes : ndarray of shape (2,)
        The lowest and the highest score.
    spans : list of Span
        All slots, from the lowest.
    n_pos, n_neg : int
        Rows of each class.
    doubled_u : int
        Twice the Mann-Whitney U: a pair ranked right counts 2, a tie 1.
    """

    codec: Codec
    marked: Keys
    starts: NDArray[np.int64]
    extremes: NDArray[Any]
    spans: list[Span]
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
        """Give the ascending keys of the negatives and of the positives."""
        keys = np.empty(self.n_neg, dtype=np.uint64), np.empty(self.n_pos, dtype=np.uint64)
        unmark_slots(self.marked, self.starts, *keys)
        return keys

    def sum_precision(self) -> Fraction:
        """Sum the gained true positives times precision over all distinct scores."""

        def part(span: Span) -> Fraction:
            high, low = sum_precision(self.marked, self.starts, span.first, span.last, span.tp, span.fp)
            return Fraction(high) + Fraction(low)

        return sum(run(part, self.spans), Fraction(0))

    def sweep(self, span: Span, bits: Ints, tps: Ints, fps: Ints, *, ascending: bool = False) -> None:
        """Write the scores of a span as bits, and the counts at or above them, from the highest or the lowest."""
        codec, step = self.codec, -1 if ascending else 1
        above = span.tp, span.fp
        sweep_slots(self.marked, self.starts, *span[:2], *above, codec.flip_below, codec.flip, step, bits, tps, fps)

    def sweep_bends(self, span: Span, bits: Ints, tps: Ints, fps: Ints) -> int:
        """`sweep` for the rows where the step from one to the next changes; give their number.

        The arrays have room for one row more on either side.
        """
        if not span.groups:
            return 0
        tps[0], fps[0] = span.tp, span.fp
        self.sweep(span, bits[1:-1], tps[1:-1], fps[1:-1])
        return int(keep_bends(self.marked, self.starts, span.first, not span.groups_above, bits, tps, fps))

    def map_spans(self, task: Callable[[Span, Ints, Ints, Ints], R], *, rows: int = 0) -> list[R]:
        """Call ``task(span, bits, tps, fps)`` on all spans, with arrays for its scores and so many rows more.

        The arrays are used again for the next span: a core's cache holds them.
        """
        size = max(span.groups for span in self.spans) + rows

        def call(span: Span, space: Ints) -> R:
            return task(span, *space[:, : span.groups + rows])

        return run(call, self.spans, workspace=lambda: lend(3 * size, np.int64).reshape(3, size))
