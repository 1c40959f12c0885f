"""Plot expected costs: against PC(+), against the prior, and the difference between two classifiers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._options import as_flag, check_integer, listed
from fastevals._validation.curves import as_named
from fastevals.counts import ThresholdCounts
from fastevals.document.picture import AxisScale, Look, Picture, Shade, ThinLines
from fastevals.measure.curves.cost import CostCurve, CostDifference, CostOverPrior, compute_probability_cost, worst_cost
from fastevals.measure.curves.registry import CURVES
from fastevals.show.plots import style, thinning
from fastevals.show.plots.drawing import picture_on, show
from fastevals.show.plots.models import (
    Drawn,
    Models,
    common_value,
    label_models,
    label_of,
    number,
    styled_models,
)
from fastevals.show.plots.rates import plot_models

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 1000
PROBABILITY_COST, NORMALIZED = CURVES["cost"].x.label, CURVES["cost"].y.label


def plot_cost(
    curve: Drawn[CostCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
    lines: int = 0,
    marks: bool = True,
) -> Axes:
    """Draw cost curves: the least normalised expected cost at each PC(+), with the two trivial classifiers.

    Parameters
    ----------
    curve : CostCurve, Ranking, RankingSummary, ThresholdCounts or ClassRankings, or mapping of str to them
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
    lines : int
        Draw the lines of up to this many thresholds of each model, at equal steps along its ROC curve.
    marks : bool
        Draw the operating range, in which a model is cheaper than both trivial classifiers, as a bar at the bottom.

    Returns
    -------
    Axes
        The axes. A model whose rows lack positives or negatives is "undefined" in the legend.

    Raises
    ------
    ValueError
        If an argument has the wrong type or is out of range.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import fastevals
    >>> from matplotlib.figure import Figure
    >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> plot_cost({"mine": ranking.cost_curve()}, ax=Figure().subplots()).lines[0].get_label()
    'mine: area 0.125'
    """
    options: dict[str, Any] = {
        "lines": check_integer("lines", lines, low=0, high=MOST_LINES),
        "marks": as_flag("marks", marks),
    }
    return plot_models("cost", curve, ax, title, label, color, draw_cost, **options)


def draw_cost(picture: Picture, models: Models, color: Any = None, *, lines: int = 0, marks: bool = True) -> None:
    """Add cost curves to a picture."""
    for name, each, look in styled_models(picture, models, color):
        envelope = each.lower_envelope
        if lines:
            picture.add(_threshold_lines(each.counts, lines, look))
        points = thinning.thinned(envelope.probability_cost, envelope.cost, picture.columns)
        picture.add_curve(*points, label_of(name, number("area", envelope.area)), look)
        if marks:
            low, high = each.operating_range()
            picture.add_bar(low, high, look)
    picture.add_reference([0, 1], [1, 0], "always positive")
    picture.add_reference([0, 1], [0, 1], "always negative", dotted=True)
    if marks:
        picture.add_entry("operating range", marker="|")
    picture.x = AxisScale(PROBABILITY_COST, -0.02, 1.02)
    picture.y = AxisScale(NORMALIZED, picture.foot, 0.6, ticks=[k / 10 for k in range(7)])


def _threshold_lines(counts: ThresholdCounts, n: int, look: Look) -> ThinLines:
    """Return thin lines for n thresholds at equal steps along the ROC curve."""

    def along(rows: NDArray[np.intp]) -> NDArray[np.float64]:
        return counts.fps[rows] / counts.n_neg + counts.tps[rows] / counts.n_pos

    last = counts.thresholds.size - 1
    rows = thinning.first_at_least(along, last, np.linspace(0, 2, n + 2)[1:-1])
    rows = sorted_unique(rows[(rows > 0) & (rows < last)])
    fpr, fnr = counts.fps[rows] / counts.n_neg, (counts.n_pos - counts.tps[rows]) / counts.n_pos
    ends = [np.array([(0.0, left), (1.0, right)]) for left, right in zip(fpr.tolist(), fnr.tolist(), strict=True)]
    return ThinLines("thresholds", ends, look, 0.6, 0.35)


def plot_cost_over_prior(
    curve: Drawn[CostOverPrior],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Draw the least expected cost against the prior, with the two trivial classifiers at the same costs.

    Parameters
    ----------
    curve : CostOverPrior, Ranking, RankingSummary or ThresholdCounts, or mapping of str to them
        Curve of one model, or a mapping of names to curves, for several models or several costs. Either all curves or
        none are normalised. Rankings have equal costs.
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
        The axes. A model whose rows lack positives or negatives is "undefined" in the legend. The trivial classifiers
        are drawn if all curves have the same costs.

    Raises
    ------
    ValueError
        If an argument has the wrong type, or only some of the curves are normalised.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import fastevals
    >>> from matplotlib.figure import Figure
    >>> curve = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).cost_curve()
    >>> over = {f"a miss costs {cost}": curve.over_prior(cost_fn=cost) for cost in (1, 3)}
    >>> plot_cost_over_prior(over, ax=Figure().subplots()).get_legend_handles_labels()[1]
    ['a miss costs 1: area 0.125', 'a miss costs 3: area 0.108']
    """
    return plot_models("cost_over_prior", curve, ax, title, label, color, draw_cost_over_prior)


def draw_cost_over_prior(picture: Picture, models: Models, color: Any = None) -> None:
    """Add costs over the prior to a picture."""
    drawn = [picture.y.label == NORMALIZED] if picture.has_curves else []
    _check_all_equal("curve", "normalize", [*drawn, *(each.normalize for _, each in models)])
    before = picture.y.high if picture.has_curves else 0.0
    for name, each, look in styled_models(picture, models, color):
        points = _over_prior(each, picture.columns)
        picture.add_curve(*points, label_of(name, number("area", each.area)), look)
    costs = common_value((each.cost_fp, each.cost_fn) for _, each in models if each.defined)
    always: tuple[Any, Any] = None, None
    highest = [np.nanmax(each.cost, initial=0.0) for _, each in models]
    if costs is not None:
        prior = np.linspace(0, 1, 1001)
        share = compute_probability_cost(prior, *costs)
        worst = 1.0 if models[0][1].normalize else worst_cost(prior, *costs)
        always = (prior, (1 - share) * worst), (prior, share * worst)
        highest.append(np.nanmax(np.minimum(share, 1 - share) * worst, initial=0.0))
    picture.add_shared_reference(always[0], "always positive")
    picture.add_shared_reference(always[1], "always negative", dotted=True)
    top = max(1.2 * max(highest), before) or 1.0
    picture.x = AxisScale(CURVES["cost_over_prior"].x.label, -0.02, 1.02)
    picture.y = AxisScale(NORMALIZED if models[0][1].normalize else "Expected cost of a row", -0.02 * top, top)


def _over_prior(curve: CostOverPrior, columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points that draw the curve, with more points for the normalised cost, which is not linear."""
    prior, cost = thinning.thinned(curve.prior, curve.cost, columns)
    if not curve.normalize:
        return prior, cost

    def drawn(prior: Any, cost: Any) -> tuple[Any, Any]:
        worst = worst_cost(prior, curve.cost_fp, curve.cost_fn)
        return prior, np.divide(cost, worst, out=np.zeros_like(prior), where=worst > 0)

    row_cost = cost * worst_cost(prior, curve.cost_fp, curve.cost_fn)
    return drawn(*thinning.refined(prior, row_cost, drawn, (4 / columns, 2 / columns)))


def plot_cost_difference(
    difference: CostDifference | Mapping[str, CostDifference],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Draw what one classifier saves over another at each PC(+): above zero, the first is cheaper.

    Parameters
    ----------
    difference : CostDifference or mapping of str to CostDifference
        Result of ``curve.difference(other)``, or a mapping of names to such results.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.
    label : str, optional
        Name of a single difference in the legend.
    color : colour or mapping of str to colour, optional
        Matplotlib colour of a single difference, or a mapping of names to colours.

    Returns
    -------
    Axes
        The axes.

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
    >>> one, other = (fastevals.Ranking([0, 1, 0, 1], scores).cost_curve() for scores in ([1, 2, 3, 4], [1, 2, 4, 3]))
    >>> plot_cost_difference({"one over other": one.difference(other)}, ax=Figure().subplots()).lines[0].get_label()
    'one over other: mean saving 0.042'
    """
    models = label_models(label, as_named("difference", difference, CostDifference), isinstance(difference, Mapping))
    ax = style.get_axes(ax, style.WIDE, len(models))
    picture = picture_on(ax)
    for name, each, look in styled_models(picture, models, color):
        x, saving = thinning.thinned(each.probability_cost, each.saving, picture.columns)
        picture.add_curve(x, saving, label_of(name, number("mean saving", each.mean_saving)), look)
        if len(models) == 1:
            picture.add(Shade(x, np.zeros_like(x), saving, look))
    picture.add_reference([0, 1], [0, 0], "no saving")
    drawn = np.concatenate([[0.0], *(each.y for each in picture.curves)])
    low, high = float(drawn.min()), float(drawn.max())
    room = (high - low or 1.0) * 0.07 * (len(picture.curves) + 2)  # for the legend
    picture.x = AxisScale(PROBABILITY_COST, -0.02, 1.02)
    picture.y = AxisScale("Saving in normalised expected cost", low - 0.05 * (high - low or 1.0), high + room)
    picture.legend = "upper right"
    return show(picture, ax, title)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_all_equal(name: str, attribute: str, values: Collection[Any]) -> None:
    """Raise if results that share an axis differ in what the axis means."""
    if len(set(values)) > 1:
        raise ValueError(f"{name} must all have the same {attribute}, got {listed(values)}")
