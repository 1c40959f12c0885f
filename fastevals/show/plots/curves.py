"""Plot curves: most from their registry entries, the others by functions of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from fastevals._options import as_flag
from fastevals.infer.bands import ConfidenceBand
from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.registry import CurveEntry
from fastevals.measure.curves.roc import RocCurve
from fastevals.show.plots.calibration import draw_calibration, draw_reliability
from fastevals.show.plots.cost import draw_cost, draw_cost_over_prior
from fastevals.show.plots.decision import draw_decision
from fastevals.show.plots.det import draw_det
from fastevals.show.plots.models import Drawn
from fastevals.show.plots.rates import draw_rates, plot_models

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWINGS: dict[str, Callable[..., None]] = {  # for curves whose axes are not counts, or have special scales
    "det": draw_det,
    "cost": draw_cost,
    "cost_over_prior": draw_cost_over_prior,
    "calibration": draw_calibration,
    "reliability": draw_reliability,
    "decision": draw_decision,
}


def drawing_of(entry: CurveEntry) -> Callable[..., None]:
    """Return the function that adds curves of models to a picture."""
    return DRAWINGS.get(entry.name) or partial(draw_rates, entry)


def plot_roc(
    curve: Drawn[RocCurve],
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
    curve : RocCurve, Ranking, RankingSummary, ThresholdCounts or ClassRankings, or mapping of str to them
        Curve of one model, or a mapping of names to curves. `ClassRankings` alone are drawn class by class, with the
        averages.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.
    label : str, optional
        Name of a single curve in the legend.
    color : colour or mapping of str to colour, optional
        Matplotlib colour of a single curve, or a mapping of names to colours.
    hull : bool
        Also draw convex hulls, as thin dark lines.
    marks : bool
        Mark the points with equal false positive and false negative rates.
    band : ConfidenceBand or mapping of str to ConfidenceBand, optional
        Band from `confidence_band`, shaded behind the curve; if `curve` is a mapping, a mapping of names to bands. Not
        every curve needs a band.

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
    >>> ax = plot_roc({"mine": ranking.roc_curve()}, ax=Figure().subplots())
    >>> ax.lines[0].get_label()
    'mine: AUC 0.750, EER 0.500'
    """
    options: dict[str, Any] = {"hull": as_flag("hull", hull), "marks": as_flag("marks", marks), "band": band}
    return plot_models("roc", curve, ax, title, label, color, **options)


def plot_precision_recall(
    curve: Drawn[PrecisionRecallCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
    marks: bool = True,
    band: ConfidenceBand | Mapping[str, ConfidenceBand] | None = None,
) -> Axes:
    """Draw precision-recall curves, with the area and the break-even point.

    Between two thresholds counts are linear, so precision is drawn as a hyperbola.

    Parameters
    ----------
    curve : PrecisionRecallCurve, Ranking, RankingSummary, ThresholdCounts or ClassRankings, or mapping of str to them
        Curve of one model, or a mapping of names to curves. `ClassRankings` alone are drawn class by class, with the
        averages.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.
    label : str, optional
        Name of a single curve in the legend.
    color : colour or mapping of str to colour, optional
        Matplotlib colour of a single curve, or a mapping of names to colours.
    marks : bool
        Mark the break-even point, where precision and recall are equal.
    band : ConfidenceBand or mapping of str to ConfidenceBand, optional
        Band from `confidence_band`, shaded behind the curve; if `curve` is a mapping, a mapping of names to bands. Not
        every curve needs a band.

    Returns
    -------
    Axes
        The axes. A model without positives is "undefined" in the legend.

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
    >>> ax = plot_precision_recall(ranking.precision_recall_curve(), ax=Figure().subplots())
    >>> ax.lines[0].get_label()
    'area 0.797, BEP 0.500'
    """
    options: dict[str, Any] = {"marks": as_flag("marks", marks), "band": band}
    return plot_models("precision_recall", curve, ax, title, label, color, **options)


def plot_gain(
    curve: Drawn[GainCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Draw cumulative gain: the share of positives found against the share of rows taken, highest scores first.

    Parameters
    ----------
    curve : GainCurve, Ranking, RankingSummary, ThresholdCounts or ClassRankings, or mapping of str to them
        Curve of one model, or a mapping of names to curves. `ClassRankings` alone are drawn class by class, with the
        averages.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.
    label : str, optional
        Name of a single curve in the legend.
    color : colour or mapping of str to colour, optional
        Matplotlib colour of a single curve, or a mapping of names to colours.

    Returns
    -------
    Axes
        The axes. A model without positives is "undefined" in the legend.

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
    >>> [line.get_label() for line in plot_gain(ranking.gain_curve(), ax=Figure().subplots()).lines]
    ['area 0.625', 'perfect', 'chance']
    """
    return plot_models("gain", curve, ax, title, label, color)


def plot_lift(
    curve: Drawn[LiftCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Draw lift: positives found, as a multiple of those expected by chance, against the share of rows taken.

    Between two thresholds counts are linear, so lift is drawn as a hyperbola.

    Parameters
    ----------
    curve : LiftCurve, Ranking, RankingSummary, ThresholdCounts or ClassRankings, or mapping of str to them
        Curve of one model, or a mapping of names to curves. `ClassRankings` alone are drawn class by class, with the
        averages.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.
    label : str, optional
        Name of a single curve in the legend.
    color : colour or mapping of str to colour, optional
        Matplotlib colour of a single curve, or a mapping of names to colours.

    Returns
    -------
    Axes
        The axes. A model without positives is "undefined" in the legend.

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
    >>> plot_lift(ranking.lift_curve(), ax=Figure().subplots()).get_ylabel()
    'Lift'
    """
    return plot_models("lift", curve, ax, title, label, color)


def plot_function(entry: CurveEntry) -> Callable[..., Axes]:
    """Make the plot function of a registry entry that has no function of its own here."""

    def plot(
        curve: Drawn[Any],
        *,
        ax: Axes | None = None,
        title: str | None = None,
        label: str | None = None,
        color: Any = None,
    ) -> Axes:
        return plot_models(entry.name, curve, ax, title, label, color, DRAWINGS.get(entry.name))

    plot.__name__ = plot.__qualname__ = f"plot_{entry.name}"
    plot.__doc__ = f"Draw {entry.kind_name}s: arguments as for `plot_lift`."
    return plot
