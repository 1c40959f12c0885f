"""Gain tables in fractions, from rows that are moved one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any


def gain_table(
    y: Sequence[int], s: Sequence[float], shares: Sequence[tuple[Fraction, Fraction]]
) -> list[dict[str, Any]]:
    """Return a row per pair of shares; a row of a tied group takes the group's share of positives with it."""
    n, n_pos = len(y), sum(y)
    order = sorted(range(n), key=lambda i: -s[i])
    expected = [
        Fraction(sum(y[k] for k in range(n) if s[k] == s[i]), sum(s[k] == s[i] for k in range(n))) for i in order
    ]
    rows = []
    for start, stop in shares:
        a, b = math.ceil(start * n), math.ceil(stop * n)
        positives, above = sum(expected[a:b]), sum(expected[:b])
        gain = Fraction(above, n_pos) if n_pos else None
        other = Fraction(b - above, n - n_pos) if n - n_pos else None
        rows.append(
            {
                "rows": b - a,
                "positives": positives,
                "rate": Fraction(positives, b - a),
                "gain": gain,
                "lift": None if gain is None else Fraction(positives, b - a) / Fraction(n_pos, n),
                "cumulative_lift": None if gain is None else gain / Fraction(b, n),
                "ks": None if gain is None or other is None else gain - other,
                "mean_predicted": sum(Fraction(s[i]) for i in order[a:b]) / (b - a),
                "threshold": s[order[b - 1]],
            }
        )
    return rows


def cluster_rows(
    y: Sequence[int], s: Sequence[float], w: Sequence[float], groups: Sequence[Any], start: Fraction, stop: Fraction
) -> tuple[float, float]:
    """Return the rate of a bin without ties at its ends, and the variance of the rate between clusters."""
    order = sorted(range(len(y)), key=lambda i: -s[i])
    inside = order[math.ceil(start * len(y)) : math.ceil(stop * len(y))]
    total = sum(w[i] for i in inside)
    rate = sum(w[i] * y[i] for i in inside) / total
    sums: dict[Any, float] = {}
    for i in inside:
        sums[groups[i]] = sums.get(groups[i], 0.0) + w[i] * (y[i] - rate) / total
    return rate, len(sums) / (len(sums) - 1) * sum(each**2 for each in sums.values())
