"""Grouped metrics by several columns, of frames, and without small groups, against one call per group."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fastevals
from fastevals import ConfusionMatrix, grouped_auc, grouped_metrics, query_metrics

RNG = np.random.default_rng(0)
N = 600
FRAME = pd.DataFrame(
    {
        "y": RNG.integers(0, 2, N),
        "p": RNG.random(N),
        "region": RNG.choice(["north", "south"], N),
        "value": RNG.integers(-1, 2, N),
        "age": pd.cut(RNG.integers(18, 80, N), [0, 30, 50, 100]),
        "w": RNG.integers(1, 4, N),
    }
)
KEYS = FRAME[["region", "value"]]
AUCS = {
    key: fastevals.Ranking(rows["y"], rows["p"]).roc_auc() for key, rows in FRAME.groupby(["region", "value"])
}  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        (KEYS, ("region", "value")),
        (pl.from_pandas(KEYS), ("region", "value")),
        (KEYS.to_dict("list"), ("region", "value")),
        ([KEYS["region"], KEYS["value"]], ("region", "value")),
        ([KEYS["region"].tolist(), KEYS["value"].tolist()], ("group_0", "group_1")),
        (list(KEYS.itertuples(index=False, name=None)), None),
    ],
    ids=["pandas", "polars", "mapping", "columns", "lists", "tuples"],
)
def test_groups_of_several_columns_are_combinations(groups: Any, names: tuple[str, ...] | None) -> None:
    found = grouped_auc(FRAME["y"], FRAME["p"], groups)
    assert dict(found) == AUCS
    assert found.by == names
    assert found["south", -1] == AUCS["south", -1]
    frame = found.to_frame("pandas")
    if names is not None:  # a column with the name of a number gets a prefix
        first, second = (name if name != "value" else "group_value" for name in names)
        assert list(zip(frame[first], frame[second], strict=True)) == list(AUCS)
        assert frame[second].dtype == np.int64
    keys, matrices = ConfusionMatrix.from_groups(FRAME["y"], FRAME["p"] > 0.5, groups)
    assert keys.tolist() == list(AUCS)
    queries = query_metrics(FRAME["y"], FRAME["p"], groups, "mrr")["mrr"]
    assert (list(queries.queries), queries.by) == (list(AUCS), names)
    assert grouped_metrics(FRAME["y"], FRAME["p"] > 0.5, groups, "accuracy")["accuracy"].values == pytest.approx(
        matrices.accuracy()
    )


def test_one_column_is_no_tuple() -> None:
    expected = grouped_auc(FRAME["y"], FRAME["p"], FRAME["value"])
    for groups in (FRAME[["value"]], {"value": FRAME["value"]}, FRAME[["value"]].to_numpy()):
        found = grouped_auc(FRAME["y"], FRAME["p"], groups)
        assert (found.groups.tolist(), found.by) == (expected.groups.tolist(), None)


def test_a_frame_and_the_names_of_its_columns_come_first() -> None:
    found = grouped_auc(FRAME, label="y", score="p", by=["region", "value"])
    assert dict(found) == AUCS
    one = grouped_auc(pl.from_pandas(FRAME.drop(columns="age")), label="y", score="p", by="value", sample_weight="w")
    assert dict(one) == dict(grouped_auc(FRAME["y"], FRAME["p"], FRAME["value"], sample_weight=FRAME["w"]))
    ages = grouped_metrics(FRAME, ["roc_auc", "brier_score"], label="y", score="p", by=["age", "region"])
    assert ages["roc_auc"].to_frame("pandas")["age"].dtype == FRAME["age"].cat.categories.dtype
    errors = grouped_metrics(FRAME, label="w", score="p", by=("region", "age"), metrics="mean_absolute_error")
    assert list(errors["mean_absolute_error"].groups) == [
        (b, a) for b in ("north", "south") for a in FRAME["age"].cat.categories
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "y_score is missing: pass arrays, or a frame with label=, score= and by="),
        ({"label": "y", "score": "p"}, "by is missing: columns of a frame need label, score and by"),
        ({"label": "y", "score": "q", "by": "w"}, "score 'q' is not a column of data.*'y', 'p', 'region'"),
        (
            {"label": "y", "score": "p", "by": ["w", "w"]},
            r"by must name one or more different columns, got \['w', 'w'\]",
        ),
        ({"label": "y", "score": "p", "by": []}, "by must name one or more different columns"),
        ({"label": "y", "score": "region", "by": "w"}, "column 'region' must hold numbers"),
        (
            {"label": "y", "score": "p", "by": "w", "sample_weight": [1]},
            r"sample_weight must be the name of a column, got \[1\]",
        ),
        ({"label": "y", "score": "p", "by": "w", "groups": [1]}, "groups must not be given with label, score and by"),
        ({"label": "y", "score": "p", "by": "w", "min_positives": -1}, "min_positives must be an integer at least 0"),
        (
            {"label": "y", "score": "p", "by": "w", "min_negatives": 900},
            "min_positives = 0 and min_negatives = 900 leave no group: the largest numbers are",
        ),
    ],
)
def test_columns_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        grouped_auc(FRAME, **options)


def test_small_groups_are_left_out_and_counted() -> None:
    by = ["region", "value", "age"]
    sizes = FRAME.groupby(by, observed=True)["y"].agg(["sum", "size"])
    least = int(sizes["sum"].median())
    large = sizes[(sizes["sum"] >= least) & (sizes["size"] - sizes["sum"] >= 5)]
    every = grouped_auc(FRAME, label="y", score="p", by=by, interval="delong")
    found = grouped_auc(FRAME, label="y", score="p", by=by, interval="delong", min_positives=least, min_negatives=5)
    assert found.groups.tolist() == large.index.tolist()
    assert found.n_left_out == len(sizes) - len(large) > 0
    assert f"n_left_out={found.n_left_out}" in repr(found)
    assert [found[key] for key in large.index] == [every[key] for key in large.index]
    metrics = grouped_metrics(FRAME, "average_precision", label="y", score="p", by=by, min_positives=least)
    assert metrics["average_precision"].n_left_out == int((sizes["sum"] < least).sum())
    copies = {"label": "y", "score": "p", "by": "region", "frequency_weight": "w"}
    most = int((FRAME["y"] * FRAME["w"]).groupby(FRAME["region"]).sum().max())  # copies count as rows
    for interval in (None, "delong"):
        kept = grouped_auc(FRAME, **copies, min_positives=most, interval=interval)  # type: ignore[arg-type]
        assert (kept.n_positives.tolist(), kept.n_left_out) == ([most], 1)  # type: ignore[union-attr]
    with pytest.warns(fastevals.UndefinedMetricWarning, match="it needs two groups or more"):
        kept = grouped_auc(FRAME, **copies, min_positives=most, interval="bootstrap", n_resamples=9)  # type: ignore[arg-type]
    assert (kept.n_positives.tolist(), kept.n_left_out) == ([most], 1)  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="min_positives and min_negatives require metrics of scores, got 'accuracy'"):
        grouped_metrics(FRAME["y"], FRAME["y"], KEYS, "accuracy", min_positives=1)
