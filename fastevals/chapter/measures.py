"""Section 2.3: rankings and what is read from them: ROC and P-R curves, areas, break-even points, averages."""

from __future__ import annotations

from fastevals import ConfusionMatrix, Ranking, RankingFolds, compare_rankings
from fastevals.chapter.example import Answer, Comparison, example, table
from fastevals.chapter.pictures import curves
from fastevals.datasets import load_digits_eight

CLASSES = [1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0]
SCORES = [0.9, 0.8, 0.7, 0.6, 0.55, 0.54, 0.53, 0.52, 0.51, 0.505,
          0.4, 0.39, 0.38, 0.37, 0.36, 0.35, 0.34, 0.33, 0.3, 0.1]  # fmt: skip
DIGITS = ("logistic", "naive_bayes", "random_forest")
APART = "recomputed apart"


@example("2.3.3")
def scored_instances() -> Answer:
    """Twenty scored instances: their ROC and P-R curves.

    Ten positive and ten negative rows have the scores of Fawcett's example. What are their curves, areas, and the
    points where precision is recall, and where both errors are equal?
    """
    ranking = Ranking(CLASSES, SCORES)
    accuracy, threshold = ranking.best_threshold("accuracy")
    at_half = ranking.confusion_at(0.5)
    return Answer(
        [
            f"A positive row is ahead of a negative one in {ranking.roc_auc():.0%} of the 100 pairs (AUC), so the "
            f"rank loss is {ranking.rank_loss():.2f}.",
            f"The threshold {threshold} has the highest accuracy, {accuracy:.2f}; 0.5, which comes to mind first, has "
            f"{at_half.accuracy():.2f}: scores are no probabilities.",
            "The area under the P-R curve depends on how one goes from a point to the next: a straight line promises "
            "precisions that no threshold has, and the sum of steps (AP) does not go between points at all.",
        ],
        [
            Comparison("AUC", ranking.roc_auc(), "0.68", "Fawcett (2006)"),
            Comparison("rank loss", ranking.rank_loss(), "0.32", APART),
            Comparison("break-even point", ranking.break_even_point().value, "0.6", APART),
            Comparison("equal error rate", ranking.equal_error_rate().value, "0.4", APART),
            Comparison("equal error rate of the hull", ranking.equal_error_rate(on_hull=True).value, "0.32857", APART),
            Comparison("area under the ROC hull", ranking.roc_curve().hull().area, "0.755", APART),
            Comparison("highest accuracy", accuracy, "0.7", "Fawcett (2006)"),
            Comparison("its threshold", threshold, "0.54", "Fawcett (2006)"),
            Comparison("accuracy at 0.5", at_half.accuracy(), "0.6", "Fawcett (2006)"),
            Comparison("average precision", ranking.average_precision(), "0.735748", APART),
            Comparison("P-R area, straight lines", ranking.pr_auc(interpolation="linear"), "0.719124", APART),
            Comparison("P-R area, Davis and Goadrich", ranking.pr_auc(), "0.720045", APART),
        ],
        pictures=[
            ("roc", [curves("roc", {"20 instances": ranking}, hull=True)]),
            ("precision_recall", [curves("precision_recall", {"20 instances": ranking})]),
        ],
    )


@example("2.3.3")
def three_models() -> Answer:
    """Nine pictures of three models.

    A row of pictures for each of three models, on the same rows: P-R curve, ROC curve, cost curve. The course's own
    models are known as pictures alone; these tell a handwritten 8 from other digits. Which is the most desirable?
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
            "random_forest: it has the largest areas under ROC and P-R curve, the highest break-even point, and the "
            "least expected cost over PC(+).",
            "Its ROC curve is above that of naive_bayes throughout. That of logistic it crosses: logistic is better "
            f"where almost no positive may be missed. By cost, random_forest is the cheaper at PC(+) from {wins}.",
            f"Its lead over logistic is shown on these rows: p = {auc.pvalue:.3f} of AUC, {ap.pvalue:.3f} of AP, both "
            "adjusted for the two models that it is compared with.",
            "P-R curves tell the models apart where ROC curves look alike: only a tenth of the rows are positive, and "
            "precision sees the negatives among them.",
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
    """Macro and micro averages over five folds, of three models.

    Three models of a two-class problem are measured in each of five folds. What are macro and micro precision, recall
    and F1 at a threshold that suits, and what are the macro and micro cost curves? The homework's own data are not
    public: these are scores of handwritten digits, where positive is an 8.
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
            "random_forest has the highest precision and F1 by either average, and the lowest cost curve; naive_bayes "
            "finds nearly all 8s, and takes three other digits for each.",
            "Macro averages the folds' rates, micro their counts. They are alike here because folds are stratified and "
            f"of one size: areas of the cost curves differ by at most {most:.4f}. They part where folds, or classes, "
            "differ in size.",
            "The threshold has the highest F1 of all rows, which flatters it a little: on new rows expect less.",
            'Macro F1 is the chapter\'s, that of macro precision and recall ("of-means"); other libraries average the '
            "folds' F1.",
        ],
        tables=[
            table("At the threshold of the highest F1", ["", "threshold", "precision", "recall", "F1"], rows),
            table("Area under the cost curve", ["", "macro", "micro"], areas),
        ],
        pictures=[("cost", [curves("cost", macro, "macro"), curves("cost", micro, "micro")])],
    )
