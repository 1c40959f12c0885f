"""Bootstrap draws are exactly multinomial, and their bits pass tests of randomness."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import factorial

import numpy as np
import pytest
from scipy import stats

from fastevals._kernels.draws import ROW_BLOCK, ROW_LIMITS, draw_binomials, draw_row_poisson
from fastevals._kernels.random import bits, fill_bits, stream_key, uniform_below
from fastevals._random import seed_key
from fastevals.infer.bootstrap.row_samples import RowSampler, row_limits
from fastevals.infer.bootstrap.samples import CellSampler, usual_rate

KEY = np.uint64(20240917)
# The chance that a correct generator fails a test. The seed is fixed, so a test that passes once always passes.
ALARM = 1e-4


def draws(sizes: list[int], n_draws: int, rate: float | None = None, first: int = 0) -> np.ndarray:
    """Draw many times, each from its own stream."""
    urn = CellSampler(np.array(sizes, dtype=np.int64), rate)
    counts = np.empty((n_draws, len(sizes)), dtype=np.int64)
    for i, row in enumerate(counts):
        urn.draw(np.uint64(stream_key(KEY, np.uint64(first + i))), row)
    return counts


def assert_probable(found: Counter, outcomes: list[tuple[int, ...]], expected: list[float]) -> None:
    """Compare observed with expected frequencies; rare outcomes are pooled."""
    assert set(found) <= set(outcomes)
    observed, expected = np.array([found[outcome] for outcome in outcomes]), np.array(expected)
    rare = expected < 5
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    assert len(observed) == 1 or stats.chisquare(observed, expected).pvalue > ALARM


def assert_moments(counts: np.ndarray, n: int, p: np.ndarray) -> None:
    """Compare means, variances and covariances of draws with the multinomial's."""
    n_draws = len(counts)
    covariance = n * (np.diag(p) - np.outer(p, p))
    deviations = counts - n * p
    assert np.abs(deviations.mean(axis=0) / np.sqrt(np.diag(covariance) / n_draws)).max() < 5
    variances = np.diag(covariance)
    # The variance of the product of two nearly normal deviations is the product of their variances plus the
    # squared covariance; counts of rare cells have heavier tails.
    error = np.sqrt((np.outer(variances, variances) + covariance**2 + np.diag(variances)) / n_draws)
    assert (np.abs(deviations.T @ deviations / n_draws - covariance) < 6 * error).all()


# Draws ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [None, 0.0, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("sizes", [[1], [3], [1, 1], [5, 0, 2], [1] * 20, [40, 1, 33, 100, 32], [1000, 1]])
def test_as_many_rows_are_drawn_as_there_are(sizes, rate):
    counts = draws(sizes, 200, rate)
    assert (counts.sum(axis=1) == sum(sizes)).all()
    assert (counts >= 0).all()
    assert not counts[:, np.array(sizes) == 0].any()


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.8])
@pytest.mark.parametrize(
    "sizes",
    [[1, 1], [2, 1], [1, 1, 1], [1, 2, 2], [2, 3, 1]]
    + [pytest.param(sizes, marks=pytest.mark.slow) for sizes in ([3, 1], [1] * 4, [1] * 5, [1] * 6)],
)
def test_small_draws_have_the_probabilities_of_the_multinomial(sizes, rate):
    n, n_draws = sum(sizes), 8_000
    found = Counter(map(tuple, draws(sizes, n_draws, rate).tolist()))
    outcomes = [c for c in product(range(n + 1), repeat=len(sizes)) if sum(c) == n]
    expected = []
    for outcome in outcomes:
        p = factorial(n)
        for count, size in zip(outcome, sizes, strict=True):
            p *= (size / n) ** count / factorial(count)
        expected.append(n_draws * p)
    assert_probable(found, outcomes, expected)


@pytest.mark.parametrize("sizes", [[1] * 50, [1, 2, 3, 4, 10, 30], [32, 33, 64, 65, 200], [500, 1, 1, 498]])
def test_each_count_is_binomial_with_the_moments_of_the_multinomial(sizes):
    n, n_draws = sum(sizes), 8_000
    counts, p = draws(sizes, n_draws), np.array(sizes) / n
    for k in range(min(len(sizes), 6)):
        tail = stats.binom(n, p[k])
        cuts = np.unique(tail.ppf(np.linspace(0.05, 0.95, 12))).astype(int)
        edges = np.concatenate(([-1], cuts, [n]))
        expected = n_draws * np.diff(tail.cdf(edges))
        observed = np.histogram(counts[:, k], edges + 0.5)[0]
        while expected.min() < 5:  # bins with too few are merged with the next
            at = min(int(np.argmin(expected)), expected.size - 2)
            observed, expected = (
                np.add.reduceat(b, np.delete(np.arange(b.size), at + 1)) for b in (observed, expected)
            )
        assert stats.chisquare(observed, expected).pvalue > ALARM
    covariance = n * (np.diag(p) - np.outer(p, p))
    np.testing.assert_allclose(counts.mean(axis=0), n * p, atol=4.5 * np.sqrt(np.diag(covariance) / n_draws).max())
    np.testing.assert_allclose(np.cov(counts.T), covariance, atol=6 * np.diag(covariance).max() / np.sqrt(n_draws))


@pytest.mark.parametrize(
    "sizes",
    [[2, 3], [5, 95], [9, 91], [11, 89], [40, 40], [400, 600], [600, 400], [10**9, 10**6], [12, 10**6], [3, 2**31]],
)
def test_binomials_have_their_distribution(sizes):
    """Test near the switch between the two methods, and with very different sizes."""
    n, found = sum(sizes), np.empty((8000, 2), dtype=np.int64)
    for i, row in enumerate(found):
        draw_binomials(np.array(sizes), n, np.uint64(stream_key(KEY, np.uint64(i))), row)
    assert (found.sum(axis=1) == n).all()
    tail = stats.binom(n, sizes[0] / n)
    below, up_to = tail.cdf(found[:, 0] - 1), tail.cdf(found[:, 0])
    within = below + np.random.default_rng(0).random(len(found)) * (up_to - below)
    assert stats.kstest(within, "uniform").pvalue > ALARM


def test_cells_of_many_rows_are_drawn_as_those_of_few():
    sizes = np.array([0, 700, 2000, 1, 0, 10_000, 50_000, 3, 2, 1, 1200, 0])
    urn, counts = CellSampler(sizes), np.empty((4000, sizes.size), dtype=np.int64)
    assert urn._large
    for i, row in enumerate(counts):
        urn.draw(np.uint64(stream_key(KEY, np.uint64(i))), row)
    held = sizes > 0
    assert not counts[:, ~held].any()
    assert (counts.sum(axis=1) == sizes.sum()).all()
    assert_moments(counts[:, held].astype(float), int(sizes.sum()), sizes[held] / sizes.sum())


def test_large_draws_have_the_spread_of_the_multinomial():
    n = 200_000
    counts = draws([1] * n, 1)[0]
    # Rows drawn 0, 1, 2, ... times: nearly Poisson with mean 1, with less variance because the total is fixed.
    observed = np.bincount(counts, minlength=8)[:8]
    expected = n * stats.binom(n, 1 / n).pmf(np.arange(8))
    assert (np.abs(observed - expected) < 4 * np.sqrt(expected) + 4).all()
    halves = draws([n // 2, n // 2], 400)[:, 0]
    assert stats.kstest((halves - n / 2) / np.sqrt(n / 4), "norm").pvalue > ALARM


def test_a_draw_is_named_by_its_key():
    sizes = [3, 1, 40, 2, 5]
    np.testing.assert_array_equal(draws(sizes, 50), draws(sizes, 50))
    np.testing.assert_array_equal(draws(sizes, 50)[10:], draws(sizes, 40, first=10))
    assert len(np.unique(draws([1] * 30, 500), axis=0)) == 500


# Single rows ------------------------------------------------------------------------------------------------------


def row_draws(n: int, n_draws: int, rate: float | None = None) -> np.ndarray:
    rows = RowSampler(n, rate)
    counts = np.empty((n_draws, n), dtype=np.uint8)
    for i, out in enumerate(counts):
        rows.draw(np.uint64(stream_key(KEY, np.uint64(i))), out)
    return counts


@pytest.mark.parametrize("rate", [0.0, 0.4, 0.9])
@pytest.mark.parametrize(
    "n", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)]
)
def test_single_rows_have_the_probabilities_of_the_multinomial(n, rate):
    found = Counter(map(tuple, row_draws(n, 8_000, rate).tolist()))
    outcomes = [c for c in product(range(n + 1), repeat=n) if sum(c) == n]
    expected = [8_000 * factorial(n) / np.prod([factorial(k) for k in c]) / n**n for c in outcomes]
    assert_probable(found, outcomes, expected)


@pytest.mark.parametrize("n", [3, 20, pytest.param(100, marks=pytest.mark.slow)])
def test_single_rows_have_the_moments_of_the_multinomial(n):
    assert_moments(row_draws(n, 20_000).astype(np.int64), n, np.full(n, 1 / n))


@pytest.mark.parametrize("n", [15, 16, 1000, 1023, 1024, 1025, 10_001])
def test_single_rows_add_up_and_spread(n):
    counts = row_draws(n, 60).astype(np.int64)
    assert (counts.sum(axis=1) == n).all()
    observed = np.bincount(counts.ravel(), minlength=6)[:6]
    expected = counts.size * stats.binom(n, 1 / n).pmf(np.arange(6))
    assert (np.abs(observed - expected) < 4.5 * np.sqrt(expected) + 4).all()
    if n > 1000:
        first, last = counts[:, : n // 2].sum(axis=1), counts[:, -5:].sum(axis=1)
        assert stats.kstest((first - n * (n // 2) / n) / np.sqrt(n / 4), "norm").pvalue > ALARM
        assert abs(last.mean() - 5) < 5 * np.sqrt(5 / 60)
        neighbours = np.corrcoef(counts[:, :-1].ravel(), counts[:, 1:].ravel())[0, 1]
        assert abs(neighbours + 1 / n) < 5 / np.sqrt(counts.size)


@pytest.mark.parametrize("rate", [0.3, 0.5, usual_rate(1000), usual_rate(2**32 - 1)])
def test_limits_have_the_probabilities_of_the_poisson(rate):
    limits = row_limits(1000, rate).astype(object)  # as Python integers
    first = np.diff(np.append([-1], limits[:ROW_LIMITS])) / 2**16
    rest = np.diff(np.append([-1], limits[ROW_LIMITS:])) / 2**64 * (1 - sum(first))
    found = np.pad(first, (0, rest.size - first.size)) + rest
    np.testing.assert_allclose(
        found.astype(float), stats.poisson.pmf(np.arange(rest.size), rate), rtol=1e-9, atol=2e-16
    )


@pytest.mark.parametrize("n", [1, 5, 1023, 1024, 1025, 3000])
def test_rows_that_16_bits_cannot_tell_are_drawn_from_all_the_rest(n):
    limits = row_limits(1000)
    limits[:ROW_LIMITS] //= 2  # half of the rows
    counts = np.empty(n, dtype=np.uint8)
    words = np.empty(ROW_BLOCK // 4, dtype=np.uint64)
    total = draw_row_poisson(limits, KEY, words, words.view(np.uint16), counts)
    words = np.empty(-(-n // 4), dtype=np.uint64)
    fill_bits(KEY, 0, words)
    expected = (words.view(np.uint16)[:n, None] > limits[:ROW_LIMITS]).sum(axis=1)
    for row in np.flatnonzero(expected == ROW_LIMITS):
        expected[row] = np.searchsorted(limits[ROW_LIMITS:], np.uint64(bits(KEY, np.uint64(2 * n + row))))
    np.testing.assert_array_equal(counts, expected)
    assert total == expected.sum()


# Bits -------------------------------------------------------------------------------------------------------------


def some_bits(n: int, number: int = 0) -> np.ndarray:
    out = np.empty(n, dtype=np.uint64)
    fill_bits(np.uint64(stream_key(KEY, np.uint64(number))), 0, out)
    return out


def test_bits_are_those_of_splitmix64():
    out = np.empty(3, dtype=np.uint64)  # the reference implementation's first numbers from seed 1234567
    fill_bits(np.uint64(1234567), 0, out)
    assert out.tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert np.uint64(bits(np.uint64(1234567), np.uint64(2))) == out[2]


def test_every_byte_of_the_bits_is_uniform():
    for number in range(4):
        words = some_bits(100_000, number)
        for shift in range(0, 64, 8):
            byte = (words >> np.uint64(shift)) & np.uint64(255)
            assert stats.chisquare(np.bincount(byte.astype(np.int64), minlength=256)).pvalue > ALARM


def test_neighbours_and_streams_are_uncorrelated():
    unit = [some_bits(50_000, number) / 2.0**64 - 0.5 for number in range(6)]
    limit = 5 / np.sqrt(50_000)
    for lag in (1, 2, 3, 64):
        assert abs(np.corrcoef(unit[0][:-lag], unit[0][lag:])[0, 1]) < limit
    assert (np.abs(np.corrcoef(unit) - np.eye(6)) < limit).all()
    assert stats.kstest(unit[0] + 0.5, "uniform").pvalue > ALARM


def test_a_changed_bit_of_key_or_counter_changes_half_the_bits():
    changes = []
    for bit in range(64):
        flipped = np.uint64(int(KEY) ^ (1 << bit))
        for counter in range(20):
            one, other = (int(np.uint64(stream_key(key, np.uint64(counter)))) for key in (KEY, flipped))
            changes.append((one ^ other).bit_count())
    assert abs(np.mean(changes) - 32) < 5 * 4 / np.sqrt(len(changes))
    assert min(changes) > 8


@pytest.mark.parametrize("n", [1, 2, 3, 7, 1000])
def test_integers_below_are_uniform(n):
    words = some_bits(40_000, n)
    found = np.array([uniform_below(n, word) for word in words])
    assert found.min() >= 0
    assert found.max() <= n - 1
    if n > 1:
        assert stats.chisquare(np.bincount(found, minlength=n)).pvalue > ALARM


@pytest.mark.parametrize("n", [2**31, 2**32 - 1, 10_000_019])
def test_integers_below_are_the_high_word_of_the_product(n):
    for word in some_bits(200, 1).tolist():
        assert uniform_below(n, np.uint64(word)) == word * n >> 64


# Seeds ------------------------------------------------------------------------------------------------------------


def test_seeds():
    assert seed_key("rng", 7) == seed_key("rng", np.int8(7)) == seed_key("rng", np.random.SeedSequence(7))
    assert seed_key("rng", 7) != seed_key("rng", 8) != seed_key("rng", [8, 1])
    assert seed_key("rng", None) != seed_key("rng", None)
    generator = np.random.default_rng(1)
    assert seed_key("rng", generator) != seed_key("rng", generator)
    assert seed_key("rng", np.random.default_rng(1)) == seed_key("rng", np.random.PCG64(1))
    assert isinstance(seed_key("rng", 7), np.uint64)


@pytest.mark.parametrize("rng", [-1, 1.5, True, "7", [1, -2], np.random.RandomState(0), np.array(["a"])])
def test_what_is_no_seed(rng):
    with pytest.raises(ValueError, match=r"rng must be None, an integer at least 0 or several, or a numpy\.random"):
        seed_key("rng", rng)
