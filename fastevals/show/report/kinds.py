"""The differences between reports on scores, predicted classes, class probabilities and predicted numbers."""

from __future__ import annotations

from typing import NamedTuple

AUC, GINI = "roc_auc", "gini"
AVERAGE_CURVES = ("roc", "precision_recall")  # over classes, in pictures of class probabilities
AVERAGES_DRAWN = ("macro", "micro")
RATIO_OF_CLASS = "ratio"  # of the probabilities of a class to its rows
ERROR = "root_mean_squared_error"
MAPE = "mean_absolute_percentage_error"


class ReportKind(NamedTuple):
    """The properties of reports on one kind of models."""

    predicted: str  # name in JSON; "" for scores
    lacking: str  # what a row may lack of a model
    rough: tuple[str, ...]  # kinds of rows, in the singular: too few of a kind make intervals rough
    ranked_by: tuple[str, ...]  # metrics that rank models in a verdict: the first one that is defined
    undefined: str  # the verdict if none is defined
    forests: tuple[str, ...]  # metrics with pictures of intervals and differences
    over: str  # the metric of each value of --by


CLASS_METRICS, NUMBER_METRICS = ("accuracy", "f1", "F1 (macro)"), (ERROR, "mean_absolute_error", "r2")
NOTHING = "Nothing that models are ranked by is defined here."
REPORT_KINDS = {
    "scores": ReportKind(
        "", "a finite score", ("positive", "negative"), (AUC,),
        "A class is missing: nothing ranks positives above negatives, and no model is better than another.",
        (AUC, "average_precision"), AUC,
    ),
    "labels": ReportKind(
        "classes", "a prediction", ("row",), ("f1", "F1 (macro)", "accuracy"), NOTHING, CLASS_METRICS, "accuracy",
    ),
    "probabilities": ReportKind(
        "probabilities", "finite probabilities", ("row",), (AUC, "log_loss", "accuracy"), NOTHING,
        (AUC, "log_loss", "F1 (macro)"), "accuracy",
    ),
    "targets": ReportKind(
        "numbers", "a prediction", ("row",), NUMBER_METRICS, NOTHING, NUMBER_METRICS, ERROR,
    ),
}  # fmt: skip
