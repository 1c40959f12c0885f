from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import metrics as sk

import fastevals
from fastevals import ConfusionMatrix, UndefinedMetricWarning
from tests.reference import confusion as twin
from tests.strategies import EXAMPLES

AVERAGES = (None, "binary", "micro", "macro", "weighted")
RATES = ("precision", "recall", "specificity", "jaccard", "f_score")
TINY = 4e-16  # relative error of a few roundings
count = ConfusionMatrix.from_predictions


def random_labels(rng: np.random.Generator, kind: str) -> tuple[Any, Any]:
    n, k = int(rng.integers(1, 13)), int(rng.integers(1, 6))
    codes = [rng.integers(0, k, n) for _ in range(2)]
    if kind == "int":
        return codes[0], codes[1]
    if kind == "negative":
        return codes[0] * 7 - 11, codes[1] * 7 - 11
    if kind == "list":
        return codes[0].tolist(), codes[1].tolist()
    if kind == "bool":
        return codes[0] % 2 == 1, codes[1] % 2 == 1
    if kind == "str":
        names = np.array(["b", "a", "ccc", "é", "A b"])
        return names[codes[0]], names[codes[1]]
    if kind == "object":
        names = np.array(["b", "a", "ccc", "é", "A b"], dtype=object)
        return names[codes[0]], names[codes[1]]
    if kind == "float":
        return codes[0] * 2.0 - 3.0, codes[1] * 2.0 - 3.0
    if kind == "uint8":
        return np.array([0, 200, 255, 7, 128], np.uint8)[codes[0]], np.array([0, 200, 255, 7, 128], np.uint8)[codes[1]]
    if kind == "int8":
        return np.array([-128, 0, 127, -1, 5], np.int8)[codes[0]], np.array([-128, 0, 127, -1, 5], np.int8)[codes[1]]
    if kind == "mixed":
        dtypes = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, float]
        first, second = rng.integers(0, len(dtypes), 2)
        return codes[0].astype(dtypes[first]), codes[1].astype(dtypes[second])
    if kind == "wide":
        ids = np.array([-(2**62), -5, 0, 10**6, 2**62])
        return ids[codes[0]], ids[codes[1]]
    raise ValueError(kind)


KINDS = ("int", "negative", "list", "bool", "str", "object", "float", "uint8", "int8", "mixed", "wide")


def check_same(matrix: ConfusionMatrix, counts: list[list[Any]], labels: list[Any]) -> None:
    assert matrix.counts.tolist() == counts
    assert matrix.labels.tolist() == labels


# Counting -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_counts_as_the_dictionary_does(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(4 * EXAMPLES):
        true, predicted = random_labels(rng, kind)
        matrix = count(true, predicted)
        check_same(matrix, *twin.confusion(true, predicted))
        assert matrix.counts.dtype == np.int64


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "mixed"])
def test_counts_as_scikit_learn_does(kind: str) -> None:
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for _ in range(2 * EXAMPLES):
        true, predicted = random_labels(rng, kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # scikit-learn warns about a single label
            expected = sk.confusion_matrix(true, predicted)
        assert np.array_equal(count(true, predicted).counts, expected)


@pytest.mark.parametrize("weights", ["int", "float", "bool", "list"])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_add_up(kind: str, weights: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(EXAMPLES):
        true, predicted = random_labels(rng, kind)
        w: Any = rng.integers(0, 3, len(true)) * 0.25
        if not w.any():
            w[0] = 0.5
        if weights != "float":
            w = w > 0 if weights == "bool" else (w * 4).astype(int)
        w = w.tolist() if weights == "list" else w
        matrix = count(true, predicted, sample_weight=w)
        check_same(matrix, *twin.confusion(true, predicted, weights=w))
        assert matrix.counts.dtype == np.float64


def test_rows_of_weight_zero_leave_no_class() -> None:
    matrix = count(["a", "b", "ghost"], ["a", "b", "spook"], sample_weight=[1, 2, 0])
    check_same(matrix, [[1.0, 0.0], [0.0, 2.0]], ["a", "b"])


@pytest.mark.parametrize("kind", KINDS)
def test_labels_give_classes_and_their_order(kind: str) -> None:
    rng = np.random.default_rng(11)
    more: list[Any] = ["zz", "0"] if kind in ("str", "object") else [] if kind == "bool" else [99, -99]
    for _ in range(2 * EXAMPLES):
        true, predicted = random_labels(rng, kind)
        labels = sorted({*map(twin.plain, true), *map(twin.plain, predicted)}) + more
        labels = [labels[i] for i in rng.permutation(len(labels))]
        for given in (labels, tuple(labels), np.array(labels)):
            check_same(count(true, predicted, labels=given), *twin.confusion(true, predicted, labels))
        w = rng.random(len(true))
        weighted = count(true, predicted, labels=labels, sample_weight=w)
        np.testing.assert_allclose(weighted.counts, twin.confusion(true, predicted, labels, w)[0], rtol=1e-14)


def test_labels_may_be_of_another_number_type() -> None:
    check_same(count([0, 1], [1, 1], labels=[1.0, 0.0]), [[1, 0], [1, 0]], [1.0, 0.0])
    check_same(count([0.0, 1.0], [1.0, 1.0], labels=[1, 0]), [[1, 0], [1, 0]], [1, 0])
    check_same(count([True, False], [1, 1], labels=[0, 1]), [[0, 1], [0, 1]], [0, 1])


def test_label_dtypes() -> None:
    assert count([True, False], [True, True]).labels.dtype == np.bool_
    assert count(["b", "a"], ["b", "b"]).labels.tolist() == ["a", "b"]
    assert count([1.0, 2.0], [1.0, 1.0]).labels.dtype == np.float64
    assert count(np.array([1], np.uint8), np.array([-1], np.int8)).labels.tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("true", "predicted", "expected"),
    [
        ("u1", "u1", "u1"), (">i2", ">i2", "i2"), ("?", "?", "?"), ("f4", "f4", "f4"), ("u1", "i2", "i2"),
        ("i2", "u1", "i2"), ("?", "u1", "i2"), ("i4", "f4", "f8"), ("f4", "f8", "f8"),
    ],
)  # fmt: skip
def test_labels_have_the_type_that_holds_both_sides(true: str, predicted: str, expected: str) -> None:
    found = count(np.array([0, 1], true), np.array([1, 0], predicted)).labels
    assert (found.dtype, found.tolist()) == (np.dtype(expected), [0, 1])


def test_bytes_are_labels() -> None:
    check_same(count([b"x", b"y"], [b"y", b"y"]), [[0, 1], [0, 1]], ["x", "y"])
    check_same(count(np.array([b"x", b"\xe9"]), ["x", "x"]), [[1, 0], [1, 0]], ["x", "é"])
    check_same(count(np.array(["x", b"\xe9"], dtype=object), ["x", "x"]), [[1, 0], [1, 0]], ["x", "é"])


def test_wide_identifiers() -> None:
    ids = [2**62, 2**62 + 1, -(2**62), 0, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
    true, predicted = ids * 2, ids + ids[::-1]
    check_same(count(true, predicted), *twin.confusion(true, predicted))


@pytest.mark.parametrize("k", [127, 128, 129, 200, 1023, 1024, 1025, 1500])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_classes(k: int, weighted: bool) -> None:
    rng = np.random.default_rng(k)
    true, predicted = rng.integers(0, k, 3000), rng.integers(0, k, 3000)
    true[:2], predicted[:2] = (0, k - 1), (k - 1, 0)
    w = rng.integers(1, 9, 3000) if weighted else None
    expected = np.zeros((k, k))
    np.add.at(expected, (true, predicted), 1 if w is None else w)
    assert np.array_equal(count(true - 5, predicted - 5, labels=np.arange(k) - 5, sample_weight=w).counts, expected)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int16, np.float64, np.bool_])
@pytest.mark.parametrize("rare_in", ["y_true", "y_pred"])
def test_a_label_between_the_sampled_rows_is_counted(dtype: Any, rare_in: str) -> None:
    n = 260_001
    for row in (1, 77_777, n - 2):
        true, predicted = np.zeros(n, dtype), np.zeros(n, dtype)
        (true if rare_in == "y_true" else predicted)[row] = 1 if dtype == np.bool_ else 100
        matrix = count(true, predicted)
        assert matrix.counts.sum() == n
        assert matrix.counts.tolist() == ([[n - 1, 0], [1, 0]] if rare_in == "y_true" else [[n - 1, 1], [0, 0]])


@pytest.mark.parametrize("rare", [-1, -(2**63), 2**63 - 1, 1024, 5000, -5000])
@pytest.mark.parametrize("common", [0, 2**63 - 2, -(2**63) + 1])
def test_a_far_label_between_the_sampled_rows_is_counted(rare: int, common: int) -> None:
    n = 210_001
    true = np.full(n, common)
    predicted = true.copy()
    true[100_001] = rare
    check_same(count(true, predicted), *twin.confusion([common, rare], [common] * 2, weights=[n - 1, 1]))


def test_every_block_and_chunk_border_is_counted() -> None:
    n = 64 * 65_536 // 16 + 3
    true, predicted = np.arange(n) % 3, np.arange(n) % 2
    expected = np.zeros((3, 3), dtype=int)
    np.add.at(expected, (true, predicted), 1)
    assert np.array_equal(count(true, predicted).counts, expected)


@pytest.mark.parametrize("spoiler", [math.nan, 0.5, math.inf, -math.inf, 1e-300])
@pytest.mark.parametrize("argument", ["y_true", "y_pred"])
def test_a_fraction_hidden_in_a_large_array_is_an_error(spoiler: float, argument: str) -> None:
    arrays = {name: np.arange(250_000) % 4.0 for name in ("y_true", "y_pred")}
    arrays[argument][123_457] = spoiler
    with pytest.raises(
        ValueError,
        match=f"{argument} must hold class labels, whole numbers .*; for scores use Ranking",
    ):
        count(**arrays)


@pytest.mark.parametrize("spoiler", [math.nan, 0.5, math.inf])
def test_a_fraction_hidden_among_wide_float_labels_is_an_error(spoiler: float) -> None:
    true = np.arange(6000) % 3000 * 1.0
    predicted = true.copy()
    predicted[4001] = spoiler
    with pytest.raises(ValueError, match="y_pred must hold class labels"):
        count(true, predicted)


def counts_or_error(true: Any, predicted: Any) -> ConfusionMatrix | str:
    """Count, or return the error's message."""
    try:
        return count(true, predicted)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("value", [1e20, 2.0**63, -(2.0**63), -1e300])
def test_whole_floats_beyond_64_bits_are_counted_or_refused(value: float) -> None:
    for true, predicted in (([value] * 3, [value] * 3), ([value, 1.0], [1.0, value])):
        seen = counts_or_error(true, predicted)
        if isinstance(seen, str):
            assert "y_true" in seen
        else:
            check_same(seen, *twin.confusion(true, predicted))


@pytest.mark.parametrize("first", [[], [0]])
@pytest.mark.parametrize(
    ("true", "predicted", "dtypes"),
    [
        (2**62, 2**62 + 1, (np.int64, np.uint64)),
        (2**62 + 1, 2**62, (np.uint64, np.int64)),
        (2**53, 2**53 + 1, (np.float64, np.int64)),
        (2**24, 2**24 + 1, (np.float32, np.int64)),
        (2**24, 2**24 + 1, (np.float32, np.int32)),
        (2**11, 2**11 + 1, (np.float16, np.int16)),
    ],
)
def test_mixed_number_types_keep_large_labels_apart(true: int, predicted: int, dtypes: Any, first: list[int]) -> None:
    seen = counts_or_error(np.array([*first, true], dtypes[0]), np.array([*first, predicted], dtypes[1]))
    if isinstance(seen, str):
        assert "y_true" in seen
        assert "must all differ" not in seen  # a message about an argument that was not passed
    else:
        assert [int(label) for label in seen.labels] == sorted([*first, true, predicted])
        assert seen.counts.sum() - np.trace(seen.counts) == 1


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("k", [2, 40, 300])
def test_float_weights_give_the_same_bits_at_any_thread_count(threads: int, k: int) -> None:
    rng = np.random.default_rng(k)
    true, predicted, w = rng.integers(0, k, 300_000), rng.integers(0, k, 300_000), rng.random(300_000)
    with fastevals.num_threads(1):
        expected = count(true, predicted, sample_weight=w).counts
    with fastevals.num_threads(threads):
        assert count(true, predicted, sample_weight=w).counts.tobytes() == expected.tobytes()


# Inputs -------------------------------------------------------------------------------------------------------------


def test_inputs_stay_as_they_are() -> None:
    true, predicted, w, labels = (
        np.array([2, 0, 1]),
        np.array([2, 1, 1]),
        np.array([0.0, 1.0, 2.0]),
        np.array([1, 0, 2]),
    )
    before = [copy.deepcopy(a) for a in (true, predicted, w, labels)]
    matrix = count(true, predicted, sample_weight=w, labels=labels)
    for now, then in zip((true, predicted, w, labels), before, strict=True):
        assert np.array_equal(now, then)
        assert now.flags.writeable
    labels[:] = 7
    assert matrix.labels.tolist() == [1, 0, 2]


def test_later_changes_to_the_callers_arrays_change_nothing() -> None:
    counts, labels = np.array([[1, 2], [3, 4]]), np.array(["a", "b"])
    matrix = ConfusionMatrix(counts, labels)
    counts[:] = 0
    labels[:] = "z"
    assert matrix.counts.tolist() == [[1, 2], [3, 4]]
    assert matrix.labels.tolist() == ["a", "b"]


def test_the_counts_are_read_only_and_the_callers_are_not() -> None:
    counts = np.array([[1.0, 2], [3, 4]])
    matrix = ConfusionMatrix(counts)
    with pytest.raises(ValueError, match="read-only"):
        matrix.counts[0, 0] = 5
    counts[0, 0] = 5


def variants(values: np.ndarray) -> dict[str, Any]:
    read_only = values.copy()
    read_only.flags.writeable = False
    buffer = np.zeros(values.nbytes + 1, np.uint8)
    unaligned = buffer[1:].view(values.dtype)
    unaligned[:] = values
    return {
        "read-only": read_only,
        "strided": np.repeat(values, 3)[::3],
        "reversed": values[::-1].copy()[::-1],
        "column": np.column_stack((values, values))[:, 1],
        "big-endian": values.astype(values.dtype.newbyteorder(">")),
        "unaligned": unaligned,
        "list": values.tolist(),
        "tuple": tuple(values.tolist()),
        "pandas": pd.Series(values, index=range(5, 5 + values.size)),
        "pandas index": pd.Index(values),
        "polars": pl.Series(values.tolist()),
        "arrow": pa.array(values.tolist()),
        "arrow chunked": pa.chunked_array([values[:2].tolist(), values[2:].tolist()]),
        "masked": np.ma.array(values, mask=False),
    }


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint16, np.float64, np.float32, np.bool_, "U5"])
@pytest.mark.parametrize("form", list(variants(np.arange(3))))
def test_array_likes_give_the_same_answer(dtype: Any, form: str) -> None:
    true, predicted = np.array([0, 1, 2, 1, 0, 0]).astype(dtype), np.array([0, 1, 1, 1, 2, 0]).astype(dtype)
    w = np.array([1.0, 2.0, 0.5, 1.0, 4.0, 0.25])
    for options in ({}, {"sample_weight": w}):
        expected = count(true, predicted, **options)
        given = {name: variants(value)[form] for name, value in options.items()}
        seen = count(variants(true)[form], variants(predicted)[form], **given)
        check_same(seen, expected.counts.tolist(), expected.labels.tolist())


def test_categories_and_nullable_integers() -> None:
    expected = [[1, 1], [0, 1]]
    for build in (pd.Categorical, lambda v: pl.Series(v, dtype=pl.Categorical), lambda v: pd.Series(v, dtype="string")):
        check_same(count(build(["a", "a", "b"]), build(["a", "b", "b"])), expected, ["a", "b"])
    nullable = [pd.array(values, dtype="Int64") for values in ([0, 0, 1], [0, 1, 1])]
    check_same(count(*nullable), expected, [0, 1])


def test_pickle_and_copy() -> None:
    matrix = ConfusionMatrix([[[5, 1], [2, 2]], [[4, 0], [1, 5]]], ["n", "p"]).macro()
    for twin_of_it in (pickle.loads(pickle.dumps(matrix)), copy.deepcopy(matrix)):
        assert twin_of_it.to_dict() == matrix.to_dict()
        assert twin_of_it.recall() == matrix.recall()


def test_repr_and_to_dict() -> None:
    assert repr(ConfusionMatrix([[1, 2], [3, 4]])) == "ConfusionMatrix(2x2, n=10, pos_label=1)"
    assert repr(ConfusionMatrix(np.ones((4, 5, 3, 3)))) == "ConfusionMatrix(4x5 of 3x3, n=180)"
    assert str(ConfusionMatrix([[1, 2.5], [30, 4]], ["no", "yes"], pos_label="yes")).splitlines() == [
        "ConfusionMatrix(2x2, n=37.5, pos_label='yes')",
        "  true \\ predicted no yes",
        "  no                1 2.5",
        "  yes              30   4",
    ]
    assert len(str(ConfusionMatrix(np.ones((4, 3, 3)))).splitlines()) == 5
    assert str(ConfusionMatrix(np.eye(12))).splitlines()[-2:] == [f"  9{'0 ' * 9:>34}1 ...", "  ..."]
    plain = ConfusionMatrix([[1, 2], [3, 4]], ["a", "b"]).to_dict()
    assert plain == {"counts": [[1, 2], [3, 4]], "labels": ["a", "b"], "pos_label": "b", "macro_axes": []}
    json.dumps(plain)


# Errors -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0]), "y_pred has 1 rows, but y_true has 2"),
        (([], []), "y_true is empty"),
        (([0], []), "y_pred is empty"),
        (([[0, 1]], [0]), r"y_true must be 1-D, got shape \(1, 2\); pass one column"),
        ((3, [0]), r"y_true must be 1-D, got shape \(\)"),
        ((["a"], [0]), "labels must be of one type, but y_true has strings and y_pred has numbers"),
        (([0], ["a"]), "y_true has numbers and y_pred has strings"),
        (
            ([0.5], [1.0]),
            "y_true must hold class labels, whole numbers within 64 bits, but has 0.5 at row 0",
        ),
        (([1.0], [math.nan]), "y_pred must hold class labels, whole numbers within 64 bits, but has nan at row 0"),
        (([1j], [1j]), "y_true must hold numbers, booleans or strings, got dtype complex128"),
        ((["a", None], ["a", "b"]), "y_true has 1 missing value, the first at row 1"),
        ((["a", 1], ["a", "b"]), "not Python objects or a mixture: got 1"),
        (({0, 1}, [0, 1]), "y_true must be an array or sequence, got a set"),
        (([[0], [1, 2]], [0, 1]), "y_true can't be read as an array"),
        ((np.array([2**63], np.uint64), [1]), "y_true must fit 64-bit signed integers, got 9223372036854775808"),
        (([1], np.array([2**64 - 1], np.uint64)), "y_pred must fit 64-bit signed integers"),
        ((np.arange(20_000), np.arange(20_000)), "at most 10000 labels"),
        ((np.ma.array([0, 1], mask=[0, 1]), [0, 1]), "y_true has 1 masked value"),
    ],
)
def test_bad_predictions(arguments: tuple[Any, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        count(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": [0, 2]}, "labels must hold every label that occurs; missing: 1"),
        ({"labels": ["a", "b"]}, "labels must be of one type, but the data has numbers and labels has strings"),
        ({"labels": [0, 1, 1]}, "labels must all differ, got 0, 1, 1"),
        ({"labels": []}, "labels is empty"),
        ({"labels": [[0, 1]]}, "labels must be 1-D"),
        ({"labels": {0, 1}}, "labels must be an array or sequence"),
        ({"sample_weight": [1.0]}, "sample_weight has 1 rows, but y_true has 3"),
        ({"sample_weight": [1.0, -1.0, 1.0]}, "sample_weight must not be negative, got -1.0 at row 1"),
        (
            {"sample_weight": [1.0, math.nan, 1.0]},
            "sample_weight must be finite, but has 1 NaN value, the first at row 1",
        ),
        ({"sample_weight": [0, 0, 0]}, "sample_weight must have a value above zero, but all 3 are zero"),
        ({"sample_weight": ["a", "b", "c"]}, "sample_weight must hold numbers"),
    ],
)
def test_bad_options_of_counting(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        count([0, 1, 1], [0, 1, 0], **options)


def test_more_labels_than_a_matrix_may_have() -> None:
    with pytest.raises(ValueError, match="labels must"):
        count([0, 1], [0, 1], labels=np.arange(10**6))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, -1], [0, 1]],), "counts must not be negative, got -1"),
        (([[1.5, -0.5], [0, 1]],), r"counts must not be negative, got -0\.5"),
        (([[1, math.nan], [0, 1]],), "counts must be finite"),
        (([[1, math.inf], [0, 1]],), "counts must be finite"),
        (([[1, 2, 3], [4, 5, 6]],), r"counts must have shape \(\.\.\., K, K\), got \(2, 3\)"),
        (([1, 2],), r"counts must have shape \(\.\.\., K, K\), got \(2,\)"),
        ((5,), r"got \(\)"),
        ((np.zeros((3, 0, 0)),), r"got \(3, 0, 0\)"),
        (([["a", "b"], ["c", "d"]],), "counts must hold numbers, got dtype <U1"),
        (([[1j, 0], [0, 1]],), "counts must hold numbers, got dtype complex128"),
        ((np.array([[2**63, 0], [0, 0]], np.uint64),), "counts must add up to less than 2\\*\\*63"),
        (([[1, 0], [0, 1]], ["a"]), "labels must name 2 classes, got 1: 'a'"),
        (([[1, 0], [0, 1]], ["a", "b", "c"]), "labels must name 2 classes, got 3: 'a', 'b', 'c'"),
        (([[1, 0], [0, 1]], ["a", "a"]), "labels must all differ"),
        (([[1, 0], [0]],), "counts"),
    ],
)
def test_bad_matrices(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ConfusionMatrix(*arguments)


@pytest.mark.parametrize("name", RATES)
def test_bad_average(name: str) -> None:
    matrix = ConfusionMatrix(np.eye(3, dtype=int))
    with pytest.raises(
        ValueError, match="average must be one of None, 'binary', 'micro', 'macro', 'weighted'; got 'Macro'"
    ):
        getattr(matrix, name)(average="Macro")
    with pytest.raises(
        ValueError, match="average='binary' needs 2 classes, got 3; choose one of None, 'micro', 'macro', 'weighted'"
    ):
        getattr(matrix, name)()


@pytest.mark.parametrize("axis", [1, -2, 2, 0.0, "0", True, (0, 1), [0, 5]])
def test_bad_axis(axis: Any) -> None:
    stack = ConfusionMatrix(np.ones((3, 2, 2)))
    for method in (stack.pool, stack.macro):
        with pytest.raises(ValueError, match=r"axis must name leading axes \(there are 1\)"):
            method(axis)
    with pytest.raises(ValueError, match=r"\(there are 0\), got 0"):
        ConfusionMatrix(np.ones((2, 2))).pool(0)


@pytest.mark.parametrize(
    "costs", [[[0, 1]], [0, 1], 1.0, [["a", "b"], ["c", "d"]], np.zeros((3, 3)), [[0, 1j], [1, 0]]]
)
def test_bad_cost_matrix(costs: Any) -> None:
    with pytest.raises(ValueError, match=r"cost_matrix must hold numbers of shape \(2, 2\)"):
        ConfusionMatrix([[1, 2], [3, 4]]).cost(costs)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_infinite_costs(value: float) -> None:
    with pytest.raises(ValueError, match="cost_matrix must be finite"):
        ConfusionMatrix([[1, 2], [3, 4]]).cost([[0, value], [1, 0]])


@pytest.mark.parametrize("beta", [0, -1, math.nan, math.inf, "1", None, True])
def test_bad_beta(beta: Any) -> None:
    with pytest.raises(ValueError, match="beta must be"):
        ConfusionMatrix([[1, 2], [3, 4]]).f_score(beta)


def test_bad_macro() -> None:
    with pytest.raises(ValueError, match="macro must be one of 'mean-of-f', 'of-means'; got 'of_means'"):
        ConfusionMatrix([[1, 2], [3, 4]]).f_score(macro="of_means")


# Metrics against twins ----------------------------------------------------------------------------------------------


def full_matrices(n: int, *, seed: int = 0) -> list[np.ndarray]:
    """Return matrices without undefined classes."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 9, (k, k)) + np.eye(k, dtype=int) for k in rng.integers(2, 6, n)]


def some_matrices(n: int, *, seed: int = 1) -> list[np.ndarray]:
    """Return matrices with many zeros, some with undefined classes."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 5, (k, k)) * (rng.random((k, k)) < 0.5) for k in rng.integers(1, 5, n)]


def close(seen: Any, expected: Any) -> None:
    """Compare with a twin's exact values; None stands for NaN."""
    if isinstance(expected, list):
        assert np.shape(seen) == (len(expected),)
        for one, other in zip(np.asarray(seen).tolist(), expected, strict=True):
            close(one, other)
    elif expected is None:
        assert isinstance(seen, float)
        assert math.isnan(seen)
    else:
        assert isinstance(seen, float)
        assert seen == pytest.approx(float(expected), rel=TINY, abs=1e-300)


def quietly(call: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return call()


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", RATES)
def test_rates_against_fractions(name: str, average: str | None) -> None:
    for counts in some_matrices(2 * EXAMPLES) + full_matrices(EXAMPLES):
        if average == "binary" and len(counts) != 2:
            continue
        expected = twin.averaged(twin.RATES[name], counts.tolist(), average)
        close(quietly(lambda c=counts: getattr(ConfusionMatrix(c), name)(average=average)), expected)


def test_metrics_of_the_whole_against_fractions() -> None:
    for counts in some_matrices(200) + full_matrices(100):
        matrix, plain = ConfusionMatrix(counts), counts.tolist()
        share = twin.accuracy(plain)
        wrong = None if share is None else 1 - share
        close(quietly(matrix.accuracy), share)
        close(quietly(matrix.error_rate), wrong)
        close(quietly(matrix.hamming_loss), wrong)
        close(quietly(matrix.balanced_accuracy), twin.balanced_accuracy(plain))
        close(quietly(matrix.matthews), twin.matthews(plain))
        close(quietly(matrix.cohen_kappa), twin.cohen_kappa(plain))


def test_metrics_against_scikit_learn() -> None:
    peers = {
        "precision": sk.precision_score,
        "recall": sk.recall_score,
        "jaccard": sk.jaccard_score,
        "f_score": sk.f1_score,
    }
    for counts in full_matrices(12, seed=2):
        matrix, k = ConfusionMatrix(counts), len(counts)
        pairs = np.repeat(np.indices((k, k)).reshape(2, -1), counts.ravel(), axis=1)
        for name, average in itertools.product(peers, AVERAGES):
            if average != "binary" or k == 2:
                expected = peers[name](*pairs, average=average)
                np.testing.assert_allclose(getattr(matrix, name)(average=average), expected, rtol=1e-13)
        for average in (None, "micro", "macro", "weighted"):
            expected = sk.fbeta_score(*pairs, beta=2.5, average=average)
            np.testing.assert_allclose(matrix.f_score(2.5, average=average), expected, rtol=1e-13)
        if k == 2 and counts[0, 1]:
            ratios = matrix.positive_likelihood_ratio(), matrix.negative_likelihood_ratio()
            assert ratios == pytest.approx(sk.class_likelihood_ratios(*pairs), rel=1e-14)
        assert matrix.accuracy() == pytest.approx(sk.accuracy_score(*pairs), rel=1e-14)
        assert matrix.hamming_loss() == pytest.approx(sk.hamming_loss(*pairs), rel=1e-14)
        assert matrix.matthews() == pytest.approx(sk.matthews_corrcoef(*pairs), rel=1e-12)
        assert matrix.cohen_kappa() == pytest.approx(sk.cohen_kappa_score(*pairs), rel=1e-12)
        assert matrix.balanced_accuracy() == pytest.approx(sk.balanced_accuracy_score(*pairs), rel=1e-14)


@pytest.mark.parametrize("beta", [1e-150, 1e-9, 0.1, 0.5, 1.0, 2.0, 7.3, 1e9, 1e100])
def test_f_score_of_any_beta(beta: float) -> None:
    for counts in [*full_matrices(30, seed=3), np.array([[10**9, 5], [7, 10**9]])]:
        expected = twin.averaged(lambda tp, fp, fn, tn: twin.f_score(tp, fp, fn, beta), counts.tolist(), None)
        close(ConfusionMatrix(counts).f_score(beta, average=None), expected)


def test_beta_from_precision_to_recall() -> None:
    matrix = ConfusionMatrix([[5, 3], [2, 7]])
    assert matrix.f_score(1e-100) == pytest.approx(matrix.precision(), rel=1e-15)
    assert matrix.f_score(1e100) == pytest.approx(matrix.recall(), rel=1e-15)
    p, r = matrix.precision(), matrix.recall()
    assert matrix.f_score(2) == pytest.approx(5 * p * r / (4 * p + r))


@pytest.mark.parametrize("counts", [[[3, 2], [0, 0]], [[3, 0], [4, 0]], [[3, 2], [4, 0]], [[0, 1], [1, 0]]])
def test_f_is_zero_where_nothing_right_was_found(counts: Any) -> None:
    assert ConfusionMatrix(counts).f_score() == 0.0
    assert quietly(lambda: ConfusionMatrix(counts).f_score(macro="of-means")) == 0.0  # nothing is averaged, so equal


def test_f_of_nothing_is_undefined() -> None:
    with pytest.warns(UndefinedMetricWarning, match=r"f_score is undefined \(NaN\): zero denominator"):
        assert math.isnan(ConfusionMatrix([[3, 0], [0, 0]]).f_score())


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("precision", [[3, 0], [2, 0]]),
        ("recall", [[3, 1], [0, 0]]),
        ("specificity", [[0, 0], [2, 1]]),
        ("jaccard", [[3, 0], [0, 0]]),
        ("negative_predictive_value", [[0, 3], [0, 2]]),
        ("positive_likelihood_ratio", [[3, 0], [2, 0]]),
        ("negative_likelihood_ratio", [[0, 3], [0, 2]]),
        ("diagnostic_odds_ratio", [[3, 0], [2, 0]]),
        ("markedness", [[0, 3], [0, 2]]),
        ("fowlkes_mallows", [[3, 0], [2, 0]]),
        ("matthews", [[3, 0], [2, 0]]),
        ("matthews", [[0, 0], [2, 3]]),
        ("cohen_kappa", [[3, 0], [0, 0]]),
        ("accuracy", [[0, 0], [0, 0]]),
        ("error_rate", [[0, 0], [0, 0]]),
        ("hamming_loss", [[0, 0], [0, 0]]),
        ("balanced_accuracy", [[0, 0], [0, 0]]),
    ],
)
def test_undefined_is_nan_with_a_warning(name: str, counts: Any) -> None:
    with pytest.warns(UndefinedMetricWarning, match=rf"^{name} is undefined \(NaN\): zero denominator") as caught:
        assert math.isnan(getattr(ConfusionMatrix(counts), name)())
    assert [warning.filename for warning in caught] == [__file__]  # the user's line, not ours
    stack = ConfusionMatrix([counts, [[2, 1], [1, 2]]])
    with pytest.warns(UndefinedMetricWarning, match="1 of 2 values have a zero denominator"):
        values = getattr(stack, name)()
    assert np.isnan(values).tolist() == [True, False]


def test_likelihood_ratios_may_be_infinite() -> None:
    perfect, alarming = ConfusionMatrix([[5, 0], [2, 3]]), ConfusionMatrix([[0, 5], [1, 4]])
    assert (perfect.positive_likelihood_ratio(), perfect.diagnostic_odds_ratio()) == (math.inf, math.inf)
    assert (alarming.negative_likelihood_ratio(), alarming.diagnostic_odds_ratio()) == (math.inf, 0.0)
    assert ConfusionMatrix([[5, 0], [2, 3]]).negative_likelihood_ratio() == pytest.approx(0.4)


def test_cost_of_nothing_is_undefined() -> None:
    empty = ConfusionMatrix([[0, 0], [0, 0]])
    assert empty.cost([[0, 1], [1, 0]], normalize=False) == 0.0
    with pytest.warns(UndefinedMetricWarning, match="cost is undefined"):
        assert math.isnan(empty.cost([[0, 1], [1, 0]]))


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_a_class_without_value_makes_its_mean_undefined(average: str) -> None:
    matrix = ConfusionMatrix([[3, 0, 0], [2, 0, 1], [0, 0, 4]])  # class 1 is never predicted
    with pytest.warns(UndefinedMetricWarning, match="precision is undefined"):
        assert math.isnan(matrix.precision(average=average))


def test_an_absent_class_has_no_weight() -> None:
    matrix = ConfusionMatrix([[3, 1, 0], [2, 4, 0], [0, 0, 0]])
    assert matrix.precision(average="weighted") == pytest.approx((4 * 3 / 5 + 6 * 4 / 5) / 10)


def test_one_class() -> None:
    matrix = ConfusionMatrix([[5]])
    assert (matrix.accuracy(), matrix.recall(average="macro"), matrix.balanced_accuracy()) == (1.0, 1.0, 1.0)


# Two macro-F1s ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
def test_f_of_means_is_never_below_the_mean_of_f(beta: float) -> None:
    for counts in full_matrices(8 * EXAMPLES, seed=4):
        matrix = ConfusionMatrix(counts)
        mean = matrix.f_score(beta, average="macro")
        of_means = matrix.f_score(beta, average="macro", macro="of-means")
        p, r, b = matrix.precision(average="macro"), matrix.recall(average="macro"), beta * beta
        assert of_means == pytest.approx((1 + b) * p * r / (b * p + r), rel=1e-14)
        assert of_means >= mean * (1 - 1e-15)


def test_f_scores_of_a_stack_both_ways() -> None:
    rng = np.random.default_rng(5)
    members = [ConfusionMatrix(rng.integers(1, 9, (2, 2))) for _ in range(6)]
    stack = ConfusionMatrix(np.stack([member.counts for member in members]))
    for average in ("binary", "micro", "macro", "weighted"):
        f = [member.f_score(average=average) for member in members]
        p = np.mean([member.precision(average=average) for member in members])
        r = np.mean([member.recall(average=average) for member in members])
        assert stack.macro().f_score(average=average) == pytest.approx(np.mean(f), rel=1e-14)
        of_means = stack.macro().f_score(average=average, macro="of-means")
        assert of_means == pytest.approx(2 * p * r / (p + r), rel=1e-14)
    both = stack.macro().f_score(average=None, macro="of-means")
    p, r = (getattr(stack.macro(), name)(average=None) for name in ("precision", "recall"))
    np.testing.assert_allclose(both, 2 * p * r / (p + r), rtol=1e-14)


def test_the_chapter_formulas_by_hand() -> None:
    # Two runs of a learner: (tp, fp, fn, tn) = (40, 10, 20, 30) and (10, 30, 10, 50). By (2.12) to (2.17)
    # macro-P = (4/5 + 1/4) / 2 = 21/40, macro-R = (2/3 + 1/2) / 2 = 7/12, macro-F1 = 2 PR / (P + R) = 21/38;
    # micro: tp = 25, fp = 20, fn = 15 on average: P = 5/9, R = 5/8, F1 = 10/17.
    runs = ConfusionMatrix([[[30, 10], [20, 40]], [[50, 30], [10, 10]]])
    close(runs.macro().precision(), Fraction(21, 40))
    close(runs.macro().recall(), Fraction(7, 12))
    close(runs.macro().f_score(macro="of-means"), Fraction(21, 38))
    close(runs.macro().f_score(), (Fraction(8, 11) + Fraction(1, 3)) / 2)
    close(runs.pool().precision(), Fraction(5, 9))
    close(runs.pool().recall(), Fraction(5, 8))
    close(runs.pool().f_score(), Fraction(10, 17))


def test_the_course_example_at_one_half() -> None:
    case = json.loads((Path(__file__).parents[1] / "data" / "cases.json").read_text())["fawcett20"]
    matrix = count(case["y_true"], (np.array(case["y_score"]) >= 0.5).astype(int))
    assert matrix.counts.tolist() == [[6, 4], [4, 6]]
    assert matrix.accuracy() == case["expected"]["accuracy_at_0_5"] == 0.6
    assert (matrix.error_rate(), matrix.precision(), matrix.recall(), matrix.f_score()) == (0.4, 0.6, 0.6, 0.6)
    assert (matrix.matthews(), matrix.cohen_kappa()) == (0.2, 0.2)


# Stacks -------------------------------------------------------------------------------------------------------------

COSTS = [[-1.0, 2.5], [10.0, 0.0]]
WHOLE = ("accuracy", "error_rate", "hamming_loss", "matthews", "cohen_kappa", "balanced_accuracy")
CALLS: dict[str, Any] = {name: (lambda m, name=name: getattr(m, name)()) for name in WHOLE}
CALLS |= {
    f"{name} {average}": (lambda m, name=name, average=average: getattr(m, name)(average=average))
    for name in RATES
    for average in AVERAGES
}
CALLS |= {
    f"f_score of-means {average}": (lambda m, average=average: m.f_score(2.0, average=average, macro="of-means"))
    for average in AVERAGES
}
CALLS |= {
    "cost": lambda m: m.cost(COSTS),
    "cost sum": lambda m: m.cost(COSTS, normalize=False),
}


@pytest.mark.parametrize("dtype", [int, float])
@pytest.mark.parametrize("name", CALLS)
def test_a_metric_of_a_stack_is_the_stack_of_metrics(name: str, dtype: Any) -> None:
    counts = np.random.default_rng(6).integers(1, 50, (3, 4, 2, 2)).astype(dtype)
    seen = CALLS[name](ConfusionMatrix(counts))
    expected = np.array([[CALLS[name](ConfusionMatrix(one)) for one in row] for row in counts])
    assert seen.shape == (3, 4) + ((2,) if "None" in name else ())
    np.testing.assert_array_equal(seen, expected)


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -2, -3, (0, 1), (0, 2), (-1, 0), (2, 1, 0), [1], (), np.int64(1)])
def test_macro_is_the_mean_over_members(axis: Any) -> None:
    stack = ConfusionMatrix(np.random.default_rng(7).integers(1, 50, (2, 3, 4, 2, 2)))
    axes = range(3) if axis is None else [axis] if isinstance(axis, (int, np.integer)) else axis
    for name in (name for name in CALLS if "of-means" not in name):
        expected = CALLS[name](stack).mean(axis=tuple(int(one) % 3 for one in axes))
        np.testing.assert_allclose(CALLS[name](stack.macro(axis)), expected, rtol=1e-14, err_msg=name)


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -3, (0, 1), (-1, 0), ()])
def test_pool_is_the_sum(axis: Any) -> None:
    counts = np.random.default_rng(8).integers(0, 50, (2, 3, 4, 3, 3))
    axes = (0, 1, 2) if axis is None else tuple(a % 3 for a in (axis if isinstance(axis, tuple) else (axis,)))
    pooled = ConfusionMatrix(counts, ["a", "b", "c"]).pool(axis)
    assert np.array_equal(pooled.counts, counts.sum(axis=axes))
    assert pooled.labels.tolist() == ["a", "b", "c"]


def test_pool_and_macro_of_a_single_matrix() -> None:
    matrix = ConfusionMatrix([[3, 1], [2, 4]])
    assert matrix.pool().counts.tolist() == [[3, 1], [2, 4]]
    assert matrix.macro().f_score() == matrix.f_score()


def test_macro_leaves_the_stack_alone() -> None:
    stack = ConfusionMatrix(np.arange(8).reshape(2, 2, 2))
    stack.macro()
    assert np.shape(stack.accuracy()) == (2,)


def test_an_empty_stack() -> None:
    stack = ConfusionMatrix(np.zeros((0, 2, 2), dtype=int))
    assert stack.accuracy().shape == (0,)
    with pytest.warns(UndefinedMetricWarning):
        assert math.isnan(stack.pool().accuracy())
    with pytest.warns(UndefinedMetricWarning):
        assert math.isnan(stack.macro().accuracy())


# Costs --------------------------------------------------------------------------------------------------------------


def test_cost_against_fractions() -> None:
    rng = np.random.default_rng(9)
    for counts in full_matrices(100, seed=10):
        costs = rng.integers(-5, 20, counts.shape)
        exact = twin.cost(counts.tolist(), costs.tolist())
        close(ConfusionMatrix(counts).cost(costs, normalize=False), exact)
        close(ConfusionMatrix(counts).cost(costs), exact / int(counts.sum()))


def test_zero_one_costs_are_the_error_rate() -> None:
    for counts in full_matrices(20):
        matrix = ConfusionMatrix(counts)
        assert matrix.cost(1 - np.eye(len(counts))) == matrix.error_rate()


def test_cost_rows_are_true_classes() -> None:
    assert ConfusionMatrix([[0, 0], [1, 0]]).cost([[0, 1], [10, 0]]) == 10.0  # a false negative costs 10


# Exactness ----------------------------------------------------------------------------------------------------------

LARGE = (10**9, 3 * 10**9, 2**31, 2**32, 2**33 + 1, 10**15, 2**60)


@pytest.mark.parametrize("large", LARGE)
@pytest.mark.parametrize("shape", ["one", "all", "diagonal", "random", "near"])
def test_large_counts_do_not_overflow(large: int, shape: str) -> None:
    rng = np.random.default_rng(12)
    for k in (2, 3):
        counts = {
            "one": np.array([[large, 3, 1], [2, 5, 1], [1, 2, 9]])[:k, :k],
            "all": np.full((k, k), large) - np.arange(k * k).reshape(k, k),
            "diagonal": np.eye(k, dtype=np.int64) * large + 1,
            "random": rng.integers(0, large, (k, k)),
            "near": np.full((k, k), large) + np.eye(k, dtype=np.int64),
        }[shape]
        if sum(counts.ravel().tolist()) > 2**63 - 1:
            continue
        matrix, plain = ConfusionMatrix(counts), counts.tolist()
        close(matrix.matthews(), twin.matthews(plain))
        close(matrix.cohen_kappa(), twin.cohen_kappa(plain))
        close(matrix.accuracy(), twin.accuracy(plain))
        close(matrix.f_score(average=None), twin.averaged(twin.RATES["f_score"], plain, None))
        stack = ConfusionMatrix(np.stack((counts, np.eye(k, dtype=np.int64) + 1)))
        assert stack.matthews()[0] == matrix.matthews()
        assert stack.cohen_kappa()[0] == matrix.cohen_kappa()


def test_totals_past_64_bits_are_right_or_an_error() -> None:
    for counts in (np.full((2, 2), 2**62), np.array([[2**62, 0], [0, 2**62]])):
        try:
            matrix = ConfusionMatrix(counts)
            seen = [matrix.accuracy(), matrix.pool().accuracy(), matrix.recall()]
        except ValueError:
            continue
        plain = counts.tolist()
        expected = [twin.accuracy(plain)] * 2 + [twin.averaged(twin.RATES["recall"], plain, "binary")]
        assert seen == pytest.approx([float(value) for value in expected])


@pytest.mark.parametrize("scale", [1, 7, 10**9, 3 * 10**9, 0.1, 1e-9, 1e9])
@pytest.mark.parametrize("k", [2, 3, 4, 7])
def test_perfect_and_inverse(k: int, scale: float) -> None:
    perfect = ConfusionMatrix(np.diag(np.arange(1, k + 1)) * scale)
    assert perfect.matthews() == 1.0
    assert perfect.cohen_kappa() == 1.0
    assert perfect.accuracy() == perfect.balanced_accuracy() == perfect.f_score(average="macro") == 1.0
    assert perfect.error_rate() == 0.0
    if k == 2:
        inverse = ConfusionMatrix([[0, 3 * scale], [5 * scale, 0]])
        if isinstance(scale, int):
            assert inverse.matthews() == -1.0
        assert -1.0 <= inverse.matthews() <= -1.0 + 1e-15
        assert ConfusionMatrix([[0, 3 * scale], [3 * scale, 0]]).cohen_kappa() == -1.0


def test_perfect_with_float_weights() -> None:
    rng = np.random.default_rng(13)
    for _ in range(10 * EXAMPLES):
        matrix = ConfusionMatrix(np.diag(rng.random(int(rng.integers(2, 9)))))
        assert matrix.accuracy() == 1.0
        assert matrix.error_rate() == 0.0
        assert matrix.matthews() == 1.0
        assert matrix.cohen_kappa() == 1.0
        for name in RATES:
            assert getattr(matrix, name)(average="macro") == 1.0
            assert getattr(matrix, name)(average="micro") == 1.0
            assert getattr(matrix, name)(average="weighted") == pytest.approx(1.0, rel=1e-15)


def test_rates_with_float_weights_stay_within_bounds() -> None:
    rng = np.random.default_rng(14)
    for _ in range(8 * EXAMPLES):
        k = int(rng.integers(2, 6))
        matrix = ConfusionMatrix(rng.random((k, k)) * (rng.random((k, k)) < 0.6) + np.eye(k) * 0.1)
        for name, average in itertools.product(RATES, (None, "micro", "macro", "weighted")):
            values = np.atleast_1d(getattr(matrix, name)(average=average))
            assert (values >= 0).all(), (name, average, matrix.counts)
            assert (values <= 1).all(), (name, average, matrix.counts)
        assert 0 <= matrix.accuracy() <= 1
        assert 0 <= matrix.error_rate() <= 1
        assert -1 <= matrix.matthews() <= 1
        assert -1 <= matrix.cohen_kappa() <= 1


def test_no_true_negative_is_specificity_zero() -> None:
    assert ConfusionMatrix([[0, 0.1], [0.2, 0.3]]).specificity() == 0.0
    for a, b in ((0.1, 0.7), (0.3, 0.6), (0.1, 0.2), (0.7, 0.1)):
        with pytest.warns(UndefinedMetricWarning, match="specificity"):
            assert math.isnan(ConfusionMatrix([[0, 0], [a, b]]).specificity())


@pytest.mark.parametrize("power", [-1000, -600, -500, -300, 300, 500, 600, 1000])
@pytest.mark.parametrize("name", [*WHOLE, *RATES])
def test_the_scale_of_weights_does_not_matter(name: str, power: int) -> None:
    counts = np.array([[3.0, 1.0], [2.0, 5.0]])
    expected = getattr(ConfusionMatrix(counts), name)()
    assert getattr(ConfusionMatrix(np.ldexp(counts, power)), name)() == pytest.approx(expected, rel=1e-15)


def test_integers_and_the_same_floats_agree() -> None:
    for counts in full_matrices(50, seed=15):
        for name in WHOLE:
            assert getattr(ConfusionMatrix(counts), name)() == getattr(ConfusionMatrix(counts.astype(float)), name)()


def test_renaming_classes_permutes() -> None:
    rng = np.random.default_rng(16)
    for counts in full_matrices(30, seed=17):
        order = rng.permutation(len(counts))
        matrix, renamed = ConfusionMatrix(counts), ConfusionMatrix(counts[np.ix_(order, order)])
        for name in WHOLE:
            assert getattr(renamed, name)() == pytest.approx(getattr(matrix, name)(), rel=1e-14)
        for name in RATES:
            assert np.array_equal(getattr(renamed, name)(average=None), getattr(matrix, name)(average=None)[order])


def test_transposing_swaps_precision_and_recall() -> None:
    for counts in full_matrices(30, seed=18):
        matrix, swapped = ConfusionMatrix(counts), ConfusionMatrix(counts.T)
        assert np.array_equal(matrix.precision(average=None), swapped.recall(average=None))
        assert matrix.matthews() == swapped.matthews()
        assert matrix.cohen_kappa() == swapped.cohen_kappa()


def test_mean_cost_of_huge_costs_does_not_overflow():
    matrix = ConfusionMatrix([[90, 5], [1, 4]])
    assert matrix.cost([[0, 1e308], [1e308, 0]]) == pytest.approx(6e306, rel=1e-15)
    assert matrix.cost([[0, 1e308], [1e308, 0]], normalize=False) == math.inf
    assert matrix.cost([[0, 5e-324], [1e-320, 0]], normalize=False) == 5 * 5e-324 + 1e-320
    assert matrix.cost([[0, 0], [0, 0]]) == 0.0


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="long doubles are doubles here")
def test_costs_past_the_largest_float():
    with pytest.raises(ValueError, match="cost_matrix must be finite"):
        ConfusionMatrix([[90, 5], [1, 4]]).cost(np.array([[0, np.longdouble("1e4000")], [1, 0]]))


# Weighted kappa -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_is_that_of_scikit_learn_and_of_two_classes(weights):
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(0, 5, (2, 300))
    matrix = ConfusionMatrix.from_predictions(true, predicted, labels=range(5))
    expected = sk.cohen_kappa_score(true, predicted, weights=weights)
    assert matrix.cohen_kappa(weights=weights) == pytest.approx(expected, rel=1e-12)
    scaled = ConfusionMatrix(matrix.counts * 1e-300)
    assert scaled.cohen_kappa(weights=weights) == pytest.approx(expected, rel=1e-12)
    stack = ConfusionMatrix(np.stack([matrix.counts, matrix.counts.T]))
    np.testing.assert_allclose(stack.cohen_kappa(weights=weights), expected, rtol=1e-12)
    two = ConfusionMatrix([[4, 1], [2, 3]])
    assert two.cohen_kappa(weights=weights) == pytest.approx(two.cohen_kappa(), rel=1e-15)
    found = fastevals.bootstrap(matrix, fastevals.metric("cohen_kappa", weights=weights), n_resamples=99, rng=0)
    (estimate,) = found.values()
    assert estimate.value == pytest.approx(expected, rel=1e-12)
    with pytest.warns(fastevals.UndefinedMetricWarning):
        assert math.isnan(ConfusionMatrix([[3, 0], [0, 0]]).cohen_kappa(weights=weights))
