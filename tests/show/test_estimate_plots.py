"""What the pictures of bias and variance and of estimates show, and that no text covers another or is cut."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from fastevals.measure.bias_variance import bias_variance
from fastevals.measure.results import Interval
from fastevals.show.plots import plot_bias_variance, plot_estimates, style
from fastevals.show.plots.bias_variance import BIAS, SIZE, VARIANCE
from fastevals.split.estimates import ErrorEstimate
from fastevals.split.training_sets import BiasVarianceCurve
from tests.show.test_significance_plots import LONG, axes, check_texts, labelled, legend


def decomposed(bias, variance, **options):
    """Give a decomposition with these parts: two models, whose mean is off by the root of the bias."""
    middle, spread = np.sqrt(bias), np.sqrt(variance)
    return bias_variance(np.zeros(1), np.array([[middle - spread], [middle + spread]]), **options)


def curve(values, bias, variance, parameter="degree", **options):
    found = tuple(decomposed(b, v, **options) for b, v in zip(bias, variance, strict=True))
    return BiasVarianceCurve(parameter, tuple(values), found)


def u_shaped():
    return curve([1, 2, 3, 4], [4.0, 1.0, 0.5, 0.4], [0.1, 0.2, 1.0, 4.0])


def estimate(values, value=None, interval=(np.nan, np.nan), bootstrap=None):
    table = np.asarray(values, dtype=float)
    value = np.nanmean(table) if value is None else value
    return ErrorEstimate(
        value, np.nanstd(table, ddof=1), Interval(*interval), table, value, int(np.isnan(table).sum()), None, bootstrap
    )


def drawn(ax, label):
    (line,) = labelled(ax, label)
    return [each.tolist() for each in line.get_data()]


def all_texts(ax):
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    shown = [each for each in ax.get_xticklabels() if low <= each.get_position()[0] <= high]
    low, high = ax.get_ylim()
    shown += [each for each in ax.get_yticklabels() if low <= each.get_position()[1] <= high]
    titles = [ax._left_title, ax._right_title]
    return [*shown, *ax.texts, *titles, ax.xaxis.label, ax.yaxis.label, *ax.get_legend().get_texts()]


# Bias and variance ------------------------------------------------------------------------------------------------


def test_lines_are_the_parts():
    result = u_shaped()
    ax = plot_bias_variance(result, ax=axes())
    assert legend(ax)[:4] == ["bias²", "variance", "expected loss", "least: 1.2 at 2"]
    for label, values in zip(
        ("bias²", "variance", "expected loss"), (*result.parts().values(), result.expected_loss), strict=True
    ):
        assert drawn(ax, label) == [[1, 2, 3, 4], values.tolist()]
    assert drawn(ax, "least: 1.2 at 2") == [[2, 2], [0, 1]]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("degree", "Expected squared loss")


def test_sides_are_named_by_what_grows():
    ax = plot_bias_variance(u_shaped(), ax=axes())
    assert (ax.get_title("left"), ax.get_title("right")) == ("← underfits", "overfits →")
    assert [to_hex(each.get_facecolor()) for each in ax.patches] == [BIAS.lower(), VARIANCE.lower()]
    neighbours = curve([9, 5, 1], [4.0, 1.0, 0.5], [0.1, 0.2, 3.0], "n_neighbors")  # few: complex
    ax = plot_bias_variance(neighbours, ax=axes())
    assert (ax.get_title("left"), ax.get_title("right")) == ("← overfits", "underfits →")
    at_end = plot_bias_variance(curve([1, 2], [4.0, 1.0], [0.1, 0.2]), ax=axes())
    assert (at_end.get_title("left"), at_end.get_title("right")) == ("← underfits", "")
    sizes = curve([10, 100], [1.0, 1.0], [3.0, 0.3], None)
    ax = plot_bias_variance(sizes, ax=axes())
    assert (ax.get_title("left"), ax.get_title("right"), len(ax.patches)) == ("", "", 0)
    assert ax.get_xlabel() == "Size of the training sets"


def test_sides_of_zero_one_loss_go_by_how_much_predictions_vary():
    truth = np.zeros(60, dtype=int)
    drawn_at_random = np.random.default_rng(0).random((9, 60))
    votes = [np.tile(np.arange(60) % 4 == 0, (9, 1)), np.zeros((9, 60)), drawn_at_random < 0.45]
    found = tuple(bias_variance(truth, each.astype(int), loss="zero_one", labels=[0, 1]) for each in votes)
    assert found[2].net_variance < found[2].bias < found[2].variance
    ax = plot_bias_variance(BiasVarianceCurve("depth", (1, 2, 3), found), ax=axes())
    assert (ax.get_title("left"), ax.get_title("right")) == ("← underfits", "overfits →")


def test_what_is_far_above_the_least_is_cut():
    ax = plot_bias_variance(curve([1, 2, 3], [2.0, 1.0, 1.0], [0.0, 0.0, 1000.0]), ax=axes())
    assert ax.get_ylim()[1] < 5
    assert "(cut: up to 1001)" in legend(ax)
    assert not any("cut" in each for each in legend(plot_bias_variance(curve([1, 2], [2, 1], [0, 0]), ax=axes())))


def test_an_infinite_loss_is_cut():
    endless = bias_variance(np.zeros(1), np.array([[1e200], [2e200]]))
    ax = plot_bias_variance(BiasVarianceCurve("degree", (1, 2), (decomposed(1.0, 1.0), endless)), ax=axes())
    assert "(cut: up to inf)" in legend(ax)
    ax.figure.canvas.draw()


def test_scales():
    wide = curve([0.01, 0.1, 10.0], [1.0, 0.5, 2.0], [2.0, 0.5, 0.1], "alpha")
    assert plot_bias_variance(wide, ax=axes()).get_xscale() == "log"
    assert plot_bias_variance(u_shaped(), ax=axes()).get_xscale() == "linear"
    kinds = curve(["linear", "rbf"], [1.0, 0.5], [0.1, 0.3], "kernel")
    ax = plot_bias_variance(kinds, ax=axes())
    assert [each.get_text() for each in ax.get_xticklabels()] == ["linear", "rbf"]
    assert "least: 0.8 at rbf" in legend(ax)
    assert ax.get_title("left") == ""  # kinds have no order
    rounded = curve([0.1 + 0.2, 1.0], [0.5, 1.0], [0.1, 0.3], "alpha")
    assert "least: 0.6 at 0.3" in legend(plot_bias_variance(rounded, ax=axes()))


def test_zero_one_parts_may_be_negative():
    y, predictions = np.array([0, 0, 1]), np.array([[1, 0, 1], [1, 1, 1], [0, 0, 1]])
    found = bias_variance(y, predictions, loss="zero_one")
    assert found.net_variance < found.variance
    result = BiasVarianceCurve("depth", (1, 2), (found, bias_variance(y, predictions[::-1] * 0, loss="zero_one")))
    ax = plot_bias_variance(result, ax=axes())
    assert ax.get_ylim()[0] <= min(0, found.net_variance)
    assert "net variance" in legend(ax)
    assert ax.get_ylabel() == "Expected 0-1 loss"
    noisy = bias_variance(y, predictions, y_observed=[1, 0, 1], loss="zero_one", decomposition="james")
    bars = plot_bias_variance(noisy, ax=axes())
    assert bars.get_yticklabels()[0].get_text() == "expected loss"
    assert {"noise", "systematic effect", "variance effect"} <= {each.get_text() for each in bars.get_yticklabels()}


def test_bars_of_one():
    ax = plot_bias_variance(decomposed(1.0, 0.25), ax=axes())
    assert [bar.get_width() for bar in ax.patches] == [1.25, 1.0, 0.25]
    assert [each.get_text() for each in ax.texts] == ["1.25", "1", "0.25"]
    check_texts(ax)


@pytest.mark.parametrize(
    "size", [(4.2, 4.2), *(pytest.param(size, marks=pytest.mark.slow) for size in (SIZE, style.WIDE))]
)
def test_no_text_covers_another_in_a_curve(size):
    long = curve(range(1, 30), np.linspace(4, 0.1, 29), np.linspace(0, 400, 29), LONG[0])
    for result in (u_shaped(), long):
        ax = plot_bias_variance(result, ax=axes(size, layout="constrained"))
        check_texts(ax, all_texts(ax))


# Estimates --------------------------------------------------------------------------------------------------------


def test_rows_are_schemes():
    values = np.random.default_rng(0).normal(10, 2, size=(50, 4))
    few = estimate([[1.0, 3.0], [2.0, np.nan]], interval=(1.5, 2.5))
    ax = plot_estimates({"many": values, "few": few, "one": [[5.0]]}, ax=axes())
    assert [each.get_text() for each in ax.get_yticklabels()] == [
        f"many\nmean {values.mean():.4g}, sd {values.std(ddof=1):.3g}, n 200", "few\nmean 2, sd 1, n 3, 1 undefined",
        "one\nmean 5, n 1",
    ]  # fmt: skip
    assert [line.get_xdata()[0] for line in labelled(ax, "_estimate")] == pytest.approx([values.mean(), 2, 5])
    many, few, _ = (line.get_xdata() for line in labelled(ax, "_deviation"))
    assert many == pytest.approx([values.mean() - values.std(ddof=1), values.mean() + values.std(ddof=1)])
    assert list(few) == [1, 3]
    assert [1.5, 2.5] in [list(line.get_xdata()) for line in ax.lines]
    assert legend(ax) == ["mean ± standard deviation of the values", "confidence interval of the estimate"]
    assert ax.get_xlabel() == "Value of a split"


def test_histograms_hold_all_but_the_furthest():
    values = np.random.default_rng(0).normal(size=1000)
    ax = plot_estimates({"scheme": values}, ax=axes())
    outline = ax.patches[-1]
    assert outline.get_data().edges[[0, -1]] == pytest.approx(np.quantile(values, [0.005, 0.995]))
    assert legend(ax) == ["mean ± standard deviation of the values"]


def test_repetitions_are_means_over_folds():
    values = np.random.default_rng(0).normal(size=(40, 5))
    ax = plot_estimates({"folds": values}, of="repetitions", ax=axes())
    means = values.mean(axis=1)
    assert f"sd {means.std(ddof=1):.3g}, n 40" in ax.get_yticklabels()[0].get_text()
    assert ax.get_xlabel() == "Mean of a repetition's folds"


def test_many_values_are_counted_in_thousands():
    ax = plot_estimates({"many": np.random.default_rng(0).normal(size=10_000)}, ax=axes())
    assert ax.get_yticklabels()[0].get_text().endswith("n 10,000")


def test_a_corrected_estimate_stands_apart_from_the_mean():
    values = np.random.default_rng(0).normal(5, 1, (60, 1))
    ax = plot_estimates({"boot": estimate(values, 4.5, (4, 5), bootstrap=object())}, ax=axes())
    assert "estimate 4.5\nmean" in ax.get_yticklabels()[0].get_text()
    assert labelled(ax, "_estimate")[0].get_xdata()[0] == 4.5


@pytest.mark.parametrize("n", [1, 3, 7])
def test_no_text_covers_another_in_estimates(n):
    rng = np.random.default_rng(0)
    schemes = {name: rng.gamma(2, size=(40, 3)) for name in LONG[:n]}
    ax = plot_estimates(schemes, ax=axes((6.4, 1.7 + 0.85 * n), layout="constrained"))
    check_texts(ax, all_texts(ax))


def test_constant_values():
    ax = plot_estimates({"same": np.ones(50), "other": np.ones((2, 2))}, ax=axes(layout="constrained"))
    assert ax.get_xlim()[0] < 1 < ax.get_xlim()[1]
    check_texts(ax, all_texts(ax))


# Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0], "estimates must be a mapping of names to ErrorEstimate or arrays, got list"),
        ({}, "estimates is an empty mapping"),
        ({"a": [np.nan, np.nan]}, r"estimates\['a'\] must have a value that is not NaN, but all of its 2 are"),
        ({"a": ["x"]}, r"estimates\['a'\] must be ErrorEstimate or hold finite numbers"),
        ({"a": [np.inf]}, r"estimates\['a'\] must be ErrorEstimate or hold finite numbers"),
        ({"a": np.zeros((2, 2, 2))}, r"in shape \(n_repeats, n_folds\)"),
        ({"a": []}, r"estimates\['a'\]"),
        ({"a": [1e308, -1e308]}, r"estimates\['a'\] must be below 1e\+150 in size to be drawn, got 1e\+308"),
        ({1: [1.0], "1": [2.0]}, "estimates must have names that can be told apart, got"),
    ],
)
def test_other_estimates_are_named(values, message):
    with pytest.raises(ValueError, match=message):
        plot_estimates(values, ax=axes())


def test_other_kinds_are_named():
    with pytest.raises(ValueError, match="result must be BiasVarianceCurve, got dict"):
        plot_bias_variance({}, ax=axes())
    with pytest.raises(ValueError, match="ax must be a matplotlib Axes, got Figure"):
        plot_bias_variance(u_shaped(), ax=Figure())
    with pytest.raises(ValueError, match="of must be one of 'splits', 'repetitions'; got 'folds'"):
        plot_estimates({"a": [1.0]}, of="folds", ax=axes())
    per_sample = decomposed(1.0, 1.0, per_sample=True).per_sample
    with pytest.raises(ValueError, match="result must be a decomposition of all samples, not its per_sample"):
        plot_bias_variance(per_sample, ax=axes())
    endless = bias_variance(np.zeros(1), np.array([[1e200], [2e200]]))
    for result in (endless, BiasVarianceCurve("degree", (1, 2), (endless, endless))):
        with pytest.raises(ValueError, match=r"result must be below 1e\+150 in size to be drawn, got inf"):
            plot_bias_variance(result, ax=axes())
