"""Set-up shared by all tests."""

import gc
import importlib.util
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from fastevals._compile import interpreted
from fastevals.counting import few_rows
from tests.workers import Workers

USER = getattr(os, "getuid", int)()

# The reports of about ten thousand tests stay in memory. The garbage collector should not search them all the time.
gc.set_threshold(50_000)

# Without bytecode on disk, each process that a test starts would compile the package's modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# GNU readline, which pytest loads, sets a width for the processes of a parallel run.
os.environ.pop("COLUMNS", None)

# Compiled kernels go to their own folder. An edit adds new files there; the others are used again.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"fastevals-test-cache-{USER}"))

# Tests with few rows run the kernels, whichever tests ran before.
few_rows.PROCESS_ROWS = interpreted.ITEMS_PER_KERNEL = 0

# An installed package has no benches to test.
if importlib.util.find_spec("benches") is None:
    _TESTS = Path(__file__).parent
    collect_ignore = [
        str(path.relative_to(_TESTS)) for path in _TESTS.rglob("test_*.py") if "\nfrom benches" in path.read_text()
    ]


def pytest_collection_finish() -> None:
    """Exclude the collected tests from later garbage collections; start the clock."""
    global UNTIL
    gc.freeze()
    UNTIL = min(UNTIL, time.time() + float(os.environ.get("FASTEVALS_TEST_SECONDS", "inf")))


def pytest_sessionfinish() -> None:
    """Collect garbage once, then exclude the rest from the many collections as Python ends."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Draw more examples if all tests are to run (strategies.py reads this); divide the files among workers."""
    if config.option.markexpr == "slow or not slow":
        os.environ.setdefault("FASTEVALS_TEST_EXAMPLES", "240")
    config.pluginmanager.register(Workers(config))


# Slow tests in limited time: each commit starts with another file, and the files left out are named.
FIRST = int(os.environ.get("FASTEVALS_TEST_FIRST", "0"), 16)  # a commit's hash
UNTIL = float(os.environ.get("FASTEVALS_TEST_UNTIL", "inf"))  # seconds since 1970
LEFT_OUT = "left out: no time was left"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases that a default run leaves out; start with the file that the commit's hash selects."""
    leave_cases_out(items)
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    if files:
        start = FIRST % len(files)
        items[:] = [test for tests in files[start:] + files[:start] for test in tests]


def leave_cases_out(items: list[pytest.Item]) -> None:
    """Mark all but a few cases of a test as slow, where its marker ``cases`` says how many a default run needs."""
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("cases"):
            cases[item.parent, getattr(item, "originalname", item.name)].append(item)
    for tests in cases.values():
        (n,) = tests[0].get_closest_marker("cases").args
        kept = {k * len(tests) // n for k in range(n)}  # evenly spread
        for k, test in enumerate(tests):
            if k not in kept:
                test.add_marker("slow")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test once the time is over."""
    if time.time() > UNTIL:
        item.add_marker(pytest.mark.skip(reason=LEFT_OUT))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name the files whose tests were skipped for lack of time, with their number."""
    skipped = terminalreporter.stats.get("skipped", ())
    left_out = Counter(report.nodeid.partition("::")[0] for report in skipped if LEFT_OUT in str(report.longrepr))
    if left_out:
        terminalreporter.section(f"{left_out.total()} tests left out: no time was left")
        terminalreporter.write_line("\n".join(f"{file}: {n}" for file, n in sorted(left_out.items())))
