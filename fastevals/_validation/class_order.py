"""Which column is for which class, by the columns' names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fastevals._options import listed
from fastevals._validation.arrays import as_texts

DEFAULTS = ("", "column_")  # followed by 0, 1, 2, ..., the names of columns to which nobody gave a name


def class_order(names: Sequence[Any], labels: Sequence[Any]) -> list[int] | None:
    """Return the place of each label's column; None unless each label has one column, and its name is the label.

    Parameters
    ----------
    names : sequence
        Text or numbers: the labels, or the labels between a prefix and a suffix that all names share.
    labels : sequence of label
        All different.
    """
    texts = as_texts(list(names))
    if len(texts) == len(labels):
        for wanted in _spellings(labels):
            for found in _between(texts, wanted):
                places = {text: place for place, text in enumerate(found)}
                if places.keys() == set(wanted):
                    return [places[text] for text in wanted]
    return None


def are_default_names(names: Sequence[Any]) -> bool:
    """Return whether names are those of columns to which nobody gave a name, so that they name no labels."""
    texts = as_texts(list(names))
    return texts in [[f"{start}{k}" for k in range(len(texts))] for start in DEFAULTS]


def order_of_columns(shown: str, names: Sequence[Any], labels: Sequence[Any], *, are_given: bool = False) -> list[int]:
    """Return the place of each label's column: by name, or the columns as they are if no name is one of a label.

    Parameters
    ----------
    shown : str
        The columns in messages.
    names : sequence
        As for `class_order`, or in other case, such as Cat for cat. The default names 0, 1, 2, ... and column_0,
        column_1, ... name no labels.
    labels : sequence of label
        As many as names.
    are_given : bool
        Whether the user gave the labels in the order of the columns. Then columns of other classes are allowed if
        the columns that do name a label are in its place.

    Raises
    ------
    ValueError
        If names name some of the labels only.
    """
    texts, wanted = as_texts(list(names)), as_texts(list(labels))
    as_they_are = list(range(len(texts)))
    if are_default_names(texts):
        return as_they_are
    order = class_order(names, labels)
    if order is None and len(set(_in_one_case(wanted))) == len(wanted):
        names, labels = _in_one_case(texts), _in_one_case(labels)
        order = class_order(names, labels)
    if order is not None:
        return order
    for spelled in _spellings(labels):
        for found in _inner_parts(as_texts(list(names))):
            known = set(spelled).intersection(found)
            if known and not (are_given and all(a == b for a, b in zip(found, spelled, strict=True) if a in known)):
                raise ValueError(
                    f"{shown} must have columns named by the labels, or by none of them; its columns are "
                    f"{listed(texts)}, and the labels are {listed(wanted)}"
                )
    return as_they_are


def without_ends(names: Sequence[Any]) -> list[str]:
    """Return names without the start and the end that all of them share."""
    texts = as_texts(list(names))
    return _cut(texts, *map(len, _shared_ends(texts)))


def _in_one_case(values: Sequence[Any]) -> list[Any]:
    """Return text without upper case, and other values as they are."""
    return [each.casefold() if isinstance(each, str) else each for each in values]


def _spellings(labels: Sequence[Any]) -> Iterator[list[str]]:
    """Return the ways to write the labels: 1 also as 1.0, True also as true and 1."""
    yield as_texts(list(labels))
    if all(isinstance(each, (bool, np.bool_)) for each in labels):
        yield [str(each).lower() for each in labels]
        yield [str(int(each)) for each in labels]
    elif all(isinstance(each, (int, float, np.number)) for each in labels):
        yield [str(float(each)) for each in labels]


def _between(texts: list[str], wanted: list[str]) -> Iterator[list[str]]:
    """Return the texts without a prefix and a suffix that all share, if what is left may be the wanted texts."""
    extra, odd = divmod(sum(map(len, texts)) - sum(map(len, wanted)), len(texts))
    if odd or extra < 0:
        return
    before, after = map(len, _shared_ends(texts))
    for start in range(max(extra - after, 0), min(extra, before) + 1):
        if not (re.search(r"\d$", texts[0][:start]) and re.match(r"\d", wanted[0])):  # else a number is cut
            yield _cut(texts, start, extra - start)


def _inner_parts(texts: list[str]) -> Iterator[list[str]]:
    """Return the texts, and the texts without their shared start and end: the whole, or up to the end of a word."""
    yield texts
    before, after = _shared_ends(texts)
    for start in (before, re.sub(r"[^\W_]+$", "", before)):
        for end in (after, re.sub(r"^[^\W_]+", "", after)):
            yield _cut(texts, len(start), len(end))


def _shared_ends(texts: list[str]) -> tuple[str, str]:
    """Return the longest start and the longest end that all texts share."""
    return _shared_start(texts), _shared_start([each[::-1] for each in texts])[::-1]


def _shared_start(texts: list[str]) -> str:
    first, last = min(texts), max(texts)  # texts between them begin with what these two share
    return first[: next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]


def _cut(texts: list[str], start: int, end: int) -> list[str]:
    return [each[start : max(len(each) - end, start)] for each in texts]
