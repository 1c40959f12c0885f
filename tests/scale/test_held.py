"""Exact rankings of files whose rows are held in memory and read once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import Ranking
from fastevals.measure.registry import SCORE_METRICS
from fastevals.scale import parquet
from fastevals.scale.exact import scans
from fastevals.scale.exact.ranking import ExactRanking

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def columns_of(n: int, decimals: int = 16) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    y = (rng.random(n) < 0.1).astype(np.int8)
    y[:2] = 0, 1
    first = np.round(rng.beta(1 + y, 3), decimals)
    return {"y": y, "a": first, "b": (first - rng.random(n)).astype(np.float32), "w": rng.integers(1, 4, n)}


def file_of(columns: dict[str, Any], folder: Path, rows: int = 700) -> str:
    path = folder / "rows.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=rows)
    return str(path)


@pytest.fixture
def no_scans(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("rows that fit are read in scans")

    monkeypatch.setattr(scans.ExactScans, "first", refuse)


def assert_same(found: Any, expected: Ranking) -> None:
    for name in ("thresholds", "tps", "fps"):
        np.testing.assert_array_equal(getattr(found.counts, name), getattr(expected.counts, name))
    assert found.counts.thresholds.dtype == expected.counts.thresholds.dtype
    assert (found.n_positives, found.n_negatives) == (expected.n_positives, expected.n_negatives)
    assert (found.pos_label, found._neg_label) == (expected.pos_label, expected._neg_label)


@pytest.mark.usefixtures("no_scans")
@pytest.mark.parametrize("n", [2, 5000, 40_000])
@pytest.mark.parametrize("decimals", [1, 16])
def test_held_rows_rank_as_arrays_do(n: int, decimals: int, tmp_path: Path) -> None:
    columns = columns_of(n, decimals)
    found = parquet.ranking(file_of(columns, tmp_path), label="y", score=["a", "b"])
    assert list(found) == ["a", "b"]
    for name, ranking in found.items():
        assert_same(ranking, Ranking(columns["y"], columns[name].astype(np.float64)))
        assert ranking.roc_auc() == Ranking(columns["y"], columns[name]).roc_auc()


def test_all_metrics_are_those_of_scans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of(columns_of(5000), tmp_path)
    held = parquet.ranking(path, label="y", score="a", exact=True)
    monkeypatch.setattr(parquet, "ROWS_HELD", 4999)
    scanned = parquet.ranking(path, label="y", score="a", exact=True)
    assert type(held) is Ranking
    assert type(scanned) is ExactRanking
    for name, metric in SCORE_METRICS.items():
        if metric.of == "ranking":
            assert metric(held.counts) == metric(scanned.counts), name
    assert held.roc_auc() == scanned.roc_auc()
    assert fastevals.delong(held).covariance == fastevals.delong(scanned).covariance
    assert held.brier_score() == pytest.approx(Ranking(*list(columns_of(5000).values())[:2]).brier_score())


@pytest.mark.usefixtures("no_scans")
@pytest.mark.parametrize("missing", [slice(0, 700), slice(650, 2400), slice(3, None, 7)])
def test_rows_left_out_leave_no_gap(missing: slice, tmp_path: Path) -> None:
    columns = columns_of(5000)
    scores = columns["a"].copy()
    scores[missing] = np.nan
    path = file_of({**columns, "a": scores}, tmp_path)
    kept = np.isfinite(scores)
    found = parquet.ranking(path, label="y", score="a", on_invalid="drop")
    assert_same(found, Ranking(columns["y"][kept], scores[kept]))
    with pytest.raises(ValueError, match=r"column 'a' has .* NaN or infinite values, the first at row"):
        parquet.ranking(path, label="y", score="a")


@pytest.mark.usefixtures("no_scans")
def test_no_row_is_left(tmp_path: Path) -> None:
    path = file_of({"y": [0, 1], "a": [np.nan, np.inf]}, tmp_path)
    with pytest.raises(ValueError, match="has no rows that can be counted"):
        parquet.ranking(path, label="y", score="a", on_invalid="drop")
    with pytest.raises(ValueError, match=r"rows\.parquet' has no rows"):
        parquet.ranking(file_of({"y": pa.array([], pa.int8()), "a": pa.array([], pa.float64())}, tmp_path),
                        label="y", score="a")  # fmt: skip


@pytest.mark.usefixtures("no_scans")
def test_named_classes_and_signed_zeros(tmp_path: Path) -> None:
    columns = {"y": ["no", "yes", "no", "yes"], "a": [0.0, -0.0, -1.0, 2.0]}
    found = parquet.ranking(file_of(columns, tmp_path, rows=1), label="y", score="a", pos_label="yes")
    assert_same(found, Ranking(columns["y"], columns["a"], pos_label="yes"))
    assert found.roc_auc() == 0.875
    with pytest.warns(fastevals.UndefinedMetricWarning):
        assert np.isnan(parquet.ranking(pa.table({"y": [1, 1], "a": [1, 2]}), label="y", score="a").roc_auc())


@pytest.mark.parametrize("option", ["memory", "rows", "sample_weight", "frequency_weight"])
def test_rows_that_do_not_fit_or_have_weights_are_scanned(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = columns_of(1000)
    options: dict[str, Any] = {"memory": 2 * 18 * 1000}
    if option == "memory":
        options = {"memory": 2 * 18 * 1000 - 1}
    elif option == "rows":
        monkeypatch.setattr(parquet, "ROWS_HELD", 999)
    else:
        options[option] = "w"
    found = parquet.ranking(file_of(columns, tmp_path), label="y", score=["a", "b"], exact=True, **options)
    assert {type(each) for each in found.values()} == {ExactRanking}


def test_memory_is_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of(columns_of(1000), tmp_path)
    monkeypatch.setattr(parquet, "ROWS_HELD", 1000)
    found = parquet.ranking(path, label="y", score=["a", "b"], memory=2 * 18 * 1000)
    assert {type(each) for each in found.values()} == {Ranking}


@pytest.mark.usefixtures("no_scans")
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of(columns_of(1000), tmp_path)

    def change(*arguments: Any, **options: Any) -> Any:
        found = run(*arguments, **options)
        file_of(columns_of(1100), tmp_path)
        return found

    run = parquet.run
    monkeypatch.setattr(parquet, "run", change)
    with pytest.raises(ValueError, match=r"rows\.parquet' has changed since it was first read"):
        parquet.ranking(path, label="y", score="a")
