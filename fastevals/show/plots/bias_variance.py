"""The picture of bias and variance: over complexity or training size, or of one decomposition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals._text import LOSSES, format_value
from fastevals._validation.curves import check_kind
from fastevals.measure.bias_variance.decomposition import Decomposition
from fastevals.show.plots import style
from fastevals.show.plots.parameters import add_cut_entry, set_parameter_axis, tint_sides
from fastevals.show.plots.picture import COLORS, GREY
from fastevals.split.training_sets import BiasVarianceCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

SIZE = (6.4, 5.8)  # inches

BIAS, VARIANCE, NOISE, REST = COLORS[0], COLORS[1], COLORS[2], COLORS[3]
PART_COLORS = {
    "bias_squared": BIAS, "bias": BIAS, "systematic_effect": BIAS,
    "variance": VARIANCE, "net_variance": VARIANCE, "variance_effect": VARIANCE,
    "noise": NOISE, "noise_effect": NOISE,
    "cross_term": REST,
}  # fmt: skip
LOSS = COLORS[6]
PART_NAMES = {"bias_squared": "bias²", "cross_term": "cross term"}
HIGHEST = 3.0  # the least expected loss times this is the top: what is above is cut
ROUNDING = 1e-12  # of the median: a loss of no more is 0
MARKED = 40  # values: of more the lines have no marks


def plot_bias_variance(
    result: BiasVarianceCurve | Decomposition, *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw expected loss and its parts over a parameter or training size; or those of one decomposition as bars.

    Parameters
    ----------
    result : BiasVarianceCurve or Decomposition
        Of `bias_variance_curve`; or of `bias_variance`.
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's.
    title : str, optional
        Above the axes.

    Returns
    -------
    Axes
        What was drawn on: a line for each part and one for the expected loss, and where that is least. Over a
        parameter, either side of the least is tinted and named by what the learner does at its end: "underfits" where
        bias has grown more than the variance of the predictions, else "overfits". What is far above the least expected
        loss is cut. Values that are not numbers are drawn at equal distances, numbers that span decades on a
        logarithmic scale.

    Raises
    ------
    ValueError
        If an argument is of another kind, or holds no loss that is small enough to be drawn (1e150).
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import bias_variance
    >>> from matplotlib.figure import Figure
    >>> found = bias_variance(np.array([1.0, 2.0]), np.array([[1.0, 2.5], [2.0, 2.5]]))
    >>> ax = plot_bias_variance(found, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['expected loss', 'bias²', 'variance']
    """
    if isinstance(result, Decomposition):
        return _draw_decomposition(result, style.get_axes(ax, style.WIDE, 1), title)
    check_kind("result", result, BiasVarianceCurve)
    ax = style.get_axes(ax, SIZE, 1)
    loss, parts = result.expected_loss, result.parts()
    style.check_drawable("result", loss.min())
    axis = set_parameter_axis(ax, result.values)
    marked = loss.size <= MARKED or not axis.ordered
    line_options: dict[str, Any] = {
        "linestyle": "-" if axis.ordered else "none", "marker": "o" if marked else "", "markersize": 4,
    }  # fmt: skip
    for name, values in parts.items():
        ax.plot(
            axis.x[axis.order],
            values[axis.order],
            color=PART_COLORS[name],
            linewidth=1.8,
            label=_part_label(name),
            **line_options,
        )
    ax.plot(axis.x[axis.order], loss[axis.order], color=LOSS, linewidth=2.2, label="expected loss", **line_options)
    least = int(np.argmin(loss))
    style.draw_reference(ax, [axis.x[least]] * 2, [0, 1], f"least: {_value_label(result, least)}")
    ax.lines[-1].set_transform(ax.get_xaxis_transform())
    if result.parameter is not None and axis.ordered:
        tint_sides(ax, axis, result.fits, np.ones(loss.size, dtype=bool), float(axis.x[least]))
    _set_y_limits(ax, loss, parts, cut=axis.ordered)
    style.finish(ax, _x_label(result), f"Expected {LOSSES[result.results[0].loss]}", style.BELOW, title)
    return ax


def _part_label(name: str) -> str:
    return PART_NAMES.get(name, name.replace("_", " "))


def _x_label(result: BiasVarianceCurve) -> str:
    return "Size of the training sets" if result.parameter is None else style.legend_label(result.parameter)


def _value_label(result: BiasVarianceCurve, k: int) -> str:
    return f"{result.expected_loss[k]:.4g} at {style.legend_label(format_value(result.values[k]))}"


def _set_y_limits(ax: Axes, loss: Floats, parts: dict[str, Floats], *, cut: bool) -> None:
    """Set the range of y: from 0, or what is below it, to the largest, or to what is far above the least."""
    all_values = np.concatenate([loss, *parts.values()])
    drawable = np.array([each for each in all_values if style.is_drawable(each)])
    least, largest, top = loss.min(), np.nanmax(all_values), drawable.max() or 1.0
    if cut and least > ROUNDING * np.median(loss):
        top = min(top, HIGHEST * least)
    ax.set_ylim(min(drawable.min(), 0.0) - 0.02 * top, 1.05 * top)
    if largest > top:
        add_cut_entry(ax, f"up to {largest:.4g}")


def _draw_decomposition(result: Decomposition, ax: Axes, title: str | None) -> Axes:
    """Draw one decomposition: a bar for the expected loss and one for each part, with their numbers."""
    _check_totals("result", result)
    values = {"expected_loss": result.expected_loss, **result.parts()}
    style.check_drawable("result", list(values.values()))
    colors = [LOSS, *(PART_COLORS[name] for name in result.parts())]
    y = np.arange(len(values))
    ax.barh(y, list(values.values()), color=colors, height=0.6)
    for k, each in enumerate(values.values()):
        ax.annotate(f"{each:.4g}", (max(each, 0.0), k), (4, 0), textcoords="offset points", va="center")
    ax.set_yticks(y, [_part_label(name) for name in values])
    ax.invert_yaxis()
    ax.margins(x=0.16)
    ax.axvline(0, color=GREY, linewidth=1.1)
    style.finish(ax, f"Of the expected {LOSSES[result.loss]}", "", title=title)
    return ax


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_totals(name: str, value: Any) -> None:
    """Raise if a decomposition is that of each sample."""
    if np.ndim(value.expected_loss):
        raise ValueError(f"{name} must be a decomposition of all samples, not its per_sample, whose numbers are arrays")
