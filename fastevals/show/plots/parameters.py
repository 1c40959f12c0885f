"""Pictures over a parameter: places of its values, numbers or not; lines over them, their range and what they mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._text import format_value, shorten_names
from fastevals.show.plots import style
from fastevals.show.plots.models import LONGEST_NAME
from fastevals.show.plots.picture import COLORS, GREY, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DECADES, STEEP = 100.0, 20.0  # the largest number over the least from which x, and y, are logarithmic
SMALLEST = 1e-150  # of numbers but 0 on such an axis, and its inverse the largest
ACROSS, LINE = 8.0, 13.0  # points: of a character of names that are written across, of a name that is turned
LONGEST_TURNED = 16  # characters
BAND = 0.16  # opacity of an interval's shading
SHIFT = 0.08  # of the two bars of a category
ROOM, LOG_ROOM = 1.6, 0.08  # of the y axis, in the range of the means: intervals that are wider are cut
FAR = 10.0  # times the best score's distance from the median is the least that is drawn
TINTS = {"underfits": COLORS[0], "overfits": COLORS[1]}
TINT = 0.07  # opacity of a side
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

    def shifted(self, shift: float) -> Floats:
        """Return the places, beside each other for several lines where values are side by side."""
        return self.x if self.ordered else self.x + shift


def set_parameter_axis(ax: Axes, values: Sequence[Any]) -> ParameterAxis:
    """Set the x axis up for values, logarithmic for numbers that span decades; return their places."""
    x = _numbers(values)
    if x is None:
        return _categories(ax, values)
    if not _set_logarithmic(ax.set_xscale, x, DECADES) and (x == x.round()).all():
        ax.locator_params(axis="x", integer=True)
    return ParameterAxis(x, np.argsort(x), True)


def _numbers(values: Sequence[Any]) -> Floats | None:
    """Return values as numbers, None unless all can be drawn and differ."""
    plain = [each.item() if isinstance(each, np.number) else each for each in values]
    if not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in plain):
        return None
    if not all(each == 0 or SMALLEST <= abs(each) <= 1 / SMALLEST for each in plain):
        return None
    x = np.array(plain, dtype=np.float64)
    return x if np.unique(x).size == x.size else None


def _set_logarithmic(set_scale: Callable[..., None], values: Floats, ratio: float) -> bool:
    """Set a logarithmic scale if values are that far apart and none is negative; return whether it was set."""
    positive = values[values >= SMALLEST]
    if values.min() < 0 or not positive.size or positive.max() < ratio * positive.min():
        return False
    if positive.size == values.size:
        set_scale("log")
    else:
        set_scale("symlog", linthresh=10.0 ** np.floor(np.log10(positive.min())))  # a tick, a decade from that of 0
    return True


def _categories(ax: Axes, values: Sequence[Any]) -> ParameterAxis:
    """Place values side by side; of more turned names than there is room for, every second, third, ... is written."""
    x, step = np.arange(len(values), dtype=np.float64), 1
    width = style.size_in_points(ax)[0]
    names = _labels(values, LONGEST_NAME)
    across = len(names) * max(map(len, names)) * ACROSS < width
    if not across:
        names, step = _labels(values, LONGEST_TURNED), math.ceil(len(names) * LINE / width)
    ax.set_xticks(x[::step], names[::step], rotation=0 if across else 90)
    ax.set_xlim(-0.5, len(names) - 0.5)
    return ParameterAxis(x, np.arange(len(names)), False)


def _labels(values: Sequence[Any], longest: int) -> list[str]:
    return [style.legend_label(name) or "''" for name in shorten_names(map(format_value, values), longest)]


def draw_line(
    ax: Axes, axis: ParameterAxis, line: Any, label: str, look: Look, shift: float = 0.0, *, band: bool = True
) -> None:
    """Draw means with their intervals: a line, with a band, over numbers; bars over other values.

    A line has a gap where a value is NaN. Bars of several lines are shifted, so that none covers another.
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
    """Explain shadings or bars of intervals in the legend, where there are some."""
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


def tint_sides(ax: Axes, axis: ParameterAxis, fits: Sequence[str], defined: NDArray[np.bool_], best: float) -> None:
    """Name and tint the sides of the best value by what the learner does at the outermost that are defined.

    Where it does the same at both, neither is named.
    """
    outermost = axis.order[defined[axis.order]][[0, -1]]
    left, right = (fits[k] for k in outermost)
    if left == right:
        return
    shown = ax.get_xlim()
    side: Any
    for side, behaviour, title, end in (
        ("left", left, f"← {left}", shown[0]),
        ("right", right, f"{right} →", shown[1]),
    ):
        if behaviour in TINTS:
            ax.axvspan(best, end, color=TINTS[behaviour], alpha=TINT, linewidth=0, zorder=0.5)
            ax.set_title(title, loc=side, fontsize="medium", color=TINTS[behaviour])
    ax.set_xlim(shown)


def finite(*values: Floats) -> Floats:
    """Return the finite values of some arrays."""
    every = np.concatenate(values)
    return every[np.isfinite(every)]


def set_y_limits(ax: Axes, lines: Sequence[Any], maximize: bool) -> None:
    """Set the range of y: logarithmic for errors spread over decades; wide intervals and scores far off are cut."""
    values = finite(*(line.values for line in lines))
    if not values.size:
        return
    linear = maximize or not _set_logarithmic(ax.set_yscale, values, STEEP)
    ends = finite(values, *(each for line in lines for each in (line.low, line.high)))
    least, greatest = float(values.min()), float(values.max())
    typical = max(greatest - float(np.median(values)), 0.1 * abs(greatest))
    if maximize and typical and least < greatest - FAR * typical:
        add_cut_entry(ax, f"down to {least:.4g}")
        least = greatest - FAR * typical
        ends = np.maximum(ends, least)
    scale = ax.yaxis.get_transform()
    (low, high), ends = scale.transform(np.array([least, greatest])), scale.transform(ends)
    room = (ROOM if linear else LOG_ROOM) * (high - low) or 0.1 * abs(high) or 1.0
    bottom, top = max(ends.min(), low - room), min(ends.max(), high + room)
    margin = 0.05 * (top - bottom) or 0.5 * room
    ax.set_ylim(*scale.inverted().transform(np.array([bottom - margin, top + margin])))


def add_cut_entry(ax: Axes, how_far: str) -> None:
    """Write in the legend that the picture is cut."""
    ax.plot([], [], linestyle="none", label=f"(cut: {how_far})")


def metric_label(metric: str) -> str:
    """Return a metric's name as a label of an axis."""
    text = style.legend_label(metric.replace("_", " "))
    return text[:1].upper() + text[1:]
