"""Bucket sort, on distributions made to defeat it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from fastevals import Ranking, delong_test, num_threads
from fastevals._kernels.partition import ROWS_PER_STRIP, find_slots
from fastevals._kernels.sorting import (
    MANY,
    PIECE_ROWS,
    merge_fours,
    scratch_rows,
    sort_eights,
    sort_keys,
    sort_near,
    sort_ordered,
    sort_pairs,
)
from fastevals.counting import ordering
from fastevals.counting.ordering import BUCKET, SLOTS_SPACE, BinaryLabels, codec_for, fit_map, split_by_class
from tests.parameters import quick

N = 140_000  # eight buckets, three chunks

Draw = Callable[[np.random.Generator, int], NDArray[Any]]


def clusters(rng: np.random.Generator, n: int) -> NDArray[Any]:
    return np.where(rng.random(n) < 0.95, 1 + 1e-9 * rng.normal(size=n), 1e6 * rng.normal(size=n))


def outliers(rng: np.random.Generator, n: int) -> NDArray[Any]:
    scores = rng.normal(size=n)
    scores[n // 3] = 1.7e308
    return scores


def rare_cluster(rng: np.random.Generator, n: int) -> NDArray[Any]:
    """Draw values that a sample at a fixed stride misses."""
    scores = np.zeros(n)
    odd = np.arange(n) % 2 == 1
    scores[odd] = rng.random(np.count_nonzero(odd))
    return scores


DISTRIBUTIONS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.random(n),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "lognormal": lambda rng, n: rng.lognormal(0, 20, n),
    "three decimals": lambda rng, n: np.round(rng.random(n), 3),
    "constant": lambda rng, n: np.full(n, 0.3),
    "two values": lambda rng, n: rng.integers(0, 2, n) * 0.7,
    "two zeros": lambda rng, n: np.copysign(0.0, rng.normal(size=n)),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "reversed": lambda rng, n: np.sort(rng.normal(size=n))[::-1],
    "cluster and spread": clusters,
    "cluster at one": lambda rng, n: np.where(rng.random(n) < 0.9, 1 - 1e-7 * rng.random(n), rng.random(n)),
    "two far clusters": lambda rng, n: np.where(rng.random(n) < 0.5, 1e-300, 1e300) * (1 + 1e-9 * rng.random(n)),
    "both ends of many exponents": lambda rng, n: 1 / (1 + np.exp(-8 * rng.normal(size=n))),
    "one value and noise": lambda rng, n: 1 + 1e-9 * np.where(rng.random(n) < 0.5, 0, rng.normal(size=n)),
    "one huge outlier": outliers,
    "all but one constant": lambda rng, n: np.where(np.arange(n) == n // 2, -1e300, 0.5),
    "near one": lambda rng, n: 1 - 0.001 * rng.random(n),
    "neighbouring doubles": lambda rng, n: 1 + rng.integers(0, 50, n) * 2.0**-52,
    "denormal and huge": lambda rng, n: (
        rng.choice([5e-324, -5e-324, 1e-310, 1.7e308, -1.7e308, 0.0], n) * rng.random(n)
    ),
    "every exponent": lambda rng, n: np.ldexp(rng.choice([-1.0, 1.0], n), rng.integers(-1074, 1023, n)),
    "periodic": lambda rng, n: (np.arange(n) % 1000).astype(np.float64),
    "unseen by a strided sample": rare_cluster,
    "bimodal integers": lambda rng, n: rng.choice([-1, 1], n) * (10**12 + rng.integers(0, 1000, n)),
    "ids": lambda rng, n: rng.integers(-(2**63), 2**63 - 1, n, endpoint=True),
    "adjacent ids": lambda rng, n: 2**62 + rng.permutation(n),
    "unsigned ids": lambda rng, n: rng.integers(0, 2**64 - 1, n, dtype=np.uint64, endpoint=True),
    "small integers": lambda rng, n: rng.integers(-128, 128, n).astype(np.int8),
    "short ids": lambda rng, n: rng.integers(-(2**31), 2**31 - 1, n, dtype=np.int32, endpoint=True),
    "short unsigned ids": lambda rng, n: rng.integers(0, 2**32 - 1, n, dtype=np.uint32, endpoint=True),
    "float32": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "float16": lambda rng, n: rng.normal(size=n).astype(np.float16),
    "longdouble": lambda rng, n: 1 + rng.integers(0, 999, n) * np.finfo(np.longdouble).eps,
}
every_distribution = pytest.mark.parametrize("name", DISTRIBUTIONS)
some_distributions = pytest.mark.parametrize(
    "name",
    quick(
        DISTRIBUTIONS,
        *("normal", "three decimals", "constant", "two zeros", "two far clusters", "one huge outlier"),
        *("denormal and huge", "every exponent", "unseen by a strided sample", "unsigned ids", "small integers"),
    ),
)


@cache
def draw(name: str, n: int = N) -> tuple[NDArray[np.bool_], NDArray[Any], NDArray[np.float64]]:
    """Return labels, scores and integer weights, whose sums are exact."""
    rng = np.random.default_rng(list(name.encode()))
    scores = DISTRIBUTIONS[name](rng, n)
    order = np.argsort(np.argsort(scores, kind="stable"), kind="stable")
    labels = rng.random(n) < 0.2 + 0.6 * order / n  # better than chance; both classes occur everywhere
    return labels, scores, rng.integers(1, 9, n).astype(np.float64)


def recounted(labels: NDArray[np.bool_], scores: NDArray[Any], weights: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return thresholds, tps and fps by np.unique and np.bincount."""
    distinct, group = np.unique(scores, return_inverse=True)
    sums = [np.bincount(group, weights * mask, distinct.size)[::-1].cumsum() for mask in (labels, ~labels)]
    return distinct[::-1], *sums


# The whole way ----------------------------------------------------------------------------------------------------


@some_distributions
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_those_of_unique_and_bincount(name, weighted):
    labels, scores, weights = draw(name)
    weights = weights if weighted else np.ones(N)
    counts = Ranking(labels, scores, sample_weight=weights if weighted else None).counts
    thresholds, tps, fps = recounted(labels, scores, weights)
    assert counts.thresholds[0] == math.inf
    assert (counts.tps[0], counts.fps[0]) == (0, 0)
    np.testing.assert_array_equal(counts.thresholds[1:], thresholds)
    np.testing.assert_array_equal(counts.tps[1:], tps)
    np.testing.assert_array_equal(counts.fps[1:], fps)


@some_distributions
def test_pairs_are_counted_as_ranks_say(name):
    labels, scores, _ = draw(name)
    split = split_by_class(BinaryLabels(labels, True, False), scores)
    n_pos = int(np.count_nonzero(labels))
    # By dense ranks, because some versions of rankdata compare 64-bit integers as doubles.
    ranks = rankdata(np.unique(scores, return_inverse=True)[1])
    doubled_u = int((2 * ranks[labels]).astype(np.int64).sum()) - n_pos * (n_pos + 1)
    assert (split.n_pos, split.n_neg) == (n_pos, N - n_pos)
    assert split.doubled_u == doubled_u
    assert Ranking(labels, scores).roc_auc() == doubled_u / (2 * split.n_pos * split.n_neg)


@some_distributions
def test_slots_are_in_order_with_classes_beside(name):
    labels, scores, _ = draw(name)
    split = split_by_class(BinaryLabels(labels, True, False), scores)
    assert split.starts[0] == 0
    assert split.starts[-1] == N
    highest = -1
    for slot in range(split.starts.size - 1):
        marked = split.marked[split.starts[slot] : split.starts[slot + 1]]
        if marked.size:
            assert (marked[1:] >= marked[:-1]).all()
            ends = [int(mark) >> 1 | (slot % 2) << 63 for mark in marked[[0, -1]]]
            assert ends[0] > highest
            highest = ends[1]
    for keys, mask in zip(split.keys_by_class(), (~labels, labels), strict=True):
        np.testing.assert_array_equal(split.codec.decode(keys), np.sort(scores[mask]))


@some_distributions
def test_average_precision_is_summed_over_the_ends_of_ties(name):
    labels, scores, _ = draw(name)
    _, tps, fps = recounted(labels, scores, np.ones(N))
    expected = math.fsum(np.diff(tps, prepend=0) * (tps / (tps + fps)))
    found = split_by_class(BinaryLabels(labels, True, False), scores).sum_precision()
    assert float(found) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("name", ["normal", "cauchy", "three decimals", "cluster and spread", "near one"])
def test_areas_agree_with_scikit_learn(name):
    labels, scores, weights = draw(name)
    assert Ranking(labels, scores).roc_auc() == pytest.approx(roc_auc_score(labels, scores), rel=1e-12)
    weights = weights / 7
    expected = roc_auc_score(labels, scores, sample_weight=weights)
    assert Ranking(labels, scores, sample_weight=weights).roc_auc() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 24, 25, 32, 33, 16_383, 16_384, 32_767, 32_768, 65_535, 65_536, 65_537, 131_073])
@pytest.mark.parametrize("weighted", [False, True])
def test_sizes_around_the_limits_of_buckets_and_chunks(n, weighted):
    labels, scores, weights = draw("three decimals" if n % 2 else "normal", n)
    counts = Ranking(labels, scores, sample_weight=weights if weighted else None).counts
    thresholds, tps, fps = recounted(labels, scores, weights if weighted else np.ones(n))
    np.testing.assert_array_equal(counts.thresholds[1:], thresholds)
    np.testing.assert_array_equal(counts.tps[1:], tps)
    np.testing.assert_array_equal(counts.fps[1:], fps)


@pytest.mark.parametrize("rare", [0, 1])
def test_a_class_that_sits_in_one_bucket(rare):
    scores = np.random.default_rng(4).normal(size=N)
    labels = np.full(N, 1 - rare)
    labels[np.argsort(scores)[N // 2]] = rare
    counts = Ranking(labels, scores).counts
    assert (counts.n_pos, counts.n_neg) == ((1, N - 1) if rare else (N - 1, 1))
    np.testing.assert_array_equal(counts.tps + counts.fps, np.arange(N + 1))


def test_large_inputs_of_any_layout_are_read_right():
    labels, scores, weights = draw("normal")
    plain = Ranking(labels, scores, sample_weight=weights).counts
    backwards = Ranking(labels[::-1], scores[::-1].astype(">f8"), sample_weight=np.repeat(weights[::-1], 2)[::2]).counts
    for name in ("thresholds", "tps", "fps"):
        np.testing.assert_array_equal(getattr(backwards, name), getattr(plain, name))


# Scores of 32 bits ------------------------------------------------------------------------------------------------

NARROW = "float32", "float16", "small integers", "short ids", "short unsigned ids"


def narrow_cases():
    for name in NARROW:
        yield name, draw(name)[1]
    rng = np.random.default_rng(7)
    for scores in DISTRIBUTIONS["denormal and huge"](rng, N), DISTRIBUTIONS["two zeros"](rng, N), np.ones(N):
        with np.errstate(over="ignore"):
            yield "floats", np.clip(scores, -3e38, 3e38).astype(np.float32)
    yield "ends", rng.choice(np.array([-(2**31), -1, 0, 1, 2**31 - 1], dtype=np.int32), N)


def test_scores_of_32_bits_are_split_as_wider_ones(monkeypatch):
    labels = BinaryLabels(np.random.default_rng(3).random(N) < 0.4, True, False)
    for name, scores in narrow_cases():
        wide = split_by_class(labels, scores)
        with monkeypatch.context() as patch:
            patch.setattr(ordering, "NARROW_ROWS", 0)
            narrow = split_by_class(labels, scores)
        assert (wide.marked.dtype, narrow.marked.dtype) == (np.uint64, np.uint32)
        assert wide.doubled_u == narrow.doubled_u, name
        assert (wide.n_pos, wide.n_neg, wide.n_thresholds) == (narrow.n_pos, narrow.n_neg, narrow.n_thresholds)
        assert wide.extremes.tolist() == narrow.extremes.tolist()
        assert float(wide.sum_precision()) == pytest.approx(float(narrow.sum_precision()), rel=1e-15)
        for mine, other in zip(_columns(narrow.threshold_counts()), _columns(wide.threshold_counts()), strict=True):
            assert mine.dtype == other.dtype
            np.testing.assert_array_equal(mine, other, err_msg=name)
        for mine, other in zip(narrow.keys_by_class(), wide.keys_by_class(), strict=True):
            np.testing.assert_array_equal(narrow.codec.decode(mine), wide.codec.decode(other), err_msg=name)
            np.testing.assert_array_equal(narrow.codec.encode(narrow.codec.decode(mine)), mine)


def test_calls_agree_on_scores_of_32_bits(monkeypatch):
    labels, scores, _ = draw("float32")
    other = np.random.default_rng(5).normal(size=N).astype(np.float32)

    def results():
        ranking, test = Ranking(labels, scores), delong_test(labels, scores, other)
        curves = ranking.roc_curve(), ranking.roc_curve(drop_intermediate=False), ranking.precision_recall_curve()
        points = [column for curve in curves for column in curve]
        return (test.statistic, test.pvalue, ranking.average_precision(), ranking.equal_error_rate().threshold), points

    wide, wide_points = results()
    monkeypatch.setattr(ordering, "NARROW_ROWS", 0)
    narrow, narrow_points = results()
    assert narrow == pytest.approx(wide, rel=1e-14)
    for mine, other in zip(narrow_points, wide_points, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize(
    ("bad", "kind"), [(math.nan, "NaN"), (-math.nan, "NaN"), (math.inf, "inf"), (-math.inf, "inf")]
)
def test_a_bad_score_of_32_bits_is_found(bad, kind, monkeypatch):
    monkeypatch.setattr(ordering, "NARROW_ROWS", 0)
    scores = np.random.default_rng(1).normal(size=N).astype(np.float32)
    scores[70_000] = bad
    with pytest.raises(ValueError, match=f"y_score must be finite, but has 1 {kind}.* value, the first at row 70000$"):
        Ranking(np.arange(N) % 2, scores)


# Values that must not be there ------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [0, 16_384, 65_535, 65_536, N - 1])
@pytest.mark.parametrize(
    ("bad", "kind"), [(math.nan, "NaN"), (-math.nan, "NaN"), (math.inf, "inf"), (-math.inf, "inf")]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_bad_score_is_found_wherever_it_is(row, bad, kind, weighted):
    scores = np.random.default_rng(row).normal(size=N)
    scores[row] = bad
    weights = np.ones(N) if weighted else None
    with pytest.raises(ValueError, match=f"y_score must be finite, but has 1 {kind}.* value, the first at row {row}$"):
        Ranking(np.arange(N) % 2, scores, sample_weight=weights)


def test_bad_scores_are_counted_at_any_number_of_threads():
    scores = np.random.default_rng(2).normal(size=N)
    scores[70_000:130_000:15_000] = math.nan
    for threads in (1, 2, 5):
        with num_threads(threads), pytest.raises(ValueError, match=r"has 4 NaN values, the first at row 70000$"):
            Ranking(np.arange(N) % 2, scores)


def test_all_scores_nan():
    with pytest.raises(ValueError, match=f"has {N} NaN values, the first at row 0$"):
        Ranking(np.arange(N) % 2, np.full(N, math.nan))


def test_a_third_label_is_found_wherever_it_is():
    for row in (0, 2, 65_536, N - 1):
        labels = np.arange(N) % 2
        labels[row] = 7
        with pytest.raises(ValueError, match="y_true must have two classes, got 3 labels: 0, 1, 7"):
            Ranking(labels, np.zeros(N))


# The kernels ------------------------------------------------------------------------------------------------------

KEYS: dict[str, Callable[[np.random.Generator, int], NDArray[np.uint64]]] = {
    "any": lambda rng, n: rng.integers(0, 2**64 - 1, n, dtype=np.uint64, endpoint=True),
    "few": lambda rng, n: rng.integers(0, 5, n, dtype=np.uint64),
    "ends": lambda rng, n: rng.choice(np.array([0, 2**64 - 1], dtype=np.uint64), n),
    "equal": lambda rng, n: np.full(n, 2**64 - 1, dtype=np.uint64),
    "falling": lambda rng, n: np.arange(n, dtype=np.uint64)[::-1].copy(),
    "a frequent pair and others": lambda rng, n: np.where(
        rng.random(n) < 0.4, 2**40 + rng.integers(0, 2, n), rng.integers(0, 2**62, n) >> 20 * (n % 3)
    ).astype(np.uint64),
    "a frequent pair at the end": lambda rng, n: np.where(
        rng.random(n) < 0.4, -1 - rng.integers(0, 2, n), rng.integers(-(2**62), 2**62, n)
    ).astype(np.uint64),
    # Each level of the sort sees nearly all keys in one cell.
    "nested": lambda rng, n: np.uint64(1) << rng.integers(0, 64, n).astype(np.uint64),
    "nested twice": lambda rng, n: (
        rng.integers(0, 2**64 - 1, n, dtype=np.uint64) >> rng.integers(0, 64, n).astype(np.uint64)
    ),
    "dense below an outlier": lambda rng, n: np.append(rng.integers(0, n, n - 1), -1).astype(np.uint64),
}


@some_distributions
def test_buckets_are_of_like_size(name):
    """No bucket has far more rows than the others, unless a single value has that many."""
    scores = DISTRIBUTIONS[name](np.random.default_rng(0), 40 * BUCKET)
    codec, codes = codec_for(scores)
    if name != "unseen by a strided sample":
        buckets = fit_map(codes.size, lambda rows: codec.encode(codes[rows]))
        space = np.empty(SLOTS_SPACE, dtype=np.uint64)
        strips = [codec.bits(codes[start : start + ROWS_PER_STRIP]) for start in range(0, codes.size, ROWS_PER_STRIP)]
        found = [find_slots(bits, codec.flip_below, codec.flip, *buckets.map, space).copy() for bits in strips]
        slots = np.concatenate(found).astype(np.int64)
        most_tied = np.unique(scores, return_counts=True)[1].max()
        assert np.bincount(slots // 2).max() < 4 * BUCKET + 2 * most_tied
        order = np.argsort(codec.encode(codes), kind="stable")
        assert (np.diff(slots[order] // 2) >= 0).all()


def test_networks_sort_all_zeros_and_ones():
    """A network that sorts all inputs of zeros and ones sorts all inputs."""
    rows = np.array([[(k >> bit) & 1 for bit in range(8)] for k in range(256)], dtype=np.float64)
    keys = rows.ravel().copy()
    sort_eights(keys)
    np.testing.assert_array_equal(keys.reshape(-1, 8), np.sort(rows, axis=1))
    halves = np.sort(rows.reshape(-1, 2, 4), axis=2).reshape(-1, 8)
    keys = halves.ravel().copy()
    merge_fours(keys)
    np.testing.assert_array_equal(keys.reshape(-1, 8), np.sort(halves, axis=1))


@pytest.mark.parametrize("n", [*range(25, 42), 1000])
@pytest.mark.parametrize("away", [1, 4, 5, 9, 30])
def test_keys_near_their_places_are_sorted(n, away):
    expected = np.arange(n) // 2 / 3
    for seed in range(20):
        rng = np.random.default_rng([n, away, seed])
        keys = expected[np.argsort(np.arange(n) + (away + 1) * rng.random(n), kind="stable")]
        sort_near(keys)
        np.testing.assert_array_equal(keys, expected)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("n", [1, 2, 24, 25, 26, 27, 28, 33, 1000, PIECE_ROWS, PIECE_ROWS + 1, 90_000])
def test_keys_are_sorted(name, n):
    drawn = KEYS[name](np.random.default_rng(n), n)
    expected = np.sort(drawn)
    for n_cells in (64, 1000, 1 << 16):
        keys = drawn.copy()
        sort_keys(keys, np.empty_like(keys), np.empty(n_cells, dtype=np.int32))
        np.testing.assert_array_equal(keys, expected, err_msg=f"{n_cells} cells")


@pytest.mark.parametrize("n", [25, 1000])
def test_keys_in_either_order_are_seen(n):
    ascending = np.sort(np.random.default_rng(n).integers(0, n // 2, n)).astype(np.uint64)
    for keys in (ascending.copy(), ascending[::-1].copy(), np.full(n, 7, np.uint64)):
        expected = np.sort(keys)
        assert sort_ordered(keys)
        np.testing.assert_array_equal(keys, expected)
    for order in (np.arange(n, dtype=np.uint64), np.arange(n, dtype=np.uint64)[::-1]):
        for i in (0, n // 2, n - 2):
            given = order.copy()
            given[[i, i + 1]] = given[[i + 1, i]]
            keys = given.copy()
            assert not sort_ordered(keys)
            np.testing.assert_array_equal(keys, given)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("n", [25, 1000, 50_000])
def test_scratch_as_long_as_is_said_is_enough(name, n):
    keys = KEYS[name](np.random.default_rng(n), n)
    expected, rows = np.sort(keys), scratch_rows(keys)
    assert rows <= n
    if name.startswith("a frequent pair") and n > MANY:
        assert rows < 0.7 * n
    room = np.full(n + 64, 12345, dtype=np.uint64)
    sort_keys(keys, room[:rows], np.empty(1000, dtype=np.int32))
    np.testing.assert_array_equal(keys, expected)
    assert (room[rows:] == 12345).all()


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("n", [1, 2, 24, 25, 33, 1000, 50_000])
def test_weights_stay_with_their_keys(name, n):
    drawn = KEYS[name](np.random.default_rng(n), n)
    order = np.argsort(drawn, kind="stable")
    for n_cells in (1000, 1 << 16):
        keys, weights = drawn.copy(), np.arange(n) - n / 3
        expected = keys[order], weights[order]
        sort_pairs(keys, weights, np.empty_like(keys), np.empty(n), np.empty(n_cells, dtype=np.int32))
        np.testing.assert_array_equal(keys, expected[0], err_msg=f"{n_cells} cells")
        # Stable, so sums of weights do not depend on the bucket's history.
        np.testing.assert_array_equal(weights, expected[1], err_msg=f"{n_cells} cells")


@pytest.mark.slow
def test_weights_of_many_rows_add_up_without_rounding() -> None:
    """Buckets are summed as pairs of floats, so each count is the float nearest to its exact sum."""
    rng = np.random.default_rng(0)
    n = 300_000
    s, y, w = rng.normal(size=n), rng.integers(0, 2, n), rng.random(n) * 10.0 ** rng.integers(-12, 4, n)
    counts = Ranking(y, s, sample_weight=w).counts
    order = np.argsort(-s)
    for k in range(1000, n, 5000):
        above = order[:k]
        row = int(np.searchsorted(-counts.thresholds, -s[above[-1]]))
        assert counts.tps[row] == math.fsum(w[above][y[above] == 1].tolist())
        assert counts.fps[row] == math.fsum(w[above][y[above] == 0].tolist())


# Few distinct scores, with weights ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["three decimals", "constant", "two zeros", "small integers", "periodic", "longdouble"]
)
def test_weights_of_few_scores_are_summed_as_sorted_ones(name, monkeypatch):
    labels, scores, _ = draw(name)
    weights = np.random.default_rng(1).random(N) * 10.0 ** np.random.default_rng(2).integers(-8, 9, N)
    summed = Ranking(labels, scores, sample_weight=weights)
    for threads in (1, 3):
        with num_threads(threads):
            again = Ranking(labels, scores, sample_weight=weights).counts
        assert all(np.array_equal(*pair) for pair in zip(_columns(again), _columns(summed.counts), strict=True))
    monkeypatch.setattr(ordering, "_sum_by_score", lambda *rows: None)
    by_sorting = Ranking(labels, scores, sample_weight=weights)
    assert summed.n_positives == by_sorting.n_positives == np.count_nonzero(labels)
    for mine, other in zip(_columns(summed.counts), _columns(by_sorting.counts), strict=True):
        np.testing.assert_array_max_ulp(mine.astype(np.float64), other.astype(np.float64), 1)
    assert summed.counts.tps[-1] == math.fsum(weights[labels])


@pytest.mark.parametrize(("first", "dtype"), [(2**62, np.int64), (-(2**63), np.int64), (2**64 - 900, np.uint64)])
def test_few_integers_that_no_float64_holds_are_thresholds_as_they_are(first, dtype):
    scores = np.array([first + k for k in range(900)], dtype=dtype)
    counts = Ranking(np.arange(9000) % 2, np.resize(scores, 9000), sample_weight=np.ones(9000)).counts
    np.testing.assert_array_equal(counts.thresholds[:0:-1].astype(dtype), scores)


def _columns(counts):
    return counts.thresholds, counts.tps, counts.fps


def test_scores_that_a_sample_shows_too_few_of_are_sorted(monkeypatch):
    taken = []
    sum_by_score = ordering._sum_by_score
    monkeypatch.setattr(ordering, "_sum_by_score", lambda *rows: taken.append(sum_by_score(*rows)) or taken[-1])
    for name in ("unseen by a strided sample", "normal", "three decimals"):
        labels, scores, weights = draw(name)
        Ranking(labels, scores, sample_weight=weights)
    assert [each is not None for each in taken] == [False, False, True]


@pytest.mark.parametrize("row", [0, 70_000, N - 1])
def test_bad_rows_among_few_scores_are_found(row):
    scores = np.round(np.random.default_rng(row).random(N), 2)
    bad = scores.copy()
    bad[row] = -math.nan
    with pytest.raises(ValueError, match=f"y_score must be finite, but has 1 NaN value, the first at row {row}$"):
        Ranking(np.arange(N) % 2, bad, sample_weight=np.ones(N))
    labels = np.arange(N) % 2
    labels[row] = 2
    with pytest.raises(ValueError, match="y_true must have two classes, got 3 labels"):
        Ranking(labels, scores, sample_weight=np.ones(N), pos_label=1 if row else None)
