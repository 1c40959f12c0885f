"""Plot overfitting: training and test error over a parameter or the number of training rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastevals._text import format_value
from fastevals._validation.curves import check_kind
from fastevals.document.picture import COLORS, DASHES, GREY, Look
from fastevals.show.plots import style
from fastevals.show.plots.fonts import fonts_for
from fastevals.show.plots.parameters import (
    SHIFT,
    ParameterAxis,
    add_interval_entry,
    draw_line,
    finite,
    mark_value,
    metric_label,
    set_parameter_axis,
    set_y_limits,
    tint_sides,
)
from fastevals.split.error_curves import ErrorCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


TRAINING, TEST = Look(COLORS[0], DASHES[1]), Look(COLORS[1])


def plot_error_curve(curve: ErrorCurve, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the training and the test error over a parameter, or over the number of training rows.

    Parameters
    ----------
    curve : ErrorCurve
        Result of `validation_curve` or `learning_curve`.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes: means of the splits with their intervals. Over a parameter, the best value is marked. The range on
        one side of it is tinted and named if the test error at the range's end exceeds the best by more than noise:
        "underfits" if the training error is larger too, "overfits" if it is smaller (`ErrorCurve.fits`). The x
        axis is logarithmic if no value is negative and the largest is at least 100 times the smallest positive one; if
        0 is among the values, the axis is linear near 0 (symlog). Values that are not numbers are evenly spaced. The y
        axis of an error is logarithmic in the same cases, but already at 20 times. Wide intervals and scores far below
        the others are cut. Values whose fit failed are left out.

    Raises
    ------
    ValueError
        If an argument has the wrong type, or holds a finite value that is too large to be drawn (1e150).
    ImportError
        If matplotlib is not installed.

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
    check_kind("curve", curve, ErrorCurve)
    lines = curve.training, curve.test
    style.check_drawable("curve", finite(*(line.values for line in lines)))
    ax = style.get_axes(ax, style.WIDE, 1)
    with fonts_for([*map(str, [curve.parameter, *curve.values]), title], ax):
        axis = set_parameter_axis(ax, curve.values)
        draw_line(ax, axis, curve.training, "training rows", TRAINING, -SHIFT)
        draw_line(ax, axis, curve.test, "test rows", TEST, SHIFT)
        add_interval_entry(ax, axis, [curve.test], f"{100 * curve.confidence_level:g} % interval, test rows")
        set_y_limits(ax, lines, bool(curve.maximize))
        if curve.parameter is not None and "best" in curve.fits:
            _mark_best(ax, curve, axis)
        x_label = style.legend_label(curve.parameter or "Training rows")
        style.finish(ax, x_label, metric_label(curve.metric), "best" if axis.ordered else style.BELOW, title)
    return ax


def _mark_best(ax: Axes, curve: ErrorCurve, axis: ParameterAxis) -> None:
    """Mark the best value, and name the ranges on both sides of it."""
    k = curve.fits.index("best")
    x, y = float(axis.shifted(SHIFT)[k]), float(curve.test.values[k])
    label = style.legend_label(f"best: {format_value(curve.values[k])}")
    mark_value(ax, x, y, f"{label} ({y:.4g} on test rows)", TEST)
    if axis.ordered:
        ax.axvline(x, color=GREY, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
        tint_sides(ax, axis, curve.fits, np.isfinite(curve.gap), x)
