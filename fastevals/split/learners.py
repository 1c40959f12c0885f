"""Learners and their fits; a learner is a user's function, or an estimator with scikit-learn's interface."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import progress_bar
from fastevals._options import check_integer, import_optional, show
from fastevals._validation.arrays import plain_text
from fastevals.split.checks import as_fitted_predictions, check_learner, n_rows
from fastevals.split.splitters.base import Rows


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """A learner and its parameters; fits are not kept."""

    name: str  # its name in errors
    wrapped: Any  # a function (X_train, y_train, X_test, **params) -> predictions, or an estimator
    is_estimator: bool
    params: Mapping[str, Any] = field(default_factory=dict)

    def with_params(self, params: Mapping[str, Any]) -> Learner:
        """Return the learner with these parameters, which override its own."""
        return Learner(self.name, self.wrapped, self.is_estimator, {**self.params, **params})

    def fit(self, X: Any, y: Any) -> Any:
        """Return a fitted copy of an estimator."""
        estimator = _copy(self.wrapped)
        if self.params:  # estimators among the parameters get fitted too
            _check_settable(self.name, estimator)
            estimator.set_params(**{name: _copy(value) for name, value in self.params.items()})
        with _marked_errors():
            estimator.fit(X, y)
        return estimator

    def predictions(
        self,
        X: Any,
        y: Any,
        train: Rows | None,
        X_new: Any,
        new: Rows | None,
        kinds: Collection[str],
        positive: Any = None,
    ) -> dict[str, NDArray[Any]]:
        """Fit on some rows and predict others.

        Parameters
        ----------
        X, y : data with rows
            The data to learn from.
        train : ndarray of intp or None
            Indices of the rows to learn from; None means all rows.
        X_new : data with rows
            The data to predict; may be `X`.
        new : ndarray of intp or None
            Indices of the rows to predict; None means all rows.
        kinds : collection of str
            What to predict: "labels", "scores" (of the positive class), "targets", or "values" of any kind. A function
            returns the same predictions for all kinds.
        positive : label, optional
            The positive class, for scores.

        Returns
        -------
        dict of str to ndarray of shape (n_new,)
            Predictions of each kind.
        """
        X_train, y_train, rows = take_rows(X, train), take_rows(y, train), take_rows(X_new, new)
        n = n_rows("X", rows)
        if not self.is_estimator:
            with _marked_errors():
                predicted = self.wrapped(X_train, y_train, rows, **self.params)
            return dict.fromkeys(kinds, as_fitted_predictions(self.name, predicted, n))
        fitted = self.fit(X_train, y_train)
        return {
            kind: as_fitted_predictions(self.name, self._predict(fitted, rows, kind, positive), n) for kind in kinds
        }

    def _predict(self, fitted: Any, X: Any, kind: str, positive: Any) -> Any:
        if kind == "scores":
            _check_gives_scores(self.name, fitted)
        with _marked_errors():
            if kind != "scores":
                return fitted.predict(X)
            return scores_of_class(positive, fitted.classes_, class_scores(fitted, X))


@contextmanager
def _marked_errors() -> Iterator[None]:
    """Mark errors that a learner itself raises, as opposed to errors about its predictions."""
    try:
        yield
    except Exception as error:
        with suppress(Exception):  # an error may allow no attributes
            error._of_learner = True  # type: ignore[attr-defined]
        raise


def class_scores(fitted: Any, X: Any) -> NDArray[Any]:
    """Return a fitted estimator's probabilities or, if it predicts none, its decision values.

    The result has a column per class, or per label if rows may have several. Decision values of two classes, and the
    predictions of an estimator that has neither, are of shape (n_samples,).
    """
    if hasattr(fitted, "predict_proba"):
        found = fitted.predict_proba(X)
        if isinstance(found, list):  # of each label, of its absence and of its presence; a label may never be present
            found = np.stack([each[:, 1] if each.shape[1] > 1 else np.zeros(len(each)) for each in found], axis=1)
        return np.asarray(found)
    return np.asarray(fitted.decision_function(X) if hasattr(fitted, "decision_function") else fitted.predict(X))


def scores_of_class(label: Any, classes: Any, scores: NDArray[Any]) -> NDArray[Any]:
    """Return the scores of one of two classes from what `class_scores` returns."""
    classes = np.asarray(classes)
    if scores.ndim == 1:
        return scores if classes[-1] == label else -scores
    columns = np.flatnonzero(classes == label)
    # Without rows of a class in training, its predicted probability is 0.
    return scores[:, columns[0]] if columns.size else np.zeros(scores.shape[0])


def as_learner(name: str, learner: Any, params: Any = None) -> Learner:
    """Return a user's function or estimator as a learner."""
    return Learner(name, learner, check_learner(name, learner), _as_params("params", params))


def take_rows(data: Any, rows: NDArray[np.intp] | None) -> Any:
    """Return a copy of some rows, possibly repeated, with the type of the data; None means all rows."""
    if data is None:
        return None
    if rows is None:  # a learner may change its arguments in place
        rows = np.arange(n_rows("X", data))
    if hasattr(data, "iloc"):  # pandas: its plain indexing uses labels
        return data.iloc[rows]
    if type(data).__module__.partition(".")[0] == "pyarrow":  # its plain indexing accepts one number or a name
        return data.take(rows)
    if isinstance(data, Sequence):
        return [plain_text(copy.copy(data[row])) for row in rows.tolist()]
    if hasattr(data, "tocsr"):  # some sparse formats can't be indexed
        return data.tocsr()[rows]
    return data[rows]


def _copy(value: Any) -> Any:
    """Return an unfitted copy of an estimator, or a copy of anything else."""
    if isinstance(value, type) or not hasattr(value, "get_params"):
        return copy.deepcopy(value)
    try:
        from sklearn.base import clone
    except ImportError:
        return copy.deepcopy(value)
    return clone(value)


def run_fits(
    task: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    describe: Callable[[Any], str],
    total: int | None = None,
    keep_failures: bool | Literal["of learners"] = False,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Iterator[Any]:
    """Call `task` on each item, and yield each result, in order, as soon as it is available.

    Parameters
    ----------
    task : callable
        Function that fits and predicts; if there are workers, it and its results are pickled.
    items : iterable
        The arguments of the calls, read one by one as calls are made.
    describe : callable
        Function that describes an item in errors; if there are workers, it is pickled.
    total : int, optional
        The number of items; by default ``len(items)``.
    keep_failures : bool
        Whether to yield a `Failure` if a fit raises, and continue. Otherwise the error is raised, with a note that
        names the item. "of learners" continues only if the learner itself raises.
    n_jobs : int, optional
        Number of joblib workers, or -1 for one per CPU. By default all fits run in this process, without joblib.
    progress : bool
        Whether to show a progress bar (needs tqdm).
    """
    jobs = _check_jobs("n_jobs", n_jobs)
    calls = _Attempt(task, describe, keep_failures, jobs != 1)
    with progress_bar(len(cast("Sized", items)) if total is None else total, progress) as show:
        results = (calls(item) for item in items) if jobs == 1 else _parallel(calls, items, jobs)
        for number, result in enumerate(results, 1):
            show(number)
            yield result


class Failure(NamedTuple):
    """A fit that raised an error."""

    error: Exception
    where: str  # identifies the fit

    @property
    def message(self) -> str:
        """The error, without the fit."""
        text = " ".join(str(self.error).split())
        return f"{type(self.error).__name__}: {text}" if text else type(self.error).__name__

    def __str__(self) -> str:
        return f"{self.message} ({self.where})"

    def pickled(self) -> Failure:
        """Return the failure with an error that can be pickled: its own, or its message as a RuntimeError."""
        try:
            pickle.loads(pickle.dumps(self.error))
        except Exception:  # such as an error whose constructor takes other arguments
            return Failure(RuntimeError(self.message), self.where)
        return self

    def noted(self, before: str = "", after: str = "") -> Exception:
        """Return the error to raise, with a note: `before`, the name of the fit, and `after`."""
        error = RuntimeError(self.message) if isinstance(self.error, StopIteration) else self.error  # as in a generator
        error.add_note(f"in the fit of {before}{self.where}{after}")
        return error


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A task whose errors name their fit, and may be returned as results.

    Errors are raised in the worker, so that joblib itself stops the other workers. If this process raised while results
    were unread, a later call of joblib might wait forever.
    """

    task: Callable[[Any], Any]
    describe: Callable[[Any], str]
    keep_failures: bool | Literal["of learners"]
    in_worker: bool = False

    def __call__(self, item: Any) -> Any:
        try:
            return self.task(item)
        except Exception as error:
            failure = Failure(error, self.describe(item))
            if self.keep_failures is True or (self.keep_failures and getattr(error, "_of_learner", False)):
                return failure.pickled() if self.in_worker else failure
            failure.noted()
            raise


def _parallel(calls: _Attempt, items: Iterable[Any], jobs: int) -> Iterator[Any]:
    joblib = import_optional("joblib", "n_jobs needs joblib: pip install joblib")
    todo = (joblib.delayed(calls)(item) for item in items)
    results: Iterator[Any] = joblib.Parallel(n_jobs=jobs, return_as="generator")(todo)
    return results


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_gives_scores(name: str, fitted: Any) -> None:
    """Raise unless a fitted estimator can predict scores or probabilities of classes."""
    gives = any(callable(getattr(fitted, method, None)) for method in ("predict_proba", "decision_function"))
    if not gives or not hasattr(fitted, "classes_"):
        raise ValueError(
            f"{name} must have predict_proba or decision_function, and classes_, for metrics of scores; "
            f"got {show(fitted)}"
        )


def _check_settable(name: str, estimator: Any) -> None:
    """Raise unless an estimator has `set_params`."""
    if not callable(getattr(estimator, "set_params", None)):
        raise ValueError(f"{name} must have set_params to be given params, got {show(estimator)}")


def _as_params(name: str, params: Any) -> dict[str, Any]:
    """Return parameters by name; None gives an empty mapping."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise ValueError(f"{name} must be a mapping of names to values, got {show(params)}")
    for each in params:
        if not isinstance(each, str):
            raise ValueError(f"{name} must have strings for names, got {show(each)}")
    return dict(params)


def _check_jobs(name: str, value: Any) -> int:
    """Return the number of workers; 1 for None."""
    if value is None:
        return 1
    jobs = check_integer(name, value, low=-1024, high=1024)
    if not jobs:
        raise ValueError(f"{name} must not be 0")
    return jobs
