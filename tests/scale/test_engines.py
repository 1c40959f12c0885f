"""What is asked of frames, of whatever engine: against the same rows in memory."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import Ranking, metric
from fastevals.measure.registry import METRICS, SCORE_METRICS
from fastevals.scale import Certified, RankingSummary, ScoresSummary, engines, parquet
from tests.scale.local_frames import LOCAL, LocalFrame

pa = pytest.importorskip("pyarrow")
pytest.importorskip("cloudpickle")

N = 6000


def rows(seed: int = 0, n: int = N) -> dict[str, Any]:
    """Columns: labels, two models' scores, weights, values, groups, classes and numbers."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(np.int64)
    p = 1 / (1 + np.exp(2 - 1.5 * y - rng.normal(size=n)))
    target = rng.normal(size=n)
    return {
        "y": y, "p": p, "q": p.round(2), "w": rng.integers(0, 4, n), "v": rng.random(n) + 0.5,
        "day": rng.choice(["mon", "tue", "wed"], n), "user": rng.integers(0, 400, n),
        "class": rng.choice(["cat", "dog", "owl"], n), "guess": rng.choice(["cat", "dog", "owl"], n),
        "target": target, "fitted": target + rng.normal(size=n),
    }  # fmt: skip


def frame(columns: dict[str, Any], cuts: Any = (1000, 1000, 2500, 2501, 4000), **options: Any) -> LocalFrame:
    """Partitions of the rows: one has none, one has one."""
    table = pa.table(columns)
    edges = [0, *cuts, table.num_rows]
    return LocalFrame([table.slice(a, b - a) for a, b in pairwise(edges)], **options)


COLUMNS = rows()
FRAME = frame(COLUMNS)
NAMES = [name for name, each in SCORE_METRICS.items() if each.of == "ranking"]


def values_of(ranking: Any) -> dict[str, Any]:
    """All metrics of a ranking that have no threshold of their own."""
    counts = ranking.counts if hasattr(ranking, "counts") else None
    assert counts is not None
    return {name: SCORE_METRICS[name](counts) for name in NAMES if not SCORE_METRICS[name].on_hull}


# Rankings -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, "w", "v"])
@pytest.mark.parametrize("score", ["p", "q"])
def test_certificates_hold_the_value_of_all_rows(score: str, weight: str | None) -> None:
    y, s = COLUMNS["y"], COLUMNS[score]
    expected = Ranking(y, s, sample_weight=None if weight is None else COLUMNS[weight])
    found = LOCAL.ranking(FRAME, label="y", score=score, weight=weight, cells=64)
    for name in ("roc_auc", "average_precision", "pr_auc"):
        value, true = getattr(found, name)(), getattr(expected, name)()
        if isinstance(value, Certified):
            assert value.low <= true <= value.high
            assert value.width < 0.2
        else:
            assert value == pytest.approx(true, rel=1e-12)
    if (score, weight) == ("q", None):  # of fewer distinct scores than sampled rows
        assert LOCAL.ranking(FRAME, label="y", score=score).roc_auc() == expected.roc_auc()


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("most", [engines.MOST_BROADCAST, 10])
def test_exact_rankings_are_those_of_files(monkeypatch: Any, weight: str | None, most: int) -> None:
    monkeypatch.setattr(engines, "MOST_BROADCAST", most)
    monkeypatch.setattr(engines, "RANGE_ROWS", 1500)
    found = LOCAL.ranking(FRAME, label="y", score=["p", "q"], weight=weight, exact=True)
    expected = parquet.ranking(pa.table(COLUMNS), label="y", score=["p", "q"], weight=weight)
    for model in ("p", "q"):
        assert (found[model].n_positives, found[model].n_negatives) == (
            expected[model].n_positives, expected[model].n_negatives,
        )  # fmt: skip
        for call in ("roc_auc", "average_precision", "pr_auc", "ks_statistic", "equal_error_rate", "break_even_point"):
            assert getattr(found[model], call)() == getattr(expected[model], call)(), call


def test_thresholds_that_are_asked_for_are_exact() -> None:
    found = LOCAL.ranking(FRAME, label="y", score="p", cells=16, at=[0.25, 0.5])
    expected = Ranking(COLUMNS["y"], COLUMNS["p"]).confusion_at([0.25, 0.5])
    np.testing.assert_array_equal(found.confusion_at([0.25, 0.5]).counts, expected.counts)
    exact = LOCAL.ranking(FRAME, label="y", score="p", at=[0.25, 0.5], exact=True)
    np.testing.assert_array_equal(exact.confusion_at([0.25, 0.5]).counts, expected.counts)


@pytest.mark.parametrize("exact", [False, True])
def test_each_value_has_its_ranking(exact: bool) -> None:
    found = LOCAL.ranking(FRAME, label="y", score=["p", "q"], by="day", exact=exact)
    assert list(found) == ["mon", "tue", "wed"]
    for day, models in found.items():
        here = COLUMNS["day"] == day
        for model in ("p", "q"):
            expected = Ranking(COLUMNS["y"][here], COLUMNS[model][here]).roc_auc()
            auc = models[model].roc_auc()
            assert auc.low <= expected <= auc.high if isinstance(auc, Certified) else auc == expected


def test_hundreds_of_values_have_exact_rankings() -> None:
    found = LOCAL.ranking(FRAME, label="y", score="p", by="user", weight="w")
    assert len(found) == 400
    for user in (0, 17, 399):
        here = COLUMNS["user"] == user
        expected = Ranking(COLUMNS["y"][here], COLUMNS["p"][here], sample_weight=COLUMNS["w"][here])
        assert found[user].roc_auc() == pytest.approx(expected.roc_auc(), rel=1e-14)
        assert found[user].n_positives == COLUMNS["w"][here & (COLUMNS["y"] == 1)].sum()
    assert list(found)[:3] == [0, 1, 2]
    with pytest.raises(KeyError):
        found[400]
    with pytest.raises(KeyError):
        found["0"]


def test_partitions_trees_and_orders_give_the_same_bits() -> None:
    rng = np.random.default_rng(4)
    one = LOCAL.summarize(LocalFrame([pa.table(COLUMNS)]), label="y", score=["p", "q"], by="day", cells=256)
    for _ in range(10):
        cuts = np.sort(rng.integers(0, N + 1, 12))
        parts = frame(COLUMNS, cuts, order=rng.permutation(13), fan=int(rng.integers(2, 6)))
        found = LOCAL.summarize(parts, label="y", score=["p", "q"], by="day", cells=256)
        assert found.to_bytes() == one.to_bytes()


def test_summaries_are_stored_merged_and_resampled() -> None:
    summary = LOCAL.ranking_summary(FRAME, label="y", score="p", cells=2**12)
    assert isinstance(summary, RankingSummary)
    result = fastevals.bootstrap(summary, ["roc_auc", "average_precision", "ks_statistic"], n_resamples=200, rng=1)
    low, high = result["roc_auc"].confidence_interval
    assert low < Ranking(COLUMNS["y"], COLUMNS["p"]).roc_auc() < high
    stored = LOCAL.summarize(FRAME, label="y", score=["p", "q"]).to_bytes()
    again = ScoresSummary.from_bytes(stored)
    assert (again.n_samples, again.models) == (N, ("p", "q"))
    brier = again.blocks[None].probabilities["p"].brier_score()
    assert brier == METRICS["brier_score"](Ranking(COLUMNS["y"], COLUMNS["p"]).counts)
    doubled = again.merge(LOCAL.summarize(FRAME, label="y", score=["p", "q"]))
    assert doubled.n_samples == 2 * N


# Other summaries ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, "w", "v"])
def test_matrices_are_those_of_all_rows(weight: str | None) -> None:
    weights = None if weight is None else COLUMNS[weight]
    found = LOCAL.confusion_summary(FRAME, label="class", predicted="guess", weight=weight).matrix()
    expected = fastevals.ConfusionMatrix.from_predictions(COLUMNS["class"], COLUMNS["guess"], sample_weight=weights)
    np.testing.assert_allclose(found.counts, expected.counts, rtol=1e-6)
    by_day = LOCAL.confusion_summary(FRAME, label="class", predicted="guess", by="day")
    assert list(by_day) == ["mon", "tue", "wed"]
    expected = fastevals.ConfusionMatrix.from_predictions(COLUMNS["class"], COLUMNS["guess"])
    np.testing.assert_array_equal(sum(each.matrix().counts for each in by_day.values()), expected.counts)


def test_errors_and_probabilities_are_those_of_all_rows() -> None:
    errors = LOCAL.target_summary(FRAME, target="target", predicted="fitted", weight="v")
    expected = fastevals.metrics.mean_squared_error(COLUMNS["target"], COLUMNS["fitted"], sample_weight=COLUMNS["v"])
    assert errors.metric("mean_squared_error") == pytest.approx(expected, rel=1e-13)
    calibration = LOCAL.probability_summary(FRAME, label="y", score="p", n_bins=5)
    ranking = Ranking(COLUMNS["y"], COLUMNS["p"])
    assert calibration.brier_score() == METRICS["brier_score"](ranking.counts)
    np.testing.assert_array_equal(calibration.calibration_curve().counts, ranking.calibration_curve(n_bins=5).counts)


# Groups ---------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("by", ["user", "day"])
def test_groups_are_those_of_all_rows(by: str, weight: str | None) -> None:
    weights = None if weight is None else COLUMNS[weight]
    y, p, groups = COLUMNS["y"], COLUMNS["p"], COLUMNS[by]
    expected = fastevals.grouped_auc(y, p, groups, sample_weight=weights, interval="delong")
    found = LOCAL.grouped_auc(FRAME, label="y", score="p", by=by, weight=weight, interval="delong")
    for name in ("groups", "values", "n_samples", "n_positives", "n_negatives", "weights"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    np.testing.assert_allclose(found.confidence_intervals, expected.confidence_intervals, rtol=1e-12)
    assert (found.mean, found.macro_mean) == (expected.mean, expected.macro_mean)
    metrics = ["average_precision", metric("f1", threshold=0.5), "brier_score"]
    several = LOCAL.grouped_metrics(FRAME, metrics, label="y", score="p", by=by, weight=weight)
    wanted = fastevals.grouped_metrics(y, p, groups, metrics, sample_weight=weights)
    for name, each in wanted.items():
        np.testing.assert_allclose(several[name].values, each.values, rtol=1e-13)


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_errors_of_groups_are_those_of_all_rows() -> None:
    found = LOCAL.grouped_metrics(FRAME, "mean_squared_error", label="target", score="fitted", by="user")
    expected = fastevals.grouped_metrics(COLUMNS["target"], COLUMNS["fitted"], COLUMNS["user"], "mean_squared_error")
    np.testing.assert_allclose(found["mean_squared_error"].values, expected["mean_squared_error"].values, rtol=1e-13)
    with pytest.raises(ValueError, match="confusion_summary"):
        LOCAL.grouped_metrics(FRAME, "accuracy", label="class", score="guess", by="user")


# What is wrong --------------------------------------------------------------------------------------------------------


def spoilt(row: int, name: str, value: Any) -> LocalFrame:
    columns = {key: list(each) if key == name else each for key, each in COLUMNS.items()}
    columns[name][row] = value
    return frame(columns)


@pytest.mark.parametrize(
    ("row", "name", "value", "message"),
    [
        (4100, "p", float("nan"), r"column 'p' has 1 NaN or infinite value, the first at row 100 of partition 5"),
        (4100, "p", None, r"column 'p' has 1 missing value, the first at row 100 of partition 5"),
        (10, "y", None, r"column 'y' has 1 missing value, the first at row 10 of partition 0"),
        (4100, "w", -1, r"column 'w' must hold weights that are not negative, got -1.0 at row 100 of partition 5"),
        (2500, "y", 2, r"column 'y' must have two labels, .* got 2 in 1 rows, the first at row 0 of partition 3"),
    ],
)
def test_rows_that_can_not_be_counted_are_named(row: int, name: str, value: Any, message: str) -> None:
    bad = spoilt(row, name, value)
    for options in ({}, {"exact": True}):
        with pytest.raises(ValueError, match=message):
            LOCAL.ranking(bad, label="y", score="p", weight="w", **options)
    if name != "w" and value is None:
        found = LOCAL.ranking(bad, label="y", score="p", on_invalid="drop")
        assert found.n_positives + found.n_negatives == N - 1


def test_values_that_can_not_be_counted_are_named() -> None:
    with pytest.raises(ValueError, match=r"column 'guess' has 1 missing value, the first at row 5 of partition 0"):
        LOCAL.confusion_summary(spoilt(5, "guess", None), label="class", predicted="guess")
    with pytest.raises(ValueError, match=r"column 'fitted' has 1 NaN or infinite value"):
        LOCAL.target_summary(spoilt(5, "fitted", float("inf")), target="target", predicted="fitted")
    with pytest.raises(ValueError, match=r"column 'y'.*partition"):
        LOCAL.probability_summary(spoilt(4500, "y", 7), label="y", score="p")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "x"}, "column 'x': the frame has no such column"),
        ({"score": "P"}, r"column 'P': the frame has no such column \(did you mean 'p'"),
        ({"score": []}, "score must be the name of a column, or names"),
        ({"score": None}, "score must be the name of a column, or names, got None"),
        ({"score": ["p", "p"]}, "score must name each column once"),
        ({"label": 3}, "label must be the name of a column, got 3"),
        ({"weight": 3}, "weight must be the name of a column, got 3"),
        ({"pos_label": "yes"}, "pos_label must be a label"),
        ({"cells": 0}, "cells must be"),
        ({"exact": 1}, "exact must be"),
        ({"on_invalid": "skip"}, "on_invalid must be one of"),
        ({"at": float("nan")}, "at"),
        ({"score": "day"}, "column 'day' must hold numbers"),
        ({"weight": "v", "exact": True}, "column 'v' must hold whole numbers"),
    ],
)
def test_arguments_that_are_wrong_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LOCAL.ranking(FRAME, **{"label": "y", "score": "p"} | options)


def test_no_rows_are_an_error_and_one_class_is_undefined() -> None:
    empty = LocalFrame([pa.table(COLUMNS).slice(0, 0)] * 3)
    for call in (LOCAL.ranking, LOCAL.summarize, LOCAL.probability_summary):
        with pytest.raises(ValueError, match="the frame has no rows that can be counted"):
            call(empty, label="y", score="p")
    with pytest.raises(ValueError, match="the frame has no rows that can be counted"):
        LOCAL.grouped_auc(empty, label="y", score="p", by="user")
    alone = frame(COLUMNS | {"y": np.zeros(N, int)})
    with pytest.warns(fastevals.UndefinedMetricWarning):
        assert np.isnan(float(LOCAL.ranking(alone, label="y", score="p").roc_auc()))


def test_labels_of_partitions_must_agree() -> None:
    text = COLUMNS["day"].astype(object)
    text[:1000], text[1000:2500], text[2500:] = "a", "b", "a"
    text[4000] = "c"
    with pytest.raises(ValueError, match="two labels"):
        LOCAL.ranking(frame(COLUMNS | {"y": text}), label="y", score="p", pos_label="a")
    text[4000] = "b"
    found = LOCAL.ranking(frame(COLUMNS | {"y": text}), label="y", score="p", pos_label="a")
    assert found.n_positives == np.count_nonzero(text == "a")


def test_workers_of_another_version_and_without_fastevals_are_told(monkeypatch: Any) -> None:
    other = frame(COLUMNS)
    other.version = "0.0.1"
    with pytest.raises(ImportError, match=r"workers have fastevals .*, and this is 0\.0\.1: pip install"):
        LOCAL.ranking(other, label="y", score="p")
    count, join = engines.shipped("1")
    monkeypatch.setitem(sys.modules, "fastevals", None)
    answers = [count(b"", iter(()), k) for k in (4, 2)]
    monkeypatch.undo()
    with pytest.raises(ImportError, match="workers can't import fastevals"):
        engines.answered(None, [join(b"", answers)])


@pytest.mark.parametrize("cells", [2**18, 100])
def test_few_rows_are_counted_by_score(cells: int) -> None:
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 900), rng.random(900)
    few = frame({"y": y, "p": p}, (300, 600))
    few.sample_is_all = True
    found = LOCAL.ranking(few, label="y", score="p", cells=cells).roc_auc()
    assert (found == Ranking(y, p).roc_auc()) == (cells > 900)


def test_rows_that_change_between_two_readings_are_an_error() -> None:
    class Changing(LocalFrame):
        def answers(self, task: Any) -> Any:
            found = super().answers(task)
            self.tables = self.tables[:-1]
            self.order = range(len(self.tables))
            return found

    with pytest.raises(ValueError, match="the frame has changed: it had 6000 rows"):
        LOCAL.ranking(Changing(FRAME.tables), label="y", score="p", exact=True)


def test_more_values_than_may_have_a_summary_are_an_error() -> None:
    with pytest.raises(ValueError, match="by must be a column of at most 100 values, got 400"):
        LOCAL.ranking_summary(FRAME, label="y", score="p", by="user")
    with pytest.raises(ValueError, match="column 'target' must have at most 1000 values"):
        LOCAL.confusion_summary(frame(COLUMNS, (5000,)), label="class", predicted="guess", by="target")
