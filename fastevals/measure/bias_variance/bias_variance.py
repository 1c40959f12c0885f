"""Bias and variance of models of one learner, from all predictions in one call or a few models at a time.

Predictions are added up per sample in a state whose size does not depend on the number of models: for squared loss the
mean and the squared deviations from it, for 0-1 loss the number of models that vote for each class. States of different
models can be merged. `BiasVarianceSummary` keeps the state of all samples, but no predictions, so that models can come
in any order and from several processes. `bias_variance` has all predictions, so it takes one block of samples after
another: it adds all models to the block's state, which stays in cache, and then keeps only the parts of the loss.

In both cases the parts of the loss are then computed for each sample. The parts are summed over samples in fixed
blocks, in order, so the result is the same to the bit with any number of threads.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from typing import Any, Literal, NamedTuple, Self, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._choices import DecompositionName, LossName
from fastevals._execution import run
from fastevals._kernels.bias_variance import add_up
from fastevals._kernels.compensated import accumulate
from fastevals._options import as_flag, check_choice, show
from fastevals._validation.arrays import as_array, as_weights, check_same_length, in_usual_unit, named_columns
from fastevals._validation.curves import check_kind
from fastevals.measure.bias_variance.decomposition import (
    Decomposition,
    Loss,
    ModelTables,
    as_named_alike,
    check_same_pairs,
)
from fastevals.measure.bias_variance.squared import BiasVariance, SquaredLoss
from fastevals.measure.bias_variance.zero_one import DomingosDecomposition, JamesDecomposition, ZeroOneLoss

Floats = NDArray[np.float64]


class Given(TypedDict, total=False):
    """Optional arguments besides true labels and predictions."""

    y_observed: Any
    sample_weight: ArrayLike | None
    labels: ArrayLike | None
    per_sample: bool


@overload
def bias_variance(
    y_true: ArrayLike, predictions: Any, *, loss: Literal["squared"] = ..., **given: Unpack[Given]
) -> BiasVariance: ...
@overload
def bias_variance(
    y_true: ArrayLike, predictions: Any, *, loss: Literal["zero_one"], decomposition: Literal["domingos"] = ...,
    **given: Unpack[Given],
) -> DomingosDecomposition: ...  # fmt: skip
@overload
def bias_variance(
    y_true: ArrayLike, predictions: Any, *, loss: Literal["zero_one"], decomposition: Literal["kohavi-wolpert"],
    **given: Unpack[Given],
) -> BiasVariance: ...  # fmt: skip
@overload
def bias_variance(
    y_true: ArrayLike, predictions: Any, *, loss: Literal["zero_one"], decomposition: Literal["james"],
    **given: Unpack[Given],
) -> JamesDecomposition: ...  # fmt: skip
def bias_variance(
    y_true: ArrayLike,
    predictions: Any,
    *,
    y_observed: Any = None,
    loss: LossName = "squared",
    decomposition: DecompositionName = "domingos",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    per_sample: bool = False,
) -> Decomposition:
    """Decompose the expected loss of models that learned from different training sets.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True targets of the test samples; for 0-1 loss, classes given as numbers, booleans or strings.
    predictions : array-like of shape (n_models, n_samples), mapping of name to array-like, or frame
        Each model's predictions for these samples: one row, entry or column per model. A memory-mapped array may be
        larger than memory.
    y_observed : array-like of shape (n_samples,) or (n_models, n_samples), mapping or frame, optional
        Noisy targets: one per sample, or the targets observed with each model's training set (matched by name if the
        models have names). The loss is then measured against these targets.
    loss : {"squared", "zero_one"}
        Loss for numbers or for classes.
    decomposition : {"domingos", "kohavi-wolpert", "james"}
        Which decomposition of 0-1 loss to compute.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples in averages, at least 0.
    labels : array-like of shape (n_classes,), optional
        All classes, for 0-1 loss; by default those in `y_true`.
    per_sample : bool, default=False
        Also keep the parts of each sample.

    Returns
    -------
    BiasVariance, DomingosDecomposition or JamesDecomposition
        `BiasVariance` for squared loss and for Kohavi and Wolpert's decomposition. The numbers are averages over
        samples; `parts` returns those that add up to the expected loss.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names the argument, the rule and the value.

    Notes
    -----
    **Squared loss.** The main prediction is the mean over models (2.37), ``bias_squared`` is its squared distance from
    the target (2.40), and ``variance`` is the mean squared distance of predictions from the main prediction (2.38,
    divided by `n_models`). Without `y_observed` the expected loss is the sum of these two terms. With `y_observed`,
    ``noise`` is the mean of ``(y_observed - y_true)**2`` (2.39), and ``cross_term``, which (2.41) assumes to be zero,
    is the mean of ``2 * (prediction - y_true) * (y_true - y_observed)``. The expected loss, the mean of ``(prediction -
    y_observed)**2``, is then the sum of all four terms. Sums are accurate to 1e-12, even if targets are far from zero.
    Numbers are read as float64. If squares overflow, parts are infinite; if sums overflow, parts may be infinite or
    NaN.

    **0-1 loss** is not bias plus variance, because models that differ from a wrong main prediction may be right. The
    main prediction is the most frequent class, or the first of several equally frequent classes. With n models, of
    which c_k predict class k for a sample, every part is an integer divided by n or 2 n**2, computed exactly:

    - *domingos*: ``expected_loss = bias + net_variance + noise_effect``. Bias is 1 if the main prediction is wrong. The
      net variance depends on the main prediction: if that is right, each prediction that differs from it adds 1 / n; if
      it is wrong, each prediction of the true class subtracts 1 / n (with two classes, these are all predictions that
      differ from the main one). With two classes and one observed label per sample, ``noise_effect`` is ``(2 *
      P(prediction == y_true) - 1) * noise``.
    - *kohavi-wolpert*: ``expected_loss = bias_squared + variance + noise + cross_term``. Let P(k) be the share of
      predictions of class k, and P(y_k) the share of observed labels of class k. ``bias_squared`` is half the sum over
      classes of ``(P(y_k) - P(k))**2``; variance is ``(1 - sum of P(k)**2) / 2``, and noise is ``(1 - sum of P(y_k)**2)
      / 2``. Only observed labels count, so with one observed label per sample there is no noise. `cross_term` is the
      covariance of labels and predictions, which the authors assume to be independent.
    - *james*: ``expected_loss = noise + systematic_effect + variance_effect``: the loss of predicting the true label,
      the additional loss of the main prediction, and the additional loss of the predictions.

    Besides its input this takes 8 bytes per sample for the main prediction (for 0-1 loss, the size of a label) and a
    few MB per thread, for any number of models; `per_sample` adds 8 bytes per sample for each number of the result.
    Results are the same to the bit with any number of threads. C-contiguous float32 or float64 arrays, or 8-bit
    classes, are read directly; other arrays are converted block by block.

    References
    ----------
    .. [1] Geman, S., Bienenstock, E. and Doursat, R. (1992), "Neural Networks and the Bias/Variance Dilemma", Neural
       Computation 4, 1-58, doi:10.1162/neco.1992.4.1.1.
    .. [2] Domingos, P. (2000), "A Unified Bias-Variance Decomposition and its Applications", ICML, 231-238.
    .. [3] Kohavi, R. and Wolpert, D. H. (1996), "Bias Plus Variance Decomposition for Zero-One Loss Functions", ICML,
       275-283.
    .. [4] James, G. M. (2003), "Variance and Bias for General Loss Functions", Machine Learning 51, 115-135,
       doi:10.1023/A:1022899518027.

    Examples
    --------
    >>> from fastevals import bias_variance
    >>> bias_variance([1.0, 2.0], [[1.0, 4.0], [3.0, 2.0]])
    BiasVariance(expected_loss=2, bias_squared=1, variance=1, n_models=2, n_samples=2)
    >>> bias_variance(["a", "b"], [["a", "a"], ["a", "b"], ["b", "a"]], loss="zero_one")
    DomingosDecomposition(expected_loss=0.5, bias=0.5, net_variance=0, n_models=3, n_samples=2)
    """
    problem, each_observed = parse_problem(y_true, y_observed, loss, decomposition, sample_weight, labels)
    per_sample = as_flag("per_sample", per_sample)
    models = problem.loss.as_tables("predictions", predictions)
    observed = None
    if each_observed is not None:
        each_observed = as_named_alike("y_observed", each_observed, "predictions", predictions)
        observed = problem.loss.as_tables("y_observed", each_observed)
        check_same_pairs(models, observed)
    return decompose(problem, models, observed, per_sample)


class BiasVarianceSummary:
    """Bias and variance of models that come a few at a time; keeps what `bias_variance` needs, not the predictions.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True targets, or classes.
    y_observed : array-like of shape (n_samples,), optional
        Observed targets, if they are the same for all models; otherwise pass each model's targets to `update`.
    loss, decomposition, sample_weight, labels
        As in `bias_variance`.

    Attributes
    ----------
    n_samples : int
        Number of samples.
    n_models : int
        Number of models so far.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Notes
    -----
    Besides the targets, squared loss takes 24 bytes per sample (a mean in double-double precision and the squared
    deviations from it), or 48 if models have observed targets of their own. 0-1 loss takes 4 bytes per sample and
    class; if models have observed labels of their own, it takes 8 bytes per sample and class, plus 4 bytes per sample.
    Whatever the order of the models, results equal those of `bias_variance`: exactly for 0-1 loss, to 1e-12 for squared
    loss.

    Examples
    --------
    >>> from fastevals import BiasVarianceSummary
    >>> summary = BiasVarianceSummary([1.0, 2.0])
    >>> for predictions in [[1.0, 4.0], [3.0, 2.0]]:
    ...     _ = summary.update(predictions)
    >>> summary.result()
    BiasVariance(expected_loss=2, bias_squared=1, variance=1, n_models=2, n_samples=2)
    """

    def __init__(
        self,
        y_true: ArrayLike,
        *,
        y_observed: ArrayLike | None = None,
        loss: LossName = "squared",
        decomposition: DecompositionName = "domingos",
        sample_weight: ArrayLike | None = None,
        labels: ArrayLike | None = None,
    ) -> None:
        problem, each_observed = parse_problem(y_true, y_observed, loss, decomposition, sample_weight, labels)
        _check_one_row("y_observed", each_observed)
        truth = problem.loss
        truth.true = truth.true.copy()  # later changes by the user have no effect
        truth.observed = None if truth.observed is None else truth.observed.copy()
        self._problem = problem._replace(weights=None if problem.weights is None else problem.weights.copy())
        self._state: Any = None
        self._complete = True  # False while models are added, as Ctrl-C may come between two blocks of samples
        self.n_samples: int = truth.n_samples
        self.n_models = 0

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # sums are changed in place

    def __repr__(self) -> str:
        return f"BiasVarianceSummary(n_models={self.n_models}, n_samples={self.n_samples})"

    def update(self, predictions: Any, *, y_observed: Any = None) -> Self:
        """Add models.

        Parameters
        ----------
        predictions : array-like of shape (n_samples,) or (n_models, n_samples), mapping of name to array-like, or frame
            Predictions of one or several models.
        y_observed : same as `predictions`, optional
            Targets observed with each model's training set; give them for all models or for none.

        Returns
        -------
        BiasVarianceSummary
            The summary itself.

        Raises
        ------
        ValueError
            If the predictions are not valid for `bias_variance` (nothing is added then), or if an earlier update
            was interrupted, for example by Ctrl-C, so that samples have different numbers of models.
        """
        _check_complete("this summary", self._complete)
        loss = self._problem.loss
        models, observed = loss.as_tables("predictions", predictions, one=True), None
        _check_observed_alike(y_observed is not None, self._paired(), loss.observed is not None)
        if y_observed is not None:
            y_observed = as_named_alike("y_observed", y_observed, "predictions", predictions)
            observed = loss.as_tables("y_observed", y_observed, one=True)
            check_same_pairs(models, observed)
        for tables in (models,) if observed is None else (models, observed):
            loss.check_valid(tables)  # check all before adding any
        if self._state is None:
            self._state = loss.empty_state(loss.n_samples, observed is not None)

        def add(samples: slice, space: Any) -> None:
            loss.add(self._state.view(samples), self.n_models, models, observed, samples, space)

        self._complete = False
        run(add, loss.blocks, workspace=loss.workspace, compiles=compile_key(self._problem, models))
        self.n_models += models.n_models
        self._complete = True
        return self

    def merge(self, other: BiasVarianceSummary) -> Self:
        """Add the models of another summary of the same samples; the other summary does not change.

        Parameters
        ----------
        other : BiasVarianceSummary
            A summary made with the same arguments.

        Returns
        -------
        BiasVarianceSummary
            The summary itself.

        Raises
        ------
        ValueError
            If the two summaries have different targets, weights or options, or if an update of either was interrupted.
        """
        check_kind("other", other, BiasVarianceSummary)
        _check_complete("this summary", self._complete)
        _check_complete("other", other._complete)
        mine, its = self._problem, other._problem
        for what, ours, theirs in (
            ("loss", mine.loss.name, its.loss.name),
            ("decomposition", mine.loss.decomposition, its.loss.decomposition),
            ("y_true", mine.loss.true, its.loss.true),
            ("y_observed", mine.loss.observed, its.loss.observed),
            ("labels", mine.loss.labels, its.loss.labels),
            ("sample_weight", mine.weights, its.weights),
        ):
            _check_same(what, ours, theirs)
        if not other.n_models:
            return self
        if not self.n_models:
            self._state = mine.loss.empty_state(self.n_samples, bool(other._paired()))
        _check_observed_alike(bool(other._paired()), self._paired(), False)
        self._complete = False
        run(
            lambda block: self._state.view(block).merge(self.n_models, other._state.view(block), other.n_models),
            mine.loss.blocks,
        )
        self.n_models += other.n_models
        self._complete = True
        return self

    def result(self, *, per_sample: bool = False) -> Decomposition:
        """Decompose the expected loss of the models so far.

        Parameters
        ----------
        per_sample : bool, default=False
            Also keep the parts of each sample.

        Returns
        -------
        BiasVariance, DomingosDecomposition or JamesDecomposition
            The result, as from `bias_variance`.

        Raises
        ------
        ValueError
            If there are no models, or an update was interrupted.
        """
        per_sample = as_flag("per_sample", per_sample)
        _check_complete("this summary", self._complete)
        _check_some_models(self.n_models)
        problem = self._problem._replace(paired=bool(self._paired()))
        sums = SampleSums(problem, self.n_models, per_sample)
        return sums.result(run(lambda block: sums.sum_block(self._state.view(block), block), problem.loss.blocks))

    def _paired(self) -> bool | None:
        """Return whether models have their own observed labels; None before the first model."""
        return None if self._state is None else self._state.paired


# One pass over samples ------------------------------------------------------------------------------------------------


def decompose(problem: Problem, models: ModelTables, observed: ModelTables | None, per_sample: bool) -> Decomposition:
    """Decompose the loss of models, given the labels observed with each model if they are known."""
    loss = problem.loss
    sums = SampleSums(problem._replace(paired=observed is not None), models.n_models, per_sample)
    largest = loss.blocks[0].stop

    def read(samples: slice, space: tuple[Any, Any]) -> tuple[bool, list[Any]]:
        state = space[0].view(slice(0, samples.stop - samples.start))
        valid = loss.add(state, 0, models, observed, samples, space[1])
        return valid, sums.sum_block(state, samples)

    valid, block_sums = zip(
        *run(
            read,
            loss.blocks,
            workspace=lambda: (loss.empty_state(largest, observed is not None), loss.workspace()),
            compiles=compile_key(problem, models),
        ),
        strict=True,
    )
    if not all(valid):
        for tables in (models,) if observed is None else (models, observed):
            loss.raise_invalid(tables)
    return sums.result(list(block_sums))


class Problem(NamedTuple):
    """A loss with true labels, the samples' weights, and whether each model has its own observed labels."""

    loss: Loss
    weights: Floats | None
    paired: bool

    @property
    def observed(self) -> bool:
        """Return whether there are observed labels."""
        return self.paired or self.loss.observed is not None


def parse_problem(
    y_true: Any, y_observed: Any, loss: Any, decomposition: Any, sample_weight: Any, labels: Any
) -> tuple[Problem, Any]:
    """Return the problem to decompose, and the models' own observed labels, if any, which are not read yet."""
    check_choice("loss", loss, LossName)
    check_choice("decomposition", decomposition, DecompositionName)
    if loss == "squared":
        _check_only_zero_one(decomposition, labels)
        truth: Loss = SquaredLoss(y_true)
    else:
        truth = ZeroOneLoss(y_true, decomposition, labels)
    weights = None
    if sample_weight is not None:
        weights = as_weights("sample_weight", sample_weight)
        check_same_length(y_true=truth.true, sample_weight=weights)
    if y_observed is not None and _is_one_row(y_observed):
        truth.set_observed(y_observed)
        y_observed = None
    return Problem(truth, weights, y_observed is not None), y_observed


def compile_key(problem: Problem, models: ModelTables) -> Hashable:
    """Return a key for the kernels that are called, and for their types."""
    dtypes = frozenset(table.dtype for table in models.tables)
    return add_up, problem.loss.name, problem.paired, problem.weights is None, dtypes


class SampleSums:
    """Parts of the loss summed over samples; also kept per sample if requested.

    Parameters
    ----------
    problem : Problem
    n_models : int
    per_sample : bool
        Whether to keep the parts of each sample.
    """

    def __init__(self, problem: Problem, n_models: int, per_sample: bool) -> None:
        self._problem, self._n_models = problem, n_models
        self._weights = problem.weights
        if self._weights is not None:
            self._weights = in_usual_unit(self._weights)  # so that products do not overflow
        kind, n = problem.loss.kind, problem.loss.n_samples
        self._absent = () if problem.observed else kind.OF_NOISE  # not computed; 0 in the result
        self._names = [name for name in kind.numbers() if name not in self._absent]
        self._main = np.empty(n, dtype=problem.loss.main_dtype)
        self._kept: dict[str, Any] | None = {name: np.empty(n) for name in self._names} if per_sample else None

    def sum_block(self, state: Any, samples: slice) -> list[Any]:
        """Return the sums over some samples, given their state.

        Counts of models are summed exactly as integers, floats as pairs of a sum and its rounding error.
        """
        loss = self._problem.loss
        parts = loss.sample_parts(state, self._n_models, samples, self._main[samples])
        if self._kept is not None:
            for name, kept in self._kept.items():
                np.divide(parts[name], loss.divisor(self._n_models), out=kept[samples])
        return [self._sum(parts[name], samples) for name in self._names]

    def _sum(self, values: NDArray[Any], samples: slice) -> int | Floats:
        """Return the sum over samples: an integer, or a float and its rounding error."""
        if self._weights is None and values.dtype.kind == "i":
            return int(values.sum())
        pair = np.zeros(2)
        weights = None if self._weights is None else self._weights[samples]
        add_up(values.astype(np.float64, copy=False), weights, pair)
        return pair

    def result(self, sums: list[list[Any]]) -> Decomposition:
        """Return the decomposition from the sums over each block."""
        loss = self._problem.loss
        shared: dict[str, Any] = {
            "main_prediction": self._main,
            "n_models": self._n_models,
            "n_samples": loss.n_samples,
            "loss": loss.name,
            "decomposition": loss.decomposition,
            "observed": self._problem.observed,
        }
        each = None
        if self._kept is not None:
            zeros: dict[str, Any] = dict.fromkeys(self._absent, np.broadcast_to(0.0, loss.n_samples))
            each = loss.kind(**shared, **self._kept, **zeros)
        size = loss.divisor(self._n_models) * self._weight()
        shared |= dict.fromkeys(self._absent, 0.0)
        shared |= {name: _total(parts) / size for name, *parts in zip(self._names, *sums, strict=True)}
        return loss.kind(**shared, per_sample=each)

    def _weight(self) -> int | float:
        """Return the number of samples or their total weight."""
        if self._weights is None:
            return self._problem.loss.n_samples
        pair = np.zeros(2)
        add_up(self._weights, None, pair)
        return float(pair[0])


def _total(parts: Sequence[Any]) -> int | float:
    """Add up integers, or pairs of a float and its rounding error, in order."""
    if isinstance(parts[0], int):
        return int(sum(parts))
    pair = np.zeros(2)
    for high, low in parts:
        accumulate(pair, high)
        accumulate(pair, low)
    return float(pair[0])


# Checks ---------------------------------------------------------------------------------------------------------------


def _is_one_row(values: Any) -> bool:
    """Return whether values are neither 2-D nor a mapping or frame."""
    return named_columns("y_observed", values) is None and as_array("y_observed", values).ndim != 2


def _check_only_zero_one(decomposition: DecompositionName, labels: Any) -> None:
    """Raise if an option of 0-1 loss is given for squared loss."""
    for name, given in (("decomposition", decomposition != "domingos"), ("labels", labels is not None)):
        if given:
            raise ValueError(f"{name}= requires loss='zero_one', got loss='squared'")


def _check_one_row(name: str, values: Any) -> None:
    """Raise if each model has its own labels where they must be the same for all."""
    if values is not None:
        raise ValueError(
            f"{name} must be 1-D: observed values that all models share. If each model has its own, pass them with its "
            f"predictions: update(predictions, {name}=...)"
        )


def _check_observed_alike(given: bool, before: bool | None, same_for_all: bool) -> None:
    """Raise unless observed labels are given for all models or for none."""
    if given and same_for_all:
        raise ValueError("y_observed was given already when the summary was made, for all models")
    if before is not None and given != before:
        had, have = ("have it", "do not") if before else ("do not have it", "do")
        raise ValueError(f"y_observed must be given for all models or none: earlier models {had}, new ones {have}")


def _check_some_models(n_models: int) -> None:
    """Raise if there are no models yet."""
    if not n_models:
        raise ValueError("there are no models yet, and so no loss to decompose: call update first")


def _check_complete(name: str, sound: bool) -> None:
    """Raise if a summary has added models to only some of its samples."""
    if not sound:
        raise ValueError(f"{name} was interrupted during an update: make a new one")


def _check_same(what: str, ours: Any, theirs: Any) -> None:
    """Raise unless two summaries have the same value of an argument."""
    if not np.array_equal(ours, theirs):
        shown = f", got {show(ours)} and {show(theirs)}" if isinstance(ours, str) else ""
        raise ValueError(f"summaries must have the same {what} to be merged{shown}")
