"""Pictures of bias and variance and of estimates: their contents; no text overlaps or is cut."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from fastevals.measure.bias_variance.bias_variance import bias_variance
from fastevals.results import Interval
from fastevals.show.plots import plot_bias_variance, plot_estimates, style
from fastevals.show.plots.bias_variance import BIAS, SIZE, VARIANCE
from fastevals.show.plots.estimates import HEIGHT, MOST_BINS
from fastevals.split.estimates.results import ErrorEstimate
from fastevals.split.training_sets import BiasVarianceCurve
from tests.show.plots.test_significance import LONG, axes, check_texts, labelled, legend


def decomposed(bias, variance, **options):
    """Return a decomposition with these parts, from two models whose mean is off by the root of the bias."""
    middle, spread = np.sqrt(bias), np.sqrt(variance)
    return bias_variance(np.zeros(1), np.array([[middle - spread], [middle + spread]]), **options)


def curve(values, bias, variance, parameter="degree", **options):
    found = tuple(decomposed(b, v, **options) for b, v in zip(bias, variance, strict=True))
    return BiasVarianceCurve(parameter, tuple(values), found)


def votes(n_wrong, share):
    """Return a decomposition of 0-1 loss: a share of 20 models errs on `n_wrong` of 100 samples."""
    wrong = (np.arange(20)[:, np.newaxis] < 20 * share) & (np.arange(100) < n_wrong)
    return bias_variance(np.zeros(100, dtype=int), wrong.astype(int), loss="zero_one", labels=[0, 1])


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
    labels = [ax.xaxis.label, ax.yaxis.label, ax.xaxis.get_offset_text(), ax.yaxis.get_offset_text()]
    return [*shown, *ax.texts, *titles, *labels, *(ax.get_legend().get_texts() if ax.get_legend() else [])]


# Bias and variance ------------------------------------------------------------------------------------------------


def test_lines_are_the_parts():
    result = u_shaped()
    ax = plot_bias_variance(result, ax=axes())
    assert legend(ax)[:4] == ["bias²", "variance", "expected loss", "least: 1.2 at 2"]
    for label, values in zip(
        ("bias²", "variance", "expected loss"), (*result.parts().values(), result.expected_loss), strict=True
    ):
        assert drawn(ax, label) == [[1, 2, 3, 4], values.tolist()]
    assert drawn(ax, "least: 1.2 at 2") == [[2, 2], list(ax.get_ylim())]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("degree", "Expected squared loss")


def test_sides_are_named_by_what_grows():
    ax = plot_bias_variance(u_shaped(), ax=axes())
    assert (ax.get_title("left"), ax.get_title("right")) == ("← underfits", "overfits →")
    assert [to_hex(each.get_facecolor()) for each in ax.patches] == [BIAS.lower(), VARIANCE.lower()]
    assert [each.get_window_extent().intervalx.tolist() for each in ax.patches] == [
        pytest.approx(ax.transData.transform([(left, 0), (right, 0)])[:, 0])
        for left, right in ((ax.get_xlim()[0], 2), (2, ax.get_xlim()[1]))
    ]
    neighbours = curve([9, 5, 1], [4.0, 1.0, 0.5], [0.1, 0.2, 3.0], "n_neighbors")  # few: complex
    ax = plot_bias_variance(neighbours, ax=axes())
    assert (ax.get_title("left"), ax.get_title("right")) == ("← overfits", "underfits →")
    at_end = plot_bias_variance(curve([1, 2], [4.0, 1.0], [0.1, 0.2]), ax=axes())
    assert (at_end.get_title("left"), at_end.get_title("right")) == ("← underfits", "")
    same = plot_bias_variance(curve([1, 2, 3], [4.0, 1.0, 3.0], [0.1, 0.2, 0.3]), ax=axes())
    assert (same.get_title("left"), same.get_title("right"), len(same.patches)) == ("", "", 0)
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


@pytest.mark.parametrize("losses", [(0, 0.001, 0.003), (0, 100, 300), (1e-30, 100, 300), (0, 0, 1)])
def test_nothing_is_cut_where_the_least_is_zero(losses):
    ax = plot_bias_variance(curve([1, 2, 3], losses, [0, 0, 0]), ax=axes())
    assert ax.get_ylim() == pytest.approx((-0.02 * max(losses), 1.05 * max(losses)))
    assert not any("cut" in each for each in legend(ax))


def test_parts_that_are_cut_are_said():
    found = votes(6, 1), votes(29, 0.55)
    assert found[1].bias > 3 * found[0].expected_loss > found[1].expected_loss
    ax = plot_bias_variance(BiasVarianceCurve("depth", (1, 2), found), ax=axes())
    assert "(cut: up to 0.29)" in legend(ax)
    ax = plot_bias_variance(BiasVarianceCurve("kind", ("a", "b"), found), ax=axes())
    assert ax.get_ylim()[1] > 0.29
    assert not any("cut" in each for each in legend(ax))


def test_marks():
    def marks(values):
        ax = plot_bias_variance(curve(values, np.ones(len(values)), np.ones(len(values))), ax=axes())
        return {(line.get_marker(), line.get_linestyle()) for line in ax.lines[:3]}

    assert marks(range(40)) == {("o", "-")}
    assert marks(range(41)) == {("", "-")}
    assert marks([f"kind {k}" for k in range(41)]) == {("o", "None")}


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
    assert ax.get_title("left") == ""  # kinds are unordered
    rounded = curve([0.1 + 0.2, 1.0], [0.5, 1.0], [0.1, 0.3], "alpha")
    assert "least: 0.6 at 0.3" in legend(plot_bias_variance(rounded, ax=axes()))


def test_zero_one_parts_may_be_negative():
    found = votes(29, 0.55)
    ax = plot_bias_variance(BiasVarianceCurve("depth", (1, 2), (found, votes(29, 1))), ax=axes())
    assert ax.get_ylim()[0] < found.net_variance == pytest.approx(-0.1305)
    assert drawn(ax, "net variance") == [[1, 2], [found.net_variance, 0]]
    assert ax.get_ylabel() == "Expected 0-1 loss"


def test_bars_of_one():
    ax = plot_bias_variance(decomposed(1.0, 0.25), ax=axes())
    assert [bar.get_width() for bar in ax.patches] == [1.25, 1.0, 0.25]
    assert [each.get_text() for each in ax.texts] == ["1.25", "1", "0.25"]
    check_texts(ax, all_texts(ax))


def test_numbers_of_negative_bars_are_right_of_zero():
    y, predictions = np.array([0, 0, 1]), np.array([[1, 0, 1], [1, 1, 1], [0, 0, 1]])
    noisy = bias_variance(y, predictions, y_observed=[1, 0, 1], loss="zero_one", decomposition="james")
    for found, name in ((noisy, "systematic effect"), (votes(29, 0.55), "net variance")):
        ax = plot_bias_variance(found, ax=axes(style.WIDE, layout="constrained"))
        names = [each.get_text() for each in ax.get_yticklabels()]
        assert names == ["expected loss", *(each.replace("_", " ") for each in found.parts())]
        check_texts(ax, all_texts(ax))
        assert ax.patches[names.index(name)].get_width() < 0
        assert all(each.get_window_extent().x0 > ax.transData.transform((0, 0))[0] for each in ax.texts)


@pytest.mark.parametrize(
    "size", [(4.2, 4.2), *(pytest.param(size, marks=pytest.mark.slow) for size in (SIZE, style.WIDE))]
)
def test_no_text_covers_another_in_a_curve(size):
    long = curve(range(1, 30), np.linspace(4, 0.1, 29), np.linspace(0, 400, 29), LONG[0])
    for result in (u_shaped(), long):
        ax = plot_bias_variance(result, ax=axes(size, layout="constrained"))
        check_texts(ax, all_texts(ax))


SHORT = [f"kind {k}" for k in range(8)]
CRITERIA = ["squared_error", "friedman_mse", "absolute_error", "poisson"]
MANY = [f"a long name of one of the many kinds, {k:03}" for k in range(200)]


@pytest.mark.parametrize(
    "names",
    [
        SHORT,
        MANY,
        *(pytest.param(names, marks=pytest.mark.slow) for names in (SHORT[:4], CRITERIA, MANY[:9], MANY[:30])),
    ],
    ids=len,
)
def test_no_text_covers_another_over_names(names):
    ax = plot_bias_variance(curve(names, np.ones(len(names)), np.ones(len(names))), ax=axes(SIZE, layout="constrained"))
    check_texts(ax, all_texts(ax))
    assert ax.get_window_extent().height > 200
    every = dict(enumerate(names))
    for tick in ax.get_xticklabels():
        assert tick.get_text()[-3:] == every[tick.get_position()[0]][-3:]


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
    feet = [[each.tolist() for each in line.get_data()] for line in labelled(ax, "_foot")]
    assert feet == [[[values.min(), values.max()], [0, 0]], [[1, 3], [-1, -1]], [[5, 5], [-2, -2]]]
    for (_, (foot, _)), strokes in zip(feet[1:], ax.collections, strict=True):  # like a histogram, they start from it
        (low,), (high,) = (set(y) for y in np.array(strokes.get_segments())[:, :, 1].T)
        assert low == foot < high < foot + HEIGHT
    for label in ("_deviation", "_estimate"):  # between a row's foot and the histogram below
        places = [line.get_ydata()[0] for line in labelled(ax, label)]
        assert all(HEIGHT - 1 < y + row < 0 for row, y in enumerate(places))
    (interval,) = [line for line in ax.lines if list(line.get_xdata()) == [1.5, 2.5]]
    assert [labelled(ax, "_deviation")[1].get_linewidth(), interval.get_linewidth()] == [1.1, 4]
    assert list(interval.get_ydata()) == list(labelled(ax, "_deviation")[1].get_ydata())
    assert legend(ax) == ["mean ± standard deviation of the values", "confidence interval of the estimate"]
    assert ax.get_xlabel() == "Value of a split"


def test_histograms_hold_all_but_the_furthest():
    values = np.random.default_rng(0).normal(size=1000)
    ax = plot_estimates({"scheme": values}, ax=axes())
    heights, edges, foot = ax.patches[-1].get_data()
    assert edges[[0, -1]] == pytest.approx(np.quantile(values, [0.005, 0.995]))
    inside = values[(values >= edges[0]) & (values <= edges[-1])]
    counts, expected = np.histogram(inside, "auto", range=(edges[0], edges[-1]))
    assert edges == pytest.approx(expected)
    assert heights - foot == pytest.approx(HEIGHT * counts / counts.max())
    assert legend(ax) == ["mean ± standard deviation of the values"]


def test_bins_are_few_enough_to_be_seen():
    rng = np.random.default_rng(0)
    for spike in (1e-12, 0.0):
        ax = plot_estimates({"spike": np.append(rng.normal(scale=spike, size=800), rng.random(200))}, ax=axes())
        assert ax.patches[-1].get_data().edges.size <= MOST_BINS + 1


def test_repetitions_are_means_over_folds():
    values = np.random.default_rng(0).normal(size=(40, 5))
    ax = plot_estimates({"folds": values}, of="repetitions", ax=axes())
    means = values.mean(axis=1)
    assert f"sd {means.std(ddof=1):.3g}, n 40" in ax.get_yticklabels()[0].get_text()
    assert ax.get_xlabel() == "Mean of a repetition's folds"
    undefined = estimate([[1.0, 3.0], [4.0, np.nan], [np.nan, np.nan]], interval=(1.5, 2.5))
    ax = plot_estimates({"few": undefined}, of="repetitions", ax=axes())
    assert ax.get_yticklabels()[0].get_text() == "few\nmean 3, sd 1.41, n 2, 1 undefined"
    assert ax.collections[0].get_segments()[1][:, 0].tolist() == [4, 4]
    assert [1.5, 2.5] in [list(line.get_xdata()) for line in ax.lines]
    assert "confidence interval of the estimate" in legend(ax)


def test_many_values_are_counted_in_thousands():
    ax = plot_estimates({"many": np.random.default_rng(0).normal(size=10_000)}, ax=axes())
    assert ax.get_yticklabels()[0].get_text().endswith("n 10,000")


def test_a_corrected_estimate_stands_apart_from_the_mean():
    values = np.random.default_rng(0).normal(5, 1, (60, 1))
    ax = plot_estimates({"boot": estimate(values, 4.5, (4, 5), bootstrap=object())}, ax=axes())
    assert "estimate 4.5\nmean" in ax.get_yticklabels()[0].get_text()
    assert labelled(ax, "_estimate")[0].get_xdata()[0] == 4.5


@pytest.mark.cases(2)
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


@pytest.mark.parametrize("values", [np.full(50, 1e17), 1e17 + 16 * np.arange(50), np.full(3, -1e149)])
def test_values_that_rounding_makes_the_same(values):
    ax = plot_estimates({"same": values}, ax=axes())
    ax.figure.canvas.draw()
    assert ax.get_xlim()[0] < values.min() <= values.max() < ax.get_xlim()[1]


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
