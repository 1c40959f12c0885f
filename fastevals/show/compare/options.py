"""What goes together among a comparison's options: asked by its command, before NumPy is imported, and by its call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fastevals._naming import option

PostHoc = Literal["nemenyi", "bonferroni-dunn", "holm", "hochberg", "benjamini-hochberg", "wilcoxon"]
RESULTS_OPTIONS = ("dataset", "algorithm", "by", "lower_is_better", "control", "posthoc")
PREDICTIONS_OPTIONS: tuple[str, ...] = ("pred", "method", "n_resamples", "rng", "groups", "pos_label", "progress")


def check_options(data: Any, options: Mapping[str, Any]) -> None:
    """Raise unless options go with what is compared, results or predictions, and with each other."""
    label, control, posthoc = (options[name] for name in ("label", "control", "posthoc"))
    if label is None:
        kind, others, instead = f"predictions, which need {option('label')}", PREDICTIONS_OPTIONS, "results"
    else:
        kind, others, instead = "results", RESULTS_OPTIONS, "predictions"
    for name in others:
        if options[name] is not None and options[name] is not False:
            raise ValueError(f"{option(name)} goes with {kind}; this is a comparison of {instead}")
    if label is not None:
        if data is None:
            raise ValueError(f"{option('label')} goes with a FILE of predictions")
        if len(options["pred"] or []) < 2:
            raise ValueError(
                f"{option('pred')} must be given twice or more: it names the column of a model's predictions"
            )
    elif control is not None and posthoc == "nemenyi":
        raise ValueError(f"{option('posthoc', posthoc)} compares all pairs; with {option('control')} take another")
    elif control is None and posthoc == "bonferroni-dunn":
        raise ValueError(f"{option('posthoc', posthoc)} needs {option('control')}")
