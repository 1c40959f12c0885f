"""Results of learners on data sets, in one object for every test, picture and table."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._choices import MissingResults
from fastevals._options import as_direction, check_choice, check_integer, listed, show
from fastevals._validation.tables import MeasuredSplits, Measurements, ResultTable, find_name
from fastevals.document.document import Document, Section
from fastevals.document.frames import Columns, as_column, make_columns
from fastevals.document.scalars import Scalar, scalars_of_rows
from fastevals.infer.learners.metrics import find_bounds, find_direction
from fastevals.infer.learners.reading import Cell, Floats, Metric, ResultGrid, Roles, read_grids
from fastevals.infer.learners.table import ResultsTable, make_table, results_table
from fastevals.results import Frozen, as_json, full_name

KEPT_MISSING = ", and kept missing."  # the end of a note
CELLS_NAMED = 3  # missing cells named in a sentence


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LearnerResults:
    """One learner's results on a data set, in the form that tests of two learners take.

    Attributes
    ----------
    learner : name
        The learner's name, for conclusions of tests.
    value : float
        Mean over splits.
    per_split : ndarray of shape (n_repeats, n_folds)
        The results.
    """

    learner: Any
    value: float
    per_split: Floats
    _splits: MeasuredSplits


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Results(Frozen):
    """Results of learners on data sets, with repeats and folds, read from any usual form.

    Every test of several learners, and every picture and table of their results, takes this object.

    Parameters
    ----------
    data : frame, path, mapping, or array-like
        A frame (pandas, polars, Arrow), a CSV, Parquet or Arrow file, or columns by name: in wide form with one column
        for each learner, or in long form with columns for the data set, the learner and the value. Folds, repeats and
        metrics may have columns, too. A mapping of learners to estimates of `estimate_error` (one, or a list with one
        per data set) or to dictionaries of scikit-learn's `cross_validate`; or a mapping of data sets to such
        mappings, or to mappings of learners to numbers, folds, or arrays of repeats x folds. An array of data sets x
        learners, or with a third axis for folds, or two for repeats and folds.
    dataset, learner, value, fold, repeat : str, optional
        Names of columns; `dataset` may be several. By default, columns are recognised by usual names, such as
        "dataset", "model" and "fold", and by their types. For an array, or learners on one data set, `dataset` and
        `learner` are names.
    metric : str, optional
        The metric's name. If the data have several metrics, it chooses one.
    higher_is_better : bool, optional
        Whether higher results are better. By default the direction of the metric, if it is known.
    missing : {"raise", "drop-dataset", "worst", "keep"}
        What to do if a learner has no result where others have one. "drop-dataset" leaves out the data set. "worst"
        gives the learner the worst value that the metric can have or, if there is none, the worst on the data set.
        "keep" leaves the result NaN, for tests that allow it.
    n_train, n_test : int or array-like of shape (n_datasets,), optional
        Rows in each training and test set, which corrected tests need. Estimates have their own.

    Attributes
    ----------
    values : ndarray of shape (n_datasets, n_learners, n_repeats, n_folds)
        The results; NaN where there is none.
    datasets, learners : tuple
        Their names, in order of appearance; numbers if they have none.
    metric : str or None
        The metric's name, if known.
    greater_is_better : bool or None
        Whether higher results are better; None if unknown.
    test_to_train : ndarray of shape (n_datasets,) or None
        Ratio of test rows to training rows, if known.
    missing : str
        The policy.
    notes : tuple of str
        Sentences on what was recognised, left out or replaced in the data.
    errors : dict
        Texts of missing cells, such as "timeout" or the error of a fit, by data set, learner, and numbers of the
        repeat and the fold.

    Raises
    ------
    ValueError
        If an argument is not as described, a cell has two values, or cells are missing and `missing` is "raise"; the
        message names the argument, the rule and the value seen.

    Examples
    --------
    >>> import fastevals
    >>> table = {"dataset": ["iris", "wine", "Mean"], "svm": ["0.91±0.02", "0.97±0.01", "0.94"], "tree": [0.8, 0.9, 1]}
    >>> results = fastevals.Results(table, metric="accuracy")
    >>> results
    Results(2 data sets x 2 learners, accuracy, higher is better)
    >>> results.means
    array([[0.91, 0.8 ],
           [0.97, 0.9 ]])
    >>> results.notes[0]
    "Rows that summarise other data sets are left out: 'Mean'."
    """

    values: Floats
    datasets: tuple[Any, ...]
    learners: tuple[Any, ...]
    metric: str | None
    greater_is_better: bool | None
    missing: MissingResults
    notes: tuple[str, ...]
    errors: Mapping[Cell, str]
    _n_train: NDArray[Any] | None  # of shape (n_datasets, n_repeats, n_folds)
    _n_test: NDArray[Any] | None

    def __init__(
        self,
        data: Any,
        *,
        dataset: Any = None,
        learner: Any = None,
        value: Any = None,
        fold: Any = None,
        repeat: Any = None,
        metric: str | None = None,
        higher_is_better: bool | None = None,
        missing: MissingResults = "raise",
        n_train: Any = None,
        n_test: Any = None,
    ) -> None:
        check_choice("missing", missing, MissingResults)
        grids = read_grids(data, Roles(dataset, learner, value, fold, repeat))
        self._fill(_choose_metric(grids, metric), higher_is_better, missing, n_train, n_test)

    @classmethod
    def by_metric(cls, data: Any, **options: Any) -> dict[str | None, Results]:
        """Return the results of each metric of the data.

        Parameters
        ----------
        data : frame, path, mapping, or array-like
            As for `Results`.
        **options : object
            As for `Results`, except `metric`.

        Returns
        -------
        dict of str to Results
            In the order of the data; the name of a single metric may be None.
        """
        names = ("dataset", "learner", "value", "fold", "repeat")
        grids = read_grids(data, Roles(*(options.pop(name, None) for name in names)))
        own = {"higher_is_better": None, "missing": "raise", "n_train": None, "n_test": None}
        for name in options:
            check_choice("option", name, [*names, *own])
        check_choice("missing", options.get("missing", "raise"), MissingResults)
        found: dict[str | None, Results] = {}
        for metric, grid in grids.items():
            found[metric] = cls.__new__(cls)
            found[metric]._fill(grid, **{**own, **options})
        return found

    def _fill(
        self, grid: ResultGrid, higher_is_better: bool | None, missing: MissingResults, n_train: Any, n_test: Any
    ) -> None:
        """Set the fields from a grid, after applying the policy for missing cells."""
        known = find_direction(grid.metric) if grid.greater_is_better is None else grid.greater_is_better
        direction = as_direction("higher_is_better", grid.metric or "these results", higher_is_better, known)
        grid = _with_sizes(grid, n_train, n_test)
        grid = _apply_policy(grid._replace(greater_is_better=direction), missing)
        given = {
            "values": grid.values, "datasets": grid.datasets, "learners": grid.learners, "metric": grid.metric,
            "greater_is_better": direction, "missing": missing, "notes": grid.notes, "errors": dict(grid.errors),
            "_n_train": grid.n_train, "_n_test": grid.n_test,
        }  # fmt: skip
        _set_fields(self, given)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_results, ({each.name: getattr(self, each.name) for each in fields(self)},)

    @property
    def means(self) -> Floats:
        """Mean results over repeats and folds, of shape (n_datasets, n_learners); NaN if a result is missing."""
        slots = _measured_slots(self.values)
        values = np.where(slots[:, None], self.values, 0.0)
        counts = slots.sum(axis=(1, 2))[:, None]
        means = np.asarray(values.sum(axis=(2, 3)) / counts)
        rounding = counts * np.finfo(np.float64).eps * np.abs(values).max(axis=(2, 3))
        return np.where(counts > 1, _with_ties(means, rounding), means)

    @property
    def test_to_train(self) -> Floats | None:
        """Ratio of test rows to training rows of each data set, if known."""
        if self._n_train is None or self._n_test is None:
            return None
        return np.asarray(self._n_test.sum(axis=(1, 2)) / self._n_train.sum(axis=(1, 2)))

    def of(self, learner: Any) -> Any:
        """Return a learner's results, for tests of two learners, such as ``wilcoxon_test(r.of("a"), r.of("b"))``.

        Parameters
        ----------
        learner : str
            One of `learners`.

        Returns
        -------
        LearnerResults or list of LearnerResults
            One for each data set; if there is only one data set, its splits are the measurements.
        """
        place = find_name("learner", learner, self.learners)
        measured = map(self._on_dataset, range(len(self.datasets)))
        found = [
            LearnerResults(self.learners[place], float(mean), values[place], splits)
            for mean, (values, splits) in zip(self.means[:, place], measured, strict=True)
        ]
        return found[0] if len(found) == 1 else found

    def table(self, *, reference: Any = None, confidence_level: float = 0.95) -> ResultsTable:
        """Return the table of a paper: the best of each data set in bold, with ranks, wins and significance.

        Parameters
        ----------
        reference : str, optional
            One of `learners`, to compare the others with: over data sets by Wilcoxon's signed-rank test, and on each
            data set with known `n_train` and `n_test` by the corrected resampled t-test of its splits. p-values are
            adjusted for the number of learners by Holm's correction.
        confidence_level : float in (0, 1)
            Tests are at level ``1 - confidence_level``.

        Returns
        -------
        ResultsTable
            It has `to_latex`, `to_markdown`, `to_html`, `to_text` and `to_frame`.

        Raises
        ------
        ValueError
            If there is no such learner, or a reference is given and the metric's direction is unknown.
        """
        return make_table(self, reference=reference, confidence_level=confidence_level)

    def _on_dataset(self, k: int) -> tuple[Floats, MeasuredSplits]:
        """Return the results on a data set, of shape (n_learners, n_repeats, n_folds), and its splits.

        Splits without any result are left out; the others become one repeat if repeats then differ in length.
        """
        slots = _measured_slots(self.values)[k]
        repeats, folds = (np.flatnonzero(slots.any(axis=axis)) for axis in (1, 0))
        is_grid = bool(slots[np.ix_(repeats, folds)].all())

        def kept(numbers: NDArray[Any]) -> NDArray[Any]:
            return numbers[..., repeats[:, None], folds] if is_grid else numbers[..., slots][..., None, :]

        n_train, n_test = (None if each is None else kept(each[k]) for each in (self._n_train, self._n_test))
        return kept(self.values[k]), MeasuredSplits(n_train, n_test, None, self.metric, self.greater_is_better)

    def _result_table(self, name: str, keep_missing: bool = False) -> ResultTable:
        """Return the table that tests take: means on data sets or, for one data set, a row for each split."""
        if np.isnan(self.means).any() and not keep_missing:
            cells = _name_cells(self.values, self)
            raise ValueError(f"{name} must have all results for this test, but lack {cells} (missing='keep')")
        if len(self.datasets) > 1:
            means = self.means
            measured = Measurements(means[:, 0], means.shape[:1], None, self.metric, self.greater_is_better, True)
            return ResultTable(means, self.learners, self.datasets, measured, self.notes)
        values, splits = self._on_dataset(0)
        rows = values.reshape(len(self.learners), -1).T
        measured = Measurements(rows[:, 0], values.shape[1:], splits, self.metric, self.greater_is_better)
        return ResultTable(rows, self.learners, None, measured, self.notes)

    def __repr__(self) -> str:
        n_datasets, n_learners, *splits = self.values.shape
        axes = [f"{n_datasets} data set{'s' * (n_datasets != 1)}", f"{n_learners} learner{'s' * (n_learners != 1)}"]
        axes += [] if splits == [1, 1] else [f"{splits[0]} x {splits[1]} splits"]
        better = {True: ", higher is better", False: ", lower is better", None: ""}[self.greater_is_better]
        return f"Results({' x '.join(axes)}{f', {self.metric}' if self.metric else ''}{better})"

    def to_dict(self) -> dict[str, Any]:
        """Return the results as strict JSON: arrays as lists, NaN as None, and `errors` as a list of cells."""
        values = dict(self._attributes())
        values["errors"] = [
            dict(zip(("dataset", "learner", "repeat", "fold", "error"), (*cell, text), strict=True))
            for cell, text in self.errors.items()
        ]
        return {name: as_json(value) for name, value in values.items()}

    def _columns(self) -> Columns:
        """Return a row for each result, in long form."""
        places = np.nonzero(np.broadcast_to(_measured_slots(self.values)[:, None], self.values.shape))
        return {
            "dataset": as_column(self.datasets)[places[0]],
            "learner": as_column(self.learners)[places[1]],
            **make_columns({"repeat": places[2], "fold": places[3], "value": self.values[places]}),
        }

    def _scalars(self) -> Iterable[Scalar]:
        """Return the mean of each learner on each data set."""
        n, k = self.means.shape
        columns = {"dataset": np.repeat(as_column(self.datasets), k), "learner": np.tile(as_column(self.learners), n)}
        value = make_columns({"value": self.means.ravel()})
        return scalars_of_rows({**columns, **value}, columns, self.metric) or ()

    def _document(self) -> Document:
        return Document("", self._short_title(), sections=[Section(results_table(self))], numbers=self.to_dict)


def as_learner_results(name: str, data: Any) -> Results:
    """Return `Results` unchanged, and any other data as `Results`; `name` is the argument's name in messages."""
    if isinstance(data, Results):
        return data
    try:
        return Results(data)
    except ValueError as error:
        raise ValueError(re.sub(r"^data\b", name, str(error))) from None


def _set_fields(results: Results, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        object.__setattr__(results, name, value)
    Frozen.__post_init__(results)


def _rebuild_results(given: Mapping[str, Any]) -> Results:
    results = Results.__new__(Results)
    _set_fields(results, given)
    return results


def _choose_metric(grids: Mapping[Metric, ResultGrid], metric: Any) -> ResultGrid:
    """Return the results of the metric that is asked for, or of the only one."""
    if metric is not None and (not isinstance(metric, str) or not metric):
        raise ValueError(f"metric must be a metric's name, got {show(metric)}")
    if len(grids) == 1:
        ((own, grid),) = grids.items()
        if metric is None or (own is not None and full_name(own) == full_name(metric)):
            return grid._replace(metric=own)
        if own is None or (grid.greater_is_better is None and find_direction(own) is None):  # such as "x"
            return grid._replace(metric=metric)
        raise ValueError(f"metric must be {own!r} or left out, as the data have no other metric; got {metric!r}")
    if metric is None:
        raise ValueError(f"metric must choose one of the data's metrics, {listed(list(grids))}")
    found = next((name for name in grids if name == metric), None)
    found = found or next((name for name in grids if full_name(name) == full_name(metric)), None)
    if found is None:
        check_choice("metric", metric, list(grids))
    return grids[found]


def _with_sizes(grid: ResultGrid, n_train: Any, n_test: Any) -> ResultGrid:
    """Return a grid with the given sizes of training and test sets."""
    if n_train is n_test is None:
        return grid
    if grid.n_train is not None:
        raise ValueError("n_train and n_test apply only to numbers: estimates have their own, so leave both out")
    sizes = []
    for name, given in (("n_train", n_train), ("n_test", n_test)):
        if given is None:
            raise ValueError(f"n_train and n_test must be given together, and {name} is left out")
        each = list(given) if np.ndim(given) else [given] * len(grid.datasets)
        if len(each) != len(grid.datasets):
            raise ValueError(
                f"{name} must be one number, or one for each of {len(grid.datasets)} data sets, got {len(each)}"
            )
        rows = np.array([check_integer(name, n, low=1) for n in each])
        sizes.append(_measured_slots(grid.values) * rows[:, None, None])
    return grid._replace(n_train=sizes[0], n_test=sizes[1])


def _with_ties(means: Floats, rounding: Floats) -> Floats:
    """Return the means, with differences within a row that are only rounding removed."""
    order = np.argsort(means, axis=1, kind="stable")
    ordered, allowed = (np.take_along_axis(each, order, axis=1) for each in (means, rounding))
    is_new = np.ones(means.shape, dtype=bool)
    is_new[:, 1:] = ~(np.diff(ordered, axis=1) <= np.maximum(allowed[:, 1:], allowed[:, :-1]))
    first = np.maximum.accumulate(np.where(is_new, np.arange(means.shape[1]), 0), axis=1)
    tied = np.empty_like(means)
    np.put_along_axis(tied, order, np.take_along_axis(ordered, first, axis=1), axis=1)
    return tied


# Missing cells --------------------------------------------------------------------------------------------------------
def _measured_slots(values: Floats) -> NDArray[np.bool_]:
    """Return the splits of each data set for which some learner has a result; the first one if there is none."""
    slots: NDArray[np.bool_] = np.logical_not(np.isnan(values).all(axis=1))
    slots[~slots.reshape(len(slots), -1).any(axis=1), 0, 0] = True
    return slots


def _missing_cells(values: Floats) -> NDArray[np.bool_]:
    return np.isnan(values) & _measured_slots(values)[:, None]


def _apply_policy(grid: ResultGrid, policy: MissingResults) -> ResultGrid:
    """Return a grid without missing cells, or with them if they are to be kept; say so in a note."""
    missing = _missing_cells(grid.values)
    if not missing.any():
        return grid
    cells, count = _name_cells(grid.values, grid), f"{np.count_nonzero(missing)} of {_n_cells(grid.values)}"
    if policy == "raise":
        raise ValueError(
            f"data must have a result in each cell, but lack {count}: {cells}. To go on without, use "
            "fastevals.Results with missing='drop-dataset', 'worst' or 'keep'"
        )
    said = f"{count} results are missing ({cells})"
    if policy == "keep":
        return grid._replace(notes=(*grid.notes, f"{said}{KEPT_MISSING}"))
    if policy == "drop-dataset":
        kept = np.flatnonzero(~missing.any(axis=(1, 2, 3)))
        if not kept.size:
            raise ValueError(f"missing='drop-dataset' leaves no data set: {said}")
        left_out = [dataset for k, dataset in enumerate(grid.datasets) if k not in kept]
        note = (
            f"{said}: {len(left_out)} data set{'s are' if len(left_out) > 1 else ' is'} left out, {listed(left_out)}."
        )
        names = tuple(grid.datasets[k] for k in kept)
        return grid._replace(
            values=grid.values[kept],
            datasets=names,
            n_train=None if grid.n_train is None else grid.n_train[kept],
            n_test=None if grid.n_test is None else grid.n_test[kept],
            notes=(*grid.notes, note),
        )
    return _fill_with_worst(grid, missing, said)


def _fill_with_worst(grid: ResultGrid, missing: NDArray[np.bool_], said: str) -> ResultGrid:
    """Return a grid in which missing cells have the metric's worst value, or the worst on their data set."""
    if grid.greater_is_better is None:
        raise ValueError(
            f"higher_is_better must be given, True or False, for missing='worst': {grid.metric or 'the metric'} has no "
            "known direction"
        )
    low, high = find_bounds(grid.metric)
    worst, inside = (low if grid.greater_is_better else high), grid.values[~np.isnan(grid.values)]
    if math.isfinite(worst) and inside.min() >= low and inside.max() <= high:
        values = np.where(missing, worst, grid.values)
        return grid._replace(values=values, notes=(*grid.notes, f"{said}, and count as {worst:g}, the worst value."))
    values = grid.values.copy()
    for k in np.flatnonzero(missing.any(axis=(1, 2, 3))):
        own = values[k][~np.isnan(values[k])]
        if not own.size:
            raise ValueError(f"missing='worst' needs a result on each data set, and {show(grid.datasets[k])} has none")
        values[k][missing[k]] = own.min() if grid.greater_is_better else own.max()
    return grid._replace(values=values, notes=(*grid.notes, f"{said}, and count as the worst result on the data set."))


def _n_cells(values: Floats) -> int:
    return int(np.count_nonzero(_measured_slots(values)) * values.shape[1])


def _name_cells(values: Floats, named: Any) -> str:
    """Return the first missing cells in words; `named` has the names of data sets and learners, and errors."""
    missing = _missing_cells(values)
    places = np.argwhere(missing)
    shown = []
    for d, a, r, f in places[:CELLS_NAMED].tolist():
        dataset, learner = named.datasets[d], named.learners[a]
        split = (f", repeat {r}" if values.shape[2] > 1 else "") + (f", fold {f}" if values.shape[3] > 1 else "")
        error = named.errors.get((dataset, learner, r, f))
        shown.append(f"{learner} on {dataset}{split}{'' if error is None else f' ({error})'}")
    more = len(places) - len(shown)
    return "; ".join(shown) + (f"; {more} more" if more else "")
