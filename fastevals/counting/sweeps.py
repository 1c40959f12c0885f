"""Sweeps over the rows of threshold counts in cache-sized blocks, spread over threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks, chunks, run
from fastevals._validation.arrays import EXACT_INTEGER
from fastevals.counts import SMALL_ROWS, Cells, ThresholdCounts

COUNT_ROUNDING = 8 * np.finfo(np.float64).eps  # relative error of a few operations on exact counts


def as_pair(total: Fraction | int) -> tuple[float, float]:
    """Return a number as a pair for kernels: the nearest float, and the float nearest to the rest."""
    return float(total), float(total - Fraction(float(total)))


def sum_as_pair(values: Sequence[float]) -> tuple[float, float]:
    """Return `as_pair` of the exact sum of floats, 50 times as fast."""
    total = math.fsum(values)
    return total, math.fsum((*values, -total))


def sum_steps(kernel: Callable[..., Any], counts: ThresholdCounts, *scales: float) -> Fraction:
    """Sum a kernel over all steps from one row to the next; the pairs that it returns are added exactly."""

    def part(rows: slice) -> Fraction:
        steps = slice(max(rows.start - 1, 0), rows.stop)
        high, low = kernel(counts.fps[steps], counts.tps[steps], *scales)
        return Fraction(high) + Fraction(low)

    return sum(run(part, chunks(counts.thresholds.size)), Fraction(0))


def best_row(
    counts: ThresholdCounts,
    value: Callable[[Cells], Any],
    parts: Callable[[Cells], tuple[Any, Any]] | None = None,
    *,
    size: float = 0.0,
) -> int | None:
    """Return the first row (the highest threshold) where `value` of the cells is largest; None if it is always NaN.

    Floats that differ by a few rounding errors are tied, so that rounding does not separate equal values. `parts`, if
    given, returns integer numerators and denominators whose quotients are ordered like `value`; if counts are whole,
    the quotients decide between ties. If the value is a difference of two terms, `size` bounds the terms' magnitude:
    values are tied if they differ by a few rounding errors of `size` or of the value, whichever is larger.
    """

    def best(part: slice) -> list[tuple[Any, NDArray[np.intp]]]:
        best_of_blocks = []
        for block in blocks(part):
            values = np.asarray(value(counts.cells(block)))
            largest = np.fmax.reduce(values)  # ignores NaN
            if largest == largest:
                tied = values >= _nearly(largest, size)
                rows = np.atleast_1d(np.argmax(tied)) if parts is None else np.flatnonzero(tied)
                best_of_blocks.append((largest, block.start + rows))
        return best_of_blocks

    candidates = [best for part in run(best, chunks(counts.thresholds.size)) for best in part]
    if not candidates:
        return None
    enough = _nearly(max(largest for largest, _ in candidates), size)
    tied = np.concatenate([rows for largest, rows in candidates if largest >= enough])
    if parts is None or tied.size == 1 or not _are_whole(counts, tied):
        return int(tied[0])
    return _largest(counts, tied, parts)


def _nearly(value: Any, size: float) -> Any:
    """Return the lowest value that counts as equal to a float; integers and infinities equal only themselves."""
    inexact = np.asarray(value).dtype.kind == "f" and np.isfinite(value)
    return value - COUNT_ROUNDING * max(abs(value), size) if inexact else value


def _are_whole(counts: ThresholdCounts, rows: NDArray[np.intp]) -> bool:
    """Return whether the counts at some rows, and the totals, are integers, possibly as exact floats."""
    if counts.tps.dtype.kind != "f":
        return True
    sums = np.stack((counts.tps, counts.fps))[:, np.append(rows, -1)]
    return counts.n_pos + counts.n_neg < EXACT_INTEGER and bool((sums == np.rint(sums)).all())


def _largest(counts: ThresholdCounts, rows: NDArray[np.intp], parts: Callable[[Cells], tuple[Any, Any]]) -> int:
    """Return the first of some rows where a fraction of whole counts is largest, compared exactly."""
    tps, fps = (cells[rows].astype(np.int64) for cells in (counts.tps, counts.fps))
    n_pos, n_neg = int(counts.n_pos), int(counts.n_neg)
    if n_pos + n_neg >= SMALL_ROWS:
        tps, fps = tps.astype(object), fps.astype(object)
    numerators, denominators = parts(Cells(tps, fps, n_pos - tps, n_neg - fps))
    denominators = np.broadcast_to(denominators, numerators.shape)
    if numerators.dtype != object and int(np.abs(numerators).max()) * int(denominators.max()) >= 2**62:
        numerators, denominators = numerators.astype(object), denominators.astype(object)
    at = 0
    while True:
        ahead = numerators * denominators[at] - numerators[at] * denominators
        if not (ahead > 0).any():
            return int(rows[np.argmax(ahead == 0)])
        at = int(np.argmax(ahead))


def fill_rows(n: int, fill: Callable[[slice, NDArray[np.float64]], None]) -> NDArray[np.float64]:
    """Return an array of n rows, filled block by block."""
    out = np.empty(n)

    def fill_part(part: slice) -> None:
        for block in blocks(part):
            fill(block, out[block])

    run(fill_part, chunks(n))
    return out


def select_rows(n: int, keep: Callable[[slice], NDArray[np.bool_]]) -> NDArray[np.intp]:
    """Return the indices of the rows, out of n, that a mask keeps."""

    def select(part: slice) -> list[NDArray[np.intp]]:
        return [np.flatnonzero(keep(block)) + block.start for block in blocks(part)]

    return np.concatenate([rows for part in run(select, chunks(n)) for rows in part])
