"""Rows counted by their labels in several arrays, against a dictionary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import ConfusionMatrix, batch_metrics
from fastevals._validation.labels import as_labels
from fastevals.counting import labels as label_tuples
from fastevals.counting.labels import ALONE, count_equal, count_label_tuples, label_range
from tests.strategies import BOUNDED

LABELS: dict[str, Any] = {
    "near": np.array([-2, 0, 1, 3]),
    "wide": np.array([-(10**6), 0, 1, 70_000]),
    "some apart": np.array([5, 6, 3000, 20_000]),
    "huge": np.array([-(2**62), 0, 1, 2**62]),
    "bytes": np.array([0, 1, 200, 255], dtype=np.uint8),
    "booleans": np.array([False, True, True, False]),
    "strings": np.array(["a", "b", "bb", "c"]),
}
codes = st.integers(2, 5).flatmap(
    lambda m: st.lists(st.tuples(*[st.integers(0, 3)] * m), min_size=1, max_size=12).map(lambda rows: np.array(rows).T)
)


def check(arrays: list[Any]) -> None:
    read = [as_labels("the arrays", array) for array in arrays]
    labels, numbers, rows = count_label_tuples("the arrays", read)
    expected = Counter(zip(*(array.tolist() for array in arrays), strict=True))
    assert labels.tolist() == sorted({label for cell in expected for label in cell})
    assert [tuple(cell) for cell in labels[numbers.T].tolist()] == sorted(expected)
    assert rows.tolist() == [expected[cell] for cell in sorted(expected)]


@pytest.mark.parametrize("kind", LABELS)
@BOUNDED
@given(numbers=codes)
def test_counts_are_those_of_a_dictionary(kind: str, numbers: Any) -> None:
    check(list(LABELS[kind][numbers]))


def test_arrays_of_several_types() -> None:
    check([np.array([0, 1, 1], dtype=np.int8), np.array([1, 1, 0], dtype=">i8"), np.array([True, False, False])])


@pytest.mark.parametrize("spoiler", [9, 500, 10**9])
@pytest.mark.parametrize("arrays", [2, 3, 4])
def test_a_label_that_the_sample_misses(spoiler: int, arrays: int) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 3, (arrays, 200_000))
    numbers[1, 12_345] = spoiler
    check(list(numbers))


def test_a_table_that_chunks_share() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 40, (3, 150_000))  # 64,000 cells
    assert label_tuples.SHARED < 40**3 <= label_tuples.DENSE
    check(list(numbers))


def test_more_combinations_than_codes() -> None:
    rng = np.random.default_rng(0)
    check(list(rng.integers(0, 8, (40, 50))))


def test_too_many_labels() -> None:
    for step in (1, 10**6):
        with pytest.raises(ValueError, match="the arrays must have at most 10000 labels"):
            count_label_tuples("the arrays", [np.arange(10_001) * step] * 3)


@pytest.mark.parametrize(
    "count",
    [
        lambda text: count_label_tuples("y", [as_labels("y", text)] * 3),
        lambda text: ConfusionMatrix.from_predictions(text, text),
        lambda text: ConfusionMatrix.from_groups(text, text, np.zeros(text.size)),
        lambda text: batch_metrics(text, [text, text], "accuracy"),
    ],
)
def test_too_many_labels_are_named(count: Callable[[Any], object]) -> None:
    text = np.array([f"id {i}" for i in range(10_001)])
    with pytest.raises(ValueError, match="must have at most 10000 labels, got 'id 0', 'id 1', 'id 10', "):
        count(text)


@pytest.mark.parametrize("n", [ALONE - 1, ALONE, ALONE + 70_001])
def test_ends_and_equal_rows_of_arrays_that_threads_share(n: int) -> None:
    rng = np.random.default_rng(0)
    first, second = rng.integers(-3, 4, (2, n)).astype(np.int8)
    first[-1], second[n // 2] = -128, 127
    assert label_range([first, second]) == (-128, 256)
    assert count_equal(first, second) == np.count_nonzero(first == second)
    assert count_equal(first, first[::-1]) == np.count_nonzero(first == first[::-1])
