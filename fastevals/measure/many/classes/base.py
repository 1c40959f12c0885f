"""What all that is asked of classes is made of: their scores, and values of each class and of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.many.classes.scores import ClassScores
from fastevals.measure.many.classes.values import aucs_by_class, doubled_pairs, pair_aucs, values_by_class
from fastevals.measure.many.columns import batch_rankings
from fastevals.measure.ranking import Ranking

__all__ = ["LACK", "ByClass"]

LACK = "lack rows of the class, or rows outside it"


class ByClass:
    """Scores by class, and what has been made of them."""

    __slots__ = ("_doubled", "_labels", "_rankings", "_scores")

    _labels: NDArray[Any]
    _scores: ClassScores
    _rankings: tuple[Ranking, ...] | None
    _doubled: NDArray[np.int64] | None  # of pairs of classes, once counted; see `doubled_pairs`

    @property
    def labels(self) -> NDArray[Any]:
        """Names of the classes."""
        return check.read_only("labels", self._labels)

    @property
    def n_samples(self) -> int:
        """Rows of weight above zero."""
        return int(self._scores.columns.shape[1])

    @property
    def n_positives(self) -> NDArray[np.int64]:
        """Rows of each class."""
        return self._scores.n_positives()

    @property
    def support(self) -> NDArray[Any]:
        """Weight of the rows of each class."""
        return self._scores.support()

    @property
    def is_multilabel(self) -> bool:
        """Whether a row may have many labels."""
        return self._scores.indicator is not None

    @property
    def rankings(self) -> tuple[Ranking, ...]:
        """Each class against the rest, made when first asked for."""
        if self._rankings is None:
            self._rankings = tuple(batch_rankings(self._scores.by_class()))
        return self._rankings

    def _values(self, metric: str, **options: Any) -> NDArray[np.float64]:
        """Give a metric of each class against the rest; NaN where undefined, without a warning."""
        if metric != "roc_auc" or options or self._scores.starts is None or self._scores.weights is not None:
            return values_by_class(self._scores, metric, **options)
        return aucs_by_class(self._counted_pairs(), self.n_positives)

    def _pair_values(self) -> NDArray[np.float64]:
        """Give A(j | k) of each two classes; NaN where undefined, without a warning."""
        return pair_aucs(self._scores, self._counted_pairs() if self._scores.weights is None else None)

    def _counted_pairs(self) -> NDArray[np.int64]:
        if self._doubled is None:
            self._doubled = doubled_pairs(self._scores)
        return self._doubled

    def _as_one(self) -> Ranking:
        """Rank all classes' columns together: of each, the rows of its class are positive."""
        flags, scores, weights = self._scores.all_together()
        return Ranking(flags, scores, sample_weight=weights, pos_label=1)
