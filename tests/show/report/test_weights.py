"""Reports of rows with weights or copies: in memory, in scans, in one scan, and from summaries."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals.scale import ConfusionSummary
from fastevals.show import cli
from tests.parameters import quick

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 200
RNG = np.random.default_rng(3)
Y = (RNG.random(N) < 0.4).astype(int)
COLUMNS = {
    "y": Y,
    "a": np.round(1 / (1 + np.exp(-RNG.normal(size=N) - Y)), 3),
    "b": np.round(1 / (1 + np.exp(-RNG.normal(size=N) - Y / 2)), 3),
    "w": RNG.integers(0, 4, N),
    "part": RNG.integers(0, 900, N) % 3,
}
ROLES: dict[str, Any] = {"label": "y", "score": ["a", "b"]}
REPEATED = {name: np.repeat(each, COLUMNS["w"]) for name, each in COLUMNS.items()}
WAYS: list[dict[str, Any]] = [
    {"n_resamples": 99},
    {"memory": 2000, "n_resamples": 99},
    {"memory": 2000, "n_resamples": 0},
    {"approximate": True, "n_resamples": 99},
    {"by": "part", "n_resamples": 99},
    {"by": "part", "memory": 2000, "n_resamples": 99},
]


def write(folder: Path, columns: dict[str, Any]) -> str:
    name = str(folder / f"{len(list(folder.iterdir()))}.parquet")
    pq.write_table(pa.table(columns), name)
    return name


def numbers(report: Any) -> dict[str, Any]:
    values: dict[str, Any] = report.to_dict()
    return {name: values[name] for name in ("over", "blocks", "intervals")}


@pytest.mark.cases(2)
@pytest.mark.parametrize("way", quick(WAYS, *(WAYS[k] for k in (0, 2, 3, 5))))
def test_copies_are_repeated_rows(tmp_path: Path, way: dict[str, Any]) -> None:
    ours = fastevals.report(write(tmp_path, COLUMNS), **ROLES, frequency_weight="w", **way)
    theirs = fastevals.report(write(tmp_path, REPEATED), **ROLES, **way)
    assert numbers(ours) == numbers(theirs)
    assert ours.to_dict()["frequency_weight"] == "w"
    assert ours.to_dict()["weight"] is None
    assert "copies     w, " in ours.to_text()


def draw_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fastevals.show.report.intervals, "BUDGET", 10)
    monkeypatch.setattr(fastevals.show.report.intervals, "ROWS_ALWAYS_DRAWN", 0)


@pytest.mark.slow
def test_copies_in_a_frame_are_repeated_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_cells(monkeypatch)
    ours = fastevals.report(COLUMNS, **ROLES, frequency_weight="w")
    assert numbers(ours) == numbers(fastevals.report(REPEATED, **ROLES))
    with pytest.raises(ValueError, match="frequency_weight 'a' must hold whole numbers, the number of copies"):
        fastevals.report(COLUMNS, label="y", score="b", frequency_weight="a")


@pytest.mark.cases(1)
@pytest.mark.parametrize("roles", [{"label": "y", "pred": "c"}, {"target": "a", "pred": "b"}])
def test_copies_of_predictions_are_repeated_rows(roles: dict[str, str]) -> None:
    ours, theirs = (
        fastevals.report(each | {"c": (each["a"] > 0.5).astype(int)}, **roles, by="part", n_resamples=50, **more)
        for each, more in ((COLUMNS, {"frequency_weight": "w"}), (REPEATED, {}))
    )
    drop = ("weight", "frequency_weight")
    values = [{name: each for name, each in one.to_dict().items() if name not in drop} for one in (ours, theirs)]
    assert values[0] == values[1]
    assert ours.to_dict()["frequency_weight"] == "w"


@cache
def block_of_rows() -> Any:
    """Return the report of the weighted rows, which draws rows."""
    return fastevals.report(COLUMNS, **ROLES, sample_weight="w", n_resamples=1999).to_dict()["blocks"][0]


@pytest.mark.slow
@pytest.mark.parametrize("way", [{"memory": 4000, "budget": 10}, {"budget": 10}, {"approximate": True}])
@pytest.mark.parametrize("unit", [1, 3])
def test_weighted_rows_have_intervals_wherever_they_are(
    tmp_path: Path, way: dict[str, Any], unit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if weights are integers, which do not say how many rows there are."""
    true = block_of_rows()
    if "budget" in way:
        draw_cells(monkeypatch)
    options = {name: each for name, each in way.items() if name != "budget"}
    file = write(tmp_path, COLUMNS | {"w": COLUMNS["w"] / unit})
    report = fastevals.report(file, **ROLES, sample_weight="w", **options)
    (block,) = report.to_dict()["blocks"]
    assert block["intervals"]["method"] == "cells"
    for model, expected in zip(block["models"], true["models"], strict=True):
        assert model["metrics"]["roc_auc"] == pytest.approx(expected["metrics"]["roc_auc"], rel=1e-6)
        for name in ("roc_auc", "accuracy", *(["brier_score"] if unit == 1 or "approximate" not in way else [])):
            if model["intervals"][name] is None and unit == 3 and "memory" in way:
                continue  # scans do not sum probabilities with fractional weights
            width = np.diff(expected["intervals"][name])[0]
            np.testing.assert_allclose(model["intervals"][name], expected["intervals"][name], atol=0.15 * width)
    assert bool(block["differences"]) == ("approximate" not in way and (unit == 1 or "memory" not in way))


@pytest.mark.slow
def test_weights_that_are_alike_change_nothing_in_scans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    y = (rng.random(20_000) < 0.3).astype(int)
    a = rng.normal(size=20_000) + y
    b = a + rng.normal(size=20_000) * 0.8
    columns = {"y": y, "a": 1 / (1 + np.exp(-a)), "b": 1 / (1 + np.exp(-b)), "w": np.full(20_000, 9)}
    rows = fastevals.report(columns, **ROLES, sample_weight="w", n_resamples=1999).to_dict()["blocks"][0]
    draw_cells(monkeypatch)
    file = write(tmp_path, columns)
    found = fastevals.report(file, **ROLES, sample_weight="w", memory="300kB").to_dict()["blocks"][0]
    for name, own in rows["differences"][0]["metrics"].items():
        other = found["differences"][0]["metrics"][name]
        assert other["value"] == pytest.approx(own["value"], rel=1e-9)
        np.testing.assert_allclose(other["interval"], own["interval"], atol=0.08 * np.diff(own["interval"])[0])
        assert other["pvalue"] == pytest.approx(own["pvalue"], abs=0.03)


def test_intervals_in_memory_are_of_weighted_rows() -> None:
    """Weights that are all 9 change nothing, however rows are drawn."""
    nines = fastevals.report(COLUMNS | {"w": np.full(N, 9)}, **ROLES, sample_weight="w", n_resamples=999).to_dict()[
        "blocks"
    ][0]
    plain = fastevals.report(COLUMNS, **ROLES, n_resamples=999).to_dict()["blocks"][0]
    for one, other in zip(nines["models"], plain["models"], strict=True):
        widths = [np.diff(each["intervals"]["roc_auc"])[0] for each in (one, other)]
        assert widths[0] == pytest.approx(widths[1], rel=0.1)  # the draws differ


def summarized(folder: Path, columns: dict[str, Any], *options: str) -> str:
    inner = folder / f"{len(list(folder.iterdir()))}"
    inner.mkdir()
    out, file = str(inner / "x.fe"), write(folder, columns)
    assert cli.main(["summarize", file, "--label", "y", "--score", "a", "--score", "b", *options, "--out", out]) == 0
    return out


@pytest.mark.slow
def test_what_was_counted_knows_weights_from_copies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copies, repeated = summarized(tmp_path, COLUMNS, "--frequency-weight", "w"), summarized(tmp_path, REPEATED)
    weighted = summarized(tmp_path, COLUMNS, "--weight", "w")
    ours, theirs = (fastevals.report(file, against=file, n_resamples=99) for file in (copies, repeated))
    assert numbers(ours) == numbers(theirs)
    block = fastevals.report(weighted).to_dict()["blocks"][0]
    assert block["intervals"]["method"] == "cells"
    against = fastevals.report(weighted, against=weighted, n_resamples=99).to_dict()["blocks"][0]["against"]
    assert against[0]["metrics"]["roc_auc"]["value"] == 0
    capsys.readouterr()
    assert cli.main(["report", weighted, copies]) == 2
    assert "summaries must all have weights of rows, or all numbers of copies" in capsys.readouterr().err


def test_both_are_an_error_that_names_the_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, COLUMNS)
    both = ["--weight", "w", "--frequency-weight", "w"]
    for command in (["report"], ["summarize", "--out", str(tmp_path / "x.fe")]):
        assert cli.main([*command, file, "--label", "y", "--score", "a", *both]) == 2
        assert "--weight and --frequency-weight exclude each other" in capsys.readouterr().err
    assert cli.main(["report", file, "--label", "y", "--pred", "y", *both]) == 2
    assert "--weight and --frequency-weight exclude each other" in capsys.readouterr().err
    assert (
        cli.main(["report", file, "--label", "y", "--score", "a", "--frequency-weight", "b", "--memory", "4000"]) == 2
    )
    assert "--frequency-weight 'b' must hold whole numbers, the number of copies of each row" in capsys.readouterr().err


def test_bounds_of_rounded_weights_are_of_all_numbers(tmp_path: Path) -> None:
    columns = COLUMNS | {"w": RNG.random(N) + 0.1}
    (block,) = fastevals.report(write(tmp_path, columns), **ROLES, sample_weight="w", approximate=True).to_dict()[
        "blocks"
    ]
    true = fastevals.report(columns, **ROLES, sample_weight="w", n_resamples=0).to_dict()["blocks"][0]
    for model, expected in zip(block["models"], true["models"], strict=True):
        for name in ("roc_auc", "average_precision", "accuracy", "f1", "matthews"):
            low, high = model["bounds"][name]
            assert low < high < low + 1e-6
            assert low <= expected["metrics"][name] <= high
    json.dumps(block)


def test_a_threshold_that_was_not_named_beforehand_has_bounds(tmp_path: Path) -> None:
    """Counts in few ranges do not determine the rows at any threshold."""
    columns = {"y": Y, "a": RNG.normal(size=N) + Y, "b": RNG.normal(size=N)}
    report = fastevals.report(summarized(tmp_path, columns, "--cells", "4"), threshold=0.123, n_resamples=0)
    models = report.to_dict()["blocks"][0]["models"]
    bounds = [model["bounds"]["accuracy"] for model in models]
    assert bounds[0][0] < np.mean((columns["a"] >= 0.123) == Y) < bounds[0][1]
    widest = max(high - low for low, high in bounds)
    assert f"accuracy at the threshold is known to within {widest:.1e}" in " ".join(report.to_text().split())


def test_files_without_squares_say_why_they_have_no_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:  # as in earlier versions
        patch.setattr("fastevals.scale.summary.MAX_WEIGHT_IN_LIMBS", 0)
        patch.setattr("fastevals.scale.probabilities.MAX_WEIGHT_IN_64_BITS", 0)
        file = summarized(tmp_path, COLUMNS, "--weight", "w")
    report = fastevals.report(file)
    assert report.to_dict()["blocks"][0]["intervals"]["method"] is None
    why = "it was counted with sample_weight, and sums of squared weights, which intervals need, are not known"
    assert why in " ".join(report.to_text().split())
    assert "count the rows again" in report.to_html()
    capsys.readouterr()
    assert cli.main(["report", file, "--against", file]) == 2
    assert "--against x.fe: the data has no intervals: it was counted with --weight" in capsys.readouterr().err


def test_counted_predictions_of_weighted_rows_have_intervals() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    columns = {"y": y, "p": np.where(rng.random(y.size) < 0.7, y, 2 - y), "w": rng.integers(1, 9, y.size)}
    summary = ConfusionSummary()
    summary.update(columns["y"], columns["p"], sample_weight=columns["w"])
    asked: dict[str, Any] = {"n_resamples": 999, "rng": 1}
    (found,) = fastevals.report(summary, **asked).to_dict()["blocks"]
    (expected,) = fastevals.report(columns, label="y", pred="p", sample_weight="w", **asked).to_dict()["blocks"]
    assert found["intervals"]["method"] == "BCa"
    for name, (low, high) in expected["models"][0]["intervals"].items():
        assert found["models"][0]["intervals"][name] == pytest.approx([low, high], abs=0.15 * (high - low))
    summary.update([0], [0], sample_weight=[2**41])
    notes = fastevals.report(summary).to_dict()["blocks"][0]["intervals"]["notes"]
    assert "sums of squared weights, which intervals need, are not known" in notes[0]
