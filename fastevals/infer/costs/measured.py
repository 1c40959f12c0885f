"""Measure what decisions cost: sums and moments of independent units, and replicates of best thresholds."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._text import printable
from fastevals.counts import ThresholdCounts
from fastevals.infer.bootstrap.bootstrap import (
    DEBIASED,
    OPTIMISM,
    BootstrapSettings,
    Estimate,
    Limits,
    few_rows_caution,
    make_estimate,
)
from fastevals.infer.bootstrap.cost_samples import CostSample
from fastevals.infer.bootstrap.row_samples import SamplingUnits
from fastevals.infer.comparison import Difference, compare_numbers
from fastevals.infer.costs.decisions import ALL, BEST, FIXED, NONE, PER_ROW, DecisionCost, ModelCosts, RowCosts
from fastevals.infer.costs.moments import SKEWED, CostColumns, Key, SkewedSpread
from fastevals.infer.means import skewed_interval
from fastevals.measure import thresholds as at_thresholds
from fastevals.measure.registry import UNBOUNDED
from fastevals.measure.row_costs import RowAmounts, Stakes
from fastevals.results import NOWHERE, Interval

Floats = NDArray[np.float64]

HALL = "Hall"  # method of intervals for decisions that are not chosen on the rows
WIDER = f"wider of {HALL} and {DEBIASED}"  # method for thresholds chosen on the rows
MAX_T_OR_HALL = f"wider of max-T and {HALL}"  # method for one-sided bounds of differences


class CostedRows(NamedTuple):
    """Checked rows with their costs: arrays of shape (n_rows,)."""

    positive: NDArray[np.bool_]
    scores: dict[Any, NDArray[Any]]  # by model
    amounts: RowAmounts
    weights: Floats | None = None  # above 0
    groups: NDArray[Any] | None = None

    def take(self, rows: Any) -> CostedRows:
        """Return the rows that an index or mask selects."""
        scores = {name: each[rows] for name, each in self.scores.items()}
        others = (None if each is None else each[rows] for each in (self.weights, self.groups))
        return CostedRows(self.positive[rows], scores, self.amounts.take(rows), *others)


class Quantity(NamedTuple):
    """A ratio of linear combinations of four sums: costs of predicting none, gains of all, weights, and savings.

    The quantity is a share, or an amount of money: the mean per row times the total weight of the rows.
    """

    numerator: Floats
    denominator: Floats
    is_share: bool
    bounds: tuple[float, float]  # if no prediction has a benefit

    def value(self, sums: Floats, weight: float) -> Any:
        """Return the quantity for sums along the last axis; NaN if the denominator is 0."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            value = np.asarray(sums @ self.numerator * ((1.0 if self.is_share else weight) / (sums @ self.denominator)))
        return np.where(np.isfinite(value), value, np.nan)

    def influence(self, sums: Floats) -> Floats:
        """Return the coefficients of a unit's sums in its influence on the quantity; 0 if the quantity is undefined."""
        scale = 1.0 if self.is_share else float(sums[2])
        below = float(sums @ self.denominator)
        if not below:
            return np.zeros(4)
        return np.asarray((scale * self.numerator - self.value(sums, scale) * self.denominator) / below)


_NONE, _GAIN, _WEIGHT, _SAVED = np.eye(4)
QUANTITIES = {
    "total": Quantity(_NONE - _SAVED, _WEIGHT, False, (0.0, math.inf)),
    "savings": Quantity(_SAVED, _WEIGHT, False, UNBOUNDED),
    "savings_share": Quantity(_SAVED, _NONE, True, (-math.inf, 1.0)),
    "savings_over_all": Quantity(_SAVED - _GAIN, _WEIGHT, False, UNBOUNDED),
    "savings_over_all_share": Quantity(_SAVED - _GAIN, _NONE - _GAIN, True, (-math.inf, 1.0)),
}


def measure_costs(
    rows: CostedRows,
    settings: BootstrapSettings,
    threshold: NDArray[Any] | None,
    per_row_rule: bool | None,
    pairs: NDArray[np.intp],
    *,
    pos_label: Any = None,
    progress: bool = False,
) -> RowCosts:
    """Return the costs of each model's decisions on checked rows; arguments as for `row_costs`."""
    measured = CostEstimates(rows, settings, threshold, per_row_rule, progress=progress)
    found = {key: measured.decision(key) for key in measured.decided}
    models = {
        model: ModelCosts(
            found[model, BEST], found.get((model, FIXED)), found.get((model, PER_ROW)), measured.counts[model]
        )
        for model in rows.scores
    }
    n_positive, _ = measured.class_sizes
    return RowCosts(
        models, found[None, NONE], found[None, ALL], measured.differences(pairs), rows.positive.size, n_positive,
        tuple(_cautions(found, measured.leaks, per_row_rule)), pos_label, settings.n_resamples,
        settings.confidence_level, settings.alternative,
    )  # fmt: skip


class CostEstimates:
    """What decisions cost on rows: their sums over independent units, and replicates of these sums.

    Parameters
    ----------
    rows, settings, threshold, per_row_rule, progress
        As for `measure_costs`.
    rules : collection of str
        The rules to measure, if they apply.

    Attributes
    ----------
    leaks : list of tuple of str
        The costs that reveal the label, each with the class that lacks them.
    counts : dict of model to ThresholdCounts
        Counts of money; only if best thresholds are measured.
    thresholds, decided : dict of Key to float, and to ndarray of bool of shape (n_rows,)
        The threshold of each model and rule, and which rows it predicts positive.
    sums : dict of Key to ndarray of shape (4,)
        Sums over the units.
    drawn : dict of Key to ndarray of shape (n_resamples, 4)
        Replicates of the sums; empty without replicates.
    class_sizes : tuple of int
        Number of positive rows, and of negative rows.
    """

    def __init__(
        self,
        rows: CostedRows,
        settings: BootstrapSettings,
        threshold: NDArray[Any] | None,
        per_row_rule: bool | None,
        rules: Collection[str] = (BEST, FIXED, PER_ROW),
        *,
        progress: bool = False,
    ) -> None:
        positive = rows.positive
        self.settings, self.models, self.leaks = settings, list(rows.scores), rows.amounts.leaks(positive)
        self._has_benefits = bool(np.min(rows.amounts.cost_tp) < 0)
        stakes = rows.amounts.stakes(positive, rows.weights)
        self._size = stakes.size()
        self._units = SamplingUnits.number(positive.size, rows.groups, None)
        n_positive = int(np.count_nonzero(positive))
        self.class_sizes = n_positive, positive.size - n_positive
        weight = 1.0 if rows.weights is None else math.sqrt(float(np.mean(np.square(rows.weights))))
        self._typical = [(none, gain, weight) for none, gain in stakes.typical(positive, self._size)]
        self.counts: dict[Any, ThresholdCounts] = {}
        if BEST in rules:
            self.counts = {model: stakes.counts(each) for model, each in rows.scores.items()}
        self.thresholds, self.decided = _decide(
            rows, self.counts, threshold, per_row_rule, PER_ROW in rules, bool(self.leaks)
        )
        self.columns = _columns_of(self._units, stakes, rows.weights, self.decided)
        self.drawn = self._draw(stakes, rows.scores, progress) if settings.n_resamples else {}
        self.sums, self._largest = self.columns.sums()

    def _draw(self, stakes: Stakes, scores: Mapping[Any, NDArray[Any]], progress: bool) -> dict[Key, Floats]:
        """Return the four sums of each decision in each replicate, of shape (n_resamples, 4)."""
        columns = self.columns
        keys = [key for key in self.decided if key[0] is not None]
        fixed = [columns.saved_gains(key, slice(None)) for key in keys if key[1] != BEST]
        each_row = [] if columns.weights is None else [columns.weights]  # otherwise all replicates have as many rows
        sample = CostSample(
            self._units, stakes, list(scores.values()) if self.counts else [],
            [columns.none, columns.gains, *each_row, *fixed],
        )  # fmt: skip
        n_rows = None if each_row else float(stakes.gains.size)
        return _replicates(sample, keys, n_rows, self.settings, progress)

    @property
    def weight(self) -> float:
        """The number of rows, or the sum of their weights."""
        return float(next(iter(self.sums.values()))[2])

    # A decision -------------------------------------------------------------------------------------------------------

    def decision(self, key: Key) -> DecisionCost:
        """Return what a decision costs, with intervals at the level of the settings."""
        estimates = {name: self.estimate(name, key) for name in QUANTITIES}
        total, n_predicted = estimates.pop("total"), int(np.count_nonzero(self.decided[key]))
        mean = _scaled(total, 1 / float(self.sums[key][2]))
        return DecisionCost(key[1], self.thresholds[key], n_predicted, total, mean, **estimates)

    def estimate(self, name: str, key: Key, settings: BootstrapSettings | None = None) -> Estimate:
        """Return a quantity of a decision, with an interval at the level of the settings."""
        (model, rule), settings = key, settings or self.settings
        quantity, sums, spread = QUANTITIES[name], self.sums[key], self._spreads[key][name]
        value = float(quantity.value(sums, float(sums[2])))
        if math.isnan(value):
            return Estimate(value, NOWHERE, math.nan, math.nan, 0, method=HALL)
        bounds = UNBOUNDED if self._has_benefits else quantity.bounds
        few, skewed = few_rows_caution(self.class_sizes), spread.caution("estimate")
        caution = "; ".join(filter(None, [few, skewed]))
        hall = skewed_interval(value, *spread[1:], settings.confidence_level, settings.alternative)
        if rule != BEST:
            return Estimate(value, _within(bounds, *hall), spread.error, 0.0, 0, caution=caution, method=HALL)
        drawn = self.drawn.get(key)
        if drawn is None or math.isnan(hall.low):
            return Estimate(value, NOWHERE, math.nan, math.nan, 0, caution=caution)
        replicates = quantity.value(drawn, float(sums[2]))
        made = make_estimate(
            f"{name} at {rule if model is None else f'{rule} of {model}'}", abs, value, replicates, 0.0, settings,
            keep=False, class_sizes=self.class_sizes, limits=Limits(bounds, bounds),
        )  # fmt: skip
        low, high = made.confidence_interval
        if not math.isnan(low):  # what is subtracted from the ends of the percentiles, too
            optimism = [times * (float(np.nanmedian(replicates)) - value) for times in OPTIMISM]
            low, high = min(low, hall.low - max(optimism)), max(high, hall.high - min(optimism))
        caution = "; ".join(filter(None, [made.caution, skewed]))
        return replace(made, confidence_interval=_within(bounds, low, high), caution=caution, method=WIDER)

    @cached_property
    def _spreads(self) -> dict[Key, dict[str, SkewedSpread]]:
        """The spread of each quantity of each decision."""
        typical = {key: self._typical_rows(key[1]) for key in self.decided}
        return _spreads_of(self.columns, self.sums, self._largest, QUANTITIES, typical, self._units.n)

    def _typical_rows(self, rule: str) -> Floats:
        """Return typical rows, with the four columns: one for each class and each decision that the rule may make."""
        return np.array(
            [
                [none, gain, weight, gain if predicted else 0.0]
                for none, gain, weight in self._typical
                for predicted in {NONE: (False,), ALL: (True,)}.get(rule, (False, True))
            ]
        )

    # Differences of models --------------------------------------------------------------------------------------------

    def differences(self, pairs: NDArray[np.intp]) -> dict[str, tuple[Difference, ...]]:
        """Return the differences of total costs of models by each rule that all models have."""
        found = {}
        for rule in (BEST, FIXED, PER_ROW) if len(pairs) and self.drawn else ():
            if all((model, rule) in self.sums for model in self.models):
                fields = self.compared("total", rule, self.models, pairs, self.settings)
                caution = few_rows_caution(self.class_sizes)
                found[rule] = tuple(
                    Difference(self.models[i], self.models[j], *(*row, caution))
                    for (i, j), row in zip(pairs, fields, strict=True)
                )
        return found

    def difference(
        self, name: str, rule: str, models: tuple[Any, Any], factor: float, settings: BootstrapSettings
    ) -> Estimate:
        """Return a quantity of a model minus `factor` times another's, with bounds that hold on each side.

        The interval of `compared` is symmetric, and skewed differences are beyond its ends more often on one side than
        on the other. So each end is the further one of its end and of Hall's.
        """
        value, ends, error, *_ = self.compared(name, rule, models, np.array([[0, 1]]), settings, (1.0, factor))[0]
        if math.isnan(value) or math.isnan(ends.low):
            return Estimate(value, NOWHERE, math.nan, math.nan, 0, method=MAX_T_OR_HALL)
        spread = self._spread_of_difference(name, rule, models, factor)
        hall = skewed_interval(value, *spread[1:], settings.confidence_level, settings.alternative)
        low, high = min(ends.low, hall.low), max(ends.high, hall.high)
        return Estimate(
            value, Interval(low, high), error, 0.0, 0, caution=spread.caution("difference"), method=MAX_T_OR_HALL
        )  # fmt: skip

    def _spread_of_difference(self, name: str, rule: str, models: tuple[Any, Any], factor: float) -> SkewedSpread:
        """Return the spread of a quantity of a model minus `factor` times another's.

        Quantities are linear in the savings, so the difference is the quantity of the savings' difference, if what does
        not depend on the model counts 1 - `factor` times.
        """
        one, other = (self.columns.saved_gains((model, rule), slice(None)) for model in models)
        quantity, times = QUANTITIES[name], np.array([1 - factor] * 3 + [1.0])
        quantity = quantity._replace(numerator=quantity.numerator * times)
        columns, key = self.columns._replace(saved={models: np.subtract(one, factor * other)}), models
        sums, largest = columns.sums()
        typical = np.array(
            [
                [none, gain, weight, gain * (first - factor * second)]
                for none, gain, weight in self._typical
                for first, second in product((0, 1), repeat=2)
            ]
        )
        return _spreads_of(columns, sums, largest, {name: quantity}, {key: typical}, self._units.n)[key][name]

    def compared(
        self,
        name: str,
        rule: str,
        models: Sequence[Any],
        pairs: NDArray[np.intp],
        settings: BootstrapSettings,
        factors: Sequence[float] = (),
    ) -> list[tuple[Any, ...]]:
        """Return the fields of the differences in a quantity of pairs of models; each model's is times its factor."""
        quantity, weight = QUANTITIES[name], float(self.sums[models[0], rule][2])
        times = np.array(factors or [1.0] * len(models))
        values = times * [float(quantity.value(self.sums[model, rule], weight)) for model in models]
        replicates = times * np.stack([quantity.value(self.drawn[model, rule], weight) for model in models], axis=1)
        return compare_numbers(values, replicates, pairs, settings, UNBOUNDED)[1]


def _decide(
    rows: CostedRows,
    counts: Mapping[Any, ThresholdCounts],
    threshold: NDArray[Any] | None,
    per_row_rule: bool | None,
    wants_per_row: bool,
    leaks: bool,
) -> tuple[dict[Key, float], dict[Key, NDArray[np.bool_]]]:
    """Return the threshold of each model and rule, and which rows it predicts positive."""
    takes_probabilities = wants_per_row and per_row_rule is None and not leaks
    at: dict[Key, float] = {}
    decided: dict[Key, NDArray[np.bool_]] = {}
    for rule, each, n in ((NONE, math.inf, np.zeros), (ALL, -math.inf, np.ones)):
        at[None, rule], decided[None, rule] = each, n(rows.positive.size, dtype=np.bool_)
    for model, scores in rows.scores.items():
        if model in counts:
            best = at_thresholds.best_threshold(counts[model], "expected_cost", None, (1.0, 1.0, None))
            at[model, BEST], decided[model, BEST] = best.threshold, scores >= best.threshold
        if threshold is not None:
            at[model, FIXED] = float(threshold)
            decided[model, FIXED] = scores >= threshold
        if per_row_rule or (takes_probabilities and scores.min() >= 0 and scores.max() <= 1):
            at[model, PER_ROW] = math.nan
            decided[model, PER_ROW] = rows.amounts.rule(scores)
    return at, decided


def _columns_of(
    units: SamplingUnits, stakes: Stakes, weights: Floats | None, decided: Mapping[Key, NDArray[np.bool_]]
) -> CostColumns:
    """Return the columns of rows, or their sums over clusters."""
    if not units.grouped:
        trivial = {(None, NONE): np.zeros(stakes.gains.size), (None, ALL): stakes.gains}
        return CostColumns(*stakes, weights, {**decided, **trivial})

    def of_units(values: Floats) -> Floats:
        return np.asarray(np.bincount(units.unit_by_row, values, units.n))

    saved = {key: of_units(np.where(each, stakes.gains, 0.0)) for key, each in decided.items()}
    each_weight = np.ones(stakes.gains.size) if weights is None else weights
    return CostColumns(of_units(stakes.none), of_units(stakes.gains), of_units(each_weight), saved)


def _replicates(
    sample: CostSample, keys: list[Key], n_rows: float | None, settings: BootstrapSettings, progress: bool
) -> dict[Key, Floats]:
    """Return the four sums of each decision in each replicate, of shape (n_resamples, 4).

    `n_rows` is the weight of the rows in each replicate if that is constant.
    """
    columns, best = sample.replicates(settings.n_resamples, settings.key, progress=progress)
    if n_rows is not None:
        columns = np.insert(columns, 2, n_rows, axis=1)
    fixed, chosen = iter(columns[:, 3:].T), iter(best.T)
    return {key: np.column_stack([columns[:, :3], next(chosen if key[1] == BEST else fixed)]) for key in keys}


def _spreads_of(
    columns: CostColumns,
    sums: Mapping[Key, Floats],
    largest: Floats,
    quantities: Mapping[str, Quantity],
    typical: Mapping[Key, Floats],
    n_units: int,
) -> dict[Key, dict[str, SkewedSpread]]:
    """Return the spread of each quantity of each decision; `largest` has the largest number in each column."""
    with np.errstate(over="ignore", invalid="ignore"):  # amounts near the smallest float
        forms = {key: np.array([each.influence(of) for each in quantities.values()]) for key, of in sums.items()}
        units = {key: np.abs(form * largest).max(axis=1, keepdims=True) for key, form in forms.items()}
        units = {key: np.where(unit, unit, 1.0) for key, unit in units.items()}
        forms = {key: form / units[key] for key, form in forms.items()}
    powers = columns.powers(forms)
    found = {}
    for key, form in forms.items():
        more = np.einsum("fc,rc->fr", form, typical[key])
        found[key] = {
            name: SkewedSpread.of(n_units, float(units[key][i, 0]), powers[key][i], more[i])
            for i, name in enumerate(quantities)
        }
    return found


def _within(bounds: tuple[float, float], low: float, high: float) -> Interval:
    """Return an interval clipped to bounds; NaN stays NaN."""
    return NOWHERE if math.isnan(low) else Interval(*(min(max(end, bounds[0]), bounds[1]) for end in (low, high)))


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    """Return an estimate times a positive number."""
    low, high = estimate.confidence_interval
    return replace(
        estimate, value=factor * estimate.value, confidence_interval=Interval(factor * low, factor * high),
        standard_error=factor * estimate.standard_error, bias=factor * estimate.bias,
    )  # fmt: skip


def _cautions(
    found: Mapping[Key, DecisionCost], leaks: list[tuple[str, str]], per_row_rule: bool | None
) -> Iterator[str]:
    """Yield cautions about the results."""
    for name, of_class in leaks:
        measured = "the per-row rule's cost is too low" if per_row_rule else "the per-row rule is not measured"
        yield (
            f"{name} is 0 in all {of_class} rows and not in all other rows: it reveals the label, so no decision may "
            f"use it. Total costs at thresholds are right, but {measured}"
        )
    cautions = {
        f"{printable(str(model))} ({rule})": each.total.caution
        for (model, rule), each in found.items()
        if model is not None
    }
    skewed = [name for name, caution in cautions.items() if SKEWED in caution]
    if skewed:
        yield (
            f"{SKEWED}: intervals of the total cost of {', '.join(skewed)} cover the true value too rarely. Use more "
            "rows, or treat these intervals as too narrow"
        )
    for reason in dict.fromkeys(each for caution in cautions.values() for each in caution.split("; ")):
        if reason and SKEWED not in reason:
            names = [name for name, caution in cautions.items() if reason in caution]
            yield f"the interval of the total cost of {', '.join(names)} is unreliable: {reason}"
