"""Every switch of a public call accepts only True or False."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot

import fastevals as fe
from fastevals import scale
from fastevals.show import plots

Y, S = np.array([0, 1, 1, 0, 1, 0]), np.array([0.1, 0.9, 0.4, 0.35, 0.8, 0.2])
T = S + 1
X = S[:, None]
TWO = {"a": S, "b": S[::-1]}
TABLE = {"a": S, "b": S[::-1], "c": S**2}
RANKING = fe.Ranking(Y, S)
CURVE = RANKING.cost_curve()
FEW: dict[str, Any] = {"n_resamples": 9, "rng": 0}


def mean(X: Any, y: Any, X_new: Any, **_: Any) -> Any:
    return np.full(len(X_new), y.mean())


def certified() -> Any:
    """Return a ranking from counts that are in doubt."""
    grid = scale.ScoreGrid.fit(Y, S, n_cells=2)
    summary = scale.RankingSummary(grid=grid)
    summary.update(Y, S)
    return summary.ranking()


CALLS: dict[str, Callable[..., Any]] = {
    "BootstrapSplit.__init__": lambda **o: fe.BootstrapSplit(3, **o),
    "Calibration.hosmer_lemeshow": lambda **o: fe.calibration(Y, [0.1, 0.4, 0.3, 0.2, 0.6, 0.8]).hosmer_lemeshow(**o),
    "ClassRankings.det_curve": lambda **o: fe.ClassRankings([0, 1], [[0.9, 0.1], [0.2, 0.8]]).det_curve(**o),
    "ClassRankings.roc_curve": lambda **o: fe.ClassRankings([0, 1], [[0.9, 0.1], [0.2, 0.8]]).roc_curve(**o),
    "ConfusionMatrix.cost": lambda **o: fe.ConfusionMatrix([[3, 1], [2, 4]]).cost([[0, 1], [1, 0]], **o),
    "CostCurve.over_prior": lambda **o: CURVE.over_prior(**o),
    "DetCurve.__init__": lambda **o: fe.DetCurve(RANKING.counts, **o),
    "HoldOut.__init__": lambda **o: fe.HoldOut(0.3, **o),
    "KFold.__init__": lambda **o: fe.KFold(2, **o),
    "Results.__init__": lambda **o: fe.Results(TABLE, **o),
    "RocCurve.__init__": lambda **o: fe.RocCurve(RANKING.counts, **o),
    "confidence_sequence": lambda **o: fe.confidence_sequence({"n_samples": [9], "value": [0], "variance": [1]}, **o),
    "gate": lambda **o: fe.gate({"y": Y, "s": S}, "roc_auc >= 0.1", label="y", score="s", **FEW, **o),
    "bootstrap": lambda **o: fe.bootstrap(RANKING, "roc_auc", **FEW, **o),
    "bayes_bradley_terry": lambda **o: fe.bayes_bradley_terry(TABLE, n_draws=2000, rng=0, **o),
    "bayes_correlated_t": lambda **o: fe.bayes_correlated_t(TWO, rope=0, n_train=9, n_test=1, **o),
    "bayes_hierarchical": lambda **o: fe.bayes_hierarchical(
        np.random.default_rng(0).random((3, 2, 5)), rope=0, n_train=9, n_test=1, n_draws=2000, rng=0, **o
    ),
    "bayes_signed_rank": lambda **o: fe.bayes_signed_rank(TWO, rope=0, n_draws=9, rng=0, **o),
    "bias_variance": lambda **o: fe.bias_variance(T, [T, T], **o),
    "batch_auc": lambda **o: fe.batch_auc(Y, TWO, **o),
    "bias_variance_curve": lambda **o: fe.bias_variance_curve(
        mean, X, T, X, T, parameter="p", values=[1, 2], n_sets=2, **o
    ),
    "bias_variance_over_training_sets": lambda **o: fe.bias_variance_over_training_sets(
        mean, X, T, X, T, n_sets=2, **o
    ),
    "bonferroni_dunn_test": lambda **o: fe.bonferroni_dunn_test(TABLE, control="a", **o),
    "bbc_cv": lambda **o: fe.bbc_cv(Y, TWO, "roc_auc", **FEW, **o),
    "bootstrap_statistic": lambda **o: fe.bootstrap_statistic(S, np.mean, **FEW, **o),
    "bootstrap_unpaired": lambda **o: fe.bootstrap_unpaired(RANKING, RANKING, "roc_auc", **FEW, **o),
    "compare": lambda **o: fe.compare(TABLE, **o),
    "compare_predictions": lambda **o: fe.compare_predictions(Y, {"a": Y, "b": 1 - Y}, metrics="accuracy", **FEW, **o),
    "compare_query_metrics": lambda **o: fe.compare_query_metrics(Y, TWO, [1, 1, 1, 2, 2, 2], "mrr", **FEW, **o),
    "compare_rankings": lambda **o: fe.compare_rankings(Y, TWO, **FEW, **o),
    "confidence_band": lambda **o: fe.confidence_band(RANKING, **FEW, **o),
    "reliability_band": lambda **o: fe.reliability_band(RANKING, kind="consistency", n_resamples=100, rng=0, **o),
    "estimate_error": lambda **o: fe.estimate_error(mean, X, T, fe.KFold(2, rng=0), "mean_squared_error", **o),
    "evaluate_splits": lambda **o: fe.evaluate_splits(T, T, fe.KFold(2, rng=0), "mean_squared_error", **o),
    "friedman_test": lambda **o: fe.friedman_test(TABLE, **o),
    "grouped_auc": lambda **o: fe.grouped_auc(Y, S, [1, 1, 1, 2, 2, 2], **o),
    "learning_curve": lambda **o: fe.learning_curve(mean, X, T, fe.KFold(2, rng=0), "mean_squared_error", **o),
    "mcnemar_test": lambda **o: fe.mcnemar_test(Y, Y, 1 - Y, **o),
    "nemenyi_test": lambda **o: fe.nemenyi_test(TABLE, **o),
    "paired_permutation_test": lambda **o: fe.paired_permutation_test(S, T, **FEW, **o),
    "pairwise_mcnemar_tests": lambda **o: fe.pairwise_mcnemar_tests(Y, {"a": Y, "b": 1 - Y}, **o),
    "permutation_test": lambda **o: fe.permutation_test(Y, S, S[::-1], "roc_auc", **FEW, **o),
    "plan_sample_size": lambda **o: fe.plan_sample_size(
        (Y, TWO), "roc_auc", reference="a", effect=0.0, margin=0.1, **o
    ),
    "class_costs": lambda **o: fe.class_costs(Y, np.column_stack([1 - S, S]), **{**FEW, **o}),
    "class_thresholds": lambda **o: fe.class_thresholds(
        [0, 1] * 5, np.column_stack([np.arange(1, 11), np.arange(9, -1, -1)]) / 10, n_folds=2, **{**FEW, **o}
    ),
    "row_costs": lambda **o: fe.row_costs(Y, S / 8, cost_fn=[1, 2, 3, 4, 5, 6], **FEW, **o),
    "query_metrics": lambda **o: fe.query_metrics(Y, S, [1, 1, 1, 2, 2, 2], "mrr", **o),
    "rank_comparison_test": lambda **o: fe.rank_comparison_test(TABLE, **o),
    "report": lambda **o: fe.report({"y": Y, "s": S}, label="y", score="s", n_resamples=0, **o),
    "select_model": lambda **o: fe.select_model(mean, X, T, "mean_squared_error", grid={"p": [1]}, rng=0, **o),
    "validation_curve": lambda **o: fe.validation_curve(
        mean, X, T, fe.KFold(2, rng=0), "mean_squared_error", parameter="p", values=[1, 2], **o
    ),
    "corrected_resampled_t_test": lambda **o: fe.corrected_resampled_t_test(S, T, n_train=5, n_test=1, **o),
    "skillings_mack_test": lambda **o: fe.skillings_mack_test(TABLE, **o),
    "wilcoxon_test": lambda **o: fe.wilcoxon_test(S, T, **o),
    "plots.plot_comparison_matrix": lambda **o: plots.plot_comparison_matrix(TABLE, **o),
    "plots.plot_critical_difference": lambda **o: plots.plot_critical_difference(
        fe.pairwise_tests(TABLE), results=TABLE, **o
    ),
    "plots.plot_performance_profile": lambda **o: plots.plot_performance_profile(TABLE, **o),
    "plots.plot_rank_distribution": lambda **o: plots.plot_rank_distribution(TABLE, **o),
    "plots.plot_cost": lambda **o: plots.plot_cost(CURVE, **o),
    "plots.plot_det": lambda **o: plots.plot_det(RANKING.det_curve(), **o),
    "plots.plot_precision_recall": lambda **o: plots.plot_precision_recall(RANKING.precision_recall_curve(), **o),
    "plots.plot_roc": lambda **o: plots.plot_roc(RANKING.roc_curve(), **o),
}
METHODS = {
    "best_threshold": ("maximize", ("f1",)),
    "roc_auc": ("standardize", ()),
    "equal_error_rate": ("on_hull", ()),
    "roc_curve": ("drop_intermediate", ()),
    "det_curve": ("drop_intermediate", ()),
}
FIELDS = {
    "rejected", "exact", "observed", "maximize", "normalize", "is_weighted", "greater_is_better", "of_wins"
}  # fmt: skip  # methods of results


def switches() -> Iterator[tuple[str, str]]:
    """Yield the public calls and methods with the names of their switches."""
    for place, before in ((fe, ""), (plots, "plots.")):
        for name in place.__all__:
            value = getattr(place, name)
            members: list[tuple[str, Any]] = [(f"{before}{name}", value)]
            if inspect.isclass(value):
                members = [(f"{name}.{each}", inspect.getattr_static(value, each)) for each in dir(value)]
                members = [(each, call) for each, call in members if each.endswith("__init__") or "._" not in each]
            for shown, call in members:
                call = inspect.unwrap(getattr(call, "__func__", call))
                if inspect.isfunction(call):
                    for each in inspect.signature(call).parameters.values():
                        of_switch = "bool" in str(each.annotation) and "NDArray" not in str(each.annotation)
                        if of_switch and not each.name.startswith("_"):
                            yield shown, each.name


ALL = list(switches())
BAD = [2, 1.0, "no", [], np.array([True])]


@pytest.mark.parametrize(("call", "name"), [each for each in ALL if each[0] in CALLS])
def test_what_is_no_switch_is_an_error(call: str, name: str) -> None:
    for value in BAD:
        with pytest.raises(ValueError, match=f"^{name} must be True or False, got "):
            CALLS[call](**{name: value})
    if call.startswith("plots."):
        pyplot.close("all")


@pytest.mark.parametrize("kind", ["rows", "in doubt", "folds"])
@pytest.mark.parametrize("method", METHODS)
def test_what_is_no_switch_of_a_ranking_is_an_error(method: str, kind: str) -> None:
    rankings = {"rows": RANKING, "in doubt": certified(), "folds": fe.RankingFolds([RANKING, RANKING]).pool()}
    name, arguments = METHODS[method]
    for value in BAD:
        with pytest.raises(ValueError, match=f"^{name} must be True or False, got "):
            getattr(rankings[kind], method)(*arguments, **{name: value})
    getattr(rankings[kind], method)(*arguments, **{name: np.True_})


def test_all_switches_are_tried() -> None:
    others = {(call, name) for call, name in ALL if call not in CALLS}
    methods = {(f"Ranking.{method}", name) for method, (name, _) in METHODS.items()}
    made = {(call, name) for call, name in others if name in FIELDS and call.endswith((".__init__", ".of_envelope"))}
    assert others - made - methods == {("BiasVarianceSummary.result", "per_sample")}  # tested on the summary
    with pytest.raises(ValueError, match="per_sample must be True or False"):
        fe.BiasVarianceSummary(T, loss="squared").update([T]).result(per_sample=2)
