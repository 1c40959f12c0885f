"""Leave-one-out values of ranking metrics in closed form: one pass over the steps instead of a sweep per row.

All values are exact. There are five forms (`FORMS`), depending on what a row contributes: pairs (AUC), means over rows
(Brier score, log loss), sums over steps (average precision, areas under P-R curves, the partial AUC), a value at one
place of the curve (EER, break-even point), and cells at a threshold that is fixed or chosen by a rule with a kernel.
Maxima (KS, the calibration error, the area under the curve of lowest costs, a metric at its own best threshold) need no
form, because their intervals have no acceleration.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels import jackknife
from fastevals._kernels.steps import totals
from fastevals.counts import Cells, ThresholdCounts
from fastevals.infer.bootstrap.samples import Jackknife
from fastevals.infer.bootstrap.steps import Steps
from fastevals.measure.metric_specs import RankingMetric
from fastevals.measure.registry import ReplicateKernel

Form = Callable[[RankingMetric, Steps], tuple[Any, Any]]  # values and their rows, for both classes


def leave_each_out(
    metric: RankingMetric, steps: Steps, counts: ThresholdCounts, *, stratified: bool
) -> Jackknife | None:
    """Return a metric's values without one unweighted row of each kind in turn; None if there is no closed form."""
    sweep = metric.sweep
    if metric.of_cells and metric.threshold is None and min(counts.n_pos, counts.n_neg) < 2:
        return None  # rules differ if a class is missing
    with np.errstate(divide="ignore", invalid="ignore"):  # the only row of a class, or an infinite loss
        if metric.threshold is not None:
            values, rows = _at_fixed_threshold(metric, counts)
        elif sweep and sweep.of_thresholds and not sweep.n_bins:
            values, rows = _of_mean(sweep, counts)
        elif sweep and sweep.kernel in FORMS:
            values, rows = FORMS[sweep.kernel](metric, steps)
            values = [sweep.then(each) for each in values] if sweep.then else values
        else:
            return None
    n, both = len(values[0]), len(values[0]) + len(values[1])
    strata = [slice(0, n), slice(n, both)] if stratified else [slice(0, both)]
    return Jackknife(np.concatenate(values), np.concatenate(rows), strata)


def _at_fixed_threshold(metric: RankingMetric, counts: ThresholdCounts) -> tuple[Any, Any]:
    assert metric.of_cells is not None
    at = np.array(counts.cells(counts.rows_at_least(metric.threshold)))
    values = np.asarray(metric.of_cells(Cells(*(at[:, None] - np.diag((at > 0).astype(np.int64))))))
    order = np.array([[0, 2], [1, 3]])  # cells of positives first: tp, fn, fp, tn
    return values[order], at[order]


def _of_pairs(metric: RankingMetric, steps: Steps) -> tuple[Any, Any]:
    """Return AUCs; leaving out a row removes the pairs that contain it."""
    positives, negatives = steps.sizes
    (n_pos, n_neg), tied = totals(positives, negatives), steps.tied
    lost = 2 * np.cumsum(steps.sizes[::-1], axis=1, dtype=np.float64)  # twice the pairs that contain a row
    lost[0] -= negatives * (2.0 - tied)
    lost[1] = 2 * n_pos - lost[1] + positives * tied
    pairs = np.array([[2.0 * (n_pos - 1) * n_neg], [2.0 * n_pos * (n_neg - 1)]])
    return 1 - ((positives * lost[0]).sum() - lost) / pairs, steps.sizes


def _of_area(form: int, metric: RankingMetric, steps: Steps) -> tuple[Any, Any]:
    values = np.empty(steps.sizes.shape)
    limits = metric.parameters[:2] or (1.0, 0.0)
    jackknife.area(*steps.sizes, steps.tied, *totals(*steps.sizes), form, *limits, values)
    return values, steps.sizes


def _of_mean(sweep: ReplicateKernel, counts: ThresholdCounts) -> tuple[Any, Any]:
    assert sweep.of_thresholds is not None
    losses = np.stack(sweep.of_thresholds(counts.thresholds[1:].astype(np.float64)))
    sizes = [np.diff(counts.tps), np.diff(counts.fps)]
    total = sum(np.sum(each[rows > 0] * rows[rows > 0]) for each, rows in zip(losses, sizes, strict=True))
    return (total - losses) / (counts.n_pos + counts.n_neg - 1), sizes


# Read at one place ------------------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """The point of a curve where ``up * tp + right * fp`` reaches `goal`, and a function to read the metric there."""

    up: int
    right: int
    goal: int
    read: Callable[[float, float], float]

    def step(self, tps: NDArray[np.int64], fps: NDArray[np.int64], more: int = 0) -> int:
        """Return the step at which the goal, plus `more`, is reached; counts start at 0 before the first step."""
        goal = self.goal + more
        return bisect_left(range(1, tps.size), goal, key=lambda i: self.up * int(tps[i]) + self.right * int(fps[i]))

    def value(self, tp: int, fp: int, size: NDArray[Any], tied: bool) -> float:
        """Return the metric within the step of this size that follows (tp, fp); counts are linear between corners."""
        up, down = size.tolist()
        corners = [(tp, fp), (tp + up, fp), (tp + up, fp + down)]
        for (x, y), (new_x, new_y) in pairwise(corners[::2] if tied else corners):
            before, after = self.up * x + self.right * y, self.up * new_x + self.right * new_y
            if after >= self.goal > before:
                share = (self.goal - before) / (after - before)
                return self.read(x + share * (new_x - x), y + share * (new_y - y))
        return math.nan


def _break_even(n_pos: int, n_neg: int) -> _Place:
    return _Place(1, 1, n_pos, lambda tp, fp: tp / n_pos if tp > 0 else math.nan)


def _equal_errors(n_pos: int, n_neg: int) -> _Place:
    return _Place(n_neg, n_pos, n_pos * n_neg, lambda tp, fp: fp / n_neg)


def _at_place(place_of: Callable[[int, int], _Place], metric: RankingMetric, steps: Steps) -> tuple[Any, Any]:
    """Return the metric with one row left out: a row before, in or after the step where the metric is read.

    The step is the one where the metric is read without that row. Leaving out a row after the step does not change the
    step's counts. Leaving out any row before the step shifts these counts by the same amount.
    """
    tps, fps = (np.concatenate(([0], np.cumsum(each, dtype=np.int64))) for each in steps.sizes)
    values, rows = np.full((2, 3), math.nan), np.zeros((2, 3), dtype=np.int64)
    for of, cumulative in enumerate((tps, fps)):
        lost = np.array([1 - of, of])
        place = place_of(int(tps[-1] - lost[0]), int(fps[-1] - lost[1]))
        rows[of, 0] = cumulative[-1]
        if not cumulative[-1] or place.goal < 1:  # a class is missing
            continue
        step, later = place.step(tps, fps), place.step(tps, fps, place.right if of else place.up)

        def value(step: int, lost_before: Any, lost_within: Any, place: _Place = place) -> float:
            tp, fp = (np.array([tps[step], fps[step]]) - lost_before).tolist()
            return place.value(tp, fp, steps.sizes[:, step] - lost_within, bool(steps.tied[step]))

        values[of, 0] = value(later, lost, 0)
        values[of, 1] = value(step, 0, lost) if step == later else values[of, 0]
        values[of, 2] = value(step, 0, 0)
        rows[of] = np.diff(cumulative[[0, step, step + 1, -1]])
    return values, rows


# At a threshold chosen on the rows ------------------------------------------------------------------------


def _of_chosen(rule: int, metric: RankingMetric, steps: Steps) -> tuple[Any, Any]:
    assert metric.of_cells is not None
    n_pos, n_neg = totals(*steps.sizes)
    first, second, of_rates = (*metric.parameters, 0.0, False)[:3]
    room = np.empty((3, steps.tied.size), dtype=np.int64)
    # A quota may end after any negative of a threshold, so each is a step; all other rules end before the negatives.
    tied = np.ones_like(steps.tied) if rule == jackknife.WITHIN_N_PREDICTED else steps.tied
    all_values, all_rows = [], []
    for of in (0, 1):
        n = jackknife.chosen_thresholds(*steps.sizes, tied, n_pos, n_neg, of, rule, first, second, of_rates, room)
        tp, fp, rows = room[:, :n].copy()
        allowed = tp >= 0
        tp, fp = tp * allowed, fp * allowed
        values = metric.of_cells(Cells(tp, fp, n_pos - (1 - of) - tp, n_neg - of - fp))
        all_values.append(np.where(allowed, values, np.nan))
        all_rows.append(rows)
    return all_values, all_rows


# The form of each metric, by the kernel that computes its replicates.
FORMS: dict[str, Form] = {
    "roc_auc": _of_pairs,
    "partial_roc_auc": partial(_of_area, jackknife.PARTIAL),
    "average_precision": partial(_of_area, jackknife.STEPWISE),
    "pr_auc": partial(_of_area, jackknife.DAVIS_GOADRICH),
    "pr_auc_linear": partial(_of_area, jackknife.LINEAR),
    "equal_error_rate": partial(_at_place, _equal_errors),
    "break_even_point": partial(_at_place, _break_even),
    "best_f": partial(_of_chosen, jackknife.BEST_F),
    "best_difference": partial(_of_chosen, jackknife.BEST_DIFFERENCE),
    "with_recall": partial(_of_chosen, jackknife.WITH_RECALL),
    "with_precision": partial(_of_chosen, jackknife.WITH_PRECISION),
    "within_fpr": partial(_of_chosen, jackknife.WITHIN_FPR),
    "with_tpr": partial(_of_chosen, jackknife.WITH_TPR),
    "within_n_predicted": partial(_of_chosen, jackknife.WITHIN_N_PREDICTED),
}
