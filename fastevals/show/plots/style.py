"""How pictures look: colours, lines, marks, labels and legends; and where matplotlib comes in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from fastevals._options import check_choice, import_optional, show
from fastevals._text import printable, shorten_name
from fastevals._validation.curves import _kind, as_named
from fastevals.counts import ThresholdCounts
from fastevals.infer.bands import ConfidenceBand
from fastevals.measure.ranking.base import BaseRanking
from fastevals.show.plots.thinning import COLUMNS, thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.transforms import Bbox

LARGEST_DRAWN = 1e150  # squares of larger numbers are no longer finite
SQUARE, WIDE, TALL = (6.4, 6.4), (6.4, 4.8), (6.4, 8.6)  # inches; 800 pixels wide at 125 a inch

# Okabe and Ito (2008), https://jfly.uni-koeln.de/color/, without the yellow, which is pale on white. 7 colours and 5
# kinds of line: 35 models before two look alike.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (1.5, 1.2)), (0, (3, 1, 1, 1, 1, 1)))
GREY = "#767676"
BELOW = "under"  # place of a legend: below the axes
CURVE, BAR, SHARED = "fastevals-curve", "fastevals-bar", "fastevals-shared"  # gids of lines
BAR_STEP = 0.015  # between bars, on the y axis
MOST_INSIDE = 3  # models; the legend of more is below the axes
LEGEND_ROW = 0.22  # inches: of an entry
SHADE = 0.16  # opacity of a band
BAND_METHODS = {"kolmogorov": "Kolmogorov"}  # as legends write them, where not as they are
LONGEST_NAME = 40  # characters of a name in a legend

ABOVE = 22.0  # points over the axes: of a title above other text
ROUNDS = 3  # of fitting a legend: letters are not as wide as their size says
SMALLEST_FONT = 5.5  # points, of a legend that is wider than its part of the figure
MOST_WIDE = 0.96  # of its part of the figure, that a legend takes
LEAST_HIGH = 0.3  # of its place, that axes keep above their legend

Style = tuple[Any, Any]  # colour, kind of line
Models = Sequence[tuple[str | None, Any]]  # curves by name, one alone without
C = TypeVar("C")
Drawn: TypeAlias = C | BaseRanking | Mapping[str, C | BaseRanking]  # what `plot_...` of a kind of curve takes


def require_matplotlib() -> None:
    """Raise unless matplotlib can be imported."""
    import_optional("matplotlib", "pictures need matplotlib: pip install 'fastevals[plots]'")


def figure_size(size: tuple[float, float], n_models: int) -> tuple[float, float]:
    """Return a figure's size in inches, with room for a legend below where models are many."""
    return (size[0], size[1] + (LEGEND_ROW * (n_models + 3) if n_models > MOST_INSIDE else 0.0))


def get_axes(ax: Any, size: tuple[float, float], n_models: int) -> Axes:
    """Return the axes to draw on, new ones of pyplot's where none are given."""
    require_matplotlib()
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=figure_size(size, n_models), layout="constrained")[1]
        return cast("Axes", ax)
    from matplotlib.axes import Axes

    _check_axes("ax", ax, Axes)
    return cast("Axes", ax)


def count_columns(ax: Axes) -> int:
    """Return the columns that a line is thinned to: at least four a pixel."""
    return max(COLUMNS, 4 * math.ceil(ax.get_window_extent().width))


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes in points, after the figure's layout."""
    figure: Any = ax.figure.figure
    figure.draw_without_rendering()
    box = ax.get_window_extent()
    return box.width * 72 / figure.dpi, box.height * 72 / figure.dpi


def as_models(name: str, curves: Any, kind: type, make: Callable[[Any], Any], label: str | None = None) -> Models:
    """Return the curves of an argument by name, computing those of rankings; `label` names a single one."""

    def as_curve(value: Any) -> Any:
        return make(value) if isinstance(value, BaseRanking) else value

    several = isinstance(curves, Mapping)
    curves = {key: as_curve(value) for key, value in curves.items()} if several else as_curve(curves)
    return label_models(label, as_named(name, curves, kind, "Ranking"), several)


def label_models(label: str | None, models: Models, several: bool) -> Models:
    """Name a single model, which has no name, by `label`."""
    if label is None:
        return models
    if several or not isinstance(label, str):
        raise ValueError(f"label must be the name of one that has none; a mapping has names, got {show(label)}")
    return [(label, each) for _, each in models]


def styled_models(ax: Axes, models: Models, color: Any = None) -> Iterator[tuple[str | None, Any, Style]]:
    """Yield each defined model with its style, by `color` or the next; write the others in the legend as undefined."""
    colors = _colors_for(color, models)
    for name, each in models:
        k = sum(line.get_gid() == CURVE for line in ax.lines)
        look = colors.get(name, COLORS[k % len(COLORS)]), LINES[k % len(LINES)]
        if each.defined:
            yield name, each, look
        else:
            draw_curve(ax, [], [], legend_label(name, "undefined"), look)


def _colors_for(color: Any, models: Models) -> dict[str | None, Any]:
    """Return the colours of `color` by the models' names."""
    if color is None:
        return {}
    from matplotlib.colors import is_color_like

    names = [name for name, _ in models]
    if not isinstance(color, Mapping):
        if len(names) > 1:
            raise ValueError(f"color must be a mapping of names to colours where there are several, got {color!r}")
        color = {names[0]: color}
    for name, each in color.items():
        check_choice("each name in color", name, names)
        if not is_color_like(each):
            raise ValueError(f"color must be one that matplotlib knows ('#0072B2', 'red'), got {show(each)}")
    return dict(color)


def legend_label(name: str | None, *values: str) -> str:
    """Return a legend's entry: the name and some values, as text."""
    text = ", ".join(value for value in values if value)
    if not name:
        return text
    short = shorten_name(printable(name), LONGEST_NAME).replace("$", r"\$")  # no formula
    label = f"{short}: {text}" if text else short
    return f" {label}" if label.startswith("_") else label  # matplotlib would hide it without the space


def number(name: str, value: float) -> str:
    """Format a value with its name; as no text where it is undefined."""
    return "" if math.isnan(value) else f"{name} {value:.3f}" if abs(value) < 1e6 else f"{name} {value:.3g}"


def draw_curve(ax: Axes, x: ArrayLike, y: ArrayLike, label: str, style: Style) -> None:
    """Draw a model's curve."""
    ax.plot(x, y, color=style[0], linestyle=style[1], linewidth=1.8, label=label, gid=CURVE, zorder=2.5)


def as_bands(band: Any, models: Models, curve: str, label: str | None = None) -> dict[str | None, ConfidenceBand]:
    """Return the bands by their models' names; raise unless they are of the kind of curve that is drawn."""
    if band is None:
        return {}
    bands = dict(as_named("band", band, ConfidenceBand))
    names = [None] if label is not None else [name for name, _ in models]
    for name, each in bands.items():
        if name is None and names != [None]:
            raise ValueError("band must be a mapping of the models' names to bands where curve is a mapping, got one")
        if name is not None and names == [None]:
            raise ValueError("band must be one ConfidenceBand where curve is one, got a mapping of names to them")
        check_choice("each name in band", name, names)
        check_choice("band.curve" if name is None else f"band[{name!r}].curve", each.curve, [curve])
    return {label if name is None else name: each for name, each in bands.items()}


def draw_band(ax: Axes, band: ConfidenceBand | None, columns: int, style: Style) -> None:
    """Draw a model's band, if it has one."""
    if band is not None:
        x, low = thinned(band.x, band.low, columns)
        _, high = thinned(band.x, band.high, columns)
        ax.fill_between(x, low, high, color=style[0], alpha=SHADE, linewidth=0, zorder=1.5, label="_band")


def add_band_entries(ax: Axes, bands: Iterable[ConfidenceBand]) -> None:
    """Explain the shadings in the legend, each once."""
    for band in bands:
        label = f"{100 * band.confidence_level:g} % {band.kind} band ({BAND_METHODS.get(band.method, band.method)})"
        if label not in (each.get_label() for each in ax.collections):
            ax.fill_between([], [], color=GREY, alpha=2 * SHADE, linewidth=0, label=label)


def draw_reference(ax: Axes, x: ArrayLike, y: ArrayLike, label: str, *, dotted: bool = False) -> None:
    """Draw a grey line to compare with, once on the same axes."""
    if label not in (each.get_label() for each in ax.lines):
        _draw_grey(ax, x, y, label, dotted)


def _draw_grey(ax: Axes, x: ArrayLike, y: ArrayLike, label: str, dotted: bool, gid: str | None = None) -> None:
    pattern: Any = (0, (1, 2)) if dotted else (0, (4, 3))
    ax.plot(x, y, color=GREY, linestyle=pattern, linewidth=1.1, label=label, zorder=2, gid=gid)


def draw_shared_reference(ax: Axes, points: tuple[Any, Any] | None, label: str, *, dotted: bool = False) -> None:
    """Draw a reference that depends on the models; hide it where theirs differ, or an earlier call's does."""
    gid = f"{SHARED}-{label}"
    for each in ax.lines:
        if each.get_gid() == gid:
            if points is None or not np.array_equal(each.get_xydata(), np.stack(points, axis=1), equal_nan=True):
                each.set(data=([], []), label="_differs")
            return
    x, y = points or ([], [])
    _draw_grey(ax, x, y, "_differs" if points is None else label, dotted, gid=gid)


def add_legend_entry(ax: Axes, label: str, color: Any = GREY, marker: str = "") -> None:
    """Explain a thin or marked line in the legend, once."""
    if label not in (each.get_label() for each in ax.lines):
        ax.plot([], [], color=color, linewidth=0.9, marker=marker, markersize=7, label=label)


def mark_point(ax: Axes, x: float, y: float, style: Style) -> None:
    """Mark a point of a model's curve."""
    if not (math.isnan(x) or math.isnan(y)):
        ax.plot(
            [x], [y], linestyle="none", marker="o", markersize=7, markerfacecolor="white", markeredgecolor=style[0],
            markeredgewidth=1.8, zorder=3, label="_mark",
        )  # fmt: skip


def finish(ax: Axes, x_label: str, y_label: str, legend: str = "best", title: str | None = None) -> None:
    """Add labels, a light grid and the legend: below the axes where there is no room for it inside."""
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.grid(True, color="#e6e6e6", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    set_title(ax, title, above=bool(ax.get_title("left") or ax.get_title("right")))
    if any(ax.get_legend_handles_labels()[1]):
        many = sum(each.get_gid() == CURVE for each in ax.lines) > MOST_INSIDE
        inside = [] if legend == BELOW or many else list(dict.fromkeys([legend, "best"]))
        if all(_hides_data(ax, _legend(ax, loc=place)) for place in inside):
            _put_legend_below(ax)


def set_title(ax: Axes, title: str | None, *, above: bool = False) -> None:
    """Write a title over the axes, above other text where there is some."""
    if title is not None:
        if not isinstance(title, str):
            raise ValueError(f"title must be a string, got {show(title)}")
        ax.set_title(printable(title).replace("$", r"\$"), pad=ABOVE if above else None)


def _legend(ax: Axes, **options: Any) -> Legend:
    defaults: dict[str, Any] = {"fontsize": "medium", "framealpha": 0.85, "edgecolor": "none", "handlelength": 2.8}
    return ax.legend(**defaults | options)


def _hides_data(ax: Axes, legend: Legend) -> bool:
    """Return whether a legend is over a model's curve or band, or past the axes, as these are now."""
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
    ax.set_anchor("N")  # room that the aspect leaves goes to the legend
    if ax.get_axes_locator() is None and ax.figure.figure.get_layout_engine() is None:
        ax.set_axes_locator(_AboveLegend(ax))


def _width_for_legend(ax: Axes) -> float:
    """Return the most pixels a legend may be wide: with a layout the axes' share of the figure, else up to the next."""
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
    """Locator that leaves the lower part of the axes' place to the legend, in figures without a layout engine."""

    def __init__(self, ax: Axes) -> None:
        self.ax = ax

    def get_subplotspec(self) -> Any:
        """Return the place in the grid, which a layout that comes later asks for."""
        return self.ax.get_subplotspec()

    def __call__(self, ax: Any, renderer: Any) -> Bbox:
        """Return the place of the axes in the figure."""
        from matplotlib.transforms import Bbox

        place, legend = ax.get_position(original=True), ax.get_legend()
        if legend is None or ax.figure.figure.get_layout_engine() is not None:
            return cast("Bbox", place)
        bottom = place.y0 + legend.get_window_extent(renderer).height / ax.figure.bbox.height
        return Bbox.from_extents(place.x0, min(bottom, place.y1 - LEAST_HIGH * place.height), place.x1, place.y1)


def common_share(models: Iterable[tuple[Any, Any]]) -> float | None:
    """Return the share of positives where it is the same for all defined models, else None."""
    shares = (share_of_positives(each.counts) for _, each in models if each.defined)
    return cast("float | None", common_value(shares))


def share_of_positives(counts: ThresholdCounts) -> float:
    """Return the share of positives of counts that have rows."""
    return counts.n_pos / (counts.n_pos + counts.n_neg)


def common_value(values: Iterable[Any]) -> Any:
    """Return the value that all have in common, None where they differ or there are none."""
    first, *others = list(values) or [None]
    return first if all(np.array_equal(first, other) for other in others) else None


def has_curves(ax: Axes) -> bool:
    """Return whether curves were drawn before."""
    return any(line.get_gid() == CURVE for line in ax.lines)


def draw_bar(ax: Axes, low: float, high: float, style: Style) -> None:
    """Draw a range of x as a bar below zero, each model's under the last."""
    y = bottom_of_bars(ax) + BAR_STEP / 2
    ax.plot([low, high], [y, y], color=style[0], linewidth=1.8, marker="|", markersize=7, label="_bar", gid=BAR)


def bottom_of_bars(ax: Axes) -> float:
    """Return the y below all bars."""
    return BAR_STEP * -(1.5 + sum(each.get_gid() == BAR for each in ax.lines))


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_axes(name: str, value: Any, kind: type) -> None:
    """Raise unless a place to draw is one Axes."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a matplotlib Axes, got {_kind(value)}")


def is_drawable(values: Any) -> bool:
    """Return whether all numbers are small enough for an axis."""
    return bool((np.abs(values) < LARGEST_DRAWN).all())


def check_drawable(name: str, values: Any) -> None:
    """Raise unless numbers are small enough for an axis."""
    if not is_drawable(values):
        raise ValueError(f"{name} must be below {LARGEST_DRAWN:g} in size to be drawn, got {np.max(np.abs(values)):g}")
