"""The AUC of each round of boosting: fastevals' metric beside XGBoost's own.

`python -m benches.boosting [ROWS] [ROUNDS]` prints the medians of one run. It needs XGBoost.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benches.data import Data

ROWS, ROUNDS = 10_000_000, 100
PARAMS = {"objective": "binary:logistic", "eval_metric": "auc", "max_depth": 3, "eta": 0.3}
ROUNDS_PER_LINE = 10


def _timed(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call(*arguments)
    return time.perf_counter() - start, found


def main(rows: int = ROWS, rounds: int = ROUNDS) -> None:
    """Train, and time both metrics after each round: ours with the prediction that XGBoost makes for it."""
    xgboost, metric = import_module("xgboost"), import_module("fastevals.integrations.xgboost").metric
    data, auc = Data(rows), metric("roc_auc")
    features = np.stack([data.s, data.second], axis=1).astype(np.float32)
    matrix = xgboost.QuantileDMatrix(features, data.y)
    booster = xgboost.Booster(PARAMS, [matrix])
    auc(data.s[:1000].astype(np.float32), xgboost.DMatrix(features[:1000], data.y[:1000]))  # compiles the kernels
    ours, theirs, training, furthest = [], [], [], 0.0
    print(f"{rows:,} rows, {rounds} rounds", "rounds | training | XGBoost's AUC | ours | ratio", sep="\n")
    for i in range(rounds):
        training.append(_timed(booster.update, matrix, i)[0])
        own, text = _timed(booster.eval_set, [(matrix, "all")], i)
        mine, _ = _timed(lambda: auc(booster.predict(matrix), matrix))
        theirs.append(own)
        ours.append(mine)
        furthest = max(furthest, abs(float(text.rsplit(":", 1)[1]) - auc.last))
        if (i + 1) % ROUNDS_PER_LINE == 0 or i + 1 == rounds:
            medians = [statistics.median(each) for each in (training, theirs, ours)]
            cells = [f"{1e3 * each:.0f} ms" for each in medians]
            print(i + 1, *cells, f"{medians[2] / medians[1]:.2f}", sep=" | ", flush=True)
    print(f"the AUCs differ by at most {furthest:.1e}; {sum(ours):.1f} s in ours, {sum(theirs):.1f} s in XGBoost's")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
