"""NumPy sorts and ranks few rows exactly as the kernels do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from fastevals import Ranking
from fastevals.counting import few_rows, ordering
from fastevals.counting.ordering import BUCKET, BinaryLabels, ClassSplit, split_by_class
from tests import strategies
from tests.counting.test_sorting import draw, every_distribution
from tests.reference import ranking as twin


@pytest.fixture
def by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_rows, "PROCESS_ROWS", 1 << 40)


def both_ways(labels: BinaryLabels, scores: Any) -> tuple[ClassSplit, ClassSplit]:
    splits = []
    for rows in (1 << 40, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(few_rows, "PROCESS_ROWS", rows)
            splits.append(split_by_class(labels, scores))
    return splits[0], splits[1]


def assert_same(mine: ClassSplit, theirs: ClassSplit) -> None:
    for name in ("n_pos", "n_neg", "doubled_u", "n_thresholds", "threshold_dtype"):
        assert getattr(mine, name) == getattr(theirs, name), name
        assert type(getattr(mine, name)) is type(getattr(theirs, name)), name
    assert mine.spans == theirs.spans  # so sums over them have the same bits
    for name in ("marked", "starts", "extremes"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
        assert getattr(mine, name).dtype == getattr(theirs, name).dtype


@every_distribution
@pytest.mark.parametrize("n", [1, 2, 3, 400, 2 * BUCKET - 1, 5 * BUCKET])
def test_numpy_splits_as_kernels_do(name: str, n: int) -> None:
    labels, scores, _ = draw(name, n)
    before = scores.copy()
    assert_same(*both_ways(BinaryLabels(labels, True, False), scores))
    np.testing.assert_array_equal(scores, before)
    assert (np.signbit(scores) == np.signbit(before)).all()


@every_distribution
@pytest.mark.parametrize("ascending", [False, True])
def test_numpy_sweeps_as_the_kernel_does(name: str, ascending: bool) -> None:
    labels, scores, _ = draw(name, 5 * BUCKET)
    split = split_by_class(BinaryLabels(labels, True, False), scores)
    for span in split.spans:
        step = -1 if ascending else 1
        given = split.marked, split.starts, *span[:2], span.tp, span.fp, split.codec.flip_below, split.codec.flip, step
        mine, theirs = (np.full((3, span.groups), 7) for _ in range(2))
        few_rows.sweep_marked(*given, *mine)
        ordering.sweep_slots(*given, *theirs)
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("values", "positive", "negative"),
    [
        ([0, 1, 1, 0, 1], 1, 0),
        ([7, -7, 7, 7, -7], -7, 7),
        ([1, 1, 1, 1, 1], 1, None),
        ([0.5, 2.5, 0.5, 0.5, 2.5], 2.5, 0.5),
        (["no", "yes", "yes", "no", "no"], "yes", "no"),
        ([2**63, 1, 2**63, 1, 1], 2**63, 1),
    ],
)
def test_labels_of_any_type(values: list[Any], positive: Any, negative: Any) -> None:
    labels = BinaryLabels(np.array(values), positive, negative)
    assert_same(*both_ways(labels, np.array([0.1, -0.3, 0.1, -0.0, 0.0])))


@pytest.mark.usefixtures("by_numpy")
@given(strategies.unweighted)
@strategies.BOUNDED
def test_auc_is_the_twins(case: strategies.Case) -> None:
    assert Ranking(case.y_true, case.y_score).roc_auc() == float(twin.roc_auc(case.y_true, case.y_score))  # type: ignore[arg-type]


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_are_named(bad: float) -> None:
    with pytest.raises(ValueError, match=r"y_score.* row 2"):
        Ranking([0, 1, 0, 1], [0.1, 0.2, bad, 0.3])


@pytest.mark.usefixtures("by_numpy")
def test_a_third_label_is_refused() -> None:
    labels = BinaryLabels(np.array([0, 1, 2]), 1, 0)
    with pytest.raises(ValueError, match="y_true"):
        split_by_class(labels, np.arange(3.0))


# How many -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def none_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_rows, "_ranked", [0])
    monkeypatch.setattr(few_rows, "PROCESS_ROWS", 1000)


@pytest.mark.usefixtures("none_yet")
@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([1000, 1], [True, False]),
        ([1001, 900, 100], [False, True, False]),
        ([1, 1, 1, 1], [True, True, True, False]),  # a call counts as at least 256 rows
    ],
)
def test_numpy_ranks_the_first_rows(calls: list[int], expected: list[bool]) -> None:
    assert [few_rows.spares_kernels(rows) for rows in calls] == expected


@pytest.mark.usefixtures("none_yet")
@pytest.mark.parametrize("is_kept", [False, True])
def test_numpy_ranks_more_rows_while_kernels_are_not_on_disk(is_kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(few_rows.sort_keys), "is_kept", lambda kernel: is_kept)
    call, total = few_rows.UNCOMPILED_CALL, few_rows.UNCOMPILED_ROWS
    assert not few_rows.spares_kernels(call + 1)
    expected = [not is_kept] * (total // call) + [False]
    assert [few_rows.spares_kernels(call) for _ in expected] == expected


@pytest.mark.usefixtures("none_yet")
def test_then_kernels_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(few_rows.sort_keys), "is_kept", lambda kernel: True)
    ranked: list[int] = []
    rank: Callable[..., Any] = few_rows.rank_marked
    monkeypatch.setattr(few_rows, "rank_marked", lambda marked: ranked.append(marked.size) or rank(marked))  # type: ignore[func-returns-value]
    y, s = np.arange(400) % 3 % 2, np.arange(400) * 0.618 % 1
    assert len({Ranking(y, s).roc_auc() for _ in range(4)}) == 1
    assert ranked == [0, 400, 0, 400]
