"""Training and test error over a parameter and training sizes, against twins, scikit-learn and the Auto data."""

import json
import math
import pickle
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold as TheirKFold
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.model_selection import learning_curve as their_learning_curve
from sklearn.model_selection import validation_curve as their_validation_curve
from sklearn.tree import DecisionTreeClassifier

from fastevals import UndefinedMetricWarning, corrected_resampled_t_test
from fastevals.datasets import load_auto
from fastevals.split.error_curves import learning_curve, validation_curve
from fastevals.split.splitters.hold_out import HoldOut
from fastevals.split.splitters.k_fold import KFold
from tests.reference import selection as twin
from tests.split.test_selection import MSE, Twice, data, polynomial, squared
from tests.strategies import BOUNDED
from tests.test_validation import ODD_ARRAYS, ODD_SCALARS, complaint


def auto():
    cars = load_auto()
    power = cars["horsepower"]
    return (power - power.mean()) / power.std(), cars["mpg"]


@cache
def auto_curve():
    return validation_curve(polynomial, *auto(), KFold(10, rng=1), MSE, parameter="degree", values=range(1, 13))


def mean(X, y, X_new):
    return np.full(len(X_new), y.mean())


def any_value(X, y, X_new, **parameters):
    return np.zeros(len(X_new))


@given(st.integers(0, 10_000), st.lists(st.integers(0, 5), min_size=1, unique=True), st.integers(2, 5))
@BOUNDED
def test_twin(seed, degrees, k):
    x, y = data(30, seed)
    splitter = KFold(k, rng=seed)
    found = validation_curve(polynomial, x, y, splitter, MSE, parameter="degree", values=degrees)
    training, test = twin.curve(polynomial, x, y, list(splitter.split(x)), squared, "degree", degrees)
    assert_allclose(found.training.per_split[:, 0], training)
    assert_allclose(found.test.per_split[:, 0], test)
    assert_allclose(found.gap, test.mean(axis=1) - training.mean(axis=1), atol=1e-12)
    assert_allclose(found.test.standard_deviation, test.std(axis=1, ddof=1))
    assert found.best() == degrees[np.argmin(test.mean(axis=1))]
    assert np.isnan(found.training.low).all()
    assert (found.test.low <= found.test.values).all()
    assert (found.test.values <= found.test.high).all()


@pytest.mark.cases(1)
@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_scikit_learn(metric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    depths, tree = [1, 2, 5, 20], DecisionTreeClassifier(random_state=0)
    cv = StratifiedKFold(4)
    training, test = their_validation_curve(
        tree, X, y, param_name="max_depth", param_range=depths, cv=cv, scoring=metric
    )
    found = validation_curve(tree, X, y, cv, metric, parameter="max_depth", values=depths)
    assert_allclose(found.training.per_split[:, 0], training)
    assert_allclose(found.test.per_split[:, 0], test)
    assert found.maximize
    assert found.best() == depths[np.argmax(test.mean(axis=1))]
    assert found.training.values[-1] == 1  # a full tree memorises its training rows
    assert found.fits == fits_by_test(found)

    model = LogisticRegression()
    _, training, test = their_learning_curve(model, X, y, train_sizes=[90], cv=cv, scoring=metric)
    found = learning_curve(model, X, y, cv, metric, train_sizes=[10, 90], rng=0)
    assert_allclose(found.test.per_split[1, 0], test[0])
    assert_allclose(found.training.per_split[1, 0], training[0])


def test_auto_shows_the_chapters_picture():
    x, y = auto()
    found = auto_curve()
    assert (np.diff(found.training.values) < 0).all()  # keeps falling
    best = found.values.index(found.best())
    assert 1 < found.best() < 12
    assert found.test.values[-1] > found.test.values[best]  # the test error turns up
    assert (found.gap > 0).all()
    assert found.gap[-1] > 2 * found.gap[0]
    assert found.fits == ("underfits", *[""] * (best - 1), "best", *[""] * (11 - best))  # degree 2 is as good as any
    assert found.fits == fits_by_test(found)

    # With few rows the turn is steeper.
    few = validation_curve(polynomial, x[::8], y[::8], KFold(10, rng=1), MSE, parameter="degree", values=range(1, 9))
    assert few.best() <= 3
    assert few.test.values[-1] > 10 * few.test.values.min()

    sizes = learning_curve(polynomial, x, y, KFold(10, rng=1), MSE, params={"degree": 5}, rng=0)
    assert sizes.gap[-1] < sizes.gap[0] / 2
    assert sizes.values[-1] == 352
    assert_array_equal(sizes.test.per_split[-1], found.test.per_split[4])  # the last size is all rows


@pytest.mark.parametrize("splitter", [KFold(3, n_repeats=2, rng=0), HoldOut(0.3, n_repeats=4, rng=0)])
def test_training_sets_are_nested_and_test_sets_the_same(splitter):
    seen = []

    def learner(X, y, X_new):
        seen.append((X.tolist(), X_new.tolist()))
        return np.zeros(len(X_new))

    rows = np.arange(50.0)
    found = learning_curve(learner, rows, rows, splitter, MSE, train_sizes=[0.2, 1.0, 0.5], rng=0)
    pairs = list(splitter.split(rows))
    n, smallest = len(pairs), min(len(train) for train, _ in pairs)
    assert found.values == (int(0.2 * smallest + 1e-9), int(0.5 * smallest + 1e-9), smallest)
    for k, (train, test) in enumerate(pairs):
        sizes = [seen[k + place * n] for place in range(3)]
        for (small, _), (large, _) in pairwise(sizes):
            assert set(small) < set(large)
            assert small == sorted(small)
        assert [len(each) for each, _ in sizes[:2]] == list(found.values[:2])
        assert sizes[2][0] == train.tolist()
        assert all(new == test.tolist() + each for each, new in sizes)
    first = seen[:n]
    for rng in (0, 1):
        seen.clear()
        learning_curve(learner, rows, rows, splitter, MSE, train_sizes=found.values[:1], rng=rng)
        assert (seen == first) == (rng == 0)


@pytest.mark.parametrize(
    "splitter",
    [
        KFold(4, stratified=True, rng=0),
        StratifiedKFold(4),
        RepeatedStratifiedKFold(n_splits=4, n_repeats=1, random_state=0),
    ],
)
def test_subsets_are_stratified_where_the_splitter_is(splitter):
    counts = []

    def learner(X, y, X_new):
        counts.append([np.count_nonzero(y == each) for each in "abc"])
        return np.full(len(X_new), "a")

    y = np.array(list("a" * 60 + "b" * 30 + "c" * 10))
    found = learning_curve(learner, y, y, splitter, "error_rate", train_sizes=[10, 31, 74], rng=0)
    for k, size in enumerate(found.values):
        for each in counts[4 * k : 4 * k + 4]:
            assert sum(each) == size
            assert_allclose(each, size * np.array([0.6, 0.3, 0.1]), atol=1.5)


def fits_by_test(curve):
    """Return each value's verdict by the corrected resampled t-test, with 1 / (k - 1) test rows per training row."""
    best, sign = curve.values.index(curve.best()), 1 if curve.maximize else -1
    sizes = {"n_train": curve.test.per_split[0].size - 1, "n_test": 1}
    test, training = curve.test.per_split[:, 0], sign * curve.training.values
    words = ["best" if k == best else "" for k in range(len(curve.values))]
    for k in set(range(len(words))) - {best}:
        if corrected_resampled_t_test(test[k], test[best], **sizes).rejected:
            words[k] = "overfits" if training[k] > training[best] else "underfits"
    return tuple(words)


def test_only_what_is_worse_beyond_noise_fits_badly():
    x, y = data(200)

    def nearest(x, y, x_new, k):
        return np.array([y[np.argsort(abs(x - each))[:k]].mean() for each in x_new])

    found = validation_curve(nearest, x, y, KFold(10, rng=0), MSE, parameter="k", values=[1, 11, 12, 180])
    assert found.fits == fits_by_test(found)
    assert (found.fits[0], found.fits[-1]) == ("overfits", "underfits")
    assert sorted(found.fits[1:3]) == ["", "best"]  # chance decides which has the larger mean
    assert replace(found, confidence_level=1 - 1e-12).fits == tuple(w if w == "best" else "" for w in found.fits)
    alone = validation_curve(nearest, x, y, HoldOut(0.3, rng=0), MSE, parameter="k", values=[1, 140])
    assert sorted(alone.fits) == ["", "best"]  # one split cannot show the noise


def within_one_standard_error(curve):
    """Return which values are within one standard error of the best, for the folds of one cross-validation."""
    best, folds = curve.values.index(curve.best()), curve.test.per_split[:, 0]
    k = folds.shape[1]
    error = np.std(folds[best], ddof=1) * math.sqrt(1 / k + 1 / (k - 1))
    return [bool(abs(each.mean() - folds[best].mean()) <= error) for each in folds]


@pytest.mark.cases(3)
@pytest.mark.parametrize("values", [[1, 11, 12, 180], [180, 12, 1, 11], [5]])
@pytest.mark.parametrize("metric", [MSE, "r2"])
def test_the_simplest_value_within_one_standard_error(metric, values):
    x, y = data(200)

    def nearest(x, y, x_new, k):
        return np.array([y[np.argsort(abs(x - each))[:k]].mean() for each in x_new])

    found = validation_curve(nearest, x, y, KFold(10, rng=0), metric, parameter="k", values=values)
    within = within_one_standard_error(found)
    frame = found.to_frame()
    assert frame["within_one_standard_error"].tolist() == within
    assert found.one_standard_error() == values[within.index(True)]
    assert found.one_standard_error(simplest="last") == values[len(values) - 1 - within[::-1].index(True)]
    best, folds = values.index(found.best()), found.test.per_split[:, 0]
    for k, row in enumerate(frame.itertuples()):
        test = corrected_resampled_t_test(folds[k], folds[best], n_train=9, n_test=1)
        if k != best:
            assert_allclose((row.difference_low, row.difference_high), test.confidence_interval, rtol=1e-9)
            assert_allclose(row.difference, test.effect, rtol=1e-9)
    assert frame["difference"][best] == 0


def test_one_standard_error_of_a_learning_curve_is_of_the_best_size():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    y = x**2 + rng.normal(size=80) * 0.5
    curve = learning_curve(polynomial, x, y, KFold(5, rng=0), MSE, train_sizes=[5, 20, 64], params={"degree": 2}, rng=0)
    folds = curve.test.per_split[:, 0]
    means, error = folds.mean(axis=1), np.std(folds[2], ddof=1) * math.sqrt(1 / 5 + 16 / 64)
    assert curve.best() == 64
    assert curve.one_standard_error() == curve.values[int(np.argmax(means <= means[2] + error))]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_infinite_errors_have_no_gap():
    x, y = np.arange(20) % 3, np.arange(20) % 2
    curve = validation_curve(
        lambda x, y, x_new, p: np.full(len(x_new), p),
        x,
        y,
        KFold(4, rng=0),
        "log_loss",
        parameter="p",
        values=[0.0, 1.0],
    )
    assert np.isnan(curve.gap).all()


def test_one_standard_error_needs_several_splits_and_a_direction():
    x, y = data(40)
    alone = validation_curve(polynomial, x, y, HoldOut(0.3, rng=0), MSE, parameter="degree", values=[1, 2])
    with pytest.raises(ValueError, match=r"needs several splits in which the mean_squared_error .* finite, got 1"):
        alone.one_standard_error()
    assert alone.to_frame()["within_one_standard_error"].tolist() == [False, False]
    unknown = validation_curve(
        polynomial, x, y, KFold(4, rng=0), lambda a, b: a[0] - b[0], parameter="degree", values=[1, 2]
    )
    with pytest.raises(ValueError, match="maximize"):
        unknown.one_standard_error()
    assert "difference" not in unknown.to_frame()
    with pytest.raises(ValueError, match="simplest must be one of 'first', 'last'; got 'least'"):
        alone.one_standard_error(simplest="least")


def test_training_sets_may_have_rows_more_than_once():
    x, y = data(40)
    found = learning_curve(mean, x, y, Twice(), MSE, train_sizes=[0.5, 1.0], rng=0)
    assert found.values == (20, 40)
    assert_allclose(found.test.values[1], squared(y[20:], y[:20].mean()))


def test_failures_are_reported():
    x, y = data()
    found = validation_curve(polynomial, x, y, KFold(3, rng=0), MSE, parameter="degree", values=[1, -1, 2])
    assert found.failures == {1: "ArithmeticError: no polynomial of degree -1 (repetition 0, fold 0)"}
    assert np.isnan([found.test.values[1], found.training.values[1], found.gap[1]]).all()
    assert found.fits[1] == ""
    assert found.best() == 2
    lines = found.table().splitlines()
    assert lines[3].split() == ["-1", "-", "-", "-", "-", "-", "failed"]
    assert lines[-1] == "degree=-1: ArithmeticError: no polynomial of degree -1 (repetition 0, fold 0)"
    with pytest.raises(ArithmeticError, match="no polynomial") as caught:
        validation_curve(polynomial, x, y, KFold(3, rng=0), MSE, parameter="degree", values=[-1])
    assert caught.value.__notes__ == ["in the fit of fit_predict(degree=-1), repetition 0, fold 0"]


def test_functions_have_a_direction_only_if_given():
    x, y = data()
    options = {"parameter": "degree", "values": [0, 2]}
    found = validation_curve(polynomial, x, y, KFold(3, rng=0), squared, **options)
    assert found.fits == ("", "")
    assert re.fullmatch(r"ErrorCurve\(squared over 2 values of degree, .* at 0 to .* at 2\)", repr(found))
    with pytest.raises(ValueError, match="maximize must be given"):
        found.best()
    assert validation_curve(polynomial, x, y, KFold(3, rng=0), squared, **options, maximize=False).best() == 2


def test_undefined_metrics():
    x = np.arange(9.0)
    with pytest.warns(UndefinedMetricWarning):
        found = validation_curve(any_value, x, np.ones(9), KFold(3, rng=0), "r2", parameter="a", values=[1, 2])
    assert found.fits == ("", "")
    with pytest.raises(ValueError, match=r"r2 is undefined \(NaN\) for all 2 values"):
        found.best()


def test_table_and_results():
    x, y = data()
    found = validation_curve(polynomial, x, y, KFold(5, rng=0), MSE, parameter="degree", values=[0, 2, 9])
    lines = found.table().splitlines()
    assert lines[0] == "mean_squared_error on training and test rows over degree, means of 5 splits"
    assert lines[1].split() == ["degree", "training", "sd", "test", "sd", "gap"]
    assert [line.split()[0] for line in lines[2:]] == ["0", "2", "9"]
    assert [line.split()[6:] for line in lines[2:]] == [["underfits"], ["best"], []]
    assert lines[2].split()[1] == f"{found.training.values[0]:.4f}"
    value, low, high = found.test.values[1], found.test.low[1], found.test.high[1]
    best = f"best=2: {value:.4g} [{low:.4g}, {high:.4g}]"
    assert repr(found) == f"ErrorCurve(mean_squared_error over 3 values of degree, {best})"
    written = found.to_dict()
    assert written["gap"] == found.gap.tolist()
    assert written["test"]["values"] == found.test.values.tolist()
    assert not any(map(math.isnan, written["test"]["low"]))
    json.dumps(written)
    shapes = [np.ones(2), DecisionTreeClassifier()]
    odd = validation_curve(any_value, x, y, KFold(3), MSE, parameter="a", values=shapes)
    assert json.loads(json.dumps(odd.to_dict()))["values"] == [[1, 1], "DecisionTreeClassifier()"]
    small = validation_curve(polynomial, x, y / 1000, KFold(3), MSE, parameter="degree", values=[1])
    assert small.table().splitlines()[2].split()[1] == f"{small.training.values[0]:.3e}"
    assert pickle.loads(pickle.dumps(found)).table() == found.table()
    sizes = learning_curve(mean, x, y, KFold(5, rng=0), MSE, train_sizes=[2, 48])
    assert sizes.table().splitlines()[1].split()[:2] == ["training", "rows"]


@pytest.mark.parametrize("odd", [ODD_ARRAYS, ODD_SCALARS], ids=["arrays", "scalars"])
def test_odd_input_works_or_raises_one_clear_line(odd):
    x, y = data(20)
    calls = {
        "y": lambda value: validation_curve(mean, x, value, KFold(3), MSE, parameter="degree", values=[1]),
        "values": lambda value: validation_curve(any_value, x, y, KFold(3), MSE, parameter="value", values=value),
        "parameter": lambda value: validation_curve(any_value, x, y, KFold(3), MSE, parameter=value, values=[1]),
        "train_sizes": lambda value: learning_curve(mean, x, y, KFold(3), MSE, train_sizes=value),
        "rng": lambda value: learning_curve(mean, x, y, KFold(3), MSE, train_sizes=[10], rng=value),
    }
    found = {(name, kind): complaint(call, value) for name, call in calls.items() for kind, value in odd.items()}
    assert {place: text for place, text in found.items() if text} == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parameter": 3}, "parameter must be the name of a parameter, got 3"),
        ({"values": []}, "values is empty"),
        ({"values": "abc"}, "values must be a list of values, got 'abc'"),
        ({"splitter": 3}, "splitter must be a splitter"),
        ({"fit_predict": {"a": polynomial}}, "fit_predict must be a function"),
        ({"metric": "squared"}, "metric must be one of"),
        ({"params": {"degree": 3}}, "params must not have 'degree', as it is the parameter that varies; got 3"),
    ],
)
def test_bad_input_of_validation_curve(options, message):
    x, y = data()
    given = {
        "fit_predict": polynomial,
        "splitter": KFold(3),
        "metric": MSE,
        "parameter": "degree",
        "values": [1],
        **options,
    }
    learner, splitter, metric = (given.pop(name) for name in ("fit_predict", "splitter", "metric"))
    with pytest.raises(ValueError, match=message):
        validation_curve(learner, x, y, splitter, metric, **given)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([], "train_sizes is empty"),
        (0.5, "train_sizes must be a list of values, got 0.5"),
        ([0.0], r"train_sizes must be a share in \(0, 1\] or a number of rows, got 0.0"),
        ([1.2], r"train_sizes must be a share in \(0, 1\] or a number of rows, got 1.2"),
        ([41], "train_sizes must be an integer from 1 to 40, got 41"),
        ([0], "train_sizes must be an integer from 1 to 40, got 0"),
        ([0.5, 40], r"train_sizes must all be shares \(floats\) or all counts \(integers\), got \[0.5, 40\]"),
        ([0.5, 0.51], "train_sizes must give different numbers; out of 40 training rows they give 20, 20"),
        (["a"], r"train_sizes must be a share in \(0, 1\] or a number of rows, got 'a'"),
        ([float("nan")], r"train_sizes must be a share in \(0, 1\] or a number of rows, got nan"),
    ],
)
def test_bad_training_sizes(sizes, message):
    x, y = data()
    with pytest.raises(ValueError, match=message):
        learning_curve(mean, x, y, TheirKFold(3), MSE, train_sizes=sizes)
