"""What a picture shows: plain data, which matplotlib draws (drawing.py), and pages as SVG.

A function ``draw_...`` adds what it has to say to a `Picture`: marks, what the axes mean, and their limits. More models
may be added to the same picture later; so whatever depends on those before is read from the picture.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

# Okabe and Ito (2008), https://jfly.uni-koeln.de/color/, without the yellow, which is pale on white. 7 colours and 5
# kinds of line: 35 models before two look alike.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 1.5), (6, 1.5, 1.5, 1.5), (1.5, 1.2), (3, 1, 1, 1, 1, 1))  # widths
GREY = "#767676"
COLUMNS = 4096  # that a line is thinned to, at least
BAR_STEP = 0.015  # between bars, on the y axis
DARKEST, MIDDLE = 0.9, 0.55  # opacity of a square whose share is 1, and the share above which text on it is white


class Look(NamedTuple):
    """How a model's marks look: its colour, and the dashes of its line, in its widths; and its place among models."""

    color: Any
    dashes: tuple[float, ...] = ()
    place: int = -1  # of no model

    @classmethod
    def of_place(cls, place: int, color: Any = None) -> Look:
        """Return the look of a model by its place."""
        return cls(COLORS[place % len(COLORS)] if color is None else color, DASHES[place % len(DASHES)], place)


# Marks ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class CurveLine:
    """A model's line; without points it is named in the legend alone."""

    x: Floats
    y: Floats
    label: str
    look: Look
    ringed: bool = False  # a mark at each point


@dataclass(frozen=True, slots=True, eq=False)
class ThinLines:
    """Lines beside a model's."""

    name: str  # what they are
    paths: Sequence[Any]  # arrays of shape (n_points, 2)
    look: Look
    width: float  # in points
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Shade:
    """What is between two lines."""

    x: Floats
    low: Floats
    high: Floats
    look: Look


@dataclass(slots=True, eq=False)
class Reference:
    """A grey line to compare with; hidden where it depends on the models, and theirs differ."""

    x: Floats
    y: Floats
    label: str
    dotted: bool
    hidden: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Ring:
    """A point of a model's curve; filled where it is the chosen one."""

    x: float
    y: float
    look: Look
    filled: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Bar:
    """A range of x, at the foot of the picture."""

    low: float
    high: float
    y: float
    look: Look


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """Heights between edges: an outline, which may be filled, and has a gap where a height is NaN."""

    edges: Floats
    heights: Floats
    look: Look
    label: str = ""
    filled: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A line of the legend without anything on the axes."""

    label: str
    color: Any = GREY
    marker: Literal["", "|", "o", "shade"] = ""


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """A value and the interval around it, in a row of its own; without an interval the value alone."""

    value: float
    low: float
    high: float
    y: float
    look: Look


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """Squares about whole numbers, as dark as a share, with lines of text in each, or none."""

    darkness: Floats  # of shape (n_rows, n_columns), from 0 to 1
    lines: Sequence[Sequence[tuple[str, ...]]]


Mark = CurveLine | ThinLines | Shade | Reference | Ring | Bar | Outline | Entry | Span | Squares


# The picture ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class AxisScale:
    """What an axis means: its label, ends and scale, and where it has ticks, if not where the renderer likes."""

    label: str = ""
    low: float = math.nan
    high: float = math.nan
    kind: Literal["linear", "log", "deviate"] = "linear"
    ticks: Sequence[float] | None = None
    tick_labels: Sequence[str] | None = None


@dataclass(slots=True, eq=False)
class Picture:
    """Marks on two axes, in the order in which they were added.

    Parameters
    ----------
    columns : int
        Columns that lines are thinned to.
    metrics : mapping of str to mapping of str to float
        By model, metrics that are known better than from the points of its curve.

    Attributes
    ----------
    x, y : AxisScale
    marks : list of Mark
    equal : bool
        Whether a step is as long on both axes.
    legend : str
        Where it would cover least, as matplotlib names places; "under" the axes.
    strip : Picture or None
        A lower picture on the same x, at the foot of the axes, `strip_height` of them high.
    """

    columns: int = COLUMNS
    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    x: AxisScale = field(default_factory=AxisScale)
    y: AxisScale = field(default_factory=AxisScale)
    marks: list[Mark] = field(default_factory=list)
    equal: bool = False
    legend: str = "best"
    strip: Picture | None = None
    strip_height: float = 0.0

    @property
    def curves(self) -> list[CurveLine]:
        """The models' lines."""
        return [mark for mark in self.marks if isinstance(mark, CurveLine)]

    @property
    def has_curves(self) -> bool:
        """Whether models were drawn before."""
        return bool(self.curves)

    def next_look(self, color: Any = None) -> Look:
        """Return how the next model's line looks, of a colour if one is given."""
        return Look.of_place(len(self.curves), color)

    def number(self, model: str | None, metric: str, computed: float) -> float:
        """Return a model's metric, as it is known, or as it was computed."""
        return computed if model is None else self.metrics.get(model, {}).get(metric, computed)

    def add(self, mark: Mark) -> None:
        """Add a mark."""
        self.marks.append(mark)

    def add_curve(self, x: ArrayLike, y: ArrayLike, label: str, look: Look, *, ringed: bool = False) -> None:
        """Add a model's line."""
        self.add(CurveLine(_floats(x), _floats(y), label, look, ringed))

    def add_reference(self, x: ArrayLike, y: ArrayLike, label: str, *, dotted: bool = False) -> None:
        """Add a grey line to compare with, once."""
        if self._reference(label) is None:
            self.add(Reference(_floats(x), _floats(y), label, dotted))

    def add_shared_reference(self, points: tuple[Any, Any] | None, label: str, *, dotted: bool = False) -> None:
        """Add a reference that depends on the models; hide it where theirs differ, or an earlier call's does."""
        before = self._reference(label)
        x, y = (_floats(each) for each in points or ([], []))
        if before is None:
            self.add(Reference(x, y, label, dotted, hidden=points is None))
        elif points is None or not (_same(x, before.x) and _same(y, before.y)):
            before.hidden = True

    def _reference(self, label: str) -> Reference | None:
        return next((mark for mark in self.marks if isinstance(mark, Reference) and mark.label == label), None)

    def add_entry(self, label: str, color: Any = GREY, marker: Literal["", "|", "o", "shade"] = "") -> None:
        """Explain a thin line, a marked one or a shade in the legend, once."""
        if not any(isinstance(mark, Entry) and mark.label == label for mark in self.marks):
            self.add(Entry(label, color, marker))

    def add_ring(self, x: float, y: float, look: Look, *, filled: bool = False) -> None:
        """Mark a point, if it is defined."""
        if not (math.isnan(x) or math.isnan(y)):
            self.add(Ring(x, y, look, filled))

    def add_bar(self, low: float, high: float, look: Look) -> None:
        """Add a range of x as a bar below zero, each model's under the last."""
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

FARTHEST = 8.0  # standard deviations; a rate of 0 is drawn there, outside the picture


def as_deviate(rate: Any) -> Floats:
    """Return the normal deviate of a rate, within the farthest."""
    from scipy.special import ndtri

    with np.errstate(invalid="ignore"):
        return np.clip(ndtri(rate), -FARTHEST, FARTHEST)  # type: ignore[no-any-return]


def as_rate(deviate: Any) -> Floats:
    """Return the rate that has a normal deviate."""
    from scipy.special import ndtr

    return ndtr(deviate)  # type: ignore[no-any-return]
