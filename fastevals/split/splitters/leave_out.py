"""Leave-one-out and leave-p-out."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastevals._kernels.splits import fill_combinations
from fastevals._options import check_integer
from fastevals._random import seed_key
from fastevals.split.splitters.assignments import Codes, FixedAssignment, RandomAssignment, SamplingFrame
from fastevals.split.splitters.base import TEST, TRAIN, SplitPlan, Splitter, set_fields


@dataclass(frozen=True, slots=True)
class LeaveOneOut(Splitter):
    """Test each row alone, after training on all other rows; with groups, test each group alone.

    Examples
    --------
    >>> from fastevals import LeaveOneOut
    >>> [(train.tolist(), test.tolist()) for train, test in LeaveOneOut().split(["a", "b", "c"])]
    [([1, 2], [0]), ([0, 2], [1]), ([0, 1], [2])]
    """

    def _plan(self, n_samples: int, y: Any, groups: Any) -> SplitPlan:
        frame = SamplingFrame.from_rows(n_samples, groups)
        frame.check_sizes(2, "LeaveOneOut")
        n = frame.n_units
        dtype = np.min_scalar_type(n - 1)
        return SplitPlan(frame, FixedAssignment(np.arange(n, dtype=dtype)), dtype, 1, n, first=0, training="others")


@dataclass(frozen=True, slots=True)
class LeavePOut(Splitter):
    """Test each choice of p rows, or random choices of p rows, after training on all other rows.

    Parameters
    ----------
    p : int
        Number of rows to leave out, or of groups if these are given; at least one must remain.
    n_repeats : int, optional
        Number of random choices, which are independent and equally likely, so that a choice may be repeated. By
        default, all C(n, p) choices are made, in lexicographic order.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed, read when the splitter is made. Each call gives the same splits, even if `rng` is None.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals import LeavePOut
    >>> LeavePOut(2).assignments(range(3))
    array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=uint8)
    >>> LeavePOut(2).get_n_splits(range(1000))
    499500
    """

    p: int
    _: KW_ONLY
    n_repeats: int | None = None
    rng: Any = field(default=None, compare=False)
    _key: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        set_fields(self, p=check_integer("p", self.p, low=1), _key=int(seed_key("rng", self.rng)))
        if self.n_repeats is not None:
            set_fields(self, n_repeats=check_integer("n_repeats", self.n_repeats, low=1))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> int:
        """Return the number of splits; arguments are as for `split`, and not needed for random choices."""
        return self.plan(X, y, groups).n_splits if self.n_repeats is None else self.n_repeats

    def _plan(self, n_samples: int, y: Any, groups: Any) -> SplitPlan:
        frame = SamplingFrame.from_rows(n_samples, groups)
        n = frame.n_units
        _check_left_out(self.p, n, frame.unit)
        dtype = np.min_scalar_type(TEST)
        if self.n_repeats is None:
            return SplitPlan(frame, Combinations(n, self.p), dtype, math.comb(n, self.p))
        parts = [(TEST, self.p), (TRAIN, n - self.p)]
        parts.sort(key=lambda part: part[1])
        codes, counts = zip(*parts, strict=True)
        assignment = RandomAssignment.from_counts(frame, codes, np.array([counts]), dtype, self._key)
        return SplitPlan(frame, assignment, dtype, self.n_repeats)


@dataclass(frozen=True, slots=True)
class Combinations:
    """All choices of p out of n units, in lexicographic order."""

    n: int
    p: int

    @property
    def compiles(self) -> Hashable:
        """The kernel."""
        return fill_combinations

    def fill(self, first: int, out: Codes) -> None:
        """Write choices in lexicographic order, starting at number `first`."""
        fill_combinations(np.array(self.choice(first)), out)

    def choice(self, number: int) -> list[int]:
        """Return the choice with this number in lexicographic order.

        Among all choices of m numbers that are at least `low`, C(n - low, m) - C(n - i, m) begin with a number below i.
        """
        chosen: list[int] = []
        low = 0
        for m in range(self.p, 0, -1):
            behind = math.comb(self.n - low, m) - number
            i = bisect_left(range(low, self.n), 1, key=lambda i: int(math.comb(self.n - i - 1, m) < behind)) + low
            number = math.comb(self.n - i, m) - behind
            chosen.append(i)
            low = i + 1
        return chosen


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_left_out(p: int, n: int, unit: str) -> None:
    """Raise unless at least one row, or group, is left for training."""
    if p >= n:
        raise ValueError(f"p must be less than the number of {unit}, {n}, got {p}")
