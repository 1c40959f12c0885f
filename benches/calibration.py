"""Coverage of calibration's intervals and level of its tests; ``python -m benches.calibration`` prints the table.

The log-odds of probabilities are normal with standard deviation 1.2. The log-odds of a positive are a line in them:
the same log-odds if calibrated, and otherwise 0.4 plus 0.7 times the log-odds. In clusters, log-odds have correlation
0.36, and the normal scores behind the outcomes have correlation 0.1.
"""

from __future__ import annotations

import sys
import warnings
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import fastevals

Floats = NDArray[np.float64]

SPREAD = 1.2  # standard deviation of the log-odds
LINES = {"calibrated": (0.0, 1.0), "miscalibrated": (0.4, 0.7)}
SEED = 20261126
COLUMNS = ("ratio", "intercept", "slope", "bins", "Spiegelhalter", "conclusion")


class Design(NamedTuple):
    """A distribution of data sets: rows, share of positives, line of the truth, and number of clusters if any."""

    n: int
    prevalence: float
    truth: str
    n_clusters: int | None = None


DESIGNS = [
    *(Design(n, prevalence, truth) for n, prevalence, truth in product((300, 3000, 30_000), (0.05, 0.5), LINES)),
    *(
        Design(3000, prevalence, truth, n_clusters)
        for n_clusters, prevalence, truth in product((10, 20, 50, 100, 300), (0.05, 0.5), LINES)
    ),
]


def chance(log_odds: Floats) -> Floats:
    """Return probabilities."""
    return np.asarray(1 / (1 + np.exp(-log_odds)))


@lru_cache
def truth_of(prevalence: float, truth: str) -> tuple[float, dict[str, float]]:
    """Return the mean log-odds, and the true ratio, intercept and slope."""
    from scipy.optimize import brentq

    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()
    level, slope = LINES[truth]
    center = brentq(lambda mean: weights @ chance(level + slope * (mean + SPREAD * nodes)) - prevalence, -20, 20)
    x = center + SPREAD * nodes
    intercept = brentq(lambda shift: weights @ chance(shift + x) - prevalence, -20, 20)
    return center, {"ratio": float(weights @ chance(x)) / prevalence, "intercept": intercept, "slope": slope}


def draw(design: Design, rng: np.random.Generator) -> tuple[Floats, NDArray[np.bool_], Floats, NDArray[np.intp] | None]:
    """Return probabilities, outcomes, true chances and clusters."""
    from scipy.special import ndtr

    center, _ = truth_of(design.prevalence, design.truth)
    level, slope = LINES[design.truth]
    scores, outcomes = rng.standard_normal((2, design.n))
    clusters = None
    if design.n_clusters is not None:
        clusters = np.arange(design.n) % design.n_clusters
        shared = rng.standard_normal((2, design.n_clusters))[:, clusters]
        scores = 0.6 * shared[0] + 0.8 * scores
        outcomes = np.sqrt(0.1) * shared[1] + np.sqrt(0.9) * outcomes
    x = center + SPREAD * scores
    true = chance(level + slope * x)
    return chance(x), ndtr(outcomes) < true, true, clusters


def simulate(design: Design, n_data_sets: int, seed: int = SEED) -> dict[str, float]:
    """Return the share of data sets, in %, whose intervals contain the truth and whose tests reject.

    "bins" is the share of bins whose interval contains the mean true chance of their rows. "rarer" is the mean number
    of rows of the rarer class, and "undefined" the share of data sets without a slope or its interval.
    """
    _, truth = truth_of(design.prevalence, design.truth)
    found: dict[str, list[float]] = {name: [] for name in (*COLUMNS, "undefined", "rarer")}
    for number in range(n_data_sets):
        p, y, true, clusters = draw(design, np.random.default_rng([seed, number]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
            result = fastevals.calibration(y, p, groups=clusters, pos_label=True)
        found["rarer"].append(min(y.sum(), (~y).sum()))
        found["undefined"].append(np.isnan(result.slope.confidence_interval.low))
        for name in ("ratio", "intercept", "slope"):
            low, high = getattr(result, name).confidence_interval
            if not np.isnan(low):
                found[name].append(low <= truth[name] <= high)
        found["Spiegelhalter"].append(result.spiegelhalter.pvalue < 0.05)
        found["conclusion"].append(not result.conclusion.startswith("No significant"))
        bins = result.bins
        here = np.searchsorted(bins.edges[1:-1], p)
        mean = np.bincount(here, true, len(bins)) / np.bincount(here, minlength=len(bins))
        found["bins"].append(float(np.mean((bins.low <= mean) & (mean <= bins.high))))
    return {name: float(np.mean(values)) * (1 if name == "rarer" else 100) for name, values in found.items()}


def main(n_data_sets: int) -> None:
    """Print the table."""
    print(
        "| rows | clusters | rarer class | probabilities | ratio | intercept | slope | bins | z rejects | called off |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for design in DESIGNS:
        n = n_data_sets // (4 if design.n > 10_000 else 1)
        found = simulate(design, n)
        numbers = " | ".join(f"{found[name]:.1f}" for name in COLUMNS)
        clusters = "" if design.n_clusters is None else design.n_clusters
        print(f"| {design.n:,} | {clusters} | {found['rarer']:,.0f} | {design.truth} | {numbers} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
