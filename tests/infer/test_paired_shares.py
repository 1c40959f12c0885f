"""The score interval of paired shares, against its twin, a published example and known forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastevals.infer.paired_shares import PairedCounts, score_interval
from fastevals.infer.proportions import score_limits
from tests.parameters import quick
from tests.reference import paired_shares as twin

Z = 1.959963984540054
TABLES = [
    (43, 0, 1, 0),
    (0, 0, 0, 44),
    (30, 4, 1, 10),
    (10, 10, 0, 1),
    (0, 0, 7, 0),
    (0, 5, 0, 0),
    (212, 144, 256, 707),
]


@pytest.mark.parametrize("table", quick(TABLES, TABLES[0]))
def test_intervals_are_those_of_the_twin(table):
    expected = twin.interval(*table[1:3], sum(table), Z)
    assert score_interval(PairedCounts(*table), Z) == pytest.approx(expected, abs=1.1e-4)


def test_a_published_example():
    """Airway reactivity before and after a transplantation: Fagerland et al. (2014), doi:10.1002/sim.6148."""
    low, high = score_interval(PairedCounts(1, 1, 7, 12), Z)
    assert (round(low, 3), round(high, 3)) == (-0.517, -0.026)


@pytest.mark.parametrize("n", [1, 50, 10_000])
def test_no_trial_differs_and_the_interval_has_a_width(n):
    for table in (PairedCounts(n, 0, 0, 0), PairedCounts(0, 0, 0, n)):
        assert score_interval(table, Z) == pytest.approx((-(Z**2) / (n + Z**2), Z**2 / (n + Z**2)), abs=1e-6)


def test_a_second_model_that_never_wins_leaves_wilsons_interval():
    """With factor 0 the second share does not count."""
    low, high = score_limits(np.array(37.0), np.array(13.0), Z)
    assert score_interval(PairedCounts(20, 17, 6, 7), Z, 0.0) == pytest.approx((float(low), float(high)), abs=1e-6)


def test_exchanging_the_models_turns_the_interval_around():
    counts = PairedCounts(60, 9, 4, 27)
    low, high = score_interval(counts, Z)
    assert score_interval(counts._replace(first=4, second=9), Z) == pytest.approx((-high, -low), abs=1e-12)


def test_without_trials_there_is_no_interval():
    assert all(map(math.isnan, score_interval(PairedCounts(0, 0, 0, 0), Z)))
