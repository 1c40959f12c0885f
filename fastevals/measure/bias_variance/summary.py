"""The streaming form: some models' predictions at a time."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from fastevals._execution import run
from fastevals._validation.curves import check_kind
from fastevals._validation.options import as_flag, show
from fastevals.measure.bias_variance.calls import compile_key, parse_problem
from fastevals.measure.bias_variance.results import Decomposition, as_named_alike, check_same_pairs
from fastevals.measure.bias_variance.totals import SumsOverModels


class BiasVarianceSummary:
    """What `bias_variance` needs of the predictions so far: models come a few at a time and are forgotten.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True targets, or classes.
    y_observed : array-like of shape (n_samples,), optional
        Observed ones, the same for all models; others go to `update`.
    loss, decomposition, sample_weight, labels
        As of `bias_variance`.

    Attributes
    ----------
    n_samples : int
        How many samples there are.
    n_models : int
        How many models there were so far.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Notes
    -----
    Memory beside the targets: of squared loss 24 bytes a sample (a mean of twice the digits and squared deviations
    from it), 48 where models have observed targets of their own; of 0-1 loss 4 bytes a sample and class, or 8 and
    another 4 a sample. In whatever order and portions models come, 0-1 loss gives the same numbers as `bias_variance`,
    and squared loss the same to 1e-12.

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
        loss: str = "squared",
        decomposition: str = "domingos",
        sample_weight: ArrayLike | None = None,
        labels: ArrayLike | None = None,
    ) -> None:
        problem, own = parse_problem(y_true, y_observed, loss, decomposition, sample_weight, labels)
        _check_one_row("y_observed", own)
        of = problem.loss
        of.true = of.true.copy()  # what the user changes later changes nothing
        of.observed = None if of.observed is None else of.observed.copy()
        self._problem = problem._replace(weights=None if problem.weights is None else problem.weights.copy())
        self._state: Any = None
        self._sound = True  # not so while models are added: Ctrl-C may come between two parts of the samples
        self.n_samples: int = of.n_samples
        self.n_models = 0

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # what is added up is changed in place

    def __repr__(self) -> str:
        return f"BiasVarianceSummary(n_models={self.n_models}, n_samples={self.n_samples})"

    def update(self, predictions: Any, *, y_observed: Any = None) -> Self:
        """Add models.

        Parameters
        ----------
        predictions : array-like of shape (n_samples,) or (n_models, n_samples), mapping of name to array-like, or frame
            Of one model, or of several.
        y_observed : the same, optional
            What was observed with the training set of each; for all models or none.

        Returns
        -------
        BiasVarianceSummary
            This one.

        Raises
        ------
        ValueError
            If the predictions are not as `bias_variance` takes them; nothing is added then. If an update was
            interrupted before, by Ctrl-C say, which left some samples with more models than others.
        """
        _check_sound("this summary", self._sound)
        of = self._problem.loss
        models, pairs = of.models("predictions", predictions, one=True), None
        _check_pairs_given(y_observed is not None, self._paired(), of.observed is not None)
        if y_observed is not None:
            own = as_named_alike("y_observed", y_observed, "predictions", predictions)
            pairs = of.models("y_observed", own, one=True)
            check_same_pairs(models, pairs)
        for each in (models,) if pairs is None else (models, pairs):
            of.verify(each)
        if self._state is None:
            self._state = of.state(of.n_samples, pairs is not None)

        def add(samples: slice, space: Any) -> None:
            of.add(self._state.part(samples), self.n_models, models, pairs, samples, space)

        self._sound = False
        run(add, of.parts, workspace=of.workspace, compiles=compile_key(self._problem, models))
        self.n_models += models.n_models
        self._sound = True
        return self

    def merge(self, other: BiasVarianceSummary) -> Self:
        """Add the models of another summary of the same samples; it stays as it is.

        Parameters
        ----------
        other : BiasVarianceSummary
            Made with the same arguments.

        Returns
        -------
        BiasVarianceSummary
            This one.

        Raises
        ------
        ValueError
            If the two have different targets, weights or options, or one was interrupted.
        """
        check_kind("other", other, BiasVarianceSummary)
        _check_sound("this summary", self._sound)
        _check_sound("other", other._sound)
        mine, its = self._problem, other._problem
        for what, ours, theirs in (
            ("loss", mine.loss.name, its.loss.name),
            ("decomposition", mine.loss.decomposition, its.loss.decomposition),
            ("y_true", mine.loss.true, its.loss.true),
            ("y_observed", mine.loss.observed, its.loss.observed),
            ("labels", mine.loss.labels, its.loss.labels),
            ("sample_weight", mine.weights, its.weights),
        ):
            _check_same_truth(what, ours, theirs)
        if not other.n_models:
            return self
        if not self.n_models:
            self._state = mine.loss.state(self.n_samples, bool(other._paired()))
        _check_pairs_given(bool(other._paired()), self._paired(), False)
        self._sound = False
        run(
            lambda part: self._state.part(part).merge(self.n_models, other._state.part(part), other.n_models),
            mine.loss.parts,
        )
        self.n_models += other.n_models
        self._sound = True
        return self

    def result(self, *, per_sample: bool = False) -> Decomposition:
        """Decompose the expected loss of the models so far.

        Parameters
        ----------
        per_sample : bool, default=False
            Keep the parts of each sample too.

        Returns
        -------
        BiasVariance, DomingosDecomposition or JamesDecomposition
            As `bias_variance` gives.

        Raises
        ------
        ValueError
            If there are no models, or an update was interrupted.
        """
        per_sample = as_flag("per_sample", per_sample)
        _check_sound("this summary", self._sound)
        _check_some_models(self.n_models)
        problem = self._problem._replace(paired=bool(self._paired()))
        totals = SumsOverModels(problem, self.n_models, per_sample)
        return totals.result(run(lambda part: totals.read(self._state.part(part), part), problem.loss.parts))

    def _paired(self) -> bool | None:
        """Return whether models have observed labels of their own; None before the first."""
        return None if self._state is None else self._state.paired


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_one_row(name: str, values: Any) -> None:
    """Raise if there are labels for each model where they must be the same for all."""
    if values is not None:
        raise ValueError(f"{name} must be 1-D, the same for all models; pass each model's own to update")


def _check_pairs_given(given: bool, before: bool | None, same_for_all: bool) -> None:
    """Raise unless observed labels come with all models or with none."""
    if given and same_for_all:
        raise ValueError("y_observed was given already, the same for all models")
    if before is not None and given != before:
        had, have = ("had", "has not") if before else ("had not", "has")
        raise ValueError(f"y_observed must come with all models or none: those before {had} it, this {have}")


def _check_some_models(n_models: int) -> None:
    """Raise if there are none yet."""
    if not n_models:
        raise ValueError("there must be a model to decompose the loss of: call update first")


def _check_sound(name: str, sound: bool) -> None:
    """Raise if a summary has added models to some of its samples only."""
    if not sound:
        raise ValueError(f"{name} was interrupted in an update: make it anew")


def _check_same_truth(what: str, ours: Any, theirs: Any) -> None:
    """Raise unless two summaries have the same of something."""
    if not np.array_equal(ours, theirs):
        shown = f", got {show(ours)} and {show(theirs)}" if isinstance(ours, str) else ""
        raise ValueError(f"summaries must have the same {what} to be merged{shown}")
