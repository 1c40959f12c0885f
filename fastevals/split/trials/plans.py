"""Splits as trials need them: of a part of the rows, or one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastevals.split.estimates.plans import Plan, SplitPairs, shape_of

__all__ = ["PartPlan", "TrialPlan"]

Rows = NDArray[np.intp]


class TrialPlan:
    """Splits that are made of those of another plan.

    Attributes
    ----------
    plan : Plan
        The others.
    """

    __slots__ = ()
    plan: Plan

    def pair(self, repeat: int, fold: int) -> tuple[Rows, Rows]:
        """Give the rows to train on and those to test on."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, int]:
        """Repetitions and folds of results."""
        return shape_of(self.plan)

    @property
    def items(self) -> list[tuple[int, int]]:
        """The repetition and fold of each split."""
        return [(repeat, fold) for repeat in range(self.plan.n_repeats) for fold in range(self.plan.n_folds)]


@dataclass(frozen=True, slots=True, eq=False)
class PartPlan(TrialPlan):
    """Splits of a part of the rows, as rows of the whole.

    Attributes
    ----------
    part : ndarray of intp
        The rows of the part.
    plan : Plan
        Its splits.
    """

    part: Rows
    plan: Plan

    def pair(self, repeat: int, fold: int) -> tuple[Rows, Rows]:
        """Give the rows to train on and those to test on."""
        train, test = self.plan.pair(repeat, fold)
        return self.part[train], self.part[test]

    @classmethod
    def of_pair(cls, train: Rows, test: Rows) -> PartPlan:
        """Give the plan of one split, of rows of the whole."""
        rows = np.arange(max(int(train.max()), int(test.max())) + 1)
        return cls(rows, SplitPairs([(train, test)], rows.size))
