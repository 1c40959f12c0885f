"""Pictures of learners: what they show, with few and many learners and long names; files for papers."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

import fastevals
from fastevals import plots
from fastevals.document.page.svg import draw
from fastevals.infer.significance.rank_comparisons import with_mean_ranks
from fastevals.show.plots.drawing import picture_on
from tests.show.plots.test_significance import axes, check_texts, spans

SIZES = (4, pytest.param(12, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.slow))
EACH = {
    "matrix": plots.plot_comparison_matrix,
    "profile": plots.plot_performance_profile,
    "ranks": plots.plot_rank_distribution,
    "boxes": lambda results, **o: plots.plot_rank_distribution(results, form="boxes", **o),
    "bars": lambda results, **o: plots.plot_rank_distribution(results, form="bars", **o),
    "Wilcoxon": lambda results, **o: plots.plot_critical_difference(
        fastevals.pairwise_tests(results), results=results, **o
    ),
}


def results_of(k: int, n: int = 20) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(k)
    base = rng.uniform(0.5, 0.9, n)
    names = [f"learner {j}" if j % 3 else f"gradient boosting with {j}00 trees, $x_{j}$" for j in range(k)]
    return {name: (base + 0.03 * rng.normal(size=n) + 0.02 * (j % 5)).round(2) for j, name in enumerate(names)}


@pytest.mark.cases(2)
@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("plot", EACH)
def test_words_fit(plot: str, k: int) -> None:
    ax = EACH[plot](results_of(k), ax=axes((12, 12), layout="constrained"))
    texts = ax.texts or (ax.get_legend().get_texts() if plot == "profile" else ax.get_yticklabels())
    if plot == "matrix":
        ax.figure.canvas.draw()
        inside = ax.get_window_extent()
        boxes = [text.get_window_extent() for text in ax.texts]
        assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 for box in boxes)
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
        assert len(boxes) == (k * (k - 1) if k <= 20 else 0)
        texts = ax.get_yticklabels()
    check_texts(ax, texts)
    svg = draw(picture_on(ax), plot, plot, "one")
    assert svg.startswith("<svg")
    assert "nan" not in svg


@pytest.mark.parametrize("higher", [True, False])
def test_cells_of_the_matrix(higher: bool) -> None:
    results = results_of(4)
    ax = plots.plot_comparison_matrix(results, higher_is_better=higher, ax=axes())
    means = {name: column.mean() for name, column in results.items()}
    order = sorted(means, key=means.__getitem__, reverse=higher)
    assert [label.get_text().split(":")[0] for label in ax.get_yticklabels()] == [
        each.replace("$", r"\$") for each in order
    ]
    found = fastevals.pairwise_tests(results)
    cells = {text.get_position(): text for text in ax.texts}
    for row, column in combinations(range(4), 2):
        one, other = results[order[row]], results[order[column]]
        difference, counts, p = cells[column, row].get_text().split("\n")
        wins, losses = ((one > other).sum(), (one < other).sum())[:: 1 if higher else -1]
        assert float(difference) == pytest.approx(np.mean(one - other), abs=6e-5)
        assert counts == f"{wins}/{(one == other).sum()}/{losses}"
        test = found.between(order[row], order[column])
        assert p.removeprefix("p ").startswith("<") or float(p[2:]) == pytest.approx(test.pvalue, abs=6e-5)
        assert cells[column, row].get_fontweight() == ("bold" if test.rejected else "normal")
    image = ax.images[0].get_array()
    towards_blue = image[..., 2] - image[..., 0]
    assert (towards_blue[np.triu_indices(4, 1)] > 0).all()  # rows above are better
    assert (towards_blue[np.tril_indices(4, -1)] < 0).all()


def test_bars_of_wilcoxon_join_pairs_without_a_difference() -> None:
    results = results_of(12)
    found = fastevals.pairwise_tests(results)
    ax = plots.plot_critical_difference(found, results=results, ax=axes())
    note = next(text.get_text() for text in ax.texts if "level" in text.get_text())
    assert note.startswith("Wilcoxon's signed-rank test, Holm-adjusted, level 0.05: a bar joins")
    ranked = with_mean_ranks(found, results, None)
    assert_allclose(ranked.mean_ranks, fastevals.friedman_test(results).mean_ranks)
    joined = {frozenset(pair) for group in ranked.groups() for pair in combinations(group, 2)}
    equal = {frozenset(pair) for pair in found.pairs[~found.rejected].tolist()}
    assert joined <= equal
    assert ranked.n_unjoined() == len(equal - joined) > 0
    assert f"; {len(equal - joined)} more such pair" in note
    assert len(spans(ax)) == len(ranked.groups())


def test_what_a_diagram_of_other_tests_needs() -> None:
    results = results_of(4)
    found = fastevals.pairwise_tests(results)
    with pytest.raises(ValueError, match=r"^results must be given for a result of pairwise_tests"):
        plots.plot_critical_difference(found, ax=axes())
    with pytest.raises(ValueError, match=r"^result must be of the learners of results, .*; got "):
        plots.plot_critical_difference(found, results={"a": [1, 2], "b": [2, 3]}, ax=axes())
    with pytest.raises(ValueError, match=r"^result must compare all 6 pairs of 4 learners, got 3"):
        plots.plot_critical_difference(
            fastevals.pairwise_tests(results, reference="learner 1"), results=results, ax=axes()
        )
    with pytest.raises(ValueError, match=r"^alternative of result must be"):
        plots.plot_critical_difference(
            fastevals.pairwise_tests(results, alternative="less"), results=results, ax=axes()
        )
    with pytest.raises(ValueError, match=r"^results and higher_is_better go with a result of pairwise_tests"):
        plots.plot_critical_difference(fastevals.nemenyi_test(results), results=results, ax=axes())
    with pytest.raises(ValueError, match=r"^pairs must be of the learners of results"):
        plots.plot_comparison_matrix({"a": [1, 2], "b": [2, 3]}, pairs=found, ax=axes())
    with pytest.raises(ValueError, match=r"^pairs must be PairwiseResult, got dict"):
        plots.plot_comparison_matrix(results, pairs=results, ax=axes())


def test_profiles_and_bars_end_where_they_should() -> None:
    errors = {"a": [1.0, 2.0, 50.0], "b": [2.0, 2.0, 1.0]}
    ax = plots.plot_performance_profile(errors, higher_is_better=False, ax=axes())
    assert ax.get_xscale() == "log"
    lines = {line.get_label().split(":")[0]: line.get_xydata() for line in ax.lines}
    assert lines["a"].tolist()[:3] == [[1, pytest.approx(2 / 3)], [50, pytest.approx(2 / 3)], [50, 1]]
    assert lines["b"].tolist()[:3] == [[1, pytest.approx(2 / 3)], [2, pytest.approx(2 / 3)], [2, 1]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["b: best on 67 %", "a: best on 67 %"]
    same = plots.plot_performance_profile({"a": [1.0, 2.0], "b": [1.0, 2.0]}, ax=axes())
    assert same.get_xlim() == (1, 2)
    ax = plots.plot_rank_distribution(errors, form="bars", higher_is_better=False, ax=axes())
    parts = [(patch.get_y(), patch.get_x(), patch.get_width()) for patch in ax.patches]
    assert_allclose([width for _, _, width in parts], [0.5, 0.5] * 2)


@pytest.mark.cases(2)
@pytest.mark.parametrize("plot", EACH)
def test_saved_figures_have_letters_as_journals_want_them(plot: str, tmp_path: Path) -> None:
    ax = EACH[plot](results_of(4), ax=axes())
    for end in ("pdf", "svg", *(["png"] if plot == "matrix" else [])):
        plots.save_figure(ax, tmp_path / f"a.{end}")
    content = (tmp_path / "a.pdf").read_bytes()
    assert b"/Type0" in content  # TrueType letters
    assert b"/Type3" not in content
    assert "/Subtype /Image" not in content.decode("latin-1") or plot == "matrix"  # the squares are an image
    svg = (tmp_path / "a.svg").read_text()
    assert ">learner 1" in svg
    plots.save_figure(ax, str(tmp_path / "b.svg"))
    assert (tmp_path / "b.svg").read_text() == svg


def test_files_that_are_not_pictures(tmp_path: Path) -> None:
    ax = plots.plot_rank_distribution(results_of(4), ax=axes())
    with pytest.raises(ValueError, match=r"^path must be a name that ends with one of .pdf, .svg, .png, got 'a.docx'"):
        plots.save_figure(ax, "a.docx")
    with pytest.raises(ValueError, match=r"^ax must be a matplotlib Axes, got Figure"):
        plots.save_figure(Figure(), tmp_path / "a.pdf")


def test_pictures_of_kept_missing_results_and_of_two_learners() -> None:
    values = np.array([[0.1, 0.2], [0.3, np.nan], [np.nan, np.nan], [0.2, 0.1]])
    results = fastevals.Results(values, learner=["a", "b"], metric="rmse", missing="keep")
    legend = plots.plot_performance_profile(results, ax=axes()).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["a: best on 67 %", "b: best on 33 %"]
    for form in ("bars", "boxes"):
        labels = plots.plot_rank_distribution(results, form=form, ax=axes()).get_yticklabels()
        assert [label.get_text() for label in labels] == ["a: 1.33", "b: 1.50"]
    differ = {"a": np.arange(12) / 99, "b": np.arange(12) / 99 + 0.5}
    ax = plots.plot_comparison_matrix(differ)  # a warning is an error: the note has room
    ax.figure.canvas.draw()
    assert ax.get_window_extent().width > 150
    huge = plots.plot_performance_profile({"a": [1, 1e-149], "b": [1, 1e149]}, higher_is_better=False, ax=axes())
    huge.figure.canvas.draw()
