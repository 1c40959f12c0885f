"""Metrics of class probabilities that are means over rows: against their definitions, scikit-learn and odd input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss, top_k_accuracy_score

from fastevals import ClassRankings
from tests.reference import classes as reference
from tests.strategies import BOUNDED

METHODS: dict[str, Any] = {
    "multiclass_log_loss": ClassRankings.log_loss,
    "multiclass_brier_score": ClassRankings.brier_score,
    "ranked_probability_score": ClassRankings.ranked_probability_score,
    "top_k_accuracy": ClassRankings.top_k_accuracy,
    "hand_till": ClassRankings.hand_till,
    "top_label_calibration_error": lambda classes: classes.top_label().expected_calibration_error(),
}


@st.composite
def probabilities(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Draw labels, probabilities in eighths, with ties and zeros, and perhaps weights."""
    n, k = draw(st.integers(1, 12)), draw(st.integers(2, 5))
    cuts = draw(st.lists(st.lists(st.integers(0, 8), min_size=k - 1, max_size=k - 1), min_size=n, max_size=n))
    p = np.array([np.diff([0, *sorted(each), 8]) for each in cuts]) / 8
    y = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    weights = draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n))
    return y, p, None if weights is None else np.array(weights)


@BOUNDED
@given(probabilities())
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_metrics_are_their_definitions(case):
    y, p, weights = case
    classes = ClassRankings(y, p, labels=range(p.shape[1]), sample_weight=weights)
    rows = reference.rows_of(y, p, range(p.shape[1]), weights)
    for name, method in METHODS.items():
        expected = getattr(reference, name)(rows)
        expected = math.nan if expected is None else float(expected)
        assert method(classes) == pytest.approx(expected, rel=1e-14, abs=1e-15, nan_ok=True), name
    for k in range(1, p.shape[1] + 1):
        assert classes.top_k_accuracy(k) == pytest.approx(float(reference.top_k_accuracy(rows, k)), rel=1e-15)
    matrix = np.zeros_like(classes.confusion_matrix().counts)
    for row in rows:
        matrix[reference.class_of(row), reference.most_probable(row)] += row[2]
    np.testing.assert_array_equal(classes.confusion_matrix().counts, matrix)


def test_values_are_those_of_scikit_learn():
    iris = load_iris(as_frame=True)
    names = iris.target_names[iris.target.to_numpy()]
    p = LogisticRegression(C=0.05, max_iter=500).fit(iris.data, names).predict_proba(iris.data)
    for given_p in (p, p.astype(np.float32), np.asfortranarray(p), p.astype(">f8")):
        classes = ClassRankings(names, given_p)
        exact = np.float64(given_p)
        exact /= exact.sum(axis=1, keepdims=True)  # scikit-learn warns if float32 does not sum to 1 in float64
        assert classes.log_loss() == pytest.approx(log_loss(names, exact), rel=1e-7)
        one_hot = names[:, None] == np.unique(names)
        assert classes.brier_score() == pytest.approx(
            ((np.float64(given_p) - one_hot) ** 2).sum(axis=1).mean(), rel=1e-12
        )
        assert classes.top_k_accuracy(2) == top_k_accuracy_score(names, exact, k=2)
        predicted = np.unique(names)[exact.argmax(axis=1)]
        assert classes.confusion_matrix().f_score(average="macro") == pytest.approx(
            f1_score(names, predicted, average="macro"), rel=1e-14
        )
        assert classes.confusion_matrix().labels.tolist() == np.unique(names).tolist()


@pytest.mark.cases(2)
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint64, np.float16, np.float32, np.longdouble])
def test_hard_labels_of_any_type_are_probabilities(dtype):
    y = np.array([0, 1, 2, 1, 0])
    p = np.eye(3, dtype=dtype)[[0, 1, 2, 1, 1]]
    classes = ClassRankings(y, p)
    assert classes.log_loss() == math.inf
    assert classes.brier_score() == pytest.approx(2 / 5)
    assert classes.ranked_probability_score() == pytest.approx(1 / 10)
    assert classes.top_k_accuracy(1) == 0.8
    assert classes.confusion_matrix().accuracy() == 0.8


@pytest.mark.slow
def test_many_classes_and_long_columns_go_through_all_blocks():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 300, 5000)
    p = rng.dirichlet(np.ones(300), size=5000)
    classes = ClassRankings(y, p, labels=range(300))
    own = p[np.arange(5000), y]
    assert classes.log_loss() == pytest.approx(-np.log(own).mean(), rel=1e-13)
    assert classes.top_k_accuracy(5) == np.mean((p > own[:, None]).sum(axis=1) < 5)
    assert classes.brier_score() == pytest.approx(((p - np.eye(300)[y]) ** 2).sum(axis=1).mean(), rel=1e-13)
    cumulative = np.cumsum(p - np.eye(300)[y], axis=1)[:, :-1]
    assert classes.ranked_probability_score() == pytest.approx((cumulative**2).mean(), rel=1e-12)


@pytest.mark.parametrize("call", [*METHODS.values(), ClassRankings.confusion_matrix])
def test_an_indicator_matrix_has_no_single_class(call):
    with pytest.raises(ValueError, match="y_true is an indicator matrix"):
        call(ClassRankings([[1, 0], [1, 1], [0, 1]], [[0.3, 0.1], [0.1, 0.2], [0.2, 0.3]]))


def test_bad_options():
    classes = ClassRankings([0, 1], [[0.5, 0.5], [0.2, 0.8]])
    with pytest.raises(ValueError, match="k must be an integer at least 1, got 0"):
        classes.top_k_accuracy(0)
