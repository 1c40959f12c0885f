"""Cochran's Q against its twin, McNemar's test and a published figure; its size; odd input."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastevals import num_threads
from fastevals.infer.significance import agreement
from fastevals.infer.significance.cochran import cochran_q_test
from fastevals.infer.significance.mcnemar import mcnemar_test
from tests.reference import mcnemar as twin
from tests.strategies import BOUNDED


def test_cochrans_own_example() -> None:
    # Four media, growth from 69 specimens: Cochran (1950), doi:10.1093/biomet/37.3-4.256, table 1, Q = 8.05.
    rows = [[1, 1, 1, 1]] * 4 + [[1, 1, 0, 1]] * 2 + [[0, 1, 1, 1]] * 3 + [[0, 1, 0, 1]] + [[0, 0, 0, 0]] * 59
    found = cochran_q_test(np.ones(69, dtype=int), dict(zip("ABCD", np.transpose(rows), strict=True)))
    assert found.statistic == pytest.approx(153 / 19, rel=1e-15)
    assert (round(found.pvalue, 3), found.df, found.names) == (0.045, 3, ("A", "B", "C", "D"))
    assert found.accuracies.tolist() == [6 / 69, 10 / 69, 7 / 69, 10 / 69]
    assert found.effect == pytest.approx(4 / 69)
    assert found.critical_value == pytest.approx(stats.chi2.isf(0.05, 3))
    assert found.rejected
    assert found.conclusion == (
        "The accuracies of the 4 models differ significantly: range 0.058 (Cochran's Q test, p = 0.0449)."
    )
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()


@BOUNDED
@given(st.data())
def test_equals_the_twin(data: st.DataObject) -> None:
    k, n = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 12))
    labels = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    true, models = data.draw(labels), data.draw(st.lists(labels, min_size=k, max_size=k))
    found = cochran_q_test(true, models)
    expected = float(twin.cochran_q(true, models))
    assert found.statistic == pytest.approx(expected, rel=1e-14)
    assert found.pvalue == pytest.approx(stats.chi2.sf(expected, k - 1), rel=1e-12)
    assert found.rejected == (found.statistic > found.critical_value)


def test_of_two_models_it_is_mcnemars_uncorrected_test() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 5, 64, 1000):
        true, a, b = rng.integers(0, 3, (3, n))
        assert tuple(cochran_q_test(true, [a, b])) == pytest.approx(
            tuple(mcnemar_test(true, a, b, method="uncorrected"))
        )


def test_models_alike() -> None:
    rng = np.random.default_rng(1)
    true, model = rng.integers(0, 3, (2, 100))
    for models in ([model] * 3, [true] * 4, [true + 1] * 2):
        found = cochran_q_test(true, models)
        assert (*found, found.effect, found.rejected) == (0.0, 1.0, 0.0, False)


def test_order_parts_and_threads_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    true, *models = rng.integers(0, 3, (7, 3000)).astype(np.int8)
    array = np.stack(models)
    expected = cochran_q_test(true, array)
    rows, order = rng.permutation(3000), rng.permutation(6)
    monkeypatch.setattr(agreement, "MOST_ROWS", 1 << 7)
    for threads in (1, 3):
        with num_threads(threads):
            assert cochran_q_test(true, array).to_dict() == expected.to_dict()
    assert tuple(cochran_q_test(true[rows], array[order][:, rows])) == tuple(expected)


def test_many_models() -> None:
    rng = np.random.default_rng(3)
    true = rng.integers(0, 2, 40)
    models = rng.integers(0, 2, (300, 40))
    found = cochran_q_test(true.astype(np.int8), models.astype(bool))
    assert found.statistic == pytest.approx(float(twin.cochran_q(true.tolist(), models.tolist())), rel=1e-14)


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([[0, 1]], "predictions must have two models or more"),
        ({"a": [0, 1], "b": [math.nan, 0]}, r"predictions\['b'\] must hold class labels.*nan at row 0"),
        ([[0], [1]], r"predictions\[0\] has 1 rows, but y_true has 2"),
    ],
)
def test_bad_input(predictions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cochran_q_test([0, 1], predictions)
    with pytest.raises(ValueError, match="confidence_level must be in"):
        cochran_q_test([0, 1], [[0, 1], [0, 1]], confidence_level=0)


@pytest.mark.parametrize("n", [300, pytest.param(1000, marks=pytest.mark.slow)])
def test_size(n: int) -> None:
    """Test four models, each right on 6 of 10 rows, on 400 rows, n times.

    The number of rejections at 5 % is binomial. At 5 standard errors the check fails by chance once in 2 million.
    """
    rng = np.random.default_rng(4)
    zeros = np.zeros(400, dtype=np.int8)
    rejected = sum(cochran_q_test(zeros, (rng.random((4, 400)) < 0.4).view(np.int8)).rejected for _ in range(n))
    assert abs(rejected / n - 0.05) < 5 * math.sqrt(0.05 * 0.95 / n)
