"""What a selection of a model gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.results import Frozen
from fastevals.split.estimates.result import ErrorEstimate
from fastevals.split.learners import Learner
from fastevals.split.selection.nested import NestedEstimate
from fastevals.split.selection.sensitivity import Sensitivity, sensitivity_of, varied_parameters
from fastevals.split.trials.candidates import Choice

__all__ = ["CandidateResult", "ModelSelection"]

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
        Of the whole selection, where asked for.
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
            return check.as_fitted_predictions(
                self._learner.name, self.model.predict(X_new), check.n_rows("X_new", X_new)
            )
        return self._learner.predictions(*self._data, None, X_new, None, ("values",))["values"]

    def sensitivity(self, parameter: str) -> Sensitivity:
        """Give the estimates at each value of a parameter of the chosen learner.

        Raises
        ------
        ValueError
            If it has not several values.
        """
        check.check_parameter("parameter", parameter, varied_parameters(self.candidates, self.best))
        return sensitivity_of(self.candidates, self.best, parameter, self.metric, self.maximize, self.confidence_level)

    def sensitivities(self) -> tuple[Sensitivity, ...]:
        """Give those of all parameters with several values, by `Sensitivity.range`: what matters most first."""
        names = varied_parameters(self.candidates, self.best)
        return tuple(sorted(map(self.sensitivity, names), key=lambda each: -each.range))

    def ranked(self) -> tuple[CandidateResult, ...]:
        """Give the candidates from the best down, those without an estimate last."""
        values = np.array([each.value for each in self.candidates])
        order = np.argsort(-values if self.maximize else values, kind="stable")  # NaN last
        return tuple(self.candidates[k] for k in order)

    def table(self) -> str:
        """Give a table as text: the candidates by their values, and what the chosen one does on the test part."""
        from fastevals.show.words import aligned, cells, printable, without_middle, wrapped, written

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
        from fastevals.show.words import column

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
