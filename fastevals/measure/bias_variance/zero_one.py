"""0-1 loss: how many models predict each class for each sample, and the parts of the loss that makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals._kernels.bias_variance import STRIP, count_bytes, count_classes, count_unknown, most_frequent
from fastevals._validation import ModelTables
from fastevals.measure.bias_variance.classes import Classes
from fastevals.measure.bias_variance.decompositions import DECOMPOSITIONS, Tally
from fastevals.measure.bias_variance.reading import panels, strips
from fastevals.measure.bias_variance.totals import Loss

__all__ = ["Counts", "ZeroOneLoss"]

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
        """Whether it counts what was observed."""
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
        """Give a view of some samples."""
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
        self.true = check.as_true_labels("y_true", y_true)
        self.observed: NDArray[Any] | None = None
        self._classes = Classes(self.true, labels)
        self.labels = self._classes.labels
        self.main_dtype = self.labels.dtype
        size = max(CELLS // self.labels.size, FEWEST)
        self.parts = [slice(at, min(at + size, self.n_samples)) for at in range(0, self.n_samples, size)]
        self._verify_row("y_true", self.true)

    def _verify_row(self, name: str, labels: NDArray[Any]) -> None:
        self.verify(ModelTables(name, [labels[np.newaxis]], [name]))

    def observe(self, y_observed: Any) -> None:
        """Take observed labels that are the same for all models."""
        self.observed = check.as_true_labels("y_observed", y_observed)
        check.check_same_length(y_true=self.true, y_observed=self.observed)
        check.check_comparable_labels(y_true=self.true, y_observed=self.observed)
        self._verify_row("y_observed", self.observed)

    def models(self, name: str, values: Any, *, one: bool = False) -> ModelTables:
        """Give predicted, or observed, labels of models."""
        return check.as_model_labels(name, self.true, values, one=one)

    def state(self, n_samples: int, paired: bool) -> Counts:
        """Make a state of no models."""
        return Counts.of_none(n_samples, self.labels.size, paired)

    def workspace(self) -> Bytes:
        """Make what `add` needs beside."""
        return np.empty(STRIP, dtype=np.uint8)

    def complain(self, models: ModelTables) -> None:
        """Raise for a label that is no class."""
        check.check_known_classes(models, self.labels)

    def accepts(self, models: ModelTables, samples: slice) -> bool:
        """Tell whether all labels of some samples are classes."""
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
        """Give what parts of n models are to be divided by."""
        return self._times * int(n**self._power)

    def read(self, state: Counts, n: int, samples: slice) -> tuple[NDArray[Any], dict[str, Ints]]:
        """Give the main prediction of n models, and the parts of the loss of each sample times the divisor."""
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
        return self.labels[main], self._terms(Tally(n, main == true, of_main, of_true, *beside))
