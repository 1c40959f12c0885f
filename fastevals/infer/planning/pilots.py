"""How much a metric, or a difference between two models, varies from sample to sample, as read from a pilot.

The variance of an estimate from n rows is taken to be ``variance / n``. It is computed at the share of positives that
is planned for, in one of four ways:

- AUCs: DeLong's variance, which has a part for each class.
- Proportions at a fixed threshold: the binomial variance, or the share of rows on which two models decide differently.
- Other metrics: the bootstrap. For another share of positives, each class is drawn at its own rate, as independent
  Poisson counts.
- Clusters and weights: a bootstrap with them and one without; the ratio of the two variances is the design effect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_one_number, show
from fastevals._validation.arrays import as_predictions
from fastevals._validation.labels import as_groups, as_models_labels, as_true_labels
from fastevals._validation.text import unique_rows
from fastevals.counts import Cells, ThresholdCounts
from fastevals.infer.bootstrap.bootstrap import BootstrapSettings
from fastevals.infer.bootstrap.few_cells import FewCellSample
from fastevals.infer.bootstrap.samples import Sample, batch_stream
from fastevals.infer.bootstrap.subjects import (
    SamplingDesign,
    make_prediction_sample,
    make_quantile_sample,
    make_sample,
    make_score_sample,
    make_target_sample,
)
from fastevals.infer.delong.weighted import placement_deviations
from fastevals.infer.proportions import SHARES, outcomes
from fastevals.infer.significance.paired import compared_pairs
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.kinds import LABELS, QUANTILES, SCORES, TARGETS, Kind, array_kind, metric_kinds
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import Ranking, without_doubt
from fastevals.measure.thresholds import QUOTA

Spec = Any  # a MetricSpec or a user's function

ROWS_OF = {"rows by class": "rows"}  # trials of a binary proportion, by trials per class
DELONG, BOOTSTRAP, PAIRED = "DeLong's variance", "a bootstrap", "a paired bootstrap"
FEWEST_DRAWN = 500  # rows of a class to draw, if the pilot has so many: with fewer, a metric is not nearly linear
LARGEST_RATE = 16.0  # mean draws of a row: kernels add up draws of rows as small numbers
ROWS_OF_COPIES = 4_000_000_000  # rows to which counts are multiplied to compute a metric at another share of positives
FEWEST_COPIES = 1000  # copies of each row of the rarer class; a share is then off by less than 0.1 %


class PilotRate(NamedTuple):
    """A metric that is a proportion of rows.

    Attributes
    ----------
    value : float
        The pilot's proportion or difference, at the planned share of positives.
    trials : str
        Which rows are trials: "rows", "positives", "negatives", "predicted" or "predicted negatives".
    share : float
        Share of rows that are trials, at the planned share of positives.
    discordance : float or None
        Share of trials on which two models decide differently; None for one model.
    """

    value: float
    trials: str
    share: float
    discordance: float | None = None


class Pilot(NamedTuple):
    """How a metric or a difference varies, and the size of the pilot that shows it.

    Attributes
    ----------
    value : float
        The metric, or the difference, at the planned share of positives.
    variance : float
        Number of rows times the squared standard error, at the planned share of positives.
    method : str
        How the variance was computed, in words.
    n : int
        Rows of the pilot.
    n_pos : int or None
        Positive rows of the pilot; None without two classes.
    prevalence : float or None
        The planned share of positives; None without two classes.
    n_clusters : int or None
        Clusters of the pilot, if its rows are clustered.
    design_effect : float
        The variance divided by the variance of as many independent rows of equal weight.
    n_undefined : int
        Replicates in which the metric is undefined.
    rate : PilotRate or None
        Details of a proportion of independent rows; None for other metrics.
    models : tuple or None
        The two models: the value is the metric of the first minus the metric of the second.
    """

    value: float
    variance: float
    method: str
    n: int
    n_pos: int | None = None
    prevalence: float | None = None
    n_clusters: int | None = None
    design_effect: float = 1.0
    n_undefined: int = 0
    rate: PilotRate | None = None
    models: tuple[Any, Any] | None = None


class PilotSpread(NamedTuple):
    """A value, its variance times the number of rows, and the undefined replicates."""

    value: float
    variance: float
    n_undefined: int = 0


def read_pilot(
    subject: Any,
    label: str,
    spec: Spec,
    *,
    reference: Any = None,
    prevalence: float | None = None,
    design: SamplingDesign,
    settings: BootstrapSettings,
) -> Pilot:
    """Return how much a metric of one model varies or, given a reference, its difference between two models.

    The metric is checked already; `label` is its name in messages.
    """
    if isinstance(spec, MetricSpec) and QUOTA in spec.options:
        raise ValueError(
            f"metric must mean the same for any number of rows, got {label}: {QUOTA} is a number of rows; name a rate "
            "such as fpr= or recall=, or a threshold"
        )
    if reference is not None:
        pilot: _OneModel | _TwoModels = _TwoModels.read(subject, label, spec, reference, design, settings)
    elif _holds_models(subject):
        raise ValueError("reference must name the model to compare with: the pilot has scores of several models")
    else:
        pilot = _OneModel.read(subject, label, spec, design, settings)
    if prevalence is not None and pilot.n_pos is None:
        raise ValueError(f"prevalence applies only to metrics of two classes, not to {label}; got {prevalence:g}")
    n, n_pos = pilot.n, pilot.n_pos
    share = prevalence if prevalence is not None else None if n_pos is None else n_pos / n
    rate, effect, method = None, 1.0, pilot.method
    if not pilot.has_design:
        rate = pilot.rate(share)
        found = pilot.plain(prevalence) if rate is None else PilotSpread(rate.value, math.nan)
    elif prevalence is None:
        found, plain, method = pilot.designed(), pilot.plain(None), BOOTSTRAP
        effect = found.variance / plain.variance if plain.variance else math.nan
    else:
        found, designed, plain = pilot.plain(prevalence), pilot.designed(), pilot.plain(None)
        effect = designed.variance / plain.variance if plain.variance else math.nan
        found = found._replace(variance=found.variance * effect)
    if not math.isfinite(found.value):
        raise ValueError(f"pilot must have a defined {label}, got {found.value:g} for {_sizes(n, n_pos)}")
    clusters = None if design.groups is None else len(unique_rows(as_groups("groups", design.groups))[0])
    return Pilot(
        found.value, found.variance, method, n, n_pos, share, clusters, effect, found.n_undefined, rate, pilot.models
    )


def _sizes(n: int, n_pos: int | None) -> str:
    return f"{n} rows" if n_pos is None else f"{n_pos} positive and {n - n_pos} negative rows"


def _holds_models(subject: Any) -> bool:
    if not isinstance(subject, (tuple, list)) or len(subject) != 2:
        return False
    return hasattr(subject[1], "keys") or hasattr(subject[1], "columns") or getattr(subject[1], "ndim", 1) == 2


def _spread(replicates: Any, values: Any, n: float, label: str) -> PilotSpread:
    """Return the spread of a metric, or of its difference, from replicates of n rows."""
    check_one_number(label, np.shape(values), "sample")
    defined = replicates[np.isfinite(replicates)]
    variance = float(defined.var(ddof=1)) * n if defined.size > 1 else math.nan
    return PilotSpread(float(values), variance, int(replicates.size - defined.size))


def _of_sample(sample: Sample, settings: BootstrapSettings, n: float, label: str, pair: Any = None) -> PilotSpread:
    """Return the spread of a metric in a bootstrap sample of n rows."""
    replicates, values = sample.replicates(settings.n_resamples, settings.key)[0], sample.estimates()[0]
    if pair is not None:
        values, replicates = values[pair[0]] - values[pair[1]], replicates[:, pair[0]] - replicates[:, pair[1]]
    return _spread(replicates, values, n, label)


def _draw_classes(
    sample: Sample, strata: Sequence[slice], prevalence: float, sizes: tuple[int, int], settings: BootstrapSettings
) -> tuple[Any, float]:
    """Return replicates with a share of positives, and their mean number of rows; positives are first.

    No class is drawn more often than in the pilot, unless the other class would have too few rows: repeated rows are
    tied, and change how metrics at a chosen threshold vary.
    """
    _copies(prevalence, *sizes)  # raises without both classes
    rates = np.array([prevalence, 1 - prevalence]) / sizes
    rates /= rates.max()
    rates *= max(1.0, min(FEWEST_DRAWN, *sizes) / (rates * sizes).min())
    most = LARGEST_RATE
    if sample.sizes.dtype.kind in "iu":
        most = min(most, float(np.iinfo(sample.sizes.dtype).max) / (2.0 * float(sample.sizes.max())))
    rates *= min(1.0, max(most, 1.0) / rates.max())

    def draw(number: int) -> NDArray[Any]:
        stream, counts = batch_stream(settings.key, number), np.zeros_like(sample.sizes)
        for rate, part in zip(rates.tolist(), strata, strict=True):
            own = sample.sizes[part]
            of_rows = own.max() == 1 == own.min()  # one mean for all is drawn several times as fast
            counts[part] = stream.poisson(rate, own.size) if of_rows else stream.poisson(rate * own)
        return counts

    sample.load(settings.key)
    return sample._measured_each(draw, range(settings.n_resamples))[0], float(rates @ sizes)


# One model ------------------------------------------------------------------------------------------------------------


class _OneModel(NamedTuple):
    """One model's counts, or its rows if the metric needs them."""

    label: str
    spec: Spec
    design: SamplingDesign
    settings: BootstrapSettings
    source: Any  # counts that can be drawn, or the pair of arrays
    pair: Any  # the pair of arrays, or None
    coarse: bool
    n: int
    n_pos: int | None

    @classmethod
    def read(
        cls, subject: Any, label: str, spec: Spec, design: SamplingDesign, settings: BootstrapSettings
    ) -> _OneModel:
        """Count the rows of a pair of arrays; numbers stay rows."""
        specs, pair = {label: spec}, None
        counts, _, coarse = without_doubt("pilot", subject, specs)
        if isinstance(counts, (tuple, list)) and len(counts) == 2:
            pair = y_true, predictions = counts
            kind = array_kind(metric_kinds(specs))
            if kind is SCORES:
                counts = Ranking(y_true, predictions, pos_label=design.pos_label)
            elif kind is LABELS:
                counts = ConfusionMatrix.from_predictions(y_true, predictions, pos_label=design.pos_label)
        n, n_pos = len(counts[0]) if pair is not None and counts is pair else 0, None
        if isinstance(counts, BaseRanking):
            n_pos, n = counts.n_positives, counts.n_samples
        elif isinstance(counts, ConfusionMatrix):
            if counts.counts.ndim != 2:
                raise ValueError(f"pilot must be one confusion matrix, got a stack of shape {counts.counts.shape}")
            n, n_pos = int(counts.counts.sum()), None if counts.pos_label is None else int(counts.counts[1].sum())
        return cls(label, spec, design, settings, counts, pair, coarse, n, n_pos)

    @property
    def models(self) -> None:
        """There is no second model."""

    @property
    def has_design(self) -> bool:
        """Whether rows have clusters or weights."""
        return self.design.groups is not None or self.design.sample_weight is not None

    @property
    def is_auc(self) -> bool:
        """Whether the variance has a closed form."""
        return isinstance(self.source, BaseRanking) and is_whole_auc(self.spec)

    @property
    def method(self) -> str:
        """How the variance is computed, in words."""
        return DELONG if self.is_auc else BOOTSTRAP

    def plain(self, prevalence: float | None) -> PilotSpread:
        """Return the spread for independent rows of equal weight."""
        if self.is_auc:
            return self._auc(prevalence)
        specs = {self.label: self.spec}
        if prevalence is None:
            is_counted = isinstance(self.source, (BaseRanking, ConfusionMatrix))
            design = SamplingDesign(pos_label=None if is_counted else self.design.pos_label)
            sample = make_sample(self.source, specs, design, coarse=self.coarse, name="pilot")
            return _of_sample(sample, self.settings, self.n, self.label)
        value = self._value_at(prevalence)
        assert self.n_pos is not None
        sample = make_sample(self.source, specs, SamplingDesign(stratified=True), coarse=self.coarse, name="pilot")
        if isinstance(sample, FewCellSample):  # of a single metric
            ((sample, _),) = sample._parts
        strata = sample.strata[::-1] if isinstance(self.source, ConfusionMatrix) else sample.strata
        replicates, n = _draw_classes(sample, strata, prevalence, (self.n_pos, self.n - self.n_pos), self.settings)
        return _spread(replicates, value, n, self.label)

    def _auc(self, prevalence: float | None) -> PilotSpread:
        """Return the spread of the AUC: DeLong's, with a part for each class."""
        counts = self.source.counts
        if not self.n_pos or self.n_pos == self.n:
            return PilotSpread(math.nan, math.nan)
        auc, parts = self.source.roc_auc(), []
        for own, other, mean in ((counts.tps, counts.fps, auc), (counts.fps, counts.tps, 1 - auc)):
            if own[-1] < 2:
                return PilotSpread(auc, math.nan)
            placements = 1 - (other[1:] + other[:-1]) / (2 * other[-1])
            parts.append(float(np.diff(own) @ (placements - mean) ** 2) / (own[-1] - 1))
        return PilotSpread(auc, _sum_of_classes(parts, prevalence, self.n_pos or 0, self.n))

    def _value_at(self, prevalence: float) -> Any:
        """Return the metric of the counts, with the rows of each class multiplied to reach a share of positives."""
        assert self.n_pos is not None
        copies = _copies(prevalence, self.n_pos, self.n - self.n_pos)
        if isinstance(self.source, ConfusionMatrix):
            counts = self.source.counts.astype(np.int64) * np.array([[copies[1]], [copies[0]]])
            return LABELS.metric(self.spec, "metric")(ConfusionMatrix._from_counts(counts, self.source._classes))
        own = self.source.counts
        tps, fps = own.tps.astype(np.int64) * copies[0], own.fps.astype(np.int64) * copies[1]
        scaled = ThresholdCounts._unchecked(own.thresholds, tps, fps)
        return SCORES.metric(self.spec, "metric").of_counts(scaled)

    def designed(self) -> PilotSpread:
        """Return the spread with the clusters and weights."""
        source = self.source if self.pair is None else self.pair
        sample = make_sample(source, {self.label: self.spec}, self.design, name="pilot")
        return _of_sample(sample, self.settings, self.n, self.label)

    def rate(self, prevalence: float | None) -> PilotRate | None:
        """Return the details of a proportion; None for other metrics."""
        if not is_rate(self.spec, isinstance(self.source, BaseRanking)):
            return None
        trials = SHARES[self.spec.name].trials
        if isinstance(self.source, BaseRanking):
            counts = self.source.counts
            at = counts.cells(int(counts.rows_at_least(np.asarray(self.spec.options["threshold"]))))
        elif prevalence is not None:
            at = Cells(*(each[1] for each in self.source._one_vs_rest()))
        elif trials == "rows":  # of any number of classes
            right = int(np.trace(self.source.counts))
            successes, _ = outcomes(self.spec.name, Cells(right, self.n - right, 0, 0))
            return PilotRate(int(successes) / self.n, trials, 1.0)
        else:
            return None  # the bootstrap says that a positive class is needed
        value, share = _rate_and_share(self.spec.name, at, prevalence or 0.0)
        return PilotRate(value, ROWS_OF.get(trials, trials), share)


def is_whole_auc(spec: Spec) -> bool:
    """Return whether a metric is the whole area under the ROC curve."""
    return isinstance(spec, MetricSpec) and spec.name == "roc_auc" and not spec.options


def is_rate(spec: Spec, of_scores: bool) -> bool:
    """Return whether a metric is a proportion of rows, at a threshold that is fixed beforehand."""
    if not isinstance(spec, MetricSpec) or spec.name not in SHARES:
        return False
    return set(spec.options) == ({"threshold"} if of_scores else set())


def _rate_and_share(name: str, at: Cells, prevalence: float) -> tuple[float, float]:
    """Return a proportion at a share of positives, and the share of rows that are its trials."""
    by_class = np.array([[at.tp, at.fn], [at.fp, at.tn]], dtype=np.float64)
    sums = by_class.sum(axis=1, keepdims=True)
    shares = np.divide(by_class, sums, out=np.zeros((2, 2)), where=sums > 0) * [[prevalence], [1 - prevalence]]
    successes, failures = map(float, outcomes(name, Cells(shares[0, 0], shares[1, 0], shares[0, 1], shares[1, 1])))
    total = successes + failures
    return (successes / total if total else math.nan), total


def _sum_of_classes(parts: list[float], prevalence: float | None, n_pos: int, n: int) -> float:
    """Return the variance times the number of rows, from the variance of each class's placements, positives first."""
    share = n_pos / n if prevalence is None else prevalence
    return parts[0] / share + parts[1] / (1 - share)


def _copies(prevalence: float, n_pos: int, n_neg: int) -> tuple[int, int]:
    """Return by how much to multiply the rows of each class, positives first, to reach a share of positives."""
    if not n_pos or not n_neg:
        raise ValueError(f"pilot must have both classes, got {n_pos} positive and {n_neg} negative rows")
    wanted = prevalence / n_pos, (1 - prevalence) / n_neg
    total = max(ROWS_OF_COPIES, FEWEST_COPIES / min(wanted))
    return round(total * wanted[0]), round(total * wanted[1])


# Two models -----------------------------------------------------------------------------------------------------------


class _TwoModels(NamedTuple):
    """Two models on the same rows."""

    label: str
    spec: Spec
    design: SamplingDesign
    settings: BootstrapSettings
    kind: Kind
    y_true: Any
    labelled: dict[str, NDArray[Any]]
    names: tuple[Any, ...]
    places: list[int]  # of the model and the reference
    positive: NDArray[np.bool_] | None  # rows, if there are two classes
    pos_label: Any
    n: int

    @classmethod
    def read(
        cls, subject: Any, label: str, spec: Spec, reference: Any, design: SamplingDesign, settings: BootstrapSettings
    ) -> _TwoModels:
        """Read the rows of both models."""
        if not isinstance(subject, (tuple, list)) or len(subject) != 2:
            raise ValueError(
                "pilot must be a pair (y_true, predictions by model) if a reference is given, because a difference on "
                f"the same rows needs the rows; got {show(subject)}"
            )
        y_true, predictions = subject
        kind = array_kind(metric_kinds({label: spec}))
        if kind is None:
            raise ValueError(f"metric must be a named metric for a difference between models, got {show(spec)}")
        positive = None
        if kind is LABELS:
            y_true = as_true_labels("y_true", y_true)
            labelled, names = as_models_labels("predictions", y_true, predictions)
            if isinstance(labelled, dict) and len(labelled) == 1:  # an array with a row for each model
                labelled = {f"predictions[{k}]": each for k, each in enumerate(next(iter(labelled.values())))}
        else:
            labelled, own, _ = as_predictions("predictions", predictions, None if kind is SCORES else kind.as_array)
            names = tuple(range(len(labelled))) if own is None else own
        if len(names) != 2:
            raise ValueError(f"pilot must have two models, the reference and another one, got {len(names)}")
        places = compared_pairs(names, reference)[0].tolist()
        if kind is SCORES:
            truth, labelled = SCORES.read(y_true, labelled, design.pos_label)
            positive = truth.values == truth.positive
        pilot = cls(label, spec, design, settings, kind, y_true, labelled, names, places, positive, None, len(y_true))
        if kind is LABELS:
            pos_label = pilot._sample(SamplingDesign(pos_label=design.pos_label)).pos_label
            if pos_label is not None:
                pilot = pilot._replace(positive=np.asarray(y_true == pos_label), pos_label=pos_label)
        return pilot

    @property
    def models(self) -> tuple[Any, Any]:
        """The model and the reference."""
        return self.names[self.places[0]], self.names[self.places[1]]

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The predictions of the model and of the reference."""
        names = list(self.labelled)
        return [self.labelled[names[place]] for place in self.places]

    @property
    def n_pos(self) -> int | None:
        """Positive rows; None without two classes."""
        return None if self.positive is None else int(np.count_nonzero(self.positive))

    @property
    def has_design(self) -> bool:
        """Whether rows have clusters or weights."""
        return self.design.groups is not None or self.design.sample_weight is not None

    @property
    def is_auc(self) -> bool:
        """Whether the variance has a closed form."""
        return self.kind is SCORES and is_whole_auc(self.spec)

    @property
    def method(self) -> str:
        """How the variance is computed, in words."""
        return DELONG if self.is_auc else PAIRED

    def _sample(self, design: SamplingDesign) -> Sample:
        make: Any = {
            SCORES: make_score_sample, LABELS: make_prediction_sample, TARGETS: make_target_sample,
            QUANTILES: make_quantile_sample,
        }[self.kind]  # fmt: skip
        sample: Sample = make(self.y_true, self.labelled, {self.label: self.spec}, design)
        return sample

    def plain(self, prevalence: float | None) -> PilotSpread:
        """Return the spread for independent rows of equal weight."""
        if self.is_auc:
            return self._auc_difference(prevalence)
        design = SamplingDesign(pos_label=self.design.pos_label)
        if prevalence is None:
            return _of_sample(self._sample(design), self.settings, self.n, self.label, self.places)
        return self._at_prevalence(self._sample(design._replace(stratified=True)), prevalence)

    def _at_prevalence(self, sample: Sample, prevalence: float) -> PilotSpread:
        """Return the spread with another share of positives: each class is drawn at its own rate."""
        assert self.n_pos is not None
        strata = sample.strata if self.kind is SCORES else sample.strata[::-1]  # positives first
        sizes = self.n_pos, self.n - self.n_pos
        replicates, n = _draw_classes(sample, strata, prevalence, sizes, self.settings)
        differences = replicates[:, self.places[0]] - replicates[:, self.places[1]]
        defined = differences[np.isfinite(differences)]
        return _spread(differences, defined.mean() if defined.size else math.nan, n, self.label)

    def _auc_difference(self, prevalence: float | None) -> PilotSpread:
        """Return the spread of the difference in AUC: DeLong's, with a part for each class."""
        assert self.positive is not None
        sides = np.flatnonzero(self.positive), np.flatnonzero(~self.positive)
        if not min(rows.size for rows in sides):
            return PilotSpread(math.nan, math.nan)
        aucs = [Ranking(self.positive, each).roc_auc() for each in self.arrays]
        parts = []
        for rows, other in (sides, sides[::-1]):
            ones = np.ones(rows.size), np.ones(other.size)
            first, second = (placement_deviations(each, rows, other, ones[1], ones[0]) for each in self.arrays)
            parts.append(float(((first - second) ** 2).sum()) / (rows.size - 1) if rows.size > 1 else math.nan)
        return PilotSpread(aucs[0] - aucs[1], _sum_of_classes(parts, prevalence, sides[0].size, self.n))

    def designed(self) -> PilotSpread:
        """Return the spread with the clusters and weights."""
        return _of_sample(self._sample(self.design), self.settings, self.n, self.label, self.places)

    def rate(self, prevalence: float | None) -> PilotRate | None:
        """Return the details of a difference of proportions whose trials are the same rows for both models."""
        if self.positive is None or not is_rate(self.spec, self.kind is SCORES):
            return None
        trials = ROWS_OF.get(SHARES[self.spec.name].trials, SHARES[self.spec.name].trials)
        if trials not in ("rows", "positives", "negatives"):
            return None  # each model has its own trials
        p, at = prevalence or 0.0, self.spec.options.get("threshold")
        decisions = [each >= at if self.kind is SCORES else each == self.pos_label for each in self.arrays]
        values = [_rate_and_share(self.spec.name, self._cells(each), p)[0] for each in decisions]
        shares = {"positives": (p, 0.0), "negatives": (0.0, 1 - p)}.get(trials, (p, 1 - p))
        differ = decisions[0] != decisions[1]
        by_class = [float(differ[rows].mean()) if rows.any() else 0.0 for rows in (self.positive, ~self.positive)]
        discordance = sum(part * each for part, each in zip(shares, by_class, strict=True)) / sum(shares)
        return PilotRate(values[0] - values[1], trials, sum(shares), discordance)

    def _cells(self, decisions: NDArray[np.bool_]) -> Cells:
        assert self.positive is not None
        tp, n_pos = int(np.count_nonzero(decisions & self.positive)), int(np.count_nonzero(self.positive))
        fp = int(np.count_nonzero(decisions)) - tp
        return Cells(tp, fp, n_pos - tp, self.n - n_pos - fp)
