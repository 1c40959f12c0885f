"""Hold-out: one part of the rows is set aside for testing and, optionally, another part for validation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import as_flag, check_integer, show
from fastevals._random import seed_key
from fastevals.split.checks import as_share_or_count, as_units, check_same_rows
from fastevals.split.splitters.assignments import RandomAssignment, SamplingFrame
from fastevals.split.splitters.base import NEITHER, TEST, TRAIN, VALIDATION, Rows, SplitPlan, Splitter, set_fields

SHARES_ROUNDING = 1e-9  # absolute rounding error of a sum of shares

Ints = NDArray[np.int64]
Size = int | float
Cells = tuple[list[int], list[int]]  # rows and columns of a table


class Parts(NamedTuple):
    """Rows for training, for choosing a model, and for testing, ascending."""

    train: Rows
    validation: Rows
    test: Rows


@dataclass(frozen=True, slots=True)
class HoldOut(Splitter):
    """Random parts for training, test and validation, drawn once or repeatedly.

    Parameters
    ----------
    test_size : float or int
        Number of test rows, or their share of all rows (the number is then rounded up).
    train_size, validation_size : float or int, optional
        Share or number of rows for training and validation. By default there is no validation part, and all other rows
        are training rows. If the sizes don't add up to all rows, the remaining rows are in no part.
    n_repeats : int
        Number of repetitions, each with a new random choice of rows.
    stratified : bool
        Whether to draw from each class separately. Each part then has its proportional share of each class, rounded up
        or down.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed, read when the splitter is made. Each call gives the same parts, even if `rng` is None.

    Raises
    ------
    ValueError
        If an argument is not as described, or shares add up to more than 1.

    Notes
    -----
    All splits with these sizes are equally likely. With groups, sizes count groups, and groups are never divided; if
    stratified, each group must contain only one class. Training rows are ascending, so scikit-learn's
    ``learning_curve``, which uses the first of them, needs ``shuffle=True``.

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
        set_fields(
            self,
            **sizes,
            n_repeats=check_integer("n_repeats", self.n_repeats, low=1),
            stratified=as_flag("stratified", self.stratified),
            _key=int(seed_key("rng", self.rng)),
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> int:
        """Return the number of splits; the data are ignored."""
        return self.n_repeats

    def parts(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Iterator[Parts]:
        """Yield the splits with all three parts; arguments as for `split`.

        Yields
        ------
        Parts
            The rows `train`, `validation` (empty if there is no validation part) and `test`, the same as from `split`.
        """
        return self._parts(self.plan(X, y, groups))

    def _parts(self, plan: SplitPlan) -> Iterator[Parts]:
        for codes in plan.each():
            yield Parts(*(np.flatnonzero(codes == part) for part in (TRAIN, VALIDATION, TEST)))

    def count_splits(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> int:
        """Return the number of possible splits, which are equally likely; arguments as for `split`.

        With 1000 rows, half of them positive, and a test size of 0.3 there are C(500, 150)^2 stratified splits.
        """
        _, counts = self._frame_and_counts(check_same_rows(X=X, y=y, groups=groups), y, groups)
        ways = 1
        for class_counts in counts.tolist():
            left = sum(class_counts)
            for size in class_counts:
                ways *= math.comb(left, size)
                left -= size
        return ways

    def _frame_and_counts(self, n_samples: int, y: Any, groups: Any) -> tuple[SamplingFrame, Ints]:
        """Return the frame of units, and the number of units in each part from each stratum."""
        frame = SamplingFrame.from_rows(n_samples, groups, y, stratified=self.stratified)
        sizes = PartSizes(self.test_size, self.validation_size, self.train_size).resolve(frame.n_units, frame.unit)
        if frame.labels.size:
            n_parts = int(np.count_nonzero(sizes[:NEITHER]))
            frame.check_sizes(n_parts, f"a stratified HoldOut of {n_parts} parts")
        return frame, apportion_over_classes(frame.sizes, sizes)

    def _plan(self, n_samples: int, y: Any, groups: Any) -> SplitPlan:
        frame, counts = self._frame_and_counts(n_samples, y, groups)
        order = np.argsort(counts.sum(axis=0), kind="stable")
        dtype = np.min_scalar_type(NEITHER)
        assignment = RandomAssignment.from_counts(frame, order, counts[:, order], dtype, self._key)
        return SplitPlan(frame, assignment, dtype, self.n_repeats)


class PartSizes(NamedTuple):
    """Sizes of the parts as given by the user: shares of the units, or numbers of units."""

    test_size: Size
    validation_size: Size | None
    train_size: Size | None

    def resolve(self, n: int, unit: str) -> Ints:
        """Return the number of units in each part, indexed by the part's code, for n units in total.

        As in scikit-learn, shares are rounded up for test and validation, and down for training.
        """
        sizes = {"test": as_units(self.test_size, n, math.ceil)}
        if self.validation_size is not None:
            sizes["validation"] = as_units(self.validation_size, n, math.ceil)
        rest = n - sum(sizes.values())
        train = rest if self.train_size is None else as_units(self.train_size, n, math.floor)
        if isinstance(self.train_size, float):
            train = min(train, rest)  # the other shares were rounded up
        sizes["training"] = train
        _check_part_sizes(sizes, n, unit, self._asdict())
        return np.array([train, sizes["test"], sizes.get("validation", 0), rest - train])


def apportion_over_classes(sizes: Ints, parts: Ints) -> Ints:
    """Divide each part among classes so that each number is the exact share n_c n_p / n, rounded up or down.

    In the table of exact shares, each row (class) and each column (part) adds up to an integer. While some cells are
    fractions, there is a cycle of fractional cells in which neighbours share a row and a column in turn. The same
    amount is added and subtracted in turn along the cycle until a cell is an integer; all sums stay the same. Such a
    rounding always exists: Bacharach (1966), doi:10.1287/mnsc.12.9.732.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_classes,)
        Number of units in each class.
    parts : ndarray of int of shape (n_parts,)
        Number of units in each part; the sum over parts is n, like the sum over classes.
    """
    n = sum(sizes.tolist())
    whole, over = np.divmod(np.outer(sizes.astype(np.uint64), parts.astype(np.uint64)), np.uint64(n))  # below 2**64
    counts, over = whole.astype(np.int64), over.astype(np.int64)
    while (cycle := _cycle((over > 0) & (over < n))) is not None:
        up, down = sorted(cycle, key=lambda cells: -over[cells].sum())
        step = min((n - over[up]).min(), over[down].min())
        over[up] += step
        over[down] -= step
    counts += over // n
    return counts


def _cycle(open_cells: NDArray[np.bool_]) -> tuple[Cells, Cells] | None:
    """Return a cycle of open cells, as the cells at even places and the cells at odd places; None if no cell is open.

    Each row or column with an open cell must have at least two open cells.
    """
    if not open_cells.any():
        return None
    row = int(np.argmax(open_cells.any(axis=1)))
    part = int(np.argmax(open_cells[row]))
    rows, parts = [row], [part]  # the path visits (rows[i], parts[i]), then (rows[i + 1], parts[i])
    while True:
        row = _first_except(open_cells[:, part], row)
        part = _first_except(open_cells[row], part)
        rows.append(row)
        parts.append(part)
        if part in parts[:-1]:
            start = parts.index(part)
            rows, parts = rows[start + 1 :], parts[start:]
            return (rows, parts[:-1]), (rows, parts[1:])


def _first_except(marked: NDArray[np.bool_], than: int) -> int:
    """Return the first marked index that is not `than`."""
    marked = marked.copy()
    marked[than] = False
    return int(np.argmax(marked))


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_part_sizes(sizes: dict[str, int], n: int, unit: str, options: dict[str, Any]) -> None:
    """Raise unless each part has at least one unit, and all parts together have at most n units."""
    text = ", ".join(f"{name}={show(size)}" for name, size in options.items() if size is not None)
    for part, size in sizes.items():
        if size < 1:
            raise ValueError(f"{text} leaves the {part} part of {n} {unit} empty")
    if sum(sizes.values()) > n:
        raise ValueError(f"{text} takes {sum(sizes.values())} {unit}, but there are {n}")


def _check_shares(sizes: dict[str, Any], *, whole: bool) -> None:
    """Raise if shares add up to more than 1; if `whole` is False, raise also if they leave nothing for training."""
    shares = {name: size for name, size in sizes.items() if isinstance(size, float)}
    total = math.fsum(shares.values())
    if total > 1 + SHARES_ROUNDING or (not whole and total > 1 - SHARES_ROUNDING):
        given = ", ".join(f"{name}={size:g}" for name, size in shares.items())
        rule = "add up to at most 1" if whole else "leave a share for training"
        raise ValueError(f"{' and '.join(shares)} must {rule}, got {given}")
