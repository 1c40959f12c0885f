"""The report command: its options, and what it does with them. NumPy and numba are imported when it is run."""

from __future__ import annotations

import argparse
import contextlib
import textwrap
from typing import TYPE_CHECKING

from fastevals._compile.ahead import compiled_ahead
from fastevals.measure.curves.registry import CURVES
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
DESCRIPTION = """\
How good is each model, how sure is that, and how do they differ? A row a model, the best of each column marked, with
an interval below each number; then the differences of each two models.

FILE is CSV (.csv, .tsv, also .gz), Parquet (.parquet) or Arrow (.arrow, .feather, .ipc) with a row a sample: a
column of labels and a column of scores for each model, higher for the positive class. Several files, a folder (its
hive partitions, such as day=1, are columns), a quoted pattern ('scores/*.parquet') and an address (s3://...) are read
as one, and - is standard input, CSV or an Arrow stream. Without FILE the report is on embedded data: three
classifiers' scores for "the digit is an 8", with a fold column.

In CSV what --by and --group name is text, unless each value is written as its number is shown: 7 and 007 are two.
Rows without a value of --by are a block of their own.

Instead of scores there may be what models predict (--pred): with --label classes, of two or many, with --target
numbers.
"""


def _names(needs: str) -> str:
    """Name the pictures of curves."""
    *names, last = (name for name, entry in CURVES.items() if entry.needs == needs)
    return f"{', '.join(names)} and {last}" if names else last


OUT = textwrap.fill(
    "--out DIR makes the folder where there is none and writes over files of the same names: report.json (as --format "
    f"json prints it), report.txt, and {_names('counts')} as .png, a curve for each model; {_names('probabilities')} "
    f"too where all scores of a block are within [0, 1], {_names('costs')} where costs are given; scores: how those of "
    "each class are spread; confusion: the matrices; intervals and differences of models. The chosen thresholds are "
    "marked. Predicted classes have confusion; predicted numbers have errors, within (the share of rows with an error "
    "up to a size) and means (predicted and observed). With --by the pictures of each value, up to the first 20, are "
    "in a folder of their own, named by its number, the column and the value, such as 00-fold-0, and groups has the "
    "AUC (accuracy, root mean squared error) of the values. It needs matplotlib: pip install matplotlib.",
    120,
)
EPILOG = f"""\
examples:
  fastevals report --by fold
  fastevals report scores.parquet --label churned --score model_a --score model_b --cost-fp 1 --cost-fn 50
  fastevals report clicks.parquet --label clicked --score model_a --score model_b --by user
  fastevals report 'scores/*.parquet' --label y --score p --memory 2GB
  fastevals report photos.csv --label species --pred old --pred new --html species.html
  fastevals report houses.csv --target price --pred model --by town

Left of the bar are measures of the ranking, right of it those of the confusion matrix at a threshold. By default each
model has the threshold of its best F1, or of the least expected cost where costs or a prior are given; then the report
says for which priors that threshold stays the best, and the model is worth using. "-" is undefined: a class
is missing, or 0/0. JSON holds every metric (expected_cost at costs of 1 if none are given), null where undefined, and
the threshold "Infinity" where no row is predicted positive.

Intervals are of a bootstrap (BCa): rows are drawn anew, the same for all models, and a threshold that is chosen on the
rows is chosen anew in each replicate. Those of differences hold for all pairs of a column at once, and p is adjusted
likewise (max-T). Rows that belong together need --group. A report draws 12,000,000,000 times at most (rows x models x
replicates): each block has an equal share, and leaves what it doesn't need to larger ones. Of those that need more,
each model's rows are drawn in some thousand cells of neighbouring scores, and differences are those of the rows' joint
cells: as wide as those of rows within 3 %, and the report says so. With --resamples all rows are drawn. The same --seed
gives the same report. JSON also has the differences of what is asked of probabilities.

--by COLUMN measures the rows of each value of a column by themselves: fold, train/test, site, user, query. The report
begins with the means of the values over these, weighted by rows (by --weight where given), DeLong's interval of the
mean AUC, the plain mean, and the values with the lowest and the highest AUC. Up to 100 values have a block each. Of
more, such as users, there are no blocks, thresholds and pictures, but a table of the lowest and the highest AUCs; JSON
has AUC (with its interval) and AP of every value. DeLong's intervals need two rows of each class in each value, and
no --weight; they say how sure the mean of these values is, not of others drawn like them. That of
the mean of more than 100 values is of a bootstrap of whole values, and speaks of others too.

Files of any size: those that take more than --memory (by default half of what is free) are read in two scans or more,
to the same numbers; the scores of positives must fit, 44 bytes each, or there are more scans. --approximate reads them
once and counts scores in ranges: JSON then has bounds of each number, between which that of the rows is for certain.
So it is with standard input.

Predicted classes have a confusion matrix, metrics of the matrix and of each class; predicted numbers have errors.
Intervals and differences are as above, within the same budget: where it is not enough for 1,999 replicates there are
fewer, 199 at least, and the report says how many. With --by there are the accuracy of each value, or the root mean
squared error. These are read into memory.

Files that end with .fe are what `fastevals summarize` counted: theirs are bounds, too, and no differences of models.
With --against FILE.fe there are each model's differences from what it was on those other rows, with intervals.

{OUT}

--html FILE writes one file of HTML that needs nothing else: which model is best and how sure that is, all pictures, and
a threshold, costs and a prior to move, at which it has the counts and rates. It needs Jinja2: pip install jinja2.

exit status: 0; 2 with a line on stderr that says what is wrong; 130 when stopped by Ctrl-C.
"""


def add_options(parser: Parser) -> None:
    """Add the command's options."""
    parser.repeated = "repeat --score for each column"
    parser.add_argument("file", nargs="*", metavar="FILE", help="scores to report on; by default the embedded data")
    add_options_of(parser, ReportOptions)
    add_shared(parser, page="verdict, pictures, a threshold to move", drawn="pictures of the curves")


def check_together(arguments: argparse.Namespace, parser: Parser) -> None:
    """Raise unless the options go together."""
    files = arguments.file
    arguments.file = None if not files else files[0] if len(files) == 1 else files
    check_shared(arguments, parser)
    if files and not all(name.endswith(SUMMARY) for name in files):
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        if arguments.pred is None and arguments.target is None:
            check_required_columns(f"{files[0]!r}{more}", arguments.label, arguments.score)
    elif not files and (arguments.pred or arguments.target):
        parser.error(f"{'--pred' if arguments.pred else '--target'} goes with a FILE")


def run(arguments: argparse.Namespace) -> None:
    """Report, print and write."""
    check_beforehand(arguments)
    from fastevals.show.report.source import build_report

    n_pictured = 0 if arguments.out is None and arguments.html is None else MOST_PICTURED
    later = compiled_ahead("fastevals.show.warm_up", "report_intervals")
    with later if arguments.n_resamples != 0 else contextlib.nullcontext():
        report = build_report(arguments.file, chosen(ReportOptions, vars(arguments)), n_pictured=n_pictured)

    def pictures() -> BlockPictures:
        from fastevals.show.report.pictures import report_pictures

        return report_pictures(report)

    show_result(arguments, report, pictures)
