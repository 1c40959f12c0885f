"""Results of `select_model`: candidates, the estimate of the whole selection, and the effect of each parameter."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import listed, show
from fastevals.document.frames import Columns, make_columns, stack
from fastevals.infer.selection.bias_corrected import BestConfiguration
from fastevals.results import Frozen
from fastevals.split.checks import as_fitted_predictions, n_rows
from fastevals.split.estimates.results import ErrorEstimate, no_estimate
from fastevals.split.learners import Learner
from fastevals.split.trials import Choice, ErrorLine, best_place, param_columns, same_value

MOST_ROWS, MOST_FAILURES = 20, 5  # candidates shown in a table
VALUE_CHARACTERS = 28  # shown of a value in a table
MOST_NAMED = 3  # candidates named in the text of a nested estimate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelSelection(Frozen):
    """Result of `select_model`.

    The validation value of the chosen candidate is the best of many, and so too optimistic. `test_value`, `nested` and
    `corrected` are not optimistic.

    Attributes
    ----------
    metric : str
        Name of the metric.
    maximize : bool
        Whether a greater value is better.
    confidence_level : float
        Confidence level of the intervals.
    best : CandidateResult
        The chosen candidate, with its `name`, its `params` and its estimate on the validation splits.
    candidates : tuple of CandidateResult
        All candidates, in order.
    test_value : float or None
        Value of the chosen candidate on the test part, when fitted to all other rows; None without a test part.
        (`model` is fitted to all rows, so this is not its value.)
    test_rows : ndarray of intp or None
        The rows of the test part.
    nested : NestedEstimate or None
        Estimate of the whole selection, if requested.
    corrected : BestConfiguration or None
        Estimate of the chosen candidate's performance, corrected for the choice, if requested.
    model : estimator or None
        The chosen estimator, fitted to all rows; None for functions (see `predict`).
    pos_label : label or None
        The positive class; None if there is none, or if neither `pos_label` nor a default determines it.

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
    mean_squared_error on 5 validation splits, lowest first; the best value is optimistic
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
    corrected: BestConfiguration | None
    model: Any
    _learner: Learner
    _data: tuple[Any, Any] | None
    pos_label: Any = None

    def predict(self, X_new: Any) -> NDArray[Any]:
        """Predict new rows with the chosen candidate, fitted to all rows; a function is fitted anew in each call.

        Parameters
        ----------
        X_new : data with rows
            The rows to predict, in the form that the learner accepts.

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
            If the parameter does not have several values.
        """
        _check_parameter("parameter", parameter, self._varied_parameters())
        best, chosen = self.best, self.best.params[parameter]
        others = _without(best.params, parameter)
        no_value = no_estimate(best.estimate.per_split.shape)
        values = self._values(parameter)
        as_chosen, at_best, best_others = [], [], []
        for value in values:
            with_value = [
                each for each in self._with_chosen_learner(parameter) if same_value(each.params[parameter], value)
            ]
            alike = [each for each in with_value if _same_params(_without(each.params, parameter), others)]
            as_chosen.append(alike[0].estimate if alike else no_value)
            k = best_place(np.array([each.value for each in with_value]), self.maximize)
            at_best.append(no_value if k is None else with_value[k].estimate)
            best_others.append({} if k is None else _without(with_value[k].params, parameter))
        return Sensitivity(
            metric=self.metric,
            maximize=self.maximize,
            parameter=parameter,
            values=tuple(values),
            chosen=next(k for k, value in enumerate(values) if same_value(value, chosen)),
            others=others,
            as_chosen=ErrorLine.from_estimates(as_chosen),
            at_best=ErrorLine.from_estimates(at_best),
            best_others=tuple(best_others),
            confidence_level=self.confidence_level,
        )

    def sensitivities(self) -> tuple[Sensitivity, ...]:
        """Return the sensitivities of all parameters with several values, sorted by descending `Sensitivity.range`."""
        return tuple(sorted(map(self.sensitivity, self._varied_parameters()), key=lambda each: -each.range))

    def _varied_parameters(self) -> list[str]:
        """Return the parameters that have several values among the chosen learner's candidates."""
        return [name for name in self.best.params if len(self._values(name)) > 1]

    def _values(self, parameter: str) -> list[Any]:
        """Return the values of a parameter among the chosen learner's candidates, in the candidates' order."""
        values: list[Any] = []
        for each in self._with_chosen_learner(parameter):
            if not any(same_value(each.params[parameter], value) for value in values):
                values.append(each.params[parameter])
        return values

    def _with_chosen_learner(self, parameter: str) -> list[CandidateResult]:
        return [each for each in self.candidates if each.name == self.best.name and parameter in each.params]

    def ranked(self) -> tuple[CandidateResult, ...]:
        """Return the candidates from best to worst; those without an estimate come last."""
        values = np.array([each.value for each in self.candidates])
        order = np.argsort(-values if self.maximize else values, kind="stable")  # NaN last
        return tuple(self.candidates[k] for k in order)

    def _columns(self) -> Columns:
        """Return a table's columns, with one row per candidate."""
        columns = stack(({}, each._columns()) for each in self.candidates)
        return {**columns, "chosen": np.array([each is self.best for each in self.candidates])}

    def table(self) -> str:
        """Return a text table of the candidates, best first, and the chosen candidate's value on the test part."""
        from fastevals._text import format_numbers, format_tables, format_value, printable, shorten_name, wrap_text

        ranked = self.ranked()
        parameters = list(dict.fromkeys(name for each in ranked for name in each.params))
        named = len({each.name for each in ranked}) > 1 or not parameters

        def row(each: CandidateResult, numbers: list[str]) -> list[str]:
            values = [format_value(each.params.get(name, "")) for name in parameters]
            mark = "chosen" if each is self.best else "failed" if each.failure else ""
            first = [each.name, *values] if named else values
            return [*(shorten_name(printable(text), VALUE_CHARACTERS) for text in first), *numbers, mark]

        shown = ranked[:MOST_ROWS]
        numbers = [(each.value, each.estimate.standard_deviation, *each.estimate.confidence_interval) for each in shown]
        head = [*(["candidate"] if named else []), *parameters, "value", "sd", "low", "high", ""]
        (lines,) = format_tables([[head, *map(row, shown, format_numbers(numbers))]])
        if len(ranked) > MOST_ROWS:
            lines.append(f"... {len(ranked) - MOST_ROWS} more")
        n_splits = self.best.estimate.per_split.size
        order = "highest" if self.maximize else "lowest"
        title = f"{self.metric} on {n_splits} validation splits, {order} first; the best value is optimistic"
        failed = [f"{each}: {each.failure}" for each in self.candidates if each.failure]
        more = [f"... {len(failed) - MOST_FAILURES} more failed"] if len(failed) > MOST_FAILURES else []
        below = [*failed[:MOST_FAILURES], *more, *self._unseen_rows()]
        return "\n".join([*wrap_text(title), *lines, *(line for text in below for line in wrap_text(text))])

    def _unseen_rows(self) -> list[str]:
        """Return lines of text with the values from rows that had no part in the choice."""
        from fastevals._text import format_column

        lines = []
        if self.test_value is not None and self.test_rows is not None:
            lines.append(f"test part ({self.test_rows.size} rows): {format_column([self.test_value])[0]}")
        if self.corrected is not None:
            value, low, high = format_column([self.corrected.value, *self.corrected.confidence_interval])
            lines.append(f"corrected for the choice, rows pooled: {value} [{low}, {high}]")
        if self.nested is not None:
            estimate = self.nested.estimate
            value, low, high = format_column([estimate.value, *estimate.confidence_interval])
            name = f"nested ({estimate.per_split.size} outer splits)"
            lines.append(f"{name}: {value} [{low}, {high}], chosen {self.nested.often()}")
            if self.nested.failures:
                lines.append(self.nested.failed())
        return lines

    def __repr__(self) -> str:
        test = "" if self.test_value is None else f", test={self.test_value:.4g}"
        nested = ""
        if self.nested is not None:
            low, high = self.nested.estimate.confidence_interval
            nested = f", nested={self.nested.estimate.value:.4g} [{low:.4g}, {high:.4g}]"
        best = f"{self.best}, {self.metric}={self.best.value:.4g}"
        return f"ModelSelection({best}{test}{nested}, {len(self.candidates)} candidates)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateResult(Frozen):
    """Result of one candidate in a selection.

    Attributes
    ----------
    choice : (name, params)
        The learner's name and its parameters from the grid; see also `name` and `params`.
    estimate : ErrorEstimate
        Estimate from the validation splits; NaN if a fit failed.
    failure : str or None
        The error that was raised, and the fit that raised it; None if no fit failed.
    """

    choice: Choice
    estimate: ErrorEstimate
    failure: str | None

    @property
    def name(self) -> str:
        """Name of the learner."""
        return self.choice.name

    @property
    def params(self) -> dict[str, Any]:
        """The learner's parameters from the grid."""
        return self.choice.params

    @property
    def value(self) -> float:
        """Mean over the validation splits."""
        return self.estimate.value

    def _columns(self) -> Columns:
        params = param_columns({name: [value] for name, value in self.params.items()})
        return {
            **make_columns({"name": self.name}),
            **params,
            **self.estimate._columns(),
            **make_columns({"failure": self.failure}),
        }

    def __str__(self) -> str:
        return str(self.choice)

    def __repr__(self) -> str:
        return f"CandidateResult({self}, {'failed' if self.failure else f'{self.value:.4g}'})"


class OuterFailure(NamedTuple):
    """A candidate that failed in an outer split, and its first error."""

    split: int
    choice: Choice
    failure: str

    def __str__(self) -> str:
        return f"{self.choice} in outer split {self.split}: {self.failure}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NestedEstimate(Frozen):
    """Estimate of the whole selection: each outer split selects a model and measures it on unseen rows.

    Attributes
    ----------
    estimate : ErrorEstimate
        Estimate from the outer splits; the value of a split is NaN if all candidates failed, or if the chosen
        candidate's fit failed.
    chosen : tuple of (name, params), or None
        The candidate chosen in each outer split, in the order of ``estimate.per_split.ravel()``; None if no candidate
        has a value.
    failures : tuple of (split, choice, failure)
        Errors in outer splits, where `split` is an index into `chosen`: the first error of each candidate that failed
        in the search (the search went on without it), or the error of the chosen candidate's fit.

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
        """Return how many outer splits chose each candidate, largest number first.

        If different candidates were chosen, the choice depends on chance.
        """
        names = [str(each) for each in self.chosen if each is not None]
        return dict(sorted(((name, names.count(name)) for name in dict.fromkeys(names)), key=lambda item: -item[1]))

    def often(self) -> str:
        """Return text that names the candidates chosen most often."""
        texts = [f"{count} x {name}" for name, count in self.counts().items()]
        if not texts:
            return "none"
        return ", ".join(texts[:MOST_NAMED]) + (f", ... ({len(texts)} in all)" if len(texts) > MOST_NAMED else "")

    def failed(self) -> str:
        """Return text with the number of failed fits and the first error; "" if no fit failed."""
        if not self.failures:
            return ""
        n = len(self.failures)
        return f"{n} {'fit' if n == 1 else 'fits'} failed in the outer splits, the first: {self.failures[0]}"

    def _columns(self) -> Columns:
        """Return a table's columns, with one row per outer split."""
        chosen = [None if each is None else str(each) for each in self.chosen]
        return make_columns({"split": range(len(chosen)), "value": self.estimate.per_split.ravel(), "chosen": chosen})

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"NestedEstimate({self.estimate!r}, chosen {self.often()}{failed})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sensitivity(Frozen):
    """Estimates at each value of one parameter: with the other parameters as chosen, and with their best values.

    Attributes
    ----------
    metric : str
        Name of the metric, estimated on validation rows.
    maximize : bool
        Whether a greater value is better.
    parameter : str
        Name of the varied parameter.
    values : tuple
        Values of the parameter, in the order of the candidates.
    chosen : int
        Index of the chosen value in `values`.
    others : dict
        Values of the other parameters in the chosen candidate.
    as_chosen : ErrorLine
        Estimates with the other parameters as chosen; NaN if there is no such candidate.
    at_best : ErrorLine
        Estimates with the other parameters at their best values, for each value of the parameter.
    best_others : tuple of dict
        Best values of the other parameters, for each value of the parameter.
    confidence_level : float
        Confidence level of the intervals.


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
        """Largest minus smallest mean with the other parameters as chosen: the effect of this parameter."""
        least, largest = float(np.nanmin(self.as_chosen.values)), float(np.nanmax(self.as_chosen.values))
        return 0.0 if least == largest else largest - least

    def _columns(self) -> Columns:
        """Return a table's columns, with one row per value."""
        numbers = {**self.as_chosen.columns("as_chosen_"), **self.at_best.columns("at_best_")}
        chosen = np.arange(len(self.values)) == self.chosen
        return {**param_columns({self.parameter: self.values}), **numbers, "chosen": chosen}

    def table(self) -> str:
        """Return a text table of the estimates at each value, with the other parameters as chosen and at their best."""
        from fastevals._text import format_numbers, format_tables, format_value, printable, wrap_text

        others = ", ".join(f"{name}={show(value)}" for name, value in self.others.items())
        head = [self.parameter, "as chosen", "low", "high", "", "at best", "low", "high"]
        lines = self.as_chosen, self.at_best
        numbers = format_numbers(np.transpose([each for line in lines for each in (line.values, line.low, line.high)]))
        rows = [
            [printable(format_value(value)), *row[:3], "chosen" if k == self.chosen else "", *row[3:]]
            for k, (value, row) in enumerate(zip(self.values, numbers, strict=True))
        ]
        (text,) = format_tables([[head, *rows]])
        title = f"{self.metric} on validation rows over {self.parameter}; as chosen: with {others or 'no others'}"
        return "\n".join([*wrap_text(title), *text])

    def __repr__(self) -> str:
        return (
            f"Sensitivity({self.metric} over {len(self.values)} values of {self.parameter}, "
            f"chosen={show(self.values[self.chosen])}, range={self.range:.4g})"
        )


def _without(params: dict[str, Any], parameter: str) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != parameter}


def _same_params(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(same_value(one[name], other[name]) for name in one)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_parameter(name: str, parameter: Any, varied: Collection[str]) -> None:
    """Raise unless a parameter has several values among the candidates."""
    if parameter not in varied:
        raise ValueError(
            f"{name} must be a parameter with several values: {listed(varied) or 'none has'}; got {show(parameter)}"
        )
