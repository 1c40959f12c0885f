"""The posterior of an error rate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastevals as fe


@pytest.mark.parametrize("n_errors", [0, 1, 3, 40, 99, 100])
@pytest.mark.parametrize("prior", [(0.5, 0.5), (1.0, 1.0), (2.0, 20.0)])
def test_the_posterior_is_scipys_beta_distribution(n_errors: int, prior: Any) -> None:
    found = fe.error_rate_posterior(n_errors, 100, prior=prior)
    known = stats.beta(n_errors + prior[0], 100 - n_errors + prior[1])
    assert found.mean == pytest.approx(known.mean())
    assert found.median == pytest.approx(known.median())
    low, high = found.credible_interval
    assert low == (0 if n_errors + prior[0] <= 1 else pytest.approx(known.ppf(0.025)))
    assert high == (1 if 100 - n_errors + prior[1] <= 1 else pytest.approx(known.ppf(0.975)))
    rates = np.array([0.01, 0.2, 0.5, 0.97])
    assert found.probability_below(rates) == pytest.approx(known.cdf(rates))
    assert found.pdf(rates) == pytest.approx(known.pdf(rates))
    assert found.quantile([[0.1, 0.9]]) == pytest.approx(known.ppf([[0.1, 0.9]]))
    assert found.quantile(0.0) == 0
    assert found.probability_below(1) == 1


def test_published_intervals() -> None:
    # Brown, Cai and DasGupta (2001), table 5: Jeffreys intervals for n = 7 at 95 %
    expected = {0: (0.0, 0.292), 1: (0.016, 0.501), 2: (0.065, 0.648), 3: (0.139, 0.766)}
    for n_errors, interval in expected.items():
        assert fe.error_rate_posterior(n_errors, 7).credible_interval == pytest.approx(interval, abs=0.0006)


def test_the_interval_covers_95_percent_on_average() -> None:
    for n in (20, 100):
        rates = np.linspace(0.005, 0.995, 199)
        ends = np.array([fe.error_rate_posterior(k, n).credible_interval for k in range(n + 1)])
        inside = (ends[:, :1] <= rates) & (rates <= ends[:, 1:])
        coverage = (stats.binom.pmf(np.arange(n + 1)[:, None], n, rates) * inside).sum(axis=0)
        assert coverage.mean() == pytest.approx(0.95, abs=0.005)


def test_a_billion_rows() -> None:
    found = fe.error_rate_posterior(1000, 10**9)
    assert found.credible_interval == pytest.approx((9.4e-7, 1.064e-6), rel=0.01)
    assert found.conclusion == (
        "The error rate is 1.000e-06, 95 % credible interval 9.395e-07 to 1.063e-06 "
        "(1,000 errors in 1,000,000,000 rows)."
    )


def test_the_interval_has_equal_tails_under_other_priors() -> None:
    found = fe.error_rate_posterior(0, 10, prior=(10, 10))
    assert found.probability_below(list(found.credible_interval)) == pytest.approx([0.025, 0.975])
    assert fe.error_rate_posterior(0, 10, prior=(1, 1)).credible_interval.low == 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"n_samples must be an integer from 1 to 9007199254740992"):
        fe.error_rate_posterior(1, 10**400)
    with pytest.raises(ValueError, match=r"prior must be in \[0.01, 1e\+09\], got 1e-300"):
        fe.error_rate_posterior(0, 10, prior=(1e-300, 1e-300))
    with pytest.raises(ValueError, match="n_errors must be"):
        fe.error_rate_posterior(11, 10)
    with pytest.raises(ValueError, match="n_errors must be"):
        fe.error_rate_posterior(0.5, 10)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_samples must be"):
        fe.error_rate_posterior(0, 0)
    with pytest.raises(ValueError, match="prior must be two numbers"):
        fe.error_rate_posterior(1, 10, prior=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="prior must be in"):
        fe.error_rate_posterior(1, 10, prior=(0, 1))
    with pytest.raises(ValueError, match="rate must be in"):
        fe.error_rate_posterior(1, 10).probability_below(1.5)
    with pytest.raises(ValueError, match="probability must be in"):
        fe.error_rate_posterior(1, 10).quantile(np.nan)
