"""The verdict on models: which is best or how each compares with a reference, by how much, and with what interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fastevals._text import format_ends, format_number, format_pvalue, printable
from fastevals.measure.registry import metric_title
from fastevals.results import NOWHERE, Interval
from fastevals.show.report.intervals import Intervals, ModelDifference, is_greater_better

INDEPENDENT = (
    "Rows are treated as independent. If some are clustered, such as several rows of a patient, the intervals are too "
    "narrow: name the column of clusters with {}."
)


MOST_AGAINST = 4  # models that sentences compare with the reference


class ComparedModels(NamedTuple):
    """Models by their metrics, with intervals and differences where there are some."""

    values: Mapping[str, Mapping[str, float]]  # by model and metric
    intervals: Intervals | None
    confidence: float | None  # level of the intervals
    reference: str | None = None  # the model that the others are compared with; None if all pairs are compared

    def best(self, metric: str) -> list[str]:
        """Return the models for which a metric is defined, the best first."""
        sign = -1 if is_greater_better(metric) else 1
        defined = [name for name, metrics in self.values.items() if not math.isnan(metrics[metric])]
        return sorted(defined, key=lambda name: sign * self.values[name][metric])

    def others(self, metric: str) -> list[str]:
        """Return the models other than the reference for which a metric is defined, the best first."""
        return [name for name in self.best(metric) if name != self.reference]

    def leading_pair(self, metric: str) -> list[str]:
        """Return the two best models, or the best of the others and the reference; fewer if a metric is undefined."""
        return self.best(metric)[:2] if self.reference is None else [*self.others(metric)[:1], self.reference]

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


def metric_sentences(models: ComparedModels, metric: str) -> list[str]:
    """Say which model is best by a metric or, given a reference, how each of the others compares with it."""
    return [best_sentence(models, metric)] if models.reference is None else reference_sentences(models, metric)


def reference_sentences(models: ComparedModels, metric: str) -> list[str]:
    """Say how each model compares with the reference by a metric, the best model first."""
    title, reference, others = metric_title(metric), models.reference, models.others(metric)
    assert reference is not None
    said = [f"{printable(reference)}'s {title} is {models.value_text(reference, metric)}."]
    if math.isnan(models.values[reference][metric]):
        said = [f"{printable(reference)}'s {title} is undefined."]
    for name in others[:MOST_AGAINST]:
        each = models.difference(metric, name, reference)
        against = "" if each is None else f"; {reference_clause(models, each, reference)}"
        said.append(f"{printable(name)}'s {title} is {shown(models.values[name][metric])}{against}.")
    if len(others) > MOST_AGAINST:
        n = len(others) - MOST_AGAINST
        said.append(f"{n} more model{'s' * (n != 1)}: see the tables.")
    return said if others else [*said, "No other model has one."]


def reference_clause(models: ComparedModels, each: ModelDifference, reference: str) -> str:
    """Say how a model's metric differs from the reference's, given the model's metric minus the reference's."""
    if not differs(each):
        return f"no significant difference from {printable(reference)} {models.bracketed(each)}"
    more, by = ("higher", each) if each.value > 0 else ("lower", each.negated())
    return f"it is {more} than {printable(reference)}'s by {models.difference_text(by)}"


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
    """Say how the leading pair differs in other metrics; "" if nothing is known. `where` opens the sentence."""
    pair = models.leading_pair(ranked_by)
    if len(pair) < 2:
        return ""
    best, other = pair
    different: list[str] = []
    same, second = [], f" than {printable(other)}'s"
    for metric in metrics:
        each = models.difference(metric, best, other)
        if each is None or math.isnan(each.interval.low):
            continue
        if not differs(each):
            same.append(f"{metric_title(metric)} {models.bracketed(each)}")
            continue
        more, by = ("higher", each) if each.value > 0 else ("lower", each.negated())
        whose, than = ("its", "") if different else (f"{printable(best)}'s", second)
        different.append(f"{whose} {metric_title(metric)} is {more}{than} by {models.difference_text(by)}")
    between = "" if different else f" between {printable(best)} and {printable(other)}"
    none = [f"no significant difference{between} in {listed(same)}"] if same else []
    sentence = "; ".join([*([listed(different)] if different else []), *none])
    if not sentence:
        return ""
    return f"{where}, {sentence}." if where else f"{sentence if different else 'N' + sentence[1:]}."


def differs(each: ModelDifference) -> bool:
    """Return whether the interval of a difference excludes zero."""
    return each.interval.low > 0 or each.interval.high < 0


def describe_pairs(reference: str | None, n_pairs: int | None = None) -> str:
    """Return the pairs of models that are compared in words, with their number if it is given."""
    n = "" if n_pairs is None else f"{n_pairs} "
    return f"all {n}pairs" if reference is None else f"the {n}pairs with {printable(reference)}"


def describe_reference(reference: str) -> str:
    """Say which model is the reference, and what differences are."""
    return f"{printable(reference)}; each difference is another model minus {printable(reference)}"


def level_sentence(intervals: Intervals | None, reference: str | None = None) -> str:
    """Say over how many pairs intervals of differences are simultaneous, or that there are no intervals."""
    if intervals is None or not intervals.differences:
        return "Without intervals of differences, these data don't show whether the models differ by more than chance."
    n_pairs = len(intervals.differences)
    if n_pairs == 1:
        return ""
    pairs = describe_pairs(reference, n_pairs)
    return f"Intervals and p-values of differences are simultaneous over {pairs} (max-T), metric by metric."


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
