"""Models on the same rows: differences of any metric, with simultaneous intervals and p-values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.infer.bootstrap.plan import Plan
from fastevals.infer.bootstrap.result import Estimate, estimate_of
from fastevals.infer.bootstrap.subjects import Design, bounds_of, models_of
from fastevals.infer.results import ByMetric
from fastevals.measure.asked import as_asked
from fastevals.measure.results import Frozen, Interval

__all__ = ["Difference", "MetricComparison", "RankingComparison", "compare_rankings"]

Floats = NDArray[np.float64]

ROUNDING = 2.0**-48  # relative; what is less is rounding
TIED = 1e-9  # relative; statistics as near are equal: each is a difference of replicates that were rounded
SIDES: dict[str, Any] = {"two-sided": np.abs, "less": np.negative, "greater": np.positive}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference(Frozen):
    """A metric of one model less that of another.

    Attributes
    ----------
    model, reference : str or int
        The two: `value` is the metric of `model` less that of `reference`.
    value : float
        The difference.
    confidence_interval : Interval
        Simultaneous: all differences of the metric are within theirs at once, at the confidence level.
    standard_error : float
        Of the difference.
    pvalue : float
        Of no difference, adjusted for the number of differences: below alpha only where the interval leaves out 0.
    unadjusted_pvalue : float
        As if this difference were the only one.
    """

    model: Any
    reference: Any
    value: float
    confidence_interval: Interval
    standard_error: float
    pvalue: float
    unadjusted_pvalue: float

    def __repr__(self) -> str:
        interval = "[{:.4g}, {:.4g}]".format(*self.confidence_interval)
        return f"Difference({self.model} - {self.reference}: {self.value:.4g}, {interval}, p={self.pvalue:.3g})"

    def to_dict(self) -> dict[str, Any]:
        """Give the fields, the interval as a list."""
        names = {"model": plain_name(self.model), "reference": plain_name(self.reference)}
        return {**Frozen.to_dict(self), **names, "confidence_interval": list(self.confidence_interval)}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MetricComparison(Frozen):
    """One metric of all models.

    Attributes
    ----------
    estimates : dict of model to Estimate
        Each model's own, with an interval that is not simultaneous.
    differences : tuple of Difference
        Of each pair, or of each model and the reference.
    n_undefined : int
        Replicates in which a difference is undefined, or infinite: they are left out of all.
    """

    estimates: dict[Any, Estimate]
    differences: tuple[Difference, ...]
    n_undefined: int

    def __repr__(self) -> str:
        return f"MetricComparison({list(self.differences)!r})"

    def to_dict(self) -> dict[str, Any]:
        """Give estimates and differences as dicts."""
        return {
            "estimates": {plain_name(name): each.to_dict() for name, each in self.estimates.items()},
            "differences": [each.to_dict() for each in self.differences],
            "n_undefined": self.n_undefined,
        }


class RankingComparison(ByMetric):
    """What `compare_rankings` gives: a mapping from each metric to its `MetricComparison`.

    Examples
    --------
    >>> import fastevals
    >>> y_true, scores = [0, 0, 0, 1, 1, 1], {"a": [1, 2, 3, 2, 3, 4], "b": [2, 3, 2, 1, 3, 2]}
    >>> result = fastevals.compare_rankings(y_true, scores, stratified=True, n_resamples=99, rng=0)
    >>> [(each.model, each.reference) for each in result["roc_auc"].differences]
    [('a', 'b')]
    """

    __slots__ = ()


def plain_name(name: Any) -> Any:
    """Give a model's name as JSON takes it where it can."""
    return name.item() if isinstance(name, np.generic) else name


def compare_rankings(
    y_true: ArrayLike,
    scores: Any,
    *,
    metrics: Any = "roc_auc",
    reference: Any = None,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    method: str = "BCa",
    alternative: str = "two-sided",
    stratified: bool = False,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    rng: Any = None,
    keep_distribution: bool = False,
    progress: bool = False,
) -> RankingComparison:
    """Compare models on the same rows, by any metrics, with one paired bootstrap.

    Each replicate draws rows once, for all models. A difference in units of its standard error is compared with the
    largest such deviation of all differences of the metric in each replicate (max-T): intervals hold for all of them
    at once, and p-values are adjusted for their number, with due regard to how they are correlated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes: numbers, booleans or strings.
    scores : mapping of name to array-like, array-like of shape (n_models, n_samples), or frame
        Finite scores of two models or more: an entry, a row or a column each.
    metrics : str, `metric(...)`, function, a sequence of these, or a mapping of names to them
        As for `bootstrap`, of scores.
    reference : name or int, optional
        The model that the others are compared with, by name, or by number where they have none; by default all pairs
        are compared.
    n_resamples : int
        Number of replicates.
    confidence_level : float in (0, 1)
        Of the intervals.
    method : {"BCa", "percentile", "basic", "normal"}
        Of the interval of each model's own estimate.
    alternative : {"two-sided", "less", "greater"}
        What to show of the differences: that they are not 0, below or above.
    stratified, groups, sample_weight, pos_label, rng, keep_distribution, progress
        As for `bootstrap`.

    Returns
    -------
    RankingComparison
        A mapping from each metric to its `MetricComparison`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        As from `bootstrap`; and if there are too few replicates for the confidence level.

    Notes
    -----
    Models that rank alike differ by 0, with p = 1. The smallest p-value is 1 over one more than the
    replicates that are defined. For AUCs alone
    `delong` gives the same without a bootstrap.

    Takes 8 bytes a row and model beyond the rankings, and up to 6 a row and thread.

    References
    ----------
    .. [1] Westfall, P. H. and Young, S. S. (1993), *Resampling-Based Multiple Testing*, Wiley.
    .. [2] Romano, J. P. and Wolf, M. (2005), "Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing",
       JASA 100, 94-108, doi:10.1198/016214504000000539. (Here in a single step.)

    Examples
    --------
    >>> import fastevals
    >>> y_true = [0, 0, 0, 1, 1, 1]
    >>> scores = {"a": [1, 2, 3, 2, 3, 4], "b": [2, 3, 2, 1, 3, 2]}
    >>> found = fastevals.compare_rankings(y_true, scores, stratified=True, n_resamples=999, rng=0)
    >>> found["roc_auc"].differences[0].value
    0.3888888888888889
    """
    plan = Plan.of(n_resamples, confidence_level, method, alternative, rng)
    asked = as_asked(metrics)
    labelled, names, _ = check.as_predictions("scores", scores)
    models = list(range(len(labelled))) if names is None else list(names)
    check.check_two_models("scores", models)
    pairs = list(combinations(range(len(models)), 2))
    if reference is not None:
        check.check_choice("reference", reference, models)
        pairs = [(k, models.index(reference)) for k in range(len(models)) if models[k] != reference]
    design = Design(groups, sample_weight, check.as_flag("stratified", stratified), pos_label)
    sample = models_of(y_true, labelled, asked, design)
    values = sample.estimates()
    replicates = sample.replicates(plan.n_resamples, plan.key, progress=progress)
    defined = [k for k, value in enumerate(values) if not np.isnan(value).all()]
    accelerations = sample.accelerations(plan.key, defined) if plan.method == "BCa" else {}
    comparisons = {}
    for k, (label, each) in enumerate(asked.items()):
        bounds = bounds_of(each)
        acceleration = np.broadcast_to(accelerations.get(k, 0.0), values[k].shape)
        estimates = {
            model: estimate_of(
                f"{label} of {model}",
                values[k][i],
                replicates[k][:, i],
                acceleration[i],
                plan,
                bounds,
                keep_distribution,
            )
            for i, model in enumerate(models)
        }
        undefined, rows = _differences(
            values[k], replicates[k], pairs, plan, (bounds[0] - bounds[1], bounds[1] - bounds[0])
        )
        differences = tuple(Difference(models[i], models[j], *row) for (i, j), row in zip(pairs, rows, strict=True))
        comparisons[label] = MetricComparison(estimates, differences, undefined)
    return RankingComparison(comparisons, plan.n_resamples, plan.confidence_level, plan.method, plan.alternative)


def _differences(
    values: Floats,
    replicates: Floats,
    pairs: list[tuple[int, int]],
    plan: Plan,
    bounds: tuple[float, float],
) -> tuple[int, list[tuple[Any, ...]]]:
    """Give the number of undefined replicates, and of each pair what a Difference says of it.

    Values have shape (n_models,), replicates (n_resamples, n_models).
    """
    alternative, side = plan.alternative, SIDES[plan.alternative]
    compared = np.unique(pairs)
    values = np.where(np.isfinite(values), values, np.nan)
    defined = compared[~np.isnan(values[compared])]
    kept = np.isfinite(replicates[:, defined]).all(axis=1)
    replicates = replicates[kept]
    n = len(replicates)
    largest = np.full(n, -math.inf)
    found = []
    for i, j in pairs:
        difference = values[i] - values[j]
        with np.errstate(invalid="ignore"):  # of models whose metric is infinite
            deviations = replicates[:, i] - replicates[:, j] - difference
        error = float(deviations.std(ddof=1)) if n > 1 else math.nan
        statistic = float(side(difference))
        if n and np.abs(deviations).max() <= ROUNDING * abs(values[i]):  # alike, or as different in all replicates
            deviations, error = np.zeros(n), 0.0
            alike = abs(difference) <= ROUNDING * abs(values[i])
            difference, statistic = (0.0, 0.0) if alike else (difference, math.copysign(math.inf, statistic))
        else:
            deviations, statistic = side(deviations) / error, statistic / error
        if not math.isnan(statistic):
            np.maximum(largest, deviations, out=largest)
        found.append((float(difference), error, statistic, _pvalue(deviations, statistic)))
    place = math.ceil(Fraction(repr(plan.confidence_level)) * (n + 1)) - 1
    if place >= n:
        check.warn_too_few("n_resamples", n, plan.confidence_level)
    reach = float(np.partition(largest, place)[place]) if place < n else math.inf
    rows = []
    for difference, error, statistic, pvalue in found:
        margin = reach * error if error else 0.0
        ends = [
            0.0 if abs(end) <= TIED * abs(difference) else end for end in (difference - margin, difference + margin)
        ]
        low = bounds[0] if alternative == "less" else max(ends[0], bounds[0])
        high = bounds[1] if alternative == "greater" else min(ends[1], bounds[1])
        interval = Interval(math.nan, math.nan) if math.isnan(statistic) else Interval(float(low), float(high))
        rows.append((difference, interval, error, _pvalue(largest, statistic), pvalue))
    return int(np.count_nonzero(~kept)), rows


def _pvalue(deviations: Floats, statistic: float) -> float:
    """Give the share of deviations that reach a statistic, the data's own among them."""
    if math.isnan(statistic):
        return math.nan
    reached = np.count_nonzero(deviations >= statistic - TIED * abs(statistic)) if math.isfinite(statistic) else 0
    if statistic == -math.inf:
        reached = deviations.size
    return (1 + reached) / (1 + deviations.size)
