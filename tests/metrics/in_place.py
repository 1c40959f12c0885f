"""A pytest plugin that replaces scikit-learn's metrics with fastevals', before scikit-learn's tests are imported.

Importing it does nothing, so tests that compare with scikit-learn may run in the same process.
"""

import fastevals.metrics


def pytest_configure() -> None:
    """Replace the functions."""
    fastevals.metrics.install()
