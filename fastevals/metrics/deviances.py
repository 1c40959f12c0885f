"""Deviances of the Tweedie family, as in `sklearn.metrics`."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastevals._kernels.row_errors import (
    adder_of,
    gamma_deviance,
    high_tweedie_deviance,
    inverse_gaussian_deviance,
    low_tweedie_deviance,
    poisson_deviance,
    root_deviance,
    squared_error,
)
from fastevals.measure.probability_metrics import LEAST_FLOAT
from fastevals.metrics._outputs import (
    Floats,
    Outputs,
    as_outputs,
    explained,
    mean_errors,
    mean_losses,
    mean_targets,
    raise_not_finite,
    squares_and_variances,
)
from fastevals.metrics._parameters import ARRAY_OR_NONE, Rule, check_parameters, warn_ill_defined

POWER = Rule(
    "a float in the range (-inf, 0.0] or a float in the range [1.0, inf)",
    lambda value: isinstance(value, numbers.Real) and math.isfinite(value) and not 0 < float(value) < 1,
)
FEW_SAMPLES = "D^2 score is not well-defined with less than two samples."
NO_DEVIANCE = "D^2 score is not well-defined: y_true does not deviate from its mean."
DEVIANCES = {1: poisson_deviance, 1.5: root_deviance, 2: gamma_deviance, 3: inverse_gaussian_deviance}  # by power


def mean_tweedie_deviance(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None, power: float = 0
) -> float:
    """Compute the mean deviance of a Tweedie distribution, like scikit-learn's `mean_tweedie_deviance`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Targets and predictions, above zero with three exceptions: targets may be zero if `power` is below 2, and any
        number if `power` is below 1; predictions may be any number if `power` is 0.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    power : float
        The variance is proportional to the mean raised to this power, which must not lie between 0 and 1. A power of 0
        gives the mean squared error, 1 the Poisson deviance, 2 the gamma deviance and 3 the inverse Gaussian deviance.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Jorgensen (1987), Exponential Dispersion Models, doi:10.1111/j.2517-6161.1987.tb01685.x.

    Examples
    --------
    >>> from fastevals.metrics import mean_tweedie_deviance
    >>> round(mean_tweedie_deviance([2, 0, 1, 4], [0.5, 0.5, 2.0, 2.0], power=1), 4)
    1.426
    """
    return _mean_deviance("mean_tweedie_deviance", y_true, y_pred, sample_weight, power)


def mean_poisson_deviance(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the mean Poisson deviance, like scikit-learn's `mean_poisson_deviance`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Targets, which must be at least zero, and predictions, which must be above zero.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals.metrics import mean_poisson_deviance
    >>> mean_poisson_deviance([0, 0, 1, 1], [0.5, 0.5, 1.0, 1.0])
    0.5
    """
    return _mean_deviance("mean_poisson_deviance", y_true, y_pred, sample_weight, 1)


def mean_gamma_deviance(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the mean gamma deviance, like scikit-learn's `mean_gamma_deviance`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Targets and predictions, above zero.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals.metrics import mean_gamma_deviance
    >>> round(mean_gamma_deviance([2, 0.5, 1, 4], [0.5, 0.5, 2.0, 2.0]), 4)
    1.0569
    """
    return _mean_deviance("mean_gamma_deviance", y_true, y_pred, sample_weight, 2)


def d2_tweedie_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None, power: float = 0
) -> float:
    """Compute the share of a Tweedie deviance that predictions explain, like scikit-learn's `d2_tweedie_score`.

    It is 1 - D / D0, where D is the mean deviance from the predictions, and D0 the mean deviance from the targets'
    mean.

    Parameters
    ----------
    y_true, y_pred, sample_weight, power
        As for `mean_tweedie_deviance`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If there are fewer than two rows, or targets are constant. The value is NaN, or -inf if targets are constant but
        predictions deviate from them.

    Examples
    --------
    >>> from fastevals.metrics import d2_tweedie_score
    >>> round(d2_tweedie_score([0.5, 1, 2.5, 7], [1, 1, 5, 3.5], power=1), 4)
    0.4879
    """
    outputs = _read("d2_tweedie_score", y_true, y_pred, sample_weight, power)
    if outputs.n_samples < 2:
        raise_not_finite(outputs.true, outputs.predicted)
        warn_ill_defined(FEW_SAMPLES)
        return math.nan
    if power == 0:
        lost, total, _ = squares_and_variances(outputs)
    else:
        lost = _mean_deviances(outputs, power)
        means = np.broadcast_to(mean_targets(outputs), outputs.true.shape)
        total = _mean_deviances(outputs._replace(predicted=means), power, known=True)
    if not total.any():
        warn_ill_defined(NO_DEVIANCE)
    return float(explained(lost, total, force_finite=False)[0])


def _mean_deviance(metric: str, y_true: Any, y_pred: Any, sample_weight: Any, power: Any) -> float:
    """Return the mean deviance of one output."""
    outputs = _read(metric, y_true, y_pred, sample_weight, power, "mean_tweedie_deviance")
    return float(_mean_deviances(outputs, power)[0])


def _read(
    metric: str, y_true: Any, y_pred: Any, sample_weight: Any, power: Any, what: str = "d2_tweedie_score"
) -> Outputs:
    """Return the targets and predictions without checking that they are valid for the power."""
    check_parameters(metric, sample_weight=(sample_weight, ARRAY_OR_NONE), power=(power, POWER))
    outputs = as_outputs(y_true, y_pred, sample_weight)
    if outputs.n_outputs > 1:
        raise ValueError(f"Multioutput not supported in {what}")
    return outputs


def _mean_deviances(outputs: Outputs, power: float, *, known: bool = False) -> Floats:
    """Return each output's mean deviance; unless `known`, raise if numbers are invalid for the power."""
    if power == 0:
        return mean_errors(outputs, squared_error)
    deviance = DEVIANCES.get(power, low_tweedie_deviance if power < 1.5 else high_tweedie_deviance)
    least = -math.inf if power < 0 else 0.0 if power < 2 else LEAST_FLOAT
    parameters = () if power in DEVIANCES else (float(power), least)
    means = mean_losses(outputs, deviance, *parameters)
    if not np.isfinite(means).all():
        if not known:
            _check_domain(outputs, power)
        means = _mean_of_any_size(outputs.of_weight(), power, deviance, parameters)
    return 2 * means


def _mean_of_any_size(outputs: Outputs, power: float, deviance: Callable[..., float], parameters: Any) -> Floats:
    """Return half the mean deviance of rows, even of values too large, too small or too far apart for a kernel."""

    def by_kernel(y: Floats, p: Floats) -> Floats:
        found = np.zeros((1, max(y.size, 1)))
        adder_of(deviance)(y, p, None, found, *parameters)
        return found[0, : y.size]

    y, p = (each.astype(np.float64) for each in (outputs.true, outputs.predicted))
    with np.errstate(all="ignore"):
        found = by_kernel(y, p)
        lost = np.flatnonzero(~np.isfinite(found))
        exponents = np.frexp(p[lost])[1]
        near_one = by_kernel(np.ldexp(y[lost], -exponents), np.ldexp(p[lost], -exponents))
        places = np.modf(exponents * (2.0 - power))
        found[lost] = np.ldexp(near_one * np.exp2(places[0]), places[1].clip(-4096, 4096).astype(np.int64))
        lost = np.flatnonzero(~np.isfinite(found))
        found[lost] = _deviances_far_apart(y[lost], p[lost], power)
        weights = outputs.weights
        return np.atleast_1d(found.mean() if weights is None else weights @ found / weights.sum())


def _deviances_far_apart(y: Floats, p: Floats, power: float) -> Floats:
    """Return half of each row's deviance, for rows whose targets are far from the predictions."""
    a = 2.0 - power
    if power == 1:
        deviances = y * (np.log(y) - np.log(p)) - y + p
    elif power == 2:
        deviances = np.log(p) - np.log(y) + y / p - 1
    else:
        deviances = np.maximum(y, 0.0) ** a / ((1 - power) * a) - y * p ** (1 - power) / (1 - power) + p**a / a
    return np.asarray(deviances)


def _check_domain(outputs: Outputs, power: float) -> None:
    """Raise if a target or a prediction is invalid for the power."""
    true, predicted = outputs.true.min(), outputs.predicted.min()
    if power < 0:
        words, wrong = "strictly positive y_pred", predicted <= 0
    elif power < 2:
        words, wrong = "non-negative y and strictly positive y_pred", true < 0 or predicted <= 0
    else:
        words, wrong = "strictly positive y and y_pred", true <= 0 or predicted <= 0
    if wrong:
        raise ValueError(
            f"Mean Tweedie deviance error with power={power} can only be used on {words}. The smallest y_true is "
            f"{true}, the smallest y_pred {predicted}."
        )
