"""Targets and predictions with one or more outputs, means over rows, and averages over outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, Protocol, cast, overload

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import ROWS_PER_BLOCK, blocks, chunks, run
from fastevals._kernels.row_errors import add_deviations, adder_of
from fastevals._validation.arrays import FLOAT64, exceeds_floats, in_usual_unit, power_of_two
from fastevals.counting.ordering import plain_block
from fastevals.measure.regression import in_range
from fastevals.metrics._input import as_numbers, as_row_weights, check_all_finite, check_same_rows
from fastevals.metrics._parameters import ARRAY_OR_NONE, Rule

Floats = NDArray[np.float64]
Values = Callable[["Outputs", slice, Floats | None], NDArray[Any]]  # the last is space for the result
SAMPLED_NUMBERS = 1 << 10  # sample size for a first guess of the means
ROWS_PER_OUTPUT = 1 << 5  # the smallest sample per output: the guess is then within a standard deviation
AT_ONCE = 4 * ROWS_PER_BLOCK  # numbers that one kernel call adds up: adding one block takes no longer than the call
COLUMN = 1 << 12  # rows per output: copying fewer takes less time than one call per output
LANE_PLACES = 1 << 9  # separate sums: along with the numbers read, they fit in the L1 cache


def _or_array(*texts: str) -> Rule:
    listed = ", ".join(map(repr, texts))
    return Rule(
        f"a str among {{{listed}}} or an array-like",
        lambda value: value in texts if isinstance(value, str) else value is not None and ARRAY_OR_NONE.allows(value),
    )


MULTIOUTPUT = _or_array("raw_values", "uniform_average")
MULTIOUTPUT_OR_VARIANCE = _or_array("raw_values", "uniform_average", "variance_weighted")


class Outputs(NamedTuple):
    """Targets and predictions: vectors for one output, or matrices with one column per output."""

    true: NDArray[Any]
    predicted: NDArray[Any]
    weights: NDArray[np.float64] | None

    def of_weight(self) -> Outputs:
        """Return the rows with positive weight, so that infinite values in other rows don't count."""
        if self.weights is None or self.weights.all():
            return self
        kept = self.weights > 0
        return Outputs(self.true[kept], self.predicted[kept], self.weights[kept])

    def in_unit(self) -> tuple[Outputs, NDArray[np.float64]]:
        """Scale rows of positive weight by powers of 2 so that no square over- or underflows; return the scales too."""
        rows = self.of_weight()
        true, predicted = (each.astype(np.float64) for each in (rows.true, rows.predicted))
        largest = np.maximum(np.abs(true).max(axis=0), np.abs(predicted).max(axis=0))
        units = np.array([power_of_two(size) for size in np.atleast_1d(largest).tolist()])
        return Outputs(true * units, predicted * units, rows.weights), units

    def errors_alone(self) -> Outputs:
        """Return self or, if floats would round the integer values, the errors as targets with predictions of 0."""
        whole = all(each.dtype.kind in "iub" for each in (self.true, self.predicted))
        if not whole or not (exceeds_floats(self.true) or exceeds_floats(self.predicted)):
            return self
        errors = _difference(self.true, self.predicted)
        return Outputs(errors, np.broadcast_to(0.0, errors.shape), self.weights)

    def targets_alone(self) -> Outputs:
        """Return targets as their own predictions; if floats would round them, subtract the first target from all."""
        targets = _difference(self.true, self.true[:1]) if exceeds_floats(self.true) else self.true
        return Outputs(targets, targets, self.weights)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.true)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return 1 if self.true.ndim == 1 else self.true.shape[1]

    def parts(self) -> list[slice]:
        """Cut the rows into parts, each for one thread."""
        return chunks(self.n_samples, self.n_outputs, AT_ONCE)

    def blocks(self, part: slice) -> Iterator[slice]:
        """Cut a part into blocks, each for one kernel call."""
        return blocks(part, max(AT_ONCE // self.n_outputs, 1))

    def read(self, rows: slice) -> list[Floats]:
        """Return targets and predictions of some rows for a kernel; values too large for float64 become infinite."""
        with np.errstate(over="ignore", invalid="ignore"):
            return [plain_block(each[rows], FLOAT64) for each in (self.true, self.predicted)]

    def columns(self) -> list[Outputs]:
        """Return one `Outputs` per output."""
        both = (each.reshape(self.n_samples, -1).T for each in (self.true, self.predicted))
        return [Outputs(true, predicted, self.weights) for true, predicted in zip(*both, strict=True)]


def _difference(values: NDArray[Any], others: NDArray[Any]) -> Floats:
    """Return differences of integers, each rounded only once."""
    differences = values.astype(np.float64) - others.astype(np.float64)
    exact = (values.astype(np.uint64) - others.astype(np.uint64)).view(np.int64)  # exact modulo 2**64
    return np.where(np.abs(differences) < 2.0**62, exact, differences)


def targets_of(outputs: Outputs, rows: slice, out: Floats | None) -> NDArray[Any]:
    """Return the targets of some rows; `out` is not used."""
    targets: NDArray[Any] = outputs.true[rows]
    return targets


def errors_of(outputs: Outputs, rows: slice, out: Floats | None) -> NDArray[Any]:
    """Return the targets of some rows minus the predictions."""
    errors: Floats = np.subtract(outputs.true[rows], outputs.predicted[rows], out=out, dtype=np.float64)
    return errors


def squares_and_variances(outputs: Outputs, *, from_mean: bool = False) -> tuple[Floats, Floats, Floats]:
    """Return each output's mean squared error, the variance of its targets, and the unit of these two numbers.

    The squares are of errors or, if `from_mean`, of the errors' deviations from their mean. Constant errors or targets
    give exactly zero.
    """
    errors, targets = outputs.errors_alone(), outputs.targets_alone()
    if errors is outputs and not exceeds_floats(outputs.true):
        squares, variances = _squares_and_variances(outputs, from_mean)
        if (in_range(squares) & in_range(variances)).all():
            return squares, variances, np.ones(1)
    (errors, units_of_errors), (targets, units) = errors.in_unit(), targets.in_unit()
    squares, variances = _squares_and_variances(errors, from_mean)[0], _squares_and_variances(targets, from_mean)[1]
    with np.errstate(over="ignore"):
        factors = np.where((squares > 0) & (variances > 0), units / units_of_errors, 1.0)
        return squares * factors * factors, variances, units


def _squares_and_variances(outputs: Outputs, from_mean: bool) -> Floats:
    """Return mean squared errors and the variances of targets, each of shape (n_outputs,)."""
    near_errors = _near_mean(outputs, errors_of) if from_mean else np.zeros(outputs.n_outputs)

    def about(origins: Floats) -> tuple[Floats, Floats]:
        means = _means_over_rows(outputs, add_deviations, *origins, sums=4)
        off, squares = means[::2], means[1::2]
        if not from_mean:
            off[0] = 0.0
        return off, squares

    origins = np.stack([near_errors, _near_mean(outputs, targets_of)])
    with np.errstate(over="ignore", invalid="ignore"):
        off, squares = about(origins)
        if (2 * off**2 > squares).any():  # subtracting squares would lose digits
            off, squares = about(origins + off)
        difference: Floats = squares - off**2
    return difference


def _near_mean(outputs: Outputs, values_of: Values) -> Floats:
    """Return each output's approximate mean, from a sample; if all values are equal, it is exactly their value."""
    sampled = slice(None, None, max(outputs.n_samples // max(SAMPLED_NUMBERS // outputs.n_outputs, ROWS_PER_OUTPUT), 1))
    weights = None if outputs.weights is None else outputs.weights[sampled]
    first_row = 0 if outputs.weights is None else int(np.argmax(outputs.weights > 0))
    with np.errstate(over="ignore", invalid="ignore"):
        first = np.atleast_1d(values_of(outputs, slice(first_row, first_row + 1), None)[0]).astype(np.float64)
        off = np.subtract(values_of(outputs, sampled, None), first, dtype=np.float64).reshape(-1, outputs.n_outputs)
        mean = off.mean(axis=0) if weights is None else weights @ off / (weights.sum() or 1.0)
        origin = first + mean
    return np.where(np.isfinite(origin), origin, first)


def mean_targets(outputs: Outputs) -> Floats:
    """Return the mean target of each output; if all targets are equal, it is exactly their value."""
    origins = _near_mean(outputs, targets_of)
    means: Floats = origins + _means_over_rows(outputs, add_deviations, np.zeros_like(origins), origins, sums=4)[2]
    if np.isfinite(means).all():
        return means
    scaled, units = outputs.in_unit()  # only the sum overflows, not the mean
    return mean_targets(scaled) / units


def mean_errors(outputs: Outputs, loss: Callable[..., float], *parameters: float) -> Floats:
    """Return each output's mean loss over the rows with positive weight; raise if a number is not finite."""
    errors = outputs.errors_alone()
    means = mean_losses(errors, loss, *parameters)
    return means if np.isfinite(means).all() else mean_losses(errors.of_weight(), loss, *parameters)


def mean_losses(outputs: Outputs, loss: Callable[..., float], *parameters: float) -> Floats:
    """Return each output's mean loss over all rows; raise if a number is not finite."""
    means: Floats = _means_over_rows(outputs, adder_of(loss), *parameters)[0]
    return means


def _means_over_rows(outputs: Outputs, add: Callable[..., None], *parameters: Any, sums: int = 1) -> Floats:
    """Average a kernel's sums over all rows, giving shape (sums, n_outputs); raise if a number is not finite.

    Each of the kernel's parameters is a number, or an array with one number per output.
    """
    n_outputs, weights = outputs.n_outputs, outputs.weights
    parts = outputs.parts()
    columns = outputs.columns() if _by_column(outputs) and parts[0].stop >= COLUMN else [outputs]
    together = n_outputs // len(columns)
    lanes = max(LANE_PLACES // (sums * together), 1)  # per output
    firsts = range(0, n_outputs, together)
    of_lanes = [
        [np.tile(each[j : j + together], lanes) if np.ndim(each) else each for each in parameters] for j in firsts
    ]

    def add_rows(part: slice) -> Floats:
        added = np.zeros((len(columns), sums, lanes * together))
        for rows in columns[0].blocks(part):
            w = None if weights is None else plain_block(weights[rows], FLOAT64)
            w = w if w is None or together == 1 else w.repeat(together)
            for column, numbers, out in zip(columns, of_lanes, added, strict=True):
                add(*(each.reshape(-1) for each in column.read(rows)), w, out, *numbers)
        of_outputs: Floats = added.reshape(-1, sums, lanes, together).sum(axis=2).swapaxes(0, 1)
        return of_outputs.reshape(sums, n_outputs)

    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        added = run(add_rows, parts, compiles=(add, weights is None))
        means: Floats = np.sum(added, axis=0) / (outputs.n_samples if weights is None else weights.sum())
    if not np.isfinite(means).all():
        raise_not_finite(outputs.true, outputs.predicted)
    return means


def _by_column(outputs: Outputs) -> bool:
    """Return whether each output's targets are adjacent in memory, as in data frames."""
    strides = outputs.true.strides
    return outputs.true.ndim == 2 and abs(strides[0]) < abs(strides[1])


# Values over outputs -------------------------------------------------------------------------------------------------


def explained(lost: Floats, total: Floats, force_finite: bool = True) -> Floats:
    """Return 1 - lost / total; if the total is 0, `force_finite` gives 1, or 0 if `lost` is not 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shares = 1 - lost / total
    return np.where(total != 0, shares, np.where(lost != 0, 0.0, 1.0)) if force_finite else shares


class OfOutputs(Protocol):
    """The type of a metric of several outputs: it returns a number, or one per output."""

    @overload
    def __call__(
        self, y_true: Any, y_pred: Any, *, multioutput: Literal["raw_values"], sample_weight: Any = ..., **own: float
    ) -> Floats: ...
    @overload
    def __call__(
        self, y_true: Any, y_pred: Any, *, multioutput: Any = ..., sample_weight: Any = ..., **own: float
    ) -> float: ...


def of_outputs(metric: Callable[..., Any]) -> OfOutputs:
    """Tell type checkers what a metric returns."""
    return cast(OfOutputs, metric)


def over_outputs(values: Floats, multioutput: Any, weights: NDArray[Any] | None) -> Any:
    """Return one value per output, or their mean."""
    if isinstance(multioutput, str) and multioutput == "raw_values":
        return values
    return float(values[0] if values.size == 1 else np.average(values, weights=weights))


# Checks ------------------------------------------------------------------------------------------------------------


def as_outputs(y_true: Any, y_pred: Any, sample_weight: Any) -> Outputs:
    """Return targets and predictions as numbers that may be infinite or NaN; a single column becomes a vector."""
    true, predicted = (
        as_numbers(name, values, finite=False) for name, values in (("y_true", y_true), ("y_pred", y_pred))
    )
    check_same_rows(true, predicted, sample_weight)
    true, predicted = (array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array for array in (true, predicted))
    if true.shape != predicted.shape:
        widths = [1 if array.ndim == 1 else array.shape[1] for array in (true, predicted)]
        raise ValueError(f"y_true and y_pred have different number of output ({widths[0]}!={widths[1]})")
    weights = as_row_weights(sample_weight, true.shape[0])
    return Outputs(true, predicted, None if weights is None else in_usual_unit(weights))


def as_output_weights(multioutput: Any, n_outputs: int, *, least: int = 2) -> NDArray[Any] | None:
    """Return the output weights, or None if not given; there must be at least `least` outputs."""
    if multioutput is None or isinstance(multioutput, str):
        return None
    weights = as_numbers("multioutput", multioutput)
    if n_outputs < least:
        raise ValueError("Custom weights are useful only in multi-output cases.")
    if weights.shape != (n_outputs,):
        given = ", ".join(map(str, weights.shape))
        raise ValueError(f"There must be equally many custom weights ({given}) as outputs ({n_outputs}).")
    return weights


def raise_not_finite(true: NDArray[Any], predicted: NDArray[Any]) -> None:
    """Raise if a target or a prediction is NaN or infinite."""
    check_all_finite("y_true", true)
    check_all_finite("y_pred", predicted)
