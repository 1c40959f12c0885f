"""Squared loss: moments of the predictions for each sample, and the parts of the loss they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import blocks
from fastevals._kernels.bias_variance import STRIP, add_models, add_pairs, merge_moments
from fastevals._validation.arrays import as_scores, check_finite, check_same_length
from fastevals._validation.options import show
from fastevals.counting.ordering import plain_block
from fastevals.measure.bias_variance.results import (
    BiasVariance,
    ModelTables,
    _as_table,
    _columns,
    double,
    panels,
    strips,
)
from fastevals.measure.bias_variance.totals import Loss
from fastevals.measure.regression import as_double

Floats = NDArray[np.float64]

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class PredictionMoments:
    """What models predict for each of some samples.

    Attributes
    ----------
    high, low : ndarray of shape (n_samples,)
        Their mean, a pair that adds up to it: alone it would have lost digits of errors that are small beside it.
    squares : ndarray of shape (n_samples,)
        Squared deviations from it.
    pairs : ndarray of shape (3, n_samples), or None
        The sums of `add_pairs`, where each model has observed targets of its own.
    """

    high: Floats
    low: Floats
    squares: Floats
    pairs: Floats | None

    @property
    def paired(self) -> bool:
        """Return whether it has sums over pairs."""
        return self.pairs is not None

    @classmethod
    def of_none(cls, n_samples: int, paired: bool) -> PredictionMoments:
        """Make those of no models."""
        high, low, squares = np.zeros((3, n_samples))
        return cls(high, low, squares, np.zeros((3, n_samples)) if paired else None)

    def part(self, samples: slice) -> PredictionMoments:
        """Return a view of some samples."""
        pairs = None if self.pairs is None else self.pairs[:, samples]
        return PredictionMoments(self.high[samples], self.low[samples], self.squares[samples], pairs)

    def merge(self, n: int, other: PredictionMoments, m: int) -> None:
        """Add m models of another to the n here."""
        if n == 0:
            self.high[:], self.low[:], self.squares[:] = other.high, other.low, other.squares
        else:
            merge_moments(n, self.high, self.low, self.squares, m, other.high, other.low, other.squares)
        if self.pairs is not None and other.pairs is not None:
            np.add(self.pairs, other.pairs, out=self.pairs)


class SquaredLoss(Loss):
    """How squared loss is decomposed, beside given targets."""

    name, decomposition, kind, labels, main_dtype = "squared", None, BiasVariance, None, DOUBLE

    def __init__(self, y_true: ArrayLike) -> None:
        self.true = as_targets("y_true", y_true)
        self.observed: NDArray[Any] | None = None
        self.parts = list(blocks(slice(0, self.n_samples)))

    def observe(self, y_observed: Any) -> None:
        """Take observed targets that are the same for all models."""
        self.observed = as_targets("y_observed", y_observed)
        check_same_length(y_true=self.true, y_observed=self.observed)

    def models(self, name: str, values: Any, *, one: bool = False) -> ModelTables:
        """Return predictions, or observed targets, of models."""
        models = _as_model_scores(name, values, self.n_samples, one=one)
        with np.errstate(over="ignore"):
            tables = [
                each.astype(DOUBLE) if each.dtype.kind == "f" and each.dtype.itemsize > 8 else each
                for each in models.tables
            ]
        return models._replace(tables=tables)

    def state(self, n_samples: int, paired: bool) -> PredictionMoments:
        """Make a state of no models."""
        return PredictionMoments.of_none(n_samples, paired)

    def workspace(self) -> Floats:
        """Make what `add` needs beside."""
        return np.empty((3, STRIP))

    def complain(self, models: ModelTables) -> None:
        """Raise if a value is NaN or infinite."""
        _check_models_finite(models)

    def accepts(self, models: ModelTables, samples: slice) -> bool:
        """Return whether the values for some samples are finite."""
        return all(
            table.dtype.kind != "f" or bool(np.isfinite(table[rows, samples]).all())
            for table in models.tables
            for rows in panels(len(table))
        )

    def add(
        self,
        state: PredictionMoments,
        n: int,
        models: ModelTables,
        pairs: ModelTables | None,
        samples: slice,
        space: Floats,
    ) -> bool:
        """Add models to the state of some samples that has n; tell whether their values may all be finite."""
        table = models.tables[0]
        if pairs is None and len(models.tables) == 1 and table.dtype in (SINGLE, DOUBLE) and table.flags.carray:
            for rows in panels(models.n_models):
                add_models(table[rows], samples.start, n + rows.start, state.high, state.low, state.squares, space)
        else:
            for strip in strips(samples):
                part = state.part(slice(strip.start - samples.start, strip.stop - samples.start))
                self._add_copies(part, n, models, pairs, strip, space)
        return bool(np.isfinite(state.squares).all()) and (state.pairs is None or bool(np.isfinite(state.pairs).all()))

    def _add_copies(
        self,
        state: PredictionMoments,
        n: int,
        models: ModelTables,
        pairs: ModelTables | None,
        samples: slice,
        space: Floats,
    ) -> None:
        true = plain_block(self.true[samples], DOUBLE)
        if state.pairs is not None and n == 0:
            state.pairs[:] = 0.0
        for rows in panels(models.n_models):
            block = double(models, rows, samples)
            add_models(block, 0, n + rows.start, state.high, state.low, state.squares, space)
            if pairs is not None:
                assert state.pairs is not None
                add_pairs(block, double(pairs, rows, samples), true, *state.pairs)

    def divisor(self, n: int) -> int:
        """Return what parts of n models are to be divided by."""
        return 1

    def read(self, state: PredictionMoments, n: int, samples: slice) -> tuple[Floats, dict[str, Floats]]:
        """Return the main prediction of n models, and the parts of the loss of each sample."""
        true = plain_block(self.true[samples], DOUBLE)
        with np.errstate(over="ignore", invalid="ignore"):
            bias = (state.high - true) + state.low
            parts = {"bias_squared": bias * bias, "variance": state.squares / n}
            if state.pairs is not None:
                noise, loss, cross = state.pairs / n
                parts |= {"noise": noise, "cross_term": 2 * cross, "expected_loss": loss}
            elif self.observed is not None:
                observed = plain_block(self.observed[samples], DOUBLE)
                gap, error = true - observed, (state.high - observed) + state.low
                parts |= {"noise": gap * gap, "cross_term": 2 * (bias * gap)}
                parts["expected_loss"] = error * error + parts["variance"]
            else:
                parts["expected_loss"] = parts["bias_squared"] + parts["variance"]
        for name, values in parts.items():
            if name != "cross_term":
                values[np.isnan(values)] = np.inf  # of finite numbers: an infinite sum less another
        return state.high, parts


def as_targets(name: str, values: Any) -> NDArray[Any]:
    """Return finite numbers that blocks of float64 can be made of."""
    targets = as_double(name, as_scores(name, values))
    check_finite(name, targets)
    return targets


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_model_scores(name: str, values: Any, n_samples: int, *, one: bool = False) -> ModelTables:
    """Return the numbers that models predict; with `one`, those of a single model may be 1-D."""
    columns = _columns(name, values)
    if columns is not None:
        arrays = {label: as_scores(label, each) for label, each in columns.items()}
        _check_lengths(arrays, n_samples)
        return ModelTables(name, [each[np.newaxis] for each in arrays.values()], list(arrays))
    table, names = _as_table(name, values, n_samples, one)
    if table.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold numbers, got dtype {table.dtype} (first value {show(table.flat[0])})")
    return ModelTables(name, [table], names)


def _check_lengths(arrays: dict[str, NDArray[Any]], n_samples: int) -> None:
    for label, each in arrays.items():
        if each.size != n_samples:
            raise ValueError(f"{label} has {each.size} rows, but y_true has {n_samples}")


def _check_models_finite(models: ModelTables) -> None:
    """Raise, and say which model has a NaN or infinite value, and where, if one has."""
    for i in range(models.n_models):
        check_finite(*models.model(i))
