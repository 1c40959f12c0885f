"""Pictures as plain data, which matplotlib draws (drawing.py) and pages draw as SVG.

A function ``draw_...`` adds marks, the meaning of the axes and their limits to a `Picture`. Later calls may add more
models to the same picture, so anything that depends on earlier ones is read from the picture.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Range = tuple[float, float]

# Okabe and Ito (2008), https://jfly.uni-koeln.de/color/, without the yellow, which is pale on white. 7 colours and 5
# kinds of line: 35 models before two look alike.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 1.5), (6, 1.5, 1.5, 1.5), (1.5, 1.2), (3, 1, 1, 1, 1, 1))  # widths
GREY = "#767676"
COLUMNS = 4096  # that a line is thinned to at least
BAR_STEP = 0.015  # between bars on the y axis
DARKEST, MIDDLE = 0.9, 0.75  # opacity of a square with a share of 1; larger shares than MIDDLE have white text
BOLD_LINES = 3  # lines of a square's text that leave no room for a dot: the text is only bold
MOST_RULED = 60  # rows of squares with lines between all


class Look(NamedTuple):
    """The look of a model's marks: colour, dashes in line widths, and place among the models."""

    color: Any
    dashes: tuple[float, ...] = ()
    place: int = -1  # -1 for no model

    @classmethod
    def of_place(cls, place: int, color: Any = None) -> Look:
        """Return the look of a model by its place."""
        return cls(COLORS[place % len(COLORS)] if color is None else color, DASHES[place % len(DASHES)], place)


# The sign of a legend entry: a line, perhaps with a bar or a ring on it; an area, a sign, or nothing.
Marker = Literal["", "|", "o", "shade", "solid", "dot", "cross", "none"]

# Marks ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class CurveLine:
    """A model's line; without points it is only named in the legend."""

    x: Floats
    y: Floats
    label: str
    look: Look
    ringed: bool = False  # whether each point has a marker
    joined: bool = True  # whether a line joins the points


@dataclass(frozen=True, slots=True, eq=False)
class ThinLines:
    """Thin lines that belong to a model's curve."""

    name: str  # their name
    paths: Sequence[Any]  # arrays of shape (n_points, 2)
    look: Look
    width: float  # in points
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Shade:
    """The area between two lines; a solid one hides what is below."""

    x: Floats
    low: Floats
    high: Floats
    look: Look
    solid: bool = False


@dataclass(slots=True, eq=False)
class Reference:
    """A grey line to compare with; hidden if the models need different lines."""

    x: Floats
    y: Floats
    label: str
    dotted: bool
    hidden: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Ring:
    """A point on a model's curve; filled if it is the chosen one."""

    x: float
    y: float
    look: Look
    filled: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Bar:
    """A range of x at the bottom of the picture."""

    low: float
    high: float
    y: float
    look: Look


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """An outline of heights between edges, optionally filled; NaN heights leave gaps."""

    edges: Floats
    heights: Floats
    look: Look
    label: str = ""
    filled: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A legend entry without a mark on the axes."""

    label: str
    color: Any = GREY
    marker: Marker = ""


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """A value in a row of its own, with its interval if it has one."""

    value: float
    low: float
    high: float
    y: float
    look: Look


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """Squares centred at whole numbers, each as dark as its share, optionally with lines of text.

    A sign is in the middle of its square. In a square with text, a dot is in the corner, and the text is bold; text of
    three lines or more is only bold.
    """

    darkness: Floats  # of shape (n_rows, n_columns), from 0 to 1; NaN is blank
    lines: Sequence[Sequence[tuple[str, ...]]]
    signs: Mapping[Literal["dot", "cross"], NDArray[np.bool_]] = field(default_factory=dict)  # squares by sign
    scale: AxisScale | None = None  # of darkness, drawn next to the squares
    level: float = math.nan  # darkness that is marked on the scale
    opposite: NDArray[np.bool_] | None = None  # squares in the second colour, which negative values of the scale have


def lines_between(n: int) -> list[int]:
    """Return where lines are drawn between n rows of squares: between all of them, or between tens of small ones."""
    return [*range(0, n, 1 if n <= MOST_RULED else 10), n]


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A rectangle with an opacity; if it is `edged`, it has an edge in its colour."""

    x: Range
    y: Range
    look: Look
    opacity: float = 1.0
    edged: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The part of the picture to the left or right of some x, tinted and named above."""

    x: Range
    name: str
    look: Look
    is_left: bool


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Words next to a point, or centred above it."""

    x: float
    y: float
    words: str
    align: Literal["left", "center", "right"] = "center"
    bold: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Arrow:
    """A sign at the left or right edge that points to a value beyond it."""

    x: float
    y: float
    label: str
    look: Look
    to_left: bool


Mark = (
    CurveLine
    | ThinLines
    | Shade
    | Reference
    | Ring
    | Bar
    | Outline
    | Entry
    | Span
    | Squares
    | Box
    | Side
    | Text
    | Arrow
)


# The picture ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class AxisScale:
    """An axis: its label, ends and scale, and its ticks if the renderer does not choose them."""

    label: str = ""
    low: float = math.nan
    high: float = math.nan
    kind: Literal["linear", "log", "symlog", "deviate"] = "linear"
    ticks: Sequence[float] | None = None
    tick_labels: Sequence[str] | None = None
    full_labels: Sequence[str] | None = None  # whole names if tick labels are shortened: tooltips on pages
    whole: bool = False  # whether ticks are whole numbers
    linear_to: float = math.nan  # for "symlog": where the logarithmic part begins


@dataclass(slots=True, eq=False)
class Picture:
    """Marks on two axes, in the order in which they were added.

    Parameters
    ----------
    columns : int
        Number of columns that lines are thinned to.
    metrics : mapping of str to mapping of str to float
        Metric values by model, used instead of the less exact ones computed from the points of the model's curve.

    Attributes
    ----------
    x, y : AxisScale
    marks : list of Mark
    equal : bool
        Whether both axes have the same unit length.
    legend : str
        Place of the legend, as matplotlib names it; or "under" or "over" the axes.
    keyed : bool
        Whether pages draw the legend; not needed for models, which the page names itself.
    note : str
        Explanation of the marks, above the legend's entries or below a diagram.
    diagram : bool
        Whether there is no frame: the x axis is a line at y = 0 with ticks and label above, y counts rows of text, and
        words next to the axes get room.
    strip : Picture or None
        A low picture at the bottom of the axes, with the same x axis; `strip_height` is its share of the axes' height.
    """

    columns: int = COLUMNS
    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    x: AxisScale = field(default_factory=AxisScale)
    y: AxisScale = field(default_factory=AxisScale)
    marks: list[Mark] = field(default_factory=list)
    equal: bool = False
    legend: str = "best"
    keyed: bool = False
    note: str = ""
    diagram: bool = False
    strip: Picture | None = None
    strip_height: float = 0.0

    @property
    def curves(self) -> list[CurveLine]:
        """The models' lines."""
        return [mark for mark in self.marks if isinstance(mark, CurveLine)]

    @property
    def has_curves(self) -> bool:
        """Whether the picture has models already."""
        return bool(self.curves)

    def next_look(self, color: Any = None) -> Look:
        """Return the look of the next model's line, in `color` if given."""
        return Look.of_place(len(self.curves), color)

    def number(self, model: str | None, metric: str, computed: float) -> float:
        """Return a model's metric: the known value, or else the computed one."""
        return computed if model is None else self.metrics.get(model, {}).get(metric, computed)

    def add(self, mark: Mark) -> None:
        """Add a mark."""
        self.marks.append(mark)

    def add_curve(
        self, x: ArrayLike, y: ArrayLike, label: str, look: Look, *, ringed: bool = False, joined: bool = True
    ) -> None:
        """Add a model's line."""
        self.add(CurveLine(_floats(x), _floats(y), label, look, ringed, joined))

    def add_reference(self, x: ArrayLike, y: ArrayLike, label: str, *, dotted: bool = False) -> None:
        """Add a grey line to compare with, once."""
        if self._reference(label) is None:
            self.add(Reference(_floats(x), _floats(y), label, dotted))

    def add_shared_reference(self, points: tuple[Any, Any] | None, label: str, *, dotted: bool = False) -> None:
        """Add a reference that depends on the models; hide it if models or earlier calls need another one."""
        before = self._reference(label)
        x, y = (_floats(each) for each in points or ([], []))
        if before is None:
            self.add(Reference(x, y, label, dotted, hidden=points is None))
        elif points is None or not (_same(x, before.x) and _same(y, before.y)):
            before.hidden = True

    def _reference(self, label: str) -> Reference | None:
        return next((mark for mark in self.marks if isinstance(mark, Reference) and mark.label == label), None)

    def add_entry(self, label: str, color: Any = GREY, marker: Marker = "") -> None:
        """Explain a line, shade or sign in the legend, once."""
        if not any(isinstance(mark, Entry) and mark.label == label for mark in self.marks):
            self.add(Entry(label, color, marker))

    def add_ring(self, x: float, y: float, look: Look, *, filled: bool = False) -> None:
        """Mark a point, if it is defined."""
        if not (math.isnan(x) or math.isnan(y)):
            self.add(Ring(x, y, look, filled))

    def add_bar(self, low: float, high: float, look: Look) -> None:
        """Add a range of x as a bar below zero, under the bars of earlier models."""
        self.add(Bar(low, high, self.foot + BAR_STEP / 2, look))

    @property
    def foot(self) -> float:
        """The y below all bars."""
        return BAR_STEP * -(1.5 + sum(isinstance(mark, Bar) for mark in self.marks))


def _floats(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _same(one: Floats, other: Floats) -> bool:
    return np.array_equal(one, other, equal_nan=True)


# Scales ---------------------------------------------------------------------------------------------------------------

FARTHEST = 8.0  # standard deviations: the place of a rate of 0, outside the picture
LINEAR_PART = (
    10 / 9
)  # decades for the linear part of a "symlog" axis: both parts are equally steep there, as in matplotlib


def along(scale: AxisScale, values: Any) -> Floats:
    """Convert values to an axis's scale (to logarithms, for example), on which equal steps have equal length."""
    values = _floats(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        if scale.kind == "deviate":
            return as_deviate(values)
        if scale.kind == "log":
            return _floats(np.log10(values))
        if scale.kind == "symlog":
            size = np.abs(values) / scale.linear_to
            return _floats(np.where(size <= 1, LINEAR_PART * size, LINEAR_PART + np.log10(size)) * np.sign(values))
    return _floats(values)


def widened(scale: AxisScale, values: Floats, room: float) -> Range:
    """Return axis limits with room on both sides of the values; `room` is a share of the values' range."""
    low, high = (float(each) for each in along(scale, np.array([values.min(), values.max()])))
    room = room * (high - low) or room * abs(high) or room
    return _from_along(scale, low - room), _from_along(scale, high + room)


def _from_along(scale: AxisScale, place: float) -> float:
    if scale.kind == "log":
        return float(10.0**place)
    if scale.kind == "symlog":
        size = abs(place)
        size = size / LINEAR_PART if size <= LINEAR_PART else 10.0 ** (size - LINEAR_PART)
        return math.copysign(scale.linear_to * size, place)
    return place


def as_deviate(rate: Any) -> Floats:
    """Return the normal deviate of a rate, clipped to the range that pictures show."""
    from scipy.special import ndtri

    with np.errstate(invalid="ignore"):
        return np.clip(ndtri(rate), -FARTHEST, FARTHEST)  # type: ignore[no-any-return]


def as_rate(deviate: Any) -> Floats:
    """Return the rate whose normal deviate is `deviate`."""
    from scipy.special import ndtr

    return ndtr(deviate)  # type: ignore[no-any-return]


class Panel(NamedTuple):
    """A picture, alone or next to others that belong to it."""

    title: str | None
    picture: Picture
    size: tuple[float, float]  # inches
    is_wide: bool = False  # whether others are below it instead of next to it
    place: int = -1  # of its model; -1 for none
