"""Sections 2.4.1 to 2.4.3: tests of one learner's error rate, and of whether one of two learners is better."""

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
from fastevals.chapter.measures import APART
from fastevals.chapter.pictures import panel
from fastevals.datasets import load_auto
from fastevals.show.plots.null_distribution import SIZE, draw_null

ERRORS = [3, 4, 1, 2, 0, 1, 2, 3, 1, 2, 4, 0, 0, 3, 4, 5]  # of 10 rows each


def critical(test: SignificanceResult) -> float:
    """Return the critical value of a test of one side, or of a statistic's size."""
    return cast("float", test.critical_value)


@example("2.4.1")
def binomial() -> Answer:
    """Sixteen experiments of ten rows: the binomial test.

    Is there a case against an error rate of at most 0.30? The course takes the worst experiment, 5 errors, and
    rejects. And how high may an error rate be before the test does?
    """
    worst = binomial_error_test(max(ERRORS), 10, 0.3)
    of_sixteen = binomial_error_test(ERRORS, 10, 0.3)
    pooled = binomial_error_test(sum(ERRORS), 160, 0.3, alternative="less")
    highest = {m: critical(binomial_error_test(0, m, 0.3)) / m for m in (10, 100, 1000)}
    return Answer(
        [
            f"No. Five errors of ten or more have a chance of {worst.pvalue:.3f} at a rate of 0.30, and the worst of "
            f"sixteen experiments has five or more with a chance of {of_sixteen.pvalue:.3f}: nearly always.",
            "The course's 0.047 is the chance of more than 5 errors. A p-value counts what was seen, too; and a test "
            "of the experiment that was picked for being the worst has to allow for the picking.",
            f"All 160 rows together show the opposite: 35 errors, and the rate is below 0.30 "
            f"(p = {pooled.pvalue:.4f}).",
        ],
        [
            Comparison("P(X > 5), 10 rows", worst.tail_above, "0.047", "course"),
            Comparison(
                "p-value of the worst experiment", worst.pvalue, "0.047", "course",
                "P(X > 5) leaves the five errors out that were seen: P(X >= 5) is the p-value",
            ),
            Comparison("P(X >= 5)", worst.pvalue, "0.1502683", APART),
            Comparison("p-value, corrected for the choice of 16 (Sidak)", of_sixteen.pvalue, "0.926", APART),
            *(
                Comparison(f"critical error rate, {m:,} rows", highest[m], printed, APART)
                for m, printed in ((10, "0.5"), (100, "0.38"), (1000, "0.324"))
            ),
        ],
        pictures=[("null", [panel(draw_null, worst, SIZE)])],
    )  # fmt: skip


@example("2.4.1")
def t_test() -> Answer:
    """The t-test over sixteen error rates.

    The same sixteen experiments give sixteen error rates. By a t-test of H0: error <= 0.30, what do they say? State the
    hypothesis, compute the statistic and its p-value, and conclude.
    """
    rates = np.array(ERRORS) / 10
    greater, less, both = (error_rate_t_test(rates, 0.3, alternative=each) for each in ("greater", "less", "two-sided"))
    return Answer(
        [
            f"H0: error <= 0.30 against H1: error > 0.30. T = {greater.statistic:.3f} on 15 degrees of freedom, "
            f"p = {greater.pvalue:.3f}: H0 is not rejected.",
            f"The other way round, H0: error >= 0.30 is rejected (p = {less.pvalue:.4f}): the mean error rate, "
            f"{rates.mean():.3f}, is shown to be below 0.30. The test of two sides doesn't reject at level 0.05: "
            f"p = {both.pvalue:.4f}.",
            "The test assumes rates that are independent and about normal; of ten rows they take steps of 0.1.",
        ],
        [
            Comparison("mean error rate", float(rates.mean()), "0.21875", APART),
            Comparison("standard deviation (K - 1)", float(rates.std(ddof=1)), "0.160078", APART),
            Comparison("T", greater.statistic, "-2.030259", APART),
            Comparison("p, error > 0.30", greater.pvalue, "0.9698", APART),
            Comparison("p, error < 0.30", less.pvalue, "0.0302", APART),
            Comparison("p, of two sides", both.pvalue, "0.0605", APART),
        ],
        pictures=[("null", [panel(draw_null, greater, SIZE)])],
    )


@example("2.4.2")
def five_by_two() -> Answer:
    """Five times two-fold cross-validation.

    Two learners call a car far-going if it is nearer to the mean of such cars than to that of the others: one looks at
    its weight, the other at its horsepower. Are their error rates different? And what does the test give for five pairs
    of differences that are worked by hand?
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
        "paired t, as if folds were independent": paired_t_test(
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
            f"It is not shown that they are: by the 5x2cv t-test p = {test.pvalue:.3f}.",
            "The t-test looks at one difference of ten, so it depends on which fold came first; the F-test on all. The "
            "chapter's numerator, a mean of two, varies less than the test supposes: at level 5 % it rejects some "
            "1.5 % of true hypotheses.",
            "The paired t-test would call them different, as if ten folds of the same rows were independent.",
            "The variance of a repetition is the sum of two squared deviations. One set of notes prints it without the "
            "squares: that sum is always 0.",
        ],
        [
            Comparison("critical value of t, 5 degrees of freedom", critical(test), "2.5706", "book"),
            Comparison("t of the differences worked by hand", by_first.statistic, "1.154701", APART),
            Comparison("p of t", by_first.pvalue, "0.300398", APART),
            Comparison("t with the chapter's numerator, 1.5 times as large", by_mean.statistic, "1.732051", APART),
            Comparison("F of all ten", by_all.statistic, "2.933333", APART),
            Comparison("p of F", by_all.pvalue, "0.123263", APART),
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

    Of 140 rows both algorithms have 56 right and 28 wrong; 35 only B has right, and 21 only A. Is B the better one?
    """
    table_of_both = [[56, 35], [21, 28]]  # rows: B right, B wrong; columns: A right, A wrong
    tests = {
        method: mcnemar_test_of_table(table_of_both, method=method, names=("B", "A"))
        for method in ("exact", "mid-p", "corrected", "uncorrected")
    }
    corrected, plain = tests["corrected"], tests["uncorrected"]
    b, c = 35, 21
    as_printed = (abs(b - c) ** 2 - 1) / (b + c)
    no_variant = "10.73 follows from no version of the test: these counts give 3.0 to 3.5, and nothing is rejected"
    level = "5.023 is the quantile of level 0.025: at 0.05 it is 3.841, of chi-squared both tails are in the upper one"
    return Answer(
        [
            f"It is not shown. B has 91 of 140 right (65 %), A 77 (55 %), but of the {b + c} rows on which they differ "
            f"35 : 21 is no rare split: p = {tests['exact'].pvalue:.4f} (exact).",
            "The rows that both have right, or wrong, have no part in it.",
            "The course finds p = 0.0010, and a difference. Its formula has (|b - c|^2 - 1) for (|b - c| - 1)^2, which "
            f"gives {as_printed:.3f} and doesn't lead to 10.73 either; and its text gives A the 91.",
        ],
        [
            Comparison("chi-squared, corrected", corrected.statistic, "10.73", "course", no_variant),
            Comparison("p of chi-squared, corrected", corrected.pvalue, "0.0010", "course", no_variant),
            Comparison("critical value at level 0.05", critical(corrected), "5.023", "course", level),
            Comparison("critical value at level 0.05", critical(corrected), "3.8415", "book"),
            Comparison("chi-squared, corrected", corrected.statistic, "3.017857", APART),
            Comparison("p of chi-squared, corrected", corrected.pvalue, "0.08235", APART),
            Comparison("chi-squared, uncorrected", plain.statistic, "3.5", APART),
            Comparison("p of chi-squared, uncorrected", plain.pvalue, "0.0614", APART),
            Comparison("p, exact", tests["exact"].pvalue, "0.0814", APART),
            Comparison("p, mid-p", tests["mid-p"].pvalue, "0.0627", APART),
        ],
        pictures=[("null", [panel(draw_null, corrected, SIZE)])],
    )
