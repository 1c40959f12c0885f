"""Costs that differ by row, in a report: options, what each block's decisions cost, and their table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning, check_number
from fastevals._text import printable
from fastevals.document.document import Table
from fastevals.infer.bootstrap.bootstrap import BootstrapSettings
from fastevals.infer.costs.decisions import RowCosts
from fastevals.infer.costs.measured import CostedRows, measure_costs
from fastevals.infer.significance.paired import compared_pairs
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.row_costs import RowAmounts
from fastevals.reading.columns import ColumnRoles, NamedColumns
from fastevals.show.report.data import ModelNumbers, ThresholdRule
from fastevals.show.report.intervals import PROBABILITY_COLUMNS, RANKING_COLUMNS, IntervalPlan, ScoredRows
from fastevals.show.report.options import ReportOptions
from fastevals.show.report.over_values import MOST_BLOCKS, have_blocks

COST = "expected_cost"
SIDES = "cost_fp", "cost_fn"  # which have a cost of 1 if only another cost is given
OUTCOMES = *SIDES, "cost_tp"


def cost_roles(options: ReportOptions) -> dict[str, str]:
    """Return the columns of costs that are given, by outcome."""
    columns = options.cost_fp_column, options.cost_fn_column, options.cost_tp_column
    given = dict(zip(OUTCOMES, columns, strict=True))
    return {name: column for name, column in given.items() if column is not None}


def costs_by_outcome(options: ReportOptions) -> dict[str, Any]:
    """Return the column or constant cost of each outcome; of true positives only if one is given."""
    columns = cost_roles(options)
    given = [name for name in OUTCOMES if name in SIDES or name in columns or getattr(options, name) is not None]
    return {name: columns[name] if name in columns else _constant(options, name) for name in given}


def _constant(options: ReportOptions, name: str) -> float:
    cost, is_side = getattr(options, name), name in SIDES
    low = {"low": 0} if is_side else {"open_low": True}
    return float(is_side) if cost is None else check_number(option(name), cost, open_high=True, **low)


def refuse_costs(options: ReportOptions) -> None:
    """Raise if columns of costs are given for predictions, which have no thresholds."""
    for name in cost_roles(options):
        raise ValueError(f"{option(f'{name}_column')} goes with scores, and these are predictions")


def check_cost_options(options: ReportOptions) -> dict[str, str]:
    """Return the columns of costs by outcome; raise if options that apply to constant costs only are given too."""
    given = cost_roles(options)
    if not given:
        if options.cost_tp is not None:
            columns = ", ".join(option(f"{name}_column") for name in SIDES)
            raise ValueError(
                f"{option('cost_tp')} goes with {columns} or {option('cost_tp_column')}; if costs are the same in all "
                f"rows, subtract the cost of a true positive from {option('cost_fn')} instead"
            )
        return {}
    column = option(f"{next(iter(given))}_column")
    for name in given:
        if getattr(options, name) is not None:
            raise ValueError(f"{option(name)} and {option(f'{name}_column')} exclude each other")
    if options.prior is not None:
        raise ValueError(f"{option('prior')} goes with constant costs, not with {column}")
    if options.best not in (None, COST, "cost"):
        raise ValueError(f"{option('best')} and {column} exclude each other: thresholds have the lowest total cost")
    return given


def refuse_unread(options: ReportOptions, name: str) -> None:
    """Raise for costs that differ by row, because the rows of `name` are not read into memory."""
    column = option(f"{next(iter(cost_roles(options)))}_column")
    approximate = f"leave out {option('approximate')}" if options.approximate else f"raise {option('memory')}"
    raise ValueError(f"{column} needs the rows of {name} in memory: {approximate}, or take a sample of the rows")


def read_amounts(roles: ColumnRoles, columns: NamedColumns, options: ReportOptions) -> RowAmounts:
    """Return the costs of rows, from columns and constants."""
    called = roles.message_names()
    given = {name: getattr(roles, name) for name in OUTCOMES}
    names = [option(name) if column is None else called[column] for name, column in given.items()]
    costs = [_constant(options, name) if column is None else columns[column] for name, column in given.items()]
    truth = columns[roles.models[0]]  # as long as the labels, which were removed
    return RowAmounts.checked(truth, costs[0], costs[1], costs[2], names)


def check_few_values(by: Sequence[str], values: list[Any]) -> None:
    """Raise if there are more values of --by than have a block each."""
    if not have_blocks(values):
        named = " x ".join(map(repr, by))
        raise ValueError(
            f"{option('by')} {named} has {len(values):,} values, and costs by row are measured for up to {MOST_BLOCKS}"
        )


def drawn_with_costs(metrics: dict[str, MetricSpec], rule: ThresholdRule) -> dict[str, MetricSpec]:
    """Return the metrics with intervals: only those without a threshold, if the threshold is chosen by total cost."""
    if rule.best is None:
        return metrics
    return {name: spec for name, spec in metrics.items() if name in (*RANKING_COLUMNS, *PROBABILITY_COLUMNS)}


def measure_block(rows: ScoredRows, rule: ThresholdRule, plan: IntervalPlan | None, *, progress: bool) -> RowCosts:
    """Return what decisions on a block's rows cost; without replicates if there is no plan or too many rows."""
    rows = rows.repeated()
    is_drawn = plan is not None and plan.draws(rows.n_samples)
    level, seed = (0.95, 0) if plan is None else (plan.confidence_level, plan.seed)
    settings = BootstrapSettings.checked(plan.n_resamples if plan else 1, level, "BCa", "two-sided", seed)
    threshold = None if rule.threshold is None else np.asarray(rule.threshold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return measure_costs(
            costed_rows(rows), settings if is_drawn else settings._replace(n_resamples=0), threshold, None,
            compared_pairs(tuple(rows.scores), None if plan is None else plan.reference), progress=progress,
        )  # fmt: skip


def costed_rows(rows: ScoredRows) -> CostedRows:
    """Return rows with costs, once for each of their copies."""
    rows = rows.repeated()
    assert rows.amounts is not None
    weights = None if rows.weights is None else rows.weights.astype(np.float64)
    return CostedRows(rows.positive, rows.scores, rows.amounts, weights, rows.groups)


def rule_of(costs: RowCosts, rule: ThresholdRule, model: str) -> ThresholdRule:
    """Return the rule for a model's threshold: the threshold of the lowest total cost, unless one is given."""
    return rule if rule.best is None else ThresholdRule(None, costs[model].best.threshold, None)


def with_cost(model: ModelNumbers, costs: RowCosts) -> ModelNumbers:
    """Return a model's numbers with the mean cost per row at its threshold."""
    at = costs[model.name].fixed or costs[model.name].best
    return replace(model, metrics=model.metrics | {COST: at.mean.value})


def cost_table(costs: RowCosts) -> Table:
    """Return the table of total costs and savings by model and rule."""
    table = next(part for part in costs._document().sections[0].parts if isinstance(part, Table))
    return table._replace(kind="costs", title="Costs of decisions")


def describe_costs(costs: Mapping[str, Any]) -> str:
    """Say what each outcome costs, given its column or constant."""
    outcomes = {"cost_fp": "false positive", "cost_fn": "false negative", "cost_tp": "true positive"}
    each = {name: printable(cost) if isinstance(cost, str) else f"{cost:g}" for name, cost in costs.items()}
    return ", ".join(f"{cost} per {outcomes[name]}" for name, cost in each.items())
