"""The compare command: its options, and what it does with them. NumPy and numba are imported when it is run."""

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
DESCRIPTION = """\
Do the models really differ? FILE (CSV, TSV, Parquet or Arrow) holds one of two things.

Results: a row for each data set, a column for each algorithm. Friedman's test (Iman and Davenport's F) asks whether all
do equally well, by their ranks on each data set; then Nemenyi's test, or another, which of them differ. Two algorithms
are compared by Wilcoxon's signed-rank test.

Predictions (with --label and --pred): a row a sample, a column of the true class and one of each model's predicted
class. Metrics of each model with intervals, differences of each two models, and McNemar's test.

Without FILE the comparison is of embedded results: PSNR in dB of four methods that remove noise from five images, at
nine levels of noise.
"""

EPILOG = """\
examples:
  fastevals compare --by sigma
  fastevals compare results.csv --lower-is-better --control baseline --out comparison
  fastevals compare predictions.parquet --label y --pred a --pred b

Results. Columns of text name the data sets, and so do those given as --dataset; the others are algorithms, unless
--algorithm names these. An index without a name, as pandas writes it, names the rows. Rank 1 is best. "nemenyi"
compares all pairs by one critical difference, "bonferroni-dunn" each with the --control; "holm", "hochberg" and
"benjamini-hochberg" adjust the p-values of differences of ranks in steps and show more; "wilcoxon" is the signed-rank
test of each pair, by Holm. Where Friedman's test doesn't reject, no pair is said to differ. A difference that is not
significant may still exist. Data sets must be independent: several rows of one data set are not.

Predictions. Intervals are of a bootstrap (BCa), rows drawn anew for all models alike; those of differences hold for all
pairs of a column at once, and p is adjusted likewise (max-T). Of two classes --pos-label says which is positive (1 is
among 0/1, -1/1 and booleans); where nobody says, there are accuracies and averages over classes, but no precision and
recall. McNemar's p is adjusted by Holm for the number of pairs; with three models or more Cochran's Q comes first. Rows
that belong together need --group, which McNemar's test can't allow for.

--out DIR makes the folder where there is none and writes over files of the same names: compare.json (as --format json
prints it), compare.txt, and as .png, of results critical_difference (Demsar's diagram, and as ranges where there is a
critical difference), of both pvalues, all of three models or more, and null: the distribution that the first
test's statistic would have, of two algorithms the sign test's; of predictions intervals and differences, too. With --by
the pictures of each value, up to the first 20, are in a folder of their own. It needs matplotlib:
pip install matplotlib.

--html FILE writes one file of HTML that needs nothing else: what is shown in words, the pictures, and tables. It needs
Jinja2: pip install jinja2.

exit status: 0, whatever is shown or not; 2 with a line on stderr that says what is wrong; 130 when stopped by Ctrl-C.
"""


def add_options(parser: Parser) -> None:
    """Add the command's options."""
    parser.repeated = "repeat --pred for each column"
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="results or predictions; by default the embedded results"
    )
    add_options_of(parser, CompareOptions)
    add_shared(parser, page="what is shown in words, tables, pictures", drawn="pictures")


def check_together(arguments: argparse.Namespace, parser: Parser) -> None:
    """Raise unless the options go together."""
    check_shared(arguments, parser)
    check_options(arguments.file, chosen(CompareOptions, vars(arguments)))


def run(arguments: argparse.Namespace) -> None:
    """Compare, print and write."""
    check_beforehand(arguments)
    from fastevals.show.compare.compare import compare_data

    comparison = compare_data(arguments.file, chosen(CompareOptions, vars(arguments)))
    show_result(arguments, comparison, comparison.pictures)
