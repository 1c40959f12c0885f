"""Bias and variance of a learner, over training sets drawn from data.

Training set k depends only on the seed and k, so sets can be fitted in any order and by any worker, and drawn again for
the next value of a parameter. All values are compared on the same sets, and set k of a smaller size is part of set k of
a larger size. Predictions are added to a `BiasVarianceSummary` in order, and then discarded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._choices import DecompositionName, LossName
from fastevals._distinct import sorted_unique
from fastevals._kernels.random import stream_key
from fastevals._kernels.splits import draw_units
from fastevals._options import as_flag, check_choice, check_integer, show
from fastevals._random import random_order, seed_key
from fastevals._validation.arrays import as_array, as_scores, check_finite
from fastevals._validation.labels import as_true_labels, check_comparable_labels
from fastevals._validation.text import unique_inverse
from fastevals.document.frames import Columns, make_columns
from fastevals.measure.bias_variance.bias_variance import BiasVarianceSummary
from fastevals.measure.bias_variance.decomposition import Decomposition
from fastevals.results import Frozen
from fastevals.split.checks import (
    as_values,
    check_parameter_name,
    check_same_rows,
    check_varies_only,
    training_size,
    training_sizes,
)
from fastevals.split.learners import Learner, as_learner, run_fits
from fastevals.split.splitters.assignments import SamplingFrame
from fastevals.split.trials import varied_column

MOST_TRAINING_ROWS = 2**32  # limit for the rows of a training set
MOST_SETS = 1_000_000

Floats = NDArray[np.float64]


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
    loss: LossName = "squared",
    decomposition: DecompositionName = "domingos",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    per_sample: bool = False,
    rng: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Decomposition:
    """Draw training sets, fit the learner to each, and decompose its loss on test rows (eq. 2.37 to 2.42).

    Predictions are added up after each fit, so that they are never all in memory.

    Parameters
    ----------
    fit_predict : callable or estimator
        A function called as ``fit_predict(X_train, y_train, X_test, **params)``, which returns predictions; or an
        estimator with scikit-learn's interface, of which only copies are fitted.
    X, y : data with rows
        The data to draw training sets from.
    X_test : data with rows
        The rows to predict, none of which should be in `X`.
    y_test : array-like of shape (n_test,)
        The truth for these rows. If it contains noise, the noise counts as bias.
    n_sets : int
        Number of training sets, from 2 to 1,000,000.
    train_size : int or float in (0, 1], optional
        Number of rows per training set, or their share of all rows; by default as many rows as `X` has. With groups,
        this is a number or a share of groups.
    replace : bool
        Whether to draw rows with replacement (a bootstrap); otherwise all rows of a training set are distinct.
    groups : array-like of shape (n_samples,), optional
        The group of each row of `X`, if rows are clustered; whole groups are drawn.
    params : mapping of str to any, optional
        Parameters of the learner.
    y_observed : array-like of shape (n_test,) or (n_sets, n_test), optional
        Observed labels, if `y_test` is the truth without noise; see `bias_variance`.
    loss, decomposition, labels, sample_weight, per_sample
        As for `bias_variance`. By default, the classes of 0-1 loss are all classes in `y` and `y_test`.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed of the draws. A training set depends only on the seed and the set's number.
    n_jobs : int, optional
        Number of joblib workers, or -1 for one per CPU. By default fits run one after another.
    progress : bool
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    Decomposition
        The same object as `bias_variance` returns.

    Raises
    ------
    ValueError
        If an argument is not as described. An error in a fit gets a note that names the training set.

    Notes
    -----
    Training sets drawn from one data set share rows, and bootstrap sets have fewer distinct rows. So the variance over
    them only approximates the variance over independent training sets, and depends on the data.

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
    learner = as_learner("fit_predict", fit_predict, params)
    sets = TrainingSets.build(X, y, groups, n_sets, replace, rng)
    options = _Options(y_observed, loss, decomposition, labels, sample_weight, per_sample)
    case = _Case("", learner, sets.size("train_size", train_size))
    return _decompose_cases([case], (X, y, X_test, y_test), sets, options, n_jobs, progress)[0]


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
    loss: LossName = "squared",
    decomposition: DecompositionName = "domingos",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    per_sample: bool = False,
    rng: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> BiasVarianceCurve:
    """Decompose a learner's loss at each value of a parameter, or for each training set size.

    All values use the same training sets, and set k of a smaller size is part of set k of a larger size. So differences
    between values are due to the learner, not to the draws.

    Parameters
    ----------
    fit_predict, X, y, X_test, y_test
        As for `bias_variance_over_training_sets`.
    parameter : str
        Name of the parameter to vary, for instance one that controls the learner's complexity.
    values : sequence
        Values of the parameter.
    train_sizes : sequence of int or of float, optional
        Sizes of training sets, instead of `parameter` and `values`: all counts or all shares, as for `train_size`.
    n_sets, train_size, replace, groups, params, y_observed, loss, decomposition, labels, sample_weight, per_sample, \
    rng, n_jobs, progress
        As for `bias_variance_over_training_sets`.

    Returns
    -------
    BiasVarianceCurve
        One decomposition per value.

    Raises
    ------
    ValueError
        If an argument is not as described. An error in a fit gets a note that names the value and the training set.

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
    _check_parameter_or_sizes(parameter, values, train_sizes, train_size)
    learner = as_learner("fit_predict", fit_predict, params)
    sets = TrainingSets.build(X, y, groups, n_sets, replace, rng)
    options = _Options(y_observed, loss, decomposition, labels, sample_weight, per_sample)
    values_or_sizes: list[Any]
    if parameter is None:
        values_or_sizes = sets.sizes("train_sizes", train_sizes)
        cases = [_Case(f" of {size} {sets.frame.unit}", learner, size) for size in values_or_sizes]
    else:
        check_varies_only("params", learner.params, "parameter", parameter)
        values_or_sizes = as_values("values", values)
        size = sets.size("train_size", train_size)
        cases = [_Case(f", {parameter}={show(v)}", learner.with_params({parameter: v}), size) for v in values_or_sizes]
    results = _decompose_cases(cases, (X, y, X_test, y_test), sets, options, n_jobs, progress)
    return BiasVarianceCurve(parameter, tuple(values_or_sizes), tuple(results))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BiasVarianceCurve(Frozen):
    """A learner's expected loss and its parts at each value of a parameter, or for each training set size.

    Attributes
    ----------
    parameter : str or None
        Name of the varied parameter; None for training set sizes.
    values : tuple
        The parameter's values in the given order, or ascending numbers of rows (or groups).
    results : tuple of Decomposition
        One decomposition per value.
    """

    parameter: str | None
    values: tuple[Any, ...]
    results: tuple[Decomposition, ...]

    @property
    def over(self) -> str:
        """Text that says what varies: the parameter's name, or "training size"."""
        return "training size" if self.parameter is None else self.parameter

    @property
    def expected_loss(self) -> Floats:
        """The expected loss at each value."""
        return np.array([each.expected_loss for each in self.results])

    def parts(self) -> dict[str, Floats]:
        """Return the terms that add up to the expected loss, by name: arrays with one number per value."""
        parts = [each.parts() for each in self.results]
        return {name: np.array([each[name] for each in parts]) for name in parts[0]}

    def best(self) -> Any:
        """Return the parameter's value with the lowest expected loss; the first one if several tie."""
        return self.values[int(np.argmin(self.expected_loss))]

    @property
    def fits(self) -> tuple[str, ...]:
        """Label each value "best", "underfits", "overfits" or "".

        Where the expected loss is larger than at the best value, the learner underfits if its bias has increased more
        than its variance, compared with the best value. Otherwise it overfits. (Variance here means variance of
        predictions; in 0-1 loss, a larger variance does not always raise the loss.) "" means that the loss is not
        larger, or that neither bias nor variance is larger.

        Notes
        -----
        Bias over bootstrap samples of one data set includes the effect of everything that the samples share. With such
        samples instead of independent sets, nearly half of a one-nearest-neighbour learner's variance is reported as
        bias in squared loss. In 0-1 loss, nearly all of the learner's errors become bias, because most bootstrap
        samples contain the nearest neighbour among all rows.
        """
        loss, results = self.expected_loss, self.results
        best = int(np.argmin(loss))
        bias, variance = (
            np.array([getattr(each, name) - getattr(results[best], name) for each in results])
            for name in (results[best].OF_BIAS, "variance")
        )
        labels = np.where(bias > variance, "underfits", "overfits").astype(object)
        labels[(loss == loss[best]) | (np.maximum(bias, variance) <= 0)] = ""
        labels[best] = "best"
        return tuple(labels.tolist())

    def _columns(self) -> Columns:
        """Return a table's columns, with one row per value."""
        return {
            **varied_column(self.parameter, self.values),
            **make_columns({"expected_loss": self.expected_loss, **self.parts(), "fit": self.fits}),
        }

    def table(self) -> str:
        """Return a text table of the loss and its parts at each value."""
        from fastevals._text import format_numbers, format_tables, format_value, printable

        numbers = {"expected_loss": self.expected_loss, **self.parts()}
        rows = [[printable(self.over), *(name.replace("_", " ") for name in numbers), ""]]
        least = int(np.argmin(self.expected_loss))
        for k, (value, row) in enumerate(
            zip(self.values, format_numbers(np.transpose(list(numbers.values()))), strict=True)
        ):
            rows.append([printable(format_value(value)), *row, "least" if k == least else ""])
        return "\n".join(format_tables([rows])[0])

    def __repr__(self) -> str:
        over = f"{len(self.values)} values of {self.over}, best={show(self.best())}: {self.expected_loss.min():.4g}"
        return f"BiasVarianceCurve({', '.join(self.parts())} over {over})"


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSets:
    """Draws numbered training sets; set k of a smaller size is part of set k of a larger size."""

    frame: SamplingFrame  # the units to draw: rows, or whole groups
    n_sets: int
    replace: bool  # whether a unit may be drawn again
    key: np.uint64  # key of the random streams, one per training set

    @classmethod
    def build(cls, X: Any, y: Any, groups: Any, n_sets: Any, replace: Any, rng: Any) -> TrainingSets:
        """Check the arguments and return an object that draws from the rows of the data."""
        n_sets = check_integer("n_sets", n_sets, low=2, high=MOST_SETS)
        frame = SamplingFrame.from_rows(check_same_rows(X=X, y=y, groups=groups), groups)
        frame.check_sizes(2, "drawing different training sets")
        return cls(frame, n_sets, as_flag("replace", replace), seed_key("rng", rng))

    def size(self, name: str, value: int | float | None) -> int:
        """Return the number of units in a training set, given as a number or a share of all; None means all."""
        n = self.frame.n_units
        size = n if value is None else training_size(name, value, n)
        _check_training_set_size(name, value, size, n, self.frame.unit, self.replace)
        return size

    def sizes(self, name: str, values: Any) -> list[int]:
        """Return sizes in ascending order; they must differ."""
        return training_sizes(name, values, self.size, f"{self.frame.n_units} {self.frame.unit}")

    def rows(self, number: int, size: int) -> NDArray[np.intp]:
        """Return the ascending row numbers of training set `number`, which has `size` units."""
        times = np.zeros(self.frame.n_units, dtype=np.intp)
        if self.replace:
            draw_units(size, np.uint64(stream_key(self.key, np.uint64(number))), times)
        else:
            times[random_order(self.key, number, times.size)[:size]] = 1
        row_units = self.frame.row_units
        return np.repeat(np.arange(self.frame.n_samples), times if row_units is None else times[row_units])


class _Case(NamedTuple):
    """A learner to fit to training sets of one size."""

    description: str  # follows the number of the training set in errors
    learner: Learner
    size: int  # number of units


class _Options(NamedTuple):
    """Options of the decomposition."""

    y_observed: Any
    loss: Any
    decomposition: Any
    labels: Any
    sample_weight: Any
    per_sample: Any


Data = tuple[Any, Any, Any, Any]  # X, y, X_test, y_test


def _decompose_cases(
    cases: Sequence[_Case], data: Data, sets: TrainingSets, options: _Options, n_jobs: int | None, progress: bool
) -> list[Decomposition]:
    """Fit each case to all training sets and decompose its loss; predictions are added up one fit at a time."""
    _, y, X_test, y_test = data
    check_same_rows(X_test=X_test, y_test=y_test)
    per_sample, progress = as_flag("per_sample", options.per_sample), as_flag("progress", progress)
    check_choice("loss", options.loss, LossName)
    labels, zero_one = options.labels, options.loss == "zero_one"
    truth = (as_true_labels if zero_one else as_scores)("y_test", y_test)
    check_finite("y_test", truth)
    if zero_one and labels is None:  # labels that may be predicted or true
        known = as_true_labels("y", y)
        check_comparable_labels(y=known, y_test=truth)
        labels = sorted_unique(np.concatenate([unique_inverse(each)[0] for each in (known, truth)]))
    shared, per_set = _as_observed("y_observed", options.y_observed, sets.n_sets)
    summary = partial(
        BiasVarianceSummary, truth, y_observed=shared, loss=options.loss, decomposition=options.decomposition,
        sample_weight=options.sample_weight, labels=labels,
    )  # fmt: skip
    summary()  # raises before any fit if an option is invalid
    items = [(case, number) for case in cases for number in range(sets.n_sets)]
    fit = partial(_fit_and_predict, sets, data, "labels" if zero_one else "targets")
    predictions = run_fits(fit, items, describe=_describe, n_jobs=n_jobs, progress=progress)
    results = []
    for case in cases:
        case_summary = summary()
        for number, predicted in zip(range(sets.n_sets), predictions, strict=False):
            try:
                case_summary.update(predicted, y_observed=None if per_set is None else per_set[number])
            except ValueError as error:
                error.add_note(f"in the predictions of X_test by the learner fitted to {_describe((case, number))}")
                raise
        results.append(case_summary.result(per_sample=per_sample))
    next(predictions, None)  # ends the progress bar and the workers
    return results


def _fit_and_predict(sets: TrainingSets, data: Data, kind: str, item: tuple[_Case, int]) -> NDArray[Any]:
    """Fit a case to one training set, and predict the test rows; `item` is the case and the set's number."""
    (X, y, X_test, _), (case, number) = data, item
    return case.learner.predictions(X, y, sets.rows(number, case.size), X_test, None, (kind,))[kind]


def _describe(item: tuple[_Case, int]) -> str:
    case, number = item
    return f"training set {number}{case.description}"


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_observed(name: str, values: Any, n_sets: int) -> tuple[Any, NDArray[Any] | None]:
    """Return observed labels shared by all training sets, and observed labels per training set; one of them is None."""
    if values is None:
        return None, None
    array = as_array(name, values)
    if array.ndim != 2:
        return array, None
    if len(array) != n_sets:
        raise ValueError(f"{name} must have a row for each training set, {n_sets}, or be 1-D; got shape {array.shape}")
    return None, array


def _check_training_set_size(name: str, value: Any, size: int, n: int, units: str, replace: bool) -> None:
    """Raise if all training sets would be the same, or would be too large."""
    if size > MOST_TRAINING_ROWS:
        raise ValueError(f"{name} must be at most 2**32, got {show(value)}")
    if not replace and size >= n:
        raise ValueError(
            f"replace=False needs {name} below the number of {units}, {n}, or all training sets are the same; "
            f"got {show(value)}"
        )


def _check_parameter_or_sizes(parameter: Any, values: Any, train_sizes: Any, train_size: Any) -> None:
    """Raise unless either a parameter and its values or training sizes are given, but not both."""
    if (parameter is None) != (values is None):
        raise ValueError(f"parameter and values go together, got parameter={show(parameter)}, values={show(values)}")
    if (parameter is None) == (train_sizes is None):
        given = "neither" if parameter is None else "both"
        raise ValueError(f"either parameter and values or train_sizes must be given, got {given}")
    if train_sizes is not None and train_size is not None:
        raise ValueError(f"train_size goes with parameter and values, not with train_sizes; got {show(train_size)}")
    if parameter is not None:
        check_parameter_name("parameter", parameter)
