"""What a comparison of models comes to, in sentences: which is best, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fastevals._text import format_ends, printable
from fastevals.results import NOWHERE, Interval
from fastevals.show.report.intervals import Intervals, ModelDifference, is_greater_better, metric_title

INDEPENDENT = (
    "Rows are taken as independent. Where some belong together (of a patient, a user), intervals are too narrow: {} "
    "draws those together."
)


class ComparedModels(NamedTuple):
    """Models by their metrics, with intervals and differences where there are some."""

    values: Mapping[str, Mapping[str, float]]  # by model and metric
    intervals: Intervals | None

    def best(self, metric: str) -> list[str]:
        """Return the models that have a metric, the best first."""
        sign = -1 if is_greater_better(metric) else 1
        defined = [name for name, metrics in self.values.items() if not math.isnan(metrics[metric])]
        return sorted(defined, key=lambda name: sign * self.values[name][metric])

    def interval(self, model: str, metric: str) -> Interval:
        """Return the interval of a model's metric."""
        return NOWHERE if self.intervals is None else self.intervals.models.get(model, {}).get(metric, NOWHERE)

    def advantage(self, metric: str, model: str, other: str) -> ModelDifference | None:
        """Return by how much a model is better than another: above zero where it is."""
        for one, reference, metrics in () if self.intervals is None else self.intervals.differences:
            if {one, reference} == {model, other} and metric in metrics:
                each = metrics[metric]
                return each if (one == model) == is_greater_better(metric) else each.negated()
        return None


def best_sentence(models: ComparedModels, metric: str) -> str:
    """Say how good the best model is by a metric, which some model has, and whether it is better than the others."""
    title, (best, *others) = metric_title(metric), models.best(metric)
    name, value = printable(best), models.values[best][metric]
    if len(models.values) == 1:
        return f"{name} has {_article(title)} {title} of {with_interval(value, models.interval(best, metric))}."
    most = "highest" if is_greater_better(metric) else "lowest"
    has_best = f"{name} has the {most} {title}, {with_interval(value)}"
    found = [(other, models.advantage(metric, best, other)) for other in others]
    known = [(other, each) for other, each in found if each is not None and not math.isnan(each.value)]
    if not known:
        values = [f"{printable(other)} {with_interval(models.values[other][metric])}" for other in others[:3]]
        return f"{has_best}; {listed(values)}." if values else f"{has_best}; no other model has one."
    better = [(other, each) for other, each in known if each.interval.low > 0]
    same = [printable(other) for other, each in known if not each.interval.low > 0]
    if not better:
        return f"{has_best}, but no difference from {listed(same)} is shown."
    other, nearest = min(better, key=lambda pair: pair[1].value)
    by = with_interval(nearest.value, nearest.interval)
    sentence = f"{name} is better than {printable(other)} on {title} by {by}"
    if len(better) > 1:
        sentence += f", and than {listed([printable(each) for each, _ in better if each is not other])} by more"
    return f"{sentence}; no difference from {listed(same)} is shown." if same else f"{sentence}."


def _article(title: str) -> str:
    return "an" if title[0] in "AEFMRaeiou" else "a"


def next_sentence(models: ComparedModels, ranked_by: str, metrics: Iterable[str], where: str = "") -> str:
    """Say on which other metrics the best model is better or worse than the next; `where` that is, if not everywhere.

    Nothing is said where there is nothing to compare.
    """
    best, *others = models.best(ranked_by)
    if not others:
        return ""
    better, not_shown = [], []
    for metric in metrics:
        each = models.advantage(metric, best, others[0])
        if each is None or math.isnan(each.interval.low):
            continue
        if each.interval.low <= 0 <= each.interval.high:
            not_shown.append(metric_title(metric))
        else:
            kind, by = ("better", each) if each.value > 0 else ("worse", each.negated())
            better.append(f"{kind} on {metric_title(metric)} by {with_interval(by.value, by.interval)}")
    second = printable(others[0])
    if not better and not not_shown:
        return ""
    if not better:
        sentence = f"no difference from {second} is shown on {listed(not_shown)}."
        return f"{where} {sentence}" if where else f"N{sentence[1:]}"
    rest = f"; on {listed(not_shown)} no difference is shown" if not_shown else ""
    return f"{where} {printable(best)} is {listed(better)} than {second}{rest}.".strip()


def level_sentence(intervals: Intervals | None, confidence: float | None) -> str:
    """Say at which level differences are judged, and over how many pairs; or that they are not."""
    if intervals is None or confidence is None or not intervals.differences:
        return "Without intervals of differences it can't be told whether that is more than chance."
    n_pairs = len(intervals.differences)
    together = "" if n_pairs == 1 else f" and hold for all {n_pairs} pairs of models at once"
    return f"Intervals of differences are at {100 * confidence:g} %{together}; each metric is judged by itself."


def with_interval(value: float, interval: Interval = NOWHERE) -> str:
    """Return a number to three decimals, or to three digits where it is small or large, and its interval."""
    size = abs(value)
    form = ".3f" if 0.01 <= size < 1000 or size == 0 else ".3g" if size < 0.01 else ",.0f" if size < 1e9 else ".3g"
    if math.isnan(interval.low):
        return format(value, form)
    return f"{value:{form}} [{', '.join(format_ends(interval, lambda end: format(end, form), 0.001))}]"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return names as one lists them, the first of many."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
