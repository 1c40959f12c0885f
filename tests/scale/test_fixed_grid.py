"""Counts in a fixed grid: exact sums over workers, and bounds that contain the exact value however scores differ."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

import fastevals
from fastevals.counting.ordering import FLOATS
from fastevals.scale import RankingSummary, ScoreGrid
from fastevals.scale.fixed_grid import (
    NOTHING_SEEN,
    GridCounts,
    any_scores_grid,
    probabilities_grid,
)
from fastevals.scale.grid import exact_grid

RNG = np.random.default_rng(5)
N = 200_000
Y = (RNG.random(N) < 0.3).astype(np.int64)
LOGITS = RNG.normal(size=N) + Y
GRIDS = {"probabilities": GridCounts.of_probabilities, "any": GridCounts.of_any_scores}
METRICS = ["roc_auc", "average_precision", "ks_statistic", "rank_loss"]


def sigmoid(logits):
    return 1 / (1 + np.exp(-logits))


SCORES = {
    "normal": sigmoid(LOGITS),
    "rare": sigmoid(LOGITS - 6),
    "sharp": sigmoid(4 * LOGITS + 2),
    "uniform": RNG.random(N),
    "saturated": sigmoid((14 + 6 * LOGITS).astype(np.float32)),
    "drifting": sigmoid(np.repeat(np.linspace(-6, 6, 8), N // 8) + LOGITS),
    "logits": LOGITS,
    "margins": 20 * LOGITS,
}


@pytest.mark.cases(6)
@pytest.mark.parametrize("kind", SCORES)
def test_the_certificate_is_narrow_and_contains_the_exact_value(kind) -> None:
    scores = SCORES[kind]
    counts = GridCounts.of_any_scores()
    counts.add(Y, scores)
    ranking, exact = counts.summary().ranking(), fastevals.Ranking(Y, scores)
    for metric in METRICS[:2]:
        found, value = getattr(ranking, metric)(), getattr(exact, metric)()
        assert found.low <= value <= found.high
    assert ranking.roc_auc().width < (4e-5 if kind == "margins" else 2.1e-5)
    assert abs(ranking.roc_auc().value - exact.roc_auc()) < 1e-6


@pytest.mark.cases(1)
@pytest.mark.parametrize("grid", GRIDS)
def test_workers_add_up_to_all_rows_bit_for_bit(grid) -> None:
    scores, make = SCORES["drifting"], GRIDS[grid]
    whole = make()
    whole.add(Y, scores)
    shards = [make() for _ in range(5)]
    for shard, rows in zip(shards, np.split(np.arange(N), [0, 7, N // 2, N // 2]), strict=True):
        shard.add(Y[rows], scores[rows])  # two of the five are empty
    joint = shards[3]
    for shard in (shards[4], shards[0], shards[2], shards[1]):
        joint = joint.join(shard)
    np.testing.assert_array_equal(joint.counts, whole.counts)
    np.testing.assert_array_equal(joint.ends, whole.ends)
    found = joint.summary().ranking().roc_auc()
    assert found == whole.summary().ranking().roc_auc()
    assert found.low <= fastevals.Ranking(Y, scores).roc_auc() <= found.high
    assert pickle.loads(pickle.dumps(joint)).summary().cells.counts.tolist() == joint.summary().cells.counts.tolist()


def test_cells_have_their_lowest_and_highest_score() -> None:
    counts = GridCounts(ScoreGrid([0.0, 1.0]))
    counts.add([0, 1, 0, 1, 1], [0.25, 0.75, -2.0, -0.0, 1.0])
    cells = counts.summary().cells
    assert FLOATS.decode(cells.low).tolist() == [-2.0, 0.0, 1.0]
    assert FLOATS.decode(cells.high).tolist() == [-2.0, 0.75, 1.0]
    assert cells.counts.tolist() == [[1, 0], [1, 2], [0, 1]]
    assert repr(counts) == "GridCounts(5 rows, 3 positives, 3 cells)"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("grid", GRIDS)
def test_few_distinct_scores_are_exact(dtype, grid) -> None:
    scores = sigmoid(LOGITS).round(3).astype(dtype)
    counts = GRIDS[grid]()
    counts.add(Y, scores)
    ranking, exact = counts.summary().ranking(), fastevals.Ranking(Y, scores)
    for metric in METRICS:
        assert getattr(ranking, metric)() == getattr(exact, metric)()


def test_a_saturated_float32_is_certified_as_narrowly_as_others() -> None:
    """Float32 has few numbers just below 1: each has a cell of its own, so ties are told from different scores."""
    scores = sigmoid((12 + 2 * LOGITS).astype(np.float32))
    counts = GridCounts.of_probabilities()
    counts.add(Y, scores)
    assert np.unique(scores).size < 6000
    assert counts.summary().ranking().roc_auc().width < 2e-5


@pytest.mark.parametrize("make", [probabilities_grid, any_scores_grid])
@pytest.mark.parametrize("n_cells", [2**12, 10_000, 2**18])
def test_a_grid_has_about_as_many_cells_as_wanted_and_is_made_once(make, n_cells) -> None:
    assert n_cells / 1.5 < make(n_cells).n_cells < 1.5 * n_cells + 4000
    assert make(n_cells) is make(n_cells)


def test_each_score_is_in_its_cell() -> None:
    grid = any_scores_grid()
    keys = np.concatenate((grid.cuts, grid.cuts - np.uint64(1), grid.cuts + np.uint64(1)))
    scores = np.concatenate((FLOATS.decode(keys), RNG.choice([-1, 1], 999) * 10.0 ** RNG.uniform(-300, 300, 999)))
    counts = GridCounts(grid)
    counts.add_flags(np.ones(scores.size, np.uint8), scores)
    cell = np.searchsorted(grid.cuts, FLOATS.encode(scores + 0.0), side="right")
    np.testing.assert_array_equal(counts.counts[1], np.bincount(cell, minlength=grid.n_cells))
    assert counts.summary().n_positives == scores.size  # each extreme score is within its cell


def test_decisions_at_a_cut_are_exact() -> None:
    counts = GridCounts(any_scores_grid(2**12, (0.3, -1.7)))
    counts.add(Y, LOGITS)
    ranking, exact = counts.summary().ranking(), fastevals.Ranking(Y, LOGITS)
    for threshold in (0.3, -1.7):
        assert (ranking.confusion_at(threshold).counts == exact.confusion_at(threshold).counts).all()


def test_arrays_of_the_caller_are_counted_in() -> None:
    grid = any_scores_grid(2**12)
    arrays = np.zeros((2, grid.n_cells), np.int64), np.full((2, grid.n_cells), NOTHING_SEEN)
    for _ in range(2):
        GridCounts(grid, arrays=arrays).add([0, 1], [0.2, 0.7])
    assert arrays[0].sum(axis=1).tolist() == [2, 2]
    for wrong in (arrays[0][:, 1:], arrays[0].astype(np.int32), arrays[0][::-1]):
        with pytest.raises(ValueError, match="counts must be a contiguous array of int64 of shape"):
            GridCounts(grid, arrays=(wrong, arrays[1]))


def test_labels_are_those_of_all_calls() -> None:
    counts = GridCounts.of_probabilities(pos_label="yes")
    counts.add(["no", "yes"], [0.2, 0.6])
    counts.add([], [])
    with pytest.raises(ValueError, match="y_true must have the labels 'no' and 'yes', got 'maybe'"):
        counts.add(["maybe"], [0.3])
    assert counts.summary().ranking().roc_auc() == 1.0
    other = RankingSummary(pos_label="yes")
    other.update(["no", "yes"], [0.7, 0.6])
    assert counts.summary().merge(other).ranking().roc_auc() == 0.5
    none = GridCounts.of_probabilities()
    assert none.join(counts).summary()._labels == counts.join(none).summary()._labels == ("yes", "no")


def test_nothing_is_counted_after_an_error() -> None:
    counts = GridCounts.of_probabilities()
    for scores in ([0.1, np.nan], [0.1, np.inf], [0.1], [0.1, 2**53 + 1]):
        with pytest.raises(ValueError, match="y_score"):
            counts.add([0, 1], scores)
    assert not counts.counts.any()
    assert (counts.ends == NOTHING_SEEN).all()
    with pytest.warns(fastevals.UndefinedMetricWarning):
        assert np.isnan(counts.summary().ranking().roc_auc())


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (lambda counts: counts.reduce(lambda array, how: 2 * array if how == "max" else array).summary(), "ends must"),
        (lambda counts: counts.reduce(lambda array, _: -array).summary(), "counts must not be negative, got -1"),
        (lambda counts: counts.reduce(lambda array, how: array if how == "max" else 0 * array).summary(), "ends must"),
        (lambda counts: counts.join(counts.summary()), "other must be GridCounts, got RankingSummary("),
        (lambda counts: counts.join(GridCounts(exact_grid(FLOATS.encode(np.ones(1))))), "grids must be equal"),
        (lambda _: GridCounts([0.5]), "grid must be a ScoreGrid, got [0.5]"),
        (lambda _: GridCounts.of_probabilities(5), "n_cells must be an integer from 4096 to 4194304, got 5"),
    ],
)
def test_what_does_not_fit_is_refused(how, message) -> None:
    counts = GridCounts.of_probabilities()
    counts.add([0, 1], [0.2, 0.3])
    with pytest.raises(ValueError, match=re.escape(message)):
        how(counts)
