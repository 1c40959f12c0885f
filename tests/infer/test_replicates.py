"""Metrics of a replicate are those of its rows, ranked anew."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import Ranking, ThresholdCounts
from fastevals._kernels import replicates
from fastevals.infer.bootstrap.steps import Steps
from fastevals.measure import cells, ranking_metrics
from fastevals.measure.registry import METRICS
from tests.strategies import BOUNDED, cases

TWINS = {
    "roc_auc": ranking_metrics.roc_auc,
    "ks_statistic": ranking_metrics.ks_statistic,
    "equal_error_rate": ranking_metrics.equal_error_rate,
    "break_even_point": ranking_metrics.break_even_point,
    "largest_f": lambda counts: np.fmax.reduce(cells.f_score(counts.cells())) if counts.n_pos else math.nan,
    "average_precision": ranking_metrics.average_precision,
    "cost_area": METRICS["cost_area"],
}
TELLS_POSITIVES_APART = {"average_precision"}


def rows_of(y: np.ndarray, s: np.ndarray, multiplicities: np.ndarray) -> ThresholdCounts:
    """Rank the rows of a replicate anew."""
    return Ranking(np.repeat(y, multiplicities), np.repeat(s, multiplicities), pos_label=1).counts


def counts_of(steps: Steps, whole: ThresholdCounts, y: np.ndarray, s: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Count the rows of a replicate by the cells of the steps, which hold rows of each class in order."""
    found = np.zeros(steps.sizes.size, dtype=np.int64)
    for positive in (0, 1):
        rows = np.flatnonzero(y == positive)
        rows = rows[np.argsort(-s[rows], kind="stable")]
        stops = np.cumsum(steps.sizes[1 - positive :: 2])
        found[1 - positive :: 2] = np.diff(np.concatenate(([0], np.cumsum(times[rows])))[np.concatenate(([0], stops))])
    assert found.sum() == times.sum()
    return found


@pytest.mark.parametrize("merge", [False, True])
@BOUNDED
@given(cases(both_classes=False), st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_a_replicate_is_ranked_without_sorting(merge, case, times):
    y, s, _ = case
    times = np.array(times[: y.size])
    if not times.any():
        times[0] = 1
    whole = Ranking(y, s, pos_label=1).counts
    steps = Steps.of(whole, merge_positives=merge)
    assert steps.sizes.sum() == y.size
    counts = counts_of(steps, whole, y, s, times)
    again = rows_of(y, s, times)
    n_pos, n_neg = replicates.totals(counts)
    assert (n_pos, n_neg) == (again.n_pos, again.n_neg)
    for name, twin in TWINS.items():
        if merge and name in TELLS_POSITIVES_APART:
            continue
        options = {"largest_f": (1.0,), "cost_area": np.empty((2, steps.tied.size + 2), dtype=np.int64)}.get(name, ())
        found = getattr(replicates, name)(counts, steps.tied, n_pos, n_neg, *options)
        assert found == pytest.approx(float(twin(again)), rel=1e-13, abs=1e-15, nan_ok=True), name


def test_steps_are_few():
    rng = np.random.default_rng(0)
    y = np.arange(10_000) % 10 == 0
    counts = Ranking(y, rng.normal(size=y.size)).counts
    assert Steps.of(counts, merge_positives=False).tied.size <= 1001
    assert Steps.of(counts, merge_positives=True).tied.size <= 950
    tied = Steps.of(Ranking(y, np.ones(y.size)).counts, merge_positives=True)
    assert (tied.sizes.tolist(), tied.tied.tolist()) == ([1000, 9000], [True])
