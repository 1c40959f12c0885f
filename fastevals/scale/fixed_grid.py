"""Counts in a grid that is fixed before any row is seen, so that sums over workers, ranks and days are exact."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import blocks
from fastevals._kernels.cells import count_with_ends
from fastevals._options import check_integer, show
from fastevals._validation.labels import Classes
from fastevals.counting.ordering import FLOATS
from fastevals.counts import check_total
from fastevals.scale.cells import ScoreCells
from fastevals.scale.grid import Flags, Keys, ScoreGrid
from fastevals.scale.summary import RankingSummary, as_label, joint_labels, read_rows

Ints = NDArray[np.int64]
AllReduce = Callable[[Ints, Literal["sum", "max"]], ArrayLike]

BINARY = Classes(np.array([0, 1]), 1)  # of rows that are counted by flags
NOTHING_SEEN = np.iinfo(np.int64).min  # the end of an empty cell
SIGN = np.uint64(1 << 63)  # turns a key into a signed integer of the same order
STEPS = np.uint64(52)  # base-2 logarithm of the number of floats per octave
EXPONENTS = range(-1022, 1024)  # octaves of float64; all smaller numbers share a cell

# Cells in octaves [2**e, 2**(e + 1)) with e >= first, in units of all cells; an octave without a share is one cell.
# The cells of probabilities p near one lie at 1 - p.
NEAR_ZERO = ((-5, 4), (-11, 2), (-14, 1), (-24, 1 / 4), (-64, 1 / 32))
NEAR_ONE = ((-3, 4), (-7, 2), (-12, 1 / 2), (-24, 1 / 8), (-64, 1 / 32))
BEYOND_ONE = ((64, 0), (17, 1 / 32), (6, 1 / 4), (3, 1), (0, 2))
BELOW_ZERO = (*BEYOND_ONE, (-1, 2), (-2, 1), (-3, 1 / 2), (-4, 1 / 4), (-8, 1 / 8), (-24, 1 / 32))
UNITS_OF_PROBABILITIES, UNITS_OF_ANY_SCORES = 56, 86  # sums of the shares


class GridCounts:
    """Counts of rows by class in the cells of a grid that is fixed beforehand, with the extreme scores of each cell.

    All workers count in the same grid, however their scores differ, so their counts add up, bit for bit
    and in any order, to the counts of all rows. Bounds on metrics follow from the lowest and the highest score in each
    cell. A cell with one distinct score leaves no doubt, so the metrics of models with few distinct scores are exact.
    An empty shard adds nothing.

    Parameters
    ----------
    grid : ScoreGrid
        The cells; see `of_probabilities` and `of_any_scores`.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans.
    arrays : tuple of two ndarrays, optional
        `counts` and `ends`, which are counted in, in place; by default new ones.

    Attributes
    ----------
    counts : ndarray of int64 of shape (2, n_cells)
        Negatives and positives by cell. Workers sum these.
    ends : ndarray of int64 of shape (2, n_cells)
        The extreme scores of each cell as ordered integers: the lowest as its complement, and the highest. Workers take
        the largest of these; an empty cell has the smallest integer.

    Examples
    --------
    >>> from fastevals.scale.fixed_grid import GridCounts
    >>> one, other = GridCounts.of_probabilities(), GridCounts.of_probabilities()
    >>> one.add([0, 1, 1], [0.1, 0.4, 0.4])
    >>> other.add([0, 1, 0], [0.3, 0.6, 0.5])
    >>> one.join(other).summary().ranking().roc_auc()
    0.7777777777777778
    """

    __slots__ = ("_labels", "counts", "ends", "grid")

    def __init__(self, grid: ScoreGrid, *, pos_label: Any = None, arrays: tuple[Ints, Ints] | None = None) -> None:
        if not isinstance(grid, ScoreGrid):
            raise ValueError(f"grid must be a ScoreGrid, got {show(grid)}")
        shape = 2, grid.n_cells
        self.grid = grid
        self.counts: Ints = np.zeros(shape, np.int64) if arrays is None else arrays[0]
        self.ends: Ints = np.full(shape, NOTHING_SEEN) if arrays is None else arrays[1]
        for name, array in (("counts", self.counts), ("ends", self.ends)):
            if array.shape != shape or array.dtype != np.int64 or not array.flags.carray:
                raise ValueError(
                    f"{name} must be a contiguous array of int64 of shape {shape}, got {array.dtype} of shape "
                    f"{array.shape}: it must have been counted in an equal grid"
                )
        self._labels: tuple[Any, Any] = (as_label("pos_label", pos_label), None)

    @classmethod
    def of_probabilities(cls, n_cells: int = 2**18, *, pos_label: Any = None) -> GridCounts:
        """Return empty counts of scores in [0, 1]; see `probabilities_grid`."""
        return cls(probabilities_grid(n_cells), pos_label=pos_label)

    @classmethod
    def of_any_scores(cls, n_cells: int = 2**18, *, pos_label: Any = None) -> GridCounts:
        """Return empty counts of probabilities, logits or any other scores; see `any_scores_grid`."""
        return cls(any_scores_grid(n_cells), pos_label=pos_label)

    def add(self, y_true: ArrayLike, y_score: ArrayLike) -> None:
        """Count more rows. If a row can't be counted, raise an error and count none of them.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of the same two classes in all calls; a call may have only one class, or no rows.
        y_score : array-like of shape (n_samples,)
            Finite scores that float64 can hold exactly.

        Raises
        ------
        ValueError
            If an argument is not as described; the message names it, the rule and the value seen.
        """
        read = read_rows(self._labels, y_true, y_score, None, None)
        if read is not None:
            self._labels, flags, scores, _ = read
            self.add_flags(flags, scores)

    def add_flags(self, flags: Flags, scores: NDArray[Any]) -> None:
        """Count rows that have been checked: 1 for a positive row and 0 for a negative one, and finite scores."""
        count_in_grid(self.grid, flags, scores, self.counts, self.ends)

    def reduce(self, allreduce: AllReduce) -> GridCounts:
        """Return the counts of all workers, which must all call this equally often, with rows or without.

        Parameters
        ----------
        allreduce : callable
            `allreduce(array, "sum")` and then `allreduce(array, "max")` must return the sum and the elementwise largest
            of all workers' arrays, which are int64 of shape (2, n_cells).
        """
        counts = np.require(allreduce(self.counts, "sum"), np.int64, ["C", "W"])
        ends = np.require(allreduce(self.ends, "max"), np.int64, ["C", "W"])
        joint = GridCounts(self.grid, arrays=(counts.reshape(2, -1), ends.reshape(2, -1)))
        joint._labels = self._labels
        return joint

    def join(self, other: GridCounts) -> GridCounts:
        """Return the counts of this and another worker, with the same grid."""
        if not isinstance(other, GridCounts):
            raise ValueError(f"other must be GridCounts, got {show(other)}")
        if self.grid != other.grid:
            raise ValueError(f"grids must be equal to be joined, got {self.grid} and {other.grid}")
        both = {"sum": (self.counts, other.counts, np.add), "max": (self.ends, other.ends, np.maximum)}
        joint = self.reduce(lambda _, how: both[how][2](*both[how][:2]))
        joint._labels = joint_labels(self._labels, other._labels)
        return joint

    def summary(self) -> RankingSummary:
        """Return the summary of all rows, whose readings are exact, or certified by the cells' extreme scores."""
        positive, negative = self._labels
        summary = RankingSummary(cells=self.grid.n_cells, pos_label=positive)
        summary._labels = positive, negative
        summary._cells = self.cells()
        return summary

    def cells(self) -> ScoreCells:
        """Return the cells that have rows, each from its lowest to its highest score."""
        return cells_of_grid(self.grid, self.counts, self.ends)

    def __repr__(self) -> str:
        negatives, positives = self.counts.sum(axis=1).tolist()
        return f"GridCounts({negatives + positives} rows, {positives} positives, {self.grid.n_cells} cells)"


def count_in_grid(grid: ScoreGrid, flags: Flags, scores: NDArray[Any], counts: Ints, ends: Ints) -> None:
    """Count rows in arrays of shape (2, n_cells) in place, without any work that depends on the number of cells."""
    for block in blocks(slice(0, scores.size)):
        bits = FLOATS.bits(scores[block])
        count_with_ends(bits, flags[block], FLOATS.flip_below, FLOATS.flip, *grid._index, counts, ends)


def cells_of_grid(grid: ScoreGrid, counts: Ints, ends: Ints) -> ScoreCells:
    """Return the cells with rows, from their lowest to their highest score; raise unless counts and ends agree."""
    held = np.flatnonzero((counts[0] != 0) | (counts[1] != 0))
    rows = np.ascontiguousarray(counts[:, held].T)
    if (rows < 0).any():
        raise ValueError(f"counts must not be negative, got {show(rows.min())}: they are sums of workers' counts")
    check_total("counts of all workers", int(rows.sum()))
    low, high = (~ends[0, held]).view(np.uint64) ^ SIGN, ends[1, held].view(np.uint64) ^ SIGN
    first, last = (keys[held] for keys in grid._ends())
    if ((low < first) | (low > high) | (high > last)).any() or np.count_nonzero(ends[1] != NOTHING_SEEN) != held.size:
        raise ValueError(
            "ends must have the extreme scores of the cells that have rows: reduce counts by their sum and ends by "
            "their maximum, on the same workers"
        )
    return ScoreCells(low, high, rows)


@lru_cache(maxsize=8)
def probabilities_grid(n_cells: int = 2**18) -> ScoreGrid:
    """Return the grid for scores in [0, 1], whose cells have about equal widths in the logit.

    All scores below 0 share a cell, and so do all above 1.
    The certificate of an AUC is usually at most 5 / n_cells wide, also of saturated and of drifting scores.

    Parameters
    ----------
    n_cells : int
        Approximate number of cells: 2**12 to 2**22.
    """
    n_cells = check_integer("n_cells", n_cells, low=2**12, high=2**22)
    return ScoreGrid.from_keys(sorted_unique(_probability_cuts(_unit(n_cells, UNITS_OF_PROBABILITIES))))


@lru_cache(maxsize=8)
def any_scores_grid(n_cells: int = 2**18, at: tuple[float, ...] = ()) -> ScoreGrid:
    """Return the grid for scores of any kind: probabilities, logits, margins and distances.

    Between 0 and 1 it has the cells of `probabilities_grid`. Other cells have equal widths between -2 and 2; beyond,
    their widths grow with the score. The certificate of an AUC of probabilities, logits or standardised scores is
    usually at most 5 / n_cells wide; if scores are in the thousands, it is about 100 times as wide.

    Parameters
    ----------
    n_cells : int
        Approximate number of cells: 2**12 to 2**22.
    at : tuple of float
        Thresholds at which decisions are counted exactly.
    """
    n_cells = check_integer("n_cells", n_cells, low=2**12, high=2**22)
    unit = _unit(n_cells, UNITS_OF_ANY_SCORES)
    beyond = _octave_cuts(BEYOND_ONE, unit, 0)
    below = ~_octave_cuts(BELOW_ZERO, unit, EXPONENTS[0]) + np.uint64(1)  # mirrored
    thresholds = FLOATS.encode(np.array(at, np.float64))
    return ScoreGrid.from_keys(sorted_unique(np.concatenate((below, _probability_cuts(unit), beyond, thresholds))))


def _unit(n_cells: int, shares: float) -> int:
    """Return the number of cells for a share of 1: a power of two, so that cells are found without a search."""
    return 1 << round(math.log2(n_cells / shares))


def _probability_cuts(unit: int) -> Keys:
    near_zero, mirrored = _octave_cuts(NEAR_ZERO, unit, EXPONENTS[0], -1), _octave_cuts(NEAR_ONE, unit, -53, -1)
    near_one = FLOATS.encode(1 - FLOATS.decode(mirrored))
    ends = FLOATS.encode(np.array([0.0, 0.5, 1.0]))
    return np.concatenate((near_zero, near_one, ends, ends + np.uint64(1)))


def _octave_cuts(shares: tuple[tuple[int, float], ...], unit: int, first: int, stop: int = EXPONENTS[-1] + 1) -> Keys:
    """Return the keys of evenly spaced floats in each octave from exponent `first` up to `stop`."""
    cuts = []
    for exponent in range(first, stop):
        share = next((share for least, share in shares if exponent >= least), 0)
        n = max(int(share * unit), 1)
        start = FLOATS.encode(np.array([2.0**exponent]))
        cuts.append(start + np.arange(n, dtype=np.uint64) * ((np.uint64(1) << STEPS) // np.uint64(n)))
    return np.concatenate(cuts)
