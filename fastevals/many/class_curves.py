"""Macro curves of several classes: the mean of the classes' curves at each value of a rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastevals.counts import ThresholdCounts
from fastevals.many.folds import AveragedCounts, mean_at_each_fpr, mean_line, without_thresholds
from fastevals.measure.cells import ratio
from fastevals.measure.curves.gain import GainCurve
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.ranking.ranking import Ranking


def mean_at_each_share(rankings: Sequence[Ranking]) -> AveragedCounts:
    """Average the gain at each share of rows, in counts with one positive row in total."""
    share, gain = mean_line([GainCurve(each.counts)._linear_points() for each in rankings])
    # Any number of rows would do. With the mean of the classes' numbers, no count is negative.
    n_rows = float(np.mean([1 + each.counts.n_neg / each.counts.n_pos for each in rankings]))
    return without_thresholds(gain, np.maximum(share * n_rows - gain, 0.0))


def mean_at_each_recall(rankings: Sequence[Ranking]) -> AveragedCounts:
    """Average the precision at each recall of any class, in counts with one positive row in total.

    At recalls in between, these counts are linear, so precision differs slightly from the mean.
    """
    lines = [PrecisionRecallCurve(each.counts)._linear_points() for each in rankings]
    recall, precision = mean_line(lines, lambda recall, y: ratio(recall, recall - y))
    positive = recall > 0  # at 0 precision is 1 by convention
    recall, precision = recall[positive], precision[positive]
    return without_thresholds(np.append(0.0, recall), np.append(0.0, recall * (1 / precision - 1)))


MACROS: dict[str, Callable[[Sequence[Any]], ThresholdCounts]] = {  # by their names in the entries of curves
    "fpr": mean_at_each_fpr,
    "share": mean_at_each_share,
    "recall": mean_at_each_recall,
}
