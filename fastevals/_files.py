"""Write files whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LEFT_SECONDS = 3600  # after this time nobody is writing a partial file any more
LOCK_SECONDS = 60.0  # to wait for another process
RETRY_SECONDS = 0.02


def write_file(file: Path, content: bytes, *, durable: bool = False) -> None:
    """Write a file whole or not at all; errors name this file, not a temporary one.

    If several processes write a file at the same time, the last one wins. If the file is a link, its target is written
    and the link stays. A replaced file keeps its permissions. A `durable` file is on the disk before it replaces
    another, so that it is whole even after a power failure.
    """
    try:
        place = _place(file)
        mode = _mode(place)
        with _partial_file(place) as partial:
            with partial.open("xb") if mode is None else open(partial, "xb", opener=_open_private) as part:
                part.write(content)
                if durable:
                    part.flush()
                    os.fsync(part.fileno())
            if mode is not None:
                partial.chmod(stat.S_IMODE(mode))
            partial.replace(place)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error


@contextmanager
def locked(file: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Keep other processes and threads that lock the same file waiting; they raise TimeoutError after `seconds`.

    The lock is on an empty file next to it, which stays. The system releases it when a process ends, in whatever way.
    """
    place = _place(file)
    lock = place.with_name(f".{place.name}.lock")
    try:
        with lock.open("ab") as held:
            deadline = time.monotonic() + seconds
            while not _try_lock(held.fileno()):
                if time.monotonic() > deadline:
                    raise TimeoutError(errno.ETIMEDOUT, f"another process has locked it for {seconds:g} s", str(file))
                time.sleep(RETRY_SECONDS)
            yield
    except OSError as error:
        if error.filename == str(lock):
            raise OSError(error.errno, error.strerror, str(file)) from error
        raise


def _try_lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; return whether it was free."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


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
