"""The bootstrap of two subjects that share no rows: intervals for the difference in a metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from fastevals._kernels.random import stream_key
from fastevals._options import as_flag, listed, show
from fastevals._validation.labels import as_groups
from fastevals.document.frames import Columns, spread
from fastevals.infer.bootstrap.bootstrap import (
    NO_DOUBT,
    BootstrapMethod,
    BootstrapSettings,
    Estimate,
    Limits,
    make_estimate,
    resample,
    sizes_of_classes,
)
from fastevals.infer.bootstrap.row_samples import SamplingUnits
from fastevals.infer.bootstrap.samples import Floats, Jackknife, Sample, jackknife_acceleration
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_sample, specs_for
from fastevals.infer.comparison import share_as_extreme
from fastevals.measure.kinds import MetricSpecs
from fastevals.measure.metric_specs import parse_metrics
from fastevals.measure.ranking.base import Doubt
from fastevals.measure.ranking.ranking import doubt_of_difference, least_extreme, without_doubt
from fastevals.measure.registry import UNBOUNDED
from fastevals.results import EXTREMENESS, Alternative, ResampledByMetric, V, format_estimates, number_or_array

OTHER = np.uint64(2)  # the random stream of the reference


def bootstrap_unpaired(
    subject: Any,
    reference: Any,
    metrics: Any,
    *,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    method: BootstrapMethod = "BCa",
    alternative: Alternative = "two-sided",
    stratified: bool = False,
    groups: tuple[ArrayLike, ArrayLike] | None = None,
    sample_weight: tuple[ArrayLike | None, ArrayLike | None] | None = None,
    pos_label: Any = None,
    rng: Any = None,
    keep_distribution: bool = False,
    progress: bool = False,
) -> UnpairedResult:
    """Compute intervals of the differences in metrics between two disjoint sets of rows.

    Each set is resampled separately, as in `bootstrap`, unless the sets share clusters (`groups`). Use it to
    compare today's rows with yesterday's, for example, or one hospital's with another's. For models on the same
    rows use `compare_rankings`, which accounts for their correlation.

    Parameters
    ----------
    subject, reference : Ranking, RankingSummary, ThresholdCounts, ConfusionMatrix, or pair (y_true, y_score or y_pred)
        The data and the data to compare it with; they may be of different kinds. If a summary only bounds a metric,
        the interval is widened by the distances to the bounds, and the p-value is for the smallest difference within
        the bounds.
    metrics : str, `metric(...)`, function, a sequence of these, or a mapping of names to them
        As for `bootstrap`.
    n_resamples : int
        Number of replicates of each subject.
    confidence_level : float in (0, 1)
        Confidence level of each interval (not simultaneous).
    method : {"BCa", "percentile", "basic", "normal"}
        Interval method, as for `bootstrap`.
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the differences are not 0, are negative, or are positive.
    stratified : bool
        Keep the number of rows of each class in every replicate. Not allowed with `groups`.
    groups : pair of array-like, optional
        Clusters of the rows of the subject and of the reference, such as customers of two months; both must be pairs
        of arrays. Whole clusters are drawn, as many as both sets have together. A cluster of both sets is drawn as
        often in one as in the other, so the interval allows for their correlation.
    sample_weight : pair of array-like or None, optional
        Weights of the rows of the subject and of the reference; None for a side without weights. A side with weights
        must be a pair of arrays.
    pos_label : label, optional
        The positive class of pairs.
    rng, keep_distribution, progress
        As for `bootstrap`.

    Returns
    -------
    UnpairedResult
        A mapping from each metric to its `UnpairedDifference`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        In the cases listed for `bootstrap`.

    Notes
    -----
    Without `groups`, the replicates of the subject equal those of `bootstrap` with the same seed. The p-value is the
    share of replicates that are at least as far from the observed difference as that difference is from 0; the data
    count as one replicate. The smallest possible p-value is 1 / (n + 1) for n replicates. The acceleration of BCa
    combines the accelerations and standard errors of two independent estimates [1]_. With `groups`, the acceleration is
    a sixth of the skewness of the difference's jackknife values; each leaves out the same clusters in both sets. For
    metrics that are maxima (see `bootstrap`), "BCa" subtracts the same two terms from percentiles as in `bootstrap`,
    but on the metric's own scale.

    References
    ----------
    .. [1] Davison, A. C. and Hinkley, D. V. (1997), *Bootstrap Methods and their Application*, Cambridge, sections 3.2
       and 5.3.

    Examples
    --------
    >>> import fastevals
    >>> monday = fastevals.Ranking([0, 0, 1, 0, 1, 1, 0, 1], [0.1, 0.4, 0.3, 0.2, 0.6, 0.8, 0.5, 0.7])
    >>> tuesday = fastevals.Ranking([0, 1, 1, 0, 1, 0], [0.1, 0.4, 0.3, 0.2, 0.1, 0.8])
    >>> found = fastevals.bootstrap_unpaired(tuesday, monday, "roc_auc", stratified=True, rng=7)["roc_auc"]
    >>> round(found.value, 4), found.reference.value
    (-0.375, 0.875)
    """
    settings = BootstrapSettings.checked(n_resamples, confidence_level, method, alternative, rng)
    specs = parse_metrics(metrics)
    subjects = {"subject": subject, "reference": reference}
    for each in subjects.values():
        specs = specs_for(each, specs)
    pairs = [isinstance(each, (tuple, list)) for each in subjects.values()]
    shared = _number_clusters(subjects, groups, stratified)
    weights = _weights_of_sides(subjects, sample_weight)
    sides: list[Resampled] = []
    for number, (name, each) in enumerate(subjects.items()):
        labelled = pos_label if pairs[number] or not any(pairs) else None
        units = None if shared is None else shared[number]
        design = SamplingDesign(
            units, weights[number], stratified=as_flag("stratified", stratified), pos_label=labelled
        )
        counts, doubts, coarse = without_doubt(name, each, specs, takes_weights=True)
        sample = make_sample(counts, specs, design, coarse=coarse, name=name)
        if sides:
            _check_same_classes(sides[0].sample.labels, sample.labels)
        own = reference_settings(settings) if sides and shared is None else settings
        sides.append(Resampled.of(name, sample, specs, own, doubts, progress=progress))
    first, second = sides
    differences = unpaired_differences(
        first, second, specs, settings, share_clusters=shared is not None, keep=keep_distribution
    )
    return UnpairedResult(
        differences, settings.n_resamples, settings.confidence_level, settings.method, settings.alternative,
        labels=sides[0].sample.labels, pos_label=sides[0].sample.pos_label,
    )  # fmt: skip


class UnpairedResult(ResampledByMetric["UnpairedDifference"]):
    """Result of `bootstrap_unpaired`: a mapping from each metric to its `UnpairedDifference`.

    Examples
    --------
    >>> import fastevals
    >>> matrices = [fastevals.ConfusionMatrix([[40, 10], [5, 45]]), fastevals.ConfusionMatrix([[45, 5], [4, 46]])]
    >>> fastevals.bootstrap_unpaired(*matrices, "accuracy", rng=0)["accuracy"].value.__round__(2)
    -0.06
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnpairedDifference(Estimate[V]):
    """The metric of the subject minus the metric of the reference: floats, or arrays if the metric is an array.

    Attributes
    ----------
    value : float or ndarray
        The difference.
    confidence_interval : Interval
        Interval of the difference.
    standard_error : float or ndarray
        Standard deviation of the differences of the replicates.
    bias : float or ndarray
        Mean of the differences of the replicates minus the value.
    n_undefined : int or ndarray
        Number of replicates in which the metric is undefined for the subject or the reference; they are dropped.
    bootstrap_distribution : ndarray of shape (n_resamples, ...) or None
        All differences of replicates, NaN where undefined; None unless asked for.
    caution : str
        As for an `Estimate`.
    pvalue : float or ndarray
        p-value for the hypothesis of no difference.
    subject, reference : Estimate
        The metric of each subject.
    """

    pvalue: V = field(kw_only=True)
    subject: Estimate[V] = field(kw_only=True)
    reference: Estimate[V] = field(kw_only=True)

    def __repr__(self) -> str:
        if isinstance(self.value, np.ndarray):
            return f"UnpairedDifference({format_estimates(self.value, self.confidence_interval)})"
        interval = "[{:.4g}, {:.4g}]".format(*self.confidence_interval)
        return f"UnpairedDifference({self.value:.4g}, {interval}, p={self.pvalue:.3g})"

    def _columns(self) -> Columns:
        sides = {"subject": self.subject.value, "reference": self.reference.value}
        return {**Estimate._columns(self), **spread(pvalue=self.pvalue, **sides)}


class Resampled(NamedTuple):
    """One of the two subjects: its metrics and their replicates, by label."""

    name: str
    sample: Sample
    doubts: Mapping[str, Doubt]
    values: dict[str, Floats]
    replicates: dict[str, Floats]
    accelerations: dict[str, Any]

    @classmethod
    def of(
        cls,
        name: str,
        sample: Sample,
        specs: MetricSpecs,
        settings: BootstrapSettings,
        doubts: Mapping[str, Doubt] = MappingProxyType({}),
        *,
        progress: bool = False,
    ) -> Self:
        """Draw from a sample. The second side must be drawn with `reference_settings`, unless clusters are shared."""
        values, replicates, accelerations = resample(sample, specs, settings, progress=progress)
        labels = list(specs)
        return cls(
            name, sample, doubts, dict(zip(labels, values, strict=True)), dict(zip(labels, replicates, strict=True)),
            {labels[k]: each for k, each in accelerations.items()},
        )  # fmt: skip

    def estimate(self, label: str, spec: Any, settings: BootstrapSettings, *, keep: bool) -> Estimate:
        """Return the estimate of a metric, in the form that `bootstrap` returns."""
        return make_estimate(
            f"{label} of {self.name}", spec, self.values[label], self.replicates[label],
            self.accelerations.get(label, 0.0), settings, keep=keep,
            class_sizes=sizes_of_classes(self.sample, spec), doubt=self.doubts.get(label, NO_DOUBT),
        )  # fmt: skip

    def left_out(self, settings: BootstrapSettings) -> dict[str, Jackknife]:
        """Return each metric with clusters left out in turn."""
        return dict(zip(self.values, self.sample.left_out(settings.key), strict=True))


def reference_settings(settings: BootstrapSettings) -> BootstrapSettings:
    """Return the settings with which the reference is drawn, so that its draws are independent of the subject's."""
    return settings._replace(key=np.uint64(stream_key(settings.key, OTHER)))


def unpaired_differences(
    subject: Resampled,
    reference: Resampled,
    specs: MetricSpecs,
    settings: BootstrapSettings,
    *,
    share_clusters: bool = False,
    keep: bool = False,
) -> dict[str, UnpairedDifference]:
    """Return the difference of two resampled sides in each metric.

    With `share_clusters`, both sides drew the same clusters (`SamplingUnits.number_shared`) with the same settings.
    """
    left_out = None
    if share_clusters and settings.method == "BCa":
        left_out = subject.left_out(settings), reference.left_out(settings)
    return {
        label: _difference(label, spec, (subject, reference), settings, left_out, keep=keep)
        for label, spec in specs.items()
    }


def _difference(
    label: str,
    spec: Any,
    sides: tuple[Resampled, Resampled],
    settings: BootstrapSettings,
    left_out: tuple[dict[str, Jackknife], dict[str, Jackknife]] | None,
    *,
    keep: bool,
) -> UnpairedDifference:
    """Return the difference of the two sides in a metric.

    If the sides share clusters, `left_out` has each side's metrics with clusters left out in turn.
    """
    of_subject, of_reference = (side.estimate(label, spec, settings, keep=keep) for side in sides)
    shapes = [side.values[label].shape for side in sides]
    if shapes[0] != shapes[1]:
        raise ValueError(f"reference must have as many values of {label} as subject, {shapes[0]}, got {shapes[1]}")
    with np.errstate(invalid="ignore"):  # infinite values
        values = np.asarray(sides[0].values[label] - sides[1].values[label], dtype=np.float64)
        replicates = sides[0].replicates[label] - sides[1].replicates[label]
    doubt = doubt_of_difference(*(side.doubts.get(label, NO_DOUBT) for side in sides))
    own = Limits.of(spec)
    least, most = own.bounds
    if left_out is None:
        acceleration = _joint_acceleration(label, sides, of_subject, of_reference)
    else:
        ours, theirs = (each[label] for each in left_out)
        acceleration = jackknife_acceleration(ours.values - theirs.values, ours.times, ours.strata)
    sizes = [each for each in (sizes_of_classes(side.sample, spec) for side in sides) if each is not None]
    estimate = make_estimate(
        f"the difference of {label}", spec, values, replicates, acceleration, settings,
        keep=keep, class_sizes=min(sizes, key=min) if sizes else None, doubt=doubt,
        limits=Limits((least - most, most - least), own.optimized and UNBOUNDED, own.is_by_another),
    )  # fmt: skip
    columns = replicates.reshape(len(replicates), -1).T
    pvalues = [
        _pvalue(column, float(value), doubt, settings.alternative)
        for column, value in zip(columns, values.ravel(), strict=True)
    ]
    made = {each.name: getattr(estimate, each.name) for each in fields(estimate)}
    pvalue = number_or_array(np.reshape(pvalues, values.shape))
    return UnpairedDifference(**made, pvalue=pvalue, subject=of_subject, reference=of_reference)


def _joint_acceleration(label: str, sides: tuple[Resampled, Resampled], *estimates: Estimate) -> Any:
    """Return BCa's acceleration of a difference, from the accelerations and standard errors of the two sides."""
    errors = [np.asarray(each.standard_error, dtype=np.float64) for each in estimates]
    cubes = [side.accelerations.get(label, 0.0) * error**3 for side, error in zip(sides, errors, strict=True)]
    squares = errors[0] ** 2 + errors[1] ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squares > 0, (cubes[0] - cubes[1]) / squares**1.5, 0.0)


def _pvalue(replicates: Floats, value: float, doubt: Doubt, alternative: Alternative) -> float:
    """Return the share of replicates that are at least as far from a difference as the difference is from 0."""
    side = EXTREMENESS[alternative]
    defined = replicates[np.isfinite(replicates)]
    return share_as_extreme(side(defined - value), float(side(least_extreme(value, doubt, alternative))))


def _number_clusters(subjects: dict[str, Any], groups: Any, stratified: Any) -> list[SamplingUnits] | None:
    """Return the units of each subject, numbered together; None without clusters."""
    if groups is None:
        return None
    if not isinstance(groups, (tuple, list)) or len(groups) != 2:
        raise ValueError(f"groups must be a pair (groups of the subject, groups of the reference), got {show(groups)}")
    for name, each in subjects.items():
        if not isinstance(each, (tuple, list)):
            raise ValueError(
                f"groups requires rows: {name} must be a pair (y_true, y_score or y_pred), got a {type(each).__name__}"
            )
    if as_flag("stratified", stratified):
        raise ValueError("stratified must be False with groups: a cluster may have rows of both classes")
    names = [f"groups[{k}]" for k in (0, 1)]
    return SamplingUnits.number_shared({n: as_groups(n, each) for n, each in zip(names, groups, strict=True)})


def _weights_of_sides(subjects: dict[str, Any], sample_weight: Any) -> tuple[Any, Any]:
    """Return the weights of each side; raise if they are no pair, or if a side with weights has no rows."""
    if sample_weight is None:
        return None, None
    if not isinstance(sample_weight, (tuple, list)) or len(sample_weight) != 2:
        raise ValueError(
            "sample_weight must be a pair (weights of the subject, weights of the reference), got "
            f"{show(sample_weight)}"
        )
    for (name, each), weights in zip(subjects.items(), sample_weight, strict=True):
        if weights is not None and not isinstance(each, (tuple, list)):
            raise ValueError(
                f"sample_weight requires rows: {name} must be a pair (y_true, y_score or y_pred), got a "
                f"{type(each).__name__}"
            )
    return sample_weight[0], sample_weight[1]


def _check_same_classes(labels: Any, others: Any) -> None:
    """Raise unless both sides have the same classes."""
    if labels is not None and others is not None and not np.array_equal(labels, others):
        given, wanted = listed(others.tolist()), listed(labels.tolist())
        raise ValueError(f"reference must have the classes of subject in the same order, {wanted}, got {given}")
