"""`compare_rankings`: paired draws, max-T against a plain recomputation, and its error rate."""

from __future__ import annotations

import json
import math
import pickle
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fastevals import Ranking, UndefinedMetricWarning, bootstrap, compare_rankings, delong, metric, num_threads
from fastevals._random import seed_key
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_score_sample
from fastevals.measure.metric_specs import parse_metrics
from tests.reference.comparison import max_t

METRICS = ["roc_auc", "average_precision", metric("recall", threshold=0.5), metric("f1", best="f1")]


def models(n: int = 400, seed: int = 0) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    base = rng.normal(size=n) + y
    return y, {name: np.round(base + noise * rng.normal(size=n), 1) for name, noise in (("a", 0.2), ("b", 1), ("c", 1))}


def replicates_of(result, name) -> np.ndarray:
    return np.stack([each.bootstrap_distribution for each in result[name].estimates.values()], axis=1)


@pytest.mark.cases(3)
@pytest.mark.parametrize(
    "options",
    [{}, {"stratified": True}, {"groups": True}, {"sample_weight": True}, {"groups": True, "sample_weight": True}],
    ids=str,
)
def test_models_share_the_rows_that_are_drawn(options):
    y, scores = models(80)
    rng = np.random.default_rng(5)
    given = {"groups": rng.integers(0, 30, 80), "sample_weight": rng.random(80) + 0.1}
    options = {name: given.get(name, True) for name in options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        result = compare_rankings(y, scores, metrics=METRICS, n_resamples=40, rng=2, keep_distribution=True, **options)
    sample = make_score_sample(y, scores, parse_metrics(METRICS), SamplingDesign(**options))
    draws = [times.copy() for times in sample.draws(seed_key("rng", 2), range(40), sample.workspace())]
    if "groups" in options:
        units = np.unique(options["groups"], return_inverse=True)[1]
    else:
        units = np.empty(80, dtype=int)
        units[np.lexsort((np.arange(80), -scores["a"], 1 - y))] = np.arange(80)
    for number, times in enumerate(draws):
        rows = np.repeat(np.arange(80), times[units])
        weights = options["sample_weight"][rows] if "sample_weight" in options else None
        assert "groups" in options or rows.size == 80
        assert "stratified" not in options or y[rows].sum() == y.sum()
        for k, score in enumerate(scores.values()):
            ranking = Ranking(y[rows], score[rows], sample_weight=weights)
            expected = [
                ranking.roc_auc(),
                ranking.average_precision(),
                ranking.confusion_at(0.5).recall(),
                ranking.best_threshold("f1").value,
            ]
            found = [replicates_of(result, name)[number, k] for name in result]
            np.testing.assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.cases(2)
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("reference", [None, "b"])
def test_max_t(alternative, reference):
    y, scores = models()
    options = {"alternative": alternative, "reference": reference, "confidence_level": 0.9}
    result = compare_rankings(y, scores, metrics=METRICS, n_resamples=500, rng=1, keep_distribution=True, **options)
    names = list(scores)
    pairs = list(combinations(range(3), 2)) if reference is None else [(0, 1), (2, 1)]
    for name, each in result.items():
        values = [estimate.value for estimate in each.estimates.values()]
        expected = max_t(values, replicates_of(result, name), pairs, 0.9, alternative, bounds=(-1, 1))
        for (i, j), difference, row in zip(pairs, each.differences, expected, strict=True):
            assert (difference.model, difference.reference) == (names[i], names[j])
            found = (
                difference.value, *difference.confidence_interval, difference.standard_error,
                difference.pvalue, difference.unadjusted_pvalue,
            )  # fmt: skip
            np.testing.assert_allclose(found, row, rtol=1e-9)
            assert difference.pvalue >= difference.unadjusted_pvalue
            outside = not difference.confidence_interval.low <= 0 <= difference.confidence_interval.high
            assert outside == (difference.pvalue <= 0.1 + 1e-9)


def test_delong_agrees_about_the_auc():
    y, scores = models(2000)
    found = compare_rankings(y, {"a": scores["a"], "b": scores["b"]}, n_resamples=4000, rng=0, stratified=True)
    theory = delong(y, scores).contrast([1, -1, 0])
    (difference,) = found["roc_auc"].differences
    assert difference.value == pytest.approx(theory.effect)
    np.testing.assert_allclose(difference.confidence_interval, theory.confidence_interval, atol=0.002)


def test_each_model_s_own_estimate_is_that_of_bootstrap():
    y, scores = models(1000)
    result = compare_rankings(y, scores, metrics=METRICS[:2], n_resamples=4000, rng=0)
    for name in ("roc_auc", "average_precision"):
        alone = bootstrap((y, scores["b"]), name, n_resamples=4000, rng=0)[name]
        together = result[name].estimates["b"]
        assert together.value == alone.value
        np.testing.assert_allclose(together.confidence_interval, alone.confidence_interval, atol=0.004)


def test_models_that_rank_alike():
    y, scores = models()
    scores = {"a": scores["a"], "twice": 2 * scores["a"], "cubed": scores["a"] ** 3, "b": scores["b"]}
    for alternative in ("two-sided", "greater"):
        result = compare_rankings(y, scores, metrics=METRICS[:2], n_resamples=300, rng=0, alternative=alternative)
        for each in result.values():
            for difference in each.differences[:2]:
                assert (difference.value, difference.standard_error) == (0, 0)
                assert (difference.pvalue, difference.unadjusted_pvalue) == (1, 1)
                assert difference.confidence_interval.low == 0
    alone = compare_rankings(y, {"a": scores["a"], "b": scores["b"]}, n_resamples=300, rng=0)["roc_auc"].differences[0]
    assert alone.pvalue < 0.02


def test_one_replicate_of_models_that_rank_alike():
    with pytest.warns(UndefinedMetricWarning):
        found = compare_rankings([0, 1, 0, 1], [[1, 2, 3, 4]] * 2, n_resamples=1, stratified=True, rng=0)
    (difference,) = found["roc_auc"].differences
    assert (difference.value, difference.pvalue, difference.confidence_interval) == (0, 1, (0, 0))


def test_a_model_whose_loss_is_infinite():
    y, scores = np.arange(60) % 2, np.random.default_rng(0).random((3, 60))
    scores[1, 1] = 0.0
    with pytest.warns(UndefinedMetricWarning, match="infinite in some replicates"):
        found = compare_rankings(y, scores, metrics="log_loss", n_resamples=200, rng=0)["log_loss"]
    assert [math.isnan(each.pvalue) for each in found.differences] == [True, False, True]


def test_frames_and_names_of_numpy():
    y, scores = models(60)
    expected = compare_rankings(y, scores, n_resamples=50, rng=0)["roc_auc"].differences
    for frame in (pa.table(scores), pd.DataFrame(scores), pl.DataFrame(scores)):
        assert repr(compare_rankings(y, frame, n_resamples=50, rng=0)["roc_auc"].differences) == repr(expected)
    numbered = compare_rankings(y, {np.int64(k): each for k, each in enumerate(scores.values())}, n_resamples=50, rng=0)
    assert json.loads(json.dumps(numbered.to_dict()))["metrics"]["roc_auc"]["differences"][0]["model"] == 0


def test_a_difference_that_never_varies():
    y = [0, 0, 0, 1, 1, 1]
    with (
        pytest.warns(UndefinedMetricWarning, match="all its replicates are equal"),
        pytest.warns(UndefinedMetricWarning, match="0 - 1, is degenerate: it is the same in all replicates"),
    ):
        found = compare_rankings(y, [range(6), range(6, 0, -1)], n_resamples=99, stratified=True, rng=0)
    (difference,) = found["roc_auc"].differences
    assert (difference.value, difference.pvalue, difference.confidence_interval) == (1, 0.01, (1, 1))


@pytest.mark.slow
def test_the_error_rate_of_models_that_do_not_differ():
    # Ten equally good models: at 0.05 for each of the 45 pairs, nearly every data set would show a difference.
    rejected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.arange(150) < 75
        base = rng.normal(size=150) + y
        scores = base + 0.7 * rng.normal(size=(10, 150))
        found = compare_rankings(y, scores, n_resamples=199, rng=seed, method="percentile")["roc_auc"]
        rejected += any(difference.pvalue <= 0.05 for difference in found.differences)
    assert rejected <= 9  # Binomial(60, 0.05) exceeds 9 with a probability of 0.001


def test_names_numbers_and_pickles():
    y, scores = models(100)
    arrays = compare_rankings(y, np.array(list(scores.values())), n_resamples=50, rng=0, reference=2)
    assert [(each.model, each.reference) for each in arrays["roc_auc"].differences] == [(0, 2), (1, 2)]
    named = compare_rankings(y, scores, n_resamples=50, rng=0, reference="c")
    assert named["roc_auc"].differences[0].value == arrays["roc_auc"].differences[0].value
    copy = pickle.loads(pickle.dumps(named))
    assert repr(copy) == repr(named)
    assert copy.to_dict() == named.to_dict()
    assert named.to_dict()["metrics"]["roc_auc"]["differences"][0]["model"] == "a"
    assert "a - c" in repr(named)
    assert "a - c" in repr(named["roc_auc"])
    with pytest.raises(KeyError, match="the metrics are roc_auc"):
        named["ap"]


def test_threads_and_number_of_resamples():
    y, scores = models(300)
    whole = compare_rankings(y, scores, metrics=METRICS, n_resamples=300, rng=0, keep_distribution=True)
    few = compare_rankings(y, scores, metrics=METRICS, n_resamples=20, rng=0, keep_distribution=True)
    with num_threads(1):
        one = compare_rankings(y, scores, metrics=METRICS, n_resamples=300, rng=0, keep_distribution=True)
    for name in whole:
        np.testing.assert_array_equal(replicates_of(whole, name)[:20], replicates_of(few, name))
        np.testing.assert_array_equal(replicates_of(whole, name), replicates_of(one, name))


def test_undefined_replicates():
    y, scores = np.array([1, 0, 0, 0, 0, 0, 0, 0]), [[3, 1, 2, 0, 4, 6, 7, 8], [5, 1, 2, 3, 4, 6, 7, 8]]
    with pytest.warns(UndefinedMetricWarning, match="are left out"):
        found = compare_rankings(y, scores, n_resamples=500, rng=0)["roc_auc"]
    assert found.n_undefined == found.estimates[0].n_undefined > 100
    assert not math.isnan(found.differences[0].pvalue)
    with pytest.warns(UndefinedMetricWarning):
        found = compare_rankings(np.ones(8), scores, n_resamples=50, rng=0)["roc_auc"]
    assert math.isnan(found.differences[0].pvalue)
    assert all(map(math.isnan, found.differences[0].confidence_interval))


def test_a_replicate_that_one_model_lacks_is_left_out_for_all():
    y, scores = (
        np.array([1, 0] * 10),
        {"few": np.where(np.arange(20) // 2 == 4, 0.9, 0.1), "many": np.linspace(0.4, 0.8, 20)},
    )
    asked, options = metric("precision", threshold=0.5), {"n_resamples": 400, "rng": 0, "keep_distribution": True}
    with pytest.warns(UndefinedMetricWarning, match="are left out"):
        found = compare_rankings(y, scores, metrics=asked, **options)[asked]
    replicates = np.stack([each.bootstrap_distribution for each in found.estimates.values()], axis=1)
    undefined = np.isnan(replicates).any(axis=1)
    assert 20 < found.n_undefined == undefined.sum() < 100
    (difference,) = found.differences
    assert np.isfinite(difference.confidence_interval).all()
    assert difference.standard_error == pytest.approx(np.subtract(*replicates[~undefined].T).std(ddof=1))


def test_too_few_replicates():
    y, scores = models(100)
    with pytest.warns(UndefinedMetricWarning, match=r"=9 is too few .* cover every possible value; use more"):
        found = compare_rankings(y, scores, n_resamples=9, rng=0)["roc_auc"]
    assert found.differences[0].confidence_interval == (-1, 1)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({"a": np.arange(30)}, {}, "scores must have two models or more to compare, got 1"),
        (np.arange(30), {}, "scores must have two models or more to compare, got 1"),
        (None, {"reference": "d"}, "reference must be one of 'a', 'b', 'c'; got 'd'"),
        (None, {"metrics": "accuracy"}, "accuracy of scores needs one threshold"),
        (None, {"metrics": "r2"}, "metrics must be one of"),
        (None, {"n_resamples": 0}, "n_resamples must be"),
        (None, {"confidence_level": 2}, "confidence_level must be"),
        (None, {"method": "delong"}, "method must be one of"),
        (None, {"groups": np.zeros(30)}, "groups must have at least two groups"),
        ({"a": np.arange(30), "b": np.arange(29)}, {}, r"scores\['b'\] has 29 rows, but y_true has 30"),
        ({"a": np.arange(30), "b": np.full(30, np.nan)}, {}, r"scores\['b'\] must be finite"),
    ],
)
def test_bad_input(scores, options, message):
    y, given = models(30)
    with pytest.raises(ValueError, match=message):
        compare_rankings(y, given if scores is None else scores, **{"n_resamples": 9, **options})
