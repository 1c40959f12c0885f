"""Medians and quantiles of errors and targets, and the pinball loss, as in `sklearn.metrics`."""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import ROWS_PER_BLOCK, blocks, chunks, run
from fastevals._kernels.median import add_up, keep_bracketed
from fastevals._kernels.row_errors import pinball_loss
from fastevals._validation.arrays import FLOAT64
from fastevals.counting.ordering import plain_block
from fastevals.measure.regression import BRACKET_SIGMAS
from fastevals.metrics._outputs import (
    MULTIOUTPUT,
    Floats,
    Outputs,
    Values,
    as_output_weights,
    as_outputs,
    errors_of,
    explained,
    mean_errors,
    of_outputs,
    over_outputs,
    raise_not_finite,
    targets_of,
)
from fastevals.metrics._parameters import ARRAY_OR_NONE, Rule, check_parameters, warn_ill_defined
from fastevals.metrics.deviances import FEW_SAMPLES

SHARE_RULE = Rule(
    "a float in the range [0.0, 1.0]", lambda value: isinstance(value, numbers.Real) and 0 <= float(value) <= 1
)
SAMPLED_ROWS = 1 << 13  # size of the sample that brackets a quantile: the pass then keeps about 4 % of all rows
ROUNDED = 2.0**-52  # relative rounding error of weights: within it, half the weight counts as exactly reached


@of_outputs
def median_absolute_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    multioutput: Any = "uniform_average",
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Compute the median absolute error, like scikit-learn's `median_absolute_error`.

    It is the middle error, or the mean of the middle two. With weights, it is the smallest error such that the rows
    with this or a smaller error have at least half the total weight. If these rows have exactly half, the median is the
    mean of this error and the next larger one.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Finite targets and predictions.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        What to return: "uniform_average" is the mean over outputs, "raw_values" one median per output, and an array the
        mean with these weights.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.

    Returns
    -------
    float or ndarray of shape (n_outputs,)

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals.metrics import median_absolute_error
    >>> median_absolute_error([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    0.5
    """
    check_parameters(
        "median_absolute_error", sample_weight=(sample_weight, ARRAY_OR_NONE), multioutput=(multioutput, MULTIOUTPUT)
    )
    outputs = as_outputs(y_true, y_pred, sample_weight)
    weights = as_output_weights(multioutput, outputs.n_outputs)

    return over_outputs(_quantiles(outputs.errors_alone(), _sizes_of_errors, 0.5), multioutput, weights)


@of_outputs
def mean_pinball_loss(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    alpha: float = 0.5,
    multioutput: Any = "uniform_average",
) -> Any:
    """Compute the mean pinball (quantile) loss, like scikit-learn's `mean_pinball_loss`.

    A row's loss is alpha * (target - prediction) if the target is larger, else (1 - alpha) * (prediction - target).

    Parameters
    ----------
    y_true, y_pred, sample_weight
        As for `median_absolute_error`.
    alpha : float
        Level of the predicted quantile, in [0, 1]. At 0.5 the loss is half the mean absolute error.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        What to return: "uniform_average" is the mean over outputs, "raw_values" one loss per output, and an array the
        mean with these weights.

    Returns
    -------
    float or ndarray of shape (n_outputs,)

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Koenker and Bassett (1978), Regression Quantiles, doi:10.2307/1913643, eq. 3.1.

    Examples
    --------
    >>> from fastevals.metrics import mean_pinball_loss
    >>> mean_pinball_loss([1, 2, 3], [0, 2, 3], alpha=0.75)
    0.25
    """
    check_parameters(
        "mean_pinball_loss",
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        alpha=(alpha, SHARE_RULE),
        multioutput=(multioutput, MULTIOUTPUT),
    )
    outputs = as_outputs(y_true, y_pred, sample_weight)
    weights = as_output_weights(multioutput, outputs.n_outputs)
    losses = mean_errors(outputs, pinball_loss, float(alpha))
    return over_outputs(losses, multioutput, weights)


@of_outputs
def d2_pinball_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    alpha: float = 0.5,
    multioutput: Any = "uniform_average",
) -> Any:
    """Compute the share of the pinball loss that predictions explain, like scikit-learn's `d2_pinball_score`.

    It is 1 - L / L0, where L is the loss, and L0 the loss of predicting the targets' quantile for every row. The score
    is 1 if L and L0 are zero, and 0 if only L0 is zero.

    Parameters
    ----------
    y_true, y_pred, sample_weight, alpha
        As for `mean_pinball_loss`.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (n_outputs,)
        What to return: "uniform_average" is the mean over outputs, "raw_values" one score per output, and an array the
        mean with these weights.

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

    References
    ----------
    Koenker and Machado (1999), Goodness of Fit and Related Inference Processes for Quantile Regression,
    doi:10.1080/01621459.1999.10473882, eq. 7.

    Examples
    --------
    >>> from fastevals.metrics import d2_pinball_score
    >>> d2_pinball_score([1, 2, 3], [1, 3, 3])
    0.5
    """
    check_parameters(
        "d2_pinball_score",
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        alpha=(alpha, SHARE_RULE),
        multioutput=(multioutput, MULTIOUTPUT),
    )
    return _d2_pinball(y_true, y_pred, sample_weight, float(alpha), multioutput)


@of_outputs
def d2_absolute_error_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    multioutput: Any = "uniform_average",
) -> Any:
    """Compute the share of the absolute error that predictions explain, like scikit-learn's `d2_absolute_error_score`.

    It is 1 - E / E0, where E is the mean absolute error, and E0 the mean absolute error of predicting the targets'
    median.

    Parameters
    ----------
    y_true, y_pred, sample_weight, multioutput
        As for `d2_pinball_score`.

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
    >>> from fastevals.metrics import d2_absolute_error_score
    >>> d2_absolute_error_score([1, 2, 3], [1, 2, 4])
    0.5
    """
    check_parameters(
        "d2_absolute_error_score", sample_weight=(sample_weight, ARRAY_OR_NONE), multioutput=(multioutput, MULTIOUTPUT)
    )
    return _d2_pinball(y_true, y_pred, sample_weight, 0.5, multioutput)


def _d2_pinball(y_true: Any, y_pred: Any, sample_weight: Any, alpha: float, multioutput: Any) -> Any:
    outputs = as_outputs(y_true, y_pred, sample_weight)
    weights = as_output_weights(multioutput, outputs.n_outputs)
    if outputs.n_samples < 2:
        raise_not_finite(outputs.true, outputs.predicted)
        warn_ill_defined(FEW_SAMPLES)
        return math.nan
    losses = _pinball_losses(outputs, alpha)
    if not np.isfinite(losses).all():
        losses = _pinball_losses(outputs.in_unit()[0], alpha)
    return over_outputs(explained(losses[0], losses[1]), multioutput, weights)


def _pinball_losses(outputs: Outputs, alpha: float) -> list[Floats]:
    """Return each output's pinball loss, and the pinball loss of predicting the targets' quantile."""
    targets = outputs.targets_alone()
    quantiles = np.broadcast_to(_quantiles(targets, targets_of, alpha), targets.true.shape)
    return [mean_errors(each, pinball_loss, alpha) for each in (outputs, targets._replace(predicted=quantiles))]


# Quantiles ---------------------------------------------------------------------------------------------------------


class _Kept(NamedTuple):
    """Values within a bracket and their weights; total weights below and above the bracket, as pairs of floats."""

    values: Floats
    weights: Floats | None
    below: Floats
    above: Floats


def _sizes_of_errors(column: Outputs, rows: slice, out: Floats | None) -> NDArray[Any]:
    sizes: Floats = np.abs(errors_of(column, rows, out), out=out)
    return sizes


def _quantiles(outputs: Outputs, values_of: Values, share: float) -> Floats:
    """Return the quantile of each output's values; raise if a number is not finite."""
    by_column = outputs._replace(true=np.asfortranarray(outputs.true), predicted=np.asfortranarray(outputs.predicted))
    return np.array([_quantile(values_of, column, share) for column in by_column.columns()])


def _quantile(values_of: Values, column: Outputs, share: float) -> float:
    """Return the weighted quantile. If the weight up to a value is exactly the share, average this value and the next.

    "Exactly" allows for the rounding of weights, so that multiplying all weights by a number changes nothing.
    """
    low, high = _bracket(values_of, column, share)
    found = _at_share(_keep(values_of, column, low, high), share)
    if found is None:
        found = _at_share(_keep(values_of, column, -math.inf, math.inf), share)
    assert found is not None
    return found


def _bracket(values_of: Values, column: Outputs, share: float) -> tuple[float, float]:
    """Return two values that are very likely below and above the quantile."""
    n = column.n_samples
    if n < 4 * SAMPLED_ROWS:
        return -math.inf, math.inf
    rows = slice(None, None, n // SAMPLED_ROWS)
    with np.errstate(all="ignore"):  # rows are not checked for NaN and inf yet
        sample = values_of(column, rows, np.empty(len(range(n)[rows]))).astype(np.float64)
    if column.weights is None:
        sample.sort()
        below, spread = np.arange(1, sample.size + 1), math.sqrt(sample.size)
    else:
        order = np.argsort(sample)
        sample, weights = sample[order], column.weights[rows][order]
        below, spread = np.cumsum(weights), math.sqrt(np.dot(weights, weights))
    slack = BRACKET_SIGMAS * (math.sqrt(share * (1 - share)) * spread + below[-1] / sample.size)
    first, last = np.searchsorted(below, share * below[-1] + np.array([-slack, slack]))
    return float(sample[first]) if first else -math.inf, float(sample[last]) if last < sample.size else math.inf


def _keep(values_of: Values, column: Outputs, low: float, high: float) -> _Kept:
    """Return the values that lie between `low` and `high`, for rows with positive weight."""
    weights = column.weights

    def part(rows: slice, space: Floats) -> tuple[Floats, Floats]:
        sums = np.zeros((3, 2))
        found = []
        for block in blocks(rows):
            values = plain_block(values_of(column, block, space[0, : block.stop - block.start]), FLOAT64)
            w = None if weights is None else plain_block(weights[block], FLOAT64)
            n_found = keep_bracketed(values, w, low, high, sums, space[1], space[2])
            found.append(space[1:, :n_found].copy())
        return np.hstack(found), sums

    with np.errstate(over="ignore", invalid="ignore"):
        parts, parts_sums = zip(
            *run(
                part,
                chunks(column.n_samples),
                workspace=lambda: np.empty((3, min(ROWS_PER_BLOCK, column.n_samples))),
                compiles=(keep_bracketed, weights is None),
            ),
            strict=True,
        )
        total = sum(sums[2, 0] for sums in parts_sums)
    if not math.isfinite(total):
        raise_not_finite(column.true, column.predicted)
    below, above = np.zeros((2, 2))
    for sums in parts_sums:
        for pair, more in zip((below, above), sums, strict=False):
            _add_to(pair, more)
    kept, of_kept = np.hstack(parts)
    return _Kept(kept, None if weights is None else of_kept, below, above)


def _add_to(pair: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Add weights one by one to a sum stored as a pair of floats, and return the pair after each addition."""
    sums = np.empty((2, weights.size))
    add_up(weights, pair, *sums)
    return sums[0], sums[1]


def _at_share(kept: _Kept, share: float) -> float | None:
    """Return the value at which the cumulative weight reaches a share; None if this value is not among those kept."""
    values = kept.values
    if not values.size:
        return None
    if kept.weights is None:
        reached, rest = kept.below[0] + np.arange(1, values.size + 1), np.zeros(1)
    else:
        order = np.argsort(values)
        values = values[order]
        reached, rest = _add_to(kept.below.copy(), kept.weights[order])
    whole = np.array([reached[-1], rest[-1]])
    _add_to(whole, kept.above)
    beyond = (reached - share * whole[0]) + (rest - share * whole[1])
    slack = ROUNDED * min(share, 1 - share) * whole[0]
    at = int(np.count_nonzero(beyond < -slack))
    is_below = kept.below[0] > 0 and share * whole[0] - kept.below[0] <= slack
    if is_below or (at + 1 >= values.size and kept.above[0] > 0):
        return None
    following = min(at + 1, values.size - 1)
    if kept.weights is None:
        values.partition((at, following))
    value, other = float(values[at]), float(values[following])
    if beyond[at] > slack:
        return value
    total = value + other
    return total / 2 if math.isfinite(total) else value / 2 + other / 2
