"""Summaries of rows for a ranking: counted part by part, merged in any order, exact or with certified bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_union, sorted_unique
from fastevals._execution import blocks
from fastevals._kernels.cells import count_infinite, doubt_of, read_cells
from fastevals._options import check_integer, check_number, row_at, show
from fastevals._row_order import warn_other_order
from fastevals._validation.arrays import (
    EXACT_INTEGER,
    as_frequencies,
    as_scores,
    as_thresholds,
    as_weights,
    check_finite,
    check_one_weight,
    check_same_length,
    exact_floats,
    plain_text,
)
from fastevals._validation.labels import Classes, as_labels, binary_labels, both_classes, distinct_pair
from fastevals._validation.text import is_text
from fastevals.counting.ordering import FLOATS, BinaryLabels, count_ties
from fastevals.counts import MOST_ROWS, as_counts, check_total
from fastevals.measure.ranking.ranking import Ranking
from fastevals.scale.cells import HIGHEST, LOWEST, ScoreCells
from fastevals.scale.certified import CertifiedRanking
from fastevals.scale.fields import Fields
from fastevals.scale.grid import Flags, ScoreGrid, atoms_of_rows, exact_grid, fit_grid, grid_of_cells
from fastevals.scale.payload import SQUARES, Summary
from fastevals.scale.rounding import PARTS, Spare, parts_lost
from fastevals.scale.squares import MAX_WEIGHT_IN_LIMBS, RowSums, check_squares, exact_sum, of_ones, with_squares

CHUNK = 1 << 21  # rows that are counted together; fewer rows wait for more rows
ROWS_PER_BATCH = 1 << 17  # this many rows are counted immediately if ranges are given
SAMPLED_ROWS = 1 << 19  # rows of a chunk that a grid is fitted to
MOVED = 4.0  # a grid fits new rows if at most this many times as many pairs are in doubt as with evenly filled cells
FEW_SCORES = 1 << 10  # distinct scores that a ranking counts in a hash table
SPARSE = 8  # above this many rows per score, counting in a grid of atoms is faster than sorting
MOST_CELLS = 2**26
SPARE = 4  # merged summaries may have this many times the requested cells
UNITS = 2**24  # units in the largest weight
NO_BOUNDS = "no bounds"  # the negative label if no bounds are known; there is no positive label then
SMALLEST_WEIGHT = 2.0**-900  # smallest `largest_weight` whose parts have full float precision


class RankingSummary(Summary):
    """Summary of scored rows, however many: the number of rows of each class in each range of scores.

    As long as there are at most `cells` distinct scores, each has its own range, and all numbers are exact. Beyond
    that, ranges are fitted to the incoming rows, and numbers have a certificate: bounds that certainly contain the
    exact value. Summaries of parts (files, days, machines) merge into one summary of all rows.

    Parameters
    ----------
    cells : int
        Approximate number of ranges. The certificate of an AUC is about 1.5 / cells wide.
    at : float or array-like, optional
        Thresholds at which confusion matrices stay exact.
    grid : ScoreGrid, optional
        The ranges. By default ranges are fitted to the first rows, and fitted again if later rows differ much.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans; required for other labels.
    largest_weight : float, optional
        The largest possible row weight: weights are rounded to multiples of `largest_weight` / 2**24, and certificates
        include the rounding. Not needed for integer weights.

    Examples
    --------
    >>> from fastevals.scale import RankingSummary
    >>> monday, tuesday = RankingSummary(), RankingSummary()
    >>> monday.update([0, 1, 1], [0.1, 0.4, 0.4])
    >>> tuesday.update([0, 1, 0], [0.3, 0.6, 0.5])
    >>> week = monday.merge(tuesday)
    >>> week, week.ranking().roc_auc()
    (RankingSummary(6 rows, 3 positives, exact), 0.7777777777777778)

    Notes
    -----
    Summaries with the same grid merge in any order with bit-identical results. Summaries with different grids can be
    merged too; if that makes too many cells, neighbours are joined, and the last digits depend on the order. All
    summaries must have the same labels and, if given, the same `largest_weight`.
    """

    KIND = "ranking"

    __slots__ = (
        "_at", "_cells", "_counts", "_grid", "_labels", "_lost", "_n_cells", "_only_atoms", "_own_grid", "_read",
        "_row_sums", "_unit", "_waiting", "is_weighted",
    )  # fmt: skip

    def __init__(
        self,
        *,
        cells: int = 2**18,
        at: ArrayLike = (),
        grid: ScoreGrid | None = None,
        pos_label: Any = None,
        largest_weight: float | None = None,
    ) -> None:
        if grid is not None and not isinstance(grid, ScoreGrid):
            raise ValueError(f"grid must be a ScoreGrid, got {show(grid)}")
        unit = None
        if largest_weight is not None:
            unit = check_number("largest_weight", largest_weight, low=SMALLEST_WEIGHT, open_high=True) / UNITS
        thresholds = exact_floats("at", np.atleast_1d(as_thresholds("at", at)).ravel()) + 0.0
        check_finite("at", thresholds)
        self._n_cells = check_integer("cells", cells, low=1, high=MOST_CELLS)
        self._at = sorted_unique(FLOATS.encode(thresholds))
        self._own_grid = grid is None
        self._unit = unit
        self.is_weighted = unit is not None  # whether rows have weights
        self._row_sums = None if unit is None else RowSums()  # sums over weighted rows; None if squares are not kept
        self._lost = (0, 0)  # parts of units by which negatives and positives may weigh more or less than was counted
        self._labels: tuple[Any, Any] = (
            as_label("pos_label", pos_label),
            None,
        )  # positive and negative, as far as they are known
        self._cells = ScoreCells.none()  # all counts except the grid's
        self._counts: NDArray[np.int64]  # counts of the grid's cells, of shape (n_sums, 2 * n_cells)
        self._waiting: list[tuple[NDArray[Any], Flags, NDArray[np.int64] | None]] = []
        self._read: ScoreCells | None = None  # all cells, once requested
        self._use(grid)

    # Counting ---------------------------------------------------------------------------------------------------------

    def update(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        frequency_weight: ArrayLike | None = None,
    ) -> None:
        """Count more rows. If a row can't be counted, raise an error and count none of them.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of the same two classes in all updates; an update may have only one class, or no rows.
        y_score : array-like of shape (n_samples,)
            Finite scores that float64 can hold exactly.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights, not negative: integers, or any numbers up to `largest_weight`. Rows of weight zero are left
            out. Each row is one independent observation. Intervals need sums of squared weights, which are kept unless
            a row weighs 2**40 units or more.
        frequency_weight : array-like of shape (n_samples,), optional
            Number of copies of each row: integers. A row with n copies counts like n equal rows. Not allowed with
            `sample_weight`.

        Raises
        ------
        ValueError
            If an argument is not as described; the message names it, the rule and the value seen.
        """
        read = read_rows(self._labels, y_true, y_score, sample_weight, self._unit, frequency_weight)
        if read is not None:
            labels, flags, scores, units = read
            self._count_rows(flags, scores, units)
            self._labels = labels

    def _count_rows(self, flags: Flags, scores: NDArray[Any], units: Units | None) -> None:
        """Count rows that have been checked, now or together with later rows."""
        counts = None
        if units is not None:
            counts = units.counts
            kept = counts > 0
            if not kept.all():
                scores, flags, counts = scores[kept], flags[kept], counts[kept]
            if not kept.any():
                return
            check_total(f"{units.name} of all rows", self._n_units(), exact_sum(counts))
            if units.lost is not None:
                total, positives = (int(each.sum()) for each in (units.lost, units.lost[kept] * flags))
                self._lost = self._lost[0] + total - positives, self._lost[1] + positives
        self._read = None
        sums = self._sums_of(flags, counts, are_weights=units is not None and units.are_weights)
        waiting = sum(each[0].size for each in self._waiting)
        if waiting + scores.size < CHUNK and (self._own_grid or scores.size < ROWS_PER_BATCH):
            self._waiting.append((scores.astype(np.float64), flags, sums))
            return
        self._count_waiting()
        for start in range(0, scores.size, CHUNK):
            rows = slice(start, start + CHUNK)
            self._count(scores[rows], flags[rows], None if sums is None else sums[:, rows])

    def _sums_of(
        self, flags: Flags, counts: NDArray[np.int64] | None, *, are_weights: bool
    ) -> NDArray[np.int64] | None:
        """Return the amounts that rows add to their cells' sums, (n_sums, n_rows); None if each row adds 1."""
        if are_weights:
            assert counts is not None
            known = self._known_sums()
            if known is not None and counts.max() <= MAX_WEIGHT_IN_LIMBS:
                self._weigh(known.plus(RowSums.of(counts, flags)))
                return with_squares(counts)
            self._weigh(None)
        elif self._row_sums is not None:
            counts = np.ones(flags.size, np.int64) if counts is None else counts
            n_pos = int(counts[flags != 0].sum())
            self._row_sums = self._row_sums.plus(RowSums.of_ones(int(counts.sum()) - n_pos, n_pos))
            return of_ones(counts)
        return None if counts is None else counts[None]

    def _known_sums(self) -> RowSums | None:
        """Return the numbers of rows and the sums of cubed weights so far; None if squared weights are not kept."""
        if self.is_weighted:
            return self._row_sums
        return RowSums.of_ones(*self._counted()._all_cells().totals.tolist())

    def _weigh(self, sums: RowSums | None) -> None:
        """Expect weighted rows from now on; keep squared weights unless `sums` is None."""
        kept = sums is not None
        if kept == (self._row_sums is None):
            self._waiting = [
                (scores, flags, _resized(units, scores.size, kept)) for scores, flags, units in self._waiting
            ]
            self._cells = self._cells.with_squares(kept=kept)
            self._counts = of_ones(self._counts[0]) if kept else self._counts[:1]
        self.is_weighted, self._row_sums = True, sums

    def _n_units(self) -> int:
        """Return the number of rows, or units of weight, including rows that wait to be counted."""
        waiting = sum(scores.size if units is None else int(units[0].sum()) for scores, _, units in self._waiting)
        return int(self._cells.totals.sum()) + int(self._counts[0].sum()) + waiting

    def _count_waiting(self) -> None:
        """Count the waiting rows."""
        if self._waiting:
            scores, flags, units = zip(*self._waiting, strict=True)
            self._waiting = []
            weighted = any(each is not None for each in units)
            whole = [
                np.ones((1, rows.size), np.int64) if each is None else each
                for rows, each in zip(scores, units, strict=True)
            ]
            self._count(
                np.concatenate(scores), np.concatenate(flags), np.concatenate(whole, axis=1) if weighted else None
            )

    def _count(self, scores: NDArray[Any], flags: Flags, units: NDArray[np.int64] | None) -> None:
        """Count a chunk: in the grid if it fits, as atoms if these are few, else in a new grid fitted to the chunk."""
        if self._grid is None and not self._cells.are_atoms:
            self._use(grid_of_cells(self._cells) or fit_grid(sample_of(scores, flags), self._n_cells))
        if self._grid is not None:
            counts = np.zeros(self._counts.shape, dtype=np.uint32 if units is None else np.int64)
            self._grid.count(scores, flags, units, counts)
            if not self._own_grid or self._fits(counts):
                np.add(self._counts, counts, out=self._counts)
                return
            self._set_aside(self._all_cells())
        are_atoms = self._cells.are_atoms
        chunk = few_atoms(scores, flags, units) if are_atoms else None
        sample = sample_of(scores, flags) if chunk is None else chunk
        if are_atoms and chunk is None and not self._are_more(sample, lambda: sample_of(scores, flags, start=1)):
            chunk = count_atoms(scores, flags, units)
        if chunk is not None:
            atoms = self._cells.join(chunk)
            if atoms.low.size <= self._n_cells:
                self._cells = atoms
                if FEW_SCORES < atoms.low.size < scores.size / SPARSE:
                    self._use(exact_grid(atoms.low), only_atoms=True)
                return
        self._use(fit_grid(sample, self._n_cells))
        assert self._grid is not None
        self._grid.count(scores, flags, units, self._counts)

    def _are_more(self, sample: ScoreCells, another: Callable[[], ScoreCells]) -> bool:
        """Return whether samples already have too many distinct scores, so that sorting all rows would not help."""
        seen = sorted_union(self._cells.low, sample.low)
        return seen.size > self._n_cells or sorted_union(seen, another().low).size > self._n_cells

    def _use(self, grid: ScoreGrid | None, *, only_atoms: bool = False) -> None:
        """Count in `grid` from now on."""
        if grid is not None and self._at.size:
            cuts = sorted_union(grid.cuts, self._at)
            grid = grid if cuts.size == grid.cuts.size else ScoreGrid.from_keys(cuts)
        self._grid = grid
        self._only_atoms = only_atoms
        n_sums = 1 if self._row_sums is None else 3
        self._counts = np.zeros((n_sums, 0 if grid is None else 2 * grid.n_cells), dtype=np.int64)

    def _fits(self, counts: NDArray[Any]) -> bool:
        """Return whether a chunk can be counted in the grid.

        It can be if the grid's cells leave at most a few times as many pairs of rows in doubt as cells fitted to the
        chunk would leave. A grid of atoms must leave no pair in doubt.
        """
        assert self._grid is not None
        negatives, positives, pairs, squares = doubt_of(counts[0], self._grid.is_wide)
        if self._only_atoms:
            return bool(squares == 0)
        share = pairs / (negatives * positives) if negatives and positives else squares / (negatives + positives) ** 2
        return bool(share <= MOVED / self._n_cells)

    def _set_aside(self, cells: ScoreCells) -> None:
        """Keep all counts as cells without a grid; join neighbours if there are too many."""
        self._use(None)
        self._cells = cells
        if cells.low.size > SPARE * self._n_cells:
            self._cells = cells.coarsen(2 * self._n_cells, self._at)

    def _all_cells(self) -> ScoreCells:
        """Return all cells that are counted."""
        return self._cells if self._grid is None else self._cells.join(self._grid.cells(self._counts))

    # Reading ----------------------------------------------------------------------------------------------------------

    def _counted(self) -> RankingSummary:
        """Return this summary if no rows wait, otherwise a copy in which the waiting rows are counted."""
        if not self._waiting:
            return self
        summary = self._copy()
        summary._count_waiting()
        return summary

    def _copy(self) -> RankingSummary:
        summary = object.__new__(type(self))
        for name in self.__slots__:
            setattr(summary, name, getattr(self, name))
        summary._counts, summary._waiting = self._counts.copy(), list(self._waiting)
        return summary

    @property
    def cells(self) -> ScoreCells:
        """All cells, including those of waiting rows."""
        if self._read is None:
            self._read = self._counted()._all_cells()
        return self._read

    @property
    def n_positives(self) -> int:
        """Number of positive rows; if only sums of weights are known, number of cells with positives."""
        return self._n_rows[1]

    @property
    def n_negatives(self) -> int:
        """Number of negative rows; if only sums of weights are known, number of cells with negatives."""
        return self._n_rows[0]

    @property
    def _n_rows(self) -> tuple[int, int]:
        return self.cells.count_rows(self._row_sums, weighted=self.is_weighted)

    @property
    def is_exact(self) -> bool:
        """Whether everything is exact: no weight was rounded, and each cell has one score."""
        return not any(self._lost) and self.cells.are_atoms

    def __repr__(self) -> str:
        kind = "exact" if self.is_exact else f"{self.cells.low.size} cells"
        n_negatives, n_positives = self._n_rows
        weighted = ", weighted" if self.is_weighted else ""
        return f"RankingSummary({n_negatives + n_positives} rows, {n_positives} positives{weighted}, {kind})"

    def ranking(self) -> Ranking | CertifiedRanking:
        """Return a ranking of all rows.

        Returns
        -------
        Ranking or CertifiedRanking
            An object with the methods of a `Ranking`. If the summary is not exact, numbers that its counts
            do not determine are `Certified`.
        """
        unit = self._unit
        if self.is_weighted and unit is None:
            unit = 1.0  # sums of weights are floats
        if self.is_exact:
            counts = self.cells.middle
            squares = self.cells.squares_at(counts, self.cells.low, unit, self._row_sums)
            if unit is not None:
                counts = counts.in_weight(unit)
            rows = self.n_positives, self.n_negatives
            return Ranking._of_classes(counts, self._classes(), rows, squares)
        spare = Spare(*(n / PARTS for n in self._lost))
        return CertifiedRanking(self.cells, self._classes(), unit=unit, spare=spare, sums=self._row_sums)

    # Merging and storing ----------------------------------------------------------------------------------------------

    def _merged(self, others: Sequence[RankingSummary]) -> RankingSummary:
        merged, parts = self._counted()._copy(), [other._counted() for other in others]
        merged._read = None
        if any(each.is_weighted for each in (merged, *parts)):
            parts = [part._copy() for part in parts]
            known = [each._known_sums() for each in (merged, *parts)]
            told = [each for each in known if each is not None]
            sums = reduce(RowSums.plus, told) if len(told) == len(known) else None
            for each in (merged, *parts):
                each._weigh(sums)
        apart = [cells for part in parts if (cells := merged._add(part)) is not None]
        if apart:
            merged._set_aside(merged._all_cells())
        while apart:  # join pairs of sets of about the same size, then pairs of the results; the largest set comes last
            rounds, apart = [*apart, merged._cells], []
            for k in range(0, len(rounds), 2):
                merged._set_aside(rounds[k] if k + 1 == len(rounds) else rounds[k].join(rounds[k + 1]))
                apart.append(merged._cells)
            merged._cells = apart.pop(0)
        return merged

    def _add(self, other: RankingSummary) -> ScoreCells | None:
        """Add the other summary's counts if the grids are equal; return its cells that were not added."""
        if self._unit != other._unit:
            units = (None if unit is None else unit * UNITS for unit in (self._unit, other._unit))
            raise ValueError("summaries must have the same largest_weight, got {} and {}".format(*units))
        labels = joint_labels(self._labels, other._labels)
        check_total("summaries", self._n_units(), other._n_units())
        self._labels = labels
        self._lost = self._lost[0] + other._lost[0], self._lost[1] + other._lost[1]
        self._at = sorted_union(self._at, other._at)
        if self._grid is not None and self._grid == other._grid:
            self._counts += other._counts
            return other._cells if other._cells.low.size else None
        return other._all_cells()

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        summary = self._counted()
        cells = summary._all_cells()
        head = {
            "cells": self._n_cells,
            "labels": list(self._labels),
            "least": UNITS,  # for version 0.3, which has this field in place of "lost"
            "largest_weight": None if self._unit is None else (self._unit * UNITS).hex(),
        }
        if self.is_weighted:
            head["lost"] = list(self._lost)
        deltas = np.diff(cells.low, prepend=np.uint64(0))
        negatives, positives = cells.counts.T[:2]
        arrays = {"low": deltas, "width": cells.high - cells.low, "negatives": negatives, "positives": positives}
        if summary._row_sums is not None:
            head |= summary._row_sums.head()
            arrays[SQUARES] = cells.counts.T[2:].ravel()
        return head, {"at": self._at, **arrays}

    @classmethod
    def _from_payload(cls, fields: Fields) -> Self:
        """Check every field that was read, and build the summary."""
        summary = cls(cells=fields.integer("cells", 1, MOST_CELLS), largest_weight=fields.number("largest_weight"))
        summary._labels, least = fields.labels(NO_BOUNDS), fields.integer("least", 1, UNITS)
        deltas = fields.array("low")
        n = deltas.size
        columns = [fields.array(name, n) for name in ("width", "negatives", "positives")]
        low, high, counts = np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty((n, 2), np.int64)
        rows = read_cells(deltas, *columns, np.uint64(LOWEST), np.uint64(HIGHEST), MOST_ROWS, low, high, counts)
        if rows < 0:
            raise ValueError("its cells are not in order")
        check_total("its cells", rows)
        summary._row_sums = None
        if SQUARES in fields:
            counts = np.hstack((counts, fields.counts(SQUARES, 4 * n).reshape(4, n).T))
            summary._row_sums = RowSums.of_fields(fields)
            check_squares(counts, summary._row_sums)
        summary._use(None)
        summary._at, summary._cells = fields.keys("at"), ScoreCells(low, high, counts)
        if (summary._at[1:] <= summary._at[:-1]).any():
            raise ValueError("its thresholds are not in order")
        if "lost" in fields or summary._row_sums is not None:
            summary.is_weighted = True
            summary._lost = tuple(fields.many("lost", "numbers of parts", lambda n: type(n) is int and n >= 0, 2))
        elif summary._unit is not None:  # each row is off by at most half a unit
            negatives, positives = (-(-n * PARTS // (2 * least)) for n in summary._cells.totals.tolist())
            summary._lost = negatives, positives
        return summary

    def _classes(self) -> Classes:
        """Return the names of the two classes."""
        positive, negative = (1, None) if self._labels[0] is None else self._labels
        return Classes(both_classes(positive, negative), positive)

    @classmethod
    def from_cells(
        cls,
        low: ArrayLike,
        high: ArrayLike,
        positives: ArrayLike,
        negatives: ArrayLike,
        *,
        cells: int = 2**18,
        at: ArrayLike = (),
        pos_label: Any = 1,
    ) -> Self:
        """Return the summary of rows counted elsewhere, as by a database query: GROUP BY with min, max and two sums.

        Parameters
        ----------
        low, high : array-like of shape (n_cells,)
            The lowest and the highest score of each cell's rows. Cells may overlap.
        positives, negatives : array-like of shape (n_cells,)
            Numbers of rows of each class: non-negative integers.
        cells, at, pos_label
            As for `RankingSummary`.

        Returns
        -------
        RankingSummary

        Examples
        --------
        >>> from fastevals.scale import RankingSummary
        >>> RankingSummary.from_cells([0.1, 0.5], [0.4, 0.9], [1, 8], [9, 2]).ranking().roc_auc()
        Certified(0.853535, exact value in [0.727273, 0.979798])
        """
        if not any(np.size(each) for each in (low, high, positives, negatives)):
            return cls(cells=cells, at=at, pos_label=pos_label)
        ends = {"low": low, "high": high}
        keys = {}
        for name, values in ends.items():
            scores = exact_floats(name, as_scores(name, values))
            check_finite(name, scores)
            keys[name] = FLOATS.encode(scores + 0.0)
        rows = dict(zip(("positives", "negatives"), as_counts(positives=positives, negatives=negatives), strict=True))
        check_same_length(**keys, **rows)
        for name, counts in rows.items():
            if counts.dtype.kind == "f" and (counts != np.trunc(counts)).any():
                row = int(np.argmax(counts != np.trunc(counts)))
                raise ValueError(f"{name} must hold whole numbers, got {show(counts[row])} at {row_at(row)}")
        wrong = keys["low"] > keys["high"]
        if wrong.any():
            row = int(np.argmax(wrong))
            seen = f"{show(np.asarray(low)[row])} and {show(np.asarray(high)[row])} at {row_at(row)}"
            raise ValueError(f"low must not be above high, got {seen}")
        check_total("positives and negatives", *(counts.sum() for counts in rows.values()))
        counts = np.stack([rows["negatives"], rows["positives"]], axis=1).astype(np.int64)
        summary = cls(cells=cells, at=at, pos_label=pos_label)
        summary._cells = ScoreCells.sort(keys["low"], keys["high"], counts)
        return summary


class Units(NamedTuple):
    """The weight or the number of copies of each row."""

    counts: NDArray[np.int64]  # whole units of weight, or copies
    are_weights: bool = True  # False for copies, which are rows like any others
    lost: NDArray[np.int64] | None = None  # parts of a unit by which a row's weight may differ from its units

    @property
    def name(self) -> str:
        """The argument's name in messages."""
        return "sample_weight" if self.are_weights else "frequency_weight"


def read_rows(
    told: tuple[Any, Any],
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None,
    unit: float | None,
    frequency_weight: ArrayLike | None = None,
    **beside: ArrayLike,
) -> tuple[tuple[Any, Any], Flags, NDArray[Any], Units | None] | None:
    """Check rows; return the labels known afterwards, flags, scores and units; None if there are no rows.

    `told` has the positive and the negative label, as far as earlier rows show them; `unit` is the unit of weight. The
    arguments in `beside` are used only for the warning about different indexes.
    """
    if not any(np.size(each) for each in (y_true, y_score, sample_weight, frequency_weight) if each is not None):
        return None
    weights = {"sample_weight": sample_weight, "frequency_weight": frequency_weight}
    warn_other_order({"y_true": y_true, "y_score": y_score, **weights, **beside})
    labels = known_labels(told, y_true)
    scores = exact_floats("y_score", as_scores("y_score", y_score))
    check_same_length(y_true=labels.values, y_score=scores)
    flags, known = np.empty(scores.size, dtype=np.uint8), 0
    for rows in blocks(slice(0, flags.size)):
        known += labels.mark(rows, flags[rows])
        if not are_finite(scores[rows]):
            check_finite("y_score", scores)
    if known < flags.size:
        raise_other_label(labels)
    units = read_units(sample_weight, frequency_weight, scores.size, unit)
    negative = labels.negative if labels.negative is not None else told[1]
    if told[0] is None and negative is None:  # whether 1 is positive by default depends on the other label
        return told, flags, scores, units
    return (labels.positive, negative), flags, scores, units


def as_label(name: str, label: Any) -> Any:
    """Return a label as a Python number, boolean or string; None if it is not known."""
    if isinstance(label, np.generic):
        label = label.item()
    if not isinstance(label, (str, int, float, type(None))) or label != label:
        raise ValueError(f"{name} must be a number, a boolean or a string, got {show(label)}")
    return plain_text(label)


def known_labels(known: tuple[Any, Any], y_true: Any) -> BinaryLabels:
    """Return `y_true` as labels, with the two allowed labels: those of earlier rows, or the first two in `y_true`."""
    values = as_labels("y_true", y_true)
    positive, negative = known
    if positive is None:
        return BinaryLabels(*binary_labels("y_true", values, None))
    if isinstance(positive, str) != is_text(values):
        raise ValueError(f"y_true must have labels like {show(positive)}, as before, got {show(values[0])}")
    others = [label for label in distinct_pair(values) if label != positive]
    return BinaryLabels(values, positive, negative if negative is not None or not others else others[0])


def read_units(sample_weight: Any, frequency_weight: Any, n: int, unit: float | None) -> Units | None:
    """Check weights or numbers of copies, and return them as units; None if each row counts once."""
    check_one_weight(sample_weight, frequency_weight)
    if frequency_weight is not None:
        if unit is not None:
            raise ValueError("frequency_weight can't be combined with largest_weight: pass sample_weight")
        copies = as_scores("frequency_weight", frequency_weight)
        check_same_length(y_score=np.empty(n), frequency_weight=copies)
        return Units(as_frequencies("frequency_weight", copies) if copies.any() else np.zeros(n, np.int64), False)
    if sample_weight is not None:
        return whole_units(sample_weight, n, unit)
    if unit is not None:
        raise ValueError("sample_weight must be given, since largest_weight was")
    return None


def whole_units(sample_weight: Any, n: int, unit: float | None) -> Units:
    """Return weights as integer multiples of a unit, by default of 1."""
    given = as_scores("sample_weight", sample_weight)
    check_same_length(y_score=np.empty(n), sample_weight=given)
    if not given.any():  # all rows of this part have weight zero
        return Units(np.zeros(n, dtype=np.int64))
    weights = as_weights("sample_weight", given)
    if unit is None:
        odd = weights != np.trunc(weights)
        if odd.any():
            row = int(np.argmax(odd))
            raise ValueError(
                "sample_weight must hold whole numbers, or largest_weight must be given beforehand, got "
                f"{show(weights[row])} at {row_at(row)}"
            )
        if weights.max() > EXACT_INTEGER:
            row = int(np.argmax(weights))
            raise ValueError(f"sample_weight must be at most 2**53, got {show(weights[row])} at {row_at(row)}")
        return Units(weights.astype(np.int64))
    units = np.rint(weights / unit)
    if units.max() > UNITS:
        row = int(np.argmax(units))
        largest = f"largest_weight, {unit * UNITS:g}"
        raise ValueError(f"sample_weight must be at most {largest}, got {show(weights[row])} at {row_at(row)}")
    lost = (units == 0) & (weights > 0)
    if lost.any():
        row = int(np.argmax(lost))
        raise ValueError(
            f"sample_weight must be 0 or at least {unit:g}, a {UNITS}th of largest_weight, got "
            f"{show(weights[row])} at {row_at(row)}"
        )
    return Units(units.astype(np.int64), lost=parts_lost(weights, units, unit))


def _resized(units: NDArray[np.int64] | None, n: int, kept: bool) -> NDArray[np.int64]:
    """Return the amounts that n rows add to sums, with or without squares; rows without weights weigh 1."""
    counts = np.ones(n, np.int64) if units is None else units[0]
    return of_ones(counts) if kept else counts[None]


def are_finite(scores: NDArray[Any]) -> bool:
    """Return whether all scores are finite."""
    return scores.dtype.kind != "f" or not count_infinite(FLOATS.bits(scores))


def sample_of(scores: NDArray[Any], flags: Flags, start: int = 0) -> ScoreCells:
    """Return the atoms of a sample: evenly spaced rows from row `start` on."""
    step = max(scores.size // SAMPLED_ROWS, 1)
    return atoms_of_rows(scores, flags, min(start, step - 1), step)


def few_atoms(scores: NDArray[Any], flags: Flags, units: NDArray[np.int64] | None) -> ScoreCells | None:
    """Return the result of `count_atoms` if a hash table finds only few distinct scores; otherwise None."""
    if units is not None:
        return None
    counts = count_ties(BinaryLabels(flags.view(np.bool_), True, False), scores)
    return None if counts is None else ScoreCells.atoms(counts)


def count_atoms(scores: NDArray[Any], flags: Flags, units: NDArray[np.int64] | None) -> ScoreCells:
    """Return a cell for each distinct score, counting rows or their units of weight."""
    if units is None:
        return ScoreCells.atoms(Ranking(flags.view(np.bool_), scores).counts)
    return ScoreCells.of_rows(FLOATS.encode(np.asarray(scores, np.float64) + 0.0), flags, units)


def joint_labels(first: tuple[Any, Any], second: tuple[Any, Any]) -> tuple[Any, Any]:
    """Combine the labels of two summaries, which may each lack a label; raise if they differ."""
    joint = []
    for mine, other in zip(first, second, strict=True):
        if (
            mine is not None
            and other is not None
            and (mine != other or isinstance(mine, str) != isinstance(other, str))
        ):
            raise ValueError(f"summaries must have the same labels, got {show(mine)} and {show(other)}")
        joint.append(other if mine is None else mine)
    return joint[0], joint[1]


def raise_other_label(labels: BinaryLabels) -> None:
    """Raise an error that names a label that is neither of the two."""
    both = [labels.positive] if labels.negative is None else [labels.negative, labels.positive]
    other = ~np.isin(labels.values, both)
    row = int(np.argmax(other))
    seen = " and ".join(map(show, both))
    raise ValueError(
        f"y_true must have the labels {seen}, got {show(labels.values[row])} in {np.count_nonzero(other)} rows, the "
        f"first at {row_at(row)}"
    )
