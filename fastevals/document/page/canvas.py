"""Place the axes of a picture on a page, with their ticks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.document.page.letters import SIZE, cut_names, width
from fastevals.document.picture import AxisScale, Picture, Side, Squares, Text, along

Floats = NDArray[np.float64]

SIDE, HIGH = 340, 235  # pixels: width of the axes; height where it may be less
LEFT, RIGHT, TOP, BOTTOM = 60, 12, 10, 46  # around them
ROW, TEXT_ROW = 26, 17  # pixels: of a row with a name, of a row in a diagram
NAMES, TURNED = 170, 120  # pixels at most: for names left of the axes, for turned names below
NAMED = 18  # pixels above the axes for names of sides
BOLD = 1.12  # relative width of bold words
GAP = 5  # pixels between a point and the words next to it
NARROWEST = 200  # pixels: least width of a diagram's axis
SQUARE, SMALLEST_TEXT, LARGEST_TEXT = 11, 7.0, 16.0  # pixels: least size of a square; sizes of text in squares
WIDEST = 660  # pixels: width of many squares, which may be smaller
EDGE = 8  # pixels between words and the picture's edge
TICKS, MORE = 6, 1.6  # ticks of an axis, about; times as many if whole numbers


class Canvas:
    """The place of the axes, and the map from values to pixels.

    Parameters
    ----------
    picture : Picture
    across : float
        Width of the axes in pixels. Names of rows need room to the left of the axes, and axes with many squares are
        wider. A diagram's names take their room from the axes' width, which is `NARROWEST` at least.
    """

    def __init__(self, picture: Picture, across: float = SIDE) -> None:
        self.picture = picture
        self.squares = next((mark for mark in picture.marks if isinstance(mark, Squares)), None)
        names, below = names_of(picture.y), names_of(picture.x)
        rows = 0 if names is None else len(names)
        if names is None:
            self.left = max([float(LEFT), *(width(label) + 31 for _, label in ticks_of(picture.y, TICKS))])
        else:
            self.left = min(max(map(width, names), default=0.0) + 14, NAMES) + 22
        has_sides = any(isinstance(mark, Side) for mark in picture.marks)
        self.right, self.top = float(RIGHT), TOP + NAMED * has_sides
        n_squares = 0 if self.squares is None else self.squares.darkness.shape[1]
        self.width = float(max(across, min(SQUARE * n_squares, WIDEST)))
        if picture.diagram:
            self.left = self.right = float(EDGE)
        names = [mark.words for mark in picture.marks if isinstance(mark, Text) and mark.align != "center"]
        self.words = dict(zip(names, cut_names(names, NAMES), strict=True))  # words cut to fit next to the axes
        for text in picture.marks:
            if isinstance(text, Text) and text.align != "center":
                room = min(width(text.words, BOLD * SIZE if text.bold else SIZE), NAMES) + GAP + EDGE
                place = self.width * float(position(picture.x, text.x))
                self.left = max(self.left, room - place if text.align == "right" else 0.0)
                self.right = max(self.right, room - (self.width - place) if text.align == "left" else 0.0)
        if picture.diagram:
            self.width = max(self.width + LEFT + RIGHT - self.left - self.right, NARROWEST)
        self.height = self.width if picture.equal else float(rows * ROW if rows else HIGH)
        if picture.diagram:
            self.height = TEXT_ROW * (picture.y.high - picture.y.low)
        self.row_size = SIZE if self.squares is None else min(SIZE, 0.85 * self.height / max(rows, 1))
        self.strip = picture.strip_height * self.height
        self.name_size, self.turned = SIZE, 0.0  # of names below the axes; pixels for turned names
        if below:
            step = self.width / len(below)
            self.name_size = SIZE if self.squares is None else min(SIZE, 0.85 * step)
            widest = max(width(name, self.name_size) for name in below)
            self.turned = 0.0 if widest + 6 <= step else min(widest, TURNED) + 10
        bottom = (EDGE if picture.diagram else BOTTOM) + max(self.turned - 16, 0.0)
        self.total = self.left + self.width + self.right, self.top + self.height + bottom

    def x(self, values: Any) -> Floats:
        """Return values of x in pixels."""
        return self.left + self.width * position(self.picture.x, values)

    def y(self, values: Any) -> Floats:
        """Return values of y in pixels."""
        return self.top + self.height * (1 - position(self.picture.y, values))

    def inside(self, x: float, words: str, size: float = SIZE) -> float:
        """Return where to centre words: as near to x as possible, but within the picture."""
        half = width(words, size) / 2 + 2
        return min(max(x, half), max(self.total[0] - half, half))


def names_of(scale: AxisScale) -> list[str] | None:
    """Return the names along an axis; None if it has numbers."""
    return None if scale.tick_labels is None or scale.kind != "linear" else list(scale.tick_labels)


def position(scale: AxisScale, values: Any) -> Floats:
    """Return the places of values on an axis: 0 at its low end, 1 at its high end."""
    low, high = (float(along(scale, end)) for end in (scale.low, scale.high))
    with np.errstate(invalid="ignore"):
        return (along(scale, values) - low) / (high - low)


def ticks_of(scale: AxisScale, wanted: int) -> list[tuple[float, str]]:
    """Return the ticks within an axis, with their labels."""
    low, high = sorted((scale.low, scale.high))
    if scale.ticks is not None:
        labels = [f"{tick:g}" for tick in scale.ticks] if scale.tick_labels is None else scale.tick_labels
        return [(tick, label) for tick, label in zip(scale.ticks, labels, strict=True) if low <= tick <= high]
    if scale.kind == "log":
        return _decades(low, high, wanted)
    if scale.kind == "symlog":
        return [(0.0, "0"), *_decades(scale.linear_to, high, wanted)]
    step = _step((high - low) / max(wanted * MORE if scale.whole else wanted, 2), whole=scale.whole)
    ticks = step * np.arange(math.ceil(low / step), math.floor(high / step) + 1)
    digits = max(6, math.ceil(math.log10(max(abs(low), abs(high)) / step)) + 1)
    return [(float(tick), f"{tick:.{digits}g}" if tick else "0") for tick in ticks]


def _decades(low: float, high: float, wanted: int) -> list[tuple[float, str]]:
    """Return powers of ten between two numbers, thinned out if many."""
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    powers = powers[:: math.ceil(len(powers) / max(2 * wanted, 2)) or 1]
    return [(10.0**k, f"1e{k}" if abs(k) > 4 else f"{10.0**k:g}") for k in powers]


def _step(least: float, *, whole: bool) -> float:
    """Return the smallest step of at least `least`: 1, 2, 2.5 or 5 times a power of ten, without 2.5 if `whole`."""
    least = max(least, 1.0) if whole else least
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    steps = (1, 2, 5, 10) if whole else (1, 2, 2.5, 5, 10)
    return next((each * power for each in steps if each * power >= least), 10 * power)
