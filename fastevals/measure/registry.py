"""The table of metrics: one entry per metric, read by calls, reports, the command line, splits and the tests.

To add a metric, write its function (`ranking_metrics.py` for a whole ranking, `probability_metrics.py` for
probabilities, `cells.py` for the cells at a threshold, `error_metrics.py` for sums of errors, or a method of
`ConfusionMatrix`) and its entry here. `tests/measure/test_registry.py` then names the other classes that need a method
for the metric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_choice, check_costs, check_number, keyword_parameters, plain_name
from fastevals.counts import Cells, ThresholdCounts
from fastevals.measure import (
    calibration_errors,
    cells,
    class_losses,
    class_pairs,
    error_metrics,
    label_sets,
    probability_metrics,
    quantile_metrics,
    query_metrics,
    ranking_metrics,
)
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves import calibration
from fastevals.measure.curves.cost import cost_area
from fastevals.measure.probability_metrics import are_probabilities
from fastevals.results import FULL_NAMES, full_name


class Detail(IntEnum):
    """How finely a metric distinguishes rows, from coarse to fine."""

    CUTS = 0  # by class, and by the side of thresholds fixed beforehand
    POLYLINE = 1  # by vertices of the ROC polyline
    POSITIVES = 2  # by thresholds that have positives
    THRESHOLDS = 3  # by all thresholds, whose values matter


class Influence(Enum):
    """How a row affects a metric; this decides which replicates are alike and how two models' values covary."""

    LINEAR = auto()  # it adds its part to sums, and the metric is a smooth function of the sums
    PLACE = auto()  # it moves the point of the curve at which the metric is read
    BEST = auto()  # it moves the best point of the curve, at which the metric is read
    BINS = auto()  # it adds to the sum of a bin, and the metric uses the sum's absolute value
    ROWS = auto()  # it moves the row whose value is read, so no sums suffice


class ReplicateKernel(NamedTuple):
    """How a sweep computes a bootstrap replicate's value. The kernel is given by name and loaded on first use.

    Attributes
    ----------
    kernel : str
        Name of the kernel: a function of how often each step of the ranking was drawn. It returns the value (if it is
        in `_kernels.replicate_metrics`), or the counts above a threshold (in `_kernels.replicate_thresholds`).
    detail : Detail
        Detail of the steps.
    row_detail : Detail, optional
        Detail of the steps when the number of draws of each row is known, if coarser steps then suffice.
    scratch : int
        Number of working arrays that the kernel needs.
    then : callable, optional
        Function applied to the value.
    of_thresholds : callable, optional
        Given the rows' scores, returns two arrays: each row's term if the row is positive, and its term if the row is
        negative. The metric is then a function of the sums of these terms over rows, and no steps are swept.
    n_bins : int
        Number of bins of equal width; the absolute values of their sums are added up. 0 means a mean over rows.
    """

    kernel: str
    detail: Detail = Detail.POLYLINE
    row_detail: Detail | None = None
    scratch: int = 0
    then: Callable[[Any], Any] | None = None
    of_thresholds: Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]] | None = None
    n_bins: int = 0


@dataclass(frozen=True, slots=True)
class Metric:
    """What the rest of the package needs to know about a metric.

    Attributes
    ----------
    name : str
        Name that users write.
    title : str
        Heading of its column in a table.
    of : "ranking", "probabilities", "cells", "matrix", "classes", "targets", "quantiles" or "queries"
        What the function takes: `ThresholdCounts`; `ThresholdCounts` of scores that are probabilities of the positive
        class (NaN for other scores); the `Cells` at one threshold or many; a `ConfusionMatrix` of any number of
        classes, or a stack; scores of several classes (see `classes`); the `RegressionSums` of predicted numbers, one
        per model (the median error takes rows); targets and the `QuantileRows` predicted for them (it returns the
        losses of the rows, whose mean is the metric); or the `QuerySums` of ranked documents.
    function : callable
        Returns a number or an `OperatingPoint`, or an array with the shape of the cells, the stack or the sums; NaN if
        undefined. The first sentence of its docstring is its definition in `docs/metrics.md`.
    greater_is_better : bool or None
        Direction; None if neither higher nor lower values are better, so that no threshold is best by the metric.
    bounds : tuple of float
        Lowest and highest values.
    needs : tuple of str
        Classes ("positives", "negatives") without which the metric is undefined; for targets "scatter" (targets must
        differ); for queries "relevant" (a relevant document); for a debiased error "pairs" (two rows in a bin).
    takes_weights : bool
        Whether rows may have weights. If not, the function refuses sums of weights.
    check_options : callable, optional
        Function whose keywords are the options with their defaults; it checks and returns all of them.
    influence : Influence
        How a row affects the metric. A metric of cells is assumed to be at a fixed threshold; for other thresholds see
        `metric_specs.influence_of`.
    replicate : ReplicateKernel or None
        How a sweep computes a bootstrap replicate's value. If None, the function is called for each replicate, which
        takes about 10 times as long.
    detail : Detail
        How finely the function distinguishes rows; if it is called on replicates, they need no finer counts.
    parts : callable, optional
        Given cells and options, returns a numerator and a denominator, which are integers if the cells are. Their
        quotient orders thresholds of the same rows as the metric does.
    best : callable, optional
        Given options, returns the name of the kernel in `_kernels.replicate_thresholds` that finds a replicate's best
        threshold by this metric, and the kernel's parameters.
    at_thresholds_only : bool
        Whether a metric of cells does not apply to predicted labels.
    on_hull : bool
        Whether a metric of rankings depends only on the vertices of the ROC curve's convex hull.
    symmetric : bool
        Whether a metric of cells does not depend on which of two classes is positive.
    family : bool
        Whether the registry has separate entries for the usual choices of the metric's options (such as F1, the F-score
        with beta 1). The report and `best_threshold` use these entries instead.
    neutral : float, optional
        A metric of cells is best at a vertex of the ROC polyline if its best value is beyond this value, in the
        direction sought. If None, the metric is always best at a vertex.
    certificate : "ends", "corners", "steps", "distances", "thresholds" or ""
        What bounds the metric if only ranges of the scores are known. "ends": its values in the worst and the best
        order, because it never gets worse when a positive's score rises or a negative's falls (for cells, at each
        threshold). "corners": for cells, its values with each class in its worst and best order. "steps": sums of
        bounds per step. "distances": the one-sided distances. "thresholds": the ends, but only at thresholds between
        ranges. "": nothing.
    in_reports : bool
        Whether reports compute the metric for each model. False for most calibration errors and the mean prediction:
        reports show one error in bins, and the section on calibration has the debiased error and compares the mean
        prediction with the observed rate.
    column : dict of str to int
        Position of the metric's column in each table of a report: for "scores" (within its kind), "labels", single
        "classes", "numbers", "probabilities" of classes, and single "probability classes".
    trials : "rows", "rows by class", "positives", "negatives", "predicted", "predicted negatives" or ""
        The metric is a share of these rows, whose number is taken as fixed; "" if it is no share. A share of all rows
        is "rows" if it counts rows of all classes (accuracy), and "rows by class" if of one class (prevalence).
    is_mean : bool
        Whether the metric is a mean over rows, or the sum of such means over the rows of each class, besides shares and
        means of losses of probabilities: the mean of its values on several days then estimates the same.
    of_pairs : callable, optional
        Given twice the number of positive-negative pairs ranked right and twice the number of all pairs, returns the
        metric multiplied by the second number.
    area : Area, optional
        The sum over positives, step by step, that equals the metric.
    needs_probabilities : bool
        Whether scores must be probabilities.
    classes : "rows", "pairs", "top label", "label sets" or ""
        For a metric of classes, what its function takes and returns. "rows": scores of shape (n_classes, n_samples) and
        class numbers; it returns losses of rows, whose mean is the metric. "pairs": the AUC of each pair of classes, of
        shape (..., K, K). "top label": the `ThresholdCounts` of each row's highest score, where rows of this score's
        class are positive; so do metrics of rankings that are about the most probable class. "label sets": scores and
        the indicator of each row's labels, of shape (n_classes, n_samples); it returns values of rows, NaN for rows
        that do not count.
    for_classes : str
        The metric of classes that this name stands for if there are several classes; "" if this metric is computed for
        each class against the rest, and averaged.
    loss : RowLoss, optional
        What a row adds to the sum behind a metric of targets.
    optimized_bounds : tuple of float, optional
        If the metric is the optimum of a quantity, the bounds of the quantity. The optimum is over all thresholds, over
        all thresholds for each cost, or over the signs of differences (a sum of absolute values is the largest of the
        signed sums).
    synonyms : str
        Other names that are accepted, in lower case: abbreviations, and names that mean this metric alone in other
        libraries.
    aliases : str
        Names that are refused because they may also mean the metric's negative or another metric; the error suggests
        this one.
    option_aliases : dict of str to str
        For options as written here, such as "average='macro'": other libraries' names for the metric with this option.
    """

    name: str
    title: str
    of: Literal["ranking", "probabilities", "cells", "matrix", "classes", "targets", "quantiles", "queries"]
    function: Callable[..., Any]
    greater_is_better: bool | None = True
    bounds: tuple[float, float] = (0.0, 1.0)
    needs: tuple[str, ...] = ("positives", "negatives")
    takes_weights: bool = True
    check_options: Callable[..., dict[str, Any]] | None = None
    influence: Influence = Influence.LINEAR
    replicate: ReplicateKernel | None = None
    detail: Detail = Detail.THRESHOLDS
    parts: Callable[..., tuple[Any, Any]] | None = None
    best: Callable[..., tuple[str, tuple[float, ...]]] | None = None
    at_thresholds_only: bool = False
    on_hull: bool = False
    symmetric: bool = False
    family: bool = False
    neutral: float | None = None
    certificate: Literal["ends", "corners", "steps", "distances", "thresholds", ""] = ""
    in_reports: bool = True
    column: Mapping[str, int] = field(default_factory=dict)
    trials: Literal["rows", "rows by class", "positives", "negatives", "predicted", "predicted negatives", ""] = ""
    is_mean: bool = False
    of_pairs: Callable[[Any, Any], Any] | None = None
    area: ranking_metrics.Area | None = None
    needs_probabilities: bool = False
    classes: Literal["rows", "pairs", "top label", "label sets", ""] = ""
    for_classes: str = ""
    loss: error_metrics.RowLoss | None = None
    optimized_bounds: tuple[float, float] | None = None
    synonyms: str = ""
    aliases: str = ""
    option_aliases: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.function, cells.Quotient):
            object.__setattr__(self, "parts", self.function.parts)
        if self.of == "probabilities":
            object.__setattr__(self, "needs_probabilities", True)

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options that the metric's function takes."""
        return () if self.check_options is None else tuple(keyword_parameters(self.check_options))

    def own_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Check and return all options of the metric; ignore given options that it does not take."""
        own = {name: value for name, value in given.items() if name in self.options}
        return {} if self.check_options is None else self.check_options(**own)

    @property
    def of_scores(self) -> bool:
        """Return whether the metric is defined for scores, with or without a threshold."""
        return self.of in ("ranking", "probabilities", "cells")

    @property
    def of_labels(self) -> bool:
        """Return whether the metric is defined for predicted labels, by a confusion matrix or each class's cells."""
        return self.of == "matrix" or (self.of == "cells" and not self.at_thresholds_only)

    @property
    def monotone(self) -> bool:
        """Return whether the metric never gets worse when a positive's score rises or a negative's falls."""
        return self.certificate == "ends"

    @property
    def is_mean_over_rows(self) -> bool:
        """Return whether the metric is a mean over all rows, of any class, so that no class needs many rows."""
        return self.trials == "rows" or self.classes in ("rows", "label sets") or bool(self.for_classes)

    @property
    def is_matrix_method(self) -> bool:
        """Return whether `ConfusionMatrix` has a method of this name."""
        return hasattr(ConfusionMatrix, self.name)

    def __call__(self, counts: ThresholdCounts | Cells, **options: Any) -> Any:
        """Compute the metric from counts; ignore options that the metric does not take."""
        if self.of == "probabilities" and not are_probabilities(cast("ThresholdCounts", counts)):
            return math.nan
        value = self.function(counts, **{name: value for name, value in options.items() if name in self.options})
        return value if self.of == "cells" else float(value)


UNBOUNDED = (-math.inf, math.inf)
_NOT_NEGATIVE = (0.0, math.inf)
_POSITIVES = ("positives",)
_NEGATIVES = ("negatives",)


# Options ----------------------------------------------------------------------------------------------------------


def _checked_costs(cost_fp: Any = 1.0, cost_fn: Any = 1.0, prior: Any = None) -> dict[str, Any]:
    return dict(zip(COSTS, check_costs(cost_fp, cost_fn, prior), strict=True))


def _checked_beta(beta: Any = 1.0) -> dict[str, Any]:
    return {"beta": check_number("beta", beta, low=0, open_low=True, open_high=True)}


def _checked_risk(risk: Any = 0.05) -> dict[str, Any]:
    return {"risk": check_number("risk", risk, low=0, high=1)}


def _checked_coverage(coverage: Any = 0.8) -> dict[str, Any]:
    return {"coverage": check_number("coverage", coverage, low=0, high=1, open_low=True)}


def _checked_quantile(quantile: Any = 0.5) -> dict[str, Any]:
    return {"quantile": check_number("quantile", quantile, low=0, high=1)}


COSTS = tuple(keyword_parameters(_checked_costs))


def _averages(name: str) -> dict[str, str]:
    """Return scikit-learn's names of scorers for averages of a metric, by option."""
    return {f"average={average!r}": f"{name}_{average}" for average in ("macro", "micro", "weighted")}


# Kernels that find a replicate's best threshold ---------------------------------------------------------------------


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


# Entries ----------------------------------------------------------------------------------------------------------


def _of_ranking(name: str, title: str, function: Callable[..., Any], certificate: Any = "ends", **more: Any) -> Metric:
    """Return the entry of a metric of whole rankings."""
    return Metric(name, title, "ranking", function, certificate=certificate, **more)


def _of_cells(name: str, title: str, function: Callable[..., Any], certificate: Any = "ends", **more: Any) -> Metric:
    """Return the entry of a metric that is computed from the cells at one threshold."""
    return Metric(name, title, "cells", function, certificate=certificate, **more)


def _of_calibration(title: str, function: Callable[..., Any], **more: Any) -> Metric:
    """Return the entry of a calibration error besides the expected one; it is named after its function."""
    own: dict[str, Any] = {
        "needs": (),
        "influence": Influence.BINS,
        "optimized_bounds": (-1.0, 1.0),
        "in_reports": False,
        **more,
    }
    return Metric(function.__name__, title, "probabilities", function, False, **own)


def _error(title: str, function: Callable[..., Any], **more: Any) -> Metric:
    """Return the entry of an error metric of targets; it is named after its function."""
    return Metric(function.__name__, title, "targets", function, False, bounds=(0.0, math.inf), needs=(), **more)


def _of_quantiles(function: Callable[..., Any], synonyms: str, *, greater: bool | None = False, **more: Any) -> Metric:
    """Return the entry of a metric of predicted quantiles; it is named after its function."""
    own: dict[str, Any] = {"bounds": (0.0, math.inf), "needs": (), **more}
    title = function.__name__.replace("_", " ")
    return Metric(function.__name__, title, "quantiles", function, greater, synonyms=synonyms, **own)


def _of_classes(title: str, function: Callable[..., Any], **more: Any) -> Metric:
    """Return the entry of a metric of probabilities of several classes; it is named after its function."""
    own: dict[str, Any] = {"classes": "rows", "needs": (), "needs_probabilities": True, **more}
    return Metric(function.__name__, title, "classes", function, **own)


def _of_label_sets(title: str, function: Callable[..., Any], **more: Any) -> Metric:
    """Return the entry of a metric of rows that may have many labels; it is named after its function."""
    return _of_classes(title, function, **{"classes": "label sets", "needs_probabilities": False, **more})


def _of_queries(
    name: str, function: Callable[..., Any], aliases: str, needs: tuple[str, ...] = ("relevant",), **more: Any
) -> Metric:
    """Return the entry of a metric of ranked documents."""
    own: dict[str, Any] = {"check_options": query_metrics.checked_k, **more}
    return Metric(name, name, "queries", function, needs=needs, aliases=aliases, **own)


def _mean_over_rows(of_thresholds: Callable[..., Any], n_bins: int = 0) -> ReplicateKernel:
    """Return how a replicate's mean over rows is computed."""
    return ReplicateKernel("sum_by_bin", Detail.THRESHOLDS, Detail.CUTS, of_thresholds=of_thresholds, n_bins=n_bins)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        _of_ranking(
            "roc_auc",
            "AUC",
            ranking_metrics.roc_auc,
            replicate=ReplicateKernel("roc_auc"),
            synonyms="auc auroc auc_roc rocauc roc_auc_score au_roc c_index c_statistic",
            aliases="roc concordance",
            column={"scores": 1, "probabilities": 1, "probability classes": 1},
            of_pairs=lambda won, pairs: won,
        ),
        _of_ranking(
            "rank_loss",
            "rank loss",
            ranking_metrics.rank_loss,
            greater_is_better=False,
            replicate=ReplicateKernel("roc_auc", then=lambda auc: 1 - auc),
            of_pairs=lambda won, pairs: pairs - won,
        ),
        _of_ranking(
            "gini",
            "Gini",
            ranking_metrics.gini,
            bounds=(-1.0, 1.0),
            replicate=ReplicateKernel("roc_auc", then=lambda auc: 2 * auc - 1),
            of_pairs=lambda won, pairs: 2 * won - pairs,
        ),
        _of_ranking(
            "average_precision",
            "AP",
            ranking_metrics.average_precision,
            needs=_POSITIVES,
            replicate=ReplicateKernel("average_precision", Detail.POSITIVES),
            synonyms="ap average_precision_score",
            aliases="aupr auprc au_pr",
            certificate="steps",
            column={"scores": 2, "probabilities": 2, "probability classes": 2},
            area=ranking_metrics.STEPWISE,
        ),
        _of_ranking(
            "pr_auc",
            "PR AUC",
            ranking_metrics.pr_auc,
            needs=_POSITIVES,
            replicate=ReplicateKernel("pr_auc", scratch=2),
            aliases="prauc auc_pr",
            column={"scores": 3},
            area=ranking_metrics.PR_AREAS["davis-goadrich"],
        ),
        _of_ranking(
            "pr_auc_linear",
            "PR AUC (linear)",
            ranking_metrics.pr_auc_linear,
            needs=_POSITIVES,
            replicate=ReplicateKernel("pr_auc_linear", Detail.POSITIVES),
            area=ranking_metrics.PR_AREAS["linear"],
            certificate="",
        ),
        _of_ranking(
            "risk_coverage_area",
            "AURC",
            ranking_metrics.risk_coverage_area,
            greater_is_better=False,
            needs=(),
            replicate=ReplicateKernel("risk_coverage_area"),
            in_reports=False,
            synonyms="aurc area_under_risk_coverage_curve",
            classes="top label",
        ),
        _of_ranking(
            "excess_risk_coverage_area",
            "E-AURC",
            ranking_metrics.excess_risk_coverage_area,
            greater_is_better=False,
            needs=(),
            replicate=ReplicateKernel("excess_risk_coverage_area"),
            in_reports=False,
            certificate="",
            synonyms="e_aurc eaurc excess_aurc",
            classes="top label",
        ),
        _of_ranking(
            "risk_at_coverage",
            "risk",
            ranking_metrics.risk_at_coverage,
            greater_is_better=False,
            needs=(),
            influence=Influence.PLACE,
            check_options=_checked_coverage,
            replicate=ReplicateKernel("risk_at_coverage"),
            in_reports=False,
            synonyms="selective_risk error_at_coverage",
            classes="top label",
        ),
        _of_ranking(
            "coverage_at_risk",
            "coverage",
            ranking_metrics.coverage_at_risk,
            needs=(),
            influence=Influence.PLACE,
            check_options=_checked_risk,
            replicate=ReplicateKernel("coverage_at_risk", Detail.THRESHOLDS),
            in_reports=False,
            certificate="",
            synonyms="coverage_at_error",
            classes="top label",
        ),
        _of_ranking(
            "break_even_point",
            "BEP",
            ranking_metrics.break_even_point,
            needs=_POSITIVES,
            influence=Influence.PLACE,
            replicate=ReplicateKernel("break_even_point"),
            synonyms="bep",
            column={"scores": 5},
        ),
        _of_ranking(
            "equal_error_rate",
            "EER",
            ranking_metrics.equal_error_rate,
            greater_is_better=False,
            influence=Influence.PLACE,
            replicate=ReplicateKernel("equal_error_rate"),
            synonyms="eer",
            column={"scores": 4},
        ),
        _of_ranking(
            "equal_error_rate_on_hull",
            "EER (hull)",
            ranking_metrics.equal_error_rate_on_hull,
            on_hull=True,
            greater_is_better=False,
            bounds=(0.0, 0.5),
            replicate=ReplicateKernel("equal_error_rate_on_hull", scratch=4),
            optimized_bounds=(0.0, 1.0),
        ),
        _of_ranking(
            "cost_area",
            "cost area",
            cost_area,
            on_hull=True,
            greater_is_better=False,
            bounds=(0.0, 0.25),
            replicate=ReplicateKernel("cost_area", scratch=4),
            optimized_bounds=(0.0, 1.0),
        ),
        _of_ranking(
            "ks_statistic",
            "KS",
            ranking_metrics.ks_statistic,
            influence=Influence.BEST,
            replicate=ReplicateKernel("ks_statistic"),
            optimized_bounds=(-1.0, 1.0),
            synonyms="ks kolmogorov_smirnov",
            certificate="distances",
            column={"scores": 6},
        ),
        Metric(
            "brier_score",
            "Brier",
            "probabilities",
            probability_metrics.brier_score,
            greater_is_better=False,
            needs=(),
            replicate=_mean_over_rows(probability_metrics.squared_losses),
            synonyms="brier brier_score_loss brier_loss",
            column={"scores": 1, "probabilities": 5},
            for_classes="multiclass_brier_score",
        ),
        Metric(
            "log_loss",
            "log loss",
            "probabilities",
            probability_metrics.log_loss,
            greater_is_better=False,
            bounds=(0.0, math.inf),
            needs=(),
            replicate=_mean_over_rows(probability_metrics.log_losses),
            synonyms="logloss cross_entropy binary_crossentropy",
            aliases="nll neg_log_loss",
            column={"scores": 2, "probabilities": 4},
            for_classes="multiclass_log_loss",
        ),
        Metric(
            "expected_calibration_error",
            "ECE",
            "probabilities",
            calibration.expected_calibration_error,
            greater_is_better=False,
            needs=(),
            influence=Influence.BINS,
            check_options=probability_metrics.checked_bins,
            replicate=_mean_over_rows(probability_metrics.differences, n_bins=10),
            optimized_bounds=(-1.0, 1.0),
            synonyms="ece",
            aliases="calibration_error",
            column={"scores": 3, "probabilities": 7, "probability classes": 5},
        ),
        _of_calibration(
            "RMSCE",
            calibration.root_mean_square_calibration_error,
            check_options=probability_metrics.checked_bins,
            synonyms="rmsce rms_calibration_error l2_calibration_error",
            aliases="neg_l2_calibration_error",
        ),
        _of_calibration(
            "MCE",
            calibration.maximum_calibration_error,
            check_options=probability_metrics.checked_bins,
            synonyms="mce max_calibration_error",
        ),
        _of_calibration(
            "debiased CE",
            calibration_errors.debiased_calibration_error,
            needs=("pairs",),
            check_options=probability_metrics.checked_bins,
            takes_weights=False,
            synonyms="debiased_l2_calibration_error",
        ),
        _of_calibration(
            "smECE",
            calibration_errors.smooth_calibration_error,
            synonyms="smece smooth_ece",
        ),
        Metric(
            "mean_predicted",
            "mean predicted",
            "probabilities",
            probability_metrics.mean_predicted,
            greater_is_better=None,
            needs=(),
            replicate=_mean_over_rows(probability_metrics.probabilities),
            in_reports=False,
            column={"probability classes": 3},
            synonyms="mean_prediction mean_predicted_probability",
        ),
        _of_classes(
            "M",
            class_pairs.hand_till,
            classes="pairs",
            needs_probabilities=False,
            synonyms="hand_and_till",
            column={"probabilities": 3},
        ),
        _of_classes("log loss", class_losses.multiclass_log_loss, greater_is_better=False, bounds=(0.0, math.inf)),
        _of_classes("Brier", class_losses.multiclass_brier_score, greater_is_better=False, bounds=(0.0, 2.0)),
        _of_classes(
            "RPS",
            class_losses.ranked_probability_score,
            greater_is_better=False,
            synonyms="rps",
            column={"probabilities": 6},
        ),
        _of_classes(
            "top-k accuracy",
            class_losses.top_k_accuracy,
            needs_probabilities=False,
            check_options=class_losses.checked_top_k,
            synonyms="top_k_accuracy_score",
            column={"probabilities": 9},
        ),
        _of_classes(
            "ECE (top label)",
            calibration.top_label_calibration_error,
            classes="top label",
            greater_is_better=False,
            influence=Influence.BINS,
            check_options=probability_metrics.checked_bins,
            optimized_bounds=(-1.0, 1.0),
            column={"probabilities": 8},
        ),
        _of_label_sets("coverage error", label_sets.coverage_error, greater_is_better=False, bounds=_NOT_NEGATIVE),
        _of_label_sets("ranking loss", label_sets.label_ranking_loss, greater_is_better=False),
        _of_label_sets(
            "LRAP",
            label_sets.label_ranking_average_precision,
            synonyms="lrap label_ranking_average_precision_score",
        ),
        _of_label_sets(
            "subset accuracy",
            label_sets.subset_accuracy,
            check_options=label_sets.checked_threshold,
            synonyms="exact_match exact_match_ratio",
        ),
        _of_label_sets(
            "Hamming loss (labels)",
            label_sets.multilabel_hamming_loss,
            greater_is_better=False,
            check_options=label_sets.checked_threshold,
        ),
        _of_cells(
            "accuracy",
            "accuracy",
            cells.accuracy,
            needs=(),
            best=_fewest_errors,
            synonyms="acc accuracy_score",
            column={"scores": 1, "labels": 1, "probabilities": 10},
            trials="rows",
        ),
        _of_cells(
            "error_rate",
            "error rate",
            cells.error_rate,
            greater_is_better=False,
            needs=(),
            best=_fewest_errors,
            synonyms="zero_one_loss misclassification_rate",
            aliases="error err",
            trials="rows",
        ),
        _of_cells(
            "expected_cost",
            "cost",
            cells.expected_cost,
            greater_is_better=False,
            bounds=(0.0, math.inf),
            needs=(),
            check_options=_checked_costs,
            parts=cells.cost_parts,
            best=_least_cost,
            at_thresholds_only=True,  # matrices have `cost`
            is_mean=True,
            aliases="costs",
        ),
        _of_cells(
            "precision",
            "precision",
            cells.precision,
            needs=(),
            synonyms="ppv positive_predictive_value precision_score",
            option_aliases=_averages("precision"),
            column={"scores": 2, "labels": 3, "classes": 1, "probability classes": 6},
            trials="predicted",
        ),
        _of_cells(
            "recall",
            "recall",
            cells.recall,
            needs=_POSITIVES,
            synonyms="tpr sensitivity true_positive_rate recall_score",
            option_aliases=_averages("recall"),
            column={"scores": 3, "labels": 4, "classes": 2, "probability classes": 7},
            trials="positives",
        ),
        _of_cells(
            "specificity",
            "specificity",
            cells.specificity,
            needs=_NEGATIVES,
            synonyms="tnr true_negative_rate selectivity",
            trials="negatives",
        ),
        _of_cells(
            "false_positive_rate",
            "FPR",
            cells.false_positive_rate,
            greater_is_better=False,
            needs=_NEGATIVES,
            synonyms="fpr fall_out fallout",
            trials="negatives",
        ),
        _of_cells(
            "false_negative_rate",
            "FNR",
            cells.false_negative_rate,
            greater_is_better=False,
            needs=_POSITIVES,
            synonyms="fnr miss_rate",
            trials="positives",
        ),
        _of_cells(
            "negative_predictive_value",
            "NPV",
            cells.negative_predictive_value,
            needs=(),
            synonyms="npv",
            trials="predicted negatives",
        ),
        _of_cells(
            "positive_likelihood_ratio",
            "LR+",
            cells.positive_likelihood_ratio,
            bounds=_NOT_NEGATIVE,
            synonyms="lr+ plr",
            aliases="likelihood_ratio",
        ),
        _of_cells(
            "negative_likelihood_ratio",
            "LR-",
            cells.negative_likelihood_ratio,
            greater_is_better=False,
            bounds=_NOT_NEGATIVE,
            synonyms="lr- nlr",
        ),
        _of_cells(
            "diagnostic_odds_ratio",
            "DOR",
            cells.diagnostic_odds_ratio,
            bounds=_NOT_NEGATIVE,
            symmetric=True,
            synonyms="dor",
            aliases="odds_ratio",
            neutral=1.0,
        ),
        _of_cells(
            "prevalence",
            "prevalence",
            cells.prevalence,
            certificate="corners",
            greater_is_better=None,
            needs=(),
            synonyms="base_rate positive_share",
            trials="rows by class",
            column={"probability classes": 4},
        ),
        _of_cells(
            "prediction_rate",
            "prediction rate",
            cells.prediction_rate,
            certificate="corners",
            greater_is_better=None,
            needs=(),
            synonyms="selection_rate predicted_positive_rate rate_of_positive_predictions rpp",
            aliases="positive_rate",
            trials="rows by class",
        ),
        _of_cells(
            "fowlkes_mallows",
            "FM",
            cells.fowlkes_mallows,
            needs=_POSITIVES,
            parts=cells.fowlkes_mallows_parts,
            synonyms="fowlkes_mallows_index",
            aliases="fowlkes_mallows_score g_measure",
            neutral=0.0,
        ),
        _of_cells(
            "f1",
            "F1",
            cells.f_score,
            needs=(),
            best=_largest_f,
            synonyms="f1_score f1score dice_score",
            aliases="f f_measure dice",
            option_aliases=_averages("f1"),
            column={"scores": 4, "labels": 5, "classes": 3, "probabilities": 12, "probability classes": 8},
        ),
        _of_cells(
            "jaccard",
            "Jaccard",
            cells.jaccard,
            needs=(),
            best=_largest_f,
            synonyms="iou jaccard_score jaccard_index threat_score csi",
            option_aliases=_averages("jaccard"),
        ),
        _of_cells(
            "balanced_accuracy",
            "bal. acc.",
            cells.balanced_accuracy,
            best=_largest_rates,
            synonyms="bacc balanced_accuracy_score bal_acc",
            column={"labels": 2, "probabilities": 11},
            is_mean=True,
        ),
        _of_cells(
            "informedness",
            "informedness",
            cells.informedness,
            bounds=(-1.0, 1.0),
            best=_largest_rates,
            symmetric=True,
            synonyms="youden youden_j youdens_j youden_index bookmaker tss",
            aliases="j",
            is_mean=True,
        ),
        _of_cells(
            "markedness",
            "markedness",
            cells.markedness,
            bounds=(-1.0, 1.0),
            needs=(),
            symmetric=True,
            certificate="thresholds",
            neutral=0.0,
        ),
        _of_cells(
            "matthews",
            "MCC",
            cells.matthews,
            bounds=(-1.0, 1.0),
            parts=cells.matthews_parts,
            synonyms="mcc matthews_corrcoef phi_coefficient",
            aliases="phi",
            certificate="thresholds",
            neutral=0.0,
            column={"scores": 5, "labels": 6, "probabilities": 13},
        ),
        _of_cells(
            "cohen_kappa",
            "kappa",
            cells.cohen_kappa,
            bounds=(-1.0, 1.0),
            needs=(),
            synonyms="kappa cohen_kappa_score cohens_kappa",
            column={"labels": 7, "probabilities": 14},
        ),
        Metric(
            "hamming_loss", "Hamming loss", "matrix", ConfusionMatrix.hamming_loss, False, needs=(), aliases="hamming"
        ),
        Metric("cost", "cost", "matrix", ConfusionMatrix.cost, False, bounds=UNBOUNDED, needs=()),
        _of_cells(
            "f_score",
            "F",
            cells.f_score,
            needs=(),
            check_options=_checked_beta,
            best=_largest_f,
            family=True,
            option_aliases={
                "beta=2": "f2 f2_score",
                "beta=0.5": "f05 f0.5 f0_5",
                "beta=...": "fbeta f_beta fbeta_score",
            },
        ),
        _error(
            "MSE",
            error_metrics.mean_squared_error,
            loss=error_metrics.SQUARED,
            synonyms="mse",
            aliases="neg_mean_squared_error",
            is_mean=True,
        ),
        _error(
            "RMSE",
            error_metrics.root_mean_squared_error,
            loss=error_metrics.SQUARED,
            column={"numbers": 1},
            synonyms="rmse",
            aliases="neg_root_mean_squared_error",
        ),
        _error(
            "MAE",
            error_metrics.mean_absolute_error,
            loss=error_metrics.ABSOLUTE,
            column={"numbers": 2},
            synonyms="mae",
            aliases="neg_mean_absolute_error",
            is_mean=True,
        ),
        _error(
            "median AE",
            error_metrics.median_absolute_error,
            column={"numbers": 3},
            influence=Influence.ROWS,
            aliases="medae",
        ),
        _error(
            "MAPE",
            error_metrics.mean_absolute_percentage_error,
            loss=error_metrics.RELATIVE,
            column={"numbers": 4},
            synonyms="mape",
            is_mean=True,
        ),
        Metric(
            "r2",
            "R2",
            "targets",
            error_metrics.r2,
            bounds=(-math.inf, 1.0),
            needs=("scatter",),
            synonyms="r2_score rsquared r_squared",
            loss=error_metrics.SQUARED,
            column={"numbers": 5},
        ),
        _error(
            "pinball loss",
            error_metrics.pinball_loss,
            loss=error_metrics.PINBALL,
            check_options=_checked_quantile,
            synonyms="quantile_loss mean_pinball_loss",
            is_mean=True,
        ),
        Metric(
            "mean_error",
            "mean error",
            "targets",
            error_metrics.mean_error,
            greater_is_better=None,
            bounds=UNBOUNDED,
            needs=(),
            loss=error_metrics.SIGNED,
            synonyms="mean_bias_error mbe",
            aliases="bias signed_bias",
            is_mean=True,
        ),
        _of_quantiles(
            quantile_metrics.interval_score,
            "winkler_score winkler",
            check_options=quantile_metrics.checked_coverage,
            aliases="mwis",
        ),
        _of_quantiles(quantile_metrics.weighted_interval_score, "wis"),
        _of_quantiles(quantile_metrics.crps, "crps_quantile continuous_ranked_probability_score"),
        _of_quantiles(
            quantile_metrics.interval_coverage,
            "picp",
            greater=None,
            bounds=(0.0, 1.0),
            check_options=quantile_metrics.checked_coverage,
            aliases="coverage",
        ),
        _of_quantiles(
            quantile_metrics.interval_width,
            "mpiw",
            greater=None,
            check_options=quantile_metrics.checked_coverage,
            aliases="sharpness",
        ),
        _of_queries("ndcg", query_metrics.ndcg, "ndcg_cut ndcg_score normalized_dcg retrieval_normalized_dcg"),
        _of_queries("dcg", query_metrics.dcg, "dcg_score discounted_cumulative_gain", needs=(), bounds=(0.0, math.inf)),
        _of_queries("map", query_metrics.average_precision, "map_cut mean_average_precision retrieval_map"),
        _of_queries("mrr", query_metrics.reciprocal_rank, "rr recip_rank reciprocal_rank retrieval_mrr"),
        _of_queries("recall_at_k", query_metrics.recall, "retrieval_recall recall_at"),
        _of_queries("precision_at_k", query_metrics.precision, "p p_at_k retrieval_precision", needs=()),
        _of_queries("f1_at_k", query_metrics.f1, "retrieval_f1 set_f"),
        _of_queries("r_precision", query_metrics.r_precision, "rprec rprecision r_prec", check_options=None),
        _of_queries("hit_rate", query_metrics.hit_rate, "hits hr success success_at_k retrieval_hit_rate"),
    )
}
SCORE_METRICS = {name: metric for name, metric in METRICS.items() if metric.of_scores and not metric.family}
OF_PAIRS = {name: metric.of_pairs for name, metric in METRICS.items() if metric.of_pairs}
AREAS = {name: metric.area for name, metric in METRICS.items() if metric.area}


def columns_of(table: str, of: str = "") -> tuple[str, ...]:
    """Return the names of the metrics with a column in a table of reports, in order; `of` selects one kind."""
    found = [each for each in METRICS.values() if table in each.column and of in ("", each.of)]
    return tuple(each.name for each in sorted(found, key=lambda each: each.column[table]))


def metric_title(name: str) -> str:
    """Return the title of a metric's column; a mean over classes is in no registry, and its name is the title."""
    return METRICS[name].title if name in METRICS else name


FULL_NAMES.update(
    {plain_name(written): name for name, metric in METRICS.items() for written in (name, *metric.synonyms.split())}
)


def aliases_for(names: Iterable[str]) -> dict[str, str]:
    """Return the spelling of metrics in this package, by their names in other libraries."""
    return {
        alias: repr(name) for name in names for alias in f"{METRICS[name].synonyms} {METRICS[name].aliases}".split()
    }


def aliases_with_options() -> dict[str, str]:
    """Return the spelling of metrics with options in this package, by their names in other libraries."""
    return {
        alias: f"metric({name!r}, {option})"
        for name, entry in METRICS.items()
        for option, aliases in entry.option_aliases.items()
        for alias in aliases.split()
    }


def find_criterion(argument: str, name: str, *, families: bool = False) -> Metric:
    """Return the metric that an argument names, among those by which a threshold can be best."""
    names = [
        each.name
        for each in METRICS.values()
        if each.of == "cells" and each.greater_is_better is not None and (families or not each.family)
    ]
    return METRICS[name_among(argument, name, names)]


def name_among(argument: str, name: Any, names: Collection[str]) -> str:
    """Return the name of the metric that an argument names; raise unless it is one of `names`."""
    found = full_name(name)
    if not isinstance(found, str) or found not in names:
        check_choice(argument, name, names, None if isinstance(found, str) and found in METRICS else aliases_for(names))
    return str(found)
