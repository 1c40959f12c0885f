"""Pictures of cumulative gain and lift."""

from __future__ import annotations

from operator import methodcaller
from typing import TYPE_CHECKING, Any

from fastevals.document.picture import AxisScale, Picture
from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.show.plots import style, thinning
from fastevals.show.plots.drawing import picture_on, show
from fastevals.show.plots.models import (
    Drawn,
    Models,
    as_models,
    common_share,
    label_of,
    number,
    share_of_positives,
    styled_models,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_gain(
    curve: Drawn[GainCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Draw cumulative gain: the share of positives found against the share of rows taken, best scores first.

    Parameters
    ----------
    curve : GainCurve, Ranking, RankingSummary or ThresholdCounts, or mapping of str to them
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
    models = as_models("curve", curve, GainCurve, methodcaller("gain_curve"), label)
    ax = style.get_axes(ax, style.SQUARE, len(models))
    picture = picture_on(ax)
    draw_gain(picture, models, color)
    return show(picture, ax, title)


def draw_gain(picture: Picture, models: Models, color: Any = None) -> None:
    """Add gain curves to a picture."""
    for name, each, look in styled_models(picture, models, color):
        counts = each.counts
        total = counts.n_pos + counts.n_neg
        rows = thinning.rows_along(counts, picture.columns, lambda tp, fp: tp + fp, total)
        x, y = (counts.tps[rows] + counts.fps[rows]) / total, counts.tps[rows] / counts.n_pos
        picture.add_curve(x, y, label_of(name, number("area", each.area)), look)
    share = common_share(models)
    picture.add_shared_reference(None if share is None else ([0, share, 1], [0, 1, 1]), "perfect", dotted=True)
    picture.add_reference([0, 1], [0, 1], "chance")
    picture.x = AxisScale("Share of rows predicted positive", -0.02, 1.02)
    picture.y = AxisScale("Gain, share of positives found", -0.02, 1.02)
    picture.equal, picture.legend = True, "lower right"


def plot_lift(
    curve: Drawn[LiftCurve],
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
    curve : LiftCurve, Ranking, RankingSummary or ThresholdCounts, or mapping of str to them
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
    models = as_models("curve", curve, LiftCurve, methodcaller("lift_curve"), label)
    ax = style.get_axes(ax, style.WIDE, len(models))
    picture = picture_on(ax)
    draw_lift(picture, models, color)
    return show(picture, ax, title)


def draw_lift(picture: Picture, models: Models, color: Any = None) -> None:
    """Add lift curves to a picture."""
    top = picture.y.high if picture.has_curves else 1.1
    for name, each, look in styled_models(picture, models, color):
        counts = each.counts
        total, share = counts.n_pos + counts.n_neg, share_of_positives(counts)
        x, y = thinning.hyperbolas(counts, picture.columns, lambda tp, fp: tp + fp, total, 1 / share)
        picture.add_curve(x, y, label_of(name, number("mean lift", each.area)), look)
        top = max(top, 1.05 * float(y.max()))
    picture.add_reference([0, 1], [1, 1], "chance")
    picture.x = AxisScale("Share of rows predicted positive", -0.02, 1.02)
    picture.y = AxisScale("Lift", -0.02 * top, top)
