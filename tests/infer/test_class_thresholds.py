"""Thresholds of several classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import class_thresholds, num_threads
from fastevals._kernels import class_thresholds as kernels
from fastevals.measure.class_thresholds import ThresholdSearch, _ascending, classes_by_factors
from tests.reference import class_decisions as reference
from tests.strategies import BOUNDED

METRICS = ("f1", "balanced_accuracy", "accuracy")
FEW = {"n_resamples": 99, "rng": 0}


def data(n: int, k: int = 3, seed: int = 0, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and calibrated probabilities; later classes are rarer."""
    rng = np.random.default_rng(seed)
    p = np.exp(spread * rng.normal(size=(n, k)) - np.arange(k))
    p /= p.sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    y[:k] = np.arange(k)
    return y, p


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")  # replicates without a class
@pytest.mark.parametrize("metric", METRICS)
@BOUNDED
@given(st.integers(0, 10**6), st.booleans())
def test_the_value_is_that_of_the_predictions(metric: str, seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    y, p = data(int(rng.integers(10, 25)), 3, seed)
    p = np.round(p * 8) / 8  # ties, and zeros
    p[:, 0] = np.maximum(1 - p[:, 1:].sum(axis=1), 0)
    p /= p.sum(axis=1, keepdims=True)
    weights = rng.integers(1, 4, y.size).astype(float) if weighted else np.ones(y.size)
    found = class_thresholds(
        y, p, metric, n_folds=2, n_resamples=9, confidence_level=0.5, sample_weight=weights if weighted else None, rng=0
    )
    chosen = classes_by_factors(p.T, 1 / found.thresholds)
    assert found.value == pytest.approx(reference.goal(y.tolist(), chosen.tolist(), weights.tolist(), 3, metric))
    top = p.argmax(axis=1)
    assert found.value >= reference.goal(y.tolist(), top.tolist(), weights.tolist(), 3, metric) - 1e-12
    np.testing.assert_array_equal(found.predict(p), chosen)


@pytest.mark.parametrize("metric", METRICS)
def test_two_classes_have_the_best_threshold(metric: str) -> None:
    """With two classes the sweep tries every threshold."""
    for seed in range(20):
        y, p = data(30, 2, seed)
        found = 1 / ThresholdSearch(p.T, y, None, metric).best()
        grid = [*np.unique(p[:, 1] / p[:, 0]) * (1 - 1e-9), 1e9]
        best = reference.best_on_a_grid(y.tolist(), p, [1.0] * 30, metric, grid)
        value = reference.goal(y.tolist(), classes_by_factors(p.T, found).tolist(), [1.0] * 30, 2, metric)
        assert value == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_three_classes_are_near_the_best_of_a_grid(metric: str) -> None:
    grid = np.geomspace(0.05, 20, 25)
    short = []
    for seed in range(2):
        y, p = data(40, 3, seed)
        best = reference.best_on_a_grid(y.tolist(), p, [1.0] * 40, metric, grid)
        found = classes_by_factors(p.T, 1 / ThresholdSearch(p.T, y, None, metric).best())
        short.append(best - reference.goal(y.tolist(), found.tolist(), [1.0] * 40, 3, metric))
    assert max(short) < 0.03
    assert np.mean(short) < 0.01


def test_balanced_accuracy_of_calibrated_probabilities_has_thresholds_near_the_shares() -> None:
    y, p = data(20_000, 3, 1)
    found = class_thresholds(y, p, "balanced_accuracy", **FEW)
    shares = np.bincount(y) / y.size
    np.testing.assert_allclose(found.thresholds, shares, atol=0.05)
    assert found.difference.confidence_interval.low > 0.05
    assert found.estimate.value < found.value


def test_thresholds_chosen_on_noise_gain_nothing_on_other_rows() -> None:
    """Labels are independent of the probabilities, so the apparent gain is all optimism."""
    rng = np.random.default_rng(2)
    apparent, honest = [], []
    for seed in range(20):
        _, p = data(150, 3, seed)
        y = rng.integers(0, 3, 150)
        found = class_thresholds(y, p, "balanced_accuracy", n_resamples=19, confidence_level=0.8, rng=seed)
        apparent.append(found.value - 1 / 3)
        honest.append(found.estimate.value - 1 / 3)
    assert np.mean(apparent) > 0.05
    assert abs(np.mean(honest)) < 4 * np.std(honest) / np.sqrt(20)


def test_the_seed_decides_and_clusters_stay_together() -> None:
    y, p = data(120)
    groups = np.arange(120) // 4
    found = class_thresholds(y, p, groups=groups, **FEW)
    with num_threads(1):
        assert class_thresholds(y, p, groups=groups, **FEW).to_json() == found.to_json()
    assert class_thresholds(y, p, groups=groups, **{**FEW, "rng": 1}).to_json() != found.to_json()
    copies = np.repeat(y, 6), np.repeat(p, 6, axis=0)
    rows, clusters = (class_thresholds(*copies, groups=g, **FEW) for g in (None, np.arange(720) // 6))
    assert clusters.estimate.standard_error > 1.5 * rows.estimate.standard_error


def test_text_labels_and_their_order() -> None:
    y, p = data(90)
    names = np.array(["z", "m", "a"])
    found = class_thresholds(names[y], p, labels=names, **FEW)
    np.testing.assert_array_equal(found.thresholds, class_thresholds(y, p, **FEW).thresholds)
    assert set(found.predict(p)) <= {"z", "m", "a"}
    assert found.to_frame("pandas")["label"].tolist() == ["z", "m", "a"]
    assert "chosen on other rows" in found.conclusion
    assert "optimistic" in found.to_text()


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_a_class_of_one_row_is_missing_from_a_fold() -> None:
    y, p = data(60, 3)
    y[y == 2] = 1
    y[0] = 2
    found = class_thresholds(y, p, "f1", **FEW)
    assert np.isfinite(found.fold_thresholds).all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"metric": "auc"}, "metric must be one of 'f1'"),
        ({"n_folds": 1}, "n_folds must be"),
        ({"n_folds": 100}, "n_folds must be at most the number of rows or groups, 30, got 100"),
        ({"labels": [0, 1, 2, 3]}, "y_prob has 3 columns, but labels has 4"),
        ({"y_true": [0, 1] * 15, "labels": [0, 1, 2]}, r"rows of each class, but has none of \[?2"),
    ],
)
def test_bad_input_is_said(change: dict[str, object], said: str) -> None:
    y, p = data(30)
    with pytest.raises(ValueError, match=said):
        class_thresholds(**{"y_true": y, "y_prob": p, **FEW, **change})
    with pytest.raises(ValueError, match="y_prob has 2 columns"):
        class_thresholds(y, p, **FEW).predict(p[:, :2])


@pytest.mark.parametrize("metric", METRICS)
@BOUNDED
@given(st.integers(0, 10**6))
def test_the_two_best_classes_are_kept_up_to_date(metric: str, seed: int) -> None:
    """After any changes of factors, they are those that are found anew, with ties, zeros and extreme factors."""
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 7)), 40
    columns, factors = rng.integers(0, 4, (k, n)) / 4, rng.choice([0.25, 0.5, 1.0, 2.0], k)
    kept, anew = ([np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), np.empty(n)] for _ in range(2))
    kernels.find_two_best(columns, factors, *kept)
    for _ in range(8):
        j = int(rng.integers(k))
        before, factors[j] = factors[j], rng.choice([0.0, 1e-300, 0.25, 0.5, 1.0, 2.0, 1e300])
        kernels.update_two_best(columns, factors, j, factors[j] > before, *kept)
        kernels.find_two_best(columns, factors, *anew)
        for one, other in zip(kept, anew, strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(kept[0], classes_by_factors(columns, factors))


@pytest.mark.parametrize("values", [
    np.random.default_rng(0).random(5000), np.zeros(9), np.array([np.inf, 0.0, 1e300, 1e-320, np.inf, 3.0]),
    1 + np.random.default_rng(1).random(3000) * 1e-9, np.arange(100)[::-1] / 7,
], ids=["random", "equal", "extreme", "alike", "descending"])  # fmt: skip
def test_rows_in_ascending_order(values: np.ndarray) -> None:
    order = _ascending(values)
    assert sorted(order.tolist()) == list(range(values.size))
    assert (np.diff(values[order][np.isfinite(values[order])]) >= 0).all()
    np.testing.assert_array_equal(values[order], np.sort(values))


def test_many_classes() -> None:
    """The thresholds of 30 classes are as good as those of an ascent that finds the best classes anew each time."""
    y, p = data(400, 30, spread=2.0)
    search = ThresholdSearch(p.T, y, None, "f1")
    found = search.value(1 / search.best())
    factors = np.ones(30)
    for _ in range(3):
        for k in range(30):
            tried = [
                search.value(np.where(np.arange(30) == k, factors[k] * each, factors))
                for each in np.geomspace(0.2, 5, 21)
            ]
            factors[k] *= np.geomspace(0.2, 5, 21)[int(np.argmax(tried))]
    assert found >= search.value(factors) * 0.97
