"""What McNemar's tests of many pairs are compared on: entries as in `benches.peers`.

What all sides give is the differences of the accuracies; a pass that sums the predictions is work to measure time by.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastevals
from benches.data import Data
from benches.peers import Call, Cases, Setup, installed

__all__ = ["MCNEMAR", "MODELS", "PAIRS", "SINGLE_PAIRS"]

MODELS = 200
PAIRS = MODELS * (MODELS - 1) // 2
SINGLE_PAIRS = 20  # of a plain loop


def _labels(data: Data) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Give classes of shape (rows,), and predictions of 200 models of accuracies from 50 to 80 %, alike on rows."""
    rng = np.random.default_rng([data.rows, MODELS])
    true = data.k.astype(np.int8)
    hard = 0.4 * rng.random(data.rows)
    limits = rng.uniform(0.5, 0.7, MODELS)
    predictions = np.stack([true + (0.6 * rng.random(data.rows) + hard > limit) for limit in limits]).astype(np.int8)
    return true, predictions


def _differences(true: NDArray[Any], predictions: NDArray[Any]) -> NDArray[np.float64]:
    right = np.count_nonzero(predictions == true, axis=1)
    first, second = np.triu_indices(MODELS, 1)
    return (right[first] - right[second]) / true.size  # type: ignore[no-any-return]


def _ours(method: str) -> Setup:
    def set_up(data: Data) -> Call:
        true, predictions = _labels(data)
        return lambda: fastevals.pairwise_mcnemar_tests(true, predictions, method=method).effect

    return set_up


def _sum(data: Data) -> Call:
    true, predictions = _labels(data)
    differences = _differences(true, predictions)

    def call() -> Any:
        predictions.sum()
        return differences

    return call


def _one_at_a_time(data: Data) -> Call:
    """Test some pairs by themselves, as one does with SciPy."""
    from scipy import stats

    true, predictions = _labels(data)
    differences = _differences(true, predictions)

    def call() -> Any:
        for k in range(1, SINGLE_PAIRS + 1):
            first, second = predictions[0] == true, predictions[k] == true
            b, c = np.count_nonzero(first & ~second), np.count_nonzero(second & ~first)
            stats.binomtest(b, max(b + c, 1))
        return differences

    return call


MCNEMAR: Cases = installed(
    {
        "pairwise_mcnemar": {"fastevals": _ours("exact"), "np.sum": _sum, "one at a time": _one_at_a_time},
        "pairwise_mcnemar_chi_square": {"fastevals": _ours("corrected"), "np.sum": _sum},
    }
)
