"""Metrics of fastevals for LightGBM, by `lightgbm.train` and by its scikit-learn classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastevals.integrations._metric import OneMetric


def metric(metric: Any, *, name: str | None = None) -> LightGBMMetric:
    """Return a metric for `lightgbm.train(feval=...)` and for `eval_metric=` of LightGBM's scikit-learn classes.

    LightGBM is told the metric's direction, so early stopping stops right.

    Parameters
    ----------
    metric : str or `fastevals.metric(...)`
        The metric.
    name : str, optional
        Name in LightGBM's results. LightGBM puts the values of metrics with equal names into one list, so a metric
        that has the name of one of its own, such as LGBMRanker's "ndcg@5", needs another name.

    Returns
    -------
    LightGBMMetric

    Raises
    ------
    ValueError
        If there is no such metric, or if it has no direction.
    ImportError
        If LightGBM is missing or too old.

    Notes
    -----
    Weights of rows and groups are used. A metric of ranked documents is the mean over queries; if rows have weights, a
    query has the mean weight of its rows, as in LightGBM.

    LightGBM passes probabilities, or raw scores if the objective is a function; a metric of probabilities then raises
    an error, and a threshold is one of raw scores.

    On a cluster, LightGBM computes a metric on each worker's rows only. Measure all rows after the fit, by
    `fastevals.scale.dask`.
    """
    from fastevals._options import show
    from fastevals.integrations._metric import OneMetric
    from fastevals.integrations._packages import load

    load("lightgbm", "fastevals.integrations.lightgbm")
    if name is not None and not (isinstance(name, str) and name):
        raise ValueError(f"name must be a string that is not empty, got {show(name)}")
    return LightGBMMetric(OneMetric.read(metric, name=name))


class LightGBMMetric:
    """A metric that LightGBM can call after each round; see `fastevals.integrations.lightgbm.metric`.

    Attributes
    ----------
    name : str
        Name in LightGBM's results.
    maximize : bool
        Whether greater values are better.
    """

    def __init__(self, metric: OneMetric) -> None:
        self._metric, self.name, self.maximize = metric, metric.name, metric.direction()
        self.__name__ = metric.name

    def __call__(self, first: Any, second: Any, weight: Any = None, group: Any = None) -> tuple[str, float, bool]:
        """Return name, value and direction, from predictions and a Dataset, or from labels, predictions and two more.

        LightGBM's scikit-learn classes pass as many arguments as there are parameters, so also weights and groups.
        """
        from fastevals.integrations._rounds import value_of_round

        rows = first, second, weight, group
        if hasattr(second, "get_label"):
            rows = second.get_label(), first, second.get_weight(), second.get_group()
        return self.name, value_of_round(self._metric, *rows, tool="LightGBM"), self.maximize

    def __repr__(self) -> str:
        return f"LightGBMMetric({self.name})"
