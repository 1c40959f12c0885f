"""What a decomposition of the expected loss gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from fastevals.measure.results import Frozen

__all__ = ["BiasVariance", "Decomposition", "DomingosDecomposition", "JamesDecomposition"]


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
        """Give the terms that add up to the expected loss, by name; those of noise only if labels were observed."""
        return self._known(self.TERMS)

    def beside(self) -> dict[str, Any]:
        """Give the other numbers, by name; those of noise only if labels were observed."""
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
