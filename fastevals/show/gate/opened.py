"""Open what a gate judges, and the champion that it compares with: rows, counts or a receipt."""

from __future__ import annotations

import glob
import json
import math
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from fastevals._naming import dropping, option
from fastevals._options import listed, naming_rows
from fastevals.counting.labels import rows_by_code
from fastevals.infer.gate.costs import CostMetric
from fastevals.infer.gate.rules import PLACES, GateRule
from fastevals.measure.class_specs import class_metric_of
from fastevals.measure.metric_specs import MetricSpec, ranking_metric
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import as_ranking
from fastevals.measure.registry import METRICS
from fastevals.reading.columns import ColumnRoles, are_summaries
from fastevals.reading.csv import CsvForm
from fastevals.reading.rows import LeftOut
from fastevals.reading.segments import crossed
from fastevals.reading.sources import is_path
from fastevals.scale.paired import JointSums
from fastevals.scale.payload import Summary
from fastevals.scale.scores import ScoresSummary
from fastevals.show.gate.data import OtherModel, Pinned, Sizes
from fastevals.show.gate.document import GateResult
from fastevals.show.gate.inputs import Input, input_of_arrays, input_of_file, input_of_summary
from fastevals.show.gate.options import GateOptions, reading_options
from fastevals.show.gate.sides import (
    Counted,
    CountedClasses,
    EmptySide,
    EvidenceSettings,
    Joint,
    JudgedSide,
    PinnedSide,
    Predicted,
    Scored,
    Specs,
)
from fastevals.show.predicted import DataClasses
from fastevals.show.report.cells import read_cells
from fastevals.show.report.costs import OUTCOMES, cost_roles, costs_by_outcome, describe_costs, refuse_costs
from fastevals.show.report.intervals import ScoredRows, few_cells, with_losses
from fastevals.show.report.read_scores import naming_other, other_name
from fastevals.show.report.source import (
    counts_of_classes,
    counts_predictions,
    open_class_counts,
    open_data,
    open_predictions,
    refuse_class_rankings,
    refuse_rows_of_counts,
    roles_of_counts,
)
from fastevals.show.report.streams import CertifiedBlock, summarize_rows, summary_name
from fastevals.show.schema import SCHEMA_VERSION

By = tuple[str, ...]
RECEIPT = ".json"  # suffix of a receipt's file


class ScoredSource:
    """Scores of models: rows in memory, files that are scanned, or summaries."""

    kind = "scores"

    def __init__(self, data: Any, options: GateOptions, rules: Sequence[GateRule], form: CsvForm, role: str) -> None:
        specs = {rule.label: rule.metric for rule in rules if isinstance(rule.metric, MetricSpec)}
        for label, spec in specs.items():
            _check_kind(label, spec, ("ranking", "probabilities", "cells"), "scores")
        self.settings = _settings(specs, rules, options)
        is_counted = are_summaries(data) or isinstance(as_ranking("data", data), BaseRanking)
        if divided := [rule.text for rule in rules if rule.by and is_counted and not are_summaries(data)]:
            raise ValueError(f"{option('rules')}: {divided[0]!r} needs rows, because counts have no columns")
        self.columns = () if is_counted else tuple(dict.fromkeys(name for rule in rules for name in rule.by))
        read_as = reading_options(options, self.columns)
        self.roles, self.reading, self.read = open_data(data, read_as, form)
        self.row_costs = costs_by_outcome(read_as) if cost_roles(read_as) else None
        _check_benefits(rules, self.read.rows)
        self.title, self.models = self.read.name, self.roles.models
        self.data, self.options, self.form, self.role = data, options, form, role
        self._summaries: dict[By, ScoresSummary] = {}

    def sides(self, by: By) -> Iterator[tuple[Any, JudgedSide]]:
        """Yield each value of the columns, or combination of values, with its rows; None without columns."""
        rows = self.read.rows
        if rows is None:
            yield from self._counted(by)
            return
        with naming_rows(self.read.line, dropping()):
            if not by:
                yield None, Scored(rows, self.settings)
                return
            coded = {grouped.by: (grouped.values, grouped.codes) for grouped in self.read.groupings}
            values, codes = crossed([coded[(name,)] for name in by])
            for value, part in zip(values, rows_by_code(codes, len(values)), strict=True):
                yield value, Scored(rows.take(part), self.settings)

    def _counted(self, by: By) -> Iterator[tuple[Any, JudgedSide]]:
        summary = self.read.summary
        if summary is None:
            yield from self._scanned(by)
            return
        for value, block in _blocks_by(summary, by, self.title):
            yield value, Counted(CertifiedBlock(block), self.settings)

    def _scanned(self, by: By) -> Iterator[tuple[Any, JudgedSide]]:
        """Yield the counts of files that don't fit in memory; models are paired by another scan."""
        reader = self._reader(by)
        thresholds = [spec.options["threshold"] for spec in self.settings.specs.values() if "threshold" in spec.options]
        summary = summarize_rows(reader, thresholds, self.options.progress)
        self._summaries[by] = summary
        names = reader.value_names(summary.blocks)
        read_as = {value: key for key, value in names.items()}
        for key, block in summary.blocks.items():
            counted = CertifiedBlock(block)

            pair = partial(_joint_of_files, counted, reader, read_as.get(key, key), self.settings)
            is_paired = len(self.models) > 1 and reader.files.can_repeat
            yield summary.segments.of_key(key)[1], Counted(counted, self.settings, pair if is_paired else None)

    def pilot(self, models: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        """Return one model or two as a subject of `plan_sample_size`, and what else is known of the rows."""
        rows, summary = self.read.rows, self.read.summary
        if rows is not None and rows.ranking is None:
            rows = rows.repeated()
            scores: Any = {name: rows.scores[name] for name in models} if len(models) > 1 else rows.scores[models[0]]
            return (rows.positive, scores), {"groups": rows.groups, "sample_weight": rows.weights}
        if len(models) > 1:
            raise ValueError("a plan for a difference needs the rows of both models in memory")
        if rows is not None:
            return rows.ranking, {}
        if summary is None:
            raise ValueError("a plan needs the rows in memory, or a summary of them")
        return _merged(summary).summaries[models[0]], {}

    def _reader(self, by: By) -> Any:
        """Return a reader of the rows by these columns: the one that is open, or another one."""
        mine = self.read.reader
        assert mine is not None
        if not self._summaries and by == self.columns and len(by) < 2:
            return mine
        if not mine.files.can_repeat:
            raise ValueError(f"{self.title} can be read only once, but the rules need several scans: give a file")
        _, _, read = open_data(self.data, reading_options(self.options, by, cross=len(by) > 1), self.form)
        return read.reader

    def facts(self) -> dict[str, Any]:
        """Return the positive class and the rows that are left out."""
        read = self.read
        if read.reader is not None and self._summaries:
            summary = next(iter(self._summaries.values()))
            return {
                "pos_label": summary.labels[0], "left_out": summary.left_out, "n_weightless": summary.n_weightless,
            }  # fmt: skip
        return {
            "pos_label": read.labels[0], "left_out": read.left_out, "n_weightless": read.n_weightless,
            "row_costs": self.row_costs,
        }  # fmt: skip

    def inputs(self) -> tuple[Input, ...]:
        """Return the identity of the files, or of the rows in memory."""
        if files := input_files(self.role, self.data):
            return tuple(files)
        rows = self.read.rows
        if rows is None:
            return (input_of_summary(self.role, self.data),) if isinstance(self.data, Summary) else ()
        columns = [("label", rows.positive), *rows.scores.items()]
        columns += [("weight", rows.weights)] if rows.weights is not None else []
        columns += zip(OUTCOMES, rows.amounts or (), strict=False)
        return (input_of_arrays(self.role, self.title, columns),)


class PredictedSource:
    """Predicted classes or numbers of models, in memory."""

    def __init__(self, data: Any, options: GateOptions, rules: Sequence[GateRule], form: CsvForm, role: str) -> None:
        specs = {rule.label: rule.metric for rule in rules if isinstance(rule.metric, MetricSpec)}
        columns = tuple(dict.fromkeys(name for rule in rules for name in rule.by))
        self.kind = "labels" if options.target is None else "targets"
        self.kind = "probabilities" if options.probabilities is not None else self.kind
        for rule in rules:
            _check_of_predictions(rule, self.kind)
        refuse_costs(reading_options(options, columns))
        self.opened = open_predictions(data, reading_options(options, columns), form)
        self.title, self.roles, self.models = self.opened.title, self.opened.roles, self.opened.roles.models
        self.settings = _settings(specs, rules, options, self.models)
        self.data, self.role = data, role

    def sides(self, by: By) -> Iterator[tuple[Any, JudgedSide]]:
        """Yield each value of the columns, or combination of values, with its rows; None without columns."""
        rows, classes = self.opened.rows, self.opened.classes
        if not by:
            yield None, Predicted(rows, self.kind, classes, self.settings)
            return
        coded = {grouped.by: (grouped.values, grouped.codes) for grouped in self.opened.groupings}
        values, codes = crossed([coded[(name,)] for name in by])
        for value, part in zip(values, rows_by_code(codes, len(values)), strict=True):
            yield value, Predicted(rows.take(part), self.kind, classes, self.settings)

    def pilot(self, models: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        """Return one model or two as a subject of `plan_sample_size`, and what else is known of the rows."""
        rows, classes = self.opened.rows, self.opened.classes
        if self.kind == "probabilities":
            raise ValueError(
                f"{option('plan')} goes with {option('score')} or {option('pred')}, not {option('probabilities')}: for "
                f"accuracy and other metrics of the most probable class, give the predicted classes as {option('pred')}"
            )
        predicted: Any = (
            {name: rows.predicted[name] for name in models} if len(models) > 1 else rows.predicted[models[0]]
        )
        known = {"groups": rows.groups, "sample_weight": rows.weights}
        return (rows.true, predicted), known | {"pos_label": None if classes is None else classes.pos_label}

    def facts(self) -> dict[str, Any]:
        """Return the positive class and the rows that are left out."""
        classes = self.opened.classes
        positive = None if classes is None else classes.pos_label
        return {
            "pos_label": positive, "left_out": self.opened.left_out, "n_weightless": self.opened.n_weightless,
        }  # fmt: skip

    def model_names(self, model: str) -> dict[str, Any]:
        """Return the options that name a model's columns, and the classes of its probabilities."""
        if self.kind != "probabilities":
            return {"pred": (model,)}
        (given,) = (each.given for each in self.roles.class_columns if each.model == model)
        return {"probabilities": (given,), "classes": DataClasses(self.opened.labels or ())}

    def inputs(self) -> tuple[Input, ...]:
        """Return the identity of the files, or of the rows in memory."""
        if files := input_files(self.role, self.data):
            return tuple(files)
        rows = self.opened.rows
        columns = [*rows.predicted.items()]
        if self.kind == "probabilities":
            columns = [(name, column) for name, each in rows.predicted.items() for column in each.T]
        return (input_of_arrays(self.role, self.title, [("label", rows.true), *columns]),)


class CountedClassesSource:
    """Counts of class probabilities of models."""

    kind = "probabilities"

    def __init__(self, data: Any, options: GateOptions, rules: Sequence[GateRule], form: CsvForm, role: str) -> None:
        specs = {rule.label: rule.metric for rule in rules if isinstance(rule.metric, MetricSpec)}
        for rule in rules:
            _check_of_predictions(rule, self.kind)
        if options.nightly is not None or options.plan:
            given = "plan" if options.plan else "nightly"
            raise ValueError(f"{option(given)} does not go with counts of class probabilities")
        read_as = reading_options(options, ())
        refuse_costs(read_as)
        refuse_rows_of_counts(data, read_as, form)
        self.summary = open_class_counts(data, read_as)
        self.title, self.data, self.role = summary_name(data), data, role
        self.roles, self.models = roles_of_counts(self.summary), self.summary.models
        self.settings = _settings(specs, rules, options, self.models)

    def sides(self, by: By) -> Iterator[tuple[Any, JudgedSide]]:
        """Yield each value of the columns, or combination of values, with its counts; None without columns."""
        for value, block in _blocks_by(self.summary, by, self.title):
            yield value, CountedClasses(block, self.settings)

    def pilot(self, models: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        """Raise: a plan needs rows."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """Return the rows that are left out."""
        return {
            "pos_label": None, "left_out": self.summary.left_out, "n_weightless": self.summary.n_weightless,
        }  # fmt: skip

    def model_names(self, model: str) -> dict[str, Any]:
        """Return the options that name a model in other counts."""
        return {"probabilities": (model,)}

    def inputs(self) -> tuple[Input, ...]:
        """Return the identity of the files, or of the counts."""
        return tuple(input_files(self.role, self.data)) or (input_of_summary(self.role, self.data),)


class EmptySource:
    """The data of a night without rows: models, kind and classes are taken from the state."""

    def __init__(self, data: Any, options: GateOptions, identity: Mapping[str, Any], left_out: LeftOut) -> None:
        models = options.score or options.pred or identity["models"]
        self.models = (models,) if isinstance(models, str) else tuple(models)
        self.kind, self.positive, self.left_out = identity["kind"], identity["pos_label"], left_out
        self.data, self.title = data, " ".join(files_of(data)) or type(data).__name__
        truth = options.label or options.target or identity["label"]
        self.roles = ColumnRoles.checked(truth, self.models, None, options.frequency_weight, kind=self.kind)

    def sides(self, by: tuple[str, ...]) -> Iterator[tuple[Any, JudgedSide]]:
        """Yield all rows, which are none."""
        yield None, EmptySide()

    def pilot(self, models: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        """Raise: a plan needs rows."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """Return the positive class and the rows that are left out."""
        return {"pos_label": self.positive, "left_out": self.left_out}

    def inputs(self) -> tuple[Input, ...]:
        """Return the identity of the files."""
        return tuple(input_files("data", self.data))


Opened = ScoredSource | PredictedSource | CountedClassesSource | EmptySource


def open_rows(
    data: Any, options: GateOptions, rules: Sequence[GateRule], form: CsvForm, role: str
) -> ScoredSource | PredictedSource | CountedClassesSource:
    """Open scores or predictions."""
    if options.cells:
        if other := next((name for name in ("pred", "target", "probabilities") if getattr(options, name)), None):
            raise ValueError(f"{option('cells')} and {option(other)} exclude each other")
        counted = read_cells(data, options.label, options.score, form)
        found = ScoredSource(counted, replace(options, cells=False), rules, CsvForm(), role)
        found.data = data if files_of(data) else counted  # the receipt and the night name files
        return found
    if options.score is not None and (options.pred is not None or options.target is not None):
        other = "pred" if options.pred is not None else "target"
        raise ValueError(f"{option('score')} and {option(other)} exclude each other: scores, or what models predict")
    if options.probabilities is None:
        for name in ("classes", "normalize"):
            if getattr(options, name):
                raise ValueError(f"{option(name)} goes with {option('probabilities')}")
    else:
        for name in ("score", "pred", "target", "nightly"):
            if getattr(options, name) is not None:
                why = (
                    f": nights have no class probabilities, so give the predicted classes as {option('pred')}"
                    if name == "nightly"
                    else ""
                )
                raise ValueError(f"{option('probabilities')} and {option(name)} exclude each other{why}")
    _check_costs(rules, options)
    refuse_class_rankings(data)
    if counts_of_classes(data):
        return CountedClassesSource(data, options, rules, form, role)
    if counts_predictions(data):
        raise ValueError(f"a gate needs rows or counts of scores, got a {type(data).__name__}")
    if any(each is not None for each in (options.pred, options.target, options.probabilities)):
        return PredictedSource(data, options, rules, form, role)
    return ScoredSource(data, options, rules, form, role)


def _settings(
    specs: Specs, rules: Sequence[GateRule], options: GateOptions, named: Sequence[str] = ()
) -> EvidenceSettings:
    """Return what is measured; with the metrics that rules judge without another model on the same rows."""
    models = {*(options.score or ()), *(options.pred or ()), *named}
    is_apart = options.reference is not None and not (
        isinstance(options.reference, str) and options.reference in models
    )
    alone = frozenset(rule.label for rule in rules if rule.other is None or (is_apart and rule.other not in models))
    costs = {rule.label: rule.metric for rule in rules if isinstance(rule.metric, CostMetric)}
    return EvidenceSettings(specs, alone, options.n_resamples, options.rng, options.progress, costs)


def _check_costs(rules: Sequence[GateRule], options: GateOptions) -> None:
    """Raise if a rule on costs that differ by row has no column of costs, or if costs are given without a column."""
    columns = ", ".join(option(f"{name}_column") for name in OUTCOMES)
    constant = (
        "costs that are the same in all rows are options of a metric: 'expected_cost at threshold=0.5, cost_fn=50'"
    )
    if cost_roles(reading_options(options, ())):
        return
    for rule in rules:
        if isinstance(rule.metric, CostMetric):
            raise ValueError(f"{option('rules')}: {rule.label} needs a column of costs ({columns}); {constant}")
    for name in OUTCOMES:
        if getattr(options, name) is not None:
            raise ValueError(f"{option(name)} goes with a column of other costs ({columns}); {constant}")


def _check_benefits(rules: Sequence[GateRule], rows: ScoredRows | None) -> None:
    """Raise if a margin is a share of costs that can be negative."""
    if rows is None or rows.amounts is None or not np.min(rows.amounts.cost_tp) < 0:
        return
    for rule in rules:
        if rule.is_relative and isinstance(rule.metric, CostMetric):
            raise ValueError(
                f"{option('rules')}: {rule.label} can be negative, because the cost of a true positive is below 0, so "
                f"its margin must be a number, not a percentage (in {rule.text!r})"
            )


def _check_kind(label: str, spec: MetricSpec, legal: Sequence[str], what: str) -> None:
    """Raise unless a metric can be computed from this kind of models."""
    entry = METRICS[spec.name]
    if entry.of not in legal:
        raise ValueError(f"{option('rules')}: {label} can't be computed from {what}")
    placed = set(PLACES) & spec.options.keys()
    if what == "scores" and entry.of == "cells" and not placed:
        raise ValueError(
            f"{option('rules')}: {label} of scores needs an operating point, such as '{spec.name} at threshold=0.5' or "
            f"'{spec.name} at fpr=0.01'"
        )
    if what == "scores":
        try:
            ranking_metric(spec)
        except ValueError as error:
            raise ValueError(f"{option('rules')}: {error} (in {label})") from None
    if what not in ("scores", "class probabilities") and placed:
        raise ValueError(f"{option('rules')}: {label} has an operating point, and {what} have none")


def _check_of_predictions(rule: GateRule, kind: str) -> None:
    """Raise unless a rule's metric can be computed from this kind of predictions."""
    what, *legal = {
        "labels": ("predicted classes", "cells", "matrix"),
        "targets": ("predicted numbers", "targets"),
        "probabilities": ("class probabilities", "ranking", "probabilities", "cells", "matrix", "classes"),
    }[kind]
    if not isinstance(rule.metric, MetricSpec):
        needed = "scores" if isinstance(rule.metric, CostMetric) else "probabilities of the positive class"
        raise ValueError(f"{option('rules')}: {rule.label} needs {needed}, given by {option('score')}")
    _check_kind(rule.label, rule.metric, legal, what)
    if kind == "probabilities":
        _check_one_number(rule.label, rule.metric)


def _check_one_number(label: str, spec: MetricSpec) -> None:
    """Raise unless a metric of class probabilities has one value for all classes."""
    try:
        found = class_metric_of(spec)
    except ValueError as error:
        raise ValueError(f"{option('rules')}: {error} (in {label})") from None
    if found.source in ("one vs. rest", "pairs") and found.average is None and found.function is None:
        raise ValueError(f"{option('rules')}: {label} has a value for each class: rules need an average over classes")


# The champion -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Champion:
    """What rules compare with: a model of the same rows, other rows, a receipt, or nothing."""

    model: OtherModel | None = None
    opened: Opened | None = None
    pinned: PinnedSide | None = None
    inputs: tuple[Input, ...] = ()
    pinned_rows: frozenset[Any] = frozenset()  # hashes of the rows whose results a receipt pins
    cautions: tuple[str, ...] = ()
    made: dict[By, dict[Any, JudgedSide]] = field(default_factory=dict)  # its sides, kept for other rules

    @property
    def name(self) -> str | None:
        """The champion in words."""
        return None if self.model is None else str(self.model)

    @property
    def is_apart(self) -> bool:
        """Whether the champion's rows differ from the judged model's rows."""
        return self.opened is not None or self.pinned is not None

    def side(self, by: By, value: Any) -> JudgedSide | None:
        """Return the champion's rows of a value; None if there are none."""
        if self.pinned is not None:
            return self.pinned
        assert self.opened is not None
        if by not in self.made:
            self.made[by] = dict(self.opened.sides(by))
        return self.made[by].get(value)


def model_of(reference: Any, models: Sequence[str]) -> str | None:
    """Return the model of the same rows that is the reference; None if other rows are, or nothing is."""
    reference = _only(reference)
    return reference if isinstance(reference, str) and reference in models else None


def _only(reference: Any) -> Any:
    """Return the only one of a list, or what is given; paths become text."""
    if isinstance(reference, (list, tuple)) and len(reference) == 1:
        reference = reference[0]
    return os.fsdecode(reference) if isinstance(reference, os.PathLike) else reference


def open_champion(options: GateOptions, own: Opened, model: str, rules: Sequence[GateRule], form: CsvForm) -> Champion:
    """Open the reference: a model among the data's, or else the judged model on other rows or in a receipt."""
    reference = _only(options.reference)
    if reference is None:
        return Champion()
    if (name := model_of(reference, own.models)) is not None:
        return Champion(OtherModel(name))
    compared = [rule for rule in rules if rule.other is not None and rule.other not in own.models]
    for rule in compared:
        if isinstance(rule.metric, CostMetric) and rule.metric.entry.is_sum:
            raise ValueError(
                f"{option('reference')}: {rule.label} depends on the number of rows, so it can't be compared with "
                f"other rows: use mean_cost or savings_share (in {rule.text!r})"
            )
    if isinstance(reference, GateResult) or (isinstance(reference, str) and reference.endswith(RECEIPT)):
        if divided := [rule.text for rule in compared if rule.by]:
            raise ValueError(
                f"{option('reference')}: a receipt pins results of all rows, so rules on segments can't compare with "
                f"it (in {divided[0]!r})"
            )
        return _of_receipt(reference, own, has_costs=any(isinstance(rule.metric, CostMetric) for rule in compared))
    if isinstance(reference, str) and not files_of(reference):
        raise ValueError(
            f"{option('reference')} must be one of the models {listed(own.models)}, or a file, got {reference!r}"
        )
    names: dict[str, Any] = {"score": (model,), "label": own.roles.truth}
    if isinstance(own, (PredictedSource, CountedClassesSource)):
        names = own.model_names(model)
        if counts_of_classes(reference):
            names = {"label": None, "probabilities": (model,), "classes": None}
        elif isinstance(own, CountedClassesSource):
            raise ValueError(f"{option('reference')} must be counts of class probabilities, as the data are")
    if not any(isinstance(rule.metric, CostMetric) for rule in compared or rules):
        names |= dict.fromkeys([*OUTCOMES, *(f"{name}_column" for name in OUTCOMES)])
    name = other_name(reference, own.data)
    with naming_other(name, "reference") if own.kind == "probabilities" else nullcontext():
        opened = open_rows(reference, replace(options, reference=None, **names), compared or rules, form, "reference")
    _check_same_classes(own, opened.facts()["pos_label"])
    _check_same_names(own, opened)
    return Champion(OtherModel(model, f"in {_short_title(opened)}"), opened, inputs=opened.inputs())


def _short_title(opened: Opened) -> str:
    return os.path.basename(opened.title) if files_of(opened.data) else opened.title


def _check_same_classes(own: Opened, its: Any) -> None:
    if isinstance(own, EmptySource):
        return
    mine = own.facts()["pos_label"]
    if mine is not None and its is not None and mine != its:
        raise ValueError(f"{option('reference')}: its positive class is {its!r}, and the data's is {mine!r}")


def _check_same_names(own: Opened, other: Opened) -> None:
    """Raise unless counts of class probabilities have the classes of the data."""
    if not isinstance(other, CountedClassesSource):
        return
    if own.kind != other.kind:
        raise ValueError(f"{option('reference')} has counts of class probabilities, and the data are {own.kind}")
    mine, its = (_class_names(each) for each in (own, other))
    if {*mine} != {*its}:
        raise ValueError(f"{option('reference')}: its classes are {listed(its)}, and the data's are {listed(mine)}")


def _class_names(opened: Opened) -> list[Any]:
    if isinstance(opened, CountedClassesSource):
        return list(opened.summary.classes.tolist())
    return opened.opened.labels or [] if isinstance(opened, PredictedSource) else []


def _of_receipt(reference: str | GateResult, own: Opened, *, has_costs: bool) -> Champion:
    """Return a receipt, or the file of one, as the champion."""
    inputs: tuple[Input, ...] = ()
    if isinstance(reference, GateResult):
        called, by, found = option("reference"), "", reference.to_dict()
    else:
        called, by = f"{option('reference')} {reference!r}", f" (pinned by {os.path.basename(reference)})"
        with open(reference, encoding="utf-8") as file:
            try:
                found = json.load(file)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{called} is not JSON: {error}") from None
        inputs = (input_of_file("reference", reference),)
    if not isinstance(found, dict) or not {"pinned", "model", "data", "schema_version"} <= found.keys():
        raise ValueError(f"{called} is not a receipt of fastevals gate")
    if (version := found["schema_version"]) != SCHEMA_VERSION:
        raise ValueError(f"{called} has schema_version {version}, and this version of fastevals reads {SCHEMA_VERSION}")
    if (kind := found.get("kind", own.kind)) != own.kind:
        raise ValueError(f"{called} is of {kind}, and the data are {own.kind}")
    _check_same_classes(own, found.get("pos_label"))
    if found.get("row_costs") != (own_costs := own.facts().get("row_costs")) and has_costs:
        its, mine = ("none" if each is None else describe_costs(each) for each in (found.get("row_costs"), own_costs))
        raise ValueError(f"{called}: its costs are {its}, and the data's are {mine}")
    try:
        pinned = {
            str(label): Pinned(*(_number(each[name]) for name in Pinned._fields))
            for label, each in found["pinned"].items()
        }
        n_positives, n_negatives = (
            None if found[name] is None else int(found[name]) for name in ("n_positives", "n_negatives")
        )
        sizes = Sizes(int(found["n_samples"]), n_positives, n_negatives)
        if any(each.standard_error < 0 for each in pinned.values()):
            raise ValueError
        rows = frozenset(each["sha256"] for each in found.get("inputs", ()) if each["role"] == "data")
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(f"{called} is a receipt with damaged numbers: run the gate of the champion again") from None
    place = f"in {os.path.basename(str(found['data']))}{by}"
    cautions: tuple[str, ...] = ()
    if (label := found.get("label")) not in (None, own.roles.truth):
        cautions = (f"The receipt's label is {label!r}, and the data's is {own.roles.truth!r}: are they the same?",)
    side = PinnedSide(pinned, sizes, called)
    return Champion(
        OtherModel(str(found["model"]), place), pinned=side, inputs=inputs, pinned_rows=rows, cautions=cautions
    )


def _number(value: Any) -> float:
    """Return a number of a receipt, where null is NaN."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (value is None or is_number or value in ("Infinity", "-Infinity")):
        raise ValueError
    return math.nan if value is None else float(value)


def input_files(role: str, data: Any) -> list[Input]:
    """Return the identity of the local files that paths or patterns name."""
    return [input_of_file(role, path) for path in files_of(data)]


def files_of(data: Any) -> list[str]:
    """Return the local files that paths or patterns name; none for other data."""
    paths = [data] if is_path(data) else data
    if not isinstance(paths, (list, tuple)) or not all(map(is_path, paths)):
        return []
    found: list[str] = []
    for path in map(os.fsdecode, paths):
        if os.path.isdir(path):
            found += sorted(
                each for each in glob.glob(os.path.join(path, "**", "*"), recursive=True) if os.path.isfile(each)
            )
        elif os.path.isfile(path):
            found.append(path)
        else:
            found += filter(os.path.isfile, sorted(glob.glob(path, recursive=True)))
    return found


# Counts -----------------------------------------------------------------------------------------------------------


def _blocks_by(summary: ScoresSummary[Any], by: By, title: str) -> Iterator[tuple[Any, Any]]:
    """Yield each value of the columns with its counts; without columns, None with the counts of all rows."""
    segments = summary.segments
    if by and (by not in segments.groupings):
        counted = "by " + listed([" x ".join(each) for each in segments.groupings])
        counted = counted if segments.columns else "without segments"
        raise ValueError(f"{title} was counted {counted}, but a rule judges each {' x '.join(by)}")
    if not by:
        yield None, _merged(summary)
        return
    for key, block in summary.blocks.items():
        grouping, value = segments.of_key(key)
        if grouping == by:
            yield value, block


def _merged(summary: ScoresSummary[Any]) -> Any:
    """Return the counts of all rows: the sum of the blocks of the first grouping."""
    of_key, first = summary.segments.of_key, summary.segments.groupings[:1]
    blocks = [block for key, block in summary.blocks.items() if not first or of_key(key)[0] == first[0]]
    return blocks[0].merge(*blocks[1:]) if len(blocks) > 1 else blocks[0]


def _joint_of_files(block: CertifiedBlock, reader: Any, key: Any, settings: EvidenceSettings) -> Joint:
    """Return the joint sums of the models' scores in a segment, by another scan over the files."""
    specs, cells, values = settings.joint_specs, {}, {}
    for model in block.totals.summaries:
        ranking, losses = block.ranking(model), block.totals.probabilities.get(model)
        cells[model] = with_losses(few_cells(ranking.counts, specs, ranking._squares), losses)
        values[model] = {label: block.value(model, spec) for label, spec in specs.items()}
    sums = JointSums(cells, specs)
    parts: dict[int, JointSums] = {}
    for piece in reader.files.pieces:
        for rows in reader.rows(piece):
            for value, part in rows.by_segment(reader.segments):
                if value == key:
                    mine = parts.setdefault(threading.get_ident(), sums.empty())
                    mine.add(part.flags, dict(zip(reader.scores, part.scores, strict=True)), part.weights)
    for part in parts.values():
        sums.merge(part)
    return Joint(sums, values)
