"""Slow, obvious twins of the intervals for a learner's error."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Loss = Callable[[Any, Any], float]  # of a row's truth and prediction
FitPredict = Callable[[Any, Any, Any], Any]


def losses(fit_predict: FitPredict, X: Any, y: Any, train: Any, test: Any, loss: Loss) -> list[float]:
    """Return the loss of each test row."""
    return [loss(a, b) for a, b in zip(y[test], fit_predict(X[train], y[train], X[test]), strict=True)]


def cv_wald(fit_predict: FitPredict, X: Any, y: Any, folds: Sequence[Any], loss: Loss) -> float:
    """Return Bayle et al.'s standard error, with the all-pairs variance; `folds` are test sets."""
    every = [
        each for test in folds for each in losses(fit_predict, X, y, np.setdiff1d(np.arange(len(y)), test), test, loss)
    ]
    return math.sqrt(statistics.pvariance(every) / len(every))


def nested_cv(
    fit_predict: FitPredict, X: Any, y: Any, repeats: Iterable[Sequence[Any]], loss: Loss
) -> tuple[float, float]:
    """Return the bias-corrected value and the standard error of algorithm 1 of Bates, Hastie and Tibshirani."""
    n, a, b, inner, outer = len(y), [], [], [], []
    for folds in repeats:
        k = len(folds)
        for held_out in range(k):
            others = [fold for j, fold in enumerate(folds) if j != held_out]
            e_out = losses(fit_predict, X, y, np.sort(np.concatenate(others)), folds[held_out], loss)
            e_in: list[float] = []
            for place, test in enumerate(others):
                rest = np.sort(np.concatenate([each for j, each in enumerate(others) if j != place]))
                e_in += losses(fit_predict, X, y, rest, test, loss)
            a.append((statistics.mean(e_in) - statistics.mean(e_out)) ** 2)
            b.append(statistics.variance(e_out) / len(e_out))
            inner += e_in
            outer += e_out
    mse = (k - 1) / k * (statistics.mean(a) - statistics.mean(b))
    naive = statistics.stdev(inner) / math.sqrt(n)
    error = min(max(math.sqrt(max(mse, 0)), naive), naive * math.sqrt(k))
    bias = (1 + (k - 2) / k) * (statistics.mean(inner) - statistics.mean(outer))
    return statistics.mean(inner) - bias, error


def out_of_bag_error(weights: NDArray[Any], loss_without: Callable[[tuple[int, ...], int], float]) -> float:
    """Return the exact out-of-bag error of weighted rows, over all bootstrap samples of the other rows.

    `loss_without` gives row i's loss from a fit to a sample (a tuple of row numbers) without row i.
    """
    n, total = len(weights), 0.0
    for i in range(n):
        others = [j for j in range(n) if j != i]
        chance = weights[others] / weights[others].sum()
        for sample in itertools.product(range(n - 1), repeat=n):
            probability = math.prod(chance[k] for k in sample)
            total += weights[i] * probability * loss_without(tuple(others[k] for k in sample), i)
    return total


def influences(n: int, loss_without: Callable[[tuple[int, ...], int], float], step: float = 1e-5) -> list[float]:
    """Return the derivatives of the out-of-bag error with respect to the weights of rows, divided by n."""
    found, equal = [], np.full(n, 1 / n)
    for row in range(n):
        towards = -equal
        towards[row] += 1
        up, down = (out_of_bag_error(equal + sign * step * towards, loss_without) for sign in (1, -1))
        found.append((up - down) / (2 * step) / n)
    return found
