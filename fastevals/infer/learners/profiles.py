"""Performance profiles: on what share of the data sets a learner is within some factor, or difference, of the best."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import show

Floats = NDArray[np.float64]
ProfileBy = Literal["ratio", "difference"]


class Profile(NamedTuple):
    """A learner's step function: `shares[k]` of the data sets are within `distances[k]` of the best."""

    distances: Floats  # ascending and distinct; the best has the first: 1 for ratios, 0 for differences
    shares: Floats


def distances_to_best(name: str, values: Floats, higher_is_better: bool, by: ProfileBy) -> Floats:
    """Return each result's ratio to the best of its data set (row), 1 or more, or its difference, 0 or more.

    Missing results (NaN) are infinitely far from the best. Raise if ratios are asked for and a result is not positive.
    """
    best = (np.nanmax if higher_is_better else np.nanmin)(values, axis=1, keepdims=True)
    if by == "difference":
        distances = np.abs(values - best)
    elif (values <= 0).any():
        raise ValueError(
            f"{name} must be positive for ratios to the best, got {show(float(values[values <= 0][0]))}: use "
            "by='difference'"
        )
    else:
        distances = best / values if higher_is_better else values / best
    return np.where(np.isnan(distances), np.inf, distances)


def profiles_of(distances: Floats, by: ProfileBy) -> list[Profile]:
    """Return the profile of each learner (column) from its distances to the best on each data set (row)."""
    n, start = len(distances), float(by == "ratio")
    profiles = []
    for column in distances.T:
        ends, counts = np.unique(column[np.isfinite(column)], return_counts=True)
        if not ends.size or ends[0] > start:
            ends, counts = np.append(start, ends), np.append(0, counts)
        profiles.append(Profile(ends, counts.cumsum() / n))
    return profiles


def areas_above(profiles: list[Profile], farthest: float) -> Floats:
    """Return the area above each profile up to a distance: small for learners that are near the best everywhere."""
    areas = []
    for distances, shares in profiles:
        widths = np.diff(np.append(np.minimum(distances, farthest), farthest))
        areas.append(float(np.sum(widths * (1 - shares))))
    return np.array(areas)
