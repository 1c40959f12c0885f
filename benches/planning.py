"""Power of samples as large as `plan_sample_size` says; ``python -m benches.planning`` prints the table in minutes.

Scores of negatives are normal with mean 0, scores of positives with mean 1.47 (an AUC of 0.85). Two models have equal
AUCs, and their scores have correlation 0.8 within a class. Each of 20 pilots of 100,000 rows gives a plan, and each
plan is tried on 200 data sets with random labels. The decision is the one users make: a one-sided 95 % limit of
DeLong's (AUC, difference in AUC), of Clopper and Pearson (recall), of the bootstrap (F1, BCa), or of the mean of paired
differences (Brier score).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import fastevals

N_PILOT, N_PILOTS, N_SETS = 100_000, 20, 200
DISTANCE, CORRELATION = 1.4657, 0.8
PREVALENCES = 0.5, 0.1, 0.01
FLOOR, MARGIN, RECALL, LEAST_RECALL, LOWER_F1, BRIER_SHARE = 0.83, 0.01, 0.85, 0.8, 0.95, 0.02
SEED = 20261127


def draw_rows(rng: np.random.Generator, n: int, prevalence: float) -> tuple[Any, Any, Any]:
    """Return random labels and the scores of two models."""
    y = rng.random(n) < prevalence
    shared, first, second = rng.standard_normal((3, n))
    own, common = np.sqrt(1 - CORRELATION), np.sqrt(CORRELATION)
    return y, DISTANCE * y + common * shared + own * first, DISTANCE * y + common * shared + own * second


def probability(scores: Any, prevalence: float) -> Any:
    """Return the chance that a row is positive, given its score."""
    return 1 / (1 + np.exp(-(DISTANCE * (scores - DISTANCE / 2) + np.log(prevalence / (1 - prevalence)))))


def rates(threshold: float) -> tuple[float, float]:
    """Return the true positive rate and the false positive rate."""
    from scipy.special import ndtr

    return float(ndtr(DISTANCE - threshold)), float(ndtr(-threshold))


def true_f1(threshold: float, prevalence: float) -> float:
    """Return the true F1 at a threshold."""
    tpr, fpr = rates(threshold)
    return 2 * prevalence * tpr / (prevalence * tpr + (1 - prevalence) * fpr + prevalence)


def recall_threshold() -> float:
    """Return the threshold at which recall is `RECALL`."""
    from scipy.special import ndtri

    return DISTANCE - float(ndtri(RECALL))


def f1_threshold(prevalence: float) -> float:
    """Return the threshold with the highest true F1."""
    at: list[float] = np.linspace(-1, 4, 501).tolist()
    return max(at, key=lambda each: true_f1(each, prevalence))


def matrices(rng: np.random.Generator, n: int, prevalence: float, threshold: float) -> fastevals.ConfusionMatrix:
    """Return the confusion matrices of N_SETS data sets."""
    tpr, fpr = rates(threshold)
    chances = [(1 - prevalence) * (1 - fpr), (1 - prevalence) * fpr, prevalence * (1 - tpr), prevalence * tpr]
    return fastevals.ConfusionMatrix(rng.multinomial(n, chances, N_SETS).reshape(-1, 2, 2))


class Case(NamedTuple):
    """A goal: how to plan from a pilot, and whether data sets of n rows show the claim."""

    name: str
    plan: Callable[[tuple[Any, Any, Any], float, float | None], Any]  # rows, true prevalence, stated prevalence
    shown: Callable[[np.random.Generator, int, float], list[bool]]


def plan_auc(rows: Any, prevalence: float, stated: float | None) -> Any:
    """Plan to show that the AUC is above a floor."""
    from scipy.special import ndtr

    value = float(ndtr(DISTANCE / np.sqrt(2)))
    return fastevals.plan_sample_size(rows[:2], "roc_auc", value=value, bound=FLOOR, prevalence=stated)


def shown_auc(rng: np.random.Generator, n: int, prevalence: float) -> list[bool]:
    """Return whether DeLong's lower limits are above the floor."""
    found = []
    for _ in range(N_SETS):
        y, scores, _ = draw_rows(rng, n, prevalence)
        found.append(fastevals.delong(y, scores).confidence_interval(0.95, alternative="greater").low > FLOOR)
    return found


def plan_difference(rows: Any, prevalence: float, stated: float | None) -> Any:
    """Plan to show that the second model's AUC is not lower by the margin."""
    pilot = rows[0], {"old": rows[1], "new": rows[2]}
    return fastevals.plan_sample_size(
        pilot, "roc_auc", reference="old", effect=0.0, margin=MARGIN, prevalence=stated
    )  # fmt: skip


def shown_difference(rng: np.random.Generator, n: int, prevalence: float) -> list[bool]:
    """Return whether the lower limits of DeLong's test are above minus the margin."""
    found = []
    for _ in range(N_SETS):
        y, first, second = draw_rows(rng, n, prevalence)
        test = fastevals.delong_test(y, second, first, alternative="greater")
        assert test.confidence_interval is not None
        found.append(test.confidence_interval.low > -MARGIN)
    return found


def plan_recall(rows: Any, prevalence: float, stated: float | None) -> Any:
    """Plan to show that recall is above a floor."""
    metric = fastevals.metric("recall", threshold=recall_threshold())
    return fastevals.plan_sample_size(rows[:2], metric, value=RECALL, bound=LEAST_RECALL, prevalence=stated)


def shown_recall(rng: np.random.Generator, n: int, prevalence: float) -> list[bool]:
    """Return whether exact lower limits are above the floor."""
    found = fastevals.proportion_interval(
        matrices(rng, n, prevalence, recall_threshold()), "recall", method="clopper-pearson", alternative="greater"
    )
    shown: list[bool] = (np.asarray(found.low) > LEAST_RECALL).tolist()
    return shown


def plan_f1(rows: Any, prevalence: float, stated: float | None) -> Any:
    """Plan to show that F1 is above 95 % of its true value."""
    threshold = f1_threshold(prevalence)
    value = true_f1(threshold, prevalence)
    metric = fastevals.metric("f1", threshold=threshold)
    return fastevals.plan_sample_size(rows[:2], metric, value=value, bound=LOWER_F1 * value, prevalence=stated)


def shown_f1(rng: np.random.Generator, n: int, prevalence: float) -> list[bool]:
    """Return whether lower limits of the bootstrap are above the bound."""
    threshold = f1_threshold(prevalence)
    found = fastevals.bootstrap(
        matrices(rng, n, prevalence, threshold),
        "f1",
        alternative="greater",
        n_resamples=1999,
        rng=int(rng.integers(2**31)),
    )["f1"]
    low = np.asarray(found.confidence_interval.low)
    shown: list[bool] = (low > LOWER_F1 * true_f1(threshold, prevalence)).tolist()
    return shown


def brier_margin(prevalence: float) -> float:
    """Return a margin of 2 % of the Brier score of a constant."""
    return BRIER_SHARE * prevalence * (1 - prevalence)


def plan_brier(rows: Any, prevalence: float, stated: float | None) -> Any:
    """Plan to show that the second model's Brier score is not higher by the margin."""
    own = [probability(each, prevalence) for each in rows[1:]]
    pilot = rows[0], {"old": own[0], "new": own[1]}
    return fastevals.plan_sample_size(
        pilot, "brier_score", reference="old", effect=0.0, margin=brier_margin(prevalence), prevalence=stated,
        n_resamples=1999,
    )  # fmt: skip


def shown_brier(rng: np.random.Generator, n: int, prevalence: float) -> list[bool]:
    """Return whether upper limits of the mean paired difference are below the margin."""
    found = []
    for _ in range(N_SETS):
        y, first, second = draw_rows(rng, n, prevalence)
        losses = (probability(second, prevalence) - y) ** 2 - (probability(first, prevalence) - y) ** 2
        found.append(bool(losses.mean() + 1.6448536 * losses.std() / np.sqrt(n) < brier_margin(prevalence)))
    return found


CASES = [
    Case("AUC above 0.83 (0.85)", plan_auc, shown_auc),
    Case("AUC not lower by 0.01 (0)", plan_difference, shown_difference),
    Case("recall above 0.80 (0.85)", plan_recall, shown_recall),
    Case("F1 above 95 % of its value", plan_f1, shown_f1),
    Case("Brier score not higher by 2 % (0)", plan_brier, shown_brier),
]


def main() -> None:
    """Print the table, or the rows of the cases whose numbers are given."""
    warnings.simplefilter("ignore")
    wanted = [CASES[int(each)] for each in sys.argv[1:]] or CASES
    heads = ["claim (truth)", "positive", "rows", "positives", "SD of rows, %", "from 50 %", "data sets", "power, %"]
    print("|", " | ".join(heads), "|")
    print("|---" * len(heads) + "|", flush=True)
    for case in wanted:
        for prevalence in PREVALENCES:
            sizes: list[int] = []
            others: list[int] = []
            shown: list[bool] = []
            positives: list[int] = []
            for number in range(N_PILOTS):
                rng = np.random.default_rng([SEED, number])
                pilot = draw_rows(rng, N_PILOT, prevalence)
                balanced = draw_rows(rng, N_PILOT, 0.5)
                planned = case.plan(pilot, prevalence, None)
                sizes.append(planned.n_samples)
                positives.append(planned.n_positives)
                if number < 3 and prevalence != 0.5:
                    others.append(case.plan(balanced, prevalence, prevalence).n_samples)
                shown += case.shown(rng, planned.n_samples, prevalence)
            cells = [
                case.name, f"{100 * prevalence:g} %", f"{np.mean(sizes):,.0f}", f"{np.mean(positives):,.0f}",
                f"{100 * np.std(sizes) / np.mean(sizes):.1f}", f"{np.mean(others):,.0f}" if others else "",
                f"{len(shown):,}", f"{100 * np.mean(shown):.1f}",
            ]  # fmt: skip
            print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    with fastevals.num_threads(1):
        main()
