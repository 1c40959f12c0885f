"""Selection of a model: candidates compared on validation splits, and an honest estimate of the one chosen."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._random import seed_key
from fastevals._validation.options import _warn, check_integer, is_splitter, listed, show
from fastevals.results import Frozen
from fastevals.split.checks import as_fitted_predictions, as_share_or_count, check_direction, check_some_defined, n_rows
from fastevals.split.designs import SplitDesign
from fastevals.split.estimates.fits import Fit
from fastevals.split.estimates.results import ErrorEstimate, no_estimate
from fastevals.split.learners import Failure, Learner, take_rows
from fastevals.split.splitters.base import Pair
from fastevals.split.splitters.hold_out import HoldOut
from fastevals.split.splitters.k_fold import KFold
from fastevals.split.trials import (
    Candidate,
    Choice,
    ErrorLine,
    Measurement,
    Outcome,
    Trial,
    best_place,
    list_candidates,
    raise_if_all_failed,
    same_value,
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sensitivity(Frozen):
    """The estimate at each value of one parameter, the others as they were chosen and at their best.

    Attributes
    ----------
    metric : str
        What was estimated, on validation rows.
    maximize : bool
        Whether greater is better.
    parameter : str
        What varies.
    values : tuple
        Its values, in the order of the candidates.
    chosen : int
        The place of the chosen one.
    others : dict
        The other parameters as they were chosen.
    as_chosen : ErrorLine
        Estimates with those; NaN where no candidate has them.
    at_best : ErrorLine
        Estimates with the others at what is best for each value.
    best_others : tuple of dict
        What that is.
    confidence_level : float
        Of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import select_model
    >>> def polynomial(x, y, x_new, degree, shift):
    ...     return np.polyval(np.polyfit(x, y, degree), x_new) + shift
    >>> x = np.linspace(-1, 1, 40)
    >>> grid = {"degree": [1, 2], "shift": [0, 1]}
    >>> found = select_model(polynomial, x, abs(x), "mean_squared_error", grid=grid, rng=0)
    >>> [each.parameter for each in found.sensitivities()]
    ['shift', 'degree']
    """

    metric: str
    maximize: bool
    parameter: str
    values: tuple[Any, ...]
    chosen: int
    others: dict[str, Any]
    as_chosen: ErrorLine
    at_best: ErrorLine
    best_others: tuple[dict[str, Any], ...]
    confidence_level: float

    @property
    def range(self) -> float:
        """The largest less the least mean with the other parameters as chosen: how much this one matters."""
        least, largest = float(np.nanmin(self.as_chosen.values)), float(np.nanmax(self.as_chosen.values))
        return 0.0 if least == largest else largest - least

    def table(self) -> str:
        """Return a table as text: at each value the estimates with the others as chosen, and at their best."""
        from fastevals._text import aligned, cells, printable, wrapped, written

        others = ", ".join(f"{name}={show(value)}" for name, value in self.others.items())
        head = [self.parameter, "as chosen", "low", "high", "", "at best", "low", "high"]
        lines = self.as_chosen, self.at_best
        numbers = cells(np.transpose([each for line in lines for each in (line.values, line.low, line.high)]))
        rows = [
            [printable(written(value)), *row[:3], "chosen" if k == self.chosen else "", *row[3:]]
            for k, (value, row) in enumerate(zip(self.values, numbers, strict=True))
        ]
        (text,) = aligned([[head, *rows]])
        title = f"{self.metric} on validation rows over {self.parameter}; as chosen: with {others or 'no others'}"
        return "\n".join([*wrapped(title), *text])

    def __repr__(self) -> str:
        return (
            f"Sensitivity({self.metric} over {len(self.values)} values of {self.parameter}, "
            f"chosen={show(self.values[self.chosen])}, range={self.range:.4g})"
        )


def varied_parameters(candidates: Sequence[Any], best: Any) -> list[str]:
    """Return the parameters with several values among the candidates of the chosen learner."""
    own = [each for each in candidates if each.name == best.name]
    return [name for name in best.params if len(_values_of(own, name)) > 1]


def _values_of(own: Sequence[Any], parameter: str) -> list[Any]:
    found: list[Any] = []
    for each in own:
        if parameter in each.params and not any(same_value(each.params[parameter], value) for value in found):
            found.append(each.params[parameter])
    return found


def measure_sensitivity(
    candidates: Sequence[Any], best: Any, parameter: str, metric: str, maximize: bool, level: float
) -> Sensitivity:
    """Gather the estimates of the candidates of the chosen learner by the value of one parameter."""
    own = [each for each in candidates if each.name == best.name and parameter in each.params]
    others = {name: value for name, value in best.params.items() if name != parameter}
    values = _values_of(own, parameter)
    nothing = no_estimate(best.estimate.per_split.shape)
    as_chosen, at_best, best_others = [], [], []
    for value in values:
        here = [each for each in own if same_value(each.params[parameter], value)]
        alike = [each for each in here if _others_are(each, parameter, others)]
        as_chosen.append(alike[0].estimate if alike else nothing)
        k = best_place(np.array([each.value for each in here]), maximize)
        at_best.append(nothing if k is None else here[k].estimate)
        best_others.append({} if k is None else {n: v for n, v in here[k].params.items() if n != parameter})
    return Sensitivity(
        metric=metric,
        maximize=maximize,
        parameter=parameter,
        values=tuple(values),
        chosen=next(k for k, value in enumerate(values) if same_value(value, best.params[parameter])),
        others=others,
        as_chosen=ErrorLine.from_estimates(as_chosen),
        at_best=ErrorLine.from_estimates(at_best),
        best_others=tuple(best_others),
        confidence_level=level,
    )


def _others_are(candidate: Any, parameter: str, others: dict[str, Any]) -> bool:
    own = {name: value for name, value in candidate.params.items() if name != parameter}
    return own.keys() == others.keys() and all(same_value(own[name], others[name]) for name in own)


MOST = 3  # candidates named


class OuterFailure(NamedTuple):
    """A candidate of which a fit failed in an outer split, and what was raised first."""

    split: int
    choice: Choice
    failure: str

    def __str__(self) -> str:
        return f"{self.choice} in outer split {self.split}: {self.failure}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NestedEstimate(Frozen):
    """How well selecting a model works: in each outer split one is selected, and measured on rows it has not seen.

    Attributes
    ----------
    estimate : ErrorEstimate
        Over the outer splits; NaN in one where all candidates, or the fit of the chosen one, failed.
    chosen : tuple of (name, params), or None
        What was chosen in each outer split, in the order of ``estimate.per_split.ravel()``; None where none has a
        value.
    failures : tuple of (split, choice, failure)
        What was raised in outer splits, numbered as in `chosen`: the first of each candidate that failed in the search,
        which was made without it, or of the fit of the chosen one.

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import select_model
    >>> def polynomial(x, y, x_new, degree):
    ...     return np.polyval(np.polyfit(x, y, degree), x_new)
    >>> x = np.linspace(-1, 1, 40)
    >>> found = select_model(polynomial, x, x**2, "mean_absolute_error", grid={"degree": [1, 2]}, nested=5, rng=0)
    >>> found.nested.counts()
    {'polynomial(degree=2)': 5}
    """

    estimate: ErrorEstimate
    chosen: tuple[Choice | None, ...]
    failures: tuple[OuterFailure, ...]

    def counts(self) -> dict[str, int]:
        """Return how often each candidate was chosen, the most often first: one that changes is a matter of chance."""
        names = [str(each) for each in self.chosen if each is not None]
        return dict(sorted(((name, names.count(name)) for name in dict.fromkeys(names)), key=lambda item: -item[1]))

    def often(self) -> str:
        """Say which candidates were chosen most often."""
        said = [f"{count} x {name}" for name, count in self.counts().items()]
        if not said:
            return "none"
        return ", ".join(said[:MOST]) + (f", ... ({len(said)} in all)" if len(said) > MOST else "")

    def failed(self) -> str:
        """Say how many failed, and what the first raised; nothing if none did."""
        if not self.failures:
            return ""
        n = len(self.failures)
        return f"{n} {'fit' if n == 1 else 'fits'} failed in the outer splits, the first: {self.failures[0]}"

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"NestedEstimate({self.estimate!r}, chosen {self.often()}{failed})"


MOST_ROWS, MOST_FAILURES = 20, 5  # of a table
LONGEST = 28  # characters of a value in a table


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateResult(Frozen):
    """A candidate of a selection.

    Attributes
    ----------
    choice : (name, params)
        The learner's name and the parameters of the grid, which can be read here too: ``result.params``.
    estimate : ErrorEstimate
        Over the validation splits; NaN where a fit failed.
    failure : str or None
        What was raised, and in which fit.
    """

    choice: Choice
    estimate: ErrorEstimate
    failure: str | None

    @property
    def name(self) -> str:
        """The learner's."""
        return self.choice.name

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the grid."""
        return self.choice.params

    @property
    def value(self) -> float:
        """The estimate's: the mean over the validation splits."""
        return self.estimate.value

    def __str__(self) -> str:
        return str(self.choice)

    def __repr__(self) -> str:
        return f"CandidateResult({self}, {'failed' if self.failure else f'{self.value:.4g}'})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelSelection(Frozen):
    """What `select_model` gives.

    The value of the best candidate, the best of many, is too optimistic. `test_value` and `nested` are not.

    Attributes
    ----------
    metric : str
        What was measured.
    maximize : bool
        Whether greater is better.
    confidence_level : float
        Of the intervals.
    best : CandidateResult
        The chosen candidate: its `name`, `params` and estimate on the validation splits.
    candidates : tuple of CandidateResult
        All, in order.
    test_value : float or None
        The chosen one's on the test part, after a fit to all other rows; None without a test part.
    test_rows : ndarray of intp or None
        The rows of the test part.
    nested : NestedEstimate or None
        Of the whole selection, where specs for.
    model : estimator or None
        The chosen one fitted on all rows; None for functions (see `predict`).
    pos_label : label or None
        The positive class; None where there is none, or nobody said which it is.

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import select_model
    >>> def polynomial(x, y, x_new, degree):
    ...     return np.polyval(np.polyfit(x, y, degree), x_new)
    >>> x = np.linspace(-1, 1, 100)
    >>> y = x**2 + np.random.default_rng(1).normal(scale=0.1, size=100)
    >>> found = select_model(polynomial, x, y, "mean_squared_error", grid={"degree": [0, 2]}, rng=0)
    >>> print(found.table())
    mean_squared_error on 5 validation splits, the least first; the best of many is too optimistic
    degree  value     sd    low   high
    2      0.0081 0.0030 0.0025 0.0137 chosen
    0      0.0964 0.0278 0.0447 0.1481
    test part (20 rows): 0.006220
    >>> found.predict(np.array([0.5])).round(1)
    array([0.2])
    """

    metric: str
    maximize: bool
    confidence_level: float
    best: CandidateResult
    candidates: tuple[CandidateResult, ...]
    test_value: float | None
    test_rows: NDArray[np.intp] | None
    nested: NestedEstimate | None
    model: Any
    _learner: Learner
    _data: tuple[Any, Any] | None
    pos_label: Any = None

    def predict(self, X_new: Any) -> NDArray[Any]:
        """Predict other rows by the chosen candidate, fitted on all rows; a function is fitted at each call.

        Parameters
        ----------
        X_new : data with rows
            As the learner takes them.

        Returns
        -------
        ndarray of shape (n_new,)
        """
        if self._data is None:
            return as_fitted_predictions(self._learner.name, self.model.predict(X_new), n_rows("X_new", X_new))
        return self._learner.predictions(*self._data, None, X_new, None, ("values",))["values"]

    def sensitivity(self, parameter: str) -> Sensitivity:
        """Return the estimates at each value of a parameter of the chosen learner.

        Raises
        ------
        ValueError
            If it has not several values.
        """
        _check_parameter("parameter", parameter, varied_parameters(self.candidates, self.best))
        return measure_sensitivity(
            self.candidates, self.best, parameter, self.metric, self.maximize, self.confidence_level
        )

    def sensitivities(self) -> tuple[Sensitivity, ...]:
        """Return those of all parameters with several values, by `Sensitivity.range`: what matters most first."""
        names = varied_parameters(self.candidates, self.best)
        return tuple(sorted(map(self.sensitivity, names), key=lambda each: -each.range))

    def ranked(self) -> tuple[CandidateResult, ...]:
        """Return the candidates from the best down, those without an estimate last."""
        values = np.array([each.value for each in self.candidates])
        order = np.argsort(-values if self.maximize else values, kind="stable")  # NaN last
        return tuple(self.candidates[k] for k in order)

    def table(self) -> str:
        """Return a table as text: the candidates by their values, and what the chosen one does on the test part."""
        from fastevals._text import aligned, cells, printable, without_middle, wrapped, written

        ranked = self.ranked()
        parameters = list(dict.fromkeys(name for each in ranked for name in each.params))
        named = len({each.name for each in ranked}) > 1 or not parameters

        def row(each: CandidateResult, numbers: list[str]) -> list[str]:
            said = [written(each.params.get(name, "")) for name in parameters]
            mark = "chosen" if each is self.best else "failed" if each.failure else ""
            first = [each.name, *said] if named else said
            return [*(without_middle(printable(word), LONGEST) for word in first), *numbers, mark]

        shown = ranked[:MOST_ROWS]
        numbers = [(each.value, each.estimate.standard_deviation, *each.estimate.confidence_interval) for each in shown]
        head = [*(["candidate"] if named else []), *parameters, "value", "sd", "low", "high", ""]
        (lines,) = aligned([[head, *map(row, shown, cells(numbers))]])
        if len(ranked) > MOST_ROWS:
            lines.append(f"... {len(ranked) - MOST_ROWS} more")
        n_splits = self.best.estimate.per_split.size
        order = "greatest" if self.maximize else "least"
        title = f"{self.metric} on {n_splits} validation splits, the {order} first; the best of many is too optimistic"
        failed = [f"{each}: {each.failure}" for each in self.candidates if each.failure]
        more = [f"... {len(failed) - MOST_FAILURES} more failed"] if len(failed) > MOST_FAILURES else []
        said = [*failed[:MOST_FAILURES], *more, *self._honest()]
        return "\n".join([*wrapped(title), *lines, *(line for text in said for line in wrapped(text))])

    def _honest(self) -> list[str]:
        """Say what rows say that the choice was not made by."""
        from fastevals._text import column

        said = []
        if self.test_value is not None and self.test_rows is not None:
            said.append(f"test part ({self.test_rows.size} rows): {column([self.test_value])[0]}")
        if self.nested is not None:
            estimate = self.nested.estimate
            value, low, high = column([estimate.value, *estimate.confidence_interval])
            of = f"nested ({estimate.per_split.size} outer splits)"
            said.append(f"{of}: {value} [{low}, {high}], chosen {self.nested.often()}")
            if self.nested.failures:
                said.append(self.nested.failed())
        return said

    def __repr__(self) -> str:
        test = "" if self.test_value is None else f", test={self.test_value:.4g}"
        nested = "" if self.nested is None else f", nested={self.nested.estimate.value:.4g}"
        best = f"{self.best}, {self.metric}={self.best.value:.4g}"
        return f"ModelSelection({best}{test}{nested}, {len(self.candidates)} candidates)"


Rows = NDArray[np.intp]


def select_model(
    candidates: Any,
    X: Any,
    y: Any,
    metric: Any,
    *,
    grid: Any = None,
    splitter: Any = 5,
    test: Any = 0.2,
    nested: Any = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    maximize: bool | None = None,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    progress: bool = False,
    rng: Any = None,
) -> ModelSelection:
    """Choose the candidate with the best mean over validation splits, and say how well it does on rows kept apart.

    A test part is set aside first. The other rows, the training part, are split into rows to fit on and validation
    rows, the same for all candidates. The best is fitted on the training part and measured on the test part, once.
    Then it is fitted on all rows.

    Parameters
    ----------
    candidates : function, estimator or mapping
        A learner as for `estimate_error`, or a mapping of names to learners or pairs (learner, grid).
    X, y : data of n_samples rows
        As for `estimate_error`.
    metric : str, `metric(...)` or function
        What to choose by, as for `estimate_error`; one.
    grid : mapping or list of mappings, optional
        Of one learner: the values of each parameter, of which all combinations are candidates, or several such grids.
    splitter : int or splitter
        Validation splits of the training part: folds, or a splitter of this package or of scikit-learn's kind.
    test : float, int, splitter or None
        The test part: its share or number of rows, a splitter that gives one split, or None for none.
    nested : int or splitter, optional
        Outer splits of a nested cross-validation. It runs on the rows that the selection sees: the training part where
        there is a test part, otherwise all. The whole selection is made anew in the training rows of each outer split,
        and what it chooses is measured on the outer test rows.
    groups : array-like of shape (n_samples,), optional
        Rows that belong together: no split of any kind parts them.
    pos_label, labels
        As for `estimate_error`.
    maximize : bool, optional
        Whether a greater value is better; known of a metric with a name, of a function it must be given.
    confidence_level : float in (0, 1)
        Of the intervals.
    n_jobs : int, optional
        Workers of joblib, -1 for one a CPU, for the fits of all candidates on all splits; by default all are made here.
    progress : bool
        Show a bar of these fits (needs tqdm).
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed of the parts and folds that are given as numbers. These are stratified where the metric is of classes; a
        test part with `groups` is not.

    Returns
    -------
    ModelSelection

    Raises
    ------
    ValueError
        If an argument is not as described, or the metric is undefined for all candidates. If all candidates fail, the
        error of the first, with a note of where; so too if the chosen one fails on the training part, or on all rows.

    Warns
    -----
    UndefinedMetricWarning
        If the metric is undefined in some splits: they are left out of a candidate's mean. If an outer split has no
        value, as fits failed there: it is left out of the nested mean.

    Notes
    -----
    A candidate of which a fit raises has an estimate of NaN and is not chosen; its `failure` says what. Of equal
    means the first candidate's is taken: put simpler ones first.

    The best validation value is the least of many estimates, each with an error of its own, and so too optimistic [1]_.
    The test value is of rows that had no part in the choice. On few rows it says little; then a nested
    cross-validation [2]_ with ``test=None`` uses all rows for both. It estimates how well the selection works on as
    many rows as the outer training parts have, not one model.

    References
    ----------
    .. [1] Cawley, G. and Talbot, N. (2010), "On Over-fitting in Model Selection and Subsequent Selection Bias in
       Performance Evaluation", JMLR 11, 2079-2107.
    .. [2] Varma, S. and Simon, R. (2006), "Bias in error estimation when using cross-validation for model selection",
       BMC Bioinformatics 7, 91, doi:10.1186/1471-2105-7-91.

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import select_model
    >>> def polynomial(x, y, x_new, degree):
    ...     return np.polyval(np.polyfit(x, y, degree), x_new)
    >>> x = np.linspace(-1, 1, 100)
    >>> y = x**2 + np.random.default_rng(1).normal(scale=0.1, size=100)
    >>> select_model(polynomial, x, y, "mean_squared_error", grid={"degree": [0, 2]}, rng=0).best.params
    {'degree': 2}
    """
    tried = list_candidates(candidates, grid)
    measured = Measurement.build(
        X, y, metric, groups=groups, pos_label=pos_label, labels=labels, maximize=maximize,
        confidence_level=confidence_level,
    )  # fmt: skip
    better = check_direction("maximize", measured.metric, measured.maximize)
    splits = _SplitMaker(measured, int(seed_key("rng", rng)))
    held_out = None if test is None else splits.test_part(test)
    rows = np.arange(measured.n_samples) if held_out is None else held_out.train
    seen = f"all {rows.size} rows" if held_out is None else f"the {rows.size} rows of the training part"
    outer = None if nested is None else splits.made("nested", nested, splits.folds("nested", nested, 2), rows, seen)
    outer_pairs = [] if outer is None else _to_split_further("nested", outer)
    inner = splits.folds("splitter", splitter, 1)
    searches = [splits.made("splitter", splitter, inner, rows, seen)] + [
        splits.made("splitter", splitter, inner, part, f"the {part.size} training rows of the outer split {k}")
        for k, (part, _) in enumerate(outer_pairs)
    ]
    trials = [[Trial(candidate, each) for candidate in tried] for each in searches]
    outcomes = iter(measured.outcomes([each for search in trials for each in search], n_jobs=n_jobs, progress=progress))
    found = [list(islice(outcomes, len(tried))) for _ in searches]

    raise_if_all_failed(trials[0], found[0])
    best = check_some_defined(measured.metric, _best(found[0], better), len(tried), "candidates")
    estimate = None
    if outer is not None:
        estimate = _nested(measured, tried, found[1:], better, outer_pairs, outer, n_jobs)
    choice, learner = tried[best]
    test_value = None
    if held_out is not None:
        (measure,) = measured.fits([Fit(learner, *held_out, f"{choice}, the training part")], 1)
        test_value = measured.value(measure, "test part")
    whole = take_rows(X, None), take_rows(y, None)  # copies: later changes to the user's data change nothing
    model = _refit(choice, learner, *whole) if learner.is_estimator else None
    results = tuple(
        CandidateResult(each.choice, own, None if failure is None else str(failure))
        for each, (own, failure) in zip(tried, found[0], strict=True)
    )
    return ModelSelection(
        metric=measured.metric,
        maximize=better,
        pos_label=measured.pos_label,
        confidence_level=measured.level,
        best=results[best],
        candidates=results,
        test_value=test_value,
        test_rows=None if held_out is None else held_out.test,
        nested=estimate,
        model=model,
        _learner=learner,
        _data=None if learner.is_estimator else whole,
    )


class _SplitMaker(NamedTuple):
    """Makes splitters of numbers, each with a seed of its own."""

    measured: Measurement
    key: int

    def folds(self, name: str, value: Any, stream: int) -> Any:
        """Return a splitter, of a number of folds or as it is."""
        n_folds = _check_folds_or_splitter(name, value, self.measured.n_samples)
        if n_folds is None:
            return value
        return KFold(n_folds, stratified=self.measured.of_classes, rng=[self.key, stream])

    def made(self, name: str, value: Any, splitter: Any, part: Rows | None, of: str) -> SplitDesign:
        """Return the splits of some rows, or of all, that a splitter makes, given as a value; `of` says which rows."""
        if splitter is not value and splitter.stratified:
            kind = type(splitter).__name__
            of += f"; stratified as the metric is of classes, which {name}={kind}({show(value)}) is not"
        with _naming(name, f"of {of}"):
            return self.measured.splits(name, splitter, part)

    def test_part(self, value: Any) -> Pair:
        """Return the rows of the training part and those of the test part."""
        splitter = value
        if not is_splitter(value):
            size = as_share_or_count("test", value)
            stratified = self.measured.of_classes and self.measured.groups is None
            splitter = HoldOut(size, stratified=stratified, rng=[self.key, 0])
        made = self.made("test", value, splitter, None, f"all {self.measured.n_samples} rows")
        pairs = _to_split_further("test", made)
        _check_one_split("test", len(pairs))
        return pairs[0]


def _to_split_further(name: str, splits: SplitDesign) -> list[Pair]:
    """Return splits whose training parts are to be split further."""
    pairs = list(splits.pairs())
    for pair in pairs:
        _check_distinct_rows(name, pair.train)
    return pairs


def _best(outcomes: Sequence[Outcome], maximize: bool) -> int | None:
    return best_place(np.array([estimate.value for estimate, _ in outcomes]), maximize)


def _nested(
    measured: Measurement,
    tried: Sequence[Candidate],
    searches: Sequence[Sequence[Outcome]],
    maximize: bool,
    pairs: Sequence[Pair],
    outer: SplitDesign,
    n_jobs: int | None,
) -> NestedEstimate:
    """Choose in each outer split by its search, and measure what was chosen on its test rows."""
    places = [_best(each, maximize) for each in searches]
    chosen = [None if k is None else tried[k] for k in places]
    fits = [
        Fit(each.learner, *pair, "all training rows of the outer split")
        for each, pair in zip(chosen, pairs, strict=True)
        if each is not None
    ]
    counted = iter(measured.fits(fits, len(fits), keep_failures=True, n_jobs=n_jobs))
    found = [None if each is None else next(counted) for each in chosen]
    failures = []
    for k, (search, own, measure) in enumerate(zip(searches, chosen, found, strict=True)):
        tries = [(each, failure) for each, (_, failure) in zip(tried, search, strict=True)]
        for candidate, failure in (*tries, (own, measure)):
            if candidate is not None and isinstance(failure, Failure):
                failures.append(OuterFailure(k, candidate.choice, str(failure)))
    names = tuple(None if each is None else each.choice for each in chosen)
    result = NestedEstimate(measured.estimate(found, outer.shape, outer.fixed), names, tuple(failures))
    missing = sum(each is None or isinstance(each, Failure) for each in found)
    if missing:
        _warn_outer_splits(measured.metric, missing, len(found), result.failed())
    return result


def _refit(choice: Choice, learner: Learner, X: Any, y: Any) -> Any:
    """Fit the chosen estimator to all rows."""
    try:
        return learner.fit(X, y)
    except Exception as error:
        Failure(error, f"{choice}, all rows").noted()
        raise


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_folds_or_splitter(name: str, value: Any, n: int) -> int | None:
    """Return a number of folds of n rows, or None of a splitter."""
    if is_splitter(value):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be a number of folds or a splitter, got {show(value)}")
    return check_integer(name, value, low=2, high=n)


def _check_one_split(name: str, n_splits: int) -> None:
    """Raise unless a splitter gives one split."""
    if n_splits != 1:
        raise ValueError(f"{name} must give one split, the test part, but gives {n_splits}")


def _check_parameter(name: str, parameter: Any, varied: Collection[str]) -> None:
    """Raise unless a parameter has several values among the candidates."""
    if parameter not in varied:
        raise ValueError(
            f"{name} must be a parameter with several values: {listed(varied) or 'none has'}; got {show(parameter)}"
        )


@contextmanager
def _naming(name: str, of: str) -> Iterator[None]:
    """Put the user's argument before an error about what was made of it, and what it was applied to after."""
    try:
        yield
    except ValueError as error:
        if str(error).startswith((f"{name} ", f"{name}[")):
            raise
        raise ValueError(f"{name}: {error} ({of})") from error


def _warn_outer_splits(metric: str, missing: int, n: int, failed: str) -> None:
    """Warn of outer splits in which no candidate was measured."""
    why = f"; {failed}" if failed else ""
    _warn(f"{metric} has no value in {missing} of {n} outer splits, which are left out (n_undefined){why}")


def _check_distinct_rows(name: str, rows: NDArray[np.intp]) -> None:
    """Raise if a row is more than once among those that are to be split further: it would be on both sides."""
    if np.unique(rows).size < rows.size:
        raise ValueError(
            f"{name} must have each training row once, as these are split further; got {rows.size} rows of which "
            f"{np.unique(rows).size} differ"
        )
