"""Pictures of many classes: averages in black, at most ten classes with a colour, the others in grey."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from fastevals import ClassRankings, Ranking
from fastevals.measure.curves.registry import CURVES
from fastevals.show import plots

DRAWN = [name for name, entry in CURVES.items() if not entry.made_by and not entry.of_top_label]


def classes(k: int, n: int = 600, *, labels: Any = None) -> ClassRankings:
    rng = np.random.default_rng(k)
    y = np.arange(n) % k
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), y] += np.linspace(0.2, 3, k)[y]
    scores = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return ClassRankings(np.array([f"c{i:02d}" for i in range(k)])[y], scores, labels=labels)


def drawn(name: str, curve: Any, **options: Any) -> Any:
    ax = getattr(plots, f"plot_{name}")(curve, ax=Figure(figsize=(8, 12)).subplots(), **options)
    ax.figure.canvas.draw()
    return ax


def entries(ax: Any) -> list[str]:
    return [text.get_text().split(":")[0] for text in ax.get_legend().get_texts()]


@pytest.mark.cases(7)
@pytest.mark.parametrize("name", DRAWN)
def test_few_classes_all_have_a_colour(name: str) -> None:
    shown = entries(drawn(name, classes(4)))
    averages = ["macro", "micro"] if CURVES[name].macro else ["micro"]
    assert shown[: len(averages) + 4] == [*averages, "c00", "c01", "c02", "c03"]


@pytest.mark.cases(5)
@pytest.mark.parametrize("name", DRAWN)
def test_of_many_classes_the_ends_have_a_colour(name: str) -> None:
    ax = drawn(name, classes(15))
    shown = entries(ax)
    assert shown[0] == "the other 9 classes"
    assert ax.get_legend().get_title().get_text() == "The 3 highest and the 3 lowest of 15 classes"
    coloured = [each for each in shown if each.startswith("c0") or each.startswith("c1")]
    assert len(coloured) == 6
    (thin,) = [each for each in ax.collections if each.get_label() == "_classes"]
    assert len(thin.get_paths()) == 9
    if CURVES[name].area_metric == "roc_auc":
        made = classes(15)
        order = made.labels[np.argsort(-made.roc_auc(average=None))].tolist()
        assert coloured == [*order[:3], *order[-3:]]


def test_averages_are_black_and_are_the_curves_of_the_classes() -> None:
    made = classes(12)
    ax = drawn("roc", made)
    lines = {line.get_label().split(":")[0]: line for line in ax.lines}
    for name in ("macro", "micro"):
        line = lines[name]
        assert line.get_color() == "#000000"
        curve = made.roc_curve(average=name)
        at = np.linspace(0.05, 0.95, 19)
        assert np.interp(at, *line.get_xydata().T) == pytest.approx(curve.at(fpr=at), abs=0.02)
        assert line.get_label() == f"{name}: AUC {curve.area:.3f}"


def test_a_class_without_rows_is_undefined_and_there_is_no_macro_curve() -> None:
    made = ClassRankings(["a", "b"] * 4, np.random.default_rng(0).random((8, 3)), labels=["a", "b", "c"])
    ax = drawn("roc", made)
    assert entries(ax)[:4] == ["micro", "a", "b", "c"]
    assert "c: undefined" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_models_of_classes_are_drawn_by_their_average() -> None:
    one, other = classes(4), classes(5)
    ax = drawn("roc", {"one": one, "other": other, "binary": Ranking([0, 1], [0.1, 0.2])})
    areas = [one.roc_auc(), other.roc_auc(), 1.0]
    labels = [line.get_label() for line in ax.lines if "AUC" in line.get_label()]
    assert [label.split(", ")[0] for label in labels] == [
        f"{name}: AUC {area:.3f}" for name, area in zip(("one", "other", "binary"), areas, strict=True)
    ]
    assert len(drawn("calibration", {"one": one, "other": other}).lines) >= 2


def test_colours_and_names() -> None:
    ax = drawn("roc", classes(4), color={"macro": "red", "c01": "green"})
    colors = {line.get_label().split(":")[0]: line.get_color() for line in ax.lines}
    assert (colors["macro"], colors["c01"], colors["micro"]) == ("red", "green", "#000000")
    with pytest.raises(ValueError, match="label must be the name of a single curve"):
        drawn("roc", classes(4), label="mine")


def test_risk_and_coverage_are_of_the_most_probable_class() -> None:
    made, other = classes(4), classes(3)
    one, expected = (drawn("risk_coverage", each).lines for each in (made, made.top_label()))
    assert len(one) == len(expected)
    for line, same in zip(one, expected, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), same.get_xydata())
    assert entries(drawn("risk_coverage", {"a": made, "b": other.top_label()})) == entries(
        drawn("risk_coverage", {"a": made.top_label(), "b": other.top_label()})
    )
