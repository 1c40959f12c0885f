"""A gate that is asked every night: what a night records of a metric, and the evidence of all nights together."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

from fastevals.infer.gate.closed import READ_AT_A_PLACE
from fastevals.infer.gate.costs import CostMetric
from fastevals.infer.gate.evidence import Evidence
from fastevals.infer.sequential.records import NightRecord, NightTable
from fastevals.infer.sequential.sequence import confidence_sequence
from fastevals.measure.metric_specs import MetricSpec, metric_bounds
from fastevals.measure.registry import METRICS
from fastevals.results import NOWHERE, Interval

LARGEST_DOUBT = 0.1  # of the standard error: how far a night's value may be off if scores are counted in ranges
NEAR_ONE, ROWS_NEAR_ONE = 0.97, 500  # AUCs above the first need so many rows of the rarer class (docs/nightly.md)
ROWS_OF_TAILS = 1000  # rows from which means of losses without an upper bound were simulated to hold
WIDTH_LEVEL = 0.95  # at which a sequence's width is compared with a normal interval's


def why_not_nightly(metric: MetricSpec | CostMetric | str) -> str:
    """Return why the mean of nightly values does not estimate a metric; an empty string if it does."""
    if isinstance(metric, CostMetric):
        return "has costs that differ by row, for which confidence sequences were not simulated"
    if not isinstance(metric, MetricSpec):
        return "is a ratio of sums or a fitted number, so the mean of nightly values does not estimate it"
    entry = METRICS[metric.name]
    if place := sorted(metric.options.keys() & READ_AT_A_PLACE):
        return f"has a threshold that is chosen by {place[0]} on each night's rows: fix it with threshold="
    if metric.options.get("average", "binary") != "binary":
        return "is an average over classes, whose mean over nights is biased when a class is rare"
    loss = entry.replicate is not None and entry.replicate.of_thresholds is not None and not entry.replicate.n_bins
    if entry.trials or loss or entry.is_mean or _is_auc(metric):
        return ""
    return "is no mean over rows, so the mean of nightly values is biased"


def night_record(
    night: str,
    fingerprint: str,
    metric: MetricSpec,
    evidence: Evidence,
    share: tuple[int, int] | None,
    sizes: tuple[int, int | None, int | None],
) -> NightRecord:
    """Return what a night's rows say about a metric, or about a difference.

    Parameters
    ----------
    night, fingerprint : str
        Name of the night, and identity of its rows.
    metric : MetricSpec
    evidence : Evidence
        Value and standard error.
    share : tuple of int or None
        Successes and trials of a rate.
    sizes : tuple of int
        Rows, positive rows and negative rows; None for the classes of a metric that has none.
    """
    n, positives, negatives = sizes
    common: dict[str, Any] = {
        "n_samples": n,
        "n_positives": positives,
        "n_negatives": negatives,
        "fingerprint": fingerprint,
    }
    if share is not None:
        return NightRecord.of_rate(night, *share, **common)
    value, error = evidence.value, evidence.standard_error
    if math.isnan(value):
        return NightRecord(night, **common)
    trials, weight = _trials(metric, n, positives, negatives)
    variance = error**2
    if trials < 2:
        variance = math.nan
    elif not _is_auc(metric):
        variance *= trials / (trials - 1)  # a factor that the bootstrap variance of a mean lacks
    return NightRecord(night, value=value, variance=variance, weight=weight, **common)


def _trials(metric: MetricSpec, n: int, positives: int | None, negatives: int | None) -> tuple[int, float]:
    """Return the rows over which a metric is a mean (of the rarer class, if it has both), and the night's weight."""
    if positives is None or negatives is None:
        return n, float(n)
    of_class = {"positives": positives, "negatives": negatives}.get(METRICS[metric.name].trials)
    if of_class is not None:
        return of_class, float(of_class)
    if METRICS[metric.name].needs == ("positives", "negatives"):  # AUC, and metrics that weigh both classes alike
        return min(positives, negatives), positives * negatives / n if n else 0.0
    return n, float(n)


def nights_evidence(records: NightTable, metric: MetricSpec, factor: float | None = None) -> Evidence:
    """Return the evidence of all nights on a metric, or on a model's metric minus `factor` times another's.

    Its bounds come from `confidence_sequence`, so they hold at every look.
    """
    found = confidence_sequence(records, bounds=_bounds(metric, factor))
    method = f"confidence sequence ({found.method})"
    if found.caution:
        why = found.caution[0].lower() + found.caution[1:].rstrip(".")
        return Evidence(found.value, found.standard_error, method, lambda _: NOWHERE, why_none=why)

    @cache
    def interval(level: float) -> Interval:
        return found.bounds(level)

    low, high = interval(WIDTH_LEVEL)
    return Evidence(
        found.value, found.standard_error, method, interval,
        caution=_caution(metric, found.value, found.n_samples, found.n_positives, found.n_negatives),
        widening=_widening(high - low, found.standard_error),
    )  # fmt: skip


def _widening(width: float, error: float) -> float:
    from scipy.special import ndtri

    return max(width / (2 * float(ndtri(WIDTH_LEVEL)) * error), 1.0) if error > 0 else 1.0


def minus_fixed(one: Evidence, other: Evidence, factor: float) -> Evidence:
    """Return the evidence on an estimate of all nights minus `factor` times a fixed one, such as a receipt's.

    The error of the fixed estimate is the same at every look. So each of the two estimates gets half of the error
    probability and its own bound (Bonferroni).
    """

    def interval(level: float) -> Interval:
        half = (1 + level) / 2
        mine, its = one.interval(half), [factor * end for end in other.interval(half)]
        return Interval(mine.low - max(its), mine.high - min(its))

    fixed = abs(factor) * other.standard_error
    caution = "; ".join(dict.fromkeys(filter(None, (one.caution, other.caution))))
    return replace(
        one, value=one.value - factor * other.value, standard_error=math.hypot(one.standard_error, fixed),
        method=f"{one.method}, and {other.method} (Bonferroni)", interval=interval, caution=caution,
        why_none=one.why_none or other.why_none, fixed_error=fixed,
    )  # fmt: skip


def _bounds(metric: MetricSpec, factor: float | None) -> tuple[float, float]:
    low, high = metric_bounds(metric)
    if factor is None:
        return low, high
    its = [factor * end if factor else 0.0 for end in (low, high)]
    return low - max(its), high - min(its)


def _caution(metric: MetricSpec, value: float, n: int, positives: int | None, negatives: int | None) -> str:
    """Return why a sequence may miss the truth more often than its level says."""
    rarer = n if positives is None or negatives is None else min(positives, negatives)
    if _is_auc(metric) and abs(value) > NEAR_ONE and rarer < ROWS_NEAR_ONE:
        return (
            f"with {rarer} rows of the rarer class, bounds of an AUC near 1 were wrong in up to 6 % of simulated "
            f"years; with {ROWS_NEAR_ONE} or more they hold"
        )
    if math.isinf(metric_bounds(metric)[1]) and n < ROWS_OF_TAILS:
        return f"with fewer than {ROWS_OF_TAILS:,} rows, bounds of a loss with a long tail may be wrong more often"
    return ""


def _is_auc(metric: MetricSpec) -> bool:
    """Return whether a metric is a linear function of the AUC."""
    return METRICS[metric.name].of_pairs is not None and not metric.options
