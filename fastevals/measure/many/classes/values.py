"""Values of each class and of each pair of classes; NaN where one is undefined, without a warning."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import permutations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import chunks, num_threads, run
from fastevals._kernels.classes import add_by_class, keys_of_class
from fastevals._kernels.placements import index_keys, place_rows
from fastevals._kernels.sorting import sort_keys
from fastevals.measure.asked import AskedMetric, of_ranking
from fastevals.measure.codec import Codec, codec_for
from fastevals.measure.many.classes.scores import ClassScores
from fastevals.measure.many.columns import batch_values
from fastevals.measure.ordering import sorting_space
from fastevals.measure.placements import LIMIT, STRETCH, Index
from fastevals.measure.ranking import Ranking

__all__ = ["aucs_by_class", "class_values", "doubled_pairs", "pair_aucs"]

R = TypeVar("R")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MANY = 64  # classes
SMALL = 1 << 16  # cells of scores that one thread goes through in less than a millisecond
EXACT = 2**53


def class_values(scores: ClassScores, metric: str, **options: object) -> Floats:
    """Give a metric of each class against the rest."""
    of_pairs = metric == "roc_auc" and not options and scores.codes is not None and scores.weights is None
    # With many classes a row is sooner placed among those of each than all are sorted for each.
    if of_pairs and (scores.doubled is not None or len(scores.columns) >= MANY):
        return aucs_by_class(doubled_pairs(scores), scores.n_positives)
    asked = of_ranking(AskedMetric(metric, options))
    with _threads_for(scores):
        values: Floats = batch_values(scores.by_class(), [asked])[0]
    return values


def _threads_for(scores: ClassScores) -> AbstractContextManager[None]:
    """Keep to one thread where a second would take longer to start."""
    return num_threads(1) if scores.columns.size < SMALL else nullcontext()


def _run(scores: ClassScores, task: Callable[[Any], R], items: Sequence[Any], *, compiles: Hashable) -> list[R]:
    """`run`, in this thread alone where a second would take longer to start."""
    return run(task, items, compiles=compiles) if scores.columns.size >= SMALL else list(map(task, items))


def aucs_by_class(doubled: Ints, sizes: Ints) -> Floats:
    """Give the AUC of each class of so many rows against the rest, from its pairs with each other class."""
    rows = sizes if sizes.sum() < LIMIT else sizes.astype(object)  # products may pass 2**63
    return _ratio(doubled.sum(axis=1, dtype=rows.dtype), rows * (rows.sum() - rows))


def _ratio(doubled: NDArray[Any], pairs: NDArray[Any]) -> Floats:
    """Give doubled / (2 pairs), rounded once; NaN where there are no pairs."""
    if 2 * int(pairs.max()) <= EXACT:
        return np.asarray(np.divide(doubled, 2 * pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0))
    both = zip(doubled.ravel().tolist(), pairs.ravel().tolist(), strict=True)
    return np.array([a / (2 * b) if b else np.nan for a, b in both]).reshape(pairs.shape)


def pair_aucs(scores: ClassScores) -> Floats:
    """Give A(j | k), the chance that a row of class j has a higher score of class j than one of class k."""
    sizes, codes, weights = scores.n_positives, scores.codes, scores.weights
    if weights is None:
        return _ratio(doubled_pairs(scores), np.outer(sizes, sizes) * ~np.eye(sizes.size, dtype=np.bool_))
    assert codes is not None
    order = np.argsort(codes, kind="stable")
    rows = np.split(order, np.cumsum(sizes)[:-1])

    def auc(pair: tuple[int, int]) -> float:
        flags = np.repeat(np.array([1, 0], dtype=np.uint8), sizes[list(pair)])
        both = np.concatenate([rows[k] for k in pair])
        return Ranking(flags, scores.columns[pair[0]][both], sample_weight=weights[both], pos_label=1).roc_auc()

    aucs = np.full((sizes.size, sizes.size), np.nan)
    there = list(permutations(np.flatnonzero(sizes).tolist(), 2))
    with _threads_for(scores):
        found = run(auc, there)
    for pair, value in zip(there, found, strict=True):
        aucs[pair] = value
    return aucs


# Without weights --------------------------------------------------------------------------------------------------


def doubled_pairs(scores: ClassScores) -> Ints:
    """Count pairs of a row of class j and one of class k that class j's scores rank right, twice, ties once.

    Gives shape (n_classes, n_classes), 0 where j = k or a class has no rows. Every row is placed among the sorted
    scores of class j: a sort of one class and a look-up for each row, instead of a sort for each pair.
    """
    if scores.doubled is None:
        scores.doubled = _doubled_pairs(scores)
    return scores.doubled


def _doubled_pairs(scores: ClassScores) -> Ints:
    columns, codes, sizes = scores.columns, scores.codes, scores.n_positives
    assert codes is not None
    check.check_class_sizes("y_true", LIMIT, int(sizes.max()))
    there = np.flatnonzero(sizes).tolist()

    def sort(j: int) -> tuple[Codec, NDArray[Any], Index]:
        codec, column = codec_for(columns[j])
        keys = np.empty(sizes[j] + 1, dtype=np.uint64)
        keys_of_class(codec.bits(column), codes, j, codec.flip_below, codec.flip, keys)
        keys = keys[:-1]
        sort_keys(keys, *sorting_space(keys.size))
        return codec, column, Index.of(keys)

    def place(task: tuple[int, slice]) -> Ints:
        j, part = task
        codec, column, own = sorted_by[j]
        sums = np.zeros((sizes.size, 2), dtype=np.int64)
        placements = np.empty(min(STRETCH, part.stop - part.start), dtype=np.int32)
        for start in range(part.start, part.stop, STRETCH):
            block = slice(start, min(start + STRETCH, part.stop))
            place_rows(codec.bits(column[block]), codec.flip_below, codec.flip, *own, placements)
            add_by_class(placements, codes[block], sums)
        return np.asarray(sums.sum(axis=1))

    sorted_by = dict(zip(there, _run(scores, sort, there, compiles=(keys_of_class, index_keys)), strict=True))
    tasks = [(j, part) for j in there for part in chunks(codes.size)]
    placed = _run(scores, place, tasks, compiles=(place_rows, add_by_class))
    doubled = np.zeros((sizes.size, sizes.size), dtype=np.int64)
    for (j, _), sums in zip(tasks, placed, strict=True):
        doubled[j] += sums
    # A placement is how many rows of class j lie below another row, a tie counting half, doubled.
    right = 2 * np.outer(sizes, sizes) - doubled
    np.fill_diagonal(right, 0)
    return right
