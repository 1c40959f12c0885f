"""Bias and variance over a parameter, or over the size of training sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.bias_variance import Decomposition
from fastevals.measure.results import Frozen

__all__ = ["BiasVarianceCurve"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BiasVarianceCurve(Frozen):
    """The parts of the expected loss at each value of a parameter, or for each size of training sets.

    Attributes
    ----------
    parameter : str or None
        What varies; None for the size of training sets.
    values : tuple
        The parameter's values in the order given, or the numbers of rows (or groups), ascending.
    results : tuple of Decomposition
        One for each.
    """

    parameter: str | None
    values: tuple[Any, ...]
    results: tuple[Decomposition, ...]

    @property
    def over(self) -> str:
        """What varies, in words."""
        return "training size" if self.parameter is None else self.parameter

    @property
    def expected_loss(self) -> Floats:
        """The expected loss at each value."""
        return np.array([each.expected_loss for each in self.results])

    def parts(self) -> dict[str, Floats]:
        """Give the terms that add up to the expected loss, by name, as arrays over the values."""
        found = [each.parts() for each in self.results]
        return {name: np.array([each[name] for each in found]) for name in found[0]}

    def best(self) -> Any:
        """Give the value of the least expected loss, the first of equals."""
        return self.values[int(np.argmin(self.expected_loss))]

    @property
    def fits(self) -> tuple[str, ...]:
        """What the learner does at each value beside the best.

        Where the expected loss is larger than at the best value, "underfits" if bias has grown by more than the
        variance of the predictions, which of 0-1 loss need not cost anything, else "overfits". "best" at the best
        value, "" where the loss is no larger or neither has grown.

        Notes
        -----
        Bias over bootstraps of one data set holds what all training sets share. Of one nearest neighbour, nearly half
        of the variance it has over independent sets is bias there, of squared loss; of 0-1 loss nearly all that it gets
        wrong is, for most bootstraps have the nearest row of all.
        """
        loss, results = self.expected_loss, self.results
        best = int(np.argmin(loss))
        bias, variance = (
            np.array([getattr(each, name) - getattr(results[best], name) for each in results])
            for name in (results[best].OF_BIAS, "variance")
        )
        words = np.where(bias > variance, "underfits", "overfits").astype(object)
        words[(loss == loss[best]) | (np.maximum(bias, variance) <= 0)] = ""
        words[best] = "best"
        return tuple(words.tolist())

    def table(self) -> str:
        """Give a table as text: the parts at each value."""
        from fastevals.show.words import aligned, cells, printable, written

        numbers = {"expected_loss": self.expected_loss, **self.parts()}
        rows = [[printable(self.over), *(name.replace("_", " ") for name in numbers), ""]]
        least = int(np.argmin(self.expected_loss))
        for k, (value, row) in enumerate(zip(self.values, cells(np.transpose(list(numbers.values()))), strict=True)):
            rows.append([printable(written(value)), *row, "least" if k == least else ""])
        return "\n".join(aligned([rows])[0])

    def __repr__(self) -> str:
        over = f"{len(self.values)} values of {self.over}, best={check.show(self.best())}"
        return f"BiasVarianceCurve({', '.join(self.parts())} over {over})"
