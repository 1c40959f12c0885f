"""`fastevals.report` and `compare` return the commands' numbers, from files, frames, columns and counts."""

import inspect
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import fastevals
from fastevals._naming import typed_name
from fastevals.datasets import load_digits_eight, load_psnr
from fastevals.show.cli import COMMANDS, main
from fastevals.show.commands import Parser, fields_of
from fastevals.show.compare.options import CompareOptions
from fastevals.show.gate.options import GateOptions
from fastevals.show.report.options import ReportOptions

DIGITS = load_digits_eight()
REPORT = {"label": "label", "score": ["logistic", "random_forest"], "by": "fold", "n_resamples": 99, "cost_fn": 5.0}
FLAGS = ["--label", "label", "--score", "logistic", "--score", "random_forest", "--by", "fold", "--resamples", "99"]
TABLES = [dict, pd.DataFrame, pl.DataFrame, pa.table]


def without_data(values):
    return {name: value for name, value in values.items() if name != "data"}


def written(folder, columns):
    path = folder / "columns.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return str(path)


def printed(capsys, *arguments):
    assert main([*arguments, "--quiet"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", ["report", "compare", "gate"])
def test_options_are_arguments(name):
    """Each option of the command is an argument of the call with the same default, and vice versa."""
    parser = Parser(prog=name)
    COMMANDS[name].add_options(parser)
    options = {name: each for name, each in vars(parser.parse_args([])).items() if name != "given"}
    of_printing = {"file", "format", "html", "out", "picture_format", "quiet"}
    parameters = inspect.signature(getattr(fastevals, name)).parameters
    wanted = {key: parameter.default for key, parameter in parameters.items() if key not in ("data", "rules")}
    assert {key: value for key, value in options.items() if key not in of_printing | {"rule", "rules"}} == wanted


@pytest.mark.parametrize("kind", [ReportOptions, CompareOptions, GateOptions])
def test_each_option_has_help_and_a_paragraph(kind):
    """Tests say what a new option lacks: its help, its paragraph in the docstring, or its type."""
    shown = {name: option for name, option, _ in fields_of(kind)}
    assert {field.default for *_, field in fields_of(kind) if field.type == "bool"} == {False}
    assert [name for name, option in shown.items() if not option.help] == ["separator", "encoding", "header"]
    of_two = {"cost_fp", "cost_fp_column", "separator", "encoding"}  # the next option's paragraph describes these
    assert {name for name, option in shown.items() if not option.doc} <= of_two
    assert [name for name, option in shown.items() if option.doc and not re.match("[^ ].*?: [A-Z]", option.doc)] == []


@pytest.mark.parametrize("kind", [ReportOptions, CompareOptions, GateOptions])
def test_each_option_acts_and_is_tested(kind):
    """The package reads its value somewhere, and a test sets it."""
    names = [name for name, *_ in fields_of(kind)]
    package, tests = (
        "".join(path.read_text() for path in folder.rglob("*.py"))
        for folder in (Path(fastevals.__file__).parent / "show", Path(__file__).parent)
    )
    assert {*names} - {*re.findall(r"\boptions\.(\w+)", package)} == set()
    given = {*re.findall(r'[\w-]+(?==|")', tests)}
    assert [name for name in names if not given & {name, typed_name(name)}] == []


@pytest.mark.slow
def test_report_is_the_commands(tmp_path, capsys):
    path = written(tmp_path, DIGITS)
    result = fastevals.report(path, **REPORT)
    flags = ["report", path, *FLAGS, "--cost-fn", "5"]
    assert result.to_dict() == json.loads(printed(capsys, *flags, "--format", "json"))
    assert result.to_text() == printed(capsys, *flags)
    assert repr(result) == str(result) == result.to_text().rstrip("\n")
    assert fastevals.report(n_resamples=0).to_text() == printed(capsys, "report", "--resamples", "0")


def test_rows_without_a_label_and_rows_with_invalid_scores_are_two_things(tmp_path, capsys):
    path = written(tmp_path, {"y": [0, 1, None, 1, 0], "s": [0.1, 0.9, 0.5, np.nan, 0.3]})
    for given, other in (("--on-missing-label", "--on-invalid"), ("--on-invalid", "--on-missing-label")):
        assert main(["report", path, "--label", "y", "--score", "s", given, "drop"]) == 2
        assert capsys.readouterr().err.endswith(f"; {other} drop leaves such rows out\n")
    found = fastevals.report(path, label="y", score="s", n_resamples=0, on_missing_label="drop", on_invalid="drop")
    assert [(name, each["reason"]) for name, each in found.to_dict()["dropped"].items()] == [
        ("s", "invalid score"), ("y", "missing label"),
    ]  # fmt: skip
    assert "dropped    2 rows: 1 without a finite score of s, 1 without a label\n" in found.to_text()
    with pytest.raises(ValueError, match=r"^on_missing_label must be .*'raise', 'drop'; got 'ignore'"):
        fastevals.report(path, label="y", score="s", on_missing_label="ignore")


@pytest.mark.slow
def test_report_of_tables():
    wanted = without_data(fastevals.report(dict(DIGITS), **REPORT).to_dict())
    for table in TABLES:
        result = fastevals.report(table(DIGITS), **REPORT).to_dict()
        assert without_data(result) == wanted
        assert result["data"] == "data from Python"


@pytest.mark.parametrize("seed", [0, 1])
def test_report_of_counts_is_that_of_rows(seed):
    y, score = DIGITS["label"], DIGITS["random_forest"]
    rows = fastevals.report({"y": y, "s": score}, label="y", score="s", n_resamples=199, rng=seed).to_dict()
    ranking = fastevals.Ranking(y, score)
    for data in (ranking, ranking.counts):
        result = fastevals.report(data, label="y", score="s", n_resamples=199, rng=seed).to_dict()
        assert without_data(result) == without_data(rows)
    assert "Ranking" in fastevals.report(ranking, n_resamples=0).to_text()


def test_report_of_many_counts_has_the_intervals_of_rows(monkeypatch):
    from fastevals.show.report import intervals

    monkeypatch.setattr(intervals, "BUDGET", 1000 * 1999)
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    y, score = DIGITS["label"], DIGITS["random_forest"]
    rows = fastevals.report({"y": y, "s": score}, label="y", score="s").to_dict()["blocks"][0]
    result = fastevals.report(fastevals.Ranking(y, score).counts, score="s").to_dict()["blocks"][0]
    assert result["intervals"]["method"] == "cells"
    assert result["models"][0]["intervals"] == rows["models"][0]["intervals"]


@pytest.mark.parametrize("times", [2**40, *(pytest.param(n, marks=pytest.mark.slow) for n in (2**28, 2**58))])
def test_report_of_more_counts_than_are_drawn(times):
    """It has all numbers, and intervals from cells, which narrow with the root of the rows."""
    ranking = fastevals.Ranking.from_counts([0.1, 0.2, 0.3], [times, 2 * times, times], [5 * times, times, times])
    few = fastevals.Ranking.from_counts([0.1, 0.2, 0.3], [1, 2, 1], [5, 1, 1])
    block = fastevals.report(ranking).to_dict()["blocks"][0]
    assert block["models"][0]["metrics"]["roc_auc"] == few.roc_auc()
    low, high = block["models"][0]["intervals"]["roc_auc"]
    error = fastevals.delong([1] * 4 + [0] * 7, [0.1, 0.2, 0.2, 0.3] + [0.1] * 5 + [0.2, 0.3]).standard_error
    assert low < few.roc_auc() < high
    assert (high - low) * np.sqrt(times) == pytest.approx(2 * 1.96 * error, rel=0.15)  # 4 and 7 rows: n - 1 matters
    assert block["intervals"]["method"] == "cells"


def test_report_of_weighted_ranking_has_no_intervals():
    weights = np.linspace(0.5, 2, DIGITS["label"].size)
    ranking = fastevals.Ranking(DIGITS["label"], DIGITS["logistic"], sample_weight=weights)
    block = fastevals.report(ranking).to_dict()["blocks"][0]
    assert block["intervals"]["method"] is None
    assert "weights" in block["intervals"]["notes"][0]
    assert block["total_weight"] == pytest.approx(weights.sum())
    with pytest.raises(ValueError, match="data must count rows, but these ThresholdCounts are sums of weights"):
        fastevals.report(ranking.counts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "label is missing: it names the column of labels in dict"),
        ({"label": "y"}, "score is missing"),
        ({"label": "y", "score": "t"}, r"score 't': data has no such column"),
        ({"label": "y", "score": ["s", "y"]}, "score 'y' is given already, as label 'y'"),
        ({"label": "y", "score": "s", "cost_fp": -1.0}, "cost_fp must"),
        ({"label": "y", "score": "s", "confidence_level": 2}, r"confidence_level must be in \(0, 1\), got 2"),
        ({"label": "y", "score": "s", "best": "f1", "threshold": 0.5}, "best and threshold exclude each other"),
        ({"label": "y", "score": "s", "pos_label": 7}, "pos_label must be a label of label 'y'"),
        ({"label": "y", "score": "s", "separator": ";"}, "separator goes with a CSV file, but data is a dict"),
        ({"label": "y", "score": "s", "separator": ";;"}, "separator must be one character"),
        ({"label": "y", "score": "s", "threshold": float("nan")}, "threshold must be a number, got nan"),
        ({"label": "y", "score": "s", "threshold": "x"}, "threshold must be a number, got 'x'"),
        ({"label": "y", "score": "s", "n_resamples": 3}, "n_resamples must be at least 19 for confidence_level 0.95"),
        (
            {"label": "y", "score": "s", "n_resamples": 3, "confidence_level": 0.9999999},
            "9999999 for confidence_level 0.9999999 ",
        ),
    ],
)
def test_errors_name_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        fastevals.report({"y": [0, 1, 0, 1], "s": [0.1, 0.2, 0.3, 0.4]}, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": 5}, "score '5': data has no such column"),
        ({"score": 0.5}, "score must be the name of a column, got 0.5"),
        ({"score": b"s"}, "score must be the name of a column, got b's'"),
        ({"score": ["s", None]}, "score must be the name of a column, got None"),
        ({"score": {"s"}}, r"score must be the name of a column, got \{'s'\}"),
        ({"label": ["y"]}, r"label must be the name of a column, got \['y'\]"),
        ({"sample_weight": ["s"]}, r"sample_weight must be the name of a column, got \['s'\]"),
        ({"by": True}, "by must be the name of a column, got True"),
        ({"best": ""}, "best must be one of"),
        ({"threshold": True}, "threshold must be a number, got True"),
        ({"separator": 5}, "separator must be text, got 5"),
        ({"encoding": b"utf-8"}, "encoding must be text, got b'utf-8'"),
        ({"header": "no"}, "header must be True or False, got 'no'"),
    ],
)
def test_arguments_of_other_types(options, message):
    """Values that no command line can pass are refused by name, too."""
    with pytest.raises(ValueError, match=f"^{message}"):
        fastevals.report({"y": [0, 1, 0, 1], "s": [0.1, 0.2, 0.3, 0.4]}, **{"label": "y", "score": "s", **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": 0.5}, "algorithm must be the name of a column, got 0.5"),
        ({"dataset": [None]}, "dataset must be the name of a column, got None"),
        ({"by": ["a"]}, r"by must be the name of a column, got \['a'\]"),
        ({"lower_is_better": "no"}, "lower_is_better must be True or False, got 'no'"),
        ({"rng": 0}, "rng goes with predictions"),
        ({"n_resamples": 0}, "n_resamples goes with predictions"),
        ({"label": "a", "pred": 1.5}, "pred must be the name of a column, got 1.5"),
        ({"label": ["a"], "pred": ["b", "c"]}, r"label must be the name of a column, got \['a'\]"),
        ({"label": "a", "pred": ["b", "c"], "rng": ""}, "rng must be None, an integer at least 0 or several"),
        ({"label": "a", "pred": ["b", "c"], "rng": False}, "rng must be an integer at least 0, got False"),
    ],
)
def test_arguments_of_other_types_of_comparisons(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        fastevals.compare({name: [0, 1, 0] for name in "abc"}, **options)


@pytest.mark.cases(2)
@pytest.mark.parametrize("table", TABLES)
def test_days_and_times_are_text_as_in_a_file(table, tmp_path):
    times = np.repeat(np.array(["2020-01-02", "2020-01-03T12:30"], dtype="M8[us]"), 4)
    columns = {"y": [0, 1, 0, 1] * 2, "s": np.arange(8) / 8, "t": times, "u": np.arange(8.0)[::-1]}
    data, path = table(columns), str(tmp_path / "columns.parquet")
    parquet.write_table(pa.table(columns), path)
    for options in ({"by": "t", "n_resamples": 0}, {"groups": "t", "n_resamples": 19}):
        made, read = (fastevals.report(each, label="y", score="s", **options).to_dict() for each in (data, path))
        assert without_data(made) == without_data(read)
    made, read = (fastevals.compare(each, algorithm=["s", "u"]).to_dict() for each in (data, path))
    assert without_data(made) == without_data(read)
    columns["t"][5] = "NaT"
    found = fastevals.report(table(columns), label="y", score="s", by="t", n_resamples=0).to_dict()["blocks"][-1]
    assert (found["value"], found["n_samples"]) == (None, 1)
    with pytest.raises(
        ValueError, match=r"^groups 't' has 1 missing value, the first at row 5; on_invalid='drop' leaves"
    ):
        fastevals.report(table(columns), label="y", score="s", groups="t")


def test_a_query_is_no_frame():
    query = pl.DataFrame({"y": [0, 1, 0], "s": [0.1, 0.2, 0.3]}).lazy()
    for call in (lambda: fastevals.report(query, label="y", score="s"), lambda: fastevals.compare(query)):
        with pytest.raises(ValueError, match=r"^data must hold rows, got a LazyFrame: pass data.collect\(\)$"):
            call()


def test_paths_of_bytes(tmp_path):
    class Path:
        def __fspath__(self):
            return str(tmp_path / "columns.csv").encode()

    path = written(tmp_path, {"y": [0, 1, 0], "s": [0.1, 0.2, 0.3]})
    options = {"label": "y", "score": "s", "n_resamples": 0}
    assert fastevals.report(Path(), **options) == fastevals.report(path, **options)


def test_comparison_of_no_columns():
    with pytest.raises(ValueError, match=r"^data must have columns, got \{\}$"):
        fastevals.compare({})


def test_columns_with_numbers_for_names():
    """A frame made from an array has columns 0, 1, 2, ..., which can be named as integers or as text."""
    rows = np.array([[0, 0.1, 0.3], [1, 0.4, 0.2], [0, 0.3, 0.1], [1, 0.2, 0.6], [1, 0.9, 0.8], [0, 0.5, 0.2]])
    frame = pd.DataFrame(rows)
    named = fastevals.report(frame, label="0", score=["1"], sample_weight="2", n_resamples=0)
    for score in (1, [1], np.array(["1"]), np.array([1])):
        assert fastevals.report(frame, label=0, score=score, sample_weight=2, n_resamples=0) == named
    named = fastevals.compare(frame, control="1").to_text()
    assert fastevals.compare(frame, control=1, algorithm=[0, 1, 2]).options.control == "1"
    assert fastevals.compare(frame, control=np.int64(1)).to_text() == named


@pytest.mark.parametrize("option", ["sample_weight", "by", "groups", "pos_label", "separator"])
def test_counts_have_no_rows(option):
    ranking = fastevals.Ranking([0, 1, 1], [0.1, 0.4, 0.4])
    for data in (ranking, ranking.counts):
        with pytest.raises(ValueError, match=f"{option} goes with .*, but data is a {type(data).__name__}"):
            fastevals.report(data, **{option: ","})


def test_data_that_is_none():
    with pytest.raises(ValueError, match=r"data must be a path, paths, a frame, a mapping of names to .*, got 3"):
        fastevals.report(3, label="y", score="s")
    with pytest.raises(ValueError, match="label 'y' has 1 missing value, the first at row 1"):
        fastevals.report({"y": ["a", None], "s": [1, 2]}, label="y", score="s")
    with pytest.raises(ValueError, match="score 's' has 2 rows, but label 'y' has 3"):
        fastevals.report({"y": [0, 1, 1], "s": [1, 2]}, label="y", score="s")


def test_comparison_of_results_is_the_commands(tmp_path, capsys):
    results = {name: values for name, values in load_psnr().items() if name != "sigma"}
    path = written(tmp_path, results)
    result = fastevals.compare(path, control="NLM", lower_is_better=True, posthoc="holm")
    flags = ["compare", path, "--control", "NLM", "--lower-is-better", "--posthoc", "holm"]
    assert result.to_dict() == json.loads(printed(capsys, *flags, "--format", "json"))
    assert result.to_text() == printed(capsys, *flags)
    for table in TABLES:
        data = table({name: list(map(str, v)) if name == "image" else v for name, v in results.items()})
        same = fastevals.compare(data, control="NLM", lower_is_better=True, posthoc="holm")
        assert without_data(same.to_dict()) == without_data(result.to_dict())
    assert str(fastevals.compare(by="sigma")) == printed(capsys, "compare", "--by", "sigma").rstrip("\n")


def test_comparison_of_predictions_is_the_commands(tmp_path, capsys):
    y = DIGITS["label"]
    columns = {"y": y, "a": (DIGITS["logistic"] > 0.5).astype(int), "b": (DIGITS["naive_bayes"] > 0.5).astype(int)}
    path = written(tmp_path, columns)
    result = fastevals.compare(path, label="y", pred=["a", "b"], n_resamples=99, pos_label=1)
    flags = ["compare", path, "--label", "y", "--pred", "a", "--pred", "b", "--resamples", "99", "--pos-label", "1"]
    assert result.to_dict() == json.loads(printed(capsys, *flags, "--format", "json"))
    for table in TABLES:
        same = fastevals.compare(table(columns), label="y", pred=["a", "b"], n_resamples=99)
        assert without_data(same.to_dict()) == without_data(result.to_dict())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "a"}, "pred must be given twice or more"),
        ({"label": "a", "pred": "bc"}, "pred must be given twice or more"),
        ({"pred": ["a", "b"]}, "pred goes with predictions, which need label"),
        ({"label": "a", "pred": ["b", "c"], "lower_is_better": True}, "lower_is_better goes with results"),
        ({"posthoc": "nemenyi", "control": "a"}, "posthoc='nemenyi' compares all pairs; with control use another"),
        ({"posthoc": "tukey"}, "posthoc must be one of"),
        ({"control": "z"}, "control must be one of"),
        ({"algorithm": ["a", "z"]}, "algorithm 'z': data has no such column"),
        ({"algorithm": ["a", "b"], "posthoc": "holm"}, "posthoc='holm' goes with three algorithms or more"),
    ],
)
def test_errors_of_comparisons_name_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        fastevals.compare({name: [1.0, 2.0, 3.5] for name in "abc"}, **options)


def test_hints_name_what_the_reader_can_type(tmp_path, capsys, monkeypatch):
    """Keyword arguments in Python, options on the command line, also in notes of JSON."""
    from fastevals.show.report import intervals

    def hints_of(data, command, flags, **options):
        result = getattr(fastevals, command)(data, **options)
        in_json = json.dumps(result.to_dict())
        assert json.dumps(json.loads(printed(capsys, command, data, *flags, "--format", "json"))) != in_json
        return (" ".join(text.split()) for text in (result.to_text() + in_json, printed(capsys, command, data, *flags)))

    columns = {name: DIGITS[name][:600] for name in ("label", "logistic", "fold")}
    path = written(tmp_path, columns)
    monkeypatch.setattr(intervals, "BUDGET_WITHOUT_CELLS", 500 * 1999)
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    grouped = {"label": "label", "score": "logistic", "groups": "fold"}
    flags = ["--label", "label", "--score", "logistic", "--group", "fold"]
    python, command = hints_of(path, "report", flags, **grouped)
    assert python.count("n_resamples=N resamples clusters") == 2
    assert "--" not in python
    assert "--resamples N resamples clusters" in command

    path = written(tmp_path, {"the id": range(8), "a": np.linspace(1, 2, 8), "b": np.linspace(2, 3, 8) ** 2})
    python, command = hints_of(path, "compare", [])
    assert python.count("leave it out by dataset='the id'") == 2
    assert "leave it out by --dataset 'the id'" in command
    ranks = {"a": [1, 2, 1, 1], "b": [2, 1, 2, 2]}
    python, command = hints_of(written(tmp_path, ranks), "compare", [])
    assert "give lower_is_better=True" in python
    assert "give --lower-is-better" in command


# Data that need other calls, and names that are long ------------------------------------------------------------------


def test_frames_on_many_machines_are_not_brought_here() -> None:
    """A Dask or Spark frame is never computed in this process: the error names the call that counts it."""
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_dict({"y": [0, 1], "s": [0.1, 0.2]}, npartitions=1)
    members = {
        "columns": ["y", "s"],
        "collect": None,
        "__arrow_c_stream__": None,
    }  # since Spark 4 also an Arrow stream
    spark = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"} | members)()
    for data, engine, brings in ((frame, "dask", "compute"), (spark, "spark", "toPandas")):
        said = f"fastevals.scale.{engine}.summarize counts rows where they are, .*; {brings}.. brings all rows here$"
        with pytest.raises(ValueError, match=f"{engine.title()}: {said}"):
            fastevals.report(data, label="y", score="s")
        with pytest.raises(ValueError, match=f"fastevals.scale.{engine}"):
            fastevals.compare(data)
        with pytest.raises(ValueError, match=f"fastevals.scale.{engine}"):
            fastevals.scale.parquet.ranking(data, label="y", score="s")


def test_queries_of_duckdb_are_read() -> None:
    duckdb = pytest.importorskip("duckdb")
    query = duckdb.sql("select * from (values (0, .1), (1, .9), (0, .4), (1, .3)) as t(y, s)")
    found = fastevals.report(query, label="y", score="s", n_resamples=0).to_dict()
    assert found["blocks"][0]["models"][0]["metrics"]["roc_auc"] == 0.75


def test_columns_of_several_levels() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 0.1], [1, 0.9]])
    frame.columns = pandas.MultiIndex.from_tuples([("t", "y"), ("m", "s")])
    found = fastevals.report(frame, label=("t", "y"), score=[("m", "s")], n_resamples=0).to_dict()
    assert (found["label"], found["blocks"][0]["models"][0]["name"]) == ("('t', 'y')", "('m', 's')")


def test_a_long_text_is_shortened_in_tables_and_whole_in_json() -> None:
    long, other = "the answer is " + "x" * 4000, "the answer is " + "x" * 4001
    report = fastevals.report({"y": ["a", "a", long, other], "p": ["a"] * 4}, label="y", pred="p", n_resamples=0)
    lines = report.to_text().splitlines()
    assert max(map(len, lines)) <= 120
    assert sum("the answer is xx" in line and "..." in line for line in lines) == 2
    assert report.to_dict()["blocks"][0]["models"][0]["labels"] == ["a", long, other]
    columns = {"y": [0, 1, 0, 1], long: [1, 2, 3, 4], other: [4, 3, 2, 1], "g": [long, long, other, other]}
    report = fastevals.report(columns, label="y", score=[long, other], by="g", n_resamples=50)
    assert max(map(len, report.to_text().splitlines())) <= 120
    assert [block["value"] for block in report.to_dict()["blocks"]] == sorted([long, other])


def test_an_infinite_or_undefined_log_loss_says_why() -> None:
    columns = {"y": [0, 1, 1], "sure": [0.0, 0.0, 1.0], "logit": [-2.0, 0.5, 3.0], "p": [0.2, 0.6, 0.9]}
    report = fastevals.report(columns, label="y", score=["sure", "logit", "p"], n_resamples=50)
    text = " ".join(report.to_text().split())
    said = (
        "log loss of sure is infinite: some rows with a probability of exactly 0 or 1 belong to the other class. "
        "Clip probabilities to a range such as [0.001, 0.999], or compare Brier scores"
    )
    outside = "Brier, log loss and ECE of logit are undefined: scores outside [0, 1] are not probabilities"
    for words in (said, outside):
        assert words in text
        assert words in report.to_dict()["blocks"][0]["intervals"]["notes"]
    alone = fastevals.report(columns, label="y", score="p", n_resamples=0).to_text()
    assert "infinite" not in alone
    assert "undefined" not in alone
