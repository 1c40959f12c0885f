"""Draw a `Picture` as compact SVG, coloured by the page's style sheet and readable without it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from html import escape
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.document.page.canvas import (
    BOLD,
    EDGE,
    GAP,
    LARGEST_TEXT,
    NAMES,
    SIDE,
    SMALLEST_TEXT,
    TICKS,
    TURNED,
    Canvas,
    names_of,
    position,
    ticks_of,
)
from fastevals.document.page.letters import SIZE, cut, cut_names, titled, width, wrapped
from fastevals.document.page.paths import path
from fastevals.document.picture import (
    BOLD_LINES,
    COLORS,
    DARKEST,
    DASHES,
    MIDDLE,
    Arrow,
    AxisScale,
    Bar,
    Box,
    CurveLine,
    Entry,
    Look,
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
    lines_between,
)

Floats = NDArray[np.float64]

LINE, STRIP_PIXELS = 18, 12  # pixels: of a legend line, of the scale of squares
SHADES = 24  # steps of the scale of squares
LEAST_DARKNESS = 0.005  # of a square that is drawn without numbers
PAIR_SIZE = 10.5  # pixels: font size of names in two lines
OUTSIDE = (Ring, Squares, Text, Arrow)  # marks that may extend past the axes


def draw(picture: Picture, kind: str, label: str, name: str, across: float = SIDE) -> str:
    """Return a picture as SVG.

    Parameters
    ----------
    picture : Picture
    kind : str
        Name by which scripts find the picture.
    label : str
        Description for screen readers.
    name : str
        Identifier that is unique on the page.
    across : float
        Width of the axes in pixels.
    """
    canvas = Canvas(picture, across)
    foot, high = _foot(canvas)
    total = f"{canvas.total[0]:g} {high:g}"
    box = f"{canvas.left:g} {canvas.top} {canvas.width:g} {canvas.height:g}"
    axes = "".join(f' data-{each}="{_scale(scale)}"' for each, scale in (("x", picture.x), ("y", picture.y)))
    axes += ' data-keyed="yes"' * picture.keyed
    clip = f"clip-{name}"
    parts = [
        f'<svg viewBox="0 0 {total}" role="img" aria-label="{escape(label)}" '
        f'data-picture="{kind}" data-box="{box}"{axes}>',
        f'<clipPath id="{clip}"><rect {_rectangle(canvas)}/></clipPath>',
        *(_ruler(canvas) if picture.diagram else _axis(canvas)),
        "<g>" if picture.diagram else f'<g clip-path="url(#{clip})">',
        *(_mark(mark, canvas) for mark in picture.marks if not isinstance(mark, OUTSIDE)),
        *(_strip(picture.strip, canvas) if picture.strip is not None else []),
        '<g class="live"></g></g>',
        *(_mark(mark, canvas) for mark in picture.marks if isinstance(mark, OUTSIDE)),
        *(_name_side(mark, canvas) for mark in picture.marks if isinstance(mark, Side)),
        *foot,
        "</svg>",
    ]
    return "".join(parts)


def _rectangle(canvas: Canvas) -> str:
    return f'x="{canvas.left:g}" y="{canvas.top}" width="{canvas.width:g}" height="{canvas.height:g}"'


def _scale(scale: AxisScale) -> str:
    return f"{float(scale.low)!r} {float(scale.high)!r} {scale.kind}"


# Axes -----------------------------------------------------------------------------------------------------------------


def _axis(canvas: Canvas) -> list[str]:
    """Return the grid, ticks and labels of both axes."""
    picture, bottom, right = canvas.picture, canvas.top + canvas.height, canvas.left + canvas.width
    grid, texts = [], _texts_below(canvas)
    if canvas.squares is None:
        grid = [f"M{float(canvas.x(value)):.1f} {canvas.top}V{bottom:g}" for value, _ in _ticks_below(canvas)]
    beside = _texts_beside(canvas)
    for value, _ in ticks_of(picture.y, TICKS):
        at = float(canvas.y(value))
        if not picture.strip or at < bottom - canvas.strip:
            if canvas.squares is None:
                grid.append(f"M{canvas.left:g} {at:.1f}H{right:g}")
            texts.append(beside[value])
    middle = canvas.top + (canvas.height - canvas.strip) / 2
    room = canvas.total[0] - EDGE
    center = canvas.inside(canvas.left + canvas.width / 2, cut(picture.x.label, room, 13), 13)
    return [
        f'<path class="grid" d="{"".join(grid)}"/>' if grid else "",
        f'<path class="axis" d="M{canvas.left:g} {canvas.top}V{bottom:g}H{right:g}"/>' if grid else "",
        *texts,
        f'<text x="{center:g}" y="{canvas.total[1] - 8:g}" class="mid">{titled(picture.x.label, room, 13)}</text>'
        if picture.x.label
        else "",
        f'<text transform="translate(14 {middle:g}) rotate(-90)" class="mid">{escape(picture.y.label)}</text>'
        if picture.y.label
        else "",
    ]


def _ticks_below(canvas: Canvas) -> list[tuple[float, str]]:
    """Return the ticks below the axes, thinned out if they are too many."""
    ticks, size = ticks_of(canvas.picture.x, int(canvas.width / 80)), canvas.name_size
    if canvas.squares is not None or not ticks:
        return ticks
    widest = 1.15 * size if canvas.turned else max(width(label, size) for _, label in ticks) + 10
    return ticks[:: math.ceil(widest * len(ticks) / canvas.width)]


def _texts_beside(canvas: Canvas) -> dict[float, str]:
    """Return the labels of the y axis by value; the names of a pair get two lines if one line is too short."""
    scale, ticks = canvas.picture.y, ticks_of(canvas.picture.y, TICKS)
    size, x = SIZE if names_of(scale) is None else canvas.row_size, f'x="{canvas.left - 7:g}"'
    labels = [label for _, label in ticks]
    texts = {}
    for (value, label), short, full in zip(
        ticks, cut_names(labels, NAMES, size), scale.full_labels or labels, strict=True
    ):
        y, words = float(canvas.y(value)) + size / 3, titled(short, NAMES, size, full)
        lines = wrapped(label, NAMES, size) if short != label and canvas.squares is None else []
        if len(lines) == 2:
            first, second = map(escape, lines)
            words = (
                f'<tspan {x} dy="-6">{first}</tspan><tspan {x} dy="11">{second}</tspan><title>{escape(full)}</title>'
            )
        height = PAIR_SIZE if len(lines) == 2 else size
        texts[value] = f'<text {x} y="{y:.1f}" class="tick end"{_sized(height)}>{words}</text>'
    return texts


def _texts_below(canvas: Canvas) -> list[str]:
    """Return the numbers or names below the axes."""
    ticks, bottom, size = _ticks_below(canvas), canvas.top + canvas.height, canvas.name_size
    room = TURNED if canvas.turned else canvas.total[0] - EDGE
    texts = []
    for (value, label), short in zip(ticks, cut_names([label for _, label in ticks], room, size), strict=True):
        at = float(canvas.x(value))
        if canvas.turned:
            place = f'transform="translate({at + size / 3:.1f} {bottom + 8:g}) rotate(-90)" class="tick end"'
        else:
            place = f'x="{canvas.inside(at, label, size):.1f}" y="{bottom + 16:g}" class="tick mid"'
        texts.append(f"<text {place}{_sized(size)}>{titled(short, room, size, label)}</text>")
    return texts


def _sized(size: float) -> str:
    return "" if size == SIZE else f' style="font-size:{size:.1f}px"'


def _ruler(canvas: Canvas) -> list[str]:
    """Return a diagram's x axis, with its numbers and label above."""
    ticks, y = ticks_of(canvas.picture.x, 0), float(canvas.y(0.0))
    at = [float(canvas.x(value)) for value, _ in ticks]
    widest = max(width(label) for _, label in ticks) + 6
    step = math.ceil(widest * (len(ticks) - 1) / max(abs(at[-1] - at[0]), 1.0)) or 1
    lines = [f"M{at[0]:.1f} {y:.1f}H{at[-1]:.1f}"]
    texts = []
    for k, (x, (_, label)) in enumerate(zip(at, ticks, strict=True)):
        lines.append(f"M{x:.1f} {y:.1f}v{-3 if k % step else -5}")
        if k % step == 0:
            texts.append(f'<text x="{x:.1f}" y="{y - 8:.1f}" class="tick mid">{escape(label)}</text>')
    label = canvas.picture.x.label
    x = canvas.inside((at[0] + at[-1]) / 2, label)
    texts.append(f'<text x="{x:.1f}" y="{float(canvas.y(1.4)):.1f}" class="said mid">{escape(label)}</text>')
    return [f'<path class="ruler c6" d="{"".join(lines)}"/>', *texts]


# Marks ----------------------------------------------------------------------------------------------------------------


def _mark(mark: Mark, canvas: Canvas) -> str:
    if isinstance(mark, CurveLine):
        return _curve(mark, canvas)
    if isinstance(mark, Reference):
        if mark.hidden:
            return ""
        kind = "dotted" if mark.dotted else "dashed"
        return f'<path class="reference {kind}" d="{path(canvas.x(mark.x), canvas.y(mark.y))}"/>'
    if isinstance(mark, Ring):
        x, y = float(canvas.x(mark.x)), float(canvas.y(mark.y))
        kind = "at" if mark.filled else "ring"
        place = f' data-model="{mark.look.place}"' if mark.filled else ""
        return f'<circle class="{kind} {_classes(mark.look)}" cx="{x:.1f}" cy="{y:.1f}" r="5"{place}/>'
    if isinstance(mark, Bar):
        y = float(canvas.y(mark.y))
        if math.isnan(mark.low):
            return ""
        ends = canvas.x(np.array([mark.low, mark.high]))
        return f'<path class="bar {_classes(mark.look)}" d="M{ends[0]:.1f} {y:.1f}H{ends[1]:.1f}"/>'
    if isinstance(mark, Outline):
        return _outline(mark, canvas)
    if isinstance(mark, Shade):
        x_out, y_out = np.append(mark.x, mark.x[::-1]), np.append(mark.low, mark.high[::-1])
        kind = "solid" if mark.solid else "shade"
        return f'<path class="{kind} {_classes(mark.look)}" d="{path(canvas.x(x_out), canvas.y(y_out))}Z"/>'
    if isinstance(mark, ThinLines):
        lines = "".join(path(canvas.x(each[:, 0]), canvas.y(each[:, 1])) for each in mark.paths)
        place = f' data-model="{mark.look.place}"' if mark.name == "threshold" else ""
        return f'<path class="thin {mark.name} {_classes(mark.look)}" d="{lines}"{place}/>'
    if isinstance(mark, Span):
        return _span(mark, canvas)
    if isinstance(mark, Squares):
        return _squares(mark, canvas)
    if isinstance(mark, Box):
        return _box(mark.x, mark.y, canvas, f"box{' edged' * mark.edged} {_classes(mark.look)}", mark.opacity)
    if isinstance(mark, Side):
        return _box(mark.x, (canvas.picture.y.low, canvas.picture.y.high), canvas, f"side {_classes(mark.look)}")
    if isinstance(mark, Text):
        return _text(mark, canvas)
    if isinstance(mark, Arrow):
        return f'<path class="arrow" d="{_arrow(float(canvas.x(mark.x)), float(canvas.y(mark.y)), mark.to_left)}"/>'
    return ""  # a legend entry, which pages write themselves


def _classes(look: Look) -> str:
    """Return the CSS classes of a model's marks: one for its place, by which pages hide them, one for its colour."""
    place = f"m{look.place} " if look.place >= 0 else ""
    return f"{place}c{COLORS.index(look.color) if look.color in COLORS else 6}"


def _curve(curve: CurveLine, canvas: Canvas) -> str:
    x, y = canvas.x(curve.x), canvas.y(curve.y)
    title = f"<title>{escape(curve.label)}</title>"
    defined = ~(np.isnan(x) | np.isnan(y))
    pieces = np.flatnonzero(np.diff(defined.astype(np.int8), prepend=0, append=0)).reshape(-1, 2).tolist()
    lines = "".join(path(x[a:b], y[a:b]) for a, b in pieces) if curve.joined else ""
    line = f'<path class="{_line_classes(curve)}" d="{lines}">{title}</path>' if curve.joined else ""
    if not curve.ringed:
        return line
    finite = np.isfinite(x) & np.isfinite(y)
    dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x[finite].tolist(), y[finite].tolist(), strict=True))
    return f'{line}<path class="dots {_classes(curve.look)}" d="{dots}">{"" if curve.joined else title}</path>'


def _line_classes(curve: CurveLine) -> str:
    dashes = DASHES.index(curve.look.dashes) if curve.look.dashes in DASHES else 0
    return f"curve {_classes(curve.look)} d{dashes}"


def _outline(outline: Outline, canvas: Canvas, y: Callable[[Any], Floats] | None = None) -> str:
    heights = np.nan_to_num(outline.heights) if outline.filled else outline.heights
    x = np.repeat(canvas.x(outline.edges), 2)[1:-1]
    tops = np.repeat((y or canvas.y)(heights), 2)
    if outline.filled:
        foot = float(canvas.y(0.0))
        closed = path(np.concatenate([x[:1], x, x[-1:]]), np.concatenate([[foot], tops, [foot]]))
        return (
            f'<path class="filled {_classes(outline.look)}" d="{closed}Z"><title>{escape(outline.label)}</title></path>'
        )
    defined = ~np.isnan(tops)
    pieces = np.flatnonzero(np.diff(defined.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    lines = "".join(path(x[a:b], tops[a:b]) for a, b in pieces.tolist())
    return f'<path class="steps {_classes(outline.look)}" d="{lines}"/>'


def _strip(strip: Picture, canvas: Canvas) -> list[str]:
    """Return the strip, a low picture at the bottom of the axes."""
    top = canvas.top + canvas.height - canvas.strip
    parts = [f'<path class="axis" d="M{canvas.left:g} {top:g}h{canvas.width:g}"/>']
    if not math.isnan(strip.y.low):

        def y(values: Any) -> Floats:
            return top + canvas.strip * (1 - position(strip.y, values))

        parts += [_outline(mark, canvas, y) for mark in strip.marks if isinstance(mark, Outline)]
    parts.append(f'<text x="{canvas.left + 5:g}" y="{top + 14:g}" class="tick">{escape(strip.y.label)}, log</text>')
    return parts


def _span(span: Span, canvas: Canvas) -> str:
    y, x = float(canvas.y(span.y)), float(canvas.x(span.value))
    line = ""
    if not math.isnan(span.low):
        low, high = (float(canvas.x(end)) for end in (span.low, span.high))
        line = f'<path class="span" d="M{low:.1f} {y - 4:.1f}v8M{low:.1f} {y:.1f}H{high:.1f}m0 -4v8"/>'
    return f'<g class="{_classes(span.look)}">{line}<circle class="value" cx="{x:.1f}" cy="{y:.1f}" r="4"/></g>'


def _box(x: Any, y: Any, canvas: Canvas, classes: str, opacity: float = 1.0) -> str:
    (left, right), (top, bottom) = np.sort(canvas.x(np.array(x))).tolist(), np.sort(canvas.y(np.array(y))).tolist()
    drawn = f"M{left:.1f} {top:.1f}H{right:.1f}V{bottom:.1f}H{left:.1f}Z"
    return f'<path class="{classes}" d="{drawn}"{_opacity(opacity)}/>'


def _opacity(opacity: float) -> str:
    return "" if opacity == 1 else f' fill-opacity="{opacity:g}"'


def _name_side(side: Side, canvas: Canvas) -> str:
    x, end = (canvas.left, "") if side.is_left else (canvas.left + canvas.width, " end")
    return f'<text x="{x:g}" y="{canvas.top - 6:g}" class="named{end} {_classes(side.look)}">{escape(side.name)}</text>'


def _text(text: Text, canvas: Canvas) -> str:
    x, y = float(canvas.x(text.x)), float(canvas.y(text.y))
    classes = f"said{' bold' * text.bold}"
    if text.align == "center":
        x = canvas.inside(x, text.words)
        return f'<text x="{x:.1f}" y="{y:.1f}" class="{classes} mid">{escape(text.words)}</text>'
    x, end = (x + GAP, "") if text.align == "left" else (x - GAP, " end")
    words = titled(canvas.words[text.words], NAMES, BOLD * SIZE if text.bold else SIZE, text.words)
    return f'<text x="{x:.1f}" y="{y + 4:.1f}" class="{classes}{end}">{words}</text>'


def _arrow(x: float, y: float, to_left: bool) -> str:
    way = -1 if to_left else 1
    return f"M{x + 5 * way:.1f} {y:.1f}l{-10 * way} -6v12z"


# Squares --------------------------------------------------------------------------------------------------------------


def _squares(squares: Squares, canvas: Canvas) -> str:
    """Return the squares, with lines between them, texts and signs; squares with text have a path each."""
    rows, columns = squares.darkness.shape
    across, high = canvas.width / columns, canvas.height / rows
    longest = max((len(line) for row in squares.lines for lines in row for line in lines), default=0)
    size = min(LARGEST_TEXT, across / (0.65 * max(longest + bool(squares.signs), 1)))
    is_written = longest > 0 and (not squares.signs or size >= SMALLEST_TEXT)
    cells: dict[Any, list[str]] = {}
    texts, signs = [], []
    for row, column in product(range(rows), range(columns)):
        x, y, darkness = canvas.left + column * across, canvas.top + row * high, float(squares.darkness[row, column])
        ink = "dark" if darkness > MIDDLE else "light"
        kind = "square opposite" if squares.opposite is not None and squares.opposite[row, column] else "square"
        if is_written and not math.isnan(darkness):
            key = (kind, f"{DARKEST * darkness:.3f}", row, column)
            cells.setdefault(key, []).append(f"M{x:.1f} {y:.1f}h{across:.1f}v{high:.1f}h-{across:.1f}z")
        elif darkness >= LEAST_DARKNESS:
            cells.setdefault((kind, f"{DARKEST * darkness:.2f}"), []).append(f"M{column} {row}h1v1h-1z")
        found = [sign for sign, places in squares.signs.items() if places[row, column]]
        lines = squares.lines[row][column] if is_written else ()
        signs += [
            _sign(sign, x, y, across, high, ink, aside=is_written)
            for sign in found
            if sign != "dot" or len(lines) < BOLD_LINES
        ]
        for k, line in enumerate(lines):
            at = y + high / 2 + size * (1.2 * (k - (len(lines) - 1) / 2) + 0.35)
            texts.append(
                f'<text x="{x + across / 2:.1f}" y="{at:.1f}" class="mid on-{ink}{" bold" * ("dot" in found)}" '
                f'style="font-size:{size:.1f}px" data-cell="{row} {column} {k}">{escape(line)}</text>'
            )
    between = [f"M{canvas.left:g} {canvas.top + k * high:.1f}h{canvas.width:g}" for k in lines_between(rows)]
    between += [f"M{canvas.left + k * across:.1f} {canvas.top}v{canvas.height:g}" for k in lines_between(columns)]
    drawn = [f'<path class="{key[0]}" d="{"".join(each)}" fill-opacity="{key[1]}"/>' for key, each in cells.items()]
    if not is_written:  # whole numbers are short
        place = f"translate({canvas.left:g} {canvas.top:g}) scale({across:.4f} {high:.4f})"
        drawn = [f'<g transform="{place}">{"".join(drawn)}</g>']
    return "".join([*drawn, f'<path class="grid" d="{"".join(between)}"/>', *texts, *signs])


def _sign(sign: str, x: float, y: float, across: float, high: float, ink: str, *, aside: bool) -> str:
    """Return the sign of a square: a cross or a dot in the centre; the dot is in the corner if it stands `aside`."""
    if sign == "cross":
        arm = min(0.2 * across, 5)
        return f'<path class="sign on-{ink}" d="{_cross(x + across / 2, y + high / 2, arm)}"/>'
    left, top = (0.86, 0.16) if aside else (0.5, 0.5)
    radius = min(0.1 * across, 4)
    x, y = x + left * across, y + top * high
    return f'<circle class="sign dot on-{ink}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'


def _cross(x: float, y: float, arm: float) -> str:
    return f"M{x - arm:.1f} {y - arm:.1f}l{2 * arm:.1f} {2 * arm:.1f}m0 {-2 * arm:.1f}l{-2 * arm:.1f} {2 * arm:.1f}"


# Below the axes -------------------------------------------------------------------------------------------------------


def _foot(canvas: Canvas) -> tuple[list[str], float]:
    """Return the parts below the axes (scale of squares, note, legend), and the total height."""
    picture, (across, y) = canvas.picture, canvas.total
    parts: list[str] = []

    def write(words: str, x: float, kind: str) -> None:
        nonlocal y
        for line in wrapped(words, across - x - EDGE):
            y += LINE
            parts.append(f'<text x="{x:g}" y="{y - 4:g}" class="{kind}">{escape(line)}</text>')

    if canvas.squares is not None and canvas.squares.scale is not None:
        write(canvas.squares.scale.label, EDGE, "said")
        parts += _shades(canvas, canvas.squares.scale, canvas.squares.level, y + 4)
        y += STRIP_PIXELS + 28
    if picture.note:
        write(picture.note, EDGE, "tick")
    for sign, label in _entries(picture) if picture.keyed else ():
        parts.append(f'<g transform="translate({EDGE} {y + LINE / 2:g})">{sign}</g>')
        write(label, EDGE + 32, "said")
    return parts, y + (EDGE if parts else 0)


def _entries(picture: Picture) -> Iterator[tuple[str, str]]:
    """Yield each legend entry: its sign, 24 pixels wide, and its label."""
    for mark in picture.marks:
        if isinstance(mark, CurveLine):
            line = f'<path class="{_line_classes(mark)}" d="M0 0h24"/>' if mark.joined else ""
            dot = f'<path class="dots {_classes(mark.look)}" d="M12 0h0"/>' if mark.ringed else ""
            yield line + dot, mark.label
        elif isinstance(mark, Reference) and mark.label and not mark.hidden:
            yield f'<path class="reference {"dotted" if mark.dotted else "dashed"}" d="M0 0h24"/>', mark.label
        elif isinstance(mark, Arrow):
            yield f'<path class="arrow" d="{_arrow(12.0, 0.0, mark.to_left)}"/>', mark.label
        elif isinstance(mark, Entry):
            yield _entry_sign(mark), mark.label


def _entry_sign(entry: Entry) -> str:
    classes, line = _classes(Look(entry.color)), '<path class="span" d="M0 0h24"/>'
    signs = {
        "shade": f'<path class="filled {classes}" d="M0 -5h24v10h-24z"/>',
        "solid": f'<path class="solid {classes}" d="M0 -5h24v10h-24z"/>',
        "dot": '<circle class="sign dot on-light" cx="12" cy="0" r="3"/>',
        "cross": f'<path class="sign on-light" d="{_cross(12, 0, 4)}"/>',
        "none": "",
        "|": f'<g class="{classes}"><path class="span" d="M0 0h24M12 -4v8"/></g>',
        "o": f'<g class="{classes}">{line}<circle class="value" cx="12" cy="0" r="4"/></g>',
        "": f'<g class="{classes}">{line}</g>',
    }
    return signs[entry.marker]


def _shades(canvas: Canvas, scale: AxisScale, level: float, y: float) -> list[str]:
    """Return the squares' scale with a line at the level; if labels overlap, keep the level's or else an end's."""

    def x(darkness: float) -> float:
        return canvas.left + canvas.width * float(position(scale, darkness))

    edges = np.linspace(scale.low, scale.high, SHADES + 1).tolist()
    parts = []
    for low, high in pairwise(edges):
        drawn = f"M{x(low):.1f} {y:g}H{x(high):.1f}v{STRIP_PIXELS}H{x(low):.1f}z"
        kind, darkness = "square opposite" if low + high < 0 else "square", abs(low + high) / 2
        parts.append(f'<path class="{kind}" d="{drawn}" fill-opacity="{DARKEST * darkness:.3f}"/>')
    if not math.isnan(level):
        parts.append(f'<path class="level" d="M{x(level):.1f} {y - 3:g}v{STRIP_PIXELS + 6}"/>')
    ticks = ticks_of(scale, 0)
    ticks.sort(key=lambda tick: (abs(tick[0] - level) > 1e-9, tick[0] not in (scale.low, scale.high)))
    taken: list[tuple[float, float]] = []
    for value, label in ticks:
        at, half = canvas.inside(x(value), label), width(label) / 2 + 3
        if all(at + half <= low or at - half >= high for low, high in taken):
            taken.append((at - half, at + half))
            parts.append(f'<text x="{at:.1f}" y="{y + STRIP_PIXELS + 14:g}" class="tick mid">{escape(label)}</text>')
    return parts
