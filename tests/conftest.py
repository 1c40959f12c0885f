"""Set-up shared by all tests."""

import gc
import importlib.util
import os
import tempfile
from pathlib import Path

import pytest

from fastevals.counting import few_rows

USER = getattr(os, "getuid", int)()

# The reports of some ten thousand tests stay: the collector of garbage needn't look at them all the time.
gc.set_threshold(50_000)

# Compiled kernels go to a folder of their own: an edit makes new files there, and others serve again.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"fastevals-test-cache-{USER}"))

# Tests of few rows are for kernels, and the same whatever ran before them.
few_rows.ROWS = 0

# Of what is installed without the checkout there are no benches, and nothing to test of them.
if importlib.util.find_spec("benches") is None:
    _TESTS = Path(__file__).parent
    collect_ignore = [
        str(path.relative_to(_TESTS)) for path in _TESTS.rglob("test_*.py") if "\nfrom benches" in path.read_text()
    ]


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later search for garbage."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Search for garbage once, then leave what is there out of the many searches as Python ends."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Draw more examples where all tests are asked for: strategies.py reads it when tests are collected."""
    if config.option.markexpr == "slow or not slow":
        os.environ.setdefault("FASTEVALS_TEST_EXAMPLES", "240")
