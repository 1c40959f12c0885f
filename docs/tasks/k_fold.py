"""Compare three learners over the same folds: which has the lowest error, and is the difference significant?

python k_fold.py
"""

from __future__ import annotations

import numpy as np

from fastevals import KFold, estimate_error, pairwise_tests
from fastevals.datasets import load_auto


def mean(X, y, X_test):
    """Predict the mean of the training rows."""
    return np.full(len(X_test), y.mean())


def line(X, y, X_test):
    """Predict by least squares."""
    ones, ones_test = np.ones((len(X), 1)), np.ones((len(X_test), 1))
    coefficients, *_ = np.linalg.lstsq(np.hstack([ones, X]), y, rcond=None)
    return np.hstack([ones_test, X_test]) @ coefficients


def neighbours(X, y, X_test, k=7):
    """Predict the mean of the k nearest training rows."""
    scale = X.std(axis=0)
    distances = (((X_test[:, None] - X) / scale) ** 2).sum(axis=2)
    return y[np.argsort(distances, axis=1, kind="stable")[:, :k]].mean(axis=1)


auto = load_auto()
X = np.stack([auto[name] for name in ("horsepower", "weight", "year")], axis=1).astype(
    float
)
folds = KFold(10, n_repeats=10, rng=0)  # the same splits for all learners
estimates = {}
for learner in (mean, line, neighbours):
    found = estimate_error(learner, X, auto["mpg"], folds, "mean_squared_error")
    estimates[learner.__name__] = found["mean_squared_error"]
for name, estimate in estimates.items():
    low, high = estimate.confidence_interval
    print(f"{name:10} {estimate.value:6.2f} [{low:.2f}, {high:.2f}]")

print(pairwise_tests(estimates, test="corrected-resampled-t", correction="holm"))
