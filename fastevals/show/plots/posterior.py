"""Plot the posterior of a comparison: a density with the region of equivalence, or draws in a triangle."""

from __future__ import annotations

import math
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union
from fastevals._validation.curves import check_kind
from fastevals.document.picture import COLORS, GREY, AxisScale, Look, Outline, Picture, Shade, ThinLines
from fastevals.infer.bayes.comparison import BayesComparison, probability_text
from fastevals.show.plots import style
from fastevals.show.plots.drawing import show
from fastevals.show.plots.fonts import fonts_for
from fastevals.show.plots.models import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

FIRST, ROPE, SECOND = Look(COLORS[0]), Look(GREY), Look(COLORS[1])
HEIGHT = math.sqrt(3) / 2  # of a triangle with sides of 1
CENTRE = (0.5, HEIGHT / 3)
CELLS_ACROSS = 60  # hexagons along a side of the triangle
ROOM = 0.15  # next to the triangle, in sides
LETTERS_ACROSS = 24  # of a name at a corner
DARKNESS_POWER = 0.4  # of the number of draws: many draws may be in one corner
POINTS = 400  # of a density
PALEST = 0.12  # of a hexagon with draws
SHOWN_TAIL = 0.0005  # posterior probability left out on each side of a density
BARS = 60


def plot_posterior(result: BayesComparison, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the posterior of a Bayesian comparison, with the probabilities of better, equivalent and worse.

    Parameters
    ----------
    result : BayesComparison
        Result of `bayes_correlated_t`, `bayes_signed_rank` or `bayes_hierarchical`, or a pair of learners of
        `bayes_bradley_terry` (its ``between``).
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        On one data set: the density of the difference, in three colours: below, within and above the region of
        practical equivalence. Over data sets: a triangle, whose corners stand for data sets on which only one learner
        is better, or the two are equivalent. Each draw from the posterior is a point in it, and more draws are darker;
        lines divide the triangle by the nearest corner, and the share of draws in each part is the probability written
        at its corner. If the rope is 0, and for a Bradley-Terry model: a histogram of the draws.

    Raises
    ------
    ValueError
        If an argument has the wrong type, or the posterior has no width.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import fastevals
    >>> from matplotlib.figure import Figure
    >>> accuracy = {"new": [0.84, 0.88, 0.83, 0.86, 0.85], "old": [0.82, 0.85, 0.83, 0.83, 0.82]}
    >>> found = fastevals.bayes_correlated_t(accuracy, rope=0.01, n_train=4, n_test=1, higher_is_better=True)
    >>> ax = plot_posterior(found, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['new better: 0.879', 'equivalent: 0.110', 'old better: 0.011']
    """
    check_kind("result", result, BayesComparison)
    if result.posterior is not None and not result.posterior.scale:
        raise ValueError(f"result must have a posterior with a width, but all of it is at {result.effect:g}")
    triangle = result.posterior is None and bool(result.rope) and not result.of_wins
    ax = style.get_axes(ax, style.SQUARE if triangle else style.WIDE, 1)
    if triangle:
        with fonts_for([result.a, result.b, title], ax):
            _draw_triangle(ax, result)
            style.set_title(ax, title)
        return ax
    picture = Picture(columns=style.count_columns(ax))
    if result.posterior is not None:
        _draw_density(picture, result)
    else:
        _draw_histogram(picture, result)
    for name, look, value in _parts(result):
        picture.add_entry(label_of(name, probability_text(value)), look.color, "shade")
    picture.legend, picture.keyed = style.BELOW, True
    return show(picture, ax, title)


def _parts(result: BayesComparison) -> list[tuple[str, Look, float]]:
    """Return the name, look and probability of each outcome."""
    parts = [(f"{result.a} better", FIRST, result.a_better), (f"{result.b} better", SECOND, result.b_better)]
    parts[1:1] = [("equivalent", ROPE, result.equivalent)] if result.rope else []
    return parts


def _ends(result: BayesComparison) -> tuple[float, float]:
    """Return the ends of the region of equivalence on the axis of the difference."""
    middle = 0.5 if result.of_wins else 0.0
    return middle - result.rope, middle + result.rope


# Densities ------------------------------------------------------------------------------------------------------------
def _looks(result: BayesComparison, upper_is_better: bool) -> list[tuple[float, float, Look]]:
    """Return the ranges of the difference with their looks, from low to high."""
    low, high = _ends(result)
    looks = (SECOND, FIRST) if upper_is_better else (FIRST, SECOND)
    return [(-math.inf, low, looks[0]), (low, high, ROPE), (high, math.inf, looks[1])]


def _draw_density(picture: Picture, result: BayesComparison) -> None:
    """Draw a known posterior, coloured by outcome."""
    posterior = result.posterior
    assert posterior is not None
    rope_low, rope_high = _ends(result)
    reach = posterior.interval(1 - 2 * SHOWN_TAIL)
    low, high = min(reach.low, 1.2 * rope_low), max(reach.high, 1.2 * rope_high)
    x = sorted_union(np.linspace(low, high, POINTS), [rope_low, rope_high])
    y = np.asarray(posterior.pdf(x))
    for start, end, look in _looks(result, result.greater_is_better):
        inside = (x >= start) & (x <= end)
        if np.count_nonzero(inside) > 1:
            picture.add(Shade(x[inside], np.zeros(np.count_nonzero(inside)), y[inside], look))
            picture.add(ThinLines("density", [np.stack([x[inside], y[inside]], axis=1)], look, 1.8))
    of = "" if result.metric is None else f" in {result.metric}"
    picture.x = AxisScale(f"Difference{of}, {label_of(str(result.a))} minus {label_of(str(result.b))}", low, high)
    picture.y = AxisScale("Density", 0.0, 1.08 * float(y.max()))


def _draw_histogram(picture: Picture, result: BayesComparison) -> None:
    """Draw a histogram of draws: of the probability of winning, or of the share of data sets a is better on."""
    values = result.differences() if result.of_wins else result.shares()[:, 0]
    ends = _ends(result) if result.of_wins else (0.5, 0.5)
    low, high = (float(each) for each in np.quantile(values, [SHOWN_TAIL, 1 - SHOWN_TAIL]))
    low, high = max(0.0, min(low, ends[0] - 0.02)), min(1.0, max(high, ends[1] + 0.02))
    for start, end, look in ((0.0, ends[0], SECOND), (*ends, ROPE), (ends[1], 1.0, FIRST)):
        left, right = max(start, low), min(end, high)
        if left < right:
            n_bars = max(1, round(BARS * (right - left) / (high - low)))
            heights, edges = np.histogram(values, n_bars, (left, right))
            density = heights / ((edges[1] - edges[0]) * values.size)
            picture.add(Outline(edges, density, look, filled=True))
    what = "Probability that {} beats {}" if result.of_wins else "Share of data sets on which {} is better than {}"
    picture.x = AxisScale(what.format(label_of(str(result.a)), label_of(str(result.b))), low, high)
    picture.y = AxisScale("Density", 0.0)
    picture.y.low = math.nan


# The triangle ---------------------------------------------------------------------------------------------------------
def _draw_triangle(ax: Any, result: BayesComparison) -> None:
    """Draw the shares of each draw as a point in a triangle, with the probabilities at its corners."""
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm, to_rgb

    shares = result.shares()
    x, y = shares[:, 2] + shares[:, 1] / 2, shares[:, 1] * HEIGHT
    ink = np.array(to_rgb(FIRST.color))
    shades = LinearSegmentedColormap.from_list("draws", [tuple(1 - PALEST * (1 - ink)), tuple(ink)])
    size = (CELLS_ACROSS, round(CELLS_ACROSS * HEIGHT / math.sqrt(3)))
    options: dict[str, Any] = {"cmap": shades, "norm": PowerNorm(DARKNESS_POWER), "linewidths": 0.2, "zorder": 2}
    ax.hexbin(x, y, gridsize=size, extent=(0.0, 1.0, 0.0, HEIGHT), mincnt=1, **options)
    corners = np.array([(0.0, 0.0), (0.5, HEIGHT), (1.0, 0.0), (0.0, 0.0)])
    ax.plot(*corners.T, color="black", linewidth=1.2, zorder=3, label="_triangle")
    for side in ((0.5, 0.0), (0.25, HEIGHT / 2), (0.75, HEIGHT / 2)):
        ends = np.array([CENTRE, side])
        ax.plot(*ends.T, color=GREY, linewidth=1.0, linestyle=style.line_style((4, 3)), zorder=3, label="_parts")
    places = (
        (-ROOM, -0.03, "left", "top"),
        (0.5, HEIGHT + 0.03, "center", "bottom"),
        (1 + ROOM, -0.03, "right", "top"),
    )
    for (x_text, y_text, across, along), (name, _, value) in zip(places, _parts(result), strict=True):
        words = "\n".join([*wrap(label_of(name), LETTERS_ACROSS), probability_text(value)])
        ax.text(x_text, y_text, style.as_written(words), ha=across, va=along, multialignment="center")
    ax.set(xlim=(-ROOM, 1 + ROOM), ylim=(-0.14, HEIGHT + 0.14))
    ax.set_aspect("equal")
    ax.set_axis_off()
