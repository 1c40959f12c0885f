"""Cost matrices, shares of the classes, and probabilities of classes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_array, check_finite
from fastevals._validation.options import check_costs, check_number, show

__all__ = [
    "as_action_costs",
    "as_class_shares",
    "as_cost_matrix",
    "as_prior_ratios",
    "as_probabilities",
    "as_shares_of_positives",
    "as_wrong_costs",
    "check_normalized",
    "check_prior_pair",
    "check_some_cost",
    "raise_no_class_left",
    "raise_not_probabilities",
    "sum_tolerance",
]


def sum_tolerance(dtype: np.dtype[Any]) -> float:
    """Give how far from 1 a sum of shares of this type may be: 1e-6; 3.5e-4 for float32, 0.03 for float16."""
    return max(1e-6, float(np.sqrt(np.finfo(dtype).eps))) if dtype.kind == "f" else 1e-6


# Costs ------------------------------------------------------------------------------------------------------------


def as_cost_matrix(name: str, values: Any, n_classes: int) -> NDArray[np.float64]:
    """Give a cost matrix as finite float64 of shape (K, K)."""
    array = as_array(name, values)
    if array.dtype.kind not in "fiub" or array.shape != (n_classes, n_classes):
        raise ValueError(
            f"{name} must hold numbers of shape {(n_classes, n_classes)}, got {array.dtype} of shape {array.shape}"
        )
    return _as_finite(name, array)


def as_action_costs(name: str, values: Any, n_classes: int) -> NDArray[np.float64]:
    """Give the costs of at least one action for each class as finite float64 of shape (K, A)."""
    array = as_array(name, values)
    if array.dtype.kind not in "fiub" or array.ndim != 2 or array.shape[0] != n_classes or not array.shape[1]:
        raise ValueError(
            f"{name} must hold numbers of shape ({n_classes}, actions), got {array.dtype} of shape {array.shape}"
        )
    return _as_finite(name, array)


def _as_finite(name: str, array: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # a longer float's
        costs = array.astype(np.float64)
    if not np.isfinite(costs).all():
        raise ValueError(f"{name} must be finite, but has a NaN or infinite value")
    return costs


def as_wrong_costs(cost_matrix: Any, cost_fp: Any, cost_fn: Any) -> tuple[Fraction, Fraction]:
    """Give what a wrong prediction costs beyond a right one, on a negative and on a positive row."""
    fp, fn, _ = check_costs(cost_fp, cost_fn)
    if cost_matrix is None:
        return Fraction(fp), Fraction(fn)
    if (fp, fn) != (1.0, 1.0):
        raise ValueError(f"cost_matrix goes without cost_fp and cost_fn, got {show(cost_fp)} and {show(cost_fn)}")
    costs = as_cost_matrix("cost_matrix", cost_matrix, 2)
    wrong = []
    for true in (0, 1):
        right, other = (Fraction(float(costs[true, predicted])) for predicted in (true, 1 - true))
        if other < right:
            raise ValueError(
                f"cost_matrix must not make a wrong prediction cheaper than a right one, but class {true} costs "
                f"{float(other):g} predicted as {1 - true} and {float(right):g} predicted as {true}"
            )
        wrong.append(other - right)
    if not any(wrong):
        raise ValueError("cost_matrix must make a wrong prediction cost more than a right one for some class")
    return wrong[0], wrong[1]


# Shares of the classes --------------------------------------------------------------------------------------------


def as_class_shares(name: str, values: Any, n_classes: int) -> NDArray[np.float64]:
    """Give shares of K classes as float64: finite, none negative, of sum 1 but for rounding."""
    array = as_array(name, values)
    if array.dtype.kind not in "fiub" or array.shape != (n_classes,):
        raise ValueError(f"{name} must hold numbers of shape ({n_classes},), got {array.dtype} of shape {array.shape}")
    check_finite(name, array)
    shares = array.astype(np.float64)
    if shares.min() < 0:
        raise ValueError(f"{name} must not be negative, got {show(shares.min())}")
    with np.errstate(over="ignore"):
        total = shares.sum()
    if not abs(total - 1) <= sum_tolerance(array.dtype):
        raise ValueError(f"{name} must sum to 1, but its sum is {show(total)}")
    return shares


def check_normalized(prior: Any, normalize: Any) -> None:
    """Raise if a prior is given for a sum over rows."""
    if prior is not None and not normalize:
        raise ValueError(f"prior goes with normalize=True, got it with normalize={show(normalize)}")


def check_prior_pair(prior: Any, fitted_prior: Any) -> bool:
    """Tell whether the prior shifted; raise if only one of the two is given."""
    if (prior is None) != (fitted_prior is None):
        given, missing = ("fitted_prior", "prior") if prior is None else ("prior", "fitted_prior")
        raise ValueError(f"prior and fitted_prior go together, got {given} without {missing}")
    return prior is not None


def as_prior_ratios(prior: Any, fitted_prior: Any, n_classes: int) -> NDArray[np.float64]:
    """Give what each class's probability is multiplied by when its share changes; 0 where its new share is."""
    new, fitted = as_class_shares("prior", prior, n_classes), as_class_shares("fitted_prior", fitted_prior, n_classes)
    # Below 1e-300 the ratio would overflow; such a share is as good as none.
    missing = (new > 0) & (fitted < 1e-300)
    if missing.any():
        k = int(np.argmax(missing))
        raise ValueError(
            f"fitted_prior must be above zero where prior is, but for class {k} it is {show(fitted[k])}, "
            f"with prior {show(new[k])}"
        )
    return np.divide(new, fitted, out=np.zeros(n_classes), where=new > 0)


def as_shares_of_positives(prior: Any, fitted_prior: Any) -> tuple[Fraction, Fraction]:
    """Give the shares of positives in use and in the data fitted to; the latter has both classes."""
    new = check_number("prior", prior, low=0, high=1)
    fitted = check_number("fitted_prior", fitted_prior, low=0, high=1, open_low=True, open_high=True)
    return Fraction(new), Fraction(fitted)


def check_some_cost(total: Fraction, prior: Any) -> None:
    """Raise if only wrong predictions of a class that does not occur would cost something."""
    if not total:
        raise ValueError(f"prior must leave a class whose wrong prediction costs something, got {show(prior)}")


# Probabilities ----------------------------------------------------------------------------------------------------


def as_probabilities(name: str, values: Any) -> NDArray[Any]:
    """Give probabilities of shape (rows, K), or (rows,) of the positive class; their values are not looked at."""
    array = as_array(name, values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}")
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"{name} must have shape (rows,) or (rows, classes), none of them 0, got {array.shape}")
    return array


def raise_not_probabilities(name: str, array: NDArray[Any]) -> NoReturn:
    """Say which row is no distribution, and why: NaN first, then values out of range, then sums."""
    rows = array.astype(np.float64).reshape(array.shape[0], -1)
    nan = np.isnan(rows).any(axis=1)
    if nan.any():
        count = int(np.count_nonzero(nan))
        rows_with_nan = f"{count} row{'s' * (count > 1)} with NaN"
        raise ValueError(f"{name} must not be NaN, but has {rows_with_nan}, the first at row {int(np.argmax(nan))}")
    outside = (rows < 0) | (rows > 1 + sum_tolerance(array.dtype) * (array.ndim > 1))
    if outside.any():
        row, column = divmod(int(np.argmax(outside)), rows.shape[1])
        where = f"row {row}" if array.ndim == 1 else f"row {row}, column {column}"
        raise ValueError(f"{name} must be in [0, 1], got {show(rows[row, column])} at {where}")
    sums = rows.sum(axis=1)
    off = np.abs(sums - 1)
    row = int(np.argmax(off >= min(sum_tolerance(array.dtype), off.max())))  # added up otherwise, it may be just within
    raise ValueError(f"each row of {name} must sum to 1, but row {row} sums to {show(sums[row])}")


def raise_no_class_left(name: str, row: int) -> NoReturn:
    """Say that a row gives all probability to classes that the prior rules out."""
    raise ValueError(f"{name} must leave a class of prior above zero, but row {row} gives them all probability 0")
