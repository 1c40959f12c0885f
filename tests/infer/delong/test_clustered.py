"""DeLong's tests and intervals of clustered rows, against Obuchowski's formula in fractions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import fastevals
from tests.reference import delong as reference

RNG = np.random.default_rng(8)
GROUPS = np.repeat(np.arange(12), RNG.integers(1, 7, 12))
Y = RNG.integers(0, 2, GROUPS.size)
Y[GROUPS == 3] = 1  # a cluster of one class
A, B = RNG.integers(0, 6, (2, GROUPS.size)) + Y
SIZES = [np.bincount(GROUPS[label == Y]) for label in (0, 1)]
DF = min(each.sum() ** 2 / np.sum(each**2) for each in SIZES) - 1  # of clusters as large as they are, on average


def test_equals_the_twin() -> None:
    found = fastevals.delong_test(Y, A, B, groups=[f"patient {each}" for each in GROUPS])
    variance = reference.clustered_variance(Y.tolist(), A.tolist(), B.tolist(), GROUPS.tolist())
    assert found.effect == pytest.approx(fastevals.delong_test(Y, A, B).effect)
    assert found.statistic == pytest.approx(found.effect / math.sqrt(variance))
    assert found.df == pytest.approx(DF)
    assert "DeLong's test of clustered rows" in found.conclusion


def test_repeated_rows_add_nothing() -> None:
    once = fastevals.delong_test(Y, A, B, groups=range(Y.size))
    rows = np.repeat(np.arange(Y.size), 3)
    thrice = fastevals.delong_test(Y[rows], A[rows], B[rows], groups=rows)
    assert tuple(thrice) == pytest.approx(tuple(once))
    plain = fastevals.delong(Y, [A, B]).moments.variance([1, -1])
    assert (once.effect / once.statistic) ** 2 == pytest.approx(float(plain))


def test_too_few_clusters_and_bad_input() -> None:
    with pytest.warns(fastevals.UndefinedMetricWarning, match="a class occurs in 1 cluster, and two are needed"):
        assert math.isnan(fastevals.delong_test([0, 0, 1, 1], [1, 2, 3, 4], [2, 1, 4, 3], groups=[0, 1, 2, 2]).pvalue)
    assert fastevals.delong_test(Y, A, A, groups=GROUPS).pvalue == 1
    with pytest.raises(ValueError, match="groups has 2 rows"):
        fastevals.delong_test(Y, A, B, groups=[0, 1])


def test_interval_of_one_auc_equals_the_twin() -> None:
    variance = reference.clustered_variance(Y.tolist(), A.tolist(), [0] * Y.size, GROUPS.tolist())
    found = fastevals.delong(Y, A, groups=GROUPS)
    assert found.value == fastevals.delong(Y, A).value
    assert found.standard_error == pytest.approx(math.sqrt(variance))
    assert found.n_clusters == min(np.count_nonzero(each) for each in SIZES)
    assert found.n_effective_clusters == pytest.approx(DF + 1)
    margin = stats.t.ppf(0.95, DF) * math.sqrt(variance)
    assert found.confidence_interval(0.9).low == pytest.approx(found.value - margin)
    logit = np.log(found.value / (1 - found.value)) - margin / (found.value * (1 - found.value))
    assert found.confidence_interval(0.9, method="logit").low == pytest.approx(1 / (1 + np.exp(-logit)))


def test_contrast_and_equality_are_the_test_of_two() -> None:
    found, test = fastevals.delong(Y, {"a": A, "b": B}, groups=GROUPS), fastevals.delong_test(Y, A, B, groups=GROUPS)
    assert tuple(found.contrast([1, -1])) == pytest.approx(tuple(test))
    equality = found.equality_test()
    assert equality.pvalue == pytest.approx(test.pvalue)
    assert (equality.null.name, equality.df) == ("f", (1, pytest.approx(DF)))
    assert equality.null.sf(equality.critical_value) == pytest.approx(0.05)
    assert fastevals.delong(Y, [A, A], groups=GROUPS).equality_test().pvalue == 1


def test_equality_needs_more_clusters_than_contrasts() -> None:
    rows = np.arange(48)
    scores = np.random.default_rng(1).random((8, 48))
    few = fastevals.delong(rows % 2, scores, groups=rows // 8)
    assert few.n_clusters == 6
    with pytest.warns(fastevals.UndefinedMetricWarning, match="a class occurs in 6 clusters, and 8 are needed"):
        assert math.isnan(few.equality_test().pvalue)
    assert 0 < fastevals.delong(rows % 2, scores[:3], groups=rows // 8).equality_test().pvalue < 1


def test_few_clusters_have_a_caution() -> None:
    caution = "A class occurs in only 9 clusters: with fewer than 20, the variance is uncertain"
    few = fastevals.delong(Y, A, groups=GROUPS)
    assert few.n_clusters == 9
    assert few.caution.startswith(caution)
    assert caution in " ".join(str(few).split())
    assert caution in fastevals.delong_test(Y, A, B, groups=GROUPS).conclusion
    many = fastevals.delong(Y[:, None].repeat(4, 1).ravel(), np.arange(4 * Y.size) % 7, groups=np.arange(4 * Y.size))
    assert many.n_clusters > 20
    assert many.caution == fastevals.delong(Y, A).caution == ""
    assert str(many).endswith("80 with the rarer class")


def test_weights_are_refused() -> None:
    for name in ("sample_weight", "frequency_weight"):
        with pytest.raises(ValueError, match=f"{name} is not allowed with groups"):
            fastevals.delong(Y, A, groups=GROUPS, **{name: np.ones(Y.size, int)})
    with pytest.raises(ValueError, match="groups requires y_true and scores"):
        fastevals.delong(fastevals.Ranking(Y, A), groups=GROUPS)
