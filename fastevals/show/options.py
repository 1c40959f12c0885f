"""Options that several commands have, and calls that take options."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from fastevals._choices import OnInvalid
from fastevals.show.commands import Option, fields_of, parse_integer, parse_number

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

DOC_WIDTH = 112  # characters of a line, with which a docstring's paragraphs reach to 120

Call = TypeVar("Call", bound=Callable[..., Any])


def own(*shown: Any, default: Any = None, **more: Any) -> Any:
    """Return the field of an option that one command alone has; arguments as `Option`."""
    return Option(*shown, **more).field(default)


LABEL = Option("L", "column of the true class", is_column=True)
POS_LABEL = Option("P", "the positive class; by default 1 among 0/1, -1/1 and booleans")
GROUP = Option(
    "COLUMN",
    "draw rows that share a value of this column together, such as patient",
    "str, optional: Column of which rows are drawn together, such as a patient.",
    is_column=True,
)
RESAMPLES = Option("N", parse=parse_integer)
CONFIDENCE = Option("C", parse=parse_number)
SEED = Option("N", "of the replicates, 0 by default", parse=parse_integer)
ON_MISSING_LABEL = Option("", "rows without a label, or without a target: raise, drop", choices=OnInvalid)
PROGRESS = Option("", "show a bar on stderr")
SEPARATOR = ENCODING = Option()  # which `add_shared` adds
HEADER = Option(doc="str, str and bool, optional: Of a CSV file, where they are not to be seen from it.")


def takes(options: type[DataclassInstance]) -> Callable[[Call], Call]:
    """Make a call's ``**options`` known: its signature has a keyword for each, and its docstring a paragraph."""

    def documented(call: Call) -> Call:
        signature = inspect.signature(call)
        keywords = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
            for name, _, field in fields_of(options)
        ]
        positional = [*signature.parameters.values()][:-1]
        call.__signature__ = signature.replace(parameters=[*positional, *keywords])  # type: ignore[attr-defined]
        if call.__doc__ is not None:  # as it is with python -OO
            call.__doc__ = inspect.cleandoc(call.__doc__).replace("{options}", "\n".join(_paragraphs(options)))
        return call

    return documented


def _paragraphs(options: type[DataclassInstance]) -> Iterator[str]:
    """Yield what a docstring says of options; one paragraph is of several where their docs are one."""
    names = []
    for name, shown, _ in fields_of(options):
        names.append(name)
        if shown.doc:
            kind, _, text = shown.doc.partition(": ")
            yield f"{', '.join(names)} : {kind}"
            lines = textwrap.wrap(" ".join(text.split()), DOC_WIDTH, break_on_hyphens=False)
            yield textwrap.indent("\n".join(lines), "    ")
            names = []
