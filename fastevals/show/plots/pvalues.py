"""The picture of the p-values of many pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastevals._validation.curves import check_kind
from fastevals.infer.significance.pairwise import PairwiseResult
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.show.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


COLOURS = "Blues"
PALEST = -0.2  # the scale's 0 is for p = 1, and is not white
LEAST = 0.001  # p-values below it look alike
MIDDLE = 0.6  # of the scale: darker cells have white ink
MOST_NUMBERS = 15  # models; of more the cells hold no numbers
LABEL = 10.0  # points, of names where there is room
SMALLEST, LARGEST = 5.5, 9.0  # points, of numbers
CHARACTERS = 4.6  # heights of a number in its width
FEW, SHORT = 8, 8  # models, and characters of a name, whose names are written across


def plot_pvalues(result: PairwiseResult, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw adjusted p-values of pairs of models as a grid.

    Parameters
    ----------
    result : PairwiseResult
        Of a test of pairs; models are in its order, or by mean rank, the best first, where it has mean ranks.
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's.
    title : str, optional
        Above the axes.

    Returns
    -------
    Axes
        What was drawn on. The darker, the smaller p; a dot is a rejected hypothesis. Cells of few models hold the
        numbers, if there is room. Pairs that were not compared are blank. A test with one side is in the row of the
        first and the column of the second model alone, any other in both.

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
    >>> errors = {"a": [0.2, 0.3, 0.1, 0.2], "b": [0.3, 0.5, 0.2, 0.4], "c": [0.2, 0.4, 0.2, 0.3]}
    >>> found = fastevals.pairwise_tests(errors, test="paired-t", correction="holm")
    >>> ax = plot_pvalues(found, ax=Figure(figsize=(5, 5)).subplots())
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['a', 'b', 'c']
    """
    check_kind("result", result, PairwiseResult)
    k = len(result.names)
    order = np.argsort(result.mean_ranks, kind="stable") if isinstance(result, RankComparison) else np.arange(k)
    names = [style.legend_label(str(result.names[place])) for place in order]
    width = 1.4 + 0.07 * max(map(len, names)) + min(max(2.4, 0.5 * k), 8.0)
    ax = style.get_axes(ax, (width + 0.6, width), 1)
    pvalues, decisions = (result.matrix(values)[np.ix_(order, order)] for values in ("pvalue", "rejected"))
    np.fill_diagonal(decisions, np.nan)
    row, column = np.nonzero(~np.isnan(decisions))  # of pairs that were compared: their p may be NaN too
    p, rejected = pvalues[row, column], decisions[row, column] != 0
    darkness = _draw_cells(ax, names, row, column, p)
    _draw_color_scale(ax, result)
    if result.alternative != "two-sided":
        ax.set(ylabel="First of the pair", xlabel="Second of the pair")

    ink = np.where(np.isnan(p) | (darkness < MIDDLE), "black", "white")
    cell = min(style.size_in_points(ax)) / k  # a side, in points
    ax.tick_params(labelsize=min(LABEL, 0.8 * cell))
    size = min(cell / CHARACTERS, LARGEST) if k <= MOST_NUMBERS and cell / CHARACTERS >= SMALLEST else None
    dots = (column, row) if size is None else (column + 0.36, row - 0.34)
    area = (0.13 * cell) ** 2
    for marker, places, text in (("o", rejected, f"p < {result.alpha:g}"), ("x", np.isnan(p), "undefined")):
        if places.any():
            x, y = dots if marker == "o" else (column, row)
            ax.scatter(x[places], y[places], s=area, c=ink[places], marker=marker, linewidth=1.0)
            ax.scatter([], [], s=20, c="black", marker=marker, label=text)
    if size is not None:
        for place, value, bold, color in zip(np.transpose([column, row]).tolist(), p, rejected, ink, strict=True):
            text = "" if np.isnan(value) else "<0.001" if value < LEAST else f"{value:.3f}"
            weight = "bold" if bold else "normal"
            ax.text(place[0], place[1], text, ha="center", va="center", fontsize=size, color=color, weight=weight)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, borderaxespad=0.2, handletextpad=0.2)
    style.set_title(ax, title, above=bool(ax.get_legend()))
    return ax


def _draw_cells(ax: Axes, names: list[str], row: Any, column: Any, p: Any) -> Any:
    """Colour the cells; return each pair's darkness, from 0 for p = 1 to 1."""
    k = len(names)
    darkness = np.log(np.clip(p, LEAST, 1)) / np.log(LEAST)
    cells = np.full((k, k), np.nan)
    cells[row, column] = darkness
    ax.imshow(cells, cmap=COLOURS, vmin=PALEST, vmax=1)
    ax.set_xticks(range(k), names, rotation=90 if k > FEW or max(map(len, names)) > SHORT else 0)
    ax.set_yticks(range(k), names)
    ax.set_xticks(np.arange(k + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(k + 1) - 0.5, minor=True)
    ax.grid(True, which="minor", color="#d0d0d0", linewidth=0.8)
    ax.tick_params(which="both", length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return darkness


def _draw_color_scale(ax: Axes, result: PairwiseResult) -> None:
    """Add the colours' scale beside the grid, with the level."""
    scale = ax.inset_axes((1.04, 0.0, 0.045, 1.0))
    scale.imshow(
        np.linspace(0, 1, 256)[:, np.newaxis], cmap=COLOURS, vmin=PALEST, vmax=1, aspect="auto", extent=(0, 1, 1, 0)
    )
    labels = {p: f"{p:g}" for p in (1.0, 0.1, 0.01, result.alpha) if p > LEAST} | {LEAST: f"≤ {LEAST:g}"}
    places = {p: np.log(p) / np.log(LEAST) for p in labels}
    scale.set_yticks(list(places.values()), list(labels.values()))
    scale.set_xticks([])
    scale.yaxis.tick_right()
    scale.yaxis.set_label_position("right")
    side = "" if result.alternative == "two-sided" else f", one-sided ({result.alternative})"
    adjusted = "" if result.correction == "none" else f", adjusted ({result.correction})"
    scale.set_ylabel(f"p-value{side}{adjusted}")
    level = np.log(max(result.alpha, LEAST)) / np.log(LEAST)
    scale.axhline(level, color="black", linewidth=1.6)
