"""The command ``python -m fastevals.chapter``. It imports the examples only when it runs them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from fastevals.show.commands import Parser, add_files, add_format, check_beforehand, run_program, show_result

PROGRAM = "python -m fastevals.chapter"
DESCRIPTION = """\
Solve the examples, tables and exercises of chapter 2 of Zhou's Machine Learning, "Model evaluation and selection", and
of a course on it. Each figure is compared with the printed one; where they differ, the reason is given.
"""
EPILOG = """\
Without NAME all examples are solved, in the order of the chapter. --list prints their names.

--out DIR creates the folder if needed and overwrites files with the same names: chapter.json (the output of --format
json), chapter.txt, and each picture as NAME-KIND.png. It needs matplotlib.

--html FILE writes a single HTML file that includes the pictures. It needs Jinja2.

The example train-test uses data and models of scikit-learn. To install all three packages:
pip install scikit-learn jinja2 matplotlib

exit status: 0 on success; 2 after an error, with one line on stderr; 130 after Ctrl-C.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the name of the program; by default the process's own.

    Returns
    -------
    int
        Exit status: 0 on success, 2 after an error, 130 after Ctrl-C. An error or Ctrl-C prints one line to stderr.
    """
    return run_program(PROGRAM, argv, _parse, _run)


def _parse(argv: list[str]) -> argparse.Namespace | None:
    parser = Parser(prog=PROGRAM, description=DESCRIPTION, epilog=EPILOG)
    parser.repeated = "one NAME, or none for all"
    add = parser.add_argument
    add("name", nargs="?", metavar="NAME", help="the example to solve; by default all")
    add("--list", action="store_true", help="print the names of the examples")
    add_files(parser, "chapter", "questions, answers, tables, pictures", "pictures")
    add("--quiet", action="store_true", help="show no progress bars")
    add_format(parser)
    parser.set_defaults(program=PROGRAM, command="chapter", progress=False)
    try:
        arguments, unknown = parser.parse_known_args(argv)
    except SystemExit:
        return None
    if unknown:
        parser.unknown(unknown[0])
    return arguments


def _run(arguments: argparse.Namespace) -> None:
    """Solve, print and write."""
    from fastevals.chapter.chapter import solve
    from fastevals.chapter.example import examples, find_example
    from fastevals.show.commands import print_text

    if arguments.list:
        print_text("".join(f"{each.name:18} {each.section:6} {each.title}\n" for each in examples().values()))
        return
    if arguments.name is not None:
        find_example(arguments.name)
    check_beforehand(arguments)
    chapter = solve(arguments.name)
    show_result(arguments, chapter, chapter.pictures)
