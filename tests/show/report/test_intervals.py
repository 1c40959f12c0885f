"""The intervals of a report: equal to the calls' intervals, how they are shown, and the notes on them."""

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import UndefinedMetricWarning, bootstrap, compare_rankings, delong, metric
from fastevals import _text as text_format
from fastevals.datasets import load_digits_eight
from fastevals.show.report import intervals
from fastevals.show.report.intervals import RESAMPLES, IntervalPlan, as_plan, most_rows_drawn
from tests.show.report.test_report import error, report, report_json, write

RANKING = ["roc_auc", "average_precision", "pr_auc", "equal_error_rate", "break_even_point", "ks_statistic"]
PROBABILITIES = ["brier_score", "log_loss", "expected_calibration_error"]
CELLS = ["accuracy", "precision", "recall", "f1", "matthews"]
MODELS = ("logistic", "naive_bayes", "random_forest")
TWO = ("--score", "logistic", "--score", "random_forest")
FEW = ("--resamples", "99")


def asked(*, costs=None, **where):
    """Return the metrics of a report's columns."""
    metrics = {name: metric(name) for name in (*RANKING, *PROBABILITIES)}
    return metrics | {name: metric(name, **where, **(costs or {})) for name in CELLS}


def quietly(call, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        return call(*arguments, **options)


def number(value):
    """Return a number as in JSON."""
    if np.isnan(value):
        return None
    return value if np.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def ends(interval):
    return None if np.isnan(interval.low) else [number(interval.low), number(interval.high)]


def assert_compared(block, found):
    """Assert that a block has the numbers of a comparison."""
    for model in block["models"]:
        wanted = {name: ends(found[name].estimates[model["name"]].confidence_interval) for name in found}
        assert model["intervals"] == wanted
        assert list(model["intervals"]) == list(wanted)
    first = next(iter(found))
    assert len(block["differences"]) == len(found[first].differences)
    for k, pair in enumerate(block["differences"]):
        assert (pair["model"], pair["reference"]) == (
            found[first].differences[k].model, found[first].differences[k].reference
        )  # fmt: skip
        for name, output in pair["metrics"].items():
            wanted = found[name].differences[k]
            assert output["value"] == number(wanted.value)
            assert output["interval"] == ends(wanted.confidence_interval)
            assert output["pvalue"] == number(wanted.pvalue)


def table(text, heading):
    """Return the lines of a table."""
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(heading))
    stop = next((k for k in range(start, len(lines)) if not lines[k] or lines[k][:4] in ("- : ", "! : ")), len(lines))
    return lines[start:stop]


# Numbers ----------------------------------------------------------------------------------------------------------


def test_intervals_and_differences_are_those_of_compare_rankings(capsys):
    columns = load_digits_eight()
    output = report_json(capsys, "--resamples", "199", "--confidence", "0.9", "--seed", "3")
    result = quietly(
        compare_rankings, columns["label"], {name: columns[name] for name in MODELS}, metrics=asked(best="f1"),
        n_resamples=199, confidence_level=0.9, rng=3,
    )  # fmt: skip
    (block,) = output["blocks"]
    assert_compared(block, result)
    assert block["intervals"]["method"] == "BCa"
    assert output["intervals"] == {
        "method": "BCa", "confidence": 0.9, "resamples": 199, "seed": 3, "group": None, "cells_above": None,
        "budget": None, "blocks_drawn": 1, "not_drawn": "",
        "in_place_of_bca": {
            name: each.estimates["logistic"].method
            for name, each in result.items()
            if each.estimates["logistic"].method != "BCa"
        },
    }  # fmt: skip
    assert result["f1"].estimates["logistic"].method == "debiased percentile"
    assert result["recall"].estimates["logistic"].method == "wider of BCa and debiased percentile"


def test_intervals_of_one_model_are_those_of_bootstrap(capsys):
    columns = load_digits_eight()
    options = ("--cost-fn", "20", "--prior", "0.02")
    costs = {"cost_fp": 1, "cost_fn": 20, "prior": 0.02}
    for point, where in (((), {"best": "expected_cost"}), (("--threshold", "0.25"), {"threshold": 0.25})):
        (block,) = report_json(capsys, "--score", "logistic", *FEW, *options, *point)["blocks"]
        metrics = asked(**where, costs=costs if "best" in where else None)
        metrics["expected_cost"] = metric("expected_cost", **where, **costs)
        result = quietly(bootstrap, (columns["label"], columns["logistic"]), metrics, n_resamples=99, rng=0)
        (model,) = block["models"]
        assert model["intervals"] == {name: ends(result[name].confidence_interval) for name in result}
        assert block["differences"] == []
        low, high = model["intervals"]["expected_cost"]
        assert low < model["metrics"]["expected_cost"] < high


@pytest.mark.slow
def test_another_best_metric_has_a_column_and_an_interval(capsys):
    columns = load_digits_eight()
    (block,) = report_json(capsys, "--score", "logistic", *FEW, "--best", "cohen_kappa", "--cost-fn", "2")["blocks"]
    metrics = {
        "cohen_kappa": metric("cohen_kappa", best="cohen_kappa"),
        "expected_cost": metric("expected_cost", best="cohen_kappa", cost_fp=1, cost_fn=2),
    }
    metrics = asked(best="cohen_kappa") | metrics
    result = quietly(bootstrap, (columns["label"], columns["logistic"]), metrics, n_resamples=99, rng=0)
    output = block["models"][0]["intervals"]
    assert output == {name: ends(result[name].confidence_interval) for name in result}


def test_groups_weights_and_blocks(capsys, tmp_path):
    rng = np.random.default_rng(4)
    n = 400
    y, part = rng.integers(0, 2, n), rng.integers(0, 2, n)
    patient, weight = rng.integers(0, 40, n), rng.integers(0, 4, n)
    scores = {name: (rng.normal(size=n) + y).round(1) for name in "ab"}
    rows = zip(y, *scores.values(), part, patient, weight, strict=True)
    file = write(
        tmp_path, "all.csv", "y,a,b,part,patient,w\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    )
    options = (file, "--label", "y", "--score", "a", "--score", "b", "--by", "part", "--weight", "w", *FEW)
    output = report_json(capsys, *options, "--group", "patient")
    assert output["intervals"]["group"] == "patient"
    for block in output["blocks"]:
        some = (part == block["value"]) & (weight > 0)
        result = quietly(
            compare_rankings, y[some], {name: each[some] for name, each in scores.items()},
            metrics={name: each for name, each in asked(best="f1").items() if name not in PROBABILITIES},
            n_resamples=99, rng=0, groups=patient[some], sample_weight=weight[some],
        )  # fmt: skip
        assert [model["intervals"].pop(name) for model in block["models"] for name in PROBABILITIES] == [None] * 6
        assert_compared(block, result)
        assert block["intervals"]["n_groups"] == np.unique(patient[some]).size
    text = report(capsys, *options, "--group", "patient")
    assert "99 bootstrap replicates of clusters of patient (seed 0)" in text


def test_same_seed_same_report(capsys):
    first, again, other = (report(capsys, *TWO, *FEW, "--seed", seed) for seed in (0, 0, 1))
    assert first == again == report(capsys, *TWO, *FEW)
    assert first != other
    assert "99 bootstrap replicates of rows (seed 1)" in other


def test_more_replicates_begin_with_fewer(capsys):
    """Intervals from more replicates are near those from fewer: the seed and all replicates are used."""
    few, many = (report_json(capsys, "--score", "logistic", "--resamples", n) for n in (199, 999))
    for (low, high), (lower, higher) in zip(
        *(
            [output["blocks"][0]["models"][0]["intervals"][name] for name in ("roc_auc", "brier_score", "accuracy")]
            for output in (few, many)
        ),
        strict=True,
    ):
        assert abs(low - lower) + abs(high - higher) < 0.5 * (high - low)


def test_models_without_a_metric_do_not_spoil_others(capsys, tmp_path):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 100)
    p, s = np.clip(rng.normal(size=100) + y, 0, 1).round(3), (rng.normal(size=100) + y).round(3)
    file = write(tmp_path, "two.csv", "y,p,s\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(y, p, s, strict=True)))
    (block,) = report_json(capsys, file, "--label", "y", "--score", "p", "--score", "s", *FEW)["blocks"]
    of_p, of_s = (model["intervals"] for model in block["models"])
    assert of_p["brier_score"] is not None
    assert of_s["brier_score"] is None
    assert of_p["roc_auc"] is not None
    assert of_s["roc_auc"] is not None
    (pair,) = block["differences"]
    assert pair["metrics"]["brier_score"] == {"value": None, "interval": None, "pvalue": None}
    result = quietly(
        compare_rankings, y, {"p": p, "s": s}, metrics=asked(best="f1"), n_resamples=99, rng=0
    )  # fmt: skip
    assert_compared(block, result)


# Text -------------------------------------------------------------------------------------------------------------

WITHOUT = """\
fastevals report: digits_eight (embedded)
random_forest has the highest AUC, 0.9895; logistic has 0.9756 and naive_bayes has
    0.8042.
Without intervals of differences, these data don't show whether the models differ by
    more than chance.

model            AUC   Gini     AP  Brier pred/obs
logistic      0.9756 0.9511 0.8844 0.0285    0.986
naive_bayes   0.8042 0.6084 0.2216 0.4447    5.593
random_forest 0.9895 0.9790 0.9477 0.0261    0.969

label      label, positive class 1
in all     1797 rows, 174 positive (9.68 %)
threshold  each model's threshold maximises F1 on these same rows, so the metrics at the
           threshold are optimistic
*          best in its column; metrics at a threshold have no *, because each model has
           its own threshold

model            AUC      AP  PR AUC     EER     BEP      KS  | threshold accuracy precision recall      F1     MCC
logistic      0.9756  0.8844  0.8842  0.0893  0.7874  0.8341  | 0.3768445  0.9644    0.8667  0.7471  0.8025  0.7856
naive_bayes   0.8042  0.2216  0.2217  0.2710  0.2238  0.6174  |         1  0.6683    0.2238  0.9828  0.3646  0.3693
random_forest 0.9895* 0.9477* 0.9545* 0.0402* 0.8800* 0.9230* |      0.32  0.9777    0.8988  0.8678  0.8830  0.8709

model          Brier  log loss    ECE
logistic      0.0285   0.1045* 0.0146*
naive_bayes   0.4447      inf  0.4475
random_forest 0.0261*     inf  0.0487

model         predicted observed  ratio intercept  slope  error      z p of z
logistic            171      174 0.9855    0.0370 1.3526 0.0236  -2.96 0.0031
naive_bayes         973      174 5.5932         -      - 0.5872 568.24  <1e-9
random_forest       169      174 0.9692         -      - 0.0905  -6.71  <1e-9
- : calibration intercept and slope of naive_bayes are undefined (596 rows with
    probability 0 or 1 have the other outcome; clip the probabilities)
- : calibration intercept and slope of random_forest are undefined (1 row with
    probability 0 or 1 has the other outcome; clip the probabilities)

! : log loss of naive_bayes and random_forest is infinite: some rows with a probability
    of exactly 0 or 1 belong to the other class. Clip probabilities to a range such as
    [0.001, 0.999], or compare Brier scores
! : The probabilities of logistic are too moderate: calibration slope 1.353, 95 %
    interval 1.165 to 1.540. Spiegelhalter's test rejects the calibration of logistic (z
    = -3.0, p = 0.0031): the Brier score is lower than the probabilities imply. logistic
    expects 171 positives; 174 happened, not significantly different (ratio 0.986, 95 %
    interval 0.909 to 1.068).
! : naive_bayes expects 973 positives; 174 happened (5.59 times as many as happened;
    ratio 5.593, 95 % interval 4.884 to 6.405). Spiegelhalter's test rejects the
    calibration of naive_bayes (z = 568.2, p < 1e-300): the Brier score is higher than
    the probabilities imply.
! : Spiegelhalter's test rejects the calibration of random_forest (z = -6.7, p =
    1.93e-11): the Brier score is lower than the probabilities imply. random_forest
    expects 169 positives; 174 happened, not significantly different (ratio 0.969, 95 %
    interval 0.898 to 1.046).
"""


def test_no_replicates_no_intervals(capsys):
    assert report(capsys, "--resamples", "0") == WITHOUT
    output = report_json(capsys, "--resamples", "0", "--score", "logistic")
    (block,) = output["blocks"]
    assert output["intervals"] is block["intervals"] is block["models"][0]["intervals"] is None
    assert block["differences"] == []


def test_intervals_stand_below_the_numbers(capsys):
    text = report(capsys, *FEW)
    rows = table(text, "model            AUC      AP")
    assert [rows[0], *rows[1::3]] == table(WITHOUT, "model            AUC      AP")  # columns keep their positions
    assert [row[:14] for row in rows[2::3]] == [" 95 % from    "] * 3
    assert [row[:14] for row in rows[3::3]] == ["        to    "] * 3
    assert {row.index("|") for row in rows} == {rows[0].index("|")}
    for value, low, high in zip(rows[1::3], rows[2::3], rows[3::3], strict=True):
        for k in (14, 22, 30, 38, 46, 54):
            assert float(low[k : k + 6]) <= float(value[k : k + 6]) <= float(high[k : k + 6])
        assert not (low + high)[63:73].strip(" 0123456789.")
    rows = table(text, "model          Brier")
    assert [rows[0], *rows[1::3]] == table(WITHOUT, "model          Brier")
    assert rows[5].split() == ["95", "%", "from", rows[5].split()[3], "-", rows[5].split()[5]]  # for an infinite loss
    rows = table(text, "difference")
    assert rows[0].split() == [
        "difference", "AUC", "AP", "PR", "AUC", "EER", "BEP", "KS", "|", "accuracy", "precision", "recall", "F1", "MCC"
    ]  # fmt: skip
    assert [row[:28].strip() for row in rows[1:5]] == ["logistic - naive_bayes", "95 % from", "to", "p"]
    assert [row[:28].strip() for row in rows[5::4]] == ["logistic - random_forest", "naive_bayes - random_forest"]
    assert max(map(len, text.splitlines())) <= 120


def test_the_level_is_shown(capsys):
    text = report(capsys, "--score", "logistic", *FEW, "--confidence", "0.755")
    assert "intervals  75.5 %, BCa, 99 bootstrap replicates of rows (seed 0), each with its own best" in text
    assert "\n 75.5 % from 0." in text
    assert "difference" not in text
    text = report(capsys, "--score", "logistic", *FEW, "--threshold", "0.5")
    assert "intervals  95 %, BCa, 99 bootstrap replicates of rows (seed 0). Not all limits" in text


def test_differences_of_a_block_below_its_tables(capsys):
    text = report(capsys, *TWO, *FEW, "--by", "fold", "--cost-fn", "5")
    assert text.count("\n\ndifference ") == 2 * (5 + 1)  # to the left and to the right of the bar, and for all rows
    assert text.count("\nlogistic - random_forest ") == 2 * (5 + 1)
    assert "Intervals and p-values of differences are simultaneous over all pairs (max-T)" in " ".join(text.split())


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5000"), (0.00012, "0.0001"), (0.00009, "9e-05"), (1e-30, "<1e-9"), (0.0, "<1e-9"), (float("nan"), "-")],
)
def test_probabilities(value, text):
    assert text_format.format_pvalue(value) == text


# Cells ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def large(monkeypatch):
    """Make the embedded data count as large."""
    for budget in ("BUDGET", "BUDGET_WITHOUT_CELLS"):
        monkeypatch.setattr(intervals, budget, 1796 * 1999)
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("large")
def test_large_blocks_have_intervals_of_cells(capsys):
    """All metrics and differences have an interval near the rows' interval."""
    output = report_json(capsys, "--confidence", "0.9")
    (block,) = output["blocks"]
    (of_rows,) = report_json(capsys, "--confidence", "0.9", "--resamples", "1999")["blocks"]
    assert block["intervals"]["method"] == output["intervals"]["method"] == "cells"
    for model, expected in zip(block["models"], of_rows["models"], strict=True):
        assert model["metrics"] == expected["metrics"]
        for name in ("roc_auc", "average_precision", "brier_score", "ks_statistic"):
            ends, wanted = (np.array(each["intervals"][name]) for each in (model, expected))
            assert np.abs(ends - wanted).max() < 0.15 * np.diff(wanted)[0], name
        assert [name for name, each in model["intervals"].items() if each is None] == [
            name for name, each in expected["intervals"].items() if each is None
        ]
    for pair, expected in zip(block["differences"], of_rows["differences"], strict=True):
        assert (pair["model"], pair["reference"]) == (expected["model"], expected["reference"])
        for name, each in pair["metrics"].items():
            wanted = expected["metrics"][name]
            if wanted["interval"] is None:
                assert (each["value"], each["interval"], each["pvalue"]) == (wanted["value"], None, None), name
                continue
            assert each["value"] == pytest.approx(wanted["value"], abs=1e-15)
            assert np.diff(each["interval"])[0] == pytest.approx(np.diff(wanted["interval"])[0], rel=0.4), name
    assert output["intervals"]["cells_above"] == 1796 // 3
    assert (output["intervals"]["budget"], output["intervals"]["blocks_drawn"]) == (1796 * 1999, 0)
    text = report(capsys)
    plain = " ".join(text.split())
    assert (
        "intervals 95 %, BCa, 1,999 replicates of cells, which are groups of rows with similar scores (seed 0), each "
        "with its own best thresholds, above 598 rows (--resamples N resamples the rows). Intervals and p-values of"
        in plain
    )
    assert "are simultaneous over all pairs (max-T), computed from each row's cells in all models" in plain
    why = "Rows are not resampled: 1,797 rows x 3 models x 1,999 replicates exceed a report's budget of "
    why += "3,590,204 draws"
    assert why in plain
    assert output["intervals"]["not_drawn"] == why
    assert text == report(capsys)
    assert text != report(capsys, "--seed", "1")


@pytest.mark.usefixtures("large")
def test_large_blocks_are_bootstrapped_where_it_is_asked_for(capsys, monkeypatch):
    text = report(capsys, *TWO, *FEW)
    monkeypatch.undo()
    assert text == report(capsys, *TWO, *FEW)


def test_rows_of_small_blocks_are_drawn_whatever_the_budget() -> None:
    few, many = intervals.ROWS_ALWAYS_DRAWN, intervals.ROWS_ALWAYS_DRAWN + 1
    plan = IntervalPlan(0.95, RESAMPLES, 1000, 0).for_blocks([many, few], 3)
    assert [plan.draws(n) for n in (few, many)] == [True, False]
    unlimited = IntervalPlan(0.95, 99, None, 0)
    assert [unlimited.draws(n, fit=fit) for fit in (True, False) for n in (few, many)] == [True, True, True, False]


@pytest.mark.slow
def test_only_blocks_above_their_share_are_large(capsys, monkeypatch):
    monkeypatch.setattr(intervals, "BUDGET", 1796 * 2 * 39)  # fold 0 and 1 have 360 rows, the others 359
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    monkeypatch.setattr(intervals, "RESAMPLES", 39)
    output = report_json(capsys, "--by", "fold", *TWO)
    assert [block["intervals"]["method"] for block in output["blocks"]] == ["cells"] * 2 + ["BCa"] * 3
    assert output["intervals"]["method"] == "BCa"
    assert (output["intervals"]["cells_above"], output["intervals"]["blocks_drawn"]) == (359, 3)
    message = " ".join(report(capsys, "--by", "fold", *TWO).split())
    assert (
        "39 bootstrap replicates of rows (seed 0), each with its own best thresholds, for blocks of at most 359"
        in message
    )
    assert "1,999 draws" not in message
    assert "39 replicates of cells" in message
    why = (
        "Rows are not resampled in 2 of 5 blocks: 720 rows x 2 models x 39 replicates exceed a report's budget of "
        "140,088 draws, of which other blocks use a part"
    )
    assert why in message
    assert output["intervals"]["not_drawn"] == why


@pytest.mark.slow
def test_a_report_draws_all_that_its_budget_is_enough_for(capsys, monkeypatch):
    monkeypatch.setattr(intervals, "RESAMPLES", 39)
    monkeypatch.setattr(intervals, "BUDGET", 1797 * 2 * 39)
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    plan = report_json(capsys, "--by", "fold", *TWO)["intervals"]
    assert (plan["method"], plan["blocks_drawn"], plan["not_drawn"]) == ("BCa", 5, "")
    assert "not resampled" not in report(capsys, "--by", "fold", *TWO)


def test_default_budget_is_enough_for_160_000_rows_of_three_models_or_two_million_in_clusters():
    for has_cells, least in ((True, 160_000), (False, 2_000_000)):
        plan = as_plan(None, 0.95, 0, has_cells=has_cells)
        assert least <= plan.for_blocks([10**7], 3).most_drawn < 1.1 * least


@given(st.lists(st.integers(1, 50), max_size=12), st.integers(0, 300))
def test_blocks_that_need_more_than_their_share_are_not_drawn(sizes, rows):
    most = most_rows_drawn(sizes, rows)
    drawn = [size for size in sizes if size <= most]
    assert sum(drawn) <= rows
    if sum(sizes) <= rows:
        assert drawn == sizes
    # The slow rule: as many rows as possible, none above an equal share of the rest once smaller blocks are served.
    expected = max(
        (n for n in range(rows + 1) if sum(min(size, n) for size in sizes) <= rows and n <= max(sizes, default=rows)),
        default=0,
    )  # fmt: skip
    assert drawn == [size for size in sizes if size <= expected]


@pytest.mark.parametrize("option", ["--weight", pytest.param("--frequency-weight", marks=pytest.mark.slow)])
def test_large_blocks_with_weights(capsys, tmp_path, monkeypatch, option):
    """Copies count as rows; cells of weighted rows, even with integer weights, are drawn with squared weights."""
    weights = (1, 2, 3, 1)
    monkeypatch.setattr(intervals, "BUDGET", 39 * 1999)
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    y, a = [0, 1, 0, 1] * 10, [k * 7 % 40 for k in range(40)]
    rows = zip(y, a, a[::-1], weights * 10, strict=True)
    file = write(tmp_path, "w.csv", "y,a,b,w\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    options = (file, "--label", "y", "--score", "a", "--score", "b", option, "w")
    output = report_json(capsys, *options)
    (block,) = output["blocks"]
    if option == "--frequency-weight":
        repeated = [row for row, weight in zip(zip(y, a, a[::-1], strict=True), weights * 10, strict=True)
                    for _ in range(weight)]  # fmt: skip
        other = write(tmp_path, "r.csv", "y,a,b\n" + "".join(",".join(map(str, row)) + "\n" for row in repeated))
        (expected,) = report_json(capsys, other, *options[1:-2])["blocks"]
        for model, wanted in zip(block["models"], expected["models"], strict=True):
            assert model["intervals"] == wanted["intervals"]
        assert block["differences"] == expected["differences"]
        assert {**block, "models": None} == {**expected, "models": None}
        return
    assert block["intervals"]["method"] == "cells"
    low, high = block["models"][0]["intervals"]["roc_auc"]
    found = delong(y, a, sample_weight=weights * 10)
    assert (low, high) == pytest.approx(tuple(found.confidence_interval()), abs=0.1 * (high - low))


@pytest.mark.usefixtures("large")
def test_large_blocks_with_groups(capsys):
    text = " ".join(report(capsys, "--group", "fold").split())
    assert "above 598 rows, cells of rows are resampled, which cannot keep clusters whole; --resamples N" in text
    output = report_json(capsys, "--group", "fold", "--score", "logistic")
    assert output["intervals"]["method"] is output["blocks"][0]["intervals"]["method"] is None
    assert report_json(capsys, "--group", "fold", *TWO, *FEW)["intervals"]["method"] == "BCa"


def test_large_blocks_with_too_few_of_a_class(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(intervals, "BUDGET", 3 * 1999)
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    for labels in ("0000", "0001"):
        rows = "".join(f"{label},{k % 3},{k}\n" for k, label in enumerate(labels))
        file = write(tmp_path, "few.csv", "y,a,b\n" + rows)
        (block,) = report_json(capsys, file, "--label", "y", "--score", "a", "--score", "b")["blocks"]
        if labels == "0000":
            assert [model["intervals"]["roc_auc"] for model in block["models"]] == [None, None]
            assert "roc_auc" not in block["differences"][0]["metrics"]
            continue
        output = block["differences"][0]["metrics"]["roc_auc"]
        assert (output["interval"], output["pvalue"]) == (None, None)


# Notes ------------------------------------------------------------------------------------------------------------


def few_rows(tmp_path, n_positives, n_negatives, *, of_group=2):
    rng = np.random.default_rng(2)
    y = np.repeat([1, 0], [n_positives, n_negatives])
    rows = "".join(f"{label},{rng.normal() + label:.2f},{k // of_group}\n" for k, label in enumerate(y))
    return (write(tmp_path, "few.csv", "y,a,g\n" + rows), "--label", "y", "--score", "a")


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((29, 30), "only 29 positives"),
        ((30, 1), "only 1 negative"),
        ((5, 7), "only 5 positives and 7 negatives"),
        ((30, 30), None),
    ],
)
def test_few_of_a_class_are_told(capsys, tmp_path, counts, said):
    arguments = few_rows(tmp_path, *counts)
    text = report(capsys, *arguments, *FEW)
    notes = report_json(capsys, *arguments, *FEW)["blocks"][0]["intervals"]["notes"]
    if said is None:
        assert "rough" not in text + " ".join(notes)
        return
    note = f"the data has {said}: intervals are rough, so read them as approximate"
    assert f"! : {note}" in " ".join(text.split())
    assert note in notes
    assert "rough" not in report(capsys, *arguments, "--resamples", "0")


def test_cautions_of_best_values_are_told(capsys, tmp_path):
    arguments = (*few_rows(tmp_path, 20, 60), "--threshold", "0.5", *FEW)
    why = (
        "one class has only 20 rows, and with fewer than 50, such intervals cover the true value too rarely: use more "
        "rows of that class, or allow for wider limits"
    )
    output = f"the interval of a's KS is unreliable, because {why}"
    (block,) = report_json(capsys, *arguments)["blocks"]
    assert [note for note in block["intervals"]["notes"] if why in note] == [output]
    assert f"! : {output}" in " ".join(report(capsys, *arguments).split())


def test_few_groups_are_told(capsys, tmp_path):
    arguments = (*few_rows(tmp_path, 40, 40, of_group=4), "--group", "g", *FEW)
    assert "! : the data has only 20 clusters of g: intervals are rough" in report(capsys, *arguments)


def test_undefined_replicates_are_counted(capsys, tmp_path):
    arguments = (*few_rows(tmp_path, 3, 60), "--threshold", "1.5")
    output = report_json(capsys, *arguments, *FEW)["blocks"][0]["intervals"]
    assert output["n_undefined"]["roc_auc"] > 0
    most = max(output["n_undefined"].values())
    text = " ".join(report(capsys, *arguments, *FEW).split())
    assert f"undefined in up to {most} of 99 replicates, which are left out" in text


def test_intervals_without_width_are_told(capsys, tmp_path):
    rows = "".join(f"{k % 2},{k % 2 + k / 100},{k}\n" for k in range(100))
    file = write(tmp_path, "perfect.csv", "y,a,b\n" + rows)
    text = " ".join(report(capsys, file, "--label", "y", "--score", "a", "--score", "b", *FEW).split())
    assert "! : the intervals of a's AUC, AP, PR AUC, EER, BEP, KS" in text
    assert "have zero width, so they say nothing about the uncertainty: collect more rows" in text


def test_blocks_of_one_group_and_of_one_class(capsys, tmp_path):
    rows = "".join(
        f"{int(k % 3 == 0 and k < 60)},{k * 7 % 50},{k // 30},{k // 10 if k < 60 else 0}\n" for k in range(90)
    )
    file = write(tmp_path, "groups.csv", "y,a,part,g\n" + rows)
    options = (file, "--label", "y", "--score", "a", "--by", "part", *FEW)
    blocks = report_json(capsys, *options, "--group", "g")["blocks"]
    assert [block["intervals"]["method"] for block in blocks] == ["BCa", "BCa", None]
    assert "! : part 2 has no intervals: all its rows are in one cluster" in report(capsys, *options, "--group", "g")
    blocks = report_json(capsys, *options)["blocks"]
    assert blocks[2]["models"][0]["intervals"]["roc_auc"] is None
    assert blocks[2]["models"][0]["intervals"]["accuracy"] is not None  # F1 is 0 at every threshold, so one is chosen
    blocks = report_json(capsys, *options, "--threshold", "25")["blocks"]
    assert blocks[2]["models"][0]["intervals"]["accuracy"] is not None


def test_groups_must_be_groups(capsys, tmp_path):
    file = write(tmp_path, "one.csv", "y,a,g,h\n0,1,x,1\n1,2,x,NaN\n0,3,x,\n")
    options = ("report", file, "--label", "y", "--score", "a", "--group")
    assert "--group 'g' must have at least two groups to resample, got one: 'x'" in error(capsys, *options, "g")
    assert "--group 'h' has 2 missing values, the first at line 3" in error(capsys, *options, "h")


def test_a_level_past_the_usual_replicates_asks_for_more(capsys):
    message = error(capsys, "report", "--confidence", "0.9999")
    assert "--resamples must be at least 9999 for --confidence 0.9999" in message


# Progress and Ctrl-C ----------------------------------------------------------------------------------------------


def test_progress_is_a_bar_on_stderr(capsys):
    from fastevals.show import cli

    assert cli.main(["report", "--score", "logistic", *FEW, "--progress"]) == 0
    out, err = capsys.readouterr()
    assert out == report(capsys, "--score", "logistic", *FEW)
    assert "100%" in err


def test_progress_needs_tqdm(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert "--progress needs tqdm: pip install tqdm" in error(capsys, "report", "--progress")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_stops_within_a_second():
    command = [sys.executable, "-m", "fastevals", "report", "--resamples", "10000000", "--progress"]

    def heed() -> None:  # a background job may ignore SIGINT, and so do its children
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed) as process:
        try:
            seen = b""
            while seen.count(b"%") < 3:  # it is in the middle of the work
                more = os.read(process.stderr.fileno(), 1000)
                assert more, seen
                seen += more
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
            took = time.monotonic() - start
        finally:
            process.kill()
    assert (process.returncode, out) == (130, b"")
    bar, last = (seen + err).decode().strip("\n").rsplit("\n", 1)
    assert last == "fastevals report: stopped"
    assert "Traceback" not in bar
    assert took < 3  # one second on an idle machine
