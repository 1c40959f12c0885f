"""Placements: the number of rows of the other class that each row is correctly ranked against, and their moments.

Doubled placements, and sums of their products, are integers. So no digits are lost to cancellation, even for similar
models or AUCs near 1, and results do not depend on threads or chunks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import chunks, run
from fastevals._kernels.placements import add_products, add_to_clusters, place_rows
from fastevals._validation.labels import check_class_sizes
from fastevals.counting.ordering import (
    CLASS_ROWS,
    STRETCH_ROWS,
    BinaryLabels,
    Codec,
    KeyIndex,
    Keys,
    codec_for,
    split_by_class,
)
from fastevals.counts import ThresholdCounts
from fastevals.document.frames import Columns, make_columns
from fastevals.results import Frozen

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def compute_moments(labels: BinaryLabels, scores: list[NDArray[Any]], frequencies: Ints | None) -> PlacementMoments:
    """Return the moments of models on the same rows, with `frequencies` copies of each row."""
    if frequencies is not None:
        return _counted_moments(labels, scores, frequencies)
    ranked = [_rank(labels, values) for values in scores]
    negatives, positives = (keys.size for keys in ranked[0].keys)
    sums = np.zeros((2, len(scores), len(scores), 2), dtype=np.int64)
    if min(negatives, positives) > 1:
        pairs = _index(ranked)
        sums = sum(run(lambda part: _add_rows(labels, ranked, pairs, part), chunks(labels.values.size)), sums)
    return PlacementMoments.from_sums(positives, negatives, [model.doubled_u for model in ranked], sums)


def sum_by_cluster(labels: BinaryLabels, scores: Sequence[NDArray[Any]], codes: NDArray[Any], n_clusters: int) -> Ints:
    """Return sums of doubled placements (of rows below) by class, model and cluster; both classes must have rows."""
    ranked = [_rank(labels, values) for values in scores]
    pairs = _index(ranked)
    sums = np.zeros((2, len(ranked), n_clusters), dtype=np.int64)

    def add(task: tuple[int, int]) -> None:
        which, model = task
        of_model = slice(model, model + 1)
        for _, start, rows, placements in _place(
            labels, ranked[of_model], pairs[of_model], slice(0, codes.size), (which,)
        ):
            add_to_clusters(placements[0], rows, codes[start:], sums[which, model])

    run(add, list(np.ndindex(2, len(ranked))), compiles=add_to_clusters)
    return sums


def place_each(labels: BinaryLabels, values: NDArray[Any]) -> NDArray[np.int32]:
    """Return, for each row, twice the number of rows of the other class below it; ties count once."""
    model = _rank(labels, values)
    pairs, placed = _index([model]), np.empty(labels.values.size, dtype=np.int32)

    def place(part: slice) -> None:
        for _, start, rows, placements in _place(labels, [model], pairs, part):
            placed[start + rows] = placements[0, : rows.size]

    run(place, chunks(placed.size), compiles=place_rows)
    return placed


def compute_ranking_moments(counts: ThresholdCounts) -> PlacementMoments:
    """Return the placement moments of counts without weights, for any number of rows."""
    n_pos, n_neg = int(counts.n_pos), int(counts.n_neg)
    return PlacementMoments.from_placements(n_pos, n_neg, sum_placements(counts.tps, counts.fps, n_pos, n_neg))


def sum_placements(tps: Ints, fps: Ints, n_pos: int, n_neg: int) -> tuple[int, int, int]:
    """Return the sum of the positives' doubled placements, and the sum of squares for each class, negatives first.

    The first entries of `tps` and `fps` are only the starting point (the last entries of the range before), so the sums
    of consecutive ranges can be added up.
    """
    placements = [2 * n - other[1:] - other[:-1] for n, other in ((n_pos, tps), (n_neg, fps))]  # negatives first
    rows = [np.diff(fps), np.diff(tps)]
    if max(n_neg, n_pos) >= CLASS_ROWS:  # products exceed 64 bits; the arrays have one entry per cell, not per row
        wide = [each.astype(object) for each in placements]
        squares = [int((each * each * row).sum()) for each, row in zip(wide, rows, strict=True)]
        return int((wide[1] * rows[1]).sum()), squares[0], squares[1]
    sums = _products([each.astype(np.int32)[None] for each in placements], rows)
    negative, positive = ((int(high) << 32) + int(low) for high, low in sums[:, 0, 0])
    return int(placements[1] @ rows[1]), negative, positive


@dataclass(frozen=True, slots=True)
class PlacementMoments(Frozen):
    """The integers whose ratios are AUCs and covariances."""

    n_pos: int  # rows of each class
    n_neg: int
    doubled_u: tuple[int, ...]  # twice each model's Mann-Whitney U: the sum of the positives' doubled placements
    numerators: tuple[tuple[int, ...], ...]  # covariances times `denominator`; empty if a class has fewer than two rows

    def _columns(self) -> Columns:
        return make_columns({"doubled_u": self.doubled_u, "n_pos": self.n_pos, "n_neg": self.n_neg})

    @classmethod
    def from_sums(cls, n_pos: int, n_neg: int, doubled_u: list[int], sums: Ints) -> PlacementMoments:
        """Compute the moments from sums of products of doubled placements, of shape (2, n_models, n_models, 2).

        The placement of a negative counts the positives below it. DeLong counts the ones above, which gives the same
        covariances.
        """
        return cls.from_products(n_pos, n_neg, doubled_u, ((sums[..., 0].astype(object) << 32) + sums[..., 1]).tolist())

    @classmethod
    def from_placements(cls, n_pos: int, n_neg: int, sums: tuple[int, int, int]) -> PlacementMoments:
        """Compute the moments of one model from the result of `sum_placements`."""
        doubled_u, negative, positive = sums
        return cls.from_products(n_pos, n_neg, [doubled_u], [[[negative]], [[positive]]])

    @classmethod
    def from_products(cls, n_pos: int, n_neg: int, doubled_u: list[int], products: Any) -> PlacementMoments:
        """Compute the moments from the sums as integers of any size, negatives first."""
        negative, positive = products
        downs = [2 * n_pos * n_neg - up for up in doubled_u]

        def numerator(a: int, b: int) -> int:
            a, b = max(a, b), min(a, b)
            positives = n_pos * positive[a][b] - doubled_u[a] * doubled_u[b]
            negatives = n_neg * negative[a][b] - downs[a] * downs[b]
            return int(positives * (n_neg - 1) + negatives * (n_pos - 1))

        models = range(len(doubled_u) if min(n_pos, n_neg) > 1 else 0)
        return cls(n_pos, n_neg, tuple(doubled_u), tuple(tuple(numerator(a, b) for b in models) for a in models))

    @property
    def defined(self) -> bool:
        """Return whether there is a covariance."""
        return bool(self.numerators)

    def defines(self, weights: Sequence[Fraction]) -> bool:
        """Return whether a weighted sum of the AUCs has a variance."""
        return self.defined

    @property
    def denominator(self) -> int:
        """Return the common denominator of the covariances."""
        return 4 * (self.n_pos * self.n_neg) ** 2 * (self.n_pos - 1) * (self.n_neg - 1)

    def aucs(self) -> Floats:
        """Return each model's AUC, rounded once."""
        pairs = 2 * self.n_pos * self.n_neg
        return np.array([up / pairs if pairs else math.nan for up in self.doubled_u])

    def covariance(self) -> Floats:
        """Return the covariance of the AUCs, each entry rounded once."""
        if not self.defined:
            return np.full((len(self.doubled_u),) * 2, math.nan)
        return np.array([[value / self.denominator for value in row] for row in self.numerators])

    def effect(self, weights: Sequence[Fraction]) -> Fraction:
        """Return a weighted sum of the AUCs."""
        total = sum(weight * up for weight, up in zip(weights, self.doubled_u, strict=True))
        return Fraction(total, 2 * self.n_pos * self.n_neg)

    def variance(self, weights: Sequence[Fraction]) -> Fraction:
        """Return the variance of a weighted sum of the AUCs."""
        rows = [sum(w * value for w, value in zip(weights, row, strict=True)) for row in self.numerators]
        return Fraction(sum(w * row for w, row in zip(weights, rows, strict=True)), self.denominator)

    def chi_square(self) -> tuple[float, int]:
        """Return chi-square for equal AUCs, exact except for one rounding, and its degrees of freedom (the rank).

        The covariance of the differences is reduced by Gaussian elimination in integers (Bareiss 1968,
        doi:10.2307/2004533), with the largest remaining variance as pivot. The statistic is infinite if an effect
        remains after all variance is eliminated.
        """
        rows = [[*row, effect] for effect, row in zip(*self._differences(), strict=True)]
        last, statistic, rank = 1, Fraction(0), 0
        while rows:
            k = max(range(len(rows)), key=lambda i: rows[i][i])
            pivot = rows[k][k]
            if pivot == 0:
                if any(row[-1] for row in rows):
                    return math.inf, rank + 1
                break
            head = rows.pop(k)
            statistic += Fraction(head[-1] ** 2, pivot * last)
            rest = [j for j in range(len(head)) if j != k]
            rows = [[(row[j] * pivot - row[k] * head[j]) // last for j in rest] for row in rows]
            last, rank = pivot, rank + 1
        return float(statistic * (self.n_pos - 1) * (self.n_neg - 1)), rank

    def differences(self) -> tuple[Floats, Floats]:
        """Return the other models' AUCs minus the first model's, and the covariance of these differences."""
        effects, table = self._differences()
        pairs = 2 * self.n_pos * self.n_neg
        covariance = np.array([[value / self.denominator for value in row] for row in table])
        return np.array([effect / pairs for effect in effects]), covariance

    def _differences(self) -> tuple[list[int], list[list[int]]]:
        first, table, models = self.doubled_u[0], self.numerators, range(1, len(self.doubled_u))
        covariance = [[table[a][b] - table[a][0] - table[0][b] + table[0][0] for b in models] for a in models]
        return [self.doubled_u[a] - first for a in models], covariance


class RankedScores(NamedTuple):
    """The scores of a model, and the sorted keys of its scores by class, negatives first."""

    codec: Codec
    values: NDArray[Any]
    keys: tuple[Keys, Keys]
    doubled_u: int


def _rank(labels: BinaryLabels, values: NDArray[Any]) -> RankedScores:
    """Sort a model's scores."""
    values = codec_for(values)[1]  # floats that do not fit keys become ranks
    split = split_by_class(labels, values)
    check_class_sizes("y_true", CLASS_ROWS, split.n_pos, split.n_neg)
    return RankedScores(split.codec, values, split.keys_by_class(), split.doubled_u)


def _index(models: list[RankedScores]) -> list[tuple[KeyIndex, KeyIndex]]:
    """Index the keys of both classes of each model."""
    built = run(KeyIndex.build, [keys for model in models for keys in model.keys])
    return list(zip(built[::2], built[1::2], strict=True))


def _add_rows(
    labels: BinaryLabels, models: list[RankedScores], pairs: list[tuple[KeyIndex, KeyIndex]], part: slice
) -> Ints:
    """Return the sums of products of a chunk's placements for each class."""
    sums = np.zeros((2, len(models), len(models), 2), dtype=np.int64)
    for which, _, rows, placements in _place(labels, models, pairs, part):
        add_products(placements, rows.size, None, sums[which])
    return sums


def _place(
    labels: BinaryLabels,
    models: list[RankedScores],
    pairs: list[tuple[KeyIndex, KeyIndex]],
    part: slice,
    classes: tuple[int, ...] = (0, 1),
) -> Iterator[tuple[int, int, NDArray[np.intp], NDArray[np.int32]]]:
    """Place the rows of a chunk, one class of one stretch at a time.

    Yield the class, the start of the stretch, the positions of the class's rows within the stretch, and the rows'
    placements in each model.
    """
    placements = np.empty((len(models), min(STRETCH_ROWS, part.stop - part.start)), dtype=np.int32)
    flags = np.empty(placements.shape[1], dtype=np.uint8)
    for start in range(part.start, part.stop, STRETCH_ROWS):
        block = slice(start, min(start + STRETCH_ROWS, part.stop))
        marked = flags[: block.stop - start]
        labels.mark(block, marked)
        for which in classes:
            rows = np.flatnonzero(marked == which)
            for (codec, values, *_), pair, out in zip(models, pairs, placements, strict=True):
                bits = codec.wide_bits(values[block])[rows]
                place_rows(bits, codec.flip_below, codec.flip, *pair[1 - which], out)
            yield which, start, rows, placements


def _counted_moments(labels: BinaryLabels, scores: list[NDArray[Any]], frequencies: Ints) -> PlacementMoments:
    """Return the moments if each row counts as `frequencies` copies."""
    flags = labels.flags()
    rows = flags == 0, flags != 0
    counts = [frequencies[class_rows] for class_rows in rows]
    n_neg, n_pos = (int(count.sum()) for count in counts)
    check_class_sizes("y_true", CLASS_ROWS, n_pos, n_neg)
    placements = [np.empty((len(scores), count.size), dtype=np.int32) for count in counts]
    for i, values in enumerate(scores):
        ranks = np.unique(values, return_inverse=True)[1]
        for which, class_rows in enumerate(rows):
            below = np.bincount(ranks[rows[1 - which]] + 1, counts[1 - which], minlength=ranks.max() + 2).cumsum()
            placements[which][i] = below[ranks[class_rows]] + below[ranks[class_rows] + 1]
    doubled_u = [int(up @ counts[1]) for up in placements[1]]
    return PlacementMoments.from_sums(n_pos, n_neg, doubled_u, _products(placements, counts))


def _products(placements: list[NDArray[np.int32]], counts: list[Ints]) -> Ints:
    """Return the sum of products of placements for each class and pair of models, weighted by the counts of rows."""
    sums = np.zeros((2, len(placements[0]), len(placements[0]), 2), dtype=np.int64)
    for placed, count, out in zip(placements, counts, sums, strict=True):
        add_products(placed, count.size, count, out)
    return sums
