"""The data that tests and benches hand to every library."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

N_CLASSES = 10


@dataclass(frozen=True)
class Data:
    """Rows made from a seed, each column when first asked for.

    Attributes
    ----------
    rows : int
        How many.
    decimals : int, optional
        Round the scores, so that many are tied.
    """

    rows: int
    decimals: int | None = None

    def _random(self, column: int) -> np.random.Generator:
        return np.random.default_rng([self.rows, column])

    @cached_property
    def y(self) -> NDArray[np.int64]:
        """Labels, 10 % positive."""
        labels: NDArray[np.int64] = (self._random(0).random(self.rows) < 0.1).astype(np.int64)
        labels[:2] = 0, 1
        return labels

    @cached_property
    def s(self) -> NDArray[np.float64]:
        """Scores, normal in each class, the positives' mean one higher."""
        scores = self._random(1).standard_normal(self.rows)
        scores += self.y
        return scores if self.decimals is None else scores.round(self.decimals)

    @cached_property
    def w(self) -> NDArray[np.float64]:
        """Weights from 0.5 to 1.5."""
        return self._random(2).random(self.rows) + 0.5

    @cached_property
    def k(self) -> NDArray[np.int64]:
        """Labels of ten classes."""
        labels: NDArray[np.int64] = self._random(3).integers(0, N_CLASSES, self.rows)
        labels[-N_CLASSES:] = np.arange(N_CLASSES)
        return labels

    @cached_property
    def p(self) -> NDArray[np.int64]:
        """Predictions of the ten classes, four of five right."""
        random = self._random(4)
        other: NDArray[np.int64] = random.integers(0, N_CLASSES, self.rows)
        return np.where(random.random(self.rows) < 0.78, self.k, other)

    @cached_property
    def t(self) -> NDArray[np.float64]:
        """Targets of a regression, normal around 10."""
        return self._random(5).normal(10.0, 3.0, self.rows)

    @cached_property
    def q(self) -> NDArray[np.float64]:
        """Predictions of them, with normal errors."""
        return self.t + self._random(6).standard_normal(self.rows)

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """Probabilities of the ten classes, shape (rows, 10): rows add up to 1."""
        scores = self._random(7).exponential(size=(self.rows, N_CLASSES))
        scores[np.arange(self.rows), self.k] += 1.0
        scores /= scores.sum(axis=1, keepdims=True)
        return scores

    def __getitem__(self, column: str) -> NDArray[Any]:
        values: NDArray[Any] = getattr(self, column)
        return values
