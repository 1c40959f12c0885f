"""Tables of results, with one row per data set (or fold) and one column per algorithm; and pairs of measurements."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import (
    DependentSplitsWarning,
    as_direction,
    as_flag,
    check_integer,
    holds_pairs,
    listed,
    show,
    warn_outside,
)
from fastevals._validation.arrays import (
    EXACT_INTEGER,
    as_array,
    as_scores,
    check_finite,
    check_same_length,
    is_frame,
    is_number,
    named_columns,
    plain_text,
    row_labels,
)
from fastevals._validation.result_text import ReadCells, is_text, join_recognised, read_cells
from fastevals._validation.wide_tables import (
    ALGORITHMS,
    explain_summaries,
    find_long_form,
    find_summaries,
    holds_text,
    is_unnamed,
    split_columns,
    tells_rows_apart,
)


class ResultTable(NamedTuple):
    """Results of algorithms (columns) on data sets (rows), float64 and finite.

    Algorithms have the names of a mapping's or frame's columns, or numbers; rows have names if a frame names them. If
    results are estimates, all algorithms have the same metric and splits, and `measured` is the first one's results.
    `notes` say what was recognised or left out.
    """

    values: NDArray[np.float64]
    algorithms: tuple[Any, ...]
    datasets: tuple[Any, ...] | None
    measured: Measurements | None = None
    notes: tuple[str, ...] = ()

    def without_empty_rows(self) -> ResultTable:
        """Return the table without data sets on which every result is missing."""
        kept = np.flatnonzero(~np.isnan(self.values).all(axis=1))
        datasets = None if self.datasets is None else tuple(self.datasets[row] for row in kept)
        return self._replace(values=self.values[kept], datasets=datasets)

    def higher_is_better(self, given: bool | None) -> bool:
        """Return whether higher results are better: by the metric of estimates, by the argument, or True by default.

        Raise if metric and argument disagree, or if the direction of estimates is unknown.
        """
        if self.measured is None:
            return given is None or as_flag("higher_is_better", given)
        metric = self.measured.metric or "a function"
        direction = as_direction("higher_is_better", metric, given, self.measured.greater_is_better)
        if direction is None:
            raise ValueError(f"higher_is_better must be given, True or False, for results of {metric}")
        return direction


def as_result_table(name: str, values: Any, *, least_rows: int = 1, keep_missing: bool = False) -> ResultTable:
    """Return a table of results from `Results`, a 2-D array, a mapping of names to columns or estimates, or a frame.

    A frame's first column names the rows if it holds strings, and so does a pandas index other than 0, 1, 2, ... An
    unnamed index, which files store as a column, is not an algorithm. With `keep_missing`, NaN is a missing result.
    """
    if hasattr(values, "_result_table"):  # Results
        table: ResultTable = values._result_table(name, keep_missing)
        return _checked_table(name, table, least_rows, keep_missing)
    columns, datasets = named_columns(name, values), None
    notes: tuple[str, ...] = ()
    if columns and is_frame(values):
        columns, datasets, notes = _without_names(name, columns, row_labels(values))
    measured = as_estimates(name, columns or {})
    if columns is not None:
        columns |= {key: each.values for key, each in measured.items()}
        if not columns:
            raise ValueError(f"{name} is empty: it must have at least two algorithms")
        read = {key: _read_column(f"{name}[{key!r}]", column) for key, column in columns.items()}
        notes = (*notes, *join_recognised(name, read))
        arrays = {key: each.values for key, each in read.items()}
        (first, reference), *others = arrays.items()
        for key, column in others:
            if column.size != reference.size:
                raise ValueError(
                    f"{name}[{key!r}] has {column.size} rows, but {name}[{first!r}] has {reference.size}: "
                    "each algorithm must have a result on each data set"
                )
        algorithms: tuple[Any, ...] = tuple(arrays)
        results = np.stack([*arrays.values()], axis=1)
    elif holds_estimates(values):
        raise ValueError(f"{name} must be a mapping of learners' names to estimates, got a {type(values).__name__}")
    else:
        array = as_array(name, values)
        if array.dtype.kind not in "fiub":
            raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}{_first_text_cell(array)}")
        if array.ndim != 2 or not array.size:
            raise ValueError(f"{name} must be 2-D, (data sets x algorithms), and not empty; got shape {array.shape}")
        results = _as_floats(name, array)
        algorithms = tuple(range(results.shape[1]))
    table = ResultTable(results, algorithms, datasets, next(iter(measured.values()), None), notes)
    return _checked_table(name, table, least_rows, keep_missing)


def _read_column(name: str, column: Any) -> ReadCells:
    """Return a column of results, given as numbers or as text with a number in each cell."""
    return read_cells(name, column) if is_text(column) else ReadCells(_as_floats(name, as_scores(name, column)))


def _checked_table(name: str, table: ResultTable, least_rows: int, keep_missing: bool = False) -> ResultTable:
    """Return a table with its results in order; raise unless it has enough rows and columns of finite results."""
    n_rows, n_columns = table.values.shape
    if n_columns < 2:
        raise ValueError(f"{name} must have two algorithms (columns) or more, got {n_columns} (and {n_rows} data sets)")
    if n_rows < least_rows:
        raise ValueError(f"{name} must have at least {least_rows} data sets (rows), got {n_rows}")
    results = np.where(np.isnan(table.values), 0.0, table.values) if keep_missing else table.values
    _check_cells(name, results, table.algorithms, table.datasets)
    return table._replace(values=np.array(table.values, order="C"))


def _without_names(
    name: str, columns: dict[Any, Any], datasets: tuple[Any, ...] | None
) -> tuple[dict[Any, Any], tuple[Any, ...] | None, tuple[str, ...]]:
    """Return a frame's columns of results, the names of its rows from a column or its index, and notes.

    Rows that summarise other rows are left out.
    """
    if (long := find_long_form(columns)) is not None and len(long.results) == 1:
        raise ValueError(f"{name} has {long.explain()}, or pass fastevals.Results({name})")
    if splits := split_columns(columns):
        raise ValueError(
            f"{name} must have one row for each data set, but column {splits[0]!r} numbers splits: average their "
            f"results, or pass fastevals.Results({name})"
        )
    for key in [each for each in columns if is_unnamed(each) and tells_rows_apart(columns[each])]:
        datasets = tuple(np.asarray(columns.pop(key)).tolist())
    first = next(iter(columns), None)
    if first is not None and holds_text(columns[first]):
        if ALGORITHMS.fullmatch(str(first)):
            raise ValueError(
                f"{name} must have one column for each algorithm, but column {first!r} names the rows: transpose the "
                f"table, or pass fastevals.Results({name})"
            )
        datasets = tuple(str(plain_text(each)) for each in np.asarray(columns.pop(first), dtype=object))
    summaries = [] if datasets is None else find_summaries(datasets)
    if not summaries or datasets is None:
        return columns, datasets, ()
    kept = [row for row in range(len(datasets)) if row not in summaries]
    note = explain_summaries(datasets[row] for row in summaries)
    columns = {key: np.asarray(column)[kept] for key, column in columns.items()}
    return columns, tuple(datasets[row] for row in kept), (note,)


def as_estimates(name: str, columns: Mapping[Any, Any]) -> dict[Any, Measurements]:
    """Return measurements by column name if columns are estimates (all of the same splits), else an empty dict."""
    if not any(map(holds_estimates, columns.values())):
        return {}
    measured = {key: as_measurements(f"{name}[{key!r}]", each) for key, each in columns.items()}
    first, *others = measured
    for key in others:
        check_same_splits(measured[first], measured[key], f"{name}[{first!r}] and {name}[{key!r}]")
    return measured


def _as_floats(name: str, array: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers as float64, without a copy if possible; raise if an integer would be rounded."""
    if array.dtype.kind in "iu" and array.size:
        farthest = max(int(array.max()), int(array.min()), key=abs)
        if abs(farthest) > EXACT_INTEGER:
            raise ValueError(f"{name} must be within 2**53 for integers, got {farthest}")
    with np.errstate(over="ignore"):  # longer floats may overflow
        return array.astype(np.float64, copy=False)


def _first_text_cell(array: NDArray[Any]) -> str:
    """Return a table's first cell that is not a number, and its position, for a message."""
    if array.ndim != 2 or array.dtype.kind not in "OUT":
        return ""
    place = next((place for place, each in np.ndenumerate(array) if not is_number(each)), (0, 0))
    return f" ({show(array[place])} at row {place[0]}, column {place[1]})"


def _check_cells(
    name: str, table: NDArray[np.float64], algorithms: tuple[Any, ...], datasets: tuple[Any, ...] | None
) -> None:
    """Raise if a result is missing or infinite, with its position."""
    finite = np.isfinite(table)
    if finite.all():
        return
    row, column = (int(each[0]) for each in np.nonzero(~finite))
    count = int(np.count_nonzero(~finite))
    dataset = "" if datasets is None else f" ({show(datasets[row])})"
    raise ValueError(
        f"{name} must be finite, but has {table[row, column]} at row {row}{dataset}, column {column} "
        f"({show(algorithms[column])}){'' if count == 1 else f'; {count} such cells in all'}"
    )


class MeasuredSplits(NamedTuple):
    """The splits' numbers of training and test rows, the splitter, and the metric's name and direction.

    The numbers have shape (n_repeats, n_folds); they and the rest are None if unknown. A metric that is a function has
    no known name or direction.
    """

    n_train: Any
    n_test: Any
    splitter: Any = None
    metric: str | None = None
    greater_is_better: bool | None = None


class Measurements(NamedTuple):
    """A learner's measurements as finite float64 in one dimension, and their original shape.

    Measurements from estimates also have splits (unless each estimate has its own data set), a metric (None for a
    function) and a direction (None if unknown).
    """

    values: NDArray[np.float64]
    shape: tuple[int, ...]
    splits: Any = None
    metric: str | None = None
    greater_is_better: bool | None = None
    over_datasets: bool = False  # whether each is a mean on a data set of its own


def as_measurements(name: str, values: Any, *, least: int = 1, flat: bool = True) -> Measurements:
    """Return a learner's measurements, checked; there must be at least `least`.

    Accepted are an `ErrorEstimate`, a list of estimates (one per data set), and an array of shape (n,) or (1, n).
    Unless `flat`, any array of two axes is accepted.
    """
    splits = per_split = None
    if holds_estimates(values):
        if isinstance(values, (list, tuple)):
            return _over_datasets(name, values, least)
        estimate = _of_one_metric(name, values)
        splits, per_split = estimate._splits, estimate.per_split
    array = as_array(name, values if per_split is None else per_split)
    shape = array.shape
    if per_split is not None and (undefined := int(np.count_nonzero(np.isnan(array)))):
        raise ValueError(f"{name} must be defined in all splits, but is NaN in {undefined} of {array.size}")
    if per_split is not None or (array.ndim == 2 and (len(array) == 1 or not flat)):  # one repetition of folds, or more
        array = array.ravel()
    array = _as_floats(name, as_scores(name, array))
    check_finite(name, array)
    if array.size < least:
        raise ValueError(f"{name} must have at least {least} measurements, got {array.size}")
    return Measurements(array, shape, splits, *([] if splits is None else [splits.metric, splits.greater_is_better]))


def holds_estimates(values: Any) -> bool:
    """Return whether values are an `ErrorEstimate`, a mapping of metrics to estimates, or a list of either."""
    if isinstance(values, Mapping):
        return bool(values) and all(hasattr(each, "per_split") for each in values.values())
    if isinstance(values, (list, tuple)):
        return bool(values) and not isinstance(values[0], (list, tuple)) and holds_estimates(values[0])
    return hasattr(values, "per_split")


def _of_one_metric(name: str, values: Any) -> Any:
    """Return an `ErrorEstimate`, given directly or as the only entry of a mapping."""
    if not isinstance(values, Mapping):
        return values
    if len(values) > 1:
        first = next(iter(values))
        raise ValueError(f"{name} must be of one metric, got {listed(values)}: pass one, such as {name}[{first!r}]")
    return next(iter(values.values()))


def _over_datasets(name: str, values: Sequence[Any], least: int) -> Measurements:
    """Return the values of a learner's estimates, one estimate per data set."""
    odd = next((k for k, each in enumerate(values) if not holds_estimates(each)), None)
    if odd is not None:
        raise ValueError(f"{name} must hold only estimates, one per data set, got {show(values[odd])} at {odd}")
    estimates = [_of_one_metric(f"{name}[{k}]", each) for k, each in enumerate(values)]
    each_of = [(None, None) if each._splits is None else each._splits[-2:] for each in estimates]
    if len(set(each_of)) > 1:
        raise ValueError(f"{name} must be of one metric, got {listed(dict.fromkeys(m for m, _ in each_of))}")
    array = np.array([each.value for each in estimates], dtype=np.float64)
    metric, direction = each_of[0]
    found = as_measurements(name, array, least=least)
    return found._replace(metric=metric, greater_is_better=direction, over_datasets=True)


def check_same_splits(a: Measurements, b: Measurements, names: str = "a and b") -> None:
    """Raise if two learners were measured by different metrics or on different splits."""
    if None not in (a.metric, b.metric) and a.metric != b.metric:
        raise ValueError(f"{names} must be of the same metric, got {a.metric} and {b.metric}")
    if a.splits is None or b.splits is None:
        return
    if a.shape != b.shape:
        raise ValueError(f"{names} must be of the same splits, got {_grid(a)} and {_grid(b)}")
    for field in ("n_train", "n_test"):
        pair = [getattr(each.splits, field) for each in (a, b)]
        if not any(each is None for each in pair) and not np.array_equal(*pair):
            place = int(np.argmax(pair[0].ravel() != pair[1].ravel()))
            seen = " and ".join(str(each.flat[place]) for each in pair)
            raise ValueError(f"{names} must be of the same splits, but {field} of split {place} is {seen}")
    first, second = a.splits.splitter, b.splits.splitter
    if is_dataclass(first) and is_dataclass(second) and first != second:  # our splitters, whose seeds decide the draws
        raise ValueError(f"{names} must be of the same splits and seeds, got {show(first)} and {show(second)}")
    rows = [_rows_of_splits(each) for each in (first, second) if isinstance(each, (list, tuple, np.ndarray))]
    if len(rows) == 2 and not all(map(np.array_equal, *rows)):
        raise ValueError(f"{names} must be of the same splits, but their rows are in different folds")


def _rows_of_splits(splits: Any) -> list[NDArray[Any]]:
    """Return the sorted rows of each training and test set; if splits are fold numbers, return these."""
    return [np.sort(part) for pair in splits for part in pair] if holds_pairs(splits) else [np.asarray(splits)]


def _grid(measured: Measurements) -> str:
    return f"{measured.shape[0]} x {measured.shape[1]} splits"


def test_to_train_ratio(n_train: Any, n_test: Any, *measured: Measurements) -> float:
    """Return the ratio of test rows to training rows, from the given numbers or from the measured splits."""
    check_one_dataset("the corrected resampled t-test", *measured)
    known = [each.splits for each in measured if each.splits is not None and each.splits.n_train is not None]
    if not known or not (n_train is n_test is None):
        if known:
            raise ValueError("n_train and n_test apply only to arrays: estimates have their own, so leave both out")
        if n_train is n_test is None:
            raise ValueError("n_train and n_test must be given for arrays: only estimates have their own")
        rows = [check_integer(name, n, low=1) for name, n in (("n_train", n_train), ("n_test", n_test))]
        return rows[1] / rows[0]
    train, test = (int(np.sum(each)) for each in (known[0].n_train, known[0].n_test))
    if not train:
        raise ValueError("the splits must have rows to train on, but each tests all rows")
    return test / train


def check_one_dataset(test: str, *measured: Measurements) -> None:
    """Raise if measurements are means on several data sets, for a test of splits of one data set."""
    several = next((each for each in measured if each.over_datasets), None)
    if several is not None:
        raise ValueError(
            f"{test} compares splits of one data set, got results on {several.values.size} data sets: use Wilcoxon's "
            "test, or take one data set at a time"
        )


def as_pair_of_names(names: Any, default: tuple[str, str]) -> tuple[str, str]:
    """Return the two learners' names for conclusions, checked; None gives the default."""
    if names is None:
        return default
    given = list(names) if isinstance(names, Sequence) and not isinstance(names, str) else []
    if len(given) != 2 or not all(isinstance(each, str) and each for each in given) or given[0] == given[1]:
        raise ValueError(f"names must be two different strings, such as ('old', 'new'), got {show(names)}")
    return given[0], given[1]


def names_of_pair(names: Any, a: Any, b: Any) -> tuple[str, str]:
    """Return the two learners' names for conclusions: the given ones, those of `Results.of`, or "a" and "b"."""
    first, second = (
        str(getattr(each[0] if isinstance(each, list) and each else each, "learner", "")) for each in (a, b)
    )
    return as_pair_of_names(names, (first, second) if first and second and first != second else ("a", "b"))


def find_name(argument: str, value: Any, names: tuple[Any, ...]) -> int:
    """Return the position of a name in `names`."""
    if not isinstance(value, (bool, np.bool_)):
        with contextlib.suppress(TypeError, ValueError):  # values that can't be compared, or arrays
            for place, name in enumerate(names):
                if value == name:
                    return place
    raise ValueError(f"{argument} must be one of {listed(names)}; got {show(value)}")


def find_pair(a: Any, b: Any, learners: tuple[Any, ...]) -> tuple[int, int]:
    """Return the positions of two learners; both may be None if there are only two."""
    if a is None and b is None and len(learners) == 2:
        return 0, 1
    if a is None or b is None:
        raise ValueError(f"a and b must name two of the {len(learners)} learners, got a={a!r} and b={b!r}")
    places = find_name("a", a, learners), find_name("b", b, learners)
    if places[0] == places[1]:
        raise ValueError(f"a and b must be two different learners, got {a!r} twice")
    return places


def as_measurement_pair(a: Any, b: Any, *, least: int = 1, independent: str = "") -> tuple[Measurements, Measurements]:
    """Return the paired measurements of two learners, checked; there must be at least `least`.

    `independent` is the name of a test that assumes independent measurements.
    """
    pair = as_measurements("a", a, least=least), as_measurements("b", b, least=least)
    check_same_splits(*pair)
    check_same_length(a=pair[0].values, b=pair[1].values)
    if independent:
        warn_if_dependent(independent, pair, "corrected_resampled_t_test")
    return pair


def warn_if_dependent(test: str, measured: Iterable[Measurements | None], instead: str) -> None:
    """Warn if measurements that a test assumes to be independent are of splits of one data set."""
    for each in measured:
        if each is not None and each.splits is not None and each.values.size > 1:
            return warn_outside(
                f"{test} assumes independent measurements, but {_grid(each)} of one data set share rows, so equally "
                f"good learners are found to differ too often. Use {instead}",
                DependentSplitsWarning,
            )
