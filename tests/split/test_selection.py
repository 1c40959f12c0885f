"""Model selection: which rows are seen when, the choice, and the messages about failures."""

import json
import math
import pickle
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.model_selection import KFold as TheirKFold
from sklearn.tree import DecisionTreeClassifier

from fastevals import UndefinedMetricWarning, bbc_cv
from fastevals.split.selection import select_model
from fastevals.split.splitters.hold_out import HoldOut
from fastevals.split.splitters.k_fold import KFold
from tests.parameters import quick
from tests.reference import selection as twin
from tests.strategies import BOUNDED
from tests.test_validation import ODD_ARRAYS, ODD_SCALARS, complaint

pytestmark = pytest.mark.filterwarnings("ignore:the interval of .* is the same in all")

MSE = "mean_squared_error"


def data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return x, x**2 + rng.normal(scale=0.2, size=n)


def polynomial(x, y, x_new, degree=2, shift=0.0):
    if degree < 0:
        raise ArithmeticError(f"no polynomial of degree {degree}")
    return np.polyval(np.polyfit(x, y, degree), x_new) + shift


def squared(y_true, y_pred):
    return float(np.mean((y_true - y_pred) ** 2))


class Recorder:
    """A learner that predicts a constant and records the rows it saw."""

    def __init__(self):
        self.calls = []

    def __call__(self, X, y, X_new, constant=0.0):
        self.calls.append((set(X.tolist()), set(X_new.tolist()), constant))
        return np.full(len(X_new), constant)


class Twice:
    """A bootstrap-like splitter: trains on the first half of the rows, each twice."""

    def split(self, X, y=None, groups=None):
        rows = np.arange(len(X))
        half = rows.size // 2
        yield np.repeat(rows[:half], 2), rows[half:]


class OnFewRows:
    """An estimator that cannot be fitted to many rows."""

    def fit(self, X, y):
        if len(X) > 40:
            raise MemoryError("too many rows")
        return self

    def predict(self, X):
        return np.asarray(X)


# The data's way ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nested", [None, 3])
def test_test_rows_are_touched_once_at_the_end(nested):
    recorder, rows = Recorder(), np.arange(40.0)
    found = select_model(recorder, rows, rows, MSE, grid={"constant": [30.0, 20.0, 0.0]}, rng=3, nested=nested)
    test = set(found.test_rows.tolist())
    assert len(test) == 8
    *before, last = recorder.calls
    assert len(before) == 3 * 5 if nested is None else len(before) == 3 * 5 * 4 + 3
    assert all(not test & (trained | predicted) for trained, predicted, _ in before)
    assert last == (set(rows) - test, test, found.best.params["constant"])
    assert found.test_value == squared(found.test_rows, last[2])
    recorder.calls.clear()
    assert_array_equal(found.predict(np.array([100.0, 101.0])), 2 * [last[2]])
    assert recorder.calls == [(set(rows), {100.0, 101.0}, last[2])]


def test_all_candidates_have_the_same_splits_of_the_training_part():
    recorder, rows = Recorder(), np.arange(40.0)
    found = select_model(recorder, rows, rows, MSE, grid={"constant": [1.0, 2.0]}, splitter=KFold(4, rng=1), rng=0)
    splits = [(trained, predicted) for trained, predicted, _ in recorder.calls[:-1]]
    assert splits[:4] == splits[4:]
    training = np.setdiff1d(rows, found.test_rows)
    ours = KFold(4, rng=1).split(training)
    assert splits[:4] == [(set(training[train]), set(training[test])) for train, test in ours]


def test_groups_are_kept_whole():
    recorder, rows = Recorder(), np.arange(60.0)
    groups = np.repeat(np.arange(20), 3)
    select_model(recorder, rows, rows, MSE, groups=groups, nested=3, rng=0)
    for trained, predicted, _ in recorder.calls:
        of_both = [{groups[int(row)] for row in part} for part in (trained, predicted)]
        assert not of_both[0] & of_both[1]


def test_nested_selection_stays_within_its_outer_training_rows():
    recorder, rows = Recorder(), np.arange(30.0)
    outer = KFold(3, rng=5)
    found = select_model(recorder, rows, rows, MSE, grid={"constant": [0.0, 15.0]}, nested=outer, splitter=2, test=None)
    n_main = 2 * 2
    for k, (train, test) in enumerate(outer.split(rows)):
        inner = recorder.calls[n_main * (k + 1) : n_main * (k + 2)]
        assert all(seen | predicted == set(rows[train]) for seen, predicted, _ in inner)
        trained, predicted, constant = recorder.calls[4 * n_main + k]
        assert (trained, predicted) == (set(rows[train]), set(rows[test]))
        assert found.nested.estimate.per_split[0, k] == pytest.approx(squared(rows[test], constant))
    assert len(recorder.calls) == 4 * n_main + 3
    assert (found.test_value, found.test_rows) == (None, None)
    assert found.nested.counts() == {"Recorder(constant=15.0)": 3}
    assert [each.params for each in found.nested.chosen] == 3 * [{"constant": 15.0}]


def test_later_changes_to_the_data_change_nothing():
    x, y = data()
    found = select_model(polynomial, x, y, MSE, rng=0)
    before = found.predict(np.zeros(1))
    x[:], y[:] = 7, 7
    assert_array_equal(found.predict(np.zeros(1)), before)


# What is chosen ---------------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.lists(st.integers(-1, 4), min_size=1, max_size=4, unique=True), st.integers(2, 4))
@BOUNDED
def test_twin(seed, degrees, k):
    x, y = data(25, seed)
    grid = {"degree": degrees, "shift": [0.0, 0.1]}
    splitter = KFold(k, rng=seed)
    test = HoldOut(0.2, rng=seed)
    ((train, part),) = test.split(x)
    pairs = list(splitter.split(train))
    if set(degrees) == {-1}:
        with pytest.raises(ArithmeticError, match="degree -1") as caught:
            select_model(polynomial, x, y, MSE, grid=grid, splitter=splitter, test=test)
        assert caught.value.__notes__ == [
            "in the fit of polynomial(degree=-1, shift=0.0), repetition 0, fold 0; all 2 candidates failed"
        ]
        return
    found = select_model(polynomial, x, y, MSE, grid=grid, splitter=splitter, test=test)
    best, losses, value = twin.select(polynomial, x, y, pairs, squared, grid, part)
    assert [each.params for each in found.candidates] == twin.combinations(grid)
    assert found.best.params == best
    assert_allclose([each.value for each in found.candidates], losses)
    assert found.test_value == pytest.approx(value)


@pytest.mark.parametrize(
    "grids",
    [
        {"alpha": [0.01, 1.0, 100.0], "fit_intercept": [True, False]},
        [{"alpha": [10.0]}, {"fit_intercept": [False], "alpha": np.array([0.1, 1.0])}],
    ],
)
def test_grid_search_of_scikit_learn(grids):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, 2.0, 0.0] + 3 + rng.normal(size=80)
    theirs = GridSearchCV(Ridge(), grids, cv=TheirKFold(4), scoring="neg_mean_squared_error").fit(X, y)
    found = select_model(Ridge(), X, y, MSE, grid=grids, splitter=TheirKFold(4), test=None)
    results = theirs.cv_results_
    # scikit-learn orders a grid's parameters alphabetically.
    ours = {json.dumps(each.params, sort_keys=True): each.value for each in found.candidates}
    assert_allclose(
        [ours[json.dumps(each, sort_keys=True)] for each in results["params"]], -results["mean_test_score"], rtol=1e-12
    )
    assert found.best.params == theirs.best_params_
    assert_allclose(found.model.coef_, theirs.best_estimator_.coef_)
    assert_allclose(found.predict(X), theirs.predict(X))


@pytest.mark.parametrize("metric", quick(["accuracy", "roc_auc"], "accuracy"))
def test_classes_against_scikit_learn(metric):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2))
    y = (X[:, 0] + rng.normal(size=90) > 0.7).astype(int)
    grid = {"C": [1e-3, 1.0, 100.0]}
    theirs = GridSearchCV(LogisticRegression(), grid, cv=TheirKFold(3), scoring=metric).fit(X, y)
    found = select_model(LogisticRegression(), X, y, metric, grid=grid, splitter=TheirKFold(3), test=None)
    assert_allclose([each.value for each in found.candidates], theirs.cv_results_["mean_test_score"], rtol=1e-12)
    assert found.best.params == theirs.best_params_
    assert found.maximize


def test_named_learners_ties_and_direction():
    x, y = data()
    learners = {"same": polynomial, "poly": (polynomial, {"degree": [2, 1]}), "ridge": (Ridge(), [{"alpha": [1.0]}])}
    found = select_model(learners, x[:, None].repeat(1, 1).ravel(), y, MSE, rng=0)
    names = [(each.name, each.params) for each in found.candidates]
    assert names == [("same", {}), ("poly", {"degree": 2}), ("poly", {"degree": 1}), ("ridge", {"alpha": 1.0})]
    assert found.best is found.candidates[0]  # the first of equal ones
    assert found.candidates[0].value == found.candidates[1].value
    assert "Expected 2D array" in found.candidates[3].failure
    assert str(select_model(learners, x, y, MSE, rng=0, maximize=False).best) == str(found.best)
    with pytest.raises(ValueError, match="maximize must be False or left out for mean_squared_error, got True"):
        select_model(learners, x, y, MSE, rng=0, maximize=True)


def test_functions_need_a_direction():
    x, y = data()
    grid = {"degree": [1, 2]}
    with pytest.raises(ValueError, match="maximize must be given, True or False, for the function squared"):
        select_model(polynomial, x, y, squared, grid=grid)
    found = select_model(polynomial, x, y, squared, grid=grid, maximize=False, rng=0)
    by_name = select_model(polynomial, x, y, MSE, grid=grid, rng=0)
    assert found.best.value == pytest.approx(by_name.best.value)
    assert found.test_value == pytest.approx(by_name.test_value)


def test_folds_given_as_numbers_are_stratified_for_classes():
    y = np.array(["a"] * 25 + ["b"] * 75)
    found = select_model(DummyClassifier(), np.zeros((100, 1)), y, "error_rate", rng=2)
    assert_array_equal(np.unique(y[found.test_rows], return_counts=True)[1], [5, 15])
    assert_array_equal(found.best.estimate.per_split, np.full((1, 5), 0.25))


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_same_seed_same_result_with_any_workers(backend):
    x, y = data()
    options = {"grid": {"degree": [1, 2, -1]}, "nested": 3, "rng": 4}
    one = select_model(polynomial, x, y, MSE, **options).to_dict()
    with joblib.parallel_config(backend):
        other = select_model(polynomial, x, y, MSE, **options, n_jobs=2).to_dict()
    assert json.dumps(one) == json.dumps(other)
    again = select_model(polynomial, x, y, MSE, **{**options, "rng": 5})
    assert again.test_rows.tolist() != one["test_rows"]


# What goes wrong --------------------------------------------------------------------------------------------------


def test_a_fit_that_raises_is_reported_and_the_others_go_on():
    def learner(X, y, X_new, power):
        if power == 2 and 3.0 in X_new:
            raise KeyError("three")
        return X_new**power

    rows = np.arange(1.0, 41.0)
    found = select_model(learner, rows, rows, MSE, grid={"power": [0, 1, 2]}, test=None, rng=0)
    failed = found.candidates[2]
    assert failed.failure.startswith("KeyError: 'three' (repetition 0, fold ")
    assert math.isnan(failed.value)
    assert np.isnan(failed.estimate.per_split).all()
    assert failed.estimate.n_undefined == failed.estimate.per_split.size == 5
    assert [each.failure for each in found.candidates[:2]] == [None, None]
    assert found.best.params == {"power": 1}
    assert "learner(power=2): KeyError: 'three'" in found.table()
    assert found.ranked()[-1] is failed


def test_wrong_parameters_are_failures_and_predictions_are_checked():
    x, y = data()
    found = select_model(polynomial, x, y, MSE, grid=[{"degree": [2]}, {"depth": [1]}], rng=0)
    assert "unexpected keyword argument 'depth'" in found.candidates[1].failure
    learners = {"good": polynomial, "nan": lambda x, y, x_new: np.full(len(x_new), np.nan)}
    assert "NaN" in select_model(learners, x, y, MSE, rng=0).candidates[1].failure


def test_a_chosen_one_that_fails_in_the_end_raises():
    def learner(X, y, X_new):
        if len(X) > 32:
            raise MemoryError("too many rows")
        return X_new

    rows = np.arange(50.0)
    with pytest.raises(MemoryError, match="too many rows") as caught:
        select_model(learner, rows, rows, MSE, rng=0)
    assert caught.value.__notes__ == ["in the fit of learner(), the training part"]
    with pytest.raises(MemoryError, match="too many rows") as caught:
        select_model(OnFewRows(), rows, rows, MSE, rng=0)
    assert caught.value.__notes__ == ["in the fit of OnFewRows(), all rows"]


def test_a_nested_split_in_which_all_fail_is_undefined():
    def learner(X, y, X_new):
        if 0.0 not in X and 0.0 not in X_new:
            raise ArithmeticError("no zero")
        return X_new

    rows = np.arange(30.0)
    with pytest.warns(UndefinedMetricWarning, match="1 of 3"):
        found = select_model(learner, rows, rows, MSE, nested=3, test=None, rng=0)
    assert np.isnan(found.nested.estimate.per_split).sum() == found.nested.chosen.count(None) == 1
    assert found.nested.estimate.value == 0
    assert found.nested.estimate.n_undefined == 1
    (failed,) = found.nested.failures
    assert failed.split == found.nested.chosen.index(None)
    assert failed.failure.startswith("ArithmeticError: no zero (repetition 0, fold ")
    json.dumps(found.to_dict())


def test_a_nested_estimate_of_no_fit_is_undefined():
    def learner(X, y, X_new):
        if len(X) + len(X_new) < 30:
            raise ArithmeticError("few rows")
        return X_new

    rows = np.arange(30.0)
    with pytest.warns(UndefinedMetricWarning, match="no value in 3 of 3 outer .* few rows"):
        found = select_model(learner, rows, rows, MSE, nested=3, test=None, rng=0)
    said = "3 fits failed in the outer splits, the first: learner() in outer split 0: ArithmeticError: few rows"
    assert said in " ".join(found.table().split())
    assert repr(found.nested).endswith("chosen none, 3 failed)")
    assert found.nested.chosen == (None, None, None)
    assert np.isnan(found.nested.estimate.per_split).all()
    assert found.nested.estimate.n_undefined == 3


def test_candidates_that_fail_in_outer_splits_alone_are_reported():
    def learner(X, y, X_new, power):
        if power == 1 and len(X) + len(X_new) < 30:
            raise ArithmeticError("few rows")
        return X_new**power

    rows = np.arange(30.0)
    found = select_model(learner, rows, rows, MSE, grid={"power": [0, 1]}, nested=3, test=None, rng=0)
    assert (found.best.params, found.nested.counts()) == ({"power": 1}, {"learner(power=0)": 3})
    assert [(each.split, each.choice.params) for each in found.nested.failures] == [(k, {"power": 1}) for k in range(3)]
    first = found.to_dict()["nested"]["failures"][0]
    assert (first["split"], first["choice"]) == (0, {"name": "learner", "params": {"power": 1}})
    assert first["failure"].startswith("ArithmeticError: few rows")
    assert "3 fits failed in the outer splits, the first: learner(power=1) in outer split 0" in found.table()


def test_a_chosen_one_that_fails_in_an_outer_split_is_reported():
    def learner(X, y, X_new):
        if len(X) == 20:
            raise MemoryError("20 rows")
        return X_new

    rows = np.arange(30.0)
    with pytest.warns(UndefinedMetricWarning, match="no value in 3 of 3 outer splits"):
        found = select_model(learner, rows, rows, MSE, nested=3, test=None, rng=0)
    assert {each.failure for each in found.nested.failures} == {
        "MemoryError: 20 rows (all training rows of the outer split)"
    }
    assert [each.split for each in found.nested.failures] == [0, 1, 2]


def test_undefined_metrics():
    y = np.array([0] * 27 + [1] * 3)
    tree = DecisionTreeClassifier(random_state=0)
    X = np.arange(30.0)[:, None]
    with pytest.warns(UndefinedMetricWarning, match="roc_auc is undefined in 2 of 3"):
        found = select_model(
            tree, X, y, "roc_auc", splitter=KFold(3, shuffle=False), test=None, grid={"max_depth": [1]}
        )
    assert found.best.estimate.n_undefined == 2
    with (
        pytest.warns(UndefinedMetricWarning),
        pytest.raises(ValueError, match=r"r2 is undefined \(NaN\) for all 2 candidates: none is the best"),
    ):
        select_model(polynomial, np.arange(20.0), np.ones(20), "r2", grid={"degree": [0, 1]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": {}}, "grid is empty"),
        ({"grid": []}, "grid is empty"),
        ({"grid": {"degree": []}}, r"grid\['degree'\] is empty"),
        ({"grid": {"degree": "abc"}}, r"grid\['degree'\] must be a list of values, got 'abc'"),
        ({"grid": {"degree": 3}}, r"grid\['degree'\] must be a list of values, got 3"),
        ({"grid": {"degree": np.ones((2, 2))}}, r"grid\['degree'\] must be a list of values, got shape"),
        ({"grid": 3}, "grid must be a mapping of parameters to lists of values, or a list of them; got 3"),
        ({"grid": [3]}, "grid must hold mappings of parameters to lists of values, got 3"),
        ({"grid": {2: [3]}}, "grid must name parameters by strings, got 2"),
        ({"candidates": {}}, "candidates is an empty mapping"),
        ({"candidates": 3}, "candidates must be a function"),
        ({"candidates": {"a": 3}}, r"candidates\['a'\] must be a function"),
        ({"candidates": {1: polynomial}}, "candidates must have strings as names, got 1"),
        ({"candidates": {"a": (polynomial,)}}, r"candidates\['a'\] must be a learner or a pair"),
        ({"candidates": {"a": polynomial}, "grid": {"degree": [1]}}, "grid goes with one learner"),
        ({"test": KFold(3)}, "test must give one split, the test part, but gives 3"),
        ({"test": HoldOut(0.2, n_repeats=2)}, "test must give one split, the test part, but gives 2"),
        ({"test": Twice()}, "test must have each training row once"),
        ({"test": 1.5}, "test must be a share in .*, got 1.5"),
        ({"test": "half"}, "test must be a share in .*, got 'half'"),
        ({"test": 60}, r"test: test_size=60 leaves the training part of 60 rows empty \(of all 60 rows\)"),
        ({"test": 59}, r"splitter: n_splits=5 needs 5 rows or more, got 1 \(of the 1 rows of the training part\)"),
        ({"test": None, "nested": 3, "splitter": 41}, r"splitter: .* \(of the 40 training rows of the outer split 0\)"),
        ({"X": None}, "X must have rows, got None"),
        ({"candidates": None}, "candidates must be a function .* got None"),
        ({"candidates": [polynomial]}, "candidates must be a function"),
        ({"nested": Twice()}, "nested must have each training row once"),
        ({"nested": 1}, "nested must be an integer from 2 to 60, got 1"),
        ({"splitter": 0.5}, "splitter must be a number of folds or a splitter, got 0.5"),
        ({"splitter": 50}, "splitter: n_splits=50 needs 50 rows or more, got 48"),
        ({"metric": "squared"}, "metric must be one of"),
        ({"maximize": 1}, "maximize must be True or False, got 1"),
        ({"confidence_level": 2}, "confidence_level must be in"),
        ({"rng": -1}, "rng must be None"),
    ],
)
def test_bad_input(options, message):
    x, y = data()
    given = {"candidates": polynomial, "X": x, "y": y, "metric": MSE, "rng": 0, **options}
    with pytest.raises(ValueError, match=message):
        select_model(given.pop("candidates"), given.pop("X"), given.pop("y"), given.pop("metric"), **given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"^test: .* \(of all 60 rows; .* test=HoldOut\(0.2\) is not stratified\)"),
        ({"test": None}, r"^splitter: .* \(of all 60 rows; .* splitter=KFold\(5\) is not stratified\)"),
        (
            {"test": HoldOut(0.2, rng=0), "nested": 4},
            r"^nested: .* \(of the 48 .* nested=KFold\(4\) is not stratified\)",
        ),
    ],
)
def test_a_class_that_is_too_small_for_stratified_parts_has_a_remedy(options, message):
    y = np.array(["b"] + ["a"] * 59)
    with pytest.raises(ValueError, match="class 'b' has 1") as caught:
        select_model(DummyClassifier(), np.zeros((60, 1)), y, "error_rate", rng=0, **options)
    assert re.match(message, str(caught.value))


@pytest.mark.cases(1)
@pytest.mark.parametrize("odd", [ODD_ARRAYS, ODD_SCALARS], ids=["arrays", "scalars"])
def test_odd_input_works_or_raises_one_clear_line(odd):
    x, y = data(20)
    recorder = Recorder()

    def zeros(X, y, X_new, constant):
        return np.zeros(len(X_new))

    calls = {
        "y": lambda value: select_model(recorder, x, value, MSE),
        "groups": lambda value: select_model(recorder, x, y, MSE, groups=value),
        "grid": lambda value: select_model(recorder, x, y, MSE, grid=value),
        "values": lambda value: select_model(zeros, x, y, MSE, grid={"constant": value}),
        **{
            name: lambda value, name=name: select_model(recorder, x, y, MSE, splitter=2, **{name: value})
            for name in ("test", "nested", "maximize", "confidence_level", "rng", "labels", "pos_label")
        },
        "splitter": lambda value: select_model(recorder, x, y, MSE, splitter=value),
    }
    found = {(name, kind): complaint(call, value) for name, call in calls.items() for kind, value in odd.items()}
    assert {place: text for place, text in found.items() if text} == {}


# Sensitivity and results ------------------------------------------------------------------------------------------


def test_sensitivity():
    x, y = data()
    grid = {"degree": [1, 2, -1, 3], "shift": [0.5, 0.0], "unused": [None]}

    def learner(x, y, x_new, degree, shift, unused):
        return polynomial(x, y, x_new, degree, shift * (degree == 2))

    found = select_model(learner, x, y, MSE, grid=grid, rng=0)
    value = {tuple(each.params.values())[:2]: each.value for each in found.candidates}
    assert found.best.params == {"degree": 2, "shift": 0.0, "unused": None}
    degree, shift = (found.sensitivity(name) for name in ("degree", "shift"))
    assert (degree.values, degree.chosen, degree.others) == ((1, 2, -1, 3), 1, {"shift": 0.0, "unused": None})
    assert_array_equal(degree.as_chosen.values, [value[each, 0.0] for each in degree.values])
    assert_array_equal(degree.at_best.values, [np.fmin(value[each, 0.0], value[each, 0.5]) for each in degree.values])
    assert degree.best_others == tuple(
        {} if each == -1 else {"shift": 0.0 if each == 2 else 0.5, "unused": None} for each in degree.values
    )
    assert_array_equal(shift.as_chosen.values, [value[2, 0.5], value[2, 0.0]])
    assert_array_equal(shift.as_chosen.per_split[0], found.candidates[2].estimate.per_split)
    assert shift.range == value[2, 0.5] - value[2, 0.0]
    order = sorted((degree, shift), key=lambda each: -each.range)
    assert [each.parameter for each in found.sensitivities()] == [each.parameter for each in order]
    with pytest.raises(ValueError, match="parameter with several values: 'degree', 'shift'; got 'unused'"):
        found.sensitivity("unused")
    assert "chosen" in degree.table()
    json.dumps(degree.to_dict())


def test_values_that_are_alike_but_not_the_same_are_told_apart():
    x, y = data()
    grid = [{"degree": [2], "odd": [1, 1.0, True]}, {"degree": [1]}]

    def learner(x, y, x_new, degree, odd="none"):
        return polynomial(x, y, x_new, degree)

    found = select_model(learner, x, y, MSE, grid=grid, rng=0)
    assert [repr(each) for each in found.sensitivity("odd").values] == ["1", "1.0", "True"]
    both = found.sensitivity("degree")  # none of degree 1 has the chosen "odd"
    assert np.isnan(both.as_chosen.values).tolist() == [False, True]
    assert np.isfinite(both.at_best.values).all()


def test_table_of_many_candidates():
    x, y = data()
    found = select_model(polynomial, x, y, MSE, grid={"shift": np.arange(30.0), "degree": [2, -1]}, rng=0, nested=2)
    table = found.table()
    lines = table.replace("\n    ", " ").splitlines()  # whole sentences
    assert lines[1].split() == ["shift", "degree", "value", "sd", "low", "high"]
    assert lines[2].split()[-1] == "chosen"
    assert lines[22] == "... 40 more"
    assert lines[23].startswith("polynomial(shift=0.0, degree=-1): ArithmeticError: no polynomial of degree -1")
    assert lines[28] == "... 25 more failed"
    assert lines[29] == f"test part (12 rows): {found.test_value:.4g}"
    assert lines[30].startswith("nested (2 outer splits): ")
    assert max(map(len, table.splitlines())) <= 88


def test_small_numbers_have_digits():
    x, y = data()
    found = select_model(polynomial, x, y / 1000, MSE, grid={"degree": [1, 2]}, rng=0)
    assert f"{found.best.value:.3e}" in found.table().splitlines()[2].split()
    assert f": {found.test_value:.3e}" in found.table()
    assert f"{found.best.value:.3e}" in found.sensitivity("degree").table()


def test_values_that_json_has_not_are_text():
    def learner(X, y, X_new, weights, of):
        return np.full(len(X_new), weights[0])

    x, y = data()
    grid = {"weights": [np.ones(2), np.zeros(2)], "of": [Ridge(), (1, {2: np.arange(2)})]}
    found = select_model(learner, x, y, MSE, grid=grid, rng=0, nested=2)
    written = json.loads(json.dumps(found.to_dict()))
    assert [each["choice"]["params"] for each in written["candidates"]] == [
        {"weights": weights, "of": of} for weights in ([1, 1], [0, 0]) for of in ("Ridge()", [1, {"2": [0, 1]}])
    ]
    sensitivity = json.loads(json.dumps(found.sensitivity("weights").to_dict()))
    assert sensitivity["values"] == [[1, 1], [0, 0]]
    assert sensitivity["others"] == {"of": "Ridge()"}


def test_results_are_kept_and_sent():
    x, y = data()
    found = select_model(Ridge(), x[:, None], y, MSE, grid={"alpha": [1.0, 10.0]}, nested=3, rng=0)
    copy = pickle.loads(pickle.dumps(found))
    assert copy.to_dict() == found.to_dict()
    assert_array_equal(copy.predict(x[:, None]), found.predict(x[:, None]))
    assert repr(found).startswith("ModelSelection(Ridge(alpha=10.0), mean_squared_error=")
    json.dumps(found.to_dict())
    with pytest.raises(ValueError, match="read-only"):
        found.test_rows[0] = 1


def test_a_parameter_over_which_an_error_stays_infinite():
    def learner(X, y, X_new, of):
        return np.zeros(len(X_new)) if of < 3 else np.full(len(X_new), 0.5)

    y = np.arange(40) % 2
    for values, expected in (([0, 1], 0.0), ([0, 1, 3], math.inf)):
        found = select_model(learner, y, y, "log_loss", grid={"of": values}, rng=0)
        assert found.sensitivity("of").range == expected


def test_a_frame_is_no_list_of_values():
    with pytest.raises(ValueError, match=r"grid\['degree'\] must be a list of values, got shape \(2, 1\)"):
        select_model(polynomial, *data(), MSE, grid={"degree": pd.DataFrame({"degree": [1, 2]})})


def test_a_metric_that_is_undefined_on_the_test_part():
    x, y = data()
    last = [(np.arange(59), np.array([59]))]

    class Last:
        def split(self, X, y=None, groups=None):
            return iter(last)

        def get_n_splits(self, X=None, y=None, groups=None):
            return 1

    with pytest.warns(UndefinedMetricWarning, match=r"r2 is undefined \(NaN\): on the 1 rows of the test part"):
        found = select_model(polynomial, x, y, "r2", grid={"degree": [1]}, test=Last(), rng=0)
    assert math.isnan(found.test_value)


# The choice, corrected ------------------------------------------------------------------------------------------------


def pooled(x, y, degree, folds):
    """Return the predictions of each row by the fit that did not see it."""
    predicted = np.empty(y.size)
    for train, test in folds.split(x, y):
        predicted[test] = polynomial(x[train], y[train], x[test], degree)
    return predicted


@pytest.mark.slow
def test_correction_is_that_of_the_pooled_predictions() -> None:
    x, y = data()
    folds = KFold(4, rng=1)
    found = select_model(
        polynomial, x, y, MSE, grid={"degree": [1, 2, 4]}, splitter=folds, test=None, bias_correction=True, rng=0
    )
    predictions = {f"polynomial(degree={degree})": pooled(x, y, degree, folds) for degree in (1, 2, 4)}
    assert_allclose(found.corrected.values, [np.mean((y - each) ** 2) for each in predictions.values()])
    assert found.corrected.best == str(found.best)
    other = bbc_cv(y, predictions, MSE, rng=0)
    assert found.corrected.value == pytest.approx(other.value, rel=0.05)
    assert found.corrected.value > found.corrected.apparent_value
    assert "corrected for the choice" in found.table()


@pytest.mark.slow
def test_correction_names_the_candidate_that_folds_chose() -> None:
    x, y = data(40, 3)
    degrees = list(range(1, 9))
    found = select_model(polynomial, x, y, MSE, grid={"degree": degrees}, bias_correction=True, rng=5)
    assert found.corrected.best == str(found.best)
    assert found.corrected.names == tuple(f"polynomial(degree={degree})" for degree in degrees)


class Degree:
    """A parameter whose text does not tell its value."""

    def __init__(self, degree: int) -> None:
        self.degree = degree

    def __repr__(self) -> str:
        return "Degree()"


@pytest.mark.slow
def test_correction_tells_candidates_with_the_same_text_apart() -> None:
    x, y = data()

    def learner(x, y, x_new, degree):
        return polynomial(x, y, x_new, degree.degree)

    options = {"bias_correction": True, "test": None, "rng": 0}
    found = select_model(learner, x, y, MSE, grid={"degree": [Degree(2), Degree(1), Degree(0)]}, **options)
    other = select_model(polynomial, x, y, MSE, grid={"degree": [2, 1, 0]}, **options)
    assert found.corrected.names == tuple(f"candidate {k}, learner(degree=Degree())" for k in range(3))
    assert found.corrected.value == other.corrected.value
    assert found.corrected.apparent_value == other.corrected.apparent_value


def test_correction_leaves_failed_candidates_out() -> None:
    x, y = data()
    found = select_model(polynomial, x, y, MSE, grid={"degree": [-1, 1, 2]}, bias_correction=True, rng=0)
    assert len(found.corrected.names) == 2
    alone = select_model(polynomial, x, y, MSE, grid={"degree": [-1, 2]}, bias_correction=True, rng=0)
    assert alone.corrected is None


@pytest.mark.slow
def test_correction_of_classes_and_clusters() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] + rng.normal(size=120) > 0, "yes", "no")
    options = {"grid": {"C": [0.001, 1.0]}, "bias_correction": True, "rng": 0, "test": None}
    scores = select_model(LogisticRegression(), X, y, "roc_auc", pos_label="yes", groups=np.arange(120) // 2, **options)
    assert 0.5 < scores.corrected.value < 1
    labels = select_model(LogisticRegression(), X, y, "accuracy", **options)
    assert 0.5 < labels.corrected.value <= labels.corrected.apparent_value + 0.02


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"splitter": HoldOut(0.2, n_repeats=2, rng=0)}, "test each row once"),
        ({"splitter": KFold(3, n_repeats=2, rng=0)}, "test each row once"),
        ({"metric": squared, "maximize": False}, "metric must be a name"),
        ({"bias_correction": "yes"}, "bias_correction"),
    ],
)
def test_correction_refuses(options, message) -> None:
    x, y = data()
    arguments = {"metric": MSE, "grid": {"degree": [1, 2]}, "bias_correction": True, "rng": 0, **options}
    calls = []

    def counted(x, y, x_new, degree):
        calls.append(degree)
        return polynomial(x, y, x_new, degree)

    with pytest.raises(ValueError, match=message):
        select_model(counted, x, y, **arguments)
    assert not calls
