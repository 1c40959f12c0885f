"""A pytest plugin that puts fastevals.metrics in scikit-learn's place, before its own test modules are imported.

Importing it does nothing: tests that compare with scikit-learn may run in the same process.
"""

import sklearn.metrics

import fastevals.metrics


def pytest_configure() -> None:
    """Replace the names."""
    for name in fastevals.metrics.__all__:
        setattr(sklearn.metrics, name, getattr(fastevals.metrics, name))
