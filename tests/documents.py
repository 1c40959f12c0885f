"""Run the code of the documents, and compare what it prints with the output below it.

    python -m tests.documents                 # list the pages that differ
    python -m tests.documents --write [PAGE]  # write outputs, pictures and the pages made of the code

The ``python`` blocks of a page are one interactive session: expressions print their values. They share a folder with
the ``sh`` blocks; the scripts of docs/tasks are in that folder, too. The output of a block is the ``text`` block below
it; the image below it is the picture it drew. ``<!-- not run: why -->`` before a block leaves the block out.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import inspect
import io
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_type_hints
from unittest import mock

import fastevals
from fastevals.chapter import solve
from fastevals.chapter.example import written
from fastevals.document.document import Table
from fastevals.measure.curves.registry import CURVES, CurveEntry
from fastevals.measure.metric_specs import THRESHOLD_OPTIONS, legal_options, metric
from fastevals.measure.registry import METRICS, Metric
from tests import json_page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
OWN_TESTS = ("machines.md", "stack.md")  # need engines and tools: tests/scale/test_recipes.py, tests/integrations
MADE_OF_CODE = ("api.md", "chapter.md", "json.md", "metrics.md")
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
PAGES = [page for page in PAGES if page.name not in (*OWN_TESTS, *MADE_OF_CODE)]

BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>.+?) -->\n)?^```(?P<language>python|sh)\n(?P<code>.*?)^```\n"
    r"(?:\n*^```text\n(?P<output>.*?)^```\n)?(?:\n*^!\[[^\]]*\]\((?P<picture>images/[^)]+)\)\n)?",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
COLUMNS = 88  # that the site shows of code and outputs
WIDTH = {"COLUMNS": str(COLUMNS), "POLARS_TABLE_WIDTH": str(COLUMNS)}  # as a terminal of that width
COMMAND = f'fastevals() {{ "{sys.executable}" -m fastevals "$@"; }}; python() {{ "{sys.executable}" "$@"; }}; set -eu\n'


class Block(NamedTuple):
    """A block of code, with its output and picture."""

    match: re.Match[str]
    language: str
    code: str
    output: str
    picture: str


class Session:
    """Run the blocks of a page one after another, with their own names and folder."""

    def __init__(self, page: Path, folder: Path, *, warns: Literal["error", "ignore"] = "error") -> None:
        self.page, self.folder, self.warns = page, folder, warns
        self.names: dict[str, Any] = {"__name__": "__main__"}
        for script in (DOCS / "tasks").glob("*.py"):
            shutil.copy(script, folder)

    def run(self, block: Block) -> str:
        """Run a block and return what it printed."""
        return self._python(block) if block.language == "python" else self._sh(block)

    def _python(self, block: Block) -> str:
        # Tracebacks then name the lines of the page.
        first = block.match.string.count("\n", 0, block.match.start("code"))
        tree = ast.parse("\n" * first + block.code, str(self.page))
        printed = io.StringIO()
        columns = mock.patch.dict(os.environ, WIDTH)
        with columns, contextlib.redirect_stdout(printed), contextlib.chdir(self.folder), warnings.catch_warnings():
            warnings.simplefilter(self.warns)
            for statement in tree.body:
                if isinstance(statement, ast.Expr):
                    value = eval(compile(ast.Expression(statement.value), str(self.page), "eval"), self.names)
                    if value is not None:
                        print(repr(value))
                else:
                    exec(compile(ast.Module([statement], []), str(self.page), "exec"), self.names)
        return _without_trailing(printed.getvalue())

    def _sh(self, block: Block) -> str:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            ["bash", "-c", COMMAND + block.code],
            cwd=self.folder,
            env={**os.environ, **WIDTH, "PYTHONPATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{self.page.name}: {block.code}\n{done.stderr}"
        return _without_trailing(done.stdout)


def _without_trailing(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a page to run."""
    for match in BLOCK.finditer(text):
        if not match["reason"]:
            yield Block(match, match["language"], match["code"], match["output"] or "", match["picture"] or "")


def rewritten(page: Path, folder: Path, *, saves: bool = False) -> str:
    """Return a page with the current outputs of its blocks; draw their pictures, and save them on request."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    text, end, parts = page.read_text(encoding="utf-8"), 0, []
    session = Session(page, folder)
    style = {"svg.hashsalt": "fastevals", "figure.figsize": (6.4, 4.0), "figure.constrained_layout.use": True}
    with mpl.rc_context(style):
        for block in blocks(text):
            printed = session.run(block)
            drawn = pyplot.get_fignums()
            assert bool(drawn) == bool(block.picture), (
                f"{page.name}: {drawn} pictures, for {block.picture!r}:\n{block.code}"
            )
            if drawn and saves:
                pyplot.savefig(page.parent / block.picture, metadata={"Date": None})
            elif drawn:
                pyplot.gcf().canvas.draw()
            pyplot.close("all")
            if not same(block.output, printed):
                written = f"\n```text\n{printed}```\n" if printed else ""
                parts += [text[end : block.match.end("code")], "```\n", written]
                end = block.match.end("output" if block.output else "code") + len("```\n")
    return "".join([*parts, text[end:]])


def same(then: str, now: str) -> bool:
    """Return whether two outputs are equal up to one unit in the last digit: libraries round differently."""
    if NUMBER.sub("#", then) != NUMBER.sub("#", now):
        return False
    pairs = zip(NUMBER.findall(then), NUMBER.findall(now), strict=True)
    return all(
        one == other or math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=_unit(one)) for one, other in pairs
    )


def _unit(number: str) -> float:
    """Return one unit in the last place of a number with decimals, and 0 for an integer."""
    mantissa, _, exponent = number.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 1.01 * 10.0 ** (int(exponent or 0) - decimals) if decimals else 0.0


# Links ----------------------------------------------------------------------------------------------------------------

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|(?:href|src|srcset)=\"([^\"]+)\"")


def broken_links(page: Path) -> Iterator[str]:
    """Yield the links of a page to missing files or headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in {one or other for one, other in LINK.findall(text)}:
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in headings(target)):
            yield f"{page.relative_to(ROOT)}: {link}"


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the site write them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


# Pages that are made of the code --------------------------------------------------------------------------------------

KINDS = {
    "ranking": ("Scores", "These metrics are functions of the whole ranking, `Ranking(y_true, y_score)`."),
    "probabilities": (
        "Probabilities",
        "These metrics need scores that are probabilities of the positive class. For other scores they are NaN. "
        "*pairs* means that a bin must have two rows; rows with weights then need "
        "[calibration](calibration.md#the-calibration-error).",
    ),
    "classes": (
        "Scores of several classes",
        "These metrics take `ClassRankings`, or a pair (y_true, matrix) with one column of scores per class. The "
        'metrics above are computed for each class against the rest, and averaged: `average=` is "macro" by '
        'default, "weighted", "micro" (all columns ranked as one) or None (a value per class). `roc_auc` also '
        'takes `multi_class="ovo"`: the mean over pairs of classes. `log_loss` and `brier_score` without '
        "`average=` stand for `multiclass_log_loss` and `multiclass_brier_score`. Metrics of predicted labels, "
        'below, are of the most probable class, with `average="macro"` by default; `risk_coverage_area` and the '
        "like are of its probability.",
    ),
    "cells": (
        "Predicted labels, and scores at a threshold",
        "These metrics are functions of the cells of a confusion matrix. For predicted labels they refer to the "
        "positive class, or to all classes with `average=`. For scores, name one threshold by one of "
        f"{', '.join(f'`{name}=`' for name in THRESHOLD_OPTIONS)}. `f1` is `f_score` with `beta=1`.",
    ),
    "matrix": ("Predicted labels alone", "These metrics take a confusion matrix with any number of classes."),
    "targets": (
        "Predicted numbers",
        "These metrics are functions of the errors. *scatter* means that the targets must differ.",
    ),
    "quantiles": (
        "Predicted quantiles and intervals",
        "These metrics take quantiles with their levels: `predicted_quantiles(values, levels)`, or "
        "`predicted_intervals(low, high, coverage)`. Each metric is the mean of a loss over rows. Metrics of an "
        "interval use the widest central interval, or the interval with nominal `coverage`. `crps` is computed from "
        "the quantiles: every level in (0, 1) gets the loss of the nearest given level, also beyond the outermost "
        "levels.",
    ),
    "queries": (
        "Ranked documents",
        "`query_metrics` and `compare_query_metrics` compute these metrics for each query. With `k` they use only "
        "the first k ranks; `ndcg@10` means `k=10`. *relevant* means that the query must have a relevant document.",
    ),
}


def metrics_page() -> str:
    """Return the list of metrics, from the registry."""
    lines = [
        "<!-- Made of fastevals/measure/registry.py and curves/registry.py by `python -m tests.documents --write`. -->",
        "# Metrics",
        "",
        "**Which metrics are there, and how is each defined?**",
        "",
        "Pass a metric by its name, or with options as `metric(name, ...)`, to `bootstrap`, `permutation_test`,",
        "`compare_rankings`, `compare_predictions`, `grouped_metrics`, `batch_metrics`, `evaluate_splits`,",
        "`estimate_error`, `select_model` and the error curves. Many [other names](#other-names) are accepted. Without",
        "the class or data under *undefined without*, a metric is NaN. Equations (2.x) are from Zhou, *Machine",
        "Learning*.",
    ]
    for of, (title, text) in KINDS.items():
        lines += ["", f"## {title}", "", text, ""]
        lines += ["| name | definition | best | bounds | undefined without | options |", "|---|---|---|---|---|---|"]
        lines += [_metric_row(entry) for entry in METRICS.values() if entry.of == of]
    lines += ["", "## Curves", "", "These are methods of a ranking. `fastevals.show.plots` and reports draw them.", ""]
    lines += [
        "| method | definition | unpacks into | undefined without | averaged over folds |",
        "|---|---|---|---|---|",
    ]
    lines += [_curve_row(entry) for entry in CURVES.values() if not entry.made_by]
    lines += [
        "",
        "## Other names",
        "",
        "A name under *also accepted* is another name of the metric, in upper or lower case, with dashes or",
        "underscores. Results use the metric's own name. A name under *ambiguous* may mean another metric, or the",
        "negative of this metric, so it raises an error that suggests the metric's own name. `c_index` is the AUC of",
        "binary labels; for censored times, use [another package](from_others.md#what-fastevals-is-not-for).",
        "",
        "| name | also accepted | ambiguous |",
        "|---|---|---|",
    ]
    lines += [row for row in map(_names_row, METRICS.values()) if not row.endswith("|  |  |")]
    return "\n".join(lines) + "\n"


def _curve_row(entry: CurveEntry) -> str:
    definition = _first_sentence(getattr(fastevals.Ranking, entry.method))
    arrays = ", ".join(getattr(entry.kind, "ARRAYS", ()))
    averages = ", ".join(_averages(entry)) if entry.averaged else ""
    return f"| {' | '.join([f'`{entry.method}`', definition, arrays, ', '.join(entry.undefined_without), averages])} |"


def _averages(entry: CurveEntry) -> Sequence[str]:
    hints: dict[str, Any] = get_type_hints(getattr(fastevals.RankingFolds, entry.method))
    return get_args(hints["average"])


def _first_sentence(documented: Any) -> str:
    sentence = re.split(r"(?<=\.)\s", inspect.getdoc(documented) or "")[0]
    return sentence.replace("|", "\\|").rstrip(".")


def _metric_row(entry: Metric) -> str:
    definition = re.sub(r"^Return (the )?", "", _first_sentence(entry.function))
    low, high = entry.bounds
    bounds = f"{'(' if low == -math.inf else '['}{low:g}, {high:g}{')' if high == math.inf else ']'}"
    hidden = {*THRESHOLD_OPTIONS, *(("average", "multi_class") if entry.of in ("ranking", "probabilities") else ())}
    options = [f"`{name}`" for name in legal_options(metric(entry.name)) if name not in hidden]
    columns = [
        f"`{entry.name}`",
        definition[0].upper() + definition[1:],
        {True: "high", False: "low", None: "neither"}[entry.greater_is_better],
        bounds.replace("inf", "∞"),
        ", ".join(entry.needs),
        ", ".join(dict.fromkeys(options)),
    ]
    return f"| {' | '.join(columns)} |"


def _names_row(entry: Metric) -> str:
    also = [*entry.aliases.split(), *(name for names in entry.option_aliases.values() for name in names.split())]
    return f"| `{entry.name}` | {', '.join(entry.synonyms.split())} | {', '.join(also)} |"


class Section(NamedTuple):
    """A section of the list of public names, and a page of the reference."""

    title: str
    module: str  # from which users import the names
    names: Sequence[str]

    @property
    def file(self) -> str:
        """The page's name."""
        return self.title.lower().replace(" ", "_").replace(".", "_")

    def load(self) -> Any:
        """Return the module."""
        return import_module(self.module)


def _sections() -> list[Section]:
    rooms: dict[str, list[str]] = {}
    for name in fastevals.__all__:
        room = fastevals._HOMES[name].split(".")[1]
        rooms.setdefault(ROOMS.get(room, "Counts, results, threads"), []).append(name)
    listed = [Section(title, "fastevals", rooms[title]) for title in dict.fromkeys([*ROOMS.values(), *rooms])]
    return listed + [Section(module, module, import_module(module).__all__) for module in MODULES]


ROOMS = {
    "measure": "Measure",
    "infer": "Infer",
    "split": "Split",
    "many": "Many at once",
    "show": "Reports",
}
MODULES = (
    *("fastevals.show.plots", "fastevals.datasets", "fastevals.metrics"),
    *("fastevals.scale", "fastevals.scale.parquet", "fastevals.scale.spark", "fastevals.scale.dask"),
    "fastevals.scale.duckdb",
)
SECTIONS = _sections()


def api_page() -> str:
    """Return the list of public names with the first sentences of their docstrings."""
    lines = [
        "<!-- Made of docstrings by `python -m tests.documents --write`. -->",
        "# Reference",
        "",
        "**What can I import?**",
        "",
        "All public names. On GitHub they link to the code; on the site they link to the docstrings, which",
        "`help(name)` prints too.",
        "",
        "```{toctree}",
        ":hidden:",
        "",
        *(f"api/{section.file}" for section in SECTIONS),
        "```",
    ]
    for section in SECTIONS:
        lines += ["", f"## {section.title}", "", "| name | |", "|---|---|"]
        lines += [_name_row(section, name) for name in section.names]
    return "\n".join(lines) + "\n"


def _name_row(section: Section, name: str) -> str:
    value = getattr(section.load(), name)
    file = inspect.getsourcefile(inspect.unwrap(value)) if callable(value) else section.load().__file__
    sentence = re.split(r"(?<=\.)\s", (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " "))[0]
    path = Path(str(file)).relative_to(ROOT)
    return f"| [`{section.module}.{name}`](../{path}) | {sentence.replace('|', chr(92) + '|')} |"


CHAPTER_PICTURE = "images/chapter-{}.png"


def chapter_page() -> str:
    """Return the chapter's examples: questions, answers, tables and pictures."""
    lines = [
        "<!-- Made of fastevals/chapter by `python -m tests.documents --write`. -->",
        "# The chapter",
        "",
        "**Which call reproduces which example of Zhou's chapter 2?**",
        "",
        'This page covers chapter 2 of Zhou Zhihua, *Machine Learning*, "Model evaluation and selection", and a course',
        "on it. Each example is a function of [fastevals/chapter](../fastevals/chapter) that uses public names only.",
        "`python -m fastevals.chapter NAME` solves one example; `--out DIR` writes pictures and `--html FILE` a page.",
        "Computed figures are compared with printed ones. In the column *source*, *recomputed* means that the figure",
        "to compare with was worked out from the same data without this package.",
    ]
    chapter = solve()
    pictures = [*chapter.pictures().names]
    for example, answer in chapter.solved:
        lines += ["", f"## {example.title}", "", f"`{example.name}`, section {example.section}. {example.question}", ""]
        lines += [f"- {sentence}" for sentence in answer.sentences]
        for table in answer.tables:
            lines += ["", f"**{table.title}**", "", *_table_lines(table)]
        if answer.comparisons:
            compared = answer.comparison_table()
            lines += ["", f"**{compared.title}**", "", *_table_lines(compared)]
        for name in pictures:
            if name.removeprefix(f"{example.name}-") in dict(answer.pictures):
                lines += ["", f"![{example.title}]({CHAPTER_PICTURE.format(name)})"]
    return "\n".join(lines) + "\n"


def _table_lines(table: Table) -> list[str]:
    rows = [[cell.replace("|", r"\|") for cell in row] for row in ([*table.columns], *map(written, table.made()))]
    heading, *body = [f"| {' | '.join(row)} |" for row in rows]
    return [heading, "|" + "---|" * len(table.columns), *body]


def draw_chapter() -> None:
    """Write the chapter's pictures."""
    chapter = solve()
    with tempfile.TemporaryDirectory() as folder:
        chapter.pictures().write_folder(folder, "chapter", chapter)
        for file in Path(folder).glob("*.png"):
            shutil.copy(file, DOCS / CHAPTER_PICTURE.format(file.stem))


MADE: dict[str, Callable[[], str]] = {
    "metrics.md": metrics_page, "api.md": api_page, "chapter.md": chapter_page, "json.md": json_page.page,
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Compare pages with the output of their code, or write them."""
    parser = argparse.ArgumentParser(prog="python -m tests.documents", description="Run the code of the documents.")
    parser.add_argument("--write", action="store_true", help="write outputs and pictures")
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE", help="only these pages")
    options = parser.parse_args(arguments)
    n_stale = 0
    for page in [each.resolve() for each in options.pages] or [*(DOCS / name for name in MADE), *PAGES]:
        old = page.read_text(encoding="utf-8") if page.exists() else ""
        if page.name in MADE and page.parent == DOCS:
            new = MADE[page.name]()
            new = old if same(old, new) else new
            if options.write and page.name == "chapter.md":
                draw_chapter()
        else:
            with tempfile.TemporaryDirectory() as folder:
                new = rewritten(page, Path(folder), saves=options.write)
        if new != old:
            print(f"{page.relative_to(ROOT)}: {'written' if options.write else 'out of date'}", flush=True)
            n_stale += 1
        if options.write:
            page.write_text(new, encoding="utf-8")
    print(f"{n_stale} {'written' if options.write else 'out of date'}")
    return int(n_stale > 0 and not options.write)


if __name__ == "__main__":
    sys.exit(main())
