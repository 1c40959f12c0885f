"""How many CPUs this process may use: its affinity mask, and the quotas of its control groups."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

__all__ = ["available_cpus"]


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
    return max(1, math.ceil(min([cpus, *_quotas(root)])))


def _quotas(root: Path) -> Iterator[float]:
    """List the quotas, in CPUs, of this process's control group and of all that hold it: each of them binds."""
    with contextlib.suppress(OSError, ValueError):  # no Linux, or no proc
        for mounted, path in _groups(root / "proc/self"):
            top = root / mounted.lstrip("/")
            for part in (path, *path.parents):
                with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
                    yield _quota(top / part)


def _groups(process: Path) -> Iterator[tuple[str, PurePosixPath]]:
    """Find where control groups with CPU quotas are mounted, and the path of the process's group from there."""
    groups = [line.split(":", 2)[1:] for line in (process / "cgroup").read_text().splitlines()]
    for line in (process / "mountinfo").read_text().splitlines():
        mount, _, system = line.partition(" - ")
        top, mounted = mount.split()[3:5]
        kind, _, options = system.split()
        for controllers, path in groups:
            version_1 = kind == "cgroup" and "cpu" in controllers.split(",") and "cpu" in options.split(",")
            if version_1 or (kind == "cgroup2" and not controllers):
                # A container may see its own group alone: it is the top of what is mounted.
                inside = PurePosixPath(path).is_relative_to(top)
                yield mounted, PurePosixPath(path).relative_to(top) if inside else PurePosixPath()


def _quota(group: Path) -> float:
    """Read one group's quota; ValueError where it is "max", which is no number."""
    try:
        quota, period = (group / "cpu.max").read_text().split()
    except FileNotFoundError:  # version 1, where -1 is no quota
        quota, period = ((group / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
    return int(quota) / int(period) if int(quota) > 0 else math.inf
