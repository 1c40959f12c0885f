"""Errors and warnings of the types that code written for scikit-learn catches and filters."""

from __future__ import annotations

import sys
from functools import cache

from fastevals._validation.options import UndefinedMetricWarning, warn_outside

__all__ = ["InvalidParameterError", "warn", "warn_ill_defined"]


class InvalidParameterError(ValueError, TypeError):
    """A parameter's type or value is not allowed; scikit-learn's error of this name is of both types too."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside this package."""
    warn_outside(message, category)


def warn_ill_defined(message: str) -> None:
    """Warn that a metric has no value on this data; by scikit-learn's class too where that is loaded."""
    theirs = sys.modules.get("sklearn.exceptions")
    warn_outside(message, UndefinedMetricWarning if theirs is None else _both(theirs.UndefinedMetricWarning))


@cache
def _both(theirs: type[Warning]) -> type[Warning]:
    return type("UndefinedMetricWarning", (UndefinedMetricWarning, theirs), {"__doc__": UndefinedMetricWarning.__doc__})
