"""The most frequent errors of a matrix, and the order of classes in which they are neighbours."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fastevals import ConfusionMatrix
from fastevals.measure.confused_classes import class_shares, most_frequent_errors, order_of_similar_classes
from tests.strategies import BOUNDED

MATRICES = st.integers(1, 7).flatmap(lambda k: arrays(np.int64, (k, k), elements=st.integers(0, 5)))


def errors_by_hand(counts: Any, *, by_share: bool) -> list[tuple[int, int]]:
    k = len(counts)
    found = []
    for true, predicted in product(range(k), range(k)):
        if true != predicted and counts[true][predicted]:
            count, share = counts[true][predicted], counts[true][predicted] / sum(counts[true])
            found.append((-share, -count, true, predicted) if by_share else (-count, -share, true, predicted))
    return [(true, predicted) for *_, true, predicted in sorted(found)]


@BOUNDED
@given(MATRICES, st.booleans(), st.integers(1, 40))
def test_errors_are_sorted(counts: Any, by_share: bool, n: int) -> None:
    found, expected = most_frequent_errors(counts, n, by_share=by_share), errors_by_hand(counts, by_share=by_share)
    assert [*zip(found.true.tolist(), found.predicted.tolist(), strict=True)] == expected[:n]
    assert found.n_pairs == len(expected)
    assert found.counts.tolist() == [counts[pair] for pair in expected[:n]]
    assert found.shares.tolist() == [class_shares(counts)[pair] for pair in expected[:n]]


@BOUNDED
@given(MATRICES)
def test_the_order_is_a_permutation_that_starts_with_the_lower_end(counts: Any) -> None:
    order = order_of_similar_classes(counts).tolist()
    assert sorted(order) == [*range(len(counts))]
    assert order[0] <= order[-1]


@pytest.mark.parametrize("k", [60, 600])  # the larger one keeps the tree's order
def test_groups_of_confused_classes_are_blocks(k: int) -> None:
    rng = np.random.default_rng(0)
    group = rng.permutation(np.repeat(np.arange(k // 4), 4))
    counts = np.where(group[:, np.newaxis] == group, rng.integers(5, 20, (k, k)), rng.random((k, k)) < 0.01)
    counts[np.diag_indices(k)] = 100
    matrix = ConfusionMatrix(counts, labels=[f"{each}" for each in range(k)])
    made = matrix.sorted_by_confusion()
    order = made.labels.astype(int)
    assert (made.counts == counts[np.ix_(order, order)]).all()
    assert np.count_nonzero(np.diff(group[order])) == k // 4 - 1  # each group is in one piece
    assert made.accuracy() == matrix.accuracy()
    assert not made.labels.flags.writeable
    assert not made.counts.flags.writeable


def test_two_classes_and_stacks() -> None:
    two = ConfusionMatrix([[1, 5], [7, 2]], labels=["no", "yes"], pos_label="yes").sorted_by_confusion()
    assert (two.labels.tolist(), two.pos_label) == (["no", "yes"], "yes")
    first, second = np.diag([9, 9, 9, 9]), np.diag([9, 9, 9, 9])
    first[0, 2] = second[3, 1] = 5
    made = ConfusionMatrix([first, second]).sorted_by_confusion()
    order = made.labels.tolist()
    assert abs(order.index(0) - order.index(2)) == abs(order.index(1) - order.index(3)) == 1
    assert (made.counts[1] == second[np.ix_(order, order)]).all()
    assert made.macro().accuracy() == ConfusionMatrix([first, second]).macro().accuracy()


def test_classes_without_rows() -> None:
    counts = np.diag([5, 0, 5, 5])
    counts[0, 3] = 2
    assert sorted(ConfusionMatrix(counts).sorted_by_confusion().labels.tolist()) == [0, 1, 2, 3]
    assert sorted(order_of_similar_classes(np.zeros((4, 4), dtype=np.int64)).tolist()) == [0, 1, 2, 3]


def large(*, weighted: bool = False) -> ConfusionMatrix[Any]:
    counts = np.diag(np.full(21, 10))
    counts[3, 4], counts[5, 6] = 7, 2
    return ConfusionMatrix(counts + 0.5 if weighted else counts, labels=[f"class {k}" for k in range(21)])


def test_large_matrices_are_shown_by_their_errors() -> None:
    assert str(large()).splitlines() == [
        "ConfusionMatrix(21x21, n=219)",
        "  true    predicted count of true class",
        "  class 3   class 4     7        41.2 %",
        "  class 5   class 6     2        16.7 %",
    ]
    text = large().to_text().splitlines()
    assert text[0] == "ConfusionMatrix(21x21, n=219), 2 most frequent of 2 kinds of errors"
    assert text[3].split() == ["class", "3", "class", "4", "7", "0.4118"]
    assert len(large().to_frame("pandas")) == 21 * 21
    assert str(large(weighted=True)).splitlines()[2].split() == ["class", "3", "class", "4", "7.5", "27.3", "%"]
    assert str(large(weighted=True)).splitlines()[-1] == "  ..."
    perfect = ConfusionMatrix(np.diag(np.full(21, 10)))
    assert str(perfect).splitlines()[1:] == ["  true predicted count of true class"]
    assert perfect.to_text().startswith("ConfusionMatrix(21x21, n=210) without errors\n")
