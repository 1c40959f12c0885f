"""How a `Picture` is drawn as SVG: small, coloured by the page's style sheet, and readable without it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.show.plots.picture import (
    COLORS,
    DARKEST,
    DASHES,
    MIDDLE,
    AxisScale,
    Bar,
    CurveLine,
    Look,
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
)
from fastevals.show.plots.thinning import kept_within

Floats = NDArray[np.float64]

SIDE, HIGH = 340, 235  # pixels: of the axes, both or the x axis; the y axis where it may be shorter
LEFT, RIGHT, TOP, BOTTOM = 60, 12, 10, 46  # around them
LETTER = 7.2  # pixels of a character, about
ROW = 26  # pixels of a row of names
NAMES = 170  # pixels, at most, for names left of the axes
FINE = 10  # a path's numbers are whole, of a tenth of a pixel
TOLERANCE = 0.08  # pixels that a path may be off
TICKS = 6  # of an axis, about


class Canvas:
    """Where the axes are, and how values become pixels.

    Parameters
    ----------
    picture : Picture
    width : float
        Of the axes, in pixels; those with names of rows have room for them besides.
    """

    def __init__(self, picture: Picture, width: float = SIDE) -> None:
        self.picture = picture
        names = picture.y.tick_labels if picture.y.tick_labels is not None and picture.y.kind == "linear" else None
        rows = 0 if names is None else len(names)
        self.left = LEFT if names is None else min(max(map(len, names), default=0) * LETTER + 14, NAMES) + 22
        self.width = float(width)
        self.height = self.width if picture.equal else float(rows * ROW if rows else HIGH)
        if picture.equal and rows > 2:
            self.height = self.width
        self.strip = picture.strip_height * self.height
        self.total = self.left + self.width + RIGHT, TOP + self.height + BOTTOM

    def x(self, values: Any) -> Floats:
        """Return values of x in pixels."""
        return self.left + self.width * position(self.picture.x, values)

    def y(self, values: Any) -> Floats:
        """Return values of y in pixels."""
        return TOP + self.height * (1 - position(self.picture.y, values))


def position(scale: AxisScale, values: Any) -> Floats:
    """Return where values are on an axis: 0 at its low end, 1 at its high one."""
    moves: dict[str, Callable[[Any], Any]] = {"linear": np.asarray, "log": np.log10, "deviate": as_deviate}
    move = moves[scale.kind]
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (float(move(np.float64(end))) for end in (scale.low, scale.high))
        return (move(np.asarray(values, dtype=np.float64)) - low) / (high - low)  # type: ignore[no-any-return]


def draw(picture: Picture, kind: str, label: str, name: str, width: float = SIDE) -> str:
    """Return a picture as SVG.

    Parameters
    ----------
    picture : Picture
    kind : str
        By which a script finds it.
    label : str
        What it shows, for who can't see it.
    name : str
        That no other picture of the page has.
    width : float
        Of the axes, in pixels.
    """
    canvas = Canvas(picture, width)
    total = f"{canvas.total[0]:g} {canvas.total[1]:g}"
    box = f"{canvas.left:g} {TOP} {canvas.width:g} {canvas.height:g}"
    axes = "".join(f' data-{each}="{_scale(scale)}"' for each, scale in (("x", picture.x), ("y", picture.y)))
    clip = f"clip-{name}"
    left, top, across, down = box.split()
    parts = [
        f'<svg viewBox="0 0 {total}" role="img" aria-label="{escape(label)}" '
        f'data-picture="{kind}" data-box="{box}"{axes}>',
        f'<clipPath id="{clip}"><rect x="{left}" y="{top}" width="{across}" height="{down}"/></clipPath>',
        *_axis(canvas),
        f'<g clip-path="url(#{clip})">',
        *(_mark(mark, canvas) for mark in picture.marks if not isinstance(mark, (Ring, Squares))),
        *(_strip(picture.strip, canvas) if picture.strip is not None else []),
        '<g class="live"></g></g>',
        *(_mark(mark, canvas) for mark in picture.marks if isinstance(mark, (Ring, Squares))),
        "</svg>",
    ]
    return "".join(parts)


def _scale(scale: AxisScale) -> str:
    return f"{float(scale.low)!r} {float(scale.high)!r} {scale.kind}"


# Axes -----------------------------------------------------------------------------------------------------------------


def _axis(canvas: Canvas) -> list[str]:
    """Return grid, ticks and labels of both axes."""
    picture, bottom, right = canvas.picture, TOP + canvas.height, canvas.left + canvas.width
    grid, texts = [], []
    for value, label in _ticks(picture.x, int(canvas.width / 80)):
        at = float(canvas.x(value))
        grid.append(f"M{at:.1f} {TOP}V{bottom:g}")
        texts.append(f'<text x="{at:.1f}" y="{bottom + 16:g}" class="tick mid">{escape(label)}</text>')
    for value, label in _ticks(picture.y, TICKS):
        at = float(canvas.y(value))
        if not picture.strip or at < bottom - canvas.strip:
            grid.append(f"M{canvas.left:g} {at:.1f}H{right:g}")
            short = label if len(label) * LETTER <= NAMES else f"{label[: int(NAMES / LETTER) - 1]}…"
            title = "" if short == label else f"<title>{escape(label)}</title>"
            texts.append(
                f'<text x="{canvas.left - 7:g}" y="{at + 4:.1f}" class="tick end">{escape(short)}{title}</text>'
            )
    center = canvas.left + canvas.width / 2
    middle = TOP + (canvas.height - canvas.strip) / 2
    return [
        f'<path class="grid" d="{"".join(grid)}"/>',
        f'<path class="axis" d="M{canvas.left:g} {TOP}V{bottom:g}H{right:g}"/>',
        *texts,
        f'<text x="{center:g}" y="{bottom + 38:g}" class="mid">{escape(picture.x.label)}</text>',
        f'<text transform="translate(14 {middle:g}) rotate(-90)" class="mid">{escape(picture.y.label)}</text>'
        if picture.y.label
        else "",
    ]


def _ticks(scale: AxisScale, wanted: int) -> list[tuple[float, str]]:
    """Return the ticks of an axis that are inside it, with their labels."""
    low, high = sorted((scale.low, scale.high))
    if scale.ticks is not None:
        labels = [f"{tick:g}" for tick in scale.ticks] if scale.tick_labels is None else scale.tick_labels
        return [(tick, label) for tick, label in zip(scale.ticks, labels, strict=True) if low <= tick <= high]
    if scale.kind == "log":
        decades = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
        return [(10.0**k, f"1e{k}" if abs(k) > 4 else f"{10.0**k:g}") for k in decades]
    step = _step((high - low) / max(wanted, 2))
    ticks = step * np.arange(math.ceil(low / step), math.floor(high / step) + 1)
    return [(float(tick), f"{tick:.6g}" if tick else "0") for tick in ticks]


def _step(least: float) -> float:
    """Return the least of 1, 2, 2.5 and 5 times a power of ten that is no less."""
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    return next((each * power for each in (1, 2, 2.5, 5, 10) if each * power >= least), 10 * power)


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
        return f'<path class="shade {_classes(mark.look)}" d="{path(canvas.x(x_out), canvas.y(y_out))}Z"/>'
    if isinstance(mark, ThinLines):
        lines = "".join(path(canvas.x(each[:, 0]), canvas.y(each[:, 1])) for each in mark.paths)
        place = f' data-model="{mark.look.place}"' if mark.name == "threshold" else ""
        return f'<path class="thin {mark.name} {_classes(mark.look)}" d="{lines}"{place}/>'
    if isinstance(mark, Span):
        return _span(mark, canvas)
    if isinstance(mark, Squares):
        return _squares(mark, canvas)
    return ""  # an entry of a legend, which pages write themselves


def _classes(look: Look) -> str:
    """Return the classes of a model's marks: its place, by which it is hidden, and its colour."""
    place = f"m{look.place} " if look.place >= 0 else ""
    return f"{place}c{COLORS.index(look.color) if look.color in COLORS else 6}"


def _curve(curve: CurveLine, canvas: Canvas) -> str:
    x, y = canvas.x(curve.x), canvas.y(curve.y)
    dashes = f" d{curve.look.place % len(DASHES)}"
    classes, title = f"curve {_classes(curve.look)}{dashes}", f"<title>{escape(curve.label)}</title>"
    line = f'<path class="{classes}" d="{path(x, y)}">{title}</path>'
    if not curve.ringed:
        return line
    dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    return f'{line}<path class="dots {_classes(curve.look)}" d="{dots}"/>'


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
    """Return a lower picture at the foot of the axes."""
    top = TOP + canvas.height - canvas.strip
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


def _squares(squares: Squares, canvas: Canvas) -> str:
    rows, columns = squares.darkness.shape
    width, height = canvas.width / columns, canvas.height / rows
    longest = max((len(line) for row in squares.lines for lines in row for line in lines), default=1)
    size = min(16.0, width / (0.65 * longest))
    parts = []
    for row in range(rows):
        for column in range(columns):
            x, y = canvas.left + column * width, TOP + row * height
            darkness = float(squares.darkness[row, column])
            parts.append(
                f'<rect class="square" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                f'fill-opacity="{DARKEST * darkness:.3f}"/>'
            )
            lines = squares.lines[row][column]
            ink = "dark" if darkness > MIDDLE else "light"
            for k, line in enumerate(lines):
                at = y + height / 2 + size * (1.2 * (k - (len(lines) - 1) / 2) + 0.35)
                parts.append(
                    f'<text x="{x + width / 2:.1f}" y="{at:.1f}" class="mid on-{ink}" style="font-size:{size:.1f}px" '
                    f'data-cell="{row} {column} {k}">{escape(line)}</text>'
                )
    return "".join(parts)


# Paths ----------------------------------------------------------------------------------------------------------------


def path(x: Floats, y: Floats) -> str:
    """Return a polyline through points in pixels, those left out that are on it."""
    points = np.stack([np.clip(x, -1e4, 1e4), np.clip(y, -1e4, 1e4)], axis=1)
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return ""
    whole = np.rint(FINE * points[simplified(points)]).astype(np.int64)
    steps = np.diff(whole, axis=0)
    steps = steps[(steps != 0).any(axis=1)]
    return f"M{_number(whole[0, 0])} {_number(whole[0, 1])}" + _steps(steps.tolist())


def _steps(steps: Iterable[Sequence[int]]) -> str:
    """Return steps in tenths of a pixel as a path writes them."""
    parts, before = [], ""
    for x, y in steps:
        command, numbers = ("h", [x]) if not y else ("v", [y]) if not x else ("l", [x, y])
        for k, number in enumerate(numbers):
            text = _number(number)
            starts = command if not k and command != before else "" if text.startswith("-") else " "
            parts.append(starts + text)
        before = command
    return "".join(parts)


def _number(tenths: int) -> str:
    whole, tenth = divmod(abs(int(tenths)), FINE)
    sign = "-" if tenths < 0 else ""
    return f"{sign}{whole}" if not tenth else f"{sign}{whole or ''}.{tenth}"


def simplified(points: Floats, tolerance: float = TOLERANCE) -> NDArray[np.intp]:
    """Return the points of a polyline that are kept: none other is farther from the line through these."""
    kept = np.zeros(len(points), dtype=bool)
    kept[[0, -1]] = True

    def distance(rows: Any, before: Any, after: Any) -> Floats:
        step, moved = points[after] - points[before], points[rows] - points[before]
        length = (step * step).sum(axis=1)
        along = np.divide((moved * step).sum(axis=1), length, out=np.zeros(len(rows)), where=length > 0)
        return np.hypot(*(moved - np.clip(along, 0, 1)[:, np.newaxis] * step).T)  # type: ignore[no-any-return]

    return kept_within(kept, distance, tolerance)
