"""Grids: cuts between scores, fitted to a sample, so that all parts of the rows are counted in the same cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_union, sorted_unique
from fastevals._execution import blocks
from fastevals._kernels.cells import (
    END,
    PREFIXES,
    ROW,
    SLOTS,
    count_in_cells,
    find_cells,
    fit_cuts,
    held_cells,
    index_cuts,
    keys_by_class,
    merge_classes,
    sum_in_cells,
)  # fmt: skip
from fastevals._options import check_integer
from fastevals._validation.arrays import as_scores, check_finite, check_same_length, exact_floats
from fastevals._validation.labels import binary_labels
from fastevals.counting.ordering import FLOATS, BinaryLabels
from fastevals.scale.cells import HIGHEST, LOWEST, ScoreCells, carried
from fastevals.scale.squares import carry

Keys = NDArray[np.uint64]
Flags = NDArray[np.uint8]

FEW_RARE = 2  # the rarer class's share of the weight is this times its sampled rows per cell, at most half


class ScoreGrid:
    """Cells of scores between ascending cuts; each cell includes its lower cut and excludes its upper cut.

    A grid never changes. Summaries with the same grid add up exactly, in any order.

    Parameters
    ----------
    cuts : array-like of shape (n_cuts,)
        Finite numbers, in any order.

    Examples
    --------
    >>> from fastevals.scale import ScoreGrid
    >>> ScoreGrid([0.25, 0.5])
    ScoreGrid(3 cells)
    """

    __slots__ = ("_index", "cuts", "is_wide")

    def __init__(self, cuts: ArrayLike) -> None:
        scores = exact_floats("cuts", as_scores("cuts", cuts))
        check_finite("cuts", scores)
        self._set(sorted_unique(FLOATS.encode(scores + 0.0)))

    @classmethod
    def from_keys(cls, cuts: Keys) -> ScoreGrid:
        """Return the grid with cuts at ascending keys, which must be above the key of the lowest score."""
        grid = object.__new__(cls)
        grid._set(cuts)
        return grid

    def _set(self, cuts: Keys) -> None:
        cuts = cuts[(cuts > np.uint64(LOWEST)) & (cuts <= np.uint64(HIGHEST))]
        self.cuts = cuts
        self.cuts.flags.writeable = False
        ends = np.append(cuts, END)
        rows = np.empty(ROW * PREFIXES, np.uint64)
        slots = np.empty((SLOTS + 2) * cuts.size + 2, np.int32)
        used = index_cuts(ends, rows, slots)
        self._index = (ends, rows, slots[: used + 1].copy())
        low, high = self._ends()
        self.is_wide = low < high  # cells that can hold more than one score

    @classmethod
    def fit(cls, y_true: ArrayLike, y_score: ArrayLike, *, n_cells: int = 2**18, pos_label: Any = None) -> ScoreGrid:
        """Fit cuts to a sample of the rows, so that cells have about equal numbers of rows of each class.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes.
        y_score : array-like of shape (n_samples,)
            Scores.
        n_cells : int
            Approximate number of cells.
        pos_label : label, optional
            The positive class: by default 1 for labels 0/1, -1/1 and booleans.

        Returns
        -------
        ScoreGrid
            A grid with at most a few times `n_cells` cells. Scores shared by many rows get cells of their own.
        """
        n_cells = check_integer("n_cells", n_cells, low=1, high=2**28)
        labels = BinaryLabels(*binary_labels("y_true", y_true, pos_label))
        scores = exact_floats("y_score", as_scores("y_score", y_score))
        check_same_length(y_true=labels.values, y_score=scores)
        check_finite("y_score", scores)
        return fit_grid(atoms_of_rows(scores, labels.flags()), n_cells)

    @classmethod
    def exact(cls, scores: ArrayLike) -> ScoreGrid:
        """Return a grid with an atom at each given score; AUCs are exact if these are the scores of the rarer class.

        Parameters
        ----------
        scores : array-like of shape (n_scores,)
            Scores in any order, possibly repeated.

        Returns
        -------
        ScoreGrid
            If `scores` has all scores of one class, only atoms contain rows of both classes.
        """
        values = exact_floats("scores", as_scores("scores", scores))
        check_finite("scores", values)
        return exact_grid(sorted_unique(FLOATS.encode(values + 0.0)))

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.cuts.size) + 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScoreGrid) and np.array_equal(self.cuts, other.cuts)

    def __hash__(self) -> int:
        return hash(self.cuts.tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return ScoreGrid.from_keys, (self.cuts,)

    def __repr__(self) -> str:
        return f"ScoreGrid({self.n_cells} cells)"

    def count(self, scores: NDArray[Any], flags: Flags, units: NDArray[np.int64] | None, counts: NDArray[Any]) -> None:
        """Add rows to counts of shape (n_sums, 2 * n_cells).

        Each row adds 1 or, if `units` of shape (n_sums, n_rows) is given, its entry there for each sum.

        Counts alternate between each cell's negatives and its positives.
        """
        short, beyond = np.zeros(counts.shape[1], np.uint16), np.zeros(counts.shape, np.int64)
        for k, sums in enumerate(beyond):
            if units is not None and not units[k].any():  # usual for the upper limbs of squares
                continue
            for block in blocks(slice(0, scores.size)):
                rows = FLOATS.bits(scores[block]), flags[block]
                if units is None:
                    count_in_cells(*rows, FLOATS.flip_below, FLOATS.flip, *self._index, short, sums)
                else:
                    sum_in_cells(*rows, units[k, block], FLOATS.flip_below, FLOATS.flip, *self._index, sums)
        np.add(counts, short, out=counts)
        np.add(counts, beyond, out=counts, casting="unsafe")
        if len(counts) > 1:
            carry(*counts[1:])

    def find(self, scores: NDArray[Any], cells: NDArray[np.uint16]) -> None:
        """Write into `cells` the index of each score's cell (0 for the lowest); the grid must have few cells."""
        find_cells(FLOATS.bits(scores), FLOATS.flip_below, FLOATS.flip, *self._index, cells)

    def cells(self, counts: NDArray[Any]) -> ScoreCells:
        """Return the cells that contain rows."""
        n = np.count_nonzero(counts[0, ::2] | counts[0, 1::2])
        low, high, held = np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty((n, 2 * len(counts)), np.int64)
        held_cells(self.cuts, np.uint64(LOWEST), np.uint64(HIGHEST), counts, low, high, held)
        return ScoreCells(low, high, carried(held))

    def _ends(self) -> tuple[Keys, Keys]:
        """Return the lowest and the highest key of each cell."""
        return np.append(np.uint64(LOWEST), self.cuts), np.append(self.cuts - np.uint64(1), np.uint64(HIGHEST))


def atoms_of_rows(scores: NDArray[Any], flags: Flags, start: int = 0, step: int = 1) -> ScoreCells:
    """Return a cell for each distinct score of every `step`-th row."""
    n = len(range(start, scores.size, step))
    by_class = np.empty((2, n + 1), np.uint64)
    n_neg = keys_by_class(FLOATS.bits(scores), flags, start, step, FLOATS.flip_below, FLOATS.flip, *by_class)
    negatives, positives = by_class[0, :n_neg], by_class[1, : n - n_neg]
    negatives.sort()
    positives.sort()
    distinct, counts = np.empty(n, np.uint64), np.empty((n, 2), np.int64)
    n = merge_classes(negatives, positives, distinct, counts)
    return ScoreCells(distinct[:n], distinct[:n], counts[:n])


def fit_grid(sample: ScoreCells, n_cells: int) -> ScoreGrid:
    """Fit cuts to the atoms of sampled rows; a rare class with few sampled rows gets less weight."""
    rows = sample.totals
    share = min(0.5, FEW_RARE * int(rows.min()) / n_cells)
    weights = np.full(2, 1 - share)
    weights[int(np.argmin(rows))] = share
    each = weights / np.maximum(rows, 1) if rows.all() else np.full(2, 1 / rows.sum())
    cuts = np.empty(8 * n_cells + 64, np.uint64)
    n = fit_cuts(sample.low, sample.counts, *each, n_cells, cuts)
    return ScoreGrid.from_keys(cuts[:n].copy())


def even_cuts(low: float, high: float, n_cells: int) -> Keys:
    """Return ascending cuts between two scores: half of the cells have equal width, half hold equally many floats."""
    ends, n = FLOATS.encode(np.array([low, high]) + 0.0), max(n_cells // 2, 1)
    share = np.arange(n) / n
    as_wide = FLOATS.encode(low * (1 - share) + high * share + 0.0)
    as_many = ends[0] + (ends[1] - ends[0]) // np.uint64(n) * np.arange(n, dtype=np.uint64)
    return sorted_unique(np.concatenate((as_wide, as_many, ends, ends[1:] + np.uint64(1))))


def exact_grid(keys: Keys) -> ScoreGrid:
    """Return a grid with an atom at each key; keys are distinct and ascending."""
    cuts = np.stack((keys, keys + np.uint64(1)), axis=1).ravel()
    kept = np.append(True, cuts[1:] != cuts[:-1])[: cuts.size]
    return ScoreGrid.from_keys(cuts[kept])


def grid_of_cells(cells: ScoreCells) -> ScoreGrid | None:
    """Return the grid of these cells and of the gaps between them; None if cells overlap."""
    if (cells.low[1:] <= cells.high[:-1]).any():
        return None
    return ScoreGrid.from_keys(sorted_union(cells.low, cells.high + np.uint64(1)))
