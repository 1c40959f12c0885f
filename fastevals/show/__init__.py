"""The report, the comparison, their pictures and the command line."""

from importlib import import_module
from typing import Any

__all__ = ["plots"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return [*__all__]
