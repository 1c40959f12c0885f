"""All pictures that commands draw: by what draws them, what stands above each on pages."""

from __future__ import annotations

from fastevals.document.document import Caption
from fastevals.measure.curves.registry import CURVES

PICTURES: dict[str, dict[str, Caption]] = {  # by the commands that draw them
    "report": {
        **{name: Caption(entry.title, entry.caption) for name, entry in CURVES.items()},
        "scores": Caption("Scores", "of positives (orange) and negatives (blue), as shares of each"),
        "confusion": Caption("Confusion matrix", "counts, and shares of the true class"),
        "errors": Caption("Errors", "predictions less targets, in bins: the outer ones have all beyond; dashed: none"),
        "within": Caption("Errors within a size", "share of rows with an error of at most that size"),
        "means": Caption("Predicted and observed", "means of each tenth of the rows, by predictions; dashed: equal"),
        "groups": Caption("By group", "dashed: the mean; orange: the interval leaves it out"),
    },
    "report compare": {
        "intervals": Caption("Metrics and their intervals", "the best at the top", of_axis=True),
        "differences": Caption("Differences of models", "orange: the interval leaves out zero", of_axis=True),
    },
    "compare": {
        "critical_difference": Caption(
            "Mean ranks", "1, the best, at the right; a bar joins what is not shown to differ"
        ),
        "critical_difference_ranges": Caption(
            "Mean ranks, with the critical difference", "bars that don't overlap differ"
        ),
        "pvalues": Caption("p-values", "the darker, the smaller"),
        "null": Caption(
            "The first test", "its statistic if nothing differed, where that is rejected, and what was seen"
        ),
    },
    "bias-variance": {"bias_variance": Caption("Bias and variance", "parts of the expected loss")},
}
CAPTIONS = {name: caption for several in PICTURES.values() for name, caption in several.items()}


def names_of(command: str) -> list[str]:
    """Return the names of the pictures that a command may draw."""
    return [name for commands, several in PICTURES.items() if command in commands.split() for name in several]
