"""False passes of a gate's rules at their margin; ``python -m benches.gate_evidence`` prints the table.

The scores of two models are normal, correlated, and give calibrated probabilities; labels are drawn at random. At its
margin, a rule must pass in at most 5 % of data sets: those in which its bound is beyond the true value. Each line has
the percentages for model a's lower and upper bound, for those of its difference from b, and of data sets without a
bound. ``python -m benches.gate_evidence 3 8 500`` measures the 3rd of 8 parts, with 500 data sets per design;
``python -m benches.gate_evidence costs 2000`` measures costs that differ by row, on the data sets of `row_costs`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import fastevals
from benches import row_costs
from fastevals.infer.bootstrap.bootstrap import BootstrapSettings
from fastevals.infer.costs.measured import CostedRows
from fastevals.infer.gate.costs import CostEvidence, CostMetric
from fastevals.infer.gate.evidence import measure_rows
from fastevals.measure.metric_specs import parse_metrics
from fastevals.measure.row_costs import RowAmounts

N_SETS = 2000
N_RESAMPLES = 299
SEED = 20261126
AT_FPR = 0.05


class Design(NamedTuple):
    """A distribution of data sets: rows, share of positives, true AUCs of both models, and their correlation."""

    n: int
    prevalence: float
    aucs: tuple[float, float]
    correlation: float


DESIGNS = [
    Design(n, prevalence, aucs, correlation)
    for n in (1000, 10_000)
    for prevalence in ((0.065 if n == 1000 else 0.05), 0.5)
    for aucs in ((0.7, 0.72), (0.95, 0.96))
    for correlation in (0.3, 0.9)
]


def metrics_at(threshold: float) -> dict[str, Any]:
    """Return the metrics that are measured."""
    at = {"threshold": threshold}
    return parse_metrics(
        {
            "AUC": "roc_auc",
            "AP": "average_precision",
            "Brier": "brier_score",
            "recall": fastevals.metric("recall", **at),
            "recall at FPR": fastevals.metric("recall", fpr=AT_FPR),
            "precision": fastevals.metric("precision", **at),
            "F1": fastevals.metric("f1", **at),
        }
    )


def distance(auc: float) -> float:
    """Return the distance between the classes."""
    from scipy.special import ndtri

    return float(np.sqrt(2) * ndtri(auc))


def probabilities(x: Any, d: float, prevalence: float) -> Any:
    """Return the probabilities of a positive, given scores."""
    return 1 / (1 + np.exp(-(np.log(prevalence / (1 - prevalence)) + d * x - d * d / 2)))


@lru_cache
def truth(auc: float, prevalence: float) -> dict[str, float]:
    """Return the true metrics of a model; the threshold is the prevalence."""
    from scipy.special import ndtr, ndtri

    d = distance(auc)
    x = np.linspace(-9, 9 + d, 200_001)
    of_pos, of_neg = (np.exp(-((x - m) ** 2) / 2) / np.sqrt(2 * np.pi) for m in (d, 0.0))
    p, step = probabilities(x, d, prevalence), x[1] - x[0]
    brier = step * np.sum(prevalence * of_pos * (1 - p) ** 2 + (1 - prevalence) * of_neg * p**2)
    tpr, fpr = ndtr(d - x), ndtr(-x)
    precision = prevalence * tpr / np.maximum(prevalence * tpr + (1 - prevalence) * fpr, 1e-300)
    cut = d / 2  # where the probability is the prevalence
    tp, fp = prevalence * ndtr(d - cut), (1 - prevalence) * ndtr(-cut)
    return {
        "AUC": auc,
        "AP": float(step * np.sum(of_pos * precision)),
        "Brier": float(brier),
        "recall": float(ndtr(d - cut)),
        "recall at FPR": float(ndtr(d + ndtri(AT_FPR))),
        "precision": float(tp / (tp + fp)),
        "F1": float(2 * tp / (tp + fp + prevalence)),
    }


def draw(design: Design, rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    """Draw labels and the probabilities of two models."""
    y = rng.random(design.n) < design.prevalence
    one, other = rng.standard_normal((2, design.n))
    r = design.correlation
    noise = one, r * one + np.sqrt(1 - r * r) * other
    ds = [distance(auc) for auc in design.aucs]
    return y, {
        name: probabilities(each + d * y, d, design.prevalence) for name, each, d in zip("ab", noise, ds, strict=True)
    }


def simulate(design: Design, n_sets: int = N_SETS, labels: Sequence[str] = (), factor: float = 1.0) -> dict[str, Any]:
    """Return the percentages of data sets with a bound beyond the truth: of model a, and of a minus factor * b."""
    rng = np.random.default_rng([SEED, DESIGNS.index(design)])
    specs = {label: spec for label, spec in metrics_at(design.prevalence).items() if label in (labels or [label])}
    true = [truth(auc, design.prevalence) for auc in design.aucs]
    found = {label: np.zeros(5) for label in specs}
    for number in range(n_sets):
        y, scores = draw(design, rng)
        settings = BootstrapSettings.checked(N_RESAMPLES, 0.95, "BCa", "two-sided", number)
        measured = measure_rows("scores", y, scores, specs, settings)
        for label in specs:
            own, both = measured.of(label, "a"), measured.between(label, "a", "b", factor)
            value, gap = true[0][label], true[0][label] - factor * true[1][label]
            beyond = [
                own.bound(0.95, "low") >= value,
                own.bound(0.95, "high") <= value,
                both.bound(0.95, "low") >= gap,
                both.bound(0.95, "high") <= gap,
                bool(both.why_none),
            ]
            found[label] += beyond
    return {label: 100 * each / n_sets for label, each in found.items()}


COST_DESIGNS = [
    row_costs.Design(n, prevalence, spread)
    for n in (1000, 10_000)
    for prevalence in (0.1, 0.5)
    for spread in (0.5, 1.0)
]


def simulate_costs(design: row_costs.Design, n_sets: int) -> dict[str, Any]:
    """Return the percentages of data sets with a bound of the mean cost beyond the truth, as `simulate` does."""
    truth, log_odds = row_costs.truth_of(design.prevalence, design.spread)
    at = float(1 / (1 + np.exp(-log_odds)))
    metrics = {
        "fixed": CostMetric("mean_cost", at),
        "best": CostMetric("mean_cost"),
        "per-row": CostMetric("mean_cost", per_row_rule=True),
    }
    found = {label: np.zeros(5) for label in metrics}
    for number in range(n_sets):
        y, scores, amounts = row_costs.draw(design, number)
        costed = CostedRows(y, scores, RowAmounts(row_costs.ALARM, amounts))
        settings = BootstrapSettings.checked(N_RESAMPLES, 0.95, "BCa", "two-sided", number)
        measured = CostEvidence(costed, metrics, settings, budget=sys.maxsize)
        for label in metrics:
            one, other = scores
            own, both = measured.of(label, one), measured.between(label, one, other, 1.0)
            found[label] += [
                own.bound(0.95, "low") >= truth[label],
                own.bound(0.95, "high") <= truth[label],
                both.bound(0.95, "low") >= truth[f"Δ {label}"],
                both.bound(0.95, "high") <= truth[f"Δ {label}"],
                bool(both.why_none),
            ]
    return {label: 100 * each / n_sets for label, each in found.items()}


def print_costs(n_sets: int) -> None:
    """Print a line for each design of costs, and each rule that decides."""
    for design in COST_DESIGNS:
        for label, figures in simulate_costs(design, n_sets).items():
            words = " ".join(f"{each:5.1f}" for each in figures)
            print(f"{design.n:6} {design.prevalence:5} {design.spread:4} {label:14} {words}", flush=True)


def main() -> None:
    """Print a line for each design and metric."""
    if sys.argv[1:2] == ["costs"]:
        print_costs(int(sys.argv[2]) if len(sys.argv) > 2 else N_SETS)
        return
    part, n_parts = (int(each) for each in sys.argv[1:3]) if len(sys.argv) > 2 else (1, 1)
    n_sets = int(sys.argv[3]) if len(sys.argv) > 3 else N_SETS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        for design in DESIGNS[part - 1 :: n_parts]:
            for label, figures in simulate(design, n_sets).items():
                words = " ".join(f"{each:5.1f}" for each in figures)
                print(
                    f"{design.n:6} {design.prevalence:5} {design.aucs} {design.correlation} {label:14} {words}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
