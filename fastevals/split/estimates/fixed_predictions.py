"""Predictions that are there beforehand, measured on the test sets of many splits in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import run
from fastevals._kernels.fold_counts import count_cells
from fastevals._validation.arrays import as_array
from fastevals._validation.options import as_flag, check_instance, is_splitter, show
from fastevals.measure.metric_specs import as_asked
from fastevals.results import level_of
from fastevals.split.checks import as_strata, check_same_rows, n_rows
from fastevals.split.estimates.fits import tallies_of
from fastevals.split.estimates.results import ErrorEstimate, ErrorEstimates, SplitVariance, estimates_of
from fastevals.split.estimates.tallies import Floats, Tally
from fastevals.split.plans import AssignedFolds, CodedSplits, held_by, plan_of, shape_of

WORK = 1 << 18  # codes of rows of one task


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
    """Measure predictions on the test sets of many splits: those of a fixed predictor, or out-of-fold ones.

    Nothing is fitted. Rows are counted, or their errors added up, for all test sets in one pass over the splits, of
    which a chunk is drawn at a time; scores are sorted once.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels or targets.
    y_pred : array-like of shape (n_samples,) or (n_repeats, n_samples)
        Predicted labels, scores of the positive class, or predicted numbers, as the metrics need; of each row, or of
        each repetition (axis 0; pairs of row numbers are one each) and row, where those of rows that are in none of its
        test sets may be missing.
    splits : splitter or array-like of int of shape (n_samples,) or (n_repeats, n_samples)
        A splitter of this package or of scikit-learn's kind; or the number of the fold, from 0 on, in which each row is
        tested.
    metrics : str, `metric(...)`, function, a sequence of these, or a mapping of names to them
        As for `estimate_error`: all of labels, all of scores or all of numbers, and functions.
    groups, pos_label, labels, confidence_level
        As for `estimate_error`.
    progress : bool
        Show a bar (needs tqdm).

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
        If a metric is undefined in some splits; they are left out of its mean.

    Notes
    -----
    Intervals are those of `estimate_error`. Results are the same bits at any number of threads.

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
    asked = as_asked(metrics)
    level, alpha = level_of(confidence_level)
    tallies, positive = tallies_of(asked, "y_true", y_true, several=False, pos_label=pos_label, labels=labels)
    plan = _plan(splits, y_true, groups)
    predicted = _as_fixed_predictions("y_pred", y_pred, plan.n_samples, plan.n_repeats)
    held = held_by(splits, plan, y_true)
    counted = _count(plan, tallies, predicted, held.what is not None, as_flag("progress", progress))
    shape = shape_of(plan)
    n_test = counted.n_test.reshape(shape)
    sizes = plan.n_samples - n_test, n_test
    found: dict[str, ErrorEstimate] = {}
    for tally, values, pooled in zip(tallies, counted.values, counted.pooled, strict=True):
        variance = SplitVariance(tally, pooled, held, *sizes, alpha)
        found |= estimates_of(values, tally.micro(pooled), shape, asked, variance, splitter=splits)
    in_order = {name: found[name] for name in asked}
    matrices = tallies[0].matrices(counted.parts[0], shape)
    return ErrorEstimates(in_order, *sizes, matrices, splits, None, level, labels=tallies[0].labels, pos_label=positive)


def _plan(splits: Any, y_true: Any, groups: Any) -> CodedSplits:
    """Return the splits of a splitter or of an array of fold numbers."""
    if is_splitter(splits):
        check_instance("splits", splits)
        n = check_same_rows(y_true=y_true, groups=groups)
        if getattr(splits, "stratified", False):
            as_strata("y_true", y_true, n)
        return plan_of("splits", splits, y_true, y_true, groups)
    _check_no_groups("groups", groups, "splits")
    return AssignedFolds(*_as_fold_numbers("splits", splits, n_rows("y_true", y_true)))


class _Counted(NamedTuple):
    """Of all test sets: their sizes, and for each tally the values, the counts of all, and those of parts of them."""

    n_test: NDArray[np.int64]
    values: list[Floats]
    pooled: list[Any]
    parts: list[list[Any]]


def _count(
    plan: CodedSplits, tallies: Sequence[Tally], predicted: NDArray[Any], ask_tested: bool, progress: bool
) -> _Counted:
    """Count the rows of each test set, a chunk of repetitions at a time, and how often each is tested if asked to."""
    n, n_folds = plan.n_samples, plan.n_folds
    fixed = predicted.ndim == 1
    prepared = [each.prepared(each.checked("y_pred", predicted), n_folds) for each in tallies] if fixed else []
    asks_tested = ask_tested or not fixed or any(each.asks_tested for each in tallies)
    keeps = [each.keeps(plan.n_repeats * n_folds) for each in tallies]
    size, nowhere = max(1, WORK // n), np.zeros(n, dtype=np.int32)

    def task(start: int) -> tuple[NDArray[np.int64], list[Floats], list[list[Any]], NDArray[Any]]:
        stop = min(start + size, plan.n_repeats)
        folds = plan.codes(start, stop).astype(np.uint32) - np.uint32(plan.first)
        sizes = np.zeros((stop - start, n_folds, 1), dtype=np.int64)
        count_cells(folds, nowhere, sizes)
        _check_nonempty_folds(sizes[:, :, 0], start)
        tested = folds < n_folds if asks_tested else np.empty((0, n), dtype=np.bool_)
        if fixed:
            found = [
                [each.of_folds(own, folds, n_folds, keep=keep)]
                for each, own, keep in zip(tallies, prepared, keeps, strict=True)
            ]
        else:
            found = [[] for _ in tallies]
            for row in range(stop - start):
                own = _tested_only(predicted[start + row], tested[row])
                for each, so_far, keep in zip(tallies, found, keeps, strict=True):
                    clean = each.prepared(each.checked(f"y_pred[{start + row}]", own), n_folds)
                    so_far.append(each.of_folds(clean, folds[row : row + 1], n_folds, keep=keep))
        values = [np.concatenate([each for each, _ in so_far], axis=1) for so_far in found]
        times = tested.sum(axis=0) if fixed else tested
        return sizes[:, :, 0], values, [[part for _, part in so_far] for so_far in found], times

    compiles = "evaluate_splits", fixed, *(type(each).__name__ for each in tallies)
    done = run(task, range(0, plan.n_repeats, size), progress=progress, compiles=compiles)
    sizes, values, parts, times = zip(*done, strict=True)
    all_parts = [[part for of_task in of_tally for part in of_task] for of_tally in zip(*parts, strict=True)]
    tested = np.sum(times, axis=0) if fixed else np.concatenate(times)
    return _Counted(
        np.concatenate(sizes),
        [np.concatenate(each, axis=1) for each in zip(*values, strict=True)],
        [each.pooled_of(own, predicted, tested) for each, own in zip(tallies, all_parts, strict=True)],
        all_parts,
    )


def _tested_only(predicted: NDArray[Any], tested: NDArray[np.bool_]) -> NDArray[Any]:
    """Return one repetition's predictions, others in place of those that are in no test set: they may be missing."""
    return predicted if tested.all() else np.where(tested, predicted, predicted[np.argmax(tested)])


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_no_groups(name: str, value: Any, splits: str) -> None:
    """Raise if groups are given where splits are there already."""
    if value is not None:
        raise ValueError(f"{name} goes with a splitter, but {splits} has fold numbers; got {show(value)}")


def _as_fixed_predictions(name: str, values: Any, n: int, n_repeats: int) -> NDArray[Any]:
    """Return predictions of shape (n_samples,), or one row of them for each repetition."""
    array = as_array(name, values)
    if array.shape in ((n,), (n_repeats, n)):
        return array
    if array.ndim == 2 and array.shape[1] == n:
        raise ValueError(
            f"{name} has {array.shape[0]} rows of predictions (axis 0), but splits have {n_repeats} repetitions (each "
            "pair of row numbers, and each split of another package's splitter, is one)"
        )
    raise ValueError(
        f"{name} must have shape ({n},), or ({n_repeats}, {n}) for predictions of each repetition (axis 0) of each row "
        f"(axis 1); got {array.shape}"
    )


def _as_fold_numbers(name: str, values: Any, n: int) -> tuple[NDArray[Any], int]:
    """Return the fold that each row is tested in, of shape (n_repeats, n_samples), and how many folds there are."""
    array = as_array(name, values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold the number of each row's test fold, from 0 on, got dtype {array.dtype}")
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
    """Raise if a test set of (n_repeats, n_folds), from one repetition on, has no rows."""
    if not sizes.all():
        repeat, fold = (int(each[0]) for each in np.nonzero(sizes == 0))
        raise ValueError(f"splits: the test set of repetition {first + repeat}, fold {fold} is empty")
