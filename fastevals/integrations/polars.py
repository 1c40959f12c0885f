"""Metrics as expressions of Polars: importing this file registers the namespace `fe` of expressions.

``pl.col("p").fe.roc_auc("y")`` is an aggregation for `select`, `group_by().agg` and `over`, in eager and lazy frames.
All groups are measured in one call of a compiled loop.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fastevals.integrations._packages import load

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from fastevals.measure.metric_specs import MetricSpec
else:
    pl = load("polars", "fastevals.integrations.polars")


@pl.api.register_expr_namespace("fe")
class FastevalsExpressions:
    """Metrics of a column of scores, probabilities, predicted labels or predicted numbers.

    Each metric of the registry is a method: ``pl.col("p").fe.f1("y", threshold=0.3)`` is
    ``pl.col("p").fe.metric(metric("f1", threshold=0.3), "y")``.

    Parameters
    ----------
    predicted : polars.Expr
        One column, named or computed.
    """

    def __init__(self, predicted: pl.Expr) -> None:
        self._predicted = predicted

    def metric(self, metric: Any, y_true: Any, *, sample_weight: Any = None, pos_label: Any = None) -> pl.Expr:
        """Aggregate each group of rows to a metric.

        Parameters
        ----------
        metric : str or `metric(...)`
            A metric of one column of predictions; each group is a query for metrics of ranked documents.
        y_true : str or polars.Expr
            Labels, targets or relevance.
        sample_weight : str or polars.Expr, optional
            Row weights.
        pos_label : label, optional
            The positive class: by default 1 for labels 0/1, -1/1 and booleans.

        Returns
        -------
        polars.Expr
            Float64, one value per group: NaN, without a warning, where the metric is undefined, for example if a class
            is missing. The result is named like the column of predictions.

        Raises
        ------
        ValueError
            If an argument is not as described. Values are checked when the expression is evaluated: Polars then raises
            a ComputeError with the message, for example if there are nulls or NaN.

        Examples
        --------
        >>> import polars as pl
        >>> import fastevals.integrations.polars
        >>> frame = pl.DataFrame({"day": [1, 1, 1, 2, 2], "y": [0, 1, 1, 1, 0], "p": [0.2, 0.9, 0.1, 0.8, 0.3]})
        >>> frame.group_by("day", maintain_order=True).agg(pl.col("p").fe.roc_auc("y")).rows()
        [(1, 0.5), (2, 1.0)]
        """
        from fastevals.integrations._metric import OneMetric
        from fastevals.many.lists import check_metric_of_lists

        spec = OneMetric.read(metric).spec
        check_metric_of_lists(spec, sample_weight=sample_weight, pos_label=pos_label)
        columns = {"y_score": self._predicted, "y_true": y_true, "sample_weight": sample_weight}
        given = {name: _as_column(name, each) for name, each in columns.items() if each is not None}
        lists = pl.struct(**{name: each.implode() for name, each in given.items()})
        names = {name: each.meta.output_name(raise_if_undetermined=False) or name for name, each in given.items()}
        measured = lists.map_batches(
            partial(_measure, spec, pos_label, names), return_dtype=pl.Float64, is_elementwise=True
        )
        return measured.alias(names["y_score"])

    def __getattr__(self, name: str) -> Callable[..., pl.Expr]:
        """Return the method of a metric; its options are keywords."""
        from fastevals.measure.metric_specs import METRIC_ALIASES
        from fastevals.measure.registry import METRICS

        if name not in METRICS and name not in METRIC_ALIASES:
            raise AttributeError(f"fe has no metric {name!r}: dir(fe) lists the names, and fe.metric takes metric(...)")
        return partial(self._named, name)

    def __dir__(self) -> list[str]:
        from fastevals.measure.registry import METRICS

        return sorted({*super().__dir__(), *METRICS})

    def _named(
        self, name: str, y_true: Any, *, sample_weight: Any = None, pos_label: Any = None, **options: Any
    ) -> pl.Expr:
        from fastevals.measure.metric_specs import metric

        return self.metric(metric(name, **options), y_true, sample_weight=sample_weight, pos_label=pos_label)


def _as_column(name: str, column: Any) -> pl.Expr:
    """Return one column as an expression."""
    expression = pl.col(column) if isinstance(column, str) else column
    if not isinstance(expression, pl.Expr):
        raise ValueError(f"{name} must be the name of a column or an expression, got a {type(column).__name__}")
    if expression.meta.has_multiple_outputs():
        raise ValueError(
            f"{name} must be one column, got {expression}: write one expression per column, such as "
            '[pl.col(name).fe.roc_auc("y") for name in names]'
        )
    return expression


def _measure(spec: MetricSpec, pos_label: Any, names: dict[str, str], lists: pl.Series) -> pl.Series:
    """Measure the lists of each row of a column of structs of lists."""
    from fastevals._naming import naming_columns
    from fastevals.many.lists import check_none_missing, check_same_sizes, metric_of_lists

    fields = {name: lists.struct.field(name) for name in names}
    sizes = {name: each.list.len().to_numpy() for name, each in fields.items()}
    has_rows = sizes["y_score"] > 0
    with naming_columns(names, "rows counted group by group" if has_rows.size > 1 else ""):
        check_same_sizes(sizes)
        rows = {name: (each if has_rows.all() else each.filter(has_rows)).explode() for name, each in fields.items()}
        check_none_missing({name: each.null_count() for name, each in rows.items()}, "filter such rows first")
        values = metric_of_lists(
            spec, rows["y_true"], rows["y_score"], sizes["y_score"], sample_weight=rows.get("sample_weight"),
            pos_label=pos_label,
        )  # fmt: skip
    return pl.Series(values)
