"""Estimate the width of words in pictures on pages, and cut or wrap them to fit."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from html import escape

from fastevals._text import shorten_name, shorten_names

SIZE = 12.0  # pixels: font size
LEAST_CHARACTERS = 5  # characters that cutting leaves at least


@cache
def _letter_width(letter: str) -> float:
    """Return a character's width relative to the font size, in a wide font to be safe."""
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF" or unicodedata.category(letter) == "So":
        return 1.4
    if letter in "mwMW@%—":
        return 0.95
    return 0.75 if letter.isupper() else 0.35 if letter in "ijl.,:;|' " else 0.6


def width(words: str, size: float = SIZE) -> float:
    """Return the approximate width of words in pixels."""
    return size * sum(map(_letter_width, words))


def cut(words: str, room: float, size: float = SIZE) -> str:
    """Return words, without their middle if they are wider than the room in pixels."""
    short = words
    while width(short, size) > room and len(short) > LEAST_CHARACTERS:
        short = shorten_name(words, len(short) - 1)
    return short


def cut_names(names: Sequence[str], room: float, size: float = SIZE) -> list[str]:
    """Return names cut to the room in pixels; different names stay different."""
    short = [cut(name, room, size) for name in names]
    if len({*short}) == len({*names}):
        return short
    return shorten_names(names, min(len(each) for each, name in zip(short, names, strict=True) if each != name))


def titled(words: str, room: float, size: float = SIZE, full: str = "") -> str:
    """Return the content of a text element: words cut to the room and, if any are cut, a `<title>` with all of them."""
    short, full = cut(words, room, size), full or words
    return escape(short) + ("" if short == full else f"<title>{escape(full)}</title>")


def wrapped(words: str, room: float, size: float = SIZE) -> list[str]:
    """Return words as lines no wider than the room in pixels."""
    lines: list[str] = []
    for part in words.split("\n"):
        line = ""
        for word in part.split(" "):
            longer = f"{line} {word}" if line else word
            if line and width(longer, size) > room:
                lines.append(cut(line, room, size))
                longer = word
            line = longer
        lines.append(cut(line, room, size))
    return lines
