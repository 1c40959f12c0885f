"""The section of a report over the values of the --by column, as text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fastevals.measure.many.groups import GroupedMetric
from fastevals.measure.registry import METRICS
from fastevals.show.report.interval_tables import end_labels
from fastevals.show.report.intervals import AUC
from fastevals.show.report.parts import Report
from fastevals.show.report.values import Extreme, OverValues, extreme
from fastevals.show.words import WIDTH, aligned, digits, label, printable, short_names, title, without_middle

__all__ = ["over_cautions", "over_lines"]

Table = list[list[str]]

WIDEST = 120  # characters of a table's line
LONGEST = 24  # of a name beside numbers
LONGEST_CELL = 28  # of a --by value and how many more are like it
LONGEST_VALUE = 40  # of a --by value at the start of a row
LISTED = 10  # values with the lowest, and with the highest AUC


def over_lines(report: Report) -> list[str]:
    """Give the section's lines, an empty one first; none where there are less than two values."""
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
    (means,), (ranges,) = aligned([_mean_rows(report, over)]), aligned([_range_rows(report, over)])
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
    """Give a row a model with its means, the best marked, and the ends of the interval of that of AUC."""
    names = list(next(iter(over.metrics.values())))
    means = {name: [found[name].mean for found in over.metrics.values()] for name in names}
    best = {name: _best(name, values) if len(values) > 1 else math.nan for name, values in means.items()}
    rows = [["mean", *(f"{title(name)} " for name in names)]]
    for model, found in over.metrics.items():
        cells = [digits(found[name].mean) + ("*" if found[name].mean == best[name] else " ") for name in names]
        rows.append([printable(model), *cells])
        interval = found[AUC].mean_confidence_interval
        if report.plan is not None and interval is not None and not math.isnan(found[AUC].mean):
            for said, end in zip(end_labels(report.plan.confidence), interval, strict=True):
                rows.append([said, *(f"{digits(end)} " if name == AUC else "" for name in names)])
    return rows


def _best(name: str, means: list[float]) -> float:
    defined = [mean for mean in means if not math.isnan(mean)]
    return (max if METRICS[name].greater_is_better else min)(defined, default=math.nan)


def _range_rows(report: Report, over: OverValues) -> Table:
    """Give a row a model with how far its AUCs are apart."""
    by = f"of {without_middle(printable(str(report.roles.by)), LONGEST)}"
    rows = [[title(AUC), "plain mean", "undefined", "lowest", by, "highest", by]]
    for shown, found in zip(short_names(over.metrics, LONGEST), over.metrics.values(), strict=True):
        auc = found[AUC]
        row = [shown, digits(auc.macro_mean), f"{auc.n_undefined:,}"]
        for end in (extreme(auc, 1), extreme(auc, -1)):
            row += ["-", "-"] if end is None else [digits(end.metric), _who(over, end)]
        rows.append(row)
    return rows


def _who(over: OverValues, end: Extreme) -> str:
    more = f" and {end.n_values - 1:,} more" if end.n_values > 1 else ""
    return without_middle(label(over.values[end.place]), LONGEST_CELL - len(more)) + more


# Many values ------------------------------------------------------------------------------------------------------


def _listed(report: Report, over: OverValues) -> list[list[str]]:
    """Give the lines of tables of the lowest and the highest AUCs of the first model, beside those of the others."""
    auc, *others = (found[AUC] for found in over.metrics.values())
    low, high = _ends(auc)
    listed = [*low, *high]
    shown = dict(zip(listed, short_names([label(over.values[k]) for k in listed], LONGEST_VALUE), strict=True))
    names = short_names(over.metrics, LONGEST)
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
        low_end, high_end = map(str.strip, end_labels(report.plan.confidence))
        columns += [(low_end, partial(_cell, ends[:, 0])), (high_end, partial(_cell, ends[:, 1]))]
    columns += [
        (f"{title(AUC)} of {name}", partial(_cell, other.values)) for name, other in zip(names[1:], others, strict=True)
    ]
    by = without_middle(printable(str(report.roles.by)), LONGEST)
    lines: list[list[str]] = []
    for n in range(len(columns), len(columns) - len(others) - 1, -1):  # as many of them as there is room for
        lines = aligned([
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
    return digits(values[k])


def _ends(auc: GroupedMetric) -> tuple[list[int], list[int]]:
    """Give the places of the lowest AUCs and of the highest, no value twice; of equal ones those with most rows."""
    n = len(auc) - auc.n_undefined
    low = np.lexsort((-auc.weights, auc.values))[: min(n, LISTED)].tolist()  # NaN is last
    high = np.lexsort((-auc.weights, -auc.values))[:n].tolist()
    return low, [k for k in high[: 2 * LISTED] if k not in low][: max(min(n - LISTED, LISTED), 0)]


# Notes ------------------------------------------------------------------------------------------------------------


def _undefined(over: OverValues) -> list[str]:
    """Say how many values have no metric, for the model with most."""
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
    """Say why means have no intervals, or what is to be thought of those they have."""
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
