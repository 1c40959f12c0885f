"""Arguments of commands: a parser whose errors are a line each, and what reads numbers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from fastevals.show.running import write

__all__ = ["Parser", "UsageError", "number", "whole"]


class UsageError(Exception):
    """Wrong arguments: the program's name and what to say."""


class _Once(argparse.Action):
    """What argparse calls "store", of an option that may be given once: a second value would replace the first."""

    given: str | Sequence[Any] | None = None

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if option is not None and self.given is not None:
            raise argparse.ArgumentError(self, f"must be given once, got {self.given!r} and {values!r}")
        self.given = values
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """A parser that raises its errors, in a line each."""

    repeated = "repeat the option for each column"

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)
        self.register("action", None, _Once)

    def print_help(self, file: Any = None) -> None:
        """Print the help as a report is printed."""
        write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting."""
        if "expected one argument" in message:
            message += " (one that starts with a dash is written --option=-value)"
        raise UsageError(self.prog, message)

    def unknown(self, argument: str) -> NoReturn:
        """Raise of an argument that there is no option for."""
        if not argument.startswith("-"):
            self.error(f"unexpected argument {argument!r} (one FILE is read at a time; {self.repeated})")
        from fastevals._validation import nearest  # imports NumPy

        near = nearest(argument.split("=")[0], self._option_string_actions)
        self.error(f"unknown option {argument!r}" + (f", did you mean {near}?" if near else ""))


def number(text: str) -> float:
    """Give an option's number, as an int where a float would round it."""
    try:
        value = float(text)
        exact = int(text) if text.strip().lstrip("+-").isdigit() else None
        return value if exact is None or exact == value else exact
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None


def whole(text: str) -> int:
    """Give an option's whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None
