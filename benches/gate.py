"""How often a gate of five rules is wrong: it passes with one rule at its margin, or fails although all rules hold.

    python -m benches.gate [NUMBER OF DATA SETS]
    python -m benches.gate other-rows [NUMBER OF DATA SETS]

Scores are normal and turned into probabilities, so the true values are integrals that a large sample gives to three
digits. Each data set has 2,000 rows, 10 % positive, and two models that are correlated with 0.8. The second command
compares with a champion on other rows: 1,000 rows on either side, rules exactly at their margin.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastevals
from benches.gate_evidence import Design, truth
from benches.gate_evidence import draw as draw_design

Floats = NDArray[np.float64]

ROWS, LARGE, PREVALENCE = 2_000, 4_000_000, 0.1
SHIFTS = {"new": 1.5, "old": 1.6}  # of positives, in standard deviations
CORRELATION = 0.8


def draw(n: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Draw labels and the probabilities of two models."""
    y = rng.random(n) < PREVALENCE
    shared = rng.normal(size=n)
    columns: dict[str, NDArray[Any]] = {"y": y}
    for name, shift in SHIFTS.items():
        z = np.sqrt(CORRELATION) * shared + np.sqrt(1 - CORRELATION) * rng.normal(size=n) + shift * y
        log_odds = shift * z - shift**2 / 2 + np.log(PREVALENCE / (1 - PREVALENCE))  # calibrated
        columns[name] = 1 / (1 + np.exp(-log_odds))
    return columns


def truths() -> dict[str, float]:
    """Return the true values that rules are about."""
    large = draw(LARGE, np.random.default_rng(1))
    found = {}
    for name in SHIFTS:
        ranking = fastevals.Ranking(large["y"], large[name])
        cells = ranking.confusion_at(0.2)
        found[f"auc {name}"], found[f"ap {name}"] = float(ranking.roc_auc()), float(ranking.average_precision())
        found[f"recall {name}"] = float(cells.recall())
        found[f"brier {name}"] = float(np.mean((large["y"] - large[name]) ** 2))
    return found


def rules(true: dict[str, float]) -> dict[str, list[str]]:
    """Return five rules with one at its margin, and five rules at their limits."""
    gap = true["auc old"] - true["auc new"]
    floors = [f"roc_auc >= {true['auc new']}", f"average_precision >= {true['ap new']}"]
    floors += [f"recall at threshold=0.2 >= {true['recall new']}", f"brier <= {true['brier new']}"]
    clear = ["roc_auc >= 0.7", "recall at threshold=0.2 >= 0.2", "brier <= 0.2", "predicted/observed within 0.5 .. 2"]
    at_margin = f"roc_auc not worse than old by {gap}"
    return {"one at its margin": [at_margin, *clear], "all at their limits": [*floors, at_margin]}


def main(n_sets: int = 1_000) -> None:
    """Print the share of data sets in which the gate passes, and in which it fails."""
    for name, each in rules(truths()).items():
        outcomes = {"pass": 0, "fail": 0, "undecided": 0}
        for seed in range(n_sets):
            columns = draw(ROWS, np.random.default_rng([2, seed]))
            found = fastevals.gate(columns, each, label="y", score=["new", "old"], model="new", n_resamples=999)
            outcomes[found.outcome] += 1
        shares = ", ".join(f"{outcome} {100 * count / n_sets:.1f} %" for outcome, count in outcomes.items())
        print(f"{name}: {shares} of {n_sets:,} data sets", flush=True)


def other_rows(n_sets: int = 2_000) -> None:
    """Print how often a model passes that is worse than a champion on other rows by the margin."""
    design = Design(1_000, PREVALENCE, (0.7, 0.72), 0.3)
    worse, champion = (truth(auc, PREVALENCE) for auc in design.aucs)
    names = {"AUC": "auc", "AP": "average_precision", "Brier": "brier", "recall": f"recall at threshold={PREVALENCE}"}
    each = [f"{name} not worse than champion by {abs(worse[k] - champion[k])!r}" for k, name in names.items()]
    rng, n_passed = np.random.default_rng(7), np.zeros(len(each))
    for seed in range(n_sets):
        (y, scores), (others_y, others) = draw_design(design, rng), draw_design(design, rng)
        data, reference = {"y": y, "m": scores["a"]}, {"y": others_y, "m": others["b"]}
        found = fastevals.gate(data, each, label="y", score="m", reference=reference, n_resamples=499, rng=seed)
        n_passed += [result["outcome"] == "pass" for result in found.to_dict()["rules"]]
    shares = ", ".join(f"{k} {100 * n / n_sets:.2f} %" for k, n in zip(names, n_passed, strict=True))
    print(f"not worse than a champion on other rows, at the margin: passes {shares} of {n_sets:,} data sets")


if __name__ == "__main__":
    if sys.argv[1:2] == ["other-rows"]:
        other_rows(*map(int, sys.argv[2:]))
    else:
        main(*map(int, sys.argv[1:]))
