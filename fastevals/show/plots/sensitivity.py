"""The picture of how much a selected model's estimate depends on a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastevals import _validation as check
from fastevals.show.plots import style
from fastevals.show.plots.parameters import BAND, draw_line, make_headroom, parameter_axis, words_of
from fastevals.show.words import written
from fastevals.split.selection.sensitivity import Sensitivity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_sensitivity"]

AS_CHOSEN, AT_BEST = (style.COLORS[0], style.LINES[0]), (style.COLORS[4], style.LINES[1])
SHIFT = 0.08  # of the two bars of a category


def plot_sensitivity(sensitivity: Sensitivity, *, ax: Axes | None = None) -> Axes:
    """Draw a selected model's estimate over one of its parameters.

    Parameters
    ----------
    sensitivity : Sensitivity
        Of a selection: ``selection.sensitivity("depth")``.
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's.

    Returns
    -------
    Axes
        What was drawn on: means over the validation splits with their intervals, the other parameters as chosen and,
        where there are others, at what is best for each value; the chosen value is marked. Numbers are in their places,
        on a logarithmic axis if they span two decades; other values are side by side.

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
    >>> from fastevals import select_model
    >>> def polynomial(x, y, x_new, degree):
    ...     return np.polyval(np.polyfit(x, y, degree), x_new)
    >>> x = np.linspace(-1, 1, 40)
    >>> found = select_model(polynomial, x, x**2, "mean_squared_error", grid={"degree": [1, 2]}, rng=0)
    >>> ax = plot_sensitivity(found.sensitivity("degree"), ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('degree', 'Mean squared error on validation rows')
    """
    check.check_kind("sensitivity", sensitivity, Sensitivity)
    ax = style.axes_for(ax, style.WIDE, 1)
    at = parameter_axis(ax, sensitivity.values)
    if sensitivity.others:
        others = ", ".join(f"{name}={written(value)}" for name, value in sensitivity.others.items())
        draw_line(ax, at, sensitivity.as_chosen, style.named_label(others), AS_CHOSEN, -SHIFT)
        draw_line(ax, at, sensitivity.at_best, "other parameters at best for each", AT_BEST, SHIFT, band=False)
    else:
        draw_line(ax, at, sensitivity.as_chosen, "estimates", AS_CHOSEN)
    k = sensitivity.chosen
    x = at.x[k] if at.ordered or not sensitivity.others else at.x[k] - SHIFT
    said = f"{style.named_label(f'chosen: {written(sensitivity.values[k])}')} ({sensitivity.as_chosen.values[k]:.4g})"
    ax.plot(
        [x], [sensitivity.as_chosen.values[k]], linestyle="none", marker="*", markersize=15, zorder=3.5, label=said,
        markerfacecolor=AS_CHOSEN[0], markeredgecolor="white", markeredgewidth=1.0,
    )  # fmt: skip
    if at.ordered:
        level = f"{100 * sensitivity.confidence_level:g} % interval of the mean"
        ax.fill_between([], [], color=style.GREY, alpha=2 * BAND, linewidth=0, label=level)
    make_headroom(ax, at)
    style.finish(ax, style.named_label(sensitivity.parameter), f"{words_of(sensitivity.metric)} on validation rows")
    return ax
