"""Sweeps over the rows of threshold counts in cache-sized blocks, spread over threads."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks, chunks, run
from fastevals.measure.counts import Cells, ThresholdCounts

__all__ = ["as_pair", "best_row", "fill_rows", "select_rows", "sum_steps"]

ROUNDING = 8 * np.finfo(np.float64).eps  # relative; what a few operations on exact counts can be off


def as_pair(total: Fraction | int) -> tuple[float, float]:
    """Give a number as kernels carry it: the float nearest to it, and that nearest to the rest."""
    return float(total), float(total - Fraction(float(total)))


def sum_steps(kernel: Callable[..., Any], counts: ThresholdCounts, *scales: float) -> Fraction:
    """Sum a kernel over all steps from one row to the next; the kernel's pairs are added exactly."""

    def part(rows: slice) -> Fraction:
        steps = slice(max(rows.start - 1, 0), rows.stop)
        high, low = kernel(counts.fps[steps], counts.tps[steps], *scales)
        return Fraction(high) + Fraction(low)

    return sum(run(part, chunks(counts.thresholds.size)), Fraction(0))


def best_row(counts: ThresholdCounts, value: Callable[[Cells], Any]) -> int | None:
    """Give the first row (the highest threshold) where `value` of the cells is largest; None where it is always NaN.

    Floats within a few units of rounding are tied: what is equal on paper must not be told apart by its rounding.
    """

    def best(part: slice) -> list[tuple[Any, int]]:
        found = []
        for block in blocks(part):
            values = np.asarray(value(counts.cells(block)))
            largest = np.fmax.reduce(values)  # passes over NaN
            if largest == largest:
                found.append((largest, block.start + int(np.argmax(values >= _nearly(largest)))))
        return found

    found = [best for part in run(best, chunks(counts.thresholds.size)) for best in part]
    if not found:
        return None
    enough = _nearly(max(largest for largest, _ in found))
    return next(row for largest, row in found if largest >= enough)


def _nearly(value: Any) -> Any:
    """Give the least value tied with a float, by rounding; an integer or infinity is tied with itself alone."""
    return value - ROUNDING * abs(value) if np.asarray(value).dtype.kind == "f" and np.isfinite(value) else value


def fill_rows(n: int, fill: Callable[[slice, NDArray[np.float64]], None]) -> NDArray[np.float64]:
    """Let a function write blocks of an array of n rows."""
    out = np.empty(n)

    def fill_part(part: slice) -> None:
        for block in blocks(part):
            fill(block, out[block])

    run(fill_part, chunks(n))
    return out


def select_rows(n: int, keep: Callable[[slice], NDArray[np.bool_]]) -> NDArray[np.intp]:
    """Give the rows of n that a mask keeps."""

    def select(part: slice) -> list[NDArray[np.intp]]:
        return [np.flatnonzero(keep(block)) + block.start for block in blocks(part)]

    return np.concatenate([rows for found in run(select, chunks(n)) for rows in found])
