"""Judgments of documents (qrels) as a table of their own, and the runs that they judge."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._options import listed, naming_rows, row_at, show
from fastevals._validation.arrays import EXACT_INTEGER, INT64, as_scores, plain_numbers, raise_not_finite
from fastevals._validation.labels import check_comparable_labels
from fastevals._validation.text import GroupKeys, TextLabels, number_values, share_names, sort_names
from fastevals.counting.keys import as_group_keys
from fastevals.counting.labels import in_order
from fastevals.many.query_sums import Queries
from fastevals.many.relevant_documents import RelevantDocuments
from fastevals.reading.columns import join_columns
from fastevals.reading.csv import CsvForm, Request
from fastevals.reading.files import open_source
from fastevals.reading.sources import Source, is_path
from fastevals.reading.trec import read_trec

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ids = Any  # integers, or TextLabels

SCORE = "score"  # the column of a run, unless it has only one column besides the ids


class Qrels:
    """Judgments: the relevance of documents to queries, in a table of their own.

    `query_metrics` and `compare_query_metrics` take them in place of `y_true`, with runs in place of `y_score`. Each
    run has the documents that a system retrieved for each query, with their scores. Relevant documents that a run lacks
    count as missed, and documents without a judgment as not relevant.

    Parameters
    ----------
    data : path, frame, mapping of str to array-like, or mapping of query to mapping of document to relevance
        One row per judged document: a frame or another table, a CSV, Parquet or Arrow file, or a file in TREC's form
        (query, iteration, document, relevance, separated by spaces or tabs).
    query, document, relevance : str
        Names of the columns. Runs that are tables have the same columns of ids. Ids are text or whole numbers; if a run
        has numbers where the judgments have text, they are compared as text.

    Attributes
    ----------
    queries : ndarray of shape (n_queries,)
        The judged queries, ascending.
    n_judged, n_relevant : ndarray of int64 of shape (n_queries,)
        Number of judged documents and of relevant documents (relevance above 0) of each query.

    Raises
    ------
    ValueError
        If an argument is not as described, or if a document is judged twice for a query; the message names the row.

    Notes
    -----
    All queries of the judgments count, as with ``trec_eval -c``: if a run retrieved nothing for a query, its metrics
    are 0. Queries without judgments are left out. Relevance of 0 or below means judged as not relevant. The order of
    documents follows from their scores alone, and ranks in a TREC run are ignored, as by trec_eval; but where scores
    tie, values are means over all orders.

    Examples
    --------
    >>> import fastevals
    >>> qrels = fastevals.Qrels({"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1}})
    >>> run = {"q1": {"d3": 0.9, "d7": 0.8, "d2": 0.3}}
    >>> found = fastevals.query_metrics(qrels, run, metrics=["recall@10", "mrr"], interval=None)
    >>> found["recall@10"].values
    array([0.5, 0. ])
    >>> found["mrr"].n_judged, found["mrr"].n_documents
    (array([2, 0]), array([3, 0]))
    """

    __slots__ = ("_documents", "_pairs", "_relevance", "columns", "n_judged", "n_relevant", "queries")

    def __init__(
        self, data: Any, *, query: str = "query", document: str = "document", relevance: str = "relevance"
    ) -> None:
        self.columns = query, document
        self._read("qrels", _read_rows("qrels", data, (query, document), relevance))

    @classmethod
    def _of(cls, name: str, data: Any, columns: tuple[str, str], relevance: str, form: CsvForm) -> Qrels:
        """Make judgments from data that messages call `name`."""
        found = cls.__new__(cls)
        found.columns = columns
        found._read(name, _read_rows(name, data, columns, relevance, form))
        return found

    def _read(self, name: str, rows: _JudgedTable) -> None:
        relevance = np.maximum(rows.values.astype(np.float64), 0.0)
        self.queries, codes = _distinct(rows.queries)
        self._documents, documents = _distinct(rows.documents)
        pairs = codes.astype(INT64) * len(self._documents) + documents
        _check_once(name, pairs, rows)
        order = np.argsort(pairs)
        self._pairs, self._relevance = pairs[order], relevance[order]
        self.n_judged = np.bincount(codes, minlength=self.queries.size)
        self.n_relevant = np.bincount(codes[relevance > 0], minlength=self.queries.size)
        for each in (self.queries, self.n_judged, self.n_relevant):  # results hold them
            each.flags.writeable = False

    def __len__(self) -> int:
        return self.queries.size

    def __repr__(self) -> str:
        counts = f"{self._pairs.size:,} judged documents, {int(self.n_relevant.sum()):,} relevant"
        return f"Qrels({len(self):,} queries, {counts})"

    def _line(self, row: int) -> str:
        """Return the name of a judgment in messages."""
        query, document = divmod(int(self._pairs[row]), len(self._documents))
        return f"document {show(self._documents[document])} of query {show(self.queries[query])}"

    def _relevant(self) -> RelevantDocuments:
        """Return all relevant documents of each query."""
        relevance = self._relevance[self._relevance > 0]
        return RelevantDocuments(self.queries, self.n_relevant.copy(), None if (relevance == 1).all() else relevance)

    def _run(self, name: str, run: Any, form: CsvForm) -> _JudgedTable:
        """Return the rows of a run that messages call `name`."""
        return _read_rows(name, run, self.columns, None, form)

    def _runs(
        self,
        name: str,
        runs: Any,
        scores: Sequence[str] | None = None,
        form: CsvForm = CsvForm(),  # noqa: B008
    ) -> dict[Any, _JudgedTable]:
        """Return the rows of several systems: a mapping of names to runs, or a table with a column for each system."""
        if isinstance(runs, Mapping) and not set(self.columns) <= set(runs):
            return {each: _read_rows(f"{name}[{each!r}]", run, self.columns, None) for each, run in runs.items()}
        if isinstance(runs, (list, tuple, np.ndarray)):
            return {k: _read_rows(f"{name}[{k}]", run, self.columns, None) for k, run in enumerate(runs)}
        source = open_source(runs, Request(None, self.columns, form=form), name=name)
        names = scores or [each for each in source.names if each not in self.columns]
        wanted = {each: f"{name}[{each!r}]" for each in (*self.columns, *names)}
        table = join_columns(source, wanted, names)
        ids = [_as_ids(wanted[each], table[each]) for each in self.columns]
        return {each: _JudgedTable(ids[0], ids[1], table[each], table.line) for each in names}

    def _judge(self, name: str, run: Any) -> JudgedRun:
        """Return a run's documents with their relevance, by judged query."""
        rows = run if isinstance(run, _JudgedTable) else _read_rows(name, run, self.columns, None)
        known, queries = _shared(self.queries, rows.queries)
        scores: NDArray[Any] = rows.values
        if scores.dtype.kind == "f" and not np.isfinite(scores).all():
            with naming_rows(rows.line):
                raise_not_finite(name, scores)
        query_of = _places(known, queries)
        kept = query_of >= 0
        n_left_out = len(_distinct(rows.queries)[0]) - len(sorted_unique(query_of[kept]))
        if not kept.any():
            its = _distinct(rows.queries)[0]
            raise ValueError(
                f"{name} must have queries that are judged, but has {listed(list(its), 3)}, and the qrels have "
                f"{listed(list(self.queries), 3)}"
            )
        documents = rows.documents
        if n_left_out:
            query_of, scores, documents = query_of[kept], scores[kept], documents[kept]
        known, codes = _shared(self._documents, documents)
        _check_once(name, query_of * (int(codes.max()) + 1) + codes, rows, np.flatnonzero(kept))
        document_of = _places(known, codes)
        candidates = np.flatnonzero(document_of >= 0)
        pairs = query_of[candidates] * len(self._documents) + document_of[candidates]
        found = np.minimum(np.searchsorted(self._pairs, pairs), self._pairs.size - 1)
        is_judged = self._pairs[found] == pairs
        relevance, judged = np.zeros(query_of.size), candidates[is_judged]
        relevance[judged] = self._relevance[found[is_judged]]
        counts = np.bincount(query_of, minlength=len(self))
        order = None if (query_of[1:] >= query_of[:-1]).all() else query_of.astype(np.uint32)
        return JudgedRun(
            Queries(self.queries, np.append(0, np.cumsum(counts)), order),
            relevance,
            scores,
            np.bincount(query_of[judged], minlength=len(self)),
            n_left_out,
        )


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRun:
    """The documents that a system ranked, by query, with their relevance.

    Attributes
    ----------
    queries : Queries
        All queries; judged ones may have no documents.
    relevance, scores : ndarray of shape (n_documents,)
        Relevance (0 without a judgment) and score of each document.
    n_judged : ndarray of int64 of shape (n_queries,), or None
        Number of documents with a judgment; None if documents and judgments are in one table.
    n_left_out : int
        Number of queries of the run that are left out because they have no judgments.
    """

    queries: Queries
    relevance: Floats
    scores: NDArray[Any]
    n_judged: Ints | None = None
    n_left_out: int = 0

    @property
    def n_documents(self) -> Ints:
        """Number of documents of each query."""
        return np.diff(self.queries.starts)


# Rows of judgments and runs -------------------------------------------------------------------------------------------


class _JudgedTable(NamedTuple):
    """A table of values of documents of queries; `line` names a row in messages."""

    queries: Ids
    documents: Ids
    values: NDArray[Any]
    line: Callable[[int], str]


def _read_rows(
    name: str,
    data: Any,
    columns: tuple[str, str],
    value: str | None,
    form: CsvForm = CsvForm(),  # noqa: B008
) -> _JudgedTable:
    """Read a table; `value` names the column of relevance, None means a run's scores."""
    if isinstance(data, Qrels):
        raise ValueError(f"{name} must be {'a run' if value is None else 'a table of judgments'}, got {data!r}")
    if isinstance(data, Mapping) and all(isinstance(each, Mapping) for each in data.values()):
        return _of_mapping(name, data)
    if is_path(data):
        path = os.fsdecode(data)
        found = read_trec(path, SCORE if value is None else "relevance")
        if found is not None:
            if options := form.options():
                raise ValueError(f"{options[0]} goes with a CSV file, but {path!r} is in TREC's form")
            ids = [_as_ids(f"{name}[{each!r}]", ids) for each, ids in zip(columns, found, strict=False)]
            return _JudgedTable(ids[0], ids[1], _as_values(name, found.values.to_numpy(), found.line), found.line)
    source = open_source(data, Request(None, columns, form=form), name=name)
    value = _score_column(name, source, columns) if value is None else value
    wanted = {each: f"{name}[{each!r}]" for each in (*columns, value)}
    if len(wanted) < 3:
        raise ValueError(f"{name} must have three different columns, got {listed([*columns, value])}")
    table = join_columns(source, wanted, (value,))
    with naming_rows(table.line):
        ids = [_as_ids(wanted[each], table[each]) for each in columns]
        return _JudgedTable(ids[0], ids[1], _as_values(wanted[value], table[value], table.line), table.line)


def _score_column(name: str, source: Source, columns: tuple[str, str]) -> str:
    """Return the column of a run's scores."""
    others = [each for each in source.names if each not in columns]
    if SCORE not in others and len(others) != 1:
        raise ValueError(
            f"{name} must have a column {SCORE!r}, or only one column besides {listed(list(columns))}, got "
            f"{listed(others) or 'none'}"
        )
    return SCORE if SCORE in others else others[0]


def _of_mapping(name: str, data: Mapping[Any, Mapping[Any, Any]]) -> _JudgedTable:
    """Read a mapping of query to mapping of document to value, the form of pytrec_eval and ranx."""
    queries = [query for query, of_query in data.items() for _ in of_query]
    documents = [document for of_query in data.values() for document in of_query]
    values = [value for of_query in data.values() for value in of_query.values()]
    if not queries:
        raise ValueError(f"{name} has no documents")

    def line(row: int) -> str:
        return f"document {show(documents[row])} of query {show(queries[row])}"

    with naming_rows(line):
        ids = [_as_ids(f"{what} of {name}", each) for what, each in (("queries", queries), ("documents", documents))]
        return _JudgedTable(ids[0], ids[1], _as_values(name, values, line), line)


def _as_values(name: str, values: Any, line: Callable[[int], str]) -> NDArray[Any]:
    """Return finite numbers."""
    with naming_rows(line):
        array = plain_numbers(as_scores(name, values))
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise_not_finite(name, array)
    return array


def _as_ids(name: str, values: Any) -> Ids:
    """Return ids: text, or whole numbers."""
    keys = as_group_keys(name, values)
    if isinstance(keys, TextLabels) and not isinstance(keys, GroupKeys):
        return keys
    if keys.dtype.kind == "f" and (np.trunc(keys) == keys).all() and np.abs(keys).max() <= EXACT_INTEGER:
        keys = keys.astype(INT64)  # a column with missing values was once of floats
    if isinstance(keys, GroupKeys) or keys.dtype.kind not in "iub":
        raise ValueError(f"{name} must be ids, text or whole numbers, got {show(keys[0])}: convert them to text")
    check_comparable_labels(**{name: keys})  # raises beyond 64 bits
    return keys


# Ids as numbers -------------------------------------------------------------------------------------------------------


def _distinct(ids: Ids) -> tuple[NDArray[Any], Ints]:
    """Return the distinct ids, ascending, and each row's position in them."""
    if isinstance(ids, TextLabels):
        return ids.occurring()
    values, (codes,) = number_values([ids])
    values, place = in_order(values)
    return values, place[codes]


def _shared(distinct: NDArray[Any], ids: Ids) -> tuple[Ints, Ints]:
    """Return numbers of distinct ids and of the ids of rows, in which equal ids have the same number.

    Text and numbers are compared as text, because a file may not say which its ids are.
    """
    is_text = distinct.dtype.kind not in "iub"
    if is_text or isinstance(ids, TextLabels):
        known = TextLabels(distinct, np.arange(distinct.size)) if is_text else _as_text(distinct)
        _, (own, others) = share_names([known, ids if isinstance(ids, TextLabels) else _as_text(ids)])
        return own, others
    _, (own, others) = number_values([distinct, ids])
    return own, others


def _as_text(ids: NDArray[Any]) -> TextLabels:
    values, codes = _distinct(ids)
    return sort_names(values.astype(np.str_), codes)


def _places(distinct: Ints, codes: Ints) -> Ints:
    """Return the position of each code among distinct codes; -1 if it is not there."""
    places = np.full(int(max(distinct.max(), codes.max())) + 1, -1)
    places[distinct] = np.arange(distinct.size)
    found: Ints = places[codes]
    return found


def _check_once(name: str, pairs: Ints, rows: _JudgedTable, kept: Sequence[int] | Ints | None = None) -> None:
    """Raise if a document occurs twice for a query; `kept` are the rows of the pairs, by default all."""
    ordered = np.sort(pairs)
    twice = np.flatnonzero(ordered[1:] == ordered[:-1])
    if not twice.size:
        return
    first, second = np.flatnonzero(pairs == ordered[twice[0]])[:2]
    if kept is not None:
        first, second = kept[first], kept[second]
    with naming_rows(rows.line):
        raise ValueError(
            f"{name} must have each document once per query, but has document {show(rows.documents[first])} of query "
            f"{show(rows.queries[first])} at {row_at(first)} and {row_at(second)}"
        )
