"""Metrics of predicted quantiles and intervals: definitions, published values, and every call that takes rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastevals
from fastevals import batch_metrics, bootstrap, metric, num_threads, predicted_intervals, predicted_quantiles
from fastevals.measure.registry import METRICS
from tests.reference import quantiles as twin
from tests.strategies import BOUNDED

NAMES = [name for name, entry in METRICS.items() if entry.of == "quantiles"]
QUICK: dict[str, Any] = {"n_resamples": 49, "rng": 0}
LEVELS = [Fraction(k, 20) for k in (1, 5, 10, 15, 19)]
HUB = [0.01, 0.025, *np.arange(1, 20) / 20, 0.975, 0.99]  # the levels of the forecast hubs


def values_of(y: Any, predicted: Any, names: Any = NAMES) -> list[float]:
    found = batch_metrics(y, [predicted], names)
    return [found[name][0] for name in found]


# Values -----------------------------------------------------------------------------------------------------------

numbers = st.integers(-8, 8).map(lambda k: k / 4)
rows = st.lists(st.tuples(numbers, st.lists(numbers, min_size=5, max_size=5).map(sorted)), min_size=1, max_size=6)


@BOUNDED
@given(rows)
def test_metrics_are_those_of_their_definitions(cases: list[tuple[float, list[float]]]) -> None:
    y, table = [each for each, _ in cases], [row for _, row in cases]
    predicted = predicted_quantiles(table, [float(level) for level in LEVELS])
    expected = [twin.mean(name, y, LEVELS, table) for name in NAMES]
    assert values_of(y, predicted) == pytest.approx(expected, rel=1e-14, abs=1e-15)


def test_values_that_others_have_published() -> None:
    """The weighted interval scores that covidcast and scoringutils test, by their own formulas."""
    low, high, inner = np.arange(1, 12), np.arange(23, 12, -1), np.array(HUB[:11])
    outside = (low - 10) * (low > 10) + (10 - high) * (high < 10)
    expected = (np.sum(inner * (high - low) + outside) + 1) / 11.5
    assert values_of([10], predicted_quantiles([np.arange(1, 24)], HUB), "wis") == pytest.approx([expected], rel=1e-14)
    y, median = [1, -15, 22], [1, 2, 3]
    assert values_of(y, predicted_quantiles({0.5: median}), "wis") == pytest.approx([(0 + 17 + 19) / 3])
    interval = predicted_intervals([0, 1, 0], [2, 2, 3], 0.5)
    expected = np.mean(np.array([2, 1, 3]) * 0.25 + [0, 16, 19])
    assert values_of(y, interval, "wis") == pytest.approx([expected])
    assert values_of(y, interval, "winkler_score") == pytest.approx([4 * expected])


def test_crps_of_midpoints_is_that_of_an_ensemble() -> None:
    """Quantiles of levels (k - 1/2) / n are an ensemble; its CRPS is mean |x - y| - mean |x - x'| / 2."""
    rng = np.random.default_rng(0)
    ensemble, y = np.sort(rng.normal(size=(20, 8)), axis=1), rng.normal(size=20)
    spread = np.abs(ensemble[:, :, None] - ensemble[:, None]).mean(axis=(1, 2))
    expected = np.mean(np.abs(ensemble - y[:, None]).mean(axis=1) - spread / 2)
    predicted = predicted_quantiles(ensemble, (np.arange(8) + 0.5) / 8)
    assert values_of(y, predicted, ["crps", "wis"]) == pytest.approx([expected, expected], rel=1e-13)


def test_crps_of_many_levels_is_that_of_the_normal_distribution() -> None:
    from scipy.stats import norm

    levels = (np.arange(4000) + 0.5) / 4000
    (found,) = values_of([0.7], predicted_quantiles(norm.ppf(levels)[None], levels), "crps")
    exact = 0.7 * (2 * norm.cdf(0.7) - 1) + 2 * norm.pdf(0.7) - 1 / math.sqrt(math.pi)  # Gneiting and Raftery, eq. 21
    assert found == pytest.approx(exact, abs=1e-6)


def test_an_interval_of_another_level() -> None:
    predicted = predicted_quantiles([[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]], [0.05, 0.25, 0.5, 0.75, 0.95])
    at_half = [metric(name, coverage=0.5) for name in ("interval_coverage", "interval_width", "interval_score")]
    assert values_of([3, 3.5], predicted, at_half) == [0.5, 2.0, 3.0]
    assert values_of([3, 4.5], predicted, ["picp", "interval_width"]) == [0.5, 4.0]


# Input ------------------------------------------------------------------------------------------------------------


def test_one_element_per_row_and_a_field_per_level() -> None:
    table = np.arange(6.0).reshape(2, 3)
    forms = [
        predicted_quantiles(table, [0.1, 0.5, 0.9]),
        predicted_quantiles(table[:, ::-1], [0.9, 0.5, 0.1]),
        predicted_quantiles({0.5: [1, 4], 0.1: [0, 3], 0.9: np.array([2, 5], dtype=np.int8)}),
        predicted_quantiles(pd.DataFrame(table, columns=["0.1", "0.5", "0.9"])),
        predicted_quantiles(pd.DataFrame(table), levels=[0.1, 0.5, 0.9]),
    ]
    for each in forms:
        assert each.shape == (2,)
        assert each.dtype.names == ("0.1", "0.5", "0.9")
        assert each.tolist() == [(0.0, 1.0, 2.0), (3.0, 4.0, 5.0)]
    unordered = np.array([(2, 0, 1), (5, 3, 4)], dtype=[("0.9", "f4"), ("0.1", "i2"), ("0.5", "f8")])
    y = [1.0, 2.0]
    assert values_of(y, unordered) == values_of(y, forms[0])
    assert values_of(y[::-1], forms[0][::-1]) == values_of(y, forms[0])
    assert predicted_intervals([0], [1], 0.9).dtype.names == ("0.05", "0.95")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: predicted_intervals([0, 2], [1, 1]), "^low must not exceed high, but it does in 1 of 2 rows, .*2 > 1"),
        (lambda: predicted_intervals([0], [1], 1), r"^coverage must be in \(0, 1\), got 1"),
        (lambda: predicted_intervals([0], [np.inf]), "^high must be finite"),
        (lambda: predicted_intervals([0], [1, 2]), "high has 2 rows, but low has 1"),
        (lambda: predicted_intervals([], []), "^low is empty"),
        (lambda: predicted_quantiles([[1, 2]], [0.5, 1]), r"^levels must be in \(0, 1\), got 1\.0"),
        (lambda: predicted_quantiles([[1, 2]], [0.5, np.nan]), r"^levels must be in \(0, 1\), got nan"),
        (lambda: predicted_quantiles([[1, 2]], [1e-13, 0.5]), r"^levels must be in \(0, 1\), got 1e-13 \(levels are"),
        (lambda: predicted_quantiles([[1, 2]], [0.5, 0.5]), "^levels must all differ, got"),
        (lambda: predicted_quantiles([[1, 2]], [0.5]), "^levels must have a level for each of 2 columns, got 1"),
        (lambda: predicted_quantiles([[1, 2]]), "^levels must be given with an array"),
        (lambda: predicted_quantiles([1, 2], [0.5]), r"^values must have shape \(n_samples, n_levels\), got \(2,\)"),
        (lambda: predicted_quantiles({"low": [1]}), r"^levels must be numbers in \(0, 1\), got \['low'\]"),
        (lambda: predicted_quantiles([[1], [np.nan]], [0.5]), "quantiles of level 0.5 must be finite, .* row 1"),
        (lambda: bootstrap(([1, 2], [1.0, 2.0]), "wis"), "^y_pred must have quantiles with their levels, as returned"),
        (lambda: bootstrap(([1], INTERVAL), ["wis", "mae"]), "metrics must be one of 'interval_score', .*; got 'mean_"),
        (lambda: bootstrap(([1, 2], INTERVAL), "wis"), "y_pred has 1 rows, but y_true has 2"),
        (lambda: bootstrap(([np.nan], INTERVAL), "wis"), "^y_true must be finite"),
        (lambda: bootstrap(([1], INTERVAL), metric("interval_score", coverage=0.5)), "interval of 0.5, got levels"),
        (lambda: bootstrap(([1], predicted_quantiles({0.1: [1]})), "interval_score"), "two levels that add up to 1"),
        (lambda: bootstrap(([1], predicted_quantiles({0.1: [1]})), "wis"), "levels in pairs that add up to 1"),
        (lambda: bootstrap(([1], INTERVAL), "wis", stratified=True), "^stratified and pos_label apply only to classes"),
        (lambda: bootstrap(([-1e308], predicted_intervals([1e308], [1e308])), "wis"), "row 0 exceeds the largest"),
        (lambda: metric("wis", coverage=0.5), "has no option coverage=; it takes none"),
    ],
)  # fmt: skip
def test_bad_input(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()


INTERVAL = predicted_intervals([0], [1])


def test_crossed_quantiles_are_said_and_have_pinball_losses_but_no_interval() -> None:
    with pytest.warns(UserWarning, match="^quantiles cross in 1 of 2 rows, the first at row 1: sort the quantiles"):
        crossed = predicted_quantiles([[0, 1], [3, 2]], [0.25, 0.75])
    expected = twin.mean("crps", [1, 1], [Fraction(1, 4), Fraction(3, 4)], [[0, 1], [3, 2]])
    assert values_of([1, 1], crossed, ["crps", "wis"]) == pytest.approx([expected, expected])
    for name in ("interval_score", "interval_coverage", "interval_width"):
        with pytest.raises(ValueError, match=r"level 0.25 must not exceed that of level 0.75, .* row 1: 3 > 2"):
            values_of([1, 1], crossed, name)


# Calls ------------------------------------------------------------------------------------------------------------


def case(n: int = 60) -> tuple[Any, Any, Any]:
    """Return targets, and two models' quantiles."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=n).round(2)
    a, b = (np.sort((y + rng.normal(size=n))[:, None] + rng.normal(size=(n, 4)), axis=1).round(2) for _ in range(2))
    return y, *(predicted_quantiles(each, [0.05, 0.25, 0.75, 0.95]) for each in (a, b))


def test_every_call_that_takes_rows_takes_quantiles() -> None:
    y, a, b = case()
    groups, weights = np.arange(y.size) % 5, np.arange(y.size) % 3
    of_a, of_b = (dict(zip(NAMES, values_of(y, each), strict=True)) for each in (a, b))
    assert [each.value for each in bootstrap((y, a), NAMES, **QUICK).values()] == pytest.approx([*of_a.values()])
    clustered = bootstrap((y, a), NAMES, groups=groups, **QUICK)
    assert [each.value for each in clustered.values()] == pytest.approx([*of_a.values()])
    weighted = bootstrap((y, a), NAMES, sample_weight=weights, **QUICK)
    repeated = bootstrap((y, a), NAMES, frequency_weight=weights, **QUICK)
    rows = np.repeat(np.arange(y.size), weights)
    for found in (weighted, repeated):
        assert [each.value for each in found.values()] == pytest.approx(values_of(y[rows], a[rows]))
    compared = fastevals.compare_predictions(y, {"a": a, "b": b}, metrics=NAMES, **QUICK)
    listed = fastevals.compare_predictions(y, [a, b], metrics=NAMES, **QUICK)
    by_group = fastevals.grouped_metrics(y, a, groups, NAMES)
    many = batch_metrics(y, {"a": a, "b": b}, NAMES)
    splits = fastevals.evaluate_splits(y, a, groups, NAMES)
    estimated = fastevals.estimate_error(lambda X, y, new: a[new[:, 0]], np.arange(60)[:, None], y, PAIRS, NAMES)
    for name in NAMES:
        difference = of_a[name] - of_b[name]
        assert compared[name].differences[0].value == pytest.approx(difference, rel=1e-12), name
        assert listed[name].differences[0].value == compared[name].differences[0].value
        tested = fastevals.permutation_test(y, a, b, name, **QUICK)
        assert tested.effect == pytest.approx(difference, rel=1e-12)
        assert many[name].values.tolist() == pytest.approx([of_a[name], of_b[name]])
        each = [values_of(y[groups == k], a[groups == k], name)[0] for k in range(5)]
        assert by_group[name].values.tolist() == pytest.approx(each)
        assert splits[name].per_split.ravel().tolist() == pytest.approx(each)
        assert estimated[name].per_split.ravel().tolist() == pytest.approx(each)


PAIRS = [(np.flatnonzero(np.arange(60) % 5 != k), np.flatnonzero(np.arange(60) % 5 == k)) for k in range(5)]


def test_a_bootstrap_of_losses_is_that_of_their_mean() -> None:
    """The same rows are drawn as for predicted numbers, so intervals are those of the losses themselves."""
    y, a, _ = case()
    inside = (a["0.05"] <= y) & (y <= a["0.95"])
    found = bootstrap((y, a), ["crps", "interval_coverage"], **QUICK)["interval_coverage"]
    losses = bootstrap((y * 0, inside * 1.0), "mean_error", **QUICK)["mean_error"]
    assert tuple(found.confidence_interval) == pytest.approx(tuple(losses.confidence_interval))
    assert found.standard_error == pytest.approx(losses.standard_error)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    y, a, _ = case(70_000)
    found = []
    for threads in (1, 3):
        with num_threads(threads):
            found.append((values_of(y, a), bootstrap((y, a), "wis", n_resamples=5, rng=0).to_dict()))
    assert found[0] == found[1]
