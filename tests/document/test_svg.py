"""Pictures of tests and of bias and variance as SVG: as matplotlib draws them, well-formed with any names."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fastevals.document.page import letters
from fastevals.document.page.svg import draw
from fastevals.document.picture import Picture, along, widened
from fastevals.infer.significance.binomial import binomial_error_test
from fastevals.infer.significance.rank_comparisons import bonferroni_dunn_test, nemenyi_test, rank_comparison_test
from fastevals.many.trends import Trend
from fastevals.measure.bias_variance.bias_variance import bias_variance
from fastevals.show.plots.bias_variance import draw_bias_variance
from fastevals.show.plots.confusion import draw_confusion
from fastevals.show.plots.critical_difference import draw_critical_difference
from fastevals.show.plots.drawing import show
from fastevals.show.plots.fits import compute_fits, draw_fits
from fastevals.show.plots.null_distribution import draw_null
from fastevals.show.plots.pvalues import draw_pvalues
from fastevals.show.plots.splits import draw_splits, read_splits
from fastevals.show.plots.trend import draw_trend
from fastevals.split.splitters.bootstrap_split import BootstrapSplit
from fastevals.split.splitters.leave_out import LeaveOneOut
from fastevals.split.training_sets import BiasVarianceCurve
from tests.parameters import quick
from tests.show.plots.test_estimates import MANY, curve, decomposed, u_shaped, votes
from tests.show.plots.test_significance import decided, one_sided, table
from tests.show.plots.test_trend import made_trend
from tests.show.report.test_page import HOSTILE

WIDE = ["W" * 60, "😀" * 60, "漢" * 60, "a\u0301" * 60]
NAMES = [*HOSTILE, *WIDE]
SVG = "{http://www.w3.org/2000/svg}"


def draw_aucs(picture: Picture, trend: Trend) -> None:
    draw_trend(picture, trend, "roc_auc")


CASES: dict[str, tuple[Callable[..., None], Any]] = {
    "ranks of 2": (draw_critical_difference, nemenyi_test(table(2))),
    "ranks of 30": (draw_critical_difference, nemenyi_test(table(30))),
    "ranks, hostile names": (draw_critical_difference, nemenyi_test(table(len(NAMES), names=NAMES))),
    "ranks, a long ruler": (draw_critical_difference, nemenyi_test({"a": [1.0], "b": [2.0], "c": [3.0]})),
    "ranks, a control": (draw_critical_difference, bonferroni_dunn_test(table(10), "model 3")),
    "ranks without a difference": (draw_critical_difference, rank_comparison_test(table(10), correction="holm")),
    "ranks of ties": (draw_critical_difference, nemenyi_test({name: 3 * [0.5] for name in "cabd"})),
    "p-values of 2": (draw_pvalues, nemenyi_test(table(2))),
    "p-values of 60": (draw_pvalues, nemenyi_test(table(60))),
    "p-values, hostile names": (draw_pvalues, nemenyi_test(table(len(NAMES), names=NAMES))),
    "p-values of a side": (draw_pvalues, one_sided()),
    "p-values of a control": (draw_pvalues, bonferroni_dunn_test(table(10), "model 3")),
    "t": (draw_null, decided("t", (9,), 2.8)),
    "a side": (draw_null, decided("t", (9,), -1.1, "less")),
    "infinite at 0": (draw_null, decided("chi2", (1,), 0.0)),
    "infinite": (draw_null, decided("norm", (), math.inf)),
    "undefined": (draw_null, decided("norm", (), math.nan)),
    "counts": (draw_null, binomial_error_test(105, 300, 0.3, alternative="greater")),
    "many counts": (draw_null, binomial_error_test(301_000, 10**6, 0.3)),
    "huge counts": (draw_null, binomial_error_test(3 * 10**14, 10**15, 0.3)),
    "parameter": (draw_bias_variance, u_shaped()),
    "training size": (draw_bias_variance, curve([10, 100], [1.0, 1.0], [3.0, 0.3], None)),
    "decades": (draw_bias_variance, curve([1e-12, 1.0, 1e9], [1.0, 0.5, 2.0], [2.0, 0.5, 0.1], "alpha")),
    "zero and decades": (draw_bias_variance, curve([0, 0.01, 10.0], [1.0, 0.5, 2.0], [2.0, 0.5, 0.1], "alpha")),
    "kinds": (draw_bias_variance, curve(["linear", "rbf"], [1.0, 0.5], [0.1, 0.3], "kernel")),
    "many kinds": (draw_bias_variance, curve(MANY, np.ones(len(MANY)), np.ones(len(MANY)), "n" * 500)),
    "hostile kinds": (draw_bias_variance, curve(NAMES, np.ones(len(NAMES)), np.ones(len(NAMES)), HOSTILE[0])),
    "splits": (draw_splits, read_splits(BootstrapSplit(3, rng=0), y=["a", "b"] * 8, groups=np.arange(16) // 4)),
    "splits, hostile classes": (draw_splits, read_splits(LeaveOneOut(), y=list(NAMES[:4]))),
    "fits": (draw_fits, compute_fits(lambda x, y, x_new, a: a * x_new, [0, 1, 3], [1, 2, 0], "a", [1, 1e9], truth=abs)),
    "days": (draw_aucs, made_trend()),
    "a year of days": (draw_aucs, made_trend(365)),
    "hostile days": (draw_aucs, made_trend(len(NAMES), models=HOSTILE, values=NAMES)),
    "one": (draw_bias_variance, decomposed(1.0, 0.25)),
    "a negative part": (draw_bias_variance, votes(29, 0.55)),
    "tiny": (draw_bias_variance, decomposed(1.2345e-105, 2.345e-106)),
    "nothing": (draw_bias_variance, decomposed(0.0, 0.0)),
    "an infinite loss": (
        draw_bias_variance,
        BiasVarianceCurve(
            "degree", (1, 2), (decomposed(1.0, 1.0), bias_variance(np.zeros(1), np.array([[1e200], [2e200]])))
        ),
    ),
}  # fmt: skip
RANGES = [name for name, (function, _) in CASES.items() if name.startswith("ranks") and "without" not in name]


def picture_of(case: str) -> Picture:
    picture = Picture()
    function, result = CASES[case.removesuffix(" as ranges")]
    if case.endswith(" as ranges"):
        draw_critical_difference(picture, result, "ranges")
    else:
        function(picture, result)
    return picture


def drawn(picture: Picture) -> tuple[str, ET.Element]:
    text = draw(picture, "kind", 'a "label" & <more>', "name")
    return text, ET.fromstring(text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def words(root: ET.Element) -> list[str]:
    """Return the texts; those cut short, in full."""
    texts = root.iter(f"{SVG}text")
    return [each[0].text or "" if len(each) else each.text or "" for each in texts]


def boxes(root: ET.Element) -> list[tuple[str, float, float, float, float]]:
    """Return each text with its left, top, right and bottom, at the assumed width of letters."""
    found = []
    for each in root.iter(f"{SVG}text"):
        classes, text = each.get("class", "").split(), each.text or ""
        size = float(re.findall(r"font-size:([\d.]+)", each.get("style", "") + ";font-size:12")[0])
        length = letters.width(text, size)
        start = {"mid": -length / 2, "end": -length}.get(next((c for c in classes if c in ("mid", "end")), ""), 0.0)
        moved = re.match(r"translate\((\S+) (\S+)\) rotate", each.get("transform", ""))
        if moved:
            x, y = map(float, moved.groups())
            found.append((text, x - 0.75 * size, y - start - length, x + 0.1 * size, y - start))
        else:
            x, y = float(each.get("x", "nan")), float(each.get("y", "nan"))
            found.append((text, x + start, y - 0.75 * size, x + start + length, y + 0.1 * size))
    return found


@pytest.mark.parametrize("case", [*CASES, *(f"{name} as ranges" for name in RANGES)])
def test_pictures_are_well_formed_and_every_text_has_room(case: str) -> None:
    picture = picture_of(case)
    text, root = drawn(picture)
    assert "<script" not in text
    assert "onload" not in text
    assert not re.search(r"\b(nan|inf)\b", " ".join(re.findall(r'"([^"]*)"', text)))
    assert root.get("aria-label") == 'a "label" & <more>'
    _, _, width, height = map(float, root.get("viewBox", "").split())
    places = boxes(root)
    for said, left, top, right, bottom in places:
        assert left >= -1, said
        assert top >= -1, said
        assert right <= width + 1, said
        assert bottom <= height + 1, said
    for k, (said, left, top, right, bottom) in enumerate(places):
        for other, low, upper, high, lower in places[:k]:
            assert right <= low + 1 or high <= left + 1 or bottom <= upper + 1 or lower <= top + 1, (said, other)
    assert set(FOUND.get(case, ())) <= set(words(root))


FOUND = {  # the texts, in addition to names
    "ranks, a control": ["CD = 3.427", "Mean rank (1 is best)", "10"],
    "p-values of a side": ["0.040", "<0.001", "p < 0.05", "undefined", "p-value, one-sided (less)", "≤ 0.001"],
    "t": ["if the hypothesis holds: t(9)", "rejected at level 0.05: beyond ±2.262", "seen: 2.8, p = 0.0207"],
    "infinite": ["seen, beyond the picture: inf, p = 0 to a float"],
    "undefined": ["seen: undefined (NaN)"],
    "parameter": ["← underfits", "overfits →", "bias²", "least: 1.2 at 2", "(cut: up to 4.4)", "degree"],
    "an infinite loss": ["(cut: up to inf)"],
    "a negative part": ["-0.1305", "net variance"],
    "days": ["AUC", "day", "all rows", "differs from the other values", "undecided: too few labels"],
}


@pytest.mark.cases(5)
@pytest.mark.filterwarnings("ignore:Glyph", "ignore:no installed font")
@pytest.mark.parametrize(
    "case",
    quick(
        [*CASES, *(f"{name} as ranges" for name in RANGES)],
        *(name for name in CASES if name != "p-values of 60"),
        f"{RANGES[0]} as ranges",
    ),
)
def test_matplotlib_draws_the_same(case: str) -> None:
    picture = picture_of(case)
    figure = Figure(figsize=(12, 12))
    FigureCanvasAgg(figure)
    ax = show(picture, figure.subplots())
    legend = ax.get_legend()
    said = [*ax.texts, *([] if legend is None else legend.get_texts())]
    expected = {text.get_text().strip().replace(r"\$", "$") for text in said if text.get_visible()} - {"", picture.note}
    found = words(drawn(picture)[1])
    if "p-values, hostile" not in case:  # squares on a page have no room for numbers
        assert {each for each in expected if not (picture.diagram and each.isdigit())} <= {*found}
    if picture.note:
        assert picture.note.replace("\n", " ") in " ".join(found)
    if not picture.diagram and picture.y.tick_labels is not None:
        names = [label.get_text().strip().replace(r"\$", "$") for label in ax.get_yticklabels()]
        assert names == list(picture.y.tick_labels)
        assert {*names} <= {*found}


def test_names_of_a_diagram_are_beside_it_and_the_controls_is_bold() -> None:
    _, root = drawn(picture_of("ranks, a control"))
    left, _, width, _ = map(float, root.get("data-box", "").split())
    for each in root.iter(f"{SVG}text"):
        if (each.text or "").startswith("model"):
            x, is_end = float(each.get("x", "nan")), "end" in each.get("class", "").split()
            assert (x < left) == is_end
            assert (x > left + width) != is_end
            assert ("bold" in each.get("class", "").split()) == (each.text or "").startswith("model 3:")


def test_squares_have_signs_where_numbers_are_not_written() -> None:
    for case, n in (("p-values of 60", 60), ("p-values of a side", 4)):
        _, result = CASES[case]
        text, root = drawn(picture_of(case))
        rejected = np.nan_to_num(result.matrix("rejected")) == 1
        dots = [each for each in root.iter(f"{SVG}circle") if "dot" in each.get("class", "").split()]
        assert len(dots) == rejected.sum() + 1  # one in the legend
        assert text.count("data-cell") == (0 if n == 60 else 5)
    assert len(drawn(picture_of("p-values of 60"))[0]) < 200_000


def test_numbers_are_light_on_dark_squares_alone() -> None:
    picture = Picture()
    draw_confusion(picture, np.array([[76, 24], [25, 75]]), ["a", "b"])  # shares of 0.76, 0.24, 0.25 and 0.75
    _, root = drawn(picture)
    inks = {each.get("data-cell"): each.get("class") for each in root.iter(f"{SVG}text") if each.get("data-cell")}
    assert inks == {
        f"{row} {column} {line}": f"mid on-{'dark' if row == column == 0 else 'light'}"
        for row in (0, 1)
        for column in (0, 1)
        for line in (0, 1)
    }


def test_axes_of_decades_with_zero_are_as_matplotlibs() -> None:
    picture = picture_of("zero and decades")
    figure = Figure()
    ax = show(picture, figure.subplots())
    values = np.array([-0.005, 0.0, 0.002, 0.01, 0.3, 10.0])
    ends = along(picture.x, [picture.x.low, picture.x.high])
    place = ax.transAxes.inverted().transform(ax.transData.transform(np.column_stack([values, values])))[:, 0]
    np.testing.assert_allclose((along(picture.x, values) - ends[0]) / np.ptp(ends), place, atol=1e-9)
    low, high = widened(picture.x, values[1:], 0.05)
    assert low < 0 < 10 < high


def test_words_are_cut_and_wrapped_to_their_room() -> None:
    for name in NAMES:
        assert letters.width(letters.cut(name, 100)) <= 100
        assert all(letters.width(line) <= 200 for line in letters.wrapped(f"at {name} it is\nleast", 200))
    assert letters.titled("<b>", 100) == "&lt;b&gt;"
    assert letters.titled("<b>" * 40, 60).endswith(f"<title>{'&lt;b&gt;' * 40}</title>")
    assert letters.wrapped("two\nlines", 1000) == ["two", "lines"]
