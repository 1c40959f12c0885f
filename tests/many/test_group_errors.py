"""Errors of predicted numbers by group, against each group alone in exact arithmetic."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastevals
from fastevals import grouped_metrics, metric
from fastevals.measure.registry import METRICS
from tests.reference import regression as reference
from tests.reference.groups import rows_by_group
from tests.strategies import BOUNDED, FLOAT_WEIGHTS

ERRORS = [metric(name, quantile=0.3) if entry.options else metric(name)
          for name, entry in METRICS.items() if entry.of == "targets"]  # fmt: skip
VALUES = (-2.5, -0.1, 0.0, 0.1, 0.3, 1.0, 1.0 + 2**-20, 7.0)
UNITS = (1.0, 2.0**-600, 2.0**900)  # squares are out of range
rows_of_groups = st.lists(
    st.tuples(st.sampled_from(VALUES), st.sampled_from(VALUES), st.integers(0, 3), st.sampled_from(FLOAT_WEIGHTS)),
    min_size=1,
    max_size=20,
)


def quiet(*arrays: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        return grouped_metrics(*arrays, ERRORS, **options)


@pytest.mark.parametrize("weighted", [False, True])
@BOUNDED
@given(rows=rows_of_groups, unit=st.sampled_from(UNITS))
def test_errors_are_those_of_each_group(weighted: bool, rows: Any, unit: float) -> None:
    y, p, groups, weights = map(np.array, zip(*rows, strict=True))
    units = np.where(groups == 3, 1.0, unit)  # each group has its own unit
    y, p = y * units, p * units
    if weighted:
        weights[0] = 0.7
    else:
        weights[:] = 1.0
    found = quiet(y, p, groups, **({"sample_weight": weights} if weighted else {}))
    columns = rows_by_group(groups.tolist(), y.tolist(), p.tolist(), weights.tolist())
    for g, (key, here) in enumerate(columns.items()):
        one = found["mean_squared_error"]
        assert one.groups[g] == key
        assert one.n_samples[g] == sum(w > 0 for *_, w in here)
        assert one.weights[g] == pytest.approx(sum(w for *_, w in here), rel=1e-15)
        expected = {}
        if any(w for *_, w in here):
            expected = reference.metrics(*map(list, zip(*here, strict=True)), quantile=0.3)
        for each in ERRORS:
            value = expected.get(each.name, math.nan)
            near_zero = 1e-14 if each.name == "r2" else 1e-323  # R2 is one minus a ratio
            np.testing.assert_allclose(
                found[each].values[g],
                value,
                rtol=1e-9 if each.name == "r2" else 1e-14,
                atol=near_zero,
                err_msg=str(each),
            )


def test_errors_of_many_groups_are_those_of_regression_metrics() -> None:
    rng = np.random.default_rng(0)
    groups = np.minimum(rng.geometric(0.01, 70_000), 700)  # more than a block of rows
    y, p, weights = rng.normal(5, 1, groups.size), rng.normal(5, 1, groups.size), rng.random(groups.size)
    found = quiet(y.astype("f4"), p.astype(">f8"), groups, sample_weight=weights)
    for key in (1, 2, 300, found["r2"].groups[-1]):
        here = groups == key
        one = fastevals.regression_metrics(y.astype("f4")[here], p[here], sample_weight=weights[here], quantile=0.3)
        for each in ERRORS:
            np.testing.assert_allclose(found[each][key], getattr(one, each.name), rtol=1e-13, err_msg=str(each))


def test_groups_without_weight_or_scatter_are_counted() -> None:
    with pytest.warns(fastevals.UndefinedMetricWarning, match="2 of 3 groups"):
        found = grouped_metrics([1, 1, 2, 2, 3], [0, 1, 2, 3, 3], list("ababc"), "r2", sample_weight=[1, 1, 1, 0, 1])
    np.testing.assert_array_equal(found["r2"].values, [-1.0, math.nan, math.nan])
    assert found["r2"].weights.tolist() == [2, 1, 1]
    assert found["r2"].n_positives is None
    with pytest.warns(fastevals.UndefinedMetricWarning, match="1 of 2 groups"):
        errors = grouped_metrics([1, 3], [2, 5], [1, 2], "median_absolute_error", sample_weight=[0, 2])
    np.testing.assert_array_equal(errors["median_absolute_error"].values, [math.nan, 2.0])
    assert errors["median_absolute_error"].mean == 2.0


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        (([1, math.nan], [1, 2], [1, 2]), {}, "y_true must be finite, but has 1 NaN"),
        (([1, 2], [1, math.inf], [1, 2]), {}, "y_pred must be finite"),
        (([1, 2], [1, 2], [1]), {}, "groups has 1 row"),
        (([1, 2], [1, 2], [1, 2]), {"sample_weight": [1]}, "sample_weight has 1 row"),
        (([1, 2], [1, 2], [1, 2]), {"pos_label": 1}, "pos_label"),
    ],
)
def test_bad_input(arrays: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        grouped_metrics(*arrays, "mean_squared_error", **options)
