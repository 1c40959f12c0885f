"""Sections 2.4.1 to 2.4.3: tests of the error rate of one learner, and of the difference between two learners."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from fastevals import (
    KFold,
    SignificanceResult,
    binomial_error_test,
    error_rate_t_test,
    estimate_error,
    five_by_two_cv_f_test,
    five_by_two_cv_t_test,
    mcnemar_test_of_table,
    paired_t_test,
)
from fastevals.chapter.example import Answer, Comparison, example, table
from fastevals.chapter.measures import RECOMPUTED
from fastevals.chapter.pictures import panel
from fastevals.datasets import load_auto
from fastevals.show.plots.null_distribution import SIZE, draw_null

ERRORS = [3, 4, 1, 2, 0, 1, 2, 3, 1, 2, 4, 0, 0, 3, 4, 5]  # in test sets of 10 rows


def critical(test: SignificanceResult) -> float:
    """Return the critical value of a test, which must have a single one."""
    return cast("float", test.critical_value)


def _ends(test: SignificanceResult) -> tuple[float, float]:
    """Return both ends of the confidence interval of a test's effect."""
    return cast("tuple[float, float]", test.confidence_interval)


def _interval(test: SignificanceResult) -> str:
    """Describe the confidence interval of a test's effect in words."""
    low, high = _ends(test)
    return f"95 % interval {low:.3f} to {high:.3f}"


@example("2.4.1")
def binomial() -> Answer:
    """The binomial test on sixteen experiments of ten rows.

    Is the error rate above 0.30? The course tests the worst experiment, with 5 errors, and rejects the hypothesis.
    Above which test error rate does the test reject?
    """
    worst = binomial_error_test(max(ERRORS), 10, 0.3)
    of_sixteen = binomial_error_test(ERRORS, 10, 0.3)
    pooled = binomial_error_test(sum(ERRORS), 160, 0.3, alternative="less")
    highest = {m: critical(binomial_error_test(0, m, 0.3)) / m for m in (10, 100, 1000)}
    return Answer(
        [
            f"No: at an error rate of 0.30, five or more errors in ten rows have probability {worst.pvalue:.3f}.",
            f"The worst of sixteen experiments has five or more errors with probability {of_sixteen.pvalue:.3f}.",
            "The course's 0.047 is the probability of more than 5 errors. A p-value also counts the observed number "
            "itself, and a test of the worst of several experiments must correct for the choice of the worst.",
            "Together the 160 rows show the opposite: with 35 errors, the error rate is significantly below 0.30 (95 % "
            f"upper bound {_ends(pooled)[1]:.3f}, p = {pooled.pvalue:.4f}).",
        ],
        [
            Comparison("P(X > 5), 10 rows", worst.tail_above, "0.047", "course"),
            Comparison(
                "p-value of the worst experiment", worst.pvalue, "0.047", "course",
                "P(X > 5) excludes the observed number of errors, 5; the p-value is P(X >= 5)",
            ),
            Comparison("P(X >= 5)", worst.pvalue, "0.1502683", RECOMPUTED),
            Comparison("p-value, corrected for the choice of 16 (Sidak)", of_sixteen.pvalue, "0.926", RECOMPUTED),
            *(
                Comparison(f"critical error rate, {m:,} rows", highest[m], printed, RECOMPUTED)
                for m, printed in ((10, "0.5"), (100, "0.38"), (1000, "0.324"))
            ),
        ],
        pictures=[("null", [panel(draw_null, worst, SIZE)])],
    )  # fmt: skip


@example("2.4.1")
def t_test() -> Answer:
    """The t-test on sixteen error rates.

    The same sixteen experiments give sixteen error rates. What does a t-test of H0: error <= 0.30 conclude? State the
    hypothesis, compute the statistic and its p-value, and conclude.
    """
    rates = np.array(ERRORS) / 10
    greater, less, both = (error_rate_t_test(rates, 0.3, alternative=each) for each in ("greater", "less", "two-sided"))
    return Answer(
        [
            f"H0: error <= 0.30 against H1: error > 0.30. T = {greater.statistic:.3f} with 15 degrees of freedom, "
            f"p = {greater.pvalue:.3f}: H0 is not rejected.",
            f"The opposite hypothesis, H0: error >= 0.30, is rejected (p = {less.pvalue:.4f}): the mean error rate, "
            f"{rates.mean():.3f}, is significantly below 0.30 (95 % upper bound {_ends(less)[1]:.3f}). The two-sided "
            f"test does not reject at level 0.05 (p = {both.pvalue:.4f}).",
            "The test assumes independent, roughly normal rates. Each rate comes from ten rows, so it is "
            "a multiple of 0.1.",
        ],
        [
            Comparison("mean error rate", float(rates.mean()), "0.21875", RECOMPUTED),
            Comparison("standard deviation (K - 1)", float(rates.std(ddof=1)), "0.160078", RECOMPUTED),
            Comparison("T", greater.statistic, "-2.030259", RECOMPUTED),
            Comparison("p, error > 0.30", greater.pvalue, "0.9698", RECOMPUTED),
            Comparison("p, error < 0.30", less.pvalue, "0.0302", RECOMPUTED),
            Comparison("p, two-sided", both.pvalue, "0.0605", RECOMPUTED),
        ],
        pictures=[("null", [panel(draw_null, greater, SIZE)])],
    )


@example("2.4.2")
def five_by_two() -> Answer:
    """The 5x2 cross-validation t-test.

    Two learners predict whether a car is in the top quarter by miles per gallon. Each predicts the class whose mean is
    nearer: one learner uses the weight, the other the horsepower. Do their error rates differ? What does the test give
    for five given pairs of differences?
    """
    cars = load_auto()
    y = (cars["mpg"] > np.quantile(cars["mpg"], 0.75)).astype(int)
    weight, power = (
        estimate_error(nearest_mean, cars[name], y, KFold(2, n_repeats=5, stratified=True, rng=0), "error_rate")
        for name in ("weight", "horsepower")
    )
    errors, names = (weight["error_rate"], power["error_rate"]), ("weight", "horsepower")
    test = five_by_two_cv_t_test(*errors, names=names)
    tests = {
        "5x2cv t, first fold (Dietterich)": test,
        "5x2cv t, mean of two (the chapter)": five_by_two_cv_t_test(*errors, names=names, numerator="mean"),
        "5x2cv F, all ten (Alpaydin)": five_by_two_cv_f_test(*errors, names=names),
        "paired t, which assumes independent folds": paired_t_test(
            *(each.per_split.ravel() for each in errors), names=names
        ),
    }

    differences = np.array([[0.02, 0.04], [0.03, 0.01], [0.05, 0.02], [0.0, 0.03], [0.04, 0.02]])
    by_first, by_mean = (
        five_by_two_cv_t_test(differences, 0 * differences, numerator=each) for each in ("first", "mean")
    )
    by_all = five_by_two_cv_f_test(differences, 0 * differences)
    return Answer(
        [
            f"No significant difference between the error rates: {test.effect:.3f} ({_interval(test)}; 5x2cv t-test, "
            f"p = {test.pvalue:.3f}).",
            "The numerator of Dietterich's t-test is the first of ten differences, so the result depends on which fold "
            "came first. The F-test uses all ten. The chapter's numerator, the mean of the first two, varies less than "
            "the test assumes: at level 5 % the test then rejects only about 1.5 % of true null hypotheses.",
            "The paired t-test does find a difference, because it treats ten folds of the same rows as independent.",
            "The variance of a repetition is the sum of two squared deviations. One set of notes omits the squares; "
            "the sum of the deviations themselves is always 0.",
        ],
        [
            Comparison("critical value of t, 5 degrees of freedom", critical(test), "2.5706", "book"),
            Comparison("t of the five given pairs of differences", by_first.statistic, "1.154701", RECOMPUTED),
            Comparison("p of t", by_first.pvalue, "0.300398", RECOMPUTED),
            Comparison("t with the chapter's numerator, 1.5 times as large", by_mean.statistic, "1.732051", RECOMPUTED),
            Comparison("F of all ten", by_all.statistic, "2.933333", RECOMPUTED),
            Comparison("p of F", by_all.pvalue, "0.123263", RECOMPUTED),
        ],
        [table("Weight against horsepower", ["", "statistic", "p"],
               {name: [each.statistic, each.pvalue] for name, each in tests.items()})],
        [("null", [panel(draw_null, test, SIZE)])],
    )  # fmt: skip


def nearest_mean(x: Any, y: Any, x_new: Any) -> Any:
    """Predict the class whose mean is nearer."""
    low, high = x[y == 0].mean(), x[y == 1].mean()
    return (np.abs(x_new - high) < np.abs(x_new - low)).astype(int)


@example("2.4.3")
def mcnemar() -> Answer:
    """McNemar's test of two algorithms.

    Algorithms A and B classify 140 rows. Both are right on 56 rows, and both are wrong on 28. Only B is right on 35
    rows, and only A is right on 21. Is B better?
    """
    table_of_both = [[56, 35], [21, 28]]  # rows: B right, B wrong; columns: A right, A wrong
    tests = {
        method: mcnemar_test_of_table(table_of_both, method=method, names=("B", "A"))
        for method in ("exact", "mid-p", "corrected", "uncorrected")
    }
    exact, corrected, plain = tests["exact"], tests["corrected"], tests["uncorrected"]
    b, c = 35, 21
    as_printed = (abs(b - c) ** 2 - 1) / (b + c)
    no_variant = (
        "no version of the test gives 10.73: these counts give 3.0 to 3.5, and no version rejects the hypothesis"
    )
    level = (
        "5.023 is the critical value at level 0.025; at level 0.05 it is 3.841, since the test rejects only if the "
        "statistic is large"
    )
    return Answer(
        [
            "No significant difference: B is right on 91 of 140 rows (65 %) and A on 77 (55 %).",
            f"Exactly one algorithm is right on {b + c} rows; on 35 of these it is B (odds ratio {exact.effect:.2f}, "
            f"{_interval(exact)}; McNemar's exact test, p = {exact.pvalue:.4f}).",
            "Rows on which both are right, or both wrong, do not enter the test.",
            "The course finds a difference, with a chi-squared of 10.73 and p = 0.0010. Its formula has |b - c|^2 - 1 "
            f"instead of (|b - c| - 1)^2, but even this misprint gives {as_printed:.3f}, not 10.73. The course's "
            "text also swaps the algorithms: it says that A is right on 91 rows.",
        ],
        [
            Comparison("chi-squared, corrected", corrected.statistic, "10.73", "course", no_variant),
            Comparison("p of chi-squared, corrected", corrected.pvalue, "0.0010", "course", no_variant),
            Comparison("critical value at level 0.05", critical(corrected), "5.023", "course", level),
            Comparison("critical value at level 0.05", critical(corrected), "3.8415", "book"),
            Comparison("chi-squared, corrected", corrected.statistic, "3.017857", RECOMPUTED),
            Comparison("p of chi-squared, corrected", corrected.pvalue, "0.08235", RECOMPUTED),
            Comparison("chi-squared, uncorrected", plain.statistic, "3.5", RECOMPUTED),
            Comparison("p of chi-squared, uncorrected", plain.pvalue, "0.0614", RECOMPUTED),
            Comparison("p, exact", tests["exact"].pvalue, "0.0814", RECOMPUTED),
            Comparison("p, mid-p", tests["mid-p"].pvalue, "0.0627", RECOMPUTED),
        ],
        pictures=[("null", [panel(draw_null, corrected, SIZE)])],
    )
