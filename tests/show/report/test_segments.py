"""Reports by several columns, each on its own or crossed, against reports on the rows of each segment alone."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fastevals import report
from fastevals.reading.segments import OfColumn, RowSegments
from fastevals.scale.scores import ScoresSummary
from fastevals.show.cli import main
from fastevals.show.output import _block_folder
from fastevals.show.report.pictures import report_pictures

RNG = np.random.default_rng(0)
N = 400
ROWS = pd.DataFrame(
    {
        "y": RNG.integers(0, 2, N),
        "a": RNG.random(N).round(2),
        "b": RNG.random(N).round(2),
        "p": RNG.integers(0, 2, N),
        "region": RNG.choice(["north", "south"], N),
        "branch": RNG.choice([2, 10], N),
    }
)
ROWS.loc[::50, "region"] = None
SCORES: dict[str, Any] = {"label": "y", "score": ["a", "b"], "n_resamples": 0}
BY: dict[str, Any] = {"by": ["region", "branch"]}
REGIONS = [("region", each) for each in ("north", "south", None)]
EACH = [*REGIONS, ("branch", 2), ("branch", 10)]
CROSSED = [[region, branch] for region, branch in product(["north", "south", None], [2, 10])]


def where(**values: Any) -> pd.DataFrame:
    kept = np.ones(N, bool)
    for name, value in values.items():
        kept &= (ROWS[name].isna() if value is None else ROWS[name] == value).to_numpy()
    return ROWS[kept]


def numbers(found: Any) -> list[tuple[Any, ...]]:
    """Return each block's column, value, rows, and numbers of its first model."""
    blocks = (found if isinstance(found, dict) else found.to_dict())["blocks"]
    return [
        (
            each.get("by"),
            each["value"],
            each["n_samples"],
            each["models"][0]["metrics"],
            each["models"][0].get("threshold"),
        )
        for each in blocks
    ]


def alone(rows: pd.DataFrame, **options: Any) -> Any:
    (block,) = numbers(report(rows, **options))
    return block[2:]


@pytest.mark.cases(1)
@pytest.mark.parametrize("options", [SCORES, {"label": "y", "pred": "p", "n_resamples": 0}], ids=["scores", "classes"])
def test_blocks_are_reports_on_the_rows_of_each_segment(options: dict[str, Any]) -> None:
    each = report(ROWS, **options, **BY)
    assert [block[:2] for block in numbers(each)] == EACH
    crossed = report(ROWS, **options, **BY, cross=True)
    assert [block[:2] for block in numbers(crossed)] == [(None, value) for value in CROSSED]
    for block, (name, value) in zip(numbers(each), EACH, strict=True):
        assert block[2:] == alone(where(**{name: value}), **options)
    for block, (region, branch) in zip(numbers(crossed), CROSSED, strict=True):
        assert block[2:] == alone(where(region=region, branch=branch), **options)


def test_a_report_says_which_columns_divide_it() -> None:
    found = report(ROWS, **SCORES, **BY).to_dict()
    assert (found["by"], found["cross"]) == (["region", "branch"], False)
    assert [over["by"] for over in found["over"]] == ["region", "branch"]
    of_one = report(ROWS, **SCORES, by="branch").to_dict()
    assert (of_one["by"], of_one["cross"], "by" in of_one["blocks"][0]) == ("branch", False, False)
    assert {"by": "branch", **of_one["over"]} == found["over"][1]
    crossed = report(ROWS, **SCORES, **BY, cross=True).to_dict()
    assert (crossed["by"], crossed["cross"], crossed["over"]["values"]) == (["region", "branch"], True, CROSSED)


@pytest.mark.slow
def test_several_columns_are_written_with_their_names() -> None:
    each = report(ROWS, **SCORES, **BY)
    text = each.to_text()
    assert "over 3 values of region: means weighted by rows" in text
    assert "over 2 values of branch: means weighted by rows" in text
    assert "highest mean AUC over 2 values of branch, " in text
    assert "\nregion = (missing): 8 rows" in text
    crossed = report(ROWS, **SCORES, **BY, cross=True)
    assert "over 6 values of region x branch" in crossed.to_text()
    assert "\nregion = north, branch = 2: " in crossed.to_text()
    page = each.to_html()
    assert (
        page.index("Over the values of region") < page.index("Over the values of branch") < page.index("region north")
    )
    assert "region = south, branch = 10" in crossed.to_markdown()


def test_frames_have_a_column_per_column() -> None:
    frame = report(ROWS, **SCORES, **BY).to_frame("pandas")
    each = frame[~frame["whole"]].drop_duplicates("by")
    assert frame.loc[frame["whole"], "by"].isna().all()
    assert each["by"].tolist() == [
        *("region = north", "region = south", "region = (missing)", "branch = 2", "branch = 10")
    ]
    assert each["region"].tolist()[:2] == ["north", "south"]
    assert each["branch"].tolist()[3:] == [2, 10]
    crossed = report(ROWS, **SCORES, **BY, cross=True).to_frame("polars")
    assert crossed.columns[:3] == ["by", "region", "branch"]
    assert crossed["branch"].drop_nulls().unique().sort().to_list() == [2, 10]
    clashing = report(ROWS.rename(columns={"branch": "value"}), **SCORES, by=["region", "value"]).to_frame("pandas")
    assert clashing["by_value"].dropna().unique().tolist() == [2, 10]


def test_many_values_of_one_column_leave_the_other_its_blocks() -> None:
    rows = ROWS.assign(user=np.arange(N) % 150)
    found = report(rows, **SCORES, by=["user", "branch"])
    assert [(block.by, block.value) for block in found.blocks] == [(("branch",), 2), (("branch",), 10)]
    assert [(over.by, over.has_blocks) for over in found.overs] == [(("user",), False), (("branch",), True)]
    assert "user, more than 100 values: no blocks or pictures" in found.to_text()
    frame = found.to_frame("pandas")
    assert frame["user"].nunique() == 150
    assert frame["branch"].nunique() == 2
    assert found.to_html()


def test_combinations_with_one_class_are_listed_and_not_measured() -> None:
    rows = ROWS.assign(y=ROWS["y"].where((ROWS["region"] != "south") | (ROWS["branch"] != 10), 0))
    n = int(((rows["region"] == "south") & (rows["branch"] == 10)).sum())
    found = report(rows, **SCORES | {"n_resamples": 19}, **BY, cross=True)
    assert ("south", 10) in found.overs[0].values
    assert ("south", 10) not in [block.value for block in found.blocks]
    text = " ".join(found.to_text().split())
    assert f"one class region = south, branch = 10 ({n} rows, none positive): listed, not measured" in text
    over = found.to_dict()["over"]
    place = over["values"].index(["south", 10])
    assert over["models"][0]["metrics"]["roc_auc"]["of_values"][place] is None
    assert over["n_samples"][place] == n


@pytest.mark.cases(2)
@pytest.mark.parametrize("cross", [False, True], ids=["each", "crossed"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_every_door_gives_the_same_blocks(
    form: str, cross: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / f"rows.{form}")
    (ROWS.to_csv if form == "csv" else ROWS.to_parquet)(path, index=False)
    options = {**SCORES, **BY, "cross": cross}
    expected = numbers(report(ROWS, **options))
    assert numbers(report(path, **options)) == expected
    assert numbers(report(path, **options, memory=2000)) == expected  # in scans
    approximate = numbers(report(path, **options, approximate=True))
    assert [block[:3] for block in approximate] == [block[:3] for block in expected]
    arguments = [
        "--label",
        "y",
        "--score",
        "a",
        "--score",
        "b",
        "--by",
        "region",
        "--by",
        "branch",
        *["--cross"] * cross,
    ]
    summary = str(tmp_path / "rows.fe")
    main(["summarize", path, "--out", summary, *arguments, "--format", "json"])
    counted = json.loads(capsys.readouterr().out)
    assert (counted["n_samples"], counted["n_positives"]) == (N, int(ROWS["y"].sum()))
    read = ScoresSummary.from_bytes(Path(summary).read_bytes())
    assert (read.by, read.cross, read.n_samples) == (("region", "branch"), cross, N)
    assert [block[:3] for block in numbers(report(summary, n_resamples=0))] == [block[:3] for block in expected]
    twice = report([summary, summary], n_resamples=0)
    assert [block.n_samples for block in twice.blocks] == [2 * block[2] for block in expected]


@pytest.mark.cases(1)
@pytest.mark.parametrize("cross", [False, True], ids=["each", "crossed"])
def test_rows_left_out_are_counted_by_segment(cross: bool, tmp_path: Path) -> None:
    rows = ROWS.assign(a=ROWS["a"].mask(np.arange(N) % 40 == 1))
    path = str(tmp_path / "rows.csv")
    rows.to_csv(path, index=False)
    for data, more in ((rows, {}), (path, {}), (path, {"memory": 2000})):
        found = report(data, **SCORES, **BY, cross=cross, on_invalid="drop", **more).to_dict()
        for block in found["blocks"]:
            values = dict(zip(found["by"], block["value"], strict=True)) if cross else {block["by"]: block["value"]}
            assert block["n_dropped"] == int(rows.loc[where(**values).index, "a"].isna().sum())


@pytest.mark.slow
@pytest.mark.parametrize("cross", [False, True], ids=["each", "crossed"])
def test_folders_are_named_by_column_and_value(cross: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "rows.csv", tmp_path / "out"
    ROWS.dropna().to_csv(path, index=False)
    arguments = ["report", str(path), "--label", "y", "--score", "a", "--resamples", "0", "--out", str(out)]
    main([*arguments, "--by", "branch", "--by", "region", *["--cross"] * cross])
    main([*arguments, "--by", "region", "--by", "branch", *["--cross"] * cross])  # replaces the folders
    folders = sorted(each.name for each in out.iterdir() if each.is_dir())
    if cross:
        assert folders[:2] == ["00-region-north-branch-2", "01-region-north-branch-10"]
        assert len(folders) == 4
    else:
        assert folders == ["00-region-north", "01-region-south", "02-branch-2", "03-branch-10"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "region", "cross": True}, "cross needs by twice or more, got 'region'"),
        ({"cross": True}, "cross needs by twice or more, got none"),
        ({"by": ["region", "region"]}, "by 'region' is given already, as by 'region'"),
        ({"by": ["region", "y"]}, "by 'y' is given already, as label 'y'"),
        ({"by": ["region", "branche"]}, "branche"),
    ],
)
def test_columns_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        report(ROWS, **SCORES, **options)


def test_objects_divide_rows_in_their_own_order() -> None:
    band = pd.cut(np.arange(N) % 90, [-1, 2, 10, 100])
    rows = ROWS.assign(band=band, month=pd.PeriodIndex(["2024-09", "2024-10"], freq="M").repeat(N // 2))
    found = report(rows, **SCORES, by=["band", "month"], cross=False)
    bands = rows["band"].cat.categories
    assert [block.value for block in found.blocks][:3] == list(bands)
    assert [block["value"] for block in found.to_dict()["blocks"]][:3] == ["(-1, 2]", "(2, 10]", "(10, 100]"]
    frame = report(rows, **SCORES, by="band").to_frame("pandas")
    assert frame.loc[~frame["whole"], "by"].unique().tolist() == list(bands)
    crossed = report(rows, **SCORES, by=["month", "band"], cross=True, memory=2000)  # in scans
    months = sorted(set(rows["month"]))
    assert crossed.overs[0].values == [(month, band) for month in months for band in bands]
    assert "\nmonth = 2024-09, band = (2, 10]: " in crossed.to_text()


def test_keys_of_segments() -> None:
    each, crossed = RowSegments(("g", "h")), RowSegments(("g", "h"), cross=True)
    keys = [OfColumn("h", 2), OfColumn("g", None), OfColumn("h", 10), OfColumn("g", "b"), OfColumn("g", "a")]
    assert each.ascending(keys, {}) == [keys[4], keys[3], keys[1], keys[0], keys[2]]
    assert crossed.ascending([("b", None), (None, 1), ("b", 1), ("a", 2)], {}) == [
        *(("a", 2), ("b", 1), ("b", None), (None, 1))
    ]
    with pytest.raises(ValueError, match="--by 'h' must have values of one type, got 'x' and 1"):
        crossed.ascending([("a", "x"), ("a", 1)], {"h": "--by 'h'"})


def test_blocks_have_folders_of_their_own() -> None:
    for cross, expected in ((False, ["00-region-north", "04-branch-10"]), (True, ["00-region-north-branch-2"])):
        pictures = report_pictures(report(ROWS, **SCORES, **BY, cross=cross))
        names = [_block_folder(Path(), k, *segment).name for k, segment in enumerate(pictures.segments)]
        assert set(expected) <= set(names)
        assert pictures.by == ("region x branch" if cross else "region and branch")
        (_, panels), *others = pictures.of_all
        assert not others
        assert [panel.title for panel in panels][:1] == (["a"] if cross else ["a by region"])


def test_a_single_combination_with_one_class_leaves_nothing_to_measure() -> None:
    found = report(where(region="south", branch=10).assign(y=1), **SCORES, **BY, cross=True)
    assert (found.blocks, found.overs) == ((), ())
    assert found.to_text()
    assert found.to_dict()["blocks"] == []
