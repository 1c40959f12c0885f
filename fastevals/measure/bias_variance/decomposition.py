"""What the decompositions share: the result, the layout of predictions, and the interface of a loss.

The expected loss of models that differ only in their training sets is split into terms: the error that they share
(bias), how much they differ (variance), and what no model can predict (noise). `squared` and `zero_one` each define a
`Loss`, which computes the terms, and the `Decomposition`s that it returns; `bias_variance` runs them.
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
    """The expected loss of models that differ only in their training sets, and its parts.

    Attributes
    ----------
    expected_loss : float
        Mean loss over models and samples.
    main_prediction : ndarray of shape (n_samples,)
        The models' combined prediction.
    n_models, n_samples : int
        Number of models and samples.
    loss : {"squared", "zero_one"}
        The loss that is decomposed.
    decomposition : str or None
        The name of the decomposition of 0-1 loss.
    observed : bool
        Whether observed labels were given; without them noise is unknown and its parts are 0.
    per_sample : Decomposition or None
        The decomposition for each sample: its numbers are arrays of shape (n_samples,).
    """

    TERMS: ClassVar[tuple[str, ...]] = ()  # numbers that add up to the expected loss
    BESIDE: ClassVar[tuple[str, ...]] = ()  # other numbers
    OF_NOISE: ClassVar[tuple[str, ...]] = ()  # numbers that are 0 without observed labels
    OF_BIAS: ClassVar[str] = ""  # the term for bias or its cost
    OF_VARIANCE: ClassVar[str] = ""  # the term for variance or its cost

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
        """Return the names of the numbers: the expected loss, the terms that add up to it, and others."""
        return ("expected_loss", *cls.TERMS, *cls.BESIDE)

    def parts(self) -> dict[str, V]:
        """Return the terms that add up to the expected loss, by name; noise only if labels were observed."""
        return self._known(self.TERMS)

    def beside(self) -> dict[str, V]:
        """Return the other numbers, by name; noise only if labels were observed."""
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
        """Return one row, or one per sample."""
        numbers = {"expected_loss": self.expected_loss, **self.parts(), **self.beside()}
        if getattr(self.expected_loss, "ndim", 0):
            return make_columns({"main_prediction": self.main_prediction, **numbers})
        return make_columns({**numbers, "n_models": self.n_models, "n_samples": self.n_samples})


class ModelTables(NamedTuple):
    """Predictions of models: one table of shape (n_models, n_samples), or one table of a single row per model.

    Arrays, memory maps included, and columns of mappings and frames are not copied: their blocks are read in place, and
    only blocks of other dtypes are converted.
    """

    name: str  # name of the argument
    tables: list[NDArray[Any]]
    names: list[str] | None  # the models' names in errors, unless they are numbered rows of `name`

    @property
    def n_models(self) -> int:
        """Number of models."""
        return sum(table.shape[0] for table in self.tables)

    def model(self, i: int) -> tuple[str, NDArray[Any]]:
        """Return a model's name in errors, and its predictions."""
        label = f"{self.name}[{i}]" if self.names is None else self.names[i]
        return label, self.tables[0][i] if len(self.tables) == 1 else self.tables[i][0]


class Loss(Protocol):
    """Decomposes a loss, given labels: targets for squared loss, classes for 0-1 loss.

    A loss keeps a state for each sample whose size does not depend on the number of models: moments of the numbers, or
    votes for the classes. Models are added to a state, states of different models are merged, and the parts of each
    sample's loss are computed from the state at the end.

    Attributes
    ----------
    name : str
        Name of the loss.
    decomposition : str or None
        Name of the decomposition, if there are several.
    kind : type of Decomposition
        Class of the result.
    true, observed : ndarray of shape (n_samples,)
        Labels; `observed` is None if it equals `true` or differs between models.
    labels : ndarray of shape (n_classes,) or None
        The classes.
    blocks : list of slice
        Samples processed in one block; threads share the blocks.
    main_dtype : dtype
        Dtype of the main prediction.
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
        """Number of samples."""
        return self.true.size

    def set_observed(self, y_observed: Any) -> None:
        """Check and keep observed labels that are the same for all models."""

    def as_tables(self, name: str, values: Any, *, one: bool = False) -> ModelTables:
        """Return the models' predicted or observed labels; if `one`, a single model's labels may be 1-D."""

    def empty_state(self, n_samples: int, paired: bool) -> Any:
        """Return the state before any model is added; `paired` says whether each model has its own observed labels."""

    def workspace(self) -> Any:
        """Allocate the working memory of `add`."""

    def all_valid(self, models: ModelTables, samples: slice) -> bool:
        """Return whether all labels of some samples are valid."""

    def raise_invalid(self, models: ModelTables) -> None:
        """Raise for the first invalid label, found by a slow search."""

    def add(
        self, state: Any, n: int, models: ModelTables, observed: ModelTables | None, samples: slice, space: Any
    ) -> bool:
        """Add models, and the labels observed with each, to the state of some samples, which already has n models.

        With n = 0 the state's content is ignored, so that a workspace can serve one block after another. Return False
        if a label may be invalid.
        """

    def divisor(self, n: int) -> int:
        """Return the number by which to divide `sample_parts` for n models; the parts are integers until then."""

    def sample_parts(self, state: Any, n: int, samples: slice, predicted: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Write the main prediction of n models; return each sample's parts of the loss times the divisor."""

    def check_valid(self, models: ModelTables) -> None:
        """Raise if a label is invalid."""
        if not all(run(lambda block: self.all_valid(models, block), self.blocks)):
            self.raise_invalid(models)


# Predictions as users pass them ---------------------------------------------------------------------------------------


def as_model_columns(name: str, values: Any) -> dict[str, Any] | None:
    """Return the models of a mapping or frame; keys are the models' names in error messages. None for an array."""
    columns = named_columns(name, values)
    if columns is not None and not columns:
        raise ValueError(f"{name} is empty: it must have at least one model")
    return None if columns is None else {f"{name}[{key!r}]": each for key, each in columns.items()}


def as_model_table(name: str, values: Any, n_samples: int, one: bool) -> tuple[NDArray[Any], list[str] | None]:
    """Return an array of shape (n_models, n_samples), and the name of a single model."""
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
    """Return values in the order of the models if values and models both have names; the names must be the same."""
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
    """Raise unless each model has observed labels."""
    if predictions.n_models != observed.n_models:
        raise ValueError(
            f"{observed.name} must be 1-D, or have a row for each of the {predictions.n_models} models; "
            f"got {observed.n_models}"
        )


# Blocks of predictions ------------------------------------------------------------------------------------------------

PANEL = 64  # models whose distances are summed before merging: few for precision, many for speed

COPIED = PANEL << 10  # labels whose copy stays in cache


def panels(n_models: int) -> Iterator[slice]:
    """Cut the models into slices."""
    for start in range(0, n_models, PANEL):
        yield slice(start, min(start + PANEL, n_models))


def strips(samples: slice, n_models: int) -> Iterator[slice]:
    """Cut samples into slices so short that a copy of one panel of the models stays in cache."""
    size = COPIED // min(n_models, PANEL)
    for start in range(samples.start, samples.stop, size):
        yield slice(start, min(start + size, samples.stop))


def block_as_double(models: ModelTables, rows: slice, samples: slice) -> NDArray[np.float64]:
    """Return some models' numbers for some samples as float64."""
    dtype = np.dtype(np.float64)
    with np.errstate(over="ignore"):  # longer floats may overflow
        if len(models.tables) == 1:
            return plain_block(models.tables[0][rows, samples], dtype)
        block = np.empty((rows.stop - rows.start, samples.stop - samples.start))
        for row, table in zip(block, models.tables[rows], strict=True):
            row[:] = table[0, samples]
        return block
