"""Replicates of rankings: rows drawn with replacement, counted by step, and every metric swept from the same counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import run
from fastevals._kernels.random import key_of
from fastevals._kernels.replicates import totals
from fastevals.infer.bootstrap.steps import Steps
from fastevals.infer.bootstrap.urn import Urn
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.registry import Metric

__all__ = ["ranking_replicates"]

Counts = NDArray[np.int64]
CHUNK = 8  # replicates; a chunk of 100 million rows takes a second


class _Space(NamedTuple):
    """Working memory of one thread: the draws, those of the other class, and what kernels ask for."""

    counts: Counts
    others: Counts
    scratch: Counts


def ranking_replicates(
    counts: ThresholdCounts,
    metrics: Sequence[Metric],
    n_resamples: int,
    key: np.uint64,
    *,
    stratified: bool = False,
    progress: bool = False,
) -> NDArray[np.float64]:
    """Draw as many rows as there are, again and again, and measure each draw.

    Parameters
    ----------
    counts : ThresholdCounts
        Of whole rows.
    metrics : sequence of Metric
        Those of whole rankings.
    n_resamples : int
        How often.
    key : uint64
        Of the stream: with the replicate's number it says what is drawn.
    stratified : bool
        Draw as many of each class as there are of it.
    progress : bool
        Show a bar.

    Returns
    -------
    ndarray of shape (n_resamples, n_metrics)
        A row a draw, the same bits whatever the number of resamples and threads; NaN where undefined. A metric that
        tells positives apart makes for other draws: they are counted by other cells.
    """
    check.check_resampled_rows("the ranking", int(counts.n_pos + counts.n_neg))  # products of two counts fit then
    fine = any(metric.replicate is None or metric.replicate.tells_positives_apart for metric in metrics)
    steps = Steps.of(counts, merge_positives=not fine)
    classes = [np.arange(steps.sizes.size) % 2 == side for side in (0, 1)] if stratified else [True]
    urns = [Urn(np.where(kept, steps.sizes, 0)) for kept in classes if steps.sizes[kept].any()]
    n_scratch = max((metric.replicate.scratch for metric in metrics if metric.replicate), default=0)
    values = np.empty((n_resamples, len(metrics)))

    def measure(numbers: range, space: _Space) -> None:
        for number in numbers:
            stream = np.uint64(key_of(key, np.uint64(number)))
            urns[0].draw(stream, space.counts)
            for urn in urns[1:]:
                urn.draw(np.uint64(key_of(stream, np.uint64(1))), space.others)
                np.add(space.counts, space.others, out=space.counts)
            n_pos, n_neg = totals(space.counts)
            for k, metric in enumerate(metrics):
                values[number, k] = _value(metric, steps, space, n_pos, n_neg)

    run(
        measure,
        [range(start, min(start + CHUNK, n_resamples)) for start in range(0, n_resamples, CHUNK)],
        workspace=lambda: _Space(
            np.empty_like(steps.sizes),
            np.empty(steps.sizes.size if len(urns) > 1 else 0, dtype=np.int64),
            np.empty((n_scratch, steps.tied.size + 2), dtype=np.int64),
        ),
        progress=progress,
    )
    return values


def _value(metric: Metric, steps: Steps, space: _Space, n_pos: int, n_neg: int) -> float:
    if metric.replicate is None:
        return float(metric(steps.threshold_counts(space.counts)))
    kernel, _, scratch, then = metric.replicate
    value = kernel(space.counts, steps.tied, n_pos, n_neg, *space.scratch[:scratch])
    return value if then is None else then(value)
