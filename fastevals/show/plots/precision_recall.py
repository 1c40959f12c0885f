"""The picture of precision and recall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastevals.infer.bands import ConfidenceBand
from fastevals.measure import ranking_metrics
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.ranking.base import BaseRanking
from fastevals.show.plots import style, thinning

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_precision_recall(
    curve: style.Drawn[PrecisionRecallCurve],
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
    curve : PrecisionRecallCurve or Ranking, or mapping of str to them
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
    models = style.as_models("curve", curve, PrecisionRecallCurve, BaseRanking.precision_recall_curve, label)
    bands = style.as_bands(band, models, "precision_recall", label)
    ax = style.get_axes(ax, style.SQUARE, len(models))
    columns = style.count_columns(ax)
    for name, each, look in style.styled_models(ax, models, color):
        break_even = ranking_metrics.break_even_point(each.counts).value
        values = style.number("area", each.area), style.number("BEP", break_even) if marks else ""
        style.draw_band(ax, bands.get(name), columns, look)
        points = thinning.hyperbolas(each.counts, columns, lambda tp, fp: tp, each.counts.n_pos, 1.0)
        style.draw_curve(ax, *points, style.legend_label(name, *values), look)
        if marks:
            style.mark_point(ax, break_even, break_even, look)
    style.add_band_entries(ax, bands.values())
    share = style.common_share(models)
    style.draw_shared_reference(ax, None if share is None else ([0, 1], [share, share]), "chance")
    if marks:
        style.draw_reference(ax, [0, 1], [0, 1], "precision = recall (BEP)", dotted=True)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    style.finish(ax, "Recall", "Precision", title=title)
    return ax
