"""Metrics of fastevals as scorers, for scikit-learn's searches and cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastevals.integrations._metric import OneMetric


def scorer(metric: Any, *, pos_label: Any = None) -> MetricScorer:
    """Return a metric as a scorer for scikit-learn's `cross_val_score`, `GridSearchCV` and others.

    Pass it as their argument `scoring`, alone or in a dictionary.

    Parameters
    ----------
    metric : str or `metric(...)`
        Any metric of scores, probabilities, predicted labels or numbers that has a direction, such as
        ``metric("recall", fpr=0.01)``. Metrics of ranked documents are refused: scorers are not given queries.
    pos_label : label, optional
        The positive class of two: by default 1 for labels 0/1, -1/1 and booleans.

    Returns
    -------
    MetricScorer
        A callable that takes a fitted estimator, rows, labels and, optionally, `sample_weight`. It returns the
        metric, negated if smaller is better, as scikit-learn expects.

    Raises
    ------
    ValueError
        If there is no such metric, or if it can't be computed from an estimator's predictions.

    Notes
    -----
    Metrics of scores take `predict_proba` or, without it, `decision_function`, to whose values a threshold then
    applies. Metrics of predicted labels and of numbers take `predict`, and those of predicted labels also work in
    `TunedThresholdClassifierCV`. Columns of several classes are matched by the estimator's `classes_`, so a fold may
    lack a class. With scikit-learn's metadata routing, call ``set_score_request(sample_weight=True)``.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.scorer(fastevals.metric("recall", fpr=0.01))
    scorer(recall(fpr=0.01))
    """
    from fastevals._options import show
    from fastevals.integrations._metric import OneMetric
    from fastevals.measure.kinds import QUANTILES, metric_kind

    read = OneMetric.read(metric)
    if read.is_of_queries:
        raise ValueError(f"metric must not measure ranked documents: scorers are not given queries, got {read.spec}")
    if metric_kind(read.spec) is QUANTILES:
        raise ValueError(f"metric must not be of predicted quantiles, got {read.spec}")
    if not (pos_label is None or isinstance(pos_label, (str, bool, int, float)) or hasattr(pos_label, "dtype")):
        raise ValueError(f"pos_label must be a label, got {show(pos_label)}")
    read.direction()
    return MetricScorer(read, pos_label)


class MetricScorer:
    """A metric as scikit-learn's scorer; see `fastevals.scorer`."""

    def __init__(self, metric: OneMetric, pos_label: Any = None) -> None:
        self._metric, self._pos_label = metric, pos_label
        # What TunedThresholdClassifierCV reads of a scorer.
        self._score_func, self._sign = metric.value, 1 if metric.direction() else -1
        self._kwargs = {"pos_label": pos_label}
        self._request: bool | str | None = None  # of weights, for metadata routing

    def __call__(self, estimator: Any, X: Any, y_true: Any, sample_weight: Any = None) -> float:
        """Return the metric of a fitted estimator's predictions, negated if smaller is better."""
        import numpy as np

        if np.ndim(y_true) == 2 and np.shape(y_true)[1] == 1:
            y_true = np.asarray(y_true)[:, 0]
        predicted, options = self._predict(estimator, X, y_true)
        return self._sign * self._metric.value(y_true, predicted, sample_weight=sample_weight, **options)

    def _predict(self, estimator: Any, X: Any, y_true: Any) -> tuple[Any, dict[str, Any]]:
        """Return predictions of the kind that the metric needs, and what they mean."""
        import numpy as np

        from fastevals._validation.labels import binary_labels
        from fastevals.measure.kinds import CLASSES, TARGETS, metric_kind
        from fastevals.measure.registry import METRICS
        from fastevals.split.learners import class_scores, scores_of_class

        kind = metric_kind(self._metric.spec)
        if self._metric.is_of_labels or kind is TARGETS:
            return estimator.predict(X), {"pos_label": self._pos_label}
        needs_probabilities = METRICS[self._metric.spec.name].needs_probabilities
        methods = ("predict_proba",) if needs_probabilities else ("predict_proba", "decision_function")
        if not any(hasattr(estimator, each) for each in methods) and (
            hasattr(estimator, "classes_") or len(methods) == 1
        ):
            raise ValueError(f"{self._metric.spec} needs {' or '.join(methods)}, and {estimator} has none")
        scores = class_scores(estimator, X)
        if np.ndim(y_true) == 2:  # several labels per row
            return scores, {}
        classes = getattr(estimator, "classes_", None)
        if classes is None:
            return scores, {"pos_label": self._pos_label}
        if len(classes) > 2 or kind is CLASSES:
            return scores, {"labels": classes}
        _, positive, _ = binary_labels("the estimator's classes_", classes, self._pos_label)
        return scores_of_class(positive, classes, scores), {"pos_label": positive}

    def __repr__(self) -> str:
        positive = "" if self._pos_label is None else f", pos_label={self._pos_label!r}"
        return f"scorer({self._metric.spec}{positive})"

    # What scikit-learn asks of its scorers ----------------------------------------------------------------------------

    def set_score_request(self, *, sample_weight: bool | str | None = None) -> MetricScorer:
        """Say whether, or under which name, metadata routing passes weights; return the scorer itself."""
        self._request = sample_weight
        return self

    def get_metadata_routing(self) -> Any:
        """Return the request of weights, for scikit-learn's metadata routing."""
        from sklearn.utils.metadata_routing import MetadataRequest

        requests = MetadataRequest(owner=self)
        requests.score.add_request(param="sample_weight", alias=self._request)
        return requests

    def _accept_sample_weight(self) -> bool:
        return True
