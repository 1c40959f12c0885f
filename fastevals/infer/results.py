"""What a significance test returns, and the test of a number whose estimate is about normal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from fastevals import _validation as check
from fastevals.measure.results import Frozen, Interval

__all__ = [
    "ALTERNATIVES",
    "MOST_RESAMPLES",
    "ByMetric",
    "Null",
    "SignificanceResult",
    "conclusion_of",
    "conclusion_of_all",
    "level_of",
    "normal_margins",
    "z_test",
]

ALTERNATIVES = ("two-sided", "less", "greater")
MOST_RESAMPLES = 1_000_000_000
RELATION = {"two-sided": "other than", "less": "less than", "greater": "greater than"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ByMetric(Frozen, Mapping[str, Any]):
    """Results by metric, a mapping in the order asked for, and how they were made.

    Attributes
    ----------
    metrics : dict of str to result
        What the mapping holds.
    n_resamples : int
        Bootstrap replicates.
    confidence_level : float
        Of the intervals.
    method : str
        Of the intervals of estimates.
    alternative : str
        Side of the intervals, and of tests.
    """

    metrics: dict[str, Any]
    n_resamples: int
    confidence_level: float
    method: str
    alternative: str

    def __getitem__(self, metric: Any) -> Any:
        if str(metric) not in self.metrics:
            raise KeyError(f"{metric}: the metrics are {', '.join(self.metrics)}")
        return self.metrics[str(metric)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def __repr__(self) -> str:
        shown = "".join(f"\n  {name}: {each!r}" for name, each in self.metrics.items())
        how = f"{self.method}, {self.confidence_level:g}, {self.alternative}, n_resamples={self.n_resamples}"
        return f"{type(self).__name__}({how}{shown})"

    def to_dict(self) -> dict[str, Any]:
        """Give results and settings, arrays as lists."""
        return {**Frozen.to_dict(self), "metrics": {name: each.to_dict() for name, each in self.metrics.items()}}


class Null(NamedTuple):
    """Distribution of a statistic if the hypothesis holds: the name of one in `scipy.stats`, and its parameters."""

    name: str
    parameters: tuple[float, ...] = ()

    def frozen(self) -> Any:
        """Give it as SciPy's distribution, with ``pdf``, ``sf``, ``isf`` and so on."""
        from scipy import stats

        return getattr(stats, self.name)(*self.parameters)


@dataclass(frozen=True, slots=True, repr=False)
class SignificanceResult(Frozen):
    """What a test of a hypothesis gives; unpacks as ``statistic, pvalue``.

    Attributes
    ----------
    statistic : float
        Value of the test statistic; NaN where the test is undefined.
    pvalue : float
        Chance, if the hypothesis holds, of a statistic at least as extreme.
    critical_value : float or Interval
        Beyond it the statistic is rejected at level `alpha`; in absolute value for a two-sided test. An interval, to be
        outside of, for a two-sided test that is not symmetric.
    df : int, tuple of two int, or None
        Degrees of freedom, of a statistic that has them; F has two.
    alternative : {"two-sided", "less", "greater"}
        What the hypothesis is tested against.
    effect : float or None
        Estimate of what is tested, in its own unit.
    confidence_interval : Interval or None
        Of the effect, at the level ``1 - alpha``, on the side of the alternative.
    rejected : bool
        Whether ``pvalue < alpha``.
    conclusion : str
        What follows, in a sentence.
    alpha : float
        Significance level.
    test : str
        What the test is called.
    null : Null or None
        Distribution of the statistic if the hypothesis holds, where it has a name.

    Examples
    --------
    >>> import fastevals
    >>> result = fastevals.delong_test([0, 0, 0, 1, 1, 1], [1, 2, 3, 2, 3, 4], [2, 3, 2, 1, 3, 2])
    >>> result
    SignificanceResult(statistic=1.373, pvalue=0.1698, effect=0.3889, rejected=False)
    >>> statistic, pvalue = result
    """

    statistic: float
    pvalue: float
    critical_value: float | Interval
    df: int | tuple[int, int] | None
    alternative: str
    effect: float | None
    confidence_interval: Interval | None
    rejected: bool
    conclusion: str
    alpha: float
    test: str = ""
    null: Null | None = None

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __repr__(self) -> str:
        effect = "" if self.effect is None else f", effect={self.effect:.4g}"
        return (
            f"{type(self).__name__}(statistic={self.statistic:.4g}, pvalue={self.pvalue:.4g}{effect}, "
            f"rejected={self.rejected})"
        )


def level_of(confidence_level: float) -> tuple[float, float]:
    """Give a checked confidence level and its alpha, rounded as it would be written: 0.05 for 0.95."""
    level = check.check_number("confidence_level", confidence_level, low=0, high=1, open_low=True, open_high=True)
    return level, float(1 - Fraction(repr(level)))


def normal_margins(alpha: float, alternative: str) -> tuple[float, float]:
    """Give the ends of a normal interval in standard errors from the estimate, infinite on a side left open."""
    from scipy.special import ndtri

    margin = -float(ndtri(alpha / 2 if alternative == "two-sided" else alpha))
    return (math.inf if alternative == "less" else margin, math.inf if alternative == "greater" else margin)


def z_test(
    what: str,
    effect: float,
    variance: float,
    bounds: tuple[float, float],
    *,
    alternative: str,
    confidence_level: float,
) -> SignificanceResult:
    """Test whether `what` is 0, given an estimate that is about normal; the interval stays within `bounds`.

    No variance is no doubt: Z is 0 for an effect of 0, else infinite.
    """
    from scipy.special import ndtr, ndtri

    check.check_choice("alternative", alternative, ALTERNATIVES)
    _, alpha = level_of(confidence_level)
    error = math.sqrt(variance)
    if variance == 0:
        z = math.copysign(math.inf, effect) if effect else 0.0
        if effect:
            check.warn_degenerate(f"the test of {what}", "its estimated variance is 0, though its estimate isn't")
    else:
        z = effect / error
    tail = {"two-sided": -abs(z), "less": z, "greater": -z}[alternative]
    pvalue = float(ndtr(tail)) * (2 if alternative == "two-sided" else 1)
    below, above = normal_margins(alpha, alternative)
    low = bounds[0] if below == math.inf else max(effect - below * error, bounds[0])
    high = bounds[1] if above == math.inf else min(effect + above * error, bounds[1])
    if math.isnan(z):
        low = high = math.nan
    critical = float(ndtri(alpha)) if alternative == "less" else min(below, above)
    interval = Interval(low, high)
    conclusion = conclusion_of(what, pvalue, alpha, alternative, interval, no_variance=variance == 0)
    return SignificanceResult(
        z, pvalue, critical, None, alternative, effect, interval, pvalue < alpha, conclusion, alpha,
        "DeLong's test", Null("norm"),
    )  # fmt: skip


def conclusion_of(
    what: str,
    pvalue: float,
    alpha: float,
    alternative: str,
    interval: Interval | None,
    value: float = 0.0,
    *,
    no_variance: bool = False,
) -> str:
    """Say what follows for `what`, which is `value` under the hypothesis.

    Without an interval nothing is said of the values that agree with the data.
    """
    if math.isnan(pvalue):
        return _nothing_follows(what)
    p = _in_words(pvalue)
    claim = f"{what} is {RELATION[alternative]} {value:g}"
    if pvalue < alpha:
        return f"At level {alpha:g}, {claim} ({p})."
    shown = f"At level {alpha:g}, it is not shown that {claim} ({p})"
    if interval is None or math.isnan(interval.low):
        return f"{shown}."
    if no_variance:
        return f"{shown}; with an estimated variance of 0 the data don't say which values agree with them."
    return f"{shown}; values from {interval.low:.3g} to {interval.high:.3g} agree with the data."


def conclusion_of_all(what: str, pvalue: float, alpha: float) -> str:
    """Say what follows for several numbers, `what`, that are the same under the hypothesis."""
    if math.isnan(pvalue):
        return _nothing_follows(what)
    if pvalue < alpha:
        return f"At level {alpha:g}, {what} are not all the same ({_in_words(pvalue)})."
    return f"At level {alpha:g}, it is not shown that any of {what} differ ({_in_words(pvalue)})."


def _nothing_follows(what: str) -> str:
    return f"Nothing follows: the test of {what} is undefined on this data."


def _in_words(pvalue: float) -> str:
    return "p = 0 to a float" if pvalue == 0 else f"p = {pvalue:.3g}"
