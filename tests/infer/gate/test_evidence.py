"""Evidence: which method decides, widths of degenerate data, few rows, and the same bits for the same seed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benches import gate_evidence
from fastevals import ConfusionMatrix, Ranking, metric, proportion_interval
from fastevals.counts import Cells
from fastevals.infer.bootstrap.bootstrap import BootstrapSettings, Limits
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_sample
from fastevals.infer.gate.closed import ClosedCounts
from fastevals.infer.gate.evidence import Measured, difference, from_normal, from_replicates, measure_rows
from fastevals.measure.metric_specs import parse_metrics
from fastevals.measure.registry import METRICS

SETTINGS = BootstrapSettings.checked(199, 0.95, "BCa", "two-sided", 3)
RNG = np.random.default_rng(8)
N = 400
BOTH = "wider of BCa and t"
Y = RNG.random(N) < 0.4
SCORES = {name: 1 / (1 + np.exp(-(RNG.standard_normal(N) + 2 * Y - 1))) for name in ("a", "b")}
AT_HALF = metric("recall", threshold=0.5)


def measured(metrics, y=Y, scores=SCORES, kind="scores", **options):
    return measure_rows(kind, y, scores, parse_metrics(metrics), SETTINGS, **options)


def bounds(evidence, level=0.95):
    return evidence.bound(level, "low"), evidence.bound(level, "high")


@pytest.mark.parametrize(
    ("asked", "of", "between"),
    [
        ("roc_auc", "score and DeLong", "score and DeLong, paired"),
        ("average_precision", BOTH, BOTH),
        ("brier_score", BOTH, BOTH),
        (AT_HALF, "Clopper-Pearson", "Tango score"),
        (metric("precision", threshold=0.5), "Clopper-Pearson", BOTH),
        (metric("f1", threshold=0.5), "Clopper-Pearson", BOTH),
        (metric("recall", fpr=0.1), BOTH, BOTH),
        (metric("f1", best="f1"), "debiased percentile", "debiased percentile"),
    ],
)
def test_each_metric_has_its_method_and_bounds_around_the_value(asked, of, between):
    found = measured([asked])
    for evidence, method in ((found.of(str(asked), "a"), of), (found.between(str(asked), "a", "b"), between)):
        low, high = bounds(evidence)
        assert evidence.method == method
        assert low < evidence.value < high
        assert evidence.why_none == ""


def test_clusters_and_weights_are_resampled():
    for options in ({"groups": np.arange(N) // 2}, {"sample_weight": RNG.random(N)}):
        found = measured(["roc_auc", AT_HALF], **options)
        assert {found.of(label, "a").method for label in found.specs} == {BOTH}


def test_rates_are_those_of_the_confusion_matrix():
    found = measured([AT_HALF, metric("accuracy", threshold=0.5), metric("false_positive_rate", threshold=0.5)])
    (tn, fp), (fn, tp) = (matrix := ConfusionMatrix.from_predictions(Y, SCORES["a"] >= 0.5)).counts
    for label, spec in found.specs.items():
        expected = proportion_interval(matrix, spec.name, method="clopper-pearson", confidence_level=0.9)
        assert bounds(found.of(label, "a")) == pytest.approx(expected, rel=1e-9)
        assert found.of(label, "a").value == pytest.approx(METRICS[spec.name].function(Cells(tp, fp, fn, tn)))


def test_f1_has_the_exact_bounds_of_the_share_of_hits():
    found = measured([metric("f1", threshold=0.5)]).of("f1(threshold=0.5)", "a")
    assert found.value == pytest.approx(ConfusionMatrix.from_predictions(Y, SCORES["a"] >= 0.5).f_score())


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (False, True)])
def test_predicted_classes_of_any_type(labels):
    names = np.array(labels)
    predicted = {name: names[(each >= 0.5).astype(int)] for name, each in SCORES.items()}
    found = measured(["recall", "accuracy", "f1"], names[Y.astype(int)], predicted, "labels", pos_label=labels[1])
    expected = measured([AT_HALF, metric("accuracy", threshold=0.5), metric("f1", threshold=0.5)])
    for one, two in zip(found.specs, expected.specs, strict=True):
        assert bounds(found.of(one, "a")) == bounds(expected.of(two, "a"))
    assert bounds(found.between("recall", "a", "b")) == bounds(expected.between(str(AT_HALF), "a", "b"))


def test_several_classes_have_an_exact_accuracy():
    y = RNG.integers(0, 3, N)
    predicted = {name: np.where(RNG.random(N) < 0.8, y, 0) for name in "ab"}
    found = measured(["accuracy", metric("f1", average="macro")], y, predicted, "labels")
    methods = [(found.of(label, "a").method, found.between(label, "a", "b").method) for label in found.specs]
    assert methods == [("Clopper-Pearson", "Tango score"), (BOTH, BOTH)]


def test_predicted_numbers_are_resampled():
    y = RNG.standard_normal(N)
    predicted = {name: y + RNG.standard_normal(N) for name in "ab"}
    found = measured(["mse"], y, predicted, "targets")
    low, high = bounds(found.between("mean_squared_error", "a", "b"))
    assert low < 0 < high


# Degenerate data ------------------------------------------------------------------------------------------------------


def test_recall_of_50_of_50_is_not_certain():
    y = np.arange(200) < 50
    low, high = bounds(measured([AT_HALF], y, {"a": y.astype(float)}).of(str(AT_HALF), "a"))
    assert (low, high) == (pytest.approx(0.05 ** (1 / 50)), 1)


def test_a_perfect_auc_is_not_certain():
    y = np.arange(200) < 50
    low, high = bounds(measured(["roc_auc"], y, {"a": y.astype(float)}).of("roc_auc", "a"))
    assert (low, high) == (pytest.approx(0.05 ** (1 / 50)), 1)


def test_identical_predictions_are_equal_and_equal_metrics_are_not():
    scores = {"a": SCORES["a"], "same": SCORES["a"].copy(), "alike": SCORES["a"] ** 2}
    found = measured(["roc_auc", "brier_score", AT_HALF], scores=scores)
    for label in found.specs:
        assert bounds(found.between(label, "a", "same")) == (0, 0)
    low, high = bounds(found.between("roc_auc", "a", "alike"))  # the same order of all rows
    assert low == -high < 0


def test_no_decision_differs_and_the_difference_has_a_width():
    scores = {"a": SCORES["a"], "b": np.where(SCORES["a"] >= 0.5, 0.9, 0.1)}
    low, high = bounds(measured([AT_HALF], scores=scores).between(str(AT_HALF), "a", "b"))
    assert low == pytest.approx(-high)
    assert high > 0.01


def test_a_relative_margin_of_identical_predictions():
    found = measured(["brier_score"], scores={"a": SCORES["a"], "same": SCORES["a"].copy()})
    own, relative = found.of("brier_score", "a"), found.between("brier_score", "a", "same", 0.98)
    assert relative.value == pytest.approx(0.02 * own.value)
    assert bounds(relative) == pytest.approx([0.02 * end for end in bounds(own)])


@pytest.mark.parametrize(
    ("value", "replicates", "why"),
    [
        (0.5, np.full(99, 0.5), "all replicates are equal"),
        (math.nan, np.linspace(0, 1, 99), "the metric is undefined"),
        (0.5, np.append(np.linspace(0, 1, 89), np.full(10, math.nan)), "the metric is undefined in 10 of 99"),
        (0.5, np.append(np.linspace(0, 1, 98), math.inf), "infinite in some replicates"),
    ],
)
def test_replicates_that_give_no_bound(value, replicates, why):
    found = from_replicates(value, replicates, 0.0, Limits((0.0, 1.0)))
    assert why in found.why_none
    assert all(map(math.isnan, bounds(found)))


def test_few_undefined_replicates_are_dropped():
    found = from_replicates(0.5, np.append(np.linspace(0, 1, 98), math.nan), 0.0, Limits((0.0, 1.0)))
    assert (found.n_undefined, found.why_none) == (1, "")
    assert not any(map(math.isnan, bounds(found)))


def test_levels_that_need_more_replicates_have_the_widest_bounds():
    found = from_replicates(0.5, np.linspace(0.3, 0.7, 99), 0.0, Limits((0.0, 1.0)))
    assert bounds(found, 0.999) == (0, 1)
    assert found.bound(0.95, "low") == pytest.approx(0.5 - 1.645 * found.standard_error, abs=0.001)


def test_doubts_move_bounds_outwards():
    sure, doubtful = (
        from_replicates(0.5, np.linspace(0.3, 0.7, 99), 0.0, Limits((0.0, 1.0)), doubt)
        for doubt in ((0, 0), (0.1, 0.2))
    )
    assert np.subtract(bounds(doubtful), bounds(sure)) == pytest.approx([-0.1, 0.2])


# Few rows -------------------------------------------------------------------------------------------------------------


def test_few_rows_of_a_class_give_no_bound_except_where_it_is_exact():
    y = np.arange(N) < 31
    found = measured(["roc_auc", "average_precision", AT_HALF], y)
    for label in ("roc_auc", "average_precision"):
        assert found.of(label, "a").why_none == "only 31 positives: bounds need at least 50"
        assert found.between(label, "a", "b").why_none == "only 31 positives: bounds need at least 50"
        assert math.isnan(found.of(label, "a").bound(0.95, "low"))
        assert found.of(label, "a").standard_error > 0
    assert found.of(str(AT_HALF), "a").why_none == ""
    assert found.between(str(AT_HALF), "a", "b").why_none == ""


def test_clusters_and_effective_rows_are_counted():
    found = measured(["brier_score"], groups=np.arange(N) % 40)
    assert found.of("brier_score", "a").why_none == "only 40 clusters with negatives: bounds need at least 50"
    weights = np.where(np.arange(N) < 10, 1e6, 1.0)
    assert "effective" in measured(["brier_score"], sample_weight=weights).of("brier_score", "a").why_none


# Counts ---------------------------------------------------------------------------------------------------------------


def test_counts_have_the_bounds_of_their_rows_moved_by_doubts():
    specs = parse_metrics(["roc_auc", AT_HALF, metric("f1", threshold=0.5)])
    ranking, expected = Ranking(Y, SCORES["a"]), measured(specs)
    sample = make_sample(ranking, specs, SamplingDesign())
    closed = ClosedCounts(ranking.counts, specs)
    found = Measured.of_sample(sample, specs, ["a"], SETTINGS, {"roc_auc": (0.01, 0.02)}, closed=closed)
    for label in specs:
        moved = (-0.01, 0.02) if label == "roc_auc" else (0, 0)
        assert bounds(found.of(label, "a")) == pytest.approx(np.add(bounds(expected.of(label, "a")), moved), abs=1e-6)


# Combinations ---------------------------------------------------------------------------------------------------------


def test_a_difference_of_other_rows_recovers_the_variance():
    found = difference(from_normal(0.8, 0.03), from_normal(0.7, 0.04), 0.5)
    assert found.value == pytest.approx(0.45)
    assert found.standard_error == pytest.approx(math.hypot(0.03, 0.02))
    assert bounds(found) == pytest.approx(
        [0.45 - 1.6449 * math.hypot(0.03, 0.02), 0.45 + 1.6449 * math.hypot(0.03, 0.02)], rel=1e-4
    )


def test_the_same_seed_gives_the_same_bits():
    one, two = (measured(["average_precision", "brier_score"]) for _ in range(2))
    for label in one.specs:
        assert bounds(one.of(label, "a")) == bounds(two.of(label, "a"))
        assert bounds(one.between(label, "a", "b")) == bounds(two.between(label, "a", "b"))


@pytest.mark.parametrize("level", [0.5, 1, 0.3, math.nan])
def test_a_level_out_of_range_is_refused(level):
    with pytest.raises(ValueError, match=r"level must be above 0\.5 and below 1"):
        from_normal(0.0, 1.0).bound(level, "low")


# Simulations ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "n_sets"), [(["AUC"], 400), (["Brier", "F1", "recall at FPR"], 200)])
def test_rules_at_their_margin_seldom_pass(labels, n_sets):
    """With 65 positives: 5 % is exceeded by three standard errors in one of 700 such figures."""
    design = next(each for each in gate_evidence.DESIGNS if each[1:] == (0.065, (0.95, 0.96), 0.9))
    for figures in gate_evidence.simulate(design, n_sets, labels).values():
        assert figures[:4].max() <= 5 + 3 * 100 * math.sqrt(0.05 * 0.95 / n_sets)
