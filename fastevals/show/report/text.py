"""A report as text to read."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fastevals._text import (
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
from fastevals.many.groups import GroupedMetric
from fastevals.measure.registry import SCORE_METRICS
from fastevals.results import Interval
from fastevals.show.commands import option
from fastevals.show.report.intervals import (
    AUC,
    BCA,
    DELONG,
    PROBABILITY_COLUMNS,
    RANKING_COLUMNS,
    ModelDifference,
    cells_columns,
)
from fastevals.show.report.over_values import MOST_BLOCKS, ExtremeValue, OverValues, find_extreme
from fastevals.show.report.report import ModelNumbers, Report, ReportBlock

ROUGH = 30  # rows of a class, or groups, below which intervals are


def describe_intervals(report: Report) -> str:
    """Return how intervals were made, by all methods that a block has; nothing where there are none."""
    if report.plan is None:
        return ""
    plan, roles = report.plan, report.roles
    methods = {block.intervals.method for block in report.blocks if block.intervals is not None}
    level = f"{100 * plan.confidence:.6g} %"
    of_differences = "; of differences simultaneous, with p adjusted, over all pairs"
    said = []
    if BCA in methods:
        drawn = "rows" if roles.group is None else f"groups of {printable(roles.group)}"
        words = f"{level}, BCa, {plan.resamples:,} bootstrap replicates of {drawn} (seed {plan.seed})"
        words += "" if report.best is None else ", each with its own best thresholds"
        said.append(words + (f"{of_differences} (max-T)" if len(roles.scores) > 1 else ""))
    if DELONG in methods:
        words = f"{level}, DeLong's (logit), of AUC alone, above {plan.most_bootstrapped:,} rows"
        words += "" if roles.weight is None else ", weights being numbers of rows"
        words += f" ({option('resamples')} N: a bootstrap of all)"
        said.append(words + (f"{of_differences} (Bonferroni)" if len(roles.scores) > 1 else ""))
    return ". ".join(said)


# Rows -------------------------------------------------------------------------------------------------------------


def interval_rows(report: Report, block: ReportBlock, model: ModelNumbers, columns: Sequence[str]) -> list[list[str]]:
    """Return two rows with the ends of a model's intervals, or none; the bar stays in its column."""
    found = {} if block.intervals is None else block.intervals.models.get(model.name, {})
    if report.plan is None or not any(name in found for name in columns):
        return []
    rows = []
    for end, said in enumerate(interval_labels(report.plan.confidence)):
        cells = [f"{format_number(found[name][end])} " if name in found else _aside(name) for name in columns]
        rows.append([said, *cells])
    return rows


def interval_labels(confidence: float) -> tuple[str, str]:
    """Return what stands before the ends of intervals."""
    low = f" {100 * confidence:.6g} % from"
    return low, "to".rjust(len(low))


def _aside(column: str) -> str:
    """Return the cell of a column without numbers: the bar, or nothing."""
    return column if column == "|" else ""


def compared_columns(report: Report, columns: Collection[str]) -> list[str]:
    """Return the columns of tables of differences: those of rankings, a bar, and these of a threshold, if there are."""
    intervals = [block.intervals for block in report.blocks if block.intervals is not None]
    there = {name for each in intervals for pair in each.differences for name in pair.metrics}
    left, right = ([name for name in names if name in there] for names in (RANKING_COLUMNS, columns))
    return [*left, "|", *right] if right else left


def difference_rows(report: Report, block: ReportBlock, columns: Sequence[str]) -> list[list[str]]:
    """Return the rows of the table of differences, the heading first; or none."""
    if report.plan is None or block.intervals is None or not block.intervals.differences:
        return []
    low, high = interval_labels(report.plan.confidence)
    shown: list[tuple[str, Callable[[ModelDifference], str]]] = [
        ("", lambda each: format_number(each.value)),
        (low, lambda each: format_number(each.interval.low)),
        (high, lambda each: format_number(each.interval.high)),
        ("p".rjust(len(low)), lambda each: format_pvalue(each.pvalue)),
    ]
    rows = [["difference", *(_aside(name) or title(name) for name in columns)]]
    for model, reference, found in block.intervals.differences:
        for said, written in shown:
            cells = [written(found[name]) if name in found else _aside(name) for name in columns]
            rows.append([said or f"{printable(model)} - {printable(reference)}", *cells])
    return rows


# Notes ------------------------------------------------------------------------------------------------------------


def cautions(report: Report, block: ReportBlock) -> list[str]:
    """Return why a block has no intervals, or what is to be thought of those it has."""
    made = block.intervals
    if report.plan is None or made is None:
        return []
    where = describe_block(report.roles.by, block.value)
    if made.method is None:
        return [f"{where} has no intervals: {made.why_none}"] if made.why_none else []
    counted = [("positive", "s", block.n_positives), ("negative", "s", block.n_negatives)]
    if made.n_groups is not None:
        counted.append(("group", f"s of {printable(str(report.roles.group))}", made.n_groups))
    few = [f"{count} {what}{more if count > 1 else more[1:]}" for what, more, count in counted if 0 < count < ROUGH]
    notes = [f"{where} has only {' and '.join(few)}: intervals are rough"] if few else []
    if made.n_undefined:
        most = max(made.n_undefined.values())
        up_to = "up to " if len(made.n_undefined) > 1 else ""
        names = ", ".join(map(title, made.n_undefined))
        notes.append(
            f"{names} undefined in {up_to}{most:,} of {report.plan.resamples:,} replicates, which are left out"
        )
    for said, holds in (("no interval of", _is_missing), ("no width, which says nothing of how sure, of", _is_flat)):
        held = {
            (model.name, name)
            for model in block.models
            for name, interval in made.models[model.name].items()
            if holds(model.metrics[name], interval)
        }
        if held:
            notes.append(f"{said} {_named(block, held)}")
    for model, reference, metrics in made.differences:
        flat = [title(name) for name, each in metrics.items() if each.value and _is_flat(each.value, each.interval)]
        if flat:
            pair = f"{printable(model)} - {printable(reference)}"
            notes.append(f"no width, and a p that says nothing, of the difference {pair}: {', '.join(flat)}")
    reasons: dict[str, set[tuple[str, str]]] = {}
    for model, whys in made.cautions.items():
        for name, why in whys.items():
            reasons.setdefault(why, set()).add((model, name))
    notes += [f"interval of {_named(block, held)}: {why}" for why, held in reasons.items()]
    return notes


def _named(block: ReportBlock, held: Collection[tuple[str, str]]) -> str:
    """Name models and their metrics, those together that are of the same models."""
    assert block.intervals is not None
    found: dict[str, list[str]] = {}
    for name in block.intervals.models[block.models[0].name]:
        models = [printable(model.name) for model in block.models if (model.name, name) in held]
        if models:
            found.setdefault(", ".join(models), []).append(title(name))
    return "; ".join(f"{', '.join(names)} of {models}" for models, names in found.items())


def _is_missing(value: float, interval: Interval) -> bool:
    return math.isnan(interval.low) and math.isfinite(value)


def _is_flat(value: float, interval: Interval) -> bool:
    return interval.low == interval.high and math.isfinite(value)


Table = list[list[str]]

WIDEST = 120  # characters of a table's line
LONGEST = 24  # of a name beside numbers
LONGEST_CELL = 28  # of a --by value and how many more are like it
LONGEST_VALUE = 40  # of a --by value at the start of a row
LISTED = 10  # values with the lowest, and with the highest AUC


def over_lines(report: Report) -> list[str]:
    """Return the section's lines, an empty one first; none where there are less than two values."""
    over = report.over
    if over is None:
        return []
    weighted = "rows" if report.roles.weight is None else printable(report.roles.weight)
    by = printable(str(report.roles.by))
    said = f"over {len(over.values):,} values of {by}: means weighted by {weighted}"
    if over.n_replicates is not None:
        said += f"; interval of the mean AUC from {over.n_replicates:,} replicates of whole values of {by}"
        said += ", other intervals DeLong's" if over.why_none is None else ""
    elif report.plan is not None and over.why_none is None:
        said += "; DeLong's intervals, of these values and no others"
    (means,), (ranges,) = format_tables([_mean_rows(report, over)]), format_tables([_range_rows(report, over)])
    lines = ["", *textwrap.wrap(said, WIDTH, subsequent_indent="    "), *means]
    for mark, notes in (("- : ", _undefined(over)), ("! : ", over_cautions(report))):
        for note in notes:
            lines += textwrap.wrap(note, WIDTH, initial_indent=mark, subsequent_indent="    ")
    lines += ["", *ranges]
    if not over.has_blocks:
        for table in _listed(report, over):
            lines += ["", *table]
    return lines


def _mean_rows(report: Report, over: OverValues) -> Table:
    """Return a row a model with its means, the best marked, and the ends of the interval of that of AUC."""
    names = list(next(iter(over.metrics.values())))
    means = {name: [found[name].mean for found in over.metrics.values()] for name in names}
    best = {name: _best(name, values) if len(values) > 1 else math.nan for name, values in means.items()}
    rows = [["mean", *(f"{title(name)} " for name in names)]]
    for model, found in over.metrics.items():
        cells = [format_number(found[name].mean) + ("*" if found[name].mean == best[name] else " ") for name in names]
        rows.append([printable(model), *cells])
        interval = found[AUC].mean_confidence_interval
        if report.plan is not None and interval is not None and not math.isnan(found[AUC].mean):
            for said, end in zip(interval_labels(report.plan.confidence), interval, strict=True):
                rows.append([said, *(f"{format_number(end)} " if name == AUC else "" for name in names)])
    return rows


def _best(name: str, means: list[float]) -> float:
    defined = [mean for mean in means if not math.isnan(mean)]
    return (max if SCORE_METRICS[name].greater_is_better else min)(defined, default=math.nan)


def _range_rows(report: Report, over: OverValues) -> Table:
    """Return a row a model with how far its AUCs are apart."""
    by = f"of {shorten_name(printable(str(report.roles.by)), LONGEST)}"
    rows = [[title(AUC), "plain mean", "undefined", "lowest", by, "highest", by]]
    for shown, found in zip(shorten_names(over.metrics, LONGEST), over.metrics.values(), strict=True):
        auc = found[AUC]
        row = [shown, format_number(auc.macro_mean), f"{auc.n_undefined:,}"]
        for end in (find_extreme(auc, 1), find_extreme(auc, -1)):
            row += ["-", "-"] if end is None else [format_number(end.metric), _format_extreme(over, end)]
        rows.append(row)
    return rows


def _format_extreme(over: OverValues, end: ExtremeValue) -> str:
    more = f" and {end.n_values - 1:,} more" if end.n_values > 1 else ""
    return shorten_name(format_label(over.values[end.place]), LONGEST_CELL - len(more)) + more


# Many values ------------------------------------------------------------------------------------------------------


def _listed(report: Report, over: OverValues) -> list[list[str]]:
    """Return the lines of tables of the lowest and the highest AUCs of the first model, beside those of the others."""
    auc, *others = (found[AUC] for found in over.metrics.values())
    low, high = _ends(auc)
    listed = [*low, *high]
    shown = dict(zip(listed, shorten_names([format_label(over.values[k]) for k in listed], LONGEST_VALUE), strict=True))
    names = shorten_names(over.metrics, LONGEST)
    n_samples, n_positives, weights = over.counts
    columns: list[tuple[str, Callable[[int], str]]] = [
        ("rows", lambda k: str(n_samples[k])),
        ("positive", lambda k: str(n_positives[k])),
    ]
    if report.roles.weight is not None:
        columns.append(("weight", lambda k: f"{weights[k]:.6g}"))
    columns.append((f"{title(AUC)} of {names[0]}", partial(_cell, auc.values)))
    ends = auc.confidence_intervals
    if report.plan is not None and ends is not None:
        low_end, high_end = map(str.strip, interval_labels(report.plan.confidence))
        columns += [(low_end, partial(_cell, ends[:, 0])), (high_end, partial(_cell, ends[:, 1]))]
    columns += [
        (f"{title(AUC)} of {name}", partial(_cell, other.values)) for name, other in zip(names[1:], others, strict=True)
    ]
    by = shorten_name(printable(str(report.roles.by)), LONGEST)
    lines: list[list[str]] = []
    for n in range(len(columns), len(columns) - len(others) - 1, -1):  # as many of them as there is room for
        lines = format_tables([
            [
                [f"{by}, {end}", *(head for head, _ in columns[:n])],
                *([shown[k], *(cell(k) for _, cell in columns[:n])] for k in places),
            ]
            for end, places in (("lowest", low), ("highest", high))
            if places
        ])  # fmt: skip
        if max((len(line) for table in lines for line in table), default=0) <= WIDEST:
            break
    return lines


def _cell(values: NDArray[np.float64], k: int) -> str:
    return format_number(values[k])


def _ends(auc: GroupedMetric) -> tuple[list[int], list[int]]:
    """Return the places of the lowest AUCs and of the highest, no value twice; of equal ones those with most rows."""
    n = len(auc) - auc.n_undefined
    low = np.lexsort((-auc.weights, auc.values))[: min(n, LISTED)].tolist()  # NaN is last
    high = np.lexsort((-auc.weights, -auc.values))[:n].tolist()
    return low, [k for k in high[: 2 * LISTED] if k not in low][: max(min(n - LISTED, LISTED), 0)]


# Notes ------------------------------------------------------------------------------------------------------------


def _undefined(over: OverValues) -> list[str]:
    """Return how many values have no metric, for the model with most."""
    counts: dict[int, list[str]] = {}
    for name in next(iter(over.metrics.values())):
        counts.setdefault(_most_undefined(over, name), []).append(title(name))
    counts.pop(0, None)
    if not counts:
        return []
    said = "; ".join(f"{', '.join(names)} of {count:,}" for count, names in counts.items())
    why = ", which lack a class" if max(counts) == _most_undefined(over, AUC) else ""
    return [f"undefined, and left out of means: {said} of {len(over.values):,} values{why}"]


def _most_undefined(over: OverValues, name: str) -> int:
    return max(found[name].n_undefined for found in over.metrics.values())


def over_cautions(report: Report) -> list[str]:
    """Return why means have no intervals, or what is to be thought of those they have."""
    over = report.over
    if report.plan is None or over is None:
        return []
    by, of_means = printable(str(report.roles.by)), over.n_replicates is not None
    notes = []
    if of_means and any(
        np.unique(aucs[~np.isnan(aucs)]).size == 1 for aucs in (found[AUC].values for found in over.metrics.values())
    ):
        notes.append("no width, which says nothing of how sure, of an interval of the mean AUC: all values' are equal")
    if over.why_none is not None:
        return [*notes, f"no interval {'of AUC of single' if of_means else 'over'} values of {by}: {over.why_none}"]
    missing = flat = 0
    for found in over.metrics.values():
        auc = found[AUC]
        assert auc.standard_errors is not None
        missing = max(missing, int(np.count_nonzero(np.isnan(auc.standard_errors) & ~np.isnan(auc.values))))
        flat = max(flat, int(np.count_nonzero(auc.standard_errors == 0)))
    if missing:
        which = (
            f"of the AUC of {missing:,} values of {by}, which"
            if of_means
            else f"of the mean AUC: {missing:,} values of {by}"
        )
        notes.append(
            f"no interval {which} have both classes, but not two rows of each, from which DeLong's variance is made"
        )
    if flat:
        up_to = "up to " if len(over.metrics) > 1 else ""
        notes.append(f"no width, which says nothing of how sure, of the intervals of AUC of {up_to}{flat:,} values")
    return notes


def report_text(report: Report) -> str:
    """Return a report as text: how it was made, means over values, then for each block a table with a row a model.

    Lines have at most 120 characters for ordinary names (a few more with costs).
    """
    columns = cells_columns(report.best, report.costs)
    compared = compared_columns(report, columns)
    tables = format_tables([_rows(report, block, columns) for block in report.blocks])
    more = [
        format_tables([_probability_rows(report, block) for block in report.blocks]),
        format_tables([_prior_rows(block) for block in report.blocks]),
        format_tables([difference_rows(report, block, compared) for block in report.blocks]),
    ]
    lines = [f"fastevals report: {printable(report.data)}", *_header(report), *over_lines(report)]
    for block, rows, *others in zip(report.blocks, tables, *more, strict=True):
        lines.append("")
        if report.roles.by is not None:
            lines.append(f"{printable(report.roles.by)} = {format_label(block.value)}: {_rows_and_classes(block)}")
        lines += rows
        lines += _notes(report, block, columns)
        for rows in filter(None, others):
            lines += ["", *rows]
    return "\n".join(lines) + "\n"


def _header(report: Report) -> list[str]:
    words = {"label": f"{printable(report.roles.label)}, positive class {format_label(report.pos_label)}"}
    if report.roles.weight is not None:
        rows = "1 row" if report.n_weightless == 1 else f"{report.n_weightless} rows"
        left_out = f", {rows} of weight zero left out" if report.n_weightless else ""
        words["weight"] = printable(report.roles.weight) + left_out
    if report.roles.by is None:
        words["in all"] = _rows_and_classes(report.blocks[0])
    elif not report.blocks and report.over is not None:
        words["by"] = (
            f"{printable(report.roles.by)}, above {MOST_BLOCKS} values: no block or picture of each, "
            "but measures of the ranking over all values, which JSON has one by one"
        )
        n_samples, n_positives, _ = report.over.counts
        words["in all"] = f"{n_samples.sum()} rows, {n_positives.sum()} positive"
    if report.blocks:
        words |= _of_thresholds(report)
    intervals = describe_intervals(report)
    if intervals:
        words["intervals"] = intervals
    if len(report.roles.scores) > 1:
        words["*"] = "the best of its column"
    lines = []
    for name, said in words.items():
        lines += textwrap.wrap(said, WIDTH, initial_indent=f"{name:11}", subsequent_indent=" " * 11)
    return lines


def _of_thresholds(report: Report) -> dict[str, str]:
    words = {}
    if report.costs is not None:
        words["costs"] = f"{report.costs['cost_fp']:g} a false positive, {report.costs['cost_fn']:g} a false negative"
        if "prior" in report.costs:
            words["costs"] += f"; prior {report.costs['prior']:g}"
    if report.best is None:
        words["threshold"] = f"{report.threshold}, for every model"
    else:
        direction = "best" if SCORE_METRICS[report.best].greater_is_better else "least"
        each = "model" if report.roles.by is None else "model and block"
        words["threshold"] = (
            f"{direction} {SCORE_METRICS[report.best].title} of each {each}, chosen on the rows it is judged on: "
            "what stands right of the bar looks better than it is"
        )
    return words


def _rows_and_classes(block: ReportBlock) -> str:
    words = f"{block.n_samples} row{'s' * (block.n_samples != 1)}, {block.n_positives} positive"
    share = f"({100 * block.positive_share:.3g} %)"
    return f"{words} {share}" if block.total_weight is None else f"{words}; weight {block.total_weight:.6g} {share}"


def _rows(report: Report, block: ReportBlock, columns: Sequence[str]) -> list[list[str]]:
    """Return a table's rows of cells, the heading first; each number has a place for its mark."""
    rows = [["model", *map(_head, RANKING_COLUMNS), "|", "threshold", *map(_head, columns)]]
    for model in block.models:
        left, right = ([_number(block, model, name) for name in names] for names in (RANKING_COLUMNS, columns))
        rows.append([printable(model.name), *left, "|", model.threshold_shown, *right])
        rows += interval_rows(report, block, model, [*RANKING_COLUMNS, "|", "threshold", *columns])
    return rows


def _probability_rows(report: Report, block: ReportBlock) -> list[list[str]]:
    """Return the same of what is asked of probabilities: the models whose scores are some."""
    rows = []
    for model in block.models:
        if not math.isnan(model.metrics[PROBABILITY_COLUMNS[0]]):
            rows.append([printable(model.name), *(_number(block, model, name) for name in PROBABILITY_COLUMNS)])
            rows += interval_rows(report, block, model, PROBABILITY_COLUMNS)
    return [["model", *map(_head, PROBABILITY_COLUMNS)], *rows] if rows else []


def _prior_rows(block: ReportBlock) -> list[list[str]]:
    """Return the same of the priors for which thresholds of least cost stay that, and are worth using."""
    models = [model for model in block.models if model.holds is not None]
    body = [[printable(model.name), _range(model.holds), _range(model.operating_range)] for model in models]
    return [["model", "threshold is best for priors of", "cheaper than all or none for"], *body] if body else []


def _range(interval: Interval | None) -> str:
    if interval is None or math.isnan(interval.low):
        return "-"
    return f"{interval.low:.4g} to {interval.high:.4g}"


def _head(name: str) -> str:
    return f"{title(name)} " if len(title(name)) < 7 else title(name)  # over the digits, not the mark


def _number(block: ReportBlock, model: ModelNumbers, name: str) -> str:
    best = len(block.models) > 1 and model.name in block.best[name]
    return format_number(model.metrics[name]) + ("*" if best else " ")


def _notes(report: Report, block: ReportBlock, columns: Iterable[str]) -> list[str]:
    """Return why there are dashes, and what is to be thought of intervals."""
    where = describe_block(report.roles.by, block.value)
    notes = []
    missing = [name for name, count in _classes(block) if not count]
    unexplained: dict[str, list[str]] = {}
    for name in (*RANKING_COLUMNS, *columns):
        models = [model.name for model in block.models if math.isnan(model.metrics[name])]
        if models:
            unexplained[name] = models
    gone = [name for name in unexplained if set(missing) & set(SCORE_METRICS[name].needs)]
    if gone:
        notes.append(f"{where} has no {missing[0]}: {', '.join(map(title, gone))} undefined")
    unexplained = {name: models for name, models in unexplained.items() if name not in gone}
    for name, models in unexplained.items():
        why = "no crossing" if SCORE_METRICS[name].of == "ranking" else "0/0"
        notes.append(f"{title(name)} of {', '.join(map(printable, models))} undefined ({why})")
    marked = [*(("- : ", note) for note in notes), *(("! : ", note) for note in cautions(report, block))]
    return [
        line
        for mark, note in marked
        for line in textwrap.wrap(note, WIDTH, initial_indent=mark, subsequent_indent="    ")
    ]


def _classes(block: ReportBlock) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("positives", block.n_positives), ("negatives", block.n_negatives)


def title(name: str) -> str:
    """Return what a metric's column is called."""
    return SCORE_METRICS[name].title
