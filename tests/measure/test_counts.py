from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import Ranking, ThresholdCounts
from fastevals.counting.sweeps import best_row, fill_rows, select_rows, sum_steps
from fastevals.counts import Cells
from tests.reference import ranking as reference

INF = math.inf
BLOCK = 1 << 16
LONG = 300_000  # rows: several blocks and chunks
BORDERS = sorted({0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 1, 2 * BLOCK, 4 * BLOCK, LONG - 1})


def small() -> ThresholdCounts:
    return ThresholdCounts(np.array([np.inf, 0.9, 0.5, -1.0]), np.array([0, 2, 2, 3]), np.array([0, 0, 1, 4]))


def long() -> ThresholdCounts:
    return ThresholdCounts(
        np.r_[np.inf, np.arange(LONG - 1)[::-1] * 1.0], np.arange(LONG) // 2, (np.arange(LONG) + 1) // 2
    )


# ThresholdCounts ----------------------------------------------------------------------------------------------------


def test_totals_are_plain_numbers() -> None:
    counts = small()
    assert (counts.n_pos, counts.n_neg) == (3, 4)
    assert type(counts.n_pos) is int
    half = ThresholdCounts([np.inf, 1], [0, 0.5], [0, 1])
    assert (half.n_pos, half.n_neg) == (0.5, 1.0)
    assert type(half.n_pos) is type(half.n_neg) is float


def test_arrays_are_read_only_copies() -> None:
    arrays = [np.array([np.inf, 1.0]), np.array([0, 1]), np.array([0, 2])]
    counts = ThresholdCounts(*arrays)
    for name, array in zip(("thresholds", "tps", "fps"), arrays, strict=True):
        array[1] = 7
        assert getattr(counts, name)[1] != 7
        with pytest.raises(ValueError, match="read-only"):
            getattr(counts, name)[0] = 7


def test_copies_and_pickles_are_equal_and_read_only() -> None:
    counts = small()
    for other in (copy.copy(counts), copy.deepcopy(counts), pickle.loads(pickle.dumps(counts))):
        assert repr(other) == repr(counts)
        assert not other.tps.flags.writeable


def test_counts_are_rows_or_weights() -> None:
    assert ThresholdCounts([INF, 2, 1], [False, True, True], np.array([0, 1, 3], np.uint8)).fps.dtype == np.int64
    assert ThresholdCounts(np.array([INF, 2], np.float32), [0, 1], [0, 3]).thresholds.dtype == np.float64
    assert ThresholdCounts(np.array([INF, 2], np.longdouble), [0, 1], [0, 3]).thresholds.dtype == np.longdouble
    mixed = ThresholdCounts([INF, 2, 1], [0, 1, 1], [0, 0.5, 3])
    assert mixed.tps.dtype == mixed.fps.dtype == np.float64


REFUSED = {
    "thresholds is empty": ([], [], []),
    "fps has 1 rows, but thresholds has 2": ([INF, 0.5], [0, 1], [0]),
    "thresholds must hold numbers, got dtype <U1": (["a"], [0], [0]),
    "thresholds must not be NaN, got NaN at row 1": ([INF, math.nan], [0, 1], [0, 1]),
    "thresholds must start with inf, at which no row is predicted positive, got 0.5": ([0.5, 0.1], [0, 1], [0, 1]),
    "thresholds must be strictly descending, got 0.7 after 0.5 at row 2": ([INF, 0.5, 0.7], [0, 1, 2], [0, 1, 2]),
    "thresholds must be strictly descending, got -0.0 after 0.0 at row 2": ([INF, 0.0, -0.0], [0, 1, 2], [0, 1, 2]),
    "thresholds must be strictly descending, got inf after inf at row 1": ([INF, INF], [0, 1], [0, 1]),
    "thresholds must be finite except for the first, got -inf at row 1": ([INF, -INF], [0, 1], [0, 1]),
    "tps must be 0 at the threshold inf, got 1 at row 0": ([INF, 0.5], [1, 1], [0, 1]),
    "fps must not decrease from one threshold to the next, got 1 after 2 at row 2": ([INF, 2, 1], [0, 1, 2], [0, 2, 1]),
    "fps must not be negative, got -1 at row 1": ([INF, 2], [0, 1], [0, -1]),
    "tps must be finite, but has 1 NaN value, the first at row 1": ([INF, 2], [0, math.nan], [0, 1]),
    "tps must be finite, but has 1 infinite value, the first at row 1": ([INF, 2], [0, INF], [0, 1]),
    "tps and fps must have a finite sum, but it overflows": ([INF, 2], [0, 1e308], [0, 1e308]),
    r"tps must be at most 2\*\*62, got 9223372036854775808": ([INF, 2], np.array([0, 2**63], np.uint64), [0, 1]),
    r"tps must be at most 2\*\*53 next to floats, got 9007199254740993": ([INF, 2], [0, 2**53 + 1], [0, 0.5]),
    r"tps and fps must add up to at most 2\*\*62 rows, got 69": ([INF, 2], [0, 3 * 2**60], [0, 3 * 2**60]),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_no_counts(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ThresholdCounts(*REFUSED[message])


# Sums of parts ------------------------------------------------------------------------------------------------------


def assert_same(a: ThresholdCounts, b: ThresholdCounts) -> None:
    for name in ("thresholds", "tps", "fps"):
        assert getattr(a, name).dtype == getattr(b, name).dtype
        assert np.array_equal(getattr(a, name), getattr(b, name))


SCORES_OF = {
    "many ties": lambda rng, n: rng.integers(0, 7, n) / 4 - 0.75,
    "no ties": lambda rng, n: rng.random(n),
    "zeros of either sign": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0) + rng.integers(0, 2, n),
    "integers past doubles": lambda rng, n: 2**60 + rng.integers(0, 20, n),
    "longer floats": lambda rng, n: 1 + rng.integers(0, 9, n).astype(np.longdouble) * np.finfo(np.longdouble).eps,
}


@pytest.mark.cases(8)
@pytest.mark.parametrize("kind", SCORES_OF)
@pytest.mark.parametrize("n_parts", [1, 2, 3, 8, 37])
def test_parts_add_up_to_the_whole(kind: str, n_parts: int) -> None:
    rng = np.random.default_rng([n_parts, len(kind)])
    for n in (n_parts, 4 * n_parts + 1, 600):  # some parts have one row, or one class
        y, scores = rng.integers(0, 2, n), SCORES_OF[kind](rng, n)
        part_of = np.append(rng.permutation(n_parts), rng.integers(0, n_parts, n - n_parts))
        parts = [counts_of(y[part_of == i], scores[part_of == i]) for i in range(n_parts)]
        whole = counts_of(y, scores)
        merged = ThresholdCounts.merge(parts)
        assert_same(merged, whole)
        assert_same(sum(parts), whole)
        assert_same(ThresholdCounts.merge(iter(parts[::-1])), whole)
        assert [(c.threshold, c.tp, c.fp) for c in reference.merged_counts(map(reference_counts, parts))] == list(
            zip(merged.thresholds.tolist(), merged.tps.tolist(), merged.fps.tolist(), strict=True)
        )


def counts_of(y: Any, scores: Any) -> ThresholdCounts:
    return Ranking(y, scores, pos_label=1 if y.any() else None).counts


def reference_counts(counts: ThresholdCounts) -> list[reference.Counts]:
    return [reference.Counts(*row) for row in
            zip(counts.thresholds.tolist(), counts.tps.tolist(), counts.fps.tolist(), strict=True)]  # fmt: skip


@pytest.mark.parametrize("unit", [1.0, 1e-300, 1e290])
def test_weights_of_parts_add_up_within_rounding(unit: float) -> None:
    rng = np.random.default_rng(5)
    y, scores, weights = rng.integers(0, 2, 500), rng.integers(0, 90, 500), rng.random(500) * unit
    parts = [Ranking(y[i::9], scores[i::9], sample_weight=weights[i::9]).counts for i in range(9)]
    merged, whole = ThresholdCounts.merge(parts), Ranking(y, scores, sample_weight=weights).counts
    assert np.array_equal(merged.thresholds, whole.thresholds)
    for name in ("tps", "fps"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=5 * np.finfo(float).eps, atol=0)
        assert (np.diff(getattr(merged, name)) >= 0).all()


def test_rows_and_weights_make_weights() -> None:
    both = Ranking([0, 1], [1, 2]).counts + Ranking([0, 1], [2, 1], sample_weight=[0.5, 2]).counts
    assert (both.tps.tolist(), both.fps.tolist()) == ([0.0, 1.0, 3.0], [0.0, 0.5, 1.5])


def test_the_most_rows() -> None:
    most = ThresholdCounts([INF, 1], [0, 2**61], [0, 2**61])
    with pytest.raises(ValueError, match=rf"tps and fps must add up to at most 2\*\*62 rows, got {2**62 + 1}"):
        ThresholdCounts([INF, 1], [0, 2**62], [0, 1])
    with pytest.raises(ValueError, match=rf"parts must add up to at most 2\*\*62 rows, got {2**62 + 7}"):
        _ = most + small()


def test_zeros_have_no_sign() -> None:
    """Parts with -0.0 have the same sum, to the bit, in any order."""
    parts = [ThresholdCounts([INF, zero], [zero, 1.0], [0.0, zero]) for zero in (0.0, -0.0)]
    for counts in (*parts, parts[0] + parts[1], parts[1] + parts[0]):
        for array in (counts.thresholds, counts.tps, counts.fps):
            assert not np.signbit(array).any()


def test_a_part_without_rows_changes_nothing() -> None:
    assert_same(small() + ThresholdCounts([INF], [0], [0]), small())
    assert_same(small() + ThresholdCounts([INF, 0.9], [0, 0], [0, 0]), small())


def test_what_does_not_add_up() -> None:
    with pytest.raises(ValueError, match="parts is empty"):
        ThresholdCounts.merge([])
    with pytest.raises(ValueError, match="parts must be ThresholdCounts, got Ranking at 1"):
        ThresholdCounts.merge([small(), Ranking([0, 1], [1, 2])])
    for parts in (small(), None, 3):
        with pytest.raises(ValueError, match="parts must be ThresholdCounts, an iterable of them, got"):
            ThresholdCounts.merge(parts)  # type: ignore[arg-type]
    for other in (1, None, np.zeros(2)):
        with pytest.raises(TypeError):
            small() + other  # type: ignore[operator]
    many = ThresholdCounts([INF, 1], [0, 2**61], [0, 2**60])
    with pytest.raises(ValueError, match=r"parts must add up to at most 2\*\*62 rows"):
        _ = many + many
    heavy = ThresholdCounts([INF, 1], [0, 1e308], [0, 0])
    with pytest.raises(ValueError, match="parts must have a finite sum"):
        _ = heavy + heavy


def test_averages_over_folds_do_not_add_up() -> None:
    folds = fastevals.RankingFolds([Ranking([0, 1], [1, 2]), Ranking([0, 1, 1], [1, 2, 0])])
    for average in ("macro", "vertical"):
        counts = folds.roc_curve(average=average).counts
        assert isinstance(counts, ThresholdCounts)
        assert type(pickle.loads(pickle.dumps(counts))) is type(counts.take(np.array([0, 1]))) is type(counts)
        with pytest.raises(ValueError, match="parts must be ThresholdCounts, got averages over folds at 0"):
            _ = counts + small()


# Rows of counts -----------------------------------------------------------------------------------------------------


def test_frozen() -> None:
    with pytest.raises(AttributeError):
        small().tps = np.zeros(4)  # type: ignore[misc]


def test_a_rankings_counts_are_read_only() -> None:
    counts = Ranking([0, 1, 1], [0.1, 0.4, 0.4]).counts
    assert not any(getattr(counts, name).flags.writeable for name in ("thresholds", "tps", "fps"))


def test_repr_is_short() -> None:
    assert repr(small()) == "ThresholdCounts(thresholds=[ inf,  0.9,  0.5, -1. ], tps=[0, 2, 2, 3], fps=[0, 0, 1, 4])"
    assert len(repr(long())) < 200
    assert "..." in repr(long())


def test_take_keeps_rows() -> None:
    taken = small().take(np.array([0, 2, 3]))
    assert taken.thresholds.tolist() == [math.inf, 0.5, -1.0]
    assert (taken.tps.tolist(), taken.fps.tolist()) == ([0, 2, 3], [0, 1, 4])
    assert (taken.n_pos, taken.n_neg) == (3, 4)
    assert not taken.tps.flags.writeable


@pytest.mark.parametrize("rows", [slice(None), slice(1, 3), 2, np.array([3, 0]), np.array([[1, 2], [0, 3]])])
def test_cells_add_up_to_the_totals(rows: Any) -> None:
    counts = small()
    cells = counts.cells(rows)
    assert isinstance(cells, Cells)
    assert np.array_equal(cells.tp, counts.tps[rows])
    assert np.array_equal(cells.fp, counts.fps[rows])
    assert np.all(cells.tp + cells.fn == 3)
    assert np.all(cells.fp + cells.tn == 4)


ASKED = [
    -np.inf,
    -1e300,
    -1.0,
    -0.999,
    0.0,
    0.4999,
    0.5,
    np.nextafter(0.5, 1),
    np.nextafter(0.5, 0),
    0.7,
    0.9,
    1.0,
    np.inf,
]


@pytest.mark.parametrize(
    "thresholds", [[np.inf], [np.inf, 0.5], [np.inf, 0.9, 0.5, -1.0], [np.inf, 1.0, 0.9, 0.7, 0.5]]
)
def test_rows_at_least_against_brute_force(thresholds: list[float]) -> None:
    n = len(thresholds)
    counts = ThresholdCounts(np.array(thresholds), np.arange(n), np.arange(n))
    expected = [max(row for row, value in enumerate(thresholds) if value >= asked) for asked in ASKED]
    assert counts.rows_at_least(np.array(ASKED)).tolist() == expected
    assert [counts.rows_at_least(np.array(asked)).item() for asked in ASKED] == expected
    assert counts.rows_at_least(np.array(ASKED[:12]).reshape(3, 2, 2)).ravel().tolist() == expected[:12]


def test_rows_at_least_on_random_rows() -> None:
    rng = np.random.default_rng(0)
    for n in range(1, 40):
        values = np.r_[np.inf, np.sort(rng.choice(200, n, replace=False))[::-1] / 8]
        counts = ThresholdCounts(values, np.arange(n + 1), np.arange(n + 1))
        asked = np.r_[values, rng.random(50) * 30 - 2, rng.integers(-2, 30, 20)]
        expected = [np.flatnonzero(values >= one).max() for one in asked]
        assert counts.rows_at_least(asked).tolist() == expected


def test_rows_at_least_is_exact_past_doubles() -> None:
    scores = np.array([2**62 + 1, 2**62, 2**53 + 1, 2**53, 5])
    counts = Ranking([0, 1, 0, 1, 1], scores).counts
    assert counts.thresholds.dtype == np.longdouble
    assert counts.rows_at_least(scores).tolist() == [1, 2, 3, 4, 5]
    assert counts.rows_at_least(scores.astype(np.longdouble) + 0.5).tolist() == [0, 1, 2, 3, 4]


def test_an_integer_threshold_just_above_the_largest_score() -> None:
    # 2**53 + 1 is not a double; rounded to one it would equal the score below it.
    ranking = Ranking([0, 1], [0, 2**53])
    assert ranking.confusion_at(2**53 + 1).counts.tolist() == [[1, 0], [1, 0]]
    assert ranking.confusion_at(2**53).counts.tolist() == [[1, 0], [0, 1]]


def test_confusion_at_agrees_with_counting_rows() -> None:
    rng = np.random.default_rng(1)
    true, score = rng.integers(0, 2, 300), rng.integers(0, 40, 300) / 8
    ranking = Ranking(true, score)
    asked = np.r_[ASKED, rng.random(50) * 6]
    stack = ranking.confusion_at(asked)
    for one, counts in zip(asked, stack.counts, strict=True):
        expected = fastevals.ConfusionMatrix.from_predictions(true, (score >= one).astype(int), labels=[0, 1])
        assert np.array_equal(counts, expected.counts)


# Sweeps -------------------------------------------------------------------------------------------------------------


def values_of(array: np.ndarray) -> Any:
    """Return a metric that looks up its value by row; in `long`, tp + fp is the row."""
    return lambda cells: array[cells.tp + cells.fp]


@pytest.mark.parametrize("row", BORDERS)
@pytest.mark.parametrize("rest", [0.0, math.nan, -math.inf])
def test_best_row_finds_one_maximum_anywhere(row: int, rest: float) -> None:
    array = np.full(LONG, rest)
    array[row] = 1.0
    assert best_row(long(), values_of(array)) == row


@pytest.mark.parametrize(("first", "second"), [(a, b) for a in BORDERS for b in BORDERS if a < b])
def test_best_row_is_the_first_of_equals(first: int, second: int) -> None:
    array = np.zeros(LONG)
    array[[first, second]] = 2.0
    assert best_row(long(), values_of(array)) == first


@pytest.mark.parametrize("row", BORDERS)
def test_best_row_skips_nan(row: int) -> None:
    array = np.arange(LONG)[::-1] * 1.0
    array[: row + 1] = math.nan
    array[1::2] = math.nan
    expected = int(np.nanargmax(array)) if not np.isnan(array).all() else None
    assert best_row(long(), values_of(array)) == expected


def test_best_row_without_any_value() -> None:
    assert best_row(long(), values_of(np.full(LONG, math.nan))) is None
    assert best_row(small(), lambda cells: cells.tp * math.nan) is None


@pytest.mark.parametrize("value", [0, math.inf, -math.inf, -5.0])
def test_best_row_of_a_constant_is_the_first(value: float) -> None:
    assert best_row(long(), values_of(np.full(LONG, value))) == 0


def test_best_row_of_integers_and_booleans() -> None:
    for values in (np.arange(LONG) % 1000, np.arange(LONG) == 777):
        assert best_row(long(), values_of(values)) == int(np.argmax(values))


@pytest.mark.parametrize("n", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, LONG, 64 * BLOCK + 1])
@pytest.mark.parametrize("threads", [1, 3])
def test_fill_rows_fills_every_row_once(n: int, threads: int) -> None:
    calls: list[tuple[int, int]] = []

    def fill(rows: slice, out: np.ndarray) -> None:
        calls.append((rows.start, rows.stop))
        out[:] = np.arange(rows.start, rows.stop) * 0.5

    with fastevals.num_threads(threads):
        seen = fill_rows(n, fill)
    assert sum(stop - start for start, stop in calls) == n
    assert seen.dtype == np.float64
    assert np.array_equal(seen, np.arange(n) * 0.5)


@pytest.mark.parametrize("n", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, LONG])
@pytest.mark.parametrize("step", [1, 2, 7, BLOCK, 10**9])
def test_select_rows_keeps_the_marked(n: int, step: int) -> None:
    seen = select_rows(n, lambda rows: np.arange(rows.start, rows.stop) % step == 0)
    assert np.array_equal(seen, np.arange(0, n, step))


def test_select_rows_may_keep_nothing() -> None:
    assert select_rows(LONG, lambda rows: np.zeros(rows.stop - rows.start, dtype=bool)).tolist() == []


@pytest.mark.parametrize("n", [2, 3, BLOCK, BLOCK + 1, BLOCK + 2, 2 * BLOCK, LONG])
def test_sum_steps_takes_each_step_once(n: int) -> None:
    rng = np.random.default_rng(n)
    tps, fps = np.cumsum(rng.integers(0, 5, (2, n)) * (np.arange(n) > 0), axis=1)
    counts = ThresholdCounts(np.r_[np.inf, np.arange(n - 1.0)[::-1]], tps, fps)

    def steps(fp: np.ndarray, tp: np.ndarray, scale: float) -> tuple[float, float]:
        return float((np.diff(fp) * 2**16 + np.diff(tp)).sum()), 0.25 * (fp.size - 1) * scale

    expected = Fraction(int(fps[-1] - fps[0]) * 2**16 + int(tps[-1] - tps[0])) + Fraction(n - 1, 2)
    assert sum_steps(steps, counts, 2.0) == expected


def test_sum_steps_of_one_row_is_nothing() -> None:
    one = ThresholdCounts(np.array([np.inf]), np.array([0]), np.array([0]))
    assert sum_steps(lambda fp, tp: (float(np.diff(fp).sum()), 0.0), one) == 0


def test_sum_steps_adds_exactly() -> None:
    pairs = iter([(1e300, 1.0), (1.0, 1e-300), (-1e300, -1.0), (0.5, 0.0), (0.0, 0.0)])
    with fastevals.num_threads(1):
        seen = sum_steps(lambda fp, tp: next(pairs, (0.0, 0.0)), long())
    assert seen == Fraction(1.5) + Fraction(1e-300)
