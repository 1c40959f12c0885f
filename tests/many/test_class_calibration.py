import re

import numpy as np
import pytest

import fastevals
from fastevals import ClassRankings, Ranking, UndefinedMetricWarning

TORCHMETRICS = [[0.25, 0.20, 0.55], [0.55, 0.05, 0.40], [0.10, 0.30, 0.60], [0.90, 0.05, 0.05]]


def classes(n=300, k=4, dtype=float, **options):
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(k), n).astype(dtype)
    y = (rng.random((n, 1)) > scores.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)
    return y, scores, ClassRankings(y, scores, labels=np.arange(k), **options)


def test_the_top_label_has_the_errors_in_torchmetrics_docs():
    """The examples of `multiclass_calibration_error` with norms l1, l2 and max."""
    curve = ClassRankings([0, 1, 2, 0], TORCHMETRICS).top_label().calibration_curve(3)
    found = [
        curve.expected_calibration_error, curve.root_mean_square_calibration_error, curve.maximum_calibration_error
    ]  # fmt: skip
    assert np.round(found, 4).tolist() == [0.2, 0.2082, 0.2333]


def test_a_binary_model_has_the_errors_in_torchmetrics_docs():
    curve = Ranking([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]).calibration_curve(2)
    found = [
        curve.expected_calibration_error, curve.root_mean_square_calibration_error, curve.maximum_calibration_error
    ]  # fmt: skip
    assert np.round(found, 4).tolist() == [0.29, 0.2918, 0.3167]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_the_top_label_is_the_class_of_the_highest_probability(dtype):
    weights = np.arange(300) % 3 / 2
    y, scores, ranked = classes(dtype=dtype, sample_weight=weights)
    expected = Ranking(scores.argmax(axis=1) == y, scores.max(axis=1), sample_weight=weights, pos_label=True)
    found = ranked.top_label()
    assert found.expected_calibration_error(15) == expected.expected_calibration_error(15)
    assert fastevals.calibration(classes(dtype=dtype)[2].top_label()).error.value >= 0
    tied = ClassRankings([1, 0], [[0.5, 0.5], [0.5, 0.5]])
    assert tied.top_label().n_positives == 1  # the first column counts


@pytest.mark.parametrize("metric", ["ece", "rmsce", "maximum_calibration_error", "debiased_calibration_error", "smece"])
def test_each_class_is_measured_against_the_rest(metric):
    y, scores, ranked = classes()
    options = {} if metric == "smece" else {"n_bins": 5, "strategy": "quantile"}
    expected = []
    for k in range(4):
        (found,) = fastevals.batch_metrics(y == k, [scores[:, k]], fastevals.metric(metric, **options)).values()
        expected.append(found.values[0])
    found = ranked.calibration_error(metric, average=None, **options)
    assert found.tolist() == expected
    assert ranked.calibration_error(metric, **options) == pytest.approx(np.mean(expected))
    weighted = ranked.calibration_error(metric, average="weighted", **options)
    assert weighted == pytest.approx(np.average(expected, weights=ranked.support))


def test_all_columns_together_and_many_labels():
    y, scores, ranked = classes()
    together = Ranking((y[:, None] == np.arange(4)).ravel(), scores.ravel())
    assert ranked.calibration_error(average="micro") == pytest.approx(together.expected_calibration_error())
    several = ClassRankings([[0, 1], [1, 1]], [[0.5, 0.9], [0.3, 0.2]])
    assert several.calibration_error(average=None) == pytest.approx([0.6, 0.45])
    with pytest.raises(ValueError, match="top_label needs one label per row, but y_true is an indicator matrix"):
        several.top_label()


@pytest.mark.parametrize("call", [ClassRankings.top_label, ClassRankings.calibration_error])
def test_scores_that_are_no_probabilities_are_refused(call):
    scores = np.array(TORCHMETRICS)
    for wrong, said in (
        (scores * 2, r"y_score must hold probabilities, in [0, 1], got 1.8"),
        (scores * 0.9, "y_score must have rows that add up to 1, got the sum 0.9"),
        (scores - 0.1, r"y_score must hold probabilities, in [0, 1], got -0.05"),
    ):
        with pytest.raises(ValueError, match=re.escape(said)):
            call(ClassRankings([0, 1, 2, 0], wrong))


def test_classes_without_rows_and_without_pairs():
    scores = [[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]]
    ranked = ClassRankings(["a", "b"], scores, labels=["a", "b", "c"])
    assert ranked.calibration_error(average=None) == pytest.approx([0.25, 0.25, 0])
    with pytest.warns(UndefinedMetricWarning, match="2 of 3 classes have no bin of two rows"):
        found = ranked.calibration_error("debiased_calibration_error", average=None)
    assert np.isnan(found).tolist() == [True, True, False]
    with pytest.raises(ValueError, match=r"metric must be one of 'expected_calibration_error', .*; got 'brier'"):
        ranked.calibration_error("brier")
    with pytest.raises(ValueError, match="average must be one of 'macro', 'micro', 'weighted', None; got 'mean'"):
        ranked.calibration_error(average="mean")
