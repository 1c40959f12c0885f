"""Results of costs of decisions among several classes, and the same in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._text import printable, shorten_names
from fastevals.document.document import Document
from fastevals.document.frames import Columns, from_rows
from fastevals.infer.bootstrap.bootstrap import Estimate
from fastevals.infer.comparison import Difference
from fastevals.infer.costs.decisions import difference_words, interval_words, money, with_cautions
from fastevals.results import Alternative, ByModel, Frozen

Floats = NDArray[np.float64]

BY_COST, BY_PROBABILITY, SAME_FOR_ALL = "least expected cost", "most probable class", "best constant"  # rules


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RuleCost(Frozen):
    """What the decisions of one rule cost.

    Attributes
    ----------
    rule : str
        "least expected cost", "most probable class" or "best constant".
    mean : Estimate
        Mean cost per row.
    by_class : Estimate
        Mean cost of the rows of each class, arrays of shape (n_classes,); NaN for classes without rows.
    shares : ndarray of shape (n_actions,)
        Share of the rows' weight that each action gets.
    expected : float
        Mean cost if the model's probabilities were right. If it is far from `mean`, calibrate the probabilities. NaN
        for the best constant.
    """

    rule: str
    mean: Estimate
    by_class: Estimate[Floats]
    shares: Floats
    expected: float

    def __repr__(self) -> str:
        return f"RuleCost({self.rule!r}, mean={self.mean!r})"

    def _row(self) -> dict[str, Any]:
        low, high = self.mean.confidence_interval
        return {
            "rule": self.rule, "mean": self.mean.value, "mean_low": low, "mean_high": high,
            "standard_error": self.mean.standard_error, "expected": self.expected,
        }  # fmt: skip

    def _columns(self) -> Columns:
        return from_rows([self._row()])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClassDecisions(Frozen):
    """One model's decisions among several classes, and what they cost.

    Attributes
    ----------
    least_cost, most_probable : RuleCost
        The costs if each row gets the action of least expected cost, and if it gets its most probable class.
    decisions : ndarray of shape (n_samples,)
        The action of least expected cost of each row with weight above zero.
    gain, gain_over_constant : Difference or None
        Mean cost by least expected cost minus mean cost by the most probable class, and minus the mean cost of the best
        constant action; below 0 if the rule saves something. Intervals are simultaneous over the models. None without
        replicates.
    """

    least_cost: RuleCost
    most_probable: RuleCost
    decisions: NDArray[Any]
    gain: Difference | None
    gain_over_constant: Difference | None

    def __repr__(self) -> str:
        rules = [f"{each!r}," for each in (self.least_cost, self.most_probable)]
        return "\n  ".join(["ClassDecisions(", *rules]) + ")"

    def _columns(self) -> Columns:
        return from_rows([each._row() for each in (self.least_cost, self.most_probable)])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClassCosts(ByModel[ClassDecisions]):
    """Result of `class_costs`: a mapping from each model to its `ClassDecisions`.

    Attributes
    ----------
    models : dict of model to ClassDecisions
        The mapping's items.
    best_constant : RuleCost
        The cost of the single action that costs least if all rows get it.
    best_action : label
        This action.
    constants : dict of action to float
        The mean cost if all rows get the action.
    differences : tuple of Difference
        Differences of the models' mean costs by least expected cost, with simultaneous intervals.
    labels : ndarray of shape (n_classes,)
        The classes, in the order of rows of the cost matrix.
    actions : tuple of length n_actions
        The actions, in the order of columns of the cost matrix.
    n_samples : int
        Number of rows with weight above zero.
    n_resamples : int
        Number of bootstrap replicates.
    confidence_level : float
        Level of the intervals.
    alternative : str
        Side of the intervals and tests: "two-sided", "less" or "greater".
    conclusion : str
        The verdict, in sentences.

    Examples
    --------
    >>> import fastevals
    >>> y_prob = [[0.8, 0.2, 0.0], [0.5, 0.4, 0.1], [0.1, 0.7, 0.2], [0.2, 0.4, 0.4]]
    >>> costs = [[0, 1, 1], [1, 0, 1], [5, 5, 0]]
    >>> found = fastevals.class_costs(["a", "a", "b", "c"], y_prob, costs, n_resamples=99, rng=0)
    >>> found["y_prob"].decisions.tolist(), found["y_prob"].least_cost.mean.value
    (['a', 'a', 'c', 'c'], 0.25)
    """

    best_constant: RuleCost
    best_action: Any
    constants: dict[Any, float]
    differences: tuple[Difference, ...]
    labels: NDArray[Any]
    actions: tuple[Any, ...]
    n_samples: int
    n_resamples: int
    confidence_level: float
    alternative: Alternative

    def __repr__(self) -> str:
        return self.to_text().rstrip()

    def _title(self) -> str:
        rows = f"{self.n_samples:,} row{'s' * (self.n_samples != 1)}"
        return f"Costs of decisions: {rows}, {self.labels.size} classes"

    @property
    def conclusion(self) -> str:
        """The lowest mean cost, and how it differs from the other rules and models, in words."""
        return " ".join(_sentences(self))

    def _rules(self) -> Iterator[tuple[Any, RuleCost]]:
        """Yield models' names with their costs by each rule, then None with the cost of the best constant."""
        for model, each in self.models.items():
            yield from ((model, rule) for rule in (each.least_cost, each.most_probable))
        yield None, self.best_constant

    def _columns(self) -> Columns:
        return from_rows([{"model": model, **each._row()} for model, each in self._rules()])

    def _shown_columns(self) -> Columns:
        names = dict(zip(self.models, shorten_names(self.models), strict=True))
        rows = []
        for model, each in self._rules():
            low, high = each.mean.confidence_interval
            decision = f"always {printable(str(self.best_action))}" if model is None else f"{names[model]}: {each.rule}"
            row = {"decision": decision, "mean cost": money(each.mean.value), "from": money(low), "to": money(high)}
            row["expected"] = "" if math.isnan(each.expected) else money(each.expected)
            rows.append(row)
        return from_rows(rows)

    def _document(self) -> Document:
        gains = [gain for each in self.models.values() for gain in (each.gain, each.gain_over_constant)]
        measured = [*(each.mean for _, each in self._rules()), *gains, *self.differences]
        cautions = dict.fromkeys(each.caution for each in measured if each is not None and each.caution)
        return with_cautions(Frozen._document(self), cautions)


# Words ----------------------------------------------------------------------------------------------------------------


def _sentences(costs: ClassCosts) -> Iterator[str]:
    lowest = min(costs.models, key=lambda model: costs.models[model].least_cost.mean.value)
    found, level = costs.models[lowest], interval_words(costs.confidence_level)
    mean, name = found.least_cost.mean, printable(str(lowest))
    low, high = mean.confidence_interval
    sure = "" if math.isnan(low) else f" ({level} {money(low)} to {money(high)})"
    yield f"By least expected cost, {name} costs {money(mean.value)} per row{sure}."
    always = f"always deciding {printable(str(costs.best_action))}"
    for difference, what in ((found.gain, "the most probable class"), (found.gain_over_constant, always)):
        if difference is not None:
            yield _compared(difference, what, level)
    for each in costs.differences:
        if lowest in (each.model, each.reference):
            sign, other = (1, each.reference) if each.model == lowest else (-1, each.model)
            yield _compared(each, f"{printable(str(other))}'s decisions", level, sign)


def _compared(difference: Difference, what: str, level: str, sign: int = 1) -> str:
    """Say by how much the lowest cost is below another cost."""
    by = sign * difference.value
    direction, sure = difference_words(difference, level, sign)
    if direction:
        return f"That is {money(abs(by))} {direction} than {what} ({sure})."
    return f"No significant difference from {what} ({money(by)}, {sure})."
