"""Reliability bins and the Hosmer-Lemeshow test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2

from fastevals import CalibrationBins, Ranking, UndefinedMetricWarning, calibration
from fastevals.infer.proportions import share_interval


def forecasts(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), p


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_bins_of_rows_have_wilson_intervals(strategy: str) -> None:
    y, p = forecasts()
    bins = calibration(y, p, n_bins=4, strategy=strategy).bins
    for k in range(4):
        here = (p > bins.edges[k]) & (p <= bins.edges[k + 1])
        low, high = share_interval(y[here].sum(), (1 - y[here]).sum(), "wilson", 0.05, "two-sided")
        np.testing.assert_allclose((bins.low[k], bins.high[k]), (low, high), rtol=1e-12)
        assert bins.mean_predicted[k] == pytest.approx(p[here].mean(), rel=1e-12)
        assert (bins.counts[k], bins.fraction_of_positives[k]) == (here.sum(), y[here].mean())
    assert CalibrationBins.from_counts(Ranking(y, p).counts, n_bins=4, strategy=strategy).to_dict() == bins.to_dict()


def test_weighted_bins_count_effective_rows() -> None:
    y, p = forecasts()
    weights = np.random.default_rng(1).random(y.size)
    bins = calibration(y, p, sample_weight=weights, n_bins=3).bins
    for k in range(3):
        here = (p > bins.edges[k]) & (p <= bins.edges[k + 1])
        w, share = weights[here], np.average(y[here], weights=weights[here])
        rows = w.sum() ** 2 / (w**2).sum()
        low, _ = share_interval(rows * share, rows * (1 - share), "wilson", 0.05, "two-sided")
        np.testing.assert_allclose((bins.low[k], bins.counts[k]), (low, w.sum()), rtol=1e-9)


def test_sums_of_weights_have_no_bins_with_intervals() -> None:
    y, p = forecasts()
    with pytest.raises(ValueError, match="counts must count rows, but has weights"):
        CalibrationBins.from_counts(Ranking(y, p, sample_weight=np.full(y.size, 0.5)).counts)


def test_clusters_widen_the_intervals_of_bins() -> None:
    y, p = forecasts()
    twice = [np.repeat(each, 4) for each in (y, p)]
    plain, clustered = calibration(*twice).bins, calibration(*twice, groups=np.repeat(np.arange(300), 4)).bins
    rows = calibration(y, p).bins
    np.testing.assert_allclose(clustered.fraction_of_positives, plain.fraction_of_positives)
    assert (clustered.high - clustered.low > plain.high - plain.low).all()
    np.testing.assert_allclose(clustered.high - clustered.low, rows.high - rows.low, rtol=0.08)  # t instead of normal


def test_a_bin_of_one_cluster_has_no_interval() -> None:
    y, p = forecasts()
    bins = calibration(y, p, groups=np.where(p < 0.5, 0, np.arange(300)), n_bins=2, strategy="uniform").bins
    assert np.isnan(bins.low).tolist() == [True, False]
    assert bins.caution == "a bin with rows of a single cluster has no interval"


def test_hosmer_lemeshow_is_the_sum_over_bins() -> None:
    y, p = forecasts()
    found = calibration(y, p)
    order = np.argsort(p)
    expected = sum(
        (y[rows].sum() - p[rows].sum()) ** 2 / (rows.size * p[rows].mean() * (1 - p[rows].mean()))
        for rows in np.split(order, 10)
    )
    for fitted, df in ((False, 10), (True, 8)):
        test = found.hosmer_lemeshow(fitted=fitted)
        assert (test.statistic, test.df) == (pytest.approx(expected, rel=1e-9), df)
        assert test.pvalue == pytest.approx(chi2.sf(expected, df))
    assert test.conclusion.startswith("No significant difference between the predicted and the observed numbers of")


def test_hosmer_lemeshow_is_rough_if_bins_expect_few_positives() -> None:
    p = np.linspace(0.01, 0.05, 300)
    found = calibration(np.arange(300) % 30 == 0, p, pos_label=True)
    assert found.hosmer_lemeshow().conclusion.endswith(
        " 10 of 10 bins expect fewer than 5 positives or negatives, so the p-value is rough: use fewer bins, or "
        "spiegelhalter."
    )
    assert "rough" not in calibration(*forecasts(3000)).hosmer_lemeshow().conclusion


def test_hosmer_lemeshow_refuses_what_it_does_not_allow_for() -> None:
    y, p = forecasts()
    for options in ({"groups": np.arange(300) // 2}, {"sample_weight": np.ones(300)}):
        with pytest.raises(ValueError, match="hosmer_lemeshow needs independent rows of equal weight, got"):
            calibration(y, p, **options).hosmer_lemeshow()
    with pytest.raises(ValueError, match="n_bins must leave a degree of freedom, got 2 bins for a fitted model"):
        calibration(y, p).hosmer_lemeshow(2, fitted=True)
    with pytest.warns(UndefinedMetricWarning):
        contradicted = calibration([0, 1, 0, 1], [0.0, 0.0, 0.3, 0.2])
    assert contradicted.hosmer_lemeshow().statistic == math.inf
