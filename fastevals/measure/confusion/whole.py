"""Metrics of the whole matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.measure import cells
from fastevals.measure.confusion.base import MatrixBase

__all__ = ["WholeMatrix"]


class WholeMatrix(MatrixBase):
    """Methods that give one number a matrix."""

    __slots__ = ()

    def accuracy(self) -> Any:
        """Share of rows predicted right (2.5).

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> stack = fastevals.ConfusionMatrix([[[4, 1], [2, 3]], [[5, 0], [0, 5]]])
        >>> stack.accuracy()
        array([0.7, 1. ])
        """
        return self._result("accuracy", cells.ratio(self._right(), self._total()))

    def error_rate(self) -> Any:
        """Share of rows predicted wrong (2.4).

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.error_rate()
        0.3
        """
        return self._result("error_rate", cells.ratio(self._wrong(), self._total()))

    def hamming_loss(self) -> Any:
        """Share of labels predicted wrong: with one label a row, the error rate.

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.hamming_loss()
        0.3
        """
        return self._result("hamming_loss", cells.ratio(self._wrong(), self._total()))

    def matthews(self) -> Any:
        """Correlation of true and predicted classes, in [-1, 1]; NaN where either is constant.

        References
        ----------
        Matthews (1975), doi:10.1016/0005-2795(75)90109-9; for K classes, Gorodkin (2004),
        doi:10.1016/j.compbiolchem.2004.09.006.

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.matthews()
        0.408248290463863
        """
        agreement, of_truth, of_prediction, _ = self._agreement()
        if agreement.dtype == object:
            value = _each(_correlation, agreement, of_truth, of_prediction)
        else:
            value = cells.ratio(agreement, np.sqrt(of_truth.astype(np.float64) * of_prediction))
        return self._result("matthews", np.clip(value, -1.0, 1.0))

    def cohen_kappa(self) -> Any:
        """Agreement beyond chance, in [-1, 1] (Cohen 1960, doi:10.1177/001316446002000104).

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.cohen_kappa()
        0.4
        """
        agreement, *_, disagreement = self._agreement()
        ratio = (lambda *parts: _each(_quotient, *parts)) if agreement.dtype == object else cells.ratio
        return self._result("cohen_kappa", ratio(agreement, disagreement))

    def balanced_accuracy(self) -> Any:
        """Mean of the classes' recalls.

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.balanced_accuracy()
        0.7
        """
        return self._result("balanced_accuracy", cells.recall(self._one_vs_rest()).mean(axis=-1))

    def cost(self, cost_matrix: ArrayLike, *, prior: ArrayLike | None = None, normalize: bool = True) -> Any:
        """Cost of the predictions.

        With a prior it is ``sum over true classes of prior * sum over predicted of rate * cost``, where a class's rates
        are its row of counts over their sum: the mean cost where the classes have these shares.

        Parameters
        ----------
        cost_matrix : array-like of shape (K, K)
            Cost of one row of a true class (row) predicted as a class (column); gains are negative.
        prior : array-like of shape (K,), optional
            Shares of the classes, in the order of `labels`, where the classifier will be used; by default those here.
        normalize : bool
            A row's mean cost instead of the sum.

        Returns
        -------
        float or ndarray
            In the unit of the costs; NaN if the mean is of no rows, or a class of prior above zero has none.

        Raises
        ------
        ValueError
            If `cost_matrix` has another shape or a value that is not finite, `prior` does not hold K shares of sum 1,
            or `prior` is given for a sum.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[90, 5], [1, 4]])
        >>> matrix.cost([[0, 1], [10, 0]]), matrix.cost([[0, 1], [8, 0]], prior=[0.5, 0.5])
        (0.15, 0.8263157894736842)
        """
        costs = check.as_cost_matrix("cost_matrix", cost_matrix, self.counts.shape[-1])
        check.check_normalized(prior, normalize)
        if prior is not None:
            shares = check.as_class_shares("prior", prior, self.counts.shape[-1])[:, None]
            counts = self._in_unit
            rates = cells.ratio(counts, counts.sum(axis=-1, keepdims=True))
            return self._result("cost", np.where(shares > 0, shares * rates * costs, 0.0).sum(axis=(-2, -1)))
        counts = self._in_unit if normalize else self.counts
        unit = np.ldexp(1.0, np.frexp(np.abs(costs).max())[1] - 1) or 1.0  # exact, and no sum overflows
        total = (counts * (costs / unit)).sum(axis=(-2, -1))
        with np.errstate(over="ignore"):
            return self._result("cost", (cells.ratio(total, self._total()) if normalize else total) * unit)


def _each(function: Callable[..., float], *integers: NDArray[Any]) -> NDArray[np.float64]:
    """Call a function of Python's integers on each of arrays of them."""
    return np.asarray(np.frompyfunc(function, len(integers), 1)(*integers), dtype=np.float64)


def _quotient(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else math.nan


def _correlation(covariance: int, of_truth: int, of_prediction: int) -> float:
    """Divide by the root of a product, of which so many digits are taken that only the division rounds."""
    return _quotient(covariance << 64, math.isqrt((of_truth * of_prediction) << 128))
