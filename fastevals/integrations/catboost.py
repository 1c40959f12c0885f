"""Metrics of fastevals for CatBoost's `eval_metric`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastevals.integrations._metric import OneMetric


def metric(metric: Any, *, name: str | None = None) -> CatBoostMetric:
    """Return a metric for ``eval_metric=`` of CatBoost's models and of `catboost.train` and `catboost.cv`.

    CatBoost is told the metric's direction, so that it stops right and keeps the best model.

    Parameters
    ----------
    metric : str or `fastevals.metric(...)`
        The metric. Metrics of ranked documents are refused, because CatBoost does not pass the groups.
    name : str, optional
        Name in CatBoost's results.

    Returns
    -------
    CatBoostMetric

    Raises
    ------
    ValueError
        If there is no such metric, if it has no direction, or if it needs the query of each row.
    ImportError
        If CatBoost is missing or too old.

    Notes
    -----
    Weights of rows are used. CatBoost passes raw values, not probabilities. For metrics of probabilities and at
    thresholds of probabilities, the value of a single output is passed through the logistic function, as for the
    losses Logloss and CrossEntropy, and the values of several classes through softmax, as for MultiClass. With the
    loss MultiClassOneVsAll, which has other probabilities, such metrics differ from those of `predict_proba`. Metrics
    of predicted numbers and of rankings take raw values as they are.
    """
    from fastevals._options import show
    from fastevals.integrations._metric import OneMetric
    from fastevals.integrations._packages import load

    load("catboost", "fastevals.integrations.catboost")
    if name is not None and not (isinstance(name, str) and name and "\0" not in name):
        raise ValueError(f"name must be a string that is not empty and has no null characters, got {show(name)}")
    read = OneMetric.read(metric, name=name)
    if read.is_of_queries:
        raise ValueError(f"{read.spec} measures ranked documents: it needs the query of each row, which CatBoost lacks")
    read.direction()
    return _named(read)


def _named(metric: OneMetric) -> CatBoostMetric:
    """Return the metric as an instance of a class of its name, under which CatBoost lists its values."""
    return type(metric.name, (CatBoostMetric,), {"__module__": __name__})(metric)  # type: ignore[no-any-return]


class CatBoostMetric:
    """A metric that CatBoost can call after each round; see `fastevals.integrations.catboost.metric`.

    Attributes
    ----------
    name : str
        Name in CatBoost's results.
    """

    no_jit = True  # CatBoost would otherwise try to compile the methods with numba

    def __init__(self, metric: OneMetric) -> None:
        self._metric, self.name = metric, metric.name

    def is_max_optimal(self) -> bool:
        """Return whether greater values are better."""
        return self._metric.direction()

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Return the metric, and 1 as the weight that CatBoost divides it by.

        Parameters
        ----------
        approxes : sequence of array-like of shape (n_samples,)
            Raw values: one array, or an array per class.
        target : array-like of shape (n_samples,)
            Labels 0 and 1, numbers of classes, or numbers.
        weight : array-like of shape (n_samples,), or None
            Weights of rows.
        """
        from fastevals.integrations._rounds import link, value_of_round

        return value_of_round(self._metric, target, link(self._metric, approxes), weight, tool="CatBoost"), 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the metric from what `evaluate` returned."""
        return error / weight

    def __deepcopy__(self, memo: Any) -> CatBoostMetric:
        return self  # it never changes, and scikit-learn's clone expects the same object

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self._metric,)

    def __repr__(self) -> str:
        return f"CatBoostMetric({self.name})"
