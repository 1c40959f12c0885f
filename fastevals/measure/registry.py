"""One entry a metric. The report, the command line, best_threshold, the bootstrap and the tests read this table.

To add a metric, write its function (`ranking_metrics.py` for a whole ranking, `probability_metrics.py` where scores are
probabilities, `cells.py` for one threshold) and its entry here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, NamedTuple, cast

from fastevals._validation import check_choice
from fastevals.measure import cells, probability_metrics, ranking_metrics
from fastevals.measure.counts import Cells, ThresholdCounts
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.cost_envelope import CostEnvelope
from fastevals.measure.probability_bins import are_probabilities

__all__ = ["METRICS", "Detail", "Metric", "Replicate", "metric_named"]


class Detail(IntEnum):
    """How finely a metric tells rows apart, from the coarsest."""

    CUTS = 0  # by class, on either side of thresholds fixed beforehand
    POLYLINE = 1  # by corners of the ROC polyline
    POSITIVES = 2  # by thresholds with positives
    THRESHOLDS = 3  # by all thresholds, whose values count


class Replicate(NamedTuple):
    """How a bootstrap replicate's value is swept.

    Attributes
    ----------
    kernel : str
        Gives the value (in `_kernels.replicates`), or the counts above a threshold (in `_kernels.thresholds`), from how
        often each step of the ranking was drawn.
    detail : Detail
        Of the steps; the kernel of one that tells thresholds apart takes them too.
    scratch : int
        Arrays of working memory that the kernel takes.
    then : callable, optional
        Applied to the value.
    jackknife : str, optional
        In `_kernels.jackknife`: gives the values without one row.
    """

    kernel: str
    detail: Detail = Detail.POLYLINE
    scratch: int = 0
    then: Callable[[Any], Any] | None = None
    jackknife: str | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """What the rest of the package needs to know of a metric.

    Attributes
    ----------
    name : str
        As users write it.
    title : str
        Heading of its column in a table.
    of : "ranking", "probabilities" or "cells"
        A function of `ThresholdCounts`, the same of scores that are probabilities of the positive class (NaN of other
        scores), or of the `Cells` at one threshold or many.
    function : callable
        Gives a number or an `OperatingPoint`, or an array of the cells' shape; NaN where undefined.
    greater_is_better : bool
        Direction.
    bounds : tuple of float
        Least and largest value.
    needs : tuple of str
        Classes ("positives", "negatives") without which it is undefined.
    options : tuple of str
        Keywords its function takes.
    replicate : Replicate or None
        How a bootstrap replicate's value is swept; without it the function is called, some 10 x slower.
    """

    name: str
    title: str
    of: Literal["ranking", "probabilities", "cells"]
    function: Callable[..., Any]
    greater_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    needs: tuple[str, ...] = ("positives", "negatives")
    options: tuple[str, ...] = ()
    replicate: Replicate | None = None

    @property
    def detail(self) -> Detail:
        """Give what the function tells apart."""
        return Detail.THRESHOLDS if self.of == "probabilities" else Detail.POSITIVES

    def __call__(self, counts: ThresholdCounts | Cells, **options: Any) -> Any:
        """Compute the metric from counts; of options, those it has no use for are left out."""
        if self.of == "probabilities" and not are_probabilities(cast("ThresholdCounts", counts)):
            return math.nan
        value = self.function(counts, **{name: value for name, value in options.items() if name in self.options})
        return value if self.of == "cells" else float(value)


COSTS = ("cost_fp", "cost_fn", "prior")
_POSITIVES = ("positives",)
_NEGATIVES = ("negatives",)

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "roc_auc", "AUC", "ranking", ranking_metrics.roc_auc, replicate=Replicate("roc_auc", jackknife="roc_auc")
        ),
        Metric(
            "rank_loss",
            "rank loss",
            "ranking",
            ranking_metrics.rank_loss,
            greater_is_better=False,
            replicate=Replicate("roc_auc", then=lambda auc: 1 - auc, jackknife="roc_auc"),
        ),
        Metric(
            "gini",
            "Gini",
            "ranking",
            ranking_metrics.gini,
            bounds=(-1.0, 1.0),
            replicate=Replicate("roc_auc", then=lambda auc: 2 * auc - 1, jackknife="roc_auc"),
        ),
        Metric(
            "average_precision",
            "AP",
            "ranking",
            ranking_metrics.average_precision,
            needs=_POSITIVES,
            replicate=Replicate("average_precision", Detail.POSITIVES, jackknife="average_precision"),
        ),
        Metric(
            "pr_auc",
            "PR AUC",
            "ranking",
            ranking_metrics.pr_auc,
            needs=_POSITIVES,
            replicate=Replicate("pr_auc"),
        ),
        Metric(
            "pr_auc_linear",
            "PR AUC (linear)",
            "ranking",
            lambda counts: ranking_metrics.pr_auc(counts, "linear"),
            needs=_POSITIVES,
            replicate=Replicate("pr_auc_linear", Detail.POSITIVES),
        ),
        Metric(
            "break_even_point",
            "BEP",
            "ranking",
            ranking_metrics.break_even_point,
            needs=_POSITIVES,
            replicate=Replicate("break_even_point"),
        ),
        Metric(
            "equal_error_rate",
            "EER",
            "ranking",
            ranking_metrics.equal_error_rate,
            greater_is_better=False,
            replicate=Replicate("equal_error_rate"),
        ),
        Metric(
            "equal_error_rate_on_hull",
            "EER (hull)",
            "ranking",
            lambda counts: ranking_metrics.equal_error_rate(counts, on_hull=True),
            greater_is_better=False,
            bounds=(0.0, 0.5),
        ),
        Metric(
            "cost_area",
            "cost area",
            "ranking",
            lambda counts: CostEnvelope.from_counts(counts).area,
            greater_is_better=False,
            bounds=(0.0, 0.25),
            replicate=Replicate("cost_area", scratch=2),
        ),
        Metric("ks_statistic", "KS", "ranking", ranking_metrics.ks_statistic, replicate=Replicate("ks_statistic")),
        Metric(
            "brier_score",
            "Brier",
            "probabilities",
            probability_metrics.brier_score,
            greater_is_better=False,
            needs=(),
            replicate=Replicate("brier_score", Detail.THRESHOLDS),
        ),
        Metric(
            "log_loss",
            "log loss",
            "probabilities",
            probability_metrics.log_loss,
            greater_is_better=False,
            bounds=(0.0, math.inf),
            needs=(),
            replicate=Replicate("log_loss", Detail.THRESHOLDS),
        ),
        Metric(
            "expected_calibration_error",
            "ECE",
            "probabilities",
            lambda counts: CalibrationCurve.from_counts(counts).expected_calibration_error,
            greater_is_better=False,
            needs=(),
            replicate=Replicate("expected_calibration_error", Detail.THRESHOLDS),
        ),
        Metric("accuracy", "accuracy", "cells", cells.accuracy, needs=()),
        Metric("error_rate", "error rate", "cells", cells.error_rate, greater_is_better=False, needs=()),
        Metric(
            "expected_cost",
            "cost",
            "cells",
            cells.expected_cost,
            False,
            bounds=(0.0, math.inf),
            needs=(),
            options=COSTS,
        ),
        Metric("precision", "precision", "cells", cells.precision, needs=()),
        Metric("recall", "recall", "cells", cells.recall, needs=_POSITIVES),
        Metric("specificity", "specificity", "cells", cells.specificity, needs=_NEGATIVES),
        Metric("false_positive_rate", "FPR", "cells", cells.false_positive_rate, False, needs=_NEGATIVES),
        Metric("false_negative_rate", "FNR", "cells", cells.false_negative_rate, False, needs=_POSITIVES),
        Metric("f1", "F1", "cells", cells.f_score, needs=()),
        Metric("jaccard", "Jaccard", "cells", cells.jaccard, needs=()),
        Metric("balanced_accuracy", "bal. acc.", "cells", cells.balanced_accuracy),
        Metric("informedness", "informedness", "cells", cells.informedness, bounds=(-1.0, 1.0)),
        Metric("matthews", "MCC", "cells", cells.matthews, bounds=(-1.0, 1.0)),
        Metric("cohen_kappa", "kappa", "cells", cells.cohen_kappa, bounds=(-1.0, 1.0), needs=()),
    )
}


def metric_named(argument: str, name: str, of: str | None = None) -> Metric:
    """Find the metric that an argument names, among those of one kind."""
    check_choice(argument, name, (metric.name for metric in METRICS.values() if of in (None, metric.of)))
    return METRICS[name]
