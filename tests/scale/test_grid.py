"""Grids put each score in the cell that `numpy.searchsorted` returns, for any cuts, and fit their sample."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fastevals.counting.ordering import FLOATS
from fastevals.scale import ScoreGrid
from fastevals.scale.grid import FEW_RARE, atoms_of_rows, even_cuts, fit_grid

LARGEST = float(np.finfo(np.float64).max)
RNG = np.random.default_rng(0)
KINDS: dict[str, NDArray[np.float64]] = {
    "normal": RNG.normal(size=3000),
    "probabilities": RNG.beta(0.1, 5, size=3000),
    "far clusters": np.append(1e6 + RNG.random(1500) / 1000, RNG.random(1500)),
    "decimals": RNG.normal(size=3000).round(2),
    "half of one": np.where(RNG.random(3000) < 0.5, 0.625, RNG.random(3000)),
    "all sizes": RNG.choice([-1, 1], 3000) * 10.0 ** RNG.uniform(-300, 300, 3000),
    "extremes": np.array([-LARGEST, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1 + 2**-52, LARGEST] * 5),
    "whole numbers": np.arange(-1500.0, 1500.0),
    "one": np.full(50, 0.25),
}


def assert_counted(grid: ScoreGrid, scores: NDArray[Any], labels: NDArray[np.uint8], units: Any = None) -> None:
    counts = np.zeros((1, 2 * grid.n_cells), dtype=np.uint32 if units is None else np.int64)
    grid.count(scores, labels, None if units is None else units[None], counts)
    keys = FLOATS.encode(np.asarray(scores, np.float64) + 0.0)
    cell = np.searchsorted(grid.cuts, keys, side="right")
    expected = np.bincount(2 * cell + labels, units, 2 * grid.n_cells)
    np.testing.assert_array_equal(counts[0], expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_cells", [1, 2, 40, 2**14])
def test_each_score_is_in_its_cell(kind: str, n_cells: int) -> None:
    scores = KINDS[kind]
    rng = np.random.default_rng(9)
    labels = (rng.random(scores.size) < 0.3).astype(np.uint8)
    labels[:2] = 0, 1
    others = rng.permutation(np.concatenate([KINDS[each][:500] for each in KINDS]))  # scores that the grid has not seen
    flags = (rng.random(others.size) < 0.5).astype(np.uint8)
    for grid in (ScoreGrid.fit(labels, scores, n_cells=n_cells), ScoreGrid.exact(scores), ScoreGrid(scores[::7])):
        short = np.clip(others, -1e38, 1e38).astype(np.float32)
        for rows, of in ((scores, labels), (others, flags), (short, flags)):
            assert_counted(grid, rows, of)
        assert_counted(grid, others, flags, rng.integers(1, 2**40, others.size))
        ends = grid.cells(np.ones((1, 2 * grid.n_cells), np.int64))
        assert (ends.low[1:] == ends.high[:-1] + np.uint64(1)).all()  # the cells contain all finite scores


@pytest.mark.parametrize("n_positives", [0, 3, 5000, 10_000])
def test_a_grid_has_about_as_many_cells_as_wanted(n_positives: int) -> None:
    labels = (np.arange(10_000) < n_positives).astype(np.uint8)
    sample = atoms_of_rows(np.random.default_rng(0).random(10_000), labels)
    for n_cells in (10, 100, 1000):
        assert n_cells / 2 < fit_grid(sample, n_cells).n_cells < 1.25 * n_cells


@pytest.mark.parametrize("others", [(), (0.51,), (0.505, 0.51), (0.5 + 2**-52, 0.53), (0.501, 0.502, 0.503)])
@pytest.mark.parametrize("n_even", [1, 2, 3, 9, 17])
def test_even_cuts_with_others_between(n_even: int, others: tuple[float, ...]) -> None:
    """Up to two cuts next to evenly spaced ones are found without a table."""
    even = 0.5 + 2**-10 * np.arange(1, n_even + 1)
    grid = ScoreGrid(np.concatenate((even, others)))
    rng = np.random.default_rng(2)
    near = FLOATS.decode(np.concatenate((grid.cuts - np.uint64(1), grid.cuts, grid.cuts + np.uint64(1))))
    scores = np.concatenate((near, rng.uniform(0.49, 0.55, 500)))
    assert_counted(grid, scores, (rng.random(scores.size) < 0.5).astype(np.uint8))
    if n_even + len(others) <= 3 or (n_even > 3 and len(others) < 3 and max(others, default=0) < even[-1]):
        assert grid._index[2].size == 1  # no slots


def test_cells_have_about_equal_weight_of_each_class() -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random(200_000) < 0.2).astype(np.uint8)
    scores = rng.normal(size=labels.size) + labels
    grid = ScoreGrid.fit(labels[::4], scores[::4], n_cells=1000)
    counts = np.zeros((1, 2 * grid.n_cells), np.uint32)
    grid.count(scores, labels, None, counts)
    assert 500 < grid.n_cells < 8000
    shares = counts.reshape(-1, 2) / counts.reshape(-1, 2).sum(axis=0)
    assert shares.max() < 6 / 1000
    assert FEW_RARE * labels[::4].sum() > 1000


@pytest.mark.parametrize("n_positives", [8, 12, 16])
def test_rare_scores_heavier_than_half_a_cell_have_one_to_themselves(n_positives: int) -> None:
    rare = 8 + 8 * np.arange(n_positives) / n_positives
    scores = np.append(np.random.default_rng(0).random(200), rare)
    grid = ScoreGrid.fit(np.arange(scores.size) >= 200, scores, n_cells=64)
    keys = FLOATS.encode(rare)
    assert np.isin(np.append(keys, keys + np.uint64(1)), grid.cuts).all()


def test_frequent_scores_are_atoms() -> None:
    rng = np.random.default_rng(0)
    scores = np.where(rng.random(20_000) < 0.3, 0.5, rng.normal(size=20_000))
    labels = (rng.random(20_000) < 0.5).astype(int)
    grid = ScoreGrid.fit(labels, scores, n_cells=64)
    cut = FLOATS.encode(np.array([0.5]))[0]
    assert cut in grid.cuts
    assert cut + np.uint64(1) in grid.cuts


def test_grids_are_the_same_where_their_cuts_are() -> None:
    grid = ScoreGrid([0.5, -0.0, 0.25, 0.5])
    assert repr(grid) == "ScoreGrid(4 cells)"
    assert grid == ScoreGrid([0.25, 0.5, 0.0])
    assert grid != ScoreGrid([0.25])
    assert hash(grid) == hash(ScoreGrid([0.25, 0.5, 0.0]))
    assert pickle.loads(pickle.dumps(grid)) == grid
    with pytest.raises(ValueError, match="read-only"):
        grid.cuts[0] = 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ScoreGrid([0.5, np.nan]), "cuts .*NaN"),
        (lambda: ScoreGrid([]), "cuts is empty"),
        (lambda: ScoreGrid(["a"]), "cuts must hold numbers"),
        (lambda: ScoreGrid([2**53 + 1]), "float64"),
        (lambda: ScoreGrid.fit([0, 1], [0.5], n_cells=4), "y_score has 1 rows|y_true has 2"),
        (lambda: ScoreGrid.fit([0, 1], [0.5, np.inf]), "y_score .*infinite"),
        (lambda: ScoreGrid.fit([0, 1], [0.5, 0.1], n_cells=0), "n_cells must be .*1.*got 0"),
        (lambda: ScoreGrid.exact([np.nan]), "scores .*NaN"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "ends", [(0.0, 1.0), (-LARGEST, LARGEST), (-1e-5, 0.0), (0.25, 0.25), (0.0, 5e-324), (1.0, 1 + 2**-50), (-3.0, 7.5)]
)
@pytest.mark.parametrize("n", [0, 1, 2, 64])
def test_even_cuts_are_as_wide_or_hold_as_many_floats(ends: tuple[float, float], n: int) -> None:
    cuts = even_cuts(*ends, n)
    low, high = FLOATS.encode(np.array(ends)).tolist()
    assert cuts.size <= 2 * (n // 2) + 4
    assert (int(cuts[0]), int(cuts[-2]), int(cuts[-1])) == (low, high, high + 1)
    assert (cuts[1:] > cuts[:-1]).all()
    if n == 64:
        keys, edges = map(int, cuts[:-1]), map(Fraction, FLOATS.decode(cuts[:-1]).tolist())
        widest = (Fraction(ends[1]) - Fraction(ends[0])) / 32 * (1 + Fraction(1, 2**40))
        for (key, edge), (next_key, next_edge) in pairwise(zip(keys, edges, strict=True)):
            assert next_key - key <= (high - low) // 32 + 32
            assert next_edge - edge <= widest or next_key - key == 1


def test_counts_of_one_cell_past_16_bits() -> None:
    scores, labels = np.full(200_003, 0.5), np.zeros(200_003, dtype=np.uint8)
    labels[:70_000] = 1
    counts = np.zeros((1, 4), dtype=np.uint32)
    ScoreGrid([0.25]).count(scores, labels, None, counts)
    assert counts.tolist() == [[0, 0, 130_003, 70_000]]
