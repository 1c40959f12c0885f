"""0-1 loss: the models' votes for the classes of each sample, and three ways to decompose the loss.

All parts are integers, computed from vote counts and divided once at the end, so the order of models does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._kernels.bias_variance import SAMPLES_PER_STRIP, count_bytes, count_classes, count_unknown, most_frequent
from fastevals._options import listed, row_at, show
from fastevals._validation.arrays import INT64, Floats, check_same_length
from fastevals._validation.labels import (
    as_class_names,
    as_class_numbers,
    as_predicted_labels,
    as_true_labels,
    check_class_number,
    check_comparable_labels,
    text_rows,
)
from fastevals._validation.text import TextLabels, find_sorted, is_text
from fastevals.counting.labels import WIDEST
from fastevals.counting.ordering import plain_block
from fastevals.measure.bias_variance.decomposition import (
    Decomposition,
    Loss,
    ModelTables,
    as_model_columns,
    as_model_table,
    panels,
    strips,
)
from fastevals.measure.bias_variance.squared import BiasVariance
from fastevals.results import V

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Parts = dict[str, Ints]

CELLS = 1 << 17  # counts of samples processed in one block, so that they stay in cache
FEWEST_SAMPLES = 1 << 8  # samples in a block
FEW_CLASSES, MANY_MODELS = 32, 8  # `count_bytes` is faster up to 32 classes and from 8 models on


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class DomingosDecomposition(Decomposition[V]):
    """Domingos' decomposition of 0-1 loss: ``expected_loss = bias + net_variance + noise_effect``.

    Attributes
    ----------
    bias : float
        Share of samples whose main prediction is wrong.
    variance : float
        Share of predictions that differ from the main prediction.
    unbiased_variance : float
        Share of predictions that are wrong although the main prediction is right, which increases the loss.
    biased_variance : float
        Share of predictions that are right although the main prediction is wrong, which decreases the loss. With two
        classes these are all predictions that differ from a wrong main prediction.
    net_variance : float
        ``unbiased_variance - biased_variance``.
    noise : float
        Share of observed labels that differ from the true ones.
    noise_effect : float
        The part of the expected loss that is due to this noise.
    """

    TERMS: ClassVar[tuple[str, ...]] = ("bias", "net_variance", "noise_effect")
    BESIDE: ClassVar[tuple[str, ...]] = ("variance", "unbiased_variance", "biased_variance", "noise")
    OF_NOISE: ClassVar[tuple[str, ...]] = ("noise", "noise_effect")
    OF_BIAS: ClassVar[str] = "bias"
    OF_VARIANCE: ClassVar[str] = "net_variance"

    bias: V
    variance: V
    unbiased_variance: V
    biased_variance: V
    net_variance: V
    noise: V
    noise_effect: V
    per_sample: DomingosDecomposition[Floats] | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class JamesDecomposition(Decomposition[V]):
    """James' decomposition of 0-1 loss: ``expected_loss = noise + systematic_effect + variance_effect``.

    Attributes
    ----------
    bias : float
        Share of samples whose main prediction is wrong.
    variance : float
        Share of predictions that differ from the main prediction.
    noise : float
        Share of observed labels that differ from the true ones, which is the loss of predicting the true labels.
    systematic_effect : float
        Additional loss of always predicting the main prediction: the cost of bias.
    variance_effect : float
        Additional loss because predictions vary around the main prediction; may be negative.
    """

    TERMS: ClassVar[tuple[str, ...]] = ("noise", "systematic_effect", "variance_effect")
    BESIDE: ClassVar[tuple[str, ...]] = ("bias", "variance")
    OF_NOISE: ClassVar[tuple[str, ...]] = ("noise",)
    OF_BIAS: ClassVar[str] = "systematic_effect"
    OF_VARIANCE: ClassVar[str] = "variance_effect"

    bias: V
    variance: V
    noise: V
    systematic_effect: V
    variance_effect: V
    per_sample: JamesDecomposition[Floats] | None = None


# Decompositions -------------------------------------------------------------------------------------------------------


class VoteCounts(NamedTuple):
    """Counts of the models' predictions and observations, for each of some samples.

    Arrays have shape (n_samples,). A label observed for all models counts once per model.
    """

    n: int  # models
    right: NDArray[np.bool_]  # whether the main prediction is the true class
    for_main: Ints  # predictions of the main class
    for_true: Ints  # predictions of the true class
    matches: Ints  # predictions of the class observed with the same model
    observed_main: Ints  # observations of the main class
    observed_true: Ints  # observations of the true class
    squared: Ints  # sum over classes of squared counts of predictions
    observed_squared: Ints  # sum over classes of squared counts of observations
    product: Ints  # sum over classes of predictions times observations


def _domingos(t: VoteCounts) -> Parts:
    bias = np.where(t.right, 0, t.n)
    variance, lost = t.n - t.for_main, t.n - t.matches
    unbiased, biased = np.where(t.right, variance, 0), np.where(t.right, 0, t.for_true)
    net = unbiased - biased
    return {
        "expected_loss": lost,
        "bias": bias,
        "variance": variance,
        "unbiased_variance": unbiased,
        "biased_variance": biased,
        "net_variance": net,
        "noise": t.n - t.observed_true,
        "noise_effect": lost - bias - net,
    }


def _kohavi_wolpert(t: VoteCounts) -> Parts:
    square = t.n * t.n
    return {
        "expected_loss": 2 * t.n * (t.n - t.matches),
        "bias_squared": t.squared - 2 * t.product + t.observed_squared,
        "variance": square - t.squared,
        "noise": square - t.observed_squared,
        "cross_term": 2 * (t.product - t.n * t.matches),
    }


def _james(t: VoteCounts) -> Parts:
    return {
        "expected_loss": t.n - t.matches,
        "bias": np.where(t.right, 0, t.n),
        "variance": t.n - t.for_main,
        "noise": t.n - t.observed_true,
        "systematic_effect": t.observed_true - t.observed_main,
        "variance_effect": t.observed_main - t.matches,
    }


class ZeroOneDecomposition(NamedTuple):
    """How a decomposition is computed from the vote counts."""

    kind: type[Decomposition[Any]]  # class of the result
    parts: Callable[[VoteCounts], Parts]
    divisor: Callable[[int], int]  # of the parts, given the number of models


DECOMPOSITIONS = {
    "domingos": ZeroOneDecomposition(DomingosDecomposition, _domingos, lambda n: n),
    "kohavi-wolpert": ZeroOneDecomposition(BiasVariance, _kohavi_wolpert, lambda n: 2 * n * n),
    "james": ZeroOneDecomposition(JamesDecomposition, _james, lambda n: n),
}


class ZeroOneLoss(Loss):
    """The decomposition of 0-1 loss, given labels."""

    name = "zero_one"
    decomposition: str
    labels: NDArray[Any]

    def __init__(self, y_true: ArrayLike, decomposition: str, labels: Any) -> None:
        self.decomposition = decomposition
        self.kind = DECOMPOSITIONS[decomposition].kind
        self.true = as_true_labels("y_true", y_true)
        self.observed: NDArray[Any] | None = None
        self._classes = LabelNumbering(self.true, labels)
        self.labels = self._classes.labels
        self.main_dtype = self.labels.dtype
        size = max(CELLS // self.labels.size, FEWEST_SAMPLES)
        self.blocks = [slice(at, min(at + size, self.n_samples)) for at in range(0, self.n_samples, size)]
        self._check_row("y_true", self.true)

    def _check_row(self, name: str, labels: NDArray[Any]) -> None:
        self.check_valid(ModelTables(name, [labels[np.newaxis]], [name]))

    def set_observed(self, y_observed: Any) -> None:
        """Check and keep observed labels that are the same for all models."""
        self.observed = as_true_labels("y_observed", y_observed)
        check_same_length(y_true=self.true, y_observed=self.observed)
        check_comparable_labels(y_true=self.true, y_observed=self.observed)
        self._check_row("y_observed", self.observed)

    def as_tables(self, name: str, values: Any, *, one: bool = False) -> ModelTables:
        """Return the models' predicted or observed labels."""
        columns = as_model_columns(name, values) or text_rows(name, values)
        if columns is None:
            table, names = as_model_table(name, values, self.n_samples, one)
            label = f"{name}[0]" if names is None else names[0]
            if table.dtype.kind in "fiub":
                as_predicted_labels(self.true, {label: table[0]})  # one row shows errors of the dtype
                check_comparable_labels(y_true=self.true, **{name: table})
                return ModelTables(name, [table], names)
            columns = {f"{name}[{i}]" if names is None else names[i]: row for i, row in enumerate(table)}
        models = as_predicted_labels(self.true, columns)
        return ModelTables(name, [each[np.newaxis] for each in models.values()], list(models))

    def empty_state(self, n_samples: int, paired: bool) -> ClassVotes:
        """Return the votes before any model is added."""
        return ClassVotes.zeros(n_samples, self.labels.size, paired)

    def workspace(self) -> Bytes:
        """Allocate the working memory of `add`."""
        return np.empty(SAMPLES_PER_STRIP, dtype=np.uint8)

    def raise_invalid(self, models: ModelTables) -> None:
        """Raise for a label that is not a class."""
        known = self.labels.astype(INT64) if self.labels.dtype.kind == "b" else self.labels
        for i in range(models.n_models):
            label, row = models.model(i)
            unknown = ~np.isin(as_class_numbers(label, row), known)
            if unknown.any():
                at = int(np.argmax(unknown))
                raise ValueError(
                    f"{label} has the label {show(row[at])} at {row_at(at)}, which is not among the classes: "
                    f"{listed(list(self.labels))}; labels= can name more"
                )

    def all_valid(self, models: ModelTables, samples: slice) -> bool:
        """Return whether all labels of some samples are classes."""
        return not any(
            count_unknown(*self._classes.numbered(table[rows, strip]))
            for table in models.tables
            for rows in panels(len(table))
            for strip in strips(samples, len(table))
        )

    def add(
        self, state: ClassVotes, n: int, models: ModelTables, observed: ModelTables | None, samples: slice, space: Bytes
    ) -> bool:
        """Add models to a state that holds n models for `samples`; return whether all labels were classes."""
        if n == 0:
            state.clear()
        unknown = self._count(state.predicted, models, samples, space)
        if observed is not None:
            assert state.observed is not None
            assert state.matches is not None
            unknown += self._count(state.observed, observed, samples, space)
            for i in range(models.n_models):
                (_, predicted), (_, labels) = models.model(i), observed.model(i)
                state.matches[:] += predicted[samples] == labels[samples]
        return not unknown

    def _count(self, counts: NDArray[np.int32], models: ModelTables, samples: slice, space: Bytes) -> int:
        """Count the classes of some samples; return the number of labels that are not classes."""
        unknown = 0
        for table in models.tables:
            if self._classes.is_direct(table):
                unknown += self._count_block(counts, table, samples.start, space)
                continue
            for rows in panels(len(table)):
                for strip in strips(samples, len(table)):
                    strip_counts = counts[strip.start - samples.start : strip.stop - samples.start]
                    unknown += self._count_block(strip_counts, table[rows, strip], 0, space)
        return unknown

    def _count_block(self, counts: NDArray[np.int32], block: NDArray[Any], start: int, space: Bytes) -> int:
        values, low, table = self._classes.numbered(block)
        if values.dtype == np.uint8 and len(values) >= MANY_MODELS and self.labels.size <= FEW_CLASSES:
            return int(count_bytes(values, start, *self._classes.bytes[block.dtype.kind], counts, space))
        return int(count_classes(values, start, low, table, counts))

    def divisor(self, n: int) -> int:
        """Return the divisor of `sample_parts` for n models."""
        return DECOMPOSITIONS[self.decomposition].divisor(n)

    def sample_parts(self, state: ClassVotes, n: int, samples: slice, predicted: NDArray[Any]) -> dict[str, Ints]:
        """Write the main prediction of n models; return each sample's parts of the loss times the divisor."""
        true = self._classes.codes(self.true[samples])
        main, for_main, for_true, squared = np.empty((4, true.size), dtype=np.int64)
        most_frequent(state.predicted, true, main, for_main, for_true, squared)
        row = np.arange(true.size)
        if state.observed is not None:
            seen = state.observed.astype(np.int64)
            others = (
                state.matches.astype(np.int64),  # type: ignore[union-attr]
                seen[row, main],
                seen[row, true],
                squared,
                np.einsum("ij,ij->i", seen, seen),
                np.einsum("ij,ij->i", seen, state.predicted),
            )
        else:
            label = true if self.observed is None else self._classes.codes(self.observed[samples])
            matches = for_true if self.observed is None else state.predicted[row, label].astype(np.int64)
            all_votes = np.full(true.size, n * n)
            others = matches, n * (label == main), n * (label == true), squared, all_votes, n * matches
        counts = VoteCounts(n, main == true, for_main, for_true, *others)
        np.take(self.labels, main, out=predicted, mode="clip")  # "clip" skips the check and writes directly
        return DECOMPOSITIONS[self.decomposition].parts(counts)


@dataclass(frozen=True, slots=True, eq=False)
class ClassVotes:
    """Number of models that predict each class for each of some samples.

    Attributes
    ----------
    predicted : ndarray of int32 of shape (n_samples, n_classes)
    observed : ndarray of int32 of shape (n_samples, n_classes), or None
        Number of models that observed each class, if each has its own labels.
    matches : ndarray of int32 of shape (n_samples,), or None
        Number of models that predict their own observed label.
    """

    predicted: NDArray[np.int32]
    observed: NDArray[np.int32] | None
    matches: NDArray[np.int32] | None

    @property
    def paired(self) -> bool:
        """Return whether observations are counted."""
        return self.observed is not None

    @classmethod
    def zeros(cls, n_samples: int, n_classes: int, paired: bool) -> ClassVotes:
        """Return the votes before any model is added."""
        shape = n_samples, n_classes
        if not paired:
            return cls(np.zeros(shape, dtype=np.int32), None, None)
        predicted, observed = np.zeros((2, *shape), dtype=np.int32)
        return cls(predicted, observed, np.zeros(n_samples, dtype=np.int32))

    def view(self, samples: slice) -> ClassVotes:
        """Return a view of the votes on some samples."""
        return ClassVotes(*(None if each is None else each[samples] for each in self._all()))  # type: ignore[arg-type]

    def merge(self, n: int, other: ClassVotes, m: int) -> None:
        """Add the m models of another state to the n models of this one."""
        for mine, its in zip(self._all(), other._all(), strict=True):
            if mine is not None and its is not None:
                np.add(mine, its, out=mine)

    def clear(self) -> None:
        """Reset all votes to 0."""
        for each in self._all():
            if each is not None:
                each[:] = 0

    def _all(self) -> tuple[NDArray[np.int32] | None, ...]:
        return self.predicted, self.observed, self.matches


class LabelNumbering:
    """The classes and their numbers.

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        The distinct classes in order.
    bytes : dict of str to (ndarray of uint8, ndarray of int32)
        For each dtype kind of 8-bit labels, the bytes that stand for a class, and the numbers of these classes.
    """

    def __init__(self, true: NDArray[Any], labels: Any) -> None:
        """Number the true labels, or the given `labels`."""
        if labels is None:
            self.labels = distinct(true)
            if not is_text(true):
                self.labels = self.labels.astype(true.dtype.newbyteorder("="), copy=False)
            check_comparable_labels(y_true=self.labels)
            check_class_number("y_true", self.labels)
        else:
            self.labels = np.sort(as_true_labels("labels", as_class_names("labels", labels, None)))
            check_comparable_labels(labels=self.labels, y_true=true)
        text = is_text(self.labels)
        self._numbers = None if text else self.labels.astype(INT64)
        self._bytes = {kind: self._byte_table(kind) for kind in ("" if text else "biu")}
        present = {kind: np.flatnonzero(table >= 0) for kind, table in self._bytes.items()}
        self.bytes = {kind: (at.astype(np.uint8), self._bytes[kind][at]) for kind, at in present.items()}
        self._searches = text or int(self.labels[-1]) - int(self.labels[0]) >= WIDEST
        codes = np.arange(self.labels.size, dtype=np.int32)
        if self._searches:
            self._low, self._table = 0, codes
        else:
            assert self._numbers is not None
            self._low = int(self._numbers[0])
            self._table = np.full(int(self._numbers[-1]) - self._low + 1, -1, dtype=np.int32)
            self._table[self._numbers - self._low] = codes

    def _byte_table(self, kind: str) -> NDArray[np.int32]:
        """Return the class number of each byte; -1 if it is not a class."""
        meant = np.arange(256, dtype=np.uint8).view(np.int8 if kind == "i" else np.uint8).astype(INT64)
        return self._find(meant).astype(np.int32)

    def _find(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Look up the class number of each value; -1 if it is not a class."""
        known = self.labels if self._numbers is None else self._numbers
        at, found = find_sorted(known, values)
        return np.where(found, at, -1)

    def is_direct(self, table: NDArray[Any]) -> bool:
        """Return whether `numbered` returns the whole array without a copy."""
        small = table.dtype.itemsize == 1
        return (
            table.dtype.kind in "biu"
            and table.flags.carray
            and (small or (table.dtype == INT64 and not self._searches))
        )

    def numbered(self, block: NDArray[Any]) -> tuple[NDArray[Any], int, NDArray[np.int32]]:
        """Return an integer for each label, a number `low`, and a table.

        The class number of a label is ``table[integer - low]``.
        """
        if isinstance(block, TextLabels):
            return plain_block(block.codes, INT64), 0, self._find(block.names).astype(np.int32)
        kind = block.dtype.kind
        if kind in "biu" and block.dtype.itemsize == 1:
            return plain_block(block, block.dtype).view(np.uint8), 0, self._bytes[kind]
        if kind != "f":
            values = plain_block(block, INT64)
            return (self._find(values) if self._searches else values), self._low, self._table
        with np.errstate(invalid="ignore"):
            values = block.astype(INT64, order="C")
        odd = values != block
        if self._searches:
            values = self._find(values)
        values[odd] = self._low - 1 if self._low > np.iinfo(INT64).min else self._low + self._table.size
        return values, self._low, self._table

    def codes(self, block: NDArray[Any]) -> NDArray[np.int64]:
        """Return each label's class number; all must be classes."""
        values, low, table = self.numbered(block)
        return table[values.astype(INT64) - low].astype(INT64)


def distinct(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels in order."""
    if isinstance(labels, TextLabels):
        return labels.occurring()[0]
    if labels.dtype.kind in "iu":
        low, high = int(labels.min()), int(labels.max())
        if high - low < WIDEST and -(2**63) <= low <= high < 2**63:
            return np.flatnonzero(np.bincount(labels.astype(INT64) - low)) + low
    return sorted_unique(labels)
