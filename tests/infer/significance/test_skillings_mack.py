from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastevals
from fastevals import friedman_test, skillings_mack_test

NAN = float("nan")
# Skillings and Mack (1981), table 1: times of four methods to assemble a product. R's Skillings.Mack 1.10 gives
# "Skillings-Mack Statistic = 15.493049, p-value = 0.001440" and, with 1,000 simulations, p = 0.001.
ASSEMBLY = np.array([
    [3.2, 4.1, 3.8, 4.2], [3.1, 3.9, 3.4, 4.0], [4.3, 3.5, 4.6, 4.8], [3.5, 3.6, 3.9, 4.0], [3.6, 4.2, 3.7, 3.9],
    [4.5, 4.7, 3.7, NAN], [NAN, 4.2, 3.4, NAN], [4.3, 4.6, 4.4, 4.9], [3.5, NAN, 3.7, 3.9],
])  # fmt: skip


def test_is_the_published_example() -> None:
    for corrected in (True, False):
        found = skillings_mack_test(ASSEMBLY, higher_is_better=False, tie_correction=corrected)
        assert found.statistic == pytest.approx(15.493049, abs=5e-7)
        assert found.pvalue == pytest.approx(0.001440296302, abs=5e-13)
        assert (found.df, found.n_datasets, found.n_missing) == (3, 9, 4)
    permuted = skillings_mack_test(ASSEMBLY, method="permutation", rng=1)
    assert permuted.statistic == pytest.approx(15.493049, abs=5e-7)  # the direction does not matter
    assert permuted.pvalue < 0.001
    assert permuted.rank_sums == pytest.approx(-found.rank_sums)


@pytest.mark.parametrize("corrected", [True, False])
def test_is_friedmans_test_without_missing_results(corrected: bool) -> None:
    rng = np.random.default_rng(1)
    for shape in ((3, 2), (12, 5), (40, 9)):
        table = rng.integers(0, 4, shape) / 10
        expected = friedman_test(table, statistic="chi-square", tie_correction=corrected)
        found = skillings_mack_test(table, tie_correction=corrected)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)


def test_variance_is_exact_given_the_ties() -> None:
    # The mean of the statistic over all permutations within the data sets is its degrees of freedom.
    table = np.array([[1, 1, 2, 3.0], [4, NAN, 4, 5], [2, 2, NAN, 2], [1, 3, 3, NAN]])
    orders: list[list[np.ndarray]] = [[] for _ in table]
    for row, found in zip(table, orders, strict=True):
        kept = ~np.isnan(row)
        for order in sorted(set(permutations(row[kept]))):  # equally likely, also with ties
            permuted = row.copy()
            permuted[kept] = order
            found.append(permuted)
    statistics = [skillings_mack_test(np.array(rows)).statistic for rows in product(*orders)]
    assert len(statistics) == 12 * 3 * 3
    assert np.mean(statistics) == pytest.approx(3, rel=1e-12)


@pytest.mark.parametrize(("n", "most"), [(300, 0.1), pytest.param(2000, 0.069, marks=pytest.mark.slow)])
def test_level_with_missing_results_and_ties(n: int, most: float) -> None:
    # 12 data sets, 5 learners, a tenth missing: n tables. More than this share has probability 1e-4 at 5 %.
    rng = np.random.default_rng(7)
    rejected = 0
    for _ in range(n):
        table = rng.integers(0, 12, (12, 5)).astype(float)
        table[rng.random((12, 5)) < 0.1] = NAN
        rejected += skillings_mack_test(table).rejected
    assert 0.01 < rejected / n < most


def test_permutations_have_a_level_and_a_seed() -> None:
    rng = np.random.default_rng(8)
    pvalues = []
    for k in range(150):
        table = rng.integers(0, 3, (4, 3)).astype(float)
        table[0, 2] = NAN
        pvalues.append(skillings_mack_test(table, method="permutation", n_resamples=199, rng=k).pvalue)
    assert stats.binomtest(int(np.sum(np.array(pvalues) < 0.2)), 150, 0.2, "greater").pvalue > 1e-4
    one, again = (skillings_mack_test(ASSEMBLY, method="permutation", n_resamples=99, rng=3).pvalue for _ in range(2))
    assert one == again


def test_results_with_missing_cells() -> None:
    frame = {"dataset": [f"d{k}" for k in range(9)], **{name: ASSEMBLY[:, k] for k, name in enumerate("abcd")}}
    kept = fastevals.Results(frame, metric="error_rate", missing="keep")
    found = skillings_mack_test(kept)
    assert found.names == ("a", "b", "c", "d")
    assert found.statistic == pytest.approx(15.493049, abs=5e-7)
    assert found.rank_sums[0] < 0  # the smallest times
    assert "4 results missing" in str(found)
    with pytest.raises(ValueError, match="higher_is_better"):
        skillings_mack_test(kept, higher_is_better=True)


def test_ties_alone_and_rows_without_two_results() -> None:
    found = skillings_mack_test([[1, 1, 1], [2, 2, NAN], [3, NAN, NAN]])
    assert (found.statistic, found.pvalue, found.n_datasets) == (0, 1, 2)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ([[1, NAN], [NAN, 2]], {}, "results must have a data set with results of two learners or more, got none"),
        (
            [[1, 2, NAN, NAN], [NAN, NAN, 1, 2]],
            {},
            "must connect all learners by common data sets, but 2, 3 share",
        ),
        ([[1, np.inf], [1, 2]], {}, "results must be finite, but has inf at row 0, column 1"),
        (ASSEMBLY, {"method": "exact"}, "method must be one of 'chi-square', 'permutation'"),
        (ASSEMBLY, {"n_resamples": 0}, "n_resamples must be an integer from 1"),
    ],
)
def test_bad_input(table: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        skillings_mack_test(table, **options)
    if not options:
        with pytest.raises(ValueError, match="finite"):
            friedman_test(table)
