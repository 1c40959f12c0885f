"""Convert a report to JSON; its keys depend on the kind of models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import OPTION_NAMES
from fastevals.infer.calibration.calibrations import Calibration
from fastevals.many.groups import GroupedMetric
from fastevals.many.trends import Trend, TrendLine
from fastevals.reading.columns import ROLES, ColumnRoles
from fastevals.reading.rows import LeftOut
from fastevals.reading.sources import ReadFiles
from fastevals.results import Interval, as_json
from fastevals.show.report.calibrated import calibration_values
from fastevals.show.report.data import ClassFacts, ModelNumbers, OfClasses, ReportBlock, ReportData
from fastevals.show.report.intervals import BCA, CELLS, DELONG, ModelPair
from fastevals.show.report.kinds import REPORT_KINDS
from fastevals.show.report.notes import (
    block_cautions,
    describe_undrawn,
    labelled_share,
    lacks_labels,
    left_out_of,
    methods_instead,
    over_cautions,
)
from fastevals.show.report.over_values import OverValues, find_extreme
from fastevals.show.report.trend import shown_places
from fastevals.show.schema import json_head

MOST_CELLS = 200  # classes, above which the matrix is left out


def page_values(report: ReportData) -> dict[str, Any]:
    """Return the JSON that a page saves; of a trend, it has the values that the page's tables show."""
    if report.trend is not None:
        trend = report.trend.take(shown_places(report.trend))
        report = replace(report, trend=trend, blocks=(), overs=())
    return report_values(report)


def report_values(report: ReportData) -> dict[str, Any]:
    """Return a report as strict JSON: NaN becomes None; infinite values become "Infinity" or "-Infinity"."""
    roles, kind = report.roles, report.roles.kind
    has_scores = kind == "scores"
    point = {"best": report.best} if report.best is not None else {"threshold": report.threshold}
    of_kind = (
        {"operating_point": point, "costs": report.costs, "row_costs": report.row_costs}
        if has_scores
        else {"not_measured": report.not_measured}
    )
    values: dict[str, Any] = as_json(
        {
            **json_head(),
            "data": report.data,
            **({} if has_scores else {"predicted": REPORT_KINDS[kind].predicted}),
            ROLES[kind][0]: roles.truth,
            **({} if has_scores else {"classes": report.labels}),
            **({} if report.class_facts is None else _class_facts(report.class_facts)),
            "pos_label": report.pos_label,
            **{OPTION_NAMES.get(role, role): column for role, column in roles.weights.items()},
            "by": None if not roles.by else roles.by[0] if len(roles.by) == 1 else list(roles.by),
            "cross": roles.cross,
            "files": files_values(report.files),
            "n_dropped": report.left_out.n_rows,
            "dropped": left_out_values(roles, report.left_out),
            **of_kind,
            "against": _other_rows(report),
            **({} if report.reference is None else {"reference": report.reference}),
            "intervals": _plan(report),
            "over": None,
            "trend": None if report.trend is None else _trend(report.trend),
            "whole": None if report.whole is None else _block(report, report.whole),
            "blocks": [_block(report, block) for block in report.blocks],
        }
    )
    overs = [(_over_scores if has_scores else _over_predictions)(report, over) for over in report.overs]
    if roles.are_several:
        values["over"] = [{"by": over.by[0], **each} for over, each in zip(report.overs, overs, strict=True)]
    elif overs:
        (values["over"],) = overs
    return values


def _class_facts(facts: ClassFacts) -> dict[str, Any]:
    """Return what is known of the classes of probabilities."""
    return {"ordered": facts.are_ordered, "normalized": facts.are_normalized, "hard": facts.hard}


def files_values(files: ReadFiles | None) -> dict[str, Any] | None:
    """Return the number of files, and those without rows; None if all have rows."""
    return (
        None
        if files is None or not files.without_rows
        else {"n_files": files.n_files, "without_rows": list(files.without_rows)}
    )


def left_out_values(roles: ColumnRoles, left_out: LeftOut) -> dict[str, dict[str, Any]]:
    """Return, by column, the number of rows left out because they lack its value, and how many lack nothing else."""
    return {
        name: {"reason": roles.reason(name), "rows": rows, "alone": left_out.alone.get(name, 0)}
        for name, rows in sorted(left_out.by_column.items())
    }


def _other_rows(report: ReportData) -> dict[str, Any] | None:
    """Return the rows of --against, and the values of --by that only one side has."""
    other = report.against
    if other is None:
        return None

    def plain(keys: tuple[Any, ...]) -> list[Any]:
        of_keys = [report.roles.segments.of_key(key) for key in keys]
        return [{"by": by[0], "value": value} if report.roles.are_several else value for by, value in of_keys]

    return {
        "data": other.name,
        "n_samples": other.n_samples,
        "n_positives": other.n_positives,
        "files": files_values(other.files),
        "n_dropped": other.left_out.n_rows,
        "dropped": left_out_values(report.roles, other.left_out),
        "only_in_data": plain(other.only_data),
        "only_in_against": plain(other.only_other),
    }


def _plan(report: ReportData) -> dict[str, Any] | None:
    """Return how intervals are made; the method is "BCa" if the rows of any block are resampled."""
    plan = report.plan
    if plan is None:
        return None
    settings = {
        "confidence": plan.confidence_level,
        "resamples": plan.n_resamples,
        "seed": plan.seed,
        "group": report.roles.groups,
    }
    if report.roles.kind != "scores":
        return settings
    methods = {block.intervals.method for block in report.blocks if block.intervals is not None}
    return {
        "method": next((method for method in (BCA, CELLS) if method in methods), None),
        "in_place_of_bca": methods_instead(report),
        **settings,
        "cells_above": plan.most_drawn,
        "budget": plan.budget,
        "blocks_drawn": sum(plan.draws(block.n_samples) for block in report.blocks),
        "not_drawn": describe_undrawn(report),
    }


# Over the values of --by ----------------------------------------------------------------------------------------------


def _over_scores(report: ReportData, over: OverValues) -> dict[str, Any]:
    """Return metrics over the values of --by, with arrays in the order of the values."""
    n_samples, n_positives, weights = over.counts
    method = DELONG if over.why_none is None else None
    intervals = {"method": method, "resamples_of_means": over.n_replicates, "notes": over_cautions(report, over)}
    section: dict[str, Any] = as_json(
        {
            "values": over.values,
            "n_samples": n_samples,
            "n_positives": n_positives,
            "total_weights": None if report.roles.weights["sample_weight"] is None else weights,
            "models": [
                {
                    "name": model,
                    "metrics": {name: _over_metric(metric, over) for name, metric in metrics.items()},
                    "calibration": _over_calibration(over.calibrated.get(model, [])),
                }
                for model, metrics in over.metrics.items()
            ],
            "intervals": None if report.plan is None else intervals,
            "differences": over.differences,
        }
    )
    for model, metrics in zip(section["models"], over.metrics.values(), strict=True):
        for name, metric in metrics.items():
            if metric.confidence_intervals is not None:
                model["metrics"][name]["intervals"] = _interval_rows(metric.confidence_intervals)
    return section


def _over_predictions(_: ReportData, over: OverValues) -> dict[str, Any]:
    """Return one metric for each value of --by."""
    found = {model: metrics[over.metric] for model, metrics in over.metrics.items()}
    models = [
        {
            "name": model,
            "values": as_json(metric.values),
            "intervals": [None] * len(metric)
            if metric.confidence_intervals is None
            else _interval_rows(metric.confidence_intervals),
        }
        for model, metric in found.items()
    ]
    n_samples = next(iter(found.values())).n_samples
    named = {"values": over.values, "n_samples": n_samples, "metric": over.metric, "differences": over.differences}
    return {**as_json(named), "models": models}


def _over_metric(metric: GroupedMetric, over: OverValues) -> dict[str, Any]:
    values: dict[str, Any] = {
        "mean": metric.mean,
        "interval": interval_values(metric.mean_confidence_interval),
        "macro_mean": metric.macro_mean,
        "n_undefined": metric.n_undefined,
    }
    for name, sign in (("lowest", 1), ("highest", -1)):
        extreme = find_extreme(metric, sign)
        values[name] = extreme and {
            "metric": extreme.metric,
            "value": over.values[extreme.place],
            "n_values": extreme.n_values,
        }
    values["of_values"] = metric.values
    return values


def _over_calibration(found: Sequence[Calibration | None]) -> list[dict[str, Any] | None] | None:
    """Return a model's predicted / observed in each value; None if all are unknown."""
    if all(each is None for each in found):
        return None
    known = [None if each is None else calibration_values(each) for each in found]
    return [
        None if each is None else {name: each[name] for name in ("predicted", "observed", "ratio")} for each in known
    ]


def _interval_rows(pairs: NDArray[np.float64]) -> list[list[float] | None]:
    """Return intervals, null where undefined; convert the array in one call, as it may hold a million intervals."""
    return [None if pair[0] is None else pair for pair in as_json(pairs)]


# The trend ------------------------------------------------------------------------------------------------------------


def _trend(trend: Trend) -> dict[str, Any]:
    """Return each metric of each model over the values, with arrays in the order of the values."""
    return {
        "values": trend.values,
        "n_samples": trend.n_samples,
        "n_positives": trend.n_positives,
        "labelled": trend.labelled,
        "pooled_labelled": trend.pooled_labelled,
        "min_labelled": trend.min_labelled,
        "undecided": trend.undecided,
        "metrics": {
            metric: [{"name": name, **_trend_line(line)} for name, line in lines.items()]
            for metric, lines in trend.lines.items()
        },
    }


def _trend_line(line: TrendLine) -> dict[str, Any]:
    found = line.compared
    compared = None
    if found is not None:
        compared = {
            "others": found.others,
            "differences": found.differences,
            "intervals": _interval_rows(found.intervals),
            "adjusted_pvalues": found.adjusted_pvalues,
            "is_lower": found.is_lower,
            "is_higher": found.is_higher,
            "pvalue_of_equality": found.pvalue_of_equality,
            "share_beyond_chance": found.share_beyond_chance,
        }
    return {
        "values": line.values,
        "intervals": _interval_rows(line.intervals),
        "pooled": line.pooled,
        "pooled_interval": interval_values(line.pooled_interval),
        "compared": compared,
    }


# A block --------------------------------------------------------------------------------------------------------------


def _block(report: ReportData, block: ReportBlock) -> dict[str, Any]:
    intervals, has_scores = block.intervals, report.roles.kind == "scores"
    of_classes = {"n_positives": block.n_positives, "n_negatives": block.n_negatives} if has_scores else {}
    details = None
    if intervals is not None:
        details = {
            "method": intervals.method,
            **({} if has_scores else {"resamples": block.n_resamples}),
            "n_groups": intervals.n_groups,
            "n_undefined": intervals.n_undefined,
            "notes": block_cautions(report, block),
        }
    dropped = left_out_of(report, block)
    of_several = {"by": block.by[0]} if report.roles.are_several and block.by else {}
    return {
        **of_several,
        "value": block.value,
        "n_samples": block.n_samples,
        "n_dropped": dropped.n_rows,
        "dropped": left_out_values(report.roles, dropped),
        **(
            {"labelled": labelled_share(report, block.by, block.value, block.n_samples)} if lacks_labels(report) else {}
        ),
        **of_classes,
        "total_weight": block.total_weight,
        "models": [_model(report, block, model) for model in block.models],
        "best": {name: list(models) for name, models in block.best.items()},
        **({} if block.costs is None else {"costs": block.costs}),
        **({"against": [pair_values(pair) for pair in block.against]} if block.against else {}),
        **({} if block.other is None else {"compared_with": block.other._asdict()}),
        "differences": [] if intervals is None else [pair_values(pair) for pair in intervals.differences],
        "intervals": details,
    }


def _model(report: ReportData, block: ReportBlock, model: ModelNumbers) -> dict[str, Any]:
    intervals = None
    if block.intervals is not None:
        made = block.intervals.models.get(model.name, {})
        intervals = {name: interval_values(made.get(name)) for name in report.metrics}
    bounds = {"bounds": {name: list(pair) for name, pair in model.bounds.items()}} if model.bounds else {}
    if report.roles.kind != "scores":
        of_classes = {} if model.classes is None else _class_values(model.classes)
        return {"name": model.name, "metrics": model.metrics, "intervals": intervals, **bounds, **of_classes}
    return {
        "name": model.name,
        "threshold": model.threshold,
        "confusion": None if model.cells is None else model.cells._asdict(),
        "metrics": model.metrics,
        "holds": interval_values(model.holds),
        "operating_range": interval_values(model.operating_range),
        "intervals": intervals,
        "calibration": calibration_values(model.calibrated),
        **({} if model.gains is None else {"gain_table": model.gains}),
        **bounds,
    }


def _class_values(classes: OfClasses) -> dict[str, Any]:
    """Return the confusion matrix, unless there are many classes, and the metrics of each class."""
    labels = classes.matrix.labels
    of_each = {
        name: {
            "values": values,
            "intervals": _of_each(classes.intervals, name),
            "wilson": _of_each(classes.wilson, name),
            **({"bounds": _of_each(classes.bounds, name)} if name in classes.bounds else {}),
        }
        for name, values in classes.metrics.items()
    }
    counts = classes.matrix.counts if labels.size <= MOST_CELLS else None
    return {"confusion": counts, "labels": labels, "classes": of_each}


def _of_each(intervals: Mapping[str, Interval], name: str) -> list[list[float] | None] | None:
    return _interval_rows(np.stack(intervals[name], axis=1)) if name in intervals else None


def pair_values(pair: ModelPair) -> dict[str, Any]:
    """Return the differences of a pair of models."""
    metrics = {
        name: {"value": each.value, "interval": interval_values(each.interval), "pvalue": each.pvalue}
        for name, each in pair.metrics.items()
    }
    return {"model": pair.model, "reference": pair.reference, "metrics": metrics}


def interval_values(interval: Interval | None) -> list[Any] | None:
    """Return the ends of an interval, or None if it is undefined."""
    return None if interval is None or math.isnan(interval.low) else list(interval)
