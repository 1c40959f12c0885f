"""Rankings from counts made elsewhere return the same as rankings of the rows, to the bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fastevals
from fastevals import Ranking, ThresholdCounts
from tests.reference import ranking as reference

INF = math.inf

SCORES: dict[str, Callable[[np.random.Generator, int], NDArray[Any]]] = {
    "probabilities": lambda rng, n: rng.integers(0, 40, n) / 40,
    "distinct": lambda rng, n: rng.permutation(n) / (4 * n),
    "single floats": lambda rng, n: (rng.integers(0, 9, n) / 9).astype(np.float32),
    "zeros of either sign": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "integers": lambda rng, n: rng.integers(-5, 5, n),
    "integers past doubles": lambda rng, n: 2**60 + rng.integers(0, 20, n),
    "unsigned integers": lambda rng, n: 2**63 + rng.integers(0, 20, n).astype(np.uint64),
    "longer floats": lambda rng, n: 1 + rng.integers(0, 9, n).astype(np.longdouble) * np.finfo(np.longdouble).eps,
    "booleans": lambda rng, n: rng.random(n) < 0.5,
}


def rows_and_counts(kind: str, seed: int = 0) -> tuple[Ranking, Ranking]:
    """Rank rows, and the same rows as shuffled counts by score; scores repeat, and some have no rows."""
    rng = np.random.default_rng([seed, len(kind)])
    scores = SCORES[kind](rng, 120)
    positives, negatives = rng.integers(0, 3, (2, 120))
    y = np.repeat([1, 0], [positives.sum(), negatives.sum()])
    rows = np.concatenate((np.repeat(scores, positives), np.repeat(scores, negatives)))
    return Ranking(y, rows), Ranking.from_counts(scores, positives, negatives)


def assert_same_counts(a: ThresholdCounts, b: ThresholdCounts) -> None:
    for name in ("thresholds", "tps", "fps"):
        assert getattr(a, name).dtype == getattr(b, name).dtype
        assert np.array_equal(getattr(a, name), getattr(b, name))


CALLS: dict[str, Callable[[Ranking], Any]] = {
    "rows": lambda r: (r.n_samples, r.n_positives, r.n_negatives, r.pos_label, repr(r)),
    "auc": lambda r: (r.roc_auc(), r.rank_loss(), r.roc_auc(max_fpr=0.3, min_tpr=0.2)),
    "precision": lambda r: (r.average_precision(), r.pr_auc(), r.pr_auc(interpolation="linear")),
    "points": lambda r: (
        r.ks_statistic(),
        r.break_even_point(),
        r.equal_error_rate(),
        r.equal_error_rate(on_hull=True),
    ),
    "best": lambda r: (r.best_threshold("f1"), r.best_threshold("expected_cost", cost_fn=3.0)),
    "within": lambda r: (r.threshold_for(fpr=0.5), r.threshold_for(n_predicted=30)),
    "cells": lambda r: (r.confusion_at(np.array([-1, 2**60 + 3])).to_dict(), r.expected_cost(0.4)),
    "roc": lambda r: r.roc_curve().to_dict(),
    "det": lambda r: r.det_curve(drop_intermediate=False).to_dict(),
    "p-r": lambda r: r.precision_recall_curve().to_dict(),
    "gain": lambda r: (r.gain_curve().to_dict(), r.lift_curve().to_dict(), r.cost_curve().to_dict()),
    "folds": lambda r: fastevals.RankingFolds([r, r]).pool().roc_auc(),
    "delong": lambda r: fastevals.delong_test_unpaired(r, Ranking([0, 1, 0, 1], [1, 2, 3, 4])),
    "bootstrap": lambda r: fastevals.bootstrap(r, ["roc_auc", "ks_statistic"], n_resamples=99, rng=1).to_dict(),
    "band": lambda r: fastevals.confidence_band(r, n_resamples=99, rng=1).to_dict(),
}


@pytest.mark.parametrize("kind", SCORES)
def test_counts_are_those_of_the_rows(kind: str) -> None:
    rows, counted = rows_and_counts(kind)
    assert_same_counts(counted.counts, rows.counts)
    assert_same_counts(Ranking.from_threshold_counts(rows.counts).counts, rows.counts)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ["probabilities", "distinct", "integers past doubles"])
def test_everything_is_that_of_the_rows_to_the_bit(kind: str, call: str) -> None:
    rows, counted = rows_and_counts(kind, seed=1)
    again = Ranking.from_threshold_counts(counted.counts)
    expected = CALLS[call](rows)
    for other in (counted, again):
        np.testing.assert_equal(CALLS[call](other), expected)


@pytest.mark.parametrize(
    "call", ["log_loss", "brier_score", "brier_decomposition", "calibration_curve", "reliability_curve"]
)
def test_probabilities_are_those_of_the_rows_to_the_bit(call: str) -> None:
    rows, counted = rows_and_counts("distinct", seed=2)
    np.testing.assert_equal(*(_plain(getattr(each, call)()) for each in (counted, rows)))


def _plain(value: Any) -> Any:
    return value.to_dict() if hasattr(value, "to_dict") else value


@pytest.mark.parametrize("kind", SCORES)
def test_sums_of_weights_are_those_of_the_rows_to_the_bit(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    scores, y, weights = SCORES[kind](rng, 90), rng.integers(0, 2, 90), rng.random(90)
    weights[::7] = 0
    rows, counted = (
        Ranking(y, scores, sample_weight=weights),
        Ranking.from_counts(scores, weights * y, weights * (1 - y)),
    )
    assert repr(counted) == repr(rows)
    assert_same_counts(counted.counts, rows.counts)
    assert counted.roc_auc() == rows.roc_auc()
    again = Ranking.from_threshold_counts(rows.counts)
    assert again.roc_auc() == rows.roc_auc()
    assert again.n_samples <= rows.n_samples
    assert "weighted" in repr(again)


def test_against_the_twin() -> None:
    scores, positives, negatives = [3, 1, 3, 2], [1, 0, 2, 0], [0, 2, 1, 0]
    counted = Ranking.from_counts(scores, positives, negatives).counts
    found = zip(counted.thresholds.tolist(), counted.tps.tolist(), counted.fps.tolist(), strict=True)
    assert list(found) == [tuple(row) for row in reference.counts_by_score(scores, positives, negatives)]


def test_counts_are_made_at_once() -> None:
    scores, positives, negatives = np.array([1.0, 2.0]), np.array([1, 2]), np.array([3, 0])
    ranking = Ranking.from_counts(scores, positives, negatives)
    scores[:], positives[:], negatives[:] = 0, 9, 9
    assert ranking.counts.thresholds.tolist() == [INF, 2, 1]
    assert (ranking.counts.tps.tolist(), ranking.counts.fps.tolist()) == ([0, 2, 3], [0, 0, 3])


def test_thresholds_without_rows_are_left_out() -> None:
    counts = ThresholdCounts([INF, 3, 2, 1], [0, 0, 2, 2], [0, 0, 1, 1])
    ranking = Ranking.from_threshold_counts(counts)
    assert ranking.counts.thresholds.tolist() == [INF, 2]
    assert (ranking.n_positives, ranking.n_negatives) == (2, 1)


def test_names_of_the_classes() -> None:
    ranking = Ranking.from_counts([1, 2], [1, 3], [2, 1], pos_label="spam")
    assert ranking.confusion_at(2).labels.tolist() == ["not spam", "spam"]
    assert Ranking.from_threshold_counts(ranking.counts).confusion_at(2).labels.tolist() == [0, 1]
    for label in ([1], math.nan, object()):
        with pytest.raises(ValueError, match="pos_label must be a number or a string, got"):
            Ranking.from_counts([1, 2], [1, 3], [2, 1], pos_label=label)


def test_more_rows_than_memory_holds() -> None:
    ranking = Ranking.from_counts([0.2, 0.8], [2**59, 2**60], [2**60, 2**59])
    assert ranking.roc_auc() == pytest.approx(2 / 3 * 2 / 3 + 4 / 9 / 2)
    assert ranking.n_samples == 3 * 2**60


REFUSED: dict[str, tuple[Any, Any, Any]] = {
    "scores is empty": ([], [], []),
    "positives has 1 rows, but scores has 2": ([1, 2], [1], [1, 2]),
    "scores must hold numbers, got dtype <U1": (["a"], [1], [1]),
    "scores must be finite, but has 1 NaN value, the first at row 1": ([1, math.nan], [1, 0], [1, 0]),
    "negatives must not be negative, got -2 at row 1": ([1, 2], [1, 0], [1, -2]),
    "negatives must be finite, but has 1 NaN value, the first at row 0": ([1, 2], [1, 0], [math.nan, 2]),
    "positives and negatives must count at least one row, but all 2 of both are zero": ([1, 2], [0, 0], [0, 0]),
    "positives and negatives must have a finite sum, but it overflows": ([1, 2], [1e308, 1e308], [0, 0]),
    r"positives and negatives must add up to at most 2\*\*62 rows": ([1, 2, 3], [2**62] * 3, [2**62] * 3),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_no_counts_of_scores(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ranking.from_counts(*REFUSED[message])


def test_what_is_no_threshold_counts() -> None:
    with pytest.raises(ValueError, match="counts must be ThresholdCounts, got list"):
        Ranking.from_threshold_counts([1, 2])
    with pytest.raises(ValueError, match="counts must count at least one row, but n_pos and n_neg are 0"):
        Ranking.from_threshold_counts(ThresholdCounts([INF, 1], [0, 0], [0, 0]))
    with pytest.raises(ValueError, match="subject must count at least one row, but n_pos and n_neg are 0"):
        fastevals.bootstrap(ThresholdCounts([INF], [0], [0]), "roc_auc")
    with pytest.raises(ValueError, match="data must count at least one row, but n_pos and n_neg are 0"):
        fastevals.report(ThresholdCounts([INF], [0], [0]))
    folds = fastevals.RankingFolds([Ranking([0, 1], [1, 2]), Ranking([0, 1, 1], [1, 2, 0])])
    with pytest.raises(ValueError, match="counts must be ThresholdCounts, got averages over folds"):
        Ranking.from_threshold_counts(folds.roc_curve(average="vertical").counts)


# What takes counts where it takes a ranking -------------------------------------------------------------------------


def test_a_bootstrap_of_counts_is_that_of_their_ranking() -> None:
    rows, _ = rows_and_counts("probabilities")
    found = [
        fastevals.bootstrap(each, ["roc_auc", "brier_score"], n_resamples=99, rng=3, stratified=True).to_dict()
        for each in (rows, rows.counts)
    ]
    np.testing.assert_equal(*found)


@pytest.mark.parametrize("kind", ["simultaneous", "pointwise"])
def test_a_band_of_counts_is_that_of_their_ranking(kind: str) -> None:
    rows, _ = rows_and_counts("probabilities")
    found = [
        fastevals.confidence_band(each, kind=kind, n_resamples=99, rng=3).to_dict() for each in (rows, rows.counts)
    ]
    np.testing.assert_equal(*found)


def test_sums_of_weights_are_refused_where_rows_are_drawn() -> None:
    counts = Ranking([0, 1], [1, 2], sample_weight=[1.0, 2.0]).counts
    with pytest.raises(ValueError, match="subject must count rows, but has weights"):
        fastevals.bootstrap(counts, "roc_auc")
    with pytest.raises(ValueError, match="ranking must count rows, but has weights"):
        fastevals.confidence_band(counts)
