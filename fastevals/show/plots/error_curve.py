"""The picture of overfitting: training and test error over a parameter, or over the number of training rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastevals import _validation as check
from fastevals.show.plots import style
from fastevals.show.plots.parameters import BAND, ParameterAxis, draw_line, make_headroom, parameter_axis, words_of
from fastevals.show.words import written
from fastevals.split.curves.result import ErrorCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_error_curve"]

TRAINING, TEST = (style.COLORS[0], style.LINES[1]), (style.COLORS[1], style.LINES[0])
SHIFT = 0.08  # of the two bars of a category
ROOM = 1.6  # of the y axis, in the range of the means: intervals that are wider are cut
STEEP, LOG_ROOM = 20.0, 1.5  # errors' largest ratio on an axis that is not logarithmic; room on one that is
OVERFITTED = 0.06  # opacity


def plot_error_curve(curve: ErrorCurve, *, ax: Axes | None = None) -> Axes:
    """Draw the training and the test error over a parameter, or over the number of training rows.

    Parameters
    ----------
    curve : ErrorCurve
        Of `validation_curve` or `learning_curve`.
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's.

    Returns
    -------
    Axes
        What was drawn on: means of the splits with their intervals. Over a parameter, the best value is marked, and the
        sides on which the learner underfits (both errors are larger) and overfits (the training error is less, the test
        error larger) are named. Numbers are in their places, on a logarithmic axis if they span two decades; other
        values are side by side. A value whose fit failed is left out.

    Raises
    ------
    ValueError
        If an argument is of another kind.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from fastevals import KFold, learning_curve
    >>> def mean(x, y, x_new):
    ...     return np.full(len(x_new), y.mean())
    >>> curve = learning_curve(mean, np.arange(20), np.arange(20.0), KFold(5, rng=0), "mean_squared_error")
    >>> ax = plot_error_curve(curve, ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Training rows', 'Mean squared error')
    """
    check.check_kind("curve", curve, ErrorCurve)
    ax = style.axes_for(ax, style.WIDE, 1)
    at = parameter_axis(ax, curve.values)
    draw_line(ax, at, curve.training, "training rows", TRAINING, -SHIFT)
    draw_line(ax, at, curve.test, "test rows", TEST, SHIFT)
    ax.fill_between([], [], color=style.GREY, alpha=2 * BAND, linewidth=0, label=_interval(curve, at))
    _limit(ax, curve)
    if curve.parameter is not None:
        _best(ax, curve, at)
    make_headroom(ax, at)
    style.finish(ax, style.named_label(curve.parameter or "Training rows"), words_of(curve.metric))
    return ax


def _interval(curve: ErrorCurve, at: ParameterAxis) -> str:
    return f"{100 * curve.confidence_level:g} % interval, test rows" if at.ordered else "_interval"


def _limit(ax: Axes, curve: ErrorCurve) -> None:
    """Set the range of y: a logarithmic one where errors span decades, and wide intervals are cut."""
    values = np.concatenate([curve.training.values, curve.test.values])
    values = values[np.isfinite(values)]
    if not values.size:
        return
    low, high = float(values.min()), float(values.max())
    if not curve.maximize and low > 0 and high > STEEP * low:
        ax.set_yscale("log")
        ax.set_ylim(low / LOG_ROOM, high * LOG_ROOM)
        return
    ends = np.concatenate([each for line in (curve.training, curve.test) for each in (line.low, line.high)])
    ends = ends[np.isfinite(ends)]
    room = ROOM * (high - low) or 0.1 * abs(high) or 1.0
    least, most = (float(ends.min()), float(ends.max())) if ends.size else (low, high)
    bottom, top = max(min(low, least), low - room), min(max(high, most), high + room)
    margin = 0.05 * (top - bottom) or 0.5 * room
    ax.set_ylim(bottom - margin, top + margin)


def _best(ax: Axes, curve: ErrorCurve, at: ParameterAxis) -> None:
    """Mark the best value."""
    if "best" not in curve.fits:
        return
    k = curve.fits.index("best")
    said = f"{style.named_label(f'best: {written(curve.values[k])}')} ({curve.test.values[k]:.4g} on test rows)"
    ax.plot(
        [at.x[k] + (0 if at.ordered else SHIFT)], [curve.test.values[k]], linestyle="none", marker="*", markersize=15,
        markerfacecolor=TEST[0], markeredgecolor="white", markeredgewidth=1.0, zorder=3.5, label=said,
    )  # fmt: skip
    if at.ordered:
        ax.axvline(at.x[k], color=style.GREY, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
        _sides(ax, curve, at, float(at.x[k]))


def _sides(ax: Axes, curve: ErrorCurve, at: ParameterAxis, best: float) -> None:
    """Name the sides of the best value by what the learner does at the last value of each, and shade overfitting."""
    shown = ax.get_xlim()
    for side, end, limit in (("left", at.order[0], shown[0]), ("right", at.order[-1], shown[1])):
        fit = curve.fits[int(end)]
        if fit in ("underfits", "overfits"):
            x, words = (0.0, f"\N{LEFTWARDS ARROW} {fit}") if side == "left" else (1.0, f"{fit} \N{RIGHTWARDS ARROW}")
            ax.text(x, 1.015, words, ha=side, va="bottom", transform=ax.transAxes, color=style.GREY)
        if fit == "overfits":
            ax.axvspan(best, limit, color=TEST[0], alpha=OVERFITTED, linewidth=0, zorder=0)
    ax.set_xlim(shown)
