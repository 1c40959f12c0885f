"""One entry a metric, whatever it is of: calls, the report, the command line, splits and the tests read this table.

To add a metric, write its function (`ranking_metrics.py` for a whole ranking, `probability_metrics.py` where scores are
probabilities, `cells.py` for one threshold, a method of `ConfusionMatrix`, a field of `RegressionMetrics`) and its
entry here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from operator import attrgetter
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.options import check_choice
from fastevals.counts import Cells, ThresholdCounts
from fastevals.measure import cells, probability_metrics, ranking_metrics
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.cost import CostEnvelope
from fastevals.measure.probability_metrics import are_probabilities


class Detail(IntEnum):
    """How finely a metric tells rows apart, from the coarsest."""

    CUTS = 0  # by class, on either side of thresholds fixed beforehand
    POLYLINE = 1  # by corners of the ROC polyline
    POSITIVES = 2  # by thresholds with positives
    THRESHOLDS = 3  # by all thresholds, whose values count


class ReplicateKernel(NamedTuple):
    """How a bootstrap replicate's value is swept. Kernels are named: they are loaded where they are used.

    Attributes
    ----------
    kernel : str
        Of how often each step of the ranking was drawn, gives the value (in `_kernels.replicate_metrics`), or the
        counts above a threshold (in `_kernels.replicate_thresholds`).
    detail : Detail
        Of the steps.
    scratch : int
        Arrays of working memory that the kernel takes.
    then : callable, optional
        Applied to the value.
    jackknife : str, optional
        In `_kernels.jackknife`: gives the values without one row.
    of_thresholds : callable, optional
        Of the thresholds of the steps, gives arrays that the kernel takes.
    """

    kernel: str
    detail: Detail = Detail.POLYLINE
    scratch: int = 0
    then: Callable[[Any], Any] | None = None
    jackknife: str | None = None
    of_thresholds: Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], ...]] | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """What the rest of the package needs to know of a metric.

    Attributes
    ----------
    name : str
        As users write it.
    title : str
        Heading of its column in a table.
    of : "ranking", "probabilities", "cells", "matrix" or "targets"
        A function of `ThresholdCounts`; the same of scores that are probabilities of the positive class (NaN of other
        scores); of the `Cells` at one threshold or many; of a `ConfusionMatrix` of any classes; or of the
        `RegressionMetrics` of predicted numbers.
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
    replicate : ReplicateKernel or None
        How a bootstrap replicate's value is swept; without it the function is called, some 10 x slower.
    parts : callable, optional
        Of cells and options, numerator and denominator of what orders thresholds of the same rows as the metric does:
        integers of integers.
    best : callable, optional
        Of options, gives the kernel of `_kernels.replicate_thresholds` that finds a replicate's best threshold by this
        metric, and its parameters.
    at_thresholds_only : bool
        Whether a metric of cells is none of predicted labels.
    symmetric : bool
        Whether a metric of cells is the same whichever of two classes is positive.
    optimized_bounds : tuple of float, optional
        Least and largest of what a metric is the best of: over all thresholds, for each cost, or over the signs of
        differences (a sum of absolute ones is the largest of sums).
    """

    name: str
    title: str
    of: Literal["ranking", "probabilities", "cells", "matrix", "targets"]
    function: Callable[..., Any]
    greater_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    needs: tuple[str, ...] = ("positives", "negatives")
    options: tuple[str, ...] = ()
    replicate: ReplicateKernel | None = None
    parts: Callable[..., tuple[Any, Any]] | None = None
    best: Callable[..., tuple[str, tuple[float, ...]]] | None = None
    at_thresholds_only: bool = False
    symmetric: bool = False
    optimized_bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.function, cells.Quotient):
            object.__setattr__(self, "parts", self.function.parts)

    @property
    def of_scores(self) -> bool:
        """Return whether scores have it, some at a threshold."""
        return self.of in ("ranking", "probabilities", "cells")

    @property
    def of_labels(self) -> bool:
        """Return whether predicted labels have it: a confusion matrix, or the cells of each of its classes."""
        return self.of == "matrix" or (self.of == "cells" and not self.at_thresholds_only)

    @property
    def is_matrix_method(self) -> bool:
        """Return whether `ConfusionMatrix` has a method of its name."""
        return hasattr(ConfusionMatrix, self.name)

    @property
    def detail(self) -> Detail:
        """Return what the function tells apart."""
        return Detail.THRESHOLDS if self.of == "probabilities" else Detail.POSITIVES

    def __call__(self, counts: ThresholdCounts | Cells, **options: Any) -> Any:
        """Compute the metric from counts; of options, those it has no use for are left out."""
        if self.of == "probabilities" and not are_probabilities(cast("ThresholdCounts", counts)):
            return math.nan
        value = self.function(counts, **{name: value for name, value in options.items() if name in self.options})
        return value if self.of == "cells" else float(value)


UNBOUNDED = (-math.inf, math.inf)
COSTS = ("cost_fp", "cost_fn", "prior")
_POSITIVES = ("positives",)
_NEGATIVES = ("negatives",)


def _fewest_errors() -> tuple[str, tuple[float, ...]]:
    return "best_difference", (1.0, 1.0, False)


def _largest_rates() -> tuple[str, tuple[float, ...]]:
    return "best_difference", (1.0, 1.0, True)


def _largest_f(beta: float = 1.0) -> tuple[str, tuple[float, ...]]:
    return "best_f", (beta,)


def _least_cost(cost_fp: float, cost_fn: float, prior: float | None) -> tuple[str, tuple[float, ...]]:
    if prior is None:
        return "best_difference", (cost_fn, cost_fp, False)
    return "best_difference", (prior * cost_fn, (1 - prior) * cost_fp, True)


def _of_targets(name: str, title: str, **differs: Any) -> Metric:
    """Return the entry of a field of `RegressionMetrics`: an error, unless something else is said."""
    usual: dict[str, Any] = {"greater_is_better": False, "bounds": (0.0, math.inf), "needs": ()}
    return Metric(name, title, "targets", attrgetter(name), **(usual | differs))


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "roc_auc",
            "AUC",
            "ranking",
            ranking_metrics.roc_auc,
            replicate=ReplicateKernel("roc_auc", jackknife="roc_auc"),
        ),
        Metric(
            "rank_loss",
            "rank loss",
            "ranking",
            ranking_metrics.rank_loss,
            greater_is_better=False,
            replicate=ReplicateKernel("roc_auc", then=lambda auc: 1 - auc, jackknife="roc_auc"),
        ),
        Metric(
            "gini",
            "Gini",
            "ranking",
            ranking_metrics.gini,
            bounds=(-1.0, 1.0),
            replicate=ReplicateKernel("roc_auc", then=lambda auc: 2 * auc - 1, jackknife="roc_auc"),
        ),
        Metric(
            "average_precision",
            "AP",
            "ranking",
            ranking_metrics.average_precision,
            needs=_POSITIVES,
            replicate=ReplicateKernel("average_precision", Detail.POSITIVES, jackknife="average_precision"),
        ),
        Metric(
            "pr_auc",
            "PR AUC",
            "ranking",
            ranking_metrics.pr_auc,
            needs=_POSITIVES,
            replicate=ReplicateKernel("pr_auc"),
        ),
        Metric(
            "pr_auc_linear",
            "PR AUC (linear)",
            "ranking",
            lambda counts: ranking_metrics.pr_auc(counts, "linear"),
            needs=_POSITIVES,
            replicate=ReplicateKernel("pr_auc_linear", Detail.POSITIVES),
        ),
        Metric(
            "break_even_point",
            "BEP",
            "ranking",
            ranking_metrics.break_even_point,
            needs=_POSITIVES,
            replicate=ReplicateKernel("break_even_point"),
        ),
        Metric(
            "equal_error_rate",
            "EER",
            "ranking",
            ranking_metrics.equal_error_rate,
            greater_is_better=False,
            replicate=ReplicateKernel("equal_error_rate"),
        ),
        Metric(
            "equal_error_rate_on_hull",
            "EER (hull)",
            "ranking",
            lambda counts: ranking_metrics.equal_error_rate(counts, on_hull=True),
            greater_is_better=False,
            bounds=(0.0, 0.5),
            optimized_bounds=(0.0, 1.0),
        ),
        Metric(
            "cost_area",
            "cost area",
            "ranking",
            lambda counts: CostEnvelope.from_counts(counts).area,
            greater_is_better=False,
            bounds=(0.0, 0.25),
            replicate=ReplicateKernel("cost_area", scratch=4),
            optimized_bounds=(0.0, 1.0),
        ),
        Metric(
            "ks_statistic",
            "KS",
            "ranking",
            ranking_metrics.ks_statistic,
            replicate=ReplicateKernel("ks_statistic"),
            optimized_bounds=(-1.0, 1.0),
        ),
        Metric(
            "brier_score",
            "Brier",
            "probabilities",
            probability_metrics.brier_score,
            greater_is_better=False,
            needs=(),
            replicate=ReplicateKernel("mean_loss", Detail.THRESHOLDS, of_thresholds=probability_metrics.squared_losses),
        ),
        Metric(
            "log_loss",
            "log loss",
            "probabilities",
            probability_metrics.log_loss,
            greater_is_better=False,
            bounds=(0.0, math.inf),
            needs=(),
            replicate=ReplicateKernel("mean_loss", Detail.THRESHOLDS, of_thresholds=probability_metrics.log_losses),
        ),
        Metric(
            "expected_calibration_error",
            "ECE",
            "probabilities",
            lambda counts: CalibrationCurve.from_counts(counts).expected_calibration_error,
            greater_is_better=False,
            needs=(),
            replicate=ReplicateKernel(
                "expected_calibration_error", Detail.THRESHOLDS, of_thresholds=probability_metrics.probabilities
            ),
            optimized_bounds=(-1.0, 1.0),
        ),
        Metric("accuracy", "accuracy", "cells", cells.accuracy, needs=(), best=_fewest_errors),
        Metric("error_rate", "error rate", "cells", cells.error_rate, False, needs=(), best=_fewest_errors),
        Metric(
            "expected_cost",
            "cost",
            "cells",
            cells.expected_cost,
            False,
            bounds=(0.0, math.inf),
            needs=(),
            options=COSTS,
            parts=cells.cost_parts,
            best=_least_cost,
            at_thresholds_only=True,  # matrices have `cost`
        ),
        Metric("precision", "precision", "cells", cells.precision, needs=()),
        Metric("recall", "recall", "cells", cells.recall, needs=_POSITIVES),
        Metric("specificity", "specificity", "cells", cells.specificity, needs=_NEGATIVES),
        Metric("false_positive_rate", "FPR", "cells", cells.false_positive_rate, False, needs=_NEGATIVES),
        Metric("false_negative_rate", "FNR", "cells", cells.false_negative_rate, False, needs=_POSITIVES),
        Metric("f1", "F1", "cells", cells.f_score, needs=(), best=_largest_f),
        Metric("jaccard", "Jaccard", "cells", cells.jaccard, needs=(), best=_largest_f),
        Metric("balanced_accuracy", "bal. acc.", "cells", cells.balanced_accuracy, best=_largest_rates),
        Metric(
            "informedness",
            "informedness",
            "cells",
            cells.informedness,
            bounds=(-1.0, 1.0),
            best=_largest_rates,
            symmetric=True,
        ),
        Metric("matthews", "MCC", "cells", cells.matthews, bounds=(-1.0, 1.0), parts=cells.matthews_parts),
        Metric("cohen_kappa", "kappa", "cells", cells.cohen_kappa, bounds=(-1.0, 1.0), needs=()),
        Metric("hamming_loss", "Hamming loss", "matrix", ConfusionMatrix.hamming_loss, False, needs=()),
        Metric("cost", "cost", "matrix", ConfusionMatrix.cost, False, bounds=UNBOUNDED, needs=()),
        Metric("f_score", "F", "matrix", ConfusionMatrix.f_score, needs=(), options=("beta",)),  # of cells: "f1"
        _of_targets("mean_squared_error", "MSE"),
        _of_targets("root_mean_squared_error", "RMSE"),
        _of_targets("mean_absolute_error", "MAE"),
        _of_targets("median_absolute_error", "median AE"),
        _of_targets("mean_absolute_percentage_error", "MAPE"),
        _of_targets("r2", "R2", greater_is_better=True, bounds=(-math.inf, 1.0)),
        _of_targets("pinball_loss", "pinball loss", options=("quantile",)),
    )
}
SCORE_METRICS = {name: metric for name, metric in METRICS.items() if metric.of_scores}


ALIASES = {  # of other libraries, in lower case
    "roc_auc": "auc auroc auc_roc rocauc roc_auc_score roc au_roc c_index c_statistic concordance",
    "average_precision": "ap aupr auprc au_pr map average_precision_score",
    "pr_auc": "prauc auc_pr",
    "ks_statistic": "ks kolmogorov_smirnov",
    "equal_error_rate": "eer",
    "break_even_point": "bep",
    "brier_score": "brier brier_score_loss brier_loss",
    "log_loss": "logloss cross_entropy nll binary_crossentropy neg_log_loss",
    "expected_calibration_error": "ece calibration_error",
    "accuracy": "acc accuracy_score",
    "error_rate": "error err zero_one_loss misclassification_rate",
    "expected_cost": "costs",
    "precision": "ppv positive_predictive_value precision_score",
    "recall": "tpr sensitivity hit_rate true_positive_rate recall_score",
    "specificity": "tnr true_negative_rate selectivity",
    "false_positive_rate": "fpr fall_out fallout",
    "false_negative_rate": "fnr miss_rate",
    "f1": "f f_measure f1_score f1score dice dice_score",
    "jaccard": "iou jaccard_score jaccard_index threat_score csi",
    "balanced_accuracy": "bacc balanced_accuracy_score bal_acc",
    "informedness": "youden youden_j youdens_j youden_index j bookmaker tss",
    "matthews": "mcc matthews_corrcoef phi phi_coefficient",
    "cohen_kappa": "kappa cohen_kappa_score cohens_kappa",
    "hamming_loss": "hamming",
    "mean_squared_error": "mse neg_mean_squared_error",
    "root_mean_squared_error": "rmse neg_root_mean_squared_error",
    "mean_absolute_error": "mae neg_mean_absolute_error",
    "median_absolute_error": "medae",
    "mean_absolute_percentage_error": "mape",
    "r2": "r2_score rsquared r_squared",
    "pinball_loss": "quantile_loss mean_pinball_loss",
}


def aliases_for(names: Iterable[str]) -> dict[str, str]:
    """Return how metrics are written here that other libraries call by these names."""
    return {other: repr(name) for name in names for other in ALIASES.get(name, "").split()}


def find_metric(argument: str, name: str, of: str | None = None) -> Metric:
    """Find the metric that an argument names, among those of one kind."""
    names = [metric.name for metric in SCORE_METRICS.values() if of in (None, metric.of)]
    check_choice(argument, name, names, None if isinstance(name, str) and name in SCORE_METRICS else aliases_for(names))
    return SCORE_METRICS[name]
