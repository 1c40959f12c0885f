"""Models compared by the classes that they predict on the same rows."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import __version__
from fastevals import _validation as check
from fastevals.infer.comparison import ModelComparison, compare_predictions
from fastevals.infer.significance.cochran import CochranResult, cochran_q_test
from fastevals.infer.significance.mcnemar import MCNEMAR_METHODS, McNemarResult, mcnemar_test
from fastevals.infer.significance.mcnemar_pairs import pairwise_mcnemar_tests
from fastevals.infer.significance.pairwise import PairwiseResult
from fastevals.measure.asked import AskedMetric, metric
from fastevals.measure.results import Interval
from fastevals.show.words import aligned, digits, json_values, printable, probability

__all__ = ["PredictionsComparison", "compare_columns"]

CORRECTION = "holm"
OF_TWO = ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "matthews", "cohen_kappa")
OF_MORE = ("accuracy", "balanced_accuracy", "f1", "matthews", "cohen_kappa")
HEADS = {"balanced_accuracy": "bal. acc.", "matthews": "MCC", "cohen_kappa": "kappa", "f1": "F1"}
MOST_PAIRS = 45  # in text; JSON has all


@dataclass(frozen=True, slots=True)
class PredictionsComparison:
    """What is found of models' predictions.

    Attributes
    ----------
    label, group : str
        Columns, `group` None where rows are drawn by themselves.
    classes : ndarray
        Labels that occur.
    n_rows : int
        Rows.
    models : ModelComparison
        Metrics with intervals, and their differences.
    cochran : CochranResult or None
        Whether accuracies differ at all, of three models or more.
    pairs : PairwiseResult
        McNemar's tests, adjusted for their number.
    tests : tuple of McNemarResult
        The same of each pair by itself.
    """

    label: str
    group: str | None
    classes: NDArray[Any]
    n_rows: int
    models: ModelComparison
    cochran: CochranResult | None
    pairs: PairwiseResult
    tests: tuple[McNemarResult, ...]

    def to_json(self, data: str) -> str:
        """Give the comparison as strict JSON, the last line with a line end."""
        values = {
            "fastevals": __version__,
            "data": data,
            "compared": "predictions",
            "label": self.label,
            "group": self.group,
            "classes": self.classes,
            "n_samples": self.n_rows,
            **self.models.to_dict(),
            "cochran": None if self.cochran is None else self.cochran.to_dict(),
            "mcnemar": self.pairs.to_dict(),
            "mcnemar_tests": [test.to_dict() for test in self.tests],
        }
        return json.dumps(json_values(values), indent=2, allow_nan=False) + "\n"

    def to_text(self, data: str) -> str:
        """Give the comparison as text to read, the last line with a line end."""
        positive = f", positive class {printable(str(self.classes[1]))}" if self.classes.size == 2 else ""
        models, differences = aligned([self._model_rows(), self._difference_rows()])
        lines = [
            f"fastevals compare: {printable(data)}",
            f"label {printable(self.label)}, {self.n_rows} rows, {self.classes.size} classes{positive}",
            self._how_made(),
            "",
            *models,
            "",
            *differences,
            "",
        ]
        if self.cochran is not None:
            statistic, p = self.cochran
            lines += [f"Cochran's Q = {digits(statistic)}, p {probability(p)}", self.cochran.conclusion, ""]
        lines += self._mcnemar_lines()
        return "\n".join(lines) + "\n"

    def _how_made(self) -> str:
        made = self.models
        how = f"intervals {made.method}, level {made.confidence_level:g}, {made.n_resamples} replicates"
        return how if self.group is None else f"{how}, rows of one {printable(self.group)} drawn together"

    def _model_rows(self) -> list[list[str]]:
        rows = [["model", *(HEADS.get(name, name) for name in self.models)]]
        for name in self.pairs.names:
            found = [each.estimates[name] for each in self.models.values()]
            rows.append([printable(str(name)), *(digits(each.value) for each in found)])
            rows += _end_rows([each.confidence_interval for each in found])
        return rows

    def _difference_rows(self) -> list[list[str]]:
        rows = [["difference", *([""] * len(self.models))]]
        for k in range(min(len(self.pairs), MOST_PAIRS)):
            found = [each.differences[k] for each in self.models.values()]
            name = f"{printable(str(found[0].model))} - {printable(str(found[0].reference))}"
            rows.append([name, *(digits(each.value) for each in found)])
            rows += _end_rows([each.confidence_interval for each in found])
            rows.append(["  p", *(probability(each.pvalue) for each in found)])
        return rows

    def _mcnemar_lines(self) -> list[str]:
        rows = [["", "first alone", "second alone", "odds ratio", "from", "to", "p", ""]]
        for k, test in enumerate(self.tests[:MOST_PAIRS]):
            first, second = (printable(str(self.pairs.names[place])) for place in self.pairs.pairs[k])
            low, high = test.confidence_interval or Interval(math.nan, math.nan)
            rows.append(
                [
                    f"{first}, {second}", str(test.table[0, 1]), str(test.table[1, 0]), _ratio(test.effect),
                    _ratio(low), _ratio(high), probability(self.pairs.pvalue[k]), "*" if self.pairs.rejected[k] else "",
                ]
            )  # fmt: skip
        adjusted = f" (p adjusted: {CORRECTION})" if len(self.tests) > 1 else ""
        title = MCNEMAR_METHODS[self.tests[0].method]
        lines = [f"{title}: rows that one of two models gets right{adjusted}", *aligned([rows])[0]]
        if len(self.tests) > MOST_PAIRS:
            lines.append(f"... {len(self.tests) - MOST_PAIRS} more pairs: JSON has all")
        lines.append(f"* differs at level {self.pairs.alpha:g}; of the others it is not shown")
        if self.group is not None:
            lines.append("! : McNemar's test takes rows as independent: it makes no allowance for groups")
        return lines


def compare_columns(
    columns: Mapping[str, NDArray[Any]],
    label: str,
    models: Sequence[str],
    *,
    group: str | None,
    method: str,
    resamples: int,
    seed: int,
    confidence: float,
    progress: bool,
) -> PredictionsComparison:
    """Compare the models whose predictions are columns.

    Parameters
    ----------
    columns : mapping of str to ndarray of shape (n_rows,)
        That of the true class, the models' and that of groups.
    label, models, group : str, sequence of str, str or None
        Which is what.
    method, resamples, seed, confidence, progress
        As the options of the command.

    Returns
    -------
    PredictionsComparison
        Which gives itself as text and JSON.

    Raises
    ------
    ValueError
        If a column doesn't hold classes, or an option is out of range.
    """
    check.check_number("--confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    check.check_integer("--resamples", resamples, low=1)
    true = check.as_true_labels(f"--label {label!r}", columns[label])
    predicted = check.as_predicted_labels(true, {f"--pred {name!r}": columns[name] for name in models})
    classes = np.unique(np.concatenate([np.unique(column) for column in (true, *predicted.values())]))
    predicted = dict(zip(models, predicted.values(), strict=True))
    asked: dict[str, AskedMetric] = {}
    for name in OF_TWO if classes.size == 2 else OF_MORE:
        each = metric(name, average="macro") if name == "f1" and classes.size != 2 else metric(name)
        asked["F1 (macro)" if each.options else name] = each
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", check.UndefinedMetricWarning)  # a dash says what is undefined
        found = compare_predictions(
            true, predicted, metrics=asked, groups=None if group is None else columns[group], n_resamples=resamples,
            rng=seed, confidence_level=confidence, progress=progress,
        )  # fmt: skip
        pairs = pairwise_mcnemar_tests(
            true, predicted, method=method, correction=CORRECTION, confidence_level=confidence
        )
        tests = tuple(
            mcnemar_test(true, predicted[models[i]], predicted[models[j]], method=method, confidence_level=confidence)
            for i, j in pairs.pairs
        )
        cochran = cochran_q_test(true, predicted, confidence_level=confidence) if len(models) > 2 else None
    return PredictionsComparison(label, group, classes, true.size, found, cochran, pairs, tests)


def _end_rows(intervals: Sequence[Interval]) -> list[list[str]]:
    lows, highs = zip(*intervals, strict=True)
    return [["  from", *map(digits, lows)], ["  to", *map(digits, highs)]]


def _ratio(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "-"
    return "inf" if math.isinf(value) else f"{value:.4g}"
