"""What `fastevals report` computes: a tree of plain values that text, JSON and pictures are written from."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import progressed
from fastevals._validation.arrays import as_scores, as_weights, check_finite
from fastevals._validation.labels import binary_labels, raise_not_binary
from fastevals._validation.options import UndefinedMetricWarning, check_costs, check_number, naming_rows, show
from fastevals.counts import Cells, ThresholdCounts
from fastevals.datasets import load_digits_eight
from fastevals.measure.curves.cost import CostCurve
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.registry import SCORE_METRICS, find_metric
from fastevals.results import Interval
from fastevals.show.columns import (
    NamedColumns,
    check_columns,
    columns_by_role,
    data_name,
    distinct_values,
    encode_groups,
    encode_values,
    parse_label,
    read_data,
    rows_by_code,
)
from fastevals.show.commands import CsvForm, TextResult, option
from fastevals.show.report.command import DIGIT_SCORES, EMBEDDED, check_named
from fastevals.show.report.intervals import IntervalPlan, Intervals, ScoredRows, as_plan, column_metrics, make_intervals
from fastevals.show.report.values import OverValues, over_values


@dataclass(frozen=True, slots=True)
class ColumnRoles:
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
        others = [("weight", self.weight), ("by", self.by), ("group", self.group)]
        roles = [("label", self.label), *(("score", score) for score in self.scores), *others]
        return columns_by_role((option(role), name) for role, name in roles)

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns that must hold numbers."""
        return self.scores if self.weight is None else (*self.scores, self.weight)


@dataclass(frozen=True, slots=True)
class ModelNumbers:
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
class ReportBlock:
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
    models: tuple[ModelNumbers, ...]
    best: dict[str, tuple[str, ...]]
    intervals: Intervals | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Report(TextResult):
    """A report, which prints itself as text.

    Attributes
    ----------
    data : str
        Where the columns are from.
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
    plan : IntervalPlan or None
        How intervals were made; None where none are wanted.
    over : OverValues or None
        What there is over the values of the --by column, where it has two or more.
    """

    data: str
    roles: ColumnRoles
    pos_label: Any
    best: str | None
    threshold: float | None
    costs: dict[str, float] | None
    n_weightless: int
    blocks: tuple[ReportBlock, ...]
    plan: IntervalPlan | None = None
    over: OverValues | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as strict JSON: NaN is None, an infinite threshold "Infinity"."""
        from fastevals.show.report.json import report_values  # which is made of these parts

        return report_values(self)

    def to_text(self) -> str:
        """Return the report as text to read: lines of at most 120 characters for ordinary names."""
        from fastevals.show.report.text import report_text

        return report_text(self)

    def to_json(self) -> str:
        """Return the report as the command prints it with --format json: one line without blocks."""
        indent = 2 if self.blocks else None  # with it a million numbers take seconds, and a line each
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False) + "\n"


def report(
    data: Any = None,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    by: str | None = None,
    pos_label: Any = None,
    threshold: float | None = None,
    best: str | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    prior: float | None = None,
    resamples: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    group: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    progress: bool = False,
) -> Report:
    """Report how good models are, how sure that is, and how they differ, as ``fastevals report`` does.

    Parameters
    ----------
    data : path, frame, mapping of str to array-like, Ranking or ThresholdCounts, optional
        A CSV, Parquet or Arrow file, a frame (pandas, polars, Arrow) or columns by name, with a row a sample; or what
        was counted of one model's scores. By default the embedded scores of three classifiers.
    label : str
        Column of the true class. Of a `Ranking` or counts what texts call it, "label" by default.
    score : str or sequence of str
        Columns of scores, a model each, higher for the positive class. Of a `Ranking` or counts the model's name.
    weight : str, optional
        Column of row weights.
    by : str, optional
        Means over this column's values, and a block each up to 100 of them.
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans.
    threshold : float, optional
        Predict positive where ``score >= threshold``.
    best : str, optional
        Or at each model's best threshold by this metric: "f1" by default, "expected_cost" with costs.
    cost_fp, cost_fn : float, optional
        Costs of a false positive and a false negative; 1 where only the other, or the prior, is given.
    prior : float, optional
        Share of positives where the models are used, for costs; by default that of each block.
    resamples : int, optional
        Bootstrap replicates for the intervals; 0: no intervals. By default 1999, but DeLong's intervals of AUC alone
        in blocks of more than 2,000,000 rows.
    confidence : float in (0, 1)
        Level of the intervals, and of all differences of a metric at once.
    seed : int
        Of the replicates.
    group : str, optional
        Column of which rows are drawn together, such as a patient.
    separator, encoding, header : str, str and bool, optional
        Of a CSV file, where they are not to be seen from it.
    progress : bool
        Show a bar for each block's bootstrap (needs tqdm).

    Returns
    -------
    Report
        It prints itself; ``to_dict()`` is the JSON of the command, ``to_text()`` its text. It doesn't hold the data.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.
    ImportError
        For a file without pyarrow.

    Examples
    --------
    >>> import fastevals
    >>> columns = {"y": [0, 1, 0, 1, 1, 0], "a": [0.1, 0.8, 0.5, 0.6, 0.4, 0.2], "b": [0.3, 0.9, 0.2, 0.7, 0.8, 0.1]}
    >>> found = fastevals.report(columns, label="y", score=["a", "b"], resamples=0).to_dict()
    >>> [(model["name"], round(model["metrics"]["roc_auc"], 4)) for model in found["blocks"][0]["models"]]
    [('a', 0.8889), ('b', 1.0)]
    """
    scores = [score] if isinstance(score, str) else score
    return build_report(
        data, label=label, score=scores, weight=weight, by=by, pos_label=pos_label, threshold=threshold, best=best,
        cost_fp=cost_fp, cost_fn=cost_fn, prior=prior, resamples=resamples, confidence=confidence, seed=seed,
        group=group, form=CsvForm.checked(separator, encoding, header), progress=progress,
    )  # fmt: skip


def build_report(
    data: Any,
    *,
    label: str | None,
    score: Sequence[str] | None,
    weight: str | None = None,
    by: str | None = None,
    group: str | None = None,
    pos_label: Any = None,
    threshold: float | None = None,
    best: str | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    prior: float | None = None,
    resamples: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    form: CsvForm = CsvForm(),  # noqa: B008 (which nothing changes)
    progress: bool = False,
    n_pictured: int = 0,
) -> Report:
    """Measure each model in each block, and over all values of the `by` column; arguments as `report`.

    So many blocks as `n_pictured`, from the first, keep their models' threshold counts, which pictures are drawn from:
    24 bytes for each distinct score.
    """
    is_counted = isinstance(data, (Ranking, ThresholdCounts))
    if is_counted:
        _check_no_columns(data, form, {"weight": weight, "by": by, "group": group, "pos_label": pos_label}, score)
        label, score = label or "label", score or ["score"]
    elif data is None:
        label, score = label or "label", score or DIGIT_SCORES
    check_named(data_name(data), label, score)
    roles = ColumnRoles(str(label), tuple(map(str, score or ())), weight, by, group)
    columns = NamedColumns({}) if is_counted else _read(data, roles, form)
    with naming_rows(columns.line):
        plan = as_plan(resamples, confidence, seed)
        costs = _costs(cost_fp, cost_fn, prior)
        if threshold is None:
            best = find_metric(option("best"), best or ("f1" if costs is None else "expected_cost"), of="cells").name
            if best == "expected_cost":
                costs = costs or _costs(1.0, 1.0)
        elif best is not None:
            raise ValueError(f"{option('best')} and {option('threshold')} exclude each other")
        elif not isinstance(threshold, Real) or math.isnan(threshold):
            raise ValueError(f"{option('threshold')} must be a number, got {show(threshold)}")

        values, codes, n_weightless = [None], None, 0
        if is_counted:
            ranking = _ranking_of_rows(data)
            rows, positive = _counted_rows(ranking, roles.scores[0]), ranking.pos_label
        else:
            rows, positive = _scored_rows(columns, roles, pos_label)
            if roles.by is not None:
                values, codes = encode_values(roles.shown()[roles.by], columns[roles.by])
            if rows.weights is not None and not rows.weights.all():
                kept = rows.weights != 0
                n_weightless = int(np.count_nonzero(~kept))
                rows = rows.take(kept)
                if codes is not None:
                    left, codes = np.unique(codes[kept], return_inverse=True)
                    values = [values[k] for k in left.tolist()]
        over = None if codes is None or len(values) < 2 else over_values(values, codes, rows, plan)
        metrics = column_metrics(best, threshold, costs)
        blocks: list[ReportBlock] = []
        parts = _places(values, codes) if over is None or over.has_blocks else []
        for value, places in progressed(parts, "measuring"):
            some = rows if codes is None else rows.take(places)
            rankings = some.rankings()
            models = tuple(_model(name, ranking, threshold, best, costs or {}) for name, ranking in rankings.items())
            if len(blocks) < n_pictured:
                models = tuple(replace(model, counts=rankings[model.name].counts) for model in models)
            block = _block(value, rankings[roles.scores[0]], models)
            if plan is not None:
                defined = {
                    name: each
                    for name, each in metrics.items()
                    if not all(math.isnan(model.metrics[name]) for model in models)
                }
                block = replace(block, intervals=make_intervals(plan, defined, some, progress=progress))
            blocks.append(block)
    return Report(_data_name(data), roles, positive, best, threshold, costs, n_weightless, tuple(blocks), plan, over)


# Options and columns ----------------------------------------------------------------------------------------------


def _data_name(data: Any) -> str:
    return EMBEDDED if data is None else data_name(data)


def _read(data: Any, roles: ColumnRoles, form: CsvForm) -> NamedColumns:
    """Return the columns of the data, or of the embedded scores."""
    shown = roles.shown()
    if data is not None:
        return read_data(data, shown, numeric=roles.numeric, form=form)
    columns = load_digits_eight()
    check_columns(EMBEDDED, list(columns), shown)
    return NamedColumns(columns)


def _scored_rows(columns: NamedColumns, roles: ColumnRoles, pos_label: Any) -> tuple[ScoredRows, Any]:
    """Return the rows that columns hold, checked, and the positive label."""
    shown = roles.shown()
    positive, found = _positives(shown[roles.label], columns[roles.label], pos_label)
    scores = {name: _scores(shown[name], columns[name]) for name in roles.scores}
    weights = None if roles.weight is None else as_weights(shown[roles.weight], columns[roles.weight])
    groups = None if roles.group is None else encode_groups(shown[roles.group], columns[roles.group])
    return ScoredRows(positive, scores, weights, groups), found


def _check_no_columns(data: Any, form: CsvForm, others: dict[str, Any], score: Sequence[str] | None) -> None:
    """Raise of what goes with columns beside counts."""
    kind = type(data).__name__
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"{option(name)} goes with columns of rows, but data is a {kind}")
    if options := form.options():
        raise ValueError(f"{options[0]} goes with a CSV file, but data is a {kind}")
    if score is not None and len(score) > 1:
        raise ValueError(f"{option('score')} must be one name, of the model that a {kind} is of, got {list(score)}")


def _counted_rows(ranking: Ranking, name: str) -> ScoredRows:
    """Return the rows that are counted, each distinct score and class one of as many as there are."""
    counts = ranking.counts
    sizes = np.concatenate([np.diff(counts.tps), np.diff(counts.fps)])
    positive, scores = np.repeat([True, False], counts.tps.size - 1), np.tile(counts.thresholds[1:], 2)
    kept = sizes > 0
    return ScoredRows(positive[kept], {name: scores[kept]}, sizes[kept], None, ranking)


def _ranking_of_rows(data: Ranking | ThresholdCounts) -> Ranking:
    """Return the ranking, of threshold counts that of the rows that they count."""
    if isinstance(data, Ranking):
        return data
    if data.tps.dtype.kind == "f":
        raise ValueError("data must count rows, but these ThresholdCounts are sums of weights: pass the Ranking")
    return Ranking.from_threshold_counts(data)


def _costs(cost_fp: float | None, cost_fn: float | None, prior: float | None = None) -> dict[str, float] | None:
    if cost_fp is None and cost_fn is None and prior is None:
        return None
    names = (option("cost_fp"), option("cost_fn"))
    fp, fn, _ = check_costs(*(1.0 if cost is None else cost for cost in (cost_fp, cost_fn)), names=names)
    costs = {"cost_fp": fp, "cost_fn": fn}
    return costs if prior is None else costs | {"prior": check_number(option("prior"), prior, low=0, high=1)}


def _positives(shown: str, labels: NDArray[Any], pos_label: Any) -> tuple[NDArray[np.bool_], Any]:
    """Return which rows are positive, and the positive label."""
    there = distinct_values(shown, labels)
    if len(there) > 2:
        raise_not_binary(shown, np.asarray(there))
    meant = parse_label(pos_label, there) if isinstance(pos_label, str) else pos_label
    values, found, _ = binary_labels(shown, labels, meant, option=option("pos_label"))
    return np.asarray(values == found, dtype=bool), type(there[0])(found)


def _scores(shown: str, values: NDArray[Any]) -> NDArray[Any]:
    scores = as_scores(shown, values)
    check_finite(shown, scores)
    return scores


def _places(values: list[Any], codes: NDArray[np.intp] | None) -> list[tuple[Any, Any]]:
    """Return each block's value and an index of its rows."""
    if codes is None:
        return [(values[0], slice(None))]
    return list(zip(values, rows_by_code(codes, len(values)), strict=True))


# Numbers ----------------------------------------------------------------------------------------------------------


def _model(
    name: str, ranking: Ranking, threshold: float | None, best: str | None, costs: dict[str, float]
) -> ModelNumbers:
    """Compute every metric of the registry, those of a confusion matrix at the threshold given or best."""
    if best is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            used: dict[str, Any] = dict(costs) if SCORE_METRICS[best].options else {}
            threshold = ranking.best_threshold(best, **used).threshold
    assert threshold is not None
    counts = ranking.counts
    cells = None if math.isnan(threshold) else counts.cells(counts.rows_at_least(np.asarray(threshold)))
    metrics = {}
    for metric in SCORE_METRICS.values():
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
    return ModelNumbers(name, threshold, _shown(threshold, counts), plain, metrics, holds, operating_range)


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


def _block(value: Any, ranking: Ranking, models: tuple[ModelNumbers, ...]) -> ReportBlock:
    counts = ranking.counts
    total = counts.n_pos + counts.n_neg
    best = {name: _best(name, models) for name in SCORE_METRICS}
    return ReportBlock(
        value,
        ranking.n_samples,
        ranking.n_positives,
        ranking.n_negatives,
        float(total) if counts.tps.dtype.kind == "f" else None,
        counts.n_pos / total,
        models,
        best,
    )


def _best(name: str, models: tuple[ModelNumbers, ...]) -> tuple[str, ...]:
    defined = [model.metrics[name] for model in models if not math.isnan(model.metrics[name])]
    if not defined:
        return ()
    top = max(defined) if SCORE_METRICS[name].greater_is_better else min(defined)
    return tuple(model.name for model in models if model.metrics[name] == top)
