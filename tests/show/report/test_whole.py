"""With --by all rows are a block, too: by every door the same numbers as a report on the rows without --by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fastevals.show.cli
from fastevals import report
from fastevals.show.report import intervals
from fastevals.show.report.intervals import as_plan

N = 240
RNG = np.random.default_rng(0)
Y = np.arange(N) % 3 == 0
ROWS = pd.DataFrame(
    {
        "y": Y.astype(int),
        "a": np.round(RNG.random(N) / 2 + Y / 3, 3),
        "b": np.round(RNG.random(N) / 2 + Y / 4, 3),
        "day": np.array(["mon", "tue", "wed"])[np.arange(N) % 5 % 3],
        "branch": np.arange(N) % 2,
        "user": np.arange(N) // 4,  # users are in several days
        "w": 1 + np.arange(N) % 3,
        "p": (RNG.random(N) < 0.3 + Y / 3).astype(int),
        "t": RNG.normal(size=N),
        "q": RNG.normal(size=N),
    }
)
SCORES: dict[str, Any] = {"label": "y", "score": ["a", "b"], "n_resamples": 39}


def blocks_of(data: Any, **options: Any) -> tuple[Any, Any]:
    """Return the block of all rows of a report by day, and the only block of a report without --by."""
    (alone,) = report(data, **options).to_dict()["blocks"]
    return report(data, **options, by="day").to_dict()["whole"], alone


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    "options",
    [
        SCORES,
        SCORES | {"groups": "user"},
        SCORES | {"sample_weight": "w"},
        SCORES | {"frequency_weight": "w"},
        SCORES | {"memory": 2000},
        SCORES | {"n_resamples": 0},
        {"label": "y", "pred": "p", "n_resamples": 39},
        {"target": "t", "pred": "q", "n_resamples": 39},
    ],
    ids=["scores", "clusters", "weights", "copies", "scans", "no intervals", "classes", "numbers"],
)
def test_it_is_the_report_without_by(options: dict[str, Any]) -> None:
    whole, alone = blocks_of(ROWS, **options)
    assert whole == alone


@pytest.mark.slow
def test_it_is_in_a_summary_and_in_one_scan(tmp_path: Path) -> None:
    rows, files = tmp_path / "rows.csv", [str(tmp_path / f"{name}.fe") for name in ("days", "alone")]
    ROWS.to_csv(rows, index=False)
    for file, by in zip(files, (["--by", "day"], []), strict=True):
        arguments = ["summarize", str(rows), "--label", "y", "--score", "a", "--score", "b", *by, "--out", file]
        assert fastevals.show.cli.main(arguments) == 0
    whole = report(files[0], n_resamples=39).to_dict()["whole"]
    (alone,) = report(files[1], n_resamples=39).to_dict()["blocks"]
    assert whole == alone
    scanned = report(str(rows), **SCORES, by="day", approximate=True).to_dict()["whole"]
    assert scanned["models"] == alone["models"]
    against = report(files[0], n_resamples=39, against=files[0]).to_dict()["whole"]["against"]
    assert [pair["metrics"]["roc_auc"]["value"] for pair in against] == [0.0, 0.0]


@pytest.mark.cases(1)
@pytest.mark.parametrize("memory", [None, 2000], ids=["in memory", "scans"])
def test_blocks_of_values_keep_their_numbers(memory: Any) -> None:
    for day, block in zip(["mon", "tue", "wed"], report(ROWS, **SCORES, by="day", memory=memory).blocks, strict=True):
        (alone,) = report(ROWS[ROWS["day"] == day], **SCORES).blocks
        assert [model.metrics for model in block.models] == [model.metrics for model in alone.models]
        assert block.intervals.models == alone.intervals.models


def test_several_columns_have_one_and_a_single_value_or_many_have_none() -> None:
    found = report(ROWS, **SCORES, by=["day", "branch"])
    assert found.whole is not None
    assert found.whole.n_samples == N
    assert "by" not in found.to_dict()["whole"]
    assert report(ROWS[ROWS["day"] == "mon"], **SCORES, by="day").whole is None
    assert report(ROWS, label="y", score="a", n_resamples=0).to_dict()["whole"] is None
    assert report(ROWS.assign(k=np.arange(N) % 120), label="y", score="a", n_resamples=0, by="k").whole is None


def test_every_door_says_that_it_has_all_rows() -> None:
    found = report(ROWS, **SCORES, by="day")
    text = found.to_text()
    assert text.index("over 3 values of day") < text.index(f"\nall rows: {N} rows") < text.index("\nday = mon")
    assert f"The block of all rows adds {N} rows x 2 models x 39 replicates" in " ".join(text.split())
    assert "All rows" in found.to_markdown()
    assert "All rows" in found.to_latex()
    frame = found.to_frame("pandas")
    values = frame[frame["whole"] & (frame["metric"] == "roc_auc") & frame["reference"].isna()]["value"]
    assert values.tolist() == [model.metrics["roc_auc"] for model in found.whole.models]
    assert set(frame.loc[frame["whole"], "n_samples"]) == {N}


def test_it_has_the_draws_that_other_blocks_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    monkeypatch.setattr(intervals, "BUDGET", 500 * 1999)
    plan = as_plan(None, 0.95, 0, has_cells=True).for_blocks([100, 140], 1)
    assert plan.for_whole([100, 140], 1).most_drawn == 260
    assert plan.for_whole([100, 140], 1).draws(240)
    assert not plan.for_whole([100, 170], 1).draws(270)
    monkeypatch.setattr(intervals, "BUDGET", 300 * 1999)
    found = report(ROWS, label="y", score="a", by="day")
    assert {block.intervals.method for block in found.blocks} == {"BCa"}
    assert found.whole.intervals.method == "cells"
    assert "The block of all rows resamples cells" in " ".join(found.to_text().split())


@pytest.mark.slow
def test_pictures_of_all_rows_are_beside_the_folders(tmp_path: Path, capsys: Any) -> None:
    rows = tmp_path / "rows.csv"
    ROWS.to_csv(rows, index=False)
    options = ["report", str(rows), "--label", "y", "--score", "a", "--by", "branch", "--resamples", "19"]
    assert fastevals.show.cli.main([*options, "--out", str(tmp_path / "out")]) == 0
    assert "pictures of all rows" in capsys.readouterr().out
    assert (tmp_path / "out" / "roc.png").is_file()
