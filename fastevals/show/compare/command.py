"""The compare command: its options, and what it does with them. NumPy and numba are imported when it is run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from fastevals.show.commands import (
    Parser,
    add_shared,
    check_beforehand,
    check_shared,
    csv_form,
    hand_out,
    number,
    whole,
)

if TYPE_CHECKING:
    from fastevals.show.compare.predictions import PredictionsComparison
    from fastevals.show.compare.results import ResultsComparison
    from fastevals.show.output import BlockPictures


EMBEDDED = "psnr (embedded)"
POSTHOC = ("nemenyi", "bonferroni-dunn", "holm", "hochberg", "benjamini-hochberg", "wilcoxon")
METHODS = ("exact", "mid-p", "corrected", "uncorrected")
OF_RESULTS = ("dataset", "algorithm", "by", "lower_is_better", "control", "posthoc")
OF_PREDICTIONS: tuple[str, ...] = ("pred", "method", "resamples", "seed", "group", "pos_label", "progress")

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
--algorithm names these. Rank 1 is best. "nemenyi" compares all pairs by one critical difference, "bonferroni-dunn" each
with the --control; "holm", "hochberg" and "benjamini-hochberg" adjust the p-values of differences of ranks in steps and
show more; "wilcoxon" is the signed-rank test of each pair, by Holm. Where Friedman's test doesn't reject, no pair is
said to differ. A difference that is not shown is not shown to be none. Data sets are to be independent: several rows of
one data set are not.

Predictions. Intervals are of a bootstrap (BCa), rows drawn anew for all models alike; those of differences hold for all
pairs of a column at once, and p is adjusted likewise (max-T). Of two classes --pos-label says which is positive (1 is
among 0/1, -1/1 and booleans); where nobody says, there are accuracies and averages over classes, but no precision and
recall. McNemar's p is adjusted by Holm for the number of pairs; with three models or more Cochran's Q comes first. Rows
that belong together need --group, which McNemar's test can't allow for.

--out DIR makes the folder where there is none and writes over files of the same names: compare.json (as --format json
prints it), compare.txt, and as .png, of results critical_difference (Demsar's diagram, and as ranges where there is a
critical difference), of both pvalues, all of three models or more, and null: the distribution that the first
test's statistic would have, of two algorithms the sign test's. With --by the pictures of each value, up to the first
20, are in a folder of their own. It needs matplotlib: pip install 'fastevals[plots]'.

exit status: 0, whatever is shown or not; 2 with a line on stderr that says what is wrong; 130 when stopped by Ctrl-C.
"""


def add_options(parser: Parser) -> None:
    """Add the command's options."""
    parser.repeated = "repeat --pred for each column"
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="results or predictions; by default the embedded results")
    add("--dataset", metavar="D", action="append", help="column that names data sets, no algorithm; may be repeated")
    add("--algorithm", metavar="A", action="append", help="column of an algorithm's results; by default all others")
    add("--by", metavar="COLUMN", help="a comparison of results for each value of this column")
    add("--lower-is-better", action="store_true", help="results are errors or losses")
    add("--control", metavar="A", help="compare each other algorithm with this one")
    add("--posthoc", choices=POSTHOC, help="nemenyi by default, with --control bonferroni-dunn")
    add("--label", metavar="L", help="column of the true class")
    add("--pred", metavar="P", action="append", help="column of a model's predicted class; repeat for more models")
    add("--pos-label", metavar="L", help="positive one of two classes; 1 among 0/1, -1/1 and booleans")
    add("--method", choices=METHODS, help="of McNemar's test, exact by default")
    add("--group", metavar="COLUMN", help="draw rows that share a value of this column together, such as patient")
    add("--resamples", metavar="N", type=whole, help="bootstrap replicates, 1999 by default")
    add("--seed", metavar="N", type=whole, help="of the replicates, 0 by default")
    add("--confidence", metavar="C", type=number, default=0.95, help="level, 0.95 by default: tests are at 1 less it")
    add("--progress", action="store_true", help="show a bar on stderr")
    add("--out", metavar="DIR", help="also write compare.json, compare.txt and pictures to this folder")
    add_shared(parser)


def check_together(arguments: argparse.Namespace, parser: Parser) -> None:
    """Raise unless the options go together."""
    check_shared(arguments, parser)
    if arguments.label is None:
        kind, others, instead = "predictions, which need --label", OF_PREDICTIONS, "results"
    else:
        kind, others, instead = "results", OF_RESULTS, "predictions"
    for name in others:
        if getattr(arguments, name) not in (None, False):
            parser.error(f"--{name.replace('_', '-')} goes with {kind}; this is a comparison of {instead}")
    if arguments.label is not None:
        if arguments.file is None:
            parser.error("--label goes with a FILE of predictions")
        if len(arguments.pred or []) < 2:
            parser.error("--pred must be given twice or more: it names the column of a model's predictions")
    elif arguments.control is not None and arguments.posthoc == "nemenyi":
        parser.error("--posthoc nemenyi compares all pairs; with --control take another")
    elif arguments.control is None and arguments.posthoc == "bonferroni-dunn":
        parser.error("--posthoc bonferroni-dunn needs --control")


def run(arguments: argparse.Namespace) -> None:
    """Read the columns, compare, print and write."""
    check_beforehand(arguments)
    made = _results(arguments) if arguments.label is None else _predictions(arguments)

    def pictures() -> BlockPictures:
        from fastevals.show.compare.pictures import comparison_pictures

        return comparison_pictures(made)

    hand_out(arguments, made, EMBEDDED if arguments.file is None else arguments.file, pictures)


def _results(arguments: argparse.Namespace) -> ResultsComparison:
    from fastevals._validation.options import rows_called
    from fastevals.show.compare.results import Choice, compare_results
    from fastevals.show.files import Columns, read_columns

    named = list(arguments.dataset or [])
    if arguments.file is None:
        from fastevals.datasets import load_psnr

        columns = Columns(load_psnr())
        named = named or [name for name in ("image", "sigma") if name != arguments.by]
    else:
        given = (("--dataset", named), ("--algorithm", arguments.algorithm or ()), ("--by", (arguments.by,)))
        beside = {name: f"{option} {name!r}" for option, names in given for name in names if name is not None}
        columns = read_columns(arguments.file, None, beside=beside, form=csv_form(arguments))
    choice = Choice(
        tuple(named), tuple(arguments.algorithm or ()), arguments.by, arguments.control, arguments.posthoc,
        not arguments.lower_is_better, arguments.confidence,
    )  # fmt: skip
    with rows_called(columns.line):
        return compare_results(columns, choice)


def _predictions(arguments: argparse.Namespace) -> PredictionsComparison:
    from fastevals._validation.options import rows_called
    from fastevals.show.compare.predictions import compare_columns
    from fastevals.show.files import check_one_role, read_columns

    given = [("--label", arguments.label), *(("--pred", name) for name in arguments.pred)]
    if arguments.group is not None:
        given.append(("--group", arguments.group))
    wanted: dict[str, str] = {}
    for option, name in given:
        check_one_role(wanted, option, name)
    columns = read_columns(arguments.file, wanted, form=csv_form(arguments))
    with rows_called(columns.line):
        return compare_columns(
            columns,
            arguments.label,
            arguments.pred,
            group=arguments.group,
            method=arguments.method or "exact",
            resamples=1999 if arguments.resamples is None else arguments.resamples,
            seed=arguments.seed or 0,
            confidence=arguments.confidence,
            progress=arguments.progress,
            pos_label=arguments.pos_label,
        )
