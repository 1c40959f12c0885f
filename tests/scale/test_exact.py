"""Exact rankings of files, summaries and engines' frames answer like rankings of the same rows in memory."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from fastevals import Ranking
from fastevals.measure.curves.numbers import is_of_counts
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.metric_specs import MetricSpec, ranking_metric
from fastevals.measure.registry import SCORE_METRICS
from fastevals.scale import RankingSummary, parquet
from fastevals.scale.certified import CertifiedRanking
from fastevals.scale.exact.atoms import AtomCounts
from tests.strategies import BOUNDED, FEWER, Case, cases

pa = pytest.importorskip("pyarrow")


def of_table(case: Case) -> Any:
    return parquet.ranking(table_of(case), exact=True, **asked(case))


def of_summary(case: Case) -> Any:
    summary = RankingSummary()
    summary.update(case.y_true, case.y_score, **case.options)
    return summary.ranking()


def of_frame(case: Case) -> Any:
    from tests.scale.local_frames import LOCAL, LocalFrame

    table = table_of(case)
    half = table.num_rows // 2
    return LOCAL.ranking(LocalFrame([table.slice(0, half), table.slice(half)]), exact=True, **asked(case))


@pytest.fixture(autouse=True, scope="module")
def nothing_held() -> Iterator[None]:
    """Read even few rows in two scans; `test_held.py` tests rows that are held in memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "ROWS_HELD", -1)
        yield


def table_of(case: Case) -> Any:
    columns = {"y": case.y_true, "p": case.y_score}
    return pa.table(columns if case.weights is None else {**columns, "w": case.weights})


def asked(case: Case) -> dict[str, Any]:
    return {"label": "y", "score": "p", "pos_label": 1, "sample_weight": None if case.weights is None else "w"}


def of_rows(case: Case) -> Ranking:
    return Ranking(case.y_true, case.y_score, **case.options)


every_way = pytest.mark.parametrize("exact", [of_table, of_summary, of_frame])
weighted_or_not = pytest.mark.parametrize("weights", [None, (1.0, 2.0, 3.0)], ids=["rows", "weights"])


def points(ranking: Any) -> dict[str, Any]:
    """Call everything that takes or returns a threshold."""
    n = float(ranking.counts.n_pos + ranking.counts.n_neg)
    asked = {
        "KS": ranking.ks_statistic(), "EER": ranking.equal_error_rate(),
        "EER on the hull": ranking.equal_error_rate(on_hull=True), "BEP": ranking.break_even_point(),
    }  # fmt: skip
    for name, limits in {
        "precision": (0.0, 0.5, 1.0), "recall": (0.0, 0.4, 1.0), "fpr": (0.0, 0.3, 1.0), "tpr": (0.5, 1.0),
        "n_predicted": (0, 1, 2, 0.5 * n, n - 1, n, math.inf),
    }.items():  # fmt: skip
        asked |= {f"{name}={limit}": ranking.threshold_for(**{name: limit}) for limit in limits}
    for name, entry in SCORE_METRICS.items():
        if entry.of == "cells" and entry.greater_is_better is not None:
            asked[f"best {name}"] = ranking.best_threshold(name)
    for name in ("recall", "precision", "accuracy", "informedness", "specificity"):
        asked[f"worst {name}"] = ranking.best_threshold(name, maximize=False)
    costs = {"cost_fp": 3.0, "cost_fn": 1.0}
    return asked | {
        "cost": ranking.best_threshold("expected_cost", **costs),
        "cost curve": ranking.cost_curve().at(prior=0.3, **costs),
    }


def same(found: Any, expected: Any) -> bool:
    return bool(np.array_equal(np.array(found, dtype=np.float64), np.array(expected, dtype=np.float64), equal_nan=True))


@pytest.mark.cases(2)
@every_way
@weighted_or_not
def test_points_and_curves_are_those_of_the_rows(exact: Callable[[Case], Any], weights: Any) -> None:
    @FEWER
    @given(cases(weights=weights))
    def check(case: Case) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, expected = exact(case), of_rows(case)
            theirs = points(expected)
            for name, point in points(found).items():
                assert same(tuple(point), tuple(theirs[name])), (name, point, theirs[name])
            for name, entry in SCORE_METRICS.items():
                if entry.of == "ranking":
                    mine, its = (
                        ranking_metric(MetricSpec(name, {})).of_counts(each.counts) for each in (found, expected)
                    )
                    assert mine == pytest.approx(its, rel=1e-13, nan_ok=True), name
            for name in [*(f"{name}_curve" for name, entry in CURVES.items() if is_of_counts(entry)), "cost_curve"]:
                mine, its = getattr(found, name)(), getattr(expected, name)()
                assert float(mine.area) == pytest.approx(float(its.area), rel=1e-13, nan_ok=True), name
                if name in ("roc_curve", "det_curve"):
                    assert all(map(same, mine, its)), name
            mine, its = (each.cost_curve().lower_envelope for each in (found, expected))
            for name in ("probability_cost", "cost", "thresholds", "fpr", "fnr"):
                assert same(getattr(mine, name), getattr(its, name)), name

    check()


@every_way
@given(case=cases())
@BOUNDED
def test_counts_are_those_of_the_rows_or_not_told(exact: Callable[[Case], Any], case: Case) -> None:
    found, expected = exact(case), of_rows(case)
    scores = np.unique(case.y_score)
    with np.errstate(over="ignore", under="ignore"):
        between, above = scores[:-1] / 2 + scores[1:] / 2, np.nextafter(scores, math.inf)
    told = 0
    for at in [*scores.tolist(), *between.tolist(), -math.inf, math.inf, *above.tolist()]:
        try:
            counts = found.confusion_at(at).counts
        except ValueError as error:
            assert "are not known" in str(error)  # noqa: PT017
            continue
        told += 1
        assert (counts == expected.confusion_at(at).counts).all(), at
    assert told >= 2 + np.unique(case.y_score[case.y_true == 1]).size


@every_way
def test_a_threshold_among_negatives_is_their_score(exact: Callable[[Case], Any]) -> None:
    case = Case(np.array([1, 0, 0, 0, 1]), np.array([5.0, 4, 3, 2, 1]))
    found = exact(case)
    assert tuple(found.break_even_point()) == (0.5, 4)
    assert tuple(found.equal_error_rate()) == (0.5, 3)
    assert tuple(found.ks_statistic()) == (0.5, 5)
    assert tuple(found.threshold_for(n_predicted=3)) == (0.5, 3)
    below = exact(Case(np.array([0, 0, 1, 0, 1]), np.array([5.0, 4, 3, 2, 1])))
    assert tuple(below.ks_statistic()) == (pytest.approx(2 / 3), 4)


def test_many_negatives_in_one_range_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastevals.scale.exact.ranking.RANGES_PER_GAP", 16)  # as 2**50 rows would need
    rng = np.random.default_rng(0)
    case = Case(np.arange(500) % 125 == 1, np.sort(rng.normal(size=500))[::-1].round(2))
    found, expected = of_table(case), of_rows(case)
    assert found.break_even_point() == expected.break_even_point()
    assert found.equal_error_rate() == expected.equal_error_rate()
    for quota in (1, 17, 100, 249, 250, 333, 499):
        assert found.threshold_for(n_predicted=quota) == expected.threshold_for(n_predicted=quota)
    assert found.roc_auc() == expected.roc_auc()


def test_a_copy_tells_what_was_asked_before_or_says_so() -> None:
    case = Case(np.array([1, 0, 0, 0, 1]), np.array([5.0, 4, 3, 2, 1]))
    found = of_table(case)
    with pytest.raises(ValueError, match="the score of one of 3 negatives, which a copy can't count: ask the original"):
        copy.deepcopy(found).break_even_point()
    found.break_even_point()
    assert copy.deepcopy(found).break_even_point() == found.break_even_point()


def test_hundredths_are_known_of_several_ranges_too() -> None:
    rng = np.random.default_rng(0)
    y, p = (rng.random(500) < 0.3).astype(int), rng.random(500)
    found = parquet.ranking(pa.table({"y": y, "p": p}), label="y", score="p", memory="2KB")
    assert isinstance(found, CertifiedRanking)
    at = np.arange(101) / 100
    np.testing.assert_array_equal(found.confusion_at(at).counts, Ranking(y, p).confusion_at(at).counts)


def test_negatives_are_counted_about_atoms() -> None:
    """At each atom, between adjacent atoms, and the lowest of these, in any parts."""
    rng = np.random.default_rng(3)
    atoms, negatives = np.unique(rng.integers(0, 60, 9)).astype(np.uint64), rng.integers(0, 60, 200).astype(np.uint64)
    counts = AtomCounts.uncounted(atoms, np.zeros(atoms.size, np.int64))
    for part in np.array_split(negatives, 7):
        counts.count(part.copy(), None)
    edges = [-1, *atoms.tolist(), 60]
    for k, (low, high) in enumerate(pairwise(edges)):
        within = negatives[(negatives.astype(int) > low) & (negatives.astype(int) < high)]
        assert counts.between[k] == within.size
        assert not within.size or counts.least[k] == within.min()
    assert counts.at.tolist() == [int((negatives == atom).sum()) for atom in atoms]
