"""The base of all splitters: scikit-learn's interface, and the plan of splits that this package uses.

A plan stores no splits. It draws the codes of a repetition using only the repetition's number. So splits are the same
in any order, on any number of threads, and whether they are drawn one by one or in one array.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import run
from fastevals._kernels.draws import take_drawn
from fastevals._options import show
from fastevals.split.checks import check_same_rows
from fastevals.split.splitters.assignments import Assignment, Codes, SamplingFrame

MOST_CODES = 2**40  # limit for an array of all splits
Rows = NDArray[np.intp]

ROWS_PER_TASK = 1 << 18


TRAIN, TEST, VALIDATION, NEITHER = range(4)  # codes of the parts, if there is one test set per repetition


class Pair(NamedTuple):
    """Training rows and test rows, ascending."""

    train: Rows
    test: Rows


@dataclass(frozen=True, slots=True, eq=False)
class SplitPlan:
    """The splits of one data set, each of which is drawn when needed.

    In each repetition, each row has the code of its unit. A row is in the test part of fold ``code - first``, if this
    number is in ``[0, n_folds)``. `training` determines which codes make a row a training row.
    """

    frame: SamplingFrame
    assignment: Assignment  # assigns a code to each unit
    dtype: np.dtype[Any]  # type of the codes
    n_repeats: int  # may exceed 64 bits for all combinations
    n_folds: int = 1  # number of test parts per repetition
    first: int = 1  # the code of the first test part
    # Training rows: "others", all outside the test part; "zeros", all with code 0; "times", each as often as its code.
    training: str = "zeros"

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.frame.n_samples

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of repetitions and folds."""
        return self.n_repeats, self.n_folds

    @property
    def n_splits(self) -> int:
        """Total number of splits."""
        return self.n_repeats * self.n_folds

    def codes(self, start: int, stop: int) -> Codes:
        """Return the codes of some repetitions, of shape (stop - start, n_samples), without drawing earlier ones."""
        out = np.empty((stop - start, self.n_samples), dtype=self.dtype)
        size = max(1, ROWS_PER_TASK // self.n_samples)
        row_units, n_units = self.frame.row_units, self.frame.n_units

        def fill(first: int) -> None:
            part = out[first - start : first - start + size]
            if row_units is None:
                self.assignment.fill(first, part)
                return
            codes = np.empty((len(part), n_units), dtype=self.dtype)
            self.assignment.fill(first, codes)
            for row, drawn in zip(part, codes, strict=True):
                take_drawn(drawn, row_units, row)

        kernels = self.assignment.compiles
        compiles = (kernels, row_units is None, self.dtype) if kernels or row_units is not None else None
        run(fill, [*range(start, stop, size)], compiles=compiles)
        return out

    def indices(self, codes: Codes, fold: int) -> Pair:
        """Return training and test rows of one fold, from the codes of its repetition."""
        test = codes == self.first + fold
        if self.training == "times":
            return Pair(np.repeat(np.arange(self.n_samples), codes), np.flatnonzero(test))
        train = codes == 0 if self.training == "zeros" else ~test
        return Pair(np.flatnonzero(train), np.flatnonzero(test))

    def each(self) -> Iterator[Codes]:
        """Yield the codes of all repetitions; a few repetitions are drawn at a time."""
        size = max(1, 4 * ROWS_PER_TASK // self.n_samples)
        for start in range(0, self.n_repeats, size):
            yield from self.codes(start, min(start + size, self.n_repeats))

    def pairs(self) -> Iterator[Pair]:
        """Yield all splits: the folds of the first repetition, then the folds of the next, and so on."""
        for codes in self.each():
            for fold in range(self.n_folds):
                yield self.indices(codes, fold)


class Splitter:
    """Splits rows into training and test parts; can be passed to scikit-learn as `cv`."""

    __slots__ = ()

    def _plan(self, n_samples: int, y: Any, groups: Any) -> SplitPlan:
        raise NotImplementedError

    def plan(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> SplitPlan:
        """Return the plan of a data set's splits, which draws them when needed; arguments as for `split`."""
        return self._plan(check_same_rows(X=X, y=y, groups=groups), y, groups)

    def split(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Iterator[Pair]:
        """Yield the splits.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of n_samples rows, optional
            The data; only the number of rows matters. It can be None if `y` is given.
        y : array-like of shape (n_samples,), optional
            The class of each row, if the splitter is stratified; otherwise ignored.
        groups : array-like of shape (n_samples,), optional
            The group of each row; a group is never split.

        Yields
        ------
        train, test : ndarray of intp
            Training rows and test rows, ascending; the same in each call.

        Raises
        ------
        ValueError
            If there are too few rows, groups or rows of a class. If classes or groups have missing values, or a
            different number of rows than the data.
        """
        return self.plan(X, y, groups).pairs()

    def get_n_splits(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> int:
        """Return the number of splits; arguments are as for `split`, and needed only if the number depends on them."""
        return self.plan(X, y, groups).n_splits

    def assignments(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Codes:
        """Return all splits as one array, with a code for each row in each repetition.

        Parameters
        ----------
        X, y, groups
            As for `split`.

        Returns
        -------
        ndarray of shape (n_repeats, n_samples)
            Codes in the smallest unsigned type. `KFold` and `LeaveOneOut`: the fold that tests the row. `HoldOut` and
            `LeavePOut`: 0 for training, 1 for test, 2 for validation, 3 for neither. `BootstrapSplit`: how often the
            row was drawn; rows with code 0 are test rows. In addition to the array, about 10 bytes per row are used (30
            if stratified, 39 to 43 with groups).

        Raises
        ------
        ValueError
            As for `split`.
        """
        plan = self.plan(X, y, groups)
        _check_splits_fit(plan.n_repeats, plan.n_samples)
        return plan.codes(0, plan.n_repeats)


def set_fields(splitter: Splitter, **values: Any) -> None:
    """Set the fields of a frozen splitter in its `__post_init__`."""
    for name, value in values.items():
        object.__setattr__(splitter, name, value)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_splits_fit(n_repeats: int, n: int) -> None:
    """Raise if an array of all splits would not fit in any memory."""
    if n_repeats * n > MOST_CODES:
        raise ValueError(
            f"the array of assignments would be too large: {show(n_repeats)} repetitions of {n} rows; iterate over "
            "split(), or request fewer repetitions (n_repeats=)"
        )
