"""The bias-variance command: its help, options and execution. It imports NumPy and numba only when it runs."""

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

HELP = "split models' loss into bias and variance, from their predictions"
USAGE = "%(prog)s [FILE --truth T] [options]"
DESCRIPTION = """\
Do the models make the same errors, or does each make its own? FILE holds the
predictions of models of one learner, fitted to different training sets, for the
same samples. Their mean loss is split into bias, which is the error that the
models share, and variance, which is how far they differ.

FILE is a NumPy array (.npy) of shape (models x samples), which may exceed
memory; or a table (CSV, Parquet or Arrow) with one row per sample, one column
per model and a column of the truth.

Without FILE the models are polynomials of degree 1 to 8 that predict miles per
gallon from horsepower, on a data set of cars that is part of the package. They
are fitted to 200 bootstrap samples of one half of the cars, and tested on the
other half.
"""

EPILOG = """\
examples:
  fastevals bias-variance --out degrees
  fastevals bias-variance predictions.npy --truth truth.npy
  fastevals bias-variance votes.csv --truth y --loss zero-one

If FILE is a .npy file, --truth, --observed and --weight are .npy files too;
otherwise they are columns.
All other columns are models (for squared loss, all columns of numbers), unless
--pred names them.

The truth is the target without noise. If only noisy labels are known, give them
as the truth: their noise then counts as bias. If you know both, give the noisy
labels as --observed: the loss is measured against them, and has noise and a
cross term as parts. There is one observed label per sample, or in a .npy file
one per model and sample.

0-1 loss is not bias plus variance: where most models are wrong, a model that
differs from them may be right. "domingos" subtracts such cases from the
variance, "kohavi-wolpert" uses shares of votes, and "james" measures how much
bias and variance each add to the loss.

--out and --html are as for `fastevals report`.

exit status: 0; 2 after an error, with one line on stderr; 130 after Ctrl-C.
"""
N_KERNELS = 15  # that a first run compiles, about


def add_options(parser: Parser) -> None:
    """Add the command's options."""
    parser.repeated = "repeat --pred for each column"
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="predictions; by default polynomials' predictions of embedded data")
    add("--truth", metavar="T", help="file or column of the truth")
    add("--pred", metavar="P", action="append", help="column of a model's predictions; by default all others")
    add("--observed", metavar="O", help="file or column of observed labels, with noise")
    add("--weight", dest="sample_weight", metavar="W", help="file or column of the samples' weights")
    add("--models-are", choices=("rows", "columns"), help="whether a .npy array's rows (default) or columns are models")
    add("--loss", choices=LOSSES, help="squared (default) for numbers, zero-one for classes")
    add("--decomposition", choices=get_args(DecompositionName), help="definition of the parts of 0-1 loss (domingos)")
    add_shared(parser, page="verdict, tables, a picture", drawn="a picture")
    parser.set_defaults(progress=False)


def check_together(arguments: argparse.Namespace, parser: Parser) -> None:
    """Raise if the options conflict."""
    check_shared(arguments, parser)
    if arguments.file is None:
        for name in PREDICTION_OPTIONS:
            if getattr(arguments, name) is not None:
                parser.error(f"{option(name)} goes with a FILE of predictions")
        return
    if arguments.truth is None:
        parser.error(f"--truth is missing: it names the file or column of the truth that {arguments.file!r} predicts")
    if arguments.decomposition is not None and arguments.loss != "zero-one":
        parser.error("--decomposition goes with --loss zero-one: squared loss has only one")
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
