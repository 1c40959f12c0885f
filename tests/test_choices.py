"""Choices of an argument: the annotation, the docstring and the error agree."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pyarrow.parquet as pq
import pytest
from matplotlib import pyplot

import fastevals as fe
from fastevals import scale
from fastevals.measure.curves.registry import CURVES
from fastevals.scale import ClassScoresSummary, dask, parquet
from fastevals.show import plots
from tests.scale.local_frames import LOCAL, rows
from tests.scale.test_engines import frame
from tests.test_switches import CALLS as SWITCHED
from tests.test_switches import RANKING, TABLE, TWO, S, T, X, Y, certified, mean

LABELS = {"y": Y, "a": Y, "b": 1 - Y}
FOLDS = fe.RankingFolds([RANKING, RANKING])
CLASSES = fe.ClassRankings([0, 1], [[0.9, 0.1], [0.2, 0.8]])
MATRIX = fe.ConfusionMatrix([[3, 1], [2, 4]])
DELONG = fe.delong(Y, TWO)
ERRORS = [[0.1, 0.2], [0.2, 0.3], [0.15, 0.1], [0.2, 0.25], [0.3, 0.1]]
FRAME = frame(rows(60), cuts=(30,))
OF_FRAMES: dict[str, Any] = {"label": "y", "score": "p"}

CALLS: dict[str, Callable[..., Any]] = SWITCHED | {
    "BiasVarianceSummary.__init__": lambda **o: fe.BiasVarianceSummary([0, 1], **{"loss": "zero_one"} | o),
    "CalibrationBins.from_counts": lambda **o: fe.CalibrationBins.from_counts(
        fe.Ranking(Y, [0.1, 0.4, 0.3, 0.2, 0.6, 0.8]).counts, **o
    ),
    "CalibrationCurve.from_counts": lambda **o: fe.CalibrationCurve.from_counts(RANKING.counts, **o),
    "ClassRankings.average_precision": lambda **o: CLASSES.average_precision(**o),
    "ClassRankings.calibration_error": lambda **o: CLASSES.calibration_error(**o),
    **{
        f"ClassRankings.{name}_curve": lambda name=name, **o: getattr(CLASSES, f"{name}_curve")(**o)
        for name in ("calibration", "det", "gain", "lift", "precision_recall", "roc")
    },
    "ClassRankings.roc_auc": lambda **o: CLASSES.roc_auc(**o),
    "CertifiedRanking.pr_auc": lambda **o: certified().pr_auc(**o),
    "ConfusionMatrix.diagnostic_odds_ratio": lambda **o: MATRIX.diagnostic_odds_ratio(**o),
    "ConfusionMatrix.f_score": lambda **o: MATRIX.f_score(**o),
    "ConfusionMatrix.fowlkes_mallows": lambda **o: MATRIX.fowlkes_mallows(**o),
    "ConfusionMatrix.jaccard": lambda **o: MATRIX.jaccard(**o),
    "ConfusionMatrix.markedness": lambda **o: MATRIX.markedness(**o),
    "ConfusionMatrix.negative_likelihood_ratio": lambda **o: MATRIX.negative_likelihood_ratio(**o),
    "ConfusionMatrix.negative_predictive_value": lambda **o: MATRIX.negative_predictive_value(**o),
    "ConfusionMatrix.positive_likelihood_ratio": lambda **o: MATRIX.positive_likelihood_ratio(**o),
    "ConfusionMatrix.cohen_kappa": lambda **o: MATRIX.cohen_kappa(**o),
    "ConfusionMatrix.precision": lambda **o: MATRIX.precision(**o),
    "ConfusionMatrix.prediction_rate": lambda **o: MATRIX.prediction_rate(**o),
    "ConfusionMatrix.prevalence": lambda **o: MATRIX.prevalence(**o),
    "ConfusionMatrix.recall": lambda **o: MATRIX.recall(**o),
    "ConfusionMatrix.specificity": lambda **o: MATRIX.specificity(**o),
    "DelongResult.confidence_interval": lambda **o: DELONG.confidence_interval(**o),
    "DelongResult.contrast": lambda **o: DELONG.contrast([1, -1], **o),
    "GroupSummary.auc": lambda **o: LOCAL.group_summary(FRAME, **OF_FRAMES, by="day").auc(**o),
    "equivalence_test": lambda **o: fe.equivalence_test([1, 2, 3], [1, 2, 4], margin=1, **o),
    "plan_comparison": lambda **o: fe.plan_comparison(
        fe.Results([[[0.1, 0.3], [0.2, 0.5]]], n_train=90, n_test=10)
        if o.get("test") == "corrected-resampled-t"
        else [[3, 1], [2, 4], [5, 3]],
        effect=0.9,
        n_resamples=100,
        **o,
    ),
    "skillings_mack_test": lambda **o: fe.skillings_mack_test(TABLE, **o),
    "PairwiseResult.matrix": lambda **o: fe.pairwise_tests(TABLE, test="sign").matrix(**o),
    "BaseRanking.brier_decomposition": lambda **o: RANKING.brier_decomposition(3, **o),
    "BaseRanking.calibration_curve": lambda **o: RANKING.calibration_curve(**o),
    "BaseRanking.expected_calibration_error": lambda **o: RANKING.expected_calibration_error(**o),
    "BaseRanking.pr_auc": lambda **o: RANKING.pr_auc(**o),
    "Result.to_frame": lambda **o: MATRIX.to_frame(**o),
    **{
        f"RankingFolds.{name}": lambda name=name, **o: getattr(FOLDS, name)(**o)
        for name in (f"{name}_curve" for name, entry in CURVES.items() if entry.averaged)
    },
    "reliability_band": lambda **o: fe.reliability_band(RANKING, **o),
    "adjust_pvalues": lambda **o: fe.adjust_pvalues([0.1, 0.2], **o),
    "bayes_bradley_terry": lambda **o: fe.bayes_bradley_terry(TABLE, higher_is_better=True, n_draws=2000, rng=0, **o),
    "bayes_signed_rank": lambda **o: fe.bayes_signed_rank(
        TABLE, "a", "b", rope=0.01, higher_is_better=True, n_draws=9, rng=0, **o
    ),
    "bias_variance": lambda **o: fe.bias_variance([0, 1], [[0, 1], [1, 1]], **{"loss": "zero_one"} | o),
    "bias_variance_over_training_sets": lambda **o: fe.bias_variance_over_training_sets(
        mean, X, T, X, T, n_sets=2, **o
    ),
    "calibration": lambda **o: fe.calibration(Y, [0.1, 0.4, 0.3, 0.2, 0.6, 0.8], **o),
    "binomial_error_test": lambda **o: fe.binomial_error_test(0.1, 0.2, 10, **o),
    "bootstrap_statistic": lambda **o: fe.bootstrap_statistic(S, np.mean, n_resamples=9, rng=0, **o),
    "compare": lambda **o: (
        fe.compare({"y": Y, "a": Y, "b": 1 - Y}, label="y", pred=["a", "b"], **o)
        if "method" in o
        else fe.compare(TABLE, **o)
    ),
    "gate": lambda **o: fe.gate({"y": Y, "s": S}, "roc_auc >= 0.5", label="y", score="s", n_resamples=99, **o),
    "corrected_resampled_t_test": lambda **o: fe.corrected_resampled_t_test(S, S[::-1], n_train=8, n_test=2, **o),
    "delong": lambda **o: fe.delong(fe.ClassRankings([0, 1, 2, 0, 1, 2], np.eye(3)[[0, 1, 2, 1, 1, 0]]), **o),
    "delong_test": lambda **o: fe.delong_test(Y, S, S[::-1], **o),
    "confidence_sequence": lambda **o: fe.confidence_sequence([], **o),
    "delong_test_unpaired": lambda **o: fe.delong_test_unpaired(RANKING, RANKING, **o),
    "error_rate_t_test": lambda **o: fe.error_rate_t_test(S, 0.2, **o),
    "Results.__init__": lambda **o: fe.Results(TABLE, **o),
    "ErrorCurve.one_standard_error": lambda **o: fe.validation_curve(
        lambda X, y, new, k: [k] * len(new),
        X,
        T,
        fe.KFold(2, rng=0),
        "mean_squared_error",
        parameter="k",
        values=[0, 1],
    ).one_standard_error(**o),
    "estimate_error": lambda **o: fe.estimate_error(mean, X, T, fe.BootstrapSplit(3, rng=0), "mean_squared_error", **o),
    "five_by_two_cv_t_test": lambda **o: fe.five_by_two_cv_t_test(ERRORS, np.multiply(ERRORS, 2), **o),
    "five_by_two_cv_f_test": lambda **o: fe.five_by_two_cv_f_test(ERRORS, np.multiply(ERRORS, 2), **o),
    "mcnemar_test_of_table": lambda **o: fe.mcnemar_test_of_table([[5, 2], [3, 4]], **o),
    "most_confused": lambda **o: fe.most_confused(MATRIX, **o),
    "paired_t_test": lambda **o: fe.paired_t_test(S, T**2, **o),
    "pairwise_tests": lambda **o: fe.pairwise_tests(TABLE, **o),
    "proportion_interval": lambda **o: fe.proportion_interval(MATRIX, **{"metric": "recall", "average": None} | o),
    "sign_test": lambda **o: fe.sign_test(S, T, **o),
    "plots.plot_confusion_matrix": lambda **o: plots.plot_confusion_matrix(MATRIX, **o),
    "plots.plot_critical_difference": lambda **o: plots.plot_critical_difference(fe.rank_comparison_test(TABLE), **o),
    "plots.plot_performance_profile": lambda **o: plots.plot_performance_profile(TABLE, **o),
    "plots.plot_rank_distribution": lambda **o: plots.plot_rank_distribution(TABLE, **o),
    "plots.plot_estimates": lambda **o: plots.plot_estimates(
        fe.evaluate_splits(T, T + S, fe.KFold(2, rng=0), "mean_squared_error"), **o
    ),
    "parquet.ranking": lambda **o: parquet.ranking("rows.parquet", **OF_FRAMES, **o),
    "parquet.ranking_summary": lambda **o: parquet.ranking_summary("rows.parquet", **OF_FRAMES, **o),
    "ClassScoresSummary.calibration_curve": lambda **o: ClassScoresSummary([0, 1]).calibration_curve(**o),
    "parquet.class_scores_summary": lambda **o: parquet.class_scores_summary(
        "rows.parquet", label="y", probabilities={0: "not_p", 1: "p"}, **o
    ),
    "dask.class_scores_summary": lambda **o: LOCAL.class_scores_summary(
        FRAME, label="y", probabilities={0: "not_p", 1: "p"}, **o
    ),
    "dask.confusion_summary": lambda **o: LOCAL.confusion_summary(FRAME, label="class", pred="guess", **o),
    "dask.target_summary": lambda **o: LOCAL.target_summary(FRAME, target="t", pred="f", **o),
    "dask.group_summary": lambda **o: LOCAL.group_summary(FRAME, **OF_FRAMES, by="day", **o),
    "dask.grouped_auc": lambda **o: LOCAL.grouped_auc(FRAME, **OF_FRAMES, by="day", **o),
    "dask.grouped_metrics": lambda **o: LOCAL.grouped_metrics(FRAME, "roc_auc", **OF_FRAMES, by="day", **o),
    **{
        f"dask.{name}": lambda name=name, **o: getattr(LOCAL, name)(FRAME, **OF_FRAMES, **o)
        for name in ("probability_summary", "ranking", "ranking_summary", "summarize")
    },
}


@pytest.fixture(autouse=True)
def rows_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(FRAME.tables[0], "rows.parquet")


def public() -> Iterator[tuple[str, Any, str]]:
    """Yield the functions and methods, each once, with their docstrings."""
    seen = set()
    for place, before in ((fe, ""), (plots, "plots."), (scale, ""), (parquet, "parquet."), (dask, "dask.")):
        for name in place.__all__ if hasattr(place, "__all__") else dir(place):
            value = getattr(place, name)
            members = [(f"{before}{name}", value, inspect.getdoc(value) or "")]
            if inspect.isclass(value):
                members = [
                    (f"{each.__name__}.{key}", call, inspect.getdoc(value if key == "__init__" else call) or "")
                    for each in value.__mro__
                    for key, call in vars(each).items()
                    if (key == "__init__" and "__dataclass_fields__" not in vars(each)) or not key.startswith("_")
                ]
            for shown, call, text in members:
                call = inspect.unwrap(getattr(call, "__func__", call))
                if inspect.isfunction(call) and call not in seen:
                    seen.add(call)
                    yield shown, call, text


def literals(annotation: Any) -> set[Any]:
    """Return the values of the literals in an annotation."""
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    return set().union(*map(literals, get_args(annotation)))


def choices() -> Iterator[tuple[str, str, set[Any], str]]:
    """Yield calls, their arguments with choices, the choices, and the docstring's choices."""
    for shown, call, text in public():
        annotated = [each for each in inspect.signature(call).parameters.values() if isinstance(each.annotation, str)]
        of_options = sys.modules.get(f"{call.__module__.rpartition('.')[0]}.options", call)  # calls made from options
        names = {**vars(of_options), **call.__globals__}
        for each in annotated:
            said = re.search(rf"^(?:\w+, )*{each.name}(?:, \w+)* : (\{{.*?\}})", text, re.MULTILINE)
            told: set[Any] = set()
            with contextlib.suppress(NameError):  # some names are imported by type checkers only
                told = literals(eval(each.annotation, names))
            if said or told:
                yield shown, each.name, told, said[1] if said else ""


ALL = {
    (shown, name): (told, said)
    for shown, name, told, said in choices()
    if not shown.startswith("ProbabilitySummary.")  # its error says which bins it keeps
}


def test_there_is_a_call_for_each() -> None:
    assert {shown for shown, _ in ALL} - set(CALLS) == set()


@pytest.mark.parametrize(("call", "name"), ALL)
def test_annotation_docstring_and_error_say_the_same(call: str, name: str) -> None:
    told, said = ALL[call, name]
    assert told, "no Literal"
    if said:
        assert ast.literal_eval(said) - {None} == told - {None}
    with pytest.raises(ValueError, match=f"^{name} must be one of .*; got 'no such'") as caught:
        CALLS[call](**{name: "no such"})
    listed = re.findall(r"'[^']+'", str(caught.value).partition("; got")[0])
    assert {each.strip("'") for each in listed} == told - {None}
    pyplot.close("all")


@pytest.mark.slow
@pytest.mark.parametrize(("call", "name"), ALL)
def test_each_choice_is_one(call: str, name: str) -> None:
    for value in ALL[call, name][0]:
        refusal = ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                CALLS[call](**{name: value})
            except ValueError as error:  # says which arguments exclude it
                refusal = str(error)
        assert "must be one of" not in refusal
    pyplot.close("all")
