"""`compare_predictions` of predicted numbers, against a plain loop over draws and `bootstrap` of each model."""

from __future__ import annotations

import math
import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fastevals import (
    ModelComparison,
    UndefinedMetricWarning,
    bootstrap,
    compare_predictions,
    metric,
    num_threads,
)
from fastevals._random import seed_key
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_target_sample
from fastevals.measure.metric_specs import parse_metrics
from tests.infer.bootstrap.test_target_draws import OF_SUMS
from tests.reference import regression
from tests.reference.comparison import max_t, paired_replicates

METRICS = [*OF_SUMS, "median_absolute_error"]
QUICK: dict[str, Any] = {"n_resamples": 30, "rng": 5, "keep_distribution": True}
DESIGNS = [
    "plain", pytest.param("weights", marks=pytest.mark.slow), pytest.param("groups", marks=pytest.mark.slow),
    "groups weights",
]  # fmt: skip


def models(n: int = 60) -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(4)
    y = rng.normal(size=n) + 3
    return y, {name: y + rng.normal(size=n) * noise for name, noise in (("a", 0.5), ("b", 0.6), ("c", 0.9))}


def designed(design: str, n: int = 60) -> dict[str, Any]:
    options = {"sample_weight": 0.1 + np.arange(n) % 7, "groups": np.arange(n) * 5 % (n // 3)}
    return {name: value for name, value in options.items() if name.split("_")[-1].rstrip("s") in design}


def replicates_of(found: ModelComparison, name: str) -> Any:
    return np.stack([each.bootstrap_distribution for each in found[name].estimates.values()], axis=1)


def same(ours: Any, theirs: Any) -> bool:
    return np.array_equal(ours, theirs, equal_nan=True)


@pytest.mark.cases(2)
@pytest.mark.parametrize("asked", [OF_SUMS, METRICS], ids=["sums", "median"])
@pytest.mark.parametrize("design", DESIGNS)
def test_replicates_are_those_of_a_plain_loop(design: str, asked: list[str]) -> None:
    y, predicted = models(30)
    options = designed(design, 30)
    sample = make_target_sample(y, predicted, parse_metrics(asked), SamplingDesign(**options))
    units = np.unique(options.get("groups", np.arange(30)), return_inverse=True)[1]
    draws = [times[units] for times in sample.draws(seed_key("rng", 5), range(30), sample.workspace())]
    found = compare_predictions(y, predicted, metrics=asked, **QUICK, **options)
    expected = paired_replicates(regression.metrics, y, predicted, draws, options.get("sample_weight", np.ones(30)))
    for name in asked:
        np.testing.assert_allclose(replicates_of(found, name), expected[name], rtol=1e-12, atol=1e-14)


@pytest.mark.cases(3)
@pytest.mark.parametrize("asked", [OF_SUMS, METRICS], ids=["sums", "median"])
@pytest.mark.parametrize("design", DESIGNS)
def test_each_models_estimate_is_that_of_bootstrap_to_the_bit(design: str, asked: list[str]) -> None:
    y, predicted = models()
    predicted["huge"] = predicted["a"] * 1e160  # squares overflow
    predicted["perfect"] = y.copy()
    options = designed(design)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = compare_predictions(y, predicted, metrics=asked, **QUICK, **options)
        for model, each in predicted.items():
            for name, alone in bootstrap((y, each), asked, **QUICK, **options).items():
                ours = found[name].estimates[model]
                for field in ("value", "confidence_interval", "standard_error", "bias", "bootstrap_distribution"):
                    assert same(getattr(ours, field), getattr(alone, field)), (model, name, field)


@pytest.mark.parametrize("alternative", ["two-sided", "less", pytest.param("greater", marks=pytest.mark.slow)])
@pytest.mark.parametrize("reference", [None, "b"])
def test_max_t(alternative: str, reference: Any) -> None:
    y, predicted = models()
    options: dict[str, Any] = {"alternative": alternative, "reference": reference, "confidence_level": 0.9}
    found = compare_predictions(y, predicted, metrics=METRICS, **QUICK | {"n_resamples": 150}, **options)
    pairs = list(combinations(range(3), 2)) if reference is None else [(0, 1), (2, 1)]
    for name, each in found.items():
        values = [estimate.value for estimate in each.estimates.values()]
        expected = max_t(values, replicates_of(found, name), pairs, 0.9, alternative)
        for (i, j), one, row in zip(pairs, each.differences, expected, strict=True):
            assert (one.model, one.reference) == ("abc"[i], "abc"[j])
            numbers = (one.value, *one.confidence_interval, one.standard_error, one.pvalue, one.unadjusted_pvalue)
            np.testing.assert_allclose(numbers, row, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:r2 of")  # in replicates of one row
def test_differences_by_hand() -> None:
    predicted = {"old": [2, 0, 2, 8], "new": [3, 0, 2, 7]}  # errors 1, -1, 0, 0 and 0, -1, 0, 1
    asked = ["mean_squared_error", "mean_absolute_error", "r2", "median_absolute_error"]
    found = compare_predictions([3, -1, 2, 8], predicted, metrics=asked, reference="old", n_resamples=99, rng=0)
    assert [found[name].differences[0].value for name in asked] == [0, 0, 0, 0]
    weighted = compare_predictions(
        [3, -1, 2, 8], predicted, metrics=asked, sample_weight=[3, 1, 1, 1], n_resamples=99, rng=0
    )
    old, new = ([weighted[name].estimates[model].value for name in asked[:2]] for model in predicted)
    assert old == [4 / 6, 4 / 6]
    assert new == [2 / 6, 2 / 6]
    assert weighted["mean_squared_error"].differences[0].value == pytest.approx(2 / 6)
    scatter = 9 * 3 + 1 + 4 + 64 - (9 - 1 + 2 + 8) ** 2 / 6
    assert weighted["r2"].differences[0].value == pytest.approx(-2 / scatter)


def test_the_standard_error_of_a_difference_is_that_of_pairs() -> None:
    """With 4,000 replicates a standard error has a relative error of about 1.1 %; 8 % is 7 times that."""
    y, predicted = models(1000)
    found = compare_predictions(y, predicted, metrics="mean_absolute_error", n_resamples=4000, rng=1)
    one = found["mean_absolute_error"].differences[0]
    d = abs(predicted["a"] - y) - abs(predicted["b"] - y)
    assert one.value == pytest.approx(d.mean())
    assert one.standard_error == pytest.approx(d.std() / np.sqrt(d.size), rel=0.08)


# Weights and groups ---------------------------------------------------------------------------------------------------


def test_weights_are_repetitions_and_zero_leaves_out() -> None:
    y, predicted = models()
    times = np.arange(y.size) % 4
    rows, kept = np.repeat(np.arange(y.size), times), times > 0
    weighted = compare_predictions(y, predicted, metrics=METRICS, sample_weight=times, **QUICK)
    repeated = compare_predictions(y[rows], {k: v[rows] for k, v in predicted.items()}, metrics=METRICS, **QUICK)
    left = {k: v[kept] for k, v in predicted.items()}
    without = compare_predictions(y[kept], left, metrics=METRICS, sample_weight=times[kept], **QUICK)
    for name in METRICS:
        for i, one in enumerate(weighted[name].differences):
            assert one.value == pytest.approx(repeated[name].differences[i].value, rel=1e-11)
        assert same(replicates_of(weighted, name), replicates_of(without, name))


@pytest.mark.parametrize("asked", [OF_SUMS, METRICS], ids=["sums", "median"])
@pytest.mark.parametrize("factor", [pytest.param(2.0, marks=pytest.mark.slow), 2.0**700, 2.0**-700])
def test_the_unit_of_weights_makes_no_difference(factor: float, asked: list[str]) -> None:
    y, predicted = models()
    one = compare_predictions(y, predicted, metrics=asked, sample_weight=np.full(60, 1.0), **QUICK)
    other = compare_predictions(y, predicted, metrics=asked, sample_weight=np.full(60, factor), **QUICK)
    plain = compare_predictions(y, predicted, metrics=asked, **QUICK)
    for name in asked:
        np.testing.assert_allclose(replicates_of(one, name), replicates_of(other, name), rtol=1e-13)
        np.testing.assert_allclose(replicates_of(one, name), replicates_of(plain, name), rtol=1e-13)


def test_groups_of_one_row_and_of_equal_rows() -> None:
    y, predicted = models()
    plain = compare_predictions(y, predicted, metrics=METRICS, **QUICK)
    single = compare_predictions(y, predicted, metrics=METRICS, groups=np.arange(60), **QUICK)
    pairs = compare_predictions(
        np.repeat(y, 2), {k: np.repeat(v, 2) for k, v in predicted.items()}, metrics=METRICS,
        groups=np.repeat(np.arange(60), 2), **QUICK,
    )  # fmt: skip
    for name in METRICS:
        assert same(replicates_of(plain, name), replicates_of(single, name))
        np.testing.assert_allclose(replicates_of(pairs, name), replicates_of(plain, name), rtol=1e-12)
        for ours, theirs in zip(pairs[name].differences, plain[name].differences, strict=True):
            np.testing.assert_allclose(ours.confidence_interval, theirs.confidence_interval, rtol=1e-9)


# Extremes -------------------------------------------------------------------------------------------------------------


def test_huge_errors() -> None:
    y, predicted = models()
    asked = ["root_mean_squared_error", "mean_absolute_error", "r2"]
    plain = compare_predictions(y, predicted, metrics=asked, **QUICK)
    scaled = {name: each * 2.0**660 for name, each in predicted.items()}
    huge = compare_predictions(y * 2.0**660, scaled, metrics=asked, **QUICK)
    for name in asked:
        unit = 1.0 if name == "r2" else 2.0**660
        np.testing.assert_allclose(replicates_of(huge, name), replicates_of(plain, name) * unit, rtol=1e-12)
        for ours, theirs in zip(huge[name].differences, plain[name].differences, strict=True):
            np.testing.assert_allclose(ours.confidence_interval, np.multiply(theirs.confidence_interval, unit))
            assert (ours.pvalue, ours.unadjusted_pvalue) == (theirs.pvalue, theirs.unadjusted_pvalue)
    with pytest.warns(UndefinedMetricWarning, match="the metric is infinite in some replicates"):
        infinite = compare_predictions(y * 2.0**660, scaled, metrics="mean_squared_error", **QUICK)
    assert infinite["mean_squared_error"].estimates["a"].value == math.inf
    assert math.isnan(infinite["mean_squared_error"].differences[0].value)


@pytest.mark.filterwarnings("ignore:r2 of [bc]")
def test_constant_targets_have_no_r2() -> None:
    _, predicted = models()
    asked = ["r2", "mean_absolute_error"]
    with pytest.warns(UndefinedMetricWarning, match="r2 of a is undefined in 30 of 30 bootstrap replicates"):
        found = compare_predictions(np.full(60, 0.1), predicted, metrics=asked, **QUICK)
    assert math.isnan(found["r2"].differences[0].value)
    assert math.isnan(found["r2"].differences[0].pvalue)
    one = found["mean_absolute_error"].differences[0]
    assert one.value == pytest.approx(np.mean(np.abs(predicted["a"] - 0.1) - np.abs(predicted["b"] - 0.1)))
    assert one.standard_error > 0


@pytest.mark.filterwarnings("ignore:r2 of b")
def test_replicates_with_constant_targets_are_left_out() -> None:
    """(5 / 6)**6 = 33 % of the replicates lack the one row of six that differs."""
    y, predicted = np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.7]), {"a": np.arange(6) / 10, "b": np.arange(6) / 20}
    with pytest.warns(UndefinedMetricWarning, match="r2 of a is undefined"):
        found = compare_predictions(y, predicted, metrics="r2", n_resamples=500, rng=0)["r2"]
    assert 120 < found.n_undefined < 210
    assert found.estimates["a"].n_undefined == found.n_undefined


def test_one_row() -> None:
    with pytest.warns(UndefinedMetricWarning):
        found = compare_predictions([1], {"a": [2], "b": [4]}, metrics=OF_SUMS, **QUICK)
    assert found["mean_absolute_error"].differences[0].value == -2
    assert math.isnan(found["r2"].differences[0].value)


def test_models_that_predict_alike() -> None:
    y, predicted = models()
    found = compare_predictions(y, {"a": predicted["a"], "b": predicted["a"]}, metrics=METRICS, **QUICK)
    for each in found.values():
        assert each.differences[0].value == 0
        assert each.differences[0].pvalue == 1


# Input, and what is the same bits -------------------------------------------------------------------------------------


def test_frames_arrays_and_integers() -> None:
    y, predicted = models()
    y, predicted = np.round(y * 10), {name: np.round(each * 10) for name, each in predicted.items()}
    options: dict[str, Any] = QUICK | {"metrics": METRICS}
    named = compare_predictions(y, predicted, reference="b", **options)
    others = [
        compare_predictions(y.astype(int), np.array(list(predicted.values())).astype(int), reference=1, **options),
        compare_predictions(y.tolist(), list(map(list, predicted.values())), reference=1, **options),
        compare_predictions(pd.Series(y), pd.DataFrame(predicted), reference="b", **options),
        compare_predictions(pl.Series(y), pl.DataFrame(predicted), reference="b", **options),
        compare_predictions(
            y.astype("f4"), {k: v.astype("f2") for k, v in predicted.items()}, reference="b", **options
        ),
    ]
    for other in others:
        for name in METRICS:
            assert same(replicates_of(named, name), replicates_of(other, name))
    assert [(one.model, one.reference) for one in others[0]["r2"].differences] == [(0, 1), (2, 1)]
    assert [(one.model, one.reference) for one in others[2]["r2"].differences] == [("a", "b"), ("c", "b")]
    assert (named.labels, named.pos_label) == (None, None)


@pytest.mark.cases(1)
@pytest.mark.parametrize("design", DESIGNS)
def test_threads_and_number_of_resamples(design: str) -> None:
    n = 70_000  # two chunks
    y, predicted = models(n)
    options: dict[str, Any] = {"metrics": OF_SUMS, **designed(design, n)}
    whole = compare_predictions(y, predicted, **QUICK | {"n_resamples": 40}, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        few = compare_predictions(y, predicted, **QUICK | {"n_resamples": 7}, **options)
    with num_threads(1):
        one = compare_predictions(y, predicted, **QUICK | {"n_resamples": 40}, **options)
    for name in OF_SUMS:
        assert same(replicates_of(whole, name), replicates_of(one, name))
        assert same(replicates_of(whole, name)[:7], replicates_of(few, name))
        assert str(whole) == str(one)


@pytest.mark.parametrize(
    ("y", "predicted", "options", "message"),
    [
        ([0, 1], [[0, 1]], {}, "predictions must have two models or more to compare, got 1"),
        ([0, 1], {"a": [0, 1]}, {}, "predictions must have two models or more to compare, got 1"),
        ([0, 1], [0, 1], {}, "predictions must have two models or more to compare, got 1"),
        ([0, 1], {}, {}, "predictions is empty"),
        ([0, 1], [[0, 1, 1], [0, 1, 1]], {}, r"predictions\[0\] has 3 rows, but y_true has 2"),
        ([0, 1], {"a": [0, 1], "b": ["x", "y"]}, {}, r"predictions\['b'\] must hold"),
        (["x", "y"], [[0, 1], [1, 0]], {}, "y_true must hold"),
        ([0, math.nan], [[0, 1], [1, 0]], {}, "y_true must be finite"),
        ([0, 1], {"a": [0, 1], "b": [math.inf, 1]}, {}, r"predictions\['b'\] must be finite"),
        ([0, 1], [[0, 1], [1, 0]], {"reference": 2}, "reference must be one of 0, 1"),
        ([0, 1], [[0, 1], [1, 0]], {"groups": [1]}, "groups has 1 rows"),
        ([0, 1], [[0, 1], [1, 0]], {"groups": [1, 1]}, "groups must have at least two groups to resample"),
        ([0, 1], [[0, 1], [1, 0]], {"sample_weight": [-1, 1]}, "sample_weight must not be negative"),
        ([0, 1], [[0, 1], [1, 0]], {"stratified": True}, "stratified and pos_label apply only to classes"),
        ([0, 1], [[0, 1], [1, 0]], {"pos_label": 1}, "stratified and pos_label apply only to classes"),
        (
            [0, 1], [[0, 1], [1, 0]], {"metrics": ["accuracy", "r2"]},
            "metrics must all be of classes or all of numbers, but accuracy is of predicted labels and r2 is of",
        ),
        ([0, 1], [[0, 1], [1, 0]], {"metrics": ["roc_auc", "r2"]}, "metrics must all be of classes or all of numbers"),
        ([0, 1], [[0, 1], [1, 0]], {"metrics": {"r2": "r2", "f": len}}, "metrics: functions need"),
        ([0, 1], [[0, 1], [1, 0]], {"metrics": metric("pinball_loss", quantile=2)}, "quantile must be in"),
    ],
)  # fmt: skip
def test_bad_input(y: Any, predicted: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_predictions(y, predicted, **{"metrics": "r2", "n_resamples": 9} | options)
