"""Limits of control groups, as in the kernel's files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fastevals._limits import available_cpus, available_memory

V2 = "29 23 0:26 {top} /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = (
    "30 29 0:27 {top} /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
    "31 29 0:28 {top} /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
)


@pytest.fixture(autouse=True)
def _many_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)), raising=False)


def system(root: Path, group: str, mounts: str, files: dict[str, str]) -> Path:
    process = root / "proc/self"
    process.mkdir(parents=True)
    (process / "cgroup").write_text(group)
    (process / "mountinfo").write_text("22 1 8:1 / / rw - ext4 /dev/root rw\n" + mounts)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("files", "cpus"),
    [
        ({"cpu.max": "max 100000\n"}, 16),
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"a.slice/b/cpu.max": "150000 100000\n", "a.slice/cpu.max": "max 100000\n"}, 2),
        ({"a.slice/b/cpu.max": "800000 100000\n", "a.slice/cpu.max": "300000 100000\n"}, 3),
        ({"a.slice/b/cpu.max": "200000 100000\n", "a.slice/cpu.max": "300000 100000\n"}, 2),
        ({"a.slice/b/cpu.max": "1000 100000\n"}, 1),
        ({"a.slice/other/cpu.max": "100000 100000\n"}, 16),
        ({"a.slice/b/cpu.max": "what is this?\n"}, 16),
        ({}, 16),
    ],
)
def test_quotas_of_nested_groups(files: dict[str, str], cpus: int, tmp_path: Path) -> None:
    assert available_cpus(system(tmp_path, "0::/a.slice/b\n", V2.format(top="/"), files)) == cpus


@pytest.mark.parametrize(
    ("top", "place"), [("/", "docker/1f2e/"), ("/docker/1f2e", ""), ("/docker", "1f2e/"), ("/elsewhere", "")]
)
def test_version_1_also_where_a_container_sees_its_own_group_alone(top: str, place: str, tmp_path: Path) -> None:
    groups = "5:memory:/docker/1f2e\n4:cpu,cpuacct:/docker/1f2e\n1:name=systemd:/docker/1f2e\n0::/docker/1f2e\n"
    files = {f"cpu,cpuacct/{place}cpu.cfs_{name}_us": text for name, text in (("quota", "400000\n"), ("period", "1e5"))}
    assert available_cpus(system(tmp_path / "odd", groups, V1.format(top=top), files)) == 16
    files[f"cpu,cpuacct/{place}cpu.cfs_period_us"] = "100000\n"
    assert available_cpus(system(tmp_path / "four", groups, V1.format(top=top), files)) == 4
    files[f"cpu,cpuacct/{place}cpu.cfs_quota_us"] = "-1\n"
    assert available_cpus(system(tmp_path / "none", groups, V1.format(top=top), files)) == 16


def test_a_system_without_control_groups(tmp_path: Path) -> None:
    assert available_cpus(tmp_path) == 16
    damaged = system(tmp_path, "no colon\n", "too short\n", {})
    assert available_cpus(damaged) == 16


MEMORY = {"memory.max": "9000\n", "memory.current": "5000\n", "memory.stat": "anon 4000\nfile 1000\n"}


@pytest.mark.parametrize(("most", "left"), [("9000\n", 5000), ("max\n", 90_000 * 1024), ("3000\n", 0)])
def test_memory_of_nested_groups(most: str, left: int, tmp_path: Path) -> None:
    files = {f"a.slice/{name}": text for name, text in (MEMORY | {"memory.max": most}).items()}
    files["a.slice/b/memory.max"] = "max\n"
    root = system(tmp_path, "0::/a.slice/b\n", V2.format(top="/"), files)
    (root / "proc/meminfo").write_text("MemTotal: 100000 kB\nMemAvailable:   90000 kB\n")
    assert available_memory(root) == left


def test_memory_of_version_1(tmp_path: Path) -> None:
    texts = {"limit_in_bytes": "9000", "usage_in_bytes": "5000", "stat": "cache 100\ntotal_cache 1000\n"}
    files = {f"memory/memory.{name}": text for name, text in texts.items()}
    assert available_memory(system(tmp_path, "5:memory:/docker/1f2e\n", V1.format(top="/docker/1f2e"), files)) == 5000


def test_memory_of_a_system_that_does_not_tell(tmp_path: Path) -> None:
    assert available_memory(tmp_path) is None
