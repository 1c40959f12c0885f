"""A pytest plugin that puts fastevals.metrics in scikit-learn's place, before its own test modules are imported.

Importing it does nothing: tests that compare with scikit-learn may run in the same process.
"""

import fastevals.metrics


def pytest_configure() -> None:
    """Replace the functions."""
    fastevals.metrics.install()
