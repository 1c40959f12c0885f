"""Accuracies, and means and medians of errors, of rows in parts, against figures by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from fastevals import ConfusionMatrix, proportion_interval
from fastevals.infer.means import accuracies, median_interval, root_mean_squares

TRUE, PREDICTED = np.array([0, 1, 1, 0, 1, 0, 1, 1, 0]), np.array([0, 1, 0, 0, 1, 1, 1, 0, 0])
PARTS = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2])
RIGHT, ROWS = [3, 2, 1], [4, 4, 1]


def test_accuracies_have_wilsons_interval() -> None:
    values, ends = accuracies(TRUE, PREDICTED, PARTS, None, 3, 0.9)
    assert values.tolist() == [3 / 4, 2 / 4, 1.0]
    for found, right, rows in zip(ends, RIGHT, ROWS, strict=True):
        matrix = ConfusionMatrix([[right, rows - right], [0, 0]])
        assert tuple(found) == proportion_interval(matrix, "accuracy", confidence_level=0.9)


def test_weighted_accuracies_are_those_of_as_many_rows_as_weigh_as_unevenly() -> None:
    expected = accuracies(TRUE, PREDICTED, PARTS, None, 3, 0.9)
    for found, same in zip(accuracies(TRUE, PREDICTED, PARTS, np.full(9, 7.0), 3, 0.9), expected, strict=True):
        np.testing.assert_allclose(found, same, rtol=1e-15)
    weights = np.array([3.0, 1, 1, 1, 1, 1, 1, 1, 2])
    values, ends = accuracies(TRUE, PREDICTED, PARTS, weights, 3, 0.95)
    assert values.tolist() == [5 / 6, 2 / 4, 1.0]
    rows, share, z = 6**2 / 12, 5 / 6, 1.959963984540054
    room = z * math.sqrt(share * (1 - share) / rows + (z / (2 * rows)) ** 2)
    middle = share + z * z / (2 * rows)
    np.testing.assert_allclose(ends[0], np.array([middle - room, middle + room]) / (1 + z * z / rows), rtol=1e-13)
    assert ends[2, 1] == 1.0


def test_root_mean_squares_neither_over_nor_underflow() -> None:
    errors = np.array([3.0, 4.0, 1.0, 1.0, 2.0])
    parts = np.array([0, 0, 1, 1, 2])
    expected, ends = root_mean_squares(np.zeros(5), errors, parts, None, 3, 0.9)
    np.testing.assert_allclose(expected, [math.sqrt(12.5), 1, 2])
    assert ends[1].tolist() == [1.0, 1.0]
    assert np.isnan(ends[2]).all()  # a single row
    for unit in (1e-200, 1e200):
        found, scaled = root_mean_squares(np.zeros(5), unit * errors, parts, None, 3, 0.9)
        np.testing.assert_allclose(found / unit, expected)
        np.testing.assert_allclose(scaled / unit, ends)


def test_the_interval_of_a_median_holds_it_as_often_as_it_says() -> None:
    rng, n = np.random.default_rng(0), 201
    intervals = [median_interval(np.zeros(n), rng.exponential(size=n), 0.95) for _ in range(400)]
    assert 0.93 <= np.mean([low <= np.log(2) <= high for low, high in intervals]) <= 0.98


@pytest.mark.parametrize("n", [1, 2, 5, 6, 9, 10, 40, 101, 1000])
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(9, 10), Fraction(95, 100)])
def test_the_interval_of_a_median_is_the_shortest_of_its_order_statistics(n: int, level: Fraction) -> None:
    rng = np.random.default_rng(n)
    targets, errors = rng.permutation(n).astype(float), rng.permutation(n) + 1.0  # the r-th smallest error is r
    values = targets + errors * rng.choice([-1, 1], n)
    # P(X(r) <= median <= X(n + 1 - r)) = 1 - 2 P(B < r), where B is the number of heads in n fair coins.
    fewer = accumulate(Fraction(math.comb(n, k), 2**n) for k in range((n + 1) // 2))
    rank = max((r for r, share in enumerate(fewer, 1) if 1 - 2 * share >= level), default=1)
    assert median_interval(targets, values, float(level)) == (rank, n + 1 - rank)
