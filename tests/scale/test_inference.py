"""Intervals from cells are the rows' intervals, widened slightly by the remaining doubt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fastevals import Ranking, bootstrap, delong, metric
from fastevals.scale import RankingSummary

METRICS = ["roc_auc", "average_precision", "ks_statistic", metric("f1", best="f1")]


def rows(n: int, decimals: int | None = None) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    y = (rng.random(n) < 0.2).astype(int)
    s = rng.normal(size=n) + y
    return y, s if decimals is None else s.round(decimals)


def summary_of(y: Any, s: Any, **options: Any) -> RankingSummary:
    summary = RankingSummary(**options)
    summary.update(y, s)
    return summary


def test_exact_summaries_give_the_intervals_of_their_counts_to_the_bit() -> None:
    y, s = rows(3000, 1)
    summary = summary_of(y, s)
    assert summary.is_exact
    found = bootstrap(summary, METRICS, n_resamples=99, rng=1)
    expected = bootstrap(summary.ranking().counts, METRICS, n_resamples=99, rng=1)
    for name, estimate in expected.items():
        assert found[name].confidence_interval == estimate.confidence_interval
        assert found[name].value == estimate.value


def test_intervals_of_cells_are_those_of_the_rows_and_the_doubt() -> None:
    y, s = rows(40_000)
    of_rows = bootstrap((y, s), METRICS, n_resamples=1999, rng=1)
    coarse, fine = (bootstrap(summary_of(y, s, cells=cells), METRICS, n_resamples=1999, rng=1) for cells in (64, 4096))
    for name, expected in of_rows.items():
        ends, close = np.array(expected.confidence_interval), np.array(fine[name].confidence_interval)
        half = np.diff(ends)[0] / 2
        assert np.abs(close - ends).max() < 0.15 * half + 0.002, name
        assert fine[name].standard_error == pytest.approx(expected.standard_error, rel=0.1)
        low, high = coarse[name].confidence_interval
        assert high - low > np.diff(close)[0]  # wider by more doubt


def test_what_is_in_doubt_without_bounds_is_an_error() -> None:
    summary = summary_of(*rows(5000), cells=16)
    with pytest.raises(ValueError, match=r"ranges of scores are not enough for brier_score"):
        bootstrap(summary, "brier_score", n_resamples=9)
    with pytest.raises(ValueError, match="metrics of a ranking that is not exact must have names, got <function"):
        bootstrap(summary, lambda counts: 0.5, n_resamples=9)
    weighted = RankingSummary(largest_weight=1.0)
    weighted.update([0, 1], [0.1, 0.9], sample_weight=[0.5, 1.0])
    with pytest.raises(ValueError, match="subject must count rows, but has weights: ThresholdCounts"):
        bootstrap(weighted.ranking().counts, "roc_auc", n_resamples=9)
    with pytest.raises(ValueError, match="stratified draws of weighted rows need the rows"):
        bootstrap(weighted, "roc_auc", stratified=True, n_resamples=9)


@pytest.mark.parametrize("cells", [2**14, 2**18])
def test_delong_of_a_summary_is_that_of_the_rows(cells: int) -> None:
    y, s = rows(100_000)
    found, expected = delong(summary_of(y, s, cells=cells)), delong(y, s)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-5)
    assert abs(found.aucs[0] - expected.aucs[0]) <= found.doubt
    for method in ("delong", "logit"):
        low, high = found.confidence_interval(method=method)
        assert low <= expected.confidence_interval(method=method).low
        assert high >= expected.confidence_interval(method=method).high
    assert delong(summary_of(y, s.round(1), cells=cells)).doubt == 0


def test_delong_of_counts_is_that_of_their_rows() -> None:
    y, s = rows(2000, 1)
    expected = delong(y, s)
    for subject in (Ranking(y, s), Ranking(y, s).counts, summary_of(y, s)):
        assert delong(subject).moments == expected.moments
    many = Ranking.from_counts([0.1, 0.4, 0.7], [2**33, 2**34, 3 * 2**33], [2**34, 2**33, 2**20])
    few = Ranking.from_counts([0.1, 0.4, 0.7], [2**13, 2**14, 3 * 2**13], [2**14, 2**13, 1])
    assert delong(many).aucs[0] == few.roc_auc()
    np.testing.assert_allclose(delong(many).covariance * 2**20, delong(few).covariance, rtol=1e-4)
    with pytest.raises(ValueError, match="scores must be given with labels; got none, with a list"):
        delong([0, 1])
    with pytest.raises(ValueError, match="pos_label requires y_true and scores; got it with a Ranking"):
        delong(Ranking(y, s), pos_label=1)
