"""Scores of several classes in every form, and what is said about forms that a call does not take."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastevals
from fastevals import ClassRankings, UndefinedMetricWarning, bootstrap, compare_rankings, delong, permutation_test
from fastevals.show import cli

N = 60
RNG = np.random.default_rng(0)
P, Q = (RNG.dirichlet([1, 1, 1], N) for _ in "pq")
Y, GROUPS = np.arange(N) % 3, np.arange(N) // 3
LISTS = [row.tolist() for row in P]
FORMS: dict[str, Any] = {
    "pandas, arrays": pd.Series(list(P)),
    "pandas, lists": pd.Series(LISTS),
    "pandas, Arrow": pd.Series(LISTS).astype(pd.ArrowDtype(pa.list_(pa.float64()))),
    "polars": pl.Series(LISTS),
    "polars, arrays": pl.Series(P, dtype=pl.Array(pl.Float64, 3)),
    "Arrow": pa.array(LISTS),
    "Arrow, fixed size": pa.FixedSizeListArray.from_arrays(pa.array(P.ravel()), 3),
    "Arrow, large": pa.array(LISTS, type=pa.large_list(pa.float64())),
    "Arrow, chunked": pa.chunked_array([LISTS[:7], LISTS[7:]]),
    "objects": pd.Series(LISTS).to_numpy(),
}


def measured(column: Any) -> tuple[Any, ...]:
    few: dict[str, Any] = {"n_resamples": 29, "rng": 0}
    return (
        ClassRankings(Y, column).roc_auc(),
        bootstrap((Y, column), ["roc_auc", "log_loss"], **few).to_dict(),
        compare_rankings(Y, {"a": column, "b": Q}, **few).to_dict(),
        permutation_test(Y, column, Q, "roc_auc", **few).pvalue,
    )


@cache
def of_a_matrix() -> tuple[Any, ...]:
    return measured(P)


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_lists_are_matrices(form: str) -> None:
    assert measured(FORMS[form]) == of_a_matrix()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.Series([*LISTS[:-1], [0.5, 0.5]]), "y_score must have 3 probabilities per row, one per class, got 2 at"),
        (pd.Series([*LISTS[:-1], None]), "y_score.*NaN"),
        (pa.array([["a", "b", "c"]] * N), "y_score must be a column of lists"),
        (np.array([None] * N), "y_score must be 2-D"),
        (np.array(["abc"] * N, dtype=object), "y_score must be 2-D"),
    ],
)  # fmt: skip
def test_bad_lists(column: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ClassRankings(Y, column)


CLASSES = ClassRankings(Y, P)
SAID = {
    "one matrix": (lambda: delong(Y, P), r"one matrix: for a single model, pass ClassRankings\(y_true, scores\) alone"),
    "one frame": (lambda: delong(Y, pd.DataFrame(P)), "scores must be a mapping of names to matrices"),
    "rankings": (lambda: compare_rankings(Y, {"A": CLASSES, "B": CLASSES}), r"scores\['A'\] must hold rows, got a Cl"),
    "a list": (lambda: compare_rankings(Y, [CLASSES, CLASSES]), "got a ClassRankings: pass the matrix of scores"),
    "report": (lambda: fastevals.report(CLASSES), "data must be rows, got a ClassRankings: pass {'y': y_true}"),
    "compare": (lambda: fastevals.compare(CLASSES), "data must be rows, got a ClassRankings"),
    "gate": (lambda: fastevals.gate(CLASSES, "accuracy >= 0.5"), "data must be rows, got a ClassRankings"),
    "none": (lambda: fastevals.report({"y": Y}, label="y", probabilities=None), "probabilities class probabilities"),
    "numbers": (lambda: bootstrap((Y, P), "rmse"), "root_mean_squared_error is a metric of predicted numbers"),
    "cost": (lambda: CLASSES.metric("expected_cost"), "expected_cost of scores needs one threshold"),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_meant_is_said(name: str) -> None:
    call, said = SAID[name]
    with pytest.raises(ValueError, match=said):
        call()


def test_models_of_two_classes_are_still_rows_or_columns() -> None:
    y = Y > 0
    assert delong(y, pd.DataFrame(P)).aucs.shape == delong(y, P.T).aucs.shape == (3,)
    square = np.random.default_rng(1).random((N, N))
    assert delong(y, square).aucs.shape == (N,)


def test_copies_with_clusters() -> None:
    copies = np.random.default_rng(1).integers(0, 4, N)
    options: dict[str, Any] = {"n_resamples": 99, "rng": 0}
    found = bootstrap((Y, P), ["roc_auc", "log_loss"], frequency_weight=copies, groups=GROUPS, **options)
    repeated = bootstrap(
        (Y.repeat(copies), P.repeat(copies, axis=0)), ["roc_auc", "log_loss"], groups=GROUPS.repeat(copies), **options
    )
    assert found.to_dict() == repeated.to_dict()
    frame = pd.DataFrame(P, columns=["2", "0", "1"])
    named = bootstrap((Y, frame), "roc_auc", frequency_weight=copies, groups=GROUPS, **options)
    assert named["roc_auc"].value != found["roc_auc"].value


@pytest.mark.parametrize("truth", [Y, np.eye(3, dtype=int)[Y]], ids=["labels", "indicator"])
def test_clusters_of_all_rows_or_of_rows_with_weight(truth: Any) -> None:
    weights = np.where(np.arange(N) % 5, 1.0, 0.0)
    classes, options = ClassRankings(truth, P, sample_weight=weights), {"n_resamples": 49, "rng": 0}
    found = bootstrap(classes, "roc_auc", groups=GROUPS, **options).to_dict()
    assert bootstrap(classes, "roc_auc", groups=GROUPS[weights > 0], **options).to_dict() == found
    assert bootstrap((truth, P), "roc_auc", sample_weight=weights, groups=GROUPS, **options).to_dict() == found
    with pytest.raises(ValueError, match="groups has 59 rows, but subject has 48"):
        bootstrap(classes, "roc_auc", groups=GROUPS[1:])


def test_one_warning_for_one_undefined_metric() -> None:
    with pytest.warns(UndefinedMetricWarning, match="balanced_accuracy is undefined") as told:
        assert np.isnan(ClassRankings(Y % 2, P, labels=[0, 1, 2]).metric("balanced_accuracy"))
    assert len(told) == 1


def test_the_level_of_an_interval_is_in_the_sentence() -> None:
    found = fastevals.class_thresholds(Y, P, n_resamples=49, confidence_level=0.9, rng=0)
    assert "90 % interval" in found.conclusion
    assert found.confidence_level == 0.9


def test_other_rows_with_other_labels(tmp_path: Path, capsys: Any) -> None:
    for name, labels in (("a", Y), ("words", np.array(["x", "y", "z"])[Y]), ("more", np.where(Y == 0, 3, Y))):
        frame = pd.DataFrame({"y": labels, **{f"p_{k}": P[:, k] for k in range(3)}})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    words, more = str(tmp_path / "words.csv"), str(tmp_path / "more.csv")
    options = [str(tmp_path / "a.csv"), "--label", "y", "--probabilities", "p_*"]
    rule = ["--rule", "accuracy not worse than champion by 0.5"]
    has = "words.csv: --label 'y' has the classes 'x', 'y', 'z', and the data has 0, 1, 2"
    for command, other in (
        (["gate", *options, *rule], "--reference"), (["report", *options], "--against")
    ):  # fmt: skip
        assert cli.main([*command, other, words]) == 2
        assert f"{other} {has}" in capsys.readouterr().err
    assert cli.main(["gate", *options, *rule, "--reference", more]) == 2
    assert "--reference more.csv: --label 'y' has 20 rows of class 3" in capsys.readouterr().err
