"""Metrics as functions of DuckDB's SQL: `register` adds them to a connection.

>>> import duckdb
>>> from fastevals.integrations import duckdb as fastevals_duckdb
>>> con = fastevals_duckdb.register(duckdb.connect())
>>> rows = con.sql("FROM (VALUES (1, 0, 0.2), (1, 1, 0.9), (1, 1, 0.1), (2, 1, 0.8), (2, 0, 0.3)) AS t(day, y, p)")
>>> con.sql("SELECT day, fe_roc_auc(list(y), list(p)) AS auc FROM rows GROUP BY day ORDER BY day").fetchall()
[(1, 0.5), (2, 1.0)]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

    from fastevals.measure.metric_specs import MetricSpec

PREFIX = "fe_"
ROWS = ("y_true", "y_score", "sample_weight")


def register(con: duckdb.DuckDBPyConnection, metrics: Mapping[str, Any] | None = None) -> duckdb.DuckDBPyConnection:
    """Add functions to a connection that measure lists of rows: ``fe_roc_auc(list(y), list(p))``.

    With ``GROUP BY``, each call measures all groups of one of DuckDB's chunks (2,048 groups).

    Parameters
    ----------
    con : duckdb.DuckDBPyConnection
        A connection, such as ``duckdb.connect()``.
    metrics : mapping of str to str or `metric(...)`, optional
        Functions to add or to replace, by name. By default all metrics of one column of predictions that need no
        options, with names such as ``fe_roc_auc``.

    Returns
    -------
    duckdb.DuckDBPyConnection
        The connection. Its functions take a list of labels, targets or relevance, a list of predictions, and optionally
        a list of row weights, all of the same rows. They return a DOUBLE: NULL where the metric is undefined (a class
        is missing) or a list is NULL. The positive class is 1 or true; for other labels, write ``list(y = 'yes')``. For
        metrics of ranked documents, each list is a query.

    Raises
    ------
    ValueError
        If a metric is not as described. Values are checked when a query runs: DuckDB then raises an
        InvalidInputException with the message, for example if there are NULL or NaN values in a list.
    ImportError
        If duckdb or pyarrow is missing, or too old.

    Examples
    --------
    >>> import duckdb
    >>> import fastevals
    >>> from fastevals.integrations import duckdb as fastevals_duckdb
    >>> metrics = {"recall_at_half": fastevals.metric("recall", threshold=0.5)}
    >>> con = fastevals_duckdb.register(duckdb.connect(), metrics)
    >>> con.sql("SELECT recall_at_half([0, 1, 1], [0.2, 0.9, 0.1])").fetchall()
    [(0.5,)]
    """
    from fastevals._options import import_optional, show
    from fastevals.integrations._metric import OneMetric
    from fastevals.integrations._packages import load
    from fastevals.many.lists import check_metric_of_lists, metrics_of_lists

    needed_by = "fastevals.integrations.duckdb"
    module = load("duckdb", needed_by)
    import_optional("pyarrow", f"{needed_by} needs pyarrow: pip install pyarrow")
    if not hasattr(con, "create_function"):
        raise ValueError(f"con must be a connection, such as duckdb.connect(), got {show(con)}")
    if metrics is None:
        specs = {PREFIX + name: spec for name, spec in metrics_of_lists().items()}
    elif not isinstance(metrics, Mapping):
        raise ValueError(f"metrics must be a mapping of names of functions to metrics, got {show(metrics)}")
    else:
        specs = {str(name): OneMetric.read(each).spec for name, each in metrics.items()}
        for spec in specs.values():
            check_metric_of_lists(spec)
    settings: dict[str, Any] = {"return_type": "DOUBLE", "type": "arrow", "null_handling": "special"}
    for name, spec in specs.items():
        try:
            con.create_function(name, _function(name, spec), **settings)
        except module.NotImplementedException:  # there is a function of this name
            con.remove_function(name).create_function(name, _function(name, spec), **settings)
    return con


def _function(name: str, spec: MetricSpec) -> Any:
    """Return a function of lists; it has no annotations, because DuckDB evaluates them."""
    return lambda *columns: _measure(name, spec, *columns)


def _measure(name: str, spec: MetricSpec, *columns: Any) -> Any:
    """Measure the lists of each row of a chunk."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from fastevals.many.lists import check_metric_of_lists, check_none_missing, check_same_sizes, metric_of_lists

    kinds = pa.types.is_list, pa.types.is_fixed_size_list, pa.types.is_null
    if len(columns) not in (2, 3) or not all(any(is_kind(each.type) for is_kind in kinds) for each in columns):
        given = ", ".join(str(each.type) for each in columns)
        raise ValueError(f"{name} takes list(y_true), list(y_score) and optionally list(sample_weight), got ({given})")
    given = pa.table(list(columns), names=ROWS[: len(columns)])
    known = np.logical_and.reduce([each.is_valid().to_numpy() for each in given.columns])
    if not known.any():
        return pa.nulls(known.size, pa.float64())
    lists = given.filter(known)
    sizes = {each: pc.list_value_length(lists[each]).to_numpy() for each in lists.column_names}
    rows = {each: pc.list_flatten(lists[each]) for each in lists.column_names}
    check_same_sizes(sizes)
    check_none_missing({each: array.null_count for each, array in rows.items()}, "leave such rows out with WHERE")
    check_metric_of_lists(spec, sample_weight=rows.get("sample_weight"))
    try:
        values = metric_of_lists(
            spec, rows["y_true"], rows["y_score"], sizes["y_true"], sample_weight=rows.get("sample_weight")
        )
    except ValueError as error:
        if "pos_label" not in str(error):
            raise
        raise ValueError(f"{error}; in SQL, pass whether rows are positive, such as list(y = 'yes')") from None
    found = np.full(known.size, np.nan)
    found[known] = values
    return pa.array(found, mask=np.isnan(found))
