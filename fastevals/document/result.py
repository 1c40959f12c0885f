"""The forms of every result with rows: frame, text, page, Markdown, LaTeX, JSON, and files of these."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from fastevals._files import write_file
from fastevals._naming import escape_controls
from fastevals._text import TABLE_WIDTH, printable, shorten_name
from fastevals.document import frames
from fastevals.document.document import GAP, Cell, Document, Part, Row, Section, Sentence, Table
from fastevals.document.frames import Columns, Library
from fastevals.document.scalars import Scalar, check_prefix, name_scalars, scalars_of_attributes, scalars_of_rows
from fastevals.document.text import write_text

if TYPE_CHECKING:
    import pandas
    import polars

LONGEST_TITLE = 200
ROWS_WRITTEN, ROWS_ON_PAGE = 100, 2000


class Result:
    """A result with rows; all its forms are made from its columns and its `Document`.

    A class gives its rows in `_columns`. It overrides `_document` to say more than rows and a conclusion, and has a
    `to_dict` if programs read it.
    """

    __slots__ = ()

    def _columns(self) -> Columns:
        """Return the rows as columns: one row per metric, model, group or point."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the result as strict JSON: NaN becomes None; infinite values become "Infinity" or "-Infinity"."""
        raise NotImplementedError

    def _shown_columns(self) -> Columns:
        """Return the columns to show: those with values. A class may choose others that are easier to read."""
        return frames.leave_unused_out(self._columns())

    def _title(self) -> str:
        """Return the title above the rows."""
        return repr(self).partition("\n")[0]

    def _document(self) -> Document:
        """Return the document for text, page, Markdown and LaTeX: title, rows and conclusion."""
        columns = self._shown_columns()
        conclusion = getattr(self, "conclusion", "")  # of tests
        n_rows = len(next(iter(columns.values()), ()))
        title = f"The first {ROWS_ON_PAGE:,} of {n_rows:,} rows; the JSON has all" if n_rows > ROWS_ON_PAGE else ""
        more = f"... {n_rows - ROWS_WRITTEN:,} more of {n_rows:,} rows" if n_rows > ROWS_WRITTEN else ""
        first = {name: column[:ROWS_ON_PAGE] for name, column in columns.items()}
        rows = Table("rows", title, list(first), lambda: _rows(first), n_shown=ROWS_WRITTEN, more=more, n_rows=n_rows)
        parts: list[Part] = [*([Sentence(conclusion, "verdict"), GAP] if conclusion else []), rows]
        return Document("", self._short_title(), sections=[Section(parts)], numbers=self.to_dict)

    def _short_title(self) -> str:
        return shorten_name(printable(self._title()), LONGEST_TITLE)

    # Frames -----------------------------------------------------------------------------------------------------------

    @overload
    def to_frame(self, library: Literal["pandas"]) -> pandas.DataFrame: ...
    @overload
    def to_frame(self, library: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def to_frame(self, library: None = ...) -> pandas.DataFrame | polars.DataFrame: ...
    def to_frame(self, library: Library | None = None) -> Any:
        """Return the rows as a frame.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Library of the frame. By default the one that is imported or, if neither is, the one that is installed;
            pandas comes before polars.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            One row per metric, model, group or point. Columns have the names of the attributes, in the singular. NaN
            stays NaN. Values of several types, such as the names 1 and "b", are objects in pandas and text in polars.

        Raises
        ------
        ValueError
            If `library` is neither.
        ImportError
            If `library` is not installed or, by default, neither library is.

        Notes
        -----
        Other libraries read the rows through Arrow's C interface, with pyarrow: ``pyarrow.table(result)``, or a result
        in a DuckDB query.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[3, 1], [0, 2]], ["no", "yes"])
        >>> matrix.to_frame("pandas")
          true predicted  count
        0   no        no      3
        1   no       yes      1
        2  yes        no      0
        3  yes       yes      2
        """
        return frames.as_frame(self._columns(), library)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return frames.as_stream(self._columns(), requested_schema)

    def _repr_html_(self) -> str:
        from fastevals.document.notebook import write_notebook

        return write_notebook(self._document())

    # Numbers ----------------------------------------------------------------------------------------------------------

    def to_scalars(self, prefix: str = "") -> dict[str, float]:
        """Return the result's numbers by name, flat, as experiment trackers log them.

        Parameters
        ----------
        prefix : str
            What each name begins with, such as ``"test/"`` or ``"val_"``.

        Returns
        -------
        dict of str to float
            The numbers of the rows of `to_frame`, in their order. A metric's value has the metric's name; an interval
            adds ``_ci_lower`` and ``_ci_upper``, and other columns their own names, such as ``_standard_error`` and
            ``_pvalue``. Models, groups and segments stand in front, as in ``forest/roc_auc``, a pair of models as in
            ``forest_vs_logistic/roc_auc_difference``. The name of the only model is left out. A curve gives its
            numbers, such as ``area``, instead of its points.

        Raises
        ------
        ValueError
            If `prefix` is not text, or has characters that MLflow refuses in names.

        Notes
        -----
        Undefined and infinite numbers are left out, and so are settings, texts and truth values. Where rows have a
        value, numbers of rows are left out too. In names, characters other than letters, digits, ``_``, ``-`` and
        ``.`` become ``_``, and long names end in a hash, so that MLflow, Weights & Biases, DVCLive and TensorBoard
        accept them. Names that would be equal get the endings ``_2``, ``_3`` and so on.

        Examples
        --------
        >>> import fastevals
        >>> found = fastevals.delong([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.2, 0.7])
        >>> {name: round(value, 3) for name, value in found.to_scalars("test/").items()}
        {'test/auc': 0.889, 'test/auc_standard_error': 0.157, 'test/auc_ci_lower': 0.581, 'test/auc_ci_upper': 1.0}
        """
        return name_scalars(self._scalars(), check_prefix(prefix))

    def _scalars(self) -> Iterable[Scalar]:
        """Return the numbers of rows or, if rows are points, the numbers among the attributes."""
        found = scalars_of_rows(self._columns(), self._key_names(), getattr(self, "metric", None))
        return scalars_of_attributes(self._attributes()) if found is None else found

    def _key_names(self) -> tuple[str, ...]:
        """Return the columns whose values name groups."""
        by = getattr(self, "by", None) or ()
        return (*by, *(f"group_{name}" for name in by))

    def _attributes(self) -> Iterator[tuple[str, Any]]:
        """Yield public attributes, by name."""
        yield from ()

    # Documents --------------------------------------------------------------------------------------------------------

    def to_text(self) -> str:
        """Return the result as text, ending in a newline."""
        return self._written()

    def _written(self, width: int = TABLE_WIDTH) -> str:
        """Return the text, in lines of at most `width` characters."""
        return write_text(self._document(), width)

    def to_html(self, *, command: str | None = None) -> str:
        """Return the result as a page: one self-contained HTML file (needs Jinja2).

        Parameters
        ----------
        command : str, optional
            Command to show on the page as its origin.

        Raises
        ------
        ImportError
            If Jinja2 is not installed.
        """
        from fastevals.document.page.page import write_page

        return write_page(self._document(), command)

    def to_markdown(self) -> str:
        """Return the result as GitHub's Markdown: verdict, tables with the best in bold, and caveats."""
        from fastevals.document.markdown import write_markdown

        return write_markdown(self._document())

    def to_latex(self) -> str:
        r"""Return the result's tables as LaTeX, for a document with ``\usepackage{booktabs}``."""
        from fastevals.document.latex import write_latex

        return write_latex(self._document())

    def to_json(self) -> str:
        """Return the result's dict as strict JSON, as commands print it with --format json."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result to a file, whole or not at all, in the form that its suffix names.

        Parameters
        ----------
        path : str or path
            File name ending in .html (a page), .md (Markdown), .json, .tex (LaTeX tables) or .txt (text).

        Raises
        ------
        ValueError
            If `path` is not a file name, or has another suffix.
        OSError
            If the file can't be written; the error names it.
        """
        end = Path(path).suffix.lower() if isinstance(path, str | PathLike) else ""
        if end not in WRITERS:
            raise ValueError(f"path must be a name that ends with one of {', '.join(WRITERS)}, got {path!r}")
        write_file(Path(path), WRITERS[end](self).encode(errors="backslashreplace"))

    def __repr__(self) -> str:
        return escape_controls(self.to_text()).rstrip("\n")


WRITERS: dict[str, Callable[[Result], str]] = {
    ".html": lambda result: result.to_html(),
    ".md": lambda result: result.to_markdown(),
    ".json": lambda result: result.to_json(),
    ".tex": lambda result: result.to_latex(),
    ".txt": lambda result: escape_controls(result.to_text()),
}


def _rows(columns: Columns) -> Iterator[Row]:
    """Yield a table's rows; the first column names each row."""
    texts = frames.format_cells(columns)
    digits = [map(repr, column.tolist()) if column.dtype.kind in "iuf" else repeat("") for column in columns.values()]
    for row in zip(*(zip(*each, strict=False) for each in zip(texts, digits, strict=True)), strict=True):
        yield Row(row[0][0], [Cell(*cell) for cell in row[1:]])
