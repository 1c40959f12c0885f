"""Candidates: learners with all combinations of their parameters' values."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.split.learners import Learner, learner_of

__all__ = ["Candidate", "best_of", "candidates_of", "labelled", "same_value", "written"]

LONG = 8  # characters of a float


class Candidate(NamedTuple):
    """A learner with some values of its parameters.

    Attributes
    ----------
    name : str
        The learner's.
    params : dict
        The values.
    learner : Learner
        With the values.
    """

    name: str
    params: dict[str, Any]
    learner: Learner

    def __str__(self) -> str:
        return labelled(self.name, self.params)


def labelled(name: str, params: Mapping[str, Any]) -> str:
    """Write a candidate as a call."""
    return f"{name}({', '.join(f'{key}={check.show(value)}' for key, value in params.items())})"


def candidates_of(candidates: Any, grid: Any, params: Mapping[str, Any] | None = None) -> list[Candidate]:
    """Give the candidates of learners and grids, in order: the last parameter of a grid varies first.

    `params` are parameters of all learners beside them.
    """
    found = []
    for name, (learner, its_grid) in check.as_named_learners("candidates", candidates, grid).items():
        of = learner_of(name, learner, params)
        where = "grid" if grid is not None else f"candidates[{name!r}]'s grid"
        for combinations in check.as_grids(where, its_grid):
            for values in product(*combinations.values()):
                chosen = dict(zip(combinations, values, strict=True))
                found.append(Candidate(name, chosen, of.with_params(chosen)))
    return found


def same_value(one: Any, other: Any) -> bool:
    """Tell whether two values of a parameter are one; 1, 1.0 and True are not, a learner may take them apart."""
    return one is other or (type(one) is type(other) and np.array_equal(one, other))


def best_of(values: NDArray[np.float64], maximize: bool) -> int | None:
    """Give the place of the best value, the first of equals; None if all are NaN."""
    if np.isnan(values).all():
        return None
    return int(np.nanargmax(values) if maximize else np.nanargmin(values))


def written(value: Any) -> str:
    """Write a parameter's value for a table or a picture: a string as it is, a long float in six digits."""
    if isinstance(value, str):
        return value
    text = check.show(value)
    return f"{value:.6g}" if isinstance(value, float) and len(text) > LONG else text
