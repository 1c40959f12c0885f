"""Learners, their fits, and rows from any kind of data."""

from __future__ import annotations

import sys
from collections import deque
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from fastevals.split.checks import check_same_rows, n_rows
from fastevals.split.learners import Failure, as_learner, run_fits, take_rows


def range_of(values: list[int]) -> range:
    return range(values[0], values[-1] + 1)


ROWS = np.array([2, 0, 2])
X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 1, 1, 0])


# Rows ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "convert",
    [
        lambda a: a,
        np.asfortranarray,
        lambda a: pd.DataFrame(a, index=[5, 4, 3, 2, 1, 0]),
        lambda a: pl.DataFrame(a),
        lambda a: pa.table({"a": a[:, 0], "b": a[:, 1]}),
        sparse.csr_array,
        sparse.coo_array,
        sparse.csc_matrix,
        sparse.dok_array,
    ],
    ids=["array", "fortran", "pandas", "polars", "arrow", "csr", "coo", "csc matrix", "dok"],
)
def test_rows_of_tables(convert: Any) -> None:
    data = convert(X)
    taken = take_rows(data, ROWS)
    if isinstance(taken, pa.Table):
        dense = np.column_stack([column.to_numpy() for column in taken.columns])
    else:
        dense = taken.toarray() if sparse.issparse(taken) else np.asarray(taken)
    assert_array_equal(dense, X[ROWS])
    assert n_rows("X", take_rows(data, None)) == 6
    assert n_rows("X", data) == 6


@pytest.mark.parametrize(
    "convert",
    [np.array, list, tuple, range_of, deque, lambda a: pd.Series(a, index=list("fedcba")), pl.Series, pa.array],
)
def test_rows_of_columns(convert: Any) -> None:
    taken = take_rows(convert([0, 1, 2, 3, 4, 5]), ROWS)
    assert [int(str(each)) for each in taken] == [2, 0, 2]


def test_rows_of_a_list_of_texts() -> None:
    assert take_rows(["a", "b", "c"], ROWS) == ["c", "a", "c"]
    assert take_rows(None, ROWS) is None


@pytest.mark.parametrize("data", [3, "abc", None, {"a": 1}, np.array(3.0), {1, 2}])
def test_what_has_no_rows(data: Any) -> None:
    with pytest.raises(ValueError, match="X must have rows, got"):
        n_rows("X", data)


def test_no_rows() -> None:
    with pytest.raises(ValueError, match="X is empty: it must have at least one row"):
        n_rows("X", np.empty((0, 3)))
    with pytest.raises(ValueError, match="y has 2 rows, but X has 3"):
        check_same_rows(X=[1, 2, 3], y=[1, 2], groups=None)
    with pytest.raises(ValueError, match="one of X, y must be given"):
        check_same_rows(X=None, y=None)


# Learners -----------------------------------------------------------------------------------------------------------


def scaled(X_train: Any, y_train: Any, X_test: Any, factor: float = 1.0) -> Any:
    return factor * X_test[:, 0] + len(y_train)


def test_a_function_gives_the_same_for_all_kinds() -> None:
    learner = as_learner("learner", scaled, {"factor": 2.0})
    found = learner.predictions(X, Y, np.array([0, 1, 1]), X, np.array([1, 2]), ["labels", "scores"])
    assert list(found) == ["labels", "scores"]
    assert found["labels"].tolist() == found["scores"].tolist() == [2 * 2.0 + 3, 2 * 4.0 + 3]
    more = learner.with_params({"factor": 0.0})
    assert more.predictions(X, Y, None, X, None, ["targets"])["targets"].tolist() == [6.0] * 6
    assert learner.params == {"factor": 2.0}


def test_an_estimator_is_copied() -> None:
    model = Ridge(alpha=7.0)
    learner = as_learner("learner", model, {"fit_intercept": False})
    found = learner.predictions(X, Y, None, X, None, ["targets"])["targets"]
    assert_array_equal(found, Ridge(alpha=7.0, fit_intercept=False).fit(X, Y).predict(X))
    assert not hasattr(model, "coef_")
    assert model.fit_intercept


def test_an_estimator_of_another_kind_is_copied_too() -> None:
    class Mean:
        def fit(self, X: Any, y: Any) -> Mean:
            self.value = float(np.mean(y))
            return self

        def predict(self, X: Any) -> Any:
            return [self.value] * len(X)

    model = Mean()
    found = as_learner("learner", model).predictions(X, Y, np.array([1]), X, np.array([0, 1]), ["targets"])
    assert found["targets"].tolist() == [1.0, 1.0]
    assert not hasattr(model, "value")


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=["probabilities", "decisions"])
def test_scores_are_of_the_positive_class(model: Any) -> None:
    x = X[:, :1] - 5
    y = np.where(x[:, 0] > 0, "b", "a")
    learner = as_learner("learner", model)
    scores = {
        each: learner.predictions(x, y, None, x, None, ["scores", "labels"], each)["scores"] for each in ("a", "b")
    }
    assert (np.diff(scores["b"]) > 0).all()
    assert (np.diff(scores["a"]) < 0).all()


def test_an_estimator_among_the_parameters_is_copied_too() -> None:
    inner = Ridge(alpha=7.0)
    learner = as_learner("learner", TransformedTargetRegressor(), {"regressor": inner})
    found = learner.predictions(X, Y, None, X, None, ["targets"])["targets"]
    assert_array_equal(found, Ridge(alpha=7.0).fit(X, Y).predict(X))
    assert learner.fit(X, Y).regressor is not inner
    assert not hasattr(inner, "coef_")


def test_a_learner_that_works_in_place_does_so_on_copies() -> None:
    def shifted(X_train: Any, y_train: Any, X_test: Any) -> Any:
        assert not np.shares_memory(X_train, X_test)
        X_train += 1.0
        y_train += 1
        X_test *= 0.0
        return X_test[:, 0]

    x, y = X.copy(), Y.copy()
    as_learner("learner", shifted).predictions(x, y, None, x, None, ["targets"])
    assert_array_equal(x, X)
    assert_array_equal(y, Y)
    rows = [[1, 2], [3, 4]]
    take_rows(rows, np.array([0]))[0][0] = 9
    assert rows == [[1, 2], [3, 4]]


def test_an_estimator_whose_fit_gives_nothing() -> None:
    class Silent:
        def fit(self, X: Any, y: Any) -> None:
            self.value = int(y[0])

        def predict(self, X: Any) -> Any:
            return [self.value] * len(X)

    found = as_learner("learner", Silent()).predictions(X, Y, np.array([1]), X, np.array([0]), ["labels"])
    assert found["labels"].tolist() == [1]
    with pytest.raises(ValueError, match=r"learner must have set_params to be given params, got"):
        as_learner("learner", Silent(), {"value": 1}).fit(X, Y)


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (np.ma.masked_array(np.zeros(6), mask=[0, 1, 0, 0, 1, 0]), "learner's predictions has 2 masked values"),
        ([[1], [2, 3], [], [], [], []], "learner's predictions can't be read as an array"),
    ],
    ids=["masked", "ragged"],
)
def test_odd_predictions(predicted: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_learner("learner", lambda *data: predicted).predictions(X, Y, None, X, None, ["targets"])


def test_a_training_part_without_positives_gives_them_no_chance() -> None:
    class Prior:
        classes_ = (0,)

        def fit(self, X: Any, y: Any) -> Prior:
            return self

        def predict(self, X: Any) -> Any:
            return [0] * len(X)

        def predict_proba(self, X: Any) -> Any:
            return np.ones((len(X), 1))

    found = as_learner("learner", Prior()).predictions(X, Y, None, X, None, ["scores"], 1)
    assert found["scores"].tolist() == [0.0] * 6


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    found = as_learner("learner", Ridge()).predictions(X, Y, None, X, None, ["targets"])
    assert_array_equal(found["targets"], Ridge().fit(X, Y).predict(X))


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (Ridge, "learner must be an estimator or a function, got class Ridge, not an instance"),
        (5, r"learner must be a function \(X_train, y_train, X_test\) -> predictions"),
        (None, "learner must be a function"),
    ],
)
def test_bad_learners(learner: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_learner("learner", learner)


@pytest.mark.parametrize("params", [3, [("factor", 2.0)], {2: 3.0}])
def test_bad_parameters(params: Any) -> None:
    with pytest.raises(ValueError, match="params must "):
        as_learner("learner", scaled, params)


@pytest.mark.parametrize(("given", "shape"), [([1, 2], r"\(2,\)"), ([[1]] * 6, r"\(6, 1\)"), (3, r"\(\)")])
def test_predictions_that_do_not_fit(given: Any, shape: str) -> None:
    learner = as_learner("learner", lambda X_train, y_train, X_test: given)
    with pytest.raises(ValueError, match=f"learner must give one prediction for each of the 6 rows, got shape {shape}"):
        learner.predictions(X, Y, None, X, None, ["labels"])


# Fits ---------------------------------------------------------------------------------------------------------------


def inverse(item: int) -> float:
    return 1 / item


def test_fits_in_order() -> None:
    assert list(run_fits(inverse, [1, 2, 4], describe=str)) == [1.0, 0.5, 0.25]
    assert list(run_fits(inverse, [1, 2, 4], describe=str, n_jobs=1)) == [1.0, 0.5, 0.25]


def test_a_failure_stops_the_fits_or_is_kept() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        list(run_fits(inverse, [1, 0, 2], describe=lambda item: f"fold {item}"))
    assert caught.value.__notes__ == ["in the fit of fold 0"]
    first, failure, last = run_fits(inverse, [1, 0, 2], describe=str, keep_failures=True)
    assert (first, last) == (1.0, 0.5)
    assert isinstance(failure, Failure)
    assert str(failure) == "ZeroDivisionError: division by zero (0)"
    assert str(Failure(KeyError(), "fold 1")) == "KeyError (fold 1)"


def test_items_are_taken_when_their_turn_comes() -> None:
    items = iter([1, 2, 4, 5])
    results = run_fits(inverse, items, describe=str, total=4, progress=True)
    assert [next(results), next(results)] == [1.0, 0.5]
    assert list(items) == [4, 5]
    assert list(results) == []


def test_each_result_is_there_at_once() -> None:
    done: list[int] = []

    def task(item: int) -> int:
        done.append(item)
        return item

    results = run_fits(task, [1, 2, 3], describe=str)
    assert not done
    assert next(results) == 1
    assert done == [1]


@pytest.mark.slow
def test_workers_give_the_same_in_the_same_order() -> None:
    items = list(range(1, 9))
    assert list(run_fits(inverse, items, describe=str, n_jobs=2, progress=True)) == [1 / item for item in items]
    with pytest.raises(ZeroDivisionError) as caught:
        list(run_fits(inverse, [1, 0], describe=str, n_jobs=2))
    assert caught.value.__notes__ == ["in the fit of 0"]


@pytest.mark.parametrize(
    ("n_jobs", "message"),
    [
        (0, "n_jobs must not be 0"),
        (1.5, "n_jobs must be an integer"),
        (True, "n_jobs must be"),
        (9999, "n_jobs must be"),
    ],
)
def test_bad_numbers_of_workers(n_jobs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(run_fits(inverse, [1], describe=str, n_jobs=n_jobs))


def test_workers_need_joblib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(ImportError, match="n_jobs needs joblib: pip install joblib"):
        list(run_fits(inverse, [1], describe=str, n_jobs=2))
