"""The loss of a learner over training sets that are drawn: its bias and variance, streamed through a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.measure.bias_variance import BiasVarianceSummary, Decomposition
from fastevals.measure.bias_variance.calls import LOSSES
from fastevals.split.fitting import run_fits
from fastevals.split.learners import Learner, learner_of
from fastevals.split.training_sets.draws import TrainingSets
from fastevals.split.training_sets.result import BiasVarianceCurve

__all__ = ["bias_variance_curve", "bias_variance_over_training_sets"]


def bias_variance_over_training_sets(
    fit_predict: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: ArrayLike,
    *,
    n_sets: int = 200,
    train_size: float | None = None,
    replace: bool = True,
    groups: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    y_observed: ArrayLike | None = None,
    loss: str = "squared",
    decomposition: str = "domingos",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    per_sample: bool = False,
    rng: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Decomposition:
    """Draw training sets, fit the learner to each, and decompose its loss on test rows (2.37 to 2.42).

    Predictions are added up as they come: no array of all of them is held.

    Parameters
    ----------
    fit_predict : callable or estimator
        Called as ``fit_predict(X_train, y_train, X_test, **params)`` for predictions; or an estimator of
        scikit-learn's kind, of which copies are fitted.
    X, y : data with rows
        What training sets are drawn from.
    X_test : data with rows
        What is predicted: none of these rows should be among those of `X`.
    y_test : array-like of shape (n_test,)
        The truth of these rows. Where it was observed with noise, the noise counts as bias.
    n_sets : int
        Training sets, at least 2 and at most 1,000,000.
    train_size : int or float in (0, 1], optional
        Rows of a training set, or their share of all; by default as many as `X` has. Of groups where there are some.
    replace : bool
        Whether a row may be drawn again (a bootstrap), or all rows of a training set are different ones.
    groups : array-like of shape (n_samples,), optional
        Rows of `X` that belong together: whole groups are drawn.
    params : mapping of str to any, optional
        Parameters of the learner.
    y_observed : array-like of shape (n_test,) or (n_sets, n_test), optional
        Labels that were observed, where `y_test` is the truth apart from noise; as for `bias_variance`.
    loss, decomposition, labels, sample_weight, per_sample
        As for `bias_variance`. The classes of 0-1 loss are by default all those of `y` and `y_test`.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed of the draws. A training set depends on the seed and its number alone.
    n_jobs : int, optional
        Joblib's workers, -1 for one a CPU. By default fits are one after another.
    progress : bool
        Show a bar (needs tqdm).

    Returns
    -------
    Decomposition
        As `bias_variance` gives it.

    Raises
    ------
    ValueError
        If an argument is not as described. What a fit raises is raised, with a note that says which training set.

    Notes
    -----
    Training sets drawn from one data set share rows, and those of a bootstrap have fewer different ones: variance over
    them approximates that over independent training sets, and depends on the data that is there.

    References
    ----------
    Geman, Bienenstock and Doursat (1992), "Neural Networks and the Bias/Variance Dilemma", Neural Computation 4, 1-58,
    doi:10.1162/neco.1992.4.1.1.

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import bias_variance_over_training_sets
    >>> def straight_line(x, y, x_new):
    ...     return np.polyval(np.polyfit(x, y, 1), x_new)
    >>> x = np.linspace(-1, 1, 40)
    >>> bias_variance_over_training_sets(straight_line, x[::2], x[::2] ** 2, x[1::2], x[1::2] ** 2, rng=0)
    BiasVariance(expected_loss=0.1147, bias_squared=0.1018, variance=0.01287, n_models=200, n_samples=20)
    """
    learner = learner_of("fit_predict", fit_predict, params)
    sets = TrainingSets.of(X, y, groups, n_sets, replace, rng)
    options = _Options(y_observed, loss, decomposition, labels, sample_weight, per_sample)
    case = _Case("", learner, sets.size("train_size", train_size))
    return _decompose([case], (X, y, X_test, y_test), sets, options, n_jobs, progress)[0]


def bias_variance_curve(
    fit_predict: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: ArrayLike,
    *,
    parameter: str | None = None,
    values: ArrayLike | None = None,
    train_sizes: ArrayLike | None = None,
    n_sets: int = 200,
    train_size: float | None = None,
    replace: bool = True,
    groups: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    y_observed: ArrayLike | None = None,
    loss: str = "squared",
    decomposition: str = "domingos",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    per_sample: bool = False,
    rng: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> BiasVarianceCurve:
    """Decompose the loss of a learner at each value of a parameter, or for each size of the training sets.

    All values have the same training sets; a smaller training set is a part of the larger one of its number. What
    differs between values is thus the learner, not the luck of its draws.

    Parameters
    ----------
    fit_predict, X, y, X_test, y_test
        As for `bias_variance_over_training_sets`.
    parameter : str
        The parameter that varies, such as one of the learner's complexity.
    values : sequence
        Its values.
    train_sizes : sequence of int or of float, optional
        Instead of these: sizes of training sets, as `train_size`, all numbers or all shares.
    n_sets, train_size, replace, groups, params, y_observed, loss, decomposition, labels, sample_weight, per_sample, \
    rng, n_jobs, progress
        As for `bias_variance_over_training_sets`.

    Returns
    -------
    BiasVarianceCurve
        A decomposition for each value.

    Raises
    ------
    ValueError
        If an argument is not as described. What a fit raises is raised, with a note that says which value and
        training set.

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import bias_variance_curve
    >>> def polynomial(x, y, x_new, degree):
    ...     return np.polyval(np.polyfit(x, y, degree), x_new)
    >>> x = np.linspace(-1, 1, 60)
    >>> y = np.sin(3 * x) + np.random.default_rng(0).normal(scale=0.3, size=60)
    >>> curve = bias_variance_curve(
    ...     polynomial, x[::2], y[::2], x[1::2], np.sin(3 * x[1::2]), parameter="degree", values=range(1, 7), rng=0
    ... )
    >>> curve.best()
    3
    """
    check.check_parameter_or_sizes(parameter, values, train_sizes, train_size)
    learner = learner_of("fit_predict", fit_predict, params)
    sets = TrainingSets.of(X, y, groups, n_sets, replace, rng)
    options = _Options(y_observed, loss, decomposition, labels, sample_weight, per_sample)
    found: list[Any]
    if parameter is None:
        found = sets.sizes("train_sizes", train_sizes)
        cases = [_Case(f" of {size} {sets.layout.unit}", learner, size) for size in found]
    else:
        check.check_varies_only("params", learner.params, "parameter", parameter)
        found = check.as_values("values", values)
        size = sets.size("train_size", train_size)
        cases = [_Case(f", {parameter}={check.show(v)}", learner.with_params({parameter: v}), size) for v in found]
    results = _decompose(cases, (X, y, X_test, y_test), sets, options, n_jobs, progress)
    return BiasVarianceCurve(parameter, tuple(found), tuple(results))


class _Case(NamedTuple):
    """What is decomposed: a learner on training sets of so many units, and what errors say of it."""

    said: str
    learner: Learner
    size: int


class _Options(NamedTuple):
    """How the loss is decomposed."""

    y_observed: Any
    loss: Any
    decomposition: Any
    labels: Any
    sample_weight: Any
    per_sample: Any


Data = tuple[Any, Any, Any, Any]  # X, y, X_test, y_test


def _decompose(
    cases: Sequence[_Case], data: Data, sets: TrainingSets, options: _Options, n_jobs: int | None, progress: bool
) -> list[Decomposition]:
    """Fit each case to all training sets and decompose its loss, predictions added up as they come."""
    _, y, X_test, y_test = data
    check.check_same_rows(X_test=X_test, y_test=y_test)
    per_sample, progress = check.as_flag("per_sample", options.per_sample), check.as_flag("progress", progress)
    check.check_choice("loss", options.loss, LOSSES)
    labels, of_classes = options.labels, options.loss == "zero_one"
    truth = (check.as_true_labels if of_classes else check.as_scores)("y_test", y_test)
    check.check_finite("y_test", truth)
    if of_classes and labels is None:  # all that a learner may predict, and that may be right
        known = check.as_true_labels("y", y)
        check.check_comparable_labels(y=known, y_test=truth)
        labels = np.unique(np.concatenate([known, truth]))
    one, observed = check.as_observed("y_observed", options.y_observed, sets.n_sets)
    summary = partial(
        BiasVarianceSummary, truth, y_observed=one, loss=options.loss, decomposition=options.decomposition,
        sample_weight=options.sample_weight, labels=labels,
    )  # fmt: skip
    summary()  # raises before any fit if an option is wrong
    items = [(case, number) for case in cases for number in range(sets.n_sets)]
    fit = partial(_predictions, sets, data, "labels" if of_classes else "targets")
    predictions = run_fits(fit, items, describe=_described, n_jobs=n_jobs, progress=progress)
    results = []
    for case in cases:
        added = summary()
        for number, predicted in zip(range(sets.n_sets), predictions, strict=False):
            try:
                added.update(predicted, y_observed=None if observed is None else observed[number])
            except ValueError as error:
                error.add_note(f"in what the learner predicts of X_test, fitted to {_described((case, number))}")
                raise
        results.append(added.result(per_sample=per_sample))
    next(predictions, None)  # the end: the bar, and workers, are done with
    return results


def _predictions(sets: TrainingSets, data: Data, kind: str, item: tuple[_Case, int]) -> NDArray[Any]:
    """Fit a case to a training set, by its number, and predict the test rows."""
    (X, y, X_test, _), (case, number) = data, item
    return case.learner.predictions(X, y, sets.rows(number, case.size), X_test, None, (kind,))[kind]


def _described(item: tuple[_Case, int]) -> str:
    case, number = item
    return f"training set {number}{case.said}"
