"""Pictures of the two error rates: ROC and DET."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals.counts import ThresholdCounts
from fastevals.infer.bands import ConfidenceBand
from fastevals.measure import ranking_metrics
from fastevals.measure.curves.roc import DetCurve, RocCurve
from fastevals.measure.ranking.base import BaseRanking
from fastevals.show.plots import style, thinning

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PERCENTS = (0.0001, 0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 40, 60, 80, 90, 95, 98, 99, 99.9, 99.99)  # ticks of a DET
HULL = "#333333"  # of no model, to be seen on any curve
FARTHEST = 8.0  # standard deviations; a rate of 0 is drawn there, outside the picture
LOWEST = 1e-5  # rate that a DET picture shows


def plot_roc(
    curve: style.Drawn[RocCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
    hull: bool = False,
    marks: bool = True,
    band: ConfidenceBand | Mapping[str, ConfidenceBand] | None = None,
) -> Axes:
    """Draw ROC curves, with AUC and equal error rate.

    Parameters
    ----------
    curve : RocCurve or Ranking, or mapping of str to them
        Of one model, or of several by name.
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's.
    title : str, optional
        Above the axes.
    label : str, optional
        The name of one curve, in the legend.
    color : colour or mapping of str to colour, optional
        Of one curve, as matplotlib names colours; by name where there are several.
    hull : bool
        Draw convex hulls too, in thin dark lines.
    marks : bool
        Mark where false positive rate and false negative rate are equal.
    band : ConfidenceBand or mapping of str to ConfidenceBand, optional
        Of `confidence_band`, shaded behind the curves; by the models' names where `curve` is a mapping, of all of them
        or some.

    Returns
    -------
    Axes
        What was drawn on. A model without positives or negatives is "undefined" in the legend.

    Raises
    ------
    ValueError
        If an argument is of another kind.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> import fastevals
    >>> from matplotlib.figure import Figure
    >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> ax = plot_roc({"mine": ranking.roc_curve()}, ax=Figure().subplots())
    >>> ax.lines[0].get_label()
    'mine: AUC 0.750, EER 0.500'
    """
    models = style.as_models("curve", curve, RocCurve, BaseRanking.roc_curve, label)
    bands = style.as_bands(band, models, "roc", label)
    ax = style.get_axes(ax, style.SQUARE, len(models))
    columns = style.count_columns(ax)
    for name, each, look in style.styled_models(ax, models, color):
        error = ranking_metrics.equal_error_rate(each.counts).value
        values = style.number("AUC", each.area), style.number("EER", error) if marks else ""
        style.draw_band(ax, bands.get(name), columns, look)
        style.draw_curve(ax, *_rates(each.counts, columns), style.legend_label(name, *values), look)
        if hull:
            ax.plot(*_rates(each.hull().counts, columns), color=HULL, linewidth=0.9, label="_hull", zorder=2.2)
        if marks:
            style.mark_point(ax, error, 1 - error, look)
    if hull:
        style.add_legend_entry(ax, "convex hull", HULL)
    style.add_band_entries(ax, bands.values())
    style.draw_reference(ax, [0, 1], [0, 1], "chance")
    if marks:
        style.draw_reference(ax, [0, 1], [1, 0], "equal error rates (EER)", dotted=True)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    style.finish(ax, "False positive rate", "True positive rate", "lower right", title=title)
    return ax


def _rates(counts: ThresholdCounts, columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return FPR and TPR of the rows that draw the polyline."""
    edges = np.arange(1, columns) / columns * counts.n_neg
    rows = thinning.rows_to_draw(counts, lambda rows: counts.fps[rows], edges)
    return counts.fps[rows] / counts.n_neg, counts.tps[rows] / counts.n_pos


def plot_det(
    curve: style.Drawn[DetCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
    marks: bool = True,
) -> Axes:
    """Draw DET curves on normal-deviate axes: straight where the scores of each class are normal.

    The axes hold rates; their scale puts them at their normal deviates, with ticks in percent.

    Parameters
    ----------
    curve : DetCurve or Ranking, or mapping of str to them
        Of one model, or of several by name.
    ax : Axes, optional
        Where to draw, an empty one or one of this function's; by default a new figure of pyplot's.
    title : str, optional
        Above the axes.
    label : str, optional
        The name of one curve, in the legend.
    color : colour or mapping of str to colour, optional
        Of one curve, as matplotlib names colours; by name where there are several.
    marks : bool
        Mark where the two error rates are equal.

    Returns
    -------
    Axes
        What was drawn on. A model without positives or negatives is "undefined" in the legend.

    Raises
    ------
    ValueError
        If an argument is of another kind.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> import fastevals
    >>> from matplotlib.figure import Figure
    >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> plot_det(ranking.det_curve(), ax=Figure().subplots()).lines[0].get_label()
    'EER 50.00 %'
    """
    models = style.as_models("curve", curve, DetCurve, BaseRanking.det_curve, label)
    ax = style.get_axes(ax, style.SQUARE, len(models))
    low, high = _det_limits(ax, [each.counts for _, each in models])
    _normal_deviate_axes(ax, low, high)
    columns = style.count_columns(ax)
    for name, each, look in style.styled_models(ax, models, color):
        error = ranking_metrics.equal_error_rate(each.counts).value
        style.draw_curve(
            ax, *_errors(each.counts, low, high, columns), style.legend_label(name, f"EER {100 * error:.2f} %"), look
        )
        if marks:
            style.mark_point(ax, error, error, look)
    if marks:
        ends = [low / 10, 1 - (1 - high) / 10]
        style.draw_reference(ax, ends, ends, "equal error rates (EER)", dotted=True)
    style.finish(ax, "False positive rate, %", "False negative rate, %", title=title)
    return ax


def _deviate(rate: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normal deviate of a rate, within the farthest."""
    from scipy.special import ndtri

    with np.errstate(invalid="ignore"):
        return np.clip(ndtri(rate), -FARTHEST, FARTHEST)  # type: ignore[no-any-return]


def _rate(deviate: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import ndtr

    return ndtr(deviate)  # type: ignore[no-any-return]


def _det_limits(ax: Axes, models: list[ThresholdCounts]) -> tuple[float, float]:
    """Return the limits of both axes: well past the equal error rates, and half of where a curve leaves."""
    low, high = ax.get_xlim() if style.has_curves(ax) else (0.02, 0.6)
    defined = [counts for counts in models if not ranking_metrics.one_class(counts)]
    high = min(max([high, *(1.5 * ranking_metrics.equal_error_rate(counts).value for counts in defined)]), 0.99)
    for counts in defined:
        rows = range(counts.thresholds.size)
        top = bisect_left(rows, (1 - high) * counts.n_pos, key=lambda row: counts.tps[row])
        first = max(top, bisect_right(rows, 0, key=lambda row: counts.fps[row]))
        right = bisect_right(rows, high * counts.n_neg, key=lambda row: counts.fps[row]) - 1
        last = min(right, bisect_left(rows, counts.n_pos, key=lambda row: counts.tps[row]) - 1)
        low = min(low, counts.fps[first] / counts.n_neg / 2, (1 - counts.tps[last] / counts.n_pos) / 2)
    return max(float(low), LOWEST), high


def _normal_deviate_axes(ax: Axes, low: float, high: float) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    ax.set(xlim=(low, high), ylim=(low, high))
    ax.set_xscale("function", functions=(_deviate, _rate))
    ax.set_yscale("function", functions=(_deviate, _rate))
    ax.set_box_aspect(1)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator([percent / 100 for percent in PERCENTS]))
        axis.set_major_formatter(FixedFormatter([f"{percent:g}" for percent in PERCENTS]))
        axis.set_minor_locator(NullLocator())


def _errors(
    counts: ThresholdCounts, low: float, high: float, columns: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return FPR and FNR of points that draw the curve, which is straight in rates and not in their deviates."""

    def deviates(fpr: Any, tpr: Any) -> tuple[Any, Any]:
        return _deviate(fpr), -_deviate(tpr)

    left, right = _deviate(np.array([low, high]))
    edges = _rate(np.linspace(left, right, columns + 1)) * counts.n_neg
    rows = thinning.rows_to_draw(counts, lambda rows: counts.fps[rows], edges)
    longest = 4 * (right - left) / columns
    fpr, tpr = counts.fps[rows] / counts.n_neg, counts.tps[rows] / counts.n_pos
    fpr, tpr = thinning.refined(fpr, tpr, deviates, (longest, longest))
    x, y = deviates(fpr, tpr)
    return _rate(x), _rate(y)
