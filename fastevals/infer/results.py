"""What a significance test returns, and what all tests share: levels, sides, distributions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.results import Frozen, Interval

__all__ = [
    "ALMOST_ALL",
    "ALTERNATIVES",
    "MOST_RESAMPLES",
    "SIDES",
    "TIED",
    "ByMetric",
    "Names",
    "Null",
    "ResampledByMetric",
    "SignificanceResult",
    "level_of",
    "tail_of",
]

ALTERNATIVES = ("two-sided", "less", "greater")
SIDES: dict[str, Any] = {"two-sided": np.abs, "less": np.negative, "greater": np.positive}
TIED = 1e-9  # relative; statistics as near are equal: each is a difference of resampled values that were rounded
MOST_RESAMPLES = 1_000_000_000
ALMOST_ALL = float(np.nextafter(1.0, 0.0))  # of a level so small that its alpha is 1
Names = Sequence[str] | None  # what conclusions call two learners


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ByMetric(Frozen, Mapping[str, Any]):
    """Results by metric, a mapping in the order asked for.

    Attributes
    ----------
    metrics : dict of str to result
        What the mapping holds.
    labels : ndarray of shape (n_classes,) or None
        Of predicted labels, the classes: the order of a metric's values for each.
    pos_label : label or None
        The positive class; None where there is none, or nobody said which it is.
    """

    metrics: dict[str, Any]
    labels: NDArray[Any] | None = field(default=None, kw_only=True)
    pos_label: Any = field(default=None, kw_only=True)

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
        positive = "" if self.pos_label is None else f", pos_label={check.show(self.pos_label)}"
        return f"{type(self).__name__}({self._how()}{positive}{shown})"

    def _how(self) -> str:
        """Say in a few words how they were made."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResampledByMetric(ByMetric):
    """Results by metric of bootstrap replicates.

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

    n_resamples: int
    confidence_level: float
    method: str
    alternative: str

    def _how(self) -> str:
        return f"{self.method}, {self.confidence_level:g}, {self.alternative}, n_resamples={self.n_resamples}"


class Null(NamedTuple):
    """Distribution of a statistic if the hypothesis holds: the name of one in `scipy.stats`, and its parameters."""

    name: str
    parameters: tuple[float, ...] = ()

    def frozen(self) -> Any:
        """Give it as SciPy's distribution, with ``pdf``, ``support`` and so on."""
        return self._distribution(*self.parameters)

    # SciPy takes ten times as long to freeze a distribution as to answer one of these.

    def cdf(self, values: Any) -> Any:
        """Give the chance of values as small, an array's each."""
        return self._distribution.cdf(values, *self.parameters)

    def sf(self, values: Any) -> Any:
        """Give the chance of values larger."""
        return self._distribution.sf(values, *self.parameters)

    def ppf(self, chances: Any) -> Any:
        """Give where `cdf` is these chances."""
        return self._distribution.ppf(chances, *self.parameters)

    def isf(self, chances: Any) -> Any:
        """Give where `sf` is these chances."""
        return self._distribution.isf(chances, *self.parameters)

    @property
    def _distribution(self) -> Any:
        from scipy import stats

        return getattr(stats, self.name)


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
    df : int, float, tuple of two int, or None
        Degrees of freedom, of a statistic that has them; F has two, Welch's are no whole number.
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
    df: float | tuple[int, int] | None
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


def tail_of(alpha: float, alternative: str) -> float:
    """Give the share of a level on each side that is tested; always below 1, though alpha may be 1 to a float."""
    return alpha / 2 if alternative == "two-sided" else min(alpha, ALMOST_ALL)
