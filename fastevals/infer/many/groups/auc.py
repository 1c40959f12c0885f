"""The AUC of each group of rows: each user, query or day."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals._kernels.groups_metrics import placement_squares
from fastevals._random import seed_key
from fastevals.infer.delong.normal import normal_margins
from fastevals.infer.many.groups.bootstrap import NO_INTERVAL, bootstrap_groups, bootstrap_mean
from fastevals.infer.results import MOST_RESAMPLES, level_of
from fastevals.measure.many.groups import (
    GroupedMetric,
    GroupedScores,
    grouped_metric,
    grouped_scores,
    mean_of,
    warn_of_groups,
)
from fastevals.measure.many.groups.values import aucs_of
from fastevals.measure.ordering import BinaryLabels
from fastevals.measure.results import Interval

__all__ = ["grouped_auc", "scores_by_group"]

Floats = NDArray[np.float64]

INTERVALS = (None, "delong", "bootstrap")


def grouped_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    groups: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    interval: str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    rng: Any = None,
    progress: bool = False,
) -> GroupedMetric:
    """Compute the AUC of each group of rows, and their means over groups (GAUC).

    Rows are brought together by group in two linear passes, whatever their order, then sorted within each group; groups
    may be as many as rows, or one may have them all.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,)
        Finite scores, higher for the positive class. Only scores of one group are compared. Ties are exact equality.
    groups : array-like of shape (n_samples,)
        The group of each row (a user, a query, a day), in any order: numbers, booleans, strings, dates or times.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative. Rows of weight zero are left out; a group that has no others has the weight 0 and no
        value. With ``interval="delong"`` they say how often each row counts: whole numbers.
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans, and must be given for other labels.
    interval : {None, "delong", "bootstrap"}
        How standard errors and intervals are made, see the notes.
    confidence_level : float in (0, 1)
        Of each interval by itself.
    n_resamples : int
        Bootstrap replicates.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed of the bootstrap. The same seed gives the same bits, at any number of threads.
    progress : bool
        Show a bar during the bootstrap (needs tqdm).

    Returns
    -------
    GroupedMetric
        `groups` and `values`, with `mean` (weighted by rows, or by row weights) and `macro_mean` over the groups that
        have a value.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        With the number of groups that have no value; and, where intervals are asked for, with the number of those that
        have no standard error, no replicate that has a value, or an interval of no width (an AUC of 0 or 1).

    Notes
    -----
    ``"delong"``: variances from the placements within each group, which need two rows of each class; intervals are the
    AUC plus or minus normal standard errors, within [0, 1], and the AUC itself where the variance is 0, as those of
    `delong`. Groups are taken as given: the mean's standard error is of the groups' own variances, and NaN if a
    group that has a value has none.

    ``"bootstrap"``: percentile intervals. For a group's, as many rows as it has are drawn from it, so class counts
    vary; replicates without a class are left out, and counted in `n_undefined_replicates`. For the mean's, whole groups
    are drawn (groups are the units, as in ``bootstrap(groups=...)``), so that it speaks of other groups too; those
    that lack a class are drawn but add nothing, those of weight zero are not drawn. A replicate of group g (in order)
    is the same whatever their number.

    Takes about 20 bytes a row beyond the input (30 with weights), 27 (43) where one group has them all, and about 70 a
    group, of which the result has 48. A bootstrap takes O(n_resamples) and O(rows of the largest group) for each
    thread.

    References
    ----------
    DeLong et al. (1988), doi:10.2307/2531595. Zhu et al. (2017), "Optimized Cost per Click in Taobao Display
    Advertising", doi:10.1145/3097983.3098134. (The mean weighted by impressions.)

    Examples
    --------
    >>> import fastevals
    >>> y_true, y_score = [0, 1, 1, 0, 0, 0, 1, 1], [0.1, 0.8, 0.3, 0.4, 0.3, 0.4, 0.2, 0.5]
    >>> found = fastevals.grouped_auc(y_true, y_score, [7, 7, 7, 7, 3, 3, 3, 3], interval="delong")
    >>> found.groups, found.values, found.standard_errors.round(4)
    (array([3, 7]), array([0.5 , 0.75]), array([0.5   , 0.3536]))
    """
    check.check_choice("interval", interval, INTERVALS)
    _, alpha = level_of(confidence_level)
    n_resamples = check.check_integer("n_resamples", n_resamples, low=1, high=MOST_RESAMPLES)
    progress = check.as_flag("progress", progress)
    if interval == "delong" and sample_weight is not None:
        sample_weight = check.as_frequencies("sample_weight", sample_weight).astype(np.float64)
    scores = scores_by_group(y_true, y_score, groups, sample_weight, pos_label)
    values = aucs_of(scores)
    warn_of_groups("roc_auc", values)
    found = {}
    if interval == "delong":
        found = _delong(scores, values, alpha)
    elif interval == "bootstrap":
        found = _bootstrap(scores, values, alpha, n_resamples, rng, progress)
    return grouped_metric("roc_auc", scores, values, **found)


def scores_by_group(y_true: Any, y_score: Any, groups: Any, sample_weight: Any, pos_label: Any) -> GroupedScores:
    """Check what a user gives and sort it by group."""
    labels = BinaryLabels(*check.binary_labels("y_true", y_true, pos_label))
    weights = None if sample_weight is None else check.as_weights("sample_weight", sample_weight)
    return grouped_scores(labels, check.as_scores("y_score", y_score), check.as_group_keys("groups", groups), weights)


def _delong(scores: GroupedScores, aucs: Floats, alpha: float) -> dict[str, Any]:
    """Give intervals by DeLong's variances."""
    variances = np.empty(aucs.size)
    n_neg, n_pos = scores.sums()
    scores.each(
        lambda first, last: placement_squares(
            scores.keys, scores.row_weights, scores.starts, n_pos, n_neg, aucs, first, last, variances
        ),
        compiles=placement_squares,
    )
    defined = ~np.isnan(aucs)
    unknown = int(np.count_nonzero(defined & np.isnan(variances)))
    if unknown:
        check.warn_undefined(
            "delong's variance", f"{unknown} of {aucs.size} groups have both classes, but not two rows of each"
        )
    _warn_of_no_width(variances == 0, "its estimated variance is 0")
    errors, margin = np.sqrt(variances), normal_margins(alpha, "two-sided")[0]
    weights = np.where(defined, n_neg + n_pos, 0.0)
    mean, error = mean_of(aucs, weights), math.nan
    if defined.any():
        shares = weights[defined] / weights.sum()
        error = math.sqrt(np.sum(shares * shares * variances[defined]))
    return {
        "standard_errors": errors,
        "confidence_intervals": np.clip(np.stack((aucs - margin * errors, aucs + margin * errors), axis=1), 0, 1),
        "mean_standard_error": error,
        "mean_confidence_interval": Interval(max(mean - margin * error, 0.0), min(mean + margin * error, 1.0))
        if error == error
        else NO_INTERVAL,
    }


def _bootstrap(
    scores: GroupedScores, aucs: Floats, alpha: float, n_resamples: int, rng: Any, progress: bool
) -> dict[str, Any]:
    """Give intervals by drawing rows within groups, and for the mean whole groups."""
    key, tail = seed_key("rng", rng), alpha / 2
    found = bootstrap_groups(scores, n_resamples, tail, key, progress)
    there = ~np.isnan(aucs)
    _warn_of_no_width(there & (found[:, 0] == found[:, 1]), "its replicates are equal")
    lost = int(np.count_nonzero(there & (found[:, 3] == n_resamples)))
    if lost:
        check.warn_undefined("the interval of an AUC", f"no replicate of {lost} of {aucs.size} groups has a value")
    negatives, positives = scores.sums()
    error, mean_interval = bootstrap_mean(aucs, negatives + positives, n_resamples, tail, key)
    return {
        "standard_errors": np.where(there, found[:, 2], math.nan),
        "confidence_intervals": np.where(there[:, None], found[:, :2], math.nan),
        "mean_standard_error": error,
        "mean_confidence_interval": mean_interval,
        "n_undefined_replicates": found[:, 3].astype(np.int64),
    }


def _warn_of_no_width(flat: NDArray[np.bool_], because: str) -> None:
    """Warn of groups whose intervals have no width."""
    n = int(np.count_nonzero(flat))
    if n:
        check.warn_degenerate("the interval of an AUC", f"{because} ({n} of {flat.size} groups)")
