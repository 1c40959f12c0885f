from __future__ import annotations

import itertools
import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fastevals._kernels.areas import (
    average_precision,
    davis_goadrich_area,
    excess_of_log,
    linear_pr_area,
    roc_area,
    upper_hull,
)


def exact(pair: tuple[float, float]) -> Fraction:
    return Fraction(pair[0]) + Fraction(pair[1])


def counts(rng: random.Random, n: int, largest: int, *, weights: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Draw ascending (fps, tps) from zero, each row above the one before."""
    steps = [(rng.randint(0, largest), rng.randint(0, largest)) for _ in range(n)]
    steps = [(0, 0), *((f, t) if f or t else (1, 0) for f, t in steps)]
    scale = (lambda x: x * rng.random()) if weights else int
    fps, tps = (np.cumsum([scale(step[i]) for step in steps]) for i in (0, 1))
    return fps, tps


def fractions(values: np.ndarray) -> list[Fraction]:
    return [Fraction(value) for value in values.tolist()]


def precision(fp: Fraction, tp: Fraction) -> Fraction:
    return tp / (tp + fp) if tp + fp else Fraction(1)


def twin_roc(fps: list[Fraction], tps: list[Fraction]) -> Fraction:
    pairs = itertools.pairwise(zip(fps, tps, strict=True))
    return sum(((f1 - f0) * (t0 + t1) for (f0, t0), (f1, t1) in pairs), Fraction(0))


def twin_average_precision(fps: list[Fraction], tps: list[Fraction]) -> Fraction:
    pairs = itertools.pairwise(zip(fps, tps, strict=True))
    return sum(((t1 - t0) * precision(f1, t1) for (_, t0), (f1, t1) in pairs), Fraction(0))


def twin_linear(fps: list[Fraction], tps: list[Fraction]) -> Fraction:
    pairs = itertools.pairwise(zip(fps, tps, strict=True))
    return sum(((t1 - t0) * (precision(f0, t0) + precision(f1, t1)) for (f0, t0), (f1, t1) in pairs), Fraction(0))


def decimal(value: Any) -> Decimal:
    value = Fraction(value)
    return Decimal(value.numerator) / Decimal(value.denominator)


def twin_davis_goadrich(fps: list[Fraction], tps: list[Fraction]) -> Decimal:
    """Integrate (tp + t) / (tp + fp + s t), s = 1 + dfp / dtp, over each step, in 60 digits."""
    total = Decimal(0)
    for (f0, t0), (f1, t1) in itertools.pairwise(zip(fps, tps, strict=True)):
        gain = t1 - t0
        if gain:
            s, start = 1 + (f1 - f0) / gain, t0 + f0
            if not start:
                total += decimal(gain / s)
            else:
                log = (decimal(1 + s * gain / start)).ln()
                total += decimal(gain / s) + decimal((t0 - start / s) / s) * log
    return total


@pytest.fixture(autouse=True)
def _sixty_digits() -> Any:
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, 10**6, -(10**6)
        yield


SIZES = [(1, 3), (2, 1), (5, 2), (30, 5), (30, 10**6), (200, 10**12)]


@pytest.mark.cases(3)
@pytest.mark.parametrize(("n", "largest"), SIZES)
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_roc_area_of_whole_counts_is_exact(n: int, largest: int, dtype: Any) -> None:
    rng = random.Random(n)
    for _ in range(40):
        fps, tps = counts(rng, n, largest)
        area = exact(roc_area(fps.astype(dtype), tps.astype(dtype), 1.0, 1.0))
        assert area == twin_roc(fractions(fps), fractions(tps))


def test_roc_area_of_weights() -> None:
    rng = random.Random(1)
    for _ in range(60):
        fps, tps = counts(rng, 50, 9, weights=True)
        expected = twin_roc(fractions(fps), fractions(tps))
        assert abs(exact(roc_area(fps, tps, 1.0, 1.0)) - expected) <= expected / 2**95


@pytest.mark.parametrize("power", [-900, -500, 0, 500, 900])
def test_roc_area_is_scaled_by_powers_of_two(power: int) -> None:
    rng = random.Random(2)
    fps, tps = counts(rng, 30, 9, weights=True)
    expected = roc_area(fps, tps, 1.0, 1.0)
    assert (
        roc_area(np.ldexp(fps, power), np.ldexp(tps, -power), math.ldexp(1, -power), math.ldexp(1, power)) == expected
    )


@pytest.mark.cases(2)
@pytest.mark.parametrize(("n", "largest"), SIZES)
@pytest.mark.parametrize("weights", [False, True])
def test_precision_recall_areas_against_fractions(n: int, largest: int, weights: bool) -> None:
    rng = random.Random(3 * n)
    for _ in range(30):
        fps, tps = counts(rng, n, largest, weights=weights)
        exact_fps, exact_tps = fractions(fps), fractions(tps)
        for kernel, twin in ((average_precision, twin_average_precision), (linear_pr_area, twin_linear)):
            expected = twin(exact_fps, exact_tps)
            assert abs(exact(kernel(fps, tps, 1.0)) - expected) <= expected * Fraction(3, 2**53), kernel


@pytest.mark.cases(2)
@pytest.mark.parametrize(("n", "largest"), SIZES)
@pytest.mark.parametrize("weights", [False, True])
def test_davis_goadrich_area_against_sixty_digits(n: int, largest: int, weights: bool) -> None:
    rng = random.Random(5 * n)
    for _ in range(20):
        fps, tps = counts(rng, n, largest, weights=weights)
        expected = twin_davis_goadrich(fractions(fps), fractions(tps))
        assert abs(decimal(exact(davis_goadrich_area(fps, tps, 1.0))) - expected) <= expected * Decimal("2e-15")


@pytest.mark.parametrize("ratio", [1, 10**3, 10**8, 10**15])
def test_davis_goadrich_area_of_lopsided_steps(ratio: int) -> None:
    for rows in (
        ((0, 0), (0, ratio), (1, ratio + 1)),
        ((0, 0), (ratio, 1), (ratio + 1, 2)),
        ((0, 0), (1, 1), (ratio, 2)),
    ):
        fps, tps = (np.array(column) for column in zip(*rows, strict=True))
        expected = twin_davis_goadrich(fractions(fps), fractions(tps))
        assert abs(decimal(exact(davis_goadrich_area(fps, tps, 1.0))) - expected) <= expected * Decimal("1e-15")


@pytest.mark.parametrize("kernel", [average_precision, davis_goadrich_area])
def test_a_perfect_ranking_has_area_one_exactly(kernel: Any) -> None:
    rng = random.Random(7)
    for _ in range(100):
        tps = np.cumsum([0.0, *(rng.random() for _ in range(rng.randint(1, 30))), 0.0])
        fps = np.zeros_like(tps)
        fps[-1] = rng.random()
        assert sum(kernel(fps, tps, 1.0)) == tps[-1]


@pytest.mark.parametrize("weights", [False, True])
def test_areas_stay_within_their_bounds(weights: bool) -> None:
    rng = random.Random(8)
    for _ in range(200):
        fps, tps = counts(rng, rng.randint(1, 12), 3, weights=weights)
        if tps[-1] > 0:
            for kernel, factor in ((average_precision, 1), (davis_goadrich_area, 1), (linear_pr_area, 2)):
                assert 0 <= exact(kernel(fps, tps, 1.0)) <= Fraction(tps[-1].item()) * factor * (1 + Fraction(2, 2**52))


@pytest.mark.parametrize("kernel", [roc_area, average_precision, linear_pr_area, davis_goadrich_area])
def test_parts_add_up_to_the_whole(kernel: Any) -> None:
    rng = random.Random(9)
    fps, tps = counts(rng, 60, 9)
    scales = (1.0, 1.0) if kernel is roc_area else (1.0,)
    whole = float(exact(kernel(fps, tps, *scales)))
    for cut in (1, 2, 17, 59):
        parts = exact(kernel(fps[: cut + 1], tps[: cut + 1], *scales)) + exact(kernel(fps[cut:], tps[cut:], *scales))
        assert float(parts) == pytest.approx(whole, rel=2e-16)


# excess_of_log ------------------------------------------------------------------------------------------------------


def twin_excess(u: float) -> Decimal:
    """Return u - log(1 + u) with about 60 digits left after cancellation."""
    with localcontext() as context:
        context.prec = 60 + 2 * max(0, -math.floor(math.log10(u)))
        exact_u = Decimal(u)
        return exact_u - (1 + exact_u).ln()


@pytest.mark.parametrize("exponent", [*range(-8, 20), 30, 100, 200, 300])
def test_excess_of_log_against_decimals(exponent: int) -> None:
    rng = random.Random(exponent)
    for _ in range(12):
        u = rng.uniform(1, 10) * 10.0**exponent
        assert abs(Decimal(float(excess_of_log(u))) / twin_excess(u) - 1) < Decimal("1e-15")


@pytest.mark.parametrize("u", [0.1, math.nextafter(0.1, 1), math.nextafter(0.1, 0), 0.0999, 0.1001, 1.0, 0.05])
def test_excess_of_log_beside_the_switch(u: float) -> None:
    assert abs(Decimal(float(excess_of_log(u))) / twin_excess(u) - 1) < Decimal("2e-15")


@pytest.mark.parametrize("exponent", [-10, -20, -50, -100, -150])
def test_excess_of_log_of_small_numbers_is_half_the_square(exponent: int) -> None:
    u = 3.7 * 10.0**exponent
    series = Fraction(u) ** 2 / 2 - Fraction(u) ** 3 / 3 + Fraction(u) ** 4 / 4
    assert excess_of_log(u) == pytest.approx(float(series), rel=4e-16)


@pytest.mark.parametrize("u", [0.0, 1e-170, 1e-200, 1e-300, 5e-324])
def test_excess_of_log_underflows_to_zero(u: float) -> None:
    assert 0 <= excess_of_log(u) <= 1e-320


def test_excess_of_log_of_the_largest() -> None:
    assert excess_of_log(1e300) == 1e300


# Hulls --------------------------------------------------------------------------------------------------------------


def twin_hull(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the points above every chord that spans them."""
    distinct = sorted(set(points))
    highest = [max(p for p in distinct if p[0] == x) for x in sorted({p[0] for p in distinct})]
    hull = []
    for p in highest:
        spans = ((a, b) for a in highest for b in highest if a[0] < p[0] < b[0])
        if all((p[1] - a[1]) * (b[0] - a[0]) > (b[1] - a[1]) * (p[0] - a[0]) for a, b in spans):
            hull.append(p)
    return hull


@pytest.mark.parametrize("seed", range(8))
def test_upper_hull_against_all_chords(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        fps, tps = counts(rng, rng.randint(1, 12), 3)
        hull = np.empty(fps.size, dtype=np.int64)
        size = upper_hull(fps.astype(float), tps.astype(float), hull)
        points = list(zip(fps.tolist(), tps.tolist(), strict=True))
        seen = [points[i] for i in hull[:size]]
        assert seen[0] == points[0]
        assert seen[-1] == points[-1]
        expected = twin_hull(points)
        if expected[0] != points[0]:  # the curve leaves its first point straight up
            expected.insert(0, points[0])
        assert seen == expected
