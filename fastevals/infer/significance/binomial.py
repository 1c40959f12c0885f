"""One learner's errors on a test set against a rate: the binomial test, of one run or of the worst of several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from fastevals import _validation as check
from fastevals.infer.proportions import share_interval
from fastevals.infer.results import Null, SignificanceResult
from fastevals.infer.significance.corrections import LEVELS, of_smallest
from fastevals.infer.significance.decision import alpha_of, result_of
from fastevals.measure.results import Interval

__all__ = ["BinomialResult", "binomial_error_test"]


@dataclass(frozen=True, slots=True, repr=False)
class BinomialResult(SignificanceResult):
    """What `binomial_error_test` gives: of the run with the smallest p-value, where there are several.

    Attributes
    ----------
    n_errors, n_samples : int
        Of the run.
    critical_error_rate : float or Interval
        `critical_value` over `n_samples`: the hypothesis is rejected where the error rate is beyond it.
    tail_above : float
        Chance of more errors than were seen, the observed number left out: the course's figure. It is no p-value.
    n_runs : int
        Runs among which this one was chosen, and for which `pvalue` and `critical_value` are corrected (Sidak).
    """

    n_errors: int = field(kw_only=True)
    n_samples: int = field(kw_only=True)
    critical_error_rate: float | Interval = field(kw_only=True)
    tail_above: float = field(kw_only=True)
    n_runs: int = field(kw_only=True)


def binomial_error_test(
    n_errors: ArrayLike,
    n_samples: ArrayLike,
    rate: float,
    *,
    alternative: str = "greater",
    confidence_level: float = 0.95,
) -> BinomialResult:
    """Test whether a learner's error rate is at most a given rate, by its errors on a test set (2.27).

    Parameters
    ----------
    n_errors : int, or array-like of int of shape (n_runs,)
        Misclassified rows; of several independent runs, each on rows of its own, the one with the smallest p-value (for
        equal sizes the worst run, if `alternative` is "greater") is tested, and corrected for being the worst.
    n_samples : int, or array-like of int of shape (n_runs,)
        Rows of the test set, of each run where they differ.
    rate : float in [0, 1]
        The error rate of the hypothesis, the book's epsilon_0.
    alternative : {"greater", "less", "two-sided"}
        What to show of the error rate: that it is above `rate` (the hypothesis is that it is at most `rate`), below,
        or not `rate`.
    confidence_level : float in (0, 1)
        Of the interval; the test is at level ``1 - confidence_level``.

    Returns
    -------
    BinomialResult
        `statistic` is the number of errors, `critical_value` the number beyond which it is rejected, `effect` the error
        rate with its interval by Clopper and Pearson. A two-sided p-value adds up the chances of all numbers no
        likelier than the one seen, so it may disagree with the interval at the edge.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    ``critical_error_rate = min{c / m : P(X > c | m, rate) < alpha}`` for m rows (2.27 is misprinted in some editions),
    and the p-value is the chance of as many errors or more, P(X >= observed).

    The worst of K runs is worse than a run by itself, so P(X > its errors) < alpha shows nothing. The p-value of one
    run, p, becomes 1 - (1 - p)^K, and alpha is 1 - (1 - alpha)^(1 / K) for the critical value and the interval.

    Not to reject is not to show that the error rate is at most `rate`: for that, reject with ``alternative="less"``.

    References
    ----------
    Clopper and Pearson (1934), doi:10.1093/biomet/26.4.404. Sidak (1967), doi:10.1080/01621459.1967.10482935.

    Examples
    --------
    >>> import fastevals
    >>> result = fastevals.binomial_error_test(5, 10, 0.3)
    >>> result
    BinomialResult(statistic=5, pvalue=0.1503, effect=0.5, rejected=False)
    >>> result.critical_error_rate, round(result.tail_above, 4)
    (0.5, 0.0473)
    """
    alpha = alpha_of(confidence_level, alternative)
    rate = check.check_number("rate", rate, low=0, high=1)
    runs = check.as_runs(n_errors, n_samples)
    n_runs = len(runs)
    each = LEVELS["sidak"](alpha, n_runs)
    smallest, errors, rows = min((_pvalue(k, n, rate, alternative), -k, n) for k, n in runs)
    errors = -errors  # of equal p-values the one with more errors
    null = Null("binom", (rows, rate))
    critical = _critical(rows, rate, alternative, each)
    several = n_runs > 1
    return result_of(
        BinomialResult,
        "the binomial test" + (f", corrected for {n_runs} runs (Sidak)" if several else ""),
        "the error rate" + (f" of the most extreme of {n_runs} runs" if several else ""),
        float(errors),
        float(of_smallest(smallest, n_runs)),
        critical,
        alternative=alternative,
        alpha=alpha,
        effect=errors / rows,
        interval=Interval(*map(float, share_interval(errors, rows - errors, "clopper-pearson", each, alternative))),
        value=rate,
        null=null,
        n_errors=errors,
        n_samples=rows,
        critical_error_rate=(
            Interval(critical.low / rows, critical.high / rows) if isinstance(critical, Interval) else critical / rows
        ),
        tail_above=float(null.sf(errors)),
        n_runs=n_runs,
    )


def _pvalue(errors: int, rows: int, rate: float, alternative: str) -> float:
    """Give the chance of so many errors or more; or fewer; or of any number no likelier (with a slack for rounding)."""
    from scipy import stats

    return float(min(stats.binomtest(errors, rows, rate, alternative=alternative).pvalue, 1.0))


def _critical(rows: int, rate: float, alternative: str, alpha: float) -> float | Interval:
    """Give the number of errors beyond which the hypothesis is rejected; none is where that is past all."""

    def rejected(errors: int) -> bool:
        return _pvalue(errors, rows, rate, alternative) < alpha

    mode = min(int((rows + 1) * rate), rows) if alternative == "two-sided" else None
    high = float(_first(mode or 0, rows + 1, rejected) - 1)
    if alternative == "greater":
        return high
    start = rows if mode is None else mode
    low = float(start - _first(0, start + 1, lambda steps: rejected(start - steps)) + 1)
    return low if mode is None else Interval(low, high)


def _first(start: int, stop: int, holds: Callable[[int], bool]) -> int:
    """Give the first number of a range for which something holds that goes on holding, or its stop."""
    while start < stop:
        middle = (start + stop) // 2
        start, stop = (start, middle) if holds(middle) else (middle + 1, stop)
    return start
