"""What `fastevals report` computes: a tree of plain values that text, JSON and pictures are written from."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import progressed
from fastevals._validation.arrays import as_scores, as_weights, check_finite
from fastevals._validation.labels import binary_labels, raise_not_binary
from fastevals._validation.options import UndefinedMetricWarning, check_costs, check_number
from fastevals.counts import Cells, ThresholdCounts
from fastevals.measure.curves.cost import CostCurve
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.registry import METRICS, metric_named
from fastevals.results import Interval
from fastevals.show.blocks import distinct, groups_of, meant_label, numbered, rows_of
from fastevals.show.files import check_one_role
from fastevals.show.report.intervals import Intervals, Plan, Rows, as_plan, asked_metrics, intervals_of
from fastevals.show.report.values import OverValues, over_values


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column is what.

    Attributes
    ----------
    label : str
        The true class.
    scores : tuple of str
        A model each.
    weight, by, group : str, optional
        Row weights; the column whose values make the blocks; that of which rows a bootstrap draws together.
    """

    label: str
    scores: tuple[str, ...]
    weight: str | None = None
    by: str | None = None
    group: str | None = None

    def shown(self) -> dict[str, str]:
        """Return each column as messages call it: the option and the name; raise if one has two roles."""
        given = [("--label", self.label), *(("--score", score) for score in self.scores)]
        others = (("--weight", self.weight), ("--by", self.by), ("--group", self.group))
        given += [(option, name) for option, name in others if name is not None]
        shown: dict[str, str] = {}
        for option, name in given:
            check_one_role(shown, option, name)
        return shown

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns that must hold numbers."""
        return self.scores if self.weight is None else (*self.scores, self.weight)


@dataclass(frozen=True, slots=True)
class Model:
    """One model's numbers in a block.

    Attributes
    ----------
    name : str
        Column of its scores.
    threshold : float
        Rows with ``score >= threshold`` are predicted positive; NaN where no threshold is best.
    threshold_shown : str
        The threshold with as few digits, from 6 up, as predict the same rows.
    cells : Cells or None
        Counts (or weights) there.
    metrics : dict of str to float
        By name, as in the registry; NaN where undefined.
    holds, operating_range : Interval or None
        Where the threshold is that of least cost: the priors for which it stays that, and those for which the model is
        cheaper than predicting all or none.
    counts : ThresholdCounts or None
        What pictures are drawn from, where it was asked for.
    """

    name: str
    threshold: float
    threshold_shown: str
    cells: Cells | None
    metrics: dict[str, float]
    holds: Interval | None = None
    operating_range: Interval | None = None
    counts: ThresholdCounts | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that share a value of the --by column, or all.

    Attributes
    ----------
    value : int, float, bool, str or None
        The value; None for all rows.
    n_samples, n_positives, n_negatives : int
        Rows (of weight above zero).
    total_weight : float or None
        Their weight.
    positive_share : float
        Share of positives, by weight.
    models : tuple of Model
        In the order given.
    best : dict of str to tuple of str
        By metric, the models with the best value.
    intervals : Intervals or None
        Of what tables show, unless none are wanted.
    """

    value: Any
    n_samples: int
    n_positives: int
    n_negatives: int
    total_weight: float | None
    positive_share: float
    models: tuple[Model, ...]
    best: dict[str, tuple[str, ...]]
    intervals: Intervals | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """All of it.

    Attributes
    ----------
    roles : Roles
        The columns.
    pos_label : int, float, bool or str
        The positive class.
    best : str or None
        The metric by which each model's threshold is chosen in each block; None where `threshold` is given.
    threshold : float or None
        The threshold of all.
    costs : dict of str to float, or None
        ``cost_fp`` and ``cost_fn``, where given or used, and ``prior`` where given.
    n_weightless : int
        Rows of weight zero, left out.
    blocks : tuple of Block
        By ascending value; none where there are too many.
    plan : Plan or None
        How their intervals were made; None where none are wanted.
    over : OverValues or None
        What there is over the values of the --by column, where it has two or more.
    """

    roles: Roles
    pos_label: Any
    best: str | None
    threshold: float | None
    costs: dict[str, float] | None
    n_weightless: int
    blocks: tuple[Block, ...]
    plan: Plan | None = None
    over: OverValues | None = field(default=None, compare=False)

    def to_text(self, data: str) -> str:
        """Return the report as text to read; `data` says where the columns are from."""
        from fastevals.show.report.text import to_text  # which is made of these parts

        return to_text(self, data)

    def to_json(self, data: str) -> str:
        """Return the report as strict JSON; `data` says where the columns are from."""
        from fastevals.show.report.json import to_json

        return to_json(self, data)


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
    weights = None if roles.weight is None else as_weights(shown[roles.weight], columns[roles.weight])
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
    fp, fn, _ = check_costs(*(1.0 if cost is None else cost for cost in (cost_fp, cost_fn)), names=names)
    costs = {"cost_fp": fp, "cost_fn": fn}
    return costs if prior is None else costs | {"prior": check_number("--prior", prior, low=0, high=1)}


def _positives(shown: str, labels: NDArray[Any], pos_label: str | None) -> tuple[NDArray[np.bool_], Any]:
    """Return which rows are positive, and the positive label."""
    there = distinct(shown, labels)
    if len(there) > 2:
        raise_not_binary(shown, np.asarray(there))
    meant = meant_label(pos_label, there)
    values, found, _ = binary_labels(shown, labels, meant, option="--pos-label")
    return np.asarray(values == found, dtype=bool), type(there[0])(found)


def _scores(shown: str, values: NDArray[Any]) -> NDArray[Any]:
    scores = as_scores(shown, values)
    check_finite(shown, scores)
    return scores


def _places(values: list[Any], codes: NDArray[np.intp] | None) -> list[tuple[Any, Any]]:
    """Return each block's value and an index of its rows."""
    if codes is None:
        return [(values[0], slice(None))]
    return list(zip(values, rows_of(codes, len(values)), strict=True))


# Numbers ----------------------------------------------------------------------------------------------------------


def _model(name: str, ranking: Ranking, threshold: float | None, best: str | None, costs: dict[str, float]) -> Model:
    """Compute every metric of the registry, those of a confusion matrix at the threshold given or best."""
    if best is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
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
