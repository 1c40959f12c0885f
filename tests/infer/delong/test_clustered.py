"""DeLong's test of clustered rows, against Obuchowski's formula in fractions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fastevals
from tests.reference import delong as reference

RNG = np.random.default_rng(8)
GROUPS = np.repeat(np.arange(12), RNG.integers(1, 7, 12))
Y = RNG.integers(0, 2, GROUPS.size)
Y[GROUPS == 3] = 1  # a cluster of one class
A, B = RNG.integers(0, 6, (2, GROUPS.size)) + Y


def test_equals_the_twin() -> None:
    found = fastevals.delong_test(Y, A, B, groups=[f"patient {each}" for each in GROUPS])
    variance = reference.clustered_variance(Y.tolist(), A.tolist(), B.tolist(), GROUPS.tolist())
    assert found.effect == pytest.approx(fastevals.delong_test(Y, A, B).effect)
    assert found.statistic == pytest.approx(found.effect / math.sqrt(variance))
    assert found.df == min(np.unique(GROUPS[label == Y]).size for label in (0, 1)) - 1
    assert "DeLong's test of clustered rows" in found.conclusion


def test_repeated_rows_add_nothing() -> None:
    once = fastevals.delong_test(Y, A, B, groups=range(Y.size))
    rows = np.repeat(np.arange(Y.size), 3)
    thrice = fastevals.delong_test(Y[rows], A[rows], B[rows], groups=rows)
    assert tuple(thrice) == pytest.approx(tuple(once))
    plain = fastevals.delong(Y, [A, B]).moments.variance([1, -1])
    assert (once.effect / once.statistic) ** 2 == pytest.approx(float(plain))


def test_too_few_clusters_and_bad_input() -> None:
    with pytest.warns(fastevals.UndefinedMetricWarning, match="a class occurs in 1 clusters, and two are needed"):
        assert math.isnan(fastevals.delong_test([0, 0, 1, 1], [1, 2, 3, 4], [2, 1, 4, 3], groups=[0, 1, 2, 2]).pvalue)
    assert fastevals.delong_test(Y, A, A, groups=GROUPS).pvalue == 1
    with pytest.raises(ValueError, match="groups has 2 rows"):
        fastevals.delong_test(Y, A, B, groups=[0, 1])
