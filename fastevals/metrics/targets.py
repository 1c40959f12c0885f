"""Error metrics of predicted numbers, as in `sklearn.metrics`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import run
from fastevals._kernels.row_errors import (
    absolute_error,
    largest_error,
    relative_error,
    squared_error,
    squared_log_error,
)
from fastevals.measure.regression import in_range, mean_square
from fastevals.metrics._outputs import (
    MULTIOUTPUT,
    MULTIOUTPUT_OR_VARIANCE,
    Floats,
    Outputs,
    as_output_weights,
    as_outputs,
    explained,
    mean_errors,
    mean_losses,
    of_outputs,
    over_outputs,
    raise_not_finite,
    squares_and_variances,
)
from fastevals.metrics._parameters import ARRAY_OR_NONE, FLAG, Rule, check_parameters, warn_ill_defined

FEW_SAMPLES = "R^2 score is not well-defined with less than two samples."
_OR_NONE = Rule(
    f"{MULTIOUTPUT_OR_VARIANCE.text} or None",
    lambda value: value is None or bool(MULTIOUTPUT_OR_VARIANCE.allows(value)),
)


@of_outputs
def mean_squared_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
) -> Any:
    """Compute the mean squared error, like scikit-learn's `mean_squared_error`.

    Sums are computed in float64, whatever the type of the numbers.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Finite targets and predictions.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        What to return: "uniform_average" is the mean over outputs, "raw_values" one error per output, and an array the
        mean with these weights.

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
    outputs, weights = _read("mean_squared_error", y_true, y_pred, sample_weight, multioutput)
    return over_outputs(mean_errors(outputs, squared_error), multioutput, weights)


@of_outputs
def root_mean_squared_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
) -> Any:
    """Compute the root mean squared error of each output, like scikit-learn's `root_mean_squared_error`.

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
    outputs, weights = _read("root_mean_squared_error", y_true, y_pred, sample_weight, multioutput, least=1)
    return over_outputs(_root_mean_squares(outputs), multioutput, weights)


@of_outputs
def mean_absolute_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
) -> Any:
    """Compute the mean absolute error, like scikit-learn's `mean_absolute_error`.

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
    outputs, weights = _read("mean_absolute_error", y_true, y_pred, sample_weight, multioutput)
    return over_outputs(mean_errors(outputs, absolute_error), multioutput, weights)


@of_outputs
def r2_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    """Compute the coefficient of determination, like scikit-learn's `r2_score`.

    Targets count as constant only if they are all equal, whatever the rounding of their mean.

    Parameters
    ----------
    y_true, y_pred, sample_weight
        As for `mean_squared_error`.
    multioutput : {"uniform_average", "raw_values", "variance_weighted"}, None or array-like of shape (n_outputs,)
        What to return: "uniform_average" (or None) is the mean over outputs, "raw_values" one value per output,
        "variance_weighted" the mean weighted by the targets' variances, and an array the mean with these weights.
    force_finite : bool
        Whether to return finite values for constant targets: 1 instead of NaN if the predictions are perfect, otherwise
        0 instead of -inf.

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
        If there are fewer than two rows; the value is then NaN.

    Examples
    --------
    >>> from fastevals.metrics import r2_score
    >>> r2_score([1, 2, 3, 4], [1, 2, 3, 5])
    0.8
    """
    check_parameters(
        "r2_score",
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        multioutput=(multioutput, _OR_NONE),
        force_finite=(force_finite, FLAG),
    )
    return _explained_variance(y_true, y_pred, sample_weight, multioutput, force_finite, from_mean=False)


@of_outputs
def explained_variance_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    """Compute 1 minus var(errors) / var(targets), like scikit-learn's `explained_variance_score`.

    It is the `r2_score` of the predictions after their mean error is removed. Errors count as constant only if they are
    all equal, whatever the rounding of their mean.

    Parameters
    ----------
    y_true, y_pred, sample_weight
        As for `mean_squared_error`.
    multioutput : {"uniform_average", "raw_values", "variance_weighted"} or array-like of shape (n_outputs,)
        What to return: "uniform_average" is the mean over outputs, "raw_values" one value per output,
        "variance_weighted" the mean weighted by the targets' variances, and an array the mean with these weights.
    force_finite : bool
        As for `r2_score`.

    Returns
    -------
    float or ndarray of shape (n_outputs,)

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals.metrics import explained_variance_score
    >>> explained_variance_score([1, 2, 3, 4], [2, 3, 4, 5])
    1.0
    """
    check_parameters(
        "explained_variance_score",
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        multioutput=(multioutput, MULTIOUTPUT_OR_VARIANCE),
        force_finite=(force_finite, FLAG),
    )
    return _explained_variance(y_true, y_pred, sample_weight, multioutput, force_finite, from_mean=True)


@of_outputs
def mean_absolute_percentage_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
) -> Any:
    """Compute the mean of absolute errors divided by absolute targets, like scikit-learn's function of this name.

    It is a share (0.1 means 10 %). Absolute targets below 2**-52 count as 2**-52, so a target of zero gives a huge
    error.

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
    >>> from fastevals.metrics import mean_absolute_percentage_error
    >>> mean_absolute_percentage_error([1, 2, 4, 5], [2, 2, 4, 5])
    0.25
    """
    outputs, weights = _read("mean_absolute_percentage_error", y_true, y_pred, sample_weight, multioutput)
    means = mean_losses(outputs, relative_error)
    if not np.isfinite(means).all():
        means = mean_losses(outputs.of_weight(), relative_error)
    return over_outputs(means, multioutput, weights)


@of_outputs
def mean_squared_log_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
) -> Any:
    """Compute the mean square of log((1 + y_true) / (1 + y_pred)), like scikit-learn's function of this name.

    Parameters
    ----------
    y_true, y_pred
        As for `mean_squared_error`, but all values must be above -1.
    sample_weight, multioutput
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
    >>> from fastevals.metrics import mean_squared_log_error
    >>> round(mean_squared_log_error([1, 3], [3, 3]), 4)
    0.2402
    """
    outputs, weights = _read("mean_squared_log_error", y_true, y_pred, sample_weight, multioutput)
    return over_outputs(_log_errors(outputs, "Mean", root=False), multioutput, weights)


@of_outputs
def root_mean_squared_log_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
) -> Any:
    """Compute the root mean squared log error of each output, like scikit-learn's `root_mean_squared_log_error`.

    Parameters
    ----------
    y_true, y_pred, sample_weight, multioutput
        As for `mean_squared_log_error`.

    Returns
    -------
    float or ndarray of shape (n_outputs,)

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals.metrics import root_mean_squared_log_error
    >>> round(root_mean_squared_log_error([1, 3], [3, 3]), 4)
    0.4901
    """
    outputs, weights = _read("root_mean_squared_log_error", y_true, y_pred, sample_weight, multioutput)
    return over_outputs(_log_errors(outputs, "Root Mean", root=True), multioutput, weights)


def max_error(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Compute the largest absolute error, like scikit-learn's `max_error`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Finite targets and predictions.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals.metrics import max_error
    >>> max_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 9])
    2.0
    """
    outputs = as_outputs(y_true, y_pred, None)
    if outputs.n_outputs > 1:
        raise ValueError("Multioutput not supported in max_error")
    outputs = outputs.errors_alone()

    def largest(part: slice) -> float:
        return float(np.max([largest_error(*outputs.read(rows)) for rows in outputs.blocks(part)]))

    errors = run(largest, outputs.parts(), compiles=largest_error)
    if not np.isfinite(errors).all():
        raise_not_finite(outputs.true, outputs.predicted)
    return max(errors)


def _read(
    metric: str, y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any, *, least: int = 2
) -> tuple[Outputs, NDArray[Any] | None]:
    """Return the outputs, and the weights for the mean over them."""
    check_parameters(metric, sample_weight=(sample_weight, ARRAY_OR_NONE), multioutput=(multioutput, MULTIOUTPUT))
    outputs = as_outputs(y_true, y_pred, sample_weight)
    return outputs, as_output_weights(multioutput, outputs.n_outputs, least=least)


def _root_mean_squares(outputs: Outputs) -> Floats:
    """Return the root mean squared error of each output."""
    means = mean_errors(outputs, squared_error)
    return np.sqrt(means) if in_range(means).all() else _roots_in_unit(outputs.errors_alone().of_weight())


def _roots_in_unit(outputs: Outputs) -> Floats:
    """Return the root mean squared error of each output, for errors of any size."""
    scaled = [mean_square(*column) for column in outputs.columns()]
    with np.errstate(over="ignore"):
        return np.array([np.ldexp(math.sqrt(square), -exponent) for square, exponent in scaled])


def _log_errors(outputs: Outputs, words: str, root: bool) -> Floats:
    """Return the mean squared logarithmic error of each output, or the root of it."""
    means = mean_losses(outputs, squared_log_error)
    if in_range(means).all():
        return np.sqrt(means) if root else means
    least = min(outputs.true.min(), outputs.predicted.min())
    if least <= -1:
        raise ValueError(
            f"{words} Squared Logarithmic Error cannot be used when targets contain values less than or equal to -1. "
            f"The smallest is {least}."
        )
    true, predicted = (np.log1p(each, dtype=np.float64) for each in (outputs.true, outputs.predicted))
    logarithms = Outputs(true, predicted, outputs.weights)
    return _root_mean_squares(logarithms) if root else mean_errors(logarithms, squared_error)


def _explained_variance(
    y_true: Any, y_pred: Any, sample_weight: Any, multioutput: Any, force_finite: bool, *, from_mean: bool
) -> Any:
    """Return 1 - S / V for mean squared errors S (errors' variances, if `from_mean`) and the targets' variances V."""
    outputs = as_outputs(y_true, y_pred, sample_weight)
    means = as_output_weights(multioutput, outputs.n_outputs)
    squares, variances, units = squares_and_variances(outputs, from_mean=from_mean)
    if outputs.n_samples < 2 and not from_mean:
        warn_ill_defined(FEW_SAMPLES)
        return math.nan
    if isinstance(multioutput, str) and multioutput == "variance_weighted" and variances.any():
        means = variances * (units.min() / units) ** 2
    return over_outputs(explained(squares, variances, force_finite), multioutput, means)
