"""What a nested cross-validation gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from fastevals.measure.results import Frozen
from fastevals.split.estimates.result import ErrorEstimate
from fastevals.split.trials.candidates import Choice

__all__ = ["NestedEstimate"]

MOST = 3  # candidates named


class OuterFailure(NamedTuple):
    """A candidate of which a fit failed in an outer split, and what was raised first."""

    split: int
    choice: Choice
    failure: str

    def __str__(self) -> str:
        return f"{self.choice} in outer split {self.split}: {self.failure}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NestedEstimate(Frozen):
    """How well selecting a model works: in each outer split one is selected, and measured on rows it has not seen.

    Attributes
    ----------
    estimate : ErrorEstimate
        Over the outer splits; NaN in one where all candidates, or the fit of the chosen one, failed.
    chosen : tuple of (name, params), or None
        What was chosen in each outer split, in the order of ``estimate.per_split.ravel()``; None where none has a
        value.
    failures : tuple of (split, choice, failure)
        What was raised in outer splits, numbered as in `chosen`: the first of each candidate that failed in the search,
        which was made without it, or of the fit of the chosen one.

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import select_model
    >>> def polynomial(x, y, x_new, degree):
    ...     return np.polyval(np.polyfit(x, y, degree), x_new)
    >>> x = np.linspace(-1, 1, 40)
    >>> found = select_model(polynomial, x, x**2, "mean_absolute_error", grid={"degree": [1, 2]}, nested=5, rng=0)
    >>> found.nested.counts()
    {'polynomial(degree=2)': 5}
    """

    estimate: ErrorEstimate
    chosen: tuple[Choice | None, ...]
    failures: tuple[OuterFailure, ...]

    def counts(self) -> dict[str, int]:
        """Give how often each candidate was chosen, the most often first: one that changes is a matter of chance."""
        names = [str(each) for each in self.chosen if each is not None]
        return dict(sorted(((name, names.count(name)) for name in dict.fromkeys(names)), key=lambda item: -item[1]))

    def often(self) -> str:
        """Say which candidates were chosen most often."""
        said = [f"{count} x {name}" for name, count in self.counts().items()]
        if not said:
            return "none"
        return ", ".join(said[:MOST]) + (f", ... ({len(said)} in all)" if len(said) > MOST else "")

    def failed(self) -> str:
        """Say how many failed, and what the first raised; nothing if none did."""
        if not self.failures:
            return ""
        n = len(self.failures)
        return f"{n} {'fit' if n == 1 else 'fits'} failed in the outer splits, the first: {self.failures[0]}"

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"NestedEstimate({self.estimate!r}, chosen {self.often()}{failed})"
