"""Bias and variance of polynomials of several degrees on the embedded car data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._text import count_of, format_number, format_value, printable
from fastevals.datasets import load_auto
from fastevals.document.document import (
    GAP,
    RICH,
    TEXT,
    Document,
    Fact,
    Figures,
    Number,
    Part,
    Row,
    Section,
    Sentence,
    Table,
)
from fastevals.document.frames import Columns
from fastevals.document.result import Result
from fastevals.results import as_json
from fastevals.show.bias_variance.pictures import bias_variance_panels, bias_variance_pictures
from fastevals.show.output import BlockPictures
from fastevals.show.pictures import CAPTIONS
from fastevals.show.schema import json_head
from fastevals.split.training_sets import BiasVarianceCurve, bias_variance_curve

EMBEDDED = "auto (embedded)"
DEGREES = range(1, 9)
N_SETS = 200
SEED = 0
HOW = (
    "polynomials predict miles per gallon from horsepower; they are fitted to 200 bootstrap samples of every other "
    "car (196 of 392) and tested on the remaining cars"
)
TRUTH = (
    "the observed value is used as the truth, so differences between cars of the same horsepower, which these models "
    "can't predict, count as bias at every degree"
)


@dataclass(frozen=True, slots=True, repr=False)
class DecomposedCurve(Result):
    """The decomposition at each degree, and the name of the data."""

    result: BiasVarianceCurve
    data: str = EMBEDDED

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as strict JSON."""
        curve, first = self.result, self.result.results[0]
        values = {
            **json_head(),
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

    def _columns(self) -> Columns:
        return self.result._columns()

    def _document(self) -> Document:
        curve, first, best = self.result, self.result.results[0], format_value(self.result.best())
        least = f"The expected loss is lowest at {printable(str(curve.parameter))} {best}."
        parts: list[Part] = [
            Sentence(curve.table(), "line", TEXT),
            Sentence(least, "verdict", RICH),
            GAP,
            *(Sentence(side, "verdict") for side in self.sides()),
            Sentence(TRUTH, "caution"),
            Figures(lambda: bias_variance_panels(curve), CAPTIONS),
            _part_table(curve),
        ]
        size = f"{count_of(first.n_models, 'model')} a value, {count_of(first.n_samples, 'sample')}"
        return Document(
            "bias-variance",
            self.data,
            [Fact("how", HOW, RICH)],
            [Section(parts, size=size)],
            [Sentence(HOW, only=TEXT)],
            numbers=self.to_dict,
        )

    def pictures(self) -> BlockPictures:
        """Return the pictures for `--out`."""
        return bias_variance_pictures(self.result)

    def sides(self) -> list[str]:
        """Say how bias and variance at the lowest and the highest degree differ from those at the best degree."""
        curve, parts, fits = self.result, self.result.parts(), self.result.fits
        best, sides = fits.index("best"), []
        for end in sorted({0, len(fits) - 1} - {best}):
            bias, variance = (_changed(parts[name][end] - parts[name][best]) for name in ("bias_squared", "variance"))
            verdict = f"Degree {curve.values[end]} {fits[end] or 'is not better'}"
            changes = f"its squared bias is {bias} and its variance {variance} than at degree {curve.values[best]}"
            sides.append(f"{verdict}: {changes}.")
        return sides


def _changed(change: float) -> str:
    return f"{format_number(abs(change))} {'higher' if change >= 0 else 'lower'}"


def _part_table(curve: BiasVarianceCurve) -> Table:
    def rows() -> Iterator[Row]:
        for k, value in enumerate(curve.values):
            emphasis = "best" if value == curve.best() else ""
            parts = [Number(float(part[k])) for part in curve.parts().values()]
            yield Row(
                format_value(value), [Number(float(curve.expected_loss[k]), None, emphasis), *parts, curve.fits[k]]
            )

    names = [name.replace("_", " ") for name in curve.parts()]
    columns = [printable(str(curve.parameter)), "expected loss", *names, "fit"]
    return Table("parts", "Parts of the loss", columns, rows, only=RICH)


def polynomial(x: Any, y: Any, x_new: Any, degree: int) -> NDArray[np.float64]:
    """Fit a polynomial by least squares and return its values at other points."""
    fitted = np.polynomial.Polynomial.fit(x, y, degree)
    return np.asarray(fitted(x_new))


def decompose_polynomials() -> DecomposedCurve:
    """Decompose the expected loss of polynomials at each degree."""
    cars = load_auto()
    x, y = cars["horsepower"].astype(np.float64), cars["mpg"]
    curve = bias_variance_curve(
        polynomial, x[::2], y[::2], x[1::2], y[1::2], parameter="degree", values=DEGREES, n_sets=N_SETS, rng=SEED
    )
    return DecomposedCurve(curve)
