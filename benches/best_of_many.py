"""Count how often the interval of `bbc_cv` contains the true value of the configuration that was chosen.

``python -m benches.best_of_many 400`` prints a table: the mean error of the best value on all rows and of the corrected
value, how often the interval contains the truth, lies above it and lies below it, and the interval's mean width.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from scipy.stats import norm

import fastevals

SHARED = 0.7  # correlation of two configurations' evidence for a row


def draw_rows(rng: np.random.Generator, n: int, evidence: np.ndarray, metric: str) -> tuple[Any, Any, np.ndarray]:
    """Return labels, predictions and the true values of configurations with the given strengths of evidence."""
    y = rng.integers(0, 2, n)
    noise = np.sqrt(SHARED) * rng.normal(size=n) + np.sqrt(1 - SHARED) * rng.normal(size=(evidence.size, n))
    scores = noise + np.outer(evidence, 2 * y - 1)
    if metric == "accuracy":
        return y, (scores > 0).astype(int), norm.cdf(evidence)
    return y, scores, norm.cdf(evidence * np.sqrt(2))


def measure(n: int, n_configurations: int, metric: str, spread: float, n_datasets: int) -> str:
    """Return a row of the table."""
    rng = np.random.default_rng(0)
    evidence = 0.85 - spread * np.linspace(0, 1, n_configurations)
    missed, errors, widths = np.zeros(2), np.zeros((n_datasets, 2)), np.zeros(n_datasets)
    for k in range(n_datasets):
        y, predictions, true = draw_rows(rng, n, evidence, metric)
        found = fastevals.bbc_cv(y, predictions, metric, n_resamples=499, rng=k)
        truth, (low, high) = true[found.best], found.confidence_interval
        missed += low > truth, high < truth
        errors[k], widths[k] = (found.apparent_value - truth, found.value - truth), high - low
    below, above = missed / n_datasets
    cells = [f"{n_configurations}", f"{n}", metric, "equal" if not spread else "spread"]
    cells += [f"{each:+.3f}" for each in errors.mean(axis=0)]
    cells += [f"{100 * (1 - below - above):.1f}", f"{100 * below:.1f}", f"{100 * above:.1f}", f"{widths.mean():.3f}"]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for metric in ("accuracy", "roc_auc"):
        for n in (100, 500):
            for n_configurations in (2, 20, 100):
                for spread in (0.0, 0.4):
                    print(measure(n, n_configurations, metric, spread, int(sys.argv[1])), flush=True)
