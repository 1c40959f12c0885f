"""Lent arrays: exclusive while they live, reused afterwards; little memory is kept."""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fastevals import _memory
from fastevals._memory import LEAST_BYTES, MOST_BYTES, lend
from fastevals.metrics import precision_recall_curve, roc_curve


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    _memory._kept.clear()


def address(array: np.ndarray) -> int:
    return array.ctypes.data


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float64, np.longdouble])
@pytest.mark.parametrize("size", [0, 1, LEAST_BYTES, MOST_BYTES // np.dtype(np.longdouble).itemsize + 1])
def test_a_lent_array_is_one_as_any_other(size: int, dtype: type) -> None:
    array = lend(size, dtype)
    assert (array.shape, array.dtype) == ((size,), dtype)
    assert array.flags.carray
    array[:] = 1
    assert (array == 1).all()


def test_memory_is_used_again_when_the_array_and_all_views_are_gone() -> None:
    array = lend(LEAST_BYTES, np.uint8)
    view, there = array[5:].view(np.int8), address(array)
    del array
    assert address(lend(LEAST_BYTES, np.uint8)) != there
    del view
    again = lend(LEAST_BYTES, np.uint8)
    assert address(again) == there
    assert address(lend(LEAST_BYTES, np.uint8)) != there


def test_memory_much_larger_than_needed_is_left_for_others() -> None:
    there = address(lend(5 * LEAST_BYTES, np.uint8))
    assert address(lend(4 * LEAST_BYTES - 1, np.uint8)) != there
    assert address(lend(4 * LEAST_BYTES, np.uint8)) == there


def test_little_is_kept_and_that_of_the_last_arrays() -> None:
    arrays = [lend(MOST_BYTES // 4, np.uint8) for _ in range(7)]
    last = {address(array) for array in arrays[-4:]}
    while arrays:
        del arrays[0]
    assert {memory.ctypes.data for memory in _memory._kept} == last
    del arrays
    lend(MOST_BYTES + 1, np.uint8)
    assert sum(memory.size for memory in _memory._kept) <= MOST_BYTES


def test_arrays_of_many_threads_share_nothing() -> None:
    def work(number: int) -> bool:
        good = True
        for size in (LEAST_BYTES, LEAST_BYTES + 1, 2 * LEAST_BYTES):  # some fit returned arrays, some do not
            array = lend(size, np.uint8)
            array[:] = number
            good &= bool((array == number).all())
            del array
        return good

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(work, range(200)))
    finally:
        sys.setswitchinterval(interval)


def test_garbage_in_a_cycle_gives_its_memory_back() -> None:
    cycle: list[object] = [lend(LEAST_BYTES, np.uint8)]
    cycle.append(cycle)
    del cycle
    gc.collect(1)  # the young generation
    assert len(_memory._kept) == 1


@pytest.mark.parametrize("curve", [roc_curve, precision_recall_curve])
def test_results_stay_what_they_are(curve) -> None:
    random = np.random.default_rng(0)
    labels, scores = random.integers(0, 2, 200_000), random.random(200_000)
    first = curve(labels, scores)
    copies = [array.copy() for array in first]
    for _ in range(3):
        curve(1 - labels, -scores)
    for array, copy in zip(first, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
