"""The binomial test of an error rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import check_number, show
from fastevals._validation.arrays import as_array
from fastevals.infer.proportions import share_interval
from fastevals.infer.significance.corrections import PER_TEST_ALPHA, sidak_adjust
from fastevals.infer.significance.decision import Compared, build_result, check_alpha
from fastevals.results import Alternative, Interval, Null, SignificanceResult, tail_probability

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, repr=False)
class BinomialResult(SignificanceResult):
    """Result of `binomial_error_test`, for the run with the smallest p-value if there are several.

    Attributes
    ----------
    n_errors, n_samples : int
        Numbers of errors and rows in the run.
    critical_error_rate : float or Interval
        `critical_value` divided by `n_samples`: the hypothesis is rejected if the error rate is beyond it.
    tail_above : float
        Probability of strictly more errors than observed. Some courses report this figure, but it is not the p-value.
    n_runs : int
        Number of runs from which this run was chosen; `pvalue` and `critical_value` are corrected for that (Sidak).
    """

    n_errors: int = field(kw_only=True)
    n_samples: int = field(kw_only=True)
    critical_error_rate: float | Interval = field(kw_only=True)
    tail_above: float = field(kw_only=True)
    n_runs: int = field(kw_only=True)

    def _details(self) -> list[tuple[str, str]]:
        return [("errors", f"{self.n_errors} of {self.n_samples} rows")]


def binomial_error_test(
    n_errors: ArrayLike,
    n_samples: ArrayLike,
    rate: float,
    *,
    alternative: Alternative = "greater",
    confidence_level: float = 0.95,
) -> BinomialResult:
    """Test whether a learner's error rate is at most a given rate, from its errors on a test set (2.27).

    Parameters
    ----------
    n_errors : int, or array-like of int of shape (n_runs,)
        Number of misclassified rows. If there are several independent runs, each on its own rows, the run with the
        smallest p-value is tested, and p is corrected for that choice (with equal sizes and "greater", it is the worst
        run).
    n_samples : int, or array-like of int of shape (n_runs,)
        Number of rows in the test set, or in each run's test set if these differ.
    rate : float in [0, 1]
        The error rate under the null hypothesis, the book's epsilon_0.
    alternative : {"greater", "less", "two-sided"}
        The claim to test: the error rate is above `rate` (the hypothesis is that it is at most `rate`), below it, or
        not equal to it.
    confidence_level : float in (0, 1)
        Confidence level of the interval; the test is at level ``1 - confidence_level``.

    Returns
    -------
    BinomialResult
        `statistic` is the number of errors, and `critical_value` the number beyond which the hypothesis is rejected.
        `effect` is the error rate, with its Clopper-Pearson interval. A two-sided p-value is the total probability of
        all numbers of errors that are no likelier than the observed number, so it may disagree with the interval at the
        boundary.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    ``critical_error_rate = min{c / m : P(X > c | m, rate) < alpha}`` for m rows (equation 2.27 is misprinted in some
    editions). The p-value is the probability of at least as many errors, P(X >= observed).

    The worst of K runs is worse than a typical run, so P(X > its errors) < alpha is no evidence against the rate. A
    single run's p-value p becomes 1 - (1 - p)^K, and the critical value and the interval use the level 1 - (1 -
    alpha)^(1 / K).

    A test that does not reject does not show that the error rate is at most `rate`. To show this, use
    ``alternative="less"``: if that test rejects, the error rate is below `rate`.

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
    alpha = check_alpha(confidence_level, alternative)
    rate = check_number("rate", rate, low=0, high=1)
    runs = _as_runs(n_errors, n_samples)
    n_runs = len(runs)
    each = PER_TEST_ALPHA["sidak"](alpha, n_runs)
    smallest, errors, rows = min((_pvalue(k, n, rate, alternative), -k, n) for k, n in runs)
    errors = -errors  # so that among equal p-values the run with more errors is chosen
    null = Null("binom", (rows, rate))
    critical = _critical(rows, rate, alternative, each)
    several = n_runs > 1
    return build_result(
        BinomialResult,
        "the binomial test" + (f", corrected for {n_runs} runs (Sidak)" if several else ""),
        Compared("the error rate" + (f" of the most extreme of {n_runs} runs" if several else ""), f"{rate:g}"),
        float(errors),
        float(sidak_adjust(smallest, n_runs)),
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


def _pvalue(errors: int, rows: int, rate: float, alternative: Alternative) -> float:
    """Return the p-value of a number of errors.

    It is the probability of at least as many errors ("greater"), of at most as many ("less") or, if two-sided, of all
    numbers of errors that are no likelier than the given number, up to rounding.
    """
    from scipy import stats

    return float(min(stats.binomtest(errors, rows, rate, alternative=alternative).pvalue, 1.0))


def _critical(rows: int, rate: float, alternative: Alternative, alpha: float) -> float | Interval:
    """Return the number of errors beyond which the hypothesis is rejected; if two-sided, the lower and the upper one.

    If no number on a side is rejected, return the last possible one: 0 below, `rows` above.
    """

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
    """Return the first number in a range for which a monotone condition holds, or the end of the range."""
    while start < stop:
        middle = (start + stop) // 2
        start, stop = (start, middle) if holds(middle) else (middle + 1, stop)
    return start


def fair_null(m: Any) -> Null:
    """Return the distribution of heads in m tosses of a fair coin, or of one side's wins if neither side is better."""
    return Null("binom", (m, 0.5))


def fair_pvalues(b: Any, c: Any, alternative: Alternative, *, mid: bool = False) -> Floats:
    """Return p-values of b heads and c tails, elementwise; with `mid`, the observed outcome counts half."""
    null = fair_null(np.add(b, c))
    fewer = {"two-sided": np.minimum(b, c), "less": b, "greater": c}[alternative]
    pvalue = null.cdf(fewer)
    if mid:
        pvalue = (pvalue + null.cdf(fewer - 1)) / 2
    if alternative == "two-sided":
        pvalue = np.minimum(2 * pvalue, 1.0)
    return np.where(np.add(b, c) == 0, 1.0, pvalue)


def fair_least_kept(m: int, alternative: Alternative, alpha: float, *, mid: bool = False) -> int:
    """Return the smallest number of heads in m tosses that the test (two-sided, or for too few heads) does not reject.

    With `mid` and a small m, every number may be rejected; the result is then above m / 2.
    """
    tails: Alternative = "two-sided" if alternative == "two-sided" else "less"
    # Without mid, the result is the quantile; with mid, it may be the next count. Counts beyond allow for rounding.
    guess = int(fair_null(m).ppf(tail_probability(alpha, alternative)))
    counts = np.arange(max(guess - 1, 0), guess + 3)
    counts = counts[counts <= (m // 2 if tails == "two-sided" else m)]
    kept = fair_pvalues(counts, m - counts, tails, mid=mid) >= alpha
    return int(counts[np.argmax(kept)] if kept.any() else counts[-1] + 1)


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_runs(n_errors: Any, n_samples: Any) -> list[tuple[int, int]]:
    """Return each run's numbers of errors and rows, as Python integers."""
    errors, rows = as_array("n_errors", n_errors), as_array("n_samples", n_samples)
    for name, array in (("n_errors", errors), ("n_samples", rows)):
        if array.dtype.kind not in "iu":
            raise ValueError(f"{name} must be an integer, or integers, got {show(array[()])}")
        if array.ndim > 1 or not array.size:
            raise ValueError(f"{name} must be one number or 1-D, and not empty, got shape {array.shape}")
    if rows.ndim and rows.shape != errors.shape:
        raise ValueError(f"n_samples has shape {rows.shape}, but n_errors has {errors.shape}")
    runs = list(zip(np.atleast_1d(errors).tolist(), np.broadcast_to(rows, errors.shape).ravel().tolist(), strict=True))
    for k, n in runs:
        if n < 1:
            raise ValueError(f"n_samples must be at least 1, got {n}")
        if not 0 <= k <= n:
            raise ValueError(f"n_errors must be from 0 to n_samples, got {k} of {n}")
    return runs
