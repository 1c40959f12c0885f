"""Metrics of the ranked documents of queries, each a function of sums over the first k ranks.

For tied scores the sums, and hence all of these metrics, are means over all orders of the tied documents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_integer

Floats = NDArray[np.float64]


class QuerySums(NamedTuple):
    """Sums over the first k ranks of each query.

    Attributes
    ----------
    k : float or ndarray of shape (n_queries,)
        Number of ranks summed over; without a limit, the number of documents of each query.
    n_relevant : ndarray of float of shape (n_queries,)
        Relevant documents of each query, at any rank.
    dcg, ideal_dcg : ndarray of shape (n_queries,)
        Sum of gains times the discounts of their ranks, in the given order and in the ideal order.
    hits : ndarray of shape (n_queries,)
        Relevant documents among the first k.
    reciprocal_rank : ndarray of shape (n_queries,)
        One over the rank of the first relevant document; 0 if there is none.
    found : ndarray of shape (n_queries,)
        Whether a relevant document is among the first k; for tied scores, the probability of this.
    precisions : ndarray of shape (n_queries,)
        Sum, over the relevant documents, of the precision at the document's rank.
    full_hits : ndarray of shape (n_queries,)
        Relevant documents among the first n_relevant, which are all counted only if k is not below n_relevant.
    """

    k: Any
    n_relevant: Floats
    dcg: Floats
    ideal_dcg: Floats
    hits: Floats
    reciprocal_rank: Floats
    found: Floats
    precisions: Floats
    full_hits: Floats


def checked_k(k: Any = None) -> dict[str, Any]:
    """Check and return the option k; None means all documents."""
    return {"k": None if k is None else check_integer("k", k, low=1, high=2**53)}


def dcg(sums: QuerySums) -> Floats:
    """Return the discounted cumulative gain: the sum of gains, each divided by log2(rank + 1)."""
    return sums.dcg


def ndcg(sums: QuerySums) -> Floats:
    """Return the DCG divided by the DCG of the ideal order by relevance."""
    with np.errstate(invalid="ignore"):
        return np.minimum(sums.dcg / sums.ideal_dcg, 1.0)


def reciprocal_rank(sums: QuerySums) -> Floats:
    """Return one over the rank of the first relevant document; 0 if none is among the first k."""
    return _if_any_relevant(sums, sums.reciprocal_rank)


def average_precision(sums: QuerySums) -> Floats:
    """Return the mean, over relevant documents, of the precision at the document's rank, or 0 past rank k."""
    return _over_relevant(sums, sums.precisions)


def recall(sums: QuerySums) -> Floats:
    """Return the share of the relevant documents that are among the first k."""
    return _over_relevant(sums, sums.hits)


def precision(sums: QuerySums) -> Floats:
    """Return the number of relevant documents among the first k, divided by k even if there are fewer documents."""
    precisions: Floats = sums.hits / sums.k
    return precisions


def f1(sums: QuerySums) -> Floats:
    """Return the harmonic mean of precision and recall: twice the hits, divided by k plus the relevant documents."""
    return _if_any_relevant(sums, 2 * sums.hits / (sums.k + sums.n_relevant))


def r_precision(sums: QuerySums) -> Floats:
    """Return the precision at as many ranks as there are relevant documents, where it equals the recall."""
    return _over_relevant(sums, sums.full_hits)


def hit_rate(sums: QuerySums) -> Floats:
    """Return whether a relevant document is among the first k."""
    return _if_any_relevant(sums, sums.found)


def _if_any_relevant(sums: QuerySums, values: Floats) -> Floats:
    return np.where(sums.n_relevant > 0, values, np.nan)


def _over_relevant(sums: QuerySums, values: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        shares: Floats = np.minimum(values / sums.n_relevant, 1.0)
    return shares
