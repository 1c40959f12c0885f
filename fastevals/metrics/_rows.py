"""Values that a kernel computes from each row's scores, and sums and means over rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks, chunks, run
from fastevals._validation.arrays import FLOAT64, INT64, in_usual_unit
from fastevals.counting.ordering import plain_block
from fastevals.metrics._input import check_all_finite

Floats = NDArray[np.float64]


def write_rows(kernel: Callable[..., None], name: str, scores: NDArray[Any], labels: NDArray[Any]) -> Floats:
    """Return the value that a kernel computes for each row from its scores and its labels (flags, or a class number).

    Raise if a score is not finite.
    """
    out = np.empty(scores.shape[0])
    kind = np.dtype(np.bool_) if labels.ndim == 2 else INT64

    def write(part: slice) -> bool:
        block = plain_block(scores[part], FLOAT64)
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(block.sum()) and not np.isfinite(block).all():  # finite sums rarely overflow
                return False
        kernel(block, plain_block(labels[part], kind), out[part])
        return True

    parts = chunks(*scores.shape)
    if not all(run(write, parts, compiles=kernel)):
        check_all_finite(name, scores)
    return out


def sum_losses(
    losses: Callable[[slice], Floats], n: int, weights: Floats | None, *, compiles: Hashable = None
) -> float:
    """Sum the losses of all rows, or of all classes of all rows, block by block; for `compiles` see `run`."""

    def part(rows: slice) -> list[float]:
        by_block = ((block, losses(block)) for block in blocks(rows))
        return [float(each.sum() if weights is None else (weights[block] @ each).sum()) for block, each in by_block]

    parts = chunks(n)
    by_part = run(part, parts, compiles=compiles)
    return math.fsum(total for totals in by_part for total in totals)


def total_weight(n: int, weights: Floats | None) -> float:
    """Return the number of rows, or their total weight."""
    return n if weights is None else float(weights.sum())


def sums_of_others(values: Floats) -> Floats:
    """For each value, return the sum of all the others, without the rounding error of subtracting from the total."""
    before, after = (np.append(0.0, np.cumsum(each)[:-1]) for each in (values, values[::-1]))
    sums: Floats = before + after[::-1]
    return sums


def mean_of_rows(values: NDArray[Any], weights: Floats | None) -> float:
    """Return the mean of the rows' values, weighted if weights are given."""
    if weights is None:
        return float(values.mean())
    weights = in_usual_unit(weights)
    return float(weights @ values / weights.sum())
