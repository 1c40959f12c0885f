"""Summaries of probabilities: their losses and calibration, exact and bit-identical for any order of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import blocks
from fastevals._kernels.compensated import BITS, LIMBS
from fastevals._kernels.probabilities import CELLS, count_probabilities
from fastevals._options import check_integer, show, warn_undefined
from fastevals.counts import MOST_ROWS, ThresholdCounts
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.reliability import ReliabilityCurve
from fastevals.measure.isotonic import ScoreDecomposition, decompose
from fastevals.measure.probability_cells import MAX_ROWS, counts_of_cells, pooled_counts, tail_bits
from fastevals.measure.probability_metrics import (
    FRACTION,
    REST,
    Strategy,
    log_losses,
    mean_loss,
    mean_of_bins,
    squared_losses,
    sum_losses,
)
from fastevals.measure.registry import SCORE_METRICS
from fastevals.scale.fields import Fields
from fastevals.scale.grid import Flags
from fastevals.scale.payload import SQUARES, Summary, weighted_head
from fastevals.scale.squares import MAX_WEIGHT_IN_64_BITS, exact_sum
from fastevals.scale.summary import Units, joint_labels, read_rows

MOST_BINS = 10_000
HIGHEST_LOSS = 745  # at least -log of the smallest float


class ProbabilitySummary(Summary):
    """Summary of any number of rows for metrics of predicted probabilities: Brier score, log loss, calibration.

    Sums of losses are integers, so the order of rows and their division into parts do not matter: results are
    bit-identical to those of all rows in memory. Summaries of parts merge into one summary of all rows.

    Parameters
    ----------
    n_bins : int
        Number of equal-width bins for the calibration curve and the expected calibration error.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans; required for other labels.

    Notes
    -----
    If a score is outside [0, 1], scores are not probabilities, and every metric is NaN.

    Examples
    --------
    >>> from fastevals.scale import ProbabilitySummary
    >>> summary = ProbabilitySummary()
    >>> summary.update([0, 1, 1], [0.5, 0.5, 1.0])
    >>> summary.brier_score()
    0.16666666666666666
    """

    KIND = "probability"

    __slots__ = (
        "_bins", "_cells", "_edges", "_ends", "_extremes", "_labels", "_losses", "_offsets", "_squared", "_squares",
        "_sums", "is_weighted",
    )  # fmt: skip

    def __init__(self, *, n_bins: int = 10, pos_label: Any = None) -> None:
        n_bins = check_integer("n_bins", n_bins, low=1, high=MOST_BINS)
        self._labels: tuple[Any, Any] = (pos_label, None)
        self.is_weighted = False  # whether rows have weights
        self._squares: NDArray[np.int64] | None = None  # squared weights by cell, if they are known
        self._squared = 0  # sum of the squared weights
        self._edges = np.arange(n_bins + 1) / n_bins
        self._extremes = (math.inf, -math.inf)
        self._losses = [0] * 5  # squared loss, log loss, number of infinite losses, remainders of the two losses
        self._bins = np.zeros(2 * n_bins, dtype=np.int64)
        self._ends = np.tile([np.inf, -np.inf], n_bins)
        self._sums = [0] * n_bins
        self._cells = np.zeros(8 * CELLS, dtype=np.int64)
        self._offsets = np.zeros(8 * CELLS, dtype=np.int64)

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
            Finite scores.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: integers, not negative, with a sum over all rows of at most 2**37. Intervals need sums of
            squared weights. These are kept while squared weights add up to at most 2**62 and weights are below 2**30.
        frequency_weight : array-like of shape (n_samples,), optional
            Number of copies of each row: integers. A row with n copies counts like n equal rows. Not allowed with
            `sample_weight`.

        Raises
        ------
        ValueError
            If an argument is not as described; the message names it, the rule and the value seen.
        """
        read = read_rows(self._labels, y_true, y_score, sample_weight, None, frequency_weight)
        if read is not None:
            labels, flags, scores, units = read
            self._count_rows(flags, scores, units)
            self._labels = labels

    def _count_rows(self, flags: Flags, scores: NDArray[Any], units: Units | None) -> None:
        """Count rows that have been checked; rows of weight zero are skipped."""
        whole = None if units is None else units.counts
        if whole is not None and not whole.all():
            kept = whole > 0
            flags, scores, whole = flags[kept], scores[kept], whole[kept]
        if not scores.size:
            return
        check_rows(
            self.n_positives + self.n_negatives + (scores.size if whole is None else int(whole.sum(dtype=np.float64)))
        )
        squared = self._squares_of(whole, scores.size, are_weights=units is not None and units.are_weights)
        lowest, highest = float(scores.min()), float(scores.max())
        self._extremes = min(self._extremes[0], lowest), max(self._extremes[1], highest)
        if lowest < 0 or highest > 1:
            return  # all metrics are undefined from now on
        for block in blocks(slice(0, scores.size)):
            p = np.ascontiguousarray(scores[block], dtype=np.float64) + 0.0
            times = np.ones(p.size, dtype=np.int64) if whole is None else np.ascontiguousarray(whole[block])
            self._count_cells(flags[block], p, times)
            if squared is not None:
                self._count_squares(flags[block], p, squared[block])
            positives = times * flags[block]
            squares, _, rest = sum_losses(p, positives, times - positives, squared_losses)
            logs, infinite, rest_of_logs = sum_losses(p, positives, times - positives, log_losses)
            for k, more in enumerate((squares, logs, infinite, rest, rest_of_logs)):
                self._losses[k] += more

    def _squares_of(self, whole: NDArray[np.int64] | None, n: int, *, are_weights: bool) -> NDArray[np.int64] | None:
        """Return the squared weights of n rows; None if squares are not counted."""
        if are_weights and not self.is_weighted:
            self._squares, self._squared = self._cells.copy(), self.n_positives + self.n_negatives
        self.is_weighted = self.is_weighted or are_weights
        if self._squares is None:
            return None
        squares = np.ones(n, dtype=np.int64) if whole is None else whole * whole if are_weights else whole
        fits = not are_weights or whole is None or whole.max() < MAX_WEIGHT_IN_64_BITS
        self._squared += exact_sum(squares) if fits else MOST_ROWS + 1
        if self._squared > MOST_ROWS:
            self._squares = None
        return None if self._squares is None else squares

    def _count_squares(self, flags: Flags, p: NDArray[Any], squares: NDArray[np.int64]) -> None:
        """Count squared weights by cell."""
        n_bins = self._edges.size - 1
        unused = np.zeros(2 * n_bins, dtype=np.int64), np.zeros(2 * n_bins), np.zeros(LIMBS * n_bins, dtype=np.int64)
        offsets = np.zeros_like(self._squares)
        count_probabilities(p, tail_bits(p), flags, squares, self._edges, *unused, self._squares, offsets)

    def _count_cells(self, flags: Flags, p: NDArray[Any], times: NDArray[np.int64]) -> None:
        """Count probabilities by bin and by cell."""
        p = np.ascontiguousarray(p, dtype=np.float64)
        limbs = np.zeros(LIMBS * (self._edges.size - 1), dtype=np.int64)
        count_probabilities(
            p, tail_bits(p), flags, times, self._edges, self._bins, self._ends, limbs, self._cells, self._offsets
        )
        for k, row in enumerate(limbs.reshape(-1, LIMBS).tolist()):
            total = 0
            for limb in row:
                total = (total << BITS) + limb
            self._sums[k] += total

    # Reading ----------------------------------------------------------------------------------------------------------

    @property
    def n_positives(self) -> int:
        """Number of positive rows, or their weight."""
        return int(self._bins[1::2].sum())

    @property
    def n_negatives(self) -> int:
        """Number of negative rows, or their weight."""
        return int(self._bins[::2].sum())

    @property
    def are_probabilities(self) -> bool:
        """Whether all scores are within [0, 1]."""
        return self._extremes[0] >= 0 and self._extremes[1] <= 1

    def __repr__(self) -> str:
        if not self.are_probabilities and self._extremes[0] < math.inf:
            return "ProbabilitySummary(of scores that are not probabilities)"
        return f"ProbabilitySummary({self.n_positives + self.n_negatives} rows, {self.n_positives} positives)"

    def brier_score(self) -> float:
        """Return the mean squared error of the probabilities, like `Ranking.brier_score`; NaN without rows."""
        squares, _, _, rest, _ = self._losses
        return min(self._mean("brier_score", squares, 0, rest), 1.0)

    def log_loss(self) -> float:
        """Return the mean of -log(probability of the true label), like `Ranking.log_loss`; NaN without rows."""
        _, logs, infinite, _, rest = self._losses
        return self._mean("log_loss", logs, infinite, rest)

    def mean_predicted(self) -> float:
        """Return the mean probability, like `Ranking.mean_predicted`; NaN without rows."""
        return self._mean("mean_predicted", sum(self._sums), 0, 0)

    def _mean(self, name: str, total: int, infinite: int, rest: int) -> float:
        n = self.n_positives + self.n_negatives
        if self.are_probabilities and n:
            return mean_loss(total, infinite, rest, n)
        warn_undefined(name, "a score is outside [0, 1]" if n else "there are no rows")
        return math.nan

    def calibration_curve(self, n_bins: int | None = None, *, strategy: Strategy = "uniform") -> CalibrationCurve:
        """Return the calibration curve in the summary's bins, like `Ranking.calibration_curve`.

        Raises
        ------
        ValueError
            If a score is outside [0, 1], or if the requested bins are not those of the summary.
        """
        kept = self._edges.size - 1
        if n_bins not in (None, kept) or strategy != "uniform":
            raise ValueError(
                f"n_bins must be {kept} and strategy 'uniform', as in this summary, got {show(n_bins)} and "
                f"{show(strategy)}: ProbabilitySummary(n_bins=...) keeps other bins, of equal width"
            )
        self._require_probabilities()
        negatives, positives = self._bins[::2], self._bins[1::2]
        sizes = negatives + positives
        means = np.clip(mean_of_bins(self._sums, sizes.tolist()), self._ends[::2], self._ends[1::2])
        fractions = np.divide(positives, sizes, where=sizes > 0, out=np.full(sizes.size, np.nan))
        return CalibrationCurve(fractions, np.where(sizes > 0, means, np.nan), sizes, self._edges)

    def reliability_curve(self) -> ReliabilityCurve:
        """Return the reliability curve of the summary's cells, like `Ranking.reliability_curve`.

        There are 64 cells per octave of p or, above 1/2, of 1 - p. The rows of a cell share their mean probability.

        Raises
        ------
        ValueError
            If a score is outside [0, 1].
        """
        self._require_probabilities()
        return replace(ReliabilityCurve.from_counts(self._pooled()), decomposition=self.brier_decomposition())

    def brier_decomposition(self) -> ScoreDecomposition:
        """Split the Brier score, which is exact, by the isotonic fit in the summary's cells.

        Rows are pooled in cells, so miscalibration and discrimination are slightly smaller than those of
        `Ranking.brier_decomposition`. Raises ValueError if a score is outside [0, 1].
        """
        self._require_probabilities()
        return decompose(self._pooled(), "brier_score", score=self.brier_score())

    def log_loss_decomposition(self) -> ScoreDecomposition:
        """Split the log loss like `brier_decomposition`."""
        self._require_probabilities()
        return decompose(self._pooled(), "log_loss", score=self.log_loss())

    def _require_probabilities(self) -> None:
        if not self.are_probabilities and self._extremes[0] < math.inf:
            raise ValueError(f"y_score must be probabilities, within [0, 1], got {show(self._extremes)}")

    def _pooled(self) -> ThresholdCounts:
        """Return counts in which all rows of a cell, positive or negative, share one mean probability."""
        counts = pooled_counts(self._cells, self._offsets, self._edges)
        return counts.in_weight() if self.is_weighted else counts

    def _pooled_squares(self) -> ThresholdCounts | None:
        """Return sums of squared weights at the thresholds of `_pooled`; None if they are not known."""
        if self._squares is None:
            return None
        return pooled_counts(self._cells, self._offsets, self._edges, self._squares).in_weight()

    def expected_calibration_error(self, n_bins: int | None = None, *, strategy: Strategy = "uniform") -> float:
        """Return the mean distance between a bin's share of positives and its mean probability, weighted by rows."""
        if self.are_probabilities:
            return self.calibration_curve(n_bins, strategy=strategy).expected_calibration_error
        return self._mean("expected_calibration_error", 0, 0, 0)

    def metrics(self) -> dict[str, float]:
        """Return Brier score, log loss and calibration error by name; NaN if scores are not probabilities."""
        names = [name for name, entry in SCORE_METRICS.items() if entry.in_reports and hasattr(type(self), name)]
        return {name: getattr(self, name)() if self.are_probabilities else math.nan for name in names}

    def counts(self) -> ThresholdCounts:
        """Return counts for a bootstrap of cells: each class's rows in a cell are placed at their mean probability."""
        counts = counts_of_cells(self._cells, self._offsets, self._edges)
        return counts.in_weight() if self.is_weighted else counts

    def squares(self) -> ThresholdCounts | None:
        """Return sums of squared weights at the thresholds of `counts`; None if they are not known."""
        if self._squares is None:
            return None
        return counts_of_cells(self._cells, self._offsets, self._edges, self._squares).in_weight()

    # Merging and storing ----------------------------------------------------------------------------------------------

    def _merged(self, others: Sequence[ProbabilitySummary]) -> ProbabilitySummary:
        merged = ProbabilitySummary(n_bins=self._edges.size - 1)
        merged._labels = self._labels
        for other in (self, *others):
            if other._edges.size != merged._edges.size:
                sizes = self._edges.size - 1, other._edges.size - 1
                raise ValueError("summaries must have the same number of bins, got {} and {}".format(*sizes))
            merged._labels = joint_labels(merged._labels, other._labels)
            squares = [each._squares if each.is_weighted else each._cells for each in (merged, other)]
            merged._squared = sum(
                each._squared if each.is_weighted else each.n_positives + each.n_negatives for each in (merged, other)
            )
            merged.is_weighted = merged.is_weighted or other.is_weighted
            if merged.is_weighted:
                known = [each for each in squares if each is not None] if merged._squared <= MOST_ROWS else []
                merged._squares = known[0] + known[1] if len(known) == 2 else None
            merged._extremes = (
                min(merged._extremes[0], other._extremes[0]), max(merged._extremes[1], other._extremes[1])
            )  # fmt: skip
            check_rows(sum(each.n_positives + each.n_negatives for each in (merged, other)))
            merged._losses = [a + b for a, b in zip(merged._losses, other._losses, strict=True)]
            merged._sums = [a + b for a, b in zip(merged._sums, other._sums, strict=True)]
            for name in ("_bins", "_cells", "_offsets"):
                getattr(merged, name)[:] += getattr(other, name)
            np.minimum(merged._ends[::2], other._ends[::2], out=merged._ends[::2])
            np.maximum(merged._ends[1::2], other._ends[1::2], out=merged._ends[1::2])
        return merged

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        places = np.flatnonzero(self._cells)
        head = {
            "bins": self._edges.size - 1,
            "labels": list(self._labels),
            "extremes": [each.hex() for each in self._extremes],
            "losses": [hex(each) for each in self._losses[:3]],
            "rests": [hex(each) for each in self._losses[3:]],
            "sums": [hex(each) for each in self._sums],
            **weighted_head(self.is_weighted),
        }
        arrays = {"bins": self._bins, "ends": self._ends, "places": places, "cells": self._cells[places],
                  "offsets": self._offsets[places]}  # fmt: skip
        if self._squares is not None:
            arrays[SQUARES] = self._squares[places]
        return head, arrays

    @classmethod
    def _from_payload(cls, fields: Fields) -> Self:
        """Check every field that was read, and build the summary."""
        n_bins = fields.integer("bins", 1, MOST_BINS)
        summary = cls(n_bins=n_bins)
        summary._labels, summary.is_weighted = fields.labels(), fields.is_weighted()
        low, high = fields.numbers("extremes", 2)
        summary._extremes = low, high
        rests = fields.integers("rests", 2) if "rests" in fields else [0, 0]  # 0.3.0 didn't keep them
        summary._losses, summary._sums = fields.integers("losses", 3) + rests, fields.integers("sums", n_bins)
        summary._bins = bins = fields.counts("bins", 2 * n_bins, high=MAX_ROWS).copy()
        summary._ends = ends = fields.floats("ends", 2 * n_bins).copy()
        places = fields.counts("places", high=8 * CELLS - 1)
        rows, offsets = fields.counts("cells", places.size, high=MAX_ROWS), fields.counts("offsets", places.size)
        if (places[1:] <= places[:-1]).any() or not rows.all() or (offsets >= rows << 26).any():
            raise ValueError("its cells are not in order")
        by_class, sizes = bins.reshape(-1, 2).sum(axis=0), bins.reshape(-1, 2).sum(axis=1).tolist()
        n = sum(sizes)
        check_rows(n)
        if by_class.tolist() != [int(rows[places & 1 == flag].sum()) for flag in (0, 1)]:
            raise ValueError("its cells must have the rows of its bins")
        lowest, highest = ends.reshape(-1, 2).T
        none = np.equal(sizes, 0) & (lowest == np.inf) & (highest == -np.inf)
        if not (none | ((lowest >= 0) & (lowest <= highest) & (highest <= 1))).all():
            raise ValueError("its bins must have the ends of their rows")
        if any(total > size << FRACTION for total, size in zip(summary._sums, sizes, strict=True)):
            raise ValueError("its bins must have the sums of their rows")
        squares, logs, infinite, *_ = summary._losses
        if squares > n << FRACTION or logs > n * HIGHEST_LOSS << FRACTION or infinite > n or max(rests) > n << REST:
            raise ValueError("its losses must be those of its rows")
        if not (-math.inf < low <= high < math.inf or (n == 0 and (low, high) == (math.inf, -math.inf))):
            raise ValueError("its extremes must be those of its rows")
        summary._cells[places], summary._offsets[places] = rows, offsets
        if SQUARES in fields:
            squared = fields.counts(SQUARES, places.size)
            summary._squared = exact_sum(squared)
            floats = rows.astype(np.float64)
            if not summary.is_weighted or (squared < rows).any() or (squared > floats * floats).any():
                raise ValueError("its squares are not those of its weights")
            if summary._squared > MOST_ROWS:
                raise ValueError("its squares must add up to at most 2**62")
            summary._squares = np.zeros(8 * CELLS, dtype=np.int64)
            summary._squares[places] = squared
        return summary


def check_rows(n: int) -> None:
    """Raise if there are more rows than sums of integers can hold."""
    if n > MAX_ROWS:
        raise ValueError(f"rows, or their weight, must add up to at most 2**37, got {n}")
