"""What tests by ranks are compared on: entries as in `benches.peers`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benches.data import Data
from benches.peers import Call, Cases
from fastevals.infer.significance.friedman import friedman_test
from fastevals.infer.significance.pairwise_tests import pairwise_tests

__all__ = ["SIGNIFICANCE_RANKS"]

ALGORITHMS = 50
MEASUREMENTS = 100  # of each model
DECIMALS = 6  # SciPy's chi-square is a difference of numbers of the size of 3 N k, and has no more digits


def _results(data: Data) -> NDArray[np.float64]:
    """Give results of 50 algorithms, as many numbers as there are rows."""
    return np.resize(data.s, (max(data.rows // ALGORITHMS, 2), ALGORITHMS))


def _friedman(data: Data) -> Call:
    table = _results(data)
    return lambda: round(friedman_test(table, statistic="chi-square").statistic, DECIMALS)


def _scipy_friedman(data: Data) -> Call:
    from scipy import stats

    columns = list(_results(data).T)
    return lambda: round(float(stats.friedmanchisquare(*columns).statistic), DECIMALS)


def _models(data: Data) -> NDArray[np.float64]:
    """Give measurements of so many models that their pairs have about as many differences as there are rows."""
    n_models = max(2, int(np.sqrt(2 * data.rows / MEASUREMENTS)))
    return data.s[np.random.default_rng(data.rows).integers(0, data.rows, (MEASUREMENTS, n_models))]


def _wilcoxon(data: Data) -> Call:
    table = _models(data)
    return lambda: pairwise_tests(table, test="wilcoxon", method="normal", correction="none").pvalue


def _scipy_wilcoxon(data: Data) -> Call:
    from scipy import stats

    table = _models(data)
    first, second = np.triu_indices(table.shape[1], 1)

    def call() -> Any:
        return stats.wilcoxon(table[:, first], table[:, second], axis=0, method="approx").pvalue

    return call


SIGNIFICANCE_RANKS: Cases = {
    "friedman": {"fastevals": _friedman, "scipy": _scipy_friedman},
    "wilcoxon_pairs": {"fastevals": _wilcoxon, "scipy": _scipy_wilcoxon},
}
