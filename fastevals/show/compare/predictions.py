"""A comparison of models by the classes that they predict on the same rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fastevals._choices import McNemarMethod
from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning, check_integer, check_number
from fastevals._random import seed_number
from fastevals._text import MOST_PAIRS, format_label, format_number, format_pvalue, more_pairs, printable, shorten_names
from fastevals._validation.labels import Classes
from fastevals.document.document import (
    GAP,
    RICH,
    TEXT,
    Cell,
    Count,
    DifferenceCell,
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
    ends_by_name,
)
from fastevals.document.frames import Columns
from fastevals.document.result import Result
from fastevals.infer.comparison import ModelComparison, compare_predictions
from fastevals.infer.significance.cochran import CochranResult, cochran_q_test
from fastevals.infer.significance.corrections import Correction
from fastevals.infer.significance.mcnemar import (
    MCNEMAR_METHODS,
    McNemarPairs,
    McNemarResult,
    mcnemar_test_of_table,
    pairwise_mcnemar_tests,
)
from fastevals.infer.significance.pairwise import PairwiseResult, pairs_by_pvalue
from fastevals.measure.registry import metric_title
from fastevals.reading.columns import ColumnRoles, NamedColumns
from fastevals.reading.rows import LeftOut
from fastevals.results import MAX_RESAMPLES, NOWHERE, Interval, as_json
from fastevals.show.compare.pictures import Panels, prediction_panels
from fastevals.show.output import BlockPictures
from fastevals.show.pictures import CAPTIONS, names_of
from fastevals.show.predicted import class_metrics, read_classes
from fastevals.show.report.intervals import Intervals, read_intervals
from fastevals.show.report.json import left_out_values
from fastevals.show.report.kinds import REPORT_KINDS
from fastevals.show.report.notes import describe_left_out, left_out_cautions, title_of
from fastevals.show.schema import json_head
from fastevals.show.verdict import (
    INDEPENDENT,
    ComparedModels,
    describe_pairs,
    describe_reference,
    level_sentence,
    listed,
    metric_sentences,
    next_sentence,
)

CORRECTION: Correction = "holm"
LONGEST_NAME = 26  # characters of a model's name, so that a line has 120 at most


@dataclass(frozen=True, slots=True, repr=False)
class PredictionsComparison(Result):
    """A comparison of models by their predictions, which prints itself as text.

    Attributes
    ----------
    roles : ColumnRoles
        Columns.
    classes : Classes
        The labels that occur; if there are two, the positive one is last.
    n_rows : int
        Rows.
    models : ModelComparison
        Metrics with intervals, and their differences.
    cochran : CochranResult or None
        Test of whether accuracies differ at all, for three models or more.
    pairs : McNemarPairs
        McNemar's tests, with p adjusted for their number.
    tests : tuple of McNemarResult
        McNemar's test of each pair, without adjustment.
    data : str
        Name of the data.
    left_out : LeftOut
        Rows left out because they lack a label or a prediction, by the column where it is missing.
    reference : str or None
        The model that the others are compared with; None if all pairs are compared.
    """

    roles: ColumnRoles
    classes: Classes
    n_rows: int
    models: ModelComparison
    cochran: CochranResult | None
    pairs: McNemarPairs
    tests: tuple[McNemarResult, ...]
    data: str
    left_out: LeftOut
    reference: str | None = None

    @property
    def label(self) -> str:
        """The column of the true class."""
        return self.roles.truth

    @property
    def groups(self) -> str | None:
        """The column of clusters; None if rows are independent."""
        return self.roles.groups

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as strict JSON: NaN becomes None; infinite values become "Infinity" or "-Infinity"."""
        values = {
            **json_head(),
            "data": self.data,
            "compared": "predictions",
            **({} if self.reference is None else {"reference": self.reference}),
            "label": self.label,
            "group": self.groups,
            "classes": self.classes.labels,
            "n_samples": self.n_rows,
            "n_dropped": self.left_out.n_rows,
            "dropped": left_out_values(self.roles, self.left_out),
            **{name: value for name, value in self.models.to_dict().items() if name != "labels"},
            "cochran": None if self.cochran is None else self.cochran.to_dict(),
            "mcnemar": self.pairs.to_dict(),
            "mcnemar_tests": [test.to_dict() for test in self.tests],
        }
        return {name: as_json(value) for name, value in values.items()}

    def cautions(self) -> list[str]:
        """Return caveats."""
        notes = left_out_cautions(self.left_out, self.roles.models, REPORT_KINDS["labels"].lacking)
        differences = [difference for metric in self.models.values() for difference in metric.differences]
        if any(difference.value and difference.standard_error == 0 for difference in differences):
            notes.append("a difference is the same in all replicates: disregard its interval and p")
        if self.groups is not None:
            notes.append("McNemar's test treats rows as independent, so with clusters rely on the intervals instead")
        return notes

    def values(self) -> dict[str, dict[str, float]]:
        """Return the models' metrics."""
        return {
            model: {name: float(each.estimates[model].value) for name, each in self.models.items()}
            for model in self.pairs.names
        }

    @property
    def intervals(self) -> Intervals:
        """The intervals of models and their differences, in the form that reports use."""
        return read_intervals(self.models, list(self.pairs.names), list(self.models), None)

    def _columns(self) -> Columns:
        return self.models._columns()

    def _document(self) -> Document:
        rows = f"row{'s' * (self.n_rows != 1)}"
        classes, intervals = self.describe_classes(), self.describe_intervals()
        names = list(map(str, self.pairs.names))
        dropped = describe_left_out(self.left_out, self.roles.lacking) if self.left_out.n_rows else ""
        reference = "" if self.reference is None else describe_reference(self.reference)
        return Document(
            "compare",
            title_of(self.data, names),
            [
                Fact("label", f"{printable(self.label)}, {classes}", RICH),
                *([Fact("dropped", dropped, RICH)] if dropped else []),
                *([Fact("reference", reference, RICH)] if reference else []),
                Fact("intervals", intervals, RICH),
            ],
            [Section(_parts(self), size=f"{self.n_rows:,} {rows}")],
            [
                Sentence(f"label {printable(self.label)}, {self.n_rows} {rows}, {classes}", only=TEXT),
                *([Sentence(f"dropped {dropped}", only=TEXT)] if dropped else []),
                *([Sentence(f"reference {reference}", only=TEXT)] if reference else []),
                Sentence(f"intervals {intervals}", only=TEXT),
            ],
            names,
            self.to_dict,
        )

    def panels(self) -> Panels:
        """Yield the pictures, by name."""
        return prediction_panels(self.values(), self.intervals, self.pairs, self.cochran or self.tests[0])

    def pictures(self) -> BlockPictures:
        """Return the pictures for `--out`."""
        return BlockPictures(names_of("compare"), None, (), lambda _: self.panels())

    def describe_classes(self) -> str:
        """Say how many classes there are, and which is positive."""
        labels, positive = self.classes
        if positive is not None:
            return f"2 classes, positive class {format_label(positive)}"
        if labels.size != 2:
            return f"{labels.size} class{'es' * (labels.size != 1)}"
        names = " and ".join(map(format_label, labels.tolist()))
        return (
            f"2 classes, {names}; name the positive class with {option('pos_label')} for its precision, recall and F1"
        )

    def describe_intervals(self) -> str:
        """Say how intervals were made."""
        models = self.models
        drawn = "rows" if self.groups is None else f"clusters of {printable(self.groups)}"
        level = f"{100 * models.confidence_level:.6g} %"
        return f"{level}, {models.method}, {models.n_resamples:,} bootstrap replicates of {drawn}"


def compare_prediction_columns(
    columns: NamedColumns,
    roles: ColumnRoles,
    *,
    method: McNemarMethod,
    n_resamples: int,
    rng: Any,
    confidence_level: float,
    progress: bool,
    pos_label: Any = None,
    data: str = "",
    reference: str | None = None,
) -> PredictionsComparison:
    """Compare models whose predictions are columns; `data` names the data, and other arguments are as in `compare`.

    Raise if a column doesn't hold classes, or an option is out of range.
    """
    check_number(option("confidence_level"), confidence_level, low=0, high=1, open_low=True, open_high=True)
    check_integer(option("n_resamples"), n_resamples, low=1, high=MAX_RESAMPLES)
    seed = seed_number(option("rng"), rng)
    models, groups = roles.models, roles.groups
    true, predicted, classes, wanted = read_classes(columns, roles.truth, models, pos_label)
    together = None if groups is None else columns.encode_groups(f"{option('groups')} {groups!r}", groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # a dash says what is undefined
        comparison = compare_predictions(
            true, predicted, metrics=class_metrics(classes), groups=together, n_resamples=n_resamples, pos_label=wanted,
            rng=seed, confidence_level=confidence_level, progress=progress, reference=reference,
        )  # fmt: skip
        pairs = pairwise_mcnemar_tests(
            true, predicted, method=method, reference=reference, correction=CORRECTION,
            confidence_level=confidence_level,
        )  # fmt: skip
        tests = tuple(
            mcnemar_test_of_table(
                table, method=method, names=[pairs.names[place] for place in pair], confidence_level=confidence_level
            )
            for table, pair in zip(pairs.tables, pairs.pairs, strict=True)
        )
        cochran = cochran_q_test(true, predicted, confidence_level=confidence_level) if len(models) > 2 else None
    return PredictionsComparison(
        roles, classes, true.size, comparison, cochran, pairs, tests, data, columns.left_out, reference
    )


# The document ---------------------------------------------------------------------------------------------------------


def _parts(comparison: PredictionsComparison) -> Iterator[Part]:
    short = shorten_names(comparison.pairs.names, LONGEST_NAME)
    for sentence in predictions_verdict(comparison):
        yield Sentence(sentence, "verdict")
    yield GAP
    if comparison.groups is None:
        yield Sentence(INDEPENDENT.format(option("groups")), "caution", RICH)
    yield from (_metric_table(comparison, short), GAP, _difference_table(comparison, short), GAP)
    if comparison.cochran is not None:
        statistic, p = comparison.cochran
        yield from (Sentence(f"Cochran's Q = {format_number(statistic)}, p {format_pvalue(p)}", only=TEXT), GAP)
    yield from _mcnemar_parts(comparison, short)
    yield Sentence(f"* significant difference at level {comparison.pairs.alpha:g}", only=TEXT)
    yield from (Sentence(caution, "caution") for caution in comparison.cautions())
    captions = CAPTIONS
    if comparison.reference is not None:
        title = f"p-values of {describe_pairs(comparison.reference)}"
        captions = {**CAPTIONS, "pvalues": CAPTIONS["pvalues"]._replace(title=title)}
    yield Figures(comparison.panels, captions)


def predictions_verdict(comparison: PredictionsComparison) -> list[str]:
    """Return sentences on which model is best, and on McNemar's test."""
    reference = comparison.reference
    models = ComparedModels(comparison.values(), comparison.intervals, comparison.models.confidence_level, reference)
    others, first = [metric for metric in comparison.models if metric != "accuracy"], comparison.tests[0]
    return [
        *metric_sentences(models, "accuracy"),
        *filter(None, [next_sentence(models, "accuracy", others), level_sentence(comparison.intervals, reference)]),
        first.conclusion
        if len(comparison.tests) == 1
        else pairs_sentence(comparison.pairs, "accuracies", MCNEMAR_METHODS[first.method].removeprefix("The ")),
        *([] if comparison.cochran is None else [comparison.cochran.conclusion]),
    ]


def pairs_sentence(pairs: PairwiseResult, what: str, test: str) -> str:
    """Say which pairs of models differ significantly; `what` names what is tested, in the plural."""
    differ = [
        " and ".join(printable(str(pairs.names[place])) for place in pair)
        for pair, is_rejected in zip(pairs.pairs, pairs.rejected, strict=True)
        if is_rejected
    ]
    adjusted = f"{test}, {CORRECTION.title()}-adjusted for {len(pairs.pairs)} pairs"
    if not differ:
        return f"No significant difference between {what} ({adjusted})."
    which = f"all {len(differ)} compared pairs" if len(differ) == len(pairs.pairs) else listed(differ, 3)
    return f"The {what} of {which} differ significantly ({adjusted})."


def _metric_table(comparison: PredictionsComparison, short: Sequence[str]) -> Table:
    metrics = comparison.models

    def rows() -> Iterator[Row]:
        highest = {name: max(float(each.value) for each in of.estimates.values()) for name, of in metrics.items()}
        for place, model in enumerate(comparison.pairs.names):
            estimates = {name: metric.estimates[model] for name, metric in metrics.items()}
            cells = [
                Number(float(each.value), each.confidence_interval, "best" if each.value == highest[name] else "")
                for name, each in estimates.items()
            ]
            yield Row(str(model), cells, place, short[place])

    titles = list(map(metric_title, metrics))
    return Table("metrics", "Metrics", ["Model", *titles], rows, heads=["model", *titles], aligned="models")


def _difference_table(comparison: PredictionsComparison, short: Sequence[str]) -> Table:
    pairs, metrics = comparison.pairs, comparison.models

    def rows() -> Iterator[Row]:
        for k in pairs_by_pvalue(pairs):
            (one, other), of_metrics = pairs.pairs[k], [metric.differences[k] for metric in metrics.values()]
            cells = [DifferenceCell(float(each.value), each.confidence_interval, each.pvalue) for each in of_metrics]
            yield Row(f"{pairs.names[one]} - {pairs.names[other]}", cells, short=f"{short[one]} - {short[other]}")

    titles = list(map(metric_title, metrics))
    return Table(
        "differences", "Differences of models", ["Models", *titles], rows, n_shown=MOST_PAIRS,
        more=more_pairs(len(pairs.pairs)), heads=["difference", *([""] * len(metrics))], aligned="models",
    )  # fmt: skip


def _mcnemar_parts(comparison: PredictionsComparison, short: Sequence[str]) -> Iterator[Part]:
    """Yield McNemar's tests; the text has the ends of intervals in columns."""
    pairs, tests = comparison.pairs, comparison.tests

    def rows(*, in_columns: bool) -> Iterator[Row]:
        for k in pairs_by_pvalue(pairs):
            test, (one, other) = tests[k], pairs.pairs[k]
            odds, interval = test.effect, test.confidence_interval or NOWHERE
            emphasis = "shown" if pairs.rejected[k] else ""
            ratios = [_ratio(odds), _ratio(interval.low), _ratio(interval.high)]
            p = PValue(float(pairs.pvalue[k]), emphasis)
            exact = "" if odds is None else repr(odds)
            ratio = Cell(ratios[0], exact, _ratio_ends(interval), numbers=ends_by_name(interval))
            yield Row(
                f"{pairs.names[one]}, {pairs.names[other]}",
                [Count(int(test.table[0, 1])), Count(int(test.table[1, 0])), *(ratios if in_columns else [ratio]), p],
                short=f"{short[one]}, {short[other]}",
            )

    title, several = f"{MCNEMAR_METHODS[tests[0].method]}: rows that only one of two models gets right", len(tests) > 1
    adjusted = f" (p adjusted: {CORRECTION}, intervals are not)" if several else ""
    yield Sentence(title + adjusted, "line", TEXT)
    table = Table(
        "mcnemar", title, ["", "first alone", "second alone", "odds ratio", "from", "to", "p"],
        lambda: rows(in_columns=True), only=TEXT, n_shown=MOST_PAIRS, more=more_pairs(len(pairs.pairs)), starred=True,
    )  # fmt: skip
    yield table
    p = f"p (adjusted: {CORRECTION})" if several else "p"
    columns = ["Models", "first alone", "second alone", "odds ratio", p]
    yield table._replace(columns=columns, rows=lambda: rows(in_columns=False), only=RICH, starred=False)


def _ratio(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "-"
    return "inf" if math.isinf(value) else f"{value:.4g}"


def _ratio_ends(interval: Interval) -> tuple[str, ...]:
    return () if math.isnan(interval.low) else (f"{_ratio(interval.low)} to {_ratio(interval.high)}",)
