"""Notes on the numbers of a report: how they were made, what is undefined, and how far to trust the intervals."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastevals._distinct import sorted_unique
from fastevals._naming import option
from fastevals._text import (
    describe_block,
    describe_by,
    describe_segment,
    format_label,
    format_number,
    printable,
    shorten_names,
)
from fastevals.infer.bootstrap.bootstrap import DEBIASED, WIDER, methods_in_place_of_bca
from fastevals.measure.registry import METRICS, SCORE_METRICS, metric_title
from fastevals.reading.rows import LeftOut
from fastevals.reading.sources import UNNAMED, ReadFiles
from fastevals.results import Interval
from fastevals.show.report.calibrated import calibration_cautions
from fastevals.show.report.costs import describe_costs
from fastevals.show.report.data import OfClasses, OtherData, ReportBlock, ReportData
from fastevals.show.report.intervals import (
    BCA,
    CELLS,
    GROUPS,
    PROBABILITY_COLUMNS,
    RESAMPLES,
    IntervalPlan,
    Intervals,
    column_metrics,
)
from fastevals.show.report.kinds import AUC, REPORT_KINDS
from fastevals.show.report.live import NO_THRESHOLD
from fastevals.show.report.over_differences import differences_cautions
from fastevals.show.report.over_values import MOST_BLOCKS, OverValues
from fastevals.show.verdict import describe_pairs, describe_reference, listed

ROUGH = 30  # rows of a class, or clusters, below which intervals are rough
LOG_LOSS = "log_loss"
MOST_NAMED = 5  # classes in a note
FLAT = "zero width, so {} nothing about the uncertainty: collect more rows"
AREAS_IN_DOUBT = {  # of class probabilities, by their titles
    "AUC": (AUC, "AUC weighted", "AUC micro"), "AP": ("average_precision", "AP weighted", "AP micro"),
    "M": ("hand_till",),
}  # fmt: skip
LIMITS = {DEBIASED: f"{DEBIASED} limits", WIDER: f"the wider of the BCa and {DEBIASED} limits"}


def all_blocks(report: ReportData) -> tuple[ReportBlock, ...]:
    """Return the block of all rows, if --by divides them into several blocks, and these blocks."""
    return report.blocks if report.whole is None else (report.whole, *report.blocks)


# How numbers were made ------------------------------------------------------------------------------------------------


def facts(report: ReportData) -> Iterator[tuple[str, str]]:
    """Yield facts about columns, rows, thresholds and intervals, each with its name."""
    roles, has_scores = report.roles, report.roles.kind == "scores"
    yield _truth(report)
    if roles.weight is not None:
        rows = f" row{'s' * (report.n_weightless != 1)}" if has_scores else ""
        left_out = f", {report.n_weightless}{rows} of weight zero left out" if report.n_weightless else ""
        yield "copies" if roles.are_copies else "weight", printable(roles.weight) + left_out
    if report.class_facts is not None and report.class_facts.are_normalized:
        yield "divided", "each row's probabilities are divided by their sum"
    if report.left_out.n_rows:
        segments, measured = roles.segments, set(map(report.key, report.blocks))
        none_left = segments.ascending(report.left_out.by_value.keys() - measured, {}) if report.blocks else []
        of_one = f"{printable(roles.by[0])} " if len(roles.by) == 1 else ""
        names = [format_label(key) if of_one else describe_segment(*segments.of_key(key)) for key in none_left]
        all_of = f"; all rows of {of_one}{listed(names)}" if names else ""
        yield "dropped", describe_left_out(report.left_out, roles.lacking) + all_of
    if doubt := _describe_doubt(report):
        yield "in doubt", doubt
    if empty := describe_empty_files(report.files):
        yield "empty", empty
    if not roles.by:
        yield "in all", describe_rows(report, report.blocks[0])
    if report.against is not None:
        yield from _other_rows(report, report.against)
    many = [" x ".join(map(printable, each.by)) for each in report.overs if not each.has_blocks]
    if many:
        more = "; JSON has each value's AUC" if has_scores else ""
        yield "by", f"{listed(many)}, more than {MOST_BLOCKS} values: no blocks or pictures{more}"
    if not report.blocks and has_scores and report.overs:
        n_samples, n_positives, _ = report.overs[0].counts
        yield "in all", f"{n_samples.sum()} rows, {n_positives.sum()} positive"
    if unmeasured := list(_of_one_class(report)):
        yield "one class", f"{listed(unmeasured, MOST_NAMED)}: listed, not measured"
    if has_scores and report.blocks:
        yield from _thresholds(report)
    if intervals := (_score_intervals if has_scores else _prediction_intervals)(report):
        yield "intervals", intervals
    if report.reference is not None:
        yield "reference", describe_reference(report.reference)
    if len(roles.models) > 1:
        own = any(map(have_own_thresholds, report.blocks))
        yield (
            "*",
            "best in its column"
            + ("; metrics at a threshold have no *, because each model has its own threshold" if own else ""),
        )
    if report.not_measured:
        yield "omitted", " ".join(report.not_measured)


def _other_rows(report: ReportData, other: OtherData) -> Iterator[tuple[str, str]]:
    """Yield what the models are compared with: the rows of --against, those left out, and values of one side only."""
    name, rows = printable(other.name), f"{other.n_samples} row{'s' * (other.n_samples != 1)}"
    if other.n_positives is not None:
        rows += f", {other.n_positives} positive ({100 * other.n_positives / max(other.n_samples, 1):.3g} %)"
    weightless = f"; {other.n_weightless} of weight zero left out" if other.n_weightless else ""
    dropped = ""
    if other.left_out.n_rows:
        dropped = f"; dropped {describe_left_out(other.left_out, report.roles.lacking)}"
    empty = describe_empty_files(other.files)
    yield "against", f"{name}: {rows}{weightless}{dropped}{f'; {empty}' if empty else ''}"
    segments = report.roles.segments
    sides = [(other.only_data, "the data"), (other.only_other, name)]
    only = [
        f"only in {shown}: {listed([describe_segment(*segments.of_key(key)) for key in keys], MOST_NAMED)}"
        for keys, shown in sides
        if keys
    ]
    if only:
        yield "unpaired", "; ".join(only)


def _of_one_class(report: ReportData) -> Iterator[str]:
    """Yield the combinations of values that have no block because they have only one class, with their rows."""
    measured = {(block.by, block.value) for block in report.blocks}
    for over in report.overs:
        if over.has_blocks and report.roles.kind == "scores":
            n_samples, n_positives, _ = over.counts
            for value, n, positive in zip(over.values, n_samples.tolist(), n_positives.tolist(), strict=True):
                if (over.by, value) not in measured:
                    rows = f"{n} row{'s' * (n != 1)}, {'all' if positive else 'none'} positive"
                    yield f"{describe_segment(over.by, value)} ({rows})"


def have_own_thresholds(block: ReportBlock) -> bool:
    """Return whether the models of a block have different thresholds."""
    return len({None if math.isnan(model.threshold) else model.threshold for model in block.models}) > 1


def _truth(report: ReportData) -> tuple[str, str]:
    """Return which column is the truth, and its classes."""
    truth, labels, positive = printable(report.roles.truth), report.labels, report.pos_label
    known = f", positive class {format_label(positive)}" if positive is not None else ""
    if report.roles.kind == "targets":
        return "target", truth
    if labels is None:
        return "label", truth + known
    if report.class_facts is not None:
        return "label", f"{truth}, {len(labels)} {'ordered ' * report.class_facts.are_ordered}classes"
    if len(labels) == 2 and positive is None:
        known = f"; name the positive class with {option('pos_label')} for its precision, recall and F1"
    return "label", f"{truth}, {len(labels)} class{'es' * (len(labels) != 1)}{known}"


def title_of(data: str, models: Sequence[Any]) -> str:
    """Return a title: the name of the data, or the models' names if the data have no name."""
    return listed(shorten_names(models, 40)) if data == UNNAMED else data


def describe_left_out(left_out: LeftOut, lacking: Mapping[str, str]) -> str:
    """Say how many rows were left out and what they lack; `lacking` names some columns' values in words."""
    rows = f"{left_out.n_rows:,} row{'s' * (left_out.n_rows != 1)}"
    counts = sorted(left_out.by_column.items(), key=lambda each: (-each[1], each[0]))
    reasons = [f"{count:,} without {lacking.get(name, f'a value of {printable(name)}')}" for name, count in counts]
    several = " (some lack several)" if sum(left_out.by_column.values()) > left_out.n_rows else ""
    return f"{rows}: {', '.join(reasons)}{several}" if reasons else f"{rows} that can't be counted"


def describe_empty_files(files: ReadFiles | None) -> str:
    """Say how many files have no rows, and which; "" if all have some."""
    if files is None or not files.without_rows:
        return ""
    n, names = len(files.without_rows), [printable(name) for name in files.without_rows]
    return f"{n} of {files.n_files} files {'has' if n == 1 else 'have'} no rows: {listed(names, MOST_NAMED)}"


def left_out_cautions(left_out: LeftOut, models: Sequence[str], what: str) -> list[str]:
    """Say which models make the others lose rows: rows that lack only that model's score or prediction."""
    taking = [(name, left_out.alone.get(name, 0)) for name in models] if len(models) > 1 else []
    return [
        f"{count:,} row{'s' * (count != 1)} that {'lack' if count != 1 else 'lacks'} {what} of {printable(name)} only "
        f"{'are' if count != 1 else 'is'} left out for all models: report on {printable(name)} "
        "separately, so that the other models keep these rows"
        for name, count in taking
        if count
    ]


def _describe_doubt(report: ReportData) -> str:
    """Say which metrics are known only within bounds, and how wide these are; "" if all are exact."""
    if report.roles.kind == "probabilities":
        return _doubt_of_classes(report)
    doubt, at_threshold = (_widest_bounds(report, name) for name in (AUC, "accuracy"))
    if not (doubt or at_threshold):
        return ""
    cuts = "thresholds lie between ranges, where counts are exact"
    if at_threshold:
        cuts = f"accuracy at the threshold is known to within {at_threshold:.1e}"
    return (
        f"scores were counted in ranges, in one pass: AUC is known to within {doubt:.1e}; JSON has the bounds of each "
        f"number; {cuts}"
    )


def _doubt_of_classes(report: ReportData) -> str:
    """Say how far areas of class probabilities may be off; "" if all are exact."""
    widths = {name: _widest_bounds(report, name) for name in report.metrics}
    if not any(widths.values()):
        return ""
    most = {title: max(widths.get(name, 0.0) for name in names) for title, names in AREAS_IN_DOUBT.items()}
    known = listed([f"{width:.1e} ({title})" for title, width in most.items() if width])
    return (
        f"probabilities were counted in ranges, in one pass: averages over classes are known to within {known}; JSON "
        "has the bounds of each number; losses, rates and predicted classes are exact"
    )


def _widest_bounds(report: ReportData, metric: str) -> float:
    """Return the greatest width of a metric's bounds; 0 if it is exact."""
    models = [model for block in report.blocks for model in block.models]
    return max(
        (model.bounds[metric].high - model.bounds[metric].low for model in models if metric in model.bounds),
        default=0.0,
    )


def describe_rows(report: ReportData, block: ReportBlock) -> str:
    """Say how many rows a block has."""
    weight = "" if block.total_weight is None else f"; weight {block.total_weight:.6g}"
    labelled = (
        f"; {share_text(labelled_share(report, block.by, block.value, block.n_samples))} of the rows have a label"
    )
    labelled = labelled if lacks_labels(report) else ""
    if report.roles.kind != "scores":
        return f"{block.n_samples:,} row{'s' * (block.n_samples != 1)}{weight}{labelled}"
    rows = f"{block.n_samples} row{'s' * (block.n_samples != 1)}, {block.n_positives} positive"
    return f"{rows}{weight} ({100 * block.positive_share:.3g} %){labelled}"


def lacks_labels(report: ReportData) -> bool:
    """Return whether a column divides the rows, and some rows are left out because they have no label."""
    return bool(report.roles.by) and report.left_out.by_column.get(report.roles.truth, 0) > 0


def labelled_share(report: ReportData, by: tuple[str, ...], value: Any, n_samples: int) -> float:
    """Return the share of rows that have a label, of a value of --by or (without `by`) of all rows."""
    left_out = report.left_out
    if by:
        left_out = left_out.by_value.get(report.roles.segments.key(by, value), LeftOut())
    n = n_samples + left_out.by_column.get(report.roles.truth, 0)
    return n_samples / n if n else math.nan


def share_text(share: float) -> str:
    """Write a share of rows."""
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def left_out_of(report: ReportData, block: ReportBlock) -> LeftOut:
    """Return the rows of a block that are left out."""
    left_out = report.left_out
    return left_out.by_value.get(report.key(block), LeftOut()) if block.by else left_out


def _thresholds(report: ReportData) -> Iterator[tuple[str, str]]:
    if report.row_costs is not None:
        none = "" if report.best is None else "; metrics at the thresholds have no intervals"
        yield "costs", describe_costs(report.row_costs) + none
    if report.costs is not None:
        costs = f"{report.costs['cost_fp']:g} per false positive, {report.costs['cost_fn']:g} per false negative"
        yield "costs", costs + (f"; prior {report.costs['prior']:g}" if "prior" in report.costs else "")
    if report.best is None:
        yield "threshold", NO_THRESHOLD if report.threshold == math.inf else f"{report.threshold}, for every model"
        return
    does = "maximises" if SCORE_METRICS[report.best].greater_is_better else "minimises"
    where = " in each block" if report.roles.by else ""
    yield (
        "threshold",
        f"each model's threshold {does} {SCORE_METRICS[report.best].title}{where} on these same rows, so the metrics "
        "at the threshold are optimistic",
    )


def _score_intervals(report: ReportData) -> str:
    """Say how intervals were made, for each method that some block uses; "" if there are none."""
    if report.plan is None:
        return ""
    plan, roles = report.plan, report.roles
    methods = {block.intervals.method for block in report.blocks if block.intervals is not None}
    level = f"{100 * plan.confidence_level:.6g} %"
    has_pairs = any(block.intervals is not None and block.intervals.differences for block in report.blocks)
    pairs = describe_pairs(report.reference)
    adjusted = f"Intervals and p-values of differences are simultaneous over {pairs}" if has_pairs else ""
    sentences = []
    undrawn = describe_undrawn(report)
    if BCA in methods:
        drawn = "rows" if roles.groups is None else f"clusters of {printable(roles.groups)}"
        text = f"{level}, BCa, {plan.n_resamples:,} bootstrap replicates of {drawn} (seed {plan.seed})"
        text += "" if report.best is None else ", each with its own best thresholds"
        sentences.append(text + (f", for blocks of at most {plan.most_drawn:,} rows" if undrawn else ""))
        sentences += [f"{adjusted} (max-T)"] if adjusted else []
    if CELLS in methods:
        text = (
            f"{level}, BCa, {plan.n_resamples:,} replicates of cells, which are groups of rows with similar scores "
            f"(seed {plan.seed})"
        )
        text += "" if report.best is None else ", each with its own best thresholds"
        if plan.most_drawn is not None:  # else the rows can't be resampled
            text += f", above {plan.most_drawn:,} rows ({option('n_resamples', placeholder='N')} resamples the rows)"
        sentences.append(text)
        sentences += [f"{adjusted} (max-T), computed from each row's cells in all models"] if adjusted else []
    if sentences and (others := methods_instead(report)):
        by_method = {method: [name for name in others if others[name] == method] for method in others.values()}
        shown = (f"{listed([*map(metric_title, names)], 9)} use {LIMITS[each]}" for each, names in by_method.items())
        sentences.append(f"Not all limits are BCa: {'; '.join(shown)}")
    if any(block.against for block in report.blocks):
        own_best = "" if report.best is None else ", and each side has its own best thresholds"
        sentences.append(f"Differences from other rows have separate intervals and p-values{own_best}")
    whole = _describe_whole(report)
    return ". ".join([*sentences, *filter(None, [undrawn, whole, _describe_reduced(plan)])])


def _describe_reduced(plan: IntervalPlan) -> str:
    """Say that many values of a trend have fewer replicates each; "" if they have as many as usual."""
    if not plan.n_reduced:
        return ""
    return (
        f"Each of the {plan.n_reduced:,} values has {plan.n_resamples:,} replicates instead of {RESAMPLES:,}, to save "
        f"time ({option('n_resamples', placeholder='N')} sets their number)"
    )


def _describe_whole(report: ReportData) -> str:
    """Say what the intervals of the block of all rows cost; "" if there is no such block, or if they cost little."""
    plan, whole = report.plan, report.whole
    methods = {block.intervals.method for block in report.blocks if block.intervals is not None}
    if plan is None or whole is None or whole.intervals is None:
        return ""
    if whole.intervals.method == BCA:
        models = f"{len(report.roles.models)} model{'s' * (len(report.roles.models) != 1)}"
        n_resamples = plan.n_resamples if whole.n_resamples is None else whole.n_resamples
        return f"The block of all rows adds {whole.n_samples:,} rows x {models} x {n_resamples:,} replicates"
    if whole.intervals.method == CELLS and CELLS not in methods:
        why = (
            "its rows do not fit in memory" if plan.budget is None else "other blocks leave too few draws of the budget"
        )
        return f"The block of all rows resamples cells, which are groups of rows with similar scores, because {why}"
    return ""


def _prediction_intervals(report: ReportData) -> str:
    """Say how intervals of predictions were made; "" if there are none."""
    plan, groups = report.plan, report.roles.groups
    drawn_by = [(block.intervals, block.n_resamples) for block in all_blocks(report) if block.intervals is not None]
    made = [intervals for intervals, _ in drawn_by]
    methods = {intervals.method for intervals in made} - {None}
    if plan is None or not methods:
        return ""
    text = "from standard errors"
    if CELLS in methods:
        areas = any(AUC in each.classes.intervals for block in report.blocks for each in block.models if each.classes)
        n_rankings = len(all_blocks(report)) * len(report.roles.models) * len(report.labels or ())
        of_classes = plan.for_classes(n_rankings).n_resamples
        cells = f", and for AUC and AP of each class {of_classes:,} replicates of cells, which are groups of rows with "
        cells += "similar probabilities"
        text = (
            f"BCa, {plan.n_resamples:,} replicates (seed {plan.seed}) of the matrix of predicted classes"
            f"{cells * areas}; normal for losses; Wilson's for top-k accuracy"
        )
    if BCA in methods:
        drawn = "rows" if groups is None else f"clusters of {printable(groups)}"
        numbers = sorted({n for intervals, n in drawn_by if intervals.method == BCA and n is not None})
        replicates = " to ".join(f"{n:,}" for n in (numbers if len(numbers) < 2 else (numbers[0], numbers[-1])))
        text = f"BCa, {replicates} bootstrap replicates of {drawn} (seed {plan.seed})"
    if GROUPS in methods:
        many = f"{plan.n_resamples:,} bootstrap replicates of random groups of rows"
        text = f"{text}, or for many rows, {many}" if BCA in methods else f"BCa, {many} (seed {plan.seed})"
    if any(intervals.differences for intervals in made):
        pairs = describe_pairs(report.reference)
        text += f". Intervals and p-values of differences are simultaneous over {pairs} (max-T)"
    if any(block.against for block in report.blocks):
        text += ". Differences from other rows have separate intervals and p-values"
    return f"{100 * plan.confidence_level:.6g} %, {text}"


def interval_heads(plan: IntervalPlan | None) -> tuple[str, str, str]:
    """Return the row names of intervals' ends and of p."""
    low = "" if plan is None else f" {100 * plan.confidence_level:.6g} % from"
    return low, "to".rjust(len(low)), "p".rjust(len(low))


def methods_instead(report: ReportData) -> dict[str, str]:
    """Return the methods of metrics whose intervals are not BCa."""
    intervals = [block.intervals.models for block in report.blocks if block.intervals is not None]
    defined = {name for models in intervals for by_metric in models.values() for name in by_metric}
    metrics = column_metrics(report.best, report.threshold, report.costs)
    return methods_in_place_of_bca({name: spec for name, spec in metrics.items() if name in defined})


def describe_undrawn(report: ReportData) -> str:
    """Say for which blocks the budget of replicates was too small; "" if rows of all blocks are resampled."""
    plan = report.plan
    if plan is None:
        return ""
    sizes = [block.n_samples for block in report.blocks if not plan.draws(block.n_samples)]
    if not sizes:
        return ""
    n_blocks, n_models = len(report.blocks), len(report.roles.models)
    where = f" in {len(sizes)} of {n_blocks} blocks" if report.roles.by else ""
    models = f"{n_models} model{'s' * (n_models != 1)}"
    left = "" if len(sizes) == n_blocks else ", of which other blocks use a part"
    return (
        f"Rows are not resampled{where}: {sum(sizes):,} rows x {models} x {plan.n_resamples:,} replicates exceed "
        f"a report's budget of {plan.budget:,} draws{left}"
    )


# A block --------------------------------------------------------------------------------------------------------------


def undefined_notes(report: ReportData, block: ReportBlock) -> list[str]:
    """Say why metrics are undefined (a dash in tables), and which models predict no row positive."""
    has_scores, columns = report.roles.kind == "scores", report.metrics
    if has_scores:  # metrics of probabilities have a table of their own, for models that have them
        columns = tuple(name for name in columns if name not in PROBABILITY_COLUMNS)
    missing = [
        name
        for name, count in (("positives", block.n_positives), ("negatives", block.n_negatives))
        if has_scores and not count
    ]
    lacking, notes = [], []
    if report.class_facts is not None:
        return list(_undefined_of_classes(report, block))
    if none := [printable(model.name) for model in block.models if model.threshold == math.inf]:
        notes.append(f"threshold none: {listed(none)} {'predicts' if len(none) == 1 else 'predict'} no row positive")
    for name in columns:
        models = [printable(model.name) for model in block.models if math.isnan(model.metrics[name])]
        if models and has_scores and set(missing) & set(SCORE_METRICS[name].needs):
            lacking.append(metric_title(name))
        elif models:
            notes.append(f"{metric_title(name)} of {listed(models)} is undefined ({_why_undefined(name)})")
    if lacking:
        subject = describe_block(block.by, block.value)
        notes.insert(0, f"{subject} has no {missing[0]}: {listed(lacking, 9)} {_are(lacking)} undefined")
    return notes


def _undefined_of_classes(report: ReportData, block: ReportBlock) -> Iterator[str]:
    """Say which classes have no rows, and which metrics are therefore undefined."""
    undefined = [name for name in report.metrics if all(math.isnan(model.metrics[name]) for model in block.models)]
    rows = _rows_of_classes(block)
    absent = [format_label(label) for label, n in rows.items() if not n]
    titles = [*map(metric_title, undefined)]
    if absent:
        what = f": {listed(titles, 9)} {_are(titles)} undefined" if titles else ""
        yield f"no rows of {listed(absent, MOST_NAMED)}{what}"
    elif titles:
        yield f"{listed(titles, 9)} {_are(titles)} undefined"


def _rows_of_classes(block: ReportBlock) -> dict[Any, float]:
    """Return the number of rows, or their weight, of each class of probabilities."""
    classes = block.models[0].classes
    assert classes is not None
    return dict(zip(classes.matrix.labels.tolist(), classes.matrix.counts.sum(axis=1).tolist(), strict=True))


def _class_cautions(report: ReportData, block: ReportBlock) -> Iterator[str]:
    """Yield caveats on probabilities of classes: models that predict classes with certainty, and rare classes."""
    if report.class_facts is None:
        return
    if hard := [*map(printable, report.class_facts.hard)]:
        yield (
            f"all probabilities of {listed(hard)} are 0 or 1, which are predicted classes: metrics of rankings and "
            f"probabilities need the model's probabilities; for classes alone, use {option('pred')}"
        )
    few = {label: n for label, n in _rows_of_classes(block).items() if 0 < n < ROUGH}
    if few and block.total_weight is None and report.plan is not None:
        names = [f"{format_label(label)} ({n:g})" for label, n in few.items()]
        yield (
            f"fewer than {ROUGH} rows of {listed(names, MOST_NAMED)}: intervals of averages over classes and of these "
            "classes are rough"
        )


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _why_undefined(name: str) -> str:
    if name == "r2":
        return "all targets are equal"
    return "no crossing" if name in METRICS and METRICS[name].of == "ranking" else "0/0"


def block_cautions(report: ReportData, block: ReportBlock) -> list[str]:
    """Return a block's caveats, for text and JSON: why it lacks intervals, or how far to trust its intervals."""
    kind, its = REPORT_KINDS[report.roles.kind], left_out_of(report, block)
    taken = left_out_cautions(its, report.roles.models, kind.lacking)
    if its.n_rows and block.by:  # of all rows the facts say it
        taken.insert(0, f"dropped {describe_left_out(its, report.roles.lacking)}")
    sizes = {"row": block.n_samples, "positive": block.n_positives, "negative": block.n_negatives}
    flat = [(model.name, model.classes) for model in block.models if model.classes and flat_classes(model.classes)]
    return [
        *taken,
        *(() if block.costs is None else block.costs.cautions),
        *_loss_cautions(report, block),
        *_class_cautions(report, block),
        *_interval_cautions(report, block, [(noun, "s", sizes[noun]) for noun in kind.rough]),
        *_other_cautions(report, block),
        *(_on_flat_classes(*each) for each in flat),
        *calibration_cautions(block.models),
    ]


def _other_cautions(report: ReportData, block: ReportBlock) -> Iterator[str]:
    """Yield caveats on the comparison with other rows."""
    if report.against is None:
        return
    subject, name = describe_block(block.by, block.value), printable(report.against.name)
    if block.other is None:
        if block.by:
            yield f"{subject} is not compared: there are no such rows in {name}"
        return
    if block.other.why_none:
        yield f"{subject} is not compared with {name}: {block.other.why_none}"
        return
    n_samples, n_positives, _, why_fewer = block.other
    if why_fewer:
        yield why_fewer
    sizes = [(n_samples, "row")]
    if n_positives is not None:
        sizes = [(n_positives, "positive"), (n_samples - n_positives, "negative")]
    few = [f"{n} {noun}{'s' * (n != 1)}" for n, noun in sizes if n < ROUGH]
    if few:
        of_block = f" with {subject}" if block.by else ""
        yield (
            f"{name}{of_block}: only {' and '.join(few)}, so differences from these rows are rough: read them as "
            "approximate"
        )


def _loss_cautions(report: ReportData, block: ReportBlock) -> list[str]:
    """Say why models have no probability metrics, or an infinite log loss."""
    if LOG_LOSS not in block.models[0].metrics:
        return []
    certain = [model.name for model in block.models if model.metrics[LOG_LOSS] == math.inf]
    missing = [model.name for model in block.models if math.isnan(model.metrics[LOG_LOSS])]
    notes = []
    if certain:
        names = listed(list(map(printable, certain)))
        some, hint = (
            "a probability of exactly 0 or 1 belong to the other class",
            "Clip probabilities to a range such as",
        )
        hint += " [0.001, 0.999]"
        if report.class_facts is not None:
            some, hint = "probability 0 of a class belong to this class", "Mix in a small share of equal probabilities"
        notes.append(f"log loss of {names} is infinite: some rows with {some}. {hint}, or compare Brier scores")
    if missing and len(missing) < len(block.models):
        names, titles = listed([*map(printable, missing)]), listed([*map(metric_title, PROBABILITY_COLUMNS)])
        notes.append(f"{titles} of {names} are undefined: scores outside [0, 1] are not probabilities")
    return notes


def _interval_cautions(report: ReportData, block: ReportBlock, counts: list[tuple[str, str, int]]) -> list[str]:
    """Return caveats on intervals. Each of `counts` is a noun, its plural ending and a number that may be too small."""
    intervals = block.intervals
    if report.plan is None or intervals is None:
        return []
    subject = describe_block(block.by, block.value)
    if intervals.method is None:
        return [f"{subject} has no intervals: {intervals.why_none}"] if intervals.why_none else []
    if intervals.n_groups is not None:
        counts.append(("cluster", f"s of {printable(str(report.roles.groups))}", intervals.n_groups))
    few = [
        f"{count} {noun}{plural if count > 1 else plural[1:]}" for noun, plural, count in counts if 0 < count < ROUGH
    ]
    notes = [f"{subject} has only {' and '.join(few)}: intervals are rough, so read them as approximate"] if few else []
    if intervals.n_undefined:
        most = max(intervals.n_undefined.values())
        up_to = "up to " if len(intervals.n_undefined) > 1 else ""
        names = listed([*map(metric_title, intervals.n_undefined)], 9)
        notes.append(
            f"{names} {_are(list(intervals.n_undefined))} undefined in {up_to}{most:,} of {report.plan.n_resamples:,} "
            "replicates, which are left out"
        )
    for applies, one, several in (
        (_is_missing, "has no interval", "have no intervals"),
        (_is_flat, f"has {FLAT.format('it says')}", f"have {FLAT.format('they say')}"),
    ):
        concerned = {
            (model.name, name)
            for model in block.models
            for name, interval in intervals.models[model.name].items()
            if applies(model.metrics[name], interval)
        }
        if concerned:
            names, is_one = _list_metrics(block, intervals, concerned), len(concerned) == 1
            subject = names if applies is _is_missing else f"the interval{'s' * (not is_one)} of {names}"
            notes.append(f"{subject} {one if is_one else several}")
    for model, reference, metrics in intervals.differences:
        flat = [
            metric_title(name) for name, each in metrics.items() if each.value and _is_flat(each.value, each.interval)
        ]
        if flat:
            pair = f"{printable(model)} - {printable(reference)}"
            notes.append(
                f"disregard the interval and p of the difference {pair} in {listed(flat, 9)}: all replicates are equal"
            )
    reasons: dict[str, set[tuple[str, str]]] = {}
    for model, cautions in intervals.cautions.items():
        for name, why in cautions.items():
            for reason in why.split("; "):
                reasons.setdefault(reason, set()).add((model, name))
    for reason, concerned in reasons.items():
        s, are = ("", "is") if len(concerned) == 1 else ("s", "are")
        notes.append(
            f"the interval{s} of {_list_metrics(block, intervals, concerned)} {are} unreliable, because {reason}"
        )
    return notes


def _list_metrics(block: ReportBlock, intervals: Intervals, pairs: Collection[tuple[str, str]]) -> str:
    """Name pairs of model and metric; metrics of the same models share a phrase."""
    by_models: dict[tuple[str, ...], list[str]] = {}
    for name in intervals.models[block.models[0].name]:
        models = tuple(printable(model.name) for model in block.models if (model.name, name) in pairs)
        if models:
            by_models.setdefault(models, []).append(metric_title(name))
    phrases = [
        f"{models[0]}'s {listed(names, 9)}" if len(models) == 1 else f"{listed(names, 9)} of {listed(models)}"
        for models, names in by_models.items()
    ]
    return phrases[0] if len(phrases) == 1 else f"{', of '.join(phrases[:-1])}, and of {phrases[-1]},"


def _is_missing(value: float, interval: Interval) -> bool:
    return math.isnan(interval.low) and math.isfinite(value)


def _is_flat(value: float, interval: Interval) -> bool:
    return interval.low == interval.high and math.isfinite(value)


def flat_classes(classes: OfClasses) -> dict[int, list[str]]:
    """Return the metrics whose intervals have no width, by the index of the class."""
    found: dict[int, list[str]] = {}
    for name, (low, high) in classes.intervals.items():
        for k in np.flatnonzero(np.equal(low, high)).tolist():
            found.setdefault(k, []).append(name)
    return dict(sorted(found.items()))


def _on_flat_classes(model: str, classes: OfClasses) -> str:
    flat, said = flat_classes(classes), []
    for k in list(flat)[:MOST_NAMED]:
        wilson = [wilson_note(classes, name, k) for name in flat[k]]
        names = [
            f"{metric_title(name)} ({note})" if note else metric_title(name)
            for name, note in zip(flat[k], wilson, strict=True)
        ]
        said.append(f"{format_label(classes.matrix.labels[k].item())}: {', '.join(names)}")
    more = [f"{len(flat) - MOST_NAMED} more"] if len(flat) > MOST_NAMED else []
    return (
        f"some classes' intervals of {printable(model)} have no width, because all replicates are equal; use Wilson's "
        f"interval where it is given: {'; '.join(said + more)}"
    )


def wilson_note(classes: OfClasses, name: str, k: int) -> str:
    """Return Wilson's interval of a class in words; "" if it has none."""
    interval: Any = classes.wilson.get(name)
    if interval is None or np.isnan(interval.low[k]):
        return ""
    return f"Wilson {format_number(interval.low[k])} to {format_number(interval.high[k])}"


# Over the values of --by ----------------------------------------------------------------------------------------------


def describe_means(report: ReportData, over: OverValues) -> str:
    """Say how means over the values are weighted, and what their intervals cover."""
    weight = report.roles.weights["sample_weight"]
    text = f"weighted by {'rows' if weight is None else printable(weight)}"
    if over.n_replicates is not None:
        by = describe_by(over.by)
        text += f"; the mean AUC's interval is from {over.n_replicates:,} replicates of whole values of {by}"
        text += ", other intervals are DeLong's" if over.why_none is None else ""
    elif report.plan is not None and over.why_none is None:
        text += "; DeLong's intervals, for these values only"
    return text


def undefined_over(over: OverValues) -> list[str]:
    """Say for how many --by values each metric is undefined, for the model with the most undefined values."""
    by_count: dict[int, list[str]] = {}
    for name in next(iter(over.metrics.values())):
        by_count.setdefault(_most_undefined(over, name), []).append(metric_title(name))
    by_count.pop(0, None)
    if not by_count:
        return []
    metrics = "; ".join(f"{', '.join(names)} for {count:,}" for count, names in by_count.items())
    why = ", which lack a class" if max(by_count) == _most_undefined(over, AUC) else ""
    return [f"undefined and left out of means: {metrics} of {len(over.values):,} values{why}"]


def _most_undefined(over: OverValues, name: str) -> int:
    return max(metrics[name].n_undefined for metrics in over.metrics.values())


def over_cautions(report: ReportData, over: OverValues) -> list[str]:
    """Return caveats on the values of --by, for text and JSON."""
    if report.plan is None:
        return []
    of_means = _mean_cautions(over) if report.roles.kind == "scores" else []
    return [*of_means, *differences_cautions(over)]


def _mean_cautions(over: OverValues) -> list[str]:
    """Say why a mean lacks an interval, or how far to trust the interval."""
    by, is_bootstrapped = describe_by(over.by), over.n_replicates is not None
    aucs = [metrics[AUC] for metrics in over.metrics.values()]
    notes = []
    if is_bootstrapped and any(sorted_unique(auc.values[~np.isnan(auc.values)]).size == 1 for auc in aucs):
        notes.append(
            "the interval of the mean AUC has zero width, because all values' AUCs are equal, so it says nothing about "
            "the uncertainty"
        )
    if over.why_none is not None:
        single = "for the AUC of single" if is_bootstrapped else "over"
        return [*notes, f"no interval {single} values of {by}: {over.why_none}"]
    missing = flat = 0
    for auc in aucs:
        assert auc.standard_errors is not None
        missing = max(missing, int(np.count_nonzero(np.isnan(auc.standard_errors) & ~np.isnan(auc.values))))
        flat = max(flat, int(np.count_nonzero(auc.standard_errors == 0)))
    if missing:
        values, do = f"{missing:,} value{'s' * (missing != 1)} of {by}", "do" if missing != 1 else "does"
        which, lacking = (
            (f"AUC of {values}", "") if is_bootstrapped else ("mean AUC", f", which {values} {do} not have")
        )
        notes.append(f"no interval for the {which}: DeLong's variance needs at least two rows of each class{lacking}")
    if flat:
        up_to, per_model = ("up to ", " per model") if len(aucs) > 1 else ("", "")
        notes.append(
            f"the AUC's interval has zero width for {up_to}{flat:,} value{'s' * (flat != 1)} of {by}{per_model}, so it "
            "says nothing about the uncertainty there"
        )
    return notes
