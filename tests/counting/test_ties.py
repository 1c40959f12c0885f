"""Counting scores with few distinct values, against sorting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import rankdata

from fastevals import Ranking, num_threads
from fastevals._kernels.sweep import count_by_key
from fastevals.counting import ordering
from fastevals.counting.ordering import BinaryLabels, count_ties, split_by_class

N = 140_000  # three chunks
SCORES = {
    "constant": lambda rng: np.full(N, 0.3),
    "two zeros": lambda rng: np.copysign(0.0, rng.normal(size=N)),
    "decimals": lambda rng: rng.normal(size=N).round(2),
    "zero, its neighbours and the largest": lambda rng: rng.choice([0.0, -0.0, 5e-324, -5e-324, 1.7e308], N),
    "booleans": lambda rng: rng.random(N) < 0.3,
    "bytes": lambda rng: rng.integers(-128, 128, N).astype(np.int8),
    "ids": lambda rng: 2**62 + rng.integers(0, 900, N),
    "unsigned": lambda rng: 2**64 - 1 - rng.integers(0, 900, N, dtype=np.uint64),
    "float16": lambda rng: rng.random(N).round(2).astype(np.float16),
    "big-endian": lambda rng: rng.random(N).round(2).astype(">f4"),
    "longdouble": lambda rng: 1 + rng.integers(0, 99, N) * np.finfo(np.longdouble).eps,
    "strided": lambda rng: np.repeat(rng.random(N).round(2), 2)[::2],
    "a frequent one and some seldom ones": lambda rng: np.where(rng.random(N) < 0.99, 0.5, rng.random(N)),
}


@pytest.mark.parametrize("name", SCORES)
def test_ties_are_counted_as_by_sorting(name):
    rng = np.random.default_rng(0)
    scores = SCORES[name](rng)
    labels = BinaryLabels(rng.random(N) < 0.3, True, False)
    split = split_by_class(labels, scores)
    expected = split.threshold_counts()
    for threads in (1, 3):
        with num_threads(threads):
            counts = count_ties(labels, scores)
        assert counts is not None
        for field in ("thresholds", "tps", "fps"):
            ours, sorted_ = getattr(counts, field), getattr(expected, field)
            assert ours.dtype == sorted_.dtype
            np.testing.assert_array_equal(ours, sorted_)
    ranking = Ranking(labels.values, scores)
    twice = int((2 * rankdata(scores))[labels.values].sum())
    assert ranking._doubled_u == split.doubled_u == twice - split.n_pos * (split.n_pos + 1)
    assert (ranking.n_positives, ranking.n_negatives) == (split.n_pos, split.n_neg)
    assert ranking.roc_auc() == split.doubled_u / (2 * split.n_pos * split.n_neg)
    assert ranking.average_precision() == float(split.sum_precision() / split.n_pos)


def test_many_scores_are_not_counted():
    rng = np.random.default_rng(0)
    labels = BinaryLabels(np.arange(N) % 2, 1, 0)
    assert count_ties(labels, rng.random(N)) is None
    unseen = np.where(np.arange(N) % 2, rng.random(N), 0.0)  # a sample at an even stride sees one value
    for threads in (1, 3):
        with num_threads(threads):
            assert count_ties(labels, unseen) is None


def test_whether_ties_are_counted_is_a_matter_of_the_data_alone(monkeypatch):
    """One of several threads would have room for the scores of its rows; a single thread has none for all scores."""
    scores = np.zeros(N)
    scores[1::40] = 1 + np.arange(N // 40)  # a sample misses all of these
    labels = BinaryLabels(np.arange(N) % 2, 1, 0)
    assert count_ties(labels, scores) is None
    monkeypatch.setattr(ordering, "run", lambda task, items, workspace: [task(each, workspace()) for each in items])
    assert count_ties(labels, scores) is None


@pytest.mark.parametrize("bad", [math.nan, -math.nan, math.inf, -math.inf])
def test_a_bad_score_among_ties_is_found(bad):
    scores = np.full(N, 0.5)
    scores[[70_001, 90_000]] = bad
    kind = "NaN" if math.isnan(bad) else "infinite"
    with pytest.raises(ValueError, match=f"y_score must be finite, but has 2 {kind} values, the first at row 70001"):
        Ranking(np.arange(N) % 2, scores)


def test_a_third_label_among_ties_is_found():
    labels = np.arange(N) % 2
    labels[N - 1] = 2
    with pytest.raises(ValueError, match="y_true must have two classes, got 3 labels: 0, 1, 2"):
        Ranking(labels, np.full(N, 0.5))


@pytest.mark.parametrize("labels", [np.zeros(N, dtype=int), np.ones(N, dtype=int)])
def test_ties_of_one_class(labels):
    ranking = Ranking(labels, np.full(N, 0.5), pos_label=1)
    assert (ranking.n_positives, ranking.n_negatives) == (int(labels.sum()), N - int(labels.sum()))
    with pytest.warns(UserWarning, match="roc_auc"):
        assert math.isnan(ranking.roc_auc())


def test_a_full_table_is_given_up():
    bits, flags = np.arange(0, 8), np.ones(8, dtype=np.uint8)
    none = np.int64(0)
    keys, rows = np.zeros(16, dtype=np.uint64), np.zeros(32, dtype=np.int64)
    assert count_by_key(bits, flags, none, none, 7, keys, rows) == 7  # the key 0 gets a slot of its own
    assert count_by_key(bits, flags, none, none, 0, keys, rows) == 0
    assert sorted(keys[rows[1::2] == 2].tolist()) == bits.tolist()
    assert count_by_key(bits + 1, flags, none, none, 0, keys, rows) == -1
