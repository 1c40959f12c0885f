"""Write files whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LEFT_SECONDS = 3600  # after this time nobody is writing a partial file any more


def write_file(file: Path, content: bytes) -> None:
    """Write a file whole or not at all; errors name this file, not a temporary one.

    If several processes write a file at the same time, the last one wins. If the file is a link, its target is written
    and the link stays. A replaced file keeps its permissions.
    """
    try:
        place = _place(file)
        mode = _mode(place)
        with _partial_file(place) as partial:
            with partial.open("xb") if mode is None else open(partial, "xb", opener=_open_private) as part:
                part.write(content)
            if mode is not None:
                partial.chmod(stat.S_IMODE(mode))
            partial.replace(place)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error


@contextmanager
def _partial_file(place: Path) -> Iterator[Path]:
    """Yield the path of a new file next to `place` that no other process uses; remove it if it still exists.

    Also remove partial files of the same name that killed processes left at least an hour ago.
    """
    beginning = f".{zlib.crc32(os.fsencode(place.name)):08x}-"
    for left in place.parent.glob(f"{beginning}*.part"):
        with contextlib.suppress(OSError):  # another process removed it
            if left.stat().st_mtime < time.time() - LEFT_SECONDS:
                left.unlink()
    partial = place.with_name(f"{beginning}{os.urandom(8).hex()}.part")
    try:
        yield partial
    finally:
        partial.unlink(missing_ok=True)


def _place(file: str | Path) -> Path:
    """Return the path to write a file to, following links."""
    place = Path(os.path.realpath(file))
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(file))
    return place


def _mode(place: Path) -> int | None:
    """Return the type and permissions of a file; None if there is none."""
    try:
        return place.stat().st_mode
    except FileNotFoundError:
        return None


def _open_private(path: str, flags: int) -> int:
    """Open a file that only the user can read, until it gets the permissions of the file that it replaces."""
    return os.open(path, flags, 0o600)


def check_writable(shown: str, file: str) -> None:
    """Raise if a file can't be written; call this before computing its content. `shown` is the name in messages."""
    try:
        place = _place(file)
        mode = _mode(place)
        if mode is not None and not stat.S_ISREG(mode):  # a device must not be replaced
            raise ValueError(f"{shown} must name a file, got {file!r}")
        with _partial_file(place) as partial:
            partial.touch(exist_ok=False)
    except OSError as error:
        raise ValueError(f"{shown} {file!r} can't be written: {error.strerror or error}") from None
