"""Compute what decisions cost when amounts differ by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastevals._options import as_flag, check_integer
from fastevals._validation.arrays import (
    as_frequencies,
    as_predictions,
    as_thresholds,
    as_weights,
    check_finite,
    check_one_weight,
    check_probabilities,
    check_same_length,
)
from fastevals._validation.labels import as_groups, binary_labels
from fastevals.counting.ordering import BinaryLabels
from fastevals.infer.bootstrap.bootstrap import BootstrapSettings
from fastevals.infer.costs.decisions import RowCosts
from fastevals.infer.costs.measured import CostedRows, measure_costs
from fastevals.infer.significance.paired import compared_pairs
from fastevals.measure.row_costs import RowAmounts
from fastevals.results import MAX_RESAMPLES, Alternative

NAMES = "cost_fp", "cost_fn", "cost_tp"


def row_costs(
    y_true: ArrayLike,
    y_score: Any,
    *,
    cost_fp: ArrayLike = 1.0,
    cost_fn: ArrayLike = 1.0,
    cost_tp: ArrayLike = 0.0,
    threshold: float | None = None,
    per_row_rule: bool | None = None,
    reference: Any = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    frequency_weight: ArrayLike | None = None,
    pos_label: Any = None,
    rng: Any = None,
    progress: bool = False,
) -> RowCosts:
    """Compute what decisions cost when the amounts differ by row, such as the amounts of payments that may be fraud.

    Three rules decide: the threshold with the lowest total cost, a given threshold, and Elkan's rule, which weighs the
    probability of each row against the row's own costs. The result has an interval for each rule's total cost, and for
    its savings compared with predicting no row or all rows positive.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,) or (n_models, n_samples), mapping of name to array-like, or frame
        Finite scores of one or several models, higher for the positive class.
    cost_fp, cost_fn : float or array-like of shape (n_samples,)
        Cost of predicting a negative row positive, and of predicting a positive row negative; at least 0, and not all
        0. A number applies to all rows. The per-row rule needs both costs of every row.
    cost_tp : float or array-like of shape (n_samples,)
        Cost of predicting a positive row positive, such as the fee of a review; a benefit is negative. Predicting a
        negative row negative costs nothing.
    threshold : float, optional
        A threshold fixed beforehand: rows with ``score >= threshold`` are predicted positive.
    per_row_rule : bool, optional
        Whether to measure the per-row rule: predict positive where ``p (cost_fn - cost_tp) > (1 - p) cost_fp``. By
        default it is measured for models whose scores are in [0, 1], unless a cost reveals the labels. True requires
        such scores.
    reference : name or int, optional
        The model to compare the others with; by default all pairs are compared.
    n_resamples : int
        Bootstrap replicates for best thresholds and for differences of models. With 0, these have no intervals.
    confidence_level : float in (0, 1)
        Confidence level of the intervals.
    alternative : {"two-sided", "less", "greater"}
        Whether intervals have two ends or a single end, and the claim to test about differences.
    groups : array-like of shape (n_samples,), optional
        The cluster of each row, such as a customer. Clusters, not rows, are independent.
    sample_weight, frequency_weight : array-like of shape (n_samples,), optional
        Row weights, or numbers of copies of each row; not both. Totals are sums of weighted costs.
    pos_label : label, optional
        The positive class; 1 for labels 0/1, -1/1 and booleans.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed. The same seed gives the same bits at any number of threads.
    progress : bool
        Show a bar (needs tqdm).

    Returns
    -------
    RowCosts
        A mapping from each model to its `ModelCosts`, with the differences of models.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    The best threshold is exact: it is the best threshold of counts in which each row is weighted by the amount at stake
    in it.

    A total is the number of rows (or their weight) times the mean cost. Intervals of rules that are not chosen on the
    rows are Hall's [2]_: a t interval whose skewness is removed by a transformation. They need no resampling. Two
    corrections keep these intervals from being too narrow. The degrees of freedom of t allow for heavy-tailed amounts
    [3]_. And variance and skewness include additional half rows: for each class and each decision, half a row with the
    class's root mean square amounts. The reason is that mistakes that are rare in the sample may be more frequent in
    other samples. A threshold chosen on the same rows makes the cost look too low. So replicates choose the threshold
    anew, and each end of the interval comes from Hall's interval or from the percentiles of the replicates, whichever
    is further out; both are corrected for the optimism as in `bootstrap`. Differences use paired replicates; their
    intervals are simultaneous over all pairs (max-T), separately for each rule.

    If a few rows carry most of the amount, no method has the stated coverage, because the next large amount has not
    been seen yet. `Estimate.caution` says so if the estimate is as skewed as a sum of fewer than 10 equal amounts. It
    also warns if a class has fewer than 50 rows.

    References
    ----------
    .. [1] Elkan (2001), The foundations of cost-sensitive learning, IJCAI, equation 1.
    .. [2] Hall, P. (1992), "On the Removal of Skewness by Transformation", Journal of the Royal Statistical Society B
       54, 221-228.
    .. [3] Satterthwaite (1946), "An Approximate Distribution of Estimates of Variance Components", Biometrics Bulletin
       2, 110-114.

    Examples
    --------
    >>> import fastevals
    >>> y_true, y_score = [0, 0, 1, 0, 1, 1, 0, 1], [0.1, 0.4, 0.3, 0.2, 0.6, 0.8, 0.5, 0.7]
    >>> amounts = [20.0, 90.0, 8.0, 5.0, 300.0, 45.0, 60.0, 80.0]
    >>> found = fastevals.row_costs(y_true, y_score, cost_fp=10.0, cost_fn=amounts, n_resamples=0)["y_score"]
    >>> found.best.threshold, found.best.total.value, found.best.savings.value
    (0.6, 8.0, 425.0)
    """
    settings = cost_settings(n_resamples, confidence_level, alternative, rng)
    labels = BinaryLabels(*binary_labels("y_true", y_true, pos_label))
    labelled, names, _ = as_predictions("y_score", y_score)
    check_same_length(y_true=labels.values, **labelled)
    for name, values in labelled.items():
        check_finite(name, values)
    models = tuple(labelled) if len(labelled) == 1 and names is None else names or tuple(range(len(labelled)))
    scores = dict(zip(models, labelled.values(), strict=True))
    amounts = RowAmounts.checked(labels.values, cost_fp, cost_fn, cost_tp, NAMES)
    at = None if threshold is None else as_thresholds("threshold", threshold, scalar=True)
    pairs = compared_pairs(models, reference)
    if per_row_rule is not None and as_flag("per_row_rule", per_row_rule):
        for name, values in labelled.items():
            check_probabilities(name, values.min(), values.max())
    rows = CostedRows(labels.flags().view(np.bool_), scores, amounts)
    check_one_weight(sample_weight, frequency_weight)
    if groups is not None:
        clusters = as_groups("groups", groups)
        check_same_length(y_true=labels.values, groups=clusters)
        rows = rows._replace(groups=clusters)
    if sample_weight is not None:
        weights = as_weights("sample_weight", sample_weight)
        check_same_length(y_true=labels.values, sample_weight=weights)
        rows = rows._replace(weights=weights).take(weights > 0)
    elif frequency_weight is not None:
        copies = as_frequencies("frequency_weight", frequency_weight)
        check_same_length(y_true=labels.values, frequency_weight=copies)
        rows = rows.take(np.repeat(np.arange(copies.size), copies))
    return measure_costs(rows, settings, at, per_row_rule, pairs, pos_label=labels.positive, progress=progress)


def cost_settings(n_resamples: Any, confidence_level: Any, alternative: Any, rng: Any) -> BootstrapSettings:
    """Check the settings of intervals; there may be 0 replicates."""
    number = check_integer("n_resamples", n_resamples, low=0, high=MAX_RESAMPLES)
    return BootstrapSettings.checked(number or 1, confidence_level, "BCa", alternative, rng)._replace(
        n_resamples=number
    )
