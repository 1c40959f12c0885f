"""A comparison of models by the probabilities of classes that they predict on the same rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from fastevals._distinct import sorted_unique
from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning, check_integer
from fastevals._text import MOST_PAIRS, format_number, format_pvalue, more_pairs, shorten_names
from fastevals._validation.labels import Classes
from fastevals.document.document import (
    GAP,
    RICH,
    TEXT,
    Document,
    Fact,
    Figures,
    Number,
    Part,
    PValue,
    Row,
    Section,
    Sentence,
    Table,
)
from fastevals.document.frames import Columns
from fastevals.document.result import Result
from fastevals.infer.comparison import ModelComparison
from fastevals.infer.delong.classes import AveragedAuc
from fastevals.infer.delong.delong import delong
from fastevals.infer.delong.pairs import pairwise_delong
from fastevals.infer.significance.paired import compared_pairs
from fastevals.infer.significance.pairwise import PairwiseResult, pairs_by_pvalue
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.registry import metric_title
from fastevals.reading.csv import CsvForm
from fastevals.results import MAX_RESAMPLES, NOWHERE, SignificanceResult, as_json
from fastevals.show.compare.options import CompareOptions
from fastevals.show.compare.pictures import Panels, pair_panels
from fastevals.show.compare.predictions import CORRECTION, LONGEST_NAME, pairs_sentence
from fastevals.show.output import BlockPictures
from fastevals.show.pictures import CAPTIONS, names_of
from fastevals.show.report.data import ModelNumbers, OfClasses, ReportBlock, ReportData
from fastevals.show.report.document import difference_rows, differences_written, metric_rows, models_table
from fastevals.show.report.intervals import PredictedRows, as_plan, best_models, read_intervals
from fastevals.show.report.json import left_out_values
from fastevals.show.report.kinds import REPORT_KINDS
from fastevals.show.report.measure_class_probabilities import most_probable
from fastevals.show.report.measure_predictions import MeasurePredictions, defined_metrics
from fastevals.show.report.notes import block_cautions, describe_rows, facts, title_of, undefined_notes
from fastevals.show.report.options import ReportOptions
from fastevals.show.report.pictures import difference_panels, interval_panels
from fastevals.show.report.source import OpenedPredictions, open_predictions
from fastevals.show.report.verdict import verdict
from fastevals.show.schema import json_head
from fastevals.show.verdict import INDEPENDENT, describe_pairs

KIND = "probabilities"
AVERAGES = {"macro": ("macro AUC", "macro AUCs"), "hand_till": ("M", "values of M")}  # that are tested, in words
NOT_TESTED = "DeLong's test treats rows as independent, so it is left out for clusters: use the intervals."
READ_ALIKE = (
    "label", "probabilities", "classes", "ordered", "normalize", "reference", "groups", "on_missing_label",
    "on_invalid",
)  # fmt: skip


class AveragedAucTests(NamedTuple):
    """DeLong's tests of one average of the AUCs of the classes."""

    equality: SignificanceResult | None  # whether models differ at all, for three models or more
    pairs: PairwiseResult  # with p adjusted for their number
    tests: tuple[SignificanceResult, ...]  # of each pair, without adjustment


@dataclass(frozen=True, slots=True, repr=False)
class ProbabilitiesComparison(Result):
    """A comparison of models by their probabilities of classes, which prints itself as text.

    Attributes
    ----------
    report : ReportData
        The metrics of the models, their differences and intervals, in the form of a report.
    models : ModelComparison
        The same metrics and differences, as `compare_rankings` returns them.
    delong : dict of str to AveragedAucTests
        DeLong's tests of the mean AUC over classes ("macro") and of Hand and Till's M ("hand_till"); empty if rows are
        clustered.
    """

    report: ReportData
    models: ModelComparison
    delong: dict[str, AveragedAucTests]

    @property
    def block(self) -> ReportBlock:
        """The numbers of all rows, in the form of a report."""
        return self.report.blocks[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as strict JSON: NaN becomes None; infinite values become "Infinity" or "-Infinity"."""
        report, of_classes = self.report, self.report.class_facts
        assert of_classes is not None
        values = {
            **json_head(),
            "data": report.data,
            "compared": KIND,
            **({} if report.reference is None else {"reference": report.reference}),
            "label": report.roles.truth,
            "group": report.roles.groups,
            "classes": report.labels,
            "ordered": of_classes.are_ordered,
            "normalized": of_classes.are_normalized,
            "hard": list(of_classes.hard),
            "n_samples": self.block.n_samples,
            "n_dropped": report.left_out.n_rows,
            "dropped": left_out_values(report.roles, report.left_out),
            **{name: value for name, value in self.models.to_dict().items() if name not in ("labels", "pos_label")},
            "delong": {
                average: {
                    "equality": None if each.equality is None else each.equality.to_dict(),
                    "pairs": each.pairs.to_dict(),
                    "tests": [test.to_dict() for test in each.tests],
                }
                for average, each in self.delong.items()
            },
            "cautions": block_cautions(report, self.block),
        }
        return {name: as_json(value) for name, value in values.items()}

    def _columns(self) -> Columns:
        return self.models._columns()

    def _document(self) -> Document:
        report = self.report
        return Document(
            "compare", title_of(report.data, report.roles.models),
            [Fact(name, text, TEXT if name == "*" else ()) for name, text in facts(report)],
            [Section(_parts(self), size=describe_rows(report, self.block))],
            list(_opening(self)),
            models=report.roles.models,
            numbers=self.to_dict,
        )  # fmt: skip

    def panels(self) -> Panels:
        """Yield the pictures, by name."""
        block = self.block
        metrics = [name for name in REPORT_KINDS[KIND].forests if name in self.report.metrics]
        yield from interval_panels(block, metrics)
        yield from difference_panels(block, metrics)
        of_auc = self.delong.get("macro")
        if of_auc is not None:
            first = of_auc.equality or of_auc.tests[0]
            if np.isfinite(of_auc.pairs.pvalue).all() and math.isfinite(first.statistic):
                yield from pair_panels(of_auc.pairs, first)

    def pictures(self) -> BlockPictures:
        """Return the pictures for `--out`."""
        return BlockPictures(names_of("compare"), None, (), lambda _: self.panels())


def compare_probabilities(data: Any, options: CompareOptions, form: CsvForm) -> ProbabilitiesComparison:
    """Compare models by their probabilities of classes.

    Raise if a column doesn't hold probabilities, or an option is out of range.
    """
    plan = as_plan(None, options.confidence_level, 0 if options.rng is None else options.rng, options.reference)
    if plan is not None and options.n_resamples is not None:
        number = check_integer(option("n_resamples"), options.n_resamples, low=1, high=MAX_RESAMPLES)
        plan = replace(plan, n_resamples=number, budget=None)
    read_as = ReportOptions(**{name: getattr(options, name) for name in READ_ALIKE})
    opened = open_predictions(data, read_as, form)
    assert opened.labels is not None
    rows, labels = opened.rows, np.array(opened.labels)
    measure = MeasurePredictions(KIND, None, plan, 0, options.progress, labels=labels, facts=opened.facts)
    metrics = measure.metrics(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # a note says so
        comparison = cast(ModelComparison, measure.resample(rows, metrics))
        models = tuple(_numbers(name, comparison, rows, labels) for name in rows.predicted)
        n_groups = None if rows.groups is None else int(sorted_unique(rows.groups).size)
        defined = defined_metrics(metrics, models)
        intervals = read_intervals(comparison, list(rows.predicted), defined, n_groups, measure.method(rows))
        tests = {} if n_groups is not None else _delong_tests(rows, labels.size, options)
    block = ReportBlock(
        None, rows.true.size, None, models, {name: best_models(name, models) for name in metrics}, intervals,
        n_resamples=comparison.n_resamples,
    )  # fmt: skip
    return ProbabilitiesComparison(_as_report(opened, block, plan, options.reference), comparison, tests)


def _as_report(opened: OpenedPredictions, block: ReportBlock, plan: Any, reference: str | None) -> ReportData:
    return ReportData(
        opened.title, opened.roles, tuple(block.best), (block,), plan, left_out=opened.left_out, labels=opened.labels,
        not_measured=() if opened.rows.groups is None else (NOT_TESTED,), files=opened.files, reference=reference,
        class_facts=opened.facts,
    )  # fmt: skip


def _numbers(name: str, comparison: ModelComparison, rows: PredictedRows, labels: Any) -> ModelNumbers:
    """Return a model's metrics, and the matrix of its most probable classes."""
    codes = np.arange(labels.size)
    predicted = most_probable(rows._replace(predicted={name: rows.predicted[name]})).predicted[name]
    counted = ConfusionMatrix.from_predictions(rows.true, predicted, labels=codes)
    matrix = ConfusionMatrix._from_counts(counted.counts, Classes(labels, None))
    values = {metric: float(each.estimates[name].value) for metric, each in comparison.items()}
    return ModelNumbers(name, values, classes=OfClasses(matrix, {}))


def _delong_tests(rows: PredictedRows, n_classes: int, options: CompareOptions) -> dict[str, AveragedAucTests]:
    """Test differences of averages of AUCs."""
    found = {}
    pairs = compared_pairs(tuple(rows.predicted), options.reference)
    for average in AVERAGES:
        result = delong(rows.true, rows.predicted, average=cast(AveragedAuc, average), labels=np.arange(n_classes))
        level = options.confidence_level
        of_pairs, tests = pairwise_delong(result, pairs, correction=CORRECTION, confidence_level=level)
        equality = result.equality_test(confidence_level=level) if len(rows.predicted) > 2 else None
        found[average] = AveragedAucTests(equality, of_pairs, tests)
    return found


# The document ---------------------------------------------------------------------------------------------------------


def probabilities_verdict(comparison: ProbabilitiesComparison) -> list[str]:
    """Return sentences on which model is best, and on DeLong's tests."""
    said = verdict(comparison.report, comparison.block)
    for average, each in comparison.delong.items():
        if np.isnan(each.pairs.pvalue).any():
            continue
        is_one = len(each.tests) == 1
        of_pairs = pairs_sentence(each.pairs, AVERAGES[average][1], "DeLong's test")
        said.append(each.tests[0].conclusion if is_one else of_pairs)
    return said


def _opening(comparison: ProbabilitiesComparison) -> Iterator[Part]:
    yield from (Sentence(text, "verdict", TEXT) for text in probabilities_verdict(comparison))
    yield GAP


def _parts(comparison: ProbabilitiesComparison) -> Iterator[Part]:
    report, block, names = comparison.report, comparison.block, comparison.report.metrics
    yield from (Sentence(text, "verdict", RICH) for text in probabilities_verdict(comparison))
    if report.roles.groups is None:
        yield Sentence(INDEPENDENT.format(option("groups")), "caution", RICH)
    yield models_table(report, "metrics", names, metric_rows(block, names))
    yield from (Sentence(note, "note", TEXT) for note in undefined_notes(report, block))
    titles, differences = list(map(metric_title, names)), block.intervals.differences if block.intervals else ()
    yield Table("metrics", "Metrics", ["Model", *titles], metric_rows(block, names), only=RICH)
    yield from (GAP, differences_written(report, "differences", block, names))
    yield Table(
        "differences", "Differences of models", ["Models", *titles], difference_rows(differences, names), only=RICH
    )
    short = shorten_names(list(map(str, report.roles.models)), LONGEST_NAME)
    for average, each in comparison.delong.items():
        yield GAP
        yield from _test_parts(average, each, short)
    if comparison.delong:
        yield Sentence(f"* significant difference at level {_alpha(comparison):g}", only=TEXT)
    yield GAP
    yield from (Sentence(caution, "caution") for caution in block_cautions(report, block))
    captions = CAPTIONS
    if report.reference is not None:
        title = f"p-values of {describe_pairs(report.reference)}"
        captions = {**CAPTIONS, "pvalues": CAPTIONS["pvalues"]._replace(title=title)}
    yield Figures(comparison.panels, captions)


def _alpha(comparison: ProbabilitiesComparison) -> float:
    return next(iter(comparison.delong.values())).pairs.alpha


def _test_parts(average: str, each: AveragedAucTests, short: Sequence[str]) -> Iterator[Part]:
    """Yield DeLong's tests of an average; the text has the ends of intervals in columns."""
    pairs, several = each.pairs, len(each.tests) > 1

    def rows(*, in_columns: bool) -> Iterator[Row]:
        for k in pairs_by_pvalue(pairs):
            test, (one, other) = each.tests[k], pairs.pairs[k]
            low, high = interval = test.confidence_interval or NOWHERE
            emphasis = "shown" if pairs.rejected[k] else ""
            ends = [Number(value) for value in (float(pairs.effect[k]), low, high)]
            effect = [Number(float(pairs.effect[k]), interval)]
            yield Row(
                f"{pairs.names[one]} - {pairs.names[other]}",
                [*(ends if in_columns else effect), Number(test.statistic), PValue(float(pairs.pvalue[k]), emphasis)],
                short=f"{short[one]} - {short[other]}",
            )

    title, equal = f"DeLong's test of the {AVERAGES[average][0]}".replace("the M", "M"), _equality(each.equality)
    adjusted = f" (p adjusted: {CORRECTION}, intervals are not)" if several else ""
    yield Sentence(title + adjusted, "line", TEXT)
    if equal:
        yield Sentence(equal, "line", TEXT)
    table = Table(
        "delong", title, ["", "difference", "from", "to", "Z", "p"], lambda: rows(in_columns=True), only=TEXT,
        n_shown=MOST_PAIRS, more=more_pairs(len(pairs.pairs)), starred=True,
    )  # fmt: skip
    yield table
    columns = ["Models", "difference", "Z", f"p (adjusted: {CORRECTION})" if several else "p"]
    yield table._replace(columns=columns, rows=lambda: rows(in_columns=False), only=RICH, starred=False, note=equal)


def _equality(test: SignificanceResult | None) -> str:
    """Return the statistic and p of the test that no model differs; "" without one."""
    if test is None or math.isnan(test.statistic):
        return ""
    return f"all equal: chi-square({test.df:g}) = {format_number(test.statistic)}, p {format_pvalue(test.pvalue)}"
