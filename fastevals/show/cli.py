"""The command line. A command imports its computations only when it runs, so help and errors are quick."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from fastevals import __version__
from fastevals.show import summarize, warm_up
from fastevals.show.bias_variance import command as bias_variance
from fastevals.show.commands import Parser, run_program
from fastevals.show.compare import command as compare
from fastevals.show.gate import command as gate
from fastevals.show.report import command as report

COMMANDS = {
    "report": report,
    "gate": gate,
    "summarize": summarize,
    "compare": compare,
    "bias-variance": bias_variance,
    "warm-up": warm_up,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; by default the process's own.

    Returns
    -------
    int
        Exit status: 0, or what the command returns (`fastevals gate`: 0 pass, 3 fail, 4 undecided); 2 after one line
        on stderr that explains the error; 130 after Ctrl-C, which prints a line too.
    """
    return run_program("fastevals", argv, _parse, lambda arguments: COMMANDS[arguments.command].run(arguments))


def _parsers(argv: list[str]) -> tuple[Parser, dict[str, Parser]]:
    """Return the parser and the commands' parsers; only the command in the arguments gets its options."""
    parser = Parser(prog="fastevals", description="Evaluate models: how good, how certain, and really better?")
    parser.add_argument("--version", action="version", version=f"fastevals {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    parsers = {}
    for name, command in COMMANDS.items():
        parsers[name] = commands.add_parser(
            name, help=command.HELP, usage=command.USAGE, description=command.DESCRIPTION, epilog=command.EPILOG
        )
        parsers[name].set_defaults(program=parsers[name].prog)
        if name in argv:
            command.add_options(parsers[name])
    return parser, parsers


def _parse(argv: list[str]) -> argparse.Namespace | None:
    """Return the arguments of a command, or None after printing help or the version."""
    parser, commands = _parsers(argv)
    try:
        arguments, unknown = parser.parse_known_args(argv)
    except SystemExit:
        return None
    if unknown:
        commands.get(arguments.command, parser).unknown(unknown[0])
    if arguments.command is None:
        parser.print_help()
        parser.error(f"no command given, try: fastevals {next(iter(COMMANDS))}")
    try:
        COMMANDS[arguments.command].check_together(arguments, commands[arguments.command])
    except ValueError as error:
        commands[arguments.command].error(str(error))
    arguments.n_kernels = getattr(COMMANDS[arguments.command], "N_KERNELS", 0)
    return arguments
