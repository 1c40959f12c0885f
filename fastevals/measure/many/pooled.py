"""A ranking of pooled folds: of their counts, added up."""

from __future__ import annotations

from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.ranking.curves import Curves
from fastevals.measure.ranking.numbers import Numbers
from fastevals.measure.ranking.thresholds import Thresholds

__all__ = ["PooledRanking"]


class PooledRanking(Numbers, Curves, Thresholds):
    """Rankings on one scale of scores, their counts added up; it has the methods of a `Ranking`.

    Examples
    --------
    >>> import fastevals
    >>> folds = fastevals.RankingFolds([fastevals.Ranking([0, 1], [0.1, 0.9]), fastevals.Ranking([0, 1], [0.5, 0.3])])
    >>> folds.pool(), folds.pool().roc_auc()
    (PooledRanking(n_positives=2, n_negatives=2), 0.75)
    """

    __slots__ = ("_counts", "n_negatives", "n_positives")

    def __init__(self, counts: ThresholdCounts, n_positives: int, n_negatives: int) -> None:
        self._counts, self.n_positives, self.n_negatives = counts, n_positives, n_negatives

    def __repr__(self) -> str:
        return f"PooledRanking(n_positives={self.n_positives}, n_negatives={self.n_negatives})"

    @property
    def counts(self) -> ThresholdCounts:
        """Counts at or above each distinct score of any fold."""
        return self._counts
