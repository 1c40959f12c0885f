"""The two calls: models that score, and models that predict classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.infer.bootstrap.plan import Plan
from fastevals.infer.bootstrap.result import accelerations_of, estimate_of
from fastevals.infer.bootstrap.samples.base import Sample
from fastevals.infer.bootstrap.subjects import Asked, Design, models_of, predictions_of
from fastevals.infer.comparison.differences import differences_of
from fastevals.infer.comparison.result import Difference, MetricComparison, ModelComparison
from fastevals.infer.pairs import pairs_of
from fastevals.measure.asked import as_asked
from fastevals.measure.metric_kinds import bounds_of

__all__ = ["compare_predictions", "compare_rankings"]


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
) -> ModelComparison:
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
    ModelComparison
        A mapping from each metric to its `MetricComparison`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        As from `bootstrap`; if there are too few replicates for the confidence level; and if a difference is the same
        in all replicates, so that its interval has no width and its p-value says nothing.

    Notes
    -----
    Models that rank alike differ by 0, with p = 1. The smallest p-value is 1 over one more than the replicates that are
    defined. For AUCs alone `delong` gives the same without a bootstrap.

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
    pairs = pairs_of(tuple(models), reference)
    design = Design(groups, sample_weight, check.as_flag("stratified", stratified), pos_label)
    sample = models_of(y_true, labelled, asked, design)
    return _compared(sample, asked, models, pairs, plan, keep_distribution, progress)


def compare_predictions(
    y_true: ArrayLike,
    predictions: Any,
    *,
    metrics: Any = "accuracy",
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
) -> ModelComparison:
    """Compare the classes that models predict on the same rows, by any metrics, with one paired bootstrap.

    As `compare_rankings`. Where rows that have the same true class and the same prediction by each model are many, they
    are drawn together, as a count: a replicate then costs the same for any number of rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels: integers, booleans, strings, or floats without a fraction.
    predictions : mapping of name to array-like, array-like of shape (n_models, n_samples), or frame
        Predicted labels of two models or more: an entry, a row or a column each.
    metrics : str, `metric(...)`, function, a sequence of these, or a mapping of names to them
        As for `bootstrap`, of predicted labels: ``metric("f1", average="macro")``, say; with ``average=None`` a value
        for each class. A function takes a stack of confusion matrices, of shape (n, n_models, K, K) or
        (n_models, K, K), and gives numbers along all axes but the last two, or more axes after them.
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
    ModelComparison
        A mapping from each metric to its `MetricComparison`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        As from `bootstrap`; if there are too few replicates for the confidence level; and if a difference is the same
        in all replicates, so that its interval has no width and its p-value says nothing.

    References
    ----------
    As of `compare_rankings`.

    Examples
    --------
    >>> import fastevals
    >>> y_true = ["a", "b", "c", "a", "b", "c"]
    >>> predictions = {"old": ["a", "b", "b", "a", "c", "a"], "new": ["a", "b", "c", "a", "b", "a"]}
    >>> found = fastevals.compare_predictions(y_true, predictions, reference="old", n_resamples=999, rng=0)
    >>> found["accuracy"].differences[0].value
    0.33333333333333337
    """
    plan = Plan.of(n_resamples, confidence_level, method, alternative, rng)
    asked = as_asked(metrics)
    true = check.as_true_labels("y_true", y_true)
    labelled, names = check.as_models_labels("predictions", true, predictions)
    pairs = pairs_of(names, reference)
    design = Design(groups, sample_weight, check.as_flag("stratified", stratified), pos_label)
    sample = predictions_of(true, labelled, asked, design)
    return _compared(sample, asked, list(names), pairs, plan, keep_distribution, progress)


def _compared(
    sample: Sample,
    asked: Asked,
    models: list[Any],
    pairs: NDArray[np.intp],
    plan: Plan,
    keep: bool,
    progress: bool,
) -> ModelComparison:
    """Draw replicates of all models' metrics; give the estimates of each, and the differences."""
    values = sample.estimates()
    replicates = sample.replicates(plan.n_resamples, plan.key, progress=progress)
    accelerations = accelerations_of(sample, values, asked, plan)
    comparisons = {}
    for k, (label, each) in enumerate(asked.items()):
        bounds = bounds_of(each)
        check.check_of_models(label, values[k].shape, replicates[k].shape[1:], len(models))
        acceleration = np.broadcast_to(accelerations.get(k, 0.0), values[k].shape)
        estimates = {
            model: estimate_of(
                f"{label} of {model}",
                each,
                values[k][i],
                replicates[k][:, i],
                acceleration[i],
                plan,
                keep,
                sample.class_sizes,
            )
            for i, model in enumerate(models)
        }
        undefined, rows = differences_of(
            values[k], replicates[k], pairs, plan, (bounds[0] - bounds[1], bounds[1] - bounds[0])
        )
        differences = tuple(Difference(models[i], models[j], *row) for (i, j), row in zip(pairs, rows, strict=True))
        same = [one for one in differences if np.any((np.asarray(one.value) != 0) & (one.standard_error == 0))]
        if same:
            what = f"the difference of {label} of {same[0].model} and {same[0].reference}"
            check.warn_degenerate(what, f"it is the same in all replicates ({len(same)} of {len(differences)} pairs)")
        comparisons[label] = MetricComparison(estimates, differences, undefined)
    return ModelComparison(
        comparisons, plan.n_resamples, plan.confidence_level, plan.method, plan.alternative,
        labels=sample.labels, pos_label=sample.pos_label,
    )  # fmt: skip
