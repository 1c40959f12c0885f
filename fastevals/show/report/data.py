"""The data of a report: fields that measuring fills in, and from which documents, JSON and frames are made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.counts import Cells, ThresholdCounts
from fastevals.infer.calibration.calibrations import Calibration
from fastevals.infer.costs.decisions import RowCosts
from fastevals.infer.gain_table import GainTable
from fastevals.many.trends import Trend
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.reading.columns import ColumnRoles
from fastevals.reading.rows import LeftOut
from fastevals.reading.sources import ReadFiles
from fastevals.results import Interval
from fastevals.show.report.intervals import IntervalPlan, Intervals, ModelPair
from fastevals.show.report.over_values import OverValues

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, repr=False)
class ReportData:
    """The fields of a `Report`, which documents them."""

    data: str
    roles: ColumnRoles
    metrics: tuple[str, ...]
    blocks: tuple[ReportBlock, ...]
    plan: IntervalPlan | None = None
    overs: tuple[OverValues, ...] = field(default=(), compare=False)
    whole: ReportBlock | None = field(default=None, compare=False)
    trend: Trend | None = field(default=None, compare=False)
    n_weightless: int = 0
    left_out: LeftOut = field(default_factory=LeftOut)
    pos_label: Any = None
    best: str | None = None
    threshold: float | None = None
    costs: dict[str, float] | None = None
    row_costs: dict[str, Any] | None = None
    labels: list[Any] | None = None
    not_measured: tuple[str, ...] = ()
    against: OtherData | None = None
    files: ReadFiles | None = None
    reference: str | None = None
    class_facts: ClassFacts | None = None

    @property
    def over(self) -> OverValues | None:
        """The first of `overs`: metrics over the values of a --by column or of combinations; None without one."""
        return self.overs[0] if self.overs else None

    def key(self, block: ReportBlock) -> Any:
        """Return the key of a block among the segments of the rows."""
        return self.roles.segments.key(block.by, block.value) if block.by else None


@dataclass(frozen=True, slots=True)
class ReportBlock:
    """Rows that share a value of a --by column, or all rows; counts are of rows with weight above zero."""

    value: Any  # of the --by column, or a tuple of the values of crossed columns; None for all rows
    n_samples: int
    total_weight: float | None  # None without weights
    models: tuple[ModelNumbers, ...]  # in the order given
    best: Mapping[str, tuple[str, ...]]  # by metric, the models with the best value
    intervals: Intervals | None = None  # of the metrics in tables; None if none are wanted
    # For scores:
    n_positives: int = 0
    n_negatives: int = 0
    positive_share: float = math.nan  # by weight
    against: tuple[ModelPair, ...] = ()  # the models minus themselves on other rows
    other: OtherBlock | None = None  # these other rows; None if there are none with this value
    costs: RowCosts | None = None  # if they differ by row
    # For predictions, replicates: fewer than the plan's if its budget is too small.
    n_resamples: int | None = None
    by: tuple[str, ...] = ()  # the --by column that has `value`, or the crossed columns


class OtherBlock(NamedTuple):
    """Other rows that a block is compared with."""

    n_samples: int
    n_positives: int | None  # None for predictions
    why_none: str = ""  # why there are no differences; "" if there are
    why_fewer: str = ""  # why some metrics have no difference; "" if all have one


@dataclass(frozen=True, slots=True)
class OtherData:
    """The other rows that a report compares with (--against)."""

    name: str
    n_samples: int
    n_positives: int | None  # None for predictions
    left_out: LeftOut
    n_weightless: int
    files: ReadFiles | None = None
    only_data: tuple[Any, ...] = ()  # keys of blocks that only the data have
    only_other: tuple[Any, ...] = ()  # and that only the other rows have


class ClassFacts(NamedTuple):
    """What is known of the classes of probabilities, besides their names."""

    are_ordered: bool
    hard: tuple[str, ...]  # models whose probabilities are all 0 or 1
    are_normalized: bool  # whether rows were divided by their sums


@dataclass(frozen=True, slots=True)
class ModelNumbers:
    """One model's numbers in a block."""

    name: str  # column of its scores or predictions
    metrics: dict[str, float]  # by title of the column; NaN where undefined
    classes: OfClasses | None = None  # of predicted classes, or probabilities of classes
    bounds: dict[str, Interval] = field(default_factory=dict)  # guaranteed bounds of metrics that are not exact
    auc_variance: float = math.nan  # DeLong's, if means over blocks need it
    # For scores: rows with score >= threshold are predicted positive; NaN if no threshold is best.
    threshold: float = math.nan
    threshold_shown: str = "-"  # with the fewest digits, 6 or more, that predict the same rows positive
    cells: Cells | None = None  # counts (or weights) there
    # For a threshold of least cost: the priors for which it remains the best, and those for which the model is cheaper
    # than predicting all or no rows positive.
    holds: Interval | None = None
    operating_range: Interval | None = None
    gains: GainTable | None = field(default=None, repr=False, compare=False)  # None unless asked for
    calibrated: Calibration | None = field(default=None, repr=False, compare=False)  # None unless probabilities
    # For pictures of the first blocks. Scores have counts at some thousands of thresholds, the next score below each,
    # and the curves of probabilities that need all rows; predicted numbers have errors.
    counts: ThresholdCounts | None = field(default=None, repr=False, compare=False)
    below: NDArray[Any] | None = field(default=None, repr=False, compare=False)
    curves: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    errors: ErrorShape | None = field(default=None, repr=False, compare=False)
    # Of all rows with probabilities of classes, the model's numbers for classes against the rest, by their places.
    each_class: dict[int, ModelNumbers] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class OfClasses:
    """A model's predicted classes."""

    matrix: ConfusionMatrix
    metrics: dict[str, Floats]  # of each class
    intervals: dict[str, Interval] = field(default_factory=dict)  # arrays with an entry for each class
    wilson: dict[str, Interval] = field(default_factory=dict)  # arrays, for proportions whose intervals have no width
    numbered: NDArray[np.intp] | None = None  # the classes by number, if they are drawn by number
    bounds: dict[str, Interval] = field(default_factory=dict)  # arrays, guaranteed bounds of metrics that are not exact


class ThresholdRule(NamedTuple):
    """The rule for thresholds: in each block each model's best threshold by a metric, or one threshold for all."""

    best: str | None  # name of the metric
    threshold: float | None
    costs: dict[str, float] | None  # cost_fp and cost_fn if given or used, and prior if given


class ErrorShape(NamedTuple):
    """The distribution of a model's errors, predictions minus targets."""

    edges: Floats  # of bins of errors, shape (n_bins + 1,); the outer bins include all errors beyond
    shares: Floats  # of rows in each
    sizes: Floats  # ascending sizes of errors, at equal steps of the share of rows
    within: Floats  # share of rows with an error up to each size
    predicted: Floats  # mean prediction of each tenth of the rows, ordered by prediction
    observed: Floats  # mean target of each tenth
