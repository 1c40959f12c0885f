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
Do the models really differ? FILE is CSV, Parquet or Arrow, and holds results or
predictions.

Results: one row per data set and one column per algorithm. Friedman's test asks
whether mean ranks differ; then Nemenyi's or another test asks which pairs do.
Two algorithms are compared by Wilcoxon's signed-rank test.

Predictions (--label and --pred): one row per sample, a column of the true class
and a column of each model's predicted class. The output has metrics and their
differences with intervals, and McNemar's test.

Without FILE embedded results are compared: PSNR in dB of four methods that
remove noise from five images at nine noise levels.
"""

EPILOG = """\
examples:
  fastevals compare --by sigma
  fastevals compare results.csv --lower-is-better --control baseline
  fastevals compare predictions.parquet --label y --pred a --pred b

Results. Columns of text and columns given as --dataset name the data sets; all
others are algorithms, unless --algorithm names them. Rank 1 is best. "nemenyi"
compares all pairs by one critical difference, "bonferroni-dunn" compares each
algorithm with the --control. "holm", "hochberg" and "benjamini-hochberg" adjust
the p-values stepwise and have more power. "wilcoxon" tests each pair by signed
ranks, Holm-adjusted. If Friedman's test is not significant, no pair is. Mean
ranks depend on which algorithms are compared. Data sets must be independent.

Predictions. Intervals are from a bootstrap (BCa) of the same rows for all
models. Intervals and p-values of differences are simultaneous over all pairs,
or over the pairs with the --reference (max-T). McNemar's p is Holm-adjusted for
the number of pairs; for three models or more Cochran's Q test comes first. Both
treat rows as independent: for clusters give --group and use the intervals.

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
