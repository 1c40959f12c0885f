"""Metrics of ranked documents for each query, their means over queries, and differences between systems."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.groups_bootstrap import weighted_mean
from fastevals._kernels.queries import IDEAL
from fastevals._options import (
    as_flag,
    check_choice,
    check_integer,
    check_number,
    naming_rows,
    row_at,
    show,
    warn_degenerate,
    warn_undefined,
)
from fastevals._random import seed_key
from fastevals._validation.arrays import as_array, as_scores, check_same_length, named_columns, raise_not_finite
from fastevals._validation.labels import check_two_models
from fastevals.counting.keys import as_group_keys, key_names
from fastevals.document.frames import Columns, make_columns, or_nan
from fastevals.document.scalars import Scalar
from fastevals.infer.bootstrap.bootstrap import BootstrapMethod, BootstrapSettings
from fastevals.infer.bootstrap.row_samples import SamplingUnits, UnitSample
from fastevals.infer.bootstrap.samples import Values, jackknife_acceleration
from fastevals.infer.comparison import ModelComparison, compare_models
from fastevals.infer.significance.paired import compared_pairs
from fastevals.many.group_bootstrap import NO_INTERVAL, bootstrap_mean
from fastevals.many.groups import MetricsByKey, ValuesByKey, key_columns_of
from fastevals.many.qrels import JudgedRun, Qrels
from fastevals.many.query_sums import TO_THE_END, Queries, as_ranks, sum_by_query
from fastevals.many.relevant_documents import RelevantDocuments
from fastevals.measure.kinds import MetricSpecs
from fastevals.measure.metric_specs import MetricSpec, parse_metrics
from fastevals.measure.query_metrics import QuerySums
from fastevals.measure.registry import METRICS
from fastevals.results import MAX_RESAMPLES, NOWHERE, Alternative, Interval, check_confidence_level

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

USUAL_METRICS = ("ndcg@10", "map", "mrr", "recall@10")
Gain = Literal["linear", "exponential"]
GAINS = {"linear": 1e100, "exponential": 300.0}  # the largest relevance, so that squared sums of gains stay finite
QueryInterval = Literal[None, "t", "bootstrap"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class QueryMetric(ValuesByKey):
    """A metric of each query, iterable as (id, value) pairs and indexed by id.

    Attributes
    ----------
    metric : str
        Name of the metric.
    queries : ndarray of shape (n_queries,)
        The distinct ids, ascending; row numbers if `y_true` is 2-D and `queries` is not given.
    values : ndarray of shape (n_queries,)
        The value of each query; NaN where it is undefined because no document is relevant.
    n_documents, n_relevant : ndarray of int64 of shape (n_queries,)
        Number of documents, and of relevant documents, for each query. Relevant documents are counted among the query's
        documents unless their number is given.
    mean : float
        Mean of the defined values, with equal weight for each query; NaN if none is defined.
    standard_error : float or None
        Standard error of the mean.
    confidence_interval : Interval or None
        Confidence interval of the mean.
    by : tuple of str, or None
        Names of the columns of `queries` if there are several; each key is then a tuple of their values.
    n_judged : ndarray of int64 of shape (n_queries,), or None
        With `Qrels`, the number of the query's documents that have a judgment; the others count as not relevant.

    Examples
    --------
    >>> import fastevals
    >>> found = fastevals.query_metrics([0, 1, 1, 0], [0.3, 0.2, 0.9, 0.1], list("aabb"), "mrr", interval=None)
    >>> found["mrr"]
    QueryMetric(mrr of 2 queries: mean=0.75)
    >>> found["mrr"]["b"]
    1.0
    """

    metric: str
    queries: NDArray[Any]
    values: Floats
    n_documents: Ints
    n_relevant: Ints
    mean: float
    standard_error: float | None = None
    confidence_interval: Interval | None = None
    by: tuple[str, ...] | None = None
    n_judged: Ints | None = None

    def _keys(self) -> NDArray[Any]:
        return self.queries

    def _columns(self) -> Columns:
        columns = {"value": self.values, "n_documents": self.n_documents, "n_relevant": self.n_relevant}
        numbers = make_columns(columns | ({} if self.n_judged is None else {"n_judged": self.n_judged}))
        return key_columns_of("query", self.queries, self.by, numbers) | numbers

    def _scalars(self) -> Iterator[Scalar]:
        """Yield the mean, not the value of each query."""
        low, high = self.confidence_interval or NOWHERE
        yield Scalar((), (self.metric,), self.mean)
        yield Scalar((), (self.metric, "ci_lower"), low)
        yield Scalar((), (self.metric, "ci_upper"), high)
        yield Scalar((), (self.metric, "standard_error"), or_nan(self.standard_error))

    def __repr__(self) -> str:
        undefined = f", n_undefined={self.n_undefined}" if self.n_undefined else ""
        interval = "" if self.confidence_interval is None else " [{:.4g}, {:.4g}]".format(*self.confidence_interval)
        return f"QueryMetric({self.metric} of {len(self)} queries: mean={self.mean:.4g}{interval}{undefined})"


class MetricsByQuery(MetricsByKey[QueryMetric]):
    """Result of `query_metrics`: a mapping from each metric to its `QueryMetric`."""

    __slots__ = ()

    def _settings(self) -> str:
        return f"{len(next(iter(self.metrics.values())))} queries"

    def _scalars(self) -> Iterator[Scalar]:
        for each in self.metrics.values():
            yield from each._scalars()


def query_metrics(
    y_true: ArrayLike | Qrels,
    y_score: Any,
    queries: ArrayLike | None = None,
    metrics: Any = USUAL_METRICS,
    *,
    n_relevant: Any = None,
    gain: Gain = "linear",
    undefined: float = math.nan,
    interval: QueryInterval = "t",
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    rng: Any = None,
) -> MetricsByQuery:
    """Compute ranking metrics for the documents of each query, and their means over queries.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents), or Qrels
        Relevance of each document to its query: 0 if not relevant, above 0 if relevant; at most 1e100, or 300 with
        exponential gain. `Qrels` are judgments in a table of their own.
    y_score : array-like of the same shape, or a run
        Finite scores; the documents of a query are ranked by descending score. Scores tie if exactly equal. With
        `Qrels`, a run has the documents that a system retrieved: a table with the columns of ids of the qrels and
        a column "score" (or one of any name), a file of it, a run in TREC's form, or a mapping of query to mapping of
        document to score.
    queries : array-like of shape (n_documents,), or several such columns, optional
        The query of each document, in any order; the values may be of any type that `grouped_auc` accepts for groups.
        Rows already in ascending order of query are not moved. Without `queries`, each row of a 2-D `y_true` is a
        query.
    metrics : str, `metric(...)`, a sequence of these, or a mapping of names to them
        "ndcg", "dcg", "map", "mrr" and "hit_rate" cover all ranks or, with a suffix such as "@10", the first ranks.
        "recall@10", "precision@10" and "f1@10" always need a number of ranks; "r_precision" has its own.
    n_relevant : mapping of query to int or to relevance, or sequence of these if `y_true` is 2-D, optional
        The number, or the relevance, of all relevant documents of each query, retrieved or not.
    gain : {"linear", "exponential"}
        The gain of a document of relevance y in (N)DCG: y, or 2**y - 1.
    undefined : float
        Value to use for metrics that are undefined because a query has no relevant documents. NaN leaves the query out
        of the mean and counts it in `n_undefined`; 0 is the choice of trec_eval and ranx.
    interval : {"t", "bootstrap", None}
        Interval of the mean, with queries as the units: Student's t, or percentiles of bootstrap replicates.
    confidence_level : float in (0, 1)
        Confidence level of each interval separately.
    n_resamples : int
        Number of bootstrap replicates.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed of the bootstrap. The same seed gives the same bits, at any number of threads.

    Returns
    -------
    MetricsByQuery
        A mapping from each metric to its `QueryMetric`. Paired tests such as `paired_t_test` accept the
        `values` of a `QueryMetric`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If queries without relevant documents are left out; the message gives their number. Also if a mean has no
        interval, or an interval of zero width.

    Notes
    -----
    Where scores tie, a value is the mean over all orders of the tied documents, in closed form [1]_, as in
    scikit-learn's `ndcg_score`. In all other respects, values are those of trec_eval: discounts are log2(rank + 1),
    precision divides by k even if there are fewer documents, and average precision divides by all relevant documents of
    the query, including those past k.

    Relevant documents that were not retrieved for a query have no row. Without `n_relevant` or `Qrels`, these documents
    are unknown: recall, average precision and nDCG then refer to the retrieved documents, and are too high.

    A query with up to 192 relevant documents is not sorted: the scores above each relevant document are counted.

    Memory use beyond the input is 8 bytes per query and metric, plus 20 per row if rows have to be gathered by query.

    References
    ----------
    .. [1] McSherry, F. and Najork, M. (2008), "Computing Information Retrieval Performance Measures Efficiently in the
       Presence of Tied Scores", ECIR, doi:10.1007/978-3-540-78646-7_38.

    Examples
    --------
    >>> import fastevals
    >>> relevance, scores = [0, 2, 1, 1, 0, 0], [0.9, 0.8, 0.2, 0.4, 0.4, 0.1]
    >>> found = fastevals.query_metrics(relevance, scores, list("aaabbb"), ["ndcg@2", "mrr"])
    >>> found["mrr"].values, found["ndcg@2"].values.round(3)
    (array([0.5 , 0.75]), array([0.48 , 0.815]))
    >>> found["mrr"].mean
    0.625

    A query that found one of its five relevant documents, at the first rank:

    >>> found = fastevals.query_metrics([1], [9.0], ["q"], ["ndcg@10", "recall@10"], n_relevant={"q": 5}, interval=None)
    >>> round(found["ndcg@10"]["q"], 4), found["recall@10"]["q"]
    (0.3392, 0.2)
    >>> qrels = fastevals.Qrels({"q": {"d1": 1, "d2": 1, "d3": 1, "d4": 1, "d5": 1}})
    >>> round(fastevals.query_metrics(qrels, {"q": {"d3": 9.0}}, metrics="ndcg@10", interval=None)["ndcg@10"].mean, 4)
    0.3392
    """
    check_choice("interval", interval, QueryInterval)
    _, alpha = check_confidence_level(confidence_level)
    n_resamples = check_integer("n_resamples", n_resamples, low=1, high=MAX_RESAMPLES)
    specs = parse_metrics(metrics, of_queries=True)
    task = QueryTask(y_true, queries, specs, gain, undefined, n_relevant)
    values, run = task.measure("y_score", y_score)
    task.warn(values)
    undefined_queries = (task.n_relevant == 0).any()
    key = seed_key("rng", rng)
    found, by = {}, None if queries is None else key_names("queries", queries)
    counts = run.n_documents, task.n_relevant
    for name, entry, each in zip(specs, task.entries, values, strict=True):
        kept = each[~np.isnan(each)] if undefined_queries else each
        mean = min(max(float(kept.mean()), float(kept.min())), float(kept.max())) if kept.size else math.nan
        error, ends = None, None
        if interval is not None and kept.size < 2:
            warn_undefined(f"the interval of the mean {name}", "it needs two queries that have a value")
            error, ends = math.nan, NO_INTERVAL
        elif interval == "t":
            error, ends = _t_interval(kept, mean, alpha, entry.bounds)
        elif interval == "bootstrap":
            error, ends = bootstrap_mean(each, np.ones(each.size), n_resamples, alpha / 2, key)
        if interval is not None and kept.size > 1 and kept.min() == kept.max():
            warn_degenerate(f"the interval of the mean {name}", "all values are equal")
        found[name] = QueryMetric(name, task.keys, each, *counts, mean, error, ends, by, run.n_judged)
    return MetricsByQuery(found)


def _t_interval(values: Floats, mean: float, alpha: float, bounds: tuple[float, float]) -> tuple[float, Interval]:
    """Return the standard error of a mean and its interval, within the bounds."""
    from scipy.special import stdtrit

    error = float(values.std(ddof=1)) / math.sqrt(values.size)
    margin = float(stdtrit(values.size - 1, 1 - alpha / 2)) * error
    return error, Interval(max(mean - margin, bounds[0]), min(mean + margin, bounds[1]))


# Differences of systems -----------------------------------------------------------------------------------------------


def compare_query_metrics(
    y_true: ArrayLike | Qrels,
    y_score: Any,
    queries: ArrayLike | None = None,
    metrics: Any = USUAL_METRICS,
    *,
    n_relevant: Any = None,
    reference: Any = None,
    gain: Gain = "linear",
    undefined: float = math.nan,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    method: BootstrapMethod = "BCa",
    alternative: Alternative = "two-sided",
    rng: Any = None,
    keep_distribution: bool = False,
    progress: bool = False,
) -> ModelComparison:
    """Compare mean metrics of systems over the same queries, with one paired bootstrap of queries.

    This works like `compare_rankings`; each replicate draws queries once, for all systems.

    Parameters
    ----------
    y_true, queries, metrics, n_relevant, gain, undefined
        As for `query_metrics`.
    y_score : mapping of name to array-like, array-like of shape (n_systems, ...), frame, or mapping of name to run
        Finite scores of two or more systems: one entry, row or column per system, of the shape of `y_true`. With
        `Qrels`, a run for each system, each with its own documents; or a table with the columns of ids of the qrels and
        a column of scores for each system, if they rank the same documents.
    reference : name or int, optional
        The system to compare the others with: a name, or a number if systems have no names. By default all pairs are
        compared.
    n_resamples, confidence_level, method, alternative, rng, keep_distribution, progress
        As for `compare_rankings`.

    Returns
    -------
    ModelComparison
        A mapping from each metric to its `MetricComparison`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        When `query_metrics` or `compare_rankings` would warn.

    Examples
    --------
    >>> import fastevals
    >>> relevance, queries = [0, 2, 1, 1, 0, 0, 0, 0, 1], list("aaabbbccc")
    >>> scores = {"old": [3, 2, 1, 3, 2, 1, 3, 2, 1], "new": [1, 3, 2, 2, 3, 1, 2, 1, 3]}
    >>> result = fastevals.compare_query_metrics(relevance, scores, queries, "mrr", n_resamples=999, rng=0)
    >>> round(result["mrr"].differences[0].value, 4)
    -0.2222
    """
    settings = BootstrapSettings.checked(n_resamples, confidence_level, method, alternative, rng)
    keep, progress = as_flag("keep_distribution", keep_distribution), as_flag("progress", progress)
    specs = parse_metrics(metrics, of_queries=True)
    task = QueryTask(y_true, queries, specs, gain, undefined, n_relevant)
    systems = task.systems(y_score)
    pairs = compared_pairs(tuple(systems), reference)
    values = np.stack([task.measure(f"y_score[{name!r}]", each)[0] for name, each in systems.items()], axis=1)
    task.warn(values[:, 0])
    return compare_models(_QuerySample(values), specs, list(systems), pairs, settings, keep, progress)


def compare_systems(
    values: Floats,
    specs: MetricSpecs,
    systems: list[Any],
    *,
    reference: Any,
    n_resamples: int,
    confidence_level: float,
    rng: Any,
    progress: bool,
) -> ModelComparison:
    """Return means and differences as `compare_query_metrics` does, also of one system.

    Parameters
    ----------
    values : ndarray of shape (n_metrics, n_systems, n_queries)
        Value of each metric, system and query.
    """
    settings = BootstrapSettings.checked(n_resamples, confidence_level, "BCa", "two-sided", rng)
    pairs = compared_pairs(tuple(systems), reference) if len(systems) > 1 else np.empty((0, 2), np.intp)
    return compare_models(_QuerySample(values), specs, systems, pairs, settings, False, progress)


class _QuerySample(UnitSample):
    """Queries drawn with replacement, and the means of the defined values among them.

    Parameters
    ----------
    values : ndarray of shape (n_metrics, n_systems, n_queries)
        Value of each metric, system and query; NaN for all systems if a query's metric is undefined.
    """

    def __init__(self, values: Floats) -> None:
        self._defined = (~np.isnan(values[:, 0])).astype(np.float64)
        self._values = np.where(np.isnan(values), 0.0, values)
        super().__init__(SamplingUnits(np.empty(0, np.uint32), (values.shape[-1],), True), values.size)

    def estimates(self) -> Values:
        """Return each metric's mean for each system."""
        return [means[0] for means in self.measure([np.ones(self._defined.shape[1], dtype=np.uint8)], 1, None)]

    def workspace(self) -> Any:
        """Return an array to count how often each query is drawn."""
        return (self.times(),)

    def measure(self, draws: Any, n: int, space: Any) -> Values:
        """Return the means in each of n draws."""
        means = np.empty((len(self._values), n, self._values.shape[1]))
        for number, times in enumerate(draws):
            for k, (systems, defined) in enumerate(zip(self._values, self._defined, strict=True)):
                means[k, number] = [weighted_mean(times, values, defined) for values in systems]
        return list(means)

    def closed_form_acceleration(self, metric: int) -> Floats:
        """Return the acceleration of each system's mean, from the means that leave out one query."""
        defined, values = self._defined[metric].astype(bool), self._values[metric]
        n = np.count_nonzero(defined)
        if n < 2:
            return np.zeros(len(values))
        total = values.sum(axis=1)
        left = np.where(defined, (total[:, None] - values) / (n - 1), (total / n)[:, None])
        return jackknife_acceleration(left.T, np.ones(defined.size, dtype=np.int64))


# Reading --------------------------------------------------------------------------------------------------------------


class _RankedRows:
    """Relevance of documents, one row per document, that each system ranks."""

    def __init__(self, name: str, y_true: Any, queries: Any, n_relevant: Any, largest: float) -> None:
        if isinstance(y_true, Mapping):
            raise ValueError(f"{name} must be an array, or judgments as fastevals.Qrels(...), got {show(y_true)}")
        array = as_array(name, y_true)
        if queries is None and array.ndim != 2:
            raise ValueError(f"y_true must be 2-D, a row per query, unless queries is given, got shape {array.shape}")
        self._shape = array.shape
        self._relevance = as_scores(name, array.reshape(-1) if queries is None else array)
        if queries is None:
            self._queries = Queries.of_rows(*array.shape)
        else:
            keys = as_group_keys("queries", queries)
            check_same_length(y_true=self._relevance, queries=keys)
            self._queries = Queries.of_keys(keys)
        self.keys, self.known = self._queries.keys, None
        if n_relevant is not None:
            self.known = RelevantDocuments.read(n_relevant, self.keys, largest, table=queries is None)
            together, _ = self._queries.gather(self._relevance, self._relevance)
            self.known.check_retrieved(together, np.diff(self._queries.starts))
        self.relevance = self._relevance

    def read(self, name: str, y_score: Any) -> JudgedRun:
        """Return the documents with a system's scores."""
        array = as_array(name, y_score)
        if array.shape != self._shape:
            raise ValueError(f"{name} must have the shape of y_true, {self._shape}, got {array.shape}")
        return JudgedRun(self._queries, self._relevance, as_scores(name, array.reshape(-1)))

    def systems(self, y_score: Any) -> Mapping[Any, Any]:
        """Return the scores of each system."""
        columns = named_columns("y_score", y_score)
        return dict(enumerate(as_array("y_score", y_score))) if columns is None else columns


class _JudgedRows:
    """Documents of which each system retrieved its own, and their judgments."""

    def __init__(self, qrels: Qrels, queries: Any, n_relevant: Any) -> None:
        for name, given in (("queries", queries), ("n_relevant", n_relevant)):
            if given is not None:
                raise ValueError(
                    f"{name} must be None if y_true is Qrels, which have the queries and the relevant documents; "
                    f"metrics are named by metrics=, got {show(given)}"
                )
        self._qrels = qrels
        self.keys, self.known = qrels.queries, qrels._relevant()
        self.relevance = qrels._relevance

    def read(self, name: str, y_score: Any) -> JudgedRun:
        """Return the documents that a system retrieved."""
        return self._qrels._judge(name, y_score)

    def systems(self, y_score: Any) -> Mapping[Any, Any]:
        """Return the run of each system."""
        return self._qrels._runs("y_score", y_score)


class QueryTask:
    """Relevance of documents by query, and the metrics to compute for the systems that rank them."""

    def __init__(
        self,
        y_true: Any,
        queries: Any,
        specs: MetricSpecs,
        gain: Any,
        undefined: Any,
        n_relevant: Any,
        *,
        name: str = "y_true",
    ) -> None:
        check_choice("gain", gain, Gain)
        if not (isinstance(undefined, numbers.Real) and math.isnan(undefined)):
            undefined = check_number("undefined", undefined, low=0, high=1)
        self._name, self._gain, self._undefined = name, gain, float(undefined)
        self._names, named = list(specs), [spec for spec in specs.values() if isinstance(spec, MetricSpec)]
        self.entries = [METRICS[spec.name] for spec in named]
        ks = [entry.own_options(spec.options).get("k") for entry, spec in zip(self.entries, named, strict=True)]
        cuts = np.array([TO_THE_END if k is None else k for k in ks], dtype=np.int64)
        self._cuts, self._cut_of = np.unique(cuts, return_inverse=True)
        self._wants_ideal = any(entry.name == "ndcg" for entry in self.entries)
        self._documents: _RankedRows | _JudgedRows
        if isinstance(y_true, Qrels):
            self._documents = _JudgedRows(y_true, queries, n_relevant)
            with naming_rows(y_true._line):
                self._check_relevance(y_true._relevance)
        else:
            self._documents = _RankedRows(name, y_true, queries, n_relevant, GAINS[gain])
        self.keys, known = self._documents.keys, self._documents.known
        self.n_relevant = np.zeros(self.keys.size, dtype=np.int64)
        self._known = known is not None
        if known is not None:
            self.n_relevant = known.counts
            if self._wants_ideal:
                self._ideal = known.ideal_gains(self._documents.relevance, self._cuts, self._worth)

    def systems(self, y_score: Any) -> Mapping[Any, Any]:
        """Return the scores, or the run, of each of several systems."""
        systems = self._documents.systems(y_score)
        check_two_models("y_score", tuple(systems))
        return systems

    def measure(self, name: str, y_score: Any) -> tuple[Floats, JudgedRun]:
        """Return each metric of each query, of shape (n_metrics, n_queries), and the documents."""
        run = self._documents.read(name, y_score)
        n_documents = run.n_documents
        values = np.empty((len(self.entries), n_documents.size))

        def read(relevance: Floats, scores: Floats) -> Floats:
            self._check_relevance(relevance)
            if not _are_finite(scores):
                raise_not_finite(name, run.scores)
            return self._worth(relevance)

        def use(span: slice, relevant: Ints, sums: Floats) -> None:
            self.n_relevant[span] = relevant
            if self._known and self._wants_ideal:
                sums[:, IDEAL] = self._ideal[:, span]
            counts = relevant.astype(np.float64)
            by_cut = [
                QuerySums(np.maximum(n_documents[span], 1) if cut == TO_THE_END else cut, counts, *own)
                for cut, own in zip(self._cuts.tolist(), sums, strict=True)
            ]
            for k, (entry, cut) in enumerate(zip(self.entries, self._cut_of, strict=True)):
                values[k, span] = entry.function(by_cut[cut])

        rows = run.queries.gather(run.relevance, as_ranks(name, run.scores))
        cuts = self._cuts, 1 / np.log2(np.arange(n_documents.max()) + 2)
        sum_by_query(
            run.queries.starts, *rows, *cuts, use, read=read, n_relevant=self.n_relevant if self._known else None,
            ideal=self._wants_ideal and not self._known,
        )  # fmt: skip
        if self._undefined == self._undefined:
            values[np.isnan(values)] = self._undefined
        return values, run

    def check_relevance(self) -> None:
        """Raise unless all relevance is within the range that gains allow."""
        self._check_relevance(self._documents.relevance)

    def _check_relevance(self, relevance: Floats) -> None:
        if relevance.size and not (relevance.min() >= 0 and relevance.max() <= GAINS[self._gain]):
            _raise_not_relevance(self._name, self._documents.relevance, self._gain)

    def _worth(self, relevance: Floats) -> Floats:
        """Return the gains of documents."""
        if self._gain == "linear":
            return relevance
        return np.where(relevance < 1, np.expm1(relevance * math.log(2)), np.exp2(relevance) - 1)

    def warn(self, values: Floats) -> None:
        """Warn about queries that leave metrics undefined, and name these metrics."""
        n = np.count_nonzero(self.n_relevant == 0)
        names = [name for name, each in zip(self._names, values, strict=True) if n and np.isnan(each).any()]
        if names:
            warn_undefined(", ".join(names), f"{n} of {self.n_relevant.size} queries have no relevant document")


def _are_finite(values: Floats) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):  # a sum takes one pass, and rarely overflows
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def _raise_not_relevance(name: str, values: NDArray[Any], gain: Gain) -> None:
    """Raise an error that names the first relevance that is not finite, below 0 or too large."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise_not_finite(name, values)
    largest = np.float64(GAINS[gain])
    row = int(np.argmax((values < 0) | (values > largest)))
    raise ValueError(
        f"{name} must hold relevance, numbers from 0 to {largest:g} with {gain} gain, got {show(values[row])} at "
        f"{row_at(row)}"
    )
