"""Coverage of calibration's intervals and levels of its tests, in fewer data sets than the docs' table."""

from __future__ import annotations

import pytest

from benches.calibration import Design, simulate


@pytest.mark.slow
@pytest.mark.parametrize(
    "design",
    [
        Design(300, 0.5, "calibrated"),
        Design(3000, 0.05, "calibrated"),
        Design(3000, 0.05, "miscalibrated"),
        Design(3000, 0.5, "calibrated", 100),
    ],
)
def test_intervals_contain_the_truth(design: Design) -> None:
    found = simulate(design, 1000)
    assert found["undefined"] == 0
    for name in ("ratio", "intercept", "slope", "bins"):
        assert 93 <= found[name] <= 97.5
    if design.truth == "calibrated":
        assert 3 <= found["Spiegelhalter"] <= 7  # 5 +- 3 standard errors
        assert found["conclusion"] <= 5 + 2
    else:
        assert found["conclusion"] > 99


def test_a_simulation_knows_its_truth() -> None:
    found = simulate(Design(300, 0.5, "miscalibrated"), 5)
    assert found["rarer"] == pytest.approx(143, abs=15)
    assert 0 <= found["slope"] <= 100
