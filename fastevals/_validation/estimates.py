"""Estimates of errors from splits: what is predicted of their test sets, and by whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_array, as_thresholds
from fastevals._validation.labels import _plain, raise_not_binary
from fastevals._validation.options import _warn, check_choice, listed, show

__all__ = [
    "as_class_codes",
    "as_errors",
    "as_fixed_predictions",
    "as_fold_numbers",
    "as_metric_value",
    "as_split_pairs",
    "check_gives_scores",
    "check_instance",
    "check_no_groups",
    "check_no_information",
    "check_nonempty_folds",
    "check_not_given",
    "check_one_kind",
    "check_one_number",
    "check_split_number",
    "check_splits_method",
    "check_two_labels_only",
    "is_splitter",
    "warn_left_out_splits",
]

MOST_SPLITS = 10**9
WHAT = {"labels": "predicted labels", "scores": "scores", "targets": "predicted numbers"}


# What is predicted ------------------------------------------------------------------------------------------------


def check_one_kind(name: str, kinds: Mapping[str, str], *, several: bool) -> None:
    """Raise unless metrics go together: all of one kind, or, of a learner that gives both, of labels and of scores."""
    found = {kind: metric for metric, kind in kinds.items()}
    if len(found) > 1 and ("targets" in found or not several):
        wanted = " and ".join(f"{metric} is of {WHAT[kind]}" for kind, metric in found.items())
        rule = "classes or all of numbers" if several else "labels, all of scores or all of numbers, one array of which"
        rule += "" if several else " is measured"
        raise ValueError(f"{name} must all be of {rule}, but {wanted}")


def check_gives_scores(name: str, fitted: Any) -> None:
    """Raise unless a fitted estimator tells how sure it is of a class."""
    gives = any(callable(getattr(fitted, method, None)) for method in ("predict_proba", "decision_function"))
    if not gives or not hasattr(fitted, "classes_"):
        raise ValueError(
            f"{name} must have predict_proba or decision_function, and classes_, for metrics of scores; "
            f"got {show(fitted)}"
        )


def check_not_given(name: str, value: Any, what: str) -> None:
    """Raise if an option is given for metrics that have no use for it."""
    if value is not None:
        raise ValueError(f"{name} goes with {what}, but none is asked for; got {show(value)}")


def check_no_groups(name: str, value: Any, splits: str) -> None:
    """Raise if groups are given where splits are there already."""
    if value is not None:
        raise ValueError(f"{name} goes with a splitter, but {splits} has fold numbers; got {show(value)}")


def as_class_codes(
    name: str, labels: NDArray[Any], classes: NDArray[Any], order: NDArray[np.intp]
) -> NDArray[np.int32]:
    """Give the number of each label among the classes, which `order` sorts; raise of a label that is none."""
    ordered = classes[order]
    place = np.minimum(np.searchsorted(ordered, labels), classes.size - 1)
    odd = ordered[place] != labels
    if odd.any():
        row = int(np.argmax(odd))
        raise ValueError(
            f"{name} has the label {show(_plain(labels[row]))} at row {row}, which is not among the classes: "
            f"{listed(list(classes))}"
        )
    return order[place].astype(np.int32)


def check_two_labels_only(name: str, y: NDArray[Any], positive: Any) -> NDArray[np.bool_]:
    """Tell the positive rows; raise if there is a third label."""
    if np.unique(y).size > 2:
        raise_not_binary(name, y)
    return np.asarray(y == positive)


def as_fixed_predictions(name: str, values: Any, n: int, n_repeats: int) -> NDArray[Any]:
    """Give predictions of shape (n_samples,), or one row of them for each repetition."""
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


def as_metric_value(name: str, value: Any) -> float:
    """Give what a user's metric of a test set gave: one real number."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" or array.ndim:
        raise ValueError(f"metric {name} must give one real number for each test set, got {show(value)}")
    return float(array)


def check_one_number(name: str, shape: tuple[int, ...], each: str = "test set") -> None:
    """Raise if a metric gives more than one number for a test set, a model or a group."""
    if shape:
        raise ValueError(f"metric {name} must give one number for each {each}, got an array of shape {shape}")


# Splits -----------------------------------------------------------------------------------------------------------


def is_splitter(value: Any) -> bool:
    """Tell a splitter, of ours or of scikit-learn's kind, or a class of them, from texts and arrays."""
    other = isinstance(value, (str, bytes)) or hasattr(value, "__array__")  # torch's arrays have a split of their own
    return callable(getattr(value, "split", None)) and not other


def check_instance(name: str, value: Any) -> None:
    """Raise of a class where an instance of it is meant."""
    if isinstance(value, type):
        raise ValueError(f"{name} must be a splitter, got the class {value.__name__}: make one of it")


def check_split_number(name: str, n: int) -> None:
    """Raise if there are more splits than can be measured."""
    if n > MOST_SPLITS:
        raise ValueError(f"{name} makes {n:.3g} splits, of which at most {MOST_SPLITS:.3g} can be measured: draw some")


def as_split_pairs(name: str, pairs: Any, n: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Give pairs of training and test rows as numbers of rows, none in both parts."""
    if isinstance(pairs, (str, bytes, dict, np.ndarray)) or not isinstance(pairs, Iterable):
        raise ValueError(
            f"{name} must be a splitter such as KFold(10), have split(X, y, groups) as scikit-learn's, or hold pairs "
            f"(train, test) of row numbers; got {show(pairs)}"
        )
    found = []
    for number, pair in enumerate(pairs):
        try:
            train, test = pair
        except (TypeError, ValueError):
            raise ValueError(
                f"{name}[{number}] must be a pair (train, test) of row numbers, got {show(pair)}"
            ) from None
        parts = [
            _row_numbers(f"{name}[{number}] ({part})", rows, n) for part, rows in (("train", train), ("test", test))
        ]
        tested = np.bincount(parts[1], minlength=n)
        if tested.max() > 1:
            raise ValueError(f"{name}[{number}] (test) has row {int(np.argmax(tested > 1))} more than once")
        shared = parts[0][tested[parts[0]] > 0]
        if shared.size:
            raise ValueError(
                f"{name}[{number}] has {np.unique(shared).size} rows in both parts, row {shared[0]} among them"
            )
        found.append((parts[0], parts[1]))
    if not found:
        raise ValueError(f"{name} is empty: it must have at least one split")
    return found


def _row_numbers(name: str, rows: Any, n: int) -> NDArray[np.intp]:
    array = as_array(name, rows)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be 1-D with at least one row number, got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold row numbers, got dtype {array.dtype}")
    if int(array.min()) < 0 or int(array.max()) >= n:
        odd = array[(array < 0) | (array >= n)][0]
        raise ValueError(f"{name} must hold row numbers from 0 to {n - 1}, got {odd}")
    return array.astype(np.intp, copy=False)


def as_fold_numbers(name: str, values: Any, n: int) -> tuple[NDArray[Any], int]:
    """Give the fold that each row is tested in, of shape (n_repeats, n_samples), and how many folds there are."""
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


def check_nonempty_folds(sizes: NDArray[Any], first: int) -> None:
    """Raise if a test set of (n_repeats, n_folds), from one repetition on, has no rows."""
    if not sizes.all():
        repeat, fold = (int(each[0]) for each in np.nonzero(sizes == 0))
        raise ValueError(f"splits: the test set of repetition {first + repeat}, fold {fold} is empty")


# Estimates --------------------------------------------------------------------------------------------------------


def check_splits_method(name: str, value: Any, choices: Iterable[Any], bootstrap: bool) -> None:
    """Raise unless a way to make estimates is one of the choices, which go with a bootstrap; None goes with all."""
    if value is not None and not bootstrap:
        legal = ", ".join(map(repr, choices))
        raise ValueError(
            f"{name} goes with a BootstrapSplit ({legal}); with other splitters it must be None, got {show(value)}"
        )
    if value is not None:
        check_choice(name, value, [None, *choices])


def check_no_information(metrics: list[str]) -> None:
    """Raise if there are metrics that have no no-information rate."""
    if metrics:
        raise ValueError(
            "method='.632+' needs what a metric is if predictions say nothing, which isn't known of "
            f"{listed(metrics)}: choose '.632'"
        )


def as_errors(**values: Any) -> list[NDArray[np.float64]]:
    """Give errors as arrays of one shape: real numbers, none NaN."""
    arrays = [as_thresholds(name, value).astype(np.float64) for name, value in values.items()]
    try:
        return list(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(f"{name} {each.shape}" for name, each in zip(values, arrays, strict=True))
        raise ValueError(f"shapes must fit each other, got {shapes}") from None


def warn_left_out_splits(metric: str, undefined: int, n: int) -> None:
    """Warn that a metric has no value in some splits."""
    _warn(f"{metric} is undefined in {undefined} of {n} splits, which are left out (n_undefined)")
