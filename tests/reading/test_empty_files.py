"""Files, batches and days without rows: they change nothing, and files are counted."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import scale
from fastevals.show import cli

pa = pytest.importorskip("pyarrow")
from pyarrow import ipc, parquet  # noqa: E402

N = 60
RNG = np.random.default_rng(0)
Y = np.arange(N) % 3 % 2
TABLE = pa.table({"y": Y, "p": RNG.random(N).round(2), "g": np.arange(N) % 2})
ROLES: dict[str, Any] = {"label": "y", "score": "p", "n_resamples": 0}
SUMMARIES: dict[str, tuple[Any, Any]] = {
    "RankingSummary": (Y, TABLE["p"].to_numpy()),
    "ProbabilitySummary": (Y, TABLE["p"].to_numpy()),
    "ConfusionSummary": (Y, 1 - Y),
    "ClassScoresSummary": (Y, np.stack((1 - TABLE["p"].to_numpy(), TABLE["p"].to_numpy()), axis=1)),
    "TargetSummary": (TABLE["p"].to_numpy(), TABLE["p"].to_numpy() + 1),
}


@pytest.mark.parametrize("kind", SUMMARIES)
def test_empty_batches_change_no_summary(kind: str) -> None:
    make, full = getattr(scale, kind), SUMMARIES[kind]
    plain, among, none = make(), make(), make()
    plain.update(*full)
    for batch in ([[], []], [each[:0] for each in full], full, [np.empty(0), np.empty(0)]):
        among.update(*batch)
    none.update([], [])
    assert among.to_bytes() == plain.to_bytes()
    assert none.merge(plain).to_bytes() == plain.merge(none).to_bytes() == plain.to_bytes()
    assert type(none).from_bytes(none.to_bytes()).merge(plain).to_bytes() == plain.to_bytes()


def write(path: Path, table: Any) -> str:
    name = path.name
    if ".csv" in name:
        rows = [",".join(table.column_names), *(",".join(map(str, row.values())) for row in table.to_pylist())]
        content = ("\n".join(rows) + "\n").encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    elif name.endswith(".parquet"):
        parquet.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as file, ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    return str(path)


@pytest.mark.cases(2)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".arrow"])
@pytest.mark.parametrize("memory", [None, 300])
def test_files_without_rows_are_counted(suffix: str, memory: int | None, tmp_path: Path) -> None:
    full, other = (write(tmp_path / f"{k}{suffix}", TABLE.slice(30 * k, 30)) for k in range(2))
    none = [write(tmp_path / f"none{k}{suffix}", TABLE[:0]) for k in range(2)]
    expected = fastevals.report([full, other], memory=memory, **ROLES).to_dict()
    assert expected["files"] is None
    for files in ([none[0], full, none[1], other], [full, other, *none]):
        report = fastevals.report(files, memory=memory, **ROLES)
        found = report.to_dict()
        assert found["blocks"] == expected["blocks"]
        assert found["files"] == {"n_files": 4, "without_rows": none}
        text = "".join(report.to_text().split())
        assert "2 of 4 files have no rows: ".replace(" ", "") + f"{none[0]}and{none[1]}" in text
        assert "files have no rows" in report.to_html()
    with pytest.raises(ValueError, match="has no rows"):
        fastevals.report(none, memory=memory, **ROLES)


@pytest.mark.parametrize("content", [b"", b"\n\n", gzip.compress(b"", mtime=0)])
def test_csv_files_without_a_line(content: bytes, tmp_path: Path) -> None:
    suffix = ".csv.gz" if content[:1] == b"\x1f" else ".csv"
    full, none = write(tmp_path / f"full{suffix}", TABLE), tmp_path / f"none{suffix}"
    none.write_bytes(content)
    for files in ([full, str(none)], [str(none), full]):
        report = fastevals.report(files, **ROLES)
        assert report.files is not None
        assert report.files.without_rows == (str(none),)
        assert report.blocks[0].n_samples == N
    for alone in (str(none), [str(none)]):
        with pytest.raises(ValueError, match=r"none.csv.*' is empty"):
            fastevals.report(alone, **ROLES)


def test_files_of_other_formats_are_damaged_if_they_are_empty(tmp_path: Path) -> None:
    full, none = write(tmp_path / "full.parquet", TABLE), tmp_path / "none.parquet"
    none.touch()
    with pytest.raises(ValueError, match=r"none.parquet' is empty"):
        fastevals.report([full, str(none)], **ROLES)


def test_an_empty_day_is_said(tmp_path: Path, capsys: Any) -> None:
    for day, (start, n) in enumerate(((0, 30), (0, 0), (30, 30))):
        (tmp_path / f"day={day}").mkdir()
        write(tmp_path / f"day={day}" / "a.parquet", TABLE.slice(start, n))
    empty = str(tmp_path / "day=1" / "a.parquet")
    report = fastevals.report(tmp_path, by="day", **ROLES)
    assert [block.value for block in report.blocks] == [0, 2]
    assert report.to_dict()["files"] == {"n_files": 3, "without_rows": [empty]}
    arguments = ["summarize", str(tmp_path), "--label", "y", "--score", "p", "--by", "day", "--out"]
    assert cli.main([*arguments, str(tmp_path / "x.fe")]) == 0
    assert f"1 of 3 files has no rows: {empty}" in capsys.readouterr().out
    assert cli.main([*arguments, str(tmp_path / "y.fe"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == {"n_files": 3, "without_rows": [empty]}
    assert cli.main([*arguments, str(tmp_path / "z.fe"), "--format", "markdown"]) == 0
    assert "1 of 3 files has no rows" in capsys.readouterr().out


def test_predictions_and_other_rows_count_files_too(tmp_path: Path) -> None:
    files = [write(tmp_path / "full.csv", TABLE), write(tmp_path / "none.csv", TABLE[:0])]
    counted = {"n_files": 2, "without_rows": files[1:]}
    assert fastevals.report(files, label="y", pred="g", n_resamples=0).to_dict()["files"] == counted
    report = fastevals.report(files[0], against=files, **ROLES | {"n_resamples": 19})
    assert report.to_dict()["against"]["files"] == counted
    assert f"1 of 2 files has no rows: {files[1]}".replace(" ", "") in "".join(report.to_text().split())
    assert fastevals.report(TABLE, **ROLES).to_dict()["files"] is None


def test_empty_batches_of_a_stream_change_nothing() -> None:
    batches = [TABLE[:0], TABLE[:20], TABLE[:0], TABLE[20:], TABLE[:0]]
    parts = [
        batch for table in batches for batch in (table.to_batches() or [pa.RecordBatch.from_pylist([], TABLE.schema)])
    ]
    for data in (pa.RecordBatchReader.from_batches(TABLE.schema, parts), pa.Table.from_batches(parts)):
        found = fastevals.report(data, **ROLES).to_dict()["blocks"][0]
        assert found["n_samples"] == N
        expected = fastevals.report(TABLE, **ROLES).to_dict()["blocks"][0]
        assert found["models"][0]["metrics"] == expected["models"][0]["metrics"]
    none = pa.RecordBatchReader.from_batches(TABLE.schema, parts[:1])
    with pytest.raises(ValueError, match="the stream has no rows"):
        fastevals.report(none, **ROLES)
