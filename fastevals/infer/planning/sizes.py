"""Power and sample sizes, given a standard error, or for the exact limits of a proportion."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals.infer.proportions import share_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MANY_TRIALS = 10**6  # expected trials; from here on, a random number of trials makes no difference
SPREAD_OF_TRIALS = 8.0  # standard deviations of the number of trials that are summed over
POINTS_CHECKED = 400  # sample sizes above a solution whose power is checked
MOST_ROWS = 10**15


# For one estimate with its standard error -------------------------------------------------------------------------


def detectable_difference(standard_error: float, *, confidence_level: float = 0.95, power: float = 0.8) -> float:
    """Return the smallest true distance from a bound that a one-sided decision finds with the given power.

    Examples
    --------
    >>> round(detectable_difference(0.01), 4)
    0.0249
    """
    return _deviates(confidence_level, power) * standard_error


def _deviates(confidence_level: float, power: float) -> float:
    """Return the sum of the normal deviates of a one-sided level and of the power."""
    from scipy.special import ndtri

    return float(ndtri(confidence_level) + ndtri(power))


def _whole(rows: float) -> int:
    """Return the next whole number of rows, at least 1; raise if it is beyond any data set."""
    if not rows < MOST_ROWS:
        raise ValueError(f"the goal needs more than {MOST_ROWS:.0e} rows: state a larger effect, margin or width")
    return max(1, math.ceil(rows * (1 - 1e-12)))


# The decision -------------------------------------------------------------------------------------------------------


class Claim(NamedTuple):
    """What is to be shown: that a value is above `low`, below `high`, or both; and the value that is assumed true.

    The decision compares a one-sided confidence limit with each bound. Both together are two one-sided tests. With
    `metric_bounds`, the least and the largest value of a metric, the standard error of an estimate changes with the
    estimate as in `relative_deviation`.
    """

    value: float
    low: float = -math.inf
    high: float = math.inf
    metric_bounds: tuple[float, float] | None = None

    @property
    def distance(self) -> float:
        """The distance of the value from the nearer bound; not above 0 if no sample can show the claim."""
        return min(self.value - self.low, self.high - self.value)

    @property
    def nearer_bound(self) -> float:
        """The bound that is nearer to the value."""
        return self.low if self.value - self.low <= self.high - self.value else self.high

    def power(self, standard_error: float, confidence_level: float) -> float:
        """Return the chance that limits of an estimate with this standard error, at the value, show the claim."""
        from scipy.special import ndtr, ndtri

        if not standard_error > 0:
            return float(self.distance > 0)
        margin = float(ndtri(confidence_level)) * standard_error
        least, most = self._estimate(self.low, margin), self._estimate(self.high, -margin)
        above, below = ndtr((self.value - least) / standard_error), ndtr((most - self.value) / standard_error)
        return max(float(above + below - 1), 0.0)

    def _estimate(self, bound: float, margin: float) -> float:
        """Return the estimate whose confidence limit is at a bound; `margin` is for an estimate at the value."""
        if self.metric_bounds is None or not math.isfinite(bound):
            return bound + margin
        unit = margin / relative_deviation(self.value, self.metric_bounds)
        near, far = bound, self.metric_bounds[margin > 0]
        for _ in range(60):
            middle = (near + far) / 2
            is_beyond = abs(middle - bound) >= abs(unit) * relative_deviation(middle, self.metric_bounds)
            near, far = (near, middle) if is_beyond else (middle, far)
        return near

    def standard_error(self, confidence_level: float, power: float) -> float:
        """Return the largest standard error, for an estimate at the value, that gives the power."""
        least, most = 0.0, self.distance / _deviates(confidence_level, power)
        if self.metric_bounds is None and math.inf in (-self.low, self.high):
            return most
        while self.power(most, confidence_level) >= power and most < 1 / most:
            most *= 2  # the standard error shrinks towards a bound of the metric
        for _ in range(60):
            middle = (least + most) / 2
            enough = self.power(middle, confidence_level) >= power
            least, most = (middle, most) if enough else (least, middle)
        return least


def relative_deviation(value: float, bounds: tuple[float, float]) -> float:
    """Return the standard deviation of a value within bounds, up to a factor, as for a proportion."""
    return math.sqrt(max((value - bounds[0]) * (bounds[1] - value), 0.0))


def rows_for_standard_error(variance: float, standard_error: float) -> int:
    """Return the rows that give a standard error, if the variance of an estimate from n rows is ``variance / n``."""
    return _whole(variance / standard_error**2)


def standard_error_for_width(width: float, confidence_level: float) -> float:
    """Return the standard error that gives a two-sided normal interval of this full width."""
    from scipy.special import ndtri

    return width / (2 * float(ndtri((1 + confidence_level) / 2)))


# Proportions, with the limits of Clopper and Pearson --------------------------------------------------------------


class ExactClaim(NamedTuple):
    """A claim on a proportion of trials, decided by one-sided limits of Clopper and Pearson at level 1 - `alpha`.

    A row is a trial with chance `share`: for recall, the share of positives.
    """

    claim: Claim
    share: float
    alpha: float

    def power_of_trials(self, trials: Ints) -> Floats:
        """Return the chance to show the claim, for each number of trials."""
        from scipy.special import betainc

        n = np.asarray(trials, dtype=np.float64)
        value, low, high, _ = self.claim
        least, most = np.zeros_like(n), n.copy()  # successes that show the claim
        if low > -math.inf:
            least = fewest_successes(n, low, self.alpha)
        if high < math.inf:
            most = n - fewest_successes(n, 1 - high, self.alpha)

        def at_least(successes: Floats) -> Floats:
            inside = np.clip(successes, 1, np.maximum(n, 1))
            chance = betainc(inside, n - inside + 1, value)
            return np.where(successes <= 0, 1.0, np.where(successes > n, 0.0, chance))

        return np.maximum(at_least(least) - at_least(most + 1), 0.0)

    def power(self, n: int) -> float:
        """Return the chance to show the claim with n rows: the mean over the random number of trials."""
        return float(self.powers([n])[0])

    def powers(self, rows: Sequence[int]) -> Floats:
        """Return the chance to show the claim, for each number of rows in ascending order."""
        if self.share >= 1 or rows[-1] * self.share > MANY_TRIALS:
            return self.power_of_trials(np.array([round(n * self.share) for n in rows]))
        ends = [_range_of_trials(n, self.share) for n in (rows[0], rows[-1])]
        first = ends[0].start
        by_trials = self.power_of_trials(np.arange(first, ends[1].stop))
        found = []
        for n in rows:
            part = _range_of_trials(n, self.share)
            found.append(_chances_of_trials(n, self.share) @ by_trials[part.start - first : part.stop - first])
        return np.array(found)

    def rows(self, power: float) -> tuple[int, float]:
        """Return the smallest number of rows from which on the power is at least `power`, and the power there.

        The power of an exact test has a saw-tooth: with one trial more, it may fall.
        """
        bound = min(max(self.claim.nearer_bound, 1e-12), 1 - 1e-12)
        variance = self.claim.value * (1 - self.claim.value)
        spread = max(variance, bound * (1 - bound))
        trials = _whole(spread / self.claim.standard_error(1 - self.alpha, power) ** 2)
        n = _whole(trials / self.share)
        if self.share >= 1 or n * self.share > MANY_TRIALS:
            trials = _from_which_on(self.power_of_trials, power, trials, math.sqrt(trials / (bound * (1 - bound))))
            n = _whole(trials / self.share)
            return n, self.power(n)
        n = first_at_least(self.power, power, n)
        period = 1 / (min(bound, 1 - bound) * self.share)  # rows between two teeth
        if math.sqrt(n * self.share * (1 - self.share)) * self.share < period:  # otherwise the mean has no teeth
            checked = sorted_unique(np.linspace(n, n + 4 * period, POINTS_CHECKED).astype(np.int64)).tolist()
            failing = np.flatnonzero(self.powers(checked) < power)
            if failing.size and failing[-1] + 1 < len(checked):
                n = first_at_least(self.power, power, checked[failing[-1] + 1], checked[failing[-1]])
        return n, self.power(n)


def fewest_successes(trials: Floats, bound: float, alpha: float) -> Floats:
    """Return the fewest successes whose lower limit of Clopper and Pearson is at least `bound`.

    With so many or more successes, the chance of the data is at most alpha if the true rate is `bound`. If all trials
    are too few, the result exceeds the trials.
    """
    from scipy.special import betainc, ndtri

    def is_enough(successes: Floats) -> NDArray[np.bool_]:
        inside = np.clip(successes, 1, np.maximum(trials, 1))
        chance = betainc(inside, trials - inside + 1, bound)
        return np.where(successes > trials, True, np.where(successes < 1, alpha >= 1, chance <= alpha))

    z = -float(ndtri(alpha))
    successes = np.clip(np.ceil(trials * bound + z * np.sqrt(trials * bound * (1 - bound))), 1, trials + 1)
    while (wrong := ~is_enough(successes)).any():
        successes = successes + wrong
    while (wrong := (successes > 1) & is_enough(successes - 1)).any():
        successes = successes - wrong
    return successes


def trials_for_width(value: float, width: float, confidence_level: float) -> int:
    """Return the trials from which on an interval of `width_of_share` is at most this wide."""
    return first_at_least(lambda trials: -width_of_share(value, trials, confidence_level), -width, 1)


def width_of_share(value: float, trials: float, confidence_level: float) -> float:
    """Return the width of the two-sided interval of Clopper and Pearson for a share of successes among trials.

    The number of successes need not be whole.
    """
    low, high = share_interval(
        trials * value, trials * (1 - value), "clopper-pearson", 1 - confidence_level, "two-sided"
    )
    return float(high - low)


def _range_of_trials(n: int, share: float) -> range:
    """Return the numbers of trials that may occur among n rows."""
    margin = SPREAD_OF_TRIALS * math.sqrt(n * share * (1 - share)) + 10
    return range(max(0, math.floor(n * share - margin)), min(n, math.ceil(n * share + margin)) + 1)


def _chances_of_trials(n: int, share: float) -> Floats:
    """Return the chance of each of these numbers of trials."""
    from scipy.special import gammaln

    trials = np.array(_range_of_trials(n, share))
    logs = gammaln(n + 1) - gammaln(trials + 1) - gammaln(n - trials + 1)
    chances = np.exp(logs + trials * math.log(share) + (n - trials) * math.log1p(-share))
    return np.asarray(chances / chances.sum())


def first_at_least(value_of: Callable[[int], float], wanted: float, start: int, low: int = 0) -> int:
    """Return the smallest whole number above `low` at which a growing function reaches a value."""
    high = max(start, low + 1)
    while value_of(high) < wanted:
        low, high = high, _whole(2.0 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if value_of(middle) >= wanted else (middle, high)
    return high


def _from_which_on(power_of: Callable[[Ints], Floats], wanted: float, start: int, teeth: float) -> int:
    """Return the smallest number of trials from which on the power is at least `wanted`.

    The last number that fails is within a few times `teeth` of the number at which the power without teeth is reached.
    """
    step = math.ceil(4 * teeth) + 20
    low, high, is_enough_above = max(1, start - step), start + step, False
    while True:
        trials = np.arange(low, high + 1)
        failing = np.flatnonzero(power_of(trials) < wanted)
        if failing.size and trials[failing[-1]] > high - step // 2 and not is_enough_above:
            low, high = high - step, high + 2 * step
        elif not failing.size and low > 1:
            low, high, is_enough_above = max(1, low - 2 * step), low - 1, True
        else:
            return int(trials[failing[-1]]) + 1 if failing.size else 1
