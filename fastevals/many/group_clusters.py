"""Variances of the AUCs of groups, and of their mean, if rows are clustered: clusters, not rows, are independent.

Each group's variance is the variance of `delong` with clusters (Obuchowski 1997, doi:10.2307/2533958).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.counting.groups import code_groups
from fastevals.many.group_influences import GroupedRows, Slots, clusters_within

Floats = NDArray[np.float64]


class ClusteredSpread(NamedTuple):
    """Variances, and the degrees of freedom of t: the effective number of clusters of the rarer class minus 1."""

    variances: Floats
    df: Floats


class ClusteredInfluences(NamedTuple):
    """How much each row moves its group's AUC; the influences of a class in a group add up to 0.

    Attributes
    ----------
    influences : ndarray of shape (n_rows,)
        Influences, in the order of the rows by group and class.
    classes : ndarray of int of shape (n_rows,)
        1 for positive rows.
    codes : ndarray of int of shape (n_rows,)
        Index of the group of each row.
    n_groups : int
        Number of groups.
    clusters : ndarray of int64 of shape (n_rows,)
        Index of the cluster of each row.
    """

    influences: Floats
    classes: NDArray[np.intp]
    codes: NDArray[np.intp]
    n_groups: int
    clusters: NDArray[np.int64]

    @classmethod
    def of(
        cls, positive: NDArray[np.uint8], scores: NDArray[Any], groups: NDArray[Any], clusters: NDArray[Any]
    ) -> ClusteredInfluences:
        """Return the influences of rows, given 1 for positive rows, and keys of groups and clusters."""
        coded = code_groups(groups)
        codes = coded.block(slice(None))
        occurs = np.bincount(codes, minlength=coded.width) > 0
        n_groups = int(np.count_nonzero(occurs))
        codes = (np.cumsum(occurs, dtype=np.uint32) - 1)[codes]
        slots = Slots.of(GroupedRows(codes, n_groups), positive)
        sizes, placements = slots.sizes, slots.placements(scores)
        of_slot = np.repeat(np.arange(sizes.size), np.diff(slots.starts))
        pairs = sizes * sizes.reshape(-1, 2)[:, ::-1].ravel()
        with np.errstate(divide="ignore", invalid="ignore"):
            means = np.bincount(of_slot, placements, sizes.size) / sizes
            unit = np.where(pairs > 0, 1 / (2 * pairs), 0.0)
        influences = (placements - means[of_slot]) * unit[of_slot]
        numbers = code_groups(clusters).block(slice(None)).astype(np.int64)[slots.order]
        return cls(influences, of_slot % 2, of_slot // 2, n_groups, numbers)

    def spread(self) -> ClusteredSpread:
        """Return the variance of each group's AUC; NaN if a class occurs in fewer than two clusters."""
        slots = 2 * clusters_within(self.codes, self.clusters) + self.classes
        n = 2 * (int(slots.max()) // 2 + 1)
        negatives, positives = np.bincount(slots, self.influences, n).reshape(-1, 2).T
        rows = np.bincount(slots, minlength=n).reshape(-1, 2).T.astype(np.float64)
        group_of = np.zeros(n // 2, dtype=np.intp)
        group_of[slots // 2] = self.codes

        def by_group(values: NDArray[Any]) -> Floats:
            return np.bincount(group_of, values, self.n_groups).astype(np.float64)

        with np.errstate(divide="ignore", invalid="ignore"):
            counts = [by_group(each > 0) for each in (*rows, rows.sum(axis=0))]
            of_negatives, of_positives, of_both = (np.where(each > 1, each / (each - 1), np.nan) for each in counts)
            variances = of_negatives * by_group(negatives**2) + of_positives * by_group(positives**2)
            variances += 2 * of_both * by_group(negatives * positives)
            effective = np.min([by_group(each) ** 2 / by_group(each**2) for each in rows], axis=0)
        return ClusteredSpread(np.maximum(variances, 0.0), np.maximum(effective - 1, 1.0))

    def spread_of_mean(self, shares: Floats) -> ClusteredSpread:
        """Return the variance of the mean of the groups' AUCs, given the share of each group in the mean."""
        influences = self.influences * shares[self.codes]
        return self._replace(influences=influences, codes=np.zeros_like(self.codes), n_groups=1).spread()
