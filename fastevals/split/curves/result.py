"""What the error over a parameter, or over the number of training rows, gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.results import Frozen
from fastevals.split.trials.candidates import best_of
from fastevals.split.trials.lines import ErrorLine

__all__ = ["ErrorCurve"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorCurve(Frozen):
    """Training and test error at each value of a parameter, or number of training rows.

    Attributes
    ----------
    metric : str
        What is measured.
    parameter : str or None
        What varies; None for the number of training rows.
    values : tuple
        The parameter's values in the order given, or the numbers of rows, ascending.
    test, training : ErrorLine
        Of rows that were not learned from, and of those that were, which have no intervals.
    maximize : bool or None
        Whether greater is better; None if that isn't known.
    confidence_level : float
        Of the intervals.
    failures : dict of int to str
        What fits raised, by the place of the value; its means are NaN.
    pos_label : label or None
        The positive class; None where there is none, or nobody said which it is.

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

    @property
    def gap(self) -> Floats:
        """Test less training value: how much of the error is not seen while learning."""
        return self.test.values - self.training.values

    def best(self) -> Any:
        """Give the value whose mean test value is the best, the first of equals.

        Raises
        ------
        ValueError
            If no value has a mean, or it isn't known whether greater is better.
        """
        return self.values[self._best()]

    def _best(self) -> int:
        better = check.check_direction("maximize", self.metric, self.maximize)
        place = best_of(self.test.values, better)
        return check.check_some_defined(self.metric, place, len(self.values), "values")

    @property
    def fits(self) -> tuple[str, ...]:
        """What each value does beside the best.

        "underfits" where both errors are larger than at the best value, "overfits" where the test error is larger and
        the training error less: more was learned of the training rows than holds of others. "best" at the best value,
        "" where neither is so. These compare means: see the intervals for what could be chance.
        """
        if self.maximize is None or np.isnan(self.test.values).all():
            return ("",) * len(self.values)
        sign = 1 if self.maximize else -1
        best, test, training = self._best(), sign * self.test.values, sign * self.training.values
        words = np.full(len(self.values), "", dtype=object)
        worse = test < test[best]
        words[worse & (training < training[best])] = "underfits"
        words[worse & (training > training[best])] = "overfits"
        words[best] = "best"
        return tuple(words.tolist())

    def table(self) -> str:
        """Give a table as text: at each value both errors, their standard deviations, the gap and what it does."""
        from fastevals.show.words import aligned, cells, printable, wrapped, written

        over = self.parameter or "training rows"
        head = [over, "training", "sd", "test", "sd", "gap", ""]
        numbers = [each for line in (self.training, self.test) for each in (line.values, line.standard_deviation)]
        rows = [
            [printable(written(value)), *row, "failed" if k in self.failures else fit if self.parameter else ""]
            for k, (value, row, fit) in enumerate(
                zip(self.values, cells(np.transpose([*numbers, self.gap])), self.fits, strict=True)
            )
        ]
        (lines,) = aligned([[head, *rows]])
        title = f"{self.metric} on training and test rows over {over}, means of {self.test.per_split[0].size} splits"
        failed = [f"{over}={check.show(self.values[k])}: {text}" for k, text in self.failures.items()]
        return "\n".join([*wrapped(title), *lines, *(line for text in failed for line in wrapped(text))])

    def __repr__(self) -> str:
        over = self.parameter or "training rows"
        best = ""
        if self.parameter and "best" in self.fits:
            best = f", best={check.show(self.best())}"
        return f"ErrorCurve({self.metric} over {len(self.values)} values of {over}{best})"
