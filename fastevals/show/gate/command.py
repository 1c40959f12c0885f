"""The gate command: its help, options and execution. It imports NumPy and numba only when it runs."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from fastevals.show.commands import (
    Parser,
    add_options_of,
    add_shared,
    check_beforehand,
    check_shared,
    print_error,
    print_text,
    show_result,
)
from fastevals.show.gate.options import GateOptions

if TYPE_CHECKING:
    from fastevals.show.output import BlockPictures

HELP = "decide by rules whether a model may ship: pass, fail or undecided"
USAGE = "%(prog)s FILE ... --rule RULE [options]"
DESCRIPTION = """\
May this model ship? Each rule passes, fails or is undecided; the gate passes if
all rules pass. FILE holds scores, predictions or a summary, as for a report.
  --rule 'roc_auc not worse than champion by 0.005'
  --rule 'recall at fpr=0.01 better than champion'
  --rule 'brier equivalent to champion within 0.002'
  --rule 'predicted/observed within 0.9 .. 1.1 by region'

A metric is any that fastevals.metric takes, with an operating point after "at":
threshold=0.5, fpr=0.01, recall=0.9 or best=f1; with columns of costs, also
mean_cost and savings. The other model is a column, or "champion" (--reference).
A margin of 2% is 2 % of its metric; "by COLUMN" or "by A x B" judges segments.
"""
EPILOG = """\
examples:
  fastevals gate scores.csv --label y --score new --score old --reference old \\
      --rule 'roc_auc not worse than champion by 0.005' --rule 'roc_auc >= 0.8'
  fastevals gate today.fe --reference pinned.json --rules gate.toml
  fastevals gate scores.parquet --rules gate.toml --format json > receipt.json
A rule passes by a one-sided 95 % bound (--confidence), so a model at the limit
passes in about 5 % of samples or fewer. It fails by a simultaneous bound over
all rules and segments. Otherwise it is undecided, and the output says why.
--rules FILE.toml holds rules = ["roc_auc >= 0.8", ...] and any option, named as
in Python: label = "y". --format json prints a receipt: a later --reference.
exit status: 0 pass, 3 fail, 4 undecided (--undecided counts it as pass or
fail); 2 after an error, with one line on stderr; 130 after Ctrl-C.
"""
N_KERNELS = 9  # that a first run compiles, about


def add_options(parser: Parser) -> None:
    """Add the command's options."""
    parser.repeated = "repeat --score or --rule for each"
    parser.add_argument("file", nargs="*", metavar="FILE", help="scores, predictions or summaries")
    parser.add_argument("--rule", metavar="RULE", action="append", help="a rule; repeat for more")
    parser.add_argument("--rules", metavar="FILE", help="a TOML file of rules and options")
    add_options_of(parser, GateOptions)
    add_shared(parser, page="verdict and one row per rule")


def check_together(arguments: argparse.Namespace, parser: Parser) -> None:
    """Raise if the options conflict."""
    files = arguments.file
    arguments.file = None if not files else files[0] if len(files) == 1 else files
    check_shared(arguments, parser)
    if arguments.file is None:
        parser.error("FILE is missing: a file of scores, predictions or a summary")
    if not arguments.rule and arguments.rules is None:
        parser.error("no rule is given: --rule 'roc_auc >= 0.8', or --rules FILE.toml")


def run(arguments: argparse.Namespace) -> int:
    """Judge, print and write; return the exit status."""
    check_beforehand(arguments)
    from fastevals.show.gate.document import GateResult
    from fastevals.show.gate.gate import build_gate
    from fastevals.show.gate.rule_file import with_rule_file
    from fastevals.show.gate.words import github_lines

    rules, options = with_rule_file(arguments)
    found = build_gate(arguments.file, rules, options)

    def pictures() -> BlockPictures:
        from fastevals.show.output import BlockPictures

        return BlockPictures((), None, (), lambda _: ())

    show_result(arguments, found, pictures)
    if isinstance(found, GateResult) and os.environ.get("GITHUB_ACTIONS") == "true":
        for line in github_lines(found):
            if arguments.format == "text":
                print_text(f"{line}\n")
            else:
                print_error(line)
    return found.exit_status
