from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import (
    ConfusionMatrix,
    UndefinedMetricWarning,
    bootstrap,
    compare_predictions,
    compare_rankings,
    metric,
    num_threads,
)
from fastevals._validation.labels import as_labels
from fastevals.infer.bootstrap import label_samples, subjects
from fastevals.infer.bootstrap.label_samples import LabelSample, MatrixSample, count_joint_cells, number_joint_cells
from fastevals.measure.metric_specs import parse_metrics
from tests.strategies import BOUNDED

METRICS = ["accuracy", metric("f1", average="macro"), "matthews", metric("cost", cost_matrix=[[0, 1, 2]] * 3)]
QUICK: dict[str, Any] = {"n_resamples": 199, "rng": 5}

rows = st.integers(1, 12).flatmap(
    lambda n: st.integers(1, 3).flatmap(
        lambda k: st.lists(st.lists(st.integers(-2, 2), min_size=n, max_size=n), min_size=k + 1, max_size=k + 1)
    )
)


def models(n: int = 300, classes: int = 3) -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(4)
    y = rng.integers(0, classes, n)
    right = [np.where(rng.random(n) < share, y, rng.integers(0, classes, n)) for share in (0.8, 0.7, 0.75)]
    return y, dict(zip("abc", right, strict=True))


@BOUNDED
@given(rows, st.booleans())
def test_cells_add_up_to_each_models_matrix(columns: list[list[int]], text: bool) -> None:
    true, *predicted = (np.array(column).astype(str) if text else np.array(column) for column in columns)
    read, *models = (as_labels("the labels", each) for each in (true, *predicted))
    joint = count_joint_cells(read, {str(i): each for i, each in enumerate(models)})
    labels = np.unique(np.concatenate([true, *predicted]))
    assert joint.matrix.labels.tolist() == labels.tolist()
    for i, each in enumerate(predicted):
        expected = ConfusionMatrix.from_predictions(true, each, labels=labels).counts
        assert (joint.matrix.counts[i] == expected).all()
        assert (joint.matrices(joint.sizes[None])[0, i] == expected).all()
    again, of_row = number_joint_cells(read, {str(i): each for i, each in enumerate(models)}, None)
    for ours, other in zip(joint[1:], again[1:], strict=True):
        np.testing.assert_array_equal(ours, other)
    assert (np.bincount(of_row, minlength=joint.sizes.size) == joint.sizes).all()
    assert (labels[joint.true[of_row]] == true).all()
    assert (np.diff(joint.true) >= 0).all()
    same = {tuple(row) for row in np.stack([true, *predicted], axis=1).tolist()}
    assert len(same) == joint.sizes.size


def test_many_models_have_more_combinations_than_codes() -> None:
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(0, 8, 50), rng.integers(0, 8, (40, 50))  # 8^41 combinations
    joint = count_joint_cells(true, {"p": predicted})
    for i, each in enumerate(predicted):
        assert (joint.matrix.counts[i] == ConfusionMatrix.from_predictions(true, each, labels=range(8)).counts).all()


def test_estimates_are_those_of_each_model() -> None:
    y, predicted = models()
    found = compare_predictions(y, predicted, metrics=METRICS, **QUICK)
    for name, each in predicted.items():
        alone = bootstrap((y, each), METRICS, **QUICK)
        for label, estimate in alone.items():
            ours = found[label].estimates[name]
            assert ours.value == estimate.value
            assert ours.standard_error == pytest.approx(estimate.standard_error, rel=0.35)
    assert [(one.model, one.reference) for one in found["accuracy"].differences] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_the_standard_error_of_a_difference_is_that_of_pairs() -> None:
    """With 4,000 replicates a standard error has a relative error of about 1.1 %; 8 % is 7 times that."""
    y, predicted = models(1000)
    found = compare_predictions(y, predicted, n_resamples=4000, rng=1, reference="b")
    first = found["accuracy"].differences[0]
    d = (predicted["a"] == y).astype(float) - (predicted["b"] == y)
    assert first.value == pytest.approx(d.mean())
    assert first.standard_error == pytest.approx(d.std() / np.sqrt(d.size), rel=0.08)
    low, high = first.confidence_interval
    assert low < d.mean() < high


def test_two_classes_agree_with_scores_at_a_threshold() -> None:
    y, predicted = models(400, 2)
    of_labels = compare_predictions(y, predicted, metrics=["f1"], n_resamples=2000, rng=3)["f1"]
    of_scores = compare_rankings(y, predicted, metrics=[metric("f1", threshold=0.5)], n_resamples=2000, rng=3)
    for ours, theirs in zip(of_labels.differences, of_scores["f1(threshold=0.5)"].differences, strict=True):
        assert ours.value == theirs.value
        assert ours.standard_error == pytest.approx(theirs.standard_error, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("stratified", [False, True])
def test_replicates_are_distributed_alike_whether_cells_or_rows_are_drawn(
    stratified: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 20,000 replicates means agree within 6 standard errors (2 in 10^9), standard errors within 3 % (6 SE)."""
    y, predicted = models(400)
    asked, design = parse_metrics(METRICS), subjects.SamplingDesign(stratified=stratified)
    values, replicates = [], []
    for most, kind in ((10**9, MatrixSample), (0, LabelSample)):
        monkeypatch.setattr(label_samples, "MANY_CELLS", most)
        sample = subjects.make_prediction_sample(y, predicted, asked, design)
        assert type(sample) is kind
        values.append(sample.estimates())
        replicates.append(sample.replicates(20_000, np.uint64(3)))
    for k in range(len(METRICS)):
        np.testing.assert_array_equal(values[0][k], values[1][k])
        table, rows = (each[k] for each in replicates)
        errors = table.std(axis=0)
        np.testing.assert_allclose(rows.std(axis=0), errors, rtol=0.03)
        assert (np.abs(rows.mean(axis=0) - table.mean(axis=0)) < 6 * errors / 100).all()  # two samples: sqrt(2 / n)
        np.testing.assert_allclose(np.corrcoef(rows.T), np.corrcoef(table.T), atol=0.06)


def test_rows_are_drawn_where_cells_are_many() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 20, 3000)
    predicted = {name: rng.integers(0, 20, 3000) for name in "ab"}
    asked = parse_metrics("accuracy")
    assert isinstance(subjects.make_prediction_sample(y, predicted, asked, subjects.SamplingDesign()), LabelSample)
    few = {name: each // 10 for name, each in predicted.items()}
    assert isinstance(subjects.make_prediction_sample(y // 10, few, asked, subjects.SamplingDesign()), MatrixSample)


@pytest.mark.parametrize("design", ["plain", "stratified", "groups", "weights", "stratified groups"])
def test_designs_and_threads(design: str) -> None:
    y, predicted = models()
    beside: dict[str, Any] = {"stratified": "stratified" in design}
    if "groups" in design:
        beside["groups"] = y * 50 + np.arange(y.size) % 50  # each of one class
    if "weights" in design:
        beside["sample_weight"] = np.arange(y.size) % 4
    once = compare_predictions(y, predicted, metrics=METRICS, keep_distribution=True, **QUICK, **beside)
    with num_threads(1):
        again = compare_predictions(y, predicted, metrics=METRICS, keep_distribution=True, **QUICK, **beside)
    for label in once:
        for name in predicted:
            first, second = (each[label].estimates[name].bootstrap_distribution for each in (once, again))
            assert (first == second).all()
    if "weights" in design:
        repeated = np.repeat(np.arange(y.size), np.arange(y.size) % 4)
        plain = compare_predictions(y[repeated], {k: v[repeated] for k, v in predicted.items()}, **QUICK)
        assert once["accuracy"].differences[0].value == pytest.approx(plain["accuracy"].differences[0].value)


def test_stratified_replicates_keep_the_classes() -> None:
    y, predicted = models()
    seen = []

    def accuracy(matrix: ConfusionMatrix) -> Any:
        seen.append(matrix.counts.sum(axis=-1).reshape(-1, 3))
        return matrix.accuracy()

    compare_predictions(y, predicted, metrics={"accuracy": accuracy}, stratified=True, **QUICK)
    drawn = max(seen, key=len)
    assert len(drawn) >= 199
    assert (drawn == np.bincount(y)).all()


def test_models_that_predict_alike() -> None:
    y, predicted = models()
    found = compare_predictions(y, {"a": predicted["a"], "b": predicted["a"]}, metrics=METRICS, **QUICK)
    for each in found.values():
        assert each.differences[0].value == 0
        assert each.differences[0].pvalue == 1


@pytest.mark.parametrize(
    ("y", "predicted", "options", "message"),
    [
        ([0, 1], [[0, 1]], {}, "predictions must have two models or more"),
        ([0, 1], [[0, 1, 1], [0, 1, 1]], {}, "has 3 rows, but y_true has 2"),
        ([0, 1], {"a": [0, 1], "b": ["x", "y"]}, {}, "labels must be of one type"),
        ([0, 1], {"a": [0, 1], "b": [0.5, 1]}, {}, r"predictions\['b'\] must hold class labels"),
        ([0, 1], [0, 1], {}, "predictions must be 2-D"),
        ([0, 1], {"a": [0, 1], "b": [1, 0]}, {"reference": "c"}, "reference must be one of 'a', 'b'"),
        ([0, 1], {"a": [0, 1], "b": [1, 0]}, {"metrics": "roc_auc"}, "metrics must be one of"),
        ([0, 1], {"a": [0, 1], "b": [1, 0]}, {"groups": [1]}, "groups has 1 rows"),
        ([0, 1], {"a": [0, 1], "b": [1, 0]}, {"sample_weight": [-1, 1]}, "sample_weight must not be negative"),
        ([0, 1, 2], {"a": [0, 1, 2], "b": [1, 0, 2]}, {"metrics": "f1"}, "average='binary' needs 2 classes"),
    ],
)
def test_bad_input(y: Any, predicted: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_predictions(y, predicted, **options, n_resamples=9)


@pytest.mark.parametrize("reference", [1001, np.int64(1001)])
def test_a_reference_by_number(reference: Any) -> None:
    y, predicted = models(60)
    numbered = {1000 + k: each for k, each in enumerate(predicted.values())}
    found = compare_predictions(y, numbered, reference=reference, **QUICK)
    assert [(one.model, one.reference) for one in found["accuracy"].differences] == [(1000, 1001), (1002, 1001)]


# A value for each class -----------------------------------------------------------------------------------------------

F1S = metric("f1", average=None)


@pytest.mark.parametrize("design", ["plain", "stratified", "weights"])
def test_a_metric_may_have_a_value_for_each_class(design: str) -> None:
    y, predicted = models()
    beside: dict[str, Any] = {"stratified": design == "stratified"}
    if design == "weights":
        beside["sample_weight"] = np.arange(y.size) % 4
    found = compare_predictions(y, predicted, metrics=F1S, keep_distribution=True, **QUICK, **beside)[F1S]
    by_class = {
        f"f1 of {k}": (lambda matrix, k=k: matrix.f_score(average=None)[..., k]) for k in range(3)
    }  # each in its own call, with the same draws
    alone = compare_predictions(y, predicted, metrics=by_class, **QUICK, **beside)
    for k, one in enumerate(alone.values()):
        for name in predicted:
            ours, theirs = found.estimates[name], one.estimates[name]
            assert ours.value[k] == theirs.value
            assert ours.bootstrap_distribution is not None
            assert ours.bootstrap_distribution.shape == (199, 3)
            assert ours.standard_error[k] == pytest.approx(theirs.standard_error, rel=1e-12)
        for ours, theirs in zip(found.differences, one.differences, strict=True):
            assert ours.value[k] == theirs.value
            for field in ("standard_error", "pvalue", "unadjusted_pvalue"):
                assert getattr(ours, field)[k] == pytest.approx(getattr(theirs, field), rel=1e-12), field
            # functions have no bounds
            assert ours.confidence_interval.low[k] == pytest.approx(max(theirs.confidence_interval.low, -1.0))
            assert ours.confidence_interval.high[k] == pytest.approx(min(theirs.confidence_interval.high, 1.0))
        assert found.n_undefined[k] == one.n_undefined


def test_values_of_classes_of_a_bootstrap_are_the_same_vector() -> None:
    y, predicted = models()
    found = compare_predictions(y, predicted, metrics=F1S, **QUICK)
    alone = bootstrap((y, predicted["a"]), F1S, **QUICK)[F1S]
    assert found[F1S].estimates["a"].value.tolist() == alone.value.tolist()
    assert found.labels is not None
    assert found.labels.tolist() == [0, 1, 2]
    told = json.loads(json.dumps(found.to_dict()))
    difference = told["metrics"]["f1(average=None)"]["differences"][0]
    assert [len(difference[name]) for name in ("value", "pvalue", "standard_error")] == [3, 3, 3]
    assert np.shape(difference["confidence_interval"]) == (2, 3)
    one = found[F1S].differences[0]
    numbers = zip(one.value, *one.confidence_interval, strict=True)
    shown = ", ".join("{:.4g} [{:.4g}, {:.4g}]".format(*each) for each in numbers)
    assert repr(one) == f"Difference(a - b: {shown})"
    assert "    a - b [2] " in str(found)


def test_a_class_that_replicates_lack_leaves_the_others_be() -> None:
    y, predicted = models(60)
    y[0] = 3  # its recall is undefined in a third of the replicates
    with pytest.warns(UndefinedMetricWarning):
        found = compare_predictions(y, predicted, metrics=metric("recall", average=None), **QUICK)
    (one,) = found.values()
    assert one.n_undefined[:3].tolist() == [0, 0, 0]
    assert 30 < one.n_undefined[3] < 120
    assert np.isfinite([each.pvalue[:3] for each in one.differences]).all()


@pytest.mark.parametrize(
    "function", [lambda matrix: matrix.counts.sum(axis=(-1, -2, -3)), lambda matrix: matrix.pool(-1).accuracy()]
)
def test_a_function_that_has_no_value_for_each_model(function: Any) -> None:
    y, predicted = models(60)
    with pytest.raises(ValueError, match="must return one number, or an array of one shape, for each of 3 models; got"):
        compare_predictions(y, predicted, metrics=function, **QUICK)


@pytest.mark.parametrize("given", ["much", 1j, None])
@pytest.mark.parametrize("weights", [None, np.full(60, 2.0)])
def test_a_function_that_gives_no_number(given: Any, weights: Any) -> None:
    y, predicted = models(60)
    with pytest.raises(ValueError, match="metrics: a function must return real numbers, got "):
        compare_predictions(y, predicted, metrics=lambda matrix: given, sample_weight=weights, **QUICK)
