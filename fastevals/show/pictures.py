"""The pictures that commands draw, with their titles and captions on pages."""

from __future__ import annotations

from fastevals.document.document import AXIS, Caption
from fastevals.measure.curves.registry import CURVES

PICTURES: dict[str, dict[str, Caption]] = {  # by the commands that draw them
    "report": {
        **{name: Caption(entry.title, entry.caption) for name, entry in CURVES.items()},
        "cost_by_amount": Caption("Cost curve by amount", "each row is weighted by the amount at stake in it"),
        "scores": Caption("Scores", "histograms of positives (orange) and negatives (blue)"),
        "macro_roc": Caption(
            "ROC, averages over classes",
            "macro: mean true positive rate at each FPR; thin: micro; shaded: simultaneous bands; dashed: chance",
        ),
        "macro_precision_recall": Caption(
            "Precision and recall, averages over classes",
            "macro: mean precision at each recall; thin: micro; dashed: chance",
        ),
        "classes_roc": Caption("ROC of all classes", "dashed: chance"),
        "classes_precision_recall": Caption("Precision and recall of all classes", "dashed: chance"),
        "confusion": Caption("Confusion matrix", "counts and shares of the true class"),
        "errors": Caption("Errors", "prediction minus target; the outer bins hold all larger errors; dashed: none"),
        "within": Caption("Errors within a size", "share of rows with an error of at most that size"),
        "means": Caption(
            "Predicted and observed",
            "mean target against mean prediction in each tenth of the rows, sorted by prediction; dashed: equal",
        ),
        "trend": Caption(
            "Trend", "with the values' intervals; thin line: all rows; filled ring: differs from the other values"
        ),
        "groups": Caption(f"{AXIS}, by value", "dashed: the mean; orange: the interval excludes the mean"),
    },
    "report compare": {
        "intervals": Caption(AXIS, "with intervals, the best model at the top"),
        "differences": Caption(AXIS, "orange: the interval excludes zero"),
    },
    "compare": {
        "critical_difference": Caption(
            "Mean ranks", "rank 1, the best, is at the right; a bar joins algorithms without a significant difference"
        ),
        "critical_difference_ranges": Caption(
            "Mean ranks with the critical difference", "algorithms differ significantly where bars do not overlap"
        ),
        "pvalues": Caption("p-values of all pairs", "darker is smaller"),
        "critical_difference_wilcoxon": Caption(
            "Mean ranks, with pairs tested by their own results",
            "rank 1, the best, is at the right; a bar joins algorithms without a significant difference by Wilcoxon's "
            "test with Holm's correction",
        ),
        "comparison_matrix": Caption(
            "All pairs", "mean difference, row minus column; blue: the row is better; significant pairs have a dot"
        ),
        "performance_profile": Caption(
            "Performance profiles", "share of data sets on which an algorithm is within a distance of the best"
        ),
        "rank_distribution": Caption("Ranks on each data set", "with the mean rank of each algorithm"),
        "null": Caption(
            "The first test",
            "the statistic's distribution if nothing differs, its rejection region, the observed value",
        ),
    },
    "bias-variance": {"bias_variance": Caption("Bias and variance", "parts of the expected loss")},
}
CAPTIONS = {name: caption for several in PICTURES.values() for name, caption in several.items()}


def names_of(command: str) -> list[str]:
    """Return the names of the pictures that a command may draw."""
    return [name for commands, several in PICTURES.items() if command in commands.split() for name in several]
