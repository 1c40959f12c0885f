"""Rows of files, counted in scans: the same numbers as in memory, or bounds that contain them."""

from __future__ import annotations

import copy
import gzip
import json
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import Ranking
from fastevals.reading import csv as csv_files
from fastevals.scale import RankingSummary, parquet
from fastevals.scale.certified import Certified, CertifiedRanking
from fastevals.scale.scores import ScoresSummary
from fastevals.show import cli
from fastevals.show.report import intervals
from tests.parameters import quick

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")

MODELS = ("a", "b", "c")


@pytest.fixture(autouse=True, scope="module")
def nothing_held() -> Iterator[None]:
    """Read even few rows in two scans; `test_held.py` tests rows that are held in memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "ROWS_HELD", -1)
        yield


def table_of(n: int, seed: int = 0, positives: float = 0.1) -> Any:
    """Draw rows with probabilities, rounded probabilities, and scores that are not probabilities."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < positives).astype(np.int64)
    y[:2] = 0, 1
    normal = rng.normal(size=n) + y
    return pa.table({
        "y": y,
        "a": 1 / (1 + np.exp(-normal)),
        "b": np.round(rng.beta(1 + y, 3), 2),
        "c": normal.astype(np.float32),
        "w": rng.integers(0, 3, n),
        "land": np.array(["de", "fr", "it"])[rng.integers(0, 3, n)],
    })  # fmt: skip


def write(path: Path, table: Any, rows: int = 700) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=rows)
    return str(path)


def report(data: Any, **options: Any) -> dict[str, Any]:
    given = {"label": "y", "score": list(MODELS), "n_resamples": 0, **options}
    return {**without_calibration(fastevals.report(data, **given).to_dict()), "data": None}


def without_calibration(found: dict[str, Any]) -> dict[str, Any]:
    """Leave out calibration, which scans take from small cells (tests/show/report/test_calibrated.py compares it)."""
    for model in (found["over"] or {}).get("models", ()):
        model.pop("calibration", None)
    for block in filter(None, (*found["blocks"], found.get("whole"))):
        said = {(model.pop("calibration", None) or {}).get("conclusion") for model in block["models"]}
        if block["intervals"] is not None:
            block["intervals"]["notes"] = [note for note in block["intervals"]["notes"] if note not in said]
    return found


def without_differences(found: dict[str, Any]) -> dict[str, Any]:
    """Leave out differences by value, whose errors scans take from cells (report/test_over_differences.py has them)."""
    return {**found, "over": found["over"] and {**found["over"], "differences": None}}


# The same numbers -----------------------------------------------------------------------------------------------------

OPTIONS: list[dict[str, Any]] = [
    {},
    {"cost_fp": 1, "cost_fn": 20, "prior": 0.2},
    {"threshold": 0.25},
    {"best": "matthews"},
    {"by": "land"},
    {"sample_weight": "w"},
    {"by": "land", "sample_weight": "w", "best": "accuracy"},
    {"n_resamples": 39, "by": "land"},
]


@pytest.mark.cases(2)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("memory", ["100kB", "9kB"], ids=["one range", "several ranges"])
def test_a_stream_gives_the_report_of_memory(options: dict[str, Any], memory: str, tmp_path: Path) -> None:
    path = write(tmp_path / "rows.parquet", table_of(3000))
    if "n_resamples" in options:  # blocks are then drawn row by row, in memory
        pytest.importorskip("tqdm")
        options = {**options, "memory": "5MB"}
        assert report(path, **options) == report([path], **options)
        return
    assert report(path, **{**options, "memory": memory}) == report(path, **options)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_stream_gives_the_report_of_memory_for_any_rows(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    table = table_of(int(rng.integers(2, 20_000)), seed, positives=float(rng.choice([0.002, 0.1, 0.5, 0.97])))
    path = write(tmp_path / "rows.parquet", table, int(rng.integers(1, 5000)))
    n_bytes = 110 * table.num_rows
    for options in OPTIONS[:-1]:
        expected = report(path, **options)
        for memory in (n_bytes // 5, n_bytes // 30):
            assert report(path, **options, memory=max(memory, 100)) == expected


@pytest.mark.parametrize(
    ("labels", "best"), [([0, 0, 0, 0, 1, 1], "matthews"), ([0, 0, 0, 0, 1, 1], "accuracy"), ([0] * 6, "f1")]
)
def test_a_threshold_above_all_positives_is_found(labels: list[int], best: str, tmp_path: Path) -> None:
    path = write(tmp_path / "rows.parquet", pa.table({"y": labels, "a": [0.6, 0.5, 0.4, 0.3, 0.2, 0.1]}), 2)
    expected = report(path, score="a", best=best)
    assert expected["blocks"][0]["models"][0]["threshold"] in (0.6, "Infinity")
    assert report(path, score="a", best=best, memory="250B") == expected


def test_blocks_that_are_drawn_are_those_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "RESAMPLES", 39)
    path = write(tmp_path / "rows.parquet", table_of(2000))
    expected = report(path, n_resamples=None, by="land")
    assert report(path, n_resamples=None, by="land", memory="100kB") == expected


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"frequency_weight": "w", "by": "land", "cost_fp": 1, "cost_fn": 5}])
def test_intervals_of_cells_are_those_of_memory(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "BUDGET", 1000)  # nothing is drawn row by row
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    monkeypatch.setattr(intervals, "RESAMPLES", 39)
    path = write(tmp_path / "rows.parquet", table_of(2000))
    expected = without_differences(report(path, n_resamples=None, score=["a", "b"], **options))
    assert expected["intervals"]["method"] == "cells"
    assert set(expected["blocks"][0]["differences"][0]["metrics"]) > {"roc_auc", "f1", "brier_score"}
    for memory in ("30kB", "10kB"):  # one range of scores, then several
        found = report(path, n_resamples=None, score=["a", "b"], **options, memory=memory)
        assert without_differences(found) == expected


def test_groups_that_are_not_in_memory_have_no_intervals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "BUDGET_WITHOUT_CELLS", 1000)
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    path = write(tmp_path / "rows.parquet", table_of(2000))
    found = report(path, n_resamples=None, score=["a", "b"], groups="land", memory="30kB")
    notes = found["blocks"][0]["intervals"]["notes"]
    assert notes == ["the data has no intervals: its rows are clustered and not in memory"]
    assert found["blocks"][0]["differences"] == []


@pytest.mark.cases(2)
@pytest.mark.parametrize("kind", ["folder", "pattern", "paths", "dataset", "partitions", "arrow"])
def test_many_files_are_one(kind: str, tmp_path: Path) -> None:
    table = table_of(2000)
    expected = report(table.to_pydict())
    parts = [table.slice(start, 500) for start in range(0, 2000, 500)]
    paths = [write(tmp_path / "d" / f"{k}.parquet", part, 100) for k, part in enumerate(parts)]
    (tmp_path / "d" / "_SUCCESS").touch()
    data: Any = str(tmp_path / "d")
    if kind == "pattern":
        data = str(tmp_path / "d" / "*.parquet")
    elif kind == "paths":
        data = paths
    elif kind == "dataset":
        data = ds.dataset(paths)
    elif kind == "partitions":
        for k, part in enumerate(parts):
            write(tmp_path / "h" / f"day={k}" / "x.parquet", part)
        data = str(tmp_path / "h")
        by_day = report(data, by="day", memory="10kB")
        assert by_day == report(data, by="day")
        assert by_day["over"]["values"] == [0, 1, 2, 3]
    elif kind == "arrow":
        for k, part in enumerate(parts):
            with pa.OSFile(str(tmp_path / f"{k}.arrow"), "wb") as file, pa.ipc.new_file(file, part.schema) as writer:
                writer.write_table(part, 90)
        data = str(tmp_path / "*.arrow")
    assert report(data) == expected
    assert report(data, memory="10kB") == expected


def test_csv_files_are_one(tmp_path: Path) -> None:
    csv = pytest.importorskip("pyarrow.csv")
    table = table_of(600)
    for k in range(3):
        csv.write_csv(table.slice(200 * k, 200), tmp_path / f"{k}.csv")
    csv.write_csv(table, tmp_path / "all.csv")
    expected = report(str(tmp_path / "all.csv"))
    assert report(str(tmp_path / "[0-9].csv")) == expected
    assert report(str(tmp_path / "[0-9].csv"), memory="10kB") == expected


def csv_rows(n: int) -> list[str]:
    return [f"{k % 2},0.{10 + 7 * k % 80}" for k in range(n)]


@pytest.mark.parametrize("rows", [["1,", "0,"], ["0,0", "1,1"], ["1,1", "0,0.0"]], ids=str)
def test_csv_whose_first_block_has_another_type(
    rows: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastevals.reading.csv.BYTES_PER_BLOCK", 1000)
    monkeypatch.setattr("fastevals.reading.csv.HEAD", 1000)
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["y,a", *rows * 300, *csv_rows(500)]) + "\n")
    expected = report(str(path), score="a", on_invalid="drop")
    assert report(str(path), score="a", on_invalid="drop", memory="1kB") == expected
    with path.open("rb") as pipe:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(pipe))
        streamed = report("-", score="a", on_invalid="drop")
        sys.stdin.detach()  # type: ignore[attr-defined]
    assert streamed["blocks"] == expected["blocks"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1,abc", r"the value 'abc' at line 402 of '.*a\.csv'"),
        (b"1,0.\xff5", r"'.*a\.csv' is not UTF-8: column 'a' has b'0\.\\xff5' at line 402"),
        (b"1,inf", r"has 1 NaN or infinite value, the first at line 402 of '.*a\.csv'"),
        (b"1,", r"has 1 missing value, the first at line 402 of '.*a\.csv'; on_invalid='drop' leaves such rows out"),
        (b"1,9007199254740993.0", None),
        (b"1,9007199254740993", "holds 9007199254740993, which a float rounds"),
    ],
    ids=str,
)
def test_a_line_that_cannot_be_counted_is_named(
    line: bytes, message: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastevals.reading.csv.BYTES_PER_BLOCK", 1000)
    lines = [each.encode() for each in ["y,a", *csv_rows(900)]]
    lines[401] = line
    path = tmp_path / "a.csv"
    path.write_bytes(b"\n".join(lines) + b"\n")
    if message is None:
        assert report(str(path), score="a", memory="1kB") == report(str(path), score="a")
        return
    with pytest.raises(ValueError, match=message):
        report(str(path), score="a", memory="1kB")


@pytest.mark.parametrize(("end", "encoding"), [("\r", "utf-8"), ("\r\n", "utf-8"), ("\n", "utf-16-le")])
def test_standard_input_of_any_lines(end: str, encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastevals.reading.csv.HEAD", 1001)
    path = tmp_path / "a.csv"
    path.write_bytes((end.join(["y,a", *csv_rows(900)]) + end).encode(encoding))
    with path.open("rb") as pipe:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(pipe))
        found = report("-", score="a", encoding=encoding)
        sys.stdin.detach()  # type: ignore[attr-defined]
    assert found["blocks"] == report(str(path), score="a", encoding=encoding)["blocks"]


def test_standard_input_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for content, message in (
        (b"\x1f\x8b\x08" + b"0" * 100, "standard input' can't be read as CSV: it is compressed by gzip"),
        (b"\xff\xff\xff\xff\x10\x00\x00\x00\x01", "standard input can't be read:"),
    ):
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BufferedReader(BytesIO(content))))  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=message):
            report("-", score="a")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="standard input is closed"):
        report("-", score="a")


@pytest.mark.cases(3)
@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [1.5, 2.5]], ids=str)
def test_labels_of_any_type(labels: list[Any], tmp_path: Path) -> None:
    table = table_of(1000)
    y = np.array(labels)[table["y"].to_numpy()]
    path = write(tmp_path / "rows.parquet", table.set_column(0, "y", pa.array(y.tolist())), 64)
    expected = report(path, pos_label=labels[1])
    assert report(path, pos_label=labels[1], memory="10kB") == expected


def test_a_ranking_of_files_has_the_methods_of_one(tmp_path: Path) -> None:
    table = table_of(3000)
    path = write(tmp_path / "rows.parquet", table)
    rows = table["y"].to_numpy(), table["a"].to_numpy()
    expected, found = Ranking(*rows), parquet.ranking(path, label="y", score="a", at=0.3)
    for name in ("roc_auc", "average_precision", "pr_auc", "rank_loss"):
        assert getattr(found, name)() == getattr(expected, name)(), name
    for name in ("ks_statistic", "break_even_point", "equal_error_rate"):
        assert float(getattr(found, name)()) == float(getattr(expected, name)()), name
    assert found.best_threshold("f1") == expected.best_threshold("f1")
    assert found.roc_auc(max_fpr=0.2) == pytest.approx(expected.roc_auc(max_fpr=0.2), rel=1e-14)
    assert (found.confusion_at(0.3).counts == expected.confusion_at(0.3).counts).all()
    assert found.roc_curve().area == pytest.approx(expected.roc_auc())
    several = parquet.ranking(path, label="y", score=["a", "c"], memory=2000)
    assert isinstance(several["a"], CertifiedRanking)
    assert several["a"].roc_auc() == expected.roc_auc()
    assert several["a"].metric(fastevals.metric("f1", best="f1")) == expected.best_threshold("f1").value


@pytest.mark.parametrize("weight", [None, "w"])
def test_an_exact_ranking_answers_as_that_of_all_rows_or_not_at_all(weight: str | None) -> None:
    table = table_of(3000, positives=0.03)
    found = parquet.ranking(table, label="y", score="a", sample_weight=weight, exact=True, at=0.123)
    columns = {name: table[name].to_numpy() for name in ("y", "a", "w")}
    whole = Ranking(columns["y"], columns["a"], sample_weight=None if weight is None else columns["w"])
    positives = np.sort(columns["a"][(columns["y"] == 1) & ((columns["w"] > 0) | (weight is None))])
    known = [-np.inf, 0.0, 0.123, 0.5, 1.0, np.inf, *positives, *(np.arange(101) / 100)]
    np.testing.assert_array_equal(found.confusion_at(known).counts, whole.confusion_at(known).counts)
    np.testing.assert_array_equal(found.decision_curve().net_benefit, whole.decision_curve().net_benefit)
    assert found.expected_cost(0.5, cost_fn=7.0) == whole.expected_cost(0.5, cost_fn=7.0)
    for name, limit in (("recall", 0.9), ("precision", 0.05), ("fpr", 0.3), ("n_predicted", 99)):
        assert found.threshold_for(**{name: limit}) == whole.threshold_for(**{name: limit})
    gap = int(np.argmax(np.diff(positives)))
    between = (positives[gap] + positives[gap + 1]) / 2 + 1e-6
    message = r"counts at the threshold 0\.\d+ are not known: [\d,]+ negatives .*Pass it beforehand \(at=\)"
    for ask in (found.confusion_at, found.expected_cost, lambda at: found.gain_curve().at(threshold=at)):
        with pytest.raises(ValueError, match=message):
            ask(between)
    for several in ([0.5, between], [between, positives[gap]]):  # one of these is known
        with pytest.raises(ValueError, match=f"{between:.17g} are not known"):
            found.confusion_at(several)
    named = parquet.ranking(table, label="y", score="a", sample_weight=weight, exact=True, at=between)
    np.testing.assert_array_equal(named.confusion_at(between).counts, whole.confusion_at(between).counts)
    for ask in (
        found.brier_score, found.brier_decomposition, found.log_loss, found.log_loss_decomposition,
        found.calibration_curve, found.reliability_curve,
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r".+ needs the scores of negatives, which are not kept"):
            ask()
    again = pickle.loads(pickle.dumps(found.counts))
    assert again.rows_at_least(np.array([0.5])) == found.counts.rows_at_least(np.array([0.5]))
    with pytest.raises(ValueError, match="merging counts needs the scores of negatives, which are not kept"):
        found.counts + whole.counts


@pytest.mark.parametrize("memory", [None, 500], ids=["one range", "several ranges"])
@pytest.mark.parametrize("again", [lambda found: pickle.loads(pickle.dumps(found)), copy.deepcopy])
def test_a_ranking_of_files_can_be_kept(again: Callable[[Any], Any], memory: int | None) -> None:
    found = parquet.ranking(table_of(300), label="y", score="a", memory=memory)
    other = again(found)
    assert other.roc_auc() == found.roc_auc()
    assert other.roc_curve().area == found.roc_curve().area
    assert (other.confusion_at(1.0).counts == found.confusion_at(1.0).counts).all()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_bounds_of_sorted_rows_are_as_close_as_cells_are_fine(kind: str, tmp_path: Path) -> None:
    table = table_of(6000, positives=0.3).sort_by("a")
    path = str(tmp_path / f"rows.{kind}")  # an Arrow file does not say how many rows it has
    if kind == "arrow":
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=1000)
    else:
        pq.write_table(table, path, row_group_size=1000)
    auc = parquet.ranking(path, label="y", score="a", exact=False, cells=128).roc_auc()
    assert auc.low <= Ranking(table["y"].to_numpy(), table["a"].to_numpy()).roc_auc() <= auc.high
    assert 0 < auc.width < 1.5 / 128


ORDERS = ["shuffled", "sorted", "descending", "sorted parts", "straddling parts"]


@pytest.mark.cases(2)
@pytest.mark.parametrize("form", ["parquet", "table", "no statistics"])
@pytest.mark.parametrize("order", quick(ORDERS, "shuffled", "straddling parts"))
def test_bounds_of_many_row_groups_do_not_depend_on_the_order_of_rows(order: str, form: str, tmp_path: Path) -> None:
    """The sample has 16 of 200 row groups; the other groups' least and greatest scores locate their rows."""
    n, cells = 40_000, 1024
    table = table_of(n, positives=0.3)
    scores, parts = table["a"].to_numpy(), {"sorted parts": 10, "straddling parts": 12}.get(order, 1)
    rows = np.arange(n) if order == "shuffled" else np.lexsort((scores, np.arange(n) // (n // parts)))
    table = table.take(rows[::-1] if order == "descending" else rows)
    expected = Ranking(table["y"].to_numpy(), table["a"].to_numpy())
    data: Any = pa.Table.from_batches(table.to_batches(max_chunksize=n // 200))
    if form != "table":
        data = str(tmp_path / "rows.parquet")
        pq.write_table(table, data, row_group_size=n // 200, write_statistics=form == "parquet")
    made = []
    for threads in (1, 4):
        with fastevals.num_threads(threads):
            made.append(parquet.ranking(data, label="y", score="a", exact=False, cells=cells))
    assert made[0].cells.low.tolist() == made[1].cells.low.tolist()
    assert made[0].cells.counts.tolist() == made[1].cells.counts.tolist()
    auc, precision = made[0].roc_auc(), made[0].average_precision()
    assert auc.low <= expected.roc_auc() <= auc.high
    assert precision.low <= expected.average_precision() <= precision.high
    if form != "no statistics":
        assert auc.width < 4 / cells
        assert precision.width < 40 / cells
        assert made[0].cells.low.size < 1.2 * cells


def test_bounds_hold_the_value(tmp_path: Path) -> None:
    table = table_of(6000, positives=0.3)
    path = write(tmp_path / "rows.parquet", table)
    for weight in (None, "w"):
        weights = None if weight is None else table["w"].to_numpy()
        expected = Ranking(table["y"].to_numpy(), table["a"].to_numpy(), sample_weight=weights)
        found = parquet.ranking(path, label="y", score="a", exact=False, cells=64, sample_weight=weight, at=0.4)
        auc = found.roc_auc()
        assert isinstance(auc, Certified)
        assert auc.low <= expected.roc_auc() <= auc.high
        assert auc.width < 0.05
        assert (found.confusion_at(0.4).counts == expected.confusion_at(0.4).counts).all()


def test_weights_that_are_not_whole_have_bounds(tmp_path: Path) -> None:
    table = table_of(2000)
    weights = np.random.default_rng(1).random(2000) + 0.1
    table = table.set_column(4, "w", pa.array(weights))
    path = write(tmp_path / "rows.parquet", table)
    expected = Ranking(table["y"].to_numpy(), table["a"].to_numpy(), sample_weight=weights).roc_auc()
    auc = parquet.ranking(path, label="y", score="a", sample_weight="w").roc_auc()
    assert isinstance(auc, Certified)
    assert auc.low <= expected <= auc.high
    with pytest.raises(ValueError, match=r"column 'w' must hold whole numbers, got \d"):
        parquet.ranking(path, label="y", score="a", sample_weight="w", exact=True)


# Read once ------------------------------------------------------------------------------------------------------------


def test_a_stream_is_read_once(tmp_path: Path) -> None:
    table = table_of(3000)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(100))
    assert parquet.ranking(reader, label="y", score="b").roc_auc() == Ranking(table["y"], table["b"]).roc_auc()
    with pytest.raises(ValueError, match="exact=True reads rows twice"):
        parquet.ranking(reader, label="y", score="b", exact=True)
    for exact in (None, True, False):
        with pytest.raises(ValueError, match="the table has no rows"):
            parquet.ranking(table_of(9).slice(0, 0), label="y", score="b", exact=exact)
    with pytest.raises(ValueError, match="the stream has no rows"):
        parquet.ranking(reader, label="y", score="b")


@pytest.mark.parametrize("kind", ["csv", "arrow"])
def test_standard_input(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table, content = table_of(500), BytesIO()
    if kind == "csv":
        pytest.importorskip("pyarrow.csv").write_csv(table, content)
    else:
        with pa.ipc.new_stream(content, table.schema) as writer:
            writer.write_table(table, 50)
    path = tmp_path / {"csv": "rows.csv", "arrow": "rows.arrows"}[kind]
    path.write_bytes(content.getvalue())
    arguments = ["-", "--label", "y", "--score", "a", "--score", "b", "--score", "c", "--resamples", "0"]
    with path.open("rb") as pipe:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(pipe))
        assert cli.main(["report", *arguments, "--format", "json"]) == 0
        sys.stdin.detach()  # type: ignore[attr-defined]
    found = without_calibration(json.loads(capsys.readouterr().out))
    assert found["blocks"] == report(str(path))["blocks"]


@pytest.mark.parametrize("ends", ["lines", "CR", "utf-16"])
def test_a_long_pipe_of_text(ends: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(csv_files, "HEAD", 1 << 12)
    text = "y,p\n" + "".join(f"{k % 2},{k * 7919 % 3001 / 3001}\n" for k in range(3001))
    content = (
        text.replace("\n", "\r").encode() if ends == "CR" else text.encode("utf-16" if ends == "utf-16" else "utf-8")
    )
    assert pipe(content, monkeypatch) == 0
    values = np.arange(3001)
    found = json.loads(capsys.readouterr().out)["blocks"][0]["models"][0]["metrics"]["roc_auc"]
    assert found == Ranking(values % 2, values * 7919 % 3001).roc_auc()


def test_pipes_that_are_no_rows(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    content = BytesIO()
    with pa.ipc.new_stream(content, table_of(9).schema):
        pass
    assert pipe(content.getvalue()[:100], monkeypatch) == 2
    assert "standard input can't be read: Expected to read" in capsys.readouterr().err
    assert pipe(gzip.compress(b"y,p\n1,0.5\n"), monkeypatch) == 2
    assert "standard input' can't be read as CSV: it is compressed by gzip; unpack it" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", None)
    assert cli.main(["report", "-", "--label", "y", "--score", "p"]) == 2
    assert "standard input is closed" in capsys.readouterr().err


def pipe(content: bytes, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BufferedReader(BytesIO(content))))  # type: ignore[arg-type]
    return cli.main(["report", "-", "--label", "y", "--score", "p", "--resamples", "0", "--format", "json"])


# Types of columns of CSV: all rows have a say, in memory and batch by batch -----------------------------------------


def csv_of(path: Path, columns: dict[str, list[Any]]) -> str:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.cases(3)
@pytest.mark.parametrize(
    "late",
    [
        {"p": "0.25"},
        {"p": "9007199254740994.0"},
        {"p": "1e300"},
        {"p": " 1e300"},
        {"y": "1.0"},
        {"f": "2.5"},
        {"f": "other"},
        {"f": "true"},
        {"f": "9007199254740994"},
        {"f": "2020-01-02"},
    ],
    ids=str,
)
def test_late_rows_widen_types(late: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("HEAD", 800), ("BYTES_PER_BLOCK", 700)):
        monkeypatch.setattr(csv_files, name, size)
    columns: dict[str, list[Any]] = {"y": [0, 1, 1] * 200, "p": [3, 1, 4, 1, 5, 9] * 100, "f": [0, 0, 1, 1] * 150}
    for name, value in late.items():
        columns[name][-2] = value
    path = csv_of(tmp_path / "rows.csv", columns)
    options = {"score": "p", "by": "f" if "f" in late else None}
    expected = report(path, **options)
    assert report(path, **options, memory=3000) == expected
    assert {**report(path, **options, on_invalid="drop"), "on_invalid": "raise"} == {**expected, "on_invalid": "raise"}


def test_rows_without_a_value_of_by_are_a_block_where_not_all_fit_in_memory(tmp_path: Path) -> None:
    columns = {"y": [0, 1, 1] * 40, "p": [3, 1, 4, 1, 5, 9] * 20, "g": ["missing", "", "z", ""] * 30}
    path = csv_of(tmp_path / "rows.csv", columns)
    expected = report(path, score="p", by="g")
    assert [(block["value"], block["n_samples"]) for block in expected["blocks"]] == [
        ("missing", 30), ("z", 30), (None, 60),
    ]  # fmt: skip
    assert report(path, score="p", by="g", memory=600) == expected


def test_first_rows_without_scores_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("HEAD", 800), ("BYTES_PER_BLOCK", 700)):
        monkeypatch.setattr(csv_files, name, size)
    path = csv_of(tmp_path / "rows.csv", {"y": [0, 1] * 300, "p": [""] * 500 + [0.5, "inf"] * 25 + [0.7] * 50})
    found = report(path, score="p", on_invalid="drop")
    assert (found["n_dropped"], found["blocks"][0]["n_samples"]) == (525, 75)
    with pytest.raises(ValueError, match=r"'p' has \d+ missing values, the first at line 2 of '.*rows.csv'"):
        report(path, score="p", memory=3000)
    path = csv_of(tmp_path / "rows.csv", {"y": [0, 1] * 300, "p": [0.5] * 577 + ["inf"] + [0.25] * 22})
    with pytest.raises(ValueError, match=r"'p' has 1 NaN or infinite value, the first at line 579 of '.*rows"):
        report(path, score="p", memory=3000)


def test_columns_of_one_name_that_are_not_read(tmp_path: Path) -> None:
    table = table_of(300)
    for name in ("x", "x"):
        table = table.append_column(name, table["w"])
    path = write(tmp_path / "day=1" / "a.parquet", table, 90)
    assert report(path, memory="3kB") == report(path)
    assert report([path], by="day")["blocks"][0]["n_samples"] == 300
    with pytest.raises(ValueError, match="has 2 columns of this name"):
        report([path], sample_weight="x")


def test_weights_that_are_all_zero(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", table_of(50).append_column("zero", pa.array([0] * 50)))
    for options in ({}, {"memory": 500}, {"approximate": True}):
        with pytest.raises(ValueError, match="'zero' must have a value above zero, but all 50 are zero"):
            report(path, sample_weight="zero", **options)


def test_a_file_by_another_spelling(tmp_path: Path) -> None:
    path = write(tmp_path / "d" / "a.parquet", table_of(9))
    (tmp_path / "link.parquet").symlink_to(path)
    for other in (tmp_path / "d" / ".." / "d" / "a.parquet", tmp_path / "link.parquet"):
        with pytest.raises(ValueError, match=r"'.*' is given twice, also as '.*d/a.parquet'"):
            report([path, str(other)])


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("p", b"abc", r"'p' must hold numbers, but has type string \(with the value 'abc' at {}"),
        ("p", b"0x1F", r"'p' must hold numbers, but has type string \(with the value '0x1F' at {}"),
        ("p", b"\xff", r"is not UTF-8: column 'p' has b'\\xff' at {}"),
        ("y", b"x", r"'y' must have labels of one type, got 1 in what was read first and 'x' at {}"),
    ],
    ids=str,
)
def test_a_late_value_that_is_no_number_is_named(
    column: str,
    value: bytes,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, size in (("HEAD", 800), ("BYTES_PER_BLOCK", 700)):
        monkeypatch.setattr(csv_files, name, size)
    columns = {"y": [0, 1] * 300, "p": [0.7] * 600}
    columns[column][571] = "LATE"  # type: ignore[call-overload]
    path = tmp_path / "rows.csv"
    content = Path(csv_of(path, columns)).read_bytes().replace(b"LATE", value)
    path.write_bytes(content)
    if column == "p":
        for options in ({}, {"memory": 3000}, {"on_invalid": "drop"}):
            with pytest.raises(ValueError, match=message.format("line 573")):
                report(str(path), score="p", **options)
    assert pipe(content, monkeypatch) == 2
    assert re.search(message.format("row 571"), capsys.readouterr().err)


# What is wrong with a row, or a file ----------------------------------------------------------------------------------


def with_value(table: Any, column: str, row: int, value: Any) -> Any:
    values = table[column].to_pylist()
    values[row] = value
    place = table.schema.get_field_index(column)
    return table.set_column(place, column, pa.array(values, table.schema.field(column).type))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("a", float("nan"), r"column 'a' has 1 NaN or infinite value, the first at row 17 of row group 2 of '.*bad"),
        ("a", None, r"column 'a' has 1 missing value, the first at row 17 of row group 2 of '.*bad"),
        ("c", float("inf"), r"column 'c' has 1 NaN or infinite value, the first at row 17 of row group 2"),
        ("y", None, r"column 'y' has 1 missing value, the first at row 17 of row group 2 .*; on_missing_label='drop'"),
        ("y", 7, r"column 'y' must have two labels, which are 0 and 1 in what was read first, got 7 in 1 rows"),
    ],
    ids=str,
)
def test_a_row_that_cannot_be_counted_is_named(column: str, value: Any, message: str, tmp_path: Path) -> None:
    write(tmp_path / "d" / "a.parquet", table_of(300), 100)
    write(tmp_path / "d" / "bad.parquet", with_value(table_of(300, 1), column, 217, value), 100)
    for exact in (True, False):
        with pytest.raises(ValueError, match=message):
            parquet.ranking(str(tmp_path / "d"), label="y", score=["a", "c"], exact=exact)
    if value != 7:
        way: dict[str, Any] = {"on_missing_label" if column == "y" else "on_invalid": "drop"}
        found = parquet.ranking(str(tmp_path / "d"), label="y", score=["a", "c"], **way)
        assert found["a"].n_samples == 599
        dropped = report(str(tmp_path / "d"), **way)
        assert dropped["n_dropped"] == 1
        assert dropped["blocks"][0]["n_samples"] == 599
        assert dropped == report(str(tmp_path / "d"), memory="10kB", **way)


def test_labels_that_do_not_say_which_is_positive(tmp_path: Path) -> None:
    table = pa.table({"y": [1] * 10 + [2] * 10, "a": np.arange(20) / 20})
    path = write(tmp_path / "a.parquet", table, 10)
    for options in ({}, {"memory": "500B"}, {"approximate": True}):
        with pytest.raises(ValueError, match="the labels 1, 2: pos_label must say which is positive"):
            report(path, score="a", **options)
    summary = RankingSummary()
    summary.update([1, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="pos_label must say"):
        summary.update([2, 2], [0.1, 0.2])
    assert summary.ranking().n_positives == 2
    names = pa.array(["no"] * 10 + ["yes"] * 10)
    path = write(tmp_path / "b.parquet", table.set_column(0, "y", names), 10)
    for options in ({}, {"memory": "500B"}):
        with pytest.raises(ValueError, match=r"pos_label must be a label of label 'y' \('no', 'yes'\), got 'mabye'"):
            report(path, score="a", pos_label="mabye", **options)


@pytest.mark.parametrize(("largest", "message"), [(2.0**63, r"at most 2\*\*53, got 9\.2"), (0.5, "whole numbers")])
def test_weights_that_can_not_be_counted_exactly(largest: float, message: str, tmp_path: Path) -> None:
    table = pa.table({"y": [0, 1] * 20, "a": np.arange(40) / 40, "v": [1.0] * 39 + [largest]})
    path = write(tmp_path / "a.parquet", table, 10)
    with pytest.raises(ValueError, match=f"column 'v' must .*{message}"):
        parquet.ranking(path, label="y", score="a", sample_weight="v", exact=True)
    if largest > 1:
        with pytest.raises(ValueError, match=r"column 'v' must be at most .* \(in row group 3 of"):
            parquet.ranking(path, label="y", score="a", sample_weight="v", exact=False)


@pytest.mark.parametrize("cells", [0, -1, 2.5, None, 2**27])
def test_cells_that_are_none(cells: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a.parquet", table_of(3000))
    for exact in (True, False):
        with pytest.raises(ValueError, match="cells must be an integer"):
            parquet.ranking(path, label="y", score="a", cells=cells, exact=exact)
    options = ["--label", "y", "--score", "a", f"--cells={cells}", "--out", str(tmp_path / "a.fe")]
    assert cli.main(["summarize", path, *options]) == 2
    assert "--cells" in capsys.readouterr().err


def test_labels_of_other_types_between_files(tmp_path: Path) -> None:
    table = table_of(100)
    write(tmp_path / "d" / "a.parquet", table)
    text = pa.array(["0" if label == 0 else "1" for label in table["y"].to_pylist()])
    write(tmp_path / "d" / "b.parquet", table.set_column(0, "y", text))
    with pytest.raises(ValueError, match=r"column 'y' must have labels of one type, got .* of .*b\.parquet"):
        parquet.ranking([str(tmp_path / "d" / name) for name in ("a.parquet", "b.parquet")], label="y", score="a")


def test_a_file_that_is_given_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", table_of(100))
    with pytest.raises(ValueError, match="is given twice"):
        parquet.ranking([path, str(tmp_path / "." / ".." / tmp_path.name / "a.parquet")], label="y", score="a")


def test_a_file_that_lacks_a_column(tmp_path: Path) -> None:
    write(tmp_path / "d" / "a.parquet", table_of(100))
    write(tmp_path / "d" / "b.parquet", table_of(100).drop(["a"]))
    with pytest.raises(ValueError, match=r"b\.parquet' has no column 'a', which other files have"):
        parquet.ranking(str(tmp_path / "d"), label="y", score="a")
    with pytest.raises(ValueError, match=r"column 'p': .* has no such column; its columns are 'y', 'a'"):
        parquet.ranking(str(tmp_path / "d"), label="y", score="p")


def test_an_unreadable_row_group(tmp_path: Path) -> None:
    path = Path(write(tmp_path / "rows.parquet", table_of(3000), 1000))
    content = bytearray(path.read_bytes())
    start = pq.read_metadata(path).row_group(1).column(1).data_page_offset
    content[start : start + 60] = bytes(60)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"row group 1 of '.*rows\.parquet' can't be read"):
        parquet.ranking(str(path), label="y", score="a")


def test_a_file_that_changes_between_scans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fastevals.scale.exact import scans

    path = write(tmp_path / "rows.parquet", table_of(1000), 100)
    first = scans.ExactScans.first

    def change(self: Any) -> Any:
        found = first(self)
        write(tmp_path / "rows.parquet", table_of(1100), 100)
        return found

    monkeypatch.setattr(scans.ExactScans, "first", change)
    with pytest.raises(ValueError, match=r"rows\.parquet' has changed since it was first read"):
        parquet.ranking(path, label="y", score="a")


@pytest.mark.parametrize("memory", [None, 4000])  # two scans, several
def test_a_file_of_other_rows_with_the_size_and_time_of_before(
    memory: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastevals.scale.exact import scans

    rng, path = np.random.default_rng(0), tmp_path / "rows.parquet"
    y, scores = rng.random(1000) < 0.3, rng.random(1000)

    def write_scores(scores: Any) -> None:
        table = pa.table({"y": y, "a": scores})
        pq.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False)
        os.utime(path, ns=(10**18, 10**18))

    def count(self: Any, *arguments: Any) -> Any:
        size = path.stat().st_size
        write_scores(np.where(y, scores, 1 - scores))
        assert path.stat().st_size == size
        return counted(self, *arguments)

    write_scores(scores)
    counted = scans.ExactScans.count
    monkeypatch.setattr(scans.ExactScans, "count", count)
    with pytest.raises(ValueError, match=r"rows\.parquet' has changed: its rows differ from the first time"):
        parquet.ranking(str(path), label="y", score="a", memory=memory)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: str(folder / "none*.parquet"), "matches no file"),
        (lambda folder: str(folder / "empty"), "is a folder without files of a known format"),
        (lambda folder: [], "data must be a path, paths"),
        (lambda folder: 5, "data must be a path, paths"),
        (lambda folder: [str(folder / "a.parquet")] * 2, "is given twice"),
        (lambda folder: [str(folder / "a.parquet"), str(folder / "b.arrow")], "files must be of one format"),
        (lambda folder: str(folder / "zero.parquet"), "is empty"),
        (lambda folder: str(folder / "bad.parquet"), "can't be read"),
        (lambda folder: str(folder / "rows.xlsx"), "is of no known format"),
    ],
)
def test_what_is_no_data(make: Callable[[Path], Any], message: str, tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", table_of(10))
    (tmp_path / "empty").mkdir()
    (tmp_path / "zero.parquet").touch()
    for name in ("b.arrow", "bad.parquet", "rows.xlsx"):
        (tmp_path / name).write_bytes(b"garbage")
    with pytest.raises(ValueError, match=message):
        parquet.ranking(make(tmp_path), label="y", score="a")


def test_no_rows_and_one_class(tmp_path: Path) -> None:
    table = table_of(100)
    empty = write(tmp_path / "empty.parquet", table.slice(0, 0))
    with pytest.raises(ValueError, match="has no rows"):
        parquet.ranking(empty, label="y", score="a")
    ones = write(tmp_path / "ones.parquet", table.filter(pa.array(table["y"].to_numpy() == 1)))
    with pytest.warns(fastevals.UndefinedMetricWarning):
        assert np.isnan(parquet.ranking(ones, label="y", score="a").roc_auc())
    assert report(ones) == report(ones, memory="600")


@pytest.mark.parametrize("value", ["2 gigs", "-1GB", "", 0, 1.5, True, "GB"])
def test_bytes_that_are_none(value: Any) -> None:
    with pytest.raises(ValueError, match="memory must be"):
        parquet.ranking(table_of(10), label="y", score="a", memory=value)


# Summaries of files ---------------------------------------------------------------------------------------------------


def summarize(path: str, out: Path, *options: str) -> Path:
    models = [each for name in MODELS for each in ("--score", name)]
    assert cli.main(["summarize", path, "--label", "y", *models, "--out", str(out), *options]) == 0
    return out


@pytest.mark.slow
def test_summaries_of_days_are_one_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = table_of(2000)
    whole = write(tmp_path / "all.parquet", table)
    days = [
        str(summarize(write(tmp_path / f"{k}.parquet", table.slice(1000 * k, 1000)), tmp_path / f"{k}.fe"))
        for k in range(2)
    ]
    assert "1000 rows" in capsys.readouterr().out
    assert report(days, label=None, score=None) == report(whole)
    one = report(days[0], label=None, score="a", n_resamples=99)
    assert set(one["blocks"][0]["models"][0]["intervals"]) >= {"roc_auc", "f1", "brier_score"}
    assert None not in one["blocks"][0]["models"][0]["intervals"].values()
    against = report(days[1], label=None, score=None, against=days[0], n_resamples=99)
    (pair, *_) = against["blocks"][0]["against"]
    values = [report(day, label=None, score=None)["blocks"][0]["models"][0]["metrics"]["roc_auc"] for day in days]
    assert pair["metrics"]["roc_auc"]["value"] == pytest.approx(values[1] - values[0])
    assert pair["reference"] == "a in 0.fe"
    probable = {"brier_score", "log_loss", "expected_calibration_error"}
    for pair, is_probable in zip(against["blocks"][0]["against"], (True, True, False), strict=True):
        found = probable & set(pair["metrics"])
        assert found == (probable if is_probable else set())
        for name in found:
            low, high = pair["metrics"][name]["interval"]
            assert low < pair["metrics"][name]["value"] < high
    text = fastevals.report(days[1], against=days[0], n_resamples=99).to_text()
    assert "a - a in 0.fe" in text


def test_a_summary_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fastevals.reading.rows import RowReader
    from fastevals.scale import scores
    from fastevals.show import summarize as command

    monkeypatch.setattr(scores, "ROUND", 1)
    monkeypatch.setattr(command, "STORED", 0.0)
    path = write(tmp_path / "rows.parquet", table_of(2000), 100)
    expected = ScoresSummary.from_bytes(summarize(path, tmp_path / "a.fe").read_bytes())
    rows, read = RowReader.rows, []

    def stop(self: Any, piece: Any) -> Any:
        read.append(piece.name)
        if len(read) == 9:
            raise KeyboardInterrupt
        return rows(self, piece)

    with fastevals.num_threads(1):
        monkeypatch.setattr(RowReader, "rows", stop)
        models = [each for name in MODELS for each in ("--score", name)]
        arguments = ["summarize", path, "--label", "y", *models, "--out", str(tmp_path / "b.fe")]
        assert cli.main(arguments) == 130
        assert os.path.exists(tmp_path / "b.fe.part")
        assert not os.path.exists(tmp_path / "b.fe")
        assert cli.main(arguments) == 0
    assert len(read) - len(set(read)) <= 3  # the piece being read, and the labels of the first
    assert not os.path.exists(tmp_path / "b.fe.part")
    found = ScoresSummary.from_bytes((tmp_path / "b.fe").read_bytes())
    assert found.to_bytes() == expected.to_bytes()


def test_a_summary_that_two_runs_write_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run continues from the first's stored state and ends before it; both write the same file."""
    from fastevals.reading.rows import RowReader
    from fastevals.scale import scores
    from fastevals.show import summarize as command

    monkeypatch.setattr(scores, "ROUND", 1)
    monkeypatch.setattr(command, "STORED", 0.0)
    path = write(tmp_path / "rows.parquet", table_of(2000), 100)
    expected = summarize(path, tmp_path / "a.fe").read_bytes()
    arguments = ["summarize", path, "--label", "y", *[each for name in MODELS for each in ("--score", name)]]
    arguments += ["--out", str(tmp_path / "b.fe")]
    rows, seen = RowReader.rows, []

    def pause(self: Any, piece: Any) -> Any:
        seen.append(piece.name)
        if len(seen) == 9:
            assert (tmp_path / "b.fe.part").exists()
            assert cli.main(arguments) == 0
            assert sorted(each.name for each in tmp_path.glob("*.fe*")) == ["a.fe", "b.fe"]
            assert (tmp_path / "b.fe").read_bytes() == expected
        return rows(self, piece)

    with fastevals.num_threads(1):
        monkeypatch.setattr(RowReader, "rows", pause)
        assert cli.main(arguments) == 0
    assert (tmp_path / "b.fe").read_bytes() == expected
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.fe", "b.fe", "rows.parquet"]


def test_values_of_a_summary_may_be_infinite(tmp_path: Path) -> None:
    table = table_of(200)
    values = pa.array(np.where(table["y"].to_numpy() + np.arange(200) % 2 > 0, np.inf, 1.0))
    path = write(tmp_path / "a.parquet", table.append_column("v", values))
    found = summarize(path, tmp_path / "a.fe", "--by", "v")
    assert list(ScoresSummary.from_bytes(found.read_bytes()).blocks) == [1.0, np.inf]
    assert fastevals.report(str(tmp_path / "?.fe"), n_resamples=0).to_dict()["blocks"]


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_losses_without_end_are_compared_without_a_warning(tmp_path: Path) -> None:
    scores = np.linspace(0.1, 0.9, 40)
    for name, mistake in (("a", 0), ("b", 1)):  # one row each, drawn in some replicates
        scores[mistake] = 1 - mistake
        table = pa.table({"y": [0, 1] * 20, "a": scores, "b": scores, "c": scores})
        summarize(write(tmp_path / f"{name}.parquet", table), tmp_path / f"{name}.fe")
        scores[mistake] = 0.5
    found = fastevals.report(tmp_path / "a.fe", against=tmp_path / "b.fe", n_resamples=99).to_dict()
    difference = found["blocks"][0]["against"][0]["metrics"]["log_loss"]
    assert difference == {"value": None, "interval": None, "pvalue": None}


def test_a_value_of_one_class_knows_both_labels(tmp_path: Path) -> None:
    table = table_of(200)
    names = {"y": np.where(table["y"].to_numpy() == 1, "yes", "no"), "a": table["a"], "b": table["b"], "c": table["c"]}
    path = write(tmp_path / "a.parquet", pa.table(names | {"v": np.where(names["y"] == "yes", 1, np.arange(200) % 2)}))
    found = summarize(path, tmp_path / "a.fe", "--by", "v", "--pos-label", "yes")
    blocks = ScoresSummary.from_bytes(found.read_bytes()).blocks
    assert [block.n_positives > 0 for block in blocks.values()] == [False, True]
    for block in blocks.values():
        assert block.summaries["a"].ranking().confusion_at(2.0).labels.tolist() == ["no", "yes"]


def test_summaries_that_do_not_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = table_of(200)
    a = summarize(write(tmp_path / "a.parquet", table), tmp_path / "a.fe")
    b = summarize(write(tmp_path / "b.parquet", table), tmp_path / "b.fe", "--by", "land")
    other = summarize(write(tmp_path / "o.parquet", table), tmp_path / "o.fe", "--pos-label", "0")
    land = summarize(write(tmp_path / "l.parquet", table), tmp_path / "l.fe", "--by", "w")
    (model,) = (tmp_path / "m.fe",)
    assert (
        cli.main(["summarize", str(tmp_path / "a.parquet"), "--label", "y", "--score", "c", "--out", str(model)]) == 0
    )
    parts = table.append_column("v", pa.array(np.random.default_rng(0).random(200) + 0.5))
    write(tmp_path / "p.parquet", parts)
    v, largest = (
        summarize(str(tmp_path / "p.parquet"), tmp_path / f"{k}.fe", "--weight", "v", *more)
        for k, more in enumerate(([], ["--largest-weight", "2"]))
    )
    (tmp_path / "c.fe").write_bytes(a.read_bytes()[:-3])
    (tmp_path / "d.fe").write_bytes(b"something else")
    (tmp_path / "f.fe").write_bytes(a.read_bytes().replace(b'"label"', b'"lapel"'))
    capsys.readouterr()
    for arguments, message in (
        ([str(a), str(b)], "summaries must have the same by, got None and 'land'"),
        ([str(tmp_path / "c.fe")], f"have {len(a.read_bytes())} bytes, but has {len(a.read_bytes()) - 3}"),
        ([str(tmp_path / "f.fe")], "f.fe': data is damaged or cut off: its checksum differs"),
        ([str(tmp_path / "d.fe")], "d.fe': data is not a summary of fastevals"),
        ([str(tmp_path / "e.fe")], "e.fe: No such file or directory"),
        ([str(a), "--score", "z"], "score 'z' is not among what was counted"),
        ([str(a), "--by", "land"], "--by goes with columns of rows"),
        ([str(a), "--against", "x.parquet"], "--against x.parquet: 'x.parquet': no such file"),
        ([str(a), "--against", str(a), "--resamples", "0"], "--against needs replicates"),
        ([str(a), "--against", str(other)], "--against o.fe: its positive class is 0, and the data's is 1"),
        ([str(a), "--against", str(b)], "--against b.fe: it is counted by 'land', and the data as a whole"),
        ([str(land), "--against", str(b)], "--against b.fe: it is counted by 'land', and the data by 'w'"),
        ([str(a), "--against", str(model)], "--against m.fe: it has no scores 'a': it has those of 'c'"),
        ([str(v), str(largest)], "(see --largest-weight of fastevals summarize)"),
    ):
        assert cli.main(["report", *arguments]) == 2
        assert message in capsys.readouterr().err
    assert cli.main(["report", str(largest), str(largest), "--resamples", "0"]) == 0
    assert cli.main(["summarize", "a.parquet", "--label", "y", "--score", "a", "--out", "x.bin"]) == 2
    assert "--out must name a file that ends with .fe" in capsys.readouterr().err
