"""A report on systems that rank documents for queries: mean metrics, differences, and how many queries they need."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning, listed, naming_rows, show
from fastevals._text import MOST_PAIRS, more_pairs, printable, shorten_names
from fastevals.document.document import (
    GAP,
    RICH,
    TEXT,
    Count,
    DifferenceCell,
    Document,
    Fact,
    Figures,
    Number,
    Part,
    Row,
    Section,
    Sentence,
    Table,
)
from fastevals.document.frames import Columns, make_columns, stack
from fastevals.document.result import Result
from fastevals.document.scalars import Scalar
from fastevals.infer.comparison import ModelComparison
from fastevals.infer.gate.decide import POWER
from fastevals.infer.planning.queries import PlannedQueries, queries_for_difference
from fastevals.many.qrels import JudgedRun, Qrels
from fastevals.many.queries import USUAL_METRICS, QueryTask, compare_systems
from fastevals.measure.metric_specs import parse_metrics
from fastevals.measure.registry import Metric
from fastevals.reading.columns import join_columns
from fastevals.reading.csv import CsvForm, Request
from fastevals.reading.files import open_source
from fastevals.reading.sources import UNNAMED, is_path
from fastevals.reading.trec import read_trec
from fastevals.results import as_json
from fastevals.show.commands import checked, with_reference_first
from fastevals.show.output import BlockPictures
from fastevals.show.pictures import CAPTIONS, names_of
from fastevals.show.report.intervals import IntervalPlan, Intervals, as_plan, read_intervals
from fastevals.show.report.notes import title_of
from fastevals.show.report.options import ReportOptions
from fastevals.show.report.pictures import difference_panels, interval_panels
from fastevals.show.schema import json_head
from fastevals.show.verdict import (
    ComparedModels,
    describe_reference,
    level_sentence,
    metric_sentences,
    next_sentence,
)
from fastevals.show.verdict import listed as in_words

Floats = NDArray[np.float64]

QUERY, DOCUMENT, RELEVANCE = "query", "document", "relevance"
EFFECT = 0.01  # the difference for which queries are planned
FEW_QUERIES = 50  # fewer give rough intervals
LEAST_QUERIES = 2  # fewer give no intervals
LONGEST_SYSTEM = 26
TAKEN = (  # options that go with queries
    "label", "score", "queries", "qrels", "document", "metric", "reference", "n_resamples", "confidence_level", "rng",
    "separator", "encoding", "header", "progress",
)  # fmt: skip


class _System(NamedTuple):
    """A system's metrics, in the form of a report."""

    name: str
    metrics: dict[str, float]


class _Block(NamedTuple):
    """Systems with intervals, in the form of a report's block."""

    models: list[_System]
    best: dict[str, list[str]]
    intervals: Intervals | None


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class QueriesReport(Result):
    """A report on systems that rank documents for queries, which prints itself as text.

    Attributes
    ----------
    data : str
        Name of the data.
    queries : ndarray of shape (n_queries,)
        The queries, ascending.
    systems : tuple of str
        The systems; the reference is first.
    metrics : tuple of str
        The metrics.
    values : ndarray of shape (n_metrics, n_systems, n_queries)
        Value of each metric, system and query; NaN where it is undefined because no document is relevant.
    n_relevant : ndarray of int64 of shape (n_queries,)
        Number of relevant documents of each query.
    runs : tuple of JudgedRun
        The documents of each system.
    comparison : ModelComparison or None
        Means with intervals, and their differences; None without intervals.
    planned : dict of str to PlannedQueries
        By metric, the queries that show a difference of 0.01 between the two leading systems.
    reference : str or None
        The system that the others are compared with; None if all pairs are compared.
    """

    data: str
    queries: NDArray[Any]
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    values: Floats
    n_relevant: NDArray[np.int64]
    runs: tuple[JudgedRun, ...]
    comparison: ModelComparison | None
    planned: dict[str, PlannedQueries]
    reference: str | None = None

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """Mean of each metric over the queries where it is defined, by system."""
        return {
            system: {name: _mean(self.values[k, place]) for k, name in enumerate(self.metrics)}
            for place, system in enumerate(self.systems)
        }

    @property
    def intervals(self) -> Intervals | None:
        """The intervals of systems and their differences, in the form that reports use."""
        if self.comparison is None:
            return None
        return read_intervals(self.comparison, list(self.systems), self.metrics, None)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as strict JSON: NaN becomes None; infinite values become "Infinity" or "-Infinity"."""
        plan, made, means = self.comparison, self.intervals, self.means
        values: dict[str, Any] = {
            **json_head(),
            "data": self.data,
            "ranked": "documents",
            **({} if self.reference is None else {"reference": self.reference}),
            "n_queries": self.queries.size,
            "n_undefined": int(np.count_nonzero(self.n_relevant == 0)),
            "n_relevant": int(self.n_relevant.sum()),
            "intervals": None if plan is None else {
                "method": plan.method, "resamples": plan.n_resamples, "confidence": plan.confidence_level,
            },
            "systems": [
                {
                    "name": name,
                    "n_documents": int(run.n_documents.sum()),
                    "n_judged": None if run.n_judged is None else int(run.n_judged.sum()),
                    "n_queries_without_documents": int(np.count_nonzero(run.n_documents == 0)),
                    "n_queries_without_judgments": run.n_left_out,
                    "metrics": means[name],
                    "intervals": {} if made is None else made.models[name],
                }
                for name, run in zip(self.systems, self.runs, strict=True)
            ],
            "differences": [
                {
                    "model": one,
                    "reference": other,
                    "metrics": {
                        name: {"value": each.value, "interval": each.interval, "pvalue": each.pvalue}
                        for name, each in metrics.items()
                    },
                }
                for one, other, metrics in (() if made is None else made.differences)
            ],
            "planned": {
                name: {"effect": EFFECT, "power": POWER, "n_queries": each.n, "interval": [each.low, each.high]}
                for name, each in self.planned.items()
            },
            "cautions": self.cautions(),
        }  # fmt: skip
        return {name: as_json(value) for name, value in values.items()}

    def _columns(self) -> Columns:
        """Return a row for each system and query."""
        return stack(
            (
                {"model": name},
                make_columns({
                    "query": self.queries, "n_documents": run.n_documents, "n_relevant": self.n_relevant,
                    **{metric: self.values[k, place] for k, metric in enumerate(self.metrics)},
                }),
            )
            for place, (name, run) in enumerate(zip(self.systems, self.runs, strict=True))
        )  # fmt: skip

    def _scalars(self) -> Iterable[Scalar]:
        """Return means over queries, with intervals and differences, and no number of a single query."""
        if self.comparison is not None:
            return self.comparison._scalars()
        return [
            Scalar((system,) if len(self.systems) > 1 else (), (metric,), value)
            for system, found in self.means.items()
            for metric, value in found.items()
        ]

    def cautions(self) -> list[str]:
        """Return caveats."""
        found = []
        n_undefined = int(np.count_nonzero(self.n_relevant == 0))
        n_defined = self.queries.size - n_undefined
        if n_undefined:
            zero = [name for name, each in zip(self.metrics, self.values, strict=True) if not np.isnan(each).any()]
            verbs = ("has", "is", "counts") if n_undefined == 1 else ("have", "are", "count")
            said = [f"{verbs[1]} left out of means"] if len(zero) < len(self.metrics) else []
            said += [f"{verbs[2]} as 0 in {in_words(zero)}"] if zero else []
            queries = f"{n_undefined:,} of {_queries(self.queries.size)}"
            found.append(f"{queries} {verbs[0]} no relevant document and {', but '.join(said)}")
        if n_defined < LEAST_QUERIES:
            found.append(f"intervals need {LEAST_QUERIES} queries with relevant documents or more, got {n_defined}")
        elif n_defined < FEW_QUERIES and self.comparison is not None:
            found.append(
                f"there are only {n_defined} queries with relevant documents, and with fewer than {FEW_QUERIES}, "
                "intervals are too narrow and p-values too small: judge more queries"
            )
        for name, run in zip(self.systems, self.runs, strict=True):
            shown = printable(name)
            empty, n = int(np.count_nonzero(run.n_documents == 0)), int(run.n_documents.sum())
            if empty:
                found.append(f"{shown} has no documents for {_queries(empty, 'judged ')}, where its metrics are 0")
            if run.n_left_out:
                rest = "has no judgments and is" if run.n_left_out == 1 else "have no judgments and are"
                found.append(f"{_queries(run.n_left_out)} of {shown} {rest} left out")
            if run.n_judged is not None and n > run.n_judged.sum():
                share = 100 * (1 - run.n_judged.sum() / n)
                found.append(f"{share:.3g} % of the documents of {shown} have no judgment and count as not relevant")
        return found

    def _document(self) -> Document:
        facts = dict(self._facts())
        return Document(
            "report",
            title_of(self.data, self.systems),
            [Fact(name, text, RICH) for name, text in facts.items()],
            [Section(self._parts(), size=_queries(self.queries.size))],
            [Sentence(f"{name} {text}", only=TEXT) for name, text in facts.items()],
            list(self.systems),
            self.to_dict,
        )

    def _facts(self) -> Iterator[tuple[str, str]]:
        n = self.queries.size
        yield "queries", f"{n:,}, with {int(self.n_relevant.sum()):,} relevant documents"
        if self.reference is not None:
            yield "reference", describe_reference(self.reference)
        if self.comparison is not None:
            level = f"{100 * self.comparison.confidence_level:.6g} %"
            drawn = f"{self.comparison.n_resamples:,} bootstrap replicates of queries"
            yield "intervals", f"{level}, {self.comparison.method}, {drawn}"

    def _parts(self) -> Iterator[Part]:
        for sentence in self.verdict():
            yield Sentence(sentence, "verdict")
        yield from (GAP, self._means_table(), GAP, self._differences_table())
        yield from (Sentence(caution, "caution") for caution in self.cautions())
        yield Figures(self.panels, CAPTIONS)

    def verdict(self) -> list[str]:
        """Return sentences on which system is best, and on the queries that a small difference needs."""
        level = None if self.comparison is None else self.comparison.confidence_level
        models = ComparedModels(self.means, self.intervals, level, self.reference)
        first, *others = self.metrics
        if not models.best(first):
            return [f"No query has a relevant document, so {first} is undefined."]
        said = metric_sentences(models, first)
        if len(self.systems) > 1:
            said += filter(None, [next_sentence(models, first, others), level_sentence(self.intervals, self.reference)])
        return [*said, *self._planned_sentence(models.leading_pair(first))]

    def _planned_sentence(self, pair: Sequence[str]) -> Iterator[str]:
        planned, (first, *_) = self.planned, self.metrics
        if first in planned:
            each, level = planned[first], 100 * (self.comparison.confidence_level if self.comparison else 0.95)
            ends = "" if math.isnan(each.low) else f" (roughly {_rounded(each.low)} to {_rounded(each.high)})"
            yield (
                f"To show a true difference of {EFFECT:g} in {first} between {' and '.join(map(printable, pair))} "
                f"({level:.6g} % interval, power {100 * POWER:g} %), about {_rounded(each.n)} queries like these are "
                f"needed{ends}."
            )

    def _means_table(self) -> Table:
        means, made = self.means, self.intervals
        best = self._block().best
        short = shorten_names(self.systems, LONGEST_SYSTEM)

        def rows() -> Iterator[Row]:
            for place, name in enumerate(self.systems):
                ends: Mapping[str, Any] = {} if made is None else made.models[name]
                cells: list[Any] = [
                    Number(means[name][metric], ends.get(metric), "best" if name in best[metric] else "")
                    for metric in self.metrics
                ]
                yield Row(name, [*cells, Count(int(self.runs[place].n_documents.sum()))], place, short[place])

        columns = [*self.metrics, "documents"]
        return Table("metrics", "Means over queries", ["System", *columns], rows, heads=["system", *columns])

    def _differences_table(self) -> Table:
        pairs = [] if self.intervals is None else list(self.intervals.differences)
        short = dict(zip(self.systems, shorten_names(self.systems, LONGEST_SYSTEM), strict=True))

        def rows() -> Iterator[Row]:
            for one, other, metrics in pairs:
                cells = [DifferenceCell(*metrics[name]) for name in self.metrics]
                yield Row(f"{one} - {other}", cells, short=f"{short[one]} - {short[other]}")

        heads = ["difference", *self.metrics]
        return Table(
            "differences", "Differences of systems", ["Systems", *self.metrics], rows if pairs else (),
            n_shown=MOST_PAIRS, more=more_pairs(len(pairs)), heads=heads,
        )  # fmt: skip

    def _block(self) -> _Block:
        means = self.means
        highest = {name: max(each[name] for each in means.values()) for name in self.metrics}
        best = {
            name: [system for system in self.systems if means[system][name] == value and len(self.systems) > 1]
            for name, value in highest.items()
        }
        return _Block([_System(name, means[name]) for name in self.systems], best, self.intervals)

    def panels(self) -> Any:
        """Yield the pictures, by name."""
        block = self._block()
        if not any(map(math.isnan, block.models[0].metrics.values())):
            yield from interval_panels(block, self.metrics)
            yield from difference_panels(block, self.metrics)

    def pictures(self) -> BlockPictures:
        """Return the pictures for `--out`."""
        return BlockPictures(names_of("report"), None, (), lambda _: self.panels())


def _queries(n: int, sort: str = "") -> str:
    return f"{n:,} {sort}quer{'y' if n == 1 else 'ies'}"


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else math.nan


def _rounded(number: float) -> str:
    """Return a number of queries to two digits."""
    return f"{float(f'{number:.2g}'):,.0f}" if number >= 100 else f"{math.ceil(number)}"


# Making ---------------------------------------------------------------------------------------------------------------


def _check_options(options: ReportOptions) -> None:
    """Raise if an option is given that does not go with ranked documents."""
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name in TAKEN or value is field.default:
            continue
        if np.ndim(value) or value != field.default:
            raise ValueError(f"{option(field.name)} does not go with {option('queries')}: a report on ranked documents")
    if options.document is not None and options.qrels is None:
        raise ValueError(f"{option('document')} goes with {option('qrels')}: judgments in a table of their own")


def report_queries(data: Any, options: ReportOptions) -> QueriesReport:
    """Measure each system, compare them, and plan queries."""
    _check_options(options)
    form = CsvForm.checked(options.separator, options.encoding, options.header)
    options = checked(options)
    if data is None:
        raise ValueError(f"{option('queries')} goes with a FILE of ranked documents")
    specs = parse_metrics(USUAL_METRICS if options.metric is None else options.metric, of_queries=True)
    plan = as_plan(options.n_resamples, options.confidence_level, options.rng, options.reference)
    task, systems, name = _read(data, options, form, specs)
    order = with_reference_first(list(systems), options.reference)
    measured = [task.measure(f"{option('score')} {each!r}", systems[each]) for each in order]
    values = np.stack([each for each, _ in measured], axis=1)
    comparison = None
    if plan is not None and np.count_nonzero(task.n_relevant) >= LEAST_QUERIES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # cautions say so
            comparison = _compared(values, specs, order, plan, options)
    runs = tuple(run for _, run in measured)
    found = QueriesReport(
        name, task.keys, order, tuple(specs), values, task.n_relevant, runs, comparison, {}, options.reference
    )
    found.planned.update(_planned(found, task.entries))
    return found


def _compared(
    values: Floats, specs: Any, systems: Sequence[str], plan: IntervalPlan, options: ReportOptions
) -> ModelComparison:
    return compare_systems(
        values, specs, list(systems), reference=options.reference, n_resamples=plan.n_resamples,
        confidence_level=plan.confidence_level, rng=plan.seed, progress=options.progress,
    )  # fmt: skip


def _planned(report: QueriesReport, entries: Sequence[Metric]) -> Iterator[tuple[str, PlannedQueries]]:
    """Yield, by metric within 0 and 1, the queries that show a difference between the leading pair of systems."""
    models = ComparedModels(report.means, None, None, report.reference)
    pair = models.leading_pair(report.metrics[0]) if len(report.systems) > 1 and models.best(report.metrics[0]) else []
    if len(pair) < 2:
        return
    level = 0.95 if report.comparison is None else report.comparison.confidence_level
    one, other = map(report.systems.index, pair)
    for k, (name, entry) in enumerate(zip(report.metrics, entries, strict=True)):
        if not math.isfinite(entry.bounds[1]):
            continue
        differences = report.values[k, one] - report.values[k, other]
        planned = queries_for_difference(
            differences[~np.isnan(differences)], EFFECT, power=POWER, confidence_level=level
        )
        if planned is not None:
            yield name, planned


def _read(data: Any, options: ReportOptions, form: CsvForm, specs: Any) -> tuple[QueryTask, Mapping[str, Any], str]:
    """Read judgments and the scores, or the runs, of systems; return also the name of the data."""
    query, scores = options.queries or QUERY, tuple(options.score or ())
    if options.qrels is not None:
        columns = query, options.document or DOCUMENT
        qrels = options.qrels
        if isinstance(qrels, Qrels):
            own = {"queries": options.queries, "document": options.document, "label": options.label}
            if named := next((each for each, column in own.items() if column is not None), None):
                raise ValueError(
                    f"{option(named)} does not go with Qrels, which name their columns, got {show(own[named])}"
                )
        else:
            qrels = Qrels._of(option("qrels"), qrels, columns, options.label or RELEVANCE, form)
        task = QueryTask(qrels, None, specs, "linear", math.nan, None, name=option("qrels"))
        systems, name = _runs(data, qrels, scores, form)
        return task, systems, name
    for each, given in (("label", options.label), ("score", scores)):
        if not given:
            also = f"; {option('qrels')} names judgments in a table of their own"
            raise ValueError(f"{option(each)} is missing: it names the column of {each}s{also}")
    wanted = {str(options.label): f"{option('label')} {options.label!r}", query: f"{option('queries')} {query!r}"}
    wanted |= {each: f"{option('score')} {each!r}" for each in scores}
    if len(wanted) < 2 + len(scores):
        raise ValueError(f"columns must have one role each, got {listed([str(options.label), query, *scores])}")
    numeric = (str(options.label), *scores)
    source = open_source(data, Request(wanted, (query,), numeric, form=form))
    table = join_columns(source, wanted, numeric)
    label = str(options.label)
    with naming_rows(table.line):
        task = QueryTask(table[label], table[query], specs, "linear", math.nan, None, name=wanted[label])
        task.check_relevance()
    return task, {each: table[each] for each in scores}, source.name


def _runs(data: Any, qrels: Qrels, scores: Sequence[str], form: CsvForm) -> tuple[Mapping[str, Any], str]:
    """Return the run of each system: a file or table each, or columns of scores of one table."""
    paths = [data] if is_path(data) else data
    if isinstance(paths, (list, tuple)) and paths and all(map(is_path, paths)):
        if scores and len(paths) > 1:
            raise ValueError(f"{option('score')} names columns of one file; of {len(paths)} files, each is one system")
        if not scores:
            names = [Path(os.fsdecode(path)).name for path in paths]
            stems = [each.partition(".")[0] for each in names]
            names = stems if len({*stems}) == len(paths) else names
            names = names if len({*names}) == len(paths) else list(map(os.fsdecode, paths))
            if twice := [each for each in names if names.count(each) > 1]:
                raise ValueError(
                    f"each FILE must be another run, but {twice[0]!r} is given {names.count(twice[0])} times"
                )
            runs = {
                each: qrels._run(repr(os.fsdecode(path)), path, form) for each, path in zip(names, paths, strict=True)
            }
            return runs, os.fsdecode(paths[0]) if len(paths) == 1 else in_words(names)
        data = paths[0]
        if read_trec(os.fsdecode(data), "score") is not None:
            raise ValueError(f"{option('score')} names columns, but {os.fsdecode(data)!r} is in TREC's form")
    runs = qrels._runs("data", data, scores or None, form)
    if len({str(name) for name in runs}) < max(len(runs), 1):
        raise ValueError(
            f"data must have a run for each system, with different names, got {listed(list(runs)) or 'none'}"
        )
    return {str(name): run for name, run in runs.items()}, os.fsdecode(data) if is_path(data) else UNNAMED
