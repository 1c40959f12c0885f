from __future__ import annotations

import doctest
import warnings

import numpy as np
import pytest

import fastevals
from fastevals.integrations import duckdb as integration

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def con():
    return integration.register(duckdb.connect())


def rows(n: int, n_groups: int) -> pa.Table:
    rng = np.random.default_rng(0)
    p = rng.integers(0, 50, n) / 50
    y = (rng.random(n) < p).astype(np.int8)
    return pa.table({"g": rng.integers(0, n_groups, n), "y": y, "p": p, "w": rng.integers(0, 4, n)})


def values(con, query: str, table: pa.Table) -> np.ndarray:
    con.register("rows", table)
    found = con.sql(f"SELECT {query} AS it FROM rows GROUP BY g ORDER BY g").fetchall()
    return np.array([np.nan if each is None else each for (each,) in found])


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("call", "metric"),
    [
        ("fe_roc_auc(list(y), list(p))", "roc_auc"),
        ("fe_average_precision(list(y), list(p))", "average_precision"),
        ("fe_log_loss(list(y), list(p * 0.98 + 0.01))", "log_loss"),
        ("fe_mean_squared_error(list(y), list(p))", "mean_squared_error"),
    ],
)
def test_groups_of_several_chunks(con, call, metric) -> None:
    table = rows(40_000, 9_000)
    y, p, g = (table[name].to_numpy() for name in "ypg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        found = fastevals.grouped_metrics(y, p if metric != "log_loss" else p * 0.98 + 0.01, g, metric)
    expected = found[metric].values
    np.testing.assert_allclose(values(con, call, table), expected, rtol=1e-12)


@pytest.mark.slow
def test_a_hundred_thousand_groups(con) -> None:
    table = rows(1_000_000, 100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        expected = fastevals.grouped_auc(*(table[name].to_numpy() for name in "ypg")).values
    np.testing.assert_array_equal(values(con, "fe_roc_auc(list(y), list(p))", table), expected)


def test_weights_queries_and_labels(con) -> None:
    table = rows(500, 20)
    y, p, g, w = (table[name].to_numpy() for name in "ypgw")
    weighted = fastevals.grouped_auc(y, p, g, sample_weight=w).values
    np.testing.assert_array_equal(values(con, "fe_roc_auc(list(y), list(p), list(w))", table), weighted)
    ndcg = fastevals.query_metrics(y, p, g, "ndcg", interval=None)["ndcg"].values
    np.testing.assert_array_equal(values(con, "fe_ndcg(list(y), list(p))", table), ndcg)
    f1 = fastevals.grouped_metrics(y, (p > 0.5).astype(int), g, "f1")["f1"].values
    np.testing.assert_array_equal(values(con, "fe_f1(list(y = 1), list(p > 0.5))", table), f1)


def test_window_filter_and_types(con) -> None:
    con.sql("CREATE OR REPLACE TEMP TABLE t AS SELECT i % 3 AS g, i % 2 AS y, i / 10 AS p FROM range(12) t(i)")
    by_group = dict(con.sql("SELECT g, fe_roc_auc(list(y), list(p)) FROM t GROUP BY g").fetchall())
    over = con.sql("SELECT g, fe_roc_auc(list(y) OVER w, list(p) OVER w) FROM t WINDOW w AS (PARTITION BY g)")
    assert all(by_group[g] == value for g, value in over.fetchall())
    for p in ("p::FLOAT", "p::DECIMAL(4, 1)", "(10 * p)::HUGEINT", "(10 * p)::UTINYINT"):
        for y in ("y::BOOLEAN", "y = 1", "y::DOUBLE", "2 * y - 1", "y::UBIGINT", "y::HUGEINT"):
            query = f"SELECT g, fe_roc_auc(list({y}), list({p})) FROM t GROUP BY g"
            assert dict(con.sql(query).fetchall()) == by_group, (y, p)
    kept = "FILTER (WHERE p > 0.4)"
    (found,) = con.sql(f"SELECT fe_roc_auc(list(y) {kept}, list(p) {kept}) FROM t").fetchall()
    assert found == con.sql("SELECT fe_roc_auc(list(y), list(p)) FROM t WHERE p > 0.4").fetchall()[0]


def test_what_is_undefined_is_null(con) -> None:
    query = """
        SELECT fe_roc_auc(y, p) FROM (VALUES
            ([0, 1], [0.1, 0.2]), ([1, 1], [0.1, 0.2]), ([], []), (NULL, [0.1]), ([0, 1], [0.2, 0.1])
        ) AS t(y, p)
    """
    assert [each for (each,) in con.sql(query).fetchall()] == [1, None, None, None, 0]
    assert con.sql("SELECT fe_roc_auc(NULL::INT[], [0.5])").fetchall() == [(None,)]
    assert con.sql("SELECT fe_roc_auc(list(y), list(p)) FROM (SELECT 1 AS y, 1 AS p) WHERE p > 1").fetchall() == [
        (None,)
    ]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("fe_roc_auc([0, 1], [0.1, NULL])", "y_score has 1 null value: leave such rows out with WHERE"),
        ("fe_roc_auc([0, NULL], [0.1, 0.2])", "y_true has 1 null value"),
        ("fe_roc_auc([0, 1], [0.1, 'nan'::DOUBLE])", "y_score must be finite, but has 1 NaN value"),
        ("fe_roc_auc([0, 1], [0.1])", "y_score must have as many rows in each group as y_true, got 1 and 2"),
        ("fe_roc_auc([0, 1])", "fe_roc_auc takes list.y_true., list.y_score. and optionally list.sample_weight., got"),
        ("fe_roc_auc(0, 1)", "fe_roc_auc takes list.y_true., list.y_score."),
        ("fe_roc_auc([0, 1, 2], [1, 2, 3])", "y_true must have two classes, got 3 labels"),
        ("fe_roc_auc(['a', 'b'], [1, 2])", r"in SQL, pass whether rows are positive, such as list\(y = 'yes'\)"),
        ("fe_roc_auc([0, 1], [1, 2], [1, -1])", "sample_weight must"),
        ("fe_ndcg([0, 1], [1, 2], [1, 1])", "ndcg measures ranked documents, and takes no sample_weight"),
        ("fe_brier_score([0, 1], [1, 2])", "y_score must"),
    ],
)
def test_values_that_are_refused(con, call, said) -> None:
    with pytest.raises(duckdb.InvalidInputException, match=said):
        con.sql(f"SELECT {call}").fetchall()


def test_functions_that_a_user_names() -> None:
    con = integration.register(duckdb.connect(), {"recall_at": fastevals.metric("recall", fpr=0.1), "it": "gini"})
    again = integration.register(con, {"it": "roc_auc"})
    assert again.sql("SELECT recall_at([0, 1], [0.1, 0.9]), it([0, 1], [0.1, 0.9])").fetchall() == [(1, 1)]
    assert again.sql("SELECT it([0, 1, 0], [0.1, 0.5, 0.9])").fetchall() == [(0.5,)]
    with pytest.raises(ValueError, match="metric must be computed from one column of predictions, and crps needs"):
        integration.register(con, {"it": "crps"})
    with pytest.raises(ValueError, match="metric must be one of"):
        integration.register(con, {"it": "roc_acu"})
    with pytest.raises(ValueError, match="metrics must be a mapping of names of functions to metrics, got 'roc_auc'"):
        integration.register(con, "roc_auc")
    with pytest.raises(ValueError, match=r"con must be a connection, such as duckdb.connect\(\), got 'rows.db'"):
        integration.register("rows.db")


def test_arrays_of_fixed_size_and_lists_without_weight(con) -> None:
    arrays = "y::INT[2], p::FLOAT[2]"
    query = f"SELECT fe_roc_auc({arrays}) FROM (VALUES ([0, 1], [1, 2]), (NULL, [1, 2]), ([0, 1], [2, 1])) AS t(y, p)"
    assert con.sql(query).fetchall() == [(1,), (None,), (0,)]
    assert con.sql("SELECT fe_roc_auc([0, 1], [1, 2], [0, 0])").fetchall() == [(None,)]


def test_the_examples() -> None:
    assert doctest.testmod(integration).failed == 0
