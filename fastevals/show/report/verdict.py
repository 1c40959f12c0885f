"""The verdict of a report in sentences, and its caveats."""

from __future__ import annotations

import math

from fastevals._naming import option
from fastevals._text import describe_by, printable
from fastevals.infer.costs.decisions import BEST, FIXED, cost_sentences
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.registry import SCORE_METRICS, metric_title
from fastevals.results import NOWHERE
from fastevals.show.plots.style import is_drawable
from fastevals.show.report.data import ReportBlock, ReportData
from fastevals.show.report.intervals import values_of
from fastevals.show.report.kinds import AUC, REPORT_KINDS
from fastevals.show.report.over_values import OverValues
from fastevals.show.verdict import (
    INDEPENDENT,
    ComparedModels,
    differs,
    level_sentence,
    listed,
    metric_sentences,
    next_sentence,
    with_interval,
)

AT_THRESHOLD = ("recall", "precision")  # compared at the chosen thresholds, after the metric that chose them
CALIBRATION_ERROR = "expected_calibration_error"
REVERSED = 0.3  # AUC below which scores certainly rank in reverse


def verdict(report: ReportData, block: ReportBlock) -> list[str]:
    """Return sentences on a block's models: first on the metric that ranks them, then on other metrics."""
    kind = REPORT_KINDS[report.roles.kind]
    confidence = None if report.plan is None else report.plan.confidence_level
    models = ComparedModels(values_of(block.models), block.intervals, confidence, report.reference)
    ranked_by = next((name for name in kind.ranked_by if name in report.metrics and models.best(name)), None)
    if ranked_by is None:
        return [kind.undefined]
    rule = FIXED if report.best is None else BEST
    said = [] if block.costs is None else cost_sentences(block.costs, rule, report.reference)
    said += metric_sentences(models, ranked_by)
    if len(models.best(ranked_by)) > 1:
        others, where = [name for name in report.metrics if name != ranked_by], ""
        if report.roles.kind == "probabilities":  # which has several averages of one metric
            others = [name for name in (*kind.forests, *kind.ranked_by) if name != ranked_by]
        if report.roles.kind == "scores":
            others, where = [*([] if report.best is None else [report.best]), *AT_THRESHOLD], "At the chosen thresholds"
        said.append(next_sentence(models, ranked_by, dict.fromkeys(others), where))
        said.append(level_sentence(block.intervals, report.reference))
    said += _other_sentences(report, block, ranked_by, confidence)
    return list(filter(None, said))


def _other_sentences(report: ReportData, block: ReportBlock, metric: str, confidence: float | None) -> list[str]:
    """Say for each model whether a metric differs from its own on the rows of --against."""
    if report.against is None:
        return []
    where, ranked_by = printable(report.against.name), REPORT_KINDS[report.roles.kind].ranked_by
    said = []
    for pair in block.against:
        metric = next((name for name in (metric, *ranked_by) if name in pair.metrics), metric)
        each, title = pair.metrics.get(metric), metric_title(metric)
        if each is None or math.isnan(each.value):
            continue
        name = printable(pair.model)
        if not differs(each):
            text = ComparedModels({}, None, confidence).bracketed(each)
            said.append(f"No significant difference between {name}'s {title} and its {title} in {where} {text}.")
            continue
        more, by = ("higher", each) if each.value > 0 else ("lower", each.negated())
        text = with_interval(by.value, by.interval, confidence, by.pvalue)
        said.append(f"{name}'s {title} is {more} than in {where} by {text}.")
    return said


def verdict_over(report: ReportData, over: OverValues) -> str:
    """Return a sentence on the means over the values of --by."""
    title, plan = SCORE_METRICS[AUC].title, report.plan
    of_values = f"{len(over.values):,} values" + (f" of {describe_by(over.by)}" if len(report.roles.by) > 1 else "")
    means = {name: metrics[AUC] for name, metrics in over.metrics.items() if not math.isnan(metrics[AUC].mean)}
    if not means:
        return f"No value has both classes: no {title} is defined."
    greatest, auc = max(means.items(), key=lambda pair: float(pair[1].mean))
    if report.reference in means:
        greatest, auc = report.reference, means[report.reference]
    interval = auc.mean_confidence_interval or NOWHERE
    mean = with_interval(float(auc.mean), interval, None if plan is None else plan.confidence_level)
    others = [f"{printable(name)} has {each.mean:.4f}" for name, each in means.items() if name != greatest]
    if not others:
        return f"{printable(greatest)}'s mean {title} over {of_values} is {mean}."
    if greatest == report.reference:
        return f"{printable(greatest)} has a mean {title} over {of_values} of {mean}; {listed(others)}."
    return f"{printable(greatest)} has the highest mean {title} over {of_values}, {mean}; {listed(others)}."


def page_cautions(report: ReportData, block: ReportBlock) -> list[str]:
    """Return the caveats of a page beyond those on intervals."""
    notes = []
    if report.best is not None:
        title = SCORE_METRICS[report.best].title
        notes.append(
            f"Each model's threshold was chosen on these same rows (best {title}), so the metrics at it are "
            "optimistic: choose thresholds on other rows."
        )
    if report.plan is not None and report.roles.groups is None:
        notes.append(INDEPENDENT.format(option("groups")))
    if report.roles.kind != "scores":
        return notes
    reversed_ones = [printable(model.name) for model in block.models if model.metrics[AUC] < REVERSED]
    if reversed_ones:
        notes.append(
            f"{SCORE_METRICS[AUC].title} of {listed(reversed_ones)} is far below 0.5: if low scores mean positive, "
            f"negate them; otherwise {option('pos_label')} may name the wrong class."
        )
    return [*notes, *_not_shown(block)]


def _not_shown(block: ReportBlock) -> list[str]:
    """Say which pictures or metrics a block lacks because scores aren't probabilities, or rows weren't kept."""
    counted = [model for model in block.models if model.counts is not None]
    notes = []
    others = [printable(model.name) for model in block.models if math.isnan(model.metrics[CALIBRATION_ERROR])]
    if others and not any(math.isnan(model.metrics[AUC]) for model in block.models):
        notes.append(
            f"Scores of {listed(others)} are outside [0, 1], so Brier score, log loss, calibration and net benefit "
            "are not measured: they need probabilities."
        )
    missing = []
    if not all(is_drawable(model.counts.thresholds[1:][[0, -1]]) for model in counted if model.counts is not None):
        missing.append("histograms of scores")
    probable = [model for model in counted if not math.isnan(model.metrics[CALIBRATION_ERROR])]
    of_probabilities = [entry for entry in CURVES.values() if entry.needs == "probabilities"]
    missing += [
        entry.title.lower() for entry in of_probabilities if any(entry.name not in model.curves for model in probable)
    ]
    if missing:
        notes.append(f"Pictures of {listed(missing)} are not drawn: they need the rows, and only counts were kept.")
    return notes
