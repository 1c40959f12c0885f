"""The report command: its help, options and execution. It imports NumPy and numba only when it runs."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING, Any

from fastevals._compile.ahead import compiled_ahead
from fastevals.reading.form import SUMMARY
from fastevals.show.commands import (
    MOST_PICTURED,
    Parser,
    add_options_of,
    add_shared,
    check_beforehand,
    check_required_columns,
    check_shared,
    chosen,
    show_result,
)
from fastevals.show.report.options import ReportOptions

if TYPE_CHECKING:
    from fastevals.show.output import BlockPictures

HELP = "measure and compare models' scores or predictions in a file"
USAGE = "%(prog)s [FILE ...] [options]"
DESCRIPTION = """\
How good is each model, how certain is that, and do models really differ?

FILE is CSV, Parquet or Arrow, with one row per sample: one column of labels,
and a column of scores per model. Scores must be higher for the positive class.
Several files, a folder, a quoted pattern ('scores/*.parquet') or an address
(s3://...) are read as one; - is standard input. Without FILE data are embedded.
Instead of scores: --pred (classes, or numbers with --target), --probabilities.
"""
EPILOG = """\
examples:
  fastevals report --by fold
  fastevals report clicks.csv --label clicked --score new --score old
  fastevals report loans.parquet --label default --score p --cost-fn 50
  fastevals report photos.csv --label species --probabilities 'p_*'
  fastevals report bm25.txt dense.txt --qrels qrels.txt --metric ndcg@20
  fastevals report houses.csv --target price --pred model --html page.html

Intervals are from a bootstrap (BCa) of the same rows for all models; those of
differences, and p, are simultaneous (max-T). Thresholds maximise F1 or minimise
cost, and each replicate chooses them again. "-" means undefined, such as 0/0.
exit status: 0; 2 after an error, with one line on stderr; 130 after Ctrl-C.
"""
N_KERNELS = 28  # that a first run compiles, about
OTHER_KINDS = ("pred", "target", "probabilities", "queries", "qrels", "cells")  # than scores: options that tell


def add_options(parser: Parser) -> None:
    """Add the command's options."""
    parser.repeated = "repeat --score for each column"
    parser.add_argument("file", nargs="*", metavar="FILE", help="scores or predictions; by default the embedded data")
    add_options_of(parser, ReportOptions)
    add_shared(parser, page="verdict, pictures, threshold slider", drawn="pictures")


def check_together(arguments: argparse.Namespace, parser: Parser) -> None:
    """Raise if the options conflict."""
    files = arguments.file
    arguments.file = None if not files else files[0] if len(files) == 1 else files
    check_shared(arguments, parser)
    if files and not all(name.endswith(SUMMARY) for name in files):
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        if not any(getattr(arguments, name) for name in OTHER_KINDS):
            check_required_columns(f"{files[0]!r}{more}", arguments.label, arguments.score)
    elif not files:
        given = next((name for name in OTHER_KINDS if getattr(arguments, name)), None)
        if given is not None:
            parser.error(f"--{given} goes with a FILE")


def run(arguments: argparse.Namespace) -> None:
    """Report, print and write."""
    check_beforehand(arguments)
    if arguments.queries is not None or arguments.qrels is not None:
        from fastevals.show.report.queries import report_queries

        ranked = report_queries(arguments.file, chosen(ReportOptions, vars(arguments)))
        show_result(arguments, ranked, ranked.pictures)
        return
    from fastevals._compile.cache import start_if_missing
    from fastevals.show.report.source import build_report

    n_pictured = 0 if arguments.out is None and arguments.html is None else MOST_PICTURED
    later: Any = contextlib.nullcontext()
    if arguments.n_resamples != 0 and not any(getattr(arguments, name) for name in OTHER_KINDS):
        later = compiled_ahead("fastevals.show.warm_up", "report_intervals")
    with later:
        start_if_missing("draws.draw_rows")
        report = build_report(arguments.file, chosen(ReportOptions, vars(arguments)), n_pictured=n_pictured)

    def pictures() -> BlockPictures:
        from fastevals.show.report.pictures import report_pictures

        return report_pictures(report)

    show_result(arguments, report, pictures)
