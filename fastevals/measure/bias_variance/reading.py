"""Predictions of many models in blocks: some models' for some samples, as kernels take them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fastevals._validation import ModelTables
from fastevals.measure.codec import plain_block

__all__ = ["double", "panels", "strips"]

PANEL = 64  # models whose distances are added up before they are merged: few, for the digits; many, for the time
COPIED = 1024  # samples of a panel of which a copy stays in cache


def panels(n_models: int) -> Iterator[slice]:
    """Cut the models into slices."""
    for start in range(0, n_models, PANEL):
        yield slice(start, min(start + PANEL, n_models))


def strips(samples: slice) -> Iterator[slice]:
    """Cut samples into slices of which a panel may be copied."""
    for start in range(samples.start, samples.stop, COPIED):
        yield slice(start, min(start + COPIED, samples.stop))


def double(models: ModelTables, rows: slice, samples: slice) -> NDArray[np.float64]:
    """Give some models' numbers for some samples as float64."""
    dtype = np.dtype(np.float64)
    with np.errstate(over="ignore"):  # a longer float's
        if len(models.tables) == 1:
            return plain_block(models.tables[0][rows, samples], dtype)
        block = np.empty((rows.stop - rows.start, samples.stop - samples.start))
        for row, table in zip(block, models.tables[rows], strict=True):
            row[:] = table[0, samples]
        return block
