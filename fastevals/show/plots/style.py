"""How pictures look: colours, lines, marks, labels and legends; and where matplotlib comes in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from fastevals import _validation as check
from fastevals.infer.bands import ConfidenceBand
from fastevals.show.plots.thinning import COLUMNS, thinned
from fastevals.show.words import printable, without_middle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "SQUARE",
    "TALL",
    "UNDER",
    "WIDE",
    "Style",
    "axes_for",
    "bands_for",
    "bar_at_foot",
    "columns_of",
    "common",
    "explain",
    "explain_bands",
    "finish",
    "foot",
    "has_curves",
    "line",
    "mark",
    "named_label",
    "number",
    "reference",
    "require_matplotlib",
    "shade",
    "shared_reference",
    "size_for",
    "size_in_points",
    "styled",
]

SQUARE, WIDE, TALL = (6.4, 6.4), (6.4, 4.8), (6.4, 8.6)  # inches; 800 pixels wide at 125 a inch

# Okabe and Ito (2008), https://jfly.uni-koeln.de/color/, without the yellow, which is pale on white. 7 colours and 5
# kinds of line: 35 models before two look alike.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (1.5, 1.2)), (0, (3, 1, 1, 1, 1, 1)))
GREY = "#767676"
UNDER = "under"  # the axes: a place for a legend
CURVE, BAR, SHARED = "fastevals-curve", "fastevals-bar", "fastevals-shared"  # gids of lines
BAR_STEP = 0.015  # between bars, on the y axis
MOST_INSIDE = 3  # models; the legend of more is below the axes
LEGEND_ROW = 0.22  # inches: of an entry
SHADE = 0.16  # opacity of a band
BAND_METHODS = {"kolmogorov": "Kolmogorov"}  # as legends write them, where not as they are
LONGEST_NAME = 40  # characters of a name in a legend

Style = tuple[str, Any]  # colour, kind of line


def require_matplotlib() -> None:
    """Raise unless matplotlib can be imported."""
    check.import_optional("matplotlib", "pictures need matplotlib: pip install 'fastevals[plots]'")


def size_for(size: tuple[float, float], n_models: int) -> tuple[float, float]:
    """Give a figure's size in inches, with room for a legend below where models are many."""
    return (size[0], size[1] + (LEGEND_ROW * (n_models + 3) if n_models > MOST_INSIDE else 0.0))


def axes_for(ax: Any, size: tuple[float, float], n_models: int) -> Axes:
    """Give the axes to draw on, new ones of pyplot's where none are given."""
    require_matplotlib()
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=size_for(size, n_models), layout="constrained")[1]
        return cast("Axes", ax)
    from matplotlib.axes import Axes

    check.check_axes("ax", ax, Axes)
    return cast("Axes", ax)


def columns_of(ax: Axes) -> int:
    """Give the columns that a line is thinned to: at least four a pixel."""
    return max(COLUMNS, 4 * math.ceil(ax.get_window_extent().width))


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Give the width and height of axes in points, after the figure's layout."""
    figure: Any = ax.figure.figure
    figure.draw_without_rendering()
    box = ax.get_window_extent()
    return box.width * 72 / figure.dpi, box.height * 72 / figure.dpi


def styled(ax: Axes, models: Iterable[tuple[str | None, Any]]) -> Iterator[tuple[str | None, Any, Style]]:
    """Give each model with the next colour and kind of line; one without a curve is said to be undefined."""
    for name, each in models:
        k = sum(line.get_gid() == CURVE for line in ax.lines)
        look = COLORS[k % len(COLORS)], LINES[k % len(LINES)]
        if each.defined:
            yield name, each, look
        else:
            line(ax, [], [], named_label(name, "undefined"), look)


def named_label(name: str | None, *said: str) -> str:
    """Give a legend's entry: the name, and what is said of it."""
    words = ", ".join(word for word in said if word)
    if not name:
        return words
    short = without_middle(printable(name), LONGEST_NAME).replace("$", r"\$")  # no formula
    label = f"{short}: {words}" if words else short
    return f" {label}" if label.startswith("_") else label  # which matplotlib would hide


def number(what: str, value: float) -> str:
    """Say a value, or nothing where it is undefined."""
    return "" if math.isnan(value) else f"{what} {value:.3f}" if abs(value) < 1e6 else f"{what} {value:.3g}"


def line(ax: Axes, x: ArrayLike, y: ArrayLike, label: str, style: Style) -> None:
    """Draw a model's curve."""
    ax.plot(x, y, color=style[0], linestyle=style[1], linewidth=1.8, label=label, gid=CURVE, zorder=2.5)


def bands_for(band: Any, models: Iterable[tuple[str | None, Any]], curve: str) -> dict[str | None, ConfidenceBand]:
    """Give the bands by the names of the models they are of, all of the kind of curve that is drawn."""
    if band is None:
        return {}
    found = dict(check.as_named("band", band, ConfidenceBand))
    names = [name for name, _ in models]
    for name, each in found.items():
        if name is None and names != [None]:
            raise ValueError("band must be a mapping of the models' names to bands where curve is a mapping, got one")
        if name is not None and names == [None]:
            raise ValueError("band must be one ConfidenceBand where curve is one, got a mapping of names to them")
        check.check_choice("each name in band", name, names)
        check.check_choice("band.curve" if name is None else f"band[{name!r}].curve", each.curve, [curve])
    return found


def shade(ax: Axes, band: ConfidenceBand | None, columns: int, style: Style) -> None:
    """Draw a model's band, if it has one."""
    if band is not None:
        x, low = thinned(band.x, band.low, columns)
        _, high = thinned(band.x, band.high, columns)
        ax.fill_between(x, low, high, color=style[0], alpha=SHADE, linewidth=0, zorder=1.5, label="_band")


def explain_bands(ax: Axes, bands: Iterable[ConfidenceBand]) -> None:
    """Say in the legend, once, what the shadings are."""
    for band in bands:
        label = f"{100 * band.confidence_level:g} % {band.kind} band ({BAND_METHODS.get(band.method, band.method)})"
        if label not in (each.get_label() for each in ax.collections):
            ax.fill_between([], [], color=GREY, alpha=2 * SHADE, linewidth=0, label=label)


def reference(ax: Axes, x: ArrayLike, y: ArrayLike, label: str, *, dotted: bool = False) -> None:
    """Draw a grey line to compare with, once on the same axes."""
    if label not in (each.get_label() for each in ax.lines):
        _grey(ax, x, y, label, dotted)


def _grey(ax: Axes, x: ArrayLike, y: ArrayLike, label: str, dotted: bool, gid: str | None = None) -> None:
    kind: Any = (0, (1, 2)) if dotted else (0, (4, 3))
    ax.plot(x, y, color=GREY, linestyle=kind, linewidth=1.1, label=label, zorder=2, gid=gid)


def shared_reference(ax: Axes, points: tuple[Any, Any] | None, label: str, *, dotted: bool = False) -> None:
    """Draw a reference that the models decide on; none if they differ, or one drawn before differs."""
    gid = f"{SHARED}-{label}"
    for each in ax.lines:
        if each.get_gid() == gid:
            if points is None or not np.array_equal(each.get_xydata(), np.stack(points, axis=1), equal_nan=True):
                each.set(data=([], []), label="_differs")
            return
    x, y = points or ([], [])
    _grey(ax, x, y, "_differs" if points is None else label, dotted, gid=gid)


def explain(ax: Axes, label: str, marker: str = "") -> None:
    """Say in the legend, once, what a thin or marked line in a model's colour is."""
    if label not in (each.get_label() for each in ax.lines):
        ax.plot([], [], color=GREY, linewidth=0.9, marker=marker, markersize=7, label=label)


def mark(ax: Axes, x: float, y: float, style: Style) -> None:
    """Mark a point of a model's curve."""
    if not (math.isnan(x) or math.isnan(y)):
        ax.plot(
            [x], [y], linestyle="none", marker="o", markersize=7, markerfacecolor="white", markeredgecolor=style[0],
            markeredgewidth=1.8, zorder=3, label="_mark",
        )  # fmt: skip


def finish(ax: Axes, x_label: str, y_label: str, legend: str = "best") -> None:
    """Add labels, a light grid and the legend."""
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.grid(True, color="#e6e6e6", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if any(ax.get_legend_handles_labels()[1]):
        where: dict[str, Any] = {"loc": legend}
        if legend == UNDER or sum(each.get_gid() == CURVE for each in ax.lines) > MOST_INSIDE:
            from matplotlib.transforms import ScaledTranslation

            labels: Any = ax.xaxis.get_tightbbox() or ax.bbox
            depth = (labels.y0 - ax.bbox.y0) / ax.figure.dpi
            below = ax.transAxes + ScaledTranslation(0, depth, ax.figure.dpi_scale_trans)
            where = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": below}
            ax.set_anchor("N")  # where the aspect leaves room, leave it to the legend
        ax.legend(**where, fontsize="medium", framealpha=0.85, edgecolor="none", handlelength=2.8)


def common(values: Iterable[Any]) -> Any:
    """Give the value that all share, None where they differ or there are none."""
    first, *others = list(values) or [None]
    return first if all(np.array_equal(first, other) for other in others) else None


def has_curves(ax: Axes) -> bool:
    """Tell whether models were drawn already."""
    return any(line.get_gid() == CURVE for line in ax.lines)


def bar_at_foot(ax: Axes, low: float, high: float, style: Style) -> None:
    """Draw a range of x as a bar below zero, each model's under the last."""
    y = foot(ax) + BAR_STEP / 2
    ax.plot([low, high], [y, y], color=style[0], linewidth=1.8, marker="|", markersize=7, label="_bar", gid=BAR)


def foot(ax: Axes) -> float:
    """Give the y below all bars."""
    return BAR_STEP * -(1.5 + sum(each.get_gid() == BAR for each in ax.lines))
