"""Errors of predicted numbers, as `sklearn.metrics` has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import BLOCK, chunks, run
from fastevals._validation.arrays import in_usual_unit, power_of_two
from fastevals.measure.regression import in_range, mean_square
from fastevals.metrics._input import as_numbers, as_row_weights, check_all_finite, check_same_rows
from fastevals.metrics._parameters import ARRAY_OR_NONE, FLAG, Rule, check_parameters, warn_ill_defined

Floats = NDArray[np.float64]
Term = Callable[[slice, Floats], Iterator[Floats]]  # of some rows, in a workspace, what is summed
SAMPLE = 1 << 10  # numbers that means are guessed from
ROWS = 1 << 5  # at least so many of each output, so that the guess is within a standard deviation
SHORT = 1 << 8  # rows of many outputs, each contiguous: fewer than that make short loops
FEW_SAMPLES = "R^2 score is not well-defined with less than two samples."


def _or_array(*texts: str) -> Rule:
    listed = ", ".join(map(repr, texts))
    return Rule(
        f"a str among {{{listed}}} or an array-like",
        lambda value: value in texts if isinstance(value, str) else value is not None and ARRAY_OR_NONE.allows(value),
    )


MULTIOUTPUT = _or_array("raw_values", "uniform_average")
_VARIANCE = _or_array("raw_values", "uniform_average", "variance_weighted")
MULTIOUTPUT_OR_VARIANCE = Rule(
    f"{_VARIANCE.text} or None", lambda value: value is None or bool(_VARIANCE.allows(value))
)


def mean_squared_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
) -> Any:
    """Compute the mean squared error, as scikit-learn's `mean_squared_error`.

    Sums are taken in float64 whatever the type of the numbers.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Finite targets, and their predictions.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        The mean over outputs, the error of each, or the weights of a mean.

    Returns
    -------
    float or ndarray of shape (n_outputs,)

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals.metrics import mean_squared_error
    >>> mean_squared_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.375
    """
    return _error("mean_squared_error", y_true, y_pred, sample_weight, multioutput)


def root_mean_squared_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
) -> Any:
    """Compute the root of the mean squared error, of each output by itself, as scikit-learn's function of this name.

    Parameters
    ----------
    y_true, y_pred, sample_weight, multioutput
        As for `mean_squared_error`.

    Returns
    -------
    float or ndarray of shape (n_outputs,)

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals.metrics import root_mean_squared_error
    >>> root_mean_squared_error([1, 2, 3, 4], [1, 2, 3, 8])
    2.0
    """
    return _error("root_mean_squared_error", y_true, y_pred, sample_weight, multioutput, root=True)


def mean_absolute_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
) -> Any:
    """Compute the mean absolute error, as scikit-learn's `mean_absolute_error`.

    Parameters
    ----------
    y_true, y_pred, sample_weight, multioutput
        As for `mean_squared_error`.

    Returns
    -------
    float or ndarray of shape (n_outputs,)

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals.metrics import mean_absolute_error
    >>> mean_absolute_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.5
    """
    return _error("mean_absolute_error", y_true, y_pred, sample_weight, multioutput, np.absolute)


def r2_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    """Compute the coefficient of determination, as scikit-learn's `r2_score`.

    Targets are constant when they are equal, whatever their mean is rounded to.

    Parameters
    ----------
    y_true, y_pred, sample_weight
        As for `mean_squared_error`.
    multioutput : {"uniform_average", "raw_values", "variance_weighted"}, None or array-like of shape (n_outputs,)
        The mean over outputs (None too), the value of each, the mean by the variance of the targets, or the weights of
        a mean.
    force_finite : bool
        Where targets are constant give 1 for perfect predictions, 0 for others; not NaN and -inf.

    Returns
    -------
    float or ndarray of shape (n_outputs,)

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If there are fewer than two rows; the value is NaN.

    Examples
    --------
    >>> from fastevals.metrics import r2_score
    >>> r2_score([1, 2, 3, 4], [1, 2, 3, 5])
    0.8
    """
    check_parameters(
        "r2_score",
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        multioutput=(multioutput, MULTIOUTPUT_OR_VARIANCE),
        force_finite=(force_finite, FLAG),
    )
    outputs = _as_outputs(y_true, y_pred, sample_weight)
    means = _as_output_weights(multioutput, outputs.n_outputs)
    squares, variances = _squares_and_variances(outputs)
    units = np.ones(1)
    if not (in_range(squares) & in_range(variances)).all():
        outputs, units = outputs.in_unit()
        squares, variances = _squares_and_variances(outputs)
    if outputs.n_samples < 2:
        warn_ill_defined(FEW_SAMPLES)
        return math.nan
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        values = 1 - squares / variances
    if force_finite:
        values = np.where(variances != 0, values, np.where(squares != 0, 0.0, 1.0))
    if isinstance(multioutput, str) and multioutput == "variance_weighted" and variances.any():
        means = variances * (units.min() / units) ** 2
    return _over_outputs(values, multioutput, means)


def _error(
    metric: str,
    y_true: Any,
    y_pred: Any,
    sample_weight: Any,
    multioutput: Any,
    size: Any = np.square,
    root: bool = False,
) -> Any:
    """Return the mean size of an output's errors, or its root, of each output or over them."""
    check_parameters(metric, sample_weight=(sample_weight, ARRAY_OR_NONE), multioutput=(multioutput, MULTIOUTPUT))
    outputs = _as_outputs(y_true, y_pred, sample_weight)
    weights = _as_output_weights(multioutput, outputs.n_outputs, least=1 if root else 2)
    (means,) = _means_over_rows(outputs, _errors(outputs, size))
    if root:
        means = np.sqrt(means) if in_range(means).all() else _roots_in_unit(outputs)
    return _over_outputs(means, multioutput, weights)


def _roots_in_unit(outputs: Outputs) -> NDArray[np.float64]:
    """Return the root mean squared error of each output, of errors of any size."""
    columns = [np.reshape(each, (outputs.n_samples, -1)).T for each in (outputs.true, outputs.predicted)]
    scaled = [mean_square(true, predicted, outputs.weights) for true, predicted in zip(*columns, strict=True)]
    with np.errstate(over="ignore"):
        return np.array([np.ldexp(math.sqrt(square), -exponent) for square, exponent in scaled])


def _over_outputs(values: NDArray[np.float64], multioutput: Any, weights: NDArray[Any] | None) -> Any:
    """Return the values of outputs, or their mean."""
    if isinstance(multioutput, str) and multioutput == "raw_values":
        return values
    return float(values[0] if values.size == 1 else np.average(values, weights=weights))


# Means over rows ---------------------------------------------------------------------------------------------------


class Outputs(NamedTuple):
    """Targets and predictions, vectors of one output or matrices with a column for each."""

    true: NDArray[Any]
    predicted: NDArray[Any]
    weights: NDArray[np.float64] | None

    def in_unit(self) -> tuple[Outputs, NDArray[np.float64]]:
        """Return outputs in units in which squares neither over- nor underflow: powers of two, which are returned."""
        true, predicted = self.true.astype(np.float64), self.predicted.astype(np.float64)
        largest = np.maximum(np.abs(true).max(axis=0), np.abs(predicted).max(axis=0))
        units = np.array([power_of_two(size) for size in np.atleast_1d(largest).tolist()])
        return Outputs(true * units, predicted * units, self.weights), units

    @property
    def n_samples(self) -> int:
        """Rows."""
        return len(self.true)

    @property
    def n_outputs(self) -> int:
        """Columns."""
        return 1 if self.true.ndim == 1 else self.true.shape[1]


def _errors(outputs: Outputs, size: Any) -> Term:
    """Return the sizes of the errors of some rows."""

    def sizes(rows: slice, out: Floats) -> Iterator[Floats]:
        yield size(np.subtract(outputs.true[rows], outputs.predicted[rows], out=out, dtype=np.float64), out=out)

    return sizes


def _squares_and_variances(outputs: Outputs) -> tuple[Floats, Floats]:
    """Return each output's mean squared error and variance of targets: zero exactly if they are constant."""
    origin = _near_mean(outputs)
    squares, middle, variances = _means_over_rows(outputs, _errors(outputs, np.square), _deviations(outputs, origin))
    with np.errstate(over="ignore", invalid="ignore"):
        off = middle**2
        near = (2 * off <= variances).all()  # else a difference of squares would lose digits
        if near:
            return squares, variances - off
    return squares, _means_over_rows(outputs, _deviations(outputs, origin + middle))[1]


def _near_mean(outputs: Outputs) -> Floats:
    """Return about the mean of each output's targets: that of a sample, and their value if they are constant."""
    sampled = slice(None, None, max(outputs.n_samples // max(SAMPLE // outputs.n_outputs, ROWS), 1))
    weights = None if outputs.weights is None else outputs.weights[sampled]
    first_row = 0 if outputs.weights is None else int(np.argmax(outputs.weights > 0))
    first = np.atleast_1d(outputs.true[first_row]).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.subtract(outputs.true[sampled], first, dtype=np.float64)
        total = len(off) if weights is None else weights.sum()
        origin = first + _sum(off, weights) / (total or 1.0)
    return np.where(np.isfinite(origin), origin, first)


def _deviations(outputs: Outputs, origin: Floats) -> Term:
    """Return the targets of some rows less an origin for each output, and their squares."""
    # As many rows of it as are read together: NumPy then subtracts all in one loop, not a short one for each row.
    together = 1 if outputs.true.ndim == 1 or _by_column(outputs) else _rows_together(outputs)
    origins = np.tile(origin, (together, 1)) if together > 1 else origin

    def deviations(rows: slice, out: Floats) -> Iterator[Floats]:
        less = origins if origins.ndim == 1 else origins[: len(out)]
        yield np.subtract(outputs.true[rows], less, out=out, dtype=np.float64)
        yield np.square(out, out=out)

    return deviations


def _by_column(outputs: Outputs) -> bool:
    """Return whether the targets of an output lie together, as those of data frames do."""
    strides = outputs.true.strides
    return outputs.true.ndim == 2 and abs(strides[0]) < abs(strides[1])


def _rows_together(outputs: Outputs) -> int:
    return min(max(BLOCK // outputs.n_outputs, SHORT if _by_column(outputs) else 1), outputs.n_samples)


def _means_over_rows(outputs: Outputs, *terms: Term) -> list[Floats]:
    """Return the mean over all rows of each column of what the terms give; raise where a number is not finite."""
    weights = outputs.weights
    step = _rows_together(outputs)

    def sums(part: slice, space: Floats) -> list[Any]:
        totals: list[list[Any]] = []
        for start in range(part.start, part.stop, step):
            rows = slice(start, min(start + step, part.stop))
            out = space[: rows.stop - start]
            blocks = chain.from_iterable(term(rows, out) for term in terms)
            totals.append([_sum(block, None if weights is None else weights[rows]) for block in blocks])
        return [sum(each) for each in zip(*totals, strict=True)]

    def workspace() -> Floats:
        return np.empty((step, *outputs.true.shape[1:]), order="F" if _by_column(outputs) else "C")

    parts = chunks(outputs.n_samples)
    with np.errstate(over="ignore", invalid="ignore"):
        totals = run(sums, parts, workspace=workspace) if len(parts) > 1 else [sums(parts[0], workspace())]
        total = outputs.n_samples if weights is None else weights.sum()
        means = [np.atleast_1d(sum(each) / total) for each in zip(*totals, strict=True)]
    if not all(np.isfinite(each).all() for each in means):
        _raise_not_finite(outputs.true, outputs.predicted)
    return means


def _sum(block: Floats, weights: Floats | None) -> Any:
    """Sum each column."""
    if block.ndim == 2:  # a product: sums over short rows are far slower
        return (np.ones(len(block)) if weights is None else weights) @ block
    return block.sum() if weights is None else (block * weights).sum()


# Checks ------------------------------------------------------------------------------------------------------------


def _as_outputs(y_true: Any, y_pred: Any, sample_weight: Any) -> Outputs:
    """Return numbers, one column as a vector; whether they are finite is not looked at."""
    true, predicted = (
        as_numbers(name, values, finite=False) for name, values in (("y_true", y_true), ("y_pred", y_pred))
    )
    check_same_rows(true, predicted, sample_weight)
    true, predicted = (array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array for array in (true, predicted))
    if true.shape != predicted.shape:
        widths = [1 if array.ndim == 1 else array.shape[1] for array in (true, predicted)]
        raise ValueError(f"y_true and y_pred have different number of output ({widths[0]}!={widths[1]})")
    weights = as_row_weights(sample_weight, true.shape[0])
    return Outputs(true, predicted, None if weights is None else in_usual_unit(weights))


def _as_output_weights(multioutput: Any, n_outputs: int, *, least: int = 2) -> NDArray[Any] | None:
    """Return the weights of outputs, of which there are `least` or more; None where they have none."""
    if multioutput is None or isinstance(multioutput, str):
        return None
    weights = as_numbers("multioutput", multioutput)
    if n_outputs < least:
        raise ValueError("Custom weights are useful only in multi-output cases.")
    if weights.shape[0] != n_outputs:
        raise ValueError(f"There must be equally many custom weights ({weights.shape[0]}) as outputs ({n_outputs}).")
    return weights


def _raise_not_finite(true: NDArray[Any], predicted: NDArray[Any]) -> None:
    """Raise if a target or a prediction is NaN or infinite."""
    check_all_finite("y_true", true)
    check_all_finite("y_pred", predicted)
