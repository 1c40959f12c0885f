"""From pairs of labels to counts of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.label_codes import number_labels
from fastevals.measure.label_tuples import count_codes, count_in_range

__all__ = ["as_label_dtype", "count_label_pairs", "placed"]

EXACT = 2**53


def count_label_pairs(
    true: NDArray[Any], predicted: NDArray[Any], weights: NDArray[np.float64] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count pairs into a matrix over all labels that occur, in order; return it and them."""
    check.check_comparable_labels(y_true=true, y_pred=predicted)
    if true.dtype.kind == "U":
        return _count([true, predicted], weights)
    numbers = [check.as_class_numbers("y_true", true), check.as_class_numbers("y_pred", predicted)]
    table, distinct = _count(numbers, weights)
    return table, as_label_dtype(distinct, true.dtype, predicted.dtype)


def placed(counts: NDArray[Any], found: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Return matrices over `labels`, which hold all those found, of matrices over these."""
    places = check.check_known_labels(found, labels)
    if labels.size == places.size and (np.diff(places) > 0).all():
        return counts
    whole = np.zeros((*counts.shape[:-2], labels.size, labels.size), dtype=counts.dtype)
    whole[..., places[:, None], places] = counts
    return whole


def as_label_dtype(distinct: NDArray[np.int64], *dtypes: np.dtype[Any]) -> NDArray[Any]:
    """Give integer labels the type the user knows them by, where it holds them all."""
    dtype = dtypes[0] if dtypes[0] == dtypes[1] else np.result_type(*dtypes, np.int8)
    known = distinct.astype(dtype.newbyteorder("="))
    return known if (known == distinct).all() and np.abs(distinct).max() <= EXACT else distinct


def _count(arrays: list[NDArray[Any]], weights: NDArray[np.float64] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count pairs of labels; give the matrix over those that occur, and them."""
    found = count_in_range(arrays, weights)
    if found is None:
        distinct, codes = number_labels("y_true and y_pred", arrays)
        return count_codes(codes, weights, 0, distinct.size)[0].reshape(distinct.size, -1), distinct
    table, low, width = found
    table = table.reshape(width, width)
    seen = np.flatnonzero(table.any(axis=0) | table.any(axis=1))
    return table[np.ix_(seen, seen)], seen + low
