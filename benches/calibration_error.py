"""Coverage of the interval of the calibration error; ``python -m benches.calibration_error`` prints the table.

The true log-odds are normal. The log-odds of the probabilities are the same if calibrated, higher by a constant, or
spread further. The true error is the population's, in fixed bins or in bins cut at its deciles.
"""

from __future__ import annotations

import sys
import warnings
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastevals

Floats = NDArray[np.float64]

CENTERS = {0.05: (-3.6, 1.2), 0.5: (0.0, 1.5)}  # mean and standard deviation of the log-odds, by share of positives
LINES = {
    "calibrated": (0.0, 1.0), "0.1 higher": (0.1, 1.0), "0.3 higher": (0.3, 1.0), "1 higher": (1.0, 1.0),
    "1.5 times": (0.0, 1.5),
}  # fmt: skip
STRATEGIES: tuple[Any, ...] = ("quantile", "uniform")
N_POPULATION, N_DATA_SETS, N_BINS = 3_000_000, 1000, 10


def draw(rng: np.random.Generator, prevalence: float, line: str, n: int) -> tuple[Floats, Floats]:
    """Return probabilities and true chances of n rows."""
    center, spread = CENTERS[prevalence]
    shift, slope = LINES[line]
    log_odds = rng.normal(center, spread, n)
    given = center + shift + slope * (log_odds - center)
    return 1 / (1 + np.exp(-given)), 1 / (1 + np.exp(-log_odds))


def true_error(prevalence: float, line: str, strategy: str) -> float:
    """Return the error of a large population."""
    p, chance = draw(np.random.default_rng(9), prevalence, line, N_POPULATION)
    inner = np.arange(1, N_BINS) / N_BINS
    bins = np.searchsorted(inner if strategy == "uniform" else np.quantile(p, inner), p)
    rows = np.maximum(np.bincount(bins, minlength=N_BINS), 1)
    return float(np.sqrt(np.sum(np.bincount(bins, chance - p, N_BINS) ** 2 / rows) / p.size))


def main(n_data_sets: int) -> None:
    """Print a line for each share of positives, line and number of rows."""
    warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
    for prevalence, line in product(CENTERS, LINES):
        errors = {strategy: true_error(prevalence, line, strategy) for strategy in STRATEGIES}
        for n in (300, 3000, 30_000):
            rng = np.random.default_rng([round(100 * prevalence), n, list(LINES).index(line)])
            found = []
            for _ in range(n_data_sets):
                p, chance = draw(rng, prevalence, line, n)
                ranking = fastevals.Ranking(rng.random(n) < chance, p)
                ends = [fastevals.calibration(ranking, strategy=each).error.confidence_interval for each in STRATEGIES]
                pairs = zip(ends, errors.values(), strict=True)
                found.append([(low <= error <= high, high - low) for (low, high), error in pairs])
            covered, widths = np.mean(found, axis=0).T
            cells = [f"{100 * prevalence:.0f} %", f"{n:,}", line, f"{errors['quantile']:.3f}"]
            cells += [f"{100 * each:.1f}" for each in covered] + [f"{each:.3f}" for each in widths]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else N_DATA_SETS)
