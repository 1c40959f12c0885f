"""Plot histograms of the scores of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_integer, check_number, names_keywords
from fastevals._validation.curves import check_kind
from fastevals.counts import ThresholdCounts, last_row
from fastevals.document.picture import COLORS, AxisScale, Look, Outline, Picture
from fastevals.measure.probability_metrics import are_probabilities
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import as_ranking
from fastevals.show.plots import style
from fastevals.show.plots.drawing import picture_on, show

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS, MOST_BINS = 50, 1000
OUTER = 0.005  # share of rows beyond the first and the last bin's edge, for unbounded scores
POSITIVE, NEGATIVE = Look(COLORS[1]), Look(COLORS[0])


@names_keywords
def plot_score_histogram(
    ranking: BaseRanking | ThresholdCounts,
    *,
    n_bins: int = BINS,
    threshold: float | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw histograms of each class's scores, as shares of the class.

    Parameters
    ----------
    ranking : Ranking, RankingSummary or ThresholdCounts
        Scores of one model.
    n_bins : int
        Number of bins of equal width, from 0 to 1 for probabilities. For other scores the first and the last bin also
        hold the outermost 0.5 % of the rows on each side.
    threshold : float, optional
        Threshold to mark: rows with scores at or above it are predicted positive.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    ValueError
        If an argument has the wrong type or is out of range, or scores are too large to draw (1e150 or more).
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import fastevals
    >>> from matplotlib.figure import Figure
    >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> ax = plot_score_histogram(ranking, n_bins=2, threshold=0.5, ax=Figure().subplots())
    >>> [(patch.get_label(), patch.get_data().values.tolist()) for patch in ax.patches]
    [('negatives', [1.0, 0.0]), ('positives', [0.5, 0.5])]
    """
    subject = as_ranking("ranking", ranking)
    counts = subject.counts if isinstance(subject, BaseRanking) else subject
    check_kind("ranking", counts, ThresholdCounts)
    counts._require_each_score("a histogram")
    n_bins = check_integer("n_bins", n_bins, low=1, high=MOST_BINS)
    if threshold is not None:
        threshold = check_number("threshold", threshold)
    style.check_drawable("ranking", counts.thresholds[1:][[0, -1]] if counts.thresholds.size > 1 else 0.0)
    ax = style.get_axes(ax, style.WIDE, 1)
    picture = picture_on(ax)
    draw_score_histogram(picture, counts, n_bins=n_bins, threshold=threshold)
    return show(picture, ax, title)


def draw_score_histogram(
    picture: Picture, counts: ThresholdCounts, *, n_bins: int = BINS, threshold: float | None = None
) -> None:
    """Add a model's histograms to an empty picture."""
    edges, is_cut = histogram_edges(counts, n_bins)
    rows = counts.rows_at_least(edges)
    rows[0], rows[-1] = counts.thresholds.size - 1, 0  # outer bins hold the scores beyond, the last one its right edge
    top = 0.0
    for label, totals, look in (("negatives", counts.fps, NEGATIVE), ("positives", counts.tps, POSITIVE)):
        total = totals[-1]
        heights = (totals[rows[:-1]] - totals[rows[1:]]) / total if total else np.full(n_bins, np.nan)
        top = max(top, float(np.nan_to_num(heights).max()))
        picture.add(Outline(edges, heights, look, label if total else f"{label}: none", filled=True))
    top = 1.12 * top or 1.0
    low, high = float(edges[0]), float(edges[-1])
    if threshold is not None and low <= threshold <= high:
        picture.add_reference([threshold] * 2, [0, top], f"threshold {threshold:.6g}")
    room = 0.02 * (high - low)
    label = "Score; the outer bins also hold all scores beyond" if is_cut else "Score"
    picture.x, picture.y = AxisScale(label, low - room, high + room), AxisScale("Share of the class", 0.0, top)


def histogram_edges(counts: ThresholdCounts, n_bins: int = BINS) -> tuple[NDArray[np.float64], bool]:
    """Return the bin edges, and whether some scores lie beyond them."""
    if counts.thresholds.size == 1 or are_probabilities(counts):
        return np.arange(n_bins + 1, dtype=np.float64) / n_bins, False
    thresholds, total = counts.thresholds, counts.n_pos + counts.n_neg
    low, high = float(thresholds[-1]), float(thresholds[1])
    outer = np.array([OUTER, 1 - OUTER]) * total
    rows = last_row(thresholds.size, outer.shape, lambda rows: counts.tps[rows] + counts.fps[rows] <= outer)
    inner_high, inner_low = (float(each) for each in thresholds[np.minimum(rows + 1, thresholds.size - 1)])
    is_cut = inner_low < inner_high and (inner_high - inner_low) < 0.5 * high - 0.5 * low
    if is_cut:
        low, high = inner_low, inner_high
    if not low < high:
        width = abs(low) or 1.0
        low, high = low - width / 2, high + width / 2
    with np.errstate(over="ignore"):
        edges: NDArray[np.float64] = low + (high / n_bins - low / n_bins) * np.arange(n_bins + 1, dtype=np.float64)
    return edges, is_cut
