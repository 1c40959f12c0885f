"""Power and sample sizes against sums over all outcomes, SciPy and the usual formula."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from fastevals import ConfusionMatrix, proportion_interval
from fastevals.infer.planning import sizes
from fastevals.infer.planning.sizes import Claim, ExactClaim, detectable_difference, fewest_successes
from tests.reference import planning as slow

CLAIMS = [
    Claim(0.85, low=0.7),
    Claim(0.1, high=0.2),
    Claim(0.5, 0.35, 0.7),
    Claim(0.97, low=0.9),
    Claim(0.02, high=0.1),
]


def exact(claim: Claim, share: float = 1.0, alpha: float = 0.05) -> ExactClaim:
    return ExactClaim(claim, share, alpha)


def bounds(claim: Claim) -> tuple[float | None, float | None]:
    return tuple(each if math.isfinite(each) else None for each in (claim.low, claim.high))  # type: ignore[return-value]


@pytest.mark.parametrize("claim", CLAIMS)
def test_power_of_trials_is_the_sum_over_outcomes(claim: Claim) -> None:
    trials = np.array([1, 2, 5, 17])
    expected = [slow.power_of_trials(t, claim.value, *bounds(claim), 0.05) for t in trials.tolist()]
    np.testing.assert_allclose(exact(claim).power_of_trials(trials), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("claim", CLAIMS[:3])
def test_power_of_rows_is_the_mean_over_trials(claim: Claim) -> None:
    expected = slow.power_of_rows(9, 0.3, claim.value, *bounds(claim), 0.05)
    assert exact(claim, 0.3).power(9) == pytest.approx(expected, abs=1e-9)


def test_no_power_without_trials() -> None:
    assert exact(CLAIMS[0]).power_of_trials(np.array([0])).tolist() == [0.0]


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.6])
@pytest.mark.parametrize("bound", [0.01, 0.3, 0.8, 0.999])
def test_fewest_successes_are_where_the_limit_reaches_the_bound(bound: float, alpha: float) -> None:
    trials = np.arange(1, 60, 6).astype(np.float64)
    fewest = fewest_successes(trials, bound, alpha)
    for n, k in zip(trials.astype(int).tolist(), fewest.astype(int).tolist(), strict=True):
        enough = np.flatnonzero(stats.binom.sf(np.arange(n + 1) - 1, n, bound) <= alpha)
        assert k == (enough[0] if enough.size else n + 1)


def test_the_decision_is_the_one_of_the_interval() -> None:
    n, bound = 60, 0.8
    counts = [[[0, 0], [n - k, k]] for k in range(n + 1)]
    found = proportion_interval(
        ConfusionMatrix(np.array(counts)), "recall", method="clopper-pearson", alternative="greater"
    )
    fewest = int(fewest_successes(np.array([float(n)]), bound, 0.05)[0])
    assert np.flatnonzero(np.asarray(found.low) >= bound)[0] == fewest


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_from_the_size_on_the_power_suffices(claim: Claim, power: float) -> None:
    n, attained = exact(claim).rows(power)
    powers = exact(claim).power_of_trials(np.arange(1, 6 * n + 500))
    assert attained == powers[n - 1] >= power
    assert powers[n - 1 :].min() >= power  # no tooth below
    assert n == 1 or powers[n - 2] < power


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.999])
@pytest.mark.parametrize("claim", CLAIMS[:4])
def test_with_a_random_number_of_trials(claim: Claim, share: float) -> None:
    found = exact(claim, share)
    n, attained = found.rows(0.8)
    assert attained >= 0.8
    assert found.powers([n - 1])[0] < 0.8
    assert found.powers([n, *range(n + 1, n + 100)]).min() >= 0.8
    np.testing.assert_allclose(found.powers([n, n + 7]), [found.power(n), found.power(n + 7)], rtol=0, atol=1e-12)


def test_many_trials_need_the_rows_of_the_normal_limit() -> None:
    claim = Claim(0.5, low=0.499)
    n, power = exact(claim, 0.5).rows(0.8)
    assert n / slow.normal_rows(0.5, 0.001, 0.95, 0.8) == pytest.approx(1, abs=0.002)
    assert power == pytest.approx(0.8, abs=0.002)


def test_a_start_that_is_too_high_or_too_low() -> None:
    of = exact(CLAIMS[0]).power_of_trials
    found = {sizes._from_which_on(of, 0.8, start, 5.0) for start in (1, 20, 50, 100, 400)}
    assert len(found) == 1


# Normal limits --------------------------------------------------------------------------------------------------------


def test_at_the_detectable_difference_the_power_is_what_was_asked() -> None:
    error = 0.013
    assert Claim(detectable_difference(error), low=0.0).power(error, 0.95) == pytest.approx(0.8)


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("power", [0.55, 0.8, 0.99])
@pytest.mark.parametrize(
    "claim",
    [Claim(0.0, -0.1, 0.1), Claim(0.05, -0.1, 0.1), Claim(0.2, low=0.1), Claim(0.2, high=0.3),
     Claim(0.9, low=0.8, metric_bounds=(0, 1)), Claim(0.1, high=0.2, metric_bounds=(0, 1)),
     Claim(0.5, 0.4, 0.7, (-1, 1)), Claim(0.99, low=0.5, metric_bounds=(0, 1))],
)  # fmt: skip
def test_a_standard_error_gives_its_power(claim: Claim, power: float, level: float) -> None:
    error = claim.standard_error(level, power)
    assert claim.power(error, level) == pytest.approx(power, abs=1e-9)
    assert claim.power(1.01 * error, level) < power


def test_without_a_standard_error() -> None:
    assert Claim(0.2, low=0.1).power(0.0, 0.95) == 1.0
    assert Claim(0.1, low=0.1).power(0.0, 0.95) == 0.0


def test_power_near_a_metrics_bound_is_that_of_limits_whose_width_shrinks() -> None:
    claim, error = Claim(0.9, low=0.85, metric_bounds=(0, 1)), 0.02
    estimates = stats.norm.rvs(0.9, error, size=200_000, random_state=1)
    inside = np.clip(estimates, 0, 1)
    limits = estimates - stats.norm.ppf(0.95) * error * np.sqrt(inside * (1 - inside) / 0.09)
    assert claim.power(error, 0.95) == pytest.approx(np.mean(limits > 0.85), abs=0.004)


def test_power_is_never_negative() -> None:
    assert Claim(0.0, -0.1, 0.1).power(1.0, 0.95) == 0.0


# Widths ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 0.02, 0.5, 0.9, 1.0])
def test_trials_for_a_width(value: float) -> None:
    trials = sizes.trials_for_width(value, 0.1, 0.95)
    widths = [sizes.width_of_share(value, each, 0.95) for each in (trials - 1, trials)]
    assert widths[1] <= 0.1 < widths[0]
    test: Any = stats.binomtest(round(trials * value), trials).proportion_ci()
    assert widths[1] == pytest.approx(test.high - test.low, abs=0.02)


def test_beyond_any_data_set() -> None:
    with pytest.raises(ValueError, match=r"needs more than 1e\+15 rows"):
        sizes.rows_for_standard_error(1.0, 1e-9)
