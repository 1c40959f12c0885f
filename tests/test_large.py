"""Tests that need large data: exact pair counts past 2**53, stated memory, many random cases. All are slow."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn import metrics

from fastevals import ConfusionMatrix, Ranking, _memory, num_threads

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("decimals", [2, 5, 17])
def test_ten_million_rows_are_ranked_as_midranks_say(decimals):
    rng = np.random.default_rng(decimals)
    scores = np.round(rng.standard_normal(10**7), decimals)
    labels = rng.random(scores.size) < 0.1
    n_pos = int(labels.sum())
    doubled_u = int((2 * rankdata(scores)[labels]).astype(np.int64).sum()) - n_pos * (n_pos + 1)
    pairs = n_pos * (scores.size - n_pos)
    ranking = Ranking(labels, scores)
    assert ranking.roc_auc() == float(Fraction(doubled_u, 2 * pairs))
    np.testing.assert_array_equal(ranking.counts.thresholds[:0:-1], np.unique(scores))


def test_pair_counts_past_two_to_the_53_stay_exact():
    """2 U is about 1.6e16 here, so one pair is below the resolution of a float64 sum."""
    n = 180_000_000
    labels = np.zeros(n, dtype=bool)
    labels[n // 2 :] = True
    scores = np.arange(n, dtype=np.float32)
    scores[:] = 0  # all tied: U is half of all pairs
    scores[-1] = -1  # except one positive below all
    pairs = (n // 2) ** 2
    doubled_u = (n // 2 - 1) * (n // 2)
    assert doubled_u > 2**52
    assert Ranking(labels, scores).roc_auc() == float(Fraction(doubled_u, 2 * pairs))


@pytest.mark.parametrize("threads", [1, 2, 16])
@pytest.mark.parametrize("make", [
    lambda s: s, lambda s: s.astype(np.float32), lambda s: (1e6 * s).astype(np.int64),
    lambda s: np.where(s < 0.5, 0.5, s),  # half of all rows have one score
], ids=["float64", "float32", "int64", "half are tied"])  # fmt: skip
def test_an_unweighted_auc_takes_ten_bytes_a_row(make, threads):
    """This is allocated memory; pages that the system adds and removes do not matter."""
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, 10**7), make(rng.random(10**7))
    with num_threads(threads):
        Ranking(labels[:300_000], scores[:300_000]).roc_auc()  # imports, and compiles
        _memory._kept.clear()
        tracemalloc.start()
        try:
            Ranking(labels, scores).roc_auc()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            _memory._kept.clear()
    assert peak <= 10 * labels.size


def test_five_thousand_tied_cases_agree_with_scikit_learn():
    rng = np.random.default_rng(7)
    for _ in range(5_000):
        n = int(rng.integers(2, 40))
        labels = rng.integers(0, 2, n)
        labels[:2] = 0, 1
        scores = rng.integers(0, rng.integers(2, 12), n) / 4
        ranking = Ranking(labels, scores)
        assert ranking.roc_auc() == pytest.approx(metrics.roc_auc_score(labels, scores), abs=1e-14)
        assert ranking.average_precision() == pytest.approx(metrics.average_precision_score(labels, scores), abs=1e-14)


def test_three_million_weighted_rows_give_the_same_bits_at_any_thread_count():
    rng = np.random.default_rng(11)
    labels, scores, weights = rng.integers(0, 2, 3 * 10**6), rng.standard_normal(3 * 10**6), rng.random(3 * 10**6)
    results = []
    for threads in (1, 2, 5):
        with num_threads(threads):
            ranking = Ranking(labels, scores, sample_weight=weights)
            matrix = ConfusionMatrix.from_predictions(labels, scores > 0, sample_weight=weights)
            results.append((ranking.roc_auc(), ranking.average_precision(), ranking.pr_auc(), matrix.counts.tolist()))
    assert results[0] == results[1] == results[2]
    assert results[0][0] == pytest.approx(metrics.roc_auc_score(labels, scores, sample_weight=weights), rel=1e-12)
