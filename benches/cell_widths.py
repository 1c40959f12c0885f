"""Intervals from resampled cells beside intervals from resampled rows, on the same data, for all metrics of a report.

``python -m benches.cell_widths 25000,50000 10`` prints a line of JSON for each number of rows and setting. For each
metric, and each metric's difference of two models, it has the mean ratio of widths, the mean shifts of both limits in
widths of the interval, the mean ratio of widths of two bootstraps of rows, which is 1 but for simulation error, and the
standard error of the first number.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import fastevals
from fastevals.show.report import intervals

SETTINGS = ((0.05, 0.75), (0.3, 0.75), (0.05, 0.92), (0.3, 0.92), (0.01, 0.85))  # share of positives, AUC
LESS = 0.03  # the AUC of the second model is this much lower
SHARED = 0.7  # of the models' noise


def draw(n: int, prevalence: float, auc: float, number: int) -> dict[str, NDArray[Any]]:
    """Return labels and the probabilities of two models."""
    from scipy.special import expit, ndtri

    rng = np.random.default_rng([n, round(1000 * prevalence), round(1000 * auc), number])
    y = rng.random(n) < prevalence
    data, shared = {"y": y.astype(int)}, rng.normal(size=n)
    for name, area in (("a", auc), ("b", auc - LESS)):
        z = SHARED * shared + math.sqrt(1 - SHARED**2) * rng.normal(size=n) + y * math.sqrt(2) * ndtri(area)
        data[name] = expit(1.2 * z - 1.5 + math.log(prevalence / (1 - prevalence)))
    return data


def limits_of(data: dict[str, NDArray[Any]], method: str, seed: int) -> dict[str, tuple[float, float]]:
    """Return the limits of each model's metrics, and of their differences."""
    with mock.patch.object(intervals, "BUDGET", 10**15 if method == intervals.BCA else 0):
        report = fastevals.report(data, label="y", score=["a", "b"], rng=seed)
    made: Any = report.blocks[0].intervals  # type: ignore[union-attr]
    assert made.method == method
    found = {f"{name} of {model}": each for model, metrics in made.models.items() for name, each in metrics.items()}
    apart = {f"{name} apart": each.interval for name, each in made.differences[0].metrics.items()}
    return {label: (each.low, each.high) for label, each in (found | apart).items()}


def compare(n: int, prevalence: float, auc: float, n_sets: int) -> dict[str, list[float]]:
    """Return the figures of one setting by metric."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for number in range(n_sets):
        data = draw(n, prevalence, auc, number)
        ways = ((intervals.BCA, 2 * number), (intervals.BCA, 10**6 + number), (intervals.CELLS, 2 * number + 1))
        rows, again, cells = (limits_of(data, *way) for way in ways)
        for label, (low, high) in rows.items():
            width, other = high - low, again[label][1] - again[label][0]
            ends = zip(cells[label], rows[label], again[label], strict=True)
            shifts = (each - (one + two) / 2 for each, one, two in ends)
            ratio = 2 * (cells[label][1] - cells[label][0]) / (width + other)
            name = label.removesuffix(" of a").removesuffix(" of b")
            found.setdefault(name, []).append((ratio, *(shift / width for shift in shifts), other / width))
    return {
        name: [float(each) for each in (*np.mean(values, axis=0), np.std(values, axis=0)[0] / math.sqrt(len(values)))]
        for name, values in found.items()
    }


def main() -> None:
    """Print the figures of all settings."""
    for n in map(int, sys.argv[1].split(",")):
        for prevalence, auc in SETTINGS:
            figures = compare(n, prevalence, auc, int(sys.argv[2]))
            print(json.dumps({"n": n, "prevalence": prevalence, "auc": auc, "figures": figures}), flush=True)


if __name__ == "__main__":
    main()
