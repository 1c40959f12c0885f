"""Pages: one self-contained file with the report's numbers and curves exact to half a pixel."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import fastevals
from fastevals import Ranking
from fastevals._files import check_writable, write_file
from fastevals.datasets import load_digits_eight
from fastevals.document.document import DifferenceCell
from fastevals.document.page import svg
from fastevals.document.picture import Picture
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.ranking_metrics import hull
from fastevals.results import Interval
from fastevals.show import cli
from fastevals.show.plots.curves import drawing_of
from fastevals.show.report.document import _tables
from fastevals.show.report.pictures import block_panels, curve_of
from fastevals.show.report.points import candidates, chosen

pytest.importorskip("jinja2")

MODELS = ("logistic", "naive_bayes", "random_forest")
HOSTILE = ["</script><script>alert(1)</script>", "a\"b'c&d<e>", "مرحبا \u202e reversed", "😀 emoji", "n" * 500]
HOSTILE += ["${x}{{ y }}{% raw %}"]


def page_of(data: Any, **options: Any) -> tuple[Any, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        report = fastevals.report(data, **{"n_resamples": 0, **options})
    return report, report.to_html()


def embedded(page: str, name: str) -> Any:
    """Return the JSON embedded in a page under a name."""
    return json.loads(re.search(rf'id="{name}">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture(scope="module")
def digits() -> tuple[Any, str]:
    return page_of(load_digits_eight(), label="label", score=MODELS, n_resamples=199)


def columns(n: int, seed: int = 0, n_models: int = 2) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return {"y": y.astype(int)} | {f"m{k}": (rng.normal(size=n) + (1 + 0.1 * k) * y) for k in range(n_models)}


# Cells of tables ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "is_marked"),
    [(0.01, 0.2, True), (-0.2, -0.01, True), (0.0, 0.2, False), (-0.2, 0.0, False), (-0.1, 0.1, False)],
)
def test_a_difference_is_marked_where_its_interval_leaves_out_zero(low: float, high: float, is_marked: bool) -> None:
    cell = DifferenceCell((low + high) / 2, Interval(low, high), 0.5).on_page()
    assert cell.emphasis == ("shown" if is_marked else "")


# The file -------------------------------------------------------------------------------------------------------------


def test_a_page_has_the_numbers_of_the_report_and_needs_nothing(digits: tuple[Any, str]) -> None:
    report, page = digits
    assert embedded(page, "report") == json.loads(report.to_json())
    assert not re.search(r"""(?:src|href)\s*=(?!"#)|@import|url\((?!#)""", page.split("<script>")[0])
    assert page.count("<svg") == page.count("</svg>")
    for model in report.blocks[0].models:
        for name in ("roc_auc", "average_precision", "f1"):
            assert f'title="{model.metrics[name]!r}"' in page
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert len(page.encode()) < 250_000


def test_points_are_the_counts_of_the_ranking(digits: tuple[Any, str]) -> None:
    data = load_digits_eight()
    (block,) = embedded(digits[1], "points")["blocks"]
    for points in block["models"]:
        ranking = Ranking(data["label"], data[points["name"]])
        at = np.array([np.inf, *points["t"]])
        cells = ranking.confusion_at(at).counts
        np.testing.assert_array_equal(np.cumsum([0, *points["tp"]]), cells[:, 1, 1])
        np.testing.assert_array_equal(np.cumsum([0, *points["fp"]]), cells[:, 0, 1])
        chosen_row = digits[0].blocks[0].models[MODELS.index(points["name"])]
        assert at[points["at"]] == chosen_row.threshold


@pytest.mark.parametrize("rows", [3000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_thresholds_of_many_rows_predict_the_same_rows(rows: int) -> None:
    data = columns(rows, 3)
    _, page = page_of(data, label="y", score=["m0", "m1"])
    for points in embedded(page, "points")["blocks"][0]["models"]:
        assert len(points["t"]) < 2500
        cells = Ranking(data["y"], data[points["name"]]).confusion_at([np.inf, *points["t"]]).counts
        np.testing.assert_array_equal(np.cumsum([0, *points["tp"]]), cells[:, 1, 1])
        np.testing.assert_array_equal(np.cumsum([0, *points["fp"]]), cells[:, 0, 1])
        assert np.mean([len(repr(each)) for each in points["t"]]) < 9


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "one row": ({"y": [1], "m0": [0.5]}, {"pos_label": 1}),
    "one class": ({"y": [0, 0, 0], "m0": [0.1, 0.2, 0.2]}, {"pos_label": 1}),
    "constant": ({"y": [0, 1, 1, 0], "m0": [3.0] * 4}, {}),
    "huge": ({"y": [0, 1, 1, 0], "m0": [-1e300, 1e300, 2e300, 5]}, {}),
    "weights": (columns(300) | {"w": np.arange(300) % 4}, {"sample_weight": "w", "n_resamples": 99}),
    "by": (columns(300) | {"g": np.arange(300) % 7}, {"by": "g", "n_resamples": 99}),
    "hundreds of values": (columns(3000) | {"g": np.arange(3000) % 300}, {"by": "g", "n_resamples": 99}),
    "30 models": (columns(200, n_models=30), {"score": [f"m{k}" for k in range(30)]}),
    "costs": (columns(300), {"cost_fn": 5.0, "prior": 0.1, "score": ["m0", "m1"], "n_resamples": 99}),
    "fractional weights": (columns(300) | {"w": np.random.default_rng(0).random(300)}, {"sample_weight": "w"}),
    "patients": (columns(300) | {"g": np.arange(300) // 5}, {"groups": "g", "n_resamples": 99}),
    "more values than have pictures": (columns(600) | {"g": np.arange(600) % 25}, {"by": "g"}),
    "no false positive costs": (columns(300), {"cost_fp": 0.0, "cost_fn": 1.0, "prior": 1.0}),
    "perfect": ({"y": [0, 1] * 50, "m0": [0.0, 1.0] * 50}, {"n_resamples": 99}),
    "threshold": (columns(300), {"threshold": 0.3, "score": ["m0", "m1"], "n_resamples": 99}),
}


@pytest.mark.cases(6)
@pytest.mark.parametrize("case", CASES)
def test_every_report_has_a_page(case: str) -> None:
    data, options = CASES[case]
    report, page = page_of(data, **{"label": "y", "score": "m0", **options})
    assert embedded(page, "report") == json.loads(report.to_json())
    assert not re.search(r"\bnan\b|Infinity\b", re.sub(r"<script.*", "", page, flags=re.DOTALL).replace('"nan"', ""))
    shown = page.split("<script")[0].replace("<bdi>undefined</bdi>", "")
    assert "undefined" not in shown or case in ("one row", "one class", "hundreds of values", "by")


def test_counts_and_rankings_have_the_same_page() -> None:
    data = columns(400)
    ranking = Ranking(data["y"], data["m0"])
    pages = [page_of(each, score="m0", label="y")[1] for each in (ranking, ranking.counts)]
    rows = page_of(data, label="y", score="m0")[1]
    figures = [re.findall(r"<svg.*?</svg>", page, re.DOTALL) for page in (*pages, rows)]
    assert figures[0] == figures[1] == figures[2]


def test_a_summary_has_a_page(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    file, summary = tmp_path / "rows.parquet", tmp_path / "rows.fe"
    pq.write_table(pa.table(columns(3000)), file)
    scores = ["--label", "y", "--score", "m0", "--score", "m1"]
    assert cli.main(["summarize", str(file), *scores, "--out", str(summary)]) == 0
    assert cli.main(["report", str(summary), "--resamples", "99", "--html", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert len(embedded(page, "points")["blocks"][0]["models"]) == 2


@pytest.mark.slow
def test_hostile_names_are_text() -> None:
    data = columns(200, n_models=len(HOSTILE))
    named = {"y": data["y"]} | {name: data[f"m{k}"] for k, name in enumerate(HOSTILE)}
    _, page = page_of(named | {"<b>": np.arange(200) % 3}, label="y", score=HOSTILE, by="<b>", n_resamples=99)
    assert "<script>alert" not in page
    assert "<b>" not in page.split("<script")[0]
    assert page.count("<script") == page.count("</script>") == 3


def test_names_from_right_to_left_leave_numbers_in_their_places() -> None:
    name = "مرحبا بك"
    _, page = page_of({"y": [0, 1] * 20, name: np.arange(40), "m": np.arange(40)[::-1]}, label="y", score=[name, "m"])
    assert f'class="first">\u2068{name}\u2069 has the highest AUC' in page


def test_a_page_says_what_intervals_of_means_are() -> None:
    _, page = page_of(columns(3000) | {"g": np.arange(3000) % 300}, label="y", score="m0", by="g", n_resamples=99)
    assert "the mean AUC&#39;s interval is from 99 replicates of whole values of g" in page
    assert "intervals at 95 %" in page


# Names and titles -----------------------------------------------------------------------------------------------------

LONG = ["x" * 60 + end for end in ("_seed_1_version_1", "_seed_1_version_2", "_seed_2_version_1")]


def named_rows() -> dict[str, Any]:
    data = columns(300, n_models=3)
    return {"y": data["y"], "g": np.arange(300) % 3} | {name: data[f"m{k}"] for k, name in enumerate(LONG)}


def test_long_names_that_differ_at_the_end_are_told_apart() -> None:
    _, page = page_of(named_rows(), label="y", score=LONG, n_resamples=49)
    (picture, *_) = re.findall(r'<svg [^>]*data-picture="differences".*?</svg>', page)
    labels = [each for each in ElementTree.fromstring(picture).iter("text") if "end" in each.get("class", "")]
    pairs = [" ".join(each.text or "" for each in label.iter("tspan")) for label in labels]
    assert len({*pairs}) == 3
    for pair, (one, other) in zip(pairs, ((0, 1), (0, 2), (1, 2)), strict=True):
        assert [name[-1] for name in pair.split(" - ")] == [LONG[one][-1], LONG[other][-1]]
    assert next(label.findtext("title") for label in labels) == f"{LONG[0]} - {LONG[1]}"
    for kind in ("differences", "intervals"):
        report = fastevals.report(named_rows(), label="y", score=LONG, n_resamples=49)
        panels = dict(block_panels(report, report.blocks[0]))[kind]
        assert len({*(panels[0].picture.y.tick_labels or ())}) == 3


def test_titles_name_models_and_metrics_but_no_types() -> None:
    pd = pytest.importorskip("pandas")
    report, page = page_of(pd.DataFrame(columns(300)), label="y", score=["m0", "m1"], n_resamples=49)
    assert "<title>fastevals report: m0 and m1</title>" in page
    assert report.to_text().startswith("fastevals report: m0 and m1\n")
    titles = re.findall(r'<figure class="(?:intervals|differences)".*?<strong><bdi>(.*?)</bdi>', page, re.DOTALL)
    assert titles == ["AUC", "AP", "F1", "Difference in AUC", "Difference in AP", "Difference in F1"]
    assert "<title>fastevals compare: m0, m1, m2 and m3</title>" in fastevals.compare(results()).to_html()


def test_pages_with_by_have_contents_and_the_overview_first() -> None:
    report, page = page_of(named_rows(), label="y", score=LONG, by="g")
    headings = ["Over the values of g", "All rows", "g 0", "g 1", "g 2"]
    found = re.findall(r'<a href="#(part-\d)"><bdi>(.*?)</bdi>', page)
    assert [heading for _, heading in found] == headings
    assert re.findall(r'<h2 id="(part-\d)"><bdi>(.*?)</bdi>', page) == found
    assert page.index('class="values"') < page.index('id="controls"') < page.index("<bdi>All rows</bdi> <small>")
    whole, *blocks = embedded(page, "points")["blocks"]
    alone = page_of(named_rows(), label="y", score=LONG)[0]
    assert report.whole.models == alone.blocks[0].models
    assert sum(whole["models"][0]["tp"]) == sum(sum(block["models"][0]["tp"]) for block in blocks)
    assert f"AUC of {LONG[0][:10]}" in page
    assert re.search(r"<strong><bdi>AUC of \S+ by g</bdi>", page)


def test_tables_say_at_which_thresholds_they_are() -> None:
    for options, note in (
        ({}, "at each model&#39;s threshold of highest F1"),
        ({"threshold": 0.5}, "at 0.5, the same for every model"),
        ({"cost_fn": 2.0}, "at each model&#39;s threshold of lowest cost"),
    ):
        report, page = page_of(columns(100), label="y", score=["m0", "m1"], **options)
        for title in ('Counts and rates <small class="at">', "Metrics <small>"):
            assert f"<h3>{title}{note}</small>" in page
        assert f"**Metrics** {html.unescape(note)}" in report.to_markdown()


def test_gini_follows_auc_in_tables_of_pages_with_the_intervals_of_a_bootstrap_of_gini() -> None:
    data = columns(150)
    scores = {name: data[name] for name in ("m0", "m1")}
    report = fastevals.report(data, label="y", score=list(scores), n_resamples=99)
    expected = fastevals.compare_rankings(data["y"], scores, metrics=["roc_auc", "gini"], n_resamples=99, rng=0)["gini"]
    tables = {table.kind: table for table in _tables(report, report.blocks[0]) if table.rows}
    for kind in ("metrics", "differences"):
        assert tables[kind].columns[1:4] == ["AUC", "Gini", "AP"]
    for row, estimate in zip(tables["metrics"].rows, expected.estimates.values(), strict=True):
        assert row.cells[1].value == estimate.value
        assert row.cells[1].interval == pytest.approx(estimate.confidence_interval, abs=1e-12)
    (difference,) = expected.differences
    found = tables["differences"].rows[0].cells[1]
    assert found.value == pytest.approx(difference.value, abs=1e-12)
    assert found.interval == pytest.approx(difference.confidence_interval, abs=1e-12)
    assert found.pvalue == difference.pvalue
    assert "| Model | AUC | Gini | AP |" in report.to_markdown()
    assert report.to_html().count(">Gini<") == 2
    assert report.to_text().count("Gini") == 1  # in the summary


def test_gini_has_a_column_where_auc_has_one() -> None:
    report, page = page_of(columns(100), label="y", score="m0")
    number = next(table for table in _tables(report, report.blocks[0]) if table.kind == "metrics").rows[0].cells[1]
    assert number == (report.blocks[0].models[0].metrics["gini"], None, "", "")
    assert page.count(">Gini<") == 1
    _, page = page_of({"y": [1, 1, 1], "s": [0.1, 0.2, 0.3]}, label="y", score="s", pos_label=1)
    assert ">AP<" in page
    assert ">Gini<" not in page


# Pages of other results -----------------------------------------------------------------------------------------------


def results(n: int = 12, k: int = 4) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {f"m{j}": rng.normal(0.2 * j, 1, n) for j in range(k)}


def predictions(n: int = 300, k: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    y = rng.choice(["a", "b", "c"], n)
    return {"y": y} | {
        f"m{j}": np.where(rng.random(n) < 0.2 + 0.1 * j, rng.choice(["a", "b", "c"], n), y) for j in range(k)
    }


def decomposed(tmp: Path, **options: Any) -> Any:
    from fastevals.show.bias_variance.predictions import decompose_predictions, read_arrays

    rng = np.random.default_rng(3)
    for name, values in (("y", rng.integers(0, 3, 40)), ("p", rng.integers(0, 3, (9, 40)))):
        np.save(tmp / f"{name}.npy", values)
    beside = {"--truth": str(tmp / "y.npy"), "--observed": None, "--weight": None}
    return decompose_predictions(read_arrays(str(tmp / "p.npy"), beside, "rows"), **options)


def embedded_curve(_: Path) -> Any:
    from fastevals.show.bias_variance.embedded import decompose_polynomials

    return decompose_polynomials()


OTHERS: dict[str, Any] = {
    "classes": lambda _: fastevals.report(predictions(), label="y", pred=["m0", "m1", "m2"], n_resamples=99),
    "numbers": lambda _: fastevals.report(results(90), target="m0", pred=["m1", "m2"], n_resamples=99),
    "numbers by": lambda _: fastevals.report(
        results(90) | {"g": np.arange(90) % 30}, target="m0", pred="m1", by="g", n_resamples=99
    ),
    "results": lambda _: fastevals.compare(results()),
    "results that differ": lambda _: fastevals.compare(),
    "results by": lambda _: fastevals.compare(by="sigma"),
    "a control": lambda _: fastevals.compare(results(90), control="m3", posthoc="holm"),
    "two algorithms": lambda _: fastevals.compare(results(k=2)),
    "nothing differs": lambda _: fastevals.compare({"a": [1.0, 1, 1], "b": [1.0, 1, 1], "c": [1.0, 1, 1]}),
    "30 algorithms": lambda _: fastevals.compare(results(k=30)),
    "wilcoxon": lambda _: fastevals.compare(results(40, 5), posthoc="wilcoxon"),
    "predictions": lambda _: fastevals.compare(predictions(), label="y", pred=["m0", "m1", "m2"], n_resamples=99),
    "two models": lambda _: fastevals.compare(predictions(), label="y", pred=["m0", "m1"], n_resamples=99),
    "a curve": embedded_curve,
    "squared": lambda tmp: decomposed(tmp, loss="squared", decomposition="domingos"),
    "zero-one": lambda tmp: decomposed(tmp, loss="zero_one", decomposition="james"),
}


def other(name: str, tmp: Path) -> tuple[Any, str]:
    """Return a result and its page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        result = OTHERS[name](tmp)
    return result, result.to_html(command="fastevals something")


@pytest.mark.cases(6)
@pytest.mark.parametrize("name", OTHERS)
def test_every_result_has_a_page(name: str, tmp_path: Path) -> None:
    result, page = other(name, tmp_path)
    assert embedded(page, "report") == json.loads(result.to_json())
    shown = page.split("<script")[0]
    assert not re.search(r"\b(nan|NaN|Infinity|None)\b", shown)
    assert re.search(r'<p class="first">[^<]+\.</p>', shown)
    for svg_text in re.findall(r"<svg.*?</svg>", shown, re.DOTALL):
        ElementTree.fromstring(svg_text)


def test_verdicts_name_what_is_shown_to_differ() -> None:
    page = fastevals.compare().to_html()
    better = "K-SVD (3.78), K-SVD-N (2.58) and NLM (2.62)"
    assert f'class="first">K-SVD-N-NL has the best mean rank of 1.02 and is significantly better than {better}.' in page
    assert "5 of 6 pairs differ significantly (Nemenyi test)" in page
    assert "No significant difference among the mean ranks" in fastevals.compare(results()).to_html()
    same = fastevals.compare(results(k=2)).to_html()
    assert 'class="first">No significant difference between m0 and m1' in same
    better = fastevals.compare({"a": np.arange(20.0) + 1, "b": np.arange(20.0)}).to_html()
    assert 'class="first">a is significantly better than b.' in better
    better = fastevals.compare({"a": np.arange(20.0) + 1, "b": np.arange(20.0)}, lower_is_better=True).to_html()
    assert 'class="first">b is significantly better than a.' in better


@pytest.mark.cases(1)
@pytest.mark.parametrize("command", [["compare"], ["bias-variance"]])
def test_other_commands_write_pages(command: list[str], tmp_path: Path, capsys: Any) -> None:
    page = tmp_path / "page.html"
    assert cli.main([*command, "--html", str(page)]) == 0
    assert capsys.readouterr().out.endswith(f"\nwritten to {page}\n")
    assert f"fastevals {command[0]} --html {page}" in page.read_text()


# Curves ---------------------------------------------------------------------------------------------------------------


def pixels(picture: Picture) -> np.ndarray:
    """Return the only curve of a picture in pixels of 640 by 640."""
    (curve,) = picture.curves
    return 640 * np.stack([svg.position(picture.x, curve.x), svg.position(picture.y, curve.y)], axis=1)


def farthest(points: np.ndarray, line: np.ndarray) -> float:
    """Return the largest distance of points inside the picture from a polyline."""
    points = points[((points >= 0) & (points <= 640)).all(axis=1)]
    points = points[np.unique(np.linspace(0, len(points) - 1, 400).astype(int))]
    a, d = line[:-1], np.diff(line, axis=0)
    length = (d * d).sum(axis=1)
    most = 0.0
    for part in np.array_split(points, max(len(points) // 500, 1)):
        moved = part[:, np.newaxis] - a
        share = np.divide((moved * d).sum(axis=2), length, out=np.zeros(moved.shape[:2]), where=length > 0)
        rest = moved - np.clip(share, 0, 1)[..., np.newaxis] * d
        most = max(most, float(np.sqrt((rest**2).sum(axis=2)).min(axis=1).max()))
    return most


KIND_OF_ROWS = {
    "normal": lambda rng, n: ((y := rng.random(n) < 0.1), rng.normal(size=n) + 1.5 * y),
    "rare": lambda rng, n: ((y := rng.random(n) < 0.0005), rng.normal(size=n) + 1.5 * y),
    "probabilities": lambda rng, n: ((y := rng.random(n) < 0.2), 1 / (1 + np.exp(2 - rng.normal(size=n) - y))),
    "heavy tails": lambda rng, n: ((y := rng.random(n) < 0.5), rng.standard_cauchy(n) + y),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", *KIND_OF_ROWS])
@pytest.mark.parametrize("n", [5000, 20_000, 400_000])
def test_no_curve_of_the_chosen_thresholds_moves_by_half_a_pixel(kind: str, n: int) -> None:
    y, scores = KIND_OF_ROWS[kind](np.random.default_rng(5), n)
    counts = Ranking(y, scores).counts
    rows = candidates(counts, hull(counts))
    few = counts.take(rows).take(chosen(counts.take(rows), hull(counts)))
    assert few.thresholds.size < 2600
    np.testing.assert_array_equal(hull(few).thresholds, hull(counts).thresholds)
    for name, entry in CURVES.items():
        if entry.needs == "probabilities" and kind != "probabilities":
            continue
        pictures = []
        for points in (counts, few):
            of_probabilities = [each for each in CURVES.values() if each.needs == "probabilities"]
            curves = {each.name: each.of_counts(counts) for each in of_probabilities} if kind == "probabilities" else {}
            model: Any = SimpleNamespace(counts=points, curves=curves)
            pictures.append(Picture())
            drawing_of(entry)(pictures[-1], [("m", curve_of(entry, model, {"cost_fp": 1.0, "cost_fn": 5.0}))])
        whole, drawn = map(pixels, pictures)
        assert farthest(whole, drawn) < 0.5, name
        assert farthest(drawn, whole) < 0.5, name


def test_paths_are_within_a_tenth_of_a_pixel() -> None:
    x = np.linspace(0, 340, 5000)
    points = np.stack([x, 200 + 100 * np.sin(x / 30)], axis=1)
    text = svg.path(points[:, 0], points[:, 1])
    assert len(text) < 2500
    place, drawn = np.array([0.0, 0.0]), []
    for command, numbers in re.findall(r"([Mlhv])([^Mlhv]*)", text):
        values = [float(each) for each in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", numbers)]
        flat = {"h": [(each, 0.0) for each in values], "v": [(0.0, each) for each in values]}
        for step in flat[command] if command in flat else zip(values[::2], values[1::2], strict=True):
            place = np.array(step) if command == "M" else place + step
            drawn.append(place)
    assert farthest(points, np.array(drawn)) < 0.15


# The command ----------------------------------------------------------------------------------------------------------


def test_the_command_writes_a_page_whole_or_not_at_all(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    page = tmp_path / "page.html"
    assert cli.main(["report", "--resamples", "0", "--html", str(page)]) == 0
    assert capsys.readouterr().out.endswith(f"\nwritten to {page}\n")
    text = page.read_text()
    assert f"fastevals report --resamples 0 --html {page}" in text
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert cli.main(["report", "--resamples", "0", "--format", "json", "--html", str(page)]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == embedded(page.read_text(), "report")
    assert err == f"written to {page}\n"
    for wrong, message in (
        (str(tmp_path), "--html must name a file, got"),
        ("", "--html must name a file, got ''"),
        (str(tmp_path / "none" / "page.html"), "can't be written: No such file or directory"),
    ):
        assert cli.main(["report", "missing.csv", "--label", "y", "--score", "s", "--html", wrong]) == 2
        assert message in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert cli.main(["report", "missing.csv", "--label", "y", "--score", "s", "--html", str(page)]) == 2
    assert "pages need Jinja2: pip install jinja2" in capsys.readouterr().err


def test_a_page_is_not_written_over_what_is_read(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("y,s\n0,0.1\n1,0.2\n")
    assert cli.main(["report", "rows.csv", "--label", "y", "--score", "s", "--html", "./rows.csv"]) == 2
    assert "--html must not be a file that is read, got './rows.csv'" in capsys.readouterr().err
    assert Path("rows.csv").read_text().startswith("y,s")


def test_a_page_is_not_written_over_files_that_other_options_read(
    tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("y,s\n0,0.1\n1,0.2\n")
    columns = ["--label", "y", "--score", "s"]
    assert cli.main(["summarize", "a.csv", *columns, "--out", "before.fe"]) == 0
    before = Path("before.fe").read_bytes()
    for read, page in ((["*.csv", *columns], "b.csv"), (["a.csv", *columns, "--against", "before.fe"], "before.fe")):
        assert cli.main(["report", *read, "--html", page]) == 2
        assert f"--html must not be a file that is read, got '{page}'" in capsys.readouterr().err
    assert Path("b.csv").read_text().startswith("y,s")
    assert Path("before.fe").read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are of Unix")
def test_a_page_replaces_files_alone(tmp_path: Path, capsys: Any) -> None:
    pipe, link, page = tmp_path / "pipe", tmp_path / "link.html", tmp_path / "page.html"
    os.mkfifo(pipe)
    assert cli.main(["report", "--resamples", "0", "--html", str(pipe)]) == 2
    assert "--html must name a file, got" in capsys.readouterr().err
    assert pipe.is_fifo()
    link.symlink_to("page.html")
    for _ in range(2):
        assert cli.main(["report", "--resamples", "0", "--html", str(link)]) == 0
        assert link.is_symlink()
        assert page.read_text().startswith("<!DOCTYPE html>")


def test_pages_of_very_many_values_have_the_lowest_and_the_highest() -> None:
    data = columns(12_000) | {"g": np.arange(12_000) // 4}
    page = page_of(data, label="y", score="m0", by="g")[1]
    assert re.search(r"The lowest and the highest [\d,]+ of 3,000 values; the JSON has all", page)
    assert page.count("<tr") < 2100
    assert len(embedded(page, "report")["over"]["values"]) == 3000


@pytest.mark.slow
def test_a_page_needs_no_matplotlib() -> None:
    code = (
        "import sys\nsys.modules['matplotlib'] = None\nimport fastevals\n"
        "assert '<svg' in fastevals.report(n_resamples=0).to_html()"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


# The verdict ----------------------------------------------------------------------------------------------------------


def test_the_verdict_says_which_model_is_best_and_what_is_not_shown(digits: tuple[Any, str]) -> None:
    page = digits[1]
    first = (
        r'class="first">random_forest&#39;s AUC is higher than logistic&#39;s by 0\.0139 \(95 % interval 0\.\d+ to 0'
    )
    assert re.search(first, page)
    assert "simultaneous over all 3 pairs (max-T)" in page
    rng = np.random.default_rng(1)
    y = rng.random(200) < 0.5
    same = {"y": y, "a": rng.normal(size=200) + y, "b": rng.normal(size=200) + y}
    _, page = page_of(same, label="y", score=["a", "b"], n_resamples=199)
    assert re.search(
        r"[ab] has the highest AUC, 0\.\d+; no significant difference from [ab] \(0\.\d+, 95 % interval -0.+ p = 0",
        page,
    )
    _, page = page_of(same, label="y", score=["a", "b"])
    assert "these data don&#39;t show whether the models differ by more than chance" in page
    _, page = page_of(same, label="y", score="a", n_resamples=199)
    assert re.search(r"a&#39;s AUC is 0\.\d+ \(95 % interval 0\.\d+ to 0\.\d+\)\.", page)


def test_what_is_not_shown_is_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    y = rng.random(500) < 0.3
    scores = rng.normal(size=500) + y
    found = fastevals.report({"y": y, "p": scores, "q": -scores}, label="y", score=["p", "q"], n_resamples=0)
    page = html.unescape(found.to_html())
    assert "<li>Scores of p and q are outside [0, 1]" in page
    assert "<li>AUC of q is far below 0.5: if low scores mean positive, negate them" in page
    assert "only counts were kept" not in page
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"y": y, "p": 1 / (1 + np.exp(-scores))}), tmp_path / "rows.parquet")
    names = ["--label", "y", "--score", "p"]
    assert (
        cli.main(
            ["summarize", str(tmp_path / "rows.parquet"), *names, "--out", str(tmp_path / "a.fe"), "--cells", "256"]
        )
        == 0
    )
    page = html.unescape(fastevals.report(str(tmp_path / "a.fe"), n_resamples=0).to_html())
    assert "Pictures of histograms of scores, reliability and net benefit are not drawn" in page
    assert {"scores", "calibration", "reliability", "decision"} & {*re.findall('data-figure="(.*?)"', page)} == {
        "calibration"
    }


# Where files go -------------------------------------------------------------------------------------------------------

COLUMNS = ["--label", "y", "--score", "s"]


def rows_file(folder: Path, name: Any = "rows.csv") -> Path:
    path = folder / name
    path.write_text("y,s\n0,0.1\n1,0.2\n")
    return path


def refused(capsys: Any, monkeypatch: Any, arguments: list[str]) -> str:
    """Return the error of a command that reads nothing."""
    monkeypatch.setattr("fastevals.reading.csv.CsvFile.__init__", None)
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return str(err)


@pytest.mark.parametrize("option", ["--html", "--out", "summarize"])
@pytest.mark.parametrize("kind", ["loop", "long", "folder", "file"])
def test_what_cannot_be_written_is_said_before_anything_is_read(
    option: str, kind: str, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    data = rows_file(tmp_path)
    name = {"--html": "page.html", "--out": "out", "summarize": "rows.fe"}[option]
    path = tmp_path / ("x" * (252 if option != "--out" else 260) + name if kind == "long" else name)
    if kind == "loop":
        path.symlink_to(path.name)
    elif kind == "folder":
        (path / "report.json" if option == "--out" else path).mkdir(parents=True)
    elif kind == "file":
        rows_file(tmp_path, "no")
        path = tmp_path / "no" / name
    command = ["summarize", str(data), *COLUMNS, "--out", str(path)]
    if option != "summarize":
        command = ["report", str(data), *COLUMNS, option, str(path)]
    before = sorted(tmp_path.iterdir())
    said = refused(capsys, monkeypatch, command)
    assert (option if option != "summarize" else "--out") in said
    assert "must name a file" in said if kind == "folder" else "can't be written" in said or "must be a folder" in said
    assert sorted(tmp_path.iterdir()) == before


def test_a_picture_that_cannot_be_written_is_said_before(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    (tmp_path / "out" / "roc.png").mkdir(parents=True)
    command = ["report", str(rows_file(tmp_path)), *COLUMNS, "--out", str(tmp_path / "out")]
    assert "roc.png" in refused(capsys, monkeypatch, command)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="permissions are of Unix")
def test_files_keep_their_permissions_and_new_ones_have_the_users(tmp_path: Path, capsys: Any) -> None:
    data = rows_file(tmp_path)
    files = {"page": tmp_path / "page.html", "summary": tmp_path / "rows.fe", "text": tmp_path / "out" / "report.txt"}
    commands = [
        [
            "report",
            str(data),
            *("--target", "y", "--pred", "s"),  # it has few pictures
            "--resamples",
            "0",
            "--html",
            str(files["page"]),
            "--out",
            str(tmp_path / "out"),
        ],
        ["summarize", str(data), *COLUMNS, "--out", str(files["summary"])],
    ]
    before = os.umask(0o027)
    try:
        for mode in (0o640, 0o600, 0o444):
            assert [cli.main(command) for command in commands] == [0, 0]
            assert {oct(path.stat().st_mode & 0o777) for path in files.values()} == {oct(mode)}
            for path in files.values():
                path.chmod({0o640: 0o600, 0o600: 0o444}.get(mode, 0o444))
    finally:
        os.umask(before)


def test_a_file_that_several_write_at_once_is_whole(tmp_path: Path) -> None:
    """The last writer wins, none fails, and no other file is left; a link stays a link."""
    place, link, size = tmp_path / "place", tmp_path / "link", 100_000
    link.symlink_to(place.name)

    def write(k: int) -> set[bytes]:
        found = set()
        for _ in range(50):
            check_writable("file", str(link))
            write_file(link, bytes([k]) * size)
            found.add(link.read_bytes())
        return found

    with ThreadPoolExecutor(4) as pool:
        found = set().union(*pool.map(write, range(4)))
    assert found <= {bytes([k]) * size for k in range(4)}
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == [link, place]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_file_that_is_not_written_leaves_nothing(error: Any, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "x").write_text("before")

    def fail(*_: Any) -> None:
        assert len(list(tmp_path.iterdir())) == 2
        raise error

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(type(error) if isinstance(error, OSError) else error):
        write_file(tmp_path / "x", b"after")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("x", "before")]


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_names_that_are_not_utf8(tmp_path: Path, capsys: Any) -> None:
    data, name = rows_file(tmp_path), os.fsdecode(b"\xff")
    page = tmp_path / f"{name}.html"
    assert cli.main(["report", str(data), *COLUMNS, "--resamples", "0", "--html", str(page)]) == 0
    assert f"written to {tmp_path}/\\udcff.html" in capsys.readouterr().out
    assert "\\udcff.html" in page.read_text()
    summary = tmp_path / f"{name}.fe"
    assert cli.main(["summarize", str(data), *COLUMNS, "--out", str(summary)]) == 0
    assert cli.main(["report", str(summary), "--resamples", "0", "--html", str(page)]) == 0
    capsys.readouterr()
    odd = rows_file(tmp_path, f"{name}.csv")
    for given in ([str(odd)], [str(odd), str(data)], [str(tmp_path / "*.csv")], [str(odd), "--on-invalid", "drop"]):
        assert cli.main(["report", *given, *COLUMNS]) == 2
        assert "\\udcff.csv' can't be read: its name is not UTF-8, rename it" in capsys.readouterr().err


def test_a_saved_table_has_no_formulas() -> None:
    """A spreadsheet reads formulas as text, by OWASP's rule; numbers stay numbers."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("scripts are tried in Node")
    script = (Path(svg.__file__).parent / "page.js").read_text()
    rules = re.search(r"  const numeric = .*?(?=  const quoted)", script, re.DOTALL)
    assert rules is not None
    assert ".map(inert).map(quoted)" in script
    names = ["=cmd|' /C calc'!A0", "+1", "@SUM(A1)", "-1+cmd|' /C calc'!A0", " =1", "-x", "a=b", "x"]
    numbers = ["-0.5", "0.5", "-1e-05", "-inf", "-"]
    run = f"{rules[0]} console.log(JSON.stringify({json.dumps([*names, *numbers])}.map(inert)))"
    found = json.loads(subprocess.run([node, "-e", run], capture_output=True, text=True, check=True).stdout)
    assert found == [*(f"'{name}" for name in names[:6]), *names[6:], *numbers]
