"""The posterior of an error rate, from the number of errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastevals._options import check_integer, check_number, show
from fastevals._validation.arrays import EXACT_INTEGER
from fastevals._validation.curves import as_shares
from fastevals.document.frames import Columns, make_columns
from fastevals.infer.proportions import checked_quantile
from fastevals.results import Frozen, Interval, check_confidence_level, format_estimate, number_or_array

JEFFREYS = (0.5, 0.5)
LEAST_PRIOR, LARGEST_PRIOR = 0.01, 1e9  # outside, quantiles are inaccurate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorRatePosterior(Frozen):
    """Posterior of an error rate: a beta distribution.

    Attributes
    ----------
    n_errors, n_samples : int
        Number of errors, and of rows.
    shape : (float, float)
        Parameters of the beta distribution.
    mean, median : float
        Mean and median of the posterior.
    credible_interval : Interval
        Interval that contains the error rate with probability `confidence_level`, with equal tails. If the density does
        not fall to 0 at a rate of 0, as without errors under the default prior, its low end is 0; likewise its high end
        is 1.
    confidence_level : float
        Posterior probability of the interval.
    conclusion : str
        The estimate and its interval, in words.

    Examples
    --------
    >>> import fastevals
    >>> posterior = fastevals.error_rate_posterior(3, 100)
    >>> round(posterior.probability_below(0.05), 4)
    0.8186
    """

    n_errors: int
    n_samples: int
    shape: tuple[float, float]
    mean: float
    median: float
    credible_interval: Interval
    confidence_level: float

    def probability_below(self, rate: ArrayLike) -> Any:
        """Return the probability that the error rate is below a rate, or below each of an array of rates.

        Parameters
        ----------
        rate : float or array-like
            From 0 to 1.

        Raises
        ------
        ValueError
            If a rate is not from 0 to 1.
        """
        from scipy.special import betainc

        return number_or_array(betainc(*self.shape, as_shares("rate", rate)))

    def quantile(self, probability: ArrayLike) -> Any:
        """Return the error rate that is exceeded with a probability of 1 minus `probability`.

        Parameters
        ----------
        probability : float or array-like
            From 0 to 1.

        Raises
        ------
        ValueError
            If a probability is not from 0 to 1.
        """
        from scipy.special import betainc, betaincinv

        wanted = as_shares("probability", probability)
        first, second = (np.full(wanted.shape, each) for each in self.shape)
        return number_or_array(checked_quantile(betaincinv, betainc, first, second, wanted))

    def pdf(self, rate: ArrayLike) -> Any:
        """Return the density at a rate, or at each of an array of rates.

        Parameters
        ----------
        rate : float or array-like
            From 0 to 1.

        Raises
        ------
        ValueError
            If a rate is not from 0 to 1.
        """
        from scipy.special import betaln, xlog1py, xlogy

        a, b = self.shape
        x = as_shares("rate", rate)
        return number_or_array(np.exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b)))

    @property
    def conclusion(self) -> str:
        """The estimate and its interval, in words."""
        estimate = format_estimate(self.mean, self.credible_interval, round(1 - self.confidence_level, 12))
        estimate = estimate.replace("interval", "credible interval")
        pairs = ((self.n_errors, "error"), (self.n_samples, "row"))
        counts = " in ".join(f"{n:,} {what}{'s' * (n != 1)}" for n, what in pairs)
        return f"The error rate is {estimate} ({counts})."

    def _columns(self) -> Columns:
        low, high = self.credible_interval
        names = ("n_errors", "n_samples", "mean", "median")
        return make_columns({name: getattr(self, name) for name in names} | {"low": low, "high": high})

    def _title(self) -> str:
        return f"Posterior of the error rate: beta({self.shape[0]:g}, {self.shape[1]:g})"

    def __repr__(self) -> str:
        low, high = self.credible_interval
        return f"ErrorRatePosterior({self.mean:.4g} [{low:.4g}, {high:.4g}], n={self.n_samples})"

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")


def error_rate_posterior(
    n_errors: int,
    n_samples: int,
    *,
    prior: tuple[float, float] = JEFFREYS,
    confidence_level: float = 0.95,
) -> ErrorRatePosterior:
    """Compute the posterior of an error rate from the number of errors on independent rows.

    Parameters
    ----------
    n_errors : int
        Number of errors.
    n_samples : int
        Number of rows, at least 1.
    prior : (float, float)
        Parameters of the prior, a beta distribution, from 0.01 to 1e9. The default is Jeffreys' prior; (1, 1) is
        uniform.
    confidence_level : float in (0, 1)
        Posterior probability of the interval.

    Returns
    -------
    ErrorRatePosterior
        Mean, median and interval, with methods for quantiles and for the probability of being below a rate.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    The posterior is a beta distribution with parameters ``n_errors + prior[0]`` and
    ``n_samples - n_errors + prior[1]``. With Jeffreys' prior, its interval is also a confidence interval whose coverage
    is close to the level on average [1]_; `binomial_error_test` and `proportion_interval` have exact ones.

    References
    ----------
    .. [1] Brown, L. D., Cai, T. T. and DasGupta, A. (2001), "Interval Estimation for a Binomial Proportion",
       Statistical Science 16, 101-133, doi:10.1214/ss/1009213286.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.error_rate_posterior(3, 100)
    ErrorRatePosterior(0.03465 [0.00852, 0.07789], n=100)
    """
    n_samples = check_integer("n_samples", n_samples, low=1, high=EXACT_INTEGER)
    n_errors = check_integer("n_errors", n_errors, low=0, high=n_samples)
    first, second = _check_prior(prior)
    level, alpha = check_confidence_level(confidence_level)
    shape = n_errors + first, n_samples - n_errors + second
    posterior = ErrorRatePosterior(n_errors, n_samples, shape, shape[0] / sum(shape), 0.0, Interval(0.0, 1.0), level)
    low, median, high = posterior.quantile([alpha / 2, 0.5, 1 - alpha / 2]).tolist()
    interval = Interval(low if shape[0] > 1 else 0.0, high if shape[1] > 1 else 1.0)
    return ErrorRatePosterior(n_errors, n_samples, shape, posterior.mean, median, interval, level)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_prior(prior: Any) -> tuple[float, float]:
    """Return the parameters of the prior."""
    given = list(prior) if isinstance(prior, (list, tuple, np.ndarray)) else []
    if len(given) != 2:
        raise ValueError(f"prior must be two numbers, such as (0.5, 0.5), got {show(prior)}")
    first, second = (check_number("prior", each, low=LEAST_PRIOR, high=LARGEST_PRIOR) for each in given)
    return first, second
