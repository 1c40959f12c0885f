"""Text of every storage as numbers and names: against NumPy's distinct values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fastevals import ConfusionMatrix, Ranking, bias_variance, grouped_auc, metrics
from fastevals._execution import BLOCK
from fastevals._validation.labels import as_labels
from fastevals._validation.text import TextLabels, share_names, unique_inverse

NAMES = ["b", "", "long name", "a", "ä"]
UNUSED = ["zz", *NAMES, "0"]


def as_chunks(text: list[str], *, dictionary: bool) -> Any:
    parts = [pa.array(part, pa.string()) for part in (text[: len(text) // 3], text[len(text) // 3 :])]
    return pa.chunked_array([part.dictionary_encode() if dictionary else part for part in parts])


KINDS: dict[str, Callable[[list[str]], Any]] = {
    "list": list,
    "fixed width": np.array,
    "another byte order": lambda text: np.array(text).astype(">U12")[::-1][::-1],
    "bytes": lambda text: np.array([each.encode("latin-1") for each in text]),
    "strings": lambda text: np.array(text, dtype=np.dtypes.StringDType()),
    "objects": lambda text: np.array(text, dtype=object),
    "objects of their own": lambda text: np.array([f"{each} "[:-1] for each in text], dtype=object),
    "every other object": lambda text: np.repeat(np.array(text, dtype=object), 2)[::2],
    "pandas": lambda text: pd.Series(text, dtype="str"),
    "pandas, objects": lambda text: pd.Series(text, dtype=object, index=range(7, 7 + len(text))),
    "pandas, Arrow": lambda text: pd.Series(text, dtype=pd.ArrowDtype(pa.string())),
    "categories": lambda text: pd.Series(pd.Categorical(text, categories=UNUSED)),
    "a categorical index": lambda text: pd.CategoricalIndex(text),
    "Arrow": lambda text: pa.array(text, pa.large_string()),
    "Arrow chunks": lambda text: as_chunks(text, dictionary=False),
    "Arrow dictionary": lambda text: pa.array(text).dictionary_encode(),
    "chunks of other dictionaries": lambda text: as_chunks(text, dictionary=True),
    "polars": pl.Series,
    "polars categories": lambda text: pl.Series(["more", *text], dtype=pl.Categorical)[1:],
    "polars enum": lambda text: pl.Series(text, dtype=pl.Enum(UNUSED)),
}


@pytest.mark.parametrize("n", [1, 2, 9, 2 * BLOCK + 5])
@pytest.mark.parametrize("kind", KINDS)
def test_any_storage_is_read_as_the_same_labels(kind: str, n: int) -> None:
    codes = np.random.default_rng(n).integers(0, len(NAMES), n)
    text = [NAMES[code] for code in codes.tolist()]
    labels = as_labels("y", KINDS[kind](text))
    assert isinstance(labels, TextLabels)
    names, places = unique_inverse(labels)
    expected, expected_places = np.unique(np.array(text), return_inverse=True)
    assert names.tolist() == expected.tolist()
    assert np.array_equal(places, expected_places)
    assert (labels.names[1:] > labels.names[:-1]).all()
    assert np.asarray(labels[: n // 2 + 1]).tolist() == text[: n // 2 + 1]
    assert labels[n - 1] == text[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_measured_of_it_is_what_is_of_numbers(kind: str) -> None:
    rng = np.random.default_rng(3)
    true, predicted, groups = rng.integers(0, len(NAMES), (3, 300))
    score, order = rng.random(300).round(1), np.argsort(NAMES)
    y, p, g = (KINDS[kind]([NAMES[code] for code in order[codes].tolist()]) for codes in (true, predicted, groups))
    matrix = ConfusionMatrix.from_predictions(true, predicted)
    assert np.array_equal(ConfusionMatrix.from_predictions(y, p).counts, matrix.counts)
    assert ConfusionMatrix.from_predictions(y, p).labels.tolist() == sorted(NAMES)
    assert np.array_equal(
        ConfusionMatrix.from_groups(y, p, g)[1].counts, ConfusionMatrix.from_groups(true, predicted, groups)[1].counts
    )
    found = grouped_auc(true % 2, score, g)
    assert found.groups.tolist() == sorted(NAMES)
    assert np.array_equal(found.values, grouped_auc(true % 2, score, groups).values)
    two = KINDS[kind](["b" if code % 2 else "a" for code in true.tolist()])
    assert Ranking(two, score, pos_label="b").roc_auc() == Ranking(true % 2, score).roc_auc()
    assert (
        bias_variance(y, [p, y], loss="zero_one").bias == bias_variance(true, [predicted, true], loss="zero_one").bias
    )
    if kind != "bytes":  # which scikit-learn refuses
        assert metrics.accuracy_score(y, p) == metrics.accuracy_score(true, predicted)
        assert np.array_equal(metrics.confusion_matrix(y, p), matrix.counts)


@pytest.mark.parametrize("n", [4, BLOCK + 4])
@pytest.mark.parametrize(
    "make",
    [
        lambda text: np.array(text, dtype=object),
        lambda text: pd.Series(text, dtype="str"),
        lambda text: pd.Series(text, dtype="category"),
        lambda text: pa.array(text).dictionary_encode(),
        lambda text: pl.Series(text, dtype=pl.Categorical),
    ],
)
def test_missing_text_is_counted(make: Callable[[list[str | None]], Any], n: int) -> None:
    text: list[str | None] = ["a", "b"] * (n // 2)
    text[3] = None
    with pytest.raises(ValueError, match="y has 1 missing value, the first at row 3"):
        as_labels("y", make(text))


@pytest.mark.parametrize("make", [lambda text: np.array(text, dtype=object), pd.Categorical, pa.array, pl.Series])
def test_text_that_numpy_would_cut_is_an_error(make: Callable[[list[str]], Any]) -> None:
    with pytest.raises(ValueError, match=r"y must hold text that does not end with a NUL, .*: got 'a\\x00'"):
        as_labels("y", make(["a", "a\0", "b"]))


def test_categories_that_are_numbers_are_numbers() -> None:
    labels = as_labels("y", pd.Categorical([3, 1, 3]))
    assert labels.dtype == np.int64
    assert labels.tolist() == [3, 1, 3]


def test_objects_that_are_equal_are_one_label() -> None:
    many = [f"id {i}" for i in range(3000)]  # more than a first table holds
    rows = np.random.default_rng(0).integers(0, 3000, BLOCK + 9)
    labels = as_labels(
        "y", np.array(many + [f"{each}" for each in many] + [b"id 7", np.str_("id 8")], dtype=object)[rows]
    )
    assert np.asarray(labels).tolist() == [many[row] for row in rows.tolist()]
    both = as_labels("y", np.array(["id 7", b"id 7", np.str_("id 7")], dtype=object))
    assert unique_inverse(both)[0].tolist() == ["id 7"]


def test_comparisons() -> None:
    first, second = as_labels("y", ["a", "b", "c"]), as_labels("y", ["a", "c", "c"])
    assert (first == second).tolist() == [True, False, True]
    assert (first != second).tolist() == [False, True, False]
    assert (first == "b").tolist() == [False, True, False]
    assert (first == "bb").tolist() == [False] * 3
    assert (first == np.array(["a", "x", "c"])).tolist() == [True, False, True]
    assert list(first) == first.copy().tolist() == ["a", "b", "c"]
    names, codes = share_names([first, second])
    assert names.tolist() == ["a", "b", "c"]
    assert [each.tolist() for each in codes] == [[0, 1, 2], [0, 2, 2]]


def test_missing_text_is_said_to_be_in_the_target_that_lacks_it() -> None:
    text = np.array(["a", None, "b"], dtype=object)
    with pytest.raises(ValueError, match=r"^y_pred has 1 missing value, the first at row 1"):
        metrics.accuracy_score(["a", "b", "b"], text)
