"""DeLong's covariance of AUCs of several classes: against pairs counted one by one, and against two classes."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import ClassRankings, bootstrap, delong, delong_test


def data(n: int, k: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    p = rng.dirichlet(np.ones(k), size=n)
    p[np.arange(n), y] += 0.4
    return y, np.round(p, 1)


def wins(a: float, b: float) -> float:
    return float(a > b) + 0.5 * float(a == b)


def deviations_of_m(y: Any, p: Any, k: int) -> Any:
    """Return each row's deviation from M, by its placements among the rows of every other class, in both columns."""
    rows, moved = range(len(y)), np.zeros(len(y))
    sizes = np.bincount(y, minlength=k)
    for j, other in permutations(range(k), 2):
        auc = np.mean([wins(p[a, j], p[b, j]) for a in rows for b in rows if y[a] == j and y[b] == other])
        for i in rows:
            if y[i] == j:
                moved[i] += np.mean([wins(p[i, j], p[b, j]) for b in rows if y[b] == other]) - auc
            elif y[i] == other:
                moved[i] += np.mean([wins(p[a, j], p[i, j]) for a in rows if y[a] == j]) - auc
    return moved / (k * (k - 1)) / np.sqrt(sizes * (sizes - 1.0))[y]


def test_m_has_the_variance_of_its_placements():
    y, p = data(31, 3)
    found = delong(ClassRankings(y, p), average="hand_till")
    assert found.value == pytest.approx(ClassRankings(y, p).hand_till(), rel=1e-14)
    assert found.covariance.item() == pytest.approx((deviations_of_m(y, p, 3) ** 2).sum(), rel=1e-12)


def test_each_class_has_the_variance_of_two_classes():
    y, p = data(40, 4)
    classes = ClassRankings(y, p)
    found = delong(classes)
    np.testing.assert_allclose(found.aucs, classes.roc_auc(average=None), rtol=1e-14)
    for k in range(4):
        alone = delong((y == k).astype(int), p[:, k])
        assert found.covariance[k, k] == pytest.approx(alone.covariance.item(), rel=1e-12)
    macro = delong(classes, average="macro")
    assert macro.value == pytest.approx(classes.roc_auc(), rel=1e-14)
    assert macro.covariance.item() == pytest.approx(found.covariance.mean(), rel=1e-12)
    low, high = found.confidence_interval()
    assert (low < found.aucs).all()
    assert (found.aucs < high).all()
    assert found.names == (0, 1, 2, 3)
    assert found.n_positives == (10, 10, 10, 10)


def test_two_classes_give_the_auc_however_they_are_averaged():
    y, p = data(50, 2)
    p = np.stack([1 - p[:, 1], p[:, 1]], axis=1)
    auc, covariance = delong(y, p[:, 1])
    for average in ("macro", "hand_till"):
        found = delong(ClassRankings(y, p), average=average)
        assert found.value == pytest.approx(auc.item(), rel=1e-14)
        assert found.covariance.item() == pytest.approx(covariance.item(), rel=1e-12)


@pytest.mark.cases(1)
@pytest.mark.parametrize(("average", "name"), [("macro", "roc_auc"), ("hand_till", "hand_till")])
def test_standard_errors_are_those_of_the_bootstrap(average, name):
    y, p = data(1500, 4, seed=3)
    other = p + np.random.default_rng(1).normal(0, 0.3, p.shape)
    found = delong(y, {"a": p, "b": other}, average=average)
    expected = fastevals.compare_rankings(y, {"a": p, "b": other}, metrics=name, n_resamples=1999, rng=0)[name]
    for k, model in enumerate(("a", "b")):
        assert math.sqrt(found.covariance[k, k]) == pytest.approx(expected.estimates[model].standard_error, rel=0.06)
    tested = delong_test(y, p, other, average=average, names=("a", "b"))
    assert tested.effect == pytest.approx(expected.differences[0].value, rel=1e-12)
    error = (tested.confidence_interval.high - tested.effect) / 1.959964
    assert error == pytest.approx(expected.differences[0].standard_error, rel=0.06)
    assert tested.effect == found.contrast([1, -1]).effect
    assert f"{'M' if average == 'hand_till' else 'macro AUC'} of" in tested.conclusion


def test_names_text_and_tables():
    y, p = data(40, 3)
    names = np.array(["cat", "dog", "owl"])[y]
    both = delong(names, {"a": p, "b": p[:, ::-1]}, labels=["cat", "dog", "owl"])
    assert both.names == tuple((model, label) for model in "ab" for label in ("cat", "dog", "owl"))
    assert "AUC of cat" in str(delong(ClassRankings(names, p)))
    assert "40 of 3 classes" in str(delong(ClassRankings(names, p)))
    assert both.n_samples == 40
    assert repr(both).startswith("ClassDelongResult(aucs=[")
    assert delong(names, np.stack([p, p]), average="macro").equality_test().pvalue == 1
    np.testing.assert_array_equal(
        delong(names, [p, p], average="macro").covariance[0, 0], delong(names, [p, p], average="macro").covariance[0, 1]
    )


def test_a_class_of_one_row_has_no_variance_and_takes_it_from_no_other():
    y, p = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 3]), data(10, 4)[1]
    with pytest.warns(fastevals.UndefinedMetricWarning, match="covariance for 3 is .*: class 3 has 1 row, and two are"):
        found = delong(ClassRankings(y, p))
    assert np.isfinite(found.aucs).all()
    assert np.isnan(found.covariance[3]).all()
    assert np.isnan(found.covariance[:, 3]).all()
    for k in range(3):
        alone = delong((y == k).astype(int), p[:, k])
        assert found.covariance[k, k] == pytest.approx(alone.covariance.item(), rel=1e-12)
    low, high = found.confidence_interval()
    np.testing.assert_array_equal(np.isfinite(high - low), [True, True, True, False])
    two = found.contrast([1, -1, 0, 0])
    variance = found.covariance[0, 0] + found.covariance[1, 1] - 2 * found.covariance[0, 1]
    assert two.effect == pytest.approx(found.aucs[0] - found.aucs[1], rel=1e-12)
    assert two.statistic == pytest.approx(two.effect / math.sqrt(variance), rel=1e-12)
    for undefined in (found.contrast([1, 0, 0, -1]), found.equality_test()):
        assert math.isnan(undefined.pvalue)
    with pytest.warns(fastevals.UndefinedMetricWarning, match="for 3 is undefined"):
        both = delong(y, {"a": p, "b": p[:, ::-1]})
    assert np.isnan(np.diagonal(both.covariance)).tolist() == [False, False, False, True] * 2
    for average in ("macro", "hand_till"):
        with pytest.warns(fastevals.UndefinedMetricWarning, match="delong's covariance is undefined"):
            mean = delong(ClassRankings(y, p), average=average)
        assert np.isfinite(mean.value)
        assert np.isnan(mean.covariance).all()
        assert math.isnan(mean.confidence_interval().low)


def test_one_row_in_the_rest_leaves_no_variance():
    with pytest.warns(fastevals.UndefinedMetricWarning, match="delong's covariance is undefined"):
        found = delong(ClassRankings([0, 0, 0, 0, 1], data(5, 2)[1]))
    assert np.isfinite(found.aucs).all()
    assert np.isnan(found.covariance).all()


def test_odd_input():
    y, p = data(20, 3)
    with pytest.warns(fastevals.UndefinedMetricWarning, match="class 2 has 0 rows"):
        assert math.isnan(delong(ClassRankings(y[y < 2], p[y < 2], labels=[0, 1, 2]), average="hand_till").value)
    for options, message in (
        ({"groups": y}, "groups is not allowed with scores of several classes: call bootstrap"),
        ({"average": "micro"}, "average must be one of None, 'macro', 'hand_till'"),
        ({"pos_label": 1}, "pos_label"),
        ({"scores": p}, "scores and labels must not be given with a ClassRankings"),
    ):
        with pytest.raises(ValueError, match=message):
            delong(ClassRankings(y, p), **options)
    with pytest.raises(ValueError, match="average"):
        delong(y > 0, p[:, 0], average="macro")
    with pytest.raises(ValueError, match="rows have weights"):
        delong(ClassRankings(y, p, sample_weight=np.ones(20)))
    with pytest.raises(ValueError, match="indicator matrix"):
        delong(ClassRankings(np.eye(3)[y], p))
    exact = bootstrap(ClassRankings(y, p), ["roc_auc", "hand_till"], n_resamples=9, rng=0)
    assert exact["roc_auc"].value == delong(ClassRankings(y, p), average="macro").value
    assert exact["hand_till"].value == delong(ClassRankings(y, p), average="hand_till").value
