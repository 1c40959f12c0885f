"""Units of rows: draws counted by cells, and accelerations against plain leave-one-out."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest

from fastevals import ConfusionMatrix, Ranking, bootstrap, compare_rankings, metric, regression_metrics
from fastevals._random import seed_key
from fastevals.infer.bootstrap import samples as base
from fastevals.infer.bootstrap.row_samples import CellCounter, SamplingUnits, zero_bytes
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_sample, make_score_sample
from fastevals.measure.metric_specs import parse_metrics
from fastevals.measure.registry import METRICS

KEY = np.uint64(11)


@pytest.mark.parametrize("kind", ["rows", "rows in order", "weights", "groups"])
@pytest.mark.parametrize("n", [1, 7, 8, 4095, 4096, 4097, 8192, 20_001])
def test_draws_are_counted_by_cells(n, kind):
    rng = np.random.default_rng(n)
    n_cells = max(n // 3, 2)
    cells = rng.integers(0, n_cells, n)  # some cells have no rows
    if kind == "rows in order":
        cells.sort()
    rows = np.argsort(cells, kind="stable")
    weights = rng.random(n) + 0.1 if kind == "weights" else None
    units = SamplingUnits.number(n, rng.integers(0, 50, n) if kind == "groups" and n > 7 else None, None)
    counter = CellCounter(rows, cells[rows], n_cells, units, weights)
    times = zero_bytes(units.n)
    times[: units.n] = rng.integers(0, 5 if n > 60 else 200 // n, units.n)
    drawn, counts = counter.scratch(), np.full(n_cells, 99, dtype=np.float64 if counter.sums else np.int32)
    counter.count(times, drawn, counts)
    expected = np.bincount(cells, times[units.unit_by_row] * (1 if weights is None else weights), n_cells)
    np.testing.assert_allclose(counts, expected, rtol=1e-13)


def test_the_two_classes_are_drawn_apart():
    y, s = np.arange(400) % 2, np.arange(400.0)
    sample = make_score_sample(y, {"a": s, "b": -s}, parse_metrics("roc_auc"), SamplingDesign(stratified=True))
    draws = np.array([times.copy() for times in sample.draws(seed_key("rng", 0), range(200), sample.workspace())])
    positives, negatives = draws[:, :200].astype(float), draws[:, 200:400].astype(float)
    assert not (positives == negatives).all(axis=1).any()
    assert abs(np.corrcoef(positives.ravel(), negatives.ravel())[0, 1]) < 0.02


# Accelerations ----------------------------------------------------------------------------------------------------


def slow_acceleration(value, units: np.ndarray, strata: np.ndarray | None = None) -> float:
    """Leave out the rows of each unit in turn: Davison and Hinkley (1997), (5.24) and (5.25)."""
    names = np.unique(units)
    left = np.array([value(units != name) for name in names])
    of = np.zeros(len(names)) if strata is None else np.array([strata[units == name][0] for name in names])
    cubes = squares = 0.0
    for stratum in np.unique(of):
        each = left[of == stratum]
        influence = (each.mean() - each) * (1 - 1 / each.size)
        cubes, squares = cubes + (influence**3).sum(), squares + (influence**2).sum()
    return cubes / (6 * squares**1.5)


def example(n: int = 90) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    y = (np.arange(n) < n // 3).astype(int)
    return y, np.round(rng.normal(size=n) + y, 1), rng.random(n) + 0.2, np.arange(n) // 3


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "ks_statistic"])
def test_rankings(name, weighted, grouped, stratified):
    y, s, w, g = example()
    options = {"sample_weight": w if weighted else None, "groups": g if grouped else None, "stratified": stratified}
    sample = make_sample((y, s), parse_metrics(name), SamplingDesign(**options))

    def value(rows):
        return float(getattr(Ranking(y[rows], s[rows], sample_weight=w[rows] if weighted else None), name)())

    expected = slow_acceleration(value, g if grouped else np.arange(90), y if stratified else None)
    assert sample.accelerations(KEY, [0])[0] == pytest.approx(expected, rel=1e-8, abs=1e-11)


@pytest.mark.parametrize("grouped", [False, True])
def test_labels(grouped):
    y, s, w, g = example()
    predicted, units = (s > 0.5).astype(int), g if grouped else np.arange(90)
    options = {"sample_weight": w, "groups": g if grouped else None}
    sample = make_sample((y, predicted), parse_metrics(metric("f_score", average="macro")), SamplingDesign(**options))

    def f_score(rows):
        matrix = ConfusionMatrix.from_predictions(y[rows], predicted[rows], sample_weight=w[rows])
        return matrix.f_score(average="macro")

    assert sample.accelerations(KEY, [0])[0] == pytest.approx(slow_acceleration(f_score, units), rel=1e-8)


@pytest.mark.parametrize(
    ("name", "scale", "grouped", "weighted"),
    [
        pytest.param(
            name, scale, grouped, weighted, marks=[pytest.mark.slow] if scale != 1 and grouped != weighted else []
        )
        for grouped, weighted in product([False, True], repeat=2)
        for name, metric in METRICS.items()
        for scale in (1.0, 2.0**-600, 2.0**600)
        # Percentages replace tiny targets by larger ones.
        if metric.of == "targets" and (scale >= 1 or name != "mean_absolute_percentage_error")
    ],
)
def test_regression(name, grouped, weighted, scale):
    y, s, w, g = example()
    y = y + np.arange(90) / 100
    options = {"sample_weight": w if weighted else None, "groups": g if grouped else None}
    sample = make_sample((y * scale, s * scale), parse_metrics(name), SamplingDesign(**options))

    def error(rows):
        return getattr(regression_metrics(y[rows], s[rows], sample_weight=w[rows] if weighted else None), name)

    expected = slow_acceleration(error, g if grouped else np.arange(90))
    assert sample.accelerations(KEY, [0])[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("stratified", [False, True])
def test_tables_and_stacks(stratified):
    counts = np.array([[[9, 3, 1], [2, 12, 2], [1, 0, 6]], [[4, 4, 1], [2, 2, 2], [1, 3, 6]]])
    name = metric("precision", average="macro")
    found = make_sample(
        ConfusionMatrix(counts), parse_metrics(name), SamplingDesign(stratified=stratified)
    ).accelerations(KEY, [0])[0]
    for member, table in enumerate(counts):
        true, predicted = (np.repeat(index.ravel(), table.ravel()) for index in np.indices((3, 3)))

        def value(rows, true=true, predicted=predicted):
            matrix = ConfusionMatrix.from_predictions(true[rows], predicted[rows], labels=[0, 1, 2])
            return matrix.precision(average="macro")

        expected = slow_acceleration(value, np.arange(true.size), true if stratified else None)
        assert found[member] == pytest.approx(expected, rel=1e-8)


@pytest.mark.slow
def test_a_large_stack_takes_no_longer_for_its_members():
    ranking = Ranking(np.arange(500) % 3 == 0, np.arange(500) % 7 + np.arange(500) % 3)
    stack = ranking.confusion_at(np.linspace(0, 9, 300))
    sample = make_sample(stack, parse_metrics("accuracy"), SamplingDesign())
    seen = []
    measure = sample.measure
    sample.measure = lambda draws, n, space: seen.append(n) or measure(draws, n, space)  # type: ignore[method-assign]
    sample.accelerations(KEY, [0])
    assert sum(seen) <= 4 * 300


def test_random_groups_share_out_all_units():
    y, s, w, _ = example()
    sample = make_sample((y, s), parse_metrics("roc_auc"), SamplingDesign(sample_weight=w, stratified=True))
    for part in sample.strata:
        groups = sample.draw_groups(KEY, part)
        left = np.array([sample.without_group(groups, number, part) for number in range(base.GROUPS)])
        assert (left.sum(axis=0) == base.GROUPS - 1).all()


@pytest.mark.parametrize("stratified", [False, True])
def test_groups_of_units_stand_for_units_where_there_are_many(stratified):
    rng = np.random.default_rng(5)
    y = np.arange(1500) < 75
    s, w = rng.normal(size=1500) + 2 * y, rng.random(1500) + 0.5
    sample = make_sample((y, s), parse_metrics("roc_auc"), SamplingDesign(sample_weight=w, stratified=stratified))
    found = [sample.accelerations(np.uint64(key), [0])[0] for key in range(4)]
    few = sample._one_left_out()[0]
    exact = base.jackknife_acceleration(*few)
    assert abs(exact) > 0.02
    np.testing.assert_allclose(found, exact, atol=4 * 0.41 / base.GROUPS)


# Memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    ["models", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("ranking", "groups", "targets", "labels"))],
)
def test_memory_does_not_grow_with_rows_times_replicates(kind):
    rng = np.random.default_rng(0)
    n = 20_000
    y, s = rng.random(n) < 0.2, rng.normal(size=n)
    ranking = Ranking(y, s)
    calls = {
        "ranking": lambda n_resamples: bootstrap(ranking, "roc_auc", n_resamples=n_resamples),
        "groups": lambda n_resamples: bootstrap((y, s), "roc_auc", groups=np.arange(n) // 2, n_resamples=n_resamples),
        "models": lambda n_resamples: compare_rankings(y, [s, -s], n_resamples=n_resamples),
        "targets": lambda n_resamples: bootstrap((s, y), "mean_squared_error", n_resamples=n_resamples),
        "labels": lambda n_resamples: bootstrap((y, s > 0), "recall", n_resamples=n_resamples),
    }
    peaks = []
    for n_resamples in (420, 420, 820):  # the first call loads code; calls draw several at a time
        tracemalloc.start()
        calls[kind](n_resamples)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] - peaks[1] < 400 * 8 * 40 + 300_000  # 400 x n would be 8 MB in bytes, 64 in floats
