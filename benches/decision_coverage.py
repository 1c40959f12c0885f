"""Coverage of intervals for decisions among classes; ``python -m benches.decision_coverage`` prints the table.

Logits of three classes are normal, and labels are drawn by the probabilities, so these are calibrated; the third class
has 10 % of the rows. For sets of labels, each of 5 labels is drawn by its own probability. Intervals are at 95 %, with
499 replicates of rows. True values are those of `N_TRUTH` rows; for thresholds, of the thresholds chosen on all rows.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastevals
from fastevals import metric

SPREAD, OFFSETS = 1.5, np.array([0.0, -0.7, -2.5])
COSTS = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [20.0, 10.0, 0.0]])
N_TRUTH, N_RESAMPLES = 1_000_000, 499
SEED = 20261129
LIMITS = [0.3, 0.4, 0.5, 0.6, 0.7]
OF_ANSWERS: dict[str, Any] = {
    "AURC": "aurc",
    "E-AURC": "excess_aurc",
    "risk at coverage 0.8": metric("risk_at_coverage", coverage=0.8),
    "coverage at risk 0.15": metric("coverage_at_risk", risk=0.15),
}
OF_SETS: dict[str, Any] = {
    "macro F1 (labels)": metric("f1", threshold=LIMITS),
    "F1 of samples": metric("f1", threshold=LIMITS, average="samples"),
    "LRAP": "label_ranking_average_precision",
    "ranking loss": "label_ranking_loss",
    "subset accuracy": metric("subset_accuracy", threshold=LIMITS),
}


def rows(rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels and calibrated probabilities."""
    p = np.exp(SPREAD * rng.standard_normal((n, 3)) + OFFSETS)
    p /= p.sum(axis=1, keepdims=True)
    return (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1), p


def sets(rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return an indicator matrix and its probabilities."""
    p = rng.beta(0.6, 1.4, (n, 5))
    return (rng.random((n, 5)) < p).astype(np.int64), p


def misses(n: int, n_sets: int) -> Counter[tuple[str, str]]:
    """Return how many intervals lie below or above the true value, by name."""
    rng = np.random.default_rng(SEED)
    (y, p), (true, scores) = rows(rng, N_TRUTH), sets(rng, N_TRUTH)
    once: dict[str, Any] = {"n_resamples": 1, "method": "percentile", "rng": 0}
    truth = {name: each.value for name, each in fastevals.bootstrap((y, p), OF_ANSWERS, **once).items()}
    truth |= {name: each.value for name, each in fastevals.bootstrap((true, scores), OF_SETS, **once).items()}
    whole = fastevals.class_costs(y, p, COSTS, n_resamples=0)["y_prob"]
    truth["least expected cost"], truth["most probable class"] = (
        each.mean.value for each in (whole.least_cost, whole.most_probable)
    )
    truth["gain in cost"] = truth["least expected cost"] - truth["most probable class"]
    top = fastevals.ConfusionMatrix.from_predictions(y, p.argmax(axis=1))
    found: Counter[tuple[str, str]] = Counter()

    def count(name: str, interval: Any, value: float) -> None:
        found[name, "below"] += interval.high < value
        found[name, "above"] += interval.low > value

    for number in range(n_sets):
        rng = np.random.default_rng([SEED, n, number])
        few: dict[str, Any] = {"n_resamples": N_RESAMPLES, "rng": number}
        sample, labelled = rows(rng, n), sets(rng, n)
        for subject, metrics in ((sample, OF_ANSWERS), (labelled, OF_SETS)):
            for name, each in fastevals.bootstrap(subject, metrics, **few).items():
                count(name, each.confidence_interval, truth[name])
        costs = fastevals.class_costs(*sample, COSTS, **few)["y_prob"]
        count("least expected cost", costs.least_cost.mean.confidence_interval, truth["least expected cost"])
        count("most probable class", costs.most_probable.mean.confidence_interval, truth["most probable class"])
        assert costs.gain is not None
        count("gain in cost", costs.gain.confidence_interval, truth["gain in cost"])
        chosen = fastevals.class_thresholds(*sample, "f1", **few)
        part = slice(0, 100_000)
        matrix = fastevals.ConfusionMatrix.from_predictions(y[part], chosen.predict(p[part]))
        value = float(matrix.f_score(average="macro"))
        count("macro F1 at thresholds", chosen.estimate.confidence_interval, value)
        gain = value - float(top.f_score(average="macro"))
        count("gain in macro F1", chosen.difference.confidence_interval, gain)
    return found


def main(n_sets: int) -> None:
    """Print the share of intervals that contain the true value, and the shares that lie below and above it."""
    for n in (500, 2500):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = misses(n, n_sets)
        for name in dict.fromkeys(name for name, _ in found):
            below, above = (100 * found[name, side] / n_sets for side in ("below", "above"))
            print(f"| {name} | {n:,} | {100 - below - above:.1f} | {below:.1f} | {above:.1f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
