from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import Ranking, ThresholdCounts
from fastevals.counting.sweeps import best_row, fill_rows, select_rows, sum_steps
from fastevals.counts import Cells

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
    assert type(ThresholdCounts(np.array([np.inf]), np.array([0.5]), np.array([0])).n_pos) is float


def test_views_are_read_only_and_the_callers_arrays_are_not() -> None:
    arrays = [np.array([np.inf, 1.0]), np.array([0, 1]), np.array([0, 2])]
    counts = ThresholdCounts(*arrays)
    for name, array in zip(("thresholds", "tps", "fps"), arrays, strict=True):
        view = getattr(counts, name)
        assert np.shares_memory(view, array)
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 7
        assert array.flags.writeable
        array[0] = array[0]


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
    # 2**53 + 1 is no double: rounded to one it would equal the score below it.
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
    """A metric that looks its values up by the row, which tp + fp gives in `long`."""
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
    tps, fps = np.cumsum(rng.integers(0, 5, n)), np.cumsum(rng.integers(0, 5, n))
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


def test_arrays_of_different_lengths():
    with pytest.raises(ValueError, match="fps has 1 rows, but thresholds has 2"):
        ThresholdCounts([math.inf, 0.5], [0, 1], [0])
