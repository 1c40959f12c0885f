"""Plan the rows that a gate needs: for each rule, from a pilot and the true value that the rule assumes."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, cast

from fastevals._naming import option
from fastevals._text import one_line, printable
from fastevals.document.document import GAP, Count, Document, Fact, Number, Part, Row, Section, Sentence, Table
from fastevals.document.frames import Columns, stack
from fastevals.document.result import Result
from fastevals.infer.bootstrap.bootstrap import FEW_ROWS
from fastevals.infer.gate.closed import has_exact_bounds
from fastevals.infer.gate.costs import CostMetric
from fastevals.infer.gate.decide import POWER
from fastevals.infer.gate.rules import GateRule
from fastevals.infer.planning.planning import SampleSize, plan_sample_size
from fastevals.measure.metric_specs import MetricSpec
from fastevals.results import as_json
from fastevals.show.gate.opened import Champion, Opened
from fastevals.show.gate.options import GateOptions
from fastevals.show.schema import json_head


class GatePlan(Result):
    """The rows that each rule of a gate needs to pass with a power of 80 %, if what it assumes is true.

    Attributes
    ----------
    data, model : str
        Names of the pilot and of the judged model.
    rules : dict of str to SampleSize
        By rule, the rows that it needs.
    fewest : dict of str to int
        By rule, the rows with which a gate decides at all: most bounds need 50 rows of the rarer class.
    """

    __slots__ = ("data", "fewest", "model", "rules")

    def __init__(self, data: str, model: str, rules: dict[str, SampleSize], fewest: dict[str, int]) -> None:
        self.data, self.model, self.rules, self.fewest = data, model, rules, fewest

    outcome = "planned"
    exit_status = 0

    @property
    def n_samples(self) -> int:
        """Rows that all rules need: the most of any rule."""
        return max(map(self._rows_of, self.rules))

    def _rows_of(self, rule: str) -> int:
        return max(self.rules[rule].n_samples, self.fewest[rule])

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as strict JSON: NaN becomes None; infinite values become "Infinity" or "-Infinity"."""
        values: dict[str, Any] = as_json(
            {
                **json_head(),
                "data": self.data,
                "model": self.model,
                "n_samples": self.n_samples,
                "rules": [{"rule": rule, "plan": each.to_dict()} for rule, each in self.rules.items()],
            }
        )
        return values

    def _columns(self) -> Columns:
        return stack(({"rule": rule}, each._columns()) for rule, each in self.rules.items())

    def _title(self) -> str:
        return "gate plan"

    def _document(self) -> Document:
        most = max(self.rules, key=self._rows_of)
        said = f"{self.n_samples:,} rows let each rule pass in 80 % of samples, if what it assumes is true"
        said += f"; {one_line(repr(most))} needs the most." if len(self.rules) > 1 else "."
        if self.rules[most].n_samples < self.n_samples:
            said += (
                f" {self.rules[most].n_samples:,} rows would give this power, but a gate leaves a rule "
                f"undecided with fewer than {FEW_ROWS} rows of the rarer class, unless its bounds are exact."
            )
        cautions = dict.fromkeys(caution for each in self.rules.values() for caution in each.cautions)
        columns = ("rule", "rows", "positive", "assumed", "power", "detectable")
        table = Table("plan", "Rows by rule", columns, lambda: map(_row, self.rules.items()))
        parts: list[Part] = [
            Sentence(said, "verdict"), GAP, table, GAP,
            *(Sentence(one_line(f"{rule}: {each.conclusion}")) for rule, each in self.rules.items()),
            *(Sentence(caution, "caution") for caution in cautions),
        ]  # fmt: skip
        facts = [Fact("model", printable(self.model))]
        return Document("gate", self.data, facts, [Section(parts, is_block=False)], numbers=self.to_dict)


def _row(item: tuple[str, SampleSize]) -> Row:
    rule, each = item
    positives = "-" if each.n_positives is None else Count(each.n_positives)
    cells = [Count(each.n_samples), positives, Number(each.assumed_value), Number(each.power)]
    return Row(rule, [*cells, Number(each.detectable_difference)])


def plan_gate(
    opened: Opened,
    champion: Champion,
    rules: Sequence[GateRule],
    model: str,
    options: GateOptions,
) -> GatePlan:
    """Plan the rows for each rule."""
    found, fewest = {}, {}
    are_plain = options.groups is None and options.sample_weight is None
    for rule in rules:
        try:
            found[rule.text] = _plan(opened, champion, rule, model, options)
        except ValueError as error:
            raise ValueError(f"{option('plan')}, {rule.text!r}: {error}") from None
        is_exact = are_plain and has_exact_bounds(cast("MetricSpec", rule.metric), rule.other is not None)
        fewest[rule.text] = 0 if is_exact else _fewest_rows(found[rule.text])
    return GatePlan(opened.title, model, found, fewest)


def _fewest_rows(plan: SampleSize) -> int:
    """Return how many rows have enough of the rarer class in as many samples as the plan's power."""
    if plan.n_positives is None:
        return FEW_ROWS
    from scipy.special import bdtrc

    share = min(plan.prevalence, 1 - plan.prevalence)
    rows = range(FEW_ROWS, math.ceil(2 * FEW_ROWS / share))
    return rows[bisect_left(rows, True, key=lambda n: bool(bdtrc(FEW_ROWS - 1, n, share) >= POWER))]


def _plan(opened: Opened, champion: Champion, rule: GateRule, model: str, options: GateOptions) -> SampleSize:
    if isinstance(rule.metric, CostMetric):
        raise ValueError(f"rows for {rule.label} can't be planned: a pilot may lack the largest amounts")
    if not isinstance(rule.metric, MetricSpec):
        raise ValueError(f"rows for {rule.label} can't be planned")
    if rule.by:
        raise ValueError("rows for segments can't be planned together: plan with the rows of the smallest segment")
    if rule.is_relative:
        raise ValueError("rows for a margin in % can't be planned: state the margin as a number")
    goal: dict[str, Any] = {"confidence_level": options.confidence_level, "n_resamples": options.n_resamples}
    goal |= {"rng": options.rng}
    if rule.other is None:
        if rule.assumed is None:
            raise ValueError("state the true value that is assumed, such as 'roc_auc >= 0.8 assuming 0.83'")
        low, high = rule.low, rule.high
        bound = (low, high) if rule.form == "within" else low if rule.form == "at least" else high
        subject, known = opened.pilot((model,))
        return plan_sample_size(subject, rule.metric, value=rule.assumed, bound=bound, **known, **goal)
    if champion.is_apart:
        raise ValueError("rows of two different sets can't be planned: compare models on the same rows")
    better = rule.form == "better than"
    if better and rule.assumed is None:
        raise ValueError("state the true difference that is assumed, such as 'better than old assuming 0.01'")
    if better and rule.margin:
        raise ValueError("rows for 'better by a margin' can't be planned: leave the margin out")
    subject, known = opened.pilot((model, rule.other))
    return plan_sample_size(
        subject, rule.metric, reference=rule.other, effect=rule.assumed or 0.0,
        margin=None if better else rule.margin, equivalence=rule.form == "equivalent to", **known, **goal,
    )  # fmt: skip
