"""The torchmetrics metric beside torchmetrics' own AUROC: an update, `forward`, `compute`, and what they hold.

`python -m benches.streaming_torch [ROWS]` prints the medians of one run. It needs torch and torchmetrics.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import fastevals
from benches.data import Data

ROWS, BATCH = 10_000_000, 4096
FORWARDS = 100  # batches
READS = 3  # calls of `compute`


def _seconds(call: Callable[..., object], *arguments: Any) -> float:
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def _measure(metric: Any, preds: Any, target: Any) -> list[str]:
    """Return the medians of an update, `forward` and `compute`, and the states' size; the rows stay counted."""
    batches = [slice(row, row + BATCH) for row in range(0, len(target), BATCH)]
    passed = statistics.median(_seconds(metric, preds[rows], target[rows]) for rows in batches[:FORWARDS])
    metric.reset()
    updates = [_seconds(metric.update, preds[rows], target[rows]) for rows in batches]
    reads = []
    for _ in range(READS):
        metric._computed = None
        reads.append(_seconds(metric.compute))
    states = [getattr(metric, name) for name in metric._defaults]
    held = sum(each.nbytes for state in states for each in (state if isinstance(state, list) else [state]))
    times = statistics.median(updates), passed, statistics.median(reads)
    return [*(f"{1e3 * each:.3f} ms" for each in times), f"{held / 1e6:.0f} MB"]


def main(rows: int = ROWS) -> None:
    """Print a line for each metric; check the values against all rows."""
    torch, theirs = import_module("torch"), import_module("torchmetrics.classification")
    certified = import_module("fastevals.integrations.torch").CertifiedMetric
    data = Data(rows)
    preds, target = torch.sigmoid(torch.from_numpy(data.s.astype(np.float32))), torch.from_numpy(data.y)
    expected = fastevals.Ranking(data.y, preds.numpy()).roc_auc()
    metrics = {
        "CertifiedMetric()": certified(),
        "BinaryAUROC()": theirs.BinaryAUROC(validate_args=False),
    }
    certified()(preds[:BATCH], target[:BATCH])  # compiles the kernels
    head = ["metric", "update", "forward", "compute", "states", "AUC - exact"]
    print(f"{rows:,} rows in batches of {BATCH}, exact AUC {expected:.9f}", " | ".join(head), sep="\n")
    for name, metric in metrics.items():
        cells = _measure(metric, preds, target)
        print(name, *cells, f"{metric.compute().item() - expected:+.1e}", sep=" | ")
    found = metrics["CertifiedMetric()"].certified()
    assert found.low <= expected <= found.high
    print(f"certified: {found}, {found.width:.1e} wide")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
