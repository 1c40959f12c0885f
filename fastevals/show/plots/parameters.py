"""Plots over a parameter: places of its values, lines, limits of y, and names beside the best value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._text import format_value, shorten_names
from fastevals.document.picture import COLORS, GREY, AxisScale, Look, Range, Side, widened
from fastevals.show.plots import style
from fastevals.show.plots.drawing import draw_mark, set_axis
from fastevals.show.plots.models import LONGEST_NAME, label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DECADES, STEEP = 100.0, 20.0  # x (or y) is logarithmic if the largest number is so many times the least
SMALLEST_NUMBER = 1e-150  # smallest number except 0 on such an axis; the largest is its inverse
BAND = 0.16  # opacity of an interval's shading
SHIFT = 0.08  # between the two bars of a category
VALUES_MARGIN = 0.05  # share of the range left free on each side
ROOM, LOG_ROOM = 1.6, 0.08  # height of the y axis in ranges of the means: wider intervals are cut
FAR_DISTANCES = 10.0  # times the best score's distance from the median: lower scores are cut
TINTS = {"underfits": Look(COLORS[0]), "overfits": Look(COLORS[1])}
Floats = NDArray[np.float64]


class ParameterAxis(NamedTuple):
    """Places of a parameter's values on an axis.

    Attributes
    ----------
    x : ndarray of shape (n_values,)
        Places in the order of the values.
    order : ndarray of int of shape (n_values,)
        Order that sorts the places.
    ordered : bool
        Whether the values are numbers, so that a line may join them.
    """

    x: Floats
    order: NDArray[np.intp]
    ordered: bool

    def shifted(self, shift: float) -> Floats:
        """Return the places, shifted apart for several lines if values are not numbers."""
        return self.x if self.ordered else self.x + shift


def place_values(values: Sequence[Any]) -> tuple[AxisScale, ParameterAxis]:
    """Return an axis for values, logarithmic if they span decades, and their places on it.

    Values that are not numbers are placed side by side.
    """
    x = _numbers(values)
    if x is None:
        n = len(values)
        names = [label_of(name) or "''" for name in shorten_names(map(format_value, values), LONGEST_NAME)]
        places = ParameterAxis(np.arange(n, dtype=np.float64), np.arange(n), False)
        return AxisScale("", -0.5, n - 0.5, ticks=range(n), tick_labels=names), places
    scale = _scale_of(x, DECADES)
    scale.whole = scale.kind == "linear" and bool((x == x.round()).all())
    scale.low, scale.high = widened(scale, x, VALUES_MARGIN)
    return scale, ParameterAxis(x, np.argsort(x), True)


def set_parameter_axis(ax: Axes, values: Sequence[Any]) -> ParameterAxis:
    """Set up the x axis for values; return their places."""
    scale, places = place_values(values)
    set_axis(ax, "x", scale)
    return places


def _numbers(values: Sequence[Any]) -> Floats | None:
    """Return values as numbers; None unless all differ and can be drawn."""
    plain = [each.item() if isinstance(each, np.number) else each for each in values]
    if not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in plain):
        return None
    if not all(each == 0 or SMALLEST_NUMBER <= abs(each) <= 1 / SMALLEST_NUMBER for each in plain):
        return None
    x = np.array(plain, dtype=np.float64)
    return x if sorted_unique(x).size == x.size else None


def _scale_of(values: Floats, ratio: float) -> AxisScale:
    """Return a scale with its ends still unset: logarithmic if values are far enough apart and none is negative."""
    positive = values[values >= SMALLEST_NUMBER]
    if values.min() < 0 or not positive.size or positive.max() < ratio * positive.min():
        return AxisScale()
    if positive.size == values.size:
        return AxisScale(kind="log")
    return AxisScale(kind="symlog", linear_to=10.0 ** float(np.floor(np.log10(positive.min()))))  # a tick


def draw_line(
    ax: Axes, axis: ParameterAxis, line: Any, label: str, look: Look, shift: float = 0.0, *, band: bool = True
) -> None:
    """Draw means with their intervals: a line with a band over numbers, bars over other values.

    A line has gaps at NaN values. Bars of several lines are shifted apart.
    """
    x, value, low, high = (each[axis.order] for each in (axis.shifted(shift), line.values, line.low, line.high))
    if axis.ordered:
        style.draw_curve(ax, x, value, label, look)
        ax.plot(x, value, linestyle="none", marker="o", markersize=3.5, color=look.color, label="_values", zorder=2.6)
        if band:
            ax.fill_between(x, low, high, color=look.color, alpha=BAND, linewidth=0, zorder=1.5, label="_band")
        return
    errors = np.clip(np.nan_to_num([value - low, high - value], posinf=0), 0, None)
    ax.errorbar(x, value, yerr=errors, fmt="o", color=look.color, markersize=5, capsize=3, label=label, elinewidth=1.4)


def add_interval_entry(ax: Axes, axis: ParameterAxis, lines: Sequence[Any], what: str) -> None:
    """Explain shaded intervals or bars in the legend, if there are any."""
    if not finite(*(line.low for line in lines)).size:
        return
    if axis.ordered:
        ax.fill_between([], [], color=GREY, alpha=2 * BAND, linewidth=0, label=what)
    else:
        ax.errorbar([], [], yerr=[], fmt="none", ecolor=GREY, capsize=3, elinewidth=1.4, label=what)


def mark_value(ax: Axes, x: float, y: float, label: str, look: Look) -> None:
    """Mark the chosen value."""
    ax.plot(
        [x], [y], linestyle="none", marker="*", markersize=15, markerfacecolor=look.color, markeredgecolor="white",
        markeredgewidth=1.0, zorder=3.5, label=label,
    )  # fmt: skip


def name_sides(
    axis: ParameterAxis, fits: Sequence[str], defined: NDArray[np.bool_], best: float, ends: Range
) -> list[Side]:
    """Return the ranges on both sides of the best value, each named by the fit at its outermost defined value.

    If both ends have the same fit, neither is named.
    """
    outermost = axis.order[defined[axis.order]][[0, -1]]
    left, right = (fits[k] for k in outermost)
    if left == right:
        return []
    sides = [Side((ends[0], best), f"← {left}", TINTS[left], is_left=True)] if left in TINTS else []
    return sides + ([Side((best, ends[1]), f"{right} →", TINTS[right], is_left=False)] if right in TINTS else [])


def tint_sides(ax: Axes, axis: ParameterAxis, fits: Sequence[str], defined: NDArray[np.bool_], best: float) -> None:
    """Tint and name the ranges on both sides of the best value."""
    shown = ax.get_xlim()
    for side in name_sides(axis, fits, defined, best, shown):
        draw_mark(ax, side)
    ax.set_xlim(shown)


def finite(*values: Floats) -> Floats:
    """Return the finite values of some arrays."""
    every = np.concatenate(values)
    return every[np.isfinite(every)]


def set_y_limits(ax: Axes, lines: Sequence[Any], maximize: bool) -> None:
    """Set the range of y: logarithmic for errors that span decades; wide intervals and outlying scores are cut."""
    values = finite(*(line.values for line in lines))
    if not values.size:
        return
    y = AxisScale() if maximize else _scale_of(values, STEEP)
    set_axis(ax, "y", y)
    ends = finite(values, *(each for line in lines for each in (line.low, line.high)))
    least, greatest = float(values.min()), float(values.max())
    typical = max(greatest - float(np.median(values)), 0.1 * abs(greatest))
    if maximize and typical and least < greatest - FAR_DISTANCES * typical:
        add_cut_entry(ax, f"down to {least:.4g}")
        least = greatest - FAR_DISTANCES * typical
        ends = np.maximum(ends, least)
    scale = ax.yaxis.get_transform()
    (low, high), ends = scale.transform(np.array([least, greatest])), scale.transform(ends)
    room = (ROOM if y.kind == "linear" else LOG_ROOM) * (high - low) or 0.1 * abs(high) or 1.0
    bottom, top = max(ends.min(), low - room), min(ends.max(), high + room)
    margin = 0.05 * (top - bottom) or 0.5 * room
    ax.set_ylim(*scale.inverted().transform(np.array([bottom - margin, top + margin])))


def add_cut_entry(ax: Axes, how_far: str) -> None:
    """Say in the legend that the picture is cut."""
    ax.plot([], [], linestyle="none", label=f"(cut: {how_far})")


def metric_label(metric: str) -> str:
    """Return a metric's name as an axis label."""
    text = style.legend_label(metric.replace("_", " "))
    return text[:1].upper() + text[1:]
