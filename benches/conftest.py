"""Options of the benches, and the table at the end of a run."""

from __future__ import annotations

from typing import Any

import pytest

from benches.race import Result
from benches.report import rows_of, text_table

RESULTS = pytest.StashKey[dict[str, Result]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("fastevals")
    group.addoption("--rows-scale", type=float, default=1.0, help="share of the rows; nothing is reported below 1")
    group.addoption("--rounds", type=int, default=None, help="rounds of each figure (default: as many as take 15 s)")


def pytest_configure(config: pytest.Config) -> None:
    """Start with no results."""
    config.stash[RESULTS] = {}


@pytest.fixture
def results(request: pytest.FixtureRequest) -> dict[str, Result]:
    """Return the dict that collects results for the table."""
    return request.config.stash[RESULTS]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the figures."""
    results = config.stash[RESULTS]
    if results:
        terminalreporter.section("figures")
        figures = {name: result.to_dict() for name, result in results.items()}
        terminalreporter.write_line(text_table(rows_of(figures)))
