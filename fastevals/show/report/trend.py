"""The trend of a report: each metric over ordered values, such as days, and the values that differ from the others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import option
from fastevals._text import format_label, printable, shorten_names
from fastevals.document.document import (
    PAGE,
    RICH,
    TEXT,
    Count,
    Figures,
    Number,
    Part,
    PValue,
    Row,
    Section,
    Sentence,
    Table,
)
from fastevals.document.picture import Panel, Picture
from fastevals.infer.significance.decision import pvalue_text
from fastevals.many.trends import Trend, TrendLine
from fastevals.many.values_compared import ValuesCompared, compare_with_others
from fastevals.measure.registry import SCORE_METRICS, metric_title
from fastevals.reading.columns import ColumnRoles
from fastevals.reading.named_files import natural_key
from fastevals.reading.rows import LeftOut
from fastevals.results import NOWHERE, Interval, check_confidence_level
from fastevals.show.pictures import CAPTIONS
from fastevals.show.plots import style
from fastevals.show.plots.trend import draw_trend
from fastevals.show.report.data import ModelNumbers, ReportBlock
from fastevals.show.report.intervals import PROBABILITY_COLUMNS, IntervalPlan
from fastevals.show.report.kinds import AUC, REPORT_KINDS
from fastevals.show.report.over_values import MOST_IN_TREND

Floats = NDArray[np.float64]

VALUES_NAMED = 5  # values that differ, in a sentence
VALUES_WRITTEN, FEWEST_VALUES = 60, 10  # rows of a table: in text, and at least
CELLS_ON_PAGE = 1000  # of all tables on a page; each takes about 45 bytes
OF_RANKINGS = (AUC, "average_precision")
OTHERS = "the mean of the other values"


# Measuring ------------------------------------------------------------------------------------------------------------


def make_trend(
    roles: ColumnRoles, measured: dict[str, Any], metrics: Sequence[str], best: str | None, left_out: LeftOut,
    all_values: Iterable[Any], min_labelled: float | None,
) -> Trend:  # fmt: skip
    """Return the trend of a report's blocks. `all_values` may have values without rows."""
    (by,) = roles.by
    blocks = {block.value: block for block in measured["blocks"] if block.value is not None}
    names = {*blocks, *(value for value in left_out.by_value if value is not None), *all_values}
    if not blocks:
        n = max((len(over.values) for over in measured["overs"]), default=0)
        what = f"{printable(by)} has {n:,} values; at most {MOST_IN_TREND:,} are measured" if n else "there are none"
        raise ValueError(f"{option('trend')} needs values with rows: {what}")
    values = sorted(names, key=natural_key)
    plan, whole = measured["plan"], measured["whole"] or next(iter(blocks.values()))
    found = [blocks.get(value) for value in values]
    n_samples = np.array([0 if block is None else block.n_samples for block in found], np.int64)
    lacking = np.array([_without_label(left_out.by_value.get(value), roles) for value in values])
    labelled = _shares(n_samples, lacking)
    undecided = np.zeros(len(values), np.bool_) if min_labelled is None else labelled < min_labelled
    lines: dict[str, dict[str, TrendLine]] = {}
    for metric in _metrics(roles, metrics, best):
        of_models = {}
        for k, model in enumerate(roles.models):
            line = _line(metric, model, k, found, whole, plan, undecided, roles)
            if np.isfinite(line.values).any():
                of_models[model] = line
        if of_models:
            lines[metric] = of_models
    positives = np.array([0 if block is None else block.n_positives for block in found], np.int64)
    return Trend(
        by, values, n_samples, positives if roles.kind == "scores" else None, labelled,
        float(_shares(np.array([n_samples.sum()]), np.array([_without_label(left_out, roles)]))[0]), min_labelled,
        lines, None if plan is None else plan.confidence_level, roles.groups is not None, undecided,
    )  # fmt: skip


def _metrics(roles: ColumnRoles, metrics: Sequence[str], best: str | None) -> list[str]:
    """Return the metrics to follow. Each value has its own best threshold, so metrics at it are not comparable."""
    if roles.kind != "scores":
        return [name for name in REPORT_KINDS[roles.kind].forests if name in metrics]
    at_threshold = [name for name in metrics if SCORE_METRICS[name].of == "cells"]
    at_threshold = at_threshold if best is None else [name for name in at_threshold if name == best]
    return [*OF_RANKINGS, *PROBABILITY_COLUMNS[:2], *at_threshold]


def _without_label(left_out: LeftOut | None, roles: ColumnRoles) -> int:
    return 0 if left_out is None else left_out.by_column.get(roles.truth, 0)


def _shares(n_samples: NDArray[np.int64], lacking: NDArray[np.int64]) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return n_samples / (n_samples + lacking)


def _line(
    metric: str, model: str, k: int, blocks: Sequence[ReportBlock | None], whole: ReportBlock,
    plan: IntervalPlan | None, undecided: NDArray[np.bool_], roles: ColumnRoles,
) -> TrendLine:  # fmt: skip
    values, errors, units, weights = (np.full(len(blocks), math.nan) for _ in range(4))
    ends = np.full((len(blocks), 2), math.nan)
    for place, block in enumerate(blocks):
        if block is None:
            continue
        its = block.models[k]
        values[place] = its.metrics[metric]
        ends[place] = _interval(block, model, metric)
        if block.intervals is not None:
            error = block.intervals.standard_errors.get(model, {}).get(metric, math.nan)
            errors[place] = error + _doubt(its, metric)
            units[place] = _units(block, roles)
        weights[place] = block.n_samples if block.total_weight is None else block.total_weight
    compared = None
    if plan is not None:
        alpha = check_confidence_level(plan.confidence_level)[1]
        errors[undecided] = math.nan
        errors, units, weights = (np.nan_to_num(each) for each in (errors, units, weights))
        compared = compare_with_others(values, errors, units, weights, alpha)
    pooled = whole.models[k].metrics[metric]
    return TrendLine(values, ends, pooled, Interval(*_interval(whole, model, metric)), compared)


def _interval(block: ReportBlock, model: str, metric: str) -> Interval:
    return NOWHERE if block.intervals is None else block.intervals.models.get(model, {}).get(metric, NOWHERE)


def _doubt(model: ModelNumbers, metric: str) -> float:
    """Return how far a metric may be off because scores were counted in ranges."""
    bounds = model.bounds.get(metric)
    value = model.metrics[metric]
    return 0.0 if bounds is None else max(value - bounds.low, bounds.high - value)


def _units(block: ReportBlock, roles: ColumnRoles) -> float:
    """Return the number of rows of the rarer class, or of rows or clusters, that limits the degrees of freedom."""
    n = min(block.n_positives, block.n_negatives) if roles.kind == "scores" else block.n_samples
    n_groups = None if block.intervals is None else block.intervals.n_groups
    return float(n if n_groups is None else min(n, n_groups))


# Words and tables -----------------------------------------------------------------------------------------------------


def trend_section(trend: Trend) -> Section:
    """Return the section: which values differ, a table for each metric, and pictures."""
    parts: list[Part] = [Sentence(f"trend over {len(trend.values):,} values of {trend.by}", "line", TEXT)]
    parts += [Sentence(text, "verdict", RICH) for text in trend_conclusions(trend)]
    parts += [Sentence(text, "note") for text in trend_notes(trend)]
    has_all = len(shown_places(trend)) == len(trend.values)
    saved = "the trend" if has_all else "the values in the tables"
    parts.append(Sentence(f"The JSON that this page saves has {saved}; the report's own JSON has all", "note", PAGE))
    parts.append(Figures(lambda: [("trend", trend_panels(trend))], CAPTIONS))
    for k, metric in enumerate(trend.lines):
        parts.append(_table(trend, metric, TEXT if k == 0 else ()))
        if k == 0:
            parts.append(_table(trend, metric, RICH))
    parts = [part._replace(only=RICH) if isinstance(part, Table) and not part.only else part for part in parts]
    return Section(parts, f"Trend over {trend.by}", is_block=False)


def trend_conclusions(trend: Trend) -> Iterator[str]:
    """Yield a sentence for each metric and model: the values that differ from the others, the worst first."""
    for metric, models in trend.lines.items():
        for model, line in models.items():
            yield _concluded(trend, metric, model, line)


def _concluded(trend: Trend, metric: str, model: str, line: TrendLine) -> str:
    name, found = f"{metric_title(metric)} of {printable(model)}", line.compared
    if found is None or trend.confidence_level is None:
        return f"{name} of all rows is {line.pooled:.4f}; values are not compared without intervals."
    n = found.n_compared
    if n < 2:
        return f"{name}: fewer than two values of {trend.by} can be compared."
    level = f"{100 * trend.confidence_level:.6g} %"
    differing = [k for k in worst_first(metric, found) if found.is_lower[k] or found.is_higher[k]]
    if not differing:
        k = int(np.nanargmin(found.pvalues))
        return (
            f"No significant difference in {name} between any of {n:,} values of {trend.by} and {OTHERS}; "
            f"the smallest p is at {format_label(trend.values[k])}: {_evidence(found, k, level)}."
        )
    named = [
        f"{format_label(trend.values[k])} is {'lower' if found.is_lower[k] else 'higher'} by "
        f"{_evidence(found, k, level, size=True)}"
        for k in differing[:VALUES_NAMED]
    ]
    more = f"; and {len(differing) - VALUES_NAMED:,} more" if len(differing) > VALUES_NAMED else ""
    return (
        f"{name} differs significantly from {OTHERS} at {len(differing):,} of {n:,} values of {trend.by}: "
        f"{'; '.join(named)}{more}."
    )


def worst_first(metric: str, found: ValuesCompared) -> list[int]:
    """Return places of compared values: significantly worse ones, the largest difference first, then the others."""
    entry = SCORE_METRICS.get(metric)
    sign = -1 if entry is not None and entry.greater_is_better is False else 1
    if entry is None and metric.endswith("error"):
        sign = -1
    order = np.argsort(sign * found.differences, kind="stable").tolist()
    return [k for k in order if not math.isnan(found.differences[k])]


def _evidence(found: ValuesCompared, k: int, level: str, *, size: bool = False) -> str:
    """Write a difference, or its size, with its interval and p."""
    value, (low, high) = float(found.differences[k]), found.intervals[k].tolist()
    if size and value < 0:
        value, low, high = -value, -high, -low
    adjusted = pvalue_text(float(found.adjusted_pvalues[k]), "two-sided")
    return f"{value:.4f} (simultaneous {level} interval {low:.4f} to {high:.4f}; adjusted {adjusted})"


def trend_notes(trend: Trend) -> Iterator[str]:
    """Yield how values are compared, and which are not compared."""
    if trend.confidence_level is not None:
        yield (
            f"Each value of {trend.by} is compared with {OTHERS}, weighted by rows, with Student's t. Its variance is "
            "the mean of its own replicates' variance and the others' variance per row. Intervals and p-values are "
            "simultaneous over the values, separately for each metric and model (Sidak)"
        )
    if trend.are_clustered:
        yield f"If clusters have rows in several values of {trend.by}, these are not independent, and p is too large"
    empty = [value for value, n in zip(trend.values, trend.n_samples, strict=True) if not n]
    if empty:
        yield f"{len(empty):,} of {len(trend.values):,} values have no rows with a label: {_listed(empty)}"
    late = [k for k in np.flatnonzero(trend.undecided).tolist() if trend.n_samples[k]]
    if late and trend.min_labelled is not None:
        shares = [f"{format_label(trend.values[k])} ({100 * trend.labelled[k]:.3g} %)" for k in late]
        yield (
            f"undecided, and not compared, because less than {100 * trend.min_labelled:g} % of the rows have a label: "
            f"{', '.join(shares)}"
        )
    for metric, models in trend.lines.items():
        for model, line in models.items():
            if line.compared is not None:
                lacking = np.isfinite(line.values) & np.isnan(line.compared.pvalues) & ~trend.undecided
                if lacking.any() and line.compared.n_compared > 1:
                    values = [trend.values[k] for k in np.flatnonzero(lacking).tolist()]
                    yield (
                        f"{metric_title(metric)} of {printable(model)} has no standard error at {_listed(values)}, so "
                        "these values are not compared"
                    )


def _listed(values: Sequence[Any]) -> str:
    more = f" and {len(values) - VALUES_NAMED:,} more" if len(values) > VALUES_NAMED else ""
    return ", ".join(map(format_label, values[:VALUES_NAMED])) + more


def _table(trend: Trend, metric: str, only: Any) -> Table:
    """Return a row for each value, and for all rows: the metric of each model, and the difference from the others."""
    lines, title = trend.lines[metric], metric_title(metric)
    columns, places = [trend.by, "rows"], [-1]
    if trend.n_positives is not None:
        columns, places = [*columns, "positive"], [*places, -1]
    if trend.lacks_labels:
        columns, places = [*columns, "labelled"], [*places, -1]
    of_models = [f"{title} of {name}" for name in shorten_names(lines)] if len(lines) > 1 else [title]
    level = "" if trend.confidence_level is None else f" {100 * trend.confidence_level:.6g} % from"
    for k, name in enumerate(of_models):
        heads = [name]
        if level:
            heads += [level.strip(), "to", "minus others", "from", "to", "p", ""]
        columns += heads
        places += [k] * len(heads)

    def cells(k: int | None) -> Iterator[Any]:
        at = slice(None) if k is None else k
        yield Count(int(trend.n_samples[at].sum()))
        if trend.n_positives is not None:
            yield Count(int(trend.n_positives[at].sum()))
        if trend.lacks_labels:
            share = trend.pooled_labelled if k is None else trend.labelled[k]
            yield "-" if math.isnan(share) else f"{100 * share:.1f} %"
        for line in lines.values():
            ends = line.pooled_interval if k is None else line.intervals[k].tolist()
            yield Number(line.pooled if k is None else float(line.values[k]))
            if level:
                yield from map(Number, ends)
                if k is None or line.compared is None:
                    yield from [""] * 5
                else:
                    yield from _compared_cells(trend, line.compared, k)

    shown = shown_places(trend, VALUES_WRITTEN if only == TEXT else None)

    def rows() -> Iterator[Row]:
        for k in shown:
            yield Row(format_label(trend.values[k]), list(cells(k)))
        yield Row("all rows", list(cells(None)))

    n_more = len(trend.values) - len(shown)
    if n_more and only != TEXT:
        title = f"{title}: the values that differ most, the first and the last, {len(shown):,} of {len(trend.values):,}"
    more = f"... {n_more:,} more values, which the JSON has" if n_more else ""
    return Table("trend", title, columns, rows, places, only=only, more=more)


def shown_places(trend: Trend, most: int | None = None) -> list[int]:
    """Return the places of the values that tables show: all, or those that differ, the first and the last.

    Parameters
    ----------
    trend : Trend
    most : int, optional
        Most values; by default, as many as all tables of a page have room for.
    """
    n = len(trend.values)
    if most is None:
        n_lines = sum(map(len, trend.lines.values()))
        most = max(FEWEST_VALUES, CELLS_ON_PAGE // (4 * len(trend.lines) + 8 * n_lines or 1))
    if n <= most:
        return list(range(n))
    smallest = np.full(n, math.inf)
    for line in (line for models in trend.lines.values() for line in models.values()):
        if line.compared is not None:
            differs = line.compared.is_lower | line.compared.is_higher
            smallest[differs] = np.fmin(smallest, line.compared.adjusted_pvalues)[differs]
    differing = np.argsort(smallest, kind="stable")[: np.count_nonzero(np.isfinite(smallest))]
    shown = set(differing[: most * 2 // 3].tolist())
    for k in range(n):  # from both ends
        shown |= {n - 1 - k} if len(shown) < most else set()
        shown |= {k} if len(shown) < most else set()
    return sorted(shown)


def _compared_cells(trend: Trend, found: ValuesCompared, k: int) -> list[Any]:
    sign = "lower" if found.is_lower[k] else "higher" if found.is_higher[k] else ""
    if trend.undecided[k]:
        sign = "undecided"
    numbers = (float(found.differences[k]), *found.intervals[k].tolist())
    return [*map(Number, numbers), PValue(float(found.adjusted_pvalues[k])), sign]


# Pictures -------------------------------------------------------------------------------------------------------------


def trend_panels(trend: Trend) -> list[Panel]:
    """Return a picture for each metric: a line and a band for each model, all rows' value, and marked values."""
    return [_panel(trend, metric) for metric in trend.lines]


def _panel(trend: Trend, metric: str) -> Panel:
    picture = Picture()
    draw_trend(picture, trend, metric)
    size = style.figure_size(style.WIDE, len(trend.lines[metric]))
    return Panel(metric_title(metric), picture, size, is_wide=True)
