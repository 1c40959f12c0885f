"""The differences between a report's models in each value of --by, and the calibration in each value."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from fastevals import compare_groups, report
from fastevals.show.report import intervals, measure, over_values

RNG = np.random.default_rng(1)
N = 900
Y = RNG.integers(0, 2, N)
REGION = RNG.choice(["east", "north", "south", "west"], N)
A = np.round(1 / (1 + np.exp(1 - 2 * Y - RNG.normal(size=N))), 3)
ROWS = pd.DataFrame(
    {
        "y": Y,
        "a": A,
        "b": np.where(REGION == "west", RNG.random(N), A).round(3),
        "c": (0.9 * A + 0.1 * RNG.random(N)).round(3),
        "region": REGION,
        "branch": RNG.choice([2, 10], N),
        "patient": RNG.integers(0, 200, N),
        "w": RNG.integers(1, 3, N),
    }
)
OPTIONS: dict[str, Any] = {"label": "y", "score": ["a", "b"], "by": "region", "n_resamples": 39}
NUMBERS = ("differences", "confidence_intervals", "adjusted_pvalues", "is_worse", "n_samples")


@pytest.fixture(autouse=True)
def _no_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the intervals of blocks, which test_intervals.py tests."""
    monkeypatch.setattr(measure, "make_intervals", lambda *_, **__: intervals.Intervals())


def compared(found: Any) -> Any:
    """Return the differences over the values of the first column."""
    return found.overs[0].differences


def same(found: Any, expected: Any, rel: float = 1e-12) -> None:
    for name in NUMBERS:
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=rel, abs=1e-14), name


def columns(data: pd.DataFrame, names: str) -> dict[str, Any]:
    return {name: data[name] for name in names}


@pytest.mark.cases(1)
@pytest.mark.parametrize("clusters", [None, "patient"])
def test_differences_are_those_of_compare_groups(clusters: str | None) -> None:
    its = {} if clusters is None else {"clusters": ROWS[clusters]}
    expected = compare_groups(Y, columns(ROWS, "ab"), REGION, **its)["roc_auc"]
    found = compared(report(ROWS, **OPTIONS, groups=clusters))
    assert found.groups.tolist() == expected.groups.tolist()
    assert found.groups[0] == "west"
    same(found, expected)
    assert found.conclusion == expected.conclusion
    several = compared(report(ROWS, **OPTIONS | {"score": ["a", "b", "c"], "confidence_level": 0.9}, groups=clusters))
    same(several, compare_groups(Y, columns(ROWS, "abc"), REGION, confidence_level=0.9, **its)["roc_auc"])
    assert set(several.models) == {"b", "c"}


def test_every_form_has_the_differences_first() -> None:
    found = report(ROWS, **OPTIONS)
    text, its = found.to_text(), compared(found)
    said = "In 1 of 4 segments, b is significantly worse than a by AUC: west ("
    assert 0 < text.index(said) < text.index("differences by region: b minus a, ") < text.index("label      y")
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("region rows positive AUC of a AUC of b"))
    low, high = its.confidence_intervals[0]
    values = its.reference_values[0], its.values[0], its.differences[0], low, high
    counts = [str(its.n_samples[0]), str(its.n_positives[0])]
    assert lines[start + 1].split() == ["west", *counts, *(f"{each:.4f}" for each in values), "<1e-9", "worse"]
    assert [line.split()[0] for line in lines[start + 1 : start + 5]] == its.groups.tolist()
    markdown, page = found.to_markdown(), found.to_html()
    assert markdown.index(said) < markdown.index("**Differences by region**") < markdown.index("**Means**")
    assert page.index(said) < page.index("<h3>Differences by region") < page.index("<h3>Pictures")
    assert "Differences by region" in found.to_latex()
    assert found.to_dict()["over"]["differences"] == its.to_dict()
    frame = found.to_frame("pandas")
    rows = frame[frame["metric"] == "roc_auc(over region)"]
    assert rows["by"].tolist() == its.groups.tolist()
    assert (rows["model"] + rows["reference"]).unique().tolist() == ["ba"]
    assert rows[["value", "pvalue"]].to_numpy() == pytest.approx(np.stack([its.differences, its.adjusted_pvalues], 1))
    assert rows[["low", "high"]].to_numpy() == pytest.approx(its.confidence_intervals)


def test_scans_compare_rows(tmp_path: Any) -> None:
    path = tmp_path / "rows.parquet"
    rows = ROWS.assign(region=ROWS["region"].mask(REGION == "south"))
    rows.to_parquet(path)
    expected, found = compared(report(rows, **OPTIONS)), compared(report(path, **OPTIONS, memory=3000))
    assert found.groups.tolist() == expected.groups.tolist()
    assert None in found.groups
    same(found, expected)


@pytest.mark.slow
def test_scans_compare_joint_cells(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 100)
    path = tmp_path / "rows.parquet"
    ROWS.to_parquet(path)
    options = OPTIONS | {"by": ["region", "branch"], "cross": True, "memory": 3000}
    expected, found = (compared(report(data, **options)) for data in (ROWS, path))
    assert found.groups[:2].tolist() == expected.groups[:2].tolist()
    assert found.differences[:2] == pytest.approx(expected.differences[:2], rel=1e-9)
    assert found.standard_errors[:2] == pytest.approx(expected.standard_errors[:2], rel=0.02)
    clustered = report(path, **OPTIONS, groups="patient", memory=3000)
    assert clustered.overs[0].why_not_compared == "the clustered rows of 4 values are not in memory; give more memory"


def test_copies_are_rows_and_weights_are_refused() -> None:
    repeated = ROWS.loc[ROWS.index.repeat(ROWS["w"])]
    same(compared(report(ROWS, **OPTIONS, frequency_weight="w")), compared(report(repeated, **OPTIONS)))
    weighted = report(ROWS, **OPTIONS, sample_weight="w")
    assert compared(weighted) is None
    note = weighted.to_dict()["over"]["intervals"]["notes"][1]
    assert note.startswith("models are not compared by region: DeLong's variance is not valid for weighted rows")


def test_one_scan_says_why_models_are_not_compared(tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    ROWS.to_csv(path)
    text = " ".join(report(path, **OPTIONS, approximate=True).to_text().split())
    assert "models are not compared by region: one scan counts each model's scores separately" in text
    assert "no interval over values of region: DeLong's variance needs the rows" in text


@pytest.mark.cases(1)
@pytest.mark.parametrize("weight", [None, "w"])
def test_predictions_are_compared_by_accuracy_or_squared_error(weight: str | None) -> None:
    rows = ROWS.assign(p=ROWS["a"] > 0.5, q=ROWS["b"] > 0.5, y=Y > 0)
    options = {"by": "region", "pred": ["p", "q"], "n_resamples": 39, "sample_weight": weight}
    its = {} if weight is None else {"sample_weight": rows[weight]}
    found = report(rows, label="y", **options)
    same(compared(found), compare_groups(Y > 0, columns(rows, "pq"), REGION, "accuracy", **its)["accuracy"], 1e-5)
    assert "q is significantly worse than p by accuracy: west" in " ".join(found.to_text().split())
    assert found.to_dict()["over"]["differences"]["metric"] == "accuracy"
    numbers = report(ROWS, target="y", **options | {"pred": ["a", "b"]})
    expected = compare_groups(Y.astype(float), columns(ROWS, "ab"), REGION, "mean_squared_error", **its)
    same(compared(numbers), expected["mean_squared_error"])


def test_many_values_are_listed_as_far_as_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(over_values, "MOST_BLOCKS", 20)
    users = ROWS.assign(user=np.arange(N) % 30)
    found = report(users, **OPTIONS | {"by": "user"})
    assert not found.blocks
    assert len(compared(found)) == 30
    assert "\n... 10 more differences, which the JSON has\n" in found.to_text()
    assert "10 more differences, which the JSON has" in found.to_markdown()
    assert found.to_html().count("<td") > 30 * 5


def test_without_intervals_or_a_second_model_nothing_is_compared() -> None:
    for options in ({"n_resamples": 0}, {"score": "a"}):
        found = report(ROWS, **OPTIONS | options)
        assert compared(found) is None
        assert "segments" not in found.to_text()


def test_values_of_one_class_are_listed_without_a_test() -> None:
    rows = ROWS.assign(y=np.where(REGION == "east", 1, Y))
    found = report(rows, **OPTIONS)
    assert compared(found).groups[-1] == "east"
    assert "the metric is undefined on these rows (east)" in " ".join(found.to_text().split())


# Calibration ----------------------------------------------------------------------------------------------------------


def test_the_overview_has_the_calibration_of_each_value() -> None:
    found = report(ROWS, **OPTIONS)
    over = found.to_dict()["over"]
    blocks = [[model["calibration"] for model in block["models"]] for block in found.to_dict()["blocks"]]
    for k, model in enumerate(over["models"]):
        expected = [{name: block[k][name] for name in ("predicted", "observed", "ratio")} for block in blocks]
        assert model["calibration"] == expected
    lines = found.to_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.split()[:2] == ["region", "pred/obs"])
    ratios = {line.split()[0]: line for line in lines[start + 1 : start + 5]}
    least = [min(block[k]["ratio"]["pvalue"] for k in (0, 1)) for block in blocks]
    assert list(ratios) == [over["values"][k] for k in np.argsort(least, kind="stable")]
    for value, block in zip(over["values"], blocks, strict=True):
        for each in block:
            low, high = each["ratio"]["interval"]
            assert f"{each['ratio']['value']:.3f} [{low:.3f}, {high:.3f}]" in ratios[value]
    assert "pred/obs of b" in found.to_html()
    assert "pred/obs of b" in found.to_markdown()


def test_scores_that_are_no_probabilities_have_no_calibration_by_value() -> None:
    found = report(ROWS.assign(b=ROWS["b"] * 3), **OPTIONS | {"n_resamples": 0})
    models = found.to_dict()["over"]["models"]
    assert models[1]["calibration"] is None
    assert models[0]["calibration"][0]["ratio"]["value"] > 0
    text = found.to_text()
    assert "region pred/obs of a\n" in text
    assert "pred/obs of b" not in text
