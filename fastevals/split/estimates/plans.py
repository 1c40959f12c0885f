"""Splits of any origin, as the package works with them: a splitter's, or those that a user has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check

__all__ = ["AssignedFolds", "CodedSplits", "Plan", "SplitPairs", "plan_of", "shape_of"]

Rows = NDArray[np.intp]


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

    def pair(self, repeat: int, fold: int) -> tuple[Rows, Rows]:
        """Give the rows to train on and those to test on."""


@dataclass(frozen=True, slots=True, eq=False)
class SplitPairs:
    """Pairs of rows, each a repetition of its own: their test sets may overlap.

    Attributes
    ----------
    pairs : list of (train, test)
        Numbers of rows.
    n_samples : int
        Rows.
    """

    pairs: list[tuple[Rows, Rows]]
    n_samples: int
    n_folds: int = 1
    first: int = 1

    @property
    def n_repeats(self) -> int:
        """Pairs."""
        return len(self.pairs)

    def codes(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Give 1 for rows that are tested."""
        codes = np.zeros((stop - start, self.n_samples), dtype=np.uint8)
        for row, (_, test) in zip(codes, self.pairs[start:stop], strict=True):
            row[test] = 1
        return codes

    def pair(self, repeat: int, fold: int) -> tuple[Rows, Rows]:
        """Give a pair."""
        return self.pairs[repeat]


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


def plan_of(name: str, splitter: Any, X: Any, y: Any, groups: Any) -> Plan:
    """Give the splits that a splitter, of ours or of scikit-learn's kind, or pairs of rows make of the data."""
    n = check.check_same_rows(X=X, y=y, groups=groups)
    check.check_instance(name, splitter)
    if callable(getattr(splitter, "plan", None)):
        plan: Plan = splitter.plan(X, y, groups)
        check.check_split_number(name, plan.n_repeats * plan.n_folds)
        return plan
    if callable(getattr(splitter, "split", None)) and not isinstance(splitter, (str, bytes)):
        return SplitPairs(check.as_split_pairs(name, splitter.split(X, y, groups), n), n)
    return SplitPairs(check.as_split_pairs(name, check.check_splitter(name, splitter), n), n)


def shape_of(plan: CodedSplits) -> tuple[int, int]:
    """Give the repetitions and folds that results have: pairs are the folds of one repetition."""
    return (1, plan.n_repeats) if isinstance(plan, SplitPairs) else (plan.n_repeats, plan.n_folds)
