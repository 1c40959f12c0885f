"""Sums over rows, and logistic recalibration: the outcome's log-odds as a line in the log-odds of the probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import ROWS_PER_BLOCK
from fastevals.infer.calibration.forecasts import Block, Forecasts

Floats = NDArray[np.float64]

MOST_STEPS = 100  # of Newton's method, which usually needs 5 to 8
SMALL_STEP = 1e-8  # relative to the line: after a smaller step, the error is about the square of it
LARGEST_MOVE = 30.0  # of log-odds in a step
LEAST_INFORMATION = 1e-200  # below it, a step is not along the exact direction
THINNING = 16  # with many entries, one of so many is enough to come close to the line
LEAST_SPREAD = 1e-10  # of log-odds: within a smaller spread no slope can be told from rounding


@dataclass(slots=True)
class Totals:
    """Sums over all rows for one model; arrays hold one value for each outcome, (negatives, positives).

    Attributes
    ----------
    rows, weight : ndarray of shape (2,)
        Number of rows and their weight.
    predicted : float
        Sum of the weighted probabilities.
    excess : float
        Sum of the weighted squared errors minus its expectation if the probabilities are true.
    null_variances : ndarray of shape (2,)
        Variances of `predicted` minus the observed sum, and of `excess`, if the probabilities are true and rows are
        independent.
    lowest, highest : ndarray of shape (2,)
        Range of the log-odds, without probabilities of 0 and 1.
    contradictions : float
        Number of rows with probability 0 or 1 and the other outcome.
    center : float
        Mean of the log-odds.
    """

    rows: Floats
    weight: Floats
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
        return [cls._joined([part[k] for part in parts]) for k in range(n_models)]

    @classmethod
    def _joined(cls, parts: list[tuple[Floats, Floats, Floats]]) -> Totals:
        sums, lowest, highest = (np.stack(each) for each in zip(*parts, strict=True))
        rows, weight, variances, (predicted, excess), (log_odds, inner), (contradictions, _) = sums.sum(axis=0)
        return cls(
            rows, weight, float(predicted), float(excess), variances,
            lowest.min(axis=0), highest.max(axis=0), float(contradictions), float(log_odds / inner) if inner else 0.0,
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
        [float(variance.sum()), float((variance * steepness**2).sum())],
        [float((total * p).sum()), float(((positives - total * p) * steepness).sum())],
        [float((inner * x).sum()), float(inner.sum())],
        [contradictions, 0.0],
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
        """Start to climb: from the present line if it is the end of another climb."""
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
