"""Metrics of targets in one draw: from rows in order with draw counts, and from the drawn rows alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import UndefinedMetricWarning, regression_metrics
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_target_sample
from fastevals.measure.metric_specs import parse_metrics
from tests.strategies import BOUNDED, DENORMAL

OF_SUMS = [
    "mean_squared_error",
    "root_mean_squared_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "r2",
    "pinball_loss",
]
ODD = (-1e200, -1.0, -DENORMAL, 0.0, 0.0, DENORMAL, 1e-300, 1.0, 1.0, 1.0 + 2**-52, 1e200)
ROWS = st.lists(
    st.tuples(*[st.sampled_from(ODD)] * 3, st.integers(0, 3), st.sampled_from([1.0, 0.3, 1e-250])),
    min_size=1,
    max_size=9,
)


@BOUNDED
@given(ROWS, st.booleans())
def test_any_draw_of_any_numbers(rows: list[tuple[float, ...]], weighted: bool) -> None:
    """Rows that were not drawn change nothing, however large their errors."""
    y, p, q, times, weights = np.array(rows).T
    check_draw(y, [p, q], times, weights if weighted else None)


@pytest.mark.parametrize(
    ("y", "p", "times", "weights"),
    [
        ([0, 1, 2], [1e200, 1, 2], [0, 2, 1], None),  # the infinite square of an error, drawn zero times
        ([0, 1, 2], [1e-200, 1, 2], [1, 1, 1], None),  # an error's square underflows
        ([1e-200, 2e-200, 0], [1e-200, 2e-200, 0], [1, 1, 1], None),  # the targets' squares underflow
        ([0, 0, 0, 1e6 + 0.1, 1e6 + 0.7], [0, 0, 0, 1e6 + 0.2, 1e6 + 0.1], [0, 0, 0, 3, 4], None),  # sums cancel
        ([0, 0, 5], [1, 1e-100, 5], [0, 1, 1], [1, 1e-250, 1e-250]),  # weighted errors underflow
        ([0, 0.5, 5], [1, 2, 5], [0, 0, 0], None),
        ([0], [1], [0], [2]),
    ],
)
def test_what_a_sweep_loses_is_measured_of_the_rows_drawn(y: Any, p: Any, times: Any, weights: Any) -> None:
    given = None if weights is None else np.array(weights, dtype=float)
    other = np.arange(len(y)) / 3 - 1
    for models in ([p], [p, other], [other, p]):
        check_draw(np.array(y, dtype=float), [np.array(each, dtype=float) for each in models], np.array(times), given)


def check_draw(y: Any, models: Any, times: Any, weights: Any) -> None:
    """Compare a draw's metrics with metrics of its rows, repeated as often as they were drawn."""
    design = SamplingDesign(sample_weight=weights)
    sample = make_target_sample(y, {str(k): each for k, each in enumerate(models)}, parse_metrics(OF_SUMS), design)
    padded = sample.times()
    padded[: times.size] = times
    values = sample.measure([padded], 1, sample.workspace())
    drawn = np.repeat(np.arange(y.size), times.astype(int))
    if not drawn.size:
        assert np.isnan(values).all()
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        expected = regression_metrics(
            y[drawn], [each[drawn] for each in models], sample_weight=None if weights is None else weights[drawn]
        )
    for name, value in zip(OF_SUMS, values, strict=True):
        np.testing.assert_allclose(value[0], getattr(expected, name), rtol=1e-12, atol=1e-300, err_msg=name)
