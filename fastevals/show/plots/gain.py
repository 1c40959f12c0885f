"""Pictures of cumulative gain and lift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.measure.ranking.base import BaseRanking
from fastevals.show.plots import style, thinning

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_gain(
    curve: style.Drawn[GainCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Draw cumulative gain: the share of positives found against the share of rows taken, best scores first.

    Parameters
    ----------
    curve : GainCurve or Ranking, or mapping of str to them
        Of one model, or of several by name.
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's.
    title : str, optional
        Above the axes.
    label : str, optional
        The name of one curve, in the legend.
    color : colour or mapping of str to colour, optional
        Of one curve, as matplotlib names colours; by name where there are several.

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
    models = style.as_models("curve", curve, GainCurve, BaseRanking.gain_curve, label)
    ax = style.get_axes(ax, style.SQUARE, len(models))
    columns = style.count_columns(ax)
    for name, each, look in style.styled_models(ax, models, color):
        counts = each.counts
        total = counts.n_pos + counts.n_neg
        rows = thinning.rows_along(counts, columns, lambda tp, fp: tp + fp, total)
        x, y = (counts.tps[rows] + counts.fps[rows]) / total, counts.tps[rows] / counts.n_pos
        style.draw_curve(ax, x, y, style.legend_label(name, style.number("area", each.area)), look)
    share = style.common_share(models)
    style.draw_shared_reference(ax, None if share is None else ([0, share, 1], [0, 1, 1]), "perfect", dotted=True)
    style.draw_reference(ax, [0, 1], [0, 1], "chance")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    style.finish(ax, "Share of rows predicted positive", "Gain, share of positives found", "lower right", title=title)
    return ax


def plot_lift(
    curve: style.Drawn[LiftCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Draw lift: how many times as many positives are found as by chance, against the share of rows taken.

    Between two thresholds the counts are straight and lift is drawn as it is, a hyperbola.

    Parameters
    ----------
    curve : LiftCurve or Ranking, or mapping of str to them
        Of one model, or of several by name.
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's.
    title : str, optional
        Above the axes.
    label : str, optional
        The name of one curve, in the legend.
    color : colour or mapping of str to colour, optional
        Of one curve, as matplotlib names colours; by name where there are several.

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
    models = style.as_models("curve", curve, LiftCurve, BaseRanking.lift_curve, label)
    ax = style.get_axes(ax, style.WIDE, len(models))
    columns = style.count_columns(ax)
    top = ax.get_ylim()[1] if style.has_curves(ax) else 1.1
    for name, each, look in style.styled_models(ax, models, color):
        counts = each.counts
        total, share = counts.n_pos + counts.n_neg, style.share_of_positives(counts)
        x, y = thinning.hyperbolas(counts, columns, lambda tp, fp: tp + fp, total, 1 / share)
        style.draw_curve(ax, x, y, style.legend_label(name, style.number("mean lift", each.area)), look)
        top = max(top, 1.05 * float(y.max()))
    style.draw_reference(ax, [0, 1], [1, 1], "chance")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02 * top, top))
    style.finish(ax, "Share of rows predicted positive", "Lift", title=title)
    return ax
