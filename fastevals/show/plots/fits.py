"""The picture of fits over the data: what a learner predicts at each value of a parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import show as shown
from fastevals._text import format_value
from fastevals._validation.arrays import as_scores, check_finite, check_same_length
from fastevals.document.picture import GREY, AxisScale, Look, Picture
from fastevals.show.plots import style
from fastevals.show.plots.drawing import show
from fastevals.show.plots.models import label_of
from fastevals.split.checks import as_values, check_parameter_name
from fastevals.split.learners import as_learner

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

N_POINTS = 400  # at which a fit is evaluated
ROOM_SHARE = 0.15  # of the range of y, above and below the data: a fit that leaves it is cut


class Fits(NamedTuple):
    """A learner's fits to some rows."""

    x: Floats
    y: Floats
    points: Floats  # at which the fits are evaluated
    lines: list[tuple[str, Floats]]  # with the name of each
    truth: Floats | None


def plot_fits(
    fit_predict: Any,
    x: ArrayLike,
    y: ArrayLike,
    *,
    parameter: str,
    values: Any,
    params: Any = None,
    truth: Callable[[Floats], ArrayLike] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a learner's fits over the data, one line per value of a parameter, to see under- and overfitting.

    Parameters
    ----------
    fit_predict : function or estimator
        A learner, as for `validation_curve`; an estimator gets `x` as one column.
    x, y : array-like of shape (n_samples,)
        The rows to fit: one feature, and the targets.
    parameter : str
        The parameter of the learner that varies.
    values : sequence
        Its values.
    params : mapping, optional
        The other parameters.
    truth : function, optional
        The true regression function, where it is known: it returns a number for each `x`.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes. The y axis covers `y` with a margin; parts of fits outside this range are not shown.

    Raises
    ------
    ValueError
        If an argument has the wrong type, or a prediction is not finite.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> def polynomial(x, y, x_new, degree):
    ...     return np.polyval(np.polyfit(x, y, degree), x_new)
    >>> x = np.linspace(0, 1, 12)
    >>> ax = plot_fits(polynomial, x, x**2, parameter="degree", values=[1, 2], ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['training rows', 'degree = 1', 'degree = 2']
    """
    fits = compute_fits(fit_predict, x, y, parameter, values, params, truth)
    ax = style.get_axes(ax, style.WIDE, len(fits.lines))
    picture = Picture()
    draw_fits(picture, fits)
    return show(picture, ax, title)


def compute_fits(
    fit_predict: Any, x: Any, y: Any, parameter: str, values: Any, params: Any = None, truth: Any = None
) -> Fits:
    """Fit a learner at each value; arguments as for `plot_fits`."""
    check_parameter_name("parameter", parameter)
    learner = as_learner("fit_predict", fit_predict, params)
    rows = {name: as_scores(name, each).astype(np.float64) for name, each in (("x", x), ("y", y))}
    check_same_length(**rows)
    for name, each in rows.items():
        check_finite(name, each)
        style.check_drawable(name, each)
    column, targets = rows["x"], rows["y"]
    points = np.linspace(column.min(), column.max(), N_POINTS)
    data, new = (each[:, np.newaxis] if learner.is_estimator else each for each in (column, points))
    lines = []
    for value in as_values("values", values):
        fitted = learner.with_params({parameter: value})
        predicted = fitted.predictions(data, targets, None, new, None, ["values"])["values"]
        name = f"{parameter} = {format_value(value)}"
        line = np.asarray(predicted, dtype=np.float64)
        check_finite(f"the predictions of {name}", line)
        lines.append((name, line))
    return Fits(column, targets, points, lines, None if truth is None else _truth_at(points, truth))


def _truth_at(points: Floats, truth: Any) -> Floats:
    """Return the true regression function at the points."""
    if not callable(truth):
        raise ValueError(f"truth must be a function, got {shown(truth)}")
    values = np.asarray(truth(points), dtype=np.float64)
    if values.shape != points.shape:
        raise ValueError(f"truth must return one number for each of {points.size} points, got shape {values.shape}")
    return values


def draw_fits(picture: Picture, fits: Fits) -> None:
    """Add fits to an empty picture."""
    picture.add_curve(fits.x, fits.y, "training rows", Look(GREY), ringed=True, joined=False)
    for place, (name, line) in enumerate(fits.lines):
        picture.add_curve(fits.points, np.clip(line, *_far(fits.y)), label_of(name), Look.of_place(place))
    if fits.truth is not None:
        picture.add_reference(fits.points, fits.truth, "truth")
    low, high = float(fits.y.min()), float(fits.y.max())
    room = ROOM_SHARE * (high - low) or 1.0
    picture.x, picture.y = AxisScale("x"), AxisScale("y", low - room, high + room)
    margin = 0.02 * float(np.ptp(fits.x)) or 1.0
    picture.x.low, picture.x.high = float(fits.x.min()) - margin, float(fits.x.max()) + margin
    picture.legend, picture.keyed = style.BELOW, True


def _far(y: Floats) -> tuple[float, float]:
    """Return heights beyond the picture at which lines are cut, so that renderers get no extreme values."""
    reach = 2 * float(np.ptp(y)) or 4.0
    return float(y.min()) - reach, float(y.max()) + reach
