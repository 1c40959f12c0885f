"""Areas and curves of one column of scores against scikit-learn's."""

from __future__ import annotations

import pickle
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.metrics
from hypothesis import given
from sklearn.exceptions import UndefinedMetricWarning as TheirWarning

import fastevals
import fastevals.metrics
from tests.strategies import BOUNDED, FEWER, FLOAT_WEIGHTS, any_weights, cases, exact_cases, unweighted

AREAS = ("roc_auc_score", "average_precision_score")
CURVES = ("roc_curve", "precision_recall_curve", "det_curve", "confusion_matrix_at_thresholds")
RANKED = AREAS + CURVES
THINNED = CURVES[:3]


def beside(name: str, *args: Any, rtol: float = 1e-12, **options: Any) -> Any:
    """Call both libraries, check that values, types and warnings agree, and return fastevals' value."""
    found = []
    for module in (fastevals.metrics, sklearn.metrics):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            value = getattr(module, name)(*args, **options)
        texts = {str(each.message) for each in seen if not issubclass(each.category, RuntimeWarning)}
        found.append((value, texts))
    (mine, my_texts), (theirs, their_texts) = found
    assert my_texts == their_texts
    assert type(mine) is type(theirs)
    pairs = zip(mine, theirs, strict=True) if isinstance(theirs, tuple) else [(mine, theirs)]
    slack = 1e-8 if name == "confusion_matrix_at_thresholds" else 1e-15  # differences of sums of weights
    for one, other in pairs:
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=rtol, atol=slack)
    return mine


def complaint(name: str, *args: Any, **options: Any) -> str:
    """Return fastevals' ValueError message, which begins as scikit-learn's does."""
    with pytest.raises(ValueError, match=r"\S") as theirs, np.errstate(invalid="ignore"):
        getattr(sklearn.metrics, name)(*args, **options)
    with pytest.raises(ValueError, match=r"\S") as mine:
        getattr(fastevals.metrics, name)(*args, **options)
    assert isinstance(mine.value, TypeError) == isinstance(theirs.value, TypeError)
    return f"{mine.value}\n{theirs.value}"


def draw(rng: np.random.Generator, n: int, levels: int) -> tuple[Any, Any, Any]:
    labels = rng.integers(0, 2, n)
    labels[:2] = 0, 1
    return labels, rng.integers(0, levels, n) / levels, rng.choice(FLOAT_WEIGHTS, n) + 0.1


@FEWER
@given(any_weights)
def test_areas_and_curves_of_small_cases(case):
    for name in RANKED:
        beside(name, case.y_true, case.y_score, **case.options)


@pytest.mark.parametrize("levels", [3, 50, 10**9])
@pytest.mark.parametrize("name", RANKED)
def test_areas_and_curves_of_random_rows(name, levels):
    for n in (2, 30, 1000):
        labels, scores, weights = draw(np.random.default_rng(n + levels), n, levels)
        beside(name, labels, scores)
        beside(name, labels, scores, sample_weight=weights)


@pytest.mark.cases(5)
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("name", THINNED)
def test_points_left_out(name, drop):
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 4, 12, 300):
        labels, scores, _ = draw(rng, max(n, 2), 8 if n % 2 else 10**6)
        beside(name, labels, scores, drop_intermediate=drop)
        beside(name, labels, scores, drop_intermediate=drop, sample_weight=rng.integers(1, 4, labels.size))
    labels, scores, _ = draw(rng, 200_000, 10**6)  # many blocks
    beside(name, labels, scores, drop_intermediate=drop)


@pytest.mark.parametrize("max_fpr", [0.01, 0.3, 1, 1.0])
def test_partial_areas(max_fpr):
    for seed in range(8):
        labels, scores, weights = draw(np.random.default_rng(seed), 60, 15)
        beside("roc_auc_score", labels, scores, max_fpr=max_fpr)
        beside("roc_auc_score", labels, scores, max_fpr=max_fpr, sample_weight=weights, rtol=1e-9)


LABELS = {
    "bool": (np.array([False, True]), True),
    "float": (np.array([0.0, 1.0]), 1),
    "float32": (np.array([0, 1], dtype=np.float32), 1.0),
    "uint8": (np.array([0, 1], dtype=np.uint8), None),
    "minus one": (np.array([-1, 1]), None),
    "big-endian": (np.array([0, 1], dtype=">i2"), None),
    "numbers": (np.array([7, 3]), 3),
    "text": (np.array(["b", "a"]), "a"),
    "objects": (np.array(["no", "yes"], dtype=object), "yes"),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", RANKED)
def test_labels_of_all_types(name, kind):
    values, positive = LABELS[kind]
    codes, scores, weights = draw(np.random.default_rng(1), 40, 9)
    labels = values[codes]
    options = {} if name == "roc_auc_score" or positive is None else {"pos_label": positive}
    for given_labels in (labels, labels.tolist(), labels[:, np.newaxis], pd.Series(labels)):
        beside(name, given_labels, scores, sample_weight=weights, **options)


@pytest.mark.parametrize("dtype", ["f2", "f4", "i1", "u1", "i4", "i8", "?", ">f8", ">i4"])
@pytest.mark.parametrize("name", RANKED)
def test_scores_of_all_types(name, dtype):
    labels, scores, _ = draw(np.random.default_rng(2), 40, 200)
    scores = (scores * 100).astype(dtype)
    mine = getattr(fastevals.metrics, name)(labels, scores)
    theirs = getattr(sklearn.metrics, name)(labels, scores)
    for one, other in zip(mine, theirs, strict=True) if name in CURVES else [(mine, theirs)]:
        np.testing.assert_allclose(one, other, rtol=1e-12)
        assert np.asarray(one).dtype == np.asarray(other).dtype.newbyteorder("=")


@pytest.mark.parametrize("name", RANKED)
def test_containers(name):
    labels, scores, weights = draw(np.random.default_rng(3), 30, 9)
    call = getattr(fastevals.metrics, name)
    expected = call(labels, scores, sample_weight=weights)
    same = [
        (pd.Series(labels, dtype="Int64"), pd.Series(scores, dtype="Float64"), pd.Series(weights)),
        (pd.Series(labels, dtype="boolean"), scores[:, np.newaxis], weights[:, np.newaxis]),
        (pl.Series(labels), pl.Series(scores), pl.Series(weights)),
        (labels.tolist(), scores.tolist(), weights.tolist()),
        (np.repeat(labels, 2)[::2], np.repeat(scores, 2)[::2], np.repeat(weights, 2)[::2]),
    ]
    for arrays in same:
        found = call(*arrays[:2], sample_weight=arrays[2])
        pairs = zip(found, expected, strict=True) if name in CURVES else [(found, expected)]
        for one, other in pairs:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("label", [0, 1, -1, True])
@pytest.mark.parametrize("name", [name for name in RANKED if name != "det_curve"])
def test_one_class(name, label):
    for scores in ([0.3], [0.1, 0.5, 0.5]):
        beside(name, [label] * len(scores), scores)


def test_undefined_is_warned_about_by_both_classes():
    for warning in (TheirWarning, fastevals.UndefinedMetricWarning):
        with pytest.warns(warning, match="Only one class is present"):
            assert np.isnan(fastevals.metrics.roc_auc_score([1, 1], [0.1, 0.2]))


def test_the_warning_as_an_error_comes_back_from_a_process():
    with pytest.warns(TheirWarning) as caught:
        fastevals.metrics.roc_auc_score([1, 1], [0.1, 0.2])
    again = pickle.loads(pickle.dumps(caught[0].message))
    assert type(again) is caught[0].category
    assert again.args == caught[0].message.args


@pytest.mark.parametrize("name", CURVES[:2] + CURVES[3:])
def test_one_of_many_labels_is_ranked_against_the_rest(name):
    rng = np.random.default_rng(4)
    scores = rng.random(50)
    for labels, positive in ((rng.integers(0, 4, 50), 2), (np.array(list("abc"))[rng.integers(0, 3, 50)], "b")):
        beside(name, labels, scores, pos_label=positive)
    beside(name, rng.integers(0, 2, 50), scores, pos_label=5)
    beside(name, np.array(["a", "b"])[rng.integers(0, 2, 50)], scores, pos_label=1)


# Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "options", "words"),
    [
        (([0, 1, 2], [0.1, 0.2, 0.3]), {}, "multiclass format is not supported"),
        (([0.5, 1.5], [0.1, 0.2]), {}, "continuous format is not supported"),
        (([0.5, 1.5], [0.1, 0.2]), {"pos_label": 1.5}, "continuous format is not supported"),
        (([0, 1], [0.1, 0.2, 0.3]), {}, "inconsistent numbers of samples"),
        (([0, 1], [0.1, np.nan]), {}, "contains NaN"),
        (([0, 1], [0.1, np.inf]), {}, "contains infinity"),
        (([0, np.nan], [0.1, 0.2]), {}, "contains NaN"),
        ((["a", "b"], [0.1, 0.2]), {}, "y_true takes value in {'a', 'b'} and pos_label is not specified"),
        (([1, 2], [0.1, 0.2]), {}, "y_true takes value in {1, 2} and pos_label is not specified"),
        (([[0, 1], [1, 0]], [[0.1, 0.2], [0.3, 0.4]]), {}, ""),
        (([0, 1], [[0.1, 0.2], [0.3, 0.4]]), {}, "y should be a 1d array"),
        (([0, 1], [0.1, 0.2]), {"sample_weight": [0, 0]}, "must contain at least one non-zero number"),
        (([0, 1], [0.1, 0.2]), {"sample_weight": [1, np.nan]}, "Input sample_weight contains NaN"),
        (([0, 1], [0.1, 0.2]), {"sample_weight": 3}, "The 'sample_weight' parameter of"),
        (([0, 1], [0.1, 0.2]), {"pos_label": [1]}, "The 'pos_label' parameter of"),
    ],
)
@pytest.mark.parametrize("name", CURVES)
def test_errors_of_curves(name, args, options, words):
    assert complaint(name, *args, **options).count(words) >= 2


@pytest.mark.parametrize(
    ("name", "args", "options", "words"),
    [
        ("roc_auc_score", ([0, 1, 2], [0.1, 0.2, 0.3]), {}, "multi_class must be in ('ovo', 'ovr')"),
        ("roc_auc_score", ([0.5, 1.5], [0.1, 0.2]), {}, "continuous format is not supported"),
        ("roc_auc_score", ([0, 1], [0.1, 0.2]), {"max_fpr": 0.0}, "The 'max_fpr' parameter of roc_auc_score must be"),
        ("roc_auc_score", ([0, 1], [0.1, 0.2]), {"average": "most"}, "The 'average' parameter of roc_auc_score"),
        ("average_precision_score", ([0, 1], [0.1, 0.2]), {"pos_label": 2}, "pos_label=2 is not a valid label"),
        ("average_precision_score", (["a", "b"], [0.1, 0.2]), {}, "It should be one of ['a' 'b']"),
        ("average_precision_score", ([0, 1], [0.1, 0.2]), {"pos_label": None}, "The 'pos_label' parameter of"),
        ("det_curve", ([1, 1], [0.1, 0.2]), {}, "Only one class is present in y_true. Detection error"),
        ("auc", ([0.0], [1.0]), {}, "At least 2 points are needed"),
        ("auc", ([0, 2, 1], [1, 1, 1]), {}, "x is neither increasing nor decreasing : [0 2 1]."),
        ("auc", ([0, 1], [1, 1, 1]), {}, "inconsistent numbers of samples"),
    ],
)
def test_errors_of_areas(name, args, options, words):
    assert complaint(name, *args, **options).count(words) >= 2


def test_errors_say_where():
    with pytest.raises(ValueError, match=r"contains NaN\. There are 2, the first at row 1"):
        fastevals.metrics.roc_auc_score([0, 1, 1], [0.1, np.nan, np.nan])
    with pytest.raises(ValueError, match=r"sample_weight must not be negative, got -1\.0 at row 1"):
        fastevals.metrics.roc_curve([0, 1], [0.1, 0.2], sample_weight=[1.0, -1.0])


@pytest.mark.parametrize("name", ["roc_auc_score", "average_precision_score", "log_loss", "brier_score_loss"])
def test_missing_labels_are_errors(name):
    call = getattr(fastevals.metrics, name)
    with pytest.raises(ValueError, match="y_true has 1 missing value, the first at row 1"):
        call(pd.Series(["a", None, "b"], dtype=object), [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="y_true has 1 missing value, the first at row 1"):
        call(pd.Series(["a", None, "b"]), [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="missing values"):
        call(pd.Series([0, 1, None], dtype="Int64"), [0.1, 0.2, 0.3])


def test_options_by_position_are_deprecated():
    with pytest.warns(FutureWarning, match="Pass pos_label=1 as keyword args"):
        found = fastevals.metrics.confusion_matrix_at_thresholds([0, 1], [0.1, 0.2], 1)
    assert [array.tolist() for array in found] == [[1, 0], [0, 1], [0, 0], [1, 1], [0.2, 0.1]]
    with pytest.raises(TypeError, match="2 positional arguments"):
        fastevals.metrics.confusion_matrix_at_thresholds([0, 1], [0.1, 0.2], 1, None, None)


# Where scikit-learn is known to be off ----------------------------------------------------------------------------


def test_auc_is_rounded_once():
    fawcett = [1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0]
    scores = [0.9, 0.8, 0.7, 0.6, 0.55, 0.54, 0.53, 0.52, 0.51, 0.505, 0.4, 0.39, 0.38, 0.37, 0.36, 0.35, 0.34, 0.33]
    assert fastevals.metrics.roc_auc_score(fawcett, [*scores, 0.30, 0.1]) == 0.68


@BOUNDED
@given(unweighted)
def test_auc_of_reversed_scores(case):
    labels, scores = case.y_true, case.y_score
    above, below = (fastevals.metrics.roc_auc_score(labels, sign * scores) for sign in (1, -1))
    positives, negatives = scores[labels == 1], scores[labels == 0]
    pairs = [Fraction(int(p > n) * 2 + int(p == n), 2) for p in positives for n in negatives]
    assert above == float(sum(pairs) / len(pairs))
    assert abs(above + below - 1) <= 2**-53


@BOUNDED
@given(cases(weights=FLOAT_WEIGHTS))
def test_perfect_weighted_rankings_are_exactly_one(case):
    for name in AREAS:
        assert getattr(fastevals.metrics, name)(case.y_true, case.y_true, sample_weight=case.weights) == 1.0


def test_integer_scores_are_compared_exactly():
    auc = fastevals.metrics.roc_auc_score
    assert auc([0, 0, 1], np.array([0, 200, 255], dtype=np.uint8)) == 1.0
    assert auc([0, 0, 1], np.array([-128, 0, 127], dtype=np.int8)) == 1.0
    assert auc([0, 1], np.array([2**53, 2**53 + 1])) == 1.0
    thresholds = fastevals.metrics.precision_recall_curve([0, 1], np.array([2**53, 2**53 + 1]))[2]
    assert thresholds.tolist() == [2**53, 2**53 + 1]


@BOUNDED
@given(exact_cases)
def test_the_scale_of_weights_changes_no_point(case):
    if case.weights is None:
        return
    for name in ("roc_curve", "precision_recall_curve", "det_curve"):
        curve = getattr(fastevals.metrics, name)
        whole = curve(case.y_true, case.y_score, sample_weight=case.weights, drop_intermediate=True)
        scaled = curve(case.y_true, case.y_score, sample_weight=case.weights * 0.3, drop_intermediate=True)
        for one, other in zip(whole, scaled, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)


def test_equal_weights_are_no_weights():
    labels, scores, _ = draw(np.random.default_rng(6), 500, 60)
    whole = fastevals.metrics.roc_curve(labels, scores)
    for weight in (1.0, 0.3, 1e-200):
        weighted = fastevals.metrics.roc_curve(labels, scores, sample_weight=np.full(500, weight))
        for one, other in zip(whole, weighted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    assert whole[2][0] == np.inf


@pytest.mark.parametrize("labels", [[4, 4, 0, 2, 1], ["d", "d", "a", "c", "b"], [0.0, 0.0, 1.0, 2.0, 2.0]])
def test_labels_of_rows_of_weight_zero_are_labels(labels):
    options = {"sample_weight": [1, 0, 2, 0, 0]}
    scores = np.array([0.1, 0.2, 0.6, 0.4, 0.5])
    for name in ("roc_auc_score", "roc_curve", "average_precision_score", "precision_recall_curve"):
        complaint(name, labels, scores, **options)
    complaint("average_precision_score", labels, scores, pos_label=labels[0], **options)


def test_rows_of_weight_zero_leave_no_threshold():
    thresholds = fastevals.metrics.roc_curve([0, 1, 1], [0.1, 0.2, 0.3], sample_weight=[1, 0, 1])[2]
    assert thresholds.tolist() == [np.inf, 0.3, 0.1]


@pytest.mark.parametrize("name", CURVES)
def test_arrays_are_the_callers_own(name):
    ranked = np.array([0, 1, 1]), np.array([0.1, 0.2, 0.3])
    for array in getattr(fastevals.metrics, name)(*ranked):
        array[:] = 7
    assert ranked[1].tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint8, bool])
def test_auc_of_points(dtype):
    x, y = np.array([0, 0, 1, 1], dtype=dtype), np.array([0, 1, 1, 1], dtype=dtype)
    assert fastevals.metrics.auc(x, y) == fastevals.metrics.auc(x[::-1], y[::-1]) == 1.0


@pytest.mark.parametrize("weights", [[Fraction(1, 3), Fraction(2), 1], [2**62, 2**61, 3], [10**30, 1, 2], [1, 2.5, 3]])
def test_weights_are_numbers_of_any_type(weights):
    labels, scores, exact = [0, 1, 1], [0.5, 0.2, 0.9], [float(each) for each in weights]
    for name in ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve", "brier_score_loss"):
        metric = getattr(fastevals.metrics, name)
        expected = metric(labels, scores, sample_weight=exact)
        for each in (weights, np.array(weights, dtype=object), pd.Series(weights, dtype=object)):
            found = metric(labels, scores, sample_weight=each)
            assert str(found) == str(expected)
    with pytest.raises(ValueError, match="sample_weight must hold numbers"):
        fastevals.metrics.roc_auc_score(labels, scores, sample_weight=np.array(["1", "2", "3"], dtype=object))
