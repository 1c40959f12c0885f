"""Plot net benefit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals.document.picture import AxisScale, Picture
from fastevals.measure.curves.decision import DecisionCurve
from fastevals.measure.curves.registry import CURVES
from fastevals.show.plots.models import Drawn, Models, common_value, label_of, styled_models
from fastevals.show.plots.rates import plot_models

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_decision(
    curve: Drawn[DecisionCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Draw decision curves: net benefit against threshold probability, with treating all and treating none.

    Parameters
    ----------
    curve : DecisionCurve, Ranking, RankingSummary, ThresholdCounts or ClassRankings, or mapping of str to them
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
        The axes, with most of the negative net benefit cut off. A NaN curve is "undefined" in the legend. Treating
        all is drawn if it is the same for all models.

    Raises
    ------
    ValueError
        If an argument has the wrong type.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import fastevals
    >>> from fastevals.measure.curves.decision import DecisionCurve
    >>> from matplotlib.figure import Figure
    >>> counts = fastevals.Ranking([0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.8]).counts
    >>> ax = plot_decision({"mine": DecisionCurve.from_counts(counts)}, ax=Figure().subplots())
    >>> [line.get_label() for line in ax.lines]
    ['mine', 'treat all', 'treat none']
    """
    return plot_models("decision", curve, ax, title, label, color, draw_decision)


def draw_decision(picture: Picture, models: Models, color: Any = None) -> None:
    """Add decision curves to a picture."""
    top = picture.y.high if picture.has_curves else 0.0
    for name, each, look in styled_models(picture, models, color):
        x, benefit = _ascending(each, each.net_benefit)
        picture.add_curve(x, benefit, label_of(name) or "model", look)
        top = max(top, 1.05 * float(np.nanmax(benefit)), 1.05 * float(np.nanmax(each.treat_all)))
    treat_all = common_value(_ascending(each, each.treat_all) for _, each in models if each.defined)
    picture.add_shared_reference(treat_all, "treat all")
    picture.add_reference([0, 1], [0, 0], "treat none", dotted=True)
    top = top or 1.0
    entry = CURVES["decision"]
    picture.x = AxisScale(entry.x.label, -0.02, 1.02)
    picture.y = AxisScale(entry.y.label, -0.2 * top, top)


def _ascending(curve: DecisionCurve, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    order = np.argsort(curve.threshold_probability, kind="stable")
    return curve.threshold_probability[order], values[order]
