"""What all commands share: printing, checks of files, parsing and options."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import glob
import os
import shlex
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar, get_args

from fastevals._files import check_writable, write_file
from fastevals._naming import escape_controls, on_command_line, option, typed_name
from fastevals.reading.form import encoding_of, separator_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from fastevals.document.result import Result
    from fastevals.reading.csv import CsvForm

LONG_STEP = 2.0  # seconds
LEAST_WIDTH = 60  # characters of a line, also on narrower terminals
MOST_PICTURED = 20  # blocks with pictures

T = TypeVar("T", bound="DataclassInstance")


# Printing -----------------------------------------------------------------------------------------------------------


def print_error(message: str) -> None:
    """Print a line on standard error."""
    print(escape_controls(" ".join(message.split())), file=sys.stderr)


def print_text(text: str) -> None:
    """Print text; do nothing if its reader, such as head, has stopped reading or does not exist."""
    if sys.stdout is None:
        return
    text = escape_controls(text)
    try:
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:  # a name that the terminal's encoding lacks
            encoding = sys.stdout.encoding
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except OSError as error:
        # What is still buffered goes nowhere: otherwise Python would fail to write it again when it exits.
        with contextlib.suppress(OSError, ValueError):  # where stdout is no file
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


def show_result(arguments: argparse.Namespace, result: Result, pictures: Callable[[], Any]) -> None:
    """Print a result, then write its page and folder, which may fail or be interrupted.

    `pictures` returns the `BlockPictures`, and is called only with --out. An OSError names the file.
    """
    print_text(_in_form(result, arguments.format))
    if getattr(arguments, "html", None) is not None:
        write_file(Path(arguments.html), result.to_html(command=arguments.typed).encode(errors="backslashreplace"))
        _say_written(arguments, f"written to {arguments.html}")
    if arguments.out is None:
        return
    with warnings.catch_warnings(record=True) as hints:
        warnings.simplefilter("always", UserWarning)
        form = getattr(arguments, "picture_format", "png")  # a gate has no pictures
        written = pictures().write_folder(arguments.out, arguments.command, result, form)
    for hint in dict.fromkeys(str(each.message) for each in hints):
        print_error(hint)
    _say_written(arguments, written)


def _in_form(result: Result, form: str) -> str:
    if form == "markdown":
        return result.to_markdown()
    if form == "json":
        return result.to_json()
    width = shutil.get_terminal_size((0, 0)).columns  # COLUMNS, or the terminal's; 0 where neither is known
    return result._written(max(width, LEAST_WIDTH)) if width else result.to_text()


def _say_written(arguments: argparse.Namespace, written: str) -> None:
    if arguments.format == "text":
        print_text(f"\n{written}\n")
    else:
        print_error(written)  # stdout has only JSON or Markdown


# Before and while a command runs ------------------------------------------------------------------------------------


def check_beforehand(arguments: argparse.Namespace) -> None:
    """Before data are read, raise if --out, --html or --progress can't work."""
    if getattr(arguments, "html", None) is not None:
        _prepare_page(arguments.html)
        for file in _files_read(arguments):
            if os.path.exists(file) and os.path.exists(arguments.html) and os.path.samefile(file, arguments.html):
                raise ValueError(f"{option('html')} must not be a file that is read, got {arguments.html!r}")
    if arguments.out is not None:
        _prepare_folder(arguments.out, arguments.command)
    if arguments.progress:
        from fastevals._options import import_optional

        import_optional("tqdm.auto", "--progress needs tqdm: pip install tqdm")


def _files_read(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the files that the arguments may name; an argument may also turn out to name a column."""
    for name in ("file", "qrels", "against", "reference", "rules", "truth", "observed", "sample_weight"):
        value = getattr(arguments, name, None) or []
        for each in [value] if isinstance(value, str) else value:
            yield from (each, *glob.glob(each))


def _prepare_page(page: str) -> None:
    """Raise if a page can't be written to a file, or Jinja2 is missing."""
    from fastevals._options import import_optional
    from fastevals.document.page.page import NO_JINJA

    import_optional("jinja2", NO_JINJA)
    check_writable(option("html"), page)


def _prepare_folder(out: str, command: str) -> None:
    """Make the folder of --out and its parents; raise if it can't be written to, or matplotlib is missing."""
    from fastevals.show.plots.style import require_matplotlib

    require_matplotlib()
    if not out:
        raise ValueError(f"{option('out')} must name a folder, got ''")
    try:
        os.makedirs(out, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except FileExistsError:
        raise ValueError(f"{option('out')} must be a folder, got the file {out!r}") from None
    except OSError as error:
        raise ValueError(f"{option('out')} {out!r} can't be written to: {error.strerror or error}") from None
    written = {f"{command}.json", f"{command}.txt"}
    for name in {*written, *(name for name in os.listdir(out) if name.endswith(".png"))}:
        check_writable(option("out"), os.path.join(out, name))


@contextlib.contextmanager
def progress_shown(arguments: argparse.Namespace) -> Iterator[None]:
    """In a ``with`` block, show long steps and a first compilation if standard error is a terminal."""
    from fastevals._compile.notice import first_compile_said
    from fastevals._execution import bars_after

    if sys.stderr is None or not sys.stderr.isatty() or arguments.quiet:
        yield
        return
    with bars_after(LONG_STEP), first_compile_said(getattr(arguments, "n_kernels", 0)):
        yield


def run_program(
    program: str,
    argv: Sequence[str] | None,
    parse: Callable[[list[str]], argparse.Namespace | None],
    run: Callable[[argparse.Namespace], int | None],
) -> int:
    """Parse arguments, by default the process's own, and run them.

    Return the exit status: what the command returns, or 0; 2 after one line on stderr that explains the error; 130
    after Ctrl-C, which prints a line too. The line starts with the program's name, or with `arguments.program` once the
    arguments are parsed.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    name = program
    try:
        with on_command_line():
            arguments = parse(argv)
            if arguments is not None:
                name = arguments.program
                arguments.typed = f"{program} {shlex.join(argv)}".rstrip()
                with progress_shown(arguments):
                    return run(arguments) or 0
        return 0
    except UsageError as error:
        name, message = error.args
    except KeyboardInterrupt:
        print_error(f"{name}: stopped")
        return 130
    except MemoryError as error:
        message = "not enough memory for this data" + (f": {error}" if str(error) else "")
    except OSError as error:
        message = f"{error.filename or 'output'}: {error.strerror or error}"
    except (ValueError, ImportError) as error:
        message = str(error)
    print_error(f"{name}: error: {message}")
    return 2


# Arguments ----------------------------------------------------------------------------------------------------------


class UsageError(Exception):
    """Wrong arguments: the program's name and the message."""


class _Once(argparse.Action):
    """The action "store" of argparse for an option that may be given only once; `namespace.given` has its name."""

    first: str | Sequence[Any] | None = None

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if option is not None and self.first is not None:
            raise argparse.ArgumentError(self, f"must be given only once, got {self.first!r} and {values!r}")
        self.first = values
        setattr(namespace, self.dest, values)
        namespace.given = {*getattr(namespace, "given", ()), self.dest}


class Parser(argparse.ArgumentParser):
    """An argument parser that raises each error as a one-line message."""

    repeated = "repeat the option for each column"

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)
        self.register("action", None, _Once)

    def print_help(self, file: Any = None) -> None:
        """Print the help in the same way as a report."""
        print_text(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting."""
        if "expected one argument" in message:
            message += " (one that starts with a dash is written --option=-value)"
        raise UsageError(self.prog, message)

    def unknown(self, argument: str) -> NoReturn:
        """Raise for an unknown argument, naming the nearest option."""
        if not argument.startswith("-"):
            self.error(f"unexpected argument {argument!r} ({self.repeated})")
        from fastevals._options import nearest  # imports NumPy

        typed = argument.split("=")[0]
        of_python = typed_name(typed[2:].replace("-", "_"))
        known = self._option_string_actions
        near = of_python if of_python in known else nearest(typed, known)
        self.error(f"unknown option {argument!r}" + (f", did you mean {near}?" if near else ""))


def parse_number(text: str) -> float:
    """Return an option's number, as an int if a float would round it."""
    try:
        value = float(text)
        exact = int(text) if text.strip().lstrip("+-").isdigit() else None
        return value if exact is None or exact == value else exact
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}") from None


def parse_integer(text: str) -> int:
    """Return an option's whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None


def parse_classes(text: str) -> list[str]:
    """Return the labels in a list that is separated by commas, as a line of a CSV file."""
    import csv

    return next(csv.reader([text]), [])


# Options --------------------------------------------------------------------------------------------------------------


class Option(NamedTuple):
    """The help, documentation and parsing of an option."""

    metavar: str = ""  # of its value; "" for a switch or a choice
    help: str = ""  # on the command line
    doc: str = ""  # in the call's docstring, "type: text"; "" if the next option's doc covers this one
    parse: Callable[[str], Any] | None = None  # from text, unless the value is text
    choices: Any = None  # the Literal of a choice
    repeats: bool = False
    is_column: bool = False  # whether it names one or more columns
    goes_with: str | None = None  # the only kind of data, report or comparison that it goes with; None for any

    def field(self, default: Any = None, **changes: Any) -> Any:
        """Return the field of a class of options, with some changes."""
        return dataclasses.field(default=default, metadata={"option": self._replace(**changes)})


def fields_of(
    options: DataclassInstance | type[DataclassInstance],
) -> Iterator[tuple[str, Option, dataclasses.Field[Any]]]:
    """Yield each option's name, its `Option` and its field."""
    for each in dataclasses.fields(options):
        yield each.name, each.metadata["option"], each


def add_options_of(parser: Parser, options: type[DataclassInstance], *names: str) -> None:
    """Add all options, or only those named, in the order of their fields; those without help are left to `add_shared`.

    Parsed values are named like the arguments in Python.
    """
    for name, shown, field in fields_of(options):
        settings: dict[str, Any] = {"dest": name, "default": field.default, "help": shown.help}
        if shown.choices is not None:
            settings |= {"choices": get_args(shown.choices), "metavar": shown.metavar or None}
        elif not shown.metavar:
            settings["action"] = "store_true"
        else:
            settings |= {"metavar": shown.metavar, "type": shown.parse, "action": "append" if shown.repeats else None}
        if shown.help and (not names or name in names):
            parser.add_argument(typed_name(name), **settings)


def add_shared(parser: Parser, *, page: str = "", drawn: str = "") -> None:
    """Add the options that all commands share; `page` and `drawn` describe the command's page and pictures."""
    add = parser.add_argument
    if page:
        add_files(parser, parser.prog.rpartition(" ")[2], page, drawn)
    add("--separator", metavar="C", type=separator_of, help="a CSV file's separator; the word tab means a tab")
    add("--encoding", metavar="E", type=encoding_of, help="a CSV file's encoding, such as latin-1")
    first_line = parser.add_mutually_exclusive_group()
    for name, value, text in (
        ("--header", True, "names the columns"),
        ("--no-header", False, "is data; columns are 1, 2, ..."),
    ):
        help_text = f"a CSV file's first line {text}"
        first_line.add_argument(name, dest="header", action="store_const", const=value, help=help_text)
    add("--quiet", action="store_true", help="show no progress")
    add_format(parser)


def add_files(parser: Parser, name: str, page: str, drawn: str) -> None:
    """Add the options of the files that a command writes: a page and a folder."""
    add = parser.add_argument
    add("--html", metavar="FILE", help=f"also write a page: {page}")
    files = f"{name}.json, {name}.txt and {drawn}" if drawn else f"{name}.json and {name}.txt"
    add("--out", metavar="DIR", help=f"also write {files} here")
    if drawn:
        formats, help_text = ("png", "svg", "pdf"), "of the pictures: png (default), svg or pdf"
        add("--picture-format", metavar="F", choices=formats, default="png", help=help_text)


def add_format(parser: Parser) -> None:
    """Add the option for the form of the output."""
    forms = ("text", "json", "markdown")
    help_text = "of the output: text (default), json or markdown"
    parser.add_argument("--format", metavar="FORM", choices=forms, default="text", help=help_text)


def chosen(options: type[T], arguments: Mapping[str, Any]) -> T:
    """Return the options among the arguments."""
    return options(**{name: arguments[name] for name, *_ in fields_of(options)})


# Checks ---------------------------------------------------------------------------------------------------------------


def refuse(options: DataclassInstance, kind: str, why: str) -> None:
    """Raise if an option is given that goes only with `kind` of data; `why` says what the data are instead."""
    for name, shown, field in fields_of(options):
        value = getattr(options, name)
        is_default = value is field.default or (field.default is False and value == field.default)
        if shown.goes_with == kind and not is_default:
            raise ValueError(f"{option(name)} goes with {kind}{why}")


def checked(options: T) -> T:
    """Check each option by itself; return the options, in which column names are now text or a tuple of text."""
    from fastevals._options import as_flag, check_choice  # imports NumPy
    from fastevals.reading.columns import column_name, column_names

    named: dict[str, Any] = {}
    for name, shown, field in fields_of(options):
        value = getattr(options, name)
        if value is None and field.default is None:
            continue
        if shown.is_column:
            named[name] = (column_names(name, value) or None) if shown.repeats else column_name(name, value)
        elif shown.choices is not None:
            check_choice(option(name), value, shown.choices)
        elif isinstance(field.default, bool):
            named[name] = as_flag(option(name), value)
    return dataclasses.replace(options, **named)


def check_shared(arguments: argparse.Namespace, parser: Parser) -> None:
    """Raise if an option that all commands share conflicts with others."""
    if arguments.file is None and (options := csv_form(arguments).options()):
        parser.error(f"{options[0]} goes with a CSV FILE")
    if arguments.quiet and arguments.progress:
        parser.error("--quiet and --progress exclude each other")


def check_required_columns(data: str, label: str | None, score: Sequence[str] | None) -> None:
    """Raise unless the columns that a report needs are named."""
    for name, value in (("label", label), ("score", score)):
        if not value:
            others = (
                f"; {option('pred')} names predictions, {option('probabilities')} class probabilities"
                if name == "score"
                else ""
            )
            raise ValueError(f"{option(name)} is missing: it names the column of {name}s in {data}{others}")


def with_reference_first(models: Sequence[str], reference: str | None) -> tuple[str, ...]:
    """Return the models, the reference first; raise unless it is one of two or more."""
    from fastevals._options import check_choice, listed  # imports NumPy

    if reference is None:
        return tuple(models)
    if len(models) < 2:
        raise ValueError(
            f"{option('reference')} must be one of two models or more, got {reference!r}, but the only model is "
            f"{listed(models)}"
        )
    check_choice(option("reference"), reference, models)
    return tuple(sorted(models, key=lambda name: name != reference))


def csv_form(arguments: argparse.Namespace) -> CsvForm:
    """Return the CSV settings that the options give."""
    from fastevals.reading.csv import CsvForm  # which imports NumPy

    return CsvForm(arguments.separator, arguments.encoding, arguments.header)
