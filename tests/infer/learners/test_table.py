"""The table of a paper: its marks and rows against slow definitions, and in each form."""

from __future__ import annotations

import re

import numpy as np
import pytest

import fastevals
from fastevals._text import format_pvalue
from fastevals.infer.learners.table import BETTER, WORSE, _decimals_of

NAMES = ["forest", "boost_ing", "svm & k", "tree"]


def folds(n: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    means = np.array([0.9, 0.88, 0.86, 0.7])[:, None, None] + rng.normal(size=(n, 1, 1, 1)) * 0.05
    return means + rng.normal(size=(n, 4, 2, 5)) * 0.02


def results_of(values: np.ndarray, **options: object) -> fastevals.Results:
    data = {f"data {k}": dict(zip(NAMES, each, strict=False)) for k, each in enumerate(values)}
    return fastevals.Results(data, **{"metric": "accuracy", "n_train": 80, "n_test": 20} | options)


def cells_of(table: object) -> dict[str, list[str]]:
    """Return the cells of a Markdown table by row."""
    lines = re.findall(r"^\| (.*) \|$", table.to_markdown(), re.M)
    return {name: cells for name, *cells in (re.split(r" \| ?", line) for line in lines)}


def test_cells_have_mean_deviation_and_marks_by_their_definitions() -> None:
    values = folds()
    results = results_of(values)
    table = results.table(reference="forest")
    cells = cells_of(table)
    for k, each in enumerate(values):
        means = [learner.mean() for learner in each]
        order = np.argsort(means)[::-1]
        found = fastevals.pairwise_tests(
            {name: learner.ravel() for name, learner in zip(NAMES, each, strict=True)}, reference="forest",
            test="corrected-resampled-t", n_train=80, n_test=20,
        )  # fmt: skip
        for place, learner in enumerate(each):
            expected = f"{learner.mean():.4f} ({learner.std(ddof=1):.4f})"
            if place and found.rejected[place - 1]:
                expected += f" {WORSE if found.effect[place - 1] < 0 else BETTER}"
            expected = f"**{expected}**" if place == order[0] else expected
            expected = f"<ins>{expected}</ins>" if place == order[1] else expected
            assert cells[f"data {k}"][place] == expected
    over = fastevals.pairwise_tests(results, reference="forest")
    assert cells["p against forest"][1:] == [f"{p:.4f}" for p in over.pvalue]
    assert cells["Wins/ties/losses against forest"] == ["", "0/0/5", "0/0/5", "0/0/5"]
    assert cells["Mean"][0] == f"**{results.means[:, 0].mean():.4f}**"
    assert WORSE in table.to_text()
    assert r"\underline{" in table.to_latex()
    assert r"$\bullet$" in table.to_latex()
    assert r"svm \& k" in table.to_latex()
    assert table.to_latex().count(r"\midrule") == 2
    assert 'class="ruled"' in table.to_html()


@pytest.mark.parametrize("higher", [True, False])
def test_ties_are_all_marked_and_count_for_all(higher: bool) -> None:
    values = np.array([[0.5, 0.5, 0.4], [0.5, 0.7, 0.7], [0.1, 0.1, 0.1]])
    results = fastevals.Results(values, higher_is_better=higher)
    table = results.table()
    cells = cells_of(table)
    best = (values == (values.max if higher else values.min)(axis=1, keepdims=True)).sum(axis=0)
    assert table.best_on.tolist() == best.tolist()
    assert [text.count("**") // 2 for text in map(" ".join, (cells["0"], cells["1"], cells["2"]))] == (
        [2, 2, 3] if higher else [1, 1, 3]
    )
    ranks = fastevals.friedman_test(results).mean_ranks
    assert table.mean_ranks.tolist() == ranks.tolist()
    assert table.deviations is None
    assert "parentheses" not in table.to_text()


def test_nothing_is_marked_if_the_direction_is_unknown() -> None:
    results = fastevals.Results([[0.5, 0.4], [0.5, 0.7]])
    text = results.table().to_markdown()
    assert "**0" not in text
    assert "rank" not in text
    assert "give higher_is_better" in text
    with pytest.raises(ValueError, match=r"^higher_is_better must be given, True or False, to compare"):
        results.table(reference=0)
    with pytest.raises(ValueError, match=r"^reference must be one of 'forest', .*; got 'none such'"):
        results_of(folds()).table(reference="none such")


def test_missing_results_are_dashes_and_left_out_below_the_line() -> None:
    values = folds(12)[..., :1, :1]
    values[2, 1] = np.nan
    table = results_of(values, missing="keep").table(reference="tree")
    cells = cells_of(table)
    assert cells["data 2"][1] == "-"
    kept = np.delete(values, 2, axis=0)[:, :, 0, 0]
    assert cells["Mean"][0] == f"**{kept[:, 0].mean():.4f}**"
    p = fastevals.pairwise_tests(dict(zip(NAMES, kept.T, strict=True)), reference="tree").pvalue
    assert cells["p against tree"][:3] == [f"**{format_pvalue(each)}**" for each in p]
    assert "the 11 data sets on which every learner has a result" in table.to_markdown()
    nowhere = results_of(np.where(np.eye(4)[..., None, None] == 1, np.nan, folds(4)[..., :1, :1]), missing="keep")
    assert "so there is no test" in nowhere.table(reference="tree").to_text()


def test_one_data_set_is_tested_by_its_splits() -> None:
    results = results_of(folds(1))
    cells = cells_of(results.table(reference="forest"))
    p = fastevals.pairwise_tests(results, test="corrected-resampled-t", reference="forest").pvalue
    assert [each.strip("*") for each in cells["p against forest"][1:]] == [format_pvalue(each) for each in p]
    assert "Mean" not in cells
    without = results_of(folds(1), n_train=None, n_test=None).table(reference="forest")
    assert "it needs n_train and n_test" in without.to_text()


def test_decimals_follow_the_scale() -> None:
    def decimals(*rows: list[float]) -> list[int]:
        return _decimals_of(np.array(rows)).tolist()

    assert decimals([0.91, 0.2], [0.5, 1.0]) == [4, 4]
    assert decimals([91.0, 20.0], [99.0, 3.0]) == [2, 2]
    assert decimals([1e4, 2e4], [0.01, 0.002]) == [0, 6]
    assert decimals([0.0, 0.0]) == [4]
    assert decimals([np.nan, 0.5]) == [4]


def test_numbers_of_the_table() -> None:
    table = results_of(folds()).table(reference="forest")
    frame = table.to_frame("pandas")
    assert list(frame.columns) == ["dataset", *NAMES]
    assert frame["tree"].tolist() == table.means[:, 3].tolist()
    values = table.to_dict()
    assert values["reference"] == "forest"
    assert values["is_worse"][0] == [False, False, False, True]
    assert repr(table) == "ResultsTable(5 data sets x 4 learners, accuracy, against 'forest')"


def test_captions_say_no_more_than_the_table() -> None:
    results = results_of(folds(2))
    for written in (results.to_latex(), results.table().to_latex()):
        (caption,) = re.findall(r"\\caption\{(.*)\}", written)
        assert caption.startswith("Results by data set (accuracy, higher is better;")
        assert caption.endswith(" splits in parentheses).")
