"""Coordinates of curves as functions of true and false positives, at thresholds and between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastevals.counts import Cells, ThresholdCounts
from fastevals.measure.curves.rates import first_precision
from fastevals.measure.curves.registry import CurveEntry
from fastevals.measure.registry import METRICS

Number = Callable[[Any, Any], Any]  # a function of true and false positives


class Part(NamedTuple):
    """A share that increases along a curve, as numerator and denominator."""

    counted: Number
    total: Callable[[ThresholdCounts], Any]


PARTS = {
    "false_positive_rate": Part(lambda tp, fp: fp, lambda counts: counts.n_neg),
    "recall": Part(lambda tp, fp: tp, lambda counts: counts.n_pos),
    "share": Part(lambda tp, fp: tp + fp, lambda counts: counts.n_pos + counts.n_neg),
}
OF_CELLS = {name for name, metric in METRICS.items() if metric.of == "cells" and not metric.options}


def is_of_counts(entry: CurveEntry) -> bool:
    """Return whether the numbers along both axes are functions of counts, from which the curve can be drawn."""
    return {entry.x.number, entry.y.number} <= {*PARTS, *OF_CELLS, "lift", "risk"}


def number_of(name: str, counts: ThresholdCounts) -> Number:
    """Return the function that computes the named coordinate from true and false positives, given the counts."""
    if name in PARTS:
        counted, total = PARTS[name].counted, PARTS[name].total(counts)
        return lambda tp, fp: counted(tp, fp) / total
    if name == "false_negative_rate":
        return lambda tp, fp: 1 - tp / counts.n_pos
    if name not in ("precision", "lift", "risk"):
        metric, n_pos, n_neg = METRICS[name], counts.n_pos, counts.n_neg
        return lambda tp, fp: metric(Cells(tp, fp, n_pos - tp, n_neg - fp))
    first = first_precision(counts)  # the precision where no row is predicted positive

    def precision(tp: Any, fp: Any) -> Any:
        predicted = tp + fp
        return np.divide(tp, predicted, out=np.full(tp.shape, first), where=predicted > 0)

    if name == "risk":
        return lambda tp, fp: np.divide(fp, tp + fp, out=np.full(tp.shape, 1 - first), where=tp + fp > 0)
    scale = 1 / (counts.n_pos / (counts.n_pos + counts.n_neg))
    return precision if name == "precision" else lambda tp, fp: scale * precision(tp, fp)
