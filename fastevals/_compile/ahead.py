"""Let other processes compile the kernels that a command needs later, while it reads rows and compiles others.

numba compiles one kernel at a time, on one CPU. Kernels that another process has compiled are then found on disk.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from fastevals._limits import available_cpus

if TYPE_CHECKING:
    from subprocess import Popen

# The process ends when its parent ends, for any reason, because its standard input is then closed. It runs at low
# priority and imports the same modules as its parent.
PROGRAM = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
if hasattr(os, "nice"):
    os.nice(10)
sys.path[:] = {path!r}
from {module} import {function}
{function}({part}, {parts})
"""

MOST_PROCESSES = 3  # besides the command's own; more would compile little that the command doesn't need at once

_wanted: list[Callable[[], None]] = []


@contextlib.contextmanager
def compiled_ahead(module: str, function: str) -> Iterator[None]:
    """In a ``with`` block, as soon as a kernel is not found on disk, start other processes that call a function.

    There are as many processes as CPUs, this one included, but no more than four. Kill them at the end of the block. Do
    nothing if the calling process may use only one CPU. Ignore failures.

    Parameters
    ----------
    module, function : str
        The function to import and call; its arguments are the process's number and the number of processes.
    """
    started: list[Popen[bytes]] = []

    def start() -> None:
        from subprocess import DEVNULL, PIPE, Popen

        for part in range(parts):
            code = PROGRAM.format(path=sys.path, module=module, function=function, part=part, parts=parts)
            with contextlib.suppress(OSError):
                started.append(Popen([sys.executable, "-P", "-c", code], stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL))

    parts = min(available_cpus() - 1, MOST_PROCESSES)
    if sys.executable and not hasattr(sys, "frozen") and parts > 0:  # a frozen program is its own executable
        _wanted.append(start)
    try:
        yield
    finally:
        _wanted.clear()
        for process in started:
            process.kill()
            process.communicate()


def start_wanted() -> None:
    """Start the other processes if they are wanted and not started yet."""
    while _wanted:
        _wanted.pop()()
