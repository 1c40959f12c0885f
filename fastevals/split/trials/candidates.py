"""Candidates: learners with all combinations of their parameters' values."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.split.learners import Learner, learner_of

__all__ = ["Candidate", "Choice", "best_of", "candidates_of", "same_value"]


class Choice(NamedTuple):
    """A learner's name and some values of its parameters."""

    name: str
    params: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={check.show(value)}' for key, value in self.params.items())})"


class Candidate(NamedTuple):
    """What may be chosen, and the learner with these parameters."""

    choice: Choice
    learner: Learner


def candidates_of(candidates: Any, grid: Any) -> list[Candidate]:
    """Give the candidates of learners and grids, in order: the last parameter of a grid varies first."""
    found = []
    for name, (learner, its_grid) in check.as_named_learners("candidates", candidates, grid).items():
        of = learner_of(name, learner)
        where = "grid" if grid is not None else f"candidates[{name!r}]'s grid"
        for combinations in check.as_grids(where, its_grid):
            for values in product(*combinations.values()):
                params = dict(zip(combinations, values, strict=True))
                found.append(Candidate(Choice(name, params), of.with_params(params)))
    return found


def same_value(one: Any, other: Any) -> bool:
    """Tell whether two values of a parameter are one; 1, 1.0 and True are not, a learner may take them apart."""
    return one is other or (type(one) is type(other) and np.array_equal(one, other))


def best_of(values: NDArray[np.float64], maximize: bool) -> int | None:
    """Give the place of the best value, the first of equals; None if all are NaN."""
    if np.isnan(values).all():
        return None
    return int(np.nanargmax(values) if maximize else np.nanargmin(values))
