"""Plot DET curves: both error rates on normal-deviate axes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals._options import as_flag
from fastevals.counts import ThresholdCounts
from fastevals.document.picture import AxisScale, Picture, as_deviate, as_rate
from fastevals.measure import ranking_metrics
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.curves.roc import DetCurve
from fastevals.show.plots import thinning
from fastevals.show.plots.models import (
    Drawn,
    Models,
    label_of,
    styled_models,
)
from fastevals.show.plots.rates import plot_models

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PERCENTS = (0.0001, 0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 40, 60, 80, 90, 95, 98, 99, 99.9, 99.99)  # ticks of a DET
LOWEST = 1e-5  # rate that a DET picture shows


def plot_det(
    curve: Drawn[DetCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
    marks: bool = True,
) -> Axes:
    """Draw DET curves on normal-deviate axes; a curve is straight if the scores of each class are normal.

    The axes are in rates, scaled to their normal deviates, with ticks in percent.

    Parameters
    ----------
    curve : DetCurve, Ranking, RankingSummary, ThresholdCounts or ClassRankings, or mapping of str to them
        Curve of one model, or a mapping of names to curves. `ClassRankings` alone are drawn class by class, with the
        averages.
    ax : Axes, optional
        Axes to draw on, empty or drawn by this function; by default new pyplot axes.
    title : str, optional
        Title above the axes.
    label : str, optional
        Name of a single curve in the legend.
    color : colour or mapping of str to colour, optional
        Matplotlib colour of a single curve, or a mapping of names to colours.
    marks : bool
        Mark the points with equal error rates.

    Returns
    -------
    Axes
        The axes. A model whose rows lack positives or negatives is "undefined" in the legend.

    Raises
    ------
    ValueError
        If an argument has the wrong type.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import fastevals
    >>> from matplotlib.figure import Figure
    >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> plot_det(ranking.det_curve(), ax=Figure().subplots()).lines[0].get_label()
    'EER 50.00 %'
    """
    return plot_models("det", curve, ax, title, label, color, draw_det, marks=as_flag("marks", marks))


def draw_det(picture: Picture, models: Models, color: Any = None, *, marks: bool = True) -> None:
    """Add DET curves to a picture."""
    low, high = det_limits(picture, [each.counts for _, each in models])
    for name, each, look in styled_models(picture, models, color):
        error = picture.number(name, "equal_error_rate", ranking_metrics.equal_error_rate(each.counts).value)
        points = _errors(each.counts, low, high, picture.columns)
        picture.add_curve(*points, label_of(name, f"EER {100 * error:.2f} %"), look)
        if marks:
            picture.add_ring(error, error, look)
    if marks:
        ends = [low / 10, 1 - (1 - high) / 10]
        picture.add_reference(ends, ends, "equal error rates (EER)", dotted=True)
    ticks = [percent / 100 for percent in PERCENTS]
    labels = [f"{percent:g}" for percent in PERCENTS]
    x, y = CURVES["det"].x.label, CURVES["det"].y.label
    picture.x = AxisScale(x, low, high, "deviate", ticks, labels)
    picture.y = AxisScale(y, low, high, "deviate", ticks, labels)
    picture.equal = True


def det_limits(picture: Picture, models: list[ThresholdCounts]) -> tuple[float, float]:
    """Return the limits of both axes: well past the equal error rates, and down to half of the curves' lowest rates."""
    low, high = (picture.x.low, picture.x.high) if picture.has_curves else (0.02, 0.6)
    defined = [counts for counts in models if not ranking_metrics.one_class(counts)]
    high = min(max([high, *(1.5 * ranking_metrics.equal_error_rate(counts).value for counts in defined)]), 0.99)
    for counts in defined:
        low = min(low, *(rate / 2 for rate in _least_rates(counts, high)))
    return max(low, LOWEST), high


def _least_rates(counts: ThresholdCounts, high: float) -> tuple[float, float]:
    """Return the FPR where the FNR enters the picture, and the FNR where the FPR leaves the picture."""

    def missed(row: int) -> Any:
        return counts.n_pos - counts.tps[row]

    def alarms(row: int) -> Any:
        return counts.fps[row]

    rows = range(counts.thresholds.size)  # the first misses all positives; the last predicts all rows positive
    fpr = _least_count(missed, alarms, high * counts.n_pos, rows) / counts.n_neg
    return fpr, _least_count(alarms, missed, high * counts.n_neg, rows[::-1]) / counts.n_pos


def _least_count(falling: Any, rising: Any, limit: float, rows: range) -> float:
    """Return the rising count where the falling count reaches `limit`, but at least the lowest one above 0."""
    place = bisect_left(rows, -limit, key=lambda row: -falling(row))
    before, after = rows[max(place - 1, 0)], rows[min(place, len(rows) - 1)]
    fall = falling(before) - falling(after)
    share = (falling(before) - limit) / fall if fall > 0 else 1.0
    passed = rising(before) + share * (rising(after) - rising(before))
    least = rising(rows[min(bisect_right(rows, 0, key=rising), len(rows) - 1)])
    return float(max(passed, least))


def _errors(
    counts: ThresholdCounts, low: float, high: float, columns: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return FPR and FNR of points that draw the curve, which is linear in rates but not in their deviates."""

    def deviates(fpr: Any, tpr: Any) -> tuple[Any, Any]:
        return as_deviate(fpr), -as_deviate(tpr)

    left, right = as_deviate(np.array([low, high]))
    edges = as_rate(np.linspace(left, right, columns + 1)) * counts.n_neg
    rows = thinning.rows_to_draw(counts, lambda rows: counts.fps[rows], edges)
    longest = 4 * (right - left) / columns
    fpr, tpr = counts.fps[rows] / counts.n_neg, counts.tps[rows] / counts.n_pos
    fpr, tpr = thinning.refined(fpr, tpr, deviates, (longest, longest))
    x, y = deviates(fpr, tpr)
    return as_rate(x), as_rate(y)
