"""The paragraph for a paper: each sentence is true to the numbers, for many shapes of results."""

from __future__ import annotations

import re
from typing import Any, get_args

import numpy as np
import pytest

import fastevals
from fastevals._choices import PostHoc
from fastevals.document.references import REFERENCES, write_bibtex
from fastevals.show.compare.paragraph import CORRECTIONS

NAMES = ("forest", "boosting", "svm", "tree")


def folds(n: int, k: int = 4, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    means = np.array([0.9, 0.89, 0.87, 0.8])[:k, None, None] + rng.normal(size=(n, 1, 1, 1)) * 0.05
    return means + rng.normal(size=(n, k, 2, 5)) * (0.05 if n > 1 else 0.02)


def results_of(n: int, k: int = 4, **options: Any) -> fastevals.Results:
    data = {f"data {d}": dict(zip(NAMES, each, strict=False)) for d, each in enumerate(folds(n, k))}
    return fastevals.Results(data, **{"metric": "accuracy", "n_train": 80, "n_test": 20} | options)


def paragraph(data: Any, **options: Any) -> str:
    return fastevals.compare(data, **options).to_paragraph()


SHAPES: dict[str, Any] = {
    "many": (results_of(12), {}),
    "Wilcoxon": (results_of(12), {"posthoc": "wilcoxon"}),
    "a control": (results_of(12), {"control": "tree", "posthoc": "holm"}),
    "Wilcoxon with a control": (results_of(12), {"control": "tree", "posthoc": "wilcoxon"}),
    "lower": (results_of(12, metric="error_rate"), {"posthoc": "wilcoxon"}),
    "two": (results_of(12, 2), {}),
    "folds": (results_of(1), {}),
    "folds of two": (results_of(1, 2), {}),
    "folds with a control": (results_of(1), {"reference": "tree"}),
    "nothing significant": (dict(zip(NAMES, ([1, 2, 3], [2, 3, 1], [3, 1, 2], [2, 2, 2]), strict=True)), {}),
    "no pair of folds": (results_of(1, n_train=20, n_test=80), {}),
    "all tied": ({"a": [1, 2, 3], "b": [1, 2, 3], "c": [1, 2, 3]}, {}),
    "two tied": ({"a": [1, 2, 3], "b": [1, 2, 3]}, {}),
    "one data set": ({"a": [1.0], "b": [2.0], "c": [3.0]}, {}),
    "the same order": ({"a": [1.0] * 5, "b": [2.0] * 5, "c": [3.0] * 5}, {}),
    "false discoveries": (results_of(12), {"posthoc": "benjamini-hochberg"}),
    "odd names": ({"$x$\n": [1, 2, 3.0], "50 % & more": [2, 3, 4.0], "_": [0, 1, 1.0]}, {}),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_whole_sentences_that_are_cited(shape: str) -> None:
    data, options = SHAPES[shape]
    found = fastevals.compare(data, **options)
    text = found.to_paragraph()
    assert text.endswith(".\n")
    assert text.count("\n") == 1
    for odd in ("nan", "inf ", " - ", "None)", "None,", "  ", "..", " ,", "1 pairs", "pair do "):
        assert odd not in text, odd
    assert re.search(r"\. [a-z]", text) is None or shape == "odd names", "a sentence that starts with a small letter"
    (block,) = found.to_dict()["blocks"]
    assert block["paragraph"] + "\n" == text
    cited = {REFERENCES[key].cited() for key in block["cited"]}
    in_text = {each for part in re.findall(r"\(([^()]*, \d{4}[^()]*)\)", text) for each in part.split("; ")}
    assert in_text == cited
    entries = found.to_bibtex()
    assert re.findall(r"^@\w+\{(\w+),$", entries, re.M) == block["cited"]
    assert entries.count("{") == entries.count("}")


@pytest.mark.parametrize("shape", ["Wilcoxon", "lower", "Wilcoxon with a control", "folds", "folds with a control"])
def test_claims_are_of_the_tests(shape: str) -> None:
    data, options = SHAPES[shape]
    text, is_lower = paragraph(data, **options), shape == "lower"
    reference = options.get("control", options.get("reference"))
    test = "corrected-resampled-t" if "folds" in shape else "wilcoxon"
    options = {"conservative": True} if "folds" in shape else {}
    pairs = fastevals.pairwise_tests(data, test=test, reference=reference, **options)
    claims = re.findall(
        r"(\w+) is better than (\w+) \(mean difference (\S+), 95 % interval (\S+) to (\S+), "
        r"wins/ties/losses (\d+)/(\d+)/(\d+), r = (\S+), p = (\S+)\)",
        text,
    )
    assert len(claims) == min(pairs.rejected.sum(), 6) > 0
    rows = data.values[0].reshape(4, -1) if "folds" in shape else data.means.T
    for better, worse, difference, low, high, wins, ties, losses, r, p in claims:
        one, other = (rows[NAMES.index(name)] for name in (better, worse))
        assert pairs.between(better, worse).rejected
        assert (one.mean() < other.mean()) == is_lower
        assert float(difference) == pytest.approx(np.mean(one - other), abs=6e-5)
        corrected = {"n_train": 80, "n_test": 20, "conservative": True}
        interval = fastevals.corrected_resampled_t_test(one, other, **corrected).confidence_interval
        if test == "wilcoxon":
            interval = fastevals.paired_t_test(one, other).confidence_interval
        assert [float(low), float(high)] == pytest.approx(list(interval), abs=2e-4)
        counts = [np.sum(one > other), np.sum(one == other), np.sum(one < other)]
        assert list(map(int, (wins, ties, losses))) == counts[:: -1 if is_lower else 1]
        assert float(r) > 0
        assert float(p) == pytest.approx(pairs.between(better, worse).pvalue, rel=0.5, abs=6e-5)
    same = len(pairs) - int(pairs.rejected.sum())
    assert (f"The other {same} pairs do not differ" in text) == (same > 1)


def test_numbers_of_the_first_test() -> None:
    data, _ = SHAPES["many"]
    text, friedman = paragraph(data), fastevals.friedman_test(data)
    assert f"F(3, 33) = {friedman.f_statistic:.2f}, " in text
    assert f"Kendall's W = {friedman.effect:.2f}" in text
    assert re.findall(r"(forest|boosting|svm|tree) (\d\.\d\d)", text) == [
        (NAMES[k], f"{friedman.mean_ranks[k]:.2f}") for k in np.argsort(friedman.mean_ranks)
    ]
    nemenyi = fastevals.nemenyi_test(data)
    assert f"the critical difference of mean ranks is {nemenyi.critical_difference:.3f}" in text
    assert f"Of 6 pairs, {nemenyi.rejected.sum()} differ significantly" in text


def test_why_these_tests() -> None:
    assert "as recommended for several learners on several data sets" in paragraph(results_of(12))
    assert "which judges a pair by its own results" in paragraph(*SHAPES["Wilcoxon"][:1], posthoc="wilcoxon")
    assert "share rows, so their results are not independent" in paragraph(results_of(1))
    assert "no pair was declared different; this is no evidence" in paragraph(SHAPES["nothing significant"][0])
    assert "is undefined for 1 data set, so no test was made." in paragraph(SHAPES["one data set"][0])
    assert "F is infinite because all data sets rank the learners alike" in paragraph(SHAPES["the same order"][0])
    assert "averaged over 2 x 5 splits of each" in paragraph(results_of(12))
    assert "for the false discovery rate" in paragraph(results_of(12), posthoc="benjamini-hochberg")
    assert {*get_args(PostHoc)} - {"nemenyi", "bonferroni-dunn", "wilcoxon"} <= {*CORRECTIONS}


def test_missing_results_are_said() -> None:
    values = folds(12)
    values[3, 1] = np.nan
    data = {f"data {d}": dict(zip(NAMES, each, strict=True)) for d, each in enumerate(values)}
    kept = fastevals.Results(data, metric="accuracy", missing="keep")
    found = fastevals.compare(kept)
    assert "left out (1 of 12)" in found.to_paragraph()
    assert "results are missing" in found.to_paragraph()
    expected = fastevals.friedman_test(np.delete(values.mean(axis=(2, 3)), 3, axis=0))
    assert found.to_dict()["blocks"][0]["friedman"]["pvalue"] == expected.pvalue
    values = values.clip(0, 1)
    data = {f"data {d}": dict(zip(NAMES, each, strict=True)) for d, each in enumerate(values)}
    worst = fastevals.Results(data, metric="accuracy", missing="worst")
    assert "and count as 0, the worst value." in paragraph(worst)


def test_splits_of_unknown_size_are_no_data_sets() -> None:
    columns = {
        "model": ["a", "b"] * 4,
        "fold": [0, 0, 1, 1, 2, 2, 3, 3],
        "value": [0.9, 0.8, 0.8, 0.7, 0.9, 0.6, 1, 0],
    }
    found = fastevals.compare(columns)
    text = found.to_paragraph()
    assert "on 4 splits of one data set by" in text
    assert "because splits share rows, they reject too often" in text
    assert "recommended" not in text
    assert "4 data sets" not in found.to_text()
    assert "! : rows are splits of one data set" in found.to_text()


def test_what_results_need() -> None:
    with pytest.raises(ValueError, match=r"^data have splits of one data set, .*n_train=, n_test="):
        fastevals.compare(results_of(1, n_train=None, n_test=None))
    with pytest.raises(ValueError, match=r"^by names a column, and Results have none"):
        fastevals.compare(results_of(3), by="a")
    with pytest.raises(ValueError, match=r"^control must be one of 'forest', .*; got 'none such'"):
        fastevals.compare(results_of(3), control="none such")
    with pytest.raises(ValueError, match=r"^lower_is_better must be False or left out for accuracy, got True"):
        fastevals.compare(results_of(3), lower_is_better=True)
    with pytest.raises(ValueError, match=r"^lower_is_better is needed: the direction of my metric is unknown"):
        fastevals.compare(results_of(3, metric="my metric"))
    nowhere = np.where(np.eye(4)[..., None, None] == 1, np.nan, folds(4))
    data = {f"data {d}": dict(zip(NAMES, each, strict=True)) for d, each in enumerate(nowhere)}
    with pytest.raises(ValueError, match=r"^data must have a data set with a result of every learner"):
        fastevals.compare(fastevals.Results(data, metric="accuracy", missing="keep"))


def test_forms_have_the_paragraph_the_table_and_the_pictures() -> None:
    found = fastevals.compare(results_of(12), bibtex=True)
    assert "for a paper:\nFour learners were compared" in found.to_text()
    assert found.to_text().endswith("}\n")
    assert "@article{friedman1937," in found.to_text()
    assert "@article" not in fastevals.compare(results_of(12)).to_text()
    assert "References: Friedman, M. (1937)." in found.to_markdown()
    assert "| data 3 |" in found.to_markdown()
    assert r"\label{tab:results}" in found.to_latex()
    page = found.to_html()
    for name in ("critical_difference_wilcoxon", "comparison_matrix", "performance_profile", "rank_distribution"):
        assert f'data-picture="{name}"' in page
    of_folds = fastevals.compare(results_of(1)).to_html()
    assert 'data-picture="comparison_matrix"' in of_folds
    assert "Friedman" not in of_folds
    by = fastevals.compare(by="sigma")
    assert "for a paper" not in by.to_text()
    assert "### For a paper: 10" in by.to_markdown()


def test_references_are_whole() -> None:
    for key, work in REFERENCES.items():
        assert re.fullmatch(r"[a-z]+\d{4}", key)
        assert key.endswith(str(work.year))
        assert work.doi or work.url or key in ("nemenyi1963", "holm1979")
        assert work.text().isascii() or "š" in work.text()
        assert work.bibtex(key).isascii()
    assert REFERENCES["demsar2006"].cited() == "Demšar, 2006"
    assert REFERENCES["benavoli2016"].cited() == "Benavoli et al., 2016"
    assert REFERENCES["iman1980"].text() == (
        "Iman, R. L. and Davenport, J. M. (1980). Approximations of the Critical Region of the Friedman Statistic. "
        "Communications in Statistics - Theory and Methods 9(6), 571-595. doi:10.1080/03610928008827904."
    )
    assert write_bibtex(["demsar2006", "demsar2006"]) == (
        "@article{demsar2006,\n  author = {Dem{\\v{s}}ar, Janez},\n"
        "  title = {{Statistical Comparisons of Classifiers over Multiple Data Sets}},\n"
        "  journal = {Journal of Machine Learning Research},\n  year = {2006},\n  volume = {7},\n  pages = {1--30},\n"
        "  url = {https://www.jmlr.org/papers/v7/demsar06a.html}\n}\n"
    )
