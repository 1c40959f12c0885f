"""Cases that compare metrics of ranked documents by query: entries as in `benches.peers`."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastevals
from benches.data import DOCUMENTS, Data
from benches.peers import Call, Cases, installed

METRICS = [f"{name}@{k}" for name in ("ndcg", "map", "mrr", "recall") for k in (1, 5, 10, 100)]


def table(data: Data) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return grades of relevance, a tenth above 0, and scores without ties, one row per query."""
    n = data.rows // DOCUMENTS * DOCUMENTS
    grades = (data.y[:n] * (1 + np.arange(n) % 3)).reshape(-1, DOCUMENTS)
    grades[:, 0] = 1  # peers have no query without relevant documents
    return grades.astype(np.float64), (data.s[:n] + 1e-9 * np.arange(n)).reshape(-1, DOCUMENTS)


def _of_table(data: Data) -> Call:
    relevance, scores = table(data)

    def call() -> NDArray[np.float64]:
        found = fastevals.query_metrics(relevance, scores, None, METRICS, interval=None)
        return np.array([each.mean for each in found.values()])

    return call


def _compiled(data: Data) -> Call:
    """Pass ranx its own arrays: ordered lists of documents with their grades or scores."""
    evaluate, typed = import_module("ranx.meta.evaluate").evaluate, import_module("numba.typed")
    judged, ranked = typed.List(), typed.List()
    for grades, scores in zip(*table(data), strict=True):
        for out, values in ((judged, grades), (ranked, scores)):
            order = np.argsort(-values, kind="stable")
            order = order[values[order] > 0] if out is judged else order
            out.append(np.stack([order.astype(np.float64), values[order]], axis=1))
    return lambda: np.array([*evaluate(judged, ranked, METRICS).values()])


def _of_rows(data: Data) -> Call:
    relevance, queries = (data.y * (1 + np.arange(data.rows) % 3)).astype(np.float64), data.queries

    def call() -> NDArray[np.float64]:
        with warnings.catch_warnings():  # queries without relevant documents
            warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
            found = fastevals.query_metrics(relevance, data.s, queries, METRICS, interval=None)
        return np.array([each.mean for each in found.values()])

    return call


QUERIES: Cases = installed(
    {"queries": {"fastevals": _of_table, "ranx": _compiled}, "shuffled_queries": {"fastevals": _of_rows}}
)
