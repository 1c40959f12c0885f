"""Weights that are not whole units: numbers are exact, or within narrow certificates for the rounded mass."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fastevals import ConfusionMatrix, Ranking, UndefinedMetricWarning, bootstrap, delong, metric
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.metric_specs import ranking_metric
from fastevals.measure.registry import METRICS
from fastevals.scale import (
    Certified,
    ConfusionSummary,
    GroupSummary,
    ProbabilitySummary,
    RankingSummary,
    TargetSummary,
)
from fastevals.scale.certified import CertifiedCurve, CertifiedRanking
from fastevals.scale.payload import pack
from tests.parameters import quick

SPECS = [
    *(metric(name) for name, entry in METRICS.items() if entry.of == "ranking" and entry.certificate),
    metric("roc_auc", max_fpr=0.3),
    metric("roc_auc", max_fpr=0.2, min_tpr=0.7, standardize=False),
    *(metric(name, threshold=0.5) for name, entry in METRICS.items() if entry.of == "cells" and entry.monotone),
    *(metric(name, threshold=0.5) for name in ("matthews", "markedness", "prevalence", "prediction_rate")),
    metric("expected_cost", threshold=0.5, cost_fp=10, cost_fn=1),
    metric("expected_cost", threshold=0.5, cost_fp=1, cost_fn=10, prior=0.2),
    *(metric(name, best=name) for name in ("f1", "accuracy", "cohen_kappa", "informedness", "expected_cost")),
    metric("recall", precision=0.6),
    metric("recall", fpr=0.25),
    metric("precision", recall=0.7),
]
BEST = (
    "f1", "accuracy", "error_rate", "informedness", "matthews", "precision", "expected_cost", "markedness",
    "diagnostic_odds_ratio", "negative_likelihood_ratio", "fowlkes_mallows",
)  # fmt: skip
LIMITS = ({"precision": 0.6}, {"recall": 0.7}, {"fpr": 0.25}, {"tpr": 0.7})


def case(seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    n = int(rng.choice([4, 7, 20, 60]))
    y = rng.random(n) < 0.5
    y[:2] = 0, 1
    s = np.round(rng.random(n) * 0.7 + 0.3 * y, int(rng.integers(1, 4)))
    weights = [rng.random(n) + 1e-6, 10 ** rng.uniform(-6.5, 0, n), rng.integers(1, 65, n) / 64][seed % 3]
    return y, s, weights


def assert_holds(found: Any, true: float, what: Any, bounds: tuple[float, float] = (-np.inf, np.inf)) -> None:
    """Assert that a number is the rows', or that a certificate contains it, within the metric's bounds."""
    if isinstance(found, Certified):
        rounding = 1e-12 * max(abs(true), 1) if np.isfinite(true) else 0.0
        if np.isnan(true):  # no threshold meets a limit
            return
        assert found.low - rounding <= true <= found.high + rounding, (what, found, true)
        assert bounds[0] <= found.low <= found.high <= bounds[1], (what, found)
    else:
        assert found == pytest.approx(true, rel=1e-12, abs=1e-12, nan_ok=True), (what, found, true)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [4, 1000])
@pytest.mark.parametrize("first", range(12, 508, 62))
def test_many_fractional_weights_are_exact_or_certified(first: int, cells: int) -> None:
    for seed in range(first, first + 62):
        test_fractional_weights_are_exact_or_certified(seed, cells)


@pytest.mark.cases(8)
@pytest.mark.parametrize("cells", [4, 1000])
@pytest.mark.parametrize("seed", range(12))
def test_fractional_weights_are_exact_or_certified(seed: int, cells: int) -> None:
    y, s, weights = case(seed)
    summary = RankingSummary(cells=cells, at=0.5, largest_weight=1.0)
    half = y.size // 2
    summary.update(y[:half], s[:half], sample_weight=weights[:half])
    other = RankingSummary(cells=cells, at=0.5, largest_weight=1.0)
    other.update(y[half:], s[half:], sample_weight=weights[half:])
    summary = RankingSummary.from_bytes(summary.merge(other).to_bytes())
    ours, true = summary.ranking(), Ranking(y, s, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for spec in SPECS:
            expected = ranking_metric(spec).of_counts(true.counts)
            certified = isinstance(ours, CertifiedRanking)
            found = ours.metric(spec) if certified else ranking_metric(spec).of_counts(ours.counts)
            assert_holds(found, expected, spec, METRICS[spec.name].bounds)
        for name in BEST:
            assert_holds(ours.best_threshold(name).value, true.best_threshold(name).value, name, METRICS[name].bounds)
        for limit in LIMITS:
            assert_holds(ours.threshold_for(**limit).value, true.threshold_for(**limit).value, limit, (0, 1))
        limit = {"n_predicted": 0.4 * weights.sum()}
        assert_holds(ours.threshold_for(**limit).value, true.threshold_for(**limit).value, limit, (0, 1))
        for costs in ({}, {"cost_fp": 20.0}, {"cost_fn": 20.0}, {"prior": 0.1}):
            assert_holds(ours.expected_cost(0.5, **costs), true.expected_cost(0.5, **costs), costs)
        for prior in (None, 0.2):
            assert_holds(ours.net_benefit(0.3, prior=prior), true.net_benefit(0.3, prior=prior), prior)


def test_the_rounded_mass_is_certified_not_the_least_weight() -> None:
    rng = np.random.default_rng(0)
    y, weights = rng.random(1000) < 0.5, np.array([1e-7] + [1.0] * 999)
    s = rng.normal(size=1000) + y
    summary = RankingSummary(largest_weight=1.0)
    summary.update(y, s, sample_weight=weights)
    true = Ranking(y, s, sample_weight=weights)
    for name in ("roc_auc", "average_precision"):
        found = getattr(summary.ranking(), name)()
        assert found.low <= getattr(true, name)() <= found.high
        assert found.width < 1e-9


def test_plain_numbers_of_rounded_weights_are_certified() -> None:
    y, s, weights = [1, 1, 0, 0], [1.0, 0, 1, 0], [6.6e-6, 3.56e-6, 0.04, 0.93]
    summary = RankingSummary(largest_weight=1.0)
    summary.update(y, s, sample_weight=weights)
    ours, true = summary.ranking(), Ranking(y, s, sample_weight=weights)
    best: Any = ours.best_threshold("informedness").value
    assert best.low <= 6.6 / 10.16 - 0.04 / 0.97 <= best.high
    assert ours.threshold_for(recall=0.5).value.width > 0  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"weights were rounded .* Pass bounds=True"):
        ours.confusion_at(1.0)
    (tn, fp), (fn, tp) = true.confusion_at(1.0).counts
    worst, best = (each.counts for each in ours.confusion_at(1.0, bounds=True))
    for low, value, high in (
        (worst[0, 0], tn, best[0, 0]), (best[0, 1], fp, worst[0, 1]), (best[1, 0], fn, worst[1, 0]),
        (worst[1, 1], tp, best[1, 1]),
    ):  # fmt: skip
        assert low <= value <= high
    for name in ("roc_curve", "precision_recall_curve", "gain_curve", "cost_curve"):
        curve, area = getattr(ours, name)(), float(getattr(true, name)().area)
        assert curve.area.low <= area <= curve.area.high, name


def test_a_quota_may_be_filled_at_any_cut_that_rounded_weights_leave_in_doubt() -> None:
    y, s, weights = [1, 0, 1], [1.0, 0.0, 1.0], [0.5934868497511736, 0.8776232913583389, 0.063484084912456914]
    summary = RankingSummary(largest_weight=1.0)
    summary.update(y, s, sample_weight=weights)
    for name, all_predicted in (("precision", 0.428107263), ("false_positive_rate", 1), ("recall", 1)):
        found: Any = summary.ranking().metric(metric(name, n_predicted=sum(weights)))
        assert found.low <= all_predicted <= found.high, name
        assert found.width == pytest.approx(abs(all_predicted - (name != "false_positive_rate")), abs=1e-6), name


@pytest.mark.parametrize("seed", quick(range(40), *range(16)))
def test_curves_over_the_share_of_rounded_weights_are_enclosed(seed: int) -> None:
    y, s, weights = case(seed)
    for order in (1, -1):  # better than chance, then worse
        summary = RankingSummary(cells=4, largest_weight=1.0)
        summary.update(y, order * s, sample_weight=weights)
        true = Ranking(y, order * s, sample_weight=weights)
        for name in (f"{name}_curve" for name, entry in CURVES.items() if entry.x.number == "share"):
            ours, curve = getattr(summary.ranking(), name)(), getattr(true, name)()
            if isinstance(ours, CertifiedCurve):
                shares = {curve.ARRAYS[0]: np.linspace(0.01, 1, 50)}
                worst, at, best = (each.at(**shares) for each in (ours.worst, curve, ours.best))
                if name == "risk_coverage_curve":  # lower is better
                    worst, best = best, worst
                assert (worst - 1e-13 <= at).all()
                assert (at <= best + 1e-13).all()
                assert ours.area.low - 1e-13 <= curve.area <= ours.area.high + 1e-13


def test_what_is_undefined_at_cuts_alone_is_certified() -> None:
    summary = RankingSummary(cells=1)
    y, s = [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]
    summary.update(y, s)
    best: Any = summary.ranking().best_threshold("matthews").value
    assert (best.low, best.high) == (-1, 1)
    negatives = RankingSummary(cells=1)
    negatives.update([0, 0, 0], [-0.1, -0.2, -0.3])
    at: Any = negatives.ranking().metric(metric("precision", threshold=-0.2))
    assert (at.low, at.high) == (0, 0)


def test_a_metric_that_turns_within_a_range_is_certified() -> None:
    y, s = [0, 1, 1, 1, 0, 0, 0], [0.22, 0.94, 0.95, 0.61, 0.29, 0.43, 0.5]
    summary = RankingSummary(cells=4)
    summary.update(y, s)
    ours, true = summary.ranking(), Ranking(y, s)
    least: Any = ours.best_threshold("matthews", maximize=False).value
    assert true.best_threshold("matthews", maximize=False).value == pytest.approx(2**-1.5)
    assert least.low < 2**-1.5 < least.high
    assert ours.best_threshold("matthews").value == 1


def test_weights_that_are_whole_units_are_exact() -> None:
    y, s, weights = [0, 1, 1, 0], [0.1, 0.2, 0.1, 0.3], [0.5, 0.25, 1.0, 0.75]
    summary = RankingSummary(largest_weight=1.0)
    summary.update(y, s, sample_weight=weights)
    assert summary.is_exact
    np.testing.assert_array_equal(summary.ranking().counts.tps, Ranking(y, s, sample_weight=weights).counts.tps)


def test_what_a_threshold_between_cuts_leaves_in_doubt_is_certified() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    s = rng.normal(size=1000) + y
    summary = RankingSummary(cells=4)
    summary.update(y, s)
    spec = metric("accuracy", threshold=0.123)
    found: Any = summary.ranking().metric(spec)
    assert found.low <= np.mean((s >= 0.123) == y) <= found.high
    with pytest.raises(ValueError, match=r"matthews.* is not exact"):
        summary.ranking().metric(metric("matthews", threshold=0.123))
    interval = bootstrap(summary, spec, n_resamples=99, rng=0)[str(spec)].confidence_interval
    assert (interval.low, interval.high) == (pytest.approx(found.low, abs=0.05), pytest.approx(found.high, abs=0.05))


def test_matrices_of_fractional_weights_have_fifteen_digits() -> None:
    rng = np.random.default_rng(0)
    y, p, weights = rng.integers(0, 3, 500), rng.integers(0, 3, 500), rng.random(500)
    parts = []
    for k in range(4):
        parts.append(ConfusionSummary(largest_weight=1.0))
        parts[-1].update(y[k::4], p[k::4], sample_weight=weights[k::4])
    summary = ConfusionSummary.from_bytes(parts[3].merge(*parts[:3]).to_bytes())
    true = ConfusionMatrix.from_predictions(y, p, sample_weight=weights)
    np.testing.assert_allclose(summary.matrix().counts, true.counts, rtol=1e-13)
    assert summary.to_bytes() == parts[0].merge(*parts[1:]).to_bytes()


@pytest.mark.parametrize("kind", [RankingSummary, ConfusionSummary])
def test_a_part_without_rows_can_be_stored_and_merged(kind: Any) -> None:
    empty = kind.from_bytes(kind(largest_weight=1.0).to_bytes())
    part = kind(largest_weight=1.0)
    part.update([0, 1], [0, 1], sample_weight=[0.3, 0.7])
    assert kind.from_bytes(empty.merge(part).to_bytes()).to_bytes() == part.to_bytes()


# Weights are no copies ------------------------------------------------------------------------------------------------

Y, S, COPIES = np.arange(60) % 3 == 0, np.arange(60) * 7 % 41 / 41, np.arange(60) % 4
ROWS = np.repeat(np.arange(60), COPIES)
ARRAYS = {
    RankingSummary: (Y, S),
    ProbabilitySummary: (Y, S),
    ConfusionSummary: (Y, S > 0.5),
    TargetSummary: (S, S**2),
    GroupSummary: (Y, S, np.arange(60) % 5),
}
READ: dict[Any, Any] = {
    RankingSummary: lambda summary: bootstrap(summary, "roc_auc", n_resamples=99, rng=0)["roc_auc"],
    ProbabilitySummary: lambda summary: bootstrap(summary.counts(), "roc_auc", n_resamples=99, rng=0)["roc_auc"],
    ConfusionSummary: lambda summary: bootstrap(summary, "accuracy", n_resamples=99, rng=0)["accuracy"],
    TargetSummary: lambda summary: np.round(summary.confidence_interval("mean_squared_error"), 12).tolist(),
    GroupSummary: lambda summary: summary.auc(interval="delong").confidence_intervals.tolist(),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_copies_are_rows_and_weights_have_no_intervals(kind: Any) -> None:
    copies, repeated, weighted, mixed = (kind() for _ in range(4))
    copies.update(*ARRAYS[kind], frequency_weight=COPIES)
    repeated.update(*(column[ROWS] for column in ARRAYS[kind]))
    assert repr(READ[kind](copies)) == repr(READ[kind](repeated))
    weighted.update(*ARRAYS[kind], sample_weight=COPIES)
    mixed.update(*ARRAYS[kind])
    for summary in (weighted, kind.from_bytes(weighted.to_bytes()), mixed.merge(weighted), weighted.merge(mixed)):
        assert summary.is_weighted
        if kind in (ConfusionSummary, RankingSummary, TargetSummary):  # these keep sums of squared weights
            READ[kind](summary)
            continue
        with pytest.raises(ValueError, match="must count rows, but has weights"):
            READ[kind](summary)
    assert not kind.from_bytes(copies.to_bytes()).is_weighted
    with pytest.raises(ValueError, match="exclude each other"):
        copies.update(*ARRAYS[kind], sample_weight=COPIES, frequency_weight=COPIES)
    with pytest.raises(ValueError, match="frequency_weight must hold whole numbers"):
        copies.update(*ARRAYS[kind], frequency_weight=COPIES / 2)


def test_weighted_summaries_have_values() -> None:
    summary = RankingSummary()
    summary.update(Y, S, sample_weight=COPIES)
    assert summary.ranking().roc_auc() == Ranking(Y, S, sample_weight=COPIES).roc_auc()
    for call in (delong, lambda counts: bootstrap(counts, "roc_auc")):
        with pytest.raises(ValueError, match="must count rows, but has weights"):
            call(summary.ranking().counts)  # these have no squares


def test_weighted_summaries_of_older_versions_are_read_and_certified_by_their_least_weight() -> None:
    weights = np.linspace(0.2, 0.9, 60)
    summary = RankingSummary(largest_weight=1.0)
    summary.update(Y, S, sample_weight=weights)
    head, arrays = summary._payload()
    for name in ("lost", "rows", "cubes"):
        del head[name]
    del arrays["squares"]
    head["least"] = int(0.2 * 2**24)
    old = RankingSummary.from_bytes(pack("ranking", head, arrays))
    found: Any = old.ranking().roc_auc()
    assert found.low <= Ranking(Y, S, sample_weight=weights).roc_auc() <= found.high
    assert found.width < 1e-6
    assert old.is_weighted
