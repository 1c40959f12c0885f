"""Section 2.3: performance measures: ROC and P-R curves, areas, break-even points, averages."""

from __future__ import annotations

from typing import Any

from fastevals import ConfusionMatrix, Ranking, RankingFolds, compare_rankings
from fastevals.chapter.example import Answer, Comparison, example, table
from fastevals.chapter.pictures import curves
from fastevals.datasets import load_digits_eight

CLASSES = [1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0]
SCORES = [0.9, 0.8, 0.7, 0.6, 0.55, 0.54, 0.53, 0.52, 0.51, 0.505,
          0.4, 0.39, 0.38, 0.37, 0.36, 0.35, 0.34, 0.33, 0.3, 0.1]  # fmt: skip
DIGITS = ("logistic", "naive_bayes", "random_forest")
RECOMPUTED = "recomputed"


@example("2.3.3")
def scored_instances() -> Answer:
    """ROC and P-R curves of twenty scored instances.

    Fawcett's example has ten positive and ten negative rows. What are their curves and areas? Where is precision equal
    to recall, and where is the false positive rate equal to the false negative rate?
    """
    ranking = Ranking(CLASSES, SCORES)
    accuracy, threshold = ranking.best_threshold("accuracy")
    at_half = ranking.confusion_at(0.5)
    return Answer(
        [
            f"In {100 * ranking.roc_auc():.0f} % of the 100 pairs of a positive and a negative row, the positive row "
            "scores higher: this share is the AUC.",
            f"The rank loss is the remaining share, {ranking.rank_loss():.2f}.",
            f"The threshold {threshold} has the highest accuracy, {accuracy:.2f}. The obvious threshold, 0.5, has only "
            f"{at_half.accuracy():.2f}, because these scores are not probabilities.",
            "The area under the P-R curve depends on the interpolation between points. Straight lines assume "
            "precisions that no threshold attains. Average precision is a sum over steps and does not interpolate.",
        ],
        [
            Comparison("AUC", ranking.roc_auc(), "0.68", "Fawcett (2006)"),
            Comparison("rank loss", ranking.rank_loss(), "0.32", RECOMPUTED),
            Comparison("break-even point", ranking.break_even_point().value, "0.6", RECOMPUTED),
            Comparison("equal error rate", ranking.equal_error_rate().value, "0.4", RECOMPUTED),
            Comparison(
                "equal error rate of the hull", ranking.equal_error_rate(on_hull=True).value, "0.32857", RECOMPUTED
            ),
            Comparison("area under the ROC hull", ranking.roc_curve().hull().area, "0.755", RECOMPUTED),
            Comparison("highest accuracy", accuracy, "0.7", "Fawcett (2006)"),
            Comparison("threshold of the highest accuracy", threshold, "0.54", "Fawcett (2006)"),
            Comparison("accuracy at 0.5", at_half.accuracy(), "0.6", "Fawcett (2006)"),
            Comparison("average precision", ranking.average_precision(), "0.735748", RECOMPUTED),
            Comparison("P-R area, straight lines", ranking.pr_auc(interpolation="linear"), "0.719124", RECOMPUTED),
            Comparison("P-R area, Davis and Goadrich", ranking.pr_auc(), "0.720045", RECOMPUTED),
        ],
        pictures=[
            ("roc", [curves("roc", {"20 instances": ranking}, hull=True)]),
            ("precision_recall", [curves("precision_recall", {"20 instances": ranking})]),
        ],
    )


@example("2.3.2")
def quotas() -> Answer:
    """P-R points by quota: (R_k, P_k).

    An admission office admits the k applicants with the highest scores. For quotas k = 1, 2, ..., what are recall R_k
    and precision P_k? The rows are the twenty scored instances.
    """
    ranking = Ranking(CLASSES, SCORES)
    points = {str(k): ranking.threshold_for(n_predicted=k).threshold for k in range(1, 21)}
    matrices = ranking.confusion_at(list(points.values()))
    recalls, precisions = matrices.recall().tolist(), matrices.precision().tolist()
    rows = dict(zip(points, zip(points.values(), recalls, precisions, strict=True), strict=True))
    curve = ranking.precision_recall_curve()
    apart = max(abs(curve.precision[k] - precisions[k - 1]) for k in range(1, 21))
    equal = ranking.break_even_point()
    return Answer(
        [
            "The table lists the points.",
            "threshold_for(n_predicted=k) returns the threshold for a quota, and confusion_at returns the counts at "
            "that threshold.",
            "precision_recall_curve returns all points in one call. The scores have no ties, so the curve's k-th point "
            "is (R_k, P_k). With ties a quota can end inside a group of equal scores, which no threshold can split.",
            f"Where the quota equals the number of positive rows, k = 10, recall and precision are equal: "
            f"{equal.value:.1f}, the break-even point.",
        ],
        [
            Comparison("R_1", recalls[0], "0.1", RECOMPUTED),
            Comparison("P_1", precisions[0], "1", RECOMPUTED),
            Comparison("R_4", recalls[3], "0.3", RECOMPUTED),
            Comparison("P_4", precisions[3], "0.75", RECOMPUTED),
            Comparison("R_10", recalls[9], "0.6", RECOMPUTED),
            Comparison("P_10", precisions[9], "0.6", RECOMPUTED),
            Comparison("largest difference from the points of the curve", apart, "0.000000000", "exact"),
        ],
        [table("Recall and precision by quota", ["k", "threshold", "R_k", "P_k"], rows)],
        [("precision_recall", [curves("precision_recall", {"20 instances": ranking})])],
    )


@example("2.3.3")
def tenfold_negatives() -> Answer:
    """Property 6: ten times the negatives.

    Each negative row of the twenty instances is repeated ten times. Does the ROC curve change, and does the P-R curve?
    """
    rankings = {
        "1 : 1": Ranking(CLASSES, SCORES),
        "1 : 10": Ranking(CLASSES, SCORES, frequency_weight=[1 if positive else 10 for positive in CLASSES]),
    }
    (one, ten), names = rankings.values(), list(rankings)
    found = {
        name: [
            each.n_negatives, each.roc_auc(), each.average_precision(), each.break_even_point().value,
            each.confusion_at(0.54).recall(), each.confusion_at(0.54).precision(),
        ]
        for name, each in rankings.items()
    }  # fmt: skip
    matrix = one.confusion_at(0.54)
    tpr, fpr = matrix.recall(), 1 - matrix.specificity()
    precision = found[names[1]][-1]
    return Answer(
        [
            "The ROC curve stays the same, and the P-R curve falls.",
            "TPR and FPR are rates within one class, so the AUC is "
            f"{one.roc_auc():.2f} both times. Average precision drops from "
            f"{one.average_precision():.3f} to {ten.average_precision():.3f}.",
            "At a fixed threshold, P = 1 / (1 + (m- / m+) FPR / TPR), where m- and m+ are the numbers of negative and "
            "positive rows. Repeating the negatives ten times multiplies FP by ten, so "
            f"at 0.54 the precision drops from {found[names[0]][-1]:.3f} to {precision:.3f} while recall stays "
            f"{tpr:.1f}.",
            "The ROC curve is exactly the same because the negatives are copies. With newly drawn negatives the "
            "curve would be the same only on average. The ROC curve ignores the class ratio, which is not always an "
            "advantage: where positives are rare, only the P-R curve shows how many predicted positives are wrong.",
        ],
        [
            Comparison("precision at 0.54, ten times the negatives", float(precision), "0.3333", RECOMPUTED),
            Comparison("1 / (1 + 10 FPR / TPR)", float(1 / (1 + 10 * fpr / tpr)), "0.3333", RECOMPUTED),
        ],
        [
            table(
                "Positives : negatives",
                ["", "negatives", "AUC", "AP", "break-even point", "recall", "precision"],
                found,
            )
        ],
        [("tenfold", [curves("roc", rankings, "ROC"), curves("precision_recall", rankings, "P-R")])],
    )


@example("2.3.3")
def three_models() -> Answer:
    """Nine pictures of three models.

    Three models are evaluated on the same rows, each with its P-R curve, ROC curve and cost curve. Which model is best?
    The course gives only pictures of its models' curves, no data. Here three other models predict whether a handwritten
    digit is an 8.
    """
    digits = load_digits_eight()
    models = {name: Ranking(digits["label"], digits[name]) for name in DIGITS}
    found = compare_rankings(
        digits["label"], {name: digits[name] for name in DIGITS}, metrics=["roc_auc", "average_precision"],
        reference="random_forest", n_resamples=1999, rng=0,
    )  # fmt: skip
    rows = {
        name: [each.roc_auc(), each.average_precision(), each.break_even_point().value, each.cost_curve().area]
        for name, each in models.items()
    }
    forest, logistic = (models[name].cost_curve() for name in ("random_forest", "logistic"))
    wins = ", ".join(f"{low:.3f} to {high:.3f}" for low, high in forest.difference(logistic).wins)
    auc, ap = (found[metric].differences[0] for metric in ("roc_auc", "average_precision"))
    return Answer(
        [
            "random_forest is best: it has the largest areas under the ROC and P-R curves, the highest break-even "
            "point and the smallest area under the cost curve.",
            "Its ROC curve lies above naive_bayes's curve everywhere, but crosses logistic's curve: logistic is "
            "better where almost no positive may be missed. random_forest costs less than logistic at PC(+) from "
            f"{wins}.",
            f"random_forest's AUC is higher than logistic's by {-auc.value:.4f} ({_interval(auc)}; p = "
            f"{auc.pvalue:.3f}), and its AP by {-ap.value:.4f} ({_interval(ap)}; p = {ap.pvalue:.3f}). For each "
            "metric, intervals and p-values are simultaneous over the comparisons with the two other models (max-T).",
            "P-R curves separate models whose ROC curves look alike. Only a tenth of the rows are positive, so false "
            "positives lower precision much more than they raise the FPR.",
        ],
        tables=[table("The models", ["", "AUC", "AP", "break-even point", "cost area"], rows)],
        pictures=[
            ("three_models", [
                curves(kind, {name: each}, f"{name}, {short}")
                for name, each in models.items()
                for kind, short in (("precision_recall", "P-R"), ("roc", "ROC"), ("cost", "cost"))
            ])
        ],
    )  # fmt: skip


@example("2.3.2")
def macro_micro() -> Answer:
    """Macro and micro averages of three models over five folds.

    Three binary classifiers are evaluated in each of five folds. What are macro and micro precision, recall and F1 at a
    suitable threshold, and what are the macro and micro cost curves? The data of the homework are not public. Here the
    rows are images of handwritten digits, and the positive class is the digit 8.
    """
    digits = load_digits_eight()
    label, fold = digits["label"], digits["fold"]
    rows, macro, micro = {}, {}, {}
    for name in DIGITS:
        threshold = Ranking(label, digits[name]).best_threshold("f1").threshold
        _, matrices = ConfusionMatrix.from_groups(label, (digits[name] >= threshold).astype(int), fold, pos_label=1)
        for average, matrix in (("macro", matrices.macro()), ("micro", matrices.pool())):
            rates = matrix.precision(), matrix.recall(), matrix.f_score(macro="of-means")
            rows[f"{name}, {average}"] = [threshold, *rates]
        folds = RankingFolds.from_scores(label, digits[name], fold)
        macro[name], micro[name] = folds.cost_curve(average="macro"), folds.cost_curve(average="micro")
    areas = {name: [macro[name].area, micro[name].area] for name in DIGITS}
    most = max(abs(one - other) for one, other in areas.values())
    return Answer(
        [
            "random_forest has the highest precision and F1 by both averages, and the lowest cost curve.",
            "naive_bayes finds nearly all 8s, but for each 8 that it finds it also classifies more than three images "
            "of other digits as 8.",
            "The macro average is the mean of the folds' rates; the micro average pools the folds' counts. The two "
            "agree here because the folds are stratified and equally large: the areas of the cost curves differ by at "
            f"most {most:.4f}. The averages would differ more if the folds differed in size or class ratio.",
            "Each model's threshold maximises F1 on these same rows, so the figures are slightly optimistic.",
            "Macro F1 is defined as in the chapter: it is the F1 of macro precision and macro recall "
            '(macro="of-means"). Other libraries average the F1 of the folds.',
        ],
        tables=[
            table("At the threshold of the highest F1", ["", "threshold", "precision", "recall", "F1"], rows),
            table("Area under the cost curve", ["", "macro", "micro"], areas),
        ],
        pictures=[("cost", [curves("cost", macro, "macro"), curves("cost", micro, "micro")])],
    )


def _interval(difference: Any) -> str:
    """Return the 95 % interval of random_forest's lead; `difference` is the other model's value minus the forest's."""
    low, high = difference.confidence_interval
    return f"95 % interval {-high:.4f} to {-low:.4f}"
