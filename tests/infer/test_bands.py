"""Bands: edges against rectangles, replicates against rows ranked again, and coverage of the true curve."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import cache
from itertools import pairwise, product

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastevals import (
    ConfidenceBand,
    PrecisionRecallCurve,
    Ranking,
    RocCurve,
    ThresholdCounts,
    UndefinedMetricWarning,
    confidence_band,
    num_threads,
)
from fastevals.infer.bootstrap.curve_samples import CurveSample
from fastevals.infer.bootstrap.steps import Steps
from fastevals.measure.registry import Detail
from tests.infer.bootstrap.test_replicates import CASES, drawn, every_width
from tests.strategies import BOUNDED, Case, cases

CURVES = ["roc", "precision_recall"]
READ = {
    "roc": lambda counts, x: RocCurve(counts).at(fpr=x),
    "precision_recall": lambda counts, x: PrecisionRecallCurve(counts).at(recall=x),
}
SHARES = np.unique([k / n for n in range(1, 13) for k in range(n + 1)])  # these include every rate of a replicate


def example(n: int = 200, seed: int = 0, digits: int = 6, shift: float = 1.0) -> Ranking:
    rng = np.random.default_rng(seed)
    y = np.arange(n) < 0.3 * n
    return Ranking(y, np.round(rng.normal(size=n) + shift * y, digits))


# Pointwise --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("curve", CURVES)
@every_width
@BOUNDED
@given(*CASES, st.lists(st.floats(0, 1), max_size=5))
@hypothesis.example(Case(np.array([0, 1, 0]), np.zeros(3)), [0, 2, 1, *[0] * 9], [5e-324])
@hypothesis.example(Case(np.array([1, 0, 0]), np.zeros(3)), [1, 2, 1, *[0] * 9], [5e-324])
def test_a_replicate_is_read_as_its_rows_ranked_anew(curve, dtype, case, times, places):
    y, s, _ = case
    times = np.array(times[: y.size], dtype=dtype)
    times[0] = times[0] or not times.any()
    grid = np.union1d(SHARES, places)
    whole = Ranking(y, s, pos_label=1).counts
    sample = CurveSample(whole, curve, grid, stratified=False)
    np.testing.assert_array_equal(sample.estimates()[0], READ[curve](whole, grid))
    counts = drawn(Steps.from_counts(whole, Detail.POLYLINE, rows=True), whole, y, s, times)
    (found,) = sample.measure(iter([counts.ravel()]), 1, None)
    rows = np.repeat(np.arange(y.size), times)
    again = Ranking(y[rows], s[rows], pos_label=1).counts
    if again.n_pos and again.n_neg:
        np.testing.assert_allclose(found[0], READ[curve](again, grid), rtol=1e-12, atol=1e-14)
    else:
        assert np.isnan(found).all()


@pytest.mark.parametrize("n", [49, 100, 1000])
def test_steps_at_the_grid_are_read_as_the_curve_reads_them(n):
    """0.29 * 100 is below 29 in floats, 0.07 * 100 above 7: the side of a step depends on how rates are compared."""
    rng = np.random.default_rng(n)
    y = np.arange(2 * n) < n
    counts = Ranking(y, rng.permutation(2 * n) + n * y // 4).counts
    grid = np.arange(n + 1) / n
    for curve in CURVES:
        sample = CurveSample(counts, curve, grid, stratified=True)
        (found,) = sample.measure(iter([sample.sizes]), 1, None)
        np.testing.assert_allclose(found[0], READ[curve](counts, grid), rtol=1e-13)


@cache
def rankings_of_rows_drawn(stratified):
    """Draw rows of example(120, digits=1) with replacement 500 times, and rank them."""
    rng = np.random.default_rng(0)
    y = np.arange(120) < 36
    s = np.round(rng.normal(size=120) + y, 1)
    groups = [np.flatnonzero(y), np.flatnonzero(~y)] if stratified else [np.arange(120)]
    drawn = (np.concatenate([rng.choice(group, group.size) for group in groups]) for _ in range(500))
    return [Ranking(y[rows], s[rows]).counts for rows in drawn]


@pytest.mark.cases(2)
@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("stratified", [True, False])
def test_percentiles_of_rows_drawn_anew(curve, stratified):
    ranking, x = example(120, digits=1), np.array([0.1, 0.35, 0.8])
    band = confidence_band(ranking, curve, kind="pointwise", at=x, n_resamples=4000, stratified=stratified, rng=3)
    values = [READ[curve](counts, x) for counts in rankings_of_rows_drawn(stratified)]
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(band.low, low, atol=0.04)
    np.testing.assert_allclose(band.high, high, atol=0.04)


@pytest.mark.cases(2)
@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("stratified", [True, False])
def test_the_same_bits_at_any_number_of_threads(curve, stratified):
    options = {"kind": "pointwise", "n_resamples": 700, "stratified": stratified}
    band = confidence_band(example(), curve, rng=5, **options)
    with num_threads(1):
        again = confidence_band(example(), curve, rng=np.random.SeedSequence(5), **options)
    np.testing.assert_array_equal(list(again), list(band))
    assert not np.array_equal(confidence_band(example(), curve, rng=6, **options).low, band.low)
    counts = example().counts
    sample = CurveSample(counts, curve, band.x, stratified=stratified)
    more, fewer = (sample.replicates(n, np.uint64(9))[0] for n in (300, 120))
    np.testing.assert_array_equal(more[:120], fewer)


def test_the_default_grid():
    x, low, high = confidence_band(example(), kind="pointwise", n_resamples=200, rng=1)
    assert x.tolist() == [k / 100 for k in range(101)]
    assert (low <= high).all()
    assert (np.diff(low) >= 0).all()
    assert low[-1] == high[-1] == 1
    x, low, high = confidence_band(example(), "precision_recall", kind="pointwise", n_resamples=200, rng=1)
    assert x.tolist() == [k / 100 for k in range(1, 101)]
    assert (low <= high).all()
    at_zero = confidence_band(example(), "precision_recall", kind="pointwise", at=[0.5, 0, 0.5], n_resamples=200, rng=1)
    assert (at_zero.x.tolist(), at_zero.low[0], at_zero.high[0]) == ([0, 0.5], 1, 1)


def test_replicates_of_one_class_are_left_out_and_counted():
    ranking = Ranking([0, 0, 0, 0, 1], [1, 2, 4, 5, 3])
    with pytest.warns(UndefinedMetricWarning, match="the roc band is undefined in .* of 500 bootstrap replicates"):
        band = confidence_band(ranking, kind="pointwise", n_resamples=500, stratified=False, rng=1)
    assert band.n_undefined / 500 == pytest.approx(0.8**5 + 0.2**5, abs=0.1)
    assert f"n_undefined={band.n_undefined}" in repr(band)
    assert not np.isnan(band.low).any()
    assert confidence_band(ranking, kind="pointwise", n_resamples=500, rng=1).n_undefined == 0
    rare = Ranking([0] * 9999 + [1], range(10000))
    with pytest.warns(UndefinedMetricWarning, match="undefined in 1 of 1 "):
        band = confidence_band(rare, kind="pointwise", n_resamples=1, stratified=False, rng=5)
    assert np.isnan(band.low).all()


def test_replicates_that_are_all_equal_are_said_to_be():
    ranking = Ranking([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6])
    for curve in CURVES:
        with pytest.warns(UndefinedMetricWarning, match=f"the {curve} band is degenerate: all its replicates"):
            confidence_band(ranking, curve, kind="pointwise", n_resamples=20, rng=1)
        band = confidence_band(ranking, curve)
        assert (band.low[1:-1] < band.high[1:-1]).all()


# Kolmogorov's -----------------------------------------------------------------------------------------------------


def within(points: list[tuple[float, float]], x: float, reach: float) -> list[float]:
    """Return the range of y over the parts of a polyline whose x is within `reach` of `x`."""
    found = []
    for (x0, y0), (x1, y1) in pairwise(points):
        left, right = max(x0, x - reach), min(x1, x + reach)
        if left <= right:
            found += [y0, y1] if x0 == x1 else [y0 + (at - x0) / (x1 - x0) * (y1 - y0) for at in (left, right)]
    return found


def rectangles(ranking: Ranking, curve: str, level: float, x: float) -> tuple[float, float]:
    """Return the edges, at x, of the union of rectangles around the polyline's points."""
    counts = ranking.counts
    d, e = (stats.kstwo.ppf(level**0.5, n) for n in (counts.n_pos, counts.n_neg))
    points = list(zip((counts.fps / counts.n_neg).tolist(), (counts.tps / counts.n_pos).tolist(), strict=True))
    if curve == "roc":
        found = within(points, x, e)
        return max(min(found) - d, 0.0), min(max(found) + d, 1.0)
    found = within([(tpr, fpr) for fpr, tpr in points], x, d)
    rates = min(max(found) + e, 1.0), max(min(found) - e, 0.0)
    tp = x * counts.n_pos
    low, high = (1.0 if rate == 0 else tp / (tp + rate * counts.n_neg) for rate in rates)
    return low, high


@pytest.mark.parametrize("curve", CURVES)
@BOUNDED
@given(cases(), st.sampled_from([0.05, 0.5, 0.95]), st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_the_edges_are_those_of_the_rectangles(curve, case, level, places):
    ranking = Ranking(case.y_true, case.y_score, pos_label=1)
    band = confidence_band(ranking, curve, method="kolmogorov", confidence_level=level, at=[*places, 0.0, 1.0])
    expected = np.array([rectangles(ranking, curve, level, x) for x in band.x])
    np.testing.assert_allclose(np.stack([band.low, band.high], axis=1), expected, atol=1e-12)


@pytest.mark.parametrize("curve", CURVES)
@BOUNDED
@given(cases(), st.sampled_from([0.05, 0.5, 0.95]))
def test_the_default_is_every_corner(curve, case, level):
    ranking = Ranking(case.y_true, case.y_score, pos_label=1)
    x, low, high = confidence_band(ranking, curve, method="kolmogorov", confidence_level=level)
    assert (x[0], x[-1]) == (0, 1)
    assert (np.diff(x) >= 0).all()
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
    places, first, times = np.unique(x, return_index=True, return_counts=True)
    assert times.max() <= 2
    there = confidence_band(ranking, curve, method="kolmogorov", confidence_level=level, at=places)
    np.testing.assert_array_equal(there.low, np.minimum.reduceat(low, first))
    np.testing.assert_array_equal(there.high, np.maximum.reduceat(high, first))
    wide = np.flatnonzero(np.diff(x) > 1e-9)
    between = confidence_band(
        ranking, curve, method="kolmogorov", confidence_level=level, at=(x[wide] + x[wide + 1]) / 2
    )
    off = 1e-12 if curve == "roc" else 2e-4  # precision is curved between corners
    np.testing.assert_allclose(between.low, (low[wide] + low[wide + 1]) / 2, atol=off)
    np.testing.assert_allclose(between.high, (high[wide] + high[wide + 1]) / 2, atol=off)


def test_the_width_is_that_of_published_tables():
    """Miller (1956), doi:10.1080/01621459.1956.10501314, table 1: 0.40925 for 10 rows at 5 %, two-sided."""
    ranking = Ranking([0] * 10 + [1] * 10, range(20))
    band = confidence_band(ranking, method="kolmogorov", confidence_level=0.95**2)
    assert band.low[-1] == pytest.approx(1 - 0.40925, abs=1e-5)
    assert band.x[np.flatnonzero(band.low)[0]] == pytest.approx(0.40925, abs=1e-5)
    assert (band.high == 1).all()


def test_a_greater_level_is_a_wider_band():
    x = np.linspace(0, 1, 57)
    for curve, method in product(CURVES, ["studentised", "kolmogorov"]):
        options = {"method": method, "at": x, "rng": 0}
        inner, outer = (confidence_band(example(), curve, confidence_level=level, **options) for level in (0.5, 0.99))
        assert ((outer.low <= inner.low) & (inner.high <= outer.high)).all()
        assert (outer.high - outer.low).sum() > 1.2 * (inner.high - inner.low).sum()


def covered(rng: np.random.Generator, n_pos: int, n_neg: int, shift: float) -> list[bool]:
    """Return whether each curve's band contains the true curve of normal scores, on both sides of every corner."""
    y = np.arange(n_pos + n_neg) < n_pos
    ranking = Ranking(y, rng.normal(size=y.size) + shift * y)
    x, low, high = confidence_band(ranking, method="kolmogorov")
    tpr = stats.norm.cdf(stats.norm.ppf(x) + shift)
    recall, least, most = confidence_band(ranking, "precision_recall", method="kolmogorov")
    fpr = stats.norm.cdf(stats.norm.ppf(recall) - shift)
    inside = recall > 0  # precision is 0 / 0 at recall 0
    precision = recall[inside] * n_pos / (recall * n_pos + fpr * n_neg)[inside]
    of_precision = (least[inside] <= precision + 1e-12) & (precision <= most[inside] + 1e-12)
    return [bool(((low <= tpr) & (tpr <= high)).all()), bool(of_precision.all())]


def fewest(n: int, share: float = 0.95) -> int:
    """Return the number of successes that is reached all but once in a million."""
    return int(stats.binom.ppf(1e-6, n, share))


def test_the_true_curve_is_inside():
    rng = np.random.default_rng(12)
    found = np.array([covered(rng, 30, 50, 1.0) for _ in range(100)])
    assert found.sum(axis=0).min() >= fewest(100)
    assert (found[:, 0] == found[:, 1]).all()  # both bands are the same region on different axes


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(5, 5), (20, 200), (100, 100), (1000, 300)], ids=str)
@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0])
def test_the_true_curve_is_inside_at_any_size(sizes, shift):
    rng = np.random.default_rng(sum(sizes))
    found = np.array([covered(rng, *sizes, shift) for _ in range(1000)])
    assert found.sum(axis=0).min() >= fewest(1000)


@pytest.mark.slow
def test_the_true_polyline_of_tied_scores_is_inside():
    rng = np.random.default_rng(3)
    edges = np.arange(-8, 9) + 0.5
    fpr, tpr = (stats.norm.sf(edges, shift)[::-1] for shift in (0, 1))
    y, x = np.arange(150) < 50, np.union1d(fpr, np.linspace(0, 1, 101))
    hits = 0
    for _ in range(1000):
        x, low, high = confidence_band(Ranking(y, np.round(rng.normal(size=y.size) + y)), method="kolmogorov", at=x)
        truth = np.interp(x, np.concatenate(([0], fpr, [1])), np.concatenate(([0], tpr, [1])))
        hits += bool(((low <= truth + 1e-12) & (truth <= high + 1e-12)).all())
    assert hits >= fewest(1000)


@pytest.mark.slow
def test_a_pointwise_band_covers_each_point_about_as_often_as_it_says():
    rng, x = np.random.default_rng(8), np.array([0.1, 0.3, 0.6])
    truth, y = stats.norm.cdf(stats.norm.ppf(x) + 1), np.arange(500) < 200
    hits = np.zeros(3)
    for k in range(600):
        _, low, high = confidence_band(
            Ranking(y, rng.normal(size=y.size) + y), kind="pointwise", at=x, n_resamples=500, rng=k
        )
        hits += (low <= truth) & (truth <= high)
    assert (np.abs(hits / 600 - 0.95) < 0.045).all()


# What it takes and gives ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["simultaneous", "pointwise"])
@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize(("label", "missing"), [(0, "positives"), (1, "negatives")])
def test_one_class_alone(kind, curve, label, missing):
    ranking = Ranking([label] * 3, [1, 2, 3])
    with pytest.warns(UndefinedMetricWarning, match=f"the {curve} band is undefined .*: y_true has no {missing}"):
        band = confidence_band(ranking, curve, kind=kind)
    assert band.x.size >= 100
    assert np.isnan([band.low, band.high]).all()
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(confidence_band(ranking, curve, kind=kind, at=0.5).low).tolist() == [True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"curve": "det"}, "curve must be one of 'roc', 'precision_recall'; got 'det'"),
        ({"kind": "both"}, "kind must be one of 'simultaneous', 'pointwise'; got 'both'"),
        ({"confidence_level": 1}, r"confidence_level must be in \(0, 1\), got 1"),
        ({"n_resamples": 0}, "n_resamples must be an integer from 1 to 1000000000, got 0"),
        ({"at": 1.5}, r"at must be in \[0, 1\], got 1.5"),
        ({"at": [0.5, float("nan")]}, r"at must be in \[0, 1\], got nan"),
        ({"at": "all"}, "at must hold numbers, got 'all'"),
        ({"rng": "seed"}, "rng must be"),
    ],
)
def test_arguments_out_of_range_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        confidence_band(example(), **options)


def test_another_subject_is_named():
    weighted = Ranking([0, 1], [0.1, 0.2], sample_weight=[1, 2])
    with pytest.raises(ValueError, match="ranking must count rows, but has weights"):
        confidence_band(weighted)
    with pytest.raises(
        ValueError, match=r"ranking must be a Ranking, RankingSummary or ThresholdCounts, got .*RocCurve"
    ):
        confidence_band(example().roc_curve())
    with pytest.raises(ValueError, match="ranking must count at least one row, but n_pos and n_neg are 0"):
        confidence_band(ThresholdCounts([np.inf], [0], [0]))


def test_too_many_rows_to_draw():
    """If counts have more rows than a band of all points can draw, an error says so before anything is computed."""
    many = Ranking.from_counts([0.1, 0.2, 0.3], [2**60, 2**60, 2**59], [2**59, 2**58, 2**58])
    with pytest.raises(ValueError, match=r"ranking must have from 1 to 2\*\*32 - 1 rows to be resampled, got"):
        confidence_band(many, kind="simultaneous")
    band = confidence_band(many, kind="pointwise", at=[0.5], n_resamples=99, rng=0)
    assert band.low == pytest.approx(band.high, abs=1e-7)
    assert confidence_band(many, method="kolmogorov", at=[0.5]).low.size == 1


def test_printed_without_points():
    band = confidence_band(example(), at=[], n_resamples=50, rng=1)
    assert str(band) == repr(band)
    assert str(confidence_band(example(), at=0.5, n_resamples=50, rng=1)).count("\n") == 1


def test_no_places_are_no_points():
    for kind, curve in product(("simultaneous", "pointwise"), CURVES):
        assert confidence_band(example(), curve, kind=kind, at=[], n_resamples=50, rng=1).x.size == 0
    assert confidence_band(example(), method="kolmogorov", at=[]).x.size == 0


def test_what_a_band_is():
    band = confidence_band(example(), at=[0.25, 0.5], rng=0)
    assert repr(band) == "ConfidenceBand(roc, 2 points, 0.95 simultaneous, studentised)"
    x, low, high = band
    assert x.tolist() == [0.25, 0.5]
    told = band.to_dict()
    assert list(told) == ["x", "low", "high", "curve", "kind", "method", "confidence_level", "n_undefined", "average"]
    assert told["low"] == low.tolist()
    copy = pickle.loads(pickle.dumps(band))
    assert isinstance(copy, ConfidenceBand)
    assert copy.to_dict() == told
    for array in (x, low, high, *copy):
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        band.x = x


@pytest.mark.slow
def test_a_band_of_replicates_loads_no_scipy_stats():
    code = (
        "import sys, fastevals\nranking = fastevals.Ranking([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])\n"
        "fastevals.confidence_band(ranking, kind='pointwise', n_resamples=20, rng=1)\n"
        "fastevals.confidence_band(ranking, n_resamples=20, rng=1)\n"
        "sys.exit('scipy.stats' in sys.modules)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
