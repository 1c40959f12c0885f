"""Two exercises that the course assigns: 5 and 6, on resampling, in *An Introduction to Statistical Learning* (ISL)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastevals import HoldOut, bootstrap_statistic, estimate_error
from fastevals.chapter.example import Answer, Comparison, example, table
from fastevals.datasets import load_auto

STEPS = 8  # of Newton's method, which starts from zero; further steps change nothing


def fit_logistic(x: Any, y: Any) -> Any:
    """Fit a logistic regression without penalty by Newton's method; return its intercept and slopes."""
    design = np.column_stack([np.ones(len(x)), x])
    slopes = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-(design @ slopes)))
        information = (design.T * (chance * (1 - chance))) @ design
        slopes = slopes + np.linalg.solve(information, design.T @ (y - chance))
    return slopes


def logistic(x: Any, y: Any, x_new: Any) -> Any:
    """Predict the class whose probability is above one half."""
    intercept, *slopes = fit_logistic(x, y)
    return (intercept + x_new @ slopes > 0).astype(int)


def _cars() -> tuple[Any, Any]:
    """Return standardised horsepower and weight, and whether mpg is above its median."""
    cars = load_auto()
    x = np.column_stack([cars["horsepower"], cars["weight"]]).astype(float)
    return (x - x.mean(axis=0)) / x.std(axis=0), (cars["mpg"] > np.median(cars["mpg"])).astype(int)


@example("2.2.1")
def isl_5() -> Answer:
    """ISL, exercise 5: the validation set approach.

    A logistic regression predicts a class from two features. What is its error rate on three random validation sets,
    and does a third feature lower it? ISL uses its Default data, 10,000 simulated customers, which are not part of
    this package. Here ISL's Auto data replace them. The class is whether mpg is above its median, the features are
    horsepower and weight, and the third feature is whether the car is American.
    """
    x, y = _cars()
    american = (load_auto()["origin"] == 1).astype(float)
    halves, many = HoldOut(0.5, n_repeats=3, rng=0), HoldOut(0.5, n_repeats=40, rng=0)
    features = {"horsepower, weight": x, "and origin": np.column_stack([x, american])}
    three = {name: estimate_error(logistic, each, y, halves, "error_rate") for name, each in features.items()}
    forty = {name: estimate_error(logistic, each, y, many, "error_rate") for name, each in features.items()}
    rows = {
        name: [*three[name]["error_rate"].per_split.ravel().tolist(), forty[name]["error_rate"].value]
        for name in features
    }
    plain, further = (np.ravel(each["error_rate"].per_split) for each in forty.values())
    return Answer(
        [
            f"The error rate is {', '.join(f'{each:.3f}' for each in rows['horsepower, weight'][:3])} on three "
            "validation sets of half the cars: it depends on which cars are held out.",
            "The car's origin as a third feature does not lower the error rate: the mean over 40 validation sets is "
            f"{plain.mean():.4f} without the origin and {further.mean():.4f} with it.",
        ],
        tables=[table("Error rate on validation sets", ["Features", "set 1", "set 2", "set 3", "mean of 40"], rows)],
    )


@example("2.2.3")
def isl_6() -> Answer:
    """ISL, exercise 6: standard errors of coefficients by bootstrap.

    What are the standard errors of a logistic regression's coefficients by formula, and by resampling the rows? What
    are the standard errors of a and b in the line mpg = a + b horsepower of ISL's lab? The data are the same as in
    exercise 5.
    """
    x, y = _cars()
    cars = load_auto()
    power, mpg = cars["horsepower"].astype(float), cars["mpg"]
    coefficients: Any = bootstrap_statistic((x, y), fit_logistic, n_resamples=499, method="percentile", rng=0)[
        "fit_logistic"
    ]
    line: Any = bootstrap_statistic((power, mpg), _line, n_resamples=999, rng=0)["_line"]

    design = np.column_stack([np.ones(len(x)), x])
    chance = 1 / (1 + np.exp(-(design @ coefficients.value)))
    by_formula = np.sqrt(np.diag(np.linalg.inv((design.T * (chance * (1 - chance))) @ design)))
    powers = np.column_stack([np.ones(power.size), power])
    residuals = mpg - powers @ line.value
    of_line = np.sqrt(np.diag(np.linalg.inv(powers.T @ powers)) * (residuals @ residuals) / (power.size - 2))
    names = ["logistic, intercept", "logistic, horsepower", "logistic, weight", "line, intercept", "line, horsepower"]
    columns = [
        np.concatenate(pair)
        for pair in (
            (coefficients.value, line.value), (by_formula, of_line),
            (coefficients.standard_error, line.standard_error),
            (coefficients.confidence_interval.low, line.confidence_interval.low),
            (coefficients.confidence_interval.high, line.confidence_interval.high),
        )
    ]  # fmt: skip
    return Answer(
        [
            f"For the logistic regression the two standard errors are close: {by_formula[1]:.3f} by formula and "
            f"{coefficients.standard_error[1]:.3f} by bootstrap for the slope of horsepower.",
            f"For the line the bootstrap's standard errors are larger: {line.standard_error[0]:.2f} against "
            f"{of_line[0]:.2f} for the intercept. The formula assumes that the line is the true relation and that "
            "the noise is the same everywhere. In fact mpg falls along a curve as horsepower rises, and varies more "
            "where horsepower is low. The bootstrap makes neither assumption.",
            "bootstrap_statistic takes the rows and any function of them.",
        ],
        [
            Comparison("intercept of the line", float(line.value[0]), "39.936", "ISL, section 5.3.4"),
            Comparison("slope of the line", float(line.value[1]), "-0.158", "ISL, section 5.3.4"),
            Comparison("standard error of the intercept, by formula", float(of_line[0]), "0.717", "ISL, section 5.3.4"),
            Comparison("standard error of the slope, by formula", float(of_line[1]), "0.006", "ISL, section 5.3.4"),
        ],
        [
            table(
                "Coefficients", ["", "estimate", "error by formula", "error by bootstrap", "from", "to"],
                {name: [float(column[k]) for column in columns] for k, name in enumerate(names)},
            )
        ],
    )  # fmt: skip


def _line(x: Any, y: Any) -> Any:
    """Fit a line by least squares; return its intercept and slope."""
    return np.polyfit(x, y, 1)[::-1]
