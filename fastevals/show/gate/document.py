"""A gate's result as a document, a frame and a receipt."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from fastevals._naming import option
from fastevals._text import describe_by, describe_segment, printable
from fastevals.document.document import (
    GAP,
    RICH,
    TEXT,
    Cell,
    Count,
    Document,
    Fact,
    Part,
    Row,
    Section,
    Sentence,
    Table,
)
from fastevals.document.frames import Columns, from_rows, or_nan
from fastevals.document.result import Result
from fastevals.infer.gate.decide import Decision
from fastevals.results import Interval, as_json
from fastevals.show.gate.data import GateData, Judged, RuleResult, Sizes
from fastevals.show.gate.words import (
    WORD,
    allowed_text,
    end_texts,
    level_text,
    more_rows,
    needs,
    nights_notes,
    nights_text,
    rule_sentence,
    share_text,
    verdict,
)
from fastevals.show.report.costs import describe_costs
from fastevals.show.report.json import left_out_values
from fastevals.show.report.notes import describe_left_out
from fastevals.show.schema import json_head
from fastevals.show.verdict import INDEPENDENT

SEGMENTS_OF_RULE = 20
INDEPENDENT_NIGHTS = (
    "Rows are treated as independent, within a night and between nights. If some are clustered, such as several rows "
    "of a patient, the intervals are too narrow."
)
PACKAGES = ("numpy", "scipy", "numba")  # whose versions a receipt has


class GateResult(GateData, Result):
    """The result of `gate`: the outcome of each rule, with the interval that decided; it prints itself as text.

    Attributes
    ----------
    outcome : {"pass", "fail", "undecided"}
        The worst outcome of a rule.
    exit_status : int
        What the command exits with: 0 pass, 3 fail, 4 undecided, unless `undecided` says what an undecided gate counts
        as.
    results : tuple of RuleResult
        The rules in the order given. Each has `rule`, `outcome` and `judged`: its decisions in all rows, or in each
        segment, the worst first. A decision has `outcome`, `value`, `interval`, `level`, `allowed`, `method`, `reason`,
        `detectable` and `times_rows`.
    data, model, reference : str
        Names of the data and of the judged model, and the reference in words (or None).
    levels : Levels
        Levels of the one-sided bounds that pass and that fail a rule.
    n_comparisons : int
        Number of comparisons over which bounds that fail rules are simultaneous.
    cautions : tuple of str
        What limits the decisions.
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as strict JSON: NaN becomes None; infinite values become "Infinity" or "-Infinity"."""
        return receipt(self)

    def _columns(self) -> Columns:
        return from_rows(
            [
                {
                    "rule": result.rule.text,
                    "segment": None if not result.rule.by else describe_segment(result.rule.by, each.value),
                    "outcome": each.decision.outcome,
                    "value": each.decision.value,
                    "low": each.decision.interval.low,
                    "high": each.decision.interval.high,
                    "level": each.decision.level,
                    "allowed_low": each.decision.allowed.low,
                    "allowed_high": each.decision.allowed.high,
                    "model_value": each.of_model,
                    "reference_value": each.of_other,
                    "n_samples": each.sizes.n_samples,
                    "n_nights": or_nan(each.n_nights),
                    "tonight": math.nan if each.tonight is None else each.tonight.value,
                    "tonight_low": math.nan if each.tonight is None else each.tonight.interval.low,
                    "tonight_high": math.nan if each.tonight is None else each.tonight.interval.high,
                    "method": each.decision.method,
                    "reason": each.decision.reason or None,
                }
                for result in self.results
                for each in result.judged
            ]
        )

    def _title(self) -> str:
        return f"gate: {self.outcome}"

    def _document(self) -> Document:
        said = verdict(self)
        parts: list[Part] = [Sentence(text, "verdict", RICH) for text in said]
        for result in self.results:
            parts += [Sentence(f"{WORD[result.outcome]}: {rule_sentence(self, result)}")]
            parts += [Sentence(text, "note") for text in (*nights_notes(self, result), *needs(result))]
        parts += [GAP, Table("rules", "Rules", RULE_COLUMNS, lambda: _rule_rows(self))]
        for result in self.results:
            if result.rule.by:
                parts += [GAP, _segments(result)]
        parts += [Sentence(text, "caution") for text in self.cautions]
        return Document(
            "gate",
            self.data,
            facts=_facts(self),
            sections=[Section(parts, is_block=False)],
            head=[Sentence(text, "verdict", TEXT) for text in said],
            numbers=self.to_dict,
        )


RULE_COLUMNS = ("rule", "outcome", "value", "low", "high", "allowed", "level")


def _rule_rows(found: GateData) -> Iterator[Row]:
    for result in found.results:
        yield Row(result.rule.text, [Cell(result.outcome), *_cells(result, result.worst)])


def _cells(result: RuleResult, each: Judged) -> list[Any]:
    decision = each.decision
    low, high = end_texts(decision.interval, decision.allowed)
    value = end_texts(Interval(decision.value, decision.value), decision.allowed)[0]
    return [
        Cell(value, repr(decision.value)),
        Cell(low, repr(decision.interval.low)),
        Cell(high, repr(decision.interval.high)),
        Cell(allowed_text(result.rule)),
        Cell(level_text(decision.level)),
    ]


def _segments(result: RuleResult) -> Table:
    columns = (describe_by(result.rule.by), "outcome", "rows", "value", "low", "high", "allowed", "level")
    rows = (
        Row(
            describe_segment(result.rule.by, each.value),
            [Cell(each.decision.outcome), Count(each.sizes.n_samples), *_cells(result, each)],
        )
        for each in result.judged
    )
    n_more = len(result.judged) - SEGMENTS_OF_RULE
    more = f"... {n_more:,} more segments, which the JSON has" if n_more > 0 else ""
    title = f"Segments of {result.rule.text!r}"
    return Table(
        "rule_segments", title, columns, lambda: rows, n_shown=SEGMENTS_OF_RULE, more=more, n_rows=len(result.judged)
    )


def _facts(found: GateData) -> Iterator[Fact]:
    yield Fact("model", printable(found.model))
    if found.reference is not None:
        yield Fact("reference", printable(found.reference))
    if found.nights is not None:
        yield Fact("nights", nights_text(found.nights))
    yield Fact("rows", rows_text(found.sizes) + (" (tonight)" if found.nights is not None else ""))
    if found.left_out.n_rows:
        yield Fact("dropped", describe_left_out(found.left_out, found.roles.lacking))
    if found.labelled < 1:
        yield Fact("labelled", f"{share_text(found.labelled)} of the rows")
    if found.n_weightless:
        yield Fact("weightless", f"{found.n_weightless:,} rows with weight 0 are left out")
    if found.row_costs is not None:
        yield Fact("costs", describe_costs(found.row_costs))
    methods = {each.decision.method for result in found.results for each in result.judged if each.decision.method}
    level = f"{100 * found.levels.passing:g} %"
    said = f"a rule passes or fails by one-sided {level} bounds"
    if found.n_comparisons > 1:
        said = (
            f"a rule passes by one-sided {level} bounds, and fails by bounds that are simultaneous at {level} over "
            f"{found.n_comparisons:,} comparisons (Bonferroni)"
        )
    if found.nights is not None:
        said += "; they hold at every nightly look, for the mean over nights"
    yield Fact("bounds", said)
    decisions = [
        each for result in found.results for judged in result.judged for each in (judged.decision, judged.tonight)
    ]
    if any(each is not None and each.n_replicates for each in decisions):
        methods.add(f"bootstraps have {found.n_resamples:,} replicates and seed {found.seed}")
    if methods:
        yield Fact("methods", "; ".join(sorted(methods, key=lambda each: (each.startswith("bootstraps have"), each))))
    if found.nights is not None:
        yield Fact("clusters", INDEPENDENT_NIGHTS)
    elif found.roles is not None and found.roles.groups is None:
        yield Fact("clusters", INDEPENDENT.format(option("groups")))


def rows_text(sizes: Sizes) -> str:
    """Return the numbers of rows in words."""
    of_class = "" if sizes.n_positives is None else f", {sizes.n_positives:,} positive"
    return f"{sizes.n_samples:,}{of_class}"


# Receipt ----------------------------------------------------------------------------------------------------------


def receipt(found: GateData) -> dict[str, Any]:
    """Return the receipt of a gate: rules, results, and how they were made."""
    roles = found.roles
    values: dict[str, Any] = as_json(
        {
            **json_head(),
            "outcome": found.outcome,
            "exit_status": found.exit_status,
            "undecided": found.undecided,
            "data": found.data,
            "model": found.model,
            "reference": found.reference,
            "kind": found.kind,
            "label": None if roles is None else roles.truth,
            "n_samples": found.sizes.n_samples,
            "n_positives": found.sizes.n_positives,
            "n_negatives": found.sizes.n_negatives,
            "n_dropped": found.left_out.n_rows,
            "dropped": {} if roles is None else left_out_values(roles, found.left_out),
            "labelled": found.labelled,
            "min_labelled": found.min_labelled,
            "pos_label": found.pos_label,
            "row_costs": found.row_costs,
            "level": found.levels.passing,
            "failing_level": found.levels.failing,
            "n_comparisons": found.n_comparisons,
            "resamples": found.n_resamples,
            "seed": found.seed,
            "versions": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
            "inputs": [each._asdict() for each in found.inputs],
            "rules": [_rule_values(result) for result in found.results],
            "pinned": {label: each._asdict() for label, each in found.pinned.items()},
            "nightly": None if found.nights is None else found.nights._asdict(),
            "cautions": list(found.cautions),
        }
    )
    return values


def _rule_values(result: RuleResult) -> dict[str, Any]:
    rule = result.rule
    return {
        "rule": rule.text,
        "outcome": result.outcome,
        "metric": rule.label,
        "form": rule.form,
        "reference": None if result.other is None else str(result.other),
        "margin": rule.margin if rule.other is not None else None,
        "relative": rule.is_relative,
        "by": list(rule.by),
        "judged": [{"segment": each.value, **_judged_values(each)} for each in result.judged],
    }


def _judged_values(each: Judged) -> dict[str, Any]:
    decision = each.decision
    return {
        "outcome": decision.outcome,
        "n_samples": each.sizes.n_samples,
        "n_positives": each.sizes.n_positives,
        "model_value": each.of_model,
        "reference_value": each.of_other,
        "value": decision.value,
        "interval": list(decision.interval),
        "interval_level": round(2 * decision.level - 1, 12),
        "allowed": list(decision.allowed),
        "method": decision.method,
        "reason": decision.reason or None,
        "caution": decision.caution or None,
        "n_nights": each.n_nights,
        "tonight": None if each.tonight is None else _tonight_values(each.tonight),
        "detectable": decision.detectable,
        "more_rows": more_rows(decision, each.sizes.n_samples) if math.isfinite(decision.times_rows) else None,
    }


def _tonight_values(decision: Decision) -> dict[str, Any]:
    """Return what tonight's rows alone say, for a single look."""
    return {
        "value": decision.value,
        "interval": list(decision.interval),
        "interval_level": round(2 * decision.level - 1, 12),
        "method": decision.method,
        "reason": decision.reason or None,
    }
