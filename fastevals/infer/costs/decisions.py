"""Results of costs that differ by row: what decisions cost by each rule, and the same in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fastevals._text import printable, shorten_names
from fastevals.counts import ThresholdCounts
from fastevals.document.document import Document, Section, Sentence
from fastevals.document.frames import Columns, from_rows
from fastevals.infer.bootstrap.bootstrap import Estimate
from fastevals.infer.comparison import Difference
from fastevals.measure.curves.cost import CostCurve
from fastevals.results import Alternative, ByModel, Frozen

BEST, FIXED, PER_ROW, NONE, ALL = "best threshold", "threshold", "per-row rule", "none", "all"  # rules
LARGEST_WRITTEN_OUT = 1e15  # amounts from here on have an exponent
ESTIMATES = "total", "savings", "savings_share", "savings_over_all", "savings_over_all_share"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DecisionCost(Frozen):
    """What decisions by one rule cost, and what they save compared with predicting no row, or all rows, positive.

    Attributes
    ----------
    rule : str
        "best threshold" (with the lowest total cost on these rows), "threshold", "per-row rule", "none" or "all".
    threshold : float
        Rows with ``score >= threshold`` are predicted positive; +inf predicts none. NaN for the per-row rule, which has
        no threshold.
    n_predicted : int
        Number of rows predicted positive.
    total, mean : Estimate
        Total cost of the rows, and cost per row.
    savings, savings_share : Estimate
        Cost of predicting no row positive minus the total, which is the profit of using the model; and this profit as a
        share of the cost of predicting no row positive.
    savings_over_all, savings_over_all_share : Estimate
        Cost of predicting all rows positive minus the total; and this difference as a share of the cost of predicting
        all rows positive.
    """

    rule: str
    threshold: float
    n_predicted: int
    total: Estimate
    mean: Estimate
    savings: Estimate
    savings_share: Estimate
    savings_over_all: Estimate
    savings_over_all_share: Estimate

    def __repr__(self) -> str:
        at = "" if math.isnan(self.threshold) else f", threshold={self.threshold:.6g}"
        return f"DecisionCost({self.rule!r}{at}, total={self.total!r})"

    def _columns(self) -> Columns:
        return from_rows([self._row()])

    def _row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"rule": self.rule, "threshold": self.threshold, "n_predicted": self.n_predicted}
        for name in ESTIMATES:
            each = getattr(self, name)
            row |= {name: each.value, f"{name}_low": each.confidence_interval.low}
            row[f"{name}_high"] = each.confidence_interval.high
            if name == "total":
                row["mean"] = self.mean.value
        return row


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelCosts(Frozen):
    """What one model's decisions cost, by each rule.

    Attributes
    ----------
    best : DecisionCost
        At the threshold with the lowest total cost on these rows.
    fixed : DecisionCost or None
        At the given threshold; None if none is given.
    per_row : DecisionCost or None
        By the per-row rule; None if it is not measured.
    """

    best: DecisionCost
    fixed: DecisionCost | None
    per_row: DecisionCost | None
    _counts: ThresholdCounts  # of money: gains as positives, losses as negatives

    def cost_curve(self) -> CostCurve:
        """Return the cost curve by amount, in which each row is weighted by the amount at stake in it.

        PC(+) is the positive rows' share of the amount at stake: on these rows, the sum of the amounts at stake in
        positive rows, divided by the sum over all rows.
        """
        return CostCurve(self._counts)

    def _decisions(self) -> tuple[DecisionCost, ...]:
        """Return the costs by all rules that were measured."""
        return tuple(each for each in (self.best, self.fixed, self.per_row) if each is not None)

    def __repr__(self) -> str:
        return "\n  ".join(["ModelCosts(", *(f"{each!r}," for each in self._decisions())]) + ")"

    def _columns(self) -> Columns:
        return from_rows([each._row() for each in self._decisions()])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowCosts(ByModel[ModelCosts]):
    """Result of `row_costs`: a mapping from each model to its `ModelCosts`.

    Attributes
    ----------
    models : dict of model to ModelCosts
        The mapping's items.
    none, all : DecisionCost
        The cost of predicting no row positive, and the cost of predicting all rows positive.
    differences : dict of rule to tuple of Difference
        Differences of the models' total costs by each rule ("best threshold", "threshold", "per-row rule"); intervals
        are simultaneous over the pairs.
    n_samples, n_positives : int
        Number of rows, and of positive rows.
    cautions : tuple of str
        How far to trust the numbers.
    pos_label : label
        The positive class.
    n_resamples : int
        Number of bootstrap replicates.
    confidence_level : float
        Level of the intervals.
    alternative : str
        Side of the intervals and of tests: "two-sided", "less" or "greater".
    conclusion : str
        The verdict, in sentences.

    Examples
    --------
    >>> import fastevals
    >>> import numpy as np
    >>> y_true = np.arange(40) % 4 == 0
    >>> scores = {"a": y_true + np.arange(40) % 7 / 5, "b": y_true + np.arange(40) % 5 / 3}
    >>> found = fastevals.row_costs(y_true, scores, cost_fn=np.arange(40) % 9 + 1, n_resamples=99, rng=0)
    >>> found["a"].best.total.value, found.none.total.value, found.differences["best threshold"][0].value
    (7.0, 46.0, -3.0)
    """

    none: DecisionCost
    all: DecisionCost
    differences: dict[str, tuple[Difference, ...]]
    n_samples: int
    n_positives: int
    cautions: tuple[str, ...]
    pos_label: Any
    n_resamples: int
    confidence_level: float
    alternative: Alternative

    def __repr__(self) -> str:
        return self.to_text().rstrip()

    def _title(self) -> str:
        rows = f"{self.n_samples:,} row{'s' * (self.n_samples != 1)}"
        return f"Costs of decisions: {rows}, {self.n_positives:,} positive"

    @property
    def conclusion(self) -> str:
        """The lowest total cost, and how it differs from the others, in words."""
        return " ".join(cost_sentences(self))

    def _columns(self) -> Columns:
        return from_rows([{"model": model, **each._row()} for model, each in self._decisions()])

    def _decisions(self) -> Iterator[tuple[Any, DecisionCost]]:
        """Yield models' names with their costs by each rule, then None with the costs of the two trivial decisions."""
        for model, costs in self.models.items():
            yield from ((model, each) for each in costs._decisions())
        yield from ((None, each) for each in (self.none, self.all))

    def _shown_columns(self) -> Columns:
        names = dict(zip(self.models, shorten_names(self.models), strict=True))
        rows = []
        for model, each in self._decisions():
            is_none = each.rule == NONE
            rows.append(
                {
                    "decision": f"predict {each.rule}" if model is None else f"{names[model]}: {each.rule}",
                    "threshold": "" if math.isnan(each.threshold) else f"{each.threshold:.6g}",
                    "predicted": f"{each.n_predicted:,}",
                    "total cost": money(each.total.value),
                    "from": money(each.total.confidence_interval.low),
                    "to": money(each.total.confidence_interval.high),
                    "savings": "" if is_none else money(each.savings.value),
                    "share": "" if is_none else share_text(each.savings_share),
                }
            )
        return from_rows(rows)

    def _document(self) -> Document:
        return with_cautions(Frozen._document(self), self.cautions)


# Words ----------------------------------------------------------------------------------------------------------------


def with_cautions(document: Document, cautions: Iterable[str]) -> Document:
    """Return a document of one section with cautions at its end."""
    parts = [*document.sections[0].parts, *(Sentence(each, "caution") for each in cautions)]
    return document._replace(sections=[Section(parts)])


def interval_words(confidence_level: float) -> str:
    """Return what the ends of an interval are called in sentences."""
    return f"{100 * confidence_level:.6g} % interval"


def difference_words(difference: Difference, level: str, sign: int = 1) -> tuple[str, str]:
    """Return "less", "more" or, without a significant difference, an empty string; and the interval with p.

    With `sign` -1 the difference is the reference's cost minus the model's. The interval is of what is less.
    """
    low, high = sorted(sign * end for end in difference.confidence_interval)
    direction = "less" if high < 0 else "more" if low > 0 else ""
    ends = (-high, -low) if high < 0 else (low, high)
    return direction, f"{level} {money(ends[0])} to {money(ends[1])}; p = {difference.pvalue:.4f}"


def money(value: float) -> str:
    """Return an amount: whole from 1,000 on, otherwise (or from 10**15 on) with four digits; a dash if undefined."""
    if math.isnan(value):
        return "-"
    return f"{value:z,.0f}" if 1000 <= abs(value) < LARGEST_WRITTEN_OUT else f"{value:z.4g}"


def share_text(share: Estimate) -> str:
    """Return a share in percent, with its interval."""
    low, high = share.confidence_interval
    ends = "" if math.isnan(low) else f" [{100 * low:.1f}, {100 * high:.1f}]"
    return "-" if math.isnan(share.value) else f"{100 * share.value:.1f} %{ends}"


def cost_sentences(costs: RowCosts, rule: str = BEST, reference: Any = None) -> list[str]:
    """Return sentences on the lowest total cost: the interval, the savings, and the differences of models.

    Given the reference that models were compared with, say how each of the other models compares with it instead.
    """
    found = {model: each for model, each in costs.models.items() if not math.isnan(each.best.total.value)}
    if not found:
        return []
    use = "best" if rule == BEST else "fixed"
    lowest = min(found, key=lambda model: getattr(found[model], use).total.value)
    at = getattr(found[lowest], use)
    level = interval_words(costs.confidence_level)
    low, high = at.total.confidence_interval
    interval = "" if math.isnan(low) else f" ({level} {money(low)} to {money(high)})"
    saved = "" if math.isnan(at.savings_share.value) else (
        f", which saves {100 * at.savings_share.value:.1f} % of the cost of predicting no row positive"
    )  # fmt: skip
    where = f"at its {rule}" if rule == BEST else f"at the threshold {at.threshold:.6g}"
    name = printable(str(lowest))
    whose = f"{name} has the lowest total cost {where}" if len(found) > 1 else f"The total cost of {name} {where} is"
    sentences = [f"{whose}{',' if len(found) > 1 else ''} {money(at.total.value)}{interval}{saved}."]
    if reference is not None:
        return sentences + [_against_sentence(each, level) for each in costs.differences.get(rule, ())]
    pairs = [each for each in costs.differences.get(rule, ()) if lowest in (each.model, each.reference)]
    for each in pairs:
        other, sign = (each.reference, -1) if each.model == lowest else (each.model, 1)
        by, whose = money(abs(each.value)), f"{printable(str(other))}'s"
        direction, sure = difference_words(each, level, sign)
        if direction:
            sentences.append(f"That is {by} less than {whose} ({sure}).")
        else:
            sentences.append(f"No significant difference from {whose} ({by}, {sure}).")
    return sentences


def _against_sentence(each: Difference, level: str) -> str:
    """Say how a model's total cost compares with the reference's."""
    name, reference, by = printable(str(each.model)), printable(str(each.reference)), abs(each.value)
    direction, sure = difference_words(each, level)
    if direction:
        return f"{name}'s total cost is {money(by)} {direction} than {reference}'s ({sure})."
    return f"No significant difference between the total costs of {name} and {reference} ({money(each.value)}, {sure})."
