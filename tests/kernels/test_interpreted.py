"""Kernels without the compiler, against compiled ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fastevals._compile.interpreted import Items, interpreted
from fastevals._kernels import draws
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
