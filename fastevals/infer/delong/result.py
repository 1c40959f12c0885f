"""AUCs with their covariance: intervals, contrasts, and the test that all are equal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.infer.delong.normal import normal_margins, z_test
from fastevals.infer.delong.placements import Moments
from fastevals.infer.results import Null, SignificanceResult, level_of
from fastevals.infer.significance.decision import alpha_of, result_of
from fastevals.measure.results import Frozen, Interval

__all__ = ["DelongResult", "contrast_test"]

Floats = NDArray[np.float64]

METHODS = ("delong", "logit")
USUAL = 100  # binary exponents of weights that are taken as they are
SIMPLE = 1000  # a weight that is the float of a fraction with a denominator up to this is that fraction
MOST_EXACT = 50  # models whose chi-square is computed in integers, within a second
NO_DIRECTION = 1e-8  # standard errors: an effect as small, along a direction without variance, is rounding


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DelongResult(Frozen):
    """AUCs of models on the same rows, and their covariance; unpacks as ``aucs, covariance``.

    Attributes
    ----------
    aucs : ndarray of shape (n_models,)
        As `Ranking.roc_auc` gives them; NaN if a class is missing.
    covariance : ndarray of shape (n_models, n_models)
        DeLong's estimate, each entry rounded once; NaN with fewer than two rows of a class.
    names : tuple or None
        The models' names in order, where they had any.
    n_positives, n_negatives : int
        Rows of each class, weights counted.
    moments : Moments
        The integers that AUCs and covariances are ratios of.
    pos_label : label
        The positive class.

    Examples
    --------
    >>> import fastevals
    >>> result = fastevals.delong([0, 0, 0, 1, 1, 1], {"a": [1, 2, 3, 2, 3, 4], "b": [2, 3, 2, 1, 3, 2]})
    >>> result
    DelongResult(aucs=[0.7778, 0.3889], standard_errors=[0.2079, 0.2664], n_positives=3, n_negatives=3)
    >>> result.contrast([1, -1])
    SignificanceResult(statistic=1.373, pvalue=0.1698, effect=0.3889, rejected=False)
    """

    aucs: Floats
    covariance: Floats
    names: tuple[Any, ...] | None
    n_positives: int
    n_negatives: int
    moments: Moments
    pos_label: Any = None

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.aucs, self.covariance))

    def __repr__(self) -> str:
        shown = {
            name: np.array2string(values, precision=4, separator=", ", threshold=8, edgeitems=2)
            for name, values in {"aucs": self.aucs, "standard_errors": self.standard_error}.items()
        }
        values = ", ".join(f"{name}={text}" for name, text in shown.items())
        return f"DelongResult({values}, n_positives={self.n_positives}, n_negatives={self.n_negatives})"

    @property
    def standard_error(self) -> Floats:
        """Standard errors of the AUCs, of shape (n_models,)."""
        return np.sqrt(np.diagonal(self.covariance))

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str = "delong", alternative: str = "two-sided"
    ) -> Interval:
        """Intervals of the AUCs, never beyond [0, 1].

        Parameters
        ----------
        confidence_level : float in (0, 1)
            Of each interval by itself.
        method : {"delong", "logit"}
            The AUC plus or minus normal standard errors; or so on the scale of log(AUC / (1 - AUC)), better near 0
            and 1.
        alternative : {"two-sided", "less", "greater"}
            "greater" gives lower bounds alone (the high ends are 1), "less" upper bounds.

        Returns
        -------
        Interval
            ``low`` and ``high``, arrays of shape (n_models,). Where the variance is 0 (an AUC of 0 or 1, or all
            scores tied) both methods give the AUC itself.

        Raises
        ------
        ValueError
            If an option is out of range.

        Warns
        -----
        UndefinedMetricWarning
            Where the variance is 0: an interval without width is surer than the data allow.

        References
        ----------
        Pepe (2003), *The Statistical Evaluation of Medical Tests for Classification and Prediction*, section 5.2.4
        (logit).
        """
        from scipy.special import expit, logit

        check.check_choice("method", method, METHODS)
        below, above = normal_margins(alpha_of(confidence_level, alternative), alternative)
        aucs, errors = self.aucs, self.standard_error
        flat = errors == 0
        if flat.any():
            first = int(np.argmax(flat))
            because = f"its estimated variance is 0 ({flat.sum()} of {flat.size} models)"
            check.warn_degenerate(f"the interval of AUC {aucs[first]:g}", because)

        def end(margin: float) -> Floats:
            """Give the ends this many standard errors up."""
            if math.isinf(margin):
                return np.where(np.isnan(errors), math.nan, 0.0 if margin < 0 else 1.0)
            if method == "delong":
                moved = np.clip(aucs + margin * errors, 0, 1)
            else:
                with np.errstate(invalid="ignore"):  # 0 / 0 where flat
                    moved = expit(logit(aucs) + margin * errors / (aucs * (1 - aucs)))
            return np.where(flat, aucs, moved)

        return Interval(end(-below), end(above))  # type: ignore[arg-type]

    def contrast(
        self, weights: ArrayLike, *, alternative: str = "two-sided", confidence_level: float = 0.95
    ) -> SignificanceResult:
        """Test whether a weighted sum of the AUCs is 0: Z = L A / sqrt(L S L').

        Parameters
        ----------
        weights : array-like of shape (n_models,)
            L: finite, not all zero. [1, -1] is the difference of two models, [1, -1/2, -1/2] the first less the mean of
            two others. A float such as 1/3 is taken as that fraction, not as what is left of it.
        alternative : {"two-sided", "less", "greater"}
            Side of 0.
        confidence_level : float in (0, 1)
            Of the interval; the test is at level ``1 - confidence_level``.

        Returns
        -------
        SignificanceResult
            `effect` is the weighted sum, with its interval (not beyond what AUCs in [0, 1] allow). Z is NaN with fewer
            than two rows of a class. Where the variance is 0, Z is 0 with p = 1 (one-sided 1/2) for an effect of 0
            (identical models) and infinite with p = 0 for another, with a warning.

        Raises
        ------
        ValueError
            If an argument is out of range.

        References
        ----------
        DeLong et al. (1988), doi:10.2307/2531595, eq. 6.
        """
        values = check.as_contrast("weights", weights, self.aucs.size)
        what = f"the contrast {check.show(values)} of {self._aucs_in_words()}"
        return contrast_test(self.moments, values, what, alternative=alternative, confidence_level=confidence_level)

    def equality_test(self, *, confidence_level: float = 0.95) -> SignificanceResult:
        """Test whether all AUCs are equal, by a chi-square.

        Parameters
        ----------
        confidence_level : float in (0, 1)
            The test is at level ``1 - confidence_level``.

        Returns
        -------
        SignificanceResult
            `df` is the rank of the covariance of the differences: n_models - 1, less where models repeat each other
            (whose covariance is inverted on its range; exactly, up to 50 models). With all models alike the statistic
            is 0 on 0 degrees, with p = 1. `effect` is the highest AUC less the lowest; there is no interval.

        Raises
        ------
        ValueError
            With fewer than two models, or if `confidence_level` is out of range.

        References
        ----------
        DeLong et al. (1988), doi:10.2307/2531595, eq. 5.
        """
        from scipy.special import chdtrc, chdtri

        check.check_integer("the number of models", self.aucs.size, low=2)
        _, alpha = level_of(confidence_level)
        statistic, df = _chi_square(self.moments) if self.moments.defined else (math.nan, self.aucs.size - 1)
        pvalue = float(chdtrc(df, statistic)) if df else 1.0
        critical = float(chdtri(df, alpha)) if df else 0.0
        return result_of(
            SignificanceResult, "DeLong's test of equal AUCs", self._aucs_in_words(), statistic, pvalue, critical,
            alpha=alpha, effect=float(np.ptp(self.aucs)), of_all=True, df=df, null=Null("chi2", (df,)) if df else None,
        )  # fmt: skip

    def _aucs_in_words(self) -> str:
        """Name the models, where they have names."""
        return "the AUCs" if self.names is None else f"the AUCs of {check.listed(self.names)}"


def contrast_test(
    moments: Moments, weights: Sequence[float], what: str, *, alternative: str, confidence_level: float
) -> SignificanceResult:
    """Test whether the weighted sum of the AUCs is 0."""
    exponent = math.frexp(max(map(abs, weights)))[1]
    unit = exponent if abs(exponent) > USUAL else 0  # else the variance may be past the floats
    exact = [_as_fraction(math.ldexp(weight, -unit)) for weight in weights]
    bounds = float(sum(w for w in exact if w < 0)), float(sum(w for w in exact if w > 0))
    effect = variance = math.nan
    if moments.defined:
        effect, variance = float(moments.effect(exact)), float(moments.variance(exact))
    result = z_test(what, effect, variance, bounds, alternative=alternative, confidence_level=confidence_level)
    if not unit or result.confidence_interval is None or result.effect is None:
        return result
    low, high = (np.ldexp(end, unit).item() for end in result.confidence_interval)
    return replace(result, effect=np.ldexp(result.effect, unit).item(), confidence_interval=Interval(low, high))


def _as_fraction(weight: float) -> Fraction:
    """Give the fraction meant by a float: weights of 1/3, 1/3, 1/3 and -1 are to add up to 0."""
    simple = Fraction(weight).limit_denominator(SIMPLE)
    return simple if float(simple) == weight else Fraction(weight)


def _chi_square(moments: Moments) -> tuple[float, int]:
    """Give the statistic of equal AUCs and its degrees of freedom."""
    if len(moments.doubled_u) <= MOST_EXACT:
        statistic, df = moments.chi_square()
        if math.isinf(statistic):
            check.warn_degenerate("the test of equal AUCs", "a contrast of AUCs has an estimated variance of 0")
        return statistic, df
    effects, variances = moments.differences()
    errors = np.sqrt(np.diagonal(variances))
    if (effects[errors == 0] != 0).any():
        check.warn_degenerate("the test of equal AUCs", "a difference of AUCs has an estimated variance of 0")
        return math.inf, int(np.count_nonzero(errors)) + 1
    effects, variances, errors = effects[errors > 0], variances[np.ix_(errors > 0, errors > 0)], errors[errors > 0]
    if not errors.size:
        return 0.0, 0
    roots, directions = np.linalg.eigh(variances / errors / errors[:, None])
    along = directions.T @ (effects / errors)
    kept = roots > roots.max() * errors.size * np.finfo(np.float64).eps
    if (np.abs(along[~kept]) > NO_DIRECTION * max(np.abs(along).max(), 1)).any():
        check.warn_degenerate("the test of equal AUCs", "a contrast of AUCs has an estimated variance of 0")
        return math.inf, int(kept.sum()) + 1
    return float(np.sum(along[kept] ** 2 / roots[kept])), int(kept.sum())
