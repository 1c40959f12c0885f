"""What permutation tests are compared on: entries as in `benches.peers`.

Draws differ from one side to another; what all sides of a case must agree on, and give, is the difference of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastevals
from benches.data import Data
from benches.peers import Call, Cases, Setup

__all__ = ["FLIPS", "FLIP_LOOPS", "PERMUTATIONS"]

SWAPS = 10_000
FLIPS = 10_000
FLIP_LOOPS = 128  # sign flips of a NumPy product: each takes a quarter of a millisecond
CHUNK = 8  # of them at once: signs of 100,000 rows then stay in cache

Floats = NDArray[np.float64]


def _predictions(data: Data) -> tuple[Any, ...]:
    second = data.s + 0.5 * np.random.default_rng(data.rows).standard_normal(data.rows)
    return tuple((scores > 1.5).astype(np.int64) for scores in (data.s, second))


def _swapped(metric: str) -> Setup:
    def set_up(data: Data) -> Call:
        first, second = _predictions(data)
        return lambda: fastevals.permutation_test(data.y, first, second, metric, n_resamples=SWAPS, rng=1).effect

    return set_up


def _counted(value: Callable[[fastevals.ConfusionMatrix], float]) -> Setup:
    """Count both models' rows: what it takes to know the metric of each."""

    def set_up(data: Data) -> Call:
        predictions = _predictions(data)

        def call() -> float:
            first, second = (value(fastevals.ConfusionMatrix.from_predictions(data.y, each)) for each in predictions)
            return first - second

        return call

    return set_up


def _losses(data: Data) -> tuple[Floats, Floats]:
    return np.abs(data.t - data.q), np.abs(data.t - data.s)


def _flipped(data: Data) -> Call:
    first, second = _losses(data)
    return lambda: fastevals.paired_permutation_test(first, second, n_resamples=FLIPS, rng=1).effect


def _product(signs: Callable[[np.random.Generator, int], Floats]) -> Setup:
    """Multiply chunks of signs with the differences."""

    def set_up(data: Data) -> Call:
        first, second = _losses(data)

        def call() -> float:
            differences, rng = first - second, np.random.default_rng(1)
            sums = [signs(rng, data.rows) @ differences for _ in range(0, FLIP_LOOPS, CHUNK)]
            assert len(sums) * CHUNK == FLIP_LOOPS
            return float(differences.mean())

        return call

    return set_up


def _drawn_signs(rng: np.random.Generator, n: int) -> Floats:
    signs = rng.integers(0, 2, (CHUNK, n), dtype=np.int8).astype(np.float64)
    signs *= 2
    signs -= 1
    return signs


def _unpacked_bits(rng: np.random.Generator, n: int) -> Floats:
    """Give 0 and 1: twice their product, less the sum of all, is that of the signs."""
    packed = rng.integers(0, 256, (CHUNK, -(-n // 8)), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=n).astype(np.float64)


PERMUTATIONS: Cases = {
    "permutation_accuracy": {
        "fastevals": _swapped("accuracy"),
        "from_predictions": _counted(lambda matrix: matrix.accuracy()),
    },
    "permutation_f1": {
        "fastevals": _swapped("f1"),
        "from_predictions": _counted(lambda matrix: matrix.f_score()),
    },
    "sign_flips": {
        "fastevals": _flipped,
        "numpy": _product(_drawn_signs),
        "numpy, unpacked bits": _product(_unpacked_bits),
    },
}
