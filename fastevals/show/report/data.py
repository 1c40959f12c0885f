"""What a report is made of: roles of columns, blocks, models and their numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._text import printable
from fastevals._validation.labels import Classes
from fastevals.counts import Cells, ThresholdCounts
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.reading.columns import ColumnRoles
from fastevals.reading.rows import LeftOut
from fastevals.results import Interval
from fastevals.show.report.intervals import IntervalPlan, Intervals, ModelPair
from fastevals.show.report.over_values import OverValues

if TYPE_CHECKING:
    pass


Floats = NDArray[np.float64]

CLASSES, NUMBERS = "classes", "numbers"


# Of scores ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class ReportData:
    """The fields of a `Report`, which explains them."""

    data: str
    roles: ColumnRoles
    pos_label: Any
    best: str | None
    threshold: float | None
    costs: dict[str, float] | None
    n_weightless: int
    blocks: tuple[ReportBlock, ...]
    plan: IntervalPlan | None = None
    over: OverValues | None = field(default=None, compare=False)
    left_out: LeftOut = field(default_factory=LeftOut)


@dataclass(frozen=True, slots=True)
class ReportBlock:
    """Rows that share a value of the --by column, or all; counts are of rows with weight above zero."""

    value: Any  # of the --by column; None for all rows
    n_samples: int
    n_positives: int
    n_negatives: int
    total_weight: float | None  # None without weights
    positive_share: float  # by weight
    models: tuple[ModelNumbers, ...]  # in the order given
    best: dict[str, tuple[str, ...]]  # by metric, the models with the best value
    intervals: Intervals | None = None  # of what tables show; None where none are wanted
    against: tuple[ModelPair, ...] = ()  # the models, and what they were on other rows


@dataclass(frozen=True, slots=True)
class ModelNumbers:
    """One model's numbers in a block."""

    name: str  # column of its scores
    threshold: float  # rows with score >= threshold are predicted positive; NaN where no threshold is best
    threshold_shown: str  # with as few digits, from 6 up, as predict the same rows
    cells: Cells | None  # counts (or weights) there
    metrics: dict[str, float]  # by name, as in the registry; NaN where undefined
    # Where the threshold is that of least cost: the priors for which it stays that, and those for which the model is
    # cheaper than predicting all or none.
    holds: Interval | None = None
    operating_range: Interval | None = None
    # For pictures, in the first blocks: counts at some thousands of thresholds, the next score below each of these, and
    # calibration of probabilities.
    counts: ThresholdCounts | None = field(default=None, repr=False, compare=False)
    below: NDArray[Any] | None = field(default=None, repr=False, compare=False)
    calibration: CalibrationCurve | None = field(default=None, repr=False, compare=False)
    auc_variance: float = math.nan  # DeLong's, where means over blocks need it
    bounds: dict[str, Interval] = field(default_factory=dict)  # of metrics that are in doubt: they hold for certain


class ThresholdRule(NamedTuple):
    """Where rows are predicted positive: from each model's best threshold by a metric in each block, or from one."""

    best: str | None  # name of the metric
    threshold: float | None
    costs: dict[str, float] | None  # cost_fp and cost_fn, where given or used, and prior where given


# Of predictions -------------------------------------------------------------------------------------------------------


class PredictionRoles(NamedTuple):
    """Which column is what."""

    truth: str  # the true class or number
    models: tuple[str, ...]
    sample_weight: str | None
    by: str | None
    groups: str | None
    frequency_weight: str | None = None  # numbers of copies of rows

    @property
    def lacking(self) -> dict[str, str]:
        """What rows lack that have no value in a column, in words."""
        found = {name: f"a prediction of {printable(name)}" for name in self.models}
        return found if self.sample_weight is None else found | {self.sample_weight: "a finite weight"}


class ErrorShape(NamedTuple):
    """How a model's errors, predictions less targets, are spread."""

    edges: Floats  # of bins of errors, shape (n_bins + 1,): the outer bins hold all beyond, too
    shares: Floats  # of rows in each
    sizes: Floats  # ascending sizes of errors, at equal steps of the share of rows
    within: Floats  # share of rows with an error of at most each size
    predicted: Floats  # mean prediction of each tenth of the rows, by predictions
    observed: Floats  # mean target of these


@dataclass(frozen=True, slots=True)
class PredictedModel:
    """One model's numbers in a block."""

    name: str
    metrics: dict[str, float]  # by what their columns are called; NaN where undefined
    matrix: ConfusionMatrix | None = None
    classes: dict[str, Floats] = field(default_factory=dict)  # by metric, of each class
    class_intervals: dict[str, Interval] = field(default_factory=dict)  # the same: arrays
    wilson: dict[str, Interval] = field(default_factory=dict)  # of shares, where those have no width: arrays, else NaN
    errors: ErrorShape | None = field(default=None, repr=False, compare=False)  # for pictures


@dataclass(frozen=True, slots=True)
class PredictionBlock:
    """Rows that share a value of the --by column, or all; counts are of rows with weight above zero."""

    value: Any
    n_samples: int
    total_weight: float | None
    models: tuple[PredictedModel, ...]
    best: Mapping[str, tuple[str, ...]]
    intervals: Intervals | None
    n_resamples: int | None = None  # replicates: fewer than the plan's where its budget is not enough for these


class ValueTable(NamedTuple):
    """One metric of each value of the --by column."""

    values: list[Any]
    n_samples: NDArray[np.int64]
    metric: str
    of_models: dict[str, tuple[Floats, Floats]]  # by model, of shapes (n_values,) and (n_values, 2): NaN without one


@dataclass(frozen=True, slots=True, repr=False)
class PredictionReportData:
    """The fields of a `PredictionReport`, which explains them."""

    data: str
    kind: str
    roles: PredictionRoles
    classes: Classes | None
    metrics: tuple[str, ...]
    blocks: tuple[PredictionBlock, ...]
    plan: IntervalPlan | None
    over: ValueTable | None = None
    n_weightless: int = 0
    not_measured: tuple[str, ...] = ()
    left_out: LeftOut = field(default_factory=LeftOut)
