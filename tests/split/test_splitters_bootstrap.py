from __future__ import annotations

import math
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from fastevals._execution import num_threads
from fastevals.split.splitters.bootstrap_split import BootstrapSplit


def test_training_rows_are_drawn_and_the_others_are_tested() -> None:
    splitter = BootstrapSplit(30, rng=1)
    codes = splitter.assignments(range(50))
    assert codes.dtype == np.uint8
    assert (codes.sum(axis=1) == 50).all()
    for times, (train, test) in zip(codes, splitter.split(range(50)), strict=True):
        assert (np.bincount(train, minlength=50) == times).all()
        assert (np.diff(train) >= 0).all()
        assert (test == np.flatnonzero(times == 0)).all()
        assert test.size


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_draw_that_leaves_rows_out_is_as_likely_as_it_should_be(n: int) -> None:
    # A chi-square test that would fail for 1 seed in 1000.
    ways = Counter(tuple(np.bincount(draw, minlength=n).tolist()) for draw in product(range(n), repeat=n))
    del ways[(1,) * n]
    codes = BootstrapSplit(8000, rng=2).assignments(range(n))
    seen = Counter(map(tuple, codes.tolist()))
    assert set(seen) == set(ways)
    expected = np.array(list(ways.values())) * 8000 / sum(ways.values())
    assert stats.chisquare([seen[times] for times in ways], expected).pvalue > 0.001


def test_the_share_left_out() -> None:
    # (1 - 1/n)^n of rows; the mean of 200 replicates is within four standard errors, 0.00022 each
    codes = BootstrapSplit(rng=3).assignments(range(10_000))
    assert abs((codes == 0).mean() - (1 - 1e-4) ** 10_000) < 4 * math.sqrt(0.0975 / 10_000 / 200)


def test_each_class_is_drawn_by_itself() -> None:
    y = np.random.default_rng(0).permutation(np.repeat([*"abcd"], [30, 300, 7, 1]))
    splitter = BootstrapSplit(20, stratified=True, rng=1)
    codes = splitter.assignments(None, y)
    for label in "abcd":
        here = codes[:, y == label]
        assert (here.sum(axis=1) == here.shape[1]).all()
    assert (splitter.assignments(None, np.array([*"zxyw"])[np.unique(y, return_inverse=True)[1]]) == codes).all()
    small = BootstrapSplit(50, stratified=True, rng=1).assignments(None, [0, 1, 1])  # every other draw leaves a row out
    assert small.tolist() != [small[0].tolist()] * 50
    assert (small[:, 0] == 1).all()
    assert (small[:, 1] != 1).all()


def test_groups_are_drawn_whole() -> None:
    groups = np.random.default_rng(0).integers(0, 12, 80)
    for stratified in (False, True):
        splitter = BootstrapSplit(20, stratified=stratified, rng=1)
        for codes in splitter.assignments(None, groups % 3, groups):
            times = [set(codes[groups == group].tolist()) for group in range(12)]
            assert all(len(found) == 1 for found in times)
            assert sum(found.pop() for found in times) == 12


def test_the_same_bits_at_any_number_of_threads_and_of_any_replicates() -> None:
    splitter = BootstrapSplit(9, rng=1)
    with num_threads(1):
        codes = splitter.assignments(range(100_000))
    with num_threads(2):
        assert (splitter.assignments(range(100_000)) == codes).all()
    plan = splitter.plan(range(100_000))
    assert (plan.codes(3, 5) == codes[3:5]).all()
    assert (plan.indices(plan.codes(8, 9)[0], 0).test == np.flatnonzero(codes[8] == 0)).all()
    assert len({row.tobytes() for row in codes}) == 9


@pytest.mark.parametrize(
    ("splitter", "data", "message"),
    [
        (BootstrapSplit(), {"X": [0]}, "BootstrapSplit needs 2 rows or more, got 1"),
        (BootstrapSplit(), {"X": range(3), "groups": [1, 1, 1]}, "BootstrapSplit needs 2 groups or more, got 1"),
        (
            BootstrapSplit(stratified=True),
            {"X": None, "y": [0, 1, 2]},
            "at least one class of a stratified BootstrapSplit needs 2 rows or more, got 1",
        ),
        (
            BootstrapSplit(stratified=True),
            {"X": None, "y": [0, 0, 1, 1], "groups": [1, 2, 2, 3]},
            "groups must each be of one class",
        ),
    ],
)
def test_data_that_cannot_be_split(splitter: BootstrapSplit, data: dict[str, Any], message: str) -> None:
    for call in (splitter.split, splitter.assignments):
        with pytest.raises(ValueError, match=message):
            call(**data)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_repeats": 0}, "n_repeats must be an integer at least 1, got 0"),
        ({"stratified": 1}, "stratified must be True or False, got 1"),
        ({"rng": "x"}, "rng must be"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BootstrapSplit(**options)
