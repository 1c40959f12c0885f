"""Ranks and profiles against their definitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from fastevals.infer.learners.profiles import areas_above, distances_to_best, profiles_of
from fastevals.infer.learners.ranks import head_to_head, place_shares, places_of
from fastevals.infer.significance.friedman import rank_sums
from tests.strategies import BOUNDED

SHAPES = st.tuples(st.integers(1, 6), st.integers(2, 5))
TIED = arrays(np.float64, SHAPES, elements=st.sampled_from([0.25, 0.5, 0.75, 1.0]))


@BOUNDED
@given(TIED, st.booleans())
def test_places_count_those_who_do_better(values: np.ndarray, higher: bool) -> None:
    places, shares = places_of(values, higher), place_shares(places_of(values, higher))
    n, k = values.shape
    expected = np.zeros((k, k))
    for row, learner in product(range(n), range(k)):
        better = sum(
            (other > values[row, learner]) if higher else (other < values[row, learner]) for other in values[row]
        )
        equal = sum(other == values[row, learner] for other in values[row])
        assert places.first[row, learner] == better + 1
        assert places.last[row, learner] == better + equal
        expected[learner, better : better + equal] += 1 / equal / n
    assert_allclose(shares, expected, atol=1e-12)
    assert_allclose(shares @ np.arange(1, k + 1), rank_sums(values, higher).mean_ranks)
    assert_allclose(shares.sum(axis=0), 1)  # each place is taken once on each data set


@BOUNDED
@given(TIED, st.booleans())
def test_pairs_are_counted_one_by_one(values: np.ndarray, higher: bool) -> None:
    found = head_to_head(values, higher)
    for i, j in product(range(values.shape[1]), repeat=2):
        a, b = values[:, i], values[:, j]
        assert found.wins[i, j] == sum(x > y if higher else x < y for x, y in zip(a, b, strict=True))
        assert found.ties[i, j] == sum(x == y for x, y in zip(a, b, strict=True))
        assert found.difference[i, j] == pytest.approx(np.mean(a - b))


@BOUNDED
@given(TIED, st.booleans(), st.sampled_from(["ratio", "difference"]), st.floats(0, 5))
def test_profiles_are_shares_within_a_distance(values: np.ndarray, higher: bool, by: str, tau: float) -> None:
    tau += by == "ratio"
    profiles = profiles_of(distances_to_best("results", values, higher, by), by)
    for column, (distances, shares) in enumerate(profiles):
        expected = 0.0
        for row in values:
            best = max(row) if higher else min(row)
            ratio = best / row[column] if higher else row[column] / best
            expected += (ratio if by == "ratio" else abs(row[column] - best)) <= tau
        place = np.searchsorted(distances, tau, side="right") - 1
        assert shares[place] == pytest.approx(expected / len(values))
        assert distances[0] == (by == "ratio")


def test_missing_results() -> None:
    values = np.array([[0.9, np.nan, 0.8], [0.7, 0.9, 0.7]])
    places = places_of(values, True)
    assert_array_equal(places.ranks, [[1, np.nan, 2], [2.5, 1, 2.5]])
    assert_allclose(place_shares(places), [[0.5, 0.25, 0.25], [1, 0, 0], [0, 0.75, 0.25]])
    found = head_to_head(values, True)
    assert_array_equal(found.wins, [[0, 0, 1], [1, 0, 1], [0, 0, 0]])
    assert_allclose(found.difference[0], [0, -0.2, 0.05])
    distances = distances_to_best("results", values, True, "ratio")
    assert distances[0, 1] == np.inf
    profiles = profiles_of(distances, "ratio")
    assert profiles[1].shares.tolist() == [0.5]
    assert_allclose(areas_above(profiles, 2.0)[1], 0.5)


def test_ratios_of_results_that_are_not_positive() -> None:
    with pytest.raises(ValueError, match=r"^results must be positive for ratios to the best, got -0.5: use by='differ"):
        distances_to_best("results", np.array([[0.1, -0.5], [0.2, 0.3]]), True, "ratio")
    with pytest.raises(ValueError, match=r"got 0.0"):
        distances_to_best("results", np.array([[0.1, 0.0]]), False, "ratio")
