"""The picture of calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.ranking.base import BaseRanking
from fastevals.show.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


HISTOGRAM_HEIGHT = 0.17  # of the axes
HISTOGRAM_GID = "fastevals-strip"


def plot_calibration(
    curve: style.Drawn[CalibrationCurve],
    *,
    ax: Axes | None = None,
    title: str | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Draw calibration curves (reliability diagrams), with a histogram of the bins below.

    Parameters
    ----------
    curve : CalibrationCurve or Ranking, or mapping of str to them
        Of one model, or of several by name. Empty bins have no point.
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's.
    title : str, optional
        Above the axes.
    label : str, optional
        The name of one curve, in the legend.
    color : colour or mapping of str to colour, optional
        Of one curve, as matplotlib names colours; by name where there are several.

    Returns
    -------
    Axes
        What was drawn on; the histogram, of a logarithmic height, is its child.

    Raises
    ------
    ValueError
        If an argument is of another kind.
    ImportError
        If matplotlib is missing.

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
    models = style.as_models("curve", curve, CalibrationCurve, BaseRanking.calibration_curve, label)
    ax = style.get_axes(ax, style.TALL, len(models))
    histogram = _histogram_axes(ax)
    for name, each, look in style.styled_models(ax, models, color):
        filled = each.counts > 0
        label = style.legend_label(name, style.number("ECE", each.expected_calibration_error))
        style.draw_curve(ax, each.mean_predicted[filled], each.fraction_of_positives[filled], label, look)
        ax.lines[-1].set(marker="o", markersize=5)
        histogram.stairs(np.where(filled, each.counts, np.nan), each.edges, baseline=None, color=look[0], linewidth=1.5)
    _set_decades(histogram, [each.counts[each.counts > 0] for _, each in models])
    style.draw_reference(ax, [0, 1], [0, 1], "perfect")
    ax.set(
        xlim=(-0.02, 1.02), ylim=(-0.02 - 1.04 * HISTOGRAM_HEIGHT / (1 - HISTOGRAM_HEIGHT) - 0.04, 1.02), aspect="equal"
    )
    ax.set_yticks(np.arange(0, 1.1, 0.2))
    # Curves may pass through every corner.
    style.finish(ax, "Mean predicted probability", "Share of positives", style.BELOW, title)
    ax.yaxis.label.set_y((1 + HISTOGRAM_HEIGHT) / 2)  # beside the curves: the histogram has a label of its own
    return ax


def _histogram_axes(ax: Axes) -> Axes:
    """Return the axes of the histogram, inside the others at their foot."""
    for child in ax.child_axes:
        if child.get_gid() == HISTOGRAM_GID:
            return cast("Axes", child)
    histogram = ax.inset_axes((0, 0, 1, HISTOGRAM_HEIGHT), sharex=ax)
    histogram.set_gid(HISTOGRAM_GID)
    histogram.set_yscale("log")
    histogram.tick_params(axis="x", bottom=False, labelbottom=False)
    histogram.grid(True, color="#e6e6e6", linewidth=0.8)
    histogram.set_axisbelow(True)
    histogram.spines["right"].set_visible(False)
    return histogram


def _set_decades(histogram: Axes, counts: list[NDArray[np.float64]]) -> None:
    """Set the histogram's height to whole powers of ten, and label these alone."""
    from matplotlib.ticker import NullFormatter

    low, high = histogram.get_ylim() if histogram.get_ylabel() else (np.inf, 0.0)
    for bin_counts in counts:
        if bin_counts.size:
            low, high = min(low, float(bin_counts.min())), max(high, float(bin_counts.max()))
    if high:
        histogram.set_ylim(10.0 ** np.floor(np.log10(low)) / 1.5, 10.0 ** np.ceil(np.log10(high)) * 1.5)
    histogram.yaxis.set_minor_formatter(NullFormatter())
    histogram.set_ylabel("Weight" if any(bin_counts.dtype.kind == "f" for bin_counts in counts) else "Rows")
