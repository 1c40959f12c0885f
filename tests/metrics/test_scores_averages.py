"""Areas of many classes and labels, and their averages, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import sklearn.metrics

import fastevals
from fastevals.metrics import average_precision_score, roc_auc_score
from tests.metrics.test_scores import AREAS, beside, complaint
from tests.strategies import EXAMPLES

AVERAGES = ("macro", "micro", "samples", "weighted", None)
SEEDS = range(EXAMPLES // 8)


def classes(seed, n=60, k=4):
    """Draw class numbers (all occur), rows of probabilities with ties, and weights."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, k, n)
    codes[:k] = range(k)
    scores = rng.multinomial(16, np.ones(k) / k, n) / 16
    return codes, scores, rng.random(n) + 0.01


def indicators(seed, n=60, k=4):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (n, k)), rng.integers(0, 9, (n, k)) / 9, rng.random(n) + 0.01


@pytest.mark.cases(3)
@pytest.mark.parametrize("average", ["macro", "micro", "weighted", None])
@pytest.mark.parametrize("seed", SEEDS)
def test_each_class_against_the_rest(seed, average):
    codes, scores, weights = classes(seed)
    for labels in (codes, np.array(["d", "aa", "c", "b"])[codes], codes.tolist()):
        beside("roc_auc_score", labels, scores, average=average, multi_class="ovr")
        beside("roc_auc_score", labels, scores, average=average, multi_class="ovr", sample_weight=weights)
        beside("average_precision_score", labels, scores, average=average)
        beside("average_precision_score", labels, scores, average=average, sample_weight=weights)


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_of_classes(seed, average):
    codes, scores, _ = classes(seed)
    for labels in (codes, np.array(["d", "aa", "c", "b"], dtype=object)[codes]):
        mine = roc_auc_score(labels, scores, average=average, multi_class="ovo")
        theirs = sklearn.metrics.roc_auc_score(labels, scores, average=average, multi_class="ovo")
        assert mine == pytest.approx(theirs, rel=1e-12)
    kept = codes != 2
    mine = roc_auc_score(codes[kept], scores[kept], average=average, multi_class="ovo", labels=range(4))
    theirs = sklearn.metrics.roc_auc_score(
        codes[kept], scores[kept], average=average, multi_class="ovo", labels=range(4)
    )
    assert mine == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_pairs_take_weights(average):
    codes, scores, _ = classes(3)
    counts = np.random.default_rng(3).integers(0, 4, codes.size)
    options = {"average": average, "multi_class": "ovo", "labels": range(4)}
    repeated = roc_auc_score(np.repeat(codes, counts), np.repeat(scores, counts, axis=0), **options)
    assert roc_auc_score(codes, scores, sample_weight=counts, **options) == pytest.approx(repeated, rel=1e-12)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", AREAS)
def test_many_labels_a_row(name, seed, average):
    labels, scores, weights = indicators(seed, n=40)
    weights[2:4] = 0
    beside(name, labels, scores, average=average)
    beside(name, labels, scores, average=average, sample_weight=weights)
    beside(name, labels.astype(float), (scores * 9).astype(np.uint8), average=average)
    if average != "weighted":  # scikit-learn's weights are then sums of -1 and 1
        beside(name, 2 * labels - 1, scores, average=average)


@pytest.mark.parametrize("average", AVERAGES)
def test_parts_of_areas_of_labels(average):
    labels, scores, _ = indicators(7)
    labels[:, 0], labels[:, 1] = 0, 1
    beside("roc_auc_score", labels[:, [0, 1, 2]], scores[:, :3], average=average, max_fpr=0.4)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", AREAS)
def test_labels_that_no_row_has_or_all_have(name, average):
    labels, scores, weights = indicators(8)
    labels[:, 0], labels[:, 1] = 0, 1
    beside(name, labels, scores, average=average)
    beside(name, labels, scores, average=average, sample_weight=weights)
    beside(name, np.zeros((3, 2), dtype=int), scores[:3, :2], average=average)


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", AREAS)
def test_averages_over_many_rows_are_those_of_each(name):
    rng = np.random.default_rng(9)
    labels, scores = rng.integers(0, 2, (2000, 5)), rng.integers(0, 4, (2000, 5))
    labels[:, 0], labels[:, 1] = 0, 1
    method = {"roc_auc_score": "roc_auc", "average_precision_score": "average_precision"}[name]
    each = [getattr(fastevals.Ranking(*row), method)() for row in zip(labels, scores, strict=True)]
    found = {"roc_auc_score": roc_auc_score, "average_precision_score": average_precision_score}[name](
        labels, scores, average="samples"
    )
    assert found == pytest.approx(np.mean(each), rel=1e-12)


def test_indicators_of_other_kinds():
    labels, scores, _ = indicators(10)
    expected = roc_auc_score(labels, scores)
    assert roc_auc_score(scipy.sparse.csr_array(labels), scores) == expected
    assert roc_auc_score(labels.tolist(), scores.tolist()) == expected
    assert roc_auc_score(np.asfortranarray(labels), np.asfortranarray(scores)) == expected


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_perfect_rankings_are_exactly_one(multi_class):
    codes, _, weights = classes(11)
    scores = np.eye(4)[codes]
    for average in ("macro", "weighted"):
        options = {"average": average, "multi_class": multi_class, "sample_weight": weights}
        assert roc_auc_score(codes, scores, **options) == 1.0
        assert average_precision_score(codes, scores, average=average, sample_weight=weights) == 1.0


SCORES = np.array([[0.1, 0.8, 0.1], [0.3, 0.4, 0.3], [0.35, 0.5, 0.15], [0, 0.2, 0.8]])


@pytest.mark.parametrize(
    ("labels", "options", "words"),
    [
        ([0, 1, 2, 2], {}, "multi_class must be in ('ovo', 'ovr')"),
        ([0, 1, 2, 2], {"multi_class": "ovr", "max_fpr": 0.5}, "Partial AUC computation not available"),
        ([0, 1, 2, 2], {"multi_class": "ovr", "average": "samples"}, "average must be one of ('micro', 'macro', "),
        ([0, 1, 2, 2], {"multi_class": "ovo", "average": "micro"}, "average must be one of ('macro', 'weighted', "),
        ([0, 1, 2, 2], {"multi_class": "ovr", "labels": [0, 1, 1]}, "Parameter 'labels' must be unique"),
        ([0, 1, 2, 2], {"multi_class": "ovr", "labels": [0, 2, 1]}, "Parameter 'labels' must be ordered"),
        ([0, 1, 2, 2], {"multi_class": "ovr", "labels": [0, 1]}, "Number of given labels, 2, not equal"),
        ([0, 1, 2, 3], {"multi_class": "ovr", "labels": [0, 1, 2]}, "'y_true' contains labels not in parameter"),
        ([0, 2, 0, 2], {"multi_class": "ovr"}, "Number of classes in y_true not equal to the number of columns"),
        ([0, 2, 0, 2], {"multi_class": "ovr", "average": None}, "Number of classes in y_true not equal to the number"),
        ([0, 2, 0, 2], {"multi_class": "ovo"}, "Number of classes in y_true not equal to the number of columns"),
        ([0, 1, 2], {"multi_class": "ovr"}, ""),
    ],
)
def test_errors_of_many_classes(labels, options, words):
    assert complaint("roc_auc_score", labels, SCORES, **options).count(words) >= 2


def test_other_errors():
    assert "Target scores need to be probabilities" in complaint(
        "roc_auc_score", [0, 1, 2, 2], SCORES * 2, multi_class="ovr"
    )
    assert "needs to be of shape" in complaint("average_precision_score", [0, 1, 2, 3], SCORES)
    assert "fixed to 1 for multiclass" in complaint("average_precision_score", [0, 1, 2, 2], SCORES, pos_label=2)
    assert "fixed to 1 for multilabel-indicator" in complaint(
        "average_precision_score", SCORES > 0.3, SCORES, pos_label=0
    )
    with pytest.raises(NotImplementedError, match="average=None is not implemented"):
        roc_auc_score([0, 1, 2, 2], SCORES, multi_class="ovo", average=None)
    with pytest.raises(ValueError, match="must have the shape of y_true"):
        roc_auc_score(SCORES > 0.3, SCORES[:, :2])
    with pytest.raises(ValueError, match=r"must not be negative, got -1\.0 at row 3"):
        roc_auc_score([0, 1, 2, 2], SCORES, multi_class="ovo", sample_weight=[1, 1, 1, -1])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, 0.9])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_one_row_that_does_not_add_up(multi_class, value):
    codes, scores, _ = classes(12)
    scores[7, 2] = value
    with pytest.raises(ValueError, match=r"sum up to 1.0|Input y_score contains (NaN|infinity)"):
        roc_auc_score(codes, scores, multi_class=multi_class)


def test_layouts_of_probabilities():
    codes, scores, _ = classes(13)
    expected = roc_auc_score(codes, scores, multi_class="ovr")
    locked = scores.copy()
    locked.flags.writeable = False
    for given in (locked, np.asfortranarray(scores), scores.astype(np.float32), scores.astype(">f8"), scores[::1]):
        assert roc_auc_score(codes, given, multi_class="ovr") == expected
