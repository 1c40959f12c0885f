"""Compare groups of rows by one model's metrics: differences, ratios and the largest difference of any two groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import warn_undefined
from fastevals._text import count_of
from fastevals._validation.labels import check_positive_known
from fastevals.counts import Cells
from fastevals.document.frames import Columns, leave_unused_out, make_columns
from fastevals.infer.proportions import outcomes
from fastevals.infer.share_differences import (
    GroupShares,
    ShareLimits,
    difference_interval,
    difference_pvalues,
    ratio_interval,
)
from fastevals.infer.significance.corrections import PER_TEST_ALPHA, adjust_pvalues
from fastevals.infer.significance.decision import pvalue_text
from fastevals.many.group_influences import GroupedRows, Matrices, measure_matrices
from fastevals.many.group_subjects import SUBJECTS, read_groups, read_models, worst_first
from fastevals.many.groups import GROUPS_NAMED, find_group, key_columns_of, written_key
from fastevals.measure.kinds import LABELS, SCORES, array_kind, metric_kinds
from fastevals.measure.metric_specs import MetricSpec, is_greater_better, metric, metric_bounds, parse_metrics
from fastevals.measure.registry import METRICS, OF_PAIRS, Metric
from fastevals.results import NOWHERE, ByMetric, Frozen, Interval, check_confidence_level

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EQUALIZED = ("recall", "false_positive_rate")
PARITY = "prediction_rate"
REST = "rest"
FEW_TRIALS = 10  # of a share, below which a group gets a caution
FEW_EXPECTED = 5  # successes or failures at the reference's share, below which a group gets a caution
PAIRS_AT_A_TIME = 1_000_000
MODEL_ROWS = 5  # weight of an assumed variance, in rows (of the rarer class, if both classes count)
RARER = "row of the rarer class"

# The rows that a share is a share of.
TRIALS = {
    "rows": "row", "rows by class": "row", "positives": "positive row", "negatives": "negative row",
    "predicted": "row predicted positive", "predicted negatives": "row predicted negative", "": "row",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupRange(Frozen):
    """The largest difference and the smallest ratio of a metric between any two groups.

    Attributes
    ----------
    metric : str
        Name of the metric; of several, the one with the largest difference.
    difference : float
        The highest value minus the lowest.
    difference_interval : Interval
        Interval of the largest difference between any two groups.
    ratio : float
        The lowest value over the highest; of several metrics, the smallest ratio. NaN if the highest value is 0.
    ratio_interval : Interval
        Interval of the smallest ratio of any two groups.
    highest, lowest : key
        The groups with the highest and the lowest value of `metric`.
    highest_value, lowest_value : float
        Their values.
    n_groups : int
        Number of groups in which `metric` is defined.
    confidence_level : float
        Level of both intervals.
    """

    metric: str
    difference: float
    difference_interval: Interval
    ratio: float
    ratio_interval: Interval
    highest: Any
    lowest: Any
    highest_value: float
    lowest_value: float
    n_groups: int
    confidence_level: float

    @property
    def conclusion(self) -> str:
        """The two groups that differ most, with the difference, the ratio and their intervals."""
        if math.isnan(self.difference):
            return f"The {self.metric} is defined in fewer than two groups, so it cannot be compared."
        return (
            f"The {self.metric} is highest in {written_key(self.highest)} ({self.highest_value:.3g}) and lowest in "
            f"{written_key(self.lowest)} ({self.lowest_value:.3g}): {self.summary}."
        )

    @property
    def summary(self) -> str:
        """The difference and the ratio, with their intervals."""
        level = f"{100 * self.confidence_level:.6g} % interval"
        named = {
            "difference": (self.difference, self.difference_interval),
            "ratio": (self.ratio, self.ratio_interval),
        }
        known = (
            f"{name} {value:.3g} ({level} {low:.3g} to {high:.3g})"
            for name, (value, (low, high)) in named.items()
            if not math.isnan(value)
        )
        return ", ".join(known) or "defined in fewer than two groups"

    def _columns(self) -> Columns:
        rows: dict[str, Any] = {"difference": self.difference_interval, "ratio": self.ratio_interval}
        return make_columns(
            {
                "measure": list(rows),
                "value": [self.difference, self.ratio],
                "low": [low for low, _ in rows.values()],
                "high": [high for _, high in rows.values()],
            }
        )

    def _title(self) -> str:
        return f"largest difference in {self.metric} between {count_of(self.n_groups, 'group')}"

    def __repr__(self) -> str:
        return f"GroupRange({self.metric}: difference={self.difference:.4g}, ratio={self.ratio:.4g})"

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupDifferences(Frozen):
    """Differences of a model's metric between groups and a reference, the worst group first.

    Arrays have one entry for each group other than the reference.

    Attributes
    ----------
    metric : str
        Name of the metric.
    groups : ndarray of shape (n,)
        The group of each entry.
    reference : key or "rest"
        The group that others are compared with; "rest": all rows outside the group.
    values, reference_values : ndarray of shape (n,)
        The metric of the group and of the reference; NaN where undefined.
    differences, ratios : ndarray of shape (n,)
        `values` minus, and over, `reference_values`. Ratios are NaN for metrics that can be negative.
    difference_intervals, ratio_intervals : ndarray of shape (n, 2)
        Low and high end of each interval, simultaneous over all entries.
    pvalues, adjusted_pvalues : ndarray of shape (n,)
        p-values for no difference: of each entry, and adjusted for the number of entries.
    n_samples : ndarray of int64 of shape (n,)
        Number of rows.
    n_trials : ndarray of int64 of shape (n,)
        Number of rows that the metric is a share of: positive rows for recall. For metrics that are no shares (F1,
        AUC), rows of the rarer class.
    is_lower, is_higher : ndarray of bool of shape (n,)
        Whether the group's value is significantly lower, or higher, than the reference's.
    cautions : ndarray of str of shape (n,)
        What to be careful about; empty if nothing.
    range : GroupRange
        The largest difference and the smallest ratio between any two groups.
    confidence_level : float
        Level of the simultaneous intervals.
    by : tuple of str, or None
        Names of the columns that the groups' keys come from, if there are several.
    """

    metric: str
    groups: NDArray[Any]
    reference: Any
    values: Floats
    reference_values: Floats
    differences: Floats
    difference_intervals: Floats
    ratios: Floats
    ratio_intervals: Floats
    pvalues: Floats
    adjusted_pvalues: Floats
    n_samples: Ints
    n_trials: Ints
    is_lower: NDArray[np.bool_]
    is_higher: NDArray[np.bool_]
    cautions: NDArray[Any]
    range: GroupRange
    confidence_level: float
    by: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return self.differences.size

    @property
    def conclusion(self) -> str:
        """The groups that differ significantly from the reference, and the two groups that differ most."""
        return " ".join([*self._sentences(), self.range.conclusion])

    def _sentences(self) -> Iterator[str]:
        differing = np.flatnonzero(self.is_lower | self.is_higher)
        reference = "the other rows" if self.reference == REST else written_key(self.reference)
        n = int(np.count_nonzero(~np.isnan(self.pvalues)))
        for k in differing[:GROUPS_NAMED]:
            low, high = self.difference_intervals[k]
            yield (
                f"The {self.metric} of {written_key(self.groups[k])} is significantly "
                f"{'lower' if self.is_lower[k] else 'higher'} than the {self.metric} of {reference}: difference "
                f"{self.differences[k]:.3g} (simultaneous {100 * self.confidence_level:.6g} % interval {low:.3g} to "
                f"{high:.3g}; adjusted {pvalue_text(float(self.adjusted_pvalues[k]), 'two-sided')})."
            )
        if differing.size > GROUPS_NAMED:
            more = differing.size - GROUPS_NAMED
            yield (
                f"The {self.metric} differs significantly in {more:,} more group{'s' * (more != 1)}: in total in "
                f"{differing.size:,} of {count_of(n, 'tested group')}."
            )
        if not differing.size and n:
            least = pvalue_text(float(np.nanmin(self.adjusted_pvalues)), "two-sided")
            yield (
                f"No significant difference in {self.metric} between {reference} and {count_of(n, 'group')} "
                f"(smallest adjusted {least})."
            )

    def _columns(self) -> Columns:
        (low, high), (ratio_low, ratio_high) = self.difference_intervals.T, self.ratio_intervals.T
        columns = make_columns(
            {
                "value": self.values,
                "reference_value": self.reference_values,
                "difference": self.differences,
                "low": low,
                "high": high,
                "ratio": self.ratios,
                "ratio_low": ratio_low,
                "ratio_high": ratio_high,
                "adjusted_pvalue": self.adjusted_pvalues,
                "is_lower": self.is_lower,
                "is_higher": self.is_higher,
                "pvalue": self.pvalues,
                "n_samples": self.n_samples,
                "n_trials": self.n_trials,
                "caution": self.cautions,
            }
        )
        return key_columns_of("group", self.groups, self.by, columns) | columns

    def _shown_columns(self) -> Columns:
        unread = {"pvalue", "is_lower", "is_higher", "n_samples"}
        return {name: column for name, column in leave_unused_out(self._columns()).items() if name not in unread}

    def _title(self) -> str:
        reference = "the other rows" if self.reference == REST else written_key(self.reference)
        return f"{self.metric} by group, compared with {reference}"

    def __repr__(self) -> str:
        lower, higher = (int(np.count_nonzero(each)) for each in (self.is_lower, self.is_higher))
        return f"GroupDifferences({self.metric} of {len(self)} groups: {lower} lower, {higher} higher)"

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DifferencesByGroup(ByMetric[GroupDifferences]):
    """Result of `group_differences`: a mapping from each metric to its `GroupDifferences`.

    Attributes
    ----------
    equalized_odds : GroupRange or None
        Equalised odds: the larger of the largest differences in recall and in false positive rate, and the smaller of
        their ratios. None if predictions are not of two classes, or if metrics are at different thresholds.
    demographic_parity : GroupRange or None
        Demographic parity: the largest difference and the smallest ratio of the prediction rate. None as above.
    """

    equalized_odds: GroupRange | None = field(default=None, kw_only=True)
    demographic_parity: GroupRange | None = field(default=None, kw_only=True)

    @property
    def conclusion(self) -> str:
        """The differences in equalised odds and demographic parity, and the conclusion of each metric."""
        named = {"Equalised odds": self.equalized_odds, "Demographic parity": self.demographic_parity}
        ranges = [f"{name}: {each.summary}." for name, each in named.items() if each is not None]
        return " ".join([*ranges, *(each.conclusion for each in self.metrics.values())])

    def _settings(self) -> str:
        return f"{next(iter(self.metrics.values())).range.n_groups} groups"


def group_differences(
    y_true: ArrayLike,
    y_score: ArrayLike,
    groups: Any,
    metrics: Any = (*EQUALIZED, PARITY),
    *,
    reference: Any = None,
    confidence_level: float = 0.95,
    clusters: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> DifferencesByGroup:
    """Compare groups of rows by one model's metrics, such as recall or the share of rows predicted positive.

    Each group is compared with a reference, by difference and by ratio. Intervals and adjusted p-values are
    simultaneous over groups. The largest difference between any two groups has an interval, too. Nothing is resampled.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_score : array-like of shape (n_samples,)
        Predicted labels, or scores for AUCs and for metrics at a threshold; the metrics determine which.
    groups : array-like of shape (n_samples,), frame, mapping or list of columns
        The group of each row, in any order, or several columns, as for `grouped_metrics`.
    metrics : str, `metric(...)`, a sequence of these, or a mapping of names to them
        Metrics of confusion matrices with a lowest and a highest value: shares of rows such as "recall",
        "false_positive_rate", "prediction_rate" (also called "selection_rate"), "precision" and "accuracy", and others
        such as "f1", "matthews" or ``metric("f1", average="macro")``. For scores, such metrics at a fixed threshold, as
        in ``metric("recall", threshold=0.5)``, and "roc_auc", "rank_loss" and "gini".
    reference : group or "rest", optional
        The group to compare the others with; by default the group with most rows. "rest" compares each group with all
        other rows. For metrics that are not shares, and with weights or clusters, "rest" passes over all rows once per
        group.
    confidence_level : float in (0, 1)
        Level of the simultaneous intervals; the tests are at the family-wise level ``1 - confidence_level``.
    clusters : array-like of shape (n_samples,), optional
        Cluster of each row within its group (a patient, a user), if rows of a cluster are not independent.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative; each row is one observation. Rows of weight zero are left out. Not for AUCs.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans; required for other labels.

    Returns
    -------
    DifferencesByGroup
        A mapping from each metric to its `GroupDifferences`, with `equalized_odds` and `demographic_parity`.

    Raises
    ------
    ValueError
        If an argument is not as described, if there is only one group, or if a metric has no bounds; the
        message names the argument, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        Once for each metric that has no difference in some groups; the message gives their number, and the cautions
        give the reason.

    Notes
    -----
    Rows (or clusters) must be independent, and a threshold must not be chosen on these rows. The number of trials of a
    share, such as the number of positive rows, is treated as fixed.

    Differences have Newcombe's hybrid score interval, and ratios the interval of Donner and Zou. Both combine Wilson's
    limits of two groups. A p-value is 1 minus the level of the interval that ends at no difference. The test, the
    interval of the difference and the interval of the ratio therefore agree. Sidak's correction is conservative for
    differences that share a reference. Metrics that can be negative, such as "matthews", have no ratios.

    For metrics that are not shares, and for shares of weighted or clustered rows, Wilson's limits use an effective
    number of trials: the number for which a share would have the variance of the metric. The variance is the
    jackknife's for metrics of counts, and DeLong's for AUCs. If rows are clustered, influences are summed by cluster
    first. The result is averaged with an assumed variance that has a weight of 5 rows (of the rarer class, if the
    metric depends on both): Hanley and McNeil's variance for AUCs, and a share's otherwise. An estimated variance alone
    is too small near the ends of the range. If rows are clustered, the assumed variance is used only if the estimate is
    0. Except for AUCs of independent rows, Wilson's limits then use Student's t (Korn and Graubard 1998). Its degrees
    of freedom are the number of rows (of the rarer class, if the metric depends on both) minus 1; if rows are
    clustered, the number of clusters with such rows minus 1.

    A group has a caution if fewer than 5 rows of the rarer outcome are expected at the reference's value, because
    Wilson's limits of rare events are too close in the far tails that simultaneous intervals use.

    The range of a metric over groups is a maximum over all pairs. Its interval is a projection of simultaneous
    intervals of all pairs, at the level of Tukey's studentized range: from the largest low end (or 0) to the largest
    high end. It is conservative. If groups are equal, the interval begins at 0, and it ends far above 0 unless groups
    are large. Equalised odds use both metrics at the level ``confidence_level ** 0.5``, because recall and false
    positive rate come from different rows; in clusters at ``(1 + confidence_level) / 2`` (Bonferroni).

    References
    ----------
    Newcombe (1998), doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I. Donner and Zou (2012),
    doi:10.1177/0962280210383466. Hanley and McNeil (1982), doi:10.1148/radiology.143.1.7063747. Korn and Graubard
    (1998), "Confidence Intervals for Proportions with Small Expected Number of Positive Counts". Hardt et al. (2016),
    "Equality of Opportunity in Supervised Learning".

    Examples
    --------
    >>> import numpy as np, fastevals
    >>> rng = np.random.default_rng(0)
    >>> y, region = rng.random(4000) < 0.4, rng.choice(["north", "south"], 4000, p=[0.3, 0.7])
    >>> predicted = np.where(y, rng.random(4000) < np.where(region == "north", 0.6, 0.8), rng.random(4000) < 0.1)
    >>> found = fastevals.group_differences(y, predicted, region)
    >>> found["recall"].groups, found["recall"].differences.round(3), found["recall"].is_lower
    (array(['north'], dtype='<U5'), array([-0.179]), array([ True]))
    >>> found.equalized_odds
    GroupRange(recall: difference=0.1786, ratio=0.7749)
    """
    level, alpha = check_confidence_level(confidence_level)
    specs = parse_metrics(metrics)
    kind = array_kind(metric_kinds(specs)) or LABELS
    wanted = {name: _Wanted.of(kind, name, spec) for name, spec in specs.items()}
    truth, arrays = read_models(kind, y_true, {"y_score": y_score}, pos_label)
    read = read_groups(arrays["y_score"], groups, clusters, sample_weight)
    if read.keys.size < 2:
        raise ValueError(f"groups must have two groups or more to compare, got {read.keys.size}")
    model = SUBJECTS[kind](truth, [arrays["y_score"]], pos_label)
    rows = _RowsOfModel(read.rows, model if read.kept is None else model.take(read.kept), read.keys)
    place = _place_of(reference, rows)
    results = {
        name: _compare(name, spec, rows, wanted[name], place, level, alpha, read.by) for name, spec in specs.items()
    }
    thresholds = {float(each.metric.threshold) for each in wanted.values() if kind is SCORES and not each.is_auc}
    known = kind is LABELS and model.labels.size == 2 and model.pos_label is not None
    ranges: dict[str, Any] = {}
    if known or len(thresholds) == 1:
        options = {} if known else {"threshold": thresholds.pop()}
        own = {
            name: rows.measure(_Wanted.of(kind, name, metric(name, **options))).shares for name in (*EQUALIZED, PARITY)
        }
        parity = own.pop(PARITY)
        ranges["equalized_odds"] = _range(own, rows.keys, level, independent=clusters is None)
        ranges["demographic_parity"] = _range({PARITY: parity}, rows.keys, level)
    return DifferencesByGroup(results, labels=model.labels, pos_label=model.pos_label, **ranges)


class _Wanted(NamedTuple):
    """A metric of confusion matrices, or a form of the AUC, with its lowest and highest value."""

    spec: MetricSpec
    metric: Any
    bounds: tuple[float, float]
    is_auc: bool

    @classmethod
    def of(cls, kind: Any, name: str, spec: Any) -> _Wanted:
        """Return a metric; raise for any other, or if it has no bounds."""
        if isinstance(spec, MetricSpec) and kind in (LABELS, SCORES):
            read, bounds = kind.metric(spec), metric_bounds(spec)
            is_auc = kind is SCORES and isinstance(read.of_counts, Metric) and spec.name in OF_PAIRS
            is_known = is_auc or kind is LABELS or read.threshold is not None
            if is_known and all(map(math.isfinite, bounds)):
                return cls(spec, read, bounds, is_auc)
        raise ValueError(
            "metrics must be functions of confusion matrices with a lowest and a highest value, such as recall or f1 "
            f"(for scores, at a fixed threshold), or roc_auc, rank_loss or gini; got {name}"
        )


class _MeasuredGroups(NamedTuple):
    """A metric of each group as a share of its range.

    Attributes
    ----------
    shares : GroupShares
        The shares; numbers of trials may be effective ones.
    n_trials : ndarray of int64 of shape (n_groups,)
        Number of rows that the metric is a share of, or rows of the rarer class.
    trials : str
        What these rows are.
    n_clusters : ndarray of shape (n_groups,), or None
        Number of clusters that limit the degrees of freedom.
    """

    shares: GroupShares
    n_trials: Ints
    trials: str
    n_clusters: Floats | None = None


class _RowsOfModel(NamedTuple):
    """The rows of one model, with the number of each row's group and the groups' keys."""

    rows: GroupedRows
    model: Any
    keys: NDArray[Any]

    def measure(self, wanted: _Wanted) -> _MeasuredGroups:
        """Return a metric of each group."""
        rows, (low, high) = self.rows, wanted.bounds
        if wanted.is_auc:
            found = self.model.auc_of_one(rows, wanted.spec)
            value, spread, trials = found.values, found.spread, RARER
            positives = rows.sums(self.model.true)
            negatives = rows.sums() - positives
            n_trials = np.minimum(positives, negatives)
            of_model = _auc_trials(value, positives, negatives)
        else:
            of, (predicted,) = self.model.matrices(wanted.metric, wanted.spec)
            _check_classes(wanted.spec, self.model, of)
            (value,), spread, counts = measure_matrices(rows, of, [predicted])
            if of.trials:
                successes, n_trials = _outcomes(wanted.spec.name, of, counts)
                if rows.weights is None and rows.clusters is None:
                    return _MeasuredGroups(
                        GroupShares(successes, n_trials), n_trials.astype(np.int64), TRIALS[of.trials]
                    )
            else:
                n_trials = counts.sum(axis=2).min(axis=1) if of.n_classes == 2 else counts.sum(axis=(1, 2))
            trials = TRIALS[of.trials] if of.trials or of.n_classes != 2 else RARER
            of_model = n_trials
            if rows.weights is not None:
                of_model = n_trials * rows.sums(rows.weights) ** 2 / (rows.sums() * rows.sums(rows.weights**2))
        share, variances = (value - low) / (high - low), spread.variances / (high - low) ** 2
        clustered = rows.clusters is not None
        units = spread.units if clustered or trials == RARER else n_trials
        successes, effective = _as_outcomes(
            share, variances, units, units if clustered else of_model, 0 if clustered else MODEL_ROWS
        )
        df = None if wanted.is_auc and not clustered else units - 1
        n_clusters = units if clustered else None
        return _MeasuredGroups(GroupShares(successes, effective, df), n_trials.astype(np.int64), trials, n_clusters)

    def measure_rest(self, wanted: _Wanted, own: _MeasuredGroups) -> GroupShares:
        """Return the metric of the rows outside each group."""
        if own.shares.df is None and not wanted.is_auc:
            return GroupShares(*(each.sum() - each for each in own.shares[:2]))
        parts = []
        for k in range(self.keys.size):
            apart = self.rows._replace(codes=(self.rows.codes == k).astype(np.int64), n_groups=2)
            parts.append(self._replace(rows=apart).measure(wanted).shares.take([0]))
        successes, trials, df = zip(*parts, strict=True)
        joined = None if df[0] is None else np.concatenate(df)
        return GroupShares(np.concatenate(successes), np.concatenate(trials), joined)


def _outcomes(name: str, of: Matrices, counts: Floats) -> tuple[Floats, Floats]:
    """Return successes and trials of a share of rows."""
    if of.trials == "rows":  # of any number of classes
        right, n = np.trace(counts, axis1=1, axis2=2), counts.sum(axis=(1, 2))
        cells = Cells(right, n - right, 0 * right, 0 * right)
    else:
        cells = Cells(counts[:, 1, 1], counts[:, 0, 1], counts[:, 1, 0], counts[:, 0, 0])
    successes, failures = outcomes(name, cells)
    return successes, successes + failures


def _as_outcomes(share: Floats, variances: Floats, units: Floats, of_model: Floats, rows: int) -> tuple[Floats, Floats]:
    """Return successes and effective trials: the number of trials for which a share has the variance of the metric.

    The variance is a weighted mean of two variances: the estimated variance, with the number of units as weight, and
    the variance for `of_model` trials, with weight `rows`. If the estimated variance is 0 or unknown, only the second
    is used.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        assumed = 1 / of_model
        found = variances / (share * (1 - share))  # 1 over the number of trials
        found = np.where((found > 0) & np.isfinite(found), found, assumed)
        trials = (units + rows) / (units * found + rows * assumed)
    trials = np.where(np.isnan(share), 0.0, trials)
    return np.nan_to_num(share) * trials, trials


def _auc_trials(auc: Floats, n_pos: Floats, n_neg: Floats) -> Floats:
    """Return the number of trials with Hanley and McNeil's variance of an AUC."""
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs, more = n_pos * n_neg, np.maximum(n_pos, n_neg)
        inner = (np.maximum(auc, 1 - auc) * pairs + 0.5 * more) / (pairs + more)  # not 1, where variances are 0
        both = inner / (2 - inner), 2 * inner**2 / (1 + inner)
        spread = inner * (1 - inner) + (n_pos - 1) * (both[0] - inner**2) + (n_neg - 1) * (both[1] - inner**2)
        return np.asarray(pairs * inner * (1 - inner) / spread)


# Intervals and tests --------------------------------------------------------------------------------------------------


def _compare(
    name: str, spec: Any, rows: _RowsOfModel, wanted: _Wanted, place: int | None, level: float, alpha: float,
    by: tuple[str, ...] | None,
) -> GroupDifferences:  # fmt: skip
    """Return the comparison in one metric, the worst group first."""
    measured, (low, high) = rows.measure(wanted), wanted.bounds
    shares, n_samples = measured.shares, rows.rows.sums().astype(np.int64)
    if place is None:
        others, against = np.arange(rows.keys.size), rows.measure_rest(wanted, measured)
    else:
        others = np.delete(np.arange(rows.keys.size), place)
        against = shares.take(np.full(others.size, place))
    own = shares.take(others)
    pvalues = difference_pvalues(own, against)
    n_tests = int(np.count_nonzero(~np.isnan(pvalues)))
    z = _normal_quantile(PER_TEST_ALPHA["sidak"](alpha, max(n_tests, 1)))
    limits, limits_2 = own.limits(z), against.limits(z)
    differences = (high - low) * (own.values - against.values)
    ratios, ratio_ends = np.full(differences.size, np.nan), np.full((differences.size, 2), np.nan)
    if low == 0:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = own.values / against.values
        ratio_ends = np.stack(ratio_interval(limits, limits_2), axis=1)
    adjusted = adjust_pvalues(pvalues, correction="sidak")
    better = is_greater_better(spec)
    order = np.lexsort((differences, pvalues))
    if better is not None:
        order = worst_first(pvalues, differences if better else -differences)
    n_undefined = pvalues.size - n_tests
    if n_undefined:
        warn_undefined(
            f"the difference in {name}", f"{n_undefined} of {count_of(pvalues.size, 'group')} have none; see `cautions`"
        )
    rejected = adjusted < alpha
    columns = {
        "groups": rows.keys[others], "values": low + (high - low) * own.values,
        "reference_values": low + (high - low) * against.values, "differences": differences, "ratios": ratios,
        "pvalues": pvalues, "adjusted_pvalues": adjusted,
        "difference_intervals": (high - low) * np.stack(difference_interval(limits, limits_2), axis=1),
        "ratio_intervals": ratio_ends, "n_samples": n_samples[others], "n_trials": measured.n_trials[others],
        "is_lower": rejected & (differences < 0), "is_higher": rejected & (differences > 0),
        "cautions": _cautions(measured, others, own, against, has_ratio=low == 0),
    }  # fmt: skip
    return GroupDifferences(
        metric=name,
        reference=REST if place is None else rows.keys[place],
        range=_range({name: shares}, rows.keys, level, wanted.bounds),
        confidence_level=level,
        by=by,
        **{field: column[order] for field, column in columns.items()},
    )


def _cautions(
    measured: _MeasuredGroups, places: Ints, own: GroupShares, against: GroupShares, *, has_ratio: bool
) -> NDArray[Any]:
    """Return what to be careful about in each group; empty text if nothing."""
    what = measured.trials
    plural = what.replace("row", "rows", 1)
    cautions = np.full(places.size, "", dtype=object)
    if what != RARER:
        expected = own.trials * np.minimum(against.values, 1 - against.values)
        for k in np.flatnonzero(expected < FEW_EXPECTED):
            cautions[k] = f"the rarer outcome is expected in only {expected[k]:.2g} {plural}: merge small groups"
    for numbers, one, several in ((measured.n_clusters, "cluster", "clusters"), (measured.n_trials, what, plural)):
        few = np.zeros(0) if numbers is None else numbers[places]
        for k in np.flatnonzero(few < FEW_TRIALS):
            cautions[k] = f"only {few[k]:g} {one if few[k] == 1 else several}: merge small groups"
    if has_ratio:
        cautions[against.values == 0] = "the reference value is 0, so the ratio is infinite or undefined"
    cautions[against.trials == 0] = f"the reference has no {plural}: choose another reference"
    cautions[own.trials == 0] = f"no {plural}: the metric is undefined"
    return cautions.astype(str)


def _range(
    shares: dict[str, GroupShares],
    keys: NDArray[Any],
    level: float,
    bounds: tuple[float, float] = (0.0, 1.0),
    *,
    independent: bool = True,
) -> GroupRange:
    """Return the largest difference and the smallest ratio of metrics, at the joint level."""
    n = len(shares)
    own_level = level ** (1 / n) if independent else 1 - (1 - level) / n
    found = [_range_of_one(name, each, keys, own_level, bounds) for name, each in shares.items()]
    undefined = next((each for each in found if math.isnan(each.difference)), None)
    if undefined is not None:
        return replace(undefined, confidence_level=level)
    largest = max(found, key=lambda each: each.difference)
    return replace(
        largest,
        difference_interval=Interval(*(max(ends) for ends in zip(*_intervals(found, "difference"), strict=True))),
        ratio=min((each.ratio for each in found if not math.isnan(each.ratio)), default=math.nan),
        ratio_interval=Interval(*(min(ends) for ends in zip(*_intervals(found, "ratio"), strict=True))),
        confidence_level=level,
    )


def _intervals(ranges: Sequence[GroupRange], measure: str) -> list[Interval]:
    return [getattr(each, f"{measure}_interval") for each in ranges]


def _range_of_one(
    name: str, shares: GroupShares, keys: NDArray[Any], level: float, bounds: tuple[float, float]
) -> GroupRange:
    """Return the largest difference and the smallest ratio of one metric."""
    from scipy.stats import studentized_range

    known, (least, most) = np.flatnonzero(shares.trials > 0), bounds
    if known.size < 2:
        return GroupRange(
            name, math.nan, NOWHERE, math.nan, NOWHERE, None, None, math.nan, math.nan, known.size, level
        )  # fmt: skip
    z = float(studentized_range.isf(1 - level, known.size, math.inf)) / math.sqrt(2)
    differences, ratios = _ends_of_pairs(shares.take(known).limits(z))
    values = least + (most - least) * shares.values
    high, low = (known[np.argmax(values[known])], known[np.argmin(values[known])])
    return GroupRange(
        metric=name,
        difference=float(values[high] - values[low]),
        difference_interval=Interval(*((most - least) * each for each in differences)),
        ratio=float(values[low] / values[high]) if values[high] and not least else math.nan,
        ratio_interval=NOWHERE if least else ratios,
        highest=keys[high],
        lowest=keys[low],
        highest_value=float(values[high]),
        lowest_value=float(values[low]),
        n_groups=known.size,
        confidence_level=level,
    )


def _ends_of_pairs(limits: ShareLimits) -> tuple[Interval, Interval]:
    """Return the largest ends of the differences of all pairs (0 or more), and the smallest ends of their ratios.

    The further apart the shares of a pair are, the further both ends are from equality. Margins on the inner sides of
    the shares move the near end towards equality, and margins on the outer sides move the far end away from it. So only
    groups that few others surpass in share and margin are compared.
    """
    below, above = limits.values - limits.low, limits.high - limits.values
    near = _unsurpassed(limits.values, -below), _unsurpassed(-limits.values, -above)
    far = _unsurpassed(limits.values, above), _unsurpassed(-limits.values, below)
    differences, ratios = [0.0, 0.0], [1.0, 1.0]
    for k, (tops, bottoms) in enumerate((near, far)):
        step = max(PAIRS_AT_A_TIME // bottoms.size, 1)
        for start in range(0, tops.size, step):
            pairs = np.meshgrid(tops[start : start + step], bottoms)
            high, low = (limits.take(each[pairs[0] != pairs[1]]) for each in pairs)
            differences[k] = max(differences[k], *difference_interval(high, low)[k].tolist())
            ratios[k] = min(ratios[k], *ratio_interval(low, high)[1 - k].tolist())
    return Interval(*differences), Interval(*ratios[::-1])


def _unsurpassed(first: Floats, second: Floats) -> Ints:
    """Return the places that no other place, or only one, surpasses in both values; the result may have a few more."""
    order = np.lexsort((-second, -first))
    fronts = []
    for _ in range(2):
        values = second[order]
        is_front = values > np.concatenate(([-np.inf], np.maximum.accumulate(values)[:-1]))
        fronts.append(order[is_front])
        order = order[~is_front]
    return np.concatenate(fronts)


def _normal_quantile(alpha: float) -> float:
    """Return the two-sided normal quantile."""
    from scipy.special import ndtri

    return -float(ndtri(alpha / 2))


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_classes(spec: MetricSpec, model: Any, of: Matrices) -> None:
    """Raise unless a metric of one class has two classes, and it is known which of them is positive."""
    if model.labels is None or "average" in spec.options or METRICS[spec.name].trials in ("", "rows"):
        return
    if of.n_classes != 2:
        raise ValueError(
            f"metrics: {spec} needs labels of two classes, got {of.n_classes}: compare one class with the others, as "
            "in group_differences(y_true == label, y_pred == label, ...)"
        )
    check_positive_known(spec.name, model.classes)


def _place_of(reference: Any, rows: _RowsOfModel) -> int | None:
    """Return the place of the reference group; None for the rest of the rows."""
    if reference is None:
        return int(np.argmax(rows.rows.sums()))
    try:
        place = find_group(reference, rows.keys)
    except KeyError:
        if isinstance(reference, str) and reference == REST:
            return None
        raise ValueError(f"reference must be a group or 'rest': {_reason(reference, rows)}") from None
    if isinstance(reference, str) and reference == REST:
        raise ValueError("reference 'rest' is also the name of a group: rename this group")
    return place


def _reason(reference: Any, rows: _RowsOfModel) -> str:
    shown = ", ".join(written_key(each) for each in rows.keys[:GROUPS_NAMED])
    more = ", ..." if rows.keys.size > GROUPS_NAMED else ""
    return f"the groups are {shown}{more}; got {reference!r}"
