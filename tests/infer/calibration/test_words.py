"""Conclusions and cautions."""

from __future__ import annotations

import numpy as np
import pytest

from fastevals import calibration


def credit(factor: float, n: int = 4000, power: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.beta(1, 9, n)
    return rng.random(n) < factor * p**power, p


def test_too_few_expected_positives_are_said_in_numbers() -> None:
    found = calibration(*credit(1.4))
    assert found.conclusion.startswith(
        f"The model expects {found.predicted:,.0f} positives; {found.observed:,.0f} happened ("
        f"{100 * (1 - found.ratio.value):.2g} % too few; ratio {found.ratio.value:.3f}, 95 % interval "
    )
    assert "too many" in calibration(*credit(0.7)).conclusion
    assert "times as many as happened" in calibration(*credit(0.3)).conclusion


def test_no_significant_miscalibration_is_said_with_its_numbers() -> None:
    y, p = credit(1.0)
    found = calibration(y, {"credit": p})["credit"]
    assert found.conclusion.startswith("No significant miscalibration of credit: credit expects ")
    assert f"(ratio {found.ratio.value:.3f}, 95 % interval " in found.conclusion
    assert "adjusted for 3 tests" in found.conclusion
    assert found.cautions == ()


@pytest.mark.parametrize(("power", "way"), [(0.6, "extreme"), (1.4, "moderate")])
def test_slopes_say_which_way(power: float, way: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(-1, 1.5, 4000)
    found = calibration(rng.random(4000) < 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(-x / power)))
    assert f"The probabilities are too {way}: calibration slope {found.slope.value:.3f}, 95 %" in found.conclusion
    assert found.slope.value == pytest.approx(power, rel=0.1)


def test_few_rows_and_few_clusters_are_cautioned() -> None:
    y, p = credit(1.0, 300)
    found = calibration(y, p, groups=np.arange(300) % 20)
    assert found.cautions[0].startswith(f"Only {y.sum()} positive rows: intervals and tests of calibration are rough")
    assert found.cautions[1].startswith("Only 20 clusters: ")


def test_a_few_heavy_rows_are_cautioned_and_have_wide_intervals() -> None:
    y, p = credit(1.0)
    weights = np.where(np.arange(y.size) % 100 == 0, 1000.0, 1.0)
    found = calibration(y, p, sample_weight=weights)
    heavy = (weights[y].sum() ** 2 / np.square(weights[y]).sum()).round()
    assert found.cautions[0] == (
        f"With these weights, rows are worth only {heavy:.0f} positive rows of equal weight: intervals and tests of "
        "calibration are rough below 50; collect more."
    )
    log_low, log_high = np.log(found.ratio.confidence_interval)
    assert (log_high - log_low) / 2 / (found.ratio.standard_error / found.ratio.value) > 2.5  # not 1.96


def test_weights_are_said() -> None:
    y, p = credit(1.4)
    found = calibration(y, p, sample_weight=np.full(y.size, 0.5))
    assert found.conclusion.startswith(f"The model expects positives of weight {found.predicted:,.0f}; weight ")


def test_a_reversed_ranking_is_called_so() -> None:
    y, p = credit(1.0)
    found = calibration(y, 1 - p)
    assert found.slope.confidence_interval.high < 0
    assert "The probabilities rank rows in the wrong order: calibration slope -" in found.conclusion


def test_numbers_of_any_size_can_be_read() -> None:
    y = np.arange(20_000) % 20_000 < 4010
    p = np.tile(np.linspace(0.3, 0.5, 2000), 10)
    assert f"{p.sum() / y.sum() - 1:.3f}" == "0.995"
    assert " (100 % too many; ratio 1.995, 95 % " in calibration(y, p).conclusion  # not 1e+02 %
    found = calibration(y, p * 1e-12)
    assert f"ratio {found.ratio.value:.3g}, 95 % interval {found.ratio.confidence_interval.low:.3g} " in (
        found.conclusion
    )
    assert f"(z = {found.spiegelhalter.statistic:.3g}, p < 1e-300): the Brier score is higher" in found.conclusion
    with pytest.warns(match="same probability"):
        flat = calibration([0, 1] * 50, [0.5] * 100)
    assert "; Spiegelhalter's z undefined; " in flat.conclusion
    with pytest.warns(match="same probability"):
        rate = calibration(np.arange(1000) < 47, [0.047] * 1000, pos_label=True)
    assert abs(rate.spiegelhalter.statistic) < 1e-6
    assert "; Spiegelhalter's z = 0.00; " in rate.conclusion
    with pytest.warns(match="same probability"):
        assert "the model expects 1 positive; 1 happened" in calibration([0, 0, 1, 0], [0.25] * 4).conclusion
