"""A tally: metrics of one kind, and what they are made of.

Either each split has predictions of its own, which are counted as they come (`of_rows`); or predictions are there
beforehand, and the test sets of many splits are counted in one pass (`of_folds`). Both give the same counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation import Classes
from fastevals.measure.confusion import ConfusionMatrix

__all__ = ["Floats", "Folds", "SumTally", "Tally", "in_test_sets", "variance_of_rows"]

Floats = NDArray[np.float64]
Folds = NDArray[np.uint32]  # of shape (n_repeats, n_samples): that a row is tested in, or a number past all of them
Rows = NDArray[np.intp]

ROUNDING = 2.0**-48  # of a metric's value, for each row: what it gains by a row is a difference of two such


class Tally:
    """Metrics of one kind, of predictions of the same rows.

    Attributes
    ----------
    names : list of str
        What results call the metrics.
    kind : str
        What is predicted: "labels", "scores", "targets", or "values" of any kind.
    knows_no_information : bool
        Whether `no_information` gives numbers.
    asks_tested : bool
        Whether `pooled_of` always looks at `tested`.
    classes : Classes or None
        Of predicted labels.
    """

    names: list[str]
    kind: str
    knows_no_information = False
    asks_tested = False
    classes: Classes | None = None

    @property
    def labels(self) -> NDArray[Any] | None:
        """The classes of predicted labels."""
        return None if self.classes is None else self.classes.labels

    def checked(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Give predictions of some rows, or of all, as `of_rows` takes them."""
        raise NotImplementedError

    def of_rows(self, rows: Rows, predicted: NDArray[Any]) -> Any:
        """Give what is known of a test set."""
        raise NotImplementedError

    def values(self, counted: Sequence[Any]) -> Floats:
        """Give each metric of each test set, of shape (n_metrics, n_splits); NaN where undefined."""
        raise NotImplementedError

    def pooled(self, counted: Sequence[Any]) -> Any:
        """Return the counts of all test sets together, where there are any."""
        return None

    def micro(self, pooled: Any) -> Floats:
        """Give each metric of all test sets together; NaN where no counts tell it."""
        return np.full(len(self.names), np.nan)

    def class_variance(self, name: str, pooled: Any) -> float:
        """Compute the variance, over the rows, of what a metric gains by a row of the class that the row is of.

        That over the number of rows is what a metric varies by because the shares of the classes do. NaN if unknown.
        """
        return math.nan

    def row_variance(self, name: str, pooled: Any) -> float:
        """Compute the variance, over the rows, of what a metric gains by the row; NaN if unknown."""
        return math.nan

    def outcomes(self, name: str, pooled: Any) -> tuple[float, float] | None:
        """Return the successes and failures that a metric is a share of; None where it is none."""
        return None

    def prepared(self, predicted: NDArray[Any], n_folds: int) -> Any:
        """Do once, for predictions of all rows, what `of_folds` needs for so many folds."""
        return predicted

    def of_folds(self, prepared: Any, folds: Folds, n_folds: int, *, keep: bool) -> tuple[Floats, Any]:
        """Give each metric of all test sets, of shape (n_metrics, n_repeats, n_folds), and what `pooled_of` needs.

        With `keep`, that is also what `matrices` needs.
        """
        raise NotImplementedError

    def pooled_of(self, parts: Sequence[Any], predicted: NDArray[Any], tested: NDArray[Any]) -> Any:
        """Return the counts of all test sets together.

        `parts` are what each call of `of_folds` gave; `tested` is how often each prediction is in a test set, of the
        shape of the predictions, or nowhere where that is not asked for.
        """
        return self.pooled(parts)

    def no_information(self, predicted: NDArray[Any]) -> Floats:
        """Give each metric of all pairs of one row's truth and another's prediction, of predictions of all rows."""
        return np.full(len(self.names), np.nan)

    def keeps(self, n_splits: int) -> bool:
        """Tell whether results hold the matrices of so many test sets."""
        return False

    def matrices(self, counted: Sequence[Any], shape: tuple[int, int]) -> ConfusionMatrix | None:
        """Give the matrices of splits of a shape where results hold them; `counted` is as for `pooled`."""
        return None


class SumTally(Tally):
    """Metrics of sums over the rows: sums of test sets add up to those of all together."""

    def totals(self, prepared: NDArray[Any], folds: Folds, n_folds: int) -> NDArray[Any]:
        """Give the sums of each test set, of shape (n_repeats, n_folds, n_sums)."""
        raise NotImplementedError

    def of_totals(self, totals: NDArray[Any]) -> Floats:
        """Give each metric of sums of shape (n, n_sums)."""
        raise NotImplementedError

    def merged(self, totals: NDArray[Any]) -> NDArray[Any]:
        """Give the sums of all test sets together."""
        return np.asarray(totals.sum(axis=0))

    def of_rows(self, rows: Rows, predicted: NDArray[Any]) -> NDArray[Any]:
        """Give the sums of a test set."""
        folds = np.zeros((1, rows.size), dtype=np.uint32)
        return np.asarray(self.totals(self.rows_of(predicted, rows), folds, 1)[0, 0])

    def rows_of(self, predicted: NDArray[Any], rows: Rows | None) -> NDArray[Any]:
        """Give what is added up of each row."""
        raise NotImplementedError

    def values(self, counted: Sequence[Any]) -> Floats:
        """Give each metric of each test set."""
        return self.of_totals(np.stack(counted))

    def pooled(self, counted: Sequence[Any]) -> Any:
        """Return the sums of all; `counted` are sums of any number of test sets each."""
        return self.merged(np.concatenate([each.reshape(-1, each.shape[-1]) for each in counted]))

    def micro(self, pooled: Any) -> Floats:
        """Give each metric of the sums of all."""
        return np.asarray(self.of_totals(pooled[None])[:, 0])

    def prepared(self, predicted: NDArray[Any], n_folds: int) -> NDArray[Any]:
        """Give what is added up of each row."""
        return self.rows_of(predicted, None)

    def of_folds(self, prepared: Any, folds: Folds, n_folds: int, *, keep: bool) -> tuple[Floats, Any]:
        """Give each metric of all test sets, and the sums of each, with `keep`, or of all together."""
        totals = self.totals(prepared, folds, n_folds)
        flat = totals.reshape(-1, totals.shape[-1])
        return self.of_totals(flat).reshape(-1, *totals.shape[:2]), totals if keep else self.merged(flat)[None, None]


def variance_of_rows(without: float, more: Floats, numbers: NDArray[Any]) -> float:
    """Compute the variance of what a metric gains by a row.

    `without` is its value, and `more` are its values with one row more, of kinds that there are so many rows of.
    """
    n = float(numbers.sum())
    gains = (n + 1) * (more - without)
    gains[np.abs(gains) <= ROUNDING * n * np.maximum(np.abs(more), 1)] = 0.0
    shares = numbers / n
    return float(shares @ (gains - shares @ gains) ** 2)


def in_test_sets(folds: NDArray[np.uint32], n_folds: int) -> tuple[Rows, Rows]:
    """Give the rows of a repetition by their test set, each one's in their order, and where each test set begins."""
    if n_folds == 1:  # ten times as fast as sorting
        rows = np.flatnonzero(folds == 0)
        return rows, np.array([0, rows.size])
    folds = np.minimum(folds, np.uint32(n_folds))
    starts = np.concatenate(([0], np.cumsum(np.bincount(folds, minlength=n_folds)[:n_folds])))
    return np.argsort(folds, kind="stable")[: starts[-1]], starts
