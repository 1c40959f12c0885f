"""Set-up shared by all tests."""

import gc
import importlib.util
import os
import sys
import tempfile
import time
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from fastevals.counting import few_rows

USER = getattr(os, "getuid", int)()

# The reports of some ten thousand tests stay: the collector of garbage needn't look at them all the time.
gc.set_threshold(50_000)

# Processes that tests start would each compile the package's modules anew where no byte code is to be written.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Compiled kernels go to a folder of their own: an edit makes new files there, and others serve again.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"fastevals-test-cache-{USER}"))

# Tests of few rows are for kernels, and the same whatever ran before them.
few_rows.PROCESS_ROWS = 0

# Of what is installed without the checkout there are no benches, and nothing to test of them.
if importlib.util.find_spec("benches") is None:
    _TESTS = Path(__file__).parent
    collect_ignore = [
        str(path.relative_to(_TESTS)) for path in _TESTS.rglob("test_*.py") if "\nfrom benches" in path.read_text()
    ]


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later search for garbage; start the clock."""
    global UNTIL
    gc.freeze()
    UNTIL = min(UNTIL, time.time() + float(os.environ.get("FASTEVALS_TEST_SECONDS", "inf")))


def pytest_sessionfinish() -> None:
    """Search for garbage once, then leave what is there out of the many searches as Python ends."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Draw more examples where all tests are asked for: strategies.py reads it when tests are collected."""
    if config.option.markexpr == "slow or not slow":
        os.environ.setdefault("FASTEVALS_TEST_EXAMPLES", "240")


# Slow tests in a limited time: another file comes first with each commit, and what is left out is named.
FIRST = int(os.environ.get("FASTEVALS_TEST_FIRST", "0"), 16)  # a commit's hash
UNTIL = float(os.environ.get("FASTEVALS_TEST_UNTIL", "inf"))  # seconds since 1970
LEFT_OUT = "left out: no time was left"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the file that the commit's hash says, and go on from there."""
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    if files:
        start = FIRST % len(files)
        items[:] = [test for tests in files[start:] + files[:start] for test in tests]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test once the time is over."""
    if time.time() > UNTIL:
        item.add_marker(pytest.mark.skip(reason=LEFT_OUT))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name the files whose tests had no time left, with the number of tests."""
    skipped = terminalreporter.stats.get("skipped", ())
    left_out = Counter(report.nodeid.partition("::")[0] for report in skipped if LEFT_OUT in str(report.longrepr))
    if left_out:
        terminalreporter.section(f"{left_out.total()} tests left out: no time was left")
        terminalreporter.write_line("\n".join(f"{file}: {n}" for file, n in sorted(left_out.items())))
