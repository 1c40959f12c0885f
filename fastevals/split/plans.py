"""Splits of any origin, as the package works with them: a splitter's, or those that a user has."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.split.splitters.base import Pair, Splitter
from fastevals.split.splitters.bootstrap_split import BootstrapSplit

__all__ = ["AssignedFolds", "CodedSplits", "Held", "Plan", "Splits", "held_by", "plan_of", "shape_of", "splits_of"]

Rows = NDArray[np.intp]

# Of a class drawn by itself, the rows that are left out vary by 1/e - 2/e^2 a row; of so many left out of all by
# 1/e (1 - 1/e). The rest of that is fixed.
OUT_OF_BAG = 1 / (math.e - 1)
LOOKED_AT = 50  # test sets by which splits of others are told to be stratified
AS_BY_CHANCE = 0.1  # of the squares by which counts of classes differ by chance: as alike as rounding lets them be


class Held(NamedTuple):
    """What is the same in all test sets of splits, and how many rows it is known of.

    Attributes
    ----------
    what : {"rows", "classes", None}
        The rows themselves; the shares of the classes; nothing but by chance.
    n_rows : int
        Rows of one test set, if these are the same; else of all the data.
    share : float
        Of the variance of what is the same: how much of it the test sets don't show.
    """

    what: str | None
    n_rows: int
    share: float = 1.0


class CodedSplits(Protocol):
    """Which rows each split of one data set tests."""

    @property
    def n_samples(self) -> int:
        """Rows."""

    @property
    def n_repeats(self) -> int:
        """Repetitions."""

    @property
    def n_folds(self) -> int:
        """Test sets of each."""

    @property
    def first(self) -> int:
        """The code of the first of them."""

    def codes(self, start: int, stop: int) -> NDArray[Any]:
        """Give the codes of some repetitions: of a row less `first`, the fold that it is tested in, or no fold."""


class Plan(CodedSplits, Protocol):
    """Splits of one data set to train and to test on: a splitter's `SplitPlan`, or pairs."""

    def pairs(self) -> Iterator[Pair]:
        """Go through the rows to train on and those to test on: the folds of the first repetition, then of the next."""


@dataclass(frozen=True, slots=True, eq=False)
class SplitPairs:
    """Pairs of rows, each a repetition of its own: their test sets may overlap.

    Attributes
    ----------
    every : list of Pair
        Numbers of rows.
    n_samples : int
        Rows.
    """

    every: list[Pair]
    n_samples: int
    n_folds: int = 1
    first: int = 1

    @property
    def n_repeats(self) -> int:
        """Pairs."""
        return len(self.every)

    def codes(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Give 1 for rows that are tested."""
        codes = np.zeros((stop - start, self.n_samples), dtype=np.uint8)
        for row, (_, test) in zip(codes, self.every[start:stop], strict=True):
            row[test] = 1
        return codes

    def pairs(self) -> Iterator[Pair]:
        """Go through them."""
        return iter(self.every)


@dataclass(frozen=True, slots=True, eq=False)
class AssignedFolds:
    """The number of the fold that each row is tested in, of shape (n_repeats, n_samples)."""

    folds: NDArray[Any]
    n_folds: int
    first: int = 0

    @property
    def n_repeats(self) -> int:
        """Rows of the array."""
        return len(self.folds)

    @property
    def n_samples(self) -> int:
        """Columns of the array."""
        return int(self.folds.shape[1])

    def codes(self, start: int, stop: int) -> NDArray[Any]:
        """Give some rows."""
        return self.folds[start:stop]


class Splits(NamedTuple):
    """Splits as fits take them.

    Attributes
    ----------
    pairs : callable
        Goes through the pairs, anew in each call: they are not held.
    shape : (int, int)
        Repetitions and folds that results have.
    held : Held
        What is the same in all test sets.
    """

    pairs: Callable[[], Iterator[Pair]]
    shape: tuple[int, int]
    held: Held

    @property
    def number(self) -> int:
        """How many."""
        return math.prod(self.shape)


def plan_of(name: str, splitter: Any, X: Any, y: Any, groups: Any) -> Plan:
    """Give the splits that a splitter, of ours or of scikit-learn's kind, or pairs of rows make of the data."""
    n = check.check_same_rows(X=X, y=y, groups=groups)
    check.check_instance(name, splitter)
    if isinstance(splitter, Splitter):
        plan = splitter.plan(X, y, groups)
        check.check_split_number(name, plan.n_splits)
        return plan
    pairs = splitter.split(X, y, groups) if check.is_splitter(splitter) else splitter
    return SplitPairs([Pair(*each) for each in check.as_split_pairs(name, pairs, n)], n)


def shape_of(plan: CodedSplits) -> tuple[int, int]:
    """Give the repetitions and folds that results have: pairs are the folds of one repetition."""
    return (1, plan.n_repeats) if isinstance(plan, SplitPairs) else (plan.n_repeats, plan.n_folds)


def splits_of(plan: Plan, held: Held, part: Rows | None = None) -> Splits:
    """Give splits of all rows, or those of a part of the rows, as rows of the whole."""
    if part is None:
        return Splits(plan.pairs, shape_of(plan), held)
    return Splits(lambda: (Pair(part[train], part[test]) for train, test in plan.pairs()), shape_of(plan), held)


def held_by(splitter: Any, plan: CodedSplits, y: Any) -> Held:
    """Tell what a splitter of ours holds fixed; of other splits, what their test sets show."""
    if isinstance(splitter, Splitter):
        share = OUT_OF_BAG if isinstance(splitter, BootstrapSplit) else 1.0
        return Held("classes" if getattr(splitter, "stratified", False) else None, plan.n_samples, share)
    repeats = min(plan.n_repeats, -(-LOOKED_AT // plan.n_folds))
    codes = plan.codes(0, repeats)
    if plan.n_folds == 1 and plan.n_repeats > 1:
        tested = codes[0] == plan.first
        if all(((each == plan.first) == tested).all() for k in range(plan.n_repeats) for each in plan.codes(k, k + 1)):
            return Held("rows", int(tested.sum()))
    return Held("classes" if _alike(codes, plan, y) else None, plan.n_samples)


def _alike(codes: NDArray[Any], plan: CodedSplits, y: Any) -> bool:
    """Tell whether the shares of the classes differ less between test sets than they would by chance."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.dtype.kind not in "biuOUS":
        return False
    classes, number = np.unique(labels.astype(str) if labels.dtype.kind == "O" else labels, return_inverse=True)
    if not 1 < classes.size <= plan.n_samples / 2:
        return False
    counts = np.array([
        np.bincount(number[of_repeat == plan.first + fold], minlength=classes.size)
        for of_repeat in codes for fold in range(plan.n_folds)
    ])  # fmt: skip
    shares, sizes = np.bincount(number) / number.size, counts.sum(axis=1, keepdims=True)
    distance = np.abs(counts - sizes * shares)
    with np.errstate(divide="ignore", invalid="ignore"):
        differs = np.sum(distance**2 / (sizes * shares * (1 - sizes / number.size)))
    return bool((distance < 1).all() and differs < AS_BY_CHANCE * len(counts) * (classes.size - 1))
