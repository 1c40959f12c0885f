"""What every metric of a confusion matrix is made of: its sums, means over a stack, and a word on what is undefined."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure import cells
from fastevals.measure.counts import Cells

__all__ = ["MatrixBase"]

AVERAGES = (None, "binary", "micro", "macro", "weighted")


class MatrixBase:
    """Counts of true against predicted classes, one matrix or a stack of them."""

    __slots__ = ("_mean_axes", "counts", "labels", "pos_label")

    counts: NDArray[Any]
    labels: NDArray[Any]
    pos_label: Any
    _mean_axes: tuple[int, ...]

    def _right(self) -> NDArray[Any]:
        return np.asarray(np.trace(self.counts, axis1=-2, axis2=-1))

    def _wrong(self) -> NDArray[Any]:
        return np.asarray(np.where(np.eye(self.counts.shape[-1], dtype=bool), 0, self.counts).sum(axis=(-2, -1)))

    def _total(self) -> NDArray[Any]:
        """Give the sum in such an order that a perfect matrix is exactly right."""
        return np.asarray(self._right() + self._wrong())

    def _one_vs_rest(self) -> Cells:
        """Give the cells of each class against the rest, of shape (..., K)."""
        counts = self.counts
        if counts.shape[-1] == 2:  # each is the rest of the other
            (a, b), (c, d) = np.moveaxis(counts, (-2, -1), (0, 1))
            return Cells(*(np.stack(pair, axis=-1) for pair in ((a, d), (c, b), (b, c), (d, a))))
        tp = np.diagonal(counts, axis1=-2, axis2=-1)
        others = np.where(np.eye(counts.shape[-1], dtype=bool), 0, counts)
        # The counts outside row and column k are four corners around cell k, added up: a difference of float sums
        # would show what it rounds off as counts where there are none.
        tn = np.zeros_like(tp)
        for rows in (1, -1):
            for columns in (1, -1):
                corner = np.zeros_like(counts)
                corner[..., 1:, 1:] = counts[..., ::rows, ::columns][..., :-1, :-1].cumsum(axis=-2).cumsum(axis=-1)
                tn = tn + np.diagonal(corner[..., ::rows, ::columns], axis1=-2, axis2=-1)
        return Cells(tp, others.sum(axis=-2), others.sum(axis=-1), tn)

    def _moments(self) -> tuple[Any, Any, Any, Any]:
        """Give the total, the right and the margins, so that products of two are exact or harmless.

        Integers past 2**31 become Python's; floats are scaled by a power of two.
        """
        counts = self.counts
        total, right = self._total(), self._right()
        if counts.dtype.kind == "f":
            exponent = -np.frexp(total)[1]
            counts = np.ldexp(counts, exponent[..., None, None])
            total, right = np.ldexp(total, exponent), np.ldexp(right, exponent)
        elif total.max(initial=0) >= 2**31:
            counts, total, right = counts.astype(object), total.astype(object), right.astype(object)
        return total, right, counts.sum(axis=-1), counts.sum(axis=-2)

    def _averaged(
        self,
        name: str,
        metric: Callable[[Cells], NDArray[np.float64]],
        average: str | None,
        *,
        symmetric: bool = False,
    ) -> Any:
        """Compute a metric, a `symmetric` one being the same whichever of two classes is positive."""
        return self._result(name, self._values(metric, average, None if symmetric else name))

    def _values(
        self,
        metric: Callable[[Cells], NDArray[np.float64]],
        average: str | None,
        needs_positive: str | None = "average='binary'",
    ) -> NDArray[np.float64]:
        """Compute a metric of each class against the rest, averaged over classes.

        What errors say needs to know the positive one of two classes is None where it doesn't matter.
        """
        check.check_choice("average", average, AVERAGES)
        if average == "binary":
            check.check_two_classes("average='binary'", self.counts.shape[-1], AVERAGES)
            if needs_positive is not None:
                check.check_positive_known(needs_positive, check.Classes(self.labels, self.pos_label))
            (tn, fp), (fn, tp) = np.moveaxis(self.counts, (-2, -1), (0, 1))
            return np.asarray(metric(Cells(tp, fp, fn, tn)))
        at = self._one_vs_rest()
        if average == "micro":
            return metric(Cells(*(cell.sum(axis=-1) for cell in at)))
        values = metric(at)
        if average == "macro":
            values = values.mean(axis=-1)
        elif average == "weighted":
            support = at.tp + at.fn
            values = cells.ratio(np.where(support > 0, values * support, 0).sum(axis=-1), support.sum(axis=-1))
        return np.asarray(values)

    def _result(self, name: str, values: Any) -> Any:
        return self._warned(name, self._mean(values))

    def _mean(self, values: Any) -> NDArray[Any]:
        """Average over the axes of the stack that `macro` named."""
        if not self._mean_axes:
            return np.asarray(values)
        members = math.prod(values.shape[axis] for axis in self._mean_axes)
        return cells.ratio(values.sum(axis=self._mean_axes), members)

    def _warned(self, name: str, values: NDArray[Any]) -> Any:
        """Warn of NaN, and give a plain number for a single matrix."""
        missing = np.count_nonzero(np.isnan(values))
        if missing:
            where = f"{missing} of {values.size} values have a zero denominator" if values.ndim else "zero denominator"
            check.warn_undefined(name, where)
        return values if values.ndim else values.item()
