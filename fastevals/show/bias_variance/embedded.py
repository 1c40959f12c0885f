"""Bias and variance of polynomials on the embedded cars, over their degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals import __version__
from fastevals._text import format_number, printable, wrap_text
from fastevals.datasets import load_auto
from fastevals.document.frames import Columns
from fastevals.results import as_json
from fastevals.show.text_result import TextResult
from fastevals.split.training_sets import BiasVarianceCurve, bias_variance_curve

if TYPE_CHECKING:
    from fastevals.document.page.page import Page

EMBEDDED = "auto (embedded)"
DEGREES = range(1, 9)
N_SETS = 200
SEED = 0
HOW = (
    "miles a gallon by horsepower, polynomials of a degree: fitted to 200 bootstrap training sets of every other car, "
    "196 of 392, and tested on those between"
)
TRUTH = (
    "! : the truth is what was observed: what differs between cars of one horsepower is noise to these models, and "
    "counts as bias, whatever the degree"
)


@dataclass(frozen=True, slots=True, repr=False)
class DecomposedCurve(TextResult):
    """The decomposition of each degree, and what texts call the data."""

    result: BiasVarianceCurve
    data: str = EMBEDDED

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as strict JSON."""
        curve, first = self.result, self.result.results[0]
        values = {
            "fastevals": __version__,
            "data": self.data,
            "decomposed": "polynomials",
            "loss": first.loss,
            "decomposition": first.decomposition,
            "n_models": first.n_models,
            "n_samples": first.n_samples,
            "parameter": curve.parameter,
            "values": curve.values,
            "expected_loss": curve.expected_loss,
            "parts": curve.parts(),
            "best": curve.best(),
        }
        return {name: as_json(value) for name, value in values.items()}

    def to_text(self) -> str:
        """Return the curve as text to read, the last line with a line end."""
        lines = [
            f"fastevals bias-variance: {printable(self.data)}",
            *wrap_text(HOW),
            "",
            self.result.table(),
            "",
            *(line for side in self.sides() for line in wrap_text(side)),
            *wrap_text(TRUTH),
        ]
        return "\n".join(lines) + "\n"

    def _columns(self) -> Columns:
        return self.result._columns()

    def to_page(self) -> Page:
        """Return what the curve's page shows."""
        from fastevals.show.bias_variance.page import curve_page

        return curve_page(self)

    def sides(self) -> list[str]:
        """Return what has changed at either end from the degree of the least loss."""
        curve, parts, fits = self.result, self.result.parts(), self.result.fits
        best, sides = fits.index("best"), []
        for end in sorted({0, len(fits) - 1} - {best}):
            bias, variance = (_signed(parts[name][end] - parts[name][best]) for name in ("bias_squared", "variance"))
            against = f"degree {curve.values[end]} against {curve.values[best]}"
            sides.append(f"{against}: bias squared {bias}, variance {variance}: {fits[end]}")
        return sides


def _signed(change: float) -> str:
    return f"{'+' if change >= 0 else '-'}{format_number(abs(change))}"


def polynomial(x: Any, y: Any, x_new: Any, degree: int) -> NDArray[np.float64]:
    """Fit a polynomial by least squares and give its values elsewhere."""
    fitted = np.polynomial.Polynomial.fit(x, y, degree)
    return np.asarray(fitted(x_new))


def decompose_polynomials() -> DecomposedCurve:
    """Decompose the loss of polynomials at each degree."""
    cars = load_auto()
    x, y = cars["horsepower"].astype(np.float64), cars["mpg"]
    curve = bias_variance_curve(
        polynomial, x[::2], y[::2], x[1::2], y[1::2], parameter="degree", values=DEGREES, n_sets=N_SETS, rng=SEED
    )
    return DecomposedCurve(curve)
