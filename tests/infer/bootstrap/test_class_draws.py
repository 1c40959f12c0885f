"""Replicates of scores of several classes: each draw is measured as if its rows were copied."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fastevals
from fastevals import ClassRankings, bootstrap, compare_rankings, metric
from fastevals.infer.bootstrap.class_samples import ClassSample
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_class_sample
from fastevals.measure.kinds import CLASSES
from fastevals.measure.metric_specs import parse_metrics

pytestmark = pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")  # few rows

AVERAGES = ["macro", "weighted", "micro", None]
METRICS = [
    *(metric(name, average=average) for name in ("roc_auc", "average_precision") for average in AVERAGES),
    *(metric("roc_auc", multi_class="ovo", average=average) for average in ("macro", "weighted", None)),
    *(metric(name, average=None) for name in ("brier_score", "log_loss", "expected_calibration_error", "ks_statistic")),
    metric("recall", threshold=0.4, average="macro"),
    metric("f1", best="f1", average=None),
    "hand_till", "log_loss", "brier_score", "ranked_probability_score", "top_k_accuracy", metric("top_k_accuracy", k=1),
    "top_label_calibration_error", "accuracy", "balanced_accuracy", "f1", metric("f1", average=None), "precision",
    "matthews", "cohen_kappa", metric("mean_predicted", average=None),
]  # fmt: skip


def data(n: int, k: int, *, tied: bool, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    logits = rng.normal(size=(n, k))
    logits[np.arange(n), y] += 1
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    if tied:
        p = (np.floor(p * 8) + 1) / 16
        p[:, 0] += 1 - p.sum(axis=1)
    return y, p


def sample_of(y: Any, models: dict[str, Any], design: SamplingDesign) -> ClassSample:
    return make_class_sample(y, models, CLASSES.specs(parse_metrics(METRICS)), design)


def check_draws(sample: ClassSample, models: dict[str, Any], y: Any, rows: Any, weights: Any) -> None:
    """Compare some replicates with the metrics of copied rows; `rows` gives the rows of each unit."""
    key, space = np.uint64(7), sample.workspace()
    drawn = [times.copy() for times in sample.draws(key, range(5), space)]
    values = sample.measure(iter(drawn), 5, space)
    k = len(np.unique(y))
    for number, times in enumerate(drawn):
        taken = np.concatenate([np.repeat(of_unit, times[unit]) for unit, of_unit in enumerate(rows)])
        design = SamplingDesign(None, None if weights is None else weights[taken], labels=range(k))
        copied = sample_of(y[taken], {name: p[taken] for name, p in models.items()}, design)
        for each, found, expected in zip(METRICS, values, copied.estimates(), strict=True):
            np.testing.assert_allclose(found[number], expected, rtol=1e-11, atol=1e-13, err_msg=str(each))


@pytest.mark.cases(2)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("stratified", [False, True])
def test_a_draw_is_measured_as_its_copied_rows(tied: bool, stratified: bool) -> None:
    y, p = data(90, 4, tied=tied)
    models = {"a": p, "b": p[::-1]}
    sample = sample_of(y, models, SamplingDesign(stratified=stratified))
    order = np.argsort(y, kind="stable") if stratified else np.arange(y.size)
    check_draws(sample, models, y, order[:, None], None)


@pytest.mark.slow
def test_clusters_and_weights_are_drawn_with_their_rows() -> None:
    y, p = data(90, 3, tied=True)
    groups, weights = np.arange(90) % 30, np.random.default_rng(1).uniform(0.5, 2, 90)
    rows = [np.flatnonzero(groups == g) for g in range(30)]
    for used in (None, weights):
        sample = sample_of(y, {"a": p}, SamplingDesign(groups, used))
        check_draws(sample, {"a": p}, y, rows, used)
    sample = sample_of(y, {"a": p}, SamplingDesign(None, weights))
    check_draws(sample, {"a": p}, y, np.arange(90)[:, None], weights)


def test_estimates_are_the_metrics_of_a_class_ranking() -> None:
    y, p = data(200, 5, tied=True)
    classes = ClassRankings(y, p)
    found = bootstrap(classes, METRICS, n_resamples=9, rng=0)
    matrix = classes.confusion_matrix()
    expected: dict[str, Any] = {
        "hand_till": classes.hand_till(),
        "log_loss": classes.log_loss(),
        "brier_score": classes.brier_score(),
        "ranked_probability_score": classes.ranked_probability_score(),
        "top_k_accuracy": classes.top_k_accuracy(),
        "top_label_calibration_error": classes.top_label().expected_calibration_error(),
        "accuracy": matrix.accuracy(),
        "f1": matrix.f_score(average="macro"),
        "matthews": matrix.matthews(),
        "cohen_kappa": matrix.cohen_kappa(),
    }
    for average in AVERAGES:
        expected[f"roc_auc(average={average!r})"] = classes.roc_auc(average=average)
        expected[f"average_precision(average={average!r})"] = classes.average_precision(average=average)
    pairs = np.triu_indices(5, 1)
    aucs = classes.roc_auc(multi_class="ovo", average=None)
    expected["roc_auc(multi_class='ovo', average=None)"] = (aucs[pairs] + aucs.T[pairs]) / 2
    for name, value in expected.items():
        np.testing.assert_allclose(found[name].value, value, rtol=1e-14, err_msg=name)
    low, high = found["hand_till"].confidence_interval
    assert low < found["hand_till"].value < high
    assert found.labels is not None
    assert found.labels.tolist() == [0, 1, 2, 3, 4]


def test_a_pair_is_a_class_ranking_and_models_share_draws() -> None:
    y, p = data(300, 3, tied=False)
    names = np.array(["cat", "dog", "owl"])[y]
    few: dict[str, Any] = {"n_resamples": 99, "rng": 3}
    alone = bootstrap((names, p), ["roc_auc", "log_loss"], **few)
    same = bootstrap(ClassRankings(names, p), ["roc_auc", "log_loss"], **few)
    turned = bootstrap((names, p[:, ::-1]), ["roc_auc", "log_loss"], labels=["owl", "dog", "cat"], **few)
    both = compare_rankings(
        names, {"a": p, "b": p**2 / (p**2).sum(1, keepdims=True)}, metrics=["roc_auc", "log_loss"], **few
    )
    stacked = compare_rankings(names, np.stack([p, p]), metrics="log_loss", **few)
    for name in ("roc_auc", "log_loss"):
        assert alone[name].to_dict() == same[name].to_dict()
        assert both[name].estimates["a"].to_dict() == alone[name].to_dict()
        np.testing.assert_allclose(turned[name].confidence_interval, alone[name].confidence_interval, rtol=1e-12)
    assert stacked["log_loss"].differences[0].value == 0
    assert both["log_loss"].differences[0].value < 0
    assert fastevals.bootstrap((names, p), "brier_score", n_resamples=9, rng=0)["brier_score"].value <= 2


def test_seeds_give_the_same_bits_at_any_number_of_threads_and_replicates() -> None:
    y, p = data(500, 4, tied=True)
    results = []
    for threads, n in ((1, 60), (2, 60), (2, 90)):
        with fastevals.num_threads(threads):
            results.append(bootstrap((y, p), METRICS, n_resamples=n, rng=5, keep_distribution=True))
    for each in results[0]:
        first, second, more = (result[each].bootstrap_distribution for result in results)
        np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(first, more[:60])


def test_an_absent_class_is_undefined_and_infinite_losses_have_no_interval() -> None:
    y, p = data(60, 3, tied=False)
    y[y == 2] = 1
    with pytest.warns(fastevals.UndefinedMetricWarning):
        found = bootstrap(
            (y, p), [metric("roc_auc", average=None), "hand_till", "log_loss"], labels=[0, 1, 2], rng=0, n_resamples=19
        )
    aucs = found["roc_auc(average=None)"]
    assert np.isnan(aucs.value[2])
    assert np.isfinite(aucs.value[:2]).all()
    assert math.isnan(found["hand_till"].value)
    assert math.isfinite(found["log_loss"].value)
    hard = np.eye(3)[[0, *y[1:]]]
    hard[0] = [0, 0, 1]
    with pytest.warns(fastevals.UndefinedMetricWarning):
        loss = bootstrap((y, hard), "log_loss", labels=[0, 1, 2], rng=0, n_resamples=19)["log_loss"]
    assert loss.value == math.inf
    assert math.isnan(loss.confidence_interval.low)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": metric("roc_auc", average="macro", multi_class="ovo", max_fpr=0.1)}, "multi_class='ovo' takes"),
        ({"metrics": metric("roc_auc", average="mean")}, "average of roc_auc.* must be one of 'macro'"),
        ({"metrics": "r2"}, "r2|y_pred"),
        ({"metrics": metric("f1", average="binary")}, "average='binary' needs 2 classes"),
        ({"pos_label": 1}, "pos_label"),
        ({"labels": [0, 1]}, "y_score has 3 columns, but labels has 2 labels"),
        ({"groups": [1, 2]}, "groups"),
        ({"metrics": len}, "functions need a Ranking or a ConfusionMatrix|a function requires"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    y, p = data(30, 3, tied=False)
    with pytest.raises(ValueError, match=message):
        bootstrap((y, p), **{"metrics": "roc_auc", "n_resamples": 9, **options})


def test_scores_that_are_no_probabilities_are_refused_where_it_matters() -> None:
    y, p = data(30, 3, tied=False)
    assert bootstrap((y, 5 * p), "roc_auc", n_resamples=9, rng=0)["roc_auc"].value > 0.5
    with pytest.raises(ValueError, match=r"y_score must have rows that add up to 1, got the sum 0\.5 in row 3"):
        bootstrap((y, np.where(np.arange(30)[:, None] == 3, p / 2, p)), "log_loss", n_resamples=9, rng=0)
    weights = np.repeat([0, 1], [2, 28])
    with pytest.raises(ValueError, match=r"0\.5 in row 3 \(1 of 28 rows are off by more than 1e-05\)"):
        bootstrap(
            (y, np.where(np.arange(30)[:, None] == 3, p / 2, p)), "log_loss", sample_weight=weights, n_resamples=9
        )
    with pytest.raises(ValueError, match=r"got the sum 2\.0 in a row of weight 0"):
        bootstrap((y, np.where(np.arange(30)[:, None] < 2, 2 / 3, p)), "log_loss", sample_weight=weights, n_resamples=9)
    with pytest.raises(ValueError, match=r"scores\['b'\]"):
        compare_rankings(y, {"a": p, "b": 5 * p}, metrics="brier_score", n_resamples=9, rng=0)
    with pytest.raises(ValueError, match=r"labels"):
        bootstrap((y > 0, p[:, 0]), "roc_auc", labels=[0, 1], n_resamples=9, rng=0)


# Calibration errors by chance -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_errors_by_chance_are_those_of_labels_drawn_from_the_probabilities() -> None:
    y, p = data(60, 3, tied=True)
    specs = CLASSES.specs(parse_metrics([
        metric("expected_calibration_error", average=None), "expected_calibration_error",
        metric("expected_calibration_error", average="micro"), "top_label_calibration_error",
        metric("expected_calibration_error", n_bins=3), metric("expected_calibration_error", strategy="quantile"),
    ]))  # fmt: skip
    sample = make_class_sample(y, {"a": p}, specs, SamplingDesign())
    found = sample.errors_by_chance(np.uint64(5))
    assert sorted(found) == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(found[0].mean(axis=-1), found[1])
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(100):
        labels = (rng.random((60, 1)) > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
        again = make_class_sample(labels, {"a": p}, specs, SamplingDesign(labels=range(3)))
        drawn.append([each.ravel() for each in again.estimates()])
    for k in range(5):
        expected = np.array([each[k] for each in drawn])
        error = expected.std(axis=0) / 10
        assert (np.abs(found[k].reshape(len(found[k]), -1).mean(axis=0) - expected.mean(axis=0)) < 6 * error).all(), k
        np.testing.assert_allclose(found[k].reshape(len(found[k]), -1).std(axis=0), expected.std(axis=0), rtol=0.35)


def test_a_calibrated_model_has_an_interval_down_to_zero() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(6), size=2000)
    y = (rng.random((2000, 1)) > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    names = [
        "expected_calibration_error",
        "top_label_calibration_error",
        metric("expected_calibration_error", average=None),
    ]
    sharp = p**3 / (p**3).sum(axis=1, keepdims=True)
    found = compare_rankings(y, {"right": p, "sharp": sharp}, metrics=names, n_resamples=199, rng=0)
    for name in map(str, names):
        right, wrong = (found[name].estimates[model].confidence_interval.low for model in ("right", "sharp"))
        assert np.all(np.asarray(right) == 0)
        assert np.all(np.asarray(wrong) > 0)
    grouped = make_class_sample(
        y, {"a": p}, CLASSES.specs(parse_metrics(names)), SamplingDesign(np.arange(2000) // 2), one_model=True
    )
    assert grouped.errors_by_chance(np.uint64(0)) == {}
