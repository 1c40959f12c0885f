"""What --out writes to: a folder that is checked beforehand, and pictures in it."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from fastevals.show.plots import style

__all__ = ["block_folder", "check_folder", "remove_pictures", "save_picture"]

DOTS_PER_INCH = 125  # 800 pixels wide
LONGEST_VALUE = 40  # characters of a --by value in a folder's name


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


def block_folder(folder: Path, k: int, by: str, value: Any) -> Path:
    """Make a block's folder: its name is its number, which makes it unique, then what is safe of column and value."""
    text = f"{by}-{str(value).lower() if isinstance(value, bool) else value}"
    inside = folder / f"{k:02d}-{re.sub(r'[^A-Za-z0-9._-]+', '_', text)[:LONGEST_VALUE].rstrip('.')}"
    inside.mkdir(exist_ok=True)
    return inside


def remove_pictures(folder: Path, names: Iterable[str]) -> None:
    """Remove an earlier run's pictures that this one doesn't draw."""
    for name in names:
        (folder / f"{name}.png").unlink(missing_ok=True)


def save_picture(
    plot: Callable[..., Any], drawn: Any, *, size: tuple[float, float], title: str | None, file: Path, **options: Any
) -> None:
    """Write what `plot` draws, without pyplot, as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    ax = plot(drawn, ax=figure.subplots(), **options)
    if title is not None:
        ax.set_title(style.named_label(title))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # letters are drawn as boxes
        figure.savefig(file, format="png")
