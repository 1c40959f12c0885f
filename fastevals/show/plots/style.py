"""The look of matplotlib pictures: lines, marks, labels, and legends that hide nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from fastevals._options import import_optional, show
from fastevals._text import printable
from fastevals._validation.curves import _kind
from fastevals.document.picture import COLUMNS, GREY, Look
from fastevals.show.plots.models import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.transforms import Bbox

LARGEST_DRAWN = 1e150  # squares of larger numbers overflow
SQUARE, WIDE, TALL = (6.4, 6.4), (6.4, 4.8), (6.4, 9.2)  # inches; 800 pixels wide at 125 per inch
SIZES = {"square": SQUARE, "wide": WIDE, "tall": TALL}

BELOW, OVER = "under", "over"  # places of a legend: below and above the axes
CURVE, BAR = "fastevals-curve", "fastevals-bar"  # gids that mark lines
MOST_INSIDE = 3  # models: with more, the legend is below the axes
LEGEND_ROW = 0.22  # inches per entry
SHADE = 0.16  # opacity of a band

ABOVE = 22.0  # points above the axes for a title over other text
ROUNDS = 3  # of fitting a legend: text widths are not proportional to the font size
SMALLEST_FONT = 5.5  # points, for a legend that is too wide for its part of the figure
MOST_WIDE = 0.96  # largest share of its part of the figure for a legend
LEAST_HIGH = 0.3  # least share of their place that axes keep above a legend


def require_matplotlib() -> None:
    """Raise unless matplotlib can be imported."""
    import_optional("matplotlib", "pictures need matplotlib: pip install matplotlib")


def figure_size(size: tuple[float, float], n_models: int) -> tuple[float, float]:
    """Return a figure's size in inches, with room for a legend below if there are many models."""
    return (size[0], size[1] + (LEGEND_ROW * (n_models + 3) if n_models > MOST_INSIDE else 0.0))


def get_axes(ax: Any, size: tuple[float, float], n_models: int) -> Axes:
    """Return the axes to draw on: those given, or new pyplot axes."""
    require_matplotlib()
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=figure_size(size, n_models), layout="constrained")[1]
        return cast("Axes", ax)
    from matplotlib.axes import Axes

    _check_axes("ax", ax, Axes)
    return cast("Axes", ax)


def count_columns(ax: Axes) -> int:
    """Return the number of columns that a line is thinned to: at least four per pixel."""
    return max(COLUMNS, 4 * math.ceil(ax.get_window_extent().width))


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes in points, after layout."""
    figure: Any = ax.figure.figure
    figure.draw_without_rendering()
    box = ax.get_window_extent()
    return box.width * 72 / figure.dpi, box.height * 72 / figure.dpi


def legend_label(name: str | None, *values: str) -> str:
    """Return a legend entry for matplotlib: the name and some values."""
    return as_written(label_of(name, *values))


def as_written(label: str) -> str:
    """Return a label that matplotlib shows literally: neither as a formula nor hidden."""
    plain = label.replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def line_style(dashes: tuple[float, ...]) -> Any:
    """Return matplotlib's line style for dashes."""
    return (0, dashes) if dashes else "-"


def draw_curve(ax: Axes, x: ArrayLike, y: ArrayLike, label: str, look: Look) -> Any:
    """Draw a model's curve."""
    options: dict[str, Any] = {"color": look.color, "linestyle": line_style(look.dashes), "label": label}
    return ax.plot(x, y, linewidth=1.8, gid=CURVE, zorder=2.5, **options)[0]


def draw_reference(ax: Axes, x: ArrayLike, y: ArrayLike, label: str, *, dotted: bool = False) -> Any:
    """Draw a grey line to compare with."""
    pattern: Any = (0, (1, 2)) if dotted else (0, (4, 3))
    return ax.plot(x, y, color=GREY, linestyle=pattern, linewidth=1.1, label=label, zorder=2)[0]


def mark_point(ax: Axes, x: float, y: float, color: Any, *, filled: bool = False) -> Any:
    """Mark a point of a model's curve."""
    face, edge = (color, "white") if filled else ("white", color)
    return ax.plot(
        [x], [y], linestyle="none", marker="o", markersize=8 if filled else 7, markerfacecolor=face,
        markeredgecolor=edge, markeredgewidth=1.2 if filled else 1.8, zorder=3.2 if filled else 3, label="_mark",
    )[0]  # fmt: skip


def finish(ax: Axes, x_label: str, y_label: str, legend: str = "best", title: str | None = None) -> None:
    """Add labels, a title, a light grid and the legend; the legend is below the axes if it does not fit inside."""
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.grid(True, color="#e6e6e6", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    has_entries = any(ax.get_legend_handles_labels()[1])
    set_title(ax, title, above=bool(ax.get_title("left") or ax.get_title("right") or (has_entries and legend == OVER)))
    if has_entries and legend == OVER:
        near: dict[str, Any] = {"borderaxespad": 0.2, "handletextpad": 0.2}
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, **near)
    elif has_entries:
        many = sum(each.get_gid() == CURVE for each in ax.lines) > MOST_INSIDE
        inside = [] if legend == BELOW or many else list(dict.fromkeys([legend, "best"]))
        if all(_hides_data(ax, _legend(ax, loc=place)) for place in inside):
            _put_legend_below(ax)


def set_title(ax: Axes, title: str | None, *, above: bool = False) -> None:
    """Write a title over the axes, above other text if there is any."""
    if title is not None:
        if not isinstance(title, str):
            raise ValueError(f"title must be a string, got {show(title)}")
        ax.set_title(printable(title).replace("$", r"\$"), pad=ABOVE if above else None)


def _legend(ax: Axes, **options: Any) -> Legend:
    defaults: dict[str, Any] = {"fontsize": "medium", "framealpha": 0.85, "edgecolor": "none", "handlelength": 2.8}
    return ax.legend(**defaults | options)


def _hides_data(ax: Axes, legend: Legend) -> bool:
    """Return whether a legend covers a curve or band, or extends past the axes."""
    ax.apply_aspect()
    box, frame = legend.get_window_extent(), ax.bbox
    if box.x0 < frame.x0 - 1 or box.x1 > frame.x1 + 1 or box.y0 < frame.y0 - 1 or box.y1 > frame.y1 + 1:
        return True
    lines = (line for line in ax.lines if line.get_gid() in (CURVE, BAR))
    if any(line.get_path().transformed(line.get_transform()).intersects_bbox(box, filled=False) for line in lines):
        return True
    bands = (path.transformed(each.get_transform()) for each in ax.collections if each.get_label() == "_band"
             for path in each.get_paths())  # fmt: skip
    return any(path.intersects_bbox(box) for path in bands)


def _put_legend_below(ax: Axes) -> None:
    """Place the legend below the axes, no wider than their part of the figure."""
    from matplotlib.transforms import ScaledTranslation

    tick_labels: Any = ax.xaxis.get_tightbbox() or ax.bbox
    depth = (tick_labels.y0 - ax.bbox.y0) / ax.figure.dpi
    below = ax.transAxes + ScaledTranslation(0, depth, ax.figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": below}
    legend, room = _legend(ax, **place), _width_for_legend(ax)
    for _ in range(ROUNDS):
        ratio, size = room / legend.get_window_extent().width, float(legend.get_texts()[0].get_fontsize())
        if ratio >= 1 or size <= SMALLEST_FONT:
            break
        legend = _legend(ax, **place, fontsize=max(SMALLEST_FONT, ratio * size))
    ax.set_anchor("N")  # the room that the aspect leaves goes to the legend
    if ax.get_axes_locator() is None and ax.figure.figure.get_layout_engine() is None:
        ax.set_axes_locator(_AboveLegend(ax))


def _width_for_legend(ax: Axes) -> float:
    """Return a legend's largest width in pixels: an equal share of the figure, or the space to the next axes."""
    figure: Any = ax.figure
    spec = ax.get_subplotspec()
    n = spec.get_gridspec().ncols if spec else 1
    if spec is None or n == 1 or figure.figure.get_layout_engine() is not None:
        share = 1.0 / n
    else:
        left, other, *_ = spec.get_gridspec().get_grid_positions(figure)[2]
        share = float(other - left)
    return MOST_WIDE * share * float(figure.bbox.width) * (len(spec.colspan) if spec else 1)


class _AboveLegend:
    """Locator that reserves the lower part of the axes' place for the legend, in figures without a layout engine."""

    def __init__(self, ax: Axes) -> None:
        self.ax = ax

    def get_subplotspec(self) -> Any:
        """Return the axes' place in the grid of subplots, which a later layout needs."""
        return self.ax.get_subplotspec()

    def __call__(self, ax: Any, renderer: Any) -> Bbox:
        """Return the place of the axes in the figure."""
        from matplotlib.transforms import Bbox

        place, legend = ax.get_position(original=True), ax.get_legend()
        if legend is None or ax.figure.figure.get_layout_engine() is not None:
            return cast("Bbox", place)
        bottom = place.y0 + legend.get_window_extent(renderer).height / ax.figure.bbox.height
        return Bbox.from_extents(place.x0, min(bottom, place.y1 - LEAST_HIGH * place.height), place.x1, place.y1)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_axes(name: str, value: Any, kind: type) -> None:
    """Raise unless the value is a single Axes."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a matplotlib Axes, got {_kind(value)}")


def is_drawable(values: Any) -> bool:
    """Return whether all numbers are small enough to draw."""
    return bool((np.abs(values) < LARGEST_DRAWN).all())


def check_drawable(name: str, values: Any) -> None:
    """Raise unless numbers are small enough to draw."""
    if not is_drawable(values):
        raise ValueError(f"{name} must be below {LARGEST_DRAWN:g} in size to be drawn, got {np.max(np.abs(values)):g}")
