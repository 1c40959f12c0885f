from __future__ import annotations

import random
from fractions import Fraction

import pytest

from fastevals._kernels.compensated import add, difference, product, two_sum


def floats(seed: int, n: int, low: int, high: int) -> list[float]:
    """Draw floats of both signs with binary exponents from `low` to `high`, including integers and zeros."""
    rng = random.Random(seed)
    wild = [rng.choice((-1, 1)) * rng.uniform(1, 2) * 2.0 ** rng.randint(low, high) for _ in range(n)]
    tame = [float(rng.randint(-(2**53), 2**53)) for _ in range(n // 4)]
    mixed = [*wild, *tame, 0.0, -0.0, 1.0, -1.0, 2.0**53, 1 / 3]
    rng.shuffle(mixed)
    return mixed


def exact(pair: tuple[float, float]) -> Fraction:
    return Fraction(pair[0]) + Fraction(pair[1])


@pytest.mark.parametrize(("low", "high"), [(-3, 3), (-60, 60), (-1000, 1000)])
def test_two_sum_and_difference_are_exact(low: int, high: int) -> None:
    for a, b in zip(floats(1, 2000, low, high), floats(2, 2000, low, high), strict=True):
        total = two_sum(a, b)
        assert exact(total) == Fraction(a) + Fraction(b)
        assert total[0] == a + b
        gap = difference(a, b)
        assert exact(gap) == Fraction(a) - Fraction(b)
        assert gap[0] == a - b


@pytest.mark.parametrize(("low", "high"), [(-3, 3), (-60, 60), (-400, 430)])
def test_product_is_exact(low: int, high: int) -> None:
    for a, b in zip(floats(3, 2000, low, high), floats(4, 2000, low, high), strict=True):
        result = product(a, b)
        assert result[0] == a * b
        if abs(a * b) > 2.0**-960 or a * b == 0:  # below this, the rounding error is subnormal
            assert exact(result) == Fraction(a) * Fraction(b)


@pytest.mark.parametrize(("low", "high"), [(-3, 3), (-40, 40), (-400, 400)])
def test_a_sum_of_many_has_twice_the_precision(low: int, high: int) -> None:
    values = floats(5, 4000, low, high)
    total, expected = (0.0, 0.0), Fraction(0)
    magnitude = Fraction(0)
    for value in values:
        total = add(*total, value)
        expected += Fraction(value)
        magnitude += abs(Fraction(value))
    assert abs(exact(total) - expected) <= magnitude * Fraction(len(values), 2**104)
    assert abs(total[1]) <= abs(total[0]) * 2.0**-52


def test_what_cancels_leaves_the_rest() -> None:
    total = (0.0, 0.0)
    for value in (1e16, 1.0, -1e16, 1e-16, -1.0):
        total = add(*total, value)
    assert exact(total) == Fraction(1e-16)


def test_whole_numbers_up_to_106_bits_are_exact() -> None:
    rng = random.Random(6)
    total, expected = (0.0, 0.0), 0
    for _ in range(5000):
        value = rng.randint(0, 2**53)
        total = add(*total, float(value))
        expected += value
    assert exact(total) == expected


def test_a_tenth_many_times_is_correctly_rounded() -> None:
    total = (0.0, 0.0)
    for _ in range(100_000):
        total = add(*total, 0.1)
    assert total[0] == float(Fraction(0.1) * 100_000) == 10_000.0
