"""Rows on any number of machines: what Spark and Dask have in common.

An engine brings the rows in partitions to its workers, and bytes back. What is counted there are tasks; what is asked
for, and how answers are read, is here.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_union
from fastevals._execution import get_num_threads, run
from fastevals._options import as_flag, check_choice, check_integer, show
from fastevals._validation.labels import Classes
from fastevals.many.groups import GroupedMetric, MetricsByGroup, group_results
from fastevals.measure.kinds import LABELS, SCORES, TARGETS, array_kind, metric_kinds
from fastevals.measure.metric_specs import parse_metrics
from fastevals.measure.ranking.ranking import Ranking
from fastevals.results import check_confidence_level
from fastevals.scale.cells import ScoreCells
from fastevals.scale.certified import CertifiedRanking
from fastevals.scale.classes import ConfusionSummary
from fastevals.scale.exact import HUNDREDTHS, AtomCounts, ExactCurve, ExactRanking, Keys, atoms_beside
from fastevals.scale.files import RowFiles
from fastevals.scale.grouped import GroupSummary
from fastevals.scale.parquet import threshold_keys
from fastevals.scale.probabilities import ProbabilitySummary
from fastevals.scale.rows import (
    ON_INVALID,
    Rows,
    Weights,
    check_names,
    given_columns,
    joined_checksums,
    named_classes,
    score_names,
)
from fastevals.scale.scores import Counting, ScoresSummary, atoms_by_model, fitted_grids
from fastevals.scale.summary import MOST_CELLS, SAMPLE, as_label
from fastevals.scale.targets import TargetSummary
from fastevals.scale.tasks import (
    MOST_ANSWERS,
    OPENED,
    OTHER_ROWS,
    ArgumentColumns,
    CountedNegatives,
    CountGroups,
    CountNegatives,
    CountRanges,
    CountScores,
    CountValues,
    Gathered,
    GatherPositives,
    LargestWeight,
    MeasuredGroups,
    MeasureGroups,
    PositiveScores,
    RankingColumns,
    SweepRanges,
    Task,
    Where,
    changed,
    opened,
    rows_of,
)

MOST_BROADCAST = 1 << 22  # distinct scores of positives that every worker may have, 100 bytes each while it counts
RANGE_ROWS = 1 << 21  # of a range of scores
MOST_THREADS = 4  # that merge answers here, since each holds some of them opened
MOST_PARTED = 100  # values with a summary each on every worker: of more, those of groups


# What workers do ------------------------------------------------------------------------------------------------------


# What is wrong with a partition (its number, whether that is its rows, and a message) or None, and what was counted of
# it, which may be pickled.
Answer = tuple[tuple[int, bool, str] | None, Any]


def shipped(version: str) -> tuple[Callable[..., Answer], Callable[[bytes, list[Answer]], Answer]]:
    """Return what counts a partition, and what merges answers: functions that need no fastevals to be sent.

    They are pickled by value, and the task, which is `sent` as bytes, is unpickled once fastevals is known to be the
    same on both sides. Each uses one thread: engines have as many tasks at once as there are cores. What is wrong with
    the rows comes back as an answer too: otherwise engines would try again, and print where it was noticed.
    """
    advice = f"install fastevals {version} there"

    def safely(sent: bytes, call: Callable[[Any], Any], number: int) -> Answer:
        try:
            from fastevals import __version__ as own
        except ImportError as error:
            return (number, False, f"workers can't import fastevals ({error}): {advice}"), None
        if own != version:
            return (number, False, f"workers have fastevals {own}, and this is {version}: {advice}"), None
        try:
            from fastevals._execution import num_threads
            from fastevals.scale.tasks import task_of

            with num_threads(1):
                return None, call(task_of(sent))
        except ImportError as error:
            return (number, False, str(error)), None
        except ValueError as error:
            return (number, True, str(error)), None

    def count(sent: bytes, batches: Any, number: int) -> Answer:
        return safely(sent, lambda task: task.answer_of(batches, f"partition {number}"), number)

    def join(sent: bytes, answers: list[Answer]) -> Answer:
        def merged(task: Any) -> Any:
            from fastevals.scale.tasks import opened

            return task.merge(opened(answer for _, answer in answers))

        wrong = [problem for problem, _ in answers if problem is not None]
        return (min(wrong), None) if wrong else safely(sent, merged, -1)

    return count, join


def merged(task: Task, answers: Sequence[Any]) -> Any:
    """Return what answers say together: some threads merge them, a few at once."""
    while len(answers) > 1:
        size = max(-(-len(answers) // min(get_num_threads(), MOST_THREADS)), OPENED)
        chunks = [answers[start : start + size] for start in range(0, len(answers), size)]
        answers = run(lambda chunk: task.merge(opened(chunk)), chunks)
    return next(opened(answers))


class Frame(ABC):
    """Rows of an engine, in partitions.

    Attributes
    ----------
    names : list of str
        Columns.
    samples_rows : bool
        Whether a sample is of rows of all partitions.
    """

    title = "the frame"  # as messages call it
    names: list[str]
    samples_rows: bool

    @abstractmethod
    def sample(self, columns: Sequence[str], n_rows: int) -> tuple[list[Any], bool]:
        """Return record batches of about so many rows from here and there, and whether these are all."""

    @abstractmethod
    def answers(self, task: Task) -> list[Answer]:
        """Return the answers of all partitions to a task, some of them merged."""

    @abstractmethod
    def by_value(self, column: str) -> Frame:
        """Return the same rows, those of a value in one partition."""

    @abstractmethod
    def by_range(self, column: str, n_ranges: int, columns: Sequence[str]) -> contextlib.AbstractContextManager[Frame]:
        """Return the same rows, those of a range of scores in each partition; kept while the context lasts."""

    def do(self, task: Task) -> Any:
        """Do a task, and return the answer of all rows; raise what went wrong."""
        answers = self.answers(task)
        wrong = [problem for problem, _ in answers if problem is not None]
        if wrong:
            _, of_rows, message = min(wrong)
            raise (ValueError if of_rows else ImportError)(message)
        if not answers:
            raise self.no_rows(task.columns.weight)
        return merged(task, [answer for _, answer in answers])

    def no_rows(self, weight: str | None) -> ValueError:
        """Return the error that there is nothing to count."""
        weighed = "" if weight is None else f": column {weight!r} must have a value above zero"
        return ValueError(f"{self.title} has no rows that can be counted{weighed}")

    def check_columns(self, columns: Sequence[str]) -> None:
        """Raise unless there are such columns."""
        RowFiles(self.title, self.names, []).check_columns({name: f"column {name!r}" for name in columns})


# What is asked --------------------------------------------------------------------------------------------------------


class Engine:
    """What is asked of frames of an engine.

    Parameters
    ----------
    open : callable
        Makes a `Frame` of an engine's own.
    """

    def __init__(self, open: Callable[[Any], Frame]) -> None:
        self.open = open

    # Rankings ---------------------------------------------------------------------------------------------------------

    def ranking(
        self,
        data: Any,
        *,
        label: str,
        score: str | Sequence[str],
        weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        pos_label: Any = None,
        exact: bool = False,
        cells: int = 2**18,
        at: ArrayLike = (),
        on_invalid: str = "raise",
    ) -> Any:
        """Return the ranking of all rows of a frame, however many: with a certificate, or exact.

        Workers count their partitions in ranges of scores that are fitted to a sample of the rows; what comes back is
        some hundred kilobytes of each.

        Parameters
        ----------
        data : DataFrame of Spark or Dask
            With a row for each sample.
        label : str
            Column of the true class.
        score : str or sequence of str
            Column of scores, higher for the positive class; of several, a model each, a dict is returned.
        weight : str, optional
            Column of row weights: each row is one independent observation. Those that are whole numbers are counted
            exactly. Weighted rows have values, but no intervals.
        frequency_weight : str, optional
            Column of how many copies of each row there are: whole numbers, the same as repeated rows. Not with
            `weight`.
        by : str, optional
            Column of values that part the rows: a mapping from each to its ranking is returned. Of more than some
            hundred values all distinct scores are kept, at most 20 million, and all is exact.
        pos_label : label, optional
            The positive class; 1 among 0/1, -1/1 and booleans.
        exact : bool
            Count rows at and between the scores of the positives, which every worker is sent; where they are more than
            4 million the rows are brought in the order of their scores, in ranges. Weights must be whole numbers. Rows
            are read more than once: a frame that changes between two passes is an error, since a random column or a
            source that is rewritten needs ``persist()`` first.
        cells : int
            Ranges of scores, about, where it is not exact.
        at : float or array-like, optional
            Thresholds at which counts are known in any case. Those of an exact ranking are known at 0, 0.01, ..., 1 and
            at scores of positives as well; elsewhere counts are an error, or have bounds.
        on_invalid : {"raise", "drop"}
            Whether a row without a label, a weight or a finite score is an error, or left out.

        Returns
        -------
        Ranking or CertifiedRanking, or dicts of them by value and by model
            With the methods of a `Ranking`; numbers that are not the same for all rows that there may have been are
            `Certified`.

        Raises
        ------
        ValueError
            If an argument is not as described, a column is missing or has a value that can't be counted (the message
            names the partition and the row), or if rows change between two passes of `exact`.
        ImportError
            If workers lack fastevals, or have another version.
        """
        columns = _ranking_columns(label, score, Weights(weight, frequency_weight), by, pos_label, on_invalid)
        exact = as_flag("exact", exact)
        sample, cells, thresholds = self._sampled(data, columns, cells, at)
        frame, columns = sample.frame, sample.columns
        found: Mapping[Any, Mapping[str, Any]]
        if sample.n_values > MOST_PARTED:
            groups = frame.do(CountGroups(columns))
            by_model = {name: summary.rankings() for name, summary in groups.items()}
            return by_model[score] if isinstance(score, str) else _ByValue(by_model)
        if exact:
            found = _exact_rankings(frame, columns, thresholds)
        else:
            summary = _count(sample, cells, thresholds)
            found = {
                value: {name: each.ranking() for name, each in block.summaries.items()}
                for value, block in summary.blocks.items()
            }
        return _shaped(found, by, score)

    def ranking_summary(
        self,
        data: Any,
        *,
        label: str,
        score: str | Sequence[str],
        weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        pos_label: Any = None,
        cells: int = 2**18,
        at: ArrayLike = (),
        on_invalid: str = "raise",
    ) -> Any:
        """Return the summary that `ranking` reads: to be stored, merged with others, and given to `bootstrap`.

        Parameters
        ----------
        data, label, score, weight, frequency_weight, by, pos_label, cells, at, on_invalid
            As in `ranking`; `by` of at most some hundred values.

        Returns
        -------
        RankingSummary, or dicts of them by value and by model

        Raises
        ------
        ValueError, ImportError
            As `ranking`.
        """
        summary = self.summarize(
            data, label=label, score=score, weight=weight, frequency_weight=frequency_weight, by=by,
            pos_label=pos_label, cells=cells, at=at,
            on_invalid=on_invalid, probabilities=False,
        )  # fmt: skip
        found = {value: block.summaries for value, block in summary.blocks.items()}
        return _shaped(found, by, score)

    def summarize(
        self,
        data: Any,
        *,
        label: str,
        score: str | Sequence[str],
        weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        pos_label: Any = None,
        cells: int = 2**18,
        at: ArrayLike = (),
        on_invalid: str = "raise",
        probabilities: bool = True,
    ) -> ScoresSummary:
        """Return what a report needs of all rows: its bytes are a file that `fastevals report` reads.

        Parameters
        ----------
        data, label, score, weight, frequency_weight, by, pos_label, cells, at, on_invalid
            As in `ranking`; `by` of at most some hundred values.
        probabilities : bool
            Whether Brier score, log loss and calibration are counted too.

        Returns
        -------
        ScoresSummary

        Raises
        ------
        ValueError, ImportError
            As `ranking`.
        """
        columns = _ranking_columns(label, score, Weights(weight, frequency_weight), by, pos_label, on_invalid)
        probabilities = as_flag("probabilities", probabilities)
        sample, cells, thresholds = self._sampled(data, columns, cells, at)
        if sample.n_values > MOST_PARTED:
            raise ValueError(
                f"by must be a column of at most {MOST_PARTED} values, got {sample.n_values} in a sample of "
                f"{by!r}: ranking, group_summary and grouped_auc take any number"
            )
        return _count(sample, cells, thresholds, probabilities)

    # Other summaries --------------------------------------------------------------------------------------------------

    def confusion_summary(
        self,
        data: Any,
        *,
        label: str,
        predicted: str,
        weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        pos_label: Any = None,
        on_invalid: str = "raise",
    ) -> Any:
        """Return the true and predicted classes of all rows, counted: ``.matrix()`` is their confusion matrix.

        Parameters
        ----------
        data : DataFrame of Spark or Dask
        label, predicted : str
            Columns of the true and the predicted class.
        weight : str, optional
            Column of row weights.
        frequency_weight : str, optional
            Column of how many copies of each row there are: whole numbers. Not with `weight`.
        by : str, optional
            Column of at most 1,000 values that part the rows: a dict by value is returned.
        pos_label : label, optional
            The positive one of two classes; 1 among 0/1, -1/1 and booleans.
        on_invalid : {"raise", "drop"}
            Whether a row with a missing value is an error, or left out.

        Returns
        -------
        ConfusionSummary, or dict of it by value

        Raises
        ------
        ValueError, ImportError
            As `ranking`.
        """
        arguments = {"label": label, "predicted": predicted}
        columns = _argument_columns(
            arguments, ("y_true", "y_pred"), (), Weights(weight, frequency_weight), by, on_invalid
        )
        positive = as_label("pos_label", pos_label)
        largest = _largest_weight(self._checked(data, columns), weight, on_invalid)
        return self._summed(data, columns, ConfusionSummary, pos_label=positive, largest_weight=largest)

    def target_summary(
        self,
        data: Any,
        *,
        target: str,
        predicted: str,
        weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        on_invalid: str = "raise",
    ) -> Any:
        """Return the errors of predicted numbers, added up: metrics of regression, and their intervals.

        Parameters
        ----------
        data : DataFrame of Spark or Dask
        target, predicted : str
            Columns of true and predicted numbers.
        weight : str, optional
            Column of row weights.
        frequency_weight : str, optional
            Column of how many copies of each row there are: whole numbers. Not with `weight`.
        by : str, optional
            Column of at most 1,000 values that part the rows: a dict by value is returned.
        on_invalid : {"raise", "drop"}
            Whether a row with a missing or infinite value is an error, or left out.

        Returns
        -------
        TargetSummary, or dict of it by value

        Raises
        ------
        ValueError, ImportError
            As `ranking`.
        """
        arguments = {"target": target, "predicted": predicted}
        columns = _argument_columns(
            arguments, ("y_true", "y_pred"), ("y_true", "y_pred"), Weights(weight, frequency_weight), by, on_invalid
        )
        return self._summed(data, columns, TargetSummary)

    def probability_summary(
        self,
        data: Any,
        *,
        label: str,
        score: str,
        weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        pos_label: Any = None,
        n_bins: int = 10,
        on_invalid: str = "raise",
    ) -> Any:
        """Return what Brier score, log loss and calibration need of all rows; exact.

        Parameters
        ----------
        data : DataFrame of Spark or Dask
        label, score : str
            Columns of the true class, and of the predicted probability of the positive one.
        weight : str, optional
            Column of row weights: whole numbers.
        frequency_weight : str, optional
            Column of how many copies of each row there are: whole numbers. Not with `weight`.
        by : str, optional
            Column of at most 1,000 values that part the rows: a dict by value is returned.
        pos_label : label, optional
            The positive class; 1 among 0/1, -1/1 and booleans.
        n_bins : int
            Of the calibration curve.
        on_invalid : {"raise", "drop"}
            Whether a row without a label, a weight or a finite score is an error, or left out.

        Returns
        -------
        ProbabilitySummary, or dict of it by value

        Raises
        ------
        ValueError, ImportError
            As `ranking`.
        """
        arguments = {"label": label, "score": score}
        columns = _argument_columns(
            arguments, ("y_true", "y_score"), ("y_score",), Weights(weight, frequency_weight), by, on_invalid
        )
        positive = as_label("pos_label", pos_label)
        return self._summed(data, columns, ProbabilitySummary, n_bins=n_bins, pos_label=positive)

    # Groups -----------------------------------------------------------------------------------------------------------

    def group_summary(
        self,
        data: Any,
        *,
        label: str,
        score: str,
        by: str,
        weight: str | None = None,
        frequency_weight: str | None = None,
        pos_label: Any = None,
        most_scores: int = 20_000_000,
        on_invalid: str = "raise",
    ) -> GroupSummary:
        """Return all distinct scores of groups, counted: the ranking of each, and AUC by group.

        Parameters
        ----------
        data, label, score, weight, frequency_weight, pos_label, on_invalid
            As in `ranking`.
        by : str
            Column of the group that each row is of.
        most_scores : int
            Distinct scores of all groups together, of which more are an error: `grouped_auc` takes any number.

        Returns
        -------
        GroupSummary

        Raises
        ------
        ValueError, ImportError
            As `ranking`.
        """
        columns = _group_columns(label, score, by, Weights(weight, frequency_weight), pos_label, on_invalid)
        task = CountGroups(columns, check_integer("most_scores", most_scores, low=1))
        frame = self._checked(data, columns)
        (found,) = frame.do(task).values()
        if not found.n_groups:
            raise frame.no_rows(columns.weight)
        return found  # type: ignore[no-any-return]

    def grouped_auc(
        self,
        data: Any,
        *,
        label: str,
        score: str,
        by: str,
        weight: str | None = None,
        frequency_weight: str | None = None,
        pos_label: Any = None,
        interval: str | None = None,
        confidence_level: float = 0.95,
        on_invalid: str = "raise",
    ) -> GroupedMetric:
        """Return the AUC of each group of rows, as `fastevals.grouped_auc` of all rows; of millions of groups.

        Rows of a group are brought to one worker.

        Parameters
        ----------
        data, label, score, weight, frequency_weight, pos_label, on_invalid
            As in `ranking`.
        by : str
            Column of the group that each row is of.
        interval : {None, "delong"}
            DeLong's intervals of the groups, and of their mean; not with `weight`.
        confidence_level : float in (0, 1)
            Of the intervals.

        Returns
        -------
        GroupedMetric
            Groups in ascending order.

        Raises
        ------
        ValueError, ImportError
            As `ranking`.
        """
        check_choice("interval", interval, (None, "delong"))
        _, alpha = check_confidence_level(confidence_level)
        if interval is not None and weight is not None:
            raise ValueError("interval='delong' does not take weight: pass copies of rows as frequency_weight")
        columns = _group_columns(label, score, by, Weights(weight, frequency_weight), pos_label, on_invalid)
        task = MeasureGroups(columns, parse_metrics("roc_auc"), interval is not None)
        return self._grouped(data, task, alpha)["roc_auc"]

    def grouped_metrics(
        self,
        data: Any,
        metrics: Any,
        *,
        label: str,
        score: str,
        by: str,
        weight: str | None = None,
        pos_label: Any = None,
        on_invalid: str = "raise",
    ) -> MetricsByGroup:
        """Return metrics of each group of rows, as `fastevals.grouped_metrics` of all rows; of millions of groups.

        Rows of a group are brought to one worker.

        Parameters
        ----------
        data, weight, pos_label, on_invalid
            As in `ranking`.
        metrics : str, `metric(...)`, a sequence of these, or a mapping of names to them
            What is asked for: metrics of scores and probabilities, or errors of predicted numbers.
        label, score : str
            Columns of the true class and of scores, or of true and predicted numbers.
        by : str
            Column of the group that each row is of.

        Returns
        -------
        MetricsByGroup
            A mapping from each metric to its `GroupedMetric`.

        Raises
        ------
        ValueError, ImportError
            As `ranking`.
        """
        specs = parse_metrics(metrics)
        kind = array_kind(metric_kinds(specs)) or SCORES
        if kind == LABELS:
            raise ValueError("metrics must be of scores or of predicted numbers: confusion_summary(by=) has matrices")
        columns: RankingColumns | ArgumentColumns
        if kind == TARGETS:
            arguments = {"label": label, "score": score, "by": by}
            names = ("y_true", "y_pred", "groups")
            columns = _argument_columns(arguments, names, names[:2], Weights(weight), None, on_invalid)
        else:
            columns = _group_columns(label, score, by, Weights(weight), pos_label, on_invalid)
        return self._grouped(data, MeasureGroups(columns, specs))

    # How --------------------------------------------------------------------------------------------------------------

    def _checked(self, data: Any, columns: RankingColumns | ArgumentColumns) -> Frame:
        """Return a frame that has the columns."""
        frame = self.open(data)
        frame.check_columns(columns.names)
        return frame

    def _sampled(
        self, data: Any, columns: RankingColumns, cells: int, at: ArrayLike
    ) -> tuple[_Sample, int, NDArray[np.uint64]]:
        """Check what is asked, and sample the rows; return the sample, the cells and the keys of thresholds."""
        thresholds = threshold_keys("at", at)
        cells = check_integer("cells", cells, low=1, high=MOST_CELLS)
        return _Sample.of(self._checked(data, columns), columns), cells, thresholds

    def _summed(self, data: Any, columns: ArgumentColumns, kind: type[Any], **options: Any) -> Any:
        """Add values up in summaries of a kind."""
        kind(**options)  # checks the options here
        frame = self._checked(data, columns)
        found = frame.do(CountValues(columns, kind, options))
        if not found:
            raise frame.no_rows(columns.weight)
        return _ascending(found, columns.by) if columns.by is not None else found[None]

    def _grouped(self, data: Any, task: MeasureGroups, alpha: float = 0.05) -> MetricsByGroup:
        """Measure groups, each brought to one worker."""
        columns = task.columns
        by = columns.by if isinstance(columns, RankingColumns) else columns.arguments["groups"]
        frame = self._checked(data, columns)
        found: MeasuredGroups = frame.by_value(str(by)).do(task)
        if not found.parts:
            raise frame.no_rows(columns.weight)
        positive = named_classes(found.labels).pos_label if isinstance(columns, RankingColumns) else None
        results = group_results(task.metrics, found.whole(), alpha=alpha, pos_label=positive)
        return MetricsByGroup(results, pos_label=positive)


def _ranking_columns(
    label: str, score: str | Sequence[str], weights: Weights, by: str | None, pos_label: Any, on_invalid: str
) -> RankingColumns:
    check_choice("on_invalid", on_invalid, ON_INVALID)
    scores = score_names(score)
    check_names(label=label, **weights.given(), **given_columns(by=by))
    return RankingColumns(
        label, scores, weights.column, by, as_label("pos_label", pos_label), on_invalid=on_invalid,
        are_copies=weights.are_copies,
    )  # fmt: skip


def _group_columns(
    label: str, score: str, by: str, weights: Weights, pos_label: Any, on_invalid: str
) -> RankingColumns:
    check_names(score=score, by=by)
    return _ranking_columns(label, score, weights, by, pos_label, on_invalid)


def _argument_columns(
    columns: dict[str, str], arguments: Sequence[str], numbers: Sequence[str], weights: Weights, by: str | None,
    on_invalid: str,
) -> ArgumentColumns:  # fmt: skip
    """Return the columns of arguments of `update`, in the order of those that name them here."""
    check_choice("on_invalid", on_invalid, ON_INVALID)
    check_names(**columns, **weights.given(), **given_columns(by=by))
    given = dict(zip(arguments, columns.values(), strict=True))
    given |= given_columns(sample_weight=weights.weight, frequency_weight=weights.frequency_weight)
    return ArgumentColumns(given, (*numbers, "sample_weight", "frequency_weight"), by, on_invalid)


def _ascending(found: Mapping[Any, Any], by: str) -> dict[Any, Any]:
    """Return what is found by value of a column, in the order of the values."""
    text = [value for value in found if isinstance(value, str)]
    if 0 < len(text) < len(found):
        number = next(value for value in found if not isinstance(value, str))
        raise ValueError(f"column {by!r} must have text or numbers, not both, got {show(text[0])} and {show(number)}")
    return {value: found[value] for value in sorted(found)}


def _shaped(found: Mapping[Any, Mapping[str, Any]], by: str | None, score: str | Sequence[str]) -> Any:
    """Return results by value and by model, without the one or the other where it wasn't asked for."""
    each = {value: models[score] if isinstance(score, str) else dict(models) for value, models in found.items()}
    return each[None] if by is None else _ascending(each, by)


class _ByValue(Mapping[Any, dict[str, Any]]):
    """Results by value and model, of those by model and value; made when they are asked for."""

    def __init__(self, by_model: Mapping[str, Mapping[Any, Any]]) -> None:
        self._by_model = by_model
        self._first = next(iter(by_model.values()))

    def __len__(self) -> int:
        return len(self._first)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._first)

    def __getitem__(self, value: Any) -> dict[str, Any]:
        return {name: each[value] for name, each in self._by_model.items()}

    def __repr__(self) -> str:
        return f"rankings of {len(self)} values, by {', '.join(self._by_model)}"


class _Sample(NamedTuple):
    """What is known of the rows from a sample.

    Attributes
    ----------
    frame : Frame
    columns : RankingColumns
        With the labels that were found.
    n_values : int
        Values of the column that parts them.
    atoms : dict of str to ScoreCells
        Distinct scores by model.
    is_all : bool
        Whether it has all rows.
    """

    frame: Frame
    columns: RankingColumns
    n_values: int
    atoms: dict[str, ScoreCells]
    is_all: bool

    @classmethod
    def of(cls, frame: Frame, columns: RankingColumns) -> _Sample:
        """Sample the rows of a frame; those that can't be counted are named by the worker that reads them again."""
        wanted = replace(columns, weight=None, on_invalid="drop")
        batches, is_all = frame.sample(wanted.names, SAMPLE)
        reader = wanted.reader("the sample", iter(batches))
        parts: list[Rows] = []
        with contextlib.suppress(ValueError):
            parts += rows_of(reader)
        columns = replace(columns, labels=reader.labels)
        n_values = len({value for part in parts for value, _ in part.by_value()})
        return cls(frame, columns, n_values, atoms_by_model(reader, parts) if parts else {}, is_all)


def _largest_weight(frame: Frame, weight: str | None, on_invalid: str) -> float | None:
    """Return the largest weight; None where all are whole numbers, or there are none."""
    if weight is None:
        return None
    largest, are_whole = frame.do(LargestWeight(_argument_columns({}, (), (), Weights(weight), None, on_invalid)))
    return None if are_whole else float(largest)


def _count(
    sample: _Sample, cells: int, thresholds: NDArray[np.uint64], with_probabilities: bool = False
) -> ScoresSummary:
    """Count scores in ranges fitted to the sample; each by itself where it has all, and they are few."""
    frame, columns = sample.frame, sample.columns
    weight = _largest_weight(frame, None if columns.are_copies else columns.weight, columns.on_invalid)
    many = {name: atoms for name, atoms in sample.atoms.items() if not sample.is_all or atoms.low.size > cells}
    grids = fitted_grids(many, cells, thresholds)
    counting = Counting(cells, thresholds, grids, weight, with_probabilities, may_move=not frame.samples_rows)
    most = max(MOST_ANSWERS // (max(sample.n_values, 1) * len(columns.scores)), OPENED)
    summary: ScoresSummary = frame.do(CountScores(columns, counting, most))
    if not summary.n_samples:
        raise frame.no_rows(columns.weight)
    summary.share_labels()
    return summary


def _exact_rankings(
    frame: Frame, columns: RankingColumns, thresholds: NDArray[np.uint64]
) -> dict[Any, dict[str, Ranking | CertifiedRanking]]:
    """Return exact rankings by value and model: from counts about the scores of positives, or range by range."""
    answer: Gathered = frame.do(GatherPositives(columns, MOST_BROADCAST))
    gathered, labels, are_too_many, checksums = answer
    if not gathered:
        raise frame.no_rows(columns.weight)
    classes = named_classes(labels)
    columns = replace(columns, labels=labels)
    if are_too_many:
        if columns.by is not None:
            raise ValueError(f"by with exact=True takes at most {MOST_BROADCAST} distinct scores of positives in all")
        return {
            None: {
                name: _ranking_of_ranges(frame, columns, name, gathered[None, name], checksum, classes, thresholds)
                for name, checksum in zip(columns.scores, checksums, strict=True)
            }
        }
    atoms = {
        where: AtomCounts.of_positives([each.keys], [each.units], atoms_beside(thresholds, each.highest), large=True)
        for where, each in gathered.items()
    }
    counting = CountNegatives(columns, {where: each.keys for where, each in atoms.items()})
    counted: CountedNegatives = frame.do(counting)
    found: dict[Any, dict[str, Ranking | CertifiedRanking]] = {}
    for where, negatives in zip(atoms, counted.counts, strict=True):
        each, known = atoms[where], gathered[where]
        whole = AtomCounts(each.keys, each.positives, *negatives)
        _check_same(frame, whole.totals, known.totals, counted.checksums == checksums)
        curve = ExactCurve(*known.totals)
        curve.add(whole)
        value, name = where
        recount = partial(_recount, frame, columns, where, [*atoms], checksums)
        found.setdefault(value, {})[name] = ExactRanking(
            whole, curve, *known.totals, classes, recount, columns.weighs_rows
        )
    return found


def _recount(
    frame: Frame, columns: RankingColumns, where: Where, others: list[Where], checksums: list[int], keys: Keys
) -> AtomCounts:
    """Return the negatives of a value and model around other atoms, from the first atom to the last."""
    none = keys[:0]
    counted: CountedNegatives = frame.do(CountNegatives(columns, dict.fromkeys(others, none) | {where: keys}))
    if counted.checksums != checksums:
        raise changed(frame.title, OTHER_ROWS)
    at, between, least = counted.counts[others.index(where)]
    between[[0, -1]] = 0
    return AtomCounts(keys, np.zeros(keys.size, np.int64), at, between, least)


def _check_same(frame: Frame, now: tuple[int, int], before: tuple[int, int], are_same: bool) -> None:
    """Raise if rows were others when they were read again, by their numbers or their checksums."""
    if now != before:
        raise changed(
            frame.title,
            f"it had {sum(before)} rows, {before[0]} positive, and then {sum(now)}, {now[0]} positive",
        )
    if not are_same:
        raise changed(frame.title, OTHER_ROWS)


def _ranking_of_ranges(
    frame: Frame, columns: RankingColumns, score: str, known: PositiveScores, checksum: int, classes: Classes,
    thresholds: NDArray[np.uint64],
) -> CertifiedRanking:  # fmt: skip
    """Return the exact ranking of rows that are brought in the order of their scores, range by range."""
    columns = replace(columns, scores=(score,))
    n_ranges = max(-(-sum(known.totals) // RANGE_ROWS), 2)
    with frame.by_range(score, n_ranges, columns.names) as ranged:
        ranges = sorted(ranged.do(CountRanges(columns)), reverse=True)
        above, tp, fp = {}, 0, 0
        for each in ranges:
            above[each.low] = (tp, fp, each.checksum)
            tp, fp = tp + each.n_positives, fp + each.n_negatives
        if any(below.high >= each.low for each, below in pairwise(ranges)):
            raise ValueError(f"{frame.title} was not brought in ranges of {score!r} that don't overlap")
        _check_same(frame, (tp, fp), known.totals, joined_checksums([[each.checksum] for each in ranges]) == [checksum])
        sweep = SweepRanges(columns, above, known, sorted_union(thresholds, HUNDREDTHS))
        curve = sweep.whole(ranged.do(sweep))
    unit = 1.0 if columns.weighs_rows else None
    return CertifiedRanking(curve.cells(known.highest), classes, unit=unit, known=curve.metrics)
