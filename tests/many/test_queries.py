"""Metrics of ranked documents by query, against their definitions, scikit-learn and published figures."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from hypothesis import assume, given
from hypothesis import strategies as st

import fastevals
from fastevals import UndefinedMetricWarning, compare_query_metrics, metric, num_threads, query_metrics
from fastevals.measure.registry import METRICS
from tests.reference import queries as reference
from tests.strategies import BOUNDED, FEWER

NAMES = [name for name, entry in METRICS.items() if entry.of == "queries"]
CUTS = (None, 1, 2, 4, 9)
MOST_ORDERS = 5040
EVERY = [
    metric(name, **({} if k is None else {"k": k}))
    for name in NAMES
    for k in (CUTS if METRICS[name].options else CUTS[:1])
]


def measured(*args: Any, **options: Any) -> Any:
    """Return the metrics without intervals, and without warnings about queries that have no relevant document."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return query_metrics(*args, **{"interval": None, **options})


@st.composite
def documents(draw: Any, most: int = 12) -> tuple[list[float], list[float], list[int]]:
    """Draw relevance, scores and queries of rows in any order, with ties that have few orders."""
    n = draw(st.integers(1, most))
    grades = st.sampled_from([0, 0, 1, 2, 3, 0.5, 70])
    rows = draw(st.lists(st.tuples(grades, st.integers(-2, 3), st.sampled_from([7, -1, 3])), min_size=n, max_size=n))
    relevance, scores, queries = map(list, zip(*rows, strict=True))
    ties = Counter(zip(scores, queries, strict=True)).values()
    assume(math.prod(map(math.factorial, ties)) <= MOST_ORDERS)
    return relevance, scores, queries


def own_rows(query: int, relevance: Any, scores: Any, queries: Any) -> tuple[list[float], list[float]]:
    rows = [i for i, each in enumerate(queries) if each == query]
    return [relevance[i] for i in rows], [scores[i] for i in rows]


@BOUNDED
@given(documents(), st.sampled_from(["linear", "exponential"]))
def test_values_are_means_over_all_orders_of_ties(rows, gain):
    relevance, scores, queries = rows
    found = measured(relevance, scores, queries, EVERY, gain=gain)
    assert found[str(EVERY[0])].queries.tolist() == sorted(set(queries))
    for spec in EVERY:
        result = found[str(spec)]
        for query, value in result:
            own = own_rows(query, *rows)
            expected = reference.value(spec.name, spec.options.get("k"), *own, gain)
            assert value == pytest.approx(expected, rel=1e-12, nan_ok=True), (spec, query)
        assert result.n_documents.tolist() == [queries.count(query) for query in result.queries]
        assert result.n_relevant.tolist() == [
            sum(y > 0 for y, own in zip(relevance, queries, strict=True) if own == query) for query in result.queries
        ]


@FEWER
@given(
    documents(), st.sampled_from(["linear", "exponential"]), st.lists(st.sampled_from([0.5, 1, 2, 3, 70]), max_size=6)
)
def test_relevant_documents_that_were_not_retrieved(rows, gain, missed):
    relevance, scores, queries = rows
    lacked = dict(zip(sorted(set(queries)), (missed, missed[:1], []), strict=False))
    known = {query: [*own_rows(query, *rows)[0], *each] for query, each in lacked.items()}
    counts = {query: sum(y > 0 for y in each) for query, each in known.items()}
    found = measured(relevance, scores, queries, EVERY, gain=gain, n_relevant=known)
    rest = [spec for spec in EVERY if spec.name != "ndcg"]
    counted = measured(relevance, scores, queries, rest, gain=gain, n_relevant=counts)
    binary = measured(np.sign(relevance), scores, queries, EVERY, gain=gain, n_relevant=pd.Series(counts))
    for spec in EVERY:
        name, k = spec.name, spec.options.get("k")
        assert found[str(spec)].n_relevant.tolist() == list(counts.values())
        for query, value in found[str(spec)]:
            own = own_rows(query, *rows)
            expected = reference.value(name, k, *own, gain, lacked[query])
            assert value == pytest.approx(expected, rel=1e-12, nan_ok=True), (spec, query)
            if spec in rest:
                assert counted[str(spec)][query] == pytest.approx(value, nan_ok=True)
            expected = reference.value(name, k, np.sign(own[0]), own[1], gain, np.sign(lacked[query]))
            assert binary[str(spec)][query] == pytest.approx(expected, rel=1e-12, nan_ok=True), (spec, query)


def test_one_of_five_relevant_documents_was_retrieved():
    expected = 1 / sum(1 / math.log2(rank + 1) for rank in range(1, 6))
    options = {"metrics": ["ndcg@10", "ndcg", "map", "recall@10", "mrr", "ndcg@1"], "n_relevant": {"q": 5}}
    found = measured([1], [9.0], ["q"], **options)
    assert [each.mean for each in found.values()] == [pytest.approx(expected)] * 2 + [0.2, 0.2, 1.0, 1.0]
    missed = measured([0, 0], [9.0, 3.0], ["q", "q"], **options)  # all are zero; NaN if nothing is relevant
    assert [each.mean for each in missed.values()] == [0.0] * 6
    with pytest.warns(UndefinedMetricWarning, match="1 of 1 queries have no relevant document"):
        assert math.isnan(query_metrics([0], [9.0], ["q"], "map", n_relevant={"q": 0}, interval=None)["map"].mean)
    days = np.array(["2024-01-02", "2024-01-01"], dtype="datetime64[D]")
    by_day = measured([1, 1], [1, 2], days, "recall@1", n_relevant={days[0]: 4, pd.Timestamp(days[1]): 2})
    assert by_day["recall@1"].values.tolist() == [0.5, 0.25]
    table = measured([[1, 0], [1, 1]], [[1, 2], [3, 4]], None, "recall@1", n_relevant=np.array([4, 2]))
    assert table["recall@1"].values.tolist() == [0.0, 0.5]


def test_systems_are_compared_by_all_relevant_documents():
    systems = {"a": [3, 2, 1, 2, 1], "b": [1, 2, 3, 1, 2]}
    options = {"n_resamples": 99, "rng": 0}
    relevance, queries = [1, 0, 0, 0, 1], list("xxxyy")
    plain, known = (
        compare_query_metrics(relevance, systems, queries, ["map", "ndcg@2"], n_relevant=each, **options)
        for each in (None, {"x": 2, "y": 3})
    )
    assert [each.value for each in plain["map"].estimates.values()] == [
        pytest.approx((1 + 1 / 2) / 2),
        pytest.approx((1 / 3 + 1) / 2),
    ]
    assert [each.value for each in known["map"].estimates.values()] == [
        pytest.approx((1 / 2 + 1 / 6) / 2),
        pytest.approx((1 / 6 + 1 / 3) / 2),
    ]


def ranked_table(n_queries: int, n_documents: int, *, values: int | None, seed: int = 0) -> tuple[Any, Any]:
    """Return graded relevance, and scores with `values` distinct values or without ties."""
    rng = np.random.default_rng([seed, n_documents])
    relevance = rng.integers(0, 4, (n_queries, n_documents)).astype(float)
    if values is None:
        return relevance, rng.permuted(np.tile(np.arange(n_documents), (n_queries, 1)), axis=1) / 7
    return relevance, rng.integers(0, values, (n_queries, n_documents)) / 7


@pytest.mark.parametrize("n_documents", [2, 63, 64, 65, 150, 400, 1200])
@pytest.mark.parametrize("values", [None, 5, 1])
@pytest.mark.parametrize("k", [None, 1, 10, 64, 5000])
def test_tables_have_the_ndcg_of_scikit_learn(n_documents, values, k):
    """Queries with more than 192 relevant documents are sorted, others counted."""
    relevance, scores = ranked_table(12, n_documents, values=values)
    ends = {} if k is None else {"k": k}
    found = measured(relevance, scores, None, [metric("ndcg", **ends), metric("dcg", **ends)])
    ndcg, dcg = found.values()
    assert ndcg.mean == pytest.approx(sklearn.metrics.ndcg_score(relevance, scores, k=k), rel=1e-12)
    assert dcg.mean == pytest.approx(sklearn.metrics.dcg_score(relevance, scores, k=k), rel=1e-12)
    keys = np.repeat(np.arange(12), n_documents)
    order = np.random.default_rng(1).permutation(keys.size)
    rows = measured(relevance.ravel()[order], scores.ravel()[order], keys[order], EVERY)
    table = measured(relevance, scores, None, EVERY)
    for name, each in table.items():
        np.testing.assert_allclose(rows[name].values, each.values, rtol=1e-13)


@pytest.mark.parametrize("values", [None, 6])
@pytest.mark.parametrize("n_documents", [5, 300])
def test_counted_and_sorted_queries_have_the_same_values(values, n_documents):
    """Relevant documents below the first ones are added, so that the query is sorted."""
    relevance, scores = ranked_table(8, n_documents, values=values)
    relevance = (relevance > 2).astype(float)
    names = [spec for spec in EVERY if spec.name not in ("ndcg", "map", "recall_at_k", "f1_at_k") and spec.options]
    below = np.arange(250) / -250 - 1.0
    longer = np.hstack([relevance, np.ones((8, 250))]), np.hstack([scores, np.tile(below, (8, 1))])
    few, many = measured(relevance, scores, None, names), measured(*longer, None, names)
    assert (few[str(names[0])].n_relevant <= 192).all()
    assert (many[str(names[0])].n_relevant > 192).all()
    cut = few["dcg@4"].n_documents[0] >= 9
    for spec in names:
        if (cut or spec.options["k"] <= 4) and few[str(spec)].n_relevant.all():
            np.testing.assert_allclose(few[str(spec)].values, many[str(spec)].values, rtol=1e-14)


@pytest.mark.parametrize("n_documents", [30, 500])
def test_values_of_long_queries_are_their_definitions(n_documents):
    relevance, scores = ranked_table(3, n_documents, values=None)
    for spec in EVERY:
        expected = [
            reference.value(spec.name, spec.options.get("k"), *own) for own in zip(relevance, scores, strict=True)
        ]
        np.testing.assert_allclose(measured(relevance, scores, None, spec)[str(spec)].values, expected, rtol=1e-12)


# Published figures ----------------------------------------------------------------------------------------------------


def test_figures_of_manning_raghavan_and_schuetze():
    """Introduction to Information Retrieval (2008), exercise 8.8: RRNRNNNRRR? and NRNNRRRNNN?, 4 relevant documents."""
    first, second = [int(mark == "R") for mark in "RNRNNNNNRR"], [int(mark == "R") for mark in "NRNNRRRNNN"]
    names = ["map", "precision@5", "recall@5", "r_precision", "f1@5"]
    found = measured([first, second], -np.tile(np.arange(10), (2, 1)), None, names)
    assert found["map"].values == pytest.approx([(1 + 2 / 3 + 3 / 9 + 4 / 10) / 4, (1 / 2 + 2 / 5 + 3 / 6 + 4 / 7) / 4])
    assert found["map"].values.round(2).tolist() == [0.6, 0.49]
    assert found["precision@5"].values.tolist() == [0.4, 0.4]
    assert found["recall@5"].values.tolist() == [0.5, 0.5]
    assert found["r_precision"].values.tolist() == [0.5, 0.25]
    assert found["f1@5"].values == pytest.approx([4 / 9, 4 / 9])


def test_r_precision_and_f1_of_relevant_documents_that_were_missed():
    """As `Rprec` of trec_eval: 2 hits in 5 ranks for 5 relevant documents; ranx: 2 P R / (P + R) of P 2/3 and R 2/5."""
    relevant = [[1, 0, 1]], [[3, 2, 1]], None
    found = measured(*relevant, ["r_precision", "f1@3", metric("f1_at_k")], n_relevant=[5])
    assert [each.mean for each in found.values()] == [pytest.approx(value) for value in (2 / 5, 1 / 2, 1 / 2)]
    assert measured([[0, 1, 1]], [[1, 1, 0]], None, "r_precision")["r_precision"].mean == 0.5  # both tied are in two
    assert measured([[1, 0]], [[1, 1]], None, "r_precision")["r_precision"].mean == 0.5


def test_figures_of_wikipedia():
    """Discounted cumulative gain (article): relevance 3, 2, 3, 0, 1, 2, and 3 and 2 outside the six."""
    relevance = [3, 2, 3, 0, 1, 2]
    found = measured([relevance], -np.arange(6)[None], None, ["dcg@6", "ndcg@6"])
    assert found["dcg@6"].values.round(3).tolist() == [6.861]
    more = measured([[*relevance, 3, 2]], -np.arange(8)[None], None, ["dcg@6", "ndcg@6"])
    assert more["ndcg@6"].values.round(3).tolist() == [0.785]


def test_figures_of_mcsherry_and_najork():
    """One of two tied documents is relevant: precision at 1 is 1/2, the reciprocal rank (1 + 1 / 2) / 2."""
    found = measured([[1, 0]], [[1, 1]], None, ["precision@1", "mrr", "map", "hit_rate@1", "recall@1"])
    assert [each.mean for each in found.values()] == [0.5, 0.75, 0.75, 0.5, 0.5]


# Invariants -----------------------------------------------------------------------------------------------------------


@FEWER
@given(documents(40), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_threads_matter(rows, random):
    order = list(range(len(rows[0])))
    random.shuffle(order)
    found = measured(*rows, EVERY)
    with num_threads(1):
        shuffled = measured(*([column[i] for i in order] for column in rows), EVERY)
    for name, each in found.items():
        np.testing.assert_allclose(shuffled[name].values, each.values, rtol=1e-14)


@FEWER
@given(documents(60))
def test_values_are_within_bounds_and_a_perfect_order_attains_them(rows):
    relevance, _, queries = rows
    for scores in (rows[1], relevance):
        for name, each in measured(relevance, scores, queries, EVERY).items():
            values = each.values[~np.isnan(each.values)]
            low, high = METRICS[metric(name).name].bounds
            assert (values >= low).all(), name
            assert (values <= high).all(), name
            if scores is relevance and name.partition("@")[0] in ("ndcg", "map", "mrr", "hit_rate") and name != "map@1":
                full = each.n_relevant <= float(name.partition("@")[2] or "inf")
                exact = each.values[(each.n_relevant > 0) & (full | (not name.startswith("map")))]
                assert (exact == 1).all(), name


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float32, np.longdouble, ">f8", bool])
def test_kinds_of_numbers(dtype):
    relevance, scores = ranked_table(30, 20, values=2)
    expected = measured((relevance > 0).astype(int), scores > 0, None, EVERY)
    found = measured((relevance > 0).astype(dtype), (scores > 0).astype(dtype), None, EVERY)
    for name, each in found.items():
        np.testing.assert_array_equal(each.values, expected[name].values)


@pytest.mark.parametrize("low", [2**53, -(2**53) - 2])
def test_integers_past_doubles_are_not_tied(low):
    scores = np.array([[low, low + 1, low + 2]])
    assert measured([[0, 1, 0]], scores, None, "mrr")["mrr"].values == [0.5]
    assert measured([0, 1, 0], scores[0], [5, 5, 5], "mrr")["mrr"].values == [0.5]


def test_zeros_of_either_sign_tie():
    relevance, scores = np.ones((1, 400)), np.where(np.arange(400) % 2, 0.0, -0.0)[None]
    relevance[0, :100] = 0
    found = measured(relevance, scores, None, ["precision@1"])
    assert found["precision@1"].mean == 0.75


@pytest.mark.parametrize(
    "keys",
    [
        list("abca"),
        [1.5, -2.5, 0.0, 1.5],
        [2**60, -5, 7, 2**60],
        np.array(["2026-01-01", "2025-01-01", "2027-01-01", "2026-01-01"], dtype="M8[D]"),
        [True, False, True, True],
    ],
)
def test_queries_may_be_of_any_type(keys):
    found = measured([1, 1, 1, 0], [1, 1, 1, 2], keys, "mrr")["mrr"]
    assert found.queries.tolist() == sorted(set(np.array(keys).tolist()))
    assert [found[key] for key in found.queries] == [0.5 if key == keys[0] else 1.0 for key in found.queries]


# Means, undefined queries ---------------------------------------------------------------------------------------------


def test_queries_without_relevant_documents_are_left_out_and_counted():
    rows = [0, 0, 1, 0, 0, 1], [1, 2, 3, 4, 1, 2], [1, 1, 2, 2, 3, 3]
    names = ["ndcg", "map", "mrr", "recall@1", "hit_rate@1", "precision@1", "dcg@1"]
    said = "ndcg, map, mrr, recall@1, hit_rate@1 is undefined (NaN): 1 of 3 queries have no relevant document"
    with pytest.warns(UndefinedMetricWarning, match=re.escape(said)) as warned:
        found = query_metrics(*rows, names, interval=None)
    assert len(warned) == 1
    assert [each.n_undefined for each in found.values()] == [1] * 5 + [0] * 2
    assert found["mrr"].mean == 0.75
    assert found["precision@1"].mean == pytest.approx(1 / 3)
    as_trec_eval = query_metrics(*rows, names, undefined=0.0, interval=None)
    assert as_trec_eval["mrr"].mean == 0.5
    assert as_trec_eval["mrr"].n_undefined == 0
    with pytest.warns(UndefinedMetricWarning):
        assert math.isnan(query_metrics([0, 0], [1, 2], [1, 1], "map", interval=None)["map"].mean)


def test_the_interval_of_the_mean_is_students():
    from scipy import stats

    relevance, scores = ranked_table(40, 15, values=None)
    found = query_metrics(relevance, scores, None, ["ndcg@5", "dcg@5"])
    for each in found.values():
        expected = stats.ttest_1samp(each.values, 0).confidence_interval(0.95)
        assert each.confidence_interval == pytest.approx((expected.low, expected.high), rel=1e-12)
        assert each.standard_error == pytest.approx(stats.sem(each.values), rel=1e-12)
    drawn = query_metrics(relevance, scores, None, "ndcg@5", interval="bootstrap", rng=0)["ndcg@5"]
    assert drawn.confidence_interval == pytest.approx(found["ndcg@5"].confidence_interval, abs=0.02)


@pytest.mark.parametrize("interval", ["t", "bootstrap"])
def test_intervals_that_say_nothing_warn(interval):
    options: dict[str, Any] = {"metrics": "mrr", "interval": interval, "n_resamples": 99, "rng": 0}
    with pytest.warns(UndefinedMetricWarning, match="mean mrr is undefined .* it needs two queries that have a value"):
        found = query_metrics([1, 0], [1, 2], ["a", "a"], **options)["mrr"]
    assert np.isnan([found.standard_error, *found.confidence_interval]).all()
    with pytest.warns(UndefinedMetricWarning, match="the interval of the mean mrr is degenerate: all values are equal"):
        assert query_metrics(np.eye(3), np.eye(3), **options)["mrr"].confidence_interval == (1, 1)


# Differences ----------------------------------------------------------------------------------------------------------


def test_differences_are_of_the_means_and_their_intervals_of_paired_queries():
    relevance, scores = ranked_table(60, 12, values=None)
    systems = {"old": scores, "new": relevance + scores / 2, "same": scores}
    systems["new"][::3] -= relevance[::3]
    names = ["ndcg@5", "mrr"]
    result = compare_query_metrics(relevance, systems, None, names, reference="old", n_resamples=999, rng=0)
    own = {name: measured(relevance, each, None, names) for name, each in systems.items()}
    for name in names:
        for system, estimate in result[name].estimates.items():
            assert estimate.value == pytest.approx(own[system][name].mean, rel=1e-14)
        new, same = result[name].differences
        assert new.value == pytest.approx(own["new"][name].mean - own["old"][name].mean, rel=1e-12)
        assert (same.value, same.pvalue) == (0, 1)
        error = fastevals.paired_t_test(own["new"][name].values, own["old"][name].values)
        width = np.diff(error.confidence_interval)[0] / 2 / 2.001  # Student's quantile with 59 degrees of freedom
        assert new.standard_error == pytest.approx(width, rel=0.1)
        assert new.confidence_interval.low < new.value < new.confidence_interval.high


def test_a_comparison_takes_rows_in_any_order_and_leaves_out_the_undefined():
    relevance, scores = ranked_table(30, 6, values=4)
    relevance[3] = 0
    keys, order = np.repeat(np.arange(30), 6), np.random.default_rng(0).permutation(180)
    both = np.stack([scores, -scores])
    options = {"metrics": ["map", "precision@2"], "n_resamples": 200, "rng": 3}
    with pytest.warns(UndefinedMetricWarning, match="map is undefined"):
        table = compare_query_metrics(relevance, both, **options)
    with pytest.warns(UndefinedMetricWarning, match="map is undefined"):
        rows = compare_query_metrics(relevance.ravel()[order], both.reshape(2, -1)[:, order], keys[order], **options)
    assert table["map"].differences[0].value == pytest.approx(rows["map"].differences[0].value, rel=1e-12)
    assert table["map"].estimates[0].confidence_interval == pytest.approx(
        rows["map"].estimates[0].confidence_interval, rel=1e-12
    )
    assert table["map"].n_undefined == 0


def test_the_acceleration_of_a_mean_is_that_of_its_jackknife():
    from fastevals.infer.bootstrap.samples import Sample
    from fastevals.many.queries import _QuerySample

    values = np.random.default_rng(0).gamma(1, size=(1, 2, 50))
    values[:, :, 7] = np.nan
    sample = _QuerySample(values)
    closed = sample.closed_form_acceleration(0)
    sample.closed_form_acceleration = lambda metric: None  # type: ignore[method-assign, assignment, return-value]
    open_form = Sample.accelerations(sample, np.uint64(0), [0])[0]
    np.testing.assert_allclose(closed, open_form, rtol=1e-10)


# Names and bad input --------------------------------------------------------------------------------------------------


def test_ends_of_names_are_the_option_k():
    assert str(metric("recall@10")) == str(metric("recall_at_k", k=10)) == "recall@10"
    assert (metric("ndcg@5").name, metric("ndcg@5").options) == ("ndcg", {"k": 5})
    found = measured([1, 0], [1, 2], [1, 1], {"mine": "ndcg@1", "other": metric("ndcg", k=1)})
    assert found["mine"].values == found["other"].values
    with pytest.raises(ValueError, match="metrics must all differ, got 'recall@3' twice"):
        query_metrics([1, 0], [1, 2], [1, 1], ["recall@3", metric("recall_at_k", k=3)])
    with pytest.raises(ValueError, match="k must be given once, got k=3 and 'ndcg@5'"):
        metric("ndcg@5", k=3)
    assert str(metric("ndcg", k=None)) == "ndcg(k=None)"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("recall", "(did you mean 'recall@10'?)"),
        ("roc_auc", "must measure ranked documents: one of 'ndcg', 'dcg', 'map', 'mrr', 'recall@10'"),
        ("ndcg@0", "@ must be followed by a whole number above 0, got 'ndcg@0'"),
        ("ndcg@ten", "@ must be followed by a whole number above 0, got 'ndcg@ten'"),
        ("recip_rank", "(did you mean 'mrr'?)"),
        ("success@5", "(did you mean 'hit_rate'?)"),
        ("P@5", "(did you mean 'precision_at_k'?)"),
        ("r_precision@5", "r_precision@5 has no option k=; it takes none"),
        ("rprec", "(did you mean 'r_precision'?)"),
        ("f1", "(did you mean 'f1@10'?)"),
        (len, "metrics must hold names or metric(...), got"),
        (metric("ndcg", k=0), "k must be an integer"),
        (metric("ndcg", k=2.5), "k must be an integer"),
    ],
)
def test_unknown_metrics(name, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        query_metrics([1, 0], [1, 2], [1, 1], name)


@pytest.mark.parametrize("name", ["ndcg@10", "map", "recall@5"])
def test_other_calls_say_which_call_takes_a_metric_of_queries(name):
    y, s = [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]
    said = rf"{name} measures the ranked documents of queries: pass it to fastevals.query_metrics"
    for call in (
        lambda: fastevals.bootstrap((y, s), name),
        lambda: fastevals.bootstrap(fastevals.Ranking(y, s), name),
        lambda: fastevals.bootstrap_unpaired((y, s), (y, s), name),
        lambda: fastevals.compare_rankings(y, [s, s], metrics=["roc_auc", name]),
        lambda: fastevals.compare_predictions(y, [y, y], metrics=name),
        lambda: fastevals.grouped_metrics(y, s, y, name),
        lambda: fastevals.batch_metrics(y, s, name),
        lambda: fastevals.permutation_test(y, s, s, name),
        lambda: fastevals.evaluate_splits(y, y, fastevals.KFold(2, rng=0), name),
        lambda: fastevals.estimate_error(max, y, y, 2, name),
    ):
        with pytest.raises(ValueError, match=said):
            call()


Y, S, Q = [1, 0, 2], [0.1, 0.2, 0.3], [1, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (
            ([1, -1, 0], S, Q),
            {},
            "y_true must hold relevance, numbers from 0 to 1e+100 with linear gain, got -1 at row 1",
        ),
        (([1, 0, 1e101], S, [2, 1, 1]), {}, "numbers from 0 to 1e+100 with linear gain, got 1e+101 at row 2"),
        (([1, 301, 0], S, [2, 1, 1]), {"gain": "exponential"}, "from 0 to 300 with exponential gain, got 301 at row 1"),
        ((np.array(Y) * np.longdouble(2.0**400), S, Q), {}, "numbers from 0 to 1e+100 with linear gain, got 2.58"),
        (([1, math.nan, 0], S, Q), {}, "y_true must be finite, but has 1 NaN value, the first at row 1"),
        (([1, 0, math.inf], S, Q), {}, "y_true must be finite, but has 1 infinite value, the first at row 2"),
        ((Y, [1, math.nan, 0], Q), {}, "y_score must be finite, but has 1 NaN value, the first at row 1"),
        ((Y, [1, 2, -math.inf], [2, 1, 1]), {}, "y_score must be finite, but has 1 infinite value, the first at row 2"),
        ((Y, S[:2], Q), {}, "y_score must have the shape of y_true, (3,), got (2,)"),
        ((Y, S, Q[:2]), {}, "queries has 2 rows, but y_true has 3"),
        ((Y, S, None), {}, "y_true must be 2-D, a row per query, unless queries is given, got shape (3,)"),
        (([Y], [S], [1]), {}, "y_true must be 1-D"),
        (([[]], [[]], None), {}, "y_true is empty"),
        ((["a", "b", "c"], S, Q), {}, "y_true must hold numbers"),
        ((Y, ["a", "b", "c"], Q), {}, "y_score must hold numbers"),
        ((Y, S, [1, None, 2]), {}, "queries has 1 missing value"),
        ((Y, S, Q), {"gain": "log"}, "gain must be one of 'linear', 'exponential'; got 'log'"),
        ((Y, S, Q), {"undefined": 2}, "undefined must be in [0, 1], got 2"),
        ((Y, S, Q), {"undefined": None}, "undefined must be a number, got None"),
        ((Y, S, Q), {"undefined": np.array([0, 1])}, "undefined must be a number, got"),
        ((Y, S, Q), {"undefined": pd.NA}, "undefined must be a number, got <NA>"),
        ((Y, S, Q), {"interval": "delong"}, "interval must be one of None, 't', 'bootstrap'; got 'delong'"),
        ((Y, S, Q), {"confidence_level": 1}, "confidence_level must be in (0, 1), got 1"),
        ((Y, S, Q), {"n_relevant": {1: 0, 2: 1}}, "n_relevant[1] must count all relevant documents of the query, incl"),
        ((Y, S, Q), {"n_relevant": {1: 1}}, "n_relevant must have every query, but 2 is not in it"),
        ((Y, S, Q), {"n_relevant": {1: 1, 2: 1, 3: 1}}, "n_relevant must have only queries that have rows, got 3"),
        ((Y, S, Q), {"n_relevant": [1, 2]}, "n_relevant must be a mapping of each query to its number"),
        ((Y, S, Q), {"n_relevant": pd.Series([1, 1, 1], [1, 2, 2])}, "n_relevant must have each query once, but has 2"),
        ((Y, S, Q), {"n_relevant": 3}, "to their relevance; if y_true is 2-D, a sequence of these, got 3"),
        ((Y, S, Q), {"n_relevant": {1: 1.5, 2: 1}}, "n_relevant[1] must be an integer, got 1.5"),
        ((Y, S, Q), {"n_relevant": {1: 1, 2: -1}}, "n_relevant[2] must be an integer from 0 to 2147483648, got -1"),
        ((Y, S, Q), {"n_relevant": {1: [1, -2], 2: 2}}, "n_relevant[1] must hold relevance, numbers from 0 to 1e+100"),
        ((Y, S, Q), {"n_relevant": {1: [math.nan], 2: 2}}, "numbers from 0 to 1e+100, got nan"),
        (
            (Y, S, Q),
            {"n_relevant": {1: [1], 2: [1, 1]}},
            "n_relevant[2] must have the relevance of all relevant documents of the query, including those "
            "among its rows: one of relevance 2.0 is missing",
        ),
        (
            (Y, S, Q),
            {"n_relevant": {1: 4, 2: 4}},
            "n_relevant must give the relevance of each relevant document, not their number, because nDCG depends on "
            "it if y_true has relevance other than 0 and 1, such as 2",
        ),
        (([0.5, 0, 1], S, Q), {"n_relevant": {1: 4, 2: 4}}, "relevance other than 0 and 1, such as 0.5"),
        (([Y], [S], None), {"n_relevant": [1, 2]}, "n_relevant must have an entry for each of the 1 queries, got 2"),
    ],
)
def test_bad_input(arguments, options, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        query_metrics(*arguments, **{"interval": None, **options})


def test_the_largest_relevance_leaves_all_finite():
    for gain, largest in (("linear", 1e100), ("exponential", 300)):
        relevance = np.where(np.arange(1000) % 3 > 0, largest, 0)
        found = query_metrics(relevance, np.arange(1000) % 7, np.arange(1000) // 10, ["ndcg@3", "dcg"], gain=gain)
        assert np.isfinite([[*each.values, each.standard_error] for each in found.values()]).all()


def test_other_names_of_the_queries():
    with pytest.raises(TypeError, match=r"did you mean 'queries'\?"):
        query_metrics(Y, S, qid=Q)  # type: ignore[call-arg]


def test_bad_systems():
    for systems, said in (
        ({"a": S}, "y_score must have two models or more to compare, got 1"),
        ({"a": S, "b": S[:2]}, "y_score['b'] must have the shape of y_true, (3,), got (2,)"),
        ({"a": S, "b": [1, 2, math.nan]}, "y_score['b'] must be finite, but has 1 NaN value"),
    ):
        with pytest.raises(ValueError, match=re.escape(said)):
            compare_query_metrics(Y, systems, Q)
    with pytest.raises(ValueError, match="reference"):
        compare_query_metrics(Y, {"a": S, "b": S}, Q, reference="c")


def test_a_query_of_many_documents_and_many_of_one():
    rng = np.random.default_rng(0)
    relevance, scores = (rng.random(70_000) < 0.5).astype(float), rng.random(70_000).round(4)
    found = measured(relevance, scores, np.zeros(70_000, dtype=int), ["ndcg@100", "map", "recall@100"])
    assert found["ndcg@100"].mean == pytest.approx(
        sklearn.metrics.ndcg_score(relevance[None], scores[None], k=100), rel=1e-12
    )
    alone = measured(relevance, scores, np.arange(70_000)[::-1], ["ndcg", "precision@1"])
    assert alone["ndcg"].n_undefined == np.count_nonzero(relevance == 0)
    assert alone["ndcg"].mean == 1
    np.testing.assert_array_equal(alone["precision@1"].values, relevance[::-1])
