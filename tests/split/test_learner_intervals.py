"""Intervals for a learner's error besides Nadeau and Bengio's t."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn import model_selection as theirs

from fastevals import (
    BootstrapSplit,
    ConfusionMatrix,
    HoldOut,
    KFold,
    LeaveOneOut,
    LeavePOut,
    UndefinedMetricWarning,
    estimate_error,
    metric,
    proportion_interval,
)
from fastevals.measure.metric_specs import parse_metrics
from fastevals.split.designs import design_splits
from fastevals.split.estimates import intervals
from fastevals.split.estimates.fits import make_split_metrics
from fastevals.split.splitters.base import Pair
from tests.reference import learner_intervals as twin

N = 60
RNG = np.random.default_rng(3)
X = RNG.normal(size=N)
LABELS = (X + RNG.logistic(size=N) > 0).astype(int)
TARGETS = X + RNG.normal(size=N)
Z = stats.norm.ppf(0.975)


def nearest_means(x: Any, y: Any, new: Any) -> Any:
    """Return chances from the distances to the means of two classes."""
    low, high = (np.mean(x[y == label]) for label in (0, 1))
    return 1 / (1 + np.exp(2 * (np.abs(new - high) - np.abs(new - low))))


def classes(x: Any, y: Any, new: Any) -> Any:
    """Return predicted labels."""
    return (nearest_means(x, y, new) > 0.5).astype(int)


def line(x: Any, y: Any, new: Any) -> Any:
    """Return predicted targets."""
    return np.polyval(np.polyfit(x, y, 1), new)


def pinball(a: float, b: float) -> float:
    """Return the loss of a predicted quantile of 0.2."""
    return 0.2 * (a - b) if a > b else 0.8 * (b - a)


METRICS: dict[str, tuple[Callable[..., Any], Any, Any, Callable[[Any, Any], float]]] = {
    "error rate": (classes, LABELS, "error_rate", lambda a, b: float(a != b)),
    "accuracy": (classes, LABELS, "accuracy", lambda a, b: float(a == b)),
    "cost": (classes, LABELS, metric("cost", cost_matrix=[[0, 1], [5, 0]]), lambda a, b: float((b > a) + 5 * (a > b))),
    "Brier": (nearest_means, LABELS, "brier_score", lambda a, b: (a - b) ** 2),
    "log loss": (nearest_means, LABELS, "log_loss", lambda a, b: -math.log(b if a else 1 - b)),
    "squared": (line, TARGETS, "mean_squared_error", lambda a, b: (a - b) ** 2),
    "absolute": (line, TARGETS, "mean_absolute_error", lambda a, b: abs(a - b)),
    "pinball": (line, TARGETS, metric("pinball_loss", quantile=0.2), pinball),
}


def one(learner: Any, y: Any, splitter: Any, asked: Any, interval: Any, **options: Any) -> tuple[float, float, float]:
    """Return a value, the middle of its interval, and half its width in standard errors of a normal interval."""
    (found,) = estimate_error(learner, X, y, splitter, asked, interval=interval, **options).values()
    low, high = found.confidence_interval
    return found.value, (low + high) / 2, (high - low) / 2 / Z


def folds_of(splitter: Any) -> list[Any]:
    return [test for _, test in splitter.split(X, LABELS)]


# Twins --------------------------------------------------------------------------------------------------------------


@pytest.mark.cases(10)
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    "splitter", [KFold(7, rng=0), LeaveOneOut(), theirs.KFold(7)], ids=["ours", "single", "theirs"]
)
def test_cv_wald_is_its_twin(name: str, splitter: Any) -> None:
    learner, y, asked, loss = METRICS[name]
    value, middle, error = one(learner, y, splitter, asked, "cv-wald")
    assert error == pytest.approx(twin.cv_wald(learner, X, y, folds_of(splitter), loss), rel=1e-9)
    assert value == pytest.approx(middle, rel=1e-9)
    (usual,) = estimate_error(learner, X, y, splitter, asked).values()
    assert value == usual.value


def test_repetitions_of_cv_wald_have_the_mean_variance() -> None:
    learner, y, asked, loss = METRICS["squared"]
    folds = folds_of(KFold(5, n_repeats=3, rng=1))
    each = [twin.cv_wald(learner, X, y, folds[k : k + 5], loss) for k in (0, 5, 10)]
    error = one(learner, y, KFold(5, n_repeats=3, rng=1), asked, "cv-wald")[2]
    assert error == pytest.approx(math.sqrt(np.mean(np.square(each))), rel=1e-9)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("k", [3, 7])
def test_nested_cv_is_its_twin(name: str, k: int) -> None:
    learner, y, asked, loss = METRICS[name]
    folds = folds_of(KFold(k, n_repeats=2, rng=1))
    expected = twin.nested_cv(learner, X, y, [folds[:k], folds[k:]], loss)
    value, middle, error = one(learner, y, KFold(k, n_repeats=2, rng=1), asked, "nested-cv")
    assert_allclose((value, middle, error), (expected[0], expected[0], expected[1]), rtol=1e-9)


def test_nested_cv_of_several_metrics_is_that_of_each() -> None:
    asked = ["error_rate", "accuracy"]
    found = estimate_error(classes, X, LABELS, KFold(5, rng=0), asked, interval="nested-cv", training=True)
    assert found["error_rate"].value == pytest.approx(1 - found["accuracy"].value, abs=1e-12)
    usual = estimate_error(classes, X, LABELS, KFold(5, rng=0), asked, training=True)
    for name in asked:
        assert found[name].training is not None
        assert usual[name].training is not None
        assert found[name].training.value == usual[name].training.value
        assert_allclose(found[name].per_split, usual[name].per_split)
    assert found.interval == "nested-cv"
    assert "interval='nested-cv'" in repr(found)
    assert found.to_dict()["interval"] == "nested-cv"


@pytest.mark.parametrize("groups", [None, np.arange(N) // 3], ids=["rows", "groups"])
@pytest.mark.parametrize("size", [0.1, 4, 0.45])
def test_conservative_z_is_its_twin(groups: Any, size: Any) -> None:
    splitter = HoldOut(size, n_repeats=3, rng=5)
    method = intervals.prepare_interval(
        "conservative-z", splitter, design_splits("splitter", splitter, X, TARGETS, groups),
        make_split_metrics(parse_metrics("r2"), "y", TARGETS, several=False)[0], intervals.Data(TARGETS, groups, N),
    )  # fmt: skip
    assert isinstance(method, intervals.ConservativeZ)
    n_test = {test.size for _, test in splitter.split(X, TARGETS, groups)}
    squares = []
    for first, second in zip(method.halves[::2], method.halves[1::2], strict=True):
        pairs = [list(half.pairs()) for half in (first, second)]
        rows = [set(np.concatenate([np.concatenate(pair) for pair in half]).tolist()) for half in pairs]
        assert not rows[0] & rows[1]
        assert [len(each) for each in rows] == [N // 2, N // 2]
        assert {test.size for half in pairs for _, test in half} == n_test
        if groups is not None:
            assert not {groups[row] for row in rows[0]} & {groups[row] for row in rows[1]}
        means = [
            np.mean([
                1 - np.mean((line(X[a], TARGETS[a], X[b]) - TARGETS[b]) ** 2) / np.var(TARGETS[b]) for a, b in half
            ])
            for half in pairs
        ]  # fmt: skip
        squares.append((means[0] - means[1]) ** 2 / 2)
    assert len(squares) == 10
    found = estimate_error(line, X, TARGETS, splitter, "r2", groups=groups, interval="conservative-z")["r2"]
    width = found.confidence_interval.high - found.confidence_interval.low
    expected = 2 * Z * math.sqrt(np.mean(squares))
    high = found.value + expected / 2
    assert width == pytest.approx(expected if high <= 1 else 1 - found.value + expected / 2, rel=1e-9)


def test_conservative_z_trains_on_as_many_rows_if_it_can() -> None:
    splitter = HoldOut(6, train_size=20, n_repeats=2, rng=0)
    halves = list(itertools.chain.from_iterable(intervals._halvings(splitter, intervals.Data(LABELS, None, N))))
    data = intervals.Data(LABELS, None, N)
    sizes = {(a.size, b.size) for a, b in intervals._design_half(splitter, halves[0], data, 0).pairs()}
    assert sizes == {(20, 6)}


@pytest.mark.parametrize("rows", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_influences_are_derivatives(rows: int) -> None:
    y = np.array([0.3, 1.0, 2.5, -1.2, 0.1])[:rows]

    def loss(sample: tuple[int, ...], i: int) -> float:
        return float((y[i] - np.mean(y[list(sample)])) ** 2)

    replicates, values = [], []
    for sample in itertools.product(range(rows), repeat=rows):
        test = np.setdiff1d(np.arange(rows), sample)
        if test.size:
            replicates.append(Pair(np.array(sample), test))
            values.append(np.array([[loss(sample, i) for i in test]]))
    found, direct, parts = intervals.influences(lambda: iter(replicates), values, rows)
    assert_allclose(found[0], twin.influences(rows, loss), rtol=1e-6)
    exact = twin.out_of_bag_error(np.full(rows, 1 / rows), loss)
    assert_allclose((parts.sum(), direct.sum()), (exact, 0), atol=1e-12)
    # All samples, each many times: what a finite number of replicates adds vanishes.
    error = intervals.jackknife_errors(lambda: iter(replicates * 20), values * 20, rows)
    more = math.sqrt((rows - 1) * np.var(parts) * len(values) / 20)
    assert_allclose(error[0] ** 2, np.sum(found**2) - more**2, rtol=1e-9)


def test_few_replicates_have_the_jackknife_error_of_many() -> None:
    # Without the correction, 60 replicates of 60 rows would give a standard error 1.9 times as large.
    few, many = (
        one(line, TARGETS, BootstrapSplit(b, rng=0), "mean_squared_error", "infinitesimal-jackknife")[2]
        for b in (60, 2000)
    )
    assert few == pytest.approx(many, rel=0.25)


@pytest.mark.parametrize("method", [None, ".632", ".632+"])
def test_the_jackknife_scales_with_corrected_bootstraps(method: Any) -> None:
    splitter, asked = BootstrapSplit(200, rng=0), "mean_squared_error"
    plain = one(line, TARGETS, splitter, asked, "infinitesimal-jackknife")
    value, middle, error = one(line, TARGETS, splitter, asked, "infinitesimal-jackknife", method=method)
    assert_allclose((middle, error / value), (value, plain[2] / plain[0]), rtol=1e-9)


# Simulated ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_sets", [40, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("interval", "splitter", "least"),
    [
        ("cv-wald", KFold(5, rng=0), 0.93),
        ("nested-cv", KFold(4, n_repeats=2, rng=0), 0.93),
        ("infinitesimal-jackknife", BootstrapSplit(100, rng=0), 0.93),
        ("conservative-z", HoldOut(0.1, n_repeats=5, rng=0), 0.93),
    ],
)
def test_intervals_cover_the_error_of_a_mean(interval: Any, splitter: Any, least: float, n_sets: int) -> None:
    # The learner predicts the mean. Its squared error is 1 + 1 / n for n rows of unit variance; y is uniform, so that
    # the squared errors of 100 rows have a nearly normal mean. With a coverage of 0.95, n data sets cover in fewer
    # than `least` minus 4 standard errors with a chance below 1 in 10,000.
    rng, n, covered = np.random.default_rng(8), 100, 0
    n_sets = n_sets * 2 // 5 if interval == "conservative-z" else n_sets
    for _ in range(n_sets):
        y = rng.uniform(-math.sqrt(3), math.sqrt(3), n)
        found = estimate_error(
            lambda x, y, new: np.full(len(new), y.mean()), y, y, splitter, "mean_squared_error", interval=interval
        )["mean_squared_error"]
        low, high = found.confidence_interval
        covered += low <= 1 + 1 / n <= high
    assert covered / n_sets >= least - 4 * math.sqrt(0.95 * 0.05 / n_sets)


# Hostile input ------------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "another name": (KFold(5), {"interval": "bates"}, "interval must be .*'nested-cv'.*got 'bates'"),
    "z of folds": (KFold(5), {"interval": "conservative-z"}, "'conservative-z' goes with a HoldOut, got .*KFold"),
    "z of most rows": (HoldOut(0.5), {"interval": "conservative-z"}, "smaller than half .*test_size=0.5: 30 of 60"),
    "nested hold-outs": (HoldOut(0.5), {"interval": "nested-cv"}, "'nested-cv' goes with a KFold"),
    "nested in two": (KFold(2), {"interval": "nested-cv"}, "at least 3 folds, got n_splits=2"),
    "nested single rows": (KFold(40), {"interval": "nested-cv"}, "2 rows in each fold, got n_splits=40 for 60"),
    "nested strata": (KFold(5, stratified=True), {"interval": "nested-cv"}, "not stratified"),
    "jackknife of one replicate": (
        BootstrapSplit(1), {"interval": "infinitesimal-jackknife"}, "at least 2 replicates, got n_repeats=1",
    ),
    "jackknife of folds": (KFold(5), {"interval": "infinitesimal-jackknife"}, "goes with a BootstrapSplit"),
    "jackknife of strata": (
        BootstrapSplit(5, stratified=True), {"interval": "infinitesimal-jackknife"}, "not stratified",
    ),
    "wald of hold-outs": (HoldOut(0.5, n_repeats=2, rng=0), {"interval": "cv-wald"}, "each row exactly once"),
    "wald of pairs": (LeavePOut(2), {"interval": "cv-wald"}, "each row exactly once"),
    "wald of groups": (KFold(5), {"interval": "cv-wald", "groups": np.arange(N)}, "can't be used with groups"),
    "wald of f1": (KFold(5), {"interval": "cv-wald", "metrics": ["error_rate", "f1"]}, "means over rows.*got 'f1'"),
    "nested function": (
        KFold(5), {"interval": "nested-cv", "metrics": {"mine": lambda y, p: 0.0}}, "means over rows.*got 'mine'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_intervals_refuse_other_splits_and_metrics_before_the_first_fit(name: str) -> None:
    splitter, options, message = REFUSED[name]

    def never(*_: Any) -> Any:
        raise AssertionError

    with pytest.raises(ValueError, match=message):
        estimate_error(never, X, LABELS, splitter, options.pop("metrics", "error_rate"), **options)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_huge_errors_have_a_conservative_z() -> None:
    options: dict[str, Any] = {"metrics": "mean_absolute_error", "interval": "conservative-z"}
    splitter = HoldOut(0.2, n_repeats=2, rng=0)
    huge = estimate_error(line, X, TARGETS * 2.0**900, splitter, **options)["mean_absolute_error"]
    usual = estimate_error(line, X, TARGETS, splitter, **options)["mean_absolute_error"]
    assert np.ldexp(huge.confidence_interval, -900) == pytest.approx(usual.confidence_interval)


@pytest.mark.parametrize("asked", ["rmse", "r2", "median_absolute_error"])
def test_metrics_of_targets_that_are_no_means_are_refused(asked: str) -> None:
    with pytest.raises(ValueError, match="means over rows"):
        estimate_error(line, X, TARGETS, KFold(5), asked, interval="cv-wald")


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("interval", ["cv-wald", "nested-cv", "infinitesimal-jackknife"])
def test_an_infinite_loss_has_no_interval(interval: Any) -> None:
    splitter = BootstrapSplit(20, rng=0) if interval == "infinitesimal-jackknife" else KFold(4, rng=0)

    def sure(x: Any, y: Any, new: Any) -> Any:
        return np.where(new > 0, 1.0, 0.5)

    with pytest.warns(UndefinedMetricWarning, match="interval of log_loss .* infinite on some test rows"):
        found = estimate_error(sure, X, LABELS, splitter, ["log_loss", "brier_score"], interval=interval)
    assert np.isnan(found["log_loss"].confidence_interval).all()
    assert np.isfinite(found["brier_score"].confidence_interval).all()


@pytest.mark.parametrize(
    ("interval", "splitter"),
    [
        ("cv-wald", KFold(6, rng=1)),
        ("nested-cv", KFold(6, rng=1)),
        ("conservative-z", HoldOut(10, n_repeats=6, rng=1)),
        ("infinitesimal-jackknife", BootstrapSplit(10, rng=1)),
    ],
)
def test_a_learner_that_is_never_wrong_has_wilsons_interval(interval: Any, splitter: Any) -> None:
    found = estimate_error(lambda x, y, new: new, LABELS, LABELS, splitter, "error_rate", interval=interval)
    expected = proportion_interval(ConfusionMatrix([[N, 0], [0, 0]]), "error_rate")
    assert_allclose(found["error_rate"].confidence_interval, expected, rtol=1e-9)


def test_conservative_z_takes_any_metric_and_one_hold_out() -> None:
    def worst(y: Any, p: Any) -> float:
        return float(np.max(np.abs(y - p)))

    found = estimate_error(line, X, TARGETS, HoldOut(0.2, rng=0), worst, interval="conservative-z")["worst"]
    assert found.confidence_interval.low < found.value < found.confidence_interval.high


def test_workers_and_lists_give_the_same_interval() -> None:
    as_lists = X.tolist(), LABELS.tolist()

    def listed(x: Any, y: Any, new: Any) -> Any:
        return classes(np.array(x), np.array(y), np.array(new))

    found = estimate_error(listed, *as_lists, KFold(4, rng=0), "error_rate", interval="nested-cv")["error_rate"]
    (expected,) = estimate_error(
        classes, X, LABELS, KFold(4, rng=0), "error_rate", interval="nested-cv", n_jobs=2
    ).values()
    assert found.confidence_interval == expected.confidence_interval


def test_many_classes_are_few_cells() -> None:
    y = np.arange(N) % 20

    def next_class(x: Any, y: Any, new: Any) -> Any:
        return np.where(new % 3 == 0, (new + 1) % 20, new % 20).astype(int)

    (found,) = estimate_error(next_class, np.arange(N), y, KFold(5, rng=0), "error_rate", interval="cv-wald").values()
    assert_allclose(np.diff(found.confidence_interval), 2 * Z * math.sqrt(2 / 9 / N), rtol=1e-9)
