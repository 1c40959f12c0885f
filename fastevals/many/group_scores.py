"""Scores sorted within groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks, chunks, run
from fastevals._kernels.groups import count_runs, scatter_rows, settle_runs
from fastevals._validation.arrays import check_finite, check_same_length, raise_not_finite
from fastevals._validation.labels import raise_not_binary
from fastevals.counting.groups import GroupCodes, code_groups, spans
from fastevals.counting.ordering import BinaryLabels, Codec, Keys, codec_for, sorting_space

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

RUN = 1 << 12  # rows in a run of groups, which is sorted in cache
MAX_RUNS = 1 << 10  # runs, few enough that the places written to stay in cache too


@dataclass(frozen=True, eq=False)
class GroupedScores:
    """Scores by group and class, ascending.

    Group g's negatives are ``keys[starts[2 g] : starts[2 g + 1]]``; its positives follow, up to ``starts[2 g + 2]``.

    Attributes
    ----------
    groups : ndarray of shape (n_groups,)
        Keys of the groups, ascending. Groups whose rows all have weight zero are included, without rows.
    codec : Codec
        Converts between scores and keys.
    keys, weights : ndarray of shape (n_rows,)
        Scores as order-preserving keys, and row weights (None for unweighted rows).
    starts : ndarray of int64 of shape (2 * n_groups + 1,)
        Start of each slot (a class in a group).
    pos_label : label
        The positive class.
    """

    groups: NDArray[Any]
    codec: Codec
    keys: Keys
    weights: Floats | None
    starts: Ints
    pos_label: Any = None

    @cached_property
    def n_negatives(self) -> Ints:
        """Number of negative rows in each group."""
        return np.diff(self.starts)[::2].copy()

    @cached_property
    def n_positives(self) -> Ints:
        """Number of positive rows in each group."""
        return np.diff(self.starts)[1::2].copy()

    def sums(self) -> tuple[Floats, Floats]:
        """Return the total weight of each group's negatives and positives; unweighted rows count one."""
        if self.weights is None:
            return self.n_negatives.astype(np.float64), self.n_positives.astype(np.float64)
        padded = np.append(self.weights, 0.0)  # the last slot may be empty
        sums = np.where(np.diff(self.starts) > 0, np.add.reduceat(padded, self.starts[:-1]), 0.0)
        return sums[::2].copy(), sums[1::2].copy()

    @cached_property
    def row_weights(self) -> Floats:
        """Weights of the rows; ones if they have none."""
        return np.ones(self.keys.size) if self.weights is None else self.weights

    @cached_property
    def extremes(self) -> NDArray[Any]:
        """The lowest and the highest score."""
        return self.codec.decode(np.array([self.keys.min(), self.keys.max()]))

    @cached_property
    def threshold_dtype(self) -> np.dtype[Any]:
        """A float type that can hold all scores, and +inf."""
        return self.codec.threshold_dtype(self.extremes)

    def of_groups(self, kept: NDArray[np.bool_]) -> GroupedScores:
        """Return the rows of the groups that a mask selects."""
        sizes = np.diff(self.starts).reshape(-1, 2)
        rows = np.repeat(kept, sizes.sum(axis=1))
        starts = np.concatenate(([0], np.cumsum(sizes[kept])))
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, groups=self.groups[kept], keys=self.keys[rows], weights=weights, starts=starts)

    def each(self, kernel: Callable[[int, int], None], *, compiles: Any) -> None:
        """Call ``kernel(first, last)`` for spans of groups, in several threads."""
        run(lambda span: kernel(*span), spans(self.starts[::2]), compiles=compiles)


def grouped_scores(
    labels: BinaryLabels, scores: NDArray[Any], groups: NDArray[Any], weights: Floats | None = None
) -> GroupedScores:
    """Gather the rows of each group and sort their scores; rows of weight zero are left out."""
    check_same_length(y_true=labels.values, y_score=scores, groups=groups)
    codes, dropped = code_groups(groups), None
    if weights is not None:
        check_same_length(y_true=labels.values, sample_weight=weights)
        if not weights.all():
            check_finite("y_score", scores)  # before rows are dropped, so that errors give the user's row numbers
            kept = weights != 0
            dropped = np.flatnonzero(np.bincount(codes.block(slice(None))[~kept], minlength=codes.width))
            labels, scores, weights = labels.take(kept), scores[kept], weights[kept]
            codes = replace(codes, values=codes.values[kept])
    codec, values = codec_for(scores)
    shift = _run_shift(codes.width, scores.size)
    classes, counts = _count_rows(labels, scores, codes, shift)
    keys, sorted_weights, sizes = _sort_within_groups(codec, values, codes, classes, weights, shift, counts)
    present = np.asarray(sizes.reshape(-1, 2).any(axis=1))
    if dropped is not None:
        present[dropped] = True
    occurring = np.flatnonzero(present)
    sizes = sizes.reshape(-1, 2)[occurring]
    starts = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return GroupedScores(codes.keys(occurring), codec, keys, sorted_weights, starts, labels.positive)


def _run_shift(width: int, n: int) -> np.uint32:
    """Return how many low bits to drop from a code to get the number of its run."""
    bits = min(MAX_RUNS, max(n // RUN, 1)).bit_length() - 1
    return np.uint32(max((width - 1).bit_length() - bits, 0))


def _count_rows(
    labels: BinaryLabels, scores: NDArray[Any], codes: GroupCodes, shift: np.uint32
) -> tuple[NDArray[np.uint8], Ints]:
    """Return each row's class, and each chunk's number of rows in each run; raise for a third label or NaN."""
    parts = chunks(scores.size)
    classes = np.empty(scores.size, dtype=np.uint8)
    counts = np.zeros((len(parts), ((codes.width - 1) >> int(shift)) + 1), dtype=np.int64)

    def count(i: int) -> tuple[int, bool]:
        known, finite = 0, True
        for block in blocks(parts[i]):
            known += labels.mark(block, classes[block])
            finite &= scores.dtype.kind != "f" or bool(np.isfinite(scores[block]).all())
            count_runs(codes.block(block), shift, counts[i])
        return known, finite

    checked = run(count, range(len(parts)), compiles=count_runs)
    if sum(known for known, _ in checked) != scores.size:
        raise_not_binary("y_true", labels.values)
    if not all(finite for _, finite in checked):
        raise_not_finite("y_score", scores)
    return classes, counts


def _sort_within_groups(
    codec: Codec,
    scores: NDArray[Any],
    codes: GroupCodes,
    classes: NDArray[np.uint8],
    weights: Floats | None,
    shift: np.uint32,
    counts: Ints,
) -> tuple[Keys, Floats | None, Ints]:
    """Return keys and weights sorted within each slot, and the number of rows in each slot."""
    n = scores.size
    keys, slots = np.empty(n, np.uint64), np.empty(n, np.uint32)
    sorted_weights = None if weights is None else np.empty(n)
    starts = np.concatenate(([0], np.cumsum(counts.sum(axis=0))))
    ends = starts[:-1] + np.cumsum(counts, axis=0) - counts
    parts = chunks(n)

    def scatter(i: int) -> None:
        for block in blocks(parts[i]):
            block_weights = None if weights is None else weights[block]
            scatter_rows(codec.bits(scores[block]), codes.block(block), classes[block], block_weights, codec.flip_below,
                         codec.flip, shift, ends[i], keys, slots, sorted_weights)  # fmt: skip

    run(scatter, range(len(parts)), compiles=(scatter_rows, weights is None))
    sizes = np.zeros(2 * codes.width, dtype=np.int64)

    def settle(span: tuple[int, int]) -> None:
        first, last = span
        most = int(np.diff(starts[first : last + 1]).max())
        scratch, cells = sorting_space(most)
        weight_scratch = None if sorted_weights is None else np.empty(most)
        places = np.empty(2 << int(shift), dtype=np.int64)
        settle_runs(
            keys, slots, sorted_weights, starts, first, last, shift, sizes, places, scratch, weight_scratch, cells
        )

    run(settle, spans(starts), compiles=(settle_runs, weights is None))
    return keys, sorted_weights, sizes
