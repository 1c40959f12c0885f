"""Slow, obvious twin of the decomposition over drawn training sets: all predictions are kept."""

import numpy as np

from fastevals.measure.bias_variance import bias_variance


def bias_variance_of_sets(learner, X, y, X_test, y_test, sets, **options):
    """Fit to the rows of each set and decompose the array of all predictions."""
    predictions = np.array([learner(X[rows], y[rows], X_test) for rows in sets])
    return bias_variance(y_test, predictions, **options)


def closed_form(design, design_test, truth, truth_test, sigma):
    """Give bias squared and variance of least squares over fresh noise, the mean over test rows, and each row's.

    Predictions are H y with y = truth + noise: they have mean H truth and variance sigma^2 sum of H's squares.
    """
    hat = design_test @ np.linalg.pinv(design)
    return (hat @ truth - truth_test) ** 2, sigma**2 * (hat**2).sum(axis=1)
