"""Drawn lines' data, marks, labels and legends; thinning moves no line by a pixel."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

import fastevals
from fastevals import ConfusionMatrix, Ranking, RankingFolds, UndefinedMetricWarning, confidence_band
from fastevals.datasets import load_digits_eight
from fastevals.document import picture
from fastevals.document.picture import COLORS, GREY, Picture
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.decision import DecisionCurve
from fastevals.measure.curves.registry import CURVES
from fastevals.show import plots
from fastevals.show.plots import style, thinning
from fastevals.show.plots.confusion import draw_confusion
from tests.parameters import quick

CASE = json.loads((Path(__file__).parents[2] / "data" / "cases.json").read_text())["fawcett20"]

PLOTS = {name: getattr(plots, f"plot_{name}") for name in CURVES}
OF_COUNTS = {PLOTS[name]: entry.of_ranking for name, entry in CURVES.items()}  # makes the plot's curve from a ranking
OF_COUNTS[plots.plot_cost_over_prior] = lambda ranking: ranking.cost_curve().over_prior(cost_fn=5.0)
DIFFERENCE = {plots.plot_cost_difference: lambda ranking: ranking.cost_curve().difference(fawcett().cost_curve())}
ALL = OF_COUNTS | DIFFERENCE


def fawcett():
    return Ranking(CASE["y_true"], CASE["y_score"])


@pytest.fixture(scope="module")
def digits():
    columns = load_digits_eight()
    return {name: Ranking(columns["label"], columns[name]) for name in ("logistic", "naive_bayes", "random_forest")}


def axes(**options):
    figure = Figure(figsize=(8, 8), dpi=100, **options)
    FigureCanvasAgg(figure)
    return figure.subplots()


AX = axes()  # of calls that are refused


def curves(ax):
    return [line for line in ax.lines if line.get_gid() == style.CURVE]


def marks(ax):
    return [tuple(line.get_xydata()[0]) for line in ax.lines if line.get_label() == "_mark"]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def by_name(make, rankings):
    return {name: make(ranking) for name, ranking in rankings.items()}


# All pictures -----------------------------------------------------------------------------------------------------


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    "plot", quick(ALL, plots.plot_roc, plots.plot_det, plots.plot_calibration, plots.plot_cost_difference)
)
def test_one_curve_and_many(plot, digits):
    ax = axes(layout="constrained")
    assert plot(by_name(ALL[plot], digits), ax=ax) is ax
    assert len(curves(ax)) == 3
    assert len({(line.get_color(), line.get_linestyle()) for line in curves(ax)}) == 3
    assert len({line.get_color() for line in curves(ax)}) == 3
    said = legend(ax)
    assert [next(one for one in said if one.startswith(name)) for name in digits] == said[:3]
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    ax.figure.canvas.draw()  # warnings are errors
    alone = plot(ALL[plot](digits["logistic"]), ax=axes())
    (line,) = curves(alone)
    if plot is not plots.plot_det:  # its limits depend on all models
        assert_array_equal(line.get_xydata(), curves(ax)[0].get_xydata())
    assert not line.get_label().startswith("logistic")
    assert line.get_linestyle() == "-"


@pytest.mark.parametrize("plot", quick(ALL, plots.plot_roc, plots.plot_det, plots.plot_cost_difference))
def test_calls_on_the_same_axes_add_models(plot, digits):
    together = plot(by_name(ALL[plot], digits), ax=axes())
    apart = axes()
    for name, ranking in digits.items():
        plot({name: ALL[plot](ranking)}, ax=apart)
    assert [line.get_color() for line in curves(apart)] == [line.get_color() for line in curves(together)]
    assert sorted(legend(apart)) == sorted(legend(together))
    assert_allclose(apart.get_xlim(), together.get_xlim())
    assert_allclose(apart.get_ylim(), together.get_ylim(), rtol=1e-6, atol=0.02)


MATRIX = ConfusionMatrix([[3, 1], [0, 2]])


@pytest.mark.parametrize("plot", ALL)
@pytest.mark.parametrize("value", [None, 3, "roc", [1, 2], MATRIX, {"mine": MATRIX}, {}])
def test_another_kind_of_object_is_named(plot, value):
    name = "difference" if plot is plots.plot_cost_difference else "curve"
    with pytest.raises(ValueError, match=f"^{name}") as raised:
        plot(value, ax=AX)
    assert not AX.has_data()
    told = str(raised.value)
    if value == {}:
        assert told == f"{name} is an empty mapping: there is nothing to draw"
    elif isinstance(value, dict):
        assert told.startswith(f"{name}['mine'] must be a ")
        assert told.endswith(", got ConfusionMatrix")
    else:
        assert told.endswith(f"or a mapping of names to them, got {type(value).__name__}")


@pytest.mark.parametrize("plot", quick(OF_COUNTS, plots.plot_roc, plots.plot_cost_over_prior, plots.plot_decision))
def test_a_ranking_is_taken_where_its_curve_is(plot):
    make = by_name(OF_COUNTS[plot], {"one": fawcett(), "two": of_share(0.5)})
    if plot is plots.plot_cost_over_prior:
        make = {
            name: ranking.cost_curve().over_prior() for name, ranking in (("one", fawcett()), ("two", of_share(0.5)))
        }
    if plot is plots.plot_calibration:  # rankings are drawn in bins of equal mass, with intervals
        make = {"one": fastevals.calibration(fawcett()).bins, "two": fastevals.calibration(of_share(0.5)).bins}
    expected = plot(make, ax=axes())
    for given in ({"one": fawcett(), "two": of_share(0.5)}, {"one": make["one"], "two": of_share(0.5)}):
        ax = plot(given, ax=axes())
        assert legend(ax) == legend(expected)
        for line, other in zip(curves(ax), curves(expected), strict=True):
            assert_array_equal(line.get_xydata(), other.get_xydata())
    alone = plot(fawcett(), ax=axes())
    assert len(curves(alone)) == 1
    pooled = plot(RankingFolds([fawcett(), fawcett()]).pool(), ax=axes())
    assert len(curves(pooled)) == 1


@pytest.mark.parametrize("plot", quick(ALL, plots.plot_roc, plots.plot_cost_difference))
def test_title_label_and_color(plot):
    curve = ALL[plot](of_share(0.5))
    ax = plot(curve, ax=axes(), title="of $5\nmillion", label="mine", color="crimson")
    ax.figure.canvas.draw()
    assert ax.get_title() == r"'of \$5\nmillion'"
    assert legend(ax)[0].startswith("mine")
    assert to_rgb(curves(ax)[0].get_color()) == to_rgb("crimson")
    named = plot({"mine": curve, "other": curve}, ax=axes(), color={"other": (0, 0, 1)})
    assert [to_rgb(line.get_color()) for line in curves(named)] == [to_rgb(COLORS[0]), (0, 0, 1)]
    assert plot({"mine": curve}, ax=axes(), color="red").get_title() == ""
    for options, message in (
        ({"title": 3}, "title must be a string, got 3"),
        ({"label": 3}, "label must be the name of a single curve, and a mapping has names, got 3"),
        ({"color": "reddish"}, "color must be one that matplotlib knows"),
        ({"color": {"mine": "red"}}, "each name in color must be one of None; got 'mine'"),
    ):
        with pytest.raises(ValueError, match=message):
            plot(curve, ax=axes(), **options)
    with pytest.raises(ValueError, match="label must be the name of a single curve"):
        plot({"mine": curve}, ax=axes(), label="other")
    with pytest.raises(ValueError, match="color must be a mapping of names to colours if there are several models"):
        plot({"mine": curve, "other": curve}, ax=axes(), color="red")
    with pytest.raises(ValueError, match=r"each name in color must be one of 'mine'; got 'mien' \(did you mean 'mine'"):
        plot({"mine": curve}, ax=axes(), color={"mien": "red"})


LONG = ("gradient boosting, 400 trees, depth 6, v2", "a very long name of a model that somebody trained", "forest")


@pytest.mark.parametrize("layout", [None, pytest.param("constrained", marks=pytest.mark.slow)])
def test_a_legend_hides_no_curve_and_is_whole_in_a_grid_of_axes(layout, digits):
    figure = Figure(figsize=(28, 13), dpi=50, layout=layout)
    FigureCanvasAgg(figure)
    grid = figure.subplots(2, math.ceil(len(ALL) / 2)).ravel().tolist()[: len(ALL)]
    for plot, ax in zip(ALL, grid, strict=True):
        plot(dict(zip(LONG, by_name(ALL[plot], digits).values(), strict=True)), ax=ax)
    figure.canvas.draw()
    boxes = [ax.get_legend().get_window_extent() for ax in grid]
    assert min(ax.get_legend().get_texts()[0].get_fontsize() for ax in grid) > style.SMALLEST_FONT
    for k, (ax, box) in enumerate(zip(grid, boxes, strict=True)):
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
        for line in curves(ax) if box.y1 > ax.bbox.y0 else ():  # lines beyond the axes are invisible
            path = line.get_path().transformed(line.get_transform())
            assert not path.intersects_bbox(box.padded(-1), filled=False)
        for other in (*(other.bbox for other in grid if other is not ax), *boxes[:k]):
            assert box.x0 >= other.x1 or box.x1 <= other.x0 or box.y0 >= other.y1 or box.y1 <= other.y0


def test_a_layout_that_comes_later_finds_axes_with_a_legend_below():
    figure = Figure(figsize=(9, 9))
    FigureCanvasAgg(figure)
    for ax in figure.subplots(2, 2).flat:
        plots.plot_calibration(dict.fromkeys(LONG, fawcett()), ax=ax)
    figure.tight_layout()  # warns about axes that it cannot place
    figure.canvas.draw()
    top, bottom = figure.axes[0].get_legend().get_window_extent(), figure.axes[2].bbox
    assert top.y0 > bottom.y1


@pytest.mark.parametrize("plot", ALL)
def test_axes_of_another_kind_are_named(plot):
    with pytest.raises(ValueError, match="ax must be a matplotlib Axes, got Figure"):
        plot(ALL[plot](fawcett()), ax=Figure())


UNDEFINED = {
    PLOTS[name]: [int(without == "negatives") for without in entry.undefined_without] for name, entry in CURVES.items()
}


@pytest.mark.cases(3)
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize("plot", OF_COUNTS)
@pytest.mark.parametrize("label", quick([0, 1], 0))
def test_one_class_is_undefined_where_it_is_said_to_be(plot, label):
    one = OF_COUNTS[plot](Ranking([label, label, label], [0.1, 0.2, 0.2]))
    ax = plot({"one": one, "both": OF_COUNTS[plot](fawcett())}, ax=axes())
    ax.figure.canvas.draw()
    missing = label in UNDEFINED[plot]
    assert ("one: undefined" in legend(ax)) == missing
    assert (curves(ax)[0].get_xdata().size == 0) == missing
    assert curves(ax)[1].get_xdata().size > 0
    alone = plot(one, ax=axes())
    assert ("undefined" in legend(alone)) == missing


def test_decision_curve_that_is_nan_is_undefined():
    curve = DecisionCurve.from_counts(Ranking([1, 1], [0.1, 0.2]).counts, prior=0.5)
    ax = plots.plot_decision(curve, ax=axes())
    ax.figure.canvas.draw()
    assert legend(ax)[0] == "undefined"


def test_names_are_shown_as_they_are():
    curve = fawcett().gain_curve()
    names = ["_hidden", "$x$", "two\nlines", "n" * 60, 7]
    ax = plots.plot_gain(dict.fromkeys(names, curve), ax=axes())
    ax.figure.canvas.draw()
    shown = [label.split(": area")[0] for label in legend(ax)]
    assert shown[:5] == [" _hidden", r"\$x\$", "'two\\nlines'", "n" * 19 + "..." + "n" * 18, "7"]


@pytest.mark.slow
def test_pyplot_is_for_calls_without_axes_alone():
    code = (
        "import sys\nfrom matplotlib.figure import Figure\nfrom fastevals import Ranking\n"
        "from fastevals.show import plots\n"
        "curve = Ranking([0, 1], [0.1, 0.2]).roc_curve()\nplots.plot_roc(curve, ax=Figure().subplots())\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "import matplotlib\nmatplotlib.use('agg')\nax = plots.plot_roc(curve)\n"
        "assert sys.modules['matplotlib.pyplot'].gcf() is ax.figure"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plots.plot_roc(fawcett().roc_curve())


# Each picture -----------------------------------------------------------------------------------------------------


def test_roc(digits):
    ax = plots.plot_roc(fawcett().roc_curve(), ax=axes(), hull=True)
    curve = fawcett().roc_curve(drop_intermediate=False)
    assert_array_equal(curves(ax)[0].get_xydata(), np.stack([curve.fpr, curve.tpr], axis=1))
    (hull,) = (each for each in ax.collections if each.get_label() == "_hull")
    assert_allclose(hull.get_segments()[0], CASE["expected"]["roc_hull"])
    (told,) = (handle for handle in ax.get_legend().get_lines() if handle.get_label() == "convex hull")
    assert to_rgb(hull.get_color()[0]) == to_rgb(told.get_color())
    assert to_rgb(hull.get_color()[0]) not in {to_rgb(color) for color in COLORS}
    assert marks(ax) == [(0.4, 0.6)]
    assert legend(ax) == ["AUC 0.680, EER 0.400", "convex hull", "chance", "equal error rates (EER)"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_aspect()) == ("False positive rate", "True positive rate", 1.0)
    ax = plots.plot_roc(by_name(OF_COUNTS[plots.plot_roc], digits), ax=axes())
    rates = [ranking.equal_error_rate().value for ranking in digits.values()]
    assert marks(ax) == [(rate, 1 - rate) for rate in rates]
    plain = plots.plot_roc(fawcett().roc_curve(), ax=axes(), marks=False)
    assert (marks(plain), legend(plain)) == ([], ["AUC 0.680", "chance"])


def test_precision_recall_is_curved_between_points(digits):
    for ranking in (fawcett(), *digits.values(), Ranking([1, 0, 1] + 5000 * [0], [3, 2, 1] + 5000 * [1])):
        curve = ranking.precision_recall_curve()
        ax = plots.plot_precision_recall(curve, ax=axes())
        recall, precision = curves(ax)[0].get_data()
        inside = np.flatnonzero((np.diff(recall) > 0)[1:] & (np.diff(recall) > 0)[:-1]) + 1
        assert_allclose(precision[inside], curve.at(recall=recall[inside]), rtol=1e-9)
        straight = (np.diff(recall) == 0) | (np.diff(precision) == 0)
        assert np.abs(np.diff(precision))[~straight].max() < 0.001
        assert np.abs(np.diff(recall))[~straight].max() < 0.001
        assert set(np.stack([curve.recall[1:], curve.precision[1:]], axis=1).ravel()) <= {*recall, *precision}
        break_even = ranking.break_even_point().value
        assert marks(ax) == [(break_even, break_even)]
    ax = plots.plot_precision_recall(fawcett().precision_recall_curve(), ax=axes())
    assert legend(ax) == ["area 0.720, BEP 0.600", "chance", "precision = recall (BEP)"]
    (chance,) = (line for line in ax.lines if line.get_label() == "chance")
    assert_array_equal(chance.get_ydata(), [0.5, 0.5])


def test_no_break_even_point_is_no_mark():
    ax = plots.plot_precision_recall(Ranking([0, 1], [0.2, 0.1]).precision_recall_curve(), ax=axes())
    assert marks(ax) == []
    assert legend(ax)[0].startswith("area")
    assert "BEP" not in legend(ax)[0]


def test_bars_of_operating_ranges_have_little_room_below_zero(digits):
    ax = plots.plot_cost({name: ranking.cost_curve() for name, ranking in digits.items()}, ax=axes())
    assert ax.get_ylim() == pytest.approx((-0.015 * (len(digits) + 1.5), 0.6))


def test_det_axes_are_normal_deviates(digits):
    ax = plots.plot_det(by_name(OF_COUNTS[plots.plot_det], digits), ax=axes())
    assert ax.get_xlim() == ax.get_ylim()
    rates = [ranking.equal_error_rate().value for ranking in digits.values()]
    assert marks(ax) == [(rate, rate) for rate in rates]
    places = ax.transData.transform([(rate, rate) for rate in (0.0227501319, 0.1586552539, 0.5)])  # -2, -1 and 0 sigma
    assert_allclose(np.diff(places[:, 0])[0], np.diff(places[:, 0])[1], rtol=1e-6)
    x, y = curves(ax)[2].get_data()
    inside = (x > 1e-6) & (x < 1 - 1e-6) & (np.gradient(x) > 0)
    assert_allclose(y[inside], digits["random_forest"].det_curve().at(fpr=x[inside]), rtol=1e-6, atol=1e-12)
    assert legend(ax)[0] == f"logistic: EER {100 * rates[0]:.2f} %"
    ax.figure.canvas.draw()
    assert {"1", "5", "10", "40"} <= {tick.get_text() for tick in ax.get_xticklabels()}
    rng = np.random.default_rng(0)
    ax = plots.plot_det(Ranking(rng.integers(0, 2, 3000), rng.random(3000)).det_curve(), ax=axes())  # up to 99.9 %
    ax.figure.canvas.draw()
    said = [float(tick.get_text()) for tick in ax.get_xticklabels() if tick.get_text()]
    assert {1, 2, 5, 10, 20, 40, 60, 80, 90, 95, 98, 99} <= {*said}
    assert len({*said}) == len(said)


def test_det_shows_the_curve_of_a_large_ranking():
    rng = np.random.default_rng(4)
    y = rng.random(200_000) < 0.3
    ax = plots.plot_det(Ranking(y, rng.normal(size=y.size) + 1.5 * y).det_curve(), ax=axes())
    low, high = ax.get_xlim()
    x, y = curves(ax)[0].get_data()
    shown = (x > low) & (x < high) & (y > low) & (y < high)
    assert x[shown].min() < 3 * low  # the points do not crowd into a corner


def test_gain_and_lift(digits):
    for ranking in digits.values():
        curve = ranking.gain_curve()
        ax = plots.plot_gain(curve, ax=axes())
        assert_array_equal(curves(ax)[0].get_xydata(), np.stack([curve.share, curve.gain], axis=1))
        (perfect,) = (line for line in ax.lines if line.get_label() == "perfect")
        assert_allclose(perfect.get_xdata(), [0, 174 / 1797, 1])
        curve = ranking.lift_curve()
        ax = plots.plot_lift(curve, ax=axes())
        share, lift = curves(ax)[0].get_data()
        assert_allclose(lift, curve.at(share=share), rtol=1e-9)
        assert ax.get_ylim()[1] > lift.max()
        assert legend(ax) == [f"mean lift {curve.area:.3f}", "chance"]


def test_cost():
    curve = fawcett().cost_curve()
    ax = plots.plot_cost(curve, ax=axes(), lines=7)
    envelope = curve.lower_envelope
    assert_array_equal(curves(ax)[0].get_xydata(), np.stack([envelope.probability_cost, envelope.cost], axis=1))
    wanted = CASE["expected"]["cost_curve_equal_costs"]
    assert_allclose(np.interp(wanted["probability_cost"], *curves(ax)[0].get_data()), wanted["lower_envelope"])
    drawn = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert drawn["always positive"] == [[0, 1], [1, 0]]
    assert drawn["always negative"] == [[0, 0], [1, 1]]
    (bar,) = (line for line in ax.lines if line.get_gid() == style.BAR)
    assert tuple(bar.get_xdata()) == curve.operating_range()
    (lines,) = ax.collections
    ends = {tuple(segment[:, 1]) for segment in lines.get_segments()}
    assert 3 <= len(ends) <= 7
    assert ends <= set(map(tuple, curve.lines))
    assert legend(ax) == ["area 0.190", "always positive", "always negative", "operating range"]
    assert ax.get_xlabel() == "PC(+), probability cost"
    with pytest.raises(ValueError, match="lines must be an integer from 0 to 1000, got -1"):
        plots.plot_cost(curve, ax=axes(), lines=-1)


def test_cost_of_a_useless_model_has_no_operating_range():
    ax = plots.plot_cost(Ranking([0, 1], [0.5, 0.5]).cost_curve(), ax=axes())
    ax.figure.canvas.draw()
    assert legend(ax)[0] == "area 0.250"


def test_cost_over_prior():
    curve = fawcett().cost_curve()
    wanted = CASE["expected"]["cost_over_prior"]
    for normalize, areas in ((True, "normalised_area"), (False, "unnormalised_area")):
        over = {f"x{cost}": curve.over_prior(cost_fn=cost, normalize=normalize) for cost in wanted["cost_fn"]}
        ax = plots.plot_cost_over_prior(over, ax=axes())
        for line, area, each in zip(curves(ax), wanted[areas], over.values(), strict=True):
            prior, cost = line.get_data()
            assert_allclose(cost, each.at(prior).value, atol=1e-12)
            assert np.trapezoid(cost, prior) == pytest.approx(area, abs=1e-4)
        assert legend(ax) == [f"{name}: area {each.area:.3f}" for name, each in over.items()]
        ax = plots.plot_cost_over_prior(over["x5"], ax=axes())
        assert legend(ax)[1:] == ["always positive", "always negative"]
    with pytest.raises(ValueError, match="curve must all have the same normalize, got True, False"):
        plots.plot_cost_over_prior({"a": curve.over_prior(), "b": curve.over_prior(normalize=False)}, ax=axes())
    free = plots.plot_cost_over_prior(curve.over_prior(cost_fn=0.0), ax=axes())
    free.figure.canvas.draw()


def test_cost_difference(digits):
    difference = digits["random_forest"].cost_curve().difference(digits["logistic"].cost_curve())
    ax = plots.plot_cost_difference(difference, ax=axes())
    wanted = np.stack([difference.probability_cost, difference.saving], axis=1)
    assert_array_equal(curves(ax)[0].get_xydata(), wanted)
    assert legend(ax) == [f"mean saving {difference.mean_saving:.3f}", "no saving"]


def test_calibration_bins_have_their_intervals():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    bins = fastevals.calibration(rng.random(300) < p, p, n_bins=4).bins
    ax = plots.plot_calibration(bins, ax=axes())
    (lines,) = [each for each in ax.collections if each.get_label() == "_intervals"]
    expected = np.stack([bins.mean_predicted, bins.low, bins.mean_predicted, bins.high], axis=1).reshape(4, 2, 2)
    np.testing.assert_allclose(lines.get_segments(), expected)
    assert "95 % interval of the observed rate" in legend(ax)


def test_calibration(digits):
    curve = CalibrationCurve.from_counts(digits["random_forest"].counts, n_bins=40)
    assert not curve.counts.all()
    ax = plots.plot_calibration(curve, ax=axes(layout="constrained"))
    filled = curve.counts > 0
    wanted = np.stack([curve.mean_predicted, curve.fraction_of_positives], axis=1)[filled]
    assert_array_equal(curves(ax)[0].get_xydata(), wanted)
    assert legend(ax) == [f"ECE {curve.expected_calibration_error:.3f}", "perfect"]
    (strip,) = ax.child_axes
    (steps,) = strip.patches
    assert_array_equal(np.nan_to_num(steps.get_data().values), curve.counts)
    assert_array_equal(steps.get_data().edges, curve.edges)
    assert (strip.get_yscale(), strip.get_ylabel()) == ("log", "Rows")
    ax.figure.canvas.draw()
    bottom = ax.transData.transform((0, 0))[1]
    assert strip.get_window_extent().y1 < bottom  # covers no point


def test_decision(digits):
    points = [0.5, 0.1, 0.3]
    curve = DecisionCurve.from_counts(digits["logistic"].counts, points)
    ax = plots.plot_decision({"logistic": curve}, ax=axes())
    order = np.argsort(points)
    assert_array_equal(
        curves(ax)[0].get_xydata(), np.stack([curve.threshold_probability, curve.net_benefit], axis=1)[order]
    )
    drawn = {line.get_label(): line.get_xydata() for line in ax.lines}
    assert_array_equal(drawn["treat all"][:, 1], curve.treat_all[order])
    assert_array_equal(drawn["treat none"][:, 1], 0)
    assert legend(ax) == ["logistic", "treat all", "treat none"]


# Thinning ---------------------------------------------------------------------------------------------------------


def ranking_of(kind):
    rng = np.random.default_rng(7)
    n = 250_000
    y = rng.random(n) < 0.1
    if kind == "steep":  # nearly all changes occur where few rows are predicted positive
        return Ranking(y, rng.normal(size=n) + 6.0 * y * (rng.random(n) < 0.8))
    if kind == "rare":  # few positives: a jagged P-R curve
        y = rng.random(n) < 0.0005
    if kind == "weighted":
        return Ranking(y, rng.normal(size=n) + y, sample_weight=rng.exponential(size=n))
    return Ranking(y, rng.normal(size=n) + 1.5 * y)


def ink(plot, curve, monkeypatch):
    """Draw the curve alone, 800 pixels wide; return each pixel's darkness."""
    monkeypatch.setattr(style, "finish", lambda *_, **__: None)
    for name in ("add_reference", "add_shared_reference"):
        monkeypatch.setattr(Picture, name, lambda *_, **__: None)
    ax = axes()
    plot(curve, ax=ax, **({"marks": False} if "marks" in plot.__kwdefaults__ else {}))
    ax.set_axis_off()
    curves(ax)[0].set(color="black", linewidth=1)
    ax.figure.canvas.draw()
    return 255 - np.asarray(ax.figure.canvas.buffer_rgba())[:, :, 0].astype(int), curves(ax)[0].get_xdata().size


def near(dark):
    """Return the pixels that are dark or touch a dark one."""
    padded = np.pad(dark, 1)
    rows, columns = dark.shape
    return np.any([padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)], axis=0)


THINNED = [plots.plot_roc, plots.plot_precision_recall, plots.plot_det, plots.plot_gain, plots.plot_lift]


@pytest.mark.parametrize(
    "kind", ["steep", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("usual", "rare", "weighted"))]
)
def test_thinning_moves_no_line_by_a_pixel(kind, monkeypatch):
    ranking = ranking_of(kind)
    for plot in THINNED:
        curve = type(OF_COUNTS[plot](ranking))(ranking.counts)
        few, n_few = ink(plot, curve, monkeypatch)
        with monkeypatch.context() as patched:
            patched.setattr(thinning, "rows_to_draw", lambda counts, *_: np.arange(counts.thresholds.size))
            every, n_every = ink(plot, curve, patched)
        assert n_few < 20_000 < n_every
        assert (every > 128).sum() > 300
        for one, other in ((few, every), (every, few)):  # ink in one picture is, or touches, ink in the other
            assert not ((one > 128) & ~near(other > 64)).any(), plot.__name__
        assert np.mean(np.abs(few - every) > 64) < 0.001, plot.__name__


def test_larger_axes_keep_more_points():
    ranking = ranking_of("usual")
    sizes = [
        curves(plots.plot_roc(ranking.roc_curve(), ax=Figure(figsize=(side, side), dpi=100).subplots()))[0]
        for side in (8, 40)
    ]
    small, large = (line.get_xdata().size for line in sizes)
    assert small <= 2 * picture.COLUMNS
    assert large > 2 * small


def test_thinned_keeps_the_ends_and_the_shape():
    x = np.sort(np.random.default_rng(1).random(100_000))
    fewer, y = thinning.thinned(x, np.sqrt(x), 4096)
    assert fewer.size <= 2 * 4096 + 1
    assert (fewer[0], fewer[-1]) == (x[0], x[-1])
    assert_allclose(np.interp(np.sqrt(x), y, fewer), x, atol=1 / 4096)  # no point moves by a column's width


def test_the_legend_of_many_models_is_below_the_axes():
    assert [style.figure_size((6.0, 4.0), n) for n in (1, 3, 4)] == [(6.0, 4.0), (6.0, 4.0), (6.0, 4.0 + 7 * 0.22)]
    curve = fawcett().roc_curve()
    for n_models, inside in ((3, True), (4, False)):
        figure = Figure(figsize=style.figure_size(style.SQUARE, n_models), layout="constrained")
        FigureCanvasAgg(figure)
        ax = plots.plot_roc({f"model {k}": curve for k in range(n_models)}, ax=figure.subplots())
        figure.canvas.draw()
        box, frame = ax.get_legend().get_window_extent(), ax.get_window_extent()
        assert (box.y0 > frame.y0) == inside
        assert (box.y1 < frame.y0) == (not inside)
        assert box.y0 >= 0


# Bands ------------------------------------------------------------------------------------------------------------


BANDED = {"roc": plots.plot_roc, "precision_recall": plots.plot_precision_recall}
STUDENTISED, BOOTSTRAP = "95 % simultaneous band (studentised)", "95 % pointwise band (bootstrap)"


def shades(ax):
    return [each for each in ax.collections if each.get_label() == "_band"]


def outline(shade):
    (path,) = shade.get_paths()
    return set(map(tuple, path.vertices.tolist()))


@pytest.mark.cases(1)
@pytest.mark.parametrize("curve", BANDED)
def test_a_band_is_shaded_behind_its_curve(curve, digits):
    plot, ranking = BANDED[curve], fawcett()
    band = confidence_band(ranking, curve)
    ax = plot(OF_COUNTS[plot](ranking), ax=axes(), band=band)
    ax.figure.canvas.draw()
    (shade,) = shades(ax)
    assert outline(shade) == {*zip(band.x, band.low, strict=True), *zip(band.x, band.high, strict=True)}
    assert shade.get_zorder() < curves(ax)[0].get_zorder()
    assert legend(ax).count(STUDENTISED) == 1
    assert legend(ax)[0].startswith(("AUC", "area"))
    assert ax.get_xlim() == (-0.02, 1.02)
    bands = {name: confidence_band(each, curve, kind="pointwise", rng=1) for name, each in digits.items()}
    ax = plot(by_name(OF_COUNTS[plot], digits), ax=axes(), band=bands)
    assert len(shades(ax)) == 3
    for shade, line, each in zip(shades(ax), curves(ax), bands.values(), strict=True):
        assert_allclose(shade.get_facecolor()[0, :3], to_rgb(line.get_color()))
        assert outline(shade) == {*zip(each.x, each.low, strict=True), *zip(each.x, each.high, strict=True)}
    assert legend(ax).count(BOOTSTRAP) == 1
    plot({"fawcett": OF_COUNTS[plot](ranking)}, ax=ax, band={"fawcett": band})
    assert (len(shades(ax)), legend(ax).count(BOOTSTRAP), legend(ax).count(STUDENTISED)) == (4, 1, 1)
    some = plot(by_name(OF_COUNTS[plot], digits), ax=axes(), band={"naive_bayes": bands["naive_bayes"]})
    assert_allclose(shades(some)[0].get_facecolor()[0, :3], to_rgb(curves(some)[1].get_color()))
    assert not shades(plot(OF_COUNTS[plot](ranking), ax=axes()))


@pytest.mark.parametrize("curve", BANDED)
def test_a_band_that_does_not_belong_to_the_curve_is_named(curve):
    plot, (other,) = BANDED[curve], set(BANDED) - {curve}
    mine, band = OF_COUNTS[plot](fawcett()), confidence_band(fawcett(), curve)
    wrong = confidence_band(fawcett(), other)
    for curves_, bands, message in [
        (mine, wrong, f"band.curve must be one of '{curve}'; got '{other}'"),
        ({"a": mine}, {"a": wrong}, f"band['a'].curve must be one of '{curve}'; got '{other}'"),
        ({"a": mine, "b": mine}, {"c": band}, "each name in band must be one of 'a', 'b'; got 'c'"),
        ({"a": mine}, band, "band must be a mapping of the models' names to bands if curve is a mapping"),
        (mine, {"a": band}, "band must be a single ConfidenceBand if curve is a single curve"),
        (mine, mine, "band must be a ConfidenceBand or a mapping of names to them, got"),
        ({"a": mine}, {"a": 3}, "band['a'] must be a ConfidenceBand, got int"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            plot(curves_, ax=axes(), band=bands)


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize("curve", BANDED)
def test_a_band_of_one_class_is_not_there(curve):
    plot = BANDED[curve]
    for label in (0, 1):
        ranking = Ranking([label] * 2, [0.1, 0.2])
        ax = plot(OF_COUNTS[plot](ranking), ax=axes(), band=confidence_band(ranking, curve))
        ax.figure.canvas.draw()


@pytest.mark.parametrize("curve", BANDED)
def test_a_band_of_many_rows_is_thinned(curve):
    ranking = ranking_of("usual")
    band = confidence_band(ranking, curve, method="kolmogorov")
    ax = BANDED[curve](OF_COUNTS[BANDED[curve]](ranking), ax=axes(), band=band)
    (path,) = shades(ax)[0].get_paths()
    assert path.vertices.shape[0] < 20_000 < band.x.size
    x = np.linspace(0.01, 0.99, 500)
    drawn = path.vertices[path.vertices[:, 1] >= np.interp(path.vertices[:, 0], band.x, (band.low + band.high) / 2)]
    drawn = drawn[np.argsort(drawn[:, 0], kind="stable")]
    assert_allclose(np.interp(x, *drawn.T), np.interp(x, band.x, band.high), atol=2e-3)


# More models on the same axes -----------------------------------------------------------------------------------


def of_share(share: float) -> Ranking:
    rng = np.random.default_rng(int(100 * share))
    y = np.arange(100) < 100 * share
    return Ranking(y, np.round((0.3 * y + rng.random(100)) / 2, 2))


SHARED = {
    "chance": (plots.plot_precision_recall, lambda share: of_share(share).precision_recall_curve()),
    "perfect": (plots.plot_gain, lambda share: of_share(share).gain_curve()),
    "treat all": (plots.plot_decision, lambda share: of_share(share).decision_curve([0.1, 0.2, 0.3])),
    "always positive": (plots.plot_cost_over_prior, lambda cost: of_share(0.5).cost_curve().over_prior(cost_fn=cost)),
}


@pytest.mark.cases(2)
@pytest.mark.parametrize("label", SHARED)
def test_a_reference_is_drawn_where_all_models_share_it_in_one_call_or_many(label):
    plot, make = SHARED[label]
    one, same, other = make(0.1), make(0.1), make(0.6)
    for calls, shown in (
        ([{"a": one}], True),
        ([{"a": one}, {"b": same}], True),
        ([{"a": one, "b": same}], True),
        ([{"a": one}, {"b": other}], False),
        ([{"a": one}, {"b": other}, {"c": one}], False),
        ([{"a": one, "b": other}], False),
        ([{"a": one, "b": other}, {"c": one}], False),
    ):
        ax = Figure().subplots()
        for models in calls:
            plot(models, ax=ax)
        assert (label in legend(ax)) == shown, calls
        if shown:
            (line,) = (each for each in ax.lines if each.get_label() == label)
            assert len(line.get_xdata()) > 0


@pytest.mark.parametrize("label", SHARED)
def test_references_of_a_picture_are_told_apart(label):
    plot, make = SHARED[label]
    ax = plot(make(0.1), ax=Figure().subplots())
    grey = [line for line in ax.get_legend().get_lines() if line.get_color() == GREY]
    assert label in [line.get_label() for line in grey]
    looks = {line._unscaled_dash_pattern for line in grey}
    assert len(looks) == len(grey)


def test_a_model_without_a_curve_leaves_the_others_their_reference():
    with pytest.warns(UndefinedMetricWarning):
        nothing = Ranking([0, 0], [0.1, 0.2]).precision_recall_curve()
    ax = plots.plot_precision_recall(
        {"a": of_share(0.1).precision_recall_curve(), "none": nothing}, ax=Figure().subplots()
    )
    assert "chance" in legend(ax)
    assert "none: undefined" in legend(ax)


def test_normalized_costs_are_not_drawn_over_others():
    curve = of_share(0.5).cost_curve()
    ax = plots.plot_cost_over_prior(curve.over_prior(), ax=Figure().subplots())
    with pytest.raises(ValueError, match="curve must all have the same normalize"):
        plots.plot_cost_over_prior(curve.over_prior(normalize=False), ax=ax)


def test_labels_of_no_name_and_of_huge_numbers():
    curve = of_share(0.5).cost_curve().over_prior(cost_fp=1e300, cost_fn=1e300, normalize=False)
    (label, *_) = legend(plots.plot_cost_over_prior({"": curve}, ax=Figure().subplots()))
    assert label == f"area {curve.area:.3g}"


# Histograms, matrices and intervals -----------------------------------------------------------------------------------


@pytest.mark.cases(1)
@pytest.mark.parametrize("weighted", [False, True])
def test_histograms_hold_all_rows_of_each_class(weighted):
    rng = np.random.default_rng(3)
    y, weights = rng.random(3000) < 0.2, rng.integers(0, 3, 3000) if weighted else np.ones(3000)
    for scores in (rng.random(3000), rng.random(3000).round(1), rng.standard_cauchy(3000), np.zeros(3000), 1e149 * y):
        ranking = Ranking(y, scores, sample_weight=weights if weighted else None)
        ax = plots.plot_score_histogram(ranking, n_bins=20, threshold=0.5, ax=axes())
        for patch, positive in zip(ax.patches, (False, True), strict=True):
            heights, edges = patch.get_data().values, patch.get_data().edges
            assert heights.sum() == pytest.approx(1)
            inner = slice(1, -1)
            expected = np.histogram(scores[y == positive], edges, weights=weights[y == positive])[0]
            assert_allclose(heights[inner], expected[inner] / weights[y == positive].sum(), atol=1e-12)
        assert ("threshold 0.5" in legend(ax)) == (ax.patches[0].get_data().edges[-1] >= 0.5)
    beyond = plots.plot_score_histogram(Ranking(y, rng.standard_cauchy(3000)), ax=axes())
    assert beyond.get_xlabel() == "Score; the outer bins also hold all scores beyond"
    one = plots.plot_score_histogram(Ranking([1, 1], [0.1, 0.3]), ax=axes())
    one.figure.canvas.draw()
    assert legend(one) == ["negatives: none", "positives"]
    for value, options, message in (
        ([1, 2], {}, "ranking must be ThresholdCounts, got list"),
        (ranking, {"n_bins": 0}, "n_bins must be an integer from 1 to 1000, got 0"),
        (ranking, {"threshold": "x"}, "threshold must be a"),
        (Ranking([0, 1], [0, 1e200]), {}, r"ranking must be below 1e\+150 in size to be drawn"),
    ):
        with pytest.raises(ValueError, match=message):
            plots.plot_score_histogram(value, ax=axes(), **options)


def test_a_confusion_matrix_has_counts_and_shares_of_the_true_class():
    matrix = ConfusionMatrix([[1500, 500], [0, 0]], labels=["no", "<$yes$>"])
    ax = plots.plot_confusion_matrix(matrix, ax=axes(), title="mine")
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.texts] == ["1,500\n75.0 %", "500\n25.0 %", "0\n0.0 %", "0\n0.0 %"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["no", r"<\$yes\$>"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("Predicted class", "True class", "mine")
    shades = np.asarray(ax.images[0].get_array())
    assert shades[0, 0].sum() < shades[0, 1].sum() < shades[1, 1].sum() == 3
    assert_allclose(shades[0, 0], 1 - 0.9 * 0.75 * (1 - np.array(to_rgb(COLORS[0]))))
    many = plots.plot_confusion_matrix(ConfusionMatrix(np.eye(30, dtype=int)), ax=axes())
    assert not "".join(text.get_text() for text in many.texts)
    for value, message in (
        (
            ConfusionMatrix(np.ones((2, 3, 3), int)),
            r"matrix must be a single matrix, not a stack, got counts of shape \(2, 3",
        ),
        (ConfusionMatrix(np.eye(151, dtype=int)), "matrix must have at most 150 classes to be drawn, got 151"),
        (np.eye(2), "matrix must be ConfusionMatrix, got ndarray"),
    ):
        with pytest.raises(ValueError, match=message):
            plots.plot_confusion_matrix(value, ax=axes())


@pytest.mark.slow
def test_a_large_confusion_matrix_has_blocks_a_scale_and_a_list_of_errors():
    k, swapped = 100, np.arange(100).reshape(2, 50).T.ravel()  # 0 and 50 are confused, 1 and 51, ...
    counts = np.diag(np.full(k, 90))
    counts[swapped[::2], swapped[1::2]] = 10
    counts[7, 57] = 30
    matrix = ConfusionMatrix(counts, labels=[f"class {each}" for each in range(k)])
    ax = plots.plot_confusion_matrix(matrix, ax=axes())
    ax.figure.canvas.draw()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == 50
    shades = 1 - np.asarray(ax.images[0].get_array())[..., 0]
    away = np.abs(np.subtract(*np.nonzero(shades)))
    assert away.max() == 1  # similar classes are neighbours
    legend = ax.get_legend()
    assert legend.get_texts()[0].get_text() == "class 7 as class 57: 30, 25.0 % of class 7"
    assert legend.get_title().get_text() == "Most frequent errors, true class as predicted class (19 % of all errors)"
    assert ax.child_axes[0].get_ylabel() == "Share of the true class"
    in_order = plots.plot_confusion_matrix(matrix, ax=axes(), order="labels")
    assert [label.get_text() for label in in_order.get_yticklabels()][:2] == ["class 0", "class 2"]
    other = Picture()
    draw_confusion(other, np.eye(k), [f"class {each}" for each in range(k)], similar=counts)
    assert other.y.tick_labels == names
    perfect = plots.plot_confusion_matrix(ConfusionMatrix(np.eye(30, dtype=int)), ax=axes())
    assert perfect.get_legend() is None
    with pytest.raises(ValueError, match="order must be one of 'labels', 'confusion'; got 'size'"):
        plots.plot_confusion_matrix(matrix, ax=axes(), order="size")


def test_a_forest_has_a_row_an_estimate():
    rows = {"a - b": (0.2, 0.1, 0.3), "$c$": (0.0, -0.1, 0.1), "none": (np.nan,) * 3, "alone": (0.1, np.nan, np.nan)}
    ax = plots.plot_forest(rows, reference=0, label="Difference", ax=axes())
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a - b", r"\$c\$", "none", "alone"]
    assert ax.yaxis_inverted()
    assert marks(ax) == [(0.2, 0.0), (0.0, 1.0), (0.1, 3.0)]
    colors = [to_rgb(line.get_markerfacecolor()) for line in ax.lines if line.get_label() == "_mark"]
    assert colors == [to_rgb(COLORS[k]) for k in (1, 0, 0)]  # intervals without zero have another colour
    estimate = fastevals.bootstrap(fawcett(), "roc_auc", n_resamples=199, rng=0)["roc_auc"]
    assert marks(plots.plot_forest({"mine": estimate}, ax=axes())) == [(estimate.value, 0.0)]
    folds = fastevals.evaluate_splits([0, 1] * 10, [0] * 8 + [1] * 12, fastevals.KFold(4, rng=0), "accuracy")
    for given in (folds, {"accuracy": folds}, {"accuracy": folds["accuracy"]}):
        ax = plots.plot_forest(given, ax=axes())
        assert marks(ax) == [(folds["accuracy"].value, 0.0)]
        assert [text.get_text() for text in ax.get_yticklabels()] == ["accuracy"]
    for value, message in (
        ({}, "estimates must be a mapping of names to estimates, with one at least"),
        ({"a": 3}, r"estimates\['a'\] must be an Estimate of one number or \(value, low, high\), got 3"),
        ({"a": (1, 2)}, r"estimates\['a'\] must be an Estimate"),
        ({"a": ("x", 1, 2)}, r"estimates\['a'\] must hold numbers"),
        ({"a": (1e200, 1, 2)}, r"estimates\['a'\] must be below 1e\+150"),
    ):
        with pytest.raises(ValueError, match=message):
            plots.plot_forest(value, ax=axes())


def test_axes_that_were_cleared_begin_anew():
    ax = plots.plot_cost(fawcett(), ax=axes())
    ax.clear()
    plots.plot_cost(fawcett(), ax=ax)
    assert len(curves(ax)) == 1
    assert curves(ax)[0].get_color() == COLORS[0]
