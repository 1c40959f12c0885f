"""Pages in a real Chromium: controls move, numbers equal the ranking's, no network request is made."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from fastevals import Ranking
from fastevals.datasets import load_digits_eight
from fastevals.show.report.live import NO_THRESHOLD
from tests.show.report.test_page import CASES, HOSTILE, MODELS, OTHERS, columns, other, page_of

pytest.importorskip("jinja2")
browsers = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("pages are tested in Chromium, such as Debian's chromium", allow_module_level=True)

DATA = load_digits_eight()
# Scripts that query a page.
TABLE = """(k) => {
    const rows = [...document.querySelectorAll("article.block")[k].querySelectorAll("table.live tbody tr")];
    const numbers = (row) => [...row.querySelectorAll("[data-number]")];
    return rows.map((row) => Object.fromEntries(numbers(row).map((cell) => [cell.dataset.number, cell.textContent])));
}"""
POINTS = """(kind) => {
    const svg = document.querySelector(`svg[data-picture=${kind}]`), dots = [...svg.querySelectorAll("circle.at")];
    dots.sort((a, b) => a.dataset.model - b.dataset.model);
    const places = dots.map((dot) => [+dot.getAttribute("cx"), +dot.getAttribute("cy")]);
    return [svg.dataset.box, svg.dataset.x, svg.dataset.y, places];
}"""
CONTROLS = """() => {
    let k = 0;
    const all = [...document.querySelectorAll("input, select, button, summary")];
    return all.filter((each) => each.offsetParent !== null && !each.disabled).map((each) => each.dataset.k = `${k++}`);
}"""
UNNAMED = """() => [...document.querySelectorAll("input, select, svg[role=img]")]
    .filter((each) => !each.labels?.length && !each.getAttribute("aria-label")).map((each) => each.outerHTML)"""
MOVES = """async () => {
    const each = document.getElementById("at");
    for (let k = 0; k < 60; k++) {
        each.value = 10 * k;
        each.dispatchEvent(new Event("input"));
        await new Promise((done) => requestAnimationFrame(done));
    }
}"""
UNDRAWN = """() => [...document.querySelectorAll("svg *")].filter((each) =>
    [...each.attributes].some((one) => /NaN|Infinity|undefined/.test(one.value))).map((each) => each.outerHTML)"""
MOVED = """(html) => { // marks of thresholds that are not where the page has them without its script
    const within = (svg, x, y) => {
        const [left, top, width, height] = svg.dataset.box.split(" ").map(Number);
        return x >= left - 0.1 && x <= left + width + 0.1 && y >= top - 0.1 && y <= top + height + 0.1;
    };
    const marks = (page) => [...page.querySelectorAll("article.block svg[data-picture]")].flatMap((svg) => {
        const place = (dot) => ["cx", "cy", "r"].map((name) => +dot.getAttribute(name));
        const dots = [...svg.querySelectorAll("circle.at")].map(place)
            .filter(([x, y, r]) => r && within(svg, x, y));
        const uprights = svg.dataset.picture === "scores" ? ".reference" : ".threshold";
        const lines = [...svg.querySelectorAll(uprights)].map((line) => line.getAttribute("d").match(/M([\\d.]+) /))
            .filter((found) => found && within(svg, +found[1], +svg.dataset.box.split(" ")[1]))
            .map((found) => [+found[1]]);
        return [...dots, ...lines].map((place) => [svg.dataset.picture, ...place]);
    });
    const [drawn, shown] = [new DOMParser().parseFromString(html, "text/html"), document].map(marks);
    const areNear = (x, y) => x === y || Math.abs(x - y) < 0.2;
    const isNear = (a, b) => a.length === b.length && a.every((x, k) => areNear(x, b[k]));
    const lacking = (some, others) => some.filter((a) => !others.some((b) => isNear(a, b)));
    return [lacking(drawn, shown), lacking(shown, drawn), drawn.length];
}"""
NARROW = {"width": 360, "height": 800}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsers.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


class Shown:
    """An open page, with its errors and requests."""

    def __init__(self, browser: Any, file: Path, fragment: str = "", **options: Any) -> None:
        self.page = browser.new_context(**options).new_page()
        self.complaints: list[str] = []
        own = file.as_uri()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda asked: self.complaints.extend({asked.url.split("#")[0]} - {own}))
        self.page.goto(f"{own}{fragment}")
        self.settle()

    def settle(self) -> None:
        """Wait until a change is shown."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def set(self, control: str, value: Any) -> None:
        """Return a control a value, as its user does."""
        self.page.evaluate(
            "([id, value]) => { const each = document.getElementById(id); each.value = value;"
            "each.dispatchEvent(new Event('input')); each.dispatchEvent(new Event('change')); }",
            [control, str(value)],
        )
        self.settle()

    def table(self, block: int = 0) -> list[dict[str, str]]:
        """Return the numbers at the threshold, one row per model."""
        return self.page.evaluate(TABLE, block)  # type: ignore[no-any-return]

    def points(self, kind: str) -> list[tuple[float, float]]:
        """Return the coordinates of the models' points in a picture."""
        box, x_axis, y_axis, dots = self.page.evaluate(POINTS, kind)
        left, top, width, height = map(float, box.split())
        (x0, x1), (y0, y1) = (map(float, text.split()[:2]) for text in (x_axis, y_axis))
        return [(x0 + (x - left) / width * (x1 - x0), y0 + (1 - (y - top) / height) * (y1 - y0)) for x, y in dots]


@pytest.fixture(scope="module")
def digits(tmp_path_factory: Any) -> Path:
    file = tmp_path_factory.mktemp("page") / "digits.html"
    file.write_text(page_of(DATA, label="label", score=MODELS, n_resamples=199)[1])
    return file


def shown_number(text: str) -> float:
    return np.nan if text == "-" else np.inf if text == NO_THRESHOLD else float(text.replace(",", ""))


def check_table(rows: list[dict[str, str]], thresholds: list[float]) -> None:
    """Check that the page's numbers equal the rankings' at thresholds."""
    for row, model, threshold in zip(rows, MODELS, thresholds, strict=True):
        (tn, fp), (fn, tp) = Ranking(DATA["label"], DATA[model]).confusion_at(threshold).counts.tolist()
        assert [shown_number(row[name]) for name in ("tp", "fp", "fn", "tn")] == [tp, fp, fn, tn]
        expected = {
            "recall": tp / (tp + fn), "precision": tp / (tp + fp) if tp + fp else np.nan,
            "f1": 2 * tp / (2 * tp + fp + fn), "accuracy": (tp + tn) / (tp + fp + fn + tn),
            "specificity": tn / (tn + fp), "false_positive_rate": fp / (tn + fp),
        }  # fmt: skip
        for name, value in expected.items():
            assert shown_number(row[name]) == pytest.approx(value, abs=5.1e-5, nan_ok=True), name


def test_the_page_opens_as_the_report_and_asks_for_nothing(browser: Any, digits: Path) -> None:
    shown = Shown(browser, digits)
    report = json.loads(re.search(r'id="report">(.*?)</script>', digits.read_text(), re.DOTALL)[1])
    models = report["blocks"][0]["models"]
    check_table(shown.table(), [model["threshold"] for model in models])
    for row, model in zip(shown.table(), models, strict=True):
        assert {name: int(row[name].replace(",", "")) for name in ("tp", "fp", "fn", "tn")} == model["confusion"]
        for name in ("f1", "recall", "precision", "matthews", "accuracy", "specificity"):
            assert row[name] == f"{model['metrics'][name]:.4f}"
        assert row["cost"] == f"{model['metrics']['expected_cost']:.4f}"
    assert shown.complaints == []
    started = shown.page.evaluate("() => performance.getEntriesByType('navigation')[0].domComplete")
    assert started < 2000


def test_numbers_are_those_of_the_ranking_at_any_threshold_and_cost(browser: Any, digits: Path) -> None:
    shown, rng = Shown(browser, digits), np.random.default_rng(0)
    rankings = {model: Ranking(DATA["label"], DATA[model]) for model in MODELS}
    shown.set("by", "score")
    for score in rng.random(50).round(4).tolist():
        shown.set("at-number", score)
        check_table(shown.table(), [score] * 3)
        for (x, y), ranking in zip(shown.points("roc"), rankings.values(), strict=True):
            (tn, fp), (fn, tp) = ranking.confusion_at(score).counts.tolist()
            assert (x, y) == pytest.approx((fp / (fp + tn), tp / (tp + fn)), abs=2e-3)
    shown.set("by", "cost")
    for cost, prior in zip(
        (10 ** rng.uniform(-2, 2, 20)).round(3).tolist(), rng.uniform(0.01, 0.9, 20).round(4).tolist(), strict=True
    ):
        for control, value in (("cost-fp", 1), ("cost-fn", cost), ("prior-number", prior)):
            shown.set(control, value)
        for row, ranking in zip(shown.table(), rankings.values(), strict=True):
            least = ranking.best_threshold("expected_cost", cost_fn=cost, prior=prior)
            assert shown_number(row["cost"]) == pytest.approx(least.value, abs=5.1e-5)
            low, _, high = row["holds"].partition(" to ")
            assert float(low) <= prior * 1.001
            assert prior <= float(high) * 1.001
    for by, limit, metric in (
        ("recall", 0.9, "recall"),
        ("precision", 0.2, "precision"),
        ("fpr", 0.05, "false_positive_rate"),
    ):
        shown.set("by", by)
        shown.set("at-number", limit)
        for row, ranking in zip(shown.table(), rankings.values(), strict=True):
            matrix = ranking.confusion_at(ranking.threshold_for(**{by: limit}).threshold)
            assert shown_number(row["tp"]) == matrix.counts[1, 1]
            assert (shown_number(row[metric]) <= limit) == (by == "fpr") or shown_number(row[metric]) == limit
    shown.set("by", "share")
    shown.set("at-number", 0.2)
    for row in shown.table():
        assert shown_number(row["tp"]) + shown_number(row["fp"]) <= 0.2 * 1797
    assert shown.complaints == []


def test_rates_within_a_limit_are_those_of_the_ranking(browser: Any, tmp_path: Path) -> None:
    y, rng = np.repeat([0, 1], 100), np.random.default_rng(0)
    data = {"y": y, "m0": (rng.normal(size=200) + y).round(1), "m1": rng.normal(size=200) + y}
    file = tmp_path / "page.html"
    file.write_text(page_of(data, label="y", score=["m0", "m1"])[1])
    shown = Shown(browser, file)
    for by, limits in (
        ("tpr", (0.07, 0.14, 0.28, 0.55, 1)),
        ("precision", (0.1, 0.5, 0.6, 0.7)),
        ("fpr", (0, 0.14, 0.55, 0.57, 0.95)),
    ):
        shown.set("by", "recall" if by == "tpr" else by)
        for limit in limits:
            shown.set("at-number", limit)
            for row, name in zip(shown.table(), ("m0", "m1"), strict=True):
                ranking = Ranking(y, data[name])
                (_, fp), (_, tp) = ranking.confusion_at(ranking.threshold_for(**{by: limit}).threshold).counts.tolist()
                assert (row["tp"], row["fp"]) == (str(tp), str(fp)), (by, limit, name)


def test_a_threshold_that_is_shown_predicts_the_same_rows_when_it_is_typed(browser: Any, tmp_path: Path) -> None:
    scores = 1000 + np.random.default_rng(0).random(60) / 100  # they differ only in later digits
    data = {"y": np.arange(60) % 2, "m0": scores}
    file = tmp_path / "page.html"
    file.write_text(page_of(data, label="y", score="m0")[1])
    shown = Shown(browser, file)
    for share in (0.1, 0.33, 0.5, 0.75):
        shown.set("by", "share")
        shown.set("at-number", share)
        (row,) = shown.table()
        title = f"Confusion matrix: m0 at {row['threshold']}"
        assert shown.page.inner_text("figure.confusion figcaption strong") == title
        assert shown.page.get_attribute("figure.confusion svg", "aria-label") == title
        shown.set("by", "score")
        shown.set("at-number", row["threshold"])
        assert shown.table() == [row]
        assert shown.page.input_value("#at-number") == row["threshold"]
    for at in range(0, 1001, 50):
        shown.set("at", at)
        (row,) = shown.table()
        asked = float(shown.page.input_value("#at-number"))
        assert int(row["tp"]) + int(row["fp"]) == np.count_nonzero(scores >= asked)
        assert abs(asked - (scores.min() + at / 1000 * np.ptp(scores))) < 1e-7
    assert asked == scores.max()


def test_the_slider_is_of_scores_that_a_summary_knows(browser: Any, tmp_path: Path) -> None:
    data, file = columns(3000), tmp_path / "page.html"
    data["m0"][0] = -np.finfo(np.float64).max  # as the last threshold of a summary, which is below all scores
    file.write_text(page_of(data, label="y", score="m0")[1])
    shown = Shown(browser, file)
    shown.set("by", "score")
    asked = []
    for at in (0, 500, 1000):
        shown.set("at", at)
        asked.append(float(shown.page.input_value("#at-number")))
    known = data["m0"][1:]
    assert asked == pytest.approx([known.min(), known.min() / 2 + known.max() / 2, known.max()], abs=0.1)


@pytest.mark.parametrize(
    "costs",
    [
        {"cost_fp": 1, "cost_fn": 1},
        {"cost_fp": 0.1, "cost_fn": 0.3},
        {"prior": 0.1},
        {"cost_fn": 0},
        {"cost_fp": 0, "prior": 0.5},
        {"cost_fp": 1e308, "cost_fn": 1e308},
    ],
)
def test_the_least_cost_is_the_reports_among_ties(browser: Any, tmp_path: Path, costs: dict[str, float]) -> None:
    for seed in (4, 7):
        data = columns(100, seed)
        data["m0"] = data["m0"].round(1)
        report, page = page_of(data, label="y", score=["m0", "m1"], **costs)
        file = tmp_path / "page.html"
        file.write_text(page)
        shown = Shown(browser, file)
        first = shown.table()
        shown.set("by", "cost")
        for row, at_least_cost, model in zip(first, shown.table(), report.blocks[0].models, strict=True):
            names = ("tp", "fp", "fn", "tn", "cost", "holds")
            assert [at_least_cost[name] for name in names] == [row[name] for name in names]
            assert [float(end) for end in row["holds"].split(" to ")] == pytest.approx(model.holds, rel=1e-3)
        assert "Infinity" not in str(first)


def test_the_state_is_in_the_address_and_models_can_be_hidden(browser: Any, digits: Path) -> None:
    shown = Shown(browser, digits)
    first = shown.table()
    shown.set("by", "recall")
    shown.set("at-number", 0.8)
    shown.page.uncheck("#show-1")
    shown.settle()
    fragment = shown.page.evaluate("() => location.hash")
    assert fragment == "#by=recall&at=0.8&off=1"
    assert shown.page.locator("path.curve.m1").first.is_hidden()
    assert shown.page.locator("path.curve.m2").first.is_visible()
    again = Shown(browser, digits, fragment)
    assert again.table() == shown.table()
    assert not again.page.is_checked("#show-1")
    again.page.click("#reset")
    again.settle()
    assert again.page.evaluate("() => location.hash") == ""
    assert again.page.is_checked("#show-1")
    assert again.table() == first
    for wrong in (
        "#by=nonsense&at=x&fp=&off=,",
        "#at=1e999&prior=-3",
        "#=&&&",
        "#by=__proto__",
        "#fp=0&fn=0&by=cost&off",
    ):
        assert Shown(browser, digits, wrong).complaints == []


def test_a_slider_moves_in_a_frame(browser: Any, digits: Path) -> None:
    shown = Shown(browser, digits)
    shown.set("by", "share")
    session = shown.page.context.new_cdp_session(shown.page)
    session.send("Performance.enable")

    def script_time() -> float:
        measured = session.send("Performance.getMetrics")["metrics"]
        return next(each["value"] for each in measured if each["name"] == "ScriptDuration")  # type: ignore[no-any-return]

    begin = script_time()
    shown.page.evaluate(MOVES)
    assert (script_time() - begin) / 60 < 0.03  # usually 0.007; a frame has 0.016


def test_the_keyboard_reaches_everything(browser: Any, digits: Path) -> None:
    shown = Shown(browser, digits)
    shown.set("by", "score")
    wanted = set(shown.page.evaluate(CONTROLS))
    reached = set()
    for _ in range(3 * len(wanted)):
        shown.page.keyboard.press("Tab")
        reached.add(shown.page.evaluate("() => document.activeElement.dataset.k"))
    assert wanted <= reached
    assert shown.page.evaluate(UNNAMED) == []
    shown.page.focus("#at")
    before = shown.table()
    shown.page.keyboard.press("PageUp")
    shown.settle()
    assert shown.table() != before


def test_pages_print_and_fit_narrow_and_dark_screens(browser: Any, digits: Path) -> None:
    shown = Shown(browser, digits)
    content = shown.page.pdf(format="A4")
    assert content.startswith(b"%PDF")
    assert len(content) > 20_000
    narrow = Shown(browser, digits, viewport=NARROW)
    assert narrow.page.evaluate("() => document.documentElement.scrollWidth") <= 360
    background = "() => getComputedStyle(document.body).backgroundColor"
    colors = [Shown(browser, digits, color_scheme=each).page.evaluate(background) for each in ("light", "dark")]
    assert colors == ["rgb(255, 255, 255)", "rgb(22, 24, 27)"]


def test_without_javascript_the_page_has_verdict_numbers_and_pictures(browser: Any, digits: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(digits.as_uri())
    assert page.locator("p.first").is_visible()
    assert page.locator("figure svg").count() >= 15
    assert page.locator("#by").is_hidden()
    page.uncheck("#show-0")
    assert page.locator("path.curve.m0").first.is_hidden()


def test_what_is_saved_is_what_is_shown(browser: Any, digits: Path, tmp_path: Path) -> None:
    shown = Shown(browser, digits)
    for button, name in (
        ("#save-json", "report.json"),
        ("figure[data-figure=roc] .save", "roc.svg"),
        ("section:has(> .wide > .metrics) .save", "metrics.csv"),
        ("section:has(> .wide > .live) .save", "live.csv"),
        ("section:has(> .wide > .differences) .save", "differences.csv"),
    ):
        with shown.page.expect_download() as download:
            shown.page.click(button)
        assert download.value.suggested_filename == name
        download.value.save_as(tmp_path / name)
    report = json.loads(re.search(r'id="report">(.*?)</script>', digits.read_text(), re.DOTALL)[1])
    assert json.loads((tmp_path / "report.json").read_text()) == report
    picture = (tmp_path / "roc.svg").read_text()
    assert picture.startswith("<svg")
    assert "stroke: rgb(0, 114, 178)" in picture
    said = [each.text for each in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert said[0] == "ROC"
    assert [each.partition(":")[0] for each in said if "AUC" in each] == list(MODELS)
    assert any("dashed: chance" in each for each in said)
    rows = list(csv.DictReader((tmp_path / "metrics.csv").read_text().splitlines()))
    for row, model in zip(rows, report["blocks"][0]["models"], strict=True):
        assert row["Model"] == model["name"]
        assert float(row["AUC"]) == model["metrics"]["roc_auc"]
        assert [float(row[f"AUC {end}"]) for end in ("low", "high")] == model["intervals"]["roc_auc"]
    at_threshold = list(csv.DictReader((tmp_path / "live.csv").read_text().splitlines()))
    assert [int(row["TN"]) for row in at_threshold] == [int(row["tn"].replace(",", "")) for row in shown.table()]
    for row, cells in zip(at_threshold, shown.table(), strict=True):
        ends = [f"{float(row[f'best for priors {end}']):.4g}" for end in ("low", "high")]
        assert " to ".join(ends) == cells["holds"]
    for row in csv.DictReader((tmp_path / "differences.csv").read_text().splitlines()):
        assert float(row["AUC low"]) <= float(row["AUC"]) <= float(row["AUC high"])
        assert 0 <= float(row["AUC p"]) <= 1


@pytest.mark.parametrize("case", CASES)
def test_every_page_opens_without_complaint(browser: Any, tmp_path: Path, case: str) -> None:
    data, options = CASES[case]
    file = tmp_path / "page.html"
    file.write_text(page_of(data, **{"label": "y", "score": "m0", **options})[1])
    shown = Shown(browser, file)
    only_drawn, only_shown, n = shown.page.evaluate(MOVED, file.read_text())
    assert (only_drawn, only_shown) == ([], [])
    assert n or not shown.page.locator("#by").count() or case in ("one row", "one class")
    if "live" in file.read_text() and shown.page.locator("#by").count():
        for by in ("score", "share", "recall", "precision", "fpr", "cost"):
            shown.set("by", by)
            for control, value in (("at", 0), ("at", 1000), ("at", 300), ("cost-fp", 0), ("prior", 1), ("prior", 999)):
                shown.set(control, value)
            for ratio in (-300, 300, 50):
                shown.set("ratio", ratio)
    assert not re.search("NaN|Infinity", shown.page.inner_text("main"))
    assert shown.page.evaluate(UNDRAWN) == []
    assert shown.complaints == []


@pytest.mark.parametrize("name", OTHERS)
def test_pages_of_other_results_open_without_complaint(browser: Any, tmp_path: Path, name: str) -> None:
    file = tmp_path / "page.html"
    file.write_text(other(name, tmp_path)[1])
    shown = Shown(browser, file, viewport=NARROW)
    assert shown.page.evaluate("() => document.documentElement.scrollWidth") <= 360
    assert not re.search("NaN|Infinity", shown.page.inner_text("main"))
    assert shown.page.evaluate(UNDRAWN) == []
    assert shown.page.evaluate(UNNAMED) == []
    assert shown.complaints == []


def test_models_are_switched_on_pages_without_thresholds(browser: Any, tmp_path: Path) -> None:
    data, options = CASES["hundreds of values"]
    file = tmp_path / "page.html"
    pages = [page_of(data, **{"label": "y", "score": ["m0", "m1"], **options})[1], other("classes", tmp_path)[1]]
    for page, mark in zip(pages, ("table.values .m1", "table.metrics .m1"), strict=True):
        file.write_text(page)
        shown = Shown(browser, file)
        shown.page.uncheck("#show-1")
        shown.settle()
        fragment = shown.page.evaluate("() => location.hash")
        assert fragment == "#off=1"
        again = Shown(browser, file, fragment)
        assert not again.page.is_checked("#show-1")
        assert again.page.locator(mark).first.is_hidden()
        assert again.complaints == []


def test_each_control_shows_its_value_and_paper_has_all(browser: Any, digits: Path) -> None:
    shown = Shown(browser, digits)
    assert shown.page.inner_text("#ratio-number") == "1 to 1"
    assert shown.page.inner_text("#reset") == "Reset"
    assert shown.page.inner_text("summary") == "Caveats"
    shown.set("ratio", 100)
    assert shown.page.inner_text("#ratio-number") == "10 to 1"
    shown.set("by", "recall")
    shown.set("at-number", 0.9)
    shown.page.uncheck("#show-1")
    shown.settle()
    note = "with a recall of at least 0.9"
    assert shown.page.inner_text("h3 .at") == note
    assert shown.page.locator("#settings").is_hidden()
    shown.page.emulate_media(media="print")
    assert shown.page.inner_text("#settings") == (
        "Models: logistic, random_forest (hidden: naive_bayes). Counts, rates and pictures are shown "
        f"{note}. Cost of a false positive 1, of a false negative 10, prior 0.09683."
    )
    assert not shown.page.locator("#show-0").is_visible()


def test_a_threshold_that_predicts_no_row_is_said_in_words(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    data = {"y": [0, 1] * 20, "m": [0.6, 0.5] * 20}
    file.write_text(page_of(data, label="y", score="m", cost_fn=1, cost_fp=5)[1])
    shown = Shown(browser, file)
    (row,) = shown.table()
    assert (row["least"], row["threshold"]) == ("none: predict no row positive",) * 2
    assert shown.page.inner_text("figure.confusion strong") == "Confusion matrix: m at no threshold"


@pytest.mark.parametrize("width", [1300, 420])
def test_a_table_fits_or_has_a_shadow_at_its_edge(browser: Any, digits: Path, width: int) -> None:
    shown = Shown(browser, digits, viewport={"width": width, "height": 800})
    cut = (
        "() => [...document.querySelectorAll('.wide')].filter((each) => each.scrollWidth > each.clientWidth + 1).length"
    )
    assert bool(shown.page.evaluate(cut)) == (width == 420)
    ground = "() => getComputedStyle(document.querySelector('.wide')).backgroundAttachment"
    assert shown.page.evaluate(ground) == "local, scroll"


def test_contents_lead_to_blocks_and_leave_the_controls_alone(browser: Any, tmp_path: Path) -> None:
    data, options = CASES["by"]
    file = tmp_path / "page.html"
    file.write_text(page_of(data, **{"label": "y", "score": "m0", **options})[1])
    shown = Shown(browser, file, fragment="#by=recall&at=0.5")
    shown.page.click("nav li:last-child a")
    shown.settle()
    assert shown.page.evaluate("() => [scrollY > 1000, location.hash]") == [True, "#by=recall&at=0.5"]


def test_names_are_whole_on_paper(browser: Any, digits: Path) -> None:
    shown = Shown(browser, digits, viewport={"width": 700, "height": 900})
    shown.page.emulate_media(media="print")
    names = "[...document.querySelectorAll('table.live tbody th bdi')]"
    assert shown.page.evaluate(f"() => {names}.map((each) => each.getClientRects().length)") == [1] * len(MODELS)


def test_values_are_sorted_and_searched(browser: Any, tmp_path: Path) -> None:
    data, options = CASES["hundreds of values"]
    file = tmp_path / "page.html"
    file.write_text(page_of(data, **{"label": "y", "score": ["m0", "m1"], **options})[1])
    shown = Shown(browser, file)
    column = "() => [...document.querySelectorAll('table.values tbody tr')].map((row) => +row.cells[3].title || null)"
    for sign in (1, -1):
        shown.page.click("table.values thead th:nth-child(4) button")
        values = [each for each in shown.page.evaluate(column) if each is not None]
        assert values == sorted(values, reverse=sign < 0)
    shown.page.fill("section:has(table.values) input[type=search]", "29")
    visible = shown.page.locator("table.values tbody tr:visible").count()
    assert visible == sum("29" in str(value) for value in range(300))
    assert shown.page.inner_text("section:has(table.values) [role=status]") == f"{visible} of 300"


def test_hostile_names_run_nothing(browser: Any, tmp_path: Path) -> None:
    data = columns(200, n_models=len(HOSTILE))
    named = {"y": data["y"]} | {name: data[f"m{k}"] for k, name in enumerate(HOSTILE)}
    file = tmp_path / "page.html"
    file.write_text(page_of(named, label="y", score=HOSTILE, n_resamples=99)[1])
    shown = Shown(browser, file, viewport=NARROW)
    assert shown.complaints == []
    assert shown.page.evaluate("() => document.documentElement.scrollWidth") <= 360
    assert "emoji" in shown.page.inner_text("main")
