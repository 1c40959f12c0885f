"""Moments of placements of clustered rows: clusters, not rows, are independent.

Obuchowski, N. A. (1997), "Nonparametric Analysis of Clustered ROC Curve Data", Biometrics 53, 567-578,
doi:10.2307/2533958.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.counting.groups import code_groups
from fastevals.counting.ordering import BinaryLabels
from fastevals.infer.delong.weighted import WeightedMoments, placement_deviations
from fastevals.measure.ranking.ranking import Ranking


def clustered_moments(labels: BinaryLabels, scores: Sequence[NDArray[Any]], groups: Any) -> tuple[WeightedMoments, int]:
    """Return the moments of models on the same clustered rows, and the number of clusters with the rarer class.

    There is no covariance with fewer than two clusters of a class.
    """
    positive = labels.values == labels.positive
    sides = np.flatnonzero(~positive), np.flatnonzero(positive)
    coded = code_groups(groups)
    codes = coded.block(slice(None)).astype(np.intp)
    n_clusters = [int(np.count_nonzero(np.bincount(codes[rows]))) for rows in (*sides, slice(None))]
    aucs = [math.nan] * len(scores)
    table: tuple[tuple[float, ...], ...] = ()
    if all(rows.size for rows in sides):
        aucs = [Ranking(labels.values, each, pos_label=labels.positive).roc_auc() for each in scores]
    if min(n_clusters) > 1:
        ones = [np.ones(rows.size) for rows in sides]
        parts = []
        for which, rows in enumerate(sides):
            other, sign = 1 - which, (-1, 1)[which]  # a negative is ranked correctly against the positives above it
            deviations = (placement_deviations(each, rows, sides[other], ones[other], ones[which]) for each in scores)
            parts.append([np.bincount(codes[rows], sign * each / rows.size, coded.width) for each in deviations])
        negatives, positives = (np.stack(each) for each in parts)
        within, between = ((n / (n - 1)) for n in n_clusters[:2]), n_clusters[2] / (n_clusters[2] - 1)
        cross = negatives @ positives.T
        found = sum(f * each @ each.T for f, each in zip(within, (negatives, positives), strict=True))
        found = found + between * (cross + cross.T)
        table = tuple(map(tuple, found.tolist()))
    return WeightedMoments(sides[1].size, sides[0].size, tuple(aucs), table), min(n_clusters)
