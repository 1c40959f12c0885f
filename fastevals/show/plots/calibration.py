"""Plot calibration curves, in bins and isotonic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals.document.picture import AxisScale, Look, Outline, Picture, ThinLines
from fastevals.infer.calibration.bands import ReliabilityBand
from fastevals.infer.calibration.bins import CalibrationBins, make_bins
from fastevals.infer.calibration.forecasts import CountedForecasts
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.registry import CURVES, CurveEntry
from fastevals.measure.curves.reliability import ReliabilityCurve
from fastevals.measure.ranking.base import BaseRanking
from fastevals.show.plots import style
from fastevals.show.plots.models import (
    Bands,
    Drawn,
    Models,
    add_band,
    add_band_entries,
    label_of,
    number,
    styled_models,
)
from fastevals.show.plots.rates import plot_models
from fastevals.show.plots.thinning import thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes


STRIP_HEIGHT = 0.17  # of the axes' height: the histogram


def plot_calibration(
    curve: Drawn[CalibrationCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Draw calibration curves (reliability diagrams), with a histogram of the bins below.

    Parameters
    ----------
    curve : CalibrationCurve, Ranking, RankingSummary, ThresholdCounts or ClassRankings, or mapping of str to them
        Curve of one model, or a mapping of names to curves. `ClassRankings` alone are drawn class by class, with the
        averages. Empty bins have no point. Rankings are drawn in 10 bins of
        equal mass, with the 95 % interval of each observed rate, as `calibration(...).bins` are.
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
        The axes. The histogram is in child axes of these, with a logarithmic y axis.

    Raises
    ------
    ValueError
        If an argument has the wrong type.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import fastevals
    >>> from fastevals.measure.curves.calibration import CalibrationCurve
    >>> from matplotlib.figure import Figure
    >>> counts = fastevals.Ranking([0, 0, 1, 0, 1, 1], [0.1, 0.25, 0.3, 0.75, 0.9, 1.0]).counts
    >>> ax = plot_calibration(CalibrationCurve.from_counts(counts, n_bins=2), ax=Figure().subplots())
    >>> ax.lines[0].get_label()
    'ECE 0.167'
    """
    return plot_models("calibration", curve, ax, title, label, color, draw_calibration, make=_bins_of)


def _bins_of(ranking: BaseRanking) -> CalibrationCurve:
    """Return a ranking's curve in bins of equal mass, with intervals unless the squares of weights are unknown."""
    forecasts = CountedForecasts.of(ranking.counts, ranking._squares)
    if forecasts is None:
        return CalibrationCurve.from_counts(ranking.counts, strategy="quantile")
    return make_bins(forecasts, (10, "quantile"), 0.95)


def plot_reliability(
    curve: Drawn[ReliabilityCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
    band: ReliabilityBand | Mapping[str, ReliabilityBand] | None = None,
) -> Axes:
    """Draw reliability curves (isotonic, CORP), with a histogram of the probabilities below.

    Parameters
    ----------
    curve : ReliabilityCurve, Ranking or ThresholdCounts, or mapping of str to them
        Curve of one model, or a mapping of names to curves.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.
    label : str, optional
        Name of a single curve in the legend.
    color : colour or mapping of str to colour, optional
        Matplotlib colour of a single curve, or a mapping of names to colours.
    band : ReliabilityBand or mapping of str to ReliabilityBand, optional
        Band from `reliability_band`, shaded behind the curve; if `curve` is a mapping, a mapping of names to bands. Not
        every curve needs a band.

    Returns
    -------
    Axes
        The axes. The histogram is in child axes of these, with a logarithmic y axis. The legend has the miscalibration
        of the Brier score (MCB).

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
    >>> ranking = fastevals.Ranking([0, 0, 1, 0, 1, 1], [0.1, 0.25, 0.3, 0.75, 0.9, 1.0])
    >>> ax = plot_reliability(ranking, ax=Figure().subplots())
    >>> ax.lines[0].get_label()
    'MCB 0.106'
    """
    return plot_models("reliability", curve, ax, title, label, color, draw_reliability, band=band)


def draw_calibration(picture: Picture, models: Models, color: Any = None) -> None:
    """Add calibration curves to a picture, and histograms of the curves' bins to the picture's strip."""
    for name, each, look in styled_models(picture, models, color):
        filled = each.counts > 0
        has_error = not isinstance(each, CalibrationBins)  # tables have the error in other bins
        label = label_of(name, number("ECE", each.expected_calibration_error) if has_error else "")
        if isinstance(each, CalibrationBins):
            _add_intervals(picture, each, look)
        picture.add_curve(each.mean_predicted[filled], each.fraction_of_positives[filled], label, look, ringed=True)
        _add_histogram(picture, each.edges, each.counts, look)
    levels = {each.confidence_level for _, each in models if isinstance(each, CalibrationBins)}
    if levels:
        picture.add_entry(
            f"{' and '.join(f'{100 * level:g}' for level in sorted(levels))} % interval of the observed rate"
        )
    _finish(picture, models, CURVES["calibration"])


def _add_intervals(picture: Picture, bins: CalibrationBins, look: Look) -> None:
    """Add a vertical line for the interval of each bin's rate."""
    known = ~np.isnan(bins.low)
    ends = zip(bins.mean_predicted[known], bins.low[known], bins.high[known], strict=True)
    picture.add(ThinLines("intervals", [np.array([(x, low), (x, high)]) for x, low, high in ends], look, 1.2))


def draw_reliability(
    picture: Picture, models: Models, color: Any = None, *, bands: Bands = MappingProxyType({})
) -> None:
    """Add reliability curves to a picture, and histograms of the probabilities to the picture's strip."""
    for name, each, look in styled_models(picture, models, color):
        add_band(picture, bands.get(name), look)
        label = label_of(name, number("MCB", each.decomposition.miscalibration))
        p, calibrated = each.points
        x, y = thinned(p, calibrated, picture.columns)
        picture.add_curve(x, y, label, look)
        _add_histogram(picture, np.linspace(0, 1, each.histogram.size + 1), each.histogram, look)
    add_band_entries(picture, bands.values())
    _finish(picture, models, CURVES["reliability"])


def _add_histogram(picture: Picture, edges: NDArray[Any], rows: NDArray[Any], look: Look) -> None:
    picture.strip = picture.strip or Picture()
    picture.strip.add(Outline(edges, np.where(rows > 0, rows, np.nan), look))


def _finish(picture: Picture, models: Models, entry: CurveEntry) -> None:
    """Add the diagonal, and the axes of the picture and its strip."""
    strip = picture.strip = picture.strip or Picture()
    picture.add_reference([0, 1], [0, 1], "perfect")
    picture.strip_height = STRIP_HEIGHT
    bottom = -0.02 - 1.04 * STRIP_HEIGHT / (1 - STRIP_HEIGHT) - 0.04
    ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    picture.x = AxisScale(entry.x.label, -0.02, 1.02)
    picture.y = AxisScale(entry.y.label, bottom, 1.02, ticks=ticks)
    picture.equal, picture.legend = True, style.BELOW  # curves may pass through every corner
    is_weighted = any(each.counts.dtype.kind == "f" for _, each in models)
    strip.y = AxisScale("Weight" if is_weighted else "Rows", *_decades(strip), "log")


def _decades(strip: Picture) -> tuple[float, float]:
    """Return powers of ten that enclose all heights, with a margin."""
    heights = np.concatenate([mark.heights for mark in strip.marks if isinstance(mark, Outline)] or [np.array([])])
    heights = heights[~np.isnan(heights)]
    if not heights.size:
        return math.nan, math.nan
    return 10.0 ** np.floor(np.log10(heights.min())) / 1.5, 10.0 ** np.ceil(np.log10(heights.max())) * 1.5
