"""What a command gives: a result as text, JSON and a page, and how it is printed and written."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastevals._files import write_file
from fastevals.document.frames import Tabular
from fastevals.show.commands import escape_controls, print_error, print_text

if TYPE_CHECKING:
    from fastevals.document.page.page import Page


class TextResult(Tabular):
    """A result with rows that prints itself as the command does, and whose JSON is the command's."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as strict JSON has it: NaN as None, what is infinite as "Infinity"."""
        raise NotImplementedError

    def to_text(self) -> str:
        """Return the result as text to read, the last line with a line end."""
        raise NotImplementedError

    def to_page(self) -> Page:
        """Return what the result's page shows."""
        raise NotImplementedError

    def to_html(self, *, command: str | None = None) -> str:
        """Return the result as a page: one file of HTML that needs nothing else (and Jinja2 to be made).

        Parameters
        ----------
        command : str, optional
            What made it, for those who read it.

        Raises
        ------
        ImportError
            Without Jinja2.
        """
        from fastevals.document.page.page import write_page

        return write_page(self.to_page(), command)

    def to_json(self) -> str:
        """Return the result as the command prints it with --format json."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"

    def __repr__(self) -> str:
        return escape_controls(self.to_text()).rstrip("\n")


def show_result(arguments: argparse.Namespace, result: TextResult, pictures: Callable[[], Any]) -> None:
    """Print a result, then write its page and what goes to a folder, which may fail or be stopped.

    `pictures` returns the `BlockPictures`, called with --out alone. An OSError names the file that it can't write.
    """
    print_text(result.to_text() if arguments.format == "text" else result.to_json())
    if getattr(arguments, "html", None) is not None:
        write_file(Path(arguments.html), result.to_html(command=arguments.typed).encode(errors="backslashreplace"))
        _say_written(arguments, f"written to {arguments.html}")
    if arguments.out is None:
        return
    written = pictures().write_folder(arguments.out, arguments.command, result)
    _say_written(arguments, written)


def _say_written(arguments: argparse.Namespace, written: str) -> None:
    if arguments.format == "text":
        print_text(f"\n{written}\n")
    else:
        print_error(written)  # what stands on stdout is JSON and nothing else
