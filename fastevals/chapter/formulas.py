"""The book's formulas and terms with their Chinese names and calls, and formulas that some sources misprint."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastevals import LeaveOneOut, Ranking, bias_variance, binomial_error_test
from fastevals.chapter.example import Answer, Comparison, example, table
from fastevals.chapter.measures import CLASSES, SCORES
from fastevals.chapter.tests import critical


class Term(NamedTuple):
    """A formula or a term of the book, and the public name that computes it."""

    english: str
    chinese: str
    call: str  # a name in `fastevals`; empty if no call is needed


FORMULAS = {  # by number in the book
    "2.1": Term("share of rows left out of a bootstrap sample", "自助采样中始终不被采到的概率", "BootstrapSplit"),
    "2.2": Term("mean squared error", "均方误差", "regression_metrics"),
    "2.3": Term("mean squared error on new rows", "均方误差 (数据分布)", "estimate_error"),
    "2.4": Term("error rate", "错误率", "ConfusionMatrix.error_rate"),
    "2.5": Term("accuracy", "精度", "ConfusionMatrix.accuracy"),
    "2.6": Term("error rate on new rows", "错误率 (数据分布)", "estimate_error"),
    "2.7": Term("accuracy on new rows", "精度 (数据分布)", "estimate_error"),
    "2.8": Term("precision", "查准率 / 准确率", "ConfusionMatrix.precision"),
    "2.9": Term("recall", "查全率 / 召回率", "ConfusionMatrix.recall"),
    "2.10": Term("F1", "F1 度量", "ConfusionMatrix.f_score"),
    "2.11": Term("F-beta", "Fβ 度量", "ConfusionMatrix.f_score"),
    "2.12": Term("macro precision", "宏查准率", "ConfusionMatrix.macro"),
    "2.13": Term("macro recall", "宏查全率", "ConfusionMatrix.macro"),
    "2.14": Term("macro F1", "宏 F1", "ConfusionMatrix.macro"),
    "2.15": Term("micro precision", "微查准率", "ConfusionMatrix.pool"),
    "2.16": Term("micro recall", "微查全率", "ConfusionMatrix.pool"),
    "2.17": Term("micro F1", "微 F1", "ConfusionMatrix.pool"),
    "2.18": Term("true positive rate", "真正例率", "Ranking.roc_curve"),
    "2.19": Term("false positive rate", "假正例率", "Ranking.roc_curve"),
    "2.20": Term("area under the ROC curve", "ROC 曲线下面积", "Ranking.roc_auc"),
    "2.21": Term("rank loss", "排序损失", "Ranking.rank_loss"),
    "2.22": Term("AUC = 1 - rank loss", "AUC 与排序损失的关系", "Ranking.roc_auc"),
    "2.23": Term("cost-sensitive error rate", "代价敏感错误率", "ConfusionMatrix.cost"),
    "2.24": Term("probability cost PC(+)", "正例概率代价", "CostCurve.at"),
    "2.25": Term("normalised cost", "归一化代价", "CostCurve.at"),
    "2.26": Term("probability of a test error rate", "测试错误率的概率", "binomial_error_test"),
    "2.27": Term("critical error rate", "临界错误率", "binomial_error_test"),
    "2.28": Term("mean test error rate", "平均测试错误率", "error_rate_t_test"),
    "2.29": Term("variance of test error rates", "测试错误率的方差", "error_rate_t_test"),
    "2.30": Term("t-test of error rates", "t 检验", "error_rate_t_test"),
    "2.31": Term("paired t-test", "成对 t 检验", "paired_t_test"),
    "2.32": Term("5x2 cross-validation t-test", "5x2 交叉验证 t 检验", "five_by_two_cv_t_test"),
    "2.33": Term("McNemar's test", "McNemar 检验", "mcnemar_test"),
    "2.34": Term("Friedman's chi-squared", "Friedman 检验 (卡方)", "friedman_test"),
    "2.35": Term("Friedman's F", "Friedman 检验 (F)", "friedman_test"),
    "2.36": Term("Nemenyi's critical difference", "Nemenyi 临界值域", "nemenyi_test"),
    "2.37": Term("mean prediction", "期望预测", "bias_variance"),
    "2.38": Term("variance", "方差", "bias_variance"),
    "2.39": Term("noise", "噪声", "bias_variance"),
    "2.40": Term("squared bias", "偏差 (平方)", "bias_variance"),
    "2.41": Term("decomposition, with the cross terms", "偏差-方差分解 (推导)", "bias_variance"),
    "2.42": Term("loss = bias squared + variance + noise", "偏差-方差分解", "bias_variance"),
    "2.43": Term("min-max scaling", "min-max 规范化", ""),
    "2.44": Term("z-score scaling", "z-score 规范化", ""),
}
TERMS = {  # by the section that introduces them
    "2.1": [
        Term("training error, empirical error", "训练误差 / 经验误差", "estimate_error"),
        Term("generalisation error", "泛化误差", "estimate_error"),
        Term("overfitting, underfitting", "过拟合 / 欠拟合", "validation_curve"),
    ],
    "2.2": [
        Term("hold-out", "留出法", "HoldOut"),
        Term("stratified sampling", "分层采样", "HoldOut"),
        Term("cross-validation", "交叉验证法", "KFold"),
        Term("leave-one-out", "留一法", "LeaveOneOut"),
        Term("bootstrap", "自助法", "BootstrapSplit"),
        Term("out-of-bag estimate", "包外估计", "estimate_error"),
        Term("parameter tuning", "调参", "select_model"),
        Term("validation set", "验证集", "HoldOut.parts"),
    ],
    "2.3": [
        Term("confusion matrix", "混淆矩阵", "ConfusionMatrix"),
        Term("true positives, false positives", "真正例 / 假正例", "ThresholdCounts"),
        Term("false negatives, true negatives", "假反例 / 真反例", "ThresholdCounts"),
        Term("P-R curve", "P-R 曲线", "Ranking.precision_recall_curve"),
        Term("break-even point", "平衡点", "Ranking.break_even_point"),
        Term("geometric mean of precision and recall", "几何平均", "ConfusionMatrix.fowlkes_mallows"),
        Term("threshold, cut point", "阈值 / 截断点", "Ranking.threshold_for"),
        Term("ROC curve", "ROC 曲线", "Ranking.roc_curve"),
        Term("unequal costs", "非均等代价", "cost_threshold"),
        Term("cost matrix", "代价矩阵", "ConfusionMatrix.cost"),
        Term("total cost", "总体代价", "Ranking.expected_cost"),
        Term("cost curve", "代价曲线", "Ranking.cost_curve"),
    ],
    "2.4": [
        Term("hypothesis test", "假设检验", "SignificanceResult"),
        Term("contingency table", "列联表", "mcnemar_test_of_table"),
        Term("mean rank", "平均序值", "friedman_test"),
        Term("post-hoc test", "后续检验", "nemenyi_test"),
        Term("critical difference diagram", "Friedman 检验图", "plots.plot_critical_difference"),
    ],
    "2.5": [Term("bias-variance dilemma", "偏差-方差窘境", "bias_variance_curve")],
}


@example("2")
def formulas() -> Answer:
    """Formulas and terms, with their calls.

    Which call computes formula (2.x), and what do the book's Chinese terms mean?
    """
    numbered = {f"({number})": _cells(each) for number, each in FORMULAS.items()}
    named = {each.english: (each.chinese, section, _call(each)) for section, found in TERMS.items() for each in found}
    return Answer(
        [
            "The first table lists the formulas by number. All functions are in the package fastevals.",
            "Formulas (2.3), (2.6) and (2.7) are expectations over a distribution, which data can only estimate. "
            "Methods of a stack of confusion matrices compute macro averages, (2.12) to (2.14), and micro averages, "
            '(2.15) to (2.17); for (2.14) pass macro="of-means" to f_score.',
        ],
        tables=[
            table("Formulas", ["Formula", "quantity", "中文", "call"], numbered),
            table("Terms without a formula", ["Term", "中文", "section", "call"], named),
        ],
    )


def _cells(term: Term) -> tuple[str, str, str]:
    return term.english, term.chinese, _call(term)


def _call(term: Term) -> str:
    return term.call or "see exercise-2-8"


@example("2")
def misprints() -> Answer:
    """Misprinted formulas.

    Which formulas are misprinted in the book, in notes on it and in public solutions, and how should they read? The
    figures are for the twenty scored instances at the threshold 0.54.
    """
    ranking = Ranking(CLASSES, SCORES)
    matrix = ranking.confusion_at(0.54)
    (tn, fp), (fn, tp) = matrix.counts.tolist()
    m, precision, recall = tp + fp + fn + tn, matrix.precision(), matrix.recall()
    parts = bias_variance(np.array([0.0]), np.array([[1.0], [3.0]]))
    test = binomial_error_test(4, 10, 0.3)
    critical_rate, interval = critical(test) / 10, test.confidence_interval
    as_printed = interval.low if interval else np.nan
    rows = {
        "F1": ("notes on measures", "2 TP / (m + TP + TN)", "2 TP / (m + TP - TN)"),
        "micro F1": ("course", "2 R R / (P + R), named micro-R1", "2 P R / (P + R)"),
        "ROC axes": ("notes on the chapter", "x: TPR, y: FPR", "x: FPR, y: TPR"),
        "leave-one-out": ("notes on the chapter", "k = 1", "k = m"),
        "expectation over new rows": ("notes on the chapter", "training error", "generalisation error"),
        "mean squared error": ("notes on 2.1 to 2.3", "variance + bias", "variance + bias squared"),
        "F-beta": ("notes on measures", "1 / F1 = ...", "1 / F-beta = ..."),
        "(2.27)": (
            "book, up to its 30th printing", "max e with P(X > e0 m | e) < alpha", "min e with P(X > e m | e0) < alpha",
        ),
        "McNemar's chi-squared": ("course", "(|b - c|^2 - 1) / (b + c)", "(|b - c| - 1)^2 / (b + c)"),
        "5x2cv variance": ("notes", "sum of deviations", "sum of squared deviations"),
        "exercise 2.1": ("public solutions", "C(500, 175)^2", "C(500, 150)^2"),
    }  # fmt: skip
    costs = {
        **dict.fromkeys(
            ("book (2.23)", "notes on the chapter", "course"), ("false negative", "class 0 is the positive class")
        ),
        "notes on measures": ("false positive", "class 1 is the positive class"),
        "fastevals": ("not used", "costs are named cost_fn and cost_fp; a cost matrix is indexed [true, predicted]"),
    }
    swapped = "the axes are swapped, so the printed figure is the area above the curve"
    return Answer(
        [
            f"The first table lists {len(rows)} misprints.",
            "The last table shows how some of the misprints change a number.",
            "cost01 is no misprint, but its meaning depends on which class is called 0. Read the definition before you "
            f"copy a cost: with cost01 = 5 and cost10 = 1 the total cost here is {5 * fn + fp} if cost01 is the cost "
            f"of a false negative, and {5 * fp + fn} if it is the cost of a false positive.",
            "Up to the 30th printing, (2.27) varies the true error rate e, although the test fixes this rate at e0. "
            f"The printed formula gives {as_printed:.3f} for m = 10, e0 = 0.3 and alpha = 0.05, less than e0 itself. "
            "With this critical value, test error rates below 0.3 could reject the hypothesis that e is at most 0.3.",
        ],
        [
            Comparison("F1", matrix.f_score(), f"{2 * tp / (m + tp + tn):.3f}", "notes on measures", "subtract TN"),
            Comparison(
                "micro F1", matrix.f_score(), f"{2 * recall * recall / (precision + recall):.3f}", "course",
                "one of the two factors is precision",
            ),
            Comparison("AUC", ranking.roc_auc(), f"{1 - ranking.roc_auc():.2f}", "notes on the chapter", swapped),
            Comparison(
                "folds of leave-one-out, m = 20", LeaveOneOut().get_n_splits(CLASSES), "1", "notes on the chapter",
                "each of the m folds has one row",
            ),
            Comparison(
                "mean squared error of predictions 1 and 3 for the true value 0", float(parts.expected_loss),
                f"{parts.variance + np.sqrt(parts.bias_squared):.1f}", "notes on 2.1 to 2.3",
                "the bias must be squared",
            ),
            Comparison(
                "critical error rate, m = 10, e0 = 0.3", critical_rate,
                f"{as_printed:.3f}", "book (2.27)", "corrected in later printings",
            ),
        ],
        [
            table("Misprints", ["Formula", "source", "printed", "right"], rows),
            table("cost01 is the cost of a ...", ["Source", "error", "because"], costs),
        ],
    )  # fmt: skip
