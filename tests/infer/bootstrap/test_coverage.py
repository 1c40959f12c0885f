"""How often intervals cover a known AUC."""

import warnings

import numpy as np
import pytest

import fastevals
from benches.coverage import (
    CHOSEN,
    LEVEL,
    METHODS,
    METRICS,
    STUDIES,
    Setting,
    bands_of,
    differences_of,
    draw,
    entry_of,
    intervals_of,
    saved,
    simulate,
    truth_of,
)
from fastevals.infer.bootstrap.bootstrap import METHODS as OF_BOOTSTRAP

AUC = STUDIES["auc"]
SETTINGS = AUC.settings
SURE = ("BCa", "DeLong, logit")
ENOUGH = [setting for setting in SETTINGS if min(setting.sizes) >= 50]
SMALL = Setting("plain", 0.05, 50, 0.95), Setting("stratified", 0.05, 50, 0.95)


def coverage_of(rows, method):
    return np.array([row["methods"][method]["coverage"] for row in rows])


def settings_of(rows):
    return [Setting(*(row[name] for name in ("scheme", "prevalence", "n", "auc", "decimals"))) for row in rows]


@pytest.mark.cases(3)
@pytest.mark.parametrize("setting", [*SMALL, Setting("plain", 0.5, 200, 0.7), Setting("stratified", 0.05, 2000, 0.9)])
def test_the_intervals_are_those_of_the_public_functions(setting):
    for number in range(4):
        found = intervals_of(setting, number, 99)
        y, s, _ = draw(setting, number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
            for method in OF_BOOTSTRAP:
                options = {"n_resamples": 99, "confidence_level": LEVEL, "method": method}
                result = fastevals.bootstrap(
                    (y, s), "roc_auc", stratified=setting.stratified, rng=draw(setting, number)[2], **options
                )
                expected = result["roc_auc"].confidence_interval
                np.testing.assert_array_equal(found[METHODS.index(method)], [*expected], err_msg=method)
            result = fastevals.delong(y, s)
            for name, method in (("DeLong", "delong"), ("DeLong, logit", "logit")):
                expected = np.ravel(result.confidence_interval(LEVEL, method))
                np.testing.assert_array_equal(found[METHODS.index(name)], expected, err_msg=name)


def test_data_sets_have_the_auc_they_claim():
    # The mean of 400 unbiased estimates, each with a standard error below 0.04: off by 0.01 with p < 1e-6.
    for auc in (0.7, 0.9, 0.95):
        for scheme in ("plain", "stratified"):
            drawn = (draw(Setting(scheme, 0.5, 200, auc), number) for number in range(400))
            assert np.mean([fastevals.Ranking(y, s).roc_auc() for y, s, _ in drawn]) == pytest.approx(auc, abs=0.01)
    sizes = [draw(SMALL[0], number)[0].sum() for number in range(400)]
    assert np.mean(sizes) == pytest.approx(2.5, abs=0.4)
    assert {draw(SMALL[1], number)[0].sum() for number in range(9)} == {2}


@pytest.mark.slow
def test_the_same_at_any_number_of_threads_and_in_any_order():
    settings = [Setting("plain", 0.5, 200, 0.9), SMALL[0]]
    with fastevals.num_threads(1):
        first, small = simulate(AUC, settings, 60, 99)
    with fastevals.num_threads(2):
        assert list(simulate(AUC, settings[::-1], 60, 99)) == [small, first]
    for row in (first, small):
        assert list(row["methods"]) == list(METHODS)
        for each in row["methods"].values():
            parts = [each[name] for name in ("coverage", "too_low", "too_high", "undefined")]
            assert sum(parts) == pytest.approx(1, abs=1e-4)
            assert min(parts) >= 0
            assert 0 < each["mean_width"] < 1
    # A binomial of 60 at 93 % is below 80 % with p = 0.0003.
    assert all(each["coverage"] > 0.8 and each["undefined"] == 0 for each in first["methods"].values())
    of = small["methods"]
    assert 0 < of["BCa"]["undefined"] < of["DeLong"]["undefined"] < 0.6
    assert of["BCa"]["coverage"] < 0.8
    assert 0 < of["BCa"]["without_width"] < 0.6


def test_the_truth_is_that_of_very_many_rows():
    y, s, _ = draw(Setting("stratified", 0.2, 2_000_000, 0.9), 0)
    ranking = fastevals.Ranking(y, s)
    found = {
        "AUC": ranking.roc_auc(),
        "AP": ranking.average_precision(),
        "KS": ranking.ks_statistic().value,
        "EER": ranking.equal_error_rate().value,
        "BEP": ranking.break_even_point().value,
        "best F1": ranking.best_threshold("f1").value,
    }
    assert list(found) == list(METRICS)
    chosen = ranking.confusion_at(ranking.best_threshold("f1").threshold)
    of_chosen = (chosen.f_score(), chosen.accuracy(), chosen.precision(), chosen.recall(), chosen.matthews())
    found |= {f"best F1: {name}": value for name, value in zip(CHOSEN, of_chosen, strict=True)}
    truth = truth_of(0.9, 0.2)
    assert list(found) == list(truth)
    for name, value in truth.items():  # F1 is flat near its best, so the threshold varies more
        assert abs(found[name] - value) < (0.01 if ":" in name else 0.003), name


def test_what_is_compared_with_the_truth():
    setting = Setting("plain", 0.5, 200, 0.9)
    low, high, width = differences_of(setting, 1, 99).T
    assert low.size == 2 * len(METRICS)
    assert set(low) | set(high) <= {0, 1}
    assert ((width > 0) & (width < 1)).all()
    assert np.isnan(differences_of(Setting("plain", 0.001, 20, 0.9), 0, 9)).all()  # no positives
    for decimals in (None, 0):
        low, high, width = bands_of(Setting("stratified", 0.5, 100, 0.9, decimals), 1, 99).T
        assert (low[1::2] == 0).all()
        assert (high[1::2] == 0).all()
        assert (width[0::2] < width[1::2]).all()


def test_the_saved_tables_are_whole_and_meet_the_bars():
    entry = saved()
    rows = entry["studies"]["auc"]["settings"]
    assert list(entry["studies"]) == list(STUDIES)
    for name, study in entry["studies"].items():
        assert settings_of(study["settings"]) == list(STUDIES[name].settings)
        assert {tuple(row["methods"]) for row in study["settings"]} == {STUDIES[name].methods}
    again = entry_of({name: study["settings"] for name, study in entry["studies"].items()})
    assert {**entry, "version": fastevals.__version__} == again
    there = [row for row, setting in zip(rows, SETTINGS, strict=True) if setting in ENOUGH]
    for method in SURE:
        covered = coverage_of(there, method)
        assert ((covered >= 0.93) & (covered <= 0.97)).all(), (method, covered)


def saved_where_classes_have_50_rows(study):
    rows = saved()["studies"][study]["settings"]
    return [row for row, setting in zip(rows, settings_of(rows), strict=True) if min(setting.sizes) >= 50]


def test_the_saved_intervals_of_a_best_value_cover():
    for method in ("KS", "best F1", "Δ KS"):
        covered = coverage_of(saved_where_classes_have_50_rows("metrics"), method)
        assert (covered >= 0.93).all(), (method, covered)


@pytest.mark.parametrize("curve", ["ROC", "P-R"])
def test_the_saved_bands_cover_and_are_narrow(curve):
    rows = saved_where_classes_have_50_rows("bands")
    covered = coverage_of(rows, f"{curve}, studentised")
    assert covered.min() >= 0.93
    assert np.median(covered) <= 0.97
    ratios = [
        row["methods"][f"{curve}, studentised"]["mean_width"] / row["methods"][f"{curve}, kolmogorov"]["mean_width"]
        for row in rows
    ]
    assert np.mean(ratios) <= 0.6  # single settings reach 0.72 (ROC at an AUC of 0.7)


@pytest.mark.slow
def test_coverage_is_as_nominal_with_50_rows_of_each_class():
    # For speed, fewer replicates than in the saved table. With 2,000 data sets a share's standard error is 0.005.
    some = ENOUGH[::2]
    rows = list(simulate(AUC, some, 2000, 399))
    for method in SURE:
        covered = coverage_of(rows, method)
        assert ((covered >= 0.93) & (covered <= 0.97)).all(), (method, covered)
    before = [row for row in saved()["studies"]["auc"]["settings"] if settings_of([row])[0] in some]
    for method in METHODS:  # same data sets: only replicates, or rounding, differ
        off = 0.001 if method.startswith("DeLong") else 0.01
        np.testing.assert_allclose(coverage_of(rows, method), coverage_of(before, method), atol=off, err_msg=method)
