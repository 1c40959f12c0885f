"""Metrics of ranked documents by their definitions: the mean over all orders of documents with tied scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby, permutations, product


def orders(relevance: Sequence[float], scores: Sequence[float]) -> Iterator[list[float]]:
    """Yield the relevance of documents by rank, for every order of tied documents."""
    ranked = sorted(zip(scores, relevance, strict=True), key=lambda document: -document[0])
    ties = [[y for _, y in tie] for _, tie in groupby(ranked, key=lambda document: document[0])]
    for order in product(*(permutations(tie) for tie in ties)):
        yield [y for tie in order for y in tie]


def dcg(ranked: Sequence[float], k: int, known: Sequence[float] = ()) -> float:
    return sum(y / math.log2(rank + 1) for rank, y in enumerate(ranked[:k], 1))


def ndcg(ranked: Sequence[float], k: int, known: Sequence[float]) -> float:
    return dcg(ranked, k) / dcg(sorted(known, reverse=True), k)


def mrr(ranked: Sequence[float], k: int, known: Sequence[float]) -> float:
    return next((1 / rank for rank, y in enumerate(ranked[:k], 1) if y > 0), 0.0)


def map(ranked: Sequence[float], k: int, known: Sequence[float]) -> float:
    precisions = [relevant(ranked[:rank]) / rank for rank, y in enumerate(ranked[:k], 1) if y > 0]
    return sum(precisions) / relevant(known)


def recall_at_k(ranked: Sequence[float], k: int, known: Sequence[float]) -> float:
    return relevant(ranked[:k]) / relevant(known)


def precision_at_k(ranked: Sequence[float], k: int, known: Sequence[float]) -> float:
    return relevant(ranked[:k]) / k


def f1_at_k(ranked: Sequence[float], k: int, known: Sequence[float]) -> float:
    precision, recall = precision_at_k(ranked, k, known), recall_at_k(ranked, k, known)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def r_precision(ranked: Sequence[float], k: int, known: Sequence[float]) -> float:
    return precision_at_k(ranked, relevant(known), known)


def hit_rate(ranked: Sequence[float], k: int, known: Sequence[float]) -> float:
    return float(relevant(ranked[:k]) > 0)


def relevant(ranked: Sequence[float]) -> int:
    return sum(y > 0 for y in ranked)


METRICS = {
    each.__name__: each for each in (ndcg, dcg, mrr, map, recall_at_k, precision_at_k, f1_at_k, r_precision, hit_rate)
}


def value(
    name: str,
    k: int | None,
    relevance: Sequence[float],
    scores: Sequence[float],
    gain: str = "linear",
    missed: Sequence[float] = (),
) -> float:
    """Return a metric of one query; NaN if it needs a relevant document and there is none.

    Relevant documents that were `missed` have no rank.
    """
    known = [*relevance, *missed]
    if not any(known) and name not in ("dcg", "precision_at_k"):
        return math.nan
    if gain == "exponential" and name.endswith("dcg"):
        relevance, known = ([2**y - 1 for y in each] for each in (relevance, known))
    if k is None:
        k = len(scores) if name in ("precision_at_k", "f1_at_k") else len(known)
    values = [METRICS[name](ranked, k, known) for ranked in orders(relevance, scores)]
    return sum(values) / len(values)
