"""Cases that compare estimates from splits: entries as in `benches.peers`.

All sides return the mean over the test sets. Plain loops time some of the splits and return a mean computed beforehand.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benches.data import Data
from benches.peers import Call, Cases, installed
from fastevals.datasets import load_auto
from fastevals.split.estimates.fixed_predictions import evaluate_splits
from fastevals.split.splitters.hold_out import HoldOut

HOLD_OUTS = 10_000
HOLD_OUT_LOOPS = 100

Floats = NDArray[np.float64]


def _cars() -> tuple[Floats, Floats]:
    """Return cars' miles per gallon, and predictions of them that are linear in horsepower."""
    cars = load_auto()
    return cars["mpg"], 40 - 0.15 * cars["horsepower"]


def _splitter() -> HoldOut:
    return HoldOut(0.2, n_repeats=HOLD_OUTS, rng=1)


def _mean(y: Floats, predicted: Floats) -> float:
    tested = _splitter().assignments(y) == 1
    return float(np.mean(tested @ (y - predicted) ** 2 / tested.sum(axis=1)))


def _hold_outs(data: Data) -> Call:
    y, predicted = _cars()
    return lambda: evaluate_splits(y, predicted, _splitter(), "mean_squared_error")["mean_squared_error"].value


def _random_order(data: Data) -> Call:
    """Draw all random orders of the rows in one NumPy call."""
    y, predicted = _cars()
    mean = _mean(y, predicted)

    def call() -> float:
        np.random.default_rng().random((HOLD_OUTS, y.size)).argsort(axis=1)
        return mean

    return call


def _sklearn(data: Data) -> Call:
    y, predicted = _cars()
    mean = _mean(y, predicted)
    splitter: Any = import_module("sklearn.model_selection").ShuffleSplit(HOLD_OUT_LOOPS, test_size=0.2, random_state=1)
    metrics = import_module("sklearn.metrics")

    def call() -> float:
        for _, test in splitter.split(y):
            metrics.mean_squared_error(y[test], predicted[test])
        return mean

    return call


ESTIMATES: Cases = installed(
    {
        "hold_outs": {"fastevals": _hold_outs, "np.random+np.argsort": _random_order, "scikit-learn": _sklearn},
    }
)
