"""Rankings by class: kinds of arrays and labels, and bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from fastevals import ClassRankings, bootstrap, metric
from tests.many.test_classes import INDICATOR, LETTERS, SCORES, many
from tests.test_validation import ODD_ARRAYS, ODD_SCALARS, complaint

WAYS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "list": lambda a: a.tolist(),
    "columns together": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "longdouble": lambda a: a.astype(np.longdouble),
    "pandas": lambda a: pd.DataFrame(a) if a.ndim > 1 else pd.Series(a),
    "polars": lambda a: pl.DataFrame(a, schema=[str(k) for k in range(a.shape[1])]) if a.ndim > 1 else pl.Series(a),
    "arrow": lambda a: pa.table({str(k): a[:, k] for k in range(a.shape[1])}) if a.ndim > 1 else pa.array(a),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("multilabel", [False, True])
def test_kinds_of_arrays(way: str, multilabel: bool) -> None:
    y_true, scores = many(200, 3)
    scores = np.round(scores * 16) / 16
    if multilabel:
        y_true = np.eye(3, dtype=int)[y_true]
    expected = ClassRankings(y_true, scores).roc_auc(average=None).tolist()
    given = WAYS[way](scores)
    before = np.array(given)
    made = ClassRankings(WAYS[way](y_true), given)
    assert made.roc_auc(average=None).tolist() == expected
    assert made.rankings[0].roc_auc() == expected[0]
    assert np.array_equal(before, np.array(given))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, bool])
def test_integer_scores(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    y_true, scores = rng.integers(0, 3, 100), rng.integers(0, 2 if dtype is bool else 100, (100, 3))
    made = ClassRankings(y_true, scores.astype(dtype))
    assert made.roc_auc(average=None).tolist() == ClassRankings(y_true, scores * 1.0).roc_auc(average=None).tolist()


def test_integers_past_floats_are_not_tied() -> None:
    scores = np.array([[2**53 + 1, 0], [2**53, 1]], dtype=np.int64)
    assert ClassRankings([0, 1], scores).roc_auc(average=None).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (np.array([True, False, True, True]), [False, True]),
        (np.array([-1, 1, 1, -1], np.int8), [-1, 1]),
        (np.array([2.0, 1.0, 1.0, 1.0]), [1.0, 2.0]),
        (np.array([2**60, 1, 1, 1]), [1, 2**60]),
        (np.array([3, 7, 7, 3], np.uint64), [3, 7]),
        (np.array([b"x", b"y", b"y", b"y"]), ["x", "y"]),
        (pd.Series(["x", "y", "y", "y"], dtype="category"), ["x", "y"]),
    ],
)
def test_kinds_of_labels(values: Any, labels: list[Any]) -> None:
    scores = np.array(SCORES)[:, :2]
    made = ClassRankings(values, scores)
    assert made.labels.tolist() == labels
    assert list(made.roc_curve()) == labels
    other = [labels[1 - labels.index(label)] for label in labels]
    swapped = ClassRankings(values, scores[:, ::-1], labels=other)
    assert swapped.roc_auc(average=None).tolist() == made.roc_auc(average=None)[::-1].tolist()


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "one column": (lambda: ClassRankings([0, 1], [[1], [2]]), "y_score must have two columns or more"),
    "1-D": (lambda: ClassRankings([0, 1], [1, 2]), r"y_score must be 2-D.*got shape \(2,\); .*use Ranking"),
    "3-D": (lambda: ClassRankings([0, 1], np.zeros((2, 2, 2))), r"y_score must be 2-D.*got shape \(2, 2, 2\)"),
    "no rows": (lambda: ClassRankings([], np.zeros((0, 2))), r"y_score is empty.*\(0, 2\)"),
    "text": (lambda: ClassRankings([0, 1], [["a", "b"], ["c", "d"]]), "y_score must hold numbers, got dtype <U1"),
    "rows": (lambda: ClassRankings([0, 1, 1], SCORES), "y_score has 4 rows, but y_true has 3"),
    "3-D labels": (lambda: ClassRankings(np.zeros((4, 3, 1)), SCORES), "y_true must be 1-D, labels, or 2-D"),
    "few labels": (lambda: ClassRankings([0, 1, 1, 0], SCORES), "y_score has 3 columns, but y_true has 2 labels: 0, 1"),
    "given labels": (
        lambda: ClassRankings(LETTERS, SCORES, labels=["a", "b"]),
        "y_score has 3 columns, but labels has 2 labels: 'a', 'b'$",
    ),
    "unknown": (
        lambda: ClassRankings(LETTERS, SCORES, labels=["a", "b", "d"]),
        "labels must hold every label that occurs; missing: 'c'",
    ),
    "twice": (lambda: ClassRankings(LETTERS, SCORES, labels=["a", "b", "b"]), "labels must all differ"),
    "other type": (lambda: ClassRankings(LETTERS, SCORES, labels=[0, 1, 2]), "labels must be of one type"),
    "fraction": (lambda: ClassRankings([0.5, 1, 2, 1], SCORES), "y_true must hold class labels.*0.5 at row 0"),
    "indicator's shape": (
        lambda: ClassRankings([[0, 1]] * 4, SCORES),
        r"y_true must have y_score's shape \(4, 3\) where it is 2-D, got \(4, 2\)",
    ),
    "indicator": (
        lambda: ClassRankings([[0, 1, 0], [0, 1, 2]], SCORES[:2]),
        "y_true must hold 0 and 1 where it is 2-D, got 2 at row 1, column 2",
    ),
    "indicator with NaN": (lambda: ClassRankings([[0, 1], [0, math.nan]], [[0, 1]] * 2), "got nan at row 1, column 1"),
    "indicator of text": (lambda: ClassRankings([["a", "b"]], [[0, 1]]), "y_true must hold 0 and 1.*dtype <U1"),
    "names": (lambda: ClassRankings(INDICATOR, SCORES, labels=["a"]), "labels must name 3 classes, got 1"),
    "weights": (lambda: ClassRankings(LETTERS, SCORES, sample_weight=[1, 1]), "sample_weight has 2 rows"),
    "average": (lambda: ClassRankings(LETTERS, SCORES).roc_auc(average="samples"), "average must be one of 'macro'"),
    "way": (lambda: ClassRankings(LETTERS, SCORES).roc_auc(multi_class="raise"), "multi_class must be one of 'ovr'"),
    "pairs of many": (lambda: ClassRankings(INDICATOR, SCORES).roc_auc(multi_class="ovo"), "needs one label per row"),
    "Till of many": (lambda: ClassRankings(INDICATOR, SCORES).hand_till(), "hand_till needs one label per row"),
    "loss of many": (lambda: ClassRankings(INDICATOR, SCORES).log_loss(), "^log_loss needs one label per row"),
    "micro pairs": (
        lambda: ClassRankings(LETTERS, SCORES).roc_auc(multi_class="ovo", average="micro"),
        "average='micro' requires multi_class='ovr'",
    ),
    "partial pairs": (
        lambda: ClassRankings(LETTERS, SCORES).roc_auc(multi_class="ovo", max_fpr=0.5),
        "max_fpr requires multi_class='ovr', got 0.5",
    ),
    "max_fpr": (lambda: ClassRankings(LETTERS, SCORES).roc_auc(max_fpr=2), r"max_fpr must be in \(0, 1\], got 2"),
    "curve": (lambda: ClassRankings(LETTERS, SCORES).roc_curve(average="weighted"), "average must be one of None"),
    "P-R": (lambda: ClassRankings(LETTERS, SCORES).precision_recall_curve(average="samples"), "one of None, 'micro'"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(what: str) -> None:
    call, message = BAD[what]
    with pytest.raises(ValueError, match=message):
        call()


FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas with missing values": lambda columns: pd.DataFrame(columns).astype("Float64"),
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("name", ["{}", "p_{}", "p({})"])
def test_columns_are_matched_by_name(kind: str, name: str) -> None:
    columns = np.transpose(SCORES)
    frame = FRAMES[kind]({name.format("abc"[k]): columns[k] for k in (2, 0, 1)})
    expected = ClassRankings(LETTERS, SCORES).roc_auc(average=None)
    np.testing.assert_array_equal(ClassRankings(LETTERS, frame).roc_auc(average=None), expected)
    told = ClassRankings(LETTERS, frame, labels=["b", "c", "a"])
    np.testing.assert_array_equal(told.roc_auc(average=None), expected[[1, 2, 0]])
    found = bootstrap((LETTERS, frame), "log_loss", frequency_weight=[1] * 4, n_resamples=99)
    assert found["log_loss"].value == ClassRankings(LETTERS, SCORES).log_loss()
    indicator = FRAMES[kind]({f"is {'abc'[k]}": np.array(INDICATOR)[:, k] for k in (1, 0, 2)})
    many = ClassRankings(indicator, frame).roc_auc(average=None)
    np.testing.assert_array_equal(many, ClassRankings(INDICATOR, SCORES).roc_auc(average=None)[[1, 0, 2]])
    many = ClassRankings(INDICATOR, frame, labels=["a", "b", "c"]).roc_auc(average=None)
    np.testing.assert_array_equal(many, ClassRankings(INDICATOR, SCORES).roc_auc(average=None))


def test_columns_are_matched_to_numbers() -> None:
    columns = np.transpose(SCORES)
    expected = ClassRankings([3, 3, 1, 2], SCORES).roc_auc(average=None)
    for names in ([1, 2, 3], [1.0, 2.0, 3.0], ["1", "2", "3"], ["class_1", "class_2", "class_3"]):
        frame = pd.DataFrame({names[k]: columns[k] for k in (1, 2, 0)})
        for labels in ([3, 3, 1, 2], [3.0, 3.0, 1.0, 2.0]):
            np.testing.assert_array_equal(ClassRankings(labels, frame).roc_auc(average=None), expected)


@pytest.mark.parametrize("names", [[0, 1, 2], ["0", "1", "2"], ["column_0", "column_1", "column_2"], ["x", "z", "y"]])
def test_columns_without_names_of_classes_are_taken_in_order(names: list[Any]) -> None:
    frame = pd.DataFrame(SCORES, columns=names)
    for labels in ([1, 2, 0], ["c", "a", "b"]):
        true = [labels["abc".index(each)] for each in LETTERS]
        found = ClassRankings(true, frame, labels=labels).roc_auc(average=None)
        np.testing.assert_array_equal(found, ClassRankings(LETTERS, SCORES).roc_auc(average=None))


def test_columns_of_other_classes() -> None:
    frame = pd.DataFrame(SCORES, columns=["a", "b", "d"])
    with pytest.raises(ValueError, match="its columns are 'a', 'b', 'd', and the labels are 'a', 'b', 'c'"):
        ClassRankings(LETTERS, frame)
    with pytest.raises(ValueError, match="y_score must have columns named by the labels, or by none of them"):
        ClassRankings(LETTERS, frame, labels=["b", "a", "c"])
    assert ClassRankings(LETTERS, frame, labels=["a", "b", "c"]).roc_auc() == ClassRankings(LETTERS, SCORES).roc_auc()


def test_weights_of_any_unit() -> None:
    weights = np.array([1.0, 2.0, 0.5, 1.5])
    names = ["roc_auc", "hand_till", "average_precision", "accuracy", metric("roc_auc", average="micro")]
    true, scores, design = LETTERS * 9, SCORES * 9, {"n_resamples": 99, "method": "percentile", "rng": 0}
    expected, *found = (
        bootstrap((true, scores), names, sample_weight=np.tile(weights, 9) * unit, **design)
        for unit in (1.0, 2.0**900, 2.0**-900)
    )
    for each in found:
        assert each.to_dict() == expected.to_dict()


@pytest.mark.parametrize("labels", [LETTERS, INDICATOR])
@pytest.mark.parametrize("weights", [None, [1, 0, 1, 1]])
@pytest.mark.parametrize(("value", "kind"), [(math.nan, "NaN"), (math.inf, "infinite")])
def test_scores_that_are_not_finite(labels: Any, weights: Any, value: float, kind: str) -> None:
    scores = np.array(SCORES)
    scores[1:3, 2] = value
    message = rf"y_score\[:, 2\] must be finite, but has 2 {kind} values, the first at row 1$"
    with pytest.raises(ValueError, match=message):
        ClassRankings(labels, scores, sample_weight=weights)


Y, S = [0, 1, 1, 0], [[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]]
TAKE_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "y_true": lambda v: ClassRankings(v, S).roc_auc(),
    "y_score": lambda v: ClassRankings(Y, v).roc_auc(),
    "both": lambda v: ClassRankings(v, v).roc_auc(),
    "labels": lambda v: ClassRankings(Y, S, labels=v).roc_auc(),
    "labels of many": lambda v: ClassRankings([[0, 1], [1, 0]], S[:2], labels=v).roc_auc(),
    "sample_weight": lambda v: ClassRankings(Y, S, sample_weight=v).roc_auc(),
}
TAKE_SCALARS: dict[str, Callable[[Any], Any]] = {
    "average": lambda v: ClassRankings(Y, S).roc_auc(average=v),
    "AP": lambda v: ClassRankings(Y, S).average_precision(average=v),
    "multi_class": lambda v: ClassRankings(Y, S).roc_auc(multi_class=v),
    "max_fpr": lambda v: ClassRankings(Y, S).roc_auc(max_fpr=v),
    "roc_curve": lambda v: ClassRankings(Y, S).roc_curve(average=v),
    "precision_recall_curve": lambda v: ClassRankings(Y, S).precision_recall_curve(average=v),
}


@pytest.mark.parametrize("entry", TAKE_ARRAYS)
def test_odd_arrays(entry: str) -> None:
    found = {name: complaint(TAKE_ARRAYS[entry], value) for name, value in ODD_ARRAYS.items()}
    assert {name: text for name, text in found.items() if text} == {}


@pytest.mark.parametrize("entry", TAKE_SCALARS)
def test_odd_scalars(entry: str) -> None:
    found = {name: complaint(TAKE_SCALARS[entry], value) for name, value in ODD_SCALARS.items()}
    assert {name: text for name, text in found.items() if text} == {}
