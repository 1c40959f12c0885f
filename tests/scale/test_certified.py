"""Certificates hold: the rows' value is never outside, and a plain number equals it to the bit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from fastevals import Ranking, metric
from fastevals._validation.labels import Classes
from fastevals.counting.ordering import FLOATS
from fastevals.measure.metric_specs import MetricSpec, ranking_metric
from fastevals.measure.registry import METRICS
from fastevals.scale.cells import ScoreCells
from fastevals.scale.certified import Certified, CertifiedRanking, certify, is_monotone, widened

KNOWN = ("average_precision", "ks_statistic")  # have bounds of their own
WHOLE = [
    MetricSpec(name, {})
    for name, entry in METRICS.items()
    if entry.of == "ranking" and (entry.monotone or name in KNOWN)
]
AT_BEST = [
    MetricSpec(name, {"best": name}) for name, entry in METRICS.items() if entry.of == "cells" and entry.monotone
]
NOT_MONOTONE = [
    MetricSpec(name, {} if entry.of == "ranking" else {"best": name})
    for name, entry in METRICS.items()
    if entry.of in ("ranking", "cells") and not entry.monotone and entry.greater_is_better is not None
]
LIMITED = [
    metric("recall", precision=0.5), metric("precision", recall=0.6), metric("recall", fpr=0.3),
    metric("false_positive_rate", tpr=0.7), metric("roc_auc", max_fpr=0.4), metric("roc_auc", max_fpr=0.6, min_tpr=0.3),
    metric("recall", n_predicted=5), metric("precision", n_predicted=4), metric("error_rate", n_predicted=7),
]  # fmt: skip
SPECS = [*WHOLE, *AT_BEST, *LIMITED]


class Rows:
    """Random rows with ties, and cells that contain them: overlapping, from a grid, or atoms."""

    def __init__(self, rng: np.random.Generator) -> None:
        n = int(rng.integers(2, 40))
        self.scores = (
            rng.integers(0, rng.integers(2, 12), n) / 4.0 if rng.random() < 0.5 else rng.normal(size=n).round(1)
        )
        self.labels = rng.random(n) < rng.choice([0.1, 0.5, 0.9])
        self.labels[:2] = False, True
        low, high = self._grid(rng) if rng.random() < 0.4 else self._overlapping(rng)
        counts = np.stack((~self.labels, self.labels), axis=1).astype(np.int64)
        self.cells = ScoreCells.sort(FLOATS.encode(low + 0.0), FLOATS.encode(high + 0.0), counts)

    def _grid(self, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        cuts = np.unique(rng.normal(size=rng.integers(1, 8)).round(1))
        ends = np.concatenate(([-10.0], cuts, [20.0]))
        cell = np.searchsorted(cuts, self.scores, side="right")
        return ends[cell], np.nextafter(ends[cell + 1], -np.inf)

    def _overlapping(self, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        width, n = rng.choice([0.0, 0.3, 1.0, 3.0]), self.scores.size
        down, up = (rng.random(n) * width * (rng.random(n) < 0.7) for _ in range(2))
        return self.scores - down, self.scores + up


def assert_certified(rows: Rows, spec: MetricSpec) -> bool:
    """Compare with the rows themselves; return whether the value was in doubt."""
    expected = ranking_metric(spec).of_counts(Ranking(rows.labels, rows.scores).counts)
    found = certify(rows.cells, spec)
    if isinstance(found, Certified):
        assert np.isnan(expected) or found.low <= expected <= found.high, (found, expected)
        assert np.isnan(found.value) or found.low <= found.value <= found.high
        return True
    # Cells on one line of the curve change the sum, but not the area.
    np.testing.assert_allclose(found, expected, rtol=0 if rows.cells.are_atoms else 1e-14)
    return False


@pytest.mark.cases(10)
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_rows_own_value_is_within(spec: MetricSpec) -> None:
    rng = np.random.default_rng(7)
    doubtful = [assert_certified(Rows(rng), spec) for _ in range(24)]
    assert 1 < sum(doubtful) < 24


@pytest.mark.parametrize("quota", [0, 3, 6])
def test_a_quota_at_cuts_has_the_recall_of_the_rows_within(quota: int) -> None:
    rng, plain = np.random.default_rng(11), 0
    for _ in range(80):
        rows = Rows(rng)
        expected = Ranking(rows.labels, rows.scores).threshold_for(n_predicted=quota)
        found = CertifiedRanking(rows.cells, Classes((0, 1), 1)).threshold_for(n_predicted=quota)
        value = found.value
        if isinstance(value, Certified):
            assert value.low <= expected.value <= value.high
        else:
            assert value == expected.value
            plain += 1
    assert plain > 4


@pytest.mark.cases(8)
@pytest.mark.parametrize("spec", [*filter(is_monotone, WHOLE)], ids=str)
def test_a_monotone_metric_never_gets_worse_when_a_positive_moves_up(spec: MetricSpec) -> None:
    """Nor when a negative moves down. The registry says so, and certificates rely on it."""
    assert not any(got_worse(spec, 60))


def test_any_other_metric_sometimes_does() -> None:
    """Two metrics never do, but the ends do not bound one if totals are in doubt, and the other between thresholds."""
    never = [spec.name for spec in NOT_MONOTONE if not any(got_worse(spec, 200))]
    assert never == ["excess_risk_coverage_area", "coverage_at_risk"]


def got_worse(spec: MetricSpec, n_moves: int) -> Iterator[bool]:
    """Move a random positive up, or a negative down; return whether the metric got worse."""
    rng, sign = np.random.default_rng(1), 1 if METRICS[spec.name].greater_is_better else -1

    def value(labels: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
        return float(np.nan_to_num(sign * ranking_metric(spec).of_counts(Ranking(labels, scores).counts), nan=-np.inf))

    for _ in range(n_moves):
        n = int(rng.integers(2, 15))
        scores, labels = rng.integers(0, 6, n) / 1.0, rng.random(n) < 0.5
        labels[:2] = False, True
        before = value(labels, scores)
        row = int(rng.integers(n))
        scores[row] += rng.integers(1, 4) * (1 if labels[row] else -1)
        yield value(labels, scores) < before - 1e-12


def test_others_are_not_said_to_be() -> None:
    assert not is_monotone(MetricSpec("pr_auc_linear", {}))
    assert not is_monotone(metric("precision", best="f1"))
    assert not is_monotone(metric("accuracy", n_predicted=3))
    cells = Rows(np.random.default_rng(3)).cells
    assert not cells.are_atoms
    with pytest.raises(ValueError, match=r"pr_auc_linear is not exact.*Compute it from exact counts, or at a cut"):
        certify(cells, MetricSpec("pr_auc_linear", {}))


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.5), (-0.5, 0.0)])
def test_bounds_are_apart_by_the_rounding_of_the_larger_one(low: float, high: float) -> None:
    found = widened(low, high, 1e-6, (-1.0, 1.0))
    assert found == pytest.approx((low - 5e-7, high + 5e-7), rel=1e-9, abs=1e-12)
    assert widened(low, high, 1e-6, (low, high)) == (low, high)


def test_it_is_shown_as_a_certificate() -> None:
    number = Certified(0.8, 0.7999, 0.8001)
    assert float(number) == 0.8
    assert number.width == pytest.approx(2e-4)
    assert repr(number) == "Certified(0.8, exact value in [0.7999, 0.8001])"
