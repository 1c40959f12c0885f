"""Few entries that stand for many: the same sums, the same estimates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastevals as fe
from fastevals.infer.calibration import condensing, estimates
from fastevals.infer.calibration.estimates import QUANTITIES
from fastevals.infer.calibration.forecasts import CountedForecasts
from tests.strategies import BOUNDED

PROBABILITIES = st.one_of(
    st.sampled_from([0.0, 1e-300, 1e-13, 0.2, 0.5, 1 - 1e-6, 1 - 1e-7, 1.0]), st.floats(0, 1), st.floats(0.4, 0.41)
)


@BOUNDED
@given(
    st.lists(PROBABILITIES, min_size=1, max_size=60),
    st.lists(PROBABILITIES, min_size=1, max_size=60),
    st.sampled_from([1, 3, 64]),
)
def test_sums_of_cubic_polynomials_are_those_of_the_rows(
    negatives: list[float], positives: list[float], n_cells: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in [("N_CELLS", n_cells), ("ROWS_IN_CACHE", 7)]:
            patch.setattr(condensing, name, value)
        p = np.array(negatives + positives)
        y = np.repeat([0, 1], [len(negatives), len(positives)])
        forecasts = CountedForecasts.of(fe.Ranking(y, p).counts, None)
        assert forecasts is not None
        block = condensing.condense(forecasts).block(slice(0, None))
    for rows, found in zip((negatives, positives), block.weights, strict=True):
        entries = block.p[0][found > 0]
        assert entries.min() == min(rows)
        assert entries.max() == max(rows)
        for power in range(4):
            expected = (np.array(rows) ** power).sum()
            np.testing.assert_allclose((block.p[0] ** power * found).sum(), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["normal", "uniform", "narrow", "steep", "heavy", "float32", "certain"])
def test_estimates_are_those_of_the_rows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, n = np.random.default_rng(4), 300_000
    x = rng.normal(-1.0, 1.5, n)
    if kind == "uniform":
        x = rng.logistic(size=n)
    elif kind in ("narrow", "steep"):
        x *= 0.01
    elif kind == "heavy":
        x = np.clip(rng.standard_t(2, n) * 3, -600, 30)
    elif kind == "float32":
        x *= 6
    p = 1 / (1 + np.exp(-x))
    y = rng.random(n) < 1 / (1 + np.exp(-0.3 - x * (50 if kind == "steep" else 0.8)))
    if kind == "certain":
        p[(rng.random(n) < 0.1) & y] = 1.0
    ranking = fe.Ranking(y, p.astype(np.float32) if kind == "float32" else p)
    monkeypatch.setattr(estimates, "MANY_ENTRIES", 10_000)
    found = fe.calibration(ranking)
    monkeypatch.setattr(estimates, "MANY_ENTRIES", n + 1)
    expected = fe.calibration(ranking)
    for quantity in QUANTITIES:
        one, other = getattr(found, quantity), getattr(expected, quantity)
        for name in ("value", "standard_error", "confidence_interval"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-11)
    assert found.observed == expected.observed
    np.testing.assert_allclose(found.predicted, expected.predicted, rtol=1e-13)
    np.testing.assert_allclose(found.spiegelhalter.statistic, expected.spiegelhalter.statistic, rtol=1e-9)
    assert [found.n_samples, found.n_positives] == [expected.n_samples, expected.n_positives]


def test_a_line_too_steep_for_the_cells_is_fitted_to_all_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, n = np.random.default_rng(4), 5_000
    x = rng.normal(size=n)
    y, p = (x + 0.01 * rng.normal(size=n) > 0), 1 / (1 + np.exp(-x))
    expected = fe.calibration(fe.Ranking(y, p))
    assert expected.slope.value > 100
    monkeypatch.setattr(estimates, "MANY_ENTRIES", 1_000)
    found = fe.calibration(fe.Ranking(y, p)).slope
    assert (found.value, found.standard_error) == (expected.slope.value, expected.slope.standard_error)
