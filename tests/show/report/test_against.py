"""Reports against other rows: rows or counts on either side, paired by value; each model is compared with itself."""

from __future__ import annotations

import contextlib
import io
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import Ranking, bootstrap_unpaired
from fastevals.scale import RankingSummary
from fastevals.show import cli
from fastevals.show.report.intervals import PROBABILITY_COLUMNS, column_metrics
from tests.parameters import quick

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

Columns = dict[str, Any]
ROLES: dict[str, Any] = {"label": "y", "score": ["p", "q"], "n_resamples": 19}
ONE: dict[str, Any] = {"label": "y", "score": "p", "n_resamples": 19}


def day(number: int, n: int = 300) -> Columns:
    rng = np.random.default_rng(number)
    y = (rng.random(n) < 0.35).astype(int)
    p = 1 / (1 + np.exp(-rng.normal(1.4 * y - 1)))
    return {
        "y": y, "p": p, "q": rng.normal(y).round(1), "g": rng.integers(0, 2 + number, n), "c": rng.integers(0, 40, n),
        "w": rng.integers(1, 4, n),
    }  # fmt: skip


TODAY, YESTERDAY = day(1), day(2)


def of(report: Any, block: int = 0) -> dict[str, dict[str, Any]]:
    """Return the differences of a block by model."""
    return {pair["model"]: pair["metrics"] for pair in report.to_dict()["blocks"][block]["against"]}


def write(columns: Columns, path: Path) -> str:
    table = pa.table(columns)
    if path.suffix == ".csv":
        names = list(columns)
        rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
        path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")
    else:
        parquet.write_table(table, path, row_group_size=100)
    return str(path)


def summarized(columns: Columns, path: Path, *options: str) -> str:
    rows, out = write(columns, path.with_suffix(".parquet")), str(path)
    with contextlib.redirect_stdout(io.StringIO()):
        assert (
            cli.main(["summarize", rows, "--label", "y", "--score", "p", "--score", "q", "--out", out, *options]) == 0
        )
    return out


def test_differences_of_rows_are_those_of_the_unpaired_bootstrap() -> None:
    metrics = column_metrics(None, 0.5, None)
    report = fastevals.report(TODAY, against=YESTERDAY, threshold=0.5, **ROLES)
    for model, left_out in (("p", ()), ("q", PROBABILITY_COLUMNS)):
        pairs = [(side["y"], side[model]) for side in (TODAY, YESTERDAY)]
        specs = {name: spec for name, spec in metrics.items() if name not in left_out}
        expected = bootstrap_unpaired(*pairs, specs, n_resamples=19, rng=0)
        assert list(of(report)[model]) == list(specs)
        for name, each in expected.items():
            found = of(report)[model][name]
            assert found["value"] == each.value
            assert found["interval"] == list(each.confidence_interval)
            assert found["pvalue"] == each.pvalue
    assert "brier_score" not in of(report)["q"]  # scores outside [0, 1]


def test_weights_and_shared_clusters_are_those_of_the_unpaired_bootstrap() -> None:
    pairs = [(side["y"], side["p"]) for side in (TODAY, YESTERDAY)]
    both = [[side[name] for side in (TODAY, YESTERDAY)] for name in ("w", "c")]
    weighted = of(fastevals.report(TODAY, against=YESTERDAY, sample_weight="w", **ONE))["p"]["roc_auc"]
    expected = bootstrap_unpaired(*pairs, "roc_auc", n_resamples=19, rng=0, sample_weight=both[0])["roc_auc"]
    assert weighted["value"] == pytest.approx(expected.value, rel=1e-13)
    assert weighted["interval"] == pytest.approx(list(expected.confidence_interval), rel=1e-12)
    clustered = of(fastevals.report(TODAY, against=YESTERDAY, groups="c", **ONE))["p"]["roc_auc"]
    expected = bootstrap_unpaired(*pairs, "roc_auc", n_resamples=19, rng=0, groups=both[1])["roc_auc"]
    assert clustered["value"] == expected.value
    apart = of(fastevals.report(TODAY, against=YESTERDAY | {"c": YESTERDAY["c"] + 100}, groups="c", **ONE))["p"]
    assert clustered["interval"] != apart["roc_auc"]["interval"]  # no cluster is on both sides


def test_clusters_are_the_same_in_a_csv_file_and_in_numbers(tmp_path: Path) -> None:
    numbers = of(fastevals.report(TODAY, against=YESTERDAY, groups="c", **ONE))
    file = write(YESTERDAY, tmp_path / "a.csv")
    assert of(fastevals.report(TODAY, against=file, groups="c", **ONE)) == numbers
    texts = [side | {"c": [f"c{each}" for each in side["c"]]} for side in (TODAY, YESTERDAY)]
    named = of(fastevals.report(texts[0], against=texts[1], groups="c", **ONE))
    assert named["p"]["roc_auc"]["value"] == numbers["p"]["roc_auc"]["value"]


def test_copies_of_rows_are_repeated_rows() -> None:
    repeated = [{name: np.repeat(each, side["w"]) for name, each in side.items()} for side in (TODAY, YESTERDAY)]
    for options in ({}, {"groups": "c"}):
        copies = fastevals.report(TODAY, against=YESTERDAY, frequency_weight="w", **options, **ONE)
        expected = fastevals.report(repeated[0], against=repeated[1], **options, **ONE)
        assert of(copies) == of(expected)
        assert copies.against == expected.against


KINDS = ["frame", "csv", "parquet", "fe", "stream"]
PAIRS = quick(product(KINDS, repeat=2), ("csv", "fe"), ("fe", "parquet"), ("stream", "frame"))


@pytest.mark.cases(1)
@pytest.mark.parametrize("kinds", PAIRS)
def test_either_side_may_be_rows_or_counts(kinds: tuple[str, str], tmp_path: Path) -> None:
    own, other = kinds

    def side(kind: str, columns: Columns, name: str) -> Any:
        if kind == "frame":
            return columns
        if kind == "stream":
            return pa.RecordBatchReader.from_batches(pa.table(columns).schema, pa.table(columns).to_batches(100))
        path = tmp_path / f"{name}.{kind}"
        return summarized(columns, path) if kind == "fe" else write(columns, path)

    roles = ROLES | {"n_resamples": 99}
    options = {name: value for name, value in roles.items() if own != "fe" or name == "n_resamples"}
    report = fastevals.report(side(own, TODAY, "a"), against=side(other, YESTERDAY, "b"), **options)
    expected = of(fastevals.report(TODAY, against=YESTERDAY, **roles))
    for model, metrics in expected.items():
        found = of(report)[model]
        assert list(found) == list(metrics)
        for name in ("roc_auc", "f1", "recall"):
            assert found[name]["value"] == pytest.approx(metrics[name]["value"], abs=1e-9)
            assert found[name]["interval"] == pytest.approx(metrics[name]["interval"], abs=0.12)
    name = {"frame": "other rows", "stream": "other rows"}.get(other, f"b.{other}")
    rows = f"against    {name}: 300 rows, {YESTERDAY['y'].sum()} positive"
    assert rows in report.to_text()
    assert f"p in {name}" in report.to_html()
    told = report.to_dict()["against"]
    assert (told["data"], told["n_samples"], told["n_positives"]) == (name, 300, YESTERDAY["y"].sum())


@pytest.mark.cases(1)
@pytest.mark.parametrize("options", [{}, {"by": "g"}, {"frequency_weight": "w"}])
@pytest.mark.parametrize("memory", quick([300, 300 * (32 + 40) + 1000], 300))  # neither side fits, or only the data do
def test_files_larger_than_memory_have_the_differences_of_rows(
    options: dict[str, Any], memory: int, tmp_path: Path
) -> None:
    files = [write(side, tmp_path / f"{k}.parquet") for k, side in enumerate((TODAY, YESTERDAY))]
    streamed = fastevals.report(files[0], against=files[1], memory=memory, **options, **ROLES)
    assert of(streamed) == of(fastevals.report(TODAY, against=YESTERDAY, **options, **ROLES))


@pytest.mark.slow
def test_cells_of_many_rows_have_nearly_the_intervals_of_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    expected = of(fastevals.report(TODAY, against=YESTERDAY, **ROLES | {"n_resamples": 1999}))
    files = [write(side, tmp_path / f"{k}.parquet") for k, side in enumerate((TODAY, YESTERDAY))]
    monkeypatch.setattr("fastevals.show.report.intervals.ROWS_ALWAYS_DRAWN", 10)
    monkeypatch.setattr("fastevals.show.report.intervals.BUDGET", 0)
    options = {name: value for name, value in ROLES.items() if name != "n_resamples"}
    in_memory, scanned = (
        of(fastevals.report(files[0], against=files[1], memory=memory, **options)) for memory in (None, 300)
    )
    for model, metrics in expected.items():
        assert in_memory[model] == scanned[model]
        for name, each in metrics.items():
            assert in_memory[model][name]["value"] == pytest.approx(each["value"], abs=1e-12)
            assert in_memory[model][name]["interval"] == pytest.approx(each["interval"], abs=0.12)


@pytest.mark.slow
def test_blocks_are_paired_by_value(tmp_path: Path) -> None:
    file = write(YESTERDAY, tmp_path / "b.csv")
    report = fastevals.report(TODAY | {"g": TODAY["g"] + 1}, against=file, by="g", **ROLES)
    today, yesterday = (
        {name: each[side["g"] == k] for name, each in side.items()} for side, k in ((TODAY, 0), (YESTERDAY, 1))
    )
    assert of(report) == of(fastevals.report(today, against=yesterday, **ROLES))
    blocks = {block["value"]: block for block in report.to_dict()["blocks"]}
    assert list(blocks) == [1, 2, 3]
    assert blocks[1]["compared_with"] == {
        "n_samples": 150 - 150 + len(yesterday["y"]),
        "n_positives": yesterday["y"].sum(),
        "why_none": "",
        "why_fewer": "",
    }
    assert report.to_dict()["against"]["only_in_against"] == [0]
    assert "only in b.csv: g = 0" in report.to_text()
    text = fastevals.report(TODAY, against={**YESTERDAY, "g": YESTERDAY["g"] + 1}, by="g", **ROLES).to_text()
    assert "only in the data: g = 0; only in other rows: g = 3" in " ".join(text.split())
    assert "g 0 is not compared: there are no such rows in other rows" in " ".join(text.split())


@pytest.mark.slow
def test_values_of_text_and_numbers_are_the_same_if_they_are_written_alike() -> None:
    names = {"g": ["x" if each == 2 else str(each) for each in YESTERDAY["g"]]}
    mixed = fastevals.report(TODAY, against=YESTERDAY | names, by="g", **ROLES)
    numbers = fastevals.report(TODAY, against=YESTERDAY, by="g", **ROLES)
    assert of(mixed) == of(numbers)
    assert of(mixed, 1) == of(numbers, 1)


def test_the_page_compares_all_rows_too() -> None:
    report = fastevals.report(TODAY, against=YESTERDAY, by="g", **ROLES)
    whole = fastevals.report(TODAY, against=YESTERDAY, **ROLES)
    assert report.whole is not None
    assert report.whole.against == whole.blocks[0].against


def test_rankings_and_summaries_of_one_model(tmp_path: Path) -> None:
    expected = of(fastevals.report(TODAY, against=YESTERDAY, **ONE))
    ranking, summary = Ranking(YESTERDAY["y"], YESTERDAY["p"]), RankingSummary()
    summary.update(YESTERDAY["y"], YESTERDAY["p"])
    for other in (ranking, summary, ranking.counts):
        found = of(fastevals.report(TODAY, against=other, **ONE))
        assert found["p"]["roc_auc"]["value"] == expected["p"]["roc_auc"]["value"]
    own = fastevals.report(Ranking(TODAY["y"], TODAY["p"]), against=YESTERDAY, label="y", score="p", n_resamples=19)
    assert of(own) == expected
    with pytest.raises(ValueError, match="against: it holds one model, and the data has 2: 'p', 'q'"):
        fastevals.report(TODAY, against=ranking, **ROLES)
    with pytest.raises(ValueError, match="against: it is counted as a whole, and the data by 'g'"):
        fastevals.report(TODAY, against=ranking, by="g", **ONE)
    counted = summarized(TODAY, tmp_path / "a.fe")
    with pytest.raises(ValueError, match="against: it holds one model"):
        fastevals.report(counted, against=summary)
    assert of(fastevals.report(counted, score="p", against=summary, n_resamples=19))["p"].keys() >= {"roc_auc"}


def test_rows_left_out_of_the_other_side_are_counted() -> None:
    p, y = YESTERDAY["p"].copy(), YESTERDAY["y"].astype(float)
    p[:3], y[5] = np.nan, np.nan
    other = YESTERDAY | {"p": p, "y": y, "w": np.where(np.arange(300) == 9, 0, YESTERDAY["w"])}
    rules = {"on_invalid": "drop", "on_missing_label": "drop"}
    report = fastevals.report(TODAY, against=other, frequency_weight="w", **rules, **ONE)
    assert report.against is not None
    assert report.against.n_weightless == 1
    assert report.against.left_out.n_rows == 4
    text = " ".join(report.to_text().split())
    assert "1 of weight zero left out; dropped 4 rows: 3 without a finite score of p, 1 without a label" in text
    assert report.to_dict()["against"]["n_dropped"] == 4
    with pytest.raises(ValueError, match="against: score 'p' must be finite, but has 3 NaN values, the first at row 0"):
        fastevals.report(TODAY, against=YESTERDAY | {"p": p}, **ONE)


def test_other_rows_that_are_too_few_say_so() -> None:
    few = {name: each[:30] for name, each in YESTERDAY.items()}
    text = " ".join(fastevals.report(TODAY, against=few, **ROLES).to_text().split())
    n = int(few["y"].sum())
    assert f"other rows: only {n} positives and {30 - n} negatives, so differences from these rows are rough" in text
    none = {name: each[YESTERDAY["y"] == 0] for name, each in YESTERDAY.items()}
    report = fastevals.report(TODAY, against=none, **ROLES)
    assert of(report)["p"]["roc_auc"]["value"] is None
    together = fastevals.report(
        TODAY, against=YESTERDAY | {"c": np.arange(300) // 299, "g": np.arange(300) // 150}, groups="c", by="g", **ROLES
    )
    assert together.blocks[0].other is not None
    assert together.blocks[0].other.why_none == "all rows of one side are in one cluster"
    assert "g 0 is not compared with other rows: all rows of one side are in one cluster" in " ".join(
        together.to_text().split()
    )


def test_the_verdict_says_whether_a_model_changed() -> None:
    worse = fastevals.report(TODAY | {"p": 1 - TODAY["p"]}, against=YESTERDAY, **ONE).to_text()
    assert "p's AUC is lower than in other rows by 0." in " ".join(worse.split())
    same = fastevals.report(TODAY, against=TODAY, **ONE).to_text()
    assert "No significant difference between p's AUC and its AUC in other rows (0.0000, 95 % interval" in " ".join(
        same.split()
    )


def test_a_threshold_is_the_same_on_both_sides_and_a_best_one_is_each_sides_own() -> None:
    best, fixed = (fastevals.report(TODAY, against=YESTERDAY, **more, **ONE) for more in ({}, {"threshold": 0.4}))
    recalls = [Ranking(side["y"], side["p"]).confusion_at(0.4).recall() for side in (TODAY, YESTERDAY)]
    assert of(fixed)["p"]["recall"]["value"] == pytest.approx(recalls[0] - recalls[1])
    assert "each side has its own best thresholds" in " ".join(best.to_text().split())
    assert "own best" not in fixed.to_text()


def without(name: str) -> Columns:
    return {each: column for each, column in YESTERDAY.items() if each != name}


WEIGHTED = Ranking(YESTERDAY["y"], YESTERDAY["p"], sample_weight=YESTERDAY["w"])
YES = {"y": np.where(YESTERDAY["y"] == 1, "yes", "no")}
OTHER_ERRORS: list[tuple[Any, dict[str, Any], str]] = [
    (without("q"), {}, "against: score 'q': data has no such column"),
    (without("y"), {}, "against: label 'y': data has no such column"),
    (without("w"), {"sample_weight": "w"}, "against: sample_weight 'w': data has no such column"),
    (YESTERDAY | YES, {}, "against: label 'y' has the classes 'no', 'yes', and the data has 0, 1"),
    (YESTERDAY | {"y": YESTERDAY["y"] + 1}, {}, "against: label 'y' has the classes 1, 2, and the data has 0, 1"),
    (
        YESTERDAY | {"g": YESTERDAY["g"] + 100},
        {"by": "g"},
        "against: other rows and the data have no value of 'g' in common",
    ),
    (YESTERDAY | {"g": np.arange(300)}, {"by": "g"}, "against: by 'g' has 300 values; against compares at most 100"),
    ({name: each[:0] for name, each in YESTERDAY.items()}, {}, "against: data has no rows"),
    (YESTERDAY, {"n_resamples": 0}, "against needs replicates: n_resamples=0 leaves nothing to compare"),
    (5, {}, "against: data must be a path, paths, a frame"),
    ("nowhere.csv", {}, "against nowhere.csv: 'nowhere.csv': no such file"),
    (Ranking(YESTERDAY["y"], YESTERDAY["p"]), {"score": "p", "groups": "c"}, "groups needs its rows in memory, which"),
    (WEIGHTED, {"score": "p"}, "against: its rows are weighted, and the data's are not weighted"),
]


@pytest.mark.parametrize(("other", "options", "message"), OTHER_ERRORS)
def test_what_is_wrong_with_the_other_rows(other: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fastevals.report(TODAY, against=other, **ROLES | options)


@pytest.mark.slow
def test_summaries_are_compared_with_rows_of_their_columns(tmp_path: Path, capsys: Any) -> None:
    counted = summarized(TODAY, tmp_path / "a.fe", "--weight", "w")
    file = write(YESTERDAY, tmp_path / "b.csv")
    report = fastevals.report(counted, against=file, n_resamples=19)
    expected = fastevals.report(TODAY, against=YESTERDAY, sample_weight="w", **ROLES)
    assert of(report)["p"]["roc_auc"]["value"] == pytest.approx(of(expected)["p"]["roc_auc"]["value"])
    plain = summarized(YESTERDAY, tmp_path / "c.fe")
    columns = ["--label", "y", "--score", "p", "--score", "q", "--resamples", "99"]
    for arguments, message in (
        (
            [counted, "--against", plain],
            "--against c.fe: its rows are not weighted, and the data's are weighted by 'w'",
        ),
        ([counted, "--against", file, "--separator", ";"], "--against b.csv: --label 'y': "),
        ([plain, "--against", plain, "--separator", ";"], "--separator goes with a CSV file, but data is a str"),
        (
            [file, "--against", plain, *columns, "--group", "c"],
            "--against c.fe: --group needs its rows in memory, which",
        ),
        (
            [file, "--against", file, *columns, "--group", "c", "--memory", "2000"],
            "needs the data's rows in memory: raise --memory",
        ),
        (["-", "--against", "-", *columns], "--against and the data can't both be standard input"),
    ):
        capsys.readouterr()
        if arguments[0] == "-":
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(Path(file).read_bytes()))))
                assert cli.main(["report", *arguments]) == 2
        else:
            assert cli.main(["report", *arguments]) == 2
        assert message in capsys.readouterr().err


def test_form_of_csv_files_goes_to_the_side_that_is_csv(tmp_path: Path) -> None:
    text = Path(write(YESTERDAY, tmp_path / "b.csv")).read_text()
    (tmp_path / "b.csv").write_text(text.replace(",", "|"))
    expected = of(fastevals.report(TODAY, against=YESTERDAY, **ROLES))
    for own in (TODAY, write(TODAY, tmp_path / "a.parquet")):
        assert of(fastevals.report(own, against=tmp_path / "b.csv", separator="|", **ROLES)) == expected
    reverse = of(fastevals.report(tmp_path / "b.csv", against=TODAY, separator="|", **ROLES))
    assert reverse["p"]["roc_auc"]["value"] == -expected["p"]["roc_auc"]["value"]


def test_several_files_are_read_as_one(tmp_path: Path, capsys: Any) -> None:
    parts = [{name: each[k::2] for name, each in YESTERDAY.items()} for k in range(2)]
    files = [write(part, tmp_path / f"{k}.parquet") for k, part in enumerate(parts)]
    own = write(TODAY, tmp_path / "today.csv")
    against = [each for file in files for each in ("--against", file)]
    columns = ["--label", "y", "--score", "p", "--resamples", "99", "--format", "json"]
    assert cli.main(["report", own, *against, *columns]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["against"]["data"] == "0.parquet and 1.parquet"
    assert found["against"]["n_samples"] == 300
    value = found["blocks"][0]["against"][0]["metrics"]["roc_auc"]["value"]
    assert value == of(fastevals.report(TODAY, against=YESTERDAY, **ONE))["p"]["roc_auc"]["value"]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write(YESTERDAY, tmp_path / name / "x.csv")
    report = fastevals.report(tmp_path / "a" / "x.csv", against=tmp_path / "b" / "x.csv", **ONE)
    assert report.to_dict()["against"]["data"] == str(tmp_path / "b" / "x.csv")


@pytest.mark.slow
def test_draws_are_the_same_every_time() -> None:
    texts = [fastevals.report(TODAY, against=YESTERDAY, by="g", groups="c", **ROLES).to_json() for _ in range(2)]
    assert texts[0] == texts[1]
