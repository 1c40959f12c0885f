"""The tools, the versions that the tests pass with, and what is said when another version is installed."""

from __future__ import annotations

import re
import warnings
from types import ModuleType
from typing import NamedTuple

from fastevals._options import import_optional


class Tested(NamedTuple):
    """The oldest version of a package that is accepted, the newest that the tests ran with, and how to install it."""

    oldest: str
    newest: str
    install: str


# Also the lower bounds of the extras in pyproject.toml.
TESTED = {
    "catboost": Tested("1.2.8", "1.2.10", "catboost"),
    "duckdb": Tested("1.1", "2.0", "duckdb"),
    "lightgbm": Tested("4.4", "4.7", "lightgbm"),
    "mlflow": Tested("2.16", "3.17", "mlflow"),
    "polars": Tested("1.30", "2.1", "polars"),
    "pytest": Tested("8.3", "9.0", "pytest"),
    "sklearn": Tested("1.5", "1.9", "scikit-learn"),
    "torch": Tested("2.3", "2.14", "torch"),
    "torchmetrics": Tested("1.0", "1.9", "torchmetrics"),
    "xgboost": Tested("2.1", "3.2", "xgboost"),
}
_warned: set[str] = set()


def load(package: str, needed_by: str) -> ModuleType:
    """Import a package; refuse a version that is too old, and warn once of a major version that is not tested yet."""
    oldest, newest, install = TESTED[package]
    module = import_optional(package, f"{needed_by} needs {install}: pip install {install}")
    version = getattr(module, "__version__", None)
    found = _numbers(version or "")
    said = f"{needed_by} is tested with {install} {oldest} to {newest}, and {version} is installed"
    if found and found < _numbers(oldest):
        raise ImportError(f"{said}: pip install '{install}>={oldest}'", name=package)
    if found[:1] > _numbers(newest)[:1] and package not in _warned:
        _warned.add(package)
        warnings.warn(said, UserWarning, stacklevel=3)
    return module


def _numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: (3, 2, 0) for "3.2.0rc1"."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()
