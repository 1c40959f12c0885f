"""The decompositions of 0-1 loss: integers, for each sample, that are shares times the number of models or its square.

Each gives its terms of the counts of a sample (`Tally`), and what they are to be divided by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.measure.bias_variance.result import (
    BiasVariance,
    Decomposition,
    DomingosDecomposition,
    JamesDecomposition,
)

__all__ = ["DECOMPOSITIONS", "Tally"]

Ints = NDArray[np.int64]
Terms = dict[str, Ints]


class Tally(NamedTuple):
    """Of each sample, how many of the models predict, or have observed, what.

    Attributes
    ----------
    n : int
        Models.
    right : ndarray of bool
        Whether the main prediction is the true class.
    of_main, of_true : ndarray
        Predictions of the main and of the true class.
    matches : ndarray
        Predictions of the class observed with the same model.
    observed_main, observed_true : ndarray
        Observations of the main and of the true class.
    squared, observed_squared, product : ndarray
        Sums over classes: squared predictions, squared observations, the one times the other.
    """

    n: int
    right: NDArray[np.bool_]
    of_main: Ints
    of_true: Ints
    matches: Ints
    observed_main: Ints
    observed_true: Ints
    squared: Ints
    observed_squared: Ints
    product: Ints


class ZeroOneDecomposition(NamedTuple):
    """Its result, its terms, and which power of the number of models they are to be divided by, how often."""

    kind: type[Decomposition]
    terms: Callable[[Tally], Terms]
    power: int
    times: int


def _domingos(t: Tally) -> Terms:
    bias = np.where(t.right, 0, t.n)
    variance, lost = t.n - t.of_main, t.n - t.matches
    unbiased, biased = np.where(t.right, variance, 0), np.where(t.right, 0, t.of_true)
    net = unbiased - biased
    return {
        "expected_loss": lost,
        "bias": bias,
        "variance": variance,
        "unbiased_variance": unbiased,
        "biased_variance": biased,
        "net_variance": net,
        "noise": t.n - t.observed_true,
        "noise_effect": lost - bias - net,
    }


def _kohavi_wolpert(t: Tally) -> Terms:
    square = t.n * t.n
    return {
        "expected_loss": 2 * t.n * (t.n - t.matches),
        "bias_squared": t.squared - 2 * t.product + t.observed_squared,
        "variance": square - t.squared,
        "noise": square - t.observed_squared,
        "cross_term": 2 * (t.product - t.n * t.matches),
    }


def _james(t: Tally) -> Terms:
    return {
        "expected_loss": t.n - t.matches,
        "bias": np.where(t.right, 0, t.n),
        "variance": t.n - t.of_main,
        "noise": t.n - t.observed_true,
        "systematic_effect": t.observed_true - t.observed_main,
        "variance_effect": t.observed_main - t.matches,
    }


DECOMPOSITIONS = {
    "domingos": ZeroOneDecomposition(DomingosDecomposition, _domingos, 1, 1),
    "kohavi-wolpert": ZeroOneDecomposition(BiasVariance, _kohavi_wolpert, 2, 2),
    "james": ZeroOneDecomposition(JamesDecomposition, _james, 1, 1),
}
