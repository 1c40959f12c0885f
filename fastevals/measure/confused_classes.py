"""Which classes a confusion matrix confuses: the most frequent errors, and an order that puts them side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

MOST_ORDERED = 512  # classes whose leaves are ordered optimally, which takes cubic time


class Confusions(NamedTuple):
    """The most frequent errors, each a pair of classes.

    Attributes
    ----------
    true, predicted : ndarray of intp of shape (n,)
        Numbers of the classes.
    counts : ndarray of shape (n,)
        Rows of the true class predicted as the other, or their weight; descending, all above zero.
    shares : ndarray of shape (n,)
        Counts divided by all rows of the true class.
    n_pairs : int
        Number of pairs with any error, including those left out.
    """

    true: Places
    predicted: Places
    counts: NDArray[Any]
    shares: Floats
    n_pairs: int


def most_frequent_errors(counts: NDArray[Any], n: int, *, by_share: bool = False) -> Confusions:
    """Return the n most frequent errors of a matrix, by count or by share of the true class.

    Of equal ones, the larger by the other measure comes first, then the first in the matrix.
    """
    shares = class_shares(counts)
    errors = np.where(np.eye(len(counts), dtype=np.bool_), 0, counts)
    true, predicted = np.nonzero(errors)
    found = counts[true, predicted], shares[true, predicted]
    order = np.lexsort([-each for each in (found if by_share else found[::-1])])[:n]
    return Confusions(true[order], predicted[order], found[0][order], found[1][order], true.size)


def class_shares(counts: NDArray[Any]) -> Floats:
    """Return the share of each true class that is predicted as each class; 0 for a class without rows."""
    totals = counts.sum(axis=1, keepdims=True, dtype=np.float64)
    return np.asarray(np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0))


def order_of_similar_classes(counts: NDArray[Any]) -> Places:
    """Return an order of classes in which classes that are confused with each other are neighbours.

    The similarity of two classes is the mean of both shares of rows predicted as the other class. Classes are clustered
    by average linkage, and the leaves ordered so that neighbours are as similar as possible (Bar-Joseph, Gifford and
    Jaakkola 2001, doi:10.1093/bioinformatics/17.suppl_1.S22).
    """
    k = len(counts)
    if k < 3:
        return np.arange(k)
    from scipy.cluster.hierarchy import leaves_list, linkage

    shares = class_shares(counts)
    distances = 1 - ((shares + shares.T) / 2)[np.triu_indices(k, 1)]
    order: Places = leaves_list(linkage(distances, "average", optimal_ordering=k <= MOST_ORDERED)).astype(np.intp)
    return order[::-1] if order[0] > order[-1] else order
