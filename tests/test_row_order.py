"""Rows of pandas objects are matched by position."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fastevals
from fastevals import RowOrderWarning
from fastevals.scale import ClassScoresSummary, ConfusionSummary, GroupSummary, RankingSummary, TargetSummary

Y = pd.Series([0, 1, 1, 0, 1, 0], index=list("abcdef"))
S = pd.Series([1.0, 5.0, 4.0, 2.0, 3.0, 2.5], index=Y.index)
OTHER = S.loc[list("fbdace")]  # the same labels in another order

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "y_score": fastevals.Ranking,
    "y_pred": lambda y, s: fastevals.ConfusionMatrix.from_predictions(y, (s > 2).astype(int)),
    "groups": lambda y, s: fastevals.grouped_auc(y, Y.to_numpy() + 1.0, s > 0),
    r"scores\['m'\]": lambda y, s: fastevals.delong(y, {"m": s}),
    r"subject\[1\]": lambda y, s: fastevals.bootstrap((y, s), "roc_auc", n_resamples=9, stratified=True, rng=0),
    r"data\['s'\]": lambda y, s: fastevals.report({"y": y, "s": s}, label="y", score="s", n_resamples=0),
    "b": lambda y, s: fastevals.wilcoxon_test(y, s),
    "y": lambda y, s: fastevals.estimate_error(
        lambda X, y, X_new: np.zeros(len(X_new)), s, y, fastevals.KFold(2, rng=0), "mean_squared_error"
    ),
    "predictions": lambda y, s: fastevals.batch_metrics(y, pd.DataFrame({"m": s}), "roc_auc"),
    "summary": lambda y, s: RankingSummary().update(y, s),
    "frequency_weight": lambda y, s: RankingSummary().update(y, S.to_numpy(), frequency_weight=s.round()),
    "groups ": lambda y, s: GroupSummary().update(y, Y.to_numpy() + 1.0, s > 0),
    "y_pred ": lambda y, s: ConfusionSummary().update(y, (s > 2).astype(int)),
    "y_score ": lambda y, s: ClassScoresSummary().update(y, pd.DataFrame({0: s > 2, 1: s <= 2}).astype(float)),
    "y_pred  ": lambda y, s: TargetSummary().update(y, s),
}


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize("name", CALLS)
def test_the_same_rows_in_another_order_are_warned_of(name: str) -> None:
    call = CALLS[name]
    shown = "y_score" if name == "summary" else name.strip()
    with pytest.warns(
        RowOrderWarning, match=rf"^{shown} is matched with .* by position, but .*\.loc\[.*\.to_numpy\(\)"
    ) as seen:
        call(Y, OTHER)
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowOrderWarning)
        call(Y, OTHER.loc[Y.index])  # as the message advises
        call(Y, OTHER.to_numpy())
        call(Y.to_numpy(), OTHER)


@pytest.mark.parametrize(
    ("first", "second", "warned"),
    [
        (range(6), [0, 1, 2, 3, 4, 5], False),
        ([17, 3, 99, 4, 2, 8], range(6), False),  # some of the rows, and predictions with a new index
        ([3, 1, 0, 2, 5, 4], range(6), True),  # all rows, shuffled
        ([17, 3, 99, 4, 2, 8], [3, 17, 99, 4, 2, 8], True),
        ([17, 3, 99, 4, 2, 8], [17, 3, 99, 4, 2, 9], True),
        ([1, "a", 2, 3, 4, 5], range(6), False),
        (pd.date_range("2024", periods=6), pd.date_range("2024", periods=6), False),
        (pd.date_range("2024", periods=6), pd.date_range("2024-01-02", periods=6), True),
    ],
)
def test_indexes_that_differ_are_warned_of_unless_one_is_fresh(first: Any, second: Any, warned: bool) -> None:
    y, score = pd.Series(Y.to_numpy(), index=first), pd.Series(S.to_numpy(), index=second)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert fastevals.Ranking(y, score).roc_auc() == 1  # by position
    assert [each.category for each in seen] == [RowOrderWarning] * warned


def test_columns_of_other_lengths_and_other_arguments_are_no_rows_of_the_same_data() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrix = pd.DataFrame([[3, 1], [2, 4]], index=["n", "p"], columns=["n", "p"])
        fastevals.ConfusionMatrix(matrix, labels=pd.Series(["n", "p"]))
        with pytest.raises(ValueError, match="y_score has 5 rows, but y_true has 6"):
            fastevals.Ranking(Y, S[1:])


def test_runs_have_rows_of_their_own() -> None:
    run = pd.DataFrame({"query": list("aabb"), "document": [1, 2, 1, 2], "score": [0.4, 0.3, 0.2, 0.1]})
    systems = {"first": run, "second": run[::-1]}
    qrels = fastevals.Qrels(run[["query", "document"]].assign(relevance=[0, 1, 1, 0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowOrderWarning)
        warnings.simplefilter("ignore", UserWarning)
        fastevals.report(systems, qrels=qrels, n_resamples=99)
        fastevals.compare_query_metrics(qrels, systems, metrics="mrr", n_resamples=99)
