"""Measure what decisions cost: sums and moments of independent units, and replicates of best thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._text import count_of, printable
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
from fastevals.infer.costs.moments import CostColumns, Key, SkewedSpread
from fastevals.infer.means import skewed_interval
from fastevals.measure import thresholds as at_thresholds
from fastevals.measure.registry import UNBOUNDED
from fastevals.measure.row_costs import RowAmounts, Stakes
from fastevals.results import NOWHERE, Interval

Floats = NDArray[np.float64]

HALL = "Hall"  # method of intervals for decisions that are not chosen on the rows
WIDER = f"wider of {HALL} and {DEBIASED}"  # method for thresholds chosen on the rows
SKEWED = "few rows carry most of the amount"
FEW_AMOUNTS = 10  # equal amounts; intervals of totals that are more skewed cover the true value too rarely


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
    positive = rows.positive
    leaks = rows.amounts.leaks(positive)
    stakes = rows.amounts.stakes(positive, rows.weights)
    size = stakes.size()
    units = SamplingUnits.number(positive.size, rows.groups, None)
    counts = {model: stakes.counts(each) for model, each in rows.scores.items()}
    thresholds, decided = _decide(rows, counts, threshold, per_row_rule, bool(leaks))
    columns = _columns_of(units, stakes, rows.weights, decided)
    drawn: dict[Key, Floats] = {}
    if settings.n_resamples:
        keys = [key for key in decided if key[0] is not None]
        fixed = [columns.saved_gains(key, slice(None)) for key in keys if key[1] != BEST]
        each_row = [] if columns.weights is None else [columns.weights]  # otherwise all replicates have as many rows
        sample = CostSample(
            units, stakes, list(rows.scores.values()), [columns.none, columns.gains, *each_row, *fixed]
        )  # fmt: skip
        n_rows = None if each_row else float(positive.size)
        drawn = _replicates(sample, keys, n_rows, settings, progress)
    n_positive = int(np.count_nonzero(positive))
    weight = 1.0 if rows.weights is None else math.sqrt(float(np.mean(np.square(rows.weights))))
    typical = np.array([(none, gain, weight) for none, gain in stakes.typical(positive, size)])
    estimates = _Estimates(
        settings, (n_positive, positive.size - n_positive), bool(np.min(rows.amounts.cost_tp) < 0), units.n, typical
    )
    sums, largest = columns.sums()
    found = estimates.decisions(columns, sums, largest, thresholds, decided, drawn)
    models = {
        model: ModelCosts(found[model, BEST], found.get((model, FIXED)), found.get((model, PER_ROW)), counts[model])
        for model in rows.scores
    }
    return RowCosts(
        models, found[None, NONE], found[None, ALL], _differences(list(models), sums, drawn, pairs, settings),
        positive.size, n_positive, tuple(_cautions(found, leaks, per_row_rule)), pos_label,
        settings.n_resamples, settings.confidence_level, settings.alternative,
    )  # fmt: skip


def _decide(
    rows: CostedRows,
    counts: Mapping[Any, ThresholdCounts],
    threshold: NDArray[Any] | None,
    per_row_rule: bool | None,
    leaks: bool,
) -> tuple[dict[Key, float], dict[Key, NDArray[np.bool_]]]:
    """Return the threshold of each model and rule, and which rows it predicts positive."""
    at: dict[Key, float] = {}
    decided: dict[Key, NDArray[np.bool_]] = {}
    for rule, each, n in ((NONE, math.inf, np.zeros), (ALL, -math.inf, np.ones)):
        at[None, rule], decided[None, rule] = each, n(rows.positive.size, dtype=np.bool_)
    for model, scores in rows.scores.items():
        at[model, BEST] = at_thresholds.best_threshold(counts[model], "expected_cost", None, (1.0, 1.0, None)).threshold
        decided[model, BEST] = scores >= at[model, BEST]
        if threshold is not None:
            at[model, FIXED] = float(threshold)
            decided[model, FIXED] = scores >= threshold
        if per_row_rule or (per_row_rule is None and not leaks and scores.min() >= 0 and scores.max() <= 1):
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


class _Estimates(NamedTuple):
    """How estimates are made from sums over units, and from replicates."""

    settings: BootstrapSettings
    class_sizes: tuple[int, int]
    has_benefits: bool
    n_units: int
    typical: Floats  # what a typical row of each class costs and gains, and its weight: shape (n_classes, 3)

    def decisions(
        self,
        columns: CostColumns,
        sums: Mapping[Key, Floats],
        largest: Floats,
        thresholds: Mapping[Key, float],
        decided: Mapping[Key, NDArray[np.bool_]],
        drawn: Mapping[Key, Floats],
    ) -> dict[Key, DecisionCost]:
        """Return the cost of each decision; `largest` has the size of the largest number in each column."""
        with np.errstate(over="ignore", invalid="ignore"):  # amounts near the smallest float
            forms = {key: np.array([each.influence(of) for each in QUANTITIES.values()]) for key, of in sums.items()}
            units = {key: np.abs(form * largest).max(axis=1, keepdims=True) for key, form in forms.items()}
            units = {key: np.where(unit, unit, 1.0) for key, unit in units.items()}
            forms = {key: form / units[key] for key, form in forms.items()}
        powers = columns.powers(forms)
        found = {}
        for key, rows in decided.items():
            model, rule = key
            more = np.einsum("fc,rc->fr", forms[key], self._more_rows(rule))
            label = rule if model is None else f"{rule} of {model}"
            estimates = {}
            for i, (name, quantity) in enumerate(QUANTITIES.items()):
                spread = SkewedSpread.of(self.n_units, float(units[key][i, 0]), powers[key][i], more[i])
                estimates[name] = self._estimate(
                    quantity, sums[key], spread, drawn.get(key), rule == BEST, f"{name} at {label}"
                )
            total, weight = estimates.pop("total"), float(sums[key][2])
            n_predicted = int(np.count_nonzero(rows))
            mean = _scaled(total, 1 / weight)
            found[key] = DecisionCost(rule, thresholds[key], n_predicted, total, mean, **estimates)
        return found

    def _more_rows(self, rule: str) -> Floats:
        """Return typical rows, with the four columns: one for each class and each decision that the rule may make."""
        return np.array(
            [
                [none, gain, weight, gain if predicted else 0.0]
                for none, gain, weight in self.typical
                for predicted in {NONE: (False,), ALL: (True,)}.get(rule, (False, True))
            ]
        )

    def _estimate(
        self, quantity: Quantity, sums: Floats, spread: SkewedSpread, drawn: Floats | None, is_best: bool, label: str
    ) -> Estimate:
        settings = self.settings
        value = float(quantity.value(sums, float(sums[2])))
        if math.isnan(value):
            return Estimate(value, NOWHERE, math.nan, math.nan, 0, method=HALL)
        bounds = UNBOUNDED if self.has_benefits else quantity.bounds
        few, skewed = few_rows_caution(self.class_sizes), _caution(spread)
        caution = "; ".join(filter(None, [few, skewed]))
        hall = skewed_interval(value, *spread[1:], settings.confidence_level, settings.alternative)
        if not is_best:
            return Estimate(value, _within(bounds, *hall), spread.error, 0.0, 0, caution=caution, method=HALL)
        if drawn is None or math.isnan(hall.low):
            return Estimate(value, NOWHERE, math.nan, math.nan, 0, caution=caution)
        replicates = quantity.value(drawn, float(sums[2]))
        made = make_estimate(
            label, abs, value, replicates, 0.0, settings, keep=False, class_sizes=self.class_sizes,
            limits=Limits(bounds, bounds),
        )  # fmt: skip
        low, high = made.confidence_interval
        if not math.isnan(low):  # what is subtracted from the ends of the percentiles, too
            optimism = [times * (float(np.nanmedian(replicates)) - value) for times in OPTIMISM]
            low, high = min(low, hall.low - max(optimism)), max(high, hall.high - min(optimism))
        caution = "; ".join(filter(None, [made.caution, skewed]))
        return replace(made, confidence_interval=_within(bounds, low, high), caution=caution, method=WIDER)


def _caution(spread: SkewedSpread) -> str:
    """Return a caution if a few rows carry most of the estimate: intervals cover too rarely."""
    if not spread.skewness or spread.skewness**-2 >= FEW_AMOUNTS:  # a sum of n equal amounts has skewness n ** -0.5
        return ""
    return (
        f"{SKEWED}: the estimate is as skewed as a sum of {count_of(round(spread.skewness**-2), 'equal amount')}, and "
        f"intervals of sums of fewer than {FEW_AMOUNTS} cover the true value too rarely: use more rows"
    )


def _differences(
    models: list[Any],
    sums: Mapping[Key, Floats],
    drawn: Mapping[Key, Floats],
    pairs: NDArray[np.intp],
    settings: BootstrapSettings,
) -> dict[str, tuple[Difference, ...]]:
    """Return the differences of total costs of models by each rule that all models have."""
    total, found = QUANTITIES["total"], {}
    for rule in (BEST, FIXED, PER_ROW) if len(pairs) and drawn else ():
        if all((model, rule) in sums for model in models):
            weight = float(sums[models[0], rule][2])
            values = np.array([float(total.value(sums[model, rule], weight)) for model in models])
            replicates = np.stack([total.value(drawn[model, rule], weight) for model in models], axis=1)
            _, fields = compare_numbers(values, replicates, pairs, settings, UNBOUNDED)
            found[rule] = tuple(
                Difference(models[i], models[j], *row) for (i, j), row in zip(pairs, fields, strict=True)
            )
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
