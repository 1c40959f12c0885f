"""The command line. Numba, NumPy and pyarrow are imported when a report is made, so help and errors come at once."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from fastevals import __version__

if TYPE_CHECKING:
    from fastevals.show.report import Roles

__all__ = ["main"]

EMBEDDED = "digits_eight (embedded)"
DIGIT_SCORES = ["logistic", "naive_bayes", "random_forest"]

DESCRIPTION = """\
How good is each model, how sure is that, and how do they differ? A row a model, the best of each column marked, with
an interval below each number; then the differences of each two models.

FILE is CSV (.csv, .tsv, also .gz), Parquet (.parquet) or Arrow (.arrow, .feather, .ipc) with a row a sample: a
column of labels and a column of scores for each model, higher for the positive class. Without FILE the report is on
embedded data: three classifiers' scores for "the digit is an 8", with a fold column.
"""

EPILOG = """\
examples:
  fastevals report --by fold
  fastevals report scores.parquet --label churned --score model_a --score model_b --cost-fp 1 --cost-fn 50

Left of the bar are measures of the ranking, right of it those of the confusion matrix at a threshold. By default each
model has the threshold of its best F1, or of the least expected cost where costs or a prior are given; then the report
says for which priors that threshold stays the best, and the model is worth using. "-" is undefined: a class
is missing, or 0/0. JSON holds every metric (expected_cost at costs of 1 if none are given), null where undefined, and
the threshold "Infinity" where no row is predicted positive.

Intervals are of a bootstrap (BCa): rows are drawn anew, the same for all models, and a threshold that is chosen on the
rows is chosen anew in each replicate. Those of differences hold for all pairs of a column at once, and p is adjusted
likewise (max-T). Rows that belong together need --group. Above 2,000,000 rows (of a block) they are DeLong's, of AUC
alone, unless --resamples is given. The same --seed gives the same report. JSON also has the differences of what is
asked of probabilities.

--out DIR makes the folder where there is none and writes over files of the same names: report.json (as --format json
prints it), report.txt, and roc, precision_recall, det, gain, lift and cost as .png, a curve for each model; calibration
and decision too where all scores of a block are within [0, 1], cost_over_prior where costs are given. With --by the
pictures of each value, up to the first 20, are in a folder of their own, named by its number, the column and the value,
such as 00-fold-0. It needs matplotlib: pip install 'fastevals[plots]'.

exit status: 0; 2 with a line on stderr that says what is wrong; 130 when stopped by Ctrl-C.
"""


class _UsageError(Exception):
    """Wrong arguments: the program's name and what to say."""


class _Parser(argparse.ArgumentParser):
    """A parser that raises its errors, in a line each."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def print_help(self, file: Any = None) -> None:
        """Print the help as a report is printed."""
        _write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting."""
        if "expected one argument" in message:
            message += " (one that starts with a dash is written --option=-value)"
        raise _UsageError(self.prog, message)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; by default the process's own.

    Returns
    -------
    int
        Exit status: 0; 2 after one line on stderr that says what is wrong; 130 after Ctrl-C, which a line says too.
    """
    program = "fastevals"
    try:
        arguments = _parse(sys.argv[1:] if argv is None else list(argv))
        if arguments is not None:
            program = "fastevals report"
            _write(_report(arguments))
        return 0
    except _UsageError as error:
        program, message = error.args
    except KeyboardInterrupt:
        print(f"{program}: stopped", file=sys.stderr)
        return 130
    except MemoryError:
        message = "not enough memory for this data"
    except OSError as error:
        message = f"{error.filename or 'output'}: {error.strerror or error}"
    except (ValueError, ImportError) as error:
        message = str(error)
    print(f"{program}: error: {' '.join(message.split())}", file=sys.stderr)
    return 2


# Arguments --------------------------------------------------------------------------------------------------------


def _parsers() -> tuple[_Parser, _Parser]:
    """Give the parser, and that of the report command."""
    parser = _Parser(prog="fastevals", description="Evaluate models on scores and labels.")
    parser.add_argument("--version", action="version", version=f"fastevals {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    report = commands.add_parser(
        "report", help="measure and compare models' scores in a file", description=DESCRIPTION, epilog=EPILOG
    )
    report.add_argument("file", nargs="?", metavar="FILE", help="scores to report on; by default the embedded data")
    add = report.add_argument
    add("--label", metavar="L", help="column of the true class")
    add("--score", metavar="S", action="append", help="column of a model's scores; repeat for more models")
    add("--weight", metavar="W", help="column of row weights")
    add("--by", metavar="COLUMN", help="a block for each value of this column, such as fold or train/test")
    add("--pos-label", metavar="P", help="the positive class; by default 1 among 0/1, -1/1 and booleans")
    add("--threshold", metavar="T", type=_number, help="predict positive where score >= T")
    add("--best", metavar="METRIC", help="or at each model's best threshold by f1, matthews, informedness, ...")
    add("--cost-fp", metavar="C", type=_number, help="cost of a false positive; 1 if only --cost-fn is given")
    add("--cost-fn", metavar="C", type=_number, help="cost of a false negative; 1 if only --cost-fp is given")
    add("--prior", metavar="P", type=_number, help="share of positives where the models are used, for costs")
    add("--resamples", metavar="N", type=_whole, help="bootstrap replicates, 1999 by default; 0: no intervals")
    add("--confidence", metavar="C", type=_number, default=0.95, help="level of the intervals, 0.95 by default")
    add("--seed", metavar="N", type=_whole, default=0, help="of the replicates, 0 by default")
    add("--group", metavar="COLUMN", help="draw rows that share a value of this column together, such as patient")
    add("--progress", action="store_true", help="show a bar on stderr")
    add("--format", choices=("text", "json"), default="text", help="text to read (default), or JSON for programs")
    add("--out", metavar="DIR", help="also write report.json, report.txt and pictures of the curves to this folder")
    return parser, report


def _number(text: str) -> float:
    """Give an option's number, as an int where a float would round it."""
    try:
        number = float(text)
        whole = int(text) if text.strip().lstrip("+-").isdigit() else None
        return number if whole is None or whole == number else whole
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None


def _parse(argv: list[str]) -> argparse.Namespace | None:
    """Give the arguments of a report, or None where help or the version was asked for and printed."""
    parser, report = _parsers()
    try:
        arguments, unknown = parser.parse_known_args(argv)
    except SystemExit:
        return None
    if unknown:
        _raise_unknown(parser if arguments.command is None else report, unknown[0])
    if arguments.command is None:
        parser.print_help()
        parser.error("no command given, try: fastevals report")
    if arguments.file is not None:
        for option in ("label", "score"):
            if not getattr(arguments, option):
                report.error(f"--{option} is missing: it names the column of {option}s in {arguments.file!r}")
    return arguments


def _raise_unknown(parser: _Parser, argument: str) -> NoReturn:
    if not argument.startswith("-"):
        parser.error(f"unexpected argument {argument!r} (one FILE is read at a time; repeat --score for each column)")
    near = difflib.get_close_matches(argument.split("=")[0], parser._option_string_actions, n=1)
    parser.error(f"unknown option {argument!r}" + (f", did you mean {near[0]}?" if near else ""))


# The report -------------------------------------------------------------------------------------------------------


def _report(arguments: argparse.Namespace) -> str:
    """Read the columns, measure and give the output's text."""
    from fastevals.show.report import Roles, build_report
    from fastevals.show.tables import to_json_text, to_text

    out = arguments.out
    if out is not None:
        from fastevals.show.pictures import MOST_PICTURED, check_folder, write_report

        check_folder(out)
    if arguments.progress:
        _require_tqdm()
    embedded = arguments.file is None
    roles = Roles(
        arguments.label or ("label" if embedded else ""),
        tuple(arguments.score or DIGIT_SCORES),
        arguments.weight,
        arguments.by,
        arguments.group,
    )
    report = build_report(
        _read(arguments.file, roles),
        roles,
        pos_label=arguments.pos_label,
        threshold=arguments.threshold,
        best=arguments.best,
        cost_fp=arguments.cost_fp,
        cost_fn=arguments.cost_fn,
        prior=arguments.prior,
        resamples=arguments.resamples,
        confidence=arguments.confidence,
        seed=arguments.seed,
        progress=arguments.progress,
        blocks_with_counts=0 if out is None else MOST_PICTURED,
    )
    data = EMBEDDED if embedded else arguments.file
    text = to_text(report, data) if arguments.format == "text" else to_json_text(report, data)
    if out is not None:
        written = write_report(report, data, out)
        if arguments.format == "text":
            return f"{text}\n{written}"
        print(written, end="", file=sys.stderr)  # what stands on stdout is JSON and nothing else
    return text


def _require_tqdm() -> None:
    try:
        import tqdm.auto  # noqa: F401
    except ImportError:
        raise ModuleNotFoundError("--progress needs tqdm: pip install 'fastevals[progress]'") from None


def _read(file: str | None, roles: Roles) -> Any:
    """Give the columns of a file or of the embedded data."""
    from fastevals.show.files import check_columns, read_columns

    shown = roles.shown()
    if file is not None:
        return read_columns(file, shown, numeric=roles.numeric)
    from fastevals.datasets import load_digits_eight

    columns = load_digits_eight()
    check_columns(EMBEDDED, list(columns), shown)
    return columns


# Output -----------------------------------------------------------------------------------------------------------


def _write(text: str) -> None:
    """Print, and be content where the reader (head, for instance) has seen enough, or there is none."""
    if sys.stdout is None:
        return
    try:
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:  # a name that the terminal's encoding lacks
            encoding = sys.stdout.encoding
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except OSError as error:
        # What is still buffered goes nowhere, lest Python fail to write it once more when it exits.
        with contextlib.suppress(OSError, ValueError):  # where stdout is no file
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise
