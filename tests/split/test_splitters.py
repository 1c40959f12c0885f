"""All splitters: scikit-learn's protocol, and the same splits each time."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB

from fastevals.split.splitters.base import Splitter
from fastevals.split.splitters.bootstrap_split import BootstrapSplit
from fastevals.split.splitters.hold_out import HoldOut
from fastevals.split.splitters.k_fold import KFold
from fastevals.split.splitters.leave_out import LeaveOneOut, LeavePOut
from tests.test_validation import ODD_ARRAYS, ODD_SCALARS, complaint

RNG = np.random.default_rng(0)
GROUPS = RNG.permutation(np.repeat(np.arange(12), 4))
Y = GROUPS % 2
X = RNG.standard_normal((48, 2)) + Y[:, None]

SPLITTERS: dict[str, Splitter] = {
    "hold-out": HoldOut(0.3, n_repeats=4, rng=1),
    "stratified hold-out": HoldOut(10, validation_size=0.2, n_repeats=4, stratified=True, rng=1),
    "k-fold": KFold(4, n_repeats=2),
    "stratified k-fold": KFold(3, n_repeats=2, stratified=True, rng=np.random.default_rng(1)),
    "blocks": KFold(4, shuffle=False),
    "leave-one-out": LeaveOneOut(),
    "leave-2-out": LeavePOut(2),
    "random leave-2-out": LeavePOut(2, n_repeats=7),
    "bootstrap": BootstrapSplit(6),
    "stratified bootstrap": BootstrapSplit(6, stratified=True, rng=[1, 2]),
}
GIVEN_GROUPS = [name for name in SPLITTERS if name != "stratified hold-out"]  # it needs 10 of the 12 groups for testing
every = pytest.mark.parametrize("name", SPLITTERS)


def lists(splitter: Splitter, *data: Any, **options: Any) -> list[Any]:
    return [(train.tolist(), test.tolist()) for train, test in splitter.split(*data, **options)]


@every
def test_the_protocol(name: str) -> None:
    splitter = SPLITTERS[name]
    splits = list(splitter.split(X, Y))
    assert len(splits) == splitter.get_n_splits(X, Y) == splitter.plan(X, Y).n_splits
    assert type(splitter.get_n_splits(X, Y)) is int
    for train, test in splits:
        assert train.dtype == test.dtype == np.intp
        assert not set(train.tolist()) & set(test.tolist())
        assert train.size
        assert test.size
        assert (np.diff(test) > 0).all()
        assert 0 <= min(train.min(), test.min()) <= max(train.max(), test.max()) < 48


@every
def test_assignments_and_plans_say_the_same_as_splits(name: str) -> None:
    splitter = SPLITTERS[name]
    codes, plan, splits = splitter.assignments(X, Y), splitter.plan(X, Y), lists(splitter, X, Y)
    assert codes.shape == (plan.n_repeats, plan.n_samples)
    assert codes.dtype == plan.dtype == np.uint8
    places = [(repeat, fold) for repeat in range(plan.n_repeats) for fold in range(plan.n_folds)]
    for (repeat, fold), (train, test) in zip(places, splits, strict=True):
        assert np.flatnonzero(codes[repeat].astype(int) - plan.first == fold).tolist() == test
        if (repeat, fold) in (places[0], places[len(places) // 2], places[-1]):
            again = plan.indices(plan.codes(repeat, repeat + 1)[0], fold)
            assert (again.train.tolist(), again.test.tolist()) == (train, test)


@every
def test_the_same_splits_in_each_call_and_copy(name: str) -> None:
    splitter = SPLITTERS[name]
    expected = lists(splitter, X, Y)
    copies = [splitter, copy.copy(splitter), copy.deepcopy(splitter), pickle.loads(pickle.dumps(splitter))]
    assert all(lists(each, X, Y) == expected for each in copies)
    assert all(each == splitter and repr(each) == repr(splitter) for each in copies[:2])
    plan = pickle.loads(pickle.dumps(splitter.plan(X, Y)))
    assert (plan.codes(0, plan.n_repeats) == splitter.assignments(X, Y)).all()


@pytest.mark.parametrize("name", GIVEN_GROUPS)
def test_groups_are_never_split(name: str) -> None:
    for train, test in SPLITTERS[name].split(X, Y, GROUPS):
        assert not set(GROUPS[train]) & set(GROUPS[test])


@pytest.mark.parametrize(
    "data",
    [X.tolist(), pd.DataFrame(X), pl.DataFrame(X), pa.table({"a": X[:, 0]}), sparse.csr_array(X), range(48), None],
    ids=lambda data: type(data).__name__,
)
def test_only_the_number_of_rows_matters(data: Any) -> None:
    for splitter in SPLITTERS.values():
        assert (splitter.assignments(data, pd.Series(Y, index=range(48, 0, -1))) == splitter.assignments(X, Y)).all()


def test_new_seeds_and_seeds_told_apart() -> None:
    for make in (HoldOut, KFold, BootstrapSplit):
        assert (make(rng=1).assignments(X) == make(rng=1).assignments(X)).all()
        assert (make(rng=1).assignments(X) != make(rng=2).assignments(X)).any()
        assert (make().assignments(X) != make().assignments(X)).any()
        assert make(rng=1) == make(rng=1) != make(rng=2)
        assert len({make(rng=1), make(rng=1), make()}) == 2
        seeds = np.random.default_rng(1)
        assert make(rng=seeds) != make(rng=seeds)
    assert repr(KFold(2, n_repeats=5, rng=1)) == (
        "KFold(n_splits=2, n_repeats=5, shuffle=True, stratified=False, rng=1)"
    )
    assert repr(LeaveOneOut()) == "LeaveOneOut()"


def test_numbers_of_splits_without_data() -> None:
    assert KFold(5, n_repeats=3).get_n_splits() == 15
    assert HoldOut(n_repeats=3).get_n_splits() == 3
    assert BootstrapSplit(4).get_n_splits() == 4
    for splitter in (LeaveOneOut(), LeavePOut(2)):
        with pytest.raises(ValueError, match="one of X, y, groups must be given"):
            splitter.get_n_splits()


def test_cv_of_scikit_learn_by_leave_one_out() -> None:
    scores, predicted = (call(GaussianNB(), X, Y, cv=LeaveOneOut()) for call in (cross_val_score, cross_val_predict))
    assert scores.tolist() == (predicted == Y).tolist()


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", [name for name in GIVEN_GROUPS if name not in ("leave-one-out", "leave-2-out")])
def test_cv_of_scikit_learn(name: str) -> None:
    splitter, model = SPLITTERS[name], GaussianNB()
    for groups in (None, GROUPS):
        splits = list(splitter.split(X, Y, groups))
        expected = [model.fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in splits]
        assert cross_val_score(model, X, Y, cv=splitter, groups=groups).tolist() == expected
        assert cross_validate(model, X, Y, cv=splitter, groups=groups)["test_score"].tolist() == expected


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grid_search_of_scikit_learn(n_jobs: int | None) -> None:
    splitter, model = KFold(3, n_repeats=2, stratified=True), LogisticRegression(C=0.01)
    for groups in (None, GROUPS):
        search = GridSearchCV(model, {"C": [0.01, 1.0]}, cv=splitter, n_jobs=n_jobs)
        found = search.fit(X, Y, groups=groups).cv_results_
        for split, (train, test) in enumerate(splitter.split(X, Y, groups)):
            assert found[f"split{split}_test_score"][0] == model.fit(X[train], Y[train]).score(X[test], Y[test])


def test_classes_of_odd_types() -> None:
    large = np.array([2**63, 2**63 + 1] * 30, dtype="u8")
    with pytest.raises(ValueError, match="y must fit 64-bit signed integers, got 9223372036854775809"):
        KFold(3, stratified=True).assignments(None, large)
    half, splitter = np.array([0.0, 1.0] * 30, dtype=np.float16), KFold(3, stratified=True, rng=0)
    assert (splitter.assignments(None, half) == splitter.assignments(None, half.astype(int))).all()


@pytest.mark.parametrize("argument", ["X", "y", "groups"])
@pytest.mark.parametrize("splitter", [HoldOut(0.5, stratified=True), KFold(2, stratified=True), LeavePOut(1)], ids=repr)
def test_odd_data_work_or_raise_one_clear_line(splitter: Splitter, argument: str) -> None:
    data: dict[str, Any] = {"X": range(4), "y": [0, 1, 1, 0], "groups": [1, 2, 3, 4]}
    found = {
        name: complaint(lambda value: splitter.assignments(**{**data, argument: value}), value)
        for name, value in ODD_ARRAYS.items()
    }
    assert {name: text for name, text in found.items() if text} == {}


@pytest.mark.parametrize(
    ("make", "option"),
    [
        *[(HoldOut, each) for each in ("test_size", "train_size", "validation_size", "n_repeats", "rng")],
        *[(KFold, each) for each in ("n_splits", "n_repeats", "rng")],
        *[(LeavePOut, each) for each in ("p", "n_repeats")],
        (BootstrapSplit, "n_repeats"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_odd_options_work_or_raise_one_clear_line(make: Any, option: str) -> None:
    needed = {"p": 1} if make is LeavePOut else {}
    found = {
        name: complaint(lambda value: make(**{**needed, option: value}), value) for name, value in ODD_SCALARS.items()
    }
    assert {name: text for name, text in found.items() if text} == {}
