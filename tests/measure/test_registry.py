"""Properties of every metric in the registry: a new entry is tested without a new test."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import fastevals
from fastevals import Ranking, ThresholdCounts, num_threads
from fastevals._options import check_number
from fastevals.document.result import Result
from fastevals.measure import error_metrics, ranking_metrics, registry
from fastevals.measure.cells import Quotient, ratio
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.error_metrics import RegressionSums
from fastevals.measure.metric_specs import influence_of
from fastevals.measure.probability_metrics import are_probabilities
from fastevals.measure.ranking_metrics import hull
from fastevals.measure.registry import METRICS, SCORE_METRICS, Influence, Metric, name_among
from tests.reference import calibration, classes, confusion, curves, label_sets, quantiles, queries
from tests.reference import ranking as reference
from tests.reference import regression as regression_twins
from tests.strategies import (
    BOUNDED,
    EXAMPLES,
    Case,
    any_weights,
    dyadic_weighted,
    exact_cases,
    integer_weighted,
    unweighted,
)

DIRECTED = {name: metric for name, metric in SCORE_METRICS.items() if metric.greater_is_better is not None}
every_metric = pytest.mark.parametrize("metric", SCORE_METRICS.values(), ids=SCORE_METRICS.keys())
every_directed_metric = pytest.mark.parametrize("metric", DIRECTED.values(), ids=DIRECTED.keys())
OF_ANY_SCORES = [metric for metric in SCORE_METRICS.values() if metric.of != "probabilities"]
OF_WEIGHTED = [metric for metric in SCORE_METRICS.values() if metric.takes_weights]
RANKING_NAMES = [name for name, metric in SCORE_METRICS.items() if metric.of == "ranking"]


def values(metric: Metric, ranking: Ranking) -> NDArray[np.float64]:
    """Return the metric's value, or its value at every threshold; NaN if it takes no weights and rows have some."""
    if ranking.is_weighted and not metric.takes_weights and are_probabilities(ranking.counts):
        with pytest.raises(ValueError, match="need the squared weight of each row"):
            metric(ranking.counts)
        return np.array([math.nan])
    return np.atleast_1d(metric(ranking.counts.cells() if metric.of == "cells" else ranking.counts))


def perfect_scores(metric: Metric, y: NDArray[Any], step: NDArray[Any]) -> NDArray[Any]:
    """Return scores of a perfect ranking, or perfect probabilities."""
    return y.astype(float) if metric.of == "probabilities" else y + step


def ranking_of(case: Case) -> Ranking:
    return Ranking(case.y_true, case.y_score, **case.options)


def assert_same_values(found: Ranking, expected: Ranking, metrics: Iterable[Metric] = SCORE_METRICS.values()) -> None:
    for metric in metrics:
        np.testing.assert_array_equal(values(metric, found), values(metric, expected), err_msg=metric.name)


def best_value(metric: Metric, ranking: Ranking) -> float:
    return float((np.nanmax if metric.greater_is_better else np.nanmin)(values(metric, ranking)))


# The table --------------------------------------------------------------------------------------------------------


def test_names_and_titles_are_unique():
    assert all(name == metric.name for name, metric in SCORE_METRICS.items())
    assert len({metric.title for metric in SCORE_METRICS.values()}) == len(SCORE_METRICS)
    assert all(set(metric.needs) <= {"positives", "negatives", "pairs"} for metric in SCORE_METRICS.values())


@every_metric
def test_a_metric_is_found_by_its_name(metric):
    assert METRICS[name_among("metric", metric.name, SCORE_METRICS)] is metric
    assert METRICS[name_among("metric", metric.name, [metric.name])] is metric


def test_a_name_that_is_like_none_lists_the_known_ones():
    listed = ", ".join(map(repr, list(SCORE_METRICS)[:20]))
    with pytest.raises(ValueError, match=rf"one of {listed}, \.\.\. \({len(SCORE_METRICS)} in all\); got 'zzz'$"):
        name_among("metrics", "zzz", SCORE_METRICS)
    with pytest.raises(ValueError, match=f"metric must be one of {', '.join(map(repr, RANKING_NAMES))}; got 'f1'$"):
        name_among("metric", "f1", RANKING_NAMES)


SHORT = [(short, name) for name, metric in registry.METRICS.items() for short in metric.synonyms.split()]


def test_short_names_stand_for_one_metric_each():
    names = dict(SHORT)
    assert len(names) == len(SHORT)
    assert {"auc", "ks", "ece", "mcc", "rmse", "mse"} <= names.keys()
    assert not names.keys() & {*registry.METRICS, *registry.aliases_with_options()}
    aliases = [alias for metric in registry.METRICS.values() for alias in metric.aliases.split()]
    assert not names.keys() & {*aliases}


@pytest.mark.parametrize(("short", "name"), SHORT)
def test_a_short_name_is_the_metric(short, name):
    for written in (short, short.upper(), name.upper(), short.replace("_", "-"), name.replace("_", " ")):
        assert str(fastevals.metric(written)) == name
    if name in SCORE_METRICS:
        assert name_among("metric", short, SCORE_METRICS) == name


def test_results_are_found_by_short_names_and_hold_the_names():
    ranking = Ranking([0, 0, 1, 1, 0, 1] * 5, [0.1, 0.4, 0.3, 0.8, 0.2, 0.9] * 5)
    result = fastevals.bootstrap(ranking, ["auc", fastevals.metric("recall", best="mcc")], n_resamples=9, rng=0)
    assert list(result) == ["roc_auc", "recall(best='matthews')"]
    assert result["auc"] is result["AUC"] is result["roc_auc"]
    assert "auc" in result
    assert ranking.best_threshold("mcc") == ranking.best_threshold("matthews")
    with pytest.raises(ValueError, match="metrics must all differ, got 'roc_auc' twice"):
        fastevals.bootstrap(ranking, ["auc", "roc_auc"])
    with pytest.raises(ValueError, match=r"best must be one of 'accuracy', .*; got 'auc'$"):
        fastevals.bootstrap(ranking, fastevals.metric("f1", best="auc"))
    with pytest.raises(ValueError, match=r"metric must be one of 'accuracy', .*; got 'AUC'$"):
        ranking.best_threshold("AUC")


def test_calls_take_names_that_stand_for_metrics_and_give_the_names_back():
    y, s = [0, 0, 1, 1, 0, 1] * 5, [0.1, 0.4, 0.3, 0.8, 0.2, 0.9] * 5
    few = {"n_resamples": 39, "rng": 0}
    compared = fastevals.compare_rankings(y, {"a": s, "b": s[::-1]}, metrics=["auc", "KS"], **few)
    assert compared["auc"] is compared["roc_auc"]
    assert list(compared.to_dict()["metrics"]) == ["roc_auc", "ks_statistic"]
    measured = fastevals.evaluate_splits(y, s, np.arange(30) // 10, ["auc", "brier_score_loss"])
    assert list(measured) == ["roc_auc", "brier_score"]
    matrix = fastevals.ConfusionMatrix([[9, 3], [2, 8]])
    assert list(fastevals.bootstrap(matrix, ["acc", "kappa"], **few)) == ["accuracy", "cohen_kappa"]
    report = fastevals.report({"y": y, "s": s}, label="y", score="s", best="Youden-J", n_resamples=0)
    assert report.to_dict()["operating_point"] == {"best": "informedness"}
    own = fastevals.bootstrap((y, s), {"auc": "ks", "x": "auc"}, **few)  # the user's names take precedence
    assert (own["auc"].value, own["x"].value) == (Ranking(y, s).ks_statistic().value, Ranking(y, s).roc_auc())


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("roc", "'roc_auc'"),
        ("aupr", "'average_precision'"),
        ("J", "'informedness'"),
        ("phi", "'matthews'"),
        ("neg_mean_squared_error", "'mean_squared_error'"),
        ("acuracy", "'accuracy'"),
        ("f2", "metric('f_score', beta=2)"),
        ("F-measure", "'f1'"),
        ("f1_macro", "metric('f1', average='macro')"),
    ],
)
def test_an_unknown_name_is_answered_by_the_one_meant_where_it_is_written(name, meant):
    said = re.escape(f" must be one of {len(registry.METRICS)} names; got {name!r} (did you mean {meant}?)") + "$"
    with pytest.raises(ValueError, match=f"^name{said}"):
        fastevals.metric(name)
    bad = [[np.nan]]  # the name is checked before the data
    for call in (
        lambda: fastevals.bootstrap(bad, name),
        lambda: fastevals.compare_rankings(bad, bad, metrics=["roc_auc", name]),
        lambda: fastevals.compare_predictions(bad, bad, metrics={"mine": name}),
        lambda: fastevals.batch_metrics(bad, bad, name),
        lambda: fastevals.grouped_metrics(bad, bad, bad, name),
        lambda: fastevals.evaluate_splits([0, 1], [0, 1], fastevals.KFold(2, rng=0), name),
    ):
        with pytest.raises(ValueError, match=f"^metrics{said}"):
            call()
    with pytest.raises(ValueError, match=f"^metric{said}"):
        fastevals.permutation_test([0, 1], [0, 1], [1, 0], name)


def test_other_names_are_none_of_ours_and_name_one_metric_each():
    entries = registry.METRICS.values()
    others = [other for entry in entries for other in entry.aliases.split()]
    others += [other for entry in entries for names in entry.option_aliases.values() for other in names.split()]
    assert len(set(others)) == len(others)
    assert not set(others) & set(registry.METRICS)
    assert others == [other.casefold() for other in others]


def test_how_a_row_moves_a_metric():
    """Metrics not listed are smooth functions of sums."""
    others = {name: entry.influence for name, entry in METRICS.items() if entry.influence is not Influence.LINEAR}
    assert others == {
        "break_even_point": Influence.PLACE,
        "equal_error_rate": Influence.PLACE,
        "risk_at_coverage": Influence.PLACE,
        "coverage_at_risk": Influence.PLACE,
        "ks_statistic": Influence.BEST,
        "expected_calibration_error": Influence.BINS,
        "root_mean_square_calibration_error": Influence.BINS,
        "maximum_calibration_error": Influence.BINS,
        "debiased_calibration_error": Influence.BINS,
        "smooth_calibration_error": Influence.BINS,
        "top_label_calibration_error": Influence.BINS,
        "median_absolute_error": Influence.ROWS,
    }
    for options, influence in (({"best": "f1"}, "BEST"), ({"fpr": 0.1}, "PLACE"), ({"threshold": 0.5}, "LINEAR")):
        assert influence_of(fastevals.metric("recall", **options)) is Influence[influence]


def test_the_docstring_names_all_metrics():
    parameters = fastevals.metric.__doc__.partition("**options")[0]
    assert set(re.findall(r'"(\w+)"', parameters)) == set(registry.METRICS)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("f1", {"treshold": 0.5}, "has no option treshold= (did you mean 'threshold'?)"),
        ("recall", {"avg": "macro"}, "has no option avg= (did you mean 'average'?)"),
        ("roc_auc", {"max_fp": 0.1}, "has no option max_fp= (did you mean 'max_fpr'?)"),
        ("f_score", {"threshold": 0.5, "betta": 2}, "has no option betta= (did you mean 'beta'?)"),
        ("r2", {"quantile": 0.5}, "has no option quantile=; it takes none"),
        ("matthews", {"cost": 1}, "has no option cost=; it takes threshold, best, "),
        ("precision", {"best": "j"}, "; got 'j' (did you mean 'informedness'?)"),
    ],
)
def test_an_unknown_option_is_an_error_where_it_is_written(name, options, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        fastevals.metric(name, **options)


def test_best_threshold_and_intervals_of_proportions_know_other_names_too():
    ranking, matrix = Ranking([0, 1], [0, 1]), fastevals.ConfusionMatrix([[1, 2], [3, 4]])
    assert ranking.best_threshold("Youden") == ranking.best_threshold("informedness")
    assert fastevals.proportion_interval(matrix, "TPR") == fastevals.proportion_interval(matrix, "recall")
    with pytest.raises(ValueError, match="did you mean 'informedness'"):
        ranking.best_threshold("j")
    with pytest.raises(ValueError, match="did you mean 'error_rate'"):
        fastevals.proportion_interval(matrix, "error")


def test_no_threshold_or_model_is_best_by_a_metric_without_direction():
    undirected = [name for name, metric in METRICS.items() if metric.greater_is_better is None]
    assert undirected == [
        "mean_predicted", "prevalence", "prediction_rate", "mean_error", "interval_coverage", "interval_width"
    ]  # fmt: skip
    ranking = Ranking([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    for name in ("prevalence", "selection_rate"):
        with pytest.raises(ValueError, match=f"^metric must be one of 'accuracy', .*; got '{name}'$"):
            ranking.best_threshold(name)
        with pytest.raises(ValueError, match=r"^best must be one of 'accuracy', .*; got 'pre"):
            fastevals.metric("recall", best=name)
    report = fastevals.report({"y": [0, 1, 0, 1], "a": [0.1, 0.2, 0.3, 0.4], "b": [0.5, 0.2, 0.1, 0.4]}, label="y",
                              score=["a", "b"], n_resamples=0)  # fmt: skip
    best = report.to_dict()["blocks"][0]["best"]
    assert (best["prediction_rate"], best["negative_predictive_value"]) == ([], ["a", "b"])


# Values -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@BOUNDED
@given(any_weights)
def test_values_are_within_the_bounds(case):
    ranking = ranking_of(case)
    for metric in SCORE_METRICS.values():
        found = values(metric, ranking)
        found = found[~np.isnan(found)]
        assert (found >= metric.bounds[0]).all(), metric.name
        assert (found <= metric.bounds[1]).all(), metric.name


# No order of the rows attains the bounds of these metrics if there are negatives.
SHORT_OF_A_BOUND = {"risk_coverage_area", "risk_at_coverage", "coverage_at_risk"}


@every_directed_metric
def test_a_perfect_ranking_attains_the_better_bound_exactly(metric):
    bound = metric.bounds[1] if metric.greater_is_better else metric.bounds[0]
    rng = np.random.default_rng(1)
    for n_neg, n_pos in (*(() if "pairs" in metric.needs else ((1, 1),)), (1, 4), (4, 1), (3, 7), (60, 40)):
        y = np.repeat([0, 1], (n_neg, n_pos))
        scores = perfect_scores(metric, y, rng.integers(0, 5, y.size) / 10)
        assert best_value(metric, Ranking(y, scores)) == bound or metric.name in SHORT_OF_A_BOUND


@every_metric
def test_float_weights_lead_no_perfect_ranking_past_a_bound(metric):
    rng = np.random.default_rng(2)
    bound = metric.bounds[1] if metric.greater_is_better else metric.bounds[0]
    for _ in range(EXAMPLES):
        n = int(rng.integers(2, 40))
        y = np.arange(n) >= rng.integers(1, n)
        for labels in (y, ~y):
            scores = perfect_scores(metric, y, rng.integers(0, 4, n) / 8)
            ranking = Ranking(labels, scores, sample_weight=rng.uniform(0, 1, n) + 1e-3)
            found = values(metric, ranking)
            found = found[~np.isnan(found)]
            assert (found >= metric.bounds[0]).all()
            assert (found <= metric.bounds[1]).all()
            if metric.name in SHORT_OF_A_BOUND:
                continue
            if labels is y and metric.takes_weights and metric.greater_is_better is not None:
                assert best_value(metric, ranking) == pytest.approx(bound, abs=1e-14)


def test_every_metric_of_cells_has_a_slow_twin():
    assert set(reference.CELL_METRICS) == {name for name, metric in SCORE_METRICS.items() if metric.of == "cells"}


OTHER_TWINS = {  # twins with another name
    "gini": reference.roc_auc,
    "pr_auc": reference.davis_goadrich_area,
    "pr_auc_linear": reference.linear_pr_area,
    "equal_error_rate_on_hull": reference.hull_rows,
    "hamming_loss": confusion.accuracy,
}


def test_every_metric_has_a_slow_twin_in_tests_reference():
    twins = {*OTHER_TWINS, *reference.CELL_METRICS, *confusion.RATES, *regression_twins.metrics([1.0, 2.0], [1.0, 1.0])}
    twins |= {*queries.METRICS, *quantiles.METRICS}
    for module in (reference, calibration, classes, curves, confusion, label_sets):
        twins |= set(dir(module))
    assert set(registry.METRICS) <= twins


@BOUNDED
@given(exact_cases)
def test_metrics_of_cells_are_those_of_their_definitions(case):
    ranking, cells = ranking_of(case), reference.cells(*case)
    for name, twin in reference.CELL_METRICS.items():
        expected = [twin(*cell) for _, cell in cells]
        expected = [math.nan if value is None else float(value) for value in expected]
        np.testing.assert_allclose(values(SCORE_METRICS[name], ranking), expected, rtol=1e-14, atol=1e-15, err_msg=name)


@every_metric
@pytest.mark.parametrize("n", [1, 2, 9])
def test_classes_a_metric_needs_and_those_it_does_not(metric, n):
    scores = np.full(n, 0.3) if "pairs" in metric.needs else (np.arange(n) + 1) / 10
    for present, absent in (("positives", "negatives"), ("negatives", "positives")):
        found = values(metric, Ranking(np.full(n, int(present == "positives")), scores))
        if absent in metric.needs or ("pairs" in metric.needs and n == 1):
            assert np.isnan(found).all()
        elif n > 1 or metric.name != "markedness":  # a row predicted positive, and one predicted negative
            assert np.isfinite(found).any()


@pytest.mark.parametrize("scores", [[-0.1, 0.5], [0.5, 1.1], [-5e-324, 1.0]])
def test_metrics_of_probabilities_are_nan_of_other_scores(scores):
    for metric in (each for each in SCORE_METRICS.values() if each.of == "probabilities"):
        assert math.isnan(metric(Ranking([0, 1], scores).counts))
        assert not math.isnan(metric(Ranking([0, 0, 1], [0.0, 0.0, 1.0]).counts))


# Invariants -------------------------------------------------------------------------------------------------------


@BOUNDED
@given(st.one_of(unweighted, dyadic_weighted), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(case, random):
    order = list(range(case.y_true.size))
    random.shuffle(order)
    shuffled = Case(*(None if array is None else array[order] for array in case))
    assert_same_values(ranking_of(shuffled), ranking_of(case))


def rank_among_all(scores: NDArray[Any]) -> NDArray[Any]:
    return np.unique(scores, return_inverse=True)[1]


@BOUNDED
@given(any_weights)
def test_metrics_on_the_hull_are_those_of_its_vertices(case):
    """The report computes the hull once."""
    counts = ranking_of(case).counts
    for metric in SCORE_METRICS.values():
        if metric.on_hull:
            np.testing.assert_equal(metric(hull(counts)), metric(counts))


def test_the_hull_of_very_many_rows_does_not_overflow():
    positives, negatives = [8, 4, 2, 1, 0], [0, 1, 2, 4, 8]
    few, many = (
        Ranking.from_counts([5, 4, 3, 2, 1], [n * times for n in positives], [n * times for n in negatives])
        for times in (1, 2**33)
    )
    assert hull(many.counts).thresholds.tolist() == hull(few.counts).thresholds.tolist()
    assert many.equal_error_rate(on_hull=True).value == pytest.approx(2 / 15)
    assert many.cost_curve().area == pytest.approx(few.cost_curve().area)


@BOUNDED
@given(unweighted, st.integers(1, 4))
def test_the_hull_of_hulls_of_parts_is_that_of_all(case, size):
    counts = ranking_of(case).counts
    whole = hull(counts)

    def short_parts(n):
        return [slice(start, min(start + size, n)) for start in range(0, n, size)]

    with mock.patch.object(ranking_metrics, "chunks", short_parts):
        parts = hull(counts)
    for name in ("thresholds", "tps", "fps"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


@pytest.mark.parametrize("increasing", [rank_among_all, lambda scores: rank_among_all(scores) * 1e-300 - 1e-299])
@BOUNDED
@given(any_weights)
def test_only_the_order_of_the_scores_matters(increasing, case):
    assert_same_values(ranking_of(case._replace(y_score=increasing(case.y_score))), ranking_of(case), OF_ANY_SCORES)


@BOUNDED
@given(any_weights)
def test_doubled_scores_rank_the_same(case):
    halves = case._replace(y_score=np.clip(case.y_score, -1, 1) / 4)
    assert_same_values(ranking_of(halves._replace(y_score=halves.y_score * 2)), ranking_of(halves), OF_ANY_SCORES)


# With classes swapped and scores negated, the metric on the left becomes the one on the right.
SWAPPED = {
    "roc_auc": "roc_auc",
    "rank_loss": "rank_loss",
    "gini": "gini",
    "ks_statistic": "ks_statistic",
    "equal_error_rate": "equal_error_rate",
    "equal_error_rate_on_hull": "equal_error_rate_on_hull",
    "cost_area": "cost_area",
    "accuracy": "accuracy",
    "error_rate": "error_rate",
    "expected_cost": "expected_cost",
    "recall": "specificity",
    "specificity": "recall",
    "precision": "negative_predictive_value",
    "negative_predictive_value": "precision",
    "markedness": "markedness",
    "diagnostic_odds_ratio": "diagnostic_odds_ratio",
    "false_positive_rate": "false_negative_rate",
    "false_negative_rate": "false_positive_rate",
    "balanced_accuracy": "balanced_accuracy",
    "informedness": "informedness",
    "matthews": "matthews",
    "cohen_kappa": "cohen_kappa",
}


@BOUNDED
@given(exact_cases)
def test_swapping_the_classes_and_the_order(case):
    ranking = ranking_of(case)
    swapped = ranking_of(case._replace(y_true=1 - case.y_true, y_score=-case.y_score))
    for name, becomes in SWAPPED.items():
        # Thresholds run the other way: rows predicted positive at one are now predicted negative.
        found, expected = values(SCORE_METRICS[name], swapped)[::-1], values(SCORE_METRICS[becomes], ranking)
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15, err_msg=name)


MIRRORED = {"roc_auc": lambda auc: 1 - auc, "rank_loss": lambda loss: 1 - loss, "gini": lambda gini: -gini}


@BOUNDED
@given(exact_cases)
def test_negated_scores_mirror_the_area(case):
    ranking, negated = ranking_of(case), ranking_of(case._replace(y_score=-case.y_score))
    for name, mirrored in MIRRORED.items():
        expected = mirrored(values(SCORE_METRICS[name], ranking))
        np.testing.assert_allclose(values(SCORE_METRICS[name], negated), expected, rtol=1e-15, atol=1e-16, err_msg=name)


@BOUNDED
@given(unweighted)
def test_unit_weights_are_no_weights(case):
    assert_same_values(ranking_of(case._replace(weights=np.ones(case.y_true.size))), ranking_of(case), OF_WEIGHTED)


@BOUNDED
@given(integer_weighted)
def test_integer_weights_are_repeated_rows(case):
    repeats = case.weights.astype(int)
    repeated = Case(np.repeat(case.y_true, repeats), np.repeat(case.y_score, repeats))
    assert_same_values(ranking_of(case), ranking_of(repeated), OF_WEIGHTED)


@BOUNDED
@given(integer_weighted, st.integers(1, 5))
def test_counts_of_parts_are_those_of_all_rows(case, n_parts):
    """Rows counted by score in parts have, once the parts are added, every metric of the rows."""
    repeats, positive = case.weights.astype(int), case.y_true.astype(bool)
    whole = ranking_of(Case(np.repeat(case.y_true, repeats), np.repeat(case.y_score, repeats)))
    counted = [
        Ranking.from_counts(case.y_score[i::n_parts], repeats[i::n_parts] * positive[i::n_parts],
                            repeats[i::n_parts] * ~positive[i::n_parts]).counts
        for i in range(n_parts) if repeats[i::n_parts].any()
    ]  # fmt: skip
    assert_same_values(Ranking.from_threshold_counts(ThresholdCounts.merge(counted)), whole)


@pytest.mark.cases(3)
@pytest.mark.parametrize("scale", [0.3, 1000.0, 2.0**-500, 1e-300, 1e300])
def test_the_unit_of_the_weights_does_not_matter(scale):
    rng = np.random.default_rng(8)
    for _ in range(8):
        n = int(rng.integers(4, 30))
        y, scores, weights = np.arange(n) % 2, rng.integers(0, 8, n) / 8, rng.integers(1, 9, n) / 4
        one, other = (Ranking(y, scores, sample_weight=weights * s) for s in (1.0, scale))
        for name, metric in SCORE_METRICS.items():
            found, expected = values(metric, other), values(metric, one)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14, err_msg=name)


@BOUNDED
@given(any_weights)
def test_a_list_is_an_array(case):
    lists = [None if array is None else array.tolist() for array in case]
    assert_same_values(Ranking(*lists[:2], sample_weight=lists[2]), ranking_of(case))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, np.int8, np.uint16, np.int64, np.uint64])
def test_scores_of_any_type_that_holds_them_give_the_same(dtype):
    rng = np.random.default_rng(9)
    y, scores = rng.integers(0, 2, 100), rng.integers(0, 100, 100)
    assert_same_values(Ranking(y, scores.astype(dtype)), Ranking(y, scores.astype(np.float64)))


# Threads ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["unweighted", "weighted"])
def large(request) -> dict[int, Ranking]:
    """Rank rows for several chunks and buckets, with three numbers of threads."""
    rng = np.random.default_rng(10)
    n = 300_000
    y = rng.integers(0, 2, n)
    scores = np.round(rng.normal(size=n) + y, 4)
    weights = rng.uniform(0, 2, n) if request.param == "weighted" else None
    rankings = {}
    for threads in (1, 2, 5):
        with num_threads(threads):
            rankings[threads] = Ranking(y, scores, sample_weight=weights)
            assert rankings[threads].counts.thresholds.size > 40_000
    return rankings


def test_counts_have_the_same_bits_at_any_number_of_threads(large):
    for name in ("thresholds", "tps", "fps"):
        first, *others = (getattr(ranking.counts, name).tobytes() for ranking in large.values())
        assert all(other == first for other in others)


@every_metric
def test_values_have_the_same_bits_at_any_number_of_threads(large, metric):
    found = []
    for threads, ranking in large.items():
        with num_threads(threads):
            found.append(values(metric, ranking).tobytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_methods_have_the_same_bits_at_any_number_of_threads(large, threads):
    def all_methods(ranking: Ranking) -> list[Any]:
        return [
            ranking.roc_auc(),
            ranking.roc_auc(max_fpr=0.3, min_tpr=0.2),
            ranking.best_threshold("f1"),
            ranking.threshold_for(precision=0.8),
            *(array.tobytes() for array in (*ranking.roc_curve(), *ranking.precision_recall_curve())),
        ]

    with num_threads(3):
        expected = all_methods(large[1])
    with num_threads(threads):
        assert all_methods(large[threads]) == expected


# Methods and fields -----------------------------------------------------------------------------------------------

# Entries without a method, with the reason. A new entry needs a method or a line here.
NOT_OF_A_RANKING = {
    "pr_auc_linear": "pr_auc(interpolation='linear')",
    "equal_error_rate_on_hull": "equal_error_rate(on_hull=True)",
    "cost_area": "cost_curve().area",
    "risk_coverage_area": "risk_coverage_curve().area",
    "excess_risk_coverage_area": "risk_coverage_curve().excess_area",
    "risk_at_coverage": "risk_coverage_curve().at(coverage=...)",
    "coverage_at_risk": "risk_coverage_curve().largest_coverage(risk=...)",
    "root_mean_square_calibration_error": "calibration_curve().root_mean_square_calibration_error",
    "maximum_calibration_error": "calibration_curve().maximum_calibration_error",
    "debiased_calibration_error": "calibration(ranking).error, with an interval",
}
NOT_OF_A_MATRIX = {
    "expected_cost": "cost(...)",
    "false_positive_rate": "1 - specificity()",
    "false_negative_rate": "1 - recall()",
    "f1": "f_score()",
    "informedness": "recall() + specificity() - 1",
}
# Methods that are not metrics.
OTHER_METHODS = {
    Ranking: "best_threshold threshold_for confusion_at net_benefit brier_decomposition expected_cost from_counts "
    "log_loss_decomposition "
    f"from_threshold_counts {' '.join(entry.method for entry in CURVES.values() if not entry.made_by)}",
    fastevals.ConfusionMatrix: "from_predictions from_groups macro pool sorted_by_confusion "
    + " ".join(name for name in dir(Result) if not name.startswith("_")),
}


@pytest.mark.parametrize(
    ("kind", "of", "without"),
    [
        (Ranking, ("ranking", "probabilities"), NOT_OF_A_RANKING),
        (fastevals.ConfusionMatrix, ("cells", "matrix"), NOT_OF_A_MATRIX),
    ],
)
def test_a_metric_is_a_method_and_a_method_a_metric(kind, of, without):
    """To fix a failure, add the method to the class, the reason above, or the entry to the registry."""
    entries = {name for name, entry in registry.METRICS.items() if entry.of in of}
    methods = {name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))}
    assert entries - methods == set(without), f"entries without a method of {kind.__name__}"
    assert methods - entries == set(OTHER_METHODS[kind].split()), f"methods of {kind.__name__} without an entry"


def test_the_methods_of_a_ranking_have_the_values_of_their_entries():
    ranking = Ranking([0, 1, 0, 1, 1, 0, 1], [0.1, 0.3, 0.3, 0.5, 0.6, 0.7, 0.9])
    for name, entry in registry.METRICS.items():
        if entry.of in ("ranking", "probabilities") and name not in NOT_OF_A_RANKING:
            assert float(getattr(ranking, name)()) == entry(ranking.counts), name


def test_targets_have_an_entry_for_each_field_of_the_result():
    """A new entry for targets needs a field in `RegressionMetrics`, with its function in `OF_SUMS`."""
    entries = {name: entry for name, entry in registry.METRICS.items() if entry.of == "targets"}
    found = fastevals.regression_metrics([1.0, 2.0, 4.0], [1.5, 2.0, 3.0], quantile=0.25)
    assert {*entries, "n_samples", "quantile", "names"} == set(found.to_dict())
    sums = RegressionSums(3.0, 14 / 3, *(np.array([total]) for total in (1.25, 0.5, 1.0, 0.75)))
    for name, entry in entries.items():
        if name != "median_absolute_error":
            options = {"quantile": 0.25} if "quantile" in entry.options else {}
            assert entry.function(sums, **options)[0] == getattr(found, name), name


# Added entries ----------------------------------------------------------------------------------------------------

QUICK: dict[str, Any] = {"n_resamples": 50, "rng": 0}


def add_entry(monkeypatch: Any, entry: Metric) -> None:
    monkeypatch.setitem(registry.METRICS, entry.name, entry)
    if entry.of_scores:
        monkeypatch.setitem(registry.SCORE_METRICS, entry.name, entry)


def predict_rank(X_train: Any, y_train: Any, X_test: Any) -> Any:
    return X_test[:, 0]


def test_an_entry_is_enough(monkeypatch):
    """Every call, and the report, computes a new metric of cells from labels and from scores."""
    add_entry(monkeypatch, Metric("hits", "hits", "cells", Quotient(lambda at: (at.tp, sum(at))), needs=()))
    y, s = np.arange(90) % 3 % 2, np.round(np.arange(90) * 0.618 % 1, 2)
    p, groups = (s >= 0.4).astype(int), np.arange(90) % 2
    hits = (y & p).mean()
    at = fastevals.metric("hits", threshold=0.4)
    assert fastevals.bootstrap((y, p), "hits", **QUICK)["hits"].value == hits
    assert fastevals.bootstrap((y, s), {"hits": at}, groups=groups, **QUICK)["hits"].value == hits
    assert fastevals.bootstrap((y, s), fastevals.metric("hits", best="f1"), **QUICK)
    each = [(y & p)[groups == group].mean() for group in (0, 1)]
    assert fastevals.grouped_metrics(y, p, groups, "hits")["hits"].values.tolist() == each
    assert fastevals.grouped_metrics(y, s, groups, {"hits": at})["hits"].values.tolist() == each
    assert fastevals.batch_metrics(y, {"a": p, "b": y}, "hits")["hits"].values.tolist() == [hits, y.mean()]
    compared = fastevals.compare_predictions(y, {"a": p, "b": y}, metrics="hits", **QUICK)["hits"]
    assert compared.differences[0].value == pytest.approx(hits - y.mean(), rel=1e-12)
    assert fastevals.compare_rankings(y, {"a": s, "b": 1 - s}, metrics={"hits": at}, **QUICK)["hits"]
    assert fastevals.permutation_test(y, p, y, "hits", **QUICK).effect == pytest.approx(hits - y.mean(), rel=1e-12)
    assert fastevals.evaluate_splits(y, p, fastevals.KFold(3, rng=0), "hits")["hits"].value == pytest.approx(
        hits, rel=1e-12
    )
    assert fastevals.Ranking(y, s).best_threshold("hits").threshold == s[y == 1].min()
    told = fastevals.report({"y": y, "s": s}, label="y", score="s", best="hits", n_resamples=0)
    assert told.to_dict()["blocks"][0]["models"][0]["metrics"]["hits"] == y.mean()
    assert "hits" in told.to_text()


def test_an_entry_of_cells_may_have_options(monkeypatch):
    """Its options are accepted and checked along with a threshold or an average; elsewhere they have defaults."""

    def check(scale: Any = 1.0) -> dict[str, Any]:
        return {"scale": check_number("scale", scale, low=0)}

    def hits(at: Any, scale: float = 1.0) -> Any:
        return scale * ratio(at.tp, sum(at))

    add_entry(monkeypatch, Metric("hits", "hits", "cells", hits, needs=(), check_options=check))
    y, s = np.arange(90) % 3 % 2, np.round(np.arange(90) * 0.618 % 1, 2)
    p = (s >= 0.4).astype(int)
    expected = 2 * (y & p).mean()
    for subject, options in (((y, p), {}), ((y, s), {"threshold": 0.4})):
        doubled = fastevals.metric("hits", scale=2, **options)
        assert fastevals.bootstrap(subject, {"hits": doubled}, **QUICK)["hits"].value == expected
        with pytest.raises(ValueError, match=r"scale must be in \[0, inf\], got -1"):
            fastevals.bootstrap(subject, fastevals.metric("hits", scale=-1, **options), **QUICK)
    assert fastevals.bootstrap((y, p), {"hits": fastevals.metric("hits", scale=2, average="micro")}, **QUICK)
    assert fastevals.Ranking(y, s).best_threshold("hits").value == y.mean()
    with pytest.raises(ValueError, match="apply only to metric='expected_cost', got them with 'hits'"):
        fastevals.Ranking(y, s).best_threshold("hits", cost_fp=2.0)
    told = fastevals.report({"y": y, "s": s}, label="y", score="s", best="hits", cost_fp=2.0, n_resamples=50)
    assert told.to_dict()["blocks"][0]["models"][0]["metrics"]["hits"] == y.mean()


def first_step(counts: ThresholdCounts) -> float:
    """Return the share of rows at the highest score."""
    return float((counts.tps[1] + counts.fps[1]) / (counts.n_pos + counts.n_neg))


@pytest.mark.parametrize("of", ["ranking", "probabilities"])
def test_an_entry_of_scores_is_enough(monkeypatch, of):
    """Every call on scores, and the report, computes a new metric of rankings or of probabilities."""
    add_entry(monkeypatch, Metric("top", "top", of, first_step, bounds=(0.0, 1.0), needs=()))
    y, s = np.arange(90) % 3 % 2, np.round(np.arange(90) * 0.618 % 1, 1)
    other, groups = np.round(1 - s, 2), np.arange(90) // 40
    top, top_of_other = (s == s.max()).mean(), (other == other.max()).mean()
    subjects = [Ranking(y, s), Ranking(y, s).counts, (y, s)]
    for subject in subjects:
        assert fastevals.bootstrap(subject, "top", **QUICK)["top"].value == top
    for more in ({"groups": groups}, {"sample_weight": np.ones(90)}):
        assert fastevals.bootstrap((y, s), "top", **QUICK, **more)["top"].value == top
    each = [(s[groups == group] == s[groups == group].max()).mean() for group in range(3)]
    assert fastevals.grouped_metrics(y, s, groups, "top")["top"].values.tolist() == each
    assert fastevals.batch_metrics(y, {"a": s, "b": other}, "top")["top"].values.tolist() == [top, top_of_other]
    compared = fastevals.compare_rankings(y, {"a": s, "b": other}, metrics="top", **QUICK)["top"]
    assert compared.differences[0].value == pytest.approx(top - top_of_other, rel=1e-12)
    tested = fastevals.permutation_test(y, s, other, "top", **QUICK)
    assert tested.effect == pytest.approx(top - top_of_other, rel=1e-12)
    four = fastevals.KFold(4, rng=0)
    folds = [(s[rows] == s[rows].max()).mean() for _, rows in four.split(s, y)]
    assert fastevals.evaluate_splits(y, s, four, "top")["top"].value == pytest.approx(np.mean(folds), rel=1e-12)
    X = np.stack([s, s], axis=1)
    estimated = fastevals.estimate_error(predict_rank, X, y, four, "top")
    assert estimated["top"].value == pytest.approx(np.mean(folds), rel=1e-12)
    told = fastevals.report({"y": y, "s": s}, label="y", score="s", n_resamples=0)
    assert told.to_dict()["blocks"][0]["models"][0]["metrics"]["top"] == top


def test_an_entry_of_a_matrix_is_enough(monkeypatch):
    """Every call on labels computes a new metric of confusion matrices, with its options."""

    def majority(matrix: Any, scale: float = 1.0) -> Any:
        """Return the share of the most frequent predicted class."""
        return scale * ratio(matrix.counts.sum(axis=-2).max(axis=-1), matrix.counts.sum(axis=(-2, -1)))

    def check(scale: Any = 1.0) -> dict[str, Any]:
        return {"scale": float(scale)}

    add_entry(monkeypatch, Metric("majority", "majority", "matrix", majority, needs=(), check_options=check))
    doubled = fastevals.metric("majority", scale=2)
    with pytest.raises(ValueError, match="has no option scal="):
        fastevals.metric("majority", scal=2)
    y, groups = np.array(["a", "b", "c"])[np.arange(90) % 7 % 3], np.arange(90) // 40
    p, q = np.roll(y, 1), np.array(["a", "b", "c"])[np.arange(90) % 5 % 3]
    share, other = ((each == "a").mean() for each in (p, q))
    matrix = fastevals.ConfusionMatrix.from_predictions(y, p)
    for subject in (matrix, (y, p)):
        found = fastevals.bootstrap(subject, ["majority", doubled], **QUICK)
        assert [each.value for each in found.values()] == [share, 2 * share]
    for more in ({"groups": groups}, {"sample_weight": np.ones(90)}):
        assert fastevals.bootstrap((y, p), "majority", **QUICK, **more)["majority"].value == share
    each = [(p[groups == group] == "a").mean() for group in range(3)]
    assert fastevals.grouped_metrics(y, p, groups, "majority")["majority"].values.tolist() == each
    assert fastevals.batch_metrics(y, {"p": p, "q": q}, doubled)[str(doubled)].values.tolist() == [2 * share, 2 * other]
    compared = fastevals.compare_predictions(y, {"p": p, "q": q}, metrics="majority", **QUICK)["majority"]
    assert compared.differences[0].value == pytest.approx(share - other)
    assert fastevals.permutation_test(y, p, q, doubled, **QUICK).effect == pytest.approx(2 * (share - other))
    three = fastevals.KFold(3, rng=0)
    folds = [max(np.unique(p[rows], return_counts=True)[1]) / rows.size for _, rows in three.split(y)]
    assert fastevals.evaluate_splits(y, p, three, "majority")["majority"].value == pytest.approx(np.mean(folds))
    estimated = fastevals.estimate_error(predict_rank, np.stack([p, p], axis=1), y, three, "majority")
    assert estimated["majority"].value == pytest.approx(np.mean(folds))


def test_an_entry_of_targets_is_enough(monkeypatch):
    """Every call on targets computes a new metric of sums of errors, with its options."""

    def bias(sums: RegressionSums, scale: float = 1.0) -> Any:
        """Return the mean error divided by the targets' standard deviation."""
        return scale * (sums.over - sums.under) / sums.weight / np.sqrt(sums.scatter / sums.weight)

    def check(scale: Any = 1.0) -> dict[str, Any]:
        return {"scale": float(scale)}

    entry = Metric("bias", "bias", "targets", bias, bounds=registry.UNBOUNDED, needs=("scatter",), check_options=check)
    add_entry(monkeypatch, entry)
    doubled = fastevals.metric("bias", scale=2)
    with pytest.raises(ValueError, match="has no option scal="):
        fastevals.metric("bias", scal=2)
    y = np.round(np.arange(90) * 0.618 % 1, 2)
    p, q, groups = np.round(y + 0.25 * (np.arange(90) % 3), 2), np.round(0.5 * y + 0.4, 2), np.arange(90) % 2
    expected, of_other = ((each - y).mean() / y.std() for each in (p, q))
    for more in ({}, {"groups": groups}, {"sample_weight": np.ones(90)}):
        found = fastevals.bootstrap((y, p), ["bias", doubled], **QUICK, **more)
        assert [each.value for each in found.values()] == pytest.approx([expected, 2 * expected])
    for metrics in (["bias", doubled], ["bias", doubled, "median_absolute_error", "r2"]):
        measured = fastevals.batch_metrics(y, {"p": p, "q": q}, metrics)
        assert measured["bias"].values.tolist() == pytest.approx([expected, of_other])
        assert measured[str(doubled)].values.tolist() == pytest.approx([2 * expected, 2 * of_other])
    for each, factor in (("bias", 1), (doubled, 2)):
        tested = fastevals.permutation_test(y, p, q, each, **QUICK)
        assert tested.effect == pytest.approx(factor * (expected - of_other))
        assert fastevals.permutation_test(y, p, p, each, **QUICK).pvalue == 1
    three = fastevals.KFold(3, rng=0)
    folds = [(p[rows] - y[rows]).mean() / y[rows].std() for _, rows in three.split(y)]
    measured = fastevals.evaluate_splits(y, p, three, ["bias", "mean_squared_error"])
    assert measured["bias"].value == pytest.approx(np.mean(folds))
    estimated = fastevals.estimate_error(predict_rank, np.stack([p, p], axis=1), y, three, "bias")
    assert estimated["bias"].value == pytest.approx(np.mean(folds))


def test_permuted_sums_of_an_added_metric_are_those_of_its_like(monkeypatch):
    """An entry with the mean absolute error's function has the same p-value, from new sums."""
    add_entry(monkeypatch, Metric("like", "like", "targets", error_metrics.mean_absolute_error, False, needs=()))
    y = np.round(np.arange(40) * 0.618 % 1, 2)
    p, q = np.round(y + 0.2 * (np.arange(40) % 3), 2), np.round(0.5 * y + 0.4, 2)
    for n in (40, 9):
        one, other = (
            fastevals.permutation_test(y[:n], p[:n], q[:n], name, n_resamples=2000, rng=0)
            for name in ("like", "mean_absolute_error")
        )
        assert one.effect == pytest.approx(other.effect, rel=1e-12)
        assert one.pvalue == pytest.approx(other.pvalue, abs=0.03 if n == 40 else 1e-12)  # 0.03: 2.7 standard errors
