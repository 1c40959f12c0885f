"""The summarize command: count the scores, or class probabilities, of files once; keep the counts in a small file."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastevals._files import check_writable
from fastevals._naming import option
from fastevals.reading.form import SUMMARY
from fastevals.show.commands import (
    Parser,
    add_options_of,
    add_shared,
    check_beforehand,
    check_required_columns,
    check_shared,
    csv_form,
    parse_integer,
    parse_number,
    print_text,
)
from fastevals.show.report.options import ReportOptions

if TYPE_CHECKING:
    from fastevals.reading.sources import ReadFiles
    from fastevals.scale.scores import ScoresSummary

HELP = "count models' scores once, and keep the counts in a small file"
USAGE = "%(prog)s FILE ... --out SUMMARY.fe [options]"
DESCRIPTION = """\
Count the scores in files, by class and range of scores, and write the counts to
a small summary (at most 1 MB per model). `fastevals report` reads a summary in
place of scores, and merges summaries of days, machines or shards. With
--probabilities, count probabilities of several classes (3 MB for 10 classes).

FILE is as for `fastevals report`. If each FILE is a summary, merge them.
"""

EPILOG = """\
examples:
  fastevals summarize 'scores/day=1/*.parquet' --label y --score p --out day1.fe
  fastevals report day1.fe day2.fe
  fastevals report day2.fe --against day1.fe
  fastevals summarize photos.parquet --label y --probabilities 'p_*' --out p.fe
  fastevals summarize day1.fe day2.fe --out both.fe

A report on a summary gives guaranteed bounds; the bounds of an AUC are about
1.5 / --cells apart. All numbers are exact if there are no more distinct scores
than --cells. Counts at the thresholds of --at are always exact. Models are
counted separately, so there are no differences between models: these need the
rows.

Every half minute the counts so far are written to a file next to --out. After
an interruption the same command continues from there.

exit status: 0; 2 after an error, with one line on stderr; 130 after Ctrl-C.
"""
N_KERNELS = 20  # that a first run compiles, about
OF_SCORES = ("score", "largest_weight", "pos_label", "at")  # options of scores only, and of class probabilities only
OF_CLASSES = ("classes", "ordered", "normalize")
COUNTING = (
    "label",
    *OF_SCORES,
    "probabilities",
    *OF_CLASSES,
    "sample_weight",
    "frequency_weight",
    "by",
    "cross",
    "cells",
)
CELLS = 2**18  # ranges of scores, by default
STORED = 30.0  # seconds after which the counts so far are written


def add_options(parser: Parser) -> None:
    """Add the command's options."""
    parser.repeated = "repeat --score for each column"
    add = parser.add_argument
    add("file", nargs="+", metavar="FILE", help="scores to count")
    add("--out", metavar="FILE", help="the summary to write; its name ends with .fe")
    add_options_of(parser, ReportOptions, "label", "score")
    add_options_of(parser, ReportOptions, "probabilities", "classes", "ordered", "normalize")
    add_options_of(parser, ReportOptions, "sample_weight", "frequency_weight")
    add(
        "--largest-weight",
        metavar="W",
        type=parse_number,
        help="largest weight in any file, for fractional weights; summaries to be merged need the same value",
    )
    add(
        "--by",
        metavar="COLUMN",
        action="append",
        help="count the rows of each value of this column separately; repeat for more columns",
    )
    add("--cross", action="store_true", help="count combinations of the values of several --by")
    add_options_of(parser, ReportOptions, "pos_label")
    add(
        "--cells",
        metavar="N",
        type=parse_integer,
        help="approximate number of ranges of scores (262144; 32768 of each class)",
    )
    add("--at", metavar="T", type=parse_number, action="append", help="threshold with exact counts; repeat for more")
    add_options_of(parser, ReportOptions, "on_missing_label", "on_invalid", "progress")
    add_shared(parser)


def check_together(arguments: argparse.Namespace, parser: Parser) -> None:
    """Raise if the options conflict."""
    check_shared(arguments, parser)
    if arguments.out is None or not arguments.out.endswith(SUMMARY):
        parser.error(f"--out must name a file that ends with {SUMMARY}, got {arguments.out!r}")
    given = [name for name in COUNTING if getattr(arguments, name) not in (None, False)]
    if merges(arguments):
        if given:
            parser.error(f"{option(given[0])} goes with rows, and each FILE is a summary")
        return
    others = OF_SCORES if arguments.probabilities is not None else OF_CLASSES
    if wrong := [name for name in given if name in others]:
        parser.error(
            f"{option('probabilities')} and {option(wrong[0])} exclude each other"
            if others is OF_SCORES
            else f"{option(wrong[0])} goes with {option('probabilities')}"
        )
    models = arguments.score if arguments.probabilities is None else arguments.probabilities
    check_required_columns(repr(arguments.file[0]), arguments.label, models)


def merges(arguments: argparse.Namespace) -> bool:
    """Return whether each file is a summary, so that they are merged."""
    return all(name.endswith(SUMMARY) for name in arguments.file)


def run(arguments: argparse.Namespace) -> None:
    """Count, write, and print what was counted."""
    import json

    from fastevals.document.document import Document, Section, Sentence
    from fastevals.document.markdown import write_markdown
    from fastevals.reading.columns import ColumnRoles
    from fastevals.show.report.json import files_values, left_out_values
    from fastevals.show.report.notes import describe_empty_files, describe_left_out
    from fastevals.show.schema import json_head

    check_beforehand(argparse.Namespace(out=None, progress=arguments.progress))
    for file in (arguments.out, part_of(arguments.out)):
        check_writable(option("out"), file)
    summary, files = merge_files(arguments) if merges(arguments) else summarize(arguments)
    is_of_classes = type(summary).__name__ == "SummarizedClasses"
    kind = "probabilities" if is_of_classes else "scores"
    roles = ColumnRoles(summary.label, summary.models, summary.weight, summary.segments.columns, kind=kind)
    counted = {
        **json_head(),
        "file": arguments.out,
        "n_samples": summary.n_samples,
        **({"classes": summary.classes.tolist()} if is_of_classes else {"n_positives": summary.n_positives}),
        "files": files_values(files),
        "n_dropped": summary.n_dropped,
        "dropped": left_out_values(roles, summary.left_out),
        "models": list(summary.models),
        "bytes": os.path.getsize(arguments.out),
    }
    if arguments.format == "json":
        print_text(json.dumps(counted, indent=2) + "\n")
        return
    rows = f"{summary.n_positives} positive; scores"
    if is_of_classes:
        rows = f"{len(summary.classes)} classes; probabilities"
    written = (
        f"written to {arguments.out}, {counted['bytes'] / 1e6:.2f} MB: {counted['n_samples']} rows, {rows} of "
        f"{', '.join(summary.models)}"
    )
    dropped = [f"dropped {describe_left_out(summary.left_out, roles.lacking)}"] if summary.n_dropped else []
    dropped += filter(None, [describe_empty_files(files)])
    if arguments.format == "markdown":
        said = [Sentence(written), *(Sentence(each, "caution") for each in dropped)]
        print_text(write_markdown(Document("summarize", arguments.out, sections=[Section(said)])))
        return
    print_text("\n".join([written, *dropped]) + "\n")


def part_of(out: str) -> str:
    """Return the name of the file that holds the counts so far."""
    return out + ".part"


def merge_files(arguments: argparse.Namespace) -> tuple[Any, None]:
    """Merge summaries, and write the counts of all rows."""
    from fastevals._files import write_file
    from fastevals.show.report.streams import read_summaries

    summary = read_summaries(arguments.file)
    write_file(Path(arguments.out), summary.to_bytes())
    return summary, None


def summarize(arguments: argparse.Namespace) -> tuple[Any, ReadFiles | None]:
    """Count the rows of files and write the counts; continue an interrupted run if its arguments are the same."""
    from fastevals._files import write_file
    from fastevals.scale.payload import read_file
    from fastevals.scale.scores import ScoresSummary

    count, reader, settings = (_class_counter if arguments.probabilities is not None else _score_counter)(arguments)
    part, before = part_of(arguments.out), None
    with contextlib.suppress(FileNotFoundError, ValueError):
        before = ScoresSummary.from_bytes(read_file(part))
        if before.settings != settings:
            before = None
    last = time.monotonic()

    def store(summary: ScoresSummary) -> None:
        nonlocal last
        if time.monotonic() - last >= STORED:
            summary.settings = settings
            write_file(Path(part), summary.to_bytes())
            last = time.monotonic()

    summary = count(before=before, store=store)
    summary.pieces, summary.settings = {}, []
    write_file(Path(arguments.out), summary.to_bytes())
    with contextlib.suppress(FileNotFoundError):
        os.remove(part)
    return summary, reader.files.files


Counter = tuple[Callable[..., Any], Any, list[Any]]  # counts the rows, their reader, and what settles the counts


def _score_counter(arguments: argparse.Namespace) -> Counter:
    """Check the options of scores; return how to count them."""
    from fastevals._options import check_integer, check_number
    from fastevals.reading.columns import ColumnRoles, column_names, row_reader
    from fastevals.reading.files import open_source
    from fastevals.reading.sources import RowRules
    from fastevals.scale.parquet import threshold_keys
    from fastevals.scale.scores import count_scores
    from fastevals.scale.summary import MOST_CELLS, SMALLEST_WEIGHT

    weights = arguments.sample_weight, arguments.frequency_weight
    by = column_names("by", arguments.by)
    roles = ColumnRoles.checked(arguments.label, arguments.score, *weights, by=by, cross=arguments.cross)
    rules = RowRules(arguments.on_missing_label, arguments.on_invalid)
    source = open_source(_files(arguments), roles.request(rules, csv_form(arguments)))
    reader = row_reader(source, roles, arguments.pos_label, rules)
    if arguments.largest_weight is not None:
        check_number(option("largest_weight"), arguments.largest_weight, low=SMALLEST_WEIGHT, open_high=True)
        if arguments.sample_weight is None:
            raise ValueError(f"{option('largest_weight')} goes with {option('sample_weight')}")
    cells = CELLS if arguments.cells is None else arguments.cells
    check_integer(option("cells"), cells, low=1, high=MOST_CELLS)
    at = threshold_keys(option("at"), arguments.at or ())
    settings = [
        reader.identity,
        cells,
        at.tolist(),
        arguments.largest_weight,
        list(rules),
        arguments.pos_label,
    ]
    count = partial(
        count_scores, reader, at, cells=cells, progress=arguments.progress, largest_weight=arguments.largest_weight
    )
    return count, reader, settings


def _class_counter(arguments: argparse.Namespace) -> Counter:
    """Check the options of class probabilities; return how to count them."""
    from fastevals.show.commands import checked
    from fastevals.show.report.class_streams import ClassRowReader, count_probabilities
    from fastevals.show.report.source import open_columns

    names = {field.name for field in dataclasses.fields(ReportOptions)} - {"cells"}  # here a number
    options = checked(ReportOptions(**{name: value for name, value in vars(arguments).items() if name in names}))
    source, roles = open_columns(_files(arguments), options, csv_form(arguments))
    reader = ClassRowReader(source, roles, options)
    count = partial(count_probabilities, reader, cells=arguments.cells, progress=arguments.progress)
    return count, reader, [reader.identity, arguments.cells, [options.on_missing_label, options.on_invalid]]


def _files(arguments: argparse.Namespace) -> Any:
    return arguments.file[0] if len(arguments.file) == 1 else arguments.file
