"""How many CPUs and how much memory this process may use, according to the system and its control groups."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath


def available_cpus(root: Path = Path("/")) -> int:
    """Return the number of CPUs that this process may use, at least 1; fractions are rounded up.

    Parameters
    ----------
    root : Path
        The folder that contains proc and sys.
    """
    try:
        cpus = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows have no affinity mask
        cpus = os.cpu_count() or 1
    return max(1, math.ceil(min([cpus, *_limits(root, "cpu", _cpu_quota)])))


def available_memory(root: Path = Path("/")) -> int | None:
    """Return how many more bytes this process may use, or None if the system does not say.

    This is the minimum of what the system, the control groups and the address space have left.
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
    """Return a share of the bytes that this process may still use, or None if the system does not say."""
    free = available_memory()
    return None if free is None else int(free * share)


# Control groups -----------------------------------------------------------------------------------------------------


def _limits(root: Path, controller: str, read: Callable[[Path], float]) -> Iterator[float]:
    """Yield the limits of this process's control group and of all groups that contain it; each of them applies."""
    with contextlib.suppress(OSError, ValueError):  # not Linux, or no proc
        for mounted, path in _groups(root / "proc/self", controller):
            top = root / mounted.lstrip("/")
            for part in (path, *path.parents):
                with contextlib.suppress(OSError, ValueError, LookupError, ZeroDivisionError):
                    yield read(top / part)


def _groups(process: Path, controller: str) -> Iterator[tuple[str, PurePosixPath]]:
    """Yield each folder at which a controller's groups are mounted, and the path from there to the process's group."""
    groups = [line.split(":", 2)[1:] for line in (process / "cgroup").read_text().splitlines()]
    for line in (process / "mountinfo").read_text().splitlines():
        mount, _, system = line.partition(" - ")
        top, mounted = mount.split()[3:5]
        kind, _, options = system.split()
        for controllers, path in groups:
            version_1 = kind == "cgroup" and all(controller in each.split(",") for each in (controllers, options))
            if version_1 or (kind == "cgroup2" and not controllers):
                # A container may see only its own group, which is then the root of the mount.
                inside = PurePosixPath(path).is_relative_to(top)
                yield mounted, PurePosixPath(path).relative_to(top) if inside else PurePosixPath()


def _cpu_quota(group: Path) -> float:
    """Return one group's quota in CPUs; ValueError for "max", which is not a number."""
    try:
        quota, period = (group / "cpu.max").read_text().split()
    except FileNotFoundError:  # version 1, where -1 is no quota
        quota, period = ((group / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
    return int(quota) / int(period) if int(quota) > 0 else math.inf


def _memory_left(group: Path) -> int:
    """Return how many more bytes one group may use; cached file contents count as free."""
    try:
        most, used, cached = (group / "memory.max").read_text(), "memory.current", "file"
    except FileNotFoundError:  # version 1
        most, used, cached = (group / "memory.limit_in_bytes").read_text(), "memory.usage_in_bytes", "total_cache"
    return int(most) - int((group / used).read_text()) + _sizes(group / "memory.stat")[cached]


def _sizes(file: Path) -> dict[str, int]:
    """Return the numbers in a file by name; each line has a name and a number."""
    return {words[0]: int(words[1]) for words in map(str.split, file.read_text().splitlines()) if len(words) > 1}
