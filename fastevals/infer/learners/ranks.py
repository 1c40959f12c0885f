"""Ranks of learners on each data set, and how often one does better than another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Places(NamedTuple):
    """The places of learners on each data set, from 1 for the best; tied learners share a range of places."""

    first: Floats  # shape (n_datasets, n_learners); NaN for missing results
    last: Floats

    @property
    def ranks(self) -> Floats:
        """Ranks, with mean ranks for ties."""
        return (self.first + self.last) / 2


def places_of(values: Floats, higher_is_better: bool) -> Places:
    """Return the places of learners (columns) on each data set (row); missing results (NaN) have no place."""
    from scipy.stats import rankdata

    losses = -values if higher_is_better else values
    first, last = (rankdata(losses, method=method, axis=1, nan_policy="omit") for method in ("min", "max"))
    return Places(first, last)


def place_shares(places: Places) -> Floats:
    """Return for each learner (row) the share of data sets on which it has each place (column).

    A tie counts in equal parts for each of its places, so that the mean place is the mean rank. Data sets on which a
    learner's result is missing don't count for it.
    """
    n, k = places.first.shape
    counts = np.zeros((k, k + 1))
    rows, learners = np.nonzero(~np.isnan(places.first))
    first, last = (each[rows, learners].astype(np.intp) for each in places)
    parts = 1 / (last - first + 1)
    np.add.at(counts, (learners, first - 1), parts)
    np.add.at(counts, (learners, last), -parts)
    defined = n - np.isnan(places.first).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(counts.cumsum(axis=1)[:, :k] / defined[:, np.newaxis])


class HeadToHead(NamedTuple):
    """Each learner (row) against each other (column): arrays of shape (n_learners, n_learners)."""

    wins: NDArray[np.int64]  # data sets on which the row's learner does better
    ties: NDArray[np.int64]
    difference: Floats  # mean of the row's result minus the column's


def head_to_head(values: Floats, higher_is_better: bool) -> HeadToHead:
    """Count wins and ties of each pair of learners (columns), and average their differences over data sets (rows).

    Data sets on which one of the two has no result (NaN) don't count for the pair.
    """
    k = values.shape[1]
    wins, ties = np.zeros((2, k, k), dtype=np.int64)
    difference = np.zeros((k, k))
    for row in range(k):
        own = values[:, [row]]
        wins[row] = ((own > values) if higher_is_better else (own < values)).sum(axis=0)
        ties[row] = (own == values).sum(axis=0)
        apart = own - values
        defined = (~np.isnan(apart)).sum(axis=0)
        with np.errstate(invalid="ignore"):
            difference[row] = np.nansum(apart, axis=0) / defined
    return HeadToHead(wins, ties, difference)
