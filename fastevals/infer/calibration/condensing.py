"""Replace millions of forecasts by some thousands that give the same sums.

Log-odds are divided into narrow cells. Two entries replace the rows of each cell and class: they have the same number
of rows, and the same first three moments of the probability (Gauss quadrature). The functions that estimates add up are
nearly cubic within a cell, so their sums agree to rounding. `is_smooth` checks that the cells are narrow enough.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import run
from fastevals.infer.calibration.forecasts import ROWS_IN_CACHE, CountedForecasts, Forecasts, RowForecasts

Floats = NDArray[np.float64]

N_CELLS = 1 << 13  # of equal width in log-odds
WIDEST_CELL = 2.0**-7  # in fitted log-odds: quadrature is then off by 1e-12 of a sum
CONDENSED = 2.0**-40, 1 - 2.0**-20  # range of probabilities; nearer to 1, float64 are too far apart in log-odds
ONE_PLACE = 2.0**-30  # relative variance of a cell's probabilities, below which they count as equal


def condense(forecasts: CountedForecasts) -> Forecasts:
    """Return at most two entries for each cell and class of forecasts without weights.

    Entries near 0 and 1, and the highest and lowest ones of each class, are kept as they are.
    """
    counts = forecasts.by_probability
    p, sides = counts.thresholds[1:], (counts.fps, counts.tps)  # entry i has sides[..][i + 1] - sides[..][i] rows
    cuts = _cuts(p, sides)
    ends = [slice(0, cuts[0]), slice(cuts[-1], p.size)]
    parts = [_kept(p[end], [np.diff(side[end.start : end.stop + 1]) for side in sides]) for end in ends]
    blocks = np.append(np.searchsorted(cuts, np.arange(cuts[0], cuts[-1], ROWS_IN_CACHE)), cuts.size - 1)
    parts += run(lambda part: _nodes(p, sides, cuts[part[0] : part[1] + 1]), list(pairwise(blocks.tolist())))
    entries, rows = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
    some = rows > 0
    is_positive = np.broadcast_to([[False], [True]], rows.shape)
    return RowForecasts(None, False, 1.0, (entries[some],), is_positive[some], None, rows[some], None)


def is_smooth(lowest: float, highest: float, slope: float) -> bool:
    """Return whether cells of these log-odds are narrow enough for a line with this slope, and for one of slope 1."""
    low, high = np.clip([lowest, highest], *_log_odds(np.array(CONDENSED)))
    return bool((high - low) * max(abs(slope), 1.0) <= N_CELLS * WIDEST_CELL)


def _log_odds(p: Floats) -> Floats:
    return np.asarray(np.log(p / (1 - p)))


def _cuts(p: NDArray[np.floating], sides: tuple[NDArray[np.int64], ...]) -> NDArray[np.intp]:
    """Return where cells of descending probabilities start, and where the last one ends.

    None has more than `ROWS_IN_CACHE` entries.
    """
    rising = p[::-1]
    first, last = p.size - np.searchsorted(rising, CONDENSED[::-1], "right")
    if first == last:
        return np.array([first])
    high, low = _log_odds(np.array([p[first], p[last - 1]], dtype=np.float64)).tolist()
    edges = 1 / (1 + np.exp(-np.linspace(low, high, N_CELLS + 1)))
    alone = [
        place
        for side in sides
        for place in (np.searchsorted(side, side[first], "right") - 1, np.searchsorted(side, side[last]) - 1)
    ]
    alone = np.clip(alone, first, last - 1)
    cuts = np.concatenate([p.size - np.searchsorted(rising, edges, "right"), alone, alone + 1, [first, last]])
    cuts = np.concatenate([cuts, np.arange(first, last, ROWS_IN_CACHE)])
    return sorted_unique(np.clip(cuts, first, last))


def _kept(p: NDArray[np.floating], rows: list[NDArray[np.int64]]) -> tuple[Floats, Floats]:
    """Return entries as they are, once for each class, and their rows."""
    return np.stack([p, p]).astype(np.float64, copy=False), np.stack(rows).astype(np.float64)


def _nodes(
    p: NDArray[np.floating], sides: tuple[NDArray[np.int64], ...], cuts: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Return two entries for each cell, for each class in a row, and how many rows they stand for."""
    begin, end = cuts[0], cuts[-1]
    starts = cuts[:-1] - begin
    values = p[begin:end].astype(np.float64, copy=False)
    origin = values[starts]
    each_origin = np.repeat(origin, np.diff(cuts))
    apart = (values - each_origin) / each_origin  # without rounding in the difference
    entries, rows = [], []
    for side in sides:
        total, power = np.diff(side[cuts]).astype(np.float64), np.diff(side[begin : end + 1]).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):  # a cell without rows of the class
            moments = []
            for _ in range(3):
                power *= apart
                moments.append(np.add.reduceat(power, starts) / total)
            mean, square, cube = moments
            variance = square - mean**2
            spread = variance > ONE_PLACE * mean**2
            skew = np.where(spread, (cube - 3 * mean * square + 2 * mean**3) / variance, 0.0)  # sum of both nodes
            root = np.where(spread, np.sqrt(skew**2 / 4 + variance), 0.0)
            share = np.where(spread, (root - skew / 2) / (2 * root), 1.0)  # of the rows, at the upper node
        for node, part in ((skew / 2 + root, share), (skew / 2 - root, 1 - share)):
            entries.append(origin + origin * (mean + node))
            rows.append(total * part)
    return np.reshape(entries, (2, -1)), np.reshape(rows, (2, -1))
