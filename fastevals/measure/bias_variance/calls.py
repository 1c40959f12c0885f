"""The public function: predictions of many models at once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from numpy.typing import ArrayLike

from fastevals._execution import run
from fastevals._kernels.bias_variance import add_up
from fastevals._validation.arrays import as_array, as_weights, check_same_length, named_columns
from fastevals._validation.options import as_flag, check_choice
from fastevals.measure.bias_variance.results import (
    DECOMPOSITIONS,
    Decomposition,
    ModelTables,
    as_named_alike,
    check_same_pairs,
)
from fastevals.measure.bias_variance.squared import SquaredLoss
from fastevals.measure.bias_variance.totals import Loss, Problem, SumsOverModels
from fastevals.measure.bias_variance.zero_one import ZeroOneLoss

LOSSES = ("squared", "zero_one")


def bias_variance(
    y_true: ArrayLike,
    predictions: Any,
    *,
    y_observed: Any = None,
    loss: str = "squared",
    decomposition: str = "domingos",
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    per_sample: bool = False,
) -> Decomposition:
    """Decompose the expected loss of models that learned from different training sets.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True targets of test samples; for 0-1 loss classes: numbers, booleans or strings.
    predictions : array-like of shape (n_models, n_samples), mapping of name to array-like, or frame
        What each model predicts for them: one model a row, an entry or a column. A memory-mapped array may be larger
        than memory.
    y_observed : array-like of shape (n_samples,) or (n_models, n_samples), mapping or frame, optional
        Targets with noise: one a sample, or what was observed with each model's training set, by the models' names
        where they have some. The loss is measured against these then.
    loss : {"squared", "zero_one"}
        Of numbers, or of classes.
    decomposition : {"domingos", "kohavi-wolpert", "james"}
        Of 0-1 loss, for which there are several.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples, not negative, in what is averaged over them.
    labels : array-like of shape (n_classes,), optional
        All classes, of 0-1 loss; by default those in `y_true`.
    per_sample : bool, default=False
        Keep the parts of each sample too.

    Returns
    -------
    BiasVariance, DomingosDecomposition or JamesDecomposition
        The first for squared loss and Kohavi and Wolpert's decomposition. The numbers are averages over samples, and
        `parts` gives those that add up to the expected loss.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    **Squared loss.** The main prediction is the mean over models (2.37), ``bias_squared`` its squared distance from
    the target (2.40), ``variance`` the mean squared distance of predictions from it (2.38, divided by `n_models`).
    Without `y_observed` the expected loss is their sum. With it, ``noise`` is the mean of ``(y_observed - y_true)**2``
    (2.39) and ``cross_term`` that of ``2 * (prediction - y_true) * (y_true - y_observed)``, which (2.41) takes for
    zero; the expected loss, the mean of ``(prediction - y_observed)**2``, is the sum of the four. Sums are good to
    1e-12, also far from zero. Numbers are read as float64; where squares overflow, parts are infinite, and
    where sums do, parts and the main prediction may be infinite or NaN.

    **0-1 loss** is not bias plus variance: variance makes a wrong main prediction right sometimes. The main prediction
    is the most frequent class; of several, the one that comes first in order. With n models, c_k of which predict class
    k for a sample, everything is a whole number over n or 2 n**2, computed exactly:

    - *domingos*: ``expected_loss = bias + net_variance + noise_effect``. Bias is 1 where the main prediction is wrong.
      Where it is right, each prediction that differs from it costs 1 / n; where it is wrong, each prediction of the
      true class saves that: of two classes, all that differ. Of two classes and one observed label a sample,
      ``noise_effect`` is ``(2 * P(prediction == y_true) - 1) * noise``.
    - *kohavi-wolpert*: ``expected_loss = bias_squared + variance + noise + cross_term``, half the sums over classes of
      ``(P(y_k) - P(k))**2``, and one half less half those of ``P(k)**2`` and ``P(y_k)**2``, with the shares P(y_k) of
      observed labels. They know no true label beside observed ones: of one observed label a sample there is no noise.
      They assume it to be independent of the models; `cross_term` is what the covariances are.
    - *james*: ``expected_loss = noise + systematic_effect + variance_effect``: the loss of the true label, what the
      main prediction loses beyond it, what predictions lose beyond that.

    Beyond its input this takes 8 bytes a sample for the main prediction (as many as a label has, for 0-1 loss) and a
    few MB a thread, however many models there are; `per_sample` adds 8 a sample for each number. Results are the same
    bits at any number of threads. Arrays in C order of float32 or float64, or classes of 8 bits, are read as they are;
    others in blocks that are converted.

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
    problem, own = parse_problem(y_true, y_observed, loss, decomposition, sample_weight, labels)
    per_sample = as_flag("per_sample", per_sample)
    of = problem.loss
    models = of.models("predictions", predictions)
    pairs = None
    if own is not None:
        pairs = of.models("y_observed", as_named_alike("y_observed", own, "predictions", predictions))
        check_same_pairs(models, pairs)
    return decompose(problem, models, pairs, per_sample)


def decompose(problem: Problem, models: ModelTables, pairs: ModelTables | None, per_sample: bool) -> Decomposition:
    """Decompose the loss of models beside what was observed with each, if that is given."""
    of = problem.loss
    totals = SumsOverModels(problem._replace(paired=pairs is not None), models.n_models, per_sample)
    largest = of.parts[0].stop

    def read(samples: slice, space: tuple[Any, Any]) -> tuple[bool, list[Any]]:
        state = space[0].part(slice(0, samples.stop - samples.start))
        sound = of.add(state, 0, models, pairs, samples, space[1])
        return sound, totals.read(state, samples)

    sound, sums = zip(
        *run(
            read,
            of.parts,
            workspace=lambda: (of.state(largest, pairs is not None), of.workspace()),
            compiles=compile_key(problem, models),
        ),
        strict=True,
    )
    if not all(sound):
        for each in (models,) if pairs is None else (models, pairs):
            of.complain(each)
    return totals.result(list(sums))


def parse_problem(
    y_true: Any, y_observed: Any, loss: Any, decomposition: Any, sample_weight: Any, labels: Any
) -> tuple[Problem, Any]:
    """Return what is to be decomposed, and the observed labels where each model has its own."""
    check_choice("loss", loss, LOSSES)
    check_choice("decomposition", decomposition, DECOMPOSITIONS)
    if loss == "squared":
        _check_only_zero_one(decomposition, labels)
        of: Loss = SquaredLoss(y_true)
    else:
        of = ZeroOneLoss(y_true, decomposition, labels)
    weights = None
    if sample_weight is not None:
        weights = as_weights("sample_weight", sample_weight)
        check_same_length(y_true=of.true, sample_weight=weights)
    own = y_observed
    if y_observed is not None and _is_one_row(y_observed):
        of.observe(y_observed)
        own = None
    return Problem(of, weights, own is not None), own


def compile_key(problem: Problem, models: ModelTables) -> Hashable:
    """Return which kernels are called, for which types."""
    dtypes = frozenset(table.dtype for table in models.tables)
    return add_up, problem.loss.name, problem.paired, problem.weights is None, dtypes


# Checks ---------------------------------------------------------------------------------------------------------------


def _is_one_row(values: Any) -> bool:
    """Return whether something is not 2-D, nor a mapping or frame."""
    return named_columns("y_observed", values) is None and as_array("y_observed", values).ndim != 2


def _check_only_zero_one(decomposition: str, labels: Any) -> None:
    """Raise if an option of 0-1 loss was given for another."""
    for name, given in (("decomposition", decomposition != "domingos"), ("labels", labels is not None)):
        if given:
            raise ValueError(f"{name}= goes with loss='zero_one', got it with loss='squared'")
