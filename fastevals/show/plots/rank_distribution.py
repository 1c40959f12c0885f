"""Plot how the ranks of each learner are distributed over data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_choice
from fastevals._validation.tables import as_result_table
from fastevals.document.picture import COLORS, AxisScale, Box, Look, Picture, Span, ThinLines
from fastevals.infer.learners.ranks import Places, place_shares, places_of
from fastevals.infer.learners.results import Results
from fastevals.show.plots import style
from fastevals.show.plots.drawing import show
from fastevals.show.plots.models import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
DistributionForm = Literal["bars", "boxes"]

MOST_BARS = 8  # learners: with more, boxes are drawn by default
HALF_ROW = 0.36  # rows: half the height of a bar or box
DARK, PALE = 0.9, 0.12  # opacity of the first place, and of the last
BOXED, MEAN = Look(COLORS[0]), Look(COLORS[1])
MARGIN, ROW = 1.5, 0.36  # inches: for the axis, per learner
QUARTILES = (0, 25, 50, 75, 100)


def plot_rank_distribution(
    results: Any,
    *,
    form: DistributionForm | None = None,
    higher_is_better: bool | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw how often each learner has which rank, with its mean rank.

    Parameters
    ----------
    results : Results, array-like, mapping or frame
        Results of learners on several data sets, as for `friedman_test`.
    form : {"bars", "boxes"}, optional
        "bars" are stacked: from the left, the share of data sets on which the learner is first, second, and so on,
        darker for better ranks. Data sets on which a learner's result is missing don't count for it. A tie counts in
        equal parts for each of its ranks. "boxes" reach from the lower to the upper quartile of the ranks, with a line
        at the median, and whiskers from the lowest rank to the highest; a ring marks the mean. By default bars for up
        to eight learners.
    higher_is_better : bool, optional
        As for `friedman_test`.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes: one row per learner with its mean rank, the best at the top.

    Raises
    ------
    ValueError
        If an argument has the wrong type.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> accuracy = {"a": [0.9, 0.8, 0.7, 0.9], "b": [0.7, 0.9, 0.6, 0.8], "c": [0.5, 0.6, 0.4, 0.8]}
    >>> ax = plot_rank_distribution(accuracy, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['a: 1.25', 'b: 1.88', 'c: 2.88']
    """
    if form is not None:
        check_choice("form", form, DistributionForm)
    table = as_result_table("results", results, keep_missing=isinstance(results, Results)).without_empty_rows()
    picture = Picture()
    draw_rank_distribution(picture, table.values, table.algorithms, table.higher_is_better(higher_is_better), form)
    return show(picture, style.get_axes(ax, rank_distribution_size(picture), 1), title)


def rank_distribution_size(picture: Picture) -> tuple[float, float]:
    """Return the figure's size in inches for the rows and names of its picture."""
    names = picture.y.tick_labels or ()
    return style.WIDE[0] + 0.06 * max(map(len, names)), MARGIN + ROW * len(names)


def draw_rank_distribution(
    picture: Picture,
    values: Floats,
    names: tuple[Any, ...],
    higher_is_better: bool,
    form: DistributionForm | None = None,
) -> None:
    """Add the distributions of the ranks of learners (columns of `values`) to an empty picture."""
    places = places_of(values, higher_is_better)
    means = np.nanmean(places.ranks, axis=0)
    order = np.argsort(means, kind="stable").tolist()
    if form == "bars" or (form is None and len(names) <= MOST_BARS):
        _draw_bars(picture, place_shares(places)[order])
    else:
        _draw_boxes(picture, places, means, order)
    rows = [label_of(str(names[place]), f"{means[place]:.2f}") for place in order]
    picture.y = AxisScale("", len(rows) - 0.4, -0.6, ticks=range(len(rows)), tick_labels=rows)


def _draw_bars(picture: Picture, shares: Floats) -> None:
    k = len(shares)
    for row, each in enumerate(shares):
        ends = np.append(0.0, each.cumsum())
        for place in np.flatnonzero(each):
            opacity = DARK - (DARK - PALE) * place / max(k - 1, 1)
            x = float(ends[place]), float(ends[place + 1])
            picture.add(Box(x, (row - HALF_ROW, row + HALF_ROW), BOXED, float(opacity), edged=True))
    picture.x = AxisScale("Share of data sets with rank 1 (darkest), 2, ...; a name has its mean rank", 0.0, 1.0)


def _draw_boxes(picture: Picture, places: Places, means: Floats, order: list[int]) -> None:
    ranks = places.ranks[:, order]
    ends = np.nanpercentile(ranks, QUARTILES, axis=0).T
    whiskers, medians = [], []
    for row, (least, low, median, high, most) in enumerate(ends.tolist()):
        picture.add(Box((low, high), (row - HALF_ROW, row + HALF_ROW), BOXED, 0.25, edged=True))
        whiskers += [np.array([(least, row), (low, row)]), np.array([(high, row), (most, row)])]
        medians.append(np.array([(median, row - HALF_ROW), (median, row + HALF_ROW)]))
    picture.add(ThinLines("whisker", whiskers, BOXED, 1.0))
    picture.add(ThinLines("median", medians, BOXED, 2.2))
    for row, place in enumerate(order):
        picture.add(Span(float(means[place]), np.nan, np.nan, float(row), MEAN))
    picture.add_entry("mean rank", MEAN.color, "o")
    k = ranks.shape[1]
    room = 0.02 * (k - 1)
    picture.x = AxisScale("Rank on a data set (1 is best)", 1 - room, k + room, whole=True)
    picture.legend, picture.keyed = style.OVER, True
