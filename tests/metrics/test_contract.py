"""Arguments that are not arrays, labels of another kind, signatures: refused and shown as in scikit-learn."""

from __future__ import annotations

import inspect
import math
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from fastevals import metrics
from tests.metrics.test_scores import beside
from tests.strategies import FEWER

TRUE, PREDICTED = np.array([0, 1, 1, 0, 1]), np.array([0, 1, 0, 0, 1])
TEXT = np.array(["a", "b"])[TRUE]
SCORES = np.array([0.1, 0.9, 0.4, 0.35, 0.8])
ONE_BY_ONE = (
    "f1_score",
    "precision_recall_fscore_support",
    "jaccard_score",
    "multilabel_confusion_matrix",
    "classification_report",
)
MATRICES = ("confusion_matrix", "cohen_kappa_score", "class_likelihood_ratios")
NEEDED: dict[str, dict[str, Any]] = {
    "fbeta_score": {"beta": 1.0},
    "metric_at_thresholds": {"metric_func": metrics.f1_score},
}
OF_ROWS = (
    "coverage_error",
    "dcg_score",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "ndcg_score",
)
SPARSE = sp.csr_array(np.array([[0, 1], [1, 0], [1, 1], [0, 0], [0, 1]]))


def averaged(name: str) -> dict[str, Any]:
    return {"average": "macro"} if name in ("f1_score", "jaccard_score") else {}


def arrays_of(name: str) -> list[str]:
    """Return the names of arguments without a default, and of the probabilities."""
    parameters = inspect.signature(getattr(metrics, name)).parameters.values()
    named = [each.name for each in parameters if each.default is inspect.Parameter.empty or each.name == "y_proba"]
    return [each for each in named if each not in NEEDED.get(name, {})]


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def call(name: str, **arguments: Any) -> Any:
    return getattr(metrics, name)(**arguments, **NEEDED.get(name, {}))


@pytest.mark.parametrize("name", metrics.__all__)
def test_signatures(name):
    mine, theirs = (inspect.signature(getattr(module, name)).parameters for module in (metrics, sklearn.metrics))
    assert [(each.name, each.kind) for each in mine.values()] == [(each.name, each.kind) for each in theirs.values()]
    for one, other in zip(mine.values(), theirs.values(), strict=True):
        assert one.default == other.default or (one.default != one.default and other.default != other.default)


@pytest.mark.parametrize("value", [None, 5, np.int64(1), "abc", np.array(1), {0, 1}, {0: 1}], ids=repr)
def test_no_array(value):
    said = {}
    for name, i in product(metrics.__all__, range(2)):
        names = arrays_of(name)
        assert len(names) == 2
        try:
            call(name, **{names[i]: value, names[1 - i]: SCORES if i == 0 else TRUE})
        except ValueError as error:
            words = f"The '{names[i]}' parameter must be an array-like. Got"
            said[name, names[i]] = "" if isinstance(error, TypeError) and words in str(error) else str(error)
        else:
            said[name, names[i]] = "nothing"
    assert {who: what for who, what in said.items() if what} == {}


@pytest.mark.parametrize(
    "name", [*MATRICES[:2], "matthews_corrcoef", "roc_curve", "mean_squared_error", "log_loss", "auc"]
)
def test_sparse_where_scikit_learn_takes_none(name):
    for first, second in ((SPARSE, SCORES), (SPARSE, SPARSE)):
        for module in (metrics, sklearn.metrics):
            with pytest.raises(ValueError, match="must be an array-like") as raised:
                getattr(module, name)(first, second)
            assert isinstance(raised.value, TypeError)


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", metrics.__all__)
def test_masked_values(name):
    names = arrays_of(name)
    true = SPARSE.toarray() if name in OF_ROWS else TRUE
    masked = {each: np.ma.array(true, mask=np.arange(true.size).reshape(true.shape) == 0) for each in names}
    with pytest.raises(ValueError, match="1 masked value, the first at row 0"):
        call(name, **masked)
    if "sample_weight" in inspect.signature(getattr(metrics, name)).parameters:
        given_arrays = {names[0]: TRUE, names[1]: PREDICTED} if true is TRUE else dict.fromkeys(names, true)
        with pytest.raises(ValueError, match="sample_weight has 1 masked value"):
            call(name, **given_arrays, sample_weight=np.ma.array(TRUE, mask=[1, 0, 0, 0, 0]))
    plain = true + 1 if name.endswith("_deviance") else true
    whole = {each: np.ma.array(plain) for each in names}
    if name != "auc":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            assert str(call(name, **whole)) == str(call(name, **dict.fromkeys(names, plain)))


@pytest.mark.parametrize("name", metrics.__all__)
def test_weights_of_text(name):
    if "sample_weight" not in inspect.signature(getattr(metrics, name)).parameters:
        return
    names, rows = arrays_of(name), SPARSE.toarray() if name in OF_ROWS else TRUE
    for weights in (["1"] * 5, np.array(["1"] * 5, dtype=object), np.array(["2020-01-01"] * 5, dtype="M8[D]")):
        with pytest.raises(ValueError, match="sample_weight must hold numbers"):
            call(name, **dict.fromkeys(names, rows), sample_weight=weights)


@pytest.mark.parametrize("values", [SCORES.astype(str), SCORES.astype(str).astype(object), SCORES.astype(str).tolist()])
@pytest.mark.parametrize("name", ["roc_auc_score", "roc_curve", "average_precision_score", "log_loss", "r2_score"])
def test_scores_of_text(name, values):
    with pytest.raises(ValueError, match=r"(y_score|y_proba|y_pred) must hold numbers, got text"):
        getattr(metrics, name)(TRUE, values)


@pytest.mark.parametrize("name", ONE_BY_ONE + MATRICES)
def test_labels_of_another_kind(name):
    function, options = getattr(metrics, name), averaged(name)
    for target, labels in ((TRUE, ["0", "1"]), (TEXT, [0, 1]), (TRUE, np.array(["0"], dtype=object)), (TEXT, [True])):
        with pytest.raises(ValueError, match=r"labels must be (numbers|strings), as the targets are"):
            function(target, target, labels=labels, **options)
    for labels in ([None], [0, None], [0, "1"], [1j]):
        with pytest.raises(ValueError, match="labels must"):
            function(TRUE, PREDICTED, labels=labels, **options)


@pytest.mark.parametrize("name", ONE_BY_ONE + MATRICES)
def test_dates_are_no_labels(name):
    dates = np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")[TRUE]
    with pytest.raises(ValueError, match=r"must hold numbers, booleans or strings, got dtype datetime64\[D\]"):
        getattr(metrics, name)(dates, dates)
    with pytest.raises(ValueError, match=r"labels must hold numbers, booleans or strings, got dtype datetime64\[D\]"):
        getattr(metrics, name)(TRUE, TRUE, labels=dates[:2], **averaged(name))


@pytest.mark.parametrize("name", [*ONE_BY_ONE, *MATRICES, "log_loss", "brier_score_loss", "roc_auc_score"])
def test_labels_that_are_no_vector(name):
    function, options = getattr(metrics, name), averaged(name)
    for labels in ({0, 1}, np.int64(1), np.array(1), 1, "01"):
        with pytest.raises(
            ValueError, match=f"The 'labels' parameter of {name} must be an array-like or None"
        ) as raised:
            function(TRUE, PREDICTED, labels=labels, **options)
        assert isinstance(raised.value, TypeError)
    if name in ONE_BY_ONE:
        with pytest.raises(ValueError, match="labels must be 1-D"):
            function(TRUE, PREDICTED, labels=[[0, 1]], **options)


def test_labels_of_a_matrix_are_laid_flat():
    for name in MATRICES:
        beside(name, TRUE, 1 - PREDICTED, labels=[[0, 1]])


def test_what_is_compared_with_is_scikit_learn():
    for name in metrics.__all__:
        assert getattr(sklearn.metrics, name).__module__.startswith("sklearn.")


def test_no_labels():
    with pytest.raises(ValueError, match="'labels' should contain at least one label"):
        metrics.classification_report(TRUE, PREDICTED, labels=[])
    marks = SPARSE.toarray()
    assert math.isnan(metrics.f1_score(marks, marks, labels=[], average="macro"))
    with pytest.raises(ValueError, match="labels must be numbers"):
        metrics.f1_score(marks, marks, labels=["a"], average="macro")


@pytest.mark.parametrize("name", ["log_loss", "brier_score_loss"])
def test_labels_of_probabilities(name):
    function = getattr(metrics, name)
    marks, columns = [[0, 1], [1, 0], [1, 1]], [[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]]
    for labels in ([0, 1], [1, 0], ["a", "b"]):
        with pytest.raises(ValueError, match="labels can't be given for the columns of a multilabel-indicator"):
            function(marks, columns, labels=labels)
    for labels, words in (([0, 0, 1], "labels must be unique"), ([[0], [1]], "1-D"), ([0, None], "numbers alone")):
        with pytest.raises(ValueError, match=words):
            function([0, 1, 1], columns, labels=labels)


def test_numbers_out_of_range_are_no_warnings_of_numpy():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        assert metrics.balanced_accuracy_score([0, 0], [1, 1], adjusted=True) == -math.inf
        assert math.isnan(metrics.auc([0, 1, 2], [0, math.inf, -math.inf]))


def test_booleans_as_numbers():
    beside("roc_auc_score", TRUE, SCORES, max_fpr=True)
    for beta in (True, False):
        beside("fbeta_score", TRUE, PREDICTED, beta=beta)


def test_options_by_position():
    with pytest.warns(FutureWarning, match="Pass pos_label=1 as keyword"):
        metrics.confusion_matrix_at_thresholds(TRUE, SCORES, 1)
    with pytest.raises(TypeError, match="positional"):
        metrics.confusion_matrix_at_thresholds(TRUE, SCORES, 1, None, None)
    with pytest.raises(TypeError, match="positional"):
        metrics.roc_auc_score(TRUE, SCORES, "macro")


def test_undefined_rows_warn_once():
    labels = [[0, 0, 0], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
    scores = np.arange(12).reshape(4, 3) / 12
    for max_fpr in (None, 0.5, 1):
        with pytest.warns(UserWarning, match="Only one class") as seen:
            metrics.roc_auc_score(labels, scores, average="samples", max_fpr=max_fpr)
        assert len(seen) == 1
    beside("roc_auc_score", labels[1::2], scores[1::2], average="samples", max_fpr=0.5)


def test_det_curve_of_a_label_that_is_not_there():
    for label in ("b", 7):
        with pytest.raises(ValueError, match=r"pos_label=.* is not a label of y_true"):
            metrics.det_curve(TRUE, SCORES, pos_label=label)
    with pytest.raises(ValueError, match="Only one class is present"):
        metrics.det_curve([0, 0], [0.1, 0.2], pos_label=1)


@pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve", "brier_score_loss", "det_curve"])
def test_objects_of_strings(name):
    function = getattr(metrics, name)
    objects = TEXT.astype(object)
    for label in ("a", "b"):
        for one, other in zip(
            *(_as_tuple(function(each, SCORES, pos_label=label)) for each in (objects, TEXT)), strict=True
        ):
            assert np.array_equal(one, other)
    for odd in (None, 1, math.nan):
        objects[3] = odd
        with pytest.raises(ValueError, match="y_true"):
            function(objects, SCORES, pos_label="a")


def test_pairs_give_the_type_of_scikit_learn():
    for average in ("macro", "weighted"):
        beside("roc_auc_score", [0, 1, 2], np.eye(3), multi_class="ovo", average=average)


@FEWER
@given(st.permutations([0, 1, 2]), st.integers(1, 3), st.sampled_from([list, tuple, np.array]))
def test_labels_asked_for(order, size, make):
    true, predicted = [0, 1, 2, 2, 1, 0], [0, 2, 2, 1, 1, 0]
    for names in ([0, 1, 2], ["x", "y", "z"]):
        targets = [[names[code] for code in codes] for codes in (true, predicted)]
        labels = make([names[code] for code in order[:size]])
        for name in (*ONE_BY_ONE[:2], *MATRICES[:1]):
            beside(name, *targets, labels=labels, **averaged(name))
