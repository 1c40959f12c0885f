"""Pictures of posteriors: what they show."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot

import fastevals as fe
from fastevals.show import plots
from fastevals.show.plots.posterior import HEIGHT
from tests.show.plots.test_significance import axes

ACCURACY = {"new": [0.84, 0.88, 0.83, 0.86, 0.85, 0.91], "old": [0.82, 0.85, 0.83, 0.83, 0.82, 0.91]}


def compared(rope: float = 0.01, names: Any = ("new", "old"), *, higher: bool = True) -> fe.BayesComparison:
    table = dict(zip(names, ACCURACY.values(), strict=True))
    return fe.bayes_signed_rank(table, rope=rope, higher_is_better=higher, n_draws=2000, rng=0)


def on_folds(rope: float = 0.01, *, higher: bool = True) -> fe.BayesComparison:
    return fe.bayes_correlated_t(ACCURACY, rope=rope, n_train=5, n_test=1, higher_is_better=higher)


def of_wins() -> fe.BayesComparison:
    return fe.bayes_bradley_terry(ACCURACY, higher_is_better=True, n_draws=2000, rng=0).between("new", "old")


def legend(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_triangle_has_all_draws_and_probabilities_at_its_corners() -> None:
    found = compared()
    ax = plots.plot_posterior(found, ax=axes(), title="accuracy")
    cells = ax.collections[0]
    assert cells.get_array().sum() == found.n_draws
    centres = np.asarray(cells.get_array()[:, None] * cells.get_offsets()).sum(axis=0) / found.n_draws
    shares = found.shares().mean(axis=0)
    assert centres.tolist() == pytest.approx([shares[2] + shares[1] / 2, HEIGHT * shares[1]], abs=0.02)
    texts = {text.get_text(): text.get_position() for text in ax.texts}
    assert texts[f"new better\n{found.a_better:.3f}"] == (-0.15, -0.03)
    assert texts[f"equivalent\n{found.equivalent:.3f}"][1] > HEIGHT
    assert texts["old better\n<0.001"] == (1.15, -0.03)
    assert ax.get_title() == "accuracy"


def test_corners_follow_the_direction() -> None:
    ax = plots.plot_posterior(compared(higher=False), ax=axes())
    assert "new better\n<0.001" in {text.get_text() for text in ax.texts}


def test_words_of_the_triangle_fit() -> None:
    names = ("a gradient boosting machine with 1000 trees, $x_1$", "another gradient boosting machine with 2000 trees")
    ax = plots.plot_posterior(compared(names=names), ax=axes((6, 6)))
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    inside = ax.figure.bbox
    assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 for box in boxes)
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize("higher", [True, False])
def test_the_density_is_coloured_by_outcome(higher: bool) -> None:
    found = on_folds(higher=higher)
    ax = plots.plot_posterior(found, ax=axes(layout="constrained"))
    outcomes = [("new better", found.a_better), ("equivalent", found.equivalent), ("old better", found.b_better)]
    assert legend(ax) == [f"{name}: {value:.3f}" for name, value in outcomes]
    assert ax.get_xlabel() == "Difference, new minus old"
    areas = {}
    for band in ax.collections:
        path = band.get_paths()[0].vertices if band.get_label() == "_band" else np.empty((0, 2))
        if len(path) > 3:
            x, y = path.T
            color = tuple(band.get_facecolor()[0][:3])
            areas[color] = 0.5 * abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1)))
    assert sorted(areas.values()) == pytest.approx(sorted(value for _, value in outcomes), abs=0.002)


def test_draws_without_a_rope_and_of_wins_are_histograms() -> None:
    none = compared(rope=0)
    ax = plots.plot_posterior(none, ax=axes(layout="constrained"))
    assert ax.get_xlabel() == "Share of data sets on which new is better than old"
    assert len(legend(ax)) == 2
    wins = of_wins()
    ax = plots.plot_posterior(wins, ax=axes(layout="constrained"))
    assert ax.get_xlabel() == "Probability that new beats old"
    area = sum(float((each.get_data().values * np.diff(each.get_data().edges)).sum()) for each in ax.patches)
    assert area == pytest.approx(1, abs=0.01)


def test_without_axes_a_figure_is_made() -> None:
    for found in (compared(), on_folds()):
        assert plots.plot_posterior(found) is pyplot.gca()
    pyplot.close("all")


def test_what_has_no_posterior_is_refused() -> None:
    with pytest.raises(ValueError, match="result must be BayesComparison, got SignificanceResult"):
        plots.plot_posterior(fe.wilcoxon_test([1, 2, 3, 4], [2, 1, 4, 8]))  # type: ignore[arg-type]
    same = {"a": [0.8, 0.7, 0.9], "b": [0.75, 0.65, 0.85]}
    with pytest.warns(fe.UndefinedMetricWarning):
        found = fe.bayes_correlated_t(same, rope=0.01, n_train=2, n_test=1, higher_is_better=True)
    with pytest.raises(ValueError, match=r"with a width, but all of it is at 0\.05"):
        plots.plot_posterior(found)
