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
from fastevals._validation.arrays import check_same_length
from fastevals._validation.labels import check_positive_known
from fastevals.counting.groups import code_groups
from fastevals.counting.keys import as_group_keys, key_names
from fastevals.counts import Cells
from fastevals.document.frames import Columns, leave_unused_out, make_columns
from fastevals.infer.proportions import SHARES, outcomes
from fastevals.infer.share_differences import (
    GroupShares,
    ShareLimits,
    difference_interval,
    difference_pvalues,
    ratio_interval,
)
from fastevals.infer.significance.corrections import PER_TEST_ALPHA, adjust_pvalues
from fastevals.infer.significance.decision import pvalue_text
from fastevals.many.group_subjects import SUBJECTS
from fastevals.many.groups import GROUPS_NAMED, auc_of_groups, find_group, key_columns_of, scores_by_group, written_key
from fastevals.measure.kinds import LABELS, SCORES, array_kind, metric_kinds
from fastevals.measure.metric_specs import MetricSpec, is_greater_better, parse_metrics
from fastevals.results import ByMetric, Frozen, Interval, check_confidence_level

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EQUALIZED = ("recall", "false_positive_rate")
PARITY = "prediction_rate"
REST = "rest"
FEW_TRIALS = 10  # of a share, below which a group gets a caution
PAIRS_AT_A_TIME = 1_000_000
MODEL_ROWS = 5  # weight of the model's variance of an AUC, in rows of the rarer class

# The rows that a share is a share of.
TRIALS = {
    "rows": "row", "rows by class": "row", "positives": "positive row", "negatives": "negative row",
    "predicted": "row predicted positive", "predicted negatives": "row predicted negative",
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
        (low, high), (low_2, high_2) = self.difference_interval, self.ratio_interval
        level = f"{100 * self.confidence_level:.6g} % interval"
        return (
            f"difference {self.difference:.3g} ({level} {low:.3g} to {high:.3g}), ratio {self.ratio:.3g} "
            f"({level} {low_2:.3g} to {high_2:.3g})"
        )

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
        `values` minus, and over, `reference_values`.
    difference_intervals, ratio_intervals : ndarray of shape (n, 2)
        Low and high end of each interval, simultaneous over all entries.
    pvalues, adjusted_pvalues : ndarray of shape (n,)
        p-values for no difference: of each entry, and adjusted for the number of entries.
    n_samples : ndarray of int64 of shape (n,)
        Number of rows.
    n_trials : ndarray of int64 of shape (n,)
        Number of rows that the metric is a share of: positive rows for recall. For AUCs, rows of the rarer class.
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
            yield f"It differs significantly in {differing.size - GROUPS_NAMED:,} more of {count_of(n, 'group')}."
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
        Metrics that are shares of rows: "recall", "false_positive_rate", "prediction_rate" (also called
        "selection_rate"), "precision", "specificity", "false_negative_rate", "negative_predictive_value",
        "prevalence", "accuracy" and "error_rate". For scores, such metrics at a fixed threshold, as in
        ``metric("recall", threshold=0.5)``, and "roc_auc".
    reference : group or "rest", optional
        The group to compare the others with; by default the group with most rows. "rest" compares each group with all
        other rows.
    confidence_level : float in (0, 1)
        Level of the simultaneous intervals; the tests are at the family-wise level ``1 - confidence_level``.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans; required for other labels.

    Returns
    -------
    DifferencesByGroup
        A mapping from each metric to its `GroupDifferences`, with `equalized_odds` and `demographic_parity`.

    Raises
    ------
    ValueError
        If an argument is not as described, if there is only one group, or if a metric is not a share of rows or the
        AUC; the message names the argument, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        Once for each metric that has no difference in some groups; the message gives their number, and the cautions
        give the reason.

    Notes
    -----
    Rows must be independent, and a threshold must not be chosen on these rows. The number of trials of a share, such as
    the number of positive rows, is treated as fixed.

    Differences have Newcombe's hybrid score interval, and ratios the interval of Donner and Zou. Both combine Wilson's
    limits of two groups. A p-value is 1 minus the level of the interval that ends at no difference. The test, the
    interval of the difference and the interval of the ratio therefore agree. Sidak's correction is conservative for
    differences that share a reference.

    Wilson's limits of an AUC use the number of trials with which a share would have the AUC's variance. This variance
    is a weighted mean of DeLong's variance, whose weight is the number of rows of the rarer class, and Hanley and
    McNeil's, whose weight is 5. DeLong's variance alone is too small for AUCs near 1 with few rows.

    The range of a metric over groups is a maximum over all pairs. Its interval is a projection of simultaneous
    intervals of all pairs, at the level of Tukey's studentized range: from the largest low end (or 0) to the largest
    high end. It is conservative. If groups are equal, the interval begins at 0, and it ends far above 0 unless groups
    are large. Equalised odds use both metrics at the level ``confidence_level ** 0.5``, because recall and false
    positive rate come from different rows.

    References
    ----------
    Newcombe (1998), doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I. Donner and Zou (2012),
    doi:10.1177/0962280210383466. Hanley and McNeil (1982), doi:10.1148/radiology.143.1.7063747. Hardt et al. (2016),
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
    wanted = {name: _checked_metric(kind, name, spec) for name, spec in specs.items()}
    truth, arrays = kind.read(y_true, {"y_score": y_score}, pos_label if kind is SCORES else None)
    keys = as_group_keys("groups", groups)
    check_same_length(y_true=arrays["y_score"], groups=keys)
    if not arrays["y_score"].size:
        raise ValueError("y_true is empty: it must have at least one row")
    model = SUBJECTS[kind](truth, [arrays["y_score"]], pos_label)
    coded = code_groups(keys)
    places = coded.block(slice(None))
    n_samples = np.bincount(places, minlength=coded.width)
    occurring = np.flatnonzero(n_samples)
    if occurring.size < 2:
        raise ValueError(f"groups must have two groups or more to compare, got {occurring.size}")
    numbers = np.zeros(coded.width, dtype=np.int64)
    numbers[occurring] = np.arange(occurring.size)
    rows = _RowsOfGroups(numbers[places], model, coded.keys(occurring), n_samples[occurring])
    place = _place_of(reference, rows)
    by = key_names("groups", groups)
    shares = {name: rows.shares(each) for name, each in wanted.items()}
    results = {
        name: _compare(name, specs[name], rows, shares[name], place, level, alpha, by, metric=wanted[name])
        for name in specs
    }
    cells = rows.only_cells([each.threshold for each in wanted.values() if each.threshold is not None], kind)
    ranges: dict[str, Any] = {}
    if cells is not None:
        own = {name: GroupShares(*_parts(name, cells)) for name in (*EQUALIZED, PARITY)}
        odds = {name: own[name] for name in EQUALIZED}
        ranges["equalized_odds"] = _range(odds, rows.keys, level)
        ranges["demographic_parity"] = _range({PARITY: own[PARITY]}, rows.keys, level)
    return DifferencesByGroup(results, labels=model.labels, pos_label=model.pos_label, **ranges)


class _ShareOrAuc(NamedTuple):
    """A metric that is a share of rows (of labels, or of scores at a threshold), or the AUC."""

    name: str
    threshold: Any = None

    @property
    def is_auc(self) -> bool:
        """Whether it is the AUC."""
        return self.name not in SHARES

    @property
    def trials(self) -> str:
        """What the trials are, in words: the rows of which the metric is a share; for AUCs, rows of the rarer class."""
        return "row of the rarer class" if self.is_auc else TRIALS[SHARES[self.name].trials]


class _RowsOfGroups(NamedTuple):
    """The rows of one model, with the number of each row's group and the groups' keys and sizes."""

    codes: Ints
    model: Any
    keys: NDArray[Any]
    n_samples: Ints

    def cells(self, threshold: Any) -> Cells:
        """Return each group's confusion matrix, for labels of two classes or for scores at a threshold."""
        true, predicted = self.model.true, self.model.models[0]
        predicted = predicted if threshold is None else predicted >= threshold
        places = self.codes * 4 + 2 * true.astype(np.int64) + predicted
        counts = np.bincount(places, minlength=4 * self.keys.size).reshape(-1, 4).T
        negative, false_positive, false_negative, positive = counts
        return Cells(positive, false_positive, false_negative, negative)

    def shares(self, wanted: _ShareOrAuc) -> GroupShares:
        """Return the successes and trials of each group."""
        if wanted.is_auc:
            return self.aucs(self.codes)
        is_of_class = SHARES[wanted.name].trials != "rows"
        if wanted.threshold is None and self.model.labels.size != 2:
            if is_of_class:
                raise ValueError(
                    f"metrics: {wanted.name} needs labels of two classes, got {self.model.labels.size}: compare one "
                    "class with the others, as in group_differences(y_true == label, y_pred == label, ...)"
                )
            right = np.bincount(self.codes, self.model.true == self.model.models[0], self.keys.size)
            return GroupShares(*_parts(wanted.name, Cells(right, self.n_samples - right, 0 * right, 0 * right)))
        if wanted.threshold is None and is_of_class:
            check_positive_known(wanted.name, self.model.classes)
        return GroupShares(*_parts(wanted.name, self.cells(wanted.threshold)))

    def aucs(self, codes: Any) -> GroupShares:
        """Return AUCs as shares; their numbers of trials give shares the variances of the AUCs."""
        found = auc_of_groups(
            scores_by_group(self.model.true, self.model.models[0], codes, None, None), with_variances=True
        )
        assert found.n_positives is not None
        assert found.n_negatives is not None
        auc, own = found.values[0], found.variances
        n_pos, n_neg = (np.asarray(each, dtype=np.float64) for each in (found.n_positives, found.n_negatives))
        rarer = np.minimum(n_pos, n_neg)
        with np.errstate(divide="ignore", invalid="ignore"):
            pairs, more = n_pos * n_neg, np.maximum(n_pos, n_neg)
            inner = (np.maximum(auc, 1 - auc) * pairs + 0.5 * more) / (pairs + more)  # not 1, where variances are 0
            both = inner / (2 - inner), 2 * inner**2 / (1 + inner)
            spread = inner * (1 - inner) + (n_pos - 1) * (both[0] - inner**2) + (n_neg - 1) * (both[1] - inner**2)
            of_model = spread / pairs / (inner * (1 - inner))  # 1 over the number of trials
            of_rows = np.where(own > 0, own / (auc * (1 - auc)), of_model)  # type: ignore[operator]
            trials = (rarer + MODEL_ROWS) / (rarer * of_rows + MODEL_ROWS * of_model)
        trials = np.where(np.isnan(auc), 0.0, trials)
        return GroupShares(np.nan_to_num(auc) * trials, trials)

    def of_rest(self, shares: GroupShares, wanted: _ShareOrAuc) -> GroupShares:
        """Return the successes and trials of the rows outside each group."""
        if not wanted.is_auc:
            return GroupShares(*(each.sum() - each for each in shares))
        parts = [self.aucs(self.codes == k).take([0]) for k in range(self.keys.size)]
        return GroupShares(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def n_trials(self, shares: GroupShares, wanted: _ShareOrAuc) -> Ints:
        """Return the number of rows that a metric is a share of; for AUCs, the rows of the rarer class."""
        if not wanted.is_auc:
            return shares.trials.astype(np.int64)
        positives = np.bincount(self.codes, self.model.true, self.keys.size).astype(np.int64)
        return np.asarray(np.minimum(positives, self.n_samples - positives))

    def only_cells(self, thresholds: list[Any], kind: Any) -> Cells | None:
        """Return the cells for the only threshold, or for labels with a known positive class; otherwise None."""
        if kind is LABELS:
            known = self.model.labels.size == 2 and self.model.pos_label is not None
            return self.cells(None) if known else None
        return self.cells(thresholds[0]) if len({float(each) for each in thresholds}) == 1 else None


def _parts(name: str, cells: Cells) -> tuple[Floats, Floats]:
    """Return successes and trials as floats."""
    successes, failures = (np.asarray(each, dtype=np.float64) for each in outcomes(name, cells))
    return successes, successes + failures


# Intervals and tests --------------------------------------------------------------------------------------------------


def _compare(
    name: str, spec: Any, rows: _RowsOfGroups, shares: GroupShares, place: int | None, level: float, alpha: float,
    by: tuple[str, ...] | None, *, metric: _ShareOrAuc,
) -> GroupDifferences:  # fmt: skip
    """Return the comparison in one metric, the worst group first."""
    if place is None:
        others, against = np.arange(rows.keys.size), rows.of_rest(shares, metric)
    else:
        others = np.delete(np.arange(rows.keys.size), place)
        against = shares.take(np.full(others.size, place))
    own = shares.take(others)
    pvalues = difference_pvalues(own, against)
    n_tests = int(np.count_nonzero(~np.isnan(pvalues)))
    z = _normal_quantile(PER_TEST_ALPHA["sidak"](alpha, max(n_tests, 1)))
    limits, limits_2 = own.limits(z), against.limits(z)
    differences = own.values - against.values
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = own.values / against.values
    adjusted = adjust_pvalues(pvalues, correction="sidak")
    better = is_greater_better(spec)
    evidence, ties = pvalues, differences
    if better is not None:
        ties = differences if better else -differences
        evidence = np.where(ties < 0, pvalues / 2, 1 - pvalues / 2)
    order = np.lexsort((ties, evidence))  # NaN is last
    n_undefined = pvalues.size - n_tests
    if n_undefined:
        warn_undefined(
            f"the difference in {name}", f"{n_undefined} of {count_of(pvalues.size, 'group')} have none; see `cautions`"
        )
    rejected = adjusted < alpha
    n_trials = rows.n_trials(shares, metric)
    columns = {
        "groups": rows.keys[others], "values": own.values, "reference_values": against.values,
        "differences": differences, "ratios": ratios, "pvalues": pvalues, "adjusted_pvalues": adjusted,
        "difference_intervals": np.stack(difference_interval(limits, limits_2), axis=1),
        "ratio_intervals": np.stack(ratio_interval(limits, limits_2), axis=1),
        "n_samples": rows.n_samples[others], "n_trials": n_trials[others],
        "is_lower": rejected & (differences < 0), "is_higher": rejected & (differences > 0),
        "cautions": _cautions(metric, own, against, n_trials[others]),
    }  # fmt: skip
    return GroupDifferences(
        metric=name,
        reference=REST if place is None else rows.keys[place],
        range=_range({name: shares}, rows.keys, level),
        confidence_level=level,
        by=by,
        **{field: column[order] for field, column in columns.items()},
    )


def _cautions(metric: _ShareOrAuc, own: GroupShares, against: GroupShares, n_trials: Ints) -> NDArray[Any]:
    """Return what to be careful about in each group; empty text if nothing."""
    what = metric.trials
    plural = what.replace("row", "rows", 1)
    cautions = np.full(n_trials.size, "", dtype=object)
    for k in np.flatnonzero(n_trials < FEW_TRIALS):
        cautions[k] = f"only {n_trials[k]} {what if n_trials[k] == 1 else plural}: merge small groups"
    cautions[against.values == 0] = "the reference value is 0, so the ratio is infinite or undefined"
    cautions[against.trials == 0] = f"the reference has no {plural}: choose another reference"
    cautions[own.trials == 0] = f"no {plural}: the metric is undefined"
    return cautions.astype(str)


def _range(shares: dict[str, GroupShares], keys: NDArray[Any], level: float) -> GroupRange:
    """Return the largest difference and the smallest ratio of independent metrics, at the joint level."""
    own_level = level ** (1 / len(shares))
    found = [_range_of_one(name, each, keys, own_level) for name, each in shares.items()]
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


def _range_of_one(name: str, shares: GroupShares, keys: NDArray[Any], level: float) -> GroupRange:
    """Return the largest difference and the smallest ratio of one metric."""
    from scipy.stats import studentized_range

    values, known = shares.values, np.flatnonzero(shares.trials > 0)
    if known.size < 2:
        nowhere = Interval(math.nan, math.nan)
        return GroupRange(
            name, math.nan, nowhere, math.nan, nowhere, None, None, math.nan, math.nan, known.size, level
        )  # fmt: skip
    z = float(studentized_range.isf(1 - level, known.size, math.inf)) / math.sqrt(2)
    differences, ratios = _ends_of_pairs(shares.take(known).limits(z))
    high, low = (known[np.argmax(values[known])], known[np.argmin(values[known])])
    return GroupRange(
        metric=name,
        difference=float(values[high] - values[low]),
        difference_interval=differences,
        ratio=float(values[low] / values[high]) if values[high] else math.nan,
        ratio_interval=ratios,
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


def _checked_metric(kind: Any, name: str, spec: Any) -> _ShareOrAuc:
    """Return a share of rows or the AUC; raise for any other metric."""
    rule = f"be {', '.join(SHARES)} (for scores, at a fixed threshold) or roc_auc, got {name}"
    if not isinstance(spec, MetricSpec) or (kind is not LABELS and kind is not SCORES):
        raise ValueError(f"metrics must {rule}")
    read: Any = kind.metric(spec)
    if spec.name == "roc_auc" and not spec.options:
        return _ShareOrAuc(spec.name)
    threshold = read.threshold if kind is SCORES else None
    allowed = {"threshold"} if kind is SCORES else set()
    if spec.name not in SHARES or spec.options.keys() - allowed or (kind is SCORES and threshold is None):
        raise ValueError(f"metrics must {rule}")
    return _ShareOrAuc(spec.name, threshold)


def _place_of(reference: Any, rows: _RowsOfGroups) -> int | None:
    """Return the place of the reference group; None for the rest of the rows."""
    if reference is None:
        return int(np.argmax(rows.n_samples))
    try:
        place = find_group(reference, rows.keys)
    except KeyError:
        if isinstance(reference, str) and reference == REST:
            return None
        raise ValueError(f"reference must be a group or 'rest': {_reason(reference, rows)}") from None
    if isinstance(reference, str) and reference == REST:
        raise ValueError("reference 'rest' is also the name of a group: rename this group")
    return place


def _reason(reference: Any, rows: _RowsOfGroups) -> str:
    shown = ", ".join(written_key(each) for each in rows.keys[:GROUPS_NAMED])
    more = ", ..." if rows.keys.size > GROUPS_NAMED else ""
    return f"the groups are {shown}{more}; got {reference!r}"
