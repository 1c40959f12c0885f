"""Squared loss: moments of the predictions for each sample, and the parts of the loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import blocks
from fastevals._kernels.bias_variance import SAMPLES_PER_STRIP, add_models, add_pairs, merge_moments
from fastevals._options import show
from fastevals._validation.arrays import as_scores, check_finite, check_same_length
from fastevals.counting.ordering import plain_block
from fastevals.measure.bias_variance.decomposition import (
    Decomposition,
    Loss,
    ModelTables,
    as_model_columns,
    as_model_table,
    block_as_double,
    panels,
    strips,
)
from fastevals.measure.regression import as_double
from fastevals.results import V

Floats = NDArray[np.float64]

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class BiasVariance(Decomposition[V]):
    """Squared loss, or Kohavi and Wolpert's 0-1 loss: ``bias_squared + variance + noise + cross_term``.

    Attributes
    ----------
    bias_squared : float
        Squared distance of the main prediction from the true label (for Kohavi and Wolpert: between the shares of
        predicted and of observed classes).
    variance : float
        Variance of the predictions around the main prediction.
    noise : float
        Variance of the observed labels around the true ones (for Kohavi and Wolpert: variance of each sample's
        observed labels, whatever the true label).
    cross_term : float
        The rest of the expected loss, which averages to zero if labels are observed independently of the models.
    """

    TERMS: ClassVar[tuple[str, ...]] = ("bias_squared", "variance", "noise", "cross_term")
    OF_NOISE: ClassVar[tuple[str, ...]] = ("noise", "cross_term")
    OF_BIAS: ClassVar[str] = "bias_squared"
    OF_VARIANCE: ClassVar[str] = "variance"

    bias_squared: V
    variance: V
    noise: V
    cross_term: V
    per_sample: BiasVariance[Floats] | None = None


class SquaredLoss(Loss):
    """The decomposition of squared loss, given targets."""

    name, decomposition, kind, labels, main_dtype = "squared", None, BiasVariance, None, DOUBLE

    def __init__(self, y_true: ArrayLike) -> None:
        self.true = as_targets("y_true", y_true)
        self.observed: NDArray[Any] | None = None
        self.blocks = list(blocks(slice(0, self.n_samples)))

    def set_observed(self, y_observed: Any) -> None:
        """Check and keep observed targets that are the same for all models."""
        self.observed = as_targets("y_observed", y_observed)
        check_same_length(y_true=self.true, y_observed=self.observed)

    def as_tables(self, name: str, values: Any, *, one: bool = False) -> ModelTables:
        """Return the models' predictions or observed targets."""
        columns = as_model_columns(name, values)
        if columns is not None:
            arrays = {label: as_scores(label, each) for label, each in columns.items()}
            for label, each in arrays.items():
                if each.size != self.n_samples:
                    raise ValueError(f"{label} has {each.size} rows, but y_true has {self.n_samples}")
            names: list[str] | None = list(arrays)
            tables = [each[np.newaxis] for each in arrays.values()]
        else:
            table, names = as_model_table(name, values, self.n_samples, one)
            if table.dtype.kind not in "fiub":
                raise ValueError(
                    f"{name} must hold numbers, got dtype {table.dtype} (first value {show(table.flat[0])})"
                )
            tables = [table]
        with np.errstate(over="ignore"):
            tables = [
                each.astype(DOUBLE) if each.dtype.itemsize > 8 and each.dtype.kind == "f" else each for each in tables
            ]
        return ModelTables(name, tables, names)

    def empty_state(self, n_samples: int, paired: bool) -> PredictionMoments:
        """Return the moments before any model is added."""
        return PredictionMoments.zeros(n_samples, paired)

    def workspace(self) -> Floats:
        """Allocate the working memory of `add`."""
        return np.empty((3, SAMPLES_PER_STRIP))

    def raise_invalid(self, models: ModelTables) -> None:
        """Raise if a value is NaN or infinite."""
        for i in range(models.n_models):
            check_finite(*models.model(i))

    def all_valid(self, models: ModelTables, samples: slice) -> bool:
        """Return whether all values for a slice of samples are finite."""
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
        observed: ModelTables | None,
        samples: slice,
        space: Floats,
    ) -> bool:
        """Add models to a state that holds n models for `samples`; return False if a sum is not finite."""
        table = models.tables[0]
        if observed is None and len(models.tables) == 1 and table.dtype in (SINGLE, DOUBLE) and table.flags.carray:
            for rows in panels(models.n_models):
                add_models(table[rows], samples.start, n + rows.start, state.high, state.low, state.squares, space)
        else:
            for strip in strips(samples, models.n_models):
                part = state.view(slice(strip.start - samples.start, strip.stop - samples.start))
                self._add_copies(part, n, models, observed, strip, space)
        return bool(np.isfinite(state.squares).all()) and (
            state.pair_sums is None or bool(np.isfinite(state.pair_sums).all())
        )

    def _add_copies(
        self,
        state: PredictionMoments,
        n: int,
        models: ModelTables,
        observed: ModelTables | None,
        samples: slice,
        space: Floats,
    ) -> None:
        true = plain_block(self.true[samples], DOUBLE)
        if state.pair_sums is not None and n == 0:
            state.pair_sums[:] = 0.0
        for rows in panels(models.n_models):
            block = block_as_double(models, rows, samples)
            add_models(block, 0, n + rows.start, state.high, state.low, state.squares, space)
            if observed is not None:
                assert state.pair_sums is not None
                add_pairs(block, block_as_double(observed, rows, samples), true, *state.pair_sums)

    def divisor(self, n: int) -> int:
        """Return 1, because the parts are numbers, not counts."""
        return 1

    def sample_parts(self, state: PredictionMoments, n: int, samples: slice, predicted: Floats) -> dict[str, Floats]:
        """Write the main prediction of n models; return each sample's parts of the loss."""
        true = plain_block(self.true[samples], DOUBLE)
        with np.errstate(over="ignore", invalid="ignore"):
            bias = (state.high - true) + state.low
            parts = {"bias_squared": bias * bias, "variance": state.squares / n}
            if state.pair_sums is not None:
                noise, loss, cross = state.pair_sums / n
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
                values[np.isnan(values)] = np.inf  # for finite input: a difference of infinite sums
        predicted[:] = state.high
        return parts


@dataclass(frozen=True, slots=True, eq=False)
class PredictionMoments:
    """Moments of the models' predictions for each of some samples.

    Attributes
    ----------
    high, low : ndarray of shape (n_samples,)
        Mean of the predictions as an unevaluated sum of two floats, so that small errors keep their digits.
    squares : ndarray of shape (n_samples,)
        Squared deviations from the mean.
    pair_sums : ndarray of shape (3, n_samples), or None
        The sums of `add_pairs`, if each model has its own observed targets.
    """

    high: Floats
    low: Floats
    squares: Floats
    pair_sums: Floats | None

    @property
    def paired(self) -> bool:
        """Return whether there are sums over pairs."""
        return self.pair_sums is not None

    @classmethod
    def zeros(cls, n_samples: int, paired: bool) -> PredictionMoments:
        """Return the moments before any model is added."""
        high, low, squares = np.zeros((3, n_samples))
        return cls(high, low, squares, np.zeros((3, n_samples)) if paired else None)

    def view(self, samples: slice) -> PredictionMoments:
        """Return a view of the moments of some samples."""
        pairs = None if self.pair_sums is None else self.pair_sums[:, samples]
        return PredictionMoments(self.high[samples], self.low[samples], self.squares[samples], pairs)

    def merge(self, n: int, other: PredictionMoments, m: int) -> None:
        """Add the m models of another state to the n models of this one."""
        if n == 0:
            self.high[:], self.low[:], self.squares[:] = other.high, other.low, other.squares
        else:
            merge_moments(n, self.high, self.low, self.squares, m, other.high, other.low, other.squares)
        if self.pair_sums is not None and other.pair_sums is not None:
            np.add(self.pair_sums, other.pair_sums, out=self.pair_sums)


def as_targets(name: str, values: Any) -> NDArray[Any]:
    """Return finite numbers that can be read in blocks of float64."""
    targets = as_double(name, as_scores(name, values))
    check_finite(name, targets)
    return targets
