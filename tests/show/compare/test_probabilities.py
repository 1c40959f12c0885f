"""`fastevals compare` of probabilities of classes: the numbers of `compare_rankings` and `delong`, in all forms."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fastevals
from fastevals import adjust_pvalues, compare_rankings, delong, delong_test, metric
from fastevals.scale import ClassScoresSummary
from fastevals.show import cli
from fastevals.show.compare.probabilities import ProbabilitiesComparison

CLASSES = ["owl", "cat", "dog"]  # not in alphabetical order
RNG = np.random.default_rng(5)
N = 240
PLACES = RNG.integers(0, 3, N)
Y = np.array(CLASSES)[PLACES]
FEW: Any = {"n_resamples": 59}


def probabilities(shift: float, n_classes: int = 3) -> np.ndarray:
    logits = RNG.normal(size=(N, n_classes))
    logits[np.arange(N), PLACES] += shift
    powers = np.exp(logits)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


MODELS = {"forest": probabilities(2), "boost": probabilities(1.8), "linear": probabilities(0.5)}
FRAME = pd.DataFrame(
    {"y": Y, "patient": np.arange(N) // 3}
    | {f"{name}_{label}": matrix[:, k] for name, matrix in MODELS.items() for k, label in enumerate(CLASSES)}
)
PATTERNS = [f"{name}_*" for name in MODELS]
GIVEN = ["--label", "y", *(f"--probabilities={each}" for each in PATTERNS)]


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("rows.csv", index=False)
    return "rows.csv"


def printed(capsys: Any, *arguments: str) -> str:
    status = cli.main(["compare", *arguments, "--resamples", "59", "--quiet"])
    out, err = capsys.readouterr()
    assert (status, [line for line in err.splitlines() if not line.startswith("written to")]) == (0, [])
    return str(out)


def error(capsys: Any, *arguments: str) -> str:
    status = cli.main(["compare", *arguments])
    out, err = capsys.readouterr()
    assert (status, out, err.count("\n")) == (2, "", 1)
    return str(err)


def compared(models: dict[str, Any] | None = None, y: Any = Y, **options: Any) -> ProbabilitiesComparison:
    options = {"classes": CLASSES, **FEW, **options}
    made = fastevals.compare({"y": y}, label="y", probabilities=models or MODELS, **options)
    assert isinstance(made, ProbabilitiesComparison)
    return made


# Numbers --------------------------------------------------------------------------------------------------------------


def test_differences_are_those_of_compare_rankings(rows: str, capsys: Any) -> None:
    found = json.loads(printed(capsys, rows, *GIVEN, "--format", "json"))
    specs = {"roc_auc": metric("roc_auc"), "AUC micro": metric("roc_auc", average="micro"), "log_loss": "log_loss",
             "F1 (macro)": metric("f1", average="macro"), "hand_till": "hand_till"}  # fmt: skip
    expected = compare_rankings(Y, MODELS, metrics=specs, labels=CLASSES, rng=0, **FEW)
    assert (found["compared"], found["classes"], found["n_samples"]) == ("probabilities", CLASSES, N)
    assert {*specs} < {*found["metrics"]}
    for name, of_metric in expected.items():
        its = found["metrics"][name]
        for model, estimate in of_metric.estimates.items():
            assert its["estimates"][model]["value"] == pytest.approx(estimate.value, rel=1e-12)
        for mine, other in zip(its["differences"], of_metric.differences, strict=True):
            assert (mine["model"], mine["reference"]) == (other.model, other.reference)
            assert mine["pvalue"] == pytest.approx(other.pvalue)
            assert mine["confidence_interval"] == pytest.approx(list(other.confidence_interval))


@pytest.mark.cases(1)
@pytest.mark.parametrize(("average", "key"), [("macro", "roc_auc"), ("hand_till", "hand_till")])
def test_tests_are_delongs(average: Any, key: str) -> None:
    made = compared(confidence_level=0.9)
    result = delong(Y, MODELS, average=average, labels=CLASSES)
    equality, pairs, tests = made.delong[average]
    assert equality is not None
    assert equality.pvalue == result.equality_test().pvalue
    alone = delong_test(Y, MODELS["forest"], MODELS["boost"], average=average, labels=CLASSES, confidence_level=0.9)
    assert tests[0].confidence_interval == pytest.approx(alone.confidence_interval)
    assert pairs.effect[0] == pytest.approx(made.models[key].differences[0].value)
    np.testing.assert_array_equal(pairs.pvalue, adjust_pvalues([each.pvalue for each in tests], correction="holm"))
    assert [pairs.names[k] for k in pairs.pairs[0]] == ["forest", "boost"]


def test_a_reference_limits_the_pairs() -> None:
    made = compared(reference="linear")
    names = [(each.model, each.reference) for each in made.models["log_loss"].differences]
    assert names == [("forest", "linear"), ("boost", "linear")]
    for each in made.delong.values():
        assert [tuple(each.pairs.names[k] for k in pair) for pair in each.pairs.pairs] == names
    text = " ".join(made.to_text().split())
    assert "reference linear; each difference is another model minus linear" in text
    assert "forest - boost" not in text
    assert made.to_dict()["reference"] == "linear"


@pytest.mark.slow
def test_the_report_has_the_same_numbers() -> None:
    options: Any = {"label": "y", "probabilities": PATTERNS, **FEW}
    made, report = fastevals.compare(FRAME, **options), fastevals.report(FRAME, **options)
    (block,) = report.blocks
    assert isinstance(made, ProbabilitiesComparison)
    assert [each.metrics for each in made.block.models] == [each.metrics for each in block.models]
    assert made.block.intervals is not None
    assert block.intervals is not None
    assert made.block.intervals.differences == block.intervals.differences
    assert made.block.intervals.models == block.intervals.models


def test_clusters_have_intervals_but_no_test_of_independent_rows(rows: str, capsys: Any) -> None:
    found = json.loads(printed(capsys, rows, *GIVEN, "--group", "patient", "--format", "json"))
    assert (found["delong"], found["group"]) == ({}, "patient")
    expected = compare_rankings(
        Y, MODELS, metrics="log_loss", labels=CLASSES, groups=FRAME["patient"].to_numpy(), rng=0, **FEW
    )["log_loss"].differences[0]
    assert found["metrics"]["log_loss"]["differences"][0]["confidence_interval"] == pytest.approx(
        list(expected.confidence_interval)
    )
    text = " ".join(printed(capsys, rows, *GIVEN, "--group", "patient").split())
    assert "replicates of clusters of patient" in text
    assert "DeLong's test treats rows as independent, so it is left out for clusters: use the intervals." in text
    assert "significant difference at level" not in text


# Inputs ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_columns_arrays_and_float32_agree(rows: str) -> None:
    by_array = compared()
    by_column = fastevals.compare(rows, label="y", probabilities=PATTERNS, **FEW)
    by_list = fastevals.compare(
        {"y": Y, **{name: matrix.tolist() for name, matrix in MODELS.items()}}, label="y",
        probabilities=[*MODELS], classes=CLASSES, **FEW,
    )  # fmt: skip
    values = [each.to_dict()["metrics"] for each in (by_array, by_column, by_list)]
    assert values[0] == values[1] == values[2]
    single = compared({name: matrix.astype(np.float32) for name, matrix in MODELS.items()})
    assert single.models["roc_auc"].estimates["forest"].value == pytest.approx(
        by_array.models["roc_auc"].estimates["forest"].value, abs=1e-6
    )


def test_the_order_of_columns_and_rows_does_not_matter() -> None:
    order = RNG.permutation(N)
    turned = FRAME[[*reversed(FRAME.columns)]].iloc[order]
    options: Any = {"label": "y", "probabilities": PATTERNS, "classes": CLASSES, **FEW}
    made, other = (fastevals.compare(each, **options) for each in (FRAME, turned))
    for average in ("macro", "hand_till"):
        np.testing.assert_allclose(made.delong[average].pairs.statistic, other.delong[average].pairs.statistic)


def test_sums_other_than_one_are_refused_or_divided() -> None:
    with pytest.raises(ValueError, match=r"rows that add up to 1.*normalize=True"):
        compared({name: 2 * matrix / 3 for name, matrix in MODELS.items()})
    divided = compared({name: 2 * matrix / 3 for name, matrix in MODELS.items()}, normalize=True)
    assert divided.to_dict()["normalized"]
    assert "each row's probabilities are divided by their sum" in " ".join(divided.to_text().split())
    assert divided.models["log_loss"].estimates["boost"].value == pytest.approx(
        compared().models["log_loss"].estimates["boost"].value
    )


def test_ordered_classes_have_the_ranked_probability_score() -> None:
    assert "ranked_probability_score" not in compared().models
    made = compared(ordered=True)
    assert made.models["ranked_probability_score"].differences[0].value != 0
    assert made.to_dict()["ordered"]
    assert "3 ordered classes" in made.to_text()


def test_a_class_without_rows_leaves_metrics_of_rows() -> None:
    models = {name: np.pad(matrix * 0.9, ((0, 0), (0, 1)), constant_values=0.1) for name, matrix in MODELS.items()}
    made = compared(models, classes=[*CLASSES, "yak"])
    text = " ".join(made.to_text().split())
    assert "no rows of yak: " in text
    assert "forest has the lowest log loss" in text or "forest's log loss is lower" in text
    assert "differ significantly (DeLong" not in text
    assert np.isnan(made.delong["macro"].pairs.pvalue).all()
    assert made.to_dict()["metrics"]["roc_auc"]["estimates"]["forest"]["value"] is None
    assert made.to_html()
    assert "pvalues" not in [name for name, _ in made.panels()]


def test_a_class_of_one_row_has_no_test_but_values() -> None:
    y = np.where(np.arange(N) == 0, "owl", np.where(Y == "owl", "cat", Y))
    made = compared(y=y)
    assert np.isnan(made.delong["hand_till"].pairs.pvalue).all()
    assert np.isfinite(made.models["roc_auc"].estimates["forest"].value)
    assert "fewer than 30 rows of owl (1)" in " ".join(made.to_text().split())


def test_equal_models_and_hard_predictions() -> None:
    made = compared({"one": MODELS["forest"], "two": MODELS["forest"].copy()})
    assert made.delong["macro"].pairs.pvalue.tolist() == [1]
    assert made.models["log_loss"].differences[0].pvalue == 1
    hard = np.eye(3)[MODELS["forest"].argmax(axis=1)]
    text = " ".join(compared({"hard": hard, "soft": MODELS["forest"]}).to_text().split())
    assert "all probabilities of hard are 0 or 1" in text
    assert "log loss of hard is infinite" in text


def test_two_classes() -> None:
    models = {name: matrix[:, :2] / matrix[:, :2].sum(axis=1, keepdims=True) for name, matrix in MODELS.items()}
    y = np.where(PLACES == 0, "no", "yes")
    made = compared(models, y=y, classes=["no", "yes"])
    assert made.delong["macro"].pairs.effect == pytest.approx(made.delong["hand_till"].pairs.effect)
    assert "2 classes" in made.to_text()


def test_rows_without_probabilities_are_left_out_for_all_models() -> None:
    gaps = FRAME.copy()
    gaps.loc[4, "boost_cat"] = np.nan
    gaps.loc[7, "y"] = None
    options: Any = {"label": "y", "probabilities": PATTERNS, **FEW}
    with pytest.raises(ValueError, match=r"boost_cat.*on_invalid='drop'"):
        fastevals.compare(gaps, on_missing_label="drop", **options)
    found = fastevals.compare(gaps, on_missing_label="drop", on_invalid="drop", **options).to_dict()
    assert (found["n_samples"], found["n_dropped"]) == (N - 2, 2)
    assert any("of boost only is left out for all models" in each for each in found["cautions"])


# Forms ----------------------------------------------------------------------------------------------------------------


def test_text_says_which_model_is_better(rows: str, capsys: Any) -> None:
    text = printed(capsys, rows, *GIVEN)
    assert max(map(len, text.splitlines())) <= 120
    words = " ".join(text.split())
    assert "forest - linear" in text
    assert "differ significantly (DeLong's test, Holm-adjusted for 3 pairs)." in words
    assert "DeLong's test of the macro AUC (p adjusted: holm, intervals are not)\nall equal: chi-square(2) = " in text
    assert "DeLong's test of M (p adjusted" in text
    assert "\n* significant difference at level 0.05\n" in text
    assert printed(capsys, rows, *GIVEN) == text
    assert printed(capsys, rows, *GIVEN, "--seed", "1") != text


def test_two_models_have_the_conclusion_of_their_test() -> None:
    made = compared({name: MODELS[name] for name in ("forest", "linear")})
    text = " ".join(made.to_text().split())
    assert "The macro AUC of forest is significantly higher than the macro AUC of linear: difference 0." in text
    assert "M of forest is significantly higher than M of linear" in text
    assert "all equal" not in text


@pytest.mark.slow
def test_pages_markdown_and_folders(rows: str, capsys: Any) -> None:
    markdown = printed(capsys, rows, *GIVEN, "--format", "markdown", "--html", "page.html")
    assert "**DeLong's test of M** all equal: chi-square(2)" in markdown
    page = Path("page.html").read_text()
    assert "DeLong&#39;s test of the macro AUC" in page or "DeLong's test of the macro AUC" in page
    assert shlex.quote("--probabilities=forest_*") in page.replace("&#39;", "'")
    printed(capsys, rows, *GIVEN, "--out", "folder")
    assert {*map(str, Path("folder").iterdir())} == {
        f"folder/{name}"
        for name in ("compare.json", "compare.txt", "intervals.png", "differences.png", "pvalues.png", "null.png")
    }


def test_pairs_that_differ_are_named_unless_all_do() -> None:
    equal = {"one": MODELS["forest"], "two": MODELS["forest"], "three": MODELS["linear"]}
    words = " ".join(compared(equal).to_text().split())
    assert "The macro AUCs of one and three and two and three differ significantly (DeLong's test" in words
    far = {"one": MODELS["forest"], "two": MODELS["forest"][:, [0, 2, 1]], "three": MODELS["forest"][:, [1, 2, 0]]}
    words = " ".join(compared(far).to_text().split())
    assert "The values of M of all 3 compared pairs differ significantly (DeLong's test" in words
    none = {"one": MODELS["forest"], "two": MODELS["forest"], "three": MODELS["forest"]}
    words = " ".join(compared(none).to_text().split())
    assert "No significant difference between macro AUCs (DeLong's test, Holm-adjusted for 3 pairs)." in words


def test_rows_are_those_of_the_comparison() -> None:
    made = compared()
    assert made.to_frame().equals(made.models.to_frame())


@pytest.mark.slow
def test_many_models_show_the_pairs_of_smallest_p() -> None:
    models = {f"model {k}": probabilities(k / 6) for k in range(11)}
    text = compared(models, n_resamples=19).to_text()
    assert text.count("... 10 more pairs, with equal or larger p: JSON has all\n") == 2


# Errors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*GIVEN, "--pred", "y"], "--pred goes with predicted classes, not --probabilities"),
        ([*GIVEN, "--pos-label", "owl"], "--pos-label goes with predicted classes, not --probabilities"),
        ([*GIVEN, "--method", "exact"], "--method goes with predicted classes, not --probabilities"),
        ([*GIVEN, "--by", "patient"], "--by goes with results; this is a comparison of predictions"),
        (GIVEN[:3], "--probabilities must be given twice or more: it names the columns of a model's probabilities"),
        (GIVEN[2:], "--label is missing: it names the true classes, for --probabilities"),
        (["--label", "y", "--pred", "a", "--pred", "b", "--normalize"], "--normalize goes with probabilities of cl"),
        (["--classes", "a,b"], "--classes goes with probabilities of classes, which need --label"),
        ([*GIVEN, "--classes", "owl,cat"], "--probabilities 'forest_*' has 3 columns, but there are 2 classes"),
        ([*GIVEN, "--reference", "tree"], "--reference must be one of 'forest', 'boost', 'linear'; got 'tree'"),
        ([*GIVEN, "--probabilities", "tree_*"], "--probabilities: no column matches 'tree_*'"),
        ([*GIVEN, "--probabilities", "forest_*"], "--probabilities must name each model once, got 'forest_*' twice"),
        ([*GIVEN, "--resamples", "0"], "--resamples must be an integer from 1"),
        ([*GIVEN, "--confidence", "95"], "--confidence must be in (0, 1), got 95"),
        ([*GIVEN, "--group", "gone"], "--group 'gone'"),
    ],
)
def test_errors(rows: str, capsys: Any, arguments: list[str], message: str) -> None:
    assert message in error(capsys, rows, *arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probabilities": "forest_*"}, "probabilities must be given twice or more"),
        ({"probabilities": {"a": MODELS["forest"]}}, "probabilities must be given twice or more"),
        ({"probabilities": 3}, "probabilities must be a pattern such as"),
        ({"probabilities": [3, 4]}, "probabilities must be a pattern such as"),
    ],
)
def test_errors_of_calls(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fastevals.compare(FRAME, label="y", **options)


@pytest.mark.parametrize("data", [ClassScoresSummary([0, 1]), "day.fe"])
@pytest.mark.parametrize("models", [{"pred": ["a", "b"]}, {"probabilities": ["a_*", "b_*"]}])
def test_summaries_have_no_pairs(data: Any, models: Any) -> None:
    with pytest.raises(ValueError, match="data must be rows, which pair the models, got a summary"):
        fastevals.compare(data, label="y", **models)
