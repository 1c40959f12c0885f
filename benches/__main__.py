"""The benches' commands."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benches import coverage as simulation
from benches import history, linear_thresholds
from benches.figures import FIGURES
from benches.numpy_at_best import disabled_features
from benches.race import can_run
from benches.report import coverage_section, draw_speed, markdown_table, speed_section, text_table, with_section

ROOT = Path(__file__).parents[1]
# After np.dot a BLAS worker waits busily for tens of milliseconds, on a core that the next timed call could use.
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
PYTEST = (sys.executable, "-m", "pytest", "-n", "0", "--benchmark-enable", "--benchmark-quiet", "--tb=line", "-q")


def _measure(names: Iterable[str] = ()) -> dict[str, Any]:
    """Run all benches, or the named ones, and return their entry."""
    disabled = disabled_features()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        chosen = [f"benches/test_speed.py::test_figure[{name}]" for name in names] or ["benches"]
        environment = {**ENVIRONMENT, "NPY_DISABLE_CPU_FEATURES": disabled}
        subprocess.run([*PYTEST, f"--benchmark-json={report}", *chosen], cwd=ROOT, env=environment)
        if not report.exists() or not report.stat().st_size:
            raise ValueError("the benches did not run, see above")
        return history.make(json.loads(report.read_text()), numpy_without=disabled)


def run(options: argparse.Namespace) -> int:
    """Measure and save."""
    entry = _measure()
    print(f"written to {history.save(entry, options.output)}")
    missed = [name for name, result in entry["figures"].items() if result["met"] is False]
    failed = [name for name, figure in FIGURES.items() if can_run(figure) and name not in entry["figures"]]
    print(f"bars missed: {', '.join(missed) or 'none'}; not measured: {', '.join(failed) or 'none'}")
    return bool(missed or failed)


def smoke(options: argparse.Namespace) -> int:
    """Run every bench once, on few rows, without checking the bars."""
    return subprocess.run([*PYTEST, "--rows-scale=0.001", "--rounds=1", "benches"], cwd=ROOT).returncode


def compare(options: argparse.Namespace) -> int:
    """Compare with the newest release's results."""
    then = history.newest()
    now = json.loads(options.results.read_text()) if options.results else _measure()
    rows, worse = history.compare(now, then)
    if worse and not options.results:  # measure again: noise rarely hits the same figures twice
        history.keep_better(now, _measure(worse))
        rows, worse = history.compare(now, then)
    print(text_table(rows))
    if now["machine"] != then["machine"]:
        print("The machine or a library differs. Ratios depend on both:", now["machine"], then["machine"], sep="\n")
    print(f"more than {100 * history.TOLERANCE:.0f} % worse: {', '.join(worse) or 'none'}")
    return bool(worse)


def coverage(options: argparse.Namespace) -> int:
    """Simulate how often intervals and bands contain the truth, and save."""
    kept = simulation.saved()["studies"] if options.studies else {}
    studies = {name: study["settings"] for name, study in kept.items()}
    for name in options.studies or simulation.STUDIES:
        rows = []
        for row in simulation.simulate(simulation.STUDIES[name]):
            rows.append(row)
            shares = "; ".join(f"{name} {100 * result['coverage']:.1f} %" for name, result in row["methods"].items())
            rounded = "" if row["decimals"] is None else f", decimals {row['decimals']}"
            where = f"{row['scheme']}, {row['n_positives']:g} of {row['n']}, AUC {row['auc']}{rounded}"
            print(f"{name}, {where}: {shares}", flush=True)
        studies[name] = rows
    print(f"written to {history.save(simulation.entry_of(studies), simulation.PATH)}")
    return 0


def pages(options: argparse.Namespace) -> int:
    """Write the figures into the docs and draw README's picture, or check that the docs are up to date."""
    release = history.newest()
    sections = {
        ("README.md", "linear-thresholds"): markdown_table(linear_thresholds.table()),
        ("docs/benchmarks.md", "bench"): speed_section(release),
        ("docs/coverage.md", "coverage"): coverage_section(simulation.saved()),
    }
    stale = []
    for (name, section), content in sections.items():
        old = (ROOT / name).read_text()
        new = with_section(old, section, content)
        if new != old:
            stale.append(name)
            if not options.check:
                (ROOT / name).write_text(new)
    if options.check:
        print(f"out of date, so run 'python -m benches pages': {', '.join(stale) or 'none'}")
        return bool(stale)
    print(f"installed libraries whose AUC equals the table's: {linear_thresholds.check_peers()}")
    draw_speed(release, ROOT / "docs" / "images")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run a command."""
    about = "Measure speed and memory against peers; simulate coverage."
    parser = argparse.ArgumentParser(prog="python -m benches", description=about)
    commands = parser.add_subparsers(required=True)
    for command in (run, smoke, compare, coverage, pages):
        subparser = commands.add_parser(command.__name__, help=command.__doc__)
        subparser.set_defaults(command=command)
        if command is run:
            subparser.add_argument("--output", type=Path, help="file to write (default: benches/history/VERSION.json)")
        elif command is compare:
            subparser.add_argument("results", type=Path, nargs="?", help="file by 'run --output' (default: measure)")
        elif command is coverage:
            subparser.add_argument(
                "studies",
                nargs="*",
                metavar="STUDY",
                choices=[*simulation.STUDIES, []],
                help=f"studies to simulate: {', '.join(simulation.STUDIES)} (default: all); the others stay as saved",
            )
        elif command is pages:
            subparser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if out of date")
    options = parser.parse_args(arguments)
    try:
        return int(options.command(options))
    except (FileNotFoundError, ValueError) as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    sys.exit(main())
