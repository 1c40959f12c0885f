"""docs/json.md: the keys of the commands' JSON, made from the classes of fastevals/show/schema.py."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import fastevals
from fastevals.show import schema

HEAD = """\
<!-- Made of fastevals/show/schema.py by `python -m tests.documents --write`. -->
# JSON

**Which keys does `--format json` print, and what do they mean?**

`--format json` prints the result of a command as JSON, `--out` writes it to a file, and `to_dict()` of a result returns
it. `schema_version` goes up by one when a key is removed or changes its meaning, but not when a key is added. So read
the keys that you need, and ignore the others.

JSON is strict: undefined values are null, and infinite values are the text "Infinity" or "-Infinity". In the tables a
*number* may also be null, "Infinity" or "-Infinity". An *interval* is an array of two numbers, low and high, or null. A
*label* is text, a number or a boolean. An *object of* something maps names to such values. A key marked with ? may be
absent. The classes are defined in `fastevals.show.schema`, for type checkers:
`report: schema.ScoresReport = json.load(file)`.
"""
NAMES = {
    str: "text", int: "integer", float: "number", bool: "boolean", Any: "any", type(None): "null",
    schema.Number: "number", schema.Ends: "interval", schema.Label: "label", schema.Result: "object",
}  # fmt: skip


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    shown: list[Any] = []
    for kind in schema.KINDS:
        parts.append(f"## {title(kind)}\n\n{table(kind)}\n")
        shown += nested(kind)
    shown = list(dict.fromkeys(shown))
    parts.append("## Objects in them\n")
    parts += [f"### {kind.__name__}\n\n{inspect.getdoc(kind)}\n\n{table(kind)}\n" for kind in shown]
    parts.append("## Results in them\n\nTheir keys are the attributes of the classes, which the reference describes.\n")
    parts += [f"### {kind.__name__}\n\n{table_of_result(kind)}\n" for kind in result_classes()]
    return "\n".join(parts).rstrip("\n") + "\n"


def title(kind: Any) -> str:
    """Return the heading of a command's JSON, with its class and the command that prints it."""
    return f"{kind.__name__}: {(inspect.getdoc(kind) or '').replace('``', '`').rstrip('.')}"


def table(kind: Any) -> str:
    """Return a row for each key."""
    rows = ["| key | type | meaning |", "|---|---|---|"]
    for key, declared in keys(kind).items():
        mark = "?" if key in kind.__optional_keys__ else ""
        told, meaning, *of = [declared.__origin__, *declared.__metadata__]
        meaning += "".join(f": [`{each.__name__}`](#{each.__name__.lower()})" for each in of)
        rows.append(f"| `{key}`{mark} | {name_of(told)} | {meaning} |")
    return "\n".join(rows)


def keys(kind: Any) -> dict[str, Any]:
    """Return the annotation of each key, without the mark for optional keys."""
    hints = get_type_hints(kind, include_extras=True)
    return {key: get_args(each)[0] if key in kind.__optional_keys__ else each for key, each in hints.items()}


def name_of(kind: Any) -> str:
    """Return the page's name for a type."""
    origin, arguments = get_origin(kind), get_args(kind)
    for each, name in NAMES.items():
        if kind == each:
            return name
    if is_typeddict(kind):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    if origin is Annotated:
        return name_of(arguments[0])
    if origin is Literal:
        return " or ".join(f'"{each}"' for each in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(name_of(each) for each in arguments)
    if origin is list:
        return f"array of {name_of(arguments[0])}"
    return f"object of {name_of(arguments[1])}"


def nested(kind: Any) -> Iterator[Any]:
    """Yield the classes of objects in a type, outer ones first."""
    if is_typeddict(kind):
        inner = [each for declared in keys(kind).values() for each in objects(declared)]
        yield from inner
        for each in inner:
            yield from nested(each)


def objects(kind: Any) -> Iterator[Any]:
    """Yield the classes that a type names."""
    if is_typeddict(kind):
        yield kind
    else:
        yield from (found for each in get_args(kind) for found in objects(each))


# Results, whose docstrings describe their attributes ------------------------------------------------------------------


def result_classes() -> list[type]:
    """Return the classes of results in the JSON and in their attributes."""
    found = [each for kind in schema.KINDS for each in _results_of(kind)]
    found += [each for kind in schema.KINDS for inner in nested(kind) for each in _results_of(inner)]
    for each in found:
        found += [inner for told, _ in attributes(each).values() for inner in named_in(told)]
    return list(dict.fromkeys(found))


def _results_of(kind: Any) -> list[type]:
    return [each for declared in keys(kind).values() for each in declared.__metadata__ if isinstance(each, type)]


def named_in(told: str) -> list[type]:
    """Return the public classes with described attributes that a docstring's type names."""
    public = [getattr(fastevals, name) for name in re.findall(r"\w+", told) if name in fastevals.__all__]
    return [each for each in public if attributes(each)]


def attributes(kind: type) -> dict[str, tuple[str, str]]:
    """Return the type and meaning of each attribute that a class and its bases describe."""
    found: dict[str, tuple[str, str]] = {}
    for each in reversed(kind.__mro__):
        text = inspect.cleandoc(vars(each).get("__doc__") or "")
        section = re.search(r"Attributes\n-+\n(.*?)(?:\n\n|\Z)", text, re.DOTALL)
        for entry in re.split(r"\n(?=\w)", section[1]) if section else ():
            names, _, rest = entry.partition(" : ")
            told, _, text = rest.partition("\n")
            found |= {name: (told, " ".join(text.split())) for name in names.split(", ")}
    return found


def table_of_result(kind: type) -> str:
    """Return a row for each attribute."""
    rows = ["| key | type | meaning |", "|---|---|---|"]
    rows += [f"| `{name}` | {told} | {text} |" for name, (told, text) in attributes(kind).items()]
    return "\n".join(rows)
