"""Means over the rows of errors and of targets, and variances of targets, of each output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import BLOCK, chunks, run
from fastevals.metrics._input import Outputs, check_all_finite

Floats = NDArray[np.float64]

Term = Callable[[slice, Floats], Iterator[Floats]]  # of some rows, in a workspace, what is summed

SAMPLE = 1 << 10  # numbers that means are guessed from
ROWS = 1 << 5  # at least so many of each output, so that the guess is within a standard deviation
SHORT = 1 << 8  # rows of many outputs, each contiguous: fewer than that make short loops


def errors(outputs: Outputs, size: Any) -> Term:
    """Return the sizes of the errors of some rows."""

    def sizes(rows: slice, out: Floats) -> Iterator[Floats]:
        yield size(np.subtract(outputs.true[rows], outputs.predicted[rows], out=out, dtype=np.float64), out=out)

    return sizes


def squares_and_variances(outputs: Outputs) -> tuple[Floats, Floats]:
    """Return each output's mean squared error and variance of targets: zero exactly if they are constant."""
    origin = _near_mean(outputs)
    squares, middle, variances = means_over_rows(outputs, errors(outputs, np.square), _deviations(outputs, origin))
    with np.errstate(over="ignore", invalid="ignore"):
        off = middle**2
        near = (2 * off <= variances).all()  # else a difference of squares would lose digits
        if near:
            return squares, variances - off
    return squares, means_over_rows(outputs, _deviations(outputs, origin + middle))[1]


def _near_mean(outputs: Outputs) -> Floats:
    """Return about the mean of each output's targets: that of a sample, and their value if they are constant."""
    every = slice(None, None, max(outputs.n_samples // max(SAMPLE // outputs.n_outputs, ROWS), 1))
    weights = None if outputs.weights is None else outputs.weights[every]
    kept = 0 if outputs.weights is None else int(np.argmax(outputs.weights > 0))
    first = np.atleast_1d(outputs.true[kept]).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.subtract(outputs.true[every], first, dtype=np.float64)
        total = len(off) if weights is None else weights.sum()
        origin = first + _sum(off, weights) / (total or 1.0)
    return np.where(np.isfinite(origin), origin, first)


def _deviations(outputs: Outputs, origin: Floats) -> Term:
    """Return the targets of some rows less an origin for each output, and their squares."""
    # As many rows of it as are read together: NumPy then subtracts all in one loop, not a short one for each row.
    together = 1 if outputs.true.ndim == 1 or _by_column(outputs) else _rows_together(outputs)
    origins = np.tile(origin, (together, 1)) if together > 1 else origin

    def deviations(rows: slice, out: Floats) -> Iterator[Floats]:
        less = origins if origins.ndim == 1 else origins[: len(out)]
        yield np.subtract(outputs.true[rows], less, out=out, dtype=np.float64)
        yield np.square(out, out=out)

    return deviations


def _by_column(outputs: Outputs) -> bool:
    """Return whether the targets of an output lie together, as those of data frames do."""
    strides = outputs.true.strides
    return outputs.true.ndim == 2 and abs(strides[0]) < abs(strides[1])


def _rows_together(outputs: Outputs) -> int:
    return min(max(BLOCK // outputs.n_outputs, SHORT if _by_column(outputs) else 1), outputs.n_samples)


def means_over_rows(outputs: Outputs, *terms: Term) -> list[Floats]:
    """Return the mean over all rows of each column of what the terms give; raise where a number is not finite."""
    weights = outputs.weights
    step = _rows_together(outputs)

    def sums(part: slice, space: Floats) -> list[Any]:
        totals: list[list[Any]] = []
        for start in range(part.start, part.stop, step):
            rows = slice(start, min(start + step, part.stop))
            out = space[: rows.stop - start]
            blocks = chain.from_iterable(term(rows, out) for term in terms)
            totals.append([_sum(block, None if weights is None else weights[rows]) for block in blocks])
        return [sum(each) for each in zip(*totals, strict=True)]

    def workspace() -> Floats:
        return np.empty((step, *outputs.true.shape[1:]), order="F" if _by_column(outputs) else "C")

    parts = chunks(outputs.n_samples)
    with np.errstate(over="ignore", invalid="ignore"):
        found = run(sums, parts, workspace=workspace) if len(parts) > 1 else [sums(parts[0], workspace())]
        total = outputs.n_samples if weights is None else weights.sum()
        means = [np.atleast_1d(sum(each) / total) for each in zip(*found, strict=True)]
    if not all(np.isfinite(each).all() for each in means):
        _raise_not_numbers(outputs.true, outputs.predicted)
    return means


def _sum(block: Floats, weights: Floats | None) -> Any:
    """Sum each column."""
    if block.ndim == 2:  # a product: sums over short rows are far slower
        return (np.ones(len(block)) if weights is None else weights) @ block
    return block.sum() if weights is None else (block * weights).sum()


# Checks ---------------------------------------------------------------------------------------------------------------


def _raise_not_numbers(true: NDArray[Any], predicted: NDArray[Any]) -> None:
    """Raise if a target or a prediction is NaN or infinite."""
    check_all_finite("y_true", true)
    check_all_finite("y_pred", predicted)
