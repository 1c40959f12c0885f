"""How much what was selected depends on each parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastevals import _validation as check
from fastevals.measure.results import Frozen
from fastevals.split.estimates.result import no_estimate
from fastevals.split.trials.candidates import best_of, same_value
from fastevals.split.trials.lines import ErrorLine

__all__ = ["Sensitivity", "sensitivity_of", "varied_parameters"]


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
        """Give a table as text: at each value the estimates with the others as chosen, and at their best."""
        from fastevals.show.words import aligned, cells, printable, wrapped, written

        others = ", ".join(f"{name}={check.show(value)}" for name, value in self.others.items())
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
            f"chosen={check.show(self.values[self.chosen])}, range={self.range:.4g})"
        )


def varied_parameters(candidates: Sequence[Any], best: Any) -> list[str]:
    """Give the parameters with several values among the candidates of the chosen learner."""
    own = [each for each in candidates if each.name == best.name]
    return [name for name in best.params if len(_values_of(own, name)) > 1]


def _values_of(own: Sequence[Any], parameter: str) -> list[Any]:
    found: list[Any] = []
    for each in own:
        if parameter in each.params and not any(same_value(each.params[parameter], value) for value in found):
            found.append(each.params[parameter])
    return found


def sensitivity_of(
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
        k = best_of(np.array([each.value for each in here]), maximize)
        at_best.append(nothing if k is None else here[k].estimate)
        best_others.append({} if k is None else {n: v for n, v in here[k].params.items() if n != parameter})
    return Sensitivity(
        metric=metric,
        maximize=maximize,
        parameter=parameter,
        values=tuple(values),
        chosen=next(k for k, value in enumerate(values) if same_value(value, best.params[parameter])),
        others=others,
        as_chosen=ErrorLine.of(as_chosen),
        at_best=ErrorLine.of(at_best),
        best_others=tuple(best_others),
        confidence_level=level,
    )


def _others_are(candidate: Any, parameter: str, others: dict[str, Any]) -> bool:
    own = {name: value for name, value in candidate.params.items() if name != parameter}
    return own.keys() == others.keys() and all(same_value(own[name], others[name]) for name in own)
