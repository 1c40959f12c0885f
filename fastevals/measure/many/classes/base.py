"""What all that is asked of classes is made of: their scores, and their rankings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.many.classes.scores import ClassScores
from fastevals.measure.many.columns import batch_rankings
from fastevals.measure.ranking import Ranking

__all__ = ["LACK", "ByClass"]

LACK = "lack rows of the class, or rows outside it"


class ByClass:
    """Scores by class, and what has been made of them."""

    __slots__ = ("_labels", "_rankings", "_scores")

    _labels: NDArray[Any]
    _scores: ClassScores
    _rankings: tuple[Ranking, ...] | None

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
        return self._scores.n_positives.copy()

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

    def _as_one(self) -> Ranking:
        """Rank all classes' columns together: of each, the rows of its class are positive."""
        flags, scores, weights = self._scores.all_together()
        return Ranking(flags, scores, sample_weight=weights, pos_label=1)
