"""What a report comes to, in sentences: which model is best, by how much, how sure that is, and what may mislead."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fastevals._text import printable
from fastevals.measure.registry import SCORE_METRICS
from fastevals.results import Interval
from fastevals.show.commands import option
from fastevals.show.report.intervals import AUC, PROBABILITY_COLUMNS, ModelDifference
from fastevals.show.report.over_values import OverValues
from fastevals.show.report.report import ModelNumbers, Report, ReportBlock

AT_THRESHOLD = ("recall", "precision")  # compared at the chosen thresholds, beside what these are best by
BADLY_CALIBRATED = 0.05  # expected calibration error


def verdict(report: Report, block: ReportBlock) -> list[str]:
    """Return sentences on a block's models, the first on the ranking, the second on chosen thresholds."""
    models = [model for model in block.models if not math.isnan(model.metrics[AUC])]
    if not models:
        return ["A class is missing: nothing ranks positives above negatives, and no model is better than another."]
    greatest = max(models, key=lambda model: model.metrics[AUC])
    said = [_ranking_sentence(block, greatest, models)]
    if len(models) > 1 and block.intervals is not None and block.intervals.differences:
        said += [_threshold_sentence(report, block, greatest, models)]
        n_pairs = len(block.intervals.differences)
        if report.plan is not None:
            level = f"{100 * report.plan.confidence:g} %"
            together = "" if n_pairs == 1 else f" and hold for all {n_pairs} pairs of models at once"
            said.append(f"Intervals of differences are at {level}{together}; each metric is judged by itself.")
    elif len(models) > 1:
        said.append("Without intervals of differences it can't be told whether that is more than chance.")
    return said


def verdict_over(over: OverValues) -> str:
    """Return a sentence on the means over the values of --by."""
    title, n_values = SCORE_METRICS[AUC].title, len(over.values)
    means = {name: metrics[AUC] for name, metrics in over.metrics.items() if not math.isnan(metrics[AUC].mean)}
    if not means:
        return f"No value has both classes: no {title} is defined."
    greatest, auc = max(means.items(), key=lambda pair: float(pair[1].mean))
    interval = auc.mean_confidence_interval or Interval(math.nan, math.nan)
    said = f"{printable(greatest)} has a mean {title} of {_value(float(auc.mean), interval)} over {n_values:,} values"
    others = [f"{printable(name)} {each.mean:.3f}" for name, each in means.items() if name != greatest]
    return f"{said}; {_listed(others)}." if others else f"{said}."


def cautions(report: Report, block: ReportBlock) -> list[str]:
    """Return what may mislead, beyond what is said of intervals."""
    notes = []
    if report.best is not None:
        title = SCORE_METRICS[report.best].title
        notes.append(
            f"Thresholds were chosen on the rows they are judged on (best {title}): what depends on them looks better "
            "than it will be."
        )
    if report.plan is not None and report.roles.group is None:
        notes.append(
            "Rows are taken as independent. Where some belong together (of a patient, a user), intervals are too "
            f"narrow: {option('group')} draws those together."
        )
    error = PROBABILITY_COLUMNS[2]
    notes += [
        f"Scores of {printable(model.name)} are no good probabilities: they are off by {model.metrics[error]:.3f} on "
        "average (expected calibration error)."
        for model in block.models
        if model.metrics[error] > BADLY_CALIBRATED
    ]
    return notes


# Sentences ------------------------------------------------------------------------------------------------------------


def _ranking_sentence(block: ReportBlock, greatest: ModelNumbers, models: Sequence[ModelNumbers]) -> str:
    """Say how good the best ranking is, and whether it is better than the others."""
    title, name = SCORE_METRICS[AUC].title, printable(greatest.name)
    if len(models) == 1:
        return f"{name} has an {title} of {_value(greatest.metrics[AUC], _interval(block, greatest.name))}."
    found = [(other, _difference(block, greatest.name, other.name, AUC)) for other in models if other is not greatest]
    known = [(other, each) for other, each in found if each is not None]
    if not known:
        values = " and ".join(f"{printable(other.name)} {other.metrics[AUC]:.3f}" for other, _ in found[:3])
        return f"{name} has the highest {title}, {greatest.metrics[AUC]:.3f}; {values}."
    better = [(other, each) for other, each in known if each.interval.low > 0]
    same = [printable(other.name) for other, each in known if not each.interval.low > 0]
    if not better:
        highest = f"{name} has the highest {title}, {greatest.metrics[AUC]:.3f}"
        return f"{highest}, but no difference from {_listed(same)} is shown."
    other, nearest = min(better, key=lambda pair: pair[1].value)
    most = f"{name} is better than {printable(other.name)} on {title} by {_value(nearest.value, nearest.interval)}"
    if len(better) > 1:
        others = _listed([printable(each.name) for each, _ in better if each is not other])
        most += f", and than {others} by more"
    return f"{most}; no difference from {_listed(same)} is shown." if same else f"{most}."


def _threshold_sentence(
    report: Report, block: ReportBlock, greatest: ModelNumbers, models: Sequence[ModelNumbers]
) -> str:
    """Say what is shown at the chosen thresholds, of the best ranking against the next."""
    others = [model for model in models if model is not greatest]
    second = max(others, key=lambda model: model.metrics[AUC])
    metrics = list(dict.fromkeys([*([] if report.best is None else [report.best]), *AT_THRESHOLD]))
    shown, not_shown = [], []
    for metric in metrics:
        each = _difference(block, greatest.name, second.name, metric)
        title = SCORE_METRICS[metric].title
        if each is None or math.isnan(each.interval.low):
            continue
        if each.interval.low <= 0 <= each.interval.high:
            not_shown.append(title)
        else:
            is_better = (each.value > 0) == SCORE_METRICS[metric].greater_is_better
            size = _value(abs(each.value), _turned(each.interval, each.value))
            shown.append(f"{'better' if is_better else 'worse'} on {title} by {size}")
    names = f"{printable(greatest.name)} is", f"than {printable(second.name)}"
    if not shown and not not_shown:
        return "At the chosen thresholds nothing can be compared."
    if not shown:
        return f"At the chosen thresholds no difference from {printable(second.name)} is shown on {_listed(not_shown)}."
    rest = f"; on {_listed(not_shown)} no difference is shown" if not_shown else ""
    return f"At the chosen thresholds {names[0]} {_listed(shown)} {names[1]}{rest}."


def _turned(interval: Interval, value: float) -> Interval:
    return interval if value > 0 else Interval(-interval.high, -interval.low)


def _difference(block: ReportBlock, model: str, other: str, metric: str) -> ModelDifference | None:
    """Return a metric of a model less that of another."""
    if block.intervals is None:
        return None
    for one, reference, metrics in block.intervals.differences:
        if {one, reference} == {model, other} and metric in metrics:
            each = metrics[metric]
            if one == model:
                return each
            return ModelDifference(-each.value, Interval(-each.interval.high, -each.interval.low), each.pvalue)
    return None


def _interval(block: ReportBlock, model: str) -> Interval:
    missing = Interval(math.nan, math.nan)
    return missing if block.intervals is None else block.intervals.models.get(model, {}).get(AUC, missing)


def _value(value: float, interval: Interval) -> str:
    if math.isnan(interval.low):
        return f"{value:.3f}"
    return f"{value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _listed(names: Sequence[str], most: int = 4) -> str:
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
