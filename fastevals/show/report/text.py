"""A report as text to read: a head, metrics over the values of --by, and a block's tables with notes below."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._naming import option
from fastevals._text import (
    LONGEST_NAME,
    WIDTH,
    describe_block,
    format_label,
    format_number,
    format_pvalue,
    format_tables,
    printable,
    shorten_name,
    shorten_names,
)
from fastevals.infer.bootstrap.bootstrap import methods_in_place_of_bca
from fastevals.many.groups import GroupedMetric
from fastevals.measure.registry import SCORE_METRICS
from fastevals.reading.rows import LeftOut
from fastevals.results import Interval
from fastevals.show.output import LONGEST_VALUE
from fastevals.show.report.data import ReportBlock, ReportData
from fastevals.show.report.intervals import (
    AUC,
    BCA,
    CELLS,
    PROBABILITY_COLUMNS,
    RANKING_COLUMNS,
    IntervalPlan,
    Intervals,
    ModelDifference,
    ModelPair,
    cells_columns,
    column_metrics,
    metric_title,
)
from fastevals.show.report.over_values import MOST_BLOCKS, ExtremeValue, OverValues, find_extreme

Table = list[list[str]]  # rows of cells, the heading first; none where there is nothing to show

ROUGH = 30  # rows of a class, or groups, below which intervals are
WIDEST = 120  # characters of a table's line
LONGEST_CELL = 28  # of a --by value and how many more are like it
LOG_LOSS = "log_loss"
LISTED = 10  # values with the lowest, and with the highest AUC


def report_text(report: ReportData) -> str:
    """Return a report as text: how it was made, means over values, then for each block a table with a row a model.

    Lines have at most 120 characters for ordinary names (a few more with costs).
    """
    columns = cells_columns(report.best, report.costs)
    compared = _difference_columns(report, columns)
    tables = format_tables([_model_table(report, block, columns) for block in report.blocks])
    more = [
        format_tables([_probability_table(report, block) for block in report.blocks]),
        format_tables([_prior_table(block) for block in report.blocks]),
        format_tables([difference_table(report.plan, _differences(block), compared) for block in report.blocks]),
        format_tables(
            [difference_table(report.plan, block.against, _compared(report, columns)) for block in report.blocks]
        ),
    ]
    lines = [f"fastevals report: {printable(report.data)}", *_head(report), *_over_lines(report)]
    for block, table, *others in zip(report.blocks, tables, *more, strict=True):
        lines.append("")
        if report.roles.by is not None:
            lines.append(f"{block_title(report.roles.by, block.value)}: {_describe_rows(block)}")
        lines += table
        lines += note_lines("- : ", _undefined_notes(report, block, columns))
        lines += note_lines("! : ", block_cautions(report, block))
        for other in filter(None, others):
            lines += ["", *other]
    return "\n".join(lines) + "\n"


# Head -------------------------------------------------------------------------------------------------------------


def _head(report: ReportData) -> list[str]:
    """Return the lines on columns, rows, thresholds and intervals."""
    lines = []
    for name, text in describe(report).items():
        lines += textwrap.wrap(text, WIDTH, initial_indent=f"{name:11}", subsequent_indent=" " * 11)
    return lines


def block_title(by: str, value: Any) -> str:
    """Return what stands above a block's tables."""
    return f"{shorten_name(printable(by), LONGEST_NAME)} = {shorten_name(format_label(value), LONGEST_NAME)}"


def describe(report: ReportData) -> dict[str, str]:
    """Return what is said of columns, rows, thresholds and intervals, by name."""
    entries = {"label": f"{printable(report.roles.truth)}, positive class {format_label(report.pos_label)}"}
    if report.roles.weight is not None:
        rows = "1 row" if report.n_weightless == 1 else f"{report.n_weightless} rows"
        left_out = f", {rows} of weight zero left out" if report.n_weightless else ""
        entries["copies" if report.roles.are_copies else "weight"] = printable(report.roles.weight) + left_out
    if report.left_out.n_rows:
        entries["dropped"] = describe_left_out(report.left_out, report.roles.lacking)
    doubt, at_threshold = (_widest_bounds(report, name) for name in (AUC, "accuracy"))
    if doubt or at_threshold:
        cuts = "thresholds are between ranges, where counts are exact"
        if at_threshold:
            cuts = f"accuracy at the threshold is certain to within {at_threshold:.1e}"
        entries["in doubt"] = (
            f"scores were counted in ranges, in one pass: AUC is certain to within {doubt:.1e}; JSON has the bounds of "
            f"each number, and {cuts}"
        )
    if report.roles.by is None:
        entries["in all"] = _describe_rows(report.blocks[0])
    elif not report.blocks and report.over is not None:
        entries["by"] = (
            f"{printable(report.roles.by)}, above {MOST_BLOCKS} values: no block or picture of each, "
            "but measures of the ranking over all values, which JSON has one by one"
        )
        n_samples, n_positives, _ = report.over.counts
        entries["in all"] = f"{n_samples.sum()} rows, {n_positives.sum()} positive"
    if report.blocks:
        entries |= _describe_thresholds(report)
    intervals = _describe_intervals(report)
    if intervals:
        entries["intervals"] = intervals
    if len(report.roles.models) > 1:
        entries["*"] = "the best of its column"
    return entries


def describe_left_out(left_out: LeftOut, lacking: Mapping[str, str]) -> str:
    """Return how many rows were left out, and what they lack: a column's value, or what `lacking` calls it."""
    rows = f"{left_out.n_rows:,} row{'s' * (left_out.n_rows != 1)}"
    counts = sorted(left_out.by_column.items(), key=lambda each: (-each[1], each[0]))
    reasons = [f"{count:,} without {lacking.get(name, f'a value of {printable(name)}')}" for name, count in counts]
    several = " (some lack several)" if sum(left_out.by_column.values()) > left_out.n_rows else ""
    return f"{rows}: {', '.join(reasons)}{several}" if reasons else f"{rows} that can't be counted"


def left_out_cautions(left_out: LeftOut, models: Sequence[str], what: str) -> list[str]:
    """Return which models cost the others rows: rows that lack only that model's score or prediction."""
    taking = [(name, left_out.alone.get(name, 0)) for name in models] if len(models) > 1 else []
    return [
        f"{count:,} row{'s' * (count != 1)} that {'lack' if count != 1 else 'lacks'} {what} of {printable(name)} alone "
        f"{'are' if count != 1 else 'is'} left out for all models"
        for name, count in taking
        if count
    ]


def _widest_bounds(report: ReportData, metric: str) -> float:
    """Return the width of a metric's bounds at most; 0 if nothing is in doubt."""
    models = [model for block in report.blocks for model in block.models]
    return max(
        (model.bounds[metric].high - model.bounds[metric].low for model in models if metric in model.bounds),
        default=0.0,
    )


def _describe_rows(block: ReportBlock) -> str:
    rows = f"{block.n_samples} row{'s' * (block.n_samples != 1)}, {block.n_positives} positive"
    share = f"({100 * block.positive_share:.3g} %)"
    return f"{rows} {share}" if block.total_weight is None else f"{rows}; weight {block.total_weight:.6g} {share}"


def _describe_thresholds(report: ReportData) -> dict[str, str]:
    entries = {}
    if report.costs is not None:
        entries["costs"] = f"{report.costs['cost_fp']:g} a false positive, {report.costs['cost_fn']:g} a false negative"
        if "prior" in report.costs:
            entries["costs"] += f"; prior {report.costs['prior']:g}"
    if report.best is None:
        entries["threshold"] = f"{report.threshold}, for every model"
    else:
        direction = "best" if SCORE_METRICS[report.best].greater_is_better else "least"
        each = "model" if report.roles.by is None else "model and block"
        entries["threshold"] = (
            f"{direction} {SCORE_METRICS[report.best].title} of each {each}, chosen on the rows it is judged on: "
            "what stands right of the bar looks better than it is"
        )
    return entries


def _describe_intervals(report: ReportData) -> str:
    """Return how intervals were made, by all methods that a block has; nothing where there are none."""
    if report.plan is None:
        return ""
    plan, roles = report.plan, report.roles
    methods = {block.intervals.method for block in report.blocks if block.intervals is not None}
    level = f"{100 * plan.confidence_level:.6g} %"
    has_pairs = any(_differences(block) for block in report.blocks)
    adjusted = "; of differences simultaneous, with p adjusted, over all pairs" if has_pairs else ""
    sentences = []
    undrawn = describe_undrawn(report)
    if BCA in methods:
        drawn = "rows" if roles.groups is None else f"groups of {printable(roles.groups)}"
        text = f"{level}, BCa, {plan.n_resamples:,} bootstrap replicates of {drawn} (seed {plan.seed})"
        text += "" if report.best is None else ", each with its own best thresholds"
        text += f", of blocks of at most {plan.most_drawn:,} rows" if undrawn else ""
        sentences.append(text + (f"{adjusted} (max-T)" if adjusted else ""))
    if CELLS in methods:
        text = f"{level}, BCa, {plan.n_resamples:,} draws of cells of each model's rows (seed {plan.seed})"
        text += "" if report.best is None else ", each with its own best thresholds"
        above = plan.most_drawn is not None  # else rows are not there to be drawn
        text += f", above {plan.most_drawn:,} rows" if above else ""
        text += f" ({option('n_resamples', placeholder='N')}: of the rows themselves)" if above else ""
        sentences.append(text + (f"{adjusted} (max-T, of the rows' joint cells)" if adjusted else ""))
    if sentences and (others := methods_in_place(report)):
        by_method = {method: [name for name in others if others[name] == method] for method in others.values()}
        shown = (f"{method} ({', '.join(map(metric_title, names))})" for method, names in by_method.items())
        sentences.append(f"In place of BCa: {'; '.join(shown)}")
    if any(block.against for block in report.blocks):
        sentences.append("Differences from other rows have intervals each by itself, and p of its own")
    return ". ".join([*sentences, *([undrawn] if undrawn else [])])


def methods_in_place(report: ReportData) -> dict[str, str]:
    """Return what metrics that have intervals have in place of BCa."""
    intervals = [block.intervals.models for block in report.blocks if block.intervals is not None]
    defined = {name for models in intervals for by_metric in models.values() for name in by_metric}
    metrics = column_metrics(report.best, report.threshold, report.costs)
    return methods_in_place_of_bca({name: spec for name, spec in metrics.items() if name in defined})


def describe_undrawn(report: ReportData) -> str:
    """Return what the budget of replicates was not enough for, and what it is; nothing where all is drawn."""
    plan = report.plan
    if plan is None:
        return ""
    sizes = [block.n_samples for block in report.blocks if not plan.draws(block.n_samples)]
    if not sizes:
        return ""
    n_blocks, n_models = len(report.blocks), len(report.roles.models)
    where = "" if report.roles.by is None else f" in {len(sizes)} of {n_blocks} blocks"
    models = f"{n_models} model{'s' * (n_models != 1)}"
    left = "the" if len(sizes) == n_blocks else "what the others leave of the"
    return (
        f"No rows are drawn{where}: {sum(sizes):,} rows x {models} x {plan.n_resamples:,} replicates are more than "
        f"{left} {plan.budget:,} draws that a report has"
    )


# Tables of a block ------------------------------------------------------------------------------------------------


def _model_table(report: ReportData, block: ReportBlock, columns: Sequence[str]) -> Table:
    """Return a row a model, its intervals below; each number has a place for its mark."""
    table = [["model", *map(heading, RANKING_COLUMNS), "|", "threshold", *map(heading, columns)]]
    for model in block.models:
        left, right = ([marked_number(block, model, name) for name in names] for names in (RANKING_COLUMNS, columns))
        table.append([printable(model.name), *left, "|", model.threshold_shown, *right])
        table += interval_rows(report.plan, block.intervals, model.name, [*RANKING_COLUMNS, "|", "threshold", *columns])
    return table


def _probability_table(report: ReportData, block: ReportBlock) -> Table:
    """Return the same of metrics of probabilities, for the models whose scores are some."""
    rows = []
    for model in block.models:
        if not math.isnan(model.metrics[PROBABILITY_COLUMNS[0]]):
            rows.append([printable(model.name), *(marked_number(block, model, name) for name in PROBABILITY_COLUMNS)])
            rows += interval_rows(report.plan, block.intervals, model.name, PROBABILITY_COLUMNS)
    return [["model", *map(heading, PROBABILITY_COLUMNS)], *rows] if rows else []


def _prior_table(block: ReportBlock) -> Table:
    """Return the priors for which thresholds of least cost stay that, and for which models are worth using."""
    models = [model for model in block.models if model.holds is not None]
    rows = [
        [printable(model.name), _format_range(model.holds), _format_range(model.operating_range)] for model in models
    ]
    return [["model", "threshold is best for priors of", "cheaper than all or none for"], *rows] if rows else []


def _differences(block: ReportBlock) -> tuple[ModelPair, ...]:
    return () if block.intervals is None else block.intervals.differences


def _difference_columns(report: ReportData, columns: Collection[str]) -> list[str]:
    """Return the columns of tables of differences: those of rankings, and behind a bar these, if there are any."""
    return _present_columns((pair for block in report.blocks for pair in _differences(block)), columns)


def _compared(report: ReportData, columns: Collection[str]) -> list[str]:
    """Return the same of differences from other rows."""
    return _present_columns((pair for block in report.blocks for pair in block.against), columns)


def _present_columns(pairs: Iterable[ModelPair], columns: Collection[str]) -> list[str]:
    present = {name for pair in pairs for name in pair.metrics}
    left, right = ([name for name in names if name in present] for names in (RANKING_COLUMNS, columns))
    return [*left, "|", *right] if right else left


def difference_table(plan: IntervalPlan | None, pairs: Sequence[ModelPair], columns: Sequence[str]) -> Table:
    """Return four rows for each two models: the differences, the ends of their intervals, and p."""
    if plan is None or not pairs:
        return []
    low, high = _interval_headings(plan.confidence_level)
    shown: list[tuple[str, Callable[[ModelDifference], str]]] = [
        ("", lambda difference: format_number(difference.value)),
        (low, lambda difference: format_number(difference.interval.low)),
        (high, lambda difference: format_number(difference.interval.high)),
        ("p".rjust(len(low)), lambda difference: format_pvalue(difference.pvalue)),
    ]
    table = [["difference", *(_empty_cell(name) or metric_title(name) for name in columns)]]
    for model, reference, metrics in pairs:
        for heading, form in shown:
            cells = [form(metrics[name]) if name in metrics else _empty_cell(name) for name in columns]
            table.append([heading or f"{_one_of_two(model)} - {_one_of_two(reference)}", *cells])
    return table


def _one_of_two(model: str) -> str:
    return shorten_name(printable(model), LONGEST_NAME // 2 - 1)


def interval_rows(
    plan: IntervalPlan | None, made: Intervals | None, model: str, columns: Sequence[str], mark: str = " "
) -> Table:
    """Return two rows with the ends of a model's intervals, or none; the bar stays in its column.

    `mark` is behind a number, where others have their mark.
    """
    intervals = {} if made is None else made.models.get(model, {})
    if plan is None or not any(name in intervals for name in columns):
        return []
    rows = []
    for end, heading in enumerate(_interval_headings(plan.confidence_level)):
        cells = [
            format_number(intervals[name][end]) + mark if name in intervals else _empty_cell(name) for name in columns
        ]
        rows.append([heading, *cells])
    return rows


def _interval_headings(confidence_level: float) -> tuple[str, str]:
    """Return what stands before the ends of intervals."""
    low = f" {100 * confidence_level:.6g} % from"
    return low, "to".rjust(len(low))


def _empty_cell(column: str) -> str:
    """Return the cell of a column without numbers: the bar, or nothing."""
    return column if column == "|" else ""


def marked_number(block: Any, model: Any, name: str) -> str:
    """Return a model's metric, marked where it is the best."""
    is_best = len(block.models) > 1 and model.name in block.best[name]
    return format_number(model.metrics[name]) + ("*" if is_best else " ")


def _format_range(interval: Interval | None) -> str:
    if interval is None or math.isnan(interval.low):
        return "-"
    return f"{interval.low:.4g} to {interval.high:.4g}"


def heading(name: str) -> str:
    """Return what is over a metric's marked numbers."""
    title = metric_title(name)
    return f"{title} " if len(title) < 7 else title  # over the digits, not the mark


# Notes on a block -------------------------------------------------------------------------------------------------


def note_lines(mark: str, notes: Iterable[str]) -> list[str]:
    """Return notes as lines, each behind a mark."""
    return [
        line for note in notes for line in textwrap.wrap(note, WIDTH, initial_indent=mark, subsequent_indent="    ")
    ]


def _undefined_notes(report: ReportData, block: ReportBlock, columns: Iterable[str]) -> list[str]:
    """Return why there are dashes."""
    subject = describe_block(report.roles.by, block.value)
    undefined: dict[str, list[str]] = {}
    for name in (*RANKING_COLUMNS, *columns):
        models = [model.name for model in block.models if math.isnan(model.metrics[name])]
        if models:
            undefined[name] = models
    notes = []
    missing = [
        name for name, count in (("positives", block.n_positives), ("negatives", block.n_negatives)) if not count
    ]
    lacking = [name for name in undefined if set(missing) & set(SCORE_METRICS[name].needs)]
    if lacking:
        notes.append(f"{subject} has no {missing[0]}: {', '.join(map(metric_title, lacking))} undefined")
    for name, models in undefined.items():
        if name not in lacking:
            why = "no crossing" if SCORE_METRICS[name].of == "ranking" else "0/0"
            notes.append(f"{metric_title(name)} of {', '.join(map(printable, models))} undefined ({why})")
    return notes


def block_cautions(report: ReportData, block: ReportBlock) -> list[str]:
    """Return why a block has no intervals, or what is to be thought of those it has; JSON has them, too."""
    counts = [("positive", "s", block.n_positives), ("negative", "s", block.n_negatives)]
    taken = (
        left_out_cautions(report.left_out, report.roles.models, "a finite score") if block is report.blocks[0] else []
    )
    return taken + _loss_cautions(block) + interval_cautions(report, block, counts)


def _loss_cautions(block: ReportBlock) -> list[str]:
    """Return why some models have no probability metrics, or an infinite log loss."""
    certain = [model.name for model in block.models if model.metrics[LOG_LOSS] == math.inf]
    missing = [model.name for model in block.models if math.isnan(model.metrics[LOG_LOSS])]
    notes = []
    if certain:
        names = ", ".join(map(printable, certain))
        notes.append(f"log loss of {names} is infinite: a probability of exactly 0 or 1 is wrong")
    if missing and len(missing) < len(block.models):
        names, titles = ", ".join(map(printable, missing)), ", ".join(map(metric_title, PROBABILITY_COLUMNS))
        notes.append(f"{titles} of {names} are undefined: scores are outside of [0, 1]")
    return notes


def interval_cautions(report: Any, block: Any, counts: list[tuple[str, str, int]]) -> list[str]:
    """Return the same of any report; `counts` are what a few of make intervals rough: of what, its plural, how many."""
    intervals: Intervals | None = block.intervals
    if report.plan is None or intervals is None:
        return []
    subject = describe_block(report.roles.by, block.value)
    if intervals.method is None:
        return [f"{subject} has no intervals: {intervals.why_none}"] if intervals.why_none else []
    if intervals.n_groups is not None:
        counts.append(("group", f"s of {printable(str(report.roles.groups))}", intervals.n_groups))
    few = [
        f"{count} {noun}{plural if count > 1 else plural[1:]}" for noun, plural, count in counts if 0 < count < ROUGH
    ]
    notes = [f"{subject} has only {' and '.join(few)}: intervals are rough"] if few else []
    if intervals.n_undefined:
        most = max(intervals.n_undefined.values())
        up_to = "up to " if len(intervals.n_undefined) > 1 else ""
        names = ", ".join(map(metric_title, intervals.n_undefined))
        notes.append(
            f"{names} undefined in {up_to}{most:,} of {report.plan.n_resamples:,} replicates, which are left out"
        )
    for text, applies in (
        ("no interval of", _is_missing),
        ("an interval without width, which doesn't tell how sure it is, of", _is_flat),
    ):
        concerned = {
            (model.name, name)
            for model in block.models
            for name, interval in intervals.models[model.name].items()
            if applies(model.metrics[name], interval)
        }
        if concerned:
            notes.append(f"{text} {_list_metrics(block, concerned)}")
    for model, reference, metrics in intervals.differences:
        flat = [
            metric_title(name) for name, each in metrics.items() if each.value and _is_flat(each.value, each.interval)
        ]
        if flat:
            pair = f"{printable(model)} - {printable(reference)}"
            notes.append(f"no width, and a p that says nothing, of the difference {pair}: {', '.join(flat)}")
    reasons: dict[str, set[tuple[str, str]]] = {}
    for model, cautions in intervals.cautions.items():
        for name, why in cautions.items():
            reasons.setdefault(why, set()).add((model, name))
    notes += [f"interval of {_list_metrics(block, concerned)}: {why}" for why, concerned in reasons.items()]
    return notes


def _list_metrics(block: Any, pairs: Collection[tuple[str, str]]) -> str:
    """Name metrics and models, given as pairs of model and metric: metrics of the same models together."""
    by_models: dict[str, list[str]] = {}
    for name in block.intervals.models[block.models[0].name]:
        models = [printable(model.name) for model in block.models if (model.name, name) in pairs]
        if models:
            by_models.setdefault(", ".join(models), []).append(metric_title(name))
    return "; ".join(f"{', '.join(names)} of {models}" for models, names in by_models.items())


def _is_missing(value: float, interval: Interval) -> bool:
    return math.isnan(interval.low) and math.isfinite(value)


def _is_flat(value: float, interval: Interval) -> bool:
    return interval.low == interval.high and math.isfinite(value)


# Over the values of --by ------------------------------------------------------------------------------------------


def describe_means(report: ReportData, over: OverValues) -> str:
    """Return what weighs means over the values, and of what their intervals are."""
    weight = report.roles.weights["sample_weight"]
    text = f"weighted by {'rows' if weight is None else printable(weight)}"
    if over.n_replicates is not None:
        by = printable(str(report.roles.by))
        text += f"; interval of the mean AUC from {over.n_replicates:,} replicates of whole values of {by}"
        text += ", other intervals DeLong's" if over.why_none is None else ""
    elif report.plan is not None and over.why_none is None:
        text += "; DeLong's intervals, of these values and no others"
    return text


def _over_lines(report: ReportData) -> list[str]:
    """Return the section's lines, an empty one first; none where there are less than two values."""
    over = report.over
    if over is None:
        return []
    by = printable(str(report.roles.by))
    text = f"over {len(over.values):,} values of {by}: means {describe_means(report, over)}"
    (means,), (ranges,) = format_tables([_mean_table(report, over)]), format_tables([_range_table(report, over)])
    lines = ["", *textwrap.wrap(text, WIDTH, subsequent_indent="    "), *means]
    lines += note_lines("- : ", _undefined_over(over)) + note_lines("! : ", over_cautions(report))
    lines += ["", *ranges]
    if not over.has_blocks:
        for table in _extreme_tables(report, over):
            lines += ["", *table]
    return lines


def _mean_table(report: ReportData, over: OverValues) -> Table:
    """Return a row a model with its means, the best marked, and the ends of the interval of that of AUC."""
    names = list(next(iter(over.metrics.values())))
    means = {name: [metrics[name].mean for metrics in over.metrics.values()] for name in names}
    best = {name: _best_mean(name, values) if len(values) > 1 else math.nan for name, values in means.items()}
    table = [["mean", *(f"{metric_title(name)} " for name in names)]]
    for model, metrics in over.metrics.items():
        cells = [
            format_number(metrics[name].mean) + ("*" if metrics[name].mean == best[name] else " ") for name in names
        ]
        table.append([printable(model), *cells])
        interval = metrics[AUC].mean_confidence_interval
        if report.plan is not None and interval is not None and not math.isnan(metrics[AUC].mean):
            for heading, end in zip(_interval_headings(report.plan.confidence_level), interval, strict=True):
                table.append([heading, *(f"{format_number(end)} " if name == AUC else "" for name in names)])
    return table


def _best_mean(name: str, means: list[float]) -> float:
    defined = [mean for mean in means if not math.isnan(mean)]
    return (max if SCORE_METRICS[name].greater_is_better else min)(defined, default=math.nan)


def _range_table(report: ReportData, over: OverValues) -> Table:
    """Return a row a model with how far its AUCs are apart."""
    by = f"of {shorten_name(printable(str(report.roles.by)))}"
    table = [[metric_title(AUC), "plain mean", "undefined", "lowest", by, "highest", by]]
    for model, metrics in zip(shorten_names(over.metrics), over.metrics.values(), strict=True):
        auc = metrics[AUC]
        row = [model, format_number(auc.macro_mean), f"{auc.n_undefined:,}"]
        for extreme in (find_extreme(auc, 1), find_extreme(auc, -1)):
            row += ["-", "-"] if extreme is None else [format_number(extreme.metric), _format_extreme(over, extreme)]
        table.append(row)
    return table


def _format_extreme(over: OverValues, extreme: ExtremeValue) -> str:
    more = f" and {extreme.n_values - 1:,} more" if extreme.n_values > 1 else ""
    return shorten_name(format_label(over.values[extreme.place]), LONGEST_CELL - len(more)) + more


def _extreme_tables(report: ReportData, over: OverValues) -> list[list[str]]:
    """Return the lines of tables of the lowest and the highest AUCs of the first model, beside those of the others."""
    auc, *others = (metrics[AUC] for metrics in over.metrics.values())
    low, high = _extreme_places(auc)
    places = [*low, *high]
    labels = shorten_names([format_label(over.values[k]) for k in places], LONGEST_VALUE)
    label_at = dict(zip(places, labels, strict=True))
    names = shorten_names(over.metrics)
    n_samples, n_positives, weights = over.counts
    columns: list[tuple[str, Callable[[int], str]]] = [
        ("rows", lambda k: str(n_samples[k])),
        ("positive", lambda k: str(n_positives[k])),
    ]
    if report.roles.weights["sample_weight"] is not None:
        columns.append(("weight", lambda k: f"{weights[k]:.6g}"))
    columns.append((f"{metric_title(AUC)} of {names[0]}", partial(_cell, auc.values)))
    intervals = auc.confidence_intervals
    if report.plan is not None and intervals is not None:
        low_heading, high_heading = map(str.strip, _interval_headings(report.plan.confidence_level))
        columns += [(low_heading, partial(_cell, intervals[:, 0])), (high_heading, partial(_cell, intervals[:, 1]))]
    columns += [
        (f"{metric_title(AUC)} of {name}", partial(_cell, other.values))
        for name, other in zip(names[1:], others, strict=True)
    ]
    by = shorten_name(printable(str(report.roles.by)))
    tables: list[list[str]] = []
    for n in range(len(columns), len(columns) - len(others) - 1, -1):  # as many models as there is room for
        tables = format_tables([
            [
                [f"{by}, {extreme}", *(heading for heading, _ in columns[:n])],
                *([label_at[k], *(cell(k) for _, cell in columns[:n])] for k in places),
            ]
            for extreme, places in (("lowest", low), ("highest", high))
            if places
        ])  # fmt: skip
        if max((len(line) for table in tables for line in table), default=0) <= WIDEST:
            break
    return tables


def _cell(values: NDArray[np.float64], k: int) -> str:
    return format_number(values[k])


def _extreme_places(auc: GroupedMetric) -> tuple[list[int], list[int]]:
    """Return the places of the lowest AUCs and of the highest, no value twice; of equal ones those with most rows."""
    n = len(auc) - auc.n_undefined
    low = np.lexsort((-auc.weights, auc.values))[: min(n, LISTED)].tolist()  # NaN is last
    high = np.lexsort((-auc.weights, -auc.values))[:n].tolist()
    return low, [k for k in high[: 2 * LISTED] if k not in low][: max(min(n - LISTED, LISTED), 0)]


def _undefined_over(over: OverValues) -> list[str]:
    """Return a note on how many values have no metric, for the model with most."""
    by_count: dict[int, list[str]] = {}
    for name in next(iter(over.metrics.values())):
        by_count.setdefault(_most_undefined(over, name), []).append(metric_title(name))
    by_count.pop(0, None)
    if not by_count:
        return []
    metrics = "; ".join(f"{', '.join(names)} of {count:,}" for count, names in by_count.items())
    why = ", which lack a class" if max(by_count) == _most_undefined(over, AUC) else ""
    return [f"undefined, and left out of means: {metrics} of {len(over.values):,} values{why}"]


def _most_undefined(over: OverValues, name: str) -> int:
    return max(metrics[name].n_undefined for metrics in over.metrics.values())


def over_cautions(report: ReportData) -> list[str]:
    """Return why means have no intervals, or what is to be thought of those they have; JSON has them, too."""
    over = report.over
    if report.plan is None or over is None:
        return []
    by, is_bootstrapped = printable(str(report.roles.by)), over.n_replicates is not None
    aucs = [metrics[AUC] for metrics in over.metrics.values()]
    notes = []
    if is_bootstrapped and any(sorted_unique(auc.values[~np.isnan(auc.values)]).size == 1 for auc in aucs):
        notes.append(
            "an interval of the mean AUC without width, which doesn't tell how sure it is: all values' are equal"
        )
    if over.why_none is not None:
        single = "of AUC of single" if is_bootstrapped else "over"
        return [*notes, f"no interval {single} values of {by}: {over.why_none}"]
    missing = flat = 0
    for auc in aucs:
        assert auc.standard_errors is not None
        missing = max(missing, int(np.count_nonzero(np.isnan(auc.standard_errors) & ~np.isnan(auc.values))))
        flat = max(flat, int(np.count_nonzero(auc.standard_errors == 0)))
    if missing:
        which = (
            f"of the AUC of {missing:,} values of {by}, which"
            if is_bootstrapped
            else f"of the mean AUC: {missing:,} values of {by}"
        )
        notes.append(
            f"no interval {which} have both classes, but not two rows of each, from which DeLong's variance is made"
        )
    if flat:
        up_to = "up to " if len(aucs) > 1 else ""
        notes.append(f"intervals without width, which don't tell how sure they are, of AUC of {up_to}{flat:,} values")
    return notes
