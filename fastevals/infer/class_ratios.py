"""Predicted over observed rows of each class, with intervals from the jackknife of rows or clusters."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals.results import Interval, check_confidence_level

Floats = NDArray[np.float64]


def class_ratios(
    probabilities: NDArray[np.floating],
    codes: NDArray[np.integer],
    weights: Floats | None,
    groups: NDArray[np.integer] | None,
    confidence_level: float,
) -> tuple[Floats, Interval]:
    """Divide the sum of each class's probabilities by its number of rows.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
    codes : ndarray of shape (n_samples,)
        Each row's class.
    weights : ndarray of shape (n_samples,), optional
    groups : ndarray of shape (n_samples,), optional
        Clusters of rows.
    confidence_level : float
        Level of each interval.

    Returns
    -------
    ratios : ndarray of shape (n_classes,)
        NaN for a class without rows.
    Interval
        Limits on the scale of logarithms, arrays of shape (n_classes,). NaN if a single row or cluster has all of a
        class's rows or probability.
    """
    n_classes = probabilities.shape[1]
    ratios, errors = np.full(n_classes, np.nan), np.full(n_classes, np.nan)
    units = None if groups is None else sorted_unique(groups).size
    places = None if groups is None else np.searchsorted(sorted_unique(groups), groups)
    predicted: NDArray[Any]
    observed: NDArray[Any]
    for k in range(n_classes):
        predicted, observed = probabilities[:, k].astype(np.float64), (codes == k).astype(np.float64)
        if weights is not None:
            predicted, observed = predicted * weights, observed * weights
        if places is not None:
            predicted, observed = (np.bincount(places, each, minlength=units or 0) for each in (predicted, observed))
        of_all, rows = float(predicted.sum()), float(observed.sum())
        if not rows:
            continue
        ratios[k] = of_all / rows
        with np.errstate(divide="ignore", invalid="ignore"):
            without = np.log((of_all - predicted) / (rows - observed))
            m = without.size
            errors[k] = np.sqrt((m - 1) / m * np.square(without - without.mean()).sum())
    alpha = check_confidence_level(confidence_level)[1]
    with np.errstate(invalid="ignore"):
        factor = np.exp(NormalDist().inv_cdf(1 - float(alpha) / 2) * np.where(np.isfinite(errors), errors, np.nan))
    limits: Any = (ratios / factor, ratios * factor)
    return ratios, Interval(*limits)
