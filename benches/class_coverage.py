"""Coverage of intervals for class probabilities; ``python -m benches.class_coverage`` prints the table.

Its arguments are the number of data sets, the numbers of designs, and "groups" to draw random groups of rows, as
reports of many rows do.

A row of class k has normal evidence for each class, with mean `DISTANCE` for its own class and 0 for others. The
calibrated model's probabilities are the true ones; the sharp model's are proportional to their power `SHARPNESS`. One
class has on average `RARE` rows; the other classes are equally frequent. Intervals are at 95 % (BCa, 999 replicates of
rows). True values are those of `N_TRUTH` rows, but the calibrated model's true calibration error is 0.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import fastevals
from fastevals import ClassRankings
from fastevals.infer.bootstrap.bootstrap import BootstrapSettings, make_estimates
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_class_sample
from fastevals.measure.kinds import CLASSES
from fastevals.measure.metric_specs import parse_metrics

DISTANCE, SHARPNESS, RARE = 1.5, 1.5, 50
N_TRUTH, N_RESAMPLES = 3_000_000, 999
SEED = 20261128
ECE = "expected_calibration_error"
METRICS: dict[str, Any] = {
    "M": "hand_till",
    "macro AUC": "roc_auc",
    "macro AP": "average_precision",
    "log loss": "log_loss",
    "Brier": "brier_score",
    "class-wise error": ECE,
    "top-label error": "top_label_calibration_error",
    "macro F1": "f1",
    "MCC": "matthews",
}


class Design(NamedTuple):
    """The classes, rows and model of a setting."""

    n_classes: int
    n_rows: int
    is_sharp: bool

    def rows(self, rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return labels and probabilities of n rows."""
        k = self.n_classes
        rare = RARE / self.n_rows
        shares = np.array([rare, *[(1 - rare) / (k - 1)] * (k - 1)])
        y = rng.choice(k, n, p=shares)
        evidence = rng.standard_normal((n, k))
        evidence[np.arange(n), y] += DISTANCE
        logits = (SHARPNESS if self.is_sharp else 1.0) * (np.log(shares) + DISTANCE * evidence)
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        return y, p / p.sum(axis=1, keepdims=True)

    def truth(self) -> dict[str, float]:
        """Return the true value of each metric."""
        y, p = self.rows(np.random.default_rng(SEED), N_TRUTH)
        classes = ClassRankings(y, p)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = fastevals.bootstrap(classes, METRICS, n_resamples=1, method="percentile", rng=0)
        values = {name: each.value for name, each in found.items()}
        return values if self.is_sharp else {**values, "class-wise error": 0.0, "top-label error": 0.0}


DESIGNS = [Design(k, n, sharp) for sharp in (False, True) for k in (3, 10) for n in (2_500, 10_000)]
DESIGNS += [Design(k, 25_000, sharp) for sharp in (False, True) for k in (3, 10)]


def intervals(design: Design, number: int, *, grouped: bool) -> dict[str, Any]:
    """Return the estimates of a data set."""
    y, p = design.rows(np.random.default_rng([SEED, *map(int, design), number]), design.n_rows)
    if not grouped:
        settings: dict[str, Any] = {"n_resamples": N_RESAMPLES, "rng": number}
        return {**fastevals.bootstrap((y, p), METRICS, labels=range(design.n_classes), **settings)}
    specs = CLASSES.specs(parse_metrics(METRICS))
    sampling = SamplingDesign(labels=np.arange(design.n_classes))
    sample = make_class_sample(y, {"model": p}, specs, sampling, one_model=True, coarse=True)
    return make_estimates(sample, specs, BootstrapSettings.checked(N_RESAMPLES, 0.95, "BCa", "two-sided", number))


def covered(design: Design, n_sets: int, *, grouped: bool) -> dict[str, tuple[int, int]]:
    """Return how many intervals lie below and above the true value, by metric."""
    truth = design.truth()
    missed = dict.fromkeys(METRICS, (0, 0))
    for number in range(n_sets):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = intervals(design, number, grouped=grouped)
        for name, each in found.items():
            low, high = each.confidence_interval
            below, above = missed[name]
            missed[name] = below + (not high >= truth[name]), above + (not low <= truth[name])
    return missed


def print_table(n_sets: int, designs: list[int], *, grouped: bool) -> None:
    """Print the coverage of each metric in each design, with the misses below and above."""
    print(f"| classes | rows | model | {' | '.join(METRICS)} |")
    print(f"|---|---|---|{'---|' * len(METRICS)}")
    for place in designs:
        design = DESIGNS[place]
        cells = [
            f"{100 * (1 - (below + above) / n_sets):.1f} ({below} + {above})"
            for below, above in covered(design, n_sets, grouped=grouped).values()
        ]
        model = "sharp" if design.is_sharp else "calibrated"
        print(f"| {design.n_classes} | {design.n_rows:,} | {model} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:] if each != "groups"]
    designs = given[1:] or list(range(len(DESIGNS)))
    print_table(given[0] if given else 1000, designs, grouped="groups" in sys.argv)
