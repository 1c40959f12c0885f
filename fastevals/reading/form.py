"""Checks the options that describe CSV files, and defines the suffix of summary files."""

from __future__ import annotations

import argparse
import codecs

SUMMARY = ".fe"  # suffix of the files that `fastevals summarize` writes


def separator_of(text: str) -> str:
    """Return the separator that an option's text means."""
    character = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(character) != 1 or not character.isascii() or character in "\"'\r\n\0" or character.isalnum():
        raise argparse.ArgumentTypeError(f"must be one character, such as ; or |, or tab, got {text!r}")
    return character


def encoding_of(text: str) -> str:
    """Return the encoding that an option's text means."""
    try:
        "a".encode(text)  # refuses codecs that are not for text
        return codecs.lookup(text).name
    except (LookupError, ValueError):
        raise argparse.ArgumentTypeError(
            f"must be an encoding of text that Python knows, such as utf-8, latin-1, cp1252 or utf-16, got {text!r}"
        ) from None
