"""Moments of placements of clustered rows: clusters, not rows, are independent.

Obuchowski, N. A. (1997), "Nonparametric Analysis of Clustered ROC Curve Data", Biometrics 53, 567-578,
doi:10.2307/2533958.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.counting.groups import code_groups
from fastevals.counting.ordering import BinaryLabels
from fastevals.infer.delong.placements import sum_by_cluster
from fastevals.infer.delong.weighted import WeightedMoments


class Clusters(NamedTuple):
    """The number of clusters that have the rarer class, and the effective number of these clusters (Kish)."""

    n: int
    effective: float


def clustered_moments(
    labels: BinaryLabels, scores: Sequence[NDArray[Any]], groups: Any
) -> tuple[WeightedMoments, Clusters]:
    """Return the moments of models on the same clustered rows, and the number of clusters.

    There is no covariance with fewer than two clusters of a class.
    """
    coded = code_groups(groups)
    codes, positive = coded.block(slice(None)), labels.flags()
    sizes = np.bincount(2 * codes.astype(np.intp) + positive, minlength=2 * coded.width).reshape(-1, 2).T
    n_neg, n_pos = map(int, sizes.sum(axis=1))
    n_clusters = [int(np.count_nonzero(each)) for each in (*sizes, sizes.sum(axis=0))]
    aucs = [math.nan] * len(scores)
    table: tuple[tuple[float, ...], ...] = ()
    if min(n_clusters) > 0:
        sums = sum_by_cluster(labels, scores, codes, coded.width)
        totals, pairs = sums.sum(axis=2), 2 * n_neg * n_pos
        aucs = [int(each) / pairs for each in totals[1]]
    if min(n_clusters) > 1:
        means = totals[..., None] / np.array([n_neg, n_pos])[:, None, None]
        negatives, positives = (sums - sizes[:, None] * means) / pairs
        within, between = ((n / (n - 1)) for n in n_clusters[:2]), n_clusters[2] / (n_clusters[2] - 1)
        cross = -negatives @ positives.T  # a negative is ranked correctly against the positives above it
        found = sum(f * each @ each.T for f, each in zip(within, (negatives, positives), strict=True))
        found = found + between * (cross + cross.T)
        table = tuple(map(tuple, found.tolist()))
    effective = [
        n * n / max(float(each.astype(np.float64) @ each), 1.0) for n, each in zip((n_neg, n_pos), sizes, strict=True)
    ]
    return WeightedMoments(n_pos, n_neg, tuple(aucs), table), Clusters(min(n_clusters), min(effective))
