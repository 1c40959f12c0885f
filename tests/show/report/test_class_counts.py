"""Reports on counted class probabilities: numbers equal those of the rows, or have bounds that contain them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import fastevals
from fastevals import metric
from fastevals.scale import ClassScoresSummary, ScoresSummary
from fastevals.show import cli

NAMES = ["owl", "cat", "dog", "yak"]
N = 900
RNG = np.random.default_rng(11)
CODES = RNG.choice(4, N, p=[0.4, 0.3, 0.2, 0.1])


def probabilities(strength: float) -> Any:
    z = RNG.normal(size=(N, 4))
    z[np.arange(N), CODES] += strength
    e = np.exp(z)
    return e / e.sum(axis=1, keepdims=True)


P = {"forest": probabilities(1.0), "boost": probabilities(1.8)}
FRAME = pd.DataFrame(
    {"y": np.array(NAMES)[CODES], "site": RNG.choice(["a", "b", "c"], N), "w": RNG.integers(0, 4, N)}
    | {f"{model}_{name}": P[model][:, k] for model in P for k, name in enumerate(NAMES)}
)
TWO = ["--label", "y", "--probabilities", "forest_*", "--probabilities", "boost_*"]
CALL: dict[str, Any] = {"label": "y", "probabilities": ["forest_*", "boost_*"]}
AREAS = ("roc_auc", "AUC weighted", "AUC micro", "average_precision", "AP weighted", "AP micro", "hand_till")
MEANS = ("log_loss", "brier_score", "top-3 accuracy")
OF_MATRIX = ("accuracy", "balanced_accuracy", "F1 (macro)", "matthews", "cohen_kappa")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the rows as files of two formats, whole and in halves."""
    path = tmp_path_factory.mktemp("classes")
    FRAME.to_parquet(path / "all.parquet", row_group_size=100)
    FRAME.to_csv(path / "all.csv", index=False)
    FRAME.iloc[:400].to_parquet(path / "one.parquet")
    FRAME.iloc[400:].to_csv(path / "two.csv", index=False)
    return path


def summarize(*arguments: Any) -> None:
    assert cli.main(["summarize", *map(str, arguments), "--quiet"]) == 0


def report(data: Any, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = fastevals.report(str(data) if isinstance(data, Path) else data, **options).to_dict()
    return found


def models(found: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each for each in found["blocks"][0]["models"]}


@pytest.fixture(scope="module")
def whole(folder: Path) -> Path:
    """The file of counts of all rows."""
    summarize(folder / "all.parquet", *TWO, "--out", folder / "all.fe")
    return folder / "all.fe"


# The counts -----------------------------------------------------------------------------------------------------------


def test_files_of_any_format_and_division_have_the_same_counts(folder: Path, whole: Path) -> None:
    summarize(folder / "all.csv", *TWO, "--out", folder / "csv.fe")
    summarize(folder / "one.parquet", *TWO, "--out", folder / "one.fe")
    summarize(folder / "two.csv", *TWO, "--out", folder / "two.fe")
    summarize(folder / "one.fe", folder / "two.fe", "--out", folder / "merged.fe")
    assert len({(folder / name).read_bytes() for name in ("all.fe", "csv.fe", "merged.fe")}) == 1
    found = ScoresSummary.from_bytes(whole.read_bytes())
    assert list(found) == ["forest", "boost"]
    one: Any = found["boost"]
    assert isinstance(one, ClassScoresSummary)
    expected = ClassScoresSummary(NAMES)
    expected.update(FRAME.y, P["boost"])
    assert one.to_bytes() == expected.to_bytes()
    assert (
        report([str(folder / "one.fe"), str(folder / "two.fe")], n_resamples=0)["blocks"]
        == (report(whole, n_resamples=0)["blocks"])
    )


@pytest.mark.slow
def test_values_of_columns_have_blocks_and_their_sum_is_all_rows(folder: Path, whole: Path) -> None:
    summarize(folder / "all.csv", *TWO, "--by", "site", "--out", folder / "by.fe")
    found, rows = report(folder / "by.fe", n_resamples=0), report(FRAME, **CALL, by="site", n_resamples=0)
    assert [each["value"] for each in found["blocks"]] == ["a", "b", "c"]
    assert found["whole"]["models"] == report(whole, n_resamples=0)["blocks"][0]["models"]
    for own, its in zip(found["blocks"], rows["blocks"], strict=True):
        assert own["n_samples"] == its["n_samples"]
        assert own["models"][1]["metrics"]["log_loss"] == pytest.approx(its["models"][1]["metrics"]["log_loss"])
    assert found["over"]["models"][0]["values"] == rows["over"]["models"][0]["values"]
    assert "accuracy of boost over 3 values of site" in fastevals.report(str(folder / "by.fe"), n_resamples=0).to_text()


def test_an_interrupted_run_continues(folder: Path, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastevals.show.summarize.STORED", 0.0)
    monkeypatch.setattr("fastevals.scale.scores.ROUND", 1)
    kept, out = [], folder / "again.fe"

    def stop(path: Path, content: bytes) -> None:
        path.write_bytes(content)
        kept.append(path)
        if len(kept) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr("fastevals._files.write_file", stop)
        cli.main(["summarize", str(folder / "all.parquet"), *TWO, "--out", str(out), "--quiet"])
    assert kept == [Path(f"{out}.part")] * 2
    assert not out.exists()
    summarize(folder / "all.parquet", *TWO, "--out", out)
    assert out.read_bytes() == whole.read_bytes()


# The report -----------------------------------------------------------------------------------------------------------


def test_exact_numbers_equal_those_of_the_rows_and_bounds_hold_the_others(whole: Path) -> None:
    own, rows = models(report(whole, n_resamples=0)), models(report(FRAME, **CALL, n_resamples=0))
    for model in P:
        found, expected = own[model], rows[model]
        assert found["metrics"].keys() == expected["metrics"].keys()
        for name in {*expected["metrics"]} - {*AREAS}:
            assert found["metrics"][name] == pytest.approx(expected["metrics"][name], rel=1e-12), name
        for name in AREAS:
            low, high = found["bounds"].get(name, [found["metrics"][name]] * 2)
            assert low <= expected["metrics"][name] <= high
            assert high - low < 5e-4
        assert found["confusion"] == expected["confusion"]
        assert found["labels"] == NAMES
        for name, each in expected["classes"].items():
            if name in ("roc_auc", "average_precision"):
                ends = np.array(found["classes"][name].get("bounds") or [[value] * 2 for value in each["values"]])
                assert (ends[:, 0] <= each["values"]).all()
                assert (each["values"] <= ends[:, 1]).all()
            else:
                assert_allclose(found["classes"][name]["values"], each["values"], rtol=1e-12)


@pytest.mark.slow
def test_means_predicted_classes_and_areas_of_a_class_have_intervals(whole: Path) -> None:
    own = models(report(whole, n_resamples=999, rng=0))["boost"]
    summary = ClassScoresSummary(NAMES)
    summary.update(FRAME.y, P["boost"])
    for name, spec in zip(MEANS, ("log_loss", "brier_score", metric("top_k_accuracy", k=3)), strict=True):
        assert own["intervals"][name] == list(summary.confidence_interval(spec))
    drawn = fastevals.bootstrap(summary, ["accuracy", "matthews"], n_resamples=999, rng=0)
    for name in ("accuracy", "matthews"):
        assert own["intervals"][name] == list(drawn[name].confidence_interval)
    assert all(own["intervals"][name] is not None for name in OF_MATRIX)
    assert all(own["intervals"][name] is None for name in (*AREAS, "expected_calibration_error"))
    rows = models(report(FRAME, **CALL, n_resamples=999, rng=0))["boost"]
    for name in ("roc_auc", "average_precision", "precision", "recall", "f1"):
        assert_allclose(own["classes"][name]["intervals"], rows["classes"][name]["intervals"], atol=0.02)


def test_the_text_says_what_counts_cannot_tell(whole: Path) -> None:
    text = " ".join(fastevals.report(str(whole), n_resamples=199).to_text().split())
    for words in (
        "probabilities were counted in ranges, in one pass: averages over classes are known to within",
        "of the matrix of predicted classes, and for AUC and AP of each class 199 replicates of cells",
        "Averages of AUC and AP over classes, M and calibration errors have no intervals",
        "Models have no differences: one scan counts each model's scores separately",
    ):
        assert words in text


def test_many_classes_and_values_have_fewer_replicates_each(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastevals.show.report.intervals.REPLICATES_OF_CLASSES", 8 * 301)
    text = " ".join(fastevals.report(str(whole)).to_text().split())
    assert "1,999 replicates (seed 0) of the matrix of predicted classes" in text
    assert "for AUC and AP of each class 301 replicates of cells" in text


def test_a_summary_in_memory_is_its_file(whole: Path, tmp_path: Path) -> None:
    summary = ClassScoresSummary(NAMES, ordered=True)
    summary.update(FRAME.y, P["forest"], frequency_weight=FRAME.w)
    found = report(summary, label="kind", probabilities="wood", n_resamples=99)
    (tmp_path / "one.fe").write_bytes(summary.to_bytes())
    assert report(tmp_path / "one.fe", n_resamples=99)["blocks"][0]["n_samples"] == FRAME.w.sum()
    assert (found["label"], found["ordered"], found["blocks"][0]["models"][0]["name"]) == ("kind", True, "wood")
    rows = report(
        FRAME, label="y", probabilities="forest_*", classes=NAMES, ordered=True, frequency_weight="w", n_resamples=0
    )["blocks"][0]["models"][0]["metrics"]
    for name in ("ranked_probability_score", "kappa (quadratic)", "log_loss"):
        assert found["blocks"][0]["models"][0]["metrics"][name] == pytest.approx(rows[name], rel=1e-12)


def test_row_weights_give_the_numbers_of_the_rows(folder: Path) -> None:
    summarize(folder / "all.parquet", *TWO, "--weight", "w", "--out", folder / "w.fe")
    own = report(folder / "w.fe", n_resamples=99)
    rows = report(FRAME, **CALL, sample_weight="w", n_resamples=0)
    assert own["weight"] == "w"
    assert own["blocks"][0]["total_weight"] == rows["blocks"][0]["total_weight"]
    mine, its = models(own)["forest"]["metrics"], models(rows)["forest"]["metrics"]
    for name in ("log_loss", "accuracy", "F1 (macro)", "expected_calibration_error"):
        assert mine[name] == pytest.approx(its[name], rel=1e-12)
    assert "AUC and AP of each class have no intervals, because the rows have weights." in own["not_measured"]


@pytest.mark.slow
def test_pages_and_pictures_show_classes(whole: Path, tmp_path: Path) -> None:
    arguments = ["report", str(whole), "--resamples", "99", "--html", str(tmp_path / "page.html"), "--quiet"]
    assert cli.main([*arguments, "--out", str(tmp_path / "out")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "Each class against the rest" in page
    assert len(page) < 400_000
    pictures = {each.stem for each in (tmp_path / "out").glob("*.png")}
    assert {"macro_roc", "macro_precision_recall", "confusion", "classes_roc"} <= pictures


def test_summaries_are_compared_with_other_summaries(folder: Path) -> None:
    summarize(folder / "one.parquet", *TWO, "--out", folder / "one.fe")
    summarize(folder / "two.csv", *TWO, "--out", folder / "two.fe")
    found = report(folder / "one.fe", against=str(folder / "two.fe"), n_resamples=199)["blocks"][0]
    compared = found["against"][1]["metrics"]
    assert compared.keys() == {*MEANS, *OF_MATRIX}
    of_parts = []
    for part in (slice(0, 400), slice(400, None)):
        summary = ClassScoresSummary(NAMES)
        summary.update(FRAME.y[part], P["boost"][part])
        of_parts.append(summary)
    one, two = of_parts
    assert compared["log_loss"]["value"] == pytest.approx(one.metric("log_loss") - two.metric("log_loss"))
    error = np.hypot(one.standard_error("log_loss"), two.standard_error("log_loss"))
    low, high = compared["log_loss"]["interval"]
    assert high - low == pytest.approx(2 * 1.959964 * error, rel=1e-6)
    drawn = fastevals.bootstrap_unpaired(one, two, "accuracy", n_resamples=199, rng=0)["accuracy"]
    assert compared["accuracy"] == {
        "value": drawn.value, "interval": list(drawn.confidence_interval), "pvalue": drawn.pvalue
    }  # fmt: skip
    assert (
        "averages of AUC and AP over classes, M and calibration errors are not compared"
        in found["intervals"]["notes"][0]
    )


@pytest.mark.slow
def test_a_trend_follows_files_of_counts(folder: Path) -> None:
    summarize(folder / "one.parquet", *TWO, "--out", folder / "one.fe")
    summarize(folder / "two.csv", *TWO, "--out", folder / "two.fe")
    paths = [str(folder / f"{name}.fe") for name in ("one", "two")]
    trend = report(paths, trend=True, n_resamples=199)["trend"]
    assert trend["values"] == ["one", "two"]
    assert trend["metrics"]["log_loss"][0]["compared"] is not None


HALVES = np.where(FRAME.index % 2, 0.5, 1.0)
HARD = pd.DataFrame({f"forest_{name}": (k == CODES).astype(float) for k, name in enumerate(NAMES)}).assign(y=FRAME.y)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (
            FRAME.assign(h=HALVES),
            {"sample_weight": "h"},
            "'h' must hold whole numbers, because rows are counted, got 0.5",
        ),
        (FRAME.assign(h=0), {"sample_weight": "h"}, "'h' must have a value above zero, but all 900 are zero"),
        (FRAME.assign(h=-1), {"sample_weight": "h"}, "'h' must hold weights that are not negative"),
        (FRAME.assign(y="bee"), {}, "'y' has 900 rows of class 'bee'.* without a column of probabilities 'forest_"),
        (FRAME.assign(y=np.arange(N)), {}, "must name classes that are numbers"),
        (FRAME.assign(forest_owl=2.0), {}, r"must hold probabilities, in \[0, 1\], got 2.0|in \[0, 1\]"),
        (FRAME.iloc[:0], {}, "no rows"),
        (FRAME[["y", "forest_owl"]], {}, "forest"),
    ],
)
def test_rows_that_cannot_be_counted_are_refused(data: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        report(data, label="y", probabilities="forest_*", approximate=True, **options)


@pytest.mark.slow
def test_extreme_data_are_counted(tmp_path: Path) -> None:
    two = FRAME.assign(y=np.where(CODES == 0, "owl", "cat"))[["y"]]
    p = P["forest"][:, 0]
    found = report(two.assign(q_owl=p, q_cat=1 - p), label="y", probabilities="q_*", approximate=True, n_resamples=99)
    assert found["classes"] == ["owl", "cat"]
    assert found["blocks"][0]["models"][0]["intervals"]["accuracy"] is not None
    options: dict[str, Any] = {"label": "y", "probabilities": "forest_*", "approximate": True, "n_resamples": 99}
    hard = report(HARD, **options)
    assert hard["hard"] == ["forest"]
    assert hard["blocks"][0]["models"][0]["metrics"]["roc_auc"] == 1
    assert "bounds" not in hard["blocks"][0]["models"][0]
    single = report(FRAME.assign(y="owl"), **options)["blocks"][0]["models"][0]
    assert single["metrics"]["roc_auc"] is None
    assert single["metrics"]["log_loss"] == pytest.approx(-np.log(P["forest"][:, 0]).mean())
    ordered = FRAME.assign(y=pd.Categorical(FRAME.y, NAMES[::-1], ordered=True))
    found = report(ordered, **options)
    assert (found["ordered"], found["classes"]) == (True, NAMES[::-1])
    rows = report(ordered, **options | {"approximate": False, "n_resamples": 0})["blocks"][0]["models"][0]["metrics"]
    assert found["blocks"][0]["models"][0]["metrics"]["ranked_probability_score"] == pytest.approx(
        rows["ranked_probability_score"]
    )
    short = FRAME.astype({f"forest_{name}": np.float32 for name in NAMES})
    assert report(short, **options)["blocks"][0]["models"][0]["metrics"]["log_loss"] == pytest.approx(
        report(FRAME, **options)["blocks"][0]["models"][0]["metrics"]["log_loss"], rel=1e-6
    )


# Files beyond memory --------------------------------------------------------------------------------------------------


def test_files_that_order_their_categories_in_other_ways_are_refused(tmp_path: Path) -> None:
    def write(name: str, order: list[str] | None) -> str:
        frame = FRAME.copy()
        if order:
            frame["y"] = pd.Categorical(frame["y"], categories=order, ordered=True)
        frame.to_parquet(tmp_path / name, row_group_size=300)
        return str(tmp_path / name)

    up, down, plain = write("a.parquet", NAMES), write("b.parquet", NAMES[::-1]), write("c.parquet", None)
    again = write("d.parquet", NAMES)
    call: dict[str, Any] = {"label": "y", "probabilities": "forest_*", "approximate": True, "n_resamples": 0}
    assert report([up, again], **call)["ordered"]
    for files, words in (
        ([up, down], r"got 'owl', 'cat', 'dog', 'yak' in what was read first and 'yak', .* at row 0 .*b.parquet"),
        ([up, plain], "first and none at row 0"),
        ([plain, up], r"got none in what was read first and 'owl', .*classes and ordered=True give an order"),
    ):
        with pytest.raises(ValueError, match=rf"label .y. must have the same ordered categories in all .*{words}"):
            report(files, **call)
        told = report(files, **call, classes=NAMES, ordered=True)
        assert told["classes"] == NAMES
        assert told["blocks"][0]["models"][0]["metrics"]["ranked_probability_score"] > 0


@pytest.mark.slow
def test_files_that_do_not_fit_in_memory_are_counted(folder: Path, whole: Path) -> None:
    options: dict[str, Any] = {**CALL, "n_resamples": 99}
    counted = report(whole, n_resamples=99)["blocks"]
    for read in ({"memory": "1KB"}, {"approximate": True}):
        for name in ("all.parquet", "all.csv"):
            assert report(folder / name, **options, **read)["blocks"] == counted
    assert report(FRAME, **options, memory="1KB")["blocks"] == counted
    rows = report(FRAME, **options, memory="1GB")["blocks"][0]
    assert rows == report(FRAME, **options)["blocks"][0]
    assert rows["intervals"]["method"] == "BCa"


@pytest.mark.slow
def test_counted_files_are_compared_divided_and_followed(folder: Path) -> None:
    options: dict[str, Any] = {**CALL, "n_resamples": 99, "approximate": True}
    one, two = folder / "one.parquet", folder / "two.csv"
    for data in (one, two):
        summarize(data, *TWO, "--by", "site", "--out", data.with_suffix(".site.fe"))
    found = report(one, **options, by="site", against=str(two))
    stored = report(folder / "one.site.fe", against=str(folder / "two.site.fe"), n_resamples=99)
    assert found["whole"]["models"] == stored["whole"]["models"]
    assert [each["against"][0]["metrics"] for each in found["blocks"]] == [
        each["against"][0]["metrics"] for each in stored["blocks"]
    ]
    assert found["against"]["n_samples"] == 500
    FRAME.iloc[400:].to_parquet(folder / "two.parquet")
    trend = report([str(one), str(folder / "two.parquet")], **options, trend=True)["trend"]
    assert trend["values"] == ["one", "two"]


def test_counted_rows_have_no_clusters_and_lists_need_their_classes(folder: Path) -> None:
    options: dict[str, Any] = {"label": "y", "approximate": True, "n_resamples": 19}
    with pytest.raises(ValueError, match="groups needs the rows in memory: raise memory, or leave out approximate"):
        report(FRAME, **options, probabilities="forest_*", groups="site")
    lists = {"y": FRAME.y.tolist(), "p": P["forest"].tolist()}
    with pytest.raises(ValueError, match="classes is missing: it names the classes of the lists in probabilities 'p'"):
        report(lists, **options, probabilities="p")
    found = report(lists, **options, probabilities="p", classes=NAMES)["blocks"][0]["models"][0]
    assert found["metrics"] == report(FRAME, **options, probabilities="forest_*")["blocks"][0]["models"][0]["metrics"]
    with pytest.raises(ValueError, match="memory goes with scores or probabilities of classes"):
        report(FRAME, label="y", pred="site", memory="1KB")


# Refused --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "forest"}, "score does not go with counts of class probabilities"),
        ({"probabilities": "oak"}, "probabilities 'oak' is not among what was counted"),
        ({"label": "z"}, "label must be 'y', which was counted, got 'z'"),
        ({"classes": NAMES}, "classes goes with probabilities of classes|classes"),
        ({"groups": "site"}, "groups goes with columns of rows"),
        ({"threshold": 0.5}, "threshold goes with scores"),
        ({"against": "all.parquet"}, "it must be counts of class probabilities"),
        ({"reference": "oak"}, "reference"),
        ({"trend": True}, "trend"),
    ],
)
def test_what_does_not_go_with_counts_is_refused(folder: Path, whole: Path, options: Any, message: str) -> None:
    if "against" in options:
        options = {"against": str(folder / options["against"])}
    with pytest.raises(ValueError, match=message):
        report(whole, **options, n_resamples=19)


def test_counts_of_other_classes_or_kinds_do_not_merge(folder: Path, whole: Path) -> None:
    other = FRAME.assign(y=FRAME.y.replace("owl", "ant")).rename(
        columns={"forest_owl": "forest_ant", "boost_owl": "boost_ant"}
    )
    other.to_parquet(folder / "other.parquet")
    summarize(folder / "other.parquet", *TWO, "--out", folder / "other.fe")
    with pytest.raises(ValueError, match="summaries must have the same classes"):
        report([str(whole), str(folder / "other.fe")])
    with pytest.raises(ValueError, match=r"it has the classes 'ant', .* and the data has 'owl'"):
        report(whole, against=str(folder / "other.fe"), n_resamples=19)
    summarize(folder / "all.parquet", *TWO[:-2], "--normalize", "--out", folder / "divided.fe")
    summarize(folder / "all.parquet", *TWO[:-2], "--out", folder / "plain.fe")
    with pytest.raises(ValueError, match="made with normalize=True, or all without it"):
        report([str(folder / "divided.fe"), str(folder / "plain.fe")])
    binary = pd.DataFrame({"y": [0, 1, 1], "s": [0.2, 0.3, 0.6]})
    binary.to_csv(folder / "binary.csv", index=False)
    summarize(folder / "binary.csv", "--label", "y", "--score", "s", "--out", folder / "binary.fe")
    with pytest.raises(ValueError, match="some have scores, and some have class probabilities"):
        report([str(whole), str(folder / "binary.fe")])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--label", "y", "--probabilities", "forest_*", "--score", "boost_owl"], "exclude each other"),
        (["--label", "y", "--probabilities", "forest_*", "--at", "0.5"], "--at exclude each other"),
        (["--label", "y", "--score", "boost_owl", "--ordered"], "--ordered goes with --probabilities"),
        (["--probabilities", "forest_*"], "--label is missing"),
        (["--label", "y", "--probabilities", "oak_*"], "no column matches 'oak_*'"),
        (["--label", "y", "--probabilities", "forest_*", "--cells", "3"], "--cells must be"),
    ],
)
def test_options_that_do_not_go_together(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["summarize", str(folder / "all.csv"), *arguments, "--out", str(folder / "x.fe")]) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "x.fe").exists()


def test_bad_rows_are_named_or_left_out(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = FRAME.copy()
    bad.loc[3, "forest_cat"] = np.nan
    bad.loc[5, "y"] = None
    bad.to_csv(tmp_path / "bad.csv", index=False)
    arguments = ["summarize", str(tmp_path / "bad.csv"), *TWO, "--out", str(tmp_path / "bad.fe")]
    assert cli.main(arguments) == 2
    assert "line 7" in capsys.readouterr().err
    assert cli.main([*arguments, "--on-invalid", "drop", "--on-missing-label", "drop"]) == 0
    assert "dropped 2 rows: 1 without finite probabilities of forest, 1 without a label" in capsys.readouterr().out
    assert report(tmp_path / "bad.fe", n_resamples=0)["n_dropped"] == 2
    off = FRAME.assign(forest_cat=FRAME.forest_cat + 0.01)
    off.to_csv(tmp_path / "off.csv", index=False)
    arguments = ["summarize", str(tmp_path / "off.csv"), *TWO, "--out", str(tmp_path / "off.fe")]
    assert cli.main(arguments) == 2
    assert "--normalize divides each row by its sum" in capsys.readouterr().err
    assert cli.main([*arguments, "--normalize", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == NAMES
    assert report(tmp_path / "off.fe", n_resamples=0)["normalized"] is True
