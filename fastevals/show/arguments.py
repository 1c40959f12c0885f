"""Arguments of commands: a parser whose errors are a line each, and what reads numbers."""

from __future__ import annotations

import argparse
import codecs
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from fastevals.show.running import write

__all__ = ["CsvForm", "Parser", "UsageError", "add_shared", "check_shared", "csv_form", "number", "whole"]


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


# What commands share ----------------------------------------------------------------------------------------------


class CsvForm(NamedTuple):
    """What a user says of a CSV file; None of what is to be seen from the file."""

    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None

    def options(self) -> list[str]:
        """Return the options that say it."""
        return [f"--{'no-' * (value is False)}{name}" for name, value in self._asdict().items() if value is not None]


def add_shared(parser: Parser) -> None:
    """Add the options that all commands have, last in their help."""
    add = parser.add_argument
    add("--separator", metavar="C", type=_separator, help="what separates a CSV file's columns: a character, or tab")
    add("--encoding", metavar="E", type=_encoding, help="of a CSV file that is not UTF-8, such as latin-1")
    first_line = parser.add_mutually_exclusive_group()
    for option, value, text in (
        ("--header", True, "names columns"),
        ("--no-header", False, "is data of columns 1, 2, ..."),
    ):
        says = f"a CSV file's first line {text}"
        first_line.add_argument(option, dest="header", action="store_const", const=value, help=says)
    add("--quiet", action="store_true", help="no bars of steps that take long, on a terminal either")
    add("--format", choices=("text", "json"), default="text", help="text to read (default), or JSON for programs")


def check_shared(arguments: argparse.Namespace, parser: Parser) -> None:
    """Raise unless the options that all commands have go with the others."""
    if arguments.file is None and (given := csv_form(arguments).options()):
        parser.error(f"{given[0]} goes with a CSV FILE")
    if arguments.quiet and arguments.progress:
        parser.error("--quiet and --progress exclude each other")


def csv_form(arguments: argparse.Namespace) -> CsvForm:
    """Return what the options say of a CSV file."""
    return CsvForm(arguments.separator, arguments.encoding, arguments.header)


def _separator(text: str) -> str:
    found = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(found) != 1 or not found.isascii() or found in "\"'\r\n\0" or found.isalnum():
        raise argparse.ArgumentTypeError(f"must be one character, such as ; or |, or tab, got {text!r}")
    return found


def _encoding(text: str) -> str:
    try:
        "a".encode(text)  # which refuses codecs that are not of text
        return codecs.lookup(text).name
    except (LookupError, ValueError):
        raise argparse.ArgumentTypeError(
            f"must be an encoding of text that Python knows, such as utf-8, latin-1, cp1252 or utf-16, got {text!r}"
        ) from None
