"""Extreme numbers: exact ties, cancelling sums, weights near the limits of floats, no positives."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fastevals import (
    ConfusionMatrix,
    HoldOut,
    Ranking,
    ThresholdCounts,
    UndefinedMetricWarning,
    batch_metrics,
    bootstrap,
    compare_predictions,
    evaluate_splits,
    friedman_test,
    grouped_metrics,
    metric,
    regression_metrics,
)
from fastevals import metrics as drop_in
from fastevals._kernels.replicate_thresholds import best_difference, best_f
from fastevals.measure.metric_specs import ranking_metric
from fastevals.measure.thresholds import best_threshold
from tests.reference import confusion as of_matrices
from tests.reference import ranking as reference
from tests.reference import regression as of_targets

TIED = [1] * 12 + [0] + [1] * 11 + [0] + [1] * 10 + [0], [4] + [3] * 12 + [2] * 12 + [1] * 11
OF_CELLS = [
    "accuracy", "error_rate", "precision", "recall", "specificity", "f1", "jaccard", "balanced_accuracy",
    "informedness", "matthews", "cohen_kappa", "negative_predictive_value", "positive_likelihood_ratio",
    "negative_likelihood_ratio", "diagnostic_odds_ratio", "fowlkes_mallows", "markedness",
]  # fmt: skip
LOWER = ("error_rate", "expected_cost", "negative_likelihood_ratio")


def exact_best(name: str, y: Any, s: Any, costs: tuple[int, int] = (1, 1)) -> Any:
    """Return the highest best threshold, compared in fractions; None if no threshold has a value."""

    def value(cells: tuple[Fraction, ...]) -> Fraction | None:
        tp, fp, fn, tn = cells
        if name == "matthews":
            squares = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
            excess = tp * tn - fp * fn
            return excess * abs(excess) / squares if squares else None
        if name == "fowlkes_mallows":
            return Fraction(tp * tp, (tp + fp) * (tp + fn)) if tp + fp else None
        if name == "expected_cost":
            return costs[0] * fp + costs[1] * fn
        return reference.CELL_METRICS[name](tp, fp, fn, tn)

    found = [(threshold, value(cells)) for threshold, cells in reference.cells(y, s)]
    defined = [(threshold, each) for threshold, each in found if each is not None]
    if not defined:
        return None
    best = (min if name in LOWER else max)(each for _, each in defined)
    return max(threshold for threshold, each in defined if each == best)


# Ties -------------------------------------------------------------------------------------------------------------


@pytest.mark.cases(16)
@pytest.mark.parametrize("name", OF_CELLS)
def test_ties_are_told_exactly(name):
    rng = np.random.default_rng(0)
    cases = [TIED] + [(rng.integers(0, 2, 24).tolist(), rng.integers(0, 9, 24).tolist()) for _ in range(12)]
    for y, s in cases:
        expected = exact_best(name, y, s)
        # Weights of 3 have integer sums, so ties are exact, too; weights of 0.5 have some.
        weighted = (Ranking(y, s, sample_weight=np.full(len(y), weight)) for weight in (3.0, 0.5))
        for ranking in (Ranking(y, s), *weighted):
            assert ranking.best_threshold(name).threshold == expected, (y, s)


@pytest.mark.parametrize(("row", "threshold"), [((2, 1), 2), ((1, 1), 3), ((1, 2), 3)])
def test_thresholds_of_many_rows_are_told_apart_by_one(row, threshold):
    """Accuracies that differ by one row in 10**15 differ by less than rounding, but are not tied."""
    tps, fps = (np.cumsum([0, first, here, 4 * 10**14]) for first, here in zip((5 * 10**14, 0), row, strict=True))
    counts = ThresholdCounts([np.inf, 3, 2, 1], tps, fps)
    assert best_threshold(counts, "accuracy", None, (1.0, 1.0, None)).threshold == threshold


def test_informedness_takes_the_threshold_of_ks():
    ranking = Ranking(*TIED)
    assert tuple(ranking.best_threshold("informedness")) == tuple(ranking.ks_statistic()) == (1 / 33, 4)
    at_best = metric("false_positive_rate", best="informedness")
    assert ranking_metric(at_best).of_counts(ranking.counts) == 0.0
    assert grouped_metrics(*TIED, [0] * 36, at_best)[str(at_best)].values == [0.0]
    found = bootstrap(ranking, at_best, n_resamples=99, rng=0, method="percentile", stratified=True)[str(at_best)]
    assert found.value == 0.0


@pytest.mark.parametrize("costs", [(1, 3), (7, 2), (1000, 1)])
def test_ties_of_whole_costs_are_told_exactly(costs):
    rng = np.random.default_rng(1)
    for _ in range(30):
        y, s = rng.integers(0, 2, 20).tolist(), rng.integers(0, 9, 20).tolist()
        found = Ranking(y, s).best_threshold("expected_cost", cost_fp=costs[0], cost_fn=costs[1])
        assert found.threshold == exact_best("expected_cost", y, s, costs), (y, s)


def steps_of(y: Any, s: Any, dtype: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Return the positives and negatives of each score, from the highest, and whether it has both."""
    rows = [(sum(a for a, b in zip(y, s, strict=True) if b == t), s.count(t)) for t in sorted(set(s), reverse=True)]
    positives = np.array([up for up, _ in rows], dtype)
    negatives = np.array([n - up for up, n in rows], dtype)
    return positives, negatives, (positives > 0) & (negatives > 0)


@pytest.mark.cases(1)
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_replicates_take_the_same_threshold(dtype):
    rng = np.random.default_rng(2)
    cases = [TIED] + [(rng.integers(0, 2, 24).tolist(), rng.integers(0, 9, 24).tolist()) for _ in range(30)]
    for y, s in cases:
        positives, negatives, tied = steps_of(y, s, dtype)
        for name, kernel, options in (
            ("informedness", best_difference, (1.0, 1.0, True)),
            ("accuracy", best_difference, (1.0, 1.0, False)),
            ("f1", best_f, (1.0,)),
        ):
            found = kernel(positives, negatives, tied, positives.sum(), negatives.sum(), *options)
            at = Ranking(y, s).confusion_at(Ranking(y, s).best_threshold(name).threshold).counts
            assert found == (at[1, 1], at[0, 1]), (name, y, s)


def test_a_cost_that_is_equal_but_for_rounding_is_equal():
    # 3 positives of cost 0.1 equal a negative of 0.3: no gain, though 3 * 0.1 > 0.3 in floats.
    positives, negatives, tied = np.array([3, 0]), np.array([1, 4]), np.array([True, False])
    assert best_difference(positives, negatives, tied, 3, 5, 0.1, 0.3, False) == (0, 0)
    y, s = [1, 1, 1, 0, 0, 0, 0, 0], [2] * 4 + [1] * 4
    assert Ranking(y, s).best_threshold("expected_cost", cost_fp=0.3, cost_fn=0.1).threshold == math.inf


# Sums that cancel -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1e9, 1e16, 1e17, 1e80, 1e300])
def test_a_large_cell_hides_no_small_ones(n):
    for counts in (
        [[n, 3.25], [2.5, 1.75]],
        [[1.75, 2.5], [3.25, n]],
        [[3.25, n], [1.75, 2.5]],
        [[n, 3.5, 1.25], [2.5, 1.75, 0.25], [0.5, 1.5, 6.75]],
    ):
        matrix = ConfusionMatrix(counts)
        assert matrix.matthews() == pytest.approx(of_matrices.matthews(counts), rel=1e-14)
        assert matrix.cohen_kappa() == pytest.approx(float(of_matrices.cohen_kappa(counts)), rel=1e-14)
        y, p = (np.indices(np.shape(counts))[axis].ravel() for axis in (0, 1))
        weights = np.ravel(counts)
        assert drop_in.matthews_corrcoef(y, p, sample_weight=weights) == matrix.matthews()
        assert drop_in.cohen_kappa_score(y, p, sample_weight=weights) == matrix.cohen_kappa()


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-160, 1e160, 2e307])
def test_metrics_of_matrices_at_any_scale(scale):
    counts = (np.array([[3.0, 1.0], [1.0, 2.0]]) * scale).tolist()
    matrix, same = ConfusionMatrix(counts), ConfusionMatrix([[3, 1], [1, 2]])
    if scale == 2e307:
        counts = np.multiply(counts, 0.5).tolist()
        matrix = ConfusionMatrix(counts)
    for name in ("accuracy", "matthews", "cohen_kappa", "balanced_accuracy", "f_score", "jaccard", "precision"):
        assert getattr(matrix, name)() == pytest.approx(getattr(same, name)(), rel=1e-14), name
    for average in ("micro", "macro", "weighted"):
        assert matrix.f_score(beta=3.0, average=average) == pytest.approx(same.f_score(beta=3.0, average=average))
    assert matrix.cost([[0, 1], [5, 0]]) == pytest.approx(same.cost([[0, 1], [5, 0]]))


def test_a_stack_scales_each_matrix_by_itself():
    counts = np.array([[[3.0, 1.0], [1.0, 2.0]]] * 3) * np.array([1e-315, 1.0, 1e307])[:, None, None]
    assert ConfusionMatrix(counts).f_score(average="micro") == pytest.approx([5 / 7] * 3)
    assert ConfusionMatrix(counts).matthews() == pytest.approx([of_matrices.matthews([[3, 1], [1, 2]])] * 3)


# Without positives ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["f1", "jaccard"])
def test_f_without_positives_is_zero_at_its_best_everywhere(name):
    scores = [0.1, 0.2, 0.3]
    none = Ranking([0, 0, 0], scores)
    best = metric(name, best=name)
    assert tuple(none.best_threshold(name)) == (0.0, 0.3)
    assert ranking_metric(best).of_counts(none.counts) == 0.0
    assert grouped_metrics([0, 0, 0, 1], [*scores, 0.4], [0, 0, 0, 1], best)[str(best)].values.tolist() == [0.0, 1.0]
    assert batch_metrics([0, 0, 0], [scores], best)[str(best)].values == [0.0]
    found = bootstrap(([0] * 9 + [1], list(range(10))), best, rng=0, n_resamples=199, method="percentile",
                      keep_distribution=True)[str(best)]  # fmt: skip
    assert found.n_undefined == 0
    assert set(found.bootstrap_distribution.tolist()) == {0.0, 1.0}
    assert found.confidence_interval.low == 0.0


def test_other_metrics_are_at_the_highest_score_drawn_without_positives():
    asked = metric("accuracy", best="f1")
    y, s = [0] * 4 + [1], [5, 4, 3, 2, 1]
    kept = bootstrap((y, s), asked, rng=0, n_resamples=199, method="percentile", keep_distribution=True)[str(asked)]
    # Without the positive, all rows at the highest drawn score are wrong, so at most 4 of 5 are right.
    assert {round(5 * each) for each in kept.bootstrap_distribution.tolist()} >= {3, 4}
    assert ranking_metric(asked).of_counts(Ranking([0] * 4, [4, 3, 3, 1]).counts) == 0.75


# Weights near the ends of floats -----------------------------------------------------------------------------------

WEIGHTS = [
    [5e-324, 5e-324, 1e-323, 5e-324, 1.5e-323],
    [1e-310, 3e-310, 2e-310, 1e-310, 1e-310],
    [1e-300, 1e300, 2e-300, 1e300, 1e-300],
    [1e300, 2e-300, 1e300, 1e-300, 3e300],
    [5e-324, 1e300, 5e-324, 2e300, 1e-323],
    [5e-324, 1e308, 5e-324, 5e307, 1e-323],
    [3e307, 1e307, 2e307, 4e307, 1e307],
]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scores", [[5, 4, 3, 2, 1], [5, 2, 4, 1, 3], [1, 2, 2, 2, 1], [3, 1, 3, 1, 3]])
def test_rankings_of_extreme_weights_against_fractions(weights, scores):
    y = [1, 0, 1, 0, 1]
    ranking, exact = Ranking(y, scores, sample_weight=weights), (y, scores, weights)
    near: dict[str, Any] = {"rel": 1e-13, "abs": 1e-300}
    assert ranking.roc_auc() == pytest.approx(float(reference.roc_auc(*exact)), **near)
    assert ranking.average_precision() == pytest.approx(float(reference.average_precision(*exact)), **near)
    if max(weights) / min(weights) < 1e300:  # the twin's ratios are floats
        assert ranking.pr_auc() == pytest.approx(reference.davis_goadrich_area(*exact), rel=1e-12)
    linear = reference.linear_pr_area(*exact)
    assert ranking.pr_auc(interpolation="linear") == pytest.approx(float(linear), rel=1e-12)
    for name in ("ks_statistic", "equal_error_rate", "break_even_point"):
        expected = getattr(reference, name)(*exact)
        assert float(getattr(ranking, name)()) == pytest.approx(float(expected[0]), **near), name
    for name in OF_CELLS:
        expected = reference.best_threshold(reference.CELL_METRICS[name], name not in LOWER, *exact)
        # The twin's correlation is the root of a square, which underflows earlier.
        allowed = {**near, "abs": 1e-150} if name == "matthews" else near
        assert float(ranking.best_threshold(name)) == pytest.approx(float(expected[0]), **allowed), name
    groups = grouped_metrics(y * 2, scores * 2, [0] * 5 + [1] * 5, ["average_precision", "ks_statistic"],
                             sample_weight=weights + [1.0] * 5)  # fmt: skip
    assert groups["average_precision"].values[0] == pytest.approx(ranking.average_precision(), **near)
    assert groups["ks_statistic"].values[0] == float(ranking.ks_statistic())
    for curve in (ranking.roc_curve(), ranking.lift_curve(), ranking.gain_curve(), ranking.det_curve()):
        assert len(list(curve)) == 3
    assert ranking.cost_curve().area <= 0.25


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**900])
def test_replicates_do_not_see_the_unit_of_weights(unit):
    rng = np.random.default_rng(3)
    y, s, w = rng.integers(0, 2, 40), rng.normal(size=40), rng.integers(1, 9, 40) / 8
    asked = ["roc_auc", "average_precision", "ks_statistic", "equal_error_rate", metric("f1", best="f1")]
    plain, scaled = (
        bootstrap((y, s), asked, sample_weight=weights, n_resamples=49, rng=0, method="percentile")
        for weights in (w, w * unit)
    )
    for name in plain:
        assert scaled[name].confidence_interval == plain[name].confidence_interval


@pytest.mark.parametrize("unit", [2.0**-100, 2.0**70])
def test_rows_predicted_are_in_the_unit_of_weights(unit):
    y, s = np.array([1, 1, 0, 1, 0, 0] * 4), np.arange(24)[::-1] // 2
    asked = metric("f1", n_predicted=max(4 * unit, 1.0))
    value = batch_metrics(y, [s], asked, sample_weight=np.full(24, unit))[str(asked)][0]
    of_rows = [{"sample_weight": np.full(24, unit)}, {"sample_weight": np.full(24, unit), "groups": np.arange(24)}]
    for options in of_rows:
        found = bootstrap((y, s), asked, n_resamples=49, rng=0, method="percentile", **options)[str(asked)]
        assert found.value == value
        assert found.confidence_interval.low <= value <= found.confidence_interval.high


def test_a_mean_of_groups_of_which_one_is_infinite():
    found = grouped_metrics([1, 0, 1, 0], [0.0, 0.5, 0.5, 0.25], [0, 0, 1, 1], "log_loss",
                            sample_weight=[1e-300, 1e-300, 1e300, 1e300])["log_loss"]  # fmt: skip
    assert found.mean == found.macro_mean == math.inf


def test_differences_too_small_to_be_squared():
    y, a, b = np.array([1, 1, 0, 0] * 10), np.array([1, 0, 0, 1] * 10), np.array([1, 0, 1, 1] * 10)
    weights = np.where(y == 1, 1e-170, 1.0)
    found, plain = (
        compare_predictions(y, {"a": a, "b": b}, metrics="f1", sample_weight=each, n_resamples=99, rng=0,
                            method="percentile")["f1"].differences[0]
        for each in (weights, np.where(y == 1, 1e-9, 1.0))
    )  # fmt: skip
    assert 0 < found.value < 1e-169
    assert found.standard_error == pytest.approx(plain.standard_error * 1e-161, rel=1e-6)
    assert found.pvalue == plain.pvalue


def test_replicates_of_a_class_that_weighs_next_to_nothing():
    y, s = [1, 0] * 20, [3, 1, 2, 4] * 10
    weights = [1e-300, 1e300] * 20
    found = bootstrap((y, s), ["ks_statistic", "roc_auc"], sample_weight=weights, n_resamples=49, rng=0,
                      method="percentile", stratified=True)  # fmt: skip
    plain = bootstrap((y, s), ["ks_statistic", "roc_auc"], sample_weight=[1.0] * 40, n_resamples=49, rng=0,
                      method="percentile", stratified=True)  # fmt: skip
    for name in plain:
        assert found[name].confidence_interval == pytest.approx(plain[name].confidence_interval)


# Costs, targets, limits ---------------------------------------------------------------------------------------------


def test_costs_near_the_largest_float():
    ranking = Ranking(*TIED)
    plain = ranking.expected_cost(2, cost_fp=1.0, cost_fn=1.5)
    assert ranking.expected_cost(2, cost_fp=2.0**1023, cost_fn=1.5 * 2.0**1023) == pytest.approx(plain * 2.0**1023)
    assert ranking.best_threshold("expected_cost", cost_fp=1e308, cost_fn=1.7e308).threshold == 1
    assert ranking.expected_cost(2, cost_fp=1e-320, cost_fn=1e-320) == pytest.approx(
        1e-320 * ranking.expected_cost(2), abs=1e-323
    )


def test_where_positives_count_for_nothing_only_predicting_none_holds():
    curve = Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).cost_curve().over_prior(cost_fn=3.0)
    assert curve.at(0.0).threshold == math.inf
    assert curve.holds(0.0) == (0.0, 0.0)
    assert curve.holds(1e-9) == (0.0, 0.25)
    assert curve.holds(1.0) == (0.25, 1.0)


@pytest.mark.cases(1)
@pytest.mark.parametrize("scale", [1e-320, 1e-165, 1e-160, 1e160, 1e307])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5, 0.0]])
def test_squares_of_any_size(scale, weights):
    y, p = [1.0 * scale, 2.0 * scale, 4.0 * scale, scale], [1.5 * scale, 2.0 * scale, 3.0 * scale, 0.0]
    expected = of_targets.metrics(y, p, weights)
    found = regression_metrics(y, p, sample_weight=weights)
    assert found.r2 == pytest.approx(expected["r2"], rel=1e-13)
    assert found.root_mean_squared_error == pytest.approx(expected["root_mean_squared_error"], rel=1e-13)
    assert drop_in.r2_score(y, p, sample_weight=weights) == pytest.approx(expected["r2"], rel=1e-13)
    assert drop_in.root_mean_squared_error(y, p, sample_weight=weights) == found.root_mean_squared_error
    if weights is None:
        splits = HoldOut(3, n_repeats=3, rng=0)
        found, plain = (
            evaluate_splits(np.multiply(y, k), np.multiply(p, k), splits, ["r2", "root_mean_squared_error"])
            for k in (1.0, 1 / scale if scale > 1e-300 else 1.0)
        )
        assert found["r2"].value == pytest.approx(plain["r2"].value, rel=1e-12)


def test_an_error_of_next_to_nothing_is_not_nothing():
    found = regression_metrics([1.0, 0.0], [1.0, 1e-165])
    assert found.root_mean_squared_error == pytest.approx(1e-165 / math.sqrt(2))
    assert drop_in.root_mean_squared_error([1.0, 0.0], [1.0, 1e-165]) == found.root_mean_squared_error
    assert found.r2 == 1.0


@pytest.mark.parametrize(("scores", "value"), [([0.1, 0.2], 0.5), ([0.2, 0.1], 1.0)])
def test_the_smallest_part_of_an_auc(scores, value):
    assert Ranking([1, 0], scores).roc_auc(max_fpr=5e-324, min_tpr=1 - 2**-53) == value


# What NumPy would say ----------------------------------------------------------------------------------------------


def test_a_lift_curve_without_positives_has_no_lift():
    with pytest.warns(UndefinedMetricWarning, match="lift_curve"):
        curve = Ranking([0, 0], [0.1, 0.2]).lift_curve()
    assert np.isnan(curve.lift).all()


@pytest.mark.parametrize("weights", [[5e-324, 1e308, 5e-324, 5e307], [4e307] * 4])
def test_the_drop_in_lets_no_overflow_out(weights):
    y, s, p = [0, 1, 1, 1], [0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1]
    of_less = np.divide(weights, 2.0**3)  # still exact, or zero
    for function in (drop_in.log_loss, drop_in.brier_score_loss):
        assert function(y, s, sample_weight=weights) == pytest.approx(function(y, s, sample_weight=of_less), abs=1e-15)
    assert drop_in.roc_auc_score(y, s, sample_weight=weights) == 1.0
    assert drop_in.roc_curve(y, s, sample_weight=weights)[1][-1] == 1.0
    assert drop_in.r2_score(y, s, sample_weight=weights) < 1
    kappa = drop_in.cohen_kappa_score(y, p, weights="linear", sample_weight=weights)
    assert math.isfinite(kappa)
    assert 0 <= Ranking(y, s, sample_weight=weights).best_threshold("f1").value <= 1


def test_integers_past_64_bits():
    with pytest.raises(ValueError, match=f"within 2\\*\\*53 for integers, got {2**63 + 5}"):
        friedman_test(np.array([[2**63 + 5, 1, 2], [3, 2**63 + 1, 1]], dtype=np.uint64))
    found = drop_in.precision_recall_fscore_support([0, 1, 1], [0, 1, 0], beta=2**70)
    assert found[2].tolist() == found[1].tolist() == [1.0, 0.5]
    assert drop_in.fbeta_score([0, 1, 1], [0, 1, 0], beta=10**400) == 0.5


def test_micro_averages_near_the_largest_float():
    labels, weights = [0, 1, 2, 0], [8e307, 4e307, 3e307, 1e307]
    assert drop_in.f1_score(labels, [0, 1, 2, 1], average="micro", sample_weight=weights) == pytest.approx(15 / 16)
    assert ConfusionMatrix(np.diag(weights[:3])).f_score(average="micro") == 1.0


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize(
    ("weights", "fpr", "fnr", "threshold"), [([1, 0], math.nan, 0.0, 0.9), ([0, 1], 0.0, math.nan, math.inf)]
)
def test_a_det_curve_of_a_class_without_weight(weights, fpr, fnr, threshold, drop):
    with pytest.warns(UndefinedMetricWarning, match="should be meaningless"):
        found = drop_in.det_curve([1, 0], [0.9, 0.2], sample_weight=weights, drop_intermediate=drop)
    np.testing.assert_array_equal(found, [[fpr], [fnr], [threshold]])  # as in scikit-learn
    with pytest.raises(ValueError, match="Only one class"):
        drop_in.det_curve([1, 1], [0.9, 0.2], sample_weight=weights)
