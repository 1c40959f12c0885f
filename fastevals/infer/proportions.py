"""Intervals of metrics that are proportions, from the counts of a confusion matrix."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_choice
from fastevals._validation.arrays import refuse_weighted
from fastevals._validation.curves import check_kind
from fastevals._validation.labels import check_positive_known, check_two_classes
from fastevals.counts import Cells
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.registry import METRICS, name_among
from fastevals.results import Alternative, Interval, check_confidence_level, number_or_array, tail_probability

Floats = NDArray[np.float64]

SHARES = {name: entry for name, entry in METRICS.items() if entry.trials}
ProportionMethod = Literal["wilson", "clopper-pearson"]
ProportionAverage = Literal["binary", None, "micro"]
MEAN_AVERAGES = ("macro", "weighted")
USE_BOOTSTRAP = "use bootstrap for its interval"


def proportion_interval(
    matrix: ConfusionMatrix,
    metric: str,
    *,
    method: ProportionMethod = "wilson",
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    average: ProportionAverage = "binary",
) -> Interval:
    """Compute the confidence interval of a metric that is a proportion of rows, such as accuracy or recall.

    Rows must be independent. The number of trials is treated as fixed: all rows for accuracy, the positive rows for
    recall, and the rows predicted positive for precision. The interval is too optimistic if the threshold was chosen on
    the same rows, and too narrow if rows are clustered.

    Parameters
    ----------
    matrix : ConfusionMatrix
        One matrix or a stack, without weights.
    metric : str
        "accuracy" or "error_rate", for any number of classes; "precision", "recall", "specificity",
        "false_positive_rate", "false_negative_rate", "negative_predictive_value", "prevalence" or "prediction_rate",
        for one class.
    method : {"wilson", "clopper-pearson"}
        Wilson's score interval without continuity correction has, on average, a coverage close to the level. The exact
        interval of Clopper and Pearson is wider; its coverage is never below the level.
    confidence_level : float in (0, 1)
        Confidence level of each interval (not simultaneous).
    alternative : {"two-sided", "less", "greater"}
        "greater" returns only lower bounds (the high ends are 1); "less" returns only upper bounds (low ends are 0).
    average : {"binary", None, "micro"}
        The class that a per-class metric is for. "binary": the positive class of a binary matrix, `matrix.pos_label`.
        None: each class against the rest. "micro": all classes, with their counts added up.

    Returns
    -------
    Interval
        ``low`` and ``high``, floats or arrays of the stack's shape; ``average=None`` adds an axis of classes. With no
        successes ``low`` is 0, with no failures ``high`` is 1, and with no trials both are NaN.

    Raises
    ------
    ValueError
        If an option is unknown; if `matrix` is not a ConfusionMatrix, has weights, or is averaged by `macro()`; or if
        the average is not a proportion. "macro" and "weighted" are means of proportions, and "micro" may count a row
        several times as a negative if there are more than two classes: use `bootstrap` for these.

    Warns
    -----
    UndefinedMetricWarning
        If there are no trials.

    References
    ----------
    Wilson (1927), doi:10.1080/01621459.1927.10502953. Clopper and Pearson (1934), doi:10.1093/biomet/26.4.404.

    Examples
    --------
    >>> import fastevals
    >>> matrix = fastevals.ConfusionMatrix([[85, 5], [2, 8]])
    >>> low, high = fastevals.proportion_interval(matrix, "recall")
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    >>> fastevals.proportion_interval(matrix, "precision", average=None, alternative="greater").low.round(4)
    array([0.9329, 0.3926])
    """
    check_kind("matrix", matrix, ConfusionMatrix)
    metric = name_among("metric", metric, SHARES)
    check_choice("method", method, ProportionMethod)
    check_choice("alternative", alternative, Alternative)
    _, alpha = check_confidence_level(confidence_level)
    _check_counts(matrix)
    _check_average(metric, average, matrix)
    low, high = share_interval(*_outcomes(matrix, metric, average), method, alpha, alternative)
    return Interval(matrix._warned_values(f"the interval of {metric}", low), number_or_array(high))


def share_interval(
    successes: Any, failures: Any, method: str, alpha: float, alternative: Alternative
) -> tuple[Floats, Floats]:
    """Return the interval of a proportion from counts, elementwise; NaN if there are no trials."""
    successes, failures = (np.asarray(each, dtype=np.float64) for each in (successes, failures))
    low, high = METHODS[method](successes, failures, tail_probability(alpha, alternative))
    low = np.where((successes == 0) | (alternative == "less"), 0.0, low)
    high = np.where((failures == 0) | (alternative == "greater"), 1.0, high)
    no_trials = successes + failures == 0
    return np.where(no_trials, np.nan, low), np.where(no_trials, np.nan, high)


def _check_counts(matrix: ConfusionMatrix[Any]) -> None:
    """Raise if the matrix is weighted or averaged over classes."""
    counts = matrix.counts
    if matrix._mean_axes:
        raise ValueError(
            f"matrix must not be averaged by macro(), got {matrix!r}: a mean of proportions is not a proportion; "
            f"{USE_BOOTSTRAP}"
        )
    if counts.dtype.kind == "f":
        refuse_weighted("matrix", matrix)


def _check_average(metric: str, average: Any, matrix: ConfusionMatrix[Any]) -> None:
    """Raise unless the average of a metric over classes is a proportion of rows."""
    n_classes = matrix.counts.shape[-1]
    if isinstance(average, str) and average in MEAN_AVERAGES:
        raise ValueError(f"average={average!r} is a mean of proportions, not a proportion; {USE_BOOTSTRAP}")
    check_choice("average", average, ProportionAverage)
    if SHARES[metric].trials == "rows":
        if average != "binary":
            raise ValueError(f"average applies only to metrics of a class, not to {metric}; got {average!r}")
    elif average == "binary":
        check_two_classes("average='binary'", n_classes, get_args(ProportionAverage))
        check_positive_known(metric, matrix._classes)
    elif average == "micro" and SHARES[metric].trials not in ("positives", "predicted") and n_classes > 2:
        times = n_classes if SHARES[metric].trials == "rows by class" else n_classes - 1
        raise ValueError(
            f"average='micro' of {metric} counts a row up to {times} times, so it is not a proportion; {USE_BOOTSTRAP}"
        )


def outcomes(metric: str, cells: Cells) -> tuple[Any, Any]:
    """Return the numbers of successes and failures for a metric that is a proportion."""
    parts = SHARES[metric].parts
    assert parts is not None
    successes, trials = parts(cells)
    return successes, trials - successes


def _outcomes(matrix: ConfusionMatrix[Any], metric: str, average: str | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return numbers of successes and failures in the stack's shape; ``average=None`` adds a last axis of classes."""
    if SHARES[metric].trials == "rows":
        zeros = np.zeros_like(matrix._right())
        return outcomes(metric, Cells(matrix._right(), matrix._wrong(), zeros, zeros))
    successes, failures = outcomes(metric, matrix._one_vs_rest())
    if average == "binary":
        return successes[..., 1], failures[..., 1]
    if average == "micro":
        return successes.sum(axis=-1), failures.sum(axis=-1)
    return successes, failures


def _wilson(successes: Floats, failures: Floats, tail: float) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's interval; the low end is above the high end if `tail` is above 0.5."""
    from scipy.special import ndtri

    z = -float(ndtri(tail))
    smaller, larger = score_limits(successes, failures, abs(z))
    return (smaller, larger) if z >= 0 else (larger, smaller)


def score_limits(successes: Floats, failures: Floats, z: Any) -> tuple[Floats, Floats]:
    """Return the two solutions p of (successes / n - p)^2 = z^2 p (1 - p) / n, for z from 0 on.

    The smaller solution is computed from the product of the two solutions, because a difference would lose digits if
    successes are rare.
    """
    n = successes + failures
    with np.errstate(invalid="ignore", divide="ignore"):
        root = z * np.sqrt(z * z + 4 * successes * (failures / n))
        larger = np.minimum((2 * successes + z * z + root) / (2 * (n + z * z)), 1.0)
        smaller = 2 * successes * (successes / n) / (2 * successes + z * z + root)
    return smaller, larger


def _clopper_pearson(successes: Floats, failures: Floats, tail: float) -> tuple[Floats, Floats]:
    """Return two success rates, the ends of the interval.

    At the first rate, the chance of this many or more successes is `tail`. At the second rate, the chance of this many
    or fewer successes is `tail`.
    """
    from scipy.special import betainc, betaincc, betainccinv, betaincinv

    def ends(rare: Floats, rest: Floats) -> tuple[Floats, Floats]:
        low = checked_quantile(betaincinv, betainc, rare, rest + 1, tail)
        return low, checked_quantile(betainccinv, betaincc, rare + 1, rest, tail)

    (low, high), (low_rest, high_rest) = ends(successes, failures), ends(failures, successes)
    often = successes > failures  # near 1 only the distance of a quantile from 1 is precise
    return np.where(often, 1 - high_rest, low), np.where(often, 1 - low_rest, high)


def checked_quantile(inverse: Any, function: Any, a: Floats, b: Floats, tail: float | Floats) -> Floats:
    """Return the arguments at which a function of the beta distribution equals `tail`; NaN if there is none.

    SciPy's inverse is wrong for a = 1000 and b >= 10^8 (as of 1.17), and NaN for larger b (before 1.17). So its values
    are checked, and wrong ones are replaced by a root search.
    """
    from scipy.optimize import brentq

    values = np.asarray(inverse(a, b, tail))
    with np.errstate(invalid="ignore"):
        right = np.abs(function(a, b, values) - tail) <= 1e-6 * tail
    wrong, tails = ~right & (a > 0) & (b > 0), np.broadcast_to(tail, values.shape)
    for place in map(tuple, np.argwhere(wrong)):

        def excess(log: float, a: float = a[place], b: float = b[place], tail: float = tails[place]) -> float:
            return float(function(a, b, np.exp(log)) - tail)

        values[place] = np.exp(brentq(excess, -700.0, 0.0, xtol=1e-14))
    return values


METHODS = {"wilson": _wilson, "clopper-pearson": _clopper_pearson}
