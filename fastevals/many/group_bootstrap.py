"""The bootstrap of AUCs within groups, and of their mean over groups."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.groups_bootstrap import draw_spans, weighted_mean
from fastevals._kernels.random import stream_key
from fastevals._options import warn_left_out, warn_undefined
from fastevals.counting.groups import spans
from fastevals.infer.bootstrap.row_samples import SamplingUnits, UnitSample
from fastevals.infer.bootstrap.samples import Values
from fastevals.many.group_scores import GroupedScores
from fastevals.results import Interval

Floats = NDArray[np.float64]

DRAWS_PER_TASK = 1 << 25  # draws per task: a tenth of a second
MEAN_STREAM = np.uint64(2**63)  # a stream that no group uses
NO_INTERVAL = Interval(math.nan, math.nan)


def bootstrap_groups(scores: GroupedScores, n_resamples: int, tail: float, key: np.uint64, progress: bool) -> Floats:
    """Return each group's interval ends, standard error and number of undefined replicates, of shape (n_groups, 4)."""
    out = np.empty((scores.groups.size, 4))
    rows = scores.starts[::2]
    sizes = np.diff(rows)
    most = max(DRAWS_PER_TASK // n_resamples, 1)

    def draw(span: tuple[int, int], number: int, stop: int, tail: float, values: Floats) -> None:
        n, cells = int(sizes[slice(*span)].max()), 1 << max(n_resamples - 1, 1).bit_length()
        spaces = np.empty(n, np.int32), np.empty(n + 1), np.empty(n, np.int32), np.empty(n, np.int32)
        draw_spans(scores.keys, scores.row_weights, scores.starts, *span, key, number, stop, tail, spaces, values,
                   np.empty(n_resamples, np.uint64), np.empty(cells, np.int32), out)  # fmt: skip

    def small(span: tuple[int, int]) -> None:
        draw(span, 0, n_resamples, tail, np.empty(n_resamples))

    def large(g: int) -> None:
        values, span = np.empty(n_resamples), (g, g + 1)
        step = max(DRAWS_PER_TASK // int(sizes[g]), 1)

        def part(first: int) -> None:
            block = values[first : first + step]
            draw(span, first, first + block.size, 0.0, block)

        run(part, range(0, n_resamples, step), progress=progress, compiles=draw_spans)
        draw(span, 0, 0, tail, values)

    big = np.flatnonzero((sizes > most) & (scores.n_positives > 0) & (scores.n_negatives > 0)).tolist()
    edges = [-1, *big, sizes.size]
    parts = []
    for before, after in pairwise(edges):
        if after > before + 1:
            within = spans(rows[before + 1 : after + 1] - rows[before + 1], most)
            parts += [(before + 1 + first, before + 1 + last) for first, last in within]
    run(small, parts, progress=progress, compiles=draw_spans)
    for g in big:
        large(g)
    return out


class GroupMeanSample(UnitSample):
    """A sample of whole groups, and the weighted mean of their values."""

    def __init__(self, values: Floats, weights: Floats) -> None:
        defined = ~np.isnan(values)
        largest = weights[defined].max()
        self._values, self._weights = np.where(defined, values, 0.0), np.where(defined, weights / largest, 0.0)
        super().__init__(SamplingUnits(np.empty(0, np.uint32), (values.size,), True), values.size)

    def workspace(self) -> Any:
        """Return an array to count how often each group is drawn."""
        return (self.times(),)

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return the weighted mean in each of n draws."""
        return [np.array([weighted_mean(times, self._values, self._weights) for times in draws])]


def bootstrap_mean(
    values: Floats, weights: Floats, n_resamples: int, tail: float, key: np.uint64
) -> tuple[float, Interval]:
    """Return the standard error and the interval of the weighted mean, from resampled groups.

    Groups of weight zero have no rows and are not drawn.
    """
    drawn = weights > 0
    if np.count_nonzero(drawn) < 2 or np.isnan(values).all():
        warn_undefined("the interval of the mean", "it needs two groups or more, and one that has a value")
        return math.nan, NO_INTERVAL
    sample = GroupMeanSample(values[drawn], weights[drawn])
    means = sample.replicates(n_resamples, np.uint64(stream_key(key, MEAN_STREAM)))[0]
    left_out = int(np.count_nonzero(np.isnan(means)))
    if left_out:
        warn_left_out("the mean", left_out, n_resamples)
    means = means[~np.isnan(means)]
    error = float(means.std(ddof=1)) if means.size > 1 else math.nan
    return error, Interval(*np.quantile(means, (tail, 1 - tail)).tolist()) if means.size else NO_INTERVAL
