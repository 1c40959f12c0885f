"""Compute what decisions among several classes cost, from probabilities and a cost matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import blocks, chunks, run
from fastevals._options import check_number
from fastevals._validation.arrays import is_frame
from fastevals._validation.curves import costs_by_name
from fastevals._validation.labels import as_class_names
from fastevals.infer.bootstrap.bootstrap import (
    BootstrapSettings,
    Estimate,
    few_rows_caution,
    few_units_caution,
    resample,
)
from fastevals.infer.bootstrap.row_samples import LossSample, SamplingUnits
from fastevals.infer.class_rows import ClassRows, read_class_rows
from fastevals.infer.comparison import Difference, compare_numbers
from fastevals.infer.costs.class_decisions import (
    BY_COST,
    BY_PROBABILITY,
    SAME_FOR_ALL,
    ClassCosts,
    ClassDecisions,
    RuleCost,
)
from fastevals.infer.costs.measured import HALL
from fastevals.infer.costs.moments import SkewedSpread
from fastevals.infer.costs.row_costs import cost_settings
from fastevals.infer.means import skewed_interval
from fastevals.infer.significance.paired import compared_pairs
from fastevals.measure.class_losses import predicted_classes
from fastevals.measure.cost_sensitive import as_action_costs, choose_actions
from fastevals.measure.registry import UNBOUNDED
from fastevals.results import NOWHERE, Alternative, Interval

Floats = NDArray[np.float64]
Actions = NDArray[np.int64]

ABSTAIN = "abstain"
ROWS_ADDED = 2.0  # over all classes and actions, as Jeffreys' prior adds half a success and half a failure per class


def class_costs(
    y_true: ArrayLike,
    y_prob: Any,
    cost_matrix: ArrayLike | None = None,
    *,
    labels: ArrayLike | None = None,
    abstain_cost: float | None = None,
    actions: ArrayLike | None = None,
    reference: Any = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    rng: Any = None,
    progress: bool = False,
) -> ClassCosts:
    """Compute the mean cost of decisions by least expected cost, compared with the most probable class and a constant.

    Each row gets the action with the least expected cost by the row's probabilities. The result has the actions, their
    mean cost with an interval, in all rows and by class, and paired differences from two simpler rules: the most
    probable class, and the single action that is best for all rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels: integers, booleans, strings, or floats without a fraction.
    y_prob : array-like of shape (n_samples, n_classes), or mapping of name to such arrays
        Probabilities of one or several models: one column per class. Rows add up to 1.
    cost_matrix : array-like of shape (n_classes, n_actions), optional
        Cost of each action, one row per true class; gains are negative. The first n_classes columns predict the classes
        in the order of `labels`; further columns are other actions, such as abstaining. By default an error costs 1.
        If the columns or the index of a frame are named by the classes, they are matched by name.
    labels : sequence of n_classes labels, optional
        The class of each column of `y_prob`, in order; by default the labels that occur, sorted.
    abstain_cost : float, optional
        Cost of abstaining, the same for all classes: adds a last column to the cost matrix. With the default matrix,
        this is Chow's rule [1]_: abstain unless the highest probability is at least 1 - `abstain_cost`.
    actions : sequence of labels, optional
        Names of the columns after the first n_classes; a single one is called "abstain" by default.
    n_resamples : int
        Bootstrap replicates for differences of rules and models; with 0, there are none.
    sample_weight : array-like of shape (n_samples,), optional
        Nonnegative row weights. Rows of weight zero are dropped.
    reference, confidence_level, alternative, groups, rng, progress
        As for `row_costs`.

    Returns
    -------
    ClassCosts
        A mapping from each model to its `ClassDecisions`, with the differences of models.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    Among equal expected costs the first action is chosen, and among equal probabilities the first class. Probabilities
    must be calibrated for the rule to be the best one; `RuleCost.expected` is the mean cost that they predict.

    Intervals of mean costs are Hall's, as for `row_costs`: a t interval whose skewness is removed by a transformation,
    with two more rows that are spread over all classes and actions, because mistakes that are rare in the sample may be
    more frequent in other samples. Differences use paired replicates; intervals are simultaneous over the models or
    pairs of models (max-T). The best constant is chosen on the same rows, so its cost is slightly too low.

    References
    ----------
    .. [1] Chow, C. K. (1970), "On Optimum Recognition Error and Reject Tradeoff", IEEE Transactions on Information
       Theory 16, 41-46, doi:10.1109/TIT.1970.1054406.
    .. [2] Elkan (2001), The foundations of cost-sensitive learning, IJCAI, equation 1.

    Examples
    --------
    >>> import fastevals
    >>> y_prob = [[0.8, 0.2, 0.0], [0.5, 0.4, 0.1], [0.1, 0.7, 0.2], [0.2, 0.4, 0.4]]
    >>> found = fastevals.class_costs(["a", "a", "b", "c"], y_prob, abstain_cost=0.35, n_resamples=0)
    >>> found["y_prob"].decisions.tolist(), found["y_prob"].least_cost.mean.value
    (['a', 'abstain', 'b', 'abstain'], 0.175)
    """
    settings = cost_settings(n_resamples, confidence_level, alternative, rng)
    rows = read_class_rows(y_true, y_prob, labels, sample_weight, groups)
    matrix, names = _as_costs(cost_matrix, abstain_cost, actions, rows.labels)
    pairs = compared_pairs(rows.models, reference)
    return _CostedClasses(rows, matrix, names, settings).measure(pairs, progress=progress)


class _Rule(NamedTuple):
    """The decisions of a rule on all rows."""

    name: str
    actions: Actions  # the number of each row's action
    expected: float = math.nan


class _CostedClasses:
    """Rows, with the costs of actions."""

    def __init__(self, rows: ClassRows, matrix: Floats, names: tuple[Any, ...], settings: BootstrapSettings) -> None:
        self.rows, self.matrix, self.names, self.settings = rows, matrix, names, settings
        self.units = SamplingUnits.number(rows.codes.size, rows.groups, None)
        self.counts = np.bincount(rows.codes, rows.weights, rows.labels.size)

    def measure(self, pairs: NDArray[np.intp], *, progress: bool) -> ClassCosts:
        """Return the costs of all rules."""
        rows, n = self.rows, self.counts.sum()
        constants = (self.counts @ self.matrix) / n
        best = int(np.argmin(constants))
        rules = [rule for columns in rows.columns.values() for rule in self._rules(columns)]
        rules.append(_Rule(SAME_FOR_ALL, np.full(rows.codes.size, best)))
        costs = [self.matrix[rows.codes, each.actions] for each in rules]
        found = [self._cost(rule, each) for rule, each in zip(rules, costs, strict=True)]
        gains, over_constant, differences = self._differences(costs, pairs, progress)
        table = _as_actions(self.names)
        models = {
            model: ClassDecisions(
                found[2 * k], found[2 * k + 1], table[rules[2 * k].actions],
                gains[k] if gains else None, over_constant[k] if over_constant else None,
            )
            for k, model in enumerate(rows.models)
        }  # fmt: skip
        return ClassCosts(
            models, found[-1], self.names[best], dict(zip(self.names, constants.tolist(), strict=True)), differences,
            rows.labels, self.names, rows.codes.size, self.settings.n_resamples, self.settings.confidence_level,
            self.settings.alternative,
        )  # fmt: skip

    def _rules(self, columns: NDArray[Any]) -> list[_Rule]:
        """Return the two rules of a model, given the probabilities of classes of shape (n_classes, n_rows)."""
        found = [
            _Rule(BY_COST, choose_actions(columns, self.matrix)),
            _Rule(BY_PROBABILITY, predicted_classes(columns)[0].astype(np.int64)),
        ]
        return [rule._replace(expected=self._expected(columns, rule.actions)) for rule in found]

    def _expected(self, columns: NDArray[Any], actions: Actions) -> float:
        """Return the mean cost of actions by the probabilities."""
        weights = self.rows.weights

        def task(part: slice) -> float:
            total = 0.0
            for of in blocks(part):
                cost = np.einsum("ij,ij->j", columns[:, of].astype(np.float64), self.matrix[:, actions[of]])
                total += float(cost.sum() if weights is None else cost @ weights[of])
            return total

        return sum(run(task, chunks(actions.size))) / float(self.counts.sum())

    def _cost(self, rule: _Rule, costs: Floats) -> RuleCost:
        """Return the mean cost of a rule, in all rows and by class."""
        n_classes, n_actions = self.matrix.shape
        codes, weights = self.rows.codes, self.rows.weights
        of = slice(None) if rule.name != SAME_FOR_ALL else slice(int(rule.actions[0]), int(rule.actions[0]) + 1)
        typical = self.matrix[:, of]
        share = ROWS_ADDED / (n_classes * n_actions)
        mean = self._mean(costs, slice(None), typical.ravel(), share)
        by_class = []
        for k in range(n_classes):
            rows = np.flatnonzero(codes == k)
            by_class.append(self._mean(costs[rows], rows, typical[k], 1 / n_actions) if rows.size else None)
        fields = [_fields(each) for each in by_class]
        value, low, high, error = (np.array(each) for each in zip(*fields, strict=True))
        shares = np.bincount(rule.actions, weights, n_actions)
        caution = few_rows_caution((int(np.bincount(codes, minlength=n_classes).min()),) * 2)
        per_class = Estimate(
            value, Interval(low, high), error, np.zeros(n_classes), np.zeros(n_classes, dtype=np.intp), caution=caution,
            method=HALL,
        )  # fmt: skip
        return RuleCost(rule.name, mean, per_class, shares / shares.sum(), rule.expected)

    def _mean(self, costs: Floats, rows: Any, typical: Floats, share: float) -> Estimate:
        """Return the mean of some rows' costs, with Hall's interval; `share` of a row of each typical cost is added."""
        settings, weights = self.settings, None if self.rows.weights is None else self.rows.weights[rows]
        total = float(costs.size) if weights is None else float(weights.sum())
        mean = float(costs.sum() if weights is None else costs @ weights) / total
        influences = (costs - mean) * ((1.0 if weights is None else weights) / total)
        usual = 1 / costs.size
        if self.units.grouped:
            numbers = self.units.unit_by_row[rows]
            influences = np.bincount(numbers, influences, self.units.n)[sorted_unique(numbers)]
        spread = SkewedSpread.of_influences(influences, usual * (typical - mean), share)
        ends = skewed_interval(mean, *spread[1:], settings.confidence_level, settings.alternative)
        low, high = self.matrix.min(), self.matrix.max()
        ends = NOWHERE if math.isnan(ends.low) else Interval(max(ends.low, low), min(ends.high, high))
        return Estimate(mean, ends, spread.error, 0.0, 0, caution=spread.caution("mean cost"), method=HALL)

    def _differences(
        self, costs: Sequence[Floats], pairs: NDArray[np.intp], progress: bool
    ) -> tuple[list[Difference], list[Difference], tuple[Difference, ...]]:
        """Return the differences from the most probable class, from the best constant, and of models."""
        models, settings = self.rows.models, self.settings
        if not settings.n_resamples:
            return [], [], ()
        sample = LossSample(costs, 1, weights=self.rows.weights, groups=self.units)
        settings = settings._replace(method="percentile")  # no accelerations
        values, replicates, _ = resample(sample, {"mean_cost": abs}, settings, progress=progress)
        last, caution = len(costs) - 1, few_units_caution(sample.n_units, sample.unit)

        def compared(of: Sequence[tuple[int, int]], names: Sequence[tuple[Any, Any]]) -> list[Difference]:
            fields = compare_numbers(values[0], replicates[0], np.array(of, dtype=np.intp), settings, UNBOUNDED)[1]
            return [Difference(*name, *(*row, caution)) for name, row in zip(names, fields, strict=True)]

        each = range(len(models))
        gains = compared([(2 * k, 2 * k + 1) for k in each], [(BY_COST, BY_PROBABILITY)] * len(models))
        constant = compared([(2 * k, last) for k in each], [(BY_COST, SAME_FOR_ALL)] * len(models))
        if not len(pairs):
            return gains, constant, ()
        names = [(models[i], models[j]) for i, j in pairs]
        return gains, constant, tuple(compared([(2 * i, 2 * j) for i, j in pairs], names))


def _fields(estimate: Estimate | None) -> tuple[float, float, float, float]:
    if estimate is None:
        return (math.nan,) * 4
    return (estimate.value, *estimate.confidence_interval, estimate.standard_error)


def _as_actions(names: Sequence[Any]) -> NDArray[Any]:
    """Return names of actions as an array: of objects if text is mixed with numbers."""
    if len({isinstance(each, str) for each in names}) == 1:
        return np.array(names)
    found = np.empty(len(names), dtype=object)
    found[:] = names
    return found


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_costs(
    cost_matrix: Any, abstain_cost: Any, actions: Any, labels: NDArray[Any]
) -> tuple[Floats, tuple[Any, ...]]:
    """Return the costs of actions of shape (n_classes, n_actions), and the names of the actions."""
    n, others = labels.size, None
    if is_frame(cost_matrix):
        cost_matrix, others = costs_by_name("cost_matrix", cost_matrix, labels.tolist(), labels.tolist())
    costs = 1.0 - np.eye(n) if cost_matrix is None else as_action_costs("cost_matrix", cost_matrix, n)
    if costs.shape[1] < n:
        raise ValueError(
            f"cost_matrix must have a column for each of {n} classes, then for other actions, got shape {costs.shape}"
        )
    if abstain_cost is not None:
        cost = check_number("abstain_cost", abstain_cost, low=-math.inf, high=math.inf, open_low=True, open_high=True)
        costs = np.column_stack([costs, np.full(n, cost)])
    n_more = costs.shape[1] - n
    if actions is None and others:
        actions = others + [ABSTAIN] * (abstain_cost is not None)
    if actions is None and n_more > 1:
        raise ValueError(
            f"actions must name the {n_more} columns of cost_matrix after the first {n}, but it is not given"
        )
    more = [ABSTAIN][:n_more] if actions is None else as_class_names("actions", actions, n_more).tolist()
    names = (*labels.tolist(), *more)
    if len(set(names)) < len(names):
        raise ValueError(f"actions must differ from each other and from the classes, got {more!r}")
    return costs, names
