"""Plot estimates with their intervals, one below the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastevals._options import show as shown
from fastevals._text import printable, shorten_names
from fastevals.document.picture import COLORS, AxisScale, Look, Picture, Span
from fastevals.infer.bootstrap.bootstrap import Estimate
from fastevals.show.plots import style
from fastevals.show.plots.drawing import picture_on, show
from fastevals.show.plots.models import LONGEST_NAME
from fastevals.split.estimates.results import ErrorEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW, MARGIN = 0.34, 1.3  # inches: per row, and for the axis
ROOM = 0.06  # share of the range left free on each side

Row = tuple[str, float, float, float]  # name, value, low, high


def plot_forest(
    estimates: Mapping[str, Estimate | ErrorEstimate | Mapping[str, ErrorEstimate] | Sequence[float]],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str = "",
    reference: float | None = None,
) -> Axes:
    """Draw estimates with their intervals, one row each, the first at the top.

    Parameters
    ----------
    estimates : mapping of str to Estimate, to ErrorEstimate, or to (value, low, high)
        Estimates by name, such as metrics of models or groups, or differences. A result of `bootstrap` or
        `estimate_error` for one metric counts as its estimate. NaN ends mean no interval; a NaN value is an empty row.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.
    label : str
        Label of the x axis: what the values are.
    reference : float, optional
        Value to compare with, such as 0 for differences: intervals that exclude it have another colour.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    ValueError
        If an argument has the wrong type, or a number is too large to draw (1e150 or more).
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> differences = {"a - b": (0.02, 0.01, 0.03), "a - c": (0.0, -0.02, 0.02)}
    >>> ax = plot_forest(differences, reference=0, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['a - b', 'a - c']
    """
    rows = _as_rows("estimates", estimates)
    if not isinstance(label, str):
        raise ValueError(f"label must be a string, got {shown(label)}")
    ax = style.get_axes(ax, forest_size(len(rows)), 1)
    picture = picture_on(ax)
    draw_forest(picture, rows, label, reference)
    return show(picture, ax, title)


def forest_size(n_rows: int) -> tuple[float, float]:
    """Return the figure's size in inches."""
    return style.WIDE[0], MARGIN + ROW * n_rows


def draw_forest(
    picture: Picture,
    rows: Sequence[Row],
    label: str = "",
    reference: float | None = None,
    looks: Sequence[Look] | None = None,
    full_names: Sequence[str] | None = None,
) -> None:
    """Add estimates to an empty picture; `full_names` are the rows' names before shortening."""
    for k, (_, value, low, high) in enumerate(rows):
        is_apart = reference is not None and (low > reference or high < reference)
        look = Look(COLORS[1 if is_apart else 0]) if looks is None else looks[k]
        if not math.isnan(value):
            picture.add(Span(value, low, high, float(k), look))
    ends = [end for _, *values in rows for end in values if math.isfinite(end)]
    ends += [] if reference is None else [reference]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    room = ROOM * (high - low) or 0.05 * abs(high) or 0.5
    if reference is not None:
        picture.add_reference([reference] * 2, [-0.6, len(rows) - 0.4], "")
    picture.x = AxisScale(label, low - room, high + room)
    given = [printable(name) for name, *_ in rows]
    names = shorten_names(given, LONGEST_NAME + 1)  # a pair of names has one more
    picture.y = AxisScale("", len(rows) - 0.4, -0.6, "linear", range(len(rows)), names, full_names or given)


def _as_rows(name: str, estimates: Any) -> list[Row]:
    if not isinstance(estimates, Mapping) or not estimates:
        raise ValueError(f"{name} must be a mapping of names to estimates, with one at least, got {shown(estimates)}")
    rows: list[Row] = []
    for key, each in estimates.items():
        one = next(iter(each.values())) if isinstance(each, Mapping) and len(each) == 1 else each
        values = (one.value, *one.confidence_interval) if isinstance(one, (Estimate, ErrorEstimate)) else one
        if not isinstance(values, Iterable) or np.shape(numbers := np.asarray(list(values), dtype=object)) != (3,):
            raise ValueError(
                f"{name}[{key!r}] must be an Estimate of one number or (value, low, high), got {shown(each)}"
            )
        try:
            value, low, high = (float(number) for number in numbers)
        except (TypeError, ValueError):
            raise ValueError(f"{name}[{key!r}] must hold numbers, got {shown(each)}") from None
        style.check_drawable(f"{name}[{key!r}]", [number for number in (value, low, high) if math.isfinite(number)])
        rows.append((str(key), value, low, high))
    return rows
