"""Bands of macro and micro curves: each replicate against the curve of the rows drawn, coverage, odd input."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benches.class_bands import Design, covers, true_lines
from fastevals import ClassRankings, Ranking, UndefinedMetricWarning, confidence_band, num_threads
from fastevals.infer.class_bands import AverageCurves, AverageTube, sizes_of
from tests.strategies import BOUNDED

GRID = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
AVERAGES = ["macro", "micro"]


def example(n: int = 300, k: int = 4, seed: int = 0, *, multilabel: bool = False) -> ClassRankings:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    scores = rng.normal(size=(n, k)).round(1)
    scores[np.arange(n), y] += 1.5
    if multilabel:
        return ClassRankings((np.eye(k)[y] + (rng.random((n, k)) < 0.1)) > 0, scores)
    return ClassRankings(y, scores)


def counts_of(made: ClassRankings, average: str) -> list[Any]:
    return [each.counts for each in ([made._as_one()] if average == "micro" else made.rankings)]


@BOUNDED
@given(
    st.integers(0, 10**6), st.sampled_from(AVERAGES), st.sampled_from(["roc", "precision_recall"]), st.booleans(),
    st.booleans(), st.sampled_from([np.float64, np.float32, np.int64]),
)  # fmt: skip
def test_a_replicate_is_the_curve_of_the_rows_drawn(
    seed: int, average: str, curve: str, stratified: bool, multilabel: bool, dtype: Any
) -> None:
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 5)), int(rng.integers(6, 15))
    scores = rng.integers(0, 6, (n, k)).astype(dtype)
    y: Any = rng.permutation(np.arange(n) % k)
    stratified = stratified and not multilabel
    if multilabel:
        y = (np.eye(k)[y] + (rng.random((n, k)) < 0.1)) > 0
    made = ClassRankings(y, scores)
    sample = AverageCurves(made._scores, counts_of(made, average), curve, GRID, stratified=stratified)
    space = sample.workspace()
    (drawn,) = (each.copy() for each in sample.draws(np.uint64(seed), range(1), space))
    (found,) = sample.measure([drawn], 1, space)[0]
    order = np.argsort(y, kind="stable") if stratified else np.arange(n)
    rows = np.repeat(order, drawn[:n])
    again = ClassRankings(y[rows], scores[rows], labels=range(k))
    if any(not each.n_positives or not each.n_negatives for each in again.rankings):
        assert average == "micro" or np.isnan(found).all()
        return
    place = {"fpr": GRID} if curve == "roc" else {"recall": GRID}
    if average == "micro":
        expected = getattr(again, f"{curve}_curve")(average="micro").at(**place)
    else:  # between recalls of other classes, the macro curve is not the mean of the curves
        expected = np.mean([each.at(**place) for each in getattr(again, f"{curve}_curve")().values()], axis=0)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("average", AVERAGES)
def test_the_distance_of_the_original_rows_is_nil(average: str, multilabel: bool) -> None:
    made = example(multilabel=multilabel)
    counts = counts_of(made, average)
    sample = AverageTube(made._scores, counts, sizes_of(counts), stratified=False)
    assert sample.original() == pytest.approx(made.roc_curve(average=average).at(fpr=sample._grid), rel=1e-9)
    once, twice = np.ones_like(sample.sizes), 2 * np.ones_like(sample.sizes)
    (distances,) = sample.measure([once, twice], 2, sample.workspace())
    assert distances.max() < 0.1  # its vertices and the points measured have different places
    (distances,) = sample.replicates(50, np.uint64(7))
    assert 0.5 < np.median(distances) < 4


def test_sizes() -> None:
    made = ClassRankings([0] * 10 + [1] * 10 + [2] * 20, np.random.default_rng(0).normal(size=(40, 3)))
    assert sizes_of(counts_of(made, "macro")) == (round(9 / (2 / 30 + 1 / 20)), 36)
    assert sizes_of(counts_of(made, "micro")) == (80, 40)


@pytest.mark.parametrize("average", AVERAGES)
def test_the_same_bits_at_any_number_of_threads(average: str) -> None:
    found = []
    for n in (1, 2):
        with num_threads(n):
            found.append(confidence_band(example(), average=average, rng=5, n_resamples=300))
    assert np.array_equal(found[0].low, found[1].low)
    assert np.array_equal(found[0].high, found[1].high)


@pytest.mark.parametrize("average", AVERAGES)
def test_the_band_is_around_the_curve(average: str) -> None:
    made = example()
    band = confidence_band(made, average=average, rng=0, n_resamples=200)
    curve = made.roc_curve(average=average).at(fpr=band.x)
    assert ((band.low <= curve) & (curve <= band.high)).all()
    assert (band.average, band.method, band.kind) == (average, "studentised", "simultaneous")
    assert repr(band).startswith(f"ConfidenceBand(roc, {average}, ")
    wider = confidence_band(made, average=average, rng=0, n_resamples=200, confidence_level=0.99)
    assert np.trapezoid(wider.high - wider.low, wider.x) > np.trapezoid(band.high - band.low, band.x)
    few = confidence_band(made, average=average, rng=0, n_resamples=200, at=[0.2, 0.5])
    assert few.x.tolist() == [0.2, 0.5]
    assert few.low == pytest.approx(np.interp(few.x, band.x, band.low), abs=5e-3)


def test_macro_is_the_default_and_two_classes_resemble_one_ranking() -> None:
    made = example()
    assert confidence_band(made, rng=0, n_resamples=99).average == "macro"
    rng = np.random.default_rng(3)
    y, s = np.arange(400) % 2, rng.normal(size=400)
    s += y
    two = confidence_band(ClassRankings(y, np.stack([-s, s], axis=1)), average="micro", rng=0, at=[0.2, 0.5, 0.8])
    one = confidence_band(Ranking(y, s), rng=0, at=[0.2, 0.5, 0.8])
    assert two.high - two.low == pytest.approx(one.high - one.low, rel=0.35)


def test_pointwise_bands_are_percentiles_of_replicates() -> None:
    made = example()
    for curve in ("roc", "precision_recall"):
        band = confidence_band(made, curve, average="macro", kind="pointwise", at=GRID, rng=0, n_resamples=400)
        middle = np.mean([each.at(GRID) for each in getattr(made, f"{curve}_curve")().values()], axis=0)
        assert ((band.low < middle) & (middle < band.high)).all()
        kept = confidence_band(
            made, curve, average="macro", kind="pointwise", at=GRID, rng=0, n_resamples=400, stratified=True
        )
        assert not np.array_equal(kept.low, band.low)


def test_replicates_without_a_class_are_left_out() -> None:
    y = np.append(np.arange(58) % 2, [2, 2])
    made = ClassRankings(y, np.random.default_rng(0).normal(size=(60, 3)) + 2 * np.eye(3)[y])
    for kind in ("simultaneous", "pointwise"):
        with pytest.warns(
            UndefinedMetricWarning, match=r"the roc band is undefined in \d+ of 300 bootstrap replicates"
        ):
            band = confidence_band(made, kind=kind, rng=0, n_resamples=300, at=GRID)
        assert 10 < band.n_undefined < 80
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not confidence_band(made, kind=kind, stratified=True, rng=0, n_resamples=300, at=GRID).n_undefined


def test_what_is_refused() -> None:
    made = example(40)
    for options, message in (
        ({"method": "kolmogorov"}, "method must be 'studentised' for ClassRankings"),
        ({"average": "weighted"}, "average must be one of 'macro', 'micro'; got 'weighted'"),
        ({"curve": "precision_recall"}, "average='macro' has no simultaneous band of the precision-recall curve"),
    ):
        with pytest.raises(ValueError, match=message):
            confidence_band(made, **options)
    with pytest.raises(ValueError, match="average applies only to ClassRankings, got 'macro' with one ranking"):
        confidence_band(made.rankings[0], average="macro")
    weighted = ClassRankings([0, 1, 0, 1], np.eye(4)[:, :2], sample_weight=[1, 2, 1, 1])
    with pytest.raises(ValueError, match="ranking must count rows, but has weights"):
        confidence_band(weighted)
    with pytest.raises(ValueError, match="stratified=True needs one label per row"):
        confidence_band(example(40, multilabel=True), stratified=True)
    lacking = ClassRankings([0, 0, 1, 1], np.random.default_rng(0).normal(size=(4, 3)), labels=range(3))
    with pytest.raises(ValueError, match="average='macro' needs rows of each class and outside it"):
        confidence_band(lacking)
    with pytest.raises(ValueError, match="average='micro' needs a positive and a negative cell"):
        confidence_band(ClassRankings(np.ones((4, 3)), np.random.default_rng(0).normal(size=(4, 3))), average="micro")


def test_the_true_curves_of_the_simulation_are_those_of_many_rows() -> None:
    from benches.class_bands import drawn

    design = Design(3, 200_000, 0.5, 1.5)
    made = drawn(design, 0)
    at = np.linspace(0.01, 0.99, 25)
    for average in AVERAGES:
        true = np.mean([np.interp(at, *line) for line in true_lines(design, average)], axis=0)
        assert made.roc_curve(average=average).at(fpr=at) == pytest.approx(true, abs=0.012)


@pytest.mark.parametrize(("n", "fewest"), [(15, 12), pytest.param(60, 51, marks=pytest.mark.slow)])
@pytest.mark.parametrize("average", AVERAGES)
def test_the_true_curve_is_inside(average: str, n: int, fewest: int) -> None:
    """Of n bands at 95 %, fewer contain the true curve by a chance below 6e-3 if all have exactly this level."""
    found = [covers(Design(3, 300, 1.0, 1.5), number, average, 199)[:2] for number in range(n)]
    assert np.sum(found, axis=0).min() >= fewest
