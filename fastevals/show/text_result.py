"""Results that say themselves what is on their page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastevals.document.result import Result

if TYPE_CHECKING:
    from fastevals.document.page.page import Page


class TextResult(Result):
    """A result that says its text and its page."""

    __slots__ = ()

    def to_text(self) -> str:
        """Return the result as text to read, the last line with a line end."""
        raise NotImplementedError

    def to_page(self) -> Page:
        """Return what the result's page shows."""
        raise NotImplementedError

    def to_html(self, *, command: str | None = None) -> str:
        """Return the result as a page."""
        from fastevals.document.page.page import write_page

        return write_page(self.to_page(), command)
