"""The narrow waist: every producer makes counts, every metric and curve is a function of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import check_same_length, read_only
from fastevals.results import Frozen

SMALL = 2**31  # rows, below which products of two totals are integers of 64 bits
USUAL = 2.0**240  # sums of weights nearer to 1 need no unit, nor do their products


class Cells(NamedTuple):
    """The four cells of binary confusion matrices: numbers, or arrays of one shape."""

    tp: Any
    fp: Any
    fn: Any
    tn: Any


class UsualCells(Cells):
    """Cells of sizes at which no metric over- or underflows: nobody needs to look at each."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdCounts(Frozen):
    """Counts of the rows at or above each distinct score.

    Row 0 is the threshold +inf, at which nothing is predicted positive; the last row is the lowest score, at which
    everything is. Counts are int64, or float64 sums of weights. The arrays are read-only views, not copies;
    of what they hold nothing is checked but their lengths.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds + 1,)
        Strictly descending, the first +inf.
    tps, fps : ndarray of shape (n_thresholds + 1,)
        Positive and negative rows with ``score >= threshold``; ascending from 0 to `n_pos` and `n_neg`.
    n_pos, n_neg : int or float
        Positive and negative rows in all.

    Notes
    -----
    Averages over folds bend this: a vertical one has NaN thresholds, and in that of P-R curves `fps` may fall.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.Ranking([0, 1, 1], [0.1, 0.4, 0.4]).counts
    ThresholdCounts(thresholds=[inf, 0.4, 0.1], tps=[0, 2, 2], fps=[0, 0, 1])
    """

    thresholds: NDArray[Any]
    tps: NDArray[Any]
    fps: NDArray[Any]

    def __post_init__(self) -> None:
        for name in ("thresholds", "tps", "fps"):
            object.__setattr__(self, name, read_only(name, getattr(self, name)))
        check_same_length(thresholds=self.thresholds, tps=self.tps, fps=self.fps)

    def __repr__(self) -> str:
        shown = {
            name: np.array2string(getattr(self, name), separator=", ", threshold=8, edgeitems=2)
            for name in ("thresholds", "tps", "fps")
        }
        return f"ThresholdCounts({', '.join(f'{name}={text}' for name, text in shown.items())})"

    @property
    def n_pos(self) -> int | float:
        """Positive rows (or their weight) in all."""
        return self.tps[-1].item()  # type: ignore[no-any-return]

    @property
    def n_neg(self) -> int | float:
        """Negative rows (or their weight) in all."""
        return self.fps[-1].item()  # type: ignore[no-any-return]

    def take(self, rows: NDArray[np.intp]) -> ThresholdCounts:
        """Keep some of the rows, the first and the last among them."""
        return ThresholdCounts(self.thresholds[rows], self.tps[rows], self.fps[rows])

    def cells(self, rows: slice | NDArray[Any] | int = slice(None)) -> Cells:
        """Return the confusion cells at some of the thresholds."""
        tps, fps, n_pos, n_neg = self.tps[rows], self.fps[rows], self.n_pos, self.n_neg
        kind = UsualCells if self._are_usual else Cells
        return kind(tps, fps, n_pos - tps, n_neg - fps)

    @property
    def _are_usual(self) -> bool:
        """Return whether counts are small integers, or the sums of each class near 1: with them, its larger cell is."""
        totals = self.n_pos, self.n_neg
        if self.tps.dtype == self.fps.dtype == np.float64:
            return all(total == 0 or 1 / USUAL < total < USUAL for total in totals)
        return self.tps.dtype == self.fps.dtype == np.int64 and sum(totals) < SMALL

    def rows_at_least(self, thresholds: NDArray[Any]) -> NDArray[np.intp]:
        """Return the row that holds the counts at each threshold asked for: the last one not below it."""
        if (
            thresholds.dtype.kind in "iu"
            and thresholds.size
            and max(abs(int(thresholds.min())), int(thresholds.max())) > 2**53
        ):
            thresholds = thresholds.astype(np.longdouble)  # float64 would round them to other scores
        return last_row(self.thresholds.size, thresholds.shape, lambda rows: self.thresholds[rows] >= thresholds)


def last_row(n: int, shape: tuple[int, ...], holds: Callable[[NDArray[np.intp]], Any]) -> NDArray[np.intp]:
    """Return the last of n rows where a condition holds that holds at row 0 and, once it fails, fails from there on.

    Bisects for all of an array of conditions at once: searchsorted would need a whole array of ascending values.
    """
    low, high = np.zeros(shape, dtype=np.intp), np.full(shape, n, dtype=np.intp)
    for _ in range(n.bit_length()):
        middle = (low + high) // 2
        yes = holds(middle)
        low, high = np.where(yes, middle, low), np.where(yes, high, middle)
    return low
