"""The exact median of absolute errors from one pass over rows that are too many to sort.

A sample brackets the median, the pass counts the errors outside the bracket and keeps the few inside (`Around`), among
which the median is found. It is seldom outside; then a second pass, which keeps all, finds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.median import find_half
from fastevals.measure.sweeps import as_pair

__all__ = ["EVERYTHING", "NOTHING", "Around", "Bracket", "bracket_median", "exact_median", "no_outside"]

Floats = NDArray[np.float64]
Bracket = tuple[float, float]

SAMPLE = 1 << 15  # rows that bracket the median: the pass then keeps some 2 % of all rows
SIGMAS = 4.0  # half the bracket: a random sample misses the median once in 16,000
EVERYTHING = (-1.0, math.inf)  # brackets every absolute error
NOTHING = (math.inf, math.inf)  # brackets none, for who wants no median


class Around(NamedTuple):
    """The errors of a chunk: how many are not within a bracket (or their weights), those that are, their weights."""

    outside: NDArray[Any]
    inside: Floats
    weights: Floats | None


def no_outside(weighted: bool) -> NDArray[Any]:
    """Give an empty tally of the errors outside a bracket, for a kernel to add to."""
    return np.zeros((5, 2)) if weighted else np.zeros(3, dtype=np.int64)


def bracket_median(targets: NDArray[Any], values: NDArray[Any], weights: Floats | None) -> Bracket:
    """Give two absolute errors that have the median between them, most likely."""
    if targets.size < 2 * SAMPLE:
        return EVERYTHING
    rows = slice(None, None, targets.size // SAMPLE)
    with np.errstate(all="ignore"):  # the rows are not yet known to be finite
        errors = np.abs(np.subtract(targets[rows], values[rows], dtype=np.float64))
    # The share of the rows that a sample's median leaves below has a standard deviation of spread / 2 / total.
    if weights is None:
        total, spread = errors.size, math.sqrt(errors.size)
        first, last = (math.ceil(total / 2 + SIGMAS / 2 * side * spread) - 1 for side in (-1, 1))
        errors.partition((first - 1, last))
    else:
        order = np.argsort(errors)
        errors, sampled = errors[order], weights[rows][order]
        below, spread = np.cumsum(sampled), math.sqrt(np.dot(sampled, sampled))
        first, last = np.searchsorted(below, below[-1] / 2 + SIGMAS / 2 * np.array([-spread, spread]))
    return (
        float(errors[first - 1]) if first else EVERYTHING[0],
        float(errors[last]) if last < errors.size else EVERYTHING[1],
    )


def exact_median(bracket: Bracket, parts: Sequence[Around], n: int) -> float | None:
    """Give the median of the n errors in all parts, None if it is not within the bracket."""
    low, high = _middle(bracket, parts, n) if parts[0].weights is None else _weighted_middle(bracket, parts)
    if not bracket[0] <= low <= high <= bracket[1]:
        return None
    total = low + high
    return total / 2 if total < math.inf else low / 2 + high / 2


def _middle(bracket: Bracket, parts: Sequence[Around], n: int) -> Bracket:
    """Give the middle two of n errors (or one twice), or -inf and inf for one outside the bracket."""
    before, at_low, at_high = np.sum([part.outside for part in parts], axis=0).tolist()
    if bracket[0] == bracket[1]:
        at_high = 0  # they are those at low
    inside = np.concatenate([part.inside for part in parts])
    places = [rank - before for rank in ((n - 1) // 2, n // 2)]
    within = [place for place in places if 0 <= place < inside.size]
    if within:
        inside.partition(within)

    def at(place: int) -> float:
        if place < 0:
            return bracket[0] if place >= -at_low else -math.inf
        if place < inside.size:
            return float(inside[place])
        return bracket[1] if place < inside.size + at_high else math.inf

    return at(places[0]), at(places[1])


def _weighted_middle(bracket: Bracket, parts: Sequence[Around]) -> Bracket:
    """`_middle` by weight: the error at which the weight up to there passes half, or the two between which it is half.

    Weights are added without rounding, as long as they span less than 2**53: half is hit exactly or not.
    """
    totals = [
        sum(map(Fraction, values), Fraction(0)) for values in np.stack([p.outside for p in parts], 1).reshape(5, -1)
    ]
    inside = np.concatenate([part.inside for part in parts])
    weights = np.concatenate([part.weights for part in parts if part.weights is not None])
    order = np.argsort(inside)
    below, at_low, at_high, above, _ = map(as_pair, totals)
    errors = np.concatenate(([-math.inf] * 2, [bracket[0]] * 2, inside[order], [bracket[1]] * 2, [math.inf] * 2))
    first, last = find_half(
        errors, np.concatenate((below, at_low, weights[order], at_high, above)), *as_pair(sum(totals))
    )
    return float(errors[first]), float(errors[last])
