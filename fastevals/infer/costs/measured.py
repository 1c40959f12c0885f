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
from fastevals.infer.bootstrap.bootstrap import DEBIASED, OPTIMISM, BootstrapSettings, Estimate, Limits, make_estimate
from fastevals.infer.bootstrap.cost_samples import CostSample
from fastevals.infer.bootstrap.row_samples import SamplingUnits
from fastevals.infer.comparison import Difference, compare_numbers
from fastevals.infer.costs.decisions import ALL, BEST, FIXED, NONE, PER_ROW, DecisionCost, ModelCosts, RowCosts
from fastevals.infer.costs.moments import Moments
from fastevals.infer.means import skewed_interval
from fastevals.measure import thresholds as at_thresholds
from fastevals.measure.registry import UNBOUNDED
from fastevals.measure.row_costs import RowAmounts
from fastevals.results import NOWHERE, Interval

Floats = NDArray[np.float64]
Key = tuple[Any, str]  # model and rule

HALL = "Hall"  # method of intervals for decisions that are not chosen on the rows
WIDER = f"wider of {HALL} and {DEBIASED}"  # and for thresholds that are
SKEWED = "few rows carry most of the amount"
FEW_AMOUNTS = 30  # equal amounts; intervals of totals that are more skewed cover the true value too rarely


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
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.asarray(sums @ self.numerator * ((1.0 if self.is_share else weight) / (sums @ self.denominator)))
        return np.where(np.isfinite(value), value, np.nan)

    def influence(self, sums: Floats, weight: float) -> Floats:
        """Return the coefficients of a unit's sums in its influence on the quantity."""
        scale = 1.0 if self.is_share else weight
        return (scale * self.numerator - self.value(sums, weight) * self.denominator) / (sums @ self.denominator)  # type: ignore[no-any-return]


_NONE, _GAIN, _WEIGHT, _SAVED = np.eye(4)
QUANTITIES = {
    "total": Quantity(_NONE - _SAVED, _WEIGHT, False, (0.0, math.inf)),
    "savings": Quantity(_SAVED, _WEIGHT, False, UNBOUNDED),
    "savings_share": Quantity(_SAVED, _NONE, True, (-math.inf, 1.0)),
    "savings_over_all": Quantity(_SAVED - _GAIN, _WEIGHT, False, UNBOUNDED),
    "savings_over_all_share": Quantity(_SAVED - _GAIN, _NONE - _GAIN, True, (-math.inf, 1.0)),
}
TRIVIAL = {  # what the savings of predicting no row, or all rows, positive are, as combinations of the sums
    NONE: np.array([_NONE, _GAIN, _WEIGHT, 0 * _SAVED]),
    ALL: np.array([_NONE, _GAIN, _WEIGHT, _GAIN]),
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
    stakes = rows.amounts.stakes(positive).weighted(rows.weights)
    if not stakes.gains.any():
        raise ValueError("cost_fp and cost_fn must make some prediction cost more than the other, but none does")
    with np.errstate(over="ignore"):
        if not math.isfinite(stakes.none.sum() + np.abs(stakes.gains).sum()):
            raise ValueError("cost_fp and cost_fn must have a finite sum, but it overflows")
    units = SamplingUnits.number(positive.size, rows.groups, None)
    counts = {model: stakes.counts(each) for model, each in rows.scores.items()}
    thresholds, decided = _decide(rows, counts, threshold, per_row_rule, bool(leaks))

    def of_units(values: Floats) -> Floats:
        return np.asarray(np.bincount(units.unit_by_row, values, units.n)) if units.grouped else values

    weight = np.ones(positive.size) if rows.weights is None else rows.weights
    columns = [of_units(each) for each in (stakes.none, stakes.gains, weight)]
    saved = {key: of_units(np.where(each, stakes.gains, 0.0)) for key, each in decided.items()}
    moments = {key: Moments.of([*columns, each]) for key, each in saved.items()}
    drawn: dict[Key, Floats] = {}
    if settings.n_resamples:
        is_drawn = rows.weights is not None or units.grouped  # otherwise all replicates have the same number of rows
        sample = CostSample(
            units, stakes, list(rows.scores.values()),
            [*columns[: 2 + is_drawn], *(each for (_, rule), each in saved.items() if rule != BEST)],
        )  # fmt: skip
        drawn = _replicates(sample, list(saved), None if is_drawn else float(positive.size), settings, progress)
    sizes = [np.abs(stakes.gains[of]) for of in (positive, ~positive)]
    estimates = _Estimates(
        settings, (int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))),
        bool(np.min(rows.amounts.cost_tp) < 0),
        np.array([_root_mean_square(each) for each in sizes if each.size]),
    )  # fmt: skip
    found = {
        key: estimates.decision(key[1], thresholds[key], each, moments[key], drawn.get(key), f"{key[1]} of {key[0]}")
        for key, each in decided.items()
    }
    any_moments = next(iter(moments.values()))
    none, everything = (
        estimates.decision(rule, at, np.full(positive.size, rule == ALL), any_moments, None, rule, TRIVIAL[rule])
        for rule, at in ((NONE, math.inf), (ALL, -math.inf))
    )
    models = {
        model: ModelCosts(found[model, BEST], found.get((model, FIXED)), found.get((model, PER_ROW)), counts[model])
        for model in rows.scores
    }
    return RowCosts(
        models, none, everything, _differences(list(models), moments, drawn, pairs, settings), positive.size,
        estimates.class_sizes[0], tuple(_cautions(found, leaks, per_row_rule)), pos_label, settings.n_resamples,
        settings.confidence_level, settings.alternative,
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
    """How estimates are made from the moments of units, and from replicates."""

    settings: BootstrapSettings
    class_sizes: tuple[int, int]
    has_benefits: bool
    one_more: Floats  # what one more mistake of each class would cost

    def decision(
        self,
        rule: str,
        threshold: float,
        decided: NDArray[np.bool_],
        moments: Moments,
        drawn: Floats | None,
        label: str,
        combined: Floats = np.eye(4),  # noqa: B008 (never modified)
    ) -> DecisionCost:
        """Return the cost of decisions; `combined` has the four sums as combinations of the moments' columns."""
        found = {
            name: self._estimate(each, moments, drawn, combined, rule == BEST, f"{name} at {label}")
            for name, each in QUANTITIES.items()
        }
        total, weight = found.pop("total"), float(moments.sums[2])
        n_predicted = int(np.count_nonzero(decided))
        return DecisionCost(rule, threshold, n_predicted, total, _scaled(total, 1 / weight), **found)

    def _estimate(
        self, quantity: Quantity, moments: Moments, drawn: Floats | None, combined: Floats, is_best: bool, label: str
    ) -> Estimate:
        settings, weight, sums = self.settings, float(moments.sums[2]), combined @ moments.sums
        value = float(quantity.value(sums, weight))
        if math.isnan(value):
            return Estimate(value, NOWHERE, math.nan, math.nan, 0, method=HALL)
        bounds = UNBOUNDED if self.has_benefits else quantity.bounds
        powers = moments.powers(quantity.influence(sums, weight) @ combined)
        caution = self._caution(quantity, sums, weight, powers)
        hall, error = skewed_interval(value, moments.n, powers, settings.confidence_level, settings.alternative)
        if not is_best:
            return Estimate(value, _within(bounds, *hall), error, 0.0, 0, caution=caution, method=HALL)
        if drawn is None:
            return Estimate(value, NOWHERE, math.nan, math.nan, 0, caution=caution)
        replicates = quantity.value(drawn, weight)
        made = make_estimate(
            label, abs, value, replicates, 0.0, settings, keep=False, class_sizes=self.class_sizes,
            limits=Limits(bounds, bounds),
        )  # fmt: skip
        low, high = made.confidence_interval
        if not math.isnan(low):  # what is subtracted from the ends of the percentiles, too
            optimism = [times * (float(np.nanmedian(replicates)) - value) for times in OPTIMISM]
            low, high = min(low, hall.low - max(optimism)), max(high, hall.high - min(optimism))
        caution = "; ".join(filter(None, [made.caution, caution]))
        return replace(made, confidence_interval=_within(bounds, low, high), caution=caution, method=WIDER)

    def _caution(self, quantity: Quantity, sums: Floats, weight: float, powers: tuple[float, float, float]) -> str:
        """Return a caution if a few rows, or one more mistake, carry most of the total: intervals cover too rarely."""
        unit, square, cube = powers
        one_more = self.one_more * ((1.0 if quantity.is_share else weight) / (sums @ quantity.denominator))
        largest = max(unit * math.sqrt(square), float(np.abs(one_more).max())) or 1.0
        seen, one_more = unit / largest if square else 0.0, np.abs(one_more / largest)
        square = seen**2 * square + float((one_more**2).sum())
        cube = seen**3 * abs(cube) + float((one_more**3).sum())
        skewness = cube / square**1.5 if square else 0.0
        rows = skewness**-2 if skewness > 1e-6 else math.inf  # a sum of n equal amounts has skewness n ** -0.5
        if rows >= FEW_AMOUNTS:
            return ""
        return (
            f"{SKEWED}: it is as skewed as a sum of {count_of(round(rows), 'equal amount')}, and with fewer than "
            f"{FEW_AMOUNTS}, such intervals cover the true value too rarely: use more rows"
        )


def _differences(
    models: list[Any],
    moments: Mapping[Key, Moments],
    drawn: Mapping[Key, Floats],
    pairs: NDArray[np.intp],
    settings: BootstrapSettings,
) -> dict[str, tuple[Difference, ...]]:
    """Return the differences of total costs of models by each rule that all models have."""
    total, found = QUANTITIES["total"], {}
    for rule in (BEST, FIXED, PER_ROW) if len(pairs) and drawn else ():
        if all((model, rule) in moments for model in models):
            sums = [moments[model, rule].sums for model in models]
            weight = float(sums[0][2])
            values = np.array([float(total.value(each, weight)) for each in sums])
            replicates = np.stack([total.value(drawn[model, rule], weight) for model in models], axis=1)
            _, fields = compare_numbers(values, replicates, pairs, settings, UNBOUNDED)
            found[rule] = tuple(
                Difference(models[i], models[j], *row) for (i, j), row in zip(pairs, fields, strict=True)
            )
    return found


def _root_mean_square(values: Floats) -> float:
    largest = float(values.max()) or 1.0
    return largest * math.sqrt(float(np.mean(np.square(values / largest))))


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
    found: Mapping[tuple[Any, str], DecisionCost], leaks: list[tuple[str, str]], per_row_rule: bool | None
) -> Iterator[str]:
    """Yield cautions about the results."""
    for name, of_class in leaks:
        measured = "the per-row rule's cost is too low" if per_row_rule else "the per-row rule is not measured"
        yield (
            f"{name} is 0 in all {of_class} rows and not in all other rows: it reveals the label, so no decision may "
            f"use it. Total costs at thresholds are right, but {measured}"
        )
    cautions = {f"{printable(str(model))} ({rule})": each.total.caution for (model, rule), each in found.items()}
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
