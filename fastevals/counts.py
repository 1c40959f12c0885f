"""Threshold counts: every way to count scores produces them, and every metric and curve is computed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union
from fastevals._execution import run
from fastevals._kernels.steps import add_counts, rows_at
from fastevals._memory import lend
from fastevals._options import row_at, show
from fastevals._validation.arrays import EXACT_INTEGER, as_scores, check_finite, check_same_length
from fastevals.document.frames import Columns, make_columns
from fastevals.results import Frozen

SMALL_ROWS = 2**31  # rows, below which a product of two totals fits in 64-bit integers
MOST_ROWS = 2**62  # rows
FROM_ROWS = "compute it from rows in memory, or use a ProbabilitySummary for metrics of probabilities"
USUAL_SUM = 2.0**240  # sums of weights within this factor of 1 need no scaling, nor do their products


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdCounts(Frozen):
    """Counts of the rows at or above each distinct score, from which all metrics and curves of a ranking follow.

    Row 0 is the threshold +inf, at which no row is predicted positive; the last row is the lowest score, at which all
    rows are predicted positive.

    Counts of parts of the rows (files, days, machines) add up: ``a + b``, ``sum(parts)`` or, for many parts,
    ``ThresholdCounts.merge(parts)`` are the counts of all rows, whatever scores the parts have.

    Parameters
    ----------
    thresholds : array-like of shape (n_thresholds + 1,)
        +inf, then finite scores, strictly descending.
    tps, fps : array-like of shape (n_thresholds + 1,)
        Positive and negative rows with ``score >= threshold``: 0 at first, and never decreasing. Integers count rows;
        if either array holds floats, both are sums of weights.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds + 1,)
        float64, or a longer float if the scores are longer floats or integers past 2**53.
    tps, fps : ndarray of shape (n_thresholds + 1,)
        int64, or float64 for sums of weights. All arrays are read-only copies.
    n_pos, n_neg : int or float
        Total positive and negative rows.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names the argument, the rule and the value.

    Examples
    --------
    >>> import fastevals
    >>> monday = fastevals.Ranking([0, 1, 1], [0.1, 0.4, 0.4]).counts
    >>> monday
    ThresholdCounts(thresholds=[inf, 0.4, 0.1], tps=[0, 2, 2], fps=[0, 0, 1])
    >>> monday + fastevals.ThresholdCounts([float("inf"), 0.3, 0.1], [0, 1, 1], [0, 0, 5])
    ThresholdCounts(thresholds=[inf, 0.4, 0.3, 0.1], tps=[0, 2, 3, 3], fps=[0, 0, 0, 6])
    """

    thresholds: NDArray[Any]
    tps: NDArray[Any]
    fps: NDArray[Any]

    def __post_init__(self) -> None:
        thresholds = _checked_thresholds("thresholds", self.thresholds)
        tps, fps = as_counts(tps=self.tps, fps=self.fps)
        check_same_length(thresholds=thresholds, tps=tps, fps=fps)
        for name, counts in (("tps", tps), ("fps", fps)):
            _check_cumulative(name, counts)
        check_total("tps and fps", tps[-1], fps[-1])
        self._set(thresholds, tps, fps)

    @classmethod
    def _unchecked(cls, thresholds: NDArray[Any], tps: NDArray[Any], fps: NDArray[Any]) -> Self:
        """Wrap arrays known to be valid counts, such as those of kernels, without a check or a copy."""
        counts = object.__new__(cls)
        counts._set(thresholds, tps, fps)
        return counts

    def _set(self, *arrays: NDArray[Any]) -> None:
        for name, array in zip(("thresholds", "tps", "fps"), arrays, strict=True):
            view = array.view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._unchecked, (self.thresholds, self.tps, self.fps)

    def __repr__(self) -> str:
        shown = {
            name: np.array2string(getattr(self, name), separator=", ", threshold=8, edgeitems=2)
            for name in ("thresholds", "tps", "fps")
        }
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in shown.items())})"

    def _title(self) -> str:
        return f"{type(self).__name__}({self.thresholds.size} thresholds, n_pos={self.n_pos}, n_neg={self.n_neg})"

    def _columns(self) -> Columns:
        return make_columns({"threshold": self.thresholds, "tp": self.tps, "fp": self.fps})

    @property
    def n_pos(self) -> int | float:
        """Number of positive rows, or their total weight."""
        return self.tps[-1].item()  # type: ignore[no-any-return]

    @property
    def n_neg(self) -> int | float:
        """Number of negative rows, or their total weight."""
        return self.fps[-1].item()  # type: ignore[no-any-return]

    @classmethod
    def merge(cls, parts: Iterable[ThresholdCounts]) -> ThresholdCounts:
        """Add up the counts of parts: the result counts all rows, at every threshold of any part.

        Parameters
        ----------
        parts : iterable of ThresholdCounts
            At least one part. Their scores must be on one scale. No row may be in two parts, but scores may repeat.

        Returns
        -------
        ThresholdCounts
            Counts at each threshold of any part. Sums of integers are exact in any order. Sums of weights are
            rounded once per doubling of the number of parts; integers count as weights if some parts have weights.

        Raises
        ------
        ValueError
            If there is no part, if one is not ThresholdCounts, or if the sum exceeds 2**62 rows or the largest float.

        Examples
        --------
        >>> import fastevals
        >>> parts = [fastevals.Ranking([0, 1], scores).counts for scores in ([1, 3], [2, 3], [3, 1])]
        >>> fastevals.ThresholdCounts.merge(parts)
        ThresholdCounts(thresholds=[inf,  3.,  2.,  1.], tps=[0, 2, 2, 3], fps=[0, 1, 2, 3])
        """
        if not isinstance(parts, Iterable):
            raise ValueError(f"parts must be ThresholdCounts, an iterable of them, got {show(parts)}")
        merged = list(parts)
        if not merged:
            raise ValueError("parts is empty: it must have at least one ThresholdCounts")
        for i, part in enumerate(merged):
            if isinstance(part, ThresholdCounts):
                part._require_each_score("merging counts", "rank the rows of all parts in one call")
            if type(part) is not ThresholdCounts:
                raise ValueError(f"parts must be ThresholdCounts, got {what_instead(part)} at {i}")
        with np.errstate(over="ignore"):
            check_total("parts", sum(part.n_pos for part in merged), sum(part.n_neg for part in merged))
            while len(merged) > 1:  # in pairs: each row is read, and rounded, log2(n_parts) times
                merged = run(_add, [merged[i : i + 2] for i in range(0, len(merged), 2)])
        return merged[0]

    def __add__(self, other: Any) -> ThresholdCounts:
        return self.merge([self, other]) if isinstance(other, ThresholdCounts) else NotImplemented

    def __radd__(self, other: Any) -> ThresholdCounts:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # `sum` starts from 0

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep some of the rows, which must include the first and the last."""
        return self._unchecked(self.thresholds[rows], self.tps[rows], self.fps[rows])

    def in_weight(self, unit: float = 1.0) -> Self:
        """Multiply all counts by `unit`, which turns numbers of units into sums of weights, as floats."""
        return self._unchecked(self.thresholds, self.tps * unit, self.fps * unit)

    def cells(self, rows: slice | NDArray[Any] | int = slice(None)) -> Cells:
        """Return the confusion cells at some of the thresholds."""
        tps, fps, n_pos, n_neg = self.tps[rows], self.fps[rows], self.n_pos, self.n_neg
        kind = UsualCells if self._are_usual else Cells
        return kind(tps, fps, n_pos - tps, n_neg - fps)

    @property
    def _are_usual(self) -> bool:
        """Whether counts are integers with a small total, or weights that sum to about 1 in each non-empty class."""
        totals = self.n_pos, self.n_neg
        if self.tps.dtype == self.fps.dtype == np.float64:
            return all(total == 0 or 1 / USUAL_SUM < total < USUAL_SUM for total in totals)
        return self.tps.dtype == self.fps.dtype == np.int64 and sum(totals) < SMALL_ROWS

    def rows_at_least(self, thresholds: NDArray[Any]) -> NDArray[np.intp]:
        """Return the row with the counts at each given threshold t: the last row whose threshold is at least t."""
        if (
            thresholds.dtype.kind in "iu"
            and thresholds.size
            and max(abs(int(thresholds.min())), int(thresholds.max())) > 2**53
        ):
            thresholds = thresholds.astype(np.longdouble)  # float64 would round them to other scores
        return last_row(self.thresholds.size, thresholds.shape, lambda rows: self.thresholds[rows] >= thresholds)

    @property
    def _has_each_score(self) -> bool:
        """Whether each distinct score of the rows is a threshold."""
        return True

    def _require_each_score(self, what: str, instead: str = FROM_ROWS) -> None:
        """Raise if `what` needs each distinct score of the rows as a threshold and some are missing."""
        if not self._has_each_score:
            raise ValueError(f"{what} needs the scores of negatives, which are not kept: {instead}")


class Cells(NamedTuple):
    """The four cells of binary confusion matrices: numbers, or arrays of one shape."""

    tp: Any
    fp: Any
    fn: Any
    tn: Any


class UsualCells(Cells):
    """Cells of a size at which no metric over- or underflows, so that they need no check."""

    __slots__ = ()


def last_row(n: int, shape: tuple[int, ...], holds: Callable[[NDArray[np.intp]], Any]) -> NDArray[np.intp]:
    """Return the last of n rows at which a condition holds; it holds at row 0 and never again once it fails.

    Bisects for a whole array of conditions; searchsorted would need a full array of ascending values.
    """
    low, high = np.zeros(shape, dtype=np.intp), np.full(shape, n, dtype=np.intp)
    for _ in range(n.bit_length()):
        middle = (low + high) // 2
        yes = holds(middle)
        low, high = np.where(yes, middle, low), np.where(yes, high, middle)
    return low


def rows_at_each(counts: ThresholdCounts, thresholds: NDArray[Any]) -> NDArray[np.intp]:
    """Do the work of `ThresholdCounts.rows_at_least` in one pass, for descending thresholds."""
    if counts.thresholds.dtype != np.float64 or thresholds.dtype != np.float64:
        return np.searchsorted(-counts.thresholds, -thresholds, side="right") - 1
    rows = np.empty(thresholds.size, dtype=np.intp)
    rows_at(counts.thresholds, thresholds, rows)
    return rows


def _add(parts: list[ThresholdCounts]) -> ThresholdCounts:
    """Add the counts of two parts, at each threshold of either; or return the only part."""
    if len(parts) == 1:
        return parts[0]
    columns = [[getattr(part, name) for part in parts] for name in ("thresholds", "tps", "fps")]
    dtypes = [np.result_type(*pair) for pair in columns]
    if dtypes[0] != np.float64:  # kernels have no type for these scores
        thresholds = sorted_union(*columns[0])[::-1].copy()
        rows = [np.searchsorted(-each, -thresholds, side="right") - 1 for each in columns[0]]
        sums = (sum(each[row] for each, row in zip(pair, rows, strict=True)) for pair in columns[1:])
        return ThresholdCounts._unchecked(thresholds, *sums)
    most = sum(each.size for each in columns[0]) - 1  # inf is in both
    joint = [lend(most, dtype) for dtype in dtypes]
    given = [read_only_as(each[k], dtype) for k in (0, 1) for each, dtype in zip(columns, dtypes, strict=True)]
    n = add_counts(*given, *joint)
    return ThresholdCounts._unchecked(*(column[:n] if 2 * n > most else column[:n].copy() for column in joint))


def read_only_as(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a read-only array of a dtype: kernels are compiled for one kind only."""
    view = array.astype(dtype, copy=False).view()
    view.flags.writeable = False
    return view


# Checks ---------------------------------------------------------------------------------------------------------------


def as_counts(**named: Any) -> list[NDArray[Any]]:
    """Return copies of counts by name, as int64, or float64 if any holds floats; raise if negative or not finite."""
    arrays = {name: as_scores(name, values) for name, values in named.items()}
    weighted = any(array.dtype.kind == "f" for array in arrays.values())
    for name, array in arrays.items():
        most = EXACT_INTEGER if weighted else MOST_ROWS
        if array.dtype.kind in "iu" and int(array.max()) > most:
            beside = " next to floats" if weighted else ""
            raise ValueError(f"{name} must be at most {'2**53' if weighted else '2**62'}{beside}, got {array.max()}")
        check_finite(name, array)
        if array.dtype.kind != "b" and array.min() < 0:
            row = int(np.argmax(array < 0))
            raise ValueError(f"{name} must not be negative, got {show(array[row])} at {row_at(row)}")
    with np.errstate(over="ignore"):  # longer floats may overflow
        counts = [np.array(array, dtype=np.float64 if weighted else np.int64) for array in arrays.values()]
    for name, each in zip(named, counts, strict=True):
        check_finite(name, each)
        each += 0  # turns -0.0 into 0.0
    return counts


def check_total(name: str, *totals: Any) -> None:
    """Raise if the counts, or sums of weights, of both classes add up to more than integers or floats can hold."""
    if any(isinstance(each, (float, np.floating)) for each in totals):
        if not sum(map(float, totals)) < np.inf:
            raise ValueError(f"{name} must have a finite sum, but it overflows")
    elif (total := sum(map(int, totals))) > MOST_ROWS:
        raise ValueError(f"{name} must add up to at most 2**62 rows, got {total}")


def _checked_thresholds(name: str, values: Any) -> NDArray[Any]:
    """Return a copy of thresholds as floats that hold them exactly: +inf, then finite ones, strictly descending."""
    array = as_scores(name, values)
    thresholds = np.array(array, dtype=np.result_type(array.dtype, np.float64))
    if np.isnan(thresholds).any():
        raise ValueError(f"{name} must not be NaN, got NaN at {row_at(np.argmax(np.isnan(thresholds)))}")
    if thresholds[0] != np.inf:
        raise ValueError(f"{name} must start with inf, at which no row is predicted positive, got {show(array[0])}")
    rises = thresholds[1:] >= thresholds[:-1]
    if rises.any():
        row = int(np.argmax(rises)) + 1
        seen = f"{show(thresholds[row])} after {show(thresholds[row - 1])} at {row_at(row)}"
        raise ValueError(f"{name} must be strictly descending, got {seen}")
    if thresholds[-1] == -np.inf:
        raise ValueError(f"{name} must be finite except for the first, got -inf at {row_at(thresholds.size - 1)}")
    thresholds += 0.0  # turns -0.0 into 0.0
    return thresholds


def _check_cumulative(name: str, counts: NDArray[Any]) -> None:
    """Raise unless counts start at 0 and never decrease."""
    if counts[0] != 0:
        raise ValueError(f"{name} must be 0 at the threshold inf, got {show(counts[0])} at {row_at(0)}")
    falls = counts[1:] < counts[:-1]
    if falls.any():
        row = int(np.argmax(falls)) + 1
        seen = f"{show(counts[row])} after {show(counts[row - 1])} at {row_at(row)}"
        raise ValueError(f"{name} must not decrease from one threshold to the next, got {seen}")


def what_instead(value: object) -> str:
    """Describe, for a message, a value that is not counts of rows: as averages (a subclass), or by its type."""
    return "averages over folds" if isinstance(value, ThresholdCounts) else type(value).__name__
