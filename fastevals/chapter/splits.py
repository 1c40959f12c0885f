"""Section 2.2: how to make test sets, and what they say of a learner that is to meet new rows."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from fastevals import (
    BootstrapErrors,
    BootstrapSplit,
    ErrorEstimate,
    HoldOut,
    KFold,
    LeaveOneOut,
    LeavePOut,
    error_632_plus,
    estimate_error,
    evaluate_splits,
)
from fastevals.chapter.example import Answer, Comparison, example, table
from fastevals.chapter.pictures import panel
from fastevals.datasets import load_auto
from fastevals.show.plots.forest import draw_forest, forest_size


def nearest_neighbour(x: Any, y: Any, x_new: Any) -> Any:
    """Predict the class of the nearest row, columns standardised."""
    apart = (x_new[:, np.newaxis] - x) / x.std(axis=0)
    return y[(apart**2).sum(axis=2).argmin(axis=1)]


@example("2.2")
def splits() -> Answer:
    """Hold-out, cross-validation, leave-one-out and bootstrap.

    How often does a learner err on rows that it has not seen? The learner is the nearest neighbour, which never errs on
    rows that it has seen; the rows are 392 cars, and their class is whether they are among the quarter that goes
    farthest on a gallon.
    """
    cars = load_auto()
    x = np.column_stack([cars[name] for name in ("displacement", "horsepower", "weight", "acceleration")])
    y = (cars["mpg"] > np.quantile(cars["mpg"], 0.75)).astype(int)

    schemes = {
        "20 hold-outs": HoldOut(0.2, n_repeats=20, stratified=True, rng=0),
        "10 x 10 folds": KFold(10, n_repeats=10, stratified=True, rng=0),
        "leave-one-out": LeaveOneOut(),
        "200 bootstraps": BootstrapSplit(200, rng=0),
    }
    errors = {name: estimate_error(nearest_neighbour, x, y, each, "error_rate") for name, each in schemes.items()}
    for method in (".632", ".632+"):
        bootstrap = BootstrapSplit(200, rng=0)
        errors[method] = estimate_error(nearest_neighbour, x, y, bootstrap, "error_rate", method=method)
    found = {name: each["error_rate"] for name, each in errors.items()}
    parts = cast("BootstrapErrors", found[".632+"].bootstrap)

    left_out = np.mean([test.size for _, test in schemes["200 bootstraps"].split(x)]) / y.size
    return Answer(
        [
            f"Some {100 * found['10 x 10 folds'].value:.0f} of 100 new cars are misclassified, though none of the "
            "392 that the learner has stored: the empirical error says nothing of it.",
            "Hold-outs, folds, leave-one-out and the rows that bootstrap samples leave out agree. The .632 error gives "
            "the empirical error, 0, a weight of 0.368, and is far too low for a learner that overfits. .632+ sees how "
            f"far it does (a relative overfitting rate of {parts.relative_overfitting_rate:.2f}) and gives it less, "
            "here still too much.",
        ],
        [
            Comparison("share of rows that a bootstrap sample leaves out", float(left_out), "0.368", "book"),
            Comparison("(1 - 1/m)^m, m = 392", (1 - 1 / y.size) ** y.size, "0.37", "book, of m to infinity"),
            Comparison(
                ".632+ of errors 0 and 0.5, no-information rate 0.5", float(error_632_plus(0, 0.5, 0.5)), "0.5",
                "Efron and Tibshirani (1997)",
            ),
        ],
        [
            table(
                "Error rate", ["", "estimate", "from", "to", "splits"],
                {name: [each.value, *each.confidence_interval, each.per_split.size] for name, each in found.items()},
            )
        ],
        [("estimates", [_forest(found, "error rate of the nearest neighbour")])],
    )  # fmt: skip


@example("2.2.1")
def auto() -> Answer:
    """Exercises (a) to (e): predictors of cars, on test sets made in several ways.

    What is the squared loss (a) of mpg = 40 - 0.15 horsepower by hold-outs of a fifth, (b) of the same by 20 test sets
    of 10 rows; (c) of P(mpg01 = 1) = logistic(3.85 - 0.01 weight) by hold-outs, mpg01 being mpg above its upper
    quartile, (d) by stratified hold-outs? And (e) what does the way of sampling change?
    """
    cars = load_auto()
    mpg, predicted = cars["mpg"], 40 - 0.15 * cars["horsepower"]
    high = (mpg > np.quantile(mpg, 0.75)).astype(int)
    chance, better = (1 / (1 + np.exp(0.01 * cars["weight"] - shift)) for shift in (3.85, 22))

    hold_out, stratified = (HoldOut(0.2, n_repeats=2000, stratified=each, rng=0) for each in (False, True))
    of_mpg = {
        "(a) 2,000 of 79": _loss(mpg, predicted, hold_out, "mean_squared_error"),
        "(b) 20 of 10": _loss(mpg, predicted, LeavePOut(10, n_repeats=20, rng=0), "mean_squared_error"),
        "(b) 2,000 of 10": _loss(mpg, predicted, LeavePOut(10, n_repeats=2000, rng=0), "mean_squared_error"),
    }
    of_chance = {
        "(c) at random": _loss(high, chance, hold_out, "brier_score"),
        "(d) stratified": _loss(high, chance, stratified, "brier_score"),
        "(e) at random": _loss(high, better, hold_out, "brier_score"),
        "(e) stratified": _loss(high, better, stratified, "brier_score"),
    }
    a, b, many = of_mpg.values()
    c, d, plain, strata = of_chance.values()
    of_cars = (mpg - predicted) ** 2, (high - chance) ** 2, (high - better) ** 2
    mpg_table = _spread(of_mpg, [of_cars[0]] * 3)
    chance_table = _spread(of_chance, [of_cars[k] for k in (1, 1, 2, 2)])
    return Answer(
        [
            f"(a) {a.value:.2f}, miles a gallon squared; (b) {b.value:.2f}; (c) {c.value:.4f}; (d) {d.value:.4f}.",
            f"The chances of (c) are next to nothing, {chance.max():.0e} at most: 3.85 - 0.01 weight is below -12 for "
            "every car. So the loss is the share of cars with mpg01 = 1, in stratified test sets 19 of 79 each time.",
            "(e) Nothing is fitted, so every way of drawing test rows at random has the mean over all 392 rows in view "
            f"({np.mean((mpg - predicted) ** 2):.2f} of mpg). They differ in how far a test set is from it: those of "
            f"10 rows scatter {many.standard_deviation / a.standard_deviation:.1f} times as far as those of 79, and 20 "
            "of them leave the mean uncertain.",
            "The mean has two kinds of error. The Monte Carlo error is that of drawing only some test sets of these "
            "392 cars: more draws make it smaller. The standard error is that of having these cars and no others: "
            f"{mpg_table['(a) 2,000 of 79'][-1]:.2f} of mpg, however many test sets are drawn.",
            "Stratified test sets all have the same share of each class. That takes one reason to differ away, of (c) "
            "the only one; of chances that tell cars apart, logistic(22 - 0.01 weight), the spread falls from "
            f"{plain.standard_deviation:.4f} to {strata.standard_deviation:.4f}.",
        ],
        tables=[
            table(
                f"Squared loss of {target}",
                ["Test sets", "mean", "spread of one", "Monte Carlo error", "standard error of 392 cars"],
                rows,
            )
            for target, rows in (("mpg", mpg_table), ("mpg01; of (e) by better chances", chance_table))
        ],
        pictures=[("spread", [_spread_panel(of_mpg, "mpg"), _spread_panel(of_chance, "mpg01")])],
    )


@example("2.2.1")
def exercise_2_1() -> Answer:
    """Exercise 2.1: the number of hold-outs.

    1,000 rows, 500 of each class, are parted into 70 % for training and 30 % for the test. How many ways are there?
    """
    stratified, plain = math.comb(500, 150) ** 2, math.comb(1000, 300)
    y = np.repeat([0, 1], 500)
    in_test = HoldOut(0.3, stratified=True, rng=0).assignments(y, y)[0] == 1
    return Answer(
        [
            "Stratified, as the chapter asks, there are C(500, 150) squared of them: a number of "
            f"{len(str(stratified))} digits; of any 300 rows, C(1000, 300), one of {len(str(plain))}.",
            f"One in {plain / stratified:.0f} of those is stratified; one that HoldOut draws so has "
            f"{in_test[y == 0].sum()} rows of one class and {in_test[y == 1].sum()} of the other.",
        ]
    )


def _loss(y: Any, predicted: Any, splitter: Any, metric: str) -> ErrorEstimate:
    estimate: ErrorEstimate = evaluate_splits(y, predicted, splitter, metric)[metric]
    return estimate


def _forest(found: dict[str, ErrorEstimate], label: str) -> Any:
    rows = [(name, each.value, *each.confidence_interval) for name, each in found.items()]
    return panel(draw_forest, rows, forest_size(len(rows)), label=label)


def _spread(found: dict[str, ErrorEstimate], of_cars: list[Any]) -> dict[str, list[float]]:
    """Return the mean and spread over test sets, and two errors of the mean: Monte Carlo, and of the sample of cars."""
    rows = {}
    for (name, each), losses in zip(found.items(), of_cars, strict=True):
        errors = [
            each.standard_deviation / math.sqrt(each.per_split.size),
            np.std(losses, ddof=1) / math.sqrt(losses.size),
        ]
        rows[name] = [each.value, each.standard_deviation, *map(float, errors)]
    return rows


def _spread_panel(found: dict[str, ErrorEstimate], target: str) -> Any:
    """Draw the mean of each scheme, and the range of 95 % of its test sets."""
    rows = [(name, each.value, *np.quantile(each.per_split, [0.025, 0.975]).tolist()) for name, each in found.items()]
    return panel(draw_forest, rows, forest_size(len(rows)), label=f"squared loss of {target}")
