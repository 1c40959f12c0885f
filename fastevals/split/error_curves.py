"""Validation and learning curves: a learner's error against a parameter's values, or the number of training rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import check_choice, show
from fastevals._random import random_order, seed_key
from fastevals.document.frames import Columns, make_columns
from fastevals.infer.significance.t_tests import mean_standard_error, pairwise_t_interval
from fastevals.results import Frozen, check_confidence_level
from fastevals.split.checks import (
    as_strata,
    as_values,
    check_direction,
    check_parameter_name,
    check_some_defined,
    check_varies_only,
    training_size,
    training_sizes,
)
from fastevals.split.designs import SplitDesign
from fastevals.split.learners import as_learner
from fastevals.split.splitters.base import Pair, Rows
from fastevals.split.trials import (
    Candidate,
    Choice,
    ErrorLine,
    Measurement,
    Trial,
    best_place,
    raise_if_all_failed,
    varied_column,
)

Floats = NDArray[np.float64]

NAME = "fit_predict"  # the learner's name in errors
SIZES = (0.1, 0.325, 0.55, 0.775, 1.0)


def validation_curve(
    fit_predict: Any,
    X: Any,
    y: Any,
    splitter: Any,
    metric: Any,
    *,
    parameter: str,
    values: Any,
    params: Mapping[str, Any] | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    maximize: bool | None = None,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ErrorCurve:
    """Measure a learner's training and test error at each value of a parameter, on the same splits.

    Where the training error keeps falling while the test error rises, the learner overfits.

    Parameters
    ----------
    fit_predict, X, y, splitter, groups, pos_label, labels
        As for `estimate_error`.
    metric : str, `metric(...)` or function
        A single metric, as for `estimate_error`.
    parameter : str
        Name of the parameter to vary.
    values : sequence
        Values of the parameter.
    params : mapping, optional
        Values of the learner's other parameters.
    maximize : bool, optional
        Whether a greater value is better. For a metric with a name this is known; for a function, `best` requires it.
    confidence_level : float in (0, 1)
        Confidence level of the intervals of mean test values, computed as in `estimate_error`.
    n_jobs : int, optional
        Number of joblib workers for the fits of all values, or -1 for one per CPU. By default fits run in this process.
    progress : bool
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    ErrorCurve

    Raises
    ------
    ValueError
        If an argument is not as described. If fits fail at all values, the first error is raised, with a note that
        names the fit. If they fail only at some values, their errors are in `failures`.

    Warns
    -----
    UndefinedMetricWarning
        If the metric is undefined in some splits; these splits are left out of the means.

    Notes
    -----
    The error of a value chosen from the curve is too optimistic; to choose a value, use `select_model`. The frame says
    how much worse each value is than the best, with an interval, and which values are within one standard error of it
    (see `ErrorCurve.one_standard_error`).

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import KFold, validation_curve
    >>> nearest = lambda x, y, x_new, k: [y[np.argsort(abs(x - each))[:k]].mean() for each in x_new]
    >>> x = 1.01 ** np.arange(40)
    >>> y = np.arange(40) % 2
    >>> curve = validation_curve(nearest, x, y, KFold(4, rng=0), "mean_squared_error", parameter="k", values=[1, 30])
    >>> curve.training.values.round(2).tolist(), curve.test.values.round(2).tolist(), curve.best()
    ([0.0, 0.25], [0.98, 0.26], 30)
    """
    check_parameter_name("parameter", parameter)
    parameter_values = as_values("values", values)
    learner = as_learner(NAME, fit_predict, params)
    check_varies_only("params", learner.params, "parameter", parameter)
    measured = Measurement.build(
        X, y, metric, groups=groups, pos_label=pos_label, labels=labels, maximize=maximize,
        confidence_level=confidence_level, training=True,
    )  # fmt: skip
    splits = measured.splits("splitter", splitter)
    grid = [{parameter: value} for value in parameter_values]
    trials = [Trial(Candidate(Choice(NAME, each), learner.with_params(each)), splits) for each in grid]
    return _make_curve(measured, trials, parameter, parameter_values, n_jobs=n_jobs, progress=progress)


def learning_curve(
    fit_predict: Any,
    X: Any,
    y: Any,
    splitter: Any,
    metric: Any,
    *,
    train_sizes: Any = SIZES,
    params: Mapping[str, Any] | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    maximize: bool | None = None,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    progress: bool = False,
    rng: Any = None,
) -> ErrorCurve:
    """Measure a learner's training and test error as the number of training rows grows.

    Once the two errors have met, more rows will not help; while the errors are apart, more rows may help.

    Parameters
    ----------
    fit_predict, X, y, splitter, groups, pos_label, labels
        As for `estimate_error`.
    metric, params, maximize, confidence_level, n_jobs, progress
        As for `validation_curve`.
    train_sizes : sequence of float or of int
        Numbers of training rows, or shares of the smallest training part among the splits, in (0, 1]. At the full size,
        each split uses all its training rows, which may be more than the smallest part has.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed of the random order in which each split's training rows are added, so that smaller sets are parts of larger
        ones. With a stratified splitter, each set has proportional shares of the classes. A set may contain only part
        of a group.

    Returns
    -------
    ErrorCurve
        Its `values` are numbers of rows, ascending, and its `parameter` is None.

    Raises
    ------
    ValueError
        As for `validation_curve`.

    Warns
    -----
    UndefinedMetricWarning
        If the metric is undefined in some splits; these splits are left out of the means.

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import KFold, learning_curve
    >>> mean = lambda x, y, x_new: np.full(len(x_new), y.mean())
    >>> y = np.random.default_rng(0).normal(size=100)
    >>> curve = learning_curve(mean, y, y, KFold(10, rng=0), "mean_squared_error", train_sizes=[2, 90], rng=0)
    >>> curve.values, bool(curve.gap[0] > curve.gap[1])
    ((2, 90), True)
    """
    candidate = Candidate(Choice(NAME, {}), as_learner(NAME, fit_predict, params))
    measured = Measurement.build(
        X, y, metric, groups=groups, pos_label=pos_label, labels=labels, maximize=maximize,
        confidence_level=confidence_level, training=True,
    )  # fmt: skip
    whole = measured.splits("splitter", splitter)
    smallest = min(train.size for train, _ in whole.pairs())
    size_of = partial(training_size, n=smallest, most=smallest)
    sizes = training_sizes("train_sizes", train_sizes, size_of, f"{smallest} training rows")
    classes = None
    if getattr(splitter, "stratified", "Stratified" in type(splitter).__name__):
        classes = np.unique(as_strata("y", y, measured.n_samples), return_inverse=True)[1]
    key = seed_key("rng", rng)
    cut = [
        whole
        if size == smallest
        else SplitDesign(partial(_with_fewer_rows, whole, size, key, classes), whole.shape, whole.fixed)
        for size in sizes
    ]
    trials = [Trial(candidate, each) for each in cut]
    return _make_curve(measured, trials, None, sizes, n_jobs=n_jobs, progress=progress)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorCurve(Frozen):
    """A learner's training and test error at each value of a parameter, or each number of training rows.

    Attributes
    ----------
    metric : str
        Name of the metric.
    parameter : str or None
        The parameter that varies; None for the number of training rows.
    values : tuple
        The parameter's values in the given order, or ascending numbers of training rows.
    test, training : ErrorLine
        Errors on test rows and on training rows; the latter have no intervals.
    maximize : bool or None
        Whether a greater value is better; None if unknown.
    confidence_level : float
        Level of the intervals.
    failures : dict of int to str
        Errors raised by fits, by index into `values`; the means of these values are NaN.
    pos_label : label or None
        The positive class; None if there is none, or if neither `pos_label` nor a default determines it.

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import KFold, validation_curve
    >>> def polynomial(x, y, x_new, degree):
    ...     return np.polyval(np.polyfit(x, y, degree), x_new)
    >>> x = np.linspace(-1, 1, 30)
    >>> y = x**2 + np.random.default_rng(0).normal(scale=0.1, size=30)
    >>> curve = validation_curve(polynomial, x, y, KFold(5, rng=0), "mean_squared_error", parameter="degree",
    ...                          values=[1, 2, 3, 9])
    >>> curve.best()
    2
    """

    metric: str
    parameter: str | None
    values: tuple[Any, ...]
    test: ErrorLine
    training: ErrorLine
    maximize: bool | None
    confidence_level: float
    failures: dict[int, str]
    pos_label: Any = None
    _test_to_train: tuple[float, ...] = ()  # test rows per training row at each value, for standard errors

    @property
    def gap(self) -> Floats:
        """Test value minus training value."""
        with np.errstate(invalid="ignore"):  # both may be infinite
            return np.asarray(self.test.values - self.training.values)

    def best(self) -> Any:
        """Return the parameter's value with the best mean on test rows; the first one if several tie.

        Raises
        ------
        ValueError
            If all means are NaN, or it is unknown whether a greater metric is better.
        """
        return self.values[self._best()]

    def _best(self) -> int:
        better = check_direction("maximize", self.metric, self.maximize)
        place = best_place(self.test.values, better)
        return check_some_defined(self.metric, place, len(self.values), "values")

    @property
    def fits(self) -> tuple[str, ...]:
        """Label each value "best", "underfits", "overfits" or "".

        At values other than the best, the learner underfits if both test and training error are larger than at the best
        value. It overfits if the test error is larger, but the training error is smaller. "" means that the test error
        is not significantly larger, or that the training errors are equal.

        Notes
        -----
        The test error is significantly larger if the interval of its difference from the best test error, by the
        corrected resampled t on the same splits, is above zero. Intervals are separate for each value; they are in the
        frame, as "difference", "difference_low" and "difference_high". With a single split there is no interval, and
        only the best value is labelled.
        """
        if self.maximize is None or np.isnan(self.test.values).all():
            return ("",) * len(self.values)
        best, training = self._best(), (1 if self.maximize else -1) * self.training.values
        labels = np.full(len(self.values), "", dtype=object)
        worse = self._worse_than(best)
        labels[worse & (training < training[best])] = "underfits"
        labels[worse & (training > training[best])] = "overfits"
        labels[best] = "best"
        return tuple(labels.tolist())

    def _worse_than(self, best: int) -> NDArray[np.bool_]:
        """Return which test values are significantly worse than the best one."""
        _, low, high = self._differences(best)
        return np.isinf(self.test.values) | ((high < 0) if self.maximize else (low > 0))

    def _differences(self, best: int) -> tuple[Floats, Floats, Floats]:
        """Return each test value minus the best one, and the ends of its interval; NaN for a single split."""
        differences, low, high = (np.full(len(self.values), np.nan) for _ in range(3))
        per_split = self.test.per_split.reshape(len(self.values), -1)
        others = np.flatnonzero(np.isfinite(self.test.values) & (np.arange(len(self.values)) != best))
        differences[best] = low[best] = high[best] = 0.0
        per_split = per_split[:, np.isfinite(per_split[[*others, best]]).all(axis=0)]
        if others.size and per_split.shape[1] > 1:
            differences[others] = per_split[others].mean(axis=1) - per_split[best].mean()
            pair = per_split[others], np.broadcast_to(per_split[best], per_split[others].shape)
            alpha = check_confidence_level(self.confidence_level)[1]
            ratio = max(self._test_to_train, default=0.0)
            low[others], high[others] = pairwise_t_interval(*pair, "two-sided", alpha, ratio)
        return differences, low, high

    def one_standard_error(self, simplest: Literal["first", "last"] = "first") -> Any:
        """Return the simplest value whose mean on test rows is within one standard error of the best mean.

        Chance decides which of several good values has the best mean. This rule prefers the simplest of them, which
        often overfits less.

        Parameters
        ----------
        simplest : {"first", "last"}
            Which end of `values`, in the given order, is the simplest: "first" for degrees of polynomials in ascending
            order, "last" for ascending numbers of neighbours.

        Returns
        -------
        object
            One of `values`.

        Raises
        ------
        ValueError
            If `simplest` is unknown; if `best` raises; or if there is a single split, which shows no standard error.

        Notes
        -----
        The best mean has its standard error from Nadeau and Bengio's variance, as in the intervals. For folds
        of a single cross-validation, it is about 1.4 times the standard deviation of the folds divided by the root of
        their number, which Breiman et al. use [1]_; it does not shrink with the number of repetitions.

        References
        ----------
        .. [1] Breiman, L., Friedman, J., Olshen, R. and Stone, C. (1984), "Classification and Regression Trees",
           Wadsworth, section 3.4.3.

        Examples
        --------
        >>> import numpy as np
        >>> from fastevals import KFold, validation_curve
        >>> def polynomial(x, y, x_new, degree):
        ...     return np.polyval(np.polyfit(x, y, degree), x_new)
        >>> x = np.linspace(-1, 1, 40)
        >>> y = x**2 + np.random.default_rng(3).normal(scale=0.1, size=40)
        >>> curve = validation_curve(polynomial, x, y, KFold(5, rng=0), "mean_squared_error", parameter="degree",
        ...                          values=range(1, 8))
        >>> curve.best(), curve.one_standard_error()
        (3, 2)
        """
        check_choice("simplest", simplest, ("first", "last"))
        best = self._best()
        places = np.flatnonzero(self._within_one_standard_error(best))
        if not places.size:
            raise ValueError(
                f"one_standard_error needs several splits in which the {self.metric} of the best value is finite, "
                f"got {np.count_nonzero(np.isfinite(self.test.per_split[best]))}"
            )
        return self.values[places[0] if simplest == "first" else places[-1]]

    def _within_one_standard_error(self, best: int) -> NDArray[np.bool_]:
        """Return which test values are within one standard error of the best; none if there is no standard error."""
        own = self.test.per_split[best].ravel()
        own = own[np.isfinite(own)]
        if own.size < 2 or not math.isfinite(self.test.values[best]):
            return np.zeros(len(self.values), dtype=np.bool_)
        error = mean_standard_error(own, self._test_to_train[best] if self._test_to_train else 0.0)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(self.test.values - self.test.values[best]) <= error)

    def _columns(self) -> Columns:
        """Return a table's columns, with one row per value."""
        compared: dict[str, NDArray[Any]] = {}
        if self.parameter and self.maximize is not None and not np.isnan(self.test.values).all():
            best = self._best()
            names = "difference", "difference_low", "difference_high"
            compared |= zip(names, self._differences(best), strict=True)
            compared["within_one_standard_error"] = self._within_one_standard_error(best)
        return {
            **varied_column(self.parameter, self.values),
            **self.test.columns("test_"),
            **make_columns(
                {
                    "training_value": self.training.values,
                    "training_standard_deviation": self.training.standard_deviation,
                    "gap": self.gap,
                    "fit": self.fits if self.parameter else None,
                    **compared,
                    "failure": [self.failures.get(k) for k in range(len(self.values))],
                }
            ),
        }

    def table(self) -> str:
        """Return a text table, one row per value: both errors, their standard deviations, the gap, and the label."""
        from fastevals._text import format_numbers, format_tables, format_value, printable, wrap_text

        over = self.parameter or "training rows"
        head = [over, "training", "sd", "test", "sd", "gap", ""]
        numbers = [each for line in (self.training, self.test) for each in (line.values, line.standard_deviation)]
        rows = [
            [printable(format_value(value)), *row, "failed" if k in self.failures else fit if self.parameter else ""]
            for k, (value, row, fit) in enumerate(
                zip(self.values, format_numbers(np.transpose([*numbers, self.gap])), self.fits, strict=True)
            )
        ]
        (lines,) = format_tables([[head, *rows]])
        title = f"{self.metric} on training and test rows over {over}, means of {self.test.per_split[0].size} splits"
        failed = [f"{over}={show(self.values[k])}: {text}" for k, text in self.failures.items()]
        return "\n".join([*wrap_text(title), *lines, *(line for text in failed for line in wrap_text(text))])

    def __repr__(self) -> str:
        over = self.parameter or "training rows"
        values = [
            f"{value:.4g} [{low:.4g}, {high:.4g}]"
            for value, low, high in zip(self.test.values, self.test.low, self.test.high, strict=True)
        ]
        shown = f"{values[0]} at {show(self.values[0])} to {values[-1]} at {show(self.values[-1])}"
        if self.parameter and "best" in self.fits:
            shown = f"best={show(self.best())}: {values[self._best()]}"
        return f"ErrorCurve({self.metric} over {len(self.values)} values of {over}, {shown})"


def _make_curve(
    measured: Measurement, trials: Sequence[Trial], parameter: str | None, values: Sequence[Any], **options: Any
) -> ErrorCurve:
    outcomes = measured.outcomes(trials, **options)
    raise_if_all_failed(trials, outcomes)
    splits = [each.estimate._splits for each in outcomes]
    return ErrorCurve(
        metric=measured.metric,
        parameter=parameter,
        values=tuple(values),
        test=ErrorLine.from_estimates([each.estimate for each in outcomes]),
        training=ErrorLine.from_estimates([each.estimate.training for each in outcomes if each.estimate.training]),
        maximize=measured.maximize,
        pos_label=measured.pos_label,
        confidence_level=measured.level,
        failures={k: str(each.failure) for k, each in enumerate(outcomes) if each.failure is not None},
        _test_to_train=tuple(
            0.0 if each is None else float(np.sum(each.n_test) / np.sum(each.n_train)) for each in splits
        ),
    )


def _with_fewer_rows(whole: SplitDesign, size: int, key: np.uint64, classes: Rows | None) -> Iterator[Pair]:
    """Yield splits with `size` training rows; within a split, a smaller training set is part of every larger one.

    `key` seeds the order of each split's training rows. If `classes` (the class number of each row) is given, each
    training set has proportional shares of the classes, up to rounding.
    """
    for number, (train, test) in enumerate(whole.pairs()):
        order = random_order(key, number, train.size)
        if classes is not None:
            order = order[np.argsort(_places_in_class(classes[train][order]), kind="stable")]
        yield Pair(train[np.sort(order[:size])], test)


def _places_in_class(classes: Rows) -> NDArray[np.float64]:
    """Return (i + 1/2) / n for each row, where i is its index among the n rows of its class."""
    by_class = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes)
    number = np.empty(classes.size)
    number[by_class] = np.arange(classes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray((number + 0.5) / sizes[classes])
