"""Many columns of scores, each ranked against its own or shared labels, in one batch.

Either each thread takes its own column, or all threads work on one column after another; results are bit-identical.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import get_num_threads, num_threads, run
from fastevals._kernels.columns import pack_rows, sort_rows
from fastevals._kernels.sweep import rank_marked
from fastevals._memory import lend
from fastevals._validation.arrays import check_finite
from fastevals.counting.groups import spans
from fastevals.counting.ordering import SLOTS_SPACE, BinaryLabels, Keys, codec_for, fit_map
from fastevals.many.group_scores import grouped_scores
from fastevals.many.group_values import FEW_GROUPS, grouped_values
from fastevals.measure.metric_specs import RankingMetric
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.registry import SCORE_METRICS, Metric

R = TypeVar("R")

Flags = NDArray[np.uint8]

COLUMNS_PER_THREAD = 4  # with fewer columns per thread, the last ones may keep threads waiting
LARGE_ROWS = 1 << 18  # rows from which one column can use all threads
LIMIT_ROWS = 1 << 20  # rows up to which one thread sorts a column; the kernels' sums are then exact
LINE = 64  # bytes of a cache line
ROWS_PER_TILE = 1 << 12  # rows copied at a time, so that their cache lines are still cached for the next column
BUCKET_CELLS = 1 << 14  # cells into which a bucket is sorted
SHORT_ROWS = 1 << 12  # rows per column, up to which the overhead of a call exceeds the work on the rows
ROWS_TOGETHER = 1 << 22  # rows of all columns that are measured together


class ScoreColumns(NamedTuple):
    """Scores, and the labels that they are ranked against.

    Attributes
    ----------
    scores : sequence of ndarray of shape (n_samples,)
        Scores of each column, of any real dtype and stride. Columns may differ in length.
    flags : callable
        Takes a column's number and returns its labels: uint8 of shape (n_samples,), 1 for positive, else 0. Called by
        the thread that works on the column.
    names : sequence of str
        Names of the columns in error messages.
    weights : callable, optional
        Takes a column's number and returns its row weights.
    pos_label : label or None
        The positive label among the user's labels; None if there are only flags.
    """

    scores: Sequence[NDArray[Any]]
    flags: Callable[[int], Flags]
    names: Sequence[str]
    weights: Callable[[int], NDArray[Any]] | None = None
    pos_label: Any = None


class ColumnMetrics(NamedTuple):
    """Metrics of a column (NaN where undefined), and its number of rows with positive weight in each class."""

    values: list[float]
    n_positives: int
    n_negatives: int


def batch_rankings(columns: ScoreColumns) -> list[Ranking]:
    """Rank each column."""
    return map_columns(columns, lambda ranking: ranking, compiles=("rankings", columns.weights is None))


def batch_values(columns: ScoreColumns, metrics: Sequence[RankingMetric]) -> NDArray[np.float64]:
    """Return each metric of each column, of shape (n_metrics, n_columns); NaN where undefined, without a warning."""
    values = [each.values for each in column_metrics(columns, metrics)]
    return np.array(values, dtype=np.float64).reshape(-1, len(metrics)).T


def column_metrics(columns: ScoreColumns, metrics: Sequence[RankingMetric]) -> list[ColumnMetrics]:
    """Return the metrics of each column."""
    numerators = [_pair_numerator(metric) for metric in metrics]

    def from_rows(rows: Keys) -> ColumnMetrics:
        doubled_u, _, n_pos = rank_marked(rows)
        pairs = n_pos * (rows.size - n_pos)
        values = [won(doubled_u, 2 * pairs) / (2 * pairs) if won and pairs else math.nan for won in numerators]
        return ColumnMetrics(values, n_pos, rows.size - n_pos)

    def from_ranking(ranking: Ranking) -> ColumnMetrics:
        doubled_u_and_pairs = ranking._doubled_u_and_pairs()

        def value(metric: RankingMetric, won: Callable[[Any, Any], Any] | None) -> float:
            if won is not None and doubled_u_and_pairs is not None:
                doubled_u, pairs = doubled_u_and_pairs
                return float(won(doubled_u, 2 * pairs) / (2 * pairs))
            if metric.of_counts is SCORE_METRICS["average_precision"] and ranking.n_positives:
                return ranking.average_precision()  # it may need no counts
            return metric.of_counts(ranking.counts)

        return ColumnMetrics(list(map(value, metrics, numerators)), ranking.n_positives, ranking.n_negatives)

    if all(numerators) and columns.weights is not None:  # sums of weights must be rounded as in a ranking
        return map_columns(columns, from_ranking, compiles=("pairs", False))
    if _are_groups(columns, metrics):
        return _measure_as_groups(columns, metrics)
    if all(numerators):
        return map_columns(columns, from_ranking, from_rows, compiles=("pairs", True))
    return map_columns(columns, from_ranking)


def are_many_and_short(columns: Sequence[NDArray[Any]]) -> bool:
    """Return whether columns are numerous and short enough to be measured as groups of rows."""
    sizes = [each.size for each in columns]
    return len(sizes) > FEW_GROUPS and sum(sizes) <= SHORT_ROWS * len(sizes) and max(sizes) < LARGE_ROWS


def _are_groups(columns: ScoreColumns, metrics: Sequence[RankingMetric]) -> bool:
    if not are_many_and_short(columns.scores) or len({each.dtype for each in columns.scores}) > 1:
        return False
    of_probabilities = any(isinstance(m.of_counts, Metric) and m.of_counts.of == "probabilities" for m in metrics)
    # Scores outside [0, 1] make such a metric NaN for their own column only.
    return not of_probabilities or all(((each >= 0) & (each <= 1)).all() for each in columns.scores)


def _measure_as_groups(columns: ScoreColumns, metrics: Sequence[RankingMetric]) -> list[ColumnMetrics]:
    """Return the metrics of columns by treating them as groups of rows, a few million rows at a time."""
    measured: list[ColumnMetrics] = []
    starts = np.cumsum([0, *(each.size for each in columns.scores)])
    for first, last in spans(starts, ROWS_TOGETHER):
        numbers = range(first, last)
        labels = BinaryLabels(np.concatenate([columns.flags(i) for i in numbers]), 1, 0)
        groups = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
        weights = None if columns.weights is None else np.concatenate([columns.weights(i) for i in numbers])
        try:
            scores = grouped_scores(labels, np.concatenate(columns.scores[first:last]), groups, weights)
        except ValueError:
            _raise_not_finite(columns)
            raise
        values = np.transpose(grouped_values(metrics, scores)).tolist()
        measured += map(ColumnMetrics, values, scores.n_positives.tolist(), scores.n_negatives.tolist())
    return measured


def _pair_numerator(metric: RankingMetric) -> Callable[[Any, Any], Any] | None:
    """Return the numerator of a metric that is a share of pairs; None for other metrics."""
    return metric.of_counts.of_pairs if isinstance(metric.of_counts, Metric) else None


def map_columns(
    columns: ScoreColumns,
    from_ranking: Callable[[Ranking], R],
    from_rows: Callable[[Keys], R] | None = None,
    *,
    compiles: Hashable = True,
) -> list[R]:
    """Apply a function to the ranking of each column, in order.

    `from_rows` computes the same result, to the last bit, from ascending rows, which `_kernels.columns` sorts in
    borrowed memory. `from_rows` is called instead of `from_ranking` if one thread sorts a column without weights.
    `compiles` is explained in `_execution.run`.
    """
    sizes = [each.size for each in columns.scores]
    one_by_one = len(sizes) < COLUMNS_PER_THREAD * get_num_threads() and max(sizes) >= LARGE_ROWS
    limit = LARGE_ROWS if one_by_one else LIMIT_ROWS
    from_rows = from_rows if columns.weights is None else None

    def measure(i: int, scores: NDArray[Any], space: _SortingSpace) -> R:
        flags = columns.flags(i)
        if from_rows is not None and scores.size < limit:
            rows = space.sort(scores, flags)
            if rows is not None:
                return from_rows(rows)
        weights = None if columns.weights is None else columns.weights(i)
        return from_ranking(Ranking(flags, scores, sample_weight=weights, pos_label=1))

    def measure_together(numbers: range, space: _SortingSpace) -> list[R]:
        scores = _side_by_side([columns.scores[i] for i in numbers])
        return [measure(i, each, space) for i, each in zip(numbers, scores, strict=True)]

    def alone(numbers: range, space: _SortingSpace) -> list[R]:
        with num_threads(1):
            return measure_together(numbers, space)

    def workspace() -> _SortingSpace:
        return _SortingSpace.allocate(
            0 if from_rows is None else max((size for size in sizes if size < limit), default=0)
        )

    groups = list(_columns_read_together(columns.scores))
    try:
        if one_by_one:
            space = workspace()
            return [each for numbers in groups for each in measure_together(numbers, space)]
        results = run(alone, groups, workspace=workspace, compiles=compiles)
        return [each for group in results for each in group]
    except ValueError:
        _raise_not_finite(columns)
        raise


def _raise_not_finite(columns: ScoreColumns) -> None:
    """Raise an error that names the first column with a value that is not finite; a ranking cannot name the column."""
    for name, scores in zip(columns.names, columns.scores, strict=True):
        check_finite(name, scores)


class _SortingSpace(NamedTuple):
    """Working memory of one thread: 17 bytes per row of the longest column."""

    rows: Keys
    scratch: Keys
    slots: NDArray[np.uint8]
    space: Keys
    cells: NDArray[np.int32]

    @classmethod
    def allocate(cls, n: int) -> _SortingSpace:
        """Return the memory for columns of up to n rows."""
        return cls(
            lend(n, np.uint64),
            lend(n, np.uint64),
            lend(n, np.uint8),
            np.empty(SLOTS_SPACE, dtype=np.uint64),
            np.empty(BUCKET_CELLS, dtype=np.int32),
        )

    def sort(self, scores: NDArray[Any], flags: Flags) -> Keys | None:
        """Sort a column's rows and return them; return None if keys are too far apart or a score is not finite."""
        codec, scores = codec_for(scores)
        part = slice(scores.size)
        rows, packed, slots = self.rows[part], self.scratch[part], self.slots[part]
        low, high, fits = pack_rows(codec.bits(scores), flags, codec.flip_below, codec.flip, packed)
        if not (fits and np.isfinite(codec.decode(np.array([low, high], dtype=np.uint64))).all()):
            return None
        fit = fit_map(scores.size, lambda sample: packed[sample].copy())
        sort_rows(packed, slots, *fit.map, np.zeros(fit.n_buckets + 1, dtype=np.int64), self.space, self.cells, rows)
        return rows


# Columns of a matrix stored by rows -----------------------------------------------------------------------------------


def _columns_read_together(columns: Sequence[NDArray[Any]]) -> Iterator[range]:
    """Cut columns into ranges to read together: neighbours that are interleaved in memory, otherwise single columns."""
    start = 0
    for stop in range(1, len(columns) + 1):
        first = columns[start]
        if (
            stop == len(columns)
            or abs(first.strides[0]) <= first.itemsize
            or (stop - start) * first.itemsize >= LINE
            or (columns[stop].dtype, columns[stop].shape, columns[stop].strides)
            != (first.dtype, first.shape, first.strides)
        ):
            yield range(start, stop)
            start = stop


def _side_by_side(columns: list[NDArray[Any]]) -> Sequence[NDArray[Any]]:
    """Copy columns whose values share cache lines, reading each line once; return a single column as it is."""
    if len(columns) == 1:
        return columns
    copies = np.empty((len(columns), columns[0].size), dtype=columns[0].dtype)
    for start in range(0, columns[0].size, ROWS_PER_TILE):
        for column, copy in zip(columns, copies, strict=True):
            copy[start : start + ROWS_PER_TILE] = column[start : start + ROWS_PER_TILE]
    return copies  # type: ignore[return-value]
