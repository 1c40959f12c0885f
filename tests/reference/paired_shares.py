"""Slow, obvious twin of the score interval of paired shares: Tango's closed form, inverted step by step.

Tango (1998), Statistics in Medicine 17, 891-908.
"""

from __future__ import annotations

import math

STEPS = 20_000


def interval(first: int, second: int, n: int, z: float) -> tuple[float, float]:
    """Return the lowest and the highest difference on a fine grid that the score test does not reject."""

    def statistic(difference: float) -> float:
        b = -first - second + (2 * n - first + second) * difference
        c = -second * difference * (1 - difference)
        share = (math.sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)  # of the trials that only the second wins
        variance = n * (2 * share + difference * (1 - difference))
        distance = first - second - n * difference
        if variance <= 0:
            return math.inf if distance else 0.0
        return abs(distance) / math.sqrt(variance)

    kept = [k / STEPS for k in range(-STEPS, STEPS + 1) if statistic(k / STEPS) < z]
    return min(kept), max(kept)
