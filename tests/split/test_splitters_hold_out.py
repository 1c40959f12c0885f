from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.model_selection import train_test_split

from fastevals._execution import num_threads
from fastevals.split.splitters.hold_out import HoldOut, apportion_over_classes
from tests.reference import splits as twin
from tests.strategies import BOUNDED


@pytest.mark.parametrize("options", [(0.25, None), (0.1, 0.5), (7, None), (0.3, 11), (2, 0.7), (0.3, 0.7), (19, 1)])
@pytest.mark.parametrize("n", [20, 21, 29])
def test_sizes_are_those_of_scikit_learn(n: int, options: tuple[float, float | None]) -> None:
    test_size, train_size = options
    train, test = next(HoldOut(test_size, train_size=train_size).split(range(n)))
    their_train, their_test = train_test_split(range(n), test_size=test_size, train_size=train_size)
    assert (train.size, test.size) == (len(their_train), len(their_test))


def test_a_share_is_the_number_it_is_written_as() -> None:
    for share in range(1, 100):  # math.ceil(0.07 * 100) is 8
        assert next(HoldOut(share / 100).split(range(100)))[1].size == share


@BOUNDED
@given(
    counts=st.lists(st.integers(1, 30), min_size=1, max_size=7),
    cuts=st.lists(st.floats(0, 1), min_size=1, max_size=3),
)
def test_classes_have_their_share_of_each_part(counts: list[int], cuts: list[float]) -> None:
    sizes, n = np.array(counts), sum(counts)
    parts = np.diff([0, *sorted(round(cut * n) for cut in cuts), n])
    found = apportion_over_classes(sizes, parts)
    assert (found.sum(axis=0) == parts).all()
    assert (found.sum(axis=1) == sizes).all()
    assert (np.abs(found * n - np.outer(sizes, parts)) < n).all()


def test_shares_of_many_classes_and_of_many_rows() -> None:
    sizes = np.random.default_rng(0).integers(3, 60, 400)
    found = apportion_over_classes(sizes, np.array([sizes.sum() - 4000, 1500, 2500, 0]))
    assert found.sum(axis=0)[1:].tolist() == [1500, 2500, 0]
    assert (
        apportion_over_classes(np.array([2**31, 2**31 - 1]), np.array([2**32 - 2, 1])).sum(axis=0) == [2**32 - 2, 1]
    ).all()


def test_the_books_exercise() -> None:
    # Zhou (2016), Machine Learning, exercise 2.1: 500 positive, 500 negative examples, 70 % for training, stratified.
    y = np.repeat([0, 1], 500)
    assert HoldOut(0.3, stratified=True).count_splits(None, y) == math.comb(500, 150) ** 2
    assert HoldOut(0.3).count_splits(None, y) == math.comb(1000, 300)


@pytest.mark.parametrize("stratified", [False, True])
def test_every_split_is_drawn_equally_often(stratified: bool) -> None:
    # A chi-square test that would fail for 1 seed in 1000.
    y = [0, 1, 0, 1, 1, 0, 1]
    splitter = HoldOut(2, validation_size=2, train_size=2, n_repeats=20_000, stratified=stratified, rng=4)
    seen = Counter(row.tobytes() for row in splitter.assignments(None, y))
    assert len(seen) == splitter.count_splits(None, y)
    assert stats.chisquare(list(seen.values())).pvalue > 0.001


@pytest.mark.parametrize("test_size", [1, 2, 4, 5])  # a small part is drawn, a large part is the rest
def test_every_subset_is_drawn_equally_often(test_size: int) -> None:
    splits = HoldOut(test_size, n_repeats=6000, rng=1).split(range(6))
    seen = Counter(tuple(test.tolist()) for _, test in splits)
    assert set(seen) == set(combinations(range(6), test_size))
    assert stats.chisquare(list(seen.values())).pvalue > 0.001


@BOUNDED
@given(y=st.lists(st.sampled_from("cab"), min_size=12, max_size=30), seed=st.integers(0, 9))
def test_parts_are_those_of_the_twin(y: list[str], seed: int) -> None:
    y += "abcabcabc"
    splitter = HoldOut(0.3, validation_size=0.25, n_repeats=2, stratified=True, rng=seed)
    for repetition, (codes, parts) in enumerate(zip(splitter.assignments(None, y), splitter.parts(y, y), strict=True)):
        sizes = np.bincount(codes)
        expected = [-1] * len(y)
        for stratum, rows in enumerate(twin.by_first_row(y).values()):
            found = np.bincount(codes[rows], minlength=3)
            blocks = [code for code in np.argsort(sizes, kind="stable").tolist() for _ in range(found[code])]
            dealt = twin.shuffled(blocks, twin.stream_key(splitter._key, repetition, stratum))
            for row, code in zip(rows, dealt, strict=True):
                expected[row] = code
        assert codes.tolist() == expected
        assert [part.tolist() for part in parts] == [np.flatnonzero(codes == code).tolist() for code in (0, 2, 1)]


def test_parts_without_validation() -> None:
    parts = next(HoldOut(0.25, train_size=0.5, rng=0).parts(range(8)))
    assert [part.size for part in (parts.train, parts.validation, parts.test)] == [4, 0, 2]
    assert np.bincount(HoldOut(0.25, train_size=0.5).assignments(range(8))[0], minlength=4).tolist() == [4, 2, 0, 2]


def test_groups_are_drawn_whole() -> None:
    groups = np.random.default_rng(0).integers(0, 12, 80)
    splitter = HoldOut(0.25, validation_size=0.25, n_repeats=9, rng=1)
    for codes in splitter.assignments(None, None, groups):
        of_groups = [set(codes[groups == group]) for group in range(12)]
        assert all(len(found) == 1 for found in of_groups)
        assert Counter(code for found in of_groups for code in found) == {0: 6, 1: 3, 2: 3}
    y = groups % 2
    for codes in HoldOut(0.5, n_repeats=9, stratified=True, rng=1).assignments(None, y, groups):
        assert Counter((group % 2, codes[groups == group][0]) for group in range(12)) == dict.fromkeys(
            [(0, 0), (0, 1), (1, 0), (1, 1)], 3
        )
    assert splitter.count_splits(None, groups=groups) == math.comb(12, 3) * math.comb(9, 3)


def test_the_same_bits_at_any_number_of_threads_and_of_any_repetitions() -> None:
    y = np.random.default_rng(0).integers(0, 4, 100_000)
    splitter = HoldOut(n_repeats=9, stratified=True, rng=1)
    with num_threads(1):
        codes = splitter.assignments(None, y)
    with num_threads(2):
        assert (splitter.assignments(None, y) == codes).all()
    assert (splitter.plan(None, y).codes(3, 5) == codes[3:5]).all()
    plan = splitter.plan(None, y)
    train, test = plan.indices(plan.codes(7, 8)[0], 0)
    assert (train == np.flatnonzero(codes[7] == 0)).all()
    assert (test == np.flatnonzero(codes[7] == 1)).all()


@pytest.mark.parametrize(
    ("splitter", "data", "message"),
    [
        (HoldOut(5), {"X": range(5)}, "test_size=5 leaves the training part of 5 rows empty"),
        (HoldOut(0.5, validation_size=0.4), {"X": range(3)}, "leaves the training part of 3 rows empty"),
        (HoldOut(0.2, train_size=0.1), {"X": range(9)}, "train_size=0.1 leaves the training part of 9 rows empty"),
        (HoldOut(3, train_size=4), {"X": range(5)}, "test_size=3, train_size=4 takes 7 rows, but there are 5"),
        (HoldOut(), {"X": range(5), "groups": [1] * 5}, "test_size=0.2 leaves the training part of 1 groups empty"),
        (
            HoldOut(0.5, validation_size=1, stratified=True),
            {"X": None, "y": [*"aaaabb"]},
            "a stratified HoldOut of 3 parts needs 3 rows or more of each class, but class 'b' has 2",
        ),
        (
            HoldOut(0.5, stratified=True),
            {"X": None, "y": [0, 0, 1, 1], "groups": [1, 2, 2, 3]},
            "groups must each be of one class to be drawn with stratified=True, but 2 has rows of two",
        ),
        (HoldOut(stratified=True), {"X": range(4)}, "stratified=True needs y"),
    ],
)
def test_data_that_cannot_be_split(splitter: HoldOut, data: dict[str, Any], message: str) -> None:
    for call in (splitter.split, splitter.parts, splitter.assignments, splitter.count_splits):
        with pytest.raises(ValueError, match=message):
            call(**data)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test_size": 0}, "test_size must be an integer at least 1, got 0"),
        ({"test_size": 1.0}, r"test_size must be a share in \(0, 1\) or a number of rows, got 1.0"),
        ({"test_size": 0.0}, "test_size must be a share"),
        ({"test_size": math.nan}, "test_size must be a share in .*, got nan"),
        ({"test_size": None}, "test_size must be a share in .*, got None"),
        ({"test_size": True}, "test_size must be a share in .*, got True"),
        ({"validation_size": -0.1}, "validation_size must be a share"),
        ({"train_size": "0.5"}, "train_size must be a share"),
        (
            {"test_size": 0.5, "validation_size": 0.5},
            "test_size and validation_size must leave a share for training, got test_size=0.5, validation_size=0.5",
        ),
        ({"test_size": 0.5, "train_size": 0.6}, "test_size and train_size must add up to at most 1"),
        ({"n_repeats": 0}, "n_repeats must be an integer at least 1, got 0"),
        ({"stratified": None}, "stratified must be True or False, got None"),
        ({"rng": -1}, "rng must be"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HoldOut(**options)
