"""Sections 2.1 and 2.5: overfitting; bias, variance and noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastevals import bias_variance_curve, regression_metrics
from fastevals.chapter.example import Answer, Comparison, example, table
from fastevals.chapter.pictures import panel
from fastevals.show.plots.bias_variance import SIZE, draw_bias_variance
from fastevals.show.plots.fits import compute_fits, draw_fits

NOISE = 0.3  # standard deviation


def polynomial(x: Any, y: Any, x_new: Any, degree: int) -> Any:
    """Fit a polynomial by least squares and predict with it."""
    return np.polynomial.Polynomial.fit(x, y, degree)(x_new)


@example("2.1")
def overfitting() -> Answer:
    """Overfitting and underfitting.

    Polynomials of degree 1, 3 and 13 are fitted to 20 noisy points of a sine. Which one underfits, which one overfits,
    and how do the training error and the error on new rows show it?
    """
    rng = np.random.default_rng(1)
    x, x_new = np.sort(rng.uniform(0, 1, 20)), np.sort(rng.uniform(0.03, 0.95, 2000))
    y, y_new = np.sin(2 * np.pi * x) + rng.normal(0, NOISE, 20), np.sin(2 * np.pi * x_new) + rng.normal(0, NOISE, 2000)
    errors = {
        f"degree {degree}": [
            regression_metrics(true, polynomial(x, y, at, degree)).mean_squared_error
            for true, at in ((y, x), (y_new, x_new))
        ]
        for degree in (1, 3, 13)
    }
    (line, line_new), (_, cubic_new), (high, high_new) = errors.values()
    fits = compute_fits(polynomial, x, y, "degree", (1, 3, 13), truth=lambda points: np.sin(2 * np.pi * points))
    return Answer(
        [
            "Degree 1 underfits and degree 13 overfits.",
            f"Degree 1: the mean squared error is large on training rows ({line:.3f}) and on new rows "
            f"({line_new:.3f}). Degree 13: the training error is the smallest ({high:.3f}), and the error on "
            f"new rows is the largest ({high_new:.3g}). Degree 3 has the smallest error on new rows ({cubic_new:.3f}).",
            f"The variance of the noise is {NOISE**2:.2f}. A training error below this variance, as for degree 13, "
            "means that the fit follows the noise. The picture shows this: the curve of degree 13 passes close to "
            "every training row and swings between rows.",
        ],
        tables=[table("Mean squared error", ["", "training rows", "2,000 new rows"], errors)],
        pictures=[("fits", [panel(draw_fits, fits)])],
    )


@example("2.5")
def bias_variance() -> Answer:
    """Bias, variance and noise of polynomials by degree.

    A sine is observed with noise of standard deviation 0.3. Polynomials are fitted to 200 training sets of 60 points.
    How large are bias, variance and noise at each degree, and which degree is best?
    """
    rng = np.random.default_rng(0)
    x, x_test = rng.uniform(0, 1, 1000), (np.arange(200) + 0.5) / 200
    truth = np.sin(2 * np.pi * x_test)
    y, observed = np.sin(2 * np.pi * x) + rng.normal(0, NOISE, 1000), truth + rng.normal(0, NOISE, 200)

    curve = bias_variance_curve(
        polynomial, x, y, x_test, truth, y_observed=observed, parameter="degree", values=range(9), n_sets=200,
        train_size=60, replace=False, rng=0,
    )  # fmt: skip
    parts, best = curve.parts(), int(curve.best())
    left = curve.expected_loss - sum(parts.values())
    names = list(parts)
    rows: dict[str, list[float | str]] = {
        f"degree {degree}": [float(loss), *(float(parts[name][k]) for name in names), fit]
        for k, (degree, loss, fit) in enumerate(zip(range(9), curve.expected_loss.tolist(), curve.fits, strict=True))
    }
    cross, noise = parts["cross_term"][best], parts["noise"][best]
    sample = "computed on 200 test points; only on average is the squared noise 0.09 and the cross term 0"
    return Answer(
        [
            f"Degree {best} is best.",
            "At lower degrees the bias dominates: for a line, the squared bias is "
            f"{parts['bias_squared'][1]:.3f} and the whole expected loss is {curve.expected_loss[1]:.3f}. "
            f"At higher degrees the variance grows, from {parts['variance'][best]:.3f} to {parts['variance'][8]:.3f} "
            "at degree 8, because the polynomials follow the noise of their training sets.",
            "The noise is the same at every degree, and no learner can have an expected loss below it.",
            "When the targets are noisy labels, the loss has a fourth part, the cross term, which (2.41) sets to zero. "
            "It is zero on average over the noise, but not on a given test set. With the cross term the parts add up "
            "exactly.",
        ],
        [
            Comparison("largest gap between loss and sum of parts", float(np.abs(left).max()), "0.000000000", "exact"),
            Comparison("noise", float(noise), "0.0900", "0.3 squared", sample),
            Comparison("cross term at the best degree", float(cross), "0.0000", "book (2.41)", sample),
        ],
        [table("Parts of the expected loss", ["", "loss", *(name.replace("_", " ") for name in names), "fit"], rows)],
        [("bias_variance", [panel(draw_bias_variance, curve, SIZE)])],
    )
