"""What a report comes to, in sentences: which model is best, by how much, how sure that is, and what may mislead."""

from __future__ import annotations

import math

from fastevals._naming import option
from fastevals._text import printable
from fastevals.measure.registry import SCORE_METRICS
from fastevals.results import Interval
from fastevals.show.plots.style import is_drawable
from fastevals.show.report.data import ReportBlock, ReportData
from fastevals.show.report.intervals import values_of
from fastevals.show.report.kinds import AUC, REPORT_KINDS
from fastevals.show.report.over_values import OverValues
from fastevals.show.verdict import (
    INDEPENDENT,
    ComparedModels,
    best_sentence,
    level_sentence,
    listed,
    next_sentence,
    with_interval,
)

AT_THRESHOLD = ("recall", "precision")  # compared at the chosen thresholds, beside what these are best by
CALIBRATION_ERROR = "expected_calibration_error"
BADLY_CALIBRATED = 0.05  # where it is more
REVERSED = 0.3  # AUC below which scores surely rank the other way


def verdict(report: ReportData, block: ReportBlock) -> list[str]:
    """Return sentences on a block's models: on what ranks them first, then on other metrics."""
    kind = REPORT_KINDS[report.roles.kind]
    models = ComparedModels(values_of(block.models), block.intervals)
    ranked_by = next((name for name in kind.ranked_by if name in report.metrics and models.best(name)), None)
    if ranked_by is None:
        return [kind.undefined]
    said = [best_sentence(models, ranked_by)]
    if len(models.best(ranked_by)) > 1:
        others, where = [name for name in report.metrics if name != ranked_by], ""
        if report.roles.kind == "scores":
            others, where = [*([] if report.best is None else [report.best]), *AT_THRESHOLD], "At the chosen thresholds"
        said.append(next_sentence(models, ranked_by, dict.fromkeys(others), where))
        said.append(level_sentence(block.intervals, None if report.plan is None else report.plan.confidence_level))
    return list(filter(None, said))


def verdict_over(over: OverValues) -> str:
    """Return a sentence on the means over the values of --by."""
    title, n_values = SCORE_METRICS[AUC].title, len(over.values)
    means = {name: metrics[AUC] for name, metrics in over.metrics.items() if not math.isnan(metrics[AUC].mean)}
    if not means:
        return f"No value has both classes: no {title} is defined."
    greatest, auc = max(means.items(), key=lambda pair: float(pair[1].mean))
    interval = auc.mean_confidence_interval or Interval(math.nan, math.nan)
    mean = with_interval(float(auc.mean), interval)
    said = f"{printable(greatest)} has a mean {title} of {mean} over {n_values:,} values"
    others = [f"{printable(name)} {each.mean:.3f}" for name, each in means.items() if name != greatest]
    return f"{said}; {listed(others)}." if others else f"{said}."


def page_cautions(report: ReportData, block: ReportBlock) -> list[str]:
    """Return what may mislead, beyond what is said of intervals."""
    notes = []
    if report.best is not None:
        title = SCORE_METRICS[report.best].title
        notes.append(
            f"Thresholds were chosen on the rows they are judged on (best {title}): what depends on them looks better "
            "than it will be."
        )
    if report.plan is not None and report.roles.groups is None:
        notes.append(INDEPENDENT.format(option("groups")))
    if report.roles.kind != "scores":
        return notes
    notes += [
        f"Scores of {printable(model.name)} are no good probabilities: they are off by "
        f"{model.metrics[CALIBRATION_ERROR]:.3f} on average (expected calibration error)."
        for model in block.models
        if model.metrics[CALIBRATION_ERROR] > BADLY_CALIBRATED
    ]
    reversed_ones = [printable(model.name) for model in block.models if model.metrics[AUC] < REVERSED]
    if reversed_ones:
        notes.append(
            f"{SCORE_METRICS[AUC].title} of {listed(reversed_ones)} is far below 0.5: low scores mean positive, or "
            f"{option('pos_label')} names the other class."
        )
    return [*notes, *_not_shown(block)]


def _not_shown(block: ReportBlock) -> list[str]:
    """Return which pictures or numbers a block lacks because it has no probabilities, or kept no rows."""
    counted = [model for model in block.models if model.counts is not None]
    notes = []
    others = [printable(model.name) for model in block.models if math.isnan(model.metrics[CALIBRATION_ERROR])]
    if others and not any(math.isnan(model.metrics[AUC]) for model in block.models):
        notes.append(
            f"Scores of {listed(others)} are no probabilities: Brier score, log loss, calibration and net benefit are "
            "not measured."
        )
    missing = []
    if not all(is_drawable(model.counts.thresholds[1:][[0, -1]]) for model in counted if model.counts is not None):
        missing.append("histograms of scores")
    if any(model.calibration is None and not math.isnan(model.metrics[CALIBRATION_ERROR]) for model in counted):
        missing += ["calibration", "net benefit"]
    if missing:
        notes.append(f"What was kept of the rows doesn't tell the pictures of {listed(missing)}: they are not drawn.")
    return notes
