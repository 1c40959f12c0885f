"""Count the rows of each class in small cells, where they share their mean probability.

Replicates of losses are drawn from these cells, whatever the number of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks, chunks, run
from fastevals._kernels.compensated import LIMBS
from fastevals._kernels.probabilities import CELLS, FINE_EXPONENT, count_probabilities
from fastevals.counts import ThresholdCounts
from fastevals.measure.probability_metrics import are_probabilities

MAX_ROWS = 2**37  # 26 bits per row then add up to 63 bits
N_BINS = 10  # bins of the calibration error; no cell crosses their edges


def probability_cells(counts: ThresholdCounts) -> ThresholdCounts | None:
    """Return counts in which all rows of one class in one cell have their mean score, as in a `ProbabilitySummary`.

    Return None if scores are not probabilities, or if there are more rows than the sums can hold.
    """
    if not are_probabilities(counts) or counts.n_pos + counts.n_neg > MAX_ROWS:
        return None
    edges = np.arange(N_BINS + 1) / N_BINS
    parts: list[NDArray[np.int64]] = []

    def workspace() -> NDArray[np.int64]:
        parts.append(np.zeros((2, 8 * CELLS), dtype=np.int64))
        return parts[-1]

    def count(rows: slice, cells: NDArray[np.int64]) -> None:
        unused = np.zeros(2 * N_BINS, dtype=np.int64), np.zeros(2 * N_BINS), np.zeros(LIMBS * N_BINS, dtype=np.int64)
        for block in blocks(rows):
            steps = slice(block.start, block.stop + 1)
            p = counts.thresholds[steps][1:]
            for flag, column in enumerate((counts.fps, counts.tps)):
                times = np.diff(column[steps]).astype(np.int64)
                held = times > 0
                some = np.ascontiguousarray(p[held], dtype=np.float64)
                flags = np.full(some.size, flag, np.uint8)
                count_probabilities(some, tail_bits(some), flags, times[held], edges, *unused, *cells)

    run(count, chunks(counts.thresholds.size - 1), workspace=workspace)
    if not parts:
        return None
    cells, offsets = np.sum(parts, axis=0)
    return counts_of_cells(cells, offsets, edges)


def tail_bits(p: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the bits of p, or of 1 - p where p is above 1/2."""
    return np.where(p > 0.5, 1 - p, p).view(np.int64)


def counts_of_cells(
    cells: NDArray[np.int64],
    offsets: NDArray[np.int64],
    edges: NDArray[np.float64],
    amounts: NDArray[np.int64] | None = None,
) -> ThresholdCounts:
    """Return counts in which all rows of a class in a cell share their mean probability.

    The arrays are those of `count_probabilities`.

    If `amounts` per cell are given, they are counted instead of rows.
    """
    places = np.flatnonzero(cells)
    cell, upper, odd, flag = places >> 3, (places >> 2) & 1, (places >> 1) & 1, places & 1
    exponents = np.where(cell >= FINE_EXPONENT, FINE_EXPONENT + (cell - FINE_EXPONENT) // 64, cell)
    width = np.where(
        cell >= FINE_EXPONENT, np.ldexp(1.0, exponents - 1023 - 6), np.ldexp(1.0, np.maximum(exponents, 1) - 1023)
    )
    low = np.where(
        cell >= FINE_EXPONENT,
        np.ldexp(1.0, exponents - 1023) + (cell - FINE_EXPONENT) % 64 * width,
        np.where(exponents > 0, np.ldexp(1.0, exponents - 1023), 0.0),
    )
    q = low + width * (offsets[places] / cells[places]) / 2.0**26
    p = _in_bins(np.where(upper == 1, 1 - q, q), odd, edges)
    order = np.argsort(-p, kind="stable")
    rows = (cells if amounts is None else amounts)[places][order]
    tps, fps = (np.append(0, np.cumsum(np.where(flag[order] == k, rows, 0))) for k in (1, 0))
    return ThresholdCounts._unchecked(np.append(np.inf, p[order]), tps, fps)


def pooled_counts(
    cells: NDArray[np.int64],
    offsets: NDArray[np.int64],
    edges: NDArray[np.float64],
    amounts: NDArray[np.int64] | None = None,
) -> ThresholdCounts:
    """Return counts in which all rows of a cell, positive or negative, share one mean probability.

    Bins and the isotonic fit need such counts: if each class had its own mean, a bin's edge between the two means would
    separate the classes. `amounts` are as for `counts_of_cells`.
    """
    counted = cells if amounts is None else amounts
    both, at, rows, positives = (np.zeros_like(cells) for _ in range(4))
    both[::2], at[::2] = cells[::2] + cells[1::2], offsets[::2] + offsets[1::2]
    rows[::2], positives[::2] = counted[::2] + counted[1::2], counted[1::2]
    total, of_positives = (counts_of_cells(both, at, edges, each) for each in (rows, positives))
    return ThresholdCounts._unchecked(total.thresholds, of_positives.fps, total.fps - of_positives.fps)


def _in_bins(p: NDArray[np.float64], odd: NDArray[np.int64], edges: NDArray[np.float64]) -> NDArray[Any]:
    """Return mean probabilities; if rounding moved one out of its bin, move it back (`odd`: is the bin odd?)."""
    at = np.rint(p * (edges.size - 1)).astype(np.intp)
    back = np.where((at - 1) & 1 == odd, edges[at], np.nextafter(edges[at], 1))
    strayed = np.searchsorted(edges[1:-1], p) & 1 != odd  # bins include their upper edge
    return np.where(strayed, back, p)
