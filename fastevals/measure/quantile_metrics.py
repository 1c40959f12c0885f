"""Metrics of predicted quantiles and intervals: each is the mean over rows of a loss, which its function returns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import chunks, run
from fastevals._kernels.quantiles import pinball_losses
from fastevals._options import check_number
from fastevals._validation.arrays import FLOAT64
from fastevals.counting.ordering import plain_block
from fastevals.measure.predicted_quantiles import LEVEL_DIGITS, QuantileRows, check_order

Floats = NDArray[np.float64]

SAME_LEVEL = 10.0**-LEVEL_DIGITS * 4  # rounding of sums and differences of levels


def interval_score(targets: NDArray[Any], rows: QuantileRows, coverage: float | None = None) -> Floats:
    """Interval width plus 2 / (1 - coverage) times the distance of a target outside (Winkler 1972)."""
    low, high, share = _central_interval("interval_score", rows, coverage)
    outside = np.maximum(low - targets, 0.0) + np.maximum(targets - high, 0.0)
    return np.asarray(high - low + outside / share)


def interval_coverage(targets: NDArray[Any], rows: QuantileRows, coverage: float | None = None) -> Floats:
    """Share of targets within the interval or at its ends; compare it with the nominal coverage."""
    low, high, _ = _central_interval("interval_coverage", rows, coverage)
    return ((low <= targets) & (targets <= high)).astype(np.float64)


def interval_width(targets: NDArray[Any], rows: QuantileRows, coverage: float | None = None) -> Floats:
    """Mean width of the interval."""
    low, high, _ = _central_interval("interval_width", rows, coverage)
    return high - low


def weighted_interval_score(targets: NDArray[Any], rows: QuantileRows) -> Floats:
    """Twice the mean pinball loss over levels, which come in pairs around 0.5 (doi:10.1371/journal.pcbi.1008618)."""
    if np.abs(rows.levels + rows.levels[::-1] - 1).max() > SAME_LEVEL:
        raise ValueError(
            "weighted_interval_score needs levels in pairs that add up to 1, with or without 0.5, got "
            f"{rows.levels.tolist()}: crps takes any levels"
        )
    return _pinball(targets, rows, np.full(rows.levels.size, 2 / rows.levels.size))


def crps(targets: NDArray[Any], rows: QuantileRows) -> Floats:
    """Twice the integral of the pinball loss over levels in (0, 1), each approximated by the nearest given level."""
    edges = np.concatenate(([0.0], (rows.levels[1:] + rows.levels[:-1]) / 2, [1.0]))
    return _pinball(targets, rows, 2 * np.diff(edges))


def checked_coverage(coverage: Any = None) -> dict[str, Any]:
    """Check the nominal coverage of a central interval; None means the widest interval."""
    if coverage is not None:
        coverage = check_number("coverage", coverage, low=0, high=1, open_low=True, open_high=True)
    return {"coverage": coverage}


def _pinball(targets: NDArray[Any], rows: QuantileRows, weights: Floats) -> Floats:
    losses = np.empty(targets.size)

    def write(part: slice) -> None:
        y = plain_block(targets[part], FLOAT64)
        pinball_losses(y, rows.values[part], rows.levels, weights, losses[part])

    run(write, chunks(targets.size), compiles=pinball_losses)
    return losses


def _central_interval(name: str, rows: QuantileRows, coverage: float | None) -> tuple[Floats, Floats, float]:
    """Return the ends of a central interval, and the level of its low end."""
    levels = rows.levels
    pairs = [
        (low, high)
        for low in range(levels.size)
        for high in range(low + 1, levels.size)
        if abs(levels[low] + levels[high] - 1) < SAME_LEVEL
        and (coverage is None or abs(levels[high] - levels[low] - coverage) < SAME_LEVEL)
    ]
    if not pairs:
        wanted = (
            "two levels that add up to 1" if coverage is None else f"the levels of a central interval of {coverage:g}"
        )
        raise ValueError(f"{name} needs {wanted}, got levels {levels.tolist()}")
    low, high = pairs[0]
    ends = rows.values[:, low], rows.values[:, high]
    check_order(f"the quantile of level {levels[low]:g}", f"that of level {levels[high]:g}", *ends)
    return *ends, float(levels[low])
