"""Every format yields the same columns; errors for files that are not of their format."""

import decimal
import gzip
import importlib
import itertools
import re
import sys

import numpy as np
import pytest

from fastevals._naming import on_command_line
from fastevals.reading import columns, files
from fastevals.reading.columns import read_columns
from fastevals.reading.csv import CsvForm
from fastevals.reading.files import SUFFIXES, open_source
from fastevals.reading.sources import read_piece
from fastevals.show import cli

SLOW = pytest.mark.slow

pa = pytest.importorskip("pyarrow")
from pyarrow import csv, ipc, parquet  # noqa: E402

COLUMNS = {"y": [0, 1, 1], "a": [0.25, 0.5, 1e-300], "part": ["train", "test", "train"], "extra": ["", "b", None]}
WANTED = {"y": "--label 'y'", "a": "--score 'a'", "part": "--by 'part'"}


@pytest.fixture(autouse=True)
def commands_words():
    """Let messages name options, as on the command line."""
    with on_command_line():
        yield


def write(path, columns, suffix=None, rows=2):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    match suffix or path.suffix:
        case ".parquet" | ".pq":
            parquet.write_table(table, path)
        case ".csv" | ".tsv":
            csv.write_csv(table, path, csv.WriteOptions(delimiter="\t" if path.suffix == ".tsv" else ","))
        case ".gz":
            with gzip.open(path, "wb") as file:
                csv.write_csv(table, file, csv.WriteOptions(delimiter="\t" if ".tsv" in path.name else ","))
        case ".stream" | ".arrows":
            with ipc.new_stream(path, table.schema) as file:
                file.write_table(table, max_chunksize=rows)
        case _:
            with ipc.new_file(path, table.schema) as file:
                file.write_table(table, max_chunksize=rows)
    return path


def read(path, **columns):
    return read_columns(path, {name: f"--x {name!r}" for name in columns}, numeric=[n for n in columns if columns[n]])


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".arrows", ".csv"])
def test_batches_are_joined(tmp_path, monkeypatch, suffix):
    """Batches may end inside others, and the first missing value may come late; the row named is the file's."""
    monkeypatch.setattr(files, "ROWS_PER_BATCH", 3)
    path = tmp_path / f"file{suffix}"
    a, n = [0.5 * k for k in range(10)], list(range(10))
    table = {"a": a, "n": n, "t": [f"{k}" * 3 + "x" for k in n], "half": [*a[:6], None, 1.0, None, 2.0]}
    write(path, pa.table(table), suffix, rows=4)
    result = read(path, a=True, n=False, t=False)
    assert {name: column.tolist() for name, column in result.items()} == {name: table[name] for name in result}
    where = "line 8" if suffix == ".csv" else "row 6"
    with pytest.raises(ValueError, match=f"--x 'half' has 2 missing values, the first at {where}"):
        read(path, half=True)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_how_much_is_read_is_told(tmp_path, suffix):
    path = write(tmp_path / f"file{suffix}", {"a": np.arange(8.0)}, rows=2)
    (piece,), seen = open_source(path).pieces, []
    for _ in read_piece(piece, ["a"], watch=seen.append):
        pass
    assert seen == ([piece.n_bytes] * 2 if suffix == ".parquet" else [16, 32, 48, 64, path.stat().st_size])


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".CSV", "_stream.arrow"])
def test_formats_agree(tmp_path, suffix):
    path = tmp_path / f"file{suffix}"
    table = pa.table(COLUMNS)
    write(path, table, ".stream" if "stream" in suffix else path.suffix.lower())
    result = read_columns(path, WANTED, numeric=["a"])
    assert list(result) == list(WANTED)
    for name, column in result.items():
        assert column.tolist() == COLUMNS[name]
    assert result["y"].dtype == np.int64


@pytest.mark.parametrize(
    "suffix",
    [
        pytest.param(".csv.gz", marks=SLOW),
        ".parquet",
        pytest.param(".arrow", marks=SLOW),
        pytest.param(".arrows", marks=SLOW),
    ],
)
def test_formats_give_the_same_report(tmp_path, capsys, suffix):
    rng = np.random.default_rng(0)
    table = pa.table(
        {"y": rng.random(500) < 0.3, "a": rng.integers(0, 9, 500), "b": rng.random(500), "w": rng.random(500)}
        | {"part": rng.choice(["train", "test"], 500).tolist()}
    )
    printed = []
    for path in (tmp_path / "scores.csv", tmp_path / f"scores{suffix}"):
        write(path, table)
        requested = [
            "--label",
            "y",
            "--score",
            "a",
            "--score",
            "b",
            "--weight",
            "w",
            "--by",
            "part",
            "--resamples",
            "99",
        ]
        assert cli.main(["report", str(path), *requested, "--format", "json"]) == 0
        printed.append(capsys.readouterr().out.replace(str(path), ""))
    assert printed[0] == printed[1]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        (pa.array([True, False, True]), [True, False, True]),
        (pa.array([1, 2, 3], pa.uint8()), [1, 2, 3]),
        (pa.array([2**63, 1, 0], pa.uint64()), [2**63, 1, 0]),
        (pa.array([0.5, 1, 2], pa.float32()), [0.5, 1, 2]),
        (pa.array([decimal.Decimal("0.5"), decimal.Decimal(1), decimal.Decimal(2)]), [0.5, 1, 2]),
        (pa.array(["a", "b", ""], pa.large_string()), ["a", "b", ""]),
        (pa.array([0, 1, 2], pa.date32()), ["1970-01-01", "1970-01-02", "1970-01-03"]),
    ],
)
@pytest.mark.parametrize("suffix", [".arrow", ".parquet"])
def test_types(tmp_path, suffix, column, expected):
    path = write(tmp_path / f"typed{suffix}", {"x": column})
    result = read(path, x=not isinstance(expected[0], str))["x"]
    assert result.tolist() == expected
    assert (result.dtype.kind == "U") == isinstance(expected[0], str)


def test_csv_types_do_not_depend_on_the_first_rows(tmp_path):
    n = 300_000  # the first megabyte decides the types
    path = tmp_path / "late.csv"
    rows = [f"{k % 2},{k},{k % 2}\n" for k in range(n)]
    path.write_text("".join(["y,a,part\n", *rows, "1,0.5,late\n"]))
    result = read(path, y=False, a=True, part=False)
    assert result["y"].dtype == np.int64
    assert result["a"][-1] == 0.5
    assert result["a"][-2] == n - 1
    assert result["part"][[0, -1]].tolist() == ["0", "late"]
    path.write_text("".join(["y,a,part\n", *rows, "1,NA,\n", "1,x,late\n"]))
    with pytest.raises(
        ValueError, match=r"--x 'a' must hold numbers, but has type string \(with the value 'NA' at line 300002"
    ):
        read(path, a=True)
    path.write_text("".join(["y,a,part\n", *rows, "1,0.5,\n", "1,NA,late\n"]))
    with pytest.raises(ValueError, match="--x 'part' has 1 missing value, the first at line 300002"):
        read(path, part=False)
    with pytest.raises(ValueError, match="--x 'a' has 1 missing value, the first at line 300003"):
        read(path, a=True)


def test_csv_with_quotes_and_mark(tmp_path):
    path = tmp_path / "quoted.csv"
    path.write_bytes('\ufeff"y","a,b",c\r\n"1","0.5","two\nlines"\r\n0,1,NA\r\n'.encode())
    result = read(path, **{"y": True, "a,b": True, "c": False})
    assert [column.tolist() for column in result.values()] == [[1, 0], [0.5, 1], ["two\nlines", "NA"]]


def form(**known):
    return {"form": CsvForm(**known)}


@pytest.mark.parametrize(
    ("name", "content", "known"),
    [
        ("semicolons.csv", b"y;a;part\n0;0.25;u\n1;0.5;v\n", {}),
        ("commas.csv", b"y;a;part\n0;0,25;u\n1;0,5;v\n", {}),
        ("named.csv", b"y;a;part;x,z\n0;0.25;u;1,2\n1;0.5;v;1,2\n", {}),  # both fit; one yields the columns
        ("tabs.csv", b"y\ta\tpart\n0\t0.25\tu\n1\t0.5\tv\n", {}),
        ("bars.csv", b"y|a|part\r\n0|0.25|u\r\n1|0.5|v\r\n", {}),
        ("commas.tsv", b"y,a,part\n0,0.25,u\n1,0.5,v\n", {}),
        ("packed.csv.gz", gzip.compress(b"y;a;part\n0;0.25;u\n1;0.5;v\n", mtime=0), {}),
        ("text.csv", b'"y";"a";"part"\n0;0.25;"u"\n\n1;0.5;"v"\n', {}),
        ("excel.csv", "y\ta\tpart\n0\t0.25\tu\n1\t0.5\tv\n".encode("utf-16"), {}),
        ("unused.csv", "y,a,part,größe\n0,0.25,u,é\n1,0.5,v,é\n".encode("latin-1"), {}),
        ("told.csv", b"y a part\n0 0.25 u\n1 0.5 v\n", {"separator": " "}),
        ("wide.csv", "y,a,part\n0,0.25,u\n1,0.5,v\n".encode("utf-16-be"), {"encoding": "utf-16-be"}),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_csv_that_is_certain(tmp_path, name, content, known):
    path = tmp_path / name
    path.write_bytes(content)
    result = read_columns(path, WANTED, numeric=["a"], **form(**known))
    assert [column.tolist() for column in result.values()] == [[0, 1], [0.25, 0.5], ["u", "v"]]


def test_csv_without_header(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("0,0.25,u\n1,0.5,v\n")
    result = read_columns(path, {"1": "--label '1'", "2": "--score '2'"}, numeric=["2"], **form(header=False))
    assert [column.tolist() for column in result.values()] == [[0, 1], [0.25, 0.5]]
    assert list(read_columns(path, None, **form(header=False))) == ["1", "2", "3"]
    path.write_text("0,0.25,u\n1,x,v\n")
    with pytest.raises(ValueError, match="'x' at line 2"):
        read_columns(path, {"2": "--score '2'"}, numeric=["2"], **form(header=False))
    path.write_text("0,1\n3,4\n")  # as pandas names unnamed columns
    assert list(read_columns(path, None)) == ["0", "1"]
    path.write_text("0.5,1\n3,4\n")
    assert read_columns(path, None, **form(header=True))["0.5"].tolist() == [3]


LATIN = "y,a,stadt\n0,0.25,Bonn\n1,0.5,Köln\n".encode("latin-1")


@pytest.mark.parametrize(
    ("content", "wanted", "said"),
    [
        (LATIN, "stadt", "is not UTF-8: column 'stadt' has b'K\\xf6ln' at line 3; set --encoding, such as"),
        (LATIN.replace(b"a,", b"\xe4,"), "stadt", "column 'stadt' has b'K\\xf6ln' at line 3; set --encoding"),
        (
            b"y,a\n" + b"0,Bonn\n" * 200_000 + b"0,K\xf6ln\n",
            "a",
            "column 'a' has b'K\\xf6ln' at line 200002; set --enc",
        ),
        (b"a;b,c\n1;2,3\n", "y", "may have columns separated by ',' (2 columns) or ';' (2 columns): set --separator"),
        (b"y a\n0 1\n", "y", "its columns are 'y a'; set --separator if columns are separated otherwise"),
        (b"0,0.25\n1,0.5\n", "y", "if its first line is data, --no-header calls its columns 1, 2, ..."),
        (
            b"1,0.25,0.5\n0,0.5,1\n",
            "1",
            "has numbers in its first line, '1', '0.25', '0.5', where column names should be: set --",
        ),
        (b"y,a\xe4\n0,1\n", "b", "it is not UTF-8: set --encoding, such as latin-1 or cp1252"),
        (
            gzip.compress(b"y,a\n0,1\n", mtime=0),
            "y",
            "it is compressed by gzip; unpack it, or give a file whose name",
        ),
        (b"PK\x03\x04\0\0", "y", "it is a ZIP archive or a workbook, of Excel for instance; unpack it, or save it"),
        (b"y\n10000000000000000000000001\n", "y", "which a float rounds, and not all its values are 64-bit integers"),
        (b"u,0.25,0.5\nv,0.5,1\n", None, "has numbers in its first line, '0.25', '0.5', where column names should"),
        ("y,a\n0,1\n".encode("utf-16-le"), "y", "it has NUL bytes, as text in --encoding utf-16-le has"),
        (b"y,a\n\n0,1\n\n0,1,2\n", "y", "line 5 has 3 columns, but line 1 has 2"),
        (b'y,a\n"0\n0",1\n0,\n', "a", "1 missing value, the first at line 4"),
    ],
)
def test_csv_that_is_not_certain(tmp_path, content, wanted, said):
    path = tmp_path / "unclear.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(said)):
        read_columns(path, wanted and {wanted: f"--x {wanted!r}"})
    if content == LATIN:
        assert read_columns(path, {"stadt": "x"}, **form(encoding="latin-1"))["stadt"].tolist() == ["Bonn", "Köln"]


def test_utf16_without_a_mark_names_the_file_and_the_option(tmp_path):
    path = tmp_path / "unmarked.csv"
    path.write_text("y,a\n0,1\n")
    with pytest.raises(ValueError, match=r"unmarked.csv' can't be read as CSV: it is not utf-16: .*; set --encoding"):
        read_columns(path, {"y": "x"}, **form(encoding="utf-16"))


@pytest.mark.parametrize("decimals", ["1,234\n2,345", "0,5\n1.25"])
def test_commas_that_may_be_of_thousands_are_not_read_as_decimal(tmp_path, decimals):
    path = tmp_path / "commas.csv"
    path.write_text("y;a\n" + "".join(f"0;{value}\n" for value in decimals.split()))
    with pytest.raises(ValueError, match=r"must hold numbers, but has type string \(with the value '\d,\d+' at line 2"):
        read(path, a=True)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".parquet", ".arrow", ".arrows"])
@pytest.mark.parametrize("content", [b"", b"\x00", b"\xff\xfe\xfd garbage\n\x80\n", b"ARROW1\x00\x00garbage", b"PAR1"])
def test_garbage(tmp_path, capsys, suffix, content):
    path = tmp_path / f"garbage{suffix}"
    path.write_bytes(content)
    assert cli.main(["report", str(path), "--label", "y", "--score", "a"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("fastevals report: error: ")
    assert err.count("\n") == 1
    assert str(path) in err


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet", ".arrow", ".arrows"])
def test_truncated(tmp_path, suffix):
    path = write(tmp_path / f"cut{suffix}", {"a": np.random.default_rng(0).random(5000)})
    whole = path.read_bytes()
    for size in (len(whole) // 8, len(whole) // 2):
        path.write_bytes(whole[:size])
        title = SUFFIXES[suffix]
        with pytest.raises(ValueError, match=f"can't be read as {title}: "):
            read(path, a=True)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".arrows", ".csv"])
def test_text_that_is_not_utf8(tmp_path, suffix):
    path = write(tmp_path / f"latin{suffix}", {"x": ["abcdefgh", "b"]})
    path.write_bytes(path.read_bytes().replace(b"abcdefgh", b"abcd\xe9fgh"))
    with pytest.raises(ValueError, match=r"UTF-?8|has type binary"):
        read(path, x=False)


def test_a_footer_that_says_another_number_of_rows(tmp_path):
    """Row groups and their columns have row counts, too; Arrow reads that many."""

    def number(n):  # as encoded in a footer
        digits = []
        while n or not digits:
            digits.append(n & 127 | 128)
            n >>= 7
        return bytes([*digits[:-1], digits[-1] & 127])

    path = write(tmp_path / "a.parquet", {"y": np.arange(20_000.0)})
    whole = path.read_bytes()
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    footer, there, seen = whole[start:-8], b"\x16" + number(2 * 20_000), []
    places = [at for at in range(len(footer)) if footer.startswith(there, at)]
    for at, says in itertools.product(places, (100, 20_001, 10**15)):
        changed = footer[:at] + b"\x16" + number(2 * says) + footer[at + len(there) :]
        path.write_bytes(whole[:start] + changed + len(changed).to_bytes(4, "little") + b"PAR1")
        try:
            assert len(read_columns(path, {"y": "y"})["y"]) == 20_000
        except ValueError as error:
            seen.append(str(error).partition("can't be read as Parquet: ")[2])
    assert "it holds more than the 100 rows that it says it holds" in seen
    assert "it holds 20000 rows, but says that it holds 20001" in seen
    assert "it holds 100 rows, but says that it holds 20000" in seen
    assert "it holds 20000 rows, but says that it holds 1000000000000000" in seen


@pytest.mark.parametrize(
    "suffix", [".parquet", pytest.param(".arrow", marks=SLOW), pytest.param(".arrows", marks=SLOW)]
)
def test_damage_is_never_a_traceback(tmp_path, capsys, suffix):
    path = write(tmp_path / f"damaged{suffix}", {"y": [0, 1, 1, 0], "a": [0.5, 1, 2, 3], "part": ["u", "v", "v", "u"]})
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(40):
        damaged = np.frombuffer(whole, np.uint8).copy()
        damaged[rng.integers(damaged.size, size=2)] = rng.integers(256, size=2)
        path.write_bytes(damaged.tobytes())
        status = cli.main(["report", str(path), "--label", "y", "--score", "a", "--by", "part"])
        assert (status, capsys.readouterr().err.count("\n")) in ((0, 0), (2, 1))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: folder / "none.csv", "no such file"),
        (lambda folder: folder, "is a folder without files of a known format: .csv, "),
        (lambda folder: (folder / "d.csv").mkdir() or folder / "d.csv", "is a folder without files"),
        (lambda folder: folder / "scores.xlsx", "no such file"),
        (lambda folder: (folder / "d.xlsx").write_text("PK") and folder / "d.xlsx", "no known format"),
    ],
)
def test_no_file(tmp_path, make, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        read(make(tmp_path), a=True)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".arrows"])
def test_columns_that_cannot_be_used(tmp_path, suffix):
    table = pa.Table.from_arrays([pa.array([1.0, None, None])] * 3, names=["a", "twice", "twice"])
    path = write(tmp_path / f"odd{suffix}", table)
    with pytest.raises(ValueError, match=r"--x 'twice': .* has 2 columns of this name"):
        read(path, twice=True)
    with pytest.raises(ValueError, match=r"--x 'twic': .* no such column \(did you mean 'twice'\?\); its columns"):
        read(path, twic=True)
    where = "line 3" if suffix == ".csv" else "row 1"
    with pytest.raises(ValueError, match=f"--x 'a' has 2 missing values, the first at {where}"):
        read(path, a=True)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".arrow", ".arrows"])
def test_columns_larger_than_memory_are_refused(tmp_path, monkeypatch, suffix):
    n = 500_000  # only a few bytes in a compressed file
    path = write(tmp_path / f"large{suffix}", {"a": pa.array(np.arange(n) % 2)}, rows=1 << 16)
    assert read(path, a=True)["a"].size == n
    monkeypatch.setattr(columns, "available_memory", lambda: 3_000_000)
    with pytest.raises(
        ValueError, match=r"is too large: .* of its \d+\.\d MB hold \d\.\d MB of columns, and at most 1"
    ):
        read(path, a=True)
    monkeypatch.setattr(columns, "available_memory", lambda: None)
    monkeypatch.setattr(columns, "MOST_UNPACKED", 10_000)
    if suffix == ".csv.gz":
        with pytest.raises(
            ValueError, match=r"100 times the size of a .gz file\): unpack the file if it is meant to be so large"
        ):
            read(path, a=True)
    else:
        assert read(path, a=True)["a"].size == n


def test_no_rows(tmp_path):
    for suffix in (".csv", ".parquet", ".arrow"):
        path = write(tmp_path / f"short{suffix}", {"a": pa.array([], pa.float64())})
        with pytest.raises(ValueError, match="has no rows"):
            read(path, a=True)


def test_nested_column(tmp_path):
    path = write(tmp_path / "nested.parquet", {"x": [[1], [2]], "a.b": [1, 2], "s": [{"t": 1}, {"t": 2}]})
    assert read(path, **{"a.b": True})["a.b"].tolist() == [1, 2]
    with pytest.raises(ValueError, match="--x 'x' must hold numbers, booleans or strings, but has type list"):
        read(path, x=False)
    with pytest.raises(ValueError, match="--x 's' must hold numbers, but has type struct"):
        read(path, s=True)


def test_without_pyarrow(tmp_path, monkeypatch, capsys):
    path = write(tmp_path / "scores.parquet", COLUMNS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert cli.main(["report", str(path), "--label", "y", "--score", "a"]) == 2
    assert capsys.readouterr().err == ("fastevals report: error: reading files needs pyarrow: pip install pyarrow\n")
    assert cli.main(["report", "--score", "logistic"]) == 0


def test_pyarrow_that_is_there_but_fails_is_not_called_missing(tmp_path, monkeypatch, capsys):
    path = write(tmp_path / "scores.parquet", COLUMNS)

    def fail(name):
        raise ImportError("libarrow.so: failed to map segment from shared object: Cannot allocate memory")

    monkeypatch.setattr(importlib, "import_module", fail)
    assert cli.main(["report", str(path), "--label", "y", "--score", "a"]) == 2
    assert "pyarrow is installed, but can't be imported: libarrow.so: failed to map" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        (
            "y,p\n0,0.2\n1,0.9\n",
            ["--pred", "p"],
            "--pred 'p' must hold class labels, whole numbers within 64 bits, but has 0.2 at line 2; scores go",
        ),
        (
            "y,e\u0301te\u0301\n0,1\n",
            ["--score", "\u00e9t\u00e9"],
            r"encoded as 'e\u0301te\u0301' instead of '\xe9t\xe9'?",
        ),
        ("y,s\n0,\x001\n1,2\n", ["--score", "s"], "it has NUL bytes, which text never has, the first in line 2"),
    ],
)
def test_messages_name_option_line_and_way_out(tmp_path, capsys, content, arguments, said):
    path = tmp_path / "rows.csv"
    path.write_text(content, encoding="utf-8")
    assert cli.main(["report", str(path), "--label", "y", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_another_suffix_can_be_piped(tmp_path, capsys):
    (tmp_path / "rows.txt").write_text("y\ts\n0\t1\n")
    assert cli.main(["report", str(tmp_path / "rows.txt"), "--label", "y", "--score", "s"]) == 2
    assert "CSV of any name can be piped: fastevals report - < FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "values", "way_out"),
    [
        ("--label y --score bad", [np.nan, np.inf], "--on-invalid"),
        ("--label y --score s --weight bad", [np.nan, np.inf], "--on-invalid"),
        ("--target s --pred bad", [np.nan, np.inf], "--on-invalid"),
        ("--target bad --pred s", [np.nan, np.inf], "--on-missing-label"),
        ("--label bad --score s", [np.nan], "--on-missing-label"),
    ],
)
def test_rows_that_are_not_finite_name_the_option_that_leaves_them_out(tmp_path, capsys, options, values, way_out):
    """NaN in Parquet is not an Arrow null, but its rows are left out in the same way."""
    for value in values:
        columns = {"y": [1, 0, 1, 0, 1], "s": [0.9, 0.2, 0.3, 0.1, 0.4], "bad": [value, 1.0, 1.0, 0.0, 0.0]}
        path = write(tmp_path / "rows.parquet", columns)
        arguments = ["report", str(path), *options.split(), "--resamples", "0"]
        assert cli.main(arguments) == 2
        assert capsys.readouterr().err.endswith(f"the first at row 0; {way_out} drop leaves such rows out\n")
        assert cli.main([*arguments, way_out, "drop"]) == 0
