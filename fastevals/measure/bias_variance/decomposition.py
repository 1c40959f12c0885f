"""What the decompositions share: the result, how predictions are laid out, and what a loss has to offer.

The expected loss of models that are alike but for their training sets is split into terms: what the models miss
together (bias), what they differ by (variance) and what no model can foresee (noise). `squared` and `zero_one` each
define a `Loss`, how that is done, and the `Decomposition`s they return; `bias_variance` runs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fastevals._choices import DecompositionName, LossName
from fastevals._execution import run
from fastevals._options import listed
from fastevals._validation.arrays import Floats, as_array, named_columns
from fastevals.counting.ordering import plain_block
from fastevals.document.frames import Columns, make_columns
from fastevals.results import Frozen, V


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Decomposition(Frozen, Generic[V]):
    """The expected loss of models that are alike but for their training sets, and the parts it has.

    Attributes
    ----------
    expected_loss : float
        Mean loss over models and samples.
    main_prediction : ndarray of shape (n_samples,)
        What the models predict together.
    n_models, n_samples : int
        How many there are.
    loss : {"squared", "zero_one"}
        What is decomposed.
    decomposition : str or None
        Whose parts these are, of 0-1 loss.
    observed : bool
        Whether there were observed labels apart from the true ones: without them nothing is known of noise, and its
        parts are 0.
    per_sample : Decomposition or None
        The same of each sample: numbers are arrays of shape (n_samples,) there.
    """

    TERMS: ClassVar[tuple[str, ...]] = ()  # that add up to the expected loss
    BESIDE: ClassVar[tuple[str, ...]] = ()  # other numbers
    OF_NOISE: ClassVar[tuple[str, ...]] = ()  # those of either that are 0 without observed labels
    OF_BIAS: ClassVar[str] = ""  # the term that is bias, or what it costs
    OF_VARIANCE: ClassVar[str] = ""  # and that of variance

    expected_loss: V
    main_prediction: NDArray[Any]
    n_models: int
    n_samples: int
    loss: LossName
    decomposition: DecompositionName | None
    observed: bool
    per_sample: Decomposition[Floats] | None = None

    @classmethod
    def numbers(cls) -> tuple[str, ...]:
        """Name the numbers: the expected loss, the terms that add up to it, others."""
        return ("expected_loss", *cls.TERMS, *cls.BESIDE)

    def parts(self) -> dict[str, V]:
        """Return the terms that add up to the expected loss, by name; those of noise only if labels were observed."""
        return self._known(self.TERMS)

    def beside(self) -> dict[str, V]:
        """Return the other numbers, by name; those of noise only if labels were observed."""
        return self._known(self.BESIDE)

    def _known(self, names: tuple[str, ...]) -> dict[str, V]:
        left_out = () if self.observed else self.OF_NOISE
        return {name: getattr(self, name) for name in names if name not in left_out}

    def __repr__(self) -> str:
        sizes = f"n_models={self.n_models}, n_samples={self.n_samples}"
        if getattr(self.expected_loss, "ndim", 0):
            return f"{type(self).__name__}({', '.join(('expected_loss', *self.parts()))} of each sample, {sizes})"
        values = {"expected_loss": self.expected_loss, **self.parts()}
        return f"{type(self).__name__}({', '.join(f'{name}={value:.4g}' for name, value in values.items())}, {sizes})"

    def _columns(self) -> Columns:
        """Return a row, or one for each sample."""
        numbers = {"expected_loss": self.expected_loss, **self.parts(), **self.beside()}
        if getattr(self.expected_loss, "ndim", 0):
            return make_columns({"main_prediction": self.main_prediction, **numbers})
        return make_columns({**numbers, "n_models": self.n_models, "n_samples": self.n_samples})


class ModelTables(NamedTuple):
    """Predictions of models: one table of shape (n_models, n_samples), or for each a table of one row.

    A 2-D array stays the array it is, a memory map even, and a mapping's or frame's columns are not copied together:
    blocks of either are read where they lie, and only those of other dtypes are converted.
    """

    name: str  # of the argument
    tables: list[NDArray[Any]]
    names: list[str] | None  # what errors call the models, where they are not numbered rows of `name`

    @property
    def n_models(self) -> int:
        """How many there are."""
        return sum(table.shape[0] for table in self.tables)

    def model(self, i: int) -> tuple[str, NDArray[Any]]:
        """Return what errors call a model, and its predictions."""
        label = f"{self.name}[{i}]" if self.names is None else self.names[i]
        return label, self.tables[0][i] if len(self.tables) == 1 else self.tables[i][0]


class Loss(Protocol):
    """How a loss is decomposed, beside given labels: targets of squared loss, or classes.

    A loss keeps a state of each sample, whose size does not depend on the number of models: moments of the numbers, or
    votes for the classes. Models are added to it, states of different models are merged, and only at the end are the
    parts of the loss of each sample computed from it.

    Attributes
    ----------
    name : str
        Which loss.
    decomposition : str or None
        Whose parts, where there are several.
    kind : type of Decomposition
        The result.
    true, observed : ndarray of shape (n_samples,)
        Labels; None for observed ones that are the true ones, or differ from model to model.
    labels : ndarray of shape (n_classes,) or None
        The classes.
    blocks : list of slice
        Samples to look at together: threads share the blocks.
    main_dtype : dtype
        Of the main prediction.
    """

    name: str
    decomposition: str | None
    kind: type[Decomposition[Any]]
    true: NDArray[Any]
    observed: NDArray[Any] | None
    labels: NDArray[Any] | None
    blocks: list[slice]
    main_dtype: np.dtype[Any]

    @property
    def n_samples(self) -> int:
        """How many there are."""
        return self.true.size

    def set_observed(self, y_observed: Any) -> None:
        """Check and keep observed labels that are the same for all models."""

    def as_tables(self, name: str, values: Any, *, one: bool = False) -> ModelTables:
        """Return predicted, or observed, labels of models; with `one`, those of a single model may be 1-D."""

    def empty_state(self, n_samples: int, paired: bool) -> Any:
        """Return a state of no models; `paired` where each is to have observed labels of its own."""

    def workspace(self) -> Any:
        """Allocate what `add` needs beside."""

    def all_valid(self, models: ModelTables, samples: slice) -> bool:
        """Return whether all labels for some samples are as they must be."""

    def raise_invalid(self, models: ModelTables) -> None:
        """Raise for the first label that is not as it must be, which is looked for slowly."""

    def add(
        self, state: Any, n: int, models: ModelTables, observed: ModelTables | None, samples: slice, space: Any
    ) -> bool:
        """Add models, and what was observed with each, to the state of some samples after n models.

        After none, whatever the state holds is forgotten: a workspace serves one block after another. Return False if a
        label may not be as it must be.
        """

    def divisor(self, n: int) -> int:
        """Return what `sample_parts` of n models are to be divided by: until then counts stay whole."""

    def sample_parts(self, state: Any, n: int, samples: slice, predicted: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Write the main prediction of n models; return the parts of the loss of each sample times the divisor."""

    def check_valid(self, models: ModelTables) -> None:
        """Raise if a label is not as it must be."""
        if not all(run(lambda block: self.all_valid(models, block), self.blocks)):
            self.raise_invalid(models)


# Predictions as users pass them ---------------------------------------------------------------------------------------


def as_model_columns(name: str, values: Any) -> dict[str, Any] | None:
    """Return the models of a mapping or frame by what errors call them."""
    columns = named_columns(name, values)
    if columns is not None and not columns:
        raise ValueError(f"{name} is empty: it must have at least one model")
    return None if columns is None else {f"{name}[{key!r}]": each for key, each in columns.items()}


def as_model_table(name: str, values: Any, n_samples: int, one: bool) -> tuple[NDArray[Any], list[str] | None]:
    """Return an array of shape (n_models, n_samples), and what a model that is alone is called."""
    array = as_array(name, values)
    if one and array.ndim == 1:
        if array.size != n_samples:
            raise ValueError(f"{name} has {array.size} rows, but y_true has {n_samples}")
        return array[np.newaxis], [name]
    if array.ndim != 2:
        single = "1-D, or " if one else ""
        raise ValueError(
            f"{name} must be {single}2-D, (models x samples), or a mapping or frame of models; got shape {array.shape}"
        )
    models, samples = array.shape
    if samples != n_samples:
        hint = f"; pass {name}.T" if models == n_samples else ""
        raise ValueError(
            f"{name} must have a row for each model and a column for each sample, but has shape {array.shape} where "
            f"y_true has {n_samples} samples{hint}"
        )
    if not models:
        raise ValueError(f"{name} is empty: it must have at least one model, got shape {array.shape}")
    return array, None


def as_named_alike(name: str, values: Any, like: str, named: Any) -> Any:
    """Return what belongs to models in their order, where both have names, which must be the same."""
    ours, theirs = named_columns(name, values), named_columns(like, named)
    if ours is None or theirs is None:
        return values
    for where, present, other, elsewhere in ((name, ours, like, theirs), (like, theirs, name, ours)):
        alone = [key for key in present if key not in elsewhere]
        if alone:
            raise ValueError(
                f"{name} must have the names of {like}, but {listed(alone)} in {where} "
                f"{'are' if len(alone) > 1 else 'is'} not in {other}"
            )
    return {key: ours[key] for key in theirs}


def check_same_pairs(predictions: ModelTables, observed: ModelTables) -> None:
    """Raise unless there are observed labels for each model."""
    if predictions.n_models != observed.n_models:
        raise ValueError(
            f"{observed.name} must be 1-D, or have a row for each of the {predictions.n_models} models; "
            f"got {observed.n_models}"
        )


# Blocks of predictions ------------------------------------------------------------------------------------------------

PANEL = 64  # models whose distances are added up before they are merged: few, for the digits; many, for the time

COPIED = PANEL << 10  # labels of which a copy stays in cache


def panels(n_models: int) -> Iterator[slice]:
    """Cut the models into slices."""
    for start in range(0, n_models, PANEL):
        yield slice(start, min(start + PANEL, n_models))


def strips(samples: slice, n_models: int) -> Iterator[slice]:
    """Cut samples into slices of which a panel of so many models may be copied."""
    size = COPIED // min(n_models, PANEL)
    for start in range(samples.start, samples.stop, size):
        yield slice(start, min(start + size, samples.stop))


def block_as_double(models: ModelTables, rows: slice, samples: slice) -> NDArray[np.float64]:
    """Return some models' numbers for some samples as float64."""
    dtype = np.dtype(np.float64)
    with np.errstate(over="ignore"):  # a longer float's
        if len(models.tables) == 1:
            return plain_block(models.tables[0][rows, samples], dtype)
        block = np.empty((rows.stop - rows.start, samples.stop - samples.start))
        for row, table in zip(block, models.tables[rows], strict=True):
            row[:] = table[0, samples]
        return block
