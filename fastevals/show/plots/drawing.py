"""How matplotlib draws a `Picture` on axes; more of it may be drawn on the same axes later."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from fastevals.show.plots import style
from fastevals.show.plots.picture import (
    COLORS,
    DARKEST,
    MIDDLE,
    AxisScale,
    Bar,
    CurveLine,
    Entry,
    Mark,
    Outline,
    Picture,
    Reference,
    Ring,
    Shade,
    Span,
    Squares,
    ThinLines,
    as_deviate,
    as_rate,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


INK = COLORS[0]  # of squares
LARGEST = 12.0  # points, of text in squares


class _Drawn(NamedTuple):
    """A picture, and the artist of each of its marks that is drawn."""

    picture: Picture
    artists: list[Any]


_DRAWN_ON: WeakKeyDictionary[Any, _Drawn] = WeakKeyDictionary()


def picture_on(ax: Axes) -> Picture:
    """Return the picture that was drawn on axes, to be added to; a new one where there is none, or it was cleared."""
    drawn = _DRAWN_ON.get(ax)
    if drawn is None or not {*drawn.artists} <= {*ax.get_children()}:
        drawn = _DRAWN_ON[ax] = _Drawn(Picture(), [])
    drawn.picture.columns = style.count_columns(ax)
    return drawn.picture


def show(picture: Picture, ax: Axes, title: str | None = None) -> Axes:
    """Draw what is not yet drawn of a picture, set the axes, and place the legend."""
    drawn = _DRAWN_ON.get(ax)
    if drawn is None or drawn.picture is not picture:
        drawn = _DRAWN_ON[ax] = _Drawn(picture, [])
    for mark, artist in zip(picture.marks, drawn.artists, strict=False):
        if isinstance(mark, Reference) and mark.hidden:
            artist.set(data=([], []), label="_differs")
    drawn.artists.extend([_draw(ax, mark) for mark in picture.marks[len(drawn.artists) :]])
    _set_axis(ax, "x", picture.x)
    _set_axis(ax, "y", picture.y)
    if picture.equal and picture.x.kind == "linear":
        ax.set_aspect("equal")
    elif picture.equal:
        ax.set_box_aspect(1)
    if picture.strip is not None:
        _draw_strip(ax, picture.strip, picture.strip_height)
    style.finish(ax, picture.x.label, picture.y.label, picture.legend, title)
    if picture.strip is not None:
        ax.yaxis.label.set_y((1 + picture.strip_height) / 2)  # beside what is above: the strip has a label of its own
    return ax


def _set_axis(ax: Axes, name: str, scale: AxisScale) -> None:
    axis = ax.xaxis if name == "x" else ax.yaxis
    limits = scale.low, scale.high
    ax.set(**{f"{name}lim": limits})
    set_scale: Any = ax.set_xscale if name == "x" else ax.set_yscale
    if scale.kind == "deviate":
        set_scale("function", functions=(as_deviate, as_rate))
    elif scale.kind == "log":
        set_scale("log")
    if scale.ticks is not None:
        labels = scale.tick_labels
        axis.set_ticks(scale.ticks, labels=None if labels is None else [style.as_written(label) for label in labels])
        axis.set_ticks([], minor=True)
        ax.set(**{f"{name}lim": limits})  # which ticks outside would widen


def _draw(ax: Axes, mark: Mark) -> Any:
    """Draw a mark; return its artist."""
    if isinstance(mark, CurveLine):
        line = style.draw_curve(ax, mark.x, mark.y, style.as_written(mark.label), mark.look)
        line.set(marker="o" if mark.ringed else "", markersize=5)
        return line
    if isinstance(mark, Reference):
        label = "_differs" if mark.hidden else mark.label
        return style.draw_reference(ax, mark.x, mark.y, label, dotted=mark.dotted)
    if isinstance(mark, Ring):
        return style.mark_point(ax, mark.x, mark.y, mark.look.color, filled=mark.filled)
    if isinstance(mark, Bar):
        return _draw_bar(ax, mark)
    if isinstance(mark, Outline):
        return _draw_outline(ax, mark)
    if isinstance(mark, Shade):
        return _draw_shade(ax, mark)
    if isinstance(mark, ThinLines):
        return _draw_thin_lines(ax, mark)
    if isinstance(mark, Span):
        return _draw_span(ax, mark)
    if isinstance(mark, Squares):
        return _draw_squares(ax, mark)
    return _draw_entry(ax, mark)


def _draw_shade(ax: Axes, shade: Shade) -> Any:
    options: dict[str, Any] = {"color": shade.look.color, "alpha": style.SHADE, "linewidth": 0, "label": "_band"}
    return ax.fill_between(shade.x, shade.low, shade.high, zorder=1.5, **options)


def _draw_bar(ax: Axes, bar: Bar) -> Any:
    return ax.plot(
        [bar.low, bar.high], [bar.y] * 2, color=bar.look.color, linewidth=1.8, marker="|", markersize=7, label="_bar",
        gid=style.BAR,
    )[0]  # fmt: skip


def _draw_thin_lines(ax: Axes, lines: ThinLines) -> Any:
    from matplotlib.collections import LineCollection

    options: dict[str, Any] = {"colors": lines.look.color, "linewidths": lines.width, "alpha": lines.opacity}
    return ax.add_collection(LineCollection(list(lines.paths), **options, zorder=2.2, label=f"_{lines.name}"))


def _draw_outline(ax: Axes, outline: Outline) -> Any:
    options: dict[str, Any] = {"color": outline.look.color, "label": outline.label or "_outline"}
    if outline.filled:
        return ax.stairs(np.nan_to_num(outline.heights), outline.edges, fill=True, alpha=2 * style.SHADE, **options)
    return ax.stairs(outline.heights, outline.edges, baseline=None, linewidth=1.5, **options)


def _draw_span(ax: Axes, span: Span) -> Any:
    if not math.isnan(span.low):
        ax.plot([span.low, span.high], [span.y] * 2, color=span.look.color, linewidth=1.8, marker="|", markersize=7)
    return style.mark_point(ax, span.value, span.y, span.look.color, filled=True)


def _draw_squares(ax: Axes, squares: Squares) -> Any:
    """Colour squares, and write in them as large as there is room."""
    from matplotlib.colors import to_rgb

    shades = DARKEST * squares.darkness[..., np.newaxis]
    image = ax.imshow(1 - shades * (1 - np.array(to_rgb(INK))), aspect="equal", zorder=1)
    rows, columns = squares.darkness.shape
    side = min(size / n for size, n in zip(style.size_in_points(ax), (columns, rows), strict=True))
    longest = max((len(line) for row in squares.lines for lines in row for line in lines), default=1)
    size = min(LARGEST, side / (0.65 * longest))
    for row in range(rows):
        for column in range(columns):
            color = "white" if squares.darkness[row, column] > MIDDLE else "black"
            text = "\n".join(squares.lines[row][column])
            ax.text(column, row, text, ha="center", va="center", color=color, fontsize=size)
    return image


def _draw_entry(ax: Axes, entry: Entry) -> Any:
    if entry.marker == "shade":
        return ax.fill_between([], [], color=entry.color, alpha=2 * style.SHADE, linewidth=0, label=entry.label)
    return ax.plot([], [], color=entry.color, linewidth=0.9, marker=entry.marker, markersize=7, label=entry.label)[0]


# The strip at the foot ------------------------------------------------------------------------------------------------

STRIP = "fastevals-strip"  # gid


def _draw_strip(ax: Axes, strip: Picture, height: float) -> None:
    """Draw a picture on the same x inside the axes, at their foot."""
    from matplotlib.ticker import NullFormatter

    inset: Any = next((child for child in ax.child_axes if child.get_gid() == STRIP), None)
    if inset is None:
        inset = ax.inset_axes((0, 0, 1, height), sharex=ax)
        inset.set_gid(STRIP)
        inset.tick_params(axis="x", bottom=False, labelbottom=False)
        inset.grid(True, color="#e6e6e6", linewidth=0.8)
        inset.set_axisbelow(True)
        inset.spines["right"].set_visible(False)
    n_drawn = len(inset.patches)
    for mark in strip.marks[n_drawn:]:
        _draw(inset, mark)
    inset.set_yscale(strip.y.kind)
    if not math.isnan(strip.y.low):
        inset.set_ylim(strip.y.low, strip.y.high)
    inset.yaxis.set_minor_formatter(NullFormatter())
    inset.set_ylabel(strip.y.label)
