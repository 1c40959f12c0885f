"""How many CPUs and how much memory this process may use: what the system has, and its control groups allow."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath


def available_cpus(root: Path = Path("/")) -> int:
    """Return how many CPUs this process may use, at least 1; half a CPU more is worth a thread.

    Parameters
    ----------
    root : Path
        Where the folders proc and sys are.
    """
    try:
        cpus = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows have no affinity mask to ask for
        cpus = os.cpu_count() or 1
    return max(1, math.ceil(min([cpus, *_limits(root, "cpu", _cpu_quota)])))


def available_memory(root: Path = Path("/")) -> int | None:
    """Return how many bytes this process may still take, or None where the system doesn't tell.

    The least of what the system has left, of what control groups have and of what the address space has.
    """
    left = list(_limits(root, "memory", _memory_left))
    with contextlib.suppress(OSError, ValueError, LookupError):
        left.append(_sizes(root / "proc/meminfo")["MemAvailable:"] * 1024)
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # POSIX

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            pages = int((root / "proc/self/statm").read_text().split()[0])
            left.append(most - pages * os.sysconf("SC_PAGE_SIZE"))
    return max(int(min(left)), 0) if left else None


def free_bytes(share: float) -> int | None:
    """Return a share of the bytes that this process may still take; None where the system doesn't tell."""
    free = available_memory()
    return None if free is None else int(free * share)


# Control groups -----------------------------------------------------------------------------------------------------


def _limits(root: Path, controller: str, read: Callable[[Path], float]) -> Iterator[float]:
    """List what this process's control group and all that hold it allow: each of them binds."""
    with contextlib.suppress(OSError, ValueError):  # no Linux, or no proc
        for mounted, path in _groups(root / "proc/self", controller):
            top = root / mounted.lstrip("/")
            for part in (path, *path.parents):
                with contextlib.suppress(OSError, ValueError, LookupError, ZeroDivisionError):
                    yield read(top / part)


def _groups(process: Path, controller: str) -> Iterator[tuple[str, PurePosixPath]]:
    """Find where control groups with a controller are mounted, and the path of the process's group from there."""
    groups = [line.split(":", 2)[1:] for line in (process / "cgroup").read_text().splitlines()]
    for line in (process / "mountinfo").read_text().splitlines():
        mount, _, system = line.partition(" - ")
        top, mounted = mount.split()[3:5]
        kind, _, options = system.split()
        for controllers, path in groups:
            version_1 = kind == "cgroup" and all(controller in each.split(",") for each in (controllers, options))
            if version_1 or (kind == "cgroup2" and not controllers):
                # A container may see its own group alone: it is the top of what is mounted.
                inside = PurePosixPath(path).is_relative_to(top)
                yield mounted, PurePosixPath(path).relative_to(top) if inside else PurePosixPath()


def _cpu_quota(group: Path) -> float:
    """Read one group's quota in CPUs; ValueError where it is "max", which is no number."""
    try:
        quota, period = (group / "cpu.max").read_text().split()
    except FileNotFoundError:  # version 1, where -1 is no quota
        quota, period = ((group / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
    return int(quota) / int(period) if int(quota) > 0 else math.inf


def _memory_left(group: Path) -> int:
    """Read how many bytes one group may still take: what is cached of files is given up for them."""
    try:
        most, used, cached = (group / "memory.max").read_text(), "memory.current", "file"
    except FileNotFoundError:  # version 1
        most, used, cached = (group / "memory.limit_in_bytes").read_text(), "memory.usage_in_bytes", "total_cache"
    return int(most) - int((group / used).read_text()) + _sizes(group / "memory.stat")[cached]


def _sizes(file: Path) -> dict[str, int]:
    """Return the numbers of a file with a name and a number in each line."""
    return {words[0]: int(words[1]) for words in map(str.split, file.read_text().splitlines()) if len(words) > 1}
