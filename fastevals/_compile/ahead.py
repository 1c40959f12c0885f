"""A second process that compiles what a command needs later, while the first compiles what it needs now.

numba compiles one kernel at a time, on one CPU. What another process has compiled by then is found on disk.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from fastevals._limits import available_cpus

if TYPE_CHECKING:
    from subprocess import Popen

# It ends with the process that started it, however that ends: then nobody holds the other end of the pipe. It takes
# no CPU that others want, and imports what that process would.
PROGRAM = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
if hasattr(os, "nice"):
    os.nice(10)
sys.path[:] = {path!r}
from {module} import {function}
{function}()
"""

_wanted: list[Callable[[], None]] = []


@contextlib.contextmanager
def compiled_ahead(module: str, function: str) -> Iterator[None]:
    """Have another process call a function once a kernel is met that is not on disk, till the end of a ``with`` block.

    There is none where this process may use one CPU alone. That it fails is of no consequence.

    Parameters
    ----------
    module, function : str
        What to import and call, without arguments.
    """
    started: list[Popen[bytes]] = []

    def start() -> None:
        from subprocess import DEVNULL, PIPE, Popen

        code = PROGRAM.format(path=sys.path, module=module, function=function)
        with contextlib.suppress(OSError):
            started.append(Popen([sys.executable, "-P", "-c", code], stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL))

    if sys.executable and not hasattr(sys, "frozen") and available_cpus() > 1:  # frozen, that is an application
        _wanted.append(start)
    try:
        yield
    finally:
        _wanted.clear()
        for process in started:
            process.kill()
            process.communicate()


def start_wanted() -> None:
    """Start the other process, if one is wanted that is not started yet."""
    while _wanted:
        _wanted.pop()()
