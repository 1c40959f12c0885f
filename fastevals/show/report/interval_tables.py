"""Intervals and differences as words and rows of a report's tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

from fastevals.measure.results import Interval
from fastevals.show.report.intervals import BCA, DELONG, RANKING_COLUMNS, Difference
from fastevals.show.report.parts import Block, Model, Report
from fastevals.show.words import digits, place, printable, probability, title

__all__ = ["cautions", "compared_columns", "difference_rows", "end_labels", "end_rows", "how_made"]

ROUGH = 30  # rows of a class, or groups, below which intervals are


def how_made(report: Report) -> str:
    """Say how intervals were made, by all methods that a block has; nothing where there are none."""
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
        words += " (--resamples N: a bootstrap of all)"
        said.append(words + (f"{of_differences} (Bonferroni)" if len(roles.scores) > 1 else ""))
    return ". ".join(said)


# Rows -------------------------------------------------------------------------------------------------------------


def end_rows(report: Report, block: Block, model: Model, columns: Sequence[str]) -> list[list[str]]:
    """Give two rows with the ends of a model's intervals, or none; the bar stays in its column."""
    found = {} if block.intervals is None else block.intervals.models.get(model.name, {})
    if report.plan is None or not any(name in found for name in columns):
        return []
    rows = []
    for end, said in enumerate(end_labels(report.plan.confidence)):
        cells = [f"{digits(found[name][end])} " if name in found else _aside(name) for name in columns]
        rows.append([said, *cells])
    return rows


def end_labels(confidence: float) -> tuple[str, str]:
    """Give what stands before the ends of intervals."""
    low = f" {100 * confidence:.6g} % from"
    return low, "to".rjust(len(low))


def _aside(column: str) -> str:
    """Give the cell of a column without numbers: the bar, or nothing."""
    return column if column == "|" else ""


def compared_columns(report: Report, columns: Collection[str]) -> list[str]:
    """Give the columns of tables of differences: those of rankings, a bar, and these of a threshold, if there are."""
    intervals = [block.intervals for block in report.blocks if block.intervals is not None]
    there = {name for each in intervals for pair in each.differences for name in pair.metrics}
    left, right = ([name for name in names if name in there] for names in (RANKING_COLUMNS, columns))
    return [*left, "|", *right] if right else left


def difference_rows(report: Report, block: Block, columns: Sequence[str]) -> list[list[str]]:
    """Give the rows of the table of differences, the heading first; or none."""
    if report.plan is None or block.intervals is None or not block.intervals.differences:
        return []
    low, high = end_labels(report.plan.confidence)
    shown: list[tuple[str, Callable[[Difference], str]]] = [
        ("", lambda each: digits(each.value)),
        (low, lambda each: digits(each.interval.low)),
        (high, lambda each: digits(each.interval.high)),
        ("p".rjust(len(low)), lambda each: probability(each.pvalue)),
    ]
    rows = [["difference", *(_aside(name) or title(name) for name in columns)]]
    for model, reference, found in block.intervals.differences:
        for said, written in shown:
            cells = [written(found[name]) if name in found else _aside(name) for name in columns]
            rows.append([said or f"{printable(model)} - {printable(reference)}", *cells])
    return rows


# Notes ------------------------------------------------------------------------------------------------------------


def cautions(report: Report, block: Block) -> list[str]:
    """Say why a block has no intervals, or what is to be thought of those it has."""
    made = block.intervals
    if report.plan is None or made is None:
        return []
    where = place(report.roles.by, block.value)
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


def _named(block: Block, held: Collection[tuple[str, str]]) -> str:
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
