"""Labels, text or integers, as their places in sorted order: by a table where they are near, or by hashing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import BLOCK, blocks, chunks, run
from fastevals._kernels.labels import number_words
from fastevals.measure.codec import plain_block

__all__ = ["code_labels", "label_range", "number_labels"]

Ints = NDArray[np.int64]

INT = np.dtype(np.int64)
WIDEST = 1 << 15  # range of integer labels that are numbered by a table
SLOTS = 1 << 10  # of the first table: in cache, with room for all labels but of long-tailed targets
GROWTH = 1 << 4  # of the next ones; a chunk is begun anew, so the last costs most


def label_range(arrays: Sequence[NDArray[Any]]) -> tuple[int, int]:
    """Give the lowest label of all arrays of integers or booleans, and the width of the range of all."""
    low = min(int(array.min()) for array in arrays)
    return low, max(int(array.max()) for array in arrays) - low + 1


def number_labels(what: str, arrays: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Do what `code_labels` does with at most 10,000 labels; codes from a table are of the shortest unsigned dtype."""
    low, width = (0, WIDEST + 1) if arrays[0].dtype.kind == "U" else label_range(arrays)
    if width > WIDEST:
        labels, codes = code_labels(what, arrays)
        check.check_class_number(what, labels)
        return labels, codes
    offsets = [np.empty(array.size, dtype=np.min_scalar_type(width - 1)) for array in arrays]

    def fill(item: tuple[int, slice]) -> NDArray[np.bool_]:
        k, part = item
        offsets[k][part] = np.subtract(arrays[k][part], low, dtype=INT, casting="unsafe")
        return np.bincount(offsets[k][part], minlength=width) > 0

    seen = np.logical_or.reduce(run(fill, [(k, part) for k, array in enumerate(arrays) for part in chunks(array.size)]))
    labels = np.flatnonzero(seen) + low
    check.check_class_number(what, labels)
    if labels.size == width:
        return labels, offsets
    number = (np.cumsum(seen) - 1).astype(offsets[0].dtype)
    return labels, [number[each] for each in offsets]


def code_labels(what: str, arrays: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], list[Ints]]:
    """Give the distinct labels of all arrays, ascending, and the arrays with each label's place in place of it.

    Parameters
    ----------
    what : str
        What errors call the arrays.
    arrays : sequence of ndarray of shape (n_rows,)
        Integers or booleans; or fixed-width text, or Python strings.

    Returns
    -------
    labels : ndarray of shape (n_labels,)
        int64, or fixed-width text.
    codes : list of ndarray of int64 of shape (n_rows,)
        One for each array.

    Raises
    ------
    ValueError
        If one of an array's Python objects is no string.
    """
    if sum(array.size for array in arrays) <= BLOCK:  # then threads and a second table take longer than the rest
        found, number_of = _numbered(what, _together(arrays))
        distinct, place = _sorted(found)
        return distinct, np.split(place[number_of], np.cumsum([array.size for array in arrays[:-1]]))
    codes = [np.empty(array.size, dtype=INT) for array in arrays]
    parts = [(k, part) for k, array in enumerate(arrays) for part in _parts(array)]

    def number(item: tuple[int, slice]) -> NDArray[Any]:
        k, part = item
        found, codes[k][part] = _numbered(what, arrays[k][part])
        return found

    of_parts = run(number, parts, compiles=number_words)
    found, number_of = _numbered(what, np.concatenate(of_parts))
    distinct, place = _sorted(found)
    places, start = place[number_of], 0
    for (k, part), own in zip(parts, of_parts, strict=True):
        of_part = places[start : start + own.size]
        for block in blocks(part):
            codes[k][block] = of_part[codes[k][block]]
        start += own.size
    return distinct, codes


def _together(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    text = any(array.dtype.kind in "OU" for array in arrays)
    return np.concatenate(arrays, dtype=None if text else INT, casting="unsafe")  # not a float that rounds integers


def _sorted(labels: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Give distinct labels in order, and where each has gone."""
    order = np.argsort(labels)
    place = np.empty(order.size, dtype=INT)
    place[order] = np.arange(order.size)
    return labels[order], place


def _parts(array: NDArray[Any]) -> list[slice]:
    """Give the rows that are numbered together: threads gain nothing where each must hold the GIL."""
    return [slice(0, array.size)] if array.dtype == object else chunks(array.size)


def _numbered(what: str, labels: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Give distinct labels in the order they are first seen, and each row's number among them."""
    if labels.dtype == object:
        return _numbered_objects(what, labels)
    labels = plain_block(labels, labels.dtype.newbyteorder("=") if labels.dtype.kind == "U" else INT)
    words = labels.view(np.uint32).reshape(labels.size, -1)
    codes = np.empty(labels.size, dtype=INT)
    slots = SLOTS
    while True:
        first = np.empty(slots // 2, dtype=INT)
        n = number_words(words, np.full(slots, -1, dtype=INT), first, codes)
        if n >= 0:
            return labels[first[:n]], codes
        slots *= GROWTH


def _numbered_objects(what: str, labels: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Do the same with Python strings, which know their hashes."""
    numbers: defaultdict[Any, int] = defaultdict(count().__next__)
    values = chain.from_iterable(labels[block].tolist() for block in blocks(slice(0, labels.size)))
    try:
        codes = np.fromiter(map(numbers.__getitem__, values), dtype=INT, count=labels.size)
        odd = not all(isinstance(label, str) for label in numbers)
    except TypeError:  # a value without a hash
        odd = True
    if odd:
        check.check_all_strings(what, labels)
    return np.array(list(numbers)), codes
