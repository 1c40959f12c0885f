"""Documents gathered by query, and the sums that metrics of ranked documents are computed from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.groups import count_runs
from fastevals._kernels.queries import GRADES, QUERY_SUMS, scatter_rows, sum_queries
from fastevals._validation.arrays import EXACT_INTEGER, FLOAT64, check_finite
from fastevals.counting.groups import code_groups, spans
from fastevals.counting.ordering import plain_block, sorting_space

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DOCUMENTS_PER_TASK = 1 << 18  # documents and queries of a task
TO_THE_END = 2**62  # the cut for metrics of all documents


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Documents by query: query q has the documents from starts[q] up to starts[q + 1].

    Attributes
    ----------
    keys : ndarray of shape (n_queries,)
        Ids of the queries, ascending.
    starts : ndarray of int64 of shape (n_queries + 1,)
        Start of each query's documents.
    order : ndarray of uint32 of shape (n_documents,), or None
        The query number of each row; None if rows are already gathered by query.
    """

    keys: NDArray[Any]
    starts: Ints
    order: NDArray[np.uint32] | None = None

    @classmethod
    def of_keys(cls, keys: NDArray[Any]) -> Queries:
        """Make queries from the key of each row."""
        codes = code_groups(keys)
        numbers = codes.block(slice(None))
        counts = np.zeros(codes.width, dtype=np.int64)
        count_runs(numbers, np.uint32(0), counts)
        occurring = np.flatnonzero(counts)
        starts = np.append(0, np.cumsum(counts))
        ascending = bool((numbers[1:] >= numbers[:-1]).all())
        if not ascending and occurring.size < codes.width:
            numbers = (np.cumsum(counts > 0, dtype=np.uint32) - np.uint32(1))[numbers]
        starts = np.append(starts[occurring], keys.size)
        return cls(codes.keys(occurring), starts, None if ascending else numbers)

    @classmethod
    def of_rows(cls, n_queries: int, n_documents: int) -> Queries:
        """Make one query for each row of a table."""
        return cls(np.arange(n_queries), np.arange(n_queries + 1) * n_documents)

    def gather(self, gains: NDArray[Any], scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return gains and scores with the documents of each query adjacent."""
        if self.order is None:
            return gains, scores
        together = np.empty(gains.size), np.empty(gains.size)
        rows = plain_block(scores, FLOAT64), plain_block(gains, FLOAT64)
        scatter_rows(self.order, *rows, self.starts[:-1].copy(), together[1], together[0])
        return together


def as_ranks(name: str, scores: NDArray[Any]) -> NDArray[Any]:
    """Return the scores, or their ranks if float64 would round some scores."""
    kind, size = scores.dtype.kind, scores.dtype.itemsize
    if kind == "f" and size > 8:
        check_finite(name, scores)
    elif kind not in "iu" or size < 8 or -EXACT_INTEGER <= int(scores.min()) <= int(scores.max()) <= EXACT_INTEGER:
        return scores
    return np.unique(scores, return_inverse=True)[1].reshape(scores.shape)


def sum_by_query(
    starts: Ints,
    gains: NDArray[Any],
    scores: NDArray[Any],
    cuts: Ints,
    discounts: Floats,
    use: Callable[[slice, Ints, Floats], None],
    *,
    read: Callable[[Floats, Floats], Floats] = lambda gains, scores: gains,
    n_relevant: Ints | None = None,
    ideal: bool = True,
    split: bool = False,
) -> None:
    """Sum over each query's ranked documents and pass the sums of some queries at a time to `use`, in several threads.

    Parameters
    ----------
    starts : ndarray of int64 of shape (n_queries + 1,)
        Where the documents of each query start.
    gains, scores : ndarray of shape (n_documents,)
        Gain and score of each document; a document of gain 0 is not relevant.
    cuts : ndarray of int64 of shape (n_cuts,)
        Numbers of ranks to sum over, ascending.
    discounts : ndarray of shape (largest,)
        Discount of each rank.
    use : callable
        Takes a slice of queries, the number of relevant documents of each, and sums of shape (n_cuts, QUERY_SUMS, n).
    read : callable
        Checks the gains and scores of a block, and returns the gains to sum.
    n_relevant : ndarray of int64 of shape (n_queries,), optional
        Number of all relevant documents of each query; by default those among its documents.
    ideal : bool
        Whether to compute the ideal DCG.
    split : bool
        If true, the later of two tied documents ranks first; otherwise sums are averaged over all orders of ties.
    """
    largest = discounts.size

    def workspace() -> tuple[Any, ...]:
        keys, length = np.empty(largest, dtype=np.uint64), max(largest, GRADES)
        return (
            keys, keys.view(FLOAT64), *sorting_space(largest), np.empty((3, largest)), np.empty((3, length), np.int64),
            np.empty(largest // 64 + 1, dtype=np.uint64),
        )  # fmt: skip

    def measure(span: tuple[int, int], space: Any) -> None:
        own = starts[span[0] : span[1] + 1]
        rows = slice(int(own[0]), int(own[-1]))
        ranked = plain_block(scores[rows], FLOAT64)
        worth = read(plain_block(gains[rows], FLOAT64), ranked)
        sums = np.empty((cuts.size, QUERY_SUMS, own.size - 1))
        relevant = np.full(own.size - 1, -1) if n_relevant is None else n_relevant[slice(*span)].copy()
        sum_queries(worth, ranked, own - own[0], split, ideal, cuts, discounts, *space, relevant, sums)
        use(slice(*span), relevant, sums)

    run(measure, spans(starts, DOCUMENTS_PER_TASK), workspace=workspace, compiles=sum_queries)
