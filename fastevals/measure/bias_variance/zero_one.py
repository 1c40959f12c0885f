"""Bias and variance of the 0-1 loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.bias_variance import STRIP, count_bytes, count_classes, count_unknown, most_frequent
from fastevals._validation.arrays import check_same_length
from fastevals._validation.labels import (
    as_class_names,
    as_class_numbers,
    as_predicted_labels,
    as_true_labels,
    check_class_number,
    check_comparable_labels,
)
from fastevals._validation.options import listed, row_at, show
from fastevals.counting.ordering import plain_block
from fastevals.measure.bias_variance.results import (
    DECOMPOSITIONS,
    ModelTables,
    VoteCounts,
    _as_table,
    _columns,
    panels,
    strips,
)
from fastevals.measure.bias_variance.totals import Loss

WIDEST = 1 << 15  # range of integer labels that are numbered by a table
INT = np.dtype(np.int64)


class LabelNumbering:
    """The classes there are.

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        In order, all different.
    bytes : dict of str to (ndarray of uint8, ndarray of int32)
        The bytes that mean a class, and the class's number, where 8-bit labels are of some kind of dtype.
    """

    def __init__(self, true: NDArray[Any], labels: Any) -> None:
        """Take those of the true labels, or those given."""
        if labels is None:
            self.labels = distinct(true).astype(true.dtype.newbyteorder("="), copy=False)
            check_comparable_labels(y_true=self.labels)
            check_class_number("y_true", self.labels)
        else:
            self.labels = np.sort(as_true_labels("labels", as_class_names("labels", labels, None)))
            check_comparable_labels(labels=self.labels, y_true=true)
        is_text = self.labels.dtype.kind == "U"
        self._numbers = None if is_text else self.labels.astype(INT)
        self._bytes = {kind: self._byte_table(kind) for kind in ("" if is_text else "biu")}
        there = {kind: np.flatnonzero(table >= 0) for kind, table in self._bytes.items()}
        self.bytes = {kind: (at.astype(np.uint8), self._bytes[kind][at]) for kind, at in there.items()}
        self._searches = is_text or int(self.labels[-1]) - int(self.labels[0]) >= WIDEST
        codes = np.arange(self.labels.size, dtype=np.int32)
        if self._searches:
            self._low, self._table = 0, codes
        else:
            assert self._numbers is not None
            self._low = int(self._numbers[0])
            self._table = np.full(int(self._numbers[-1]) - self._low + 1, -1, dtype=np.int32)
            self._table[self._numbers - self._low] = codes

    def _byte_table(self, kind: str) -> NDArray[np.int32]:
        """Return the number of the class that each byte stands for, -1 for none."""
        meant = np.arange(256, dtype=np.uint8).view(np.int8 if kind == "i" else np.uint8).astype(INT)
        return self._find(meant).astype(np.int32)

    def _find(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of each value's class by search, -1 for none."""
        known = self.labels if self._numbers is None else self._numbers
        at = np.minimum(np.searchsorted(known, values), known.size - 1)
        return np.where(known[at] == values, at, -1)

    def is_direct(self, table: NDArray[Any]) -> bool:
        """Return whether `numbered` gives a whole array without a copy."""
        small = table.dtype.itemsize == 1
        return (
            table.dtype.kind in "biu" and table.flags.carray and (small or (table.dtype == INT and not self._searches))
        )

    def numbered(self, block: NDArray[Any]) -> tuple[NDArray[Any], int, NDArray[np.int32]]:
        """Return a block of labels as integers, and a table whose row ``integer - low`` has the number of the class."""
        kind = block.dtype.kind
        if kind in "biu" and block.dtype.itemsize == 1:
            return plain_block(block, block.dtype).view(np.uint8), 0, self._bytes[kind]
        if kind == "U":
            return self._find(block), 0, self._table
        if kind != "f":
            values = plain_block(block, INT)
            return (self._find(values) if self._searches else values), self._low, self._table
        with np.errstate(invalid="ignore"):
            values = block.astype(INT, order="C")
        odd = values != block
        if self._searches:
            values = self._find(values)
        values[odd] = self._low - 1 if self._low > np.iinfo(INT).min else self._low + self._table.size
        return values, self._low, self._table

    def codes(self, block: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of each label's class; all have one."""
        values, low, table = self.numbered(block)
        return table[values.astype(INT) - low].astype(INT)


def distinct(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the labels that occur, in order."""
    if labels.dtype.kind in "iu":
        low, high = int(labels.min()), int(labels.max())
        if high - low < WIDEST and -(2**63) <= low <= high < 2**63:
            return np.flatnonzero(np.bincount(labels.astype(INT) - low)) + low
    return np.unique(labels)


Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

CELLS = 1 << 17  # counts of samples looked at together: they stay in cache
FEWEST = 1 << 8  # of these samples
FEW_CLASSES, MANY_MODELS = 32, 8  # for `count_bytes` to be the faster way


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How many models predict each class for each of some samples.

    Attributes
    ----------
    predicted : ndarray of int32 of shape (n_samples, n_classes)
    observed : ndarray of int32 of shape (n_samples, n_classes), or None
        How many have observed it, where each has labels of its own.
    matches : ndarray of int32 of shape (n_samples,), or None
        How many predict what they have observed.
    """

    predicted: NDArray[np.int32]
    observed: NDArray[np.int32] | None
    matches: NDArray[np.int32] | None

    @property
    def paired(self) -> bool:
        """Return whether it counts what was observed."""
        return self.observed is not None

    @classmethod
    def of_none(cls, n_samples: int, n_classes: int, paired: bool) -> Counts:
        """Make those of no models."""
        shape = n_samples, n_classes
        if not paired:
            return cls(np.zeros(shape, dtype=np.int32), None, None)
        predicted, observed = np.zeros((2, *shape), dtype=np.int32)
        return cls(predicted, observed, np.zeros(n_samples, dtype=np.int32))

    def part(self, samples: slice) -> Counts:
        """Return a view of some samples."""
        return Counts(*(None if each is None else each[samples] for each in self._all()))  # type: ignore[arg-type]

    def merge(self, n: int, other: Counts, m: int) -> None:
        """Add m models of another to the n here."""
        for mine, its in zip(self._all(), other._all(), strict=True):
            if mine is not None and its is not None:
                np.add(mine, its, out=mine)

    def clear(self) -> None:
        """Make it those of no models."""
        for each in self._all():
            if each is not None:
                each[:] = 0

    def _all(self) -> tuple[NDArray[np.int32] | None, ...]:
        return self.predicted, self.observed, self.matches


class ZeroOneLoss(Loss):
    """How 0-1 loss is decomposed, beside given labels."""

    name = "zero_one"
    labels: NDArray[Any]

    def __init__(self, y_true: ArrayLike, decomposition: str, labels: Any) -> None:
        self.decomposition = decomposition
        self.kind, self._terms, self._power, self._times = DECOMPOSITIONS[decomposition]
        self.true = as_true_labels("y_true", y_true)
        self.observed: NDArray[Any] | None = None
        self._classes = LabelNumbering(self.true, labels)
        self.labels = self._classes.labels
        self.main_dtype = self.labels.dtype
        size = max(CELLS // self.labels.size, FEWEST)
        self.parts = [slice(at, min(at + size, self.n_samples)) for at in range(0, self.n_samples, size)]
        self._verify_row("y_true", self.true)

    def _verify_row(self, name: str, labels: NDArray[Any]) -> None:
        self.verify(ModelTables(name, [labels[np.newaxis]], [name]))

    def observe(self, y_observed: Any) -> None:
        """Take observed labels that are the same for all models."""
        self.observed = as_true_labels("y_observed", y_observed)
        check_same_length(y_true=self.true, y_observed=self.observed)
        check_comparable_labels(y_true=self.true, y_observed=self.observed)
        self._verify_row("y_observed", self.observed)

    def models(self, name: str, values: Any, *, one: bool = False) -> ModelTables:
        """Return predicted, or observed, labels of models."""
        return _as_model_labels(name, self.true, values, one=one)

    def state(self, n_samples: int, paired: bool) -> Counts:
        """Make a state of no models."""
        return Counts.of_none(n_samples, self.labels.size, paired)

    def workspace(self) -> Bytes:
        """Make what `add` needs beside."""
        return np.empty(STRIP, dtype=np.uint8)

    def complain(self, models: ModelTables) -> None:
        """Raise for a label that is no class."""
        _check_known_classes(models, self.labels)

    def accepts(self, models: ModelTables, samples: slice) -> bool:
        """Return whether all labels of some samples are classes."""
        return not any(
            count_unknown(*self._classes.numbered(table[rows, strip]))
            for table in models.tables
            for rows in panels(len(table))
            for strip in strips(samples)
        )

    def add(
        self, state: Counts, n: int, models: ModelTables, pairs: ModelTables | None, samples: slice, space: Bytes
    ) -> bool:
        """Add models to the state of some samples that has n; tell whether all labels were classes."""
        if n == 0:
            state.clear()
        unknown = self._count(state.predicted, models, samples, space)
        if pairs is not None:
            assert state.observed is not None
            assert state.matches is not None
            unknown += self._count(state.observed, pairs, samples, space)
            for i in range(models.n_models):
                (_, predicted), (_, observed) = models.model(i), pairs.model(i)
                state.matches[:] += predicted[samples] == observed[samples]
        return not unknown

    def _count(self, counts: NDArray[np.int32], models: ModelTables, samples: slice, space: Bytes) -> int:
        """Count the classes of some samples; give how many labels are none."""
        unknown = 0
        for table in models.tables:
            if self._classes.is_direct(table):
                unknown += self._count_block(counts, table, samples.start, space)
                continue
            for rows in panels(len(table)):
                for strip in strips(samples):
                    of_strip = counts[strip.start - samples.start : strip.stop - samples.start]
                    unknown += self._count_block(of_strip, table[rows, strip], 0, space)
        return unknown

    def _count_block(self, counts: NDArray[np.int32], block: NDArray[Any], start: int, space: Bytes) -> int:
        values, low, table = self._classes.numbered(block)
        if values.dtype == np.uint8 and len(values) >= MANY_MODELS and self.labels.size <= FEW_CLASSES:
            return int(count_bytes(values, start, *self._classes.bytes[block.dtype.kind], counts, space))
        return int(count_classes(values, start, low, table, counts))

    def divisor(self, n: int) -> int:
        """Return what parts of n models are to be divided by."""
        return self._times * int(n**self._power)

    def read(self, state: Counts, n: int, samples: slice) -> tuple[NDArray[Any], dict[str, Ints]]:
        """Return the main prediction of n models, and the parts of the loss of each sample times the divisor."""
        true = self._classes.codes(self.true[samples])
        main, of_main, of_true, squared = np.empty((4, true.size), dtype=np.int64)
        most_frequent(state.predicted, true, main, of_main, of_true, squared)
        row = np.arange(true.size)
        if state.observed is not None:
            seen = state.observed.astype(np.int64)
            beside = (
                state.matches.astype(np.int64),  # type: ignore[union-attr]
                seen[row, main],
                seen[row, true],
                squared,
                np.einsum("ij,ij->i", seen, seen),
                np.einsum("ij,ij->i", seen, state.predicted),
            )
        else:
            label = true if self.observed is None else self._classes.codes(self.observed[samples])
            matches = of_true if self.observed is None else state.predicted[row, label].astype(np.int64)
            all_of_them = np.full(true.size, n * n)
            beside = matches, n * (label == main), n * (label == true), squared, all_of_them, n * matches
        return self.labels[main], self._terms(VoteCounts(n, main == true, of_main, of_true, *beside))


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_model_labels(name: str, y_true: NDArray[Any], values: Any, *, one: bool = False) -> ModelTables:
    """Return the classes that models predict, which can be compared with the true ones."""
    columns = _columns(name, values)
    if columns is None:
        table, names = _as_table(name, values, y_true.size, one)
        label = f"{name}[0]" if names is None else names[0]
        if table.dtype.kind in "fiubU":
            as_predicted_labels(y_true, {label: table[0]})  # what is wrong with one row is with all
            check_comparable_labels(y_true=y_true, **{name: table})
            return ModelTables(name, [table], names)
        columns = {f"{name}[{i}]" if names is None else names[i]: row for i, row in enumerate(table)}
    models = as_predicted_labels(y_true, columns)
    return ModelTables(name, [each[np.newaxis] for each in models.values()], list(models))


def _check_known_classes(models: ModelTables, labels: NDArray[Any]) -> None:
    """Raise, and say which model has a label that is not among the known ones, and where, if one has."""
    known = labels.astype(np.int64) if labels.dtype.kind == "b" else labels
    for i in range(models.n_models):
        label, row = models.model(i)
        unknown = ~np.isin(as_class_numbers(label, row), known)
        if unknown.any():
            at = int(np.argmax(unknown))
            raise ValueError(
                f"{label} has the label {show(row[at])} at {row_at(at)}, which is not among the classes: "
                f"{listed(list(labels))}; labels= can name more"
            )
