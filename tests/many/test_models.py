"""batch_auc and batch_metrics against loops over models, sklearn and delong; arrays per model; bad input."""

from __future__ import annotations

import math
import warnings
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastevals
from fastevals import (
    BatchMetrics,
    ConfusionMatrix,
    Ranking,
    UndefinedMetricWarning,
    batch_auc,
    batch_metrics,
    delong,
    metric,
    num_threads,
    regression_metrics,
)
from fastevals.many import columns
from fastevals.many import models as module
from fastevals.measure.registry import METRICS, SCORE_METRICS
from tests.reference import models as reference
from tests.strategies import BOUNDED, EXTREME, ORDINARY
from tests.test_validation import ODD_ARRAYS, complaint

undefined = pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
OF_SCORES = [name for name, entry in SCORE_METRICS.items() if entry.of != "cells"]


@st.composite
def models(draw: st.DrawFn) -> tuple[list[list[int]], list[list[float]]]:
    """Draw labels and scores of one to four models, each with its own rows."""
    labels, scores = [], []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 10))
        pool = draw(st.sampled_from([ORDINARY, EXTREME, ORDINARY[:2]]))
        labels.append(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
        scores.append(draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n)))
    return labels, scores


def table(m: int = 5, n: int = 60, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, (rng.normal(size=(m, n)) + y).round(1)


def named(rows: Any) -> dict[str, Any]:
    return {f"m{i}": row for i, row in enumerate(rows)}


# Scores -----------------------------------------------------------------------------------------------------------


@undefined
@BOUNDED
@given(models())
def test_models_with_rows_of_their_own(case: tuple[Any, Any]) -> None:
    labels, scores = case
    found = batch_auc(named(labels), named(scores), pos_label=1, standard_errors=True)
    expected = reference.aucs(labels, scores)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(found.standard_errors, reference.standard_errors(labels, scores), rtol=1e-15)
    assert np.broadcast_to(found.n_positives, len(labels)).tolist() == list(map(sum, labels))
    np.testing.assert_array_equal(batch_auc(named(labels), named(scores), pos_label=1), expected)


def test_fawcett() -> None:
    y = [1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0]
    scores = [.9, .8, .7, .6, .55, .54, .53, .52, .51, .505, .4, .39, .38, .37, .36, .35, .34, .33, .3, .1]  # fmt: skip
    assert list(batch_auc(y, [scores, [-s for s in scores], [0] * 20])) == [0.68, 0.32, 0.5]


@pytest.mark.parametrize("weighted", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_standard_errors_are_those_of_delong(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    y, scores = table(n=20_000)
    options = {"frequency_weight": np.arange(y.size) % 4} if weighted else {}
    found, expected = batch_auc(y, scores, standard_errors=True, **options), delong(y, scores, **options)
    np.testing.assert_array_equal(found, expected.aucs)
    np.testing.assert_array_equal(found.standard_errors, np.sqrt(np.diag(expected.covariance)))
    assert (found.n_positives, found.n_negatives) == (expected.n_positives, expected.n_negatives)
    np.testing.assert_array_equal(found, batch_auc(y, scores, **options))
    assert batch_auc(y, scores).standard_errors is None
    monkeypatch.setattr(columns, "LIMIT_ROWS", 1)  # longer columns are ranked as `Ranking` does
    np.testing.assert_array_equal(
        batch_auc(y, scores, standard_errors=True, **options).standard_errors, found.standard_errors
    )


@pytest.mark.parametrize("name", OF_SCORES)
def test_each_metric_of_scores(name: str) -> None:
    y, scores = table()
    if SCORE_METRICS[name].of == "probabilities":
        scores = 1 / (1 + np.exp(-scores))
    expected = [SCORE_METRICS[name](Ranking(y, each).counts) for each in scores]
    assert list(batch_metrics(y, scores, name)[name]) == expected


def test_metrics_with_options_and_functions() -> None:
    y, scores = table()
    asked = {
        "at": metric("f1", threshold=0.5), "best": metric("f1", best="f1"), "part": metric("roc_auc", max_fpr=0.2),
        "n": lambda counts: counts.thresholds.size, "whole": metric("roc_auc", max_fpr=1.0),
    }  # fmt: skip
    found = batch_metrics(y, scores, asked)
    for i, each in enumerate(scores):
        ranking = Ranking(y, each)
        assert found["at"][i] == ranking.confusion_at(0.5).f_score()
        assert found["best"][i] == ranking.best_threshold("f1").value
        assert found["part"][i] == ranking.roc_auc(max_fpr=0.2)
        assert found["whole"][i] == ranking.roc_auc()
        assert found["n"][i] == ranking.counts.thresholds.size


def test_as_sklearn() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    y, scores = table(n=300)
    weights = np.random.default_rng(1).random(300)
    for options in ({}, {"sample_weight": weights}):
        found = batch_metrics(y, scores, ["roc_auc", "average_precision"], **options)
        for i, each in enumerate(scores):
            assert found["roc_auc"][i] == pytest.approx(sklearn.roc_auc_score(y, each, **options), abs=1e-14)
            expected = sklearn.average_precision_score(y, each, **options)
            assert found["average_precision"][i] == pytest.approx(expected, abs=1e-14)


# How models are given ---------------------------------------------------------------------------------------------


def test_ways_to_give_models() -> None:
    y, scores = table()
    expected = [Ranking(y, each).roc_auc() for each in scores]
    names = list(named(scores))
    for models in (
        scores.tolist(), list(scores), tuple(map(pd.Series, scores)), [pl.Series(each) for each in scores],
        named(scores), pd.DataFrame(scores.T, columns=names), pl.DataFrame(named(scores)), pa.table(named(scores)),
    ):  # fmt: skip
        found = batch_auc(y, models)
        assert list(found) == expected
        assert found.names in (tuple(range(5)), tuple(names))
    assert batch_auc(y, scores[0]).names == (0,)
    assert list(batch_auc(y, scores[0])) == expected[:1]


def test_what_goes_with_models() -> None:
    y, scores = table()
    weights = np.random.default_rng(2).random(scores.shape)
    labels = np.stack([np.roll(y, i) for i in range(5)])
    expected = [Ranking(a, b, sample_weight=w).roc_auc() for a, b, w in zip(labels, scores, weights, strict=True)]
    assert list(batch_auc(labels, scores, sample_weight=weights)) == expected
    assert list(batch_auc(list(labels), scores, sample_weight=weights.tolist())) == expected
    backwards = dict(reversed(named(labels).items()))
    assert list(batch_auc(backwards, named(scores), sample_weight=pd.DataFrame(named(weights)))) == expected
    texts = np.where(labels == 1, "yes", "no")
    assert list(batch_auc(texts, scores, sample_weight=weights, pos_label="yes")) == expected


@pytest.mark.parametrize("labels", [[True, False, True, False], [1, -1, 1, -1], [1.0, 0, 1, 0], list("babab"[:4])])
def test_labels(labels: Any) -> None:
    assert list(batch_auc(labels, [[2, 1, 3, 0]], pos_label=labels[0])) == [1.0]


@pytest.mark.parametrize("names", [["roc_auc"], pytest.param(["r2", "median_absolute_error"], marks=pytest.mark.slow)])
def test_rows_without_weight_are_left_out(names: list[str]) -> None:
    y, scores = table()
    weights = (np.arange(y.size) % 3).astype(float)
    kept = weights > 0
    for name in names:
        found = batch_metrics(y, scores, name, sample_weight=weights)
        assert list(found[name]) == list(
            batch_metrics(y[kept], scores[:, kept], name, sample_weight=weights[kept])[name]
        )
    assert batch_auc(y, scores, sample_weight=weights).n_positives == y[kept].sum()


def test_inputs_stay_as_they_are() -> None:
    y, scores = table()
    before = y.copy(), scores.copy()
    for array in (y, scores):
        array.flags.writeable = False
    batch_auc(y, scores, standard_errors=True)
    batch_metrics(y, scores, ["average_precision", "brier_score"][:1])
    assert np.array_equal(y, before[0])
    assert np.array_equal(scores, before[1])


# Predicted labels and numbers -------------------------------------------------------------------------------------


@BOUNDED
@given(st.lists(st.lists(st.sampled_from("abc"), min_size=6, max_size=6), min_size=1, max_size=3))
def test_accuracies(predicted: list[list[str]]) -> None:
    assert list(batch_metrics(list("abcabc"), predicted, "accuracy")["accuracy"]) == pytest.approx(
        reference.accuracies(list("abcabc"), predicted), abs=1e-15
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, "U3", object])
def test_each_metric_of_labels(dtype: Any, weighted: bool) -> None:
    y, scores = table()
    predicted, options = (scores > 0.5).astype(int), {}
    if weighted:
        options = {"sample_weight": np.arange(y.size) % 3}
    names = [name for name, entry in METRICS.items() if entry.of_labels and name != "cost"]
    text = dtype in ("U3", object)
    given = [each.astype(str).astype(dtype) if text else each.astype(dtype) for each in (y, predicted)]
    found = batch_metrics(*given, names, pos_label="1" if text else None, **options)
    for i, each in enumerate(predicted):
        matrix = ConfusionMatrix.from_predictions(y, each, **options)
        for name in names:
            if hasattr(matrix, name):
                assert found[name][i] == getattr(matrix, name)(), name


def test_models_are_measured_over_the_classes_of_all() -> None:
    y, predicted = [0, 1, 2, 2], {"a": [0, 1, 2, 2], "b": [0, 1, 5, 2]}
    macro = metric("recall", average="macro")
    with pytest.warns(UndefinedMetricWarning, match=r"in 2 of 2 models, the first 'a'"):
        assert batch_metrics(y, predicted, macro)[macro].n_undefined == 2
    micro = metric("recall", average="micro")
    assert list(batch_metrics(y, predicted, micro)[micro]) == [1.0, 0.75]


def test_labels_of_models_with_rows_of_their_own() -> None:
    found = batch_metrics({"a": [0, 1], "b": [1, 1, 0]}, {"a": [0, 0], "b": [1, 0, 0]}, ["accuracy", "recall"])
    assert list(found["accuracy"]) == [0.5, 2 / 3]
    assert list(found["recall"]) == [0.0, 0.5]


@pytest.mark.parametrize("weighted", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_each_metric_of_numbers(weighted: bool) -> None:
    y, scores = table()
    options: dict[str, Any] = {"sample_weight": np.arange(y.size) % 3} if weighted else {}
    expected = regression_metrics(y, scores, **options)
    errors = [name for name, entry in METRICS.items() if entry.of == "targets"]
    found = batch_metrics(y, scores, errors, **options)
    for name in errors:
        np.testing.assert_array_equal(found[name], getattr(expected, name))
    losses = [metric("pinball_loss", quantile=q) for q in (0.1, 0.9)]
    by_quantile = batch_metrics(np.stack([y] * 5), scores, losses, **options)
    for loss in losses:
        expected = regression_metrics(y, scores, **loss.options, **options)
        np.testing.assert_array_equal(by_quantile[loss], expected.pinball_loss)


@undefined
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_of_many_short_models_are_those_of_each(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS_TOGETHER", 300)
    taken = mock.Mock(side_effect=module.grouped_errors)
    monkeypatch.setattr(module, "grouped_errors", taken)
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 9, 150)
    targets, predicted = ({f"m{i}": rng.normal(size=n).round(1) for i, n in enumerate(sizes)} for _ in range(2))
    weights = {name: rng.integers(0, 3, each.size) + 0.5 for name, each in targets.items()} if weighted else {}
    options: dict[str, Any] = {"sample_weight": weights} if weighted else {}
    errors = [name for name, entry in METRICS.items() if entry.of == "targets"]
    found = batch_metrics(targets, predicted, errors, **options)
    assert taken.call_count > 1
    for name, values in predicted.items():
        own = {"sample_weight": weights[name]} if weighted else {}
        one = regression_metrics(targets[name], values, **own)
        for each in errors:
            np.testing.assert_allclose(found[each][name], getattr(one, each), rtol=1e-13, atol=1e-13)
    predicted["m99"][0] = np.nan
    with pytest.raises(ValueError, match=r"predictions\['m99'\] must be finite, but has 1 NaN value"):
        batch_metrics(targets, predicted, "r2")


def test_labels_of_all_models_are_of_one_type() -> None:
    with pytest.raises(
        ValueError, match=r"labels must be of one type, but y_true\['a'\] has strings and y_true\['b'\]"
    ):
        batch_metrics({"a": ["x", "y"], "b": [0, 1]}, {"a": ["x", "y"], "b": [0, 1]}, "accuracy")


# Undefined, threads, results --------------------------------------------------------------------------------------


def test_one_warning_says_how_many_are_undefined() -> None:
    y, scores = table()
    labels = [y, y, 0 * y, y, 0 * y]
    with pytest.warns(UndefinedMetricWarning) as warned:
        found = batch_auc(labels, scores)
    (message,) = [str(each.message) for each in warned]
    assert message == "roc_auc is undefined (NaN): in 2 of 5 models, the first 2"
    assert (found.n_undefined, found.n_positives.tolist()) == (2, [y.sum(), y.sum(), 0, y.sum(), 0])
    with pytest.warns(UndefinedMetricWarning, match=r"the standard error .* in 1 of 2 models, .*'b': two rows of each"):
        found = batch_auc(
            {"a": [0, 0, 1, 1], "b": [0, 1, 1]}, {"a": [1, 2, 3, 4], "b": [1, 2, 3]}, standard_errors=True
        )
    assert found.n_undefined == 0
    assert math.isnan(found.standard_errors[1])


def test_threads_make_no_difference() -> None:
    y, scores = table(m=9, n=3000)
    metrics = ["roc_auc", "average_precision", "log_loss"]
    probabilities = np.asfortranarray(1 / (1 + np.exp(-scores)))
    with num_threads(1):
        one = batch_metrics(y, probabilities, metrics).to_dict()
    with num_threads(4):
        assert batch_metrics(y, probabilities, metrics).to_dict() == one


def test_the_result_is_a_mapping() -> None:
    found = batch_metrics([0, 0, 1, 1], [[0.1, 0.4, 0.3, 0.8]], ["roc_auc", metric("f1", threshold=0.3)])
    assert isinstance(found, BatchMetrics)
    assert list(found) == ["roc_auc", "f1(threshold=0.3)"]
    assert found[metric("f1", threshold=0.3)][0] == 0.8
    assert repr(found).startswith("BatchMetrics(1 model, pos_label=1\n  roc_auc: BatchMetric(0.75)")
    assert found["roc_auc"].n_positives == 2
    with pytest.raises(KeyError, match="f1: the metrics are roc_auc"):
        found["f1"]


# Bad input --------------------------------------------------------------------------------------------------------

Y = [0, 1, 0, 1]
S = [[1, 2, 3, 4], [4, 3, 2, 1]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: batch_auc(Y, []), "scores is empty"),
        (lambda: batch_auc(Y, {}), "scores is empty: it must have at least one model"),
        (lambda: batch_auc(Y, np.zeros((0, 4))), "scores is empty"),
        (lambda: batch_auc(Y, np.zeros((2, 2, 4))), r"scores must be 1-D, or 2-D .*got shape \(2, 2, 4\)"),
        (lambda: batch_auc(Y, [S[0], S[1][:3]]), "scores can't be read as an array"),
        (lambda: batch_auc(Y, [np.array(S[0]), np.array(S[1][:3])]), r"scores\[1\] has 3 rows, but y_true has 4"),
        (lambda: batch_auc(Y, {"a": S[0], "b": [1, 2]}), r"scores\['b'\] has 2 rows, but y_true has 4"),
        (lambda: batch_auc([Y] * 3, S), "y_true must have a row for each of the 2 models, got 3"),
        (lambda: batch_auc([Y, [*Y[:3], 7]], S), r"y_true\[1\] must have two classes, got 3 labels: 0, 1, 7"),
        (lambda: batch_auc([0, 1, 2, 1], S), "y_true must have two classes, got 3 labels: 0, 1, 2"),
        (lambda: batch_auc({"a": Y}, named(S)), "y_true must have the names of the models, but lacks 'm0', 'm1'"),
        (lambda: batch_auc({**named([Y, Y]), "c": Y}, named(S)), "y_true must have the .* but also has 'c'"),
        (lambda: batch_auc({"m0": Y, "m1": Y[:3]}, named(S)), r"scores\['m1'\] has 4 rows, but y_true\['m1'\] has 3"),
        (lambda: batch_auc(list("abab"), S), "pos_label must say which is positive"),
        (lambda: batch_auc(Y, [[1, 2, math.nan, 4], S[0]]), r"scores\[0\] must be finite, but has 1 NaN value"),
        (lambda: batch_auc(Y, {"a": [1, 2, math.inf, 4]}), r"scores\['a'\] must be finite, but has 1 infinite"),
        (lambda: batch_auc(Y, S, sample_weight=[1, 1, 1]), r"scores\[0\] has 4 rows, but sample_weight has 3"),
        (lambda: batch_auc(Y, S, sample_weight=[1, 1, -1, 1]), "sample_weight must not be negative"),
        (lambda: batch_auc(Y, S, frequency_weight=[1, 0.5, 1, 1], standard_errors=True), "the number of copies"),
        (lambda: batch_auc(Y, S, sample_weight=[1, 2, 1, 1], standard_errors=True), "standard_errors=True does not"),
        (lambda: batch_auc(Y, [[1, 2, math.nan, 4]], frequency_weight=Y, standard_errors=True), r"scores\[0\] must be"),
        (lambda: batch_auc(Y, S, standard_errors="yes"), "standard_errors must be"),
        (lambda: batch_metrics(Y, S, "roc"), "metrics must be one of [0-9]+ names; got 'roc' .did you mean 'roc_auc'"),
        (lambda: batch_metrics(Y, S, []), "metrics is empty"),
        (lambda: batch_metrics(Y, S, ["roc_auc", "accuracy"]), "metrics must all be of labels, all of scores"),
        (lambda: batch_metrics(Y, S, lambda counts: 1.0), "metrics must include a metric with a name"),
        (lambda: batch_metrics(Y, [Y, Y], "accuracy", pos_label=7), "pos_label must be a label of the data"),
        (lambda: batch_metrics(Y, [Y, Y], "r2", pos_label=1), "pos_label applies only to metrics of classes"),
        (lambda: batch_metrics(Y, [Y, list("abab")], "accuracy"), "predictions must"),
        (lambda: batch_metrics(Y, {"a": list("abab")}, "accuracy"), r"y_true has numbers and predictions\['a'\] has"),
        (lambda: batch_metrics(Y, [[0, 1, 0.5, 1]], "accuracy"), r"predictions\[0\] must hold class labels"),
        (lambda: batch_metrics(Y, [Y, Y], metric("recall", average=None)), "must give one number for each model"),
        (lambda: batch_metrics(Y, [[1, 2, math.nan, 4]], "r2"), r"predictions\[0\] must be finite"),
        (lambda: batch_metrics([1, 2, math.nan, 4], S, "r2"), "y_true must be finite"),
    ],
)  # fmt: skip
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


CALLS: dict[str, Any] = {
    "batch_auc(y_true)": lambda x: batch_auc(x, S),
    "batch_auc(scores)": lambda x: batch_auc(Y, x),
    "batch_auc(sample_weight)": lambda x: batch_auc(Y, S, sample_weight=x),
    "batch_metrics(y_true)": lambda x: batch_metrics(x, [Y, Y], ["accuracy"]),
    "batch_metrics(predictions)": lambda x: batch_metrics(Y, x, ["accuracy"]),
    "batch_metrics(numbers)": lambda x: batch_metrics(Y, x, ["mean_absolute_error"]),
    "batch_metrics(sample_weight)": lambda x: batch_metrics(Y, [Y, Y], ["accuracy"], sample_weight=x),
}


@pytest.mark.parametrize("entry", CALLS)
def test_odd_values(entry: str) -> None:
    found = {name: complaint(CALLS[entry], value) for name, value in ODD_ARRAYS.items()}
    assert {name: text for name, text in found.items() if text} == {}


def test_nothing_is_said_where_all_is_defined() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(fastevals.batch_auc(Y, S)) == [0.75, 0.25]
