"""Pictures of tests: bars and marks, and their positions; no text overlaps or is cut."""

import json
import math
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from numpy.testing import assert_allclose

from fastevals.document.picture import DARKEST
from fastevals.infer.learners.results import Results
from fastevals.infer.significance.binomial import binomial_error_test
from fastevals.infer.significance.decision import Compared, decide
from fastevals.infer.significance.mcnemar import mcnemar_test_of_table
from fastevals.infer.significance.paired import compared_pairs
from fastevals.infer.significance.pairwise import PairwiseResult, build_pairwise_result
from fastevals.infer.significance.rank_comparisons import bonferroni_dunn_test, nemenyi_test, rank_comparison_test
from fastevals.results import Null
from fastevals.show.plots import style
from fastevals.show.plots.critical_difference import _stack_spans, plot_critical_difference
from fastevals.show.plots.null_distribution import REJECTED, plot_null
from fastevals.show.plots.pvalues import PALEST, plot_pvalues
from tests.strategies import BOUNDED

CASE = json.loads((Path(__file__).parents[2] / "data" / "cases.json").read_text())["psnr"]
LONG = ["gradient boosting with 4000 trees, depth 8", "$x_1$", "_hidden", "naive Bayes", "a" * 60, "two\nlines", "7"]


def axes(size=(8, 6), **options):
    figure = Figure(figsize=size, dpi=100, **options)
    FigureCanvasAgg(figure)
    return figure.subplots()


def psnr():
    return nemenyi_test(
        {method: [table[method][0] for table in CASE["data"].values()] for method in CASE["data"]["Boat"]}
    )


def table(n_algorithms, n_datasets=12, spread=4.0, names=None):
    rng = np.random.default_rng(n_algorithms)
    means = rng.permutation(n_algorithms) * spread / n_algorithms
    names = names or [f"model {k}" for k in range(n_algorithms)]
    return {name: rng.normal(size=n_datasets) + mean for name, mean in zip(names, means, strict=True)}


def labelled(ax, label):
    return [line for line in ax.lines if line.get_label() == label]


def strokes(ax, label):
    """Return the points of each line with a label."""
    return [path for each in ax.collections if each.get_label() == label for path in each.get_segments()]


def spans(ax):
    return [tuple(sorted(map(float, path[:, 0]))) for path in strokes(ax, "_joined")]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def check_texts(ax, texts=None):
    """Draw; check that no texts overlap, and that all are inside the figure."""
    ax.figure.canvas.draw()
    texts = [text for text in (texts or ax.texts) if text.get_visible() and text.get_text()]
    boxes = [text.get_window_extent() for text in texts]
    for one, other in combinations(range(len(boxes)), 2):
        assert not boxes[one].overlaps(boxes[other]), (texts[one].get_text(), texts[other].get_text())
    width, height = ax.figure.canvas.get_width_height()
    for text, box in zip(texts, boxes, strict=True):
        assert box.x0 >= -1, text.get_text()
        assert box.y0 >= -1, text.get_text()
        assert box.x1 <= width + 1, text.get_text()
        assert box.y1 <= height + 1, text.get_text()


def one_sided(alternative="less"):
    names, p = ("a", "b", "c", "d"), np.array([0.2, 0.0001, np.nan, 0.04, 0.5, 0.9])
    return build_pairwise_result(
        PairwiseResult, "the t-test", names, compared_pairs(names), (0 * p, p, 0 * p), what="the difference",
        correction="none", alternative=alternative, alpha=0.05,
    )  # fmt: skip


def decided(name, parameters, statistic, alternative="two-sided", alpha=0.05):
    null = Null(name, parameters)
    return decide("the test", Compared("it", "0"), statistic, null, alternative=alternative, alpha=alpha)


# All pictures -----------------------------------------------------------------------------------------------------

PLOTS = {plot_critical_difference: psnr, plot_pvalues: psnr, plot_null: lambda: decided("t", (9,), 1.0)}


@pytest.mark.parametrize("plot", PLOTS)
def test_other_kinds_are_named(plot):
    with pytest.raises(ValueError, match=r"result must be \w+, got dict"):
        plot({"a": PLOTS[plot]()}, ax=axes())
    with pytest.raises(ValueError, match="ax must be a matplotlib Axes, got Figure"):
        plot(PLOTS[plot](), ax=Figure())


@pytest.mark.slow
def test_pyplot_is_for_calls_without_axes_alone():
    code = (
        "import sys\nfrom matplotlib.figure import Figure\n"
        "from tests.show.plots.test_significance import PLOTS\n"
        "for plot, make in PLOTS.items():\n    assert plot(make(), ax=(ax := Figure().subplots())) is ax\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "import matplotlib\nmatplotlib.use('agg')\n"
        "for plot, make in PLOTS.items():\n"
        "    ax = plot(make())\n    assert sys.modules['matplotlib.pyplot'].gcf() is ax.figure"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=Path(__file__).parents[3])


# Critical difference ----------------------------------------------------------------------------------------------


@pytest.mark.cases(3)
@pytest.mark.parametrize(("layout", "size"), [(None, (8, 6)), ("constrained", (6.4, 4.8))])
@pytest.mark.parametrize("n_algorithms", [2, 3, 10, 25])
def test_no_name_covers_another(n_algorithms, layout, size):
    ax = plot_critical_difference(nemenyi_test(table(n_algorithms)), ax=axes(size, layout=layout))
    check_texts(ax)
    assert len(strokes(ax, "_name")) == n_algorithms


def test_words_are_where_what_they_name_is():
    ax = plot_critical_difference(nemenyi_test(table(10)), ax=axes())
    check_texts(ax)
    middles = {text.get_text(): text.get_position()[0] for text in ax.texts}
    (axis,), (ruler,), names = labelled(ax, "_axis"), strokes(ax, "_ruler"), strokes(ax, "_name")
    assert middles["Mean rank (1 is best)"] == np.mean(axis.get_xdata())
    assert next(x for said, x in middles.items() if said.startswith("CD")) == pytest.approx(np.mean(ruler[:, 0]))
    assert [middles[str(rank)] for rank in range(1, 11)] == [*range(1, 11)]
    ends, boxes = [], []  # names' line ends and boxes
    for text in (text for text in ax.texts if isinstance(text, Annotation)):
        ends.append(text.xy)
        boxes.append(text.get_window_extent())
    assert sorted(ends) == sorted(tuple(line[-1]) for line in names)
    gaps = [max(box.x0 - x, x - box.x1) for (x, _), box in zip(ax.transData.transform(ends), boxes, strict=True)]
    assert 3 < min(gaps) <= max(gaps) < min(gaps) + 1  # equal on both sides


@pytest.mark.parametrize("names", [LONG, ["W" * 40 + str(k) for k in range(7)]])
def test_long_and_odd_names_have_room(names):
    result = nemenyi_test(table(7, names=names))
    ax = plot_critical_difference(result, ax=axes(layout="constrained"))
    check_texts(ax)
    assert {text.get_text() for text in ax.texts} >= {
        style.legend_label(name, f"{rank:.2f}") for name, rank in zip(names, result.mean_ranks, strict=True)
    }


@pytest.mark.parametrize("n_algorithms", [2, pytest.param(25, marks=pytest.mark.slow)])
def test_a_figure_of_its_own_has_room(n_algorithms):
    import matplotlib.pyplot as plt

    for form in ("axis", "ranges"):
        ax = plot_critical_difference(nemenyi_test(table(n_algorithms)), form=form)
        check_texts(ax, ax.get_yticklabels() if form == "ranges" else None)
        plt.close(ax.figure)


def test_diagram_is_the_homeworks():
    result = psnr()
    ax = plot_critical_difference(result, ax=axes())
    low, high = ax.get_xlim()[1], ax.get_xlim()[0]
    assert low < 1 < 4 < high  # runs from high ranks to 1 at the right
    (ruler,) = strokes(ax, "_ruler")
    assert np.ptp(ruler[:, 0]) == pytest.approx(CASE["expected"]["sigma_20"]["CD_05"], abs=5e-4)
    assert "CD = 2.098" in [text.get_text() for text in ax.texts]
    ranks = CASE["expected"]["sigma_20"]["mean_ranks"]
    at = {text.get_text(): text for text in ax.texts}
    for name, rank in ranks.items():
        assert at[f"{name}: {rank:.2f}"].get_ha() == ("left" if rank < 2.5 else "right")  # the better half at the right
        (line,) = (line for line in strokes(ax, "_name") if line[0, 0] == rank)
        assert line[-1, 1] == at[f"{name}: {rank:.2f}"].xy[1]
    assert at["K-SVD-N-NL: 1.20"].xy[1] > at["K-SVD-N: 2.20"].xy[1]
    # All but the best and the worst, and all but the worst and the best.
    assert_allclose(sorted(spans(ax)), [(1.2, 3.0), (2.2, 3.6)], atol=0.04)


@pytest.mark.parametrize("n_algorithms", [3, 10, 25])
def test_bars_are_the_groups_and_cover_no_other(n_algorithms):
    result = nemenyi_test(table(n_algorithms))
    ax = plot_critical_difference(result, ax=axes())
    groups = [(result.mean_ranks[list(group)].min(), result.mean_ranks[list(group)].max()) for group in result.groups()]
    assert_allclose(sorted(spans(ax)), sorted(groups), atol=0.011 * n_algorithms)
    lines = [(line[0, 1], *span) for line, span in zip(strokes(ax, "_joined"), spans(ax), strict=True)]
    for (y, low, high), (other, lower, higher) in combinations(lines, 2):
        assert y != other or high < lower or higher < low
    first_name = max(line[-1, 1] for line in strokes(ax, "_name"))
    assert all(first_name < y < 0 for y, *_ in lines)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6)), max_size=12))
@BOUNDED
def test_stacked_spans_never_meet(drawn):
    given_spans = [(float(low), float(low + length)) for low, length in drawn]
    found = list(_stack_spans(given_spans))
    assert sorted(span for _, span in found) == sorted(given_spans)
    for (level, (low, high)), (other, (lower, higher)) in combinations(found, 2):
        assert level != other or high < lower or higher < low
    most = max((sum(low <= x <= high for low, high in given_spans) for x in range(19)), default=0)
    assert len({level for level, _ in found}) == most  # as few levels as possible


def test_ties_and_unsorted_names():
    ax = plot_critical_difference(nemenyi_test({name: 3 * [0.5] for name in "cabd"}), ax=axes())
    check_texts(ax)
    ((low, high),) = spans(ax)
    assert low < 2.5 < high
    order = [[3, 1], [3, 1], [3, 1], [3, 1], [3, 1]]
    ax = plot_critical_difference(nemenyi_test(np.array(order)), ax=axes())
    assert {"0: 1.00", "1: 2.00"} <= {text.get_text() for text in ax.texts}
    assert spans(ax) == []


def test_a_ruler_longer_than_the_axis_has_room():
    result = nemenyi_test({"a": [1.0], "b": [2.0], "c": [3.0]})
    assert result.critical_difference > 2
    ax = plot_critical_difference(result, ax=axes())
    check_texts(ax)
    (ruler,) = strokes(ax, "_ruler")
    assert min(ruler[:, 0]) > min(ax.get_xlim())


@pytest.mark.cases(2)
@pytest.mark.parametrize("place", [0, 4, 9])
def test_control(place):
    mean_ranks = nemenyi_test(table(10)).mean_ranks
    control = int(np.argsort(mean_ranks)[place])
    result = bonferroni_dunn_test(table(10), f"model {control}")
    ax = plot_critical_difference(result, ax=axes())
    check_texts(ax)
    ((low, high),) = spans(ax)
    rank = result.mean_ranks[control]
    assert (low == 1, high == 10) == (place == 0, place == 9)  # clipped at the ends of the axis
    assert (low, high) == (max(1, rank - result.critical_difference), min(10, rank + result.critical_difference))
    bold = [text.get_text() for text in ax.texts if text.get_weight() == "bold"]
    assert bold == [f"model {control}: {rank:.2f}"]
    for (other, _), rejected in zip(result.pairs, result.rejected, strict=True):
        assert (low <= result.mean_ranks[other] <= high) != rejected


@pytest.mark.parametrize("control", [None, "model 3"])
def test_stepwise_corrections_have_bars_but_no_ruler(control):
    result = rank_comparison_test(table(10), correction="holm", control=control)
    ax = plot_critical_difference(result, ax=axes())
    check_texts(ax)
    assert strokes(ax, "_ruler") == []
    assert not any(text.get_text().startswith("CD") for text in ax.texts)
    if control is None:
        assert len(spans(ax)) == len(result.groups())
    else:
        ((low, high),) = spans(ax)
        inside = (low <= result.mean_ranks) & (result.mean_ranks <= high)
        assert inside[result.pairs[:, 0]].tolist() == (~result.rejected).tolist()
    with pytest.raises(
        ValueError, match="form='ranges' needs a critical difference, and there is none for correction="
    ):
        plot_critical_difference(result, form="ranges", ax=axes())


def test_unknown_form():
    with pytest.raises(ValueError, match="form must be one of 'axis', 'ranges'; got 'bars'"):
        plot_critical_difference(psnr(), form="bars", ax=axes())


@pytest.mark.cases(2)
@pytest.mark.parametrize("result", [psnr(), nemenyi_test(table(10)), nemenyi_test(table(25))])
def test_ranges_overlap_where_no_difference_is_shown(result):
    ax = plot_critical_difference(result, form="ranges", ax=axes(layout="constrained"))
    check_texts(ax, ax.get_yticklabels())
    lines = [line.get_xydata() for line in ax.lines if line.get_marker() == "|"]
    ends = {round(y): (low, high) for (low, y), (high, _) in lines}
    names = [label.get_text() for label in ax.get_yticklabels()]
    low, high = np.array([ends[names.index(name)] for name in result.names]).T
    assert_allclose(high - low, result.critical_difference)  # its full length
    assert_allclose((low + high) / 2, result.mean_ranks)
    for (first, second), rejected in zip(result.pairs, result.rejected, strict=True):
        assert (high[first] < low[second] or high[second] < low[first]) == rejected
    assert np.diff(result.mean_ranks[[result.names.index(name) for name in names]]).min() >= 0
    assert ax.yaxis_inverted()  # the best at the top


def test_ranges_with_a_control():
    result = bonferroni_dunn_test(table(10), "model 3")
    ax = plot_critical_difference(result, form="ranges", ax=axes())
    ax.figure.canvas.draw()
    assert legend(ax)[0] == "the control's bar"
    assert len({line.get_color() for line in ax.lines if line.get_marker() == "|"}) == 2


# P-values ---------------------------------------------------------------------------------------------------------


def grid(ax):
    """Return the darkness of squares, 0 for p = 1 and at most 1; NaN for blank squares."""
    (image,) = ax.images
    darkness = (1 - image.get_array()[..., 0]) / DARKEST  # the ink contains no red
    return np.where(darkness > 0, (darkness - PALEST) / (1 - PALEST), np.nan)


def dots(ax, marker_points):
    """Return the cells, (row, column), of the group with `marker_points` marks."""
    found = [each.get_offsets() for each in ax.collections if isinstance(each, PathCollection)]
    (found,) = (each for each in found if len(each) == marker_points)
    return {(round(float(y)), round(float(x))) for x, y in found}


def test_pvalues_of_a_few_are_written():
    result = psnr()
    ax = plot_pvalues(result, ax=axes(layout="constrained"))
    check_texts(ax)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["K-SVD-N-NL", "K-SVD-N", "NLM", "K-SVD"]  # by mean rank
    assert [label.get_text() for label in ax.get_xticklabels()] == names
    written = {(text.get_position()[1], text.get_position()[0]): text for text in ax.texts}
    assert len(written) == 12
    for (row, column), text in written.items():
        test = result.between(names[row], names[column])
        assert text.get_text() == f"{test.pvalue:.3f}"
        assert (text.get_weight() == "bold") == test.rejected
    assert dots(ax, 2) == {(0, 3), (3, 0)}
    assert legend(ax) == ["p < 0.05"]
    assert np.isnan(grid(ax)).sum() == 4
    assert ax.child_axes[0].get_ylabel() == "p-value, adjusted (studentized-range)"


def test_pvalues_of_many_are_colours_and_dots():
    result = nemenyi_test(table(25))
    ax = plot_pvalues(result, ax=axes((10, 10), layout="constrained"))
    check_texts(ax, ax.get_yticklabels())
    assert len(ax.texts) == 0
    order = np.argsort(result.mean_ranks, kind="stable")
    wanted = result.matrix()[np.ix_(order, order)]
    off = ~np.eye(25, dtype=bool)
    assert_allclose(grid(ax)[off], np.log(np.maximum(wanted[off], 0.001)) / np.log(0.001), atol=1e-12)
    rejected = result.matrix("rejected")[np.ix_(order, order)] == 1
    assert dots(ax, int(rejected.sum())) == set(zip(*map(np.ndarray.tolist, np.nonzero(rejected)), strict=True))


def test_pvalues_of_small_axes_have_no_numbers():
    ax = plot_pvalues(nemenyi_test(table(12)), ax=axes((4, 4), layout="constrained"))
    assert len(ax.texts) == 0
    check_texts(ax, ax.get_yticklabels())
    check_texts(ax, ax.get_xticklabels())


def test_pvalues_of_one_side_are_in_one_place():
    ax = plot_pvalues(one_sided(), ax=axes())
    check_texts(ax)
    compared = ~np.isnan(grid(ax))
    assert compared.tolist() == [
        [False, True, True, False],
        [False, False, True, True],
        3 * [False] + [True],
        4 * [False],
    ]
    assert legend(ax) == ["p < 0.05", "undefined"]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("First of the pair", "Second of the pair")
    assert ax.child_axes[0].get_ylabel() == "p-value, one-sided (less)"
    assert sorted(text.get_text() for text in ax.texts if text.get_text())[0] == "0.040"
    assert "<0.001" in [text.get_text() for text in ax.texts]
    assert np.isnan(grid(plot_pvalues(one_sided("two-sided"), ax=axes()))).sum() == 6


def test_pvalues_against_a_control_leave_the_rest_blank():
    ax = plot_pvalues(bonferroni_dunn_test(table(10), "model 3"), ax=axes())
    assert (~np.isnan(grid(ax))).sum() == 18
    ax.figure.canvas.draw()


# The distribution under the hypothesis ----------------------------------------------------------------------------


def rejected_at(ax):
    """Return the ranges of x in the colour of rejection, from bars, outlines or areas."""
    bars = [bar for bar in ax.patches if to_hex(bar.get_facecolor()).upper() == REJECTED.color]
    found = [bar.get_extents().transformed(ax.transData.inverted()).intervalx for bar in bars]
    areas = [each for each in ax.collections if not isinstance(each, LineCollection)]
    areas = [each for each in areas if to_hex(each.get_facecolor()[0]).upper() == REJECTED.color]
    found += [
        np.array([path.vertices[:, 0].min(), path.vertices[:, 0].max()])
        for each in areas
        for path in each.get_paths()
        if path.vertices.size
    ]
    return sorted(tuple(map(float, each)) for each in found)


def seen_at(ax):
    return [line.get_xdata()[0] for line in ax.lines if line.get_label().startswith("seen:")]


CONTINUOUS = {
    "t": ("t", (9,), 2.8, "two-sided", "beyond ±2.262"),
    "t less": ("t", (9,), -1.1, "less", "below -1.833"),
    "t greater": ("t", (1,), 3.0, "greater", "above 6.314"),
    "norm": ("norm", (), 0.5, "two-sided", "beyond ±1.96"),
    "chi2": ("chi2", (3,), 9.72, "two-sided", "above 7.815"),
    "chi2 at 0": ("chi2", (1,), 0.0, "two-sided", "above 3.841"),
    "f": ("f", (3, 12), 7.364, "two-sided", "above 3.49"),
    "f at 0": ("f", (1, 5), 1.0, "two-sided", "above 6.608"),
}


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_density_and_where_it_is_rejected(name):
    family, parameters, statistic, alternative, words = CONTINUOUS[name]
    result = decided(family, parameters, statistic, alternative)
    ax = plot_null(result, ax=axes(layout="constrained"))
    ax.figure.canvas.draw()
    said = f"seen: {statistic:.4g}, p = {result.pvalue:.3g}"
    assert set(legend(ax)) >= {f"rejected at level 0.05: {words}", said}
    assert seen_at(ax) == [statistic]
    low, high = ax.get_xlim()
    critical = result.critical_value
    sides = {"t": [(low, -critical), (critical, high)], "t less": [(low, critical)]}
    sides["norm"] = sides["t"]
    assert_allclose(rejected_at(ax), sides.get(name, [(critical, high)]), atol=1e-9)
    (density,) = strokes(ax, "_density")
    x, y = density.T
    inside = np.isfinite(y) & (y <= ax.get_ylim()[1])
    assert_allclose(y[inside], result.null.frozen().pdf(x[inside]))
    assert low < statistic < high or statistic == 0
    assert np.isfinite(ax.get_ylim()).all()


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize(
    "n", [1, pytest.param(10, marks=pytest.mark.slow), 100, pytest.param(300, marks=pytest.mark.slow), 10**6]
)
def test_counts_and_where_they_are_rejected(n, alternative):
    statistic = int(0.35 * n)
    result = binomial_error_test(statistic, n, 0.3, alternative=alternative)
    ax = plot_null(result, ax=axes(layout="constrained"))
    ax.figure.canvas.draw()
    assert len(ax.patches) <= 80  # a million values share bars
    low, high = math.ceil(ax.get_xlim()[0]), math.floor(ax.get_xlim()[1])
    shown = np.arange(low, high + 1)
    critical = result.critical_value
    below, above = {"two-sided": critical, "less": (critical, math.inf), "greater": (-math.inf, critical)}[alternative]
    rejected = (shown < below) | (shown > above)
    marked = np.zeros(shown.size, dtype=bool)
    for first, last in rejected_at(ax):
        marked |= (shown > first) & (shown < last)
    assert (marked != rejected).sum() <= (0 if n < 10**6 else 4)  # thinned counts
    seen = [line for line in legend(ax) if line.startswith("seen")]
    assert seen[0].startswith(f"seen: {statistic}," if n < 10**6 else "seen, beyond the picture: 350000,")


def test_many_counts_are_drawn_as_they_are():
    ax = plot_null(binomial_error_test(301_000, 10**6, 0.3), ax=axes())
    (values,) = (each.get_data() for each in ax.patches)
    middles = (values.edges[1:] + values.edges[:-1]) / 2
    null = Null("binom", (10**6, 0.3)).frozen()
    assert_allclose(values.values, null.pmf(middles.round()), rtol=0.02)
    assert 1000 < values.values.size < 10_000


@pytest.mark.parametrize(("statistic", "marker"), [(math.inf, ">"), (-55.5, "<")])
def test_a_statistic_far_off_is_an_arrow(statistic, marker):
    ax = plot_null(decided("norm", (), statistic), ax=axes())
    ax.figure.canvas.draw()
    (arrow,) = (line for line in ax.lines if line.get_marker() == marker)
    assert arrow.get_xdata()[0] == ax.get_xlim()[marker == ">"]
    assert arrow.get_label().endswith("p = 0 to a float")
    assert max(map(abs, ax.get_xlim())) < 4


def test_nan_is_said():
    ax = plot_null(decided("norm", (), math.nan), ax=axes())
    ax.figure.canvas.draw()
    assert "seen: undefined (NaN)" in legend(ax)
    (line,) = labelled(ax, "seen: undefined (NaN)")
    assert len(line.get_xdata()) == 0


def test_nothing_to_draw():
    nameless = one_sided()[0]
    assert nameless.null is None
    with pytest.raises(ValueError, match="result must have a distribution to draw, but its null is None"):
        plot_null(nameless, ax=axes())
    with pytest.raises(ValueError, match=r"its null is Null\(name='f', parameters=\(2, 0\)\)"):
        plot_null(decided("f", (2, 0), math.nan), ax=axes())


def test_a_normal_with_a_mean_is_named_with_it():
    ax = plot_null(decided("norm", (10.0, 2.5), 12.0, "greater"), ax=axes())
    assert "if the hypothesis holds: normal(10, 2.5)" in legend(ax)
    assert "if the hypothesis holds: standard normal" in legend(plot_null(decided("norm", (), 1.0), ax=axes()))


def test_a_small_square_is_drawn_from_0_on():
    result = mcnemar_test_of_table([[5, 6], [5, 4]], method="uncorrected")
    ax = plot_null(result, ax=axes())
    assert ax.get_xlim()[0] == 0
    assert ax.get_ylim()[1] < 3
    none = plot_null(mcnemar_test_of_table([[5, 0], [0, 4]]), ax=axes())
    assert "at no value" in none.get_legend().get_texts()[1].get_text()
    huge = plot_null(binomial_error_test(3 * 10**14, 10**15, 0.3, alternative="two-sided"), ax=axes())
    assert "below 29999" in huge.get_legend().get_texts()[1].get_text()


def test_critical_difference_of_results_is_that_of_nemenyis_test():
    results = Results({"a": [1, 1, 2, 1], "b": [2, 3, 1, 2], "c": [3, 2, 3, 3]}, higher_is_better=False)
    pictures = (plot_critical_difference(each, ax=Figure().subplots()) for each in (results, nemenyi_test(results)))
    of_results, of_test = ([text.get_text() for text in ax.texts] for ax in pictures)
    assert of_results == of_test
    assert "a: 1.25" in of_results
