"""The table of figures, with the case, the peer and the bar of each figure."""

from __future__ import annotations

from dataclasses import dataclass

from benches.bias_variance import PART
from benches.drop_in import ROW_METRICS, TARGET_METRICS
from benches.estimates import HOLD_OUT_LOOPS, HOLD_OUTS
from benches.many import GROUPED
from benches.resampling import LOOPS, REPLICATES
from benches.significance import FLIP_LOOPS, FLIPS, PAIRS, SINGLE_PAIRS
from fastevals.show.report.intervals import PROBABILITY_COLUMNS

M = 1_000_000

OF_LABELS = {
    "f1": "f1_score",
    "matrix": "confusion_matrix",
    "each": "precision_recall_fscore_support",
    "report": "classification_report",
}

TITLES = {
    "roc_auc": "AUC, validation included",
    "weighted_roc_auc": "weighted AUC",
    "average_precision": "average precision",
    "roc_curve": "ROC curve, all points",
    "precision_recall_curve": "P-R curve",
    "best_f1": "best F1 threshold",
    "everything": "AUC, AP, ROC, P-R, EER, BEP, KS, best F1 from one Ranking",
    "weighted_roc_auc_threads": "weighted AUC",
    "roc_dominates": "whether one ROC curve encloses another",
    "roc_crossings": "where two ROC curves cross",
    "cost_area": "cost curve with envelope and area, after the sweep",
    "brier_decomposition": "isotonic fit and decomposition of the Brier score, after the sweep",
    "consistency_band": "consistency band of the reliability curve, 1,000 draws of labels, after the sweep",
    "row_costs": "total costs by three rules, amounts that differ by row, with intervals",
    "four_curves": "ROC, P-R, DET and gain curve from one Ranking, all points",
    "regression": "MSE, RMSE, MAE, median AE, MAPE, R2, pinball in one call",
    "picture_roc": "picture of a ROC curve, after the sweep",
    "picture_precision_recall": "picture of a P-R curve",
    "picture_det": "picture of a DET curve",
    "picture_gain": "picture of a gain curve",
    "picture_lift": "picture of a lift curve",
    "picture_cost": "picture of a cost curve",
    "picture_cost_over_prior": "picture of a cost curve over the prior",
    "picture_cost_difference": "picture of the difference of two cost curves",
    "picture_calibration": "picture of a calibration curve",
    "picture_reliability": "picture of a reliability curve",
    "picture_decision": "picture of a decision curve",
    "bootstrap_auc": "bootstrap of AUC, 1,000 replicates",
    "bootstrap_six": "bootstrap of AUC, AP, KS, EER, best F1 and cost area, 500 replicates",
    "bootstrap_bca": "BCa intervals of AUC and AP, 1,000 replicates",
    "bootstrap_report": "percentile intervals of the report's 14 metrics, 1,999 replicates",
    "bootstrap_report_bca": "BCa intervals of the report's 14 metrics, 1,999 replicates",
    "bootstrap_brier_score": "bootstrap of the Brier score, 200 replicates",
    "bootstrap_log_loss": "bootstrap of the log loss, 200 replicates",
    "bootstrap_expected_calibration_error": "bootstrap of the expected calibration error, 200 replicates",
    "bootstrap_cells": "precision, recall, F1, MCC at a fixed threshold, 10,000 replicates",
    "bootstrap_memory": "memory of a bootstrap of AUC and AP, per row and thread",
    "paired_replicate": "250 paired replicates of two models' AUCs",
    "delong_test": "DeLong's test of two models",
    "delong_test_clustered": "DeLong's test of two models, rows in 10,000 clusters",
    "score_drift": "drift of scores between two samples: PSI, KS and Wasserstein distances, p-values",
    "pairwise_mcnemar": "McNemar's exact tests of all 19,900 pairs of 200 models",
    "permutation_accuracy": "permutation test of the accuracies of two models, 10,000 permutations",
    "permutation_f1": "permutation test of the F1 scores of two models, 10,000 permutations",
    "sign_flips": "permutation test of paired differences, 10,000 permutations",
    "friedman": "Friedman's test of 50 algorithms, one result per row",
    "paired_t_test": "paired t-test",
    "wilcoxon_test": "Wilcoxon's signed-rank test with an interval for the pseudomedian",
    "wilcoxon_pairs": "Wilcoxon's tests of all pairs of models, one difference per row",
    "stratified_folds": "assignments of stratified 10-fold cross-validation, repeated 10 times",
    "hold_outs": "mean squared error over 10,000 hold-outs of 392 rows, including the time to draw them",
    "bias_variance": "bias and variance of 200 models",
    "bias_variance_classes": "bias and variance of 200 models, 0-1 loss, 10 classes",
    "bias_variance_memory": "extra memory for bias and variance of 200 models",
    "confusion_matrix": "confusion matrix, 10 classes",
    **{
        f"drop_in_{name}": f"metrics.{function}"
        for name, function in {
            "roc_auc": "roc_auc_score",
            "average_precision": "average_precision_score",
            "roc_curve": "roc_curve",
            "precision_recall_curve": "precision_recall_curve",
            "ovr": 'roc_auc_score(multi_class="ovr"), 10 classes',
            "ovo": 'roc_auc_score(multi_class="ovo"), 10 classes',
            "ndcg": "ndcg_score, 10 documents per row",
            "dcg": "dcg_score, 10 documents per row",
        }.items()
    },
    "drop_in_f1_at_thresholds": "metrics.metric_at_thresholds with f1_score, all thresholds",
    **{f"drop_in_{name}": f"metrics.{title}" for name, (_, title) in ROW_METRICS.items()},
    **{f"drop_in_{name}": f"metrics.{function}, 10 classes" for name, function in OF_LABELS.items()},
    **{f"drop_in_{name}": f"metrics.{name}" for name in TARGET_METRICS},
    "search_roc_auc": "100 calls of scikit-learn's AUC scorer under metrics.in_place(): 20 candidates, 5 folds",
    "small_roc_auc": "200 calls of metrics.roc_auc_score on 100 rows",
    "small_f1": "200 calls of metrics.f1_score on 100 rows",
    "batch_auc": "AUCs of 200 models",
    "compare_groups": "AUCs of two models compared in 10,000 groups",
    "grouped_auc_many": "AUCs of 10,000 groups, rows in any order",
    "grouped_auc_most": "AUCs of 200,000 groups, rows in any order",
    "grouped_auc_polars": "AUCs of 10,000 groups in a group_by of Polars",
    **{f"grouped_{name}": f"{name} of 10,000 groups" for names in GROUPED.values() for name in names},
    "queries": "nDCG, MAP, MRR and recall at 1, 5, 10 and 100, queries of 100 documents",
    "shuffled_queries": "nDCG, MAP, MRR and recall at 1, 5, 10 and 100, queries of unequal length, rows in any order",
    "grouped_six": "AUC, AP, KS, EER, Brier score and log loss of 200,000 groups",
    "class_metrics": "macro AUC, log loss, Brier, top-3 accuracy and macro F1 of 10 classes",
    "class_comparison": "these of 3 models, 1,999 replicates of rows, with paired differences",
    "class_comparison_memory": "memory of this comparison, in bytes per byte of input",
    "class_aucs": "AUC of each of 1,000 classes, float32",
    "one_vs_one": "weighted AUCs of all pairs of 100 classes",
    "pooled_roc": "pooled ROC curve of 10 folds",
    "labels_roc_auc": "AUC, named labels",
    "labels_matrix": "confusion matrix of 10 named classes",
    "labels_grouped_auc": "AUCs of 10,000 named groups",
    "labels_report_by": "report by 10 named values, no intervals",
    "labels_zero_one": "bias and variance of 5 models, 0-1 loss, 10 named classes",
    "many_classes": "confusion matrix of 1,000 classes",
    "accuracy": "metrics.accuracy_score",
    "fold_matrices": "confusion matrices of 1,000 folds, 10 classes",
    "import": "import, whole process",
    "first_auc": "fresh process: import and one AUC of 1,000 rows",
    "cold_auc": "fresh process: import and one AUC of 1,000 rows, nothing compiled yet",
    "report": "report of 3 models, 14 metrics, 1,999 replicates",
    "report_by": "report of 3 models by 10 folds",
    "report_values": "report of 3 models, no intervals",
    "report_memory": "peak memory of a report of 3 models, no intervals",
    "report_page": "page of a report of 3 models, after the report",
    "report_page_size": "size of this page",
    "cold_report": "first report, nothing compiled yet",
    "memory": "extra memory of an AUC",
    "summary_update": "summary of rows in 2^18 ranges, validation included",
    "class_summary_update": "summary of probabilities of 10 classes, validation included",
    "summary_bootstrap": "bootstrap of a summary: AUC, AP, KS, 10,000 replicates",
    "summary_merge": "merge of two summaries",
    "summary_bytes": "conversion of a summary to bytes",
    "summary_size": "size of a summary",
    "files_certified": "AUC of a Parquet file, certified",
    "files_exact": "AUC of a Parquet file, exact",
    "files_report": "report of a Parquet file, 2 models",
    "files_gate": "gate of a Parquet file, 2 models, 4 rules",
    "summaries_gate": "gate of two summaries, 4 rules, in a warm process",
    "files_certified_memory": "memory of a certified AUC of a Parquet file, minus the memory of a scan",
    "files_exact_memory": "memory of an exact AUC of a Parquet file",
    "files_report_memory": "memory of a report of a Parquet file, 2 models",
    "spark_ranking": "Spark: AUC, AP, KS, best F1 with intervals",
    "spark_scan": "Spark: AUC, AP, KS, best F1 with intervals",
    "spark_hand_over": "Spark: AUC, AP, KS, best F1 with intervals",
    "spark_groups": "Spark: AUCs of groups of 20 rows with intervals",
    "dask_workers": "Dask: ranking, 64 partitions, 2 workers",
    "dask_files": "Dask: ranking, 64 partitions, 2 workers",
    "merge_parts": "merge of 10,000 summaries of 10,000 rows each",
}


# Kinds of scores that do not slow down a sort by value.
HARD_SCORES = ("scores near 1", "scores in two clusters")
OTHER_SCORES = ("scores of 2 decimals", "scores of all sizes", "ascending scores")
# Kinds of scores whose summary may take longer, with the bar; and kinds that differ only in their distribution.
TIED = {"scores of 3 decimals": 1.2, "half of one score": 1.5}
SPREAD = ("uniform scores", "scores in tight clusters")
# Kinds of names, with the bar against codes, or against factorizing first.
NAMED = ("roc_auc", "matrix", "grouped_auc", "report_by", "zero_one")
NAMED_BARS = {
    "categories": 1.2,
    "Arrow dictionaries": 1.2,
    "strings": 1.5,
    "strings as objects": 1.5,
    "Arrow strings": 1.5,
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A ratio to measure: the time of fastevals divided by the time of a peer.

    Attributes
    ----------
    case : str
        Name in `CASES` of `benches.race`.
    peer : str, optional
        A library of the case, or one of `YARDSTICKS`. Without a peer the figure is a plain number.
    rows : int
        Rows of the data; 0 if there are none.
    at_most, at_least : float, optional
        The bar: an upper bound of the ratio, or a lower bound of its inverse (the speed-up).
    kind : str
        Kind of the data (see `Data`).
    threads : int, optional
        Threads of fastevals; by default all it may use. Peers choose their own number.
    unit : {"x", "s", "B/row"}
        Unit of the figure.
    times : float
        Factor for the peer's time, if one call of fastevals does the work of several calls of the peer.
    is_large : bool
        Whether it takes too long for a default run. Such figures need `FASTEVALS_BENCH_LARGE=1`.
    """

    case: str
    peer: str | None = None
    rows: int = 0
    at_most: float | None = None
    at_least: float | None = None
    kind: str = ""
    threads: int | None = None
    unit: str = "x"
    times: float = 1.0
    is_large: bool = False

    @property
    def name(self) -> str:
        """Name in history and in pytest."""
        rows = f"{self.rows / M:g}M" if self.rows else None
        threads = f"{self.threads}-thread" if self.threads else None
        return "-".join(part for part in (self.case, rows, self.peer, threads, self.kind) if part)

    @property
    def title(self) -> str:
        """Title in the docs."""
        threads = f"{self.threads} thread" if self.threads else None
        return ", ".join(part for part in (TITLES[self.case], self.kind, threads) if part)

    @property
    def is_speed_up(self) -> bool:
        """Whether to write the inverse ratio: yes if the bar bounds it or, without a bar, if the peer is a library."""
        own = self.peer is None or self.peer.startswith("np.")
        return self.at_least is not None or (self.at_most is None and not own)

    @property
    def limit(self) -> float | None:
        """Upper bound of the ratio."""
        return self.at_most if self.at_least is None else 1 / self.at_least


FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure("roc_auc", "np.sort", M, at_most=0.85),
        Figure("roc_auc", "np.sort", 10 * M, at_most=0.85),
        Figure("roc_auc", "np.copy", M),
        Figure("roc_auc", "np.copy", 10 * M),
        Figure("roc_auc", "np.sort", M, threads=1),
        Figure("roc_auc", "np.sort", 10 * M, threads=1),
        *(Figure("roc_auc", "np.sort", 10 * M, at_most=1.3, kind=kind) for kind in HARD_SCORES),
        *(Figure("roc_auc", "np.sort", M, kind=kind) for kind in OTHER_SCORES),
        Figure("roc_auc", "np.sort", M, at_most=1.3, kind="float32 scores"),
        Figure("roc_auc", "np.sort", M, at_most=1.3, kind="int32 scores"),
        Figure("roc_auc", "np.sort", M, at_most=2.0, kind="constant scores"),
        Figure("roc_auc", "scikit-learn", M, at_least=40),
        Figure("roc_auc", "scikit-learn", 10 * M, at_least=45),
        Figure("roc_auc", "polarbearings", M, at_least=11),
        Figure("roc_auc", "polarbearings", 10 * M, at_least=12),
        Figure("roc_auc", "polars-ds", M),
        Figure("roc_auc", "torchmetrics", M),
        Figure("everything", "np.sort", 10 * M, at_most=4.0),
        Figure("everything", "np.copy", 10 * M),
        Figure("everything", "scikit-learn", M),
        Figure("weighted_roc_auc", "np.argsort", 10 * M, at_most=0.6),
        Figure("weighted_roc_auc", "np.bincount twice", M, at_most=3.0, kind="scores of 2 decimals"),
        Figure("weighted_roc_auc_threads", "one thread", M, at_most=1.0, kind="scores of 2 decimals"),
        Figure("weighted_roc_auc", "scikit-learn", M),
        Figure("weighted_roc_auc", "polarbearings", M),
        Figure("average_precision", "scikit-learn", M),
        Figure("average_precision", "polarbearings", M),
        Figure("average_precision", "torchmetrics", M),
        Figure("roc_curve", "scikit-learn", M),
        Figure("roc_curve", "polarbearings", M),
        Figure("precision_recall_curve", "scikit-learn", M),
        Figure("precision_recall_curve", "polarbearings", M),
        Figure("roc_dominates", "np.sort", M, at_most=3.0),
        Figure("roc_crossings", "np.sort", M, at_most=3.0),
        Figure("best_f1", "scikit-learn", M),
        Figure("cost_area", "np.sort", 10 * M, at_most=1.0),
        Figure("cost_area", "scikit-learn", M),
        Figure("brier_decomposition", "np.sort", 10 * M, at_most=0.5),
        Figure("brier_decomposition", "scikit-learn", M),
        Figure("consistency_band", rows=10 * M, at_most=5.0, unit="s"),
        Figure("row_costs", "np.sort", 10 * M, at_most=10.0),
        Figure("four_curves", "np.sort", 10 * M, at_most=3.0),
        Figure("four_curves", "scikit-learn", M),
        Figure("regression", "np.subtract+np.dot", 10 * M, at_most=1.5),
        Figure("regression", "scikit-learn", M),
        Figure("picture_roc", rows=10 * M, at_most=1.0, unit="s"),
        Figure("picture_precision_recall", rows=10 * M, at_most=1.0, unit="s"),
        Figure("picture_det", rows=10 * M, at_most=1.0, unit="s"),
        Figure("picture_gain", rows=10 * M, at_most=1.0, unit="s"),
        Figure("picture_lift", rows=10 * M, at_most=1.0, unit="s"),
        Figure("picture_cost", rows=10 * M, at_most=1.0, unit="s"),
        Figure("picture_cost_over_prior", rows=10 * M, at_most=1.0, unit="s"),
        Figure("picture_cost_difference", rows=10 * M, at_most=1.0, unit="s"),
        Figure("picture_calibration", rows=10 * M, at_most=1.0, unit="s"),
        Figure("picture_reliability", rows=10 * M, at_most=1.0, unit="s"),
        Figure("picture_decision", rows=10 * M, at_most=1.0, unit="s"),
        Figure("bootstrap_auc", "np.sort", M, at_most=0.10, times=REPLICATES),
        Figure("bootstrap_auc", "scikit-learn", M, at_least=400, times=REPLICATES / LOOPS),
        Figure("bootstrap_auc", "one thread", M, at_least=1.8),
        Figure("bootstrap_six", "AUC alone", M, at_most=2.5),
        Figure("bootstrap_bca", "percentile", M, at_most=1.2),
        *(Figure(f"bootstrap_{name}", "AUC alone", M, at_most=2.0) for name in PROBABILITY_COLUMNS),
        Figure("bootstrap_report", "AUC alone", M, at_most=3.0),
        Figure("bootstrap_report_bca", "percentile", M, at_most=1.1),
        Figure("bootstrap_cells", "from_predictions", 10 * M, at_most=0.5),
        Figure("paired_replicate", "two unpaired", M, at_most=2.0),
        Figure("delong_test", "np.sort", M, at_most=8.0),
        Figure("delong_test_clustered", "rows", M, at_most=2.0),
        Figure("score_drift", "np.sort", 10 * M, at_most=2.0, times=2),  # both samples are sorted
        Figure("score_drift", "scipy", M),
        Figure("bootstrap_memory", rows=10 * M, at_most=4, unit="B/row"),
        Figure("pairwise_mcnemar", "np.sum", M // 10, at_most=5.0),
        Figure("pairwise_mcnemar", "one at a time", M // 10, times=PAIRS / SINGLE_PAIRS),
        Figure("permutation_accuracy", "one counting pass", M, at_most=1.5),
        Figure("permutation_accuracy", "from_predictions", M),
        Figure("permutation_f1", "one counting pass", M, at_most=1.5),
        Figure("permutation_f1", "from_predictions", M),
        Figure("sign_flips", "numpy", M // 10, at_least=5, times=FLIPS / FLIP_LOOPS),
        Figure("sign_flips", "numpy, unpacked bits", M // 10, at_least=5, times=FLIPS / FLIP_LOOPS),
        Figure("friedman", "scipy", M // 2, at_least=5),
        Figure("paired_t_test", "scipy", M, at_most=1.0),
        Figure("wilcoxon_test", "scipy", M, at_most=1.2),
        Figure("wilcoxon_pairs", "scipy", M),
        Figure("stratified_folds", "scikit-learn", M, at_least=10),
        Figure("hold_outs", "np.random+np.argsort", at_most=5.0),
        Figure("hold_outs", "scikit-learn", times=HOLD_OUTS / HOLD_OUT_LOOPS),
        Figure("bias_variance", "np.sum", M // 2, at_most=1.5),
        Figure("bias_variance_classes", "np.bincount", M // 2, at_least=15, times=PART),
        Figure("bias_variance_memory", rows=M // 2, at_most=40, unit="B/row"),
        Figure("drop_in_roc_auc", "np.sort", M, at_most=0.9),
        Figure("drop_in_average_precision", "np.sort", M, at_most=0.95),
        Figure("drop_in_roc_curve", "np.sort", M, at_most=1.2),
        Figure("drop_in_precision_recall_curve", "np.sort", M, at_most=1.2),
        Figure("drop_in_roc_auc", "scikit-learn", M, at_least=30),
        Figure("drop_in_average_precision", "scikit-learn", M, at_least=25),
        Figure("drop_in_roc_curve", "scikit-learn", M, at_least=15),
        Figure("drop_in_precision_recall_curve", "scikit-learn", M, at_least=15),
        *(Figure(f"drop_in_{name}", "scikit-learn", 10 * M, at_least=40) for name in OF_LABELS),
        *(Figure(f"drop_in_{name}", "scikit-learn", 10 * M, at_least=4, kind="strings") for name in OF_LABELS),
        *(Figure(f"drop_in_{name}", "scikit-learn", M, at_least=4, kind="strings as objects") for name in OF_LABELS),
        *(Figure(f"drop_in_{name}", "scikit-learn", M, at_least=4) for name in TARGET_METRICS),
        Figure("drop_in_ovr", "scikit-learn", M, at_least=30),
        Figure("drop_in_ovo", "scikit-learn", M),
        Figure("drop_in_f1_at_thresholds", "np.sort", M, at_most=6.0),
        *(
            # Fewer rows where scikit-learn loops over the rows and would take minutes.
            Figure(f"drop_in_{name}", "scikit-learn", M // 50 if name.startswith("label_ranking") else M, at_least=4)
            for name in ROW_METRICS
        ),
        *(Figure(f"drop_in_{name}", "scikit-learn", M, at_least=15) for name in ("ndcg", "dcg")),
        Figure("search_roc_auc", "scikit-learn", M // 5, at_least=10),
        Figure("small_roc_auc", "scikit-learn", at_least=5),
        Figure("small_f1", "scikit-learn", at_least=5),
        Figure("batch_auc", "scikit-learn", M // 10, at_least=40),
        Figure("batch_auc", "one at a time", M // 10, at_least=1.8),
        Figure("compare_groups", rows=10 * M, at_most=10.0, unit="s"),
        Figure("grouped_auc_many", "polarbearings", M, at_least=3),
        Figure("grouped_auc_most", "polarbearings", M, at_least=3),
        Figure("grouped_auc_polars", "polars-ds", M, at_least=3),
        Figure("grouped_auc_polars", "polarbearings", M),
        *(
            Figure(f"grouped_{name}", "average precision", M, at_most=3.0)
            for names in GROUPED.values()
            for name in names
            if name != "average_precision"
        ),
        Figure("grouped_six", rows=M, at_most=0.5, unit="s"),
        Figure("queries", "np.sort(axis=1)", 100 * M, at_most=1.5),
        Figure("queries", "ranx", 10 * M, at_least=5),
        Figure("shuffled_queries", "np.lexsort", 10 * M, at_most=2.0),
        Figure("class_metrics", "scikit-learn", M, at_least=15),
        Figure("class_comparison", rows=M // 10, at_most=20.0, unit="s"),
        Figure("class_comparison_memory", rows=M // 10, at_most=3, unit="B/row"),
        Figure("class_aucs", "np.sort of columns", M // 10, at_most=1.2),
        Figure("one_vs_one", "unweighted", M // 10, at_most=3.0),
        Figure("pooled_roc", "one ranking", M, at_most=4.0),
        *(
            Figure(f"labels_{name}", "codes" if bar == 1.2 else "factorize + codes", M, at_most=bar, kind=kind)
            for name in NAMED
            for kind, bar in NAMED_BARS.items()
        ),
        Figure("many_classes", "np.bincount", M, at_most=1.5),
        Figure("accuracy", "np.mean", M // 10, at_most=1.0),
        Figure("fold_matrices", "scikit-learn", 10 * M, at_least=50),
        Figure("confusion_matrix", "numpy", 10 * M, at_most=0.5),
        Figure("confusion_matrix", "scikit-learn", M),
        Figure("memory", rows=10 * M, at_most=10, unit="B/row"),
        Figure("import", "numpy", at_most=1.5),
        Figure("first_auc", "scikit-learn", at_most=0.6),
        Figure("first_auc", at_most=0.35, unit="s"),
        Figure("cold_auc", at_most=1.5, unit="s"),
        Figure("cold_report", at_most=6, unit="s"),
        Figure("summary_update", "np.sort", 10 * M, at_most=0.7, threads=1),
        *(Figure("summary_update", "np.sort", 10 * M, at_most=bar, kind=kind, threads=1) for kind, bar in TIED.items()),
        *(Figure("summary_update", "np.sort", 10 * M, kind=kind, threads=1) for kind in SPREAD),
        Figure("class_summary_update", "np.sort of columns", M, at_most=3.0, threads=1),
        Figure("summary_bootstrap", rows=10 * M, at_most=3.0, unit="s"),
        Figure("summary_merge", rows=10 * M, at_most=0.010, unit="s"),
        Figure("summary_bytes", rows=10 * M, at_most=0.030, unit="s"),
        Figure("summary_size", rows=1000 * M, at_most=0.0008, unit="B/row"),
        *(
            figure
            # Up to 2^26 rows are held in memory and read once.
            for rows, exact, is_large in ((20 * M, 2.0, False), (60 * M, 2.0, True), (200 * M, 4.0, True))
            for figure in (
                Figure("files_certified", "iter_batches", rows, at_most=1.7, is_large=is_large),
                Figure("files_exact", "iter_batches", rows, at_most=exact, is_large=is_large),
                Figure("files_report", rows=rows, at_most=60 * rows / (200 * M), unit="s", is_large=is_large),
            )
        ),
        Figure("files_gate", "report", 10 * M, at_most=1.0),
        Figure("summaries_gate", rows=10 * M, at_most=0.5, unit="s"),
        *(Figure(f"files_{name}_memory", rows=20 * M, unit="B/row") for name in ("certified", "exact", "report")),
        Figure("files_certified_memory", rows=200 * M, at_most=0.75, unit="B/row", is_large=True),
        Figure("files_exact_memory", rows=200 * M, at_most=5.0, unit="B/row", is_large=True),
        Figure("files_report_memory", rows=200 * M, at_most=7.5, unit="B/row", is_large=True),
        Figure("spark_ranking", "MLlib", 2 * M),
        Figure("spark_scan", "sums", 2 * M),
        Figure("spark_hand_over", "mapInArrow", 2 * M),
        Figure("spark_groups", "groupBy", 2 * M),
        Figure("dask_workers", "one worker", 10 * M),
        Figure("dask_files", "parquet.ranking", 10 * M),
        Figure("spark_ranking", "MLlib", 10 * M, at_least=4.0, is_large=True),
        Figure("spark_scan", "sums", 10 * M, at_most=3.0, is_large=True),
        Figure("spark_hand_over", "mapInArrow", 10 * M, is_large=True),
        Figure("spark_groups", "groupBy", 20 * M, at_most=3.0, is_large=True),
        Figure("dask_workers", "one worker", 100 * M, at_least=1.6, is_large=True),
        Figure("dask_files", "parquet.ranking", 100 * M, at_most=1.5, is_large=True),
        Figure("merge_parts", rows=M, at_most=10, unit="s"),
        Figure("report", rows=M, at_most=20, unit="s"),
        Figure("report", rows=10 * M, at_most=8, unit="s"),
        Figure("report_by", rows=10 * M, at_most=20, unit="s"),
        Figure("report_values", "pyarrow", 10 * M, at_most=2.0),
        Figure("report_memory", "pyarrow", 10 * M, at_most=1.3, unit="B/row"),
        Figure("report_page", rows=M, at_most=3.0, unit="s"),
        Figure("report_page_size", rows=M, at_most=0.4, unit="B/row"),
    )
}
