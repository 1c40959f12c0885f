"""Differences between a report's models in each value of --by: how they are measured, their tables and conclusions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning
from fastevals._text import describe_by, format_label, printable, shorten_name, shorten_names
from fastevals.counting.groups import code_groups
from fastevals.document.document import (
    RICH,
    TEXT,
    AnyCell,
    Cell,
    Count,
    DifferenceCell,
    Number,
    Part,
    PValue,
    Row,
    Sentence,
    Table,
)
from fastevals.many.group_comparison import (
    FEW_ROWS,
    MERGE,
    ComparedGroups,
    GroupComparison,
    compare_differences,
    compare_groups,
)
from fastevals.many.group_influences import Differences, GroupedRows, SpreadOfDifference
from fastevals.many.group_subjects import ScoredModels
from fastevals.measure.metric_specs import metric
from fastevals.measure.registry import metric_title
from fastevals.results import Interval, check_confidence_level
from fastevals.scale.paired import JointSums
from fastevals.show.report.intervals import IntervalPlan, ScoredRows
from fastevals.show.report.kinds import AUC
from fastevals.show.report.over_values import DividedRows, OverValues
from fastevals.show.verdict import listed

SEGMENTS_WRITTEN, SEGMENTS_ON_PAGE = 20, 2000  # rows of a table
COUNTED_APART = "one scan counts each model's scores separately; report on the rows"
WEIGHTED = "DeLong's variance is not valid for weighted rows; fastevals.compare_groups compares losses of weighted rows"


# Measuring ------------------------------------------------------------------------------------------------------------


def with_differences(over: OverValues, grouped: DividedRows, rows: ScoredRows, plan: IntervalPlan | None) -> OverValues:
    """Add the differences between the AUCs of models whose rows are in memory."""
    if plan is None or len(rows.scores) < 2:
        return over
    if rows.weighs_rows:
        return replace(over, why_not_compared=WEIGHTED)
    if rows.are_copies and rows.weights is not None:
        codes = np.repeat(grouped.codes, rows.weights.astype(np.int64))
        grouped, rows = grouped._replace(codes=codes), rows.repeated()
    return replace(over, differences=_compared(grouped, rows.positive, rows.scores, AUC, plan, rows))


def with_differences_of_predictions(
    over: OverValues, grouped: DividedRows, rows: Any, plan: IntervalPlan | None
) -> OverValues:
    """Add the differences between models' accuracies or mean squared errors, given `PredictedRows`."""
    if plan is None or len(rows.predicted) < 2:
        return over
    name, true, predicted = over.metric, rows.true, rows.predicted
    if name == "accuracy":  # of any number of classes: a row is right or wrong
        true, predicted = np.ones(true.size, np.bool_), {model: each == true for model, each in predicted.items()}
    else:
        name = "mean_squared_error"
    return replace(over, differences=_compared(grouped, true, predicted, name, plan, rows))


def _compared(
    grouped: DividedRows, true: NDArray[Any], models: Any, name: str, plan: IntervalPlan, rows: Any
) -> GroupComparison:
    """Compare models in each value; `rows` have the weights and clusters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # the table has a dash
        found = compare_groups(
            true, models, grouped.codes, name, confidence_level=plan.confidence_level,
            clusters=rows.groups, sample_weight=rows.weights,
        )[name]  # fmt: skip
    return replace(found, groups=_as_keys(grouped.values)[found.groups], by=_names(grouped.by))


def _as_keys(values: Sequence[Any]) -> NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))


def _names(by: tuple[str, ...]) -> tuple[str, ...] | None:
    return by if len(by) > 1 else None


# In scans, block by block ---------------------------------------------------------------------------------------------


def differences_of_rows(rows: ScoredRows) -> list[Differences]:
    """Return the differences between the AUCs of a block's rows: each model minus the first."""
    rows = rows.repeated()
    codes = code_groups(np.zeros(rows.positive.size, dtype=np.int64)).block(slice(None))
    models = ScoredModels(rows.positive.view(np.uint8), list(rows.scores.values()), None, True)
    return list(models.differences_in_auc(GroupedRows(codes, 1, None, rows.groups), _pairs(len(rows.scores))))


def differences_of_sums(joint: JointSums, aucs: Sequence[float], rarer: int) -> list[Differences]:
    """Return the differences between the AUCs of a block whose rows were counted in joint cells.

    Parameters
    ----------
    joint : JointSums
    aucs : sequence of float
        The AUC of each model; NaN where undefined.
    rarer : int
        Number of rows of the rarer class.
    """
    covariance = np.full((len(aucs), len(aucs)), np.nan)
    if AUC in joint.specs:
        covariance = joint.covariance(joint.readings.linear.index(AUC))
    found = []
    for k, reference in _pairs(len(aucs)):
        variance = covariance[k, k] + covariance[reference, reference] - 2 * covariance[k, reference]
        spread = SpreadOfDifference(*(np.array([each]) for each in (np.maximum(variance, 0.0), rarer - 1.0, rarer)))
        found.append(Differences(np.array([aucs[k]]), np.array([aucs[reference]]), spread))
    return found


def with_differences_of_blocks(
    over: OverValues, blocks: Sequence[Sequence[Differences] | None], plan: IntervalPlan | None, *, is_weighted: bool
) -> OverValues:
    """Add the differences of blocks, in the order of the values; None for a block whose differences are unknown."""
    models = tuple(over.metrics)
    if plan is None or len(models) < 2:
        return over
    if is_weighted:
        return replace(over, why_not_compared=WEIGHTED)
    known = [each for each in blocks if each is not None]
    if len(known) < len(blocks):
        n = len(blocks) - len(known)
        why = f"the clustered rows of {n:,} value{'s' * (n != 1)} are not in memory; give more {option('memory')}"
        return replace(over, why_not_compared=why)
    level, alpha = check_confidence_level(plan.confidence_level)
    joined = [_joined(of_blocks) for of_blocks in zip(*known, strict=True)]
    n_samples, n_positives, _ = over.counts
    codes = np.arange(len(over.values))
    groups = ComparedGroups(
        _as_keys(over.values), codes, _names(over.by), n_samples, n_positives, n_samples - n_positives
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = compare_differences(AUC, metric(AUC), groups, models, _pairs(len(models)), joined, level, alpha)
    return replace(over, differences=found)


def _pairs(n_models: int) -> list[tuple[int, int]]:
    return [(k, 0) for k in range(1, n_models)]


def _joined(parts: Sequence[Differences]) -> Differences:
    """Return the differences of several blocks as arrays."""
    values, references = (np.concatenate(each) for each in list(zip(*parts, strict=True))[:2])
    spreads = [part.spread for part in parts]
    return Differences(values, references, SpreadOfDifference(*map(np.concatenate, zip(*spreads, strict=True))))


# Words and tables -----------------------------------------------------------------------------------------------------


def differences_cautions(over: OverValues) -> list[str]:
    """Say why models are not compared, or where the comparison needs care."""
    by, found = describe_by(over.by), over.differences
    if over.why_not_compared:
        return [f"models are not compared by {by}: {over.why_not_compared}"]
    if found is None:
        return []
    reasons: dict[str, dict[str, None]] = {}  # segments may occur for several models
    for k in np.flatnonzero(found.cautions != "").tolist():
        reason = _caution(found, k)
        reason = f"fewer than {FEW_ROWS} rows of a class" if reason.startswith("only ") else reason
        reasons.setdefault(reason, {})[format_label(found.groups[k])] = None
    named = "; ".join(f"{reason} ({listed(list(segments))})" for reason, segments in reasons.items())
    small = any(caution.endswith(MERGE) for caution in found.cautions)
    return [f"differences by {by} need care: {named}{'. Merge small segments' * small}"] if named else []


def differences_conclusion(over: OverValues) -> Iterator[Sentence]:
    """Yield where models are worse than the first one, and whether the difference varies."""
    if over.differences is not None:
        title = metric_title(over.differences.metric)
        yield Sentence(over.differences._concluded("segment", title), "verdict")


def differences_parts(over: OverValues) -> Iterator[Part]:
    """Yield the table of differences: for the text below a line that describes it, and for pages and Markdown."""
    found = over.differences
    if found is None:
        return
    n, level, by = len(found), f"{100 * found.confidence_level:.6g} %", describe_by(over.by)
    models = ", ".join(shorten_names(found.heterogeneity))
    note = (
        f"{models} minus {shorten_name(printable(str(found.reference)))}, the strongest evidence of a worse model "
        f"first; {level} intervals and p are simultaneous over {n:,} differences"
    )
    yield Sentence(f"differences by {by}: {note}", only=TEXT)
    columns = [by, *_columns(found)]
    more = f"... {n - SEGMENTS_WRITTEN:,} more differences, which the JSON has" if n > SEGMENTS_WRITTEN else ""
    table = Table("segments", f"Differences by {by}", columns, (), note=note, n_shown=SEGMENTS_WRITTEN, more=more)
    shown = range(min(n, SEGMENTS_ON_PAGE))

    def rows(end: Callable[[int], list[AnyCell | str]]) -> Iterator[Row]:
        for k in shown:
            yield Row(format_label(found.groups[k]), [*_cells(found, k), *end(k)])

    yield table._replace(
        columns=[*columns, f"{level} from", "to", "p", ""], rows=lambda: rows(partial(_written, found)), only=TEXT
    )
    yield table._replace(rows=lambda: rows(lambda k: [_difference(found, k)]), only=RICH)


def _are_several(found: GroupComparison) -> bool:
    return len(found.heterogeneity) > 1


def _columns(found: GroupComparison) -> list[str]:
    title, (reference, *models) = metric_title(found.metric), shorten_names([found.reference, *found.heterogeneity])
    of_scores = ["positive"] * (found.n_positives is not None)
    if _are_several(found):
        return ["model", "rows", *of_scores, f"{title} of {reference}", title, "difference"]
    return ["rows", *of_scores, *(f"{title} of {name}" for name in (reference, *models)), f"{models[0]} - {reference}"]


def _cells(found: GroupComparison, k: int) -> Iterator[AnyCell | str]:
    """Yield the cells of a row up to the difference."""
    if _are_several(found):
        yield shorten_name(printable(str(found.models[k])))
    yield from (Count(int(each[k])) for each in (found.n_samples, found.n_positives) if each is not None)
    yield from (Number(float(each[k])) for each in (found.reference_values, found.values))


def _written(found: GroupComparison, k: int) -> list[AnyCell | str]:
    """Return the text's cells of a difference: its value, interval and p, and what is significant."""
    low, high = found.confidence_intervals[k].tolist()
    sign = "worse" if found.is_worse[k] else "better" if found.is_better[k] else ""
    return [*map(Number, (float(found.differences[k]), low, high)), PValue(float(found.adjusted_pvalues[k])), sign]


def _difference(found: GroupComparison, k: int) -> Cell:
    """Return the cell of a difference on pages; a segment that is small has its caution below."""
    ends = Interval(*found.confidence_intervals[k].tolist())
    cell = DifferenceCell(float(found.differences[k]), ends, float(found.adjusted_pvalues[k])).on_page()
    return cell._replace(notes=(*cell.notes, *[_caution(found, k)] * found.cautions[k].endswith(MERGE)))


def _caution(found: GroupComparison, k: int) -> str:
    return str(found.cautions[k]).removesuffix(MERGE)
