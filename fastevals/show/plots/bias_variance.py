"""Plot bias and variance: over a parameter or training size, or for one decomposition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals._text import LOSSES, format_value
from fastevals._validation.curves import check_kind
from fastevals.document.picture import COLORS, GREY, AxisScale, Box, Look, Picture, Text, ThinLines
from fastevals.measure.bias_variance.decomposition import Decomposition
from fastevals.show.plots import style
from fastevals.show.plots.drawing import show
from fastevals.show.plots.models import label_of
from fastevals.show.plots.parameters import name_sides, place_values
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
HIGHEST = 3.0  # times the least expected loss: higher values are cut
LOSS_ROUNDING = 1e-12  # relative to the median loss: smaller losses count as 0
MARKED = 40  # values: lines with more have no markers
ROOM = 0.16  # share of the bars' range left free on each side


def plot_bias_variance(
    result: BiasVarianceCurve | Decomposition, *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw expected loss and its parts over a parameter or training size, or one decomposition as bars.

    Parameters
    ----------
    result : BiasVarianceCurve or Decomposition
        Result of `bias_variance_curve` or `bias_variance`.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes: lines for the parts and for the expected loss, with its minimum marked. Over a parameter, each side of
        the minimum is tinted and named: "underfits" if bias at its outer end has grown more than the variance of the
        predictions, otherwise "overfits". Losses far above the minimum are cut. Values that are not numbers are evenly
        spaced; numbers that span decades are on a logarithmic scale.

    Raises
    ------
    ValueError
        If an argument has the wrong type, or `result` has no loss below 1e150 (larger losses are not drawn).
    ImportError
        If matplotlib is not installed.

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
    one = isinstance(result, Decomposition)
    if not one:
        check_kind("result", result, BiasVarianceCurve)
    ax = style.get_axes(ax, style.WIDE if one else SIZE, 1)
    picture = Picture()
    draw_bias_variance(picture, result)
    return show(picture, ax, title)


def draw_bias_variance(picture: Picture, result: BiasVarianceCurve | Decomposition) -> None:
    """Add expected loss and its parts to an empty picture."""
    if isinstance(result, Decomposition):
        _draw_decomposition(picture, result)
        return
    loss, parts = result.expected_loss, result.parts()
    style.check_drawable("result", loss.min())
    picture.x, axis = place_values(result.values)
    picture.x.label = "Size of the training sets" if result.parameter is None else label_of(result.parameter)
    bottom, top, cut = _choose_y_limits(loss, parts, may_cut=axis.ordered)
    picture.y = AxisScale(f"Expected {LOSSES[result.results[0].loss]}", bottom, top)
    least = int(np.argmin(loss))
    at_least = float(axis.x[least])
    if result.parameter is not None and axis.ordered:
        ends = picture.x.low, picture.x.high
        for side in name_sides(axis, result.fits, np.ones(loss.size, dtype=bool), at_least, ends):
            picture.add(side)
    marks = {"ringed": loss.size <= MARKED or not axis.ordered, "joined": axis.ordered}
    for name, values in (*parts.items(), ("expected_loss", loss)):
        look = Look(PART_COLORS.get(name, LOSS))
        picture.add_curve(axis.x[axis.order], values[axis.order], _part_label(name), look, **marks)
    value = label_of(format_value(result.values[least]))
    picture.add_reference([at_least] * 2, [bottom, top], f"least: {loss[least]:.4g} at {value}")
    if cut:
        picture.add_entry(f"(cut: {cut})", marker="none")
    picture.legend, picture.keyed = style.BELOW, True


def _part_label(name: str) -> str:
    return PART_NAMES.get(name, name.replace("_", " "))


def _choose_y_limits(loss: Floats, parts: dict[str, Floats], *, may_cut: bool) -> tuple[float, float, str]:
    """Return the lowest and the highest y to draw, and a text on how far losses reach beyond; "" if none do."""
    all_values = np.concatenate([loss, *parts.values()])
    drawable = np.array([each for each in all_values if style.is_drawable(each)])
    least, largest, top = float(loss.min()), float(np.nanmax(all_values)), float(drawable.max()) or 1.0
    if may_cut and least > LOSS_ROUNDING * np.median(loss):
        top = min(top, HIGHEST * least)
    cut = f"up to {largest:.4g}" if largest > top else ""
    return min(float(drawable.min()), 0.0) - 0.02 * top, 1.05 * top, cut


def _draw_decomposition(picture: Picture, result: Decomposition) -> None:
    """Draw one decomposition: a bar for the expected loss and one for each part, with their numbers."""
    _check_totals("result", result)
    values = {"expected_loss": result.expected_loss, **result.parts()}
    style.check_drawable("result", list(values.values()))
    for k, (name, value) in enumerate(values.items()):
        picture.add(Box((0.0, float(value)), (k - 0.3, k + 0.3), Look(PART_COLORS.get(name, LOSS))))
        picture.add(Text(max(float(value), 0.0), float(k), f"{value:.4g}", "left"))
    n, low, high = len(values), min(0.0, *values.values()), max(0.0, *values.values())
    room = ROOM * (high - low) or 1.0
    picture.x = AxisScale(f"Of the expected {LOSSES[result.loss]}", low - room if low < 0 else low, high + room)
    names = [_part_label(name) for name in values]
    picture.y = AxisScale("", n - 0.5, -0.5, ticks=range(n), tick_labels=names)
    picture.add(ThinLines("zero", [np.array([(0.0, n - 0.5), (0.0, -0.5)])], Look(GREY), 1.1))


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_totals(name: str, value: Any) -> None:
    """Raise unless a decomposition is over all samples."""
    if np.ndim(value.expected_loss):
        raise ValueError(f"{name} must be a decomposition of all samples, not its per_sample, whose numbers are arrays")
