"""Rows by group: keys, sorted scores and confusion matrices, against dictionaries."""

from __future__ import annotations

import datetime
import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastevals
from fastevals import ConfusionMatrix, grouped_auc
from fastevals._validation.labels import check_group_cells
from fastevals.counting import groups as counted_groups
from fastevals.counting.groups import _check_group_rows, code_groups
from fastevals.counting.keys import as_group_keys
from fastevals.many import group_scores as by_group
from tests.reference import ranking as reference
from tests.reference.groups import matrices_by_group, rows_by_group, values_by_group
from tests.strategies import BOUNDED
from tests.test_validation import ODD_ARRAYS, complaint

KEYS: dict[str, Any] = {
    "near": np.array([3, -2, 0, 1]),
    "wide": np.array([70_000_000, -(10**6), 0, 1]),
    "huge": np.array([2**63 - 1, -(2**63), 0, 1]),
    "uint64": np.array([2**64 - 1, 2**64 - 2, 2**63, 2**64 - 3], dtype=np.uint64),
    "uint64 wide": np.array([2**64 - 1, 0, 2**63, 1], dtype=np.uint64),
    "bytes": np.array([255, 0, 200, 1], dtype=np.uint8),
    "int8": np.array([-128, 127, 0, 1], dtype=np.int8),
    "big-endian": np.array([7, -3, 10**9, 2], dtype=">i8"),
    "booleans": np.array([True, False, False, True]),
    "floats": np.array([0.5, -1.5, 1e300, 5e-324]),
    "float32": np.array([0.5, -1.5, np.inf, 0.1], dtype=np.float32),
    "longer floats": np.array([1, 1 + 2**-60, 2, 3], dtype=np.longdouble),
    "strings": np.array(["b", "", "abc", "ab"]),
    "objects": np.array(["b", "", "äöü", "ab"], dtype=object),
    "days": np.array(["2020-02-01", "1969-12-31", "2020-01-01", "2024-01-01"], dtype="M8[D]"),
    "times": np.array(["2020-02-01", "1969-12-31", "2020-01-01", "2024-01-01"], dtype="M8[ns]"),
    "spans": np.array([3, 1, 2, 5], dtype="m8[h]"),
    "dates": np.array([datetime.date(2020, 1, day) for day in (3, 1, 9, 2)], dtype=object),
    "moments": np.array([datetime.datetime(2020, 1, 1, hour) for hour in (3, 1, 9, 2)], dtype=object),
}
numbers = st.lists(st.integers(0, 3), min_size=1, max_size=16)


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_any_type(kind: str) -> None:
    rows = np.array([2, 0, 1, 1, 3, 0, 2, 2, 1, 3, 0, 1])
    given, y_true, y_score = KEYS[kind][rows], rows % 2 ^ np.arange(12) % 2, np.arange(12) % 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        found = grouped_auc(y_true, y_score, given)
    numbered = np.unique(given.astype("U") if given.dtype == object else given, return_inverse=True)[1]
    expected = values_by_group(reference.roc_auc, numbered.tolist(), y_true.tolist(), y_score.tolist())
    np.testing.assert_array_equal(found.values, list(expected.values()))
    assert found.groups.tolist() == sorted(set(given.tolist()))
    if given.dtype != object:
        assert found.groups.dtype == given.dtype.newbyteorder("=")
    for key, value in found:
        np.testing.assert_equal(found[key], value)
    keys, matrix = ConfusionMatrix.from_groups(y_true, y_score > 2, given)
    np.testing.assert_array_equal(keys, found.groups)
    assert matrix.counts.tolist() == matrices_by_group(y_true, y_score > 2, numbered.tolist())[1]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g"])
def test_minus_zero_is_zero(dtype: str) -> None:
    (group,) = grouped_auc([0, 1, 0], [1, 2, 1], np.array([-0.0, 0.0, -0.0], dtype)).groups
    assert not np.signbit(group)


@pytest.mark.parametrize("other", [np.int64, np.uint64])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_look_ups_of_large_integers_are_exact(dtype: Any, other: Any) -> None:
    found = grouped_auc([0, 0, 1, 1], [0, 1, 1, 0], np.array([2**60, 2**60 + 1] * 2, dtype))
    assert (found[2**60], found[2**60 + 1]) == (found[other(2**60)], found[other(2**60 + 1)]) == (1.0, 0.0)
    assert found[2.0**60] == 1.0
    for absent in (2**60 + 2, other(2**60 - 1), 2.0**60 + 256, -1, 2**64, math.inf, math.nan):
        with pytest.raises(KeyError, match="no group has the key"):
            found[absent]


def test_look_ups_of_dates_are_exact() -> None:
    found = grouped_auc([0, 0, 1, 1], [0, 1, 1, 0], np.array(["2020-01-01", "2020-01-02"] * 2, "M8[D]"))
    for key in ("2020-01-02", datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2), pd.Timestamp(2020, 1, 2),
                np.datetime64("2020-01-02T00", "ns")):  # fmt: skip
        assert found[key] == 0.0
    noon, tick = datetime.datetime(2020, 1, 2, 12), pd.Timestamp("2020-01-02 00:00:00.000000001")
    zoned = datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC)
    for absent in ("2020-01-02T12", noon, tick, zoned, 18263, 1.5, None, "January", np.timedelta64(18263, "D")):
        with pytest.raises(KeyError, match="no group has the key"):
            found[absent]
    spans = grouped_auc([0, 0, 1, 1], [0, 1, 1, 0], np.array([1, 2] * 2, "m8[h]"))
    assert spans[datetime.timedelta(hours=2)] == spans[np.timedelta64(120, "m")] == spans[pd.Timedelta(hours=2)] == 0.0
    for absent in (2, np.timedelta64(121, "m"), "2", datetime.date(2020, 1, 2)):
        with pytest.raises(KeyError, match="no group has the key"):
            spans[absent]


@pytest.mark.parametrize(
    "make", [list, pd.Series, pl.Series, pa.array, lambda values: pd.array(values, dtype="string")]
)
def test_columns_of_other_packages(make: Any) -> None:
    found = grouped_auc([0, 1, 1, 0], [1, 2, 1, 3], make(["b", "a", "b", "a"]))
    assert dict(found) == {"a": 0.0, "b": 0.5}


def test_dates_of_other_packages() -> None:
    days = np.array(["2020-01-02", "2020-01-01", "2020-01-02", "2020-01-01"], "M8[D]")
    for given_days in (pd.Series(days), pl.Series(days), pa.array(days), pd.DatetimeIndex(days)):
        found = grouped_auc([0, 1, 1, 0], [1, 2, 1, 3], given_days)
        assert found.values.tolist() == [0.0, 0.5]
        assert found[np.datetime64("2020-01-02")] == 0.5
        assert found.to_dict()["groups"][0].startswith("2020-01-01")


@BOUNDED
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40), st.sampled_from([1, 10**12]), st.booleans())
def test_codes_are_in_the_order_of_keys(keys: list[int], spread: int, text: bool) -> None:
    given_keys = np.array(keys) * spread
    given_keys = given_keys.astype("U") if text else given_keys
    codes = code_groups(as_group_keys("groups", given_keys))
    numbered = codes.block(slice(None))
    np.testing.assert_array_equal(codes.keys(numbered), given_keys)
    assert (np.argsort(numbered, kind="stable") == np.argsort(given_keys, kind="stable")).all()


@pytest.mark.parametrize("spread", [1, 10**9])
def test_more_keys_than_a_first_table_holds(spread: int) -> None:
    rng = np.random.default_rng(1)
    keys = rng.permutation(np.repeat(np.arange(70_000), 2)) * spread
    y_true, y_score = rng.integers(0, 2, keys.size), rng.integers(0, 3, keys.size)
    with pytest.warns(fastevals.UndefinedMetricWarning, match="roc_auc is undefined .* of 70000 groups"):
        found = grouped_auc(y_true, y_score, keys)
    frame = pl.DataFrame({"g": keys, "y": y_true, "s": y_score}).sort("g", "y", maintain_order=True)
    pairs = frame.group_by("g", maintain_order=True).agg(
        pl.col("y").n_unique().alias("classes"),
        (((pl.col("s").last() - pl.col("s").first()).sign() + 1) / 2).alias("auc"),
    )
    expected = np.where(pairs["classes"].to_numpy() == 2, pairs["auc"].to_numpy(), math.nan)
    np.testing.assert_array_equal(found.groups, pairs["g"].to_numpy())
    np.testing.assert_array_equal(found.values, expected)
    assert found.n_undefined == np.count_nonzero(np.isnan(expected))


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_sorted_within_groups_and_classes(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_group, "RUN", 4)
    monkeypatch.setattr(counted_groups, "ROWS_PER_TASK", 8)
    rng = np.random.default_rng(2)
    n = 300
    groups = np.where(rng.random(n) < 0.5, 17, rng.integers(0, 60, n))
    y_true, y_score, weights = rng.integers(0, 2, n), rng.integers(0, 6, n) / 4, rng.integers(0, 3, n).astype(float)
    if not weighted:
        weights[:] = 1
    found = by_group.grouped_scores(
        fastevals.counting.ordering.BinaryLabels(y_true, 1, 0), y_score, groups, weights if weighted else None
    )
    scores = found.codec.decode(found.keys)
    expected = rows_by_group(groups.tolist(), y_true.tolist(), y_score.tolist(), weights.tolist())
    assert found.groups.tolist() == list(expected)
    for g, rows in enumerate(expected.values()):
        for positive in (0, 1):
            here = slice(found.starts[2 * g + positive], found.starts[2 * g + positive + 1])
            mine = sorted((score, w) for y, score, w in rows if y == positive and w)
            theirs = found.weights[here].tolist() if found.weights is not None else [1.0] * len(mine)
            assert scores[here].tolist() == [score for score, _ in mine]
            assert sorted(zip(scores[here].tolist(), theirs, strict=True)) == mine


def test_spans_cover_all_groups() -> None:
    for sizes in ([1], [0, 0, 0], [5, 0, 1, 100, 3], [1] * 50):
        parts = counted_groups.spans(np.concatenate(([0], np.cumsum(sizes))), 7)
        assert [g for first, last in parts for g in range(first, last)] == list(range(len(sizes)))


# Confusion matrices -------------------------------------------------------------------------------------------------

LABELS: dict[str, Any] = {
    "near": np.array([-2, 0, 1, 3]),
    "wide": np.array([-(10**6), 0, 1, 70_000]),
    "booleans": np.array([False, True, True, False]),
    "strings": np.array(["a", "b", "bb", "c"]),
    "floats": np.array([0.0, 1.0, 2.0, 5.0]),
}


@pytest.mark.parametrize("kind", LABELS)
@BOUNDED
@given(rows=st.lists(st.tuples(*[st.integers(0, 3)] * 3, st.integers(0, 2)), min_size=1, max_size=12))
def test_matrices_are_those_of_a_dictionary(kind: str, rows: Any) -> None:
    true, predicted, groups, weights = np.array(rows).T
    true, predicted = LABELS[kind][true], LABELS[kind][predicted]
    for given_weights in (None, weights if weights.any() else None):
        keys, matrix = ConfusionMatrix.from_groups(true, predicted, groups, sample_weight=given_weights)
        labels, expected = matrices_by_group(true.tolist(), predicted.tolist(), groups.tolist(), given_weights)
        assert keys.tolist() == sorted(set(groups.tolist()))
        assert matrix.labels.tolist() == labels
        assert matrix.counts.tolist() == expected


def test_matrices_add_up_and_are_those_of_each_fold() -> None:
    rng = np.random.default_rng(3)
    n = 200_000
    y_true, y_pred, folds = rng.integers(0, 5, n), rng.integers(0, 5, n), rng.integers(0, 40, n)
    keys, matrix = ConfusionMatrix.from_groups(y_true, y_pred, folds)
    assert (matrix.pool().counts == ConfusionMatrix.from_predictions(y_true, y_pred).counts).all()
    for fold in (0, 17, 39):
        here = folds == fold
        assert (matrix.counts[fold] == ConfusionMatrix.from_predictions(y_true[here], y_pred[here]).counts).all()
    with fastevals.num_threads(1):
        again = ConfusionMatrix.from_groups(y_true, y_pred, folds, sample_weight=np.full(n, 0.1))[1]
    with fastevals.num_threads(3):
        assert (ConfusionMatrix.from_groups(y_true, y_pred, folds, sample_weight=np.full(n, 0.1))[1].counts
                == again.counts).all()  # fmt: skip
    assert keys.tolist() == list(range(40))


@pytest.mark.parametrize("spoiler", ["group", "label", "far group", "far label"])
def test_what_a_sample_misses(spoiler: str) -> None:
    rng = np.random.default_rng(4)
    n = 50_000
    y_true, y_pred, folds = rng.integers(0, 3, n), rng.integers(0, 3, n), rng.integers(0, 7, n)
    (folds if "group" in spoiler else y_true)[12_345] = 10**7 if "far" in spoiler else 40
    keys, matrix = ConfusionMatrix.from_groups(y_true, y_pred, folds)
    assert keys.tolist() == np.unique(folds).tolist()
    assert matrix.labels.tolist() == np.unique(np.concatenate((y_true, y_pred))).tolist()
    assert matrix.counts.sum() == n
    assert (matrix.counts.sum(axis=(1, 2)) == np.unique(folds, return_counts=True)[1]).all()


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", ">u8", "?", "i1"])
def test_small_unsigned_keys_of_many_rows(dtype: str) -> None:
    keys = np.arange(6000) % 3 % 2  # enough rows that a sample sets a range, which is widened
    weights = (keys == 1).astype(float)
    found, matrix = ConfusionMatrix.from_groups(keys, keys, keys.astype(dtype))
    assert (found.tolist(), found.dtype) == ([0, 1], np.dtype(dtype).newbyteorder("="))
    assert matrix.counts.tolist() == [[[4000, 0], [0, 0]], [[0, 0], [0, 2000]]]
    found, matrix = ConfusionMatrix.from_groups(keys, keys, keys.astype(dtype), sample_weight=weights)
    assert found.tolist() == [0, 1]
    assert matrix.counts.tolist() == [[[0]], [[2000]]]


def test_keys_past_signed_integers_after_others() -> None:
    for keys in ([1, 2, 2], [2**64 - 2, 2**64 - 1, 2**64 - 1], [2**63 - 1, 2**63, 2**63], [-2, -1, -1]):
        found, matrix = ConfusionMatrix.from_groups([0, 1, 0], [0, 1, 1], np.array(keys, "u8" if keys[0] > 2 else "i8"))
        assert found.tolist() == keys[:2]
        assert matrix.counts.tolist() == [[[1, 0], [0, 0]], [[0, 1], [0, 1]]]


def test_given_labels_of_matrices() -> None:
    keys, matrix = ConfusionMatrix.from_groups([0, 1, 1], [0, 1, 0], [5, 5, 2], labels=[1, 7, 0])
    assert matrix.labels.tolist() == [1, 7, 0]
    assert matrix.counts.tolist() == [[[0, 0, 1], [0, 0, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0], [0, 0, 1]]]
    assert keys.tolist() == [2, 5]
    with pytest.raises(ValueError, match="labels must hold every label that occurs; missing: 0"):
        ConfusionMatrix.from_groups([0, 1, 1], [0, 1, 0], [5, 5, 2], labels=[1, 7])


# Input --------------------------------------------------------------------------------------------------------------


def test_bad_keys() -> None:
    y_true, y_score = [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]
    for keys, message in (
        ([1, 2, 3], "groups has 3 rows, but y_true has 4"),
        ([1, 2, math.nan, 3], "groups must not be NaN, got 1 NaN values, the first at row 2"),
        (np.array(["2020", "NaT", "2021", "NaT"], "M8[D]"), "groups has 2 NaT values, the first at row 1"),
        (["a", None, "b", "c"], "groups has 1 missing value, the first at row 1"),
        ([1, "a", 2, 3], "groups must have a dtype of numbers"),
        ([[1, 2], [3, 4]], "groups has 2 rows, but y_true has 4"),
        (np.zeros((4, 2, 2)), "groups must be 1-D"),
        ([[1, 2, 3, 4], [1, 2, 3]], r"groups\[1\] has 3 rows, but groups\[0\] has 4"),
        ({}, "groups must have a column or more, got none"),
        (
            [datetime.date(2020, 1, 1), 3, 4, 5],
            "groups must hold dates or times of one type, all with a time zone or all without; got 3",
        ),
        (
            [datetime.datetime(2020, 1, day, tzinfo=datetime.UTC if day < 4 else None) for day in (1, 2, 3, 4)],
            "groups must hold dates or times of one type, all with a time zone or all without; got datetime.* at row 3",
        ),
    ):
        for call in (grouped_auc, lambda y, s, g: ConfusionMatrix.from_groups(y, y, g)):
            with pytest.raises(ValueError, match=message):
                call(y_true, y_score, keys)


def test_too_many_rows() -> None:
    _check_group_rows("groups", 2**31 - 1)
    for call in (code_groups, lambda keys: ConfusionMatrix.from_groups(keys, keys, keys)):
        with pytest.raises(ValueError, match=r"groups must have at most 2\*\*31 - 1 rows to .*, got 2147483648$"):
            call(np.broadcast_to(np.int8(0), 2**31))


def test_too_many_cells() -> None:
    check_group_cells("groups", 2**29, 2)
    with pytest.raises(ValueError, match=r"groups: 536870913 matrices of 2 labels would have more than 2\*\*31 cells"):
        check_group_cells("groups", 2**29 + 1, 2)
    with pytest.raises(ValueError, match="labels: 2000 matrices of 2000 labels would have more than"):
        ConfusionMatrix.from_groups(np.arange(2000) % 2, np.zeros(2000), np.arange(2000), labels=np.arange(2000))


@pytest.mark.parametrize("argument", ["y_true", "y_score", "groups", "sample_weight"])
def test_odd_arrays_work_or_raise_one_clear_line(argument: str) -> None:
    usual: dict[str, Any] = {"y_true": [0, 1, 0, 1], "y_score": [1, 2, 3, 4], "groups": [0, 0, 1, 1]}

    def auc(value: Any) -> Any:
        return grouped_auc(**{**usual, argument: value})

    def counted(value: Any) -> Any:
        given_arrays = {**usual, argument: value}
        return ConfusionMatrix.from_groups(given_arrays.pop("y_true"), given_arrays.pop("y_score"), **given_arrays)

    found = {name: complaint(call, value) for call in (auc, counted) for name, value in ODD_ARRAYS.items()}
    assert {name: text for name, text in found.items() if text} == {}
