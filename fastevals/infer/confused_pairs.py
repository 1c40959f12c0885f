"""The most frequent errors of a classifier of many classes, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_choice, check_integer, show
from fastevals._text import first_lines
from fastevals._validation.curves import check_kind
from fastevals.document.frames import Columns, as_column
from fastevals.infer.proportions import share_interval
from fastevals.measure.confused_classes import most_frequent_errors
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.results import Frozen, check_confidence_level

Floats = NDArray[np.float64]
ErrorOrder = Literal["count", "share"]


def most_confused(
    matrix: ConfusionMatrix[Any], n: int = 10, *, by: ErrorOrder = "count", confidence_level: float = 0.95
) -> ConfusedPairs:
    """List the most frequent errors: pairs of a true class and the other class that was predicted.

    Parameters
    ----------
    matrix : ConfusionMatrix
        A single matrix.
    n : int
        Largest number of pairs.
    by : {"count", "share"}
        Order the pairs by their number of rows, or by their share of the true class, which finds errors of rare
        classes.
    confidence_level : float in (0, 1)
        Confidence level of each share's interval.

    Returns
    -------
    ConfusedPairs
        The pairs in descending order. There are fewer than `n` if fewer pairs of classes have errors.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Notes
    -----
    Wilson's intervals treat the number of rows of each true class as fixed and the rows as independent. They hold for
    pairs named beforehand. The first pairs of the list were chosen because their shares are large in these rows, so on
    new rows their shares tend to be smaller.

    References
    ----------
    Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> import fastevals
    >>> counts = [[90, 0, 10], [0, 100, 0], [15, 1, 84]]
    >>> matrix = fastevals.ConfusionMatrix(counts, labels=["cat", "car", "dog"])
    >>> print(fastevals.most_confused(matrix, 2))
    ConfusedPairs(2 of 3 pairs, 25 of 26 errors)
      'dog' as 'cat': 15 of 100, 0.1500 (0.0931 to 0.2328)
      'cat' as 'dog': 10 of 100, 0.1000 (0.0552 to 0.1744)
    """
    check_kind("matrix", matrix, ConfusionMatrix)
    check_choice("by", by, ErrorOrder)
    n = check_integer("n", n, low=1)
    level, alpha = check_confidence_level(confidence_level)
    counts = np.asarray(matrix.counts)
    if counts.ndim != 2:
        raise ValueError(f"matrix must be a single matrix, not a stack, got counts of shape {counts.shape}")
    found = most_frequent_errors(counts, n, by_share=by == "share")
    support = counts.sum(axis=1)[found.true]
    ends = np.full((2, found.counts.size), np.nan)
    if counts.dtype.kind != "f":
        ends = np.array(share_interval(found.counts, support - found.counts, "wilson", alpha, "two-sided"))
    total = (counts.sum() - np.trace(counts)).item()
    true, predicted = matrix.labels[found.true], matrix.labels[found.predicted]
    low, high = ends
    return ConfusedPairs(true, predicted, found.counts, support, found.shares, low, high, level, found.n_pairs, total)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConfusedPairs(Frozen):
    """The most frequent errors of a confusion matrix, one per row, in descending order.

    Attributes
    ----------
    true, predicted : ndarray of shape (n,)
        The true class, and the class that was predicted instead.
    count : ndarray of shape (n,)
        Number of rows with this error, or their weight.
    support : ndarray of shape (n,)
        Rows of the true class, or their weight.
    share : ndarray of shape (n,)
        ``count / support``: the share of the true class with this error.
    low, high : ndarray of shape (n,)
        Wilson's interval of each share; NaN if the matrix has weights.
    confidence_level : float
        Confidence level of each interval.
    n_pairs : int
        Number of pairs of classes with errors, including those not listed.
    n_errors : int or float
        Number of all errors, or their weight.
    """

    true: NDArray[Any]
    predicted: NDArray[Any]
    count: NDArray[Any]
    support: NDArray[Any]
    share: Floats
    low: Floats
    high: Floats
    confidence_level: float
    n_pairs: int
    n_errors: int | float

    def __repr__(self) -> str:
        listed, total = (f"{each:,}" if isinstance(each, int) else f"{each:g}" for each in (
            self.count.sum().item(), self.n_errors,
        ))  # fmt: skip
        return f"ConfusedPairs({self.count.size:,} of {self.n_pairs:,} pairs, {listed} of {total} errors)"

    def __str__(self) -> str:
        columns = (self.true, self.predicted, self.count, self.support, self.share, self.low, self.high)
        rows = zip(*(each.tolist() for each in columns), strict=True)
        return repr(self) + first_lines(
            f"{show(true)} as {show(predicted)}: {count:g} of {support:g}, {share:.4f}"
            + ("" if np.isnan(low) else f" ({low:.4f} to {high:.4f})")
            for true, predicted, count, support, share, low, high in rows
        )

    def _columns(self) -> Columns:
        names = ("true", "predicted", "count", "support", "share", "low", "high")
        return {name: as_column(getattr(self, name)) for name in names}
