"""Data with rows, of whatever kind a learner takes: an array, a frame, a sparse matrix, a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from fastevals._validation.arrays import as_array
from fastevals._validation.options import check_integer, show

__all__ = [
    "as_fitted_predictions",
    "as_params",
    "check_jobs",
    "check_learner",
    "check_same_rows",
    "check_settable",
    "n_rows",
]


def n_rows(name: str, data: Any) -> int:
    """Give the number of rows, of which there must be some."""
    shape = getattr(data, "shape", None)
    try:
        n = int(shape[0]) if shape else len(data)
    except TypeError:
        raise ValueError(f"{name} must have rows, got {show(data)}") from None
    # A sparse matrix may be a dict too.
    if isinstance(data, (str, bytes, set, frozenset)) or shape == () or (shape is None and isinstance(data, dict)):
        raise ValueError(f"{name} must have rows, got {show(data)}")
    if not n:
        raise ValueError(f"{name} is empty: it must have at least one row")
    return n


def check_same_rows(**data: Any) -> int:
    """Raise unless all have as many rows as the first; give their number. None is left out."""
    rows = {name: n_rows(name, each) for name, each in data.items() if each is not None}
    if not rows:
        raise ValueError(f"one of {', '.join(data)} must be given, to say how many rows there are")
    (first, n), *others = rows.items()
    for name, each in others:
        if each != n:
            raise ValueError(f"{name} has {each} rows, but {first} has {n}")
    return n


def check_learner(name: str, learner: Any) -> bool:
    """Tell an estimator from a function, and raise of anything else."""
    if isinstance(learner, type):
        raise ValueError(f"{name} must be an estimator or a function, got the class {learner.__name__}: make one of it")
    if callable(getattr(learner, "fit", None)) and callable(getattr(learner, "predict", None)):
        return True
    if not callable(learner):
        raise ValueError(
            f"{name} must be a function (X_train, y_train, X_test) -> predictions, or have fit and predict as "
            f"scikit-learn's estimators; got {show(learner)}"
        )
    return False


def check_settable(name: str, estimator: Any) -> None:
    """Raise unless an estimator takes parameters."""
    if not callable(getattr(estimator, "set_params", None)):
        raise ValueError(f"{name} must have set_params to be given params, got {show(estimator)}")


def as_params(name: str, params: Any) -> dict[str, Any]:
    """Give parameters by name; None is none."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise ValueError(f"{name} must be a mapping of names to values, got {show(params)}")
    for each in params:
        if not isinstance(each, str):
            raise ValueError(f"{name} must have strings for names, got {show(each)}")
    return dict(params)


def as_fitted_predictions(name: str, values: Any, n: int) -> NDArray[Any]:
    """Give what a learner predicts as an array, one prediction for each row."""
    array = as_array(f"{name}'s predictions", values)
    if array.shape != (n,):
        raise ValueError(f"{name} must give one prediction for each of the {n} rows, got shape {array.shape}")
    return array


def check_jobs(name: str, value: Any) -> int:
    """Give a number of workers, 1 of None."""
    if value is None:
        return 1
    jobs = check_integer(name, value, low=-1024, high=1024)
    if not jobs:
        raise ValueError(f"{name} must not be 0")
    return jobs
