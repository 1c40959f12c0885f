"""Pictures of what is found: precision and recall, cumulative gain, lift."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure import ranking_metrics
from fastevals.measure.cells import ratio
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.curves import GainCurve, LiftCurve, PrecisionRecallCurve
from fastevals.show.plots import style, thinning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_gain", "plot_lift", "plot_precision_recall"]

Points = tuple[NDArray[np.float64], NDArray[np.float64]]


def plot_precision_recall(
    curve: PrecisionRecallCurve | Mapping[str, PrecisionRecallCurve], *, ax: Axes | None = None, marks: bool = True
) -> Axes:
    """Draw precision-recall curves, with the area and the break-even point.

    Between two thresholds the counts are straight and precision is drawn as it is, a hyperbola.

    Parameters
    ----------
    curve : PrecisionRecallCurve or mapping of str to PrecisionRecallCurve
        Of one model, or of several by name.
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's.
    marks : bool
        Mark the break-even point, where precision and recall are equal.

    Returns
    -------
    Axes
        What was drawn on. A model without positives is "undefined" in the legend.

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
    >>> ax = plot_precision_recall(ranking.precision_recall_curve(), ax=Figure().subplots())
    >>> ax.lines[0].get_label()
    'area 0.797, BEP 0.500'
    """
    models = check.as_named("curve", curve, PrecisionRecallCurve)
    ax = style.axes_for(ax, style.SQUARE, len(models))
    columns = style.columns_of(ax)
    for name, each, look in style.styled(ax, models):
        break_even = ranking_metrics.break_even_point(each.counts).value
        said = style.number("area", each.area), style.number("BEP", break_even) if marks else ""
        points = _hyperbolas(each.counts, columns, lambda tp, fp: tp, each.counts.n_pos, 1.0)
        style.line(ax, *points, style.named_label(name, *said), look)
        if marks:
            style.mark(ax, break_even, break_even, look)
    share = _common_share(models)
    if share is not None:
        style.reference(ax, [0, 1], [share, share], "chance")
    if marks:
        style.reference(ax, [0, 1], [0, 1], "precision = recall (BEP)", dotted=True)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    style.finish(ax, "Recall", "Precision")
    return ax


def plot_gain(curve: GainCurve | Mapping[str, GainCurve], *, ax: Axes | None = None) -> Axes:
    """Draw cumulative gain: the share of positives found against the share of rows taken, best scores first.

    Parameters
    ----------
    curve : GainCurve or mapping of str to GainCurve
        Of one model, or of several by name.
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's.

    Returns
    -------
    Axes
        What was drawn on. A model without positives is "undefined" in the legend.

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
    >>> [line.get_label() for line in plot_gain(ranking.gain_curve(), ax=Figure().subplots()).lines]
    ['area 0.625', 'perfect', 'chance']
    """
    models = check.as_named("curve", curve, GainCurve)
    ax = style.axes_for(ax, style.SQUARE, len(models))
    columns = style.columns_of(ax)
    for name, each, look in style.styled(ax, models):
        counts = each.counts
        total = counts.n_pos + counts.n_neg
        rows = _rows(counts, columns, lambda tp, fp: tp + fp, total)
        x, y = (counts.tps[rows] + counts.fps[rows]) / total, counts.tps[rows] / counts.n_pos
        style.line(ax, x, y, style.named_label(name, style.number("area", each.area)), look)
    share = _common_share(models)
    if share:
        style.reference(ax, [0, share, 1], [0, 1, 1], "perfect", dotted=True)
    style.reference(ax, [0, 1], [0, 1], "chance")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    style.finish(ax, "Share of rows predicted positive", "Gain, share of positives found", "lower right")
    return ax


def plot_lift(curve: LiftCurve | Mapping[str, LiftCurve], *, ax: Axes | None = None) -> Axes:
    """Draw lift: how many times as many positives are found as by chance, against the share of rows taken.

    Between two thresholds the counts are straight and lift is drawn as it is, a hyperbola.

    Parameters
    ----------
    curve : LiftCurve or mapping of str to LiftCurve
        Of one model, or of several by name.
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's.

    Returns
    -------
    Axes
        What was drawn on. A model without positives is "undefined" in the legend.

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
    >>> plot_lift(ranking.lift_curve(), ax=Figure().subplots()).get_ylabel()
    'Lift'
    """
    models = check.as_named("curve", curve, LiftCurve)
    ax = style.axes_for(ax, style.WIDE, len(models))
    columns = style.columns_of(ax)
    top = ax.get_ylim()[1] if style.has_curves(ax) else 1.1
    for name, each, look in style.styled(ax, models):
        counts = each.counts
        total, share = counts.n_pos + counts.n_neg, _share_of_positives(counts)
        x, y = _hyperbolas(counts, columns, lambda tp, fp: tp + fp, total, 1 / share)
        style.line(ax, x, y, style.named_label(name, style.number("mean lift", each.area)), look)
        top = max(top, 1.05 * float(y.max()))
    style.reference(ax, [0, 1], [1, 1], "chance")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02 * top, top))
    style.finish(ax, "Share of rows predicted positive", "Lift")
    return ax


def _common_share(models: Iterable[tuple[Any, Any]]) -> float | None:
    """Give the share of positives that all models' rows have; None where they differ, or there are no rows."""
    share = style.common(_share_of_positives(each.counts) for _, each in models)
    return None if share is None or math.isnan(share) else float(share)


def _share_of_positives(counts: ThresholdCounts) -> float:
    return float(ratio(counts.n_pos, counts.n_pos + counts.n_neg))


def _rows(
    counts: ThresholdCounts, columns: int, x: Callable[[Any, Any], Any], total: float, y: Any = None
) -> NDArray[np.intp]:
    edges = np.arange(1, columns) / columns * total
    return thinning.rows_to_draw(counts, lambda rows: x(counts.tps[rows], counts.fps[rows]), edges, y)


def _hyperbolas(
    counts: ThresholdCounts, columns: int, x: Callable[[Any, Any], Any], total: float, scale: float
) -> Points:
    """Give points of precision (times a scale) against what is taken or found, curved where tie groups are large."""

    def precision(rows: slice) -> NDArray[np.float64]:
        tp, fp = counts.tps[rows], counts.fps[rows]
        return tp / (tp + fp)  # type: ignore[no-any-return]

    rows = _rows(counts, columns, x, total, precision)
    first = float(precision(slice(1, 2))[0])

    def drawn(tp: Any, fp: Any) -> Points:
        predicted = tp + fp
        nothing = predicted == 0  # as the first rows taken; a share of a tie group has its precision
        return x(tp, fp) / total, scale * np.where(nothing, first, tp / np.where(nothing, 1, predicted))

    tp, fp = (each[rows].astype(np.float64) for each in (counts.tps, counts.fps))
    height = float(drawn(tp, fp)[1].max()) or 1.0
    return drawn(*thinning.refined(tp, fp, drawn, (4 / columns, 4 * height / columns)))
