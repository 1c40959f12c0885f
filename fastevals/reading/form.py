"""What is told of a file: how its CSV is written, and what the end of its name means."""

from __future__ import annotations

import argparse
import codecs
from collections.abc import Callable
from typing import Any, NamedTuple

from fastevals._naming import option

SUMMARY = ".fe"  # end of the names of files that `fastevals summarize` writes


class CsvForm(NamedTuple):
    """How a CSV file is written; None of what is to be seen from the file."""

    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None

    @classmethod
    def checked(cls, separator: str | None, encoding: str | None, header: bool | None) -> CsvForm:
        """Return the arguments of a call, checked."""
        from fastevals._options import as_flag  # imports NumPy

        header = None if header is None else as_flag(option("header"), header)
        return cls(_checked("separator", separator, separator_of), _checked("encoding", encoding, encoding_of), header)

    def options(self) -> list[str]:
        """Return the options that are given, as messages call them."""
        return [
            option(name, value if name == "header" else None)
            for name, value in self._asdict().items()
            if value is not None
        ]


def _checked(name: str, value: Any, check: Callable[[str], str]) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{option(name)} must be text, got {value!r}")
    try:
        return None if value is None else check(value)
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"{option(name)} {error}") from None


def separator_of(text: str) -> str:
    """Return the character that an option means."""
    character = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(character) != 1 or not character.isascii() or character in "\"'\r\n\0" or character.isalnum():
        raise argparse.ArgumentTypeError(f"must be one character, such as ; or |, or tab, got {text!r}")
    return character


def encoding_of(text: str) -> str:
    """Return the encoding that an option means."""
    try:
        "a".encode(text)  # which refuses codecs that are not of text
        return codecs.lookup(text).name
    except (LookupError, ValueError):
        raise argparse.ArgumentTypeError(
            f"must be an encoding of text that Python knows, such as utf-8, latin-1, cp1252 or utf-16, got {text!r}"
        ) from None
