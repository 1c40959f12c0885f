"""The section of a page in which a class is chosen: its points, pictures and script."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import Ranking
from fastevals.measure.curves.registry import CURVES
from fastevals.show import cli
from fastevals.show.report.each_class import CLASS_CURVES, few_rows, listed_classes

pytest.importorskip("jinja2")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
HEADING = "Each class against the rest"


def sample(n: int, n_classes: int, models: tuple[str, ...] = ("forest", "boost")) -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(n)
    y = rng.integers(0, n_classes, n)
    found = {}
    for k, model in enumerate(models):
        z = rng.normal(size=(n, n_classes)) + (1 + 0.3 * k) * np.eye(n_classes)[y]
        found[model] = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return np.array([f"c{k:02d}" for k in range(n_classes)])[y], found


def report(y: Any, models: dict[str, Any], **options: Any) -> Any:
    return fastevals.report({"y": y, **options.pop("more", {})}, label="y", probabilities=models, **options)


def picked(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(re.search(r'id="points">(.*?)</script>', page, re.DOTALL)[1])["pick"]  # type: ignore[index]
    return found


@pytest.mark.cases(1)
@pytest.mark.parametrize("weighted", [False, True])
def test_points_are_counts_of_each_class_against_the_rest(weighted: bool) -> None:
    y, models = sample(900, 3)
    w = np.random.default_rng(0).integers(1, 4, y.size)
    options: dict[str, Any] = {"more": {"w": w}, "sample_weight": "w"} if weighted else {}
    found = picked(report(y, models, n_resamples=0, **options).to_html())
    assert [each.split(":")[0] for each in found["options"]] == ["c00", "c01", "c02"]
    for k, block in enumerate(found["blocks"]):
        for points, (name, matrix) in zip(block["models"], models.items(), strict=True):
            ranking = Ranking(y == f"c{k:02d}", matrix[:, k], sample_weight=w if weighted else None)
            assert points["name"] == name
            cells = ranking.confusion_at([np.inf, *points["t"]]).counts
            np.testing.assert_allclose(np.cumsum([0, *points["tp"]]), cells[:, 1, 1])
            np.testing.assert_allclose(np.cumsum([0, *points["fp"]]), cells[:, 0, 1])
            assert points["threshold"] == ranking.best_threshold("f1").threshold
            assert f"AUC {ranking.roc_auc():.3f}" in block["titles"]["roc"][[*models].index(name)]


@pytest.mark.slow
def test_bins_are_those_of_the_calibration_curve_with_wilsons_interval() -> None:
    y, models = sample(600, 3)
    found = picked(report(y, models, n_resamples=19).to_html())
    curve = Ranking(y == "c01", models["boost"][:, 1]).calibration_curve()
    filled = curve.counts > 0
    bins = found["blocks"][1]["bins"][1]
    assert [each[:2] for each in bins] == [
        [round(x, 4), round(y, 4)]
        for x, y in zip(curve.mean_predicted[filled], curve.fraction_of_positives[filled], strict=True)
    ]
    n, share = int(curve.counts[filled][0]), curve.fraction_of_positives[filled][0]
    z = 1.959964
    middle, half = share + z * z / (2 * n), z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    np.testing.assert_allclose(bins[0][2:], np.array([middle - half, middle + half]) / (1 + z * z / n), atol=6e-5)
    assert picked(report(y, models, n_resamples=0).to_html())["blocks"][0]["bins"][0][0][2:] == [None, None]


def test_thinned_curves_are_within_two_pixels() -> None:
    y, models = sample(30_000, 3, ("one",))
    ranking = Ranking(y == "c00", models["one"][:, 0])
    threshold = ranking.best_threshold("f1").threshold
    rows = few_rows(ranking.counts, 120, threshold)
    assert rows.size <= 120
    assert (rows[0], rows[-1]) == (0, ranking.counts.thresholds.size - 1)
    few = ranking.counts.take(rows)
    assert threshold in few.thresholds
    for name in CLASS_CURVES:
        if name != "precision_recall":
            x, y_full = CURVES[name].of_counts(ranking.counts)._linear_points()
            x_few, y_few = CURVES[name].of_counts(few)._linear_points()
            steep = np.interp(x, x_few, y_few) - y_full
            assert 340 * np.abs(steep[x > 0.02]).max() < 2


def test_few_thresholds_are_all_kept() -> None:
    y = np.arange(60) % 2
    ranking = Ranking(y, np.round(np.random.default_rng(0).random(60), 1))
    rows = few_rows(ranking.counts, 40, 0.5)
    np.testing.assert_array_equal(rows, np.arange(ranking.counts.thresholds.size))


def test_of_many_classes_the_lowest_are_listed() -> None:
    aucs = np.array([[0.7, np.nan, 0.9], [0.6, np.nan, 0.5]])
    np.testing.assert_array_equal(listed_classes(aucs), [0, 2])
    many = np.linspace(0.9, 0.6, 60)[np.newaxis]
    np.testing.assert_array_equal(listed_classes(many), np.arange(59, 39, -1))
    y, models = sample(1200, 55, ("one",))
    found = report(y, models, n_resamples=0)
    page = found.to_html()
    assert len(picked(page)["options"]) == 20
    assert "The list has the 20 with the lowest mean AUC of the 55 classes." in page
    aucs = np.array([float(each.rsplit(" ", 1)[1]) for each in picked(page)["options"]])
    assert (np.diff(aucs) >= 0).all()


def test_classes_without_rows_and_two_classes() -> None:
    y, models = sample(300, 3, ("one",))
    found = report(y[y != "c02"], {"one": models["one"][y != "c02"]}, classes=["c00", "c01", "c02"], n_resamples=0)
    page = found.to_html()
    assert [each[:3] for each in picked(page)["options"]] == ["c00", "c01"]
    assert "The list has the 2 with an AUC of the 3 classes." in page
    y, models = sample(200, 2, ("one",))
    assert len(picked(report(y, models, n_resamples=0).to_html())["options"]) == 2
    only = report(y[y == "c00"], {"one": models["one"][y == "c00"]}, classes=["c00", "c01"], n_resamples=0)
    assert HEADING not in only.to_html()


def test_values_of_by_share_one_section_of_all_rows() -> None:
    y, models = sample(300, 3)
    page = report(y, models, more={"day": np.arange(300) % 2}, by="day", n_resamples=0).to_html()
    assert page.count(HEADING) == 3  # its heading and name, and the contents
    assert picked(page)["block"] == 3
    assert 'data-block="3"' in page
    assert sum(int(re.search(r": ([\d,]+) of 300 rows", each)[1]) for each in picked(page)["options"]) == 300  # type: ignore[index]


@pytest.mark.slow
def test_only_pages_have_the_section_and_pickles_keep_it() -> None:
    y, models = sample(300, 3)
    found = report(y, models, n_resamples=19)
    for text in (found.to_text(), found.to_markdown(), found.to_latex(), found._repr_html_()):
        assert HEADING not in text
    page = found.to_html()
    assert HEADING in page
    assert pickle.loads(pickle.dumps(found)).to_html() == page


def test_bands_are_drawn_with_intervals_only() -> None:
    y, models = sample(300, 3)
    shades = [
        re.search(r'<figure class="macro_roc.*?</figure>', each.to_html(), re.DOTALL)[0].count('class="shade')  # type: ignore[index]
        for each in (report(y, models, n_resamples=0), report(y, models, n_resamples=19))
    ]
    assert shades == [0, 4]  # macro and micro of two models


@pytest.mark.slow
def test_out_has_a_handful_of_pictures(tmp_path: Path) -> None:
    y, models = sample(200, 12, ("one",))
    lines = [",".join(["y", *(f"p_c{k:02d}" for k in range(12))])]
    lines += [",".join([label, *map(repr, row)]) for label, row in zip(y, models["one"].tolist(), strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    out = tmp_path / "out"
    options = ["--label", "y", "--probabilities", "p_*", "--resamples", "0", "--out", str(out)]
    assert cli.main(["report", str(path), *options]) == 0
    names = {each.stem for each in out.glob("*.png")}
    assert names == {"macro_roc", "macro_precision_recall", "classes_roc", "classes_precision_recall", "confusion"}


@pytest.mark.slow
def test_pages_of_three_models_and_twenty_classes_are_small() -> None:
    y, models = sample(3000, 20, ("forest", "boost", "logistic"))
    assert len(report(y, models, n_resamples=19).to_html().encode()) < 500_000


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize(("fragment", "k"), [("", 0), ("#pick=2&by=recall&at=0.7", 2), ("#pick=9", 0)])
def test_the_script_draws_the_chosen_class(tmp_path: Path, fragment: str, k: int) -> None:
    y, models = sample(700, 3)
    page = report(y, models, n_resamples=19).to_html()
    path = tmp_path / "page.html"
    path.write_text(page)
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"]
    dom = subprocess.run(
        [*command, f"file://{path}{fragment}"], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    block = picked(page)["blocks"][k]
    article = re.search(r'<article class="block" data-block="1".*?</article>', dom, re.DOTALL)[0]  # type: ignore[index]
    assert f"<small>{picked(page)['options'][k]}</small>" in article
    assert not re.search(r'="[^"]*(NaN|undefined|Infinity)', article)
    for place, (points, matrix) in enumerate(zip(block["models"], models.values(), strict=True)):
        row = re.search(rf'<tr class="m{place}">.*?</tr>', article, re.DOTALL)[0]  # type: ignore[index]
        ranking = Ranking(y == f"c{k:02d}", matrix[:, k])
        tp = np.cumsum([0, *points["tp"]])
        at = points["at"] if not k else int(np.argmax(tp / tp[-1] >= 0.7))
        threshold = [np.inf, *points["t"]][at]
        (_, fp), (fn, true) = ranking.confusion_at(threshold).counts.tolist()
        for name, count in {"tp": true, "fp": fp, "fn": fn}.items():
            assert f'<td data-number="{name}">{count:,}</td>' in row
        figure = re.search(r'<figure class="roc".*?</figure>', article, re.DOTALL)[0]  # type: ignore[index]
        dot = re.search(rf'class="at m{place} [^>]*cx="([\d.]+)" cy="([\d.]+)"', figure)
        assert dot is not None
        scale, n_neg = 340 / 1.04, sum(points["fp"])
        expected = 60 + scale * (0.02 + fp / n_neg), 350 - scale * (0.02 + true / tp[-1])
        np.testing.assert_allclose([float(each) for each in dot.groups()], expected, atol=0.06)
        if k:
            drawn = re.findall(r'class="curve m\d c\d d\d" d="([^"]*)"', figure)[place]
            drawn_at = np.array([each.split(" ") for each in re.split("[ML]", drawn)[1:]], dtype=float)
            rates = np.stack([np.cumsum([0, *points["fp"]]) / n_neg, tp / tp[-1]], axis=1)
            np.testing.assert_allclose(drawn_at[:, 0], 60 + scale * (0.02 + rates[:, 0]), atol=0.06)
            np.testing.assert_allclose(drawn_at[:, 1], 350 - scale * (0.02 + rates[:, 1]), atol=0.06)
