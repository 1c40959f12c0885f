"""How a report writes names, numbers and metrics."""

from __future__ import annotations

import math
from typing import Any

from fastevals.measure.registry import METRICS

__all__ = ["digits", "label", "place", "printable", "probability", "title"]


def printable(text: str) -> str:
    """Give a name as it is, or quoted with escapes where it would break the line."""
    return text if text.isprintable() else repr(text)


def label(value: Any) -> str:
    """Give a class or --by value as one writes it."""
    return printable(value) if isinstance(value, str) else repr(value).lower()


def place(by: str | None, value: Any) -> str:
    """Give what a note on a block is about."""
    return "the data" if by is None else f"{printable(by)} {label(value)}"


def title(name: str) -> str:
    """Give what a metric's column is called."""
    return METRICS[name].title


def digits(value: float) -> str:
    """Give a metric's value to four decimals, "-" where undefined."""
    if math.isnan(value):
        return "-"
    return f"{value:.4f}" if abs(value) < 1e6 else f"{value:.6g}"


def probability(value: float) -> str:
    """Give a p-value to four decimals, or to one digit where these are all 0."""
    if value < 1e-9:
        return "<1e-9"
    return f"{value:.0e}" if value < 0.0001 else digits(value)
