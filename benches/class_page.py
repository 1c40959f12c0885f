"""Time, memory and size of a page of class probabilities; ``python -m benches.class_page`` prints them.

Its arguments are the number of rows, of classes and of models: 1,000,000, 20 and 3 by default. One class has 50 rows.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import numpy as np

import fastevals

SEED = 20261128
RARE_ROWS = 50


def data(n_rows: int, n_classes: int, n_models: int) -> dict[str, Any]:
    """Return true classes and the probabilities of each model."""
    rng = np.random.default_rng(SEED)
    rare = RARE_ROWS / n_rows
    y = rng.choice(n_classes, n_rows, p=[rare, *[(1 - rare) / (n_classes - 1)] * (n_classes - 1)])
    columns: dict[str, Any] = {"y": y}
    shared = rng.standard_normal((n_rows, n_classes))
    for k in range(n_models):
        odds = 0.5 * rng.standard_normal((n_rows, n_classes))
        odds += shared
        odds[np.arange(n_rows), y] += 1.5 + 0.05 * k
        np.exp(odds, out=odds)
        odds /= odds.sum(axis=1, keepdims=True)
        columns[f"model_{k}"] = odds
    return columns


def peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main(n_rows: int = 1_000_000, n_classes: int = 20, n_models: int = 3) -> None:
    """Print the figures."""
    columns = data(n_rows, n_classes, n_models)
    models = [name for name in columns if name != "y"]
    print(
        f"{sum(columns[name].nbytes for name in models) / 1e6:,.0f} MB of probabilities; peak so far {peak():,.0f} MB"
    )
    start = time.perf_counter()
    report = fastevals.report(columns, label="y", probabilities=models, rng=0)
    print(f"report: {time.perf_counter() - start:.1f} s, peak {peak():,.0f} MB")
    start = time.perf_counter()
    page = report.to_html()
    print(f"page: {len(page.encode()) / 1e3:.0f} kB in {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
