"""Plot how a selected model's estimate depends on a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastevals._text import format_value
from fastevals._validation.curves import check_kind
from fastevals.document.picture import COLORS, DASHES, Look
from fastevals.show.plots import style
from fastevals.show.plots.fonts import fonts_for
from fastevals.show.plots.parameters import (
    SHIFT,
    add_interval_entry,
    draw_line,
    finite,
    mark_value,
    metric_label,
    set_parameter_axis,
    set_y_limits,
)
from fastevals.split.selection_results import Sensitivity

if TYPE_CHECKING:
    from matplotlib.axes import Axes


AS_CHOSEN, AT_BEST = Look(COLORS[0]), Look(COLORS[4], DASHES[1])


def plot_sensitivity(sensitivity: Sensitivity, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw a selected model's estimate over one of its parameters.

    Parameters
    ----------
    sensitivity : Sensitivity
        Sensitivity of a selection: ``selection.sensitivity("depth")``.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes: means over the validation splits with their intervals. In one line the other parameters keep their
        chosen values; in a second line they are at their best for each value. The chosen value is marked. Numbers that
        span two decades are on a logarithmic axis; values that are not numbers are side by side. Values far apart are
        drawn as in `plot_error_curve`.

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
    >>> from fastevals import select_model
    >>> def polynomial(x, y, x_new, degree):
    ...     return np.polyval(np.polyfit(x, y, degree), x_new)
    >>> x = np.linspace(-1, 1, 40)
    >>> found = select_model(polynomial, x, x**2, "mean_squared_error", grid={"degree": [1, 2]}, rng=0)
    >>> ax = plot_sensitivity(found.sensitivity("degree"), ax=Figure().subplots())
    >>> print(ax.get_ylabel())
    Mean squared error
    on validation rows
    """
    check_kind("sensitivity", sensitivity, Sensitivity)
    lines = [sensitivity.as_chosen, *([sensitivity.at_best] if sensitivity.others else [])]
    style.check_drawable("sensitivity", finite(*(line.values for line in lines)))
    ax = style.get_axes(ax, style.WIDE, 1)
    with fonts_for([*map(str, [sensitivity.parameter, *sensitivity.values, *sensitivity.others]), title], ax):
        axis = set_parameter_axis(ax, sensitivity.values)
        shift, k, values = -SHIFT if sensitivity.others else 0.0, sensitivity.chosen, sensitivity.as_chosen.values
        others = ", ".join(f"{name}={format_value(value)}" for name, value in sensitivity.others.items())
        draw_line(ax, axis, sensitivity.as_chosen, style.legend_label(others or "estimates"), AS_CHOSEN, shift)
        if sensitivity.others:
            draw_line(ax, axis, sensitivity.at_best, "others at their best for each value", AT_BEST, -shift, band=False)
        label = f"{style.legend_label(f'chosen: {format_value(sensitivity.values[k])}')} ({values[k]:.4g})"
        mark_value(ax, axis.shifted(shift)[k], values[k], label, AS_CHOSEN)
        level = f"{100 * sensitivity.confidence_level:g} % interval of the mean"
        add_interval_entry(ax, axis, lines[:1] if axis.ordered else lines, level)
        set_y_limits(ax, lines, sensitivity.maximize)
        y_label = f"{metric_label(sensitivity.metric)}\non validation rows"
        style.finish(
            ax, style.legend_label(sensitivity.parameter), y_label, "best" if axis.ordered else style.BELOW, title
        )
    return ax
