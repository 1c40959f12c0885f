"""DeLong's result: AUCs and their covariance, with intervals, contrasts and a test that all are equal."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import (
    UndefinedMetricWarning,
    check_choice,
    check_integer,
    listed,
    show,
    warn_degenerate,
    warn_undefined,
)
from fastevals._text import count_of, shorten_names
from fastevals._validation.arrays import as_scores, check_finite
from fastevals.document.frames import Columns, make_columns
from fastevals.infer.delong.clustered import Clusters
from fastevals.infer.delong.placements import PlacementMoments
from fastevals.infer.delong.weighted import WeightedMoments
from fastevals.infer.significance.decision import (
    NO_VARIANCE,
    Compared,
    build_result,
    check_alpha,
    compare_two,
    normal_margins,
)
from fastevals.measure.ranking.ranking import least_extreme
from fastevals.results import (
    Alternative,
    Frozen,
    Interval,
    Null,
    SignificanceResult,
    V,
    check_confidence_level,
    format_estimate,
    format_test,
)

Floats = NDArray[np.float64]
DelongInterval = Literal["delong", "logit"]
USUAL_EXPONENT = 100  # binary exponents of weights that need no scaling
SIMPLE = 1000  # weights that equal a fraction with a denominator up to this are taken as that fraction
MOST_EXACT = 50  # models up to which chi-square is computed in integers, within a second
MOST_PRINTED = 20  # models in a printed result
FEW_CLUSTERS = 20  # clusters; with fewer, levels and coverage are not guaranteed
NO_DIRECTION = 1e-8  # standard errors: a smaller effect along a direction without variance is a rounding error


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DelongResult(Frozen, Generic[V]):
    """AUCs of models on the same rows, and their covariance; unpacks as ``aucs, covariance``.

    Printing shows each model's AUC with its interval, and the test that all AUCs are equal, at level 0.05.

    Attributes
    ----------
    aucs : ndarray of shape (n_models,)
        AUC of each model, as in `Ranking.roc_auc`; NaN if a class is missing.
    covariance : ndarray of shape (n_models, n_models)
        DeLong's covariance of the AUCs, each entry rounded once; NaN with fewer than two rows of a class.
    names : tuple or None
        Names of the models, in order, if they have any.
    n_positives, n_negatives : int
        Rows of each class, including copies.
    moments : PlacementMoments or WeightedMoments
        The integers whose ratios are the AUCs and covariances; for weighted rows, the AUCs and covariances themselves.
    pos_label : label
        The positive class.
    doubt : float
        Largest possible distance between this AUC and the AUC of the rows that were summarised. Intervals are widened
        by it.
    n_clusters : int or None
        Number of clusters that have the rarer class; None without `groups`.
    n_effective_clusters : float or None
        Effective number of clusters (the number of equally large clusters with as much information):
        ``(sum of sizes)**2 / sum of sizes**2``.

    Examples
    --------
    >>> import fastevals
    >>> result = fastevals.delong([0, 0, 0, 1, 1, 1], {"a": [1, 2, 3, 2, 3, 4], "b": [2, 3, 2, 1, 3, 2]})
    >>> result
    DelongResult(aucs=[0.7778, 0.3889], standard_errors=[0.2079, 0.2664], n_positives=3, n_negatives=3)
    >>> result.contrast([1, -1])
    SignificanceResult(statistic=1.373, pvalue=0.1698, effect=0.3889, rejected=False)
    >>> print(result)
    DeLong's test
      AUC of a   0.7778, 95 % interval 0.3704 to 1.0000
      AUC of b   0.3889, 95 % interval 0.0000 to 0.9111
      rows       3 positive, 3 negative
      effect     0.3889, 95 % interval -0.1663 to 0.9441
      statistic  1.373
      p          0.1698
    No significant difference between the AUCs of a and b: 0.389 (95 % interval -0.166 to 0.944;
    DeLong's test, p = 0.17).
    """

    aucs: Floats
    covariance: Floats
    names: tuple[Any, ...] | None
    n_positives: Any
    n_negatives: Any
    moments: PlacementMoments | WeightedMoments
    pos_label: Any = None
    doubt: float = 0.0
    _clusters: Clusters | None = None
    _several: bool = True  # whether there were several models

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.aucs, self.covariance))

    def __repr__(self) -> str:
        shown = {
            name: np.array2string(values, precision=4, separator=", ", threshold=8, edgeitems=2)
            for name, values in {"aucs": self.aucs, "standard_errors": self._standard_errors}.items()
        }
        values = ", ".join(f"{name}={text}" for name, text in shown.items())
        return f"{type(self).__name__}({values}, n_positives={self.n_positives}, n_negatives={self.n_negatives})"

    def __str__(self) -> str:
        models = ["model"] if self.names is None and self.aucs.size == 1 else self._model_names()
        low, high = self._quiet_interval()
        test = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # the conclusion says that there is no variance
            if len(models) == 2:
                compared = compare_two(f"difference in {self._what}", *models)
                test = contrast_test(
                    self.moments, [1, -1], compared, alternative="two-sided", confidence_level=0.95,
                    clusters=self._clusters,
                )  # fmt: skip
            elif len(models) > 2:
                test = self.equality_test()
        rows = [
            (
                f"{self._what} of {model}",
                format_estimate(float(self.aucs[k]), Interval(float(low[k]), float(high[k])), 0.05),
            )
            for k, model in enumerate(models[:MOST_PRINTED])
        ]
        if len(models) > MOST_PRINTED:
            rows.append((f"... {len(models) - MOST_PRINTED} more", ""))
        rows.append(("rows", self._counted_rows()))
        if self._clusters is not None:
            rows.append(("clusters", f"{self.n_clusters} with the rarer class"))
        if test is None:
            return format_test(f"DeLong's interval{_of_clustered(self._clusters)}", rows, self.caution)
        return format_test(test.test, [*rows, *test._rows()], test.conclusion)

    @property
    def _what(self) -> str:
        return "AUC"

    def _counted_rows(self) -> str:
        return f"{self.n_positives} positive, {self.n_negatives} negative"

    def _columns(self) -> Columns:
        low, high = self._quiet_interval()
        models = range(self.aucs.size) if self.names is None else self.names
        return make_columns(
            {"model": models, "auc": self.aucs, "standard_error": self._standard_errors, "low": low, "high": high}
        )

    def _quiet_interval(self) -> tuple[Floats, Floats]:
        """Return the 95 % intervals without warnings; NaN if undefined."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            ends: Any = self.confidence_interval()
        return np.atleast_1d(ends.low), np.atleast_1d(ends.high)

    def _model_names(self) -> list[str]:
        """Return the names of the models in a printed table."""
        names = [f"model {k}" for k in range(self.aucs.size)] if self.names is None else self.names
        return shorten_names(names)

    @property
    def _standard_errors(self) -> Floats:
        return np.sqrt(np.diagonal(self.covariance))

    def _told(self, values: Floats) -> V:
        """Return the values of all models, or a single number if there is one model."""
        return values if self._several else values.item()  # type: ignore[return-value]

    @property
    def value(self) -> V:
        """The AUC if there is a single model, otherwise `aucs`."""
        return self._told(self.aucs)

    @property
    def standard_error(self) -> V:
        """The standard error of the AUC if there is a single model, otherwise of each AUC."""
        return self._told(self._standard_errors)

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters that have the rarer class."""
        return None if self._clusters is None else self._clusters.n

    @property
    def n_effective_clusters(self) -> float | None:
        """Effective number of clusters: the number of equally large clusters with as much information."""
        return None if self._clusters is None else self._clusters.effective

    @property
    def caution(self) -> str:
        """Why the intervals and tests may be unreliable: too few clusters. Empty if there is no known reason."""
        return _caution_of_clusters(self._clusters)

    def confidence_interval(
        self, confidence_level: float = 0.95, method: DelongInterval = "delong", alternative: Alternative = "two-sided"
    ) -> Interval[V]:
        """Compute intervals of the AUCs, clipped to [0, 1].

        Parameters
        ----------
        confidence_level : float in (0, 1)
            Confidence level of each interval (not simultaneous).
        method : {"delong", "logit"}
            "delong" is the AUC plus or minus its standard error times a quantile: normal or, with `groups`, Student's
            t. "logit" does the same on the scale of log(AUC / (1 - AUC)), which is better near 0 and 1.
        alternative : {"two-sided", "less", "greater"}
            "greater" returns only lower bounds (the high ends are 1); "less" returns only upper bounds.

        Returns
        -------
        Interval
            ``low`` and ``high``: floats for one model, or arrays of shape (n_models,). If the variance is 0 (an AUC of
            0 or 1, or all scores tied), both ends are the AUC itself.

        Raises
        ------
        ValueError
            If an option is out of range.

        Warns
        -----
        UndefinedMetricWarning
            If the variance is 0, so that the interval has no width and claims more certainty than the data allow.

        References
        ----------
        Pepe (2003), *The Statistical Evaluation of Medical Tests for Classification and Prediction*, section 5.2.4
        (logit).
        """
        from scipy.special import expit, logit

        check_choice("method", method, DelongInterval)
        alpha = check_alpha(confidence_level, alternative)
        below, above = normal_margins(alpha, alternative, _degrees(self._clusters))
        aucs, errors = self.aucs, self._standard_errors
        flat = errors == 0
        if flat.any():
            first = int(np.argmax(flat))
            reason = f"its estimated variance is 0 ({flat.sum()} of {flat.size} models)"
            warn_degenerate(f"the interval of AUC {aucs[first]:g}", reason)

        def end(margin: float) -> Floats:
            """Return the ends that are this many standard errors above the AUCs."""
            if math.isinf(margin):
                return np.where(np.isnan(errors), math.nan, 0.0 if margin < 0 else 1.0)
            if method == "delong":
                moved = aucs + margin * errors
            else:
                with np.errstate(invalid="ignore"):  # 0 / 0 without variance
                    moved = expit(logit(aucs) + margin * errors / (aucs * (1 - aucs)))
            return np.clip(np.where(flat, aucs, moved) + math.copysign(self.doubt, margin), 0, 1)

        return Interval(self._told(end(-below)), self._told(end(above)))

    def contrast(
        self, weights: ArrayLike, *, alternative: Alternative = "two-sided", confidence_level: float = 0.95
    ) -> SignificanceResult:
        """Test whether a weighted sum of the AUCs is 0, with Z = L A / sqrt(L S L'), or t for clustered rows.

        Parameters
        ----------
        weights : array-like of shape (n_models,)
            The weights L, finite and not all zero. [1, -1] is the difference between two models, and [1, -1/2, -1/2] is
            the first model minus the mean of two others. A float such as 1/3 is taken as the exact fraction.
        alternative : {"two-sided", "less", "greater"}
            The claim to test: the sum is not 0, is negative, or is positive.
        confidence_level : float in (0, 1)
            Confidence level of the interval; the test is at level ``1 - confidence_level``.

        Returns
        -------
        SignificanceResult
            `effect` is the weighted sum, with its interval (clipped to the range that AUCs in [0, 1] allow). Z is NaN
            if a class has fewer than two rows. If the variance is 0, Z is 0 and p is 1 (1/2 if one-sided) for an effect
            of 0 (identical models); for any other effect, Z is infinite and p is 0, with a warning.

        Raises
        ------
        ValueError
            If an argument is out of range.

        References
        ----------
        DeLong et al. (1988), doi:10.2307/2531595, eq. 6.
        """
        values = _as_contrast("weights", weights, self.aucs.size)
        compared = Compared(f"the contrast {show(values)} of {self._label_aucs()}", "0")
        return contrast_test(
            self.moments, values, compared, alternative=alternative, confidence_level=confidence_level,
            clusters=self._clusters,
        )  # fmt: skip

    def equality_test(self, *, confidence_level: float = 0.95) -> SignificanceResult:
        """Test whether all AUCs are equal, with a chi-square statistic, or Hotelling's F for clustered rows.

        Parameters
        ----------
        confidence_level : float in (0, 1)
            The test is at level ``1 - confidence_level``.

        Returns
        -------
        SignificanceResult
            `df` is the rank of the covariance of the differences: n_models - 1, or fewer if models repeat each other.
            The covariance is then inverted on its range (exactly for up to 50 models). If all models are alike, the
            statistic and `df` are 0, and p is 1. `effect` is the highest AUC minus the lowest; there is no interval.
            With `groups`, the statistic is ``chi2 (d - r + 1) / (d r)`` for rank r and d degrees of freedom of t, and
            has an F distribution; it is NaN, with a warning, if models outnumber clusters.

        Raises
        ------
        ValueError
            If there are fewer than two models, or `confidence_level` is out of range.

        References
        ----------
        DeLong et al. (1988), doi:10.2307/2531595, eq. 5.
        """
        from scipy.special import chdtrc, chdtri, fdtrc, fdtri

        check_integer("the number of models", self.aucs.size, low=2)
        _, alpha = check_confidence_level(confidence_level)
        statistic, rank, enough = math.nan, self.aucs.size - 1, self.moments.defined
        if enough and self.n_clusters is not None and self.n_clusters < self.aucs.size:
            found, enough = count_of(self.n_clusters, "cluster"), False
            warn_undefined("the test of equal AUCs", f"a class occurs in {found}, and {self.aucs.size} are needed")
        if enough:
            statistic, rank = _chi_square(self.moments)
        df: float | tuple[int, float] = rank
        null = Null("chi2", (rank,))
        if not rank:
            pvalue, critical = 1.0, 0.0
        elif self._clusters is None:
            pvalue, critical = float(chdtrc(rank, statistic)), float(chdtri(rank, alpha))
        elif not enough:
            pvalue = critical = math.nan
        else:
            d = max(self._clusters.effective - 1, float(rank))
            df = rank, d - rank + 1
            null = Null("f", df)
            statistic *= df[1] / (d * rank)
            pvalue = 0.0 if math.isinf(statistic) else float(fdtrc(*df, statistic))
            critical = float(fdtri(*df, 1 - alpha))
        result = build_result(
            SignificanceResult, f"DeLong's test of equal AUCs{_of_clustered(self._clusters)}",
            Compared("", "", self._label_aucs(), "range"), statistic, pvalue, critical, alpha=alpha,
            effect=float(np.ptp(self.aucs)), df=df,
            null=null if rank else None,
        )  # fmt: skip
        return _with_caution(result, self._clusters)

    def _label_aucs(self) -> str:
        """Return words for the AUCs, with the models' names if they have any."""
        return "the AUCs" if self.names is None else f"the AUCs of {listed(self.names)}"


def contrast_test(
    moments: PlacementMoments | WeightedMoments,
    weights: Sequence[float],
    compared: Compared,
    *,
    alternative: Alternative,
    confidence_level: float,
    clusters: Clusters | None = None,
) -> SignificanceResult:
    """Test whether a weighted sum of AUCs is 0."""
    exponent = math.frexp(max(map(abs, weights)))[1]
    unit = exponent if abs(exponent) > USUAL_EXPONENT else 0  # unscaled, the variance could overflow or underflow
    exact = [_as_fraction(math.ldexp(weight, -unit)) for weight in weights]
    bounds = float(sum(w for w in exact if w < 0)), float(sum(w for w in exact if w > 0))
    effect = variance = math.nan
    if moments.defines(exact):
        effect, variance = float(moments.effect(exact)), float(moments.variance(exact))
    found = z_test(
        compared, effect, variance, bounds, alternative=alternative, confidence_level=confidence_level, exponent=unit,
        df=_degrees(clusters), test=f"DeLong's test{_of_clustered(clusters)}",
    )  # fmt: skip
    return _with_caution(found, clusters)


def _with_caution(found: SignificanceResult, clusters: Clusters | None) -> SignificanceResult:
    """Add the caution about few clusters, if any, to the conclusion."""
    return replace(found, conclusion=f"{found.conclusion} {_caution_of_clusters(clusters)}".rstrip())


def _degrees(clusters: Clusters | None) -> float | None:
    """Return the degrees of freedom of t, or None for the normal distribution of independent rows."""
    return None if clusters is None else max(clusters.effective - 1, 1.0)


def _of_clustered(clusters: Clusters | None) -> str:
    """Return the words that follow a method's name if rows are clustered."""
    return "" if clusters is None else " of clustered rows"


def _caution_of_clusters(clusters: Clusters | None) -> str:
    """Return a caution if there are too few clusters, or an empty string."""
    if clusters is None or clusters.n >= FEW_CLUSTERS:
        return ""
    return (
        f"A class occurs in only {count_of(clusters.n, 'cluster')}: with fewer than {FEW_CLUSTERS}, the variance "
        "is uncertain, so confirm the result on more clusters."
    )


def _as_fraction(weight: float) -> Fraction:
    """Return the fraction that a float stands for, so that weights of 1/3, 1/3, 1/3 and -1 add up to 0."""
    simple = Fraction(weight).limit_denominator(SIMPLE)
    return simple if float(simple) == weight else Fraction(weight)


def _chi_square(moments: PlacementMoments | WeightedMoments) -> tuple[float, int]:
    """Return the statistic of the test of equal AUCs, and its degrees of freedom."""
    if isinstance(moments, PlacementMoments) and len(moments.doubled_u) <= MOST_EXACT:
        statistic, df = moments.chi_square()
        if math.isinf(statistic):
            warn_degenerate("the test of equal AUCs", "a contrast of AUCs has an estimated variance of 0")
        return statistic, df
    effects, variances = moments.differences()
    errors = np.sqrt(np.diagonal(variances))
    if (effects[errors == 0] != 0).any():
        warn_degenerate("the test of equal AUCs", "a difference of AUCs has an estimated variance of 0")
        return math.inf, int(np.count_nonzero(errors)) + 1
    effects, variances, errors = effects[errors > 0], variances[np.ix_(errors > 0, errors > 0)], errors[errors > 0]
    if not errors.size:
        return 0.0, 0
    roots, directions = np.linalg.eigh(variances / errors / errors[:, None])
    along = directions.T @ (effects / errors)
    kept = roots > roots.max() * errors.size * np.finfo(np.float64).eps
    if (np.abs(along[~kept]) > NO_DIRECTION * max(np.abs(along).max(), 1)).any():
        warn_degenerate("the test of equal AUCs", "a contrast of AUCs has an estimated variance of 0")
        return math.inf, int(kept.sum()) + 1
    return float(np.sum(along[kept] ** 2 / roots[kept])), int(kept.sum())


def z_test(
    compared: Compared,
    effect: float,
    variance: float,
    bounds: tuple[float, float],
    *,
    alternative: Alternative,
    confidence_level: float,
    df: float | None = None,
    test: str = "DeLong's test",
    doubt: tuple[float, float] = (0.0, 0.0),
    exponent: int = 0,
) -> SignificanceResult:
    """Test whether an effect is 0, from DeLong's variance and a normal or t distribution.

    The interval is clipped to `bounds`. If the variance is 0, Z is 0 for an effect of 0 and infinite otherwise. If the
    effect may be lower or higher by `doubt`, the value with the least extreme Z is tested. The reported effect and
    interval are scaled by 2**exponent.
    """
    from scipy.special import ndtr, stdtr

    alpha = check_alpha(confidence_level, alternative)
    error = math.sqrt(variance)
    tested = least_extreme(effect, doubt, alternative)
    if variance == 0:
        z = math.copysign(math.inf, tested) if tested else 0.0
        if tested:
            reason = "the estimated variance is 0, but the estimate is not"
            warn_degenerate(f"the test of {compared.both or compared.first}", reason)
    else:
        z = tested / error
    tail = {"two-sided": -abs(z), "less": z, "greater": -z}[alternative]
    pvalue = float(ndtr(tail) if df is None else stdtr(df, tail)) * (2 if alternative == "two-sided" else 1)
    below, above = normal_margins(alpha, alternative, df)
    low = bounds[0] if below == math.inf else max(effect - doubt[0] - below * error, bounds[0])
    high = bounds[1] if above == math.inf else min(effect + doubt[1] + above * error, bounds[1])
    if math.isnan(z):
        low = high = math.nan
    effect, low, high = (np.ldexp(each, exponent).item() for each in (effect, low, high))
    return build_result(
        SignificanceResult, test, compared, z, pvalue, -above if alternative == "less" else below,
        alternative=alternative, alpha=alpha, effect=effect, interval=Interval(low, high),
        caution=NO_VARIANCE if variance == 0 else "", df=df,
        null=Null("norm") if df is None else Null("t", (df,)),
    )  # fmt: skip


def _as_contrast(name: str, values: Any, n_models: int) -> list[float]:
    """Return the weights of a contrast: one finite weight per model, not all zero."""
    weights = as_scores(name, values)
    if weights.size != n_models:
        raise ValueError(f"{name} must have {n_models} values, one for each model, got {weights.size}")
    check_finite(name, weights)
    if not weights.any():
        raise ValueError(f"{name} must not be all zero, got {show(weights.tolist())}")
    return [float(weight) for weight in weights.tolist()]
