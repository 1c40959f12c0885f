"""Metrics of each group of rows (each user, query or day), intervals of their AUCs, and means over groups."""

from __future__ import annotations

import datetime
import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.groups_metrics import placement_squares
from fastevals._options import (
    as_flag,
    check_choice,
    check_integer,
    check_one_number,
    listed,
    show,
    warn_degenerate,
    warn_undefined,
)
from fastevals._random import seed_key
from fastevals._text import first_lines, format_label, object_text
from fastevals._validation.arrays import (
    as_frequencies,
    as_scores,
    as_vector,
    as_weights,
    check_one_weight,
    check_same_length,
)
from fastevals._validation.keys import with_one_moment
from fastevals._validation.labels import as_groups, binary_labels
from fastevals.counting.keys import as_group_keys
from fastevals.counting.ordering import BinaryLabels
from fastevals.document.frames import Columns, as_column, make_columns, or_nan
from fastevals.infer.significance.decision import normal_margins
from fastevals.many.group_arguments import GroupArguments, LeastRows
from fastevals.many.group_bootstrap import NO_INTERVAL, bootstrap_groups, bootstrap_mean
from fastevals.many.group_clusters import ClusteredInfluences
from fastevals.many.group_errors import grouped_errors
from fastevals.many.group_scores import GroupedScores, grouped_scores
from fastevals.many.group_values import GroupValues, grouped_aucs, grouped_values
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.kinds import LABELS, MEAN_LOSS, QUANTILES, SCORES, TARGETS, MetricSpecs, array_kind, metric_kinds
from fastevals.measure.metric_specs import parse_metrics
from fastevals.results import MAX_RESAMPLES, NOWHERE, ByMetric, Frozen, Interval, check_confidence_level

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GROUPS_NAMED = 3  # in a sentence


class ValuesByKey(Frozen):
    """A result with one value per key, iterable as (key, value) pairs in ascending order and indexed by key."""

    __slots__ = ()
    values: Floats

    @property
    def n_undefined(self) -> int:
        """Number of groups whose value is undefined."""
        return int(np.count_nonzero(np.isnan(self.values)))

    def _keys(self) -> NDArray[Any]:
        raise NotImplementedError

    def __len__(self) -> int:
        return self.values.size

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        keys = self._keys()
        return zip(keys.tolist() if keys.dtype.kind not in "mM" else keys, self.values.tolist(), strict=True)

    def __getitem__(self, key: Any) -> float:
        return float(self.values[find_group(key, self._keys())])

    def __str__(self) -> str:
        return repr(self) + first_lines(f"{_show_key(key)}: {value:.4g}" for key, value in self)


V = TypeVar("V", bound=ValuesByKey)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupedMetric(ValuesByKey):
    """A metric of each group, iterable as (key, value) pairs and indexed by key.

    Attributes
    ----------
    metric : str
        Name of the metric.
    groups : ndarray of shape (n_groups,)
        The distinct keys, ascending.
    values : ndarray of shape (n_groups,)
        The value of each group; NaN where it is undefined because a class is missing or all rows have weight zero.
    n_samples : ndarray of int64 of shape (n_groups,)
        Number of rows with weight above zero in each group.
    n_positives, n_negatives : ndarray of int64 of shape (n_groups,), or None
        Rows of each class; None for metrics of predicted labels or numbers.
    weights : ndarray of shape (n_groups,)
        Total row weight of each group (its impressions); the number of rows if there are no weights.
    mean, macro_mean : float
        Means of the defined values: `mean` is weighted by `weights` (GAUC), `macro_mean` is not. NaN if no value is
        defined.
    standard_errors : ndarray of shape (n_groups,), or None
        Standard errors of the values.
    confidence_intervals : ndarray of shape (n_groups, 2), or None
        Low and high end of each interval.
    mean_standard_error : float or None
        Standard error of `mean`.
    mean_confidence_interval : Interval or None
        Confidence interval of `mean`.
    n_undefined_replicates : ndarray of int64 of shape (n_groups,), or None
        Number of bootstrap replicates left out because the group's value is undefined in them.
    pos_label : label or None
        The positive class; None if there is none, or if it was not named.
    by : tuple of str, or None
        Names of the columns of `groups` if there are several; each key is then a tuple of their values.
    n_left_out : int
        Number of groups left out by `min_positives` or `min_negatives`.

    Examples
    --------
    >>> import fastevals
    >>> found = fastevals.grouped_auc([0, 1, 1, 0, 1, 0], [0.1, 0.8, 0.3, 0.4, 0.2, 0.3], list("bbbaaa"))
    >>> found
    GroupedMetric(roc_auc of 2 groups: mean=0.5, macro_mean=0.5)
    >>> found["b"], dict(found)["b"]
    (1.0, 1.0)
    """

    metric: str
    groups: NDArray[Any]
    values: Floats
    n_samples: Ints
    n_positives: Ints | None
    n_negatives: Ints | None
    weights: Floats
    mean: float
    macro_mean: float
    standard_errors: Floats | None = None
    confidence_intervals: Floats | None = None
    mean_standard_error: float | None = None
    mean_confidence_interval: Interval | None = None
    n_undefined_replicates: Ints | None = None
    pos_label: Any = None
    by: tuple[str, ...] | None = None
    n_left_out: int = 0

    def _keys(self) -> NDArray[Any]:
        return self.groups

    def _columns(self) -> Columns:
        numbers = self._numbers()
        return key_columns_of("group", self.groups, self.by, numbers) | numbers

    def _numbers(self) -> Columns:
        """Return the columns of numbers, one row per group."""
        low, high = NOWHERE if self.confidence_intervals is None else self.confidence_intervals.T
        return make_columns(
            {
                "value": self.values,
                "standard_error": or_nan(self.standard_errors),
                "low": low,
                "high": high,
                "n_samples": self.n_samples,
                "n_positives": or_nan(self.n_positives),
                "n_negatives": or_nan(self.n_negatives),
                "weight": self.weights,
                "n_undefined_replicates": or_nan(self.n_undefined_replicates),
            }
        )

    def __repr__(self) -> str:
        undefined = f", n_undefined={self.n_undefined}" if self.n_undefined else ""
        undefined += f", n_left_out={self.n_left_out}" if self.n_left_out else ""
        interval = ""
        if self.mean_confidence_interval is not None:
            interval = " [{:.4g}, {:.4g}]".format(*self.mean_confidence_interval)
        means = f"mean={self.mean:.4g}{interval}, macro_mean={self.macro_mean:.4g}"
        return f"GroupedMetric({self.metric} of {len(self)} groups: {means}{undefined})"


def key_columns_of(
    name: str, keys: NDArray[Any], by: tuple[str, ...] | None, others: Collection[str]
) -> dict[str, NDArray[Any]]:
    """Return keys as columns: one, or one for each name in `by`. Names that are also in `others` get a prefix."""
    if by is None:
        return {name: as_column(keys)}
    names = [f"{name}_{each}" if each in others else each for each in by]
    return {each: as_column(_column_of([key[k] for key in keys])) for k, each in enumerate(names)}


def _column_of(values: list[Any]) -> Any:
    return np.array(values) if isinstance(values[0], (np.datetime64, np.timedelta64)) else values


def _show_key(key: Any) -> str:
    """Return a key as text: numbers and text as in Python, other objects without their type."""
    if isinstance(key, tuple):
        return f"({', '.join(map(_show_key, key))})"
    return show(key) if isinstance(key, (str, bool, int, float, np.generic)) else object_text(key)


def written_key(key: Any) -> str:
    """Return a key as a user would write it in a sentence."""
    if isinstance(key, tuple):
        return f"({', '.join(map(written_key, key))})"
    if isinstance(key, np.generic):
        return str(key) if key.dtype.kind in "mM" else format_label(key.item())
    return format_label(key)


def group_results(
    names: Iterable[str],
    found: GroupValues,
    *,
    alpha: float = 0.05,
    pos_label: Any = None,
    by: tuple[str, ...] | None = None,
    n_left_out: int = 0,
    warns: bool = True,
) -> dict[str, GroupedMetric]:
    """Return a result for each metric, with intervals if there are variances; warn about undefined values."""
    results = {}
    for name, values in zip(names, found.values, strict=True):
        if warns:
            _warn_of_groups(name, values, found.variances)
        intervals = {} if found.variances is None else _delong_intervals(values, found.variances, found.weights, alpha)
        results[name] = GroupedMetric(
            name, found.groups, values, found.n_samples, found.n_positives, found.n_negatives, found.weights,
            mean_over_groups(values, found.weights), mean_over_groups(values, np.ones(values.size)),
            pos_label=pos_label, by=by, n_left_out=n_left_out, **intervals,
        )  # fmt: skip
    return results


def _warn_of_groups(name: str, values: Floats, variances: Floats | None) -> None:
    """Warn about groups without a value, without a variance, or with a variance of 0."""
    undefined = np.isnan(values)
    if undefined.any():
        n = np.count_nonzero(undefined)
        warn_undefined(name, f"{n} of {values.size} groups lack a class, or have a zero denominator")
    if variances is None:
        return
    unknown = np.count_nonzero(np.isnan(variances) & ~undefined)
    if unknown:
        warn_undefined(
            "delong's variance", f"{unknown} of {values.size} groups have both classes, but not two rows of each"
        )
    _warn_degenerate_groups(variances == 0, "its estimated variance is 0")


def mean_over_groups(values: Floats, weights: Floats) -> float:
    """Return the weighted mean of the defined values; NaN if there are none."""
    defined = ~np.isnan(values) & (weights > 0)
    if not defined.any():
        return float("nan")
    if np.isinf(values[defined]).any():
        return float(values[defined].sum())
    kept = weights[defined] / weights[defined].max()  # the sum of very large weights would overflow
    mean = float(np.sum(kept * values[defined]) / np.sum(kept))
    return min(max(mean, float(values[defined].min())), float(values[defined].max()))


GroupInterval = Literal[None, "delong", "bootstrap"]


def grouped_auc(
    y_true: Any,
    y_score: ArrayLike | None = None,
    groups: Any = None,
    *,
    label: str | None = None,
    score: str | None = None,
    by: str | Sequence[str] | None = None,
    min_positives: int = 0,
    min_negatives: int = 0,
    sample_weight: ArrayLike | None = None,
    frequency_weight: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    pos_label: Any = None,
    interval: GroupInterval = None,
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    rng: Any = None,
    progress: bool = False,
) -> GroupedMetric:
    """Compute the AUC of each group of rows, and their means over groups (GAUC).

    Rows may be in any order: two linear passes gather them by group, then each group is sorted. There may be as many
    groups as rows, or a single group.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,)
        Finite scores, higher for the positive class. Scores are compared within groups, and tie if exactly equal.
    groups : array-like of shape (n_samples,), or several such columns
        The group of each row (a user, a query, a day), in any order: numbers, booleans, strings, dates, times, or
        other ordered values (intervals and periods of pandas, UUIDs, decimals, members of an enumeration). With
        several columns (a frame, a mapping, a list of columns, or a 2-D array with a column for each) the groups are
        the combinations of values that occur, and their keys are tuples.
    label, score : str, optional
        Columns of `y_true` and `y_score` if the first argument is a frame, or a mapping of columns.
    by : str or sequence of str, optional
        Column or columns of `groups` in that frame or mapping. `sample_weight` and `frequency_weight` are then names of
        columns, too.
    min_positives, min_negatives : int
        Leave out groups with fewer positives or negatives; `n_left_out` says how many groups these are.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative. Rows of weight zero are left out; a group without other rows has weight 0 and no
        value. Cannot be combined with ``interval="delong"``.
    frequency_weight : array-like of shape (n_samples,), optional
        Number of copies of each row: integers, equivalent to repeating the rows. Not with `sample_weight`.
    clusters : array-like of shape (n_samples,), optional
        Cluster of each row (a patient, a user), if rows of a cluster are not independent. Requires
        ``interval="delong"``. A cluster may have rows in several groups.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans; required for other labels.
    interval : {None, "delong", "bootstrap"}
        How to compute standard errors and intervals; see the notes.
    confidence_level : float in (0, 1)
        Confidence level of each interval separately.
    n_resamples : int
        Number of bootstrap replicates.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed of the bootstrap. The same seed gives the same bits, at any number of threads.
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
        If groups have no value; the message gives their number. With intervals, also if groups have no standard error,
        no replicate with a value, or an interval of zero width (an AUC of 0 or 1).

    Notes
    -----
    ``"delong"`` estimates variances from the placements within each group, which must have two rows of each class.
    Intervals are the AUC plus or minus a normal margin, within [0, 1]; as in `delong`, they shrink to a point where the
    variance is 0. Groups are treated as fixed: the standard error of the mean combines the groups' own variances, and
    is NaN if a group has a value but no variance. With `clusters`, each group's standard error and interval are those
    of ``delong(groups=...)`` for its rows: Obuchowski's variance, and Student's t. The standard error of the mean then
    allows for clusters with rows in several groups.

    ``"bootstrap"`` gives percentile intervals. For the interval of a group, each replicate draws as many rows as the
    group has, so class counts vary; replicates without a class are left out, and counted in `n_undefined_replicates`.
    For the interval of the mean, whole groups are drawn (groups are the units, as in ``bootstrap(groups=...)``), so the
    interval also applies to groups outside the data. Groups that lack a class are drawn but add nothing; groups of
    weight zero are not drawn. The replicates of the g-th group do not depend on how many replicates there are.

    Memory use beyond the input is about 20 bytes per row (30 with weights), or 27 (43) if one group has all rows, plus
    about 70 bytes per group, including 48 for the result. A bootstrap needs memory in proportion to n_resamples and to
    the largest group, per thread.

    References
    ----------
    DeLong et al. (1988), doi:10.2307/2531595. Obuchowski (1997), doi:10.2307/2533958. Zhu et al. (2017), "Optimized
    Cost per Click in Taobao Display Advertising", doi:10.1145/3097983.3098134, for the mean weighted by impressions.

    Examples
    --------
    >>> import fastevals
    >>> y_true, y_score = [0, 1, 1, 0, 0, 0, 1, 1], [0.1, 0.8, 0.3, 0.4, 0.3, 0.4, 0.2, 0.5]
    >>> found = fastevals.grouped_auc(y_true, y_score, [7, 7, 7, 7, 3, 3, 3, 3], interval="delong")
    >>> found.groups, found.values, found.standard_errors.round(4)
    (array([3, 7]), array([0.5 , 0.75]), array([0.5   , 0.3536]))
    """
    check_choice("interval", interval, GroupInterval)
    _, alpha = check_confidence_level(confidence_level)
    n_resamples = check_integer("n_resamples", n_resamples, low=1, high=MAX_RESAMPLES)
    progress = as_flag("progress", progress)
    least = LeastRows.checked(min_positives, min_negatives)
    check_one_weight(sample_weight, frequency_weight)
    if clusters is not None and interval != "delong":
        raise ValueError(f"clusters require interval='delong', got interval={interval!r}")
    if clusters is not None and sample_weight is not None:
        raise ValueError(
            "clusters are not allowed with sample_weight: pass the number of copies of each row as frequency_weight"
        )
    if interval == "delong" and sample_weight is not None:
        raise ValueError(
            "interval='delong' does not take sample_weight: use interval='bootstrap', or pass the number of copies of "
            "each row as frequency_weight"
        )
    given = GroupArguments.read(
        y_true, y_score, groups, sample_weight, frequency_weight, clusters, label=label, score=score, by=by
    )
    are_copies, is_clustered = given.frequency_weight is not None, given.clusters is not None
    with given.naming():
        given = _with_copies(given, are_drawn=interval == "bootstrap" or is_clustered)
        scores = scores_by_group(given.y_true, given.y_score, given.groups, given.sample_weight, pos_label)
        influences = _clustered_influences(given, pos_label) if is_clustered else None
    scores, kept = least.keep(scores, are_copies=are_copies)
    measured = auc_of_groups(scores, with_variances=interval == "delong" and not is_clustered)
    if are_copies:
        measured = counted_by_weight(scores, measured)
    described: dict[str, Any] = {"pos_label": scores.pos_label, "by": given.by, "n_left_out": _left_out(kept)}
    found = group_results(["roc_auc"], measured, alpha=alpha, **described)["roc_auc"]
    if interval == "bootstrap":
        found = replace(found, **_bootstrap_intervals(scores, found.values, alpha, n_resamples, rng, progress))
    if influences is not None:
        found = replace(found, **_clustered_intervals(influences, kept, found.values, found.weights, alpha))
    return found


def _left_out(kept: NDArray[np.bool_]) -> int:
    return int(kept.size - np.count_nonzero(kept))


def _with_copies(given: GroupArguments, *, are_drawn: bool) -> GroupArguments:
    """Turn copies into rows if rows are to be drawn or clustered, and otherwise into weights."""
    if given.frequency_weight is None:
        return given
    copies = as_frequencies("frequency_weight", given.frequency_weight)
    arrays = {"y_true": as_vector("y_true", given.y_true), "y_score": as_scores("y_score", given.y_score)}
    arrays["groups"] = as_group_keys("groups", given.groups)
    if given.clusters is not None:
        arrays["clusters"] = as_groups("clusters", given.clusters)
    check_same_length(**arrays, frequency_weight=copies)
    times, weights = (copies, None) if are_drawn else (copies > 0, copies)
    rows = np.repeat(np.arange(copies.size), times)
    taken: dict[str, Any] = {name: array[rows] for name, array in arrays.items()}
    return given._replace(**taken, sample_weight=None if weights is None else weights[rows])


def scores_by_group(y_true: Any, y_score: Any, groups: Any, sample_weight: Any, pos_label: Any) -> GroupedScores:
    """Check a user's arrays and sort the rows by group."""
    labels = BinaryLabels(*binary_labels("y_true", y_true, pos_label))
    weights = None if sample_weight is None else as_weights("sample_weight", sample_weight)
    return grouped_scores(labels, as_scores("y_score", y_score), as_group_keys("groups", groups), weights)


def values_of_groups(scores: GroupedScores, values: list[Floats], variances: Floats | None = None) -> GroupValues:
    """Return metrics of scores along with the groups' rows and weights."""
    n_negatives, n_positives = scores.n_negatives, scores.n_positives
    weights: Floats = np.add(*scores.sums())
    return GroupValues(scores.groups, values, n_negatives + n_positives, weights, n_positives, n_negatives, variances)


def counted_by_weight(scores: GroupedScores, measured: GroupValues) -> GroupValues:
    """Return the measurements with each row counted as many times as its weight."""
    negatives, positives = (np.rint(sums).astype(np.int64) for sums in scores.sums())
    return measured._replace(n_samples=negatives + positives, n_positives=positives, n_negatives=negatives)


def auc_of_groups(scores: GroupedScores, *, with_variances: bool) -> GroupValues:
    """Return AUCs, and DeLong's variances if requested."""
    aucs = grouped_aucs(scores)
    return values_of_groups(scores, [aucs], _delong_variances(scores, aucs) if with_variances else None)


def _delong_variances(scores: GroupedScores, aucs: Floats) -> Floats:
    """Return the variances of AUCs; NaN for groups without two rows of each class."""
    variances = np.empty(aucs.size)
    n_neg, n_pos = scores.sums()
    scores.each(
        lambda first, last: placement_squares(
            scores.keys, scores.row_weights, scores.starts, n_pos, n_neg, aucs, first, last, variances
        ),
        compiles=placement_squares,
    )
    return variances


def _delong_intervals(aucs: Floats, variances: Floats, sizes: Floats, alpha: float) -> dict[str, Any]:
    """Return the intervals of groups' AUCs, and of their size-weighted mean, from the variances."""
    errors, margin = np.sqrt(variances), normal_margins(alpha, "two-sided")[0]
    defined = ~np.isnan(aucs)
    weights = np.where(defined, sizes, 0.0)
    mean, error = mean_over_groups(aucs, weights), math.nan
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


def _bootstrap_intervals(
    scores: GroupedScores, aucs: Floats, alpha: float, n_resamples: int, rng: Any, progress: bool
) -> dict[str, Any]:
    """Return bootstrap intervals: rows are drawn within groups, and whole groups for the mean."""
    key, tail = seed_key("rng", rng), alpha / 2
    replicates = bootstrap_groups(scores, n_resamples, tail, key, progress)
    defined = ~np.isnan(aucs)
    _warn_degenerate_groups(defined & (replicates[:, 0] == replicates[:, 1]), "its replicates are equal")
    lost = int(np.count_nonzero(defined & (replicates[:, 3] == n_resamples)))
    if lost:
        warn_undefined("the interval of an AUC", f"no replicate of {lost} of {aucs.size} groups has a value")
    negatives, positives = scores.sums()
    error, mean_interval = bootstrap_mean(aucs, negatives + positives, n_resamples, tail, key)
    return {
        "standard_errors": np.where(defined, replicates[:, 2], math.nan),
        "confidence_intervals": np.where(defined[:, None], replicates[:, :2], math.nan),
        "mean_standard_error": error,
        "mean_confidence_interval": mean_interval,
        "n_undefined_replicates": replicates[:, 3].astype(np.int64),
    }


def _warn_degenerate_groups(flat: NDArray[np.bool_], because: str) -> None:
    """Warn about groups whose intervals have zero width."""
    n = int(np.count_nonzero(flat))
    if n:
        warn_degenerate("the interval of an AUC", f"{because} ({n} of {flat.size} groups)")


def _clustered_influences(given: GroupArguments, pos_label: Any) -> ClusteredInfluences:
    """Check the clusters of rows, and return the rows' influences on the AUCs of their groups."""
    labels, clusters = BinaryLabels(*binary_labels("y_true", given.y_true, pos_label)), given.clusters
    clusters = as_groups("clusters", clusters)
    check_same_length(y_true=labels.values, clusters=clusters)
    groups = as_group_keys("groups", given.groups)
    return ClusteredInfluences.of(labels.flags(), as_scores("y_score", given.y_score), groups, clusters)


def _clustered_intervals(
    influences: ClusteredInfluences, kept: NDArray[np.bool_], aucs: Floats, sizes: Floats, alpha: float
) -> dict[str, Any]:
    """Return the intervals of kept groups' AUCs, and of their size-weighted mean, if rows are clustered."""
    from scipy.special import stdtrit

    variances, df = (each[kept] for each in influences.spread())
    defined = ~np.isnan(aucs)
    variances = np.where(defined, variances, math.nan)
    if unknown := np.count_nonzero(np.isnan(variances) & defined):
        why = f"{unknown} of {aucs.size} groups have a class in fewer than two clusters"
        warn_undefined("delong's variance of clustered rows", why)
    _warn_degenerate_groups(variances == 0, "its estimated variance is 0")
    errors, margins = np.sqrt(variances), stdtrit(df, 1 - alpha / 2) * np.sqrt(variances)
    weights = np.where(defined, sizes, 0.0)
    mean, error, interval = mean_over_groups(aucs, weights), math.nan, NO_INTERVAL
    if defined.any() and not np.isnan(variances[defined]).any():
        shares = np.zeros(kept.size)
        shares[kept] = weights / weights.sum()
        of_mean = influences.spread_of_mean(shares)
        error = math.sqrt(of_mean.variances[0])
        margin = float(stdtrit(of_mean.df[0], 1 - alpha / 2)) * error
        interval = Interval(max(mean - margin, 0.0), min(mean + margin, 1.0))
    return {
        "standard_errors": errors,
        "confidence_intervals": np.clip(np.stack((aucs - margins, aucs + margins), axis=1), 0, 1),
        "mean_standard_error": error,
        "mean_confidence_interval": interval,
    }


class MetricsByKey(ByMetric[V]):
    """Results of metrics that have one value per key."""

    __slots__ = ()

    def __str__(self) -> str:
        by_group = zip(*self.metrics.values(), strict=True)  # (key, value) pairs of all metrics
        rows = ((pairs[0][0], zip(self.metrics, pairs, strict=True)) for pairs in by_group)
        return repr(self) + first_lines(
            f"{_show_key(key)}: {', '.join(f'{name}={value:.4g}' for name, (_, value) in named)}" for key, named in rows
        )


class MetricsByGroup(MetricsByKey[GroupedMetric]):
    """Result of `grouped_metrics`: a mapping from each metric to its `GroupedMetric`."""

    __slots__ = ()

    def _settings(self) -> str:
        return f"{len(next(iter(self.metrics.values())))} groups"


def grouped_metrics(
    y_true: Any,
    y_score: ArrayLike | None = None,
    groups: Any = None,
    metrics: Any = None,
    *,
    label: str | None = None,
    score: str | None = None,
    by: str | Sequence[str] | None = None,
    min_positives: int = 0,
    min_negatives: int = 0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> MetricsByGroup:
    """Compute metrics of each group of rows, and their means over groups.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels (of two classes for scores, of any number of classes otherwise) or targets.
    y_score : array-like of shape (n_samples,)
        Finite scores, higher for the positive class; predicted labels; or predicted numbers. The metrics determine
        which of these are expected: numbers for errors; scores if any metric needs a ranking, probabilities or a
        threshold; otherwise predicted labels.
    groups : array-like of shape (n_samples,), or several such columns
        The group of each row, as for `grouped_auc`.
    metrics : str, `metric(...)`, function, a sequence of these, or a mapping of names to them
        Metrics to compute; the keys of a mapping name the results. A function takes the `ThresholdCounts` of a group
        and returns a number. Alongside metrics of predicted labels, a function takes the stack of the groups'
        confusion matrices and returns an array. Functions cannot be combined with errors of predicted numbers.
    label, score : str, optional
        Columns of `y_true` and `y_score` if the first argument is a frame, or a mapping of columns.
    by : str or sequence of str, optional
        Column or columns of `groups` in that frame or mapping. `sample_weight` is then the name of a column, too.
    min_positives, min_negatives : int
        Leave out groups with fewer positives or negatives; `n_left_out` says how many groups these are. Only for
        metrics of scores.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative. Rows of weight zero are left out; a group without other rows has weight 0 and no
        value.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans. With other labels it is
        required for scores, and for those metrics of predicted labels that depend on a positive class.

    Returns
    -------
    MetricsByGroup
        A mapping from each metric to its `GroupedMetric`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        Once for each metric that is undefined for some groups; the message gives their number.

    Notes
    -----
    Rows are sorted once, by group and score. More than 128 groups are measured in compiled loops. A function is called
    once per group, which takes about 10 microseconds plus its own time. Metrics at a threshold that is best by
    precision, by a rate of one class, by "matthews" or by "cohen_kappa" are also computed group by group, which takes
    about 80 microseconds per group.

    Values equal those of a `Ranking` of the group's rows. Without row weights, AUC, average precision and metrics of
    counts agree to the bit; other values agree up to a few rounding errors. Errors of predicted numbers are summed in
    row order.

    Examples
    --------
    >>> import fastevals
    >>> y_true, y_score, users = [0, 1, 1, 0, 1, 0], [0.1, 0.8, 0.3, 0.4, 0.2, 0.3], list("bbbaaa")
    >>> metrics = ["roc_auc", fastevals.metric("recall", threshold=0.5)]
    >>> found = fastevals.grouped_metrics(y_true, y_score, users, metrics)
    >>> found["recall(threshold=0.5)"].values, found["roc_auc"].mean
    (array([0. , 0.5]), 0.5)
    """
    if metrics is None and groups is None and label is not None:
        y_score, metrics = None, y_score  # grouped_metrics(frame, metrics, label=...)
    least = LeastRows.checked(min_positives, min_negatives)
    specs = parse_metrics(metrics)
    kind = array_kind(metric_kinds(specs)) or SCORES
    if kind != SCORES and least != (0, 0):
        raise ValueError(f"min_positives and min_negatives require metrics of scores, got {listed(specs)}")
    given = GroupArguments.read(y_true, y_score, groups, sample_weight, label=label, score=score, by=by)
    with given.naming():
        if kind == SCORES:
            return _measure_scores(specs, given, pos_label, least)
        measure = {LABELS: _measure_labels, TARGETS: _measure_targets, QUANTILES: _measure_quantiles}[kind]
        return measure(specs, given, pos_label)


def _measure_scores(specs: MetricSpecs, given: GroupArguments, pos_label: Any, least: LeastRows) -> MetricsByGroup:
    metrics = SCORES.metrics(specs)  # checked before the work
    scores = scores_by_group(given.y_true, given.y_score, given.groups, given.sample_weight, pos_label)
    scores, kept = least.keep(scores)
    found = values_of_groups(scores, grouped_values(metrics, scores))
    results = group_results(specs, found, pos_label=scores.pos_label, by=given.by, n_left_out=_left_out(kept))
    return MetricsByGroup(results, pos_label=scores.pos_label)


def _measure_labels(specs: MetricSpecs, given: GroupArguments, pos_label: Any) -> MetricsByGroup:
    metrics = LABELS.metrics(specs)
    y_true, y_pred, sample_weight = given.y_true, given.y_score, given.sample_weight
    groups = as_group_keys("groups", given.groups)
    keys, matrix = ConfusionMatrix.from_groups(y_true, y_pred, groups, pos_label=pos_label, sample_weight=sample_weight)
    rows = matrix
    if sample_weight is not None:
        kept = as_weights("sample_weight", sample_weight) != 0
        _, rows = ConfusionMatrix.from_groups(y_true, y_pred, groups, sample_weight=kept)
    weights, n_samples = matrix.counts.sum(axis=(1, 2)), rows.counts.sum(axis=(1, 2)).astype(np.int64)
    values = LABELS.evaluate(matrix.counts, matrix._classes, metrics)
    for label, each in zip(specs, values, strict=True):
        check_one_number(label, each.shape[1:], "group")
    found = GroupValues(keys, values, n_samples, weights.astype(np.float64))
    results = group_results(specs, found, pos_label=matrix.pos_label, by=given.by)
    return MetricsByGroup(results, labels=matrix.labels, pos_label=matrix.pos_label)


def _measure_targets(specs: MetricSpecs, given: GroupArguments, pos_label: Any) -> MetricsByGroup:
    arrays = given.y_true, given.y_score, given.groups, given.sample_weight
    found = errors_of_groups(TARGETS.metrics(specs), *arrays, pos_label)
    return MetricsByGroup(group_results(specs, found, by=given.by))


def _measure_quantiles(specs: MetricSpecs, given: GroupArguments, pos_label: Any) -> MetricsByGroup:
    targets, arrays = QUANTILES.read(given.y_true, {"y_pred": given.y_score}, pos_label)
    losses = [each.losses(targets, arrays["y_pred"]) for each in QUANTILES.metrics(specs)]
    found = [
        errors_of_groups([MEAN_LOSS], np.zeros(targets.size), each, given.groups, given.sample_weight)
        for each in losses
    ]
    values = [each for one in found for each in one.values]
    return MetricsByGroup(group_results(specs, found[0]._replace(values=values), by=given.by))


def errors_of_groups(
    metrics: Sequence[Any], y_true: Any, y_pred: Any, groups: Any, sample_weight: Any, pos_label: Any = None
) -> GroupValues:
    """Return metrics of predicted numbers for each group."""
    targets, arrays = TARGETS.read(y_true, {"y_pred": y_pred}, pos_label)
    keys = as_group_keys("groups", groups)
    check_same_length(y_true=targets, groups=keys)
    weights = None if sample_weight is None else as_weights("sample_weight", sample_weight)
    if weights is not None:
        check_same_length(y_true=targets, sample_weight=weights)
    return grouped_errors(metrics, targets, arrays["y_pred"], keys, weights)


# Checks ---------------------------------------------------------------------------------------------------------------


def find_group(key: Any, groups: NDArray[Any]) -> int:
    """Return the position of a key among ascending group keys."""
    try:
        if groups.dtype.kind in "mM":
            wanted = as_time(key, groups.dtype)
            place = int(np.searchsorted(groups, wanted))
            present = place < groups.size and groups[place] == wanted
        else:  # Python compares its numbers exactly, whatever their types; NumPy compares floats
            wanted = key.item() if isinstance(key, (np.generic, np.ndarray)) else with_one_moment(key)
            of_python = groups if groups.dtype.kind == "O" else _PythonValues(groups)
            place = _place_among(of_python, wanted)
            present = place < groups.size and of_python[place] == wanted
        if present:
            return place
    except (TypeError, ValueError):  # the key is of another kind
        pass
    raise KeyError(f"no group has the key {show(key)}; there are {groups.size}")


def _place_among(values: Any, wanted: Any) -> int:
    """Return the place of a value among ascending ones, some of which Python can't order (members of enumerations)."""
    try:
        return bisect_left(values, wanted)
    except TypeError:
        return next((place for place, each in enumerate(values) if each == wanted), len(values))


class _PythonValues:
    """An array's values as Python's numbers and text, one at a time."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __len__(self) -> int:
        return self.array.size

    def __getitem__(self, place: int) -> Any:
        return self.array[place].item()


def as_time(key: Any, dtype: np.dtype[Any]) -> Any:
    """Convert a date, time or time span to the groups' unit; raise if the key is no time or falls between two units."""
    if getattr(key, "tzinfo", None) is not None:
        raise ValueError("groups have no time zone")
    key = key.to_numpy() if hasattr(key, "to_numpy") else key  # a Python datetime would lose pandas' nanoseconds
    if dtype.kind == "M" and key is not None:
        moment: Any = np.datetime64(key)
    elif isinstance(key, (np.timedelta64, datetime.timedelta)):
        moment = np.timedelta64(key)
    else:
        raise TypeError("not a time")
    converted = moment.astype(dtype, casting="same_kind")
    if converted.astype(moment.dtype) != moment:
        raise ValueError("between two of the unit")
    return converted
