"""A common form for splits from a splitter, from an array of fold numbers, or from a user's own pairs.

`FoldAssignments` lists the test rows of each split; `TrainTestSplits` also lists training rows, so that a learner can
be fitted. The spread of results between test sets cannot show the effect of something that all test sets share
(`FixedByDesign`), so intervals add the missing variance. Stratified test sets all have the same class shares, which
would vary in new data. Splits that all test the same rows (one hold-out set, different training rows) hide all variance
due to rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._options import check_instance, is_splitter, show
from fastevals._validation.arrays import as_array, text_array
from fastevals.split.checks import check_same_rows
from fastevals.split.splitters.base import Pair, Rows, Splitter
from fastevals.split.splitters.bootstrap_split import BootstrapSplit

MOST_SPLITS = 10**9

# The share of the classes' variance that a stratified bootstrap holds fixed. It tests the rows that it did not draw. If
# each class is drawn separately, the number of its test rows has variance 1/e - 2/e^2 per row of the class. If as many
# rows were left out regardless of class, this variance would be 1/e (1 - 1/e). The difference, 1/e^2, is held fixed: it
# is the share 1/(e - 1) of the latter.
OUT_OF_BAG = 1 / (math.e - 1)
MOST_TEST_SETS_CHECKED = 50  # test sets examined to see whether a user's splits are stratified
AS_BY_CHANCE = 0.1  # share of the squared differences expected by chance; below it, test sets count as stratified


class FoldAssignments(Protocol):
    """The test rows of each split of one data set, as one code per row and repetition.

    A row is in test set ``code - first`` of the repetition if this number is in ``[0, n_folds)``, otherwise in no test
    set.
    """

    @property
    def n_samples(self) -> int:
        """Number of rows."""

    @property
    def n_repeats(self) -> int:
        """Number of repetitions."""

    @property
    def n_folds(self) -> int:
        """Number of test sets per repetition."""

    @property
    def first(self) -> int:
        """Code of the first test set."""

    @property
    def shape(self) -> tuple[int, int]:
        """Repetitions and folds in results."""

    def codes(self, start: int, stop: int) -> NDArray[Any]:
        """Return the codes of some repetitions, of shape (stop - start, n_samples)."""


class TrainTestSplits(FoldAssignments, Protocol):
    """Splits with training and test rows: a splitter's `SplitPlan`, or `ListedSplits`."""

    def pairs(self) -> Iterator[Pair]:
        """Yield training and test rows: the folds of the first repetition, then of the next."""


@dataclass(frozen=True, slots=True, eq=False)
class ListedSplits:
    """Pairs of training and test rows. Each pair is a repetition of its own, because test sets may overlap."""

    every: list[Pair]
    n_samples: int
    n_folds: int = 1
    first: int = 1

    @property
    def n_repeats(self) -> int:
        """Number of pairs."""
        return len(self.every)

    @property
    def shape(self) -> tuple[int, int]:
        """One repetition with the pairs as folds."""
        return 1, len(self.every)

    def codes(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Return 1 for test rows and 0 for others."""
        codes = np.zeros((stop - start, self.n_samples), dtype=np.uint8)
        for row, (_, test) in zip(codes, self.every[start:stop], strict=True):
            row[test] = 1
        return codes

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs."""
        return iter(self.every)


@dataclass(frozen=True, slots=True, eq=False)
class AssignedFolds:
    """For each repetition and row, the number of the fold that tests the row; training rows are unknown."""

    folds: NDArray[Any]
    n_folds: int
    first: int = 0

    @property
    def n_repeats(self) -> int:
        """Number of repetitions, the rows of `folds`."""
        return len(self.folds)

    @property
    def n_samples(self) -> int:
        """Number of samples, the columns of `folds`."""
        return int(self.folds.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Repetitions and folds."""
        return self.n_repeats, self.n_folds

    def codes(self, start: int, stop: int) -> NDArray[Any]:
        """Return the rows of `folds` for repetitions `start` to `stop - 1`."""
        return self.folds[start:stop]


class FixedByDesign(NamedTuple):
    """What all test sets have in common: the rows, or the class shares.

    The spread between test sets cannot show the effect of what they have in common.
    """

    kind: str | None  # "rows": the rows themselves; "classes": the class shares; None: nothing, except by chance
    n_rows: int  # in one test set, if all test sets are the same rows; otherwise in all the data
    share: float = 1.0  # share of the variance due to `kind` that test sets don't show


class SplitDesign(NamedTuple):
    """Splits in the form that is needed to make fits and estimates."""

    pairs: Callable[[], Iterator[Pair]]  # yields all pairs anew in each call
    shape: tuple[int, int]  # numbers of repetitions and folds
    fixed: FixedByDesign

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return math.prod(self.shape)


def design_splits(name: str, splitter: Any, X: Any, y: Any, groups: Any, rows: Rows | None = None) -> SplitDesign:
    """Return the design of the splits that a splitter, or a list of pairs, makes of the data.

    If the data are only part of the user's rows, pass their row numbers as `rows`; the design's pairs then
    contain those numbers.
    """
    splits = resolve_splits(name, splitter, X, y, groups)
    fixed = find_fixed_by_design(splitter, splits, y)
    if rows is None:
        return SplitDesign(splits.pairs, splits.shape, fixed)
    return SplitDesign(lambda: (Pair(rows[train], rows[test]) for train, test in splits.pairs()), splits.shape, fixed)


def resolve_splits(name: str, splitter: Any, X: Any, y: Any, groups: Any) -> TrainTestSplits:
    """Return the data's splits, given our splitter, a splitter with scikit-learn's interface, or pairs of rows."""
    n = check_same_rows(X=X, y=y, groups=groups)
    check_instance(name, splitter)
    if isinstance(splitter, Splitter):
        plan = splitter.plan(X, y, groups)
        _check_split_number(name, plan.n_splits)
        return plan
    pairs = splitter.split(X, y, groups) if is_splitter(splitter) else splitter
    return ListedSplits([Pair(*each) for each in _as_split_pairs(name, pairs, n)], n)


def find_fixed_by_design(splitter: Any, splits: FoldAssignments, y: Any) -> FixedByDesign:
    """Return what is the same in all test sets: their rows, their class shares, or nothing.

    For our splitters this is known; for others, test sets are compared.
    """
    if isinstance(splitter, Splitter):
        share = OUT_OF_BAG if isinstance(splitter, BootstrapSplit) else 1.0
        return FixedByDesign("classes" if getattr(splitter, "stratified", False) else None, splits.n_samples, share)
    codes = splits.codes(0, min(splits.n_repeats, -(-MOST_TEST_SETS_CHECKED // splits.n_folds)))
    if splits.n_folds == 1 and splits.n_repeats > 1:
        tested = codes[0] == splits.first
        each_repeat = (each for k in range(splits.n_repeats) for each in splits.codes(k, k + 1))
        if all(((each == splits.first) == tested).all() for each in each_repeat):
            return FixedByDesign("rows", int(tested.sum()))
    return FixedByDesign("classes" if _class_shares_are_alike(codes, splits, y) else None, splits.n_samples)


def _class_shares_are_alike(codes: NDArray[Any], splits: FoldAssignments, y: Any) -> bool:
    """Return whether class shares differ less between test sets than they would by chance."""
    labels = as_array("y", y)
    if labels.ndim != 1 or labels.dtype.kind not in "biuOUST":
        return False
    classes, number = np.unique(
        text_array(map(str, labels)) if labels.dtype.kind == "O" else labels, return_inverse=True
    )
    if not 1 < classes.size <= splits.n_samples / 2:
        return False
    counts = np.array([
        np.bincount(number[repeat_codes == splits.first + fold], minlength=classes.size)
        for repeat_codes in codes for fold in range(splits.n_folds)
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
        raise ValueError(
            f"{name} makes {n:.3g} splits, but at most {MOST_SPLITS:.3g} can be measured: request fewer (n_repeats=)"
        )


def _as_split_pairs(name: str, pairs: Any, n: int) -> list[tuple[Rows, Rows]]:
    """Return pairs of training and test row numbers; no row may be in both parts."""
    if isinstance(pairs, (str, bytes, dict, np.ndarray)) or not isinstance(pairs, Iterable):
        raise ValueError(
            f"{name} must be a splitter such as KFold(10), have split(X, y, groups) as scikit-learn's, or hold pairs "
            f"(train, test) of row numbers; got {show(pairs)}"
        )
    checked: list[tuple[Rows, Rows]] = []
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
                f"{name}[{number}] has {sorted_unique(shared).size} rows in both parts, row {shared[0]} among them"
            )
        checked.append((parts[0], parts[1]))
    if not checked:
        raise ValueError(f"{name} is empty: it must have at least one split")
    return checked


def _row_numbers(name: str, rows: Any, n: int) -> Rows:
    array = as_array(name, rows)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be 1-D with at least one row number, got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold row numbers, got dtype {array.dtype}")
    if int(array.min()) < 0 or int(array.max()) >= n:
        odd = array[(array < 0) | (array >= n)][0]
        raise ValueError(f"{name} must hold row numbers from 0 to {n - 1}, got {odd}")
    return array.astype(np.intp, copy=False)
