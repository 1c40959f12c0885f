"""Coverage of the intervals of `row_costs`; ``python -m benches.row_costs`` prints the table in 20 minutes.

Amounts of missed positives are lognormal with mean 100; a false alarm costs 20. The scores of two models are normal,
with distances of 1.5 and 1.2 between the classes, and give calibrated probabilities. ``python -m
benches.row_costs 3 16`` measures the 3rd of 16 parts, and prints how many intervals contain the true value.
"""

from __future__ import annotations

import sys
import warnings
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import fastevals

MEAN, ALARM = 100.0, 20.0
DISTANCES = 1.5, 1.2
SETS = {300: 2000, 3000: 2000, 30_000: 400}  # data sets by number of rows
N_RESAMPLES = 299
SEED = 20261126
COLUMNS = ("fixed", "best", "per-row", "savings", "share", "Δ fixed", "Δ best", "Δ per-row", "caution")


class Design(NamedTuple):
    """A distribution of data sets: rows, share of positives, and standard deviation of the log amounts."""

    n: int
    prevalence: float
    spread: float


DESIGNS = [Design(*each) for each in product(SETS, (0.05, 0.5), (0.5, 1.0, 1.5))]


def threshold_of(log_odds: Any, distance: float, prevalence: float) -> Any:
    """Return the score at which the log-odds of a positive have a value."""
    return (log_odds - np.log(prevalence / (1 - prevalence))) / distance + distance / 2


@lru_cache
def truth_of(prevalence: float, spread: float) -> tuple[dict[str, float], float]:
    """Return the true cost per row of each rule, savings and differences; and the fixed threshold, as log-odds."""
    from scipy.special import ndtr

    z, weights = np.polynomial.hermite_e.hermegauss(200)
    amounts, weights = MEAN * np.exp(spread * z - spread**2 / 2), weights / weights.sum()
    at = np.log(ALARM / MEAN)  # best for all amounts equal, and so for amounts that scores do not predict

    def cost(log_odds: float, distance: float) -> float:
        x = threshold_of(log_odds, distance, prevalence)
        return float(prevalence * ndtr(x - distance) * MEAN + (1 - prevalence) * ndtr(-x) * ALARM)

    def per_row(distance: float) -> float:
        x = threshold_of(np.log(ALARM / amounts), distance, prevalence)
        return float(weights @ (prevalence * amounts * ndtr(x - distance) + (1 - prevalence) * ndtr(-x) * ALARM))

    fixed = [cost(at, each) for each in DISTANCES]  # which is the best threshold, too
    rows = [per_row(each) for each in DISTANCES]
    none = prevalence * MEAN
    found = {"fixed": fixed[0], "best": fixed[0], "per-row": rows[0], "savings": none - fixed[0]}
    found |= {"share": 1 - fixed[0] / none, "Δ fixed": fixed[0] - fixed[1], "Δ best": fixed[0] - fixed[1]}
    return found | {"Δ per-row": rows[0] - rows[1]}, at


def draw(design: Design, seed: int) -> tuple[Any, dict[str, Any], Any]:
    """Draw labels, the scores of both models, and the cost of missing each row."""
    n, prevalence, spread = design
    rng = np.random.default_rng([SEED, seed])
    y = rng.random(n) < prevalence
    if not 0 < y.sum() < n:
        return draw(design, seed + 2**32)
    prior = np.log(prevalence / (1 - prevalence))
    scores = {
        str(each): 1 / (1 + np.exp(-prior - each * (each * y + rng.standard_normal(n) - each / 2)))
        for each in DISTANCES
    }
    return y, scores, MEAN * np.exp(spread * rng.standard_normal(n) - spread**2 / 2)


def covered(design: Design, seed: int) -> list[bool]:
    """Return which intervals of one data set contain the true value, and whether the fixed total has a caution."""
    n, prevalence, spread = design
    truth, at = truth_of(prevalence, spread)
    y, scores, amounts = draw(design, seed)
    found = fastevals.row_costs(
        y, scores, cost_fp=ALARM, cost_fn=amounts, threshold=1 / (1 + np.exp(-at)), n_resamples=N_RESAMPLES, rng=seed
    )
    model = found[str(DISTANCES[0])]
    assert model.fixed is not None
    assert model.per_row is not None
    intervals: dict[str, Any] = {
        "fixed": model.fixed.total, "best": model.best.total, "per-row": model.per_row.total,
        "savings": model.fixed.savings, "Δ fixed": found.differences["threshold"][0],
        "Δ best": found.differences["best threshold"][0], "Δ per-row": found.differences["per-row rule"][0],
    }  # fmt: skip
    ends = {name: np.divide(each.confidence_interval, n) for name, each in intervals.items()}
    ends["share"] = np.array(model.fixed.savings_share.confidence_interval)
    return [bool(ends[name][0] <= truth[name] <= ends[name][1]) for name in COLUMNS[:-1]] + [
        "few rows" in model.fixed.total.caution
    ]


def main() -> None:
    """Print the table, or the counts of one part."""
    warnings.simplefilter("ignore")
    part, n_parts = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (1, 1)
    is_table = n_parts == 1
    print("|", " | ".join(["rows", "positive", "log SD", "data sets", *COLUMNS]), "|", flush=True)
    for design in DESIGNS:
        seeds = range(part - 1, SETS[design.n], n_parts)
        hits = np.sum([covered(design, seed) for seed in seeds], axis=0)
        shown = [f"{100 * each / len(seeds):.1f}" if is_table else str(each) for each in hits]
        print(
            "|",
            " | ".join([f"{design.n:,}", f"{design.prevalence:.0%}", str(design.spread), str(len(seeds)), *shown]),
            "|",
            flush=True,
        )


if __name__ == "__main__":
    with fastevals.num_threads(1):
        main()
