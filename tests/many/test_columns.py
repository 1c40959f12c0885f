"""Columns of scores ranked in one batch, against `Ranking`, in any layout; and their results."""

from __future__ import annotations

import math
import pickle
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import BatchMetric, Ranking, batch_auc, metric, num_threads
from fastevals._kernels.columns import square_placements
from fastevals._kernels.sweep import rank_marked
from fastevals.counting.ordering import BUCKET
from fastevals.many import columns as module
from fastevals.many.columns import ScoreColumns, batch_rankings, batch_values, column_metrics
from fastevals.many.group_values import grouped_values
from fastevals.measure.metric_specs import MetricSpec, parse_metric, ranking_metric
from fastevals.measure.registry import SCORE_METRICS
from tests.reference import models as reference
from tests.strategies import BOUNDED, EXTREME, LARGEST, Case, cases, float_weighted

AUC = [ranking_metric(MetricSpec("roc_auc", {}))]
RANKING_METRICS = [name for name, entry in SCORE_METRICS.items() if entry.of == "ranking"]


def sorted_rows(flags: Any, scores: Any) -> Any:
    scores, flags = np.asarray(scores), np.asarray(flags, dtype=np.uint8)
    return module._SortingSpace.allocate(scores.size).sort(scores, flags)


def columns_of(scores: Any, flags: Any, weights: Any = None) -> ScoreColumns:
    names = [f"column {i}" for i in range(len(scores))]
    return ScoreColumns(list(scores), lambda i: flags, names, None if weights is None else lambda i: weights)


def table(m: int, n: int, *, seed: int = 0, decimals: int = 9) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    flags = (rng.random(n) < 0.3).astype(np.uint8)
    return flags, (rng.normal(size=(m, n)) + flags).round(decimals)


# The kernel -------------------------------------------------------------------------------------------------------


@BOUNDED
@given(cases(both_classes=False))
def test_a_column_is_sorted_with_its_classes(case: Case) -> None:
    rows = sorted_rows(case.y_true, case.y_score)
    if rows is None:
        assert case.y_score.max() > 1e300 > -1e300 > case.y_score.min()  # more than half of all floats lie between
        return
    assert (np.diff(rows.astype(object)) >= 0).all()
    order = np.lexsort((case.y_true, case.y_score))
    assert (rows & np.uint64(1)).tolist() == case.y_true[order].tolist()
    flags, scores = case.y_true.tolist(), case.y_score.tolist()
    assert rank_marked(rows) == (reference.doubled_u(flags, scores), len(set(scores)), flags.count(1))
    assert square_placements(rows) == reference.squares(flags, scores)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("i8", [-(2**63), -1, 0, 1, 2**63 - 1]),
        ("u8", [0, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1]),
        ("f8", [-LARGEST, -5e-324, 5e-324, LARGEST]),
    ],
)
def test_scores_too_far_apart_are_told(dtype: str, values: Any) -> None:
    scores = np.array([*values, *values], dtype=dtype)
    flags = np.arange(scores.size, dtype=np.uint8) % 3 % 2
    assert sorted_rows(flags, scores) is None
    assert batch_values(columns_of([scores], flags), AUC).tolist() == [[Ranking(flags, scores).roc_auc()]]


@given(st.lists(st.sampled_from([2**53, 2**53 + 1, -3, 0, -(2**62), 2**62 - 1, 2**63 - 1]), min_size=1, max_size=9))
@BOUNDED
def test_integers_are_told_apart(values: list[int]) -> None:
    flags = [i % 2 for i in range(len(values))]
    rows = sorted_rows(flags, np.array(values))
    if rows is not None:
        assert rank_marked(rows)[0] == reference.doubled_u(flags, values)


@pytest.mark.parametrize("n", [2 * BUCKET - 1, 2 * BUCKET, 5 * BUCKET + 3])
@pytest.mark.parametrize(
    "shape",
    [
        lambda x: x,
        np.exp,
        lambda x: x.round(1),
        lambda x: np.where(np.arange(x.size) == 7, 1e300, x),
        lambda x: np.where(x > 0, x, 0.0),
        lambda x: (x * 1000).astype(np.int64),
        lambda x: np.zeros(x.size),
        lambda x: np.sort(x) * 1e-310,
    ],
    ids=["normal", "skewed", "tied", "outlier", "half zero", "integers", "constant", "denormal"],
)
def test_long_columns_are_as_rankings(n: int, shape: Any) -> None:
    flags, (scores,) = table(1, n)
    scores = shape(scores)
    ranking = Ranking(flags, scores)
    assert rank_marked(sorted_rows(flags, scores))[::2] == (ranking._doubled_u, ranking.n_positives)


# Columns ----------------------------------------------------------------------------------------------------------


@BOUNDED
@given(st.lists(cases(both_classes=False), min_size=1, max_size=4))
def test_values_are_those_of_rankings(found: list[Case]) -> None:
    metrics = [ranking_metric(MetricSpec(name, {})) for name in RANKING_METRICS]
    flags = [case.y_true.astype(np.uint8) for case in found]
    columns = ScoreColumns([case.y_score for case in found], flags.__getitem__, [""] * len(found))
    values = batch_values(columns, metrics)
    assert values.shape == (len(metrics), len(found))
    for case, row in zip(found, values.T, strict=True):
        counts = Ranking(case.y_true, case.y_score, pos_label=1).counts
        np.testing.assert_array_equal(row, [SCORE_METRICS[name](counts) for name in RANKING_METRICS])
    pairs = ["roc_auc", "rank_loss", "gini"]
    known = batch_values(columns, [ranking_metric(MetricSpec(name, {})) for name in pairs])
    np.testing.assert_array_equal(known, values[[RANKING_METRICS.index(name) for name in pairs]])


@BOUNDED
@given(float_weighted)
def test_weighted_columns(case: Case) -> None:
    columns = columns_of([case.y_score, -case.y_score], case.y_true.astype(np.uint8), case.weights)
    expected = [Ranking(case.y_true, s, sample_weight=case.weights).roc_auc() for s in (case.y_score, -case.y_score)]
    assert batch_values(columns, AUC)[0].tolist() == expected


MIXED = [*RANKING_METRICS, "brier_score", metric("f1", best="f1"), metric("recall", threshold=0.5)]


@pytest.mark.cases(1)
@pytest.mark.parametrize("weighted", [False, True])
def test_many_short_columns_are_measured_as_groups(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS_TOGETHER", 2000)
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 60, 300)
    scores = [rng.integers(0, 9, n) / 8 for n in sizes]
    flags = [rng.integers(0, 2, n).astype(np.uint8) for n in sizes]
    weights = [rng.integers(1, 4, n) / 4 for n in sizes] if weighted else None
    columns = ScoreColumns(scores, flags.__getitem__, list(map(str, sizes)), weights and weights.__getitem__)
    metrics = [ranking_metric(parse_metric("metrics", each)[1]) for each in MIXED]
    taken = mock.Mock(side_effect=grouped_values)
    monkeypatch.setattr(module, "grouped_values", taken)
    found = column_metrics(columns, metrics)
    assert taken.call_count > 1
    for i, each in enumerate(found):
        options = {} if weights is None else {"sample_weight": weights[i]}
        ranking = Ranking(flags[i], scores[i], pos_label=1, **options)
        assert (each.n_positives, each.n_negatives) == (ranking.n_positives, ranking.n_negatives)
        expected = [one.of_counts(ranking.counts) for one in metrics]
        np.testing.assert_allclose(each.values, expected, rtol=1e-14, atol=1e-15)
    brier = [metrics[MIXED.index("brier_score")]]
    scores[7] = scores[7] + 2  # each column is checked for probabilities separately
    values = batch_values(columns, brier)[0]
    assert np.isnan(values).tolist() == [i == 7 for i in range(300)]
    scores[8] = np.full(sizes[8], np.nan)
    with pytest.raises(ValueError, match=f"^{sizes[8]} must be finite"):
        batch_values(columns, metrics[:1])
    with pytest.raises(ValueError, match=f"^{sizes[8]} must be finite"):
        batch_values(columns, metrics[1:])


def test_columns_are_groups_if_all_are_short() -> None:
    short = [np.empty(3)] * module.FEW_GROUPS
    assert not module.are_many_and_short(short)
    assert module.are_many_and_short([*short, np.empty(module.SHORT_ROWS)])
    assert not module.are_many_and_short([*short, np.empty(module.LARGE_ROWS)])  # though their mean is


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_layouts_and_threads_give_the_same_bits(n_threads: int) -> None:
    flags, scores = table(19, 9000, decimals=3)
    expected = [Ranking(flags, each).roc_auc() for each in scores]
    wide = np.empty((scores.shape[0], 2 * scores.shape[1]))
    wide[:, ::2] = scores
    read_only = scores.copy()
    read_only.flags.writeable = False
    layouts = [
        scores, np.asfortranarray(scores), wide[:, ::2], scores[:, ::-1][:, ::-1], scores.astype(">f8"), read_only,
        np.asfortranarray(scores.astype(">f8")), np.ascontiguousarray(scores.T).T[:, :],
    ]  # fmt: skip
    with num_threads(n_threads):
        for layout in layouts:
            assert batch_values(columns_of(layout, flags), AUC)[0].tolist() == expected
        backwards = columns_of([each[::-1] for each in np.asfortranarray(scores)], flags[::-1].copy())
        assert batch_values(backwards, AUC)[0].tolist() == expected


@pytest.mark.parametrize("dtype", ["f2", "f4", "g", "i1", "u1", "i2", "u8", "?"])
def test_dtypes(dtype: str) -> None:
    flags, scores = table(5, 400, decimals=1)
    for layout in (scores.astype(dtype), np.asfortranarray(scores.astype(dtype))):
        expected = [Ranking(flags, each).roc_auc() for each in layout]
        assert batch_values(columns_of(layout, flags), AUC)[0].tolist() == expected


def test_neighbours_of_another_kind_are_not_read_together() -> None:
    flags, scores = table(6, 50)
    whole = np.asfortranarray(scores)
    mixed = [*whole[:2], *np.asfortranarray(scores.astype(np.float32))[2:4], scores[4], whole[5]]
    groups = [len(group) for group in module._columns_read_together(mixed)]
    assert groups == [2, 2, 1, 1]
    expected = [Ranking(flags, each).roc_auc() for each in mixed]
    assert batch_values(columns_of(mixed, flags), AUC)[0].tolist() == expected
    assert [len(group) for group in module._columns_read_together(list(np.asfortranarray(np.zeros((19, 9)))))] == [
        8,
        8,
        3,
    ]
    assert [len(group) for group in module._columns_read_together([np.broadcast_to(np.float64(3), 9)] * 3)] == [1, 1, 1]


def test_large_columns_take_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    flags, scores = table(3, 500)
    expected = batch_values(columns_of(scores, flags), AUC)
    monkeypatch.setattr(module, "LARGE_ROWS", 400)
    np.testing.assert_array_equal(batch_values(columns_of(scores, flags), AUC), expected)
    ragged = ScoreColumns([scores[0, :300], scores[1]], lambda i: flags[:300] if i == 0 else flags, ["a", "b"])
    expected_ragged = [Ranking(flags[:300], scores[0, :300]).roc_auc(), expected[0, 1]]
    with num_threads(1):
        assert batch_values(ragged, AUC)[0].tolist() == expected_ragged
    with num_threads(3):
        assert batch_values(ragged, AUC)[0].tolist() == expected_ragged


def test_rankings_have_all_methods() -> None:
    flags, scores = table(3, 60)
    found = batch_rankings(columns_of(scores, flags))
    for ranking, each in zip(found, scores, strict=True):
        assert ranking.average_precision() == Ranking(flags, each).average_precision()


def test_the_first_column_that_is_not_finite_is_named() -> None:
    flags, scores = table(40, 30)
    scores[7, 4], scores[9, 2] = np.nan, np.inf
    message = "column 7 must be finite, but has 1 NaN value, the first at row 4"
    for columns in (columns_of(scores, flags), columns_of(scores, flags, np.ones(30))):
        with pytest.raises(ValueError, match=message):
            batch_values(columns, AUC)
    with pytest.raises(ValueError, match="column 0 must be finite, but has 1 infinite value"):
        batch_values(columns_of(scores[9:], flags), AUC)


@pytest.mark.parametrize("value", EXTREME)
def test_one_row(value: float) -> None:
    assert np.isnan(batch_values(columns_of([np.array([value])], np.ones(1, np.uint8)), AUC)).all()


# Results ----------------------------------------------------------------------------------------------------------


def test_a_result_is_a_sequence_with_names() -> None:
    found = BatchMetric(np.array([0.25, math.nan, 1.0]), ("a", "b", 3), 4, np.array([1, 0, 2]))
    assert list(found)[::2] == [0.25, 1.0]
    assert (found["a"], found[3], len(found), found.n_undefined) == (0.25, 1.0, 3, 1)
    assert np.asarray(found, dtype=np.float32).dtype == np.float32
    assert np.nanmax(found) == 1.0
    assert repr(found) == "BatchMetric(a=0.25, b=nan, 3=1.0, n_undefined=1)"
    assert found.to_dict()["names"] == ["a", "b", 3]
    assert found.to_dict()["n_undefined"] == 1
    with pytest.raises(KeyError, match="'c': the models are 'a', 'b', 3"):
        found["c"]
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 1
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.values, found.values)
    assert not copy.values.flags.writeable


def test_many_models_are_not_all_shown() -> None:
    assert repr(BatchMetric(np.arange(9.0), tuple(range(9)))) == "BatchMetric(0.0, 1.0, 2.0, 3.0, ... 9 models)"


def test_later_changes_change_nothing() -> None:
    scores = np.array([[1.0, 2.0], [2.0, 1.0]])
    found = batch_auc([0, 1], scores)
    scores[:] = 0
    assert list(found) == [1.0, 0.0]
