"""Every public result as a dict is strict JSON and omits nothing that a reader of the result sees."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import BootstrapSplit, ConfusionMatrix, HoldOut, KFold, Ranking, UndefinedMetricWarning, scale
from fastevals.measure.curves import registry
from fastevals.results import Frozen, Interval

Y = [0, 0, 1, 0, 1, 1, 0, 1]
A = [0.1, 0.4, 0.35, 0.2, 0.8, 0.7, 0.3, 0.9]
B = [0.2, 0.5, 0.1, 0.3, 0.9, 0.6, 0.7, 0.4]
AMOUNTS = [3.0, 5.0, 8.0, 2.0, 9.0, 4.0, 1.0, 7.0]
KINDS = ["p", "q", "r"] * 8
SHARES = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.4, 0.3, 0.3], [0.0, 0.5, 0.5], [0.2, 0.1, 0.7]] * 5)[:24]
GROUPS = ["u", "u", "u", "v", "v", "v", "w", "w"]
RESULTS = [[0.1, 0.2, 0.3], [0.2, 0.1, 0.4], [0.3, 0.3, 0.35], [0.15, 0.2, 0.5]]
X = np.linspace(-1, 1, 24)
TARGETS = X**2
ONE = Ranking([1, 1, 1], [0.2, 0.4, 0.4])  # one class: much is undefined
CURVES = Ranking(Y, A)


def constant(x: Any, y: Any, x_new: Any, shift: float = 0.0) -> Any:
    return np.full(len(x_new), np.mean(y) + shift)


def selected() -> Any:
    return fastevals.select_model(
        constant, X, TARGETS, "mean_squared_error", grid={"shift": [0.0, 0.5]},
        splitter=3, nested=2, rng=0,
    )  # fmt: skip


MAKE: dict[str, Callable[[], Any]] = {
    "point": lambda: CURVES.best_threshold("f1"),
    "undefined point": lambda: ONE.equal_error_rate(),
    "certified": lambda: scale.Certified(0.8, math.nan, 0.9),
    "certified values": lambda: scale.CertifiedValues(*np.array([[0.8, 0.5], [0.7, 0.5], [0.9, 0.5]])),
    "counts": lambda: CURVES.counts,
    **{name: lambda entry=entry: entry.of_ranking(CURVES) for name, entry in registry.CURVES.items()},
    "roc of one class": lambda: ONE.roc_curve(),
    "cost of one class": lambda: ONE.cost_curve(),
    "envelope": lambda: CURVES.cost_curve().lower_envelope,
    "cost over the prior": lambda: CURVES.cost_curve().over_prior(cost_fn=5),
    "cost difference": lambda: CURVES.cost_curve().difference(Ranking(Y, B).cost_curve()),
    "Brier's parts": lambda: CURVES.brier_decomposition(),
    "Brier's parts in bins": lambda: CURVES.brier_decomposition(n_bins=3),
    "matrix": lambda: ConfusionMatrix([[3, 1], [0, 2]], ["no", "yes"]),
    "matrix of weights": lambda: ConfusionMatrix([[0.5, 1], [0, 2]]).macro(),
    "calibration error": lambda: fastevals.calibration(Y, A, n_bins=2).error,
    "regression": lambda: fastevals.regression_metrics(Y, A),
    "regressions": lambda: fastevals.regression_metrics([1, 1], {"a": [1, 2], "b": [1e300, -1e300]}),
    "bootstrap": lambda: fastevals.bootstrap(CURVES, "roc_auc", n_resamples=9, rng=0),
    "estimate": lambda: fastevals.bootstrap(ONE, "roc_auc", n_resamples=9, rng=0, keep_distribution=True)["roc_auc"],
    "comparison": lambda: fastevals.compare_rankings(Y, {1: A, "b": B}, n_resamples=9, rng=0, stratified=True),
    "costs": lambda: fastevals.row_costs(Y, {1: A, "b": B}, cost_fn=AMOUNTS, n_resamples=9, rng=0),
    "costs of classes": lambda: fastevals.class_costs(
        KINDS, {1: SHARES, "b": SHARES[:, ::-1]}, labels=["p", "q", "r"], abstain_cost=0.3, n_resamples=9, rng=0,
        confidence_level=0.5,
    ),
    "costs of a model of classes": lambda: fastevals.class_costs(KINDS, SHARES, n_resamples=0)["y_prob"],
    "cost of a rule": lambda: fastevals.class_costs(KINDS, SHARES, n_resamples=0).best_constant,
    "thresholds of classes": lambda: fastevals.class_thresholds(
        KINDS, SHARES, n_folds=2, n_resamples=19, confidence_level=0.5, rng=0
    ),
    "costs of a model": lambda: fastevals.row_costs(Y, A, cost_fn=AMOUNTS, threshold=0.5, n_resamples=0)["y_score"],
    "cost of a decision": lambda: fastevals.row_costs(Y, A, cost_fn=AMOUNTS, n_resamples=0).all,
    "unpaired": lambda: fastevals.bootstrap_unpaired(CURVES, CURVES, "roc_auc", n_resamples=9, rng=0),
    "band": lambda: fastevals.confidence_band(CURVES, n_resamples=20, rng=0),
    "reliability band": lambda: fastevals.reliability_band(CURVES),
    "calibration of a model": lambda: fastevals.calibration(Y, A, by=GROUPS),
    "calibration of one class": lambda: fastevals.calibration([1, 1, 1], [0.2, 0.4, 0.4]),
    "calibration of segments": lambda: fastevals.calibration(Y, A, by={"user": GROUPS, "odd": [0, 1] * 4}).segments,
    "calibration of models": lambda: fastevals.calibration(Y, {"a": A, "b": B}),
    "calibration estimate": lambda: fastevals.calibration(Y, A).ratio,
    "calibration bins": lambda: fastevals.calibration(Y, A, n_bins=3).bins,
    "delong": lambda: fastevals.delong(Y, {"a": A, "b": B}),
    "delong of classes": lambda: fastevals.delong(
        fastevals.ClassRankings([0, 1, 2, 0, 1, 2], [[3, 1, 2], [1, 2, 0], [2, 1, 3], [2, 2, 0], [1, 3, 0], [3, 0, 1]])
    ),
    "delong of one class": lambda: fastevals.delong([1, 1], [[1, 2], [3, 4]]),
    "delong's test": lambda: fastevals.delong_test(Y, A, B),
    "binomial": lambda: fastevals.binomial_error_test([3, 4], 10, 0.3),
    "mcnemar": lambda: fastevals.mcnemar_test(Y, [0] * 8, [1] * 8),
    "mcnemar of equals": lambda: fastevals.mcnemar_test(Y, Y, Y),
    "mcnemar pairs": lambda: fastevals.pairwise_mcnemar_tests(Y, [Y, [0] * 8, [1] * 8]),
    "cochran": lambda: fastevals.cochran_q_test(Y, [Y, [0] * 8, [1] * 8]),
    "posterior of a difference": lambda: fastevals.bayes_correlated_t(
        RESULTS, 0, 1, rope=0.1, n_train=3, n_test=1, higher_is_better=False
    ),
    "posterior over data sets": lambda: fastevals.bayes_signed_rank(
        RESULTS, 0, 1, rope=0.1, higher_is_better=False, n_draws=9, rng=0
    ),
    "strengths": lambda: fastevals.bayes_bradley_terry(RESULTS, higher_is_better=False, n_draws=2000, rng=0),
    "posterior of wins": lambda: fastevals.bayes_bradley_terry(
        RESULTS, higher_is_better=False, n_draws=2000, rng=0
    ).between(0, 1),
    "error rate": lambda: fastevals.error_rate_posterior(0, 10),
    "results": lambda: fastevals.Results(RESULTS, metric="rmse", n_train=90, n_test=10),
    "results with missing cells": lambda: fastevals.Results(
        {"u": {1: [0.5, "timeout"], "b": [0.25, 0.5]}}, missing="keep"
    ),
    "equivalence": lambda: fastevals.equivalence_test([0.1, 0.2, 0.4], [0.2, 0.2, 0.3], margin=0.5, test="paired-t"),
    "skillings_mack": lambda: fastevals.skillings_mack_test([[1.0, 2.0, 3.0], [2.0, float("nan"), 1.0]]),
    "equivalent pairs": lambda: fastevals.pairwise_tests(RESULTS, test="paired-t", equivalence_margin=0.5),
    "friedman": lambda: fastevals.friedman_test(RESULTS),
    "friedman, all alike": lambda: fastevals.friedman_test([[1.0, 2.0, 3.0]] * 4),  # F is infinite
    "nemenyi": lambda: fastevals.nemenyi_test(RESULTS),
    "pairs": lambda: fastevals.pairwise_tests(RESULTS, test="paired-t"),
    "effects": lambda: fastevals.pairwise_tests(RESULTS, test="paired-t").effects,
    "t, a constant difference": lambda: fastevals.paired_t_test([1.0, 2.0, 3.0], [0.0, 1.0, 2.0]),  # t is infinite
    "permutation": lambda: fastevals.permutation_test(Y, [0] * 8, [1] * 8, n_resamples=9, keep_distribution=True),
    "comparison plan": lambda: fastevals.plan_comparison(RESULTS, 0, 1, test="sign", effect=0.75),
    "comparison plan of repeats": lambda: fastevals.plan_comparison(
        fastevals.Results([[[0.1, 0.3], [0.2, 0.5]]], n_train=90, n_test=10), test="corrected-resampled-t", effect=0.01
    ),
    "sample size": lambda: fastevals.plan_sample_size(CURVES, "roc_auc", value=0.9, bound=0.8, prevalence=0.1),
    "sample size of a width": lambda: fastevals.plan_sample_size((AMOUNTS, A), "r2", width=0.5, n_resamples=99),
    "best of many": lambda: fastevals.bbc_cv(Y, {"a": A, 1: B}, "roc_auc", n_resamples=19, stratified=True, rng=0),
    "looks": lambda: fastevals.holdout_reuse(1000, 20, value=0.8),
    "looks by a deviation": lambda: fastevals.holdout_reuse(1000, 20, standard_deviation=2.0),
    "drift": lambda: fastevals.score_drift(A, B, n_bins=3),
    "drift of models": lambda: fastevals.score_drift({"a": A, 1: B}, {"a": B, 1: A}, n_bins=2),
    "confused pairs": lambda: fastevals.most_confused(fastevals.ConfusionMatrix([[5, 2, 0], [1, 3, 0], [0, 4, 6]])),
    "gain table": lambda: fastevals.gain_table(Y, A, 4),
    "gain tables": lambda: fastevals.gain_table(Y, {"a": A, 1: B}, 2, shares=[]),
    "night": lambda: fastevals.NightRecord("mon", 9, value=0.5, variance=0.01),
    "night sequence": lambda: fastevals.confidence_sequence([fastevals.NightRecord.of_rate("mon", 45, 50)]),
    "night sequence before its start": lambda: fastevals.confidence_sequence({"n_samples": [9], "value": [0.5]}),
    "grouped": lambda: fastevals.grouped_auc(Y, A, GROUPS, interval="delong"),
    "grouped by day": lambda: fastevals.grouped_auc(Y, A, np.array(["2026-01-01", "2026-01-02"] * 4, dtype="M8[D]")),
    "grouped metrics": lambda: fastevals.grouped_metrics(Y, A, GROUPS, ["roc_auc", "log_loss"]),
    "groups compared": lambda: fastevals.compare_groups(Y, {"a": A, 1: B}, GROUPS, ["roc_auc", "brier_score"]),
    "groups against one": lambda: fastevals.group_differences(Y, np.array(A) > 0.5, GROUPS),
    "recall by group": lambda: made("groups against one")["recall"],
    "equalised odds": lambda: made("groups against one").equalized_odds,
    "compared by AUC": lambda: made("groups compared")["roc_auc"],
    "by query": lambda: fastevals.query_metrics([1, 0, 2, 0, 0, 0, 1, 0], A, GROUPS, ["ndcg@2", "mrr"]),
    "metric by query": lambda: fastevals.query_metrics(Y, A, GROUPS, "dcg", interval=None)["dcg"],
    "batch": lambda: fastevals.batch_auc([Y, [1] * 8], [A, B], standard_errors=True),
    "batch metrics": lambda: fastevals.batch_metrics(Y, {"a": A}, ["roc_auc", "gini"]),
    "bias and variance": lambda: fastevals.bias_variance(Y, [A, B], per_sample=True),
    "of 0-1 loss": lambda: fastevals.bias_variance(Y, [Y, [0] * 8], loss="zero_one"),
    "james": lambda: fastevals.bias_variance(Y, [Y, [0] * 8], loss="zero_one", decomposition="james"),
    "bias over a parameter": lambda: fastevals.bias_variance_curve(
        constant, X, TARGETS, X[:4], TARGETS[:4], parameter="shift", values=[0.0, 1.0], n_sets=3, rng=0
    ),
    "estimates": lambda: fastevals.estimate_error(constant, X, TARGETS, KFold(3, rng=0), ["r2"], training=True),
    "bootstrap errors": lambda: fastevals.estimate_error(
        constant, X, TARGETS, BootstrapSplit(4, rng=0), "mean_squared_error", method=".632+"
    )["mean_squared_error"],
    "splits": lambda: fastevals.evaluate_splits(Y, Y, HoldOut(0.25, n_repeats=3, rng=0), "accuracy"),
    "selection": selected,
    "candidate": lambda: selected().best,
    "nested": lambda: selected().nested,
    "sensitivity": lambda: selected().sensitivity("shift"),
    "error curve": lambda: fastevals.learning_curve(
        constant, X, TARGETS, KFold(3, rng=0), "mean_squared_error", train_sizes=[0.5, 1.0]
    ),
}  # fmt: skip


@cache
def made(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return MAKE[name]()


def seen(result: Any) -> set[str]:
    """Return the names of a result's attributes, without methods."""
    public = (name for name in dir(result) if not name.startswith("_") and not name.isupper())
    return {name for name in public if not callable(getattr(result, name)) or name == "model"}


@pytest.mark.parametrize("name", MAKE)
def test_a_dict_is_strict_json_and_leaves_nothing_out(name: str) -> None:
    result = made(name)
    told = result.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told  # no tuples, no keys that are not text
    assert seen(result) <= set(told)


def test_every_public_result_is_among_them() -> None:
    for module in walk_packages(fastevals.__path__, "fastevals."):
        if not any(each in module.name for each in ("__main__", ".make_", "integrations.torch")):
            import_module(module.name)
    kinds: set[type] = {ConfusionMatrix}
    found = [Frozen]
    while found:
        found = [each for kind in found for each in kind.__subclasses__() if each.__module__.startswith("fastevals.")]
        kinds |= {each for each in found if each.__name__ in {*fastevals.__all__, *scale.__all__}}
    covered = {base for name in MAKE for base in type(made(name)).__mro__}
    held = {
        "Estimate",
        "Difference",
        "UnpairedDifference",
        "MetricComparison",
        "GroupedMetric",
        "BatchMetric",
        "ErrorEstimate",
    }  # covered by other tests
    assert {each.__name__ for each in kinds} - {each.__name__ for each in covered} <= held


def test_what_is_not_finite_is_null_or_text() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        assert CURVES.roc_curve().to_dict()["thresholds"][0] == "Infinity"
        assert ONE.roc_curve().to_dict()["area"] is None
        test = fastevals.paired_t_test([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    assert test.statistic == -math.inf
    assert test.to_dict()["statistic"] == "-Infinity"
    assert fastevals.delong(Y, [A]).to_dict()["moments"]["n_pos"] == 4
    assert isinstance(test.confidence_interval, Interval)
    assert test.to_dict()["confidence_interval"] == [-1.0, -1.0]


ODD = "new\x1b[31m\r\nrow\t\u202e"  # a name that moves the cursor, colours text and breaks the line
PRINTED: dict[str, Callable[[], Any]] = {
    "friedman": lambda: fastevals.friedman_test({ODD: [1, 2, 4], "b": [2, 3, 3], "c": [3, 1, 2]}),
    "nemenyi": lambda: fastevals.nemenyi_test({ODD: [1, 2, 4], "b": [2, 3, 3], "c": [3, 1, 2]}),
    "cochran": lambda: fastevals.cochran_q_test(Y, {ODD: Y[::-1], "b": Y}),
    "mcnemar": lambda: fastevals.mcnemar_test(Y, Y[::-1], Y[1:] + Y[:1], names=(ODD, "b")),
    "paired t": lambda: fastevals.paired_t_test(A, B, names=(ODD, "b")),
    "permutation": lambda: fastevals.permutation_test(Y, A, B, "roc_auc", names=(ODD, "b"), n_resamples=99, rng=0),
    "pairs": lambda: fastevals.pairwise_tests({ODD: A, "b": B}),
    "calibration": lambda: fastevals.calibration(Y, {ODD: A, "b": B}),
    "calibration of segments": lambda: fastevals.calibration(
        Y, A, by=[ODD if each == "u" else each for each in GROUPS]
    ),
    "delong": lambda: fastevals.delong(Y, {ODD: A, "b": B}),
    "models": lambda: fastevals.batch_metrics(Y, {ODD: A, "b": B}, "roc_auc"),
    "comparison": lambda: fastevals.compare_rankings(Y, {ODD: A, "b": B}, n_resamples=99, rng=0),
    "metrics": lambda: fastevals.bootstrap(CURVES, {ODD: lambda counts: 1.0}, n_resamples=99, rng=0),
    "groups": lambda: fastevals.grouped_metrics(Y, A, [ODD if each == "u" else each for each in GROUPS], "roc_auc"),
}


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_printed_names_are_printable(name: str) -> None:
    result = PRINTED[name]()
    values = [result, *(result.values() if isinstance(result, dict) or hasattr(result, "values") else [])]
    for text in (f(each) for f in (str, repr) for each in values if isinstance(each, Frozen)):
        assert text.replace("\n", "").isprintable(), text
        assert "\nrow" not in text
