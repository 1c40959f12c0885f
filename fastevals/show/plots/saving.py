"""Save pictures as journals want them: TrueType fonts in PDFs, letters as text in SVGs, the same bytes every time."""

from __future__ import annotations

import io
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastevals._files import write_file
from fastevals._options import show
from fastevals._validation.curves import _kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Journals refuse Type 3 fonts; a constant salt keeps the names inside SVGs the same.
FONT_SETTINGS = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "fastevals"}
WITHOUT_TIME: dict[str, Any] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
DOTS_PER_INCH = 300  # of pixels


def save_figure(ax: Axes, path: str | PathLike[str]) -> None:
    """Save the figure of some axes as a PDF or SVG for a paper, or as a PNG.

    Parameters
    ----------
    ax : Axes
        Axes that a function of this module drew on, or any axes of the figure.
    path : str or path
        File name ending in .pdf, .svg or .png.

    Raises
    ------
    ValueError
        If `ax` is not a matplotlib Axes, or `path` has another suffix.
    OSError
        If the file can't be written; the error names it.

    Notes
    -----
    PDFs contain TrueType fonts (matplotlib's default, Type 3, is refused by many journals), and letters in SVGs are
    text, which can be searched and edited. PNGs have 300 dots per inch. The space around the figure is cut off. No file
    has a time, so the same figure gives the same bytes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from fastevals.show.plots import plot_rank_distribution
    >>> ax = plot_rank_distribution({"a": [0.9, 0.8], "b": [0.7, 0.9]}, ax=Figure().subplots())
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(ax, f"{folder}/ranks.pdf")
    """
    from matplotlib import rc_context
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ValueError(f"ax must be a matplotlib Axes, got {_kind(ax)}")
    end = Path(path).suffix.lower().removeprefix(".") if isinstance(path, str | PathLike) else ""
    if end not in WITHOUT_TIME:
        raise ValueError(f"path must be a name that ends with one of .pdf, .svg, .png, got {show(path)}")
    content, figure = io.BytesIO(), ax.figure.figure
    with rc_context(FONT_SETTINGS):
        figure.savefig(content, format=end, dpi=DOTS_PER_INCH, bbox_inches="tight", metadata=WITHOUT_TIME[end])
    write_file(Path(path), content.getvalue())
