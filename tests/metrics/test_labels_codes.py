"""Labels of any kind and number become their places in sorted order."""

from __future__ import annotations

import numpy as np
import pytest

from fastevals import ConfusionMatrix, num_threads
from fastevals._execution import ROWS_PER_BLOCK
from fastevals._validation.text import encode_text, share_names
from fastevals.counting.labels import code_labels

MANY = 2 * ROWS_PER_BLOCK + 7  # rows in more than one part


def check(*arrays):
    text = arrays[0].dtype.kind in "OU"
    labels, codes = share_names([encode_text("y", array) for array in arrays]) if text else code_labels(arrays)
    plain = [array.astype(str) if array.dtype.kind in "OU" else array.astype(np.int64) for array in arrays]
    expected, numbers = np.unique(np.concatenate(plain), return_inverse=True)
    assert labels.tolist() == expected.tolist()
    assert np.concatenate(codes).tolist() == numbers.tolist()
    assert [each.size for each in codes] == [each.size for each in arrays]


@pytest.mark.parametrize(
    ("n", "k"), [(5, 1), (5, 3), (5, 700), (MANY, 1), pytest.param(MANY, 3, marks=pytest.mark.slow), (MANY, 700)]
)
def test_as_np_unique(n, k):
    rng = np.random.default_rng(n + k)
    first, second = rng.integers(-k, k, n), rng.integers(0, 2 * k, n)
    check(first * 10**13, second * 10**13)
    check(first.astype(np.int16), second)
    text = np.array([f"{'x' * (code % 7)}{code}" for code in range(-k, 2 * k)])
    check(text[first + k], text[second].astype("U30"))
    check(text[first + k].astype(object), text[second])
    check(text[first + k].astype(">U9"), text[::-1][second][::-1])


def test_the_first_table_overflows_and_all_labels_differ():
    rng = np.random.default_rng(0)
    ids = rng.permutation(MANY)
    check(ids * 2**30, ids[::-1] * 2**30 + 1)
    check(ids[: MANY // 8].astype(str), ids[: MANY // 4].astype(str))


def test_words_that_are_alike():
    check(np.array(["", "a", "a\0b", "a b", "aa", "a"]), np.array(["A", "ä", "\U0001f600", "", "b", "a" * 40]))
    check(np.array([0, -1, 2**63 - 1, -(2**63), 2**32, 2**32 + 1]), np.array([1, 2**31, -(2**31), 0, 2**32 - 1, -1]))
    check(np.array([True, False]), np.array([3, -3], dtype=np.int8))


def test_the_number_of_threads_makes_no_difference():
    text = np.array(["b", "c", "a"])[np.random.default_rng(1).integers(0, 3, MANY)]
    with num_threads(1):
        one = encode_text("y", text)
    with num_threads(3):
        three = encode_text("y", text)
    assert one.names.tolist() == three.names.tolist() == ["a", "b", "c"]
    assert (one.codes == three.codes).all()


@pytest.mark.parametrize("n", [3, MANY])
@pytest.mark.parametrize("odd", [None, 1, float("nan"), [1]])
def test_objects_that_are_no_strings(odd, n):
    labels = np.array(["a"] * n, dtype=object)
    labels[2] = odd
    with pytest.raises(ValueError, match=r"at row 2$"):
        encode_text("y_true", labels)


def test_confusion_matrices_count_by_them():
    rng = np.random.default_rng(2)
    names = np.array([f"class {code:03}" for code in range(40)])
    true, predicted = rng.integers(0, 40, (2, MANY))
    matrix = ConfusionMatrix.from_predictions(names[true], names[predicted])
    assert (matrix.counts == ConfusionMatrix.from_predictions(true, predicted).counts).all()
    assert matrix.labels.tolist() == names.tolist()
    with pytest.raises(ValueError, match="at most 10000 labels"):
        ConfusionMatrix.from_predictions(np.arange(20_000).astype(str), np.arange(20_000).astype(str))


@pytest.mark.parametrize("n", [511, 512, 513, 514])
def test_as_many_labels_as_the_first_table_has_room_for(n):
    check(np.random.default_rng(1).permutation(np.arange(n) * 10**12))
    check(np.repeat(np.arange(n) * 10**12, 3))
