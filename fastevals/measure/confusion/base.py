"""What every metric of a confusion matrix is made of: its sums, means over a stack, and a word on what is undefined."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure import cells
from fastevals.measure.counts import Cells

__all__ = ["MatrixBase"]

FAR_APART = 2.0**-480  # of the largest count: products of two so small, and their rounding errors, may vanish
AVERAGES = (None, "binary", "micro", "macro", "weighted")


class MatrixBase:
    """Counts of true against predicted classes, one matrix or a stack of them."""

    __slots__ = ("_mean_axes", "counts", "labels", "pos_label")

    counts: NDArray[Any]
    labels: NDArray[Any]
    pos_label: Any
    _mean_axes: tuple[int, ...]

    @property
    def _classes(self) -> check.Classes:
        return check.Classes(self.labels, self.pos_label)

    @property
    def _in_unit(self) -> NDArray[Any]:
        """The counts that ratios are made of: floats near an end of their range are scaled by a power of two."""
        counts = self.counts
        if counts.dtype.kind != "f":
            return counts
        shift = np.maximum(cells.shift_of(counts.max(axis=(-2, -1), keepdims=True)), 0)
        return np.ldexp(counts, shift) if shift.any() else counts

    def _right(self) -> NDArray[Any]:
        return np.asarray(np.trace(self._in_unit, axis1=-2, axis2=-1))

    def _wrong(self) -> NDArray[Any]:
        return np.asarray(np.where(np.eye(self.counts.shape[-1], dtype=bool), 0, self._in_unit).sum(axis=(-2, -1)))

    def _total(self) -> NDArray[Any]:
        """Give the sum in such an order that a perfect matrix is exactly right."""
        return np.asarray(self._right() + self._wrong())

    def _one_vs_rest(self) -> Cells:
        """Give the cells of each class against the rest, of shape (..., K)."""
        return _one_vs_rest(self._in_unit)

    def _agreement(self) -> tuple[NDArray[Any], ...]:
        """Compute agreement beyond chance, the variances of truth and prediction, and what disagrees by chance.

        All are times the same square. Integers are exact, past 2**31 as Python's; so are floats so far apart that
        products of them vanish. Of others nothing is taken from a sum that holds it: what is left may be much smaller.
        """
        counts = self.counts
        if counts.dtype.kind == "f":
            scaled = np.ldexp(counts, -np.frexp(counts.max(axis=(-2, -1), keepdims=True))[1])
            if not ((counts > 0) & (scaled < FAR_APART)).any():
                return _float_agreement(scaled)
            counts = np.asarray(np.frompyfunc(_as_whole, 1, 1)(counts))
        elif self._total().max(initial=0) >= 2**31:
            counts = counts.astype(object)
        return _agreement(counts)

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
                check.check_positive_known(needs_positive, self._classes)
            (tn, fp), (fn, tp) = np.moveaxis(self._in_unit, (-2, -1), (0, 1))
            return np.asarray(metric(Cells(tp, fp, fn, tn)))
        at = self._one_vs_rest()
        if average == "micro":
            return metric(cells.added_up(at))
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


def _one_vs_rest(counts: NDArray[Any]) -> Cells:
    """Give the cells of each class of matrices against the rest, of shape (..., K)."""
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


def _as_whole(count: float) -> int:
    """Return a float times a power of two that makes an integer of any."""
    return int(Fraction(count) * 2**1074)


def _agreement(counts: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    right = np.trace(counts, axis1=-2, axis2=-1)
    total = right + np.where(np.eye(counts.shape[-1], dtype=bool), 0, counts).sum(axis=(-2, -1))  # so all right is 1
    true, predicted = counts.sum(axis=-1), counts.sum(axis=-2)
    by_chance = (true * predicted).sum(axis=-1)
    variances = (total**2 - (margin * margin).sum(axis=-1) for margin in (true, predicted))
    found = total * right - by_chance, *variances, total**2 - by_chance
    return tuple(np.asarray(each, dtype=counts.dtype) for each in found)


def _float_agreement(counts: NDArray[np.float64]) -> tuple[NDArray[Any], ...]:
    """Return the same of counts of which the largest is near 1; where one hides the others, no difference holds it."""
    found = _agreement(counts)
    hidden = np.minimum.reduce(found[1:]) < counts.sum(axis=(-2, -1)) ** 2 / 16
    if hidden.any():
        at = _one_vs_rest(counts[hidden])
        true, predicted, others, rest = at.tp + at.fn, at.tp + at.fp, at.fp + at.tn, at.fn + at.tn
        sums = _excess(at), true * others, predicted * rest, true * rest
        for each, exact in zip(found, sums, strict=True):
            each[hidden] = exact.sum(axis=-1)
    return found


def _excess(at: Cells) -> NDArray[np.float64]:
    """Return tp tn - fp fn of floats of at most about 1, with the rounding errors of both products."""
    (won, won_error), (lost, lost_error) = _product(at.tp, at.tn), _product(at.fp, at.fn)
    return np.asarray((won - lost) + (won_error - lost_error))


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """Multiply, and give the rounding error too (Dekker 1971, doi:10.1007/BF01397083)."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    total = a * b
    return total, ((a_high * b_high - total) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(x: Any) -> tuple[Any, Any]:
    wide = 134217729.0 * x
    high = wide - (wide - x)
    return high, x - high
