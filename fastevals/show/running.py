"""What commands do alike, before the data is read and with what they find. Imports nothing that is slow to load."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fastevals.show.output import BlockPictures

__all__ = ["MOST_PICTURED", "Shown", "bars", "check_beforehand", "complain", "hand_out", "visible", "write"]

LONG_STEP = 2.0  # seconds
MOST_PICTURED = 20  # blocks with pictures


class Shown(Protocol):
    """What a command finds: it gives itself as text and as JSON, told where the columns are from."""

    def to_text(self, data: str) -> str:
        """Give text to read, the last line with a line end."""

    def to_json(self, data: str) -> str:
        """Give strict JSON, the last line with a line end."""


def check_beforehand(arguments: argparse.Namespace) -> None:
    """Raise, before time is spent on the data, if --out or --progress can't be had."""
    if arguments.out is not None:
        from fastevals.show.output import check_folder

        check_folder(arguments.out)
    if arguments.progress:
        from fastevals._validation import import_optional

        import_optional("tqdm.auto", "--progress needs tqdm: pip install 'fastevals[progress]'")


def bars(arguments: argparse.Namespace) -> AbstractContextManager[None]:
    """Return a context in which steps that take long show how far they are, where standard error is a terminal."""
    from fastevals._execution import bars_after

    terminal = sys.stderr is not None and sys.stderr.isatty()
    return bars_after(LONG_STEP if terminal and not arguments.quiet else None)


def hand_out(arguments: argparse.Namespace, found: Shown, data: str, pictures: Callable[[], BlockPictures]) -> None:
    """Print what was found, then write what goes to a folder, which may fail or be stopped.

    Parameters
    ----------
    arguments : Namespace
        With `command`, `format` and `out`.
    found : Shown
        What to show.
    data : str
        Where the columns are from.
    pictures : function
        Gives what is drawn. Called with --out alone.

    Raises
    ------
    OSError
        If a file can't be written; it names the file.
    """
    write(found.to_text(data) if arguments.format == "text" else found.to_json(data))
    if arguments.out is None:
        return
    from fastevals.show.output import write_folder

    written = write_folder(arguments.out, arguments.command, found, data, pictures())
    if arguments.format == "text":
        write(f"\n{written}\n")
    else:
        complain(written)  # what stands on stdout is JSON and nothing else


def visible(text: str) -> str:
    """Return text for a terminal: escapes for what does not print, line ends apart.

    Names, paths and what a file holds may have control characters, which would move the cursor or colour all that
    follows.
    """
    return re.sub(r"[^\n -~]", lambda found: _escaped(found[0]), text)


def _escaped(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]


def complain(message: str) -> None:
    """Print a line on standard error."""
    print(visible(" ".join(message.split())), file=sys.stderr)


def write(text: str) -> None:
    """Print, and be content where the reader (head, for instance) has seen enough, or there is none."""
    if sys.stdout is None:
        return
    text = visible(text)
    try:
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:  # a name that the terminal's encoding lacks
            encoding = sys.stdout.encoding
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except OSError as error:
        # What is still buffered goes nowhere, lest Python fail to write it once more when it exits.
        with contextlib.suppress(OSError, ValueError):  # where stdout is no file
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise
