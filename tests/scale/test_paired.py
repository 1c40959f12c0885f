"""Intervals from cells, and differences from sums over rows, against results from the rows."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from fastevals import Ranking, bootstrap, compare_rankings, delong, metric, num_threads
from fastevals._kernels.paired import draw_counts, factorize, normal_quantile
from fastevals.counts import ThresholdCounts
from fastevals.infer.bootstrap.bootstrap import BootstrapSettings, make_estimates
from fastevals.infer.bootstrap.few_cells import FewCells, FewCellSample, counts_at_positives
from fastevals.infer.bootstrap.samples import poisson_tables
from fastevals.measure.metric_specs import ranking_metric
from fastevals.measure.probability_cells import N_BINS, probability_cells
from fastevals.scale.paired import INNER_EDGES, JointSums, differences
from fastevals.show.report.intervals import PROBABILITY_COLUMNS, column_metrics
from tests.reference.paired import covariance_of_rows, rows_by_two_places

LINEAR = ("roc_auc", "average_precision", "pr_auc", "brier_score", "log_loss", "accuracy", "recall")
SETTINGS, QUICK = (BootstrapSettings.checked(n, 0.95, "BCa", "two-sided", 0) for n in (1999, 399))


def made(kind: str, n: int, seed: int = 1) -> tuple[Any, dict[str, Any]]:
    """Return labels and three models' scores; the second differs, the third nearly equals the first."""
    rng = np.random.default_rng(seed)
    share = {"fraud": 0.005, "normal": 0.3}.get(kind, 0.1)
    y = (rng.random(n) < share).astype(int)
    y[:2] = 0, 1
    scores = rng.normal(size=n) + (2.0 if kind == "fraud" else 1.2) * y
    raw = {"a": scores, "b": scores + 0.6 * rng.normal(size=n), "c": 0.9 * scores + 0.1 * rng.normal(size=n)}
    if kind == "normal":
        return y, raw
    chances = {name: 1 / (1 + np.exp(2.0 - each)) for name, each in raw.items()}
    return y, {name: each.round(2) for name, each in chances.items()} if kind == "ties" else chances


def measured(y: Any, scores: Any, specs: Any) -> tuple[dict[str, Any], dict[str, FewCells]]:
    counts = {name: Ranking(y, each).counts for name, each in scores.items()}
    values = {
        name: {label: ranking_metric(spec).of_counts(each) for label, spec in specs.items()}
        for name, each in counts.items()
    }
    coarse = {name: FewCells.reduce(each, specs, probability_cells(each)) for name, each in counts.items()}
    return values, coarse


def estimates(cells: FewCells, specs: Any, values: Any, settings: BootstrapSettings) -> Any:
    told = {label: spec for label, spec in specs.items() if cells.tell(label, spec)}
    return make_estimates(FewCellSample(cells, told, values), told, settings)


def asked(y: Any, scores: Any, **point: Any) -> Any:
    """Return the metrics of a report's columns, without those that no model has."""
    specs = column_metrics(point.get("best"), point.get("threshold"), None)
    probabilities = all(each.min() >= 0 and each.max() <= 1 for each in scores.values())
    return {label: spec for label, spec in specs.items() if probabilities or label not in PROBABILITY_COLUMNS}


# Sums over rows -------------------------------------------------------------------------------------------------------


@pytest.mark.cases(1)
@pytest.mark.parametrize("kind", ["ties", "prob"])
def test_covariances_are_sums_over_rows_of_what_they_add(kind: str) -> None:
    y, scores = made(kind, 90, 3)
    specs = {name: spec for name, spec in asked(y, scores, threshold=0.3).items() if name in LINEAR}
    _, coarse = measured(y, scores, specs)
    joint = JointSums(coarse, specs)
    joint.add(y == 1, scores)
    assert joint.readings.linear == list(specs)
    for k, spec in enumerate(specs.values()):
        expected = covariance_of_rows(y, scores, ranking_metric(spec).of_counts)
        if spec.name in PROBABILITY_COLUMNS:  # cells have several scores, and a row is added, not left out
            np.testing.assert_allclose(joint.covariance(k) * (90 / 89) ** 2, expected, rtol=0.03)
        else:
            np.testing.assert_allclose(joint.covariance(k), expected, rtol=1e-6)


def test_covariances_of_calibration_bins_are_those_of_rows() -> None:
    y, scores = made("prob", 90, 3)
    specs = {name: spec for name, spec in asked(y, scores).items() if name == "expected_calibration_error"}
    joint = JointSums(measured(y, scores, specs)[1], specs)
    joint.add(y == 1, scores)
    bins = [np.searchsorted(INNER_EDGES, each)[:, np.newaxis] == np.arange(N_BINS) for each in scores.values()]
    off = np.hstack(
        [np.where(of, (y - each)[:, np.newaxis], 0.0) for of, each in zip(bins, scores.values(), strict=True)]
    )
    expected = off.T @ off - np.outer(off.sum(axis=0), off.sum(axis=0)) / y.size
    found = joint.covariance_of_bins().reshape(expected.shape)
    np.testing.assert_allclose(found, expected, atol=0.1)  # of about 2.5; cells have several scores


def test_rows_are_counted_by_the_groups_of_two_models() -> None:
    y, scores = made("ties", 300)
    specs = {"f1": metric("f1", best="f1"), "ks": metric("ks_statistic")}
    _, coarse = measured(y, scores, specs)
    joint = JointSums(coarse, specs)
    weights = np.arange(300) % 3
    joint.add(y == 1, scores, weights.astype(float))
    assert joint.n_added == weights.sum()
    for k in range(2):
        cuts = [
            model.counts.thresholds[1:][np.flatnonzero(np.diff(groups, append=-1))]
            for model, groups in zip(coarse.values(), _step_groups(joint, k), strict=True)
        ]
        counts = joint.counts_of_groups(k)
        for a, b in combinations(range(3), 2):
            names = list(scores)
            expected = rows_by_two_places(y, scores[names[a]], scores[names[b]], cuts[a][:-1], cuts[b][:-1], weights)
            np.testing.assert_array_equal(counts[:, a, : expected.shape[1], b, : expected.shape[2]], expected)


def _step_groups(joint: JointSums, k: int) -> list[Any]:
    """Return the group of each step in the models' counts, from the highest."""
    steps = []
    for terms, model in zip(joint.terms, joint.models.values(), strict=True):
        cells = np.empty(model.counts.tps.size - 1, dtype=np.uint16)
        terms.grid.find(model.counts.thresholds[1:].copy(), cells)
        steps.append(terms.groups[k][cells].astype(int))
    return steps


@pytest.mark.slow
def test_sums_are_the_same_bits_in_any_order_parts_and_threads() -> None:
    y, scores = made("prob", 70_000)
    specs = asked(y, scores, best="f1")
    values, coarse = measured(y, scores, specs)
    whole = JointSums(coarse, specs)
    with num_threads(1):
        whole.add_all(y == 1, scores)
        expected = differences(whole, values, QUICK)
    parts = whole.empty()
    order = np.random.default_rng(1).permutation(y.size)
    for rows in np.array_split(order, 7):
        part = whole.empty()
        part.add_all(y[rows] == 1, {name: each[rows] for name, each in scores.items()})
        parts.merge(part)
    assert parts.n_added == y.size
    for k in range(len(whole.readings.linear)):
        np.testing.assert_array_equal(parts.covariance(k), whole.covariance(k))
    np.testing.assert_array_equal(parts.covariance_of_bins(), whole.covariance_of_bins())
    assert differences(parts, values, QUICK) == expected


@pytest.mark.slow
def test_models_that_rank_alike_differ_by_nothing() -> None:
    y, scores = made("prob", 4000)
    scores = {"a": scores["a"], "b": scores["b"], "again": scores["a"].copy(), "bent": scores["a"] ** 3}
    specs = asked(y, scores, best="f1")
    values, coarse = measured(y, scores, specs)
    joint = JointSums(coarse, specs)
    joint.add_all(y == 1, scores)
    found = differences(joint, values, SETTINGS)
    pairs = list(combinations(scores, 2))
    for label, each in found.items():
        assert each[pairs.index(("a", "again"))] == (0.0, (0.0, 0.0), 1.0), label
        low, high = each[pairs.index(("a", "b"))].interval
        assert low < each[pairs.index(("a", "b"))].value < high
        if label not in PROBABILITY_COLUMNS:
            assert each[pairs.index(("a", "bent"))] == (0.0, (0.0, 0.0), 1.0), label


@pytest.mark.slow
def test_a_model_without_a_metric_spoils_no_other() -> None:
    y, scores = made("prob", 3000)
    scores["b"] = scores["b"] + 1
    specs = asked(y, {"a": scores["a"]}, best="f1")
    values, coarse = measured(y, scores, specs)
    for label in PROBABILITY_COLUMNS:
        values["b"][label] = float("nan")
    joint = JointSums(coarse, specs)
    joint.add_all(y == 1, scores)
    found = differences(joint, values, SETTINGS)
    for label in PROBABILITY_COLUMNS:
        first, second, third = found[label]
        assert np.isnan([first.value, *first.interval, first.pvalue, third.value]).all()
        assert second.interval.low < second.value < second.interval.high


# Cells of one model ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["prob", "ties", "normal"])
def test_thresholds_without_positives_make_no_difference(kind: str) -> None:
    """Streams count only at positives and just above them."""
    y, scores = made(kind, 5000)
    specs = column_metrics("matthews", None, None)
    counts = Ranking(y, scores["a"]).counts
    fewer, *_ = counts_at_positives(counts, [])
    assert fewer.tps.size <= 2 * y.sum() + 2
    again, *_ = counts_at_positives(fewer, [])
    coarse, other = (FewCells.reduce(each, specs) for each in (counts, fewer))
    assert coarse.places == other.places
    for name in ("thresholds", "tps", "fps"):
        np.testing.assert_array_equal(getattr(again, name), getattr(fewer, name))
        np.testing.assert_array_equal(getattr(coarse.counts, name), getattr(other.counts, name))
    np.testing.assert_array_equal(fewer.tps, counts.tps[counts.rows_at_least(fewer.thresholds)])
    np.testing.assert_array_equal(fewer.fps, counts.fps[counts.rows_at_least(fewer.thresholds)])
    cut, *_ = counts_at_positives(counts, [0.123])
    assert cut.fps[cut.rows_at_least(np.array(0.123))] == counts.fps[counts.rows_at_least(np.array(0.123))]


@pytest.mark.parametrize("cut", [0.123, 0.5, 2.0, -1.0, float("inf"), float("-inf")])
def test_fixed_thresholds_are_kept(cut: float) -> None:
    y, scores = made("prob", 3000)
    counts = Ranking(y, scores["a"]).counts
    coarse = FewCells.reduce(counts, {"recall": metric("recall", threshold=cut)})
    row, own = coarse.places["recall"], counts.rows_at_least(np.array(cut))
    assert (coarse.counts.tps[row], coarse.counts.fps[row]) == (counts.tps[own], counts.fps[own])


def test_many_thresholds_become_few_and_keep_what_is_best() -> None:
    y, scores = made("prob", 200_000)
    specs = asked(y, scores, best="f1")
    counts = Ranking(y, scores["a"]).counts
    coarse = FewCells.reduce(counts, specs, probability_cells(counts))
    assert coarse.counts.tps.size < 5000
    for label in ("f1", "accuracy", "ks_statistic", "roc_auc", "average_precision", "equal_error_rate"):
        of_counts = ranking_metric(specs[label]).of_counts
        exact = label not in ("roc_auc", "average_precision", "equal_error_rate")
        assert of_counts(coarse.counts) == pytest.approx(of_counts(counts), rel=0 if exact else 2e-3, abs=0)
    assert coarse.probabilities is not None
    for label in PROBABILITY_COLUMNS:
        of_counts = ranking_metric(specs[label]).of_counts
        assert of_counts(coarse.probabilities) == pytest.approx(of_counts(counts), rel=1e-4)
    assert (coarse.probabilities.n_pos, coarse.probabilities.n_neg) == (counts.n_pos, counts.n_neg)


def test_cells_of_probabilities_stay_in_their_bins() -> None:
    """Cells at an edge stay, too, though 1 minus a rounded mean may lie above it."""
    p = np.round(np.linspace(0, 1, 1001), 3)
    counts = Ranking(np.arange(1001) % 2, p).counts
    cells = probability_cells(counts)
    assert cells is not None
    edges = np.arange(1, 10) / 10
    for of in ("tps", "fps"):
        found, expected = (
            np.bincount(np.searchsorted(edges, each.thresholds[1:]), np.diff(getattr(each, of)), minlength=10)
            for each in (cells, counts)
        )
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_one_class_has_what_needs_no_other() -> None:
    for label in (0, 1):
        y, s = np.full(3000, label), np.random.default_rng(0).random(3000)
        specs = {"accuracy": metric("accuracy", threshold=0.5), "brier_score": metric("brier_score")}
        if not label:
            specs["f1"] = metric("f1", best="f1")  # 0 at all thresholds
        values, coarse = measured(y, {"a": s}, specs)
        found = estimates(coarse["a"], specs, values["a"], SETTINGS)
        expected = bootstrap((y, s), {name: specs[name] for name in ("accuracy", "brier_score")}, rng=0)
        assert "f1" not in found
        for name, each in expected.items():
            assert found[name].value == each.value
            assert found[name].standard_error == pytest.approx(each.standard_error, rel=0.1)


def test_counts_of_cells_are_poisson() -> None:
    for size in (0, 1, 7, 32, 33, 100, 4000):
        sizes = np.full(200_000, size, dtype=np.int64)
        counts = np.empty((1, sizes.size), dtype=np.int64)
        draw_counts(sizes, np.sqrt(sizes.astype(float)), *poisson_tables(1.0), np.uint64(size), 0, counts)
        assert counts.mean() == pytest.approx(size, abs=4 * np.sqrt(size / sizes.size))
        assert counts.var() == pytest.approx(size, abs=0.02 * size)
        assert counts.min() >= 0
    shares = np.array([1e-12, 0.01, 0.3, 0.5, 0.975, 1 - 1e-9])
    deviates = [-7.034484, -2.326348, -0.524401, 0.0, 1.959964, 5.997807]
    np.testing.assert_allclose([normal_quantile(share) for share in shares], deviates, atol=1e-5)


# Against replicates of the rows ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("kind", "point"),
    [
        ("prob", {"best": "f1"}),
        ("fraud", {"best": "f1"}),
        ("ties", {"threshold": 0.25}),
        ("ties", {"best": "f1"}),
        ("normal", {"best": "matthews"}),
    ],
)
def test_standard_errors_are_those_of_9999_replicates_of_rows(kind: str, point: Any) -> None:
    """Within 3 %, plus the replicates' uncertainty: 2 % of a standard error, 3 % of a simultaneous width.

    At another metric's best threshold twice as much: few replicates choose distant thresholds, and set the width.
    """
    few = point.get("best") == "matthews"  # which takes a hundred times as long as F1
    y, scores = made(kind, 200_000 if kind == "fraud" else 15_000 if few else 50_000)
    specs = asked(y, scores, **point)
    values, coarse = measured(y, scores, specs)
    joint = JointSums(coarse, specs)
    joint.add_all(y == 1, scores)
    found = differences(joint, values, SETTINGS)
    settings = BootstrapSettings.checked(9999, 0.95, "BCa", "two-sided", 0)
    own = {name: estimates(each, specs, values[name], settings) for name, each in coarse.items()}
    expected = compare_rankings(y, scores, metrics=specs, n_resamples=9999, rng=1)
    far = {}
    for label, comparison in expected.items():
        wide = 2 if specs[label].options.get("best", label) != label else 1
        for name, estimate in comparison.estimates.items():
            ratio = own[name][label].standard_error / estimate.standard_error
            if not abs(ratio - 1) <= wide * 0.05 and np.isfinite(estimate.standard_error):
                far[label, name] = ratio
        for each, wanted in zip(found[label], comparison.differences, strict=True):
            ratio = np.diff(each.interval)[0] / np.diff(wanted.confidence_interval)[0]
            if not abs(ratio - 1) <= wide * 0.06 and np.isfinite(wanted.value):
                far[label, wanted.model, wanted.reference] = ratio
    assert far == {}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_intervals_cover() -> None:
    """In 95 % of 200 data sets, intervals contain the true AUC, AP, and difference of two models."""
    n, n_sets, missed = 20_000, 200, dict.fromkeys(("auc", "ap", "difference"), 0)
    specs = {"auc": metric("roc_auc"), "ap": metric("average_precision")}
    y, scores = made("prob", 4_000_000, 99)
    truth, _ = measured(y, {name: scores[name] for name in "ab"}, specs)
    for seed in range(n_sets):
        y, scores = made("prob", n, seed)
        some = {name: scores[name] for name in "ab"}
        values, coarse = measured(y, some, specs)
        own = estimates(coarse["a"], specs, values["a"], SETTINGS._replace(n_resamples=499))
        for name in ("auc", "ap"):
            low, high = own[name].confidence_interval
            missed[name] += not low <= truth["a"][name] <= high
        joint = JointSums(coarse, specs)
        joint.add(y == 1, some)
        low, high = differences(joint, values, SETTINGS)["auc"][0].interval
        missed["difference"] += not low <= truth["a"]["auc"] - truth["b"]["auc"] <= high
    assert all(2 <= each <= 20 for each in missed.values()), missed


def test_counts_of_weights_are_rows_repeated() -> None:
    y, scores = made("ties", 2000)
    weights = np.arange(2000) % 4
    specs = asked(y, scores, best="f1")
    several = {name: Ranking(y, each, sample_weight=weights).counts for name, each in scores.items()}
    repeated = {name: Ranking(y.repeat(weights), each.repeat(weights)).counts for name, each in scores.items()}
    for name, counts in several.items():
        assert isinstance(counts, ThresholdCounts)
        found, wanted = (FewCells.reduce(each, specs, probability_cells(each)) for each in (counts, repeated[name]))
        np.testing.assert_array_equal(found.counts.tps, wanted.counts.tps)
        np.testing.assert_array_equal(found.counts.thresholds, wanted.counts.thresholds)


def test_replicates_are_those_of_rows_where_positives_are_few() -> None:
    """All thresholds with positives are kept, so only the draws differ."""
    y, scores = made("fraud", 30_000)
    specs = asked(y, scores, best="f1")
    values, coarse = measured(y, {"a": scores["a"]}, specs)
    found = estimates(coarse["a"], specs, values["a"], SETTINGS)
    expected = bootstrap((y, scores["a"]), specs, n_resamples=1999, rng=1)
    for name, each in expected.items():
        assert found[name].value == each.value
        assert found[name].standard_error == pytest.approx(each.standard_error, rel=0.12), name


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_a_factor_makes_its_covariance(rank: int) -> None:
    rows = np.random.default_rng(rank).normal(size=(rank, 6))
    covariance, factor, order = rows.T @ rows, np.zeros((6, 6)), np.empty(6, np.int64)
    assert factorize(covariance, factor, order) == rank  # rounding errors do not count as rank
    np.testing.assert_allclose(factor[:rank].T @ factor[:rank], covariance[np.ix_(order, order)], atol=1e-12)
    assert (np.tril(factor[:rank, :rank], -1) == 0).all()


# Weights --------------------------------------------------------------------------------------------------------------


def weighed(y: Any, scores: Any, weights: Any, specs: Any) -> JointSums:
    """Return the sums over weighted rows, with weights as integer counts."""
    whole = np.rint(weights * (weights.sum() / (weights**2).sum() * 1024))
    counts = {name: Ranking(y, each, frequency_weight=whole).counts for name, each in scores.items()}
    squares = {name: Ranking(y, each, frequency_weight=whole**2).counts for name, each in scores.items()}
    cells = {
        name: FewCells.reduce(each, specs, probability_cells(each), squares[name]) for name, each in counts.items()
    }
    joint = JointSums(cells, specs)
    joint.add_all(y == 1, scores, whole)
    return joint


@pytest.mark.slow
def test_weights_that_are_alike_change_nothing() -> None:
    y, scores = made("prob", 20_000)
    specs = asked(y, scores, best="f1")
    values, cells = measured(y, scores, specs)
    plain, nines = JointSums(cells, specs), weighed(y, scores, np.full(20_000, 9.0), specs)
    plain.add_all(y == 1, scores)
    assert nines.n_added**2 / nines.squared == 20_000
    for k in range(len(plain.readings.linear)):  # leaves out part of a row instead of a row
        np.testing.assert_allclose(nines.covariance(k), plain.covariance(k), rtol=0.02)
    found, expected = (differences(each, values, SETTINGS) for each in (nines, plain))
    for label, pairs in expected.items():
        for one, other in zip(found[label], pairs, strict=True):
            assert one.interval == pytest.approx(other.interval, abs=0.03 * (other.interval.high - other.interval.low))
            assert one.pvalue == pytest.approx(other.pvalue, abs=0.03)


@pytest.mark.cases(1)
@pytest.mark.parametrize("scale", [1, 1e-6])
def test_products_are_of_squared_weights(scale: float) -> None:
    y, scores = made("ties", 6000)
    weights = np.random.default_rng(3).lognormal(0, 0.7, y.size) * scale
    specs = {"roc_auc": metric("roc_auc"), "accuracy": metric("accuracy", threshold=0.5), "f1": metric("f1", best="f1")}
    joint = weighed(y, scores, weights, specs)
    expected = delong(y, scores, sample_weight=weights).covariance
    np.testing.assert_allclose(joint.covariance(0), expected, rtol=0.02)
    right = np.array([(each >= 0.5) == (y == 1) for each in scores.values()])
    off = right - np.average(right, axis=1, weights=weights)[:, None]
    expected = (off * weights**2) @ off.T / weights.sum() ** 2
    np.testing.assert_allclose(joint.covariance(1), expected, rtol=0.02)
    counts, sizes = joint.counts_of_groups(0), joint.sizes_of_groups(0)
    parts = weights / (weights**2).sum() * weights.sum()
    for flag in (0, 1):
        assert sizes[flag, 0].sum() == pytest.approx(128 * parts[y == flag].sum(), rel=1e-3)
        assert np.einsum("ww->w", counts[flag, 0, :, 0]).sum() == pytest.approx(
            128**2 * (parts[y == flag] ** 2).sum(), rel=0.01
        )
        assert counts[flag, 0, :, 1].sum() == counts[flag, 1, :, 1].sum() == counts[flag, 0, :, 0].sum()
