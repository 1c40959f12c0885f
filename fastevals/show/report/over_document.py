"""The values of --by in a report's document: their means, their range, and each value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._text import (
    describe_by,
    format_label,
    format_number,
    format_tables,
    printable,
    shorten_name,
    shorten_names,
)
from fastevals.document.document import (
    AXIS,
    GAP,
    RICH,
    TEXT,
    Count,
    Figures,
    Later,
    Number,
    Part,
    Row,
    Section,
    Sentence,
    Table,
)
from fastevals.infer.calibration.calibrations import Calibration
from fastevals.many.groups import GroupedMetric
from fastevals.measure.registry import SCORE_METRICS, metric_title
from fastevals.results import Interval
from fastevals.show.output import LONGEST_VALUE
from fastevals.show.pictures import CAPTIONS
from fastevals.show.report.calibrated import RATIO, written_ratio
from fastevals.show.report.data import ReportData
from fastevals.show.report.kinds import AUC
from fastevals.show.report.notes import (
    describe_means,
    interval_heads,
    labelled_share,
    lacks_labels,
    over_cautions,
    share_text,
    undefined_over,
)
from fastevals.show.report.over_differences import (
    SEGMENTS_WRITTEN,
    differences_conclusion,
    differences_parts,
)
from fastevals.show.report.over_values import ExtremeValue, OverValues, find_extreme

WIDEST = 120  # characters of a table's line
LONGEST_CELL = 28  # characters of a --by value and the number of others equal to it
VALUES_ON_PAGE, VALUES_IN_MARKDOWN = 2000, 20  # values of --by in a table
LISTED = 10  # values with the lowest AUCs, and as many with the highest


def over_section(report: ReportData, over: OverValues) -> Section:
    """Return the overview: means over the values of --by, then each value in a table and, on pages, in pictures."""
    by = describe_by(over.by)
    captions = {"groups": CAPTIONS["groups"]._replace(title=f"{AXIS} by {by}")}
    parts_of = _means_parts if report.roles.kind == "scores" else _range_parts
    parts: list[Part] = [
        Later(lambda: [*over_verdict(report, over), *differences_parts(over)], RICH),
        *parts_of(report, over, by),
        *_calibration_written(report, over),
        Later(lambda: [_values_table(report, over)], RICH),
        Figures(lambda: _panels(over), captions),
    ]
    return Section(parts, f"Over the values of {by}", is_block=False)


def _means_parts(report: ReportData, over: OverValues, by: str) -> list[Part]:
    """Return the means over the values; the text also has the values with the lowest and the highest AUCs."""
    text = f"over {len(over.values):,} values of {by}: means {describe_means(report, over)}"
    return [
        Sentence(text, only=TEXT),
        _means_written(report, over),
        *(Sentence(note, "note", TEXT) for note in undefined_over(over)),
        *(Sentence(note, "caution") for note in over_cautions(report, over)),
        GAP,
        _ranges_written(over),
        Later(lambda: [] if over.has_blocks else _extremes_written(report, over), TEXT),
        _means_table(over),
    ]


def over_verdict(report: ReportData, over: OverValues) -> Iterator[Sentence]:
    """Yield the verdict on the means over the values, and where models are worse than the first one."""
    from fastevals.show.report.verdict import verdict_over

    if report.roles.kind == "scores":
        yield Sentence(verdict_over(report, over), "verdict")
    yield from differences_conclusion(over)


def _range_parts(report: ReportData, over: OverValues, by: str) -> Iterator[Part]:
    """Yield, for each model of predictions, the mean and the lowest and highest values."""
    title = metric_title(over.metric)
    for name, metrics in over.metrics.items():
        metric = metrics[over.metric]
        defined = np.flatnonzero(~np.isnan(metric.values))
        text = f"{title} of {printable(name)} over {len(over.values):,} values of {by}: "
        if not defined.size:
            yield Sentence(f"{text}undefined", only=TEXT)
            continue
        places = [defined[at(metric.values[defined])] for at in (np.argmin, np.argmax)]
        low, high = (f"{format_number(metric.values[k])} ({format_label(over.values[k])})" for k in places)
        yield Sentence(f"{text}mean by rows {format_number(metric.mean)}, from {low} to {high}", only=TEXT)
    yield from (Sentence(note, "caution") for note in over_cautions(report, over))


# Means ----------------------------------------------------------------------------------------------------------------


def _means_table(over: OverValues) -> Table:
    rows = []
    for name, metrics in over.metrics.items():
        auc = metrics[AUC]
        mean = Number(auc.mean, auc.mean_confidence_interval)
        rows.append(Row(name, [mean, Number(auc.macro_mean), Count(auc.n_undefined)]))
    columns = ["Model", f"mean {SCORE_METRICS[AUC].title} by weight", "plain mean", "undefined"]
    return Table("means", "Means", columns, rows, only=RICH)


def _means_written(report: ReportData, over: OverValues) -> Table:
    """Return a row for each model with its means, the best marked, and the interval of the mean AUC."""
    names = list(next(iter(over.metrics.values())))
    means = {name: [metrics[name].mean for metrics in over.metrics.values()] for name in names}
    best = {name: _best_mean(name, values) if len(values) > 1 else math.nan for name, values in means.items()}
    rows = [
        Row(
            model,
            [
                Number(each.mean, _interval_of_mean(report, name, each), "best" if each.mean == best[name] else "")
                for name, each in metrics.items()
            ],
        )
        for model, metrics in over.metrics.items()
    ]
    heads = ["mean", *(f"{metric_title(name)} " for name in names)]
    return Table("means", "Means", heads, rows, only=TEXT, ends=interval_heads(report.plan), marked=True)


def _interval_of_mean(report: ReportData, name: str, metric: GroupedMetric) -> Interval | None:
    has_one = report.plan is not None and name == AUC and not math.isnan(metric.mean)
    return metric.mean_confidence_interval if has_one else None


def _best_mean(name: str, means: list[float]) -> float:
    defined = [mean for mean in means if not math.isnan(mean)]
    return (max if SCORE_METRICS[name].greater_is_better else min)(defined, default=math.nan)


# Values ---------------------------------------------------------------------------------------------------------------


def _panels(over: OverValues) -> Any:
    from fastevals.show.report.pictures import group_panels

    return [("groups", group_panels(over))]


def _values_table(report: ReportData, over: OverValues) -> Table:
    metrics = [each[over.metric] for each in over.metrics.values()]
    counts = {"rows": metrics[0].n_samples, "positive": metrics[0].n_positives}
    known = {name: numbers for name, numbers in counts.items() if numbers is not None}
    shown = _extremes(metrics[0].values)
    labelled = [_labelled(report, over)] if lacks_labels(report) else []
    columns = [", ".join(over.by), *known, *(["labelled"] if labelled else [])]
    columns += [f"{metric_title(over.metric)} of {name}" for name in shorten_names(over.metrics)]
    of_models = _calibrated(over)
    columns += [f"{RATIO} of {name}" for name in shorten_names(of_models)]
    models = list(over.metrics)
    places = [*[-1] * (len(known) + len(labelled)), *range(len(metrics)), *map(models.index, of_models)]
    title = f"The lowest and the highest {len(shown):,} of {len(over.values):,} values; the JSON has all"
    title = "Values" if len(shown) == len(over.values) else title

    def rows() -> Iterator[Row]:
        for k in shown:
            numbers: list[Any] = [Count(int(each[k])) for each in known.values()]
            numbers += [share_text(shares[k]) for shares in labelled]
            ratios = (_ratio(report, each[k]) for each in of_models.values())
            yield Row(format_label(over.values[k]), [*numbers, *(_value(metric, k) for metric in metrics), *ratios])

    n_more = len(shown) - VALUES_IN_MARKDOWN
    more = f"... {n_more:,} more values, which the JSON has" if n_more > 0 else ""
    return Table("values", title, columns, rows, places, n_shown=VALUES_IN_MARKDOWN, more=more)


def _labelled(report: ReportData, over: OverValues) -> list[float]:
    """Return the share of rows with a label, of each value."""
    n_samples = next(iter(over.metrics.values()))[over.metric].n_samples
    return [labelled_share(report, over.by, value, int(n)) for value, n in zip(over.values, n_samples, strict=True)]


def _extremes(values: NDArray[np.float64]) -> list[int]:
    """Return the places of all values, or of the lowest and the highest if a page has no room for all."""
    if values.size <= VALUES_ON_PAGE:
        return list(range(values.size))
    order = np.argsort(values, kind="stable")
    order = order[: np.count_nonzero(~np.isnan(values))]
    return sorted({*order[: VALUES_ON_PAGE // 2].tolist(), *order[-VALUES_ON_PAGE // 2 :].tolist()})


def _value(metric: GroupedMetric, k: int) -> Number:
    intervals = metric.confidence_intervals
    return Number(float(metric.values[k]), None if intervals is None else Interval(*intervals[k].tolist()))


# Calibration ----------------------------------------------------------------------------------------------------------


def _calibrated(over: OverValues) -> dict[str, list[Calibration | None]]:
    """Return the calibration in each value, for the models that have one."""
    return {name: found for name, found in over.calibrated.items() if any(each is not None for each in found)}


def _ratio(report: ReportData, found: Calibration | None) -> Number:
    """Return predicted / observed, with its interval if intervals are wanted."""
    if found is None:
        return Number(math.nan)
    return Number(found.ratio.value, None if report.plan is None else found.ratio.confidence_interval)


def _calibration_written(report: ReportData, over: OverValues) -> Iterator[Part]:
    """Yield the text's table of predicted / observed in each value, the strongest evidence of miscalibration first."""
    of_models, planned = _calibrated(over), report.plan is not None
    if not of_models:
        return
    pvalues = [[math.nan if each is None else each.ratio.pvalue for each in found] for found in of_models.values()]
    order = np.argsort(np.fmin.reduce(np.array(pvalues)), kind="stable").tolist()  # NaN is last
    rows = (
        Row(
            format_label(over.values[k]),
            [written_ratio(found[k], with_interval=planned) for found in of_models.values()],
        )
        for k in order
    )
    n, level = len(over.values), "" if report.plan is None else f" ({100 * report.plan.confidence_level:.6g} %)"
    more = f"... {n - SEGMENTS_WRITTEN:,} more values, which the JSON has" if n > SEGMENTS_WRITTEN else ""
    columns = [describe_by(over.by), *(f"{RATIO} of {name}{level}" for name in shorten_names(of_models))]
    yield from (GAP, Table("calibrated", "Calibration", columns, rows, only=TEXT, n_shown=SEGMENTS_WRITTEN, more=more))


def _ranges_written(over: OverValues) -> Table:
    """Return a row for each model with the range of its AUCs."""
    by = f"of {shorten_name(describe_by(over.by))}"
    rows = []
    for model, metrics in zip(shorten_names(over.metrics), over.metrics.values(), strict=True):
        auc = metrics[AUC]
        cells = [format_number(auc.macro_mean), f"{auc.n_undefined:,}"]
        for extreme in (find_extreme(auc, 1), find_extreme(auc, -1)):
            cells += ["-", "-"] if extreme is None else [format_number(extreme.metric), _format_extreme(over, extreme)]
        rows.append(Row(model, cells))
    columns = [metric_title(AUC), "plain mean", "undefined", "lowest", by, "highest", by]
    return Table("ranges", "Ranges", columns, rows, only=TEXT)


def _format_extreme(over: OverValues, extreme: ExtremeValue) -> str:
    more = f" and {extreme.n_values - 1:,} more" if extreme.n_values > 1 else ""
    return shorten_name(format_label(over.values[extreme.place]), LONGEST_CELL - len(more)) + more


def _extremes_written(report: ReportData, over: OverValues) -> Iterator[Part]:
    """Yield tables of the values with the lowest and the highest AUCs of the first model."""
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
    if lacks_labels(report):
        shares = _labelled(report, over)
        columns.append(("labelled", lambda k: share_text(shares[k])))
    if report.roles.weights["sample_weight"] is not None:
        columns.append(("weight", lambda k: f"{weights[k]:.6g}"))
    columns.append((f"{metric_title(AUC)} of {names[0]}", partial(_written_value, auc.values)))
    intervals = auc.confidence_intervals
    if report.plan is not None and intervals is not None:
        low_head, high_head = map(str.strip, interval_heads(report.plan)[:2])
        columns += [(low_head, partial(_written_value, intervals[:, 0]))]
        columns += [(high_head, partial(_written_value, intervals[:, 1]))]
    columns += [
        (f"{metric_title(AUC)} of {name}", partial(_written_value, other.values))
        for name, other in zip(names[1:], others, strict=True)
    ]
    by = shorten_name(describe_by(over.by))
    ends = [(f"{by}, {extreme}", places) for extreme, places in (("lowest", low), ("highest", high)) if places]
    tables: list[list[list[str]]] = []
    for n in range(len(columns), len(columns) - len(others) - 1, -1):  # as many models as there is room for
        heads = [head for head, _ in columns[:n]]
        tables = [
            [[name, *heads], *([label_at[k], *(cell(k) for _, cell in columns[:n])] for k in places)]
            for name, places in ends
        ]
        if max((len(line) for lines in format_tables(tables) for line in lines), default=0) <= WIDEST:
            break
    for heads, *rows in tables:
        lines = [Row(name, cells) for name, *cells in rows]
        yield from (GAP, Table("extremes", "Extremes", heads, lines, aligned="extremes"))


def _written_value(values: NDArray[np.float64], k: int) -> str:
    return format_number(values[k])


def _extreme_places(auc: GroupedMetric) -> tuple[list[int], list[int]]:
    """Return the places of the lowest and the highest AUCs, without overlap; if AUCs are equal, most rows first."""
    n = len(auc) - auc.n_undefined
    low = np.lexsort((-auc.weights, auc.values))[: min(n, LISTED)].tolist()  # NaN is last
    high = np.lexsort((-auc.weights, -auc.values))[:n].tolist()
    return low, [k for k in high[: 2 * LISTED] if k not in low][: max(min(n - LISTED, LISTED), 0)]
