"""Plot a test: the statistic's distribution under the null hypothesis, rejection region and observed value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastevals._distinct import sorted_union, sorted_unique
from fastevals._validation.curves import check_kind
from fastevals.document.picture import COLORS, DASHES, Arrow, AxisScale, Box, Look, Outline, Picture, Shade, ThinLines
from fastevals.infer.significance.decision import SYMMETRIC
from fastevals.results import Interval, Null, SignificanceResult
from fastevals.show.plots import style
from fastevals.show.plots.drawing import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SIZE = (6.4, 5.4)  # inches
Ends = tuple[float, float]

EXPECTED, REJECTED, SEEN = Look(COLORS[0]), Look(COLORS[1]), Look(COLORS[6], DASHES[1])
DISTRIBUTION_NAMES = {"binom": "binomial", "chi2": "chi-squared", "f": "F", "norm": "normal"}
SHOWN_SPANS = 1.75  # times the distances from the median to the quantiles of the level: the range drawn
FAR_WIDTHS = 3.0  # widths of the range: a statistic farther away is an arrow at the edge
STATISTIC_MARGIN = 0.05  # share of the range next to the statistic
MOST_BARS = 80


def plot_null(result: SignificanceResult, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the distribution of a test's statistic under the null hypothesis, with the observed statistic.

    Parameters
    ----------
    result : SignificanceResult
        Result of a test whose statistic has a named distribution (`result.null`).
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes: bars for a discrete distribution (one outline if the bars are many), a line for a continuous one. The
        rejection region is shaded, on the sides of the alternative. A line marks the statistic, with its p-value in
        the legend. A statistic far away or infinite is an arrow at the edge; a NaN is only in the legend.

    Raises
    ------
    ValueError
        If an argument has the wrong type, or the result's distribution is not named.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import fastevals
    >>> from matplotlib.figure import Figure
    >>> result = fastevals.delong_test([0, 0, 0, 1, 1, 1], [1, 2, 3, 2, 3, 4], [2, 3, 2, 1, 3, 2])
    >>> ax = plot_null(result, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['if the hypothesis holds: standard normal', 'rejected at level 0.05: beyond ±1.96', 'seen: 1.373, p = 0.17']
    """
    check_kind("result", result, SignificanceResult)
    _check_has_distribution("result", result)
    ax = style.get_axes(ax, SIZE, 1)
    picture = Picture(columns=style.count_columns(ax))
    draw_null(picture, result)
    return show(picture, ax, title)


def draw_null(picture: Picture, result: SignificanceResult) -> None:
    """Add the distribution of a test's statistic and the observed statistic to an empty picture."""
    null = _check_has_distribution("result", result)
    distribution = null.frozen()
    discrete = hasattr(distribution, "pmf")
    x_limits, region = _choose_x_limits(result, distribution, discrete), _acceptance_limits(result, discrete)
    draw = _draw_probabilities if discrete else _draw_density
    top = draw(picture, distribution, x_limits, region)
    picture.add_entry(_null_label(null), EXPECTED.color, "shade")
    description = _describe_region(region, distribution.support())
    if description:
        picture.add_entry(f"rejected at level {result.alpha:g}: {description}", REJECTED.color, "solid")
    _mark_statistic(picture, result, x_limits, top)
    margin = 0.6 if discrete else 0.0
    of = f" of {result.test}" if result.test else ""
    picture.x = AxisScale(f"Statistic{of}", x_limits[0] - margin, x_limits[1] + margin, whole=discrete)
    picture.y = AxisScale("Probability" if discrete else "Density", 0.0, 1.08 * top)
    picture.legend, picture.keyed = style.BELOW, True


def _null_label(null: Null) -> str:
    name = DISTRIBUTION_NAMES.get(null.name, null.name)
    numbers = ", ".join(map(_format_number, null.parameters))
    return f"if the hypothesis holds: {name}({numbers})" if numbers else f"if the hypothesis holds: standard {name}"


def _format_number(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e16 else f"{value:.4g}"


def _acceptance_limits(result: SignificanceResult, discrete: bool) -> Ends:
    """Return the limits beyond which the hypothesis is rejected; infinite on a side without rejection."""
    critical = result.critical_value
    if isinstance(critical, Interval):
        return critical.low, critical.high
    if math.isnan(critical):
        return -math.inf, math.inf
    if not discrete and result.null is not None and result.null.name not in SYMMETRIC:
        return -math.inf, critical  # of squares
    sides = {"two-sided": (-critical, critical), "less": (critical, math.inf), "greater": (-math.inf, critical)}
    return sides[result.alternative]


def _describe_region(region: Ends, support: Ends) -> str:
    """Describe the rejection region."""
    below, above = region
    if below == -above and support[0] < 0:
        return "" if math.isinf(above) else f"beyond ±{_format_number(above)}"
    sides = (("below", below, below > support[0]), ("above", above, above < support[1]))
    description = [f"{side} {_format_number(end)}" for side, end, exists in sides if exists]
    return " or ".join(description) or "at no value"


def _choose_x_limits(result: SignificanceResult, distribution: Any, discrete: bool) -> Ends:
    """Return the range to draw: likely values, and the observed one unless it is far away."""
    tail = min(result.alpha, 0.05) / 2
    bottom, top = distribution.support()
    first, median, last = distribution.ppf(tail), distribution.median(), distribution.isf(tail)
    low, high = max(median - SHOWN_SPANS * (median - first), bottom), min(median + SHOWN_SPANS * (last - median), top)
    reach, seen = FAR_WIDTHS * (high - low), result.statistic
    if low - reach <= seen <= high + reach:
        margin = STATISTIC_MARGIN * (high - low)
        low, high = max(min(low, seen - margin), bottom), min(max(high, seen + margin), top)
    return (float(math.ceil(low)), float(math.floor(high))) if discrete else (float(low), float(high))


def _draw_density(picture: Picture, distribution: Any, x_limits: Ends, region: Ends) -> float:
    """Draw a density, shaded in the rejection region; return its highest y."""
    low, high = x_limits
    x = sorted_union(np.linspace(low, high, picture.columns), [end for end in region if low < end < high])
    y = distribution.pdf(x)
    top = float(y.max())
    if math.isinf(top):  # at the left end, of a square's
        top = float(distribution.pdf(distribution.ppf(0.2)))
        y = np.minimum(y, 2 * top)
    picture.add(Shade(x, np.zeros(x.size), y, EXPECTED))
    for inside in (x <= region[0], x >= region[1]):
        if inside.any():
            picture.add(Shade(x[inside], np.zeros(int(inside.sum())), y[inside], REJECTED, solid=True))
    picture.add(ThinLines("density", [np.stack([x, y], axis=1)], EXPECTED, 1.8))
    return top


def _draw_probabilities(picture: Picture, distribution: Any, x_limits: Ends, region: Ends) -> float:
    """Draw a bar for each probability, or one outline if they are many; return the highest probability.

    The rejection region has another colour.
    """
    x = sorted_unique(np.linspace(*x_limits, min(int(x_limits[1] - x_limits[0]) + 1, picture.columns)).round())
    y = distribution.pmf(x)
    rejected = (x < region[0]) | (x > region[1])
    if x.size <= MOST_BARS:
        for place, height, is_rejected in zip(x.tolist(), y.tolist(), rejected.tolist(), strict=True):
            look, opacity = (REJECTED, 1.0) if is_rejected else (EXPECTED, style.SHADE)
            picture.add(Box((place - 0.4, place + 0.4), (0.0, height), look, opacity, edged=True))
    else:
        edges = np.concatenate([x[:1] - 0.5, (x[1:] + x[:-1]) / 2, x[-1:] + 0.5])
        for part in np.split(np.arange(x.size), np.flatnonzero(np.diff(rejected)) + 1):
            corners, heights = np.repeat(edges[part[0] : part[-1] + 2], 2)[1:-1], np.repeat(y[part], 2)
            is_rejected = bool(rejected[part[0]])
            look = REJECTED if is_rejected else EXPECTED
            picture.add(Shade(corners, np.zeros(corners.size), heights, look, solid=is_rejected))
        picture.add(Outline(edges, y, EXPECTED))
    return float(y.max())


def _mark_statistic(picture: Picture, result: SignificanceResult, x_limits: Ends, top: float) -> None:
    """Mark the statistic, with an arrow at the edge if it is outside the range."""
    seen, p = result.statistic, "p = 0 to a float" if result.pvalue == 0 else f"p = {result.pvalue:.3g}"
    if math.isnan(seen):
        picture.add_entry("seen: undefined (NaN)", marker="none")
    elif x_limits[0] <= seen <= x_limits[1]:
        picture.add_curve([seen, seen], [0, top], f"seen: {_format_number(seen)}, {p}", SEEN)
    else:
        is_left = seen < x_limits[0]
        label = f"seen, beyond the picture: {_format_number(seen)}, {p}"
        picture.add(Arrow(x_limits[0] if is_left else x_limits[1], top / 2, label, SEEN, to_left=is_left))


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_has_distribution(name: str, result: SignificanceResult) -> Null:
    """Return the distribution under the null hypothesis; raise unless it has a name and is defined."""
    null = result.null
    distribution = None if null is None else null.frozen()
    if null is None or distribution is None or math.isnan(distribution.median()):
        raise ValueError(f"{name} must have a distribution to draw, but its null is {null}")
    return null
