"""Measure predictions made beforehand on the test sets of many splits in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import run
from fastevals._kernels.fold_counts import count_cells
from fastevals._options import as_flag, check_instance, holds_pairs, is_splitter, listed, show
from fastevals._validation.arrays import as_array
from fastevals.measure.metric_specs import parse_metrics
from fastevals.results import check_confidence_level
from fastevals.split.checks import as_strata, check_same_rows, n_rows
from fastevals.split.designs import AssignedFolds, FoldAssignments, find_fixed_by_design, resolve_splits
from fastevals.split.estimates.fits import make_split_metrics
from fastevals.split.estimates.results import ErrorEstimate, ErrorEstimates, SplitVariance, make_estimates
from fastevals.split.estimates.split_metrics import Floats, SplitMetrics

CODES_PER_TASK = 1 << 18  # number of row codes per task


def evaluate_splits(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    splits: Any,
    metrics: Any,
    *,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    confidence_level: float = 0.95,
    progress: bool = False,
) -> ErrorEstimates:
    """Measure a fixed predictor's predictions, or out-of-fold predictions, on the test sets of many splits.

    Nothing is fitted. Splits are drawn in chunks, and one pass over them counts rows or adds up errors for all test
    sets. Scores are sorted only once.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels or targets.
    y_pred : array-like of shape (n_samples,) or (n_repeats, n_samples)
        Predicted labels, scores of the positive class, or predicted numbers, as the metrics need. Either one prediction
        per row, or one per repetition (axis 0) and row; each pair (train, test) counts as a repetition. With
        repetitions, predictions for rows that are in no test set of a repetition may be missing.
    splits : splitter, sequence of pairs, or array-like of int of shape (n_samples,) or (n_repeats, n_samples)
        A splitter of this package or with scikit-learn's interface; pairs (train, test) of row numbers; or the number
        of the fold that tests each row, counted from 0.
    metrics : str, `metric(...)`, function, a sequence of these, or a mapping of names to them
        As for `estimate_error`: all for labels, all for scores or all for numbers; functions may be added.
    groups, pos_label, labels, confidence_level
        As for `estimate_error`.
    progress : bool
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    ErrorEstimates
        A mapping from each metric to its `ErrorEstimate`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If a metric is undefined in some splits; these splits are left out of its mean.

    Notes
    -----
    Intervals are computed as in `estimate_error`. Results are identical to the last bit for any number of threads.

    Examples
    --------
    >>> from fastevals import HoldOut, evaluate_splits
    >>> y_true, y_pred = [1.0, 2.0, 3.0, 4.0, 5.0], [1.5, 2.0, 2.0, 4.0, 7.0]
    >>> found = evaluate_splits(y_true, y_pred, HoldOut(0.4, n_repeats=1000, rng=1), "mean_squared_error")
    >>> found["mean_squared_error"].per_split.shape, abs(found["mean_squared_error"].value - 1.05) < 0.1
    ((1000, 1), True)
    >>> evaluate_splits(y_true, y_pred, [0, 0, 1, 1, 1], "mean_absolute_error")["mean_absolute_error"].per_split
    array([[0.25, 1.  ]])
    """
    specs = parse_metrics(metrics)
    level, alpha = check_confidence_level(confidence_level)
    metric_sets, positive = make_split_metrics(
        specs, "y_true", y_true, several=False, pos_label=pos_label, labels=labels
    )
    if isinstance(splits, Iterator):  # such as the result of split(X, y), which can be iterated only once
        splits = list(splits)
    assignments = _resolve_splits(splits, y_true, groups)
    predicted = _as_fixed_predictions("y_pred", y_pred, assignments.n_samples, assignments.n_repeats)
    fixed = find_fixed_by_design(splits, assignments, y_true)
    counted = _count(assignments, metric_sets, predicted, fixed.kind is not None, as_flag("progress", progress))
    shape = assignments.shape
    n_test = counted.n_test.reshape(shape)
    sizes = assignments.n_samples - n_test, n_test
    estimates: dict[str, ErrorEstimate] = {}
    for metrics, values, pooled in zip(metric_sets, counted.values, counted.pooled, strict=True):
        variance = SplitVariance(metrics, pooled, fixed, *sizes, alpha)
        estimates |= make_estimates(values, metrics.micro(pooled), shape, specs, variance, splitter=splits)
    in_order = {name: estimates[name] for name in specs}
    matrices = metric_sets[0].matrices(counted.chunks[0], shape)
    return ErrorEstimates(
        in_order, *sizes, matrices, splits, None, level, labels=metric_sets[0].labels, pos_label=positive
    )


def _resolve_splits(splits: Any, y_true: Any, groups: Any) -> FoldAssignments:
    """Return the splits given as a splitter, pairs of rows, or an array of fold numbers."""
    if is_splitter(splits) or holds_pairs(splits):
        check_instance("splits", splits)
        n = check_same_rows(y_true=y_true, groups=groups)
        if getattr(splits, "stratified", False):
            as_strata("y_true", y_true, n)
        return resolve_splits("splits", splits, y_true, y_true, groups)
    _check_no_groups("groups", groups, "splits")
    return AssignedFolds(*_as_fold_numbers("splits", splits, n_rows("y_true", y_true)))


class _FixedCounts(NamedTuple):
    """Counts of all test sets; each list has one entry per set of metrics."""

    n_test: NDArray[np.int64]
    values: list[Floats]  # each metric in each test set
    pooled: list[Any]  # counts of all test sets together
    chunks: list[list[Any]]  # the counts that `measure_folds` returns, chunk by chunk


def _count(
    assignments: FoldAssignments,
    metric_sets: Sequence[SplitMetrics],
    predicted: NDArray[Any],
    need_times_tested: bool,
    progress: bool,
) -> _FixedCounts:
    """Count test sets chunk by chunk; if needed, also count how often each row is in a test set."""
    n, n_folds = assignments.n_samples, assignments.n_folds
    same_each_time = predicted.ndim == 1
    prepared = []
    if same_each_time:
        prepared = [each.prepare(each.check_predictions("y_pred", predicted), n_folds) for each in metric_sets]
    needs_times_tested = need_times_tested or not same_each_time or any(each.needs_times_tested for each in metric_sets)
    keeps = [each.keeps_matrices(assignments.n_repeats * n_folds) for each in metric_sets]
    size, nowhere = max(1, CODES_PER_TASK // n), np.zeros(n, dtype=np.int32)

    def task(start: int) -> tuple[NDArray[np.int64], list[Floats], list[list[Any]], NDArray[Any]]:
        stop = min(start + size, assignments.n_repeats)
        folds = assignments.codes(start, stop).astype(np.uint32) - np.uint32(assignments.first)
        sizes = np.zeros((stop - start, n_folds, 1), dtype=np.int64)
        count_cells(folds, nowhere, sizes)
        _check_nonempty_folds(sizes[:, :, 0], start)
        tested = folds < n_folds if needs_times_tested else np.empty((0, n), dtype=np.bool_)
        if same_each_time:
            measured = [
                [each.measure_folds(own, folds, n_folds, keep=keep)]
                for each, own, keep in zip(metric_sets, prepared, keeps, strict=True)
            ]
        else:
            measured = [[] for _ in metric_sets]
            for row in range(stop - start):
                own = _tested_only(predicted[start + row], tested[row])
                for each, so_far, keep in zip(metric_sets, measured, keeps, strict=True):
                    clean = each.prepare(each.check_predictions(f"y_pred[{start + row}]", own), n_folds)
                    so_far.append(each.measure_folds(clean, folds[row : row + 1], n_folds, keep=keep))
        values = [np.concatenate([each for each, _ in so_far], axis=1) for so_far in measured]
        times = tested.sum(axis=0) if same_each_time else tested
        return sizes[:, :, 0], values, [[counts for _, counts in so_far] for so_far in measured], times

    compiles = "evaluate_splits", same_each_time, *(type(each).__name__ for each in metric_sets)
    done = run(task, range(0, assignments.n_repeats, size), progress=progress, compiles=compiles)
    sizes, values, chunks, times = zip(*done, strict=True)
    all_chunks = [list(chain.from_iterable(by_task)) for by_task in zip(*chunks, strict=True)]
    tested = np.sum(times, axis=0) if same_each_time else np.concatenate(times)
    return _FixedCounts(
        np.concatenate(sizes),
        [np.concatenate(each, axis=1) for each in zip(*values, strict=True)],
        [each.pool_folds(own, predicted, tested) for each, own in zip(metric_sets, all_chunks, strict=True)],
        all_chunks,
    )


def _tested_only(predicted: NDArray[Any], tested: NDArray[np.bool_]) -> NDArray[Any]:
    """Return one repetition's predictions; for untested rows, which may have none, use a tested row's prediction."""
    return predicted if tested.all() else np.where(tested, predicted, predicted[np.argmax(tested)])


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_no_groups(name: str, value: Any, splits: str) -> None:
    """Raise if groups are given although `splits` already determines the folds."""
    if value is not None:
        raise ValueError(f"{name} goes with a splitter, but {splits} has fold numbers; got {show(value)}")


def _as_fixed_predictions(name: str, values: Any, n: int, n_repeats: int) -> NDArray[Any]:
    """Return predictions of shape (n_samples,) or (n_repeats, n_samples)."""
    array = as_array(name, values)
    if array.shape in ((n,), (n_repeats, n)):
        return array
    if array.ndim == 2 and array.shape[1] == n:
        raise ValueError(
            f"{name} has {array.shape[0]} rows of predictions (axis 0), but splits have {n_repeats} repetitions (each "
            "pair of row numbers counts as a repetition, and so does each split of another package's splitter)"
        )
    raise ValueError(
        f"{name} must have shape ({n},), or ({n_repeats}, {n}) with one prediction for each repetition (axis 0) and "
        f"row (axis 1); got {array.shape}"
    )


def _as_fold_numbers(name: str, values: Any, n: int) -> tuple[NDArray[Any], int]:
    """Return the fold that tests each row, of shape (n_repeats, n_samples), and the number of folds."""
    rule = (
        "must be a splitter, pairs (train, test) of row numbers, or hold the number of each row's test fold, from 0 on"
    )
    sizes = [len(each) for each in values if isinstance(each, Sized)] if isinstance(values, (list, tuple)) else []
    if len(set(sizes)) > 1:
        raise ValueError(f"{name} {rule}; got lists of {listed(sizes)} values")
    array = as_array(name, values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} {rule}; got {show(values) if array.ndim == 0 else f'dtype {array.dtype}'}")
    if array.ndim not in (1, 2) or array.shape[-1] != n or not array.size:
        raise ValueError(
            f"{name} must have shape ({n},) or (n_repeats, {n}), a fold number for each row (the last axis); "
            f"got {array.shape}"
        )
    if int(array.min()) < 0:
        raise ValueError(f"{name} must hold fold numbers from 0 on, got {array.min()}")
    if int(array.max()) >= n:
        raise ValueError(f"{name} must hold fold numbers below the number of rows, {n}, got {array.max()}")
    return np.atleast_2d(array), int(array.max()) + 1


def _check_nonempty_folds(sizes: NDArray[Any], first: int) -> None:
    """Raise if a test set is empty; `sizes` has shape (n_repeats, n_folds) and begins with repetition `first`."""
    if not sizes.all():
        repeat, fold = (int(each[0]) for each in np.nonzero(sizes == 0))
        raise ValueError(f"splits: the test set of repetition {first + repeat}, fold {fold} is empty")
