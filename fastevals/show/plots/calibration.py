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


STRIP = 0.17  # of the height of a calibration picture: the histogram
STRIP_GID = "fastevals-strip"


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
    models = style.models_for("curve", curve, CalibrationCurve, BaseRanking.calibration_curve, label)
    ax = style.axes_for(ax, style.TALL, len(models))
    strip = _strip(ax)
    for name, each, look in style.styled(ax, models, color):
        filled = each.counts > 0
        label = style.named_label(name, style.number("ECE", each.expected_calibration_error))
        style.line(ax, each.mean_predicted[filled], each.fraction_of_positives[filled], label, look)
        ax.lines[-1].set(marker="o", markersize=5)
        strip.stairs(np.where(filled, each.counts, np.nan), each.edges, baseline=None, color=look[0], linewidth=1.5)
    _set_decades(strip, [each.counts[each.counts > 0] for _, each in models])
    style.reference(ax, [0, 1], [0, 1], "perfect")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02 - 1.04 * STRIP / (1 - STRIP) - 0.04, 1.02), aspect="equal")
    ax.set_yticks(np.arange(0, 1.1, 0.2))
    # No corner is free of all.
    style.finish(ax, "Mean predicted probability", "Share of positives", style.UNDER, title)
    ax.yaxis.label.set_y((1 + STRIP) / 2)  # beside the curves: the histogram has a label of its own
    return ax


def _strip(ax: Axes) -> Axes:
    """Return the axes of the histogram, inside the others at their foot."""
    for child in ax.child_axes:
        if child.get_gid() == STRIP_GID:
            return cast("Axes", child)
    strip = ax.inset_axes((0, 0, 1, STRIP), sharex=ax)
    strip.set_gid(STRIP_GID)
    strip.set_yscale("log")
    strip.tick_params(axis="x", bottom=False, labelbottom=False)
    strip.grid(True, color="#e6e6e6", linewidth=0.8)
    strip.set_axisbelow(True)
    strip.spines["right"].set_visible(False)
    return strip


def _set_decades(strip: Axes, counts: list[NDArray[np.float64]]) -> None:
    """Set the histogram's height to whole powers of ten, and label these alone."""
    from matplotlib.ticker import NullFormatter

    low, high = strip.get_ylim() if strip.get_ylabel() else (np.inf, 0.0)
    for some in counts:
        if some.size:
            low, high = min(low, float(some.min())), max(high, float(some.max()))
    if high:
        strip.set_ylim(10.0 ** np.floor(np.log10(low)) / 1.5, 10.0 ** np.ceil(np.log10(high)) * 1.5)
    strip.yaxis.set_minor_formatter(NullFormatter())
    strip.set_ylabel("Weight" if any(some.dtype.kind == "f" for some in counts) else "Rows")
