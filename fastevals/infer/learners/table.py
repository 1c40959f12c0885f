"""The table of a paper: results by data set and learner, with ranks, wins and significance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._text import count_of, printable
from fastevals._validation.tables import find_name
from fastevals.document.document import GAP, TEXT, Cell, Document, Part, PValue, Row, Section, Sentence, Table
from fastevals.document.frames import Columns, as_column, make_columns
from fastevals.infer.learners.ranks import HeadToHead, head_to_head, places_of
from fastevals.infer.significance.pairwise import PairwiseResult, pairwise_tests
from fastevals.results import Frozen

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]

WORSE, BETTER = "•", "◦"  # than the reference, significantly
UNDEFINED = "-"  # for a missing result
DIGITS, MOST_DECIMALS = 4, 10  # of the largest result
SCALES_APART = 100.0  # ratio of the largest results of data sets from which each has its own number of decimals
LEAST_FOR_SECOND = 3  # learners


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResultsTable(Frozen):
    r"""Results by data set and learner as papers print them: the best in bold, with ranks, wins and significance.

    `to_latex`, `to_markdown`, `to_html` and `to_text` write the table, and `to_frame` returns its numbers.

    Attributes
    ----------
    datasets, learners : tuple
        Names of rows and columns.
    means : ndarray of shape (n_datasets, n_learners)
        Mean results over splits; NaN where one is missing.
    deviations : ndarray of shape (n_datasets, n_learners) or None
        Standard deviations over the splits of a data set; None if there is one split.
    mean_ranks : ndarray of shape (n_learners,) or None
        Mean ranks over the data sets on which every learner has a result. None if the direction is unknown.
    best_on : ndarray of int of shape (n_learners,) or None
        Number of these data sets on which a learner is the best or ties with the best.
    metric : str or None
        The metric's name, if known.
    greater_is_better : bool or None
        Whether higher results are better. If unknown, nothing is marked.
    reference : name or None
        The learner that the others are compared with.
    pairs : PairwiseResult or None
        The tests of the other learners against the reference.
    is_worse, is_better : ndarray of bool of shape (n_datasets, n_learners)
        Whether a learner differs significantly from the reference on a data set, by its splits.

    Examples
    --------
    >>> import fastevals
    >>> results = fastevals.Results({"dataset": ["iris", "wine"], "svm": [0.91, 0.97], "tree": [0.91, 0.9]},
    ...                             metric="accuracy")
    >>> print(results.table().to_markdown().split("\n\n")[2])
    | Data set | svm | tree |
    | --- | --: | --: |
    | iris | **0.9100** | **0.9100** |
    | wine | **0.9700** | 0.9000 |
    | Mean | **0.9400** | 0.9050 |
    | Mean rank | **1.25** | 1.75 |
    | Best on | **2** | 1 |
    """

    datasets: tuple[Any, ...]
    learners: tuple[Any, ...]
    means: Floats
    deviations: Floats | None
    mean_ranks: Floats | None
    best_on: NDArray[np.int64] | None
    metric: str | None
    greater_is_better: bool | None
    reference: Any
    pairs: PairwiseResult | None
    is_worse: Marks
    is_better: Marks
    notes: tuple[str, ...]
    _splits: tuple[int, int]  # repeats and folds

    @property
    def _complete(self) -> Marks:
        """Whether every learner has a result on a data set."""
        return np.asarray(~np.isnan(self.means).any(axis=1))

    def _columns(self) -> Columns:
        """Return a row for each data set, with a column for each learner."""
        columns: dict[str, Any] = {}
        for name, column in zip(self.learners, self.means.T, strict=True):
            named = "learner dataset" if name == "dataset" else str(name)
            columns[repr(name) if named in columns else named] = column
        return {"dataset": as_column(self.datasets), **make_columns(columns)}

    def __repr__(self) -> str:
        of = f", {self.metric}" if self.metric else ""
        against = "" if self.reference is None else f", against {self.reference!r}"
        sets, learners = count_of(len(self.datasets), "data set"), count_of(len(self.learners), "learner")
        return f"ResultsTable({sets} x {learners}{of}{against})"

    def _document(self) -> Document:
        title = f"{self.metric or 'results'} of {count_of(len(self.learners), 'learner')} on "
        title += count_of(len(self.datasets), "data set")
        return Document("", title, sections=[Section(self._parts())], numbers=self.to_dict)

    def _parts(self) -> list[Part]:
        """Return the table, its legend and notes."""
        is_marked, has_second = self.greater_is_better is not None, len(self.learners) >= LEAST_FOR_SECOND
        in_text = f"* best of a row{', _ second' * has_second}" if is_marked else ""
        on_page = f"best of a row in bold{', second underlined' * has_second}" if is_marked else ""
        legends = ["; ".join(filter(None, [self._measure(), each, *self._legend()])) for each in (in_text, on_page)]
        head = ["Data set", *(str(name) for name in self.learners)]
        note = f"({legends[1]})" if legends[1] else ""
        table = Table("results", "Results by data set", head, self._rows, note=note, marked=is_marked)
        said: list[Part] = [Sentence(legends[0], only=TEXT)] if legends[0] else []
        return [table, *said, *([GAP] if self.notes else []), *(Sentence(each, "caution") for each in self.notes)]

    def _measure(self) -> str:
        """Return the metric and its direction."""
        better = {True: "higher is better", False: "lower is better", None: ""}[self.greater_is_better]
        return ", ".join(filter(None, [self.metric, better]))

    def _legend(self) -> Iterator[str]:
        """Yield what the other marks and rows mean."""
        if self.deviations is not None:
            repeats, folds = self._splits
            yield f"standard deviation over {repeats} x {folds} splits in parentheses"
        if (self.is_worse | self.is_better).any():
            yield (
                f"{WORSE} significantly worse, {BETTER} significantly better than {printable(str(self.reference))} on "
                "the data set (corrected resampled t-test, p adjusted for its learners by Holm)"
            )
        n, n_complete = len(self.datasets), int(self._complete.sum())
        if 1 < n_complete < n:
            yield f"rows below the line are for the {n_complete} data sets on which every learner has a result"
        if self.pairs is not None:
            over = f"over the {n_complete} data sets" if n > 1 else "over splits"
            yield f"p: {self.pairs.test.removeprefix('the ')} {over}, Holm-adjusted"

    def _rows(self) -> Iterator[Row]:
        """Yield a row for each data set, then the rows below the line."""
        decimals = _decimals_of(self.means)
        for k, dataset in enumerate(self.datasets):
            emphases = self._emphases(self.means[k])
            cells = [self._cell(k, place, decimals[k], emphases[place]) for place in range(len(self.learners))]
            yield Row(str(dataset), cells)
        rows = list(self._summary_rows(int(decimals.max(initial=0))))
        yield from (row._replace(ruled=k == 0) for k, row in enumerate(rows))

    def _cell(self, k: int, place: int, decimals: int, emphasis: str) -> Cell:
        value = float(self.means[k, place])
        if math.isnan(value):
            return Cell(UNDEFINED)
        text = f"{value:.{decimals}f}"
        if self.deviations is not None:
            text += f" ({self.deviations[k, place]:.{decimals}f})"
        mark = WORSE if self.is_worse[k, place] else BETTER if self.is_better[k, place] else " "
        written = f"{text} {mark}" if (self.is_worse | self.is_better).any() else text
        return Cell(written.rstrip(), repr(value), emphasis=emphasis, written=written)

    def _emphases(self, values: Floats) -> list[str]:
        """Return the emphasis of each value of a row: the best, all of them if tied, and the second."""
        found = [""] * len(values)
        if self.greater_is_better is None or np.isnan(values).all():
            return found
        distinct = sorted_unique(values[~np.isnan(values)])
        order = distinct[::-1] if self.greater_is_better else distinct
        marks = ("best", "second") if len(values) >= LEAST_FOR_SECOND else ("best",)
        for emphasis, value in zip(marks, order.tolist(), strict=False):
            found = [emphasis if each == value else mark for each, mark in zip(values.tolist(), found, strict=True)]
        return found

    def _summary_rows(self, decimals: int) -> Iterator[Row]:
        """Yield rows of means, ranks, numbers of wins, and tests against the reference."""
        complete = self.means[self._complete]
        if len(complete) > 1:
            means = complete.mean(axis=0)
            texts = [f"{value:.{decimals}f}" for value in means.tolist()]
            yield Row("Mean", _emphasized(texts, means, self._emphases(means)))
        if self.mean_ranks is not None and self.best_on is not None and len(complete) > 1:
            ranks, counts = self.mean_ranks.tolist(), self.best_on.tolist()
            best = ["best" if rank == min(ranks) else "" for rank in ranks]
            yield Row("Mean rank", _emphasized([f"{rank:.2f}" for rank in ranks], self.mean_ranks, best))
            most = ["best" if count == max(counts) else "" for count in counts]
            yield Row("Best on", _emphasized(list(map(str, counts)), self.best_on, most))
        if self.pairs is None:
            return
        reference, against = find_name("reference", self.reference, self.learners), printable(str(self.reference))
        if len(complete) > 1:
            found: HeadToHead = head_to_head(complete, bool(self.greater_is_better))
            counts = [
                "" if k == reference
                else f"{found.wins[k, reference]}/{found.ties[k, reference]}/{found.wins[reference, k]}"
                for k in range(len(self.learners))
            ]  # fmt: skip
            yield Row(f"Wins/ties/losses against {against}", counts, short=f"w/t/l against {against}")
        pvalues: list[Cell | PValue | str] = [""] * len(self.learners)
        for (k, _), p, rejected in zip(self.pairs.pairs.tolist(), self.pairs.pvalue, self.pairs.rejected, strict=True):
            pvalues[k] = PValue(float(p), "shown" if rejected else "")
        yield Row(f"p against {against}", pvalues)


def _emphasized(texts: list[str], values: NDArray[Any], emphases: list[str]) -> list[Cell]:
    return [
        Cell(text, repr(value), emphasis=emphasis)
        for text, value, emphasis in zip(texts, values.tolist(), emphases, strict=True)
    ]


def _decimals_of(means: Floats) -> NDArray[np.intp]:
    """Return the number of decimals of each row: the same for all, unless their scales are far apart."""
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.nanmax(np.abs(means), axis=1, initial=0.0)
    defined = largest[largest > 0]
    if defined.size and defined.max() <= SCALES_APART * defined.min():
        largest = np.full_like(largest, defined.max())
    with np.errstate(divide="ignore"):
        exponents = np.where(largest > 0, np.ceil(np.log10(largest)), 0)
    decimals: NDArray[np.intp] = np.clip(DIGITS - exponents, 0, MOST_DECIMALS).astype(np.intp)
    return decimals


def make_table(results: Any, *, reference: Any = None, confidence_level: float = 0.95) -> ResultsTable:
    """Return the table of `Results`; see `Results.table`."""
    means, higher = results.means, results.greater_is_better
    n, k = means.shape
    splits = results.values.shape[2:]
    deviations = None
    if splits[0] * splits[1] > 1:
        count = (~np.isnan(results.values)).sum(axis=(2, 3))
        apart = results.values - means[:, :, None, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            deviations = np.where(count > 1, np.sqrt(np.nansum(apart**2, axis=(2, 3)) / (count - 1)), np.nan)
    complete = ~np.isnan(means).any(axis=1)
    mean_ranks = best_on = None
    if higher is not None and complete.any():
        places = places_of(means[complete], higher)
        mean_ranks, best_on = places.ranks.mean(axis=0), (places.first == 1).sum(axis=0)
    notes = list(results.notes)
    if higher is None:
        notes.append("It is unknown whether higher results are better, so none is marked: give higher_is_better.")
    pairs, worse, better = None, *np.zeros((2, n, k), dtype=bool)
    if reference is not None:
        find_name("reference", reference, results.learners)
        if higher is None:
            raise ValueError("higher_is_better must be given, True or False, to compare with a reference")
        pairs = _tests_against(results, means[complete], reference, confidence_level, notes)
        for row in range(n) if deviations is not None and n > 1 else ():
            worse[row], better[row] = _marks_on(results, row, reference, confidence_level)
    return ResultsTable(
        results.datasets, results.learners, means, deviations, mean_ranks, best_on, results.metric, higher, reference,
        pairs, worse, better, tuple(notes), (int(splits[0]), int(splits[1])),
    )  # fmt: skip


def _tests_against(
    results: Any, means: Floats, reference: Any, confidence_level: float, notes: list[str]
) -> PairwiseResult | None:
    """Test the learners against the reference: by data sets or, if there is only one, by its splits."""
    settings = {"reference": reference, "confidence_level": confidence_level}
    if len(results.datasets) > 1:
        if not len(means):
            notes.append("No data set has a result of every learner, so there is no test.")
            return None
        return pairwise_tests(dict(zip(results.learners, means.T, strict=True)), **settings)
    if results.values[0, 0].size < 2 or results.test_to_train is None:
        notes.append("There is no test: for splits of one data set it needs n_train and n_test.")
        return None
    return pairwise_tests(results, test="corrected-resampled-t", **settings)


def _marks_on(results: Any, row: int, reference: Any, confidence_level: float) -> tuple[Marks, Marks]:
    """Return which learners are significantly worse, and better, than the reference on a data set, by its splits."""
    worse, better = np.zeros((2, len(results.learners)), dtype=bool)
    values = results.values[row].reshape(len(results.learners), -1)
    values = values[:, ~np.isnan(values).all(axis=0)]
    if results.test_to_train is None or np.isnan(values).any() or values.shape[1] < 2:
        return worse, better
    n_train, n_test = (int(each[row].sum()) for each in (results._n_train, results._n_test))
    found = pairwise_tests(
        dict(zip(results.learners, values, strict=True)), test="corrected-resampled-t", reference=reference,
        confidence_level=confidence_level, n_train=n_train, n_test=n_test,
    )  # fmt: skip
    for (k, _), effect, rejected in zip(found.pairs.tolist(), found.effect, found.rejected, strict=True):
        if rejected:
            (better if (effect > 0) == results.greater_is_better else worse)[k] = True
    return worse, better


def results_table(results: Any) -> list[Part]:
    """Return the table of `Results` as parts of a document: a row for each data set and a column for each learner."""
    return make_table(results)._parts()
