from __future__ import annotations

import tracemalloc
from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import model_selection

from fastevals._execution import num_threads
from fastevals.split.splitters.k_fold import KFold
from tests.reference import splits as twin
from tests.strategies import BOUNDED


def sizes(y: Any, codes: Any, k: int) -> np.ndarray[Any, Any]:
    """Return the number of rows of each class in each fold."""
    labels, numbers = np.unique(y, return_inverse=True)
    return np.bincount(numbers * k + codes, minlength=labels.size * k).reshape(-1, k)


@st.composite
def classes(draw: st.DrawFn) -> tuple[list[str], int]:
    """Draw k, and labels that each occur at least k times."""
    k = draw(st.integers(2, 5))
    counts = draw(st.lists(st.integers(k, 3 * k), min_size=1, max_size=4))
    return draw(st.permutations([label for label, n in zip("badc", counts, strict=False) for _ in range(n)])), k


@BOUNDED
@given(case=classes(), seed=st.integers(0, 9))
def test_stratified_folds_are_those_of_the_twin_and_differ_by_one_at_most(case: Any, seed: int) -> None:
    y, k = case
    splitter = KFold(k, n_repeats=3, stratified=True, rng=seed)
    for repetition, codes in enumerate(splitter.assignments(None, y)):
        assert codes.tolist() == twin.stratified_folds(y, k, twin.stream_key(splitter._key, repetition))
        found = sizes(y, codes, k)
        assert np.ptp(found, axis=1).max() <= 1
        assert np.ptp(found.sum(axis=0)) <= 1


@BOUNDED
@given(case=classes())
def test_folds_in_blocks_are_those_of_scikit_learn(case: Any) -> None:
    y, k = case
    for stratified, peer in ((True, model_selection.StratifiedKFold(k)), (False, model_selection.KFold(k))):
        mine = KFold(k, shuffle=False, stratified=stratified).split(y, y)
        for (train, test), (their_train, their_test) in zip(mine, peer.split(y, y), strict=True):
            assert train.tolist() == their_train.tolist()
            assert test.tolist() == their_test.tolist()


@pytest.mark.parametrize(
    ("n", "k"),
    [(7, 2), (7, 7), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((300, 257), (70_000, 65_537)))],
)
def test_folds_without_classes(n: int, k: int) -> None:
    splitter = KFold(k, n_repeats=2, rng=3)
    codes = splitter.assignments(range(n))
    assert codes.dtype == np.min_scalar_type(k - 1)
    if n < 1000:
        assert codes[1].tolist() == twin.stratified_folds([0] * n, k, twin.stream_key(splitter._key, 1))
    for row in codes:
        assert set(np.bincount(row, minlength=k)) <= {n // k, -(-n // k)}


def test_all_assignments_are_equally_likely() -> None:
    # A chi-square test that would fail for 1 seed in 1000.
    repeats = 9000
    codes = KFold(3, n_repeats=repeats, rng=5).assignments(range(5))
    possible = sorted(set(permutations([0, 0, 1, 1, 2])))
    seen = Counter(map(tuple, codes.tolist()))
    assert set(seen) == set(possible)
    assert stats.chisquare([seen[each] for each in possible]).pvalue > 0.001


def test_two_classes_dont_move_together() -> None:
    # Independent folds of two classes with 8 rows agree in 1 of 70 cases.
    codes = KFold(2, n_repeats=7000, stratified=True, rng=2).assignments(None, [0, 1] * 4 * 2)
    same = np.count_nonzero((codes[:, ::2] == codes[:, 1::2]).all(axis=1))
    assert stats.binomtest(same, 7000, 1 / 70).pvalue > 0.001


def test_names_of_classes_dont_matter() -> None:
    y = np.random.default_rng(0).integers(0, 3, 50)
    expected = KFold(4, stratified=True, rng=1).assignments(None, y)
    names: list[Any] = [
        np.array(["x", "a", "m"])[y], 2 - y, y * 10**12, y.astype(np.float32), y.astype(np.uint8), y.astype(">i4"),
        np.array(["x", "a", "m"], dtype=object)[y].tolist(),
    ]  # fmt: skip
    for renamed in names:
        assert (KFold(4, stratified=True, rng=1).assignments(None, renamed) == expected).all()
    assert (KFold(4, stratified=True, rng=1).assignments(None, y > 0) != expected).any()


@pytest.mark.parametrize("options", [{}, {"stratified": True}, {"groups": True}, {"stratified": True, "groups": True}])
def test_the_same_bits_at_any_number_of_threads_and_of_any_repetitions(options: dict[str, bool]) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150_000)
    groups = rng.integers(0, 500, y.size) if options.get("groups") else None
    splitter = KFold(5, n_repeats=7, stratified=options.get("stratified", False), rng=1)
    with num_threads(1):
        codes = splitter.assignments(None, y, groups)
    with num_threads(2):
        assert (splitter.assignments(None, y, groups) == codes).all()
    plan = splitter.plan(None, y, groups)
    assert (plan.codes(2, 5) == codes[2:5]).all()
    assert plan.codes(6, 7).shape == (1, y.size)
    train, test = plan.indices(plan.codes(4, 5)[0], 3)
    assert (test == np.flatnonzero(codes[4] == 3)).all()
    assert (np.sort(np.concatenate([train, test])) == np.arange(y.size)).all()
    assert len({row.tobytes() for row in codes}) == 7


def test_memory() -> None:
    y = np.random.default_rng(0).integers(0, 10, 200_000)
    for stratified, most in ((False, 10), (True, 30)):
        splitter = KFold(10, n_repeats=10, stratified=stratified, rng=1)
        splitter.assignments(None, y)
        tracemalloc.start()
        try:
            codes = splitter.assignments(None, y)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert codes.nbytes == 10 * y.size
        assert peak - codes.nbytes < most * y.size + 2**16


# Groups -------------------------------------------------------------------------------------------------------------


@st.composite
def grouped(draw: st.DrawFn) -> tuple[list[str], list[int], int]:
    """Draw classes, groups and k."""
    k = draw(st.integers(2, 4))
    n_groups = draw(st.integers(k, 9))
    groups = draw(st.lists(st.integers(0, n_groups - 1), min_size=20, max_size=40)) + list(range(n_groups)) * 2
    n = len(groups) - 2 * n_groups
    labels = draw(st.lists(st.sampled_from("ba"), min_size=n, max_size=n))
    return [*labels, *"a" * n_groups, *"b" * n_groups], groups, k


@BOUNDED
@given(case=grouped(), seed=st.one_of(st.none(), st.integers(0, 9)))
def test_groups_are_spread_as_the_twin_spreads_them(case: Any, seed: int | None) -> None:
    y, groups, k = case
    for stratified, cost in ((False, twin.rows_so_far), (True, twin.balanced_folds(y))):
        splitter = KFold(k, shuffle=seed is not None, stratified=stratified, rng=seed)
        codes = splitter.assignments(None, y, groups)[0]
        key = None if seed is None else twin.stream_key(splitter._key, 0)
        assert codes.tolist() == twin.spread(groups, k, key, cost)
        rows = np.bincount(codes, minlength=k)
        assert rows.all()
        assert stratified or np.ptp(rows) <= max(Counter(groups).values())


def test_groups_in_order_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.permutation(np.arange(1, 30))  # all differ, since ties are broken by name there
    groups = rng.permutation(np.repeat(np.arange(29), sizes))
    mine = KFold(4, shuffle=False).split(groups, groups=groups)
    peer = model_selection.GroupKFold(4).split(groups, groups=groups)
    assert [test.tolist() for _, test in mine] == [test.tolist() for _, test in peer]


def test_stratified_groups_are_as_balanced_as_scikit_learns() -> None:
    worse, peer = [], model_selection.StratifiedGroupKFold
    for seed in range(8):
        rng = np.random.default_rng(seed)
        groups = rng.integers(0, 40, 400)
        y = (rng.random(400) < rng.random(40)[groups]).astype(int) + (rng.random(400) < 0.1)
        spreads = []
        for splitter in (KFold(5, stratified=True, rng=seed), peer(5, shuffle=True, random_state=seed)):
            codes = np.empty(400, dtype=int)
            for fold, (_, test) in enumerate(splitter.split(y, y, groups)):
                codes[test] = fold
            found = sizes(y, codes, 5)
            spreads.append((found / found.sum(axis=1, keepdims=True)).std(axis=1).mean())
        worse.append(spreads[0] - spreads[1])
    assert np.mean(worse) < 0.005


def test_many_groups_and_folds() -> None:
    groups = np.random.default_rng(0).integers(0, 300, 2000).tolist()
    splitter = KFold(41, rng=1)
    key = twin.stream_key(splitter._key, 0)
    assert splitter.assignments(groups, None, groups)[0].tolist() == twin.spread(groups, 41, key, twin.rows_so_far)


def test_names_of_groups_dont_matter() -> None:
    groups = np.random.default_rng(0).integers(0, 9, 60)
    names = np.array(list("zxcvbnmas"))[groups]
    for splitter in (KFold(4, rng=1), KFold(4, shuffle=False)):
        assert (splitter.assignments(groups, None, groups) == splitter.assignments(groups, None, names)).all()


def test_repetitions_of_groups_differ() -> None:
    groups = np.repeat(np.arange(20), np.arange(10, 30))
    codes = KFold(4, n_repeats=50, rng=1).assignments(groups, groups=groups)
    assert len({row.tobytes() for row in codes}) == 50


# Input --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("splitter", "data", "message"),
    [
        (KFold(4), {"X": range(3)}, "n_splits=4 needs 4 rows or more, got 3"),
        (KFold(3), {"X": range(5), "groups": [1, 1, 2, 2, 2]}, "n_splits=3 needs 3 groups or more, got 2"),
        (
            KFold(3, stratified=True),
            {"X": None, "y": [*"aaabb"]},
            "n_splits=3 needs 3 rows or more of each class, but class 'b' has 2",
        ),
        (
            KFold(2, stratified=True),
            {"X": None, "y": [*"aabb"], "groups": [1, 2, 3, 3]},
            "n_splits=2 needs 2 groups or more of each class, but class 'b' has 1",
        ),
        (KFold(2, stratified=True), {"X": range(9)}, "stratified=True needs y, the class of each row, got None"),
        (KFold(2, stratified=True), {"X": None, "y": [0.5, 1.0, 2.0]}, "y must hold classes .*has 0.5 at row 0"),
        (
            KFold(2, stratified=True),
            {"X": None, "y": [0.0, np.nan, np.nan]},
            "y must be finite, but has 2 NaN values, the first at row 1",
        ),
        (KFold(2, stratified=True), {"X": None, "y": [1, None, "a"]}, "y has 1 missing value, the first at row 1"),
        (KFold(2), {"X": range(3), "y": [0, 1]}, "y has 2 rows, but X has 3"),
        (KFold(2), {"X": range(3), "y": [0, 1, 1], "groups": [0, 1]}, "groups has 2 rows, but X has 3"),
        (KFold(2), {"X": range(3), "groups": [0, np.nan, 1]}, "groups must not be NaN, got 1"),
        (KFold(2), {"X": None}, "one of X, y, groups must be given"),
        (KFold(2), {"X": []}, "X is empty"),
    ],
)
def test_data_that_cannot_be_split(splitter: KFold, data: dict[str, Any], message: str) -> None:
    for call in (splitter.split, splitter.assignments, splitter.plan):
        with pytest.raises(ValueError, match=message):
            call(**data)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_splits": 1}, "n_splits must be an integer at least 2, got 1"),
        ({"n_splits": 2.0}, "n_splits must be an integer, got 2.0"),
        ({"n_repeats": 0}, "n_repeats must be an integer at least 1, got 0"),
        ({"shuffle": 1}, "shuffle must be True or False, got 1"),
        ({"stratified": "y"}, "stratified must be True or False, got 'y'"),
        ({"rng": "seed"}, "rng must be"),
        ({"shuffle": False, "n_repeats": 2}, "n_repeats goes with shuffle=True"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KFold(**options)
