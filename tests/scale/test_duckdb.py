"""Rankings of DuckDB's rows: bounds contain the value of all rows, and rows that can't be counted are named."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest

from fastevals import Ranking, bootstrap, report
from fastevals.scale import Certified, parquet
from fastevals.scale import duckdb as fastevals_duckdb

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

SCORES = {
    "uniform": lambda rng, n: rng.random(n),
    "skewed": lambda rng, n: rng.beta(0.5, 8, n),
    "rare": lambda rng, n: rng.lognormal(-12, 4, n),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "float32": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "an atom": lambda rng, n: np.where(rng.random(n) < 0.9, 0.25, rng.random(n)),
    "extremes": lambda rng, n: rng.choice([-1.7e308, 1.7e308, 5e-324, 0.0, -0.0, 1.0, 1 + 2**-52], n),
}


def connected(**columns: Any) -> Any:
    con = duckdb.connect()
    con.register("given", pa.table(columns))
    con.sql("CREATE TABLE rows AS FROM given")
    return con


def rows(kind: str, n: int = 20_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = SCORES[kind](rng, n)
    y = (rng.random(n) < np.argsort(np.argsort(p)) / n * 0.4).astype(int)
    return y, p, rng.integers(0, 3, n)


def contains(found: Any, exact: float) -> bool:
    if isinstance(found, Certified):
        return found.low <= exact <= found.high
    return found == pytest.approx(exact, abs=1e-15)


def width(found: Any) -> float:
    return found.high - found.low if isinstance(found, Certified) else 0.0


@pytest.mark.cases(3)
@pytest.mark.parametrize("cells", [64, 4_096])
@pytest.mark.parametrize("kind", SCORES)
def test_bounds_contain_the_value_of_all_rows(kind: str, cells: int) -> None:
    y, p, w = rows(kind)
    con = connected(y=y, p=p, w=w)
    exact = Ranking(y, p)
    found = fastevals_duckdb.ranking("rows", label="y", score="p", con=con, cells=cells)
    assert contains(found.roc_auc(), exact.roc_auc())
    assert contains(found.average_precision(), exact.average_precision())
    if kind != "extremes":  # seven scans don't separate 5e-324 from 1 where scores reach 1e308
        assert width(found.roc_auc()) <= 4 / cells
    assert (found.n_positives, found.n_negatives) == (exact.n_positives, exact.n_negatives)
    copies = fastevals_duckdb.ranking("rows", label="y", score="p", con=con, cells=cells, frequency_weight="w")
    assert contains(copies.roc_auc(), Ranking(np.repeat(y, w), np.repeat(p, w)).roc_auc())


def test_few_distinct_scores_are_exact() -> None:
    y, p, _ = rows("uniform")
    con = connected(y=y, p=p.round(2), q=-p.round(3))
    found = fastevals_duckdb.ranking("rows", label="y", score=["p", "q"], con=con)
    assert {name: each.roc_auc() for name, each in found.items()} == {
        "p": Ranking(y, p.round(2)).roc_auc(), "q": Ranking(y, -p.round(3)).roc_auc(),
    }  # fmt: skip


def test_counts_at_thresholds_are_exact() -> None:
    y, p, _ = rows("skewed")
    found = fastevals_duckdb.ranking("rows", label="y", score="p", con=connected(y=y, p=p), cells=64, at=[0.03, 0.5])
    for threshold in (0.03, 0.5):
        expected = Ranking(y, p).confusion_at(threshold).counts
        np.testing.assert_array_equal(found.confusion_at(threshold).counts, expected)


def test_a_relation_a_table_a_query_and_a_stream_agree() -> None:
    y, p, _ = rows("uniform")
    con = connected(y=y, p=p)
    relation = con.table("rows")
    expected = fastevals_duckdb.ranking_summary(relation, label="y", score="p")
    for data, given in ((relation.filter("true"), {}), ("rows", {"con": con}), ("SELECT p, y FROM rows", {"con": con})):
        found = fastevals_duckdb.ranking_summary(data, label="y", score="p", **given)
        assert found.ranking().roc_auc() == expected.ranking().roc_auc()
    stream = parquet.ranking(relation.to_arrow_table(), label="y", score="p").roc_auc()
    assert contains(expected.ranking().roc_auc(), stream)
    assert con.sql("SHOW TABLES").fetchall() == [("given",), ("rows",)]
    estimate = bootstrap(expected, "roc_auc", n_resamples=99, rng=0)["roc_auc"]
    assert contains(expected.ranking().roc_auc(), estimate.value)


def test_a_relation_of_a_variable_of_python() -> None:
    y, p, _ = rows("skewed", 2_000)
    con, frame = duckdb.connect(), pa.table({"y": y, "p": p})
    relation = con.sql("SELECT y, p FROM frame WHERE p > 0")
    found = fastevals_duckdb.ranking(relation, label="y", score="p", cells=64)
    assert (found.n_positives, found.n_negatives) == (np.count_nonzero(frame["y"]), np.count_nonzero(y == 0))


def test_reports_read_relations() -> None:
    y, p, _ = rows("uniform", 500)
    con = connected(y=y, p=p)
    found = report(con.table("rows"), label="y", score="p", n_resamples=0).to_dict()
    assert found["blocks"][0]["models"][0]["metrics"]["roc_auc"] == Ranking(y, p).roc_auc()


@pytest.mark.parametrize(
    ("label", "pos_label"),
    [
        ("y = 1", None),
        ("2 * y - 1", None),
        ("y::DOUBLE", None),
        ("y::DECIMAL(3, 1)", None),
        ("y::HUGEINT", None),
        ("CASE y WHEN 1 THEN 'it''s' ELSE 'no' END", "it's"),
        ("(CASE y WHEN 1 THEN 'yes' ELSE 'no' END)::ENUM('no', 'yes')", "yes"),
        ("4 - y", 3),
    ],
)
def test_types_of_labels(label: str, pos_label: Any) -> None:
    y, p, _ = rows("uniform", 1_000)
    query = f"SELECT {label} AS y, p FROM rows"
    found = fastevals_duckdb.ranking(query, label="y", score="p", con=connected(y=y, p=p), pos_label=pos_label)
    assert contains(found.roc_auc(), Ranking(y, p).roc_auc())


@pytest.mark.parametrize("score", ["p::FLOAT", "p::DECIMAL(9, 2)", "(9 * p)::BIGINT", "(9 * p)::UTINYINT", "p > 0.5"])
def test_types_of_scores(score: str) -> None:
    y, p, _ = rows("uniform", 1_000)
    con = connected(y=y, p=p.round(2))
    found = fastevals_duckdb.ranking(f"SELECT y, {score} AS s FROM rows", label="y", score="s", con=con).roc_auc()
    (s,) = con.sql(f"SELECT ({score})::DOUBLE AS s FROM rows").fetchnumpy().values()
    assert found == Ranking(y, s).roc_auc()


@pytest.mark.filterwarnings("error")
def test_scores_of_all_magnitudes() -> None:
    con = connected(y=np.array([0, 1, 0, 1]), p=np.array([-1.7e308, 1.7e308, 0.0, 5e-324]))
    assert contains(fastevals_duckdb.ranking("rows", con=con, label="y", score="p").roc_auc(), 1.0)


def test_a_quoted_name_of_a_table() -> None:
    con = duckdb.connect()
    con.sql('CREATE TABLE "some rows" AS SELECT i % 2 AS y, i AS p FROM range(4) AS t(i)')
    for name in ('"some rows"', 'main."some rows"'):
        assert fastevals_duckdb.ranking(name, con=con, label="y", score="p").roc_auc() == 0.75


def test_names_of_columns_are_quoted() -> None:
    con = duckdb.connect()
    query = 'SELECT i % 2 AS "a ""b""", i % 5 AS "select" FROM range(10) AS t(i)'
    assert fastevals_duckdb.ranking(query, label='a "b"', score="select", con=con).roc_auc() == 0.5


BAD = [
    ("SELECT NULL::INT AS y, 1.0 AS p UNION ALL SELECT 1, 2", "on_missing_label", "column 'y' is NULL or NaN in 1 "),
    ("SELECT 'nan'::DOUBLE AS y, 1.0 AS p UNION ALL SELECT 1, 2", "on_missing_label", "column 'y' is NULL or NaN"),
    ("SELECT 1 AS y, NULL::INT AS p UNION ALL SELECT 1, 2", "on_invalid", "column 'p' is NULL, NaN or infinite"),
    ("SELECT 1 AS y, unnest(['nan', 'inf', '2'])::DOUBLE AS p", "on_invalid", "column 'p' is NULL, NaN or inf"),
]


@pytest.mark.parametrize(("query", "option", "said"), BAD)
def test_rows_that_can_not_be_counted(query: str, option: str, said: str) -> None:
    con = duckdb.connect()
    with pytest.raises(ValueError, match=f"{said}.*{option}='drop' leaves such rows out"):
        fastevals_duckdb.ranking(query, label="y", score="p", con=con)
    found = fastevals_duckdb.ranking(query, label="y", score="p", con=con, **{option: "drop"})
    assert (found.n_positives, found.n_negatives) == (1, 0)


def test_copies_that_are_none() -> None:
    con, given = duckdb.connect(), {"label": "y", "score": "p", "frequency_weight": "w"}
    query = "SELECT * FROM (VALUES (1, 0.5, 2), (0, 0.25, {})) AS t(y, p, w)"
    with pytest.raises(ValueError, match="column 'w' must hold numbers of copies, whole and at least 0: 1 rows do not"):
        fastevals_duckdb.ranking(query.format("-1"), con=con, **given)
    with pytest.raises(ValueError, match="column 'w' must hold numbers of copies"):
        fastevals_duckdb.ranking(query.format("1.5"), con=con, **given)
    with pytest.raises(ValueError, match="column 'w' is NULL, NaN or infinite in 1 row"):
        fastevals_duckdb.ranking(query.format("NULL"), con=con, **given)
    found = fastevals_duckdb.ranking(query.format("NULL"), con=con, **given, on_invalid="drop")
    assert (found.n_positives, found.n_negatives) == (2, 0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"label": "q"}, "label 'q' is not a column of data"),
        ({"score": ["p", "q"]}, "score 'q' is not a column of data"),
        ({"score": "s"}, "column 's' must hold numbers, got VARCHAR"),
        ({"label": "s"}, "column 's' has the labels '0', '1': pos_label must say which is positive"),
        ({"label": "w"}, "column 'w' must have two classes, got 3 labels: 0, 1, 2"),
        ({"pos_label": 7}, "pos_label must be a label of column 'y'"),
        ({"score": "big"}, "column 'big' must hold numbers that float64 holds exactly, got 9007199254740995"),
        ({"cells": 0}, "cells must be an integer from 1"),
        ({"at": "x"}, "at must hold numbers"),
        ({"on_invalid": "x"}, "on_invalid must be one of 'raise', 'drop'; got 'x'"),
        ({"data": 3}, "data must be a relation of DuckDB, the name of a table or a query, got 3"),
        ({"score": "-big"}, "column '-big' must hold numbers that float64 holds exactly, got -9007199254740995"),
        ({"frequency_weight": "huge"}, r"column 'huge' must add up to at most 2\*\*53, got 1e\+17"),
        ({"data": ""}, "data must be the name of a table, or a query that returns rows, got ''"),
        ({"data": "t", "con": "rows.db"}, r"con must be a connection, such as duckdb.connect\(\), got 'rows.db'"),
        ({"con": duckdb.connect()}, "con goes with the name of a table or a query"),
    ],
)
def test_arguments_that_are_refused(given: dict[str, Any], said: str) -> None:
    con = duckdb.connect()
    relation = con.sql(
        "SELECT i % 2 AS y, i / 10 AS p, (i % 2)::VARCHAR AS s, i % 3 AS w, 9007199254740986 + i AS big, "
        '-9007199254740986 - i AS "-big", 10::BIGINT ** 16 AS huge '
        "FROM range(10) AS t(i)"
    )
    with pytest.raises(ValueError, match=said):
        fastevals_duckdb.ranking(**{"data": relation, "label": "y", "score": "p"} | given)


def test_rows_that_change_between_scans_are_noticed() -> None:
    con = duckdb.connect()
    relation = con.sql("SELECT i % 2 AS y, exp(20 * random()) AS p FROM range(100000) AS t(i)")
    with pytest.raises(ValueError, match="data has other rows in another scan, as if it were random"):
        fastevals_duckdb.ranking(relation, label="y", score="p", cells=1024)


def test_the_examples() -> None:
    assert doctest.testmod(fastevals_duckdb).failed == 0
