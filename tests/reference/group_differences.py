"""Slow, obvious twins of differences within groups: influences row by row, sums in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scipy import stats

from tests.reference.delong import components


def auc_influences(y_true: Sequence[int], scores: Sequence[float]) -> tuple[float, list[list[float]]]:
    """Return the AUC, and the influence of each positive row and of each negative row."""
    strata = [[float(each) for each in side] for side in components(y_true, scores)]
    auc = sum(strata[0]) / len(strata[0])
    return auc, [[(each - auc) / len(side) for each in side] for side in strata]


def t_test(effect: float, strata: Sequence[Sequence[float]], units: int | None = None) -> tuple[float, float, float]:
    """Return an effect's standard error, degrees of freedom (below `units`) and p; strata of influences sum to 0."""
    variance = noise = 0.0
    for side in strata:
        n = len(side)
        squares, fourths = (sum(each**power for each in side) for power in (2, 4))
        variance += n / (n - 1) * squares
        noise += (n / (n - 1)) ** 2 * (fourths - squares**2 / n)
    df = (min(len(side) for side in strata) if units is None else units) - 1
    df = min(df, 2 * variance**2 / noise) if noise > 0 else df
    error = math.sqrt(variance)
    return error, df, 2 * float(stats.t.sf(abs(effect) / error, df))


def clustered(strata: Sequence[Sequence[float]], clusters: Sequence[Sequence[Any]]) -> list[list[float]]:
    """Return the sum of influences of each cluster."""
    sums: dict[Any, float] = {}
    for side, names in zip(strata, clusters, strict=True):
        for each, name in zip(side, names, strict=True):
            sums[name] = sums.get(name, 0.0) + each
    return [list(sums.values())]


def paired_shares(own: Sequence[bool], other: Sequence[bool]) -> tuple[float, float]:
    """Return the difference of two shares of the same rows, and the p-value of McNemar's exact test."""
    more = sum(a and not b for a, b in zip(own, other, strict=True))
    fewer = sum(b and not a for a, b in zip(own, other, strict=True))
    p = float(stats.binomtest(more, more + fewer).pvalue) if more + fewer else 1.0
    return (more - fewer) / len(own), p


def adjusted(p: float, n_tests: int) -> float:
    """Return Sidak's adjusted p-value."""
    return 1 - (1 - p) ** n_tests
