"""Metrics with the names, signatures and results of `sklearn.metrics`; all its other names are imported from there."""

from importlib import import_module
from typing import Any

from fastevals.metrics.agreement import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    hamming_loss,
    matthews_corrcoef,
    zero_one_loss,
)
from fastevals.metrics.areas import average_precision_score, roc_auc_score
from fastevals.metrics.curves import auc, confusion_matrix_at_thresholds, det_curve, precision_recall_curve, roc_curve
from fastevals.metrics.decisions import hinge_loss, top_k_accuracy_score
from fastevals.metrics.deviances import (
    d2_tweedie_score,
    mean_gamma_deviance,
    mean_poisson_deviance,
    mean_tweedie_deviance,
)
from fastevals.metrics.label_rankings import coverage_error, label_ranking_average_precision_score, label_ranking_loss
from fastevals.metrics.matrices import class_likelihood_ratios, confusion_matrix, multilabel_confusion_matrix
from fastevals.metrics.per_class import (
    f1_score,
    fbeta_score,
    jaccard_score,
    precision_recall_fscore_support,
    precision_score,
    recall_score,
)
from fastevals.metrics.probabilities import brier_score_loss, d2_brier_score, d2_log_loss_score, log_loss
from fastevals.metrics.quantiles import (
    d2_absolute_error_score,
    d2_pinball_score,
    mean_pinball_loss,
    median_absolute_error,
)
from fastevals.metrics.ranked_lists import dcg_score, ndcg_score
from fastevals.metrics.report import classification_report
from fastevals.metrics.targets import (
    explained_variance_score,
    max_error,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_log_error,
    r2_score,
    root_mean_squared_error,
    root_mean_squared_log_error,
)
from fastevals.metrics.thresholds import metric_at_thresholds

_SWITCH = ("in_place", "install", "uninstall")  # replace scikit-learn's functions by ours

__all__ = [
    "accuracy_score",
    "auc",
    "average_precision_score",
    "balanced_accuracy_score",
    "brier_score_loss",
    "class_likelihood_ratios",
    "classification_report",
    "cohen_kappa_score",
    "confusion_matrix",
    "confusion_matrix_at_thresholds",
    "coverage_error",
    "d2_absolute_error_score",
    "d2_brier_score",
    "d2_log_loss_score",
    "d2_pinball_score",
    "d2_tweedie_score",
    "dcg_score",
    "det_curve",
    "explained_variance_score",
    "f1_score",
    "fbeta_score",
    "hamming_loss",
    "hinge_loss",
    "jaccard_score",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "log_loss",
    "matthews_corrcoef",
    "max_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_gamma_deviance",
    "mean_pinball_loss",
    "mean_poisson_deviance",
    "mean_squared_error",
    "mean_squared_log_error",
    "mean_tweedie_deviance",
    "median_absolute_error",
    "metric_at_thresholds",
    "multilabel_confusion_matrix",
    "ndcg_score",
    "precision_recall_curve",
    "precision_recall_fscore_support",
    "precision_score",
    "r2_score",
    "recall_score",
    "roc_auc_score",
    "roc_curve",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
    "top_k_accuracy_score",
    "zero_one_loss",
]


def __getattr__(name: str) -> Any:
    """Import and return an attribute that is not one of our functions."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _SWITCH:
        return getattr(import_module("fastevals.metrics.switching"), name)
    return import_module("fastevals.metrics._scikit_learn").hand_over(name)


def __dir__() -> list[str]:
    theirs = import_module("fastevals.metrics._scikit_learn")
    return sorted([*__all__, *_SWITCH, *(theirs.HANDED_OVER if theirs.is_installed() else ())])
