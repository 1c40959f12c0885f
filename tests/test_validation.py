from __future__ import annotations

import math
import traceback
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

import fastevals
from fastevals import ConfusionMatrix, Ranking, UndefinedMetricWarning
from fastevals._options import (
    check_choice,
    check_costs,
    check_exactly_one,
    check_integer,
    check_number,
    listed,
    show,
)
from fastevals._validation.arrays import as_thresholds, as_weights
from fastevals.scale import TargetSummary, parquet

# Numbers and options ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.int8(1), np.longdouble(0.25), Fraction(1, 3), -0.0])
def test_numbers_become_floats(value: Any) -> None:
    seen = check_number("x", value, low=0, high=1)
    assert type(seen) is float
    assert seen == float(value)


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (-0.1, {"low": 0}, r"x must be in \[0, inf\], got -0.1"),
        (1.5, {"low": 0, "high": 1}, r"x must be in \[0, 1\], got 1.5"),
        (0, {"low": 0, "open_low": True}, r"x must be in \(0, inf\], got 0"),
        (1, {"low": 0, "high": 1, "open_high": True}, r"x must be in \[0, 1\), got 1"),
        (math.inf, {"low": 0, "open_high": True}, r"x must be in \[0, inf\), got inf"),
        (math.nan, {}, r"x must be in \[-inf, inf\], got nan"),
        (np.float64("nan"), {"low": 0}, r"x must be in \[0, inf\], got nan"),
        (np.float64(-2), {"low": 0}, r"x must be in \[0, inf\], got -2.0$"),
        (np.longdouble(-2), {"low": 0}, r"x must be in \[0, inf\], got -2.0$"),
        ("1", {}, "x must be a number, got '1'"),
        (None, {}, "x must be a number, got None"),
        (True, {}, "x must be a number, got True"),
        (np.True_, {}, "x must be a number, got True$"),
        (1j, {}, "x must be a number, got 1j"),
        (np.complex128(1), {}, r"x must be a number, got \(1\+0j\)"),
        ([1], {}, r"x must be a number, got \[1\]"),
        (np.array([1.0]), {}, "x must be a number, got array"),
        (Decimal(1), {}, "x must be a number, got Decimal"),
        pytest.param(10**400, {}, "x must be", id="past all floats"),
        pytest.param(-(10**400), {"low": 0}, "x must be", id="below all floats"),
        (np.datetime64("2020"), {}, "x must be a number"),
    ],
)
def test_bad_numbers(value: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_number("x", value, **options)


@pytest.mark.parametrize("value", [1, 5, np.int64(3), np.uint8(2), np.array(4)])
def test_integers(value: Any) -> None:
    seen = check_integer("n", value, low=1, high=5)
    assert type(seen) is int
    assert seen == int(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "n must be an integer from 1 to 5, got 0"),
        (6, "n must be an integer from 1 to 5, got 6"),
        pytest.param(10**400, "n must be an integer from 1 to 5, got 1", id="huge"),
        (np.int64(9), "n must be an integer from 1 to 5, got 9$"),
        (1.0, "n must be an integer, got 1.0"),
        (np.float64(1), "n must be an integer, got 1.0$"),
        ("1", "n must be an integer, got '1'"),
        (None, "n must be an integer, got None"),
        (True, "n must be an integer.*, got True"),
        (np.True_, "n must be an integer.*, got True$"),
        (math.nan, "n must be an integer, got nan"),
    ],
)
def test_bad_integers(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_integer("n", value, low=1, high=5)
    with pytest.raises(ValueError, match="n must be an integer at least 7, got 6"):
        check_integer("n", 6, low=7)


@pytest.mark.parametrize("value", [None, "a", "b", 1])
def test_choices(value: Any) -> None:
    check_choice("way", value, [None, "a", "b", 1])


def test_a_numpy_string_is_a_choice() -> None:
    check_choice("way", np.array(["a"])[0], ["a", "b"])


@pytest.mark.parametrize("value", ["c", "A", True, 1.0, 0, np.array(["a", "b"]), np.array("a"), math.nan, pd.NA, ["a"]])
def test_bad_choices(value: Any) -> None:
    with pytest.raises(ValueError, match="way must be one of None, 'a', 1; got "):
        check_choice("way", value, [None, "a", 1])


def test_a_choice_may_be_an_iterator() -> None:
    with pytest.raises(ValueError, match="one of 'a', 'b'; got 3"):
        check_choice("way", 3, iter("ab"))


def test_costs() -> None:
    assert check_costs(1, 2, None) == (1.0, 2.0, None)
    assert check_costs(0, 2, 0.5) == (0.0, 2.0, 0.5)
    for costs, message in (
        ((0, 0, None), "cost_fp and cost_fn must not both be zero"),
        ((-1, 1, None), r"cost_fp must be in \[0, inf\), got -1"),
        ((1, math.inf, None), r"cost_fn must be in \[0, inf\), got inf"),
        ((1, 1, 1.5), r"prior must be in \[0, 1\], got 1.5"),
    ):
        with pytest.raises(ValueError, match=message):
            check_costs(*costs)


def test_exactly_one() -> None:
    assert check_exactly_one({"a": None, "b": 0}) == ("b", 0)
    with pytest.raises(ValueError, match="exactly one of a, b must be given, got none"):
        check_exactly_one({"a": None, "b": None})
    with pytest.raises(ValueError, match="exactly one of a, b, c must be given, got a and c"):
        check_exactly_one({"a": 1, "b": None, "c": 2})


def test_labels_are_listed_up_to_eight() -> None:
    assert listed([np.int64(1), np.str_("a"), np.float64(0.5)]) == "1, 'a', 0.5"
    assert listed(range(100)) == "0, 1, 2, 3, 4, 5, 6, 7, ... (100 in all)"


@pytest.mark.parametrize("value", [np.float32(0.5), np.float64(0.5), np.longdouble(0.5)])
def test_values_are_shown_plainly(value: Any) -> None:
    assert show(value) == "0.5"


# Arrays -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [0.5, [0.5, 1], [[1, 2], [3, 4]], [np.inf, -np.inf], True, [], pd.Series([1.5, 2])])
def test_thresholds(values: Any) -> None:
    assert np.array_equal(as_thresholds("thresholds", values), np.asarray(values))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, math.nan], "thresholds must not be NaN, got 1 NaN value"),
        (math.nan, "thresholds must not be NaN"),
        (["a"], r"thresholds must hold numbers, got dtype <U1 \(first value 'a'\)"),
        (None, r"thresholds must hold numbers, got dtype object \(first value None\)"),
        (1j, "thresholds must hold numbers, got dtype complex128"),
        ([[1], [1, 2]], "thresholds"),
        ({0.5}, "thresholds must"),
    ],
)
def test_bad_thresholds(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_thresholds("thresholds", values)


@pytest.mark.parametrize(
    "values", [[0.5, 1], [1, 2], [True, False], np.float16([1, 2]), pd.Series([1, 2]), pl.Series([1.5])]
)
def test_weights_are_float64(values: Any) -> None:
    seen = as_weights("w", values)
    assert seen.dtype == np.float64
    assert seen.tolist() == list(np.asarray(values))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, -0.5], "w must not be negative, got -0.5 at row 1"),
        ([0, 0], "w must have a value above zero, but all 2 are zero"),
        ([1, math.nan, math.nan], "w must be finite, but has 2 NaN values, the first at row 1"),
        ([1, math.inf], "w must be finite, but has 1 infinite value, the first at row 1"),
        ([1e308, 1e308], "w must have a finite sum, but it overflows"),
        ([2**53 + 1], r"w must be at most 2\*\*53 for integers, got 9007199254740993"),
        (["1"], "w must hold numbers, got dtype <U1"),
        ([], "w is empty"),
        (1.0, r"w must be 1-D, got shape \(\)"),
    ],
)
def test_bad_weights(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_weights("w", values)


# Every public entry point against odd values -------------------------------------------------------------------------

Y, S = [0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8]

ODD_ARRAYS: dict[str, Any] = {
    "None": None,
    "set": {1, 2},
    "dict": {0: 1},
    "string": "abcd",
    "bytes": b"abcd",
    "number": 3,
    "empty": [],
    "2-D": [[0, 1], [1, 0]],
    "3-D": np.zeros((2, 2, 2)),
    "ragged": [[1], [1, 2]],
    "ragged square": [[1, 0], [0]],
    "complex": [1j, 2, 3, 4],
    "dates": np.array([1, 2, 3, 4], "M8[s]"),
    "spans": np.array([1, 2, 3, 4], "m8[s]"),
    "object with None": np.array([0, 1, None, 1], object),
    "object with NaN": np.array(["a", "b", math.nan, "a"], object),
    "object of arrays": np.array([np.zeros(2), np.ones(3), None, 1], object),
    "pandas strings with NA": pd.array(["a", pd.NA, "b", "a"], dtype="string"),
    "pandas integers with NA": pd.array([0, 1, pd.NA, 1], dtype="Int64"),
    "pandas booleans with NA": pd.array([False, True, pd.NA, True], dtype="boolean"),
    "pandas with None": pd.Series(["a", None, "b", "a"]),
    "polars with null": pl.Series([0, 1, None, 1]),
    "arrow with null": pa.array([0, 1, None, 1]),
    "arrow strings with null": pa.array(["a", None, "b", "b"]),
    "data frame": pd.DataFrame({"a": [0, 1, 1, 0]}),
    "mixed": [0, "a", 1, 1],
    "mixed with None": ["a", None, "b", "b"],
    "NaN": [0, math.nan, 1, 1],
    "infinite": [0, math.inf, 1, 1],
    "past 64 bits": [10**30, 1, 1, 1],
    "huge floats": [1e20] * 4,
    "decimals": [Decimal(1)] * 4,
    "structured": np.zeros(4, [("a", int)]),
    "void": np.zeros(4, "V3"),
    "masked": np.ma.array([0, 1, 1, 0], mask=[0, 1, 0, 0]),
    "function": lambda: 0,
    "longdouble": np.array([0, 1, 1, 0.5], np.longdouble),
    "longer": [0, 1, 1, 0, 1],
    "iterator": iter([0, 1, 1, 0]),
    "strings with null": np.array(["a", None, "a", "b"], dtype=np.dtypes.StringDType(na_object=None)),
}

ODD_SCALARS: dict[str, Any] = {
    "None": None,
    "string": "x",
    "numpy string": np.str_("x"),
    "bytes": b"x",
    "NaN": math.nan,
    "numpy NaN": np.float64("nan"),
    "infinite": math.inf,
    "minus infinite": -math.inf,
    "zero": 0,
    "negative": -1,
    "numpy negative": np.float64(-1),
    "float32": np.float32(-0.1),
    "longdouble": np.longdouble(-1),
    "complex": 1j,
    "numpy complex": np.complex128(1),
    "past all floats": 10**400,
    "decimal": Decimal(1),
    "True": True,
    "numpy True": np.True_,
    "array": np.array([0.5, 0.6]),
    "0-d array": np.array(0.5),
    "list": [1],
    "tuple": (0, 5),
    "set": {0},
    "NA": pd.NA,
    "date": np.datetime64("2020"),
    "object": object,
    "function of one": lambda tp: tp,
    "function giving text": lambda tp, fp, fn, tn: "x",
    "function giving a number": lambda tp, fp, fn, tn: 1,
    "function giving complex": lambda tp, fp, fn, tn: tp * 1j,
    "function giving a ragged list": lambda tp, fp, fn, tn: [[1], [1, 2]],
}

MATRIX = ConfusionMatrix([[3, 1], [2, 4]])
CURVES = Ranking(Y, S)
STACK = ConfusionMatrix([[[3, 1], [2, 4]], [[1, 1], [1, 1]]])
count = ConfusionMatrix.from_predictions


def resampled(subject: Any, metrics: Any = "roc_auc", **options: Any) -> Any:
    return fastevals.bootstrap(subject, metrics, **{"n_resamples": 9, **options})


TAKE_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "Ranking(y_true)": lambda v: Ranking(v, S),
    "Ranking(y_true, pos_label)": lambda v: Ranking(v, S, pos_label="a"),
    "Ranking(y_score)": lambda v: Ranking(Y, v),
    "Ranking(sample_weight)": lambda v: Ranking(Y, S, sample_weight=v).roc_auc(),
    "Ranking(pos_label)": lambda v: Ranking(Y, S, pos_label=v),
    "from_predictions(y_true)": lambda v: count(v, Y),
    "from_predictions(y_pred)": lambda v: count(Y, v),
    "from_predictions(both)": lambda v: count(v, v),
    "from_predictions(labels)": lambda v: count(Y, Y, labels=v),
    "from_predictions(sample_weight)": lambda v: count(Y, Y, sample_weight=v),
    "ConfusionMatrix(counts)": ConfusionMatrix,
    "ConfusionMatrix(labels)": lambda v: ConfusionMatrix([[3, 1], [2, 4]], v),
    "cost(cost_matrix)": MATRIX.cost,
    "confusion_at(thresholds)": lambda v: Ranking(Y, S).confusion_at(v),
    "cost(prior)": lambda v: MATRIX.cost([[0, 1], [1, 0]], prior=v),
    "minimum_cost_predictions(y_prob)": lambda v: fastevals.minimum_cost_predictions(v, [[0, 1], [1, 0]]),
    "minimum_cost_predictions(cost_matrix)": lambda v: fastevals.minimum_cost_predictions([[0.5, 0.5]], v),
    "cost_threshold(cost_matrix)": lambda v: fastevals.cost_threshold(cost_matrix=v),
    "RocCurve(counts)": fastevals.RocCurve,
    "RocCurve.at(fpr)": lambda v: CURVES.roc_curve().at(fpr=v),
    "RocCurve.at(threshold)": lambda v: CURVES.roc_curve().at(threshold=v),
    "RocCurve.dominates(other)": lambda v: CURVES.roc_curve().dominates(v),
    "DetCurve.at(fnr)": lambda v: CURVES.det_curve().at(fnr=v),
    "DetCurve.crossings(other)": lambda v: CURVES.det_curve().crossings(v),
    "PrecisionRecallCurve.at(recall)": lambda v: CURVES.precision_recall_curve().at(recall=v),
    "GainCurve.at(share)": lambda v: CURVES.gain_curve().at(share=v),
    "CostCurve.at(probability_cost)": lambda v: CURVES.cost_curve().at(probability_cost=v),
    "CostCurve.at(prior)": lambda v: CURVES.cost_curve().at(prior=v, cost_fn=3),
    "CostCurve.difference(other)": lambda v: CURVES.cost_curve().difference(v),
    "CostEnvelope.at(probability_cost)": lambda v: CURVES.cost_curve().lower_envelope.at(v),
    "CostOverPrior.at(prior)": lambda v: CURVES.cost_curve().over_prior().at(v),
    "calibration_curve of y_score": lambda v: Ranking(Y, v).calibration_curve(),
    "decision_curve(threshold_probability)": lambda v: CURVES.decision_curve(v),
    "net_benefit(threshold_probability)": lambda v: CURVES.net_benefit(v),
    "DecisionCurve.at(threshold_probability)": lambda v: CURVES.decision_curve().at(v),
    "RankingFolds(rankings)": fastevals.RankingFolds,
    "from_scores(y_true)": lambda v: fastevals.RankingFolds.from_scores(v, S, [1] * len(S)),
    "from_scores(y_score)": lambda v: fastevals.RankingFolds.from_scores(Y, v, [1] * len(S)),
    "from_scores(folds)": lambda v: fastevals.RankingFolds.from_scores(Y, S, v),
    "from_scores(sample_weight)": lambda v: fastevals.RankingFolds.from_scores(Y, S, [1] * len(S), sample_weight=v),
    "regression_metrics(y_true)": lambda v: fastevals.regression_metrics(v, S),
    "regression_metrics(y_pred)": lambda v: fastevals.regression_metrics(S, v),
    "regression_metrics(sample_weight)": lambda v: fastevals.regression_metrics(S, S[::-1], sample_weight=v),
    "bootstrap(subject)": lambda v: resampled(v),
    "bootstrap(y_true)": lambda v: resampled((v, S)),
    "bootstrap(y_score)": lambda v: resampled((Y, v)),
    "bootstrap(y_score) in groups": lambda v: resampled((Y, v), groups=[1, 1, 2, 3]),
    "bootstrap(y_pred)": lambda v: resampled((Y, v), "accuracy"),
    "bootstrap(y_pred) of numbers": lambda v: resampled((S, v), "r2"),
    "bootstrap(groups)": lambda v: resampled((Y, S), groups=v),
    "bootstrap(groups) of labels": lambda v: resampled((Y, Y), "accuracy", groups=v),
    "bootstrap(sample_weight)": lambda v: resampled((Y, S), sample_weight=v),
    "bootstrap(sample_weight) of numbers": lambda v: resampled((S, S), "r2", sample_weight=v),
    "bootstrap(metrics)": lambda v: resampled(CURVES, v),
    "compare_rankings(y_true)": lambda v: fastevals.compare_rankings(v, {"a": S, "b": S[::-1]}, n_resamples=9),
    "compare_rankings(scores)": lambda v: fastevals.compare_rankings(Y, v, n_resamples=9),
    "compare_rankings(a score)": lambda v: fastevals.compare_rankings(Y, {"a": S, "b": v}, n_resamples=9),
    "compare_rankings(groups)": lambda v: fastevals.compare_rankings(Y, [S, S], groups=v, n_resamples=9),
    "delong(scores)": lambda v: fastevals.delong(Y, v),
    "proportion_interval(matrix)": lambda v: fastevals.proportion_interval(v, "recall"),
    "most_confused(matrix)": fastevals.most_confused,
    "confidence_band(ranking)": fastevals.confidence_band,
    "reliability_band(ranking)": fastevals.reliability_band,
    "ReliabilityCurve.at(probability)": lambda v: CURVES.reliability_curve().at(v),
    "confidence_band(at)": lambda v: fastevals.confidence_band(CURVES, at=v),
}


def use_threads(n: Any) -> None:
    with fastevals.num_threads(n):
        pass


TAKE_SCALARS: dict[str, Callable[[Any], Any]] = {
    "f_score(beta)": MATRIX.f_score,
    "f_score(macro)": lambda v: MATRIX.f_score(macro=v),
    "precision(average)": lambda v: MATRIX.precision(average=v),
    "pool(axis)": STACK.pool,
    "macro(axis)": STACK.macro,
    "cost(normalize)": lambda v: MATRIX.cost([[0, 1], [1, 0]], normalize=v),
    "roc_auc(max_fpr)": lambda v: Ranking(Y, S).roc_auc(max_fpr=v),
    "roc_auc(min_tpr)": lambda v: Ranking(Y, S).roc_auc(min_tpr=v),
    "roc_auc(standardize)": lambda v: Ranking(Y, S).roc_auc(max_fpr=0.5, standardize=v),
    "metric(standardize)": lambda v: fastevals.bootstrap(
        Ranking(Y, S), fastevals.metric("roc_auc", max_fpr=0.5, standardize=v), n_resamples=9, rng=0
    ),
    "roc_curve(drop_intermediate)": lambda v: Ranking(Y, S).roc_curve(drop_intermediate=v),
    "pr_auc(interpolation)": lambda v: Ranking(Y, S).pr_auc(interpolation=v),
    "equal_error_rate(on_hull)": lambda v: Ranking(Y, S).equal_error_rate(on_hull=v),
    "best_threshold(metric)": lambda v: Ranking(Y, S).best_threshold(v),
    "best_threshold(maximize)": lambda v: Ranking(Y, S).best_threshold("f1", maximize=v),
    "best_threshold(cost_fp)": lambda v: Ranking(Y, S).best_threshold("expected_cost", cost_fp=v),
    "best_threshold(prior)": lambda v: Ranking(Y, S).best_threshold("expected_cost", prior=v),
    "threshold_for(precision)": lambda v: Ranking(Y, S).threshold_for(precision=v),
    "threshold_for(n_predicted)": lambda v: Ranking(Y, S).threshold_for(n_predicted=v),
    "threshold_for(fpr)": lambda v: Ranking(Y, S).threshold_for(fpr=v),
    "expected_cost(threshold)": lambda v: Ranking(Y, S).expected_cost(v),
    "expected_cost(cost_fn)": lambda v: Ranking(Y, S).expected_cost(0.3, cost_fn=v),
    "expected_cost(prior)": lambda v: Ranking(Y, S).expected_cost(0.3, prior=v),
    "num_threads(n)": use_threads,
    "over_prior(cost_fp)": lambda v: CURVES.cost_curve().over_prior(cost_fp=v),
    "CostCurve.at(cost_fn)": lambda v: CURVES.cost_curve().at(prior=0.3, cost_fn=v),
    "operating_range(threshold)": lambda v: CURVES.cost_curve().operating_range(v),
    "holds(prior)": lambda v: CURVES.cost_curve().over_prior().holds(v),
    "CostCurve.at(prior)": lambda v: CURVES.cost_curve().at(prior=v),
    "LiftCurve.at(share)": lambda v: CURVES.lift_curve().at(share=v),
    "RocCurve.at(threshold)": lambda v: CURVES.roc_curve().at(threshold=v),
    "calibration_curve(n_bins)": lambda v: CURVES.calibration_curve(n_bins=v),
    "calibration_curve(strategy)": lambda v: CURVES.calibration_curve(strategy=v),
    "brier_decomposition(n_bins)": lambda v: CURVES.brier_decomposition(n_bins=v),
    "decision_curve(prior)": lambda v: CURVES.decision_curve(prior=v),
    "net_benefit(prior)": lambda v: CURVES.net_benefit(0.3, prior=v),
    "regression_metrics(quantile)": lambda v: fastevals.regression_metrics(S, S, quantile=v),
    "cost_threshold(cost_fp)": lambda v: fastevals.cost_threshold(cost_fp=v),
    "cost_threshold(prior)": lambda v: fastevals.cost_threshold(prior=v, fitted_prior=0.5),
    "roc_curve(average)": lambda v: fastevals.RankingFolds([CURVES]).roc_curve(average=v),
    "metric(name)": lambda v: resampled(CURVES, fastevals.metric(v)),
    "metric(threshold)": lambda v: resampled(CURVES, fastevals.metric("recall", threshold=v)),
    "metric(best)": lambda v: resampled(CURVES, fastevals.metric("recall", best=v)),
    "metric(recall)": lambda v: resampled(CURVES, fastevals.metric("precision", recall=v)),
    "metric(max_fpr)": lambda v: resampled(CURVES, fastevals.metric("roc_auc", max_fpr=v)),
    "metric(beta)": lambda v: resampled(CURVES, fastevals.metric("f_score", beta=v, threshold=0.3)),
    "metric(cost_fp)": lambda v: resampled(CURVES, fastevals.metric("expected_cost", cost_fp=v, threshold=0.3)),
    "metric(prior)": lambda v: resampled(CURVES, fastevals.metric("precision", prior=v, best="expected_cost")),
    "metric(average)": lambda v: resampled(MATRIX, fastevals.metric("precision", average=v)),
    "metric(quantile)": lambda v: resampled((S, S), fastevals.metric("pinball_loss", quantile=v)),
    "bootstrap(n_resamples)": lambda v: resampled(CURVES, n_resamples=v),
    "bootstrap(confidence_level)": lambda v: resampled(CURVES, confidence_level=v),
    "bootstrap(method)": lambda v: resampled(CURVES, method=v),
    "bootstrap(alternative)": lambda v: resampled(CURVES, alternative=v),
    "bootstrap(stratified)": lambda v: resampled(CURVES, stratified=v),
    "bootstrap(pos_label)": lambda v: resampled((Y, S), pos_label=v),
    "bootstrap(rng)": lambda v: resampled(CURVES, rng=v),
    "compare_rankings(reference)": lambda v: fastevals.compare_rankings(Y, [S, S], reference=v, n_resamples=9),
    "proportion_interval(metric)": lambda v: fastevals.proportion_interval(MATRIX, v),
    "proportion_interval(method)": lambda v: fastevals.proportion_interval(MATRIX, "recall", method=v),
    "proportion_interval(average)": lambda v: fastevals.proportion_interval(MATRIX, "recall", average=v),
    "most_confused(n)": lambda v: fastevals.most_confused(MATRIX, v),
    "most_confused(by)": lambda v: fastevals.most_confused(MATRIX, by=v),
    "reliability_band(kind)": lambda v: fastevals.reliability_band(CURVES, kind=v),
    "reliability_band(n_resamples)": lambda v: fastevals.reliability_band(CURVES, n_resamples=v),
    "confidence_band(curve)": lambda v: fastevals.confidence_band(CURVES, v),
    "confidence_band(kind)": lambda v: fastevals.confidence_band(CURVES, kind=v),
    "confidence_band(confidence_level)": lambda v: fastevals.confidence_band(CURVES, confidence_level=v),
    "confidence_band(at)": lambda v: fastevals.confidence_band(CURVES, kind="pointwise", at=v, n_resamples=9),
}


def complaint(call: Callable[[Any], Any], value: Any) -> str | None:
    """Return the fault in a call's handling of an odd value: it must work, or raise one clear line."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        try:
            call(value)
        except ValueError as error:
            text, last = str(error), traceback.extract_tb(error.__traceback__)[-1]
            if "fastevals" not in last.filename:
                return f"raised by {last.filename}, not by the validation: {text}"
            if "\n" in text or "np." in text or len(text) > 500:
                return f"not plain: {text}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.cases(12)
@pytest.mark.parametrize("entry", TAKE_ARRAYS)
def test_odd_arrays_work_or_raise_one_clear_line(entry: str) -> None:
    odd = dict(ODD_ARRAYS)
    if entry == "bootstrap(metrics)":
        odd.pop("function")  # the user's own error
    found = {name: complaint(TAKE_ARRAYS[entry], value) for name, value in odd.items()}
    assert {name: text for name, text in found.items() if text} == {}


@pytest.mark.parametrize("entry", TAKE_SCALARS)
def test_odd_scalars_work_or_raise_one_clear_line(entry: str) -> None:
    odd = dict(ODD_SCALARS)
    if entry == "best_threshold(metric)":
        odd.pop("function of one")  # the user's own error
        odd.pop("object")
    if any(
        flag in entry for flag in ("normalize", "standardize", "drop_intermediate", "on_hull", "maximize", "stratified")
    ):
        odd.pop("NA")  # has no truth value, as its error says
        odd.pop("array")
    found = {name: complaint(TAKE_SCALARS[entry], value) for name, value in odd.items()}
    assert {name: text for name, text in found.items() if text} == {}


# What is no column of numbers ---------------------------------------------------------------------------------------

ONE_COLUMN = np.array([[0.1], [0.9]])


class Matrix:
    """An object of another library that is not an array, such as a DMatrix."""


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        (ONE_COLUMN, r"got shape \(2, 1\); pass one column, for instance y_score\[:, 0\]$"),
        (np.zeros((2, 2)), r"got shape \(2, 2\); pass one column, for instance y_score\[:, 1\]$"),
        (np.zeros((2, 0)), r"got shape \(2, 0\)$"),
        (pd.DataFrame(ONE_COLUMN, columns=["p"]), r"for instance y_score\['p'\]$"),
        (pd.DataFrame(np.zeros((2, 3)), columns=list("abc")), r"for instance y_score\['b'\]$"),
        (pl.DataFrame({"p": [0.1, 0.9]}), r"for instance y_score\['p'\]$"),
        (pa.table({"p": [0.1, 0.9]}), r"for instance y_score\['p'\]$"),
        (csr_array(ONE_COLUMN), r"must be a dense array, got a sparse one \(csr_array\): pass its .toarray\(\)$"),
        ({"a": 1, "b": 2}.values(), r"must be an array or sequence, got a dict_values: pass list\(y_score\)$"),
        (b"ab", "must be 1-D, an array or sequence, got a bytes$"),
        ("ab", "must be 1-D, an array or sequence, got a str$"),
        (Matrix(), "must be 1-D, an array or sequence, got a Matrix$"),
    ],
    ids=[
        "n x 1",
        "n x 2",
        "n x 0",
        "frame of one",
        "frame",
        "polars",
        "Arrow",
        "sparse",
        "values",
        "bytes",
        "text",
        "object",
    ],
)
def test_what_is_no_column_says_what_to_pass(values: Any, hint: str) -> None:
    with pytest.raises(ValueError, match=rf"^y_score .*{hint}"):
        Ranking([0, 1], values)
    if hasattr(values, "columns") and len(values.columns) == 1:
        assert Ranking([0, 1], values["p"]).roc_auc() == 1


def test_a_column_of_a_report_says_what_to_pass() -> None:
    with pytest.raises(
        ValueError, match=r"^score 's' must be 1-D, got shape \(2, 1\); pass one column, .* its column \[:, 0\]$"
    ):
        fastevals.report({"y": [0, 1], "s": ONE_COLUMN}, label="y", score="s")


@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("y_pred", lambda table: fastevals.regression_metrics([1.0, 2, 3], table)),
        ("scores", lambda table: fastevals.delong([0, 1, 1], table)),
        ("predictions", lambda table: fastevals.batch_metrics([0, 1, 1], table, "roc_auc")),
        ("predictions", lambda table: fastevals.compare_predictions([1.0, 2, 3], table, metrics="r2")),
        ("predictions", lambda table: fastevals.pairwise_mcnemar_tests([0, 1, 1], table > 1)),
    ],
)
def test_models_in_columns_are_told_from_models_in_rows(name: str, call: Callable[[Any], Any], n_columns: int) -> None:
    table = np.arange(3.0 * n_columns).reshape(3, n_columns)
    there = r"\[:, 0\]" if n_columns == 1 else r"\.T"
    with pytest.raises(
        ValueError, match=rf"^{name}\[0\] has {n_columns} rows.* 3: rows of {name} are .* pass {name}{there}$"
    ):
        call(table)


# Integers that no float is near --------------------------------------------------------------------------------------

RANKED = Ranking(Y, S)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("y_score", lambda huge: Ranking([0, 1], [0.5, huge])),
        ("y_true", lambda huge: Ranking([0, huge], [0.5, 1])),
        ("pos_label", lambda huge: Ranking([0, 1], [0.5, 1], pos_label=huge)),
        ("thresholds", lambda huge: RANKED.confusion_at(huge)),
        ("threshold", lambda huge: RANKED.expected_cost(huge)),
        ("cost_fp", lambda huge: RANKED.expected_cost(0.5, cost_fp=huge)),
        ("n_predicted", lambda huge: RANKED.threshold_for(n_predicted=huge)),
        ("y_pred", lambda huge: fastevals.regression_metrics([1, 2], [1, huge])),
        ("results", lambda huge: fastevals.friedman_test([[1, 2, 3], [1, 2, huge]])),
        ("results", lambda huge: fastevals.friedman_test({"a": [1, 2], "b": [3, huge], "c": [4, 5]})),
        ("b", lambda huge: fastevals.wilcoxon_test([1, 2, 3], [1, 2, huge])),
        (
            "threshold",
            lambda huge: fastevals.report({"y": Y, "s": S}, label="y", score="s", threshold=huge, n_resamples=0),
        ),
        ("y_pred", lambda huge: fastevals.metrics.mean_squared_error([1.0, 2], [1.0, huge])),
    ],
)
@pytest.mark.parametrize("digits", [400, 5000])  # Python prints no more than 4,300 digits
def test_huge_integers_are_named(name: str, call: Callable[[Any], Any], digits: int) -> None:
    with pytest.raises(ValueError, match=rf"^{name}\b.* (must|has)"):
        call(10**digits)


def test_columns_of_files_must_have_names(tmp_path: Any) -> None:
    pq.write_table(pa.table({"y": [0, 1], "s": [0.1, 0.2]}), tmp_path / "rows.parquet")
    for given, message in (
        ({"label": None, "score": "s"}, "label must be the name of a column, got None"),
        ({"label": ["y"], "score": "s"}, r"label must be the name of a column, got \['y'\]"),
        ({"label": "y", "score": None}, "score must be the name of a column, or names, got None"),
        ({"label": "y", "score": ["s", None]}, r"score must be the name of a column, or names, got \['s', None\]"),
        ({"label": "y", "score": []}, r"score must be the name of a column, or names, got \[\]"),
        ({"label": "y", "score": ["s", "s"]}, r"score must name each column once, got \['s', 's'\]"),
        ({"label": "y", "score": "s", "sample_weight": 3}, "sample_weight must be the name of a column, got 3"),
    ):
        with pytest.raises(ValueError, match=f"^{message}$"):
            parquet.ranking(tmp_path / "rows.parquet", **given)


# Scores that are no probabilities -------------------------------------------------------------------------------------

LOGITS = [-3.0, 2.0, -1.0, 4.0]
OF_PROBABILITIES: dict[str, Callable[..., Any]] = {
    "y_score": lambda metric, **more: fastevals.bootstrap((Y, LOGITS), metric, n_resamples=9, **more),
    "y_score of a ranking": lambda metric: fastevals.bootstrap(Ranking(Y, LOGITS), metric, n_resamples=9),
    "scores\\['a'\\]": lambda metric, **more: fastevals.compare_rankings(
        Y, {"a": LOGITS, "b": LOGITS}, metrics=[metric, "roc_auc"], n_resamples=9, **more
    ),
    "predictions\\['a'\\]": lambda metric, **more: fastevals.batch_metrics(
        Y, {"a": LOGITS, "b": LOGITS}, metric, **more
    ),
    "pred_a": lambda metric: fastevals.permutation_test(Y, LOGITS, LOGITS[::-1], metric),
    "y_score unpaired": lambda metric: fastevals.bootstrap_unpaired(
        Ranking(Y, S), Ranking(Y, LOGITS), metric, n_resamples=9
    ),
}


@pytest.mark.parametrize("metric", ["log_loss", "brier_score", "expected_calibration_error"])
@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_metrics_of_probabilities_say_which_scores_are_none(name: str, metric: str) -> None:
    message = rf"^{name.partition(' ')[0]} must hold probabilities, in \[0, 1\], got -3.0$"
    with pytest.raises(ValueError, match=message):
        OF_PROBABILITIES[name](metric)


@pytest.mark.parametrize(
    "call",
    [
        lambda scores: fastevals.batch_metrics(Y, scores, "brier_score"),
        lambda scores: fastevals.compare_rankings(Y, scores, metrics="brier_score", n_resamples=99),
    ],
)
@pytest.mark.filterwarnings("ignore:brier_score .*(in 1 of 2 models|in 99 of 99 bootstrap)")
def test_models_without_probabilities_do_not_spoil_others(call: Callable[[Any], Any]) -> None:
    with pytest.warns(UndefinedMetricWarning, match=r"^brier_score .*\['b'\] must hold probabilities, .* got -3.0$"):
        call({"a": S, "b": LOGITS})


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_rows_without_weight_need_no_probabilities() -> None:
    for name in ("y_score", "predictions\\['a'\\]", "scores\\['a'\\]"):
        with pytest.raises(ValueError, match=r"in \[0, 1\], got -1.0"):
            OF_PROBABILITIES[name]("brier_score", sample_weight=[0, 1, 1, 0])
    found = fastevals.batch_metrics(Y, [[-3.0, 0.5, 0.5, 7.0]], "brier_score", sample_weight=[0, 1, 1, 0])
    assert found["brier_score"].values.tolist() == [0.25]


# Whole numbers past 2**53 --------------------------------------------------------------------------------------------

FAR = 2**53


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize(
    "call",
    [
        lambda y, p: fastevals.regression_metrics(y, p),
        lambda y, p: fastevals.bootstrap((y, p), "mean_absolute_error", n_resamples=9),
        lambda y, p: fastevals.compare_predictions(y, [p, p], metrics="mean_absolute_error", n_resamples=9),
        lambda y, p: fastevals.batch_metrics(y, [p, p], "mean_absolute_error"),
        lambda y, p: fastevals.permutation_test(y, p, p, "mean_absolute_error"),
        lambda y, p: fastevals.evaluate_splits(y, p, fastevals.KFold(2, rng=0), "mean_absolute_error"),
        lambda y, p: fastevals.bias_variance(y, [p, p]),
        lambda y, p: TargetSummary().update(y, p),
    ],
)
def test_integers_that_a_float_rounds_are_named(call: Callable[..., Any], dtype: Any) -> None:
    y, p = np.array([1, FAR + 1, 5, 2], dtype=dtype), np.array([1, FAR, 5, 2], dtype=dtype)
    for array in (y, y.tolist()):  # the error is 1/4, but 0 in floats
        with pytest.raises(
            ValueError, match=r"^y_true must hold integers that a float64 .* got 9007199254740993 at row 1"
        ):
            call(array, p)


def test_integers_that_a_float_represents_are_measured() -> None:
    found = fastevals.regression_metrics([FAR, -FAR, 2**60], [FAR - 2, -FAR, 2**60])
    assert found.mean_absolute_error == pytest.approx(2 / 3, rel=1e-15)
