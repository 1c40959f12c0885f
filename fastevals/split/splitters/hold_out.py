"""Hold-out: a part of the rows is kept for the test, and another for validation where asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._random import seed_key
from fastevals._validation.options import as_flag, check_integer
from fastevals.split.checks import as_share_or_count, check_same_rows
from fastevals.split.splitters.base import SplitPlan, Splitter, settle
from fastevals.split.splitters.dealing import Shuffled
from fastevals.split.splitters.layout import NEITHER, TEST, TRAIN, VALIDATION, AskedSizes, Layout, class_sizes

ROUNDING = 1e-9

Rows = NDArray[np.intp]


class Parts(NamedTuple):
    """Rows to train on, to choose a model by and to test it on, ascending."""

    train: Rows
    validation: Rows
    test: Rows


@dataclass(frozen=True, slots=True)
class HoldOut(Splitter):
    """Random parts for training, test and validation, drawn once or again and again.

    Parameters
    ----------
    test_size : float or int
        Share of the rows to test on, rounded up, or their number.
    train_size, validation_size : float or int, optional
        The same for the other parts. By default there is no validation part, and all that is left is trained on. Rows
        that no part takes are in none.
    n_repeats : int
        Repetitions, each with other rows.
    stratified : bool
        Draw from each class by itself: each part has its share of each class, rounded up or down.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed, read when the splitter is made: it gives the same parts in each call, with None too.

    Raises
    ------
    ValueError
        If an argument is not as described, or shares add up to more than 1.

    Notes
    -----
    All splits of these sizes are equally likely. Given groups, sizes are of groups, each in one part whole; stratified,
    a group must be of one class. Training rows are ascending: scikit-learn's ``learning_curve``, which takes the first
    of them, needs ``shuffle=True``.

    Examples
    --------
    >>> import math
    >>> from fastevals import HoldOut
    >>> y = [0] * 500 + [1] * 500
    >>> halves = HoldOut(0.3, stratified=True, rng=1)
    >>> train, test = next(halves.split(None, y))
    >>> train.size, test.size
    (700, 300)
    >>> halves.count_splits(None, y) == math.comb(500, 150) ** 2
    True
    >>> [part.size for part in next(HoldOut(0.2, validation_size=0.1).parts(y))]
    [700, 100, 200]
    """

    test_size: float = 0.2
    _: KW_ONLY
    train_size: float | None = None
    validation_size: float | None = None
    n_repeats: int = 1
    stratified: bool = False
    rng: Any = field(default=None, compare=False)
    _key: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        sizes = {"test_size": as_share_or_count("test_size", self.test_size)}
        for name, size in (("validation_size", self.validation_size), ("train_size", self.train_size)):
            if size is not None:
                sizes[name] = as_share_or_count(name, size)
        _check_shares(sizes, whole=self.train_size is not None)
        settle(
            self,
            **sizes,
            n_repeats=check_integer("n_repeats", self.n_repeats, low=1),
            stratified=as_flag("stratified", self.stratified),
            _key=int(seed_key("rng", self.rng)),
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> int:
        """Return the number of splits; the data are not looked at."""
        return self.n_repeats

    def parts(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Iterator[Parts]:
        """Go through the splits with all three parts; arguments as for `split`.

        Yields
        ------
        Parts
            The rows `train`, `validation` (none if not asked for) and `test`. Rows and order as from `split`.
        """
        return self._parts(self.plan(X, y, groups))

    def _parts(self, plan: SplitPlan) -> Iterator[Parts]:
        for codes in plan.each():
            yield Parts(*(np.flatnonzero(codes == part) for part in (TRAIN, VALIDATION, TEST)))

    def count_splits(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> int:
        """Return how many splits there are that `split` draws from, all equally likely; arguments as for it.

        Of 1000 rows, half of them positive, there are C(500, 150)^2 stratified ones with a test size of 0.3.
        """
        _, counts = self._layout(check_same_rows(X=X, y=y, groups=groups), y, groups)
        ways = 1
        for of_class in counts.tolist():
            left = sum(of_class)
            for size in of_class:
                ways *= math.comb(left, size)
                left -= size
        return ways

    def _layout(self, n_samples: int, y: Any, groups: Any) -> tuple[Layout, NDArray[np.int64]]:
        """Return the units, and how many of each stratum are in each part."""
        layout = Layout.of(n_samples, groups, y, stratified=self.stratified)
        asked = AskedSizes(self.test_size, self.validation_size, self.train_size)
        sizes = asked.of(layout.n_units, layout.unit)
        if layout.labels.size:
            n_parts = int(np.count_nonzero(sizes[:NEITHER]))
            layout.check_sizes(n_parts, f"a stratified HoldOut of {n_parts} parts")
        return layout, class_sizes(layout.sizes, sizes)

    def _plan(self, n_samples: int, y: Any, groups: Any) -> SplitPlan:
        layout, counts = self._layout(n_samples, y, groups)
        order = np.argsort(counts.sum(axis=0), kind="stable")
        dtype = np.min_scalar_type(NEITHER)
        draw = Shuffled.of(layout, order, counts[:, order], dtype, self._key)
        return SplitPlan(layout, draw, dtype, self.n_repeats)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_shares(sizes: dict[str, Any], *, whole: bool) -> None:
    """Raise if parts that are given as shares add up to more than all rows, or to all with one part still to come."""
    shares = {name: size for name, size in sizes.items() if isinstance(size, float)}
    total = math.fsum(shares.values())
    if total > 1 + ROUNDING or (not whole and total > 1 - ROUNDING):
        given = ", ".join(f"{name}={size:g}" for name, size in shares.items())
        rule = "add up to at most 1" if whole else "leave a share for training"
        raise ValueError(f"{' and '.join(shares)} must {rule}, got {given}")
