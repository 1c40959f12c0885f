"""Metrics without one row: each against its own recomputation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from fastevals import Ranking
from fastevals._kernels import jackknife, replicates
from fastevals.infer.bootstrap.steps import Steps
from tests.strategies import BOUNDED, unweighted

KERNELS = {name: getattr(jackknife, name) for name in jackknife.__all__}


def without_one(name: str, steps: Steps) -> list[float]:
    values = []
    for cell in range(steps.sizes.size):
        counts = steps.sizes.copy()
        counts[cell] -= 1
        value = math.nan
        if counts[cell] >= 0:
            value = getattr(replicates, name)(counts, steps.tied, *replicates.totals(counts))
        values.append(value)
    return values


@pytest.mark.parametrize("name", KERNELS)
@BOUNDED
@given(unweighted)
def test_a_row_of_each_cell_left_out(name, case):
    steps = Steps.of(Ranking(case.y_true, case.y_score).counts, merge_positives=False)
    found = np.empty(steps.sizes.size)
    KERNELS[name](steps.sizes, steps.tied, *replicates.totals(steps.sizes), found)
    expected = np.array(without_one(name, steps))
    there = steps.sizes > 0
    defined = there & ~np.isnan(expected)
    np.testing.assert_allclose(found[defined], expected[defined], rtol=1e-13, atol=1e-15)
    assert not np.isfinite(found[there & np.isnan(expected)]).any()
