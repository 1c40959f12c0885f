"""Adjust the p-values of several tests for the number of tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import check_choice, check_integer, show
from fastevals._validation.arrays import as_array
from fastevals.results import LARGEST_ALPHA

Floats = NDArray[np.float64]

MOST_LEARNERS = 1000  # for Shaffer's correction: seconds


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


def _finner(p: Floats) -> Floats:
    with np.errstate(divide="ignore"):  # log1p(-1)
        return np.maximum.accumulate(-np.expm1(p.size / np.arange(1, p.size + 1) * np.log1p(-p)))


def _shaffer(p: Floats, n_learners: int) -> Floats:
    """Return p-values of pairs of learners; the j-th is multiplied by the largest possible number of equal pairs."""
    possible = equal_pairs(n_learners)
    left = np.arange(p.size, 0, -1)  # hypotheses that are not rejected yet; undefined ones are not among them
    not_rejected = possible[-1] - np.arange(p.size)
    largest = possible[np.searchsorted(possible, not_rejected, "right") - 1]
    return np.maximum.accumulate(np.minimum(largest, left) * p)


@lru_cache(maxsize=8)
def equal_pairs(n_learners: int) -> NDArray[np.int64]:
    """Return the possible numbers of pairs of equal learners, ascending: if a = b and b = c, then a = c.

    Each partition of the learners into groups of equal ones has one such number (Shaffer's S(k)). A set of numbers is
    kept as the bits of an integer: group sizes j and a partition of the other k - j learners make up each number.
    """
    sums = [1, 1]
    for k in range(2, n_learners + 1):
        bits = 0
        for size in range(1, k + 1):
            bits |= sums[k - size] << size * (size - 1) // 2
        sums.append(bits)
    marks = np.frombuffer(sums[n_learners].to_bytes(-(-sums[n_learners].bit_length() // 8), "little"), dtype=np.uint8)
    return np.flatnonzero(np.unpackbits(marks, bitorder="little"))


# Corrections of ascending p-values; values above 1 are clipped later.
Correction = Literal[
    "holm", "hochberg", "shaffer", "finner", "bonferroni", "sidak", "benjamini-hochberg", "benjamini-yekutieli", "none"
]
CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {  # all but "shaffer", which depends on the number of learners
    "holm": _holm,
    "hochberg": _hochberg,
    "finner": _finner,
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


def adjust_pvalues(pvalues: ArrayLike, *, correction: Correction = "holm", n_learners: int | None = None) -> Floats:
    """Adjust the p-values of several tests for their number; a test rejects if its adjusted p-value is below alpha.

    Parameters
    ----------
    pvalues : array-like of float
        Values in [0, 1], of any shape. NaN marks an undefined test: it stays NaN and does not count as a test.
    correction : str
        "holm", "hochberg", "bonferroni" and "sidak" control the chance of any false alarm ("hochberg" if the tests are
        independent or positively dependent, "sidak" if they are independent). So does "shaffer" for two-sided tests of
        all pairs of learners; it rejects all that "holm" rejects, and sometimes more. "benjamini-hochberg" (if the
        tests are independent or positively dependent) and "benjamini-yekutieli" (always) control the expected share of
        false alarms among rejections. "finner" controls the chance of any false alarm only if no learners differ.
        "none" changes nothing.
    n_learners : int, optional
        For "shaffer", the number k of learners, whose k (k - 1) / 2 pairs were tested. By default it follows from the
        number of p-values, undefined ones included.

    Returns
    -------
    ndarray
        Adjusted p-values of the same shape, at most 1 and never below the original.

    Raises
    ------
    ValueError
        If a value is outside [0, 1] or the correction is unknown; or if "shaffer" is used for p-values that are not
        for all pairs.

    Notes
    -----
    Shaffer's static procedure uses that equality is transitive: if a equals b, and b equals c, then a equals c. So
    among all pairs of k learners, only some numbers of equal pairs are possible (for five learners: 0, 1, 2, 3, 4, 6
    and 10). The i-th smallest p-value is multiplied by the largest possible number among the pairs not rejected yet.
    Equal means and equal mean ranks are transitive. One-sided hypotheses are not, and equal medians or shares of wins
    need not be: for the signed-rank and the sign test, equal learners must have results of the same distribution.

    Finner's step-down procedure, as used for comparisons with a control, adjusts the i-th smallest of m p-values to
    ``1 - (1 - p)^(m / i)``. With ten independent tests at level 5 %, five of them of learners that differ clearly, the
    chance of any false alarm is ``1 - 0.95^3``, or 14 %.

    References
    ----------
    Holm (1979), Scand. J. Statist. 6, 65-70. Hochberg (1988), doi:10.1093/biomet/75.4.800. Benjamini and Hochberg
    (1995), doi:10.1111/j.2517-6161.1995.tb02031.x. Benjamini and Yekutieli (2001), doi:10.1214/aos/1013699998.
    Shaffer (1986), doi:10.1080/01621459.1986.10478341. Finner (1993), doi:10.1080/01621459.1993.10476358. Garcia and
    Herrera (2008), "An Extension on 'Statistical Comparisons of Classifiers over Multiple Data Sets' for all Pairwise
    Comparisons", JMLR 9, 2677-2694.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.adjust_pvalues([0.01, 0.04, 0.03], correction="holm")
    array([0.03, 0.06, 0.06])
    """
    check_choice("correction", correction, Correction)
    array: Any = _as_pvalues("pvalues", pvalues)
    p = array.ravel()
    k = _learners(p.size, correction, n_learners)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    adjusted = p.copy()
    corrected = _shaffer(p[order], k) if correction == "shaffer" else CORRECTIONS[correction](p[order])
    adjusted[order] = np.minimum(np.maximum(corrected, p[order]), 1.0)
    return np.asarray(adjusted.reshape(array.shape))


# Checks ---------------------------------------------------------------------------------------------------------------


def check_correction(
    correction: Any, *, reference: Any = None, alternative: str = "two-sided", argument: str = "reference"
) -> None:
    """Raise for an unknown correction, or for one that does not apply to these tests of pairs."""
    check_choice("correction", correction, Correction)
    if correction != "shaffer":
        return
    if reference is not None:
        raise ValueError(
            f"correction='shaffer' is for all pairs, not for pairs with one {argument}, got {argument}="
            f"{show(reference)}: use 'holm', or leave {argument} out"
        )
    if alternative != "two-sided":
        raise ValueError(
            f"correction='shaffer' is for two-sided tests, got alternative={show(alternative)}: use 'holm'"
        )


def _learners(n_pvalues: int, correction: str, n_learners: Any) -> int:
    """Return the number of learners whose pairs have these p-values, for Shaffer's correction."""
    if correction != "shaffer":
        if n_learners is not None:
            raise ValueError(f"n_learners applies only to correction='shaffer', got correction={show(correction)}")
        return 0
    k = (1 + math.isqrt(8 * n_pvalues + 1)) // 2
    if n_learners is not None:
        k = check_integer("n_learners", n_learners, low=2, high=MOST_LEARNERS)
        if n_pvalues != k * (k - 1) // 2:
            raise ValueError(f"pvalues must be for all {k * (k - 1) // 2} pairs of {k} learners, got {n_pvalues}")
    elif n_pvalues != k * (k - 1) // 2 or k > MOST_LEARNERS:
        raise ValueError(
            f"pvalues must be for all pairs of learners with correction='shaffer': 1, 3, 6, 10, 15, ... of them, up to "
            f"{MOST_LEARNERS} learners; got {n_pvalues}"
        )
    return k


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
