"""Turn a result's rows into flat numbers by name, as experiment trackers log them."""

from __future__ import annotations

import math
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from fastevals._options import show
from fastevals._text import object_text
from fastevals.document.frames import Columns

CHARACTERS_OF_NAME = 250  # characters of a name in MLflow
CHARACTERS_OF_PART = 50  # between two slashes, and in bytes below the 255 of a file's name
NOT_LEGAL = re.compile(r"[^\w.\-]+")
LEGAL_PREFIX = re.compile(r"[\w.\-/: ]*")
IN_WORDS = {
    "@": " at ",
    "%": " percent ",
    " .. ": " to ",
    ">=": " at least ",
    "<=": " at most ",
    "≥": " at least ",
    "≤": " at most ",
    ">": " above ",
    "<": " below ",
}

# Columns whose numbers name the row. Text, times and booleans in front of the first number do so too.
NAMING = {
    "model", "reference", "group", "label", "by", "first", "second", "query", "fold", "true", "predicted", "place",
    "split", "train_size",
}  # fmt: skip
SUBJECTS = ("metric", "quantity", "measure", "rule")  # what the row's `value` is called
PAIRS = (("model", "reference"), ("first", "second"))  # the row is of two models
SAYS_ITS_NAME = {"true", "predicted", "bin"}  # columns whose text means little by itself
NAMELESS = {"test", "outcome", "night"}
EDGES = {"low", "lower_edge"}  # in front, they make rows ranges, which are points too
SETTINGS = {"alpha", "level", "allowed_low", "allowed_high", "weight", "quantile"}
ENDS = {"low": "ci_lower", "high": "ci_upper", "bound_low": "bound_lower", "bound_high": "bound_upper"}


class Scalar(NamedTuple):
    """A number with its name: the parts in front of slashes, and the parts that underscores join."""

    where: tuple[str, ...]
    words: tuple[str, ...]
    value: float


def check_prefix(prefix: Any) -> str:
    """Return what names begin with, if trackers accept it."""
    if not isinstance(prefix, str):
        raise ValueError(f"prefix must be text such as 'test/', got {show(prefix)}")
    name = f"{prefix}x"
    if not LEGAL_PREFIX.fullmatch(prefix) or posixpath.normpath(name) != name or name.startswith(("/", "..")):
        raise ValueError(
            f"prefix must hold only letters, digits, spaces, '_', '-', '.', ':' and single '/', got {show(prefix)}"
        )
    return prefix


def name_scalars(scalars: Iterable[Scalar], prefix: str) -> dict[str, float]:
    """Return finite numbers by names that trackers accept; names that would be equal get _2, _3 and so on."""
    named: dict[str, float] = {}
    times: Counter[str] = Counter()
    for where, words, value in scalars:
        if not math.isfinite(value):
            continue
        whole = name = _cut(prefix + "/".join([*map(legal, where), "_".join(map(legal, words))]), CHARACTERS_OF_NAME)
        while name in named:
            times[whole] += 1
            ending = f"_{times[whole] + 1}"
            name = _cut(whole, CHARACTERS_OF_NAME - len(ending)) + ending
        named[name] = float(value)
    return named


@lru_cache(1024)
def legal(text: str) -> str:
    """Return text without characters that MLflow refuses or TensorBoard replaces."""
    for sign, words in IN_WORDS.items():
        text = text.replace(sign, words)
    text = NOT_LEGAL.sub("_", text).strip("_")
    return _cut("_" if not text.strip(".") else text, CHARACTERS_OF_PART)


def _cut(name: str, longest: int) -> str:
    """Return a name of at most `longest` characters; a cut name ends in a hash of the whole."""
    return name if len(name) <= longest else f"{name[: longest - 9]}-{sha256(name.encode()).hexdigest()[:8]}"


def scalars_of_rows(columns: Columns, naming: Iterable[str] = (), metric: Any = None) -> list[Scalar] | None:
    """Return the numbers of rows that have names; None if the rows are points without names.

    `naming` are further columns whose numbers name rows, and `metric` is the metric of rows that do not say it.
    """
    keys = _keys(columns, {*NAMING, *naming})
    n_rows = len(next(iter(columns.values()), ()))
    if next(iter(columns)) in EDGES:
        return None
    if n_rows != 1 and not keys.keys() & {*SUBJECTS}:
        distinct = {*zip(*(map(repr, each) for each in keys.values()), strict=True)}
        if len(distinct) < max(n_rows, 1):
            return None
    measured = _measured(columns, [*keys])
    is_compared = any(_is_pair(keys, k) for k in range(n_rows))
    hidden = set() if is_compared or len({*map(repr, keys.get("model", ()))}) > 1 else {"model"}
    columns_of_numbers = [columns[name].tolist() for name in measured]
    found = []
    for k in range(n_rows):
        where, subject = _names(keys, k, hidden)
        if not subject and isinstance(metric, str):
            subject = (metric,)
        found += [
            Scalar(where, _words(subject, main, name), float(numbers[k]))
            for (name, main), numbers in zip(measured.items(), columns_of_numbers, strict=True)
            if math.isfinite(numbers[k])
        ]
    return found


def _keys(columns: Columns, naming: set[str]) -> dict[str, list[Any]]:
    """Return the values of the columns that name rows, which stand in front of the numbers."""
    keys = {}
    for name, column in columns.items():
        if column.dtype.kind in "iuf" and name not in naming and not name.startswith("param_"):
            break
        if name not in NAMELESS:
            keys[name] = column.tolist() if column.dtype.kind not in "mM" else [str(each) for each in column]
    return keys


def _measured(columns: Columns, keys: Sequence[str]) -> dict[str, str]:
    """Return the columns of numbers to write, each with the estimate that it describes, or with itself."""
    has_value = "value" in columns
    measured, estimate = {}, ""
    for name, column in columns.items():
        kind = column.dtype.kind
        if name in keys or name in SETTINGS or kind not in "iuf":
            continue
        if has_value and name != "value" and (kind != "f" or name.startswith("n_")):  # sizes
            continue
        describes = name in ENDS or name.startswith("standard_")
        if kind == "f" and not describes and not name.endswith(("_low", "_high", "pvalue")):
            estimate = name
        measured[name] = estimate or name if describes else name
    return measured


def _is_pair(keys: Mapping[str, list[Any]], k: int) -> bool:
    return any(one in keys and keys.get(other, [None] * (k + 1))[k] is not None for one, other in PAIRS)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _names(keys: Mapping[str, list[Any]], k: int, hidden: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return where a row's numbers stand, and what its value is called."""
    values = {name: each[k] for name, each in keys.items() if not _is_missing(each[k]) and name not in hidden}
    where, subject, is_pair = [], [], False
    for one, other in PAIRS:
        if one in values and other in values:
            values[one] = f"{_as_text(one, values[one])}_vs_{_as_text(other, values.pop(other))}"
            is_pair = True
    subjects = [name for name in values if name in SUBJECTS]
    for name, value in values.items():
        text = _as_text(name, value)
        if subjects and name == subjects[-1]:
            subject.append(text)
        else:
            where.append(text)
    return tuple(where), (*subject, *(["difference"] if is_pair and subject else []))


def _as_text(name: str, value: Any) -> str:
    """Return a key as text, with its column's name unless it is text."""
    text = value if isinstance(value, str) else object_text(value)
    own = name.removeprefix("param_")
    return text if isinstance(value, str) and name not in SAYS_ITS_NAME else f"{own}_{text}"


def _words(subject: tuple[str, ...], main: str, name: str) -> tuple[str, ...]:
    """Return the words of a number's name."""
    of = (*subject, *([] if main == "value" and subject else [main]))
    if name == main:
        for end in ("low", "high"):
            if name.endswith(f"_{end}"):
                return (*subject, name.removesuffix(f"_{end}"), ENDS[end])
        return of
    return (*of, ENDS.get(name, name))


def scalars_of_models(models: Mapping[Any, Any]) -> Iterator[Scalar]:
    """Yield the numbers of each model's result; the only model has no name."""
    for model, found in models.items():
        for where, words, value in found._scalars():
            yield Scalar((_as_text("model", model), *where) if len(models) > 1 else where, words, value)


def scalars_of_attributes(attributes: Iterable[tuple[str, Any]]) -> Iterator[Scalar]:
    """Yield attributes that are numbers."""
    for name, value in attributes:
        if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
            yield Scalar((), (name,), float(value))
