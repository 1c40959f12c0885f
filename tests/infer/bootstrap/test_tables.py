"""Replicates of confusion matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fastevals import ConfusionMatrix
from fastevals.infer.bootstrap.label_samples import MatrixSample
from fastevals.infer.bootstrap.samples import table_size
from tests.infer.bootstrap.test_resample import assert_moments

KEY = np.uint64(3)


def table_replicates(counts, n_resamples, key, *, stratified=False):
    """Return the resampled tables."""
    sample = MatrixSample(ConfusionMatrix(counts), [], stratified=stratified)
    size = sample.task_size()
    starts = range(0, n_resamples, size)
    drawn = [sample.draws(key, range(start, min(start + size, n_resamples)), None) for start in starts]
    return np.array([table for part in drawn for table in part]).reshape(n_resamples, *counts.shape)


TABLE = np.array([[50, 10, 0], [5, 30, 2], [0, 0, 3]])


@pytest.mark.parametrize("stratified", [False, True])
def test_moments_are_those_of_the_multinomial(stratified):
    drawn = table_replicates(TABLE, 20_000, KEY, stratified=stratified)
    assert (drawn.sum(axis=(1, 2)) == 100).all()
    if stratified:
        assert (drawn.sum(axis=2) == TABLE.sum(axis=1)).all()
    totals = TABLE.sum(axis=1, keepdims=True) if stratified else np.array(100)
    p = TABLE / totals
    variance = totals * p * (1 - p)
    np.testing.assert_allclose(drawn.mean(axis=0), TABLE, atol=5 * np.sqrt(variance.max() / 20_000))
    np.testing.assert_allclose(drawn.var(axis=0), variance, atol=0.05 * variance.max())
    rows = np.bincount(drawn[:, 0, 0])
    n = 60 if stratified else 100
    tail = stats.binom(n, TABLE[0, 0] / n)
    inner = np.arange(int(tail.ppf(0.01)), int(tail.ppf(0.99)))
    expected = 20_000 * tail.pmf(inner)
    assert stats.chisquare(rows[inner], expected * (rows[inner].sum() / expected.sum())).pvalue > 1e-4


@pytest.mark.parametrize("stratified", [False, True])
def test_the_first_are_the_same_whatever_their_number(stratified):
    stack = np.stack([TABLE, TABLE.T, np.zeros_like(TABLE)])
    many, few = (table_replicates(stack, n, KEY, stratified=stratified) for n in (500, 20))
    np.testing.assert_array_equal(many[:20], few)
    assert many.shape == (500, 3, 3, 3)
    assert not many[:, 2].any()
    assert (many[:, 0].sum(axis=(1, 2)) == 100).all()
    assert not np.array_equal(many[:, 0], many[:, 1])
    assert not np.array_equal(table_replicates(stack, 20, np.uint64(4), stratified=stratified), few)


@pytest.mark.parametrize("stratified", [False, True])
def test_covariances_are_those_of_the_multinomial(stratified):
    drawn = table_replicates(TABLE, 20_000, KEY, stratified=stratified)
    for part, sizes in zip(np.moveaxis(drawn, 1, 0), TABLE, strict=True) if stratified else [(drawn, TABLE)]:
        there = sizes.ravel() > 0
        counts, sizes = part.reshape(20_000, -1)[:, there], sizes.ravel()[there]
        if len(sizes) > 1:
            assert_moments(counts, sizes.sum(), sizes / sizes.sum())


def test_how_many_are_drawn_together():
    """The draws of a seed depend on this number."""
    assert [table_size(n) for n in (0, 4, 52, 53, 1000, 2**18, 10**7)] == [5000, 5000, 5000, 4946, 262, 1, 1]


def test_equal_tables_are_drawn_apart():
    drawn = table_replicates(np.stack([TABLE, TABLE]), 5000, KEY)
    for cell in ((0, 0), (0, 1), (1, 1)):
        assert abs(np.corrcoef(drawn[:, 0, *cell], drawn[:, 1, *cell])[0, 1]) < 0.06
    square = np.array([[30, 10], [30, 10]])
    strata = table_replicates(square, 5000, KEY, stratified=True)
    assert abs(np.corrcoef(strata[:, 0, 0], strata[:, 1, 0])[0, 1]) < 0.06


def test_metrics_of_replicates_spread_as_theory_says():
    replicates = ConfusionMatrix(table_replicates(TABLE, 10_000, KEY))
    accuracy = replicates.accuracy()
    p = 83 / 100
    assert accuracy.mean() == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 100 / 10_000))
    assert accuracy.std() == pytest.approx(np.sqrt(p * (1 - p) / 100), rel=0.04)


def test_the_cost_does_not_depend_on_the_rows():
    drawn = table_replicates(np.array([[10**12, 10**9], [10**6, 10**10]]), 1000, KEY)
    assert (drawn.sum(axis=(1, 2)) == 10**12 + 10**9 + 10**6 + 10**10).all()
    assert drawn[:, 1, 0].std() == pytest.approx(1000, rel=0.15)


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("n", [10**6, 10**13, 10**17])
def test_empty_and_rare_cells_of_huge_tables(n, stratified):
    table = np.array([[n, n, n // 7], [n // 3, 5, 2], [0, 0, 0]])
    drawn = table_replicates(table, 4000, KEY, stratified=stratified)
    assert not drawn[:, 2].any()
    assert (drawn.sum(axis=(1, 2)) == table.sum()).all()
    assert drawn[:, 1, 1].mean() == pytest.approx(5, abs=5 * np.sqrt(5 / 4000))
    assert drawn[:, 1, 2].mean() == pytest.approx(2, abs=5 * np.sqrt(2 / 4000))
