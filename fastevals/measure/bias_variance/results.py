"""Predictions of many models beside what is true, and what a decomposition of their loss gives.

Each gives its terms of the counts of a sample (`VoteCounts`), and what they are to be divided by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_array, named_columns
from fastevals._validation.options import listed
from fastevals.counting.ordering import plain_block
from fastevals.results import Frozen

LARGEST = 1e150  # of numbers that are drawn: squares are no longer finite


class ModelTables(NamedTuple):
    """Predictions of models: one table of shape (n_models, n_samples), or for each a table of one row.

    `names` are what errors call the models, where they are not numbered rows of `name`.
    """

    name: str
    tables: list[NDArray[Any]]
    names: list[str] | None

    @property
    def n_models(self) -> int:
        """How many there are."""
        return sum(table.shape[0] for table in self.tables)

    def model(self, i: int) -> tuple[str, NDArray[Any]]:
        """Return what errors call a model, and its predictions."""
        label = f"{self.name}[{i}]" if self.names is None else self.names[i]
        return label, self.tables[0][i] if len(self.tables) == 1 else self.tables[i][0]


def _columns(name: str, values: Any) -> dict[str, Any] | None:
    """Return the models of a mapping or frame by what errors call them."""
    columns = named_columns(name, values)
    if columns is not None and not columns:
        raise ValueError(f"{name} is empty: it must have at least one model")
    return None if columns is None else {f"{name}[{key!r}]": each for key, each in columns.items()}


def _as_table(name: str, values: Any, n_samples: int, one: bool) -> tuple[NDArray[Any], list[str] | None]:
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
    for where, there, other, elsewhere in ((name, ours, like, theirs), (like, theirs, name, ours)):
        alone = [key for key in there if key not in elsewhere]
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


def is_drawable(values: Any) -> bool:
    """Return whether all numbers are small enough for an axis."""
    return bool((np.abs(values) < LARGEST).all())


def check_drawable(name: str, values: Any) -> None:
    """Raise unless numbers are small enough for an axis."""
    if not is_drawable(values):
        raise ValueError(f"{name} must be below {LARGEST:g} in size to be drawn, got {np.max(np.abs(values)):g}")


PANEL = 64  # models whose distances are added up before they are merged: few, for the digits; many, for the time
COPIED = 1024  # samples of a panel of which a copy stays in cache


def panels(n_models: int) -> Iterator[slice]:
    """Cut the models into slices."""
    for start in range(0, n_models, PANEL):
        yield slice(start, min(start + PANEL, n_models))


def strips(samples: slice) -> Iterator[slice]:
    """Cut samples into slices of which a panel may be copied."""
    for start in range(samples.start, samples.stop, COPIED):
        yield slice(start, min(start + COPIED, samples.stop))


def double(models: ModelTables, rows: slice, samples: slice) -> NDArray[np.float64]:
    """Return some models' numbers for some samples as float64."""
    dtype = np.dtype(np.float64)
    with np.errstate(over="ignore"):  # a longer float's
        if len(models.tables) == 1:
            return plain_block(models.tables[0][rows, samples], dtype)
        block = np.empty((rows.stop - rows.start, samples.stop - samples.start))
        for row, table in zip(block, models.tables[rows], strict=True):
            row[:] = table[0, samples]
        return block


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Decomposition(Frozen):
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

    expected_loss: Any
    main_prediction: NDArray[Any]
    n_models: int
    n_samples: int
    loss: str
    decomposition: str | None
    observed: bool
    per_sample: Any = None

    @classmethod
    def numbers(cls) -> tuple[str, ...]:
        """Name the numbers: the expected loss, the terms that add up to it, others."""
        return ("expected_loss", *cls.TERMS, *cls.BESIDE)

    def parts(self) -> dict[str, Any]:
        """Return the terms that add up to the expected loss, by name; those of noise only if labels were observed."""
        return self._known(self.TERMS)

    def beside(self) -> dict[str, Any]:
        """Return the other numbers, by name; those of noise only if labels were observed."""
        return self._known(self.BESIDE)

    def _known(self, names: tuple[str, ...]) -> dict[str, Any]:
        left_out = () if self.observed else self.OF_NOISE
        return {name: getattr(self, name) for name in names if name not in left_out}

    def __repr__(self) -> str:
        sizes = f"n_models={self.n_models}, n_samples={self.n_samples}"
        if getattr(self.expected_loss, "ndim", 0):
            return f"{type(self).__name__}({', '.join(('expected_loss', *self.parts()))} of each sample, {sizes})"
        values = {"expected_loss": self.expected_loss, **self.parts()}
        return f"{type(self).__name__}({', '.join(f'{name}={value:.4g}' for name, value in values.items())}, {sizes})"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class BiasVariance(Decomposition):
    """``expected_loss = bias_squared + variance + noise + cross_term``: of squared loss, or Kohavi and Wolpert's.

    Attributes
    ----------
    bias_squared : float
        Squared distance of the main prediction (of Kohavi and Wolpert: of the shares of predicted classes) from the
        true labels.
    variance : float
        Of the predictions around it.
    noise : float
        Of the observed labels around the true ones (of Kohavi and Wolpert: around each other).
    cross_term : float
        What is left; it vanishes on average over labels observed independently of the models.
    """

    TERMS: ClassVar[tuple[str, ...]] = ("bias_squared", "variance", "noise", "cross_term")
    OF_NOISE: ClassVar[tuple[str, ...]] = ("noise", "cross_term")
    OF_BIAS: ClassVar[str] = "bias_squared"
    OF_VARIANCE: ClassVar[str] = "variance"

    bias_squared: Any
    variance: Any
    noise: Any
    cross_term: Any


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class DomingosDecomposition(Decomposition):
    """``expected_loss = bias + net_variance + noise_effect``: Domingos' parts of 0-1 loss.

    Attributes
    ----------
    bias : float
        Share of samples whose main prediction is wrong.
    variance : float
        Share of predictions that are not the main one.
    unbiased_variance : float
        The same of the samples whose main prediction is right (0 for the others): variance that costs.
    biased_variance : float
        Share of right predictions of samples whose main prediction is wrong: variance that pays. Of two classes, all
        predictions other than the main one are.
    net_variance : float
        ``unbiased_variance - biased_variance``.
    noise : float
        Share of observed labels that are not the true ones.
    noise_effect : float
        What they add to the expected loss.
    """

    TERMS: ClassVar[tuple[str, ...]] = ("bias", "net_variance", "noise_effect")
    BESIDE: ClassVar[tuple[str, ...]] = ("variance", "unbiased_variance", "biased_variance", "noise")
    OF_NOISE: ClassVar[tuple[str, ...]] = ("noise", "noise_effect")
    OF_BIAS: ClassVar[str] = "bias"
    OF_VARIANCE: ClassVar[str] = "net_variance"

    bias: Any
    variance: Any
    unbiased_variance: Any
    biased_variance: Any
    net_variance: Any
    noise: Any
    noise_effect: Any


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class JamesDecomposition(Decomposition):
    """``expected_loss = noise + systematic_effect + variance_effect``: James' parts of 0-1 loss.

    Attributes
    ----------
    bias : float
        Share of samples whose main prediction is wrong.
    variance : float
        Share of predictions that are not the main one.
    noise : float
        Share of observed labels that are not the true ones: the loss of predicting those.
    systematic_effect : float
        What is added by always giving the main prediction instead: what bias costs.
    variance_effect : float
        What is added by the predictions' varying around it; it may be negative.
    """

    TERMS: ClassVar[tuple[str, ...]] = ("noise", "systematic_effect", "variance_effect")
    BESIDE: ClassVar[tuple[str, ...]] = ("bias", "variance")
    OF_NOISE: ClassVar[tuple[str, ...]] = ("noise",)
    OF_BIAS: ClassVar[str] = "systematic_effect"
    OF_VARIANCE: ClassVar[str] = "variance_effect"

    bias: Any
    variance: Any
    noise: Any
    systematic_effect: Any
    variance_effect: Any


Ints = NDArray[np.int64]
Terms = dict[str, Ints]


class VoteCounts(NamedTuple):
    """Of each sample, how many of the models predict, or have observed, what.

    Attributes
    ----------
    n : int
        Models.
    right : ndarray of bool
        Whether the main prediction is the true class.
    of_main, of_true : ndarray
        Predictions of the main and of the true class.
    matches : ndarray
        Predictions of the class observed with the same model.
    observed_main, observed_true : ndarray
        Observations of the main and of the true class.
    squared, observed_squared, product : ndarray
        Sums over classes: squared predictions, squared observations, the one times the other.
    """

    n: int
    right: NDArray[np.bool_]
    of_main: Ints
    of_true: Ints
    matches: Ints
    observed_main: Ints
    observed_true: Ints
    squared: Ints
    observed_squared: Ints
    product: Ints


class ZeroOneDecomposition(NamedTuple):
    """Its result, its terms, and which power of the number of models they are to be divided by, how often."""

    kind: type[Decomposition]
    terms: Callable[[VoteCounts], Terms]
    power: int
    times: int


def _domingos(t: VoteCounts) -> Terms:
    bias = np.where(t.right, 0, t.n)
    variance, lost = t.n - t.of_main, t.n - t.matches
    unbiased, biased = np.where(t.right, variance, 0), np.where(t.right, 0, t.of_true)
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


def _kohavi_wolpert(t: VoteCounts) -> Terms:
    square = t.n * t.n
    return {
        "expected_loss": 2 * t.n * (t.n - t.matches),
        "bias_squared": t.squared - 2 * t.product + t.observed_squared,
        "variance": square - t.squared,
        "noise": square - t.observed_squared,
        "cross_term": 2 * (t.product - t.n * t.matches),
    }


def _james(t: VoteCounts) -> Terms:
    return {
        "expected_loss": t.n - t.matches,
        "bias": np.where(t.right, 0, t.n),
        "variance": t.n - t.of_main,
        "noise": t.n - t.observed_true,
        "systematic_effect": t.observed_true - t.observed_main,
        "variance_effect": t.observed_main - t.matches,
    }


DECOMPOSITIONS = {
    "domingos": ZeroOneDecomposition(DomingosDecomposition, _domingos, 1, 1),
    "kohavi-wolpert": ZeroOneDecomposition(BiasVariance, _kohavi_wolpert, 2, 2),
    "james": ZeroOneDecomposition(JamesDecomposition, _james, 1, 1),
}
