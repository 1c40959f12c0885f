"""Models compared by the classes that they predict on the same rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastevals import __version__
from fastevals._choices import McNemarMethod
from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning, check_integer, check_number
from fastevals._random import seed_number
from fastevals._text import (
    format_label,
    format_number,
    format_pvalue,
    format_tables,
    printable,
    select_pairs,
    shorten_names,
    wrap_text,
)
from fastevals._validation.labels import Classes
from fastevals.document.frames import Columns
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
from fastevals.reading.columns import NamedColumns, encode_groups
from fastevals.results import MAX_RESAMPLES, Interval, as_json
from fastevals.show.predicted import class_metrics, read_classes
from fastevals.show.report.intervals import Intervals, metric_title, read_intervals
from fastevals.show.text_result import TextResult

if TYPE_CHECKING:
    from fastevals.document.page.page import Page

CORRECTION: Correction = "holm"
LONGEST_NAME = 26  # of a model, so that a table has no more than 120 characters


@dataclass(frozen=True, slots=True, repr=False)
class PredictionsComparison(TextResult):
    """A comparison of models by their predictions, which prints itself as text.

    Attributes
    ----------
    label, groups : str
        Columns, `groups` None where rows are drawn by themselves.
    classes : Classes
        Labels that occur, the positive one of two last.
    n_rows : int
        Rows.
    models : ModelComparison
        Metrics with intervals, and their differences.
    cochran : CochranResult or None
        Whether accuracies differ at all, of three models or more.
    pairs : McNemarPairs
        McNemar's tests, adjusted for their number.
    tests : tuple of McNemarResult
        The same of each pair by itself.
    data : str
        Where the columns are from.
    """

    label: str
    groups: str | None
    classes: Classes
    n_rows: int
    models: ModelComparison
    cochran: CochranResult | None
    pairs: McNemarPairs
    tests: tuple[McNemarResult, ...]
    data: str

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as strict JSON: NaN is None, what is infinite "Infinity"."""
        values = {
            "fastevals": __version__,
            "data": self.data,
            "compared": "predictions",
            "label": self.label,
            "group": self.groups,
            "classes": self.classes.labels,
            "n_samples": self.n_rows,
            **{name: value for name, value in self.models.to_dict().items() if name != "labels"},
            "cochran": None if self.cochran is None else self.cochran.to_dict(),
            "mcnemar": self.pairs.to_dict(),
            "mcnemar_tests": [test.to_dict() for test in self.tests],
        }
        return {name: as_json(value) for name, value in values.items()}

    def to_text(self) -> str:
        """Return the comparison as text to read, the last line with a line end."""
        rows = f"{self.n_rows} row{'s' * (self.n_rows != 1)}"
        names = shorten_names(self.pairs.names, LONGEST_NAME)
        shown, more = select_pairs(self.pairs.pvalue, self.pairs.unadjusted_pvalue)
        models, differences = format_tables([self._model_rows(names), self._difference_rows(names, shown)])
        lines = [
            f"fastevals compare: {printable(self.data)}",
            *wrap_text(f"label {printable(self.label)}, {rows}, {self.describe_classes()}"),
            *wrap_text(self.describe_intervals()),
            "",
            *models,
            "",
            *differences,
            *more,
            "",
        ]
        if self.cochran is not None:
            statistic, p = self.cochran
            lines += [
                f"Cochran's Q = {format_number(statistic)}, p {format_pvalue(p)}",
                *wrap_text(self.cochran.conclusion),
                "",
            ]
        lines += [*self._mcnemar_lines(names, shown), *more]
        lines.append(f"* differs at level {self.pairs.alpha:g}; of the others it is not shown")
        lines += [f"! : {caution}" for caution in self.cautions()]
        return "\n".join(lines) + "\n"

    def cautions(self) -> list[str]:
        """Return what may mislead."""
        notes = []
        differences = [difference for metric in self.models.values() for difference in metric.differences]
        if any(difference.value and difference.standard_error == 0 for difference in differences):
            notes.append("a difference is the same in all replicates: its interval and its p say nothing")
        if self.groups is not None:
            notes.append("McNemar's test takes rows as independent: it makes no allowance for groups")
        return notes

    def values(self) -> dict[str, dict[str, float]]:
        """Return the models' metrics."""
        return {
            model: {name: float(each.estimates[model].value) for name, each in self.models.items()}
            for model in self.pairs.names
        }

    @property
    def intervals(self) -> Intervals:
        """The intervals of models and of their differences, as reports have them."""
        return read_intervals(self.models, list(self.pairs.names), list(self.models), None)

    def _columns(self) -> Columns:
        return self.models._columns()

    def to_page(self) -> Page:
        """Return what the comparison's page shows."""
        from fastevals.show.compare.page import predictions_page

        return predictions_page(self)

    def describe_classes(self) -> str:
        """Return how many classes there are, and which is positive."""
        labels, positive = self.classes
        if positive is not None:
            return f"2 classes, positive class {format_label(positive)}"
        if labels.size != 2:
            return f"{labels.size} class{'es' * (labels.size != 1)}"
        names = " and ".join(map(format_label, labels.tolist()))
        hint = f"{option('pos_label')} gives its precision, recall and F1"
        return f"2 classes, {names}; which is positive is not said: {hint}"

    def describe_intervals(self) -> str:
        """Return how intervals were made."""
        models = self.models
        text = f"intervals {models.method}, level {models.confidence_level:g}, {models.n_resamples} replicates"
        return text if self.groups is None else f"{text}, rows of one {printable(self.groups)} drawn together"

    def _model_rows(self, names: Sequence[str]) -> list[list[str]]:
        rows = [["model", *map(metric_title, self.models)]]
        for model, name in zip(self.pairs.names, names, strict=True):
            estimates = [metric.estimates[model] for metric in self.models.values()]
            rows.append([name, *(format_number(each.value) for each in estimates)])
            rows += _interval_rows([each.confidence_interval for each in estimates])
        return rows

    def _difference_rows(self, names: Sequence[str], shown: Sequence[int]) -> list[list[str]]:
        rows = [["difference", *([""] * len(self.models))]]
        for k in shown:
            differences = [metric.differences[k] for metric in self.models.values()]
            first, second = (names[place] for place in self.pairs.pairs[k])
            rows.append([f"{first} - {second}", *(format_number(each.value) for each in differences)])
            rows += _interval_rows([each.confidence_interval for each in differences])
            rows.append(["  p", *(format_pvalue(each.pvalue) for each in differences)])
        return rows

    def _mcnemar_lines(self, names: Sequence[str], shown: Sequence[int]) -> list[str]:
        rows = [["", "first alone", "second alone", "odds ratio", "from", "to", "p", ""]]
        for k in shown:
            test = self.tests[k]
            first, second = (names[place] for place in self.pairs.pairs[k])
            low, high = test.confidence_interval or Interval(math.nan, math.nan)
            rows.append(
                [
                    f"{first}, {second}", str(test.table[0, 1]), str(test.table[1, 0]), _ratio(test.effect),
                    _ratio(low), _ratio(high), format_pvalue(self.pairs.pvalue[k]),
                    "*" if self.pairs.rejected[k] else "",
                ]
            )  # fmt: skip
        adjusted = f" (p adjusted: {CORRECTION}, intervals are not)" if len(self.tests) > 1 else ""
        title = MCNEMAR_METHODS[self.tests[0].method]
        return [f"{title}: rows that one of two models gets right{adjusted}", *format_tables([rows])[0]]


def compare_prediction_columns(
    columns: NamedColumns,
    label: str,
    models: Sequence[str],
    *,
    groups: str | None,
    method: McNemarMethod,
    n_resamples: int,
    rng: Any,
    confidence_level: float,
    progress: bool,
    pos_label: Any = None,
    data: str = "",
) -> PredictionsComparison:
    """Compare the `models` whose predictions are columns; `data` is where they are from, the rest is as in `compare`.

    Raise if a column doesn't hold classes, or an option is out of range.
    """
    check_number(option("confidence_level"), confidence_level, low=0, high=1, open_low=True, open_high=True)
    check_integer(option("n_resamples"), n_resamples, low=1, high=MAX_RESAMPLES)
    seed = seed_number(option("rng"), rng)
    true, predicted, classes, wanted = read_classes(columns, label, models, pos_label)
    together = None if groups is None else encode_groups(f"{option('groups')} {groups!r}", columns[groups])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # a dash says what is undefined
        comparison = compare_predictions(
            true, predicted, metrics=class_metrics(classes), groups=together, n_resamples=n_resamples, pos_label=wanted,
            rng=seed, confidence_level=confidence_level, progress=progress,
        )  # fmt: skip
        pairs = pairwise_mcnemar_tests(
            true, predicted, method=method, correction=CORRECTION, confidence_level=confidence_level
        )
        tests = tuple(
            mcnemar_test_of_table(
                table, method=method, names=[pairs.names[place] for place in pair], confidence_level=confidence_level
            )
            for table, pair in zip(pairs.tables, pairs.pairs, strict=True)
        )
        cochran = cochran_q_test(true, predicted, confidence_level=confidence_level) if len(models) > 2 else None
    return PredictionsComparison(label, groups, classes, true.size, comparison, cochran, pairs, tests, data)


def _interval_rows(intervals: Sequence[Interval]) -> list[list[str]]:
    lows, highs = zip(*intervals, strict=True)
    return [["  from", *map(format_number, lows)], ["  to", *map(format_number, highs)]]


def _ratio(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "-"
    return "inf" if math.isinf(value) else f"{value:.4g}"
