"""Replicates of targets and predicted numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.draws import take_drawn
from fastevals.infer.bootstrap.samples.base import Values
from fastevals.infer.bootstrap.samples.units import Units, UnitSample, padded
from fastevals.measure.regression import errors_of

__all__ = ["TargetSample"]

MEDIAN, PINBALL = "median_absolute_error", "pinball_loss"


class TargetSample(UnitSample):
    """Rows with a target and a prediction; `metrics` gives each one's name and its quantile, if it has one."""

    def __init__(
        self,
        targets: NDArray[Any],
        predictions: NDArray[Any],
        metrics: Sequence[tuple[str, float]],
        *,
        weights: NDArray[np.float64] | None,
        groups: Any,
    ) -> None:
        self._metrics = metrics
        self._targets, self._predictions, self._weights = targets, predictions, weights
        units = Units.of(targets.size, groups, None)
        self._unit_of_row = units.of_row
        super().__init__(units, 8 * targets.size)

    def estimates(self) -> Values:
        """Give each metric of the rows themselves."""
        return self._errors(self._targets, self._predictions, self._weights)

    def workspace(self) -> Any:
        """Give the times of the units, and those of the rows."""
        return self.times(), padded(self._targets.size)

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Give each metric of n draws."""
        found = []
        for times in draws:
            take_drawn(times, self._unit_of_row, space[1])
            rows = np.flatnonzero(space[1])
            weights = space[1][rows].astype(np.float64)
            if self._weights is not None:
                weights *= self._weights[rows]
            found.append(self._errors(self._targets[rows], self._predictions[rows], weights))
        return [np.array(each) for each in zip(*found, strict=True)]

    def _errors(self, targets: NDArray[Any], predictions: NDArray[Any], weights: NDArray[np.float64] | None) -> Values:
        if not targets.size:  # the only row was left out
            return [np.array(np.nan)] * len(self._metrics)
        names = [name for name, _ in self._metrics]
        quantiles = sorted({quantile for name, quantile in self._metrics if name == PINBALL}) or [0.5]
        by_quantile = {
            quantile: errors_of(targets, [predictions], weights, quantile, _finite, median=k == 0 and MEDIAN in names)
            for k, quantile in enumerate(quantiles)
        }
        usual = quantiles[0]
        return [by_quantile[at if name == PINBALL else usual][name][0] for name, at in self._metrics]


def _finite() -> None:
    """Values were looked at before."""
