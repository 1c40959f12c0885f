"""The verdict on models: which is best, by how much, and with what interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fastevals._text import format_ends, format_number, format_pvalue, printable
from fastevals.results import NOWHERE, Interval
from fastevals.show.report.intervals import Intervals, ModelDifference, is_greater_better, metric_title

INDEPENDENT = (
    "Rows are treated as independent. If some are clustered, such as several rows of a patient, the intervals are too "
    "narrow: name the column of clusters with {}."
)


class ComparedModels(NamedTuple):
    """Models by their metrics, with intervals and differences where there are some."""

    values: Mapping[str, Mapping[str, float]]  # by model and metric
    intervals: Intervals | None
    confidence: float | None  # level of the intervals

    def best(self, metric: str) -> list[str]:
        """Return the models for which a metric is defined, the best first."""
        sign = -1 if is_greater_better(metric) else 1
        defined = [name for name, metrics in self.values.items() if not math.isnan(metrics[metric])]
        return sorted(defined, key=lambda name: sign * self.values[name][metric])

    def difference(self, metric: str, model: str, other: str) -> ModelDifference | None:
        """Return a model's metric minus another's, with its interval."""
        for one, reference, metrics in () if self.intervals is None else self.intervals.differences:
            if {one, reference} == {model, other} and metric in metrics:
                each = metrics[metric]
                return None if math.isnan(each.value) else each if one == model else each.negated()
        return None

    def value_text(self, model: str, metric: str) -> str:
        """Return a model's metric in words, with its interval."""
        interval = NOWHERE if self.intervals is None else self.intervals.models.get(model, {}).get(metric, NOWHERE)
        return with_interval(self.values[model][metric], interval, self.confidence)

    def difference_text(self, each: ModelDifference) -> str:
        """Return a difference in words, with its interval and p-value."""
        return with_interval(each.value, each.interval, self.confidence, each.pvalue)

    def bracketed(self, each: ModelDifference) -> str:
        """Return a difference in brackets, with its interval and p-value."""
        return f"({self.difference_text(each).replace(' (', ', ', 1).removesuffix(')')})"


def best_sentence(models: ComparedModels, metric: str) -> str:
    """Say which model is best by a metric, and whether it is significantly better than each of the others."""
    title, (best, *others) = metric_title(metric), models.best(metric)
    name, value = printable(best), shown(models.values[best][metric])
    if len(models.values) == 1:
        return f"{name}'s {title} is {models.value_text(best, metric)}."
    most, more = ("highest", "higher") if is_greater_better(metric) else ("lowest", "lower")
    has_best = f"{name} has the {most} {title}, {value}"
    known = {other: each for other in others if (each := models.difference(metric, best, other)) is not None}
    if not known:
        values = [f"{printable(other)} has {shown(models.values[other][metric])}" for other in others]
        return f"{has_best}; {listed(values, 3)}." if values else f"{has_best}; no other model has one."
    better = {other: each for other, each in known.items() if differs(each)}
    same = [f"{printable(other)} {models.bracketed(each)}" for other, each in known.items() if other not in better]
    none = f"; no significant difference from {listed(same)}" if same else ""
    if not better:
        return f"{has_best}{none}."
    by = [
        f"than {printable(other)}'s by {models.difference_text(each if each.value > 0 else each.negated())}"
        for other, each in better.items()
    ]
    return f"{name}'s {title} is {more} {listed(by)}{none}."


def next_sentence(models: ComparedModels, ranked_by: str, metrics: Iterable[str], where: str = "") -> str:
    """Say how the two best models differ in other metrics; "" if nothing is known. `where` opens the sentence."""
    best, *others = models.best(ranked_by)
    if not others:
        return ""
    different: list[str] = []
    same, second = [], f" than {printable(others[0])}'s"
    for metric in metrics:
        each = models.difference(metric, best, others[0])
        if each is None or math.isnan(each.interval.low):
            continue
        if not differs(each):
            same.append(f"{metric_title(metric)} {models.bracketed(each)}")
            continue
        more, by = ("higher", each) if each.value > 0 else ("lower", each.negated())
        whose, than = ("its", "") if different else (f"{printable(best)}'s", second)
        different.append(f"{whose} {metric_title(metric)} is {more}{than} by {models.difference_text(by)}")
    pair = "" if different else f" between {printable(best)} and {printable(others[0])}"
    none = [f"no significant difference{pair} in {listed(same)}"] if same else []
    sentence = "; ".join([*([listed(different)] if different else []), *none])
    if not sentence:
        return ""
    return f"{where}, {sentence}." if where else f"{sentence if different else 'N' + sentence[1:]}."


def differs(each: ModelDifference) -> bool:
    """Return whether the interval of a difference excludes zero."""
    return each.interval.low > 0 or each.interval.high < 0


def level_sentence(intervals: Intervals | None) -> str:
    """Say over how many pairs intervals of differences are simultaneous, or that there are no intervals."""
    if intervals is None or not intervals.differences:
        return "Without intervals of differences, these data don't show whether the models differ by more than chance."
    n_pairs = len(intervals.differences)
    if n_pairs == 1:
        return ""
    return f"Intervals and p-values of differences are simultaneous over all {n_pairs} pairs (max-T), metric by metric."


def with_interval(value: float, interval: Interval, confidence: float | None, pvalue: float = math.nan) -> str:
    """Return a number with its interval and p-value, if it has them."""
    beside = []
    if confidence is not None and not math.isnan(interval.low):
        beside.append(f"{100 * confidence:.6g} % interval {' to '.join(format_ends(interval))}")
    if not math.isnan(pvalue):
        beside.append(pvalue_text(pvalue))
    return f"{shown(value)} ({'; '.join(beside)})" if beside else shown(value)


def shown(value: float) -> str:
    """Return a number to four decimals, or a small one to three digits."""
    return f"{value:.3g}" if 0 < abs(value) < 0.0001 else format_number(value)


def pvalue_text(pvalue: float) -> str:
    """Return a p-value in words, such as "p = 0.02"."""
    text = format_pvalue(pvalue)
    return f"p {text[0]} {text[1:]}" if text.startswith("<") else f"p = {text}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return names as a list in words; of many names, only the first few."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
