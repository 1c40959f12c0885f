"""Drawn training sets, and the bias and variance of learners fitted to them."""

import json
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals.measure.bias_variance.bias_variance import bias_variance
from fastevals.split.training_sets import (
    BiasVarianceCurve,
    TrainingSets,
    bias_variance_curve,
    bias_variance_over_training_sets,
)
from tests.reference import training_sets as twin
from tests.reference.training_sets import bias_variance_of_sets, closed_form
from tests.strategies import BOUNDED
from tests.test_validation import ODD_ARRAYS, ODD_SCALARS, complaint

X, X_TEST = np.linspace(-1, 1, 30), np.linspace(-0.95, 0.95, 13)
Y, Y_TEST = np.sin(3 * X) + np.random.default_rng(1).normal(scale=0.3, size=30), np.sin(3 * X_TEST)
DATA = X, Y, X_TEST, Y_TEST


def polynomial(x, y, x_new, degree=1):
    return np.polynomial.Polynomial.fit(x, y, degree, domain=[-1, 1])(x_new)


def nearest(x, y, x_new):
    return y[np.abs(x[:, np.newaxis] - x_new).argmin(axis=0)]


def sets_of(n, *, groups=None, replace=True, rng=0):
    return TrainingSets.build(range(n), None, groups, 2, replace, rng)


def numbers(found):
    return {"expected_loss": found.expected_loss, **found.parts()}


# Draws ------------------------------------------------------------------------------------------------------------


@BOUNDED
@given(st.integers(2, 40), st.booleans(), st.integers(0, 2**64 - 1), st.integers(0, 5), st.data())
def test_rows_of_a_set(n, replace, seed, number, data):
    sets = sets_of(n, replace=replace, rng=seed)
    size = data.draw(st.integers(1, 2 * n if replace else n))
    rows = sets.rows(number, size)
    assert rows.dtype == np.intp
    assert rows.shape == (size,)
    assert (np.diff(rows) >= (0 if replace else 1)).all()
    assert 0 <= rows.min() <= rows.max() < n
    smaller = sets.rows(number, data.draw(st.integers(1, size)))
    assert (np.bincount(smaller, minlength=n) <= np.bincount(rows, minlength=n)).all()
    again = pickle.loads(pickle.dumps(sets)).rows(number, size)
    expected = twin.rows_of_set(int(sets.key), number, n, size, replace)
    assert again.tolist() == rows.tolist() == expected


@pytest.mark.parametrize("replace", [False, True])
def test_every_row_is_drawn_as_often(replace):
    """Chi-squared of 20 cells, 19 degrees of freedom: P(> 50) = 1.3e-4, and smaller without replacement."""
    sets = sets_of(20, replace=replace)
    times = np.bincount(np.concatenate([sets.rows(k, 5) for k in range(2000)]), minlength=20)
    assert ((times - 500) ** 2 / 500).sum() < 50
    assert len({tuple(sets.rows(k, 5)) for k in range(2000)}) > 1800


def test_groups_are_drawn_whole():
    groups = np.array(["b", "a", "b", "c", "a", "b"])
    sets = sets_of(6, groups=groups)
    assert sets.size("train_size", None) == 3
    for k in range(20):
        times = np.bincount(sets.rows(k, 3), minlength=6)
        drawn = {group: set(times[groups == group].tolist()) for group in "abc"}
        assert all(len(each) == 1 for each in drawn.values())
        assert sum(each.pop() for each in drawn.values()) == 3


# One decomposition ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "size", "replace"),
    [({}, 30, True), ({"train_size": 0.5, "replace": False}, 15, False), ({"train_size": 40}, 40, True)],
)
def test_it_is_the_decomposition_of_all_predictions(options, size, replace):
    sets = sets_of(30, replace=replace, rng=7)
    rows = [sets.rows(k, size) for k in range(25)]
    weight, observed = np.arange(13.0), Y_TEST + 0.1
    for more in ({}, {"sample_weight": weight, "y_observed": observed}):
        found = bias_variance_over_training_sets(polynomial, *DATA, n_sets=25, rng=7, **options, **more)
        expected = bias_variance_of_sets(polynomial, *DATA, rows, **more)
        assert numbers(found) == pytest.approx(numbers(expected), rel=1e-12)
        assert found.n_models == 25


def test_observed_labels_of_each_set():
    observed = Y_TEST + np.random.default_rng(0).normal(size=(25, 13))
    found = bias_variance_over_training_sets(polynomial, *DATA, n_sets=25, rng=7, y_observed=observed, per_sample=True)
    rows = [sets_of(30, rng=7).rows(k, 30) for k in range(25)]
    expected = bias_variance_of_sets(polynomial, *DATA, rows, y_observed=observed, per_sample=True)
    assert numbers(found) == pytest.approx(numbers(expected), rel=1e-12)
    np.testing.assert_allclose(found.per_sample.noise, expected.per_sample.noise, rtol=1e-12)


@pytest.mark.parametrize("decomposition", ["domingos", "kohavi-wolpert", "james"])
@pytest.mark.parametrize("text", [False, True])
def test_zero_one_loss_with_classes_that_only_training_rows_have(decomposition, text):
    rng = np.random.default_rng(3)
    classes, truth = rng.integers(0, 4, 30), rng.integers(0, 3, 13)
    if text:
        classes, truth = (np.array(["ape", "bat", "cat", "dog"])[each] for each in (classes, truth))
    options = {"loss": "zero_one", "decomposition": decomposition}
    found = bias_variance_over_training_sets(nearest, X, classes, X_TEST, truth, n_sets=30, rng=2, **options)
    rows = [sets_of(30, rng=2).rows(k, 30) for k in range(30)]
    options["labels"] = np.unique(classes)
    assert numbers(found) == numbers(bias_variance_of_sets(nearest, X, classes, X_TEST, truth, rows, **options))


def test_an_estimator_and_frames():
    tree, pd = pytest.importorskip("sklearn.tree"), pytest.importorskip("pandas")
    learner, shallow = (tree.DecisionTreeClassifier(random_state=0, max_depth=depth) for depth in (None, 1))
    X_frame, X_new, classes = pd.DataFrame({"x": X}), pd.DataFrame({"x": X_TEST}), pd.Series(Y > 0)
    found = bias_variance_over_training_sets(
        learner, X_frame, classes, X_new, Y_TEST > 0, n_sets=20, rng=0, loss="zero_one", params={"max_depth": 1}
    )
    sets = sets_of(30)
    predictions = [
        shallow.fit(X_frame.iloc[rows], classes.iloc[rows]).predict(X_new)
        for rows in (sets.rows(k, 30) for k in range(20))
    ]
    assert numbers(found) == numbers(bias_variance(Y_TEST > 0, np.array(predictions), loss="zero_one"))
    assert not hasattr(learner, "tree_")
    assert learner.max_depth is None


def test_workers_give_the_same_bits():
    joblib = pytest.importorskip("joblib")
    with joblib.parallel_config(backend="threading"):
        shared = bias_variance_over_training_sets(polynomial, *DATA, n_sets=20, rng=0, n_jobs=2)
    assert numbers(shared) == numbers(bias_variance_over_training_sets(polynomial, *DATA, n_sets=20, rng=0))


@pytest.mark.slow
def test_processes_give_the_same_bits():
    pytest.importorskip("joblib")
    shared = bias_variance_over_training_sets(nearest, *DATA, n_sets=20, rng=0, n_jobs=2)
    assert numbers(shared) == numbers(bias_variance_over_training_sets(nearest, *DATA, n_sets=20, rng=0))


def test_bias_and_variance_of_least_squares_are_those_of_the_closed_form():
    """Fit lines to a known parabola with new noise in each of 1000 training sets: within five standard errors.

    Each training set is one drawn group of ten rows.
    """
    rng, n_sets, sigma = np.random.default_rng(5), 1000, 0.5
    x = np.linspace(-1, 1, 10)
    design, test = np.vander(x, 2), np.vander(X_TEST, 2)
    bias_squared, variance = closed_form(design, test, x**2, X_TEST**2, sigma)
    all_x, all_y = np.tile(x, n_sets), np.tile(x**2, n_sets) + rng.normal(scale=sigma, size=10 * n_sets)
    found = bias_variance_over_training_sets(
        polynomial, all_x, all_y, X_TEST, X_TEST**2, n_sets=n_sets, train_size=1, groups=np.repeat(range(n_sets), 10),
        rng=0, per_sample=True,
    )  # fmt: skip
    error = variance * np.sqrt(2 / n_sets) * np.sqrt(2)  # groups drawn twice count as half as many
    assert (np.abs(found.per_sample.variance - variance) < 5 * error).all()
    bias = np.sqrt(bias_squared)
    error = np.sqrt(2 * variance / n_sets)
    assert (np.abs(np.sqrt(found.per_sample.bias_squared) - bias) < 5 * error + 5 * error**2 / (bias + error)).all()
    assert found.expected_loss == pytest.approx(found.bias_squared + found.variance, rel=1e-12)


# Curves -----------------------------------------------------------------------------------------------------------


def test_a_curve_over_a_parameter_has_the_same_sets_for_each_value():
    options = {"n_sets": 30, "rng": 4}
    curve = bias_variance_curve(polynomial, *DATA, parameter="degree", values=np.array([1, 3, 9]), **options)
    assert isinstance(curve, BiasVarianceCurve)
    assert (curve.parameter, curve.values, curve.best()) == ("degree", (1, 3, 9), 3)
    for value, found in zip(curve.values, curve.results, strict=True):
        alone = bias_variance_over_training_sets(polynomial, *DATA, params={"degree": value}, **options)
        assert numbers(found) == numbers(alone)
    parts = curve.parts()
    assert list(parts) == ["bias_squared", "variance"]
    np.testing.assert_allclose(sum(parts.values()), curve.expected_loss, rtol=1e-12)
    assert parts["variance"][2] > 10 * parts["variance"][1]
    assert parts["bias_squared"][0] > 2 * parts["bias_squared"][1]
    assert curve.fits == ("underfits", "best", "overfits")


def test_a_curve_over_training_sizes():
    curve = bias_variance_curve(polynomial, *DATA, train_sizes=[0.9, 0.2, 0.5], replace=False, n_sets=40, rng=0)
    assert (curve.parameter, curve.values, curve.over) == (None, (6, 15, 27), "training size")
    assert (np.diff(curve.parts()["variance"]) < 0).all()
    for size, found in zip(curve.values, curve.results, strict=True):
        alone = bias_variance_over_training_sets(polynomial, *DATA, train_size=size, replace=False, n_sets=40, rng=0)
        assert numbers(found) == numbers(alone)


@pytest.mark.parametrize(("size", "units"), [(1.0, 30), (40, 40), (0.07, 2), (0.01, 1)])
def test_one_size_and_several_are_read_alike(size, units):
    assert sets_of(30).size("train_size", size) == units
    curve = bias_variance_curve(polynomial, *DATA, train_sizes=[size], n_sets=2, rng=0, params={"degree": 0})
    assert curve.values == (units,)


def test_text_and_dict_of_a_curve():
    curve = bias_variance_curve(polynomial, *DATA, parameter="degree", values=[1, 3], n_sets=5, rng=0)
    first, *rows = curve.table().splitlines()
    assert first.split() == ["degree", "expected", "loss", "bias", "squared", "variance"]
    assert [row.split()[0] for row in rows] == ["1", "3"]
    assert [row.endswith("least") for row in rows] == [False, True]
    best = f"best=3: {curve.expected_loss[1]:.4g}"
    assert repr(curve) == f"BiasVarianceCurve(bias_squared, variance over 2 values of degree, {best})"
    rounded = BiasVarianceCurve("alpha", (0.1 + 0.2, 1.0), curve.results)
    assert rounded.table().splitlines()[1].split()[0] == "0.3"
    told = json.loads(json.dumps(curve.to_dict()))
    assert told["values"] == [1, 3]
    assert [each["variance"] for each in told["results"]] == curve.parts()["variance"].tolist()
    again = pickle.loads(pickle.dumps(curve))
    assert again.expected_loss.tolist() == curve.expected_loss.tolist()


def test_small_losses_have_digits():
    small = bias_variance_curve(
        polynomial, X, 1e-3 * Y, X_TEST, 1e-3 * Y_TEST, parameter="degree", values=[1, 3], n_sets=5, rng=0
    )
    rows = [row.split()[1:4] for row in small.table().splitlines()[1:]]
    largest = small.expected_loss.max()
    assert float(rows[0][0]) == pytest.approx(largest, rel=5e-4)
    np.testing.assert_allclose(np.array(rows, dtype=float)[:, 0], small.expected_loss, rtol=0, atol=5e-4 * largest)


def test_a_bar_is_shown(capsys):
    pytest.importorskip("tqdm")
    bias_variance_curve(polynomial, *DATA, parameter="degree", values=[1, 2], n_sets=5, rng=0, progress=True)
    assert "10/10" in capsys.readouterr().err


# Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_sets": 1}, "n_sets must be an integer from 2 to 1000000, got 1"),
        ({"fit_predict": 3}, "fit_predict must be a function"),
        ({"X": X[:9]}, "y has 30 rows, but X has 9"),
        ({"y_test": Y}, "y_test has 30 rows, but X_test has 13"),
        ({"y_test": np.full(13, np.nan)}, "y_test must be finite, but has 13 NaN values, the first at row 0"),
        ({"groups": [1, 2]}, "groups has 2 rows, but X has 30"),
        ({"train_size": 1.5}, "train_size must be a share in (0, 1] or a number of rows, got 1.5"),
        ({"train_size": 0}, "train_size must be an integer at least 1, got 0"),
        ({"replace": False}, "replace=False needs train_size below the number of rows, 30"),
        ({"replace": False, "groups": X > 0, "train_size": 2}, "below the number of groups, 2, or all"),
        ({"replace": False, "train_size": 1.0}, "replace=False needs train_size below the number of rows, 30"),
        ({"replace": 1}, "replace must be"),
        ({"loss": "absolute"}, "loss must be one of 'squared', 'zero_one'; got 'absolute'"),
        ({"y_observed": np.zeros((3, 13))}, "y_observed must have a row for each training set, 5, or be 1-D"),
        ({"y_observed": np.zeros((5, 4))}, "y_observed"),
        ({"sample_weight": -np.ones(13)}, "sample_weight must not be negative"),
        ({"rng": -1}, "rng must be None, an integer"),
        ({"fit_predict": lambda x, y, new: new[:2]}, "fit_predict must give one prediction for each of the 13 rows"),
        ({"loss": "zero_one"}, "y_test must hold class labels"),
        ({"groups": np.zeros(30)}, "drawing different training sets needs 2 groups or more, got 1"),
        ({"X": [1.0], "y": [1.0]}, "drawing different training sets needs 2 rows or more, got 1"),
        ({"progress": "x"}, "progress must be True or False, got 'x'"),
        (
            {"loss": "zero_one", "y": X > 0, "y_test": X_TEST > 0, "y_observed": [5] * 13},
            "y_observed has the label 5 at row 0, which is not among the classes: False, True; labels= can name more",
        ),
    ],
)
def test_errors(changed, message):
    given = dict(zip(("X", "y", "X_test", "y_test"), DATA, strict=True)) | {"fit_predict": polynomial, "n_sets": 5}
    with pytest.raises(ValueError, match=re.escape(message)):
        bias_variance_over_training_sets(**(given | changed))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, "either parameter and values or train_sizes must be given, got neither"),
        ({"parameter": "degree"}, "parameter and values go together"),
        ({"parameter": "degree", "values": [1], "train_sizes": [5]}, "train_sizes must be given, got both"),
        ({"train_sizes": [5], "train_size": 5}, "train_size goes with parameter and values"),
        ({"parameter": 3, "values": [1]}, "parameter must be the name of a parameter, got 3"),
        ({"parameter": "degree", "values": []}, "values is empty"),
        (
            {"parameter": "degree", "values": [1], "params": {"degree": 3}},
            "params must not have 'degree', as it is the parameter that varies; got 3",
        ),
        ({"train_sizes": [0]}, "train_sizes must be an integer at least 1, got 0"),
        ({"train_sizes": [0.5, 15]}, "train_sizes must all be shares (floats) or all counts (integers)"),
        ({"train_sizes": [0.1, 0.11], "groups": X > 0}, "train_sizes must give different numbers; out of 2 groups"),
        ({"train_sizes": [10, 30], "replace": False}, "replace=False needs train_sizes below the number of rows, 30"),
    ],
)
def test_errors_of_curves(changed, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        bias_variance_curve(polynomial, *DATA, **changed)


def mean(X_train, y_train, X_new, **params):
    return np.full(13, np.mean(y_train))


OPTIONS = ("n_sets", "train_size", "replace", "loss", "decomposition", "per_sample", "rng", "parameter")


@pytest.mark.parametrize("option", OPTIONS)
def test_odd_options_work_or_raise_one_clear_line(option):
    call = bias_variance_curve if option == "parameter" else bias_variance_over_training_sets
    more = {"n_sets": 3, "rng": 0} | ({"values": [1, 2]} if option == "parameter" else {})
    found = {
        name: complaint(lambda value: call(mean, *DATA, **{**more, option: value}), value)
        for name, value in ODD_SCALARS.items()
    }
    assert {name: text for name, text in found.items() if text} == {}


@pytest.mark.parametrize(
    "argument", ["y_test", "groups", "y_observed", "sample_weight", "labels", "values", "train_sizes"]
)
def test_odd_arrays_work_or_raise_one_clear_line(argument):
    call, more = bias_variance_over_training_sets, {"n_sets": 3, "rng": 0}
    if argument in ("values", "train_sizes"):
        call = bias_variance_curve
        more |= {"parameter": "degree"} if argument == "values" else {}
    given = dict(zip(("X", "y", "X_test", "y_test"), DATA, strict=True))
    found = {
        name: complaint(lambda value: call(mean, **{**given, **more, argument: value}), value)
        for name, value in ODD_ARRAYS.items()
    }
    assert {name: text for name, text in found.items() if text} == {}


def test_a_fit_that_raises_says_which():
    def fails(x, y, x_new, degree):
        if degree == 2:
            raise RuntimeError("no convergence")
        return polynomial(x, y, x_new)

    with pytest.raises(RuntimeError, match="no convergence") as caught:
        bias_variance_curve(fails, *DATA, parameter="degree", values=[1, 2], n_sets=3, rng=0)
    assert caught.value.__notes__ == ["in the fit of training set 0, degree=2"]


def test_a_prediction_that_is_nan_says_which():
    seen = []

    def sometimes(x, y, x_new):
        seen.append(1)
        return np.where(np.arange(13) == 4, np.nan if len(seen) == 3 else 0.0, x_new)

    with pytest.raises(ValueError, match=re.escape("1 NaN value, the first at row 4")) as caught:
        bias_variance_over_training_sets(sometimes, *DATA, n_sets=5, rng=0)
    assert caught.value.__notes__ == ["in the predictions of X_test by the learner fitted to training set 2"]


def test_inputs_are_not_changed():
    given = [each.copy() for each in DATA]
    bias_variance_over_training_sets(polynomial, *given, n_sets=3, rng=0)
    for each, before in zip(given, DATA, strict=True):
        assert each.tolist() == before.tolist()
