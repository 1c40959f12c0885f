"""Adjust the p-values of several tests for the number of tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import check_choice, show
from fastevals._validation.arrays import as_array
from fastevals.results import LARGEST_ALPHA

Floats = NDArray[np.float64]


def sidak_adjust(p: Any, m: int) -> Any:
    """Return the Sidak-adjusted smallest p-value of m independent tests, elementwise."""
    if m == 1:
        return p
    with np.errstate(divide="ignore"):  # log1p(-1)
        return -np.expm1(m * np.log1p(-p))


def _holm(p: Floats) -> Floats:
    return np.maximum.accumulate(np.arange(p.size, 0, -1) * p)


def _hochberg(p: Floats) -> Floats:
    return np.minimum.accumulate((np.arange(p.size, 0, -1) * p)[::-1])[::-1]


def _benjamini_hochberg(p: Floats) -> Floats:
    return np.minimum.accumulate((p.size / np.arange(1, p.size + 1) * p)[::-1])[::-1]


def _benjamini_yekutieli(p: Floats) -> Floats:
    return _benjamini_hochberg(p) * np.sum(1 / np.arange(1, p.size + 1))


# Corrections of ascending p-values; values above 1 are clipped later.
Correction = Literal["holm", "hochberg", "bonferroni", "sidak", "benjamini-hochberg", "benjamini-yekutieli", "none"]
CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": _holm,
    "hochberg": _hochberg,
    "bonferroni": lambda p: p.size * p,
    "sidak": lambda p: sidak_adjust(p, p.size),
    "benjamini-hochberg": _benjamini_hochberg,
    "benjamini-yekutieli": _benjamini_yekutieli,
    "none": lambda p: p,
}

# The level of each of m tests, for single-step corrections.
PER_TEST_ALPHA: dict[str, Callable[[float, int], float]] = {
    "none": lambda alpha, m: alpha,
    "bonferroni": lambda alpha, m: alpha / m,
    "sidak": lambda alpha, m: -math.expm1(math.log1p(-min(alpha, LARGEST_ALPHA)) / m) if m > 1 else alpha,
}


def adjust_pvalues(pvalues: ArrayLike, *, correction: Correction = "holm") -> Floats:
    """Adjust the p-values of several tests for their number; a test rejects if its adjusted p-value is below alpha.

    Parameters
    ----------
    pvalues : array-like of float
        Values in [0, 1], of any shape. NaN marks an undefined test: it stays NaN and does not count as a test.
    correction : str
        "holm", "hochberg", "bonferroni" and "sidak" control the chance of any false alarm ("hochberg" if the tests are
        independent or positively dependent, "sidak" if they are independent). "benjamini-hochberg" (if the tests
        are independent or positively dependent) and "benjamini-yekutieli" (always) control the expected share of false
        alarms among rejections. "none" changes nothing.

    Returns
    -------
    ndarray
        Adjusted p-values of the same shape, at most 1 and never below the original.

    Raises
    ------
    ValueError
        If a value is outside [0, 1] or the correction is unknown.

    References
    ----------
    Holm (1979), Scand. J. Statist. 6, 65-70. Hochberg (1988), doi:10.1093/biomet/75.4.800. Benjamini and Hochberg
    (1995), doi:10.1111/j.2517-6161.1995.tb02031.x. Benjamini and Yekutieli (2001), doi:10.1214/aos/1013699998.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.adjust_pvalues([0.01, 0.04, 0.03], correction="holm")
    array([0.03, 0.06, 0.06])
    """
    check_choice("correction", correction, Correction)
    array: Any = _as_pvalues("pvalues", pvalues)
    p = array.ravel()
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    adjusted = p.copy()
    adjusted[order] = np.minimum(np.maximum(CORRECTIONS[correction](p[order]), p[order]), 1.0)
    return np.asarray(adjusted.reshape(array.shape))


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_pvalues(name: str, values: Any) -> NDArray[np.float64]:
    """Return p-values as float64, of any shape, in [0, 1] or NaN."""
    array = as_array(name, values)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}")
    array = array.astype(np.float64)
    outside = (array < 0) | (array > 1)
    if outside.any():
        raise ValueError(f"{name} must be in [0, 1], got {show(array[outside][0])}")
    return array
