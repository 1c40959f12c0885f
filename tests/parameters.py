"""Cases of one kind: some run each time, the others with the slow tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def quick(cases: Iterable[Any], *chosen: Any) -> list[Any]:
    """Return the cases, with all but the chosen ones marked as slow."""
    return [case if case in chosen else pytest.param(case, marks=pytest.mark.slow) for case in cases]
