"""Cases that compare tests between learners: entries as in `benches.peers`.

Where the sides draw different permutations, they return the difference on the data instead of the test's result. A pass
that sums the predictions, or counts rows, serves as a unit of time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import fastevals
from benches.data import Data
from benches.peers import Call, Cases, Setup, installed
from fastevals.counting.labels import count_label_tuples

MODELS = 200
PAIRS = MODELS * (MODELS - 1) // 2
SINGLE_PAIRS = 20  # pairs in a plain loop
SWAPS = 10_000
FLIPS = 10_000
FLIP_LOOPS = 128  # sign flips by NumPy products; each takes 0.25 ms
CHUNK = 8  # sign flips per product, so that the signs of 100,000 rows stay in cache
ALGORITHMS = 50
MEASUREMENTS = 100  # of each model
DECIMALS = 6  # SciPy's chi-square is a difference of numbers near 3 N k, so later digits are lost


Floats = NDArray[np.float64]


# Predictions ------------------------------------------------------------------------------------------------------


def _labels(data: Data) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return classes and 200 models' predictions: accuracies of 50 to 80 %, with errors often on the same rows."""
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


def _all_pairs(method: Literal["exact", "mid-p", "corrected", "uncorrected"]) -> Setup:
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
    """Test some pairs one by one with SciPy."""
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


# Permutations -----------------------------------------------------------------------------------------------------


def _predictions(data: Data) -> tuple[Any, ...]:
    return tuple((scores > 1.5).astype(np.int64) for scores in (data.s, data.second))


def _swapped(metric: str) -> Setup:
    def set_up(data: Data) -> Call:
        first, second = _predictions(data)
        return lambda: fastevals.permutation_test(data.y, first, second, metric, n_resamples=SWAPS, rng=1).effect

    return set_up


def _counted(value: Callable[[fastevals.ConfusionMatrix], float]) -> Setup:
    """Count each model's rows: the work to compute both metrics."""

    def set_up(data: Data) -> Call:
        predictions = _predictions(data)

        def call() -> float:
            first, second = (value(fastevals.ConfusionMatrix.from_predictions(data.y, each)) for each in predictions)
            return first - second

        return call

    return set_up


def _one_pass(value: Callable[[fastevals.ConfusionMatrix], float]) -> Setup:
    """Count rows by true class and both predictions in one pass, the least a test needs; return a known difference."""

    def set_up(data: Data) -> Call:
        predictions = _predictions(data)
        first, second = (value(fastevals.ConfusionMatrix.from_predictions(data.y, each)) for each in predictions)

        def call() -> float:
            count_label_tuples("labels", [data.y, *predictions])
            return first - second

        return call

    return set_up


def _losses(data: Data) -> tuple[Floats, Floats]:
    return np.abs(data.t - data.q), np.abs(data.t - data.s)


def _flipped(data: Data) -> Call:
    first, second = _losses(data)
    return lambda: fastevals.paired_permutation_test(first, second, n_resamples=FLIPS, rng=1).effect


def _product(signs: Callable[[np.random.Generator, int], Floats]) -> Setup:
    """Multiply chunks of signs by the differences."""

    def set_up(data: Data) -> Call:
        first, second = _losses(data)

        def call() -> float:
            differences, rng = first - second, np.random.default_rng(1)
            sums = [signs(rng, data.rows) @ differences for _ in range(0, FLIP_LOOPS, CHUNK)]
            assert len(sums) * CHUNK == FLIP_LOOPS
            return float(differences.mean())

        return call

    return set_up


def _drawn_signs(rng: np.random.Generator, n: int) -> Floats:
    signs = rng.integers(0, 2, (CHUNK, n), dtype=np.int8).astype(np.float64)
    signs *= 2
    signs -= 1
    return signs


def _unpacked_bits(rng: np.random.Generator, n: int) -> Floats:
    """Return zeros and ones: twice their product, minus the sum of all, equals the product of the signs."""
    packed = rng.integers(0, 256, (CHUNK, -(-n // 8)), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=n).astype(np.float64)


# Ranks ------------------------------------------------------------------------------------------------------------


def _results(data: Data) -> NDArray[np.float64]:
    """Return results of 50 algorithms, as many numbers as rows."""
    return np.resize(data.s, (max(data.rows // ALGORITHMS, 2), ALGORITHMS))


def _friedman(data: Data) -> Call:
    table = _results(data)
    return lambda: round(fastevals.friedman_test(table, statistic="chi-square").statistic, DECIMALS)


def _scipy_friedman(data: Data) -> Call:
    from scipy import stats

    columns = list(_results(data).T)
    return lambda: round(float(stats.friedmanchisquare(*columns).statistic), DECIMALS)


def _models(data: Data) -> NDArray[np.float64]:
    """Return measurements of models; their pairs have about as many differences as there are rows."""
    n_models = max(2, int(np.sqrt(2 * data.rows / MEASUREMENTS)))
    return data.s[np.random.default_rng(data.rows).integers(0, data.rows, (MEASUREMENTS, n_models))]


def _wilcoxon(data: Data) -> Call:
    table = _models(data)
    return lambda: fastevals.pairwise_tests(table, test="wilcoxon", method="normal", correction="none").pvalue


def _scipy_wilcoxon(data: Data) -> Call:
    from scipy import stats

    table = _models(data)
    first, second = np.triu_indices(table.shape[1], 1)
    if data.kind.endswith(("decimal", "decimals")):  # SciPy ties their differences only as whole numbers
        table = np.round(1000 * table)

    def call() -> Any:
        return stats.wilcoxon(table[:, first], table[:, second], axis=0, method="approx").pvalue

    return call


# Pairs of measurements --------------------------------------------------------------------------------------------


def _paired_t(data: Data) -> Call:
    return lambda: fastevals.paired_t_test(data.t, data.q).statistic


def _scipy_paired_t(data: Data) -> Call:
    from scipy import stats

    return lambda: stats.ttest_rel(data.t, data.q).statistic


def _signed_ranks(data: Data) -> Call:
    return lambda: fastevals.wilcoxon_test(data.t, data.q, method="normal").pvalue


def _scipy_signed_ranks(data: Data) -> Call:
    from scipy import stats

    return lambda: stats.wilcoxon(data.t, data.q, method="asymptotic").pvalue


def _drift(data: Data) -> Call:
    second = data.second

    def call() -> tuple[float, float]:
        found = fastevals.score_drift(data.s, second)
        assert isinstance(found, fastevals.ScoreDrift)
        return found.ks, found.wasserstein

    return call


def _scipy_drift(data: Data) -> Call:
    from scipy import stats

    second = data.second
    return lambda: (
        stats.ks_2samp(data.s, second, method="asymp").statistic,
        stats.wasserstein_distance(data.s, second),
    )


SIGNIFICANCE: Cases = installed(
    {
        "pairwise_mcnemar": {"fastevals": _all_pairs("exact"), "np.sum": _sum, "one at a time": _one_at_a_time},
        "permutation_accuracy": {
            "fastevals": _swapped("accuracy"),
            "one counting pass": _one_pass(lambda matrix: matrix.accuracy()),
            "from_predictions": _counted(lambda matrix: matrix.accuracy()),
        },
        "permutation_f1": {
            "fastevals": _swapped("f1"),
            "one counting pass": _one_pass(lambda matrix: matrix.f_score()),
            "from_predictions": _counted(lambda matrix: matrix.f_score()),
        },
        "sign_flips": {
            "fastevals": _flipped,
            "numpy": _product(_drawn_signs),
            "numpy, unpacked bits": _product(_unpacked_bits),
        },
        "friedman": {"fastevals": _friedman, "scipy": _scipy_friedman},
        "paired_t_test": {"fastevals": _paired_t, "scipy": _scipy_paired_t},
        "wilcoxon_test": {"fastevals": _signed_ranks, "scipy": _scipy_signed_ranks},
        "score_drift": {"fastevals": _drift, "scipy": _scipy_drift},
        "wilcoxon_pairs": {"fastevals": _wilcoxon, "scipy": _scipy_wilcoxon},
    }
)
