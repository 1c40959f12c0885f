"""Estimates from forecasts: sums, recalibration, and standard errors by the jackknife.

Logistic recalibration fits the outcome's log-odds as a line in the log-odds of the probability. Standard errors follow
from how estimates change without one row or one cluster. The ratio is recomputed from the sums without this unit. The
recalibration takes one Newton step from the fit of all units, which is the sandwich estimator known as HC3 for rows and
as CR3 for clusters. With few clusters its intervals contain the true value more often than intervals from sums of
squared influences (CR1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import ROWS_PER_BLOCK
from fastevals.infer.calibration.bins import BinOptions
from fastevals.infer.calibration.calibrations import (
    QUANTITIES,
    Calibration,
    CalibrationEstimate,
    finite_exp,
    limits,
    log_limits,
)
from fastevals.infer.calibration.condensing import condense, is_smooth
from fastevals.infer.calibration.forecasts import Block, CountedForecasts, Forecasts
from fastevals.infer.significance.decision import Compared, build_result, normal_margins
from fastevals.results import NOWHERE, Null, SignificanceResult, check_confidence_level

Floats = NDArray[np.float64]

MOST_STEPS = 100  # of Newton's method, which usually needs 5 to 8
SMALL_STEP = 1e-8  # relative to the line: after a smaller step, the error is about the square of it
LARGEST_MOVE = 30.0  # of log-odds in a step
LEAST_INFORMATION = 1e-200  # below it, a step is not along the exact direction
MANY_ENTRIES = 1 << 18  # distinct probabilities, from which on condensing takes less time than it saves
THINNING = 16  # with many entries, one of so many is enough to come close to the line
LEAST_DEGREES = 0.5  # of freedom, below which an estimate has no interval
LEAST_SPREAD = 1e-10  # of log-odds: within a smaller spread no slope can be told from rounding
N_SUMS = 10  # of a unit: see `_sums`


@dataclass(slots=True)
class Totals:
    """Sums over all rows for one model; arrays hold one value for each outcome, (negatives, positives).

    Attributes
    ----------
    rows, weight : ndarray of shape (2,)
        Number of rows and their weight.
    effective, inner : ndarray of shape (2,)
        Effective number of rows (Kish's, for weights): of all rows, and of the rows whose probability is neither 0 nor
        1.
    predicted : float
        Sum of the weighted probabilities.
    excess : float
        Sum of the weighted squared errors minus its expectation if the probabilities are true.
    null_variances : ndarray of shape (2,)
        The variance of `predicted` minus the observed sum, and the variance of `excess`, if the probabilities are true
        and rows are independent.
    lowest, highest : ndarray of shape (2,)
        Range of the log-odds, without probabilities of 0 and 1.
    contradictions : float
        Number of rows with probability 0 or 1 and the other outcome.
    center : float
        Mean of the log-odds.
    """

    rows: Floats
    weight: Floats
    effective: Floats
    inner: Floats
    predicted: float
    excess: float
    null_variances: Floats
    lowest: Floats
    highest: Floats
    contradictions: float
    center: float

    @classmethod
    def of(cls, forecasts: Forecasts, n_models: int) -> list[Totals]:
        """Add up the rows of each model."""
        parts = forecasts.sweep(lambda block: [_totals_of(block, k) for k in range(n_models)])
        return [cls._joined([part[k] for part in parts], forecasts.is_weighted) for k in range(n_models)]

    @classmethod
    def _joined(cls, parts: list[tuple[Floats, Floats, Floats]], is_weighted: bool) -> Totals:
        stacked, lowest, highest = (np.stack(each) for each in zip(*parts, strict=True))
        sums = stacked.sum(axis=0)
        if not is_weighted:
            sums[:5] = np.round(sums[:5])  # numbers of rows, also of parts of rows
        rows, weight, squares, inner, inner_squares, variances, *others = sums
        (predicted, excess), (log_odds, contradictions) = others
        total = float(inner.sum())
        effective, inner = (
            np.divide(each**2, squared, out=np.zeros(2), where=squared > 0)
            for each, squared in ((weight, squares), (inner, inner_squares))
        )
        return cls(
            rows, weight, effective, inner, float(predicted), float(excess), variances,
            lowest.min(axis=0), highest.max(axis=0), float(contradictions), float(log_odds / total) if total else 0.0,
        )  # fmt: skip


def logits_of(block: Block, k: int) -> tuple[Floats, Floats]:
    """Return the log-odds of a model's probabilities, and the weights; entries of 0 or 1 have log-odds and weight 0."""
    p, weights = block.p[k], block.weights
    extreme = (p == 0) | (p == 1)
    if extreme.any():
        p, weights = np.where(extreme, 0.5, p), np.where(extreme, 0.0, weights)
    return np.log(p / (1 - p)), weights


def _totals_of(block: Block, k: int) -> tuple[Floats, Floats, Floats]:
    p, (negatives, positives), rows = block.p[k], block.weights, block.rows()
    x, inner = logits_of(block, k)
    steepness, total = 1 - 2 * p, negatives + positives
    variance = block.squares.sum(axis=0) * p * (1 - p)
    contradictions = float(rows[1, p == 0].sum() + rows[0, p == 1].sum())
    sums = [
        rows.sum(axis=1),
        block.weights.sum(axis=1),
        block.squares.sum(axis=1),
        inner.sum(axis=1),
        (block.squares * (inner > 0)).sum(axis=1),
        [float(variance.sum()), float((variance * steepness**2).sum())],
        [float((total * p).sum()), float(((positives - total * p) * steepness).sum())],
        [float((inner * x).sum()), contradictions],
    ]
    ends = [x[side > 0] for side in inner]
    lowest, highest = [each.min(initial=np.inf) for each in ends], [each.max(initial=-np.inf) for each in ends]
    return np.array(sums), np.array(lowest), np.array(highest)


class RecalibrationLine(NamedTuple):
    """A line in the centred log-odds, or the reason why there is none, and the information matrix at it.

    Attributes
    ----------
    intercept, slope : float
        The log-odds of a positive are ``intercept + slope * (x - center)`` for log-odds x of the probability.
    center : float
        Where the intercept is measured.
    information : ndarray of shape (2, 2)
        Negative second derivatives of the log-likelihood.
    missing : str
        Why there is no line; empty if there is one.
    """

    intercept: float
    slope: float
    center: float
    information: Floats
    missing: str = ""


def no_fit(missing: str) -> RecalibrationLine:
    """Return a fit without numbers."""
    return RecalibrationLine(np.nan, np.nan, 0.0, np.full((2, 2), np.nan), missing)


def fit_both(forecasts: Forecasts, totals: Totals, k: int) -> tuple[RecalibrationLine, RecalibrationLine]:
    """Fit a line with slope 1, and a line with any slope, to a model's forecasts."""
    missing = why_no_intercept(totals), why_no_slope(totals)
    lines = [_Climber(totals, free) for free, reason in zip((1, 2), missing, strict=True) if not reason]
    for step in (THINNING, 1) if forecasts.size > THINNING * ROWS_PER_BLOCK else (1,):
        _climb(forecasts, k, lines, step)
    found = iter(lines)
    with_slope_1, line = (no_fit(reason) if reason else next(found).fit() for reason in missing)
    return with_slope_1, line


def why_no_intercept(totals: Totals) -> str:
    """Return why no line fits; empty if one does."""
    if totals.contradictions:
        n, is_one = f"{totals.contradictions:,.0f}", totals.contradictions == 1
        return (
            f"{n} row{'' if is_one else 's'} with probability 0 or 1 {'has' if is_one else 'have'} the other outcome; "
            "clip the probabilities"
        )
    for place, side in enumerate(("negatives", "positives")):
        if not totals.weight[place]:
            return f"there are no {side}"
        if totals.lowest[place] == np.inf:
            return f"all {side} have probability {place}"
    return ""


def why_no_slope(totals: Totals) -> str:
    """Return why a line has no slope; empty if it has one."""
    low, high = totals.lowest, totals.highest
    if reason := why_no_intercept(totals):
        return reason
    if high.max() - low.min() <= LEAST_SPREAD * max(abs(high.max()), abs(low.min()), 1.0):
        return "all rows have the same probability"
    return "a threshold separates the classes, so it is infinite" if high[0] <= low[1] or high[1] <= low[0] else ""


class _Climber:
    """A line that Newton's method moves towards the highest likelihood.

    A line with slope 1 starts as the line of calibrated probabilities, and one with any slope as a constant. The
    likelihood is concave. No step changes log-odds by more than `LARGEST_MOVE`. If the likelihood clearly falls at the
    end of a step, the step went too far and is halved.
    """

    at: Floats  # intercept and slope

    def __init__(self, totals: Totals, n_free: int) -> None:
        self.center, self.n_free = totals.center, n_free
        self.reach = max(totals.highest.max() - totals.center, totals.center - totals.lowest.min())
        negatives, positives = totals.weight.tolist()
        self.first = [totals.center, 1.0] if n_free == 1 else [math.log(positives) - math.log(negatives), 0.0]
        self.done = False
        self.start()

    def start(self) -> None:
        """Start a climb, from the present line if another climb ended there."""
        if not self.done:
            self.at = np.array(self.first)
        self.information = np.full((2, 2), np.nan)
        self.step, self.rise, self.done = np.zeros(2), 0.0, False

    def fit(self) -> RecalibrationLine:
        """Return the line."""
        if not self.done:
            return no_fit("the probabilities are too close to 0 or 1")
        return RecalibrationLine(float(self.at[0]), float(self.at[1]), self.center, self.information)

    def move(self, scores: Floats, information: Floats) -> None:
        """Take the next step, given the derivatives of the log-likelihood at the present line."""
        if scores @ self.step < -self.rise / 2:
            self.step, self.rise = self.step / 2, self.rise / 2
            self.at = self.at - self.step
            return
        self.information = information
        (flat, tilted), (_, curved) = (information + np.eye(2) * LEAST_INFORMATION).tolist()
        one, of_x = scores.tolist()
        determinant = flat * curved - tilted * tilted
        if self.n_free == 1:
            step = np.array([one / flat, 0.0])
        elif determinant > LEAST_INFORMATION:
            step = np.array([curved * one - tilted * of_x, flat * of_x - tilted * one]) / determinant
        else:
            step = np.array([one / flat, of_x / curved])
        self.step = step * min(1.0, LARGEST_MOVE / max(abs(step[0]) + abs(step[1]) * self.reach, LARGEST_MOVE))
        self.at, self.rise = self.at + self.step, float(scores @ self.step)
        self.done = bool(np.abs(self.step).max() <= SMALL_STEP * max(np.abs(self.at).max(), 1.0))


def _climb(forecasts: Forecasts, k: int, lines: list[_Climber], step: int) -> None:
    """Move lines to the highest likelihood of every `step`-th entry."""
    for line in lines:
        line.start()
    for _ in range(MOST_STEPS):
        moving = [line for line in lines if not line.done]
        if not moving:
            return
        for line, derivatives in zip(moving, _derivatives(forecasts, k, moving, step), strict=True):
            one, of_x, flat, tilted, curved = derivatives
            line.move(np.array([one, of_x]), np.array([[flat, tilted], [tilted, curved]]))


def _derivatives(forecasts: Forecasts, k: int, lines: list[_Climber], step: int) -> list[list[float]]:
    """Return, for each line, the first derivatives of the log-likelihood and the negative second derivatives."""

    def add(block: Block) -> Floats:
        x, (negatives, positives) = logits_of(block, k)
        x, total = x - lines[0].center, negatives + positives
        sums = []
        for line in lines:
            chance = chance_of(line.at[0] + line.at[1] * x)
            expected = total * chance
            residual, steepness = positives - expected, expected * (1 - chance)
            of_x = steepness * x
            sums.append([residual.sum(), (residual * x).sum(), steepness.sum(), of_x.sum(), (of_x * x).sum()])
        return np.array(sums)

    return np.sum(forecasts.sweep(add, step), axis=0).tolist()  # type: ignore[no-any-return]


def chance_of(log_odds: Floats) -> Floats:
    """Return the probability of a positive, given its log-odds."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-log_odds)))


# Standard errors ----------------------------------------------------------------------------------------------------


class Model(NamedTuple):
    """The sums and fits of one model."""

    totals: Totals
    with_slope_1: RecalibrationLine
    line: RecalibrationLine

    def values(self) -> Floats:
        """Return the values of `QUANTITIES` (the logarithm of the ratio); NaN where undefined."""
        line, observed = self.line, self.totals.weight[1]
        intercept = self.with_slope_1.intercept - self.with_slope_1.center
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            log_ratio = np.log(self.totals.predicted / observed) if observed and self.totals.predicted else np.nan
        return np.array([log_ratio, intercept, line.slope, line.intercept - line.slope * line.center])

    def is_smooth(self) -> bool:
        """Return whether condensed forecasts have these sums and fits."""
        return is_smooth(self.totals.lowest.min(), self.totals.highest.max(), self.line.slope)


class Spread(NamedTuple):
    """The sampling distribution of the estimates.

    Attributes
    ----------
    covariance : ndarray of shape (4, n_models, n_models)
        Covariance between models of each of `QUANTITIES` (for the ratio, of the logarithm).
    degrees : ndarray of shape (4, n_models)
        Degrees of freedom of Student's t for each of `QUANTITIES`. For a slope, these are at most the effective number
        of inner rows of the rarer class minus 1, because inner rows determine the variance. For the others, they
        approach the effective number of rows of the rarer class minus 1 the less equal weights are, because a few heavy
        rows then determine the variance. Covariances with fewer than `LEAST_DEGREES` are NaN.
    null_variances : ndarray of shape (n_models, 2)
        Variances of the predicted minus the observed sum, and of the excess of the squared error, if the probabilities
        are true.
    """

    covariance: Floats
    degrees: Floats
    null_variances: Floats


def spread_of(forecasts: Forecasts, models: list[Model]) -> Spread:
    """Return the covariance of the estimates."""
    n_models = len(models)
    if forecasts.n_clusters is None:
        products = np.sum(forecasts.sweep(lambda block: _products_of_rows(block, models)), axis=0)
        n_units = float(models[0].totals.rows.sum())
        null_variances = np.stack([model.totals.null_variances for model in models])
    else:
        n_units = float(forecasts.n_clusters)
        sums = np.zeros((n_models, N_SUMS, forecasts.n_clusters))
        for block in forecasts.blocks(forecasts.n_clusters):
            assert block.clusters is not None
            for k, model in enumerate(models):
                for total, values in zip(sums[k], _sums(block, k, model, *block.weights), strict=True):
                    total += np.bincount(block.clusters, values, total.size)
        off = np.stack([sums[:, 0] - sums[:, 1], sums[:, 2]], axis=1)
        null_variances = np.square(off).sum(axis=2) if n_units > 1 else np.full((n_models, 2), np.nan)
        moved = np.stack([_without(each, model) for each, model in zip(sums, models, strict=True)])
        products = _products(moved, np.ones(moved.shape[-1]))
    with np.errstate(invalid="ignore"):  # a single unit
        covariance = products * ((n_units - 1) / n_units)
    degrees = np.full((len(QUANTITIES), n_models), n_units - 1)
    degrees[2:] = np.minimum(degrees[2:], [model.totals.inner.min() - 1 for model in models])
    if forecasts.is_weighted:
        effective, rows = (np.stack([getattr(m.totals, name) for m in models]) for name in ("effective", "rows"))
        with np.errstate(divide="ignore", invalid="ignore"):  # a class without rows, or with one
            equality = np.minimum(effective / rows, 1.0).min(axis=1)
            degrees[:2] = 1 / (equality / (n_units - 1) + (1 - equality) / (effective.min(axis=1) - 1))
    covariance[~(degrees >= LEAST_DEGREES)] = np.nan
    covariance[np.isinf(covariance)] = np.nan
    return Spread(covariance, degrees, null_variances)


def _products_of_rows(block: Block, models: list[Model]) -> Floats:
    """Return the sums over rows of products of changes; rows of one entry and class have equal weights."""
    rows, (negatives, positives) = block.rows(), block.weights
    weight = (block.weights > 0).astype(np.float64)
    if block.squares is not block.weights:
        weight = np.divide(block.squares, block.weights, out=weight, where=weight > 0)
    nothing = np.zeros_like(negatives)
    sides = [((weight[0], nothing), rows[0]), ((nothing, weight[1]), rows[1])]
    if not ((negatives > 0) & (positives > 0)).any():  # each entry has rows of one class
        sides = [((weight[0], weight[1]), rows[0] + rows[1])]
    total = np.zeros((len(QUANTITIES), len(models), len(models)))
    for unit, times in sides:
        moved = np.stack([_without(_sums(block, k, model, *unit), model) for k, model in enumerate(models)])
        total += _products(moved, times)
    return total


def _sums(block: Block, k: int, model: Model, negatives: Floats, positives: Floats) -> list[Floats]:
    """Return the contributions of each entry of a block to the sums behind a model's estimates.

    These are the predicted and the observed sum, the excess of the squared error, the first and second derivative for
    the line with slope 1, and two first and three second derivatives for the line with any slope.
    """
    p, total = block.p[k], negatives + positives
    x, inner = logits_of(block, k)
    predicted = total * p
    is_inner = inner is block.weights
    inside, seen = (
        (total, positives) if is_inner else (np.where(each := inner.any(axis=0), total, 0.0), positives * each)
    )
    x = x - model.line.center
    first = chance_of(x + (model.with_slope_1.intercept - model.with_slope_1.center + model.line.center))
    fitted = chance_of(model.line.intercept + model.line.slope * x)
    chances, residual = inside * fitted, seen - inside * fitted
    steepness = chances * (1 - fitted)
    of_x = steepness * x
    return [
        predicted, positives, (positives - predicted) * (1 - 2 * p),
        seen - inside * first, inside * first * (1 - first),
        residual, residual * x, steepness, of_x, of_x * x,
    ]  # fmt: skip


def _without(sums: list[Floats] | Floats, model: Model) -> Floats:
    """Return how `QUANTITIES` (the logarithm of the ratio) change without each unit, of shape (4, n_units)."""
    predicted, observed, _, first, second, one, of_x, flat, tilted, curved = sums
    information, center = model.line.information, model.line.center
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log1p(-predicted / model.totals.predicted) - np.log1p(-observed / model.totals.weight[1])
        intercept = -first / (model.with_slope_1.information[0, 0] - second)
        flat, tilted, curved = information[0, 0] - flat, information[0, 1] - tilted, information[1, 1] - curved
        determinant = flat * curved - tilted * tilted
        level = (tilted * of_x - curved * one) / determinant
        slope = (tilted * one - flat * of_x) / determinant
        return np.stack([ratio, intercept, slope, level - slope * center])


def _products(moved: Floats, times: Floats) -> Floats:
    """Return the sums of products between models, (4, n_models, n_models), of changes (n_models, 4, n_units)."""
    with np.errstate(invalid="ignore"):  # changes are infinite if there is no estimate without the unit
        return np.asarray(np.einsum("aqn,bqn,n->qab", moved, moved, times))


# Results ------------------------------------------------------------------------------------------------------------


class Settings(NamedTuple):
    """Checked settings of a call."""

    confidence_level: float
    bins: BinOptions
    pos_label: Any


def measure(forecasts: Forecasts, names: list[Any], settings: Settings) -> tuple[list[Calibration], Spread]:
    """Return the calibration of each model, and the joint distribution of their estimates."""
    few = forecasts
    if isinstance(forecasts, CountedForecasts) and not forecasts.is_weighted and forecasts.size >= MANY_ENTRIES:
        few = condense(forecasts)
    models = _fit(few, len(names))
    if few is not forecasts and not all(model.is_smooth() for model in models):
        few = forecasts
        models = _fit(few, len(names))
    spread = spread_of(few, models)
    found = []
    for k, (name, model) in enumerate(zip(names, models, strict=True)):
        found.append(_calibration(name, forecasts.model(k), model, spread, k, settings))
    return found, spread


def _fit(forecasts: Forecasts, n_models: int) -> list[Model]:
    """Return the sums and fits of each model."""
    return [Model(each, *fit_both(forecasts, each, k)) for k, each in enumerate(Totals.of(forecasts, n_models))]


def _calibration(
    name: Any, forecasts: Forecasts, model: Model, spread: Spread, k: int, settings: Settings
) -> Calibration:
    """Return the result of one model."""
    totals, of_slope = model.totals, model.line.missing
    missing = "all probabilities are 0", model.with_slope_1.missing, of_slope, of_slope
    no_interval = f"leaving out one {'row' if forecasts.n_clusters is None else 'cluster'} makes the estimate undefined"
    estimates: dict[str, Any] = {
        quantity: _estimate(
            value, math.sqrt(spread.covariance[q, k, k]), float(spread.degrees[q, k]), settings.confidence_level,
            missing[q] if math.isnan(value) else no_interval,
            null=float(quantity == "slope"), is_log=quantity == "ratio",
        )
        for q, (quantity, value) in enumerate(zip(QUANTITIES, model.values().tolist(), strict=True))
    }  # fmt: skip
    if not totals.weight.all():
        estimates["ratio"] = _ratio_of_one_class(totals, float(spread.null_variances[k, 0]))
    n_negatives, n_positives = totals.rows.tolist()
    return Calibration(
        name=name,
        n_samples=round(n_positives + n_negatives),
        n_positives=round(n_positives),
        n_negatives=round(n_negatives),
        n_clusters=forecasts.n_clusters,
        is_weighted=forecasts.is_weighted,
        predicted=totals.predicted / forecasts.unit,
        observed=float(totals.weight[1] / forecasts.unit),
        **estimates,
        spiegelhalter=_spiegelhalter(name, totals, float(spread.null_variances[k, 1]), settings.confidence_level),
        confidence_level=settings.confidence_level,
        pos_label=settings.pos_label,
        segments=None,
        _forecasts=forecasts,
        _bins=settings.bins,
        _degrees=spread.degrees[:, k],
        _effective=totals.effective,
    )


def _estimate(
    value: float, error: float, df: float, confidence_level: float, caution: str, *, null: float, is_log: bool
) -> CalibrationEstimate:
    """Return an estimate and test whether it is `null`; the value is its logarithm if `is_log`."""
    from scipy.special import stdtr

    value, known = float(value), math.isfinite(error)
    if math.isnan(value) or not known:
        shown = finite_exp(value) if is_log else value
        return CalibrationEstimate(shown, NOWHERE, math.nan, math.nan, caution)
    pvalue = float(2 * stdtr(df, -abs(value - null) / error)) if error else float(value == null)
    if not is_log:
        return CalibrationEstimate(value, limits(value, error, df, confidence_level), error, pvalue)
    interval = log_limits(value, error, df, confidence_level)
    return CalibrationEstimate(finite_exp(value), interval, finite_exp(value) * error, pvalue)


def _ratio_of_one_class(totals: Totals, variance: float) -> CalibrationEstimate:
    """Return the ratio and its p-value; outcomes of one class do not determine an interval.

    The p-value compares the difference of the predicted and observed sums with its standard deviation under
    calibration.
    """
    from scipy.special import ndtr

    predicted, observed = totals.predicted, float(totals.weight[1])
    missing = "negatives" if observed else "positives"
    pvalue = float(2 * ndtr(-abs(predicted - observed) / math.sqrt(variance))) if variance > 0 else math.nan
    ratio = predicted / observed if observed else math.nan
    return CalibrationEstimate(ratio, NOWHERE, math.nan, pvalue, f"there are no {missing}")


def _spiegelhalter(name: Any, totals: Totals, variance: float, confidence_level: float) -> SignificanceResult:
    """Return Spiegelhalter's test, given the variance of its numerator under calibration."""
    from scipy.special import ndtr

    alpha = check_confidence_level(confidence_level)[1]
    z = totals.excess / math.sqrt(variance) if variance > 0 else math.nan
    if not variance and totals.contradictions:  # calibrated probabilities of 0 and 1 are never wrong
        z = math.inf
    of = "" if name is None else f" of {name}"
    compared = Compared(f"the Brier score{of}", "its expectation under calibration", effect="difference")
    return build_result(
        SignificanceResult, "Spiegelhalter's test", compared, z, float(2 * ndtr(-abs(z))),
        normal_margins(alpha, "two-sided")[0], alpha=alpha, effect=totals.excess / float(totals.weight.sum()),
        null=Null("norm"),
    )  # fmt: skip
