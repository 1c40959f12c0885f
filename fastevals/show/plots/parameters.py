"""Where the values of a parameter are on an axis: numbers in their places, anything else side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.show.plots import style
from fastevals.show.words import written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BAND", "ParameterAxis", "draw_line", "make_headroom", "parameter_axis", "words_of"]

DECADES = 100.0  # the largest number over the smallest from which the axis is logarithmic
ACROSS = 8.0  # points a character: of names that are written across
BAND = 0.16  # opacity of an interval's shading
HEADROOM = 0.3  # above bars, in their range
Floats = NDArray[np.float64]


class ParameterAxis(NamedTuple):
    """Places of a parameter's values.

    Attributes
    ----------
    x : ndarray of shape (n_values,)
        Places, in the order of the values.
    order : ndarray of int of shape (n_values,)
        That sorts them.
    ordered : bool
        Whether the values are numbers, which a line may join.
    """

    x: Floats
    order: NDArray[np.intp]
    ordered: bool


def parameter_axis(ax: Axes, values: Sequence[Any]) -> ParameterAxis:
    """Give the places of values, and set the axis up for them: logarithmic for numbers spread over decades."""
    x = _numbers(values)
    if x is None:
        return _categories(ax, values)
    if x.min() > 0 and x.max() >= DECADES * x.min():
        ax.set_xscale("log")
    elif all(isinstance(value, (int, np.integer)) for value in values):
        ax.locator_params(axis="x", integer=True)
    return ParameterAxis(x, np.argsort(x), True)


def _numbers(values: Sequence[Any]) -> Floats | None:
    """Give values as numbers, None unless all are finite and differ."""
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return None
    if not all(math.isfinite(value) and abs(value) < 1e300 for value in values):
        return None
    x = np.array(values, dtype=np.float64)
    return x if np.unique(x).size == x.size else None


def _categories(ax: Axes, values: Sequence[Any]) -> ParameterAxis:
    names = [style.named_label(written(value)) or "''" for value in values]
    across = len(names) * max(map(len, names)) * ACROSS < style.size_in_points(ax)[0]
    x = np.arange(len(names), dtype=np.float64)
    ax.set_xticks(x, names, rotation=0 if across else 90)
    ax.set_xlim(-0.5, len(names) - 0.5)
    return ParameterAxis(x, np.arange(len(names)), False)


def draw_line(
    ax: Axes, at: ParameterAxis, line: Any, label: str, look: style.Style, shift: float = 0.0, *, band: bool = True
) -> None:
    """Draw means with their intervals: a line, with a band, over numbers; bars over other values.

    A line has a gap where a value is NaN. Bars of several lines are shifted, so that none covers another.
    """
    x, (value, low, high) = at.x[at.order], (each[at.order] for each in (line.values, line.low, line.high))
    if at.ordered:
        style.line(ax, x, value, label, look)
        ax.plot(x, value, linestyle="none", marker="o", markersize=3.5, color=look[0], label="_values", zorder=2.6)
        if band:
            ax.fill_between(x, low, high, color=look[0], alpha=BAND, linewidth=0, zorder=1.5, label="_band")
        return
    spread = np.clip(np.nan_to_num([value - low, high - value]), 0, None)
    ax.errorbar(
        x + shift, value, yerr=spread, fmt="o", color=look[0], markersize=5, capsize=3, label=label,
        elinewidth=1.4,
    )  # fmt: skip


def make_headroom(ax: Axes, at: ParameterAxis) -> None:
    """Leave room for the legend above bars."""
    if not at.ordered:
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + HEADROOM * (high - low))


def words_of(metric: str) -> str:
    """Give a metric's name as a label of an axis."""
    words = style.named_label(metric.replace("_", " "))
    return words[:1].upper() + words[1:]
