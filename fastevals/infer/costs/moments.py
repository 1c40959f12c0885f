"""Moments of sums over independent units, for intervals of ratios of these sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks, chunks, run

Floats = NDArray[np.float64]

UNITS_TOGETHER = 4096  # whose products stay in a core's cache


class Moments(NamedTuple):
    """Sums of columns over independent units, and sums of products of two and of three columns.

    Products are of columns divided by `scales`, so that they neither overflow nor underflow.
    """

    n: int
    sums: Floats  # (n_columns,)
    squares: Floats  # (n_columns, n_columns)
    cubes: Floats  # (n_columns, n_columns, n_columns)
    scales: Floats  # (n_columns,)

    @classmethod
    def of(cls, columns: Sequence[Floats]) -> Self:
        """Add up columns of shape (n_units,), and their products."""
        k = len(columns)
        scales = np.array([np.abs(each).max(initial=0.0) or 1.0 for each in columns])
        i, j = np.triu_indices(k)

        def added(part: slice) -> tuple[Floats, Floats, Floats]:
            sums, squares, cubes = np.zeros(k), np.zeros(i.size), np.zeros((i.size, k))
            for block in blocks(part, UNITS_TOGETHER):
                rows = np.stack([each[block] for each in columns])
                sums += rows.sum(axis=1)
                rows /= scales[:, None]
                products = rows[i] * rows[j]
                squares += products.sum(axis=1)
                cubes += np.einsum("pu,cu->pc", products, rows)  # whose bits no library's threads change
            return sums, squares, cubes

        sums, squares, cubes = (sum(each) for each in zip(*run(added, chunks(columns[0].size)), strict=True))
        square, cube = np.empty((k, k)), np.empty((k, k, k))
        square[i, j] = square[j, i] = squares
        cube[i, j] = cube[j, i] = cubes
        return cls(columns[0].size, np.asarray(sums), square, cube, scales)

    def powers(self, coefficients: Floats) -> tuple[float, float, float]:
        """Return a scale, and sums of squares and cubes of a linear combination of columns, divided by the scale."""
        at = coefficients * self.scales
        unit = float(np.abs(at).max()) or 1.0
        at /= unit
        square = float(at @ self.squares @ at)
        least = self.n * np.finfo(np.float64).eps * float(np.abs(at) @ self.squares @ np.abs(at))
        if square <= least:  # equal up to rounding in all units
            return unit, 0.0, 0.0
        return unit, square, float(np.einsum("i,j,k,ijk->", at, at, at, self.cubes))
