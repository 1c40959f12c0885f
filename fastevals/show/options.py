"""Options that several commands share, and calls that take options."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from fastevals._choices import OnInvalid
from fastevals.show.commands import Option, fields_of, parse_integer, parse_number

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

DOC_WIDTH = 112  # characters of a line; with its indent a docstring has 120

Call = TypeVar("Call", bound=Callable[..., Any])


def own(*shown: Any, default: Any = None, **more: Any) -> Any:
    """Return the field of an option that only one command has; the arguments are those of `Option`."""
    return Option(*shown, **more).field(default)


LABEL = Option("L", "column of the true class", is_column=True)
POS_LABEL = Option("P", "positive class; 1 by default")
GROUP = Option(
    "COLUMN",
    "column of clusters, such as patient, resampled whole",
    "str, optional: Column of clusters, such as patients, whose rows are resampled together.",
    is_column=True,
)
REFERENCE = Option("M", "compare the others only with this model", is_column=True)
RESAMPLES = Option("N", parse=parse_integer)
CONFIDENCE = Option("C", parse=parse_number)
SEED = Option("N", "seed of the replicates (0)", parse=parse_integer)
ON_MISSING_LABEL = Option("", "rows without a label or target", choices=OnInvalid)
PROGRESS = Option("", "show a progress bar on stderr")
SEPARATOR = ENCODING = Option()  # which `add_shared` adds
HEADER = Option(doc="str, str and bool, optional: How a CSV file is written; only needed if the file does not show it.")


def takes(options: type[DataclassInstance]) -> Callable[[Call], Call]:
    """Document a call's ``**options``: add a keyword for each to its signature, and a paragraph to its docstring."""

    def documented(call: Call) -> Call:
        signature = inspect.signature(call)
        keywords = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
            for name, _, field in fields_of(options)
        ]
        positional = [*signature.parameters.values()][:-1]
        call.__signature__ = signature.replace(parameters=[*positional, *keywords])  # type: ignore[attr-defined]
        if call.__doc__ is not None:  # it is None with python -OO
            call.__doc__ = inspect.cleandoc(call.__doc__).replace("{options}", "\n".join(_paragraphs(options)))
        return call

    return documented


def _paragraphs(options: type[DataclassInstance]) -> Iterator[str]:
    """Yield the docstring's paragraphs on options; options that share a doc share a paragraph."""
    names = []
    for name, shown, _ in fields_of(options):
        names.append(name)
        if shown.doc:
            kind, _, text = shown.doc.partition(": ")
            yield f"{', '.join(names)} : {kind}"
            lines = textwrap.wrap(" ".join(text.split()), DOC_WIDTH, break_on_hyphens=False)
            yield textwrap.indent("\n".join(lines), "    ")
            names = []
