"""The most frequent errors, with intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fastevals import ConfusionMatrix, most_confused, proportion_interval
from fastevals.infer.confused_pairs import ConfusedPairs

COUNTS = [[90, 0, 10], [0, 1, 1], [15, 1, 84]]
MATRIX = ConfusionMatrix(COUNTS, labels=["cat", "car", "dog"])


def pairs(found: ConfusedPairs) -> list[tuple[Any, Any]]:
    return [*zip(found.true.tolist(), found.predicted.tolist(), strict=True)]


def test_pairs_in_both_orders() -> None:
    by_count = [("dog", "cat"), ("cat", "dog"), ("car", "dog"), ("dog", "car")]
    assert pairs(most_confused(MATRIX)) == by_count
    assert pairs(most_confused(MATRIX, 2)) == by_count[:2]
    assert pairs(most_confused(MATRIX, 2, by="share")) == [("car", "dog"), ("dog", "cat")]
    found = most_confused(MATRIX)
    assert found.count.tolist() == [15, 10, 1, 1]
    assert found.support.tolist() == [100, 100, 2, 100]
    assert found.share.tolist() == [0.15, 0.1, 0.5, 0.01]
    assert (found.n_pairs, found.n_errors) == (4, 27)


def test_intervals_are_wilsons() -> None:
    found = most_confused(MATRIX, confidence_level=0.9)
    for count, support, low, high in zip(found.count, found.support, found.low, found.high, strict=True):
        recall = ConfusionMatrix([[1, 0], [support - count, count]], pos_label=1)
        assert (low, high) == proportion_interval(recall, "recall", confidence_level=0.9)


def test_weights_have_no_intervals() -> None:
    found = most_confused(ConfusionMatrix(np.array(COUNTS) / 3))
    assert found.share == pytest.approx([0.15, 0.1, 0.5, 0.01])
    assert np.isnan([found.low, found.high]).all()
    assert str(found).splitlines()[:2] == [
        "ConfusedPairs(4 of 4 pairs, 9 of 9 errors)",
        "  2 as 0: 5 of 33.3333, 0.1500",
    ]


def test_without_errors() -> None:
    found = most_confused(ConfusionMatrix(np.diag([3, 0, 4])))
    assert repr(found) == "ConfusedPairs(0 of 0 pairs, 0 of 0 errors)"
    assert found.share.size == 0
    assert not math.isnan(found.n_errors)


def test_a_stack_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must be a single matrix, not a stack, got counts of shape \(2, 3, 3\)"):
        most_confused(ConfusionMatrix([COUNTS, COUNTS]))
