"""Damaged files: the file's rows, or an error that names the file; the process survives, checksums are verified."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals.reading.columns import read_columns
from fastevals.reading.files import open_source
from fastevals.reading.sources import read_piece
from fastevals.scale import parquet

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")


def table_of(n: int) -> Any:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return pa.table({"y": y, "a": rng.random(n) + y, "part": [f"g{k % 7}" for k in range(n)]})


def write_arrow(path: Path, table: Any, compression: str | None = None, rows: int = 90) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema, options=options) as writer:
        writer.write_table(table, rows)


def read_all(data: Any, columns: list[str]) -> list[tuple[Any, ...]]:
    """Return the rows of all pieces."""
    batches = [batch for piece in open_source(data).pieces for _, batch in read_piece(piece, columns)]
    return [row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True)]


# Parquet: pages with checksums ----------------------------------------------------------------------------------------


def with_checksums(folder: Path) -> tuple[Path, int]:
    """Write a file without compression; return it, and where the scores of its second row group begin."""
    path = folder / "scores.parquet"
    pq.write_table(
        table_of(2000), path, row_group_size=1000, compression=None, use_dictionary=False, write_page_checksum=True
    )
    scores = table_of(2000)["a"].to_numpy()
    return path, path.read_bytes().index(scores[1000:].tobytes()[:64])


@pytest.mark.parametrize("way", ["memory", "scan", "folder", "dataset", "ranking", "columns"])
def test_bits_flipped_in_a_page_are_an_error(way: str, tmp_path: Path) -> None:
    path, start = with_checksums(tmp_path)

    def read() -> Any:
        given: dict[str, Any] = {"label": "y", "score": "a", "n_resamples": 0}
        match way:
            case "memory":
                return fastevals.report(path, **given).to_dict()["blocks"]
            case "scan":
                return fastevals.report(path, **given, memory="20kB").to_dict()["blocks"]
            case "folder":
                return fastevals.report(tmp_path, **given).to_dict()["blocks"]
            case "dataset":
                return fastevals.report(ds.dataset(path), **given).to_dict()["blocks"]
            case "ranking":
                return parquet.ranking(path, label="y", score="a").roc_auc()
        return read_columns(path, {"y": "y", "a": "a"})["a"].tolist()

    content = bytearray(path.read_bytes())
    whole = read()
    content[start + 6] ^= 0b0100_0000  # a bit of the exponent
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"scores\.parquet' can't be read.*: column 'a': .*CRC") as caught:
        read()
    assert ("row group 1 of" in str(caught.value)) == (way not in ("memory", "columns"))
    content[start + 6] ^= 0b0100_0000
    path.write_bytes(content)
    assert read() == whole


# Arrow ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_arrow_files_of_partitions(compression: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastevals.reading.files.ROWS_PER_BATCH", 50)
    table = table_of(300)
    for day in range(3):
        write_arrow(tmp_path / f"day={day}" / "x.feather", table.slice(100 * day, 100), compression)
    expected = [
        (part, day, a)
        for day in range(3)
        for part, a in zip(*(table[name].to_pylist()[100 * day :][:100] for name in ("part", "a")), strict=True)
    ]
    for data in (tmp_path, ds.dataset(tmp_path, format="feather", partitioning="hive")):
        assert read_all(data, ["part", "day", "a"]) == expected
    rows = open_source(tmp_path)
    assert [batch.num_rows for _, batch in read_piece(rows.pieces[0], ["a"])] == [50, 40, 10]
    assert rows.n_bytes == sum(path.stat().st_size for path in tmp_path.rglob("*.feather"))


def test_arrow_files_of_other_columns(tmp_path: Path) -> None:
    table = table_of(9)
    first, second = tmp_path / "a.arrow", tmp_path / "b.arrow"
    write_arrow(first, table)
    write_arrow(second, table.select(["part", "a", "y"]))  # in a different order
    rows = list(zip(*(table[name].to_pylist() for name in ("a", "y")), strict=True))
    assert read_all([first, second], ["a", "y"]) == rows * 2
    write_arrow(second, table.select(["y"]))
    with pytest.raises(ValueError, match=r"b\.arrow' has no column 'a', which other files have"):
        read_all([first, second], ["a", "y"])
    write_arrow(second, table.append_column("a", table["a"]))
    with pytest.raises(ValueError, match=r"b\.arrow' has 2 columns 'a'"):
        read_all([first, second], ["a", "y"])
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table.append_column("a", table["a"]), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet' has 2 columns 'a'"):
        read_all([tmp_path / "a.parquet", tmp_path / "b.parquet"], ["a", "y"])


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_files_of_a_data_set_that_change_are_noticed(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{kind}"
    pq.write_table(table_of(9), path) if kind == "parquet" else write_arrow(path, table_of(9))
    rows = open_source(ds.dataset(path, format=kind))
    rows.check_unchanged()
    assert [each[:2] for each in rows.identity] == [[str(path), path.stat().st_size]]
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(ValueError, match=f"a.{kind}' has changed since it was first read"):
        rows.check_unchanged()
    assert open_source(ds.dataset(table_of(9))).identity == []


# Any bit --------------------------------------------------------------------------------------------------------------

KINDS = ("none.arrow", "lz4.feather", "zstd.arrow", "lz4.arrows", "checksums.parquet", "snappy.parquet")


def content_of(kind: str) -> bytes:
    table, sink = table_of(200), pa.BufferOutputStream()
    how, _, suffix = kind.partition(".")
    if suffix == "parquet":
        pq.write_table(table, sink, row_group_size=90, write_page_checksum=how == "checksums")
    else:
        options = pa.ipc.IpcWriteOptions(compression=None if how == "none" else how)
        make = pa.ipc.new_stream if suffix == "arrows" else pa.ipc.new_file
        with make(sink, table.schema, options=options) as writer:
            writer.write_table(table, 90)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def damaged(content: bytes, n: int, seed: int) -> Iterator[bytes]:
    rng = np.random.default_rng(seed)
    for _ in range(n):
        changed = np.frombuffer(content, np.uint8).copy()
        places = rng.integers(changed.size, size=rng.integers(1, 5))
        changed[places] ^= (1 << rng.integers(0, 8, places.size)).astype(np.uint8)
        yield changed.tobytes()


def read_damaged(kind: str, n: int, seed: int, folder: Path) -> None:
    """Read files with flipped bits: as columns, as one of several files, and as one of a partition."""
    whole, path, other = content_of(kind), folder / "day=1" / f"x.{kind}", folder / f"whole.{kind}"
    path.parent.mkdir(parents=True)
    other.write_bytes(whole)
    ways = [
        lambda: read_columns(path, {"a": "a", "part": "part"})["a"].tolist(),
        lambda: [row[0] for row in read_all([other, path], ["a", "part"])],
        lambda: [row[0] for row in read_all(path.parent, ["a", "part", "day"])],
    ]
    if kind.endswith(".arrows"):  # only one of these is read
        ways = ways[:1]
    expected = [None if kind != "checksums.parquet" else table_of(200)["a"].to_pylist()] * 3
    if expected[1] is not None:
        expected[1] = expected[1] * 2
    for changed in damaged(whole, n, seed):
        path.write_bytes(changed)
        for read, right in zip(ways, expected, strict=False):
            try:
                found, message = read(), f"x.{kind}'"
            except (ValueError, MemoryError) as error:
                found, message = right, str(error)
            assert f"x.{kind}'" in message
            assert right is None or found == right


@pytest.mark.slow
@pytest.mark.parametrize(("n", "kinds"), [(30, KINDS), *(pytest.param(1500, [kind], id=kind) for kind in KINDS)])
def test_any_bit_may_be_damaged(n: int, kinds: list[str], tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.reading.test_damage import read_damaged\n"
        "for kind in sys.argv[3:]: read_damaged(kind, int(sys.argv[1]), 0, Path(sys.argv[2], kind))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(n), str(tmp_path), *kinds], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
