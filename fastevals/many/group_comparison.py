"""Compare models within each group of rows: differences with simultaneous intervals, and whether groups differ."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import warn_undefined
from fastevals._text import count_of, printable
from fastevals._validation.labels import check_two_models
from fastevals._validation.tables import find_name
from fastevals.document.frames import Columns, as_column, leave_unused_out, make_columns, or_nan
from fastevals.infer.significance.corrections import PER_TEST_ALPHA, adjust_pvalues
from fastevals.infer.significance.decision import Compared, as_sentence, decide, pvalue_text
from fastevals.many.group_influences import Differences, Wins, interval_of_shares
from fastevals.many.group_subjects import SUBJECTS, Pairs, checked_metric, read_groups, read_models, worst_first
from fastevals.many.groups import GROUPS_NAMED, key_columns_of, written_key
from fastevals.many.models import as_models
from fastevals.measure.kinds import LABELS, SCORES, array_kind, check_needed_probabilities, metric_kinds
from fastevals.measure.metric_specs import is_greater_better, metric_bounds, parse_metrics
from fastevals.results import ByMetric, Frozen, Null, SignificanceResult, check_confidence_level

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_DEGREES = 10.0  # of freedom, below which a difference gets a caution
FEWEST_UNITS = 10  # rows (or clusters), above which a group is part of the test of equal differences
FEW_ROWS = 10  # rows of a class, below which a difference of AUCs gets a caution
MERGE = ": merge small groups"  # what to do, at the end of cautions
LEAST_RELATIVE_ERROR = 1e-9  # of a difference: smaller standard errors are rounding errors


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupComparison(Frozen):
    """Differences of a metric between models in each group; the strongest evidence that a model is worse comes first.

    Arrays have one entry for each group and each model other than the reference.

    Attributes
    ----------
    metric : str
        Name of the metric.
    groups : ndarray of shape (n,)
        The group of each entry.
    models : ndarray of shape (n,)
        Name of the compared model.
    reference : name or int
        The model that others are compared with.
    values, reference_values : ndarray of shape (n,)
        The metric of the model and of the reference; NaN where undefined.
    differences : ndarray of shape (n,)
        `values` minus `reference_values`.
    standard_errors : ndarray of shape (n,)
        Standard errors of the differences.
    confidence_intervals : ndarray of shape (n, 2)
        Low and high end of each difference's interval, simultaneous over all entries.
    pvalues, adjusted_pvalues : ndarray of shape (n,)
        p-values for no difference: of each entry, and adjusted for the number of entries.
    n_samples : ndarray of int64 of shape (n,)
        Number of rows with weight above zero.
    n_positives, n_negatives : ndarray of int64 of shape (n,), or None
        Rows of each class, for metrics of scores.
    is_worse : ndarray of bool of shape (n,)
        Whether the model is significantly worse than the reference.
    is_better : ndarray of bool of shape (n,)
        Whether the model is significantly better than the reference.
    cautions : ndarray of str of shape (n,)
        What to be careful about; empty if nothing.
    heterogeneity : dict of model to SignificanceResult
        Test of whether the difference is the same in all groups.
    confidence_level : float
        Level of the simultaneous intervals.
    conclusion : str
        Where each model is significantly worse, and whether the difference varies over groups.
    by : tuple of str, or None
        Names of the columns that the groups' keys come from, if there are several.

    Examples
    --------
    >>> import fastevals
    >>> y, old, new = [0, 1] * 4, [1, 3, 2, 4, 2, 3, 1, 4], [1, 3, 2, 4, 3, 2, 1, 4]
    >>> found = fastevals.compare_groups(y, {"old": old, "new": new}, list("aaaabbbb"))["roc_auc"]
    >>> found.groups, found.differences
    (array(['b', 'a'], dtype='<U1'), array([-0.25,  0.  ]))
    """

    metric: str
    groups: NDArray[Any]
    models: NDArray[Any]
    reference: Any
    values: Floats
    reference_values: Floats
    differences: Floats
    standard_errors: Floats
    confidence_intervals: Floats
    pvalues: Floats
    adjusted_pvalues: Floats
    n_samples: Ints
    n_positives: Ints | None
    n_negatives: Ints | None
    is_worse: NDArray[np.bool_]
    is_better: NDArray[np.bool_]
    cautions: NDArray[Any]
    heterogeneity: dict[Any, SignificanceResult]
    confidence_level: float
    by: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return self.differences.size

    @property
    def conclusion(self) -> str:
        """The groups where each model is significantly worse, and whether differences vary over groups."""
        return self._concluded("group", self.metric)

    def _concluded(self, noun: str, metric: str) -> str:
        """Return the conclusion, given the words for a group and for the metric."""
        return " ".join(said for model in self.heterogeneity for said in self._sentences(model, noun, metric))

    def _sentences(self, model: Any, noun: str, metric: str) -> Iterator[str]:
        mine = np.flatnonzero(self.models == model)
        worse, better = mine[self.is_worse[mine]], mine[self.is_better[mine]]
        n = int(np.count_nonzero(~np.isnan(self.pvalues[mine])))
        name, reference = printable(str(model)), printable(str(self.reference))
        named = "; ".join(self._described(k) for k in worse[:GROUPS_NAMED])
        more = f"; and {worse.size - GROUPS_NAMED:,} more" if worse.size > GROUPS_NAMED else ""
        if worse.size:
            yield (
                f"In {worse.size:,} of {count_of(n, noun)}, {name} is significantly worse than {reference} by "
                f"{metric}: {named}{more}."
            )
        elif n:
            yield (
                f"In none of {count_of(n, noun)} is {name} significantly worse than {reference} by {metric}; the "
                f"strongest evidence is in {self._described(mine[0])}."
            )
        else:
            yield f"In no {noun} can {name} be tested against {reference} by {metric}."
        if better.size:
            yield f"{name} is significantly better in {count_of(better.size, noun)}."
        equality = self.heterogeneity[model]
        if equality.effect is not None:
            yield _conclude_equality(equality, equality.effect, mine.size, noun)

    def _described(self, k: int) -> str:
        low, high = self.confidence_intervals[k]
        return (
            f"{written_key(self.groups[k])} ({self.differences[k]:.3g}, simultaneous "
            f"{100 * self.confidence_level:.6g} % interval {low:.3g} to {high:.3g}, adjusted "
            f"{pvalue_text(float(self.adjusted_pvalues[k]), 'two-sided')})"
        )

    def _columns(self) -> Columns:
        low, high = self.confidence_intervals.T
        columns = make_columns(
            {
                "model": self.models,
                "value": self.values,
                "reference_value": self.reference_values,
                "difference": self.differences,
                "low": low,
                "high": high,
                "adjusted_pvalue": self.adjusted_pvalues,
                "is_worse": self.is_worse,
                "is_better": self.is_better,
                "standard_error": self.standard_errors,
                "pvalue": self.pvalues,
                "n_samples": self.n_samples,
                "n_positives": or_nan(self.n_positives),
                "n_negatives": or_nan(self.n_negatives),
                "caution": self.cautions,
            }
        )
        return key_columns_of("group", self.groups, self.by, columns) | columns

    def _shown_columns(self) -> Columns:
        columns = leave_unused_out(self._columns())
        unread = {
            "standard_error",
            "pvalue",
            "is_worse",
            "is_better",
            *(["model"] if len(self.heterogeneity) == 1 else []),
        }
        return {name: column for name, column in columns.items() if name not in unread}

    def _title(self) -> str:
        models = ", ".join(map(str, self.heterogeneity))
        return f"{self.metric} of {models} minus {self.reference}, by group"

    def __repr__(self) -> str:
        worse, better = (int(np.count_nonzero(each)) for each in (self.is_worse, self.is_better))
        return f"GroupComparison({self.metric} of {len(self)} groups: {worse} worse, {better} better)"

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")


class ComparisonsByGroup(ByMetric[GroupComparison]):
    """Result of `compare_groups`: a mapping from each metric to its `GroupComparison`."""

    __slots__ = ()

    def _settings(self) -> str:
        first = next(iter(self.metrics.values()))
        return f"{len(first) // len(first.heterogeneity)} groups"


def compare_groups(
    y_true: ArrayLike,
    predictions: Any,
    groups: Any,
    metrics: Any = "roc_auc",
    *,
    reference: Any = None,
    confidence_level: float = 0.95,
    clusters: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> ComparisonsByGroup:
    """Compare models with a reference within each group of rows; groups where a model is worse come first.

    Intervals and adjusted p-values are simultaneous over all groups: if the models are equal in all groups, the
    probability that any group is called different is at most ``1 - confidence_level``. Nothing is resampled.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels (of two classes for scores), or targets.
    predictions : mapping of name to array-like, array-like of shape (n_models, n_samples), or frame
        Scores, predicted labels or predicted numbers of two or more models; the metrics determine which.
    groups : array-like of shape (n_samples,), frame, mapping or list of columns
        The group (segment) of each row, in any order: numbers, booleans, strings, dates, times or other values, or
        several columns of these, as for `grouped_metrics`.
    metrics : str, `metric(...)`, a sequence of these, or a mapping of names to them
        Of scores: "roc_auc", "rank_loss", "gini", "brier_score", "log_loss", and metrics at a fixed threshold such as
        ``metric("recall", threshold=0.5)``. Of predicted labels: metrics of confusion matrices with one value, such as
        "accuracy" or ``metric("f1", average="macro")``. Of predicted numbers: "mean_squared_error",
        "mean_absolute_error", "mean_absolute_percentage_error" and "pinball_loss".
    reference : name or int, optional
        The model to compare the others with, by name, or by number if models have no names; by default the first.
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
    ComparisonsByGroup
        A mapping from each metric to its `GroupComparison`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        Once for each metric that has no difference or no test in some groups; the message gives their number, and the
        cautions give the reason.

    Notes
    -----
    Groups are disjoint, so their differences are independent, and Sidak's correction is exact. With several models it
    is conservative. Intervals and p-values are simultaneous metric by metric.

    Shares of rows ("accuracy", "recall", "false_positive_rate") use McNemar's exact test, and an interval from the
    exact intervals of both kinds of discordant rows; their level holds in groups of any size. Other differences use a
    standard error and Student's t: the standard error is DeLong's for AUCs, the jackknife's for metrics of counts such
    as F1, and the standard error of the mean for losses. The degrees of freedom follow from the kurtosis of the rows'
    influences. For AUCs, and for metrics of counts that depend on both classes, they are below the number of rows of
    the rarer class. Weighted and clustered rows always use t.

    Cochran's test of equal differences converts each t statistic to the normal quantile of its probability, so that
    small groups do not inflate Q. It uses groups with more than 10 rows, or more than 10 rows of each class for metrics
    that depend on both. In small groups it is conservative.

    References
    ----------
    DeLong et al. (1988), doi:10.2307/2531595. Sidak (1967), doi:10.1080/01621459.1967.10482935. Cochran (1954), "The
    Combination of Estimates from Different Experiments", doi:10.2307/3001666. Efron and Stein (1981),
    doi:10.1214/aos/1176345462 (jackknife). Satterthwaite (1946), doi:10.2307/3002019.

    Examples
    --------
    >>> import numpy as np, fastevals
    >>> rng = np.random.default_rng(0)
    >>> y, region = rng.integers(0, 2, 2000), rng.choice(["north", "south", "west"], 2000)
    >>> old = y + rng.normal(size=2000)
    >>> new = np.where(region == "west", rng.normal(size=2000), old + 0.1 * rng.normal(size=2000))
    >>> found = fastevals.compare_groups(y, {"old": old, "new": new}, region)["roc_auc"]
    >>> found.groups[found.is_worse], found.differences.round(3)
    (array(['west'], dtype='<U5'), array([-0.308, -0.004,  0.002]))
    """
    level, alpha = check_confidence_level(confidence_level)
    specs = parse_metrics(metrics)
    kind = array_kind(metric_kinds(specs)) or LABELS
    wanted = {name: checked_metric(kind, name, spec) for name, spec in specs.items()}
    labelled, names = as_models("predictions", predictions, kind.as_array)
    check_two_models("predictions", names)
    place = 0 if reference is None else find_name("reference", reference, names)
    truth, arrays = read_models(kind, y_true, labelled, pos_label)
    read = read_groups(next(iter(arrays.values())), groups, clusters, sample_weight)
    rows, subject = read.rows, SUBJECTS[kind](truth, list(arrays.values()), pos_label)
    if read.kept is not None:
        subject = subject.take(read.kept)
    if kind is SCORES:
        check_needed_probabilities(specs, dict(zip(labelled, subject.models, strict=True)))
    n_samples = rows.sums().astype(np.int64)
    sizes: list[Ints | None] = [None, None]
    if kind is SCORES:
        positives = np.bincount(rows.codes, subject.true, rows.n_groups).astype(np.int64)
        sizes = [positives, n_samples - positives]
    found = ComparedGroups(read.keys, np.arange(rows.n_groups), read.by, n_samples, *sizes)
    pairs = [(k, place) for k in range(len(names)) if k != place]
    results = {}
    for name, spec in specs.items():
        differences = subject.differences(rows, wanted[name], spec, pairs)
        results[name] = compare_differences(name, spec, found, names, pairs, differences, level, alpha)
    return ComparisonsByGroup(results, labels=subject.labels, pos_label=subject.pos_label)


class ComparedGroups(NamedTuple):
    """The groups that have rows: keys and their columns, positions in the arrays of `Differences`, numbers of rows."""

    keys: NDArray[Any]
    codes: NDArray[np.intp]
    by: tuple[str, ...] | None
    n_samples: Ints
    n_positives: Ints | None
    n_negatives: Ints | None


# Intervals and tests --------------------------------------------------------------------------------------------------


def compare_differences(
    name: str, spec: Any, found: ComparedGroups, names: tuple[Any, ...], pairs: Pairs,
    differences: list[Differences], level: float, alpha: float,
) -> GroupComparison:  # fmt: skip
    """Return the comparison in one metric, ordered from the strongest evidence that the model is worse."""
    tested = [_Tested.of(each, found.codes) for each in differences]
    pvalues = np.concatenate([each.pvalues for each in tested])
    n_tests = int(np.count_nonzero(~np.isnan(pvalues)))
    own_alpha = PER_TEST_ALPHA["sidak"](alpha, max(n_tests, 1))
    least, most = metric_bounds(spec)
    bounds = least - most, most - least
    ends = np.concatenate([np.clip(each.interval(own_alpha), *bounds) for each in tested])
    effects, errors, values, others = (
        np.concatenate([getattr(each, field) for each in tested])
        for field in ("effects", "errors", "values", "reference_values")
    )
    adjusted = adjust_pvalues(pvalues, correction="sidak")
    benefits = effects if is_greater_better(spec) in (True, None) else -effects
    sizes = [None if each is None else np.tile(each, len(pairs)) for each in found[3:]]
    cautions = np.concatenate([_cautions(each, found, own_alpha, n_tests) for each in tested])
    order = worst_first(pvalues, benefits)
    undefined = int(np.count_nonzero(np.isnan(pvalues)))
    if undefined:
        warn_undefined(
            f"the comparison by {name}", f"{undefined} of {pvalues.size} groups have no test; see `cautions`"
        )
    rejected = adjusted < alpha
    heterogeneity = {names[k]: _test_equal_differences(each, alpha) for (k, _), each in zip(pairs, tested, strict=True)}
    models = np.repeat(as_column([names[k] for k, _ in pairs]), found.keys.size)
    worse, better = rejected & (benefits < 0), rejected & (benefits > 0)
    columns: dict[str, Any] = {
        "groups": np.tile(found.keys, len(pairs)), "models": models, "values": values, "reference_values": others,
        "differences": effects, "standard_errors": errors, "confidence_intervals": ends, "pvalues": pvalues,
        "adjusted_pvalues": adjusted, "n_samples": sizes[0], "n_positives": sizes[1], "n_negatives": sizes[2],
        "is_worse": worse, "is_better": better, "cautions": cautions,
    }  # fmt: skip
    ordered: dict[str, Any] = {field: None if column is None else column[order] for field, column in columns.items()}
    return GroupComparison(
        metric=name,
        reference=names[pairs[0][1]],
        heterogeneity=heterogeneity,
        confidence_level=level,
        by=found.by,
        **ordered,
    )


class _Tested(NamedTuple):
    """Differences in the groups that have rows, with their tests; arrays have shape (n_groups,)."""

    values: Floats
    reference_values: Floats
    effects: Floats
    errors: Floats
    df: Floats
    units: Floats
    wins: Wins | None
    pvalues: Floats

    @classmethod
    def of(cls, found: Differences, groups: NDArray[np.intp]) -> _Tested:
        """Test the differences of some groups."""
        from scipy.special import betainc, stdtr

        values, others = found.values[groups], found.reference_values[groups]
        with np.errstate(invalid="ignore"):  # of two infinite values
            effects = values - others
        variances, df, units = (each[groups] for each in found.spread)
        errors = np.sqrt(variances)
        errors = np.where(errors < LEAST_RELATIVE_ERROR * np.abs(effects), 0.0, errors)
        wins = None if found.wins is None else Wins(*(each[groups] for each in found.wins))
        if wins is not None:
            units = wins.n
            more, fewer = np.maximum(wins.own, wins.other), np.minimum(wins.own, wins.other)
            tail = betainc(np.maximum(more, 1), fewer + 1, 0.5)  # of a binomial: `more` or more wins of all
            pvalues = np.where(more > 0, np.minimum(2 * tail, 1.0), 1.0)
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                pvalues = 2 * stdtr(df, -np.abs(effects / errors))
            pvalues = np.where(errors > 0, pvalues, np.where(effects == 0, 1.0, np.nan))
        pvalues = np.where(np.isnan(effects) | np.isnan(errors), np.nan, pvalues)
        return cls(values, others, effects, errors, df, units, wins, pvalues)

    def interval(self, alpha: float) -> Floats:
        """Return the intervals of the differences, of shape (n_groups, 2)."""
        from scipy.special import stdtrit

        if self.wins is not None:
            return np.stack(interval_of_shares(self.wins, alpha), axis=1)
        tested = ~np.isnan(self.pvalues)
        margin = np.full(tested.size, np.nan)
        margin[tested] = stdtrit(self.df[tested], 1 - alpha / 2) * self.errors[tested]
        return np.stack([self.effects - margin, self.effects + margin], axis=1)


def _cautions(tested: _Tested, found: ComparedGroups, alpha: float, n_tests: int) -> NDArray[Any]:
    """Return what to be careful about in each group; empty text if nothing."""
    cautions = np.full(tested.effects.size, "", dtype=object)
    n = found.n_samples if tested.wins is None else tested.wins.n
    needed = 1 - math.log2(alpha)
    if n_tests > 1:
        cautions[n < needed] = f"too few rows to show a difference among {n_tests:,} tests{MERGE}"
    if tested.wins is None:
        few = tested.df < FEWEST_DEGREES
        cautions[few] = f"fewer than {FEWEST_DEGREES:g} degrees of freedom{MERGE}"
    if found.n_positives is not None and found.n_negatives is not None and tested.wins is None:
        rarer = np.minimum(found.n_positives, found.n_negatives)
        for k in np.flatnonzero((rarer < FEW_ROWS) & (rarer > 0)):
            which = "positive" if found.n_positives[k] == rarer[k] else "negative"
            cautions[k] = f"only {count_of(int(rarer[k]), f'{which} row')}{MERGE}"
    alike = (tested.effects == 0) & (tested.errors == 0)
    if tested.wins is None:
        cautions[alike] = "the models are alike on these rows, so the interval has no width"
    flat = np.isnan(tested.pvalues) & ~np.isnan(tested.effects)
    cautions[flat] = "no standard error: all rows have the same influence, or there are too few"
    cautions[np.isnan(tested.effects)] = "the metric is undefined on these rows"
    return cautions.astype(str)


def _test_equal_differences(tested: _Tested, alpha: float) -> SignificanceResult:
    """Test whether the difference is the same in all groups, by Cochran's Q.

    Groups are selected by their size alone: degrees of freedom that follow from the kurtosis depend on the difference,
    so groups selected by these would seem to differ.
    """
    from scipy.special import ndtri, stdtr

    used = (tested.errors > 0) & (tested.units > FEWEST_UNITS)
    effects, errors, df = tested.effects[used], tested.errors[used], tested.df[used]
    statistic, n_free, effect = math.nan, max(effects.size - 1, 1), None
    if effects.size > 1:
        center = np.average(effects, weights=(errors.min() / errors) ** 2)
        scores = ndtri(stdtr(df, -np.abs(effects - center) / errors))
        statistic = float(np.sum(scores**2))
        effect = max(0.0, 1 - n_free / statistic) if statistic else 0.0
    test, words = "Cochran's Q test", Compared("", "", f"the differences over {count_of(effects.size, 'group')}")
    found: SignificanceResult = decide(test, words, statistic, Null("chi2", (n_free,)), alpha=alpha, effect=effect)
    if effect is None:
        return found
    return replace(found, conclusion=_conclude_equality(found, effect, used.size, "group"))


def _conclude_equality(found: SignificanceResult, effect: float, n_groups: int, noun: str) -> str:
    """Say whether the difference varies over groups, given Cochran's Q test and the share beyond chance."""
    assert found.null is not None
    n_used = int(found.null.parameters[0]) + 1
    varies = "varies significantly" if found.rejected else "does not vary significantly"
    over = ("" if n_used == n_groups else f"{n_used:,} of ") + count_of(n_groups, noun)
    evidence = f"{100 * effect:.0f} % of its variation is beyond chance; {found.test}"
    claim = f"the difference {varies} over {over} ({evidence}, {pvalue_text(found.pvalue, 'two-sided')})"
    return as_sentence(claim, found.alpha)
