"""Paired measurements: the pairs of models to compare, and the differences of their measurements.

Differences are scaled by a power of two before they are squared, so scores of 2^600 work as well as scores of 1.
Differences that are equal up to rounding count as having no variance. For ranks, differences of decimals are computed
exactly.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._memory import lend
from fastevals._options import warn_degenerate
from fastevals._validation.tables import find_name
from fastevals.infer.significance.decision import Compared, critical_value
from fastevals.results import Alternative, Interval, Null

Floats = NDArray[np.float64]
V = TypeVar("V", float, Floats)

SAME_DIFFERENCES = "the differences are all the same, so their variance is 0"
VARIANCE_ROUNDING = 2.0**-50  # relative to the measurements: differences that vary less count as constant
FIRST = 64  # number of differences that are checked first
LARGE_MEASUREMENT = 2.0**1000
DECIMALS = (np.float64, 15), (np.float32, 6)  # number of digits up to which distinct decimals have distinct floats
POWERS = np.array([float(f"1e{places}") for places in range(23)])  # exact
USUAL_EXPONENT = 400  # exponents of 2 from minus this to this: squares add up without overflow or underflow


def compared_pairs(names: tuple[Any, ...], reference: Any = None, *, argument: str = "reference") -> NDArray[np.intp]:
    """Return all pairs of models, or the pairs of the other models with the reference, as indices into `names`."""
    if reference is None:
        return np.stack(np.triu_indices(len(names), 1), axis=1)
    place = find_name(argument, reference, names)
    return np.array([(k, place) for k in range(len(names)) if k != place], dtype=np.intp)


class ScaledDifferences(NamedTuple):
    """Differences of paired measurements, along the last axis, in units of 2**exponent."""

    values: Floats
    exponent: NDArray[np.intc]


def scaled_differences(a: Floats, b: Floats) -> ScaledDifferences:
    """Return the differences, made equal if all are equal up to rounding, and made 0 if all are 0 up to rounding.

    Arrays have shape (..., n). Rounding is judged relative to each pair of measurements.
    """
    (a, b), exponent = scale_to_unit(a, b, usual=USUAL_EXPONENT)
    values = np.subtract(a, b, out=lend(a.size, a.dtype).reshape(a.shape))
    first = (..., slice(FIRST))
    lowest, highest = _common_values(values[first], a[first], b[first])
    if (lowest > highest).all():  # the first few already differ: further rows cannot change that
        return ScaledDifferences(values, exponent[..., 0])
    lowest, highest = _common_values(values, a, b)
    none = (np.abs(values) <= _slack(a, b)).all(axis=-1, keepdims=True)
    constant = np.where(none, 0.0, np.clip(values[..., :1], lowest, np.maximum(lowest, highest)))
    return ScaledDifferences(np.where(none | (lowest <= highest), constant, values), exponent[..., 0])


def _slack(a: Floats, b: Floats) -> Floats:
    """Return the largest rounding error of each difference."""
    return np.asarray(VARIANCE_ROUNDING * np.maximum(np.abs(a), np.abs(b)))


def _common_values(values: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and highest value that all differences could equal, allowing for rounding.

    If lowest > highest, there is no such value.
    """
    slack = _slack(a, b)
    return (values - slack).max(axis=-1, keepdims=True), (values + slack).min(axis=-1, keepdims=True)


def ranked_differences(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return differences along the last axis, of shape (n_pairs, n), and the scale factor of each pair's differences.

    If all measurements are decimals, as in a file, they are subtracted as decimals, so that 0.9 - 0.8 equals 0.8 - 0.7.
    Otherwise they are subtracted as floats. The sum of two differences never overflows.
    """
    largest = np.maximum(np.abs(a).max(axis=-1), np.abs(b).max(axis=-1))
    scale = np.where(largest > LARGE_MEASUREMENT, 1 / 8, 1.0)
    differences = a * scale[:, np.newaxis] - b * scale[:, np.newaxis]
    others = np.ones(len(a), dtype=np.bool_)
    for dtype, digits in DECIMALS:
        power = POWERS[np.maximum(np.searchsorted(POWERS, 10.0**digits / np.maximum(largest, 1e-7), "right") - 1, 0)]
        decimal = others & (largest * power <= 10.0**digits)
        for columns, each in product((slice(FIRST), slice(None)), (a, b)):  # the first few usually decide
            if decimal.any():
                decimal[decimal] = _are_decimals(each[decimal, columns], power[decimal, np.newaxis], dtype)
        if decimal.any():
            scale[decimal], units = power[decimal], power[decimal, np.newaxis]
            differences[decimal] = np.rint(a[decimal] * units) - np.rint(b[decimal] * units)
            others &= ~decimal
    return differences, scale


def _are_decimals(values: Floats, power: Floats, dtype: type[np.floating[Any]]) -> NDArray[np.bool_]:
    """Return whether every value along the last axis equals some integer / power, rounded to `dtype`."""
    nearest = np.rint(values * power) / power
    if dtype is np.float64:
        return np.asarray((nearest == values).all(axis=-1))
    with np.errstate(over="ignore"):
        written = values.astype(dtype)
    return np.asarray(((written == values) & (written == nearest.astype(dtype))).all(axis=-1))


def as_decimals(values: Floats, margin: float) -> tuple[Floats, Floats]:
    """Return values, and values + margin; if all are decimals of few digits, so are the sums, and equal ones are tied.

    For values of float32, the decimals that they stand for are returned. Raise if a sum is infinite.
    """
    largest = float(np.abs(values).max())
    if math.isinf(largest + margin):
        raise ValueError(f"measurements plus the margin must be finite, got {largest:.4g} plus {margin:.4g}")
    for dtype, digits in DECIMALS:
        for power in POWERS[: digits + 1]:
            if (largest + margin) * float(power) > 10.0**digits:
                break
            units, step = np.rint(values * power), np.rint(margin * power)
            if step / power == margin and _are_decimals(values, power, dtype).all():
                return units / power, (units + step) / power
    return values, values + margin


def scale_to_unit(*arrays: Floats, usual: int = 0) -> tuple[list[Floats], NDArray[np.intc]]:
    """Return arrays in units of 2**exponent, with all absolute values below 1, and the exponent, of shape (..., 1).

    If all exponents are within `usual` of 0, the arrays stay unscaled, in units of 1.
    """
    ends = [(each.max(axis=-1, keepdims=True), -each.min(axis=-1, keepdims=True)) for each in arrays]
    exponent = np.frexp(np.max(ends, axis=(0, 1)))[1]
    if (np.abs(exponent) < usual).all():
        return list(arrays), np.zeros_like(exponent)
    return [np.ldexp(each, -exponent) for each in arrays], exponent


def in_own_unit(values: Floats, exponent: NDArray[np.intc]) -> Floats:
    """Convert values from units of 2**exponent; infinite beyond the largest float."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.ldexp(values, exponent))


def ratio(effect: Floats, error: Floats) -> Floats:
    """Return effect / error: 0 / 0 is 0 (no difference at all), and any other effect / 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(effect == 0, 0.0, np.divide(effect, error))


def t_interval(effect: V, error: V, null: Null, alternative: Alternative, alpha: float) -> Interval[V]:
    """Return the confidence interval: the effects that the test does not reject. Arrays have one entry per pair."""
    with np.errstate(over="ignore", invalid="ignore"):
        margin: Any = critical_value(null, alternative, alpha) * np.asarray(error)
        end, above = np.asarray(effect - margin), np.asarray(effect + margin)
    other: Any = above if alternative == "two-sided" else np.full_like(end, math.inf)
    low, high = (-other, end) if alternative == "less" else (end, other)
    return Interval(low, high) if isinstance(effect, np.ndarray) else Interval(float(low), float(high))


def warn_if_constant(compared: Compared, statistic: float) -> None:
    """Warn if the differences do not vary, so that the test is more certain than the data allow."""
    if math.isinf(statistic):
        warn_degenerate(f"the test of {compared.both or compared.first}", SAME_DIFFERENCES)
