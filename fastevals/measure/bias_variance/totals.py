"""From parts of the loss of each sample to those of all, and to the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.bias_variance import add_up
from fastevals._kernels.compensated import accumulate
from fastevals._validation.arrays import in_usual_unit
from fastevals.measure.bias_variance.results import Decomposition, ModelTables

Floats = NDArray[np.float64]


class Loss(Protocol):
    """How a loss is decomposed, beside given labels: targets of squared loss, or classes.

    Attributes
    ----------
    name : str
        Which loss.
    decomposition : str or None
        Whose parts, where there are several.
    kind : type of Decomposition
        The result.
    true, observed : ndarray of shape (n_samples,)
        Labels; None for observed ones that are the true ones, or differ from model to model.
    labels : ndarray of shape (n_classes,) or None
        The classes.
    parts : list of slice
        Samples to look at together.
    main_dtype : dtype
        Of the main prediction.
    """

    name: str
    decomposition: str | None
    kind: type[Decomposition]
    true: NDArray[Any]
    observed: NDArray[Any] | None
    labels: NDArray[Any] | None
    parts: list[slice]
    main_dtype: np.dtype[Any]

    @property
    def n_samples(self) -> int:
        """How many there are."""
        return self.true.size

    def observe(self, y_observed: Any) -> None:
        """Take observed labels that are the same for all models."""

    def models(self, name: str, values: Any, *, one: bool = False) -> ModelTables:
        """Return predicted, or observed, labels of models."""

    def state(self, n_samples: int, paired: bool) -> Any:
        """Make a state of no models: what is kept of the predictions for some samples."""

    def workspace(self) -> Any:
        """Make what `add` needs beside."""

    def accepts(self, models: ModelTables, samples: slice) -> bool:
        """Return whether all labels for some samples are as they must be."""

    def complain(self, models: ModelTables) -> None:
        """Raise if a label is not as it must be; it is looked for slowly."""

    def add(
        self, state: Any, n: int, models: ModelTables, pairs: ModelTables | None, samples: slice, space: Any
    ) -> bool:
        """Add models to the state of some samples that has n; False if a label may not be as it must be."""

    def divisor(self, n: int) -> int:
        """Return what parts of n models are to be divided by."""

    def read(self, state: Any, n: int, samples: slice) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
        """Return the main prediction of n models, and the parts of the loss of each sample times the divisor."""

    def verify(self, models: ModelTables) -> None:
        """Raise if a label is not as it must be."""
        if not all(run(lambda part: self.accepts(models, part), self.parts)):
            self.complain(models)


class Problem(NamedTuple):
    """A loss beside true labels, the weights of samples, and whether each model has observed labels of its own."""

    loss: Loss
    weights: Floats | None
    paired: bool

    @property
    def observed(self) -> bool:
        """Return whether there are observed labels."""
        return self.paired or self.loss.observed is not None


class SumsOverModels:
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
        if self._weights is not None:
            self._weights = in_usual_unit(self._weights)  # so that no product overflows by them
        kind, n = problem.loss.kind, problem.loss.n_samples
        self._absent = () if problem.observed else kind.OF_NOISE
        self._names = [name for name in kind.numbers() if name not in self._absent]
        self._main = np.empty(n, dtype=problem.loss.main_dtype)
        self._kept: dict[str, Any] | None = {name: np.empty(n) for name in self._names} if per_sample else None

    def read(self, state: Any, samples: slice) -> list[Any]:
        """Sum over some samples, of which there is a state; integers that count models as they are."""
        loss = self._problem.loss
        self._main[samples], parts = loss.read(state, self._n_models, samples)
        if self._kept is not None:
            for name, kept in self._kept.items():
                np.divide(parts[name], loss.divisor(self._n_models), out=kept[samples])
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
        loss = self._problem.loss
        shared: dict[str, Any] = {
            "main_prediction": self._main,
            "n_models": self._n_models,
            "n_samples": loss.n_samples,
            "loss": loss.name,
            "decomposition": loss.decomposition,
            "observed": self._problem.observed,
        }
        each = None
        if self._kept is not None:
            zeros: dict[str, Any] = dict.fromkeys(self._absent, np.broadcast_to(0.0, loss.n_samples))
            each = loss.kind(**shared, **self._kept, **zeros)
        size = loss.divisor(self._n_models) * self._weight()
        shared |= dict.fromkeys(self._absent, 0.0)
        shared |= {name: _total(parts) / size for name, *parts in zip(self._names, *sums, strict=True)}
        return loss.kind(**shared, per_sample=each)

    def _weight(self) -> int | float:
        """Return the number of samples, or their weight."""
        if self._weights is None:
            return self._problem.loss.n_samples
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
