"""Plot a metric over ordered values, such as days."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastevals._text import format_label, printable
from fastevals._validation.curves import check_kind
from fastevals.document.picture import GREY, AxisScale, Box, Look, Picture, Shade, ThinLines
from fastevals.many.trends import Trend, TrendLine
from fastevals.measure.registry import metric_title, name_among
from fastevals.show.plots import style
from fastevals.show.plots.drawing import picture_on, show
from fastevals.show.plots.models import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 0.06  # share of the range of y left free on each side
HALF_WIDTH = 0.3  # values: of a value between gaps, to each side
GAP = (math.nan, math.nan)
UNDECIDED = Look(GREY)


def plot_trend(trend: Trend, *, metric: str | None = None, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw a metric over ordered values, such as days, with intervals and the values that differ from the others.

    Parameters
    ----------
    trend : Trend
        Trend of a report that was made with ``trend=True``: its attribute `trend`.
    metric : str, optional
        Metric of the trend; by default its first, which is AUC for scores.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes: for each model a line over the values in natural order, a band of their intervals, and a thin line at
        the metric of all rows. Dots mark values that differ significantly from the mean of the others. Undecided
        values, which have labels for too few rows, have a grey background. Values without the metric are gaps.

    Raises
    ------
    ValueError
        If an argument has the wrong type, the trend has no such metric, or a number is too large to draw (1e150).
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import fastevals
    >>> from matplotlib.figure import Figure
    >>> data = {"y": [0, 1, 0, 1, 0, 1], "s": [0.1, 0.4, 0.2, 0.9, 0.6, 0.3], "day": [1, 1, 2, 2, 3, 3]}
    >>> report = fastevals.report(data, label="y", score="s", by="day", trend=True, n_resamples=0)
    >>> ax = plot_trend(report.trend, ax=Figure().subplots())
    >>> ax.get_ylabel(), ax.lines[0].get_ydata().tolist()
    ('AUC', [1.0, 1.0, 0.0])
    """
    check_kind("trend", trend, Trend)
    name = _checked_metric(trend, metric)
    for line in trend.lines[name].values():
        style.check_drawable("trend", numbers_of(line))
    ax = style.get_axes(ax, style.WIDE, len(trend.lines[name]))
    picture = picture_on(ax)
    draw_trend(picture, trend, name)
    return show(picture, ax, title)


def _checked_metric(trend: Trend, metric: str | None) -> str:
    if not trend.lines:
        raise ValueError(f"trend has no metric that is defined at a value of {printable(trend.by)}")
    if metric is None:
        return next(iter(trend.lines))
    return metric if metric in [*trend.lines] else name_among("metric", metric, [*trend.lines])


def draw_trend(picture: Picture, trend: Trend, metric: str) -> None:
    """Add a metric of a trend to an empty picture."""
    n, lines = len(trend.values), trend.lines[metric]
    numbers = np.concatenate([numbers_of(line) for line in lines.values()])
    low, high = float(numbers.min()), float(numbers.max())
    room = MARGIN * (high - low or abs(high) or 1.0)
    labels = [format_label(value) for value in trend.values]
    picture.x = AxisScale(printable(trend.by), -0.5, n - 0.5, ticks=range(n), tick_labels=labels)
    picture.y = AxisScale(metric_title(metric), low - room, high + room)
    for run in _runs(trend.undecided):
        picture.add(Box((run[0] - 0.5, run[-1] + 0.5), (low - room, high + room), UNDECIDED, style.SHADE))
    for k, (model, line) in enumerate(lines.items()):
        look = Look.of_place(k)
        low_ends, high_ends = line.intervals.T
        for x, places in map(_stretched, _runs(np.isfinite(low_ends) & np.isfinite(high_ends))):
            picture.add(Shade(x, low_ends[places], high_ends[places], look))
        if math.isfinite(line.pooled):
            ends = np.array([[-0.5, line.pooled], [n - 0.5, line.pooled]])
            picture.add(ThinLines("all rows", [ends], look, 1.0, 0.7))
        points: list[tuple[float, float]] = []
        for x, places in map(_stretched, _runs(np.isfinite(line.values))):
            points += [*zip(x.tolist(), line.values[places].tolist(), strict=True), GAP]
        x, y = np.reshape(points[:-1], (-1, 2)).T
        picture.add_curve(x, y, label_of(model), look)
        if line.compared is not None:
            for place in np.flatnonzero(line.compared.is_lower | line.compared.is_higher).tolist():
                picture.add_ring(float(place), float(line.values[place]), look, filled=True)
    picture.add_entry("all rows")
    if any(line.compared is not None for line in lines.values()):
        picture.add_entry("differs from the other values", marker="o")
    if trend.undecided.any():
        picture.add_entry("undecided: too few labels", marker="shade")
    picture.keyed = True


def numbers_of(line: TrendLine) -> NDArray[np.float64]:
    """Return the finite numbers that a line's picture shows."""
    numbers: NDArray[np.float64] = np.concatenate([line.values, line.intervals.ravel(), [line.pooled]])
    return numbers[np.isfinite(numbers)]


def _runs(mask: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Return the runs of neighbouring places where a mask is true."""
    places = np.flatnonzero(mask)
    return np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if places.size else []


def _stretched(run: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the x of a run and the places of its values; a single value gets a width, so that it can be seen."""
    if run.size > 1:
        return run.astype(np.float64), run
    return np.array([run[0] - HALF_WIDTH, run[0] + HALF_WIDTH]), np.repeat(run, 2)
