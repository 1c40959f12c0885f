"""The compare command: its help, options and execution. It imports NumPy and numba only when it runs."""

from __future__ import annotations

import argparse

from fastevals.show.commands import (
    Parser,
    add_options_of,
    add_shared,
    check_beforehand,
    check_shared,
    chosen,
    show_result,
)
from fastevals.show.compare.options import CompareOptions, check_options

HELP = "test whether models differ, by results on data sets or by predictions"
USAGE = "%(prog)s [FILE] [options]"
DESCRIPTION = """\
Do models really differ? FILE (CSV, Parquet, Arrow) has results or predictions.

Results: one row per data set and one column per algorithm. Friedman's test asks
whether mean ranks differ; then Nemenyi's or another test asks which pairs do.
Two algorithms are compared by Wilcoxon's signed-rank test. A table may also
have one row per result: data set, algorithm and value.

Predictions: one row per sample, a column of the true class (--label), and each
model's predicted class (--pred) or class probabilities (--probabilities). The
output has metrics and their differences with intervals, and tests: McNemar's of
predicted classes, DeLong's of the AUCs of probabilities.

Without FILE: embedded results, PSNR in dB of four methods that remove noise.
"""

EPILOG = """\
examples:
  fastevals compare --by sigma
  fastevals compare results.csv --lower-is-better --control baseline
  fastevals compare predictions.parquet --label y --pred a --pred b
  fastevals compare p.csv --label y --probabilities 'a_*' --probabilities 'b_*'

Results. Columns of text or of --dataset name the data sets (independent); all
others are algorithms, unless --algorithm names them. Rank 1 is best. "nemenyi"
compares all pairs by one critical difference, "bonferroni-dunn" compares each
algorithm with the --control. "holm", "hochberg", "benjamini-hochberg" and, for
all pairs, "shaffer" adjust p stepwise and have more power; "finner" has false
alarms if some differ. "wilcoxon" tests pairs by signed ranks, Holm-adjusted.
Without a significant Friedman's test no pair differs significantly.

Predictions. One bootstrap (BCa) draws rows for all models. Intervals and p of
differences are simultaneous over the pairs (max-T). Other tests' p are Holm-
adjusted, and treat rows as independent: for clusters --group has intervals.
--out and --html are as for `fastevals report`.

exit status: 0; 2 after an error, with one line on stderr; 130 after Ctrl-C.
"""
N_KERNELS = 5  # that a first run compiles, about


def add_options(parser: Parser) -> None:
    """Add the command's options."""
    parser.repeated = "repeat --pred for each column"
    parser.add_argument("file", nargs="?", metavar="FILE", help="results or predictions; by default embedded results")
    add_options_of(parser, CompareOptions)
    add_shared(parser, page="verdict, tables, pictures", drawn="pictures")


def check_together(arguments: argparse.Namespace, parser: Parser) -> None:
    """Raise if the options conflict."""
    check_shared(arguments, parser)
    check_options(arguments.file, chosen(CompareOptions, vars(arguments)))


def run(arguments: argparse.Namespace) -> None:
    """Compare, print and write."""
    check_beforehand(arguments)
    from fastevals.show.compare.compare import compare_data

    comparison = compare_data(arguments.file, chosen(CompareOptions, vars(arguments)))
    show_result(arguments, comparison, comparison.pictures)
