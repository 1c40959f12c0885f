"""Logarithms and exponentials of kernels against the math library's, in long doubles."""

from __future__ import annotations

import numpy as np
import pytest

from fastevals._kernels.logarithms import exponential, log_ratio

if np.finfo(np.longdouble).nmant < 60:
    pytest.skip("long floats are not longer here", allow_module_level=True)


def ulps(found, exact):
    """Return the largest error of the results, in units in the last place."""
    return float(np.max(np.abs(np.array(found) - exact) / np.spacing(np.abs(exact).astype(np.float64))))


def long_log(a, b):
    """Return the logarithm of a / b as a long double."""
    off = (a.astype(np.longdouble) - b) / b
    return np.where(np.abs(off) < 0.5, np.log1p(np.maximum(off, -0.5)), np.log(a.astype(np.longdouble) / b))


@pytest.mark.parametrize("spread", [1e-12, 1e-3, 0.3, 3.0, 300.0])
def test_log_ratios(spread):
    rng = np.random.default_rng(1)
    a, b = np.exp(rng.normal(scale=min(spread, 30), size=(2, 5000)))
    if spread > 30:
        a, b = np.exp(rng.uniform(-spread, spread, size=(2, 5000)))
    exact = long_log(a, b)
    assert ulps([log_ratio(*pair, pair[0] - pair[1]) for pair in zip(a, b, strict=True)], exact) < 4
    ones = np.ones_like(a)
    exact = long_log(a, ones)
    assert ulps([log_ratio(*pair, pair[0] - pair[1]) for pair in zip(a, ones, strict=True)], exact) < 2


def test_log_ratios_at_the_ends():
    for a in (1e-300, 1.0, 2.0, 0.5, 1.0 + 2**-52, 1.0 - 2**-53, 2**0.5, 2**-0.5, np.nextafter(2**-0.5, 0), 1e300):
        assert log_ratio(a, 1.0, a - 1.0) == pytest.approx(float(np.log(np.longdouble(a))), rel=3e-16)
    assert log_ratio(7.0, 7.0, 0.0) == 0.0


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 0.3, 3.0, 50.0, 699.0])
def test_exponentials(scale):
    x = np.random.default_rng(2).uniform(-scale, scale, 5000)
    long = x.astype(np.longdouble)
    curved = np.expm1(long) - long
    if scale < 0.1:
        curved = long**2 / 2 * (1 + long / 3 * (1 + long / 4 * (1 + long / 5 * (1 + long / 6 * (1 + long / 7)))))
    for found, exact in zip(
        zip(*map(exponential, x), strict=True), (np.exp(long), np.expm1(long), curved), strict=True
    ):
        assert ulps(found, exact) < (12 if exact is curved else 4)
    assert exponential(0.0) == (1.0, 0.0, 0.0)
