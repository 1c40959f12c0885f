"""Reports on systems that rank documents: the numbers of the calls, forms of input, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fastevals
from fastevals import Qrels, compare_query_metrics, query_metrics, report
from fastevals.infer.planning.queries import queries_for_difference
from fastevals.show.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")

rng = np.random.default_rng(0)
N, K = 60, 12
QUERY, DOCUMENT = (each.ravel() for each in np.indices((N, K)))
RELEVANCE = rng.choice([0, 1, 2], N * K, p=[0.7, 0.2, 0.1])
RELEVANCE[DOCUMENT == 0] = 1
RELEVANCE[QUERY == 4] = 0
BASE = rng.normal(size=N * K)
ROWS = {
    "query": QUERY, "document": DOCUMENT, "relevance": RELEVANCE,
    "bm25": BASE + RELEVANCE, "dense": BASE + 1.5 * RELEVANCE + 0.2 * rng.normal(size=N * K), "old": BASE,
}  # fmt: skip
OPTIONS: dict[str, Any] = {"queries": "query", "label": "relevance", "score": ["bm25", "dense"], "n_resamples": 199}


def test_numbers_are_those_of_the_calls():
    found = report(ROWS, **OPTIONS)
    values = found.to_dict()
    systems = {name: ROWS[name] for name in ("bm25", "dense")}
    compared = compare_query_metrics(RELEVANCE, systems, QUERY, n_resamples=199, rng=0)
    for name, metric in compared.items():
        for system in values["systems"]:
            assert system["metrics"][name] == pytest.approx(metric.estimates[system["name"]].value, rel=1e-14)
            assert tuple(system["intervals"][name]) == metric.estimates[system["name"]].confidence_interval
        (difference,) = values["differences"]
        assert difference["metrics"][name]["value"] == metric.differences[0].value
        assert tuple(difference["metrics"][name]["interval"]) == metric.differences[0].confidence_interval
        assert difference["metrics"][name]["pvalue"] == metric.differences[0].pvalue
    assert (values["n_queries"], values["n_undefined"], list(compared)) == (
        60,
        1,
        ["ndcg@10", "map", "mrr", "recall@10"],
    )
    text = found.to_text()
    assert "dense's ndcg@10 is higher than bm25's by" in text
    assert "1 of 60 queries has no relevant document and is left out of means" in text
    each = query_metrics(RELEVANCE, ROWS["bm25"], QUERY, "map", interval=None)["map"]
    frame = found.to_frame("pandas")
    np.testing.assert_array_equal(frame[frame["model"] == "bm25"]["map"], each.values)


def test_no_significant_difference_is_said_with_its_interval():
    same = {**ROWS, "dense": ROWS["bm25"] + 1e-3 * rng.normal(size=N * K)}
    text = report(same, **OPTIONS, metric="map").to_text()
    assert "no significant difference from" in text
    assert "95 % interval" in text


def test_one_system_has_intervals_and_no_differences():
    found = report(ROWS, **{**OPTIONS, "score": "bm25"})
    assert found.to_dict()["differences"] == []
    assert found.to_dict()["planned"] == {}
    assert re.match(r"bm25's ndcg@10 is 0\.\d{4} \(95 % interval ", found.to_text().partition("\n\n")[2])


def test_without_intervals():
    found = report(ROWS, **{**OPTIONS, "n_resamples": 0}).to_dict()
    assert found["intervals"] is None
    assert found["systems"][0]["intervals"] == {}
    assert report(ROWS, **{**OPTIONS, "n_resamples": 0}).to_html()


def test_the_reference_is_compared_with_the_others():
    found = report(ROWS, **{**OPTIONS, "score": ["bm25", "dense", "old"], "reference": "old"})
    pairs = [(each["model"], each["reference"]) for each in found.to_dict()["differences"]]
    assert pairs == [("bm25", "old"), ("dense", "old")]
    assert found.systems == ("old", "bm25", "dense")
    assert "Intervals and p-values of differences are simultaneous over the 2 pairs with old" in " ".join(
        found.to_text().split()
    )


def test_files_of_runs_and_judgments(tmp_path, capsys):
    frame = pd.DataFrame(ROWS)
    judged = frame[frame["document"] < 9].query("query < 58")
    lines = [f"{q} 0 {d} {y}" for q, d, y in judged[["query", "document", "relevance"]].itertuples(index=False)]
    (tmp_path / "qrels.txt").write_text("\n".join(lines))
    nested = {}
    for name in ("bm25", "dense"):
        rows = frame[frame["query"] != 7] if name == "dense" else frame
        lines = [f"{q} Q0 {d} 1 {s!r} tag" for q, d, s in zip(rows["query"], rows["document"], rows[name], strict=True)]
        (tmp_path / f"{name}.run.txt").write_text("\n".join(lines))
        nested[name] = (
            rows[["query", "document", name]].rename(columns={name: "score"}).astype({"query": str, "document": str})
        )
    files = [str(tmp_path / f"{name}.run.txt") for name in ("bm25", "dense")]
    flags = ["--qrels", str(tmp_path / "qrels.txt"), "--resamples", "99", "--metric", "map", "--metric", "f1@5"]
    assert main(["report", *files, *flags, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    options: dict[str, Any] = {"n_resamples": 99, "metric": ["map", "f1@5"]}
    qrels = Qrels(judged.astype({"query": str, "document": str}))
    assert report(nested, qrels=qrels, **options).to_dict() | {"data": found["data"]} == found
    assert [each["name"] for each in found["systems"]] == ["bm25", "dense"]
    assert [each["n_queries_without_documents"] for each in found["systems"]] == [0, 1]
    assert [each["n_queries_without_judgments"] for each in found["systems"]] == [2, 2]
    assert found["systems"][0]["n_judged"] == 58 * 9
    expected = query_metrics(qrels, nested["dense"], metrics="map", interval=None)["map"].mean
    assert found["systems"][1]["metrics"]["map"] == expected
    said = " ".join(found["cautions"])
    assert "dense has no documents for 1 judged query, where its metrics are 0" in said
    assert "2 queries of bm25 have no judgments and are left out" in said
    assert "25 % of the documents of bm25 have no judgment and count as not relevant" in said


def test_columns_of_one_table_with_judgments_of_another(tmp_path):
    frame = pd.DataFrame(ROWS).rename(columns={"query": "qid", "document": "doc"})
    frame[["qid", "doc", "relevance"]].to_csv(tmp_path / "qrels.csv", index=False)
    frame[["qid", "doc", "bm25", "dense"]].to_csv(tmp_path / "runs.csv", index=False)
    columns = {"queries": "qid", "document": "doc", "score": ["bm25", "dense"], "n_resamples": 199}
    found = report(tmp_path / "runs.csv", qrels=tmp_path / "qrels.csv", **columns).to_dict()
    plain = report(ROWS, **OPTIONS).to_dict()
    for one, other in zip(found["systems"], plain["systems"], strict=True):
        assert one["metrics"] == pytest.approx(other["metrics"])


@pytest.mark.slow
def test_pages_markdown_and_folders(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    flags = ["--queries", "query", "--label", "relevance", "--score", "bm25", "--score", "dense", "--resamples", "99"]
    assert main(["report", str(path), *flags, "--out", str(tmp_path / "out"), "--html", str(tmp_path / "a.html")]) == 0
    assert {"report.json", "report.txt", "differences.png", "intervals.png"} <= {
        each.name for each in (tmp_path / "out").iterdir()
    }
    page = (tmp_path / "a.html").read_text()
    assert "Differences of systems" in page
    capsys.readouterr()
    assert main(["report", str(path), *flags, "--format", "markdown"]) == 0
    assert "| bm25 |" in capsys.readouterr().out


def test_queries_are_planned_for_the_leading_pair():
    found = report(ROWS, **OPTIONS)
    values = [
        query_metrics(RELEVANCE, ROWS[name], QUERY, "map", interval=None)["map"].values for name in OPTIONS["score"]
    ]
    differences = (values[1] - values[0])[~np.isnan(values[0])]
    planned = found.to_dict()["planned"]["map"]
    expected = (1.959964 + 0.841621) ** 2 * differences.var(ddof=1) / 0.01**2
    assert planned["n_queries"] == pytest.approx(expected, abs=1)
    assert planned["interval"][0] < planned["n_queries"] < planned["interval"][1]
    assert "To show a true difference of 0.01 in ndcg@10 between dense and bm25" in " ".join(found.to_text().split())


@pytest.mark.slow
def test_the_planned_queries_have_the_power():
    """Of 2,000 samples of the planned size, about 80 % show the difference (standard error 0.9 %)."""
    generator = np.random.default_rng(1)

    def draw(*shape: int) -> Any:
        values = np.clip(generator.standard_t(5, shape) * 0.1, -1, 1)
        return np.where(generator.random(shape) < 0.3, 0.0, values)

    deviation = draw(1_000_000).std()
    pilot = draw(1000)
    planned = queries_for_difference(pilot * deviation / pilot.std(ddof=1), 0.01)
    assert planned is not None
    samples = draw(2000, planned.n) + 0.01
    margins = 1.96 * samples.std(axis=1, ddof=1) / np.sqrt(planned.n)
    assert (samples.mean(axis=1) - margins > 0).mean() == pytest.approx(0.8, abs=0.04)


def test_systems_that_never_differ_need_no_plan():
    assert queries_for_difference(np.zeros(9), 0.01) is None
    assert report({**ROWS, "dense": ROWS["bm25"]}, **OPTIONS).to_dict()["planned"] == {}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": np.array([1, 2])}, "by does not go with queries"),
        ({"metric": []}, "metrics is empty"),
        ({"by": "document"}, "by does not go with queries: a report on ranked documents"),
        ({"threshold": 0.5}, "threshold does not go with queries"),
        ({"queries": None}, "metric goes with ranked documents (queries or qrels)"),
        ({"document": "document"}, "document goes with qrels: judgments in a table of their own"),
        ({"label": None}, "label is missing: it names the column of labels; qrels names judgments in a table of"),
        ({"score": None}, "score is missing"),
        ({"queries": "relevance"}, "columns must have one role each"),
        ({"queries": "nowhere"}, "queries 'nowhere': data has no such column"),
        ({"metric": "roc_auc"}, "metrics must measure ranked documents"),
        ({"reference": "other"}, "reference must be one of 'bm25', 'dense'"),
        ({"n_resamples": 3}, "n_resamples must be at least"),
        ({"label": "bm25", "score": ["dense", "old"]}, "label 'bm25' must hold relevance, numbers from 0 to 1e+100"),
    ],
)
def test_bad_options(options, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        report(ROWS, **{**OPTIONS, "metric": "map", **options})


def test_a_report_on_scores_refuses_their_options():
    with pytest.raises(ValueError, match="metric goes with ranked documents"):
        report({"y": [0, 1], "s": [1, 2]}, label="y", score="s", metric="map")
    with pytest.raises(ValueError, match="queries goes with a FILE of ranked documents"):
        report(queries="query")


def test_few_queries_are_cautioned_about():
    few = {name: each[:120] for name, each in ROWS.items()}
    assert any("there are only 9 queries" in each for each in report(few, **OPTIONS).to_dict()["cautions"])


def test_options_may_be_arrays():
    asked = {**OPTIONS, "score": np.array(OPTIONS["score"]), "metric": np.array(["map", "mrr"])}
    assert report(ROWS, **asked).means == report(ROWS, **{**OPTIONS, "metric": ["map", "mrr"]}).means


def test_one_query_without_documents_or_judgments_is_cautioned_about():
    run = {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}
    cautions = report({"a": run}, qrels={"q1": {"d1": 1}, "q3": {"d1": 1}}, n_resamples=99).cautions()
    assert "a has no documents for 1 judged query, where its metrics are 0" in cautions
    assert "1 query of a has no judgments and is left out" in cautions


def test_qrels_name_their_columns():
    qrels = Qrels(ROWS)
    for each in ("queries", "document", "label"):
        with pytest.raises(ValueError, match=f"{each} does not go with Qrels, which name their columns, got 'query'"):
            report(ROWS, score="bm25", qrels=qrels, **{each: "query"})


def test_only_metrics_within_0_and_1_are_planned():
    names = {"map of dcg": "dcg@5", "dcg of map": "map"}
    assert list(report(ROWS, **{**OPTIONS, "metric": names}).planned) == ["dcg of map"]
    large = {**ROWS, "relevance": RELEVANCE * 1e9}
    assert list(report(large, **{**OPTIONS, "metric": names}).planned) == ["dcg of map"]


def test_one_query_has_no_intervals():
    one = {name: each[:K] for name, each in ROWS.items()}
    found = report(one, **OPTIONS)
    assert found.comparison is None
    assert found.cautions() == ["intervals need 2 queries with relevant documents or more, got 1"]
    assert "bm25 has the highest" in found.to_text() or "dense has the highest" in found.to_text()


def test_queries_without_relevant_documents_count_in_precision():
    def caution(*metrics: str) -> str:
        found = report(ROWS, **{**OPTIONS, "metric": metrics})
        assert all(values["precision@5"] > 0 for values in found.means.values())
        return found.cautions()[0]

    assert caution("precision@5") == "1 of 60 queries has no relevant document and counts as 0 in precision@5"
    assert caution("map", "precision@5", "dcg@5") == (
        "1 of 60 queries has no relevant document and is left out of means, but counts as 0 in precision@5 and dcg@5"
    )
    few = {**ROWS, "relevance": np.where(QUERY < 3, 0, RELEVANCE)}
    assert report(few, **OPTIONS).cautions()[0] == "4 of 60 queries have no relevant document and are left out of means"


def test_each_system_has_a_run_and_a_name(tmp_path):
    run = {"q1": {"d1": 1.0}, "q2": {"d1": 1.0, "d2": 2.0}}
    options: dict[str, Any] = {"qrels": {"q1": {"d1": 1}, "q2": {"d1": 1}}, "metric": "mrr", "n_resamples": 99}
    assert report([run, run], **options).systems == ("0", "1")
    for empty in ({}, []):
        with pytest.raises(ValueError, match="data must have a run for each system, with different names, got none"):
            report(empty, **options)
    with pytest.raises(ValueError, match="with different names, got 1, '1'"):
        report({1: run, "1": run}, **options)
    file = tmp_path / "bm25.run"
    file.write_text("q1 Q0 d1 1 2.5 tag\nq2 Q0 d1 1 1.5 tag\n")
    with pytest.raises(ValueError, match=r"each FILE must be another run, but '.*bm25.run' is given 2 times"):
        report([file, str(file)], **options)
    with pytest.raises(ValueError, match=r"separator goes with a CSV file, but '.*bm25.run' is in TREC's form"):
        report(file, separator=";", **options)


def test_no_query_has_a_relevant_document():
    none = {**ROWS, "relevance": np.zeros(N * K)}
    found = report(none, **OPTIONS)
    assert "No query has a relevant document, so ndcg@10 is undefined." in found.to_text()
    assert found.to_dict()["systems"][0]["metrics"]["map"] is None
    found.to_html()


def test_trec_runs_have_no_other_scores(tmp_path):
    run = tmp_path / "bm25.txt"
    run.write_text("q1 Q0 d1 1 2.5 tag\nq2 Q0 d1 1 1.5 tag\n")
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    with pytest.raises(ValueError, match=r"score names columns, but .* is in TREC's form"):
        report(run, qrels=qrels, score="bm25")
    with pytest.raises(ValueError, match="of 2 files, each is one system"):
        report([run, Path(run)], qrels=qrels, score="bm25")
    found = report(run, qrels=qrels, metric="mrr", n_resamples=99)
    assert found.means == {"bm25": {"mrr": 0.5}}
    assert isinstance(found, fastevals.show.report.queries.QueriesReport)
