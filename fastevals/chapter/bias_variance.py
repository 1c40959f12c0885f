"""Section 2.5: why learners err: bias, variance, and noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastevals import bias_variance_curve
from fastevals.chapter.example import Answer, Comparison, example, table
from fastevals.chapter.pictures import panel
from fastevals.show.plots.bias_variance import SIZE, draw_bias_variance

NOISE = 0.3  # standard deviation


def polynomial(x: Any, y: Any, x_new: Any, degree: int) -> Any:
    """Fit a polynomial by least squares, and predict by it."""
    return np.polynomial.Polynomial.fit(x, y, degree)(x_new)


@example("2.5")
def bias_variance() -> Answer:
    """Bias, variance and noise of polynomials, over their degree.

    Points of a sine have noise of standard deviation 0.3. Polynomials are fitted to 200 training sets of 60 of them: at
    each degree, what is bias, what variance and what noise, and which degree is the best?
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
    sample = "the noise of 200 test points: its square, and its product with the error, are 0.09 and 0 on average alone"
    return Answer(
        [
            f"Degree {best} is the best. Below it bias dominates (a line can't bend: {parts['bias_squared'][1]:.3f} of "
            f"{curve.expected_loss[1]:.3f}); above it variance grows, from {parts['variance'][best]:.3f} to "
            f"{parts['variance'][8]:.3f} at degree 8: the polynomials follow the noise of their training sets.",
            "Noise is the same for all: no learner gets below it.",
            "With what was observed as labels, the loss has a fourth part, which (2.41) takes for zero. It is zero on "
            "average over the noise; on the test rows at hand it isn't, and with it the parts add up exactly.",
        ],
        [
            Comparison("loss less its four parts, at most", float(np.abs(left).max()), "0.000000000", "exact"),
            Comparison("noise", float(noise), "0.0900", "0.3 squared", sample),
            Comparison("cross term, at the best degree", float(cross), "0.0000", "book (2.41)", sample),
        ],
        [table("Parts of the expected loss", ["", "loss", *(name.replace("_", " ") for name in names), "fit"], rows)],
        [("bias_variance", [panel(draw_bias_variance, curve, SIZE)])],
    )
