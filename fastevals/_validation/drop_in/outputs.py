"""Targets of one output or more, their predictions, and how outputs are averaged."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import in_usual_unit, power_of_two
from fastevals._validation.drop_in.arrays import (
    as_numbers,
    as_row_weights,
    check_all_finite,
    check_same_rows,
)
from fastevals._validation.drop_in.parameters import ARRAY_OR_NONE, Rule

__all__ = ["MULTIOUTPUT", "MULTIOUTPUT_OR_VARIANCE", "Outputs", "as_output_weights", "as_outputs", "raise_not_numbers"]


def _or_array(*texts: str) -> Rule:
    listed = ", ".join(map(repr, texts))
    return Rule(
        f"a str among {{{listed}}} or an array-like",
        lambda value: value in texts if isinstance(value, str) else value is not None and ARRAY_OR_NONE.allows(value),
    )


MULTIOUTPUT = _or_array("raw_values", "uniform_average")
_VARIANCE = _or_array("raw_values", "uniform_average", "variance_weighted")
MULTIOUTPUT_OR_VARIANCE = Rule(
    f"{_VARIANCE.says} or None", lambda value: value is None or bool(_VARIANCE.allows(value))
)


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


def as_outputs(y_true: Any, y_pred: Any, sample_weight: Any) -> Outputs:
    """Give numbers, one column as a vector; whether they are finite is not looked at."""
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


def raise_not_numbers(true: NDArray[Any], predicted: NDArray[Any]) -> None:
    """Raise if a target or a prediction is NaN or infinite."""
    check_all_finite("y_true", true)
    check_all_finite("y_pred", predicted)


def as_output_weights(multioutput: Any, n_outputs: int, *, least: int = 2) -> NDArray[Any] | None:
    """Give the weights of outputs, of which there are `least` or more; None where they have none."""
    if multioutput is None or isinstance(multioutput, str):
        return None
    weights = as_numbers("multioutput", multioutput)
    if n_outputs < least:
        raise ValueError("Custom weights are useful only in multi-output cases.")
    if weights.shape[0] != n_outputs:
        raise ValueError(f"There must be equally many custom weights ({weights.shape[0]}) as outputs ({n_outputs}).")
    return weights
