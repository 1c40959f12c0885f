"""What decides a rule: a metric, or a difference of models, with one-sided bounds at any level.

Each bound comes from the method whose share of wrong passes was closest to the level in simulations
(`docs/coverage.md`): exact or score intervals for rates at a fixed threshold, a score interval of placements for AUC,
and replicates otherwise. If data are so degenerate that no method has a width, there is no bound, and the evidence says
why.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning, show
from fastevals._validation.labels import as_groups
from fastevals.infer.bootstrap.bootstrap import (
    FEW_ROWS,
    NO_DOUBT,
    NO_LIMITS,
    TIE,
    BootstrapSettings,
    Limits,
    confidence_interval,
    few_rows_caution,
    interval_method,
    resample,
    sizes_of_classes,
)
from fastevals.infer.bootstrap.class_groups import can_be_grouped, take_minutes
from fastevals.infer.bootstrap.label_samples import number_joint_cells
from fastevals.infer.bootstrap.row_samples import SamplingUnits
from fastevals.infer.bootstrap.samples import Floats, Jackknife, Sample, jackknife_acceleration
from fastevals.infer.bootstrap.subjects import (
    SamplingDesign,
    make_class_sample,
    make_prediction_sample,
    make_score_sample,
    make_target_sample,
)
from fastevals.infer.gate.closed import Closed, ClosedForms, ClosedRows
from fastevals.measure.class_specs import spec_of_classes
from fastevals.measure.kinds import LABELS, SCORES
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.ranking.base import Doubt
from fastevals.measure.registry import UNBOUNDED
from fastevals.results import NOWHERE, Interval

Side = Literal["low", "high"]
Specs = Mapping[str, MetricSpec]

MOST_UNDEFINED = 0.05  # share of replicates; if more are undefined, the others do not represent all samples
BCA_OR_T = "wider of BCa and t"
NO_SPREAD = "all replicates are equal, so they do not tell how far the value may be off"


@dataclass(frozen=True)
class Evidence:
    """An estimate with one-sided bounds at any level.

    Attributes
    ----------
    value : float
        The metric, or the difference.
    standard_error : float
        Its standard error.
    method : str
        How the bounds are made.
    interval : callable
        Given a level, returns the interval whose ends are one-sided bounds at it.
    n_undefined : int
        Replicates in which the metric is undefined; they are dropped.
    caution : str
        Why the bounds may be wrong more often than their level says; empty if there is no known reason.
    why_none : str
        Why there are no bounds; empty if there are.
    fixed_error : float
        The part of the standard error that more rows of the subject do not reduce.
    n_replicates : int
        Replicates that make the bounds; 0 if none do.
    doubt : float
        How far the value may be off because scores are counted in ranges; bounds include it.
    widening : float
        Width of the bounds divided by the width of a normal interval; above 1 if the bounds hold at every look.
    is_sum : bool
        Whether the value is a sum over the rows, which more rows would change.
    """

    value: float
    standard_error: float
    method: str
    interval: Callable[[float], Interval]
    n_undefined: int = 0
    caution: str = ""
    why_none: str = ""
    fixed_error: float = 0.0
    n_replicates: int = 0
    doubt: float = 0.0
    widening: float = 1.0
    is_sum: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "interval", cache(self.interval))  # a decision asks for each side

    def bound(self, level: float, side: Side) -> float:
        """Return the bound on one side: the true value is beyond it with a probability of 1 - level; NaN if none."""
        if not 0.5 < level < 1:
            raise ValueError(f"level must be above 0.5 and below 1, got {show(level)}")
        low, high = NOWHERE if self.why_none else self.interval(level)
        return float(low if side == "low" else high)

    def why_unbounded(self, level: float) -> str:
        """Why the bounds at a level are the limits of the metric; empty if there are enough replicates."""
        least = fewest_replicates(level)
        if not 0 < self.n_replicates < least:
            return ""
        have = f"{self.n_replicates:,} replicates are too few for bounds at this level"
        return f"{have}: {option('n_resamples')} must be at least {least:,}"

    def without(self, why_none: str) -> Evidence:
        """Return the same estimate without bounds."""
        return replace(self, why_none=self.why_none or why_none, interval=lambda _: NOWHERE)


NO_EVIDENCE = Evidence(math.nan, math.nan, "", lambda _: NOWHERE)


class RarerClass(NamedTuple):
    """The independent units of the rarer class, such as rows or clusters: how many, and their name."""

    n: float
    noun: str

    @property
    def why_few(self) -> str:
        """Why there are too few units for bounds; empty if there are enough.

        With 20 positives, the lower bound was above the truth in 7.5 % of 400 data sets for differences in AP and in
        6.0 % for AUC (true AUCs of 0.95 and 0.96), and samples may miss all rows that are ranked wrong.
        """
        if self.n >= FEW_ROWS:
            return ""
        shown = f"{math.floor(10 * self.n) / 10:g}"  # rounded down: 49.99 are not 50
        noun = re.sub(r"s\b", "", self.noun, count=1) if shown == "1" else self.noun
        return f"only {shown} {noun}: bounds need at least {FEW_ROWS}"

    @classmethod
    def of(cls, parts: Mapping[str, NDArray[np.bool_]], weights: Floats | None, groups: Any) -> RarerClass:
        """Return the smallest of several parts of the rows, by name: its rows, effective rows, or clusters."""
        found = []
        group_numbers = np.empty(0) if groups is None else SamplingUnits.number(len(groups), groups, None).unit_by_row
        for name, rows in parts.items():
            if groups is not None:
                found.append(cls(float(sorted_unique(group_numbers[rows]).size), f"clusters with {name}"))
            elif weights is None:
                found.append(cls(float(np.count_nonzero(rows)), name))
            else:
                own = weights[rows] / max(float(weights.max()), np.finfo(np.float64).tiny)
                effective = float(own.sum()) ** 2 / float(own @ own) if own.any() else 0.0
                found.append(cls(effective, f"effective {name}"))
        return min(found)


def fewest_replicates(level: float) -> int:
    """Return how many replicates a one-sided bound at a level needs."""
    return math.ceil(1 / (1 - level) - 1e-9) - 1


def from_replicates(
    value: float,
    replicates: Floats,
    acceleration: float,
    limits: Limits,
    doubt: Doubt = NO_DOUBT,
    df: float = math.inf,
) -> Evidence:
    """Return the evidence of bootstrap replicates.

    There are two bounds on each side, BCa's and one from the standard error and Student's t with `df` degrees of
    freedom; the one that is further out is used. With 65 positives, true differences in F1 were beyond BCa's bound in
    7.5 % of data sets, and beyond the bound that is used in 5.5 %.
    Metrics that are maxima have their own intervals, as in `bootstrap`.

    Bounds move outwards by the `doubt` on their side. There are none if the value or more than 5 % of the replicates
    are undefined, if a replicate is infinite, or if all replicates are equal. A bound whose level needs more replicates
    is at the limit of the metric.
    """
    value = float(value)
    defined = replicates[~np.isnan(replicates)]
    n_undefined = replicates.size - defined.size
    why_none = _why_none(value, defined, replicates.size)
    error = float(defined.std(ddof=1)) if defined.size > 1 and np.isfinite(defined).all() else math.nan

    def interval(level: float) -> Interval:
        from scipy.special import ndtri, stdtrit

        if defined.size < fewest_replicates(level):
            return Interval(*limits.bounds)
        low, high = confidence_interval(
            "BCa", defined, value, confidence_level=2 * level - 1, alternative="two-sided",
            acceleration=acceleration, limits=limits,
        )  # fmt: skip
        if limits.optimized is None:
            reach = error * float(ndtri(level) if math.isinf(df) else stdtrit(df, level))
            low, high = np.fmin(low, value - reach), np.fmax(high, value + reach)
        low, high = np.clip((low - doubt[0], high + doubt[1]), *limits.bounds)
        return Interval(float(low), float(high))

    method = interval_method("BCa", limits) if limits.optimized is not None else BCA_OR_T
    found = Evidence(value, error, method, interval, n_undefined, n_replicates=defined.size, doubt=max(doubt))
    return found.without(why_none) if why_none else found


def _why_none(value: float, defined: Floats, n: int) -> str:
    """Return why replicates give no bounds, or an empty string."""
    if math.isnan(value):
        return "the metric is undefined"
    if not np.isfinite(defined).all():
        return "the metric is infinite in some replicates"
    if n < 2:
        return f"{option('n_resamples')}={n} is too few replicates"
    if defined.size < (1 - MOST_UNDEFINED) * n or defined.size < 2:
        return f"the metric is undefined in {n - defined.size} of {n} replicates"
    if float(defined.max() - defined.min()) <= TIE * abs(value):
        return NO_SPREAD
    return ""


def from_normal(value: float, standard_error: float, method: str = "normal") -> Evidence:
    """Return the evidence of an estimate that is normal with a known standard error."""
    from scipy.special import ndtri

    def interval(level: float) -> Interval:
        reach = float(ndtri(level)) * standard_error
        return Interval(value - reach, value + reach)

    return Evidence(value, standard_error, method, interval)


def difference(one: Evidence, other: Evidence, factor: float = 1.0) -> Evidence:
    """Return the evidence on an estimate minus `factor` times another one, of other rows.

    The bounds of the difference recover the variances from the two separate bounds on each side (MOVER): Zou and Donner
    (2008), "Construction of confidence limits about effect measures", Statistics in Medicine 27, 1693-1702,
    doi:10.1002/sim.3095.
    """
    value = one.value - factor * other.value

    def interval(level: float) -> Interval:
        mine, its = one.interval(level), other.interval(level)
        low = value - math.hypot(one.value - mine.low, factor * (its.high - other.value))
        high = value + math.hypot(mine.high - one.value, factor * (other.value - its.low))
        return Interval(low, high)

    error = math.hypot(one.standard_error, factor * other.standard_error)
    cautions = "; ".join(dict.fromkeys(filter(None, (one.caution, other.caution))))
    method = " and ".join(dict.fromkeys(filter(None, (one.method, other.method))))
    method = f"{method}, combined (MOVER)" if method else ""
    return Evidence(
        value, error, method, interval, max(one.n_undefined, other.n_undefined), cautions,
        one.why_none or other.why_none, factor * other.standard_error,
        min(filter(None, (one.n_replicates, other.n_replicates)), default=0),
    )  # fmt: skip


class Measured:
    """Metrics of models on the same rows, with their replicates.

    Parameters
    ----------
    specs : mapping of str to MetricSpec
        The metrics by name.
    models : sequence of str
    values, replicates : mapping of str to ndarray
        By metric, the values of shape (n_models,), and their replicates of shape (n_resamples, n_models).
    accelerations : mapping of str to ndarray
        BCa's accelerations, of shape (n_models,); 0 where there is none.
    doubts : mapping of str to tuple
        By metric, how far its values may be off on each side.
    left_out : callable, optional
        Returns the jackknife values of each metric that has replicates.
    closed : ClosedForms, optional
        What is known without replicates.
    units : RarerClass, optional
        The units of the rarer class.
    is_equal : callable, optional
        Returns whether two models have the same predictions.
    rest : object with the same methods `of` and `between`, optional
        Measures the metrics that are neither closed nor resampled here.
    cautions : mapping of str to str
        By metric, why its bounds may be wrong more often than their level says.
    """

    def __init__(
        self,
        specs: Specs,
        models: Sequence[str],
        values: Mapping[str, Floats],
        replicates: Mapping[str, Floats],
        accelerations: Mapping[str, Floats] = {},
        doubts: Mapping[str, Doubt] = {},
        *,
        left_out: Callable[[], Mapping[str, Jackknife]] | None = None,
        closed: ClosedForms | None = None,
        units: RarerClass | None = None,
        is_equal: Callable[[str, str], bool] = lambda one, other: one == other,
        rest: Any = None,
        cautions: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.specs, self.models, self.rest, self._cautions = specs, list(models), rest, cautions
        self.values, self.replicates, self.accelerations, self.doubts = values, replicates, accelerations, doubts
        self.closed, self.units, self.is_equal, self._leave_out = closed, units, is_equal, left_out

    @classmethod
    def of_sample(
        cls,
        sample: Sample,
        specs: Specs,
        models: Sequence[str],
        settings: BootstrapSettings,
        doubts: Mapping[str, Doubt] = {},
        *,
        closed: ClosedForms | None = None,
        units: RarerClass | None = None,
        is_equal: Callable[[str, str], bool] = lambda one, other: one == other,
        progress: bool = False,
    ) -> Measured:
        """Measure a sample of one model or of several; without `units`, the sample's rows of each class count."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            values, replicates, accelerations = resample(sample, specs, settings, progress=progress)
        n = len(models)
        if units is None and sample.class_sizes is not None:
            units = min(map(RarerClass, sample.class_sizes, ("positives", "negatives")))
        sizes = (
            {} if sample.labels is None else {label: sizes_of_classes(sample, each) for label, each in specs.items()}
        )
        return cls(
            specs,
            models,
            {label: np.reshape(values[k], n) for k, label in enumerate(specs)},
            {label: np.reshape(replicates[k], (-1, n)) for k, label in enumerate(specs)},
            {label: np.broadcast_to(accelerations.get(k, 0.0), n) for k, label in enumerate(specs)},
            doubts,
            left_out=lambda: dict(zip(specs, sample.left_out(settings.key), strict=True)),
            closed=closed,
            units=units,
            is_equal=is_equal,
            cautions={label: few_rows_caution(each) for label, each in sizes.items() if each is not None},
        )

    def of(self, label: str, model: str) -> Evidence:
        """Return the evidence on a model's metric."""
        closed = None if self.closed is None else self.closed.of(label, model)
        if closed is not None:
            return self._of_closed(closed, self.doubts.get(label, NO_DOUBT), Limits.of(self.specs[label]))
        if self.rest is not None:
            return self._checked(self.rest.of(label, model))
        place = self.models.index(model)
        acceleration = self.accelerations[label][place] if label in self.accelerations else 0.0
        found = from_replicates(
            float(self.values[label][place]), self.replicates[label][:, place], float(acceleration),
            Limits.of(self.specs[label]), self.doubts.get(label, NO_DOUBT), self._df,
        )  # fmt: skip
        return self._checked(replace(found, caution=self._cautions.get(label, "")))

    def between(self, label: str, model: str, other: str, factor: float = 1.0) -> Evidence:
        """Return the evidence on a model's metric minus `factor` times another's."""
        if self.is_equal(model, other):
            return self._of_equal(label, model, factor)
        closed = None if self.closed is None else self.closed.between(label, model, other, factor)
        if closed is not None:
            return self._of_closed(closed)
        if self.rest is not None:
            return self._checked(self.rest.between(label, model, other, factor))
        one, two = self.models.index(model), self.models.index(other)
        values, replicates = self.values[label], self.replicates[label]
        with np.errstate(invalid="ignore"):  # infinite values
            value, drawn = values[one] - factor * values[two], replicates[:, one] - factor * replicates[:, two]
        own = Limits.of(self.specs[label])
        least, most = own.bounds
        limits = Limits((least - factor * most, most - factor * least), own.optimized and UNBOUNDED, own.is_by_another)
        doubt = self.doubts.get(label, NO_DOUBT)
        doubt = doubt[0] + factor * doubt[1], doubt[1] + factor * doubt[0]
        acceleration = self._acceleration(label, one, two, factor)
        found = from_replicates(float(value), drawn, acceleration, limits, doubt, self._df)
        return self._checked(replace(found, caution=self._cautions.get(label, "")))

    @property
    def _df(self) -> float:
        """Degrees of freedom of a standard error, from the rows of the rarer class."""
        return math.inf if self.units is None else max(self.units.n - 1, 1.0)

    def estimate(self, label: str, model: str) -> tuple[float, float]:
        """Return a model's metric and its standard error, without making bounds."""
        if self.rest is not None and (self.closed is None or self.closed.of(label, model) is None):
            value, error = self.rest.estimate(label, model)
            return value, error
        found = self.of(label, model)
        return found.value, found.standard_error

    def _of_equal(self, label: str, model: str, factor: float) -> Evidence:
        """Return the evidence on a metric minus `factor` times itself, which is certain if `factor` is 1."""
        if factor == 1:
            found = Evidence(0.0, 0.0, "identical predictions", lambda _: Interval(0.0, 0.0))
            return found if math.isfinite(self.of(label, model).value) else found.without("the metric is undefined")
        own, rest = self.of(label, model), 1 - factor
        return replace(
            own, value=rest * own.value, standard_error=abs(rest) * own.standard_error,
            interval=lambda level: Interval(*sorted(rest * end for end in own.interval(level))),
        )  # fmt: skip

    def _acceleration(self, label: str, one: int, two: int, factor: float) -> float:
        """Return BCa's acceleration of a difference, from its own jackknife values."""
        if self._leave_out is None:
            return 0.0
        values, times, strata = self._left_out[label]
        return float(jackknife_acceleration(values[:, one] - factor * values[:, two], times, strata))

    @cached_property
    def _left_out(self) -> Mapping[str, Jackknife]:
        assert self._leave_out is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return self._leave_out()

    def _of_closed(self, closed: Closed, doubt: Doubt = NO_DOUBT, limits: Limits = NO_LIMITS) -> Evidence:
        def interval(level: float) -> Interval:
            low, high = closed.interval(level)
            return Interval(max(low - doubt[0], limits.bounds[0]), min(high + doubt[1], limits.bounds[1]))

        found = Evidence(closed.value, closed.standard_error, closed.method, interval, doubt=max(*doubt, closed.doubt))
        return found if closed.is_exact else self._checked(found)

    def _checked(self, found: Evidence) -> Evidence:
        """Return the evidence, without bounds if a class has too few rows."""
        few = "" if self.units is None else self.units.why_few
        return found.without(few) if few else found


def measure_rows(
    kind: str,
    y_true: Any,
    predictions: Mapping[str, Any],
    specs: Specs,
    settings: BootstrapSettings,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    measure_rest: Callable[[Specs], Any] | None = None,
    progress: bool = False,
) -> Measured:
    """Measure models' predictions on the same rows.

    They are scores, predicted classes ("labels"), predicted numbers ("targets"), or "probabilities" of classes:
    matrices with a column per class, where `y_true` has the classes' places.

    `measure_rest` returns what measures the metrics that have no closed form, such as cells of many rows; by default
    the rows are resampled.
    """
    is_independent = groups is None and sample_weight is None
    compared: Mapping[str, Any] = predictions
    closed: ClosedRows | None = None
    parts = {"rows": np.ones(len(y_true), np.bool_)}
    if kind == "scores":
        labels, scores = SCORES.read(y_true, predictions, pos_label)
        positive = labels.flags().view(np.bool_)
        parts = {"positives": positive, "negatives": ~positive}
        closed = ClosedRows.of_scores(positive, scores, specs) if is_independent else None
    elif kind == "labels":
        y_true, predictions = LABELS.read(y_true, predictions)
        joint, cells = number_joint_cells(y_true, predictions, None, pos_label)
        classes, k = joint.matrix._classes, joint.matrix.labels.size
        true = joint.true[cells]
        predicted = {model: places[cells] - k * true for model, places in zip(predictions, joint.places, strict=True)}
        of_class = None if classes.pos_label is None else list(classes.labels).index(classes.pos_label)
        if of_class is not None:
            parts = {"positives": true == of_class, "negatives": true != of_class}
        closed = ClosedRows.of_labels(true, predicted, specs, of_class) if is_independent else None
        compared = predicted
    elif kind == "probabilities":
        specs = {label: spec_of_classes(spec) for label, spec in specs.items()}
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    known: dict[str, Any] = {
        "closed": closed,
        "units": RarerClass.of(parts, weights, None if groups is None else as_groups("groups", groups)),
        "is_equal": lambda one, other: np.array_equal(compared[one], compared[other]),
    }
    models = list(predictions)
    drawn = {label: spec for label, spec in specs.items() if closed is None or not closed.covers(label, models)}
    if not drawn or measure_rest is not None:
        return Measured(specs, models, {}, {}, **known, rest=measure_rest(drawn) if drawn and measure_rest else None)
    design = SamplingDesign(groups, sample_weight, pos_label=pos_label)
    made_by: dict[str, Callable[..., Sample]] = {
        "scores": make_score_sample, "labels": make_prediction_sample, "targets": make_target_sample,
    }  # fmt: skip
    if kind == "probabilities":
        coarse = take_minutes(predictions, settings.n_resamples) and can_be_grouped(drawn.values())
        made_by[kind] = partial(make_class_sample, coarse=coarse)
        design = design._replace(labels=np.arange(next(iter(predictions.values())).shape[1]))
    sample = made_by[kind](y_true, predictions, drawn, design)
    measured = Measured.of_sample(sample, drawn, models, settings, **known, progress=progress)
    measured.specs = specs
    return measured
