"""Summaries of class probabilities: exact or within bounds, in any parts and order, against rows in memory."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import fastevals
from fastevals import ClassRankings, metric
from fastevals.scale import Certified, CertifiedValues, ClassScoresSummary, parquet
from fastevals.scale.class_ranges import MOST_LEVEL, ProbabilityRanges
from fastevals.scale.class_scores import _ranges_for
from tests.reference import classes as reference
from tests.strategies import BOUNDED

NAMES = ["ant", "bee", "cow", "dog"]
AREAS = [
    "roc_auc", "average_precision", "hand_till", metric("roc_auc", average="micro"),
    metric("roc_auc", average="weighted"), metric("roc_auc", average=None),
    metric("roc_auc", multi_class="ovo", average="weighted"), metric("roc_auc", multi_class="ovo", average=None),
    metric("average_precision", average="micro"), metric("average_precision", average=None),
]  # fmt: skip
EXACT = [
    "log_loss", "brier_score", "ranked_probability_score", metric("top_k_accuracy", k=2),
    "top_label_calibration_error", metric("expected_calibration_error", average=None),
    metric("expected_calibration_error", average="micro"), "accuracy", "balanced_accuracy", "f1",
    metric("f1", average=None), "matthews", "cohen_kappa",
]  # fmt: skip


def rows(
    n: int, n_classes: int = 4, seed: int = 0, *, parts: int | None = None, spread: float = 1.5
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return true classes and probabilities; in multiples of 1 / `parts` if given."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    logits = rng.normal(size=(n, n_classes)) * spread
    logits[np.arange(n), y] += 1.0
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    return y, p if parts is None else rng.multinomial(parts, p) / parts


def counted(y: Any, p: Any, n_parts: int = 1, **options: Any) -> ClassScoresSummary:
    summary = ClassScoresSummary(range(p.shape[1]), ordered=True, **options)
    for part in np.array_split(np.arange(len(y)), n_parts):
        summary.update(y[part], p[part])
    return summary


def in_memory(classes: ClassRankings, spec: Any) -> Any:
    """Return a metric of rows in memory."""
    return fastevals.bootstrap(classes, {"it": spec}, n_resamples=9, rng=0)["it"].value


def bounds_of(found: Any) -> tuple[Any, Any]:
    if isinstance(found, (Certified, CertifiedValues)):
        return found.low, found.high
    return found, found


# Ranges ---------------------------------------------------------------------------------------------------------------


@BOUNDED
@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.integers(0, MOST_LEVEL))
def test_ranges_are_in_the_order_of_probabilities_and_nest(values: list[float], level: int) -> None:
    p = np.sort(np.array([*values, 0.0, 0.5, 1.0, np.nextafter(0.5, 1)]))
    ranges = ProbabilityRanges.of_level(level)
    found = ranges.find(p)
    assert (np.diff(found) >= 0).all()
    assert found[0] == 0
    assert found[-1] == ranges.size - 1
    coarser = ProbabilityRanges.of_level(max(level - 1, 0)).find(p)
    same = np.diff(found) == 0
    assert (np.diff(coarser)[same] == 0).all()  # a range is part of a range of the level below


def test_every_range_has_a_width_as_described() -> None:
    ranges = ProbabilityRanges.of_level(8)
    grid = np.arange(2**14 // 64, 2**14 - 2**14 // 64 + 1) / 2**14
    assert (np.diff(ranges.find(grid)) == 1)[grid[1:] < 0.5].all()
    upper = np.nextafter(grid[grid >= 0.5], 1)
    assert (np.diff(ranges.find(upper)) == 1).all()
    octave = 2.0**-20 * (1 + np.arange(256) / 256)
    assert (np.diff(ranges.find(octave)) == 1).all()
    assert np.unique(ranges.find(1 - octave)).size == 256


@pytest.mark.parametrize(
    ("n", "pairs", "rest"), [(2, 8, 8), (10, 8, 8), (17, 8, 8), (20, 7, 8), (100, 2, 8), (1000, None, 5)]
)
def test_the_memory_of_many_classes_is_limited(n: int, pairs: int | None, rest: int) -> None:
    found = _ranges_for(n, 2**15)
    assert [None if each is None else each.level for each in found] == [pairs, rest]


# Against rows in memory -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", EXACT, ids=str)
def test_losses_and_matrices_are_those_of_memory_to_the_bit(spec: Any) -> None:
    y, p = rows(3000)
    expected = in_memory(ClassRankings(y, p), spec)
    for n_parts in (1, 7):
        np.testing.assert_array_equal(counted(y, p, n_parts).metric(spec), expected)


@pytest.mark.cases(12)
@pytest.mark.parametrize("spec", AREAS, ids=str)
@pytest.mark.parametrize("cells", [256, 2**15])
def test_bounds_contain_the_areas_of_memory(spec: Any, cells: int) -> None:
    y, p = rows(3000)
    found, expected = counted(y, p, cells=cells).metric(spec), in_memory(ClassRankings(y, p), spec)
    low, high = bounds_of(found)
    assert np.all((low <= expected) & (expected <= high) | np.isnan(expected))
    assert isinstance(found, CertifiedValues if np.ndim(expected) else Certified)
    width = 0.03 if cells == 256 else 3e-4
    assert np.nanmax(np.subtract(high, low)) < width
    np.testing.assert_allclose(np.asarray(found.value), expected, rtol=0, atol=width / 2)


@pytest.mark.parametrize("spec", AREAS, ids=str)
def test_few_distinct_probabilities_are_exact(spec: Any) -> None:
    y, p = rows(2000, parts=20)
    found, expected = counted(y, p, 3).metric(spec), in_memory(ClassRankings(y, p), spec)
    assert isinstance(found, (float, np.ndarray))
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_pairs_are_those_of_the_slow_twin(seed: int) -> None:
    y, p = rows(25, 3, seed, parts=8 if seed % 2 else None)
    twins = reference.rows_of(y.tolist(), p.tolist(), [0, 1, 2])
    summary = counted(y, p, cells=256)
    found = summary.metric(metric("roc_auc", multi_class="ovo", average=None))
    low, high = bounds_of(found)
    assert low.shape == high.shape == (3,)
    for place, (j, k) in enumerate([(0, 1), (0, 2), (1, 2)]):
        both = [reference.pair_auc(twins, *pair) for pair in ((j, k), (k, j))]
        if None in both:
            assert np.isnan(low[place])
        else:
            exact = float(sum(both)) / 2
            assert low[place] - 1e-15 <= exact <= high[place] + 1e-15
            assert seed % 2 == 0 or low[place] == pytest.approx(exact, rel=1e-15)
    losses = [-math.log(p[i, each]) if p[i, each] else math.inf for i, each in enumerate(y)]
    brier = sum(Fraction((p[i, k] - (k == y[i])) ** 2) for i in range(25) for k in range(3)) / 25
    assert summary.metric("log_loss") == pytest.approx(np.mean(losses), rel=1e-14)
    assert summary.metric("brier_score") == pytest.approx(float(brier), rel=1e-14)


def test_rankings_and_curves_of_a_class() -> None:
    y, p = rows(4000)
    summary, classes = counted(y, p), ClassRankings(y, p)
    ranking, expected = summary.rankings()[1], classes.rankings[1]
    assert (ranking.n_positives, ranking.n_negatives) == (expected.n_positives, expected.n_negatives)
    assert ranking.roc_auc().low <= expected.roc_auc() <= ranking.roc_auc().high
    assert ranking.confusion_at(0.5).counts.tolist() == expected.confusion_at(0.5).counts.tolist()
    curve, exact = summary.calibration_curve()[1], expected.calibration_curve()
    np.testing.assert_array_equal(curve.mean_predicted, exact.mean_predicted)
    np.testing.assert_array_equal(curve.fraction_of_positives, exact.fraction_of_positives)
    top = classes.top_label().calibration_curve()
    np.testing.assert_array_equal(summary.top_label_curve().mean_predicted, top.mean_predicted)
    confidence, exact = summary.top_label_ranking(), classes.top_label()
    assert (confidence.n_positives, confidence.n_negatives) == (exact.n_positives, exact.n_negatives)
    assert confidence.roc_auc().low <= exact.roc_auc() <= confidence.roc_auc().high
    curve = confidence.risk_coverage_curve()
    low, high = sorted((curve.worst.area, curve.best.area))
    assert low <= exact.risk_coverage_curve().area <= high
    micro = summary.micro_ranking().roc_auc()
    assert micro.low <= classes.roc_auc(average="micro") <= micro.high
    interval = fastevals.bootstrap(ranking, "roc_auc", n_resamples=199, rng=0)["roc_auc"].confidence_interval
    assert interval.low < expected.roc_auc() < interval.high
    assert fastevals.delong(ranking).aucs[0] == pytest.approx(expected.roc_auc(), abs=1e-4)
    few = counted(*rows(200, parts=10))
    assert few.rankings()[2].roc_auc() == ClassRankings(*rows(200, parts=10)).rankings[2].roc_auc()


# Parts and order ------------------------------------------------------------------------------------------------------


def test_parts_in_any_order_are_the_same_bytes() -> None:
    y, p = rows(5000)
    whole = counted(y, p).to_bytes()
    shuffled = np.random.default_rng(1).permutation(5000)
    parts = [counted(y[some], p[some]) for some in np.array_split(shuffled, 9)]
    assert parts[0].merge(*parts[1:]).to_bytes() == whole
    left, right = parts[5].merge(*parts[6:]), parts[0].merge(*parts[1:5])
    assert left.merge(right).to_bytes() == whole
    assert ClassScoresSummary.from_bytes(whole).to_bytes() == whole


def test_classes_are_joined_by_name() -> None:
    y, p = rows(600)
    names, order = np.array(NAMES), [2, 0, 3, 1]
    first, second = ClassScoresSummary(NAMES), ClassScoresSummary(names[order])
    first.update(names[y[:300]], p[:300])
    second.update(names[y[300:]], p[300:][:, order])
    merged, whole = first.merge(second), ClassScoresSummary(NAMES)
    whole.update(names[y], p)
    assert merged.labels.tolist() == NAMES
    assert merged.metric("hand_till").value == pytest.approx(whole.metric("hand_till").value)
    for name in ("log_loss", "accuracy", metric("expected_calibration_error", average=None)):
        np.testing.assert_allclose(merged.metric(name), whole.metric(name), rtol=1e-14)
    assert merged.merge(ClassScoresSummary()).to_bytes() == ClassScoresSummary().merge(merged).to_bytes()
    with pytest.raises(ValueError, match=r"same classes, got 'ant', .* and 'ant', 'bee', 'cow', 'elk'"):
        first.merge(ClassScoresSummary(["ant", "bee", "cow", "elk"]))
    with pytest.raises(ValueError, match="same classes in the same order"):
        ClassScoresSummary(NAMES, ordered=True).merge(ClassScoresSummary(names[order], ordered=True))
    for name, options in {"ordered": {"ordered": True}, "n_bins": {"n_bins": 5}, "cells": {"cells": 999}}.items():
        with pytest.raises(ValueError, match=f"summaries must have the same {name}, got"):
            first.merge(ClassScoresSummary(NAMES, **options))


@pytest.mark.parametrize("kind", ["sample_weight", "frequency_weight"])
def test_integer_weights_are_repeated_rows(kind: str) -> None:
    y, p = rows(400)
    weights = np.random.default_rng(2).integers(0, 4, 400)
    summary = ClassScoresSummary(range(4), ordered=True)
    for some in np.array_split(np.arange(400), 3):
        summary.update(y[some], p[some], **{kind: weights[some]})
    repeated = counted(np.repeat(y, weights), np.repeat(p, weights, axis=0))
    if kind == "frequency_weight":
        assert summary.to_bytes() == repeated.to_bytes()
        return
    assert summary.n_samples == np.count_nonzero(weights)
    assert summary.n_units == weights.sum()
    for spec in [*EXACT, *AREAS]:
        np.testing.assert_allclose(
            np.asarray(summary.metric(spec), np.float64), np.asarray(repeated.metric(spec), np.float64), rtol=1e-12
        )
    drawn = fastevals.bootstrap((y, p.argmax(axis=1)), "accuracy", sample_weight=weights, n_resamples=4000, rng=0)
    assert summary.standard_error("accuracy") == pytest.approx(drawn["accuracy"].standard_error, rel=0.05)
    again = fastevals.bootstrap(summary, "accuracy", n_resamples=4000, rng=0)["accuracy"]
    assert again.standard_error == pytest.approx(drawn["accuracy"].standard_error, rel=0.05)
    assert ClassScoresSummary.from_bytes(summary.to_bytes()).to_bytes() == summary.to_bytes()


def test_weights_among_rows_without() -> None:
    y, p = rows(300)
    weights = np.random.default_rng(2).integers(1, 9, 300)
    weights[:100] = 1
    mixed, whole = ClassScoresSummary(range(4)), ClassScoresSummary(range(4))
    mixed.update(y[:100], p[:100])
    mixed.update(y[100:], p[100:], sample_weight=weights[100:])
    whole.update(y, p, sample_weight=weights)
    assert mixed.to_bytes() == whole.to_bytes()
    losses = -np.log(p[np.arange(300), y])
    mean = np.average(losses, weights=weights)
    error = np.sqrt((weights**2 * (losses - mean) ** 2).sum()) / weights.sum()
    assert whole.metric("log_loss") == pytest.approx(mean, rel=1e-13)
    assert whole.standard_error("log_loss") == pytest.approx(error, rel=1e-10)


# Intervals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["log_loss", "brier_score", "ranked_probability_score"])
def test_standard_errors_are_those_of_means(name: str) -> None:
    y, p = rows(3000)
    hot = np.eye(4)[y]
    losses = {
        "log_loss": -np.log(p[np.arange(3000), y]),
        "brier_score": ((p - hot) ** 2).sum(axis=1),
        "ranked_probability_score": ((p - hot).cumsum(axis=1)[:, :-1] ** 2).sum(axis=1) / 3,
    }[name]
    summary = counted(y, p)
    assert summary.standard_error(name) == pytest.approx(losses.std() / math.sqrt(3000), rel=1e-10)
    low, high = summary.confidence_interval(name)
    assert (low + high) / 2 == pytest.approx(losses.mean(), rel=1e-12)
    assert high - low == pytest.approx(2 * 1.959964 * losses.std() / math.sqrt(3000), rel=1e-6)


def test_rates_have_wilsons_interval() -> None:
    y, p = rows(500)
    summary = counted(y, p)
    expected = fastevals.proportion_interval(summary.matrix(), "accuracy", confidence_level=0.9)
    assert summary.confidence_interval("accuracy", 0.9) == pytest.approx(tuple(expected))
    first = summary.confidence_interval(metric("top_k_accuracy", k=1), 0.9)
    assert first == pytest.approx(tuple(expected))
    high = summary.confidence_interval("error_rate", 0.9).high
    assert high == pytest.approx(1 - expected.low)
    assert summary.confidence_interval(metric("top_k_accuracy", k=9)).high == 1
    with pytest.raises(ValueError, match="roc_auc is not a mean over rows"):
        summary.standard_error("roc_auc")


def test_a_bootstrap_draws_from_the_matrix() -> None:
    y, p = rows(500)
    summary = counted(y, p)
    names = {"f1": metric("f1", average="macro"), "matthews": metric("matthews")}
    drawn = fastevals.bootstrap(summary, ["f1", "matthews"], n_resamples=99, rng=0)
    expected = fastevals.bootstrap(summary.matrix(), names, n_resamples=99, rng=0)
    assert drawn["f1"].value == summary.metric("f1")
    assert drawn["f1"].confidence_interval == expected["f1"].confidence_interval
    assert drawn["matthews"].confidence_interval == expected["matthews"].confidence_interval
    other = counted(*rows(400, seed=1))
    change = fastevals.bootstrap_unpaired(other, summary, "f1", n_resamples=99, rng=0)["f1"]
    assert change.value == pytest.approx(other.metric("f1") - summary.metric("f1"))
    for name in ("roc_auc", "log_loss"):
        with pytest.raises(ValueError, match=f"{name} has no bootstrap from a summary of class probabilities"):
            fastevals.bootstrap(summary, name, n_resamples=9)


def test_a_report_is_made_of_the_summary_or_the_matrix() -> None:
    summary = counted(*rows(300))
    found = fastevals.report(summary, label="y", n_resamples=19, rng=0).to_dict()
    assert found["blocks"][0]["models"][0]["metrics"]["log_loss"] == summary.metric("log_loss")
    assert "accuracy" in fastevals.report(summary.matrix(), n_resamples=19, rng=0).to_text()


# Hostile input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y, p: (y, np.where(np.arange(40).reshape(10, 4) == 13, np.nan, p)), r"y_score\[:, 1\] .* row 3"),
        (lambda y, p: (y, p * 1.5), r"y_score must hold probabilities|rows that add up to 1"),
        (lambda y, p: (y, p * 0.5), "rows that add up to 1"),
        (lambda y, p: (y, p - 0.1), "probabilities"),
        (lambda y, p: (y, p[:, :3]), "y_score has 3 columns, but labels has 4"),
        (lambda y, p: (y + 1, p), "4"),
        (lambda y, p: (y[:-1], p), "y_score has 10 rows, but y_true has 9"),
        (lambda y, p: (np.eye(4)[y], p), "one label per row"),
        (lambda y, p: (np.array(NAMES)[y], p), "one type"),
        (lambda y, p: (y, p[:, 0]), "2-D"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_counted_change_nothing(change: Any, message: str) -> None:
    y, p = rows(10)
    summary = counted(y, p)
    before = summary.to_bytes()
    with pytest.raises(ValueError, match=message):
        summary.update(*change(np.arange(10) % 4, p))
    for weights, said in (
        ({"sample_weight": np.full(10, 0.5)}, "whole numbers"),
        ({"sample_weight": np.full(10, 2**26)}, r"sample_weight must be below 2\*\*26, got 67108864"),
        ({"sample_weight": np.ones(9)}, "sample_weight"),
        ({"frequency_weight": np.full(10, 2**35)}, r"at most 2\*\*36, got"),
    ):
        with pytest.raises(ValueError, match=said):
            summary.update(y, p, **weights)
    assert summary.to_bytes() == before


def test_arrays_of_many_kinds_are_counted_alike() -> None:
    y, p = rows(200)
    p = p.astype(np.float32)
    whole = counted(y, p.astype(np.float64)).to_bytes()
    frozen, strided = p.copy(), np.zeros((400, 8), np.float32)
    frozen.flags.writeable = False
    strided[::2, ::2] = p
    for each in (p, frozen, strided[::2, ::2], np.asfortranarray(p), p.astype(">f4"), p.tolist()):
        summary = ClassScoresSummary(range(4), ordered=True)
        summary.update(y.tolist(), each)
        assert summary.to_bytes() == whole
    pd = pytest.importorskip("pandas")
    summary = ClassScoresSummary(range(4), ordered=True)
    summary.update(pd.Series(y), pd.DataFrame(p))
    assert summary.to_bytes() == whole


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 3, 1]])
def test_columns_of_frames_are_matched_by_name(order: list[int]) -> None:
    pd = pytest.importorskip("pandas")
    y, p = rows(200)
    names = np.array(NAMES)
    frame = pd.DataFrame(p[:, order], columns=names[order])
    summary, whole = ClassScoresSummary(NAMES), ClassScoresSummary(NAMES)
    summary.update(names[y], frame)
    whole.update(names[y], p)
    assert summary.to_bytes() == whole.to_bytes()
    assert ClassRankings(names[y], frame).hand_till() == ClassRankings(y, p).hand_till()
    # Default names are positions, and names of other classes tell nothing.
    for columns in (range(4), ["a", "b", "c", "d"]):
        by_position = ClassRankings(y, pd.DataFrame(p[:, order], columns=columns), labels=order)
        assert by_position.roc_auc() == pytest.approx(ClassRankings(y, p).roc_auc(), rel=1e-14)


def test_hard_labels_ties_and_absent_classes() -> None:
    y = np.array([0, 1, 1, 3])
    p = np.eye(4)[[0, 1, 0, 3]]
    summary = counted(y, p)
    assert summary.metric("log_loss") == math.inf
    assert math.isnan(summary.standard_error("log_loss"))
    assert summary.metric("accuracy") == 0.75
    assert summary.metric(metric("top_k_accuracy", k=2)) == 1.0
    assert summary.support.tolist() == [1, 2, 0, 1]
    with pytest.warns(fastevals.UndefinedMetricWarning, match="no rows"):
        values = summary.metric(metric("roc_auc", average=None))
    np.testing.assert_array_equal(values, [5 / 6, 0.75, np.nan, 1.0])
    with pytest.warns(fastevals.UndefinedMetricWarning):
        assert math.isnan(summary.metric("hand_till"))
    even = counted(np.array([0, 1, 2, 3]), np.full((4, 4), 0.25))
    assert even.matrix().counts[:, 0].tolist() == [1, 1, 1, 1]  # the first of equal probabilities
    assert even.metric("hand_till") == 0.5
    assert even.metric(metric("top_k_accuracy", k=3)) == 0.75


def test_two_classes_are_those_of_a_ranking() -> None:
    y, p = rows(1000, 2)
    summary, ranking = counted(y, p), fastevals.Ranking(y, p[:, 1])
    assert summary.metric("log_loss") == pytest.approx(ranking.log_loss(), rel=1e-12)
    assert summary.metric("brier_score") == pytest.approx(2 * ranking.brier_score(), rel=1e-12)
    area = summary.metric("hand_till")
    assert area.low - 1e-12 <= ranking.roc_auc() <= area.high + 1e-12
    assert summary.matrix().counts.tolist() == ranking.confusion_at(0.5).counts.tolist()


@pytest.mark.slow
def test_many_classes_have_no_pairs() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(300, 0.05), 900)
    y = np.append(np.arange(300), p[300:].argmax(axis=1))
    summary = ClassScoresSummary(range(300), cells=1024)
    summary.update(y, p)
    expected = ClassRankings(y, p).roc_auc()
    found = summary.metric("roc_auc")
    assert found.low <= expected <= found.high
    with pytest.raises(ValueError, match="hand_till needs counts for each pair of classes"):
        summary.metric("hand_till")
    assert ClassScoresSummary.from_bytes(summary.to_bytes()).metric("roc_auc") == found


def test_options_are_checked() -> None:
    y, p = rows(50)
    summary = ClassScoresSummary()
    with pytest.raises(ValueError, match="the summary has no rows"):
        summary.metric("log_loss")
    summary.update(y, p)
    assert summary.labels.tolist() == [0, 1, 2, 3]
    assert repr(summary) == "ClassScoresSummary(50 rows of 4 classes)"
    with pytest.raises(ValueError, match="needs ordered classes"):
        summary.metric("ranked_probability_score")
    with pytest.raises(ValueError, match="10 bins of equal width"):
        summary.metric(metric("expected_calibration_error", n_bins=5))
    for unknown in ("smooth_calibration_error", metric("brier_score", average=None), "coverage_error"):
        with pytest.raises(ValueError, match="needs the rows"):
            summary.metric(unknown)
    with pytest.raises(ValueError, match="average must be"):
        summary.calibration_curve(average="macro")
    with pytest.raises(ValueError, match="two classes or more"):
        ClassScoresSummary(["one"])
    with pytest.raises(ValueError, match="labels must be fewer"):
        ClassScoresSummary(range(10_000), n_bins=1000)


def test_counts_beyond_64_bits_are_exact() -> None:
    y, p = rows(40, 3, parts=6)
    summary = ClassScoresSummary(range(3))
    summary.update(y, p)
    for _ in range(30):  # 40 * 2**30 rows
        summary = summary.merge(summary)
    assert summary.n_samples == 40 * 2**30
    once = counted(y, p)
    for spec in ("hand_till", "roc_auc", "log_loss", "accuracy"):
        assert summary.metric(spec) == pytest.approx(once.metric(spec), rel=1e-13)
    with pytest.raises(ValueError, match="at most 2"):
        summary.merge(summary)


# Files and engines ----------------------------------------------------------------------------------------------------


def table(n: int = 3000, *, names: bool = True) -> Any:
    pa = pytest.importorskip("pyarrow")
    y, p = rows(n)
    columns = {f"p_{name if names else k}": p[:, k] for k, name in enumerate(NAMES)}
    w = np.random.default_rng(3).integers(0, 3, n)
    return pa.table({"y": np.array(NAMES)[y] if names else y, "day": np.arange(n) % 2, "w": w, **columns})


def test_files_are_counted_as_arrays(tmp_path: Any) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    y, p = rows(3000)
    pq.write_table(table(), tmp_path / "a.parquet", row_group_size=700)
    expected = ClassScoresSummary(NAMES, ordered=True)
    expected.update(np.array(NAMES)[y], p)
    for probabilities, classes in (("p_*", None), ([f"p_{name}" for name in NAMES], NAMES), ("p_*", NAMES)):
        found = parquet.class_scores_summary(
            str(tmp_path / "*.parquet"), label="y", probabilities=probabilities, classes=classes, ordered=True
        )
        assert found.to_bytes() == expected.to_bytes()
    numbers = parquet.class_scores_summary(table(names=False), label="y", probabilities="p_*", ordered=True)
    assert numbers.to_bytes() == counted(y, p).to_bytes()
    other = parquet.class_scores_summary(table(), label="y", probabilities="p_*", classes=NAMES[::-1])
    assert other.labels.tolist() == NAMES[::-1]
    assert other.metric("log_loss") == expected.metric("log_loss")


def test_columns_of_lists_are_counted_as_columns_of_classes(tmp_path: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("cloudpickle")
    from tests.scale.local_frames import LOCAL, LocalFrame

    whole, (_, p) = table(), rows(3000)
    lists = whole.select(["y", "day"]).append_column("p", pa.array(p.tolist()))
    expected = parquet.class_scores_summary(whole, label="y", probabilities="p_*").to_bytes()
    asked = {"label": "y", "probabilities": "p", "classes": NAMES}
    assert parquet.class_scores_summary(lists, **asked).to_bytes() == expected
    frame = LocalFrame([lists.slice(0, 1000), lists.slice(1000)])
    assert LOCAL.class_scores_summary(frame, **asked).to_bytes() == expected
    with pytest.raises(ValueError, match="classes must name the classes of the lists in column 'p'"):
        parquet.class_scores_summary(lists, label="y", probabilities="p")
    with pytest.raises(ValueError, match="must have 3 probabilities per row, one per class, got 4"):
        parquet.class_scores_summary(lists, **asked | {"classes": NAMES[:3]})


def test_partitions_are_counted_as_one_array() -> None:
    pytest.importorskip("cloudpickle")
    from tests.scale.local_frames import LOCAL, LocalFrame

    whole = table()
    frame = LocalFrame([whole.slice(0, 0), whole.slice(0, 1), whole.slice(1, 1999), whole.slice(2000)], [2, 3, 0, 1])
    asked = {"label": "y", "probabilities": "p_*", "cells": 1000}
    expected = parquet.class_scores_summary(whole, **asked)
    assert LOCAL.class_scores_summary(frame, **asked).to_bytes() == expected.to_bytes()
    for weight in ("sample_weight", "frequency_weight"):
        found = LOCAL.class_scores_summary(frame, **asked, **{weight: "w"})
        assert found.to_bytes() == parquet.class_scores_summary(whole, **asked, **{weight: "w"}).to_bytes()
    by_day = LOCAL.class_scores_summary(frame, **asked, by="day")
    assert list(by_day) == [0, 1]
    assert by_day[0].merge(by_day[1]).to_bytes() == expected.to_bytes()
    with pytest.raises(ValueError, match="no column matches 'q_"):
        LOCAL.class_scores_summary(frame, label="y", probabilities="q_*")
    with pytest.raises(ValueError, match="n_bins must be"):
        LOCAL.class_scores_summary(frame, **asked, n_bins=0)


def test_rows_of_files_that_cannot_be_counted() -> None:
    whole = table(50)
    half = whole.set_column(3, "p_ant", [[0.9] * 50])
    with pytest.raises(ValueError, match=r"column 'p_ant ... p_dog' must have rows that add up to 1.*rows from row 0"):
        parquet.class_scores_summary(half, label="y", probabilities="p_*")
    lacking = whole.set_column(3, "p_ant", [[None, *whole["p_ant"].to_pylist()[1:]]])
    with pytest.raises(ValueError, match="column 'p_ant' has 1 missing value"):
        parquet.class_scores_summary(lacking, label="y", probabilities="p_*")
    found = parquet.class_scores_summary(lacking, label="y", probabilities="p_*", on_invalid="drop")
    assert found.n_samples == 49
    with pytest.raises(ValueError, match="missing: 'dog'"):
        parquet.class_scores_summary(whole.drop_columns(["p_dog"]), label="y", probabilities="p_*")
    with pytest.raises(ValueError, match="has no rows that can be counted"):
        parquet.class_scores_summary(whole.slice(0, 0), label="y", probabilities="p_*")


def test_half_precision() -> None:
    rng = np.random.default_rng(5)
    y, p = rng.integers(0, 3, 90), rng.dirichlet([1, 1, 1], 90).astype(np.float16)
    summary = ClassScoresSummary()
    summary.update(y, p)
    classes = ClassRankings(y, p)
    assert summary.metric("log_loss") == classes.log_loss()
    assert abs(float(summary.metric("roc_auc")) - classes.roc_auc()) < 1e-3


def test_what_needs_rows_is_said() -> None:
    summary = ClassScoresSummary()
    summary.update([0, 1], [[0.5, 0.5], [0.25, 0.75]])
    for spec, lacking in (
        (metric("f1", threshold=[0.5, 0.4]), "several thresholds"),
        (metric("f1", threshold=0.5, average="samples"), "a row's labels"),
    ):
        with pytest.raises(ValueError, match=f"needs the rows: a summary .* does not count {lacking}"):
            summary.metric(spec)
