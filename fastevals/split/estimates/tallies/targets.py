"""Predicted numbers: sums of errors of each test set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._kernels.fold_counts import add_deviations, add_terms
from fastevals._kernels.regression import EPSILON
from fastevals._validation import power_of_two
from fastevals.measure.metric_kinds import error_metric
from fastevals.measure.regression import RegressionSums, as_double, metrics_of_sums, origin_of
from fastevals.split.estimates.tallies.base import Floats, Folds, SumTally

__all__ = ["TargetTally"]

Rows = NDArray[np.intp]

N_SUMS = 5  # rows, and four sums of errors
USUAL = 2.0**400  # targets as large, or as small, are taken in another unit


class TargetTally(SumTally):
    """Metrics of errors but the median."""

    kind = "targets"
    knows_no_information = True

    def __init__(self, asked: Mapping[str, Any], y: Any, name: str) -> None:
        self.names = list(asked)
        self._metrics = [error_metric(each) for each in asked.values()]
        self._y = as_finite(name, y)
        self._origin = origin_of(self._y)
        largest = float(np.abs(self._y).max())
        self._unit = 1.0 if 1 / USUAL < largest < USUAL else power_of_two(largest)  # else squares are past the floats
        self._scatter = any(metric == "r2" for metric, _ in self._metrics)

    def checked(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Give the predictions as finite floats."""
        return as_finite(name, predicted)

    def rows_of(self, predicted: NDArray[Any], rows: Rows | None) -> NDArray[Any]:
        """Give each row's squared error, error above, below and relative to the target, and target from the origin."""
        y = self._y if rows is None else self._y[rows]
        with np.errstate(over="ignore"):
            errors = predicted - y
            relative = np.abs(errors) / np.maximum(np.abs(y), EPSILON)
            errors *= self._unit
            over, under = np.maximum(errors, 0.0), np.maximum(-errors, 0.0)
            return np.stack((errors * errors, over, under, relative, (y - self._origin) * self._unit), axis=1)

    def totals(self, prepared: NDArray[Any], folds: Folds, n_folds: int) -> NDArray[Any]:
        """Add up the errors of each test set."""
        found = np.zeros((len(folds), n_folds, N_SUMS + 2 * self._scatter))
        add_terms(folds, prepared[:, :-1], found)
        if self._scatter:
            add_deviations(folds, prepared[:, -1], np.empty(n_folds), found)
        return found

    def merged(self, totals: NDArray[Any]) -> NDArray[Any]:
        """Give the sums of all together: of deviations from the mean of all."""
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.asarray(totals.sum(axis=0))
            if self._scatter:
                n, mean = totals[:, 0], totals[:, N_SUMS]
                sums[N_SUMS] = np.sum(n * mean) / sums[0]
                sums[N_SUMS + 1] += np.sum(n * (mean - sums[N_SUMS]) ** 2)
        return sums

    def of_totals(self, totals: NDArray[Any]) -> Floats:
        """Give each metric of sums."""
        scatter = totals[:, -1] if self._scatter else np.zeros(len(totals))
        return self._of_sums(RegressionSums(totals[:, 0], scatter, *totals[:, 1:N_SUMS].T)._replace(unit=self._unit))

    def _of_sums(self, sums: RegressionSums) -> Floats:
        by_quantile = {quantile: metrics_of_sums(sums, quantile) for _, quantile in self._metrics}
        return np.stack([by_quantile[quantile][metric] for metric, quantile in self._metrics])

    def no_information(self, predicted: NDArray[Any]) -> Floats:
        """Give each metric of all pairs of a target and a prediction; sorted, so that they need not be made."""
        n = self._y.size
        y, p = self._y * self._unit, predicted * self._unit
        middle = y.mean()
        y, p = y - middle, np.sort(p - middle)
        below = np.concatenate(([0.0], np.cumsum(p)))
        rank = np.searchsorted(p, y)
        under, over = rank * y - below[rank], below[-1] - below[rank] - (n - rank) * y
        under, over = np.maximum(under, 0.0), np.maximum(over, 0.0)
        square = n * (np.sum(y * y) + np.sum(p * p)) - 2 * np.sum(y) * np.sum(p)
        relative = np.sum((under + over) / self._unit / np.maximum(np.abs(self._y), EPSILON))
        sums = np.array([square, over.sum(), under.sum(), relative])[:, None]
        scatter = n * np.sum((y - y.mean()) ** 2)
        return self._of_sums(RegressionSums(float(n) ** 2, scatter, *sums)._replace(unit=self._unit))[:, 0]


def as_finite(name: str, predicted: Any) -> Floats:
    """Give targets, or predictions of them, as finite floats."""
    values = as_double(name, check.as_scores(name, predicted))
    check.check_finite(name, values)
    return values.astype(np.float64)
