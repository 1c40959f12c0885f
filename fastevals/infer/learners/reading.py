"""Read results of learners from frames, files, mappings, arrays, estimates and scikit-learn's dictionaries.

Every form becomes a `ResultGrid` for each metric: an array of data sets x learners x repeats x folds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import listed, naming_rows, row_at, show
from fastevals._validation.arrays import (
    as_array,
    holds_numbers,
    is_frame,
    is_missing,
    named_columns,
    numbers_of,
    plain_text,
    row_labels,
)
from fastevals._validation.result_text import ReadCells, holds_result_text, is_text, join_recognised, read_cells
from fastevals._validation.tables import MeasuredSplits, Measurements, check_same_splits, holds_estimates
from fastevals._validation.wide_tables import (
    ALGORITHMS,
    DATASETS,
    FOLDS,
    REPEATS,
    explain_summaries,
    find_long_form,
    find_summaries,
    has_fractions,
    holds_results,
    is_unnamed,
    split_columns,
    tells_rows_apart,
)
from fastevals.infer.learners.metrics import find_direction
from fastevals.reading.files import open_source
from fastevals.reading.sources import is_path, read_piece

Floats = NDArray[np.float64]
Cell = tuple[Any, Any, int, int]  # data set, learner, and numbers of the repeat and fold
Metric = str | None
Columns = Mapping[Any, Any]

OF_ROLES = {  # how columns in long form are called
    "dataset": DATASETS,
    "learner": re.compile(rf"({ALGORITHMS.pattern}|clfs?)([ _.-]?(name|id))?", re.IGNORECASE),
    "fold": FOLDS,
    "repeat": REPEATS,
    "metric": re.compile(r"(metrics?|measures?|scorers?|scoring)([ _.-]?name)?", re.IGNORECASE),
}
VALUE = re.compile(r"(values?|results?|scores?|performance)", re.IGNORECASE)
ONE_DATASET = 0  # the name of the only data set, if it has none


class Roles(NamedTuple):
    """Names of columns, or for arrays the names of data sets and learners; None for what is to be recognised."""

    dataset: Any = None
    learner: Any = None
    value: Any = None
    fold: Any = None
    repeat: Any = None

    def check_only(self, form: str, *legal: str) -> None:
        """Raise if a role is given that applies only to other forms of data."""
        for name, value in self._asdict().items():
            if value is not None and name not in legal:
                raise ValueError(f"{name} names a column of a frame or file, and data are {form}: leave it out")


class ResultGrid(NamedTuple):
    """Results of one metric: `values` of shape (n_datasets, n_learners, n_repeats, n_folds), NaN where there is none.

    The splits' numbers of rows have shape (n_datasets, n_repeats, n_folds).
    """

    values: Floats
    datasets: tuple[Any, ...]
    learners: tuple[Any, ...]
    metric: Metric = None
    greater_is_better: bool | None = None
    n_train: NDArray[Any] | None = None
    n_test: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()
    errors: Mapping[Cell, str] = {}


def read_grids(data: Any, roles: Roles) -> dict[Metric, ResultGrid]:
    """Return the results by metric, in the order of the data; the only metric is None if it has no name."""
    if is_path(data):
        of_file, place = _read_file(data)
        with naming_rows(place):
            return _from_columns(of_file, None, roles)
    if hasattr(data, "_result_table"):
        raise ValueError(f"data must be in another form, got {data!r}: pass it on as it is")
    data = _with_named_index(data)
    if is_frame(data):
        columns = named_columns("data", data)
        assert columns is not None
        return _from_columns(columns, row_labels(data), roles)
    if isinstance(data, Mapping):
        if not data:
            raise ValueError("data is empty: it must have at least one learner")
        if _is_cross_validated(data):
            raise ValueError(
                "data must be a mapping of learners' names to results of cross_validate, got the results of one "
                "learner: pass {'its name': results}"
            )
        if all(map(_is_leaf, data.values())) or any(isinstance(each, Mapping) for each in data.values()):
            return _from_mapping(data, roles)
        columns = named_columns("data", data)
        assert columns is not None
        return _from_columns(columns, None, roles)
    if holds_estimates(data):
        raise ValueError(f"data must be a mapping of learners' names to estimates, got a {type(data).__name__}")
    return {None: _from_array(data, roles)}


# Arrays ---------------------------------------------------------------------------------------------------------------
def _from_array(data: Any, roles: Roles) -> ResultGrid:
    """Return results from an array of data sets x learners, or with axes for folds, or for repeats and folds."""
    roles.check_only("an array", "dataset", "learner")
    array = as_array("data", data)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"data must hold numbers, got dtype {array.dtype}")
    if array.ndim not in (2, 3, 4) or not array.size:
        raise ValueError(
            "data must be an array of data sets x learners, of data sets x learners x folds, or of data sets x "
            f"learners x repeats x folds, and not empty; got shape {array.shape}"
        )
    with naming_rows(lambda k: f"place {tuple(map(int, np.unravel_index(k, array.shape)))}"):
        values = read_cells("data", array.ravel()).values.reshape(array.shape)
    values = values.reshape(*array.shape[:2], *(1,) * (4 - array.ndim), *array.shape[2:])
    return ResultGrid(
        values,
        _given_names("dataset", roles.dataset, array.shape[0]),
        _given_names("learner", roles.learner, array.shape[1]),
    )


def _given_names(role: str, names: Any, n: int) -> tuple[Any, ...]:
    """Return names of an axis, checked; numbers if none are given."""
    if names is None:
        return tuple(range(n))
    if isinstance(names, str) or not isinstance(names, Iterable):
        names = [names]
    given = tuple(plain_text(each) for each in names)
    if len(given) != n or len({str(each) for each in given}) < n:
        raise ValueError(f"{role} must be {n} different names for data without names, got {listed(given)}")
    return given


# Mappings of estimates, and of scikit-learn's results -----------------------------------------------------------------
class _Leaf(NamedTuple):
    """A learner's results on one data set: `values` of shape (n_repeats, n_folds)."""

    values: Floats
    splits: MeasuredSplits | None = None
    errors: Mapping[tuple[int, int], str] = {}
    read: ReadCells | None = None


def _from_mapping(data: Mapping[Any, Any], roles: Roles) -> dict[Metric, ResultGrid]:
    """Return results from a mapping of learners, or of data sets to mappings of learners."""
    roles.check_only("a mapping", "dataset", "learner")
    leaves: dict[tuple[Any, Any], dict[Metric, _Leaf]] = {}
    if all(map(_is_leaf, data.values())):
        for learner, value in data.items():
            shown = f"data[{learner!r}]"
            if isinstance(value, (list, tuple)):
                for k, each in enumerate(value):
                    leaves[k, learner] = _read_leaf(f"{shown}[{k}]", each)
            else:
                leaves[ONE_DATASET, learner] = _read_leaf(shown, value)
    else:
        for dataset, by_learner in data.items():
            if not isinstance(by_learner, Mapping) or not by_learner:
                raise ValueError(
                    f"data[{dataset!r}] must be a mapping of learners' names to results, as the others are, got "
                    f"{show(by_learner)}"
                )
            for learner, value in by_learner.items():
                leaves[plain_text(dataset), plain_text(learner)] = _read_leaf(f"data[{dataset!r}][{learner!r}]", value)
    datasets, learners = (tuple(dict.fromkeys(key[axis] for key in leaves)) for axis in (0, 1))
    if roles.dataset is not None:
        names = dict(zip(datasets, _given_names("dataset", roles.dataset, len(datasets)), strict=True))
        leaves = {(names[dataset], learner): each for (dataset, learner), each in leaves.items()}
        datasets = tuple(names.values())
    metrics = dict.fromkeys(metric for each in leaves.values() for metric in each)
    return {metric: _joined(metric, leaves, datasets, learners) for metric in metrics}


def _joined(
    metric: Metric,
    leaves: Mapping[tuple[Any, Any], Mapping[Metric, _Leaf]],
    datasets: tuple[Any, ...],
    learners: tuple[Any, ...],
) -> ResultGrid:
    """Return the grid of a metric; raise unless all learners of a data set have the same splits."""
    own = {key: each[metric] for key, each in leaves.items() if metric in each}
    shape = tuple(max(each.values.shape[axis] for each in own.values()) for axis in (0, 1))
    values = np.full((len(datasets), len(learners), *shape), np.nan)
    sizes = {name: np.zeros((len(datasets), *shape)) for name in ("n_train", "n_test")}
    errors: dict[Cell, str] = {}
    first: dict[Any, tuple[Any, _Leaf]] = {}
    for (dataset, learner), leaf in own.items():
        place, (n_repeats, n_folds) = datasets.index(dataset), leaf.values.shape
        values[place, learners.index(learner), :n_repeats, :n_folds] = leaf.values
        errors |= {(dataset, learner, *split): text for split, text in leaf.errors.items()}
        if leaf.splits is not None:
            other, reference = first.setdefault(dataset, (learner, leaf))
            check_same_splits(
                _as_measurements(reference),
                _as_measurements(leaf),
                f"{show(other)} and {show(learner)} on {show(dataset)}",
            )
            for name, rows in sizes.items():
                rows[place, :n_repeats, :n_folds] = getattr(leaf.splits, name)
    measured = [each.splits for each in own.values() if each.splits is not None]
    is_measured = len(measured) == len(own)
    read = {key: each.read for key, each in own.items() if each.read is not None}
    return ResultGrid(
        values,
        datasets,
        learners,
        metric,
        measured[0].greater_is_better if measured else None,
        sizes["n_train"] if is_measured else None,
        sizes["n_test"] if is_measured else None,
        join_recognised("data", read),
        errors,
    )


def _as_measurements(leaf: _Leaf) -> Measurements:
    assert leaf.splits is not None
    return Measurements(leaf.values.ravel(), leaf.values.shape, leaf.splits, *leaf.splits[-2:])


def _is_leaf(value: Any) -> bool:
    """Return whether a value is a learner's estimates or results of `cross_validate`."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(each, Mapping) or hasattr(each, "per_split") for each in value)
    return _is_by_metric(value) or _is_cross_validated(value)


def _is_by_metric(value: Any) -> bool:
    """Return whether a value is an `ErrorEstimate`, or estimates by metric (not by learner)."""
    if hasattr(value, "per_split"):
        return True
    if not isinstance(value, Mapping) or not value or not holds_estimates(value):
        return False
    metrics = [getattr(each._splits, "metric", None) for each in value.values()]
    return hasattr(value, "n_train") or all(name in (None, str(key)) for key, name in zip(value, metrics, strict=True))


def _is_cross_validated(value: Any) -> bool:
    """Return whether a value is what scikit-learn's `cross_validate` returns for a learner."""
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value):
        return False
    parts = [each for name, each in value.items() if name != "indices"]
    return any(each.startswith("test_") for each in value) and not any(isinstance(each, Mapping) for each in parts)


def _read_leaf(shown: str, value: Any) -> dict[Metric, _Leaf]:
    """Return a learner's results on one data set, by metric."""
    if hasattr(value, "per_split"):
        name = None if value._splits is None else value._splits.metric
        return {name: _of_estimate(value)}
    if _is_by_metric(value):
        errors = getattr(value, "errors", {})
        return {str(name): _of_estimate(each)._replace(errors=errors) for name, each in value.items()}
    if _is_cross_validated(value):
        scores = {name.removeprefix("test_"): each for name, each in value.items() if name.startswith("test_")}
        read = {name: read_cells(f"{shown}['test_{name}']", each) for name, each in scores.items()}
        return {
            None if name == "score" else name: _Leaf(each.values[None], _sizes_of(value), read=each)
            for name, each in read.items()
        }
    if isinstance(value, Mapping):
        raise ValueError(
            f"{shown} must be results: numbers, an estimate, or a dictionary of cross_validate, got {show(value)}"
        )
    array = np.array(value, dtype=object) if isinstance(value, (list, tuple)) else as_array(shown, value)
    if array.ndim > 2 or not array.size:
        raise ValueError(f"{shown} must be a number, folds, or repeats x folds, got shape {array.shape}")
    cells = read_cells(shown, array.ravel())
    shape = np.atleast_2d(np.empty(array.shape)).shape
    errors = {tuple(map(int, np.unravel_index(k, shape))): text for k, text in cells.no_result.items()}
    return {None: _Leaf(cells.values.reshape(shape), None, errors, cells)}


def _sizes_of(value: Mapping[str, Any]) -> MeasuredSplits | None:
    """Return the sizes of splits from `cross_validate`, if it was asked to return the rows' indices."""
    indices = value.get("indices")
    if not isinstance(indices, Mapping) or not {"train", "test"} <= set(indices):
        return None
    n_train, n_test = (np.array([[len(rows) for rows in indices[part]]]) for part in ("train", "test"))
    return MeasuredSplits(n_train, n_test)


def _of_estimate(estimate: Any) -> _Leaf:
    values = np.array(estimate.per_split, dtype=np.float64)
    return _Leaf(values, estimate._splits)


# Frames, files, and columns by name -----------------------------------------------------------------------------------
def _read_file(path: Any) -> tuple[dict[str, Any], Callable[[int], str]]:
    """Return a file's columns, with None for missing values, and the name of a row in messages."""
    source = open_source(path)
    source.check_columns({name: f"column {name!r}" for name in source.names})
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in source.names}
    for piece in source.pieces:
        for _, batch in read_piece(piece, source.names, source.format):
            for k, parts in enumerate(columns.values()):
                parts.append(_of_arrow(batch.column(k)))
    joined = {name: np.concatenate(parts) if parts else np.array([]) for name, parts in columns.items()}
    return joined, source.pieces[0].place if len(source.pieces) == 1 else "row {}".format


def _of_arrow(column: Any) -> NDArray[Any]:
    if holds_numbers(column.type) and not column.null_count:
        return numbers_of(column)
    return np.fromiter(column.to_pylist(), object, len(column))


def _with_named_index(data: Any) -> Any:
    """Return a pandas frame whose index has names with the index as columns; a series becomes a frame."""
    levels = getattr(getattr(data, "columns", None), "levels", None)
    if levels is not None and hasattr(data, "stack"):  # columns with a name for each of several levels
        names = [
            name or ("metric" if all(find_direction(str(each)) is not None for each in level) else "learner")
            for name, level in zip(data.columns.names, levels, strict=True)
        ]
        data = data.rename_axis(columns=names).stack(names, future_stack=True)
    index = getattr(data, "index", None)
    if index is None or not hasattr(index, "names") or not hasattr(data, "reset_index"):
        return data
    if not is_frame(data):
        data = data.to_frame("value" if data.name is None else data.name)
    if any(name is not None for name in index.names) or len(index.names) > 1:
        return data.reset_index(names=[_level_name(k, name) for k, name in enumerate(index.names)])
    return data


def _level_name(k: int, name: Any) -> Any:
    return ("dataset" if k == 0 else f"level_{k}") if name is None else name


class _Layout(NamedTuple):
    """Columns by role: `learner` is None in wide form, where each of the `results` is a learner."""

    dataset: tuple[Any, ...]
    learner: Any
    fold: Any
    repeat: Any
    metric: Any
    results: tuple[Any, ...]
    unused: tuple[Any, ...] = ()
    is_transposed: bool = False


def _from_columns(columns: Columns, index: tuple[Any, ...] | None, roles: Roles) -> dict[Metric, ResultGrid]:
    """Return results from columns by name, in long or wide form."""
    columns = dict(columns)
    for key in [each for each in columns if is_unnamed(each) and tells_rows_apart(columns[each])]:
        if key not in roles:
            del columns[key]
    layout = find_layout(columns, roles)
    n_rows = len(next(iter(columns.values()), ()))
    notes: list[str] = []
    if layout.unused:
        notes.append(f"Not used: {', '.join(show(each) for each in layout.unused)}.")
    labels = {
        role: _labels(role, columns, name)
        for role, name in zip(
            ("dataset", "learner", "fold", "repeat", "metric"),
            (layout.dataset, layout.learner, layout.fold, layout.repeat, layout.metric),
            strict=True,
        )
    }
    if layout.dataset == () and not layout.is_transposed:
        if index is not None:
            labels["dataset"] = list(index)
        elif layout.learner is None and layout.fold is None and layout.repeat is None:
            labels["dataset"] = list(range(n_rows))
    kept = np.ones(n_rows, dtype=bool)
    named = labels["learner"] if layout.is_transposed else labels["dataset"]
    summaries = [] if named is None else find_summaries(named)
    if summaries:
        kept[summaries] = False
        assert named is not None
        of = "learners" if layout.is_transposed else "data sets"
        notes.append(explain_summaries((named[row] for row in summaries), of))
    rows = np.flatnonzero(kept)
    cells = {key: read_cells(f"column {key!r}", columns[key]) for key in layout.results}
    cells = {
        key: each._replace(
            values=each.values[rows], no_result={int(np.searchsorted(rows, row)): text
                                                 for row, text in each.no_result.items() if kept[row]},
        )
        for key, each in cells.items()
    }  # fmt: skip
    notes += join_recognised("data", cells)
    labels = {role: None if each is None else [each[row] for row in rows] for role, each in labels.items()}
    if layout.is_transposed:
        notes.append(f"Rows are learners (column {show(layout.learner)}), and columns are data sets.")
    parts = _by_metric(layout, labels["metric"], len(rows))
    return {metric: _grid(layout, labels, cells, where, metric, notes) for metric, where in parts.items()}


def _by_metric(
    layout: _Layout, metrics: list[Any] | None, n_rows: int
) -> dict[Metric, tuple[NDArray[np.intp], tuple[Any, ...]]]:
    """Return the rows and columns with results of each metric."""
    rows = np.arange(n_rows)
    if metrics is not None:
        codes, distinct = _encode(metrics)
        return {str(each): (np.flatnonzero(codes == k), layout.results) for k, each in enumerate(distinct)}
    if layout.learner is None or layout.is_transposed:
        return {None: (rows, layout.results)}
    if len(layout.results) == 1:
        (only,) = layout.results
        return {None if VALUE.fullmatch(str(only)) else str(only): (rows, layout.results)}
    return {str(each): (rows, (each,)) for each in layout.results}


def _grid(
    layout: _Layout,
    labels: Mapping[str, list[Any] | None],
    cells: Mapping[Any, ReadCells],
    where: tuple[NDArray[np.intp], tuple[Any, ...]],
    metric: Metric,
    notes: Sequence[str],
) -> ResultGrid:
    """Return one metric's results; raise if a cell has two values."""
    rows, results = where

    def coded(role: str, *, ordered: bool = False) -> tuple[NDArray[np.intp], list[Any]]:
        own = labels[role]
        if own is None:
            return np.zeros(rows.size, dtype=np.intp), [ONE_DATASET]
        return _encode([own[row] for row in rows], ordered=ordered)

    datasets: NDArray[np.intp] | None
    learners: NDArray[np.intp] | None
    (repeats, of_repeats), (folds, of_folds) = coded("repeat", ordered=True), coded("fold", ordered=True)
    if layout.is_transposed:
        learners, of_learners = coded("learner")
        datasets, of_datasets = None, list(results)
    else:
        datasets, of_datasets = coded("dataset")
        learners, of_learners = coded("learner") if layout.learner is not None else (None, list(results))
    shape = (len(of_datasets), len(of_learners), len(of_repeats), len(of_folds))
    values, seen = np.full(shape, np.nan), np.zeros(shape, dtype=bool)
    errors: dict[Cell, str] = {}
    for k, key in enumerate(results):
        column = cells[key]
        fixed = np.full(rows.size, k)
        place = (fixed if datasets is None else datasets, fixed if learners is None else learners, repeats, folds)
        flat = np.ravel_multi_index(place, shape)
        own, counts = np.unique(flat, return_counts=True)
        if (counts > 1).any():
            _raise_duplicate(
                own[counts > 1][0], flat, rows, shape, (of_datasets, of_learners, of_repeats, of_folds), labels
            )
        values.flat[flat] = column.values[rows]
        seen.flat[flat] = True
        if column.no_result:
            number = {int(row): n for n, row in enumerate(rows)}
            for row, text in column.no_result.items():
                if row in number:
                    d, a, r, f = (int(each[number[row]]) for each in place)
                    errors[of_datasets[d], of_learners[a], r, f] = text
    return ResultGrid(values, tuple(of_datasets), tuple(of_learners), metric, notes=tuple(notes), errors=errors)


def _raise_duplicate(
    cell: int,
    flat: NDArray[Any],
    rows: NDArray[np.intp],
    shape: tuple[int, ...],
    names: tuple[list[Any], ...],
    labels: Mapping[str, list[Any] | None],
) -> None:
    place = np.unravel_index(int(cell), shape)
    dataset, learner, repeat, fold = (each[int(k)] for each, k in zip(names, place, strict=True))
    split = "".join(
        f", {role} {show(each)}"
        for role, each in (("repeat", repeat), ("fold", fold))
        if labels[role] is not None
    )  # fmt: skip
    first, second = (row_at(rows[k]) for k in np.flatnonzero(flat == cell)[:2])
    raise ValueError(
        f"data must have one value for each cell, but {show(learner)} on {show(dataset)}{split} has "
        f"{np.count_nonzero(flat == cell)}, at {first} and {second}: if they are splits, name their "
        "columns by fold= and repeat="
    )


def find_layout(columns: Columns, roles: Roles) -> _Layout:
    """Return which columns have which role: the given ones, or those with usual names."""
    used: dict[str, Any] = {}
    for role in ("learner", "value", "fold", "repeat"):
        if (given := getattr(roles, role)) is not None:
            used[role] = _column(role, given, columns)
    dataset = _columns_of("dataset", roles.dataset, columns)
    free = [key for key in columns if key not in used.values() and key not in dataset]

    def recognise(role: str, *, text: bool = False) -> Any:
        found = [key for key in free if OF_ROLES[role].fullmatch(str(key)) and (not text or is_text(columns[key]))]
        if found:
            free.remove(found[0])
        return found[0] if found else None

    for role in ("fold", "repeat"):
        if role not in used:
            used[role] = _unless_results(columns, recognise(role), free)
    metric = recognise("metric", text=True)
    if not dataset and (found := recognise("dataset")) is not None:
        dataset = (found,)
    texts = [key for key in free if is_text(columns[key])]
    n_numeric = sum(not is_text(columns[key]) for key in free)
    first = next(iter(columns), None) if n_numeric > 1 else None  # it may name data sets by numbers, such as 10 %
    names = [key for key in texts if not _are_results(columns[key], key == first)]
    if not dataset and "learner" not in used and len(names) > 1 and not any(map(_means_learners, names)):
        long = find_long_form({key: columns[key] for key in free})
        if long is not None and len(long.results) == 1:
            used["learner"] = long.on
    if "learner" not in used:
        named = [key for key in names if _means_learners(key)] or _numbered_learners(columns, free)
        if not named and dataset and len(names) == 1 and len(free) == 2:  # data set, text, number
            named = names
        if named:
            used["learner"] = named[0]
    learner = used.get("learner")
    free = [key for key in free if key != learner]
    if metric is None and learner is not None:  # pandas' melt calls the names of columns so
        metric = next((key for key in names if key != learner and str(key).casefold() == "variable"), None)
        free = [key for key in free if key != metric]
    names = [key for key in names if key not in (learner, metric)]
    if not dataset and names:
        dataset = (names[0],)
        free.remove(names[0])
        names = names[1:]
    if "value" in used:
        results = (used["value"],)
        unused = tuple(free)
        if learner is None:
            raise ValueError(f"learner must name the column of learners if value does, one of {listed(list(columns))}")
    else:
        results, unused = tuple(key for key in free if key not in names), tuple(names)
        values = [key for key in results if VALUE.fullmatch(str(key))]
        if learner is not None and len(values) == 1:
            results, unused = (values[0],), tuple(key for key in free if key != values[0])
    if not results:
        raise ValueError(f"data must have a column of numbers, got columns {listed(list(columns))}")
    is_transposed = (
        learner is not None
        and "value" not in used
        and not dataset
        and used["fold"] is used["repeat"] is metric is None
        and len(results) > 1
        and len({*map(str, _objects(columns[learner]))}) == len(columns[learner])
    )
    return _Layout(dataset, learner, used["fold"], used["repeat"], metric, results, unused, is_transposed)


def has_other_rows(columns: Columns, dataset: Sequence[str]) -> bool:
    """Return whether rows of a table in wide form are splits of data sets, or learners, and not data sets."""
    named = {key: column for key, column in columns.items() if not is_unnamed(key)}
    if not (split_columns(named) or any(_means_learners(key) and is_text(named[key]) for key in named)):
        return False
    layout = find_layout(named, Roles(dataset=list(dataset) or None))
    return layout.is_transposed or layout.fold is not None or layout.repeat is not None


def _are_results(column: Any, is_first: bool) -> bool:
    """Return whether text holds results instead of names; numbers in the first column may be names."""
    cells = _objects(column)
    return holds_results(cells, True) if is_first else holds_result_text(cells)


def _means_learners(name: Any) -> bool:
    return OF_ROLES["learner"].fullmatch(str(name)) is not None


def _numbered_learners(columns: Columns, free: Sequence[Any]) -> list[Any]:
    """Return the columns that number learners: integers under a learner's name, beside results that are none."""
    named = [key for key in free if _means_learners(key) and _are_whole(columns[key])]
    return [] if all(_are_whole(columns[key]) for key in free) else named


def _are_whole(column: Any) -> bool:
    return all(isinstance(each, (int, np.integer)) for each in _objects(column))


def _unless_results(columns: Columns, key: Any, free: list[Any]) -> Any:
    """Return a column recognised by its name as folds or repeats, unless it holds fractions: then it has results."""
    if key is None:
        return None
    if has_fractions(columns[key]):
        free.append(key)
        return None
    return key


def _column(role: str, given: Any, columns: Columns) -> Any:
    if not isinstance(given, Hashable) or given not in columns:
        raise ValueError(f"{role} must name a column of the data, one of {listed(list(columns))}; got {show(given)}")
    return given


def _columns_of(role: str, given: Any, columns: Columns) -> tuple[Any, ...]:
    if given is None:
        return ()
    many = isinstance(given, (list, tuple)) and given not in [*columns]
    return tuple(_column(role, each, columns) for each in (given if many else [given]))


def _labels(role: str, columns: Columns, name: Any) -> list[Any] | None:
    """Return the names in a column of a role, or in several columns of data sets, joined."""
    if name is None or name == ():
        return None
    names = name if isinstance(name, tuple) and role == "dataset" else (name,)
    parts = [_objects(columns[each]).tolist() for each in names]
    for each, part in zip(names, parts, strict=True):
        row = next((row for row, value in enumerate(part) if is_missing(value)), None)
        if row is not None:
            raise ValueError(f"column {each!r} must name the {role} of each row, but has none at {row_at(row)}")
    if len(parts) == 1:
        return [_plain_label(each) for each in parts[0]]
    return [", ".join(str(_plain_label(each)) for each in row) for row in zip(*parts, strict=True)]


def _plain_label(value: Any) -> Any:
    """Return a name as a plain value: text without surrounding spaces, whole floats as integers."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return plain_text(value).strip() if isinstance(value, str) else value


def _objects(column: Any) -> NDArray[Any]:
    return np.asarray(column, dtype=object)


def _encode(labels: Sequence[Any], *, ordered: bool = False) -> tuple[NDArray[np.intp], list[Any]]:
    """Return each label's number and the distinct labels, in order of appearance or, if `ordered`, ascending."""
    distinct = list(dict.fromkeys(labels))
    if ordered and all(isinstance(each, (int, float)) for each in distinct):
        distinct.sort()
    codes = {label: code for code, label in enumerate(distinct)}
    return np.fromiter((codes[label] for label in labels), np.intp, len(labels)), distinct
