"""Level of tests under equally good learners at 5 %; ``python -m benches.levels`` prints the table of docs/tests.md.

Its arguments are the kinds of data ("sets", "folds", "rows"); without any, all of them.

Results on data sets are shares of 50 test rows that are classified correctly, so that they have ties; the share's
expectation differs between data sets, and between learners on a data set, but no learner is better on average. Folds
are of real learners on 100 or 400 rows of two normal classes: both learners of a pair are the same algorithm on two
different, equally informative sets of columns. Rows are classified by two models that are equally good.

The attainable level of an exact test is the largest probability below 5 % that its p-value can have, given the sizes of
the differences, averaged over tables.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import fastevals
from fastevals.infer.significance.pairwise import TESTS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEED, ALPHA = 20261127, 0.05
N_SETS, N_LEARNERS, N_TEST = 12, 5, 50
N_PAIRS, N_TABLES, N_MODELS = 20_000, 2_000, 2_000
FOLDS, HALVES = (10, 10), (5, 2)  # repetitions, folds
DISTANCE = 0.8


class Level(NamedTuple):
    """How often a test rejects."""

    data: str
    test: str
    rejected: float
    n: int
    attainable: float = math.nan

    def row(self) -> str:
        """Return a row of a Markdown table, in percent."""
        error = 100 * math.sqrt(ALPHA * (1 - ALPHA) / self.n)
        most = "" if math.isnan(self.attainable) else f"{100 * self.attainable:.2f}"
        return f"| {self.data} | {self.test} | {100 * self.rejected:.2f} | {error:.2f} | {most} |"


# Results on data sets -------------------------------------------------------------------------------------------------


def tables(rng: np.random.Generator, n: int) -> Floats:
    """Return tables of shape (n, data sets, learners) without a better learner."""
    expected = rng.uniform(0.6, 0.95, (n, N_SETS, 1)) + rng.normal(0, 0.02, (n, N_SETS, N_LEARNERS))
    return rng.binomial(N_TEST, np.clip(expected, 0, 1)) / N_TEST


def attainable(weights: Floats) -> float:
    """Return the largest level below 5 % of the sum of signed weights, if both signs are equally likely."""
    sums = np.zeros(1)
    for each in weights[weights > 0]:
        sums = np.concatenate((sums - each, sums + each))
    sizes = np.sort(np.abs(sums))
    levels = 1 - np.searchsorted(sizes, sizes - 1e-9) / sizes.size
    return float(levels[levels < ALPHA].max(initial=0.0))


WEIGHTS: dict[str, Callable[[Floats], Floats]] = {
    "wilcoxon": lambda d: (d[:, None] > d).sum(axis=1) + ((d[:, None] == d).sum(axis=1) + 1) / 2 - (d == 0).sum(),
    "sign": lambda d: np.ones_like(d),
    "permutation": lambda d: d,
}


def on_sets() -> Iterator[Level]:
    """Yield the levels of tests on data sets."""
    rng, name = np.random.default_rng(SEED), f"{N_SETS} data sets"
    drawn = tables(rng, N_PAIRS)
    first, second = np.ascontiguousarray(drawn[..., 0]), np.ascontiguousarray(drawn[..., 1])
    sizes = np.round(np.abs(first - second)[:1000], 9)
    for test in ("wilcoxon", "sign", "permutation", "paired-t"):
        entry = TESTS[test]
        pvalue = entry.core(first, second, "two-sided", **entry.options())[1]
        most = math.nan
        if test in WEIGHTS:
            most = float(np.mean([attainable(WEIGHTS[test](each[each > 0])) for each in sizes]))
        yield Level(name, f"`{test}` of two learners", float(np.mean(pvalue < ALPHA)), N_PAIRS, most)
    calls: dict[str, Any] = {
        "`friedman_test` (F)": lambda table: fastevals.friedman_test(table).rejected,
        "`friedman_test` (chi-square)": lambda table: fastevals.friedman_test(table, statistic="chi-square").rejected,
        "`nemenyi_test`": lambda table: fastevals.nemenyi_test(table).rejected,
        "`bonferroni_dunn_test`": lambda table: fastevals.bonferroni_dunn_test(table, 0).rejected,
    }
    for correction in ("holm", "shaffer", "finner"):
        for function in (fastevals.rank_comparison_test, fastevals.pairwise_tests):
            made: Any = partial(function, correction=correction)
            calls[f"`{function.__name__}`, {correction}"] = lambda table, made=made: made(table).rejected
    for test, call in calls.items():
        yield Level(name, test, float(np.mean([np.any(call(each)) for each in drawn[:N_TABLES]])), N_TABLES)


# Folds of real learners -----------------------------------------------------------------------------------------------


def nearest(k: int) -> Callable[[Floats, Ints, Ints], Floats]:
    """Return a learner that predicts the majority of the k nearest neighbours, for whole cross-validations."""

    def wrong(X: Floats, y: Ints, fold: Ints) -> Floats:
        order = np.argsort(np.square(X[:, None] - X).sum(axis=-1), axis=1, kind="stable")
        others = fold[order] != fold[:, None]
        taken = others & (np.cumsum(others, axis=1) <= k)
        found: Floats = (2 * (taken * y[order]).sum(axis=1) > k) != y
        return found

    return wrong


def by_fold(predict: Callable[[Floats, Ints, Floats], Any]) -> Callable[[Floats, Ints, Ints], Floats]:
    """Return a learner, given by its predictions for test rows, for whole cross-validations."""

    def wrong(X: Floats, y: Ints, fold: Ints) -> Floats:
        found = np.empty(y.size)
        for test in (fold == k for k in range(fold.max() + 1)):
            found[test] = predict(X[~test], y[~test], X[test]) != y[test]
        return found

    return wrong


def cut(X: Floats, y: Ints, X_test: Floats) -> Any:
    """Predict by the first column, cut halfway between the class means."""
    low, high = (X[y == label, 0].mean() for label in (0, 1))
    return (X_test[:, 0] - (low + high) / 2) * (high - low) > 0


def naive_bayes(X: Floats, y: Ints, X_test: Floats) -> Any:
    """Predict by normal densities of each column."""
    parts = [X[y == label] for label in (0, 1)]
    logs = [
        -(np.square(X_test - part.mean(axis=0)) / part.var(axis=0) / 2 + np.log(part.var(axis=0)) / 2).sum(axis=1)
        for part in parts
    ]
    return logs[1] > logs[0]


def tree(X: Floats, y: Ints, X_test: Floats) -> Any:
    """Predict by a decision tree."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0).fit(X, y).predict(X_test)


LEARNERS: dict[str, tuple[Callable[[Floats, Ints, Ints], Floats], int, int]] = {  # learner, rows, data sets
    "one column, cut": (by_fold(cut), 100, 1000),
    "naive Bayes": (by_fold(naive_bayes), 100, 1000),
    "1 nearest neighbour": (nearest(1), 100, 2000),
    "5 nearest neighbours": (nearest(5), 100, 2000),
    "1 nearest neighbour, 400 rows": (nearest(1), 400, 500),
    "decision tree": (by_fold(tree), 100, 300),
}


def on_folds() -> Iterator[Level]:
    """Yield the levels of tests on folds."""
    for name, (wrong, n, n_sets) in LEARNERS.items():
        rng = np.random.default_rng(SEED)
        results = {grid: np.empty((2, n_sets, math.prod(grid))) for grid in (FOLDS, HALVES)}
        y = np.arange(n) % 2
        for number in range(n_sets):
            X = rng.normal(size=(n, 4)) + DISTANCE * y[:, None]
            for (repeats, k), values in results.items():
                folds = [rng.permutation(n) % k for _ in range(repeats)]
                for learner, columns in enumerate((slice(0, 2), slice(2, 4))):
                    rates = [np.bincount(fold, wrong(X[:, columns], y, fold)) / np.bincount(fold) for fold in folds]
                    values[learner, number] = np.concatenate(rates)
        tested: dict[str, tuple[Floats, str, dict[str, Any]]] = {
            "`corrected_resampled_t_test`": (results[FOLDS], "corrected-resampled-t", {}),
            "`corrected_resampled_t_test`, conservative": (
                results[FOLDS], "corrected-resampled-t", {"conservative": True}
            ),
            "`corrected_resampled_t_test`, 10 folds": (results[FOLDS][..., :10], "corrected-resampled-t", {}),
            "`five_by_two_cv_t_test`": (results[HALVES], "5x2cv-t", {}),
            "`five_by_two_cv_f_test`": (results[HALVES], "5x2cv-f", {}),
        }  # fmt: skip
        for test, (values, key, options) in tested.items():
            sizes = {"n_train": 9, "n_test": 1} if key == "corrected-resampled-t" else {}
            entry = TESTS[key]
            pvalue = entry.core(*np.ascontiguousarray(values), "two-sided", **entry.options(**sizes, **options))[1]
            yield Level(f"folds, {name}", test, float(np.mean(pvalue < ALPHA)), n_sets)


# Rows -----------------------------------------------------------------------------------------------------------------


def on_rows() -> Iterator[Level]:
    """Yield the levels of tests on the same 200 rows."""
    rng, n = np.random.default_rng(SEED), 200
    calls: dict[str, Any] = {
        "`mcnemar_test`": lambda y, scores: fastevals.mcnemar_test(y, *(scores[:2] > 0)),
        "`mcnemar_test`, mid-p": lambda y, scores: fastevals.mcnemar_test(y, *(scores[:2] > 0), method="mid-p"),
        "`permutation_test`, F1": lambda y, scores: fastevals.permutation_test(
            y, scores[0] > 0, scores[1] > 0, "f1", rng=1
        ),
        "`delong_test`": lambda y, scores: fastevals.delong_test(y, *scores[:2]),
        "`cochran_q_test` of three models": lambda y, scores: fastevals.cochran_q_test(y, scores > 0),
    }
    rejected = dict.fromkeys(calls, 0)
    for _ in range(N_MODELS):
        y = rng.integers(0, 2, n)
        scores = 2 * y - 1 + rng.normal(size=n) + rng.normal(size=(3, n))
        for test, call in calls.items():
            rejected[test] += bool(call(y, scores).rejected)
    for test, count in rejected.items():
        yield Level(f"{n} rows", test, count / N_MODELS, N_MODELS)


KINDS = {"sets": on_sets, "folds": on_folds, "rows": on_rows}


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
    print("| data | test | rejected, % | standard error | attainable, % |\n|---|---|---|---|---|")
    for kind in sys.argv[1:] or KINDS:
        start = time.perf_counter()
        for level in KINDS[kind]():
            print(level.row(), flush=True)
        print(f"{kind}: {time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
