"""``python -m fastevals.chapter``: its options, and what it does with them. Examples are imported when they are run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from fastevals.show.commands import Parser, add_files, add_format, check_beforehand, run_program, show_result

PROGRAM = "python -m fastevals.chapter"
DESCRIPTION = """\
Chapter 2 of Zhou's Machine Learning, "Model evaluation and selection": its examples, tables and exercises, and those of
a course on it, each with the printed figures beside ours and, where they differ, the reason.
"""
EPILOG = """\
Without NAME all are answered, in the chapter's order; --list names them.

--out DIR makes the folder where there is none and writes over files of the same names: chapter.json (as --format json
prints it), chapter.txt, and each picture as NAME-KIND.png. It needs matplotlib.

--html FILE writes one file of HTML that needs nothing else, pictures included. It needs Jinja2.

The data and the models of train-test are scikit-learn's. For all three: pip install scikit-learn jinja2 matplotlib.

exit status: 0; 2 with a line on stderr that says what is wrong; 130 when stopped by Ctrl-C.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; by default the process's own.

    Returns
    -------
    int
        Exit status: 0; 2 after one line on stderr that says what is wrong; 130 after Ctrl-C, which a line says too.
    """
    return run_program(PROGRAM, argv, _parse, _run)


def _parse(argv: list[str]) -> argparse.Namespace | None:
    parser = Parser(prog=PROGRAM, description=DESCRIPTION, epilog=EPILOG)
    parser.repeated = "one NAME, or none for all"
    add = parser.add_argument
    add("name", nargs="?", metavar="NAME", help="the example to answer; by default all")
    add("--list", action="store_true", help="name the examples")
    add_files(parser, "chapter", "questions, answers, tables, pictures", "pictures")
    add("--quiet", action="store_true", help="no bars of steps that take long, on a terminal either")
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
