"""The debiased calibration error in bins, with an interval that also holds for calibrated models.

The squared error is a sum over bins of squared mean residuals. Its estimate is a quadratic form of nearly normal means,
so it is distributed like a sum of noncentral chi-squared variables: nearly normal if the error is large, but skewed and
less variable if there is no error. The interval contains every error that a test does not reject, given the estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.residuals import add_residuals
from fastevals.document.frames import Columns, make_columns
from fastevals.infer.calibration.bins import BinOptions
from fastevals.infer.calibration.forecasts import Block, Forecasts
from fastevals.measure.calibration_errors import debias, has_pairs, root_of
from fastevals.measure.probability_metrics import FEW_BINS, Strategy, cut_bins
from fastevals.results import NOWHERE, Frozen, Interval, check_confidence_level

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]

MANY_ALONE = 0.05  # share of the weight in bins of a single row, from which on it is a caution
ROUGH_CLUSTERS = 50  # number of clusters below which the interval is rough
MOST_BINS = 7000  # with clusters: their covariance matrix then has 400 MB


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CalibrationError(Frozen):
    """Debiased l2 calibration error in bins: the root of the mean squared gap, where each row has the gap of its bin.

    The gap of a bin is its expected residual: label minus probability. Binning averages gaps of opposite sign, so the
    error without bins is at least this error.

    Attributes
    ----------
    value : float
        Root of `squared`, or 0 if that is negative; NaN if undefined.
    confidence_interval : Interval
        Its lower end is 0 if and only if calibration is not rejected.
    standard_error : float
        NaN if the interval starts at 0, because the estimate is not nearly normal there.
    pvalue : float
        One-sided p-value of the null hypothesis that the model is calibrated.
    squared : float
        Unbiased estimate of the squared error; negative about half the time if the model is calibrated.
    squared_interval : Interval
        Squares of the ends of `confidence_interval`.
    squared_standard_error : float
        Standard error of `squared`.
    n_bins : int
        Number of bins with at least two rows (or clusters); the others are ignored.
    strategy : {"quantile", "uniform"}
        How bins are cut.
    confidence_level : float
        Level of the intervals.
    caution : str
        Why the error or its interval is undefined or may mislead; empty if there is no known reason.

    Examples
    --------
    >>> import fastevals
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 9, 5000)
    >>> fastevals.calibration(rng.random(5000) < p, p).error
    CalibrationError(0.004564, [0, 0.01974], p=0.328)
    """

    value: float
    confidence_interval: Interval
    standard_error: float
    pvalue: float
    squared: float
    squared_interval: Interval
    squared_standard_error: float
    n_bins: int
    strategy: Strategy
    confidence_level: float
    caution: str = ""

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        low, high = self.confidence_interval
        caution = f", caution={self.caution!r}" if self.caution else ""
        return f"CalibrationError({self.value:.4g}, [{low:.4g}, {high:.4g}], p={self.pvalue:.3g}{caution})"

    def _columns(self) -> Columns:
        (low, high), (squared_low, squared_high) = self.confidence_interval, self.squared_interval
        return make_columns(
            {
                "value": self.value, "low": low, "high": high, "standard_error": self.standard_error,
                "pvalue": self.pvalue, "squared": self.squared, "squared_low": squared_low,
                "squared_high": squared_high, "squared_standard_error": self.squared_standard_error,
                "n_bins": self.n_bins, "strategy": self.strategy, "caution": self.caution,
            }
        )  # fmt: skip


def make_error(forecasts: Forecasts, options: BinOptions, confidence_level: float) -> CalibrationError:
    """Estimate the debiased calibration error of one model's forecasts in bins."""
    level, alpha = check_confidence_level(confidence_level)
    sums = sums_of(forecasts, options)
    squared = debias(sums.weight, sums.squared_weight, sums.residuals, sums.squared_residuals)
    several = has_pairs(sums.weight, sums.squared_weight)
    if forecasts.n_clusters is not None and several.sum() > MOST_BINS:
        raise ValueError(
            f"with clusters, at most {MOST_BINS:,} bins may have two or more clusters, got {several.sum():,}; use a "
            "smaller n_bins"
        )
    ends, squared_error, pvalue = NOWHERE, math.nan, math.nan
    law = ErrorLaw.of(sums.take(several)) if several.any() else None
    if law is None:
        units = "rows" if forecasts.n_clusters is None else "clusters"
        caution = f"the error is undefined unless a bin has at least two {units}; use fewer bins"
    elif law.is_certain:
        caution = "there is no interval, because the residuals in each bin are equal; label more rows"
    else:
        ends, pvalue = law.interval(squared, alpha), law.pvalue(squared)
        squared_error = law.standard_error(max(squared, 0.0))
        caution = _caution_of(sums, several, forecasts.n_clusters)
    return CalibrationError(
        value=root_of(squared),
        confidence_interval=Interval(*map(math.sqrt, ends)),
        standard_error=squared_error / (2 * root_of(squared)) if ends.low > 0 else math.nan,
        pvalue=pvalue,
        squared=squared,
        squared_interval=ends,
        squared_standard_error=squared_error,
        n_bins=int(several.sum()),
        strategy=options[1],
        confidence_level=level,
        caution=caution,
    )


def _caution_of(sums: Sums, several: NDArray[np.bool_], n_clusters: int | None) -> str:
    if n_clusters is not None and n_clusters < ROUGH_CLUSTERS:
        return f"the interval is rough below {ROUGH_CLUSTERS} clusters, got {n_clusters}"
    alone = 1 - float(sums.weight[several].sum() / sums.weight.sum())
    if alone <= MANY_ALONE:
        return ""
    unit = "row" if n_clusters is None else "cluster"
    return f"{100 * alone:.0f} % of the rows are in bins of a single {unit}, which are ignored; use fewer bins"


# Sums over bins ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over the rows of each bin; w is a row's weight, u its residual, v = p (1 - p). A cluster counts as a row.

    Attributes
    ----------
    weight, squared_weight : ndarray of shape (n_bins,)
        Sums of w and w^2.
    residuals, products, squared_residuals : ndarray of shape (n_bins,)
        Sums of w u, w^2 u and (w u)^2.
    variances, squared_variances : ndarray of shape (n_bins,)
        Sums of w^2 v and w^4 v^2, always over rows, even with clusters.
    of_clusters : pair of sparse arrays of shape (n_bins, n_clusters), or None
        Sums of w and of w u in each cluster.
    """

    weight: Floats
    squared_weight: Floats
    residuals: Floats
    products: Floats
    squared_residuals: Floats
    variances: Floats
    squared_variances: Floats
    of_clusters: list[csr_array[Any]] | None

    def take(self, bins: NDArray[np.bool_]) -> Sums:
        """Return the sums of some bins."""
        of_bins = {each.name: getattr(self, each.name)[bins] for each in fields(self)[:-1]}
        return Sums(**of_bins, of_clusters=self.of_clusters and [each[bins] for each in self.of_clusters])


def sums_of(forecasts: Forecasts, options: BinOptions) -> Sums:
    """Add up one model's forecasts in bins."""
    edges = cut_bins(forecasts.counts(), *options).edges
    n_bins, n_clusters = edges.size - 1, forecasts.n_clusters

    def of_block(block: Block) -> Floats:
        sums = np.zeros((7, n_bins))
        add_residuals(block.p[0], *block.weights, *block.squares, edges, sums)
        return sums

    parts = forecasts.sweep(of_block) if n_bins <= FEW_BINS else map(of_block, forecasts.blocks(n_bins))
    weight, squared_weight, residuals, products, squared_residuals, variances, squared_variances = sum(
        parts, np.zeros((7, n_bins))
    )
    if n_clusters is None:
        return Sums(weight, squared_weight, residuals, products, squared_residuals, variances, squared_variances, None)

    def of_rows(block: Block, _: NDArray[np.intp]) -> list[Floats]:
        p = block.p[0]
        return [block.weights.sum(axis=0), (block.weights * np.stack((-p, 1 - p))).sum(axis=0)]

    weights, of_clusters = clusters = forecasts.by_cluster(edges, of_rows)
    products, squared_residuals = weights.multiply(of_clusters).sum(axis=1), of_clusters.power(2).sum(axis=1)
    squared_weight = weights.power(2).sum(axis=1)
    return Sums(weight, squared_weight, residuals, products, squared_residuals, variances, squared_variances, clusters)


# The distribution of the estimate -----------------------------------------------------------------------------------

Covariance = Floats  # of shape (n_bins, n_bins), or the variances of independent bins


@dataclass(frozen=True, slots=True)
class ErrorLaw:
    """Mean, variance and third cumulant of the estimate as functions of the true squared error t.

    The variance is ``null_variance + linear * t + quadratic * t**2``, the third cumulant ``null_third + third * t``.

    Attributes
    ----------
    null_variance, null_third : float
        For a calibrated model, whose residuals have expectation 0 and variance p (1 - p).
    linear, third : pair of float
        Slopes in t, which depend on how the error is distributed over bins. The first is for the estimated gaps. The
        second is the larger of the first and the slope for a shift of the log-odds; upper ends of intervals use it,
        because a small error does not show its direction.
    quadratic : float
        Due to the random number of rows in bins.
    """

    null_variance: float
    null_third: float
    linear: tuple[float, float]
    third: tuple[float, float]
    quadratic: float

    @classmethod
    def of(cls, sums: Sums) -> ErrorLaw:
        """Return the law of the estimate from the sums over bins that have pairs of rows."""
        total = sums.weight.sum()
        shares, gaps = sums.weight / total, sums.residuals / sums.weight
        pairs = sums.weight**2 - sums.squared_weight
        if sums.of_clusters is None:
            null: Covariance = np.sqrt(np.maximum(sums.variances**2 - sums.squared_variances, 0.0)) / pairs
            squares = sums.squared_residuals - 2 * gaps * sums.products + gaps**2 * sums.squared_weight
            covariance: Covariance = np.maximum(squares, 0.0) / pairs
        else:
            weights, residuals = sums.of_clusters
            scale = np.sqrt(pairs)[:, np.newaxis]
            centred = residuals - weights.multiply(gaps[:, np.newaxis])
            null, covariance = ((each @ each.T).toarray() / scale / scale.T for each in (residuals, centred))
        plain = float(shares @ gaps**2)
        at_shift = sums.variances / sums.weight
        slopes = [_slopes(shares, gaps, covariance), _slopes(shares, at_shift, covariance if null.ndim == 2 else null)]
        if sums.of_clusters is None:
            spread = float((gaps**2 - plain) ** 2 @ sums.squared_weight)
        else:
            spread = float(np.sum((weights.T @ (gaps**2 - plain)) ** 2))
        return cls(
            2 * _trace_of_power(shares, null, 2),
            8 * _trace_of_power(shares, null, 3),
            (slopes[0][0], max(slopes[0][0], slopes[1][0])),
            (slopes[0][1], max(slopes[0][1], slopes[1][1])),
            spread / (total * plain) ** 2 if (total * plain) ** 2 else 0.0,  # tiny probabilities underflow
        )

    @property
    def is_certain(self) -> bool:
        """Return whether nothing varies: all probabilities are 0 or 1, and the residuals of each bin are equal."""
        return self.null_variance < NO_VARIANCE and self.linear[1] < math.sqrt(NO_VARIANCE)

    def standard_error(self, t: float) -> float:
        """Return the standard deviation of the estimate if the squared error is t."""
        return math.sqrt(self.null_variance + self.linear[0] * t + self.quadratic * t * t)

    def quantile(self, q: float, t: float, side: int = 0) -> float:
        """Return a quantile of the estimate if the squared error is t.

        It comes from a shifted gamma distribution with the estimate's mean, variance and (capped) skewness, or from a
        normal distribution if the skewness is small. `side` is 1 for the wider of two variances (see `linear`).
        """
        from scipy.special import gammaincinv, ndtri

        variance = self.null_variance + self.linear[side] * t + self.quadratic * t * t
        if variance < NO_VARIANCE:
            return t
        skewness = self._skewness(t, variance, side)
        if skewness < LEAST_SKEWED:
            return t + math.sqrt(variance) * float(ndtri(q))
        shape = 4 / skewness**2
        return t + math.sqrt(variance / shape) * (float(gammaincinv(shape, q)) - shape)

    def _skewness(self, t: float, variance: float, side: int) -> float:
        return min((self.null_third + self.third[side] * t) / (variance * math.sqrt(variance)), MOST_SKEWED)

    def pvalue(self, estimate: float) -> float:
        """Return the chance of an estimate at least as large if the model is calibrated."""
        from scipy.special import gammaincc, ndtr

        if self.null_variance < NO_VARIANCE:
            return float(estimate < math.sqrt(NO_VARIANCE))
        skewness, z = self._skewness(0.0, self.null_variance, 0), estimate / math.sqrt(self.null_variance)
        if skewness < LEAST_SKEWED:
            return float(ndtr(-z))
        shape = 4 / skewness**2
        return float(gammaincc(shape, max(shape + z * math.sqrt(shape), 0.0)))

    def interval(self, estimate: float, alpha: float) -> Interval:
        """Return the interval of squared errors that a test does not reject, given the estimate.

        If the lower quantile for an error is 0 or less, no estimate of 0 or above lies below it, and the test of this
        error is one-sided, at level alpha. Otherwise it is two-sided, at level alpha / 2 per side.
        """
        seen = max(estimate, 0.0)
        high = self._solve(lambda t: self.quantile(alpha / 2, t, 1) - seen, seen)
        two_sided_from = self._solve(lambda t: self.quantile(alpha / 2, t, 1), 0.0)
        low = 0.0
        if self.pvalue(estimate) < alpha:
            low = min(self._solve(lambda t: self.quantile(1 - alpha, t) - estimate, 0.0), two_sided_from)
            if low == two_sided_from:
                low = max(low, self._solve(lambda t: self.quantile(1 - alpha / 2, t) - estimate, 0.0))
        return Interval(min(low, seen), high)

    def _solve(self, excess: Any, start: float) -> float:
        """Return the zero of an increasing function between `start` and 1, the largest squared error."""
        from scipy.optimize import brentq

        if excess(start) >= 0:
            return start
        step = math.sqrt(self.null_variance) or 1e-12
        while start + step < 1 and excess(start + step) < 0:
            step *= 2
        end = min(start + step, 1.0)
        return 1.0 if excess(end) < 0 else float(brentq(excess, start, end, xtol=1e-300, rtol=1e-12))


NO_VARIANCE = 1e-200  # a smaller variance counts as 0, because its powers underflow
LEAST_SKEWED, MOST_SKEWED = 1e-3, math.sqrt(8)  # the latter is the skewness of chi-squared with one degree of freedom


def _trace_of_power(shares: Floats, covariance: Covariance, power: int) -> float:
    """Return the trace of a power of (shares as a diagonal matrix) times the covariance of the bins' gaps."""
    if covariance.ndim == 1:
        return float(((shares * covariance) ** power).sum())
    return float(np.trace(np.linalg.matrix_power(shares[:, np.newaxis] * covariance, power)))


def _slopes(shares: Floats, gaps: Floats, covariance: Covariance) -> tuple[float, float]:
    """Return the slopes of variance and third cumulant in the squared error, for an error proportional to the gaps."""

    def times(vector: Floats) -> Floats:
        return shares * (covariance * vector if covariance.ndim == 1 else covariance @ vector)

    squared = float(shares @ gaps**2)
    if not squared:
        return 0.0, 0.0
    once = times(shares * gaps)
    return 4 * float(gaps @ once) / squared, 24 * float(gaps @ times(once)) / squared
