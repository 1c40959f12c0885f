"""Tables of counts, as databases make them with GROUP BY: reports and gates read them like summaries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals.scale import RankingSummary
from fastevals.show.cli import main

pytest.importorskip("pyarrow")

COLUMNS = ("low", "high", "positives", "negatives")


def counted(seed: int, n: int = 20_000, n_cells: int = 256) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    y = (rng.random(n) < p).astype(int)
    number = np.floor(p * n_cells).astype(int)
    ends = [np.array([end(p[number == k]) for k in range(n_cells)]) for end in (np.min, np.max)]
    sums = [np.bincount(number, each, n_cells).astype(int) for each in (y, 1 - y)]
    return dict(zip(COLUMNS, [*ends, *sums], strict=True)), y, p


def write(path: Path, cells: dict[str, Any]) -> str:
    lines = [",".join(cells), *(",".join(map(str, row)) for row in zip(*cells.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return write(tmp_path / "cells.csv", counted(0)[0])


def auc(found: fastevals.Report) -> float:
    return found.to_dict()["blocks"][0]["models"][0]["metrics"]["roc_auc"]


def test_a_report_is_that_of_a_summary(file: str) -> None:
    cells, y, p = counted(0)
    summary = RankingSummary.from_cells(*cells.values())
    given = {"label": "y", "score": "p", "n_resamples": 99}
    expected = fastevals.report(summary, **given).to_dict()
    for data in (file, cells):
        found = fastevals.report(data, cells=True, **given).to_dict()
        assert found["blocks"] == expected["blocks"]
        assert (found["label"], found["pos_label"]) == ("y", 1)
    bounds = expected["blocks"][0]["models"][0]["bounds"]["roc_auc"]
    assert bounds[0] <= fastevals.Ranking(y, p).roc_auc() <= bounds[1]


def test_the_command(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert main(["report", file, "--cells", "--resamples", "99", "--format", "json", "--html", str(page)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["blocks"] == fastevals.report(file, cells=True, n_resamples=99).to_dict()["blocks"]
    assert found["blocks"][0]["models"][0]["name"] == "score"
    assert "cells.csv" in page.read_text()
    assert main(["report", file, "--cells", "--score", "p", "--resamples", "0"]) == 0
    assert capsys.readouterr().out.startswith(f"fastevals report: {file}\np's AUC is 0.8")


def test_parquet_and_several_files_are_added_up(file: str, tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (one, y, p), (other, y2, p2) = counted(0), counted(1)
    for k, cells in enumerate((one, other)):
        parquet.write_table(pa.table(cells), tmp_path / f"{k}.parquet")
    found = fastevals.report(str(tmp_path / "*.parquet"), cells=True, n_resamples=0)
    exact = fastevals.Ranking(np.append(y, y2), np.append(p, p2)).roc_auc()
    assert auc(found) == pytest.approx(exact, abs=2e-3)
    assert found.to_dict()["blocks"][0]["n_samples"] == 40_000


def test_a_column_names_models() -> None:
    cells, _, _ = counted(0)
    worse = {**cells, "low": -cells["high"], "high": -cells["low"]}
    both = {name: np.append(cells[name], worse[name]) for name in COLUMNS}
    both["model"] = np.repeat(["good", "bad"], cells["low"].size)
    found = fastevals.report(both, cells=True, n_resamples=0).to_dict()["blocks"][0]["models"]
    values = {each["name"]: each["metrics"]["roc_auc"] for each in found}
    assert values["bad"] == pytest.approx(1 - values["good"], abs=1e-12)
    one = fastevals.report(both, cells=True, score="bad", n_resamples=0)
    assert auc(one) == values["bad"]


def test_against_other_cells(file: str, tmp_path: Path) -> None:
    other = write(tmp_path / "yesterday.csv", counted(1)[0])
    found = fastevals.report(file, cells=True, against=other, n_resamples=99)
    summaries = [RankingSummary.from_cells(*counted(seed)[0].values()) for seed in (0, 1)]
    expected = fastevals.report(summaries[0], against=summaries[1], n_resamples=99)
    its, expected = (each.to_dict()["blocks"][0] for each in (found, expected))
    assert (its["against"][0].pop("reference"), expected["against"][0].pop("reference")) == (
        "score in yesterday.csv", "score in other rows",
    )  # fmt: skip
    assert its == expected


def test_gates_read_cells(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = write(tmp_path / "yesterday.csv", counted(1)[0])
    rules = ["roc_auc >= 0.8", "roc_auc not worse than champion by 0.02"]
    found = fastevals.gate(file, rules, cells=True, reference=other, n_resamples=999)
    assert found.outcome == "pass"
    assert "score in yesterday.csv" in found.to_text()
    names = [(each["role"], each["name"], each["size"]) for each in found.to_dict()["inputs"]]
    sizes = [Path(each).stat().st_size for each in (file, other)]
    assert names == [("data", "cells.csv", sizes[0]), ("reference", "yesterday.csv", sizes[1])]
    assert main(["gate", file, "--cells", "--rule", rules[0], "--resamples", "99"]) == 0
    assert capsys.readouterr().out.startswith(f"fastevals gate: {file}\nPASS")
    assert fastevals.gate(counted(0)[0], rules[0], cells=True, n_resamples=99).outcome == "pass"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("0.1,0.2,-1,3", "positives must not be negative, got -1 at line 3"),
        ("0.3,0.2,1,3", "low must not be above high, got 0.3 and 0.2 at line 3"),
        ("0.1,,1,3", "column 'high' has 1 missing value, the first at line 3"),
        ("0.1,0.2,1.5,3", "positives must hold whole numbers, got 1.5 at line 3"),
        ("0.1,0.2,x,3", "column 'positives' must hold numbers, but has type string .*line 3"),
        ("inf,inf,1,3", "low must be finite.*line 3"),
    ],
)
def test_cells_that_are_none(row: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text(f"{','.join(COLUMNS)}\n0.5,0.6,3,3\n{row}\n")
    with pytest.raises(ValueError, match=said):
        fastevals.report(str(path), cells=True)


def test_what_does_not_go_with_cells(file: str) -> None:
    cells, _, _ = counted(0)
    with pytest.raises(ValueError, match="column 'negatives': data has no such column; its columns are 'low', 'high'"):
        fastevals.report({name: cells[name] for name in COLUMNS[:3]}, cells=True)
    with pytest.raises(ValueError, match="cells and pred exclude each other"):
        fastevals.report(cells, cells=True, label="y", pred="p")
    with pytest.raises(ValueError, match="cells and the embedded data exclude each other"):
        fastevals.report(cells=True)
    with pytest.raises(ValueError, match="cells and pred exclude each other"):
        fastevals.gate(cells, "accuracy >= 0.5", cells=True, label="y", pred="p")
    for given in ({"by": "day"}, {"sample_weight": "w"}, {"pos_label": 1}, {"groups": "g"}):
        with pytest.raises(ValueError, match="goes with columns of rows, but data is a table of counts"):
            fastevals.report(file, cells=True, **given)
    different = {name: np.append(each, each[:1]) for name, each in cells.items()}
    different["model"] = np.repeat(["a", "b"], [cells["low"].size, 1])
    with pytest.raises(ValueError, match="all models must have the same rows, but a has"):
        fastevals.report(different, cells=True)
    with pytest.raises(ValueError, match="data is the table of one model, as it has no column 'model', got 'a', 'b'"):
        fastevals.report(cells, cells=True, score=["a", "b"])
    with pytest.raises(ValueError, match="data has no rows: positives and negatives are all 0"):
        fastevals.report({**cells, "positives": 0 * cells["low"], "negatives": 0 * cells["low"]}, cells=True)


def test_intervals_of_wide_cells_stay_within_the_bounds_of_metrics() -> None:
    summary = RankingSummary.from_cells([0, 0.5], [0.49, 1], [1, 8], [8, 1])
    intervals = fastevals.report(summary, n_resamples=99).to_dict()["blocks"][0]["models"][0]["intervals"]
    assert {name: ends for name, ends in intervals.items() if ends and ends[1] > 1} == {}
    assert intervals["roc_auc"][1] == 1
    assert intervals["equal_error_rate"][0] == 0
