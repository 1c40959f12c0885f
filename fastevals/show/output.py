"""The folder of --out: the result as JSON and text, and pictures."""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from fastevals._execution import progressed
from fastevals._files import write_file
from fastevals._naming import escape_controls
from fastevals._text import ALL_ROWS, describe_segment, printable
from fastevals.document.picture import Panel
from fastevals.document.result import Result
from fastevals.results import as_json
from fastevals.show.commands import MOST_PICTURED
from fastevals.show.plots.drawing import show
from fastevals.show.plots.fonts import fonts_for
from fastevals.show.plots.saving import FONT_SETTINGS, WITHOUT_TIME
from fastevals.show.plots.style import legend_label

PictureFormat = Literal["png", "svg", "pdf"]

DOTS_PER_INCH = 125  # 800 pixels wide
LONGEST_VALUE = 40  # characters of a --by value in a folder's name


class BlockPictures(NamedTuple):
    """The pictures of a command."""

    names: Collection[str]  # of all pictures that a block may have; none if the command has no pictures
    by: str | None  # the --by columns, in words: each block has a folder
    segments: Sequence[tuple[Sequence[str], Any]]  # each block's --by column, or columns, and its value, or values
    block_pictures: Callable[[int], Iterable[tuple[str, Sequence[Panel]]]]  # of the block at a place, by name
    reason: str = ""  # why blocks have no pictures
    of_all: Sequence[tuple[str, Sequence[Panel]]] = ()  # pictures of all blocks in one
    of_whole: Iterable[tuple[str, Sequence[Panel]]] = ()  # pictures of the block of all rows

    def write_folder(self, out: str, command: str, result: Result, form: PictureFormat = "png") -> str:
        """Write a command's JSON, text and pictures over an earlier run's; return a line that says where they are.

        Each file is written whole or not at all. The JSON of an earlier run says which blocks it drew.
        """
        folder = Path(out)
        numbers = folder / f"{command}.json"
        if numbers.is_file():  # without an earlier run other pictures are the user's
            _remove(folder, self.names)
        for block_folder in _earlier_blocks(numbers):
            _remove(block_folder, self.names)
            with contextlib.suppress(OSError):  # it holds something else
                block_folder.rmdir()
        write_file(numbers, result.to_json().encode())
        write_file(folder / f"{command}.txt", escape_controls(result.to_text()).encode(errors="backslashreplace"))
        drawn = f", {_draw(folder, self, form)}" if self.names else ""
        return f"written to {out}: {command}.json, {command}.txt{drawn}"


def _draw(folder: Path, pictures: BlockPictures, form: PictureFormat) -> str:
    """Draw all pictures, each block's in its own folder; return how many there are and where, in words."""
    names, by, segments, block_pictures, reason, of_all, of_whole = pictures
    blocks: list[tuple[Path, str | None]] = [(folder, None)]
    where = ""
    if by is not None:
        pictured = enumerate(segments[:MOST_PICTURED])
        blocks = [(_block_folder(folder, k, *segment), describe_segment(*segment)) for k, segment in pictured]
        where = f" in a folder for each {printable(by)}"
        where += f" of the first {len(blocks)} of {len(segments)} only" if len(blocks) < len(segments) else ""
    count = n_whole = 0
    for name, panels in of_whole:
        write_file(folder / f"{name}.{form}", _drawn(panels, ALL_ROWS, form))
        n_whole += 1
    for k, (block_folder, title) in enumerate(progressed(blocks, "drawing")):
        if title is not None:
            _remove(block_folder, names)
        for name, panels in block_pictures(k):
            content = _drawn(panels, title, form)
            block_folder.mkdir(exist_ok=True)  # a concurrent run may have removed it
            write_file(block_folder / f"{name}.{form}", content)
            count += 1
    for name, panels in of_all:
        write_file(folder / f"{name}.{form}", _drawn(panels, None, form))
    said = [f"{name}.{form}" for name, _ in of_all]
    if n_whole:
        said.append(f"{n_whole} picture{'s' * (n_whole != 1)} of {ALL_ROWS}")
    if count or not said:
        said.append(f"{count} picture{'s' * (count != 1)}{where}")
    return ", ".join(said) + (f" ({reason})" if reason else "")


def _earlier_blocks(numbers: Path) -> list[Path]:
    """Return the existing folders of the blocks that an earlier run wrote."""
    if not numbers.is_file():  # or it is a pipe, which may have no writer
        return []
    try:
        earlier = json.loads(numbers.read_bytes())
        by = earlier["by"]
        segments = [(block.get("by", by), block["value"]) for block in earlier["blocks"]]
        segments = [((its,) if isinstance(its, str) else its, value) for its, value in segments]
        folders = [_block_folder(numbers.parent, k, *each) for k, each in enumerate(segments[:MOST_PICTURED]) if by]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # it is another kind of file
        return []
    return [each for each in folders if each.is_dir()]


def _block_folder(folder: Path, k: int, by: Sequence[str], value: Any) -> Path:
    """Return a block's folder, named by its unique number and the safe characters of columns and values."""
    named = zip(by, value if len(by) > 1 else (value,), strict=True)
    text = "-".join(f"{name}-{str(each).lower() if isinstance(each, bool) else as_json(each)}" for name, each in named)
    return folder / f"{k:02d}-{re.sub(r'[^A-Za-z0-9._-]+', '_', text)[:LONGEST_VALUE].rstrip('.')}"


def _remove(folder: Path, names: Iterable[str]) -> None:
    """Remove pictures of any format, which an earlier run may have drawn."""
    for name, form in product(names, get_args(PictureFormat)):
        (folder / f"{name}.{form}").unlink(missing_ok=True)


def _drawn(panels: Sequence[Panel], title: str | None, form: PictureFormat) -> bytes:
    """Draw the panels of one picture, without pyplot; the same panels give the same bytes."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width, height = max(panel.size for panel in panels)
    columns = 1 if panels[0].is_wide else math.ceil(math.sqrt(len(panels)))
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(columns * width, rows * height), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    content = io.BytesIO()
    with rc_context(FONT_SETTINGS), fonts_for([panels, title]):
        for panel, ax in zip(panels, grid, strict=False):
            show(panel.picture, ax, panel.title)
        for ax in grid[len(panels) :]:
            ax.set_axis_off()
        if title is not None:
            (grid[0].set_title if len(panels) == 1 else figure.suptitle)(legend_label(title))
        figure.savefig(content, format=form, metadata=WITHOUT_TIME[form])
    return content.getvalue()
