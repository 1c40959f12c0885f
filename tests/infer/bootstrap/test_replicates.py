"""Metrics of a replicate equal the metrics of its rows, ranked again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import Ranking, ThresholdCounts
from fastevals.infer.bootstrap.ranking_samples import RankingSweep
from fastevals.infer.bootstrap.steps import SortedRows, Steps
from fastevals.measure.metric_specs import MetricSpec, metric, ranking_metric
from fastevals.measure.probability_metrics import are_probabilities
from fastevals.measure.registry import METRICS, SCORE_METRICS, Detail
from tests.strategies import BOUNDED, FEWER, Case, cases

WHOLE = [MetricSpec(name, {}) for name, entry in SCORE_METRICS.items() if entry.of != "cells"]
PARTIAL = [
    metric("roc_auc", max_fpr=0.3),
    metric("roc_auc", max_fpr=0.5, standardize=False),
    metric("roc_auc", min_tpr=0.4),
    metric("roc_auc", max_fpr=0.75, min_tpr=0.25),
]
OF_ANSWERS = [
    *(metric("risk_at_coverage", coverage=share) for share in (0.1, 0.5, 0.75, 1.0)),
    *(metric("coverage_at_risk", risk=share) for share in (0.0, 0.25, 0.5, 1.0)),
]
CHOSEN = [
    metric("f1", best="f1"),
    metric("f_score", beta=0.5, best="f_score"),
    metric("matthews", best="matthews"),
    metric("informedness", best="informedness"),
    metric("error_rate", best="error_rate"),
    metric("expected_cost", best="expected_cost", cost_fn=2.0),
    metric("expected_cost", best="expected_cost", cost_fp=3.0, prior=0.25),
    metric("jaccard", best="cohen_kappa"),
    *(metric("precision", recall=limit) for limit in (0.0, 0.5, 0.7, 1.0)),
    *(metric("recall", precision=limit) for limit in (0.0, 0.5, 0.7, 1.0)),
    *(metric("recall", fpr=limit) for limit in (0.0, 0.5, 0.3, 1.0)),
    *(metric("false_positive_rate", tpr=limit) for limit in (0.0, 0.5, 0.7, 1.0)),
    metric("recall", n_predicted=3),
    *(metric("accuracy", **{where: 0.5}) for where in ("recall", "precision", "fpr", "tpr")),
    metric("accuracy", n_predicted=4),
]
# At another metric's best threshold. Without positives F is 0 at every threshold.
BY_ANOTHER = [
    metric("precision", best="f1"),
    metric("accuracy", best="f_score", beta=3.0),
    metric("recall", best="balanced_accuracy"),
    metric("matthews", best="expected_cost", cost_fn=2.0),
]
FIXED = [metric(name, threshold=at) for name in ("recall", "matthews", "f1") for at in (0.25, -1.0, 0.95, 1e300)]
# Few rows are counted in the narrow type. The wide type is for 2**31 rows, and is compiled separately.
every_width = pytest.mark.parametrize("dtype", [np.uint16, pytest.param(np.int64, marks=pytest.mark.slow)])
CASES = (cases(both_classes=False), st.lists(st.integers(0, 3), min_size=12, max_size=12))


def drawn(steps: Steps, whole: ThresholdCounts, y: np.ndarray, s: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum a replicate's rows by the cells of the steps; each row is in its threshold's step."""
    found = np.zeros(steps.sizes.shape, dtype=weights.dtype)
    for label, score, weight in zip(y, s, weights, strict=True):
        row = int(np.flatnonzero(whole.thresholds == score)[0])
        found[1 - label, steps.step_by_row[row]] += weight
    return found


def assert_replicate(
    asked: list[MetricSpec], case, times: np.ndarray, weights: np.ndarray | None = None, *, by_row: bool = False
) -> None:
    """Compare metrics swept over steps with metrics of the rows, counted or weighted as they were drawn."""
    y, s, _ = case
    metrics = [ranking_metric(each) for each in asked]
    whole = Ranking(y, s, pos_label=1, sample_weight=weights).counts
    order = np.lexsort((-s, y != 1))
    sorted_rows = SortedRows(s[order], y[order] != 1, None if weights is None else weights[order])
    sweeps = RankingSweep(whole, metrics, rows=True, drawn=sorted_rows if by_row else None)
    counts = drawn(sweeps.steps, whole, y, s, times if weights is None else times * weights)
    raw, scratch = np.empty((1, sweeps.n_raw)), sweeps.workspace(sums=counts.dtype.kind == "f")
    times_by_row = times[order].astype(np.uint8)
    sweeps.sweep(counts, scratch, raw[0], times_by_row if by_row else None)
    if by_row:
        sweeps.sum_rows(times_by_row[None], raw)
    rows = np.repeat(np.arange(y.size), times)
    again = Ranking(y[rows], s[rows], pos_label=1, sample_weight=None if weights is None else weights[rows]).counts
    for each, single, value in zip(asked, metrics, sweeps.values(raw), strict=True):
        expected = pytest.approx(single.of_counts(again), rel=1e-12, abs=1e-14, nan_ok=True)
        entry = METRICS[each.name]
        if entry.of == "probabilities" and not are_probabilities(whole):
            if entry.replicate is None:
                continue  # the function sees only the rows that are drawn, and its value without draws is NaN anyway
            expected = pytest.approx(np.nan, nan_ok=True)
        assert value[0] == expected, each


@pytest.mark.cases(6)
@pytest.mark.parametrize(
    "asked",
    [
        ["roc_auc"],
        WHOLE,
        PARTIAL,
        OF_ANSWERS,
        CHOSEN,
        FIXED,
        [*PARTIAL, *FIXED],
        [*FIXED, MetricSpec("average_precision", {})],
    ],
    ids=["polyline", "whole", "partial", "of answers", "chosen", "fixed", "partial and fixed", "positives and fixed"],
)
@every_width
@BOUNDED
@given(*CASES)
def test_a_replicate_is_ranked_without_sorting(asked, dtype, case, times):
    times = np.array(times[: case.y_true.size], dtype=dtype)
    times[0] = times[0] or not times.any()
    asked = [each if isinstance(each, MetricSpec) else MetricSpec(each, {}) for each in asked]
    assert_replicate(asked, case, times)


@pytest.mark.cases(5)
@pytest.mark.parametrize("digits", [1, 2, 6])
@pytest.mark.parametrize("n", [64, 65, 128, 700])
def test_a_replicate_of_many_steps(n, digits):
    """The sweep first checks blocks of 64 steps; hulls have vertices inside and at the ends of any block."""
    rng = np.random.default_rng([n, digits])
    for flip in (1, -1):
        for shift in (0.0, 0.7, 3.0):
            y = rng.permutation(np.arange(n) < n // 2)
            s = np.round(rng.normal(size=n) + shift * flip * y, digits)
            times = rng.integers(0, 4, n).astype(np.uint16)
            assert_replicate([*WHOLE, *CHOSEN], Case(y.astype(int), s), times)


OF_ALL_KINDS = ("accuracy", "recall", "precision", "false_positive_rate", "matthews")
ALONE = [
    metric(name, **where)
    for name in OF_ALL_KINDS
    for where in (
        *({where: limit} for where in ("recall", "precision", "fpr", "tpr") for limit in (0.3, 0.5)),
        {"n_predicted": 3},
        *({"best": best} for best in ("f1", "accuracy", "informedness", "balanced_accuracy", "jaccard")),
        {"best": "expected_cost", "cost_fn": 3.0},
        {"best": "expected_cost", "cost_fp": 2.0, "cost_fn": 3.0, "prior": 0.2},
    )
    if set(where) != {name}
]


@every_width
@FEWER
@given(cases(), st.lists(st.integers(1, 3), min_size=12, max_size=12))
def test_each_threshold_is_found_by_itself(dtype, case, times):
    """Metrics in one call would share steps as fine as the finest metric needs."""
    for each in ALONE:
        assert_replicate([each], case, np.array(times[: case.y_true.size], dtype=dtype))


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "equal_error_rate", "cost_area", "ks_statistic"])
@BOUNDED
@given(*CASES)
def test_a_replicate_with_weights(name, case, times):
    times = np.array(times[: case.y_true.size])
    times[0] = times[0] or not times.any()
    assert_replicate([MetricSpec(name, {}), *PARTIAL[:1], *FIXED[:2]], case, times, np.full(times.size, 0.7))


PROBABILITIES = [MetricSpec(name, {}) for name, entry in SCORE_METRICS.items() if entry.of == "probabilities"]


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "asked",
    [
        PROBABILITIES,
        pytest.param([*WHOLE, *FIXED], marks=pytest.mark.slow),
        BY_ANOTHER,
        [*PROBABILITIES, *CHOSEN],
    ],
    ids=["probabilities", "whole", "by another", "chosen"],
)
@BOUNDED
@given(cases(weights=(0.25, 1.0, 3.0), both_classes=False), st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_a_replicate_of_rows_that_are_drawn_one_by_one(asked, weighted, case, times):
    """The steps are coarser then; sums run over rows, and the highest score is a row's."""
    times = np.array(times[: case.y_true.size])
    times[0] = times[0] or not times.any()
    asked = [each for each in asked if METRICS[each.name].takes_weights or not weighted]
    assert_replicate(asked, case, times, case.weights if weighted else None, by_row=True)


@pytest.mark.parametrize("weighted", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_replicate_of_many_rows_that_are_drawn_one_by_one(weighted):
    """Bins have many rows, and an infinite loss counts if its row was drawn."""
    rng = np.random.default_rng(3)
    for digits in (1, 2, 6):
        y = rng.permutation(np.arange(900) < 300).astype(int)
        s = np.round(1 / (1 + np.exp(-rng.normal(size=900) - y)), digits)
        for case in (s, np.where(y, np.clip(s, 0.1, 1), 0), np.append(s[:-1], 0.0), np.append(s[:-1], 1.5)):
            weights = rng.random(900) + 0.1 if weighted else None
            asked = [each for each in WHOLE if METRICS[each.name].takes_weights or not weighted]
            assert_replicate(asked, Case(y, case), rng.integers(0, 4, 900), weights, by_row=True)


@BOUNDED
@given(cases(), st.lists(st.integers(1, 3), min_size=12, max_size=12))
def test_a_threshold_that_is_best_by_another_metric(case, times):
    assert_replicate(BY_ANOTHER, case, np.array(times[: case.y_true.size], dtype=np.uint16))


def test_steps_are_few():
    rng = np.random.default_rng(0)
    y = np.arange(10_000) % 10 == 0
    counts = Ranking(y, rng.normal(size=y.size)).counts
    assert Steps.from_counts(counts, Detail.CUTS).tied.size == 1
    assert Steps.from_counts(counts, Detail.POLYLINE).tied.size <= 950
    assert Steps.from_counts(counts, Detail.POSITIVES).tied.size <= 1001
    assert Steps.from_counts(counts, Detail.THRESHOLDS).tied.size == 10_000
    assert Steps.from_counts(counts, Detail.CUTS, [500, 2000, 500]).cuts == (1, 2, 1)
    tied = Steps.from_counts(Ranking(y, np.ones(y.size)).counts, Detail.POLYLINE)
    assert (tied.sizes.tolist(), tied.tied.tolist()) == ([[1000], [9000]], [True])
