"""What --out writes: a folder that is checked beforehand, what was found as JSON and text, and pictures."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from fastevals._execution import progressed
from fastevals._text import format_label, printable
from fastevals.results import as_json
from fastevals.show.commands import MOST_PICTURED, TextResult, escape_controls, option
from fastevals.show.plots import style

DOTS_PER_INCH = 125  # 800 pixels wide
LONGEST_VALUE = 40  # characters of a --by value in a folder's name


class Picture(NamedTuple):
    """What draws something, what it draws, the size in inches, and further arguments."""

    plot: Callable[..., Any]
    drawn: Any
    size: tuple[float, float]
    options: Mapping[str, Any] = MappingProxyType({})


class BlockPictures(NamedTuple):
    """What a command draws.

    Attributes
    ----------
    names : iterable of str
        Of the pictures that a block may have.
    by : str or None
        The --by column: each block has a folder.
    values : sequence
        The blocks' values in it.
    of_block : function of int
        Gives a block's pictures, by its place, with their names.
    instead : str
        What to say in place of how many were drawn.
    """

    names: Iterable[str]
    by: str | None
    values: Sequence[Any]
    of_block: Callable[[int], Iterable[tuple[str, Picture]]]
    instead: str = ""


def prepare_folder(out: str) -> None:
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
        raise ValueError(f"{option('out')} must name a folder, got ''")
    try:
        os.makedirs(out, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except FileExistsError:
        raise ValueError(f"{option('out')} must be a folder, got the file {out!r}") from None
    except OSError as error:
        raise ValueError(f"{option('out')} {out!r} can't be written to: {error.strerror or error}") from None


def write_folder(out: str, command: str, result: TextResult, pictures: BlockPictures) -> str:
    """Write a command's JSON, its text and pictures in place of those of an earlier run; give a line on what is where.

    Each file is written whole or not at all. The numbers of an earlier run say which blocks it drew.
    """
    folder = Path(out)
    numbers = folder / f"{command}.json"
    if numbers.is_file():  # without an earlier run a picture that this one doesn't draw is the user's
        _remove(folder, pictures.names)
    for inside in _earlier_blocks(numbers):
        _remove(inside, pictures.names)
        with contextlib.suppress(OSError):  # it holds something else
            inside.rmdir()
    _write(numbers, result.to_json().encode())
    _write(folder / f"{command}.txt", escape_controls(result.to_text()).encode(errors="backslashreplace"))
    return f"written to {out}: {command}.json, {command}.txt, {_draw(folder, pictures)}"


def _draw(folder: Path, pictures: BlockPictures) -> str:
    """Draw all, those of blocks in a folder each; give how many, and of what."""
    _, by, values, of_block, instead = pictures
    parts: list[tuple[Path, str | None]] = [(folder, None)]
    said = ""
    if by is not None:
        shown = enumerate(values[:MOST_PICTURED])
        parts = [(_block_folder(folder, k, by, value), f"{by} = {format_label(value)}") for k, value in shown]
        said = f" in a folder for each {printable(by)}"
        said += f" of the first {len(parts)} of {len(values)} only" if len(parts) < len(values) else ""
    drawn = 0
    for k, (inside, title) in enumerate(progressed(parts, "drawing")):
        if title is not None:
            inside.mkdir(exist_ok=True)
            _remove(inside, pictures.names)
        for name, picture in of_block(k):
            _write(inside / f"{name}.png", _drawn(picture, title))
            drawn += 1
    return instead or f"{drawn} picture{'s' * (drawn != 1)}{said}"


def _earlier_blocks(numbers: Path) -> list[Path]:
    """Return the folders of the blocks whose numbers an earlier run wrote, those that are there."""
    try:
        earlier = json.loads(numbers.read_bytes())
        by, values = earlier["by"], [block["value"] for block in earlier["blocks"]]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # there is none, or it is no such file
        return []
    folders = (_block_folder(numbers.parent, k, by, value) for k, value in enumerate(values[:MOST_PICTURED]))
    return [] if by is None else [inside for inside in folders if inside.is_dir()]


def _block_folder(folder: Path, k: int, by: str, value: Any) -> Path:
    """Return a block's folder: its name is its number, which makes it unique, then what is safe of column and value."""
    text = f"{by}-{str(value).lower() if isinstance(value, bool) else as_json(value)}"
    return folder / f"{k:02d}-{re.sub(r'[^A-Za-z0-9._-]+', '_', text)[:LONGEST_VALUE].rstrip('.')}"


def _remove(folder: Path, names: Iterable[str]) -> None:
    """Remove pictures, which an earlier run may have drawn."""
    for name in names:
        (folder / f"{name}.png").unlink(missing_ok=True)


def _drawn(picture: Picture, title: str | None) -> bytes:
    """Draw a picture as PNG, without pyplot."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=picture.size, dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    ax = picture.plot(picture.drawn, ax=figure.subplots(), **picture.options)
    if title is not None:
        ax.set_title(style.named_label(title))
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # letters are drawn as boxes
        figure.savefig(content, format="png")
    return content.getvalue()


def _write(file: Path, content: bytes) -> None:
    """Write a file whole or not at all: beside its place first. An error names the file, which OSError does not."""
    beside = file.with_name(f".{file.name}.part")
    try:
        beside.unlink(missing_ok=True)  # a killed run may have left it
        try:
            with beside.open("xb") as part:
                part.write(content)
            beside.replace(file)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
