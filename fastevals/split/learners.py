"""Learners: what is fitted on training rows and predicts others, a function or an estimator of scikit-learn's kind."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.split.rows import take_rows

__all__ = ["Learner", "learner_of"]

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """A learner and its parameters. It keeps nothing of a fit.

    Attributes
    ----------
    name : str
        What errors call it.
    of : callable or estimator
        Called as ``of(X_train, y_train, X_test, **params)`` for predictions; or copied, given the parameters, fitted
        and asked to predict.
    is_estimator : bool
        Which of the two.
    params : dict
        Parameters.
    """

    name: str
    of: Any
    is_estimator: bool
    params: Mapping[str, Any] = field(default_factory=dict)

    def with_params(self, params: Mapping[str, Any]) -> Learner:
        """Give the learner with these parameters over its own."""
        return Learner(self.name, self.of, self.is_estimator, {**self.params, **params})

    def fit(self, X: Any, y: Any) -> Any:
        """Give a fitted copy of an estimator."""
        estimator = _copy(self.of)
        if self.params:  # estimators among them are fitted too
            check.check_settable(self.name, estimator)
            estimator.set_params(**{name: _copy(value) for name, value in self.params.items()})
        estimator.fit(X, y)
        return estimator

    def predictions(
        self,
        X: Any,
        y: Any,
        train: Rows | None,
        X_new: Any,
        new: Rows | None,
        kinds: Collection[str],
        positive: Any = None,
    ) -> dict[str, NDArray[Any]]:
        """Fit on some rows and predict others.

        Parameters
        ----------
        X, y : data with rows
            What to learn from.
        train : ndarray of intp or None
            The rows to learn from; None for all.
        X_new : data with rows
            What to predict, `X` or other data.
        new : ndarray of intp or None
            The rows to predict; None for all.
        kinds : collection of str
            What to predict: "labels", "scores" (of the positive class), "targets", or "values" of whatever kind it
            predicts. A function gives the same for all.
        positive : label, optional
            The positive class, for scores.

        Returns
        -------
        dict of str to ndarray of shape (n_new,)
            For each kind.
        """
        X_train, y_train, rows = take_rows(X, train), take_rows(y, train), take_rows(X_new, new)
        n = check.n_rows("X", rows)
        if not self.is_estimator:
            values = check.as_fitted_predictions(self.name, self.of(X_train, y_train, rows, **self.params), n)
            return dict.fromkeys(kinds, values)
        fitted = self.fit(X_train, y_train)
        return {
            kind: check.as_fitted_predictions(self.name, self._predicted(fitted, rows, kind, positive), n)
            for kind in kinds
        }

    def _predicted(self, fitted: Any, X: Any, kind: str, positive: Any) -> Any:
        if kind != "scores":
            return fitted.predict(X)
        check.check_gives_scores(self.name, fitted)
        classes = np.asarray(fitted.classes_)
        if hasattr(fitted, "predict_proba"):
            chances = np.asarray(fitted.predict_proba(X))
            at = np.flatnonzero(classes == positive)
            # A training part without positives: its chance is 0.
            return chances[:, at[0]] if at.size else np.zeros(chances.shape[0])
        values = np.asarray(fitted.decision_function(X))
        return values if classes[-1] == positive else -values


def learner_of(name: str, learner: Any, params: Any = None) -> Learner:
    """Give the learner that a user means by a function or an estimator."""
    return Learner(name, learner, check.check_learner(name, learner), check.as_params("params", params))


def _copy(value: Any) -> Any:
    """Give an unfitted copy of an estimator, or a copy of anything else."""
    if isinstance(value, type) or not hasattr(value, "get_params"):
        return copy.deepcopy(value)
    try:
        from sklearn.base import clone
    except ImportError:
        return copy.deepcopy(value)
    return clone(value)
