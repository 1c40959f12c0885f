"""Reports of predicted classes and numbers: metrics of matrices and errors, with intervals from one bootstrap."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import ConfusionMatrix, bootstrap, compare_predictions, metric, regression_metrics
from fastevals.scale import ConfusionSummary, TargetSummary
from fastevals.show import cli

N = 400
CLASSES = np.array(["cat", "dog", "owl"])


def class_columns(n: int = N, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    true = rng.choice(CLASSES, n, p=[0.5, 0.3, 0.2])
    columns: dict[str, Any] = {"y": true}
    for name, share in (("old", 0.5), ("new", 0.3)):
        columns[name] = np.where(rng.random(n) < share, rng.choice(CLASSES, n), true)
    return columns | {"w": rng.integers(0, 4, n), "g": rng.integers(0, 4, n), "patient": np.arange(n) // 4}


def number_columns(n: int = N, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    true = rng.gamma(2.0, 50.0, n)
    columns: dict[str, Any] = {"y": true, "a": true + rng.normal(0, 20, n), "b": true * rng.lognormal(0, 0.3, n)}
    return columns | {"w": rng.integers(0, 4, n), "g": rng.integers(0, 4, n), "patient": np.arange(n) // 4}


def quiet_report(*args: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fastevals.report(*args, **{"n_resamples": 0, **options})


# Numbers --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, "w"])
def test_metrics_of_classes_are_those_of_the_matrix(weight: str | None) -> None:
    columns = class_columns()
    found = quiet_report(columns, label="y", pred=["old", "new"], sample_weight=weight).to_dict()
    weights = None if weight is None else columns[weight]
    for model in found["blocks"][0]["models"]:
        matrix = ConfusionMatrix.from_predictions(columns["y"], columns[model["name"]], sample_weight=weights)
        assert model["confusion"] == matrix.counts.tolist()
        assert model["labels"] == CLASSES.tolist()
        assert model["metrics"]["accuracy"] == matrix.accuracy()
        assert model["metrics"]["F1 (macro)"] == matrix.f_score(average="macro")
        assert model["metrics"]["matthews"] == matrix.matthews()
        assert model["classes"]["recall"]["values"] == matrix.recall(average=None).tolist()
    assert found["blocks"][0]["best"]["accuracy"] == ["new"]


def test_of_two_classes_one_is_positive() -> None:
    columns = class_columns()
    two = {name: np.where(columns[name] == "cat", "cat", "other") for name in ("y", "old")}
    found = quiet_report(two, label="y", pred="old", pos_label="cat").to_dict()
    matrix = ConfusionMatrix.from_predictions(two["y"], two["old"], pos_label="cat")
    assert found["pos_label"] == "cat"
    assert found["blocks"][0]["models"][0]["metrics"]["precision"] == matrix.precision()
    assert "--pos-label" not in quiet_report(two, label="y", pred="old").to_text()
    said = " ".join(quiet_report(two, label="y", pred="old").to_text().split())
    assert "name the positive class with pos_label for its precision, recall and F1" in said


@pytest.mark.parametrize("weight", [None, "w"])
def test_metrics_of_numbers_are_those_of_errors(weight: str | None) -> None:
    columns = number_columns()
    found = quiet_report(columns, target="y", pred=["a", "b"], sample_weight=weight).to_dict()
    weights = None if weight is None else columns[weight]
    for model in found["blocks"][0]["models"]:
        errors = regression_metrics(columns["y"], columns[model["name"]], sample_weight=weights)
        for name in ("root_mean_squared_error", "mean_absolute_error", "median_absolute_error", "r2"):
            assert model["metrics"][name] == pytest.approx(getattr(errors, name), rel=1e-14)


def test_a_model_is_measured_as_if_it_were_alone() -> None:
    rows = {"y": ["a", "b"] * 50, "A": ["a", "b"] * 50, "B": ["a", "b"] * 49 + ["a", "?"]}
    report = quiet_report(rows, label="y", pred=["A", "B"], n_resamples=99)
    both, alone = report.to_dict(), quiet_report(rows, label="y", pred="A", n_resamples=99).to_dict()
    for found in (both, alone):
        model = found["blocks"][0]["models"][0]
        assert (model["metrics"]["F1 (macro)"], model["metrics"]["balanced_accuracy"]) == (1.0, 1.0)
        assert model["labels"] == ["a", "b"]
    assert both["blocks"][0]["models"][1]["labels"] == ["?", "a", "b"]
    assert both["blocks"][0]["best"]["F1 (macro)"] == ["A"]
    intervals = [model["classes"]["recall"]["intervals"] for model in both["blocks"][0]["models"]]
    assert (intervals[0][0], intervals[1][0]) == ([1.0, 1.0], None)
    assert "A has the highest F1 (macro), 1.000" in report.to_html()


def test_relative_errors_are_left_out_where_a_target_is_zero() -> None:
    columns = number_columns()
    columns["y"][3] = 0.0
    found = quiet_report(columns, target="y", pred="a").to_dict()
    assert "mean_absolute_percentage_error" not in found["blocks"][0]["models"][0]["metrics"]
    assert "MAPE is not measured: 1 target is zero." in found["not_measured"]


# Intervals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"sample_weight": "w"}, {"groups": "patient"}])
def test_intervals_of_classes_are_those_of_one_bootstrap(options: dict[str, str]) -> None:
    columns = class_columns()
    found = quiet_report(columns, label="y", pred=["old", "new"], n_resamples=99, rng=3, **options).to_dict()
    settings: dict[str, Any] = {"n_resamples": 99, "rng": 3}
    settings |= {"sample_weight": columns["w"]} if "sample_weight" in options else {}
    settings |= {"groups": columns["patient"]} if "groups" in options else {}
    predictions = {name: columns[name] for name in ("old", "new")}
    metrics = ["accuracy", metric("recall", average=None)]
    expected = compare_predictions(columns["y"], predictions, metrics=metrics, **settings)
    for model in found["blocks"][0]["models"]:
        estimate = expected["accuracy"].estimates[model["name"]]
        assert model["intervals"]["accuracy"] == pytest.approx(list(estimate.confidence_interval))
        low, high = expected["recall(average=None)"].estimates[model["name"]].confidence_interval
        np.testing.assert_allclose(model["classes"]["recall"]["intervals"], np.stack([low, high], axis=1))
    (pair,) = found["blocks"][0]["differences"]
    difference = expected["accuracy"].differences[0]
    assert pair["metrics"]["accuracy"]["value"] == difference.value
    assert pair["metrics"]["accuracy"]["interval"] == pytest.approx(list(difference.confidence_interval))


@pytest.mark.cases(1)
@pytest.mark.parametrize("options", [{}, {"sample_weight": "w"}, {"groups": "patient"}])
def test_intervals_of_numbers_are_those_of_one_bootstrap(options: dict[str, str]) -> None:
    columns = number_columns()
    found = quiet_report(columns, target="y", pred=["a", "b"], n_resamples=99, rng=3, **options).to_dict()
    settings: dict[str, Any] = {"n_resamples": 99, "rng": 3}
    settings |= {"sample_weight": columns["w"]} if "sample_weight" in options else {}
    settings |= {"groups": columns["patient"]} if "groups" in options else {}
    names = ["root_mean_squared_error", "median_absolute_error", "r2"]
    for model in found["blocks"][0]["models"]:
        expected = bootstrap((columns["y"], columns[model["name"]]), names, **settings)
        for name in names:
            assert model["intervals"][name] == pytest.approx(list(expected[name].confidence_interval))
    (pair,) = found["blocks"][0]["differences"]
    assert (pair["model"], pair["reference"]) == ("a", "b")


def test_few_groups_are_said_once() -> None:
    columns = class_columns(80)
    text = quiet_report(columns, label="y", pred="old", groups="patient", n_resamples=99).to_text()
    assert "has only 20 clusters of patient: intervals are rough" in text


def test_the_median_of_many_rows_has_an_interval_of_order_statistics() -> None:
    from fastevals.show.report.measure_predictions import MOST_SORTED

    columns = number_columns(MOST_SORTED + 1)
    found = quiet_report(columns, target="y", pred=["a", "b"], n_resamples=49, confidence_level=0.9).to_dict()
    model = found["blocks"][0]["models"][0]
    low, high = model["intervals"]["median_absolute_error"]
    assert low <= model["metrics"]["median_absolute_error"] <= high
    assert "median_absolute_error" not in found["blocks"][0]["differences"][0]["metrics"]


def test_fewer_replicates_where_the_budget_is_not_enough(monkeypatch: Any) -> None:
    from fastevals.show.report import intervals

    monkeypatch.setattr(intervals, "BUDGET_WITHOUT_CELLS", 400 * N * 2)
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    found = fastevals.report(number_columns(), target="y", pred=["a", "b"])
    assert found.blocks[0].n_resamples == 400
    assert "400 bootstrap replicates" in found.to_text()
    assert fastevals.report(class_columns(), label="y", pred=["old", "new"]).blocks[0].n_resamples == 1999


# Values of --by -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_values", [4, 150])
def test_values_have_a_metric_each_with_an_interval(n_values: int) -> None:
    columns = class_columns(2000) | {"g": np.arange(2000) % n_values}
    found = quiet_report(columns, label="y", pred=["old", "new"], by="g", n_resamples=99).to_dict()
    assert len(found["blocks"]) == (n_values if n_values <= 100 else 0)
    over = found["over"]
    right = columns["old"] == columns["y"]
    expected = [right[columns["g"] == k].mean() for k in range(n_values)]
    np.testing.assert_allclose(over["models"][0]["values"], expected)
    assert all(
        low <= value <= high for value, (low, high) in zip(expected, over["models"][0]["intervals"], strict=True)
    )
    columns = number_columns(2000) | {"g": np.arange(2000) % n_values}
    found = quiet_report(columns, target="y", pred="a", by="g", n_resamples=99).to_dict()
    errors = columns["a"] - columns["y"]
    check_values(
        found["over"]["models"][0], [np.sqrt((errors[columns["g"] == k] ** 2).mean()) for k in range(n_values)]
    )


def check_values(model: dict[str, Any], expected: list[float]) -> None:
    """Check that values are as expected, and within their intervals."""
    np.testing.assert_allclose(model["values"], expected)
    assert all(low <= value <= high for value, (low, high) in zip(expected, model["intervals"], strict=True))


def test_weighted_values_have_intervals_of_effective_rows() -> None:
    columns = class_columns(80) | {"g": np.arange(80) // 40, "w": np.ones(80)}
    alone, weighted = (
        quiet_report(columns, label="y", pred="old", by="g", n_resamples=99, **options).to_dict()["over"]["models"][0]
        for options in ({}, {"sample_weight": "w"})
    )
    np.testing.assert_allclose(alone["intervals"], weighted["intervals"], rtol=1e-12)
    for scale in (1e-170, 1e170):
        scaled = quiet_report(
            columns | {"w": np.full(80, scale)}, label="y", pred="old", by="g", sample_weight="w", n_resamples=99
        )
        np.testing.assert_allclose(scaled.to_dict()["over"]["models"][0]["intervals"], alone["intervals"], rtol=1e-9)
    huge = {"y": [1e200, 2e200, 3e200, 1e200], "a": [1e200, 3e200, 3e200, 2e200], "g": [0, 0, 1, 1]}
    found = quiet_report(huge, target="y", pred="a", by="g").to_dict()
    blocks = [block["models"][0]["metrics"]["root_mean_squared_error"] for block in found["blocks"]]
    np.testing.assert_allclose(found["over"]["models"][0]["values"], blocks)


def test_the_mean_of_a_picture_is_that_of_all_values() -> None:
    from fastevals.document.picture import Reference
    from fastevals.show.report.pictures import group_panels

    columns = class_columns(2000) | {"g": np.minimum(np.arange(2000), 149)}  # one value has nearly all rows
    over = quiet_report(columns, label="y", pred="old", by="g").over
    (panel,) = group_panels(over)
    (mean,) = (mark.x[0] for mark in panel.picture.marks if isinstance(mark, Reference))
    assert mean == pytest.approx(np.mean(columns["old"] == columns["y"]))


def test_blocks_are_reports_of_their_rows() -> None:
    columns = class_columns()
    whole = quiet_report(columns, label="y", pred=["old", "new"], by="g", n_resamples=99).to_dict()
    for block in whole["blocks"]:
        rows = columns["g"] == block["value"]
        part = {name: values[rows] for name, values in columns.items()}
        alone = quiet_report(part, label="y", pred=["old", "new"], n_resamples=99).to_dict()["blocks"][0]
        assert alone["models"] == block["models"]
        assert alone["differences"] == block["differences"]


# What was counted -----------------------------------------------------------------------------------------------------


def test_matrices_and_summaries_have_the_same_report() -> None:
    columns = class_columns()
    rows = quiet_report(columns, label="y", pred="old", n_resamples=99).to_dict()["blocks"][0]
    matrix = ConfusionMatrix.from_predictions(columns["y"], columns["old"])
    summary = ConfusionSummary()
    summary.update(columns["y"], columns["old"])
    for counted in (matrix, summary):
        block = quiet_report(counted, label="y", pred="old", n_resamples=99).to_dict()["blocks"][0]
        assert block["models"] == rows["models"]
        assert block["n_samples"] == N
    numbers, targets = number_columns(), TargetSummary()
    targets.update(numbers["y"], numbers["a"])
    report = quiet_report(targets, pred="a", n_resamples=99)
    model = report.to_dict()["blocks"][0]["models"][0]
    assert model["metrics"]["r2"] == pytest.approx(regression_metrics(numbers["y"], numbers["a"]).r2)
    assert model["intervals"]["r2"] == list(targets.confidence_interval("r2"))
    assert "from standard errors" in report.to_text()


# Pages and the command ------------------------------------------------------------------------------------------------

ODD: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "one row": ({"y": ["a"], "p": ["a"]}, {"label": "y", "pred": "p"}),
    "one class": ({"y": ["a"] * 4, "p": ["a"] * 4}, {"label": "y", "pred": "p", "n_resamples": 99}),
    "one group": (
        {"y": ["a", "b"], "p": ["a", "a"], "g": [1, 1], "h": [1, 2]},
        {"label": "y", "pred": "p", "groups": "h", "by": "g", "n_resamples": 99},
    ),
    "all right": ({"y": [0, 1] * 9, "p": [0, 1] * 9}, {"label": "y", "pred": "p", "n_resamples": 99}),
    "blocks lack classes": (
        {"y": [0, 1, 0, 0], "p": [0, 1, 1, 0], "g": [0, 0, 1, 1]},
        {"label": "y", "pred": "p", "by": "g", "n_resamples": 99},
    ),
    "many classes": (
        {"y": np.arange(300) % 150, "p": np.arange(300) % 149},
        {"label": "y", "pred": "p", "n_resamples": 99},
    ),
    "weights of zero": (class_columns(60) | {"w": [0] * 59 + [1]}, {"label": "y", "pred": "old", "sample_weight": "w"}),
    "one target": ({"y": [1.0], "p": [2.0]}, {"target": "y", "pred": "p", "n_resamples": 99}),
    "equal targets": ({"y": [1.0] * 5, "p": [2.0, 1, 1, 1, 1]}, {"target": "y", "pred": "p", "n_resamples": 99}),
    "no errors": ({"y": [1, 2, 3], "p": [1, 2, 3]}, {"target": "y", "pred": "p", "n_resamples": 99}),
    "huge": ({"y": [1e200, -1e200, 3.0], "p": [1e200, 0.0, 3.0]}, {"target": "y", "pred": "p", "n_resamples": 99}),
    "tiny": ({"y": [1e-300, 2e-300, 3e-300], "p": [0.0, 1e-300, 3e-300]}, {"target": "y", "pred": "p"}),
    "integers": ({"y": [1, 2, 3, 2**60], "p": [1, 2, 4, 2**60]}, {"target": "y", "pred": "p", "n_resamples": 99}),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_rows_have_a_report_and_a_page(case: str) -> None:
    pytest.importorskip("jinja2")
    data, options = ODD[case]
    report = quiet_report(data, **options)
    assert json.dumps(report.to_dict(), allow_nan=False)
    assert report.to_text().startswith(f"fastevals report: {report.roles.models[0]}")
    page = report.to_html()
    assert page.count("<svg") == page.count("</svg>")
    assert "nan" not in page.split("<script")[0].replace("dominan", "")


@pytest.mark.parametrize(("errors", "farthest"), [((1.0, 10.0), 9.8), ((10.0, 1.0), 9.8), ((0.0, 0.0), 1.0)])
def test_errors_within_a_size_are_drawn_as_far_as_the_worst_models(errors: Sequence[float], farthest: float) -> None:
    pytest.importorskip("jinja2")
    y = np.arange(1000.0)
    data = {"y": y} | {name: y + np.linspace(0, most, y.size) for name, most in zip("ab", errors, strict=True)}
    page = quiet_report(data, target="y", pred=["a", "b"]).to_html()
    picture = re.search(r'<svg [^>]*data-picture="within"[^>]* data-x="0.0 (\S+) linear"', page)
    assert picture is not None
    assert float(picture[1]) == pytest.approx(farthest, rel=0.01)  # 98 % of errors
    assert re.findall(r'class="steps m\d (c\d)"', page) == ["c0", "c1"]  # a histogram per model, in its colour


@pytest.mark.slow
def test_the_command_writes_text_pictures_and_a_page(tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    for kind, columns, names in (
        ("--label", class_columns(), ("confusion", "differences", "intervals")),
        ("--target", number_columns(), ("differences", "errors", "intervals", "means", "within")),
    ):
        file = tmp_path / "rows.csv"
        models = list(columns)[1:3]
        rows = zip(*columns.values(), strict=True)
        file.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]))
        out = tmp_path / kind
        arguments = ["report", str(file), kind, "y", "--pred", models[0], "--pred", models[1], "--resamples", "99"]
        assert cli.main([*arguments, "--html", str(tmp_path / "page.html"), "--out", str(out)]) == 0
        assert sorted(path.stem for path in out.glob("*.png")) == list(names)
        report = fastevals.report(str(file), **{kind[2:]: "y", "pred": models, "n_resamples": 99})
        assert report.to_text() in capsys.readouterr().out
        assert json.loads((out / "report.json").read_text()) == report.to_dict()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"label": "y"}, "score is missing: it names the column of scores in dict"),
    ({"pred": "old"}, "label (or target, of numbers) is missing: it names the column of true classes in dict"),
    ({"label": "y", "pred": "none"}, "pred 'none': data has no such column"),
    ({"label": "y", "pred": ["old", "old"]}, "is given already"),
    ({"label": "y", "target": "w", "pred": "old"}, "target names a column of numbers, label a column of classes"),
    ({"target": "w", "pred": "old"}, "pred 'old'"),
    ({"target": "w", "pred": "g", "pos_label": 1}, "pos_label goes with label"),
    ({"label": "y", "pred": "old", "pos_label": "cat"}, "pos_label needs two classes"),
    ({"label": "y", "pred": "w"}, "can't be compared|must be|labels"),
    ({"label": "y", "pred": "old", "score": "w"}, "score and pred exclude each other: scores, or what models predict"),
    ({"label": "y", "pred": "old", "threshold": 0.5}, "threshold goes with scores"),
    ({"label": "y", "pred": "old", "cost_fp": 2}, "cost_fp goes with scores"),
    ({"label": "y", "pred": "old", "against": "x.fe"}, "against x.fe: it has counts"),
    ({"label": "y", "pred": "old", "n_resamples": 3}, "n_resamples must be at least"),
    ({"target": "y", "pred": "w"}, "target 'y'"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_options_are_named(options: dict[str, Any], message: str) -> None:
    import re

    with pytest.raises(ValueError, match=message if "|" in message else re.escape(message)):
        fastevals.report(class_columns(), **options)


def test_not_finite_targets_are_named() -> None:
    columns = number_columns()
    columns["a"][7] = np.nan
    with pytest.raises(ValueError, match=r"pred 'a' .*row 7"):
        fastevals.report(columns, target="y", pred="a")


def columns_with_a_perfect_class() -> dict[str, Any]:
    """Return 59 rows of a perfectly predicted class, and two other classes with a fifth of the rows wrong."""
    y = np.repeat(["a", "b", "c"], [59, 100, 100])
    other = np.where(y == "b", "c", "b")
    return {"y": y, "p": np.where((y != "a") & (np.arange(259) % 5 == 0), other, y), "g": np.arange(259) // 2}


def test_intervals_of_classes_without_width_have_wilsons_beside_them() -> None:
    columns = columns_with_a_perfect_class()
    report = fastevals.report(columns, label="y", pred="p", n_resamples=99)
    least = 59 / (59 + 1.959963984540054**2)  # Wilson's interval for 59 successes in 59 trials
    classes = report.to_dict()["blocks"][0]["models"][0]["classes"]
    for name in ("precision", "recall"):
        assert classes[name]["intervals"][0] == [1, 1]
        assert classes[name]["wilson"] == [[pytest.approx(least, rel=1e-12), 1], None, None]
    note = (
        "some classes' intervals of p have no width, because all replicates are equal; use Wilson's interval where it "
        f"is given: a: precision (Wilson {least:.4f} to 1.0000), recall (Wilson {least:.4f} to 1.0000), F1"
    )
    assert report.to_dict()["blocks"][0]["intervals"]["notes"] == [note]
    assert note in " ".join(report.to_text().split())
    assert f"<small>1.0000 to 1.0000</small><small>Wilson {least:.4f} to 1.0000</small>" in report.to_html()


def test_classes_of_rows_in_groups_are_marked_without_wilsons() -> None:
    report = fastevals.report(columns_with_a_perfect_class(), label="y", pred="p", groups="g", n_resamples=99)
    (note,) = report.to_dict()["blocks"][0]["intervals"]["notes"]
    assert note.startswith("some classes' intervals of p have no width")
    assert note.endswith(": a: precision, recall, F1")
    assert "<small>1.0000 to 1.0000</small><small>no width</small>" in report.to_html()
