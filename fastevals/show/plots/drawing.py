"""Draw a `Picture` on matplotlib axes; later calls can add to the same axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from fastevals._text import shorten_names
from fastevals.document.picture import (
    BOLD_LINES,
    COLORS,
    DARKEST,
    MIDDLE,
    Arrow,
    AxisScale,
    Bar,
    Box,
    CurveLine,
    Entry,
    Mark,
    Outline,
    Picture,
    Reference,
    Ring,
    Shade,
    Side,
    Span,
    Squares,
    Text,
    ThinLines,
    as_deviate,
    as_rate,
    lines_between,
)
from fastevals.show.plots import style
from fastevals.show.plots.fonts import fonts_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes


INK, OPPOSITE = COLORS[0], COLORS[1]  # of squares
SMALLEST_TEXT, LARGEST_TEXT = 5.5, 12.0  # points, of text in squares: with signs, smaller text is left out
SIGNS = {"dot": "o", "cross": "x"}  # matplotlib's names
TINT = 0.07  # opacity of a tinted side
FONT = 10.0  # points: size of names that have room
ACROSS, LINE = 8.0, 13.0  # points: width of a character in horizontal names, width of a turned name
LONGEST_TURNED = 16  # characters
GAP = 4.0  # points between a point and the words next to it

# In diagrams
NOTE = 1.4  # rows for the note below
SIDES = 0.3  # largest share of the width for the names on a side
SLACK = 1.04  # text widths differ by a few per cent between resolutions


class _Drawn(NamedTuple):
    """A picture and the artists of the marks drawn so far."""

    picture: Picture
    artists: list[Any]


_DRAWN_ON: WeakKeyDictionary[Any, _Drawn] = WeakKeyDictionary()


def picture_on(ax: Axes) -> Picture:
    """Return the picture drawn on the axes, to add more to it; a new picture if the axes are empty or were cleared."""
    drawn = _DRAWN_ON.get(ax)
    if drawn is None or not {*drawn.artists} <= {*ax.get_children()}:
        drawn = _DRAWN_ON[ax] = _Drawn(Picture(), [])
    drawn.picture.columns = style.count_columns(ax)
    return drawn.picture


def show(picture: Picture, ax: Axes, title: str | None = None) -> Axes:
    """Draw the marks that are not drawn yet, set the axes and place the legend."""
    with fonts_for([picture, title], ax):
        return _show(picture, ax, title)


def _show(picture: Picture, ax: Axes, title: str | None) -> Axes:
    drawn = _DRAWN_ON.get(ax)
    if drawn is None or drawn.picture is not picture:
        drawn = _DRAWN_ON[ax] = _Drawn(picture, [])
    for mark, artist in zip(picture.marks, drawn.artists, strict=False):
        if isinstance(mark, Reference) and mark.hidden:
            artist.set(data=([], []), label="_differs")
    if picture.diagram:
        drawn.artists.extend(_draw_diagram(ax, picture))
        style.set_title(ax, title)
        return ax
    squares = next((mark for mark in picture.marks if isinstance(mark, Squares)), None)
    set_axis(ax, "y", picture.y)
    set_axis(ax, "x", picture.x, every=squares is not None)
    drawn.artists.extend([draw_mark(ax, mark) for mark in picture.marks[len(drawn.artists) :]])
    if picture.equal and picture.x.kind == "linear":
        ax.set_aspect("equal")
    elif picture.equal:
        ax.set_box_aspect(1)
    if picture.strip is not None:
        _draw_strip(ax, picture.strip, picture.strip_height)
    labels = style.as_written(picture.x.label), style.as_written(picture.y.label)
    style.finish(ax, *labels, picture.legend, title)
    if picture.note:
        legend: Any = ax.get_legend()
        legend.set(title=style.as_written(picture.note), alignment="left")
    if squares is not None:
        ax.grid(visible=False)  # squares have lines between them
    elif picture.y.tick_labels and picture.y.kind == "linear":  # empty if nothing is defined
        ax.tick_params("y", labelsize=min(FONT, 0.72 * style.size_in_points(ax)[1] / len(picture.y.tick_labels)))
    if picture.strip is not None:
        ax.yaxis.label.set_y((1 + picture.strip_height) / 2)  # next to the upper part: the strip has its own label
    return ax


def set_axis(ax: Axes, name: Literal["x", "y"], scale: AxisScale, *, every: bool = False) -> None:
    """Set the given label, scale, limits and ticks of an axis; with `every`, write all names along x."""
    axis: Any = ax.xaxis if name == "x" else ax.yaxis
    axis.set_label_text(style.as_written(scale.label))
    limits = {} if math.isnan(scale.low) else {f"{name}lim": (scale.low, scale.high)}
    ax.set(**limits)
    set_scale: Any = ax.set_xscale if name == "x" else ax.set_yscale
    if scale.kind == "deviate":
        set_scale("function", functions=(as_deviate, as_rate))
    elif scale.kind == "log":
        set_scale("log")
    elif scale.kind == "symlog":
        set_scale("symlog", linthresh=scale.linear_to)
    if scale.whole:
        ax.locator_params(axis=name, integer=True)
    if scale.ticks is not None:
        if name == "x" and scale.tick_labels is not None and scale.kind == "linear":
            _set_names(ax, scale.ticks, list(scale.tick_labels), every=every)
        else:
            labels = scale.tick_labels
            axis.set_ticks(scale.ticks, labels=None if labels is None else list(map(style.as_written, labels)))
        axis.set_ticks([], minor=True)
        ax.set(**limits)  # again, since ticks outside widen them


def _set_names(ax: Axes, ticks: Sequence[float], names: list[str], *, every: bool) -> None:
    """Write names along x, turned if they are too wide; turned names are cut and thinned out unless `every`."""
    (width, height), step = style.size_in_points(ax), 1
    width = min(width, height) if every else width
    across = len(names) * max(map(len, names)) * ACROSS < width
    if not across and not every:
        names, step = shorten_names(names, LONGEST_TURNED), math.ceil(len(names) * LINE / width)
    ax.set_xticks(ticks[::step], list(map(style.as_written, names[::step])), rotation=0 if across else 90)


def draw_mark(ax: Axes, mark: Mark) -> Any:
    """Draw a mark; return its artist."""
    if isinstance(mark, CurveLine):
        line = style.draw_curve(ax, mark.x, mark.y, style.as_written(mark.label), mark.look)
        line.set(marker="o" if mark.ringed else "", markersize=5)
        if not mark.joined:
            line.set(linestyle="none")
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
    if isinstance(mark, Box):
        return _draw_box(ax, mark)
    if isinstance(mark, Side):
        ax.set_title(mark.name, loc="left" if mark.is_left else "right", fontsize="medium", color=mark.look.color)
        return ax.axvspan(*mark.x, color=mark.look.color, alpha=TINT, linewidth=0, zorder=0.5)
    if isinstance(mark, Text):
        return _draw_text(ax, mark)
    if isinstance(mark, Arrow):
        marker, label = "<" if mark.to_left else ">", style.as_written(mark.label)
        return ax.plot(
            [mark.x], [mark.y], marker=marker, markersize=11, color=mark.look.color, linestyle="none", label=label,
            clip_on=False,
        )[0]  # fmt: skip
    return _draw_entry(ax, mark)


def _draw_shade(ax: Axes, shade: Shade) -> Any:
    alpha = 1.0 if shade.solid else style.SHADE
    options: dict[str, Any] = {"color": shade.look.color, "alpha": alpha, "linewidth": 0, "label": "_band"}
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


def _draw_box(ax: Axes, box: Box) -> Any:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    (left, right), (bottom, top), color = box.x, box.y, box.look.color
    options: dict[str, Any] = {"facecolor": to_rgba(color, box.opacity), "edgecolor": color, "zorder": 1.5}
    width = 0.8 if box.edged else 0.0
    return ax.add_patch(Rectangle((left, bottom), right - left, top - bottom, linewidth=width, **options))


def _draw_text(ax: Axes, text: Text) -> Any:
    words, weight = style.as_written(text.words), "bold" if text.bold else "normal"
    if text.align == "center":
        return ax.text(text.x, text.y, words, ha="center", va="bottom", weight=weight)
    return ax.annotate(
        words, (text.x, text.y), (GAP if text.align == "left" else -GAP, 0), textcoords="offset points",
        annotation_clip=False, ha=text.align, va="center_baseline", weight=weight,
    )  # fmt: skip


def _draw_entry(ax: Axes, entry: Entry) -> Any:
    color, label = entry.color, style.as_written(entry.label)
    if entry.marker in ("shade", "solid"):
        alpha = 2 * style.SHADE if entry.marker == "shade" else 1.0
        return ax.fill_between([], [], color=color, alpha=alpha, linewidth=0, label=label)
    if entry.marker in SIGNS:
        return ax.scatter([], [], s=20, color=color, marker=SIGNS[entry.marker], label=label)
    if entry.marker == "none":
        return ax.plot([], [], linestyle="none", label=label)[0]
    return ax.plot([], [], color=color, linewidth=0.9, marker=entry.marker, markersize=7, label=label)[0]


# Squares --------------------------------------------------------------------------------------------------------------


def _draw_squares(ax: Axes, squares: Squares) -> Any:
    """Colour squares, draw lines between them, write in them if there is room, and add signs."""
    rows, columns = squares.darkness.shape
    image = ax.imshow(_colors(squares.darkness, squares.opposite), aspect="equal", zorder=1)
    lines: dict[str, Any] = {"color": "#d0d0d0", "linewidth": 0.8, "zorder": 1.2}
    ax.hlines(np.array(lines_between(rows)) - 0.5, -0.5, columns - 0.5, **lines)
    ax.vlines(np.array(lines_between(columns)) - 0.5, -0.5, rows - 0.5, **lines)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0)
    if squares.scale is not None:
        _draw_darkness(ax, squares.scale, squares.level)
    width, height = style.size_in_points(ax)
    side = min(width / columns, height / rows)
    ax.tick_params(labelsize=min(FONT, 0.8 * side * rows / max(len(ax.get_yticks()), 1)))
    longest = max((len(line) for row in squares.lines for lines in row for line in lines), default=0)
    size = min(LARGEST_TEXT, side / (0.65 * max(longest + bool(squares.signs), 1)))
    is_written = longest > 0 and (not squares.signs or size >= SMALLEST_TEXT)
    is_bold = squares.signs.get("dot", np.zeros((rows, columns), dtype=bool))
    inks = np.where(squares.darkness > MIDDLE, "white", "black")
    for row, column in product(range(rows), range(columns)) if is_written else ():
        text = "\n".join(squares.lines[row][column])
        if text:
            ax.text(
                column, row, text, ha="center", va="center", color=inks[row, column], fontsize=size,
                weight="bold" if is_bold[row, column] else "normal",
            )  # fmt: skip
    has_room = np.array([[not is_written or len(lines) < BOLD_LINES for lines in row] for row in squares.lines])
    for sign, places in squares.signs.items():
        y, x = np.nonzero(places & has_room if sign == "dot" else places)
        right, up = (0.36, 0.34) if is_written and sign == "dot" else (0.0, 0.0)
        options: dict[str, Any] = {"c": inks[y, x], "marker": SIGNS[sign], "linewidth": 1.0}
        if x.size:
            ax.scatter(x + right, y - up, s=(0.13 * side) ** 2, **options)
    return image


def _colors(darkness: Any, opposite: Any = None) -> Any:
    """Return the colours of squares; blank ones are white."""
    from matplotlib.colors import to_rgb

    inks = np.array([to_rgb(INK), to_rgb(OPPOSITE)])
    ink = inks[np.zeros(darkness.shape, dtype=int) if opposite is None else opposite.astype(int)]
    return 1 - DARKEST * np.nan_to_num(darkness)[..., np.newaxis] * (1 - ink)


def _draw_darkness(ax: Axes, scale: AxisScale, level: float) -> None:
    """Draw the scale of darkness next to the squares, with a line at the significance level."""
    inset: Any = ax.inset_axes((1.04, 0.0, 0.045, 1.0))
    shades = np.linspace(scale.low, scale.high, 256)[:, np.newaxis]
    inset.imshow(_colors(np.abs(shades), shades < 0), aspect="auto", extent=(0, 1, scale.high, scale.low))
    inset.set_yticks(scale.ticks, scale.tick_labels)
    inset.set_xticks([])
    inset.yaxis.tick_right()
    inset.yaxis.set_label_position("right")
    inset.set_ylabel(scale.label)
    if not math.isnan(level):
        inset.axhline(level, color="black", linewidth=1.6)


# Diagrams -------------------------------------------------------------------------------------------------------------


def _draw_diagram(ax: Axes, picture: Picture) -> list[Any]:
    """Draw a diagram with words in the largest size that fits; return the marks' artists."""
    low, high = picture.y.low - (NOTE if picture.note else 0.0), picture.y.high
    ax.set_axis_off()
    ax.set_ylim(low, high)
    artists = [draw_mark(ax, mark) for mark in picture.marks]
    width, height = style.size_in_points(ax)
    row = height / (high - low)
    size = _fit_sides(ax, picture.x, [text for text in artists if text in ax.texts], width, row)
    for mark, lines in zip(picture.marks, artists, strict=True):
        if isinstance(mark, ThinLines):
            lines.set_linewidth(min(mark.width, 0.3 * row))
    _draw_ruler(ax, picture.x, width, size)
    note = ax.text(0.5, 0.0, picture.note, transform=ax.transAxes, ha="center", va="bottom", color="#404040")
    note.set_fontsize(0.9 * size * min(1.0, width / _text_width([note], 0.9 * size)))
    for text in ax.texts:
        text.set_in_layout(False)  # they fit within the axes
    return artists


def _fit_sides(ax: Axes, scale: AxisScale, texts: list[Any], width: float, row: float) -> float:
    """Reserve room for the words on both sides; return their size."""
    size = min(FONT, 0.72 * row)
    sides = {side: [text for text in texts if text.get_ha() == side] for side in ("right", "left")}
    size *= min([1.0, *(SIDES * width / _text_width(side, size) for side in sides.values() if side)])
    for text in texts:
        text.set_fontsize(size)
    left, right = (_text_width(side, size) + 2 * GAP if side else 0.0 for side in sides.values())
    unit = (scale.high - scale.low) / max(width - left - right, 1.0)
    ax.set_xlim(scale.low - left * unit, scale.high + right * unit)
    return size


def _draw_ruler(ax: Axes, scale: AxisScale, width: float, size: float) -> None:
    """Draw the x axis at y = 0 with its ticks, as many numbers as fit, and its label above."""
    ticks = list(scale.ticks or ())
    ax.plot([ticks[0], ticks[-1]], [0, 0], color="black", linewidth=1.2, label="_axis")
    numbers = [ax.text(tick, 0.35, f"{tick:g}", ha="center", va="bottom") for tick in ticks]
    unit = width / abs(np.subtract(*ax.get_xlim())) * abs(ticks[-1] - ticks[0]) / max(len(ticks) - 1, 1)
    step = math.ceil(1.3 * _text_width(numbers, size) / unit)
    for k, (tick, number) in enumerate(zip(ticks, numbers, strict=True)):
        number.set_visible(k % step == 0)
        ax.plot([tick, tick], [0, 0.15 if k % step else 0.25], color="black", linewidth=1.0, label="_tick")
    ax.text((ticks[0] + ticks[-1]) / 2, 1.3, scale.label, ha="center", va="bottom", fontsize=size)


def _text_width(texts: list[Any], size: float) -> float:
    """Set the size of texts; return the largest width in points."""
    for text in texts:
        text.set_fontsize(size)
    return SLACK * max(float(text.get_window_extent().width * 72 / text.figure.figure.dpi) for text in texts)


# The strip at the bottom ----------------------------------------------------------------------------------------------

STRIP_GID = "fastevals-strip"  # gid


def _draw_strip(ax: Axes, strip: Picture, height: float) -> None:
    """Draw the strip, a low picture at the bottom of the axes that shares their x axis."""
    from matplotlib.ticker import NullFormatter

    inset: Any = next((child for child in ax.child_axes if child.get_gid() == STRIP_GID), None)
    if inset is None:
        inset = ax.inset_axes((0, 0, 1, height), sharex=ax)
        inset.set_gid(STRIP_GID)
        inset.tick_params(axis="x", bottom=False, labelbottom=False)
        inset.grid(True, color="#e6e6e6", linewidth=0.8)
        inset.set_axisbelow(True)
        inset.spines["right"].set_visible(False)
    n_drawn = len(inset.patches)
    for mark in strip.marks[n_drawn:]:
        draw_mark(inset, mark)
    inset.set_yscale(strip.y.kind)
    if not math.isnan(strip.y.low):
        inset.set_ylim(strip.y.low, strip.y.high)
    inset.yaxis.set_minor_formatter(NullFormatter())
    inset.set_ylabel(strip.y.label)
