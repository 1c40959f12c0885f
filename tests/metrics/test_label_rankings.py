"""Label rankings, top-k accuracy and the hinge loss against scikit-learn's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from fastevals import metrics, num_threads
from fastevals._options import UndefinedMetricWarning
from tests.metrics.test_scores import beside, complaint
from tests.strategies import BOUNDED, FEWER, LARGEST

RANKINGS = ("coverage_error", "label_ranking_average_precision_score", "label_ranking_loss")
SPARSE = RANKINGS[1:]
TEXT = np.array([f"label {k:03}" for k in range(300)])


@st.composite
def marked_rows(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Draw true labels, scores with ties, and weights of some rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, k = draw(st.integers(1, 12)), draw(st.sampled_from([2, 3, 7, 130, 300]))
    share, levels = draw(st.sampled_from([0.0, 0.05, 0.5, 0.95, 1.0])), draw(st.sampled_from([1, 3, 40, 10**6]))
    scores = rng.integers(-levels, levels, (n, k)) / 8
    return (
        (rng.random((n, k)) < share).astype(int),
        np.where(scores == 0, draw(st.sampled_from([0.0, -0.0])), scores),
        (rng.integers(1, 5, n) / 4),
    )


@BOUNDED
@given(marked_rows())
def test_label_rankings(case):
    true, scores, weights = case
    for name in RANKINGS:
        expected = beside(name, true, scores), beside(name, true, scores, sample_weight=weights)
        for same in (true.astype(bool), true.astype(float), true.tolist(), 3 * true, np.asfortranarray(true)):
            assert getattr(metrics, name)(same, scores) == expected[0]
    for name in SPARSE:
        for make in (sp.csr_array, sp.csc_matrix, sp.coo_array):
            beside(name, make(true), scores, sample_weight=weights)


MANY = [(name, n, k) for name in RANKINGS for n, k in ((40_000, 4), (30, 5_000))]
LONGEST = ("label_ranking_average_precision_score", 40_000, 4)  # scikit-learn loops over rows


@pytest.mark.parametrize(
    ("name", "n", "k"),
    [pytest.param(*each, marks=[pytest.mark.slow] * (each == LONGEST)) for each in MANY],
)
def test_many_rows_of_labels(name, n, k):
    rng = np.random.default_rng(0)
    true, scores = rng.random((n, k)) < 0.3, rng.integers(0, 2 * k, (n, k)) / 7
    value = beside(name, true, scores)
    with num_threads(1):
        assert getattr(metrics, name)(true, scores) == value


@pytest.mark.parametrize("dtype", ["f2", "f4", "i1", "i2", "i8", ">f8", ">i4", "g"])
@pytest.mark.parametrize("name", [*RANKINGS, "top_k_accuracy_score"])
def test_scores_of_all_types(name, dtype):
    rng = np.random.default_rng(1)
    scores = (rng.random((30, 4)) * 100).astype(dtype)
    true = rng.integers(0, 4, 30) if name == "top_k_accuracy_score" else rng.random((30, 4)) < 0.4
    beside(name, true, scores)
    beside(name, true, pd.DataFrame(scores.astype(float)))


def test_scores_that_wrap_when_negated_are_ranked_as_they_are():
    true = [[0, 1, 0], [1, 0, 1]]
    for scores in (
        np.array([[0, 200, 255], [9, 0, 3]], dtype=np.uint8),
        np.array([[-128, 0, 127], [9, -128, 3]], "i1"),
    ):
        for name in RANKINGS:
            assert getattr(metrics, name)(true, scores) == getattr(sklearn.metrics, name)(true, scores.astype(float))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.longdouble])
def test_scores_that_float64_would_tie(dtype):
    scores = np.array([[2**53, 2**53 + 1, 2**53 + 2]], dtype=dtype)
    assert metrics.coverage_error([[0, 1, 0]], scores) == 2
    assert metrics.top_k_accuracy_score([1], scores, labels=[0, 1, 2], k=2) == 1
    assert metrics.top_k_accuracy_score([0], scores, labels=[0, 1, 2], k=2) == 0


def test_extreme_scores_are_finite():
    scores = np.array([[LARGEST, LARGEST, -LARGEST], [5e-324, 0.0, -5e-324]])
    for name in RANKINGS:
        beside(name, [[0, 1, 0], [0, 1, 0]], scores)
    beside("top_k_accuracy_score", [1, 1], scores, labels=[0, 1, 2], k=1)


def test_zeros_that_a_sparse_matrix_stores_are_no_labels():
    stored = sp.csr_array((np.array([1, 0, 1]), np.array([0, 1, 2]), np.array([0, 3])), shape=(1, 4))
    scores = [[0.4, 0.9, 0.2, 0.1]]
    for name in SPARSE:
        assert getattr(metrics, name)(stored, scores) == getattr(sklearn.metrics, name)(stored.toarray(), scores)


def test_one_label():
    beside("label_ranking_average_precision_score", [[1], [0]], [[0.5], [0.2]])
    for name in ("coverage_error", "label_ranking_loss"):
        assert complaint(name, [[1], [0]], [[0.5], [0.2]]).count("binary format is not supported") == 2


@pytest.mark.parametrize(
    ("true", "scores", "words"),
    [
        ([[0, 1], [2, 1]], [[0.1, 0.2]] * 2, "multiclass-multioutput format is not supported"),
        ([[0.5, 1], [0, 1]], [[0.1, 0.2]] * 2, "continuous-multioutput format is not supported"),
        ([[0, 1], [1, 1]], [[0.1, 0.2, 0.3]] * 2, "y_true and y_score have different shape"),
        ([[0, 1], [1, 1]], [[0.1, 0.2]] * 3, "inconsistent numbers of samples"),
        ([[0, 1], [1, 1]], [[0.1, 0.2], [0.1, math.nan]], "contains NaN"),
        ([[0, 1], [1, 1]], [[0.1, 0.2], [0.1, math.inf]], "contains infinity"),
        ([[0, 1], [1, math.nan]], [[0.1, 0.2]] * 2, "contains NaN"),
    ],
)
@pytest.mark.parametrize("name", RANKINGS)
def test_errors_of_label_rankings(name, true, scores, words):
    assert complaint(name, true, scores).count(words) == 2


def test_rows_that_are_vectors():
    for args in (([0, 1, 0], [[0.1], [0.2], [0.3]]), ([[0, 1, 0]], [0.1, 0.2, 0.3])):
        assert complaint("coverage_error", *args).count("Expected 2D array, got 1D array instead") == 2
    for name in SPARSE:
        assert complaint(name, [0, 1, 0], [0.1, 0.2, 0.3]).count("binary format is not supported") == 2
    for name in RANKINGS:
        with pytest.raises(ValueError, match=r"must not be negative, got -1\.0 at row 1"):
            getattr(metrics, name)([[0, 1], [1, 1]], [[0.1, 0.2]] * 2, sample_weight=[1, -1])


# Top-k accuracy -------------------------------------------------------------------------------------------------------


@FEWER
@given(st.integers(0, 2**32), st.sampled_from([3, 4, 9, 300]), st.sampled_from([1, 3, 10**6]))
def test_top_k(seed, n_classes, levels):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.append(np.arange(n_classes), rng.integers(0, n_classes, 20)))
    scores, weights = rng.integers(-levels, levels + 1, (codes.size, n_classes)) / 4, rng.integers(1, 9, codes.size) / 8
    for k in (1, 2, n_classes - 1, n_classes, n_classes + 5):
        for labels in (codes, codes - 7.0, TEXT[codes], TEXT[codes].astype(object), TEXT[codes].tolist()):
            beside("top_k_accuracy_score", labels, scores, k=k)
        for options in ({}, {"sample_weight": weights}, {"normalize": False, "sample_weight": weights}):
            beside("top_k_accuracy_score", codes, scores, k=k, **options)
        beside("top_k_accuracy_score", codes, scores, k=k, normalize=False)
    kept = codes != 1
    for labels, names in ((codes, range(n_classes)), (TEXT[codes], TEXT[:n_classes])):
        beside("top_k_accuracy_score", labels[kept], scores[kept], labels=names)
        beside("top_k_accuracy_score", labels[:1], scores[:1], labels=names)


@FEWER
@given(st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75, 1.0]), min_size=2, max_size=9), st.integers(1, 3))
def test_top_k_of_two_classes(values, k):
    codes = np.arange(len(values)) % 2
    for scores in (values, np.abs(values), np.array(values)[:, np.newaxis], (4 * np.array(values)).astype(int)):
        for labels in (codes, codes.astype(bool), TEXT[codes]):
            beside("top_k_accuracy_score", labels, scores, k=k)
        for normalize in (True, False):
            beside("top_k_accuracy_score", codes, scores, k=k, normalize=normalize, sample_weight=codes + 0.5)
        beside("top_k_accuracy_score", 0 * codes + 3, scores, k=k, labels=[2, 3])


COLUMNS = [[0.2, 0.3, 0.5]] * 3


@pytest.mark.parametrize(
    ("args", "options", "words"),
    [
        (([0, 1, 2], [0.1, 0.2, 0.3]), {}, "`y_score` needs to be of shape `(n_samples, n_classes)`"),
        (([0, 1, 1], COLUMNS), {}, "`y_true` is binary while y_score is 2d with 3 classes."),
        (([0, 1, 2], [[0.1, 0.2]] * 3), {}, "Number of classes in 'y_true' (3) not equal to the number of classes"),
        (([0, 0, 0], [0.1, 0.2, 0.3]), {}, "Number of classes in 'y_true' (1) not equal to the number of classes"),
        (([0, 1, 2], COLUMNS), {"labels": [0, 1, 1]}, "Parameter 'labels' must be unique."),
        (([0, 1, 2], COLUMNS), {"labels": [0, 2, 1]}, "Parameter 'labels' must be ordered."),
        (([0, 1, 2], COLUMNS), {"labels": [0, 1, 2, 3]}, "Number of given labels (4) not equal to the number"),
        (([0, 1, 2], COLUMNS), {"labels": [0, 1, 3]}, "'y_true' contains labels not in parameter 'labels'."),
        (([0, 1, 1], [0.1, 0.2, 0.3]), {"labels": [1, 2]}, "'y_true' contains labels not in parameter 'labels'."),
        (([0, 0, 0], [0.1, 0.2, 0.3]), {"labels": [0]}, "Number of given labels (1) not equal to the number"),
        (([0.5, 1, 2], COLUMNS), {}, "y type must be 'binary' or 'multiclass', got 'continuous' instead."),
        (([[0, 1], [1, 0]], COLUMNS[:2]), {}, "y should be a 1d array"),
        (([0, 1, 2], COLUMNS[:2]), {}, "inconsistent numbers of samples"),
        (([0, 1, 2], [[0.2, 0.3, math.nan]] * 3), {}, "contains NaN"),
        (([0, 1, 0], [0.1, 0.2, math.inf]), {}, "contains infinity"),
        (
            ([0, 1, 2], COLUMNS),
            {"k": 0},
            "The 'k' parameter of top_k_accuracy_score must be an int in the range [1, inf)",
        ),
        (([0, 1, 2], COLUMNS), {"k": 1.5}, "The 'k' parameter of top_k_accuracy_score must be an int in the range"),
    ],
)
def test_errors_of_top_k(args, options, words):
    assert complaint("top_k_accuracy_score", *args, **options).count(words) == 2


def test_all_weights_are_zero():
    marks, scores, none = [[0, 1], [1, 0]], [[0.1, 0.2], [0.3, 0.1]], [0, 0]
    with pytest.warns(UndefinedMetricWarning, match="where all sample weights are zero"):
        assert math.isnan(metrics.label_ranking_average_precision_score(marks, scores, sample_weight=none))
    assert metrics.top_k_accuracy_score([0, 1, 2], np.eye(3), sample_weight=[0, 0, 0], normalize=False) == 0.0
    for call in (
        lambda: metrics.top_k_accuracy_score([0, 1, 2], np.eye(3), sample_weight=[0, 0, 0]),
        lambda: metrics.label_ranking_loss(marks, scores, sample_weight=none),
        lambda: metrics.coverage_error(marks, scores, sample_weight=none),
    ):
        with pytest.raises(ValueError, match="Sample weights must contain at least one non-zero number"):
            call()


# Hinge loss -----------------------------------------------------------------------------------------------------------


@BOUNDED
@given(st.integers(0, 2**32), st.sampled_from([3, 4, 9]), st.sampled_from([2, 10**6]))
def test_hinge_of_many_classes(seed, n_classes, levels):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.append(np.arange(n_classes), rng.integers(0, n_classes, 20)))
    decisions = rng.integers(-levels, levels + 1, (codes.size, n_classes)) / 4
    weights = rng.integers(0, 9, codes.size) / 8 + (np.arange(codes.size) == 3)
    for labels in (codes, codes - 7, TEXT[codes], TEXT[codes].astype(object), TEXT[codes].tolist()):
        beside("hinge_loss", labels, decisions)
        beside("hinge_loss", labels, np.asfortranarray(decisions), sample_weight=weights)
    kept = codes != 1
    beside("hinge_loss", codes[kept], decisions[kept], labels=[*range(n_classes)][::-1])
    beside("hinge_loss", TEXT[codes[kept]], decisions[kept], labels=TEXT[:n_classes].tolist())
    beside("hinge_loss", codes, (4 * decisions).astype(int))


@FEWER
@given(st.lists(st.floats(-3, 3, width=32), min_size=2, max_size=9))
def test_hinge_of_two_classes(values):
    codes = np.arange(len(values)) % 2
    for labels in (codes, 2 * codes - 1, codes == 1, codes.astype(float), TEXT[codes], TEXT[codes].astype(object)):
        for decisions in (values, np.array(values)[:, np.newaxis], np.round(values).astype(int)):
            beside("hinge_loss", labels, decisions)
            beside("hinge_loss", labels, decisions, sample_weight=codes + 0.5)
    for label in (0, 1, "a"):
        beside("hinge_loss", [label] * len(values), values)
    beside("hinge_loss", codes, values, labels=[0, 1])


def test_hinge_of_many_rows():
    rng = np.random.default_rng(2)
    codes, decisions = rng.integers(0, 5, 150_000), rng.standard_normal((150_000, 5))
    beside("hinge_loss", codes, decisions, sample_weight=rng.random(codes.size))
    beside("hinge_loss", codes > 2, decisions[:, 0], sample_weight=rng.random(codes.size))
    beside("top_k_accuracy_score", codes, decisions)


def test_hinge_of_one_of_two_labels():
    assert metrics.hinge_loss([1, 1], [2.0, 0.5], labels=[0, 1]) == 0.25
    assert metrics.hinge_loss([0, 0], [2.0, 0.5], labels=[0, 1]) == 2.25


@pytest.mark.parametrize(
    ("args", "options", "words"),
    [
        (([0, 1, 2], [0.1, 0.2, 0.3]), {}, "The shape of pred_decision cannot be 1d array"),
        (([0, 1, 2], [[0.1, 0.2]] * 3), {}, "Please include all labels in y_true or pass labels as third argument"),
        (
            ([0, 1, 2], COLUMNS),
            {"labels": [0, 1, 2, 3]},
            "The shape of pred_decision is not consistent with the number",
        ),
        (([0, 1, 2], COLUMNS), {"labels": [0, 1, 2, 3]}, "that is (3, 4). Got: (3, 3)"),
        (([0, 1, 1], COLUMNS), {}, "y should be a 1d array"),
        (([[0, 1], [1, 0]], [0.1, 0.2]), {}, "y should be a 1d array"),
        (([0, 1], [0.1, 0.2, 0.3]), {}, "inconsistent numbers of samples"),
        (([0, 1], [0.1, math.nan]), {}, "contains NaN"),
        (([0, 1, 2], [[0.1, 0.2, math.inf]] * 3), {}, "contains infinity"),
        (([0.5, 1], [0.1, 0.2]), {}, "Unknown label type"),
    ],
)
def test_errors_of_the_hinge_loss(args, options, words):
    assert complaint("hinge_loss", *args, **options).count(words) == 2


def test_labels_unknown_to_the_hinge_loss():
    for labels in ([0, 1], [0, 1, 3], [0]):
        with pytest.raises(ValueError, match="label"):
            metrics.hinge_loss([0, 1, 2], COLUMNS if len(labels) > 2 else [0.1, 0.2, 0.3], labels=labels)
    with pytest.raises(ValueError, match="label"):
        metrics.hinge_loss([0, 1], [0.1, 0.2], labels=[0])
    with pytest.raises(ValueError, match="labels must hold every label that occurs; missing: 0, 1"):
        metrics.hinge_loss([0, 1], [0.1, 0.2], labels=[5, 6])
    with pytest.raises(ValueError, match="y_true has numbers and labels has strings"):
        metrics.hinge_loss([0, 1], [0.1, 0.2], labels=["a", "b"])
    with pytest.raises(ValueError, match="'labels' should contain at least one label"):
        metrics.hinge_loss([0, 1], [0.1, 0.2], labels=[])
