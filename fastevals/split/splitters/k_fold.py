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
    """K-fold cross-validation, once or repeated: each repetition tests each row once.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    n_repeats : int
        Number of repetitions, each with other folds: ``KFold(10, n_repeats=10)`` is 10 times 10-fold;
        ``KFold(2, n_repeats=5)`` gives the splits for `five_by_two_cv_t_test`.
    shuffle : bool
        Deal rows to folds at random; otherwise in consecutive blocks.
    stratified : bool
        Deal out each class separately. The numbers of rows of a class in any two folds then differ by at most one, and
        so do the sizes of the folds.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed, read when the splitter is made. It gives the same folds in each call, even if None, so learners are
        compared on the same folds. (With None, scikit-learn draws other folds in each call.)

    Raises
    ------
    ValueError
        If an argument is not as described.

    Notes
    -----
    Draws depend on the seed, the repetition and the order of rows; not on the names of classes and groups, the number
    of threads, or the number of repetitions.

    Whole groups can't be dealt out evenly. They go, one by one, to the fold that has the fewest rows so far, larger
    ones first, in random order among groups within the same power of two. So the sizes of two folds differ by no more
    than the largest group. If stratified, a group goes to the fold that has the least of its classes, as a share of
    each class; folds are then only roughly alike. Few large groups leave little to chance: repetitions are much alike.

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
        """Deal out rows in turn, continuing from stratum to stratum, so that fold sizes also differ by at most one."""
        folds = np.arange(self.n_splits)
        before = np.cumsum(frame.sizes) - frame.sizes
        counts = frame.sizes[:, None] // self.n_splits
        counts = counts + ((folds - before[:, None]) % self.n_splits < frame.sizes[:, None] % self.n_splits)
        return RandomAssignment.from_counts(frame, folds, counts, dtype, self._key)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_random_repeats(n_repeats: int, shuffle: bool) -> None:
    """Raise if all repetitions would be the same."""
    if n_repeats > 1 and not shuffle:
        raise ValueError(f"n_repeats goes with shuffle=True: without it all repetitions are the same, got {n_repeats}")
