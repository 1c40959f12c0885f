"""Pictures of error curves and sensitivities: their contents; no text overlaps."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from fastevals.show.plots import plot_error_curve, plot_sensitivity, style
from fastevals.show.plots.parameters import SHIFT, TINTS
from fastevals.split.error_curves import ErrorCurve, learning_curve
from fastevals.split.selection import select_model
from fastevals.split.selection_results import Sensitivity
from fastevals.split.splitters.k_fold import KFold
from fastevals.split.trials import ErrorLine
from tests.show.plots.test_estimates import CRITERIA, MANY, SHORT, all_texts
from tests.show.plots.test_significance import axes, check_texts, labelled, legend
from tests.split.test_error_curves import auto_curve

MSE = "mean_squared_error"
UNDERFITS, OVERFITS = (TINTS[word].color.lower() for word in ("underfits", "overfits"))
BOTH = {"left": "← underfits", "right": "overfits →"}


def line(means, spread=0.5):
    means = np.asarray(means, dtype=float)
    return ErrorLine(
        means, np.ones_like(means), means - spread, means + 2 * spread, np.stack([means] * 2, axis=1)[:, None]
    )


def curve(values=(1, 2, 3, 4), test=(5, 2, 3, 4), training=(4, 1.5, 1, 0.5), parameter="depth", maximize=False):
    return ErrorCurve(MSE, parameter, tuple(values), line(test), line(training, np.nan), maximize, 0.9, {})


def selection(**grid):
    def learner(x, y, x_new, degree, kind="a", power=1.0):
        return np.polyval(np.polyfit(x, y, degree), x_new) + power / 100 + (kind == "b") + (degree == 3)

    x = np.linspace(-1, 1, 60)
    y = x**2 + np.random.default_rng(0).normal(scale=0.2, size=60)
    return select_model(learner, x, y, MSE, grid={"degree": [1, 2, 3], **grid}, rng=0)


def sensitivity(
    values=(1, 2, 3, 4), chosen=(5, 2, 3, 4), best=(3, 2, 2.5, 3.5), k=1, spread=0.5, maximize=False, **others
):
    lines = line(chosen, spread), line(best, spread)
    return Sensitivity(MSE, maximize, "depth", tuple(values), k, others, *lines, (others,) * len(values), 0.9)


def sides(ax):
    return {side: ax.get_title(side) for side in ("left", "right") if ax.get_title(side)}


def shaded(ax):
    """Return the shaded ranges of x, by colour."""
    spans = {to_hex(patch.get_facecolor()): patch.get_window_extent().intervalx for patch in ax.patches}
    return {color: ax.transData.inverted().transform(np.c_[x, x])[:, 0] for color, x in spans.items()}


def banded(ax):
    """Return the ends of the bands at each x."""
    bands = [each for each in ax.collections if each.get_label() == "_band"]
    return [
        {x: (points[points[:, 0] == x, 1].min(), points[points[:, 0] == x, 1].max()) for x in np.unique(points[:, 0])}
        for points in (each.get_paths()[0].vertices for each in bands if each.get_paths())
    ]


def barred(container):
    """Return the x and the ends of error bars."""
    return np.array([np.ravel(segment)[[0, 1, 3]] for segment in container.lines[2][0].get_segments()])


def entries(ax, word):
    return [label for label in legend(ax) if word in label]


# Error curves -----------------------------------------------------------------------------------------------------


def test_lines_best_and_sides():
    ax = plot_error_curve(curve(), ax=axes())
    assert_array_equal(labelled(ax, "test rows")[0].get_xydata(), np.c_[[1, 2, 3, 4], [5, 2, 3, 4]])
    assert_array_equal(labelled(ax, "training rows")[0].get_ydata(), [4, 1.5, 1, 0.5])
    (best,) = labelled(ax, "best: 2 (2 on test rows)")
    assert_array_equal(best.get_xydata(), [[2, 2]])
    assert sides(ax) == BOTH
    assert_allclose(shaded(ax)[UNDERFITS], (ax.get_xlim()[0], 2))
    assert_allclose(shaded(ax)[OVERFITS], (2, ax.get_xlim()[1]))
    assert banded(ax) == [{1: (4.5, 6), 2: (1.5, 3), 3: (2.5, 4), 4: (3.5, 5)}]
    assert entries(ax, "interval") == ["90 % interval, test rows"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("depth", "Mean squared error")
    check_texts(ax, all_texts(ax))


def test_sides_are_where_they_are():
    ax = plot_error_curve(curve(test=(4, 3, 2, 5), training=(0.5, 1, 1.5, 4)), ax=axes())
    assert sides(ax) == {"left": "← overfits", "right": "underfits →"}
    assert_allclose(shaded(ax)[OVERFITS], (ax.get_xlim()[0], 3))
    ax = plot_error_curve(curve(test=(5, 4, 3, 2), training=(4, 3, 2, 1)), ax=axes())
    assert sides(ax) == {"left": "← underfits"}
    assert list(shaded(ax)) == [UNDERFITS]
    scores = curve(test=(0.5, 0.8, 0.7, 0.6), training=(0.6, 0.9, 0.95, 1.0), maximize=True)
    assert sides(plot_error_curve(scores, ax=axes())) == BOTH
    same = plot_error_curve(curve(test=(5, 2, 3, 4), training=(4, 1, 2, 3)), ax=axes())
    assert (sides(same), shaded(same)) == ({}, {})


def test_sides_are_named_by_the_outermost_values_that_are_defined():
    nan = np.nan
    ax = plot_error_curve(curve(range(6), (nan, 5, 2, 3, 4, nan), (nan, 4, 1.5, 1, 0.5, nan)), ax=axes())
    assert sides(ax) == BOTH


def test_no_text_covers_another_over_numbers():
    large = curve(test=(5e9, 2e9, 3e9, 4e9), training=(4e9, 1.5e9, 1e9, 0.5e9))
    ax = plot_error_curve(large, ax=axes(style.WIDE, layout="constrained"))
    assert sides(ax) == BOTH
    check_texts(ax, all_texts(ax))
    assert ax.yaxis.get_offset_text().get_text() == "1e9"


def test_values_in_any_order_on_a_logarithmic_axis():
    ax = plot_error_curve(curve(values=(100.0, 0.01, 1.0, 10.0), test=(5, 2, 3, 4)), ax=axes())
    assert ax.get_xscale() == "log"
    assert_array_equal(labelled(ax, "test rows")[0].get_xydata(), np.c_[[0.01, 1, 10, 100], [2, 3, 4, 5]])
    assert plot_error_curve(curve(values=(1, 20, 30, 99)), ax=axes()).get_xscale() == "linear"
    assert plot_error_curve(curve(values=(0, 20, 30, 990)), ax=axes()).get_xscale() == "linear"
    assert plot_error_curve(curve(values=(-1, 0.01, 1, 10)), ax=axes()).get_xscale() == "linear"


def test_zero_is_on_a_logarithmic_axis():
    ax = plot_error_curve(curve(values=(0, 0.01, 1, 100)), ax=axes(style.WIDE, layout="constrained"))
    assert ax.get_xscale() == "symlog"
    check_texts(ax, all_texts(ax))
    steps = np.diff(ax.transData.transform([(x, 3) for x in (0, 0.01, 0.1, 1, 10, 100)])[:, 0])
    assert steps.max() < 1.2 * steps.min()


def test_numbers_of_any_kind_are_in_their_places():
    for values in (np.arange(4), np.arange(4.0, dtype="f4"), [np.int8(0), 1, 2.0, 3]):
        ax = plot_error_curve(curve(values=values), ax=axes())
        assert_array_equal(labelled(ax, "test rows")[0].get_xdata(), range(4))
        assert_array_equal(ax.get_xticks(), ax.get_xticks().round())
    for values in ((1e-280, 2, 1e280, 3), (10**400, 2, 3, 4), (-1e-280, 1, 2, 3)):
        ax = plot_error_curve(curve(values=values), ax=axes())
        ax.figure.canvas.draw()
        assert len(ax.containers) == 3
    plot_error_curve(curve(values=(1e-150, 2, 3, 1e150)), ax=(ax := axes()))
    ax.figure.canvas.draw()
    assert ax.get_xscale() == "log"


@pytest.mark.parametrize("values", [
    ("a", "b", "c", None), (True, False, 2, 3), ("a" * 30, "$x$", "b" * 25, "_c"), CRITERIA, MANY[:4],
    *(pytest.param(each, marks=pytest.mark.slow) for each in ((1, 2, 3, None), (1.0, np.nan, 2, 3))),
])  # fmt: skip
def test_other_values_are_side_by_side(values):
    result = curve(values=values)
    ax = plot_error_curve(result, ax=axes(style.WIDE, layout="constrained"))
    assert_array_equal(ax.get_xticks(), range(4))
    check_texts(ax, all_texts(ax))
    training, test, _ = ax.containers
    assert [each.get_label() for each in ax.containers] == ["training rows", "test rows", "90 % interval, test rows"]
    assert_array_equal(training.lines[0].get_xydata(), np.c_[np.arange(4) - SHIFT, result.training.values])
    assert_array_equal(test.lines[0].get_xydata(), np.c_[np.arange(4) + SHIFT, result.test.values])
    assert_allclose(barred(test), np.c_[np.arange(4) + SHIFT, result.test.low, result.test.high])
    (best,) = (each for each in ax.lines if str(each.get_label()).startswith("best: "))
    assert_array_equal(best.get_xydata(), [[1 + SHIFT, 2]])
    assert ax.get_legend().get_window_extent().y1 < ax.get_window_extent().y0


@pytest.mark.parametrize("names", [SHORT, MANY[:30], pytest.param(MANY[:60], marks=pytest.mark.slow), MANY], ids=len)
def test_names_are_shortened_and_left_out_where_there_is_no_room(names):
    means = np.linspace(2, 3, len(names))
    ax = plot_sensitivity(sensitivity(names, means, means, 0, depth=1), ax=axes(style.WIDE, layout="constrained"))
    check_texts(ax, all_texts(ax))
    assert ax.get_window_extent().height > 120
    assert len(ax.get_xticklabels()) >= min(len(names), 20)
    if names != SHORT:  # rotated, and 16 characters at most
        assert {(each.get_rotation(), len(each.get_text())) for each in ax.get_xticklabels()} == {(90, 16)}
    for tick in ax.get_xticklabels():
        assert tick.get_text()[-3:] == names[int(tick.get_position()[0])][-3:]


def test_intervals_are_named_where_there_are_some():
    for values in ((1, 2, 3, 4), ("a", "b", "c", "d")):
        without = ErrorCurve(MSE, "depth", values, line((5, 2, 3, 4), np.nan), curve().training, False, 0.9, {})
        for plot, result in ((plot_error_curve, curve(values)), (plot_sensitivity, sensitivity(values, kind="a"))):
            assert len(entries(plot(result, ax=axes()), "90 % interval")) == 1
        for plot, result in ((plot_error_curve, without), (plot_sensitivity, sensitivity(values, spread=np.nan))):
            assert entries(plot(result, ax=axes()), "interval") == []


def test_steep_errors_are_on_a_logarithmic_axis_and_wide_intervals_are_cut():
    steep = plot_error_curve(curve(test=(5, 2, 30, 4000)), ax=axes())
    assert steep.get_yscale() == "log"
    assert steep.get_ylim()[1] < 1e4
    wide = ErrorCurve(MSE, "depth", (1, 2), line([1, 2], 500), line([0.5, 0.2]), False, 0.95, {})
    ax = plot_error_curve(wide, ax=axes())
    assert ax.get_yscale() == "linear"
    assert -5 < ax.get_ylim()[0] < ax.get_ylim()[1] < 7
    for training in ((0, 0, 0, 0), (4, 1, 0.5, 0)):
        ax = plot_error_curve(curve(test=(5, 2, 30, 4000), training=training), ax=axes(style.WIDE))
        assert ax.get_yscale() == "symlog"
        assert -1 < ax.get_ylim()[0] < 0 < 4000 < ax.get_ylim()[1] < 2e4
        check_texts(ax, all_texts(ax))
    ax = plot_sensitivity(sensitivity(chosen=(5, 2, 3, 4000), spread=1e6), ax=axes())
    assert ax.get_yscale() == "log"
    assert ax.get_ylim()[1] < 2e4


def test_scores_far_below_the_others_are_cut():
    scores = curve(test=(0.4, 0.6, 0.5, -500), training=(0.5, 0.7, 0.8, 0.9), maximize=True)
    ax = plot_error_curve(scores, ax=axes())
    assert -5 < ax.get_ylim()[0] < 0.4 < 0.9 < ax.get_ylim()[1] < 5
    assert entries(ax, "cut") == ["(cut: down to -500)"]
    ax = plot_sensitivity(sensitivity(chosen=(0.4, 0.6, 0.5, -500), maximize=True), ax=axes())
    assert entries(ax, "cut") == ["(cut: down to -500)"]
    for test in ((0.9, 0.9, 0.9, 0.0), (0, 0, 0, -1)):
        ax = plot_error_curve(curve(test=test, training=test, maximize=True), ax=axes())
        assert ax.get_ylim()[0] < min(test)
        assert entries(ax, "cut") == []


@pytest.mark.slow
def test_odd_curves_are_drawn():
    nan = np.nan
    ax = plot_error_curve(curve(test=(5, nan, 3, 4), training=(4, nan, 1, 0.5)), ax=axes())
    assert_array_equal(labelled(ax, "test rows")[0].get_ydata(), [5, nan, 3, 4])
    assert labelled(ax, "best: 3 (3 on test rows)")
    for odd in (
        curve(test=4 * (nan,), training=4 * (nan,)),
        curve(values=(1,), test=(2,), training=(1,)),
        curve(maximize=None),
        curve(test=(np.inf, 2, 3, 4), training=(2, 2, 2, 2)),
        curve(test=(2, 2, 2, 2), training=(2, 2, 2, 2)),
        curve(values=("only",), test=(2,), training=(1,)),
    ):
        ax = plot_error_curve(odd, ax=axes())
        ax.figure.canvas.draw()
        assert sides(ax) == {}
    ax = plot_error_curve(curve(parameter="$" * 60), ax=axes())
    check_texts(ax, [ax.xaxis.label])
    assert ax.get_xlabel() == style.legend_label("$" * 60)


def test_learning_curves_have_no_sides():
    x = np.linspace(-1, 1, 60)

    def mean(x, y, x_new):
        return np.full(len(x_new), y.mean())

    ax = plot_error_curve(learning_curve(mean, x, x, KFold(5, rng=0), MSE, rng=0), ax=axes())
    assert ax.get_xlabel() == "Training rows"
    assert sides(ax) == {}
    assert not any("best" in label for label in legend(ax))
    assert labelled(ax, "test rows")[0].get_xdata().tolist() == [4, 15, 26, 37, 48]


# Sensitivity ------------------------------------------------------------------------------------------------------


def test_sensitivity_over_numbers():
    found = selection(kind=["a", "b"], power=[0.001, 1.0, 1000.0])
    ax = plot_sensitivity(found.sensitivity("degree"), ax=axes())
    drawn = found.sensitivity("degree")
    assert_array_equal(labelled(ax, "kind=a, power=0.001")[0].get_ydata(), drawn.as_chosen.values)
    assert_array_equal(labelled(ax, "others at their best for each value")[0].get_ydata(), drawn.at_best.values)
    (chosen,) = labelled(ax, f"chosen: 2 ({found.best.value:.4g})")
    assert_array_equal(chosen.get_xydata(), [[2, found.best.value]])
    assert ax.get_ylabel() == "Mean squared error\non validation rows"
    k = np.isfinite(drawn.as_chosen.low)
    ends = zip(drawn.as_chosen.low[k], drawn.as_chosen.high[k], strict=True)
    assert banded(ax) == [dict(zip([1, 2, 3], ends, strict=True))]  # no band for the best
    assert plot_sensitivity(found.sensitivity("power"), ax=axes()).get_xscale() == "log"


def test_sensitivity_over_other_values():
    drawn = selection(kind=["a", "b"]).sensitivity("kind")
    ax = plot_sensitivity(drawn, ax=axes(style.WIDE, layout="constrained"))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]
    as_chosen, at_best, _ = ax.containers
    assert [each.get_label() for each in (as_chosen, at_best)] == ["degree=2", "others at their best for each value"]
    for container, x, line in ((as_chosen, -SHIFT, drawn.as_chosen), (at_best, SHIFT, drawn.at_best)):
        assert_allclose(container.lines[0].get_xydata(), np.c_[[x, 1 + x], line.values])
        assert_allclose(barred(container), np.c_[[x, 1 + x], line.low, line.high])
    (chosen,) = (each for each in ax.lines if str(each.get_label()).startswith("chosen: a"))
    assert_array_equal(chosen.get_xydata(), [[-SHIFT, drawn.as_chosen.values[0]]])
    check_texts(ax, all_texts(ax))
    alone = plot_sensitivity(sensitivity(("a", "b", "c", "d")), ax=axes())
    assert_array_equal(alone.containers[0].lines[0].get_xdata(), range(4))


def test_sensitivity_of_the_only_parameter():
    found = selection()
    ax = plot_sensitivity(found.sensitivity("degree"), ax=axes())
    assert legend(ax) == ["estimates", f"chosen: 2 ({found.best.value:.4g})", "95 % interval of the mean"]


# Both -------------------------------------------------------------------------------------------------------------


def test_other_kinds_are_named():
    with pytest.raises(ValueError, match="curve must be ErrorCurve, got dict"):
        plot_error_curve({"a": curve()}, ax=axes())
    with pytest.raises(ValueError, match="sensitivity must be Sensitivity, got ModelSelection"):
        plot_sensitivity(selection(), ax=axes())
    with pytest.raises(ValueError, match="ax must be a matplotlib Axes, got Figure"):
        plot_error_curve(curve(), ax=Figure())
    with pytest.raises(ValueError, match=r"curve must be below 1e\+150 in size to be drawn, got 1e\+307"):
        plot_error_curve(curve(training=(1e307, np.nan, np.inf, 1)), ax=axes())
    with pytest.raises(ValueError, match=r"sensitivity must be below 1e\+150 in size to be drawn, got 1e\+307"):
        plot_sensitivity(sensitivity(best=(1e307, 2, 3, 4), kind="a"), ax=axes())


@pytest.mark.slow
def test_pyplot_is_for_calls_without_axes_alone():
    code = (
        "import sys\nfrom matplotlib.figure import Figure\n"
        "from tests.show.plots.test_selection import curve, plot_error_curve, plot_sensitivity, selection\n"
        "made = [(plot_error_curve, curve()), (plot_sensitivity, selection().sensitivity('degree'))]\n"
        "for plot, result in made:\n    assert plot(result, ax=(ax := Figure().subplots())) is ax\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "import matplotlib\nmatplotlib.use('agg')\n"
        "for plot, result in made:\n"
        "    ax = plot(result)\n    assert sys.modules['matplotlib.pyplot'].gcf() is ax.figure"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=Path(__file__).parents[3])


def test_curve_of_the_auto_data_can_be_drawn():
    ax = plot_error_curve(auto_curve(), ax=axes((6.4, 4.8), layout="constrained"))
    check_texts(ax, all_texts(ax))
    assert sides(ax) == {"left": "← underfits"}  # only a line underfits; degrees above two are not significantly worse
