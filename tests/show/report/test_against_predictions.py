"""Reports on predicted classes and numbers against other rows: the unpaired bootstrap by every door."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import ConfusionMatrix, bootstrap_unpaired
from fastevals.show import cli
from fastevals.show.predicted import CLASS_METRICS, NUMBER_METRICS, POSITIVE_METRICS
from fastevals.show.report import measure_predictions

pa = pytest.importorskip("pyarrow")
from pyarrow import csv, parquet  # noqa: E402

Columns = dict[str, Any]


def day(number: int, n: int = 240, classes: tuple[str, ...] = ("cat", "dog", "owl")) -> Columns:
    rng = np.random.default_rng(number)
    names = np.array(classes)
    animal, target = names[rng.integers(0, len(names), n)], rng.normal(10, 3, n).round(2)
    guesses = {
        name: np.where(rng.random(n) < share - 0.1 * number, animal, names[rng.integers(0, len(names), n)])
        for name, share in (("p", 0.8), ("q", 0.7))
    }
    sick = (rng.random(n) < 0.4).astype(int)
    return {
        "animal": animal, **guesses, "sick": sick, "test": np.where(rng.random(n) < 0.8, sick, 1 - sick), "t": target,
        "a": target + rng.normal(0.3 * number, 1, n).round(2), "b": target + rng.normal(0, 2, n).round(2),
        "g": rng.integers(0, 2 + number, n), "c": rng.integers(0, 40, n), "w": rng.integers(1, 4, n),
    }  # fmt: skip


TODAY, YESTERDAY = day(1), day(2)
KINDS: dict[str, tuple[dict[str, Any], Any]] = {
    "classes": ({"label": "animal", "pred": ["p", "q"]}, CLASS_METRICS),
    "positives": ({"label": "sick", "pred": ["test"]}, POSITIVE_METRICS),
    "numbers": ({"target": "t", "pred": ["a", "b"]}, NUMBER_METRICS),
}
FEW = {"n_resamples": 39}


def of(report: Any, block: int = 0) -> dict[str, dict[str, Any]]:
    """Return the differences of a block by model."""
    return {pair["model"]: pair["metrics"] for pair in report.to_dict()["blocks"][block].get("against", [])}


def truth(roles: dict[str, Any]) -> str:
    return str(roles.get("label", roles.get("target")))


@pytest.mark.cases(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("option", [None, "sample_weight", "groups"])
def test_differences_are_those_of_the_unpaired_bootstrap(kind: str, option: str | None) -> None:
    roles, metrics = KINDS[kind]
    column = {"sample_weight": "w", "groups": "c"}.get(option or "")
    options = {} if option is None else {option: column}
    report = fastevals.report(TODAY, against=YESTERDAY, **roles, **options, **FEW)
    sides = TODAY, YESTERDAY
    both = {} if option is None else {option: [side[column] for side in sides]}
    for model in roles["pred"]:
        pairs = [(side[truth(roles)], side[model]) for side in sides]
        expected = bootstrap_unpaired(*pairs, metrics, rng=0, **both, **FEW)
        found = of(report)[model]
        assert list(found) == list(metrics)
        for name, each in expected.items():
            assert found[name]["value"] == pytest.approx(each.value, rel=1e-12)
            assert found[name]["interval"] == pytest.approx(list(each.confidence_interval), rel=1e-9)
            assert found[name]["pvalue"] == each.pvalue


@pytest.mark.slow
def test_copies_of_rows_are_repeated_rows() -> None:
    repeated = [{name: np.repeat(each, side["w"]) for name, each in side.items()} for side in (TODAY, YESTERDAY)]
    for roles, _ in KINDS.values():
        copies = fastevals.report(TODAY, against=YESTERDAY, frequency_weight="w", **roles, **FEW)
        assert of(copies) == of(fastevals.report(repeated[0], against=repeated[1], **roles, **FEW))


@pytest.mark.cases(1)
@pytest.mark.parametrize("kind", KINDS)
def test_each_value_is_compared_with_the_same_value(kind: str) -> None:
    roles, _ = KINDS[kind]
    report = fastevals.report(TODAY, against=YESTERDAY, by="g", **roles, **FEW)
    found = report.to_dict()
    assert found["against"]["only_in_against"] == [3]
    for place, value in enumerate((0, 1, 2)):
        parts = [{name: each[side["g"] == value] for name, each in side.items()} for side in (TODAY, YESTERDAY)]
        alone = fastevals.report(parts[0], against=parts[1], **roles, **FEW)
        assert of(report, place) == of(alone)
        assert found["blocks"][place]["compared_with"]["n_samples"] == len(parts[1]["t"])
    whole = fastevals.report(TODAY, against=YESTERDAY, **roles, **FEW).to_dict()["blocks"][0]
    assert found["whole"]["against"] == whole["against"]
    assert "3 = g" not in report.to_text()
    assert "unpaired" in report.to_text()


def test_every_door_has_the_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, columns in (("today.csv", TODAY), ("monday.parquet", YESTERDAY)):
        path = tmp_path / name
        (csv.write_csv if path.suffix == ".csv" else parquet.write_table)(pa.table(columns), path)
    roles = KINDS["classes"][0]
    words = [word for model in roles["pred"] for word in ("--pred", model)]
    command = ["report", str(tmp_path / "today.csv"), "--label", "animal", *words, "--resamples", "39"]
    command += ["--against", str(tmp_path / "monday.parquet"), "--group", "c"]
    assert cli.main([*command, "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    report = fastevals.report(TODAY, against=YESTERDAY, groups="c", **roles, **FEW)
    assert printed["blocks"][0]["against"][0]["metrics"] == report.to_dict()["blocks"][0]["against"][0]["metrics"]
    assert (printed["against"]["data"], printed["against"]["n_positives"]) == ("monday.parquet", None)
    assert cli.main(command) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "against monday.parquet: 240 rows intervals" in text
    assert "p's F1 (macro) is higher than in monday.parquet by" in text
    assert "Differences from other rows have separate intervals and p-values" in text
    assert "p - p in other rows" in report.to_markdown()
    assert "Against other rows" in report.to_html()
    frame = report.to_frame()
    row = frame[(frame["reference"] == "p in other rows") & (frame["metric"] == "accuracy")].iloc[0]
    assert row["value"] == of(report)["p"]["accuracy"]["value"]


def test_averages_over_other_classes_are_not_compared() -> None:
    fewer = day(2, classes=("cat", "dog"))
    report = fastevals.report(TODAY, against=fewer, **KINDS["classes"][0], **FEW)
    assert list(of(report)["p"]) == ["accuracy", "matthews", "cohen_kappa"]
    said = " ".join(report.to_text().split())
    assert "averages over classes are not compared, because the classes differ (only in the data: 'owl')" in said
    assert "p's accuracy" in said.split("label animal")[0].split("in other rows")[0]
    compared = report.to_dict()["blocks"][0]["compared_with"]
    assert compared["why_fewer"].startswith("averages over classes are not compared")
    with pytest.raises(ValueError, match=r"against: it has the classes 'ant', 'bee', and the data has"):
        fastevals.report(TODAY, against=day(2, classes=("ant", "bee")), **KINDS["classes"][0], **FEW)
    with pytest.raises(ValueError, match="against: "):
        fastevals.report(TODAY, against={**YESTERDAY, "sick": YESTERDAY["g"]}, **KINDS["positives"][0], **FEW)


def test_a_value_without_positives_has_no_such_differences() -> None:
    today = {**TODAY, "sick": TODAY["sick"] * (TODAY["g"] > 0), "test": TODAY["test"] * (TODAY["g"] > 0)}
    report = fastevals.report(today, against=YESTERDAY, by="g", **KINDS["positives"][0], **FEW)
    assert np.isfinite(of(report, 0)["test"]["accuracy"]["value"])
    assert of(report, 0)["test"].get("recall", {"value": None})["value"] is None
    assert np.isfinite(of(report, 1)["test"]["recall"]["value"])


def test_errors_that_one_side_lacks_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    roles, metrics = KINDS["numbers"]
    zero = {**YESTERDAY, "t": np.where(np.arange(240) == 5, 0.0, YESTERDAY["t"])}
    assert list(of(fastevals.report(TODAY, against=zero, **roles, **FEW))["a"]) == [
        name for name in metrics if name != "mean_absolute_percentage_error"
    ]
    monkeypatch.setattr(measure_predictions, "MOST_SORTED", 200)
    assert "median_absolute_error" not in of(fastevals.report(TODAY, against=YESTERDAY, **roles, **FEW))["a"]


@pytest.mark.slow
def test_large_data_have_fewer_replicates_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    roles, _ = KINDS["numbers"]
    monkeypatch.setattr("fastevals.show.report.intervals.BUDGET_WITHOUT_CELLS", 240 * 2 * 300)
    larger = day(2, 360)
    report = fastevals.report(TODAY, against=larger, **roles)
    assert of(report) == of(fastevals.report(TODAY, against=larger, n_resamples=200, **roles))


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (TODAY, {"n_resamples": 0}, "against needs replicates: n_resamples=0 leaves nothing to compare"),
        (TODAY, {"trend": True, "by": "g"}, "trend and against exclude each other"),
        (TODAY, {"against": {"animal": YESTERDAY["animal"]}}, "against: .*'p'"),
        (TODAY, {"against": ConfusionMatrix([[3, 1], [2, 4]])}, "against: it has counts, and predictions are compared"),
        (TODAY, {"against": "nothing.fe"}, "against nothing.fe: it has counts"),
        (TODAY, {"by": "c", "against": {**YESTERDAY, "c": YESTERDAY["c"] + 100}}, "have no value of 'c' in common"),
    ],
)
def test_what_can_not_be_compared_is_said(data: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fastevals.report(data, **{"label": "animal", "pred": "p", "against": YESTERDAY, **FEW, **options})


def test_counts_of_predictions_are_not_compared() -> None:
    with pytest.raises(ValueError, match="against compares rows of predictions, and data is a ConfusionMatrix: call"):
        fastevals.report(ConfusionMatrix([[3, 1], [2, 4]]), against=ConfusionMatrix([[3, 1], [2, 4]]))
