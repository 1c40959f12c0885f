"""Rows on any number of machines: what Spark and Dask have in common.

An engine brings the rows in partitions to its workers, and bytes back. What is counted there are tasks; what is asked
for, and how answers are read, is here.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import get_num_threads, run
from fastevals._options import as_flag, check_choice, check_integer, show
from fastevals._validation.labels import Classes
from fastevals.many.folds import PooledRanking
from fastevals.many.groups import GroupedMetric, delong_intervals, mean_over_groups, warn_undefined_groups
from fastevals.measure.kinds import LABELS, SCORES, TARGETS, array_kind, metric_kinds
from fastevals.measure.metric_specs import parse_metrics
from fastevals.results import check_confidence_level
from fastevals.scale.cells import ScoreCells
from fastevals.scale.certified import CertifiedRanking
from fastevals.scale.classes import ConfusionSummary
from fastevals.scale.exact import AtomCounts, ExactCurve, ExactRanking
from fastevals.scale.files import RowFiles
from fastevals.scale.grouped import GroupSummary
from fastevals.scale.parquet import threshold_keys
from fastevals.scale.probabilities import ProbabilitySummary
from fastevals.scale.rows import ON_INVALID, Rows, named_classes
from fastevals.scale.scores import Counting, ScoresSummary, atoms_by_model, fitted_grids
from fastevals.scale.summary import MOST_CELLS, SAMPLE, as_label
from fastevals.scale.targets import TargetSummary
from fastevals.scale.tasks import (
    ArgumentColumns,
    CountNegatives,
    CountRanges,
    CountScores,
    CountValues,
    Gathered,
    GatheredScores,
    GatherPositives,
    LargestWeight,
    MeasureGroups,
    RankingColumns,
    SweepRanges,
    Task,
    opened,
    partition,
)

MOST_BROADCAST = 1 << 22  # distinct scores of positives that every worker may have, 100 bytes each while it counts
RANGE_ROWS = 1 << 21  # of a range of scores
MOST_PARTED = 100  # values with a summary each on every worker: of more, those of groups
FAN = 32  # answers that are merged at once
WORKERS = "pip install fastevals there, of the version that is here"


# What workers do ------------------------------------------------------------------------------------------------------


# What is wrong with a partition (its number, whether that is its rows, and a message) or None, and what was counted of
# it, which may be pickled.
Answer = tuple[tuple[int, bool, str] | None, Any]


def shipped(version: str) -> tuple[Callable[..., Answer], Callable[[bytes, list[Answer]], Answer]]:
    """Return what counts a partition, and what merges answers: functions that need no fastevals to be sent.

    They are pickled by value, and the task, which is `sent` as bytes, is unpickled once fastevals is known to be the
    same on both sides. Each uses one thread: engines have as many tasks at once as there are cores. What is wrong with
    the rows comes back as an answer too, lest engines try again, and print where it was noticed.
    """
    advice = WORKERS

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


def answered(task: Task, answers: Sequence[Answer]) -> Any:
    """Merge the answers of partitions, and return what they say together; None of none. Raise what went wrong."""
    wrong = [problem for problem, _ in answers if problem is not None]
    if wrong:
        _, of_rows, message = min(wrong)
        raise (ValueError if of_rows else ImportError)(message)
    parts = [answer for _, answer in answers]
    while len(parts) > 1:
        size = max(-(-len(parts) // get_num_threads()), FAN)
        chunks = [parts[start : start + size] for start in range(0, len(parts), size)]
        parts = run(lambda chunk: task.merge(opened(chunk)), chunks)
    return next(opened(parts), None)


class Frame(ABC):
    """Rows of an engine, in partitions.

    Attributes
    ----------
    title : str
        What messages call it.
    names : list of str
        Columns.
    samples_rows : bool
        Whether a sample is of rows of all partitions.
    """

    title: str
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
        """Do a task, and return the answer of all rows."""
        found = answered(task, self.answers(task))
        if found is None:
            raise ValueError(f"{self.title} has no rows that can be counted")
        return found

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
        data : frame of the engine
            With a row for each sample.
        label : str
            Column of the true class.
        score : str or sequence of str
            Column of scores, higher for the positive class; of several, a model each, a dict is returned.
        weight : str, optional
            Column of row weights. Those that are whole numbers are counted exactly.
        by : str, optional
            Column of values that part the rows: a mapping from each to its ranking is returned. Of more than some
            hundred values all distinct scores are kept, at most 20 million, and all is exact.
        pos_label : label, optional
            The positive class; 1 among 0/1, -1/1 and booleans.
        exact : bool
            Count rows at and between the scores of the positives, which every worker is sent; where they are more than
            4 million the rows are brought in the order of their scores, in ranges. Weights must be whole numbers.
        cells : int
            Ranges of scores, about, where it is not exact.
        at : float or array-like, optional
            Thresholds at which confusion matrices are exact in any case.
        on_invalid : {"raise", "drop"}
            Whether a row without a label, a weight or a finite score is an error, or left out.

        Returns
        -------
        PooledRanking or CertifiedRanking, or dicts of them by value and by model
            With the methods of a `Ranking`; numbers that are not the same for all rows that there may have been are
            `Certified`.

        Raises
        ------
        ValueError
            If an argument is not as described, a column is missing or has a value that can't be counted: the message
            names the partition and the row.
        ImportError
            If workers lack fastevals, or have another version.
        """
        columns = _ranking_columns(label, score, weight, by, pos_label, on_invalid)
        exact = as_flag("exact", exact)
        sampled, cells, thresholds = self._sampled(data, columns, cells, at)
        frame = sampled.frame
        columns = sampled.columns
        found: Mapping[Any, Mapping[str, Any]]
        if sampled.n_values > MOST_PARTED:
            groups = {name: self._group_summary(frame, columns, name) for name in columns.scores}
            by_model = {name: summary.rankings() for name, summary in groups.items()}
            return by_model[score] if isinstance(score, str) else by_model
        if exact:
            found = _exact_rankings(frame, columns, thresholds)
        else:
            summary = _count(sampled, cells, thresholds)
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
        by: str | None = None,
        pos_label: Any = None,
        cells: int = 2**18,
        at: ArrayLike = (),
        on_invalid: str = "raise",
    ) -> Any:
        """Return the summary that `ranking` reads: to be stored, merged with others, and given to `bootstrap`.

        Parameters
        ----------
        data, label, score, weight, by, pos_label, cells, at, on_invalid
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
            data, label=label, score=score, weight=weight, by=by, pos_label=pos_label, cells=cells, at=at,
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
        data, label, score, weight, by, pos_label, cells, at, on_invalid
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
        columns = _ranking_columns(label, score, weight, by, pos_label, on_invalid)
        sampled, cells, thresholds = self._sampled(data, columns, cells, at)
        if sampled.n_values > MOST_PARTED:
            raise ValueError(
                f"by must be a column of at most {MOST_PARTED} values, got {sampled.n_values} in a sample of "
                f"{by!r}: ranking, group_summary and grouped_auc take any number"
            )
        return _count(sampled, cells, thresholds, as_flag("probabilities", probabilities))

    # Other summaries --------------------------------------------------------------------------------------------------

    def confusion_summary(
        self,
        data: Any,
        *,
        label: str,
        predicted: str,
        weight: str | None = None,
        by: str | None = None,
        pos_label: Any = None,
        on_invalid: str = "raise",
    ) -> Any:
        """Return the true and predicted classes of all rows, counted: ``.matrix()`` is their confusion matrix.

        Parameters
        ----------
        data : frame of the engine
        label, predicted : str
            Columns of the true and the predicted class.
        weight : str, optional
            Column of row weights.
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
        frame, arguments = self.open(data), {"y_true": label, "y_pred": predicted}
        options = {"pos_label": pos_label, "largest_weight": _largest_weight(frame, weight, on_invalid)}
        return self._values(frame, arguments, (), weight, by, on_invalid, ConfusionSummary, options)

    def target_summary(
        self,
        data: Any,
        *,
        target: str,
        predicted: str,
        weight: str | None = None,
        by: str | None = None,
        on_invalid: str = "raise",
    ) -> Any:
        """Return the errors of predicted numbers, added up: metrics of regression, and their intervals.

        Parameters
        ----------
        data : frame of the engine
        target, predicted : str
            Columns of true and predicted numbers.
        weight : str, optional
            Column of row weights.
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
        frame, arguments = self.open(data), {"y_true": target, "y_pred": predicted}
        return self._values(frame, arguments, ("y_true", "y_pred"), weight, by, on_invalid, TargetSummary, {})

    def probability_summary(
        self,
        data: Any,
        *,
        label: str,
        score: str,
        weight: str | None = None,
        by: str | None = None,
        pos_label: Any = None,
        n_bins: int = 10,
        on_invalid: str = "raise",
    ) -> Any:
        """Return what Brier score, log loss and calibration need of all rows; exact.

        Parameters
        ----------
        data : frame of the engine
        label, score : str
            Columns of the true class, and of the predicted probability of the positive one.
        weight : str, optional
            Column of row weights: whole numbers.
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
        frame, arguments = self.open(data), {"y_true": label, "y_score": score}
        options = {"n_bins": n_bins, "pos_label": pos_label}
        return self._values(frame, arguments, ("y_score",), weight, by, on_invalid, ProbabilitySummary, options)

    # Groups -----------------------------------------------------------------------------------------------------------

    def group_summary(
        self,
        data: Any,
        *,
        label: str,
        score: str,
        by: str,
        weight: str | None = None,
        pos_label: Any = None,
        most_scores: int = 20_000_000,
        on_invalid: str = "raise",
    ) -> GroupSummary:
        """Return all distinct scores of groups, counted: the ranking of each, and AUC by group.

        Parameters
        ----------
        data, label, score, weight, pos_label, on_invalid
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
        columns = _ranking_columns(label, [score], weight, by, pos_label, on_invalid)
        return self._group_summary(self.open(data), columns, score, most_scores=most_scores)

    def grouped_auc(
        self,
        data: Any,
        *,
        label: str,
        score: str,
        by: str,
        weight: str | None = None,
        pos_label: Any = None,
        interval: str | None = None,
        confidence_level: float = 0.95,
        on_invalid: str = "raise",
    ) -> GroupedMetric:
        """Return the AUC of each group of rows, as `fastevals.grouped_auc` of all rows; of millions of groups.

        Rows of a group are brought to one worker.

        Parameters
        ----------
        data, label, score, weight, pos_label, on_invalid
            As in `ranking`.
        by : str
            Column of the group that each row is of.
        interval : {None, "delong"}
            DeLong's intervals of the groups, and of their mean.
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
        columns = _ranking_columns(label, [score], weight, by, pos_label, on_invalid)
        task = MeasureGroups(columns, parse_metrics("roc_auc"), interval is not None)
        (found,) = self._grouped(self.open(data), task, by, alpha if interval else None).values()
        return found

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
    ) -> dict[str, GroupedMetric]:
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
        dict of str to GroupedMetric

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
            columns = _argument_columns(
                {"y_true": label, "y_score": score, "groups": by}, ("y_true", "y_score"), weight, None, on_invalid
            )
        else:
            columns = _ranking_columns(label, [score], weight, by, pos_label, on_invalid)
        return self._grouped(self.open(data), MeasureGroups(columns, specs), by, None)

    # How --------------------------------------------------------------------------------------------------------------

    def _sampled(
        self, data: Any, columns: RankingColumns, cells: int, at: ArrayLike
    ) -> tuple[_Sample, int, NDArray[np.uint64]]:
        """Check what is asked, and sample the rows; return the sample, the cells and the keys of thresholds."""
        frame = self.open(data)
        frame.check_columns(columns.all)
        thresholds = threshold_keys("at", at)
        cells = check_integer("cells", cells, low=1, high=MOST_CELLS)
        return _Sample.of(frame, columns), cells, thresholds

    def _values(
        self, frame: Frame, arguments: dict[str, str], numbers: Sequence[str], weight: str | None, by: str | None,
        on_invalid: str, kind: type[Any], options: dict[str, Any],
    ) -> Any:  # fmt: skip
        """Count values in summaries of a kind."""
        kind(**options)  # checks the options here
        columns = _argument_columns(arguments, numbers, weight, by, on_invalid)
        frame.check_columns(columns.all)
        found = frame.do(CountValues(columns, kind, options)).summaries
        if not found:
            raise ValueError(f"{frame.title} has no rows that can be counted")
        return dict(sorted(found.items())) if by is not None else found[None]

    def _group_summary(self, frame: Frame, columns: RankingColumns, score: str, **options: Any) -> GroupSummary:
        arguments = {"y_true": columns.label, "y_score": score, "groups": str(columns.by)}
        options["pos_label"] = columns.pos_label
        return self._values(  # type: ignore[no-any-return]
            frame, arguments, ("y_score",), columns.weight, None, columns.on_invalid, GroupSummary, options
        )

    def _grouped(self, frame: Frame, task: MeasureGroups, by: str, alpha: float | None) -> dict[str, GroupedMetric]:
        frame.check_columns(task.columns)
        frame = frame.by_value(by)
        table = frame.do(task)
        return dict(zip(task.metrics, grouped_results(table, list(task.metrics), alpha), strict=True))


def _ranking_columns(
    label: str, score: str | Sequence[str], weight: str | None, by: str | None, pos_label: Any, on_invalid: str
) -> RankingColumns:
    check_choice("on_invalid", on_invalid, ON_INVALID)
    scores = tuple(score) if isinstance(score, Iterable) and not isinstance(score, str) else (score,)
    if not scores or not all(isinstance(name, str) for name in scores):
        raise ValueError(f"score must be the name of a column, or names, got {show(score)}")
    if len(set(scores)) < len(scores):
        raise ValueError(f"score must name each column once, got {show(list(scores))}")
    for name, column in (("label", label), ("weight", weight), ("by", by)):
        if not isinstance(column, str) and not (column is None and name != "label"):
            raise ValueError(f"{name} must be the name of a column, got {show(column)}")
    return RankingColumns(label, scores, weight, by, as_label("pos_label", pos_label), on_invalid=on_invalid)


def _argument_columns(
    arguments: dict[str, str], numbers: Sequence[str], weight: str | None, by: str | None, on_invalid: str
) -> ArgumentColumns:
    check_choice("on_invalid", on_invalid, ON_INVALID)
    more = {} if weight is None else {"sample_weight": weight}
    for name, column in (*arguments.items(), *more.items(), ("by", "" if by is None else by)):
        if not isinstance(column, str):
            raise ValueError(f"{name} must be the name of a column, got {show(column)}")
    return ArgumentColumns(arguments | more, (*numbers, *more), by, on_invalid)


def _shaped(found: Mapping[Any, Mapping[str, Any]], by: str | None, score: str | Sequence[str]) -> Any:
    """Return results by value and by model, without the one or the other where it wasn't asked for."""
    each = {value: models[score] if isinstance(score, str) else dict(models) for value, models in found.items()}
    return each[None] if by is None else each


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
        batches, is_all = frame.sample(wanted.all, SAMPLE)
        rows = partition("the sample", wanted.all, iter(batches))
        reader = wanted.reader(rows)
        parts: list[Rows] = []
        with contextlib.suppress(ValueError):
            parts += reader.rows(rows.pieces[0])
        columns = replace(columns, labels=reader.labels)
        n_values = len({value for part in parts for value, _ in part.by_value()})
        return cls(frame, columns, n_values, atoms_by_model(reader, parts) if parts else {}, is_all)


def _largest_weight(frame: Frame, weight: str | None, on_invalid: str) -> float | None:
    """Return the largest weight; None where all are whole numbers, or there are none."""
    if weight is None:
        return None
    columns = _argument_columns({}, (), weight, None, on_invalid)
    frame.check_columns(columns.all)
    largest, are_whole = frame.do(LargestWeight(columns))
    return None if are_whole else float(largest)


def _count(
    sample: _Sample, cells: int, thresholds: NDArray[np.uint64], with_probabilities: bool = False
) -> ScoresSummary:
    """Count scores in ranges fitted to the sample; each by itself where it has all, and they are few."""
    frame, columns = sample.frame, sample.columns
    weight = _largest_weight(frame, columns.weight, columns.on_invalid)
    many = {name: atoms for name, atoms in sample.atoms.items() if not sample.is_all or atoms.low.size > cells}
    grids = fitted_grids(many, cells, thresholds)
    counting = Counting(cells, thresholds, grids, weight, with_probabilities, may_move=not frame.samples_rows)
    summary: ScoresSummary = frame.do(CountScores(columns, counting))
    if not summary.n_samples:
        raise ValueError(f"{frame.title} has no rows that can be counted")
    summary.share_labels()
    return summary


def _exact_rankings(
    frame: Frame, columns: RankingColumns, thresholds: NDArray[np.uint64]
) -> dict[Any, dict[str, PooledRanking | CertifiedRanking]]:
    """Return exact rankings by value and model: from counts about the scores of positives, or range by range."""
    answer: Gathered = frame.do(GatherPositives(columns))
    gathered, labels = answer
    if not gathered:
        raise ValueError(f"{frame.title} has no rows that can be counted")
    classes = named_classes(labels)
    columns = replace(columns, labels=labels)
    if sum(each.keys.size for each in gathered.values()) > MOST_BROADCAST:
        if columns.by is not None:
            raise ValueError(f"by with exact=True takes at most {MOST_BROADCAST} distinct scores of positives in all")
        return {
            None: {
                name: _ranking_of_ranges(frame, columns, name, gathered[None, name], classes) for name in columns.scores
            }
        }
    atoms = {
        where: AtomCounts.of_positives(
            [each.keys], [each.positives], np.union1d(thresholds, np.array([each.highest], np.uint64)), large=True
        )
        for where, each in gathered.items()
    }
    counting = CountNegatives(columns, {where: each.keys for where, each in atoms.items()})
    found: dict[Any, dict[str, PooledRanking | CertifiedRanking]] = {}
    for where, (at, between) in zip(atoms, frame.do(counting), strict=True):
        each, known = atoms[where], gathered[where]
        whole = AtomCounts(each.keys, each.positives, at, between)
        check_sums(frame, whole.totals, known.totals)
        curve = ExactCurve(*known.totals, known.lowest)
        curve.add(whole)
        value, name = where
        found.setdefault(value, {})[name] = ExactRanking(whole, curve, *known.totals, classes)
    return found


def check_sums(frame: Frame, now: tuple[int, int], before: tuple[int, int]) -> None:
    """Raise if rows were others when they were read again."""
    if now != before:
        raise ValueError(
            f"{frame.title} has changed: it had {sum(before)} rows, {before[0]} positive, and now {sum(now)}, {now[0]} "
            "positive; store or persist it where its rows are drawn or read anew"
        )


def _ranking_of_ranges(
    frame: Frame, columns: RankingColumns, score: str, known: GatheredScores, classes: Classes
) -> CertifiedRanking:
    """Return the exact ranking of rows that are brought in the order of their scores, range by range."""
    columns = replace(columns, scores=(score,))
    n_ranges = max(-(-sum(known.totals) // RANGE_ROWS), 2)
    with frame.by_range(score, n_ranges, columns.all) as ranged:
        ranges = sorted(ranged.do(CountRanges(columns)), reverse=True)
        above, tp, fp = {}, 0, 0
        for low, _, n_pos, n_neg in ranges:
            above[low] = (tp, fp)
            tp, fp = tp + n_pos, fp + n_neg
        if any(below[1] >= low for (low, *_), below in pairwise(ranges)):
            raise ValueError(f"{frame.title} was not brought in ranges of {score!r} that don't overlap")
        check_sums(frame, (tp, fp), known.totals)
        sweep = SweepRanges(columns, above, known.totals, known.lowest)
        curve = sweep.whole(ranged.do(sweep))
    return CertifiedRanking(ScoreCells.between(curve.counts, known.highest), classes, known=curve.metrics)


def grouped_results(table: Any, names: Sequence[str], alpha: float | None) -> list[GroupedMetric]:
    """Return metrics of groups from a table with a row for each."""
    columns = {name: table.column(name).to_numpy() for name in table.column_names if name != "group"}
    groups = table.column("group")
    keys = np.array(groups.to_pylist()) if pa_is_text(groups) else groups.to_numpy()
    order = np.argsort(keys, kind="stable")
    keys, columns = keys[order], {name: column[order] for name, column in columns.items()}
    results = []
    for k, name in enumerate(names):
        values, weights = columns[f"value {k}"], columns["weight"]
        warn_undefined_groups(name, values)
        intervals = {} if alpha is None else delong_intervals(values, columns["error"] ** 2, weights, alpha)
        means = mean_over_groups(values, weights), mean_over_groups(values, np.ones(values.size))
        counts = (columns["n_samples"], columns.get("n_positives"), columns.get("n_negatives"))
        results.append(GroupedMetric(name, keys, values, *counts, weights, *means, **intervals))
    return results


def pa_is_text(column: Any) -> bool:
    """Return whether a column of Arrow's is of text."""
    from pyarrow import types

    return bool(types.is_string(column.type) or types.is_large_string(column.type))
