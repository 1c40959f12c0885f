from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import ConfusionMatrix, bootstrap, compare_predictions, compare_rankings, metric, num_threads
from fastevals.infer.bootstrap.samples.joint import joint_of
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
    joint = joint_of(true, {str(i): each for i, each in enumerate(predicted)}, None)
    labels = np.unique(np.concatenate([true, *predicted]))
    assert joint.matrix.labels.tolist() == labels.tolist()
    for i, each in enumerate(predicted):
        expected = ConfusionMatrix.from_predictions(true, each, labels=labels).counts
        assert (joint.matrix.counts[i] == expected).all()
        assert (joint.matrices(joint.sizes[None])[0, i] == expected).all()
    assert (np.bincount(joint.of_row, minlength=joint.sizes.size) == joint.sizes).all()
    assert (labels[joint.true[joint.of_row]] == true).all()
    assert (np.diff(joint.true) >= 0).all()
    same = {tuple(row) for row in np.stack([true, *predicted], axis=1).tolist()}
    assert len(same) == joint.sizes.size


def test_many_models_have_more_combinations_than_codes() -> None:
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(0, 8, 50), rng.integers(0, 8, (40, 50))  # 8^41 combinations
    joint = joint_of(true, {"p": predicted}, None)
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
    """Of 4,000 replicates the relative error of a standard error is about 1.1 %: 8 % is 7 of them."""
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
