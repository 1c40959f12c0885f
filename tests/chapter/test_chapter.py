"""The chapter's examples: every printed figure is reproduced or has a reason; every call in the index exists."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

import fastevals
from fastevals.chapter import Chapter, Comparison, Solved, examples, solve
from fastevals.chapter.command import main
from fastevals.chapter.formulas import FORMULAS, TERMS
from fastevals.chapter.measures import CLASSES, SCORES
from fastevals.datasets import load_auto

# Figures printed by the book, the course and the reference cases: example, what, figure.
PRINTED = {
    ("splits", "share of rows left out of a bootstrap sample"): "0.368",
    ("quotas", "P_4"): "0.75",
    ("quotas", "R_10"): "0.6",
    ("tenfold-negatives", "precision at 0.54, ten times the negatives"): "0.3333",
    ("isl-6", "standard error of the intercept, by formula"): "0.717",
    ("exercise-2-2", "error rate, leave-one-out"): "1",
    ("exercise-2-2", "error rate, ten stratified folds"): "0.5",
    ("exercise-2-5", "(2.20) + (2.21), ties"): "1.000000000",
    ("exercise-2-7", "corners of the hull"): "6",
    ("exercise-2-9", "chi-squared by hand"): "3.5",
    ("scored-instances", "AUC"): "0.68",
    ("scored-instances", "rank loss"): "0.32",
    ("scored-instances", "break-even point"): "0.6",
    ("scored-instances", "equal error rate"): "0.4",
    ("scored-instances", "area under the ROC hull"): "0.755",
    ("scored-instances", "average precision"): "0.735748",
    ("cost-curves", "lower envelope at PC(+) = 0.5"): "0.3",
    ("cost-curves", "area under normalised cost against PC(+)"): "0.189881",
    ("cost-curves", "area under normalised cost against prior, costs 1:3"): "0.1706",
    ("cost-curves", "area under normalised cost against prior, costs 1:5"): "0.1482",
    ("cost-curves", "area under cost per row against prior, costs 1:5"): "0.3476",
    ("critical-values", "q of 3 algorithms, level 0.05"): "2.344",
    ("critical-values", "chi-squared, level 0.1"): "2.7055",
    ("binomial", "P(X > 5), 10 rows"): "0.047",
    ("binomial", "p-value, corrected for the choice of 16 (Sidak)"): "0.926",
    ("binomial", "critical error rate, 100 rows"): "0.38",
    ("t-test", "T"): "-2.030259",
    ("t-test", "p, error < 0.30"): "0.0302",
    ("five-by-two", "critical value of t, 5 degrees of freedom"): "2.5706",
    ("five-by-two", "t of the five given pairs of differences"): "1.154701",
    ("five-by-two", "F of all ten"): "2.933333",
    ("table-2-5", "F, without tie correction"): "24.429",
    ("table-2-5", "F, tie-corrected"): "57",
    ("table-2-5", "critical value of F"): "5.143",
    ("table-2-5", "critical difference"): "1.657",
    ("psnr-cameraman", "p, K-SVD"): "0.049",
    ("psnr", "chi-squared, sigma 20"): "9.72",
    ("psnr", "chi-squared, all blocks"): "103.61",
}
# Misprints and mistakes of the sources, with the right value.
MISPRINTED = {
    ("binomial", "p-value of the worst experiment", "0.047"): 0.1502683,
    ("mcnemar", "chi-squared, corrected", "10.73"): 3.017857,
    ("mcnemar", "p of chi-squared, corrected", "0.0010"): 0.08235,
    ("mcnemar", "critical value at level 0.05", "5.023"): 3.841459,
    ("table-2-5", "difference of the mean ranks of A and C", "1.775"): 1.875,
    ("exercise-2-1", "log10 of the number of splits", "278.3279"): 262.4751,
    ("misprints", "F1", "0.294"): 0.625,
    ("misprints", "micro F1", "0.375"): 0.625,
    ("misprints", "AUC", "0.32"): 0.68,
    ("misprints", "folds of leave-one-out, m = 20", "1"): 20,
    ("misprints", "mean squared error of predictions 1 and 3 for the true value 0", "3.0"): 5,
    ("misprints", "critical error rate, m = 10, e0 = 0.3", "0.150"): 0.5,
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
    of_samples = {key for key in found if key[0] == "bias-variance"}  # random; the sources print the expectation
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
    assert {name for name, kinds in drawn.items() if not kinds} == {
        "formulas", "misprints", "critical-values", "isl-5", "isl-6",
        "exercise-2-1", "exercise-2-2", "exercise-2-4", "exercise-2-8", "exercise-2-10",
    }  # fmt: skip
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
    """Count elements, and find the resources that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.loaded += [str(value) for name, value in attrs if name in ("src", "href") and str(value)[:1] != "#"]


def test_the_page_holds_all_pictures(chapter: Chapter, tmp_path: Path) -> None:
    page = chapter.to_html()
    tags = Tags()
    tags.feed(page)
    assert tags.counts["figure"] == sum(len(panels) for _, answer in chapter.solved for _, panels in answer.pictures)
    assert tags.loaded == []
    assert 'class="said">20 instances: AUC 0.680' in page  # the legend, if nothing else names the models
    assert all(f"<bdi>{each.title}</bdi>".replace("'", "&#39;") in page for each, _ in chapter.solved)
    assert main(["mcnemar", "--html", str(tmp_path / "page.html")]) == 0
    assert "python -m fastevals.chapter mcnemar --html" in (tmp_path / "page.html").read_text()


def test_the_list_names_all_in_order(capsys: Any) -> None:
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == NAMES


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mcnemer"], rf"no example 'mcnemer' \(did you mean 'mcnemar'\?\); the examples are {', '.join(NAMES)}"),
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
        "Not answered here: the data and the models are from scikit-learn: pip install scikit-learn"
    ]


def test_a_terminal_shows_the_question_in_its_width(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["t-test"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("2.4.1 The t-test on sixteen error rates [t-test]\n? The same sixteen experiments give")
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.slow
def test_the_module_runs() -> None:
    command = [sys.executable, "-m", "fastevals.chapter", "t-test"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": "0"})
    assert done.stdout == Chapter((Solved(examples()["t-test"], examples()["t-test"].solve()),)).to_text()
    assert done.stderr == ""


def test_the_rows_of_a_frame_are_the_figures_beside_printed_ones() -> None:
    chapter = solve("mcnemar")
    [(_, answer)] = chapter.solved
    frame = chapter.to_frame("pandas")
    assert [*frame["what"]] == [each.what for each in answer.comparisons]
    assert [*frame["here"]] == [each.here for each in answer.comparisons]
    assert [*frame["agrees"]] == [each.agrees for each in answer.comparisons]
    assert len(solve("exercise-2-8").to_frame("polars")) == 0


def test_the_monte_carlo_error_and_the_standard_error_of_the_cars_are_apart() -> None:
    cars = load_auto()
    losses = (cars["mpg"] - (40 - 0.15 * cars["horsepower"])) ** 2
    [(_, answer)] = solve("auto").solved
    of_mpg, _ = answer.tables
    assert list(of_mpg.columns)[-2:] == ["Monte Carlo error", "standard error of 392 cars"]
    drawn, of_cars = ([row.cells[k].value for row in of_mpg.rows] for k in (2, 3))
    assert of_cars == pytest.approx([losses.std(ddof=1) / 392**0.5] * 4)
    assert of_cars[0] == pytest.approx(1.7462, abs=1e-4)
    assert drawn[0] < 0.1 < of_cars[0]  # 2,000 draws of the same cars
    overlapping, disjoint = of_mpg.rows[1], of_mpg.rows[2]
    assert (overlapping.name, disjoint.name) == ("(b) 20 of 10", "(b) 20 of 10, disjoint")
    spread = disjoint.cells[1].value
    assert drawn[2] == pytest.approx(spread / 20**0.5 * (1 - 200 / 392) ** 0.5)


# The index ------------------------------------------------------------------------------------------------------------


def test_every_call_of_the_index_exists() -> None:
    for term in [*FORMULAS.values(), *(each for found in TERMS.values() for each in found)]:
        found: Any = fastevals
        for name in term.call.split(".") if term.call else ():
            found = getattr(found, name)
        assert callable(found) == bool(term.call), term


def test_the_index_has_every_formula_and_its_chinese_term() -> None:
    assert list(FORMULAS) == [f"2.{k}" for k in range(1, 45)]
    terms = [*FORMULAS.values(), *(each for found in TERMS.values() for each in found)]
    assert {each.english for each in terms if not re.search("[\u4e00-\u9fff]", each.chinese)} == set()


def test_the_exercises_of_the_book_are_all_there() -> None:
    assert {f"exercise-2-{k}" for k in range(1, 11)} <= {*NAMES}


# Some answers ---------------------------------------------------------------------------------------------------------


def cells(chapter: Chapter, name: str) -> dict[str, list[Any]]:
    table = next(answer.tables[0] for each, answer in chapter.solved if each.name == name)
    return {row.name: [float(each.on_page().exact) for each in row.cells] for row in table.made()}


def test_ten_times_the_negatives_move_precision_alone(chapter: Chapter) -> None:
    one, ten = cells(chapter, "tenfold-negatives").values()
    assert ten[1] == one[1] == 0.68
    assert ten[4] == one[4] == 0.5
    assert (one[5], ten[5]) == pytest.approx((5 / 6, 5 / 15))
    assert ten[2] == pytest.approx(average_precision_score(CLASSES, SCORES, sample_weight=10 - 9 * np.array(CLASSES)))


def test_points_by_quota_are_those_of_the_first_k_rows(chapter: Chapter) -> None:
    found, positives = cells(chapter, "quotas"), np.cumsum(CLASSES)
    for k in range(1, 21):
        assert found[str(k)][1:] == pytest.approx([positives[k - 1] / 10, positives[k - 1] / k])


def test_friedmans_tests_reject_as_often_as_in_simulations(chapter: Chapter) -> None:
    found = cells(chapter, "exercise-2-10")
    by_chi_square, by_f = found["5 data sets, 3 algorithms"][2:]
    assert by_chi_square == by_f == pytest.approx(0.0394, abs=5e-5)  # P(chi-squared >= 6.4) in Friedman's table
    ranks = np.tile(np.arange(1.0, 5.0), (20_000, 5, 1))
    sums = np.random.default_rng(0).permuted(ranks, axis=2).sum(axis=1)
    statistics = 12 / (5 * 4 * 5) * (sums**2).sum(axis=1) - 3 * 5 * 5
    *levels, by_chi_square, by_f = found["5 data sets, 4 algorithms"]
    shares = [(statistics > level).mean() for level in levels]
    assert shares == pytest.approx([by_chi_square, by_f], abs=0.006)


def test_bootstrap_errors_of_coefficients_are_near_those_of_formulas(chapter: Chapter) -> None:
    for estimate, by_formula, by_bootstrap, low, high in cells(chapter, "isl-6").values():
        assert by_bootstrap == pytest.approx(by_formula, rel=0.25)
        assert low < estimate < high
