"""A fit that fails is a missing cell: the others go on, and the result keeps the error."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import KFold, UndefinedMetricWarning, estimate_error

X, Y = np.arange(60), np.arange(60) % 2
FOLDS = KFold(5, n_repeats=2, rng=0)
SPLITS = [test for _, test in FOLDS.split(X, Y)]


class Fails(Exception):
    def __init__(self) -> None:
        super().__init__("no\nconvergence")


def majority(X_train: Any, y_train: Any, X_test: Any) -> Any:
    return np.full(len(X_test), int(2 * np.sum(y_train) > len(y_train)))


def failing(*numbers: int) -> Any:
    """Return a learner that fails in splits of these numbers."""
    tests = [X[SPLITS[number]] for number in numbers]

    def learner(X_train: Any, y_train: Any, X_test: Any) -> Any:
        if any(np.array_equal(X_test[: len(each)], each) for each in tests):
            raise Fails
        return majority(X_train, y_train, X_test)

    return learner


def test_a_failed_fit_is_left_out_and_its_error_is_kept() -> None:
    whole = estimate_error(majority, X, Y, FOLDS, ["accuracy", "error_rate"], training=True)
    message = r"^2 fits of 10 failed, .*; the first: Fails: no convergence \(repetition 0, fold 3\)$"
    with pytest.warns(UndefinedMetricWarning, match=message):
        found = estimate_error(failing(3, 9), X, Y, FOLDS, ["accuracy", "error_rate"], training=True)
    assert found.errors == {(0, 3): "Fails: no convergence", (1, 4): "Fails: no convergence"}
    assert found.to_dict()["errors"] == {"[0, 3]": "Fails: no convergence", "[1, 4]": "Fails: no convergence"}
    assert found.matrices is None
    assert np.array_equal(found.n_train, whole.n_train)
    assert np.array_equal(found.n_test, whole.n_test)
    for name, each in found.items():
        expected = whole[name].per_split.copy()
        expected[[0, 1], [3, 4]] = np.nan
        assert np.array_equal(each.per_split, expected, equal_nan=True)
        assert (each.value, each.n_undefined) == (pytest.approx(np.nanmean(expected)), 2)
        assert each.training is not None
        assert each.training.n_undefined == 2
        assert math.isfinite(each.confidence_interval.low)
    assert pickle.loads(pickle.dumps(found)).errors == found.errors


def test_the_numbers_are_those_of_the_other_splits() -> None:
    with pytest.warns(UndefinedMetricWarning, match="1 fit of 10 failed"):
        found = estimate_error(failing(4), X, Y, FOLDS, "accuracy")["accuracy"]
    pairs = [pair for k, pair in enumerate(FOLDS.split(X, Y)) if k != 4]
    others = estimate_error(majority, X, Y, pairs, "accuracy")["accuracy"]
    assert found.value == others.value
    assert found.micro == others.micro
    assert found.standard_deviation == others.standard_deviation
    assert found.confidence_interval == others.confidence_interval


def test_if_all_fits_fail_the_first_error_is_raised() -> None:
    with pytest.raises(Fails) as caught:
        estimate_error(failing(*range(10)), X, Y, FOLDS, "accuracy")
    assert caught.value.__notes__ == ["in the fit of repetition 0, fold 0"]


def test_errors_are_raised_if_asked() -> None:
    with pytest.raises(Fails) as caught:
        estimate_error(failing(3), X, Y, FOLDS, "accuracy", on_error="raise")
    assert caught.value.__notes__ == ["in the fit of repetition 0, fold 3"]
    with pytest.raises(ValueError, match="on_error must be one of 'missing', 'raise'; got 'nan'"):
        estimate_error(majority, X, Y, FOLDS, "accuracy", on_error="nan")  # type: ignore[arg-type]


def test_other_intervals_need_all_fits() -> None:
    with pytest.raises(Fails):
        estimate_error(failing(3), X, Y, FOLDS, "accuracy", interval="cv-wald")


def test_errors_about_predictions_are_raised() -> None:
    def odd(X_train: Any, y_train: Any, X_test: Any) -> Any:
        return majority(X_train, y_train, X_test) + (np.array_equal(X_test, X[SPLITS[3]]) and 7)

    with pytest.raises(ValueError, match=r"predictions of the test rows") as caught:
        estimate_error(odd, X, Y, FOLDS, "accuracy")
    assert caught.value.__notes__ == ["in the fit of repetition 0, fold 3"]
    with pytest.raises(ValueError, match=r"predictions|rows"):
        estimate_error(lambda a, b, c: [1], X, Y, FOLDS, "accuracy")

    def no_metric(y_true: Any, y_pred: Any) -> float:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        estimate_error(majority, X, Y, FOLDS, no_metric)


class Estimator:
    """An estimator that fails to fit, or to predict, in one split."""

    def __init__(self, where: str = "fit") -> None:
        self.where = where

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"where": self.where}

    def set_params(self, **given: Any) -> Estimator:
        vars(self).update(given)
        return self

    def fit(self, X: Any, y: Any) -> Estimator:
        if self.where == "fit" and SPLITS[3][0] not in X and SPLITS[3][1] not in X and len(X) == 48:
            raise Fails
        return self

    def predict(self, X: Any) -> Any:
        if self.where == "predict" and np.array_equal(X, SPLITS[3]):
            raise Fails
        return np.zeros(len(X), dtype=int)


@pytest.mark.cases(1)
@pytest.mark.parametrize("where", ["fit", "predict"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_estimators_and_workers(where: str, n_jobs: int | None) -> None:
    with pytest.warns(UndefinedMetricWarning, match="failed"):
        found = estimate_error(Estimator(where), X, Y, FOLDS, "accuracy", n_jobs=n_jobs)
    message = "RuntimeError: Fails: no convergence" if n_jobs else "Fails: no convergence"  # it can't be pickled
    assert found.errors[0, 3] == message
    assert found.n_test.shape == (2, 5)


def test_the_fit_to_all_rows_must_not_fail() -> None:
    def learner(X_train: Any, y_train: Any, X_test: Any) -> Any:
        if len(X_test) == 60:
            raise Fails
        return majority(X_train, y_train, X_test)

    splitter = fastevals.BootstrapSplit(5, rng=0)
    with pytest.raises(Fails) as caught:
        estimate_error(learner, X, Y, splitter, "error_rate", method=".632")
    assert caught.value.__notes__ == ["in the fit of all rows"]


def test_results_have_the_missing_cell_and_its_error() -> None:
    with pytest.warns(UndefinedMetricWarning, match="failed"):
        estimates = {name: estimate_error(learner, X, Y, FOLDS, "accuracy") for name, learner in
                     (("a", majority), ("b", failing(7)))}  # fmt: skip
    with pytest.raises(ValueError, match=r"lack 1 of 20: b on 0, repeat 1, fold 2 \(Fails: no convergence\)"):
        fastevals.Results(estimates)
    kept = fastevals.Results(estimates, missing="keep")
    assert kept.errors == {(0, "b", 1, 2): "Fails: no convergence"}
    assert kept.test_to_train == pytest.approx(12 / 48)
    worst = fastevals.Results(estimates, missing="worst")
    assert worst.values[0, 1, 1, 2] == 0
    assert fastevals.pairwise_tests(worst, test="corrected-resampled-t")[0].pvalue > 0
    with pytest.raises(ValueError, match="b must be defined in all splits, but is NaN in 1 of 10"):
        fastevals.corrected_resampled_t_test(kept.of("a"), kept.of("b"))
