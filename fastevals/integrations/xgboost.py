"""Metrics of fastevals for XGBoost, by `xgboost.train` and by its scikit-learn classes, also on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastevals.integrations._metric import OneMetric
    from fastevals.integrations._workers import Workers

MAXIMISED = ("auc", "pre", "map", "ndcg")  # XGBoost's early stopping maximises metrics whose names begin so
GREATER = "prefer_greater_"  # begins so too


def metric(metric: Any, *, name: str | None = None, maximize: bool | None = None) -> XGBoostMetric:
    """Return a metric for `xgboost.train(custom_metric=...)` and for `eval_metric=` of XGBoost's scikit-learn classes.

    Early stopping goes in the right direction by itself. XGBoost maximises a metric of a user only if its name begins
    with "auc", "pre", "map" or "ndcg", or if it is told ``maximize=True``; a metric that is better when greater is
    therefore named "prefer_greater_roc_auc", say. The attribute `name` has the name under which XGBoost lists values.

    Parameters
    ----------
    metric : str or `fastevals.metric(...)`
        The metric.
    name : str, optional
        Name in XGBoost's results, without blanks and colons. XGBoost must find the direction from it, as above.
    maximize : bool, optional
        Whether you tell XGBoost the direction yourself, by ``maximize=`` of `xgboost.train` or of
        `xgboost.callback.EarlyStopping`. Any name can then be used. It must be the direction of the metric.

    Returns
    -------
    XGBoostMetric

    Raises
    ------
    ValueError
        If there is no such metric, if the name does not tell its direction, or if `maximize` is the wrong direction.
    ImportError
        If XGBoost is missing or too old.

    Notes
    -----
    Weights of rows are used, and by `xgboost.train` the groups of a ranking too: a metric of ranked documents is the
    mean over queries, weighted by their weights. XGBRanker calls a metric query by query and weights queries by their
    numbers of documents, so metrics of ranked documents need `xgboost.train`.

    XGBoost passes probabilities, or margins if the objective is a function; a metric of probabilities then raises an
    error, and a threshold is one of margins. XGBoost keeps six decimals; the attribute `last` has the full value.

    On a cluster, XGBoost averages the metrics of its workers. This metric instead sums counts over the workers, in a
    grid of scores that is the same on all of them, so that every worker returns the same value for all rows. `last` is
    then a `Certified` value, whose bounds always contain the exact one; for an AUC they are at most about 2e-5 apart.
    Metrics of rankings and at thresholds are available, and means over rows or queries.
    """
    from fastevals.integrations._metric import OneMetric
    from fastevals.integrations._packages import load

    load("xgboost", "fastevals.integrations.xgboost")
    read = OneMetric.read(metric)
    is_greater_better = read.direction() if maximize is None else _same_direction(read, maximize)
    if name is None:
        name = "".join(str(read.spec).replace(":", "=").split())
        if is_greater_better and maximize is None:
            name = GREATER + name
    else:
        _check_name(name, read, is_greater_better if maximize is None else None)
    return XGBoostMetric(read, name, is_greater_better)


class XGBoostMetric:
    """A metric that XGBoost can call after each round; see `fastevals.integrations.xgboost.metric`.

    Attributes
    ----------
    name : str
        Name in XGBoost's results.
    maximize : bool
        Whether greater values are better.
    last : float, Certified or None
        The latest value, of the data set that was evaluated last.
    """

    def __init__(self, metric: OneMetric, name: str, maximize: bool) -> None:
        self._metric, self.name, self.maximize = metric, name, maximize
        self.__name__ = name  # what the scikit-learn classes read
        self.last: Any = None

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> Any:
        """Take predictions and a DMatrix, and return name and value; or take labels and predictions, for the value."""
        if not hasattr(second, "get_label"):
            if self._metric.is_of_queries:
                raise ValueError(
                    f"{self._metric.spec} measures ranked documents: it needs the query of each row, which XGBoost's "
                    "scikit-learn classes do not pass; use xgboost.train(custom_metric=...)"
                )
            return self._value(first, second, sample_weight, None)
        sizes = second.get_uint_info("group_ptr")
        rows = second.get_label(), first, second.get_weight()
        return self.name, self._value(*rows, sizes[1:] - sizes[:-1])

    def _value(self, y_true: Any, predicted: Any, weights: Any, sizes: Any) -> float:
        from fastevals.integrations._rounds import value_of_round

        rows = self._metric, y_true, predicted, weights, sizes
        workers = _workers()
        if workers is None:
            self.last = value_of_round(*rows, tool="XGBoost")
        else:
            from fastevals.integrations._workers import value_of_workers

            self.last = value_of_workers(*rows, workers, tool="XGBoost")
        return float(self.last)

    def __repr__(self) -> str:
        return f"XGBoostMetric({self.name})"


def _workers() -> Workers | None:
    """Return how XGBoost's workers exchange arrays; None if this process trains alone."""
    from fastevals.integrations._packages import load

    collective = load("xgboost", "fastevals.integrations.xgboost").collective
    n_workers = collective.get_world_size()
    if n_workers == 1:
        return None
    from fastevals.integrations._workers import Workers

    operations = {"sum": collective.Op.SUM, "max": collective.Op.MAX}
    return Workers(
        collective.get_rank(), n_workers, lambda array, how: collective.allreduce(array, operations[how]),
        collective.broadcast,
    )  # fmt: skip


def _is_maximised(name: str) -> bool:
    """Return whether XGBoost's early stopping maximises a metric of this name if it is not told the direction."""
    return name != "mape" and name.startswith(MAXIMISED)


def _same_direction(metric: OneMetric, maximize: Any) -> bool:
    """Return the direction that the user gives; raise if the metric has the other one."""
    from fastevals._options import as_flag

    given = as_flag("maximize", maximize)
    if metric.greater_is_better not in (None, given):
        raise ValueError(f"maximize must be {not given} for {metric.spec}, got {given}")
    return given


def _check_name(name: Any, metric: OneMetric, is_greater_better: bool | None) -> None:
    """Raise if XGBoost can't use a name, or would maximise or minimise a metric of this name wrongly."""
    from fastevals._options import show

    if not isinstance(name, str) or not name or ":" in name or name.split() != [name]:
        raise ValueError(f"name must be a string without blanks and colons, got {show(name)}")
    if is_greater_better is not None and _is_maximised(name) != is_greater_better:
        rule = "begin" if is_greater_better else "not begin"
        does = "maximises" if is_greater_better else "does not maximise"
        raise ValueError(
            f"name must {rule} with auc, pre, map or ndcg, so that XGBoost {does} {metric.spec}, or maximize="
            f"{is_greater_better} must be passed here and to XGBoost; got {name!r}"
        )
