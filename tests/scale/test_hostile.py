"""Summaries of parts, cut, counted and merged in any way; certificates of hostile rows never miss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from fastevals import Ranking, ThresholdCounts
from fastevals.counting.ordering import FLOATS
from fastevals.measure.metric_specs import MetricSpec, ranking_metric
from fastevals.scale import RankingSummary, ScoreGrid
from fastevals.scale.cells import ScoreCells
from fastevals.scale.certified import Certified, certify
from fastevals.scale.rounding import PARTS, Spare, parts_lost
from tests.scale.test_certified import SPECS

UNITS = 2**24  # units in the largest weight


# Hostile rows ---------------------------------------------------------------------------------------------------------


class Hostile(NamedTuple):
    """Rows, and the cells that count them."""

    scores: NDArray[np.float64]
    labels: NDArray[np.bool_]
    weights: NDArray[np.float64] | None
    cells: ScoreCells
    ends: tuple[NDArray[np.float64], NDArray[np.float64]]  # ends of each row's cell
    spare: Spare

    def counts(self, scores: NDArray[np.float64]) -> ThresholdCounts:
        """Return the counts of the same rows with other scores."""
        return Ranking(self.labels, scores, sample_weight=self.weights).counts


def hostile(rng: np.random.Generator) -> Hostile:
    n_cells = int(2 ** rng.uniform(2, 8))
    n = int(n_cells * rng.uniform(1.2, 4))
    base = rng.normal(size=n)
    scores = [
        lambda: base,
        lambda: rng.integers(0, 2 * n_cells, n) / 8.0,  # ties
        lambda: np.where(rng.random(n) < 0.5, 1e6, 0.0) + 1e-6 * base.round(2),  # clusters
        lambda: 1e-300 * base * 10.0 ** rng.integers(-20, 20, n),  # tiny
        lambda: np.where(rng.random(n) < 0.5, 0.5, base),  # half of one score
    ][rng.integers(5)]()
    labels = rng.random(n) < rng.choice([0.05, 0.3, 0.5, 0.9])
    if rng.random() < 0.15:  # nearly sorted
        labels = (scores > np.quantile(scores, 0.6)) ^ (rng.random(n) < 0.05)
    labels[:2] = False, True
    weights, units, spare = None, np.ones(n, dtype=np.int64), Spare()
    if rng.random() < 0.2:
        weights = rng.random(n) * 10.0 ** rng.integers(-3, 1, n) + 1e-3
        units = np.rint(weights / 10 * UNITS).astype(np.int64)
        lost = parts_lost(weights, units, 10 / UNITS) / PARTS
        spare = Spare(float(lost[~labels].sum()), float(lost[labels].sum()))
    low, high = grid_of(rng, scores, n_cells) if rng.random() < 0.5 else foreign(rng, scores, n_cells)
    counts = np.stack((units * ~labels, units * labels), axis=1)
    cells = ScoreCells.sort(FLOATS.encode(low + 0.0), FLOATS.encode(high + 0.0), counts)
    return Hostile(scores, labels, weights, cells, (low, high), spare)


def grid_of(rng: np.random.Generator, scores: NDArray[Any], n_cells: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Cut at some of the scores, or between them; return the ends of each row's cell."""
    cuts = np.unique(rng.choice(scores, n_cells))
    if rng.random() < 0.5:
        cuts = np.unique(np.nextafter(cuts, np.inf))
    ends = np.concatenate(([min(scores.min(), cuts[0])], cuts, [np.nextafter(max(scores.max(), cuts[-1]), np.inf)]))
    cell = np.searchsorted(cuts, scores, side="right")
    return ends[cell], np.maximum(np.nextafter(ends[cell + 1], -np.inf), ends[cell])


def foreign(rng: np.random.Generator, scores: NDArray[Any], n_cells: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count parts separately, as databases do: each in its own ranges from least to greatest, which overlap."""
    part = rng.integers(0, rng.integers(1, 4), scores.size)
    ranks = np.argsort(np.argsort(scores, kind="stable"), kind="stable")
    bucket = part * scores.size + ranks * max(n_cells // 2, 1) // scores.size
    _, inverse = np.unique(bucket, return_inverse=True)
    low, high = np.full(inverse.max() + 1, np.inf), np.full(inverse.max() + 1, -np.inf)
    np.minimum.at(low, inverse, scores)
    np.maximum.at(high, inverse, scores)
    return low[inverse], high[inverse]


def least_width(case: Hostile, metric: Any, rng: np.random.Generator) -> float:
    """Return the range of values over some data sets that agree with the cells, a lower bound of any width."""
    (low, high), labels = case.ends, case.labels
    sets = [np.where(labels, low, high), np.where(labels, high, low), case.scores, low, high]
    sets += [np.where(rng.random(low.size) < 0.5, low, high) for _ in range(3)]
    values = [metric.of_counts(case.counts(scores)) for scores in sets]
    return float(np.nanmax(values) - np.nanmin(values))


def assert_hostile(n: int, seed: int) -> tuple[float, dict[str, list[tuple[float, float]]]]:
    """Compare; return the share in doubt, and widths with their lower bounds, by metric and with weights."""
    rng, doubtful, n_cells = np.random.default_rng(seed), 0, []
    widths: dict[str, list[tuple[float, float]]] = {each: [] for each in (*map(str, SPECS), "weighted")}
    for trial in range(n):
        case, spec = hostile(rng), SPECS[trial % len(SPECS)]
        metric = ranking_metric(spec)
        expected = metric.of_counts(case.counts(case.scores))
        found = certify(case.cells, spec, case.spare, 1.0 if case.weights is None else UNITS / 10)
        n_cells.append(case.cells.low.size)
        if isinstance(found, Certified):
            assert np.isnan(expected) or found.low <= expected <= found.high, (trial, str(spec), found, expected)
            doubtful += 1
            if trial // len(SPECS) % 5 == 0 and found.high < np.inf and not np.isnan(expected):
                kind = "weighted" if case.weights is not None else str(spec)
                widths[kind].append((found.width, least_width(case, metric, rng)))
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-13, err_msg=f"{trial} {spec}")
    assert min(n_cells) <= 6
    assert 128 < max(n_cells) <= 3 * 256
    return doubtful / n, widths


@pytest.mark.parametrize("n", [400, pytest.param(30_000, marks=pytest.mark.slow)])
def test_no_certificate_misses_or_is_wide(n: int) -> None:
    doubtful, widths = assert_hostile(n, 11)
    assert doubtful >= 0.8
    by_metric = {name: np.mean(each, axis=0) for name, each in widths.items() if len(each) > 20}
    seldom = {name for name in widths if name.startswith("diagnostic_odds_ratio")}  # mostly bounded by infinity
    assert n < 1000 or widths.keys() - by_metric.keys() <= seldom
    too_wide = {name: (width, least) for name, (width, least) in by_metric.items() if width > 3 * least + 1e-6}
    assert not too_wide
    everything = np.mean(np.concatenate([each for each in widths.values() if each]), axis=0)
    assert everything[0] <= 3 * everything[1]


# Parts, trees and grids -----------------------------------------------------------------------------------------------


def merge_tree(rng: np.random.Generator, summaries: list[RankingSummary]) -> RankingSummary:
    """Merge in any order, several in some calls, some stored in between."""
    summaries = list(summaries)
    while len(summaries) > 1:
        taken = [
            summaries.pop(int(rng.integers(len(summaries))))
            for _ in range(min(len(summaries), int(rng.integers(2, 5))))
        ]
        whole = taken[0].merge(*taken[1:])
        summaries.append(RankingSummary.from_bytes(whole.to_bytes()) if rng.random() < 0.3 else whole)
    return summaries[0]


def counted(rng: np.random.Generator, y: Any, s: Any, **options: Any) -> RankingSummary:
    """Cut rows into parts, count each in several updates, and merge them in a random tree."""
    parts = np.split(rng.permutation(y.size), np.sort(rng.integers(0, y.size + 1, rng.integers(0, 7))))
    summaries = []
    for part in parts:
        summaries.append(RankingSummary(**options))
        for rows in np.array_split(part, rng.integers(1, 4)):
            summaries[-1].update(y[rows], s[rows])
    return merge_tree(rng, summaries)


def assert_as_rows(rng: np.random.Generator, kind: str) -> None:
    n = int(rng.integers(1, 120))
    y = (rng.random(n) < rng.choice([0.1, 0.5])).astype(int)
    s = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(0, 9, n) / 4.0
    match kind:
        case "one grid":
            options: dict[str, Any] = {"grid": ScoreGrid(rng.normal(size=rng.integers(1, 20)))}
        case "exact grid":
            options = {"grid": ScoreGrid.exact(s)}
        case "few scores":
            options = {"cells": 200}
        case _:
            options = {"cells": int(rng.integers(2, 30))}
    found = counted(rng, y, s, **options)
    expected = Ranking(y, s)
    assert (found.n_positives, found.n_negatives) == (expected.n_positives, expected.n_negatives)
    if kind == "one grid":
        cuts = options["grid"].cuts
        cell = np.searchsorted(cuts, FLOATS.encode(s + 0.0), side="right")
        counts = np.bincount(2 * cell + y, minlength=2 * cuts.size + 2).reshape(-1, 2)
        np.testing.assert_array_equal(found.cells.counts, counts[counts.any(axis=1)])
    elif kind == "own grids":
        for name in ("roc_auc", "average_precision", "ks_statistic"):
            value, true = certify(found.cells, MetricSpec(name, {})), ranking_metric(MetricSpec(name, {}))
            rows = true.of_counts(expected.counts)
            low, high = (value.low, value.high) if isinstance(value, Certified) else (value - 1e-14, value + 1e-14)
            assert np.isnan(rows) or low <= rows <= high
    else:
        counts_of = found.ranking().counts  # type: ignore[union-attr]
        for name in ("thresholds", "tps", "fps"):
            np.testing.assert_array_equal(getattr(counts_of, name), getattr(expected.counts, name))


@pytest.mark.parametrize("kind", ["one grid", "exact grid", "few scores", "own grids"])
@pytest.mark.parametrize("n", [25, pytest.param(2500, marks=pytest.mark.slow)])
def test_parts_in_any_tree_are_all_rows(kind: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastevals.scale.summary.CHUNK", 16)  # so that chunks, refits and waiting rows all occur
    monkeypatch.setattr("fastevals.scale.summary.SAMPLED_ROWS", 8)
    rng = np.random.default_rng(12)
    for _ in range(n):
        assert_as_rows(rng, kind)


# Widths at the usual number of cells ---------------------------------------------------------------------------------


def spread(kind: str, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(4)
    y = (rng.random(n) < 0.1).astype(int)
    normal = rng.normal(size=n) + y
    match kind:
        case "beta":
            return y, np.where(y, rng.beta(1, 5, n), rng.beta(0.1, 5, n))
        case "uniform":
            return y, 0.8 * rng.random(n) + 0.2 * y * rng.random(n)
        case "clusters":
            return y, np.where(rng.random(n) < 0.5, 1e6, 0.0) + 1e-3 * (rng.random(n) + 0.3 * y)
        case "sorted":
            rows = np.argsort(normal)
            return y[rows], normal[rows]
        case "drifting":
            return y, normal + np.linspace(0, 2, n)
        case "late atom":
            return y, np.where(np.arange(n) > 0.7 * n, 1.25, normal)
    return y, normal


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "most"),
    [
        *((kind, 1e-5) for kind in ("normal", "beta", "uniform", "clusters")),
        *((kind, 5e-5) for kind in ("sorted", "drifting", "late atom")),
    ],
)
def test_aucs_are_hardly_in_doubt(kind: str, most: float) -> None:
    y, s = spread(kind, 4_000_000)
    summary = RankingSummary()
    for start in range(0, y.size, 250_000):
        summary.update(y[start : start + 250_000], s[start : start + 250_000])
    auc = summary.ranking().roc_auc()
    assert isinstance(auc, Certified)
    assert auc.low <= Ranking(y, s).roc_auc() <= auc.high
    assert auc.width <= most
