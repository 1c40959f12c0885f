"""Scores of any real dtype as order-preserving 64-bit keys, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check

__all__ = ["Codec", "Keys", "codec_for", "plain_block"]

Keys = NDArray[np.uint64]

EXACT = 2**53  # up to here every integer is a float64
SIGN = -(2**63)


def plain_block(block: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Give a block as kernels take it (contiguous, aligned, native, writeable): itself, or a copy."""
    if block.dtype == dtype and block.flags.carray:
        return block
    return np.array(block, dtype=dtype, order="C")


@dataclass(frozen=True, slots=True, eq=False)
class Codec:
    """How scores of one dtype become keys and keys scores again.

    Kernels see a score's 64 bits as an integer: `flip_below` is xor-ed into those with the sign bit set, `flip` into
    all. `distinct` lists the scores themselves where no 64-bit type holds them and their ranks stand for them.
    """

    dtype: np.dtype[Any]
    flip_below: np.int64
    flip: np.int64
    distinct: NDArray[Any] | None = None

    def bits(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        """Give a block of scores as the kernels take it."""
        return plain_block(scores, self.dtype).view(np.int64)

    def encode(self, scores: NDArray[Any]) -> Keys:
        """Give scores as keys."""
        bits = self.bits(scores)
        return (np.where(bits < 0, bits ^ self.flip_below, bits) ^ self.flip).view(np.uint64)

    def decode(self, keys: Keys) -> NDArray[Any]:
        """Give keys as scores."""
        bits = keys.view(np.int64) ^ self.flip
        return self.values(np.where(bits < 0, bits ^ self.flip_below, bits))

    def values(self, bits: NDArray[np.int64]) -> NDArray[Any]:
        """Give a score's 64 bits, as kernels write them, as scores."""
        values = bits.view(self.dtype)
        return values if self.distinct is None else self.distinct[values]

    def threshold_dtype(self, extremes: NDArray[Any]) -> np.dtype[Any]:
        """Give the float type that holds +inf and every score between two: the longer one for integers past 2**53."""
        if self.distinct is not None:
            return self.distinct.dtype
        if self.dtype == np.float64 or all(abs(score) <= EXACT for score in extremes.tolist()):
            return np.dtype(np.float64)
        return np.dtype(np.longdouble)


FLOATS = Codec(np.dtype(np.float64), np.int64(2**63 - 1), np.int64(SIGN))


def codec_for(scores: NDArray[Any]) -> tuple[Codec, NDArray[Any]]:
    """Choose the codec for an array of scores, and give the scores it is to be used on."""
    kind, size = scores.dtype.kind, scores.dtype.itemsize
    if kind in "iu" and size == 8:
        return Codec(np.dtype(f"{kind}8"), np.int64(0), np.int64(SIGN if kind == "i" else 0)), scores
    if kind == "f" and size > 8:
        check.check_finite("y_score", scores)
        distinct, ranks = np.unique(scores, return_inverse=True)
        return Codec(np.dtype(np.int64), np.int64(0), np.int64(SIGN), distinct), ranks
    return FLOATS, scores
