"""What --out writes: a folder that is checked beforehand, what was found as JSON and text, and pictures."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from fastevals.show.plots import style
from fastevals.show.running import MOST_PICTURED, Shown
from fastevals.show.words import label, printable

__all__ = ["Picture", "check_folder", "draw_blocks", "write_folder"]

DOTS_PER_INCH = 125  # 800 pixels wide
LONGEST_VALUE = 40  # characters of a --by value in a folder's name


class Picture(NamedTuple):
    """What draws something, what it draws, the size in inches, and further arguments."""

    plot: Callable[..., Any]
    drawn: Any
    size: tuple[float, float]
    options: Mapping[str, Any] = MappingProxyType({})


def check_folder(out: str) -> None:
    """Make the folder, and its parents, and see to it that a file can be written there.

    Parameters
    ----------
    out : str
        The folder, as given to --out.

    Raises
    ------
    ValueError
        If it is a file or can't be written to.
    ImportError
        If matplotlib is missing.
    """
    style.require_matplotlib()
    if not out:
        raise ValueError("--out must name a folder, got ''")
    try:
        os.makedirs(out, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except FileExistsError:
        raise ValueError(f"--out must be a folder, got the file {out!r}") from None
    except OSError as error:
        raise ValueError(f"--out {out!r} can't be written to: {error.strerror or error}") from None


def write_folder(out: str, command: str, found: Shown, data: str, draw: Callable[[Path], str]) -> str:
    """Write a command's JSON, its text and pictures; give a line that says what is where."""
    folder = Path(out)
    (folder / f"{command}.json").write_text(found.to_json(data), encoding="utf-8")
    (folder / f"{command}.txt").write_text(found.to_text(data), encoding="utf-8", errors="backslashreplace")
    return f"written to {printable(out)}: {command}.json, {command}.txt, {draw(folder)}\n"


def draw_blocks(
    folder: Path,
    names: Iterable[str],
    by: str | None,
    values: Sequence[Any],
    pictures: Callable[[int], Iterable[tuple[str, Picture]]],
) -> str:
    """Draw the pictures of blocks, with --by in a folder each, in place of those of an earlier run.

    Parameters
    ----------
    folder : Path
        Of all.
    names : iterable of str
        Of the pictures that a block may have.
    by : str or None
        The --by column.
    values : sequence
        The blocks' values in it.
    pictures : function of int
        Gives a block's pictures, by its place, with their names.

    Returns
    -------
    str
        How many pictures, and of what.
    """
    parts: list[tuple[Path, str | None]] = [(folder, None)]
    said = ""
    if by is not None:
        _remove(folder, names)
        shown = enumerate(values[:MOST_PICTURED])
        parts = [(_block_folder(folder, k, by, value), f"{by} = {label(value)}") for k, value in shown]
        said = f" in a folder for each {printable(by)}"
        said += f" of the first {len(parts)} of {len(values)} only" if len(parts) < len(values) else ""
    drawn = 0
    for k, (inside, title) in enumerate(parts):
        _remove(inside, names)
        for name, picture in pictures(k):
            _save(picture, title, inside / f"{name}.png")
            drawn += 1
    return f"{drawn} picture{'s' * (drawn != 1)}{said}"


def _block_folder(folder: Path, k: int, by: str, value: Any) -> Path:
    """Make a block's folder: its name is its number, which makes it unique, then what is safe of column and value."""
    text = f"{by}-{str(value).lower() if isinstance(value, bool) else value}"
    inside = folder / f"{k:02d}-{re.sub(r'[^A-Za-z0-9._-]+', '_', text)[:LONGEST_VALUE].rstrip('.')}"
    inside.mkdir(exist_ok=True)
    return inside


def _remove(folder: Path, names: Iterable[str]) -> None:
    """Remove pictures, which an earlier run may have drawn."""
    for name in names:
        (folder / f"{name}.png").unlink(missing_ok=True)


def _save(picture: Picture, title: str | None, file: Path) -> None:
    """Write a picture as PNG, without pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=picture.size, dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    ax = picture.plot(picture.drawn, ax=figure.subplots(), **picture.options)
    if title is not None:
        ax.set_title(style.named_label(title))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # letters are drawn as boxes
        figure.savefig(file, format="png")
