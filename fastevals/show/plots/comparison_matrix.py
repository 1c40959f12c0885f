"""Plot the comparison of every learner with every other one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals._text import format_pvalue
from fastevals._validation.curves import check_kind
from fastevals._validation.tables import as_result_table
from fastevals.document.picture import COLORS, AxisScale, Picture, Squares
from fastevals.infer.learners.ranks import head_to_head
from fastevals.infer.significance.pairwise import PairwiseResult, adjustment_text, pairwise_tests
from fastevals.infer.significance.rank_comparisons import check_same_learners
from fastevals.show.plots import style
from fastevals.show.plots.drawing import show
from fastevals.show.plots.models import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

DARKEST_CELL = 0.7  # of the largest difference: black text stays readable
MOST_WRITTEN = 20  # learners: with more, cells have no text
MOST_NARROW = 5  # learners whose columns are narrower than a line of text
DIGITS = 3  # of the largest difference
SIGN_INK = COLORS[6]


def plot_comparison_matrix(
    results: Any,
    *,
    pairs: PairwiseResult | None = None,
    higher_is_better: bool | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw how every learner compares with every other one: difference, wins, ties and losses, and p-value.

    Parameters
    ----------
    results : Results, array-like, mapping or frame
        Results of learners on several data sets, or on the folds of one, as for `friedman_test`.
    pairs : PairwiseResult, optional
        Tests of the same learners, by `pairwise_tests` or `nemenyi_test`; by default Wilcoxon's signed-rank test of all
        pairs with Holm's correction.
    higher_is_better : bool, optional
        As for `friedman_test`.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes. Learners are sorted by their mean result, the best first. The cell of a row and a column has the mean
        of the row's results minus the column's, how often the row's learner wins, ties and loses, and the p-value. It
        is blue if the row's learner is better on average and orange if the column's is; the largest difference is the
        darkest. Significant cells are bold. Cells without room for text, and all cells of more than 20 learners, have a
        dot instead.

    Raises
    ------
    ValueError
        If an argument has the wrong type, or `pairs` has other learners than `results`.
    ImportError
        If matplotlib is not installed.

    References
    ----------
    Ismail-Fawaz et al. (2023), "An Approach to Multiple Comparison Benchmark Evaluations that is Stable Under
    Manipulation of the Comparate Set", https://arxiv.org/abs/2305.11921. They don't adjust p-values for the number of
    pairs: pass ``pairs=pairwise_tests(results, correction="none")`` for that.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> accuracy = {"a": [0.9, 0.8, 0.7, 0.9, 0.8, 0.9], "b": [0.7, 0.7, 0.6, 0.8, 0.6, 0.7]}
    >>> ax = plot_comparison_matrix(accuracy, ax=Figure(figsize=(5, 5)).subplots())
    >>> [text.get_text().split() for text in ax.texts]
    [['+0.150', '6/0/0', 'p', '0.0312'], ['-0.150', '0/0/6', 'p', '0.0312']]
    """
    table = as_result_table("results", results)
    higher = table.higher_is_better(higher_is_better)
    if pairs is None:
        pairs = pairwise_tests(results)
    check_kind("pairs", pairs, PairwiseResult)
    check_same_learners("pairs", pairs, table.algorithms)
    picture = Picture()
    draw_comparison_matrix(picture, table.values, table.algorithms, pairs, higher)
    return show(picture, style.get_axes(ax, comparison_matrix_size(picture), 1), title)


def comparison_matrix_size(picture: Picture) -> tuple[float, float]:
    """Return the figure's size in inches for the names of its picture."""
    names = picture.x.tick_labels or ()
    cell = 0.75 if len(names) <= MOST_WRITTEN else 0.25
    width = 1.6 + 0.07 * max(map(len, names)) + max(3.2, cell * len(names))
    return width + 0.6, width


def draw_comparison_matrix(
    picture: Picture, values: Floats, names: tuple[Any, ...], pairs: PairwiseResult, higher_is_better: bool
) -> None:
    """Add the comparisons of all pairs of learners (columns of `values`) to an empty picture."""
    k = len(names)
    means = np.nanmean(values, axis=0)
    order = np.argsort(-means if higher_is_better else means, kind="stable")
    wins, ties, difference = head_to_head(values[:, order], higher_is_better)
    np.fill_diagonal(difference, np.nan)
    places = np.array([pairs.names.index(names[place]) for place in order])
    p, rejected = (pairs.matrix(each)[np.ix_(places, places)] for each in ("pvalue", "rejected"))
    np.fill_diagonal(rejected, 0)
    largest = float(np.nanmax(np.abs(difference))) or 1.0
    decimals = max(0, DIGITS - 1 - math.floor(math.log10(largest)))
    lines = [
        [_lines(difference[i, j], (wins[i, j], ties[i, j], wins[j, i]), p[i, j], decimals, k) for j in range(k)]
        for i in range(k)
    ]
    toward = difference if higher_is_better else -difference
    scale = AxisScale(
        f"mean difference, row minus column{'' if higher_is_better else ' (lower is better)'}", DARKEST_CELL,
        -DARKEST_CELL, ticks=[DARKEST_CELL, 0.0, -DARKEST_CELL],
        tick_labels=[f"{each:+.{decimals}f}" if each else "0" for each in _ends(largest, higher_is_better)],
    )  # fmt: skip
    darkness = DARKEST_CELL * np.abs(difference) / largest
    picture.add(Squares(darkness, lines, {"dot": rejected == 1}, scale, opposite=toward < 0))
    if (rejected == 1).any():
        gap = "\n" if k <= MOST_NARROW else " "
        test = f"{pairs.test}{adjustment_text(pairs.correction)}"
        picture.add_entry(f"bold, or a dot: p < {pairs.alpha:g}{gap}({test})", SIGN_INK, "dot")
    shown_names = [label_of(str(names[place]), f"{means[place]:.{max(decimals, 1)}f}") for place in order]
    picture.x = AxisScale(
        "", -0.5, k - 0.5, ticks=range(k), tick_labels=[label_of(str(names[place])) for place in order]
    )
    picture.y = AxisScale("", k - 0.5, -0.5, ticks=range(k), tick_labels=shown_names)
    picture.equal, picture.legend, picture.keyed = True, style.OVER, True


def _ends(largest: float, higher_is_better: bool) -> tuple[float, float, float]:
    best = largest if higher_is_better else -largest
    return best, 0.0, -best


def _lines(difference: float, counts: tuple[int, int, int], p: float, decimals: int, k: int) -> tuple[str, ...]:
    if k > MOST_WRITTEN or math.isnan(difference):
        return ()
    pvalue = () if math.isnan(p) else (f"p {format_pvalue(p)}",)
    return (f"{difference:+.{decimals}f}", "/".join(map(str, counts)), *pvalue)
