"""Metrics that are called with the rows of each test set: the user's functions, and the median."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.metric_kinds import error_metric
from fastevals.split.estimates.tallies.base import Floats, Folds, Tally, in_test_sets
from fastevals.split.estimates.tallies.targets import as_finite

__all__ = ["FunctionTally", "MedianTally"]

Rows = NDArray[np.intp]


class FunctionTally(Tally):
    """Functions of the truth and the predictions of a test set: nothing is known of all test sets together."""

    kind = "values"

    def __init__(self, asked: Mapping[str, Callable[..., Any]], y: Any, name: str) -> None:
        self.names = list(asked)
        self._functions = list(asked.values())
        self._y = check.as_vector(name, y)

    def checked(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Give the predictions as an array."""
        return check.as_vector(name, predicted)

    def of_rows(self, rows: Rows, predicted: NDArray[Any]) -> Floats:
        """Call the functions, each with arrays of its own: one may sort them in place."""
        found = zip(self.names, self._functions, strict=True)
        return np.array([check.as_metric_value(name, each(self._y[rows], predicted.copy())) for name, each in found])

    def values(self, counted: Sequence[Any]) -> Floats:
        """Give each metric of each test set."""
        return np.stack(counted, axis=1)

    def of_folds(self, prepared: Any, folds: Folds, n_folds: int, *, keep: bool) -> tuple[Floats, Any]:
        """Call the functions for each test set."""
        found = np.empty((len(self.names), len(folds), n_folds))
        for repeat, of_rows in enumerate(folds):
            rows, starts = in_test_sets(of_rows, n_folds)
            for fold in range(n_folds):
                part = rows[starts[fold] : starts[fold + 1]]
                found[:, repeat, fold] = self.of_rows(part, prepared[part])
        return found, None


class MedianTally(FunctionTally):
    """The median absolute error, which no sums tell."""

    kind = "targets"

    def __init__(self, asked: Mapping[str, Any], y: Any, name: str) -> None:
        for each in asked.values():
            error_metric(each)
        super().__init__(dict.fromkeys(asked, _median_absolute_error), as_finite(name, y), name)

    def checked(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Give the predictions as finite floats."""
        return as_finite(name, predicted)


def _median_absolute_error(y_true: Floats, y_pred: Floats) -> float:
    with np.errstate(over="ignore"):
        return float(np.median(np.abs(y_pred - y_true)))
