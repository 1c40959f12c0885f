"""Planned comparisons of learners: published numbers, slow twins, simulated power and coverage, and bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastevals as fe
from fastevals import plan_comparison
from fastevals.infer.significance.pairwise import TESTS

RNG = np.random.default_rng(20261127)
NAN = float("nan")


def pilot_of(differences: Any, center: float = 0.0) -> np.ndarray:
    """Return results of two learners with exactly these differences, up to rounding."""
    differences = np.asarray(differences, dtype=np.float64)
    return np.column_stack([center + differences, np.full(differences.size, center)])


def unit_pilot(n: int, effect: float = 0.0) -> np.ndarray:
    """Return results whose differences have a mean of `effect` and a standard deviation of 1, and are nearly normal."""
    normal = stats.norm.ppf((np.arange(n) + 0.5) / n)
    return pilot_of(effect + normal / normal.std(ddof=1))


def of_folds(differences: np.ndarray, n_test: int = 10, n_train: int = 90) -> fe.Results:
    """Return results of two learners on one data set; differences have shape (repeats, folds)."""
    return fe.Results(np.stack([differences, 0 * differences])[None], n_train=n_train, n_test=n_test)


def share_shown(test: str, differences: np.ndarray, **options: Any) -> float:
    """Return the share of rows in which a test at level 5 % finds a positive difference."""
    core, checked = TESTS[test].core, TESTS[test].options(**options)
    _, pvalues, effects = core(differences, np.zeros_like(differences), "two-sided", **checked)
    return float(np.mean((pvalues < 0.05) & (effects > (0.5 if test == "sign" else 0))))


def within_error(share: float, power: float, n: int, *, more: float = 0.0) -> bool:
    """Return whether a share of n simulations is within 4 standard errors (chance 6e-5 to fail) of a power."""
    return abs(share - power) < 4 * math.sqrt(power * (1 - power) / n) + more


# t-tests --------------------------------------------------------------------------------------------------------------
# Pairs for dz = 0.2, 0.5 and 0.8 at power 80 %, as G*Power 3.1 and R's power.t.test(type="paired") give them.
@pytest.mark.parametrize(("effect", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_published_numbers_for_the_paired_t_test(effect: float, n: int) -> None:
    found = plan_comparison(unit_pilot(40), test="paired-t", effect=effect)
    assert (found.n, found.method, found.unit) == (n, "noncentral t", "data sets")
    critical = stats.t.isf(0.025, n - 1)
    assert found.power == pytest.approx(stats.nct.sf(critical, n - 1, effect * math.sqrt(n)), rel=1e-9)


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_paired_t_tests_of_the_planned_size_have_the_power(power: float) -> None:
    found = plan_comparison(unit_pilot(40), test="paired-t", effect=0.6, power=power)
    assert found.n is not None
    assert found.power >= power
    drawn = 0.6 + RNG.normal(size=(20000, found.n))
    assert within_error(share_shown("paired-t", drawn), found.power, 20000)


def test_repeats_of_the_planned_number_have_the_power() -> None:
    drawn = RNG.normal(size=(10, 10))
    pilot = of_folds((drawn - drawn.mean()) / drawn.std(ddof=1))
    found = plan_comparison(pilot, test="corrected-resampled-t", effect=1.05)
    assert found.unit == "repeats"
    assert found.n is not None
    assert found.n >= (plan_comparison(pilot, test="corrected-resampled-t", effect=1.2).n or 0)
    # The correlation is the test rows' share of all rows if splits have a common part with variance n_test / n_train.
    tables = 1.05 + RNG.normal(size=(20000, 1)) / 3 + RNG.normal(size=(20000, 10 * found.n))
    share = share_shown("corrected-resampled-t", tables, n_train=90, n_test=10)
    assert within_error(share, found.power, 20000)


def test_no_number_of_repeats_may_reach_the_power() -> None:
    drawn = RNG.normal(size=(5, 10))
    pilot = of_folds((drawn - drawn.mean()) / drawn.std(ddof=1))
    found = plan_comparison(pilot, test="corrected-resampled-t", effect=0.5)
    limit = stats.norm.cdf(0.5 * 3 - stats.norm.isf(0.025))
    assert found.n is None
    assert found.power == found.largest_power == pytest.approx(limit)
    assert found.conclusion.startswith(
        "No number of repeats of 10 splits reaches a power of 80 %: the chance is at most"
    )
    assert found.confidence_interval == (math.inf, math.inf)
    assert found.to_dict()["n"] is None
    assert plan_comparison(pilot, test="corrected-resampled-t", effect=0.5, power=0.9 * limit).n is not None


# The sign test --------------------------------------------------------------------------------------------------------
def sign_power(n: int, share: float, tied: float) -> float:
    """Return the power of the two-sided sign test at 5 %, from sums over all outcomes."""
    total = 0.0
    for untied in range(n + 1):
        wins = np.arange(untied + 1)
        shown = (stats.binom.sf(wins - 1, untied, 0.5) * 2 < 0.05) & (wins > untied / 2)
        chance = stats.binom.pmf(wins, untied, share)[shown].sum()
        total += stats.binom.pmf(untied, n, 1 - tied) * chance
    return total


@pytest.mark.parametrize(("wins", "ties", "effect"), [(8, 0, None), (8, 0, 0.8), (7, 2, 0.85), (0, 2, None)])
def test_sign_tests(wins: int, ties: int, effect: float | None) -> None:
    pilot = pilot_of([0.01] * wins + [0.0] * ties + [-0.02] * (10 - wins - ties))
    found = plan_comparison(pilot, test="sign", effect=effect)
    assumed = wins / (10 - ties) if effect is None else effect
    assert (found.effect, found.tied, found.method) == (assumed, ties / 10, "binomial")
    assert found.n is not None
    share = max(assumed, 1 - assumed)
    powers = [sign_power(n, share, ties / 10) for n in range(found.n - 1, found.n + 12)]
    assert powers[0] < 0.8 <= min(powers[1:])
    assert found.power == pytest.approx(powers[1], rel=1e-9)


# Simulated power ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("test", ["wilcoxon", "permutation"])
@pytest.mark.parametrize("effect", [pytest.param(0.5, marks=pytest.mark.slow), 0.9])
def test_tests_of_the_planned_size_have_the_power(test: str, effect: float) -> None:
    found = plan_comparison(unit_pilot(500), test=test, effect=effect, n_resamples=4000, rng=1)
    assert found.n is not None
    normal = effect + RNG.normal(size=(2000, found.n))
    options = {"n_resamples": 999, "rng": 2} if test == "permutation" else {}
    assert within_error(share_shown(test, normal, **options), found.power, 2000, more=0.012)
    assert found.power >= 0.8
    expected = plan_comparison(unit_pilot(500), test="paired-t", effect=effect).n
    assert expected is not None
    assert abs(found.n - expected) <= 2 + 0.1 * expected  # the efficiency of signed ranks is 0.955


@pytest.mark.slow
def test_wilcoxons_test_needs_fewer_data_sets_than_t_if_tails_are_heavy() -> None:
    pilot = pilot_of(stats.t.ppf((np.arange(400) + 0.5) / 400, 2.5))
    t, ranks = (plan_comparison(pilot, test=test, effect=0.6).n for test in ("paired-t", "wilcoxon"))
    assert t is not None
    assert ranks is not None
    assert ranks < 0.8 * t
    drawn = 0.6 + RNG.choice(pilot[:, 0], size=(1500, ranks))
    assert within_error(share_shown("wilcoxon", drawn), 0.8, 1500, more=0.02)


@pytest.mark.cases(1)
@pytest.mark.parametrize("test", ["wilcoxon", "permutation"])
def test_ties_stay_ties(test: str) -> None:
    untied = unit_pilot(100, 0.9)[:, 0]
    found = plan_comparison(pilot_of([*untied, *np.zeros(50)]), test=test, n_resamples=2000)
    drawn = np.where(RNG.random((1500, found.n or 0)) < 1 / 3, 0.0, RNG.choice(untied, size=(1500, found.n or 0)))
    options = {"n_resamples": 999, "rng": 2} if test == "permutation" else {}
    assert found.tied == pytest.approx(1 / 3)
    assert within_error(share_shown(test, drawn, **options), found.power, 1500, more=0.015)
    assert (found.n or 0) > (plan_comparison(pilot_of(untied), test=test, n_resamples=300).n or 0)


def test_seeds() -> None:
    pilot = unit_pilot(30, 0.4)
    one, again, other = (plan_comparison(pilot, rng=seed, n_resamples=300) for seed in (1, 1, 2))
    assert one.power == again.power
    assert one.power != other.power


# Any test -------------------------------------------------------------------------------------------------------------
KINDS = {"wilcoxon": 0.4, "sign": 0.7, "paired-t": 0.4, "permutation": 0.4}


@pytest.mark.cases(1)
@pytest.mark.parametrize("test", KINDS)
def test_numbers_are_monotone_and_symmetric(test: str) -> None:
    pilot, effect = unit_pilot(30), KINDS[test]
    numbers = [
        plan_comparison(pilot, n_resamples=300, test=test, effect=effect, power=each).n or 0 for each in (0.5, 0.7, 0.9)
    ]
    assert numbers == sorted(set(numbers))
    at_99 = plan_comparison(pilot, n_resamples=300, test=test, effect=effect, power=0.7, confidence_level=0.99).n or 0
    larger = 1 - (1 - effect) / 2 if test == "sign" else 2 * effect
    assert at_99 > numbers[1] > (plan_comparison(pilot, n_resamples=300, test=test, effect=larger, power=0.7).n or 0)
    other = plan_comparison(
        pilot, n_resamples=300, test=test, effect=1 - effect if test == "sign" else -effect, power=0.7
    )
    assert other.n == numbers[1]
    swapped = plan_comparison(pilot[:, ::-1], n_resamples=300, test=test, effect=effect, power=0.7)
    assert abs((swapped.n or 0) - numbers[1]) <= 3  # simulated


@pytest.mark.parametrize("test", KINDS)
def test_units_do_not_matter(test: str) -> None:
    pilot, effect = unit_pilot(12), KINDS[test]
    plain = plan_comparison(pilot, n_resamples=300, test=test, effect=effect)
    for factor in (2.0**900, 2.0**-900):
        own = effect if test == "sign" else effect * factor
        scaled = plan_comparison(pilot * factor, n_resamples=300, test=test, effect=own)
        assert (scaled.n, scaled.confidence_interval) == (plain.n, plain.confidence_interval)
        assert scaled.standard_deviation == pytest.approx(plain.standard_deviation * factor)


def test_learners_may_be_named() -> None:
    table = {"a": [0.8, 0.7, 0.9, 0.6], "b": [0.7, 0.65, 0.8, 0.6], "c": [0.5, 0.6, 0.6, 0.6]}
    found = plan_comparison(table, "c", "a", test="paired-t")
    pair = plan_comparison({name: table[name] for name in ("c", "a")}, test="paired-t")
    assert found.to_dict() == pair.to_dict()
    assert "c is lower than a" in found.conclusion
    assert len(found.cautions) == 2
    assert str(found).startswith("Number of data sets to compare c and a\n\nWith ")


# Each of 600 intervals contains the true number with a chance of 95 %. The test fails with a chance of 1e-4.
@pytest.mark.parametrize(("n", "low", "high"), [(150, 132, 149), pytest.param(600, 546, 588, marks=pytest.mark.slow)])
@pytest.mark.parametrize("effect", [None, 0.8])
def test_coverage_of_the_interval(effect: float | None, n: int, low: int, high: int) -> None:
    truth = plan_comparison(unit_pilot(40), test="paired-t", effect=0.8).n
    assert truth is not None
    found = [
        plan_comparison(pilot_of(0.8 + RNG.normal(size=12)), test="paired-t", effect=effect).confidence_interval
        for _ in range(n)
    ]
    assert low <= sum(least <= truth <= most for least, most in found) <= high


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "paired-t", "permutation"])
def test_an_interval_is_open_if_the_pilot_is_compatible_with_no_difference(test: str) -> None:
    found = plan_comparison(pilot_of([0.03, -0.01, 0.02, 0.01, -0.02, 0.02, 0.015]), test=test, n_resamples=300)
    assert found.n is not None
    assert found.confidence_interval.low <= found.n < found.confidence_interval.high == math.inf
    assert f"compatible with {found.confidence_interval.low:,} or more" in found.cautions[1]


# Bad input ------------------------------------------------------------------------------------------------------------
GOOD = unit_pilot(8, 0.5)
KEPT = fe.Results({"u": {"a": 0.5, "b": "timeout"}, "v": {"a": 0.5, "b": 0.25}}, missing="keep")


@pytest.mark.parametrize(
    ("results", "options", "message"),
    [
        (GOOD, {"test": "5x2cv-t"}, "test must be "),
        (GOOD, {"power": 0.05}, "power must be above 1 - confidence_level, 0.05, got 0.05"),
        (GOOD, {"power": 1}, "power must be "),
        (GOOD, {"confidence_level": 95}, "confidence_level must be "),
        (GOOD, {"effect": 0}, "effect must be other than 0, no difference, for test='wilcoxon'; got 0"),
        (GOOD, {"effect": NAN}, "effect must be "),
        (GOOD, {"effect": math.inf}, "effect must be "),
        (GOOD, {"effect": "0.1"}, "effect must be "),
        (GOOD, {"test": "sign", "effect": 0.5}, "effect must be other than 0.5, no difference"),
        (GOOD, {"test": "sign", "effect": -0.1}, r"effect must be .*got -0.1"),
        (GOOD, {"test": "sign", "effect": 0.5 + 1e-5}, "effect must be farther from 0.5: 0.50001 takes more than"),
        (
            GOOD,
            {"effect": 0.01},
            "effect must be larger, got 0.01: .* more than 2,000 data sets; test='paired-t' plans",
        ),
        (GOOD, {"test": "paired-t", "effect": 1e-9}, "effect must be larger, got 1e-09: .* more than 1,000,000 data"),
        (GOOD, {"n_resamples": 10}, "n_resamples must be "),
        (GOOD, {"rng": -1}, "rng must be "),
        (GOOD, {"a": 0, "b": 0}, "a and b must be two different learners, got 0 twice"),
        (GOOD, {"a": "x", "b": 0}, "a must be one of "),
        (np.ones((4, 3)), {}, "a and b must name two of the 3 learners"),
        (np.ones((4, 2)), {}, "results must show how much the difference varies, but all differences are 0"),
        (pilot_of([0.1, 0.1, 0.1], 0.2), {}, "results must show how much the difference varies, but all .* are 0.1"),
        (np.ones((4, 2)), {"test": "sign"}, "results must differ on some data set, but all are ties"),
        (pilot_of([1, -1]), {"test": "sign"}, "effect must be given: the pilot's own effect is 0.5, no difference"),
        (pilot_of([1, -1]), {"test": "paired-t"}, "effect must be given: the pilot's own effect is 0, no difference"),
        (GOOD, {"test": "corrected-resampled-t"}, "results must be of one data set for test=.*, got 8"),
        (GOOD[:1], {}, "results must be of several data sets for test='wilcoxon', got one: its splits are not"),
        (np.ones((1, 2, 3)), {"test": "corrected-resampled-t"}, "results must have n_train and n_test for test="),
        (of_folds(np.ones((1, 1))), {"test": "corrected-resampled-t"}, "results must have at least 2 pairs of results"),
        (KEPT, {}, "results must have both learners' results, but lack 1 pair of them"),
        (
            GOOD,
            {"test": "permutation", "confidence_level": 0.999},
            "confidence_level must be at most 0.995 for test='permutation', got 0.999",
        ),
        ("nothing.csv", {}, "nothing.csv"),
    ],
)
def test_bad_input(results: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        plan_comparison(results, **options)


def test_extreme_pilots() -> None:
    sure = plan_comparison(pilot_of([1, 1 + 1e-9, 1 - 1e-9]), test="paired-t")
    assert (sure.n, sure.power) == (2, 1.0)
    two = plan_comparison(pilot_of([0.1, 0.3]), test="paired-t")
    assert two.n is not None
    assert two.confidence_interval.low <= two.n <= two.confidence_interval.high
    alike = plan_comparison(pilot_of([0.1, 0.2, 0.3]), test="sign")
    assert (alike.n, alike.power) == (6, 1.0)
