"""The picture of precision and recall."""

from __future__ import annotations

from collections.abc import Mapping
from operator import methodcaller
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fastevals._options import as_flag
from fastevals.document.picture import AxisScale, Picture
from fastevals.infer.bands import ConfidenceBand
from fastevals.measure import ranking_metrics
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.show.plots import style, thinning
from fastevals.show.plots.drawing import picture_on, show
from fastevals.show.plots.models import (
    Bands,
    Drawn,
    Models,
    add_band,
    add_band_entries,
    as_bands,
    as_models,
    common_share,
    label_of,
    number,
    styled_models,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    Between two thresholds the counts are straight and precision is drawn as it is, a hyperbola.

    Parameters
    ----------
    curve : PrecisionRecallCurve, Ranking, RankingSummary or ThresholdCounts, or mapping of str to them
        Of one model, or of several by name.
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's.
    title : str, optional
        Above the axes.
    label : str, optional
        The name of one curve, in the legend.
    color : colour or mapping of str to colour, optional
        Of one curve, as matplotlib names colours; by name where there are several.
    marks : bool
        Mark the break-even point, where precision and recall are equal.
    band : ConfidenceBand or mapping of str to ConfidenceBand, optional
        Of `confidence_band`, shaded behind the curves; by the models' names where `curve` is a mapping, of all of them
        or some.

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
    models = as_models("curve", curve, PrecisionRecallCurve, methodcaller("precision_recall_curve"), label)
    bands = as_bands(band, models, "precision_recall", label)
    ax = style.get_axes(ax, style.SQUARE, len(models))
    picture = picture_on(ax)
    draw_precision_recall(picture, models, color, marks=as_flag("marks", marks), bands=bands)
    return show(picture, ax, title)


def draw_precision_recall(
    picture: Picture, models: Models, color: Any = None, *, marks: bool = True, bands: Bands = MappingProxyType({})
) -> None:
    """Add precision-recall curves to a picture."""
    for name, each, look in styled_models(picture, models, color):
        break_even = picture.number(name, "break_even_point", ranking_metrics.break_even_point(each.counts).value)
        values = number("area", picture.number(name, "pr_auc", each.area)), number("BEP", break_even) if marks else ""
        add_band(picture, bands.get(name), look)
        points = thinning.hyperbolas(each.counts, picture.columns, lambda tp, fp: tp, each.counts.n_pos, 1.0)
        picture.add_curve(*points, label_of(name, *values), look)
        if marks:
            picture.add_ring(break_even, break_even, look)
    add_band_entries(picture, bands.values())
    share = common_share(models)
    picture.add_shared_reference(None if share is None else ([0, 1], [share, share]), "chance")
    if marks:
        picture.add_reference([0, 1], [0, 1], "precision = recall (BEP)", dotted=True)
    picture.x, picture.y = AxisScale("Recall", -0.02, 1.02), AxisScale("Precision", -0.02, 1.02)
    picture.equal = True
