"""Studentised bands: distances and edges against plain code, and coverage of the true curve."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example as with_example
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benches.coverage import BANDS, Setting, bands_of
from fastevals import Ranking, UndefinedMetricWarning, confidence_band, num_threads
from fastevals._kernels import tubes as kernels
from fastevals.counts import ThresholdCounts
from fastevals.infer.tubes import Tube, TubeSample
from tests.strategies import BOUNDED, cases

CURVES = ["roc", "precision_recall"]


def example(n: int = 200, seed: int = 0, digits: int = 6, shift: float = 1.0) -> Ranking:
    rng = np.random.default_rng(seed)
    y = np.arange(n) < 0.3 * n
    return Ranking(y, np.round(rng.normal(size=n) + shift * y, digits))


def place(count, n: int):
    """Return the coordinate of a count out of n rows, by the arcsine transformation."""
    return 2 * np.sqrt(n + 0.5) * np.arcsin(np.sqrt((np.asarray(count) + 0.375) / (n + 0.75)))


def dense(counts: ThresholdCounts, pieces: int = 40) -> np.ndarray:
    """Return many points of a ROC polyline, in the coordinates of tubes."""
    share = np.sin(np.linspace(0, np.pi / 2, pieces + 1)) ** 2  # as dense near 0 and n as the coordinates
    found = []
    for (tp0, tp1), (fp0, fp1) in zip(pairwise(counts.tps), pairwise(counts.fps), strict=True):
        x, y = fp0 + share * (fp1 - fp0), tp0 + share * (tp1 - tp0)
        found.append(np.stack([place(x, int(counts.n_neg)), place(y, int(counts.n_pos))], axis=1))
    return np.concatenate(found)


def far(points: np.ndarray, others: np.ndarray) -> float:
    return max(float(np.hypot(*(others - point).T).min()) for point in points)


@BOUNDED
@given(cases(), st.integers(0, 2**32))
def test_the_distance_is_that_of_the_farthest_point(case, seed):
    counts = Ranking(case.y_true, case.y_score, pos_label=1).counts
    sample = TubeSample(counts)
    space = sample.workspace()
    (drawn,) = (each.copy() for each in sample.draws(np.uint64(seed), range(1), space))
    (found,) = sample.measure([drawn], 1, space)[0]
    up, right = drawn.reshape(2, -1).astype(np.int64)
    tied = sample._sweep.steps.tied
    corners = np.zeros((2, 2 * up.size + 1), dtype=np.int64)  # positives come first unless a step is tied
    corners[0, 1::2] = np.cumsum(up) - up * tied
    corners[1, 1::2] = np.cumsum(right) - right
    corners[:, 2::2] = np.cumsum(up), np.cumsum(right)
    there = ThresholdCounts([math.inf, *range(corners.shape[1] - 1, 0, -1)], *corners)
    assert found == pytest.approx(far(dense(counts), dense(there)), abs=0.08)


def polylines(most: int, step: int):
    """Draw corners on a fine lattice with non-decreasing coordinates; some pieces have zero length."""
    corner = st.tuples(st.integers(0, step), st.integers(0, step))
    return st.lists(corner, min_size=2, max_size=most).map(lambda steps: np.cumsum(steps, axis=0) / 8)


@BOUNDED
@given(polylines(3, 12), polylines(20, 3), st.just(1))
@with_example([[2, 6]], [[6, 0], [6, 3], [6, 5], [6, 7], [6, 8]], 8)  # the second piece ahead is nearest, by under 1
@with_example([[2, 6]], [[6, 0], [6, 3], [6, 5], [6, 7], [6, 8]], 1)
@with_example([[6, 2]], [[2, 0], [2, 1], [2, 3], [2, 5], [2, 8]], 8)  # the second piece behind is nearest
@with_example([[6, 2]], [[2, 0], [2, 1], [2, 3], [2, 5], [2, 8]], 1)
@with_example([[0, 4]], [[0, 0], [8, 0], [8, 8]], 8)  # the first corner
def test_the_farthest_point_is_that_of_all_points_and_pieces(points, corners, unit):
    points, corners = np.array(points) / unit, np.array(corners) / unit
    start, along = corners[:-1], np.diff(corners, axis=0)
    squares = (along**2).sum(axis=1)
    distances = []
    for point in points:
        share = np.clip(((point - start) * along).sum(axis=1) / np.maximum(squares, 1e-9), 0, 1)
        distances.append(np.hypot(*(point - start - share[:, np.newaxis] * along).T).min())
    others = np.concatenate([corners, points])  # earlier points are not part of it
    found = kernels.farthest(*points.T.copy(), *others.T.copy(), len(corners))
    assert found == pytest.approx(max(distances), rel=1e-12, abs=1e-12)


def test_a_draw_of_all_rows_is_no_distance_away():
    for ranking in (example(), example(digits=0), example(digits=1, n=2000), Ranking([0, 1, 1, 0], [0, 0, 1, 1])):
        sample = TubeSample(ranking.counts)
        assert sample.measure([sample.sizes], 1, sample.workspace())[0] == pytest.approx(0, abs=0.03)


@BOUNDED
@given(cases(), st.sampled_from([0.3, 1.0, 3.0]), st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_the_edges_are_as_far_as_the_radius(case, radius, places):
    counts = Ranking(case.y_true, case.y_score, pos_label=1).counts
    tube = Tube.estimate(counts, 0.5, 9, np.uint64(1))._replace(radius=radius)
    x = np.unique(places)
    low, high = tube.edges(x)
    points = dense(counts)
    for at, *edges in zip(place(x * counts.n_neg, counts.n_neg), low, high, strict=True):
        off = points[np.abs(points[:, 0] - at) <= radius]
        reach = np.sqrt(radius**2 - (off[:, 0] - at) ** 2)
        expected = (off[:, 1] - reach).min(), (off[:, 1] + reach).max()
        ends = place(0, counts.n_pos), place(counts.n_pos, counts.n_pos)
        np.testing.assert_allclose(place(np.array(edges) * counts.n_pos, counts.n_pos), np.clip(expected, *ends),
                                   atol=0.1)  # fmt: skip


def test_the_radius_is_the_quantile_of_distances():
    counts = example().counts
    (distances,) = TubeSample(counts).replicates(199, np.uint64(3))
    assert Tube.estimate(counts, 0.95, 199, np.uint64(3)).radius == np.sort(distances)[189]  # 190 of 200
    assert Tube.estimate(counts, 0.05, 199, np.uint64(3)).radius == np.sort(distances)[9]
    perfect = Ranking([0] * 50 + [1] * 50, range(100)).counts
    assert Tube.estimate(perfect, 0.95, 199, np.uint64(3)).radius == pytest.approx(math.sqrt(stats.chi2.ppf(0.95, 2)))
    band = confidence_band(Ranking([0] * 50 + [1] * 50, range(100)), at=[0.1, 0.5], rng=0)
    assert (band.low < 1).all()


def test_coordinates_have_standard_errors_of_one():
    for n, rate in ((50, 0.5), (50, 0.1), (1000, 0.01)):
        counts = np.arange(n + 1)
        at, chance = place(counts, n), stats.binom.pmf(counts, n, rate)
        np.testing.assert_allclose(at, [kernels.coordinate(count, n) for count in counts], rtol=1e-12)
        mean = (chance * at).sum()
        assert (chance * (at - mean) ** 2).sum() == pytest.approx(1, abs=0.05)


@pytest.mark.cases(1)
@pytest.mark.parametrize("curve", CURVES)
def test_the_default_holds_the_band_between_its_places(curve):
    for ranking in (example(), example(digits=0), example(60, shift=3.0)):
        x, low, high = confidence_band(ranking, curve, rng=1)
        assert (x[0], x[-1]) == (0, 1)
        assert (np.diff(x) > 0).all()
        assert ((low >= 0) & (low <= high) & (high <= 1)).all()
        at = np.linspace(0, 1, 997)[1:]
        exact = confidence_band(ranking, curve, rng=1, at=at)
        assert (np.interp(at, x, low) <= exact.low + 1e-4).all()  # edges ripple by 1e-4 standard errors
        assert (np.interp(at, x, high) >= exact.high - 1e-4).all()
        assert np.mean(np.interp(at, x, high) - np.interp(at, x, low)) < 1.1 * np.mean(exact.high - exact.low)


@pytest.mark.parametrize("curve", CURVES)
def test_the_same_bits_at_any_number_of_threads(curve):
    for ranking in (example(2000), example(2000, digits=1)):
        band = confidence_band(ranking, curve, rng=5, n_resamples=700)
        with num_threads(1):
            again = confidence_band(ranking, curve, rng=np.random.SeedSequence(5), n_resamples=700)
        np.testing.assert_array_equal(list(again), list(band))
    assert not np.array_equal(confidence_band(ranking, curve, rng=6, n_resamples=700).low, band.low)


def test_a_level_beyond_the_replicates_is_said_to_be():
    with pytest.warns(UndefinedMetricWarning, match="n_resamples=18 is too few for a confidence level of 0.95"):
        band = confidence_band(example(), n_resamples=18, rng=0)
    assert (band.low == 0).all()
    assert (band.high == 1).all()
    confidence_band(example(), n_resamples=19, rng=0)


def test_few_rows_are_no_error():
    for y, s in (([0, 1], [0, 1]), ([0, 1], [1, 0]), ([0, 1], [1, 1]), ([0, 1, 1], [1, 1, 2])):
        for curve in CURVES:
            x, low, high = confidence_band(Ranking(y, s), curve, rng=0)
            assert (low <= high).all()
            assert (high - low)[x > 0.1].min() > 0.3


def missed(setting: Setting, n_data_sets: int, n_resamples: int = 199) -> np.ndarray:
    """Count data sets where a band is below or above the true curve, for each kind; also return mean widths."""
    found = np.array([bands_of(setting, number, n_resamples) for number in range(n_data_sets)])
    return found[:, :, :2].any(axis=2).sum(axis=0), found[:, :, 2].mean(axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [None, 1])
def test_the_true_curve_is_inside(decimals):
    misses, widths = missed(Setting("stratified", 0.5, 200, 0.9, decimals), 150)
    limit = stats.binom.ppf(1 - 1e-4, 150, 0.05)
    assert misses[0::2].max() <= limit, dict(zip(BANDS, misses, strict=True))
    assert (widths[0::2] < 0.6 * widths[1::2]).all()


@pytest.mark.slow
@pytest.mark.parametrize("auc", [0.7, 0.99, 0.999])
@pytest.mark.parametrize(("share", "n"), [(0.5, 120), (0.05, 2000), (0.5, 4000)])
def test_the_true_curve_is_inside_at_any_size(auc, share, n):
    for decimals in (None, 1):
        misses, _ = missed(Setting("stratified", share, n, auc, decimals), 400)
        assert misses[0::2].max() <= stats.binom.ppf(1 - 1e-6, 400, 0.05)


def test_the_method_is_named():
    band = confidence_band(example(), at=[0.5], rng=0)
    assert (band.kind, band.method) == ("simultaneous", "studentised")
    assert repr(band) == "ConfidenceBand(roc, 1 points, 0.95 simultaneous, studentised)"
    wide = confidence_band(example(), at=[0.5], method="kolmogorov")
    assert wide.method == "kolmogorov"
    assert (wide.low[0], wide.high[0]) != (band.low[0], band.high[0])
    with pytest.raises(ValueError, match="method must be one of 'studentised', 'kolmogorov'; got 'studentized'"):
        confidence_band(example(), method="studentized")
    with pytest.raises(
        ValueError, match="method applies only to a simultaneous band, got 'kolmogorov' with kind='pointwise'"
    ):
        confidence_band(example(), kind="pointwise", method="kolmogorov")
