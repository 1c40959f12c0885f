"""All relevant documents of each query, retrieved or not: their number, and their gains in the best order."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.queries import IDEAL
from fastevals._options import check_integer, show
from fastevals._validation.arrays import as_scores
from fastevals.many.groups import as_time
from fastevals.many.query_sums import sum_by_query

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_DOCUMENTS = 2**31  # relevant documents of a query
NAME = "n_relevant"
SORTS = (
    f"{NAME} must be a mapping of each query to its number of relevant documents, or to their relevance; if "
    "y_true is 2-D, a sequence of these"
)


@dataclass(frozen=True, slots=True, eq=False)
class RelevantDocuments:
    """All relevant documents of each query.

    Attributes
    ----------
    keys : ndarray of shape (n_queries,)
        The queries.
    counts : ndarray of int64 of shape (n_queries,)
        Number of relevant documents of each query.
    relevance : ndarray of float64, or None
        Relevance of each document, query by query; None if it is 1 for all.
    """

    keys: NDArray[Any]
    counts: Ints
    relevance: Floats | None

    @classmethod
    def read(cls, given: Any, keys: NDArray[Any], largest: float, *, table: bool) -> RelevantDocuments:
        """Read the entry of each query; relevance is at most `largest`."""
        values = _by_query(given, keys, table)
        if all(isinstance(each, numbers.Integral) for each in values):
            named = zip(keys, values, strict=True)
            counts = [check_integer(f"{NAME}[{show(key)}]", each, low=0, high=MOST_DOCUMENTS) for key, each in named]
            return cls(keys, np.array(counts, dtype=np.int64), None)
        found = [_relevance(key, each, largest) for key, each in zip(keys, values, strict=True)]
        return cls(keys, np.array([each.size for each in found], dtype=np.int64), np.concatenate(found))

    def check_retrieved(self, relevance: NDArray[Any], n_documents: Ints) -> None:
        """Raise if relevant documents that a query retrieved are missing here; `relevance` is in order of query."""
        query = np.repeat(np.arange(n_documents.size), n_documents)[relevance > 0]
        retrieved = np.bincount(query, minlength=n_documents.size)
        few = np.flatnonzero(retrieved > self.counts)
        if few.size:
            name = f"{NAME}[{show(self.keys[few[0]])}]"
            raise ValueError(
                f"{name} must count all relevant documents of the query, including the {retrieved[few[0]]} among its "
                f"rows, got {self.counts[few[0]]}"
            )
        if self.relevance is None or not self.relevance.size:
            return
        own = relevance[relevance > 0].astype(np.float64)
        queries = np.concatenate([query, np.repeat(np.arange(self.counts.size), self.counts)])
        grades, sign = np.concatenate([own, self.relevance]), np.repeat([-1, 1], [own.size, self.relevance.size])
        order = np.lexsort((grades, queries))
        queries, grades, sign = queries[order], grades[order], sign[order]
        first = np.flatnonzero(np.append(True, (queries[1:] != queries[:-1]) | (grades[1:] != grades[:-1])))
        lacking = first[np.add.reduceat(sign, first) < 0]
        if lacking.size:
            raise ValueError(
                f"{NAME}[{show(self.keys[queries[lacking[0]]])}] must have the relevance of all relevant documents of "
                f"the query, including those among its rows: one of relevance {show(grades[lacking[0]])} is missing"
            )

    def ideal_gains(self, relevance: NDArray[Any], cuts: Ints, worth: Callable[[NDArray[Any]], NDArray[Any]]) -> Floats:
        """Return the largest possible DCG of each query at each cut, of shape (n_cuts, n_queries).

        Parameters
        ----------
        relevance : ndarray of shape (n_documents,)
            Relevance of the retrieved documents.
        cuts : ndarray of int64 of shape (n_cuts,)
            Numbers of ranks to sum over.
        worth : callable
            Takes relevance and returns gains.
        """
        if self.relevance is None:
            other = np.flatnonzero((relevance > 0) & (relevance != 1))
            if other.size:
                raise ValueError(
                    f"{NAME} must give the relevance of each relevant document, not their number, because nDCG "
                    f"depends on it if y_true has relevance other than 0 and 1, such as {show(relevance[other[0]])}"
                )
            ranks = np.minimum(self.counts, cuts[:, None])
            return np.append(0.0, np.cumsum(_discounts(int(ranks.max()))))[ranks]
        ideal = np.zeros((cuts.size, self.counts.size))

        def use(span: slice, _: Ints, sums: Floats) -> None:
            ideal[:, span] = sums[:, IDEAL]

        if self.relevance.size:
            starts, scores = np.append(0, np.cumsum(self.counts)), np.zeros(self.relevance.size)
            sum_by_query(starts, worth(self.relevance), scores, cuts, _discounts(int(self.counts.max())), use)
        return ideal


def _discounts(n: int) -> Floats:
    """Return the discounts of the first n ranks."""
    discounts: Floats = 1 / np.log2(np.arange(n) + 2)
    return discounts


def _by_query(given: Any, keys: NDArray[Any], table: bool) -> list[Any]:
    """Return the entry of each query, in the order of the keys."""
    if isinstance(given, Mapping) or hasattr(given, "items"):  # a Series
        named: dict[Any, Any] = {}
        for key, each in given.items():
            if key in named:
                raise ValueError(f"{NAME} must have each query once, but has {show(key)} several times")
            named[key] = each
    elif table and hasattr(given, "__len__") and not isinstance(given, (str, bytes)):
        if len(given) != keys.size:
            raise ValueError(f"{NAME} must have an entry for each of the {keys.size} queries, got {len(given)}")
        named = dict(enumerate(given))
    else:
        raise ValueError(f"{SORTS}, got {show(given)}")
    wanted = keys.tolist()
    if keys.dtype.kind in "mM":
        named, wanted = {as_time(key, keys.dtype): each for key, each in named.items()}, list(keys)
    missing = next((key for key in wanted if key not in named), None)
    if missing is not None:
        raise ValueError(f"{NAME} must have every query, but {show(missing)} is not in it")
    if len(named) > len(wanted):
        known = set(wanted)
        stranger = next(key for key in named if key not in known)
        raise ValueError(
            f"{NAME} must have only queries that have rows, got {show(stranger)}: to count a query that retrieved "
            "nothing, give it a row of relevance 0"
        )
    return [named[key] for key in wanted]


def _relevance(key: Any, value: Any, largest: float) -> Floats:
    """Return the relevance of a query's relevant documents; 1 for each if only their number is given."""
    name = f"{NAME}[{show(key)}]"
    if isinstance(value, numbers.Real):
        return np.ones(check_integer(name, value, low=0, high=MOST_DOCUMENTS))
    values = as_scores(name, value).astype(np.float64) if np.size(value) else np.empty(0)
    wrong = np.flatnonzero(~((values >= 0) & (values <= largest)))
    if wrong.size:
        raise ValueError(f"{name} must hold relevance, numbers from 0 to {largest:g}, got {show(values[wrong[0]])}")
    return values[values > 0]
