"""What the pictures of error curves and sensitivities show, and that no text covers another."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from fastevals.show.plots import plot_error_curve, plot_sensitivity, style
from fastevals.split.curves import ErrorCurve, learning_curve
from fastevals.split.selection import select_model
from fastevals.split.splitters import KFold
from fastevals.split.trials.lines import ErrorLine
from tests.show.test_significance_plots import axes, check_texts, labelled, legend
from tests.split.test_error_curves import auto_curve

MSE = "mean_squared_error"


def line(means, spread=0.5):
    means = np.asarray(means, dtype=float)
    return ErrorLine(means, 0 * means + 1, means - spread, means + spread, np.stack([means, means], axis=1)[:, None])


def curve(values=(1, 2, 3, 4), test=(5, 2, 3, 4), training=(4, 1.5, 1, 0.5), parameter="depth", maximize=False):
    return ErrorCurve(MSE, parameter, tuple(values), line(test), line(training, np.nan), maximize, 0.9, {})


def selection(**grid):
    def learner(x, y, x_new, degree, kind="a", power=1.0):
        return np.polyval(np.polyfit(x, y, degree), x_new) + power / 100 + (kind == "b") + (degree == 3)

    x = np.linspace(-1, 1, 60)
    y = x**2 + np.random.default_rng(0).normal(scale=0.2, size=60)
    return select_model(learner, x, y, MSE, grid={"degree": [1, 2, 3], **grid}, rng=0)


def sides(ax):
    return {text.get_text(): text.get_ha() for text in ax.texts}


def shaded(ax):
    """Give the ranges of x that are shaded."""
    spans = [patch for patch in ax.patches if patch.get_alpha() is not None]
    return [tuple(sorted((span.get_x(), span.get_x() + span.get_width()))) for span in spans]


# Error curves -----------------------------------------------------------------------------------------------------


def test_lines_best_and_sides():
    ax = plot_error_curve(curve(), ax=axes())
    assert_array_equal(labelled(ax, "test rows")[0].get_xydata(), np.c_[[1, 2, 3, 4], [5, 2, 3, 4]])
    assert_array_equal(labelled(ax, "training rows")[0].get_ydata(), [4, 1.5, 1, 0.5])
    (best,) = labelled(ax, "best: 2 (2 on test rows)")
    assert_array_equal(best.get_xydata(), [[2, 2]])
    assert sides(ax) == {"\N{LEFTWARDS ARROW} underfits": "left", "overfits \N{RIGHTWARDS ARROW}": "right"}
    ((low, high),) = shaded(ax)
    assert (low, high) == (2, ax.get_xlim()[1])
    assert "90 % interval, test rows" in legend(ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("depth", "Mean squared error")
    check_texts(ax)


def test_sides_are_where_they_are():
    ax = plot_error_curve(curve(test=(4, 3, 2, 5), training=(0.5, 1, 1.5, 4)), ax=axes())
    assert sides(ax) == {"\N{LEFTWARDS ARROW} overfits": "left", "underfits \N{RIGHTWARDS ARROW}": "right"}
    assert_allclose(shaded(ax), [(ax.get_xlim()[0], 3)])
    ax = plot_error_curve(curve(test=(5, 4, 3, 2), training=(4, 3, 2, 1)), ax=axes())
    assert sides(ax) == {"\N{LEFTWARDS ARROW} underfits": "left"}
    assert shaded(ax) == []
    scores = curve(test=(0.5, 0.8, 0.7, 0.6), training=(0.6, 0.9, 0.95, 1.0), maximize=True)
    assert len(sides(plot_error_curve(scores, ax=axes()))) == 2


def test_values_in_any_order_on_a_logarithmic_axis():
    ax = plot_error_curve(curve(values=(100.0, 0.01, 1.0, 10.0), test=(5, 2, 3, 4)), ax=axes())
    assert ax.get_xscale() == "log"
    assert_array_equal(labelled(ax, "test rows")[0].get_xydata(), np.c_[[0.01, 1, 10, 100], [2, 3, 4, 5]])
    assert plot_error_curve(curve(values=(1, 20, 30, 99)), ax=axes()).get_xscale() == "linear"
    assert plot_error_curve(curve(values=(0, 20, 30, 990)), ax=axes()).get_xscale() == "linear"


@pytest.mark.parametrize("values", [
    ("a", "b", "c", None), (True, False, 2, 3), ("a" * 30, "$x$", "b" * 25, "_c"),
    *(pytest.param(each, marks=pytest.mark.slow) for each in ((1, 2, 3, None), (1.0, np.nan, 2, 3))),
])  # fmt: skip
def test_other_values_are_side_by_side(values):
    ax = plot_error_curve(curve(values=values), ax=axes(layout="constrained"))
    assert_array_equal(ax.get_xticks(), range(4))
    check_texts(ax, ax.get_xticklabels())
    names = [container.get_label() for container in ax.containers]
    assert names == ["training rows", "test rows"]
    for container, y in zip(ax.containers, ((4, 1.5, 1, 0.5), (5, 2, 3, 4)), strict=True):
        assert_array_equal(container.lines[0].get_ydata(), y)
        assert_allclose(container.lines[0].get_xdata(), range(4), atol=0.1)
    box = ax.get_legend().get_window_extent()
    top = max(ax.transData.transform((0, high + 0.5))[1] for high in (5, 2, 3, 4))
    assert box.y0 >= top - 2  # above the bars


def test_steep_errors_are_on_a_logarithmic_axis_and_wide_intervals_are_cut():
    steep = plot_error_curve(curve(test=(5, 2, 30, 4000)), ax=axes())
    assert steep.get_yscale() == "log"
    assert steep.get_ylim()[1] < 1e4
    wide = ErrorCurve(MSE, "depth", (1, 2), line([1, 2], 500), line([0.5, 0.1]), False, 0.95, {})
    ax = plot_error_curve(wide, ax=axes())
    assert ax.get_yscale() == "linear"
    assert -5 < ax.get_ylim()[0] < ax.get_ylim()[1] < 7
    zero = plot_error_curve(curve(test=(5, 2, 30, 4000), training=(0, 0, 0, 0)), ax=axes())
    assert zero.get_yscale() == "linear"


def test_odd_curves_are_drawn():
    nan = np.nan
    ax = plot_error_curve(curve(test=(5, nan, 3, 4), training=(4, nan, 1, 0.5)), ax=axes())
    assert_array_equal(labelled(ax, "test rows")[0].get_ydata(), [5, nan, 3, 4])
    assert labelled(ax, "best: 3 (3 on test rows)")
    for odd in (
        curve(test=4 * (nan,), training=4 * (nan,)),
        curve(values=(1,), test=(2,), training=(1,)),
        curve(maximize=None),
        curve(test=(2, 2, 2, 2), training=(2, 2, 2, 2)),
        curve(values=("only",), test=(2,), training=(1,)),
    ):
        ax = plot_error_curve(odd, ax=axes())
        ax.figure.canvas.draw()
        assert sides(ax) == {}
    ax = plot_error_curve(curve(parameter="$" * 60), ax=axes())
    check_texts(ax, [ax.xaxis.label])
    assert ax.get_xlabel() == style.named_label("$" * 60)


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
    assert_array_equal(labelled(ax, "other parameters at best for each")[0].get_ydata(), drawn.at_best.values)
    (chosen,) = labelled(ax, f"chosen: 2 ({found.best.value:.4g})")
    assert_array_equal(chosen.get_xydata(), [[2, found.best.value]])
    assert ax.get_ylabel() == "Mean squared error on validation rows"
    assert plot_sensitivity(found.sensitivity("power"), ax=axes()).get_xscale() == "log"


def test_sensitivity_over_other_values():
    found = selection(kind=["a", "b"])
    ax = plot_sensitivity(found.sensitivity("kind"), ax=axes())
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]
    assert [each.get_label() for each in ax.containers] == ["degree=2", "other parameters at best for each"]
    check_texts(ax, ax.get_xticklabels())


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


@pytest.mark.slow
def test_pyplot_is_for_calls_without_axes_alone():
    code = (
        "import sys\nfrom matplotlib.figure import Figure\n"
        "from tests.show.test_selection_plots import curve, plot_error_curve, plot_sensitivity, selection\n"
        "made = [(plot_error_curve, curve()), (plot_sensitivity, selection().sensitivity('degree'))]\n"
        "for plot, result in made:\n    assert plot(result, ax=(ax := Figure().subplots())) is ax\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "import matplotlib\nmatplotlib.use('agg')\n"
        "for plot, result in made:\n"
        "    ax = plot(result)\n    assert sys.modules['matplotlib.pyplot'].gcf() is ax.figure"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_curve_of_the_auto_data_can_be_drawn():
    ax = plot_error_curve(auto_curve(), ax=axes((6.4, 4.8), layout="constrained"))
    check_texts(ax)
    assert set(sides(ax)) == {"\N{LEFTWARDS ARROW} underfits", "overfits \N{RIGHTWARDS ARROW}"}
