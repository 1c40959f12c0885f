"""Which rows keep their outputs: random bits, 64 rows that differ a word, or all combinations where they are few."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.permutation import fill_words
from fastevals.infer.significance.permutation.outcomes import Draws, Outcomes

__all__ = ["RowSwaps"]

Words = NDArray[np.uint64]


class RowSwaps:
    """Bits for the rows whose two outputs differ: 1 where each model keeps its own.

    Parameters
    ----------
    differ : ndarray of bool of shape (n_samples,)
        Whether a row's outputs do.
    draws : Draws
        How many permutations to draw.
    """

    __slots__ = ("_bit", "_exact", "_key", "_n", "_words")

    def __init__(self, differ: NDArray[np.bool_], draws: Draws) -> None:
        self._bit = np.maximum(np.cumsum(differ) - 1, 0).astype(np.uint32)
        n_bits = int(np.count_nonzero(differ))
        self._exact = n_bits < 31 and 1 << n_bits <= draws.most()
        self._n = 1 << n_bits if self._exact else draws.n_resamples
        self._words, self._key = n_bits // 64 + 1, draws.key

    def places(self, pooled: NDArray[np.intp]) -> NDArray[np.uint32]:
        """Give, of outputs by their place in the pool, twice the place of their row's bit, plus one for a second."""
        n = np.intp(self._bit.size)
        return np.asarray(2 * self._bit[pooled % n] + (pooled >= n), dtype=np.uint32)

    def own(self) -> Words:
        """Give the bits that leave all as it is."""
        return np.full(self._words, 2**64 - 1, dtype=np.uint64)

    def words(self, number: int) -> Words:
        """Give the bits of a permutation."""
        if self._exact:
            return np.array([number], dtype=np.uint64)
        words = np.empty(self._words, dtype=np.uint64)
        fill_words(self._key, np.uint64(number), words)
        return words

    def tasks(self, size: int) -> list[range]:
        """Cut the numbers of the permutations into ranges of a size."""
        return [range(start, min(start + size, self._n)) for start in range(0, self._n, size)]

    def outcomes(self, parts: Sequence[NDArray[np.float64]]) -> Outcomes:
        """Give what the tasks found as outcomes."""
        return Outcomes(np.concatenate(parts), self._exact)
