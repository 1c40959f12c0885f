"""The book's exercises 2.1 to 2.10."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np

from fastevals import (
    HoldOut,
    KFold,
    LeaveOneOut,
    Ranking,
    estimate_error,
    friedman_test,
    mcnemar_test_of_table,
)
from fastevals.chapter.example import Answer, Comparison, example, table
from fastevals.chapter.measures import CLASSES, RECOMPUTED, SCORES
from fastevals.chapter.pictures import curves, panel
from fastevals.chapter.tests import critical
from fastevals.datasets import load_auto
from fastevals.show.plots.null_distribution import SIZE, draw_null


@example("2.2.1")
def exercise_2_1() -> Answer:
    """Exercise 2.1: the number of hold-outs.

    1,000 rows, 500 of each class, are split into 70 % for training and 30 % for the test. How many splits are there?
    """
    stratified, plain = math.comb(500, 150) ** 2, math.comb(1000, 300)
    y = np.repeat([0, 1], 500)
    counted = HoldOut(0.3, stratified=True).count_splits(y, y)
    misprint = "public solutions print C(500, 175)^2: a test set of 300 rows has 150 of each class, not 175"
    return Answer(
        [
            "There are C(500, 150)^2 stratified splits, which is the number that the chapter asks for.",
            "This number has "
            f"{len(str(stratified))} digits. Without stratification there are C(1000, 300) splits, a number of "
            f"{len(str(plain))} digits, so one in {plain / stratified:.0f} splits is stratified.",
            "C(500, 150) = C(500, 350), so it does not matter whether test or training rows are chosen. "
            "HoldOut(0.3, stratified=True).count_splits(y, y) returns the number.",
        ],
        [
            Comparison("log10 of the number of splits", _log10(counted), f"{_log10(stratified):.4f}", "C(500, 150)^2"),
            Comparison(
                "log10 of the number of splits", _log10(counted), f"{_log10(math.comb(500, 175) ** 2):.4f}",
                "public solutions", misprint,
            ),
        ],
    )  # fmt: skip


def _log10(number: int) -> float:
    return math.log10(number // 10**200) + 200


def majority(x: Any, y: Any, x_new: Any) -> Any:
    """Predict the majority class of the training rows; guess at random if there is none."""
    positive, n = int(y.sum()), len(y)
    if 2 * positive == n:
        return np.random.default_rng(x_new.tolist()).integers(0, 2, len(x_new))
    return np.full(len(x_new), int(2 * positive > n))


@example("2.2.2")
def exercise_2_2() -> Answer:
    """Exercise 2.2: leave-one-out against ten folds.

    There are 100 rows, 50 of each class. The learner predicts the majority class of its training rows and guesses at
    random if there is none. Which error rates do 10-fold cross-validation and leave-one-out report?
    """
    x, y = np.arange(100), np.arange(100) % 2
    folds = estimate_error(majority, x, y, KFold(10, n_repeats=100, stratified=True, rng=0), "error_rate")["error_rate"]
    one_out = estimate_error(majority, x, y, LeaveOneOut(), "error_rate")["error_rate"]
    plain = estimate_error(majority, x, y, KFold(10, n_repeats=20, rng=0), "error_rate")["error_rate"]
    return Answer(
        [
            f"Ten stratified folds report an error rate of {100 * folds.value:.0f} %, which differs from 50 % only by "
            f"the luck of the guesses; leave-one-out reports {100 * one_out.value:.0f} %. On new rows the learner "
            "is wrong half of the time.",
            "With stratified folds there are 45 training rows of each class, so the learner guesses. Leave-one-out "
            "leaves 49 training rows of the test row's class and 50 of the other, so the learner always predicts the "
            "wrong class.",
            f"Unstratified folds partly share leave-one-out's flaw: they report {100 * plain.value:.0f} %. "
            "Whenever a test fold has more rows of one class, the training rows have more of the other.",
        ],
        [
            Comparison("error rate, ten stratified folds", folds.value, "0.5", "expected"),
            Comparison("error rate, leave-one-out", one_out.value, "1", "expected"),
        ],
    )


@example("2.3.2")
def exercise_2_3() -> Answer:
    """Exercise 2.3: F1 and the break-even point.

    If learner A has a higher F1 than learner B, does it also have a higher break-even point?
    """
    orders = {"A": "++--++----", "B": "++-+-----+"}  # by descending score
    scores = np.arange(10, 0, -1) / 10
    found = {name: Ranking([int(sign == "+") for sign in order], scores) for name, order in orders.items()}
    rows = {
        f"{name}: {orders[name]}": [*each.best_threshold("f1"), each.break_even_point().value]
        for name, each in found.items()
    }
    return Answer(
        [
            "No. In the table A has the higher F1 (each learner at its best threshold), but B has the higher "
            "break-even point.",
            "F1 depends on the threshold. The break-even point is F1 at one particular threshold: where the number of "
            "rows predicted positive equals the number of positive rows. A learner can be better there and worse "
            "elsewhere.",
        ],
        tables=[table("Ten rows by descending score", ["", "F1", "threshold", "break-even point"], rows)],
        pictures=[("precision_recall", [curves("precision_recall", found)])],
    )


@example("2.3.3")
def exercise_2_4() -> Answer:
    """Exercise 2.4: TPR, FPR, precision and recall.

    How are the true positive rate, the false positive rate, precision and recall related?
    """
    matrix = Ranking(CLASSES, SCORES).confusion_at([0.9, 0.7, 0.54, 0.38, 0.1])
    tpr, fpr, precision = matrix.recall(), 1 - matrix.specificity(), matrix.precision()
    by_identity = tpr * (1 - precision) / precision  # times m+ / m-, which is 1 here
    apart = float(np.abs(fpr - by_identity).max())
    rows = {
        str(threshold): [float(each[k]) for each in (tpr, fpr, precision, by_identity)]
        for k, threshold in enumerate((0.9, 0.7, 0.54, 0.38, 0.1))
    }
    return Answer(
        [
            "TPR is recall, and FPR follows from precision and recall.",
            "With precision P and recall R, FPR = (m+ / m-) R (1 - P) / P, where m+ and m- "
            "are the numbers of positive and negative rows.",
            "So a point of the P-R curve with P > 0 determines a point of the ROC curve, and vice versa. The class "
            "ratio enters P but neither TPR nor FPR.",
        ],
        [
            Comparison(
                "largest difference between FPR and (m+ / m-) R (1 - P) / P", apart, "0.000000000", "exact"
            )
        ],
        [table("Twenty instances", ["Threshold", "TPR = R", "FPR", "P", "(m+ / m-) R (1 - P) / P"], rows)],
    )  # fmt: skip


@example("2.3.3")
def exercise_2_5() -> Answer:
    """Exercise 2.5: AUC = 1 - rank loss, formula (2.22).

    The rank loss is the share of pairs of a positive and a negative row that are in the wrong order; a tied pair counts
    one half. Why is the rank loss equal to the area above the ROC curve, even with ties?
    """
    tied = Ranking(CLASSES, [round(score, 1) for score in SCORES])
    rows = {}
    for name, each in (("scores", Ranking(CLASSES, SCORES)), ("scores rounded to 0.1", tied)):
        fpr, tpr = each.roc_curve().fpr, each.roc_curve().tpr
        area = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2))
        rows[name] = [area, each.roc_auc(), each.rank_loss(), area + each.rank_loss()]
    return Answer(
        [
            "The area above the curve and the rank loss count the same pairs.",
            "Each positive row lifts the ROC curve by 1 / m+. To the left of this step are the negatives that score "
            "higher; each of them has moved the curve 1 / m- to the right. So each pair in the wrong order adds "
            "1 / (m+ m-) to the area above the curve. A group of tied scores gives a sloping segment, and half of the "
            "group's rectangle lies above this segment: this half is the 1/2 in the rank loss.",
            "The trapezoids of (2.20) therefore add up to exactly 1 minus the rank loss of (2.21).",
        ],
        [
            Comparison("(2.20) + (2.21), no ties", rows["scores"][-1], "1.000000000", "book (2.22)"),
            Comparison("(2.20) + (2.21), ties", rows["scores rounded to 0.1"][-1], "1.000000000", "book (2.22)"),
        ],
        [table("Twenty instances", ["", "area by (2.20)", "AUC", "rank loss (2.21)", "sum"], rows)],
        [("roc", [curves("roc", {"scores": Ranking(CLASSES, SCORES), "rounded": tied})])],
    )  # fmt: skip


@example("2.3.3")
def exercise_2_6() -> Answer:
    """Exercise 2.6: the error rate and the ROC curve.

    How is the error rate related to the ROC curve?
    """
    ranking = Ranking(CLASSES, SCORES)
    rows = {}
    for prior in (0.1, 0.3, 0.5, 0.7, 0.9):
        threshold = ranking.cost_curve().at(prior=prior).threshold
        matrix = ranking.confusion_at(threshold)
        fpr, tpr = 1 - matrix.specificity(), matrix.recall()
        by_formula = (1 - prior) * fpr + prior * (1 - tpr)
        rows[f"prior {prior}"] = [threshold, fpr, tpr, by_formula, ranking.expected_cost(threshold, prior=prior)]
    least = float(rows["prior 0.5"][-1])
    return Answer(
        [
            "E = (1 - p) FPR + p (1 - TPR), where p is the share of positive rows.",
            "Each point of the ROC curve has one "
            "error rate, and points with equal error rates lie on a line of slope (1 - p) / p.",
            "The least error rate is at the point of the convex hull that such a line touches first as it "
            "approaches from the upper left. So the prior decides which threshold is best, as the table shows.",
        ],
        [Comparison("least error rate at a prior of 0.5", least, "0.3", RECOMPUTED)],
        [
            table(
                "Threshold of the least error rate", ["", "threshold", "FPR", "TPR", "(1 - p) FPR + p (1 - TPR)", "E"],
                rows,
            )
        ],
        [("roc", [curves("roc", {"20 instances": ranking}, hull=True)])],
    )  # fmt: skip


@example("2.3.4")
def exercise_2_7() -> Answer:
    """Exercise 2.7: ROC curves and cost curves.

    Does each ROC curve have a cost curve, and each cost curve a ROC curve?
    """
    ranking = Ranking(CLASSES, SCORES)
    roc, cost = ranking.roc_curve(), ranking.cost_curve()
    back = np.column_stack([cost.lines[:, 0], 1 - cost.lines[:, 1]])
    points = np.column_stack([roc.fpr, roc.tpr])
    lost = max(float(np.abs(back - point).sum(axis=1).min()) for point in points)
    of_hull = len(roc.hull().fpr)
    return Answer(
        [
            'Yes, if "cost curve" means all its lines, not only their lower envelope.',
            "The ROC point (FPR, TPR) becomes the line from (0, FPR) "
            "to (1, 1 - TPR), so each line determines its point.",
            "The lower envelope alone does not give the ROC curve back: only lines of points on the convex hull touch "
            f"the envelope. Of the {len(points)} points of this ROC curve, {of_hull} are corners of the hull. Two ROC "
            "curves with the same hull have the same envelope and the same expected cost.",
        ],
        [
            Comparison("largest difference of a ROC point from the point of its line", lost, "0.000000000", "exact"),
            Comparison("corners of the hull", float(of_hull), "6", RECOMPUTED),
        ],
        pictures=[("roc", [curves("roc", {"20 instances": ranking}, hull=True)]),
                  ("cost", [curves("cost", {"20 instances": cost}, lines=30)])],
    )  # fmt: skip


@example("2.3.4")
def exercise_2_8() -> Answer:
    """Exercise 2.8: min-max and z-score scaling.

    What are the advantages and disadvantages of min-max scaling, (2.43), and of z-scores, (2.44)?
    """
    cars = load_auto()
    power = cars["horsepower"].astype(float)
    high = (cars["mpg"] > np.quantile(cars["mpg"], 0.75)).astype(int)
    typo = np.append(power, 2300.0)  # 230, with a zero too many
    rows: dict[str, list[float | str]] = {}
    for name, scale in (("min-max", _min_max), ("z-score", _z_score)):
        scaled, with_typo = scale(power, power), scale(typo, typo)[:-1]
        rows[name] = [
            float(scaled.min()), float(scaled.max()), float(scale(power, np.array([250.0]))[0]),
            float(np.ptp(with_typo) / np.ptp(scaled)), Ranking(high, -scaled).roc_auc(),
        ]  # fmt: skip
    features = np.column_stack([cars[name] for name in ("displacement", "acceleration")]).astype(float)
    folds = KFold(10, n_repeats=5, stratified=True, rng=0)
    errors = {
        name: [estimate_error(_nearest(scale), features, high, folds, "error_rate")["error_rate"].value]
        for name, scale in (("unscaled", None), ("min-max", _min_max), ("z-score", _z_score))
    }
    return Answer(
        [
            "Min-max scaling has a fixed range but suffers more from outliers; z-scores have no fixed range.",
            "Min-max scaling guarantees the range [0, 1] on the rows that define it. New rows can leave that range, "
            "and one outlier squeezes all other values together: when a car with 2300 horsepower, a typing error, is "
            f"added, the 392 cars keep {100 * float(rows['min-max'][3]):.0f} % of their range.",
            "z-scores need a mean and a standard deviation, which an outlier also moves, but "
            f"less: the cars keep {100 * float(rows['z-score'][3]):.0f} % of their range.",
            "Both scalings are increasing functions, so neither changes an AUC. Distances do change. For the "
            "nearest neighbour on displacement and acceleration, scaling raises the error, because it gives "
            "acceleration as much weight as displacement. The scaling must be computed on training rows only.",
        ],
        tables=[
            table("Horsepower, scaled", ["", "least", "largest", "new row: 250", "range kept with 2300", "AUC"], rows),
            table("Error rate of the nearest neighbour", ["", "10 x 5 folds"], errors),
        ],
    )


def _min_max(x: Any, x_new: Any) -> Any:
    return (x_new - x.min(axis=0)) / np.ptp(x, axis=0)


def _z_score(x: Any, x_new: Any) -> Any:
    return (x_new - x.mean(axis=0)) / x.std(axis=0)


def _nearest(scale: Any) -> Any:
    def predict(x: Any, y: Any, x_new: Any) -> Any:
        one, other = (x, x_new) if scale is None else (scale(x, x), scale(x, x_new))
        return y[((other[:, np.newaxis] - one) ** 2).sum(axis=2).argmin(axis=1)]

    return predict


@example("2.4.3")
def exercise_2_9() -> Answer:
    """Exercise 2.9: the chi-squared test.

    What are the steps of a chi-squared test? The example is the homework on McNemar's test: on 56 rows exactly one of
    two algorithms is right, B on 35 and A on 21.
    """
    plain = mcnemar_test_of_table([[56, 35], [21, 28]], method="uncorrected", names=("B", "A"))
    corrected = mcnemar_test_of_table([[56, 35], [21, 28]], method="corrected", names=("B", "A"))
    observed = np.array([35.0, 21.0])
    expected = np.full(2, observed.sum() / 2)
    by_hand = float(((observed - expected) ** 2 / expected).sum())
    return Answer(
        [
            f"Here the statistic, 3.5, is below the critical value 3.841 (p = {plain.pvalue:.4f}), so the "
            "hypothesis is not rejected.",
            "(1) State the hypothesis: both algorithms have the same error rate. (2) Derive the expected counts: 28 "
            "and 28. (3) Add up (observed - expected)^2 / expected: 49 / 28 + 49 / 28 = 3.5. (4) Compare the sum "
            "with the chi-squared distribution with 1 degree of freedom, the number of cells minus 1. (5) Reject "
            "the hypothesis if the statistic is above the critical value, 3.841 at level 0.05.",
            "A chi-squared test is two-sided in the counts, but rejects only if the statistic is large. The "
            f"distribution is an approximation. Yates' correction, (|35 - 21| - 1)^2 / 56 = {corrected.statistic:.3f}, "
            "makes the approximation closer; with small counts the exact binomial test is better.",
        ],
        [
            Comparison("chi-squared by hand", by_hand, "3.5", RECOMPUTED),
            Comparison("chi-squared, uncorrected", plain.statistic, "3.5", RECOMPUTED),
            Comparison("chi-squared, corrected", corrected.statistic, "3.017857", RECOMPUTED),
            Comparison("critical value, level 0.05", critical(plain), "3.8415", "book"),
        ],
        pictures=[("null", [panel(draw_null, plain, SIZE)])],
    )


@example("2.4.4")
def exercise_2_10() -> Answer:
    """Exercise 2.10: (2.34) against (2.35) in Friedman's test.

    Both statistics test the same hypothesis. How do they differ? If the algorithms are equal, all their rankings on
    each data set are equally likely, so the exact probability that a test rejects at level 0.05 is found by
    counting.
    """
    rows = {}
    for n, k in ((5, 3), (10, 3), (5, 4), (8, 4)):
        tables = _rank_tables(n, k)
        chi_square = [friedman_test(ranks, higher_is_better=False, statistic="chi-square") for ranks, _ in tables]
        f = critical(friedman_test(np.add.outer(np.arange(n), np.arange(k)) % k))
        levels = critical(chi_square[0]), n * (k - 1) * f / (n - 1 + f)
        shares = (
            sum(share for found, (_, share) in zip(chi_square, tables, strict=True) if found.statistic > level)
            for level in levels
        )
        rows[f"{n} data sets, {k} algorithms"] = [*levels, *shares]
    most, least = max(row[2] for row in rows.values()), min(row[2] for row in rows.values())
    return Answer(
        [
            "The two tests use different critical values, and (2.35) rejects at least as often as (2.34).",
            "(2.35) is an increasing function of (2.34), so both put results in the same order. But each is compared "
            "with its own distribution and so has its own critical value. In the table both critical values are "
            "on the scale of (2.34).",
            f"With few data sets (2.34) is conservative: it rejects {100 * least:.1f} to {100 * most:.1f} % of true "
            "null hypotheses instead of 5 %. (2.35) has the smaller critical value, so it rejects at least as often "
            f"and has more power. With 5 data sets and 4 algorithms (2.35) exceeds the level: it rejects "
            f"{100 * rows['5 data sets, 4 algorithms'][3]:.1f} %. Both approach 5 % as the number of data sets grows.",
            "With few data sets the statistic has few possible values, so no test attains the level exactly, and "
            "(2.34) and (2.35) can reject in exactly the same cases. friedman_test uses (2.35) by default.",
        ],
        tables=[
            table(
                "Level 0.05: critical values, and probability of rejecting a true null hypothesis",
                ["", "critical value, (2.34)", "critical value, (2.35)", "probability, (2.34)", "probability, (2.35)"],
                rows,
            )
        ],
    )  # fmt: skip


def _rank_tables(n: int, k: int) -> list[tuple[Any, float]]:
    """Return one table of ranks per possible set of rank sums, and the set's probability for equal algorithms."""
    tables: dict[tuple[int, ...], Any] = {(0,) * k: np.empty((0, k))}
    ways: Counter[tuple[int, ...]] = Counter({(0,) * k: 1})
    for _ in range(n):
        new_tables, new_ways = {}, Counter[tuple[int, ...]]()
        for sums, count in ways.items():
            for ranks in permutations(range(1, k + 1)):
                added = np.array(sums) + ranks
                order = np.argsort(added, kind="stable")  # algorithms are interchangeable
                key = tuple(added[order].tolist())
                new_ways[key] += count
                if key not in new_tables:
                    new_tables[key] = np.vstack([tables[sums], ranks])[:, order]
        tables, ways = new_tables, new_ways
    return [(tables[key], count / math.factorial(k) ** n) for key, count in ways.items()]
