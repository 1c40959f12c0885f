"""Many short rankings at once: of each row the few scores of its labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals.measure.cells import ratio

__all__ = ["RankedRows", "average_precisions", "roc_aucs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TILE = 1 << 14  # scores sorted and counted at a time


class RankedRows(NamedTuple):
    """Labels and scores, each of shape (n_rows, n_labels)."""

    flags: NDArray[np.bool_]
    scores: NDArray[Any]


class Groups(NamedTuple):
    """Of each score, from the highest down: whether it is positive, and counts above its tie group and with it."""

    positive: Ints
    fps_before: Ints
    fps: Ints
    tps: Ints


def roc_aucs(rows: RankedRows) -> Floats:
    """Give the AUC of each row, a ratio of integers rounded once; NaN of one class."""

    def auc(groups: Groups) -> Floats:
        n_pos, n_neg = groups.tps[:, -1], groups.fps[:, -1]
        below = 2 * n_neg[:, np.newaxis] - groups.fps_before - groups.fps  # twice, ties once
        return ratio((groups.positive * below).sum(axis=1), 2 * n_pos * n_neg)

    return _of_rows(rows, auc)


def average_precisions(rows: RankedRows) -> Floats:
    """Give the average precision of each row; NaN without positives."""

    def ap(groups: Groups) -> Floats:
        precision = groups.tps / (groups.tps + groups.fps)
        return ratio((groups.positive * precision).sum(axis=1), groups.tps[:, -1])

    return _of_rows(rows, ap)


def _of_rows(rows: RankedRows, function: Callable[[Groups], Floats]) -> Floats:
    """Call a function on the groups of a few rows at a time."""
    n, width = rows.scores.shape
    step = max(TILE // width, 1)
    parts = [slice(start, start + step) for start in range(0, n, step)]
    return np.concatenate(run(lambda part: function(_groups(rows.flags[part], rows.scores[part])), parts))


def _groups(flags: NDArray[np.bool_], scores: NDArray[Any]) -> Groups:
    order = np.argsort(scores, axis=1)[:, ::-1]
    ranked = np.take_along_axis(scores, order, axis=1)
    positive = np.take_along_axis(flags, order, axis=1).astype(np.int64)
    tps = np.cumsum(positive, axis=1)
    fps = np.arange(1, scores.shape[1] + 1) - tps
    changes = ranked[:, 1:] != ranked[:, :-1]
    edge = np.ones((len(scores), 1), dtype=np.bool_)
    places = np.arange(scores.shape[1])
    starts = np.maximum.accumulate(np.where(np.hstack([edge, changes]), places, 0), axis=1)
    ends = np.where(np.hstack([changes, edge]), places, places.size)
    ends = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    before = fps - (1 - positive)
    at = np.take_along_axis
    return Groups(positive, at(before, starts, axis=1), at(fps, ends, axis=1), at(tps, ends, axis=1))
