"""Intervals of metrics that are the best of many: KS, metrics at their best threshold, the area under least costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from fastevals import Ranking, UndefinedMetricWarning, bootstrap, compare_rankings, metric
from fastevals.infer.bootstrap.bootstrap import Limits, confidence_interval
from fastevals.measure.metric_specs import is_best_by_another, optimized_bounds

COSTS = Limits((0.0, math.inf), (0.0, math.inf))
FEW = (
    "one class has only 30 rows, and with fewer than 50, such intervals cover the true value too rarely: use more rows "
    "of that class, or allow for wider limits"
)


def data(n: int = 300, shift: float = 1.0, seed: int = 0, share: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) < share * n
    return y, rng.normal(size=n) + shift * y


def interval_of(values, value: float, level: float = 0.95, **options) -> tuple[float, float]:
    given = {"alternative": "two-sided", "limits": Limits((0.0, 1.0), (0.0, 1.0)), **options}
    return tuple(confidence_interval("BCa", np.asarray(values), value, confidence_level=level, **given))


def odds(share):
    return np.log(share / (1 - share))


@pytest.mark.parametrize("direction", [1, -1])
def test_the_interval_is_percentiles_less_twice_the_optimism(direction):
    """The replicates' median is 0.1 beyond the value in log odds, so one end moves by 0.2 and the other by 0.34."""
    percentiles = np.linspace(-2, 2, 401)  # in log odds; the median is 0
    values, value = 1 / (1 + np.exp(-percentiles)), 1 / (1 + math.exp(direction * 0.1))
    low, high = map(odds, interval_of(values, value, 0.9))
    ends = (-1.8 - 0.1 * (2 + math.sqrt(2)), 1.8 - 0.2)
    assert (low, high) == pytest.approx(ends if direction > 0 else (-ends[1], -ends[0]), abs=1e-4)


def test_the_interval_of_a_cost_is_on_a_log_scale():
    values, value = np.exp(np.linspace(-2, 2, 401)), math.exp(0.1)  # replicates of a minimum lie below it
    low, high = interval_of(values, value, 0.9, limits=COSTS)
    assert (math.log(low), math.log(high)) == pytest.approx((-1.8 + 0.2, 1.8 + 0.1 * (2 + math.sqrt(2))), abs=1e-4)
    assert interval_of(values, value, 0.9, limits=Limits((0.0, 1.0), COSTS.optimized), alternative="greater")[1] == 1.0


@pytest.mark.parametrize("shift", [-0.3, 0.0, 0.3])
def test_at_the_best_threshold_of_another_metric_the_interval_reaches_as_far_as_either(shift):
    values, value = 1 / (1 + np.exp(-np.linspace(-2, 2, 401))), 1 / (1 + math.exp(shift))
    one_by_one = [
        interval_of(values, value, limits=Limits((0.0, 1.0), optimized), acceleration=0.02)
        for optimized in (None, (0.0, 1.0))
    ]
    both = interval_of(values, value, limits=Limits((0.0, 1.0), (0.0, 1.0), True), acceleration=0.02)
    assert both == (min(low for low, _ in one_by_one), max(high for _, high in one_by_one))


def test_which_metrics_are_read_where_another_is_best():
    assert is_best_by_another(metric("precision", best="f1"))
    assert is_best_by_another(metric("f1", best="f_score", beta=2))
    assert not is_best_by_another(metric("f1", best="f1"))
    assert not is_best_by_another(metric("error_rate", best="accuracy"))
    assert not is_best_by_another(metric("precision", recall=0.9))
    assert not is_best_by_another(metric("f1", threshold=0.5))


def test_few_rows_of_a_class_or_another_method_are_cautioned_against():
    y, s = data(150, share=0.2)
    asked = metric("precision", best="f1")
    (few,) = bootstrap((y, s), asked, n_resamples=99, rng=0).values()
    assert few.caution == FEW
    (percentile,) = bootstrap((y, s), asked, n_resamples=99, rng=0, method="percentile").values()
    assert percentile.caution.startswith(
        "the threshold was chosen on the same rows, and 'percentile' does not correct for"
    )
    (enough,) = bootstrap(data(300), asked, n_resamples=99, rng=0).values()
    assert enough.caution == ""


@pytest.mark.slow
@pytest.mark.parametrize("prevalence", [0.2, 0.5])
def test_intervals_at_the_best_f1_cover(prevalence):
    from benches.coverage import CHOSEN, STUDIES, Setting, simulate

    (found,) = simulate(STUDIES["chosen"], [Setting("plain", prevalence, 400, 0.8)], 300, 199)
    for name in CHOSEN:
        # 93 % of 300 data sets, within 3 standard errors of 1.5 %.
        assert found["methods"][name]["coverage"] > 0.93 - 3 * 0.0147, name


def test_values_at_a_bound():
    assert interval_of([1.0, 1.0, 1.0], 1.0) == (1.0, 1.0)
    low, high = interval_of([0.8, 0.9, 0.95, 1.0, 1.0], 0.9)
    assert 0 < low < 0.8
    assert high == 1
    assert np.isnan(interval_of([], 0.5)).all()


@pytest.mark.parametrize(
    ("asked", "bounds"),
    [
        ("ks_statistic", (-1, 1)),
        ("cost_area", (0, 1)),
        ("equal_error_rate_on_hull", (0, 1)),
        ("expected_calibration_error", (-1, 1)),
        (metric("f1", best="f1"), (0, 1)),
        (metric("f_score", beta=2, best="f_score"), (0, 1)),
        (metric("error_rate", best="accuracy"), (0, 1)),
        (metric("informedness", best="balanced_accuracy"), (-1, 1)),
        (metric("matthews", best="matthews"), (-1, 1)),
        (metric("expected_cost", best="expected_cost", cost_fn=5), (0, math.inf)),
        (metric("f1", best="f_score", beta=2), None),
        (metric("precision", best="f1"), None),
        (metric("precision", best="recall"), None),
        (metric("f1", threshold=0.5), None),
        (metric("f1", average="macro"), None),
        ("roc_auc", None),
        ("r2", None),
        (lambda counts: 0.5, None),
    ],
    ids=lambda each: "function" if callable(each) else str(each),  # no address: workers must agree on names
)
def test_which_metrics_are_the_best_of_many(asked, bounds):
    asked = metric(asked) if isinstance(asked, str) else asked
    assert optimized_bounds(asked) == bounds


def test_one_maximum_under_several_names():
    found = bootstrap(
        Ranking(*data()),
        {
            "ks": "ks_statistic",
            "informedness": metric("informedness", best="informedness"),
            "balanced": metric("balanced_accuracy", best="informedness"),
            "right": metric("accuracy", best="accuracy"),
            "wrong": metric("error_rate", best="error_rate"),
        },
        n_resamples=499, rng=0, stratified=True,
    )  # fmt: skip
    ends = {name: np.array(each.confidence_interval) for name, each in found.items()}
    np.testing.assert_allclose(ends["informedness"], ends["ks"])
    np.testing.assert_allclose(2 * ends["balanced"] - 1, ends["ks"])
    np.testing.assert_allclose(1 - ends["wrong"][::-1], ends["right"])
    scores = {"a": data()[1], "b": data(seed=1)[1]}
    models = compare_rankings(data()[0], scores, metrics="ks_statistic", n_resamples=999, rng=0)
    alone = bootstrap(data(), "ks_statistic", n_resamples=999, rng=0)["ks_statistic"]
    both = models["ks_statistic"].estimates["a"].confidence_interval
    np.testing.assert_allclose(both, alone.confidence_interval, atol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ks_statistic", metric("accuracy", best="accuracy")], ids=str)
def test_the_true_best_is_inside(name):
    """At an AUC of 0.6, BCa intervals contained the true KS in 85 % of data sets, percentile intervals in 70 %."""
    shift, hits = math.sqrt(2) * stats.norm.ppf(0.6), 0
    true = 2 * stats.norm.cdf(shift / 2) - 1 if name == "ks_statistic" else stats.norm.cdf(shift / 2)
    for seed in range(300):
        found = bootstrap(Ranking(*data(300, shift, seed)), name, n_resamples=199, rng=seed, stratified=True)
        low, high = found[str(name)].confidence_interval
        hits += low <= true <= high
    assert hits >= stats.binom.ppf(1e-4, 300, 0.95)  # 268; a coverage of 85 % reaches it once in 40 runs


@pytest.mark.slow
def test_the_area_under_the_least_costs_and_the_error_of_calibrated_scores_are_inside():
    """In 120 data sets each, BCa intervals contained the first in 73 % and the second in none."""
    shift, hits = math.sqrt(2) * stats.norm.ppf(0.7), np.zeros(2)
    for seed in range(80):
        y, s = data(300, shift, seed)
        probabilities = 1 / (1 + np.exp(shift**2 / 2 - shift * s))
        asked = ["cost_area", "expected_calibration_error"]
        found = bootstrap((y, probabilities), asked, n_resamples=199, rng=seed)
        ends = [each.confidence_interval for each in found.values()]
        hits += [low <= true <= high for (low, high), true in zip(ends, (0.2196, 0.0), strict=True)]
    assert hits[0] >= stats.binom.ppf(1e-4, 80, 0.95)
    assert hits[1] >= stats.binom.ppf(1e-4, 80, 0.85)  # too little, as the caution says
    assert "replicates lie on one side of the estimate" in found["expected_calibration_error"].caution


def test_a_caution_says_where_that_is_not_so():
    assert bootstrap(data(), "ks_statistic", n_resamples=199, rng=0)["ks_statistic"].caution == ""
    few = bootstrap(data(share=0.1), ["ks_statistic", "roc_auc"], n_resamples=499, rng=0)
    assert few["ks_statistic"].caution == FEW
    assert f"caution={few['ks_statistic'].caution!r}" in repr(few)
    assert few["ks_statistic"].to_dict()["caution"]
    assert few["roc_auc"].caution == ""
    chance = [bootstrap(data(shift=0, seed=k), "ks_statistic", n_resamples=199, rng=k) for k in range(12)]
    said = [each["ks_statistic"].caution for each in chance]
    why = " % of replicates lie on one side of the estimate, which may be extreme by chance: check it on other rows"
    assert sum(each.endswith(why) for each in said) > 5
    p = np.random.default_rng(0).beta(1, 9, 3000)
    y = np.random.default_rng(1).random(3000) < p
    (calibrated,) = bootstrap((y, p), "ece", n_resamples=199, rng=0).values()
    assert calibrated.caution.endswith("which is biased upwards: read the debiased error of `calibration`")
    for method in ("percentile", "basic", "normal"):
        found = bootstrap(data(), metric("f1", best="f1"), method=method, n_resamples=99, rng=0)
        assert f"{method!r} does not fully correct for that" in found["f1(best='f1')"].caution
    y, s = data(share=0.1)
    weighted = bootstrap((y, s), "ks_statistic", sample_weight=np.full(300, 9.0), n_resamples=99, rng=0)
    assert weighted["ks_statistic"].caution == FEW
    with pytest.warns(UndefinedMetricWarning):
        assert bootstrap((y & False, s), "ks_statistic", n_resamples=9, pos_label=True)["ks_statistic"].caution == ""
