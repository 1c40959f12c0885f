"""Cases that compare splitters: entries as in `benches.peers`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benches.data import Data
from benches.peers import Call, Cases, installed
from fastevals.split.splitters.k_fold import KFold

FOLDS, REPETITIONS = 10, 10


def _farthest(classes: NDArray[Any], repetitions: Iterable[NDArray[Any]]) -> int:
    """Return the largest difference in rows of a class between two folds of a repetition; it is equal on both sides."""
    width = int(classes.max()) + 1
    cells = (np.bincount(classes * FOLDS + codes, minlength=width * FOLDS) for codes in repetitions)
    farthest = max(int(np.ptp(rows.reshape(width, FOLDS), axis=1).max()) for rows in cells)
    assert farthest <= 1
    return farthest


def _assignments(data: Data) -> Call:
    splitter = KFold(FOLDS, n_repeats=REPETITIONS, stratified=True, rng=1)
    farthest = _farthest(data.k, splitter.assignments(None, data.k))

    def call() -> int:
        splitter.assignments(None, data.k)
        return farthest

    return call


def _iterated(data: Data) -> Call:
    module = import_module("sklearn.model_selection")
    splitter = module.RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPETITIONS, random_state=1)
    rows = np.zeros(data.rows)

    def repetitions() -> Iterator[NDArray[Any]]:
        splits = splitter.split(rows, data.k)
        for _ in range(REPETITIONS):
            codes = np.empty(data.rows, dtype=np.int64)
            for fold in range(FOLDS):
                codes[next(splits)[1]] = fold
            yield codes

    farthest = _farthest(data.k, repetitions())

    def call() -> int:
        for _ in splitter.split(rows, data.k):
            pass
        return farthest

    return call


SPLITS: Cases = installed({"stratified_folds": {"fastevals": _assignments, "scikit-learn": _iterated}})
