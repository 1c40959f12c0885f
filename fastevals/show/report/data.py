"""What a report is made of: fields only, which measuring fills in, and documents, JSON and frames are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.counts import Cells, ThresholdCounts
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.reading.columns import ColumnRoles
from fastevals.reading.rows import LeftOut
from fastevals.results import Interval
from fastevals.show.report.intervals import IntervalPlan, Intervals, ModelPair
from fastevals.show.report.over_values import OverValues

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, repr=False)
class ReportData:
    """The fields of a `Report`, which explains them."""

    data: str
    roles: ColumnRoles
    metrics: tuple[str, ...]
    blocks: tuple[ReportBlock, ...]
    plan: IntervalPlan | None = None
    over: OverValues | None = field(default=None, compare=False)
    whole: ReportBlock | None = field(default=None, compare=False)
    n_weightless: int = 0
    left_out: LeftOut = field(default_factory=LeftOut)
    pos_label: Any = None
    best: str | None = None
    threshold: float | None = None
    costs: dict[str, float] | None = None
    labels: list[Any] | None = None
    not_measured: tuple[str, ...] = ()

    @property
    def page_blocks(self) -> tuple[ReportBlock, ...]:
        """The blocks that pages show: all rows first, where --by splits them."""
        return self.blocks if self.whole is None else (self.whole, *self.blocks)


@dataclass(frozen=True, slots=True)
class ReportBlock:
    """Rows that share a value of the --by column, or all; counts are of rows with weight above zero."""

    value: Any  # of the --by column; None for all rows
    n_samples: int
    total_weight: float | None  # None without weights
    models: tuple[ModelNumbers, ...]  # in the order given
    best: Mapping[str, tuple[str, ...]]  # by metric, the models with the best value
    intervals: Intervals | None = None  # of what tables show; None where none are wanted
    # Of scores.
    n_positives: int = 0
    n_negatives: int = 0
    positive_share: float = math.nan  # by weight
    against: tuple[ModelPair, ...] = ()  # the models, and what they were on other rows
    # Of predictions, replicates: fewer than the plan's where its budget is not enough for these.
    n_resamples: int | None = None


@dataclass(frozen=True, slots=True)
class ModelNumbers:
    """One model's numbers in a block."""

    name: str  # column of its scores or predictions
    metrics: dict[str, float]  # by what their columns are called; NaN where undefined
    classes: OfClasses | None = None  # of predicted classes
    bounds: dict[str, Interval] = field(default_factory=dict)  # of metrics that are in doubt: they hold for certain
    auc_variance: float = math.nan  # DeLong's, where means over blocks need it
    # Of scores: rows with score >= threshold are predicted positive; NaN where no threshold is best.
    threshold: float = math.nan
    threshold_shown: str = "-"  # with as few digits, from 6 up, as predict the same rows
    cells: Cells | None = None  # counts (or weights) there
    # Where the threshold is that of least cost: the priors for which it stays that, and those for which the model is
    # cheaper than predicting all or none.
    holds: Interval | None = None
    operating_range: Interval | None = None
    # For pictures, in the first blocks. Of scores counts at some thousands of thresholds, the next score below each of
    # these, and calibration of probabilities; of predicted numbers errors.
    counts: ThresholdCounts | None = field(default=None, repr=False, compare=False)
    below: NDArray[Any] | None = field(default=None, repr=False, compare=False)
    calibration: CalibrationCurve | None = field(default=None, repr=False, compare=False)
    errors: ErrorShape | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class OfClasses:
    """A model's predicted classes."""

    matrix: ConfusionMatrix
    metrics: dict[str, Floats]  # of each class
    intervals: dict[str, Interval] = field(default_factory=dict)  # the same: arrays
    wilson: dict[str, Interval] = field(default_factory=dict)  # of shares, where those have no width: arrays, else NaN


class ThresholdRule(NamedTuple):
    """Where rows are predicted positive: from each model's best threshold by a metric in each block, or from one."""

    best: str | None  # name of the metric
    threshold: float | None
    costs: dict[str, float] | None  # cost_fp and cost_fn, where given or used, and prior where given


class ErrorShape(NamedTuple):
    """How a model's errors, predictions less targets, are spread."""

    edges: Floats  # of bins of errors, shape (n_bins + 1,): the outer bins hold all beyond, too
    shares: Floats  # of rows in each
    sizes: Floats  # ascending sizes of errors, at equal steps of the share of rows
    within: Floats  # share of rows with an error of at most each size
    predicted: Floats  # mean prediction of each tenth of the rows, by predictions
    observed: Floats  # mean target of these
