"""From parts of the loss of each sample to those of all, and to the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.bias_variance import add_up
from fastevals._kernels.compensated import accumulate
from fastevals.measure.bias_variance.result import Decomposition
from fastevals.measure.ranking_metrics import power_of_two

__all__ = ["Problem", "Totals"]

Floats = NDArray[np.float64]

USUAL = 2.0**64  # weights as large, or as small, are taken in another unit


class Problem(NamedTuple):
    """A loss beside true labels, the weights of samples, and whether each model has observed labels of its own."""

    task: Any  # a SquaredLoss or ZeroOneLoss
    weights: Floats | None
    paired: bool

    @property
    def observed(self) -> bool:
        """Whether there are observed labels."""
        return self.paired or self.task.observed is not None


class Totals:
    """Sums over samples, and what is kept of each.

    Parameters
    ----------
    problem : Problem
    n_models : int
    per_sample : bool
        Whether to keep the parts of each sample.
    """

    def __init__(self, problem: Problem, n_models: int, per_sample: bool) -> None:
        self._problem, self._n_models = problem, n_models
        self._weights = problem.weights
        if self._weights is not None and not 1 / USUAL < self._weights.max() < USUAL:
            self._weights = self._weights * power_of_two(self._weights.max())  # so that no product overflows by them
        kind, n = problem.task.kind, problem.task.n_samples
        self._absent = () if problem.observed else kind.OF_NOISE
        self._names = [name for name in kind.numbers() if name not in self._absent]
        self._main = np.empty(n, dtype=problem.task.main_dtype)
        self._kept = {name: np.empty(n) for name in self._names} if per_sample else None

    def read(self, state: Any, samples: slice) -> list[Any]:
        """Sum over some samples, of which there is a state; integers that count models as they are."""
        task = self._problem.task
        self._main[samples], parts = task.read(state, self._n_models, samples)
        if self._kept is not None:
            for name, kept in self._kept.items():
                np.divide(parts[name], task.divisor(self._n_models), out=kept[samples])
        return [self._sum(parts[name], samples) for name in self._names]

    def _sum(self, values: NDArray[Any], samples: slice) -> int | Floats:
        """Sum over samples: an integer, or a pair."""
        if self._weights is None and values.dtype.kind == "i":
            return int(values.sum())
        pair = np.zeros(2)
        weights = None if self._weights is None else self._weights[samples]
        add_up(values.astype(np.float64, copy=False), weights, pair)
        return pair

    def result(self, sums: list[list[Any]]) -> Decomposition:
        """Make the result of the sums of all samples."""
        task = self._problem.task
        shared = {
            "main_prediction": self._main,
            "n_models": self._n_models,
            "n_samples": task.n_samples,
            "loss": task.loss,
            "decomposition": task.decomposition,
            "observed": self._problem.observed,
        }
        each = None
        if self._kept is not None:
            zeros = {name: np.broadcast_to(0.0, task.n_samples) for name in self._absent}
            each = task.kind(**self._kept, **zeros, **shared)
        size = task.divisor(self._n_models) * self._weight()
        totals = dict(zip(self._names, (_total(parts) / size for parts in zip(*sums, strict=True)), strict=True))
        return task.kind(**totals, **dict.fromkeys(self._absent, 0.0), **shared, per_sample=each)  # type: ignore[no-any-return]

    def _weight(self) -> int | float:
        """Give the number of samples, or their weight."""
        if self._weights is None:
            return self._problem.task.n_samples  # type: ignore[no-any-return]
        pair = np.zeros(2)
        add_up(self._weights, None, pair)
        return float(pair[0])


def _total(parts: Sequence[Any]) -> int | float:
    """Add integers, or pairs, in order."""
    if isinstance(parts[0], int):
        return int(sum(parts))
    pair = np.zeros(2)
    for high, low in parts:
        accumulate(pair, high)
        accumulate(pair, low)
    return float(pair[0])
