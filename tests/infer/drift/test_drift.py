"""Drift of scores: the twin, SciPy's distances, levels without drift, summaries, and odd input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastevals import Ranking, RankingFolds, ScoreDrifts, UndefinedMetricWarning, score_drift
from fastevals.infer.drift import measures, significance
from fastevals.infer.drift.samples import ScoreSample
from fastevals.scale import RankingSummary
from tests.reference import drift as reference
from tests.strategies import BOUNDED

SCORES = st.integers(0, 9).map(lambda k: k / 8)


@BOUNDED
@given(st.lists(SCORES, min_size=1, max_size=15), st.lists(SCORES, min_size=1, max_size=15), st.data())
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_equals_the_twin(today: list[float], yesterday: list[float], data: st.DataObject) -> None:
    n_bins = data.draw(st.integers(1, len(yesterday)))
    found = score_drift(today, yesterday, n_bins=n_bins)
    edges = reference.quantile_edges(yesterday, n_bins)
    assert found.upper_edges.tolist() == [*edges, math.inf]
    assert found.lower_edges.tolist() == [-math.inf, *edges]
    assert found.today.tolist() == [float(each) for each in reference.shares(today, edges)]
    assert found.yesterday.tolist() == [float(each) for each in reference.shares(yesterday, edges)]
    if edges:
        assert found.psi == pytest.approx(reference.psi(today, yesterday, edges), rel=1e-12, abs=1e-15)
        assert found.contributions.sum() == pytest.approx(found.psi, rel=1e-12, abs=1e-15)
    distance = reference.ks_distance(today, yesterday)
    assert found.ks == pytest.approx(float(distance), rel=1e-14)
    assert found.ks_pvalue == pytest.approx(
        float(reference.pvalue_of_ks(len(today), len(yesterday), distance)), rel=1e-9, abs=1e-12
    )
    assert found.wasserstein == pytest.approx(stats.wasserstein_distance(today, yesterday), rel=1e-12, abs=1e-15)
    given_edges = score_drift(today, yesterday, edges=[0.2, 0.625])
    assert given_edges.psi == pytest.approx(reference.psi(today, yesterday, [0.2, 0.625]), rel=1e-12, abs=1e-15)


def test_the_smallest_possible_distance_has_a_pvalue_of_1() -> None:
    """SciPy's exact p-value is rounded to more than 1 here, and it warns."""
    assert score_drift([0.0] * 7, [0.0] * 6 + [0.1], edges=[0.05]).ks_pvalue == 1.0


def samples(n: int, m: int, shift: float, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) + shift, rng.normal(size=m)


def test_large_samples_have_scipys_distances_and_yurdakuls_reference() -> None:
    today, yesterday = samples(5000, 7000, 0.1)
    found = score_drift(today, yesterday)
    expected = stats.ks_2samp(today, yesterday, method="asymp")
    assert (found.ks, found.ks_pvalue) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
    assert found.wasserstein == pytest.approx(stats.wasserstein_distance(today, yesterday), rel=1e-12)
    scale = 1 / 5000 + 1 / 7000
    assert found.psi_pvalue == pytest.approx(stats.chi2.sf(found.psi / scale, 9), rel=1e-9)
    assert found.noticeable_psi == pytest.approx(scale * stats.chi2.isf(0.05, 9))


def test_size_and_significance_are_both_said() -> None:
    few = score_drift(*samples(35, 1000, 0.0))
    assert few.psi > 0.1
    assert not few.significant
    assert few.conclusion.startswith("No significant drift: PSI ")
    assert few.conclusion.endswith(
        f" With 35 rows today and 1,000 yesterday, only a PSI above {few.noticeable_psi:.3g} is significant."
    )
    many = score_drift(*samples(200_000, 200_000, 0.02))
    assert many.significant
    assert many.conclusion.startswith("The scores have shifted significantly: PSI 0.000")
    assert "(small: below 0.1 by convention; p < 0.0001)" in many.conclusion
    large = score_drift(*samples(5000, 2000, 1.0))
    assert "(large: above 0.25 by convention; p < 0.0001)" in large.conclusion
    assert "(moderate: 0.1 to 0.25 by convention; p < 0.0001)" in score_drift(*samples(5000, 5000, 0.4)).conclusion


def test_small_samples_have_the_same_pvalue_each_time() -> None:
    today, yesterday = samples(50, 60, 0.3)
    assert score_drift(today, yesterday).to_dict() == score_drift(today, yesterday).to_dict()
    found = score_drift(today, yesterday)
    at_least = score_drift(today, yesterday, alpha=min(found.psi_pvalue * 1.01, 0.99))
    assert at_least.noticeable_psi <= found.psi * (1 + 1e-9)


def test_standard_errors_are_those_of_the_delta_method() -> None:
    today, yesterday = samples(3000, 4000, 0.8)
    found = score_drift(today, yesterday, edges=[-0.5, 0.2, 1.0])
    rng = np.random.default_rng(1)
    drawn = [
        score_drift(rng.choice(today, 3000), rng.choice(yesterday, 4000), edges=[-0.5, 0.2, 1.0]) for _ in range(100)
    ]
    assert found.psi_standard_error == pytest.approx(np.std([each.psi for each in drawn]), rel=0.3)
    assert found.wasserstein_standard_error == pytest.approx(np.std([each.wasserstein for each in drawn]), rel=0.3)


def test_empty_bins_count_as_half_a_row_and_the_result_says_so() -> None:
    found = score_drift([0.9] * 4, [0.1, 0.2, 0.3, 0.4, 0.5, 0.9], n_bins=2)
    assert found.today.tolist() == [0.0, 1.0]
    assert found.psi == pytest.approx((0.125 - 0.5) * math.log(0.25) + 0.5 * math.log(2))
    assert found.caution.startswith("1 of 4 counts by bin are 0 and count as half a row")


def test_one_distinct_score_leaves_only_the_distances() -> None:
    with pytest.warns(UndefinedMetricWarning, match="PSI is undefined"):
        found = score_drift([0.9] * 30, [0.5] * 40)
    assert math.isnan(found.psi)
    assert (found.ks, found.significant) == (1.0, True)
    assert found.wasserstein == pytest.approx(0.4)
    assert "PSI nan (undefined)" in found.conclusion
    few = score_drift([1, 2, 3], [1, 1, 2, 2, 3, 3], n_bins=6)
    assert few.upper_edges.tolist() == [1, 2, math.inf]


def test_rankings_counts_and_summaries_give_the_same_without_their_labels() -> None:
    rng = np.random.default_rng(0)
    today, yesterday = np.round(rng.random(300), 2), np.round(rng.random(400) ** 1.2, 2)
    expected = score_drift(today, yesterday).to_dict()
    y, z = rng.integers(0, 2, 300), rng.integers(0, 2, 400)
    summary = RankingSummary()
    summary.update(z, yesterday)
    pool = RankingFolds.from_scores(y, today, np.arange(300) % 3).pool()
    for one, other in ((Ranking(y, today), Ranking(z, yesterday).counts), (today, summary), (pool, yesterday)):
        assert score_drift(one, other).to_dict() == expected


def test_ranges_of_scores_are_said_and_make_the_pvalue_larger() -> None:
    today, yesterday = samples(2000, 2000, 0.15)
    summaries = []
    for values in (today, yesterday):
        summary = RankingSummary(cells=256)
        summary.update(values > 0, 1 / (1 + np.exp(-values)))
        summaries.append(summary)
    found, exact = score_drift(*summaries), score_drift(today, yesterday)
    assert abs(found.ks - exact.ks) < 0.02
    assert found.ks_pvalue >= exact.ks_pvalue
    assert math.isnan(found.wasserstein)
    assert found.caution.startswith("Rows were counted in ranges of scores: ")


def test_weights_have_sizes_but_no_significance() -> None:
    rng = np.random.default_rng(0)
    today, yesterday, copies = rng.random(60), rng.random(90), rng.integers(1, 4, 60)
    weighted = Ranking(today > 0.5, today, sample_weight=copies)
    found = score_drift(weighted, yesterday, n_bins=5)
    expected = score_drift(np.repeat(today, copies), yesterday, n_bins=5)
    assert (found.psi, found.ks) == pytest.approx((expected.psi, expected.ks))
    assert found.wasserstein == pytest.approx(expected.wasserstein)
    assert math.isnan(found.psi_pvalue)
    assert math.isnan(found.ks_pvalue)
    assert found.conclusion.endswith("Significance is unknown.")
    assert found.caution.startswith("P-values are unknown, because sums of squared weights are unknown: pass scores")


def test_weights_have_pvalues_from_the_variance_of_weighted_shares() -> None:
    today, yesterday = samples(400, 500, 0.0)
    weights = np.exp(today / 2), np.ones(500)
    found = score_drift(today, yesterday, sample_weight=weights)
    alike = score_drift(today, yesterday, sample_weight=(weights[0] * 1e-200, None))
    assert [alike.psi, alike.ks, alike.psi_pvalue, alike.ks_pvalue] == pytest.approx(
        [found.psi, found.ks, found.psi_pvalue, found.ks_pvalue], rel=1e-9
    )
    assert alike.psi_standard_error == pytest.approx(found.psi_standard_error, rel=1e-9)
    assert found.significant  # weights shift the scores
    assert found.wasserstein == pytest.approx(stats.wasserstein_distance(today, yesterday, *weights))
    equal = score_drift(today, yesterday, sample_weight=(np.full(400, 0.3), None))
    rows = score_drift(today, yesterday)
    assert equal.psi_pvalue == pytest.approx(rows.psi_pvalue, abs=0.04)
    assert equal.ks_pvalue == pytest.approx(rows.ks_pvalue, abs=0.08)
    assert equal.psi_standard_error == pytest.approx(rows.psi_standard_error, rel=1e-9)
    assert equal.wasserstein_standard_error == pytest.approx(rows.wasserstein_standard_error, rel=1e-9)
    assert "With these weights, only a PSI above" in equal.conclusion
    summary = RankingSummary()
    summary.update(today > 0, today, sample_weight=np.floor(weights[0] * 10))
    expected = score_drift(today, yesterday, sample_weight=(np.floor(weights[0] * 10), None))
    counted = score_drift(summary, yesterday)
    for name in ("psi_pvalue", "ks_pvalue", "psi_standard_error", "wasserstein_standard_error"):
        assert getattr(counted, name) == pytest.approx(getattr(expected, name), rel=1e-9)
    few = score_drift(today[:30], yesterday, sample_weight=(weights[0][:30], None))
    assert "P-values are rough, because the weights leave only" in few.caution


def test_an_empty_bin_of_weighted_rows_counts_as_half_an_effective_row() -> None:
    options = {"edges": [0.5]}
    rows = score_drift([0.6, 0.7, 0.8, 0.9], [0.1, 0.6], **options)
    for unit in (0.25, 8.0):
        weighted = score_drift([0.6, 0.7, 0.8, 0.9], [0.1, 0.6], sample_weight=([unit] * 4, None), **options)
        assert weighted.psi == pytest.approx(rows.psi)


def test_clusters_on_both_days_cancel_and_clusters_of_one_day_count_as_few_rows() -> None:
    rng = np.random.default_rng(0)
    customers = np.repeat(np.arange(60), 20)
    levels = np.repeat(rng.normal(size=(2, 60)), 20, axis=1)
    today, yesterday = levels + rng.normal(0, 0.2, (2, 1200))
    found = score_drift(today, yesterday, groups=(customers, customers + 100))
    rows = score_drift(today, yesterday)
    assert (found.psi, found.ks, found.wasserstein) == pytest.approx((rows.psi, rows.ks, rows.wasserstein))
    assert rows.ks_pvalue < 0.01 < 0.2 < found.ks_pvalue
    assert found.wasserstein_standard_error > 3 * rows.wasserstein_standard_error
    assert found.psi_standard_error > 3 * rows.psi_standard_error
    assert found.to_text().startswith("Score drift: 1,200 rows today, 1,200 yesterday in 120 clusters")
    shift = 0.15  # of the same customers
    moved = levels[0] + shift + rng.normal(0, 0.2, 1200), levels[0] + rng.normal(0, 0.2, 1200)
    alone = score_drift(*moved, groups=(customers, customers + 100))
    shared = score_drift(*moved, groups=(customers, customers))
    assert shared.ks_pvalue < 0.01 < 0.1 < alone.ks_pvalue
    assert (shared.n_clusters, alone.n_clusters) == (60, 120)
    own = np.arange(1200)
    single = score_drift(today, yesterday, groups=(own, own + 5000))
    assert single.psi_standard_error == pytest.approx(rows.psi_standard_error, rel=0.001)
    assert single.wasserstein_standard_error == pytest.approx(rows.wasserstein_standard_error, rel=0.001)
    with pytest.warns(UndefinedMetricWarning, match="PSI is undefined"):
        constant = score_drift([0.4] * 1200, [0.6] * 1200, groups=(customers, customers))
    assert constant.ks_pvalue < 0.001
    weighted = score_drift(today, yesterday, groups=(customers, customers), sample_weight=(np.ones(1200), None))
    assert weighted.ks_pvalue == score_drift(today, yesterday, groups=(customers, customers)).ks_pvalue


def test_several_models_are_a_mapping() -> None:
    today, yesterday = samples(300, 300, 0.5)
    found = score_drift({"a": today, "b": yesterday}, {"b": yesterday, "a": yesterday})
    assert isinstance(found, ScoreDrifts)
    assert found["a"].to_dict() == score_drift(today, yesterday).to_dict()
    assert (found["b"].psi, found["b"].ks_pvalue) == (0.0, 1.0)
    assert found.to_frame("pandas")["model"].tolist() == ["a"] * 10 + ["b"] * 10
    assert found.to_text().count("KS distance") >= 2
    assert max(map(len, found.to_text().split("\n"))) <= 88


def test_extreme_scores() -> None:
    big = 2**60
    found = score_drift(np.arange(4) + big, np.arange(4) + big + 1, n_bins=2)
    assert (found.ks, found.psi) == pytest.approx((0.25, 0.25 * math.log(3) + 0.25 * math.log(1)), abs=0.5)
    assert score_drift([-1e308, 0.0], [0.0, 1e308], n_bins=2).wasserstein == pytest.approx(1e308)
    mixed = score_drift(np.array([1, 2, 3]), np.array([1.5, 2.5]), n_bins=2)
    assert mixed.wasserstein == pytest.approx(stats.wasserstein_distance([1, 2, 3], [1.5, 2.5]))
    assert score_drift([0.5], [0.5, 0.6], n_bins=2).ks == 0.5


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (([], [1, 2]), {}, "today is empty"),
        (([1, 2], []), {}, "yesterday is empty"),
        (([math.nan, 1], [1, 2]), {}, "today must be finite, but has 1 NaN value, the first at"),
        (([1, 2], [1, math.inf]), {}, "yesterday must be finite"),
        ((["a", "b"], [1, 2]), {}, "today must"),
        (([[1, 2]], [1, 2]), {}, "today must be 1-D"),
        (([1, 2], [1, 2]), {"n_bins": 0}, "n_bins must be an integer from 1 to 10000, got 0"),
        (([1, 2], [1, 2]), {"n_bins": 3}, "n_bins must be at most yesterday's rows, 2, got 3"),
        (([1, 2], [1, 2]), {"edges": [0.5, 0.2]}, "edges must be strictly ascending, got 0.2 after 0.5"),
        (([1, 2], [1, 2]), {"edges": [math.nan]}, "edges must be finite"),
        (([1, 2], [1, 2]), {"edges": ["a"]}, "edges must"),
        (([1, 2], [1, 2]), {"alpha": 1.0}, "alpha must be"),
        (({"a": [1, 2]}, [1, 2]), {}, r"today and yesterday must have the same models, got \['a'\] and one sample"),
        (({"a": [1, 2]}, {"b": [1, 2]}), {}, r"must have the same models, got \['a'\] and \['b'\]"),
        (({"a": [math.nan]}, {"a": [1, 2]}), {}, r"today\['a'\] must be finite"),
        (([1, 2], [1, 2]), {"groups": [1, 2, 3]}, r"groups must be a pair \(groups of today, groups of yesterday\)"),
        (([1, 2], [1, 2]), {"groups": ([1, 2], [1])}, r"groups\[1\]"),
        (([1, 2], [1, 2]), {"sample_weight": [1, 2]}, r"sample_weight\[0\] must"),
        (([1, 2], [1, 2]), {"sample_weight": ([1, -1], None)}, r"sample_weight\[0\] must not be negative"),
        (([1, 2], [1, 2]), {"sample_weight": (None, [1])}, r"sample_weight\[1\] has 1 row"),
        (
            (Ranking([0, 1], [1, 2]), [1, 2]),
            {"sample_weight": ([1, 1], None)},
            r"sample_weight\[0\] requires rows: today must be scores, got Ranking",
        ),
    ],
)
def test_odd_input_is_named(given: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_drift(*given, **options)


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [17, 1])
@pytest.mark.parametrize(("n", "m"), [(35, 35), (35, 1000), (1000, 35), (3000, 3000)])
def test_levels_without_drift(n: int, m: int, decimals: int) -> None:
    rng = np.random.default_rng(0)
    found = [score_drift(*(np.round(rng.random(size), decimals) for size in (n, m))) for _ in range(400)]
    few_rows_and_scores = n == m == 35 and decimals == 1  # 6.7 % in 1,500 data sets
    assert np.mean([each.psi_pvalue < 0.05 for each in found]) <= (0.1 if few_rows_and_scores else 0.08)
    assert np.mean([each.ks_pvalue < 0.05 for each in found]) <= 0.08
    assert np.mean([each.significant for each in found]) <= 0.07
    assert np.mean([each.psi_pvalue < 0.05 for each in found]) >= 0.02


@pytest.mark.slow
@pytest.mark.parametrize("on_both_days", [False, True])
def test_levels_without_drift_with_weights_and_clusters(on_both_days: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(significance, "N_DRAWS", 999)
    customers, found = np.repeat(np.arange(100), 5), []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        levels = rng.normal(size=(2, 100))[[0, 0] if on_both_days else [0, 1]][:, customers]
        today, yesterday = levels + rng.normal(size=(2, 500))
        if on_both_days:
            drift = score_drift(today, yesterday, groups=(customers, customers))
        else:
            drift = score_drift(*rng.normal(size=(2, 500)), sample_weight=tuple(rng.lognormal(0, 1, (2, 500))))
            found.append((drift.psi_pvalue, drift.ks_pvalue))
            drift = score_drift(today, yesterday, groups=(customers, customers + 100))
        found.append((drift.psi_pvalue, drift.ks_pvalue))
    assert (np.mean(np.array(found) < 0.05, axis=0) <= 0.08).all()


def test_the_kernel_gives_what_bins_of_distinct_scores_give() -> None:
    rng = np.random.default_rng(0)
    today, yesterday = np.round(rng.normal(size=90_000), 4), np.round(rng.normal(0.02, 1.0, 120_000), 4)
    pair = ScoreSample(np.sort(today)), ScoreSample(*np.unique(yesterday, return_counts=True))
    expected = measures._distances_of_bins(pair)
    assert measures._distances_of_rows(pair) == pytest.approx(expected, rel=1e-11)
    assert measures._distances_of_rows(pair[::-1])[:3] == pytest.approx(expected[:3], rel=1e-11)
    assert measures._distances_of_rows((pair[0], pair[0])) == (0.0, math.inf, 0.0, 0.0)
    far = tuple(ScoreSample(each.scores * 1e300, each.masses) for each in pair)
    assert measures._distances_of_rows(far)[2] == pytest.approx(expected[2] * 1e300, rel=1e-9)
