"""Targets and predictions of one output or several, means over their rows, and values over their outputs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import BLOCK, chunks, run
from fastevals._validation.arrays import in_usual_unit, power_of_two
from fastevals.counting.ordering import plain_block
from fastevals.measure.regression import in_range
from fastevals.metrics._input import as_numbers, as_row_weights, check_all_finite, check_same_rows
from fastevals.metrics._parameters import ARRAY_OR_NONE, Rule

Floats = NDArray[np.float64]
Term = Callable[[slice, Floats], Iterator[Floats]]  # of some rows, in a workspace, what is summed
Values = Callable[[slice, Floats | None], NDArray[Any]]  # of some rows, in a workspace if need be
DOUBLE = np.dtype(np.float64)
SAMPLE = 1 << 10  # numbers that means are guessed from
ROWS = 1 << 5  # at least so many of each output, so that the guess is within a standard deviation
SHORT = 1 << 8  # rows of many outputs, each contiguous: fewer than that make short loops


def _or_array(*texts: str) -> Rule:
    listed = ", ".join(map(repr, texts))
    return Rule(
        f"a str among {{{listed}}} or an array-like",
        lambda value: value in texts if isinstance(value, str) else value is not None and ARRAY_OR_NONE.allows(value),
    )


MULTIOUTPUT = _or_array("raw_values", "uniform_average")
MULTIOUTPUT_OR_VARIANCE = _or_array("raw_values", "uniform_average", "variance_weighted")


class Outputs(NamedTuple):
    """Targets and predictions, vectors of one output or matrices with a column for each."""

    true: NDArray[Any]
    predicted: NDArray[Any]
    weights: NDArray[np.float64] | None

    def in_unit(self) -> tuple[Outputs, NDArray[np.float64]]:
        """Return outputs in units in which squares neither over- nor underflow: powers of two, which are returned."""
        true, predicted = self.true.astype(np.float64), self.predicted.astype(np.float64)
        largest = np.maximum(np.abs(true).max(axis=0), np.abs(predicted).max(axis=0))
        units = np.array([power_of_two(size) for size in np.atleast_1d(largest).tolist()])
        return Outputs(true * units, predicted * units, self.weights), units

    @property
    def n_samples(self) -> int:
        """Rows."""
        return len(self.true)

    @property
    def n_outputs(self) -> int:
        """Columns."""
        return 1 if self.true.ndim == 1 else self.true.shape[1]


def targets_of(outputs: Outputs) -> Values:
    """Return the targets of some rows."""
    return lambda rows, out: outputs.true[rows]


def errors_of(outputs: Outputs) -> Values:
    """Return the targets of some rows less the predictions."""
    return lambda rows, out: np.subtract(outputs.true[rows], outputs.predicted[rows], out=out, dtype=np.float64)


def sizes_of_errors(outputs: Outputs, size: Any) -> Term:
    """Return the sizes of the errors of some rows."""
    errors = errors_of(outputs)

    def sizes(rows: slice, out: Floats) -> Iterator[Floats]:
        yield size(errors(rows, out), out=out)

    return sizes


def by_kernel(outputs: Outputs, kernel: Callable[..., None], *parameters: float) -> Term:
    """Return what a kernel writes for each target and prediction of some rows."""

    def written(rows: slice, out: Floats) -> Iterator[Floats]:
        blocks = outputs.true[rows], outputs.predicted[rows], out
        for true, predicted, values in (
            zip(*(each.T for each in blocks), strict=True) if _by_column(outputs) else [blocks]
        ):
            plain = (plain_block(each, DOUBLE).reshape(-1) for each in (true, predicted))
            kernel(*plain, values.reshape(-1), *parameters)
        yield out

    return written


def means_and_variances(outputs: Outputs, values: list[Values], *terms: Term) -> tuple[list[Floats], list[Floats]]:
    """Return means of terms, and the variances of some values of each output: zero exactly if they are constant."""
    origins = [near_mean(outputs, each) for each in values]
    by_origin = [*zip(values, origins, strict=True)]
    means = means_over_rows(outputs, *terms, *(deviations(outputs, each, origin) for each, origin in by_origin))
    variances = []
    with np.errstate(over="ignore", invalid="ignore"):
        for (each, origin), middle, squares in zip(
            by_origin, means[len(terms) :: 2], means[len(terms) + 1 :: 2], strict=True
        ):
            if (2 * middle**2 <= squares).all():  # else a difference of squares would lose digits
                variances.append(squares - middle**2)
            else:
                variances.append(means_over_rows(outputs, deviations(outputs, each, origin + middle))[1])
    return means[: len(terms)], variances


def squares_and_variances(outputs: Outputs, *, from_mean: bool = False) -> tuple[Floats, Floats, Floats]:
    """Return each output's mean squared error, and the variance of its targets, in units of which these are returned.

    Errors are taken from zero, or from their mean. Both are zero exactly if what they are of is constant.
    """

    def measure(outputs: Outputs) -> tuple[Floats, Floats]:
        if from_mean:
            squares, variances = means_and_variances(outputs, [errors_of(outputs), targets_of(outputs)])[1]
        else:
            sizes = sizes_of_errors(outputs, np.square)
            (squares,), (variances,) = means_and_variances(outputs, [targets_of(outputs)], sizes)
        return squares, variances

    squares, variances = measure(outputs)
    if (in_range(squares) & in_range(variances)).all():
        return squares, variances, np.ones(1)
    outputs, units = outputs.in_unit()
    return *measure(outputs), units


def near_mean(outputs: Outputs, values: Values) -> Floats:
    """Return about the mean of values of each output: that of a sample, and their value if they are constant."""
    sampled = slice(None, None, max(outputs.n_samples // max(SAMPLE // outputs.n_outputs, ROWS), 1))
    weights = None if outputs.weights is None else outputs.weights[sampled]
    first_row = 0 if outputs.weights is None else int(np.argmax(outputs.weights > 0))
    with np.errstate(over="ignore", invalid="ignore"):
        first = np.atleast_1d(values(slice(first_row, first_row + 1), None)[0]).astype(np.float64)
        off = np.subtract(values(sampled, None), first, dtype=np.float64)
        total = len(off) if weights is None else weights.sum()
        origin = first + _sum(off, weights) / (total or 1.0)
    return np.where(np.isfinite(origin), origin, first)


def deviations(outputs: Outputs, values: Values, origin: Floats) -> Term:
    """Return values of some rows less an origin for each output, and their squares."""
    # As many rows of it as are read together: NumPy then subtracts all in one loop, not a short one for each row.
    together = 1 if outputs.true.ndim == 1 or _by_column(outputs) else _rows_together(outputs)
    origins = np.tile(origin, (together, 1)) if together > 1 else origin

    def deviate(rows: slice, out: Floats) -> Iterator[Floats]:
        less = origins if origins.ndim == 1 else origins[: len(out)]
        yield np.subtract(values(rows, out), less, out=out, dtype=np.float64)
        yield np.square(out, out=out)

    return deviate


def _by_column(outputs: Outputs) -> bool:
    """Return whether the targets of an output lie together, as those of data frames do."""
    strides = outputs.true.strides
    return outputs.true.ndim == 2 and abs(strides[0]) < abs(strides[1])


def _rows_together(outputs: Outputs) -> int:
    return min(max(BLOCK // outputs.n_outputs, SHORT if _by_column(outputs) else 1), outputs.n_samples)


def means_over_rows(outputs: Outputs, *terms: Term, compiles: Hashable = None) -> list[Floats]:
    """Return the mean over all rows of each column of what the terms give; raise where a number is not finite.

    `compiles` is that of `run`, for kernels in the terms.
    """
    weights = outputs.weights
    step = _rows_together(outputs)

    def sums(part: slice, space: Floats) -> list[Any]:
        totals: list[list[Any]] = []
        for start in range(part.start, part.stop, step):
            rows = slice(start, min(start + step, part.stop))
            out = space[: rows.stop - start]
            blocks = chain.from_iterable(term(rows, out) for term in terms)
            totals.append([_sum(block, None if weights is None else weights[rows]) for block in blocks])
        return [sum(each) for each in zip(*totals, strict=True)]

    def workspace() -> Floats:
        return np.empty((step, *outputs.true.shape[1:]), order="F" if _by_column(outputs) else "C")

    parts = chunks(outputs.n_samples)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        totals = (
            run(sums, parts, workspace=workspace, compiles=compiles)
            if len(parts) > 1
            else [sums(parts[0], workspace())]
        )
        total = outputs.n_samples if weights is None else weights.sum()
        means = [np.atleast_1d(sum(each) / total) for each in zip(*totals, strict=True)]
    if not all(np.isfinite(each).all() for each in means):
        raise_not_finite(outputs.true, outputs.predicted)
    return means


def _sum(block: Floats, weights: Floats | None) -> Any:
    """Sum each column."""
    if block.ndim == 2:  # a product: sums over short rows are far slower
        return (np.ones(len(block)) if weights is None else weights) @ block
    return block.sum() if weights is None else (block * weights).sum()


# Values over outputs -------------------------------------------------------------------------------------------------


def explained(lost: Floats, total: Floats, force_finite: bool = True) -> Floats:
    """Return the share of a total that is not lost; where that is zero, 1 if nothing is lost, else 0, to be finite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shares = 1 - lost / total
    return np.where(total != 0, shares, np.where(lost != 0, 0.0, 1.0)) if force_finite else shares


def over_outputs(values: Floats, multioutput: Any, weights: NDArray[Any] | None) -> Any:
    """Return the values of outputs, or their mean."""
    if isinstance(multioutput, str) and multioutput == "raw_values":
        return values
    return float(values[0] if values.size == 1 else np.average(values, weights=weights))


# Checks ------------------------------------------------------------------------------------------------------------


def as_outputs(y_true: Any, y_pred: Any, sample_weight: Any) -> Outputs:
    """Return numbers, one column as a vector; whether they are finite is not looked at."""
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
    """Return the weights of outputs, of which there are `least` or more; None where they have none."""
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
