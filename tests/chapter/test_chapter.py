"""The chapter's examples: every printed figure is ours or has a reason, and the command writes what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fastevals.chapter import Chapter, Comparison, Solved, examples, solve
from fastevals.chapter.command import main
from fastevals.datasets import load_auto

# What the book, the course and the reference cases print: example, what, figure.
PRINTED = {
    ("splits", "share of rows that a bootstrap sample leaves out"): "0.368",
    ("scored-instances", "AUC"): "0.68",
    ("scored-instances", "rank loss"): "0.32",
    ("scored-instances", "break-even point"): "0.6",
    ("scored-instances", "equal error rate"): "0.4",
    ("scored-instances", "area under the ROC hull"): "0.755",
    ("scored-instances", "average precision"): "0.735748",
    ("cost-curves", "lower envelope at PC(+) = 0.5"): "0.3",
    ("cost-curves", "area over PC(+)"): "0.189881",
    ("cost-curves", "area over the prior at 1:3, normalised"): "0.1706",
    ("cost-curves", "area over the prior at 1:5, normalised"): "0.1482",
    ("cost-curves", "area over the prior at 1:5, of a row's cost"): "0.3476",
    ("critical-values", "q of 3 algorithms, level 0.05"): "2.344",
    ("critical-values", "chi-squared, level 0.1"): "2.7055",
    ("binomial", "P(X > 5), 10 rows"): "0.047",
    ("binomial", "p-value, corrected for the choice of 16 (Sidak)"): "0.926",
    ("binomial", "critical error rate, 100 rows"): "0.38",
    ("t-test", "T"): "-2.030259",
    ("t-test", "p, error < 0.30"): "0.0302",
    ("five-by-two", "critical value of t, 5 degrees of freedom"): "2.5706",
    ("five-by-two", "t of the differences worked by hand"): "1.154701",
    ("five-by-two", "F of all ten"): "2.933333",
    ("table-2-5", "F, without tie correction"): "24.429",
    ("table-2-5", "F, tie-corrected"): "57",
    ("table-2-5", "critical value of F"): "5.143",
    ("table-2-5", "critical difference"): "1.657",
    ("psnr-cameraman", "p, K-SVD"): "0.049",
    ("psnr", "chi-squared, sigma 20"): "9.72",
    ("psnr", "chi-squared, all blocks"): "103.61",
}
# Those that are misprinted, or the source's own mistake: what is right.
MISPRINTED = {
    ("binomial", "p-value of the worst experiment", "0.047"): 0.1502683,
    ("mcnemar", "chi-squared, corrected", "10.73"): 3.017857,
    ("mcnemar", "p of chi-squared, corrected", "0.0010"): 0.08235,
    ("mcnemar", "critical value at level 0.05", "5.023"): 3.841459,
    ("table-2-5", "mean ranks of A and C, apart by", "1.775"): 1.875,
}
NAMES = list(examples())


@pytest.fixture(scope="module")
def chapter() -> Chapter:
    return solve()


def compared(chapter: Chapter) -> list[tuple[str, Comparison]]:
    return [(each.name, row) for each, answer in chapter.solved for row in answer.comparisons]


def test_every_printed_figure_is_ours_or_says_why_not(chapter: Chapter) -> None:
    assert [(name, row) for name, row in compared(chapter) if row.agrees == bool(row.why)] == []


def test_figures_are_those_of_the_sources(chapter: Chapter) -> None:
    found = {(name, row.what): row for name, row in compared(chapter) if row.agrees}
    assert {key: found[key].printed for key in PRINTED} == PRINTED


def test_figures_that_differ_are_the_known_misprints(chapter: Chapter) -> None:
    found = {(name, row.what, row.printed): row.here for name, row in compared(chapter) if not row.agrees}
    of_samples = {key for key in found if key[0] == "bias-variance"}  # noise, whose expectation is printed
    assert found.keys() - of_samples == MISPRINTED.keys()
    for key, right in MISPRINTED.items():
        assert found[key] == pytest.approx(right, rel=1e-4)


def test_a_figure_agrees_to_its_last_digit() -> None:
    assert Comparison("", 24.4286, "24.429", "").agrees
    assert Comparison("", 0.15, "0.1", "").agrees  # half of the last digit
    assert not Comparison("", 24.4284, "24.429", "").agrees
    assert not Comparison("", 1.875, "1.775", "").agrees


def test_every_example_is_answered_in_text(chapter: Chapter) -> None:
    text = chapter.to_text()
    sections = [each.section for each, _ in chapter.solved]
    assert sections == sorted(sections)
    for each, answer in chapter.solved:
        assert f"{each.section} {each.title} [{each.name}]" in text
        assert "?" in each.question
        assert answer.sentences
        assert all(sentence.endswith(".") for sentence in answer.sentences)


def test_pictures_and_their_names(chapter: Chapter) -> None:
    drawn = {each.name: [kind for kind, _ in answer.pictures] for each, answer in chapter.solved}
    assert drawn.pop("exercise-2-1") == drawn.pop("critical-values") == []
    assert all(drawn.values())
    nine = next(dict(answer.pictures)["three_models"] for each, answer in chapter.solved if each.name == "three-models")
    models = ("logistic", "naive_bayes", "random_forest")
    assert [panel.title for panel in nine] == [f"{name}, {kind}" for name in models for kind in ("P-R", "ROC", "cost")]


def test_an_example_is_the_same_alone(chapter: Chapter) -> None:
    alone = solve("t-test")
    assert alone.to_dict()["examples"] == [each for each in chapter.to_dict()["examples"] if each["name"] == "t-test"]


# The command ----------------------------------------------------------------------------------------------------------


def test_text_json_and_folder(tmp_path: Path, capsys: Any) -> None:
    assert main(["table-2-5", "--quiet", "--out", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    assert "24.429" in text
    pictures = ["critical_difference", "critical_difference_ranges", "null"]
    names = ["chapter.json", "chapter.txt", *(f"table-2-5-{kind}.png" for kind in pictures)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(names)
    assert text.startswith((tmp_path / "out" / "chapter.txt").read_text())
    assert main(["table-2-5", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["examples"]
    assert (found["name"], found["section"], found["pictures"]) == (
        "table-2-5",
        "2.4.4",
        pictures[1::-1] + pictures[2:],
    )
    assert [found["comparisons"][1][name] for name in ("here", "printed", "agrees")] == [
        24.428571428571427,
        "24.429",
        True,
    ]


class Tags(HTMLParser):
    """Counts elements, and finds what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.loaded += [str(value) for name, value in attrs if name in ("src", "href")]


def test_the_page_holds_all_pictures(chapter: Chapter, tmp_path: Path) -> None:
    page = chapter.to_html()
    tags = Tags()
    tags.feed(page)
    assert tags.counts["figure"] == sum(len(panels) for _, answer in chapter.solved for _, panels in answer.pictures)
    assert tags.loaded == []
    assert 'class="said">20 instances: AUC 0.680' in page  # the legend, where nothing else names the models
    assert all(f"<bdi>{each.title}</bdi>".replace("'", "&#39;") in page for each, _ in chapter.solved)
    assert main(["mcnemar", "--html", str(tmp_path / "page.html")]) == 0
    assert "python -m fastevals.chapter mcnemar --html" in (tmp_path / "page.html").read_text()


def test_the_list_names_all_in_order(capsys: Any) -> None:
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == NAMES


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mcnemer"], rf"no example 'mcnemer' \(did you mean 'mcnemar'\?\); there are {', '.join(NAMES)}"),
        (["psnr", "splits"], r"unexpected argument 'splits' \(one NAME, or none for all\)"),
        (["--htlm", "x"], r"unknown option '--htlm', did you mean --html\?"),
        (["splits", "--html", ""], "--html must name a file, got ''"),
    ],
)
def test_bad_arguments(arguments: list[str], message: str, capsys: Any) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.fullmatch(f"python -m fastevals.chapter: error: {message}\n", shown.err)


@pytest.mark.parametrize("names", [["t-test", "train-test"], pytest.param(NAMES, marks=pytest.mark.slow)])
def test_without_scikit_learn(names: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    some = {name: examples()[name] for name in names}
    monkeypatch.setattr("fastevals.chapter.chapter.examples", lambda: some)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    assert main(["train-test"]) == 2
    assert "pip install scikit-learn" in capsys.readouterr().err
    solved = {each.name: answer for each, answer in solve().solved}
    assert list(solved) == names
    assert solved["train-test"].sentences == [
        "Not answered here: the data and the models are scikit-learn's: pip install scikit-learn"
    ]


def test_the_module_runs() -> None:
    command = [sys.executable, "-m", "fastevals.chapter", "t-test"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == Chapter((Solved(examples()["t-test"], examples()["t-test"].solve()),)).to_text()
    assert done.stderr == ""


def test_the_rows_of_a_frame_are_the_figures_beside_printed_ones() -> None:
    chapter = solve("mcnemar")
    [(_, answer)] = chapter.solved
    frame = chapter.to_frame("pandas")
    assert [*frame["what"]] == [each.what for each in answer.comparisons]
    assert [*frame["here"]] == [each.here for each in answer.comparisons]
    assert [*frame["agrees"]] == [each.agrees for each in answer.comparisons]
    assert len(solve("exercise-2-1").to_frame("polars")) == 0


def test_the_error_of_drawing_test_sets_is_told_from_that_of_the_cars() -> None:
    cars = load_auto()
    losses = (cars["mpg"] - (40 - 0.15 * cars["horsepower"])) ** 2
    [(_, answer)] = solve("auto").solved
    of_mpg, _ = answer.tables
    assert list(of_mpg.columns)[-2:] == ["Monte Carlo error", "standard error of 392 cars"]
    drawn, of_cars = ([row.cells[k].value for row in of_mpg.rows] for k in (2, 3))
    assert of_cars == pytest.approx([losses.std(ddof=1) / 392**0.5] * 3)
    assert of_cars[0] == pytest.approx(1.7462, abs=1e-4)
    assert drawn[0] < 0.1 < of_cars[0]  # 2,000 draws of the same cars
