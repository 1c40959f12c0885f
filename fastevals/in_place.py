"""Run a program with fastevals.metrics instead of scikit-learn's: ``python -m fastevals.in_place script.py ...``."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from fastevals.metrics.switching import install

USAGE = "usage: python -m fastevals.in_place (SCRIPT | -m MODULE) [ARGUMENT ...]"


def main(arguments: Sequence[str]) -> None:
    """Run a script or a module as Python would; report the replaced functions on standard error."""
    is_module = arguments[:1] == ["-m"]
    program, *given = arguments[is_module:] or [""]
    if program in ("-h", "--help"):
        print(f"{USAGE}\n\n{__doc__}")
        return
    if not program or program.startswith("-"):
        sys.exit(USAGE)
    if not is_module and not Path(program).exists():
        sys.exit(f"fastevals.in_place: there is no script {program!r}\n{USAGE}")
    try:
        report = install()
    except ImportError as error:
        sys.exit(f"fastevals.in_place: {error}")
    print(report, file=sys.stderr)
    sys.argv = [program, *given]
    if is_module:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        if not sys.flags.safe_path:
            sys.path[0] = str(Path(program).resolve().parent)
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
