"""Slow, obvious twins of splitters: the same random bits as Python integers, one unit at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

MASK = 2**64 - 1
STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def _mix(x: int) -> int:
    x = (x ^ x >> 30) * FIRST & MASK
    x = (x ^ x >> 27) * SECOND & MASK
    return x ^ x >> 31


def _key_of(key: int, number: int) -> int:
    return _mix((_mix(key ^ SECOND) + _mix((number * FIRST + STEP) & MASK)) & MASK)


def stream_key(key: int, *numbers: int) -> int:
    for number in numbers:
        key = _key_of(key, number)
    return key


def random_bits(key: int, counter: int) -> int:
    return _mix((key + (counter + 1) * STEP) & MASK)


def shuffled(values: Sequence[Any], key: int) -> list[Any]:
    """Shuffle by Fisher and Yates from the end, where equal values stay; integer i of stream `key` is for place i."""
    values, n = list(values), len(values)
    last = next((i + 1 for i in range(n - 1, -1, -1) if values[i] != values[-1]), 0)
    for i in range(last - 1, -1, -1):
        j = i + ((n - i) * random_bits(key, i) >> 64)
        values[i], values[j] = values[j], values[i]
    return values


def by_first_row(labels: Sequence[Any]) -> dict[Any, list[int]]:
    """Return the rows of each label, in order of appearance."""
    rows: dict[Any, list[int]] = {}
    for row, label in enumerate(labels):
        rows.setdefault(label, []).append(row)
    return rows


def stratified_folds(labels: Sequence[Any], k: int, key: int | None) -> list[int]:
    """Deal rows to folds in turn, class after class; within a class in blocks, or shuffled."""
    codes, dealt = [0] * len(labels), 0
    for stratum, rows in enumerate(by_first_row(labels).values()):
        folds = sorted((dealt + i) % k for i in range(len(rows)))
        dealt += len(rows)
        if key is not None:
            folds = shuffled(folds, stream_key(key, stratum))
        for row, fold in zip(rows, folds, strict=True):
            codes[row] = fold
    return codes


def spread(groups: Sequence[Any], k: int, key: int | None, cost: Callable[[list[int], list[int]], Any]) -> list[int]:
    """Put groups into folds, larger groups first, each where the cost of its rows in the fold is least."""
    members = list(by_first_row(groups).values())
    height = [len(rows) if key is None else len(rows).bit_length() for rows in members]
    order = []
    for run, size in enumerate(sorted(set(height), reverse=True)):
        alike = [group for group in range(len(members)) if height[group] == size]
        order += alike if key is None else _permuted(alike, stream_key(key, run))
    folds: list[list[int]] = [[] for _ in range(k)]
    for group in order:
        best = min(range(k), key=lambda fold: (cost(folds[fold], members[group]), len(folds[fold]), fold))
        folds[best] += members[group]
    codes = [0] * len(groups)
    for fold, rows in enumerate(folds):
        for row in rows:
            codes[row] = fold
    return codes


def _permuted(values: list[int], key: int) -> list[int]:
    """Shuffle as `shuffled`, but draw for the last value, too, because there is no block of equal values."""
    values, n = list(values), len(values)
    for i in range(n - 1, -1, -1):
        j = i + ((n - i) * random_bits(key, i) >> 64)
        values[i], values[j] = values[j], values[i]
    return values


def rows_so_far(fold: list[int], group: list[int]) -> int:
    """Return the cost of a group in a fold: the fold's size."""
    return len(fold)


def balanced_folds(labels: Sequence[Any]) -> Callable[[list[int], list[int]], float]:
    """Return the cost of a group in a fold: their overlap in classes, as shares of each class."""
    total = Counter(labels)

    def cost(fold: list[int], group: list[int]) -> float:
        held, added = (Counter(labels[row] for row in rows) for rows in (fold, group))
        return sum(added[label] * held[label] * (1 / total[label] ** 2) for label in sorted(total))

    return cost
