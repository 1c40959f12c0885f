"""Slow, obvious twins: training sets drawn as Python integers; their decomposition from all predictions."""

import numpy as np

from fastevals.measure.bias_variance.bias_variance import bias_variance
from tests.reference.splits import random_bits, stream_key


def rows_of_set(key, number, n, size, replace):
    """Return a numbered set's rows: high words of n times random bits or, if not `replace`, those with least bits."""
    key = stream_key(key, number)
    if replace:
        return sorted(n * random_bits(key, i) >> 64 for i in range(size))
    return sorted(sorted(range(n), key=lambda i: random_bits(key, i))[:size])


def bias_variance_of_sets(learner, X, y, X_test, y_test, sets, **options):
    """Fit to the rows of each set and decompose the array of all predictions."""
    predictions = np.array([learner(X[rows], y[rows], X_test) for rows in sets])
    return bias_variance(y_test, predictions, **options)


def closed_form(design, design_test, truth, truth_test, sigma):
    """Return each test row's squared bias and variance of least squares over fresh noise.

    Predictions are H y with y = truth + noise: their mean is H truth, their variance sigma^2 sum of H's squares.
    """
    hat = design_test @ np.linalg.pinv(design)
    return (hat @ truth - truth_test) ** 2, sigma**2 * (hat**2).sum(axis=1)
