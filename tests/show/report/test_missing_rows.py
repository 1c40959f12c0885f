"""Rows without a label, with an invalid number, and without a value of --by: counted by reason, model and block."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import fastevals
from fastevals.show import cli
from tests.scale.local_frames import LOCAL, LocalFrame

N = 24
GAPS = {"y": [3, 5, 14], "p": [7, 9, 15], "q": [9], "w": [11], "g": [13, 14, 15, 16, 17]}
DOORS = ("csv", "csvs", "parquet", "parquets", "pandas", "polars", "arrow", "mapping", "stream")
WAYS: list[dict[str, Any]] = [{}, {"memory": 500}, {"approximate": True}]
REPORT: dict[str, Any] = {"label": "y", "score": ["p", "q"], "sample_weight": "w", "by": "g", "n_resamples": 0}
DROP = {"on_missing_label": "drop", "on_invalid": "drop"}
FLAGS = ["--label", "y", "--score", "p", "--score", "q", "--weight", "w", "--by", "g"]


def rows(*gaps: str) -> dict[str, list[Any]]:
    """Return columns, some with gaps."""
    columns: dict[str, list[Any]] = {
        "y": [k % 2 for k in range(N)], "p": [(k * 7 % 11) / 16 for k in range(N)],
        "q": [(k * 5 % 11) / 16 for k in range(N)], "w": [1.0] * N, "g": ["ab"[k % 3 == 0] for k in range(N)],
    }  # fmt: skip
    for name in gaps:
        for row in GAPS[name]:
            columns[name][row] = None
    return columns


def through(door: str, columns: dict[str, list[Any]], folder: Path) -> Any:
    """Return the same rows from another source; the first of several files has 13 rows."""
    table = pa.table(columns)
    frame = pd.DataFrame(columns).astype({"y": "Int64"})
    files = [str(folder / f"{k}.{door.removesuffix('s')}") for k in range(2)]
    if door in ("csvs", "parquets"):
        for file, part in zip(files, (slice(0, 13), slice(13, None)), strict=True):
            if door == "csvs":
                frame[part].to_csv(file, index=False)
            else:
                parquet.write_table(pa.Table.from_pandas(frame[part], table.schema, preserve_index=False), file)
        return files
    if door == "csv":
        frame.to_csv(files[0], index=False)
    elif door == "parquet":
        parquet.write_table(table, files[0])
    others = {"pandas": frame, "polars": pl.from_arrow(table), "arrow": table, "mapping": columns}
    return table.to_reader(max_chunksize=5) if door == "stream" else others.get(door, files[0])


def counted(values: dict[str, Any]) -> list[tuple[Any, int, dict[str, tuple[int, int]]]]:
    """Return the value, the number of dropped rows, and these by column, for all rows and for each block."""
    return [
        (each.get("value", "all"), each["n_dropped"], {k: (v["rows"], v["alone"]) for k, v in each["dropped"].items()})
        for each in (values, *values["blocks"])
    ]


ALL = [
    ("all", 7, {"p": (3, 2), "q": (1, 0), "w": (1, 1), "y": (3, 3)}),
    ("a", 3, {"p": (1, 1), "w": (1, 1), "y": (1, 1)}),
    ("b", 2, {"p": (1, 0), "q": (1, 0), "y": (1, 1)}),
    (None, 2, {"p": (1, 1), "y": (1, 1)}),
]


@pytest.mark.cases(2)
@pytest.mark.parametrize("door", DOORS)
def test_each_door_counts_the_same(door: str, tmp_path: Path) -> None:
    for way in WAYS:
        found = fastevals.report(through(door, rows(*GAPS), tmp_path), **REPORT, **DROP, **way).to_dict()
        assert counted(found) == ALL, way
        assert {name: each["reason"] for name, each in found["dropped"].items()} == {
            "p": "invalid score", "q": "invalid score", "w": "invalid weight", "y": "missing label",
        }  # fmt: skip
        assert [block["n_samples"] for block in found["blocks"]] == [9, 5, 3]


@pytest.mark.cases(1)
@pytest.mark.parametrize("door", ["csv", "pandas", "stream"])
def test_each_of_the_three_by_itself(door: str, tmp_path: Path) -> None:
    for way in WAYS:

        def report(*gaps: str, way: dict[str, Any] = way, **options: Any) -> list[Any]:
            data = through(door, rows(*gaps), tmp_path)
            return counted(fastevals.report(data, **REPORT, **way, **options).to_dict())

        with pytest.raises(ValueError, match=r"^label 'y' .* on_missing_label='drop' leaves such rows out"):
            report("y", on_invalid="drop")
        with pytest.raises(ValueError, match=r"^score 'p' .* on_invalid='drop' leaves such rows out"):
            report("p", on_missing_label="drop")
        with pytest.raises(ValueError, match=r"^sample_weight 'w' .* on_invalid='drop' leaves such rows out"):
            report("w", on_missing_label="drop")
        of_labels = [("all", 3, {"y": (3, 3)}), ("a", 2, {"y": (2, 2)}), ("b", 1, {"y": (1, 1)})]
        assert report("y", on_missing_label="drop") == of_labels
        of_scores = [("all", 3, {"p": (3, 3)}), ("a", 1, {"p": (1, 1)}), ("b", 2, {"p": (2, 2)})]
        assert report("p", on_invalid="drop") == of_scores
        assert report("g") == [("all", 0, {}), ("a", 0, {}), ("b", 0, {}), (None, 0, {})]


@pytest.mark.cases(1)
@pytest.mark.parametrize("kind", [{"label": "y"}, {"target": "y"}])
def test_predictions(kind: dict[str, str], tmp_path: Path) -> None:
    options = {"sample_weight": "w", "by": "g", "n_resamples": 0, "pred": ["p", "q"], **kind, **DROP}
    columns = rows(*GAPS)
    if "label" in kind:
        columns |= {name: [None if v is None else int(v > 0.3) for v in columns[name]] for name in "pq"}
    for door in ("csvs", "parquet", "polars"):
        report = fastevals.report(through(door, columns, tmp_path), **options)
        assert counted(report.to_dict()) == ALL, door
        of_blocks = report.to_text().split("\ng = ")[1:]
        taken = "1 row that lacks a prediction of p only is left out for all models"
        assert [taken in block for block in of_blocks] == [True, False, True]


def test_summaries_keep_the_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drop = ["--on-missing-label", "drop", "--on-invalid", "drop"]
    summaries = []
    for k, file in enumerate(through("csvs", rows(*GAPS), tmp_path)):
        summaries.append(str(tmp_path / f"{k}.fe"))
        assert cli.main(["summarize", file, *FLAGS, *drop, "--out", summaries[-1]]) == 0
    capsys.readouterr()
    assert cli.main(["report", *summaries, "--format", "json", "--resamples", "0"]) == 0
    assert counted(json.loads(capsys.readouterr().out)) == ALL
    with pytest.raises(ValueError, match="on_missing_label='drop' leaves such rows out"):
        LOCAL.summarize(LocalFrame([pa.table(rows("y"))]), label="y", score=["p", "q"], on_invalid="drop")
    table = pa.table(rows(*GAPS))
    parts = LocalFrame([table.slice(0, 9), table.slice(9, 6), table.slice(15)])
    columns = {"label": "y", "score": ["p", "q"], "sample_weight": "w", "by": "g"}
    assert counted(fastevals.report(LOCAL.summarize(parts, **columns, **DROP), n_resamples=0).to_dict()) == ALL


def test_texts_and_pages_have_counts_by_block() -> None:
    report = fastevals.report(rows(*GAPS), **REPORT, **DROP)
    of_missing = "ropped 2 rows: 1 without a finite score of p, 1 without a label\n"
    for text in (report.to_text(), report.to_markdown(), report.to_html().replace("</li>", "\n")):
        assert text.count(of_missing) == 1
        assert text.count("a finite score of p only is left out for all models") == 2
    assert (
        "\ng = (missing): 3 rows, 2 positive; weight 3 (66.7 %); 75.0 % of the rows have a label\n" in report.to_text()
    )


def test_a_value_that_says_missing_stands_apart() -> None:
    data = {"y": [0, 1] * 12, "p": [0.1, 0.9, 0.4, 0.6] * 6, "g": ["missing", None, "(missing)", "z"] * 6}
    report = fastevals.report(data, label="y", score="p", by="g", n_resamples=0)
    assert [block["value"] for block in report.to_dict()["blocks"]] == ["(missing)", "missing", "z", None]
    heads = [line.split(":")[0] for line in report.to_text().splitlines() if line.startswith("g = ")]
    assert heads == ["g = '(missing)'", "g = missing", "g = z", "g = (missing)"]


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.array([1.0, 2.0, float("nan")] * 8), [1.0, 2.0, None]),
        (pd.array([1, 2, None] * 8, "Int64"), [1, 2, None]),
        (pd.array([True, False, None] * 8, "boolean"), [False, True, None]),
        (pd.Categorical(["x", None, "y"] * 8), ["x", "y", None]),
        (pd.to_datetime(["2020-01-01", None, "2020-01-02"] * 8), ["2020-01-01", "2020-01-02", None]),
    ],
)
def test_missing_values_of_each_type(values: Any, expected: list[Any], tmp_path: Path) -> None:
    frame = pd.DataFrame(rows("y")).drop(columns="w").assign(g=values)
    options = {"label": "y", "score": ["p", "q"], "by": "g", "n_resamples": 0, "on_missing_label": "drop"}
    frame.to_parquet(tmp_path / "rows.parquet")
    for data, way in (
        (frame, {}),
        (str(tmp_path / "rows.parquet"), WAYS[1]),
        (str(tmp_path / "rows.parquet"), WAYS[2]),
    ):
        found = fastevals.report(data, **options, **way).to_dict()
        shown = [each[:10] if isinstance(each, str) else each for each in (block["value"] for block in found["blocks"])]
        assert shown == expected
        assert sum(block["n_samples"] for block in found["blocks"]) == N - 3
