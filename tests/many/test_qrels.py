"""Judgments as a table of their own: runs against the definitions, every form of tables, and hostile input."""

from __future__ import annotations

import gzip
import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastevals
from fastevals import Qrels, compare_query_metrics, query_metrics
from tests.many.test_queries import EVERY, measured
from tests.reference import queries as reference
from tests.strategies import FEWER

JUDGED = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1}, "q3": {"d9": 0}}
RUN = {"q1": {"d3": 0.9, "d7": 0.8, "d2": 0.3}, "q3": {"d9": 1.0}, "q9": {"d1": 1.0}}


def table(nested: Any, value: str, names: tuple[str, str] = ("query", "document")) -> dict[str, list[Any]]:
    rows = [(query, document, each) for query, found in nested.items() for document, each in found.items()]
    return dict(zip((*names, value), map(list, zip(*rows, strict=True)), strict=True))


@st.composite
def judged_runs(draw: Any) -> tuple[Any, Any]:
    queries, documents = st.integers(0, 3), st.integers(0, 8)
    pairs = st.tuples(queries, documents)
    grades, scores = st.sampled_from([-2, 0, 0, 1, 2, 3, 0.5]), st.integers(-2, 2)
    found: list[dict[int, dict[int, float]]] = []
    for values in (grades, scores):
        nested: dict[int, dict[int, float]] = {}
        for (query, document), value in draw(st.dictionaries(pairs, values, min_size=1, max_size=14)).items():
            nested.setdefault(query, {})[document] = value
        found.append(nested)
    return found[0], found[1]


@FEWER
@given(judged_runs(), st.sampled_from(["linear", "exponential"]), st.randoms(use_true_random=False))
def test_values_are_the_definitions(judged, gain, random):
    qrels, run = judged
    if not qrels.keys() & run.keys():
        run[next(iter(qrels))] = {0: 1.0}
    rows = pd.DataFrame(table(run, "score")).sample(frac=1, random_state=random.randrange(1000))
    found = measured(Qrels(qrels), rows, metrics=EVERY, gain=gain)
    shuffled = pd.DataFrame(table(qrels, "relevance")).sample(frac=1, random_state=0)
    nested = measured(Qrels(shuffled), run, metrics=EVERY, gain=gain)
    for spec in EVERY:
        metric = found[str(spec)]
        assert metric.queries.tolist() == sorted(qrels)
        np.testing.assert_array_equal(nested[str(spec)].values, metric.values)
        for place, (query, value) in enumerate(metric):
            retrieved = run.get(query, {})
            relevance = [max(qrels[query].get(document, 0), 0) for document in retrieved]
            missed = [max(y, 0) for document, y in qrels[query].items() if document not in retrieved]
            if retrieved:
                k, scores, known = spec.options.get("k"), [*retrieved.values()], [y for y in missed if y]
                expected = reference.value(spec.name, k, relevance, scores, gain, known)
            else:
                expected = 0.0 if any(missed) or spec.name in ("dcg", "precision_at_k") else math.nan
            assert value == pytest.approx(expected, rel=1e-12, nan_ok=True), (spec, query)
            assert metric.n_documents[place] == len(retrieved)
            assert metric.n_judged[place] == len(retrieved.keys() & qrels[query].keys())
            assert metric.n_relevant[place] == sum(y > 0 for y in qrels[query].values())


def test_values_of_trec_eval():
    """`pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)` of pytrec_eval-terrier 0.5.11, without ties."""
    case = json.loads((Path(__file__).parents[1] / "data" / "trec_eval.json").read_text())
    names = {
        "map": "map", "ndcg": "ndcg", "ndcg_cut_10": "ndcg@10", "P_5": "precision@5", "recall_10": "recall@10",
        "recip_rank": "mrr", "Rprec": "r_precision", "success_5": "hit_rate@5", "map_cut_10": "map@10",
        "set_F": fastevals.metric("f1_at_k"),
    }  # fmt: skip
    found = measured(Qrels(case["qrels"]), case["run"], metrics=list(names.values()), undefined=0.0)
    for theirs, ours in names.items():
        for query, values in case["values"].items():
            assert found[str(ours)][query] == pytest.approx(values[theirs], rel=1e-15), (theirs, query)


def trec(path: Path, nested: Any, fields: str, separator: str = " ") -> Path:
    """Write a TREC file; `fields` has a letter per field: q, d, v (value), n (number of the row), or itself."""
    rows = [(query, document, each) for query, found in nested.items() for document, each in found.items()]
    lines = [
        separator.join({"q": q, "d": d, "v": str(v), "n": str(n)}.get(field, field) for field in fields.split())
        for n, (q, d, v) in enumerate(rows)
    ]
    text = "\n".join(lines) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def forms(nested: Any, value: str, folder: Path) -> dict[str, Any]:
    """Return the same judgments or run in every form."""
    columns = table(nested, value)
    fields = "q 0 d v" if value == "relevance" else "q Q0 d n v tag"
    frame = pd.DataFrame(columns)
    frame.to_csv(folder / "rows.csv", index=False)
    pq.write_table(pa.table(columns), folder / "rows.parquet")
    return {
        "nested": nested,
        "columns": columns,
        "pandas": frame,
        "categories": frame.astype({"query": "category", "document": "category"}),
        "polars": pl.DataFrame(columns),
        "arrow": pa.table(columns),
        "csv": folder / "rows.csv",
        "parquet": str(folder / "rows.parquet"),
        "trec": trec(folder / "rows.txt", nested, fields),
        "tabs": trec(folder / "rows.tsv", nested, fields, "\t"),
        "spaces": trec(folder / "rows", nested, fields, "   "),
        "gz": trec(folder / "rows.txt.gz", nested, fields),
    }


FORMS = "nested columns pandas categories polars arrow csv parquet trec tabs spaces gz"


@pytest.mark.parametrize("form", FORMS.split())
def test_every_form_is_read(form, tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "run").mkdir()
    qrels = forms(JUDGED, "relevance", tmp_path / "qrels")[form]
    run = forms(RUN, "score", tmp_path / "run")[form]
    expected = measured(Qrels(JUDGED), RUN, metrics=["map", "ndcg@2"])
    found = measured(Qrels(qrels), run, metrics=["map", "ndcg@2"])
    assert found.to_dict() == expected.to_dict()
    assert repr(Qrels(qrels)) == "Qrels(3 queries, 5 judged documents, 3 relevant)"
    assert found["map"].values == pytest.approx([0.5, 0.0, math.nan], nan_ok=True)
    assert found["map"].n_judged.tolist() == [2, 0, 1]


def test_columns_of_any_name():
    """As PyTerrier and BEIR name them."""
    terrier = pd.DataFrame(table(RUN, "score", ("qid", "docno"))).assign(rank=1, tag="bm25")
    qrels = Qrels(table(JUDGED, "label", ("qid", "docno")), query="qid", document="docno", relevance="label")
    assert measured(qrels, terrier, metrics="map")["map"].values[0] == 0.5
    assert (
        measured(qrels, terrier[["qid", "docno", "score"]].rename(columns={"score": "bm25"}), metrics="map")[
            "map"
        ].values[0]
        == 0.5
    )


def test_ids_of_numbers_and_text_are_compared_as_text():
    numbered, written = {301: {7: 1, 8: 0}}, {"301": {"7": 1, "8": 0}}
    run, written_run = {301: {8: 2.0, 7: 1.0}}, {"301": {"8": 2.0, "7": 1.0}}
    for qrels in (numbered, written):
        for each in (run, written_run):
            assert measured(Qrels(qrels), each, metrics="mrr")["mrr"].values.tolist() == [0.5]
    assert measured(Qrels(numbered), run, metrics="mrr")["mrr"][301] == 0.5
    assert measured(Qrels(written), run, metrics="mrr")["mrr"]["301"] == 0.5
    floats = {"query": [301.0, 301.0], "document": np.array([8, 7], dtype=np.uint8), "score": [2, 1]}
    assert measured(Qrels(numbered), floats, metrics="mrr")["mrr"].values.tolist() == [0.5]
    assert measured(Qrels({"301": {"07": 1}}), run, metrics="mrr")["mrr"].values.tolist() == [0.0]


def test_large_scores_are_not_rounded():
    run = {"q1": {"d1": 2**60, "d3": 2**60 + 1}}
    assert measured(Qrels({"q1": {"d1": 1}}), run, metrics="mrr")["mrr"].mean == 0.5


def test_nothing_was_retrieved_for_a_query():
    found = measured(Qrels(JUDGED), RUN, metrics=EVERY)
    for metric in found.values():
        assert metric["q2"] == 0
    assert math.isnan(found["map"]["q3"])
    with pytest.warns(fastevals.UndefinedMetricWarning, match="1 of 3 queries have no relevant document"):
        query_metrics(Qrels(JUDGED), RUN, metrics="map")
    assert query_metrics(Qrels(JUDGED), RUN, metrics="map", undefined=0)["map"].mean == pytest.approx(0.5 / 3)


def test_results_do_not_change_judgments():
    qrels = Qrels(JUDGED)
    found = measured(qrels, RUN, metrics="map")["map"]
    for array in (found.queries, found.n_relevant, qrels.n_relevant, qrels.n_judged):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]


def test_the_frame_has_the_judged_documents():
    frame = measured(Qrels(JUDGED), RUN, metrics="map").to_frame("pandas")
    assert frame["n_judged"].tolist() == [2, 0, 1]
    assert "n_judged" not in measured([1], [2], [3], "map").to_frame("pandas")


def compared(*args: Any, **options: Any) -> Any:
    """Compare few queries without warnings about replicates that are all equal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        return compare_query_metrics(*args, **options)


def test_systems_rank_their_own_documents():
    """Queries are paired; a system that retrieved nothing for a query has 0 there."""
    first = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d5": 1.0, "d1": 0.5}}
    second = {"q1": {"d2": 2.0, "d1": 1.0}}
    qrels = Qrels({"q1": {"d1": 1}, "q2": {"d1": 1}})
    found = compared(qrels, {"a": first, "b": second}, metrics="mrr", n_resamples=99, rng=0)["mrr"]
    assert [each.value for each in found.estimates.values()] == [0.75, 0.25]
    assert found.differences[0].value == 0.5
    frame = pd.DataFrame(table(second, "score")).iloc[::-1]  # its index does not matter
    turned = {"a": pd.DataFrame(table(first, "score")).tail(2), "b": frame}
    assert compared(qrels, turned, metrics="mrr", n_resamples=99)
    systems = {"a": table(first, "score"), "b": frame}
    again = compared(qrels, systems, metrics="mrr", n_resamples=99, rng=0)["mrr"]
    assert again.to_dict() == found.to_dict()
    values = {name: measured(qrels, run, metrics="mrr")["mrr"].values for name, run in systems.items()}
    assert (values["a"] - values["b"]).mean() == 0.5


def test_systems_are_columns_of_one_table():
    rows = {"query": list("aabb"), "document": [1, 2, 1, 3], "old": [1, 2, 1, 2], "new": [2, 1, 2, 1]}
    qrels = Qrels({"a": {1: 1}, "b": {1: 1, 4: 1}})
    options: dict[str, Any] = {"metrics": ["mrr", "recall@1"], "n_resamples": 99, "rng": 0, "reference": "old"}
    found = compared(qrels, rows, **options)
    assert [each.value for each in found["mrr"].estimates.values()] == [0.5, 1.0]
    assert [each.value for each in found["recall@1"].estimates.values()] == [0.0, 0.75]
    assert compared(qrels, pl.DataFrame(rows), **options).to_dict() == found.to_dict()


def test_many_rows_agree_with_rows_in_one_table():
    rng = np.random.default_rng(0)
    n_queries, n_documents = 300, 400
    relevance = rng.choice([0, 1, 2], (n_queries, n_documents), p=[0.9, 0.07, 0.03])
    scores = rng.normal(size=relevance.shape).round(1) + 0.3 * relevance
    judged = rng.random(relevance.shape) < 0.4
    retrieved = rng.random(relevance.shape) < 0.7
    query, document = (each.ravel() for each in np.indices(relevance.shape))
    names = np.char.add("d", document.astype(str))
    qrels = Qrels({"query": query[judged.ravel()], "document": names[judged.ravel()], "relevance": relevance[judged]})
    kept = retrieved.ravel()
    run = {"query": query[kept], "document": names[kept], "score": scores[retrieved]}
    y_true = np.where(judged, relevance, 0)
    known = {k: y_true[k][y_true[k] > 0] for k in range(n_queries)}
    found = measured(qrels, run, metrics=EVERY)
    expected = measured(y_true[retrieved], scores[retrieved], query[kept], EVERY, n_relevant=known)
    for name, metric in expected.items():
        np.testing.assert_allclose(found[name].values, metric.values, rtol=1e-13)
    np.testing.assert_array_equal(found["map"].n_judged, (judged & retrieved).sum(axis=1))


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"query": ["a", "b", "a"], "document": [1, 1, 1], "relevance": [1, 0, 1]},
         "qrels must have each document once per query, but has document 1 of query 'a' at row 0 and row 2"),
        ({"query": ["a", None], "document": [1, 1], "relevance": [1, 0]}, "qrels['query'] "),
        ({"query": ["a", "b"], "document": [1.5, 1], "relevance": [1, 0]},
         "qrels['document'] must be ids, text or whole numbers, got 1.5: convert them to text"),
        ({"query": ["a", "b"], "document": [1, 1], "relevance": [1, math.nan]},
         "qrels['relevance'] must be finite, but has 1 NaN value, the first at row 1"),
        ({"query": ["a", "b"], "document": [1, 1], "relevance": ["x", "y"]}, "qrels['relevance'] must hold numbers"),
        ({"query": ["a"], "document": [1], "label": [1]}, "qrels['relevance']: data has no such column"),
        ({"query": ["a"], "document": [1, 2], "relevance": [1]}, "has 2 rows"),
        ({"a": {}}, "qrels has no documents"),
        ({"a": {"d": math.inf}}, "qrels must be finite, but has 1 infinite value, the first at document 'd' of query"),
        ([[1, 2], [3, 4]], "qrels must be a path"),
        ({}, "qrels has no documents"),
        (Qrels(JUDGED), "qrels must be a table of judgments, got Qrels(3 queries"),
        ("missing.txt", "'missing.txt'"),
    ],
)  # fmt: skip
def test_bad_judgments(data, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        Qrels(data)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({"query": ["q1", "q1"], "document": ["d1", "d1"], "score": [1, 2]},
         "y_score must have each document once per query, but has document 'd1' of query 'q1' at row 0 and row 1"),
        ({"query": ["q0", "q1", "q1"], "document": ["d1", "d1", "d1"], "score": [1, 2, 3]}, "at row 1 and row 2"),
        ({"query": ["Q1"], "document": ["d1"], "score": [1]},
         "y_score must have queries that are judged, but has 'Q1', and the qrels have 'q1', 'q2', 'q3'"),
        ({"query": ["q1"], "document": ["d1"], "score": [math.nan]}, "y_score['score'] must be finite"),
        ({"query": ["q1"], "document": ["d1"], "a": [1], "b": [2]},
         "y_score must have a column 'score', or only one column besides 'query', 'document', got 'a', 'b'"),
        ({"query": ["q1"], "document": ["d1"]}, "got none"),
        ({"qid": ["q1"], "document": ["d1"], "score": [1]}, "y_score['query']: data has no such column"),
        (None, "y_score must be a path"),
        ({}, "y_score has no documents"),
        (Qrels(JUDGED), "y_score must be a run, got Qrels(3 queries"),
        ("missing.run", "'missing.run': no such file"),
    ],
)  # fmt: skip
def test_bad_runs(run, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        query_metrics(Qrels(JUDGED), run)


def test_bad_files(tmp_path):
    def written(text: str) -> Path:
        path = tmp_path / "file.txt"
        path.write_text(text)
        return path

    for text, said in (
        (
            "q1 0 d1 1\nq1 0 d2\n",
            "must have 4 fields in each line (query iteration document relevance), got 'q1 0 d2'",
        ),
        ("q1 0 d1 1\n\nq1 0 d2 one\n", "got 'q1 0 d2 one' in line 3"),
        ("q1 Q0 d1 1 2.5 tag\n", "must hold judgments (query iteration document relevance), but holds a run"),
        ("q1 0 d1 1\nq2 0 d1 1\nq1 0 d1 0\n", "document 'd1' of query 'q1' at line 1 and line 3"),
        ("\nq1 0 d1 1\n\nq1 0 d1 0\n", "document 'd1' of query 'q1' at line 2 and line 4"),
        ("q1 0 d1 1\n\nq1 0 d2 nan\n", "the first at line 3"),
        ("", "is empty"),
        ("query,document,relevance\n", "in line 1; the name of a CSV file must end with .csv or .tsv"),
        ("# judgments\nq1 0 d1 1\n", "got '# judgments' in line 1"),
        (
            "q1 d1 1\n",
            "must have 4 fields in each line (query iteration document relevance), got 'q1 d1 1' in line 1",
        ),
    ):
        with pytest.raises(ValueError, match=re.escape(said)):
            Qrels(written(text))
    with pytest.raises(ValueError, match="must hold a run"):
        query_metrics(Qrels(JUDGED), written("q1 0 d1 1\n"))


def test_what_does_not_go_with_judgments():
    qrels = Qrels(JUDGED)
    for name, value in (("queries", ["q1"]), ("n_relevant", {"q1": 2})):
        with pytest.raises(ValueError, match=f"{name} must be None if y_true is Qrels"):
            query_metrics(qrels, RUN, **{name: value})
    with pytest.raises(ValueError, match=r"with exponential gain, got 301.* at document 'd1' of query 'q2'"):
        query_metrics(Qrels({"q2": {"d1": 301, "a": 1}, "q1": {"d1": 1}}), RUN, gain="exponential")
    with pytest.raises(
        ValueError, match=re.escape("y_true must be an array, or judgments as fastevals.Qrels(...), got")
    ):
        query_metrics(JUDGED, RUN)
    with pytest.raises(ValueError, match="y_score must have two models or more to compare, got 1"):
        compare_query_metrics(qrels, {"a": RUN})
    with pytest.raises(ValueError, match=re.escape("y_score['b']")):
        compare_query_metrics(qrels, {"a": RUN, "b": {"x": {"d1": 1.0}}})
