"""Plot the p-values of many pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastevals._validation.curves import check_kind
from fastevals.document.picture import COLORS, AxisScale, Picture, Squares
from fastevals.infer.significance.pairwise import PairwiseResult
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.show.plots import style
from fastevals.show.plots.drawing import show
from fastevals.show.plots.models import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PALEST = 1 / 6  # darkness of p = 1, so that it is not blank
LEAST_PVALUE = 0.001  # smaller p-values look the same
MOST_NUMBERS = 15  # models: with more, cells have no numbers
INK = COLORS[6]


def plot_pvalues(result: PairwiseResult, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw adjusted p-values of pairs of models as a grid.

    Parameters
    ----------
    result : PairwiseResult
        Result of a test of pairs. Models are sorted by mean rank, best first, if the result has mean ranks; otherwise
        they keep the order of the result.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes. Darker cells have smaller p-values; a dot marks a rejected hypothesis. Cells contain the numbers if
        there is room. Pairs that were not compared are blank. A one-sided test has one cell, in the row of the pair's
        first model and the column of its second; a two-sided test has both cells of the pair.

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
    >>> errors = {"a": [0.2, 0.3, 0.1, 0.2], "b": [0.3, 0.5, 0.2, 0.4], "c": [0.2, 0.4, 0.2, 0.3]}
    >>> found = fastevals.pairwise_tests(errors, test="paired-t", correction="holm")
    >>> ax = plot_pvalues(found, ax=Figure(figsize=(5, 5)).subplots())
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['a', 'b', 'c']
    """
    check_kind("result", result, PairwiseResult)
    picture = Picture()
    draw_pvalues(picture, result)
    return show(picture, style.get_axes(ax, pvalues_size(picture), 1), title)


def pvalues_size(picture: Picture) -> tuple[float, float]:
    """Return the figure's size in inches for the names of its picture."""
    names = picture.x.tick_labels or ()
    width = 1.4 + 0.07 * max(map(len, names)) + min(max(2.4, 0.5 * len(names)), 8.0)
    return width + 0.6, width


def draw_pvalues(picture: Picture, result: PairwiseResult) -> None:
    """Add adjusted p-values of pairs of models to an empty picture."""
    k = len(result.names)
    order = np.argsort(result.mean_ranks, kind="stable") if isinstance(result, RankComparison) else np.arange(k)
    p, rejected = (result.matrix(values)[np.ix_(order, order)] for values in ("pvalue", "rejected"))
    np.fill_diagonal(p, np.nan)
    np.fill_diagonal(rejected, np.nan)
    is_rejected, is_undefined = rejected == 1, ~np.isnan(rejected) & np.isnan(p)  # NaN for pairs that were not compared
    lines = [[_lines(each, k) for each in row] for row in p.tolist()]
    picture.add(
        Squares(
            _darkness(p), lines, {"dot": is_rejected, "cross": is_undefined}, _scale(result),
            float(_darkness(result.alpha)),
        )
    )  # fmt: skip
    if is_rejected.any():
        picture.add_entry(f"p < {result.alpha:g}", INK, "dot")
    if is_undefined.any():
        picture.add_entry("undefined", INK, "cross")
    names = [label_of(str(result.names[place])) for place in order]
    second, first = ("", "") if result.alternative == "two-sided" else ("Second of the pair", "First of the pair")
    picture.x = AxisScale(second, -0.5, k - 0.5, ticks=range(k), tick_labels=names)
    picture.y = AxisScale(first, k - 0.5, -0.5, ticks=range(k), tick_labels=names)
    picture.equal, picture.legend, picture.keyed = True, style.OVER, True


def _lines(p: float, k: int) -> tuple[str, ...]:
    if k > MOST_NUMBERS or np.isnan(p):
        return ()
    return ("<0.001" if p < LEAST_PVALUE else f"{p:.3f}",)


def _darkness(p: Any) -> Any:
    """Return the darkness of p-values, linear in their logarithm."""
    return PALEST + (1 - PALEST) * np.log(np.clip(p, LEAST_PVALUE, 1)) / np.log(LEAST_PVALUE)


def _scale(result: PairwiseResult) -> AxisScale:
    """Return the scale of darkness."""
    side = "" if result.alternative == "two-sided" else f", one-sided ({result.alternative})"
    adjusted = "" if result.correction == "none" else f", adjusted ({result.correction})"
    labels = {p: f"{p:g}" for p in (1.0, 0.1, 0.01, result.alpha) if p > LEAST_PVALUE} | {
        LEAST_PVALUE: f"≤ {LEAST_PVALUE:g}"
    }
    ticks = [float(_darkness(p)) for p in labels]
    return AxisScale(f"p-value{side}{adjusted}", PALEST, 1.0, ticks=ticks, tick_labels=list(labels.values()))
