"""Evaluate models: measure a learner, put an interval on the measure, and decide whether one beats another."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastevals._execution import get_num_threads, num_threads, set_num_threads
    from fastevals._validation import UndefinedMetricWarning
    from fastevals.infer.bands import ConfidenceBand, confidence_band
    from fastevals.infer.bootstrap import BootstrapResult, Estimate, bootstrap
    from fastevals.infer.comparison import (
        Difference,
        MetricComparison,
        ModelComparison,
        compare_predictions,
        compare_rankings,
    )
    from fastevals.infer.delong import DelongResult, delong, delong_test, delong_test_unpaired
    from fastevals.infer.many.groups import MetricsByGroup, grouped_auc, grouped_metrics
    from fastevals.infer.many.models import BatchMetrics, batch_auc, batch_metrics
    from fastevals.infer.proportions import proportion_interval
    from fastevals.infer.results import SignificanceResult
    from fastevals.infer.significance.binomial import BinomialResult, binomial_error_test
    from fastevals.infer.significance.cochran import CochranResult, cochran_q_test
    from fastevals.infer.significance.corrections import adjust_pvalues
    from fastevals.infer.significance.five_by_two import five_by_two_cv_f_test, five_by_two_cv_t_test
    from fastevals.infer.significance.friedman import FriedmanResult, friedman_test
    from fastevals.infer.significance.mcnemar import McNemarResult, mcnemar_test, mcnemar_test_of_table
    from fastevals.infer.significance.mcnemar_pairs import McNemarPairs, pairwise_mcnemar_tests
    from fastevals.infer.significance.pairwise import PairwiseResult
    from fastevals.infer.significance.pairwise_tests import pairwise_tests
    from fastevals.infer.significance.permutation import PermutationResult, paired_permutation_test, permutation_test
    from fastevals.infer.significance.rank_comparisons import (
        RankComparison,
        bonferroni_dunn_test,
        nemenyi_test,
        rank_comparison_test,
    )
    from fastevals.infer.significance.signed_ranks import sign_test, wilcoxon_test
    from fastevals.infer.significance.t_tests import corrected_resampled_t_test, error_rate_t_test, paired_t_test
    from fastevals.measure.asked import AskedMetric, metric
    from fastevals.measure.bias_variance import (
        BiasVariance,
        BiasVarianceSummary,
        DomingosDecomposition,
        JamesDecomposition,
        bias_variance,
    )
    from fastevals.measure.confusion import ConfusionMatrix
    from fastevals.measure.cost_sensitive import cost_threshold, minimum_cost_predictions
    from fastevals.measure.counts import ThresholdCounts
    from fastevals.measure.curves import (
        CalibrationCurve,
        CostCurve,
        CostDifference,
        CostEnvelope,
        CostOverPrior,
        DecisionCurve,
        DetCurve,
        GainCurve,
        LiftCurve,
        PrecisionRecallCurve,
        RocCurve,
    )
    from fastevals.measure.many.classes import ClassRankings
    from fastevals.measure.many.folds import RankingFolds
    from fastevals.measure.many.groups import GroupedMetric
    from fastevals.measure.many.models import BatchMetric
    from fastevals.measure.many.pooled import PooledRanking
    from fastevals.measure.probability_metrics import BrierDecomposition
    from fastevals.measure.ranking import Ranking
    from fastevals.measure.regression import RegressionMetrics, regression_metrics
    from fastevals.measure.results import Interval, OperatingPoint
    from fastevals.split.curves import ErrorCurve, learning_curve, validation_curve
    from fastevals.split.estimates import (
        BootstrapErrors,
        ErrorEstimate,
        ErrorEstimates,
        error_632,
        error_632_plus,
        estimate_error,
        evaluate_splits,
    )
    from fastevals.split.selection import ModelSelection, select_model
    from fastevals.split.splitters import BootstrapSplit, HoldOut, KFold, LeaveOneOut, LeavePOut
    from fastevals.split.training_sets import BiasVarianceCurve, bias_variance_curve, bias_variance_over_training_sets

__version__ = "0.2.0"

# Where each public name lives: imported when first used (PEP 562), so `import fastevals` loads no numba or SciPy.
_HOMES = {
    "AskedMetric": "measure.asked",
    "BatchMetric": "measure.many.models",
    "BatchMetrics": "infer.many.models",
    "BiasVariance": "measure.bias_variance",
    "BiasVarianceCurve": "split.training_sets",
    "BiasVarianceSummary": "measure.bias_variance",
    "BinomialResult": "infer.significance.binomial",
    "BootstrapErrors": "split.estimates",
    "BootstrapResult": "infer.bootstrap",
    "BootstrapSplit": "split.splitters",
    "BrierDecomposition": "measure.probability_metrics",
    "CalibrationCurve": "measure.curves",
    "ClassRankings": "measure.many.classes",
    "CochranResult": "infer.significance.cochran",
    "ConfidenceBand": "infer.bands",
    "ConfusionMatrix": "measure.confusion",
    "CostCurve": "measure.curves",
    "CostDifference": "measure.curves",
    "CostEnvelope": "measure.curves",
    "CostOverPrior": "measure.curves",
    "DecisionCurve": "measure.curves",
    "DelongResult": "infer.delong",
    "DetCurve": "measure.curves",
    "Difference": "infer.comparison",
    "DomingosDecomposition": "measure.bias_variance",
    "ErrorCurve": "split.curves",
    "ErrorEstimate": "split.estimates",
    "ErrorEstimates": "split.estimates",
    "Estimate": "infer.bootstrap",
    "FriedmanResult": "infer.significance.friedman",
    "GainCurve": "measure.curves",
    "GroupedMetric": "measure.many.groups",
    "HoldOut": "split.splitters",
    "Interval": "measure.results",
    "JamesDecomposition": "measure.bias_variance",
    "KFold": "split.splitters",
    "LeaveOneOut": "split.splitters",
    "LeavePOut": "split.splitters",
    "LiftCurve": "measure.curves",
    "McNemarPairs": "infer.significance.mcnemar_pairs",
    "McNemarResult": "infer.significance.mcnemar",
    "MetricComparison": "infer.comparison",
    "MetricsByGroup": "infer.many.groups",
    "ModelComparison": "infer.comparison",
    "ModelSelection": "split.selection",
    "OperatingPoint": "measure.results",
    "PairwiseResult": "infer.significance.pairwise",
    "PermutationResult": "infer.significance.permutation",
    "PooledRanking": "measure.many.pooled",
    "PrecisionRecallCurve": "measure.curves",
    "RankComparison": "infer.significance.rank_comparisons",
    "Ranking": "measure.ranking",
    "RankingFolds": "measure.many.folds",
    "RegressionMetrics": "measure.regression",
    "RocCurve": "measure.curves",
    "SignificanceResult": "infer.results",
    "ThresholdCounts": "measure.counts",
    "UndefinedMetricWarning": "_validation",
    "adjust_pvalues": "infer.significance.corrections",
    "batch_auc": "infer.many.models",
    "batch_metrics": "infer.many.models",
    "bias_variance": "measure.bias_variance",
    "bias_variance_curve": "split.training_sets",
    "bias_variance_over_training_sets": "split.training_sets",
    "binomial_error_test": "infer.significance.binomial",
    "bonferroni_dunn_test": "infer.significance.rank_comparisons",
    "bootstrap": "infer.bootstrap",
    "cochran_q_test": "infer.significance.cochran",
    "compare_predictions": "infer.comparison",
    "compare_rankings": "infer.comparison",
    "confidence_band": "infer.bands",
    "corrected_resampled_t_test": "infer.significance.t_tests",
    "cost_threshold": "measure.cost_sensitive",
    "delong": "infer.delong",
    "delong_test": "infer.delong",
    "delong_test_unpaired": "infer.delong",
    "error_632": "split.estimates",
    "error_632_plus": "split.estimates",
    "error_rate_t_test": "infer.significance.t_tests",
    "estimate_error": "split.estimates",
    "evaluate_splits": "split.estimates",
    "five_by_two_cv_f_test": "infer.significance.five_by_two",
    "five_by_two_cv_t_test": "infer.significance.five_by_two",
    "friedman_test": "infer.significance.friedman",
    "get_num_threads": "_execution",
    "grouped_auc": "infer.many.groups",
    "grouped_metrics": "infer.many.groups",
    "learning_curve": "split.curves",
    "mcnemar_test": "infer.significance.mcnemar",
    "mcnemar_test_of_table": "infer.significance.mcnemar",
    "metric": "measure.asked",
    "minimum_cost_predictions": "measure.cost_sensitive",
    "nemenyi_test": "infer.significance.rank_comparisons",
    "num_threads": "_execution",
    "paired_permutation_test": "infer.significance.permutation",
    "paired_t_test": "infer.significance.t_tests",
    "pairwise_mcnemar_tests": "infer.significance.mcnemar_pairs",
    "pairwise_tests": "infer.significance.pairwise_tests",
    "permutation_test": "infer.significance.permutation",
    "proportion_interval": "infer.proportions",
    "rank_comparison_test": "infer.significance.rank_comparisons",
    "regression_metrics": "measure.regression",
    "select_model": "split.selection",
    "set_num_threads": "_execution",
    "sign_test": "infer.significance.signed_ranks",
    "validation_curve": "split.curves",
    "wilcoxon_test": "infer.significance.signed_ranks",
}

__all__ = [
    "AskedMetric",
    "BatchMetric",
    "BatchMetrics",
    "BiasVariance",
    "BiasVarianceCurve",
    "BiasVarianceSummary",
    "BinomialResult",
    "BootstrapErrors",
    "BootstrapResult",
    "BootstrapSplit",
    "BrierDecomposition",
    "CalibrationCurve",
    "ClassRankings",
    "CochranResult",
    "ConfidenceBand",
    "ConfusionMatrix",
    "CostCurve",
    "CostDifference",
    "CostEnvelope",
    "CostOverPrior",
    "DecisionCurve",
    "DelongResult",
    "DetCurve",
    "Difference",
    "DomingosDecomposition",
    "ErrorCurve",
    "ErrorEstimate",
    "ErrorEstimates",
    "Estimate",
    "FriedmanResult",
    "GainCurve",
    "GroupedMetric",
    "HoldOut",
    "Interval",
    "JamesDecomposition",
    "KFold",
    "LeaveOneOut",
    "LeavePOut",
    "LiftCurve",
    "McNemarPairs",
    "McNemarResult",
    "MetricComparison",
    "MetricsByGroup",
    "ModelComparison",
    "ModelSelection",
    "OperatingPoint",
    "PairwiseResult",
    "PermutationResult",
    "PooledRanking",
    "PrecisionRecallCurve",
    "RankComparison",
    "Ranking",
    "RankingFolds",
    "RegressionMetrics",
    "RocCurve",
    "SignificanceResult",
    "ThresholdCounts",
    "UndefinedMetricWarning",
    "adjust_pvalues",
    "batch_auc",
    "batch_metrics",
    "bias_variance",
    "bias_variance_curve",
    "bias_variance_over_training_sets",
    "binomial_error_test",
    "bonferroni_dunn_test",
    "bootstrap",
    "cochran_q_test",
    "compare_predictions",
    "compare_rankings",
    "confidence_band",
    "corrected_resampled_t_test",
    "cost_threshold",
    "delong",
    "delong_test",
    "delong_test_unpaired",
    "error_632",
    "error_632_plus",
    "error_rate_t_test",
    "estimate_error",
    "evaluate_splits",
    "five_by_two_cv_f_test",
    "five_by_two_cv_t_test",
    "friedman_test",
    "get_num_threads",
    "grouped_auc",
    "grouped_metrics",
    "learning_curve",
    "mcnemar_test",
    "mcnemar_test_of_table",
    "metric",
    "minimum_cost_predictions",
    "nemenyi_test",
    "num_threads",
    "paired_permutation_test",
    "paired_t_test",
    "pairwise_mcnemar_tests",
    "pairwise_tests",
    "permutation_test",
    "proportion_interval",
    "rank_comparison_test",
    "regression_metrics",
    "select_model",
    "set_num_threads",
    "sign_test",
    "validation_curve",
    "wilcoxon_test",
]


_MODULES = ("datasets", "metrics", "show")  # public, beside the names


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_meant(name)}")
    from fastevals._validation import names_keywords

    here = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    value = names_keywords(here)
    if value is not here:
        value.__module__ = __name__  # where pickle finds it
    globals()[name] = value
    return value


def _meant(name: str) -> str:
    """Return what is asked after a name that is not here: one like it, or where a metric is."""
    from importlib.util import find_spec

    if name.startswith("_") or find_spec(f"{__name__}.{name}"):  # a module that is about to be imported
        return ""
    from fastevals import metrics
    from fastevals._validation import did_you_mean
    from fastevals.measure.asked import NAMES, OTHER_NAMES
    from fastevals.measure.confusion import ConfusionMatrix
    from fastevals.measure.ranking import Ranking

    def written(known: str) -> str:
        if hasattr(Ranking, known):
            return f"Ranking(y_true, y_score).{known}()"
        matrix = f"ConfusionMatrix.from_predictions(y_true, y_pred).{known}()"
        return matrix if hasattr(ConfusionMatrix, known) else f"metric({known!r})"

    other = {known: repr(known) for known in NAMES} | OTHER_NAMES
    elsewhere = {each: known if "(" in known else written(known.strip("'")) for each, known in other.items()}
    drop_in = {each: f"fastevals.metrics.{each}" for each in metrics.__all__ if each != "auc"}  # which takes points
    return did_you_mean(name, __all__, elsewhere | drop_in)


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
