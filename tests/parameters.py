"""Cases of one kind, of which some are run each time and the others with the slow tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def quick(cases: Iterable[Any], *chosen: Any) -> list[Any]:
    """Return the cases, those that are not among the chosen ones marked as slow."""
    return [case if case in chosen else pytest.param(case, marks=pytest.mark.slow) for case in cases]
