"""Section 2.2: evaluation methods: hold-out, cross-validation and the bootstrap."""

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
from fastevals.document.picture import Panel
from fastevals.show.plots.forest import draw_forest, forest_size
from fastevals.show.plots.splits import draw_splits, read_splits, splits_size


def nearest_neighbour(x: Any, y: Any, x_new: Any) -> Any:
    """Predict the class of the nearest training row, after dividing columns by their standard deviations."""
    apart = (x_new[:, np.newaxis] - x) / x.std(axis=0)
    return y[(apart**2).sum(axis=2).argmin(axis=1)]


@example("2.2")
def splits() -> Answer:
    """Hold-out, cross-validation, leave-one-out and bootstrap.

    How often does a learner err on new rows? The learner is the nearest neighbour, which never errs on its training
    rows. The rows are 392 cars, and the positive class is the quarter with the most miles per gallon.
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
            f"The learner misclassifies about {100 * found['10 x 10 folds'].value:.0f} % of new cars, but none of its "
            "392 training rows: the empirical error does not estimate the generalisation error.",
            "Hold-outs, folds, leave-one-out and out-of-bag rows of the bootstrap agree. The .632 error is far too low "
            "for a learner that overfits, because it gives the empirical error, 0, a weight of 0.368. .632+ measures "
            f"the overfitting (relative overfitting rate {parts.relative_overfitting_rate:.2f}) and lowers that "
            "weight, but here not enough.",
            "The second picture shows how each scheme divides 12 rows of two classes into training and test rows.",
        ],
        [
            Comparison("share of rows left out of a bootstrap sample", float(left_out), "0.368", "book"),
            Comparison("(1 - 1/m)^m, m = 392", (1 - 1 / y.size) ** y.size, "0.37", "book, for m to infinity"),
            Comparison(
                ".632+ for errors 0 and 0.5, no-information rate 0.5", float(error_632_plus(0, 0.5, 0.5)), "0.5",
                "Efron and Tibshirani (1997)",
            ),
        ],
        [
            table(
                "Error rate", ["", "estimate", "from", "to", "splits"],
                {name: [each.value, *each.confidence_interval, each.per_split.size] for name, each in found.items()},
            )
        ],
        [("estimates", [_forest(found, "error rate of the nearest neighbour")]), ("folds", _dealt())],
    )  # fmt: skip


@example("2.2.1")
def auto() -> Answer:
    """Exercises (a) to (e): fixed predictors of cars, evaluated on several kinds of test sets.

    (a) What is the squared loss of mpg = 40 - 0.15 horsepower on hold-outs of 20 %? (b) And on 20 test sets of 10 rows,
    drawn without replacement? mpg01 = 1 where mpg is above its upper quartile. (c) What is the squared loss of
    P(mpg01 = 1) = logistic(3.85 - 0.01 weight) on hold-outs, and (d) on stratified hold-outs? (e) What does the
    sampling scheme change?
    """
    cars = load_auto()
    mpg, predicted = cars["mpg"], 40 - 0.15 * cars["horsepower"]
    high = (mpg > np.quantile(mpg, 0.75)).astype(int)
    chance, better = (1 / (1 + np.exp(0.01 * cars["weight"] - shift)) for shift in (3.85, 22))

    hold_out, stratified = (HoldOut(0.2, n_repeats=2000, stratified=each, rng=0) for each in (False, True))
    chosen = np.flatnonzero(HoldOut(200, rng=0).assignments(mpg)[0])  # 200 rows, for 20 folds of 10
    of_mpg = {
        "(a) 2,000 of 79": _loss(mpg, predicted, hold_out, "mean_squared_error"),
        "(b) 20 of 10": _loss(mpg, predicted, LeavePOut(10, n_repeats=20, rng=0), "mean_squared_error"),
        "(b) 20 of 10, disjoint": _loss(mpg[chosen], predicted[chosen], KFold(20, rng=0), "mean_squared_error"),
        "(b) 2,000 of 10": _loss(mpg, predicted, LeavePOut(10, n_repeats=2000, rng=0), "mean_squared_error"),
    }
    of_chance = {
        "(c) at random": _loss(high, chance, hold_out, "brier_score"),
        "(d) stratified": _loss(high, chance, stratified, "brier_score"),
        "(e) at random": _loss(high, better, hold_out, "brier_score"),
        "(e) stratified": _loss(high, better, stratified, "brier_score"),
    }
    a, b, disjoint, many = of_mpg.values()
    c, d, plain, strata = of_chance.values()
    of_cars = (mpg - predicted) ** 2, (high - chance) ** 2, (high - better) ** 2
    mpg_table = _spread(of_mpg, [of_cars[0]] * 4)
    mpg_table["(b) 20 of 10, disjoint"][2] *= math.sqrt(1 - 200 / 392)  # 200 of the 392 cars are in the mean
    chance_table = _spread(of_chance, [of_cars[k] for k in (1, 1, 2, 2)])
    return Answer(
        [
            f"(a) {a.value:.2f} (miles per gallon, squared); (b) {b.value:.2f}, or {disjoint.value:.2f} if the 20 test "
            f"sets are disjoint; (c) {c.value:.4f}; (d) {d.value:.4f}.",
            '"Without replacement" in (b) can be read in two ways. Each test set may be drawn from all 392 cars, so '
            "that test sets overlap; or the 20 test sets are disjoint and use 200 cars. Both kinds of test sets "
            "estimate the same mean. The Monte Carlo error of disjoint sets is smaller, because no car is in two sets.",
            f"In (c) every predicted probability is at most {chance.max():.0e}, because 3.85 - 0.01 weight is below "
            "-12 for every car. So the loss is the share of cars with mpg01 = 1. In a stratified test set this "
            "share is always 19 of 79.",
            "(e) Nothing is fitted, so every random scheme estimates the mean loss of all 392 cars, "
            f"{np.mean((mpg - predicted) ** 2):.2f} for mpg. The schemes differ in spread: the loss varies "
            f"{many.standard_deviation / a.standard_deviation:.1f} times as much between test sets of 10 rows as "
            "between test sets of 79, so the mean of only 20 test sets of 10 rows is uncertain.",
            "The mean has two kinds of random error. The Monte Carlo error comes from the random choice of test "
            "sets among these 392 cars; more test sets reduce it. The standard error comes from the choice of the 392 "
            f"cars themselves; it is {mpg_table['(a) 2,000 of 79'][-1]:.2f} for mpg, however many test sets are drawn.",
            "Stratified test sets all have the same class shares, which removes one source of variation. In (c) there "
            "is no other source. With probabilities that do vary, such as logistic(22 - 0.01 weight), stratification "
            f"reduces the spread from {plain.standard_deviation:.4f} to {strata.standard_deviation:.4f}.",
        ],
        tables=[
            table(
                f"Squared loss for {target}",
                ["Test sets", "mean", "spread", "Monte Carlo error", "standard error of 392 cars"],
                rows,
            )
            for target, rows in (("mpg", mpg_table), ("mpg01; (e) uses better probabilities", chance_table))
        ],
        pictures=[("spread", [_spread_panel(of_mpg, "mpg"), _spread_panel(of_chance, "mpg01")])],
    )


def _loss(y: Any, predicted: Any, splitter: Any, metric: str) -> ErrorEstimate:
    estimate: ErrorEstimate = evaluate_splits(y, predicted, splitter, metric)[metric]
    return estimate


def _dealt() -> list[Panel]:
    """Draw how four schemes divide 12 rows, of which 8 are negative, into training and test rows."""
    y = np.tile([0, 0, 1], 4)
    shown = {
        "hold-out, stratified": HoldOut(0.25, n_repeats=4, stratified=True, rng=0),
        "4 folds, stratified": KFold(4, stratified=True, rng=0),
        "leave-one-out": LeaveOneOut(),
        "bootstrap": BootstrapSplit(4, rng=0),
    }
    dealt = {name: read_splits(each, y=y) for name, each in shown.items()}
    return [panel(draw_splits, each, splits_size(each), name) for name, each in dealt.items()]


def _forest(found: dict[str, ErrorEstimate], label: str) -> Any:
    rows = [(name, each.value, *each.confidence_interval) for name, each in found.items()]
    return panel(draw_forest, rows, forest_size(len(rows)), label=label)


def _spread(found: dict[str, ErrorEstimate], of_cars: list[Any]) -> dict[str, list[float]]:
    """Return a row per scheme: mean, spread over test sets, and the mean's Monte Carlo error and standard error."""
    rows = {}
    for (name, each), losses in zip(found.items(), of_cars, strict=True):
        errors = [
            each.standard_deviation / math.sqrt(each.per_split.size),
            np.std(losses, ddof=1) / math.sqrt(losses.size),
        ]
        rows[name] = [each.value, each.standard_deviation, *map(float, errors)]
    return rows


def _spread_panel(found: dict[str, ErrorEstimate], target: str) -> Any:
    """Draw each scheme's mean loss, and the range of the middle 95 % of losses on its test sets."""
    rows = [(name, each.value, *np.quantile(each.per_split, [0.025, 0.975]).tolist()) for name, each in found.items()]
    return panel(draw_forest, rows, forest_size(len(rows)), label=f"squared loss for {target}")
