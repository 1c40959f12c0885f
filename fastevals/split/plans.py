"""Splits of any origin, as the package works with them: a splitter's, or those that a user has."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_array
from fastevals._validation.options import check_instance, is_splitter, show
from fastevals.split.checks import check_same_rows, n_rows
from fastevals.split.splitters.base import Pair, Splitter
from fastevals.split.splitters.bootstrap_split import BootstrapSplit

MOST_SPLITS = 10**9


def take_rows(data: Any, rows: NDArray[np.intp] | None) -> Any:
    """Return a copy of the rows, repeated ones too, in the kind of the data; None gives all."""
    if data is None:
        return None
    if rows is None:  # a learner may work in place
        rows = np.arange(n_rows("X", data))
    if hasattr(data, "iloc"):  # pandas, whose own brackets take labels
        return data.iloc[rows]
    if type(data).__module__.partition(".")[0] == "pyarrow":  # whose brackets take one number, or a column's name
        return data.take(rows)
    if isinstance(data, Sequence):
        return [copy.copy(data[row]) for row in rows.tolist()]
    if hasattr(data, "tocsr"):  # not all sparse formats can be indexed
        return data.tocsr()[rows]
    return data[rows]


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
        """Return the codes of some repetitions: of a row less `first`, the fold that it is tested in, or no fold."""


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
        """Return some rows."""
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
    """Return the splits that a splitter, of ours or of scikit-learn's kind, or pairs of rows make of the data."""
    n = check_same_rows(X=X, y=y, groups=groups)
    check_instance(name, splitter)
    if isinstance(splitter, Splitter):
        plan = splitter.plan(X, y, groups)
        _check_split_number(name, plan.n_splits)
        return plan
    pairs = splitter.split(X, y, groups) if is_splitter(splitter) else splitter
    return SplitPairs([Pair(*each) for each in _as_split_pairs(name, pairs, n)], n)


def shape_of(plan: CodedSplits) -> tuple[int, int]:
    """Return the repetitions and folds that results have: pairs are the folds of one repetition."""
    return (1, plan.n_repeats) if isinstance(plan, SplitPairs) else (plan.n_repeats, plan.n_folds)


def splits_of(plan: Plan, held: Held, part: Rows | None = None) -> Splits:
    """Return splits of all rows, or those of a part of the rows, as rows of the whole."""
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
    """Return whether the shares of the classes differ less between test sets than they would by chance."""
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


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_split_number(name: str, n: int) -> None:
    """Raise if there are more splits than can be measured."""
    if n > MOST_SPLITS:
        raise ValueError(f"{name} makes {n:.3g} splits, of which at most {MOST_SPLITS:.3g} can be measured: draw some")


def _as_split_pairs(name: str, pairs: Any, n: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return pairs of training and test rows as numbers of rows, none in both parts."""
    if isinstance(pairs, (str, bytes, dict, np.ndarray)) or not isinstance(pairs, Iterable):
        raise ValueError(
            f"{name} must be a splitter such as KFold(10), have split(X, y, groups) as scikit-learn's, or hold pairs "
            f"(train, test) of row numbers; got {show(pairs)}"
        )
    found = []
    for number, pair in enumerate(pairs):
        try:
            train, test = pair
        except (TypeError, ValueError):
            raise ValueError(
                f"{name}[{number}] must be a pair (train, test) of row numbers, got {show(pair)}"
            ) from None
        parts = [
            _row_numbers(f"{name}[{number}] ({part})", rows, n) for part, rows in (("train", train), ("test", test))
        ]
        tested = np.bincount(parts[1], minlength=n)
        if tested.max() > 1:
            raise ValueError(f"{name}[{number}] (test) has row {int(np.argmax(tested > 1))} more than once")
        shared = parts[0][tested[parts[0]] > 0]
        if shared.size:
            raise ValueError(
                f"{name}[{number}] has {np.unique(shared).size} rows in both parts, row {shared[0]} among them"
            )
        found.append((parts[0], parts[1]))
    if not found:
        raise ValueError(f"{name} is empty: it must have at least one split")
    return found


def _row_numbers(name: str, rows: Any, n: int) -> NDArray[np.intp]:
    array = as_array(name, rows)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be 1-D with at least one row number, got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold row numbers, got dtype {array.dtype}")
    if int(array.min()) < 0 or int(array.max()) >= n:
        odd = array[(array < 0) | (array >= n)][0]
        raise ValueError(f"{name} must hold row numbers from 0 to {n - 1}, got {odd}")
    return array.astype(np.intp, copy=False)
