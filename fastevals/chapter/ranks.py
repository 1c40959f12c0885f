"""Sections 2.4 and 2.4.4: critical values, and rank tests of several learners on several data sets."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from fastevals import adjust_pvalues, friedman_test, mcnemar_test_of_table, nemenyi_test, paired_t_test
from fastevals.chapter.example import Answer, Comparison, Pictures, example, table
from fastevals.chapter.measures import RECOMPUTED
from fastevals.chapter.pictures import panel
from fastevals.chapter.tests import critical
from fastevals.datasets import load_psnr
from fastevals.show.plots.critical_difference import draw_critical_difference
from fastevals.show.plots.null_distribution import SIZE, draw_null

RANKS = {"A": [1, 1, 1, 1], "B": [2, 2.5, 2, 2], "C": [3, 2.5, 3, 3]}  # on the data sets D1 to D4
METHODS = ("K-SVD", "K-SVD-N", "NLM", "K-SVD-N-NL")


@example("2.4")
def critical_values() -> Answer:
    """Tables 2.3, 2.6 and 2.7: critical values.

    What are the critical values of the t-test on k folds, Friedman's F, Nemenyi's q, and McNemar's chi-squared?
    """
    levels, counts = (0.05, 0.1), range(2, 11)

    def results(n: int, k: int) -> Any:
        """Return arbitrary results of `k` algorithms on `n` data sets; critical values depend only on these numbers."""
        return np.add.outer(np.arange(n), np.arange(k)) % k

    def t(k: int, level: float) -> float:
        return critical(paired_t_test(np.arange(k), np.zeros(k), confidence_level=1 - level))

    def f(n: int, k: int, level: float) -> float:
        return critical(friedman_test(results(n, k), confidence_level=1 - level))

    def q(k: int, level: float) -> float:
        nemenyi = nemenyi_test(results(6, k), confidence_level=1 - level)
        return float(nemenyi.critical_difference / math.sqrt(k * (k + 1) / (6 * 6)))

    chi_square = {
        level: critical(mcnemar_test_of_table([[1, 1], [1, 1]], method="corrected", confidence_level=1 - level))
        for level in levels
    }
    columns = ["", *map(str, counts)]
    return Answer(
        [
            "Every test computes its own critical value (attribute critical_value or critical_difference), so no table "
            "is needed.",
            "The tables below are computed from these attributes.",
        ],
        [
            Comparison("t of 6 results (5 degrees of freedom), level 0.05", t(6, 0.05), "2.5706", "book"),
            Comparison("t of 6 results (5 degrees of freedom), level 0.1", t(6, 0.1), "2.0150", "book"),
            Comparison("chi-squared, level 0.05", chi_square[0.05], "3.8415", "book"),
            Comparison("chi-squared, level 0.1", chi_square[0.1], "2.7055", "book"),
            Comparison("F of 3 algorithms on 4 data sets, level 0.05", f(4, 3, 0.05), "5.143", "book"),
            Comparison("q of 3 algorithms, level 0.05", q(3, 0.05), "2.344", "book"),
            *(
                Comparison(f"q of {k} algorithms, level {level}", q(k, level), printed, RECOMPUTED)
                for k, level, printed in (
                    (2, 0.05, "1.959964"), (10, 0.05, "3.163684"), (2, 0.1, "1.644854"), (10, 0.1, "2.919889")
                )
            ),
        ],
        [
            table(
                "2.3: two-sided t, by number of folds", ["Level", "2", "5", "10", "20", "30"],
                {str(level): [t(k, level) for k in (2, 5, 10, 20, 30)] for level in levels},
            ),
            *(
                table(
                    f"2.6: F at level {level}, by number of data sets and algorithms", columns,
                    {f"{n} data sets": [f(n, k, level) for k in counts] for n in (4, 5, 8, 10, 15, 20)},
                )
                for level in levels
            ),
            table(
                "2.7: Nemenyi's q, by number of algorithms", columns,
                {str(level): [q(k, level) for k in counts] for level in levels},
            ),
        ],
    )  # fmt: skip


@example("2.4.4")
def table_2_5() -> Answer:
    """Table 2.5 and figure 2.8: Friedman's and Nemenyi's tests.

    Algorithms A, B and C rank 1, 2 and 3 on three data sets. On a fourth, A ranks first, and B and C tie for
    ranks 2 and 3. Do the algorithms differ, and if so, which ones?
    """
    plain = friedman_test(RANKS, higher_is_better=False, tie_correction=False)
    friedman = friedman_test(RANKS, higher_is_better=False)
    chi_square = friedman_test(RANKS, higher_is_better=False, statistic="chi-square")
    nemenyi = nemenyi_test(RANKS, higher_is_better=False)
    n, k = 4, 3
    q = nemenyi.critical_difference / math.sqrt(k * (k + 1) / (6 * n))
    a, b, c = friedman.mean_ranks.tolist()
    misprint = "misprint: 2.875 - 1 is 1.875; the conclusion stays the same"
    return Answer(
        [
            f"They differ: F = {friedman.statistic:.3g} with the correction for ties and {plain.statistic:.3f} without "
            f"it; the critical value is {critical(friedman):.3f}.",
            f"Nemenyi's test finds a difference between A and C (mean ranks {a:g} and {c:g}, critical difference "
            f"{nemenyi.critical_difference:.3f}). There is no significant difference between A and B, or B and C. In "
            "figure 2.8 only the bars of A and C do not overlap.",
            "The book's (2.34) does not correct for the tie on D2. R's friedman.test does, so the course prints a "
            "chi-squared of 7.6 and an F of 57 where the book prints 7.125 and 24.429. With only four data sets, the "
            "chi-squared and F distributions are rough approximations.",
        ],
        [
            Comparison("chi-squared, without tie correction", plain.chi_square, "7.125", "book (2.34)"),
            Comparison("F, without tie correction", plain.statistic, "24.429", "book"),
            Comparison("critical value of F", critical(plain), "5.143", "book, table 2.6"),
            Comparison("chi-squared, tie-corrected", friedman.chi_square, "7.6", "course (R)"),
            Comparison("p of chi-squared, tie-corrected", chi_square.pvalue, "0.02237", "course (R)"),
            Comparison("F, tie-corrected", friedman.statistic, "57", "course"),
            Comparison("mean rank of A", a, "1", "book"),
            Comparison("mean rank of B", b, "2.125", "book"),
            Comparison("mean rank of C", c, "2.875", "book"),
            Comparison("q, 3 algorithms", q, "2.344", "book, table 2.7"),
            Comparison("critical difference", float(nemenyi.critical_difference), "1.657", "book"),
            Comparison("difference of the mean ranks of A and B", b - a, "1.125", "course"),
            Comparison("difference of the mean ranks of B and C", c - b, "0.75", "course"),
            Comparison("difference of the mean ranks of A and C", c - a, "1.775", "course", misprint),
        ],
        pictures=[*_diagrams(nemenyi), ("null", [panel(draw_null, friedman, SIZE)])],
    )


@example("2.4.4")
def psnr_cameraman() -> Answer:
    """Homework: PSNR above 20 dB on Cameraman.

    Four algorithms denoise the image Cameraman at nine levels of noise. Which ones exceed a signal-to-noise ratio of
    20 dB?
    """
    columns = load_psnr()
    cameraman = columns["image"] == "Cameraman"
    tests = {
        name: paired_t_test(columns[name][cameraman], np.full(9, 20.0), alternative="greater", names=(name, "20 dB"))
        for name in METHODS
    }
    adjusted = adjust_pvalues([each.pvalue for each in tests.values()], correction="holm")
    printed = ["0.049", "0.0112", "0.0054", "0.00014"]
    rows: dict[str, list[float | str]] = {}
    for (name, each), p in zip(tests.items(), adjusted.tolist(), strict=True):
        above = columns["sigma"][cameraman & (columns[name] > 20)]
        low, _ = each.confidence_interval or (np.nan, np.nan)
        rows[name] = [
            float(each.effect or 0.0) + 20,
            low + 20,
            each.statistic,
            each.pvalue,
            p,
            f"sigma <= {above.max()}",
        ]
    return Answer(
        [
            "All four: at level 0.05 every mean is significantly above 20 dB.",
            f"With Holm's correction for four tests the largest p-value is still {adjusted[0]:.3f}, for K-SVD.",
            "The t-test assumes nine independent values. But here all nine come from one image, at increasing levels "
            "of noise, so the conclusion holds only for the mean over these levels. The last column of the table says "
            "more: it gives the highest noise at which each algorithm is above 20 dB.",
            "The homework says 20 %, but its table is in dB, so 20 dB is used here.",
        ],
        [
            Comparison(f"p, {name}", each.pvalue, figure, RECOMPUTED)
            for (name, each), figure in zip(tests.items(), printed, strict=True)
        ],
        [table("Cameraman", ["", "mean", "95 % lower bound", "t", "p", "p (Holm)", "above 20 dB"], rows)],
        [("null", [panel(draw_null, tests["K-SVD"], SIZE)])],
    )


@example("2.4.4")
def psnr() -> Answer:
    """Homework: four denoising algorithms.

    Four algorithms denoise five images. Do their signal-to-noise ratios differ at sigma = 20, and over all nine levels?
    """
    columns = load_psnr()
    every = {name: columns[name] for name in METHODS}
    at_20 = {name: each[columns["sigma"] == 20] for name, each in every.items()}
    means = {name: each.reshape(5, 9).mean(axis=1) for name, each in every.items()}  # of each image
    friedman, friedman_every, friedman_means = map(friedman_test, (at_20, every, means))
    nemenyi_tests = at_five, *_ = [nemenyi_test(each) for each in (at_20, every, means)]
    chi_square, chi_square_every = (friedman_test(each, statistic="chi-square") for each in (at_20, every))
    return Answer(
        [
            f"The ratios differ at sigma = 20: F = {friedman.statistic:.2f}, p = {friedman.pvalue:.4f}.",
            "Nemenyi's test finds "
            "a difference between K-SVD and K-SVD-N-NL, the algorithms with the worst and the best mean rank (3.6 and "
            f"1.2, critical difference {at_five.critical_difference:.3f}).",
            "Over all 45 blocks (five images at nine noise levels), five of the six pairs differ. But the nine noise "
            "levels of one image are not independent, so these p-values are far too small.",
            "Averaging each image over its noise levels leaves five blocks: "
            f"F = {friedman_means.statistic:.1f}, p = {friedman_means.pvalue:.1g}. {nemenyi_tests[-1].conclusion}",
        ],
        [
            *(
                Comparison(f"mean rank of {name}, sigma 20", rank, printed, RECOMPUTED)
                for name, rank, printed in zip(
                    METHODS, friedman.mean_ranks.tolist(), ["3.6", "2.2", "3.0", "1.2"], strict=True
                )
            ),
            Comparison("chi-squared, sigma 20", chi_square.statistic, "9.72", RECOMPUTED),
            Comparison("p of chi-squared, sigma 20", chi_square.pvalue, "0.0211", RECOMPUTED),
            Comparison("F, sigma 20", friedman.statistic, "7.364", RECOMPUTED),
            Comparison("p of F, sigma 20", friedman.pvalue, "0.00466", RECOMPUTED),
            Comparison("critical difference, five images", float(at_five.critical_difference), "2.098", RECOMPUTED),
            *(
                Comparison(f"mean rank of {name}, all blocks", rank, printed, RECOMPUTED)
                for name, rank, printed in zip(
                    METHODS, friedman_every.mean_ranks.tolist(), ["3.778", "2.578", "2.622", "1.022"], strict=True
                )
            ),
            Comparison("chi-squared, all blocks", chi_square_every.statistic, "103.61", RECOMPUTED),
        ],
        [
            table(
                "p-values of pairs, by Nemenyi's test", ["", "sigma 20", "45 blocks", "image means"],
                {
                    f"{one} - {other}": [each.between(one, other).pvalue for each in nemenyi_tests]
                    for one, other in combinations(METHODS, 2)
                },
            )
        ],
        _diagrams(nemenyi_tests[0]),
    )  # fmt: skip


def _diagrams(nemenyi: Any) -> Pictures:
    """Draw the book's diagram, with bars as long as the critical difference, and then Demsar's diagram."""
    return [
        ("critical_difference_ranges", [panel(draw_critical_difference, nemenyi, form="ranges")]),
        ("critical_difference", [panel(draw_critical_difference, nemenyi)]),
    ]
