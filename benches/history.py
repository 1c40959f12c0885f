"""Results per release, and the figures that got worse since."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import fastevals
from benches.figures import FIGURES

FOLDER = Path(__file__).parent / "history"
TOLERANCE = 0.15  # largest relative increase of a ratio that passes
LIBRARIES = ("numpy", "numba", "scikit-learn", "polars", "polarbearings", "polars-ds", "torchmetrics")


def make(report: Mapping[str, Any], numpy_without: str) -> dict[str, Any]:
    """Return a release's entry from pytest-benchmark's report and the processor features disabled in NumPy."""
    machine = report["machine_info"]
    libraries = {}
    for library in LIBRARIES:
        try:
            libraries[library] = version(library)
        except PackageNotFoundError:
            continue
    return {
        "version": fastevals.__version__,
        "machine": {
            "cpu": machine["cpu"]["brand_raw"],
            "cores": machine["cpu"]["count"],
            "avx512": "avx512f" in machine["cpu"].get("flags", ()),
            "threads": fastevals.get_num_threads(),
            "system": f"{machine['system']} {machine['machine']}",
            "python": machine["python_version"],
            "libraries": libraries,
            "numpy_without": numpy_without,
        },
        "figures": {bench["params"]["name"]: bench["extra_info"] for bench in report["benchmarks"]},
    }


def save(entry: Mapping[str, Any], path: Path | None = None) -> Path:
    """Write an entry, by default to history under its version."""
    path = path or FOLDER / f"{entry['version']}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(entry, indent=1) + "\n")
    return path


def newest(folder: Path = FOLDER) -> dict[str, Any]:
    """Read the entry of the latest version."""
    paths = sorted(folder.glob("*.json"), key=lambda path: [int(part) for part in re.findall(r"\d+", path.stem)])
    if not paths:
        raise FileNotFoundError(f"{folder} has no results: make them with 'python -m benches run'")
    entry: dict[str, Any] = json.loads(paths[-1].read_text())
    return entry


def keep_better(entry: Mapping[str, Any], again: Mapping[str, Any]) -> None:
    """Replace figures of an entry by a second try's if these are better."""
    for name, result in again["figures"].items():
        if result["value"] < entry["figures"][name]["value"]:
            entry["figures"][name] = result


def compare(now: Mapping[str, Any], then: Mapping[str, Any]) -> tuple[list[list[str]], list[str]]:
    """Compare two entries: return a table, heading first, and the names of figures that got worse.

    Seconds without a peer depend on the machine as much as on the code, so they only have to meet their bar.
    """
    rows, worse = [["figure", "then", "now", "change", ""]], []
    before, after = then["figures"], now["figures"]
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in after or name not in before:
            there = before.get(name, after.get(name))["value"]
            columns = [f"{there:.3g}", ""] if name in before else ["", f"{there:.3g}"]
            rows.append([name, *columns, "", "not measured now" if name in before else "new"])
            continue
        old, new = before[name]["value"], after[name]["value"]
        relative = name not in FIGURES or FIGURES[name].unit != "s"
        failed = new > old * (1 + TOLERANCE) if relative else after[name]["met"] is False
        if failed:
            worse.append(name)
        verdict = "WORSE" if failed else "" if relative else "not compared"
        rows.append([name, f"{old:.3g}", f"{new:.3g}", f"{new / old - 1:+.0%}", verdict])
    return rows, worse
