"""Columns of a table of results: which ones are algorithms, and which ones name data sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._choices import PostHoc
from fastevals._distinct import sorted_unique
from fastevals._execution import progressed
from fastevals._naming import option
from fastevals._options import as_direction, check_choice, check_number, row_at, show
from fastevals._text import printable
from fastevals._validation.arrays import as_scores, check_finite
from fastevals._validation.result_text import ReadCells, join_recognised, read_cells
from fastevals._validation.wide_tables import (
    NUMBERED,
    explain_summaries,
    find_long_form,
    find_summaries,
    holds_results,
    holds_text,
    is_unnamed,
    split_columns,
    tells_rows_apart,
)
from fastevals.counting.labels import rows_by_code
from fastevals.infer.learners.metrics import find_direction
from fastevals.infer.learners.reading import has_other_rows
from fastevals.infer.learners.results import Results
from fastevals.reading.columns import NamedColumns, columns_by_role
from fastevals.reading.sources import check_columns
from fastevals.show.compare.blocks import ComparisonOptions, measure_block
from fastevals.show.compare.results import ResultsComparison, list_names

SPLITS_CAUTION = (
    "rows are splits of one data set, which share rows, so tests that treat them as independent find differences too "
    "often: compare fastevals.Results(..., n_train=, n_test=)"
)
MOST_BLOCKS = 1000
MOST_COMPARED = 500_000  # pairs of algorithms, as of 1,000 algorithms
MOST_BY_CHANCE = 5  # rows or fewer may hold successive numbers by chance
FEW_ROWS = 3  # rows or fewer may be numbered, or ranked, by chance


def compare_result_columns(
    columns: NamedColumns, options: ComparisonOptions, data: str, control: str = "control"
) -> ResultsComparison:
    """Compare the algorithms whose results are columns; columns of text name data sets.

    `data` names the data, and `control` the option that gave the control.

    Raise if a column is missing or has no numbers, or if options conflict.
    """
    check_number(option("confidence_level"), options.confidence_level, low=0, high=1, open_low=True, open_high=True)
    roles = {"dataset": options.dataset, "algorithm": options.algorithm, "by": (options.by,)}
    called = columns_by_role((option(role), name) for role, names in roles.items() for name in names)
    check_columns("the data", list(columns), called)
    columns, notes, metric, options = _with_algorithms(columns, options)
    are_splits = SPLITS_CAUTION in notes
    algorithms = _choose_algorithms(columns, called, options, option(control))
    options = options._replace(posthoc=choose_posthoc(algorithms, options))
    texts = [name for name in columns if name not in (*called, *algorithms) and holds_text(columns[name])]
    columns, recognised = _without_text(columns, algorithms, [*options.dataset, *texts], called)
    parts: list[tuple[Any, Any]] = [(None, slice(None))]  # each block's value and rows
    if options.by is not None:
        parts = _split_by_value(called[options.by], columns, options.by)
    dataset_names = next(iter((*options.dataset, *texts)), None)
    blocks = []
    for value, rows in progressed(parts, "comparing"):
        repeated = None if dataset_names is None else _repeated_values(dataset_names, columns[dataset_names][rows])
        table = {name: columns[name][rows] for name in algorithms}
        named = None if dataset_names is None else columns[dataset_names][rows].tolist()
        blocks.append(
            measure_block(value, table, repeated, options, datasets=named, are_splits=are_splits, metric=metric)
        )
    others = tuple(name for name in columns if name not in algorithms)
    cautions = (*notes, *recognised, *_cautions(columns, algorithms, called, options))
    return ResultsComparison(options, tuple(blocks), data, others, cautions)


def _with_algorithms(
    columns: NamedColumns, options: ComparisonOptions
) -> tuple[NamedColumns, list[str], str | None, ComparisonOptions]:
    """Return a table whose rows are results, splits or algorithms as one with a column for each algorithm.

    Any other table is unchanged. Also return notes, the metric, and the options with its direction.
    """
    long = find_long_form(columns)
    if options.algorithm or (long is None and (options.by is not None or not has_other_rows(columns, options.dataset))):
        return columns, [], None, options
    if long is not None and len(long.results) > 1:
        _check_metrics(long.results)
        return columns, [], None, options
    if long is not None and options.by is not None:
        raise ValueError(f"{option('by')} needs one row per data set, but the data have {long.explain()}")
    results = Results(dict(columns), learner=None if long is None else long.on, dataset=options.dataset or None)
    name = ", ".join(options.dataset) or ("data set" if long is None else long.rows[0])
    datasets = {name: np.array([str(each) for each in results.datasets])} if len(results.datasets) > 1 else {}
    table = results._result_table("data")
    wide = datasets | {str(each): column for each, column in zip(table.algorithms, table.values.T, strict=True)}
    n_splits = results.values[0, 0].size
    averaged = f"averaged over up to {n_splits} splits of each" if n_splits > 1 and datasets else ""
    notes = [_in_caution(note) for note in results.notes]
    if long is not None:
        said = f"the data have one row per result: column {long.on!r} names the algorithms"
        notes.insert(0, ", ".join(filter(None, [said, averaged])))
    elif averaged:
        notes.insert(0, f"the data have one row per split of a data set: results are {averaged}")
    if n_splits > 1 and not datasets:
        notes.append(SPLITS_CAUTION)
    if results.greater_is_better is not None:
        lower = None if options.higher_is_better else True
        named = option("lower_is_better")
        is_lower = as_direction(named, results.metric or "", lower, not results.greater_is_better)
        options = options._replace(higher_is_better=not is_lower)
    return NamedColumns(wide, data=columns.data), notes, results.metric, options


def _check_metrics(names: Sequence[str]) -> None:
    """Raise if columns of results in long form are metrics, not algorithms."""
    if any(find_direction(str(name)) is not None for name in names):
        raise ValueError(
            f"the data must have one metric, got {list_names(names)}: leave one of these columns, or choose one in "
            f"Python by fastevals.Results(data, metric={names[0]!r})"
        )


def _without_text(
    columns: NamedColumns, algorithms: Sequence[str], named: Sequence[str], called: Mapping[str, str]
) -> tuple[NamedColumns, list[str]]:
    """Return columns whose results are numbers, without rows that summarise others, and notes on both.

    `named` are the columns that may name data sets. Raise if a result is missing or not a number.
    """
    shown = {name: called.get(name, f"column {name!r}") for name in algorithms}
    read = {name: _read_results(shown[name], name, columns[name]) for name in algorithms}
    notes = list(join_recognised("the data", read))
    summaries: list[int] = []
    for name in named:
        if holds_text(columns[name]) and not summaries and (summaries := find_summaries(columns[name])):
            notes.insert(0, explain_summaries(str(columns[name][row]) for row in summaries))
    kept = np.delete(np.arange(len(columns[algorithms[0]])), summaries)
    for name, (values, no_result, _) in read.items():
        missing = next((row for row in no_result if row not in summaries), None)
        if missing is not None:
            raise ValueError(
                f"{shown[name]} must have a result in each row, but has {show(no_result[missing])} at {row_at(missing)}"
            )
        if not np.isfinite(values[kept]).all():
            check_finite(shown[name], values)
    clean = {name: read[name].values if name in read else column for name, column in columns.items()}
    rest = {name: column[kept] for name, column in clean.items()} if summaries else clean
    line = columns.line
    moved = NamedColumns(rest, lambda row: line(int(kept[row])), columns.as_written, data=columns.data)
    return moved, [_in_caution(note) for note in notes]


def _read_results(shown: str, name: str, column: NDArray[Any]) -> ReadCells:
    """Return a column of results; numbers keep their type."""
    if not holds_text(column):
        return ReadCells(as_scores(shown, column))
    try:
        return read_cells(shown, column)
    except ValueError as error:
        raise ValueError(f"{error} (if it names data sets: {option('dataset', name)})") from None


def _in_caution(note: str) -> str:
    """Return a sentence as a caution, which begins in lower case and has no full stop."""
    return note[0].lower() + note[1:].removesuffix(".")


def _choose_algorithms(
    columns: Mapping[str, NDArray[Any]], called: Mapping[str, str], options: ComparisonOptions, control: str
) -> list[str]:
    """Return the columns to compare: the named ones, or all with results except an index or those with another role."""
    algorithms = list(options.algorithm)
    if not algorithms:
        left_out = (*called, *split_columns(columns))
        free = {name: column for name, column in columns.items() if name not in left_out}
        numeric = [name for name, column in free.items() if not (holds_text(column) or _is_index(name, column))]
        texts = [
            name
            for name, column in free.items()
            if holds_text(column) and holds_results(column, len(numeric) > 1 and name == next(iter(columns)))
        ]
        algorithms = [name for name in free if name in (*numeric, *texts)]
    if options.control is not None:
        check_choice(control, options.control, algorithms)
    k = len(algorithms)
    if k < 2:
        raise ValueError(
            f"results must have a column of numbers for each of two algorithms or more, got {k}: "
            f"{', '.join(map(repr, algorithms)) or 'none'}"
        )
    n_pairs = k * (k - 1) // 2 if options.control is None else k - 1
    if n_pairs > MOST_COMPARED:
        raise ValueError(
            f"{k} algorithms have {n_pairs} pairs, and at most {MOST_COMPARED} are compared: {option('algorithm')} "
            f"names those to compare, {control} the one that all others are compared with"
        )
    return algorithms


def _is_index(name: str, column: NDArray[Any]) -> bool:
    """Return whether a column without a name is an index; raise if it may also hold results."""
    if not is_unnamed(name):
        return False
    if not tells_rows_apart(column):
        raise ValueError(
            f"column {name!r} has no name: if it names rows, give {option('dataset', name)}; otherwise name it"
        )
    return True


def choose_posthoc(algorithms: Sequence[str], options: ComparisonOptions) -> PostHoc:
    """Return the pairwise test; for two algorithms only Wilcoxon's test is possible."""
    if len(algorithms) > 2:
        return options.posthoc or ("nemenyi" if options.control is None else "bonferroni-dunn")
    if options.posthoc not in (None, "wilcoxon"):
        raise ValueError(
            f"{option('posthoc', options.posthoc)} goes with three algorithms or more, "
            f"got {list_names(algorithms)}: two are compared by Wilcoxon's signed-rank test"
        )
    return "wilcoxon"


def _cautions(
    columns: Mapping[str, NDArray[Any]],
    algorithms: Sequence[str],
    called: Mapping[str, str],
    options: ComparisonOptions,
) -> Iterator[str]:
    """Yield cautions on columns that look like ranks, metrics or row numbers instead of results."""
    results = {name: columns[name] for name in algorithms}
    long = find_long_form({name: column for name, column in columns.items() if name not in called})
    if long is not None and not options.algorithm:
        yield f"if {list_names(long.results)} are metrics, the data have {long.explain()}"
    alone = sum(column.dtype.kind == "f" for column in results.values()) == len(results) - 1
    for name, column in results.items():
        if name not in called and _numbers_rows(name, column, alone):
            hint = f"leave it out by {option('dataset', name)}"
            yield f"{printable(name)} looks like row numbers, not results: if so, {hint}"
    if options.higher_is_better and _are_ranks(list(results.values())):
        hint = option("lower_is_better", True)
        yield f"rows look like ranks, and the highest rank was treated as the best: if rank 1 is best, give {hint}"


def _numbers_rows(name: str, column: NDArray[Any], alone: bool) -> bool:
    """Return whether distinct integers seem to number the rows: by step, by name, or as the only integer column."""
    if column.dtype.kind not in "iu" or sorted_unique(column).size < column.size:
        return False
    counts = column.size > MOST_BY_CHANCE and bool((np.diff(column) == 1).all())
    return counts or (alone and column.size >= FEW_ROWS) or NUMBERED.fullmatch(name) is not None


def _are_ranks(columns: list[NDArray[Any]]) -> bool:
    """Return whether each row ranks the algorithms, with mean ranks for ties."""
    n, k = columns[0].size, len(columns)
    if n < FEW_ROWS or not all(rank.min() >= 1 and rank.max() <= k and (2 * rank % 1 == 0).all() for rank in columns):
        return False
    differ = any((rank != columns[0]).any() for rank in columns)
    return differ and bool((np.sum(columns, axis=0, dtype=np.float64) == k * (k + 1) / 2).all())


def _split_by_value(shown: str, columns: NamedColumns, name: str) -> list[tuple[Any, NDArray[np.intp]]]:
    """Return each value of a column, ascending, with its rows; `shown` is the column's name in messages."""
    values, codes = columns.encode_values(shown, name)
    if len(values) > MOST_BLOCKS:
        raise ValueError(f"{shown} has {len(values)} values; a block each is made for at most {MOST_BLOCKS}")
    return list(zip(values, rows_by_code(codes, len(values)), strict=True))


def _repeated_values(name: str, column: NDArray[Any]) -> tuple[str, int] | None:
    distinct = sorted_unique(column).size
    return (name, distinct) if distinct < column.size else None
