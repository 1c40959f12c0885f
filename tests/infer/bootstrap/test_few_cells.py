"""Summaries and reports of many rows resample few cells; every call returns the intervals of all cells."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import Ranking, ThresholdCounts, bootstrap, metric
from fastevals.infer.bootstrap.few_cells import THRESHOLDS_KEPT, FewCells, counts_at_positives, make_few_cell_sample
from fastevals.measure.metric_specs import parse_metrics, ranking_metric
from fastevals.scale import RankingSummary

CHOSEN = [
    metric("recall", precision=0.3), metric("precision", recall=0.6), metric("recall", fpr=0.05),
    metric("recall", fpr=0.001), metric("false_positive_rate", tpr=0.8), metric("matthews", best="f1"),
    metric("f1", best="f1"), metric("matthews", best="matthews"), metric("recall", n_predicted=3000),
]  # fmt: skip
WHOLE = [
    "roc_auc", "average_precision", "pr_auc", "break_even_point", "equal_error_rate", "equal_error_rate_on_hull",
    "cost_area", "ks_statistic", metric("roc_auc", max_fpr=0.1),
]  # fmt: skip
FIXED = metric("accuracy", threshold=1.25)


@cache
def counts_of(n: int, rate: float) -> ThresholdCounts:
    rng = np.random.default_rng(5)
    y = rng.random(n) < rate
    return Ranking(y, np.round(rng.normal(size=n) + 1.5 * y, 4)).counts


def summary_of(counts: ThresholdCounts) -> RankingSummary:
    return RankingSummary.from_cells(*2 * [counts.thresholds[1:]], np.diff(counts.tps), np.diff(counts.fps))


def replicates(metrics: list[Any], counts: ThresholdCounts, n: int) -> np.ndarray:
    """Draw all cells, and measure each draw twice: with all cells, and with the cells that each metric needs."""
    specs = parse_metrics(metrics)
    rng, functions = np.random.default_rng(6), [ranking_metric(each) for each in specs.values()]
    cells = FewCells.reduce(counts, specs)
    kept = [counts.rows_at_least(cells.drawn[label].counts.thresholds) for label in specs]
    both = list(zip(functions, kept, strict=True))
    moved = [each.of_counts(counts) - each.of_counts(counts.take(rows)) for each, rows in both]
    sizes, values = np.stack((np.diff(counts.tps), np.diff(counts.fps))), np.empty((2, n, len(functions)))
    for k in range(n):
        tps, fps = np.pad(np.cumsum(rng.poisson(sizes), axis=1), ((0, 0), (1, 0)))
        drawn = ThresholdCounts._unchecked(counts.thresholds, tps, fps)
        values[0, k] = [each.of_counts(drawn) for each in functions]
        values[1, k] = [each.of_counts(drawn.take(rows)) for each, rows in both] + np.array(moved)
    return values


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "rate", "n_draws"),
    [(20_000, 0.1, 800), (100_000, 0.1, 800), (2_000_000, 0.1, 300), (2_000_000, 0.003, 500), (1_000_000, 0.4, 300)],
)
def test_standard_errors_are_those_of_all_cells(n: int, rate: float, n_draws: int) -> None:
    all_cells, fewer = replicates([*WHOLE, *CHOSEN], counts_of(n, rate), n_draws)
    np.testing.assert_allclose(fewer.std(axis=0), all_cells.std(axis=0), rtol=0.02)
    varies = all_cells.std(axis=0) > 0  # all but a recall of 1, whose precision is the prevalence
    drift = np.abs((fewer - all_cells).mean(axis=0))[varies] / all_cells.std(axis=0)[varies]
    assert drift.max() < 0.06


@pytest.mark.parametrize("rate", [0.1, pytest.param(0.4, marks=pytest.mark.slow)])
def test_replicates_of_few_cells_are_near_those_of_all(rate: float) -> None:
    all_cells, fewer = replicates([*WHOLE, *CHOSEN], counts_of(100_000, rate), 20)
    varies = all_cells.std(axis=0) > 0
    off = np.sqrt(np.square(fewer - all_cells).mean(axis=0))[varies] / all_cells.std(axis=0)[varies]
    assert off.max() < 0.25


@pytest.mark.parametrize("n", [400, 100_000])
def test_what_is_asked_beside_a_metric_makes_no_difference(n: int) -> None:
    summary = summary_of(counts_of(n, 0.1))
    asked = parse_metrics(["roc_auc", "ks_statistic", metric("f1", best="f1"), metric("recall", fpr=0.05), FIXED])
    together = bootstrap(summary, asked, n_resamples=99, rng=1)
    for label, each in asked.items():
        alone = bootstrap(summary, {label: each}, n_resamples=99, rng=1)[label]
        assert alone.confidence_interval == together[label].confidence_interval, label


def test_few_cells_are_drawn_as_they_are() -> None:
    counts = counts_of(4_000, 0.1)
    assert 500 < counts_at_positives(counts, [])[0].thresholds.size <= THRESHOLDS_KEPT
    found, expected = (bootstrap(each, WHOLE, n_resamples=49, rng=1) for each in (summary_of(counts), counts))
    assert [each.confidence_interval for each in found.values()] == [
        each.confidence_interval for each in expected.values()
    ]


def test_every_door_gives_the_same_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count at positives alone; reports and calls draw the same, from memory and from files."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from fastevals.scale.parquet import ranking

    monkeypatch.setattr("fastevals.scale.parquet.ROWS_HELD", -1)
    rng = np.random.default_rng(3)
    y = rng.random(40_000) < 0.1
    p = 1 / (1 + np.exp(2 - rng.normal(size=y.size) - y))
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"y": y.astype(int), "p": p}), path, row_group_size=7_000)
    summary = RankingSummary(cells=2**18)
    summary.update(y, p)
    names = ["roc_auc", "average_precision", "ks_statistic", "equal_error_rate"]
    exact = ranking(str(path), label="y", score="p")
    found = bootstrap(exact, names, n_resamples=199, rng=0)
    in_memory = bootstrap(summary_of(Ranking(y, p).counts), names, n_resamples=199, rng=0)
    for name in names:
        assert found[name].confidence_interval == in_memory[name].confidence_interval
        assert found[name].value == in_memory[name].value


@pytest.mark.slow
def test_a_summary_of_many_cells_has_the_intervals_of_its_rows() -> None:
    counts = counts_of(100_000, 0.1)
    metrics = ["roc_auc", "average_precision", "ks_statistic", metric("recall", fpr=0.05), FIXED]
    found, expected = (bootstrap(each, metrics, n_resamples=2999, rng=1) for each in (summary_of(counts), counts))
    for name, estimate in found.items():
        assert estimate.value == expected[name].value
        assert estimate.standard_error == pytest.approx(expected[name].standard_error, rel=0.06)
        ends = np.subtract(estimate.confidence_interval, expected[name].confidence_interval)
        assert np.abs(ends).max() < 0.35 * estimate.standard_error


def test_what_is_drawn_of_many_cells() -> None:
    counts = counts_of(100_000, 0.1)
    specs = parse_metrics(["roc_auc", FIXED, metric("f1", best="f1"), metric("matthews", best="f1"), max_threshold])
    sample = make_few_cell_sample(Ranking.from_threshold_counts(counts), specs, stratified=True)
    assert [numbers for _, numbers in sample._parts] == [[0], [1], [2, 3], [4]]
    whole, fixed, best, all_cells = (int(np.count_nonzero(part.sizes)) for part, _ in sample._parts)
    assert fixed == 4
    assert max(whole, best) < 2 * THRESHOLDS_KEPT < all_cells
    assert [each.item() for each in sample.estimates()] == [
        ranking_metric(each).of_counts(counts) for each in specs.values()
    ]
    for part, _ in sample._parts:
        assert part.sizes.sum() == 100_000


def max_threshold(counts: ThresholdCounts) -> float:
    return float(counts.thresholds[1])


def test_probabilities_are_drawn_as_their_own_cells() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(30_000) < 0.3
    p = np.round(rng.beta(1 + y, 2), 4)
    summary = RankingSummary()
    summary.update(y, p)
    names = ["brier_score", "log_loss", "expected_calibration_error"]
    found, expected = (bootstrap(each, names, n_resamples=1999, rng=1) for each in (summary, (y, p)))
    for name in names:
        assert found[name].value == expected[name].value
        assert found[name].standard_error == pytest.approx(expected[name].standard_error, rel=0.06)


@pytest.mark.slow
def test_replicates_stay_within_the_bounds_of_their_metric() -> None:
    n = 40_000
    y = np.arange(n) >= n // 2
    y[[n // 2 - 1, n // 2]] = True, False  # nearly perfect
    summary = summary_of(Ranking(y, np.arange(n)).counts)
    found = bootstrap(summary, ["roc_auc", "pr_auc"], n_resamples=99, rng=1, keep_distribution=True)
    for estimate in found.values():
        assert estimate.bootstrap_distribution is not None
        assert 0.999 < estimate.bootstrap_distribution.min() <= estimate.bootstrap_distribution.max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("n_scores", [9, 40, 12_000])
def test_any_number_of_rows(n_scores: int) -> None:
    """Beyond 2**32 rows, standard errors still fall with the root of the number of rows."""
    scores = np.linspace(-3, 4, n_scores)
    shares = np.stack([np.exp(-((scores - mean) ** 2) / 2) for mean in (1, 0)])
    shares /= shares.sum(axis=1, keepdims=True)
    metrics = [*WHOLE, metric("f1", best="f1")]
    found = []
    for n in (10**7, 10**12):
        rows = np.rint(shares * np.array([[0.1], [0.9]]) * n).astype(np.int64)
        found.append(bootstrap(RankingSummary.from_cells(scores, scores, *rows), metrics, n_resamples=400, rng=1))
    for name, few in found[0].items():
        many = found[1][name]
        assert many.value == pytest.approx(few.value, abs=2e-3)
        assert many.standard_error * np.sqrt(10**5) == pytest.approx(few.standard_error, rel=0.2), name
        low, high = many.confidence_interval
        assert low < many.value < high


@pytest.mark.parametrize("exact", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_weighted_rows_are_drawn_with_their_weights(exact: bool) -> None:
    rng = np.random.default_rng(2)
    n = 20_000
    y, weights = rng.random(n) < 0.2, rng.integers(1, 4, n) * rng.integers(1, 3, n)
    s = np.round(rng.normal(size=n) + y, 2 if exact else 15)
    summary = RankingSummary(cells=2**14)
    summary.update(y, s, sample_weight=weights)
    assert summary.is_exact == exact
    metrics = ["roc_auc", "average_precision", "ks_statistic", metric("f1", best="f1"), metric("recall", fpr=0.05)]
    found = bootstrap(summary, metrics, n_resamples=1999, rng=1)
    expected = bootstrap((y, s), metrics, sample_weight=weights, n_resamples=1999, rng=1)
    copies = bootstrap((y, s), "roc_auc", frequency_weight=weights, n_resamples=1999, rng=1)["roc_auc"]
    for name, each in expected.items():
        assert found[name].value == pytest.approx(each.value, abs=1e-4)
        assert found[name].standard_error == pytest.approx(each.standard_error, rel=0.06), name
        ends = np.subtract(found[name].confidence_interval, each.confidence_interval)
        assert np.abs(ends).max() < 0.35 * each.standard_error, name
    assert copies.standard_error < 0.8 * found["roc_auc"].standard_error


@pytest.mark.parametrize("n_pos", [0, 3, 2500])
def test_a_quota_may_end_among_negatives(n_pos: int) -> None:
    rng = np.random.default_rng(0)
    y, s = np.arange(5000) < n_pos, rng.random(5000)
    summary = RankingSummary()
    summary.update(y, s)
    asked = metric("specificity", n_predicted=50)
    found, expected = (bootstrap(each, asked, n_resamples=499, rng=1)[str(asked)] for each in (summary, (y, s)))
    assert found.value == expected.value
    assert found.standard_error == pytest.approx(expected.standard_error, rel=0.2, abs=1e-12)
    summary = RankingSummary()
    summary.update(y, s, sample_weight=np.arange(5000) % 3)
    with pytest.raises(ValueError, match=r"specificity\(n_predicted=50\) of weighted rows needs the rows"):
        bootstrap(summary, asked, n_resamples=9)


def test_draws_of_weights_have_no_rest_of_rounding() -> None:
    """If all are predicted positive, rounding leaves no negative with a weight of 1e-13."""
    rng = np.random.default_rng(0)
    y, s, weights = rng.integers(0, 2, 3000), rng.random(3000), rng.integers(1, 5, 3000)
    summary = RankingSummary()
    summary.update(y, s, sample_weight=weights)
    asked = metric("matthews", best="f1")
    with pytest.warns(fastevals.UndefinedMetricWarning):
        found, expected = (
            bootstrap(each, asked, n_resamples=99, rng=1, **given)[str(asked)]
            for each, given in ((summary, {}), ((y, s), {"sample_weight": weights}))
        )
    assert found.standard_error == pytest.approx(expected.standard_error, rel=0.3)
