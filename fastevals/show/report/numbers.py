"""What `fastevals report` computes: from columns to the parts of a report."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import progressed
from fastevals.measure.counts import Cells, ThresholdCounts
from fastevals.measure.curves import CostCurve
from fastevals.measure.ranking import Ranking
from fastevals.measure.registry import METRICS, metric_named
from fastevals.show.blocks import distinct, groups_of, meant_label, numbered, rows_of
from fastevals.show.report.intervals import Rows, as_plan, asked_metrics, intervals_of
from fastevals.show.report.parts import Block, Model, Report, Roles
from fastevals.show.report.values import over_values

__all__ = ["build_report"]


def build_report(
    columns: Mapping[str, NDArray[Any]],
    roles: Roles,
    *,
    pos_label: str | None = None,
    threshold: float | None = None,
    best: str | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    prior: float | None = None,
    resamples: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    progress: bool = False,
    blocks_with_counts: int = 0,
) -> Report:
    """Measure each model in each block, and over all values of the --by column.

    Parameters
    ----------
    columns : mapping of str to ndarray of shape (n_rows,)
        At least the columns of `roles`.
    roles : Roles
        Which column is what.
    pos_label : str, optional
        The positive class as text; 1 among 0/1, -1/1 and booleans.
    threshold : float, optional
        Threshold of all models.
    best : str, optional
        Instead: the metric whose best threshold is taken, for each model and block. By default "f1", or
        "expected_cost" with costs.
    cost_fp, cost_fn : float, optional
        Costs; 1 where only the other, or the prior, is given.
    prior : float, optional
        Share of positives where the models are used; by default that of each block.
    resamples : int, optional
        Bootstrap replicates for the intervals; 0: no intervals. By default 1999, but DeLong's intervals of AUC alone
        in blocks of more than 2,000,000 rows.
    confidence : float in (0, 1)
        Of the intervals.
    seed : int
        Of the replicates.
    progress : bool
        Show a bar for each block's bootstrap (needs tqdm).
    blocks_with_counts : int
        So many blocks, from the first, keep their models' threshold counts: 24 bytes for each distinct score.

    Returns
    -------
    Report
        Nothing in it depends on the arrays any more.

    Raises
    ------
    ValueError
        If a column or option is not as described; the message names it as on the command line.
    """
    shown = roles.shown()
    plan = as_plan(resamples, confidence, seed)
    costs = _costs(cost_fp, cost_fn, prior)
    if threshold is None:
        best = metric_named("--best", best or ("f1" if costs is None else "expected_cost"), of="cells").name
        if best == "expected_cost":
            costs = costs or _costs(1.0, 1.0)
    elif best is not None:
        raise ValueError("--best and --threshold exclude each other")
    elif math.isnan(threshold):
        raise ValueError("--threshold must be a number, got nan")

    positive, found = _positives(shown[roles.label], columns[roles.label], pos_label)
    scores = {name: _scores(shown[name], columns[name]) for name in roles.scores}
    weights = None if roles.weight is None else check.as_weights(shown[roles.weight], columns[roles.weight])
    groups = None if roles.group is None else groups_of(shown[roles.group], columns[roles.group])
    asked = asked_metrics(best, threshold, costs)
    rows = Rows(positive, scores, weights, groups)
    values, codes = ([None], None) if roles.by is None else numbered(shown[roles.by], columns[roles.by])
    if weights is not None and not weights.all():
        rows = rows.take(weights != 0)
        if codes is not None:
            left, codes = np.unique(codes[weights != 0], return_inverse=True)
            values = [values[k] for k in left.tolist()]
    over = None if codes is None or len(values) < 2 else over_values(values, codes, rows, plan)
    blocks: list[Block] = []
    parts = _places(values, codes) if over is None or over.has_blocks else []
    for value, places in progressed(parts, "measuring"):
        some = rows.take(places)
        rankings = {
            name: Ranking(some.positive, array, sample_weight=some.weights) for name, array in some.scores.items()
        }
        models = tuple(_model(name, ranking, threshold, best, costs or {}) for name, ranking in rankings.items())
        if len(blocks) < blocks_with_counts:
            models = tuple(replace(model, counts=rankings[model.name].counts) for model in models)
        block = _block(value, rankings[roles.scores[0]], models, weighted=weights is not None)
        if plan is not None:
            there = {name: not all(math.isnan(model.metrics[name]) for model in models) for name in asked}
            defined = {name: each for name, each in asked.items() if there[name]}
            block = replace(block, intervals=intervals_of(plan, defined, some, progress=progress))
        blocks.append(block)
    n_weightless = positive.size - rows.positive.size
    return Report(roles, found, best, threshold, costs, n_weightless, tuple(blocks), plan, over)


# Options and columns ----------------------------------------------------------------------------------------------


def _costs(cost_fp: float | None, cost_fn: float | None, prior: float | None = None) -> dict[str, float] | None:
    if cost_fp is None and cost_fn is None and prior is None:
        return None
    names = ("--cost-fp", "--cost-fn")
    fp, fn, _ = check.check_costs(*(1.0 if cost is None else cost for cost in (cost_fp, cost_fn)), names=names)
    costs = {"cost_fp": fp, "cost_fn": fn}
    return costs if prior is None else costs | {"prior": check.check_number("--prior", prior, low=0, high=1)}


def _positives(shown: str, labels: NDArray[Any], pos_label: str | None) -> tuple[NDArray[np.bool_], Any]:
    """Give which rows are positive, and the positive label."""
    there = distinct(shown, labels)
    if len(there) > 2:
        check.raise_not_binary(shown, np.asarray(there))
    meant = meant_label(pos_label, there)
    values, found, _ = check.binary_labels(shown, labels, meant, option="--pos-label")
    return np.asarray(values == found, dtype=bool), type(there[0])(found)


def _scores(shown: str, values: NDArray[Any]) -> NDArray[Any]:
    scores = check.as_scores(shown, values)
    check.check_finite(shown, scores)
    return scores


def _places(values: list[Any], codes: NDArray[np.intp] | None) -> list[tuple[Any, Any]]:
    """Give each block's value and an index of its rows."""
    if codes is None:
        return [(values[0], slice(None))]
    return list(zip(values, rows_of(codes, len(values)), strict=True))


# Numbers ----------------------------------------------------------------------------------------------------------


def _model(name: str, ranking: Ranking, threshold: float | None, best: str | None, costs: dict[str, float]) -> Model:
    """Compute every metric of the registry, those of a confusion matrix at the threshold given or best."""
    if best is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", check.UndefinedMetricWarning)
            used: dict[str, Any] = dict(costs) if METRICS[best].options else {}
            threshold = ranking.best_threshold(best, **used).threshold
    assert threshold is not None
    counts = ranking.counts
    cells = None if math.isnan(threshold) else counts.cells(counts.rows_at_least(np.asarray(threshold)))
    metrics = {}
    for metric in METRICS.values():
        if metric.of != "cells":
            metrics[metric.name] = metric(counts)
        elif cells is None:
            metrics[metric.name] = math.nan
        else:
            metrics[metric.name] = float(metric(cells, **costs))
    plain = None if cells is None else Cells(*(np.asarray(cell).item() for cell in cells))
    holds = operating_range = None
    if best == "expected_cost":
        over = CostCurve(counts).over_prior(cost_fp=costs["cost_fp"], cost_fn=costs["cost_fn"])
        holds = over.holds(costs.get("prior", counts.n_pos / (counts.n_pos + counts.n_neg)))
        operating_range = over.operating_range()
    return Model(name, threshold, _shown(threshold, counts), plain, metrics, holds, operating_range)


def _shown(threshold: float, counts: ThresholdCounts) -> str:
    """Write a threshold so that what is read from paper predicts the same rows: it is a score, so mustn't round up."""
    if math.isnan(threshold):
        return "-"
    row = counts.rows_at_least(np.asarray(threshold))
    for digits in range(6, 18):
        text = f"{threshold:.{digits}g}"
        if counts.rows_at_least(np.asarray(float(text))) == row:
            return text
    return str(threshold)


def _block(value: Any, ranking: Ranking, models: tuple[Model, ...], *, weighted: bool) -> Block:
    counts = ranking.counts
    total = counts.n_pos + counts.n_neg
    best = {name: _best(name, models) for name in METRICS}
    return Block(
        value,
        ranking.n_samples,
        ranking.n_positives,
        ranking.n_negatives,
        float(total) if weighted else None,
        counts.n_pos / total,
        models,
        best,
    )


def _best(name: str, models: tuple[Model, ...]) -> tuple[str, ...]:
    defined = [model.metrics[name] for model in models if not math.isnan(model.metrics[name])]
    if not defined:
        return ()
    top = max(defined) if METRICS[name].greater_is_better else min(defined)
    return tuple(model.name for model in models if model.metrics[name] == top)
