"""Metrics of rows that may have many labels: values, averages, thresholds per label, sparse input, intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

import fastevals
from fastevals import ClassRankings, bootstrap, compare_rankings, metric
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_class_sample
from fastevals.measure.kinds import CLASSES
from fastevals.measure.metric_specs import parse_metrics
from tests.reference import label_sets as reference
from tests.strategies import BOUNDED

LIMITS = [0.25, 0.5, 0.5, 0.75]
OF_RANKS = ["coverage_error", "label_ranking_loss", "label_ranking_average_precision"]
METRICS = [
    *OF_RANKS,
    metric("subset_accuracy", threshold=LIMITS), "subset_accuracy", metric("multilabel_hamming_loss", threshold=LIMITS),
    *(metric("f1", threshold=LIMITS, average=average) for average in ("macro", "micro", "weighted", "samples", None)),
    *(metric("f1", threshold=0.5, average=average) for average in ("macro", "micro", "weighted", "samples", None)),
    *(metric(name, average=average) for name in ("roc_auc", "average_precision") for average in ("macro", "samples")),
    metric("accuracy", threshold=LIMITS, average="micro"), metric("recall", threshold=LIMITS),
]  # fmt: skip
FEW: dict[str, Any] = {"n_resamples": 99, "rng": 0}


def data(n: int, k: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return an indicator matrix, and scores with ties; some rows have all labels or none."""
    rng = np.random.default_rng(seed)
    y = (rng.random((n, k)) < 0.4).astype(np.int64)
    y[: min(n, 2)] = [[1], [0]][: min(n, 2)]
    return y, np.round((rng.random((n, k)) + 0.5 * y) / 1.5 * 8) / 8


def values(y: Any, s: Any, asked: list[Any], **options: Any) -> dict[str, Any]:
    sample = make_class_sample(
        y, {"y_score": s}, CLASSES.specs(parse_metrics(asked)), SamplingDesign(**options), one_model=True
    )
    return dict(zip(parse_metrics(asked), sample.estimates(), strict=True))


@pytest.mark.slow
@BOUNDED
@given(st.integers(0, 10**6), st.booleans())
def test_values_are_those_of_the_definitions(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    y, s = data(int(rng.integers(1, 9)), 4, seed)
    weights = rng.integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    rows = [*zip(y.tolist(), s.tolist(), strict=True)]
    asked = [
        *METRICS[:6],
        metric("f1", threshold=LIMITS, average="samples"),
        *(metric(n, average="samples") for n in ("roc_auc", "average_precision")),
    ]
    found = values(y, s, asked, sample_weight=weights if weighted else None)
    twins = [
        *(getattr(reference, name) for name in OF_RANKS),
        lambda f, x: reference.subset_accuracy(f, x, LIMITS), lambda f, x: reference.subset_accuracy(f, x, [0.5] * 4),
        lambda f, x: reference.multilabel_hamming_loss(f, x, LIMITS), lambda f, x: reference.f1(f, x, LIMITS),
        reference.roc_auc, reference.average_precision,
    ]  # fmt: skip
    for name, twin in zip(found, twins, strict=True):
        expected = reference.mean(rows, weights.tolist(), twin)
        np.testing.assert_allclose(
            found[name], np.nan if expected is None else float(expected), rtol=1e-13, err_msg=name
        )


def test_averages_are_scikit_learns() -> None:
    y, s = data(200)
    predicted = s >= LIMITS
    found = values(y, s, METRICS)
    for average in ("macro", "micro", "weighted", None):
        expected = sklearn_metrics.f1_score(y, predicted, average=average)
        np.testing.assert_allclose(found[str(metric("f1", threshold=LIMITS, average=average))], expected, rtol=1e-13)
        expected = sklearn_metrics.f1_score(y, s >= 0.5, average=average)
        np.testing.assert_allclose(found[str(metric("f1", threshold=0.5, average=average))], expected, rtol=1e-13)
    some = (y | predicted).any(axis=1)  # scikit-learn counts other rows as 0
    expected = sklearn_metrics.f1_score(y[some], predicted[some], average="samples")
    assert found[str(metric("f1", threshold=LIMITS, average="samples"))] == pytest.approx(expected)
    both = (y.sum(axis=1) > 0) & (y.sum(axis=1) < 4)
    expected = sklearn_metrics.roc_auc_score(y[both], s[both], average="samples")
    assert found["roc_auc(average='samples')"] == pytest.approx(expected)
    some = y.any(axis=1)
    expected = sklearn_metrics.average_precision_score(y[some], s[some], average="samples")
    assert found["average_precision(average='samples')"] == pytest.approx(expected)
    assert found["subset_accuracy(threshold=[0.25, 0.5, 0.5, 0.75])"] == sklearn_metrics.accuracy_score(y, predicted)
    assert found["multilabel_hamming_loss(threshold=[0.25, 0.5, 0.5, 0.75])"] == pytest.approx(
        sklearn_metrics.hamming_loss(y, predicted)
    )
    assert found["accuracy(threshold=[0.25, 0.5, 0.5, 0.75], average='micro')"] == pytest.approx(
        np.mean(predicted == y)
    )


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_draw_has_the_metrics_of_copied_rows(grouped: bool, weighted: bool) -> None:
    y, s = data(30)
    weights = np.arange(30) % 4 + 0.5 if weighted else None
    groups = np.arange(30) // 3 if grouped else None
    specs = CLASSES.specs(parse_metrics(METRICS))
    sample = make_class_sample(y, {"a": s, "b": s[:, ::-1]}, specs, SamplingDesign(groups, weights))
    space = sample.workspace()
    drawn = [times.copy() for times in sample.draws(np.uint64(7), range(4), space)]
    found = sample.measure(iter(drawn), 4, space)
    for number, times in enumerate(drawn):
        rows = np.repeat(
            np.arange(30), times[: 30 if groups is None else 10][np.arange(30) if groups is None else groups]
        )
        design = SamplingDesign(None, None if weights is None else weights[rows])
        copied = make_class_sample(y[rows], {"a": s[rows], "b": s[rows][:, ::-1]}, specs, design).estimates()
        for name, mine, expected in zip(specs, found, copied, strict=True):
            np.testing.assert_allclose(mine[number], expected, rtol=1e-12, atol=1e-14, err_msg=name)


@pytest.mark.cases(3)
@pytest.mark.parametrize("form", ["csr_array", "csc_array", "coo_array", "csr_matrix", "coo_matrix"])
def test_sparse_matrices_are_those_of_their_dense_forms(form: str) -> None:
    y, s = data(60)
    stored = getattr(sparse, form)(y.astype(np.float64))
    assert repr(bootstrap((stored, s), METRICS, **FEW)) == repr(bootstrap((y, s), METRICS, **FEW))
    classes = ClassRankings(stored, s)
    assert classes.is_multilabel
    assert classes.roc_auc() == ClassRankings(y, s).roc_auc()
    groups, models = np.arange(60) // 2, {"a": s, "b": s[:, ::-1]}
    compared = compare_rankings(stored, models, metrics=OF_RANKS, groups=groups, **FEW)
    assert repr(compared) == repr(compare_rankings(y, models, metrics=OF_RANKS, groups=groups, **FEW))


def test_duplicates_of_a_sparse_matrix_add_up() -> None:
    s = np.array([[0.1, 0.9], [0.8, 0.2]])
    twice = sparse.coo_matrix(([0.5, 0.5, 1.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert ClassRankings(twice, s).roc_auc() == 1
    with pytest.raises(ValueError, match="must hold 0 and 1 where it is 2-D, got 2 at row 0, column 1"):
        ClassRankings(sparse.coo_matrix(([1, 1, 1], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)), s)
    with pytest.raises(ValueError, match="must hold 0 and 1"):
        ClassRankings(sparse.csr_array(np.array([[0, np.nan], [1, 0]])), s)


def test_a_class_ranking_has_every_metric_and_the_best_thresholds() -> None:
    y, s = data(80)
    classes = ClassRankings(y, s)
    for name, expected in values(y, s, METRICS).items():
        np.testing.assert_array_equal(classes.metric(parse_metrics(METRICS)[name]), expected)
    thresholds = classes.best_thresholds("f1")
    assert thresholds.tolist() == [each.best_threshold("f1").threshold for each in classes.rankings]
    best = metric("f1", threshold=thresholds.tolist())
    assert classes.metric(best) == pytest.approx(classes.metric(metric("f1", best="f1")))
    assert classes.metric("lrap") == classes.metric("label_ranking_average_precision")
    assert isinstance(classes.metric("roc_auc"), float)
    with pytest.warns(fastevals.UndefinedMetricWarning, match="roc_auc"):
        assert np.isnan(ClassRankings([[1, 0], [1, 1]], [[0.5, 0.2], [0.4, 0.3]]).metric("roc_auc"))


def test_thresholds_of_classes_with_one_label_per_row() -> None:
    rng = np.random.default_rng(3)
    y, p = rng.integers(0, 3, 50), rng.dirichlet(np.ones(3), 50)
    found = bootstrap((y, p), metric("recall", threshold=[0.2, 0.3, 0.4], average=None), **FEW)
    expected = [np.mean(p[y == k, k] >= t) for k, t in enumerate((0.2, 0.3, 0.4))]
    np.testing.assert_allclose(next(iter(found.values())).value, expected)


BAD = {
    "thresholds": (metric("f1", threshold=[0.1, 0.2]), "one number for each of 4 labels, got 2"),
    "2-D thresholds": (metric("subset_accuracy", threshold=[[0.5]]), "a number or one number per label"),
    "NaN": (metric("f1", threshold=[0.1, np.nan, 0.2, 0.3]), "threshold must not be NaN"),
    "no threshold": (metric("f1", average="samples"), r"average='samples' needs threshold="),
    "no samples": (metric("ks_statistic", average="samples"), "average='samples' applies to 'roc_auc'"),
    "average": (metric("f1", threshold=LIMITS, average="mean"), "average of f1.* must be one of 'macro'"),
    "one label": ("hand_till", "y_true must have one label per row"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_metrics_are_said(name: str) -> None:
    asked, said = BAD[name]
    with pytest.raises(ValueError, match=said):
        bootstrap(data(20), asked, **FEW)


def test_bad_input_is_said() -> None:
    y, s = data(20)
    with pytest.raises(ValueError, match="y_true must be an indicator matrix for metrics of sets of labels"):
        bootstrap((y[:, 0], np.column_stack([s[:, 0], 1 - s[:, 0]])), "lrap", **FEW)
    with pytest.raises(ValueError, match="y_true must have y_score's shape"):
        bootstrap((sparse.csr_array(y[:, :3]), s), "lrap", **FEW)
    with pytest.raises(ValueError, match="y_score must be a dense array, got a sparse one"):
        bootstrap((y, sparse.csr_array(s)), "lrap", **FEW)
