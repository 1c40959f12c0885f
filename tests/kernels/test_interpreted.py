"""Kernels without the compiler, against compiled ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fastevals._compile import interpreted as module
from fastevals._compile.interpreted import Items, interpreted, run_as_python
from fastevals._compile.jit import Kernel, kernel, spared_kernel
from fastevals._kernels import areas, draws, jackknife, residuals, steps
from tests import snapshots
from tests.test_cache import result, start

# Cases with sums of floats, which compiled code adds in another order.
SUMS = """regression bias_variance bootstrap_of_a_ranking bootstrap_of_targets bootstrap_of_weighted_scores models
groups comparison_of_rankings selection_and_curves measures_of_a_ranking corrected_errors splits"""
LONG = "report compare"  # minutes
COLUMNS = "Y SCORES OTHER WEIGHTS GROUPS CLASSES GUESSES OTHER_GUESSES TARGETS PREDICTED OTHER_PREDICTED X"


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32])
def test_narrow_items_are_computed_with_in_64_bits(dtype: Any) -> None:
    largest = 1 if dtype is np.bool_ else int(np.iinfo(dtype).max)
    array = np.full(4, largest, dtype=dtype)

    def work(items: Any, scalar: Any) -> Any:
        total = items[0] + items[1] + scalar
        for item in items[1:3]:
            total += item
        items[3] = total
        items[0:1] = 0
        return total, items[1:], items[0] - items[1]

    total, rest, difference = interpreted(work)(array, dtype(largest))
    assert (total, difference) == (5 * largest, -largest)
    assert type(rest) is np.ndarray
    assert array.tolist() == [0, largest, largest, np.array(5 * largest).astype(dtype).item()]  # low bits, as compiled
    assert type(interpreted(lambda items: items)(array.astype(float))) is np.ndarray
    assert array.view(Items)[:2][1] == largest


def test_items_of_64_bits_wrap_around_without_a_warning() -> None:
    key = np.uint64(2**64 - 1)
    assert interpreted(draws.uniform_below.__wrapped__)(7, key) == draws.uniform_below(7, key) == 6
    assert interpreted(lambda a, b: a * b)(key, np.uint64(3)) == np.uint64(2**64 - 3)


# Spared kernels -----------------------------------------------------------------------------------------------------


def both(spared: Kernel, make: Callable[[], tuple[Any, ...]]) -> None:
    """Compare Python's results and arrays with those of compiled code."""
    mine, theirs = make(), make()
    with np.errstate(all="ignore"):
        found = run_as_python(spared.python(), mine), spared.dispatcher()(*theirs)
    np.testing.assert_array_equal(*map(np.asarray, found), strict=True)
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


def cumulative(seed: int, n: int, *, weighted: bool = False) -> list[Any]:
    """Return read-only false and true positives, some of which may be equal to the ones before, also at the start."""
    rng = np.random.default_rng(seed)
    gains = rng.integers(0, 3, (2, n)) * rng.choice([0, 1, 40], (2, n))
    columns = np.concatenate((np.zeros((2, 1), np.int64), np.cumsum(gains, axis=1)), axis=1)
    if weighted:
        columns = columns * 0.3
    columns.flags.writeable = False
    return list(columns)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n", [1, 3, 200])
def test_spared_kernels_compute_the_bits_of_compiled_ones(n: int, seed: int) -> None:
    for weighted in (False, True):
        fps, tps = cumulative(seed, n, weighted=weighted)
        for area in (areas.average_precision, areas.linear_pr_area, areas.davis_goadrich_area):
            both(area, lambda area=area, fps=fps, tps=tps: (fps, tps, 0.25))
        both(areas.roc_area, lambda fps=fps, tps=tps: (fps, tps, 0.25, 0.5))
        both(areas.upper_hull, lambda fps=fps, tps=tps: (fps, tps, np.zeros(n + 1, np.intp)))
        for merge in ((False, False), (True, False), (True, True)):
            given = tps, fps, *merge, np.array([n // 2])
            sizes = np.zeros((2, n), np.float64 if weighted else np.uint16)
            out = np.zeros(1, np.int64), np.zeros(n + 1, np.int32), sizes, np.zeros(n, np.bool_)
            both(steps.fill_steps, lambda given=given, out=out: (*given, *(each.copy() for each in out)))
    fps, tps = cumulative(seed, n)
    edges = np.unique([0, n])
    both(areas.rows_above, lambda: (fps, tps, edges, 0, n + 1, np.zeros(n + 1, np.intp)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
def test_leave_one_out_values_are_the_same_to_the_bit(dtype: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    up, down = (rng.integers(0, 3, 60).astype(dtype) for _ in range(2))
    tied, n_pos, n_neg = rng.random(60) < 0.5, int(up.sum()), int(down.sum())
    for form in range(4):
        limits = (0.4, 0.1) if form == jackknife.PARTIAL else (1.0, 0.0)
        both(
            jackknife.area,
            lambda form=form, limits=limits: (up, down, tied, n_pos, n_neg, form, *limits, np.zeros((2, 60))),
        )
    for rule in range(7):
        for of in (0, 1):
            both(
                jackknife.chosen_thresholds,
                lambda rule=rule, of=of: (
                    up, down, tied, n_pos, n_neg, of, rule, 0.5, 0.25, False, np.zeros((3, 60), np.int64)
                ),
            )  # fmt: skip


def test_residuals_are_the_same_to_the_bit() -> None:
    rng = np.random.default_rng(0)
    columns = [np.sort(rng.random(200)), *rng.integers(0, 3, (4, 200)).astype(float)]
    both(residuals.add_residuals, lambda: (*columns, np.linspace(0, 1, 11), np.zeros((7, 10))))


@kernel
def _twice(x: Any) -> Any:
    return x * 2


@spared_kernel
def _total(x: Any) -> Any:
    total = x[0] * 0
    for i in range(x.size):
        total += _twice(x[i])
    return total


def test_a_kernel_is_spared_until_its_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ITEMS_PER_KERNEL", 100)
    assert [_total(np.arange(n)) for n in (101, 40, 60, 1)] == [n * (n - 1) for n in (101, 40, 60, 1)]
    assert not hasattr(_total.python(), "py_func")


def test_kernels_that_are_on_disk_are_spared_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ITEMS_PER_KERNEL", 10)
    for is_kept, expected in ((False, [True, True, True, False]), (True, [True, False, False, False])):
        made = Kernel(_twice.__wrapped__)
        monkeypatch.setattr(Kernel, "is_kept", lambda kernel, is_kept=is_kept: is_kept)
        assert [made.spares(items, 30) for items in (10, 10, 10, 1)] == expected
    monkeypatch.setattr(module, "ITEMS_PER_KERNEL", 0)
    assert not Kernel(_twice.__wrapped__).spares(1, 30)


def test_logarithms_raise_no_error() -> None:
    assert [module.MATH.log1p(x) for x in (0.5, -1.0)] == [np.log1p(0.5), -np.inf]
    assert np.isnan(module.MATH.log1p(-2.0))


CODE = """
    import json, sys
    sys.path.insert(0, {root!r})
    import numpy as np
    from fastevals._kernels import compensated
    from tests import snapshots
    snapshots.SHORT["n_resamples"] = 19 // {times}
    snapshots.N *= {times}
    for name in {columns!r}.split():
        setattr(snapshots, name, np.concatenate([getattr(snapshots, name)] * {times}))
    found = {{name: snapshots.seeded(name) for name in snapshots.CASES if name not in {left_out!r}.split()}}
    print(json.dumps([hasattr(compensated.two_sum, "py_func"), found]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("times", "left_out"), [(1, LONG), (3, f"{LONG} folds_and_classes")])
def test_all_calls_give_the_same_with_the_jit_disabled(times: int, left_out: str) -> None:
    """Test 720 rows, too, which overflow a count of 8 bits."""
    code = CODE.format(root=str(Path(__file__).parents[2]), columns=COLUMNS, times=times, left_out=left_out)
    both = [start(code, NUMBA_DISABLE_JIT=switch) for switch in "10"]
    (is_compiled, now), (was_compiled, then) = map(result, both)
    assert (is_compiled, was_compiled) == (False, True)
    assert set(then) == set(snapshots.CASES) - set(left_out.split())
    for name, each in then.items():
        relative = 1e-11 if name in SUMS.split() else 0.0
        assert list(snapshots.differences(now[name], each, relative=relative)) == [], name
