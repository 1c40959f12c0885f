"""How many queries it takes to tell two systems apart, from the differences of a pilot."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.infer.planning.sizes import Claim, rows_for_standard_error

FEW_QUERIES = 3  # fewer have no interval of their variance


class PlannedQueries(NamedTuple):
    """The queries that show a difference of means.

    Attributes
    ----------
    n : int
        Number of queries, if differences vary as in the pilot.
    low, high : float
        Ends of an approximate interval of this number, as the pilot's variance is itself an estimate; NaN for fewer
        than three queries.
    deviation : float
        Standard deviation of the pilot's differences.
    """

    n: int
    low: float
    high: float
    deviation: float


def queries_for_difference(
    differences: NDArray[np.float64], effect: float, *, power: float = 0.8, confidence_level: float = 0.95
) -> PlannedQueries | None:
    """Return how many queries it takes for a two-sided interval to exclude 0; None if no difference varies.

    With a true mean difference of `effect`, the interval lies on the right side of 0 with the given power. The interval
    of the number follows from the variance of the pilot's variance, which depends on the kurtosis, on a log scale.

    With simulated differences of heavy tails (kurtosis 11), the interval contained the true number for 87 % of 20,000
    pilots of 100 queries, and for 92 % with 500. Of 4,000 samples of the number that follows from the true variance,
    79 % showed the difference (power 80 %).

    Parameters
    ----------
    differences : ndarray of shape (n_queries,)
        A metric of one system minus the metric of another, for each query of the pilot.
    effect : float
        The true mean difference that is assumed, other than 0.
    power, confidence_level : float in (0, 1)
        The chance to show the difference, and the level of the interval that shows it.
    """
    n = differences.size
    variance = float(differences.var(ddof=1)) if n > 1 else 0.0
    if not variance > 0:
        return None
    claim = Claim(abs(effect), low=0.0)
    wanted = claim.standard_error((1 + confidence_level) / 2, power)
    planned = rows_for_standard_error(variance, wanted)
    low = high = math.nan
    if n >= FEW_QUERIES:
        from scipy.special import ndtri

        deviations = differences - differences.mean()
        kurtosis = float((deviations**4).mean() / (deviations**2).mean() ** 2)
        spread = math.sqrt(max(kurtosis - (n - 3) / (n - 1), 0.0) / n) * float(ndtri((1 + confidence_level) / 2))
        low, high = planned * math.exp(-spread), planned * math.exp(spread)
    return PlannedQueries(planned, low, high, math.sqrt(variance))
