"""Trends over files and over values of --by: the same by every source; days that differ; late labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fastevals.show.cli
from fastevals import report
from fastevals.show.report import over_values
from fastevals.show.report import trend as trend_module
from fastevals.show.report.intervals import as_plan
from fastevals.show.report.trend import shown_places

N, DAYS = 200, (1, 2, 10)
OPTIONS: dict[str, Any] = {
    "label": "y", "score": "a", "trend": True, "on_missing_label": "drop", "n_resamples": 39,
}  # fmt: skip


def day_rows(day: int) -> pd.DataFrame:
    rng = np.random.default_rng(day)
    y = rng.random(N) < 0.4
    a = rng.random(N) + y * (0.0 if day == 2 else 0.6)
    label = np.where((day == 10) & (rng.random(N) < 0.5), np.nan, y)
    return pd.DataFrame({"y": label, "a": a.round(3) / 2, "p": (a > 0.8).astype(float), "day": day})


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    names = []
    for day in (10, 2, 1):
        names.append(str(tmp_path / f"day-{day}.csv"))
        day_rows(day).to_csv(names[-1], index=False)
    return names


def trend_of(data: Any, **options: Any) -> dict[str, Any]:
    trend: dict[str, Any] = report(data, **(OPTIONS | options)).to_dict()["trend"]
    return trend


def test_files_summaries_scans_and_a_column_give_the_same(files: list[str]) -> None:
    trend = trend_of(files)
    assert trend["values"] == list(DAYS)
    assert trend == trend_of(files, memory=2000)
    assert trend == trend_of(pd.concat(map(day_rows, DAYS)), by="day")
    assert trend == trend_of(str(Path(files[0]).parent / "*.csv"))
    for file in files:
        arguments = ["--label", "y", "--score", "a", "--on-missing-label", "drop", "--out", file[:-3] + "fe"]
        assert fastevals.show.cli.main(["summarize", file, *arguments]) == 0
    counted = trend_of([file[:-3] + "fe" for file in files])
    (its,), (line,) = counted["metrics"]["roc_auc"], trend["metrics"]["roc_auc"]
    assert its["values"] == line["values"]
    assert counted["labelled"] == trend["labelled"]
    assert its["compared"]["is_lower"] == line["compared"]["is_lower"] == [False, True, False]


def test_approximate_values_are_those_of_the_rows(files: list[str]) -> None:
    trend, other = trend_of(files), trend_of(files, approximate=True)
    assert {name: trend[name] for name in trend if name != "metrics"} == {
        name: other[name] for name in other if name != "metrics"
    }
    for metric, (line,) in trend["metrics"].items():
        (its,) = other["metrics"][metric]
        assert its["values"] == pytest.approx(line["values"], abs=1e-9)
        assert its["pooled"] == pytest.approx(line["pooled"], abs=1e-9)


def test_values_and_pooled_are_those_of_the_blocks(files: list[str]) -> None:
    found = report(files, **OPTIONS)
    line = found.trend.lines["roc_auc"]["a"]
    assert line.values.tolist() == [block.models[0].metrics["roc_auc"] for block in found.blocks]
    assert line.pooled == found.whole.models[0].metrics["roc_auc"]


def test_late_labels_are_undecided(files: list[str]) -> None:
    trend = trend_of(files, min_labelled=0.9)
    assert trend["labelled"][:2] == [1.0, 1.0]
    assert trend["labelled"][2] == trend["n_samples"][2] / N
    assert trend["undecided"] == [False, False, True]
    compared = trend["metrics"]["roc_auc"][0]["compared"]
    assert compared["adjusted_pvalues"][2] is None
    text = " ".join(report(files, **OPTIONS, min_labelled=0.9).to_text().split())
    assert "undecided, and not compared, because less than 90 % of the rows have a label: 10 (" in text


def test_a_day_without_labels_and_an_empty_file_are_gaps(files: list[str]) -> None:
    Path(files[0]).write_text("y,a,p,day\n")
    assert trend_of(files)["n_samples"] == [N, N, 0]
    day_rows(10).assign(y=np.nan).to_csv(files[0], index=False)
    trend = trend_of(files)
    assert trend["n_samples"][2] == trend["labelled"][2] == 0
    found = report(files, **OPTIONS)
    assert "1 of 3 values have no rows with a label: 10" in " ".join(found.to_text().split())
    assert found.to_html()


def test_the_text_says_which_day_differs_and_pages_have_a_picture(files: list[str]) -> None:
    found = report(files, **OPTIONS)
    text = " ".join(found.to_text().split())
    assert "AUC of a differs significantly from the mean of the other values at " in text
    assert "values of file: 2 is lower by " in text
    assert "Trend over file" in found.to_html()
    assert "Trend over file" in found.to_markdown()
    frame = found.to_frame("pandas")
    assert (frame["metric"] == "roc_auc(trend)").sum() == 3


@pytest.mark.slow
def test_the_folder_has_a_picture_of_the_trend(files: list[str], tmp_path: Path) -> None:
    arguments = ["--label", "y", "--score", "a", "--trend", "--on-missing-label", "drop", "--resamples", "19"]
    assert fastevals.show.cli.main(["report", *files, *arguments, "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "trend.png").is_file()


def test_blocks_say_which_share_of_their_rows_has_a_label(files: list[str]) -> None:
    rows = pd.concat(map(day_rows, DAYS)).reset_index(drop=True)
    options = OPTIONS | {"trend": False, "n_resamples": 0}
    found = report(rows, **options, by="day")
    blocks = found.to_dict()["blocks"]
    share = int(rows[rows["day"] == 10]["y"].notna().sum()) / N
    assert [block["labelled"] for block in blocks] == [1.0, 1.0, share]
    assert found.to_dict()["whole"]["labelled"] == rows["y"].notna().mean()
    assert f"{100 * share:.1f} % of the rows have a label" in found.to_text()
    assert "labelled" in found.to_html()
    assert "| labelled |" in found.to_markdown()
    name = files[0] + ".fe"
    rows.to_csv(files[0], index=False)
    arguments = ["--label", "y", "--score", "a", "--by", "day", "--on-missing-label", "drop", "--out", name]
    assert fastevals.show.cli.main(["summarize", files[0], *arguments]) == 0
    assert [block["labelled"] for block in report(name, n_resamples=0).to_dict()["blocks"]] == [1.0, 1.0, share]
    assert "labelled" not in report(rows[rows["day"] < 10], **options, by="day").to_dict()["blocks"][0]


def test_predictions_have_a_trend(files: list[str]) -> None:
    options = OPTIONS | {"score": None, "pred": "p", "pos_label": 1}
    trend = report(files, **options).to_dict()["trend"]
    assert trend["n_positives"] is None
    assert [*trend["metrics"]] == ["accuracy", "f1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trend": False, "min_labelled": 0.5}, "min_labelled goes with trend"),
        ({"min_labelled": 1.5}, r"min_labelled must be in \[0, 1\], got 1.5"),
        ({"by": ["day", "p"]}, "trend is over one column of by, got 'day', 'p'"),
    ],
)
def test_errors(files: list[str], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        report(files, **(OPTIONS | options))


def test_one_file_or_other_data_without_by_are_errors(files: list[str]) -> None:
    with pytest.raises(ValueError, match="trend needs two files or more"):
        report(files[:1], **OPTIONS)
    with pytest.raises(ValueError, match="trend needs by, or two files or more"):
        report(day_rows(1), **OPTIONS)


@pytest.mark.slow
def test_a_year_has_a_short_table_and_a_small_page() -> None:
    rows = pd.concat(map(day_rows, DAYS)).reset_index(drop=True)
    day = np.where(rows["day"] == 2, 150, np.arange(len(rows)) % 150)  # day 150 has no signal
    found = report(rows.assign(k=day), **(OPTIONS | {"score": "p", "n_resamples": 19, "confidence_level": 0.9}), by="k")
    text, page = found.to_text(), found.to_html()
    assert "... 91 more values, which the JSON has" in text
    assert len(found.to_dict()["trend"]["values"]) == len(found.blocks) == 151
    assert len(page) < 400_000
    assert "The JSON that this page saves has the values in the tables" in page


def test_tables_of_many_values_have_those_that_differ_and_the_ends(files: list[str]) -> None:
    trend = report(files, **OPTIONS).trend
    assert trend is not None
    assert shown_places(trend, 3) == [0, 1, 2]
    assert shown_places(trend, 2) == [1, 2]
    assert trend.take([1, 2]).values == [2, 10]


def test_many_values_have_fewer_replicates_unless_a_number_is_given() -> None:
    plan = as_plan(None, 0.95, 0)
    assert plan is not None
    numbers = {n: plan.for_trend(n).n_resamples for n in (2, 30, 150, 365, 1000)}
    assert numbers == {2: 1999, 30: 1999, 150: 500, 365: 205, 1000: 199}
    given = as_plan(99, 0.95, 0)
    assert given is not None
    assert given.for_trend(1000) is given


def test_too_many_values_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(over_values, "MOST_IN_TREND", 100)
    monkeypatch.setattr(trend_module, "MOST_IN_TREND", 100)
    rows = pd.concat(map(day_rows, DAYS)).reset_index(drop=True)
    with pytest.raises(ValueError, match="trend needs values with rows: k has 150 values; at most 100 are measured"):
        report(rows.assign(k=np.arange(len(rows)) % 150), **(OPTIONS | {"n_resamples": 0}), by="k")
