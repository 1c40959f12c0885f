"""Estimate the performance of the best of many configurations from their out-of-sample predictions (BBC-CV)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import as_direction, as_flag, warn_undefined
from fastevals._text import format_number, printable, shorten_names
from fastevals._validation.arrays import are_matrices, as_matrices, check_only_of_classes
from fastevals._validation.labels import as_models_labels, as_true_labels, check_two_models
from fastevals.document.document import GAP, Document, Number, Part, Row, Section, Sentence, Table
from fastevals.document.frames import Columns, as_column, make_columns
from fastevals.infer.bootstrap.bootstrap import BootstrapSettings, confidence_interval, difference_caution
from fastevals.infer.bootstrap.row_samples import SamplingUnits, UnitSample
from fastevals.infer.bootstrap.subjects import (
    SamplingDesign,
    make_class_sample,
    make_prediction_sample,
    make_quantile_sample,
    make_score_sample,
    make_target_sample,
)
from fastevals.infer.comparison import as_models
from fastevals.measure.kinds import CLASSES, LABELS, QUANTILES, SCORES, TARGETS, MetricSpecs, array_kind, metric_kinds
from fastevals.measure.metric_specs import MetricSpec, is_greater_better, metric_bounds, parse_metric
from fastevals.results import Frozen, Interval

Floats = NDArray[np.float64]

MOST_CONFIGURATIONS = 10  # shown in a table


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BestConfiguration(Frozen):
    """Result of `bbc_cv`: the best of many configurations, with an estimate that allows for the choice.

    Attributes
    ----------
    metric : str
        Name of the metric.
    maximize : bool
        Whether a greater value is better.
    best : name or int
        The configuration with the best value on all rows; the first of them if several tie.
    value : float
        Corrected estimate: the mean over replicates of the value, on the rows left out, of the configuration that was
        best on the rows drawn.
    confidence_interval : Interval
        Interval of the chosen configuration's performance on new rows.
    apparent_value : float
        The value of `best` on all rows, the best of many and so too optimistic.
    bias : float
        `apparent_value` minus `value`.
    names : tuple
        Names of the configurations, in order; numbers if they have none.
    values : ndarray of shape (n_configurations,)
        Each configuration's value on all rows.
    chosen : ndarray of shape (n_configurations,)
        Share of replicates with a value in which each configuration was the best on the rows drawn.
    n_resamples : int
        Number of replicates.
    n_undefined : int
        Number of replicates without a value, which are dropped.
    confidence_level : float
        Level of the interval.
    caution : str
        Why the interval may claim more certainty than the data allow; empty if there is no known reason.
    conclusion : str
        The answer, in words.

    Examples
    --------
    >>> import numpy as np
    >>> import fastevals
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, 200)
    >>> guesses = {f"guess {k}": rng.integers(0, 2, 200) for k in range(20)}  # true accuracy 0.5
    >>> result = fastevals.bbc_cv(y_true, guesses, "accuracy", rng=0)
    >>> result.apparent_value, round(result.value, 3)
    (0.545, 0.476)
    """

    metric: str
    maximize: bool
    best: Any
    value: float
    confidence_interval: Interval
    apparent_value: float
    bias: float
    names: tuple[Any, ...]
    values: Floats
    chosen: Floats
    n_resamples: int
    n_undefined: int
    confidence_level: float
    caution: str

    @property
    def conclusion(self) -> str:
        """The answer, in words."""
        low, high = (format_number(end) for end in self.confidence_interval)
        place = self.names.index(self.best)
        return (
            f"{printable(str(self.best))} is the best of {len(self.names)} configurations ({self.metric} "
            f"{format_number(self.apparent_value)}). Allowing for the choice, its {self.metric} is "
            f"{format_number(self.value)} ({100 * self.confidence_level:.6g} % interval {low} to {high}). It was the "
            f"best in {100 * self.chosen[place]:.0f} % of {self.n_resamples - self.n_undefined} replicates."
        )

    def __repr__(self) -> str:
        low, high = self.confidence_interval
        return (
            f"BestConfiguration({printable(str(self.best))}: {self.metric}={self.value:.4g} [{low:.4g}, {high:.4g}], "
            f"apparent {self.apparent_value:.4g}, {len(self.names)} configurations)"
        )

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")

    def _columns(self) -> Columns:
        """Return a row for each configuration."""
        best = np.array([name == self.best for name in self.names])
        return {
            "configuration": as_column(self.names),
            **make_columns({"value": self.values, "chosen": self.chosen, "best": best}),
        }

    def _document(self) -> Document:
        order = np.argsort(-self.values if self.maximize else self.values, kind="stable")[:MOST_CONFIGURATIONS]
        short = shorten_names(self.names)
        rows = [Row(short[k], [Number(float(self.values[k])), Number(float(self.chosen[k]))]) for k in order.tolist()]
        more = len(self.names) - len(rows)
        parts: list[Part] = [
            Sentence(self.conclusion, "verdict"),
            *([Sentence(self.caution, "caution")] if self.caution else []),
            GAP,
            Table("configurations", "Configurations", ["", self.metric, "share chosen"], rows),
            *([Sentence(f"... {more} more, none of them better", "line")] if more else []),
        ]
        return Document(
            "", f"The best of {len(self.names)} configurations", sections=[Section(parts)], numbers=self.to_dict
        )


def bbc_cv(
    y_true: ArrayLike,
    predictions: Any,
    metric: Any,
    *,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    stratified: bool = False,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    rng: Any = None,
    progress: bool = False,
) -> BestConfiguration:
    """Estimate the performance of the best of many configurations, corrected for the choice (BBC-CV).

    Each replicate draws rows with replacement, chooses the configuration that is best on the rows drawn, and measures
    it on the rows left out. Nothing is fitted again.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, or numbers for regression metrics.
    predictions : mapping of name to array-like, array-like of shape (n_configurations, n_samples), or frame
        Out-of-sample predictions of two or more configurations, such as the pooled predictions of the test folds of a
        cross-validation: one entry, row or column per configuration. For class probabilities, one matrix of shape
        (n_samples, n_classes) per configuration.
    metric : str or `metric(...)`
        The metric that the choice is based on.
    n_resamples : int
        Number of replicates.
    confidence_level : float in (0, 1)
        Level of the interval.
    stratified : bool
        Whether to draw the rows of each class separately.
    groups : array-like of shape (n_samples,), optional
        The cluster of each row, if rows are clustered; clusters are then drawn and left out.
    pos_label, labels
        As for `bootstrap`.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed of the replicates.
    progress : bool
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    BestConfiguration

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If the metric is undefined in some replicates, which are dropped.

    Notes
    -----
    The best of many estimates is too optimistic, even if each of them is unbiased, and the more so the more
    configurations there are and the fewer the rows. The corrected value is the one of [1]_. It is nearly unbiased if
    configurations are about equally good; if a few are clearly better, it is a little pessimistic, because a replicate
    chooses from 63 % of the rows.

    Percentiles of the values on the rows left out, as in [1]_, cover in 97 to 100 % of data sets, because only 37 % of
    the rows are left out. The interval here is narrower. It has the percentiles of the best configuration's own
    replicates, but the pessimistic end (the lower one, if a greater value is better) is moved by the bias. The page
    "Coverage" of the documentation says how often it contains the true value.

    Predictions are pooled over folds, so scores must mean the same in all folds. For a choice by nested fits, see
    `select_model`.

    References
    ----------
    .. [1] Tsamardinos, I., Greasidou, E. and Borboudakis, G. (2018), "Bootstrapping the out-of-sample predictions for
       efficient and accurate cross-validation", Machine Learning 107, 1895-1922, doi:10.1007/s10994-018-5714-4.

    Examples
    --------
    See `BestConfiguration`.
    """
    return bias_corrected_best(
        y_true, predictions, metric, n_resamples=n_resamples, confidence_level=confidence_level,
        stratified=stratified, groups=groups, pos_label=pos_label, labels=labels, rng=rng, progress=progress,
    )  # fmt: skip


def bias_corrected_best(
    y_true: ArrayLike,
    predictions: Any,
    metric: Any,
    *,
    best: Any = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    stratified: bool = False,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    rng: Any = None,
    progress: bool = False,
) -> BestConfiguration:
    """Return the result of `bbc_cv`; `best` names the configuration that was chosen by other means, such as folds."""
    settings = BootstrapSettings.checked(n_resamples, confidence_level, "percentile", "two-sided", rng)
    name, parsed = parse_metric("metric", metric)
    spec = as_named_metric(name, parsed)
    maximize = bool(as_direction("metric", name, None, is_greater_better(spec)))
    design = SamplingDesign(groups, None, as_flag("stratified", stratified), pos_label, labels=labels)
    sample, names = _sample_configurations(y_true, predictions, name, spec, design)
    (values,) = sample.estimates()
    _check_one_value(name, values, len(names))
    (replicates,) = sample.replicates_and_rest(
        settings.n_resamples, settings.key, progress=as_flag("progress", progress)
    )
    place = int(_best(values[np.newaxis], maximize)[0]) if best is None else names.index(best)
    if place < 0:
        raise ValueError(f"metric must be defined for one of the configurations, but {name} is undefined for all")
    drawn, rest = replicates[:, 0], replicates[:, 1]
    chosen = _best(drawn, maximize)
    left_out = np.where(chosen < 0, np.nan, rest[np.arange(len(rest)), chosen])
    defined = np.isfinite(left_out)
    undefined = int(np.count_nonzero(~defined))
    if undefined:
        warn_undefined(
            f"{name} of the chosen configuration", f"in {undefined} of {defined.size} replicates, which are dropped"
        )
    value = float(left_out[defined].mean()) if defined.any() else math.nan
    bias = float(values[place]) - value
    return BestConfiguration(
        metric=name,
        maximize=maximize,
        best=names[place],
        value=value,
        confidence_interval=_interval(drawn[defined, place], bias, maximize, settings, metric_bounds(spec)),
        apparent_value=float(values[place]),
        bias=bias,
        names=names,
        values=values,
        chosen=np.bincount(chosen[defined], minlength=len(names)) / max(int(defined.sum()), 1),
        n_resamples=settings.n_resamples,
        n_undefined=undefined,
        confidence_level=settings.confidence_level,
        caution=difference_caution(sample, spec),
    )


def _sample_configurations(
    y_true: Any, predictions: Any, name: str, spec: MetricSpec, design: SamplingDesign
) -> tuple[UnitSample, tuple[Any, ...]]:
    """Return the sample of all configurations on the same rows, drawn by row or cluster, and their names."""
    specs: MetricSpecs = {name: spec}
    kind: Any = array_kind(metric_kinds(specs))
    if are_matrices(predictions) and kind in (SCORES, LABELS, CLASSES):
        specs, (labelled, names) = CLASSES.specs(specs), as_matrices("predictions", predictions)
        check_two_models("predictions", names)
        return make_class_sample(y_true, labelled, specs, design), names  # type: ignore[return-value]
    check_only_of_classes(labels=design.labels)
    if kind is LABELS:
        true = as_true_labels("y_true", y_true)
        labelled, names = as_models_labels("predictions", true, predictions)
        if design.groups is None:  # numbered rows: counts of cells don't tell which rows are left out
            classes = np.unique(true, return_inverse=True)[1] if design.stratified else None
            design = design._replace(groups=SamplingUnits.number(true.size, None, classes))
        return make_prediction_sample(true, labelled, specs, design), names  # type: ignore[return-value]
    labelled, names = as_models("predictions", predictions, None if kind is SCORES else kind.as_array)
    make: Any = {SCORES: make_score_sample, TARGETS: make_target_sample, QUANTILES: make_quantile_sample}[kind]
    return make(y_true, labelled, specs, design), names


def _best(values: Floats, maximize: bool) -> NDArray[np.intp]:
    """Return the place of the best value of each row, the first one if several tie; -1 if all are NaN."""
    signed = np.where(np.isnan(values), -np.inf, values if maximize else -values)
    return np.where(np.isnan(values).all(axis=-1), -1, signed.argmax(axis=-1))


def _interval(
    replicates: Floats, bias: float, maximize: bool, settings: BootstrapSettings, bounds: tuple[float, float]
) -> Interval:
    """Return the best configuration's percentile interval, with the pessimistic end moved by the bias."""
    level, side = settings.confidence_level, settings.alternative
    low, high = confidence_interval("percentile", replicates, 0.0, confidence_level=level, alternative=side)
    optimism = max(bias, 0.0) if maximize else min(bias, 0.0)
    low, high = (low - optimism, high) if maximize else (low, high - optimism)
    return Interval(*np.clip((low, high), *bounds).tolist())


# Checks ---------------------------------------------------------------------------------------------------------------


def as_named_metric(name: str, spec: Any) -> MetricSpec:
    """Return a metric unchanged; raise if it is a user's function."""
    if not isinstance(spec, MetricSpec):
        raise ValueError(f"metric must be a name or metric(...), whose direction is known, got the function {name}")
    return spec


def _check_one_value(name: str, values: Floats, n: int) -> None:
    """Raise unless a metric has one value for each configuration."""
    if values.shape != (n,):
        raise ValueError(f"metric must have one value per configuration, but {name} has shape {values.shape[1:]}")
