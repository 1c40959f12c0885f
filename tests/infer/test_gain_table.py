"""Gain tables: the twin in fractions, intervals of weighted and clustered rows, summaries, and odd input."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from fastevals import GainTable, Ranking, RankingFolds, UndefinedMetricWarning, gain_table
from fastevals.scale import RankingSummary
from tests.reference import gain_table as reference
from tests.strategies import BOUNDED

Y = [1, 1, 0, 1, 0, 0, 1, 0, 0, 0]
S = [0.9, 0.8, 0.8, 0.8, 0.5, 0.4, 0.3, 0.3, 0.2, 0.1]
COLUMNS = {"rate": "rates", "gain": "gains", "lift": "lifts", "cumulative_lift": "cumulative_lifts", "ks": "ks"}


def bounds(n_bins: int, shares: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
    cuts = [Fraction(k, n_bins) for k in range(n_bins + 1)]
    return [*pairwise(cuts), *((Fraction(0), share) for share in shares), (Fraction(0), Fraction(1))]


@BOUNDED
@given(st.data())
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_equals_the_twin(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 30))
    y = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    s = data.draw(st.lists(st.integers(0, 8).map(lambda k: k / 8), min_size=n, max_size=n))
    n_bins = data.draw(st.integers(1, n))
    table = gain_table(y, s, n_bins, shares=[0.01, 0.35], pos_label=1)
    expected = reference.gain_table(y, s, bounds(n_bins, [Fraction(1, 100), Fraction(35, 100)]))
    assert table.rows.tolist() == [row["rows"] for row in expected]
    assert table.positives.tolist() == [float(row["positives"]) for row in expected]
    assert table.thresholds.tolist() == [row["threshold"] for row in expected]
    np.testing.assert_allclose(table.mean_predicted, [float(row["mean_predicted"]) for row in expected], rtol=1e-13)
    for column, attribute in COLUMNS.items():
        values = [math.nan if row[column] is None else float(row[column]) for row in expected]
        np.testing.assert_allclose(getattr(table, attribute), values, rtol=1e-14, atol=1e-15)


def test_a_tied_group_is_divided_in_expectation_and_the_table_says_so() -> None:
    table = gain_table(Y, S, 5, shares=[])
    assert table.positives.tolist() == [5 / 3, 4 / 3, 0.0, 1.0, 0.0, 4.0]
    assert table.n_divided == 1
    assert table.caution.startswith("1 of 4 cuts fall among rows with equal scores, whose positives are divided")
    assert gain_table(Y, -np.arange(10), 5).caution == ""
    constant = gain_table(Y, [0.5] * 10, 5, shares=[])
    assert constant.lifts.tolist() == [1.0] * 6
    assert constant.ks.tolist() == [0.0] * 6


def wilson(rate: float, n: float) -> tuple[float, float]:
    z = norm.isf(0.025)
    middle, width = rate + z**2 / (2 * n), z * math.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    return (middle - width) / (1 + z**2 / n), (middle + width) / (1 + z**2 / n)


def test_intervals_are_wilsons() -> None:
    table = gain_table(Y, np.arange(10)[::-1], 5, shares=[])
    for row in zip(table.rates, table.rows, table.low, table.high, strict=True):
        np.testing.assert_allclose(row[2:], wilson(*row[:2]), atol=1e-15)
    wide = gain_table(Y, np.arange(10)[::-1], 5, shares=[], confidence_level=0.99)
    assert (wide.high >= table.high).all()
    assert wide.low[0] < table.low[0]


def test_intervals_of_clusters_use_the_variance_between_them() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    y = (rng.random(200) < np.repeat(rng.random(40), 5)).astype(int)
    s, w = rng.permutation(200), rng.integers(1, 4, 200)
    table = gain_table(y, s, 2, shares=[], groups=groups, sample_weight=None)
    weighted = gain_table(y, s, 1, shares=[], groups=groups, sample_weight=w)
    for k, (start, stop) in enumerate(bounds(2, [])):
        rate, variance = reference.cluster_rows(y.tolist(), s.tolist(), [1.0] * 200, groups, start, stop)
        sized = len({*groups[np.argsort(-s)][math.ceil(start * 200) : math.ceil(stop * 200)]})
        shrunk = (norm.isf(0.025) / t.isf(0.025, sized - 1)) ** 2
        expected = wilson(rate, min(rate * (1 - rate) / variance, table.rows[k]) * shrunk)
        np.testing.assert_allclose((table.low[k], table.high[k]), expected, rtol=1e-12)
    rate, variance = reference.cluster_rows(y.tolist(), s.tolist(), w.tolist(), groups, Fraction(0), Fraction(1))
    shrunk = (norm.isf(0.025) / t.isf(0.025, 39)) ** 2
    np.testing.assert_allclose((weighted.low[0], weighted.high[0]), wilson(rate, rate * (1 - rate) / variance * shrunk))
    rows = gain_table(y, s, 2, shares=[])
    assert rows.high[2] - rows.low[2] < table.high[2] - table.low[2]


def test_a_bin_with_one_cluster_has_no_interval_and_a_caution() -> None:
    table = gain_table(Y, np.arange(10)[::-1], 5, shares=[], groups=np.arange(10) // 2)
    assert np.isnan(table.low).tolist() == [True] * 5 + [False]
    assert table.caution == (
        "Intervals need at least two clusters per bin, but 5 of 6 rows of the table have only one: use fewer bins."
    )
    assert table.rates.tolist() == [1.0, 0.5, 0.0, 0.5, 0.0, 0.4]


def test_equal_weights_change_nothing_and_copies_are_rows() -> None:
    plain, weighted = gain_table(Y, S), gain_table(Y, S, sample_weight=[0.1] * 10)
    for name in (*COLUMNS.values(), "low", "high", "mean_predicted", "thresholds"):
        np.testing.assert_allclose(getattr(weighted, name)[:10], getattr(plain, name)[:10], rtol=1e-9, atol=1e-15)
    copies = [1, 2, 1, 3, 1, 1, 2, 1, 0, 1]
    repeated = gain_table(np.repeat(Y, copies), np.repeat(S, copies), 3)
    counted = gain_table(Y, S, 3, frequency_weight=copies)
    assert counted.to_dict() == repeated.to_dict()
    clusters = gain_table(Y, S, 2, frequency_weight=copies, groups=range(10))
    alike = gain_table(np.repeat(Y, copies), np.repeat(S, copies), 2, groups=np.repeat(range(10), copies))
    np.testing.assert_allclose(clusters.low, alike.low, rtol=1e-12)


def test_weights_of_rows_and_of_a_summary_give_the_same_interval() -> None:
    rng = np.random.default_rng(1)
    y, s, w = rng.integers(0, 2, 60), rng.integers(0, 20, 60) / 20, rng.integers(1, 9, 60)
    summary = RankingSummary()
    summary.update(y, s, sample_weight=w)
    found, expected = gain_table(summary, n_bins=4), gain_table(y, s, 4, sample_weight=w)
    np.testing.assert_allclose(found.low, expected.low, rtol=1e-12)
    for factor in (1e-200, 1e200):
        np.testing.assert_allclose(gain_table(y, s, 4, sample_weight=w * factor).high, expected.high, rtol=1e-12)
    unknown = gain_table(Ranking(y, s, sample_weight=w), n_bins=4)
    assert np.isnan(unknown.low).all()
    assert "pass the rows and sample_weight" in unknown.caution
    squares = [np.square(w / w.sum())[y == flag].sum() for flag in (0, 1)]
    rate = expected.rates[-1]
    variance = squares[1] * (1 - rate) ** 2 + squares[0] * rate**2
    means = [w[y == flag].mean() / w.sum() for flag in (0, 1)]
    spread = sum(squares[k] / means[k] ** 2 for k in (0, 1)) / 60
    equal = (means[1] * rate * (1 - rate) ** 2 + means[0] * (1 - rate) * rate**2) * spread
    effective = rate * (1 - rate) / max(variance, equal)
    np.testing.assert_allclose((expected.low[-1], expected.high[-1]), wilson(rate, effective))


def test_weights_that_depend_on_the_label_alone_have_the_linearised_variance() -> None:
    y, s = np.arange(60) % 4 == 0, np.arange(60)
    found = gain_table(y, s, 1, shares=[], sample_weight=np.where(y, 1, 10))
    rate = 15 / (15 + 450)
    variance = (15 * (1 - rate) ** 2 + 45 * 100 * rate**2) / (15 + 450) ** 2
    np.testing.assert_allclose((found.low[0], found.high[0]), wilson(rate, rate * (1 - rate) / variance))
    single = gain_table(y, s, 1, shares=[], sample_weight=np.where(y, 1, 10), groups=np.arange(60))
    shrunk = (norm.isf(0.025) / t.isf(0.025, 59)) ** 2 * 59 / 60
    np.testing.assert_allclose((single.low[0], single.high[0]), wilson(rate, rate * (1 - rate) / variance * shrunk))


def test_ranges_of_scores_widen_the_intervals() -> None:
    rng = np.random.default_rng(2)
    y, s = rng.random(4000) < 0.2, rng.random(4000)
    summary = RankingSummary(cells=64)
    summary.update(y, s)
    found, rows = gain_table(summary), gain_table(y, s)
    assert (found.low <= rows.low + 1e-15).all()
    assert (found.high >= rows.high - 1e-15).all()
    assert (np.abs(found.positives - rows.positives) < 10).all()
    assert np.isnan(found.mean_predicted).all()
    assert found.caution.startswith("Rows were counted in ranges of scores: ")
    finer = RankingSummary(cells=2**14)
    finer.update(y, s)
    assert gain_table(finer).to_dict() == {
        **rows.to_dict(),
        "mean_predicted": gain_table(finer).mean_predicted.tolist(),
    }


def test_several_models_are_a_mapping() -> None:
    models = {"a": S, "b": S[::-1]}
    tables = gain_table(Y, models, 5)
    assert list(tables) == ["a", "b"]
    assert tables["b"].to_dict() == gain_table(Y, S[::-1], 5).to_dict()
    frame = tables.to_frame("pandas")
    assert frame["model"].tolist() == ["a"] * 8 + ["b"] * 8
    assert frame["bin"].tolist()[:8] == [*"12345", "top 1 %", "top 5 %", "all"]
    of_rankings = gain_table({name: Ranking(Y, s) for name, s in models.items()}, n_bins=5)
    assert of_rankings.to_dict() == tables.to_dict()
    assert len(gain_table(Y, [S, S], 5)) == 2
    text = tables.to_text()
    assert text.count("KS is largest") == text.count("KS is not above 0 at the end of any bin") == 1
    assert max(map(len, text.split("\n"))) <= 88


def test_models_with_and_without_probabilities_are_written_together() -> None:
    text = gain_table(Y, {"a": S, "b": np.array(S) * 9}, 5).to_text()
    assert [line.split()[-2:] for line in text.split("\n") if line.startswith("bin")] == [
        ["mean", "lowest"],
        ["KS", "lowest"],
    ]


def test_a_heavy_row_is_said() -> None:
    table = gain_table(Y, np.arange(10), 2, shares=[], sample_weight=[1e9, *[1] * 9])
    assert table.caution.endswith(
        "weights leave fewer than 5 effective rows, in 3 of 3 rows of the table: use fewer bins."
    )


def test_the_text_fits_and_says_the_result() -> None:
    table = gain_table(Y, S, 5, shares=[0.005])
    assert table.conclusion == (
        "Bin 1 holds 20 % of the rows and 41.7 % of the positives: rate 0.8333 (95 % interval 0.2408 to 0.9875), lift "
        "2.08. KS is largest at the end of bin 2: 0.5833."
    )
    assert table.to_text().startswith("Gain table: 5 bins, 10 rows, 4 positives\n")
    assert "top 0.5 %" in table.to_text()
    rng = np.random.default_rng(0)
    large = gain_table(rng.random(300_000) < 0.3, rng.random(300_000)).to_text()
    assert max(map(len, large.split("\n"))) <= 88
    few = gain_table(rng.random(2000) < 0.3, rng.random(2000)).to_text()
    assert max(map(len, few.split("\n")[4:])) <= 80
    assert "Lowest score" in table.to_markdown()
    assert "mean" not in gain_table(Y, np.array(S) * 9, 5).to_text().split("\n")[4]


def test_one_class_has_rates_but_no_gain() -> None:
    with pytest.warns(UndefinedMetricWarning, match=r"gain, lift and KS is undefined \(NaN\): y_true has no positives"):
        none = gain_table([0] * 10, S, 5, pos_label=1)
    assert none.rates.tolist() == [0.0] * 8
    assert np.isnan(none.gains).all()
    assert (none.high > 0).all()
    assert none.conclusion.startswith("There are no positives")
    with pytest.warns(UndefinedMetricWarning, match="KS is undefined"):
        every = gain_table([1] * 10, S, 5)
    assert every.lifts.tolist() == [1.0] * 8
    assert np.isnan(every.ks).all()
    assert every.largest_ks == -1


def test_wide_integer_scores_and_few_rows() -> None:
    big = 2**60 + np.arange(4)
    table = gain_table([0, 1, 0, 1], big, 2, shares=[], groups=[0, 1, 0, 1])
    assert [int(each) for each in table.thresholds] == [2**60 + 2, 2**60, 2**60]
    assert gain_table([1, 0], [0.3, 0.2], 1, shares=[0.1]).rows.tolist() == [2, 1, 2]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ((Y, S, 0), {}, r"n_bins must be an integer from 1 to 10000, got 0"),
        ((Y, S, 11), {}, r"n_bins must be at most the number of rows, 10, got 11"),
        ((Y, S, 2.5), {}, r"n_bins must be an integer"),
        ((Y, [math.nan, *S[1:]]), {}, r"y_score must be finite, but has 1 NaN value"),
        ((Y, {"a": [math.inf, *S[1:]]}), {}, r"y_score\['a'\] must be finite"),
        ((Y, list("abcdefghij")), {}, "y_score must"),
        ((Y, S[1:]), {}, "y_score has 9 rows, but y_true has 10"),
        (([], []), {}, "y_score is empty"),
        (([0, 1, 2], [0, 1, 2]), {}, "y_true must"),
        ((Y, S), {"shares": [1.0]}, r"shares\[0\] must be .* got 1"),
        ((Y, S), {"shares": 0.1}, r"shares must be a sequence of numbers, got 0.1"),
        ((Y, S), {"shares": ["1%"]}, r"shares\[0\] must be a number"),
        ((Y, S), {"confidence_level": 1}, "confidence_level must be"),
        ((Y, S), {"sample_weight": [-1] * 10}, "sample_weight must"),
        ((Y, S), {"sample_weight": [1] * 10, "frequency_weight": [1] * 10}, "sample_weight"),
        ((Y, S), {"groups": [1, 2]}, "groups"),
        ((Ranking(Y, S),), {"groups": range(10)}, "groups requires y_true and y_score; got it with a Ranking"),
        ((Y,), {}, r"y_true must be a Ranking, RankingSummary or ThresholdCounts if there is no y_score, got \[1, 1"),
        (({"a": S},), {}, r"y_true\['a'\] must be a Ranking"),
        (({},), {}, "y_true is empty: it must have at least one model"),
    ],
)
def test_odd_input_is_named(given: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gain_table(*given, **options)


def test_the_table_of_a_pool_is_that_of_the_rows() -> None:
    pool = RankingFolds.from_scores(Y, S, [0, 1] * 5).pool()
    assert gain_table(pool, n_bins=5).to_dict() == gain_table(Y, S, 5).to_dict()
    assert isinstance(gain_table(pool.counts, n_bins=5), GainTable)


def draw(n: int, share: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return labels, and probabilities that are calibrated, for a share of positives."""
    logits = rng.normal(size=n) * 1.3 + LOGITS[share]
    p = 1 / (1 + np.exp(-logits))
    return rng.random(n) < p, p


LOGITS = {0.05: -3.51, 0.5: 0.0}


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_coverage_of_rates(n: int, share: float) -> None:
    """Intervals contain the rate between the population's deciles, though bins are cut at quantiles of the sample."""
    rng = np.random.default_rng(0)
    truth = gain_table(*draw(1_000_000, share, rng)).mean_predicted[:10]
    covered = np.zeros(10)
    for _ in range(400):
        table = gain_table(*draw(n, share, rng))
        covered += (table.low[:10] <= truth) & (truth <= table.high[:10])
    assert (covered / 400).mean() >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.5])
@pytest.mark.parametrize("of", ["weights", "clusters"])
def test_coverage_of_rates_of_weighted_and_clustered_rows(of: str, share: float) -> None:
    """Intervals contain the mean true probability of the bin's rows; heavy weights once cost 5 to 7 points."""
    rng = np.random.default_rng(1)
    groups, covered = np.arange(3000) % 50, 0.0
    for _ in range(200):
        shared = rng.normal(size=(2, 50))[:, groups] * np.sqrt([[0.36], [0.1]])
        logits, ranks = shared + rng.normal(size=(2, 3000)) * np.sqrt([[0.64], [0.9]])
        p = 1 / (1 + np.exp(-(1.3 * logits + LOGITS[share])))
        options = {"groups": groups} if of == "clusters" else {"sample_weight": rng.lognormal(0, 1, 3000)}
        y = norm.cdf(ranks) < p if of == "clusters" else rng.random(3000) < p
        table = gain_table(y, p, **options)
        covered += np.mean((table.low <= table.mean_predicted) & (table.mean_predicted <= table.high)) / 200
    assert 0.93 <= covered <= 0.99
