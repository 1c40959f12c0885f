"""Fixed predictions over many splits."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import ShuffleSplit

from fastevals import MetricSpec, UndefinedMetricWarning, metric, num_threads
from fastevals.datasets import load_auto
from fastevals.split.estimates import score_metrics, split_metrics
from fastevals.split.estimates.fixed_predictions import evaluate_splits
from fastevals.split.splitters.bootstrap_split import BootstrapSplit
from fastevals.split.splitters.hold_out import HoldOut
from fastevals.split.splitters.k_fold import KFold
from fastevals.split.splitters.leave_out import LeaveOneOut, LeavePOut
from tests.reference import estimates as twin
from tests.strategies import FEWER

SPLITTERS = [
    HoldOut(0.3, n_repeats=7, rng=1),
    HoldOut(0.3, validation_size=0.3, n_repeats=3, rng=2),
    KFold(3, n_repeats=4, rng=3),
    LeaveOneOut(),
    LeavePOut(2),
    LeavePOut(3, n_repeats=5, rng=4),
    BootstrapSplit(6, rng=5),
]
TARGET_METRICS: dict[str, Callable[[Any, Any], float]] = {
    "mean_squared_error": twin.mean_squared_error,
    "mean_absolute_error": twin.mean_absolute_error,
    "mean_absolute_percentage_error": twin.mean_absolute_percentage_error,
    "median_absolute_error": twin.median_absolute_error,
    "r2": twin.r2,
    "pinball_loss(quantile=0.2)": partial(twin.pinball_loss, quantile=0.2),
}
ASKED = [*list(TARGET_METRICS)[:-1], metric("pinball_loss", quantile=0.2)]
same = pytest.mark.filterwarnings("ignore:the interval of .* is the same in all")


def quietly(*arguments: Any, **options: Any) -> Any:
    """Evaluate without warnings about undefined values."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return evaluate_splits(*arguments, **options)


# Against twins ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("splitter", SPLITTERS, ids=repr)
def test_targets(splitter: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(-3, 4, 12).astype(float)
    p = y + rng.normal(size=12)
    pairs = list(splitter.split(y))
    found = quietly(y, p, splitter, ASKED)
    assert list(found) == list(TARGET_METRICS)
    for name, slow in TARGET_METRICS.items():
        expected = twin.per_split(y, p, pairs, slow)
        assert_allclose(found[name].per_split.ravel(), expected, rtol=1e-12, atol=1e-14, err_msg=name)
        defined = expected[~np.isnan(expected)]
        assert found[name].n_undefined == expected.size - defined.size
        assert_allclose(found[name].value, defined.mean() if defined.size else math.nan, rtol=1e-12)
        micro = math.nan if name == "median_absolute_error" else twin.together(y, p, pairs, slow)
        assert_allclose(found[name].micro, micro, rtol=1e-12, err_msg=name)
    assert_array_equal(found.n_test.ravel(), [test.size for _, test in pairs])
    assert_array_equal(found.n_train, 12 - found.n_test)


@pytest.mark.parametrize("splitter", SPLITTERS, ids=repr)
def test_labels(splitter: Any) -> None:
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, (2, 12))
    pairs = list(splitter.split(y))
    found = quietly(y, p, splitter, ["accuracy", "recall"])
    for name, slow in {"accuracy": twin.accuracy, "recall": twin.recall}.items():
        assert_allclose(found[name].per_split.ravel(), twin.per_split(y, p, pairs, slow), rtol=1e-14)
        assert_allclose(found[name].micro, twin.together(y, p, pairs, slow), rtol=1e-14)
    assert found.matrices is not None
    assert found.matrices.counts.shape == (*found["accuracy"].per_split.shape, 2, 2)
    assert_array_equal(found.matrices.counts.sum(axis=(2, 3)), found.n_test)


def check_scores(y: Any, s: Any, splitter: Any) -> Any:
    pairs = list(splitter.split(y))
    found = quietly(y, s, splitter, ["roc_auc", "brier_score", metric("recall", threshold=0.5)])
    at_half = np.asarray(s) >= 0.5
    slow: dict[str, tuple[Any, Any]] = {
        "roc_auc": (s, twin.roc_auc),
        "brier_score": (s, twin.brier_score),
        "recall(threshold=0.5)": (at_half, twin.recall),
    }
    for name, (predicted, function) in slow.items():
        expected = twin.per_split(y, predicted, pairs, function)
        assert_allclose(found[name].per_split.ravel(), expected, rtol=1e-12, atol=1e-15, err_msg=name)
        assert_allclose(found[name].micro, twin.together(y, predicted, pairs, function), rtol=1e-12, err_msg=name)
    return found


@pytest.mark.parametrize("few", [True, False], ids=["counted together", "one by one"])
@pytest.mark.parametrize("splitter", SPLITTERS, ids=repr)
def test_scores(splitter: Any, few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not few:
        monkeypatch.setattr(score_metrics, "FEW_CELLS", -1)
        monkeypatch.setattr(score_metrics, "PER_ROW", 0)
    rng = np.random.default_rng(2)
    check_scores(rng.integers(0, 2, 12), rng.choice([0.1, 0.4, 0.5, 0.9], 12), splitter)


@FEWER
@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=3, max_size=9), st.data()
)
def test_scores_of_any_folds(rows: list[tuple[int, float]], data: st.DataObject) -> None:
    folds = data.draw(st.permutations([k % 3 for k in range(len(rows))]))
    y, s = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    found = quietly(y, s, folds, "roc_auc", pos_label=1)
    pairs = [([], np.flatnonzero(np.array(folds) == fold)) for fold in range(3)]
    assert_allclose(found["roc_auc"].per_split[0], twin.per_split(y, s, pairs, twin.roc_auc), rtol=1e-14)


def test_out_of_fold_predictions() -> None:
    rng = np.random.default_rng(3)
    y = rng.normal(size=20)
    splitter = KFold(4, n_repeats=3, rng=1)
    p = y + rng.normal(size=(3, 20))
    found = evaluate_splits(y, p, splitter, ["mean_squared_error", "r2", "median_absolute_error"])
    codes = splitter.assignments(y)
    by_array = evaluate_splits(y, p, codes, ["mean_squared_error", "r2", "median_absolute_error"])
    for name in ("mean_squared_error", "r2", "median_absolute_error"):
        for repeat in range(3):
            pairs = [([], np.flatnonzero(codes[repeat] == fold)) for fold in range(4)]
            expected = twin.per_split(y, p[repeat], pairs, TARGET_METRICS[name])
            assert_allclose(found[name].per_split[repeat], expected, rtol=1e-12)
        assert_array_equal(found[name].per_split, by_array[name].per_split)
    assert_allclose(found["mean_squared_error"].micro, np.mean((p - y) ** 2), rtol=1e-12)
    assert_allclose(found["r2"].micro, 1 - np.mean((p - y) ** 2) / y.var(), rtol=1e-12)


def test_out_of_fold_scores_and_labels() -> None:
    rng = np.random.default_rng(4)
    y = np.arange(20) % 2
    s = rng.choice([0.1, 0.3, 0.6], (2, 20))
    splitter = KFold(2, n_repeats=2, stratified=True, rng=1)
    found = evaluate_splits(y, s, splitter, ["roc_auc", "brier_score"])
    assert_allclose(found["roc_auc"].micro, twin.roc_auc(np.tile(y, 2), s.ravel()), rtol=1e-14)
    assert_allclose(found["brier_score"].micro, np.mean((s - y) ** 2), rtol=1e-14)
    labels = evaluate_splits(y, s > 0.2, splitter, "accuracy")
    assert_allclose(labels["accuracy"].micro, np.mean((s > 0.2) == y), rtol=1e-14)


def test_a_splitter_of_scikit_learn() -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=20)
    splitter = ShuffleSplit(4, test_size=0.3, random_state=1)
    found = evaluate_splits(y, y + 1, splitter, {"n": lambda a, b: float(a.sum()), "r2": "r2"})
    pairs = list(splitter.split(y))
    assert_allclose(found["n"].per_split, twin.per_split(y, y, pairs, lambda a, _: float(a.sum()))[None], rtol=1e-12)
    assert_allclose(found["r2"].per_split, twin.per_split(y, y + 1, pairs, twin.r2)[None], rtol=1e-12)


def test_folds_in_an_array_with_a_split_of_its_own() -> None:
    class Tensor:  # like torch's
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array([0, 0, 1, 1])

        def split(self, *sizes: int) -> None:
            raise NotImplementedError

    found = evaluate_splits(Y, P, Tensor(), "accuracy")["accuracy"]
    assert found.per_split.tolist() == [[1.0, 0.5]]


def test_predictions_that_no_repetition_tests_may_be_missing() -> None:
    y = np.arange(10) % 2
    splitter = HoldOut(0.4, n_repeats=3, stratified=True, rng=1)
    tested = splitter.assignments(y, y) == 1
    s = np.where(tested, np.random.default_rng(0).random((3, 10)), np.nan)
    found = evaluate_splits(y, s, splitter, ["roc_auc", "log_loss"])
    assert_allclose(found["roc_auc"].micro, twin.roc_auc(np.tile(y, (3, 1))[tested], s[tested]), rtol=1e-14)


@same
def test_functions_are_called_with_each_test_set() -> None:
    y, p = np.array(["a", "b", "b", "a"]), np.array(["a", "a", "b", "b"])
    seen: list[tuple[list[str], list[str]]] = []

    def called(true: Any, predicted: Any) -> float:
        seen.append((true.tolist(), predicted.tolist()))
        return float(len(true))

    found = evaluate_splits(y, p, [0, 1, 1, 0], {"size": called, "right": "accuracy"})
    assert seen == [(["a", "a"], ["a", "b"]), (["b", "b"], ["a", "b"])]
    assert found["size"].per_split.tolist() == [[2, 2]]
    assert math.isnan(found["size"].micro)
    assert found["right"].per_split.tolist() == [[0.5, 0.5]]


# Invariances --------------------------------------------------------------------------------------------------------


@same
def test_same_bits_at_any_number_of_threads_and_chunk_size(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=40)
    splitter = HoldOut(0.25, n_repeats=300, rng=1)
    asked = ["mean_squared_error", "r2"]
    found = evaluate_splits(y, y + 1, splitter, asked)
    monkeypatch.setattr("fastevals.split.estimates.fixed_predictions.CODES_PER_TASK", 1000)
    with num_threads(3):
        again = evaluate_splits(y, y + 1, splitter, asked)
    for name in asked:
        assert_array_equal(found[name].per_split, again[name].per_split)
    assert found["mean_squared_error"].value == again["mean_squared_error"].value


@pytest.mark.parametrize("stacked", [100, 1500])
def test_many_classes_are_counted_in_parts(stacked: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    y, p = rng.integers(0, 5, (2, 60))
    whole = quietly(y, p, KFold(20, n_repeats=7, rng=1), ["accuracy", metric("f1", average="macro")], labels=range(5))
    monkeypatch.setattr(split_metrics, "STACKED", stacked)
    again = quietly(y, p, KFold(20, n_repeats=7, rng=1), "accuracy", labels=range(5))
    assert_array_equal(again.matrices.counts, whole.matrices.counts)
    monkeypatch.setattr(split_metrics, "MOST_KEPT", 10)
    parts = quietly(y, p, KFold(20, n_repeats=7, rng=1), ["accuracy", metric("f1", average="macro")], labels=range(5))
    assert whole.matrices is not None
    assert parts.matrices is None
    for name in whole:
        assert_array_equal(whole[name].per_split, parts[name].per_split)
        assert whole[name].micro == parts[name].micro


@pytest.mark.parametrize("convert", [list, np.float32, lambda a: a.astype(">f8"), lambda a: np.repeat(a, 2)[::2]])
@same
def test_any_kind_of_array(convert: Any) -> None:
    y, p = np.arange(8.0), np.arange(8.0)[::-1].copy()
    given_y, given_p = convert(y), convert(p)
    found = evaluate_splits(given_y, given_p, KFold(2, rng=1), ["mean_squared_error", "r2"])
    expected = evaluate_splits(y, p, KFold(2, rng=1), ["mean_squared_error", "r2"])
    assert_array_equal(found["r2"].per_split, expected["r2"].per_split)
    assert_array_equal(np.asarray(given_y), y)


def test_targets_far_from_zero_keep_their_digits() -> None:
    rng = np.random.default_rng(7)
    y, p = rng.integers(-(2**10), 2**10, size=(2, 30)) / 2.0**8  # few digits, none lost after a large shift
    near = evaluate_splits(y, p, KFold(3, rng=1), "r2")["r2"]
    far = evaluate_splits(y + 2.0**40, p + 2.0**40, KFold(3, rng=1), "r2")["r2"]
    assert_allclose(far.per_split, near.per_split, rtol=1e-13)
    assert_allclose(far.micro, near.micro, rtol=1e-13)


def test_constant_folds_have_no_r2() -> None:
    y = np.repeat([0.1, 0.7], 3)
    with pytest.warns(UndefinedMetricWarning, match="r2 is undefined in 2 of 2 splits"):
        found = evaluate_splits(y, y + 0.1, [0, 0, 0, 1, 1, 1], "r2")["r2"]
    assert np.isnan(found.per_split).all()
    assert math.isnan(found.value)
    assert found.micro == pytest.approx(1 - 0.01 / 0.09)


def test_errors_past_the_largest_float_are_infinite() -> None:
    found = evaluate_splits([1e300, 1.0], [-1e300, 1.0], [0, 1], "mean_squared_error")["mean_squared_error"]
    assert found.per_split.tolist() == [[math.inf, 0.0]]
    assert found.value == math.inf
    assert math.isnan(found.standard_deviation)
    assert math.isnan(found.confidence_interval.low)


# Intervals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_is_nadeau_and_bengios(level: float) -> None:
    rng = np.random.default_rng(8)
    y = rng.normal(size=30)
    found = evaluate_splits(
        y, y + rng.normal(size=30), HoldOut(6, n_repeats=20, rng=1), "mean_squared_error", confidence_level=level
    )["mean_squared_error"]
    assert_allclose(found.confidence_interval, twin.nadeau_bengio(found.per_split.ravel(), 6 / 24, level), rtol=1e-12)
    assert found.standard_deviation == pytest.approx(found.per_split.std(ddof=1), rel=1e-14)


def test_of_a_fixed_predictor_the_variance_tends_to_that_of_the_whole_data() -> None:
    # The variance of s^2 over 20,000 hold-outs is about 2 / 20,000 of its square: 1 % off has probability 1/3, 5 % off
    # less than 1e-6, even with some excess kurtosis.
    rng = np.random.default_rng(9)
    y = rng.normal(size=50)
    losses = rng.exponential(size=50)
    for size in (5, 25):
        found = evaluate_splits(y, y + np.sqrt(losses), HoldOut(size, n_repeats=20_000, rng=1), "mean_squared_error")[
            "mean_squared_error"
        ]
        reach = (found.confidence_interval.high - found.confidence_interval.low) / 2 / 1.96
        assert reach**2 == pytest.approx(losses.var(ddof=1) / 50, rel=0.05)


def test_an_interval_ends_where_the_metric_does() -> None:
    y = np.arange(20) % 2
    p = y.copy()
    p[0] = 1
    found = evaluate_splits(y, p, KFold(5, rng=1), ["accuracy", "error_rate"])
    assert found["accuracy"].confidence_interval.high == 1
    assert found["error_rate"].confidence_interval.low == 0


@pytest.mark.parametrize("n", [3, 6, 7])
def test_where_all_splits_agree_and_no_counts_tell_there_is_no_interval(n: int) -> None:
    with pytest.warns(UndefinedMetricWarning, match=f"the interval of mean_absolute_error .* same in all {n} splits"):
        found = evaluate_splits(np.zeros(n), np.full(n, 0.1), LeaveOneOut(), "mean_absolute_error")
    assert np.isnan(found["mean_absolute_error"].confidence_interval).all()


def test_a_single_split_has_no_interval() -> None:
    found = evaluate_splits([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], HoldOut(1, rng=1), "mean_squared_error")
    estimate = found["mean_squared_error"]
    assert all(map(math.isnan, (estimate.standard_deviation, *estimate.confidence_interval)))


# The course's exercise on cars --------------------------------------------------------------------------------------

AUTO = load_auto()


def spread_of(losses: Any, n_test: int) -> float:
    """Return the standard deviation of the mean of rows drawn without replacement."""
    return math.sqrt(losses.var(ddof=1) * (1 / n_test - 1 / losses.size))


REPEATS = 10_000
# The mean of so many is off by more than 5 / 100 of the spread with a chance of 6e-7; a relative standard error of the
# spread is sqrt((kurtosis - 1) / 4 / REPEATS), below 1 %: more than 5 % off has a chance below 1e-6.


def test_exercise_a_squared_error_of_hold_outs() -> None:
    mpg, horsepower = AUTO["mpg"], AUTO["horsepower"]
    assert mpg.size == 392
    predicted = 40 - 0.15 * horsepower
    losses = (mpg - predicted) ** 2
    found = evaluate_splits(mpg, predicted, HoldOut(0.2, n_repeats=REPEATS, rng=1), "mean_squared_error")
    n_test = int(found.n_test[0, 0])
    assert (found.n_test == n_test).all()
    estimate = found["mean_squared_error"]
    spread = spread_of(losses, n_test)
    assert abs(estimate.value - losses.mean()) < 5 * spread / math.sqrt(REPEATS)
    assert estimate.standard_deviation == pytest.approx(spread, rel=0.05)


def test_exercise_b_ten_rows_left_out() -> None:
    mpg, horsepower = AUTO["mpg"], AUTO["horsepower"]
    losses = (mpg - (40 - 0.15 * horsepower)) ** 2
    found = evaluate_splits(mpg, 40 - 0.15 * horsepower, LeavePOut(10, n_repeats=20, rng=1), "mean_squared_error")
    estimate = found["mean_squared_error"]
    assert estimate.per_split.shape == (20, 1)
    assert (found.n_test == 10).all()
    assert abs(estimate.value - losses.mean()) < 5 * spread_of(losses, 10) / math.sqrt(20)
    # The spread of 20 is within a factor of 2, except about once in 10,000; the seed is fixed.
    assert 0.5 < estimate.standard_deviation / spread_of(losses, 10) < 2


def test_exercises_c_to_e_stratified_hold_outs_vary_less() -> None:
    mpg, weight = AUTO["mpg"], AUTO["weight"]
    y = (mpg > np.quantile(mpg, 0.75)).astype(int)
    chance = 1 / (1 + np.exp(-(3.85 - 0.01 * weight)))
    losses = (y - chance) ** 2
    plain, stratified = (
        evaluate_splits(y, chance, HoldOut(0.2, n_repeats=REPEATS, stratified=each, rng=1), "brier_score")
        for each in (False, True)
    )
    n_test = int(plain.n_test[0, 0])
    spread = spread_of(losses, n_test)
    assert abs(plain["brier_score"].value - losses.mean()) < 5 * spread / math.sqrt(REPEATS)
    assert plain["brier_score"].standard_deviation == pytest.approx(spread, rel=0.05)
    codes = HoldOut(0.2, n_repeats=1, stratified=True, rng=1).assignments(y, y)[0] == 1
    classes = [(losses[y == k], int(codes[y == k].sum())) for k in (0, 1)]
    n = sum(size for _, size in classes)
    mean = sum(own.mean() * size for own, size in classes) / n
    within = math.sqrt(sum((spread_of(own, size) * size / n) ** 2 for own, size in classes))
    assert abs(stratified["brier_score"].value - mean) < 5 * within / math.sqrt(REPEATS)
    assert stratified["brier_score"].standard_deviation == pytest.approx(within, rel=0.05)
    assert within < 0.95 * spread


# Odd input ----------------------------------------------------------------------------------------------------------

Y, P = np.array([0, 1, 0, 1]), np.array([0, 1, 1, 1])
FOLDS = [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((Y, P[:3], FOLDS, "accuracy"), {}, r"y_pred must have shape \(4,\), or \(1, 4\) with one prediction for each"),
        (
            (Y, [P, P], FOLDS, "accuracy"),
            {},
            r"y_pred has 2 rows of predictions \(axis 0\), but splits have 1 repetitions",
        ),
        ((Y, P, [0, 0, 1], "accuracy"), {}, r"splits must have shape \(4,\) or \(n_repeats, 4\)"),
        ((Y, P, [0.0, 0.0, 1.0, 1.0], "accuracy"), {}, "splits must .* the number of each row's test fold.*float64"),
        ((Y, P, [True, False, True, False], "accuracy"), {}, "splits must be .* the number of .*bool"),
        (
            (Y, P, None, "accuracy"),
            {},
            r"splits must be a splitter, pairs \(train, test\) of row numbers, or .* got None",
        ),
        (
            (Y, P, [[0, 1], [2]], "accuracy"),
            {},
            "splits must be a splitter, pairs .* test fold, .* got lists of 2, 1 va",
        ),
        ((Y, P, [([0, 1], [2, 4])], "accuracy"), {}, r"splits\[0\] \(test\) must hold row numbers from 0 to 3, got 4"),
        ((Y, P, [([0, 1], [2]), [0, 1]], "accuracy"), {}, r"splits\[1\] \(train\) must be 1-D"),
        ((Y, P, [0, 0, -1, 1], "accuracy"), {}, "splits must hold fold numbers from 0 on, got -1"),
        ((Y, P, [0, 0, 9, 1], "accuracy"), {}, "splits must hold fold numbers below the number of rows, 4, got 9"),
        ((Y, P, [0, 0, 2, 2], "accuracy"), {}, "splits: the test set of repetition 0, fold 1 is empty"),
        ((Y, P, [[0, 0, 1, 1], [1, 1, 1, 1]], "accuracy"), {}, "the test set of repetition 1, fold 0 is empty"),
        ((Y, P, KFold, "accuracy"), {}, "splits must be a splitter, got the class KFold: pass an instance"),
        (
            (Y[[0, 1] * 50], P[[0, 1] * 50], LeavePOut(9), "accuracy"),
            {},
            r"splits makes 1.9e\+12 splits",
        ),
        ((Y, P, FOLDS, "accuracy"), {"groups": Y}, "groups goes with a splitter"),
        ((Y, P, KFold(2), "accuracy"), {"groups": [1]}, "groups has 1 rows, but y_true has 4"),
        (
            (Y + 0.5, P, KFold(2, stratified=True), "r2"),
            {},
            r"y_true must hold classes \(strings or whole numbers\) for stratified=True",
        ),
        (
            (Y, P, FOLDS, ["roc_auc", "r2"]),
            {},
            "metrics must all be .* roc_auc is of scores and r2 is of predicted num",
        ),
        ((Y, P, FOLDS, "roc"), {}, "metrics must be one of"),
        ((Y, P, FOLDS, []), {}, "metrics is empty"),
        ((Y, P, FOLDS, metric("recall", average=None)), {}, r"metric recall\(average=None\) must give one number"),
        ((Y, P, FOLDS, MetricSpec("accuracy", {"beta": 2})), {}, "has no option beta="),
        ((Y, P, FOLDS, {"f": lambda y, p: p}), {}, "metric f must give one real number for each test set, got array"),
        (
            (Y, [0, 1, 2, 1], FOLDS, "accuracy"),
            {},
            "y_pred has the label 2 at row 2, which is not among the classes: 0, 1",
        ),
        ((Y, ["a"] * 4, FOLDS, "accuracy"), {}, "labels must be of one type"),
        ((Y, [0, 0.5, 1, 1], FOLDS, "accuracy"), {}, "y_pred must hold class labels, whole numbers"),
        (
            (Y, [0, math.nan, 1, 1], FOLDS, "roc_auc"),
            {},
            "y_pred must be finite, but has 1 NaN value, the first at row 1",
        ),
        (([0, math.nan, 1, 1], P, FOLDS, "r2"), {}, "y_true must be finite, but has 1 NaN"),
        ((Y, [0, 2.0, 1, 1], FOLDS, "brier_score"), {}, r"y_pred must hold probabilities, in \[0, 1\], got 2.0"),
        (([0, 1, 2, 1], P, FOLDS, "roc_auc"), {}, "y_true must have two classes, got 3 labels"),
        ((["a", "b", "a", "b"], P, FOLDS, "roc_auc"), {}, "pos_label must say which is positive"),
        ((Y, P, FOLDS, "r2"), {"pos_label": 1}, "pos_label applies only to metrics of two classes"),
        ((Y, P, FOLDS, "r2"), {"labels": [0, 1]}, "labels applies only to metrics of predicted labels"),
        ((Y, P, FOLDS, "accuracy"), {"labels": [0, 2]}, "labels must hold every label that occurs; missing: 1"),
        ((Y, P, FOLDS, "accuracy"), {"pos_label": 7}, "pos_label must be a label of y_true"),
        ((Y, P, FOLDS, "accuracy"), {"confidence_level": 1.0}, "confidence_level must be in"),
        ((Y, P, FOLDS, "accuracy"), {"progress": 1}, "progress must be True or False"),
    ],
)
def test_bad_input(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate_splits(*arguments, **options)


@pytest.mark.parametrize("given", [list, tuple, iter])
def test_pairs_of_rows_are_splits(given: Callable[[Any], Any]) -> None:
    pairs = [(np.array([0, 1]), np.array([2, 3])), ([1, 2, 3], [0])]
    found = evaluate_splits(Y, P, given(pairs), "accuracy")["accuracy"]
    assert found.per_split.tolist() == [[0.5, 1.0]]
    codes = [([2, 3], [0, 1]), ([0, 1], [2, 3])]
    (by_pairs, by_folds) = (evaluate_splits(Y, P, each, "accuracy")["accuracy"] for each in (codes, FOLDS))
    assert_array_equal(by_pairs.per_split, by_folds.per_split)
    assert by_pairs.micro == by_folds.micro


def test_a_fold_of_one_class_has_no_auc() -> None:
    with pytest.warns(UndefinedMetricWarning, match="roc_auc is undefined in 1 of 2 splits, which are left out"):
        found = evaluate_splits([0, 1, 1, 1], [0.1, 0.9, 0.4, 0.3], FOLDS, "roc_auc")["roc_auc"]
    assert found.value == 1
    assert found.n_undefined == 1
    assert_array_equal(found.per_split, [[1, math.nan]])
    assert found.micro == 1


def test_the_positive_class_is_the_users() -> None:
    y, p = ["no", "yes", "no", "no"], ["no", "yes", "yes", "no"]
    for positive in ("yes", "no"):
        found = evaluate_splits(y, p, [1, 0, 0, 1], "accuracy", pos_label=positive)
        assert found.matrices is not None
        assert found.matrices.labels.tolist()[1] == positive
    found = evaluate_splits(y, p, [0] * 4, "precision", pos_label="yes")
    assert found["precision"].value == 0.5
    assert evaluate_splits(y, p, [0] * 4, "precision", pos_label="no")["precision"].value == 1
    assert evaluate_splits(y, p, [0] * 4, "precision", labels=["yes", "no"])["precision"].value == 1


# Results ------------------------------------------------------------------------------------------------------------


def test_the_result() -> None:
    found = evaluate_splits(Y, P, FOLDS, ["accuracy", "error_rate"])
    assert repr(found).splitlines()[0] == "ErrorEstimates(1 x 2 splits, 0.95, pos_label=1"
    assert repr(found["accuracy"]).startswith("ErrorEstimate(0.75, [")
    assert len(repr(found).splitlines()) == 3
    again = pickle.loads(pickle.dumps(found))
    assert again["accuracy"].per_split.tolist() == [[1.0, 0.5]]
    assert not again["accuracy"].per_split.flags.writeable
    as_dict = found.to_dict()
    assert as_dict["metrics"]["accuracy"]["per_split"] == [[1.0, 0.5]]
    assert as_dict["matrices"]["counts"] == found.matrices.counts.tolist()  # type: ignore[union-attr]
    assert as_dict["n_test"] == [[2, 2]]
    with pytest.raises(KeyError, match="the metrics are accuracy, error_rate"):
        found["f1"]


def test_many_rows_left_out_one_by_one() -> None:
    n = 50_000
    y = np.random.default_rng(0).normal(size=n)
    found = evaluate_splits(y, np.zeros(n), LeaveOneOut(), "mean_squared_error")["mean_squared_error"]
    assert_array_equal(found.per_split[0], y * y)
    assert found.micro == pytest.approx(math.fsum(y * y) / n, rel=1e-12)


@pytest.mark.parametrize("pos_label", ["yes", b"yes"])
@pytest.mark.parametrize("dtype", ["U", "S"])
def test_one_class_is_meant_by_text_and_bytes(pos_label, dtype):
    y = np.array(["yes", "zero"] * 10, dtype=dtype)
    predicted, scores = np.roll(y, 1), np.arange(20) % 3
    found = evaluate_splits(y, predicted, KFold(2, rng=0), "recall", pos_label=pos_label)
    assert found.matrices.labels.tolist() == ["zero", "yes"]
    ranks = evaluate_splits(y, scores, KFold(2, rng=0), "roc_auc", pos_label=pos_label)
    assert ranks["roc_auc"].value == evaluate_splits(y == y[0], scores, KFold(2, rng=0), "roc_auc")["roc_auc"].value
