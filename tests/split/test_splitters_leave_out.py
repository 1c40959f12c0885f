from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import model_selection

from fastevals._execution import num_threads
from fastevals.split.splitters.leave_out import Combinations, LeaveOneOut, LeavePOut


@pytest.mark.parametrize(("n", "p"), [(2, 1), (5, 1), (5, 2), (6, 5), (9, 4), (4, 3)])
def test_all_choices_in_their_order(n: int, p: int) -> None:
    splitter = LeavePOut(p)
    expected = list(combinations(range(n), p))
    assert splitter.get_n_splits(range(n)) == len(expected)
    assert [tuple(np.flatnonzero(row).tolist()) for row in splitter.assignments(range(n))] == expected
    peer = model_selection.LeavePOut(p).split(range(n))
    for (train, test), (their_train, their_test) in zip(splitter.split(range(n)), peer, strict=True):
        assert (train.tolist(), test.tolist()) == (their_train.tolist(), their_test.tolist())
    plan = splitter.plan(range(n))
    for number, choice in enumerate(expected):
        assert tuple(np.flatnonzero(plan.codes(number, number + 1)).tolist()) == choice
        assert tuple(plan.indices(plan.codes(number, number + 1)[0], 0).test.tolist()) == choice


def test_choices_past_64_bits() -> None:
    n, p = 1000, 12
    total = math.comb(n, p)
    assert total > 2**64
    plan = LeavePOut(p).plan(range(n))
    assert plan.n_splits == total
    assert np.flatnonzero(plan.codes(total - 1, total)).tolist() == list(range(n - p, n))
    for number in (0, 1, n - p, total // 3, 2**64 + 1, total - 2):
        first, second = map(np.flatnonzero, plan.codes(number, number + 2))
        rank = sum(
            math.comb(n - before - 1, p - i) - math.comb(n - at, p - i)
            for i, (before, at) in enumerate(zip([-1, *first[:-1].tolist()], first.tolist(), strict=True))
        )
        assert rank == number
        assert second.tolist() > first.tolist()
    assert len(Combinations(10**6, 3).choice(10**17)) == 3


@pytest.mark.slow
def test_many_choices_are_written_by_threads() -> None:
    splitter = LeavePOut(3)
    with num_threads(1):
        codes = splitter.assignments(range(120))
    with num_threads(2):
        assert (splitter.assignments(range(120)) == codes).all()
    choices = np.nonzero(codes)[1].reshape(-1, 3)
    assert (choices == list(combinations(range(120), 3))).all()


@pytest.mark.parametrize("p", [2, 4])
def test_random_choices_are_equally_likely(p: int) -> None:
    # A chi-square test that would fail for 1 seed in 1000.
    splitter = LeavePOut(p, n_repeats=6000, rng=3)
    assert splitter.get_n_splits() == 6000
    codes = splitter.assignments(range(5))
    seen = Counter(tuple(np.flatnonzero(row).tolist()) for row in codes)
    assert set(seen) == set(combinations(range(5), p))
    assert stats.chisquare(list(seen.values())).pvalue > 0.001
    assert (splitter.plan(range(5)).codes(17, 19) == codes[17:19]).all()


def test_leave_one_out() -> None:
    splitter = LeaveOneOut()
    assert splitter.assignments(range(4)).tolist() == [[0, 1, 2, 3]]
    assert splitter.get_n_splits(range(4)) == 4
    assert splitter.assignments(range(300)).dtype == np.uint16
    for mine, peer in zip(splitter.split(range(5)), model_selection.LeaveOneOut().split(range(5)), strict=True):
        assert [rows.tolist() for rows in mine] == [rows.tolist() for rows in peer]


def test_groups_are_left_out() -> None:
    groups = np.array([3, 1, 1, 3, 2, 2, 2])
    assert LeaveOneOut().assignments(groups, groups=groups).tolist() == [[0, 1, 1, 0, 2, 2, 2]]
    assert LeaveOneOut().get_n_splits(groups, groups=groups) == 3
    assert LeavePOut(2).assignments(None, None, groups).tolist() == [
        [1, 1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 1, 1], [0, 1, 1, 0, 1, 1, 1],
    ]  # fmt: skip
    test_sets = {tuple(test.tolist()) for _, test in LeavePOut(2).split(groups, groups=groups)}
    peer = model_selection.LeavePGroupsOut(2).split(groups, groups=groups)
    assert test_sets == {tuple(test.tolist()) for _, test in peer}
    for codes in LeavePOut(1, n_repeats=20, rng=0).assignments(groups, groups=groups):
        assert len(set(groups[codes == 1])) == 1
        assert set(groups[codes == 1]).isdisjoint(groups[codes == 0])


@pytest.mark.parametrize(
    ("splitter", "data", "message"),
    [
        (LeavePOut(5), {"X": range(5)}, "p must be less than the number of rows, 5, got 5"),
        (LeavePOut(2), {"X": None, "groups": [1, 1, 2]}, "p must be less than the number of groups, 2, got 2"),
        (LeavePOut(7, n_repeats=3), {"X": range(6)}, "p must be less than the number of rows, 6, got 7"),
        (LeaveOneOut(), {"X": [1]}, "LeaveOneOut needs 2 rows or more, got 1"),
        (LeaveOneOut(), {"X": None, "groups": [1, 1]}, "LeaveOneOut needs 2 groups or more, got 1"),
        (LeavePOut(1), {"X": None}, "one of X, y, groups must be given"),
    ],
)
def test_data_that_cannot_be_split(splitter: Any, data: dict[str, Any], message: str) -> None:
    for call in (splitter.split, splitter.assignments):
        with pytest.raises(ValueError, match=message):
            call(**data)


def test_too_many_choices_for_an_array() -> None:
    with pytest.raises(ValueError, match=r"array of assignments .* too large: .* repetitions of 1000 rows"):
        LeavePOut(10).assignments(range(1000))
    assert next(LeavePOut(10).split(range(1000))).test.tolist() == list(range(10))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p": 0}, "p must be an integer at least 1, got 0"),
        ({"p": 0.1}, "p must be an integer, got 0.1"),
        ({"p": 1, "n_repeats": 0}, "n_repeats must be an integer at least 1, got 0"),
        ({"p": 1, "rng": 1.5}, "rng must be"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LeavePOut(**options)
