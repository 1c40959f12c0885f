"""Rates along a curve: each function writes the rate at some rows of threshold counts; 0 / 0 gives NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels import rates as kernels
from fastevals.counts import ThresholdCounts
from fastevals.measure.cells import ratio

Out = NDArray[np.float64]


def false_positive_rate(counts: ThresholdCounts, rows: slice, out: Out) -> None:
    """Share of negatives that are predicted positive."""
    kernels.divide(counts.fps[rows], counts.n_neg, out)


def recall(counts: ThresholdCounts, rows: slice, out: Out) -> None:
    """Share of positives that are predicted positive."""
    kernels.divide(counts.tps[rows], counts.n_pos, out)


def false_negative_rate(counts: ThresholdCounts, rows: slice, out: Out) -> None:
    """Share of positives that are predicted negative."""
    kernels.divide_rest(counts.tps[rows], counts.n_pos, out)


def precision(counts: ThresholdCounts, rows: slice, out: Out) -> None:
    """Share of predicted positives that are positive; 1 by convention if no row is predicted positive."""
    kernels.precision(counts.tps[rows], counts.fps[rows], 1.0, out)


def share(counts: ThresholdCounts, rows: slice, out: Out) -> None:
    """Share of rows that are predicted positive."""
    kernels.divide_sum(counts.tps[rows], counts.fps[rows], counts.n_pos + counts.n_neg, out)


def lift(counts: ThresholdCounts, rows: slice, out: Out) -> None:
    """Precision divided by the share of positives; if no row is predicted positive, the lift at the next threshold."""
    kernels.precision(counts.tps[rows], counts.fps[rows], first_precision(counts), out)
    out[:] = ratio(out, ratio(counts.n_pos, counts.n_pos + counts.n_neg))


def risk(counts: ThresholdCounts, rows: slice, out: Out) -> None:
    """Share of negatives among predicted positives; if there are none, the share at the next threshold."""
    kernels.precision(counts.fps[rows], counts.tps[rows], 1 - first_precision(counts), out)


def first_lift(counts: ThresholdCounts) -> Any:
    """Return the lift at the highest score."""
    return ratio(first_precision(counts), ratio(counts.n_pos, counts.n_pos + counts.n_neg))


def first_precision(counts: ThresholdCounts) -> float:
    """Return the precision at the highest score; NaN without scores."""
    return float(ratio(counts.tps[1], counts.tps[1] + counts.fps[1])) if counts.thresholds.size > 1 else math.nan
