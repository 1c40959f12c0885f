"""`bbc_cv`: replicates against a slow twin, the choice, the correction, and bad input."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import fastevals
from fastevals import metrics as functions
from fastevals.infer.bootstrap.subjects import SamplingDesign
from fastevals.infer.selection.bias_corrected import _sample_configurations
from fastevals.measure.metric_specs import parse_metric

RNG = np.random.default_rng(7)
N, K = 90, 6
Y = RNG.integers(0, 2, N)
SCORES = np.round(RNG.normal(size=(K, N)) + 0.6 * Y, 1)  # with ties
LABELS = (SCORES > 0.3).astype(int)
GROUPS = RNG.integers(0, 25, N)
T = RNG.normal(size=N)
NUMBERS = T + RNG.normal(size=(K, N))
Y3 = RNG.integers(0, 3, N)
MATRICES = RNG.dirichlet([1, 1, 1], size=(K, N))
CASES = {
    "roc_auc": (Y, SCORES, functions.roc_auc_score),
    "average_precision": (Y, SCORES, functions.average_precision_score),
    "f1": (Y, LABELS, functions.f1_score),
    "accuracy": (Y, LABELS, functions.accuracy_score),
    "mean_squared_error": (T, NUMBERS, functions.mean_squared_error),
    "log_loss": (Y3, MATRICES, lambda y, p, sample_weight: functions.log_loss(y, p, sample_weight=sample_weight)),
}
LOSSES = {"mean_squared_error", "log_loss"}


def twin(name, *, groups=None, stratified=False, n_resamples=40, seed=3):
    """Return the values on the rows drawn and on those left out, by one weighted call for each."""
    y, predictions, function = CASES[name]
    key = fastevals._random.seed_key("rng", seed)
    label, spec = parse_metric("metric", name)
    design = SamplingDesign(groups, None, stratified)
    sample, _ = _sample_configurations(y, predictions, label, spec, design)
    units = np.arange(y.size)
    if name in ("roc_auc", "average_precision") and groups is None:  # rows are numbered in the order of a ranking
        units = sample._models[0][1]._order
        order = np.empty(y.size, dtype=int)
        negative = y != 1
        order[np.lexsort((-predictions[0], negative))] = units if units is not None else np.arange(y.size)
        units = order
    elif name in ("f1", "accuracy") and stratified:
        units = fastevals.infer.bootstrap.row_samples.SamplingUnits.number(y.size, None, y).unit_by_row
    elif groups is not None:
        units = np.unique(groups, return_inverse=True)[1]
    values = np.full((n_resamples, 2, K), np.nan)
    draws = sample._draws_and_rest(key, range(n_resamples), sample.workspace())
    for place, times in enumerate(draws):
        weight = times[units].astype(float)
        for k in range(K):
            values[place // 2, place % 2, k] = function(y, predictions[k], sample_weight=weight)
    return values, sample.replicates_and_rest(n_resamples, key)[0]


@cache
def twin_of_rows(name):
    return twin(name)


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", CASES)
def test_replicates_equal_weighted_calls(name: str) -> None:
    slow, fast = twin_of_rows(name)
    np.testing.assert_allclose(fast, slow, rtol=1e-9)


@pytest.mark.parametrize("name", ["f1", "mean_squared_error"])
def test_clusters_are_drawn_and_left_out_whole(name: str) -> None:
    slow, fast = twin(name, groups=GROUPS)
    np.testing.assert_allclose(fast, slow, rtol=1e-9)


def test_stratified_draws_keep_the_classes() -> None:
    slow, fast = twin("accuracy", stratified=True)
    np.testing.assert_allclose(fast, slow, rtol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_the_choice_is_the_paper_s(name: str) -> None:
    y, predictions, _ = CASES[name]
    found = fastevals.bbc_cv(y, predictions, name, n_resamples=40, rng=3)
    slow, _ = twin_of_rows(name)
    best = (np.argmin if name in LOSSES else np.argmax)(slow[:, 0], axis=1)
    assert math.isclose(found.value, slow[np.arange(40), 1, best].mean(), rel_tol=1e-9)
    np.testing.assert_allclose(found.chosen, np.bincount(best, minlength=K) / 40)
    assert found.best == (np.argmin if name in LOSSES else np.argmax)(found.values)
    assert found.apparent_value == found.values[found.best]
    assert math.isclose(found.bias, found.apparent_value - found.value)


def test_the_best_of_guesses_is_near_a_half() -> None:
    rng = np.random.default_rng(0)
    errors = []
    for k in range(60):
        y, guesses = rng.integers(0, 2, 100), rng.integers(0, 2, (30, 100))
        found = fastevals.bbc_cv(y, guesses, "accuracy", n_resamples=99, rng=k)
        errors.append((found.apparent_value - 0.5, found.value - 0.5))
    apparent, corrected = np.mean(errors, axis=0)
    assert apparent > 0.08
    assert abs(corrected) < 0.02  # 3 standard errors


def test_interval_is_of_the_best_and_moved_by_the_bias() -> None:
    found = fastevals.bbc_cv(Y, SCORES, "roc_auc", n_resamples=499, rng=0)
    own = fastevals.compare_rankings(Y, SCORES, method="percentile", n_resamples=499, rng=0)
    low, high = own["roc_auc"].estimates[found.best].confidence_interval
    assert found.confidence_interval.high == pytest.approx(high, abs=1e-12)
    assert found.confidence_interval.low == pytest.approx(low - found.bias, abs=1e-12)


def test_losses_move_the_upper_end() -> None:
    found = fastevals.bbc_cv(T, NUMBERS, "mean_squared_error", n_resamples=499, rng=0)
    assert not found.maximize
    assert found.bias < 0
    low, high = found.confidence_interval
    assert low < found.apparent_value < found.value < high


def test_one_good_configuration_needs_no_correction() -> None:
    good = {"good": np.where(RNG.random(N) < 0.95, Y, 1 - Y), "bad": np.where(RNG.random(N) < 0.6, Y, 1 - Y)}
    found = fastevals.bbc_cv(Y, good, "accuracy", rng=0)
    assert found.best == "good"
    assert found.chosen[0] == 1
    assert abs(found.bias) < 0.005


def test_same_bits_at_any_number_of_threads() -> None:
    with fastevals.num_threads(1):
        one = fastevals.bbc_cv(Y, SCORES, "roc_auc", n_resamples=300, rng=1)
    with fastevals.num_threads(2):
        two = fastevals.bbc_cv(Y, SCORES, "roc_auc", n_resamples=300, rng=1)
    assert one.to_dict() == two.to_dict()


def test_undefined_replicates_are_dropped_and_counted() -> None:
    y = np.zeros(40, dtype=int)
    y[:2] = 1
    scores = np.random.default_rng(0).normal(size=(3, 40))
    with pytest.warns(fastevals.UndefinedMetricWarning, match="replicates, which are dropped"):
        found = fastevals.bbc_cv(y, scores, "roc_auc", n_resamples=200, rng=0)
    assert 0 < found.n_undefined < 200
    assert f" of {200 - found.n_undefined} replicates" in found.conclusion
    assert "only 2" in found.caution or "40 rows" in found.caution


def test_prints_the_conclusion_and_the_configurations() -> None:
    found = fastevals.bbc_cv(Y, {f"c{k}": each for k, each in enumerate(SCORES)}, "roc_auc", n_resamples=99, rng=0)
    assert "is the best of 6 configurations" in str(found)
    assert "Allowing for the choice" in found.conclusion
    assert found.to_frame().shape == (6, 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predictions": SCORES[:1]}, "two models or more"),
        ({"predictions": SCORES[:, :5]}, "predictions"),
        ({"metric": lambda counts: 0.0}, "metric must be a name or metric"),
        ({"metric": "no_metric"}, "metric"),
        ({"metric": fastevals.metric("f1", average=None), "predictions": LABELS}, "one value per configuration"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"labels": [0, 1]}, "labels applies only"),
        ({"groups": [0, 1]}, "groups"),
        ({"predictions": np.where(SCORES > 1, np.nan, SCORES)}, "NaN"),
    ],
)
def test_bad_input(options, message: str) -> None:
    arguments = {"y_true": Y, "predictions": SCORES, "metric": "roc_auc", "n_resamples": 9, "rng": 0, **options}
    with pytest.raises(ValueError, match=message):
        fastevals.bbc_cv(**arguments)
