"""Strategies of property tests: small inputs full of ties, extremes and tiny classes."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

# The same examples on every run and machine, few enough that all property tests take seconds.
EXAMPLES = int(os.environ.get("FASTEVALS_TEST_EXAMPLES", "12"))
BOUNDED = settings(derandomize=True, deadline=None, max_examples=EXAMPLES)
FEWER = settings(BOUNDED, max_examples=EXAMPLES // 2)  # for tests that run for each kind of curve or average

LARGEST = float(np.finfo(np.float64).max)
DENORMAL = 5e-324

ORDINARY = (0.0, 0.1, 0.25, 0.5, 0.9, 1.0)
EXTREME = (-LARGEST, -1.7e308, -1.0, -DENORMAL, -0.0, 0.0, DENORMAL, 1e-300, 1.0, 1.0 + 2**-52, 1.7e308, LARGEST)
DYADIC_WEIGHTS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 1024.0)
FLOAT_WEIGHTS = (0.0, 0.1, 0.3, 0.7, 1.0, 1.1, 3.3, 1e-3, 1e4)


class Case(NamedTuple):
    """An input for a ranking."""

    y_true: NDArray[np.int64]
    y_score: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None

    @property
    def options(self) -> dict[str, Any]:
        return {} if self.weights is None else {"sample_weight": self.weights}


@st.composite
def cases(draw: st.DrawFn, *, weights: tuple[float, ...] | None = None, both_classes: bool = True) -> Case:
    """Draw labels, scores and, from `weights`, row weights; with `both_classes` each class has weight."""
    n = draw(st.integers(2 if both_classes else 1, 12))
    labels = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    pool = draw(st.sampled_from([ORDINARY, EXTREME, ORDINARY[:2], tuple(np.linspace(-1, 1, 50).tolist())]))
    scores = np.array(draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n)))
    row_weights = None
    if weights is not None:
        row_weights = np.array(draw(st.lists(st.sampled_from(weights), min_size=n, max_size=n)))
    at = draw(st.integers(0, n - 1))
    if both_classes:
        labels[at], labels[at - 1] = 1, 0
    if row_weights is not None:
        for row in (at, at - 1):
            row_weights[row] = row_weights[row] or weights[-1]  # type: ignore[index]
    return Case(np.array(labels), scores, row_weights)


unweighted = cases()
integer_weighted = cases(weights=(0.0, 1.0, 2.0, 3.0, 7.0))
float_weighted = cases(weights=FLOAT_WEIGHTS)
dyadic_weighted = cases(weights=DYADIC_WEIGHTS)
exact_cases = st.one_of(unweighted, integer_weighted, dyadic_weighted)
any_weights = st.one_of(unweighted, integer_weighted, float_weighted)
any_classes = st.one_of(cases(both_classes=False), cases(weights=(0.0, 1.0, 2.0), both_classes=False))
