"""Evaluate models: measure a learner, put an interval on the measure, and decide whether one learner beats another."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fastevals.measure.curves.registry import CURVES as _CURVES

__version__ = "0.4.0"


# The public names by module; they are imported on first use (PEP 562), so that `import fastevals` loads neither numba
# nor SciPy. `tests.snapshots` generates `__init__.pyi`, for type checkers, from this.
_NAMES = {
    "_execution": "get_num_threads num_threads set_num_threads",
    "_options": "DependentSplitsWarning UndefinedMetricWarning",
    "_row_order": "RowOrderWarning",
    "counts": "ThresholdCounts",
    "document.notebook": "set_display",
    "infer.bands": "ConfidenceBand confidence_band",
    "infer.bayes.bradley_terry": "BradleyTerry bayes_bradley_terry",
    "infer.bayes.comparison": "BayesComparison",
    "infer.bayes.chains": "ConvergenceWarning",
    "infer.bayes.error_rate": "ErrorRatePosterior error_rate_posterior",
    "infer.bayes.folds": "bayes_correlated_t",
    "infer.bayes.hierarchical": "bayes_hierarchical",
    "infer.bayes.signed_ranks": "bayes_signed_rank",
    "infer.bootstrap.bootstrap": "BootstrapResult Estimate bootstrap",
    "infer.bootstrap.statistics": "bootstrap_statistic",
    "infer.bootstrap.unpaired": "UnpairedDifference UnpairedResult bootstrap_unpaired",
    "infer.calibration.bands": "ReliabilityBand reliability_band",
    "infer.calibration.bins": "CalibrationBins",
    "infer.calibration.calibration": "calibration",
    "infer.calibration.comparison": "calibration_unpaired",
    "infer.calibration.errors": "CalibrationError",
    "infer.calibration.calibrations": "Calibration CalibrationComparison CalibrationEstimate CalibrationSegments",
    "infer.class_thresholds": "ClassThresholds class_thresholds",
    "infer.comparison": "Difference MetricComparison ModelComparison compare_predictions compare_rankings",
    "infer.confused_pairs": "ConfusedPairs most_confused",
    "infer.costs.class_costs": "class_costs",
    "infer.costs.class_decisions": "ClassCosts ClassDecisions RuleCost",
    "infer.costs.decisions": "DecisionCost ModelCosts RowCosts",
    "infer.costs.row_costs": "row_costs",
    "infer.delong.classes": "ClassDelongResult",
    "infer.delong.delong": "delong delong_test delong_test_unpaired",
    "infer.delong.result": "DelongResult",
    "infer.drift.drift": "ScoreDrift ScoreDrifts score_drift",
    "infer.gain_table": "GainTable GainTables gain_table",
    "infer.learners.results": "Results",
    "infer.permutation.permutation": "PermutationResult paired_permutation_test permutation_test",
    "infer.planning.comparisons": "ComparisonPlan plan_comparison",
    "infer.planning.planning": "SampleSize plan_sample_size",
    "infer.proportions": "proportion_interval",
    "infer.selection.bias_corrected": "BestConfiguration bbc_cv",
    "infer.selection.holdout_reuse": "HoldoutReuse holdout_reuse",
    "infer.sequential.records": "NightRecord",
    "infer.sequential.sequence": "SequenceEstimate confidence_sequence",
    "infer.significance.binomial": "BinomialResult binomial_error_test",
    "infer.significance.cochran": "CochranResult cochran_q_test",
    "infer.significance.corrections": "adjust_pvalues",
    "infer.significance.five_by_two": "five_by_two_cv_f_test five_by_two_cv_t_test",
    "infer.significance.friedman": "FriedmanResult friedman_test",
    "infer.significance.mcnemar": (
        "McNemarPairs McNemarResult mcnemar_test mcnemar_test_of_table pairwise_mcnemar_tests"
    ),
    "infer.significance.equivalence": "EquivalenceResult equivalence_test",
    "infer.significance.effects": "PairEffects",
    "infer.significance.pairwise": "MeasuredPairs PairwiseResult pairwise_tests",
    "infer.significance.rank_comparisons": "RankComparison bonferroni_dunn_test nemenyi_test rank_comparison_test",
    "infer.significance.signed_ranks": "sign_test wilcoxon_test",
    "infer.significance.skillings_mack": "SkillingsMackResult skillings_mack_test",
    "infer.significance.t_tests": "corrected_resampled_t_test error_rate_t_test paired_t_test",
    "integrations.sklearn": "scorer",
    "many.classes": "ClassRankings",
    "many.folds": "RankingFolds",
    "many.group_comparison": "ComparisonsByGroup GroupComparison compare_groups",
    "many.group_differences": "DifferencesByGroup GroupDifferences GroupRange group_differences",
    "many.groups": "GroupedMetric MetricsByGroup grouped_auc grouped_metrics",
    "many.models": "BatchMetric BatchMetrics batch_auc batch_metrics",
    "many.qrels": "Qrels",
    "many.queries": "MetricsByQuery QueryMetric compare_query_metrics query_metrics",
    "measure.bias_variance.bias_variance": "bias_variance BiasVarianceSummary",
    "measure.bias_variance.squared": "BiasVariance",
    "measure.bias_variance.zero_one": "DomingosDecomposition JamesDecomposition",
    "measure.confusion": "ConfusionMatrix",
    "measure.cost_sensitive": "cost_threshold minimum_cost_predictions",
    "measure.curves.cost": "CostDifference CostEnvelope",  # the registry lists the curves
    "measure.isotonic": "ScoreDecomposition",
    "measure.metric_specs": "MetricSpec metric",
    "measure.probability_metrics": "BrierDecomposition",
    "measure.ranking.ranking": "Ranking",
    "measure.predicted_quantiles": "predicted_intervals predicted_quantiles",
    "measure.regression": "RegressionMetrics regression_metrics",
    "results": "Interval OperatingPoint SignificanceResult",
    "show.compare.compare": "compare",
    "show.gate.gate": "gate",
    "show.report.report": "report",
    "split.error_curves": "ErrorCurve learning_curve validation_curve",
    "split.estimates.corrections": "BootstrapErrors error_632 error_632_plus",
    "split.estimates.estimates": "estimate_error",
    "split.estimates.fixed_predictions": "evaluate_splits",
    "split.estimates.results": "ErrorEstimate ErrorEstimates",
    "split.selection": "select_model",
    "split.selection_results": "ModelSelection",
    "split.splitters.bootstrap_split": "BootstrapSplit",
    "split.splitters.hold_out": "HoldOut",
    "split.splitters.k_fold": "KFold",
    "split.splitters.leave_out": "LeaveOneOut LeavePOut",
    "split.training_sets": "BiasVarianceCurve bias_variance_curve bias_variance_over_training_sets",
}
_HOMES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names.split()}
_HOMES |= {entry.kind_name: f"{__name__}.{entry.module}" for entry in _CURVES.values()}

__all__ = sorted(_HOMES, key=lambda name: (not name[0].isupper(), name))

_MODULES = {  # public modules
    "datasets": "datasets", "metrics": "metrics", "plots": "show.plots", "scale": "scale", "show": "show",
}  # fmt: skip
_FORMER = {"PooledRanking": "Ranking"}  # old names, to be removed in 0.6


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{_MODULES[name]}")
    if name in _FORMER:
        import warnings

        now = _FORMER[name]
        message = f"fastevals.{name} is now called fastevals.{now}; the old name will be removed in 0.6"
        warnings.warn(message, FutureWarning, stacklevel=2)
        return getattr(import_module(__name__), now)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_meant(name)}")
    from fastevals._options import names_keywords
    from fastevals._row_order import warn_other_order

    here = getattr(import_module(_HOMES[name]), name)
    value = names_keywords(here, warn_other_order)
    if value is not here:
        value.__module__ = __name__  # where pickle finds it
    globals()[name] = value
    return value


def _meant(name: str) -> str:
    """Return a suggestion for an unknown name: a similar name, or where to find a metric of this name."""
    from importlib.util import find_spec

    if name.startswith("_") or find_spec(f"{__name__}.{name}"):  # a module about to be imported
        return ""
    from fastevals import metrics
    from fastevals._options import did_you_mean
    from fastevals.measure.confusion import ConfusionMatrix
    from fastevals.measure.metric_specs import METRIC_ALIASES
    from fastevals.measure.ranking.ranking import Ranking
    from fastevals.measure.registry import METRICS

    def written(known: str) -> str:
        if hasattr(Ranking, known):
            return f"Ranking(y_true, y_score).{known}()"
        matrix = f"ConfusionMatrix.from_predictions(y_true, y_pred).{known}()"
        return matrix if hasattr(ConfusionMatrix, known) else f"metric({known!r})"

    other = {known: repr(known) for known in METRICS} | METRIC_ALIASES
    elsewhere = {each: known if "(" in known else written(known.strip("'")) for each, known in other.items()}
    drop_in = {each: f"fastevals.metrics.{each}" for each in metrics.__all__ if each != "auc"}  # `auc` takes points
    return did_you_mean(name, __all__, elsewhere | drop_in)


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
