"""Summaries of true and predicted classes, for confusion matrices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_union
from fastevals._options import check_number, show
from fastevals._row_order import warn_other_order
from fastevals._validation.arrays import as_weights, refuse_weighted, text_array
from fastevals._validation.labels import as_labels
from fastevals._validation.text import is_text
from fastevals.counts import MOST_ROWS
from fastevals.infer.bootstrap.label_samples import WeightedMatrix
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.ranking.base import Doubt
from fastevals.scale.fields import Fields, is_label
from fastevals.scale.payload import SQUARES, Summary, weighted_head
from fastevals.scale.squares import MAX_WEIGHT_IN_LIMBS, as_floats, carry, check_limbs, of_ones, with_squares
from fastevals.scale.summary import UNITS, read_units

Ints = NDArray[np.int64]

REST = 2**26  # parts of a unit
ROWS_AT_A_TIME = 1 << 20  # few enough that the rows' lower limbs add up to less than 2**62


class ConfusionSummary(Summary):
    """Summary of any number of rows, counted by true and predicted class.

    There may be any number of classes, and new ones may appear in any update. Counts are integers, so the order of rows
    and their division into parts do not matter.

    Parameters
    ----------
    pos_label : label, optional
        The positive class, if there are two classes: by default 1 for labels 0/1, -1/1 and booleans.
    largest_weight : float, optional
        The largest possible row weight: weights are counted as fractions of it, to 15 digits. Not needed for integers.

    Examples
    --------
    >>> from fastevals.scale import ConfusionSummary
    >>> summary = ConfusionSummary()
    >>> summary.update(["cat", "dog", "cat"], ["cat", "cat", "cat"])
    >>> summary.update(["owl"], ["owl"])
    >>> summary, summary.matrix().accuracy()
    (ConfusionSummary(4 rows of 3 classes), 0.75)
    """

    KIND = "confusion"

    __slots__ = ("_counts", "_labels", "_pos_label", "_rest", "_squares", "_unit", "is_weighted")

    def __init__(self, *, pos_label: Any = None, largest_weight: float | None = None) -> None:
        self._unit: float | None = None
        if largest_weight is not None:
            self._unit = check_number("largest_weight", largest_weight, low=0, open_low=True, open_high=True) / UNITS
        self._pos_label = pos_label
        self._labels: NDArray[Any] = np.empty(0, dtype=np.int64)  # ascending
        self._counts: Ints = np.zeros((0, 0), dtype=np.int64)  # whole units
        self._rest: Ints = np.zeros((0, 0), dtype=np.int64)  # remainders of weights, in parts of a unit
        # Limbs of the squares of whole units (see `with_squares`), if rows have weights and all squares are known.
        self._squares: Ints | None = None if largest_weight is None else np.zeros((2, 0, 0), dtype=np.int64)
        self.is_weighted = largest_weight is not None  # whether rows have weights

    def update(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        frequency_weight: ArrayLike | None = None,
    ) -> None:
        """Count more rows. If a row can't be counted, raise an error and count none of them.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Labels: integers, booleans, strings, or floats without a fraction; of the same type in all updates.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights, not negative: integers, or any numbers up to `largest_weight`.
        frequency_weight : array-like of shape (n_samples,), optional
            Number of copies of each row: integers. A row with n copies counts like n equal rows. Not allowed with
            `sample_weight`.

        Raises
        ------
        ValueError
            If an argument is not as described; the message names it, the rule and the value seen.
        """
        if not any(np.size(each) for each in (y_true, y_pred, sample_weight, frequency_weight) if each is not None):
            return
        row_weights = {"sample_weight": sample_weight, "frequency_weight": frequency_weight}
        warn_other_order({"y_true": y_true, "y_pred": y_pred, **row_weights})
        true = as_labels("y_true", y_true)
        units = read_units(sample_weight, frequency_weight, len(true), self._unit)
        if units is not None and not units.counts.any():
            return
        whole = None if units is None else units.counts
        matrix = ConfusionMatrix.from_predictions(true, y_pred, frequency_weight=whole)
        labels = np.asarray(matrix.labels)
        order = np.argsort(labels)
        places = np.ix_(order, order)
        rest = None
        if units is not None and self._unit is not None:
            off = np.rint((as_weights("sample_weight", sample_weight) / self._unit - units.counts) * REST)
            kept = units.counts > 0
            rows = true[kept], as_labels("y_pred", y_pred)[kept]  # labels of rows with weight zero are not counted
            raised = ConfusionMatrix.from_predictions(*rows, labels=labels, sample_weight=off[kept] + REST)
            n_rows = ConfusionMatrix.from_predictions(*rows, labels=labels)
            rest = (raised.counts.astype(np.int64) - REST * n_rows.counts)[places]
        squares, more = self._known_squares(), None
        if units is None or not units.are_weights:
            more = of_ones(matrix.counts)[1:]
        else:
            self.is_weighted = True
            if squares is not None and units.counts.max() <= MAX_WEIGHT_IN_LIMBS:
                more = _squares_of(true, as_labels("y_pred", y_pred), units.counts, matrix.labels)
        self._squares = squares if self.is_weighted else None
        self._add(labels[order], matrix.counts[places], rest, None if more is None else more[:, places[0], places[1]])

    def _known_squares(self) -> Ints | None:
        """Return the limbs of the sums of squared weights so far; a row without a weight has weight 1."""
        return self._squares if self.is_weighted else of_ones(self._counts)[1:]

    def _add(self, labels: NDArray[Any], counts: Ints, rest: Ints | None, squares: Ints | None) -> None:
        if self._labels.size and is_text(self._labels) != is_text(labels):
            raise ValueError(f"labels must be like {show(self._labels[0])}, as before, got {show(labels[0])}")
        joined = sorted_union(self._labels, labels) if self._labels.size else labels
        total, rests = np.zeros((2, joined.size, joined.size), dtype=np.int64)
        for names, each, other in ((self._labels, self._counts, self._rest), (labels, counts, rest)):
            places = np.searchsorted(joined, names)
            total[np.ix_(places, places)] += each
            rests[np.ix_(places, places)] += 0 if other is None else other
        if self._squares is not None:
            own, self._squares = self._squares, None
            if squares is not None:
                joint = np.zeros((2, joined.size, joined.size), dtype=np.int64)
                for names, limbs in ((self._labels, own), (labels, squares)):
                    places = np.searchsorted(joined, names)
                    joint[:, places[:, None], places] += limbs
                carry(*joint)
                self._squares = joint
        if float(total.sum(dtype=np.float64)) > MOST_ROWS:
            raise ValueError("rows must add up to at most 2**62")
        self._labels, self._counts, self._rest = joined, total, rests

    @property
    def n_samples(self) -> int | float:
        """Number of rows, or their total weight."""
        total = int(self._counts.sum())
        return total if self._unit is None else (total + int(self._rest.sum()) / REST) * self._unit

    def __repr__(self) -> str:
        return f"ConfusionSummary({self.n_samples} rows of {self._labels.size} classes)"

    def matrix(self) -> ConfusionMatrix:
        """Return the confusion matrix of all rows.

        Raises
        ------
        ValueError
            If there are no rows.
        """
        if not self._labels.size:
            raise ValueError("the summary has no rows")
        pos_label = self._pos_label if self._labels.size == 2 else None
        matrix = ConfusionMatrix(self._counts, self._labels, pos_label=pos_label)
        if not self.is_weighted:
            return matrix
        unit = 1.0 if self._unit is None else self._unit
        order = np.searchsorted(self._labels, matrix.labels)
        sums = ((self._counts + self._rest / REST) * unit)[np.ix_(order, order)]
        return ConfusionMatrix._from_counts(sums, matrix._classes)

    def _counts_and_doubts(self, _: object) -> tuple[ConfusionMatrix | WeightedMatrix, dict[str, Doubt]]:
        """Return the counts that a bootstrap draws from; they are exact."""
        matrix = self.matrix()
        if not self.is_weighted:
            return matrix, {}
        if self._squares is None:
            refuse_weighted("the summary", self)
        order = np.searchsorted(self._labels, matrix.labels)
        unit = 1.0 if self._unit is None else self._unit
        return WeightedMatrix(matrix, (as_floats(*self._squares) * unit**2)[np.ix_(order, order)]), {}

    # Merging and storing ----------------------------------------------------------------------------------------------

    def _merged(self, others: Sequence[ConfusionSummary]) -> ConfusionSummary:
        merged = ConfusionSummary(pos_label=self._pos_label)
        merged._unit = self._unit
        for other in (self, *others):
            if other._unit != self._unit:
                units = (None if unit is None else unit * UNITS for unit in (self._unit, other._unit))
                raise ValueError("summaries must have the same largest_weight, got {} and {}".format(*units))
            if merged._pos_label is None or other._pos_label in (None, merged._pos_label):
                merged._pos_label = other._pos_label if merged._pos_label is None else merged._pos_label
            else:
                both = show(merged._pos_label), show(other._pos_label)
                raise ValueError("summaries must have the same pos_label, got {} and {}".format(*both))
            own, more = merged._known_squares(), other._known_squares()
            merged.is_weighted = merged.is_weighted or other.is_weighted
            merged._squares = own if merged.is_weighted and more is not None else None
            if other._labels.size:
                merged._add(other._labels, other._counts, other._rest, more)
        return merged

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        largest = None if self._unit is None else (self._unit * UNITS).hex()
        head = {"labels": self._labels.tolist(), "pos_label": self._pos_label, "largest_weight": largest}
        arrays = {"counts": self._counts.ravel()}
        if self._unit is not None:
            arrays["rest"] = self._rest.ravel()
        if self._squares is not None and self._labels.size:
            arrays[SQUARES] = self._squares.ravel()
        return head | weighted_head(self.is_weighted), arrays

    @classmethod
    def _from_payload(cls, fields: Fields) -> Self:
        """Check every field that was read, and build the summary."""
        largest = fields.number("largest_weight")
        summary = cls(pos_label=fields.label("pos_label"), largest_weight=largest)
        labels = fields.many("labels", "labels", lambda label: label is not None and is_label(label))
        counts = fields.counts("counts", len(labels) ** 2)
        if len(set(map(type, labels))) > 1:
            raise ValueError("its labels are of two types")
        if any(label >= after for label, after in pairwise(labels)):
            raise ValueError("its labels are not in order")
        if float(counts.sum(dtype=np.float64)) > MOST_ROWS or bool(labels) != bool(counts.any()):
            raise ValueError(f"its rows must add up to 1 at least, and to {MOST_ROWS} at most")
        if labels:
            summary._labels = text_array(labels) if isinstance(labels[0], str) else np.array(labels)
            summary._counts = counts.reshape(len(labels), len(labels)).copy()
            if isinstance(labels[0], int) and summary._labels.dtype.kind in "fO":
                raise ValueError("its integer labels must fit in 64 bits")
            summary._rest = np.zeros_like(summary._counts)
        if "rest" in fields:
            rest = fields.array("rest", counts.size).view(np.int64)
            if (np.abs(rest.astype(np.float64)) > REST / 2 * counts.astype(np.float64)).any():
                raise ValueError("its rounding errors must be at most half of its counts")
            summary._rest = rest.reshape(summary._counts.shape).copy()
        summary.is_weighted = fields.is_weighted() or largest is not None
        summary._squares = None
        if SQUARES in fields:
            summary._squares = fields.counts(SQUARES, 2 * counts.size).reshape(2, *summary._counts.shape).copy()
            check_limbs(summary._counts, *summary._squares)
            if not summary.is_weighted:
                raise ValueError("its squares are not those of its weights")
        elif not labels and summary.is_weighted:
            summary._squares = np.zeros((2, 0, 0), dtype=np.int64)
        return summary


def _squares_of(true: NDArray[Any], predicted: NDArray[Any], units: Ints, labels: NDArray[Any]) -> Ints:
    """Return the limbs of rows' squared weights, summed by true and predicted class."""
    sums = np.zeros((2, labels.size, labels.size), dtype=np.int64)
    for start in range(0, units.size, ROWS_AT_A_TIME):
        part = slice(start, start + ROWS_AT_A_TIME)
        for total, limb in zip(sums, with_squares(units[part])[1:], strict=True):
            if limb.any():
                rows = true[part], predicted[part]
                total += ConfusionMatrix.from_predictions(*rows, labels=labels, frequency_weight=limb).counts
        carry(*sums)
    return sums
