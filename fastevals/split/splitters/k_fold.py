"""Cross-validation: k folds, each tested once."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastevals._options import as_flag, check_integer
from fastevals._random import seed_key
from fastevals.split.splitters.assignments import (
    Assignment,
    GroupAssignment,
    RandomAssignment,
    SamplingFrame,
    count_classes_by_group,
)
from fastevals.split.splitters.base import SplitPlan, Splitter, set_fields


@dataclass(frozen=True, slots=True)
class KFold(Splitter):
    """K-fold cross-validation, once or repeated; in each repetition, each row is tested once.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    n_repeats : int
        Number of repetitions, each with new folds: ``KFold(10, n_repeats=10)`` is 10 times 10-fold cross-validation,
        and ``KFold(2, n_repeats=5)`` makes the splits for `five_by_two_cv_t_test`.
    shuffle : bool
        Whether to assign rows to folds at random; otherwise folds are blocks of consecutive rows.
    stratified : bool
        Whether to assign each class to folds separately. The numbers of rows of a class in any two folds then differ by
        at most one, and so do the sizes of the folds.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed, read when the splitter is made. Each call gives the same folds, even if `rng` is None, so that learners
        are compared on the same folds. (In scikit-learn, each call draws new folds if the seed is None.)

    Raises
    ------
    ValueError
        If an argument is not as described.

    Notes
    -----
    Folds depend on the seed, the number of the repetition, and the order of rows. They do not depend on the names of
    classes and groups, the number of threads, or the number of repetitions.

    Whole groups can't be assigned evenly. They are assigned one by one, larger groups first, to the fold that has the
    fewest rows so far; groups whose sizes lie between the same powers of two are in random order. So the sizes of two
    folds differ by at most the size of the largest group. If stratified, a group is assigned to the fold that has the
    smallest shares of the group's classes; folds then have only roughly equal sizes and class shares. If there are only
    a few large groups, repetitions are much alike.

    References
    ----------
    Kohavi, R. (1995), "A Study of Cross-Validation and Bootstrap for Accuracy Estimation and Model Selection", IJCAI.
    Durstenfeld, R. (1964), "Algorithm 235: Random permutation", doi:10.1145/364520.364540.

    Examples
    --------
    >>> from fastevals import KFold
    >>> y = ["a", "a", "a", "a", "b", "b"]
    >>> KFold(2, shuffle=False, stratified=True).assignments(None, y)
    array([[0, 0, 1, 1, 0, 1]], dtype=uint8)
    >>> KFold(2, n_repeats=5, rng=1).assignments(None, y).shape
    (5, 6)
    """

    n_splits: int = 10
    _: KW_ONLY
    n_repeats: int = 1
    shuffle: bool = True
    stratified: bool = False
    rng: Any = field(default=None, compare=False)
    _key: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        set_fields(
            self,
            n_splits=check_integer("n_splits", self.n_splits, low=2),
            n_repeats=check_integer("n_repeats", self.n_repeats, low=1),
            shuffle=as_flag("shuffle", self.shuffle),
            stratified=as_flag("stratified", self.stratified),
            _key=int(seed_key("rng", self.rng)),
        )
        _check_random_repeats(self.n_repeats, self.shuffle)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> int:
        """Return the number of splits; the data are ignored."""
        return self.n_splits * self.n_repeats

    def _plan(self, n_samples: int, y: Any, groups: Any) -> SplitPlan:
        because = f"n_splits={self.n_splits}"
        frame = SamplingFrame.from_rows(n_samples, groups, y, stratified=self.stratified and groups is None)
        frame.check_sizes(self.n_splits, because)
        dtype = np.min_scalar_type(self.n_splits - 1)
        if frame.row_units is not None:
            counts = count_classes_by_group(frame, y, self.n_splits, because) if self.stratified else None
            key = self._key if self.shuffle else None
            assignment: Assignment = GroupAssignment.from_frame(frame, counts, self.n_splits, key)
        else:
            random = self._random_assignment(frame, dtype)
            assignment = random if self.shuffle else random.unshuffled()
        return SplitPlan(frame, assignment, dtype, self.n_repeats, self.n_splits, first=0, training="others")

    def _random_assignment(self, frame: SamplingFrame, dtype: np.dtype[Any]) -> RandomAssignment:
        """Assign rows to folds in turn, continuing from stratum to stratum so that fold sizes differ by at most one."""
        folds = np.arange(self.n_splits)
        before = np.cumsum(frame.sizes) - frame.sizes
        counts = frame.sizes[:, None] // self.n_splits
        counts = counts + ((folds - before[:, None]) % self.n_splits < frame.sizes[:, None] % self.n_splits)
        return RandomAssignment.from_counts(frame, folds, counts, dtype, self._key)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_random_repeats(n_repeats: int, shuffle: bool) -> None:
    """Raise if there are several repetitions but no shuffling, so that all repetitions would be the same."""
    if n_repeats > 1 and not shuffle:
        raise ValueError(f"n_repeats goes with shuffle=True: without it all repetitions are the same, got {n_repeats}")
