"""The same rows from files, frames, tables, streams and standard input have the same results, with every option."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fastevals
from fastevals.reading.columns import read_columns
from fastevals.scale import parquet
from fastevals.show import cli

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")

pytestmark = pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")

N = 40
LABELS = [k * 7 % 5 % 2 for k in range(N)]
SCORES = [(k * 0.618 + LABELS[k] / 3) % 1 for k in range(N)]
COLUMNS = {"y": LABELS, "s": SCORES, "p": [int(s > 0.5) for s in SCORES], "part": [f"g{k % 3}" for k in range(N)]}
WITHOUT: dict[str, list[Any]] = {  # some values
    "y": [None if k == 3 else value for k, value in enumerate(LABELS)],
    "s": [float("nan") if k == 5 else value for k, value in enumerate(SCORES)],
    "p": COLUMNS["p"],
    "part": [None if k == 7 else value for k, value in enumerate(COLUMNS["part"])],
}


class Stream:
    """An object with nothing but an Arrow stream, like a DuckDB query."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


DOORS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "mapping": dict,
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "table": lambda columns: pa.Table.from_batches(pa.table(columns).to_batches(max_chunksize=9)),
    "stream": Stream,
    "dataset": lambda columns: ds.dataset(pa.table(columns)),
}
doors = pytest.mark.parametrize("door", DOORS)


def blocks(data: Any, **options: Any) -> tuple[int, list[Any]]:
    """Return the number of dropped rows, and the blocks without calibration, which scans take from small cells."""
    found = fastevals.report(data, label="y", n_resamples=0, **options).to_dict()
    for model in (model for block in found["blocks"] for model in block["models"]):
        model.pop("calibration", None)
    return found["n_dropped"], found["blocks"]


OPTIONS: list[dict[str, Any]] = [
    {}, {"memory": 100}, {"by": "part"}, {"by": "part", "memory": 100}, {"groups": "part", "memory": "1GB"},
]  # fmt: skip


@pytest.fixture(scope="module")
def blocks_of_a_file(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("file") / "rows.parquet"
    pq.write_table(pa.table(COLUMNS), path)
    return {str(options): blocks(path, score="s", **options) for options in OPTIONS}


@pytest.mark.cases(8)
@doors
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_report_of_any_source_takes_the_options_of_files(
    door: str, options: dict[str, Any], blocks_of_a_file: dict[str, Any]
) -> None:
    assert blocks(DOORS[door](COLUMNS), score="s", **options) == blocks_of_a_file[str(options)]


@pytest.mark.cases(2)
@doors
def test_rows_of_any_source_may_be_left_out(door: str) -> None:
    kept = [k for k in range(N) if k not in (3, 5)]
    left = {name: [values[k] for k in kept] for name, values in WITHOUT.items()}
    expected = blocks(left, score="s", by="part")[1]
    assert [block["value"] for block in expected] == ["g0", "g1", "g2", None]
    for options in ({}, {"memory": 100}):
        drops = {"on_missing_label": "drop", "on_invalid": "drop"}
        n_dropped, found = blocks(DOORS[door](WITHOUT), score="s", by="part", **drops, **options)
        assert n_dropped == sum(block["n_dropped"] for block in found) == 2
        shares = [block.pop("labelled") for block in found]
        assert min(shares) < 1 and all(0 < share <= 1 for share in shares)  # noqa: PT018
        assert [{**block, "n_dropped": 0, "dropped": {}} for block in found] == expected
    assert blocks(DOORS[door](WITHOUT), pred="p", on_missing_label="drop")[0] == 1
    report = fastevals.report(DOORS[door](COLUMNS), label="y", score="s", approximate=True, n_resamples=0)
    assert report.to_dict()["blocks"][0]["n_samples"] == N


@doors
def test_a_missing_label_of_any_source_is_named_with_the_way_out(door: str) -> None:
    data = DOORS[door]({**WITHOUT, "y": [None if k == 3 else f"c{value}" for k, value in enumerate(LABELS)]})
    with pytest.raises(
        ValueError, match=r"^label 'y' has 1 missing value, the first at row 3.*; on_missing_label='drop'"
    ):
        fastevals.report(data, label="y", score="s", pos_label="c1")


def test_predictions_are_read_from_several_files_streams_and_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "y,p\n" + "".join(f"c{y},c{p}\n" for y, p in zip(LABELS, COLUMNS["p"], strict=True))
    lines = text.splitlines(keepends=True)
    (tmp_path / "all.csv").write_text(text)
    for k, part in enumerate((lines[1:15], lines[15:])):
        (tmp_path / f"part{k}.csv").write_text("".join([lines[0], *part]))
    expected = blocks(tmp_path / "all.csv", pred="p")
    assert blocks([tmp_path / "part0.csv", tmp_path / "part1.csv"], pred="p") == expected
    assert blocks(str(tmp_path / "part*.csv"), pred="p") == expected
    assert blocks(read_reader(tmp_path / "all.csv"), pred="p") == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode()))))
    assert cli.main(["report", "-", "--label", "y", "--pred", "p", "--resamples", "0"]) == 0
    assert "accuracy" in capsys.readouterr().out
    (tmp_path / "part1.csv").write_text("y,p\nc0,c1\nc1,\n")
    with pytest.raises(ValueError, match=r"pred 'p' has 1 missing value, the first at line 3 of '.*part1\.csv'"):
        blocks(str(tmp_path / "part*.csv"), pred="p")


def read_reader(path: Path) -> Any:
    return pa.Table.from_pandas(pd.read_csv(path)).to_reader()


def test_comparisons_read_several_files(tmp_path: Path) -> None:
    results = {"a": [0.9, 0.8, 0.7, 0.9, 0.8], "b": [0.7, 0.7, 0.6, 0.8, 0.6], "c": [0.5, 0.6, 0.4, 0.5, 0.5]}
    for k, rows in enumerate((slice(0, 2), slice(2, 5))):
        pq.write_table(pa.table({name: each[rows] for name, each in results.items()}), tmp_path / f"{k}.parquet")
    found = fastevals.compare(tmp_path).to_dict()["blocks"]
    assert found == fastevals.compare(results).to_dict()["blocks"]


def test_a_ranking_of_a_frame_of_columns_and_of_csv_is_that_of_the_rows(tmp_path: Path) -> None:
    pd.DataFrame(COLUMNS).to_csv(tmp_path / "rows.csv")
    auc = fastevals.Ranking(LABELS, SCORES).roc_auc()
    for data in (COLUMNS, pd.DataFrame(COLUMNS), tmp_path / "rows.csv"):
        assert float(parquet.ranking(data, label="y", score="s").roc_auc()) == auc


def test_files_of_other_types_are_joined_where_nothing_is_rounded(tmp_path: Path) -> None:
    def written(*parts: Any) -> str:
        for k, part in enumerate(parts):
            pq.write_table(pa.table({"x": part}), tmp_path / f"{k}.parquet")
        return str(tmp_path / "*.parquet")

    found = read_columns(written(pa.array([1, 2], pa.int32()), pa.array([2.5, 3.0])), {"x": "x"})["x"]
    assert found.tolist() == [1.0, 2.0, 2.5, 3.0]
    found = read_columns(written(pa.array([1, 2], pa.int8()), pa.array([2**40], pa.int64())), {"x": "x"})["x"]
    assert (found.tolist(), found.dtype) == ([1, 2, 2**40], np.int64)
    with pytest.raises(ValueError, match=r"x must hold integers that a float64 represents exactly, got 900719925474"):
        read_columns(written(pa.array([1.5]), pa.array([2**53 + 1])), {"x": "x"})


@pytest.mark.parametrize("options", [{}, {"memory": 10}, {"on_invalid": "drop"}], ids=str)
@pytest.mark.parametrize(
    ("scores", "said"),
    [(SCORES[1:], "has 39 rows, but"), (None, "must be 1-D"), (iter(SCORES), "must be an array or sequence")],
    ids=["shorter", "none", "iterator"],
)
def test_columns_that_are_none(scores: Any, said: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"'s' {said}"):
        fastevals.report({"y": LABELS, "s": scores}, label="y", score="s", **options)


def test_a_stream_larger_than_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastevals.reading.columns.available_memory", lambda: 300)
    with pytest.raises(ValueError, match=r"the stream is too large: it holds \d\.\d MB of columns, and at most 0"):
        fastevals.report(Stream(COLUMNS), label="y", score="s")
    assert blocks(Stream(COLUMNS), score="s", memory=100) == blocks(COLUMNS, score="s")


def test_values_of_files_of_other_types_never_merge(tmp_path: Path) -> None:
    """A missing value among them changes nothing."""
    columns = {"y": [0, 1] * 3, "s": [k / 6 for k in range(6)]}
    large, floats, text = [2**60 + 1] * 3 + [2**60 + 2] * 3, [1.5, 2, 2, 2, 1.5, None], ["1", "2", None, "1", "2", None]
    files = {"large": large, "floats": floats, "text": text, "ints": [1, 1, 2, 2, 1, 1]}
    for name, values in files.items():
        pq.write_table(pa.table({**columns, "g": values}), tmp_path / f"{name}.parquet")
    for names, message in (
        (("large", "floats"), "that a float64 represents exactly"),
        (("ints", "text"), "of one type"),
    ):
        with pytest.raises(ValueError, match=rf"^by 'g' must .* {message}"):
            blocks([tmp_path / f"{name}.parquet" for name in names], score="s", by="g")
    with pytest.raises(ValueError, match=r"^by 'g' must have values of one type"):
        blocks([tmp_path / f"{name}.parquet" for name in ("ints", "text")], score="s", by="g", memory=60)


@doors
def test_a_rule_that_raises_holds_for_rows_that_the_other_would_drop(door: str) -> None:
    data = {"y": [0, 1, None, 1] * 10, "s": [0.1, 0.2, float("nan"), 0.4] * 10}
    for given, message in (("on_invalid", "label 'y'"), ("on_missing_label", "score 's'")):
        with pytest.raises(ValueError, match=message):
            fastevals.report(DOORS[door](data), label="y", score="s", n_resamples=0, **{given: "drop"})


def test_reports_are_pickled() -> None:
    report = fastevals.report(COLUMNS, label="y", score="s", n_resamples=0)
    assert pickle.loads(pickle.dumps(report)).to_dict() == report.to_dict()
