"""The .632 and .632+ corrections of a bootstrap's error.

A bootstrap replicate contains about 63.2 % of the distinct rows, so the error on the other rows (out of bag) is too
large. The error of a fit on its own training rows (resubstitution) is too small. The .632 estimate is a weighted mean
of the two errors. But a fit that memorises its training rows has a resubstitution error of 0, however poor it is. The
.632+ estimate therefore measures overfitting, by the position of the out-of-bag error between the resubstitution error
and the no-information rate. The more a fit is overfitted, the more weight its out-of-bag error gets.
"""

from __future__ import annotations

from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._validation.arrays import Places, as_thresholds
from fastevals.results import number_or_array

Floats = NDArray[np.float64]

DRAWN = 0.632  # probability that a row is drawn, 1 - 1 / e, rounded as in the papers


class BootstrapErrors(NamedTuple):
    """Components of a metric's bootstrap estimate; if greater is better, errors are distances from the best value.

    Attributes
    ----------
    out_of_bag : float
        Mean over the replicates, each measured on the rows that it did not draw; Err(1) in the paper.
    resubstitution : float
        Value of a fit to all rows, measured on the same rows.
    no_information_rate : float
        Value of the fit to all rows if its predictions were independent of the truth: the metric over all pairs of one
        row's truth and another row's prediction (0.5 for an AUC). NaN for functions and the median absolute error.
    relative_overfitting_rate : float
        Position of the out-of-bag value between resubstitution (0) and the no-information rate (1), clipped to [0, 1].
    error_632 : float
        ``0.368 * resubstitution + 0.632 * out_of_bag``.
    error_632_plus : float
        Like `error_632`, but the more the fit is overfitted, the more weight the out-of-bag value gets.
    """

    out_of_bag: float
    resubstitution: float
    no_information_rate: float
    relative_overfitting_rate: float
    error_632: float
    error_632_plus: float


@overload
def error_632(resubstitution: float, out_of_bag: float) -> float: ...
@overload
def error_632(resubstitution: Places, out_of_bag: Places) -> Floats: ...
def error_632(resubstitution: ArrayLike, out_of_bag: ArrayLike) -> Any:
    """Return Efron's .632 estimate: 0.368 times the error on the training rows plus 0.632 times the out-of-bag error.

    Parameters
    ----------
    resubstitution : float or array-like
        Error of a fit to all rows, measured on the same rows.
    out_of_bag : float or array-like
        Mean error of bootstrap replicates, each measured on the rows that it did not draw. Arrays are broadcast.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If the arguments are not real numbers, are NaN, or have shapes that cannot be broadcast.

    References
    ----------
    Efron, B. (1983), "Estimating the Error Rate of a Prediction Rule", JASA 78, 316-331, doi:10.2307/2288636.

    Examples
    --------
    >>> from fastevals import error_632
    >>> round(error_632(0.1, 0.25), 4)
    0.1948
    """
    values = _as_errors(resubstitution=resubstitution, out_of_bag=out_of_bag)
    return number_or_array(_error_632(*values))


@overload
def error_632_plus(resubstitution: float, out_of_bag: float, no_information_rate: float) -> float: ...
@overload
def error_632_plus(resubstitution: Places, out_of_bag: Places, no_information_rate: float | Places) -> Floats: ...
def error_632_plus(resubstitution: ArrayLike, out_of_bag: ArrayLike, no_information_rate: ArrayLike) -> Any:
    """Return Efron and Tibshirani's .632+ estimate, which allows for fits that memorise their training rows.

    The relative overfitting rate R is ``(out_of_bag - resubstitution) / (no_information_rate - resubstitution)``,
    clipped to [0, 1]. Err' is the smaller of the out-of-bag error and the no-information rate. The estimate is
    ``error_632 + (Err' - resubstitution) * 0.368 * 0.632 * R / (1 - 0.368 * R)``.

    Parameters
    ----------
    resubstitution, out_of_bag : float or array-like
        As for `error_632`. Smaller must be better: pass 1 - accuracy, not accuracy.
    no_information_rate : float or array-like
        Error if predictions were independent of the truth: the error over all pairs of one row's truth and another
        row's prediction.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If the arguments are not real numbers, are NaN, or have shapes that cannot be broadcast.

    Notes
    -----
    If the out-of-bag error is above the no-information rate, and this rate is above the resubstitution error, the
    estimate is ``0.632 * out_of_bag + 0.368 * no_information_rate``. It then exceeds both Err' and `error_632`, because
    `error_632` uses the out-of-bag error itself, not Err'. This agrees with the paper's definition.

    References
    ----------
    Efron, B. and Tibshirani, R. (1997), "Improvements on Cross-Validation: The .632+ Bootstrap Method", JASA 92,
    548-560, doi:10.1080/01621459.1997.10474007, eq. 29 to 32.

    Examples
    --------
    >>> from fastevals import error_632_plus
    >>> error_632_plus(0.0, 0.5, 0.5), round(error_632_plus(0.1, 0.25, 0.5), 4)
    (0.5, 0.21)
    """
    values = _as_errors(resubstitution=resubstitution, out_of_bag=out_of_bag, no_information_rate=no_information_rate)
    return number_or_array(_error_632_plus(*values))


def correct_bootstrap_errors(
    resubstitution: float, out_of_bag: float, no_information: float, best: float | None
) -> BootstrapErrors:
    """Return all components of an estimate; `best` is the metric's largest value if greater is better, else None."""
    values = np.array([resubstitution, out_of_bag, no_information])
    err, out, none = values if best is None else best - values  # the formulas are for errors, where smaller is better
    corrected = np.array([_error_632(err, out), _error_632_plus(err, out, none)])
    estimates = corrected if best is None else best - corrected
    overfitting = float(_overfitting_rate(err, out, none))
    return BootstrapErrors(out_of_bag, resubstitution, no_information, overfitting, *map(float, estimates))


def _error_632(err: Any, out: Any) -> Any:
    return (1 - DRAWN) * err + DRAWN * out


def _overfitting_rate(err: Any, out: Any, none: Any) -> Floats:
    """Return the relative overfitting rate R: 0 if there is no overfitting, NaN if any argument is NaN."""
    missing = np.isnan(err) | np.isnan(out) | np.isnan(none)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(out >= none, 1.0, (out - err) / (none - err))  # subtracting infinite errors gives NaN
    return np.where(missing, np.nan, np.where((out > err) & (none > err), share, 0.0))


def _error_632_plus(err: Any, out: Any, none: Any) -> Floats:
    rate = _overfitting_rate(err, out, none)
    # Without overfitting, nothing is added, whichever error is larger.
    factor = (1 - DRAWN) * DRAWN * rate / (1 - (1 - DRAWN) * rate)
    with np.errstate(invalid="ignore"):
        more = np.where(factor == 0, 0.0, (np.minimum(out, none) - err) * factor)
    return np.asarray(_error_632(err, out) + more)


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_errors(**values: Any) -> list[NDArray[np.float64]]:
    """Return errors as arrays broadcast to one shape; raise unless they are real numbers and not NaN."""
    arrays = [as_thresholds(name, value).astype(np.float64) for name, value in values.items()]
    try:
        return list(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(f"{name} {each.shape}" for name, each in zip(values, arrays, strict=True))
        raise ValueError(f"shapes must fit each other, got {shapes}") from None
