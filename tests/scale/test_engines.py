"""Calls on frames of any engine, against the same rows in memory."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import ConfusionMatrix, Ranking, metric
from fastevals.counting.ordering import FLOATS
from fastevals.measure.registry import METRICS
from fastevals.scale import Certified, RankingSummary, ScoresSummary, parquet
from fastevals.scale.engines import rankings
from fastevals.scale.engines.frame import shipped
from fastevals.scale.tasks import GatherPositives, RankingColumns
from tests.scale.local_frames import LOCAL, LocalFrame, check_exact, check_groups, rows

pa = pytest.importorskip("pyarrow")
pytest.importorskip("cloudpickle")

N = 6000


def frame(columns: dict[str, Any], cuts: Any = (1000, 1000, 2500, 2501, 4000), **options: Any) -> LocalFrame:
    """Return partitions of the rows; one partition is empty, one has one row."""
    table = pa.table(columns)
    edges = [0, *cuts, table.num_rows]
    return LocalFrame([table.slice(a, b - a) for a, b in pairwise(edges)], **options)


COLUMNS = rows(N)
FRAME = frame(COLUMNS)


# Rankings -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, "w", "v"])
@pytest.mark.parametrize("score", ["p", "q"])
def test_certificates_hold_the_value_of_all_rows(score: str, weight: str | None) -> None:
    y, s = COLUMNS["y"], COLUMNS[score]
    expected = Ranking(y, s, sample_weight=None if weight is None else COLUMNS[weight])
    found = LOCAL.ranking(FRAME, label="y", score=score, sample_weight=weight, cells=64)
    for name in ("roc_auc", "average_precision", "pr_auc"):
        value, true = getattr(found, name)(), getattr(expected, name)()
        if isinstance(value, Certified):
            assert value.low <= true <= value.high
            assert value.width < 0.2
        else:
            assert value == pytest.approx(true, rel=1e-12)
    if (score, weight) == ("q", None):  # fewer distinct scores than sampled rows
        assert LOCAL.ranking(FRAME, label="y", score=score).roc_auc() == expected.roc_auc()


@pytest.mark.cases(2)
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("most", [rankings.MOST_BROADCAST, 10])
def test_exact_rankings_are_those_of_files(monkeypatch: Any, weight: str | None, most: int) -> None:
    monkeypatch.setattr(rankings, "MOST_BROADCAST", most)
    monkeypatch.setattr(rankings, "RANGE_ROWS", 1500)
    check_exact(LOCAL, FRAME, COLUMNS, sample_weight=weight)


@pytest.mark.parametrize("memory", [None, 4000])
def test_thresholds_are_cuts_of_several_ranges_too(memory: int | None) -> None:
    at = [0.1, 0.25, 0.5, 0.123456789]
    found = parquet.ranking(pa.table(COLUMNS), label="y", score="p", at=at, memory=memory)
    expected = Ranking(COLUMNS["y"], COLUMNS["p"]).confusion_at(at)
    np.testing.assert_array_equal(found.confusion_at(at).counts, expected.counts)


def test_scores_of_too_many_positives_do_not_travel(monkeypatch: Any) -> None:
    monkeypatch.setattr("fastevals.scale.tasks.MOST_WAITING", 100)
    columns = RankingColumns("y", ("p", "q"))
    for most, are_too_many in ((10**6, False), (700, True)):
        found = FRAME.do(GatherPositives(columns, most))
        assert found.are_too_many is are_too_many
        kept = sum(each.keys.size for each in found.scores.values())
        assert kept == 0 if are_too_many else kept > 1000
        assert {each.totals for each in found.scores.values()} == {(COLUMNS["y"].sum(), N - COLUMNS["y"].sum())}
        for where, each in found.scores.items():
            assert FLOATS.decode(np.array([each.highest], np.uint64)) == COLUMNS[where[1]].max()


def test_many_positives_of_few_distinct_scores_are_not_sorted_into_ranges(monkeypatch: Any) -> None:
    positive = COLUMNS["y"] == 1
    distinct = np.unique(COLUMNS["q"][positive]).size
    assert 10 * distinct < positive.sum()
    monkeypatch.setattr(rankings, "MOST_BROADCAST", distinct)
    monkeypatch.setattr(LocalFrame, "by_range", None)
    found = LOCAL.ranking(FRAME, label="y", score="q", exact=True)
    assert found.roc_auc() == Ranking(COLUMNS["y"], COLUMNS["q"]).roc_auc()
    monkeypatch.setattr(rankings, "MOST_BROADCAST", distinct - 1)
    with pytest.raises(TypeError, match="not callable"):
        LOCAL.ranking(FRAME, label="y", score="q", exact=True)


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


@pytest.mark.parametrize("exact", [False, True])
def test_a_value_of_one_class_knows_both_labels(exact: bool) -> None:
    names = {"y": np.where(COLUMNS["y"] == 1, "yes", "no"), "v": np.where(COLUMNS["y"] == 1, 1, np.arange(N) % 2)}
    asked = {"label": "y", "score": "p", "by": "v", "pos_label": "yes", "exact": exact}
    found = LOCAL.ranking(frame(COLUMNS | names), **asked)
    assert [ranking.n_positives > 0 for ranking in found.values()] == [False, True]
    for ranking in found.values():
        assert ranking.confusion_at(2.0).labels.tolist() == ["no", "yes"]


def test_hundreds_of_values_have_exact_rankings() -> None:
    found = LOCAL.ranking(FRAME, label="y", score="p", by="user", sample_weight="w")
    assert len(found) == 400
    for user in (0, 17, 399):
        here = COLUMNS["user"] == user
        expected = Ranking(COLUMNS["y"][here], COLUMNS["p"][here], sample_weight=COLUMNS["w"][here])
        assert found[user].roc_auc() == pytest.approx(expected.roc_auc(), rel=1e-14)
        assert found[user].counts.n_pos == COLUMNS["w"][here & (COLUMNS["y"] == 1)].sum()
    assert list(found)[:3] == [0, 1, 2]
    both = LOCAL.ranking(FRAME, label="y", score=["p", "q"], by="user", sample_weight="w")
    assert list(both) == list(found)
    assert both[17]["p"].roc_auc() == found[17].roc_auc()
    assert list(both[17]) == ["p", "q"]
    with pytest.raises(KeyError):
        found[400]
    with pytest.raises(KeyError):
        found["0"]


@pytest.mark.parametrize("exact", [False, True])
def test_values_come_ascending_and_are_of_one_type(exact: bool) -> None:
    table = pa.table(COLUMNS)
    parts = [table.filter(pa.array(COLUMNS["day"] == day)) for day in ("wed", "mon", "tue")]
    options = {"label": "y", "score": "p", "by": "day", "exact": exact}
    assert list(LOCAL.ranking(LocalFrame(parts), **options)) == ["mon", "tue", "wed"]
    numbers = parts[1].set_column(parts[1].column_names.index("day"), "day", pa.array([7] * parts[1].num_rows))
    with pytest.raises(ValueError, match=r"'day'.*one type|must have text or numbers"):
        LOCAL.ranking(LocalFrame([parts[0], numbers]), **options)
    mixed = LocalFrame([parts[0], numbers])
    with pytest.raises(ValueError, match="column 'day' must have text or numbers, not both, got 'wed' and 7"):
        LOCAL.confusion_summary(mixed, label="class", pred="guess", by="day")
    mixed.by_value = lambda column: mixed
    with pytest.raises(ValueError, match="by must be a column of text or of numbers, not both, got 'wed' and 7"):
        LOCAL.grouped_auc(mixed, label="y", score="p", by="day")


@pytest.mark.slow
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
    found = LOCAL.confusion_summary(FRAME, label="class", pred="guess", sample_weight=weight).matrix()
    expected = fastevals.ConfusionMatrix.from_predictions(COLUMNS["class"], COLUMNS["guess"], sample_weight=weights)
    np.testing.assert_allclose(found.counts, expected.counts, rtol=1e-6)
    by_day = LOCAL.confusion_summary(FRAME, label="class", pred="guess", by="day")
    assert list(by_day) == ["mon", "tue", "wed"]
    expected = fastevals.ConfusionMatrix.from_predictions(COLUMNS["class"], COLUMNS["guess"])
    np.testing.assert_array_equal(sum(each.matrix().counts for each in by_day.values()), expected.counts)


def test_errors_and_probabilities_are_those_of_all_rows() -> None:
    errors = LOCAL.target_summary(FRAME, target="target", pred="fitted", sample_weight="v")
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
    check_groups(LOCAL, FRAME, COLUMNS, by, weight)
    weights = None if weight is None else COLUMNS[weight]
    y, p, groups = COLUMNS["y"], COLUMNS["p"], COLUMNS[by]
    metrics = ["average_precision", metric("f1", threshold=0.5), "brier_score"]
    several = LOCAL.grouped_metrics(FRAME, metrics, label="y", score="p", by=by, sample_weight=weight)
    wanted = fastevals.grouped_metrics(y, p, groups, metrics, sample_weight=weights)
    for name, each in wanted.items():
        np.testing.assert_allclose(several[name].values, each.values, rtol=1e-13)
    assert repr(several) == repr(wanted)
    assert several.pos_label == wanted.pos_label == 1


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_groups_of_several_columns_are_those_of_all_rows() -> None:
    parts = frame(COLUMNS, [100, 250])
    keys = [COLUMNS["user"], COLUMNS["day"]]
    found = LOCAL.grouped_auc(parts, label="y", score="p", by=["user", "day"], interval="delong")
    expected = fastevals.grouped_auc(COLUMNS["y"], COLUMNS["p"], keys, interval="delong")
    assert found.groups.tolist() == expected.groups.tolist()
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.standard_errors, expected.standard_errors)
    assert found.by == ("user", "day")
    errors = LOCAL.grouped_metrics(parts, "mae", label="p", score="q", by=["user", "day"])["mae"]
    named = fastevals.grouped_metrics(COLUMNS["p"], COLUMNS["q"], keys, "mae")["mae"]
    assert errors.groups.tolist() == named.groups.tolist()
    np.testing.assert_allclose(errors.values, named.values)
    with pytest.raises(ValueError, match=r"by must name one or more different columns, got \['user', 'user'\]"):
        LOCAL.grouped_auc(parts, label="y", score="p", by=["user", "user"])
    with pytest.raises(ValueError, match="by must be the name of a column"):
        LOCAL.group_summary(parts, label="y", score="p", by=["user", "day"])  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_errors_of_groups_are_those_of_all_rows() -> None:
    found = LOCAL.grouped_metrics(FRAME, "mean_squared_error", label="target", score="fitted", by="user")
    expected = fastevals.grouped_metrics(COLUMNS["target"], COLUMNS["fitted"], COLUMNS["user"], "mean_squared_error")
    np.testing.assert_allclose(found["mean_squared_error"].values, expected["mean_squared_error"].values, rtol=1e-13)
    with pytest.raises(ValueError, match="confusion_summary"):
        LOCAL.grouped_metrics(FRAME, "accuracy", label="class", score="guess", by="user")


def test_what_is_not_defined_is_said_once_and_filters_stay() -> None:
    filters = list(warnings.filters)
    with pytest.warns(fastevals.UndefinedMetricWarning) as expected:
        fastevals.grouped_auc(COLUMNS["y"], COLUMNS["p"], COLUMNS["user"], interval="delong")
    with pytest.warns(fastevals.UndefinedMetricWarning) as found:
        LOCAL.grouped_auc(FRAME, label="y", score="p", by="user", interval="delong")
    assert [str(each.message) for each in found] == [str(each.message) for each in expected]
    assert len(found) == 3
    assert warnings.filters == filters


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
            LOCAL.ranking(bad, label="y", score="p", sample_weight="w", **options)
    if name != "w" and value is None:
        way: dict[str, Any] = {"on_missing_label" if name == "y" else "on_invalid": "drop"}
        found = LOCAL.ranking(bad, label="y", score="p", **way)
        assert found.n_positives + found.n_negatives == N - 1


def test_rows_without_a_value_that_parts_them_are_a_part_of_their_own() -> None:
    bad = frame({**COLUMNS, "part": [None if k < 100 else k % 2 for k in range(N)]})
    for options in ({}, {"exact": True}):
        found = LOCAL.ranking(bad, label="y", score="p", by="part", **options)
        assert {value: each.n_samples for value, each in found.items()} == {0: N // 2 - 50, 1: N // 2 - 50, None: 100}
        assert list(found) == [0, 1, None]
    (block,) = [
        block for block in report_of(LOCAL.summarize(bad, label="y", score="p", by="part")) if block["value"] is None
    ]
    assert block["n_samples"] == 100
    assert LOCAL.confusion_summary(bad, label="class", pred="guess", by="part")[None].n_samples == 100
    with pytest.raises(ValueError, match=r"column 'part' has 100 missing values, the first at row 0 of .*; on_inv"):
        LOCAL.group_summary(bad, label="y", score="p", by="part")


def report_of(summary: Any) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = fastevals.report(summary, n_resamples=0).to_dict()["blocks"]
    return blocks


def test_rows_without_a_group_are_invalid() -> None:
    import pyarrow as pa

    rows = {
        "y": [0, 1, None, 1, 0, 1, 0, 1], "p": [0.1, 0.9, 0.5, None, 0.4, 0.6, 0.2, 0.8],
        "g": ["a", "a", "a", "b", None, "b", "b", "b"],
    }  # fmt: skip
    table = pa.table(rows)
    parts, columns = LocalFrame([table.slice(0, 3), table.slice(3)]), {"label": "y", "score": "p", "by": "g"}
    with pytest.raises(ValueError, match=r"column 'g' has 1 missing value, .* on_invalid='drop' leaves such rows out"):
        LOCAL.group_summary(parts, **columns, on_missing_label="drop")
    with pytest.raises(ValueError, match=r"column 'y' has 1 missing value, .* on_missing_label='drop' leaves"):
        LOCAL.grouped_auc(parts, **columns, on_invalid="drop")
    both = {**columns, "on_missing_label": "drop", "on_invalid": "drop"}
    assert LOCAL.group_summary(parts, **both).auc().n_samples.tolist() == [2, 3]
    errors = LOCAL.grouped_metrics(parts, "mean_squared_error", **both)["mean_squared_error"]
    for found in (LOCAL.grouped_auc(parts, **both), errors):
        assert (found.groups.tolist(), found.n_samples.tolist()) == (["a", "b"], [2, 3])


def test_values_that_can_not_be_counted_are_named() -> None:
    with pytest.raises(ValueError, match=r"column 'guess' has 1 missing value, the first at row 5 of partition 0"):
        LOCAL.confusion_summary(spoilt(5, "guess", None), label="class", pred="guess")
    with pytest.raises(ValueError, match=r"column 'fitted' has 1 NaN or infinite value"):
        LOCAL.target_summary(spoilt(5, "fitted", float("inf")), target="target", pred="fitted")
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
        ({"sample_weight": 3}, "sample_weight must be the name of a column, got 3"),
        ({"pos_label": "yes"}, "pos_label must be a label"),
        ({"cells": 0}, "cells must be"),
        ({"exact": 1}, "exact must be"),
        ({"on_invalid": "skip"}, "on_invalid must be one of"),
        ({"at": float("nan")}, "at"),
        ({"score": "day"}, "column 'day' must hold numbers"),
        ({"sample_weight": "v", "exact": True}, "column 'v' must hold whole numbers"),
        ({"frequency_weight": "v", "by": "user"}, "column 'v' must hold whole numbers"),
    ],
)
def test_arguments_that_are_wrong_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LOCAL.ranking(FRAME, **{"label": "y", "score": "p"} | options)


@pytest.mark.parametrize(
    ("call", "options", "message"),
    [
        ("grouped_auc", {"by": None}, "by must be the name of a column, got None"),
        (
            "grouped_auc",
            {"by": "user", "sample_weight": "v", "interval": "delong"},
            "interval=.delong. does not take sample_weight",
        ),
        ("group_summary", {"by": None}, "by must be the name of a column, got None"),
        ("group_summary", {"by": "user", "score": ["p"]}, r"score must be the name of a column, got \['p'\]"),
        ("group_summary", {"by": "user", "most_scores": 100}, "at most most_scores = 100 distinct scores, got"),
        ("probability_summary", {"label": 1}, "label must be the name of a column, got 1"),
        ("probability_summary", {"n_bins": 0}, "n_bins must be"),
        ("summarize", {"probabilities": 1}, "probabilities must be"),
    ],
)
def test_arguments_of_other_calls_are_checked(call: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(LOCAL, call)(FRAME, **{"label": "y", "score": "p"} | options)


def test_labels_may_be_numbers_of_numpy() -> None:
    one = np.int64(1)
    assert LOCAL.ranking(FRAME, label="y", score="p", pos_label=one).n_positives == COLUMNS["y"].sum()
    assert LOCAL.probability_summary(FRAME, label="y", score="p", pos_label=one).brier_score() > 0
    assert LOCAL.confusion_summary(FRAME, label="y", pred="w", pos_label=None).n_samples == N
    binary = frame(COLUMNS | {"guess": COLUMNS["p"] > 0.5, "class": COLUMNS["y"] == 1})
    matrix = LOCAL.confusion_summary(binary, label="class", pred="guess", pos_label=np.bool_(True)).matrix()
    assert matrix.pos_label


def test_no_rows_are_an_error_and_one_class_is_undefined() -> None:
    empty = LocalFrame([pa.table(COLUMNS).slice(0, 0)] * 3)
    for call in (LOCAL.ranking, LOCAL.summarize, LOCAL.probability_summary):
        with pytest.raises(ValueError, match="the frame has no rows that can be counted"):
            call(empty, label="y", score="p")
    with pytest.raises(ValueError, match="the frame has no rows that can be counted"):
        LOCAL.grouped_auc(empty, label="y", score="p", by="user")
    weightless = frame(COLUMNS | {"w": np.zeros(N, int)})
    for call in (LOCAL.ranking, partial(LOCAL.ranking, exact=True), partial(LOCAL.grouped_auc, by="user")):
        with pytest.raises(ValueError, match="no rows that can be counted: column 'w' must have a value above zero"):
            call(weightless, label="y", score="p", sample_weight="w")
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
    with pytest.raises(ImportError, match=r"this is 0\.0\.1: install fastevals 0\.0\.1 there"):
        LOCAL.ranking(other, label="y", score="p")
    count, join = shipped("1")
    monkeypatch.setitem(sys.modules, "fastevals", None)
    answers = [count(b"", iter(()), k) for k in (4, 2)]
    monkeypatch.undo()
    other.answers = lambda task: [join(b"", answers)]
    with pytest.raises(ImportError, match="workers can't import fastevals"):
        LOCAL.ranking(other, label="y", score="p")


@pytest.mark.parametrize("cells", [2**18, 100])
def test_few_rows_are_counted_by_score(cells: int) -> None:
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 900), rng.random(900)
    few = frame({"y": y, "p": p}, (300, 600))
    few.sample_is_all = True
    found = LOCAL.ranking(few, label="y", score="p", cells=cells).roc_auc()
    assert (found == Ranking(y, p).roc_auc()) == (cells > 900)


class Changing(LocalFrame):
    """Rows that change from some pass on."""

    def __init__(self, tables: Any, change: Any, first: int = 2) -> None:
        super().__init__(tables)
        self.left, self.change = first, change

    def answers(self, task: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            self.tables = self.change(self.tables)
            self.order = range(len(self.tables))
        return super().answers(task)


def replaced(name: str, values: Any) -> Any:
    """Return a change of all values in a column."""
    return lambda tables: frame(COLUMNS | {name: values}).tables


def reversed_by_class(values: Any) -> Any:
    """Return values in reverse order within each label."""
    found = values.copy()
    for label in (0, 1):
        found[COLUMNS["y"] == label] = values[COLUMNS["y"] == label][::-1]
    return found


OTHERS = r"the frame has changed: its scores, labels or weights differ .* persist\(\) \(on Spark also cache\(\)\)"


@pytest.mark.parametrize(
    ("change", "weight", "message"),
    [
        (lambda tables: tables[:-1], None, "the frame has changed: it had 6000 rows, 1242 positive, and then 4409, "),
        (replaced("p", COLUMNS["p"] - 10), None, OTHERS),
        (replaced("p", np.roll(COLUMNS["p"], 1)), None, OTHERS),
        (replaced("p", np.where(COLUMNS["y"] == 1, COLUMNS["p"], COLUMNS["p"][::-1])), None, OTHERS),
        (replaced("y", np.roll(COLUMNS["y"], 1)), None, OTHERS),
        (replaced("w", reversed_by_class(COLUMNS["w"])), "w", OTHERS),
    ],
)
def test_rows_that_change_between_two_passes_are_an_error(change: Any, weight: str | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LOCAL.ranking(Changing(FRAME.tables, change), label="y", score=["q", "p"], sample_weight=weight, exact=True)


def test_values_that_change_places_between_two_passes_are_an_error() -> None:
    days = COLUMNS["day"].copy()
    one, other = (np.flatnonzero((days == day) & (COLUMNS["y"] == 0))[0] for day in ("mon", "tue"))
    days[[one, other]] = days[[other, one]]
    with pytest.raises(ValueError, match="its scores, labels or weights differ"):
        LOCAL.ranking(Changing(FRAME.tables, replaced("day", days)), label="y", score="p", by="day", exact=True)
    sundays = replaced("day", np.full(N, "sun"))
    with pytest.raises(ValueError, match=r"partition \d has changed: it had no rows of day = 'sun'"):
        LOCAL.ranking(Changing(FRAME.tables, sundays), label="y", score="p", by="day", exact=True)


@pytest.mark.parametrize("first", [1, 2])
def test_ranges_that_change_are_an_error(first: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(rankings, "MOST_BROADCAST", 10)
    monkeypatch.setattr(rankings, "RANGE_ROWS", 1500)

    class Ranges(LocalFrame):
        def by_range(self, *arguments: Any) -> Any:
            ranged = super().by_range(*arguments)

            @contextmanager
            def changing() -> Any:
                with ranged as found:
                    yield Changing(found.tables, flipped, first)

            return changing()

    def flipped(tables: list[Any]) -> list[Any]:
        """Swap the labels of the first row of each label."""
        y = tables[1]["y"].to_numpy().copy()
        places = [int(np.flatnonzero(y == label)[0]) for label in (0, 1)]
        y[places] = y[places[::-1]]
        return [tables[0], tables[1].set_column(0, "y", pa.array(y)), *tables[2:]]

    with pytest.raises(ValueError, match="has changed: its scores, labels or weights differ"):
        LOCAL.ranking(Ranges(FRAME.tables), label="y", score="p", exact=True)


def test_rows_may_come_in_another_order_and_other_partitions() -> None:
    def shuffled(tables: list[Any]) -> list[Any]:
        whole = pa.concat_tables(tables).take(np.random.default_rng(0).permutation(N))
        return [whole.slice(0, 3210), whole.slice(3210)]

    expected = LOCAL.ranking(FRAME, label="y", score="p", sample_weight="w", by="day", exact=True)
    found = LOCAL.ranking(
        Changing(FRAME.tables, shuffled), label="y", score="p", sample_weight="w", by="day", exact=True
    )
    assert {day: each.roc_auc() for day, each in found.items()} == {d: e.roc_auc() for d, e in expected.items()}


def test_more_values_than_may_have_a_summary_are_an_error() -> None:
    with pytest.raises(ValueError, match="by must be a column of at most 100 values, got 400"):
        LOCAL.ranking_summary(FRAME, label="y", score="p", by="user")
    with pytest.raises(ValueError, match="column 'target' must have at most 1000 values"):
        LOCAL.confusion_summary(frame(COLUMNS, (5000,)), label="class", pred="guess", by="target")


# Copies of rows -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [False, True])
def test_copies_are_rows_and_weights_are_none(exact: bool) -> None:
    """Both lead to the same values, but counts of weights are floats, which the bootstrap cannot draw from."""
    options: dict[str, Any] = {"label": "y", "score": "p", "exact": exact}
    copies, weighted = (
        LOCAL.ranking(FRAME, **options, **{name: "w"}) for name in ("frequency_weight", "sample_weight")
    )
    true = Ranking(COLUMNS["y"], COLUMNS["p"], frequency_weight=COLUMNS["w"])
    assert float(copies.roc_auc()) == float(weighted.roc_auc()) == pytest.approx(true.roc_auc(), abs=1e-5 * (not exact))
    assert copies.n_samples == true.n_samples
    table = pa.table(COLUMNS)
    for engine, frame_ in ((LOCAL, FRAME), (parquet, table)):
        found = engine.ranking(frame_, **options, frequency_weight="w").confusion_at(0.5)
        assert found.counts.dtype == np.int64
        np.testing.assert_array_equal(found.counts, true.confusion_at(0.5).counts)
        assert engine.ranking(frame_, **options, sample_weight="w").confusion_at(0.5).counts.dtype == np.float64
        with pytest.raises(ValueError, match="weight and frequency_weight exclude each other"):
            engine.ranking(frame_, **options, sample_weight="w", frequency_weight="w")


def test_summaries_of_frames_know_weights_from_copies() -> None:
    named = {"label": "y", "score": "p"}
    for weight in ("sample_weight", "frequency_weight"):
        given, is_weighted = {weight: "w"}, weight == "sample_weight"
        found = [
            LOCAL.ranking_summary(FRAME, **named, **given),
            LOCAL.probability_summary(FRAME, **named, **given),
            LOCAL.group_summary(FRAME, **named, by="day", **given),
            LOCAL.confusion_summary(FRAME, label="class", pred="guess", **given),
            LOCAL.target_summary(FRAME, target="target", pred="fitted", **given),
        ]
        assert [summary.is_weighted for summary in found] == [is_weighted] * 5
        assert LOCAL.summarize(FRAME, **named, **given).are_copies != is_weighted
    expected = np.repeat(np.arange(N), COLUMNS["w"])
    matrix = ConfusionMatrix.from_predictions(COLUMNS["class"][expected], COLUMNS["guess"][expected])
    np.testing.assert_array_equal(found[3].matrix().counts, matrix.counts)
