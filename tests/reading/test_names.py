"""Groups, classes, numbers and missing values as CSV files write them: in memory, in scans, in summaries."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals.reading.values import NULLS, name_values
from fastevals.show import cli

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
arrow_csv = pytest.importorskip("pyarrow.csv")

pytestmark = pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
WAYS: list[dict[str, Any]] = [{}, {"memory": 60}, {"approximate": True}, {"on_invalid": "drop"}]
ways = pytest.mark.parametrize("way", WAYS, ids=["whole", "scans", "one scan", "drop"])


def write(folder: Path, text: str, name: str = "rows.csv") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def rows_of(groups: list[str]) -> str:
    """Return a CSV with a positive, ranked first, and a negative for each group."""
    return "g,y,s\n" + "".join(f"{group},1,.9\n{group},0,.1\n" for group in groups)


def blocks(data: Any, **options: Any) -> dict[Any, int]:
    found = fastevals.report(data, **{"label": "y", "score": "s", "by": "g", "n_resamples": 0, **options}).to_dict()
    return {block["value"]: block["n_samples"] for block in found["blocks"]}


# Groups -------------------------------------------------------------------------------------------------------------


@pytest.mark.cases(12)
@ways
@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (["007", "7"], ["007", "7"]),
        (["100000", "1E5", "1e5", "100000.0"], ["100000", "100000.0", "1E5", "1e5"]),
        (["01234", "98765"], ["01234", "98765"]),
        (["89490200001234567890", "89490200001234567891"], ["89490200001234567890", "89490200001234567891"]),
        (["10", "9", "-3"], [-3, 9, 10]),
        (["10.5", "9.25"], [9.25, 10.5]),
        (["1.50", "1.5"], ["1.5", "1.50"]),
        (["+1", "1"], ["+1", "1"]),
        (["-0", "0"], ["-0", "0"]),
        (["true", "false"], [False, True]),
        (["True", "true"], ["True", "true"]),
        (["NA", "DE"], ["DE", "NA"]),
        (["nan", "x"], ["nan", "x"]),
    ],
)
def test_groups_keep_their_spelling(
    way: dict[str, Any], groups: list[str], expected: list[Any], tmp_path: Path
) -> None:
    if way.get("on_invalid") == "drop":  # text may then be missing, too
        expected = [*(value for value in expected if value not in NULLS), *(None for each in groups if each in NULLS)]
    found = blocks(write(tmp_path, rows_of(groups)), **way)
    assert [(value, type(value)) for value in found] == [(value, type(value)) for value in expected]
    assert set(found.values()) == {2}


def test_names_never_merge_and_are_shown_as_they_are_written() -> None:
    """For any names, there are as many values, of one type, and they are shown as they were written."""
    rng = np.random.default_rng(0)
    spellings = [
        "0",
        "00",
        "7",
        "007",
        "-7",
        "1e5",
        "100000",
        "1.0",
        "1",
        "1.50",
        "2.5",
        "inf",
        "true",
        "x",
        " 7",
        "1_0",
    ]
    for _ in range(300):
        names = rng.choice(spellings, rng.integers(1, 5), replace=False).tolist()
        values = name_values(names)
        assert len(set(values)) == len(names)
        assert len({isinstance(value, str) for value in values}) == 1
        assert [value if isinstance(value, str) else repr(value).lower() for value in values] == names


def test_spellings_of_several_files_and_summaries_stay_apart(tmp_path: Path) -> None:
    paths = [write(tmp_path, rows_of(each), f"{k}.csv") for k, each in enumerate((["7", "12"], ["007", "7"]))]
    assert blocks(paths) == {"007": 2, "12": 2, "7": 4}
    summaries = [f"{path}.fe" for path in paths]
    for path, out in zip(paths, summaries, strict=True):
        assert cli.main(["summarize", path, "--label", "y", "--score", "s", "--by", "g", "--out", out]) == 0
    options = {"label": None, "score": None, "by": None}
    assert blocks(summaries[0], **options) == {7: 2, 12: 2}
    assert blocks(summaries, **options) == {"007": 2, "12": 2, "7": 4}


@pytest.mark.parametrize("way", WAYS[:2], ids=["whole", "scans"])
def test_groups_that_are_drawn_keep_their_spelling(way: dict[str, Any], tmp_path: Path) -> None:
    path = write(tmp_path, rows_of(["007", "7", "1E5", "100000"]))
    way = {"memory": "2kB"} if way else {}
    found = fastevals.report(path, label="y", score="s", groups="g", n_resamples=50, **way).to_dict()
    assert found["blocks"][0]["intervals"]["n_groups"] == 4


@ways
def test_a_missing_group_among_numbers_is_a_block_of_its_own(way: dict[str, Any], tmp_path: Path) -> None:
    path = write(tmp_path, rows_of(["1", "NA", "2"]))
    assert list(blocks(path, **way).items()) == [(1, 2), (2, 2), (None, 2)]
    text = fastevals.report(path, label="y", score="s", by="g", n_resamples=0, **way).to_text()
    assert "\ng = (missing): 2 rows, 1 positive (50 %)\n" in text


@ways
def test_a_block_of_missing_values_is_not_that_of_the_word(way: dict[str, Any], tmp_path: Path) -> None:
    path = write(tmp_path, rows_of(["missing", "", "a"]))
    assert list(blocks(path, **way).items()) == [("a", 2), ("missing", 2), (None, 2)]


def test_words_for_a_missing_value_are_those_of_all_files(tmp_path: Path) -> None:
    paths = [write(tmp_path, rows_of(each), f"{k}.csv") for k, each in enumerate((["1", "NA"], ["a", "NA"]))]
    for way in ({}, {"memory": 60}, {"approximate": True}):
        assert blocks(paths, **way) == {"1": 2, "NA": 4, "a": 2}
        assert blocks(paths[:1], **way) == {1: 2, None: 2}
    path = write(tmp_path, rows_of(["True", "NA"]))
    for way in ({}, {"memory": 60}):
        assert blocks(path, **way) == {"NA": 2, "True": 2}


def test_several_words_for_a_missing_value_are_one_block_in_memory(tmp_path: Path) -> None:
    path = write(tmp_path, rows_of(["1", "NA", "null"]))
    assert blocks(path) == {1: 2, None: 4}
    with pytest.raises(
        ValueError, match=r"^by 'g' has several words for a missing value among numbers: \['NA', 'null'\]"
    ):
        blocks(path, memory=60)


# Classes ------------------------------------------------------------------------------------------------------------


def accuracy(path: str, **options: Any) -> tuple[float, list[Any]]:
    (block,) = fastevals.report(path, label="y", pred="p", n_resamples=0, **options).to_dict()["blocks"]
    (model,) = block["models"]
    return model["metrics"]["accuracy"], model["labels"]


@pytest.mark.parametrize("way", [{}, {"on_invalid": "drop"}], ids=["raise", "drop"])
@pytest.mark.parametrize(
    ("rows", "right", "labels"),
    [
        (["1,1", "2,2", "x,1", "1,2"], 0.5, ["1", "2", "x"]),
        (["007,007", "7,007", "007,7"], 1 / 3, ["007", "7"]),
        (["7,7", "7,007"], 0.5, ["007", "7"]),
        (["1E5,1E5", "100000,1E5"], 0.5, ["100000", "1E5"]),
        (["1.0,1", "2.0,1"], 0.5, [1, 2]),
        (["True,true", "False,true"], 0.5, [False, True]),
        (["10,9", "9,9"], 0.5, [9, 10]),
    ],
)
def test_classes_that_look_like_numbers(
    way: dict[str, Any], rows: list[str], right: float, labels: list[Any], tmp_path: Path
) -> None:
    path = write(tmp_path, "y,p\n" + "\n".join(rows) + "\n")
    assert accuracy(path, **way) == (pytest.approx(right), labels)


def test_models_are_compared_by_classes_that_look_like_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, "y,p,q\n1,1,2\n2,2,2\nx,1,x\n1,2,1\n")
    found = fastevals.compare(path, label="y", pred=["p", "q"], n_resamples=50).to_dict()
    assert found["classes"] == ["1", "2", "x"]
    assert [found["metrics"]["accuracy"]["estimates"][name]["value"] for name in ("p", "q")] == [0.5, 0.75]


def test_classes_that_are_no_classes_of_the_label(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="labels must be of one type, but label 'y' has strings and pred 'p' has numbe"
    ):
        accuracy(write(tmp_path, "y,p\nx,1\nz,2\n"))
    with pytest.raises(
        ValueError, match=r"classes that are text must be written alike, got '1.0' in label 'y' and '1' in"
    ):
        accuracy(write(tmp_path, "y,p\n1.0,1\nx,x\n"))


# Numbers ------------------------------------------------------------------------------------------------------------


def test_points_between_thousands_are_no_decimal_points(tmp_path: Path) -> None:
    """Next to decimal commas 1.250 means 1250, not 1.25: it is refused, and read without the point."""
    text = "share;amount;model\n0,5;1.250;1.300\n0,25;950;900\n0,125;12.000;11.500\n1;2.100;2.000\n"
    refused = r"target 'amount' must hold numbers, but .* '1.250' at line 2\); remove the separators of thousands"
    with pytest.raises(ValueError, match=refused):
        fastevals.report(write(tmp_path, text), target="amount", pred="model", n_resamples=0)
    path = write(tmp_path, text.replace(".", ""))
    found = fastevals.report(path, target="amount", pred="model", n_resamples=0).to_dict()
    assert found["blocks"][0]["models"][0]["metrics"]["mean_absolute_error"] == (50 + 50 + 500 + 100) / 4
    path = write(tmp_path, "share;amount;model\n1;1.250;1.300\n2;0.5;0.25\n")  # here they are
    found = fastevals.report(path, target="amount", pred="model", n_resamples=0).to_dict()
    assert found["blocks"][0]["models"][0]["metrics"]["mean_absolute_error"] == pytest.approx((0.05 + 0.25) / 2)


@ways
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'y,s\n1,"0,1"\n0,0.5\n',
            "'0,1' at line 2.*; for decimal commas, separate columns by another",
        ),
        ('y,s\n1,"1,250.50"\n0,0.5\n', "'1,250.50' at line 2.*; remove the separators of thousands"),
        ("y;s\n1;0,5\n0;0,25\n1;x\n", "'x' at line 4"),
    ],
)
def test_numbers_that_are_written_otherwise(way: dict[str, Any], text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"score 's' must hold numbers, but has type .*{said}"):
        fastevals.report(write(tmp_path, text), label="y", score="s", **way)


@ways
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_excels_line_on_the_separator(way: dict[str, Any], end: str, tmp_path: Path) -> None:
    path = write(tmp_path, end.join(["sep=;", "g;y;s", "a;0;0,5", "a;1;0,75", ""]))
    assert blocks(path, **way) == {"a": 2}
    with pytest.raises(ValueError, match="label 'y' has 1 missing value, the first at line 4"):
        blocks(
            write(tmp_path, end.join(["sep=;", "g;y;s", "a;0;0,5", "a;;0,75", ""])), **{**way, "on_invalid": "raise"}
        )


@pytest.mark.parametrize("way", WAYS[:3], ids=["whole", "scans", "one scan"])
def test_decimals_are_the_nearest_floats(way: dict[str, Any], tmp_path: Path) -> None:
    """A row at the threshold is predicted positive: each hundredth from -10 to 10 equals its float."""
    hundredths = [Decimal(k).scaleb(-2) for k in range(-1000, 1001)]
    table = pa.table({"y": [0, 1] * 1000 + [1], "s": pa.array(hundredths, pa.decimal128(6, 2))})
    pq.write_table(table, tmp_path / "rows.parquet")
    way = {"memory": "30kB"} if "memory" in way else way
    for threshold in (-2.53, 8.41):
        found = fastevals.report(
            tmp_path / "rows.parquet", label="y", score="s", threshold=threshold, n_resamples=0, **way
        )
        cells = found.blocks[0].models[0].cells
        assert cells is not None
        assert cells.tp + cells.fp == sum(float(each) >= threshold for each in hundredths)


# Rows that are left out -----------------------------------------------------------------------------------------------

DROPS: dict[str, Any] = {"on_missing_label": "drop", "on_invalid": "drop"}
GAPS = (
    "g,y,a,b,w\nn,0,0.1,0.2,1\n,1,0.9,0.8,1\nn,1,0.7,None,1\nn,1,?,0.6,1\nNA,,0.5,NaN,1\ns,0,0.3,0.1,-\ns,1,0.6,0.7,2\n"
)


@pytest.mark.cases(1)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_rows_are_left_out_by_reason(form: str, tmp_path: Path) -> None:
    path = write(tmp_path, GAPS)
    if form == "parquet":
        words = arrow_csv.ConvertOptions(null_values=["", "None", "?", "NA", "-"], strings_can_be_null=True)
        pq.write_table(arrow_csv.read_csv(path, convert_options=words), tmp_path / "rows.parquet")
        path = str(tmp_path / "rows.parquet")
    report = fastevals.report(
        path, label="y", score=["a", "b"], sample_weight="w", by="g", pos_label=1, n_resamples=0, **DROPS
    )
    found = report.to_dict()
    assert found["n_dropped"] == 4
    assert found["dropped"] == {
        "a": {"reason": "invalid score", "rows": 1, "alone": 1},
        "b": {"reason": "invalid score", "rows": 2, "alone": 1},
        "w": {"reason": "invalid weight", "rows": 1, "alone": 1},
        "y": {"reason": "missing label", "rows": 1, "alone": 0},
    }
    blocks = {block["value"]: (block["n_samples"], block["n_dropped"], block["dropped"]) for block in found["blocks"]}
    of_n = {name: {**found["dropped"][name], "rows": 1, "alone": 1} for name in "ab"}
    of_s = {"w": found["dropped"]["w"]}
    of_none = {"b": {"reason": "invalid score", "rows": 1, "alone": 0}, "y": found["dropped"]["y"]}
    assert blocks == {"n": (1, 2, of_n), "s": (1, 1, of_s), None: (1, 1, of_none)}
    text = " ".join(report.to_text().split())
    assert (
        "dropped 4 rows: 2 without a finite score of b, 1 without a finite score of a, 1 without a finite weight, "
        "1 without a label (some lack several)"
    ) in text
    assert "g = s: 1 row, 1 positive; weight 2 (100 %); 100.0 % of the rows have a label A class is missing" in text
    assert "! : dropped 1 row: 1 without a finite weight" in text
    assert "dropped 1 row: 1 without a finite weight" in report.to_html()
    assert "1 without a label (some lack several) threshold" in text
    left = fastevals.report(
        {"y": [0, 1, None, 0, 1], "s": [0.1, 0.9, 0.5, 0.2, 0.3], "g": ["a", "a", "b", "c", "c"]},
        label="y", score="s", by="g", n_resamples=0, on_missing_label="drop",
    )  # fmt: skip
    assert "dropped    1 row: 1 without a label; all rows of g b\n" in left.to_text()
    for model in ("a", "b"):
        assert f"! : 1 row that lacks a finite score of {model} only is left out for all models" in text
    assert "left out for all models" in report.to_html()


def test_a_summary_keeps_the_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(tmp_path, GAPS), str(tmp_path / "rows.fe")
    options = ["--label", "y", "--score", "a", "--score", "b", "--out", out, "--on-invalid", "drop"]
    assert cli.main(["summarize", path, *options]) == 2
    assert "; --on-missing-label drop leaves such rows out" in capsys.readouterr().err
    options += ["--by", "g", "--on-missing-label", "drop"]
    assert cli.main(["summarize", path, *options]) == 0
    assert (
        "4 rows, 2 positive; scores of a, b\ndropped 3 rows: 2 without a finite score of b, 1 without"
        in capsys.readouterr().out
    )
    found = fastevals.report(out, n_resamples=0).to_dict()
    kept = {name: (each["rows"], each["alone"]) for name, each in found["dropped"].items()}
    assert kept == {"a": (1, 1), "b": (2, 1), "y": (1, 0)}
    assert [(block["value"], block["n_samples"], block["n_dropped"]) for block in found["blocks"]] == [
        ("n", 1, 2), ("s", 2, 0), (None, 1, 1),
    ]  # fmt: skip
    assert fastevals.report([out], n_resamples=0).to_dict()["n_dropped"] == 3


def test_predictions_that_are_missing_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "y,p,q,t,u\n1,1,1,3,4\n0,NA,0,1,None\n1,0,1,?,2\n,1,1,2,2\n0,0,1,5,5\n")
    with pytest.raises(
        ValueError, match=r"label 'y' has 1 missing value, the first at line 5 of .*; on_missing_label='drop'"
    ):
        fastevals.report(path, label="y", pred=["p", "q"], on_invalid="drop", n_resamples=0)
    with pytest.raises(ValueError, match=r"pred 'p' has 1 missing value, the first at line 3 of .*; on_invalid='drop'"):
        fastevals.report(path, label="y", pred=["p", "q"], on_missing_label="drop", n_resamples=0)
    classes = fastevals.report(path, label="y", pred=["p", "q"], n_resamples=0, **DROPS)
    found = classes.to_dict()
    assert found["dropped"] == {
        "p": {"reason": "invalid prediction", "rows": 1, "alone": 1},
        "y": {"reason": "missing label", "rows": 1, "alone": 1},
    }
    assert [model["metrics"]["accuracy"] for model in found["blocks"][0]["models"]] == pytest.approx([2 / 3, 2 / 3])
    assert "! : 1 row that lacks a prediction of p only is left out for all models" in classes.to_text()
    numbers = fastevals.report(path, target="t", pred="u", n_resamples=0, **DROPS).to_dict()
    assert numbers["dropped"]["t"] == {"reason": "missing target", "rows": 1, "alone": 1}
    assert (numbers["n_dropped"], numbers["blocks"][0]["n_samples"]) == (2, 3)
    assert numbers["blocks"][0]["models"][0]["metrics"]["mean_absolute_error"] == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match=r"target 't' must hold numbers, but has type .* '\?' at line 4"):
        fastevals.report(path, target="t", pred="u")
