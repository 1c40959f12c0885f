"""Values of each class and of each pair of classes; NaN where one is undefined, without a warning."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import chunks, num_threads, run
from fastevals._kernels.classes import add_segments
from fastevals._kernels.placements import index_keys, place_rows
from fastevals._kernels.sorting import sort_keys
from fastevals.measure.asked import AskedMetric, of_ranking
from fastevals.measure.codec import Codec, Keys, codec_for
from fastevals.measure.many.classes.scores import ClassScores
from fastevals.measure.many.columns import batch_values
from fastevals.measure.ranking import Ranking

__all__ = ["aucs_by_class", "doubled_pairs", "pair_aucs", "values_by_class"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LIMIT = 2**30  # rows of a class: up to here doubled placements take 32 bits, and sums of them 64
CELLS = 1 << 14  # of an index: 8 or more for each binade that a float can have
STRETCH = 1 << 14  # rows placed at a time
SMALL = 1 << 16  # cells of scores that one thread goes through in less than a millisecond
EXACT = 2**53


def values_by_class(scores: ClassScores, metric: str, **options: object) -> Floats:
    """Give a metric of each class's ranking against the rest."""
    asked = of_ranking(AskedMetric(metric, options))
    with _threads_for(scores):
        values: Floats = batch_values(scores.by_class(), [asked])[0]
    return values


def _threads_for(scores: ClassScores) -> AbstractContextManager[None]:
    """Keep to one thread where a second would take longer to start."""
    return num_threads(1) if scores.columns.size < SMALL else nullcontext()


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


def pair_aucs(scores: ClassScores, doubled: Ints | None) -> Floats:
    """Give A(j | k), the chance that a row of class j has a higher score of class j than one of class k."""
    sizes = scores.n_positives()
    if doubled is not None:
        return _ratio(doubled, np.outer(sizes, sizes) * ~np.eye(sizes.size, dtype=np.bool_))
    aucs = np.full((sizes.size, sizes.size), np.nan)
    there = list(permutations(np.flatnonzero(sizes).tolist(), 2))
    with _threads_for(scores):
        found = run(lambda pair: _weighted_auc(scores, *pair), there)
    for pair, auc in zip(there, found, strict=True):
        aucs[pair] = auc
    return aucs


def _weighted_auc(scores: ClassScores, j: int, k: int) -> float:
    """Rank the rows of two classes by the first one's scores."""
    assert scores.starts is not None
    assert scores.weights is not None
    parts = [slice(*scores.starts[i : i + 2]) for i in (j, k)]
    flags = np.repeat(np.array([1, 0], dtype=np.uint8), [part.stop - part.start for part in parts])
    column, weights = (np.concatenate([of[part] for part in parts]) for of in (scores.columns[j], scores.weights))
    return Ranking(flags, column, sample_weight=weights, pos_label=1).roc_auc()


# Without weights --------------------------------------------------------------------------------------------------


class Index(NamedTuple):
    """Ascending keys, and where to look for one: see `index_keys`."""

    keys: Keys
    low: np.uint64
    high: np.uint64
    shift: np.uint64
    bases: NDArray[np.int32]
    shifts: NDArray[np.uint8]
    starts: NDArray[np.int32]

    @classmethod
    def of(cls, keys: Keys) -> Index:
        """Index the keys."""
        cells = min(CELLS, 1 << keys.size.bit_length())
        tables = np.empty(cells, np.int32), np.empty(cells, np.uint8), np.empty(keys.size + cells + 1, np.int32)
        low, high, shift = map(np.uint64, index_keys(keys, *tables))
        return cls(keys, low, high, shift, *tables)


def doubled_pairs(scores: ClassScores) -> Ints:
    """Count pairs of a row of class j and one of class k that class j's scores rank right, twice, ties once.

    Gives shape (n_classes, n_classes), 0 where j = k or a class has no rows. Every row is placed among the sorted
    scores of class j: a sort of one class and a look-up for each other row, instead of a sort for each pair.
    """
    columns, starts = scores.columns, scores.starts
    assert starts is not None
    sizes = np.diff(starts)
    check.check_class_sizes("y_true", LIMIT, int(sizes.max()))
    doubled = np.zeros((sizes.size, sizes.size), dtype=np.int64)
    there = np.flatnonzero(sizes).tolist()

    def sort(j: int) -> tuple[Codec, NDArray[Any], Index]:
        codec, column = codec_for(columns[j])
        keys = codec.encode(column[starts[j] : starts[j + 1]])
        sort_keys(keys, np.empty_like(keys), np.empty(1 << max(keys.size - 1, 1).bit_length(), dtype=np.int32))
        return codec, column, Index.of(keys)

    def place(task: tuple[int, slice]) -> tuple[slice, Ints]:
        j, part = task
        codec, column, index = sorted_by[j]
        first, last = np.searchsorted(starts, (part.start, part.stop - 1), side="right") - 1
        ends, sums = starts[first : last + 2], np.zeros(last + 1 - first, dtype=np.int64)
        placements = np.empty(min(STRETCH, part.stop - part.start), dtype=np.int32)
        for start in range(part.start, part.stop, STRETCH):
            bits = codec.bits(column[start : min(start + STRETCH, part.stop)])
            place_rows(bits, codec.flip_below, codec.flip, *index, placements)
            add_segments(placements[: bits.size], start, ends, sums)
        return slice(first, last + 1), sums

    tasks = [
        (j, slice(start + part.start, start + part.stop))
        for j in there
        for start, stop in ((0, int(starts[j])), (int(starts[j + 1]), int(starts[-1])))
        for part in chunks(stop - start)
    ]
    with _threads_for(scores):
        sorted_by = dict(zip(there, run(sort, there, compiles=index_keys), strict=True))
        placed = run(place, tasks, compiles=(place_rows, add_segments))
    for (j, _), (of, sums) in zip(tasks, placed, strict=True):
        doubled[j, of] += sums
    # A placement is how many rows of class j lie below another row, a tie counting half, doubled.
    right = 2 * np.outer(sizes, sizes) - doubled
    np.fill_diagonal(right, 0)
    return right
