"""Forecasts with their outcomes, in blocks of equal rows: from threshold counts, or row by row for several models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import ROWS_PER_BLOCK, blocks, chunks, run
from fastevals._validation.arrays import power_of_two, usual_unit
from fastevals.counts import ThresholdCounts
from fastevals.measure.probability_metrics import Bins
from fastevals.measure.ranking.ranking import Ranking

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
ROWS_IN_CACHE = 1 << 14  # entries of a block, few enough that all sums over it stay in the nearest caches
LARGEST_WEIGHT = 2.0**200  # in the unit of forecasts: no sum of fourth powers overflows
T = TypeVar("T")


class Block(NamedTuple):
    """Some forecasts. Entry i has all rows with one probability, or a single row.

    Attributes
    ----------
    p : ndarray of shape (n_models, n)
        Each model's probability of a positive.
    weights, squares : ndarray of shape (2, n)
        Sums of the weights, and of the squared weights, of negatives and of positives.
    clusters : ndarray of int of shape (n,), or None
        The number of the cluster of each row.
    """

    p: Floats
    weights: Floats
    squares: Floats
    clusters: NDArray[Any] | None

    def rows(self) -> Floats:
        """Return the number of negatives and of positives, as if the weights of an entry and class were equal."""
        if self.squares is self.weights:
            return self.weights
        some = (self.weights > 0).astype(np.float64)  # one row if the squared weight underflows
        return np.divide(self.weights**2, self.squares, out=some, where=self.squares > 0)


@dataclass(frozen=True, slots=True, eq=False)
class Forecasts(ABC):
    """Probabilities and outcomes of rows.

    Attributes
    ----------
    n_clusters : int or None
        Number of clusters; None if rows are independent.
    is_weighted : bool
        Whether rows have weights.
    unit : float
        Weights are the user's weights times this power of two, so that no square over- or underflows.
    """

    n_clusters: int | None
    is_weighted: bool
    unit: float

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of entries that blocks are cut from."""

    @abstractmethod
    def model(self, model: int) -> Forecasts:
        """Return the forecasts of one model."""

    @abstractmethod
    def block(self, part: slice) -> Block:
        """Return the forecasts of some entries."""

    @abstractmethod
    def counts(self) -> ThresholdCounts:
        """Return the threshold counts of the only model: sums of weights if rows have weights."""

    def isotonic_counts(self) -> ThresholdCounts:
        """Return counts for an isotonic fit, in the user's weights."""
        counts = self.counts()
        return counts.in_weight(1 / self.unit) if self.is_weighted else counts

    @abstractmethod
    def squares_in(self, bins: Bins) -> Floats:
        """Return the sum of squared weights in each bin of the counts, ascending."""

    def sweep(self, function: Callable[[Block], T], step: int = 1) -> list[T]:
        """Call a function on each block, distributed over threads; return the results in order.

        Only every `step`-th entry is in the blocks.
        """

        def sweep_chunk(chunk: slice) -> list[T]:
            return [
                function(self.block(slice(part.start, part.stop, step))) for part in blocks(chunk, step * ROWS_IN_CACHE)
            ]

        return [each for results in run(sweep_chunk, chunks(self.size)) for each in results]

    def by_cluster(
        self, edges: Floats, values: Callable[[Block, NDArray[np.intp]], list[Floats]]
    ) -> list[csr_array[Any]]:
        """Return one model's sums over the rows of each bin in each cluster, of shape (n_bins, n_clusters).

        `values` returns arrays with one value per row, given a block and the bins of its rows.
        """
        from scipy.sparse import coo_array

        shape = edges.size - 1, self.n_clusters
        sums: list[Any] = []
        for block in self.blocks((edges.size - 1) * (self.n_clusters or 0)):
            at = bins_of(block.p[0], edges)
            found = [coo_array((each, (at, block.clusters)), shape).tocsr() for each in values(block, at)]
            sums = [one + other for one, other in zip(sums, found, strict=True)] if sums else found
        return sums

    def blocks(self, n: int) -> Iterator[Block]:
        """Yield all blocks, of about `n` entries each, or of `ROWS_PER_BLOCK` if `n` is smaller."""
        for part in blocks(slice(0, self.size), max(n, ROWS_PER_BLOCK)):
            yield self.block(part)


@dataclass(frozen=True, slots=True, eq=False)
class CountedForecasts(Forecasts):
    """Forecasts of one model, counted by probability.

    Attributes
    ----------
    by_probability : ThresholdCounts
        Rows, or sums of weights.
    squares : ThresholdCounts or None
        Sums of squared weights at the same thresholds.
    """

    by_probability: ThresholdCounts
    squares: ThresholdCounts | None

    @classmethod
    def of(cls, counts: ThresholdCounts, squares: ThresholdCounts | None) -> CountedForecasts | None:
        """Return the forecasts in counts; None if they have weights whose squares are unknown."""
        is_weighted = counts.tps.dtype.kind == "f"
        if is_weighted and squares is None:
            return None
        return cls(None, is_weighted, 1.0, counts, squares if is_weighted else None)

    @property
    def size(self) -> int:
        """Number of distinct probabilities."""
        return self.by_probability.thresholds.size - 1

    def model(self, model: int) -> CountedForecasts:
        """Return these forecasts: they are of one model."""
        return self

    def block(self, part: slice) -> Block:
        """Return the rows with some probabilities."""
        before, after = part, slice(part.start + 1, part.stop + 1, part.step)

        def added(counts: ThresholdCounts) -> Floats:
            return np.stack([column[after] - column[before] for column in (counts.fps, counts.tps)]).astype(np.float64)

        p = self.by_probability.thresholds[np.newaxis, after].astype(np.float64, copy=False)
        weights = added(self.by_probability)
        return Block(p, weights, weights if self.squares is None else added(self.squares), None)

    def counts(self) -> ThresholdCounts:
        """Return the counts."""
        return self.by_probability

    def squares_in(self, bins: Bins) -> Floats:
        """Return the differences of the sums between the steps at which the bins start."""
        squares = self.squares or self.by_probability
        sums = np.diff([squares.tps[bins.starts], squares.fps[bins.starts]]).sum(axis=0)
        return np.asarray(sums[::-1], dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class RowForecasts(Forecasts):
    """Forecasts of one or more models for rows that may have weights, copies and clusters.

    Attributes
    ----------
    p : tuple of ndarray of shape (n_rows,)
        Each model's probabilities.
    positive : ndarray of bool of shape (n_rows,)
        Whether the row is positive.
    weights, copies : ndarray of shape (n_rows,), or None
        Weight, or number of copies, of each row, above zero. Condensed forecasts have fractions of copies.
    clusters : ndarray of int of shape (n_rows,), or None
        Numbers of the clusters, below `n_clusters`.
    """

    p: tuple[Floats, ...]
    positive: NDArray[np.bool_]
    weights: Floats | None
    copies: NDArray[np.int64] | Floats | None
    clusters: NDArray[Any] | None

    @classmethod
    def of(
        cls,
        p: Iterable[NDArray[Any]],
        positive: NDArray[np.bool_],
        *,
        clusters: NDArray[Any] | None = None,
        sample_weight: NDArray[Any] | None = None,
        frequency_weight: NDArray[Any] | None = None,
    ) -> tuple[RowForecasts, NDArray[np.bool_] | None]:
        """Return the forecasts of rows of weight above zero, and which rows these are (None if all)."""
        unit, n_clusters, weights, copies = 1.0, None, None, None
        if clusters is not None:
            clusters, n_clusters = renumber(clusters, int(clusters.max()) + 1)
        if sample_weight is not None:
            unit = min(usual_unit(sample_weight, positive), power_of_two(float(sample_weight.max())) * LARGEST_WEIGHT)
            weights = sample_weight * unit
        if frequency_weight is not None:
            copies = frequency_weight.astype(np.int64, copy=False)
        probabilities = tuple(np.asarray(each, dtype=np.float64) for each in p)
        rows = cls(n_clusters, weights is not None, unit, probabilities, positive, weights, copies, clusters)
        heavy = weights if copies is None else copies
        if heavy is None or heavy.all():
            return rows, None
        return rows.take(heavy > 0), heavy > 0

    def reduced(self, counts: ThresholdCounts | None = None) -> Forecasts:
        """Return one model's rows as counts, computed unless given; with weights or clusters, return the rows."""
        if self.weights is not None or self.clusters is not None:
            return self
        return CountedForecasts(None, False, 1.0, self.counts() if counts is None else counts, None)

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.positive.size

    def block(self, part: slice) -> Block:
        """Return some rows."""
        sides = np.stack([~self.positive[part], self.positive[part]])
        weights = sides.astype(np.float64)
        if self.copies is not None:
            weights *= self.copies[part]
        squares = weights
        if self.weights is not None:
            weights = sides * self.weights[part]
            squares = weights * weights
        clusters = None if self.clusters is None else self.clusters[part]
        return Block(np.stack([each[part] for each in self.p]), weights, squares, clusters)

    def counts(self) -> ThresholdCounts:
        """Count the rows."""
        labels = self.positive.astype(np.int8)
        weights = {"sample_weight": self.weights, "frequency_weight": self.copies}
        return Ranking(labels, self.p[0], pos_label=1, **weights).counts

    def squares_in(self, bins: Bins) -> Floats:
        """Add up the rows of each bin."""
        squared = self.copies if self.weights is None else self.weights**2
        return np.bincount(bins_of(self.p[0], bins.edges), squared, bins.edges.size - 1).astype(np.float64, copy=False)

    def model(self, model: int) -> RowForecasts:
        """Return the forecasts of one model."""
        return replace(self, p=(self.p[model],))

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> RowForecasts:
        """Return the forecasts of some rows."""
        clusters, n_clusters = self.clusters, self.n_clusters
        if clusters is not None and n_clusters is not None:
            clusters, n_clusters = renumber(clusters[rows], n_clusters)
        weights = None if self.weights is None else self.weights[rows]
        copies = None if self.copies is None else self.copies[rows]
        p = tuple(each[rows] for each in self.p)
        return replace(
            self, n_clusters=n_clusters, p=p, positive=self.positive[rows], weights=weights, copies=copies,
            clusters=clusters,
        )  # fmt: skip


def bins_of(p: Floats, edges: Floats) -> NDArray[np.intp]:
    """Return the bin of each probability; an edge belongs to the bin below it."""
    return np.searchsorted(edges[1:-1], p)


def renumber(clusters: NDArray[Any], width: int) -> tuple[NDArray[Any], int]:
    """Renumber clusters, whose numbers are below `width`, without gaps; return the new numbers, and how many."""
    if clusters.size < width:
        present, places = np.unique(clusters, return_inverse=True)
        return places, present.size
    seen = np.zeros(width, dtype=bool)
    seen[clusters] = True
    n = int(np.count_nonzero(seen))
    return clusters if n == width else (np.cumsum(seen, dtype=clusters.dtype) - 1)[clusters], n
