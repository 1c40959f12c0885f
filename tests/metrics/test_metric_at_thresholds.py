"""A metric at all thresholds in one call, against calls one by one and scikit-learn."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from hypothesis import given

from fastevals import metrics
from fastevals._options import UndefinedMetricWarning
from tests.metrics.test_scores import complaint
from tests.strategies import FEWER, cases

# Metrics of cells, and options with which they remain functions of cells.
AT_ONCE: dict[str, list[dict[str, Any]]] = {
    "accuracy_score": [{}, {"normalize": False}],
    "balanced_accuracy_score": [{}, {"adjusted": True}],
    "cohen_kappa_score": [{}, {"replace_undefined_by": 0.5}],
    "f1_score": [{}, {"pos_label": 0}, {"zero_division": 1.0}, {"zero_division": math.nan}],
    "fbeta_score": [{"beta": beta, "pos_label": label} for beta in (0, 0.5, 2, math.inf) for label in (0, 1)],
    "hamming_loss": [{}],
    "jaccard_score": [{}, {"pos_label": False, "zero_division": 0}],
    "matthews_corrcoef": [{}],
    "precision_score": [{}, {"pos_label": 0.0}, {"zero_division": 0, "average": "binary"}],
    "recall_score": [{}, {"pos_label": 0, "zero_division": 1}],
    "zero_one_loss": [{}, {"normalize": False}],
}


def slow(labels: Any, scores: Any, metric: Any, weights: Any = None, **options: Any) -> tuple[Any, Any, set[str]]:
    """Call a metric on the predictions at each distinct score, from the highest down."""
    labels, scores = np.asarray(labels), np.asarray(scores)
    if weights is not None:
        kept = np.asarray(weights) != 0
        labels, scores, options["sample_weight"] = labels[kept], scores[kept], np.asarray(weights)[kept]
    thresholds = np.unique(scores)[::-1]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        values = [metric(labels, (scores >= threshold).astype(np.int32), **options) for threshold in thresholds]
    return np.array(values), thresholds, {str(each.message) for each in seen}


def at_thresholds(*args: Any, **options: Any) -> tuple[Any, Any, list[str]]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        values, thresholds = metrics.metric_at_thresholds(*args, **options)
    return values, thresholds, [str(each.message) for each in seen]


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", AT_ONCE)
@FEWER
@given(case=cases())
def test_at_once_as_one_by_one(name, case):
    labels = (np.asarray(case.y_true) == max(case.y_true)).astype(int)
    for options in AT_ONCE[name]:
        for true in (labels, labels == 1, labels.astype(float), np.ones_like(labels), np.zeros_like(labels)):
            metric = getattr(metrics, name)
            values, thresholds, warned = at_thresholds(true, case.y_score, metric, metric_params=options)
            expected, distinct, texts = slow(true, case.y_score, metric, **options)
            np.testing.assert_array_equal(values, expected)
            np.testing.assert_array_equal(thresholds, distinct)
            assert values.dtype == expected.dtype
            assert set(warned) == texts
            if 0 < labels.sum() < labels.size and true is labels:
                assert len(warned) == len(texts)  # one warning for all thresholds


@pytest.mark.cases(6)
@pytest.mark.parametrize("name", AT_ONCE)
@FEWER
@given(case=cases(weights=(0.0, 0.25, 0.5, 1.0, 2.0)))
def test_weights(name, case):
    labels = (np.asarray(case.y_true) == max(case.y_true)).astype(int)
    for scale, rtol in ((1, 1e-15), (0.1, 1e-12)):
        weights = np.asarray(case.weights) * scale
        for options in AT_ONCE[name]:
            values, thresholds, warned = at_thresholds(
                labels, case.y_score, getattr(metrics, name), sample_weight=weights, metric_params=options
            )
            expected, distinct, texts = slow(labels, case.y_score, getattr(metrics, name), weights, **options)
            np.testing.assert_allclose(values, expected, rtol=rtol, atol=rtol)
            np.testing.assert_array_equal(thresholds, distinct)
            assert set(warned) == texts


@pytest.mark.slow
@FEWER
@given(case=cases())
def test_scikit_learns_metrics(case):
    labels = (np.asarray(case.y_true) == max(case.y_true)).astype(int)
    for name, all_options in AT_ONCE.items():
        for options in all_options:
            args = labels, case.y_score, getattr(sklearn.metrics, name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                values, thresholds = metrics.metric_at_thresholds(*args, metric_params=options)
                expected, theirs = sklearn.metrics.metric_at_thresholds(*args, metric_params=options)
            np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-15)
            np.testing.assert_array_equal(thresholds, theirs)
            assert (values.dtype, thresholds.dtype) == (expected.dtype, theirs.dtype)


OTHERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "macro": (metrics.f1_score, {"average": "macro", "zero_division": 0}),
    "one label": (metrics.f1_score, {"average": "micro", "labels": [0]}),
    "tuple": (metrics.class_likelihood_ratios, {}),
    "matrix": (metrics.confusion_matrix, {"labels": [0, 1]}),
    "distances": (metrics.cohen_kappa_score, {"weights": "linear"}),
    "function": (lambda true, predicted: (predicted @ true, true[0], predicted.dtype == np.int32), {}),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("weights", [None, [1, 2, 0, 3, 1, 0.5]])
def test_other_functions_are_called_as_scikit_learn_does(kind, weights):
    metric, options = OTHERS[kind]
    if kind == "function" and weights is not None:
        with pytest.raises(TypeError, match="sample_weight"):
            metrics.metric_at_thresholds([0, 1], [0.1, 0.2], metric, sample_weight=[1, 2])
        return
    labels, scores = [0, 1, 1, 0, 1, 0], [0.4, 0.7, 0.4, 0.4, 0.1, 0.7]
    found = []
    for module in (metrics, sklearn.metrics):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(
                module.metric_at_thresholds(labels, scores, metric, sample_weight=weights, metric_params=options)
            )
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_labels_that_are_not_0_and_1_are_the_functions_own_affair():
    scores = [0.4, 0.7, 0.4, 0.1]
    for labels, metric in (
        ([2, 0, 1, 1], metrics.accuracy_score),
        ([-1, 1, 1, -1], metrics.matthews_corrcoef),
        ([0.5, 1.5, 0.0, 1.0], metrics.mean_squared_error),
    ):
        one, other = (each.metric_at_thresholds(labels, scores, metric) for each in (metrics, sklearn.metrics))
        np.testing.assert_array_equal(one[0], other[0])
    with pytest.raises(ValueError, match="Mix of label input types"):
        metrics.metric_at_thresholds(["a", "b", "b", "a"], scores, metrics.accuracy_score)


@pytest.mark.parametrize("dtype", ["f2", "f4", "i1", "u1", "i8", "?", ">f8", ">i4"])
def test_scores_of_all_types(dtype):
    labels, scores = np.array([0, 1, 1, 0, 1]), np.array([3, 7, 1, 0, 1]).astype(dtype)
    for metric in (metrics.f1_score, lambda true, predicted: predicted @ true):
        (mine, at), (theirs, also) = (
            each.metric_at_thresholds(labels, scores, metric) for each in (metrics, sklearn.metrics)
        )
        np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(at, also)
    series = metrics.metric_at_thresholds(pd.Series(labels), pd.Series(scores.astype(float)), metrics.f1_score)
    np.testing.assert_array_equal(series[0], metrics.metric_at_thresholds(labels, scores, metrics.f1_score)[0])


def test_many_rows():
    rng = np.random.default_rng(0)
    labels = rng.random(200_000) < 0.3
    scores = labels + rng.standard_normal(labels.size)
    for name in AT_ONCE:
        if name != "fbeta_score":
            metric = getattr(metrics, name)
            values, thresholds = metrics.metric_at_thresholds(labels, scores, metric)
            for row in (0, 1000, 65_535, 65_536, 199_998, 199_999):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    assert values[row] == metric(labels, scores >= thresholds[row])


def test_options_are_refused_by_the_function():
    args = [0, 1], [0.1, 0.2]
    with pytest.raises(ValueError, match="The 'zero_division' parameter of f1_score must be"):
        metrics.metric_at_thresholds(*args, metrics.f1_score, metric_params={"zero_division": 2})
    with pytest.raises(ValueError, match="pos_label=7 is not a valid label"):
        metrics.metric_at_thresholds(*args, metrics.f1_score, metric_params={"pos_label": 7})
    with pytest.raises(TypeError, match="beta"):
        metrics.metric_at_thresholds(*args, metrics.fbeta_score)
    with pytest.raises(TypeError, match="gamma"):
        metrics.metric_at_thresholds(*args, metrics.f1_score, metric_params={"gamma": 1})
    weights = {"sample_weight": [1, 2]}  # passed on unchanged, though the rows are in another order
    for module in (metrics, sklearn.metrics):
        values, _ = module.metric_at_thresholds(*args, metrics.accuracy_score, metric_params=weights)
        assert values.tolist() == [1, 1 / 3]


def test_one_warning_of_all_thresholds():
    with pytest.warns(UndefinedMetricWarning, match="Precision is ill-defined and being set to 0.0 due to") as seen:
        metrics.metric_at_thresholds(
            [0, 1, 0], [0.1, 0.2, 0.3], metrics.precision_score, metric_params={"pos_label": 0}
        )
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("args", "options", "words"),
    [
        (([0, 1], [0.1, 0.2], 5), {}, "The 'metric_func' parameter of metric_at_thresholds must be a callable"),
        (([0, 1], [0.1, 0.2], len), {"metric_params": 3}, "The 'metric_params' parameter of metric_at_thresholds must"),
        (([0, 1], [0.1, math.nan], len), {}, "contains NaN"),
        (([0, math.nan], [0.1, 0.2], len), {}, "contains NaN"),
        (([0, 1], [0.1, 0.2, 0.3], len), {}, "inconsistent numbers of samples"),
        (([[0, 1]], [[0.1, 0.2]], len), {}, "y should be a 1d array"),
        (([0, 1], [0.1, 0.2], len), {"sample_weight": [0, 0]}, "at least one non-zero number"),
    ],
)
def test_errors(args, options, words):
    assert complaint("metric_at_thresholds", *args, **options).count(words) == 2
