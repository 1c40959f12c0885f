"""How many data sets, or repeats of folds, the comparison of two learners needs, from a pilot."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_choice, check_integer, check_number
from fastevals._random import seed_key
from fastevals._text import count_of
from fastevals._validation.tables import find_pair
from fastevals.document.document import GAP, Cell, Count, Document, Number, Part, Row, Section, Sentence, Table
from fastevals.document.frames import Columns, make_columns
from fastevals.infer.learners.results import as_learner_results
from fastevals.infer.planning.sizes import Claim, ExactClaim, first_at_least
from fastevals.infer.proportions import share_interval
from fastevals.infer.significance.paired import VARIANCE_ROUNDING, scaled_differences
from fastevals.infer.significance.pairwise import TESTS
from fastevals.results import MAX_RESAMPLES, TIE_TOLERANCE, Frozen, Interval, check_confidence_level

Floats = NDArray[np.float64]

FEW_DIFFERENCES = 30  # pilots with fewer leave the number open by a factor of 2 or more
MOST_PLANNED = 10**6  # data sets or repeats
MOST_SIMULATED = 2000  # data sets
FEWEST_COMPARISONS = 100  # simulated
COMPARISONS_PER_BLOCK = 512  # simulated
ROUGH_STEPS = 30  # up to this many data sets, an exact test with one more may have less power
STEPS_CHECKED = 3
PERMUTATIONS_PER_REJECTION, MOST_PERMUTATIONS = 50, 10**4
LARGE_T = 100.0  # beyond it, a t statistic's interval is proportional to it

ComparisonTest = Literal["wilcoxon", "sign", "paired-t", "corrected-resampled-t", "permutation"]


def plan_comparison(
    results: Any,
    a: Any = None,
    b: Any = None,
    *,
    test: ComparisonTest = "wilcoxon",
    effect: float | None = None,
    power: float = 0.8,
    confidence_level: float = 0.95,
    n_resamples: int = 5000,
    rng: Any = 0,
) -> ComparisonPlan:
    """Compute how many data sets, or repeats of folds, it takes to show that two learners differ.

    A pilot shows how much the learners' difference varies from one data set to the next or, for
    "corrected-resampled-t", from one fold of a data set to the next.

    Parameters
    ----------
    results : Results, or any data that `Results` takes
        The pilot: results of at least two learners on two or more data sets or, for "corrected-resampled-t", on the
        splits of one data set, with `n_train` and `n_test`.
    a, b : name, optional
        The two learners; not needed if there are only two.
    test : {"wilcoxon", "sign", "paired-t", "corrected-resampled-t", "permutation"}
        The two-sided test that will compare the learners, as for `pairwise_tests`.
    effect : float, optional
        The true effect that is assumed, `a` minus `b`: the pseudomedian of the differences for "wilcoxon"; the share of
        data sets that `a` wins, without ties, for "sign"; otherwise the difference in means. By default the pilot's
        own, which is often too large, with a caution.
    power : float in (0, 1)
        The chance that the test finds the difference, on the right side, if the effect is true.
    confidence_level : float in (0, 1)
        The test is at level ``1 - confidence_level``, and the interval of the number has this level.
    n_resamples : int
        Number of simulated comparisons for "wilcoxon" and "permutation". With 5,000, the power has a standard error of
        0.6 percentage points.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed.

    Returns
    -------
    ComparisonPlan
        The number of data sets or repeats with an interval, the attained power, and a conclusion in words. If no number
        of repeats reaches the power, the number is None, and `largest_power` says what they reach.

    Raises
    ------
    ValueError
        If an argument is not as described, the pilot's differences do not vary, or more than a million data sets (2,000
        for simulated power) are needed; the message names the argument, the rule and the value seen.

    Notes
    -----
    For the t-tests, differences are taken to be normal with the pilot's standard deviation s, and t has a noncentral t
    distribution. The variance of the mean over n splits is ``s**2 (1 / n + n_test / n_train)``, as in the corrected
    test: repeats lower only the first part, so the power has a limit. For the sign test, power is binomial, with the
    pilot's share of ties; it has a saw-tooth, and from the planned number on, it stays at `power` or above.

    Otherwise the test runs on simulated data sets. Ties are as frequent as in the pilot. Other differences are drawn
    around the effect: the pilot's deviations, each with a random sign, since both tests assume that differences are
    symmetric.

    The interval of the number follows from an interval of the pilot's standard deviation or, if the effect is the
    pilot's own, of its ratio of effect and standard deviation. It is exact for t-tests of normal differences (with
    heavy tails and a stated effect, intervals at 95 % contained the true number for 83 % of pilots). Its factors are
    the same for "wilcoxon" and "permutation". For the sign test, it follows from the exact interval of the
    share of ties or wins.

    References
    ----------
    Cohen (1988), *Statistical Power Analysis for the Behavioral Sciences*, doi:10.4324/9780203771587. Nadeau and Bengio
    (2003), doi:10.1023/A:1024068626366. Collings and Hamilton (1988), "Estimating the Power of the Two-Sample Wilcoxon
    Test for Location Shift", Biometrics 44, 847-860, on power from a pilot's own distribution.

    Examples
    --------
    >>> import fastevals
    >>> pilot = {"new": [0.81, 0.74, 0.92, 0.66, 0.78, 0.85], "old": [0.8, 0.75, 0.9, 0.65, 0.74, 0.86]}
    >>> planned = fastevals.plan_comparison(pilot, test="paired-t", effect=0.01)
    >>> planned.n, planned.confidence_interval
    (31, Interval(low=14, high=172))
    """
    check_choice("test", test, ComparisonTest)
    power = check_number("power", power, low=0, high=1, open_low=True, open_high=True)
    level, alpha = check_confidence_level(confidence_level)
    if power <= alpha:
        raise ValueError(f"power must be above 1 - confidence_level, {alpha:g}, got {power:g}")
    n_resamples = check_integer("n_resamples", n_resamples, low=FEWEST_COMPARISONS, high=MAX_RESAMPLES)
    key = seed_key("rng", rng)
    pilot = _read_pilot(results, a, b, test)
    stated = effect is not None
    assumed = _assumed_effect(test, effect, pilot)
    goal = _Goal(test, assumed, stated, power, alpha)
    if test == "sign":
        found = _plan_wins(pilot, goal)
    elif test in ("wilcoxon", "permutation"):
        found = _plan_by_simulation(pilot, goal, n_resamples, key)
    else:
        found = _plan_t(pilot, goal)
    return ComparisonPlan(
        test=test,
        a=pilot.learners[0],
        b=pilot.learners[1],
        n=found.n,
        unit="repeats" if pilot.ratio else "data sets",
        confidence_interval=found.interval,
        power=found.power,
        largest_power=found.largest_power,
        effect=pilot.in_own_unit(assumed, test),
        standard_deviation=pilot.in_own_unit(pilot.deviation),
        tied=pilot.tied,
        confidence_level=level,
        method=found.method,
        pilot_n=pilot.n,
        pilot_effect=pilot.in_own_unit(pilot.effect, test),
        assumptions=tuple(_assumptions(pilot, goal, found)),
        cautions=tuple(_cautions(pilot, goal, found)),
        conclusion=_conclusion(pilot, goal, found),
    )


# The pilot ------------------------------------------------------------------------------------------------------------


class _ComparisonPilot(NamedTuple):
    """The differences of two learners, in units of 2**exponent, and the effect that the test reports.

    `n` is the number of data sets or repeats, of which each has `splits` differences. `ratio` is the number of test
    rows divided by the number of training rows, and 0 for data sets.
    """

    learners: tuple[Any, Any]
    differences: Floats
    exponent: int
    effect: float
    n: int
    splits: int = 1
    ratio: float = 0.0

    @property
    def deviation(self) -> float:
        """Standard deviation of the differences; exactly 0 if they are all the same."""
        return float(self.differences.std(ddof=1)) if np.ptp(self.differences) > 0 else 0.0

    @property
    def tied(self) -> float:
        """Share of differences that are 0."""
        return float(np.mean(self.differences == 0))

    def in_own_unit(self, value: float, test: str = "") -> float:
        """Return a difference in the unit of the metric; the sign test's shares have none."""
        return value if test == "sign" else float(np.ldexp(value, self.exponent))


class _Goal(NamedTuple):
    """The test, the effect that is assumed (in the pilot's unit), whether it was stated, and the power at a level."""

    test: str
    effect: float
    stated: bool
    power: float
    alpha: float


class _Found(NamedTuple):
    n: int | None
    power: float
    interval: Interval
    method: str
    largest_power: float = 1.0
    simulated: int = 0


def _read_pilot(results: Any, a: Any, b: Any, test: str) -> _ComparisonPilot:
    """Return the differences of the two learners on data sets or splits; raise unless they suit the test."""
    read = as_learner_results("results", results)
    places = [*find_pair(a, b, read.learners)]
    learners = read.learners[places[0]], read.learners[places[1]]
    n, splits, ratio = len(read.datasets), 1, 0.0
    if test == "corrected-resampled-t":
        if n > 1:
            raise ValueError(f"results must be of one data set for test={test!r}, got {n}: other tests plan data sets")
        if read.test_to_train is None:
            raise ValueError(
                f"results must have n_train and n_test for test={test!r}: pass Results(..., n_train=, n_test=)"
            )
        grid = read.values[0, places]
        measured: NDArray[np.bool_] = np.logical_not(np.isnan(grid).all(axis=0))
        pair, ratio = grid[:, measured], float(read.test_to_train[0])
        n = int(np.count_nonzero(measured.any(axis=1)))
        splits = max(1, round(pair.shape[1] / max(n, 1)))
    else:
        if n == 1:
            raise ValueError(
                f"results must be of several data sets for test={test!r}, got one: its splits are not independent, so "
                "use test='corrected-resampled-t'"
            )
        pair = read.means[:, places].T
    if missing := int(np.isnan(pair).any(axis=0).sum()):
        raise ValueError(f"results must have both learners' results, but lack {count_of(missing, 'pair')} of them")
    if pair.shape[1] < 2:
        raise ValueError(f"results must have at least 2 pairs of results, got {pair.shape[1]}")
    first, second = np.ascontiguousarray(pair)
    scaled = scaled_differences(first, second)
    are_tied = np.abs(first - second) <= VARIANCE_ROUNDING * np.maximum(np.abs(first), np.abs(second))
    differences = np.where(are_tied, 0.0, scaled.values)
    pilot = _ComparisonPilot(learners, differences, int(scaled.exponent), 0.0, n, splits, ratio)
    if test == "sign":
        if pilot.tied == 1:
            raise ValueError("results must differ on some data set, but all are ties")
        return pilot._replace(effect=float(np.mean(differences[differences != 0] > 0)))
    if not pilot.deviation > 0:
        value = pilot.in_own_unit(float(differences[0]))
        raise ValueError(f"results must show how much the difference varies, but all differences are {value:g}")
    options = {"method": "normal"} if test == "wilcoxon" else {}
    core = TESTS["wilcoxon" if test == "wilcoxon" else "paired-t"].core
    return pilot._replace(
        effect=float(core(differences[None], np.zeros((1, differences.size)), "two-sided", **options)[2][0])
    )


def _assumed_effect(test: str, effect: Any, pilot: _ComparisonPilot) -> float:
    """Return the effect that is assumed, in the pilot's unit; raise if it is none."""
    none = 0.5 if test == "sign" else 0.0
    if effect is None:
        if pilot.effect == none:
            raise ValueError(f"effect must be given: the pilot's own effect is {none:g}, no difference")
        return pilot.effect
    if test == "sign":
        assumed = check_number("effect", effect, low=0, high=1)
    else:
        assumed = check_number("effect", effect, open_low=True, open_high=True)
    if assumed == none:
        raise ValueError(f"effect must be other than {none:g}, no difference, for test={test!r}; got {assumed:g}")
    return assumed if test == "sign" else float(np.ldexp(assumed, -pilot.exponent))


# Power with a closed form ---------------------------------------------------------------------------------------------


class _StudentPower(NamedTuple):
    """Power of a t-test, given the ratio of effect and standard deviation, for a number of data sets or repeats."""

    ratio: float
    alpha: float
    splits: int = 1
    test_to_train: float = 0.0

    def at(self, n: int) -> float:
        """Return the chance that the test rejects on the right side."""
        from scipy.special import nctdtr, ndtr, stdtrit

        rows = n * self.splits
        critical = stdtrit(rows - 1, 1 - self.alpha / 2)
        center = self.ratio / math.sqrt(1 / rows + self.test_to_train)
        power = 1 - nctdtr(rows - 1, center, critical) if center < LARGE_T else math.nan
        return float(ndtr(center - critical) if math.isnan(power) else power)

    @property
    def largest(self) -> float:
        """The power that more and more data sets or repeats approach."""
        from scipy.special import ndtr, ndtri

        if not self.test_to_train:
            return 1.0
        return float(ndtr(self.ratio / math.sqrt(self.test_to_train) + ndtri(self.alpha / 2)))

    def number(self, power: float) -> int | None:
        """Return the smallest number that reaches a power; None if none up to a million does."""
        if not self.ratio > 0 or self.at(MOST_PLANNED) < power:
            return None
        variance = 1 / Claim(self.ratio, low=0.0).standard_error(1 - self.alpha / 2, power) ** 2
        start = min(max(1, math.ceil(variance / self.splits)), MOST_PLANNED)
        return first_at_least(self.at, power, start, int(self.splits == 1))


def _plan_t(pilot: _ComparisonPilot, goal: _Goal) -> _Found:
    needed = _student_power(pilot, goal)
    n = needed.number(goal.power)
    if n is None and not pilot.ratio:
        raise ValueError(_too_many(pilot, goal, f"more than {MOST_PLANNED:,} data sets"))
    ends = [needed._replace(ratio=ratio).number(goal.power) for ratio in _ratio_interval(pilot, goal)]
    high, low = (math.inf if each is None else each for each in ends)
    attained = needed.largest if n is None else needed.at(n)
    return _Found(n, attained, Interval(low, high), "noncentral t", needed.largest)


def _student_power(pilot: _ComparisonPilot, goal: _Goal) -> _StudentPower:
    return _StudentPower(abs(goal.effect) / pilot.deviation, goal.alpha, pilot.splits, pilot.ratio)


def _too_many(pilot: _ComparisonPilot, goal: _Goal, needed: str) -> str:
    effect, deviation = (f"{pilot.in_own_unit(each):.4g}" for each in (goal.effect, pilot.deviation))
    return f"effect must be larger, got {effect}: with a standard deviation of {deviation}, it takes {needed}"


def _ratio_interval(pilot: _ComparisonPilot, goal: _Goal) -> Interval:
    """Return the interval of the ratio of effect and standard deviation; the effect's sign counts as positive."""
    from scipy.special import chdtri

    n, deviation = pilot.differences.size, pilot.deviation
    df, tails = n - 1, (goal.alpha / 2, 1 - goal.alpha / 2)
    factors = sorted(math.sqrt(float(chdtri(df, tail)) / df) for tail in tails)
    if goal.stated:
        ratio = abs(goal.effect) / deviation
        return Interval(ratio * factors[0], ratio * factors[1])
    error = math.sqrt(1 / n + pilot.ratio)
    t = float(pilot.differences.mean()) / deviation / error * math.copysign(1.0, goal.effect)
    if abs(t) > LARGE_T:
        ends = sorted(t * factor for factor in factors)
    else:
        ends = [_noncentrality(t, df, tail) for tail in reversed(tails)]
    return Interval(ends[0] * error, ends[1] * error)


def _noncentrality(t: float, df: int, tail: float) -> float:
    """Return the noncentrality for which the chance of at most t is `tail`."""
    from scipy.optimize import brentq
    from scipy.special import nctdtr

    reach = 40 * math.sqrt(1 + t * t / (2 * df))

    def above(center: float) -> float:
        chance = float(nctdtr(df, center, t))
        return (float(center < t) if math.isnan(chance) else chance) - tail

    return float(brentq(above, t - reach, t + reach))


def _plan_wins(pilot: _ComparisonPilot, goal: _Goal) -> _Found:
    """Plan for the sign test: its rejections are those of Clopper and Pearson's limits of the share of wins."""
    limits_alpha = goal.alpha / 2 * (1 - 1e-12)  # the test does not reject at p = alpha

    def planned(share: float, tied: float) -> tuple[float, float]:
        if share <= 0.5 or tied >= 1:
            return math.inf, 0.0
        claim = ExactClaim(Claim(share, low=0.5), 1 - tied, limits_alpha)
        expected = 1 / (claim.claim.standard_error(1 - limits_alpha, goal.power) ** 2 * 4 * (1 - tied))
        return claim.rows(goal.power) if expected < MOST_PLANNED else (math.inf, 0.0)

    share, untied = max(goal.effect, 1 - goal.effect), pilot.differences[pilot.differences != 0]
    n, power = planned(share, pilot.tied)
    if math.isinf(n):
        raise ValueError(f"effect must be farther from 0.5: {goal.effect:g} takes more than {MOST_PLANNED:,} data sets")
    if goal.stated:
        shares = _share_interval(round(pilot.tied * pilot.n), pilot.n, goal.alpha)
        low, high = (planned(share, each)[0] for each in shares)
    else:
        wins = int(np.count_nonzero((untied > 0) == (goal.effect > 0.5)))
        shares = _share_interval(wins, untied.size, goal.alpha)
        low, high = (planned(each, pilot.tied)[0] for each in reversed(shares))
    return _Found(int(n), power, Interval(low, high), "binomial")


def _share_interval(successes: int, trials: int, alpha: float) -> Interval:
    low, high = share_interval(successes, trials - successes, "clopper-pearson", alpha, "two-sided")
    return Interval(float(low), float(high))


# Simulated power ------------------------------------------------------------------------------------------------------


def _plan_by_simulation(pilot: _ComparisonPilot, goal: _Goal, n_resamples: int, key: np.uint64) -> _Found:
    student = _student_power(pilot, goal)
    guess = student.number(goal.power)
    if guess is None or guess > MOST_SIMULATED:
        about = f"more than {MOST_PLANNED if guess is None else MOST_SIMULATED:,} data sets"
        raise ValueError(f"{_too_many(pilot, goal, about)}; test='paired-t' plans up to {MOST_PLANNED:,}")
    power_at = _simulated_power(goal, _population(pilot, goal), n_resamples, key)
    n = first_at_least(power_at, goal.power, guess)
    checked = n
    while n <= ROUGH_STEPS and checked < n + STEPS_CHECKED:
        checked += 1
        n = n if power_at(checked) >= goal.power else checked + 1
        if n > checked:
            n = checked = first_at_least(power_at, goal.power, n, n - 1)
    ends = [student._replace(ratio=ratio).number(goal.power) for ratio in _ratio_interval(pilot, goal)]
    high, low = (math.inf if each is None else round(n * each / guess) for each in ends)
    return _Found(n, power_at(n), Interval(low, high), "simulation", simulated=n_resamples)


def _population(pilot: _ComparisonPilot, goal: _Goal) -> Floats:
    """Return equally likely differences: ties as in the pilot, and others symmetric around the effect, made positive.

    The pilot's deviations are from its own effect, and scaled as for an unbiased variance.
    """
    untied = pilot.differences[pilot.differences != 0]
    share = untied.size / pilot.n if goal.test == "permutation" else 1.0  # the mean difference counts ties
    deviations = (untied - pilot.effect / share) * math.sqrt(untied.size / max(untied.size - 1, 1))
    center, ties = abs(goal.effect) / share, np.zeros(2 * (pilot.n - untied.size))
    return np.concatenate((center - deviations, center + deviations, ties))


def _simulated_power(goal: _Goal, population: Floats, n_resamples: int, key: np.uint64) -> Callable[[int], float]:
    """Return a function from the number of data sets to the share of simulated comparisons that show the difference.

    For a larger number, the same comparisons get more data sets, so the power of two numbers has a common error.
    """
    test: Callable[[Floats], tuple[Floats, Floats]]
    if goal.test == "permutation":
        n_signs = math.ceil(PERMUTATIONS_PER_REJECTION / goal.alpha) - 1
        if n_signs > MOST_PERMUTATIONS:
            most = 1 - PERMUTATIONS_PER_REJECTION / MOST_PERMUTATIONS
            raise ValueError(
                f"confidence_level must be at most {most:g} for test='permutation', got {1 - goal.alpha:g}"
            )
        test = partial(_permute_many, n_signs=n_signs, key=key)
    else:
        test = _rank_many
    known: dict[int, float] = {}

    def power_at(n: int) -> float:
        if n > MOST_SIMULATED:
            raise ValueError(
                f"effect must be larger, or power lower: power is simulated for up to {MOST_SIMULATED:,} data sets, "
                "and it takes more"
            )
        if n not in known:
            shown = 0
            for start in range(0, n_resamples, COMPARISONS_PER_BLOCK):
                size = min(COMPARISONS_PER_BLOCK, n_resamples - start)
                drawn = np.random.default_rng([int(key), start]).random((n, size))  # one row for each data set
                values = population[(drawn * population.size).astype(np.intp)].T.copy()
                pvalues, effects = test(values)
                shown += int(np.count_nonzero((pvalues < goal.alpha) & (effects > 0)))
            known[n] = shown / n_resamples
        return known[n]

    return power_at


def _rank_many(values: Floats) -> tuple[Floats, Floats]:
    """Return p-values and pseudomedians of Wilcoxon's test, for differences of shape (n_comparisons, n)."""
    _, pvalues, effects = TESTS["wilcoxon"].core(values, np.zeros_like(values), "two-sided")
    return pvalues, effects


def _permute_many(values: Floats, *, n_signs: int, key: np.uint64) -> tuple[Floats, Floats]:
    """Return p-values and sums of the permutation test; all comparisons share the signs, all of them if they are few.

    The test itself enumerates more signs, or draws more of them. This changes the power by less than its simulation
    does.
    """
    n, sums = values.shape[1], values.sum(axis=1)
    exact = n < 31 and 1 << n <= n_signs + 1
    bits = (
        np.arange(1 << n)[:, None] >> np.arange(n) & 1
        if exact
        else np.random.default_rng([int(key), n]).integers(0, 2, (n_signs, n))
    )
    slack = TIE_TOLERANCE * np.abs(values).sum(axis=1)
    reached = np.abs(values @ (2.0 * bits - 1).T) >= (np.abs(sums) - slack)[:, None]
    others = 0 if exact else 1
    return (others + reached.sum(axis=1)) / (others + len(bits)), sums


# The answer -----------------------------------------------------------------------------------------------------------


def _conclusion(pilot: _ComparisonPilot, goal: _Goal, found: _Found) -> str:
    first, second = pilot.learners
    title, effect = TESTS[goal.test].title, f"{pilot.in_own_unit(goal.effect, goal.test):.4g}"
    if goal.test == "sign":
        shows = f"{first} wins {'more' if goal.effect > 0.5 else 'less'} often than {second}"
        what = f"the true share of wins is {effect}"
    else:
        shows = f"{first} is {'higher' if goal.effect > 0 else 'lower'} than {second}"
        what = f"the true {TESTS[goal.test].what} is {effect}"
    means = f"{title} shows that {shows}, if {what} (two-sided, level {100 * goal.alpha:.6g} %)"
    if found.n is None:
        folds = f"repeats of {pilot.splits} splits" if pilot.splits > 1 else "splits"
        return (
            f"No number of {folds} reaches a power of {100 * goal.power:.6g} %: the chance is at most "
            f"{100 * found.largest_power:.1f} % that {means}."
        )
    return f"With {_counted(found.n, pilot)}, the chance is {100 * found.power:.1f} % that {means}."


def _counted(n: int, pilot: _ComparisonPilot) -> str:
    if not pilot.ratio:
        return count_of(n, "data set")
    return f"{count_of(n, 'repeat')} of {pilot.splits} splits" if pilot.splits > 1 else count_of(n, "split")


def _assumptions(pilot: _ComparisonPilot, goal: _Goal, found: _Found) -> list[str]:
    """Return what the number rests on, in sentences."""
    own = _counted(pilot.n, pilot)
    if goal.test == "sign":
        sentences = [f"Ties are as frequent as in the pilot of {own}: {100 * pilot.tied:.3g} %."]
    else:
        deviation = pilot.in_own_unit(pilot.deviation)
        sentences = [f"Differences vary as in the pilot of {own}: standard deviation {deviation:.4g}."]
    if found.simulated:
        error = 100 * math.sqrt(found.power * (1 - found.power) / found.simulated)
        sentences.append("Differences are symmetric around the effect.")
        sentences.append(
            f"Power is simulated with {found.simulated:,} comparisons (standard error {error:.2g} percentage points)."
        )
    elif goal.test != "sign":
        sentences.append("Differences are normal.")
    if pilot.ratio:
        sentences.append(
            "Splits are correlated as the test assumes, so repeats do not lower all of the variance "
            f"({pilot.ratio:.3g} test rows per training row)."
        )
    else:
        sentences.append("The data sets to come are like the pilot's data sets.")
    return sentences


def _cautions(pilot: _ComparisonPilot, goal: _Goal, found: _Found) -> list[str]:
    """Return why the number may be off, in sentences."""
    cautions = []
    if not goal.stated:
        cautions.append(
            "The effect is the pilot's own. An effect that a small pilot happens to show is often too large, and the "
            "number too small: state the smallest effect that matters."
        )
    size = pilot.differences.size
    if size < FEW_DIFFERENCES:
        what = count_of(size, "split" if pilot.ratio else "data set")
        reach = "no number" if math.isinf(found.interval.low) else _reach(found.interval)
        cautions.append(
            f"The pilot has only {what}, and is compatible with {reach}: use a pilot of {FEW_DIFFERENCES} or more."
        )
    if pilot.ratio and found.n is None:
        cautions.append("More data sets, or more rows in this one, raise the power; more repeats do not.")
    return cautions


def _reach(interval: Interval) -> str:
    """Return the interval of a number in words."""
    low, high = interval
    if math.isinf(low):
        return "-"
    return f"{low:,} or more" if math.isinf(high) else f"{low:,} to {high:,}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ComparisonPlan(Frozen):
    """Result of `plan_comparison`: the data sets or repeats that it takes to show that two learners differ.

    Attributes
    ----------
    test : str
        The test.
    a, b : name
        The learners; the effect is `a` minus `b`.
    n : int or None
        Number of data sets or repeats; None if no number of repeats reaches the power.
    unit : {"data sets", "repeats"}
        What `n` counts. A repeat has as many splits as the pilot's repeats.
    confidence_interval : Interval
        Interval of `n`, because the pilot's figures are estimates; its ends may be infinite.
    power : float
        Attained chance to show the difference; if `n` is None, `largest_power`.
    largest_power : float
        The power that more and more data sets or repeats approach: 1 for data sets.
    effect : float
        The true effect that is assumed.
    standard_deviation : float
        Standard deviation of the pilot's differences.
    tied : float
        Share of the pilot's differences that are 0.
    confidence_level : float
        1 minus the level of the test; level of the interval.
    method : {"noncentral t", "binomial", "simulation"}
        How power is computed.
    pilot_n : int
        Data sets or repeats of the pilot.
    pilot_effect : float
        The pilot's own effect.
    assumptions : tuple of str
        What the number rests on, in sentences.
    cautions : tuple of str
        Why the number may be off; empty if there is no known reason.
    conclusion : str
        The answer, as a sentence.

    Examples
    --------
    >>> import fastevals
    >>> pilot = {"new": [0.81, 0.74, 0.92, 0.66, 0.78, 0.85], "old": [0.8, 0.75, 0.9, 0.65, 0.74, 0.86]}
    >>> fastevals.plan_comparison(pilot, test="sign", effect=0.75)
    ComparisonPlan(sign: n=35, power=0.8579)
    """

    test: str
    a: Any
    b: Any
    n: int | None
    unit: str
    confidence_interval: Interval
    power: float
    largest_power: float
    effect: float
    standard_deviation: float
    tied: float
    confidence_level: float
    method: str
    pilot_n: int
    pilot_effect: float
    assumptions: tuple[str, ...]
    cautions: tuple[str, ...]
    conclusion: str

    def __repr__(self) -> str:
        return f"ComparisonPlan({self.test}: n={self.n}, power={self.power:.4g})"

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")

    def _title(self) -> str:
        return f"Number of {self.unit} to compare {self.a} and {self.b}"

    def _columns(self) -> Columns:
        low, high = self.confidence_interval
        values = {name: getattr(self, name) for name in COLUMNS}
        return make_columns(values | {"low": low, "high": high, "conclusion": self.conclusion})

    def _shown_columns(self) -> Columns:
        columns = Frozen._shown_columns(self)
        return {name: columns[name] for name in columns if name != "conclusion"}  # it is a sentence

    def _document(self) -> Document:
        parts: list[Part] = [
            Sentence(self.conclusion, "verdict"),
            GAP,
            Table("comparison", "Comparison", ["", "Planned", "Pilot"], self._rows()),
            GAP,
            *(Sentence(each, "line", ()) for each in self.assumptions),
            *([GAP] if self.cautions else []),
            *(Sentence(each, "caution") for each in self.cautions),
        ]
        return Document("", self._short_title(), sections=[Section(parts)], numbers=self.to_dict)

    def _rows(self) -> list[Row]:
        small = f"{self.standard_deviation:.4g}"
        return [
            Row(self.unit, [Cell("-") if self.n is None else Count(self.n), Count(self.pilot_n)]),
            Row(f"{100 * self.confidence_level:.6g} % interval", [Cell(_reach(self.confidence_interval)), Cell("")]),
            Row("power", [Number(self.power), Cell("")]),
            Row("effect", [Number(self.effect), Number(self.pilot_effect)]),
            Row("standard deviation", [Cell(""), Number(self.standard_deviation, written=small)]),
            Row("ties", [Cell(""), Number(self.tied)]),
            Row("method", [Cell(self.method), Cell("")]),
        ]


COLUMNS = (
    "test", "a", "b", "n", "unit", "power", "largest_power", "effect", "standard_deviation", "tied",
    "confidence_level", "method", "pilot_n", "pilot_effect",
)  # fmt: skip
