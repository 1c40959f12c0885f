"""The bias-variance command: its options, and what it does with them. NumPy and numba are imported when it is run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, get_args

from fastevals._choices import DecompositionName, LossName
from fastevals._naming import option
from fastevals.show.commands import Parser, add_shared, check_beforehand, check_shared, csv_form, show_result

if TYPE_CHECKING:
    from fastevals.show.bias_variance.embedded import DecomposedCurve
    from fastevals.show.bias_variance.predictions import DecomposedPredictions


LOSSES = [each.replace("_", "-") for each in get_args(LossName)]
PREDICTION_OPTIONS = ("truth", "pred", "observed", "sample_weight", "models_are", "loss", "decomposition")

HELP = "split the loss of models into bias and variance, by their predictions"
DESCRIPTION = """\
Do the models err alike, or each in its own way? FILE holds what models of one learner, fitted to different training
sets, predict for the same samples. Their mean loss is split into bias, what the predictions taken together miss, and
variance, what they differ by.

FILE is a NumPy array (.npy) of shape (models x samples), which may be larger than memory; or a table (CSV, TSV, Parquet
or Arrow) with a row a sample, a column a model and a column of the truth.

Without FILE the models are polynomials of degree 1 to 8, miles a gallon of embedded cars by their horsepower, fitted to
200 bootstrap training sets of half of the cars and tested on the other half.
"""

EPILOG = """\
examples:
  fastevals bias-variance --out degrees
  fastevals bias-variance predictions.npy --truth truth.npy
  fastevals bias-variance predictions.parquet --truth y --loss zero-one --decomposition james

--truth, --observed and --weight are .npy files beside a .npy file, else columns. Columns that are not named otherwise
are models, of squared loss those of numbers, unless --pred names these.

The truth is what is to be predicted without noise; where only noisy labels are known, they are the truth, and their
noise counts as bias. Where the truth is known and --observed are the noisy labels, the loss is measured against these,
and noise and a cross term are parts of it. Observed labels may be one for each sample, or in a .npy file one for each
model and sample.

0-1 loss is not bias plus variance: a model that differs from a wrong majority may be right. "domingos" counts that
against the variance; "kohavi-wolpert" are shares of votes; "james" is what bias and what variance add to the loss.

--out DIR makes the folder where there is none and writes over files of the same names: bias-variance.json (as --format
json prints it), bias-variance.txt and bias_variance.png. It needs matplotlib: pip install matplotlib.

--html FILE writes one file of HTML that needs nothing else: which part is most of the loss in words, the picture, and
tables. It needs Jinja2: pip install jinja2.

exit status: 0; 2 with a line on stderr that says what is wrong; 130 when stopped by Ctrl-C.
"""


def add_options(parser: Parser) -> None:
    """Add the command's options."""
    parser.repeated = "repeat --pred for each column"
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="predictions; by default those of polynomials on embedded data")
    add("--truth", metavar="T", help="file or column of what is true")
    add("--pred", metavar="P", action="append", help="column of a model's predictions; by default all others")
    add("--observed", metavar="O", help="file or column of labels that were observed, with noise")
    add("--weight", dest="sample_weight", metavar="W", help="file or column of the samples' weights")
    add("--models-are", choices=("rows", "columns"), help="axis of a .npy array that the models are, rows by default")
    add("--loss", choices=LOSSES, help="squared (default), of numbers; or zero-one, of classes")
    add("--decomposition", choices=get_args(DecompositionName), help="whose parts of the 0-1 loss, domingos by default")
    add_shared(parser, page="the parts in words, tables, a picture", drawn="a picture")
    parser.set_defaults(progress=False)


def check_together(arguments: argparse.Namespace, parser: Parser) -> None:
    """Raise unless the options go together."""
    check_shared(arguments, parser)
    if arguments.file is None:
        for name in PREDICTION_OPTIONS:
            if getattr(arguments, name) is not None:
                parser.error(f"{option(name)} goes with a FILE of predictions")
        return
    if arguments.truth is None:
        parser.error(f"--truth is missing: it names the file or column of what {arguments.file!r} predicts")
    if arguments.decomposition is not None and arguments.loss != "zero-one":
        parser.error("--decomposition goes with --loss zero-one: of squared loss there is one")
    array = arguments.file.lower().endswith(".npy")
    if array and arguments.pred is not None:
        parser.error("--pred goes with a table; an array's models have no names")
    if not array and arguments.models_are is not None:
        parser.error("--models-are goes with a .npy array; a table's models are its columns")


def run(arguments: argparse.Namespace) -> None:
    """Decompose, print and write."""
    check_beforehand(arguments)
    decomposed = _embedded() if arguments.file is None else _predictions(arguments)
    show_result(arguments, decomposed, decomposed.pictures)


def _embedded() -> DecomposedCurve:
    from fastevals.show.bias_variance.embedded import decompose_polynomials

    return decompose_polynomials()


def _predictions(arguments: argparse.Namespace) -> DecomposedPredictions:
    from fastevals._options import naming_rows
    from fastevals.show.bias_variance.predictions import decompose_predictions, read_arrays, read_table

    loss = (arguments.loss or "squared").replace("-", "_")
    beside = {"--truth": arguments.truth, "--observed": arguments.observed, "--weight": arguments.sample_weight}
    if arguments.file.lower().endswith(".npy"):
        data = read_arrays(arguments.file, beside, arguments.models_are or "rows")
    else:
        data = read_table(arguments.file, beside, arguments.pred, csv_form(arguments), numbers=loss == "squared")
    with naming_rows(data.line):
        return decompose_predictions(data, loss, arguments.decomposition or "domingos")
