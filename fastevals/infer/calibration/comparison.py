"""Differences in calibration between models: on the same rows, or on two sets without common rows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._options import show
from fastevals._validation.tables import as_pair_of_names
from fastevals.infer.calibration.calibrations import Calibration, CalibrationComparison
from fastevals.infer.calibration.estimates import Spread
from fastevals.infer.comparison import Difference, draw_normal
from fastevals.infer.significance.decision import normal_margins
from fastevals.results import NOWHERE, Interval, PairNames, check_confidence_level

Floats = NDArray[np.float64]

COMPARED = ("log_ratio", "intercept", "slope")  # in the order of `QUANTITIES`
DRAWS, SEED = 99_999, 43  # draws of the joint distribution of all pairs' differences


def compare_paired(
    results: list[Calibration], spread: Spread, names: list[Any], pairs: NDArray[np.intp], confidence_level: float
) -> dict[str, tuple[Difference, ...]]:
    """Return the differences between models on the same rows, simultaneous over all pairs.

    Divided by their standard errors, the differences of all pairs jointly follow a multivariate t distribution, which
    the estimates' covariance determines. The largest of their absolute values is simulated (max-T); for a single pair,
    its quantiles are known.
    """
    found = {}
    for q, quantity in enumerate(COMPARED):
        covariance = spread.covariance[q]
        known = np.isfinite(np.diagonal(covariance))
        df = float(spread.degrees[q, known].min()) if known.any() else math.nan
        values = np.array([each._value_and_variance(quantity)[0] for each in results])
        effects = values[pairs[:, 0]] - values[pairs[:, 1]]
        variances = np.array([covariance[a, a] + covariance[b, b] - 2 * covariance[a, b] for a, b in pairs])
        errors = np.sqrt(np.maximum(variances, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            statistics = np.where((errors == 0) & (effects == 0), 0.0, np.abs(effects) / errors)
        margin, adjusted = _simultaneous(covariance, errors, statistics, pairs, df, confidence_level)
        found[quantity] = tuple(
            _difference(names[a], names[b], effects[k], errors[k], statistics[k], adjusted[k], margin, df)
            for k, (a, b) in enumerate(pairs.tolist())
        )
    return found


def _simultaneous(
    covariance: Floats, errors: Floats, statistics: Floats, pairs: NDArray[np.intp], df: float, level: float
) -> tuple[float, Floats]:
    """Return the quantile of the largest deviation of any pair, in standard errors, and the adjusted p-values."""
    alone = _pvalue(statistics, df)
    used = np.isfinite(errors) & (errors > 0)
    if np.count_nonzero(used) < 2:
        return normal_margins(check_confidence_level(level)[1], "two-sided", df)[0], alone
    rng = np.random.Generator(np.random.Philox(SEED))
    drawn = draw_normal(covariance, DRAWS, rng) / np.sqrt(rng.chisquare(df, DRAWS) / df)[:, None]
    largest = np.zeros(DRAWS)
    for (a, b), error in zip(pairs[used], errors[used], strict=True):
        np.maximum(largest, np.abs(drawn[:, a] - drawn[:, b]) / error, out=largest)
    largest.sort()
    reached = DRAWS - np.searchsorted(largest, statistics)
    adjusted = np.where(np.isnan(statistics), math.nan, np.maximum((1 + reached) / (1 + DRAWS), alone))
    # Beyond the draws, the tail of a single pair times the number of pairs is as exact.
    return float(np.quantile(largest, level)), np.fmin(adjusted, np.count_nonzero(used) * alone)


def _pvalue(statistics: Any, df: Any) -> Any:
    from scipy.special import stdtr

    return 2 * stdtr(df, -np.abs(statistics))


def _difference(
    model: Any, reference: Any, effect: float, error: float, statistic: float, adjusted: float, margin: float, df: float
) -> Difference:
    effect, error = float(effect), float(error)
    interval = NOWHERE if math.isnan(error) else Interval(effect - margin * error, effect + margin * error)
    return Difference(model, reference, effect, interval, error, float(adjusted), float(_pvalue(statistic, df)))


def calibration_unpaired(
    subject: Calibration, reference: Calibration, *, names: PairNames = None, confidence_level: float = 0.95
) -> CalibrationComparison:
    """Compare the calibration of two disjoint sets of rows, such as this month's and last month's.

    Parameters
    ----------
    subject, reference : Calibration
        Results of `calibration`, which must not have rows or clusters in common. For models on the same rows, pass all
        of them to `calibration`.
    names : (str, str), optional
        Names of the two in the comparison. By default, each `Calibration`'s own name if both have one and the two
        differ; otherwise "subject" and "reference".
    confidence_level : float in (0, 1)
        Confidence level of each interval (not simultaneous over log ratio, intercept and slope).

    Returns
    -------
    CalibrationComparison
        Both results, and the differences in "log_ratio", "intercept" and "slope": subject minus reference, with
        Student's t and Welch's degrees of freedom.

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Welch (1947), doi:10.1093/biomet/34.1-2.28.

    Examples
    --------
    >>> import fastevals
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.random((2, 1000))
    >>> today = fastevals.calibration(rng.random(1000) < p, p)
    >>> before = fastevals.calibration(rng.random(1000) < q**2, q)
    >>> fastevals.calibration_unpaired(today, before, names=("today", "before")).differences["log_ratio"]
    (Difference(today - before: -0.4412, [-0.5306, -0.3519], p=1.19e-21),)
    """
    alpha = check_confidence_level(confidence_level)[1]
    for name, value in (("subject", subject), ("reference", reference)):
        if not isinstance(value, Calibration):
            raise ValueError(f"{name} must be a Calibration of one model, as calibration returns it, got {show(value)}")
    own = (subject.name, reference.name)
    usual = ("subject", "reference") if None in own or own[0] == own[1] else own
    first, second = as_pair_of_names(names, usual)
    found: dict[str, tuple[Difference, ...]] = {}
    for q, quantity in enumerate(COMPARED):
        (a, variance_a), (b, variance_b) = (each._value_and_variance(quantity) for each in (subject, reference))
        error = math.sqrt(variance_a + variance_b)
        df_a, df_b = (float(each._degrees[q]) for each in (subject, reference))
        df = error**4 / (variance_a**2 / df_a + variance_b**2 / df_b) if error > 0 else math.nan
        margin = normal_margins(alpha, "two-sided", df)[0]
        pvalue = float(_pvalue((a - b) / error, df)) if error else math.nan
        found[quantity] = (
            _difference(first, second, a - b, error, (a - b) / error if error else math.nan, pvalue, margin, df),
        )
    return CalibrationComparison({first: replace(subject, name=first), second: replace(reference, name=second)}, found)
