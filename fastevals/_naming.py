"""Names of arguments in messages, as in Python or as on the command line; and text that is safe for a terminal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# The command line's names for arguments that are named differently in Python.
OPTION_NAMES = {
    "n_resamples": "resamples", "confidence_level": "confidence", "rng": "seed", "groups": "group",
    "sample_weight": "weight",
}  # fmt: skip

_on_command_line: ContextVar[bool] = ContextVar("fastevals_on_command_line", default=False)


@contextmanager
def on_command_line() -> Iterator[None]:
    """Make messages inside a ``with`` block name arguments like the command line's options."""
    token = _on_command_line.set(True)
    try:
        yield
    finally:
        _on_command_line.reset(token)


def typed_name(name: str) -> str:
    """Return the command line's name for an argument."""
    return f"--{OPTION_NAMES.get(name, name).replace('_', '-')}"


def option(name: str, value: Any = None, *, placeholder: str | None = None) -> str:
    """Return an option's name in messages, as the reader would type it: ``--cost-fp``, or the argument ``cost_fp``.

    With a value, or a placeholder for one, it is ``--cost-fp 5`` or ``cost_fp=5``.
    """
    if not _on_command_line.get():
        shown = placeholder if value is None else repr(value)
        return name if shown is None else f"{name}={shown}"
    dashed = typed_name(f"no_{name}" if value is False else name)
    if isinstance(value, bool):
        return dashed
    shown = placeholder if value is None else shlex.quote(str(value))
    return dashed if shown is None else f"{dashed} {shown}"


def dropping(*, is_label: bool = False) -> str:
    """Return the end of a message about missing values (or labels): the option that leaves such rows out."""
    return f"; {option('on_missing_label' if is_label else 'on_invalid', 'drop')} leaves such rows out"


def escape_controls(text: str) -> str:
    """Return text for a terminal, with escapes for unprintable characters except line ends.

    Names, paths and file contents may hold control characters, which would move the cursor or colour everything that
    follows.
    """
    return re.sub(r"[^\n -~]", lambda match: _escape(match[0]), text)


def _escape(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]


@contextmanager
def naming_columns(arguments: Mapping[str, str], where: str = "") -> Iterator[None]:
    """In errors, name columns instead of the arguments that they were passed as; append `where` if it is given."""
    try:
        yield
    except ValueError as error:
        pattern = rf"\b({'|'.join(arguments)})\b"
        message = re.sub(pattern, lambda found: f"column {arguments[found[0]]!r}", str(error))
        raise ValueError(f"{message} ({where})" if where else message) from None
