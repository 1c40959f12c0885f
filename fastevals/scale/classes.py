"""Summaries of predicted classes: their confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_union
from fastevals._options import check_number, show
from fastevals._validation.arrays import text_array
from fastevals._validation.labels import as_labels
from fastevals._validation.text import is_text
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.ranking.ranking import Doubt
from fastevals.scale.fields import Fields, is_label
from fastevals.scale.payload import Summary
from fastevals.scale.summary import UNITS, whole_units

Ints = NDArray[np.int64]

MOST = 2**62  # rows


class ConfusionSummary(Summary):
    """Rows of any number, by true and predicted class.

    Classes may be of any number, and new ones may come with any rows. Counts are whole numbers: it makes no difference
    in what order rows come, and how they are parted.

    Parameters
    ----------
    pos_label : label, optional
        The positive one of two classes; 1 among 0/1, -1/1 and booleans.
    largest_weight : float, optional
        That a row can have: weights are counted in parts of it. Weights that are whole numbers need none.

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

    __slots__ = ("_counts", "_labels", "_pos_label", "_unit")

    def __init__(self, *, pos_label: Any = None, largest_weight: float | None = None) -> None:
        self._unit: float | None = None
        if largest_weight is not None:
            self._unit = check_number("largest_weight", largest_weight, low=0, open_low=True, open_high=True) / UNITS
        self._pos_label = pos_label
        self._labels: NDArray[Any] = np.empty(0, dtype=np.int64)  # ascending
        self._counts: Ints = np.zeros((0, 0), dtype=np.int64)

    def update(self, y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> None:
        """Count more rows. One that can't be counted raises an error, and none of them is.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Labels: integers, booleans, strings, or floats without a fraction; of the type of all updates.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights, not negative: whole numbers, or any up to `largest_weight`.

        Raises
        ------
        ValueError
            If an argument is not as described; the message names it, the rule and the value seen.
        """
        if not np.size(y_true) and not np.size(y_pred) and (sample_weight is None or np.size(sample_weight) == 0):
            return
        units = None
        if sample_weight is not None:
            units = whole_units(sample_weight, len(as_labels("y_true", y_true)), self._unit).astype(np.float64)
        elif self._unit is not None:
            raise ValueError("sample_weight must be given where largest_weight was")
        if units is not None and not units.any():
            return
        matrix = ConfusionMatrix.from_predictions(y_true, y_pred, sample_weight=units)
        labels = np.asarray(matrix.labels)
        order = np.argsort(labels)
        counts = matrix.counts[np.ix_(order, order)]
        self._add(labels[order], np.rint(counts).astype(np.int64))

    def _add(self, labels: NDArray[Any], counts: Ints) -> None:
        if self._labels.size and is_text(self._labels) != is_text(labels):
            raise ValueError(f"labels must be like {show(self._labels[0])}, as before, got {show(labels[0])}")
        joined = sorted_union(self._labels, labels) if self._labels.size else labels
        total = np.zeros((joined.size, joined.size), dtype=np.int64)
        for names, each in ((self._labels, self._counts), (labels, counts)):
            places = np.searchsorted(joined, names)
            total[np.ix_(places, places)] += each
        if float(total.sum(dtype=np.float64)) > MOST:
            raise ValueError("rows must add up to at most 2**62")
        self._labels, self._counts = joined, total

    @property
    def n_samples(self) -> int | float:
        """Rows, or their weight."""
        total = int(self._counts.sum())
        return total if self._unit is None else total * self._unit

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
        counts = self._counts if self._unit is None else self._counts * self._unit
        pos_label = self._pos_label if self._labels.size == 2 else None
        return ConfusionMatrix(counts, self._labels, pos_label=pos_label)

    def counts_and_doubts(self, _: object) -> tuple[ConfusionMatrix, dict[str, Doubt]]:
        """Return what a bootstrap draws from; nothing is in doubt."""
        return self.matrix(), {}

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
            if other._labels.size:
                merged._add(other._labels, other._counts)
        return merged

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        largest = None if self._unit is None else (self._unit * UNITS).hex()
        head = {"labels": self._labels.tolist(), "pos_label": self._pos_label, "largest_weight": largest}
        return head, {"counts": self._counts.ravel()}

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
        if float(counts.sum(dtype=np.float64)) > MOST or bool(labels) != bool(counts.any()):
            raise ValueError(f"its rows must add up to 1 at least, and to {MOST} at most")
        if labels:
            summary._labels = text_array(labels) if isinstance(labels[0], str) else np.array(labels)
            summary._counts = counts.reshape(len(labels), len(labels)).copy()
            if isinstance(labels[0], int) and summary._labels.dtype.kind in "fO":
                raise ValueError("its labels must fit integers of 64 bits")
        return summary
