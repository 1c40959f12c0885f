"""Turn the user's seed into the key of counter-based random streams (`_kernels.random`).

A replicate's stream depends only on the seed and the replicate's number. So it has the same bits for any number of
replicates, threads or chunks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.random import fill_bits, stream_key
from fastevals._options import check_integer, show


def seed_key(name: str, rng: Any) -> np.uint64:
    """Return the key for a seed; None gives a new key each time.

    Parameters
    ----------
    name : str
        Name of the argument in messages.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        As in `numpy.random.default_rng`. A generator gives its next 64 bits, so each call returns another key.

    Returns
    -------
    uint64
        The key.

    Raises
    ------
    ValueError
        If `rng` is none of these.
    """
    if isinstance(rng, np.random.BitGenerator):
        rng = np.random.Generator(rng)
    if isinstance(rng, np.random.Generator):
        return np.uint64(rng.integers(0, 2**64 - 1, dtype=np.uint64, endpoint=True))
    if not isinstance(rng, np.random.SeedSequence):
        rng = np.random.SeedSequence(_as_seed(name, rng))
    return np.uint64(rng.generate_state(1, np.uint64)[0])


def seed_number(name: str, rng: Any) -> int:
    """Return one number that determines the draws, to print and reuse: `rng` itself if it is a number, 0 for None.

    Raises ValueError like `seed_key`.
    """
    if rng is None:
        return 0
    return check_integer(name, rng, low=0) if isinstance(rng, (int, np.integer)) else int(seed_key(name, rng))


def random_order(key: np.uint64, number: int, n: int) -> NDArray[np.intp]:
    """Return n indices in random order, drawn from substream `number` of a stream."""
    words = np.empty(n, dtype=np.uint64)
    fill_bits(np.uint64(stream_key(key, np.uint64(number))), 0, words)
    return np.argsort(words, kind="stable")


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_seed(name: str, value: Any) -> int | list[int] | None:
    """Return a seed in the form that `numpy.random.SeedSequence` takes: an integer, several integers, or None."""
    if value is None:
        return None
    parts = list(value) if isinstance(value, (list, tuple)) else [value]
    for part in parts:
        if isinstance(part, (bool, np.bool_)) or not isinstance(part, (int, np.integer)) or part < 0:
            raise ValueError(
                f"{name} must be None, an integer at least 0 or several, or a numpy.random Generator, BitGenerator or "
                f"SeedSequence, got {show(value)}"
            )
    return [int(part) for part in parts] if len(parts) != 1 else int(parts[0])
