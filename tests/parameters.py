"""Cases of one kind, some of which run each time and the others with the slow tests; what SciPy's version decides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import scipy

# Before SciPy 1.17, tails of the beta distribution are off by up to 3e-4 of their value for 10^13 rows.
IS_PRECISE = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17)


def quick(cases: Iterable[Any], *chosen: Any) -> list[Any]:
    """Return the cases, with all but the chosen ones marked as slow."""
    return [case if case in chosen else pytest.param(case, marks=pytest.mark.slow) for case in cases]
