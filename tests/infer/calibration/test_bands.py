"""Bands of the reliability curve: limits equal those of R, draws are binomial, and bands contain whole curves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import fastevals
from fastevals import Ranking, ThresholdCounts, reliability_band
from fastevals.infer.calibration import bands
from fastevals.infer.calibration.bands import ForecastCells, clopper_pearson_limits, drawn_fits, simultaneous_edges
from fastevals.show.plots import plot_reliability
from tests.reference import isotonic as reference

NIAMEY = json.loads((Path(__file__).parents[2] / "data" / "niamey_2016.json").read_text())
KEY = np.uint64(7)
SHARES = {0.05: (0.5, 9.5), 0.5: (1.5, 1.5)}  # beta distributions of the probabilities


def drawn(n: int, share: float = 0.5, power: float = 1.0, seed: int = 0) -> tuple[Ranking, Any]:
    rng = np.random.default_rng([n, seed])
    p = rng.beta(*SHARES[share], n)
    return Ranking(rng.random(n) < p**power, p, pos_label=True), p


# The confidence band ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NIAMEY["forecasts"])
def test_the_confidence_band_is_that_of_r(name: str) -> None:
    data = NIAMEY["forecasts"][name]
    band = reliability_band(Ranking(NIAMEY["obs"], data["probability"]))
    x, low, high = band
    # R's lower limit at x holds from x on, its upper limit up to x.
    places = np.array(data["band"]["x"])
    from_there, up_to_there = np.searchsorted(x, places, side="right") - 1, np.searchsorted(x, places, side="left")
    ends = places < x[-1], places > x[0]
    np.testing.assert_allclose(low[from_there[ends[0]]], np.array(data["band"]["low"])[ends[0]], rtol=1e-9)
    np.testing.assert_allclose(high[up_to_there[ends[1]]], np.array(data["band"]["high"])[ends[1]], rtol=1e-9)


def test_limits_are_those_of_all_intervals_of_cells() -> None:
    rng = np.random.default_rng(3)
    rows = rng.integers(1, 40, 12)
    positives = rng.binomial(rows, np.linspace(0.02, 0.9, 12))
    low, high = clopper_pearson_limits(positives, rows, 0.1)
    slow_low, slow_high = reference.limits(positives.tolist(), rows.tolist(), 0.1)
    np.testing.assert_allclose(low, slow_low, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(high, slow_high, rtol=1e-9)


def test_the_band_shows_which_probabilities_are_off() -> None:
    ranking, _ = drawn(20_000, power=1.5)
    band = reliability_band(ranking)
    assert band.too_low.shape == (0, 2)
    low, high = max(band.too_high.tolist(), key=lambda ends: ends[1] - ends[0])
    assert 0 < low < 0.3 < 0.6 < high < 1
    assert band.conclusion.startswith(f"Probabilities from {low:.3g} to {high:.3g}")
    assert band.conclusion.endswith("(and 3 more ranges) are too high: the diagonal leaves the 95 % confidence band.")
    assert (band.high[np.searchsorted(band.x, [low, high])] < [low, high]).all()
    assert (np.diff(band.low) >= 0).all()
    assert (np.diff(band.high) >= 0).all()
    assert (band.low <= band.high).all()
    calibrated = reliability_band(drawn(20_000)[0])
    assert calibrated.conclusion == "The 95 % confidence band contains the diagonal: no significant miscalibration."


# Cells ------------------------------------------------------------------------------------------------------------


def test_each_probability_is_a_cell_unless_there_are_many() -> None:
    ranking, p = drawn(500)
    cells = ForecastCells.of_equal_mass(ranking.counts, 500)
    assert cells.low.tolist() == cells.mean.tolist() == cells.high.tolist() == np.sort(p).tolist()
    np.testing.assert_allclose(cells.fitted(), ranking.reliability_curve().at(np.sort(p)), rtol=1e-14)
    coarse = ForecastCells.of_equal_mass(ranking.counts, 20)
    assert coarse.rows.tolist() == [25] * 20
    np.testing.assert_allclose(coarse.mean, np.sort(p).reshape(20, 25).mean(axis=1))
    fine = ForecastCells.of_equal_mass(ranking.counts, 20, fine_ends=True)
    assert fine.rows[:3].tolist() == fine.rows[-3:].tolist() == [1, 1, 1]
    assert (fine.rows.sum(), fine.rows.max(), fine.positives.sum()) == (500, 7, ranking.n_positives)


def test_a_probability_of_many_rows_has_a_cell_of_its_own() -> None:
    p = np.concatenate([np.arange(1, 101) / 1000, np.full(400, 0.3), 0.5 + np.arange(100) / 1000])
    counts = Ranking(np.arange(600) % 2, p).counts
    for fine in (False, True):
        cells = ForecastCells.of_equal_mass(counts, 10, fine_ends=fine)
        (own,) = np.flatnonzero((cells.low <= 0.3) & (cells.high >= 0.3))
        assert (cells.low[own], cells.high[own], cells.rows[own]) == (0.3, 0.3, 400)
        assert cells.rows.sum() == 600


# The consistency band ---------------------------------------------------------------------------------------------


def test_fits_are_those_of_labels_drawn_with_the_probabilities() -> None:
    one = ForecastCells(*np.array([[0.3], [0.3], [0.3]]), *np.array([[0], [50]]))
    fits = drawn_fits(one, 4000, KEY)[:, 0]
    assert fits.mean() == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / 50 / 4000))
    assert fits.var() == pytest.approx(0.21 / 50, rel=0.1)
    ranking, _ = drawn(300)
    cells = ForecastCells.of_equal_mass(ranking.counts, 1000)
    fits = drawn_fits(cells, 200, KEY)
    assert (np.diff(fits, axis=1) >= 0).all()
    assert fits.mean() == pytest.approx(cells.mean.mean(), abs=0.01)
    rng = np.random.default_rng(1)
    again = [Ranking(rng.random(300) < cells.mean, cells.mean).reliability_curve().at(cells.mean) for _ in range(200)]
    np.testing.assert_allclose(fits.mean(axis=0), np.mean(again, axis=0), atol=0.09)
    np.testing.assert_allclose(fits.std(axis=0), np.std(again, axis=0), atol=0.08)


def test_probabilities_of_0_and_1_are_never_drawn_otherwise() -> None:
    y, p = np.repeat([0, 0, 1, 1], 30), np.repeat([0.0, 0.4, 0.6, 1.0], 30)
    band = reliability_band(Ranking(y, p), kind="consistency", rng=0)
    assert (band.high[0], band.low[-1]) == (0, 1)
    assert band.too_low.tolist() == [[0.6, 0.6]]
    assert band.too_high.tolist() == [[0.4, 0.4]]
    y[0] = 1
    assert reliability_band(Ranking(y, p), kind="consistency", rng=0).too_low[0].tolist() == [0, 0]


def test_the_consistency_band_contains_the_fits_entirely_in_the_share_asked_for() -> None:
    cells = ForecastCells.of_equal_mass(drawn(300)[0].counts, 1000)
    fits = drawn_fits(cells, 1000, KEY)
    for alpha in (0.05, 0.3):
        low, high = simultaneous_edges(fits, alpha)
        inside = ((fits >= low - 1e-6) & (fits <= high + 1e-6)).all(axis=1).mean()
        assert 1 - alpha <= inside < 1 - 0.8 * alpha
        assert (np.diff(low) >= 0).all()
        assert (np.diff(high) >= 0).all()


def test_the_same_seed_gives_the_same_bits_at_any_number_of_threads() -> None:
    ranking, _ = drawn(400)
    found = []
    for threads in (1, 5):
        with fastevals.num_threads(threads):
            found.append(reliability_band(ranking, kind="consistency", n_resamples=101, rng=3).to_dict())
    assert found[0] == found[1]
    assert found[0] != reliability_band(ranking, kind="consistency", n_resamples=101, rng=4).to_dict()


def test_a_miscalibrated_model_leaves_the_consistency_band() -> None:
    ranking, _ = drawn(3000, power=1.5)
    band = reliability_band(ranking, kind="consistency", rng=0)
    assert band.too_high.size
    assert band.conclusion.endswith("are too high: the reliability curve leaves the 95 % consistency band.")


def test_a_reversed_ranking_and_a_single_probability_are_said_plainly() -> None:
    _, p = drawn(3000)
    y = np.random.default_rng(1).random(3000) < 1 - p
    assert reliability_band(Ranking(y, p)).conclusion == (
        "Higher probabilities go with fewer positives: no curve that never decreases lies within the 95 % confidence "
        "band."
    )
    wrong = Ranking([0, 1] * 20, [1.0, 0.0] * 20)
    assert reliability_band(wrong, kind="consistency", rng=0).conclusion.startswith(
        "Probabilities of 0 are too low; those of 1 are too high: the reliability curve leaves"
    )


def test_calibration_has_the_reliability_curve_of_each_model() -> None:
    rng = np.random.default_rng(0)
    p, weights = rng.beta(1, 3, (2, 200)), rng.choice([0.0, 0.1, 3.0], 200)
    y = rng.random(200) < p[0]
    found = fastevals.calibration(y, {"a": p[0], "b": p[1]}, sample_weight=weights)
    for name, each in zip("ab", p, strict=True):
        curve, own = found[name].isotonic, Ranking(y, each, sample_weight=weights).reliability_curve()
        assert curve.low.tolist() == own.low.tolist()
        np.testing.assert_allclose(curve.counts, own.counts, rtol=1e-12)
        assert curve is found[name].isotonic
    plain = fastevals.calibration(y, p[0]).isotonic
    assert plain.to_dict() == Ranking(y, p[0]).reliability_curve().to_dict()


# Input and output -------------------------------------------------------------------------------------------------


def test_bad_input_is_named() -> None:
    ranking, p = drawn(50)
    weighted = Ranking([0, 1], [0.2, 0.4], sample_weight=[1.0, 2.5])
    for call, message in (
        (lambda: reliability_band(weighted), "ranking.*weights"),
        (lambda: reliability_band(Ranking([0, 1], [1, 7])), r"y_score must hold probabilities, in \[0, 1\], got 7"),
        (lambda: reliability_band(ranking, kind="bootstrap"), "kind must be one of 'confidence', 'consistency'; got"),
        (lambda: reliability_band(ranking, n_resamples=99), "n_resamples must be an integer from 100 to 10000, got 99"),
        (lambda: reliability_band(ranking, confidence_level=1.0), "confidence_level must be"),
        (lambda: reliability_band(ThresholdCounts([np.inf], [0], [0])), "ranking must count at least one row"),
        (lambda: reliability_band(p), "ranking must be a Ranking, RankingSummary or ThresholdCounts"),
        (
            lambda: plot_reliability(ranking, band=fastevals.confidence_band(ranking, method="kolmogorov")),
            "band must be a ReliabilityBand or a mapping of names to them, got ConfidenceBand",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("kind", ["confidence", "consistency"])
@pytest.mark.parametrize(("y", "p"), [([1], [0.5]), ([0, 0, 0], [0.1, 0.1, 0.1]), ([1, 1], [0.0, 1.0])])
def test_a_few_rows_have_a_band(kind: Any, y: list[int], p: list[float]) -> None:
    band = reliability_band(Ranking(y, p, pos_label=1), kind=kind, rng=0)
    assert (band.low >= 0).all()
    assert (band.low <= band.high + 1e-12).all()
    assert (band.high <= 1).all()


def test_the_plot_shades_the_band_of_each_model() -> None:
    ranking, _ = drawn(300)
    band = reliability_band(ranking, kind="consistency", rng=0)
    ax = plot_reliability({"a": ranking, "b": ranking}, band={"a": band}, ax=Figure().subplots())
    assert [text.get_text() for text in ax.get_legend().get_texts()][-2:] == [
        "95 % consistency band (simulated)",
        "perfect",
    ]
    heights = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((band.low.min(), band.high.max()), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("power", [1.0, 1.3])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("n", [300, 3000])
def test_bands_contain_the_entire_curve(n: int, share: float, power: float) -> None:
    rng = np.random.default_rng(n)
    p = np.sort(rng.beta(*SHARES[share], n))
    true = edges = None
    covered, within, n_data_sets = 0, 0, 200
    for _ in range(n_data_sets):
        counts = Ranking(rng.random(n) < p**power, p, pos_label=True).counts
        band = reliability_band(counts)
        true = band.x**power
        covered += bool((band.low[::2] <= true[::2]).all() and (band.high[1::2] >= true[1::2]).all())
        cells = ForecastCells.of_equal_mass(counts, bands.DRAWN_CELLS, fine_ends=True)
        edges = edges or simultaneous_edges(drawn_fits(cells, 1000, KEY), 0.05)
        fitted = cells.fitted()
        within += bool(((fitted >= edges[0] - 1e-6) & (fitted <= edges[1] + 1e-6)).all())
    assert covered >= 0.95 * n_data_sets
    if power == 1:
        assert 0.91 * n_data_sets <= within <= 0.985 * n_data_sets
